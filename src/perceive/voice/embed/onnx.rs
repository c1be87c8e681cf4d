//! Any speaker network as an ONNX file that hears Kaldi's filter bank: CAM++, ERes2Net, ECAPA-TDNN, ResNet34, …
//!
//! Features `[1, T, 80]` of [`super::fbank`] in, a vector `[1, D]` out, one turn at a time at its exact length: how a
//! batch is filled up must not show in a voice. Where the file also gives `frames [1, C, F]` and its last layer `head
//! [D, 2C + 1]` (`models/export/campplus.py`), the voices of all parts of a sound come of one pass ([`super::frames`]).
//! 3D-Speaker and WeSpeaker publish such files, or scripts that write them
//! (`speakerlab/bin/export_speaker_embedding_onnx.py`, `wespeaker/bin/export_onnx.py`); what the two expect of the
//! features differs ([`Recipe`]).

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ndarray::{ArrayD, ArrayView3};

use super::eres2netv2::MAX_SAMPLES;
use super::fbank::{BANDS, Fbank, Features, Window};
use super::frames::{Frames, Head, SHIFT};
use crate::ids::ModelHash;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::Embedding;
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, RuntimeError, Session};

/// Fewest frames: three steps in time where a network (ResNet34) halves it three times.
const MIN_FRAMES: usize = 17;
/// The samples of so many frames.
const MIN_SAMPLES: usize = 400 + (MIN_FRAMES - 1) * 160;

/// What a network was trained to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recipe {
    /// 3D-Speaker's: samples in [-1, 1], Povey's window.
    ThreeDSpeaker,
    /// WeSpeaker's: samples of 16 bits, Hamming's window.
    WeSpeaker,
}

impl Recipe {
    /// By the `framework` that sherpa-onnx notes in its files, else by the input's name: WeSpeaker calls it `feats`,
    /// 3D-Speaker `feature` or `x`.
    fn of(framework: Option<&str>, input: &str) -> Self {
        match framework {
            Some("wespeaker") => Self::WeSpeaker,
            None if input == "feats" => Self::WeSpeaker,
            _ => Self::ThreeDSpeaker,
        }
    }

    fn window(self) -> Window {
        match self {
            Self::ThreeDSpeaker => Window::Povey,
            Self::WeSpeaker => Window::Hamming,
        }
    }

    /// Full scale.
    fn scale(self) -> f32 {
        match self {
            Self::ThreeDSpeaker => 1.0,
            Self::WeSpeaker => 32_768.0,
        }
    }
}

/// A [`SpeakerEmbedder`] in ONNX Runtime.
pub struct OnnxSpeaker {
    session: Session,
    input: String,
    output: String,
    recipe: Recipe,
    fbank: Fbank,
    hash: ModelHash,
    /// The network's last layer, where it gives its frames.
    head: Option<Arc<Head>>,
    /// What was heard last, the newest behind.
    heard: VecDeque<Pass>,
}

/// So much of what was heard last is kept, samples: twice what a clip holds, 0.1 MB a second.
const KEPT: usize = 60 * SAMPLE_RATE as usize;

/// One sound, heard by a network that gives its frames.
struct Pass {
    sound: Vec<f32>,
    frames: Frames,
    /// The voice of all of it; `None` where it was heard in pieces.
    whole: Option<Embedding>,
}

/// The names of the outputs with which parts are embedded after one pass.
const FRAMES: &str = "frames";
const HEAD: &str = "head";

