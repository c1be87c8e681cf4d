//! A question in English becomes a typed question: what is asked, about whom, when.
//!
//! Pure: names come in through a look-up, times against a given now. What it does not understand becomes
//! [`Ask::Search`].

mod describe;
mod intent;
mod pieces;
#[cfg(test)]
mod tests;
mod words;

use jiff::tz::TimeZone;

use crate::ids::EntityId;
use crate::recall::time_expr::{TimeExpr, time_expressions};
use crate::time::Timestamp;

pub use describe::{Clause, Description, Side};

/// Bytes of a question that are read; nobody speaks longer.
pub const MAX_BYTES: usize = 4096;

/// Which of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// No order told.
    #[default]
    Any,
    /// The first.
    First,
    /// The second.
    Second,
    /// The third.
    Third,
    /// The last.
    Last,
    /// The most, the longest.
    Most,
    /// The least, the shortest.
    Least,
}

/// What somebody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Was in view.
    Seen,
    /// Was in view or heard.
    Present,
    /// Spoke.
    Spoke,
    /// Came into view.
    Arrived,
    /// Went out of view.
    Left,
    /// Something the percepts do not tell.
    Other,
}

/// What is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Who is here now; with subjects: are they?
    Now,
    /// Who did it; `others`: besides the subjects.
    Who {
        /// What they did.
        act: Act,
        /// Which of them.
        order: Order,
    },
    /// Who said it.
    WhoSaid,
    /// What was said, by the subjects or anybody.
    SaidWhat {
        /// Which utterance.
        order: Order,
    },
    /// When it happened.
    When {
        /// What.
        act: Act,
        /// Which time.
        order: Order,
        /// "How long ago".
        ago: bool,
    },
    /// How often it happened.
    HowOften {
        /// What.
        act: Act,
    },
    /// How many persons.
    HowMany {
        /// Who did what.
        act: Act,
    },
    /// For how long in all.
    HowLong {
        /// What.
        act: Act,
    },
    /// Where somebody or something is, was, was last seen.
    Where {
        /// Which sighting.
        order: Order,
        /// The place before the present one is meant.
        before: bool,
    },
    /// With whom the subject was.
    With {
        /// They must have spoken in turn.
        talked: bool,
    },
    /// Who was heard and never seen; with a subject: was it ever?
    NeverSeen,
    /// Whether nobody else was there.
    Alone,
    /// Who was seen and never heard.
    NeverSpoke,
    /// Whether the subject was ever seen (or heard).
    Ever {
        /// What.
        act: Act,
    },
    /// Whether it was so in that time.
    Did {
        /// What.
        act: Act,
    },
    /// Whether the subjects were there together.
    Together,
    /// Who that is.
    WhoIs,
    /// All that is known about the subject.
    About,
    /// What happened in a time.
    Summary,
    /// Everybody who is known.
    Everybody,
    /// Anything else: what the memories say.
    Search,
}

/// Whom a question names.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// Somebody or something known.
    Known {
        /// Its id.
        id: EntityId,
        /// As written.
        text: String,
    },
    /// A name nobody bears.
    Unknown(String),
    /// "the person who spoke first".
    Described(Description),
    /// "somebody", "anyone".
    Anybody,
    /// "you": the robot.
    Robot,
    /// "I", "me".
    Asker,
}

/// A question taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// What is wanted.
    pub ask: Ask,
    /// About whom, in order of mention; what is told after "about" is in `topic` instead.
    pub subjects: Vec<Subject>,
    /// When; those inside a description are there.
    pub times: Vec<TimeExpr>,
    /// What the words said were about: content words, lower case.
    pub topic: Vec<String>,
    /// Told in quotation marks, verbatim.
    pub quotes: Vec<String>,
    /// The thing a "where is" asks for, or the whole question's content words.
    pub content: Vec<String>,
    /// Asked in the present tense ("who is here").
    pub present: bool,
}

/// Takes a question apart. `name` tells whom a name, alias or id (lower case) means.
pub fn parse(
    text: &str,
    now: Timestamp,
    zone: &TimeZone,
    name: &dyn Fn(&str) -> Option<EntityId>,
) -> Parsed {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let times = time_expressions(text, now, zone);
    let mut sentence = pieces::Sentence::read(text, times, name);
    describe::find(&mut sentence);
    intent::parsed(sentence)
}

/// Whether a lower-case word only holds sentences together.
pub(super) fn is_grammar(word: &str) -> bool {
    pieces::is_grammar(word)
}

/// The persons that a few words name, without any question around them.
pub(super) fn subjects_in(
    text: &str,
    zone: &TimeZone,
    name: &dyn Fn(&str) -> Option<EntityId>,
) -> Vec<Subject> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let _ = zone;
    let mut sentence = pieces::Sentence::read(text, Vec::new(), name);
    describe::find(&mut sentence);
    let used = sentence.pieces.iter().filter_map(|piece| match piece {
        pieces::Piece::Subject(index) => sentence.subjects.get(*index).cloned(),
        _ => None,
    });
    used.collect()
}
