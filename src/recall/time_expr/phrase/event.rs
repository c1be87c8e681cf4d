//! Clauses that put a time before, after or during something somebody did.

use crate::recall::lexer::Token;
use crate::recall::time_expr::{Happening, Relation, When};

/// Words that begin a question, not the subject of a clause.
const AUXILIARIES: [&str; 17] = [
    "did", "do", "does", "was", "were", "is", "are", "has", "have", "had", "will", "can", "could",
    "would", "should", "exactly", "that",
];

/// "before Ava left", "while Ben was talking", "when Ava said hello" from token `at` on.
pub(super) fn clause(tokens: &[Token], at: usize) -> Option<(When, usize)> {
    let word = |i: usize| tokens.get(at + i).map(|t| t.word.as_str());
    let (relation, mut skip) = match (word(0)?, word(1)) {
        ("right" | "just" | "shortly" | "immediately" | "directly", Some("before")) => {
            (Relation::Before, 2)
        }
        ("right" | "just" | "shortly" | "immediately" | "directly", Some("after")) => {
            (Relation::After, 2)
        }
        ("before" | "until" | "till", _) => (Relation::Before, 1),
        ("after" | "since", _) => (Relation::After, 1),
        ("while" | "whilst", _) => (Relation::During, 1),
        ("when", _) if !asks_when(tokens, at) => (Relation::During, 1),
        _ => return None,
    };
    if word(skip) == Some("when") {
        skip += 1;
    }
    let subject = at + skip;
    if tokens.get(subject).is_none_or(|t| AUXILIARIES.contains(&t.word.as_str()) || t.quoted) {
        return None;
    }
    for verb in subject + 1..(subject + 14).min(tokens.len()) {
        if tokens[verb - 1].stop {
            return None;
        }
        let Some((happening, used)) = happening(tokens, verb) else { continue };
        let who = joined(&tokens[subject..verb]);
        let clause_end =
            (verb..tokens.len()).find(|i| tokens[*i].stop).map_or(tokens.len(), |i| i + 1);
        let (what, end) = if happening == Happening::Spoke {
            (joined(tokens.get(verb + used..clause_end).unwrap_or_default()), clause_end)
        } else {
            (String::new(), (verb + used).min(clause_end))
        };
        return Some((When::Event { relation, happening, who, what }, end - at));
    }
    None
}

/// A "when" that asks: at the head of the question or behind "know", "tell me".
fn asks_when(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1).map(|t| t.word.as_str());
    if next.is_none_or(|w| AUXILIARIES.contains(&w)) {
        return true;
    }
    at.checked_sub(1).is_some_and(|i| {
        matches!(
            tokens[i].word.as_str(),
            "know" | "me" | "say" | "remember" | "recall" | "since" | "and" | "us"
        )
    })
}

fn joined(tokens: &[Token]) -> String {
    tokens.iter().map(|t| t.word.as_str()).collect::<Vec<_>>().join(" ")
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
        "had" | "has" if particle(1, &["left", "gone"]) => Some((Happening::Left, 2 + room(2))),
        "was" if particle(1, &["gone"]) => Some((Happening::Left, 2)),
        "arrived" | "arrives" | "arriving" | "entered" | "appeared" | "joined" | "returned" => {
            Some((Happening::Arrived, 1 + room(1)))
        }
        "came" | "comes" | "got" | "showed" | "turned" | "walked"
            if particle(1, &["in", "here", "up", "back", "into", "there", "along", "over"]) =>
        {
            Some((Happening::Arrived, 2 + room(2)))
        }
        "came" => Some((Happening::Arrived, 1)),
        "said" | "says" | "mentioned" | "asked" | "told" => Some((Happening::Spoke, 1)),
        "spoke" | "speaks" | "talked" | "speaking" | "talking" => Some((Happening::Spoke, 1)),
        "was" | "were" | "is" if particle(1, &["speaking", "talking", "saying"]) => {
            Some((Happening::Spoke, 2))
        }
        "was" | "were" | "is" => {
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
