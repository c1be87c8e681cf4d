//! Pauses inside turns, told by loudness.
//!
//! A turn that is heard again has no speech probabilities any more, only how many seconds of it were speech
//! ([`SpeechTurn::speech_secs`]). So many of its steps as were none, the quietest ones, are its silence: where voice activity
//! heard speech all along there is no pause, however quiet it grows.

use super::Stretch;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::turns::STEP;
use crate::percept::SpeechTurn;

/// Steps of 10 ms before and after a step that its loudness is averaged over.
const AROUND: usize = 3;
/// A pause is so much quieter than the turn's speech, dB.
const QUIETER_DB: f32 = 6.0;
/// So much of a pause stays with the speech on either side, samples: 100 ms.
const KEPT: usize = 10 * STEP;
/// Less is not cut out, samples: 200 ms.
const LEAST_CUT: usize = 20 * STEP;
/// Shorter speech does not become a part of its own, samples: 250 ms.
const LEAST_PART: usize = 25 * STEP;

/// Pauses of at least so many seconds, `[start, end)` in samples of the stretch, in order.
pub(super) fn pauses(stretch: &Stretch, least_secs: f64) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for turn in &stretch.turns {
        for (start, end) in silence(turn) {
            match found.last_mut() {
                // Where turns touch, it mostly is in a pause.
                Some(last) if last.1 == at + start => last.1 = at + end,
                _ => found.push((at + start, at + end)),
            }
        }
        at += turn.sound.len();
    }
    found.retain(|(start, end)| (end - start) as f64 / f64::from(SAMPLE_RATE) >= least_secs);
    found
}

/// What is left of `[start, end)` without the pauses, in order; all of it where that would be nothing.
pub(super) fn without(pauses: &[(usize, usize)], start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut left = Vec::new();
    let mut from = start;
    for (pause, resumed) in pauses {
        let pause = (pause + KEPT).clamp(from, end);
        let resumed = resumed.saturating_sub(KEPT).clamp(from, end);
        let torn = |rest: usize| rest > KEPT && rest < LEAST_PART;
        if resumed < pause + LEAST_CUT || torn(pause - from) || torn(end - resumed) {
            continue;
        }
        if pause - from > KEPT {
            left.push((from, pause));
        }
        from = resumed;
    }
    if end - from > KEPT {
        left.push((from, end));
    }
    if left.is_empty() { vec![(start, end)] } else { left }
}

/// Runs of a turn's quietest steps, as many as voice activity took for no speech, `[start, end)` in samples.
fn silence(turn: &SpeechTurn) -> Vec<(usize, usize)> {
    let loudness = loudness(&turn.sound);
    let secs = turn.sound.len() as f64 / f64::from(SAMPLE_RATE);
    let silent = ((secs - turn.speech_secs) * 100.0).round().max(0.0) as usize;
    let mut sorted = loudness.clone();
    sorted.sort_by(f64::total_cmp);
    let last = silent.min(sorted.len()).checked_sub(1);
    let Some(limit) = last.and_then(|last| sorted.get(last)).filter(|_| !turn.overlapped) else {
        return Vec::new();
    };
    let quiet = 10.0_f64.powf(f64::from(turn.level_dbfs - QUIETER_DB) / 10.0);
    let limit = f64::min(*limit, quiet);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (step, _) in loudness.iter().enumerate().filter(|(_, power)| **power <= limit) {
        let (start, end) = (step * STEP, ((step + 1) * STEP).min(turn.sound.len()));
        match found.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => found.push((start, end)),
        }
    }
    found
}

/// Mean power of each 10 ms and what is around it.
fn loudness(sound: &[f32]) -> Vec<f64> {
    let power: Vec<f64> = sound
        .chunks(STEP)
        .map(|step| {
            let sum: f64 = step.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
            sum / step.len() as f64
        })
        .collect();
    (0..power.len())
        .map(|n| {
            let near = &power[n.saturating_sub(AROUND)..(n + AROUND + 1).min(power.len())];
            near.iter().sum::<f64>() / near.len() as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pause_is_cut_out_and_no_part_is_torn_off() {
        let second = SAMPLE_RATE as usize;
        let pause = [(2 * second, 3 * second)];
        let wanted = [(0, 2 * second + KEPT), (3 * second - KEPT, 5 * second)];
        assert_eq!(without(&pause, 0, 5 * second), wanted);
        // at the edges it is left out
        assert_eq!(without(&pause, 2 * second, 5 * second), wanted[1..]);
        assert_eq!(without(&pause, 0, 3 * second), wanted[..1]);
        // too little before it
        let from = 2 * second - KEPT / 2;
        assert_eq!(without(&pause, from, 5 * second), [(from, 5 * second)]);
        // nothing but a pause stays as it is
        assert_eq!(without(&pause, 2 * second, 3 * second), [(2 * second, 3 * second)]);
    }

    proptest! {
        #[test]
        fn what_is_left_is_in_order_inside_and_loses_pauses_alone(
            edges in proptest::collection::btree_set(0_usize..1000, 0..12),
            bounds in (0_usize..900, 1_usize..400),
        ) {
            let edges: Vec<usize> = edges.into_iter().map(|step| step * STEP).collect();
            let pauses: Vec<(usize, usize)> =
                edges.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let (start, end) = (bounds.0 * STEP, (bounds.0 + bounds.1) * STEP);
            let left = without(&pauses, start, end);
            let is_inside =
                |part: &(usize, usize)| start <= part.0 && part.0 < part.1 && part.1 <= end;
            prop_assert!(left.iter().all(is_inside));
            prop_assert!(left.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let is_in =
                |parts: &[(usize, usize)], at: usize| parts.iter().any(|p| p.0 <= at && at < p.1);
            for at in (start..end).step_by(STEP) {
                prop_assert!(is_in(&left, at) || is_in(&pauses, at));
            }
        }
    }
}
