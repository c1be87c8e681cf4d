//! Voices over a poor channel: what a clip holds is heard again, all turns at once.
//!
//! A telephone or a far microphone makes all voices alike. The borders at which [`crate::perceive::voice::split_by_speaker`]
//! parts a turn and the thresholds of identity are set for near voices and never reached there, so that two
//! people come out as one. What still differs is seen only from all of a clip's speech together: its
//! windows fall into clusters, each far closer to its own middle than to the others' ([`clusters`]). Where they do, the
//! turns are cut anew along the clusters (Viterbi smoothing, as VBx's resegmentation, Landini et al. 2022,
//! arXiv 2012.14952, with cosines in place of PLDA scores) and marked as told apart. Short windows may then
//! be looked at where one voice may follow another ([`resegment`]).
//!
//! Near voices are left to the thresholds, which know them again.

mod clusters;
mod pauses;
mod resegment;
mod segment;

use clusters::Run;
pub use segment::ReclusterSettings;
use segment::{SpeechSegment, steps};

use crate::media::SAMPLE_RATE;
use crate::perceive::voice::segment::turns::STEP;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::{Embedding, SpeechTurn};
use crate::time::Span;

/// Hears the turns of one microphone in one clip (in time order) again and parts the voices; gives them back
/// as they are over a good channel, or where one person speaks.
///
/// `finder` embeds the windows, `voice` (where it is another model) the new turns of at least
/// `min_embed_secs` of speech. Shorter ones that a short window cut off have the voice that is known of their number.
///
/// # Errors
/// What the embedders give.
pub fn recluster(
    turns: Vec<SpeechTurn>,
    finder: &mut dyn SpeakerEmbedder,
    voice: Option<&mut dyn SpeakerEmbedder>,
    min_embed_secs: f64,
    settings: &ReclusterSettings,
) -> Result<Vec<SpeechTurn>, VoiceError> {
    if !is_far_or_narrowband(&turns, settings) {
        return Ok(turns);
    }
    // In its place in the turn a short window tells enough over a narrow band, too.
    let tells = finder.hears_parts_at_once() || !is_narrow(&turns, settings);
    let is_fine = settings.fine_per_sec > 0.0 && tells;
    let mut stretches = stretches(turns);
    let window = steps(settings.window_secs) * STEP;
    let hop = steps(settings.step_secs).max(1) * STEP;
    for stretch in &mut stretches {
        stretch.windows = finder.embed_windows(&stretch.sound, window, hop)?;
    }
    let Some(told) = clusters::find(&stretches, settings) else {
        return Ok(stretches.into_iter().flat_map(|stretch| stretch.turns).collect());
    };
    let mut found: Vec<Vec<Run>> = stretches
        .iter()
        .zip(&told.states)
        .map(|(stretch, states)| clusters::runs(states, stretch.sound.len(), window, hop))
        .collect();
    if is_fine {
        resegment::refine(&mut found, &stretches, &told, finder, settings)?;
    }
    let embedder: &mut dyn SpeakerEmbedder = match voice {
        Some(voice) => voice,
        None => finder,
    };
    let mut parted: Vec<SpeechTurn> = Vec::new();
    let (mut voiced, mut unvoiced) = (Vec::new(), Vec::new());
    for (stretch, runs) in stretches.iter().zip(&found) {
        if runs.is_empty() {
            parted.extend(stretch.turns.iter().cloned());
            continue;
        }
        for (start, end, speaker, overlapped) in around(runs, &stretch.overlaps(), window / 2) {
            let mut turn = stretch.part(start, end);
            turn.distinct = Some(speaker);
            turn.overlapped = overlapped;
            // The mixture is nobody's voice: `assign_overlap` gives it one of the same number.
            let long = turn.span.secs() >= embedder.min_secs();
            if !overlapped && long && turn.speech_secs >= min_embed_secs {
                voiced.push(parted.len());
            } else if !overlapped && is_fine {
                unvoiced.push(parted.len());
            }
            parted.push(turn);
        }
    }
    let sounds: Vec<&[f32]> = voiced.iter().map(|n| &*parted[*n].sound).collect();
    let vectors = embedder.embed_all(&sounds)?;
    for (n, vector) in voiced.iter().zip(vectors) {
        parted[*n].embedding = Some(vector);
    }
    for n in unvoiced {
        parted[n].embedding = voice_of_number(&parted, &voiced, &parted[n]);
    }
    Ok(parted)
}

