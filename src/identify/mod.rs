//! Identity: whose face, whose voice, which of them are one person.
//!
//! One resolver, run by the single writer once per sealed clip, in canonical order (start, source, kind),
//! deterministic. It takes `percept`s and hands `memorize` the clip with names on it. All that it decides
//! on are rows ([`IdentityRows`]) and the small [`PendingIdentities`] of the checkpoint: rebuilt from them it goes on
//! as if it had never stopped.
//!
//! Per clip: tracks and turns are grouped jointly with the galleries (`cluster`); what is between two
//! thresholds waits; galleries learn; signed face–voice evidence is counted (`evidence`); galleries that turn
//! out to be one (`similarity`) are merged; voices are linked to faces (`link`); what is left alone becomes a person alone. Names that
//! speakers gave themselves (`hear`) weigh in both (`introductions`).
//! Whoever shows a sample may ask whom it is like (`likeness`): nothing is decided by that.
//! Things are known by label and place (`objects`). Whom another model can no longer match stays, and is found again by the
//! other half (`unmatchable`).

mod bodies;
mod enrol;
pub mod evidence;
mod identified;
mod likeness;
pub mod matching;
mod objects;
mod overrides;
mod pending;
pub mod persons;
mod resolve;
mod resolver;
mod shared;
#[cfg(test)]
mod testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod wav;
pub mod writer;

pub use bodies::is_on;
pub use enrol::{EnrolError, Enrolled, Enrolment, Lesson};
pub use evidence::introductions::{Introductions, Naming};
pub use identified::{IdentifiedClip, IdentifiedObject, IdentifiedTrack, IdentifiedTurn};
pub use likeness::{Likeness, Likenesses};
pub use matching::thresholds::MatchThresholds;
pub use pending::PendingIdentities;
pub use persons::Persons;
pub use persons::rows::{identity_rows, who_is_who};
pub use resolver::Resolver;
pub use shared::{Guess, Guesses, ResolverGuard, SharedResolver};
pub use wav::{snippet, wav};
pub use writer::{IdentityRows, IdentityWriter};

pub(crate) use writer::pinned::file;
