//! Parts a turn in which one speaker follows another without a pause that would have ended it.
//!
//! Places to part are the short pauses inside the turn and the places where the voice before and the
//! voice after differ most. A place is taken only when the embeddings of what lies before and after it
//! differ clearly: a turn wrongly parted costs little text, but a wrong voice costs trust, and short
//! parts have poor voices. So in doubt a turn stays whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::media::SAMPLE_RATE;
use crate::models::thresholds::Changes;
use crate::perceive::voice::embed::cache::{HOP_SECS, WINDOW_SECS};
use crate::perceive::voice::segment::turns::STEP;
use crate::perceive::voice::{RawTurn, SpeakerEmbedder, VoiceError};
use crate::percept::Embedding;

/// When a turn is parted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitSettings {
    /// Each part has at least this much speech, seconds.
    pub min_part_secs: f64,
    /// At most this much on either side of a place is compared, seconds.
    pub context_secs: f64,
    /// Length of the windows that look for a change of voice, seconds.
    pub window_secs: f64,
    /// From one such window to the next, seconds.
    pub step_secs: f64,
    /// Windows before and after a place without a pause must differ by a cosine below this.
    pub peak_cosine: f32,
    /// Parts before and after a place without a pause must differ by a cosine below this.
    pub change_cosine: f32,
    /// Parts before and after a pause must differ by a cosine below this.
    pub pause_cosine: f32,
    /// Shorter sides make the cosine smaller by themselves: it is raised by this much per missing
    /// second of the shorter side, up to two seconds.
    pub short_penalty: f32,
    /// Speech probability below which a step counts as pause.
    pub pause_activity: f32,
    /// Shortest pause that is a place, seconds.
    pub min_pause_secs: f64,
    /// Probability from which sound counts as speech in the parts (`voice.threshold`).
    pub threshold: f32,
}

impl SplitSettings {
    /// With the cosines of the network that looks for changes.
    #[must_use]
    pub fn of(network: &Changes, threshold: f32) -> Self {
        Self {
            peak_cosine: network.peak,
            change_cosine: network.change,
            pause_cosine: network.pause,
            short_penalty: network.short_penalty,
            threshold,
            ..Self::default()
        }
    }
}

impl Default for SplitSettings {
    /// The cosines are GE2E's.
    fn default() -> Self {
        Self {
            min_part_secs: 0.7,
            context_secs: 3.0,
            window_secs: WINDOW_SECS,
            step_secs: HOP_SECS,
            peak_cosine: 0.6,
            change_cosine: 0.55,
            pause_cosine: 0.65,
            short_penalty: 0.05,
            pause_activity: 0.35,
            min_pause_secs: 0.1,
            threshold: 0.5,
        }
    }
}

/// A place at which the turn may be parted, in steps of 10 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    at: usize,
    pause: bool,
}

/// The steps before and after a place, and the seconds of speech of the side that has less.
struct Pair {
    before: Range<usize>,
    after: Range<usize>,
    shorter: f64,
}

/// Parts `raw` where the speaker changes; gives it back alone where nobody follows.
///
/// `embedder` should be quick on windows: one that [hears them at once](SpeakerEmbedder::hears_parts_at_once), or GE2E,
/// whichever network embeds the whole turns.
///
/// # Errors
/// What the embedder gives.
pub fn split_by_speaker(
    raw: RawTurn,
    embedder: &mut dyn SpeakerEmbedder,
    settings: &SplitSettings,
) -> Result<Vec<RawTurn>, VoiceError> {
    if raw.speech_secs < 2.0 * settings.min_part_secs {
        return Ok(vec![raw]);
    }
    let windows = Windows::new(&raw, embedder, settings)?;
    let places = places(&raw, &windows, settings);
    let mut sides = Sides { raw: &raw, windows, embedder, settings, heard: BTreeMap::new() };
    let mut cuts = Vec::new();
    sides.cut(0..raw.activity.len(), &places, &mut cuts)?;
    if cuts.is_empty() {
        return Ok(vec![raw]);
    }
    cuts.sort_unstable();
    let ends = cuts.iter().copied().chain([raw.activity.len()]);
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    Ok(starts.zip(ends).map(|(start, end)| part(&raw, start..end, settings)).collect())
}

