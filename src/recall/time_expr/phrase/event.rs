//! Clauses that put a time before, after or during something that happened.

use crate::recall::lexer::Token;
use crate::recall::time_expr::{Apart, Happening, Relation, When};

/// Words that begin a question, not the subject of a clause.
const AUXILIARIES: [&str; 17] = [
    "did", "do", "does", "was", "were", "is", "are", "has", "have", "had", "will", "can", "could",
    "would", "should", "exactly", "that",
];
/// Words that begin another clause.
const CONJUNCTIONS: [&str; 17] = [
    "before", "after", "when", "while", "until", "till", "since", "once", "because", "who", "whom",
    "whose", "what", "where", "how", "why", "if",
];
/// Words that name nothing by themselves, or the recording as a whole.
const POINTING: [&str; 57] = [
    "a",
    "an",
    "the",
    "that",
    "this",
    "these",
    "those",
    "it",
    "all",
    "then",
    "now",
    "here",
    "there",
    "i",
    "me",
    "you",
    "he",
    "him",
    "she",
    "her",
    "we",
    "us",
    "they",
    "them",
    "his",
    "hers",
    "ours",
    "theirs",
    "yours",
    "mine",
    "long",
    "while",
    "time",
    "moment",
    "bit",
    "everything",
    "anything",
    "nothing",
    "something",
    "once",
    "and",
    "or",
    "not",
    "so",
    "else",
    "again",
    "recently",
    "lately",
    "whole",
    "entire",
    "recording",
    "video",
    "session",
    "film",
    "movie",
    "clip",
    "footage",
];
/// Longest name in a clause, words.
const NAME: usize = 4;
/// Longest clause, words.
const LONGEST: usize = 14;

/// Whether a time begins with that token: the words before it are another clause.
pub(super) type IsTime<'a> = &'a dyn Fn(usize) -> bool;

/// Something that happened, as a clause or a noun tells it.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    happening: Happening,
    who: String,
    what: String,
    /// "had left": over by then.
    is_over: bool,
    /// The token after it.
    pub(super) end: usize,
}

impl Deed {
    pub(super) fn anchor(self, relation: Relation, apart: Option<Apart>) -> When {
        let Self { happening, who, what, .. } = self;
        When::Event { relation, happening, who, what, apart }
    }
}

/// "before Ava left", "while Ben was talking", "as soon as Ava had gone" from token `at` on.
pub(super) fn clause(
    tokens: &[Token],
    at: usize,
    is_time: Option<IsTime<'_>>,
) -> Option<(When, usize)> {
    let (relation, skip) = conjunction(tokens, at)?;
    let first = tokens[at].word.as_str();
    let deed = deed(tokens, at + skip).or_else(|| {
        // "once" counts more often than it tells a time, and a moment may be anything's.
        told(tokens, at + skip, is_time?)
            .filter(|deed| deed.is_over || !matches!(first, "once" | "the"))
    })?;
    let end = deed.end;
    let relation = if first == "when" && deed.is_over { Relation::After } else { relation };
    Some((deed.anchor(relation, None), end - at))
}

/// "on Ava's arrival", "at Ben's departure".
pub(super) fn at_noun(tokens: &[Token], at: usize) -> Option<(When, usize)> {
    if !matches!(tokens.get(at)?.word.as_str(), "on" | "upon" | "at") {
        return None;
    }
    let deed = noun(tokens, at + 1)?;
    let end = deed.end;
    Some((deed.anchor(Relation::During, None), end - at))
}

/// On which side of the clause the time lies, and the tokens before the clause.
fn conjunction(tokens: &[Token], at: usize) -> Option<(Relation, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let previous = at.checked_sub(1).map_or("", |i| tokens[i].word.as_str());
    let (relation, mut skip) = match (word(0)?, word(1)) {
        ("right" | "just" | "shortly" | "immediately" | "directly", Some("before")) => {
            (Relation::Before, 2)
        }
        ("right" | "just" | "shortly" | "immediately" | "directly", Some("after")) => {
            (Relation::After, 2)
        }
        ("before" | "until" | "till", _) => (Relation::Before, 1),
        ("by", Some("the")) if word(2) == Some("time") => (Relation::Before, 3),
        // "How long has it been since …" asks for a length.
        ("since", _) if matches!(previous, "been" | "long" | "it" | "is") => return None,
        ("ever", Some("since")) => (Relation::After, 2),
        ("after" | "since", _) => (Relation::After, 1),
        ("once", _) if !matches!(previous, "at" | "than" | "only" | "for" | "all") => {
            (Relation::After, 1)
        }
        ("as", Some("soon")) if word(2) == Some("as") => (Relation::After, 3),
        // "for a while"
        ("while", _) if previous == "a" => return None,
        ("while" | "whilst" | "during", _) => (Relation::During, 1),
        ("the", Some("moment" | "instant")) => (Relation::During, 2),
        ("when", _) if !asks_when(tokens, at) => (Relation::During, 1),
        _ => return None,
    };
    if word(skip) == Some("when") {
        skip += 1;
    }
    Some((relation, skip))
}

