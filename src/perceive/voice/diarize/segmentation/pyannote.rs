//! Any network with pyannote's ends: sound `[1,1,T]` in, `[1,F,C]` out.
//!
//! C = 3: one probability per speaker (pyannote/segmentation). C = 7: the powerset of Plaquet and Bredin 2023 (arXiv
//! 2310.13025; segmentation-3.0): nobody, a, b, c, ab, ac, bc, as probabilities or their logarithms; the likeliest class
//! counts, as published.

use std::path::Path;

use ndarray::{ArrayViewD, Axis};

use super::{Activity, SPEAKERS, SpeakerSegmentation};
use crate::perceive::voice::VoiceError;
use crate::perceive::voice::segment::turns::STEP;
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, RuntimeError, Session, Tensor};

/// Samples that one frame sees before the LSTM, and from one frame to the next: SincNet with convolutions of 251 (step
/// 10), 5 and 5 samples, each followed by a pool of 3. Of every published pyannote segmentation.
const FIELD: usize = 991;
const HOP: usize = 270;

/// Who speaks in each class of the powerset.
const POWERSET: [[bool; SPEAKERS]; 7] = [
    [false, false, false],
    [true, false, false],
    [false, true, false],
    [false, false, true],
    [true, true, false],
    [true, false, true],
    [false, true, true],
];

/// pyannote's speaker segmentation, or a network with the same ends.
pub struct Pyannote {
    session: Session,
    input: String,
    output: String,
}

impl Pyannote {
    /// Opens the model.
    ///
    /// # Errors
    /// When the file is absent or no such model.
    pub fn open(path: &Path, device: Device) -> Result<Self, VoiceError> {
        // One thread: how a sum is split decides its last bits.
        let session = onnx::open(path, 1, device)?;
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let fail = |reason: String| RuntimeError::Open { path: path.to_owned(), reason };
        let ([(input, into)], [(output, out)]) = (inputs.as_slice(), outputs.as_slice()) else {
            let (n, m) = (inputs.len(), outputs.len());
            let what =
                format!("a speaker segmentation has one input and one output, this {n} and {m}");
            return Err(fail(what).into());
        };
        let classes = out.last().copied().unwrap_or(-1);
        if into.len() != 3 || out.len() != 3 || ![-1, 3, 7].contains(&classes) {
            let what = format!(
                "a speaker segmentation has [N,1,T] in and [N,F,3] or [N,F,7] out; this one {into:?} and {out:?}"
            );
            return Err(fail(what).into());
        }
        let (input, output) = (input.clone(), output.clone());
        Ok(Self { session, input, output })
    }
}

impl SpeakerSegmentation for Pyannote {
    fn activity(&mut self, sound: &[f32]) -> Result<Activity, VoiceError> {
        let steps = sound.len() / STEP;
        // Two frames are the least that the normalisation over time can work on.
        let mut heard = sound.to_vec();
        heard.resize(heard.len().max(FIELD + HOP), 0.0);
        let view = ArrayViewD::from_shape(vec![1, 1, heard.len()], &heard)
            .map_err(|error| VoiceError::State { reason: error.to_string() })?;
        let [found] = self
            .session
            .run(&[(self.input.as_str(), Tensor::F32(view))], [self.output.as_str()])?;
        let frames = decode(&found.view()).map_err(|reason| RuntimeError::Output {
            model: self.session.model().to_owned(),
            output: self.output.clone(),
            reason,
        })?;
        Ok((0..steps).map(|step| frames[frame_of(step, frames.len(), heard.len())]).collect())
    }
}

/// Frames of speakers out of the network's output `[1,F,C]`; at least one.
fn decode(output: &ArrayViewD<'_, f32>) -> Result<Vec<[f32; SPEAKERS]>, String> {
    let shape = output.shape();
    let (frames, classes) = match *shape {
        [1, frames, classes] if frames > 0 => (frames, classes),
        _ => return Err(format!("shape {shape:?} instead of [1,F,3] or [1,F,7]")),
    };
    let rows = output.index_axis(Axis(0), 0);
    let row = |n: usize| rows.index_axis(Axis(0), n).iter().copied().collect::<Vec<f32>>();
    match classes {
        SPEAKERS => Ok((0..frames).map(|n| independent(&row(n))).collect()),
        7 => Ok((0..frames).map(|n| powerset(&row(n))).collect()),
        other => Err(format!("{other} classes; 3 speakers or the 7 sets of them are understood")),
    }
}

/// One probability per speaker; what is no number is silence.
fn independent(row: &[f32]) -> [f32; SPEAKERS] {
    std::array::from_fn(|speaker| {
        row.get(speaker).copied().filter(|p| p.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0)
    })
}

/// The likeliest set of speakers as zeros and ones; the first of equals, so that it is nobody in doubt.
fn powerset(row: &[f32]) -> [f32; SPEAKERS] {
    let mut best = (0, f32::NEG_INFINITY);
    for (class, value) in row.iter().enumerate().take(POWERSET.len()) {
        if *value > best.1 {
            best = (class, *value);
        }
    }
    POWERSET[best.0].map(|speaks| if speaks { 1.0 } else { 0.0 })
}

