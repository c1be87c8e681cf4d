//! Files that show a face or play a voice, as the `name` topic takes them: small, in one form, base64.

use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use image::codecs::jpeg::JpegEncoder;

use crate::bench::sound;
use crate::capture::imaging::picture::{PHOTO_SIDE_PX, photograph};
use crate::media::SAMPLE_RATE;
use crate::perceive::speech::to_wav;

/// JPEG quality of what is sent.
const QUALITY: u8 = 92;
/// Of a sound so much is sent, seconds.
const MOST_SECS: usize = 30;
/// A longer sound is sent from where a stretch of this length is no longer as good as silent: its root mean square.
const STRETCH: usize = SAMPLE_RATE as usize / 10;
const SILENT_RMS: f32 = 0.003;

/// A picture as JPEG of at most 1280 px, base64.
pub(super) fn photo(path: &Path) -> anyhow::Result<String> {
    let doing = || format!("reading the photo {}", path.display());
    let bytes = std::fs::read(path).with_context(doing)?;
    let picture = photograph(&bytes, PHOTO_SIDE_PX)
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("{}: it must be a JPEG or PNG picture", doing()))?;
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, QUALITY)
        .encode_image(&picture)
        .with_context(|| format!("making {} smaller", path.display()))?;
    Ok(BASE64.encode(jpeg))
}

/// A sound as WAV, 16 kHz mono, base64: of a long one the beginning, after the silence before it.
pub(super) fn voice(path: &Path) -> anyhow::Result<String> {
    let sound =
        sound::read(path).with_context(|| format!("reading the voice {}", path.display()))?;
    let (from, sent) = excerpt(&sound);
    if sent.len() < sound.len() {
        let secs = |samples: usize| samples as f64 / f64::from(SAMPLE_RATE);
        tracing::warn!(
            path = %path.display(),
            "Of this sound of {:.0} s only the {:.0} s from {:.1} s on are heard; cut it down to the speech if that is elsewhere.",
            secs(sound.len()), secs(sent.len()), secs(from)
        );
    }
    Ok(BASE64.encode(to_wav(sent)))
}

/// What is sent of a sound, and at which sample that begins.
fn excerpt(sound: &[f32]) -> (usize, &[f32]) {
    let most = MOST_SECS * SAMPLE_RATE as usize;
    if sound.len() <= most {
        return (0, sound);
    }
    let heard = |stretch: &[f32]| {
        let power = stretch.iter().map(|v| v * v).sum::<f32>() / stretch.len() as f32;
        power.sqrt() >= SILENT_RMS
    };
    let first = sound.chunks(STRETCH).position(heard).unwrap_or(0);
    // A voice begins softly, and what begins late is heard to the end.
    let from = (first.saturating_sub(2) * STRETCH).min(sound.len() - most);
    (from, &sound[from..from + most])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_sound_the_speech_after_a_long_silence_is_sent() {
        let second = SAMPLE_RATE as usize;
        let mut sound = vec![0.0; 31 * second];
        sound.extend((0..9 * second).map(|n| 0.2 * (n as f32 * 0.1).sin()));
        let (from, sent) = excerpt(&sound);
        assert_eq!((from, sent.len()), (10 * second, 30 * second), "it ends with the sound");
        sound.extend(vec![0.1; 60 * second]);
        let (from, sent) = excerpt(&sound);
        assert_eq!((from, sent.len()), (31 * second - 2 * STRETCH, 30 * second));
        let short = vec![0.0; 5 * second];
        assert_eq!(excerpt(&short), (0, &short[..]));
        assert_eq!(excerpt(&vec![0.0; 40 * second]).0, 0, "silence all over");
    }

    #[test]
    fn a_large_photo_is_made_smaller_and_what_is_none_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        image::RgbImage::from_pixel(2000, 500, image::Rgb([9, 99, 199])).save(&path).unwrap();
        let sent = BASE64.decode(photo(&path).unwrap()).unwrap();
        let seen = image::load_from_memory(&sent).unwrap();
        assert_eq!((seen.width(), seen.height()), (1280, 320));
        std::fs::write(&path, b"no picture").unwrap();
        let error = format!("{:#}", photo(&path).unwrap_err());
        assert!(error.contains("a.png") && error.contains("JPEG or PNG"), "{error}");
        let error = format!("{:#}", voice(&dir.path().join("none.wav")).unwrap_err());
        assert!(error.contains("none.wav"), "{error}");
    }
}
