//! A frame's pixels, and the JPEG that is kept of it.

use std::sync::Arc;

use image::RgbImage;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use crate::capture::imaging::picture::to_rgb_in;
use crate::media::{Frame, Picture};
use crate::perceive::PerceiveError;

/// JPEG quality of the frames that the window keeps.
const FRAME_QUALITY: u8 = 80;

/// The frame's pixels, and the JPEG that the window keeps.
pub(super) fn pixels(
    frame: &Frame,
    memory: Vec<u8>,
) -> Result<(RgbImage, Arc<[u8]>), PerceiveError> {
    let picture = to_rgb_in(frame, memory)?;
    if let Picture::Encoded(bytes) = &frame.picture
        && bytes.starts_with(&[0xFF, 0xD8])
    {
        return Ok((picture, Arc::clone(bytes)));
    }
    let jpeg = jpeg(&picture)?;
    Ok((picture, jpeg))
}

/// The picture as JPEG, colour at half the resolution as cameras and video files have it.
fn jpeg(picture: &RgbImage) -> Result<Arc<[u8]>, PerceiveError> {
    let fail = |why: String| PerceiveError::Picture {
        width: picture.width(),
        height: picture.height(),
        why,
    };
    let side = |length: u32| {
        u16::try_from(length).map_err(|_| fail("a side is over 65,535 px".to_owned()))
    };
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, FRAME_QUALITY);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder
        .encode(picture.as_raw(), width, height, ColorType::Rgb)
        .map_err(|error| fail(error.to_string()))?;
    Ok(bytes.into())
}
