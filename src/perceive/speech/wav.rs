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

/// The samples of a WAV file as [`to_wav`] writes it, in [-1, 1]; the message says what is expected and found.
///
/// # Errors
/// When it is no WAV file of 16-bit PCM, 16 kHz, mono, or holds no sound.
pub fn from_wav(bytes: &[u8]) -> Result<Vec<f32>, String> {
    let short = || "the WAV file ends too early".to_owned();
    if bytes.get(..4) != Some(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
        return Err("it is no WAV file (16-bit PCM, 16 kHz, mono)".to_owned());
    }
    let mut rest = bytes.get(12..).unwrap_or_default();
    let mut format = None;
    while let Some((head, after)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let body = after.get(..length.min(after.len())).unwrap_or_default();
        if &head[..4] == b"fmt " {
            let word = |at: usize| {
                let pair = body.get(at..at + 2).ok_or_else(short)?;
                Ok::<_, String>(u16::from_le_bytes([pair[0], pair[1]]))
            };
            let rate = u32::from(word(4)?) | u32::from(word(6)?) << 16;
            format = Some((word(0)?, word(2)?, rate, word(14)?));
        } else if &head[..4] == b"data" {
            let wanted = (1, 1, SAMPLE_RATE, 16);
            let (kind, channels, rate, bits) = format.ok_or_else(short)?;
            if (kind, channels, rate, bits) != wanted {
                return Err(format!(
                    "it is {rate} Hz, {channels} channels, {bits} bits (format {kind}), but must be 16-bit PCM, 16 kHz, mono"
                ));
            }
            let samples: Vec<f32> = body
                .chunks_exact(2)
                .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32_767.0)
                .collect();
            return if samples.is_empty() {
                Err("it holds no sound".to_owned())
            } else {
                Ok(samples)
            };
        }
        // Chunks begin at even places.
        rest = after.get(length.saturating_add(length % 2)..).unwrap_or_default();
    }
    Err(short())
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

    #[test]
    fn a_wav_is_read_back_and_others_are_named() {
        assert_eq!(from_wav(&to_wav(&[0.0, 1.0, -0.5])).map(|s| s.len()), Ok(3));
        let mut stereo = to_wav(&[0.0; 4]);
        stereo[22] = 2;
        assert!(from_wav(&stereo).is_err_and(|why| why.contains("2 channels")));
        assert!(from_wav(b"RIFF").is_err_and(|why| why.contains("no WAV")));
        assert!(from_wav(&to_wav(&[])).is_err_and(|why| why.contains("no sound")));
        let whole = to_wav(&[0.25; 9]);
        for length in 0..whole.len() {
            let _ = from_wav(&whole[..length]);
        }
    }
}
