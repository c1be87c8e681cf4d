//! Two voices at once: cut out of their turns, and the second one heard as a turn of its own.
//!
//! Where speaker segmentation hears two speakers, their mixed sound tells neither's voice. But each of them mostly speaks
//! alone just before or after, in the same turn: the embedding of that is given to its share of the overlap
//! ([`Embedders::turns_of`]). Who never speaks alone in the turn is somebody who does in another one: the nearest whose
//! voice differs from the other speaker's ([`assign_overlap`], when the clip is sealed).
//!
//! Overlapped turns teach no gallery and found no voice (`identify`), since what they are is taken over from others.

use std::ops::Range;

use super::segmentation::Streams;
use super::split::part;
use crate::ids::TurnId;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::segment::turns::STEP;
use crate::perceive::voice::{
    RawTurn, SpeakerEmbedder, SplitSettings, VoiceError, split_by_speaker,
};
use crate::percept::{Embedding, SpeechTurn, Transcript};
use crate::time::{Span, Timestamp};

/// Shorter overlaps stay in their turn, steps of 10 ms.
const LEAST: usize = 30;
/// Overlaps with less between them are one, steps.
const GAP: usize = 10;
/// Shorter rests before, between or after overlaps go with them, steps.
const LEAST_REST: usize = 30;
/// A turn of which more is overlapped, in bits too short to be cut out, is overlapped as a whole.
const MOST_SHARE: f64 = 0.2;
/// One voice alone for less tells nothing of it, steps.
const LEAST_ALONE: usize = 20;
/// So much of a voice alone is embedded at most, seconds.
const MOST_ALONE_SECS: f64 = 5.0;

/// What makes turns of a raw one.
pub struct Embedders<'a> {
    /// Looks for changes of voice; `None`: `voice` does.
    pub finder: Option<&'a mut dyn SpeakerEmbedder>,
    /// Embeds turns; `None`: they have no voices.
    pub voice: Option<&'a mut dyn SpeakerEmbedder>,
    /// When a turn is parted.
    pub split: &'a SplitSettings,
    /// Shorter turns get no embedding of their own, seconds of speech.
    pub min_embed_secs: f64,
}

/// A part of a raw turn.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    steps: Range<usize>,
    /// Two speak at once: streams, who speaks more in the turn first.
    both: Option<[usize; 2]>,
}

