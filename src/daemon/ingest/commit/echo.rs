//! What was published on `say` and comes back through a microphone, told by its words.
//!
//! A robot that says when it speaks (`speaking`) needs none of this. Of one that does not, a turn is taken for its own
//! when it begins soon after something was to be said and most of its words are words of it, in their order. What was
//! heard once is not waited for again: who repeats it is somebody. A recording hears nothing of what is said while it is
//! played, so in a replay nothing is expected here.

use std::collections::VecDeque;

use crate::recall::lexer::tokens;
use crate::recall::time_expr::is_number;
use crate::time::{Span, Timestamp};

/// Texts that may still be heard, and stretches in which one was.
const MOST: usize = 16;
/// How long a word takes that is said slowly, seconds.
const WORD_SECS: f64 = 0.5;
/// So much longer a speaker may take to begin and to end, seconds.
const LATE_SECS: f64 = 10.0;
/// So much too early a turn may seem to begin: clocks, and sound that is added before it, seconds.
const EARLY_SECS: f64 = 0.5;
/// Share of a turn's words that agree with the text: recognisers mishear some.
const AGREEING: f64 = 0.7;
/// So many words must agree, of a shorter text all …
const FEWEST: usize = 4;
/// … and never fewer than these: anybody may say one of them.
const LEAST: usize = 2;

/// A text that was to be said.
#[derive(Debug)]
struct Said {
    at: Timestamp,
    /// When it is over, said slowly.
    until: Timestamp,
    /// How many words must agree.
    needed: usize,
    /// Its words that were not heard yet.
    left: Vec<String>,
}

impl Said {
    fn new(at: Timestamp, text: &str) -> Self {
        let secs = tokens(text).len() as f64 * WORD_SECS;
        let left = words(text);
        let needed = FEWEST.min(left.len()).max(LEAST);
        Self { at, until: at.plus_secs(secs), needed, left }
    }

    /// How many of the words that are left those of a turn reach to, if they agree.
    fn reach(&self, start: Timestamp, heard: &[String]) -> Option<usize> {
        let in_time = Span::new(self.at.plus_secs(-EARLY_SECS), self.until.plus_secs(LATE_SECS));
        if !in_time.contains(start) {
            return None;
        }
        // In a piece of the text that is about as long: small words are everywhere.
        let length = heard.len() + heard.len().div_ceil(4);
        let mut best = (0, 0);
        for from in 0..self.left.len() {
            let piece = &self.left[from..self.left.len().min(from + length)];
            let (agreeing, end) = in_order(heard, piece);
            if agreeing > best.0 {
                best = (agreeing, from + end);
            }
        }
        let (agreeing, end) = best;
        let enough = agreeing >= self.needed && agreeing as f64 >= AGREEING * heard.len() as f64;
        enough.then_some(end)
    }
}

/// What was to be said, and where it was heard.
#[derive(Debug, Default)]
pub(in crate::daemon::ingest) struct Echoes {
    said: VecDeque<Said>,
    heard: VecDeque<Span>,
}

impl Echoes {
    /// That text is to be said from then on.
    pub(in crate::daemon::ingest) fn expect(&mut self, at: Timestamp, text: &str) {
        put(&mut self.said, Said::new(at, text));
    }

    /// Whether a turn with those words is what was to be said; what it heard of it is heard.
    pub(in crate::daemon::ingest) fn take(&mut self, span: Span, text: &str) -> bool {
        // Another microphone heard the same.
        if self.heard.iter().any(|heard| is_mostly_in(span, *heard)) {
            return true;
        }
        let heard = words(text);
        for said in &mut self.said {
            if let Some(end) = said.reach(span.start, &heard) {
                said.left.drain(..end);
                put(&mut self.heard, span);
                return true;
            }
        }
        false
    }

    /// Whether most of a stretch lies where something should be heard just now.
    pub(in crate::daemon::ingest) fn may_hold(&self, span: Span) -> bool {
        let open = self.said.iter().filter(|said| !said.left.is_empty());
        open.map(|said| Span::new(said.at, said.until)).any(|said| is_mostly_in(span, said))
    }
}

/// Of too many the oldest goes.
fn put<T>(kept: &mut VecDeque<T>, one: T) {
    if kept.len() >= MOST {
        kept.pop_front();
    }
    kept.push_back(one);
}

/// Whether words are those of a text, in their order and all but a few (a recogniser mishears some).
pub(in crate::daemon::ingest) fn repeats(heard: &str, said: &str) -> bool {
    let (heard, said) = (words(heard), words(said));
    let (agreeing, _) = in_order(&heard, &said);
    agreeing >= LEAST.min(heard.len()).max(1) && agreeing as f64 >= AGREEING * heard.len() as f64
}

