//! What the machine's devices make of the networks: `bench devices`.
//!
//! Each network runs as a worker of the daemon runs it (one thread on a CPU), on the CPU and, where one answers, on
//! the GPU, in the same process on the same input. What a device computes is held against the CPU's 32 bits.

use std::fs;
use std::path::Path;
use std::time::Instant;

use image::RgbImage;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::BenchError;
use super::memory::quantile;
use super::random::SplitMix64;
use super::sound;
use crate::config::Config;
use crate::config::sections::{Device, Precision};
use crate::daemon::assemble::catalogue;
use crate::daemon::ingest::PerceiverSet;
use crate::ids::{ModelHash, SourceId};
use crate::media::SAMPLE_RATE;
use crate::models::Job;
use crate::perceive::PerceiveError;
use crate::perceive::active_speaker::{ActiveSpeaker as _, CROPS_PER_SEC, Crop, LrAsd, SIDE};
use crate::perceive::face;
use crate::perceive::voice::embed::eres2netv2::layout::generated;
use crate::perceive::voice::{Eres2NetV2, SpeakerEmbedder as _, Variant};
use crate::percept::{Embedding, Word};
use crate::runtime::{onnx, torch};
use crate::time::Timestamp;

/// Counted runs of each case, at least; their median is the figure.
const RUNS: usize = 3;
/// Runs go on for so long without being counted (kernels are chosen, pools made), seconds.
const WARM_UP_SECS: f64 = 0.5;
/// Then they count for so long, seconds.
const COUNTED_SECS: f64 = 2.0;
/// Length of an utterance, seconds.
const UTTERANCE_SECS: usize = 3;
/// Utterances that are handed over together.
const TOGETHER: usize = 16;
/// Length of what is shown to the active-speaker network, seconds.
const MOUTH_SECS: usize = 2;
/// The picture that is made up where none is given: noise, in which no face is.
const MADE_UP_PX: [u32; 2] = [640, 480];
/// Words are hashed to so many features.
const WORD_FEATURES: usize = 4096;
const SEED: u64 = 20_261_122;

/// `bench devices`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceFigures {
    /// The GPU's name; null where neither libtorch nor ONNX Runtime finds one. Each network runs on it where its own runtime
    /// does.
    pub gpu: Option<String>,
    /// One entry per network and way of using it.
    pub networks: Vec<NetworkFigures>,
}

/// One network, on every device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NetworkFigures {
    /// What runs.
    pub id: String,
    /// What `per_second` counts.
    pub item: String,
    /// CPU first.
    pub devices: Vec<DeviceFigure>,
}

/// One network on one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceFigure {
    /// `cpu` or `gpu`; with `_half` where it computes with 16 bits.
    pub id: String,
    /// Items a second, one worker: of the median run.
    pub per_second: f64,
    /// As many times as the CPU with 32 bits.
    pub times_cpu: f64,
    /// Smallest cosine with what the CPU with 32 bits says; null where no vector comes out.
    pub least_cosine: Option<f32>,
}

/// A device and how exactly it computes.
#[derive(Clone, Copy)]
struct Way {
    id: &'static str,
    device: Device,
    precision: Precision,
}

const CPU: Way = Way { id: "cpu", device: Device::Cpu, precision: Precision::Full };
const CPU_HALF: Way = Way { id: "cpu_half", device: Device::Cpu, precision: Precision::Half };
const GPU: Way = Way { id: "gpu", device: Device::Cuda, precision: Precision::Full };
const GPU_HALF: Way = Way { id: "gpu_half", device: Device::Cuda, precision: Precision::Half };

