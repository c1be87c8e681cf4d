//! States that begin and end in other words: ill and well again, stuck and repaired, lost and found, away and back.

use std::ops::Range;

use super::clause::{Sentence, Word};
use super::cues::find;
use super::{Event, scan};
use crate::answer::question::listed;
use crate::answer::reading::Reading;
use crate::memory::telling_stems;
use crate::time::{Span, Timestamp};

/// A state by the phrases that tell that it begins or holds, and that it is over.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) begin: &'static [&'static str],
    pub(super) end: &'static [&'static str],
    /// Coming back ends it.
    back: bool,
}

/// What does not work.
pub(super) static BROKEN: Pair = Pair {
    begin: &[
        "break",
        "out of order",
        "out of action",
        "stuck",
        "jammed",
        "faulty",
        "defective",
        "stop working",
        "give up",
        "not working",
        "isn't working",
        "doesn't work",
        "don't work",
        "won't work",
        "not work",
        "fail",
    ],
    end: &[
        "repair",
        "mend",
        "put a new",
        "replace",
        "bought a new",
        "is working",
        "works again",
        "working again",
        "runs again",
        "running again",
        "goes again",
        "in order again",
        "in one piece again",
    ],
    back: false,
};

static PAIRS: [&Pair; 6] = [
    &BROKEN,
    &Pair {
        begin: &["ill", "unwell", "poorly", "has a cold", "has the flu", "has a fever"],
        end: &["well again", "recover", "better again", "healthy again", "fit again"],
        back: true,
    },
    &Pair {
        begin: &["lose", "mislay", "mislaid", "misplace", "can't find", "cannot find", "missing"],
        end: &["find", "turn up", "reappear"],
        back: false,
    },
    &Pair {
        begin: &["closed", "shut"],
        end: &["open again", "opens again", "reopen", "open"],
        back: false,
    },
    &Pair { begin: &["on holiday", "on vacation", "on leave", "abroad"], end: &[], back: true },
    &Pair {
        begin: &["empty", "run out", "ran out"],
        end: &["full again", "refill", "fill"],
        back: false,
    },
];

/// Being in a place: begins where somebody is told to be taken there or to be there, and ends where they are back.
pub(super) static STAY: Pair = Pair { begin: &[], end: &[], back: true };

/// What cannot do what it is for: "won't lock".
const FAILS: &str = "won't can't cannot doesn't don't couldn't wouldn't";

/// The state of somebody or something.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) pair: &'static Pair,
    /// Whose it is, lower case.
    pub(super) names: Vec<String>,
    /// Words of the thing, or of the place.
    pub(super) words: Vec<String>,
}

/// A time in which it was so.
pub(super) struct Period {
    pub(super) begin: Event,
    pub(super) end: Option<Event>,
}

impl Period {
    /// When it ended, by a later note or by its own.
    pub(super) fn over(&self) -> Option<Timestamp> {
        let told = || self.begin.until.or_else(|| self.begin.over.then_some(self.begin.time.end));
        self.end.as_ref().map(|end| end.time.start).or_else(told)
    }

    pub(super) fn touches(&self, span: Span) -> bool {
        self.begin.time.start < span.end && self.over().is_none_or(|over| over > span.start)
    }
}

/// The state that some words of a question tell, where in them; `over`: by its end ("working again").
pub(super) fn told_in(words: &[Word], over: bool) -> Option<(&'static Pair, Range<usize>)> {
    PAIRS.iter().find_map(|pair| {
        let phrases = if over { pair.end } else { pair.begin };
        let found = phrases.iter().find_map(|phrase| find(words, phrase))?;
        Some((*pair, found))
    })
}

impl State {
    /// Whether anything is told of which it is the state.
    pub(super) fn is_of_something(&self) -> bool {
        !self.names.is_empty() || !self.words.is_empty() && *self.pair != STAY
    }

    /// The times in which it was so, and what ended it of which no beginning is told, by time.
    pub(super) fn periods(&self, reading: &Reading) -> (Vec<Period>, Vec<Event>) {
        let query = self.query();
        let mut all: Vec<(Event, bool)> = Vec::new();
        let begins = scan(reading, &query, &|sentence| self.begins(sentence));
        // Who was taken to hospital yesterday is there.
        let lasts = |event: Event| Event { over: event.over && *self.pair != STAY, ..event };
        all.extend(begins.into_iter().map(|event| (lasts(event), true)));
        let ends = scan(reading, &query, &|sentence| self.ends(sentence));
        all.extend(ends.into_iter().map(|event| (event, false)));
        all.retain(|(event, _)| event.time.start <= reading.now() && !event.planned);
        // A note that tells both tells the end: "it was stuck, but it is working again".
        let ended: Vec<_> =
            all.iter().filter(|(_, begins)| !begins).map(|(event, _)| event.row.id).collect();
        all.retain(|(event, begins)| !begins || !ended.contains(&event.row.id));
        all.sort_by_key(|(event, _)| (event.time.start, event.row.id));
        let mut periods: Vec<Period> = Vec::new();
        let mut loose = Vec::new();
        for (event, begins) in all {
            let open = periods.last_mut().filter(|last| last.end.is_none());
            match (open, begins) {
                (Some(_), true) => {}
                (Some(last), false) => last.end = Some(event),
                (None, true) => periods.push(Period { begin: event, end: None }),
                (None, false) => loose.push(event),
            }
        }
        (periods, loose)
    }