/// What slides over the whole turn.
struct Windows {
    /// Steps of 10 ms of each, and from one to the next.
    length: usize,
    hop: usize,
    vectors: Vec<Embedding>,
}

impl Windows {
    fn new(
        raw: &RawTurn,
        embedder: &mut dyn SpeakerEmbedder,
        settings: &SplitSettings,
    ) -> Result<Self, VoiceError> {
        let (length, hop) = (steps(settings.window_secs), steps(settings.step_secs).max(1));
        let vectors = embedder.embed_windows(&raw.sound, length * STEP, hop * STEP)?;
        Ok(Self { length, hop, vectors })
    }

    /// The direction of those inside `[start, end)`; `None` where they are too few to speak for it.
    fn inside(&self, (start, end): (usize, usize)) -> Option<Embedding> {
        let first = start.div_ceil(self.hop);
        let behind = (end.checked_sub(self.length)? / self.hop + 1).min(self.vectors.len());
        let inside = self.vectors.get(first..behind)?;
        let [one, _, ..] = inside else { return None };
        let mut sum = vec![0.0; one.values.len()];
        for window in inside {
            sum.iter_mut().zip(&window.values).for_each(|(sum, value)| *sum += value);
        }
        Some(Embedding::normalised(sum, one.model))
    }
}

/// What lies before and after places; each side has its vector once.
struct Sides<'a> {
    raw: &'a RawTurn,
    windows: Windows,
    embedder: &'a mut dyn SpeakerEmbedder,
    settings: &'a SplitSettings,
    /// By its first step and the step after its last.
    heard: BTreeMap<(usize, usize), Embedding>,
}

impl Sides<'_> {
    /// Takes the clearest place in `range`, then looks on both sides of it.
    fn cut(
        &mut self,
        range: Range<usize>,
        places: &[Place],
        cuts: &mut Vec<usize>,
    ) -> Result<(), VoiceError> {
        let inside = places.iter().filter(|place| range.contains(&place.at));
        let pairs: Vec<(&Place, Pair)> = inside
            .filter_map(|place| self.pair(&range, place.at).map(|pair| (place, pair)))
            .collect();
        self.hear(pairs.iter().flat_map(|(_, pair)| [&pair.before, &pair.after]))?;
        let mut best: Option<(f32, usize)> = None;
        for (place, pair) in &pairs {
            let limit =
                if place.pause { self.settings.pause_cosine } else { self.settings.change_cosine };
            let Some(cosine) = self.likeness(pair) else { continue };
            if cosine < limit && best.is_none_or(|(least, _)| cosine - limit < least) {
                best = Some((cosine - limit, place.at));
            }
        }
        if let Some((_, at)) = best {
            cuts.push(at);
            self.cut(range.start..at, places, cuts)?;
            self.cut(at..range.end, places, cuts)?;
        }
        Ok(())
    }

    /// What is compared at a place; `None` with too little speech on a side.
    fn pair(&self, range: &Range<usize>, at: usize) -> Option<Pair> {
        let context = steps(self.settings.context_secs);
        let before = range.start.max(at.saturating_sub(context))..at;
        let after = at..range.end.min(at + context);
        let spoken = |side: &Range<usize>| {
            let activity = self.raw.activity.get(side.clone()).unwrap_or_default();
            activity.iter().filter(|p| **p >= self.settings.threshold).count() as f64 * 0.01
        };
        let shorter = spoken(&before).min(spoken(&after));
        (shorter >= self.settings.min_part_secs).then_some(Pair { before, after, shorter })
    }

    /// Gives the sides their vectors: of the windows inside where there are some, else they are embedded, together.
    fn hear<'s>(
        &mut self,
        sides: impl Iterator<Item = &'s Range<usize>>,
    ) -> Result<(), VoiceError> {
        let mut new = BTreeSet::new();
        for side in sides.map(|side| (side.start, side.end)) {
            if self.heard.contains_key(&side) {
                continue;
            }
            match self.windows.inside(side) {
                Some(vector) => {
                    self.heard.insert(side, vector);
                }
                None => {
                    new.insert(side);
                }
            }
        }
        let samples = |step: usize| (step * STEP).min(self.raw.sound.len());
        let parts: Vec<Range<usize>> =
            new.iter().map(|(start, end)| samples(*start)..samples(*end)).collect();
        let vectors = self.embedder.embed_parts(&self.raw.sound, &parts)?;
        self.heard.extend(new.into_iter().zip(vectors));
        Ok(())
    }

    /// How alike the voices before and after a place are.
    fn likeness(&self, pair: &Pair) -> Option<f32> {
        let vector = |side: &Range<usize>| self.heard.get(&(side.start, side.end));
        let cosine = vector(&pair.before)?.cosine(vector(&pair.after)?)?;
        let missing = (2.0 - pair.shorter).clamp(0.0, 2.0) as f32;
        Some(cosine + self.settings.short_penalty * missing)
    }
}

