//! Same or other: how well the embedders tell people apart: `bench verify`.
//!
//! A folder of folders, one per identity. Every pair of samples is compared once. A sample in which no
//! face or too little sound is found takes part in no pair and is counted.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::channels::Channel;
use super::error::entries;
use super::random::SplitMix64;
use super::strangers::Strangers;
use super::{BenchError, sound};
use crate::capture::CaptureError;
use crate::capture::imaging::picture::{PHOTO_SIDE_PX, photograph};
use crate::config::Config;
use crate::config::sections::FacePerception;
use crate::daemon::assemble::catalogue;
use crate::daemon::enrol::{LEAST_SPEECH_SECS, turns_of};
use crate::daemon::ingest::PerceiverSet;
use crate::ids::{ModelHash, SourceId};
use crate::media::SAMPLE_RATE;
use crate::models::ModelFile;
use crate::perceive::voice::{SpeakerEmbedder, TurnSegmenter};
use crate::percept::Embedding;
use crate::time::Timestamp;

/// Draws of identities for the confidence interval.
const ROUNDS: usize = 1000;
/// Pairs that all draws together look at, at most.
const MOST_WORK: usize = 4_000_000_000;
const SEED: u64 = 20_260_302;

/// `bench verify`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verification {
    /// Equal error rate: false accepts and false rejects are as frequent.
    pub eer: f64,
    /// 95 % confidence interval of it, by drawing identities with replacement; null with fewer than three.
    pub eer_ci95: Option<[f64; 2]>,
    /// Cosine at which it is reached.
    pub threshold: f32,
    /// Pairs compared.
    pub pairs: usize,
    /// True accepts when at most one in a thousand other pairs is accepted.
    pub tar_at_far_1e3: f64,
    /// Pairs of one identity.
    pub same_pairs: usize,
    /// Folders.
    pub identities: usize,
    /// Samples compared.
    pub samples: usize,
    /// Samples without a usable face or sound.
    pub skipped: usize,
    /// Name of the embedder.
    pub model: String,
    /// Cosines of pairs of one identity, at [`SHARES`] of them from below.
    pub same: [f32; SHARES.len()],
    /// The same of pairs of two identities.
    pub other: [f32; SHARES.len()],
    /// Samples against galleries of others; null where it was not asked.
    pub strangers: Option<Strangers>,
}

/// The quantiles in which [`Verification`] tells how cosines are spread.
pub const SHARES: [f64; 9] = [0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0];

/// Every pair of samples of a folder, with the figures that come of them.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The figures.
    pub verification: Verification,
    /// Cosine of each pair, falling, and whether both are one identity's.
    pub scores: Vec<(f32, bool)>,
    /// Which weights.
    pub hash: ModelHash,
    /// See [`Thresholds::min_norm`](crate::models::Thresholds::min_norm); as it was.
    pub min_norm: Option<f32>,
}

/// Voices over other channels: `bench verify voices --channels`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AcrossChannels {
    /// Clean against clean.
    #[serde(flatten)]
    pub clean: Verification,
    /// The channels were drawn from it.
    pub seed: u64,
    /// Clean against each other channel, as somebody is enrolled once and heard elsewhere.
    pub channels: Vec<OverChannel>,
}

/// One clean utterance against another over a channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OverChannel {
    /// The channel.
    pub id: &'static str,
    /// Equal error rate, clean against this.
    pub eer: f64,
    /// 95 % confidence interval of it, as [`Verification::eer_ci95`].
    pub eer_ci95: Option<[f64; 2]>,
    /// Cosine at which it is reached.
    pub threshold: f32,
    /// Pairs compared.
    pub pairs: usize,
    /// Median cosine of one voice.
    pub same_median: f32,
    /// All but one in a thousand pairs of two voices are below it.
    pub other_most: f32,
    /// Equal error rate with both over the channel.
    pub eer_within: f64,
}

/// One sample of one identity.
struct Sample {
    identity: usize,
    embedding: Embedding,
}

