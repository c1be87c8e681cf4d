//! Figures on real recordings, and what tests share to read them.
//!
//! `cargo test --release --lib voice::measured -- --ignored --nocapture --test-threads 1` prints them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::embed::eres2netv2::layout::{Variant, generated};
use super::*;
use crate::config::VoicePerception;
use crate::config::sections::Precision;
use crate::ids::SourceId;
use crate::media::Block;
pub(crate) use crate::perceive::face::fixtures::{model, shared};
use crate::time::Timestamp;

/// The sound of anything GStreamer decodes, 16 kHz mono.
pub(crate) fn sound(path: &Path) -> Vec<f32> {
    let raw = tempfile::NamedTempFile::new().unwrap();
    let made = Command::new("gst-launch-1.0")
        .args(["-q", "filesrc", &format!("location={}", path.display()), "!", "decodebin"])
        // Pictures that nobody takes stop it now and then.
        .args(["expose-all-streams=false", "caps=audio/x-raw", "!"])
        .args(["audioconvert", "!", "audioresample", "!"])
        .args(["audio/x-raw,format=S16LE,rate=16000,channels=1", "!", "filesink"])
        .arg(format!("location={}", raw.path().display()))
        .status();
    assert!(made.unwrap().success(), "decoding {}", path.display());
    let bytes = std::fs::read(raw.path()).unwrap();
    bytes.chunks_exact(2).map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0).collect()
}

/// The turns of a whole recording, in blocks of 100 ms, from the epoch.
pub(crate) fn turns_of(sound: &[f32], settings: &VoicePerception) -> Option<Vec<RawTurn>> {
    let vad = SileroVad::open(&model("silero_vad.onnx")?).unwrap();
    let mut finder = TurnSegmenter::new(SourceId::new("mic"), settings.clone(), Box::new(vad));
    let mut turns = Vec::new();
    for (n, samples) in sound.chunks(1600).enumerate() {
        let at = Timestamp::from_nanos(n as i64 * 100_000_000);
        let block = Block { source: SourceId::new("mic"), at, samples: samples.into() };
        turns.extend(finder.push(&block).unwrap());
    }
    turns.extend(finder.flush().unwrap());
    Some(turns)
}

/// GE2E as it runs by default.
pub(crate) fn ge2e() -> Option<Ge2e> {
    ge2e_at(Precision::Auto)
}

pub(crate) fn ge2e_at(precision: Precision) -> Option<Ge2e> {
    let device = crate::runtime::onnx::Device::Cpu;
    Some(Ge2e::open(&model("ge2e_resemblyzer.pt")?, device, precision).unwrap())
}

/// Seconds that this thread has computed: what a loaded machine's wall clock does not tell.
fn cpu_secs() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}

fn secs(at: Timestamp) -> f64 {
    at.secs_since(Timestamp::EPOCH)
}

/// `(start, end, speaker)` of an RTTM file.
fn rttm(path: &Path) -> Vec<(f64, f64, String)> {
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| {
            let f: Vec<&str> = line.split_whitespace().collect();
            let (start, length): (f64, f64) = (f[3].parse().unwrap(), f[4].parse().unwrap());
            (start, start + length, f[7].to_owned())
        })
        .collect()
}

/// Error rate at which as many same-voice pairs lie below a threshold as other-voice pairs above it.
fn equal_error(same: &mut [f32], other: &mut [f32]) -> (f64, f32) {
    same.sort_by(f32::total_cmp);
    other.sort_by(f32::total_cmp);
    let mut best = (1.0, 0.0, f64::INFINITY);
    for threshold in (0..1000).map(|n| n as f32 / 1000.0) {
        let missed = same.partition_point(|c| *c < threshold) as f64 / same.len() as f64;
        let wrong = 1.0 - other.partition_point(|c| *c < threshold) as f64 / other.len() as f64;
        if (missed - wrong).abs() < best.2 {
            best = ((missed + wrong) / 2.0, threshold, (missed - wrong).abs());
        }
    }
    (best.0, best.1)
}

