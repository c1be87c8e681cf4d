//! What a speech turn and a face have in common, on the network's grid.

use super::mfcc::Mfcc;
use super::network::AUDIO_PER_CROP;
use super::{ActiveSpeaker, ActiveSpeakerError, Crop};
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::RawTurn;
use crate::time::{Span, Timestamp};

/// Pictures per second that the network was trained with.
pub const CROPS_PER_SEC: f64 = 25.0;
/// A slower camera does not show how lips move.
pub const MIN_FPS: f64 = 20.0;
/// A longer hole between two crops ends a run, seconds.
const MAX_HOLE_SECS: f64 = 0.1;
/// Shorter is not scored, seconds.
const MIN_SECS: f64 = 0.6;
/// Steps of 10 ms in a picture's time.
const STEPS: usize = 4;

/// A face during part of a turn: one crop for every 40 ms.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    /// Their times are the grid's; the pictures are the nearest in time.
    pub crops: Vec<Crop>,
}

/// The middle of the longest run of a track's crops inside the turn, `window_secs` at most.
///
/// `None`: it abstains, because the crops come at less than [`MIN_FPS`], or they are too few.
#[must_use]
pub fn excerpt(turn: Span, crops: &[Crop], window_secs: f64) -> Option<Excerpt> {
    let from = crops.partition_point(|crop| crop.at < turn.start);
    let to = crops.partition_point(|crop| crop.at < turn.end);
    let inside = crops.get(from..to)?;
    let mut steps: Vec<f64> =
        inside.windows(2).map(|pair| pair[1].at.secs_since(pair[0].at)).collect();
    steps.sort_by(f64::total_cmp);
    // A camera of exactly 20 fps may be off by some clock ticks.
    if *steps.get(steps.len() / 2)? > 1.001 / MIN_FPS {
        return None;
    }
    let run = inside
        .chunk_by(|a, b| b.at.secs_since(a.at) <= MAX_HOLE_SECS)
        .max_by(|a, b| secs(a).total_cmp(&secs(b)).then(b[0].at.cmp(&a[0].at)))?;
    let long = secs(run).min(window_secs);
    if long < MIN_SECS {
        return None;
    }
    let start = run[0].at.plus_secs(0.5 * (secs(run) - long));
    let count = (long * CROPS_PER_SEC) as usize;
    let nearest = |at: Timestamp| {
        let after = run.partition_point(|crop| crop.at < at);
        let far = |index: usize| run.get(index).map(|crop| crop.at.secs_since(at).abs());
        match (after.checked_sub(1).and_then(far), far(after)) {
            (Some(before), Some(behind)) if before <= behind => run.get(after - 1),
            (Some(_), None) => run.get(after - 1),
            _ => run.get(after),
        }
    };
    let crops = (0..count)
        .filter_map(|n| {
            let at = start.plus_secs(n as f64 / CROPS_PER_SEC);
            nearest(at).map(|crop| Crop { at, pixels: crop.pixels.clone() })
        })
        .collect();
    Some(Excerpt { crops })
}

fn secs(run: &[Crop]) -> f64 {
    match run {
        [first, .., last] => last.at.secs_since(first.at),
        _ => 0.0,
    }
}

