//! What a speaker network heard of a sound, frame by frame, and the voices of parts of it.
//!
//! Networks that end in statistics over time (CAM++, and every x-vector: Snyder et al. 2018) need hear a sound only once:
//! the vector of a part is their last layer over the mean and the standard deviation of the part's own frames. What a frame
//! tells has its context from the whole sound, so that short parts tell more than the same samples alone would (CAM++:
//! windows of 1.2 s inside LibriSpeech utterances, equal error 0.9 % instead of 3.1 %).

use std::ops::Range;

use ndarray::ArrayViewD;

/// Samples from one frame to the next.
pub(in crate::perceive::voice) const SHIFT: usize = 320;
/// The middle of the first frame, samples.
const FIRST: usize = 200;
/// Fewer frames have no standard deviation that tells anything.
const LEAST: usize = 10;

/// The last layer of a network: the vector of statistics.
#[derive(Clone, Debug)]
pub(in crate::perceive::voice) struct Head {
    /// `[D, 2C + 1]`: weights of the means, of the deviations, and the bias.
    rows: Vec<f32>,
    /// 2C + 1.
    columns: usize,
}

impl Head {
    /// Of the network's own output `head`; `None` where its shape is no such layer.
    pub(in crate::perceive::voice) fn of(output: &ArrayViewD<'_, f32>) -> Option<Self> {
        let [rows, columns] = *output.shape() else { return None };
        let sound = rows > 0 && columns > 1 && columns % 2 == 1;
        sound.then(|| Self { rows: output.iter().copied().collect(), columns })
    }

    /// The channels of the frames that it takes statistics of.
    pub(in crate::perceive::voice) fn channels(&self) -> usize {
        self.columns / 2
    }

    /// The network's vector of some of the frames, not of unit length.
    fn apply(&self, frames: &[f32]) -> Vec<f32> {
        let channels = self.channels();
        let count = (frames.len() / channels) as f64;
        let mut mean = vec![0.0_f64; channels];
        for frame in frames.chunks_exact(channels) {
            mean.iter_mut().zip(frame).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        mean.iter_mut().for_each(|sum| *sum /= count);
        let mut spread = vec![0.0_f64; channels];
        for frame in frames.chunks_exact(channels) {
            for ((sum, value), mean) in spread.iter_mut().zip(frame).zip(&mean) {
                *sum += (f64::from(*value) - mean).powi(2);
            }
        }
        let deviation = spread.iter().map(|sum| (sum / (count - 1.0)).sqrt());
        let statistics: Vec<f32> =
            mean.iter().copied().chain(deviation).map(|value| value as f32).collect();
        let dot = |row: &[f32]| {
            let (bias, weights) = row.split_last().unwrap_or((&0.0, &[]));
            let sum: f64 =
                weights.iter().zip(&statistics).map(|(w, s)| f64::from(*w) * f64::from(*s)).sum();
            (sum + f64::from(*bias)) as f32
        };
        self.rows.chunks_exact(self.columns).map(dot).collect()
    }
}

/// Frames of a sound, in order.
#[derive(Clone, Debug, Default)]
pub(in crate::perceive::voice) struct Frames {
    /// `[F, C]`
    values: Vec<f32>,
}

impl Frames {
    /// Puts the network's output `[1, C, F]` for what follows behind what is there; `false` where it is of another shape.
    pub(in crate::perceive::voice) fn extend(
        &mut self,
        output: &ArrayViewD<'_, f32>,
        channels: usize,
    ) -> bool {
        let [1, found, count] = *output.shape() else { return false };
        if found != channels {
            return false;
        }
        self.values.reserve(count * channels);
        let first = output.index_axis(ndarray::Axis(0), 0);
        for frame in first.axis_iter(ndarray::Axis(1)) {
            self.values.extend(frame.iter());
        }
        true
    }

    /// The voice of `part`, `[start, end)` in samples: of the frames whose middles lie in it. `None` where they are too few.
    pub(in crate::perceive::voice) fn voice(
        &self,
        part: &Range<usize>,
        head: &Head,
    ) -> Option<Vec<f32>> {
        let channels = head.channels();
        let behind = |sample: usize| sample.saturating_sub(FIRST).div_ceil(SHIFT);
        let end = behind(part.end).min(self.values.len() / channels);
        let start = behind(part.start).min(end);
        if end - start < LEAST {
            return None;
        }
        Some(head.apply(self.values.get(start * channels..end * channels)?))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use ndarray::ArrayD;

    fn array(shape: &[usize], values: Vec<f32>) -> ArrayD<f32> {
        ArrayD::from_shape_vec(shape.to_vec(), values).unwrap()
    }

    /// Two channels; the vector is (mean of the first + 1, deviation of the second).
    fn head() -> Head {
        Head::of(&array(&[2, 5], vec![1., 0., 0., 0., 1., 0., 0., 0., 1., 0.]).view()).unwrap()
    }

    #[test]
    fn a_part_has_the_statistics_of_the_frames_whose_middles_lie_in_it() {
        // the first channel counts frames, the second alternates
        let count = 40;
        let first = (0..count).map(|n| n as f32);
        let second = (0..count).map(|n| (n % 2) as f32);
        let output = array(&[1, 2, count], first.chain(second).collect());
        let mut frames = Frames::default();
        assert!(frames.extend(&output.view(), 2));
        let middle = |frame: usize| FIRST + frame * SHIFT;
        let found = frames.voice(&(middle(10)..middle(30)), &head()).unwrap();
        assert!((found[0] - (19.5 + 1.0)).abs() < 1e-5, "{found:?}");
        let deviation = (20.0_f32 * 0.25 / 19.0).sqrt();
        assert!((found[1] - deviation).abs() < 1e-5, "{found:?}");
        // neither sample before a middle changes what is in it
        assert_eq!(frames.voice(&(middle(9) + 1..middle(29) + 1), &head()).unwrap(), found);
        assert!(frames.voice(&(middle(0)..middle(LEAST - 1)), &head()).is_none());
        let to_the_end = frames.voice(&(middle(20)..middle(900)), &head()).unwrap();
        assert!((to_the_end[0] - (29.5 + 1.0)).abs() < 1e-5, "{to_the_end:?}");
        assert!(frames.voice(&(middle(900)..middle(1000)), &head()).is_none());
    }

    #[test]
    fn other_shapes_are_no_frames_and_no_last_layer() {
        let mut frames = Frames::default();
        for shape in [vec![2, 2, 3], vec![1, 3, 4], vec![1, 12]] {
            let output = array(&shape, vec![0.0; 12]);
            assert!(!frames.extend(&output.view(), 2), "{shape:?}");
        }
        for shape in [vec![3, 4], vec![12, 1], vec![1, 4, 3]] {
            assert!(Head::of(&array(&shape, vec![0.0; 12]).view()).is_none(), "{shape:?}");
        }
    }
}