fn quantiles(values: &mut [f32]) -> String {
    values.sort_by(f32::total_cmp);
    let at = |q: f64| {
        values.get(((values.len() as f64 - 1.0) * q) as usize).copied().unwrap_or(f32::NAN)
    };
    format!(
        "n {:4} min {:.2} p5 {:.2} p25 {:.2} med {:.2} p75 {:.2} p95 {:.2} max {:.2}",
        values.len(),
        at(0.0),
        at(0.05),
        at(0.25),
        at(0.5),
        at(0.75),
        at(0.95),
        at(1.0)
    )
}

fn librispeech() -> Option<BTreeMap<String, Vec<Vec<f32>>>> {
    let root = shared("recordings/audio/librispeech")?;
    let mut speakers = BTreeMap::new();
    for folder in std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir())
    {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        speakers.insert(name, files.iter().map(|file| sound(file)).collect());
    }
    Some(speakers)
}

#[test]
#[ignore = "prints figures"]
fn voice_activity_on_the_ten_vad_test_set() {
    let (Some(folder), Some(file)) = (shared("recordings/audio/tenvad"), model("silero_vad.onnx"))
    else {
        return;
    };
    let mut vad = SileroVad::open(&file).unwrap();
    let (mut hit, mut wrong, mut missed, mut clear) = (0, 0, 0, 0);
    let (mut taken, mut heard) = (0.0, 0.0);
    for n in 1..=15 {
        let name = format!("testset-audio-{n:02}");
        let sound = sound(&folder.join(format!("{name}.wav")));
        let labels: Vec<f64> = std::fs::read_to_string(folder.join(format!("{name}.scv")))
            .unwrap()
            .trim()
            .split(',')
            .skip(1)
            .map(|v| v.parse().unwrap())
            .collect();
        let begin = cpu_secs();
        let mut state = VadState::default();
        for (n, frame) in sound.chunks_exact(512).enumerate() {
            let speech = vad.probability(&mut state, frame).unwrap() >= 0.5;
            let at = (n * 512 + 256) as f64 / 16_000.0;
            let label = labels.chunks_exact(3).find(|l| l[0] <= at && at < l[1]);
            match (speech, label.is_some_and(|l| l[2] > 0.5)) {
                (true, true) => hit += 1,
                (true, false) => wrong += 1,
                (false, true) => missed += 1,
                (false, false) => clear += 1,
            }
        }
        taken += cpu_secs() - begin;
        heard += sound.len() as f64 / 16_000.0;
    }
    let precision = f64::from(hit) / f64::from(hit + wrong);
    let recall = f64::from(hit) / f64::from(hit + missed);
    println!(
        "ten vad: precision {precision:.3} recall {recall:.3} F1 {:.3} accuracy {:.3}; {:.2} ms per second of sound",
        2.0 * precision * recall / (precision + recall),
        f64::from(hit + clear) / f64::from(hit + wrong + missed + clear),
        taken * 1e3 / heard
    );
}

#[test]
#[ignore = "prints figures"]
fn speaker_verification_on_librispeech() {
    let (Some(speakers), Some(mut embedder)) = (librispeech(), ge2e()) else { return };
    for length in [f64::INFINITY, 5.0, 3.0, 2.0, 1.6, 1.0, 0.7] {
        let samples = (length * 16_000.0).min(1e9) as usize;
        let mut vectors = Vec::new();
        for (speaker, sounds) in &speakers {
            for sound in sounds {
                let count = if length.is_finite() { 3 } else { 1 };
                let spare = sound.len().saturating_sub(samples);
                for part in 0..count {
                    let from = spare * (part + 1) / (count + 1);
                    let cut = &sound[from..(from + samples).min(sound.len())];
                    vectors.push((speaker, sound.as_ptr(), embedder.embed(cut).unwrap()));
                }
            }
        }
        let (mut same, mut other) = (Vec::new(), Vec::new());
        for (n, (speaker, utterance, a)) in vectors.iter().enumerate() {
            for (second, other_utterance, b) in &vectors[n + 1..] {
                let cosine = a.cosine(b).unwrap();
                if speaker != second {
                    other.push(cosine);
                } else if utterance != other_utterance {
                    same.push(cosine);
                }
            }
        }
        let (rate, threshold) = equal_error(&mut same, &mut other);
        println!("{length:4} s: EER {:.2} % at {threshold:.3}", rate * 100.0);
        println!("   same  {}", quantiles(&mut same));
        println!("   other {}", quantiles(&mut other));
    }
}