impl Excerpt {
    /// Length, seconds: what scoring it costs.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.crops.len() as f64 / CROPS_PER_SEC
    }

    /// Log odds by time, pauses of the turn left out (speech probability below `threshold`): in a pause nobody speaks.
    ///
    /// # Errors
    /// As [`ActiveSpeaker::score`].
    pub fn score(
        &self,
        speaker: &mut dyn ActiveSpeaker,
        turn: &RawTurn,
        threshold: f32,
    ) -> Result<Vec<(Timestamp, f32)>, ActiveSpeakerError> {
        let Some(first) = self.crops.first() else { return Ok(Vec::new()) };
        let rate = f64::from(SAMPLE_RATE);
        let from = (first.at.secs_since(turn.span.start) * rate).round().max(0.0) as usize;
        let needed = Mfcc::samples(AUDIO_PER_CROP * self.crops.len());
        let to = (from + needed).min(turn.sound.len());
        let sound = turn.sound.get(from..to).unwrap_or_default();
        let scores = speaker.score(sound, &self.crops)?;
        let spoken = |at: Timestamp| {
            let step = (at.secs_since(turn.span.start) * 100.0).round().max(0.0) as usize;
            let to = (step + STEPS).min(turn.activity.len());
            let part = turn.activity.get(step..to).unwrap_or_default();
            part.iter().filter(|p| **p >= threshold).count() * 2 > part.len()
        };
        let timed = self.crops.iter().map(|crop| crop.at).zip(scores);
        Ok(timed.filter(|(at, _)| spoken(*at)).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::SourceId;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    /// Crops from `from` to `to` whose pixels tell their number.
    fn crops(fps: f64, from: f64, to: f64) -> Vec<Crop> {
        (0..((to - from) * fps).round() as usize)
            .map(|n| Crop {
                at: at(from + n as f64 / fps),
                pixels: Arc::from([n as u8].as_slice()),
            })
            .collect()
    }

    fn span(from: f64, to: f64) -> Span {
        Span::new(at(from), at(to))
    }

    #[test]
    fn a_slow_camera_abstains() {
        for (fps, scored) in [(5.0, false), (10.0, false), (15.0, false), (19.0, false)] {
            assert_eq!(
                excerpt(span(0.0, 4.0), &crops(fps, 0.0, 4.0), 2.0).is_some(),
                scored,
                "{fps}"
            );
        }
        for fps in [20.0, 25.0, 29.97, 30.0, 50.0] {
            let found = excerpt(span(0.0, 4.0), &crops(fps, 0.0, 4.0), 2.0).unwrap();
            assert_eq!(found.crops.len(), 50, "{fps}");
        }
    }

    #[test]
    fn the_middle_of_the_longest_run_is_taken() {
        let mut seen = crops(25.0, 0.0, 1.0);
        seen.extend(crops(25.0, 1.5, 5.0));
        let found = excerpt(span(0.5, 9.0), &seen, 2.0).unwrap();
        assert!((found.crops[0].at.secs_since(at(0.0)) - 2.23).abs() < 0.03);
        assert_eq!(found.crops.len(), 50);
        assert_eq!(found.secs(), 2.0);
        assert_eq!(excerpt(span(0.0, 0.5), &seen, 2.0), None, "half a second is too short");
        assert_eq!(excerpt(span(6.0, 9.0), &seen, 2.0), None, "nobody was there");
        assert_eq!(excerpt(span(0.0, 9.0), &[], 2.0), None);
    }

    #[test]
    fn other_rates_are_put_on_the_grid() {
        let seen = crops(50.0, 0.0, 2.0);
        let found = excerpt(span(0.0, 2.0), &seen, 10.0).unwrap();
        assert_eq!(found.crops[3].pixels[0], 6);
        let slower = excerpt(span(0.0, 2.0), &crops(20.0, 0.0, 2.0), 10.0).unwrap();
        let numbers: Vec<u8> = slower.crops[..6].iter().map(|crop| crop.pixels[0]).collect();
        assert_eq!(numbers, [0, 1, 2, 2, 3, 4]);
    }

    struct Counting;
    impl ActiveSpeaker for Counting {
        fn score(&mut self, sound: &[f32], crops: &[Crop]) -> Result<Vec<f32>, ActiveSpeakerError> {
            assert_eq!(sound[0], 0.25, "the sound of the first crop's moment");
            Ok((0..crops.len()).map(|n| n as f32).collect())
        }
        fn name(&self) -> &str {
            "counting"
        }
    }

    #[test]
    fn pauses_are_left_out_and_sound_begins_with_the_first_crop() {
        let mut sound = vec![0.0; 3 * 16_000];
        sound[8_000..].fill(0.25);
        let mut activity = vec![1.0; 300];
        activity[100..200].fill(0.1);
        let (source, found) = (SourceId::new("mic"), crops(25.0, 0.5, 3.0));
        let turn = RawTurn::new(source, at(0.0), sound.into(), activity, 0.5);
        let found = excerpt(turn.span, &found, 10.0).unwrap();
        let scores = found.score(&mut Counting, &turn, 0.5).unwrap();
        assert!(
            scores.iter().all(|(at, _)| !(1.02..1.98).contains(&at.secs_since(turn.span.start)))
        );
        assert!((30..=38).contains(&scores.len()), "{}", scores.len());
        assert_eq!(scores[0], (at(0.5), 0.0));
    }
}