/// The voice of the nearest of the `voiced` turns that has the number of `turn`.
fn voice_of_number(turns: &[SpeechTurn], voiced: &[usize], turn: &SpeechTurn) -> Option<Embedding> {
    let away = |other: &SpeechTurn| {
        let (before, after) = (other.span.end, other.span.start);
        turn.span.start.secs_since(before).max(after.secs_since(turn.span.end))
    };
    voiced
        .iter()
        .map(|n| &turns[*n])
        .filter(|other| other.distinct == turn.distinct)
        .min_by(|a, b| away(a).total_cmp(&away(b)))
        .and_then(|nearest| nearest.embedding.clone())
}

/// Whether the speech comes over a narrow band or from far, and there is enough of it to hear it again.
#[must_use]
pub fn is_far_or_narrowband(turns: &[SpeechTurn], settings: &ReclusterSettings) -> bool {
    let spoken: f64 = turns.iter().map(|turn| turn.speech_secs).sum();
    if spoken < 2.0 * settings.min_voice_secs {
        return false;
    }
    let power = |dbfs: f32| 10.0_f64.powf(f64::from(dbfs) / 10.0);
    let mean: f64 =
        turns.iter().map(|turn| turn.speech_secs * power(turn.level_dbfs)).sum::<f64>() / spoken;
    let level = 10.0 * mean.max(1e-12).log10();
    level < f64::from(settings.far_dbfs) || is_narrow(turns, settings)
}

/// Whether the speech comes over a narrow band, as a telephone's.
fn is_narrow(turns: &[SpeechTurn], settings: &ReclusterSettings) -> bool {
    band_ratio_db(turns) < f64::from(settings.narrow_db)
}

/// Power above 4.3 kHz beside that of the telephone's band, dB.
fn band_ratio_db(turns: &[SpeechTurn]) -> f64 {
    const LENGTH: usize = 512;
    let bin = |hertz: usize| hertz * LENGTH / SAMPLE_RATE as usize;
    let mut planner = realfft::RealFftPlanner::<f32>::new();
    let transform = planner.plan_fft_forward(LENGTH);
    let mut spectrum = transform.make_output_vec();
    let (mut high, mut low) = (0.0_f64, 0.0_f64);
    for turn in turns {
        for frame in turn.sound.chunks_exact(LENGTH) {
            let mut shaped: Vec<f32> = frame
                .iter()
                .enumerate()
                .map(|(n, v)| {
                    let phase = std::f32::consts::TAU * n as f32 / LENGTH as f32;
                    v * (0.5 - 0.5 * phase.cos())
                })
                .collect();
            if transform.process(&mut shaped, &mut spectrum).is_err() {
                continue; // the lengths are the planner's own
            }
            let power = |from: usize, to: usize| -> f64 {
                let band = spectrum.get(from..to).unwrap_or_default();
                let sum: f64 = band.iter().map(|v| f64::from(v.norm_sqr())).sum();
                sum / band.len().max(1) as f64
            };
            high += power(bin(4300), bin(7500));
            low += power(bin(300), bin(3400));
        }
    }
    10.0 * ((high + 1e-12) / (low + 1e-12)).log10()
}

/// Turns that follow each other without a hole, as one sound.
fn stretches(turns: Vec<SpeechTurn>) -> Vec<SpeechSegment> {
    let mut found: Vec<SpeechSegment> = Vec::new();
    for turn in turns {
        match found.last_mut() {
            Some(last) if turn.span.start.secs_since(last.span.end).abs() < 0.001 => {
                last.sound.extend_from_slice(&turn.sound);
                last.span.end = turn.span.end;
                last.turns.push(turn);
            }
            _ => found.push(SpeechSegment {
                span: turn.span,
                sound: turn.sound.to_vec(),
                turns: vec![turn],
                windows: Vec::new(),
            }),
        }
    }
    found
}

impl SpeechSegment {
    /// Samples that are two voices at once.
    fn overlaps(&self) -> Vec<(usize, usize)> {
        let mut at = 0;
        let place = |turn: &SpeechTurn| {
            let start = at;
            at += turn.sound.len();
            turn.overlapped.then_some((start, at))
        };
        self.turns.iter().filter_map(place).collect()
    }

