//! What keeps a recogniser that always writes something from writing what nobody said.

use super::network::{Decoded, Token};
use crate::media::SAMPLE_RATE;

/// Nobody says more, tokens a second (the published limit), …
const TOKENS_PER_SEC: f64 = 6.5;
/// … and a few, for short words.
const FEW_TOKENS: usize = 6;
/// So many tokens in a row that repeat each other are a loop …
const LOOP_TOKENS: usize = 12;
/// … when they are this many times the same and more.
const LOOP_TIMES: usize = 3;
/// What repeats is so long at most, tokens.
const LONGEST_UNIT: usize = 16;

/// Where nothing was written and the network was less sure of that, something may have been said. …
const SURE_OF_NOTHING: f32 = -0.3;
/// … So it may have been something else where it was less sure of what it wrote, mean log probability. …
const SURE_OF_WORDS: f32 = -0.5;
/// … Less sure than this, nothing was said.
const NO_WORDS: f32 = -1.6;
/// What repeats at the end of a text that had to be stopped is at least so long, tokens.
const SHORTEST_TAIL: usize = 2;

/// How many tokens a sound may have at most.
pub(super) fn most_tokens(samples: usize) -> usize {
    (samples as f64 / f64::from(SAMPLE_RATE) * TOKENS_PER_SEC) as usize + FEW_TOKENS
}

/// How many tokens stay where the end repeats itself over and over: up to the first time. `None`: it does not.
pub(super) fn looped(tokens: &[Token]) -> Option<usize> {
    (1..=LONGEST_UNIT.min(tokens.len() / LOOP_TIMES)).find_map(|unit| {
        let same = |back: &usize| {
            let at = tokens.len() - 1 - back;
            at >= unit && tokens[at].id == tokens[at - unit].id
        };
        let repeated = (0..tokens.len()).take_while(same).count() + unit;
        let whole = repeated / unit;
        (whole >= LOOP_TIMES && repeated >= LOOP_TOKENS).then(|| tokens.len() - repeated + unit)
    })
}

/// Cuts what repeats at the end of a text that had to be stopped, and takes away what is no speech.
pub(super) fn guarded(mut decoded: Decoded) -> Decoded {
    let kept = looped(&decoded.tokens).or_else(|| {
        decoded.end_log_prob.is_none().then(|| repeated_tail(&decoded.tokens)).flatten()
    });
    if let Some(kept) = kept {
        decoded.truncate(kept);
    }
    if decoded.mean_log_prob() < NO_WORDS {
        decoded.truncate(0);
    }
    decoded
}

/// Whether the same sound in another frame of silence is worth a second look.
pub(super) fn is_unsure(decoded: &Decoded) -> bool {
    match decoded.end_log_prob {
        None => true,
        Some(end) if decoded.tokens.is_empty() => end < SURE_OF_NOTHING,
        Some(_) => decoded.mean_log_prob() < SURE_OF_WORDS,
    }
}

/// How many tokens stay where the end was said before, word for word, directly or not: up to the first time, and what
/// is between.
fn repeated_tail(tokens: &[Token]) -> Option<usize> {
    let same = |a: usize, b: usize| tokens[a].id == tokens[b].id;
    let longest = (1..tokens.len())
        .map(|shift| {
            let back = (shift..tokens.len()).rev().take_while(|at| same(*at, at - shift)).count();
            (back, shift)
        })
        .filter(|(back, _)| *back >= SHORTEST_TAIL)
        .max_by_key(|(back, shift)| (*back, std::cmp::Reverse(*shift)))?;
    Some(tokens.len() - longest.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(ids: &[usize]) -> Vec<Token> {
        ids.iter().map(|id| Token { id: *id, log_prob: 0.0 }).collect()
    }

    #[test]
    fn a_loop_is_cut_after_its_first_time_and_emphasis_is_kept() {
        let looping = [7, 8, 9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3];
        assert_eq!(looped(&tokens(&looping)), Some(6));
        assert_eq!(looped(&tokens(&looping[..12])), None, "three times three may be meant");
        assert_eq!(looped(&tokens(&[5; 12])), Some(1));
        assert_eq!(looped(&tokens(&[5; 5])), None, "no no no no no");
        assert_eq!(looped(&tokens(&[])), None);
        let growing: Vec<usize> = (0..200).collect();
        assert_eq!(looped(&tokens(&growing)), None);
    }

    #[test]
    fn a_text_that_had_to_be_stopped_loses_what_it_repeats() {
        let decoded = |ids: &[usize], end_log_prob| Decoded {
            tokens: tokens(ids),
            attention: vec![vec![1.0]; ids.len()],
            end_log_prob,
        };
        let repeats = [1, 2, 3, 4, 2, 3, 4, 2, 3];
        assert_eq!(guarded(decoded(&repeats, None)).tokens, tokens(&[1, 2, 3, 4]));
        assert_eq!(guarded(decoded(&repeats, Some(0.0))).tokens.len(), 9, "it was meant");
        assert_eq!(guarded(decoded(&[1, 2, 3, 4], None)).attention.len(), 4);
        assert!(guarded(decoded(&[1, 2], Some(-9.0))).tokens.is_empty());
    }

    #[test]
    fn a_network_that_hesitates_is_asked_again() {
        let decoded = |log_prob, end| Decoded {
            tokens: vec![Token { id: 7, log_prob }],
            attention: vec![vec![1.0]],
            end_log_prob: Some(end),
        };
        assert!(!is_unsure(&decoded(-0.1, -0.1)));
        assert!(is_unsure(&decoded(-0.9, -0.4)));
        let nothing = |end| Decoded { end_log_prob: Some(end), ..Decoded::default() };
        assert!(is_unsure(&nothing(-0.6)) && !is_unsure(&nothing(-0.1)));
        assert!(is_unsure(&Decoded::default()));
    }

    #[test]
    fn what_a_sound_may_say_grows_with_it() {
        assert_eq!(most_tokens(0), 6);
        assert_eq!(most_tokens(160_000), 71);
    }
}