/// Runs the networks of the configured set, and ERes2NetV2 with generated weights, which computes what the published
/// ones compute. `picture`: what is looked at, best with faces in it; noise without one. `speech`: a recording whose words
/// are recognised; without one they are not measured, since of noise nothing is written.
///
/// # Errors
/// When the picture or the recording is none, or a model is missing or fails.
pub fn measure(
    config: &Config,
    picture: Option<&Path>,
    speech: Option<&Path>,
) -> Result<DeviceFigures, BenchError> {
    let torch_has_gpu = torch::device(Device::Auto) != tch::Device::Cpu;
    let onnx_has_gpu = onnx_has_gpu(config)?;
    let mut random = SplitMix64::new(SEED);
    let picture = match picture {
        Some(path) => read_picture(path)?,
        None => RgbImage::from_fn(MADE_UP_PX[0], MADE_UP_PX[1], |_, _| {
            let [r, g, b, ..] = random.bits().to_le_bytes();
            image::Rgb([r, g, b])
        }),
    };
    let utterances: Vec<Vec<f32>> = (0..TOGETHER).map(|n| utterance(n, &mut random)).collect();
    let utterances: Vec<&[f32]> = utterances.iter().map(Vec::as_slice).collect();
    let mut networks = Vec::new();

    let plain = |has_gpu: bool| if has_gpu { [CPU, GPU].as_slice() } else { &[CPU] };
    let every: &[Way] =
        if torch_has_gpu { &[CPU, CPU_HALF, GPU, GPU_HALF] } else { &[CPU, CPU_HALF] };
    networks.push(faces(config, plain(onnx_has_gpu), &picture)?);
    let one = &utterances[..1];
    let of = format!("utterance of {UTTERANCE_SECS} s");
    let voices = catalogue(config)?.configured(config, Job::SpeakerEmbedder);
    let by_onnx = voices.is_ok_and(|file| file.path.extension().is_some_and(|it| it == "onnx"));
    let voices = plain(if by_onnx { onnx_has_gpu } else { torch_has_gpu });
    networks.push(compare("speaker_embedder", &of, voices, |way| {
        let set = configured(config, way)?;
        let embedder = set.speaker_embedder()?;
        let mut embedder = embedder.ok_or_else(|| missing("voices", &set.degraded))?;
        Ok(Box::new(move || Ok(vec![embedder.embed(one[0])?])))
    })?);
    for (id, sounds) in [("eres2netv2", one), ("eres2netv2_together", &utterances)] {
        networks.push(compare(id, &of, every, |way| {
            let variant = Variant::W26S2Ep2;
            let hash = ModelHash([0; 32]);
            let weights = generated(variant);
            let (device, precision) = (way.device, way.precision);
            let mut embedder =
                Eres2NetV2::with_weights(variant, &weights, hash, device, precision)?;
            Ok(Box::new(move || Ok(embedder.embed_equal(sounds)?)))
        })?);
    }
    networks.extend(mouths(config, plain(torch_has_gpu), one[0], &mut random)?);
    if let Some(speech) = speech {
        networks.push(words(config, plain(onnx_has_gpu), &sound::read(speech)?)?);
    }
    Ok(DeviceFigures { gpu: (torch_has_gpu || onnx_has_gpu).then(gpu_name), networks })
}

/// What one run gives: a vector per item, or as many empty ones as there were items.
type Run<'a> = Box<dyn FnMut() -> Result<Vec<Embedding>, BenchError> + 'a>;

/// The same work on every device: `make` loads the network for one of them.
fn compare<'a>(
    id: &str,
    item: &str,
    ways: &[Way],
    make: impl Fn(Way) -> Result<Run<'a>, BenchError>,
) -> Result<NetworkFigures, BenchError> {
    let mut devices: Vec<DeviceFigure> = Vec::new();
    let mut truth: Vec<Embedding> = Vec::new();
    for way in ways {
        let mut run = make(*way)?;
        let mut found = run()?;
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < WARM_UP_SECS {
            found = run()?;
        }
        let (mut times, begun) = (Vec::new(), Instant::now());
        while times.len() < RUNS || begun.elapsed().as_secs_f64() < COUNTED_SECS {
            let begun = Instant::now();
            run()?;
            times.push(begun.elapsed().as_secs_f64());
        }
        let per_second = found.len() as f64 / quantile(&mut times, 0.5);
        if devices.is_empty() {
            truth.clone_from(&found);
        }
        let pairs = truth.iter().zip(&found).filter(|(a, _)| !a.values.is_empty());
        let cosines = pairs.map(|(a, b)| a.cosine(b).unwrap_or(-1.0));
        devices.push(DeviceFigure {
            id: way.id.to_owned(),
            per_second,
            times_cpu: per_second / devices.first().map_or(per_second, |cpu| cpu.per_second),
            least_cosine: cosines.min_by(f32::total_cmp),
        });
    }
    Ok(NetworkFigures { id: id.to_owned(), item: item.to_owned(), devices })
}