/// Two samples compared.
#[derive(Clone, Copy, Debug)]
struct Pair {
    cosine: f32,
    a: u32,
    b: u32,
}

/// Verifies faces: the largest face of each picture, whatever its quality.
///
/// # Errors
/// When the folder cannot be read, is too small, or the set has no face models.
pub fn faces(config: &Config, dir: &Path) -> Result<Compared, BenchError> {
    let set = PerceiverSet::choose(config, &catalogue(config)?)?;
    let settings = FacePerception { min_quality: 0.0, ..config.face.clone() };
    let no_model = || BenchError::NoModel { job: "faces", reasons: set.degraded.join("; ") };
    let file = set.face_embedder.as_ref().ok_or_else(no_model)?;
    let mut analyser = set.face_analyser(&settings)?.ok_or_else(no_model)?;
    let source = SourceId::new("photo");
    compare(dir, file, config.identity.gallery_size, |path| {
        let bytes = std::fs::read(path)
            .map_err(|error| BenchError::Io { path: path.to_owned(), source: error })?;
        let picture = photograph(&bytes, PHOTO_SIDE_PX)
            .map_err(|reason| CaptureError::Picture { camera: source.to_string(), reason })?;
        let found = analyser.analyse(&source, Timestamp::EPOCH, &picture)?;
        let largest =
            found.faces.into_iter().max_by(|a, b| a.bbox.area().total_cmp(&b.bbox.area()));
        Ok(largest.and_then(|face| face.embedding))
    })
}

/// Verifies voices: each whole utterance, or its middle `secs` seconds. As in enrolment nobody's voice is learned from
/// less than 1.2 s of speech (of a middle of less than 2.4 s: half of it), so such a sound is no sample.
///
/// # Errors
/// When the folder cannot be read, is too small, or the set has no speaker embedder or no voice activity.
pub fn voices(config: &Config, dir: &Path, secs: Option<f64>) -> Result<Compared, BenchError> {
    let mut listener = Listener::open(config, secs)?;
    let file = listener.file.clone();
    compare(dir, &file, config.identity.gallery_size, |path| {
        let Some(sound) = listener.hear(path)? else { return Ok(None) };
        Ok(Some(listener.embedder.embed(&sound)?))
    })
}

fn middle(sound: &[f32], secs: Option<f64>) -> &[f32] {
    let Some(secs) = secs else { return sound };
    let length = ((secs.max(0.0) * f64::from(SAMPLE_RATE)) as usize).min(sound.len());
    let from = (sound.len() - length) / 2;
    &sound[from..from + length]
}

/// Verifies voices as [`voices`] does, and each clean utterance against all others as [`Channel`]s deliver them, drawn from
/// `seed`.
///
/// # Errors
/// As [`voices`].
pub fn voices_across_channels(
    config: &Config,
    dir: &Path,
    secs: Option<f64>,
    seed: u64,
) -> Result<AcrossChannels, BenchError> {
    let mut listener = Listener::open(config, secs)?;
    let mut number = 0;
    let heard = gather(dir, |path| {
        let Some(clean) = listener.hear(path)? else { return Ok(None) };
        number += 1;
        Channel::ALL
            .iter()
            .map(|channel| {
                let sound = channel.apply(&clean, seed ^ (number << 20));
                Ok(listener.embedder.embed(&sound)?)
            })
            .collect::<Result<Vec<Embedding>, BenchError>>()
            .map(Some)
    })?;
    let over = |n: usize| -> Vec<Sample> {
        let of = |(identity, vectors): &(usize, Vec<Embedding>)| {
            let embedding = vectors.get(n)?.clone();
            Some(Sample { identity: *identity, embedding })
        };
        heard.samples.iter().filter_map(of).collect()
    };
    let clean = over(0);
    let verification = heard.verified(dir, &mut all_pairs(&clean), &listener.file)?;
    let mut channels = Vec::new();
    for (n, channel) in Channel::ALL.iter().enumerate().skip(1) {
        let samples = over(n);
        let mut pairs = Vec::new();
        for (i, x) in clean.iter().enumerate() {
            let others = samples.iter().enumerate().filter(|(j, _)| *j != i);
            pairs.extend(others.filter_map(|(_, y)| Pair::of(x, y)));
        }
        let against = heard.rated(dir, &mut pairs)?;
        let within = heard.rated(dir, &mut all_pairs(&samples))?;
        let side = |same: bool| -> Vec<f32> {
            pairs.iter().filter(|p| (p.a == p.b) == same).map(|pair| pair.cosine).collect()
        };
        // falling order
        let at = |of: &[f32], share: f64| {
            of.get((share * of.len() as f64) as usize).copied().unwrap_or_default()
        };
        channels.push(OverChannel {
            id: channel.as_str(),
            eer: against.0.eer,
            eer_ci95: against.1,
            threshold: against.0.threshold,
            pairs: pairs.len(),
            same_median: at(&side(true), 0.5),
            other_most: at(&side(false), 0.001),
            eer_within: within.0.eer,
        });
    }
    Ok(AcrossChannels { clean: verification, seed, channels })
}