impl OnnxSpeaker {
    /// Opens the model and runs it once, so that a file of another kind is refused at once. `hash` marks its embeddings.
    ///
    /// # Errors
    /// [`VoiceError::Runtime`] when the file is absent or cannot run, [`VoiceError::Network`] when it takes or gives
    /// something else.
    pub fn open(path: &Path, hash: ModelHash, device: Device) -> Result<Self, VoiceError> {
        // One thread: how a sum is split decides its last bits.
        let session = onnx::open(path, 1, device)?;
        let fail =
            |reason: String| VoiceError::Network { model: session.model().to_owned(), reason };
        let inputs = session.inputs();
        let [(input, shape)] = inputs.as_slice() else {
            return Err(fail(format!("it has {} inputs", inputs.len())));
        };
        let fits = |length: i64, wanted: usize| length < 0 || length == wanted as i64;
        match *shape.as_slice() {
            [batch, frames, bands] if fits(batch, 1) && fits(bands, BANDS) && frames < 0 => {}
            _ => return Err(fail(format!("its input {input:?} is {shape:?} (-1: free)"))),
        }
        let rate = SAMPLE_RATE.to_string();
        if let Some(other) = session.metadata("sample_rate").filter(|noted| noted.trim() != rate) {
            return Err(fail(format!("it wants sound of {other} Hz")));
        }
        let outputs = session.outputs();
        let vector = outputs.iter().find(|(_, shape)| shape.len() == 2);
        let Some((output, _)) = vector.or(outputs.first()) else {
            return Err(fail("it has no output".to_owned()));
        };
        let framework = session.metadata("framework");
        let recipe = Recipe::of(framework.as_deref(), input);
        let (input, output) = (input.clone(), output.clone());
        let fbank = Fbank::with_window(recipe.window());
        let gives = |name: &str| outputs.iter().any(|(output, _)| output == name);
        let at_once = gives(FRAMES) && gives(HEAD);
        let mut embedder = Self {
            session,
            input,
            output,
            recipe,
            fbank,
            hash,
            head: None,
            heard: VecDeque::new(),
        };
        let silence = Features { frames: MIN_FRAMES, values: vec![0.0; MIN_FRAMES * BANDS] };
        let width = embedder.forward(&silence)?.len();
        if at_once {
            let [head] = embedder.run(&silence, [HEAD])?;
            embedder.head = Head::of(&head.view()).map(Arc::new);
        }
        let at_once = embedder.head.is_some();
        tracing::debug!(model = embedder.name(), ?recipe, width, at_once, "speaker network opened");
        Ok(embedder)
    }

    fn run<const N: usize>(
        &mut self,
        features: &Features,
        outputs: [&str; N],
    ) -> Result<[ArrayD<f32>; N], VoiceError> {
        let shape = (1, features.frames, BANDS);
        let view = ArrayView3::from_shape(shape, &features.values)
            .map_err(|error| self.unfit(error.to_string()))?;
        Ok(self.session.run(&[(self.input.as_str(), view.into())], outputs)?)
    }

    /// The network's own vector `[D]`, not of unit length.
    fn forward(&mut self, features: &Features) -> Result<Vec<f32>, VoiceError> {
        let output = self.output.clone();
        let [found] = self.run(features, [output.as_str()])?;
        self.vector(&found)
    }

    fn vector(&self, found: &ArrayD<f32>) -> Result<Vec<f32>, VoiceError> {
        if !matches!(found.shape(), [1, width] if *width > 0) {
            let (output, shape) = (&self.output, found.shape());
            return Err(self.unfit(format!("its output {output:?} is {shape:?}")));
        }
        Ok(found.iter().copied().collect())
    }

    fn unfit(&self, reason: String) -> VoiceError {
        VoiceError::Network { model: self.session.model().to_owned(), reason }
    }

    /// The features of a sound as the network was trained to hear it.
    fn features(&self, sound: &[f32]) -> Features {
        let scale = self.recipe.scale();
        let scaled: Vec<f32> = sound.iter().map(|sample| sample * scale).collect();
        self.fbank.compute(&scaled, true)
    }

    /// The unit vector of the network's own.
    fn embedding(&self, vector: Vec<f32>, samples: usize) -> Result<Embedding, VoiceError> {
        if !vector.iter().all(|value| value.is_finite()) {
            let (model, output) = (self.session.model().to_owned(), self.output.clone());
            let reason = format!("must be finite numbers, after {samples} samples");
            return Err(RuntimeError::Output { model, output, reason }.into());
        }
        Ok(Embedding::normalised(vector, self.hash))
    }

    fn long_enough(&self, samples: usize) -> Result<(), VoiceError> {
        if samples >= MIN_SAMPLES {
            return Ok(());
        }
        let (secs, needed) = (samples as f64 / f64::from(SAMPLE_RATE), self.min_secs());
        Err(VoiceError::TooShort { model: "an ONNX speaker network", secs, needed })
    }