/// The frame that tells of a step of 10 ms.
///
/// With pyannote's own geometry frame i looks at the samples `[270 i, 270 i + 991)`, and the frame whose middle is nearest
/// is taken; with any other number of frames each stands for an equal part of the sound.
fn frame_of(step: usize, frames: usize, samples: usize) -> usize {
    let middle = step * STEP + STEP / 2;
    let own = samples.checked_sub(FIELD).map(|rest| rest / HOP + 1);
    let frame = if own == Some(frames) {
        (middle + HOP / 2).saturating_sub(FIELD / 2) / HOP
    } else {
        middle * frames / samples.max(1)
    };
    frame.min(frames - 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::perceive::voice::bench;
    use crate::perceive::voice::diarize::segmentation::{StreamSettings, streams};
    use ndarray::ArrayD;
    use proptest::prelude::*;

    fn output(rows: &[&[f32]]) -> ArrayD<f32> {
        let values: Vec<f32> = rows.iter().flat_map(|row| row.iter().copied()).collect();
        ArrayD::from_shape_vec(vec![1, rows.len(), rows[0].len()], values).unwrap()
    }

    #[test]
    fn probabilities_are_taken_as_they_are() {
        let found = decode(&output(&[&[0.1, 0.9, 0.4], &[f32::NAN, 1.5, -0.2]]).view()).unwrap();
        assert_eq!(found, [[0.1, 0.9, 0.4], [0.0, 1.0, 0.0]]);
    }

    #[test]
    fn the_likeliest_set_of_speakers_counts() {
        // nobody, a, b, c, ab, ac, bc
        let logs = [
            [-0.1, -3.0, -4.0, -5.0, -6.0, -6.0, -7.0],
            [-3.0, -0.2, -4.0, -5.0, -6.0, -6.0, -7.0],
            [-3.0, -2.2, -2.0, -5.0, -0.4, -6.0, -7.0],
            [-3.0, -2.2, -2.0, -5.0, -4.0, -0.6, -7.0],
            [-3.0, -2.2, -2.0, -5.0, -4.0, -6.0, -0.7],
            [-3.0, -2.2, -2.0, -0.5, -4.0, -6.0, -7.0],
        ];
        let rows: Vec<&[f32]> = logs.iter().map(<[f32; 7]>::as_slice).collect();
        let wanted = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [1.0, 0.0, 1.0],
            [0.0, 1.0, 1.0],
            [0.0, 0.0, 1.0],
        ];
        assert_eq!(decode(&output(&rows).view()).unwrap(), wanted);
        let chances: Vec<Vec<f32>> =
            logs.iter().map(|row| row.iter().map(|v: &f32| v.exp()).collect()).collect();
        let rows: Vec<&[f32]> = chances.iter().map(Vec::as_slice).collect();
        assert_eq!(decode(&output(&rows).view()).unwrap(), wanted, "probabilities, too");
        assert_eq!(powerset(&[f32::NAN; 7]), [0.0; SPEAKERS]);
    }

    #[test]
    fn an_output_that_is_no_segmentation_is_refused() {
        let other = ArrayD::<f32>::zeros(vec![1, 10, 4]);
        assert!(decode(&other.view()).unwrap_err().contains("4 classes"));
        assert!(decode(&ArrayD::<f32>::zeros(vec![1, 0, 3]).view()).is_err());
        assert!(decode(&ArrayD::<f32>::zeros(vec![2, 10, 3]).view()).is_err());
        assert!(decode(&ArrayD::<f32>::zeros(vec![10]).view()).is_err());
    }

    /// The real network on two people who read at once for 2 s.
    #[test]
    fn two_readers_at_once_are_heard_as_two() {
        let (Some(file), Some(root)) = (
            bench::model("pyannote_segmentation.onnx"),
            bench::shared("recordings/audio/librispeech"),
        ) else {
            return;
        };
        let mut network = Pyannote::open(&file, Device::Cpu).unwrap();
        let reader = |name: &str| {
            let sound = bench::sound(&root.join(name));
            let loud = (sound.iter().map(|v| v * v).sum::<f32>() / sound.len() as f32).sqrt();
            sound.into_iter().map(|v| v * 0.05 / loud).collect::<Vec<f32>>()
        };
        let (a, b) = (reader("1998/1998-15444-0000.flac"), reader("2414/2414-128291-0002.flac"));
        let (a, b) = (&a[8000..72_000], &b[8000..72_000]);
        let start = a.len() - 32_000;
        let mut sound = a.to_vec();
        sound.resize(start + b.len(), 0.0);
        for (sum, sample) in sound.iter_mut().skip(start).zip(b) {
            *sum += sample;
        }
        let found = streams(&sound, &mut network, &StreamSettings::default()).unwrap();
        let both = |from: f64, to: f64| {
            let steps = (from * 100.0) as usize..(to * 100.0) as usize;
            steps.clone().filter(|step| found.voices_at(*step) > 1).count() as f64 * 0.01
        };
        assert!(both(2.0, 4.0) > 1.0, "{}", both(2.0, 4.0));
        assert!(both(0.0, 1.9) + both(4.1, 6.0) < 0.3);
        assert_eq!(found.count(), 2);
        assert_eq!(found, streams(&sound, &mut network, &StreamSettings::default()).unwrap());
        // less than a frame, and silence
        assert_eq!(network.activity(&[0.0; 100]).unwrap().len(), 0);
        assert_eq!(network.activity(&[0.0; 800]).unwrap().len(), 5);
    }

    proptest! {
        #[test]
        fn every_step_has_a_frame_in_order(samples in 1261_usize..200_000, other in 1_usize..900) {
            for frames in [(samples - FIELD) / HOP + 1, other] {
                let of: Vec<usize> =
                    (0..samples / STEP).map(|step| frame_of(step, frames, samples)).collect();
                prop_assert!(of.iter().all(|frame| *frame < frames));
                prop_assert!(of.windows(2).all(|pair| pair[0] <= pair[1]));
            }
            // the frame that is taken sees the step
            let frames = (samples - FIELD) / HOP + 1;
            for step in 0..samples / STEP {
                let (from, frame) = (step * STEP, frame_of(step, frames, samples));
                let inner = frame > 0 && frame + 1 < frames;
                prop_assert!(!inner || (frame * HOP <= from && from + STEP <= frame * HOP + FIELD));
            }
        }
    }
}