/// Pauses, and where windows before and after differ most.
fn places(raw: &RawTurn, windows: &Windows, settings: &SplitSettings) -> Vec<Place> {
    let loudness = loudness(raw);
    let quietest = |range: Range<usize>| {
        let range = range.start..range.end.min(loudness.len());
        range.min_by(|a, b| loudness[*a].total_cmp(&loudness[*b]).then(a.cmp(b)))
    };
    let mut found = Vec::new();
    let mut first = None;
    for (step, activity) in raw.activity.iter().chain([&1.0]).enumerate() {
        match (*activity < settings.pause_activity, first) {
            (true, None) => first = Some(step),
            (false, Some(start)) => {
                if step - start >= steps(settings.min_pause_secs) {
                    found.extend(quietest(start..step).map(|at| Place { at, pause: true }));
                }
                first = None;
            }
            _ => {}
        }
    }
    let apart = windows.length / windows.hop;
    let cosines: Vec<f32> = windows
        .vectors
        .iter()
        .zip(windows.vectors.iter().skip(apart))
        .map(|(before, after)| before.cosine(after).unwrap_or(1.0))
        .collect();
    for (n, cosine) in cosines.iter().enumerate() {
        let lowest = cosines[n.saturating_sub(2)..(n + 3).min(cosines.len())]
            .iter()
            .all(|other| cosine <= other);
        let at = n * windows.hop + windows.length;
        let known = found.iter().any(|place| place.at.abs_diff(at) < steps(0.4));
        if *cosine < settings.peak_cosine && lowest && !known {
            let around = at.saturating_sub(steps(0.35))..at + steps(0.35);
            found.extend(quietest(around).map(|at| Place { at, pause: false }));
        }
    }
    found.sort_by_key(|place| place.at);
    found.dedup_by_key(|place| place.at);
    found
}

/// Power of each 10 ms, smoothed over 70 ms.
fn loudness(raw: &RawTurn) -> Vec<f64> {
    let power: Vec<f64> = raw
        .sound
        .chunks(STEP)
        .map(|step| step.iter().map(|v| f64::from(*v) * f64::from(*v)).sum())
        .collect();
    (0..power.len())
        .map(|n| power[n.saturating_sub(3)..(n + 4).min(power.len())].iter().sum())
        .collect()
}

/// These steps of 10 ms as a turn.
pub(in crate::perceive::voice) fn part(
    raw: &RawTurn,
    range: Range<usize>,
    settings: &SplitSettings,
) -> RawTurn {
    let start = raw.span.start.plus_secs(range.start as f64 * 0.01);
    let activity = raw.activity[range.clone()].to_vec();
    RawTurn::new(raw.source.clone(), start, sound(raw, range).into(), activity, settings.threshold)
}

fn sound(raw: &RawTurn, range: Range<usize>) -> &[f32] {
    let end = (range.end * STEP).min(raw.sound.len());
    raw.sound.get(range.start * STEP..end).unwrap_or_default()
}

fn steps(secs: f64) -> usize {
    (secs * f64::from(SAMPLE_RATE) / STEP as f64).round() as usize
}
