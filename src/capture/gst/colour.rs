//! Decoded pictures as they are handed on: YUV of 8 bits as it was decoded, with its range and matrix, and RGB.
//!
//! Where values lie in a buffer (planes, strides, sub-sampling) and what they mean (range, matrix) is told by its caps and
//! metadata. Rarer forms (10 bits and more, tiles) are brought to 8 bits by GStreamer's converter first; that changes
//! neither range nor matrix, in which it is coarse (see [`yuv`](crate::capture::imaging::yuv)).

use std::sync::Arc;

use gstreamer as gst;
use gstreamer_video::prelude::*;
use gstreamer_video::{
    VideoColorMatrix, VideoColorRange, VideoConverter, VideoFormat, VideoFormatFlags,
    VideoFrameRef, VideoInfo,
};

use super::buffers::BufferPool;
use crate::media::{Picture, Place, YuvCoding, YuvLayout, YuvMatrix, YuvPixels};

/// Takes one stream's pictures; what depends on their form alone is made once.
#[derive(Debug, Default)]
pub(in crate::capture) struct Pictures {
    made: Option<Made>,
    buffers: BufferPool,
}

#[derive(Debug)]
struct Made {
    caps: gst::Caps,
    from: VideoInfo,
    /// For forms that are not handed on as they are.
    converter: Option<Converter>,
}

impl Pictures {
    /// A picture's width, height and pixels, without row padding; one copy.
    ///
    /// # Errors
    /// When the sample is no picture in memory, or in a form that GStreamer does not convert.
    pub(in crate::capture) fn take(
        &mut self,
        sample: &gst::Sample,
    ) -> Result<(u32, u32, Picture), String> {
        let buffer = sample.buffer().ok_or("a sample without a buffer")?;
        let caps = sample.caps().ok_or("a picture without caps")?;
        if self.made.as_ref().is_none_or(|made| made.caps.as_ref() != caps) {
            let from = VideoInfo::from_caps(caps).map_err(|error| {
                format!("appsink \"video\" gets no pictures in memory ({error}); end the pipeline in video/x-raw")
            })?;
            let converter = if is_plain_yuv(&from) { None } else { Some(Converter::new(&from)?) };
            self.made = Some(Made { caps: caps.to_owned(), from, converter });
        }
        let Some(Made { from, converter, .. }) = &mut self.made else {
            return Err("a picture of no form".to_owned());
        };
        let frame = VideoFrameRef::from_buffer_ref_readable(buffer, from)
            .map_err(|_| "a picture that cannot be mapped".to_owned())?;
        let picture = match converter {
            None => Picture::Yuv(planes(&frame, &self.buffers)?),
            Some(converter) => converter.convert(&frame, &self.buffers)?,
        };
        Ok((frame.width(), frame.height(), picture))
    }
}

/// Whether it is YUV of 8 bits whose values lie at equal distances.
fn is_plain_yuv(info: &VideoInfo) -> bool {
    let (form, flags) = (info.format_info(), info.format_info().flags());
    let odd = VideoFormatFlags::COMPLEX | VideoFormatFlags::TILED | VideoFormatFlags::PALETTE;
    flags.contains(VideoFormatFlags::YUV)
        && !flags.intersects(odd)
        && form.n_components() >= 3
        && form.depth().iter().all(|bits| *bits == 8)
        && form.shift().iter().all(|shift| *shift == 0)
}

/// Range and matrix, as caps tell them or, where they do not, as GStreamer takes them for a picture of that size.
fn coding(info: &VideoInfo) -> YuvCoding {
    let colorimetry = info.colorimetry();
    let matrix = match colorimetry.matrix() {
        VideoColorMatrix::Bt709 => YuvMatrix::Bt709,
        VideoColorMatrix::Bt2020 => YuvMatrix::Bt2020,
        VideoColorMatrix::Fcc => YuvMatrix::Fcc,
        VideoColorMatrix::Smpte240m => YuvMatrix::Smpte240m,
        _ => YuvMatrix::Bt601,
    };
    YuvCoding { full_range: colorimetry.range() == VideoColorRange::Range0_255, matrix }
}