    /// Hears a sound once, in equal pieces where it is longer than [`MAX_SAMPLES`].
    fn hear(&mut self, sound: &[f32], channels: usize) -> Result<Pass, VoiceError> {
        let count = sound.len().div_ceil(MAX_SAMPLES).max(1);
        let piece = sound.len().div_ceil(count).next_multiple_of(SHIFT);
        let output = self.output.clone();
        let (mut frames, mut whole) = (Frames::default(), None);
        for start in (0..sound.len()).step_by(piece.max(1)) {
            // The last filter bank frame of a piece looks beyond it.
            let heard = &sound[start..(start + piece + 240).min(sound.len())];
            if heard.len() < MIN_SAMPLES {
                break;
            }
            let features = self.features(heard);
            let [vector, columns] = self.run(&features, [output.as_str(), FRAMES])?;
            if !frames.extend(&columns.view(), channels) {
                let shape = columns.shape();
                return Err(self.unfit(format!("its output {FRAMES:?} is {shape:?}")));
            }
            if count == 1 {
                whole = Some(self.embedding(self.vector(&vector)?, sound.len())?);
            }
        }
        Ok(Pass { sound: sound.to_vec(), frames, whole })
    }
}

impl SpeakerEmbedder for OnnxSpeaker {
    fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
        self.long_enough(sound.len())?;
        let heard = self.heard.iter().find(|pass| pass.sound == sound);
        if let Some(whole) = heard.and_then(|pass| pass.whole.as_ref()) {
            return Ok(whole.clone());
        }
        let extra = sound.len().saturating_sub(MAX_SAMPLES) / 2;
        let middle = &sound[extra..sound.len() - extra];
        let vector = self.forward(&self.features(middle))?;
        self.embedding(vector, sound.len())
    }

    fn embed_windows(
        &mut self,
        sound: &[f32],
        window: usize,
        step: usize,
    ) -> Result<Vec<Embedding>, VoiceError> {
        let (window, step) = (window.max(1), step.max(1));
        let last = sound.len().checked_sub(window);
        let starts = last.into_iter().flat_map(|last| (0..=last).step_by(step));
        let parts: Vec<Range<usize>> = starts.map(|start| start..start + window).collect();
        self.embed_parts(sound, &parts)
    }

    fn embed_parts(
        &mut self,
        sound: &[f32],
        parts: &[Range<usize>],
    ) -> Result<Vec<Embedding>, VoiceError> {
        let alone = |part: &Range<usize>| sound.get(part.clone()).unwrap_or_default();
        let Some(head) = self.head.clone() else {
            return parts.iter().map(|part| self.embed(alone(part))).collect();
        };
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        self.long_enough(sound.len())?;
        let known = self.heard.iter().position(|pass| pass.sound == sound);
        let pass = match known.and_then(|at| self.heard.remove(at)) {
            Some(pass) => pass,
            None => self.hear(sound, head.channels())?,
        };
        let vectors: Result<Vec<Embedding>, VoiceError> = parts
            .iter()
            .map(|part| match pass.frames.voice(part, &head) {
                Some(vector) => self.embedding(vector, part.len()),
                None => self.embed(alone(part)),
            })
            .collect();
        self.heard.push_back(pass);
        let kept =
            |heard: &VecDeque<Pass>| heard.iter().map(|pass| pass.sound.len()).sum::<usize>();
        while self.heard.len() > 1 && kept(&self.heard) > KEPT {
            self.heard.pop_front();
        }
        vectors
    }

    fn hears_parts_at_once(&self) -> bool {
        self.head.is_some()
    }

    fn min_secs(&self) -> f64 {
        MIN_SAMPLES as f64 / f64::from(SAMPLE_RATE)
    }

    fn hash(&self) -> ModelHash {
        self.hash
    }

    fn name(&self) -> &str {
        self.session.model()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::perceive::voice::Normalised;
    use crate::perceive::voice::bench::model;
    use crate::perceive::voice::embed::eres2netv2::layout::uniform;
    use crate::runtime::tiny::mean_squares;

    const HASH: ModelHash = ModelHash([7; 32]);
    /// Width of the networks' vectors.
    const WIDTH: usize = 6;
    const FREE: [Option<usize>; 3] = [None, None, Some(BANDS)];

    fn open(net: &[u8]) -> Result<OnnxSpeaker, VoiceError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("campplus.onnx");
        std::fs::write(&path, net).unwrap();
        OnnxSpeaker::open(&path, HASH, Device::Cpu)
    }

    fn said(net: &[u8]) -> String {
        open(net).map(drop).unwrap_err().to_string()
    }

    fn weights(bands: usize) -> Vec<f32> {
        (0..bands * WIDTH).map(|n| uniform(3, n as u64) as f32).collect()
    }

    /// A second of two tones in noise; its second half is 50 dB quieter.
    fn speech() -> Vec<f32> {
        let sample = |n: usize| {
            let t = n as f64 / f64::from(SAMPLE_RATE) * std::f64::consts::TAU;
            let sound = 0.6 * (220.0 * t).sin() + 0.3 * (1350.0 * t).sin();
            let gain = if n < 8_000 { 1.0 } else { 0.003 };
            (gain * (sound + 0.05 * uniform(11, n as u64))) as f32
        };
        (0..16_000).map(sample).collect()
    }

    /// What [`mean_squares`] computes, of the features of `sound`.
    fn expected(fbank: &Fbank, sound: &[f32]) -> Embedding {
        let features = fbank.compute(sound, true);
        let mut vector = [0.0_f64; WIDTH];
        for (band, row) in weights(BANDS).chunks_exact(WIDTH).enumerate() {
            let frames = features.values.chunks_exact(BANDS);
            let squares: f64 = frames.map(|frame| f64::from(frame[band]).powi(2)).sum();
            for (value, weight) in vector.iter_mut().zip(row) {
                *value += squares / features.frames as f64 * f64::from(*weight);
            }
        }
        Embedding::normalised(vector.iter().map(|value| *value as f32).collect(), HASH)
    }

    fn distance(a: &Embedding, b: &Embedding) -> f32 {
        assert_eq!(a.values.len(), b.values.len());
        a.values.iter().zip(&b.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn a_vector_is_the_networks_of_the_features_that_it_was_trained_on() {
        let speech = speech();
        let (povey, hamming) = (Fbank::new(), Fbank::with_window(Window::Hamming));
        let loud: Vec<f32> = speech.iter().map(|sample| sample * 32_768.0).collect();
        for (input, wanted) in [
            ("feature", expected(&povey, &speech)),
            ("x", expected(&povey, &speech)),
            ("feats", expected(&hamming, &loud)),
        ] {
            let mut embedder = open(&mean_squares(input, &FREE, &weights(BANDS), false)).unwrap();
            let vector = embedder.embed(&speech).unwrap();
            assert!(distance(&vector, &wanted) < 1e-5, "{input}: {vector:?}, not {wanted:?}");
            assert_eq!(vector.model, HASH);
            assert_eq!(vector, embedder.embed(&speech).unwrap());
            assert_eq!(embedder.name(), "campplus.onnx");
        }
        let apart = distance(&expected(&povey, &speech), &expected(&hamming, &loud));
        assert!(apart > 1e-3, "the recipes can be told apart: {apart}");
    }

    #[derive(serde::Deserialize)]
    struct Golden {
        samples: usize,
        /// Frames of 20 ms.
        part: [usize; 2],
        whole: Vec<f32>,
        part_vector: Vec<f32>,
    }

    /// What `tests/golden/campplus.py` computes in 64 bits.
    #[test]
    fn campplus_says_what_its_reference_says_to_the_whole_and_to_a_part() {
        let Some(path) = model("campplus.onnx") else { return };
        let golden = include_str!("../../../../tests/golden/campplus.json");
        let golden: Golden = serde_json::from_str(golden).unwrap();
        let sound = crate::perceive::active_speaker::golden::sound(60);
        assert_eq!(sound.len(), golden.samples);
        let mut campplus = OnnxSpeaker::open(&path, HASH, Device::Cpu).unwrap();
        assert!(campplus.hears_parts_at_once());
        let before = campplus.embed(&sound).unwrap();
        let [start, end] = golden.part.map(|frame| frame * SHIFT);
        let frames = start..end;
        let part = campplus.embed_parts(&sound, from_ref(&frames)).unwrap().remove(0);
        for (found, wanted) in [(&before, golden.whole), (&part, golden.part_vector)] {
            let apart = distance(found, &Embedding::normalised(wanted, HASH));
            assert!(apart < 2e-4, "{apart}");
        }
        // whether its parts were asked for before does not show in the whole
        assert_eq!(campplus.embed(&sound).unwrap(), before);
        let windows = campplus.embed_windows(&sound, 19_200, 3_200).unwrap();
        assert_eq!(windows.len(), (sound.len() - 19_200) / 3_200 + 1);
        let short = campplus.embed_parts(&sound[..1_000], from_ref(&(0..1_000)));
        assert!(matches!(short, Err(VoiceError::TooShort { .. })));
    }

    #[test]
    fn what_is_too_long_to_be_heard_at_once_is_heard_in_pieces() {
        let Some(path) = model("campplus.onnx") else { return };
        let mut campplus = OnnxSpeaker::open(&path, HASH, Device::Cpu).unwrap();
        let speech: Vec<f32> =
            speech().iter().copied().cycle().take(MAX_SAMPLES + 16_000).collect();
        let count = (speech.len() - 19_200) / 16_000 + 1;
        let vectors = campplus.embed_windows(&speech, 19_200, 16_000).unwrap();
        assert_eq!(vectors.len(), count);
        // the sound repeats, so every window is the same voice
        for vector in &vectors[1..] {
            assert!(vector.cosine(&vectors[0]).unwrap() > 0.8);
        }
    }

    #[test]
    fn turns_of_any_length_are_heard_and_too_short_ones_refused() {
        let mut embedder = open(&mean_squares("feats", &FREE, &weights(BANDS), false)).unwrap();
        let speech = speech();
        for samples in [MIN_SAMPLES, MIN_SAMPLES + 1, 12_345] {
            assert_eq!(embedder.embed(&speech[..samples]).unwrap().values.len(), WIDTH);
        }
        let short = embedder.embed(&speech[..MIN_SAMPLES - 1]);
        assert!(matches!(short, Err(VoiceError::TooShort { .. })), "{short:?}");
        let silent = embedder.embed(&[0.0; 16_000]).unwrap();
        assert!(silent.values.iter().all(|value| value.is_finite()));
        // Of a long turn the middle is heard.
        let long: Vec<f32> = speech.iter().copied().cycle().take(MAX_SAMPLES + 3_200).collect();
        let middle = &long[1_600..1_600 + MAX_SAMPLES];
        assert_eq!(embedder.embed(&long).unwrap(), embedder.embed(middle).unwrap());
    }

    #[test]
    fn a_network_of_another_shape_is_refused_with_what_was_expected() {
        let picture = said(&mean_squares(
            "feats",
            &[None, Some(1), None, Some(BANDS)],
            &weights(BANDS),
            false,
        ));
        assert!(picture.contains("\"feats\" is [-1, 1, -1, 80]"), "{picture}");
        assert!(picture.contains("campplus.onnx") && picture.contains("[N,T,80]"), "{picture}");
        let bands = said(&mean_squares("x", &[None, None, Some(40)], &weights(40), false));
        assert!(bands.contains("\"x\" is [-1, -1, 40]"), "{bands}");
        let fixed =
            said(&mean_squares("x", &[None, Some(200), Some(BANDS)], &weights(BANDS), false));
        assert!(fixed.contains("[-1, 200, 80]") && fixed.contains("T free"), "{fixed}");
        let rank = said(&mean_squares("x", &FREE, &weights(BANDS), true));
        assert!(rank.contains("\"embs\" is [1, 1, 6]") && rank.contains("[N,D]"), "{rank}");
        assert!(matches!(
            open(b"no protobuf"),
            Err(VoiceError::Runtime(RuntimeError::Open { .. }))
        ));
    }

    #[test]
    fn recipes_are_told_by_the_framework_and_else_by_the_inputs_name() {
        assert_eq!(Recipe::of(Some("wespeaker"), "x"), Recipe::WeSpeaker);
        assert_eq!(Recipe::of(Some("3d-speaker"), "feats"), Recipe::ThreeDSpeaker);
        assert_eq!(Recipe::of(None, "feats"), Recipe::WeSpeaker);
        assert_eq!(Recipe::of(None, "feature"), Recipe::ThreeDSpeaker);
    }

    #[test]
    fn normalised_speech_from_far_is_the_same_voice() {
        let net = mean_squares("feature", &FREE, &weights(BANDS), false);
        let near = speech();
        let far: Vec<f32> = near.iter().map(|sample| sample * 0.01).collect();
        let mut plain = open(&net).unwrap();
        let apart = distance(&plain.embed(&near).unwrap(), &plain.embed(&far).unwrap());
        assert!(apart > 1e-2, "the floor is felt: {apart}");
        let mut levelled = Normalised::new(Box::new(plain));
        let near_vector = levelled.embed(&near).unwrap();
        let far_vector = levelled.embed(&far).unwrap();
        assert!(distance(&near_vector, &far_vector) < 1e-4);
        assert_eq!(levelled.embed_equal(&[&near, &far]).unwrap(), [near_vector, far_vector]);
        assert_eq!(levelled.embed_windows(&far, 8_000, 8_000).unwrap().len(), 2);
        assert_eq!((levelled.hash(), levelled.name()), (HASH, "campplus.onnx"));
    }
}