impl Embedders<'_> {
    /// Parts a raw turn where the speaker changes and embeds each part.
    ///
    /// # Errors
    /// What the embedders give.
    pub fn turns(&mut self, raw: &RawTurn) -> Result<Vec<SpeechTurn>, VoiceError> {
        let parts = match (&mut self.finder, &mut self.voice) {
            (Some(finder), _) => split_by_speaker(raw.clone(), &mut **finder, self.split)?,
            (None, Some(voice)) => split_by_speaker(raw.clone(), &mut **voice, self.split)?,
            (None, None) => vec![raw.clone()],
        };
        let mut vectors = vec![None; parts.len()];
        if let Some(voice) = &mut self.voice {
            let own = |part: &RawTurn| part.has_voice(&**voice, self.min_embed_secs);
            let with: Vec<usize> = (0..parts.len()).filter(|n| own(&parts[*n])).collect();
            let sounds: Vec<&[f32]> = with.iter().map(|n| &*parts[*n].sound).collect();
            for (n, vector) in with.iter().zip(voice.embed_all(&sounds)?) {
                vectors[*n] = Some(vector);
            }
        }
        // The committer numbers turns once it knows their clip.
        let turn = |(part, vector): (RawTurn, _)| part.into_turn(TurnId::default(), vector);
        Ok(parts.into_iter().zip(vectors).map(turn).collect())
    }

    /// The same with what speaker segmentation heard: overlaps are turns of their own, with `separate` two at once, who
    /// speaks more in the raw turn first. The second has no embedding where its voice is never alone.
    ///
    /// # Errors
    /// What the embedders give.
    pub fn turns_of(
        &mut self,
        raw: &RawTurn,
        streams: &Streams,
        separate: bool,
    ) -> Result<Vec<SpeechTurn>, VoiceError> {
        let pieces = pieces(raw, streams);
        let cut = pieces.iter().any(|piece| piece.both.is_some());
        if !cut {
            let mut turns = self.turns(raw)?;
            for turn in &mut turns {
                turn.overlapped = is_mostly_overlapped(raw, turn.span, streams);
            }
            return Ok(turns);
        }
        let mut alone = Vec::with_capacity(streams.count());
        for stream in 0..streams.count() {
            alone.push(self.alone(raw, streams, stream)?);
        }
        let mut turns = Vec::new();
        for piece in pieces {
            let cut_out = part(raw, piece.steps.clone(), self.split);
            let Some([first, second]) = piece.both else {
                let mut found = self.turns(&cut_out)?;
                for turn in &mut found {
                    turn.overlapped = is_mostly_overlapped(raw, turn.span, streams);
                    if turn.embedding.is_none() {
                        let speaker = main_stream(streams, &steps_of(raw, turn.span));
                        turn.embedding = speaker.and_then(|stream| alone[stream].clone());
                    }
                }
                turns.append(&mut found);
                continue;
            };
            let mut turn = cut_out.into_turn(TurnId::default(), None);
            turn.overlapped = true;
            turn.embedding.clone_from(&alone[first]);
            if separate {
                let secs = streams.spoken(second, piece.steps) as f64 * 0.01;
                let mut other = turn.clone();
                other.speech_secs = secs.min(turn.speech_secs);
                other.embedding.clone_from(&alone[second]);
                // What is understood of the mixture is the first one's; once is enough.
                other.words = Some(Transcript::default());
                turns.extend([turn, other]);
            } else {
                turns.push(turn);
            }
        }
        Ok(turns)
    }

    /// The voice of a stream, from where it speaks alone; `None` where that is too short.
    fn alone(
        &mut self,
        raw: &RawTurn,
        streams: &Streams,
        stream: usize,
    ) -> Result<Option<Embedding>, VoiceError> {
        let Some(voice) = &mut self.voice else { return Ok(None) };
        let sound = sound_alone(raw, streams, stream, self.split.threshold);
        let secs = sound.len() as f64 / f64::from(SAMPLE_RATE);
        if secs < self.min_embed_secs.max(voice.min_secs()) {
            return Ok(None);
        }
        Ok(Some(voice.embed(&sound)?))
    }
}

/// Overlaps that are long enough, and what is between them, in order and without holes.
fn pieces(raw: &RawTurn, streams: &Streams) -> Vec<Piece> {
    let steps = raw.activity.len();
    let mut overlaps = runs((0..steps).map(|step| streams.voices_at(step) > 1));
    overlaps.dedup_by(|later, earlier| {
        let near = later.start - earlier.end < GAP;
        if near {
            earlier.end = later.end;
        }
        near
    });
    overlaps.retain(|overlap| overlap.len() >= LEAST);
    // What is too short to be a turn goes with the overlap beside it.
    for overlap in &mut overlaps {
        if overlap.start < LEAST_REST {
            overlap.start = 0;
        }
        if steps - overlap.end < LEAST_REST {
            overlap.end = steps;
        }
    }
    overlaps.dedup_by(|later, earlier| {
        let near = later.start.saturating_sub(earlier.end) < LEAST_REST;
        if near {
            earlier.end = later.end;
        }
        near
    });
    let mut found = Vec::new();
    let mut from = 0;
    for overlap in overlaps {
        if overlap.start > from {
            found.push(Piece { steps: from..overlap.start, both: None });
        }
        from = overlap.end;
        let both = loudest_two(streams, &overlap, steps);
        found.push(Piece { steps: overlap, both });
    }
    if from < steps {
        found.push(Piece { steps: from..steps, both: None });
    }
    found
}

