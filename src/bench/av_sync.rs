//! By how much a microphone's sound comes later than the pictures of the same moment: `calibrate av-sync`.
//!
//! Two ways. Claps, or a light that goes on with a click: sharp sounds are paired with sudden changes of the picture.
//! Speech: the movement of mouths (of the whole picture where no face detector runs) is correlated with the loudness;
//! each face counts for itself, since most of them may be silent.

use std::path::Path;

use image::RgbImage;
use serde::Serialize;

use super::BenchError;
use crate::capture::imaging::picture::to_rgb;
use crate::capture::{Recording, ReplayOptions};
use crate::config::Config;
use crate::config::sections::FacePerception;
use crate::daemon::assemble::catalogue;
use crate::daemon::ingest::PerceiverSet;
use crate::geometry::Rect;
use crate::ids::SourceId;
use crate::media::{Item, SAMPLE_RATE};
use crate::perceive::face::{CutDetector, Thumbnail};
use crate::time::Timestamp;

/// Steps of loudness and movement, seconds, and samples of sound in one.
const STEP_SECS: f64 = 0.01;
const STEP: usize = 160;
/// Offsets that are tried, seconds either way.
const FARTHEST_SECS: f64 = 2.0;
/// What varies more slowly than this tells nothing, seconds.
const SLOW_SECS: f64 = 1.0;
/// Around the best offset others are as good, seconds.
const NEAR_SECS: f64 = 0.3;
/// Parts of the recording that are to agree, and how well, seconds.
const PARTS: usize = 4;
const AGREE_SECS: f64 = 0.1;
/// A clap is louder than the half second before it by so much, dB.
const CLAP_DB: f32 = 25.0;
/// A sudden change is more than so many times the usual one, and than this of 0–255.
const SUDDEN: f32 = 8.0;
const LEAST_CHANGE: f32 = 6.0;
/// Events closer together are one, seconds.
const EVENT_GAP_SECS: f64 = 0.4;
/// Faces are looked for this often, seconds.
const LOOK_SECS: f64 = 0.2;
/// More is not listened to, seconds.
const MOST_SECS: f64 = 180.0;

/// How an offset was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Sharp sounds and sudden changes of the picture.
    Claps,
    /// Mouths and loudness.
    Speech,
}

/// `calibrate av-sync`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AvSync {
    /// By how much the sound comes later; negative: earlier. Seconds.
    pub offset_secs: f64,
    /// 0: a guess; 1: sure.
    pub confidence: f64,
    /// How it was found.
    pub method: Method,
    /// Claps that were paired, or 0.
    pub events: usize,
    /// Correlation at that offset, [-1, 1]; 1 for claps.
    pub correlation: f64,
    /// Seconds of recording that were looked at.
    pub secs: f64,
}

/// Movement over time: one face's mouth, or the whole picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Movement {
    /// Seconds from the start and change per picture, 0–255, in time order.
    pub steps: Vec<(f64, f32)>,
}

/// Estimates the offset of a recording with pictures and sound.
///
/// # Errors
/// When it cannot be played, or pictures or sound are missing or too short.
pub fn av_sync(config: &Config, path: &Path) -> Result<AvSync, BenchError> {
    let too_little =
        |reason: &str| BenchError::TooLittle { path: path.to_owned(), reason: reason.to_owned() };
    let options = ReplayOptions {
        start_time: Some(Timestamp::EPOCH),
        duration_secs: Some(MOST_SECS),
        ..ReplayOptions::default()
    };
    let recording = Recording::open(path, &options)?;
    let (Some(camera), Some(microphone)) =
        (recording.cameras().first(), recording.microphones().first())
    else {
        return Err(too_little("it wants pictures and sound in one recording"));
    };
    let mut watcher = Watcher::new(config)?;
    let mut sound: Vec<f32> = Vec::new();
    let mut playback = recording.play()?;
    while let Some(item) = playback.next()? {
        let secs = item.at().secs_since(Timestamp::EPOCH);
        match item {
            Item::Frame(frame) if frame.source == *camera => {
                watcher.see(secs, &to_rgb(&frame)?)?;
            }
            Item::Block(block) if block.source == *microphone => {
                let at = (secs * f64::from(SAMPLE_RATE)).round().max(0.0) as usize;
                sound.resize(at, 0.0);
                sound.extend_from_slice(&block.samples);
            }
            _ => {}
        }
    }
    let loudness = loudness(&sound);
    estimate(&watcher.whole, &watcher.mouths, &loudness).ok_or_else(|| {
        too_little("it wants 5 s of sound and pictures in which somebody speaks in view, or claps")
    })
}

