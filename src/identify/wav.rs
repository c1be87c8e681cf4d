//! Sound as a WAV file: RIFF, 16-bit PCM, 16 kHz, mono.

use crate::media::SAMPLE_RATE;
use crate::memory::model::{Media, MediaKind};
use crate::percept::SpeechTurn;

/// The most that is kept of a turn, seconds: a file of it passes through one `query media` (256 kB).
const SNIPPET_SECS: f64 = 8.0;

/// The beginning of a turn's sound, to be kept (the size cap may take it later); `None` where it has none.
#[must_use]
pub fn snippet(turn: &SpeechTurn) -> Option<Media> {
    let most = (SNIPPET_SECS * f64::from(SAMPLE_RATE)) as usize - HEADER_BYTES / 2;
    let sound = &turn.sound[..turn.sound.len().min(most)];
    (!sound.is_empty()).then(|| Media::new(MediaKind::Speech, false, wav(sound)))
}

/// Length of what stands before the samples.
const HEADER_BYTES: usize = 44;

/// A whole WAV file of samples in [-1, 1] (clipped, rounded to 16 bits).
#[must_use]
pub fn wav(samples: &[f32]) -> Vec<u8> {
    let bytes = (samples.len() * 2) as u32;
    let mut file = Vec::with_capacity(HEADER_BYTES + samples.len() * 2);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(36 + bytes).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16u32.to_le_bytes());
    file.extend_from_slice(&1u16.to_le_bytes()); // PCM
    file.extend_from_slice(&1u16.to_le_bytes()); // channels
    file.extend_from_slice(&SAMPLE_RATE.to_le_bytes());
    file.extend_from_slice(&(SAMPLE_RATE * 2).to_le_bytes());
    file.extend_from_slice(&2u16.to_le_bytes());
    file.extend_from_slice(&16u16.to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&bytes.to_le_bytes());
    for sample in samples {
        let value = (sample.clamp(-1.0, 1.0) * 32767.0).round() as i16;
        file.extend_from_slice(&value.to_le_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use crate::ids::{SourceId, TurnId};
    use crate::percept::SpeechTurn;
    use crate::time::Span;

    #[test]
    fn a_snippet_fits_a_query_and_silence_is_none() {
        let mut turn = SpeechTurn {
            id: TurnId(1),
            source: SourceId::new("mic"),
            span: Span::default(),
            speech_secs: 1.0,
            level_dbfs: -20.0,
            embedding: None,
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: vec![0.5; 16_000].into(),
        };
        assert_eq!(super::snippet(&turn).map(|file| file.bytes.len()), Some(44 + 32_000));
        turn.sound = vec![0.5; 320_000].into();
        assert_eq!(super::snippet(&turn).map(|file| file.bytes.len()), Some(256_000));
        turn.sound = Vec::new().into();
        assert!(super::snippet(&turn).is_none());
    }

    #[test]
    fn the_header_is_44_bytes_and_counts_right() {
        let file = super::wav(&[0.0, 1.0, -2.0]);
        assert_eq!(file.len(), 50);
        assert_eq!(&file[4..8], &42u32.to_le_bytes());
        assert_eq!(&file[46..50], &[0xff, 0x7f, 0x01, 0x80]);
    }
}