/// Who speaks in a span and for how long, by the labels.
fn speakers_in(labels: &[(f64, f64, String)], start: f64, end: f64) -> BTreeMap<&str, f64> {
    let mut found: BTreeMap<&str, f64> = BTreeMap::new();
    for (from, to, who) in labels {
        let overlap = to.min(end) - from.max(start);
        if overlap > 0.0 {
            *found.entry(who.as_str()).or_default() += overlap;
        }
    }
    found
}

#[test]
#[ignore = "prints figures"]
fn turns_of_the_composed_recordings() {
    let Some(mut embedder) = ge2e() else { return };
    let settings = VoicePerception::default();
    type Buckets<'a> = BTreeMap<&'a str, Vec<f32>>;
    let (mut all_same, mut all_other): (Buckets<'_>, Buckets<'_>) = Default::default();
    let verbose = std::env::var_os("VERBOSE").is_some();
    for name in ["living_room_dev", "two_people_dev", "one_person_dev"] {
        let Some(media) = shared(&format!("recordings/{name}.mp4")) else { return };
        let labels = rttm(&media.with_extension("rttm"));
        let sound = sound(&media);
        let begin = cpu_secs();
        let Some(raw) = turns_of(&sound, &settings) else { return };
        let found = cpu_secs() - begin;
        let mixed = |turns: &[RawTurn]| {
            turns
                .iter()
                .filter(|turn| {
                    let inside = speakers_in(&labels, secs(turn.span.start), secs(turn.span.end));
                    inside.values().filter(|secs| **secs > 0.3).count() > 1
                })
                .count()
        };
        let before = (raw.len(), mixed(&raw));
        let begin = cpu_secs();
        let mut turns = Vec::new();
        for turn in raw {
            turns.extend(split_by_speaker(turn, &mut embedder, &SplitSettings::default()).unwrap());
        }
        let split = cpu_secs() - begin;
        // Every 10 ms: labelled, found.
        let (mut missed, mut invented, mut speech) = (0, 0, 0);
        for step in 0..(sound.len() / 160) {
            let at = step as f64 / 100.0 + 0.005;
            let said = labels.iter().any(|(from, to, _)| *from <= at && at < *to);
            let heard = turns.iter().any(|t| secs(t.span.start) <= at && at < secs(t.span.end));
            let close = labels.iter().any(|(from, to, _)| from - 0.25 <= at && at < to + 0.25);
            speech += usize::from(said);
            missed += usize::from(said && !heard);
            invented += usize::from(heard && !close);
        }
        let length = sound.len() as f64 / 16_000.0;
        println!(
            "{name}: {} turns ({} before splitting), with two speakers {} ({} before); missed {:.2} s of {:.1} s, \
             false (beyond 0.25 s) {:.2} s; per second of sound: finding {:.2} ms, splitting {:.2} ms",
            turns.len(),
            before.0,
            mixed(&turns),
            before.1,
            missed as f64 / 100.0,
            speech as f64 / 100.0,
            invented as f64 / 100.0,
            found * 1e3 / length,
            split * 1e3 / length
        );
        let mut vectors = Vec::new();
        for turn in &turns {
            let inside = speakers_in(&labels, secs(turn.span.start), secs(turn.span.end));
            if verbose {
                println!(
                    "   {:7.2}..{:7.2} speech {:5.2} level {:6.1} {inside:.2?}",
                    secs(turn.span.start),
                    secs(turn.span.end),
                    turn.speech_secs,
                    turn.level_dbfs
                );
            }
            let Some((who, most)) = inside.iter().max_by(|a, b| a.1.total_cmp(b.1)) else {
                continue;
            };
            let rest: f64 = inside.values().sum::<f64>() - most;
            if turn.speech_secs >= settings.min_embed_secs && rest < 0.1 {
                vectors.push((
                    who.to_string(),
                    turn.speech_secs,
                    embedder.embed(&turn.sound).unwrap(),
                ));
            }
        }
        for (n, (who, length, a)) in vectors.iter().enumerate() {
            for (second, second_length, b) in &vectors[n + 1..] {
                let bucket = match length.min(*second_length) {
                    l if l < 1.0 => "0.6-1.0 s",
                    l if l < 1.6 => "1.0-1.6 s",
                    l if l < 2.5 => "1.6-2.5 s",
                    _ => "2.5 s and longer",
                };
                let side = if who == second { &mut all_same } else { &mut all_other };
                side.entry(bucket).or_default().push(a.cosine(b).unwrap());
            }
        }
    }
    for (bucket, same) in &mut all_same {
        println!("shorter turn {bucket}");
        println!("   same  {}", quantiles(same));
        println!("   other {}", quantiles(all_other.entry(bucket).or_default()));
    }
}

