//! Replies that are too short to be anybody's by themselves: whose of their clip they are.
//!
//! "Yes." is no voice to be known by, but among the few who spoke just before and after it mostly is one's. Such a turn is
//! given the voice of the clip's turn that it is most like, where that leads all who are surely somebody else; it teaches
//! nothing and founds nobody (`identify`), since the voice is another turn's. In doubt it stays nobody's.

use crate::media::SAMPLE_RATE;
use crate::models::Thresholds;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::{Embedding, SpeechTurn};

/// Shorter sound tells nothing, seconds.
const LEAST_SECS: f64 = 0.3;
/// A turn of at least so much speech is a voice that others can be compared with, seconds.
const KNOWN_SECS: f64 = 1.2;

/// When a short reply is somebody's. Cosines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortSettings {
    /// By how much the nearest voice leads.
    pub margin: f32,
    /// How alike it is at least.
    pub least: f32,
    /// Below it two turns are surely of two voices.
    pub unlike: f32,
}

impl ShortSettings {
    /// Those of a network; `None` where nobody measured what short replies tell it.
    #[must_use]
    pub fn of(network: &Thresholds) -> Option<Self> {
        let changes = network.changes?;
        Some(Self {
            margin: changes.short_margin?,
            least: changes.short_least?,
            unlike: network.maybe,
        })
    }
}

/// Whether there are replies too short for a voice of their own, and somebody they could be of.
#[must_use]
pub fn has_short(turns: &[SpeechTurn]) -> bool {
    turns.iter().any(is_short) && turns.iter().any(is_known)
}

fn is_short(turn: &SpeechTurn) -> bool {
    let secs = turn.sound.len() as f64 / f64::from(SAMPLE_RATE);
    turn.embedding.is_none() && !turn.overlapped && secs >= LEAST_SECS
}

fn is_known(turn: &SpeechTurn) -> bool {
    turn.embedding.is_some() && !turn.overlapped && turn.speech_secs >= KNOWN_SECS
}

/// Gives the short replies of one microphone and clip their voices; order is kept.
///
/// # Errors
/// What the embedder gives.
pub fn decide_short(
    mut turns: Vec<SpeechTurn>,
    voice: &mut dyn SpeakerEmbedder,
    settings: &ShortSettings,
) -> Result<Vec<SpeechTurn>, VoiceError> {
    let known: Vec<(Embedding, Option<u8>)> = turns
        .iter()
        .filter(|turn| is_known(turn))
        .filter_map(|turn| Some((turn.embedding.clone()?, turn.distinct)))
        .collect();
    if known.is_empty() {
        return Ok(turns);
    }
    for turn in turns.iter_mut().filter(|turn| is_short(turn)) {
        if turn.sound.len() as f64 / f64::from(SAMPLE_RATE) < voice.min_secs() {
            continue;
        }
        let own = voice.embed(&turn.sound)?;
        if let Some((nearest, number)) = clearly_nearest(&own, &known, settings) {
            turn.embedding = Some(nearest.clone());
            turn.distinct = turn.distinct.or(*number);
        }
    }
    Ok(turns)
}

fn clearly_nearest<'a>(
    own: &Embedding,
    known: &'a [(Embedding, Option<u8>)],
    settings: &ShortSettings,
) -> Option<&'a (Embedding, Option<u8>)> {
    let likeness = |other: &Embedding| own.cosine(other).unwrap_or(-1.0);
    // The first of equals, so that the order of time decides.
    let nearest = known
        .iter()
        .reduce(|best, next| if likeness(&next.0) > likeness(&best.0) { next } else { best })?;
    let is_other = |other: &&(Embedding, Option<u8>)| {
        other.0.cosine(&nearest.0).is_some_and(|cosine| cosine < settings.unlike)
    };
    let others = known.iter().filter(is_other).map(|other| likeness(&other.0));
    let second = others.fold(-1.0_f32, f32::max);
    let best = likeness(&nearest.0);
    (best >= settings.least && best - second >= settings.margin).then_some(nearest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::{ModelHash, SourceId, TurnId};
    use crate::time::{Span, Timestamp};

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

    const SETTINGS: ShortSettings = ShortSettings { margin: 0.1, least: 0.5, unlike: 0.6 };

    fn turn(start: f64, secs: f64, level: f32) -> SpeechTurn {
        let at = |secs| Timestamp::EPOCH.plus_secs(secs);
        let samples = (secs * f64::from(SAMPLE_RATE)) as usize;
        SpeechTurn {
            id: TurnId(0),
            source: SourceId::new("mic"),
            span: Span::new(at(start), at(start + secs)),
            speech_secs: secs,
            level_dbfs: -20.0,
            embedding: (secs >= 0.6).then(|| vector(level)),
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: vec![level; samples].into(),
        }
    }

    fn decided(turns: Vec<SpeechTurn>) -> Vec<Option<Embedding>> {
        let found = decide_short(turns, &mut ByLevel, &SETTINGS).unwrap();
        found.into_iter().map(|turn| turn.embedding).collect()
    }

    #[test]
    fn a_short_reply_is_the_voices_that_it_clearly_is_most_like() {
        let turns = vec![turn(0.0, 3.0, 0.9), turn(3.5, 0.4, 0.2), turn(4.5, 2.0, 0.1)];
        assert!(has_short(&turns));
        let voices = decided(turns.clone());
        assert_eq!(voices[1], Some(vector(0.1)));
        assert_eq!((&voices[0], &voices[2]), (&turns[0].embedding, &turns[2].embedding));
    }

    #[test]
    fn in_doubt_a_short_reply_stays_nobodys() {
        let between = vec![turn(0.0, 3.0, 0.9), turn(3.5, 0.4, 0.5), turn(4.5, 2.0, 0.1)];
        assert_eq!(decided(between)[1], None);
        let too_short = vec![turn(0.0, 3.0, 0.9), turn(3.5, 0.25, 0.9)];
        assert!(!has_short(&too_short));
        assert_eq!(decided(too_short)[1], None);
        let stranger = vec![turn(0.0, 3.0, 1.0), turn(3.5, 0.4, 0.2)];
        assert_eq!(decided(stranger)[1], None, "nobody here is like it");
        let alone = vec![turn(3.5, 0.4, 0.2), turn(4.0, 0.8, 0.2)];
        assert!(!has_short(&alone), "nobody said enough to be known by");
        assert_eq!(decided(alone)[0], None);
    }

    #[test]
    fn a_number_of_the_clip_goes_with_the_voice() {
        let mut turns = vec![turn(0.0, 3.0, 0.9), turn(3.5, 0.4, 0.8)];
        turns[0].distinct = Some(1);
        let found = decide_short(turns, &mut ByLevel, &SETTINGS).unwrap();
        assert_eq!(found[1].distinct, Some(1));
    }
}
