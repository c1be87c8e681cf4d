//! Sound as a WAV file's bytes (RIFF, PCM, 16 bits), the form that transcription servers read.

use crate::media::SAMPLE_RATE;

/// Samples in [-1, 1] as 16-bit integers; louder ones are clipped.
pub(super) fn to_pcm(sound: &[f32]) -> Vec<i16> {
    sound.iter().map(|v| (v * 32_767.0).round().clamp(-32_768.0, 32_767.0) as i16).collect()
}

/// 16 kHz mono sound as a WAV file.
#[must_use]
pub fn to_wav(sound: &[f32]) -> Vec<u8> {
    let data = u32::try_from(sound.len() * 2).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(44 + sound.len() * 2);
    bytes.extend_from_slice(b"RIFF");
    bytes.extend_from_slice(&data.saturating_add(36).to_le_bytes());
    bytes.extend_from_slice(b"WAVEfmt ");
    bytes.extend_from_slice(&16_u32.to_le_bytes());
    bytes.extend_from_slice(&1_u16.to_le_bytes()); // PCM
    bytes.extend_from_slice(&1_u16.to_le_bytes()); // channels
    bytes.extend_from_slice(&SAMPLE_RATE.to_le_bytes());
    bytes.extend_from_slice(&(SAMPLE_RATE * 2).to_le_bytes()); // bytes per second
    bytes.extend_from_slice(&2_u16.to_le_bytes()); // bytes per sample
    bytes.extend_from_slice(&16_u16.to_le_bytes()); // bits
    bytes.extend_from_slice(b"data");
    bytes.extend_from_slice(&data.to_le_bytes());
    bytes.extend(to_pcm(sound).into_iter().flat_map(i16::to_le_bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wav_has_its_sizes_and_clips() {
        let wav = to_wav(&[0.0, 1.0, -2.0]);
        assert_eq!(wav.len(), 50);
        assert_eq!(&wav[4..8], 42_u32.to_le_bytes());
        assert_eq!(&wav[44..], [0, 0, 0xff, 0x7f, 0x00, 0x80]);
    }
}