/// Copies the planes of a picture of plain YUV, rows without their padding.
fn planes<T>(frame: &VideoFrameRef<T>, buffers: &BufferPool) -> Result<YuvPixels, String> {
    /// One value of Y, U or V in its plane.
    struct Component {
        plane: usize,
        first: usize,
        step: usize,
        columns: usize,
        rows: usize,
    }
    let info = frame.info();
    let form = info.format_info();
    let (width, height) = (frame.width() as usize, frame.height() as usize);
    let component = |n: usize| -> Option<Component> {
        let (across, down) = (*form.w_sub().get(n)?, *form.h_sub().get(n)?);
        Some(Component {
            plane: usize::try_from(*form.plane().get(n)?).ok()?,
            first: usize::try_from(*form.poffset().get(n)?).ok()?,
            step: usize::try_from(*form.pixel_stride().get(n)?).ok()?,
            columns: width.div_ceil(1 << across),
            rows: height.div_ceil(1 << down),
        })
    };
    let (Some(y), Some(u), Some(v)) = (component(0), component(1), component(2)) else {
        return Err("a picture without planes".to_owned());
    };
    let components = [y, u, v];
    let mut places = [Place { offset: 0, stride: 0, step: 0 }; 3];
    // (Without padding it is no more than GStreamer's own.)
    let mut data = buffers.take(info.size());
    for plane in 0..form.n_planes() as usize {
        let within = || components.iter().filter(|component| component.plane == plane);
        let row = within().map(|one| one.first + one.columns.saturating_sub(1) * one.step + 1);
        let (Some(row), Some(rows)) = (row.max(), within().map(|one| one.rows).max()) else {
            continue;
        };
        let stride = frame.plane_stride().get(plane).and_then(|bytes| usize::try_from(*bytes).ok());
        let stride = stride.ok_or("a picture with rows upside down")?;
        let bytes = frame.plane_data(plane as u32).map_err(|error| error.to_string())?;
        for (place, _) in places.iter_mut().zip(&components).filter(|(_, one)| one.plane == plane) {
            (place.offset, place.stride) = (data.len(), row);
        }
        for from in bytes.chunks(stride.max(1)).take(rows) {
            data.extend_from_slice(from.get(..row).ok_or("a picture whose rows are too short")?);
        }
    }
    for (place, one) in places.iter_mut().zip(&components) {
        (place.offset, place.step) = (place.offset + one.first, one.step);
    }
    let shift = |subs: &[u32]| subs.get(1).and_then(|sub| u8::try_from(*sub).ok()).unwrap_or(0);
    let layout = YuvLayout { places, across: shift(form.w_sub()), down: shift(form.h_sub()) };
    if !layout.fits(width, height, data.len()) {
        return Err("a picture with fewer rows than it is high".to_owned());
    }
    Ok(YuvPixels { layout, coding: coding(info), data: buffers.share(data) })
}

/// GStreamer's converter for pictures of one form: other YUV to planes of 8 bits, all else to RGB.
#[derive(Debug)]
struct Converter {
    to: VideoInfo,
    converter: VideoConverter,
    result: gst::Buffer,
}

impl Converter {
    fn new(from: &VideoInfo) -> Result<Self, String> {
        let told = |error: gst::glib::BoolError| {
            format!("pictures in {:?} are not converted: {error}", from.format())
        };
        let is_yuv = from.format_info().flags().contains(VideoFormatFlags::YUV);
        let format = if is_yuv { VideoFormat::Y444 } else { VideoFormat::Rgb };
        let to = VideoInfo::builder(format, from.width(), from.height())
            .interlace_mode(from.interlace_mode())
            .fps(from.fps())
            .par(from.par());
        let colorimetry = from.colorimetry();
        let to = if is_yuv { to.colorimetry(&colorimetry) } else { to };
        let to = to.build().map_err(told)?;
        let converter = VideoConverter::new(from, &to, None).map_err(told)?;
        let result = gst::Buffer::with_size(to.size()).map_err(told)?;
        Ok(Self { to, converter, result })
    }

    fn convert<T>(
        &mut self,
        frame: &VideoFrameRef<T>,
        buffers: &BufferPool,
    ) -> Result<Picture, String> {
        {
            let result = self.result.get_mut().ok_or("a shared picture")?;
            let mut shown = VideoFrameRef::from_buffer_ref_writable(result, &self.to)
                .map_err(|_| "no room for a picture".to_owned())?;
            self.converter.frame_ref(frame, &mut shown);
        }
        let shown = VideoFrameRef::from_buffer_ref_readable(&self.result, &self.to)
            .map_err(|_| "a picture that cannot be mapped".to_owned())?;
        if is_plain_yuv(&self.to) {
            return Ok(Picture::Yuv(planes(&shown, buffers)?));
        }
        let (row, stride) = (3 * self.to.width() as usize, self.to.stride().first().copied());
        let stride = stride.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0).max(1);
        let bytes = shown.plane_data(0).map_err(|error| error.to_string())?;
        let rows = bytes.chunks(stride).take(self.to.height() as usize);
        let rgb: Vec<u8> = rows.flat_map(|line| line.iter().take(row)).copied().collect();
        Ok(Picture::Rgb8(Arc::from(rgb)))
    }
}
