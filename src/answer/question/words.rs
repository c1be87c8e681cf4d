//! The words of a question as a whole: runs of them, the verb, the order, openings that say nothing.

use super::describe::ordinal;
use super::pieces::{Piece, Sentence};
use super::{Act, Order};
use crate::recall::time_expr::is_stretch;

/// The words of a question, with `@` for a subject, `#` for a time, `%` for a quotation.
pub(super) struct Words<'a> {
    pub(super) words: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn of(sentence: &'a Sentence) -> Self {
        let words = sentence
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Word(word) => word.as_str(),
                Piece::Subject(_) => "@",
                Piece::Time(_) => "#",
                Piece::Quote(_) => "%",
            })
            .collect();
        Self { words }
    }

    /// Whether the words occur in a row.
    pub(super) fn run(&self, run: &str) -> bool {
        self.find(run).is_some()
    }

    pub(super) fn find(&self, run: &str) -> Option<usize> {
        let run: Vec<&str> = run.split(' ').collect();
        self.words.windows(run.len()).position(|window| window == run)
    }

    pub(super) fn any(&self, words: &[&str]) -> bool {
        self.words.iter().any(|w| words.contains(w))
    }

    pub(super) fn any_of(&self, list: &str) -> bool {
        self.words.iter().any(|word| listed(list, word))
    }

    pub(super) fn at(&self, index: usize) -> &str {
        self.words.get(index).copied().unwrap_or("")
    }

    pub(super) fn runs(&self, runs: &[&str]) -> bool {
        runs.iter().any(|run| self.run(run))
    }
}

pub(super) const SPOKE: &str = "speak spoke spoken speaking speaks talk talked talking talks say said saying \
    says hear heard voice voices speaker speakers audible chatting sing";
pub(super) const SAID: &str =
    "say said saying says mention mentioned mentions ask asked told tell asks";
pub(super) const ARRIVED: &str = "arrive arrived came come comes enter entered joined join returned return arrives \
    arriving";
pub(super) const LEFT: &str = "leave left leaving leaves gone went disappear disappeared vanished";
pub(super) const SEEN: &str = "look looking see saw seen sees visible camera view sight appear appeared appears \
    show showed shown screen picture watch watched face spot spotted notice \
    appearances";
pub(super) const PRESENT: &str = "here there room present around home nearby stay stayed visit visited place front \
    scene alone";
pub(super) const WH: &str = "who whom whose what when where how which why";
pub(super) const BE: &str = "is are was were";
const LATEST: &str = "last latest lately recent recently finally";
pub(super) const AUX: &str = "is are was were did do does has have had can could am will";

/// Whether the word stands in a list parted by blanks.
pub(in crate::answer) fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|item| item == word)
}

/// What the verb of the question tells, the more telling first.
pub(super) fn act(words: &Words<'_>) -> Option<Act> {
    // "left" beside "the" is a side, not a verb.
    let side = words.runs(&["the left", "the right"]);
    let showed_up = words.runs(&[
        "show up",
        "showed up",
        "turn up",
        "turned up",
        "get here",
        "got here",
        "come in",
        "came in",
    ]);
    if words.any_of(ARRIVED) && !words.run("come from") || showed_up {
        return Some(Act::Arrived);
    }
    if words.any_of(LEFT) && !side {
        return Some(Act::Left);
    }
    if words.any_of(SPOKE) {
        return Some(Act::Spoke);
    }
    if words.any_of(SEEN) {
        return Some(Act::Seen);
    }
    words.any_of(PRESENT).then_some(Act::Present)
}

pub(super) fn order(words: &Words<'_>) -> Order {
    if words.runs(&["the most", "most often", "the longest", "most of"])
        || words.any(&["most", "longest"])
    {
        return Order::Most;
    }
    if words.any(&["least", "shortest"]) {
        return Order::Least;
    }
    if words.any(&["first", "earliest", "initially", "originally"]) {
        return Order::First;
    }
    // "last term" tells when, "the last day" which.
    let is_time = |at: usize| {
        let next = words.at(at + 1);
        words.at(at) == "last" && is_stretch(next) && next != "day"
    };
    let told: Vec<&str> =
        (0..words.words.len()).filter(|at| !is_time(*at)).map(|at| words.at(at)).collect();
    if told.iter().any(|word| listed(LATEST, word)) {
        return Order::Last;
    }
    told.iter().find_map(|word| ordinal(word)).unwrap_or_default()
}

/// Cuts greetings and roundabout openings ("could you tell me").
pub(super) fn strip_openings(sentence: &mut Sentence) {
    const OPENINGS: [&str; 26] = [
        "please",
        "hey robot",
        "hi robot",
        "hello robot",
        "ok robot",
        "robot",
        "hey engram",
        "engram",
        "hey",
        "hi",
        "hello",
        "ok",
        "okay",
        "so",
        "and",
        "well",
        "can you tell me",
        "could you tell me",
        "can you say",
        "do you know",
        "do you remember",
        "do you recall",
        "i want to know",
        "i would like to know",
        "would you know",
        "would you tell me",
    ];
    loop {
        let words = Words::of(sentence);
        let opening = OPENINGS.iter().find_map(|opening| {
            let opening: Vec<&str> = opening.split(' ').collect();
            let rest = words.words.get(opening.len())?;
            // "do you know Ava" asks about Ava.
            let fits = words.words.starts_with(&opening)
                && (!opening.starts_with(&["do", "you"])
                    || listed(WH, rest)
                    || matches!(*rest, "if" | "whether"));
            fits.then_some(opening.len())
        });
        let tell = words.words.len() > 2
            && words.at(0) == "tell"
            && words.at(1) == "me"
            && (listed(WH, words.at(2)) || matches!(words.at(2), "if" | "whether"));
        match opening {
            Some(count) => drop(sentence.pieces.drain(..count)),
            None if tell => drop(sentence.pieces.drain(..2)),
            None => break,
        }
    }
    if matches!(sentence.pieces.first(), Some(Piece::Word(w)) if w == "if" || w == "whether") {
        sentence.pieces.remove(0);
    }
    if matches!(sentence.pieces.last(), Some(Piece::Word(w)) if w == "please") {
        sentence.pieces.pop();
    }
}