/// The offset by claps where there are any, else by the movement (mouths, or the whole picture) that fits best;
/// `None` when there is too little of anything. `loudness` in dB, every 10 ms.
#[must_use]
pub fn estimate(whole: &Movement, mouths: &[Movement], loudness: &[f32]) -> Option<AvSync> {
    let secs = loudness.len() as f64 * STEP_SECS;
    if secs < 5.0 || whole.steps.len() < 25 {
        return None;
    }
    if let Some(found) = by_claps(whole, loudness, secs) {
        return Some(found);
    }
    let whole = std::slice::from_ref(whole);
    let candidates = if mouths.is_empty() { whole } else { mouths };
    candidates
        .iter()
        .filter_map(|movement| by_speech(movement, loudness, secs))
        .max_by(|a, b| a.confidence.total_cmp(&b.confidence))
}

/// Loudness every 10 ms, dB; nothing is quieter than -60.
fn loudness(sound: &[f32]) -> Vec<f32> {
    let power = |step: &[f32]| step.iter().map(|v| v * v).sum::<f32>() / step.len().max(1) as f32;
    sound.chunks(STEP).map(|step| (10.0 * power(step).log10()).max(-60.0)).collect()
}

// --- claps

fn by_claps(whole: &Movement, loudness: &[f32], secs: f64) -> Option<AvSync> {
    let (claps, changes) = (claps(loudness), changes(whole));
    let frame = frame_secs(whole)?;
    let mut lags: Vec<f64> = claps
        .iter()
        .flat_map(|clap| changes.iter().map(move |change| clap - change))
        .filter(|lag| lag.abs() <= FARTHEST_SECS)
        .collect();
    lags.sort_by(f64::total_cmp);
    let most = claps.len().max(changes.len());
    // The most lags within a picture's length; of several such places the nearest to 0.
    let mut best: Option<(usize, f64)> = None;
    for (index, first) in lags.iter().enumerate() {
        let group: Vec<f64> =
            lags[index..].iter().take_while(|lag| **lag - first <= 1.2 * frame).copied().collect();
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        let better = best.is_none_or(|(count, lag)| {
            group.len() > count || group.len() == count && mean.abs() < lag.abs()
        });
        if better {
            best = Some((group.len(), mean));
        }
    }
    let (events, offset_secs) = best.filter(|(events, _)| *events >= 3 && 2 * events > most)?;
    let enough = (events as f64 / 5.0).min(1.0);
    let confidence = enough * (events as f64 / most as f64).min(1.0);
    Some(AvSync { offset_secs, confidence, method: Method::Claps, events, correlation: 1.0, secs })
}

/// Seconds at which something is suddenly loud.
fn claps(loudness: &[f32]) -> Vec<f64> {
    let before = (0.5 / STEP_SECS) as usize;
    let mut found: Vec<f64> = Vec::new();
    for at in before..loudness.len() {
        let mut usual = loudness[at - before..at].to_vec();
        usual.sort_by(f32::total_cmp);
        let sharp = loudness[at] - usual[usual.len() / 2] >= CLAP_DB;
        let at = at as f64 * STEP_SECS;
        if sharp && found.last().is_none_or(|last| at - last > EVENT_GAP_SECS) {
            found.push(at);
        }
    }
    found
}

/// Seconds at which the picture suddenly changes.
fn changes(whole: &Movement) -> Vec<f64> {
    let mut usual: Vec<f32> = whole.steps.iter().map(|step| step.1).collect();
    usual.sort_by(f32::total_cmp);
    let usual = usual.get(usual.len() / 2).copied().unwrap_or(0.0);
    let mut found: Vec<f64> = Vec::new();
    for (at, change) in &whole.steps {
        let sudden = *change > LEAST_CHANGE && *change > SUDDEN * usual;
        if sudden && found.last().is_none_or(|last| at - last > EVENT_GAP_SECS) {
            found.push(*at);
        }
    }
    found
}

/// The usual time from picture to picture.
fn frame_secs(whole: &Movement) -> Option<f64> {
    let mut steps: Vec<f64> = whole.steps.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().filter(|secs| *secs > 0.0)
}

// --- speech

