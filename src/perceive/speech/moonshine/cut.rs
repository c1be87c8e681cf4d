//! Long sound in pieces, cut where it is quietest.

use std::ops::Range;

use crate::media::SAMPLE_RATE;

/// Longer sound is cut, seconds: the network was trained on such lengths, and what it costs grows faster than they do.
const MOST_SECS: f64 = 16.0;
/// A cut lies in the part after this share of the greatest length.
const CUT_FROM: f64 = 0.5;
/// Power is measured over this much, seconds.
const QUIET_SECS: f64 = 0.2;
/// And looked at in steps of this, seconds.
const STEP_SECS: f64 = 0.01;

fn samples(secs: f64) -> usize {
    (secs * f64::from(SAMPLE_RATE)) as usize
}

/// Pieces of a sound of 16 kHz, in their order and without gaps; one where it is short enough.
pub(super) fn pieces(sound: &[f32]) -> Vec<Range<usize>> {
    let most = samples(MOST_SECS);
    let mut pieces = Vec::new();
    let mut start = 0;
    while sound.len() - start > most {
        let from = start + samples(CUT_FROM * MOST_SECS);
        let cut = quietest(sound, from..start + most);
        pieces.push(start..cut);
        start = cut;
    }
    pieces.push(start..sound.len());
    pieces
}

/// Where in `part` the power around a sample is least; the first of equal places.
fn quietest(sound: &[f32], part: Range<usize>) -> usize {
    let (width, step) = (samples(QUIET_SECS), samples(STEP_SECS));
    let power = |at: usize| -> f64 {
        let around = &sound[at - width / 2..at + width / 2];
        around.iter().map(|value| f64::from(*value) * f64::from(*value)).sum()
    };
    let places = (part.start..part.end - width / 2).step_by(step);
    places.map(|at| (power(at), at)).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(part.start, |p| p.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sound_is_one_piece_and_long_sound_is_cut_in_its_pauses() {
        assert_eq!(pieces(&[]).len(), 1);
        let mut sound = vec![0.1; samples(40.0)];
        assert_eq!(pieces(&sound[..samples(15.0)]).len(), 1);
        for pause in [11.0, 24.0] {
            sound[samples(pause)..samples(pause + 0.4)].fill(0.001);
        }
        let cut = pieces(&sound);
        assert_eq!(cut.len(), 3);
        for (piece, pause) in cut.iter().zip([11.0, 24.0]) {
            assert!((samples(pause)..samples(pause + 0.4)).contains(&piece.end), "{cut:?}");
        }
        assert_eq!((cut[0].start, cut[2].end), (0, sound.len()));
        assert!(cut.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
