//! Conversations: the last question of each, as long as it is spoken of. In RAM alone, and none outlives an erasure.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::answer::Turn;

/// After so long without a question it is over.
const LASTS: Duration = Duration::from_secs(600);
/// So many are kept, the oldest go.
const KEPT: usize = 256;

/// One conversation's last question.
#[derive(Debug)]
struct Last {
    turn: Turn,
    at: Instant,
    /// How often was erased until then.
    erasures: u64,
}

/// The conversations that go on.
#[derive(Debug, Default)]
pub(super) struct Conversations(Mutex<BTreeMap<String, Last>>);

impl Conversations {
    /// What was asked last in a conversation, if that was not long ago and nothing was erased since.
    pub(super) fn last(&self, name: &str, erasures: u64, now: Instant) -> Option<Turn> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = known.get(name)?;
        let lasts = now.duration_since(last.at) < LASTS && last.erasures == erasures;
        lasts.then(|| last.turn.clone())
    }

    /// Keeps a question with the value of its answer.
    pub(super) fn keep(&self, name: &str, turn: Turn, erasures: u64, now: Instant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, last| now.duration_since(last.at) < LASTS && last.erasures == erasures);
        if known.len() >= KEPT
            && let Some(oldest) =
                known.iter().min_by_key(|(_, last)| last.at).map(|(name, _)| name.clone())
        {
            known.remove(&oldest);
        }
        known.insert(name.to_owned(), Last { turn, at: now, erasures });
    }
}

/// The value of an answer: what stands in front of its first quotation.
pub(super) fn value_of(answer: &str) -> String {
    const LONGEST: usize = 80;
    let value = answer.split('\u{201c}').next().unwrap_or("").trim();
    let value = value.trim_end_matches([':', '.', ' ']);
    if value.len() > LONGEST { String::new() } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn turn(question: &str) -> Turn {
        Turn { question: question.to_owned(), value: String::new() }
    }

    #[test]
    fn a_conversation_ends_with_time_and_with_an_erasure() {
        let (all, start) = (Conversations::default(), Instant::now());
        all.keep("a", turn("Where is Ava?"), 0, start);
        let after = |secs| start + Duration::from_secs(secs);
        assert_eq!(all.last("a", 0, after(599)), Some(turn("Where is Ava?")));
        assert_eq!(all.last("a", 0, after(600)), None);
        assert_eq!(all.last("a", 1, after(1)), None);
        assert_eq!(all.last("b", 0, after(1)), None);
    }

    #[test]
    fn the_oldest_of_many_goes() {
        let (all, start) = (Conversations::default(), Instant::now());
        for number in 0..=KEPT as u64 {
            let at = start + Duration::from_millis(number);
            all.keep(&format!("c{number}"), turn("Who?"), 0, at);
        }
        let now = start + Duration::from_secs(1);
        assert_eq!(all.last("c0", 0, now), None);
        assert!(
            all.last("c1", 0, now).is_some() && all.last(&format!("c{KEPT}"), 0, now).is_some()
        );
    }

    #[test]
    fn the_value_stands_in_front_of_the_quotation() {
        assert_eq!(
            value_of("In the sink: \u{201c}It is in the sink.\u{201d} I was told on 3 May."),
            "In the sink"
        );
        assert_eq!(value_of("\u{201c}Ava left.\u{201d}"), "");
        assert_eq!(value_of("I saw Ava and Ben."), "I saw Ava and Ben");
    }
}