fn by_speech(movement: &Movement, loudness: &[f32], secs: f64) -> Option<AvSync> {
    let (first, last) = (movement.steps.first()?.0, movement.steps.last()?.0);
    if last - first < 4.0 {
        return None;
    }
    let moved = high_passed(&resampled(movement, loudness.len()));
    let loud = high_passed(loudness);
    let seen = ((first / STEP_SECS) as usize, ((last / STEP_SECS) as usize).min(loud.len()));
    let curve = curve(&moved, &loud, seen);
    let (best, correlation) = peak(&curve)?;
    let offset_secs = lag_of(best);
    let far: Vec<f64> = curve
        .iter()
        .enumerate()
        .filter(|(index, _)| (lag_of(*index as f64) - offset_secs).abs() > NEAR_SECS)
        .map(|(_, value)| *value)
        .collect();
    let mean = far.iter().sum::<f64>() / far.len().max(1) as f64;
    let spread =
        (far.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / far.len().max(1) as f64).sqrt();
    let stands_out = (correlation - mean) / spread.max(1e-9);
    // The recording's parts, each by itself, must say the same.
    let length = (seen.1 - seen.0) / PARTS;
    let agreeing = (0..PARTS)
        .filter(|part| {
            let from = seen.0 + part * length;
            let part = self::curve(&moved, &loud, (from, from + length));
            let near = |(best, _): (f64, f64)| (lag_of(best) - offset_secs).abs() <= AGREE_SECS;
            peak(&part).is_some_and(near)
        })
        .count();
    let clear = ((stands_out - 2.0) / 3.0).clamp(0.0, 1.0);
    let confidence = clear * agreeing as f64 / PARTS as f64;
    Some(AvSync { offset_secs, confidence, method: Method::Speech, events: 0, correlation, secs })
}

/// Movement every 10 ms, linear between pictures, 0 where none were.
fn resampled(movement: &Movement, length: usize) -> Vec<f32> {
    let steps = &movement.steps;
    let mut next = 0;
    (0..length)
        .map(|index| {
            let at = index as f64 * STEP_SECS;
            while next < steps.len() && steps[next].0 < at {
                next += 1;
            }
            match (next.checked_sub(1).and_then(|before| steps.get(before)), steps.get(next)) {
                (Some(a), Some(b)) if b.0 - a.0 < 0.5 => {
                    let share = ((at - a.0) / (b.0 - a.0).max(1e-9)) as f32;
                    a.1 + share * (b.1 - a.1)
                }
                _ => 0.0,
            }
        })
        .collect()
}

/// Smoothed over a picture's length, what varies slowly taken away.
fn high_passed(values: &[f32]) -> Vec<f64> {
    let fast = mean_around(values, 2);
    let slow = mean_around(values, (0.5 * SLOW_SECS / STEP_SECS) as usize);
    fast.iter().zip(slow).map(|(fast, slow)| fast - slow).collect()
}

/// Mean over `reach` values either way.
fn mean_around(values: &[f32], reach: usize) -> Vec<f64> {
    let mut sums = vec![0.0_f64];
    for value in values {
        sums.push(sums[sums.len() - 1] + f64::from(*value));
    }
    (0..values.len())
        .map(|index| {
            let (from, to) = (index.saturating_sub(reach), (index + reach + 1).min(values.len()));
            (sums[to] - sums[from]) / (to - from) as f64
        })
        .collect()
}

fn lag_of(index: f64) -> f64 {
    index * STEP_SECS - FARTHEST_SECS
}

/// Correlation of `moved` within `seen` with the loudness that comes later by each offset.
fn curve(moved: &[f64], loud: &[f64], seen: (usize, usize)) -> Vec<f64> {
    let farthest = (FARTHEST_SECS / STEP_SECS) as isize;
    (-farthest..=farthest)
        .map(|lag| {
            let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
            for (index, x) in moved.iter().enumerate().take(seen.1).skip(seen.0) {
                let Some(y) = index.checked_add_signed(lag).and_then(|at| loud.get(at)) else {
                    continue;
                };
                (xy, xx, yy) = (xy + x * y, xx + x * x, yy + y * y);
            }
            let scale = (xx * yy).sqrt();
            if scale > 0.0 { xy / scale } else { 0.0 }
        })
        .collect()
}

/// The greatest value and its place, between the steps by a parabola.
fn peak(curve: &[f64]) -> Option<(f64, f64)> {
    let (at, value) = curve.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if value <= 0.0 {
        return None;
    }
    let (Some(before), Some(after)) =
        (at.checked_sub(1).and_then(|before| curve.get(before)), curve.get(at + 1))
    else {
        return Some((at as f64, value));
    };
    let bend = before - 2.0 * value + after;
    let shift = if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 };
    Some((at as f64 + shift, value))
}

// --- pictures

/// Cells of the small pictures that are compared.
const CELLS: (u32, u32) = (24, 12);
/// Overlap from which a face is the one of before.
const SAME_IOU: f32 = 0.4;