    fn query(&self) -> String {
        let about = self.words.iter().chain(&self.names).map(String::as_str);
        let phrases = self.pair.begin.iter().chain(self.pair.end).copied();
        let back = if self.pair.back { "back" } else { "" };
        about.chain(phrases).chain([back]).collect::<Vec<_>>().join(" ")
    }

    fn begins(&self, sentence: &Sentence) -> bool {
        if !sentence.names(&self.names) {
            return false;
        }
        let Some(held) = sentence.hold(&self.words) else { return false };
        if *self.pair == STAY {
            return !held.is_empty() && !sentence.moves.back && sentence.is_so(&[]);
        }
        let told = self.pair.begin.iter().find_map(|phrase| find(&sentence.words, phrase));
        let told = told.or_else(|| self.fails(sentence));
        told.is_some_and(|told| sentence.is_so(&[told]))
    }

    fn ends(&self, sentence: &Sentence) -> bool {
        if !sentence.names(&self.names) {
            return false;
        }
        let from = sentence.words.iter().any(|word| word.token.word == "from");
        let held = sentence.hold(&self.words).is_some();
        let there = held || *self.pair == STAY && !from;
        let told = self.pair.end.iter().find_map(|phrase| find(&sentence.words, phrase));
        let back = self.pair.back && sentence.moves.back;
        there && sentence.is_so(&[]) && (back || told.is_some())
    }

    /// "the gate won't lock"
    fn fails(&self, sentence: &Sentence) -> Option<Range<usize>> {
        let noun = self.words.last().filter(|_| *self.pair == BROKEN && self.names.is_empty())?;
        let words = &sentence.words;
        (1..words.len()).find_map(|at| {
            let thing = find(&words[at - 1..at], noun).is_some() && !words[at - 1].token.stop;
            let verb = words.get(at + 1).is_some_and(|word| {
                !telling_stems(&word.token.word).is_empty() && !word.token.capital
            });
            let fails = listed(FAILS, &words[at].token.word);
            (thing && verb && fails).then_some(at..at + 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::clause::words_of;
    use super::*;

    #[test]
    fn a_sentence_begins_a_state_or_ends_it() {
        let state = |names: &str, words: &str, pair| State {
            pair,
            names: names.split_whitespace().map(str::to_owned).collect(),
            words: words.split_whitespace().map(str::to_owned).collect(),
        };
        let told = |state: &State, text: &str| {
            let sentence = Sentence::of(text, Vec::new());
            (state.begins(&sentence), state.ends(&sentence))
        };
        let (pump, stay) = (state("", "pump", &BROKEN), state("ava", "hospital", &STAY));
        for (state, text, wanted) in [
            (&pump, "The pump is stuck.", (true, false)),
            (&pump, "Ben says the pump won't start.", (true, false)),
            (&pump, "Ben put a new belt on the pump.", (false, true)),
            (&pump, "The pump is not broken.", (false, false)),
            (&pump, "The saw is stuck.", (false, false)),
            (&pump, "Ben can't come, the pump is in the shed.", (false, false)),
            (&stay, "Ava was taken to hospital.", (true, false)),
            (&stay, "Ava is back from hospital.", (false, true)),
            (&stay, "Ava is back from Rome.", (false, false)),
            (&stay, "Ben was taken to hospital.", (false, false)),
        ] {
            assert_eq!(told(state, text), wanted, "{text}");
        }
    }

    #[test]
    fn a_question_tells_a_state_by_either_end() {
        let of =
            |text: &str, over| told_in(&words_of(text), over).map(|(pair, at)| (pair.back, at));
        assert_eq!(of("pump out of order", false), Some((false, 1..4)));
        assert_eq!(of("Ava on holiday", false), Some((true, 1..3)));
        assert_eq!(of("pump working again", true), Some((false, 1..3)));
        assert_eq!(of("pump in the shed", false), None);
    }
}