#[test]
#[ignore = "prints figures"]
fn turns_against_galleries_on_librispeech() {
    let (Some(speakers), Some(mut embedder)) = (librispeech(), ge2e()) else { return };
    for exemplars in [1, 3, 5] {
        let galleries: Vec<Vec<_>> = speakers
            .values()
            .map(|s| {
                s[..exemplars]
                    .iter()
                    .map(|s| embedder.embed(&s[..s.len().min(64_000)]).unwrap())
                    .collect()
            })
            .collect();
        for length in [0.7, 1.0, 1.6, 2.5, 4.0] {
            let samples = (length * 16_000.0) as usize;
            let (mut same, mut other, mut margin) = (Vec::new(), Vec::new(), Vec::new());
            let mut ranked_wrong = 0;
            for (n, sounds) in speakers.values().enumerate() {
                for sound in &sounds[5..] {
                    for from in (0..sound.len().saturating_sub(samples))
                        .step_by(samples.max(24_000))
                        .take(4)
                    {
                        let probe = embedder.embed(&sound[from..from + samples]).unwrap();
                        // The mean of the exemplars and the nearest exemplar, half and half.
                        let scores: Vec<f32> = galleries
                            .iter()
                            .map(|gallery| {
                                let mut mean = vec![0.0; 256];
                                let mut nearest = -1.0_f32;
                                for e in gallery {
                                    mean.iter_mut().zip(&e.values).for_each(|(m, v)| *m += v);
                                    nearest = nearest.max(e.cosine(&probe).unwrap());
                                }
                                let mean = crate::percept::Embedding::normalised(mean, probe.model);
                                0.5 * nearest + 0.5 * mean.cosine(&probe).unwrap()
                            })
                            .collect();
                        let best_other = scores
                            .iter()
                            .enumerate()
                            .filter(|(m, _)| *m != n)
                            .map(|(_, s)| *s)
                            .fold(-1.0, f32::max);
                        same.push(scores[n]);
                        other.extend(
                            scores.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, s)| *s),
                        );
                        margin.push(scores[n] - best_other);
                        ranked_wrong += usize::from(scores[n] < best_other);
                    }
                }
            }
            let (rate, threshold) = equal_error(&mut same, &mut other);
            println!(
                "{length} s against {exemplars} of 4 s: EER {:.2} % at {threshold:.3}, nearest is wrong {ranked_wrong} of {}",
                rate * 100.0,
                same.len()
            );
            println!("   same   {}", quantiles(&mut same));
            println!("   other  {}", quantiles(&mut other));
            println!("   margin {}", quantiles(&mut margin));
        }
    }
}

