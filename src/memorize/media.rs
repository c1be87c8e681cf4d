//! Pictures and sound that go with a clip: key frames and speech snippets.
//!
//! Gallery exemplars are kept by `identify`, pinned; what is kept here may be taken by the size cap.

use crate::identify::wav;
use crate::ids::SourceId;
use crate::media::SAMPLE_RATE;
use crate::memory::model::{Media, MediaDigest, MediaKind};
use crate::percept::{ClipPercepts, SpeechTurn};
use crate::time::Timestamp;

/// The clip's key frames as files, and what the clip's row says of them, in canonical order (time, camera).
#[must_use]
pub fn key_frames(
    percepts: &ClipPercepts,
) -> (Vec<Media>, Vec<(SourceId, Timestamp, MediaDigest)>) {
    let mut frames: Vec<_> = percepts.key_frames.iter().collect();
    frames.sort_by(|a, b| (a.at, &a.source).cmp(&(b.at, &b.source)));
    frames
        .into_iter()
        .map(|frame| {
            let file = Media::new(MediaKind::KeyFrame, false, frame.jpeg.clone());
            let digest = file.digest.clone();
            (file, (frame.source.clone(), frame.at, digest))
        })
        .unzip()
}

/// The turn's sound as a WAV file, at most `max_secs` of it; `None` where it has none.
#[must_use]
pub fn speech(turn: &SpeechTurn, max_secs: f64) -> Option<Media> {
    let most = (max_secs.max(0.0) * f64::from(SAMPLE_RATE)) as usize;
    let sound = &turn.sound[..turn.sound.len().min(most)];
    (!sound.is_empty()).then(|| Media::new(MediaKind::Speech, false, wav(sound)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TurnId;
    use crate::time::Span;

    #[test]
    fn a_snippet_is_cut_to_its_length_and_silence_is_none() {
        let mut turn = SpeechTurn {
            id: TurnId(1),
            source: SourceId::new("mic"),
            span: Span::default(),
            speech_secs: 1.0,
            level_dbfs: -20.0,
            embedding: None,
            words: None,
            overlapped: false,
            sound: vec![0.5; 32_000].into(),
        };
        assert_eq!(speech(&turn, 1.0).map(|file| file.bytes.len()), Some(44 + 32_000));
        turn.sound = Vec::new().into();
        assert!(speech(&turn, 1.0).is_none());
    }
}
