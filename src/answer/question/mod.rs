//! A question in English becomes a typed question: what is asked, about whom, when.
//!
//! Pure: names come in through a look-up, times against a given now. What it does not understand becomes
//! [`Ask::Search`].

mod describe;
mod intent;
mod pieces;
mod predicate;
mod room;
#[cfg(test)]
mod tests;
mod words;

use jiff::tz::TimeZone;

use crate::ids::EntityId;
use crate::recall::time_expr::{TimeExpr, told_expressions, unread};
use crate::time::Timestamp;

pub(super) use describe::NOUNS;
pub use describe::{Clause, Description, Side};
pub(super) use words::listed;

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
    /// Words that limit what was seen and heard to a time which nobody can make out.
    pub unread: Option<String>,
    /// What the words said were about: content words, lower case.
    pub topic: Vec<String>,
    /// Told in quotation marks, verbatim.
    pub quotes: Vec<String>,
    /// The thing a "where is" asks for, or the whole question's content words.
    pub content: Vec<String>,
    /// Asked in the past tense.
    pub past: bool,
    /// Yes or no is the answer.
    pub yes_no: bool,
}

impl Parsed {
    /// What the question is about, names of known persons and words of percepts left out.
    pub(super) fn matter(&self) -> String {
        let mut words: Vec<&str> = self.content.iter().map(String::as_str).collect();
        words.extend(self.topic.iter().map(String::as_str));
        words.extend(self.quotes.iter().map(String::as_str));
        words.extend(self.subjects.iter().filter_map(|subject| match subject {
            Subject::Unknown(name) => Some(name.as_str()),
            Subject::Described(told) => Some(told.text.as_str()),
            _ => None,
        }));
        words.join(" ")
    }

    /// Whether it is answered by what was seen and heard, so that its time must be known.
    fn is_of_percepts(&self) -> bool {
        let plain = || self.content.iter().all(|word| intent::is_percept_word(word));
        match &self.ask {
            Ask::Who { .. }
            | Ask::HowMany { .. }
            | Ask::With { .. }
            | Ask::Alone
            | Ask::NeverSeen
            | Ask::NeverSpoke
            | Ask::Did { .. }
            | Ask::Together
            | Ask::Summary
            | Ask::SaidWhat { .. }
            | Ask::WhoSaid => true,
            Ask::When { act, .. } => *act != Act::Other && plain(),
            Ask::HowOften { .. } | Ask::HowLong { .. } => plain(),
            Ask::Where { .. } => !self.subjects.is_empty() && self.content.is_empty(),
            Ask::Now
            | Ask::Ever { .. }
            | Ask::WhoIs
            | Ask::About
            | Ask::Everybody
            | Ask::Search => false,
        }
    }
}

/// Takes a question apart. `name` tells whom a name, alias or id (lower case) means.
pub fn parse(
    text: &str,
    now: Timestamp,
    zone: &TimeZone,
    name: &dyn Fn(&str) -> Option<EntityId>,
) -> Parsed {
    let text = room::where_is(&text[..text.floor_char_boundary(MAX_BYTES)]);
    let text = text.as_ref();
    let times = told_expressions(text, now, zone);
    let unread = unread(text, &times);
    let apart = |times: Vec<TimeExpr>| {
        let mut sentence = pieces::Sentence::read(text, times, name);
        describe::find(&mut sentence);
        intent::parsed(sentence)
    };
    let (told, plain): (Vec<_>, Vec<_>) = times.into_iter().partition(TimeExpr::is_told);
    let events = told.into_iter().filter(|time| tells_an_event(&text[time.range.clone()], name));
    let all: Vec<TimeExpr> = plain.iter().cloned().chain(events).collect();
    if all.len() > plain.len() {
        let parsed = apart(all);
        if parsed.is_of_percepts() {
            return Parsed { unread, ..parsed };
        }
    }
    // Of what memories tell, such a clause is a part like others.
    let parsed = apart(plain);
    Parsed { unread: unread.filter(|_| parsed.is_of_percepts()), ..parsed }
}

/// Whether a clause tells of more than somebody: "after the man" does not.
fn tells_an_event(clause: &str, name: &dyn Fn(&str) -> Option<EntityId>) -> bool {
    let mut sentence = pieces::Sentence::read(clause, Vec::new(), name);
    describe::find(&mut sentence);
    let mut words = sentence.pieces.iter().filter_map(|piece| match piece {
        pieces::Piece::Word(word) => Some(word.as_str()),
        _ => None,
    });
    words.any(|word| {
        let joint = matches!(word, "till" | "whilst" | "soon" | "upon");
        !joint && !is_grammar(word) && !describe::NOUNS.contains(&word)
    })
}

/// Whether a lower-case word only holds sentences together.
pub(super) fn is_grammar(word: &str) -> bool {
    pieces::is_grammar(word)
}

/// The persons that a few words name, without any question around them.
pub(super) fn subjects_in(text: &str, name: &dyn Fn(&str) -> Option<EntityId>) -> Vec<Subject> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut sentence = pieces::Sentence::read(text, Vec::new(), name);
    describe::find(&mut sentence);
    let used = sentence.pieces.iter().filter_map(|piece| match piece {
        pieces::Piece::Subject(index) => sentence.subjects.get(*index).cloned(),
        _ => None,
    });
    used.collect()
}