/// What was heard without the words of a text that was spoken at the same time. Words count as the text's where two or more
/// follow each other as they do there: single ones are in many sentences.
pub(in crate::daemon::ingest) fn without(heard: &str, said: &str) -> String {
    let found = tokens(heard);
    let said: Vec<String> = tokens(said).into_iter().map(|token| token.word).collect();
    let mut is_said = vec![false; found.len()];
    for start in 0..found.len() {
        let follows = |from: usize| {
            let pairs = found[start..].iter().zip(&said[from..]);
            pairs.take_while(|(token, word)| token.word == **word).count()
        };
        let longest = (0..said.len()).map(follows).max().unwrap_or(0);
        if longest >= LEAST {
            is_said[start..start + longest].fill(true);
        }
    }
    let end = |n: usize| found.get(n + 1).map_or(heard.len(), |next| next.range.start);
    let left = (0..found.len()).filter(|n| !is_said[*n]);
    let left: String = left.filter_map(|n| heard.get(found[n].range.start..end(n))).collect();
    left.trim().to_owned()
}

fn is_mostly_in(span: Span, other: Span) -> bool {
    span.overlap_secs(other) > 0.5 * span.secs()
}

/// The words of a text without its numbers: "17:30" is said, and recognised, in many ways.
fn words(text: &str) -> Vec<String> {
    let words = tokens(text).into_iter().map(|token| token.word);
    words.filter(|word| !is_number(word)).collect()
}

/// How many words of `heard` are in `text` in the same order, at most, and how many of the text that takes (longest
/// common subsequence).
fn in_order(heard: &[String], text: &[String]) -> (usize, usize) {
    let mut row = vec![0; text.len() + 1];
    for word in heard {
        let mut diagonal = 0;
        for (at, other) in text.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == other { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    let most = row[text.len()];
    (most, row.iter().position(|count| *count == most).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Timestamp {
        Timestamp::from_nanos(1_000_000_000_000).plus_secs(secs)
    }

    fn span(from: f64, to: f64) -> Span {
        Span::new(at(from), at(to))
    }

    const TEXT: &str =
        "Ava was here at 17:30:05. She put the green parcel on the shelf in the kitchen.";

    fn expecting(text: &str) -> Echoes {
        let mut echoes = Echoes::default();
        echoes.expect(at(0.0), text);
        echoes
    }

    #[test]
    fn what_was_to_be_said_is_known_by_its_words_once() {
        let mut echoes = expecting(TEXT);
        // By sentences, with numbers in letters and a word misheard.
        assert!(echoes.take(span(1.0, 4.0), "ava was here at seventeen thirty five"));
        assert!(echoes.take(span(5.0, 8.0), "she put the green parcel on the self in the kitchen"));
        assert!(!echoes.take(span(9.0, 12.0), "she put the green parcel on the shelf"), "somebody");
        assert!(expecting(TEXT).take(span(1.0, 9.0), TEXT));
    }

    #[test]
    fn who_speaks_at_the_same_time_keeps_their_words() {
        let heard = "She put the green parcel on, I really like that! In the kitchen.";
        assert_eq!(without(heard, TEXT), "I really like that!");
        assert_eq!(without("The other one is in it.", TEXT), "The other one is in it.");
        assert_eq!(without("She put the green parcel on the shelf.", TEXT), "");
        assert_eq!(without("", TEXT), "");
        assert!(repeats("she put the green barrel on the shelf", TEXT));
        assert!(!repeats("stop, I have to go now", TEXT) && !repeats("", TEXT));
    }

    #[test]
    fn both_microphones_hear_it() {
        let mut echoes = expecting(TEXT);
        assert!(echoes.take(span(5.0, 8.0), "she put the green parcel on the shelf"));
        assert!(echoes.take(span(5.1, 8.2), "he put a barrel on"));
        assert!(!echoes.take(span(7.5, 10.0), "thank you very much"));
    }

    #[test]
    fn who_repeats_a_word_or_says_something_else_is_somebody() {
        for text in ["kitchen", "in the kitchen", "the green parcel", "", "5", "yes"] {
            assert!(!expecting(TEXT).take(span(9.0, 10.0), text), "{text}");
        }
        let other = "was it here that she put the other thing on a table";
        assert!(!expecting(TEXT).take(span(9.0, 12.0), other));
        // Words from all over a long text.
        let text = format!("{TEXT} {}", "Then he came in and said that it is late. ".repeat(8));
        assert!(!expecting(&text).take(span(9.0, 12.0), "ava put that in late then she said"));
    }

    #[test]
    fn a_short_text_has_to_be_heard_as_a_whole() {
        assert!(expecting("I don't know.").take(span(1.0, 2.0), "I don't know"));
        assert!(!expecting("I don't know.").take(span(1.0, 2.0), "I know"));
        assert!(!expecting("Yes.").take(span(1.0, 1.5), "yes"), "anybody says it");
    }

    #[test]
    fn it_is_waited_for_as_long_as_saying_it_takes() {
        let words = "she put the green parcel on the shelf";
        assert!(!expecting(TEXT).take(span(-3.0, 0.5), words), "before");
        // 16 words take 8 s.
        assert!(expecting(TEXT).take(span(17.0, 20.0), words));
        assert!(!expecting(TEXT).take(span(19.0, 22.0), words), "too late");
        assert!(expecting(TEXT).may_hold(span(1.0, 6.0)));
        assert!(!expecting(TEXT).may_hold(span(7.0, 12.0)));
        assert!(!Echoes::default().may_hold(span(1.0, 6.0)));
        let mut heard = expecting(TEXT);
        assert!(heard.take(span(1.0, 6.0), TEXT) && !heard.may_hold(span(6.5, 7.5)), "it is over");
    }
}
