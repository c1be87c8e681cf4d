//! A question in English becomes a typed question: what is asked, about whom, when.
//!
//! Pure: names come in through a look-up, times against a given now. What it does not understand becomes
//! [`Ask::Search`].

mod ask;
pub(super) mod clothes;
mod describe;
mod folded;
mod of_things;
mod opening;
#[cfg(test)]
mod tests;
mod told;

use std::sync::OnceLock;

use jiff::tz::TimeZone;

use crate::colour::Colour;
use crate::ids::EntityId;
use crate::language::Language;
use crate::recall::lexer::tokens;
use crate::recall::time_expr::{TimeExpr, told_expressions, unread};
use crate::time::Timestamp;

use crate::language::lists::Lists;
use folded::{Folded, Names, Piece};
pub(super) use of_things::{Beside, Deed, Named, OfThings, Wanted};
pub(super) use opening::Opening;

/// Bytes of a question that are read; nobody speaks longer.
pub(super) const MAX_BYTES: usize = 4096;

/// Which of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Any,
    First,
    Second,
    Third,
    Last,
    /// The most, the longest.
    Most,
    /// The least, the shortest.
    Least,
}

/// What somebody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Was in view.
    Seen,
    /// Was in view or heard.
    Present,
    Spoke,
    /// Came into view.
    Arrived,
    /// Went out of view.
    Left,
    /// Something the percepts do not tell.
    Other,
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Ask {
    /// Who is here now; with subjects: are they?
    Now,
    /// Who did it, besides the subjects.
    Who { act: Act, order: Order },
    /// Who said it.
    WhoSaid,
    /// What was said, by the subjects or anybody.
    SaidWhat { order: Order },
    /// When it happened; `ago`: how long ago.
    When { act: Act, order: Order, ago: bool },
    /// How often it happened.
    HowOften { act: Act },
    /// How many persons did it.
    HowMany { act: Act },
    /// For how long in all.
    HowLong { act: Act },
    /// Where somebody or something is, was, was last seen.
    Where { order: Order },
    /// With whom the subject was; `talked`: they must have spoken in turn.
    With { talked: bool },
    /// Who was heard and never seen; with a subject: was it ever?
    NeverSeen,
    /// Whether nobody else was there.
    Alone,
    /// Who was seen and never heard.
    NeverSpoke,
    /// Whether the subject was ever seen (or heard).
    Ever { act: Act },
    /// Whether it was so in that time.
    Did { act: Act },
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
    #[default]
    Search,
}

/// Whom a question names.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subject {
    /// Somebody or something known, as written.
    Known { id: EntityId, text: String },
    /// A name nobody bears.
    Unknown(String),
    /// "the person who spoke first".
    Described(Description),
    /// "somebody", "anyone".
    Anybody,
}

/// A person told by a description.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Description {
    /// As written.
    pub(super) text: String,
    pub(super) clause: Clause,
    /// The time of the clause.
    pub(super) time: Option<TimeExpr>,
}

/// What tells a person. An order is `Any` where a time tells it: spoke then.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause {
    Spoke(Order),
    Seen(Order),
    Arrived(Order),
    Left(Order),
    /// Said these content words, or the quotation.
    Said {
        words: Vec<String>,
        quote: Option<String>,
    },
    /// Was there together with another.
    With(Box<Subject>),
    /// Was alone in view.
    Alone,
    /// Was heard and never seen.
    NeverSeen,
    /// Was seen and never heard.
    NeverSpoke,
    /// Stood on that side of the picture, as the camera sees it.
    Side(Side),
    /// Everybody but this one.
    Other,
    /// Looks: "in the grey coat". Percepts do not tell; facts may.
    Looks(Vec<String>),
}

/// A side of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
    /// Between others.
    Middle,
}

/// A question taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parsed {
    /// What is wanted.
    pub(super) ask: Ask,
    /// About whom, in order of mention; what is told after "about" is in `topic` instead.
    pub(super) subjects: Vec<Subject>,
    /// When; those inside a description are there.
    pub(super) times: Vec<TimeExpr>,
    /// Words that limit what was seen and heard to a time which nobody can make out.
    pub(super) unread: Option<String>,
    /// What the words said were about: content words, lower case.
    pub(super) topic: Vec<String>,
    /// Told in quotation marks, verbatim.
    pub(super) quotes: Vec<String>,
    /// Words for what percepts do not tell, as written in lower case; none where they tell all of it.
    pub(super) content: Vec<String>,
    /// Asked in the past tense.
    pub(super) past: bool,
    /// Yes or no is the answer.
    pub(super) yes_no: bool,
    /// What it asks of things in view, where it may.
    pub(super) things: Option<OfThings>,
    /// Colours of clothes by which it asks for somebody.
    pub(super) worn: Option<Vec<Colour>>,
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
        let plain = self.content.is_empty();
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
            Ask::When { act, .. } => *act != Act::Other && plain,
            Ask::HowOften { .. } | Ask::HowLong { .. } => plain,
            Ask::Where { .. } => !self.subjects.is_empty() && plain,
            Ask::Now
            | Ask::Ever { .. }
            | Ask::WhoIs
            | Ask::About
            | Ask::Everybody
            | Ask::Search => false,
        }
    }
}

