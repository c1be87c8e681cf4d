//! One voice on two microphones: the turn of the microphone that hears it best is kept, the others go.
//!
//! Two turns are one when the rise and fall of their loudness agree over the time that they share, within
//! what distance and unsynchronised sound cards delay. Two people who speak at once differ in that.
//!
//! Of one voice one microphone may hear the end just before a clip's border, the other just after it. What was told with the
//! earlier clip stays then: it is committed.

use crate::perceive::voice::segment::turns::STEP;
use crate::percept::SpeechTurn;
use crate::time::Timestamp;

/// Steps of the envelope, in steps of 10 ms.
const FINE: usize = 2;
/// Greatest delay between two microphones, in envelope steps: 0.3 s.
const MOST_DELAY: usize = 15;
/// Correlation of the envelopes (of their logarithms) from which two turns are one.
const ALIKE: f64 = 0.75;
/// Share of the lesser turn that the better one must cover.
const COVERED: f64 = 0.6;
/// Shorter common time tells nothing, envelope steps: 0.4 s.
const LEAST: usize = 20;

/// How long before a border a turn may have ended of which another microphone hears the end after it, seconds: as long as a
/// turn finder's padding and the delays make of one end two, and more.
const LATELY_SECS: f64 = 2.0;

/// Leaves out turns that another microphone heard better, or that it told with the clip before ([`recent_turns`]). Order is kept.
#[must_use]
pub fn deduplicate_microphones(turns: Vec<SpeechTurn>, told: &[SpeechTurn]) -> Vec<SpeechTurn> {
    let mut all = turns.iter().chain(told).map(|turn| &turn.source);
    let first = all.next();
    if all.all(|source| Some(source) == first) {
        return turns;
    }
    let worse = |mine: &SpeechTurn| {
        let beside = |other: &&SpeechTurn| other.source != mine.source;
        told.iter().filter(beside).any(|other| is_same(other, mine))
            || turns
                .iter()
                .filter(beside)
                .any(|other| is_louder(other, mine) && is_same(other, mine))
    };
    let keep: Vec<bool> = turns.iter().map(|turn| !worse(turn)).collect();
    turns.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(turn, _)| turn).collect()
}

/// Those of a clip's turns whose end another microphone may hear after the clip's border.
#[must_use]
pub fn recent_turns(turns: &[SpeechTurn], border: Timestamp) -> Vec<SpeechTurn> {
    let from = border.plus_secs(-LATELY_SECS);
    turns.iter().filter(|turn| turn.span.end >= from).cloned().collect()
}

/// Whether `other` is heard better.
fn is_louder(other: &SpeechTurn, mine: &SpeechTurn) -> bool {
    let levels = other.level_dbfs.total_cmp(&mine.level_dbfs);
    levels.then_with(|| mine.source.cmp(&other.source)).is_gt()
}

/// Whether `other` is the same speech.
fn is_same(other: &SpeechTurn, mine: &SpeechTurn) -> bool {
    let common = other.span.intersection(mine.span).map_or(0.0, crate::time::Span::secs);
    common >= COVERED * mine.span.secs() && agreement(other, mine) >= ALIKE
}

/// The best correlation of the two envelopes over their common time, [-1, 1].
fn agreement(a: &SpeechTurn, b: &SpeechTurn) -> f64 {
    let step = (FINE * STEP) as f64 / f64::from(crate::media::SAMPLE_RATE);
    let offset = (b.span.start.secs_since(a.span.start) / step).round() as i64;
    let (a, b) = (envelope(a), envelope(b));
    let delay = MOST_DELAY as i64;
    (-delay..=delay)
        .map(|lag| {
            let pairs: Vec<(f64, f64)> = b
                .iter()
                .enumerate()
                .filter_map(|(n, level)| {
                    let at = usize::try_from(n as i64 + offset + lag).ok()?;
                    Some((*a.get(at)?, *level))
                })
                .collect();
            if pairs.len() < LEAST { -1.0 } else { correlation(&pairs) }
        })
        .fold(-1.0, f64::max)
}

