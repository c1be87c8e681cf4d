//! Answering: a question becomes a reply with evidence.
//!
//! What was told and said answers by its meaning (`meaning`, `by_meaning`, `heard`), what was perceived by families of
//! questions: `question` reads them off the parse, `asked` and `persons` look up which times and whom they mean, `reading`
//! reads one pinned view, `perceived` picks the family (`who`, `when`, `said`, `counts`, `presence`, `objects`, `facts`).
//! What neither answers is quoted as recall finds it (`remembered`), or out of a document (`cited`), or not known. [`Answerer`] puts it together. `rounds`
//! lets a language model think, recall and reply; whatever it does, the built-in reply stands behind it.

mod actions;
mod appearance;
mod asked;
mod builtin;
mod by_meaning;
mod cited;
mod clothes;
mod corrected;
mod counts;
mod document;
mod evidence;
mod facts;
mod heard;
mod lessons;
mod matching;
mod meaning;
mod objects;
mod passages;
mod perceived;
mod persons;
mod phrase;
mod pointing;
mod premise;
mod presence;
mod question;
mod reading;
mod remembered;
mod reply;
mod rounds;
mod said;
mod sounds;
mod spelling;
#[cfg(test)]
mod tests;
mod texts;
mod things;
mod told_time;
mod visit;
mod when;
mod who;
mod wording;
mod working_set;

pub use builtin::Answerer;
pub use document::{Answer, Cost, Effort, Evidence, LatencyMs, Place, Question};
pub use meaning::{Heard, Judged, Line, Meaning, Told, Turn};
pub use phrase::phrase;
pub use rounds::{Errand, Rounds};
pub use told_time::ToldTime;
pub use visit::did;