/// Hears files as enrolment does.
struct Listener {
    file: ModelFile,
    embedder: Box<dyn SpeakerEmbedder>,
    finder: TurnSegmenter,
    secs: Option<f64>,
}

impl Listener {
    fn open(config: &Config, secs: Option<f64>) -> Result<Self, BenchError> {
        let set = PerceiverSet::choose(config, &catalogue(config)?)?;
        let no_model = || BenchError::NoModel { job: "voices", reasons: set.degraded.join("; ") };
        let file = set.speaker_embedder.clone().ok_or_else(no_model)?;
        let embedder = set.speaker_embedder()?.ok_or_else(no_model)?;
        let finder = set.turn_finder(&SourceId::new("voice"), None)?.ok_or_else(no_model)?;
        Ok(Self { file, embedder, finder, secs })
    }

    /// The utterance, or its middle; `None` where too little is said.
    fn hear(&mut self, path: &Path) -> Result<Option<Vec<f32>>, BenchError> {
        let sound = sound::read(path)?;
        let least = self.secs.map_or(LEAST_SPEECH_SECS, |secs| LEAST_SPEECH_SECS.min(0.5 * secs));
        let middle = middle(&sound, self.secs);
        let turns = turns_of(&mut self.finder, middle.to_vec(), Timestamp::EPOCH)?;
        let speech = turns.iter().fold(0.0, |secs, turn| secs + turn.speech_secs);
        let long_enough = self.embedder.min_secs() * f64::from(SAMPLE_RATE);
        let is_sample = speech >= least && (middle.len() as f64) >= long_enough;
        Ok(is_sample.then(|| middle.to_vec()))
    }
}

/// What was made of the samples of a folder.
struct Gathered<T> {
    /// Which identity, and what was made.
    samples: Vec<(usize, T)>,
    identities: usize,
    skipped: usize,
}

impl<T> Gathered<T> {
    /// See [`rates`]; sorts the pairs.
    fn rated(
        &self,
        dir: &Path,
        pairs: &mut [Pair],
    ) -> Result<(OperatingPoint, Option<[f64; 2]>), BenchError> {
        rates(pairs, self.identities).ok_or_else(|| {
            let reason =
                "it wants a folder per identity, two or more, and two samples in one of them";
            BenchError::TooLittle { path: dir.to_owned(), reason: reason.into() }
        })
    }

    fn verified(
        &self,
        dir: &Path,
        pairs: &mut [Pair],
        model: &ModelFile,
    ) -> Result<Verification, BenchError> {
        let (all, ci) = self.rated(dir, pairs)?;
        // `rated` sorts them by falling cosine.
        let spread = |same: bool| {
            let of = pairs.iter().rev().filter(|pair| (pair.a == pair.b) == same);
            let of: Vec<f32> = of.map(|pair| pair.cosine).collect();
            let last = of.len().saturating_sub(1) as f64;
            SHARES.map(|share| of.get((share * last).round() as usize).copied().unwrap_or_default())
        };
        Ok(Verification {
            eer: all.eer,
            eer_ci95: ci,
            threshold: all.threshold,
            pairs: pairs.len(),
            tar_at_far_1e3: all.tar_at_far_1e3,
            same_pairs: pairs.iter().filter(|pair| pair.a == pair.b).count(),
            identities: self.identities,
            samples: self.samples.len(),
            skipped: self.skipped,
            model: model.name.clone(),
            same: spread(true),
            other: spread(false),
            strangers: None,
        })
    }
}