/// The two streams that speak most in an overlap, the one that speaks more in the whole turn first.
fn loudest_two(streams: &Streams, overlap: &Range<usize>, steps: usize) -> Option<[usize; 2]> {
    let mut order: Vec<usize> = (0..streams.count()).collect();
    order.sort_by_key(|stream| {
        (std::cmp::Reverse(streams.spoken(*stream, overlap.clone())), *stream)
    });
    let [a, b] = *order.get(..2)? else { return None };
    if streams.spoken(b, overlap.clone()) == 0 {
        return None;
    }
    let whole = |stream| streams.spoken(stream, 0..steps);
    Some(if whole(b) > whole(a) { [b, a] } else { [a, b] })
}

/// Who speaks most in these steps.
fn main_stream(streams: &Streams, steps: &Range<usize>) -> Option<usize> {
    (0..streams.count())
        .map(|stream| (streams.spoken(stream, steps.clone()), stream))
        .filter(|(spoken, _)| *spoken > 0)
        .max_by_key(|(spoken, stream)| (*spoken, std::cmp::Reverse(*stream)))
        .map(|(_, stream)| stream)
}

/// Whether short overlaps make up much of a turn's speech.
fn is_mostly_overlapped(raw: &RawTurn, span: Span, streams: &Streams) -> bool {
    let steps = steps_of(raw, span);
    let both = steps.clone().filter(|step| streams.voices_at(*step) > 1).count();
    both as f64 > MOST_SHARE * steps.len().max(1) as f64
}

fn steps_of(raw: &RawTurn, span: Span) -> Range<usize> {
    let step = |at: Timestamp| (at.secs_since(raw.span.start) * 100.0).round().max(0.0) as usize;
    step(span.start)..step(span.end).min(raw.activity.len())
}

/// The sound of one voice alone, its longest stretches, in the order of time.
fn sound_alone(raw: &RawTurn, streams: &Streams, stream: usize, threshold: f32) -> Vec<f32> {
    let is_alone = |step: usize| {
        let mut at = streams.at(step);
        raw.activity.get(step).is_some_and(|p| *p >= threshold)
            && at.next() == Some(stream)
            && at.next().is_none()
    };
    let mut found = runs((0..raw.activity.len()).map(is_alone));
    found.retain(|run| run.len() >= LEAST_ALONE);
    found.sort_by_key(|run| (std::cmp::Reverse(run.len()), run.start));
    let mut left = (MOST_ALONE_SECS * 100.0) as usize;
    for run in &mut found {
        run.end = run.end.min(run.start + left);
        left -= run.len();
    }
    found.sort_by_key(|run| run.start);
    found
        .iter()
        .filter_map(|run| raw.sound.get(run.start * STEP..run.end * STEP))
        .flatten()
        .copied()
        .collect()
}

/// Runs of true.
pub(in crate::perceive::voice) fn runs(values: impl Iterator<Item = bool>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (step, value) in values.enumerate() {
        match found.last_mut() {
            _ if !value => {}
            Some(last) if last.end == step => last.end = step + 1,
            _ => found.push(step..step + 1),
        }
    }
    found
}

/// Parts the second turns of overlaps (which follow their first ones) from all others.
#[must_use]
pub fn split_overlapped_speakers(turns: Vec<SpeechTurn>) -> (Vec<SpeechTurn>, Vec<SpeechTurn>) {
    let (mut firsts, mut seconds): (Vec<SpeechTurn>, Vec<SpeechTurn>) = (Vec::new(), Vec::new());
    for turn in turns {
        let is_second = firsts
            .last()
            .is_some_and(|first| turn.overlapped && first.overlapped && first.span == turn.span);
        if is_second { seconds.push(turn) } else { firsts.push(turn) }
    }
    (firsts, seconds)
}