/// Takes a question apart. `name` tells whom a name, alias or id (lower case) means. Without the parser's language it is only
/// searched for, by its words and the persons that it names; one that names nothing but a time asks what happened then.
pub(super) fn parse(
    language: Option<&Language>,
    text: &str,
    now: Timestamp,
    zone: &TimeZone,
    name: Names<'_>,
) -> Parsed {
    let text = &as_sentence(&text[..text.floor_char_boundary(MAX_BYTES)]);
    let times = told_expressions(text, now, zone);
    let unread = unread(text, &times);
    let Some(language) = language else { return searched(Folded::of(text, times, name)) };
    let apart =
        |times: Vec<TimeExpr>| ask::parsed(&understood(language, text, times, name), language);
    let (told, plain): (Vec<_>, Vec<_>) = times.into_iter().partition(TimeExpr::is_told);
    let events =
        told.into_iter().filter(|time| tells_an_event(language, &text[time.range.clone()], name));
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

/// A question as it is written, where it was only spoken: with a capital and a question mark, which the parser goes by.
fn as_sentence(text: &str) -> String {
    let mut text = text.trim().to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if text.ends_with(char::is_alphanumeric) {
        text.push('?');
    }
    text
}

/// A text with its persons, times and quotations folded.
fn understood<'t>(
    language: &Language,
    text: &'t str,
    times: Vec<TimeExpr>,
    name: Names<'_>,
) -> Folded<'t> {
    let mut folded = Folded::of(text, times, name);
    folded.fold_strangers(language);
    describe::fold(&mut folded, language);
    folded
}

/// What a question is without a parser.
fn searched(folded: Folded<'_>) -> Parsed {
    let mut words = tokens(folded.written());
    words.retain(|token| !folded.holds(token.range.start) && !is_grammar(&token.word));
    let content = words.into_iter().map(|token| token.word).collect();
    let mut out = Parsed { content, ..Parsed::default() };
    let is_time = |(_, piece): &(_, Piece)| matches!(piece, Piece::Time(_));
    let idle = out.content.iter().all(|word| is_asking(word));
    if idle && !folded.folds.is_empty() && folded.folds.iter().all(is_time) {
        out.ask = Ask::Summary;
        out.content.clear();
    }
    for (_, piece) in folded.folds {
        match piece {
            Piece::Subject(subject) => out.subjects.push(subject),
            Piece::Time(time) => out.times.push(time),
            Piece::Quote(quote) => out.quotes.push(quote),
        }
    }
    out
}

/// Whether a clause tells of more than somebody: "after the man" does not.
fn tells_an_event(language: &Language, clause: &str, name: Names<'_>) -> bool {
    let sentence = understood(language, clause, Vec::new(), name).read(language);
    let told = told::Told::of(language, &sentence);
    told.all().any(|at| told.tells(at))
}

/// The persons that a few words name, without any question around them.
pub(super) fn subjects_in(
    language: Option<&Language>,
    text: &str,
    name: Names<'_>,
) -> Vec<Subject> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let folded = match language {
        Some(language) => understood(language, text, Vec::new(), name),
        None => Folded::of(text, Vec::new(), name),
    };
    let subject = |(_, piece)| match piece {
        Piece::Subject(subject) => Some(subject),
        _ => None,
    };
    folded.folds.into_iter().filter_map(subject).collect()
}

/// The words of questions to eyes and ears, out of their file.
#[derive(Debug, Default, serde::Deserialize)]
struct Perception {
    /// They tell nothing of the matter of a question.
    asking: Lists,
    /// They may.
    others: Lists,
    grammar: Lists,
}

fn perception() -> &'static Perception {
    static ENGLISH: OnceLock<Perception> = OnceLock::new();
    ENGLISH.get_or_init(|| toml::from_str(include_str!("perception.toml")).unwrap_or_default())
}

/// Whether a word stands in a list of the file.
pub(super) fn is(list: &str, word: &str) -> bool {
    perception().asking.is(list, word) || perception().others.is(list, word)
}

/// Whether a word belongs to asking, and tells nothing of the matter.
pub(super) fn is_asking(word: &str) -> bool {
    perception().asking.has(word)
}

/// Whether a lower-case word only holds sentences together.
pub(super) fn is_grammar(word: &str) -> bool {
    perception().grammar.is("words", word)
}

/// Whether a lower-case word may stand for a person.
pub(super) fn is_person(word: &str) -> bool {
    is("persons", word) || is("several", word)
}