    /// Seconds of speech in the samples `[start, end)`.
    fn speech_secs(&self, start: usize, end: usize) -> f64 {
        let (mut speech_secs, mut at) = (0.0, 0);
        for turn in &self.turns {
            let (from, to) = (at.max(start), (at + turn.sound.len()).min(end));
            let share = to.saturating_sub(from) as f64 / turn.sound.len().max(1) as f64;
            speech_secs += share * turn.speech_secs;
            at += turn.sound.len();
        }
        speech_secs
    }

    /// The samples `[start, end)` as a turn that has no number yet.
    fn part(&self, start: usize, end: usize) -> SpeechTurn {
        let rate = f64::from(SAMPLE_RATE);
        let sound = self.sound.get(start..end).unwrap_or_default();
        let power: f64 = sound.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
        let level = 10.0 * (power / sound.len().max(1) as f64).max(1e-12).log10();
        let model = &self.turns[0];
        SpeechTurn {
            id: model.id,
            source: model.source.clone(),
            span: Span::new(
                self.span.start.plus_secs(start as f64 / rate),
                if end == self.sound.len() {
                    self.span.end
                } else {
                    self.span.start.plus_secs(end as f64 / rate)
                },
            ),
            speech_secs: self.speech_secs(start, end),
            level_dbfs: level as f32,
            embedding: None,
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: sound.into(),
        }
    }
}