/// Follows mouths and the whole picture.
struct Watcher {
    analyser: Option<crate::perceive::face::FaceAnalyser>,
    cuts: CutDetector,
    before: Option<(f64, RgbImage)>,
    looked: f64,
    /// A face's box and its index into `mouths`.
    faces: Vec<(Rect, usize)>,
    whole: Movement,
    mouths: Vec<Movement>,
}

impl Watcher {
    fn new(config: &Config) -> Result<Self, BenchError> {
        let set = PerceiverSet::choose(config, &catalogue(config)?)?;
        // No face is good enough to be embedded: only its box is wanted.
        let settings = FacePerception { min_quality: 2.0, ..config.face.clone() };
        Ok(Self {
            analyser: set.face_analyser(&settings)?,
            cuts: CutDetector::default(),
            before: None,
            looked: f64::NEG_INFINITY,
            faces: Vec::new(),
            whole: Movement::default(),
            mouths: Vec::new(),
        })
    }

    fn see(&mut self, secs: f64, picture: &RgbImage) -> Result<(), BenchError> {
        let cut = self.cuts.step(Thumbnail::of(picture));
        let whole = Rect { x: 0.0, y: 0.0, w: picture.width() as f32, h: picture.height() as f32 };
        if let Some((earlier, before)) =
            self.before.take().filter(|(_, p)| p.dimensions() == picture.dimensions())
        {
            let at = 0.5 * (earlier + secs);
            self.whole.steps.push((at, change(&before, picture, whole)));
            for (face, index) in self.faces.iter().filter(|_| !cut) {
                let part = |top: f32, height: f32| Rect {
                    x: face.x + 0.15 * face.w,
                    y: face.y + top * face.h,
                    w: 0.7 * face.w,
                    h: height * face.h,
                };
                // A head that moves moves its brow as well.
                let mouth = change(&before, picture, part(0.6, 0.4));
                let brow = change(&before, picture, part(0.05, 0.35));
                self.mouths[*index].steps.push((at, (mouth - 0.7 * brow).max(0.0)));
            }
        }
        if cut {
            self.faces.clear();
        }
        if cut || secs - self.looked >= LOOK_SECS {
            self.looked = secs;
            self.look(picture)?;
        }
        self.before = Some((secs, picture.clone()));
        Ok(())
    }

    fn look(&mut self, picture: &RgbImage) -> Result<(), BenchError> {
        let Some(analyser) = &mut self.analyser else { return Ok(()) };
        let found = analyser.analyse(&SourceId::new("camera"), Timestamp::EPOCH, picture)?;
        let mut faces = Vec::new();
        for face in found.faces.iter().filter(|face| face.score >= 0.6) {
            let same = self.faces.iter().find(|(bbox, _)| bbox.iou(face.bbox) >= SAME_IOU);
            let index = same.map_or(self.mouths.len(), |(_, index)| *index);
            if index == self.mouths.len() {
                self.mouths.push(Movement::default());
            }
            faces.push((face.bbox, index));
        }
        self.faces = faces;
        Ok(())
    }
}

