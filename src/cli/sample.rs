//! Files that show a face or play a voice, as the `name` topic takes them: small, in one form, base64.

use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use image::codecs::jpeg::JpegEncoder;

use crate::bench::sound;
use crate::capture::picture::{PHOTO_SIDE_PX, photograph};
use crate::media::SAMPLE_RATE;
use crate::perceive::speech::to_wav;

/// JPEG quality of what is sent.
const QUALITY: u8 = 92;
/// Of a sound so much is sent, seconds.
const MOST_SECS: usize = 30;

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

/// The beginning of a sound as WAV, 16 kHz mono, base64.
pub(super) fn voice(path: &Path) -> anyhow::Result<String> {
    let sound =
        sound::read(path).with_context(|| format!("reading the voice {}", path.display()))?;
    let most = MOST_SECS * SAMPLE_RATE as usize;
    Ok(BASE64.encode(to_wav(&sound[..sound.len().min(most)])))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
