//! Who speaks over the robot's own voice.
//!
//! When the robot spoke is known (it tells so), not what of a turn is its voice. Three things say that: outside of its
//! speech anybody who is heard is somebody, unless the voice there is the one inside; inside, a second voice is somebody,
//! as speaker segmentation hears it; the rest is the robot's. Of two voices known to be possible the second needs less
//! certainty than where any number may speak: [`SECOND`] was set on ten mixtures of synthesised robots in a room with
//! readers at equal level, of which it finds nine, and on the same robots alone, where it finds nobody. Of ten others it
//! finds nine as well, but takes robots that speak with a formant synthesiser (espeak-ng) for two in most of their
//! sentences: only their words tell that it is theirs (benches/LEDGER.md).

use std::ops::Range;

use super::overlap::runs;
use super::segmentation::SpeakerSegmentation;
use super::split::part;
use crate::perceive::voice::segment::turns::STEP;
use crate::perceive::voice::{RawTurn, SpeakerEmbedder, SplitSettings, VoiceError};
use crate::percept::Embedding;
use crate::time::Span;

/// Probability of the second likeliest speaker from which somebody speaks beside the robot, 0–1.
const SECOND: f32 = 0.3;
/// What segmentation looks at at once, and from one look to the next: steps of 10 ms. Of two looks the surer one counts.
const LOOK: (usize, usize) = (500, 250);
/// Pauses that are shorter belong to the speech around them, steps.
const PAUSE: usize = 40;
/// Shorter stretches are nobody: what a room and a sound card do at the ends of the robot's speech, steps.
const LEAST: usize = 40;

/// A turn's parts, in order of time.
#[derive(Debug, Default, PartialEq)]
pub struct Shares {
    /// The robot alone.
    pub own: Vec<RawTurn>,
    /// Somebody, with the robot silent.
    pub alone: Vec<RawTurn>,
    /// Somebody while the robot speaks.
    pub over: Vec<RawTurn>,
}

/// Tells the robot's share of a turn from others'.
pub struct Listener<'a> {
    /// Hears two voices at once; `None`: inside of the robot's speech nobody else is heard.
    pub network: Option<&'a mut dyn SpeakerSegmentation>,
    /// Tells whether the voice outside of the robot's speech is that inside; `None`: the longer part decides.
    pub voice: Option<&'a mut dyn SpeakerEmbedder>,
    /// Below which cosine two voices are surely two.
    pub unlike: f32,
    /// Shorter sound is not embedded, seconds of speech.
    pub min_embed_secs: f64,
    /// Where speech is.
    pub split: &'a SplitSettings,
}

/// Whose a step of 10 ms is.
#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Own,
    Alone,
    Over,
}

impl Listener<'_> {
    /// Parts a turn. `own`: when the robot spoke, with what a room adds.
    ///
    /// # Errors
    /// When a network cannot run.
    pub fn shares(&mut self, raw: &RawTurn, own: &[Span]) -> Result<Shares, VoiceError> {
        let steps = raw.activity.len();
        let is_inside = |step: usize| {
            let at = raw.span.start.plus_secs((step as f64 + 0.5) * 0.01);
            own.iter().any(|span| span.contains(at))
        };
        let inside: Vec<bool> = (0..steps).map(is_inside).collect();
        let second = match &mut self.network {
            Some(network) => second_voice(&raw.sound, &inside, &mut **network)?,
            None => vec![false; steps],
        };
        let mut whose = vec![Whose::Own; steps];
        for run in long(runs(inside.iter().map(|inside| !inside))) {
            if !self.is_robot(raw, &run, &inside, &second)? {
                whose[run].fill(Whose::Alone);
            }
        }
        for run in long(runs(second.iter().copied())) {
            whose[run].fill(Whose::Over);
        }
        let mut shares = Shares::default();
        let mut from = 0;
        while let Some(kind) = whose.get(from) {
            let until = (from..steps).find(|step| whose[*step] != *kind).unwrap_or(steps);
            let cut = part(raw, from..until, self.split);
            match kind {
                Whose::Own => shares.own.push(cut),
                Whose::Alone => shares.alone.push(cut),
                Whose::Over => shares.over.push(cut),
            }
            from = until;
        }
        // What is left between others of a turn's ends says nothing.
        shares.alone.retain(|part| part.activity.len() >= LEAST && part.speech_secs > 0.0);
        Ok(shares)
    }

    /// Whether what is heard outside of the robot's speech is the robot all the same, its times being told badly: the voice
    /// of both is one. Where that cannot be told, the most of the turn decides.
    fn is_robot(
        &mut self,
        raw: &RawTurn,
        outside: &Range<usize>,
        inside: &[bool],
        second: &[bool],
    ) -> Result<bool, VoiceError> {
        let alone: Vec<usize> = (0..inside.len()).filter(|n| inside[*n] && !second[*n]).collect();
        let there: Vec<usize> = outside.clone().collect();
        Ok(match (self.embedded(raw, &alone)?, self.embedded(raw, &there)?) {
            (Some(robot), Some(voice)) => {
                robot.cosine(&voice).is_some_and(|cosine| cosine >= self.unlike)
            }
            _ => 2 * alone.len() > inside.len(),
        })
    }

    /// The voice of these steps; `None` where they hold too little speech.
    fn embedded(
        &mut self,
        raw: &RawTurn,
        steps: &[usize],
    ) -> Result<Option<Embedding>, VoiceError> {
        let Some(voice) = &mut self.voice else { return Ok(None) };
        let speaks = |step: &&usize| raw.activity[**step] >= self.split.threshold;
        let speech = steps.iter().filter(speaks).count() as f64 * 0.01;
        if speech < self.min_embed_secs.max(voice.min_secs()) {
            return Ok(None);
        }
        let piece = |step: &usize| raw.sound.get(step * STEP..(step + 1) * STEP);
        let sound: Vec<f32> =
            steps.iter().filter(|step| speaks(step)).filter_map(piece).flatten().copied().collect();
        Ok(Some(voice.embed(&sound)?))
    }
}

/// Where somebody is heard beside the robot, for each step of 10 ms. Only where the robot speaks is looked at: the network
/// tells two voices from each other best where both are there.
fn second_voice(
    sound: &[f32],
    inside: &[bool],
    network: &mut dyn SpeakerSegmentation,
) -> Result<Vec<bool>, VoiceError> {
    let mut second = vec![0.0_f32; inside.len()];
    for own in runs(inside.iter().copied()) {
        let (length, hop) = LOOK;
        let mut start = own.start;
        loop {
            let from = start.min(own.end.saturating_sub(length)).max(own.start);
            let look = from..(from + length).min(own.end);
            let heard = sound.get(look.start * STEP..look.end * STEP).unwrap_or_default();
            for (step, row) in look.zip(network.activity(heard)?) {
                let mut sorted = row;
                sorted.sort_by(|a, b| b.total_cmp(a));
                second[step] = second[step].max(sorted[1]);
            }
            if start + length >= own.end {
                break;
            }
            start += hop;
        }
    }
    Ok(second.into_iter().map(|p| p > SECOND).collect())
}

/// Stretches without short pauses and without what is too short.
fn long(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.dedup_by(|later, earlier| {
        let near = later.start - earlier.end < PAUSE;
        if near {
            earlier.end = later.end;
        }
        near
    });
    found.retain(|run| run.len() >= LEAST);
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