/// Puts the second turns of overlaps (of one microphone and clip) beside the others, each with a voice. One that is no other than
/// the first one's, or of which nothing is known, is left out.
///
/// Where the clip's voices were told apart by hearing it again ([`crate::perceive::voice::recluster`]), the second is the nearest other
/// of them. Else its voice is what it had alone in its turn, or that of the nearest turn which is clearly another than the
/// first one's: by a cosine below `unlike`.
#[must_use]
pub fn assign_overlap(
    firsts: Vec<SpeechTurn>,
    seconds: Vec<SpeechTurn>,
    unlike: f32,
) -> Vec<SpeechTurn> {
    if seconds.is_empty() && !firsts.iter().any(|turn| turn.overlapped) {
        return firsts;
    }
    let mut all = firsts;
    let known = all.len();
    for n in 0..known {
        if all[n].overlapped && all[n].embedding.is_none() && all[n].distinct.is_some() {
            let same = |turn: &SpeechTurn| turn.distinct == all[n].distinct;
            all[n].embedding = nearest(&all[..known], all[n].span, &same);
        }
    }
    for mut second in seconds {
        let common = |turn: &SpeechTurn| turn.span.overlap_secs(second.span);
        let first = (0..known)
            .filter(|n| common(&all[*n]) > 0.0)
            .max_by(|a, b| common(&all[*a]).total_cmp(&common(&all[*b])).then(b.cmp(a)));
        let Some(first) = first else { continue };
        let wanted = all[first].distinct.map(|number| {
            let is_other = |turn: &&SpeechTurn| {
                !turn.overlapped && turn.distinct.is_some_and(|other| other != number)
            };
            let far = |turn: &SpeechTurn| away(turn.span, second.span);
            let others = all[..known].iter().filter(is_other);
            let near = others.min_by(|a, b| far(a).total_cmp(&far(b)));
            near.and_then(|turn| turn.distinct).unwrap_or_else(|| u8::from(number == 0))
        });
        let other = |than: &Embedding, turn: &SpeechTurn| {
            let likeness = turn.embedding.as_ref().and_then(|own| own.cosine(than));
            likeness.is_some_and(|likeness| likeness < unlike)
        };
        if wanted.is_some() {
            second.distinct = wanted;
            if let Some(voice) =
                nearest(&all[..known], second.span, &|turn| turn.distinct == wanted)
            {
                second.embedding = Some(voice);
            }
        } else {
            match (all[first].embedding.clone(), &second.embedding) {
                (Some(mine), Some(own)) if !own.cosine(&mine).is_some_and(|c| c < unlike) => {
                    continue;
                }
                (Some(_), Some(_)) => {}
                (Some(mine), None) => {
                    second.embedding =
                        nearest(&all[..known], second.span, &|turn| other(&mine, turn));
                }
                (None, Some(own)) => {
                    let own = own.clone();
                    let span = all[first].span;
                    all[first].embedding = nearest(&all[..known], span, &|turn| other(&own, turn));
                }
                (None, None) => continue,
            }
        }
        if second.embedding.is_some() {
            all.push(second);
        }
    }
    // Each second after its first, as they came.
    all.sort_by_key(|turn| turn.span.start);
    all
}

/// The voice of the nearest turn of one voice that fits.
fn nearest(
    turns: &[SpeechTurn],
    to: Span,
    fits: &dyn Fn(&SpeechTurn) -> bool,
) -> Option<Embedding> {
    turns
        .iter()
        .filter(|turn| !turn.overlapped && turn.embedding.is_some() && fits(turn))
        .min_by(|a, b| away(a.span, to).total_cmp(&away(b.span, to)))
        .and_then(|turn| turn.embedding.clone())
}