/// Detecting, cutting out and embedding, as a worker does it with a frame.
fn faces(config: &Config, ways: &[Way], picture: &RgbImage) -> Result<NetworkFigures, BenchError> {
    let source = SourceId::new("picture");
    let analyser = |way| {
        let set = configured(config, way)?;
        let analyser = set.face_analyser(&config.face)?;
        analyser.ok_or_else(|| missing("faces", &set.degraded))
    };
    let (width, height) = picture.dimensions();
    let looked = |way| {
        let mut analyser = analyser(way)?;
        let source = source.clone();
        Ok::<_, BenchError>(move || -> Result<Vec<Embedding>, BenchError> {
            let faces = analyser.analyse(&source, Timestamp::EPOCH, picture)?.faces.into_iter();
            Ok(faces.filter_map(|face| face.embedding).collect())
        })
    };
    let count = looked(CPU)?()?.len();
    if count > 0 {
        let of = format!("face of {count} in a picture of {width}x{height}");
        return compare("faces", &of, ways, |way| Ok(Box::new(looked(way)?)));
    }
    let nobody = Embedding { values: Vec::new(), model: ModelHash([0; 32]) };
    compare("pictures", &format!("picture of {width}x{height} without a face"), ways, |way| {
        let mut look = looked(way)?;
        let nobody = nobody.clone();
        Ok(Box::new(move || {
            look()?;
            Ok(vec![nobody.clone()])
        }))
    })
}

/// Whether ONNX Runtime computes on the GPU: it has libraries of its own, and goes on without them.
fn onnx_has_gpu(config: &Config) -> Result<bool, BenchError> {
    let file = catalogue(config)?.choose(config.models.set, Job::FaceEmbedder)?;
    let opened = onnx::open(&file.path, 1, Device::Cuda).map_err(face::FaceError::from)?;
    Ok(opened.device() == Device::Cuda)
}

/// The active-speaker network of the set, where it has one.
fn mouths(
    config: &Config,
    ways: &[Way],
    sound: &[f32],
    random: &mut SplitMix64,
) -> Result<Vec<NetworkFigures>, BenchError> {
    let Ok(file) = catalogue(config)?.choose(config.models.set, Job::ActiveSpeaker) else {
        return Ok(Vec::new());
    };
    let crops: Vec<Crop> = (0..MOUTH_SECS * CROPS_PER_SEC as usize)
        .map(|_| {
            let pixels = (0..SIDE * SIDE).map(|_| random.bits() as u8).collect();
            Crop { at: Timestamp::EPOCH, pixels }
        })
        .collect();
    let of = format!("mouth of {MOUTH_SECS} s");
    let figures = compare("active_speaker", &of, ways, |way| {
        let mut network = LrAsd::open(&file.path, way.device).map_err(PerceiveError::from)?;
        let crops = &crops;
        Ok(Box::new(move || {
            let scores = network.score(sound, crops).map_err(PerceiveError::from)?;
            Ok(vec![Embedding::normalised(scores, file.hash)])
        }))
    })?;
    Ok(vec![figures])
}

/// The recogniser of the set. Its vectors hold the words that it writes, each as sure as it is of it.
fn words(config: &Config, ways: &[Way], speech: &[f32]) -> Result<NetworkFigures, BenchError> {
    let of = format!("recording of {:.1} s", speech.len() as f64 / f64::from(SAMPLE_RATE));
    compare("words", &of, ways, |way| {
        let set = configured(config, way)?;
        let mut recogniser = set.recogniser()?.ok_or_else(|| missing("words", &set.degraded))?;
        Ok(Box::new(move || {
            let written = recogniser.transcribe(speech, Timestamp::EPOCH)?;
            Ok(vec![bag_of_words(&written.words)])
        }))
    })
}