/// A "when" that asks: at the head of the question or behind "know", "tell me".
fn asks_when(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1).map(|t| t.word.as_str());
    if next.is_none_or(|w| {
        AUXILIARIES.contains(&w) || matches!(w, "last" | "first" | "else" | "ever" | "roughly")
    }) {
        return true;
    }
    at.checked_sub(1).is_some_and(|i| {
        matches!(
            tokens[i].word.as_str(),
            "know" | "me" | "say" | "remember" | "recall" | "since" | "and" | "us"
        )
    })
}

/// What somebody did, told by a verb or a noun from token `from` on.
pub(super) fn deed(tokens: &[Token], from: usize) -> Option<Deed> {
    let subject = tokens.get(from)?;
    let first = subject.word.as_str();
    if AUXILIARIES.contains(&first) || CONJUNCTIONS.contains(&first) || subject.quoted {
        return None;
    }
    if let Some(found) = noun(tokens, from) {
        return Some(found);
    }
    // A description may be long; a name is not.
    let described = matches!(subject.word.as_str(), "the" | "a" | "an" | "whoever");
    let longest = if described { LONGEST } else { NAME + 1 };
    let mut relative = subject.word == "whoever";
    for verb in from + 1..(from + longest).min(tokens.len()) {
        if tokens[verb - 1].stop {
            return None;
        }
        let word = tokens[verb].word.as_str();
        if let Some((happening, used, is_over)) = finished(tokens, verb) {
            let clause_end =
                (verb..tokens.len()).find(|i| tokens[*i].stop).map_or(tokens.len(), |i| i + 1);
            let (what, end) = if happening == Happening::Spoke {
                (joined(tokens.get(verb + used..clause_end).unwrap_or_default()), clause_end)
            } else {
                (String::new(), (verb + used).min(clause_end))
            };
            let who = joined(&tokens[from..verb]);
            return Some(Deed { happening, who, what, is_over, end });
        }
        relative |= described && matches!(word, "who" | "that" | "which");
        let other = !relative && (AUXILIARIES.contains(&word) || CONJUNCTIONS.contains(&word));
        if other {
            return None;
        }
    }
    None
}

/// What only the memories tell of: the words up to the end of the clause.
pub(super) fn told(tokens: &[Token], from: usize, is_time: IsTime<'_>) -> Option<Deed> {
    let ends = |i: usize| {
        let word = tokens[i].word.as_str();
        tokens[i].quoted
            || CONJUNCTIONS.contains(&word)
            || i == from && AUXILIARIES.contains(&word)
            || is_time(i)
    };
    let last = (from + LONGEST).min(tokens.len());
    let mut end = from;
    while end < last && !ends(end) {
        end += 1;
        if tokens[end - 1].stop {
            break;
        }
    }
    let words = tokens.get(from..end)?;
    let telling = |token: &Token| !POINTING.contains(&token.word.as_str());
    if !words.iter().any(telling) {
        return None;
    }
    // "had broken", not "had a cold".
    let article =
        |word: &str| matches!(word, "a" | "an" | "the" | "his" | "her" | "my" | "no" | "to");
    let is_over = words.windows(2).any(|two| two[0].word == "had" && !article(&two[1].word));
    let (who, what) = (String::new(), joined(words));
    Some(Deed { happening: Happening::Told, who, what, is_over, end })
}

fn joined(tokens: &[Token]) -> String {
    tokens.iter().map(|t| t.word.as_str()).collect::<Vec<_>>().join(" ")
}