/// Makes something of every sample of a folder.
fn gather<T>(
    dir: &Path,
    mut make: impl FnMut(&Path) -> Result<Option<T>, BenchError>,
) -> Result<Gathered<T>, BenchError> {
    let folders: Vec<PathBuf> = entries(dir)?.into_iter().filter(|path| path.is_dir()).collect();
    let (mut samples, mut skipped) = (Vec::new(), 0);
    for (identity, folder) in folders.iter().enumerate() {
        for path in entries(folder)?.into_iter().filter(|path| path.is_file()) {
            match make(&path) {
                Ok(Some(made)) => samples.push((identity, made)),
                Ok(None) => {
                    skipped += 1;
                    tracing::warn!(path = %path.display(), "Nothing to compare in this sample.");
                }
                // A note or a picture of another kind in the folder is no reason to stop.
                Err(BenchError::Capture(error)) => {
                    skipped += 1;
                    tracing::warn!(path = %path.display(), %error, "A sample cannot be read.");
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(Gathered { samples, identities: folders.len(), skipped })
}

fn compare(
    dir: &Path,
    model: &ModelFile,
    gallery_size: usize,
    embed: impl FnMut(&Path) -> Result<Option<Embedding>, BenchError>,
) -> Result<Compared, BenchError> {
    let found = gather(dir, embed)?;
    let of = |(identity, embedding): &(usize, Embedding)| Sample {
        identity: *identity,
        embedding: embedding.clone(),
    };
    let samples: Vec<Sample> = found.samples.iter().map(of).collect();
    let mut pairs = all_pairs(&samples);
    let by_identity = found.samples.iter().map(|(identity, embedding)| (*identity, embedding));
    let strangers = Strangers::of(by_identity, gallery_size);
    let verification = Verification { strangers, ..found.verified(dir, &mut pairs, model)? };
    let scores = pairs.iter().map(|pair| (pair.cosine, pair.a == pair.b)).collect();
    let min_norm = model.thresholds.as_ref().and_then(|thresholds| thresholds.min_norm);
    Ok(Compared { verification, scores, hash: model.hash, min_norm })
}

impl Pair {
    /// `None` where they are of different models.
    fn of(x: &Sample, y: &Sample) -> Option<Self> {
        let cosine = x.embedding.cosine(&y.embedding)?;
        Some(Self { cosine, a: x.identity as u32, b: y.identity as u32 })
    }
}

fn all_pairs(samples: &[Sample]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(samples.len() * samples.len().saturating_sub(1) / 2);
    for (index, x) in samples.iter().enumerate() {
        for y in &samples[index + 1..] {
            pairs.extend(Pair::of(x, y));
        }
    }
    pairs
}

/// Where false accepts and false rejects meet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OperatingPoint {
    eer: f64,
    threshold: f32,
    tar_at_far_1e3: f64,
}

/// The rates over all pairs and the interval; `None` where one of both sides is empty. Sorts the pairs.
fn rates(pairs: &mut [Pair], identities: usize) -> Option<(OperatingPoint, Option<[f64; 2]>)> {
    pairs.sort_by(|x, y| y.cosine.total_cmp(&x.cosine).then((x.a, x.b).cmp(&(y.a, y.b))));
    let all = operating_point(pairs, |_| 1.0)?;
    if identities < 3 {
        return Some((all, None));
    }
    let mut random = SplitMix64::new(SEED);
    let mut drawn: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS.min(MOST_WORK / pairs.len().max(1)) {
        let mut times = vec![0.0_f64; identities];
        for _ in 0..identities {
            times[random.below(identities)] += 1.0;
        }
        // An identity drawn twice is the same one twice: its copies make no pairs of two identities.
        let weight = |pair: &Pair| match (pair.a as usize, pair.b as usize) {
            (a, b) if a == b => times[a],
            (a, b) => times[a] * times[b],
        };
        drawn.extend(operating_point(pairs, weight).map(|point| point.eer));
    }
    drawn.sort_by(f64::total_cmp);
    let at =
        |share: f64| drawn.get((share * drawn.len().saturating_sub(1) as f64).round() as usize);
    let ci = at(0.025).zip(at(0.975)).map(|(low, high)| [*low, *high]);
    Some((all, ci))
}

/// Lowers the threshold over pairs sorted by falling cosine.
fn operating_point(pairs: &[Pair], weight: impl Fn(&Pair) -> f64) -> Option<OperatingPoint> {
    let (mut same, mut other) = (0.0, 0.0);
    for pair in pairs {
        *if pair.a == pair.b { &mut same } else { &mut other } += weight(pair);
    }
    if same <= 0.0 || other <= 0.0 {
        return None;
    }
    let (mut accepted, mut wrongly) = (0.0, 0.0);
    let mut best: Option<(f64, OperatingPoint)> = None;
    let mut tar = 0.0_f64;
    for alike in pairs.chunk_by(|x, y| x.cosine == y.cosine) {
        for pair in alike {
            *if pair.a == pair.b { &mut accepted } else { &mut wrongly } += weight(pair);
        }
        let (rejects, accepts) = (1.0 - accepted / same, wrongly / other);
        if accepts <= 1e-3 {
            tar = tar.max(1.0 - rejects);
        }
        let gap = (rejects - accepts).abs();
        if best.is_none_or(|(least, _)| gap < least) {
            let eer = 0.5 * (rejects + accepts);
            let point = OperatingPoint { eer, threshold: alike[0].cosine, tar_at_far_1e3: 0.0 };
            best = Some((gap, point));
        }
    }
    best.map(|(_, point)| OperatingPoint { tar_at_far_1e3: tar, ..point })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{copy, create_dir, create_dir_all, write};

    use super::*;
    use crate::capture::imaging::picture::decode;
    use crate::capture::imaging::picture::tests::on_its_side;
    use crate::config::ModelSet;
    use crate::perceive::speech::to_wav;
    use crate::perceive::voice::bench::shared;

    fn pair(cosine: f32, a: u32, b: u32) -> Pair {
        Pair { cosine, a, b }
    }

    #[test]
    fn error_rates_are_those_of_the_definition() {
        // same: 0.9 0.8 0.7 0.4; other: 0.5 0.3 0.2 0.1: one of four on each side at 0.5
        let mut pairs = vec![
            pair(0.4, 0, 0),
            pair(0.9, 0, 0),
            pair(0.8, 1, 1),
            pair(0.7, 1, 1),
            pair(0.5, 0, 1),
            pair(0.3, 0, 1),
            pair(0.2, 0, 1),
            pair(0.1, 0, 1),
        ];
        let (point, ci) = rates(&mut pairs, 2).unwrap();
        assert!((point.eer - 0.25).abs() < 1e-9, "{point:?}");
        assert_eq!(point.threshold, 0.5);
        assert!((point.tar_at_far_1e3 - 0.75).abs() < 1e-9);
        assert_eq!(ci, None);
        assert!(rates(&mut [pair(0.4, 0, 0)], 1).is_none());
    }

    #[test]
    fn the_interval_holds_the_rate_and_is_the_same_every_time() {
        let mut random = SplitMix64::new(3);
        let mut pairs = Vec::new();
        for a in 0..8_u32 {
            for b in a..8 {
                for _ in 0..10 {
                    let centre = if a == b { 0.6 } else { 0.3 };
                    pairs.push(pair(centre + 0.15 * random.gaussian(), a, b));
                }
            }
        }
        let (point, ci) = rates(&mut pairs, 8).unwrap();
        let [low, high] = ci.unwrap();
        assert!(low <= point.eer && point.eer <= high && high - low < 0.2, "{point:?} {ci:?}");
        assert_eq!(rates(&mut pairs, 8).unwrap(), (point, ci));
    }

    /// What was compared; `None`, and a line that says so, without models.
    fn with_models(compared: Result<Compared, BenchError>) -> Option<Verification> {
        if let Err(BenchError::NoModel { .. }) = compared {
            eprintln!("SKIPPED: no models (make setup)");
            return None;
        }
        Some(compared.unwrap().verification)
    }

    #[test]
    fn photographs_that_lie_on_their_side_are_compared_as_upright_ones() {
        let Some(lfw) = shared("recordings/faces/lfw") else { return };
        let dir = tempfile::tempdir().unwrap();
        let (upright, aside) = (dir.path().join("upright"), dir.path().join("aside"));
        for who in ["Ariel_Sharon", "Colin_Powell", "George_W_Bush"] {
            for folder in [&upright, &aside] {
                create_dir_all(folder.join(who)).unwrap();
            }
            for number in 1..=2 {
                let name = format!("{who}/{number}.jpg");
                let photo = lfw.join(format!("{who}/{who}_{number:04}.jpg"));
                let photo = std::fs::read(photo).unwrap();
                write(upright.join(&name), &photo).unwrap();
                write(aside.join(&name), on_its_side(&decode(&photo).unwrap())).unwrap();
            }
        }
        let mut config = Config::default();
        config.models.set = ModelSet::Edge;
        let Some(upright) = with_models(faces(&config, &upright)) else { return };
        let aside = with_models(faces(&config, &aside)).unwrap();
        assert_eq!((upright.samples, upright.skipped), (6, 0));
        assert_eq!((aside.samples, aside.skipped), (6, 0));
        assert!((aside.eer - upright.eer).abs() < 1e-9, "{} {}", upright.eer, aside.eer);
    }

    #[test]
    fn silence_and_snippets_are_no_samples_of_a_voice() {
        let Some(audio) = shared("recordings/audio") else { return };
        let dir = tempfile::tempdir().unwrap();
        for (who, file) in [("jfk", "jfk.flac"), ("beckett", "beckett.wav")] {
            create_dir(dir.path().join(who)).unwrap();
            let sound = sound::read(&audio.join(file)).unwrap();
            for (number, piece) in sound.chunks_exact(4 * SAMPLE_RATE as usize).take(2).enumerate()
            {
                write(dir.path().join(format!("{who}/{number}.wav")), to_wav(piece)).unwrap();
            }
        }
        let config = Config::default();
        let Some(before) = with_models(voices(&config, dir.path(), None)) else { return };
        assert_eq!((before.samples, before.skipped), (4, 0));
        let silence = dir.path().join("jfk/silence.wav");
        write(&silence, to_wav(&vec![0.0; 5 * SAMPLE_RATE as usize])).unwrap();
        copy(&silence, dir.path().join("beckett/silence.wav")).unwrap();
        let spoken = sound::read(&dir.path().join("jfk/0.wav")).unwrap();
        let snippet = to_wav(&spoken[..SAMPLE_RATE as usize / 5]);
        write(dir.path().join("jfk/snippet.wav"), snippet).unwrap();
        let after = voices(&config, dir.path(), None).unwrap().verification;
        assert_eq!((after.samples, after.skipped), (4, 3));
        assert_eq!((after.eer, after.pairs), (before.eer, before.pairs));
    }

    #[test]
    fn the_middle_of_a_sound_is_taken() {
        let sound: Vec<f32> = (0..48_000).map(|n| n as f32).collect();
        assert_eq!(middle(&sound, Some(1.0))[0], 16_000.0);
        assert_eq!(middle(&sound, Some(9.0)).len(), 48_000);
        assert_eq!(middle(&sound, None).len(), 48_000);
    }
}
