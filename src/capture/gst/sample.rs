//! What comes out of an appsink: stream time, and 32-bit float sound. (Its pictures: [`colour`](super::colour).)

use gstreamer as gst;

use crate::capture::audio::downmix::Downmix;

/// Nanoseconds from the stream's beginning to the buffer's first picture or sample, and how much of the
/// buffer lies before that beginning (then the time is 0); `None` where it lies wholly before it, or
/// carries no time.
///
/// Stream time, not PTS: H.264 files with reordered pictures begin at a PTS above 0, AAC at one below.
pub(in crate::capture) fn stream_time(sample: &gst::Sample) -> Option<(i64, i64)> {
    let pts = sample.buffer()?.pts()?;
    let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
    if let Some(time) = segment.to_stream_time(pts) {
        return i64::try_from(time.nseconds()).ok().map(|nanos| (nanos, 0));
    }
    let start = segment.start()?;
    let before = start.checked_sub(pts)?;
    let begins = segment.to_stream_time(start)?;
    Some((i64::try_from(begins.nseconds()).ok()?, i64::try_from(before.nseconds()).ok()?))
}

/// Where a sample ends by the container's own times, nanoseconds: streams need not begin at 0.
pub(in crate::capture) fn end_nanos(sample: &gst::Sample) -> Option<i64> {
    let buffer = sample.buffer()?;
    let end = buffer.pts()?.checked_add(buffer.duration().unwrap_or(gst::ClockTime::ZERO))?;
    i64::try_from(end.nseconds()).ok()
}

/// Whether the decoder says that a picture is not what was recorded: what it builds upon is not there.
pub(in crate::capture) fn is_corrupt(sample: &gst::Sample) -> bool {
    sample.buffer().is_some_and(|buffer| buffer.flags().contains(gst::BufferFlags::CORRUPTED))
}

/// Nanoseconds of running time of a live buffer.
pub(in crate::capture) fn running_time(sample: &gst::Sample) -> Option<i64> {
    let pts = sample.buffer()?.pts()?;
    let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
    i64::try_from(segment.to_running_time(pts)?.nseconds()).ok()
}

/// A run of sound, 16 kHz, 32-bit float, any number of interleaved channels → one. `mix` is made anew where the number
/// of channels is another.
pub(in crate::capture) fn floats(
    sample: &gst::Sample,
    mix: &mut Option<Downmix>,
) -> Result<Vec<f32>, String> {
    let buffer = sample.buffer().ok_or("a sample without a buffer")?;
    let caps = sample.caps().and_then(|caps| caps.structure(0));
    let channels = caps.and_then(|caps| {
        let is_read = caps.get::<&str>("format") == Ok("F32LE")
            && caps.get::<i32>("rate") == Ok(16_000)
            && caps.get::<&str>("layout") != Ok("non-interleaved");
        let channels = caps.get::<i32>("channels").ok()?;
        usize::try_from(channels).ok().filter(|channels| is_read && *channels > 0)
    });
    let channels = channels.ok_or(
        "appsink \"audio\" gets another form of sound; end the pipeline in \
         audio/x-raw,format=F32LE,rate=16000,layout=interleaved",
    )?;
    if mix.as_ref().is_some_and(|mix| mix.channels() != channels) {
        *mix = None;
    }
    let mix = mix.get_or_insert_with(|| Downmix::new(channels));
    let map = buffer.map_readable().map_err(|error| error.to_string())?;
    let samples: Vec<f32> =
        map.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Ok(if channels == 1 {
        samples
    } else {
        samples.chunks_exact(channels).map(|samples| mix.mix(samples)).collect()
    })
}