/// Mean difference of two pictures within a box, luma 0–255, in coarse cells.
fn change(a: &RgbImage, b: &RgbImage, within: Rect) -> f32 {
    let within = within.clamped(a.width() as f32, a.height() as f32);
    if within.w < CELLS.0 as f32 * 0.25 || within.h < CELLS.1 as f32 * 0.25 {
        return 0.0;
    }
    let cell = |picture: &RgbImage, column: u32, row: u32| {
        let edge = |from: f32, length: f32, index: u32, count: u32, most: u32| {
            ((from + length * index as f32 / count as f32) as u32).min(most)
        };
        let (w, h) = picture.dimensions();
        let (x0, x1) = (
            edge(within.x, within.w, column, CELLS.0, w - 1),
            edge(within.x, within.w, column + 1, CELLS.0, w),
        );
        let (y0, y1) = (
            edge(within.y, within.h, row, CELLS.1, h - 1),
            edge(within.y, within.h, row + 1, CELLS.1, h),
        );
        let (mut sum, mut count) = (0_u32, 0_u32);
        for y in y0..y1.max(y0 + 1) {
            for x in x0..x1.max(x0 + 1) {
                let [r, g, b] = picture.get_pixel(x, y).0;
                sum += (77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b)) >> 8;
                count += 1;
            }
        }
        sum as f32 / count as f32
    };
    let mut sum = 0.0;
    for row in 0..CELLS.1 {
        for column in 0..CELLS.0 {
            sum += (cell(a, column, row) - cell(b, column, row)).abs();
        }
    }
    sum / (CELLS.0 * CELLS.1) as f32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bench::random::SplitMix64;

    /// Syllables: bursts of movement, and of loudness `offset` later; both with noise of their own.
    fn speech(offset: f64, noise: f32, seed: u64) -> (Movement, Vec<f32>) {
        let mut random = SplitMix64::new(seed);
        let mut syllables = Vec::new();
        let mut at = 0.5;
        while at < 40.0 {
            syllables.push((at, 0.06 + 0.1 * random.below(100) as f64 / 100.0));
            at += 0.15 + 0.35 * random.below(100) as f64 / 100.0;
            if random.below(8) == 0 {
                at += 1.0;
            }
        }
        let strength = |t: f64| {
            let of = |(at, width): &(f64, f64)| (-((t - at) / width).powi(2)).exp();
            syllables.iter().map(of).sum::<f64>() as f32
        };
        let steps = (0..1000)
            .map(|frame| {
                let at = f64::from(frame) / 25.0;
                (at, (4.0 * strength(at) + noise * random.gaussian()).max(0.0))
            })
            .collect();
        let loudness = (0..4000)
            .map(|step| {
                let at = f64::from(step) * STEP_SECS - offset;
                -55.0 + 30.0 * strength(at).min(1.0) + 5.0 * noise * random.gaussian()
            })
            .collect();
        (Movement { steps }, loudness)
    }

    #[test]
    fn an_offset_of_speech_is_found_and_noise_is_not_believed() {
        for (offset, noise) in [(0.0, 0.3), (0.24, 0.5), (-0.4, 0.5), (1.1, 0.3)] {
            let (mouth, loudness) = speech(offset, noise, 5);
            let found = estimate(&mouth, std::slice::from_ref(&mouth), &loudness).unwrap();
            assert_eq!(found.method, Method::Speech);
            assert!((found.offset_secs - offset).abs() < 0.03, "{offset}: {found:?}");
            assert!(found.confidence > 0.7, "{found:?}");
        }
        // somebody else's mouth: nothing fits
        let (mouth, _) = speech(0.0, 0.5, 5);
        let (_, loudness) = speech(0.0, 0.5, 6);
        let found = estimate(&mouth, &[], &loudness).unwrap();
        assert!(found.confidence < 0.4, "{found:?}");
        // of two faces the one that fits counts
        let (speaker, loudness) = speech(0.3, 0.4, 9);
        let (silent, _) = speech(0.0, 0.4, 10);
        let found = estimate(&silent, &[silent.clone(), speaker], &loudness).unwrap();
        assert!((found.offset_secs - 0.3).abs() < 0.03 && found.confidence > 0.7, "{found:?}");
    }

    #[test]
    fn claps_are_paired_with_changes_of_the_picture() {
        let mut random = SplitMix64::new(1);
        let events = [1.3, 2.9, 4.1, 6.6, 7.9, 9.0];
        let mut whole = Movement::default();
        for frame in 0..300 {
            let at = f64::from(frame) / 30.0;
            let sudden = events.iter().any(|event| (0.0..1.0 / 30.0).contains(&(at - event)));
            let usual = 0.8 + 0.2 * random.gaussian();
            whole.steps.push((at, if sudden { 40.0 } else { usual.abs() }));
        }
        let loudness: Vec<f32> = (0..1000)
            .map(|step| {
                let at = f64::from(step) * STEP_SECS - 0.18;
                let loud = events.iter().any(|event| (0.0..0.05).contains(&(at - event)));
                (if loud { -12.0 } else { -52.0 }) + random.gaussian()
            })
            .collect();
        let found = estimate(&whole, &[], &loudness).unwrap();
        assert_eq!((found.method, found.events), (Method::Claps, 6));
        assert!((found.offset_secs - 0.165).abs() < 0.025, "{found:?}");
        assert!(found.confidence > 0.9);
        assert_eq!(estimate(&whole, &[], &loudness[..400]), None, "too short");
    }

    #[test]
    fn a_change_is_measured_within_its_box() {
        let grey = RgbImage::from_pixel(64, 48, image::Rgb([100; 3]));
        let mut other = grey.clone();
        for y in 30..40 {
            for x in 20..44 {
                other.put_pixel(x, y, image::Rgb([140; 3]));
            }
        }
        let of = |x, y, w, h| change(&grey, &other, Rect { x, y, w, h });
        assert_eq!(of(20.0, 30.0, 24.0, 10.0), 40.0);
        assert_eq!(of(0.0, 0.0, 24.0, 12.0), 0.0);
        assert_eq!(of(60.0, 40.0, 2.0, 2.0), 0.0, "too small");
        let _ = of(-20.0, -5.0, 200.0, 200.0);
    }
}
