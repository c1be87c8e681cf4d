//! Compressed streams whose packets come from elsewhere (bags): H.264, H.265, VP9, AV1, MP3, AAC, Opus.
//!
//! A packet is pushed through parser and decoder in the calling thread, and what comes out is taken at
//! once: no thread, no clock, no timing can change what is decoded when.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::AppSink;

use super::launch;
use crate::capture::error::CaptureError;

/// What a decoder is given and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capture) struct StreamKind {
    /// For messages, e.g. `H.264`.
    pub(in crate::capture) name: &'static str,
    /// Caps of the packets.
    pub(in crate::capture) caps: String,
    /// Elements from the packets to raw video or sound.
    pub(in crate::capture) decoder: &'static str,
    /// Pictures, not sound.
    pub(in crate::capture) video: bool,
}

/// A decoder that is fed packet by packet.
#[derive(Debug)]
pub(in crate::capture) struct StreamDecoder {
    kind: StreamKind,
    inlet: gst::Pad,
    pipeline: gst::Pipeline,
    sink: AppSink,
    faults: Arc<Mutex<VecDeque<String>>>,
}

impl StreamDecoder {
    /// Starts a decoder.
    ///
    /// # Errors
    /// When an element is not installed; the error names the package.
    pub(in crate::capture) fn start(kind: StreamKind) -> Result<Self, CaptureError> {
        let end = if kind.video {
            "video/x-raw"
        } else {
            "audioconvert dithering=none ! audioresample ! \
             audio/x-raw,format=F32LE,rate=16000,layout=interleaved"
        };
        let text = format!(
            "identity name=in ! {} ! {end} ! \
             appsink name=out sync=false async=false wait-on-eos=false",
            kind.decoder
        );
        let name = format!("{} decoder", kind.name);
        let pipeline = launch::build(&name, &text)?;
        let fail =
            |reason: &str| CaptureError::Pipeline { name: name.clone(), reason: reason.to_owned() };
        let sink = launch::sink(&pipeline, "out").ok_or_else(|| fail("it has no appsink"))?;
        let entry = pipeline.by_name("in").and_then(|element| element.static_pad("sink"));
        let entry = entry.ok_or_else(|| fail("it has no entry"))?;
        let faults = Arc::<Mutex<VecDeque<String>>>::default();
        if let Some(bus) = pipeline.bus() {
            let told = Arc::clone(&faults);
            bus.set_sync_handler(move |_, message| {
                let text = match message.view() {
                    gst::MessageView::Error(error) => Some(error.error().to_string()),
                    gst::MessageView::Warning(warning) => Some(warning.error().to_string()),
                    _ => None,
                };
                told.lock().unwrap_or_else(PoisonError::into_inner).extend(text);
                gst::BusSyncReply::Drop
            });
        }
        let inlet = gst::Pad::builder(gst::PadDirection::Src).name("inlet").build();
        inlet.set_active(true).map_err(|error| fail(&error.to_string()))?;
        inlet
            .link_full(&entry, gst::PadLinkCheck::empty())
            .map_err(|error| fail(&error.to_string()))?;
        pipeline.set_state(gst::State::Playing).map_err(|error| fail(&error.to_string()))?;
        let caps = kind.caps.parse::<gst::Caps>().map_err(|error| fail(&error.to_string()))?;
        inlet.push_event(gst::event::StreamStart::new("bag"));
        inlet.push_event(gst::event::Caps::new(&caps));
        inlet.push_event(gst::event::Segment::new(&gst::FormattedSegment::<gst::ClockTime>::new()));
        Ok(Self { kind, inlet, pipeline, sink, faults })
    }

    /// What it decodes.
    pub(in crate::capture) fn kind(&self) -> &StreamKind {
        &self.kind
    }

    /// Decodes a packet that begins `nanos` after the stream's beginning; what is ready goes to `out`.
    ///
    /// # Errors
    /// When the decoder gives up: a new one is due.
    pub(in crate::capture) fn push(
        &mut self,
        nanos: u64,
        packet: &[u8],
        out: &mut Vec<gst::Sample>,
    ) -> Result<(), String> {
        let mut buffer = gst::Buffer::from_slice(packet.to_vec());
        if let Some(buffer) = buffer.get_mut() {
            buffer.set_pts(gst::ClockTime::from_nseconds(nanos));
        }
        let result = self.inlet.push(buffer);
        self.ready(out);
        result.map(drop).map_err(|error| {
            let said = self.faults().into_iter().next();
            said.unwrap_or_else(|| format!("the {} decoder says {error}", self.kind.name))
        })
    }

    /// What the decoder has complained of since the last look.
    pub(in crate::capture) fn faults(&self) -> VecDeque<String> {
        std::mem::take(&mut *self.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the stream; what is still inside goes to `out`. (The sink must not wait at the end until it is
    /// emptied: it is emptied by this same thread.)
    pub(in crate::capture) fn finish(&mut self, out: &mut Vec<gst::Sample>) {
        self.inlet.push_event(gst::event::Eos::new());
        self.ready(out);
    }

    fn ready(&self, out: &mut Vec<gst::Sample>) {
        while let Some(sample) = self.sink.try_pull_sample(gst::ClockTime::ZERO) {
            out.push(sample);
        }
    }
}

impl Drop for StreamDecoder {
    fn drop(&mut self) {
        let _ = self.inlet.set_active(false);
        let _ = self.pipeline.set_state(gst::State::Null);
        if let Some(bus) = self.pipeline.bus() {
            bus.unset_sync_handler();
        }
    }
}

/// Nanoseconds from the stream's beginning, as [`StreamDecoder::push`] was told.
pub(in crate::capture) fn nanos(sample: &gst::Sample) -> Option<u64> {
    sample.buffer()?.pts().map(gst::ClockTime::nseconds)
}
