//! Answering: a question becomes a reply with evidence.
//!
//! `question` takes the words apart, `asked` and `persons` look up which times and whom they mean,
//! `reading` reads one pinned view, and one file per family (`who`, `when`, `said`, `counts`, `presence`,
//! `things`, `slots`, `facts`, `journeys`, `events`, `told_often`, `unmet`) computes the reply.
//! [`Answerer`] puts it together. `rounds` lets a language model think, recall and reply; whatever it does, the built-in
//! reply stands behind it.

mod amended;
mod asked;
mod aspect;
mod builtin;
mod by_meaning;
mod corrected;
mod counts;
mod deed;
mod demands;
mod described;
mod document;
mod doer;
mod doubt;
mod events;
mod evidence;
mod facts;
mod featured;
mod having;
mod heard;
mod journeys;
mod keeping;
mod kinship;
mod lessons;
mod matching;
mod meaning;
mod near;
mod needs;
mod nested;
mod noted;
mod owner;
mod persons;
mod phrase;
mod placing;
mod pointing;
mod premise;
mod presence;
pub mod question;
mod reading;
mod remembered;
mod reply;
mod rounds;
mod said;
mod slots;
mod spelling;
mod staying;
#[cfg(test)]
mod tests;
mod then;
mod things;
mod told_often;
mod told_place;
mod told_sentence;
mod told_time;
mod unmet;
mod when;
mod whereabouts;
mod which_time;
mod who;
mod wording;
mod working_set;

pub use builtin::Answerer;
pub use document::{Answer, Cost, Effort, Evidence, LatencyMs, Question};
pub use meaning::{Heard, Judged, Line, Meaning, Told, Turn};
pub use phrase::phrase;
pub use rounds::{Errand, Rounds};
pub use told_time::ToldTime;