/// Level of each 20 ms, dB.
fn envelope(turn: &SpeechTurn) -> Vec<f64> {
    let level = |chunk: &[f32]| {
        let power: f64 = chunk.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
        10.0 * (power / chunk.len() as f64).max(1e-9).log10()
    };
    turn.sound.chunks_exact(FINE * STEP).map(level).collect()
}

/// Pearson's.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let (x, y) = pairs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0, y + p.1));
    let (x, y) = (x / count, y / count);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        xx += (a - x).powi(2);
        yy += (b - y).powi(2);
        xy += (a - x) * (b - y);
    }
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{SourceId, TurnId};
    use crate::time::Span;

    /// Bursts of a tone whose loudness follows `seed`.
    fn turn(source: &str, start: f64, secs: f64, seed: u64, gain: f32) -> SpeechTurn {
        let mut state = seed;
        let mut level = 0.0;
        let sound: Vec<f32> = (0..(secs * 16_000.0) as usize)
            .map(|n| {
                if n % 1600 == 0 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    level = 0.02 + (state >> 40) as f32 / (1u64 << 24) as f32;
                }
                gain * level * (n as f32 * 0.3).sin()
            })
            .collect();
        let at = |secs| Timestamp::EPOCH.plus_secs(secs);
        SpeechTurn {
            id: TurnId(0),
            source: SourceId::new(source),
            span: Span::new(at(start), at(start + secs)),
            speech_secs: secs,
            level_dbfs: 20.0 * gain.log10(),
            embedding: None,
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: sound.into(),
        }
    }

    #[test]
    fn the_same_voice_on_two_microphones_is_one_turn() {
        let kept = deduplicate_microphones(
            vec![turn("far", 1.12, 3.0, 7, 0.05), turn("near", 1.0, 3.0, 7, 0.4)],
            &[],
        );
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].source, SourceId::new("near"));
    }

    #[test]
    fn two_people_at_once_on_two_microphones_are_two_turns() {
        let turns = vec![turn("a", 1.0, 3.0, 7, 0.4), turn("b", 1.1, 3.0, 8, 0.3)];
        assert_eq!(deduplicate_microphones(turns.clone(), &[]), turns);
    }

    #[test]
    fn a_long_turn_is_not_dropped_for_a_short_one() {
        let turns = vec![turn("a", 1.0, 8.0, 7, 0.1), turn("b", 1.0, 2.0, 7, 0.4)];
        assert_eq!(deduplicate_microphones(turns, &[]).len(), 2);
    }

    #[test]
    fn one_microphone_keeps_all_its_turns() {
        let turns = vec![turn("a", 1.0, 3.0, 7, 0.4), turn("a", 1.0, 3.0, 7, 0.1)];
        assert_eq!(deduplicate_microphones(turns.clone(), &[]), turns);
        assert_eq!(deduplicate_microphones(turns.clone(), &turns[..1]), turns);
    }

    #[test]
    fn a_voice_that_ends_on_either_side_of_a_border_is_one_turn() {
        let border = Timestamp::EPOCH.plus_secs(30.0);
        let (early, far) = (turn("far", 10.0, 3.0, 9, 0.4), turn("far", 26.8, 3.0, 7, 0.05));
        let told = recent_turns(&[early, far.clone()], border);
        assert_eq!(told, [far]);
        let near = turn("near", 26.95, 3.1, 7, 0.4);
        let other = turn("near", 26.95, 3.1, 8, 0.4);
        let goes_on = turn("near", 26.95, 9.0, 7, 0.4);
        let same_microphone = turn("far", 27.0, 3.1, 7, 0.4);
        let turns = vec![near, other, goes_on, same_microphone];
        assert_eq!(deduplicate_microphones(turns.clone(), &told), turns[1..], "it is told already");
        // nothing of it is new where it is alone, too
        assert!(deduplicate_microphones(turns[..1].to_vec(), &told).is_empty());
    }
}