/// Words as a vector, by feature hashing (Weinberger et al. 2009).
fn bag_of_words(words: &[Word]) -> Embedding {
    let mut bag = vec![0.0; WORD_FEATURES];
    for word in words {
        let digest = Sha256::digest(word.text.as_bytes());
        let feature = usize::from(u16::from_le_bytes([digest[0], digest[1]])) % WORD_FEATURES;
        bag[feature] += word.confidence.unwrap_or(1.0);
    }
    Embedding::normalised(bag, ModelHash([0; 32]))
}

/// The configured models, on that device.
fn configured(config: &Config, way: Way) -> Result<PerceiverSet, BenchError> {
    let mut config = config.clone();
    config.models.device = way.device;
    config.voice.precision = way.precision;
    Ok(PerceiverSet::choose(&config, &catalogue(&config)?)?)
}

fn missing(job: &'static str, degraded: &[String]) -> BenchError {
    BenchError::NoModel { job, reasons: degraded.join("; ") }
}

fn read_picture(path: &Path) -> Result<RgbImage, BenchError> {
    let bytes =
        fs::read(path).map_err(|source| BenchError::Io { path: path.to_owned(), source })?;
    let picture = image::load_from_memory(&bytes);
    let form = |error: image::ImageError| BenchError::Form {
        path: path.to_owned(),
        reason: format!("{error}; it must be a JPEG or PNG picture"),
    };
    Ok(picture.map_err(form)?.into_rgb8())
}

/// Seconds of a tone that glides, with noise: another for every number.
fn utterance(number: usize, random: &mut SplitMix64) -> Vec<f32> {
    let base = 90.0 + 11.0 * number as f64;
    (0..UTTERANCE_SECS * SAMPLE_RATE as usize)
        .map(|n| {
            let t = n as f64 / f64::from(SAMPLE_RATE);
            let phase = std::f64::consts::TAU * (base * t + 6.0 * t * t);
            let tones = 0.2 * phase.sin() + 0.1 * (3.0 * phase).sin();
            tones as f32 + 0.02 * random.gaussian()
        })
        .collect()
}

/// As the driver calls it.
fn gpu_name() -> String {
    let cards = fs::read_dir("/proc/driver/nvidia/gpus").into_iter().flatten().flatten();
    let said = cards.filter_map(|card| fs::read_to_string(card.path().join("information")).ok());
    let name = said
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .find_map(|line| line.strip_prefix("Model:").map(|name| name.trim().to_owned()));
    name.unwrap_or_else(|| "a GPU whose driver gives no name".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_held_against_the_first() {
        let vector = |x: f32, y: f32| Embedding::normalised(vec![x, y], ModelHash([1; 32]));
        let figures = compare("net", "thing", &[CPU, CPU_HALF], |way| {
            let y = if way.id == "cpu" { 0.0 } else { 1.0 };
            Ok(Box::new(move || {
                std::thread::sleep(std::time::Duration::from_millis(1));
                Ok(vec![vector(1.0, 0.0), vector(1.0, y)])
            }))
        })
        .unwrap();
        let [cpu, half] = figures.devices.as_slice() else { panic!("{figures:?}") };
        assert!((cpu.times_cpu - 1.0).abs() < 1e-9 && cpu.per_second > 0.0, "{figures:?}");
        assert!(cpu.least_cosine.unwrap() > 0.999_999, "{figures:?}");
        assert!((half.least_cosine.unwrap() - 0.5_f32.sqrt()).abs() < 1e-6, "{figures:?}");
    }

    #[test]
    fn other_words_are_another_vector() {
        let bag = |texts: &[&str]| {
            let span = crate::time::Span::new(Timestamp::EPOCH, Timestamp::EPOCH.plus_secs(1.0));
            let word = |text: &&str| Word { text: (*text).into(), span, confidence: Some(0.5) };
            bag_of_words(&texts.iter().map(word).collect::<Vec<_>>())
        };
        let said = bag(&["where", "is", "it"]);
        assert!(said.cosine(&bag(&["where", "is", "it"])).unwrap() > 0.999_999);
        assert!(said.cosine(&bag(&["where", "was", "it"])).unwrap() < 0.7);
    }
}
