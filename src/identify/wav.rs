//! Sound as a WAV file: RIFF, 16-bit PCM, 16 kHz, mono.

use crate::media::SAMPLE_RATE;

/// A whole WAV file of samples in [-1, 1] (clipped, rounded to 16 bits).
#[must_use]
pub fn wav(samples: &[f32]) -> Vec<u8> {
    let bytes = (samples.len() * 2) as u32;
    let mut file = Vec::with_capacity(44 + samples.len() * 2);
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
    #[test]
    fn the_header_is_44_bytes_and_counts_right() {
        let file = super::wav(&[0.0, 1.0, -2.0]);
        assert_eq!(file.len(), 50);
        assert_eq!(&file[4..8], &42u32.to_le_bytes());
        assert_eq!(&file[46..50], &[0xff, 0x7f, 0x01, 0x80]);
    }
}