/// Runs of one voice with the overlaps cut out of them: `(start, end, speaker, overlapped)`, in order and without holes.
///
/// A change of voice at less than `reach` samples from an overlap is one that begins with it: the windows that found it are
/// longer than that, and who breaks in goes on alone when the other one ends.
fn around(
    runs: &[(usize, usize, u8)],
    overlaps: &[(usize, usize)],
    reach: usize,
) -> Vec<(usize, usize, u8, bool)> {
    let length = runs.last().map_or(0, |run| run.1);
    let mut borders: Vec<(usize, u8)> = runs.iter().map(|run| (run.0, run.2)).collect();
    for (start, end) in overlaps {
        let near = |at: usize| at > 0 && at + reach >= *start && at <= end + reach;
        let middle = start.midpoint(*end);
        let snapped = (1..borders.len())
            .filter(|n| near(borders[*n].0))
            .min_by_key(|n| borders[*n].0.abs_diff(middle));
        if let Some(n) = snapped {
            // Never before its own predecessor.
            borders[n].0 = (*end).max(borders[n - 1].0);
        }
    }
    borders.sort_by_key(|border| border.0);
    let speaker = |at: usize| {
        let n = borders.partition_point(|border| border.0 <= at);
        borders.get(n.saturating_sub(1)).map_or(0, |border| border.1)
    };
    let mut cuts: Vec<usize> = borders.iter().map(|border| border.0).collect();
    cuts.extend(overlaps.iter().flat_map(|(start, end)| [*start, *end]));
    cuts.push(length);
    cuts.sort_unstable();
    cuts.dedup();
    let mut found: Vec<(usize, usize, u8, bool)> = Vec::new();
    for pair in cuts.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        let overlapped = overlaps.iter().any(|(from, to)| *from <= start && end <= *to);
        let next = (start, end, speaker(start), overlapped);
        match found.last_mut() {
            // An overlap stays whole, under the voice that was there first.
            Some(last) if last.3 == next.3 && (overlapped || last.2 == next.2) => last.1 = end,
            _ => found.push(next),
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::{ModelHash, SourceId, TurnId};
    use crate::time::Timestamp;
    use proptest::prelude::*;

    /// Tells tones apart: the vector leans towards the share of samples above zero crossings of 1 kHz.
    struct ByPitch;

    impl SpeakerEmbedder for ByPitch {
        fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
            let crossings = sound.windows(2).filter(|p| (p[0] < 0.0) != (p[1] < 0.0)).count();
            let pitch = crossings as f32 / sound.len() as f32 * 20.0;
            Ok(Embedding::normalised(vec![1.0, pitch, 1.0 - pitch], self.hash()))
        }
        fn min_secs(&self) -> f64 {
            0.2
        }
        fn hash(&self) -> ModelHash {
            ModelHash([3; 32])
        }
        fn name(&self) -> &str {
            "pitch"
        }
    }

    /// A turn of tones, `(hertz, seconds)` each, with a little warble.
    fn turn(start: f64, tones: &[(f32, f64)], level: f32) -> SpeechTurn {
        let mut sound = Vec::new();
        for (hertz, secs) in tones {
            for n in 0..(secs * 16_000.0) as usize {
                let t = n as f32 / 16_000.0;
                let warble = 2.0 * (t * 9.0).sin();
                sound.push(level * (std::f32::consts::TAU * hertz * t + warble).sin());
            }
        }
        let at = |secs| Timestamp::EPOCH.plus_secs(secs);
        let secs = sound.len() as f64 / 16_000.0;
        SpeechTurn {
            id: TurnId(0),
            source: SourceId::new("mic"),
            span: Span::new(at(start), at(start + secs)),
            speech_secs: secs,
            level_dbfs: 20.0 * (level / 2.0_f32.sqrt()).log10(),
            embedding: None,
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: sound.into(),
        }
    }

    fn heard(turns: Vec<SpeechTurn>) -> Vec<SpeechTurn> {
        heard_with(turns, &ReclusterSettings::default())
    }

    fn heard_with(turns: Vec<SpeechTurn>, settings: &ReclusterSettings) -> Vec<SpeechTurn> {
        recluster(turns, &mut ByPitch, None, 0.6, settings).unwrap()
    }

    /// The turn with these samples silent, which voice activity heard.
    fn silent(mut turn: SpeechTurn, samples: std::ops::Range<usize>) -> SpeechTurn {
        turn.speech_secs -= samples.len() as f64 / 16_000.0;
        let mut sound = turn.sound.to_vec();
        sound[samples].fill(0.0);
        turn.sound = sound.into();
        turn
    }

    /// The turn over a wide band.
    fn hissing(mut turn: SpeechTurn, level: f32) -> SpeechTurn {
        let hiss = turn.sound.iter().enumerate().map(|(n, v)| {
            v + level * ((n as u32).wrapping_mul(2_654_435_761) as f32 / u32::MAX as f32 - 0.5)
        });
        turn.sound = hiss.collect::<Vec<f32>>().into();
        turn
    }

    fn secs(at: Timestamp) -> f64 {
        at.secs_since(Timestamp::EPOCH)
    }

    fn numbers(turns: &[SpeechTurn]) -> std::collections::BTreeSet<Option<u8>> {
        turns.iter().map(|turn| turn.distinct).collect()
    }

    #[test]
    fn two_far_voices_in_one_turn_are_parted() {
        let far = 0.01;
        let turns =
            vec![turn(0.0, &[(300.0, 4.0), (500.0, 4.0)], far), turn(9.0, &[(300.0, 3.0)], far)];
        let found = heard(turns.clone());
        let speakers: Vec<_> = found.iter().map(|turn| turn.distinct).collect();
        assert_eq!(speakers.len(), 3, "{speakers:?}");
        assert_eq!(speakers[0], speakers[2]);
        assert_ne!(speakers[0], speakers[1]);
        let border = found[0].span.end.secs_since(Timestamp::EPOCH);
        assert!((border - 4.0).abs() < 0.3, "{border}");
        assert_eq!(found[0].span.end, found[1].span.start);
        assert_eq!(found[1].span.end, turns[0].span.end);
        assert!(found.iter().all(|turn| turn.embedding.is_some()));
    }

    #[test]
    fn three_far_voices_are_parted_into_three() {
        let far = 0.01;
        let turns = vec![
            turn(0.0, &[(100.0, 4.0), (300.0, 5.0), (700.0, 6.0)], far),
            turn(16.0, &[(100.0, 3.0)], far),
        ];
        let found = heard(turns.clone());
        assert_eq!((found.len(), numbers(&found).len()), (4, 3), "{:?}", numbers(&found));
        assert_eq!(found[0].distinct, found[3].distinct);
        assert!((secs(found[1].span.start) - 4.0).abs() < 0.3);
        assert!((secs(found[2].span.start) - 9.0).abs() < 0.3);
        assert!(found.iter().all(|turn| turn.distinct.is_some() && turn.embedding.is_some()));
        // no more than may be
        let two = ReclusterSettings { most_voices: 2, ..ReclusterSettings::default() };
        assert_eq!(numbers(&heard_with(turns.clone(), &two)).len(), 2);
        let one = ReclusterSettings { most_voices: 1, ..ReclusterSettings::default() };
        assert_eq!(heard_with(turns.clone(), &one), turns);
    }

    #[test]
    fn two_voices_stay_two_and_one_stays_one() {
        let far = 0.01;
        let two =
            vec![turn(0.0, &[(300.0, 7.0), (500.0, 7.0)], far), turn(15.0, &[(300.0, 4.0)], far)];
        let found = heard(two);
        assert_eq!((found.len(), numbers(&found).len()), (3, 2));
        assert!(found.iter().all(|turn| turn.distinct.is_some()));
        let one = vec![turn(0.0, &[(300.0, 8.0)], far), turn(9.0, &[(300.0, 7.0)], far)];
        assert_eq!(heard(one.clone()), one);
    }

    #[test]
    fn a_short_reply_before_a_pause_is_cut_out_by_short_windows() {
        let far = 0.01;
        let tones = [(300.0, 5.0), (500.0, 0.8), (300.0, 0.3), (300.0, 4.0)];
        let wide = |start, tones: &[(f32, f64)]| hissing(turn(start, tones, far), 0.001);
        let turns = vec![silent(wide(0.0, &tones), 92_800..97_600), wide(12.0, &[(500.0, 5.0)])];
        let found = heard(turns);
        let other = found.last().unwrap().distinct;
        let is_reply = |turn: &&SpeechTurn| turn.distinct == other && secs(turn.span.start) < 6.5;
        let reply = found.iter().find(is_reply).unwrap();
        let (start, end) = (secs(reply.span.start), secs(reply.span.end));
        assert!((4.7..5.3).contains(&start) && (5.3..6.1).contains(&end), "{start} {end}");
        assert!(reply.embedding.is_some(), "its own or that of its number");
        assert_eq!(numbers(&found).len(), 2);
    }

    #[test]
    fn near_voices_are_left_as_they_are() {
        let turns = [turn(0.0, &[(300.0, 4.0), (500.0, 4.0)], 0.3)];
        // a pure tone has nothing above 4.3 kHz: only a hiss makes it a near voice
        let near = hissing(turns[0].clone(), 0.02);
        assert_eq!(heard(vec![near.clone()]), vec![near]);
    }

    #[test]
    fn a_voice_that_breaks_in_goes_on_after_the_overlap() {
        let runs = [(0, 50_000, 0), (50_000, 100_000, 1)];
        // the border that the windows found lies a little after the overlap
        let found = around(&runs, &[(40_000, 46_400)], 9600);
        let wanted =
            [(0, 40_000, 0, false), (40_000, 46_400, 0, true), (46_400, 100_000, 1, false)];
        assert_eq!(found, wanted);
        // far from any border it is the same voice before and after
        let found = around(&runs, &[(10_000, 16_000)], 9600);
        assert_eq!(found[1], (10_000, 16_000, 0, true));
        assert_eq!(found[2], (16_000, 50_000, 0, false));
        assert_eq!(around(&runs, &[], 9600).len(), 2);
    }

    proptest! {
        #[test]
        fn what_is_cut_around_overlaps_has_no_holes(
            borders in proptest::collection::btree_set(1_usize..1000, 0..6),
            overlaps in proptest::collection::btree_set(1_usize..1000, 0..8),
        ) {
            let mut edges: Vec<usize> = borders.into_iter().map(|n| n * 160).collect();
            edges.insert(0, 0);
            edges.push(160_160);
            let runs: Vec<(usize, usize, u8)> =
                edges.windows(2).enumerate().map(|(n, e)| (e[0], e[1], (n % 2) as u8)).collect();
            let overlaps: Vec<(usize, usize)> = overlaps
                .into_iter()
                .collect::<Vec<_>>()
                .chunks_exact(2)
                .map(|pair| (pair[0] * 160, pair[1] * 160))
                .collect();
            let found = around(&runs, &overlaps, 9600);
            prop_assert_eq!(found.first().map(|piece| piece.0), Some(0));
            prop_assert_eq!(found.last().map(|piece| piece.1), Some(160_160));
            prop_assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0));
            prop_assert!(found.iter().all(|piece| piece.0 < piece.1));
            let secs: usize = found.iter().filter(|p| p.3).map(|p| p.1 - p.0).sum();
            prop_assert_eq!(secs, overlaps.iter().map(|(start, end)| end - start).sum::<usize>());
        }
    }
}
