//! Files with several tracks of sound: the first is heard, unless it is silent and another is not.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::AppSinkCallbacks;

use super::{launch, sample};

/// How long GStreamer may take to look into a file.
pub(super) const PROBE_SECS: u64 = 30;

/// Tracks are compared over so much of the file's beginning.
const COMPARED_SECS: u64 = 600;
/// A track with less than this of the loudest one's energy is silent: -40 dB.
const SILENT: f64 = 1e-4;

/// The same pipeline for the track that has so many before it: those run into nothing.
pub(super) fn behind(paragraph: &str, track: usize) -> String {
    match paragraph.split_once(" ! ") {
        Some((source, rest)) if track > 0 => {
            let others = " tracks. ! queue ! fakesink sync=false async=false".repeat(track);
            format!("{source} name=tracks{others} tracks. ! queue ! {rest}")
        }
        _ => paragraph.to_owned(),
    }
}

/// Which of so many tracks is heard, from 0: the first that is not silent beside the loudest. What cannot be found out
/// leaves the first.
pub(super) fn with_sound(path: &Path, uri: &str, tracks: usize) -> usize {
    let energies = energies(uri, tracks);
    let loudest = energies.iter().copied().fold(0.0, f64::max);
    let heard = energies.iter().position(|energy| *energy > loudest * SILENT);
    let track = heard.filter(|_| loudest > 0.0).unwrap_or(0);
    if track > 0 {
        tracing::warn!(path = %path.display(), tracks, heard = track + 1, "the first track of sound is silent: another is heard");
    } else {
        tracing::info!(path = %path.display(), tracks, "of several tracks of sound the first is heard");
    }
    track
}

/// How much sound is in the beginning of each track.
fn energies(uri: &str, tracks: usize) -> Vec<f64> {
    let energies = Arc::new(Mutex::new(vec![0.0; tracks]));
    let read = || -> Option<()> {
        let text = launch::find("file").ok()?;
        let paragraphs = launch::paragraphs(&text, uri);
        let paragraph = paragraphs.iter().find(|text| launch::has_sink(text, "audio"))?;
        let (source, _) = paragraph.split_once(" ! ")?;
        let mut all = format!("{source} name=tracks");
        for track in 0..tracks {
            all.push_str(&format!(
                " tracks. ! queue ! audioconvert dithering=none ! audioresample ! \
                 audio/x-raw,format=F32LE,rate=16000,layout=interleaved ! \
                 appsink name=track{track} sync=false async=false max-buffers=8"
            ));
        }
        let pipeline = launch::build("tracks", &all).ok()?;
        for track in 0..tracks {
            let sink = launch::sink(&pipeline, &format!("track{track}"))?;
            let (energies, mut mix) = (Arc::clone(&energies), None);
            let callbacks = AppSinkCallbacks::builder().new_sample(move |sink| {
                let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
                let most = i64::try_from(COMPARED_SECS * 1_000_000_000).unwrap_or(i64::MAX);
                if sample::stream_time(&sample).is_some_and(|(nanos, _)| nanos > most) {
                    return Err(gst::FlowError::Eos);
                }
                let samples = sample::floats(&sample, &mut mix).unwrap_or_default();
                let energy: f64 = samples.iter().map(|one| f64::from(*one).powi(2)).sum();
                let mut all = energies.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(own) = all.get_mut(track) {
                    *own += energy;
                }
                Ok(gst::FlowSuccess::Ok)
            });
            sink.set_callbacks(callbacks.build());
        }
        pipeline.set_state(gst::State::Playing).ok()?;
        let ends = [gst::MessageType::Eos, gst::MessageType::Error];
        let patience = gst::ClockTime::from_seconds(PROBE_SECS);
        pipeline.bus().and_then(|bus| bus.timed_pop_filtered(patience, &ends));
        let _ = pipeline.set_state(gst::State::Null);
        Some(())
    };
    if read().is_none() {
        tracing::debug!(uri, "its tracks of sound cannot be compared");
    }
    energies.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