/// "Ben's arrival", "the departure of the man".
fn noun(tokens: &[Token], from: usize) -> Option<Deed> {
    let of =
        tokens.get(from)?.word == "the" && tokens.get(from + 2).is_some_and(|t| t.word == "of");
    if of && let Some(happening) = named(&tokens[from + 1].word) {
        let name = from + 3;
        let the = usize::from(tokens.get(name)?.word == "the");
        let mut end = (name + the + 1).min(tokens.len());
        while !tokens[end - 1].stop && tokens.get(end).is_some_and(|t| t.capital) {
            end += 1;
        }
        let (who, what) = (joined(&tokens[name..end]), String::new());
        return Some(Deed { happening, who, what, is_over: false, end });
    }
    let owner =
        (from..(from + NAME).min(tokens.len())).find(|i| tokens[*i].word.ends_with("'s"))?;
    if tokens[from..owner].iter().any(|t| t.stop) {
        return None;
    }
    let happening = named(&tokens.get(owner + 1)?.word)?;
    let who = joined(&tokens[from..=owner]).trim_end_matches("'s").to_owned();
    Some(Deed { happening, who, what: String::new(), is_over: false, end: owner + 2 })
}

/// What a noun tells to have happened.
fn named(noun: &str) -> Option<Happening> {
    Some(match noun {
        "arrival" | "coming" | "return" | "entrance" | "entry" | "appearance" => Happening::Arrived,
        "departure" | "leaving" | "exit" | "disappearance" => Happening::Left,
        "visit" | "stay" | "presence" => Happening::Present,
        "speech" | "talk" | "remark" => Happening::Spoke,
        _ => return None,
    })
}

/// The same as [`happening`], "had left" and "has been here" included; whether it is over by then.
fn finished(tokens: &[Token], at: usize) -> Option<(Happening, usize, bool)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    if !matches!(word(0)?, "had" | "has" | "have") {
        return happening(tokens, at).map(|(happening, used)| (happening, used, false));
    }
    if word(1) == Some("gone") {
        let particle = matches!(word(2), Some("away" | "out" | "home" | "off"));
        return Some((Happening::Left, 2 + usize::from(particle), true));
    }
    happening(tokens, at + 1).map(|(happening, used)| (happening, used + 1, true))
}

/// What the verb at `at` tells, and the tokens it takes with its particles.
fn happening(tokens: &[Token], at: usize) -> Option<(Happening, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let particle = |i: usize, words: &[&str]| word(i).is_some_and(|w| words.contains(&w));
    let room = |i: usize| {
        if particle(i, &["the", "this"])
            && particle(i + 1, &["room", "scene", "view", "picture", "house"])
        {
            2
        } else {
            0
        }
    };
    match word(0)? {
        "left" | "leaves" | "leaving" | "disappeared" | "vanished" | "departed" => {
            Some((Happening::Left, 1 + room(1)))
        }
        "went" if particle(1, &["away", "out", "home", "off"]) => Some((Happening::Left, 2)),
        "was" if particle(1, &["gone"]) => Some((Happening::Left, 2)),
        "arrived" | "arrives" | "arriving" | "entered" | "appeared" | "joined" | "returned" => {
            Some((Happening::Arrived, 1 + room(1)))
        }
        "came" | "comes" | "come" | "got" | "showed" | "turned" | "walked"
            if particle(1, &["in", "here", "up", "back", "into", "there", "along", "over"]) =>
        {
            Some((Happening::Arrived, 2 + room(2)))
        }
        "came" | "come" => Some((Happening::Arrived, 1)),
        "said" | "says" | "mentioned" | "asked" | "told" => Some((Happening::Spoke, 1)),
        "spoke" | "spoken" | "speaks" | "talked" | "speaking" | "talking" => {
            Some((Happening::Spoke, 1))
        }
        "was" | "were" | "is" | "been" if particle(1, &["speaking", "talking", "saying"]) => {
            Some((Happening::Spoke, 2))
        }
        "was" | "were" | "is" | "been" => {
            if particle(1, &["here", "there", "around", "visible", "present", "seen", "on"]) {
                let more = if particle(2, &["camera", "screen"]) { 1 } else { 0 };
                return Some((Happening::Present, 2 + more));
            }
            let inside = particle(1, &["in"]).then(|| {
                let room = room(2);
                if room > 0 { room } else { usize::from(particle(2, &["view", "sight", "frame"])) }
            });
            inside.filter(|n| *n > 0).map(|n| (Happening::Present, 2 + n))
        }
        _ => None,
    }
}