#[test]
#[ignore = "prints figures"]
fn splitting_joined_and_single_utterances() {
    let (Some(speakers), Some(mut embedder)) = (librispeech(), ge2e()) else { return };
    let settings = VoicePerception::default();
    let split = SplitSettings::default();
    let trimmed = |sound: &[f32]| {
        let turns = turns_of(sound, &settings).unwrap();
        turns.into_iter().max_by(|a, b| a.speech_secs.total_cmp(&b.speech_secs)).unwrap().sound
    };
    let speech: BTreeMap<&String, Vec<_>> = speakers
        .iter()
        .map(|(who, sounds)| (who, sounds.iter().map(|sound| trimmed(sound)).collect()))
        .collect();
    // One speaker: every parted turn is wrong.
    let (mut whole, mut parted, mut length) = (0, 0, 0.0);
    for sound in speakers.values().flatten() {
        for turn in turns_of(sound, &settings).unwrap() {
            length += turn.span.secs();
            whole += 1;
            let parts = split_by_speaker(turn, &mut embedder, &split).unwrap();
            parted += usize::from(parts.len() > 1);
        }
    }
    println!("one speaker: {parted} of {whole} turns parted ({length:.0} s)");
    let names: Vec<&&String> = speech.keys().collect();
    for gap in [0.0, 0.15, 0.3] {
        for (left, right) in [(4.0, 4.0), (2.0, 2.0), (3.0, 1.2), (1.2, 3.0), (1.0, 1.0)] {
            let (mut found, mut wrong, mut all, mut error) = (0, 0, 0, 0.0);
            for (n, a) in names.iter().enumerate() {
                for b in names.iter().filter(|b| *b != a) {
                    let k = n % 5;
                    let first = &speech[**a][k];
                    let second = &speech[**b][k + 5];
                    let tail = first.len().saturating_sub((left * 16_000.0) as usize);
                    let head = ((right * 16_000.0) as usize).min(second.len());
                    let pause = vec![0.0; (gap * 16_000.0) as usize];
                    let joined = [&first[tail..], &pause, &second[..head], &[0.0; 16_000]].concat();
                    let border = (first.len() - tail) as f64 / 16_000.0 + gap / 2.0;
                    all += 1;
                    for turn in turns_of(&joined, &settings).unwrap() {
                        let start = secs(turn.span.start);
                        if secs(turn.span.end) < border || start > border {
                            // Parted by a pause already.
                            found += usize::from(start > border && start < border + 0.5);
                            continue;
                        }
                        for part in
                            split_by_speaker(turn, &mut embedder, &split).unwrap().iter().skip(1)
                        {
                            let off = (secs(part.span.start) - border).abs();
                            if off < 0.4 {
                                found += 1;
                                error += off;
                            } else {
                                wrong += 1;
                            }
                        }
                    }
                }
            }
            println!(
                "two speakers, {left} s + {gap} s pause + {right} s: found {found} of {all}, elsewhere {wrong}, mean error {:.2} s",
                error / f64::from(found.max(1) as u32)
            );
        }
    }
}

#[test]
#[ignore = "prints figures"]
fn speed_of_the_networks() {
    let Some(speakers) = librispeech() else { return };
    let sound: Vec<f32> = speakers.values().flat_map(|s| s[0].clone()).take(16_000 * 30).collect();
    let mut embedders: Vec<Box<dyn SpeakerEmbedder>> = Vec::new();
    if let Some(ge2e) = ge2e() {
        embedders.push(Box::new(ge2e));
    }
    for variant in [Variant::W26S2Ep2, Variant::W24S4Ep4] {
        let hash = crate::ids::ModelHash([1; 32]);
        let device = crate::runtime::onnx::Device::Cpu;
        let net =
            Eres2NetV2::with_weights(variant, &generated(variant), hash, device, Precision::Full);
        embedders.push(Box::new(net.unwrap()));
    }
    for embedder in &mut embedders {
        for length in [1.5, 3.0, 10.0] {
            let part = &sound[..(length * 16_000.0) as usize];
            embedder.embed(part).unwrap();
            let mut times: Vec<f64> = (0..7)
                .map(|_| {
                    let begin = cpu_secs();
                    embedder.embed(part).unwrap();
                    cpu_secs() - begin
                })
                .collect();
            times.sort_by(f64::total_cmp);
            println!(
                "{} {length} s: {:.1} ms, {:.2} ms per second",
                embedder.name(),
                times[3] * 1e3,
                times[3] * 1e3 / length
            );
        }
    }
    let fbank = super::embed::fbank::Fbank::new();
    let begin = cpu_secs();
    let frames = fbank.compute(&sound, true).frames;
    println!("fbank: {frames} frames in {:.1} ms", (cpu_secs() - begin) * 1e3);
}