/// Seconds between two spans; 0 where they touch.
fn away(a: Span, b: Span) -> f64 {
    a.start.secs_since(b.end).max(b.start.secs_since(a.end)).max(0.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::{ModelHash, SourceId};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// The vector leans by the mean level: speakers are levels here.
    struct ByLevel;

    fn vector(level: f32) -> Embedding {
        Embedding::normalised(vec![level, 1.0 - level], ModelHash([4; 32]))
    }

    impl SpeakerEmbedder for ByLevel {
        fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
            Ok(vector(sound.iter().sum::<f32>() / sound.len().max(1) as f32))
        }
        fn min_secs(&self) -> f64 {
            0.2
        }
        fn hash(&self) -> ModelHash {
            ModelHash([4; 32])
        }
        fn name(&self) -> &str {
            "level"
        }
    }

    /// `(level, speaks a, speaks b, steps)` each.
    fn heard(parts: &[(f32, bool, bool, usize)]) -> (RawTurn, Streams) {
        let (mut sound, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
        for (level, of_a, of_b, steps) in parts {
            sound.extend(vec![*level; steps * STEP]);
            a.extend(vec![*of_a; *steps]);
            b.extend(vec![*of_b; *steps]);
        }
        let activity = vec![0.9; a.len()];
        let source = SourceId::new("mic");
        let raw = RawTurn::new(source, Timestamp::EPOCH, Arc::from(sound), activity, 0.5);
        (raw, Streams::of(vec![a, b]))
    }

    fn parted(parts: &[(f32, bool, bool, usize)], separate: bool) -> Vec<SpeechTurn> {
        let (raw, streams) = heard(parts);
        let split = SplitSettings::default();
        let mut voice = ByLevel;
        let mut embedders =
            Embedders { finder: None, voice: Some(&mut voice), split: &split, min_embed_secs: 0.6 };
        embedders.turns_of(&raw, &streams, separate).unwrap()
    }

    fn at(turn: &SpeechTurn) -> (f64, f64) {
        let secs = |at: Timestamp| (at.secs_since(Timestamp::EPOCH) * 100.0).round() / 100.0;
        (secs(turn.span.start), secs(turn.span.end))
    }

    #[test]
    fn an_overlap_is_two_turns_with_the_voices_that_speak_alone_beside_it() {
        let scene = [(0.9, true, false, 300), (0.5, true, true, 100), (0.1, false, true, 200)];
        let turns = parted(&scene, true);
        let spans: Vec<_> = turns.iter().map(at).collect();
        assert_eq!(spans, [(0.0, 3.0), (3.0, 4.0), (3.0, 4.0), (4.0, 6.0)]);
        assert_eq!(
            turns.iter().map(|t| t.overlapped).collect::<Vec<_>>(),
            [false, true, true, false]
        );
        let voices: Vec<_> = turns.iter().map(|turn| turn.embedding.clone().unwrap()).collect();
        assert!(voices[1].cosine(&voices[0]).unwrap() > 0.999, "who speaks more comes first");
        assert!(voices[2].cosine(&voices[3]).unwrap() > 0.999);
        assert!(turns[2].words.is_some() && turns[1].words.is_none());
        let (firsts, seconds) = split_overlapped_speakers(turns.clone());
        assert_eq!((firsts.len(), seconds.len()), (3, 1));
        assert_eq!(assign_overlap(firsts, seconds, 0.66), turns);
        // without separation nothing is heard twice
        assert_eq!(parted(&scene, false).len(), 3);
    }

    #[test]
    fn short_overlaps_stay_in_their_turn_and_no_rest_is_too_short() {
        let short = [(0.9, true, false, 300), (0.5, true, true, 20), (0.9, true, false, 300)];
        let turns = parted(&short, true);
        assert_eq!((turns.len(), turns[0].overlapped), (1, false));
        let mostly = [(0.9, true, false, 60), (0.5, true, true, 25), (0.9, true, false, 15)];
        assert!(parted(&mostly, true)[0].overlapped);
        let rest = [(0.9, true, false, 10), (0.5, true, true, 90), (0.1, false, true, 200)];
        let spans: Vec<_> = parted(&rest, true).iter().map(at).collect();
        assert_eq!(spans, [(0.0, 1.0), (0.0, 1.0), (1.0, 3.0)]);
        assert!(parted(&[(0.9, true, false, 200)], true).iter().all(|turn| !turn.overlapped));
    }

    #[test]
    fn who_never_speaks_alone_is_the_nearest_other_voice_of_the_clip() {
        let mut turns = parted(
            &[(0.9, true, false, 300), (0.5, true, true, 60), (0.9, true, false, 300)],
            true,
        );
        assert_eq!(turns.len(), 4);
        assert_eq!(turns[2].embedding, None);
        let (firsts, seconds) = split_overlapped_speakers(turns.clone());
        assert_eq!(
            assign_overlap(firsts.clone(), seconds.clone(), 0.66).len(),
            3,
            "nobody else is there"
        );
        let mut other = turns[0].clone();
        other.span = Span::new(Timestamp::EPOCH.plus_secs(9.0), Timestamp::EPOCH.plus_secs(12.0));
        other.embedding = Some(vector(0.1));
        let with_other = [firsts, vec![other.clone()]].concat();
        let settled = assign_overlap(with_other, seconds, 0.66);
        assert_eq!(settled[2].embedding, other.embedding);
        assert_eq!(at(&settled[2]), (3.0, 3.6));
        // one person's echo is no second voice
        turns[2].embedding = turns[0].embedding.clone();
        let (firsts, seconds) = split_overlapped_speakers(turns);
        assert_eq!(assign_overlap(firsts, seconds, 0.66).len(), 3);
    }

    #[test]
    fn where_two_were_told_apart_the_second_is_the_other_one() {
        let scene = [(0.9, true, false, 300), (0.5, true, true, 100), (0.1, false, true, 200)];
        let (mut firsts, seconds) = split_overlapped_speakers(parted(&scene, true));
        for (turn, number) in firsts.iter_mut().zip([0, 0, 1]) {
            turn.distinct = Some(number);
        }
        firsts[1].embedding = None;
        // -1: all voices are alike over this channel
        let settled = assign_overlap(firsts, seconds, -1.0);
        let numbers: Vec<_> = settled.iter().map(|turn| turn.distinct).collect();
        assert_eq!(numbers, [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(settled[1].embedding, settled[0].embedding);
        assert_eq!(settled[2].embedding, settled[3].embedding);
    }

    proptest! {
        #[test]
        fn pieces_cover_the_turn_without_holes(
            parts in proptest::collection::vec((any::<bool>(), any::<bool>(), 1_usize..80), 1..12)
        ) {
            let parts: Vec<_> = parts.into_iter().map(|(a, b, n)| (0.5, a, b, n)).collect();
            let (raw, streams) = heard(&parts);
            let found = pieces(&raw, &streams);
            prop_assert_eq!(found.first().map(|piece| piece.steps.start), Some(0));
            prop_assert_eq!(found.last().map(|piece| piece.steps.end), Some(raw.activity.len()));
            prop_assert!(found.windows(2).all(|pair| pair[0].steps.end == pair[1].steps.start));
            for piece in &found {
                prop_assert!(found.len() == 1 || piece.steps.len() >= LEAST_REST);
                let both = piece.steps.clone().filter(|step| streams.voices_at(*step) > 1).count();
                prop_assert!(piece.both.is_none_or(|[a, b]| a != b && both > 0));
            }
            // every overlap that is long enough is cut out
            for run in runs((0..streams.steps()).map(|step| streams.voices_at(step) > 1)) {
                let inside = |piece: &Piece| {
                    piece.both.is_some() && piece.steps.start <= run.start && run.end <= piece.steps.end
                };
                prop_assert!(run.len() < LEAST || found.iter().any(inside));
            }
        }
    }
}
