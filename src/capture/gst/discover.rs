//! What GStreamer finds in a file, where some of it cannot be decoded, too.

use std::sync::{Arc, Mutex, PoisonError};

use gstreamer as gst;
use gstreamer::glib;
use gstreamer_pbutils::{Discoverer, DiscovererInfo};

/// Looks into what is at `uri`, for so many seconds at most. What is missing is in the answer
/// ([`DiscovererInfo::result`]): the plain call of the library gives an error alone where one track has no decoder.
///
/// # Errors
/// What GStreamer says where nothing can be told.
pub(super) fn discover(uri: &str, most_secs: u64) -> Result<DiscovererInfo, String> {
    let context = glib::MainContext::new();
    let looked = context.with_thread_default(|| look(uri, most_secs, &context));
    looked.map_err(|error| error.to_string())?
}

fn look(uri: &str, most_secs: u64, context: &glib::MainContext) -> Result<DiscovererInfo, String> {
    let timeout = gst::ClockTime::from_seconds(most_secs);
    let discoverer = Discoverer::new(timeout).map_err(|error| error.to_string())?;
    let waiting = glib::MainLoop::new(Some(context), false);
    let found = Arc::<Mutex<Option<(DiscovererInfo, Option<String>)>>>::default();
    let slot = Arc::clone(&found);
    discoverer.connect_discovered(move |_, info, error| {
        let told = (info.clone(), error.map(ToString::to_string));
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    });
    let over = waiting.clone();
    discoverer.connect_finished(move |_| over.quit());
    discoverer.start();
    discoverer.discover_uri_async(uri).map_err(|error| error.to_string())?;
    waiting.run();
    discoverer.stop();
    let found = found.lock().unwrap_or_else(PoisonError::into_inner).take();
    match found {
        Some((info, None)) => Ok(info),
        Some((info, Some(_))) if !info.missing_elements_installer_details().is_empty() => Ok(info),
        Some((_, Some(error))) => Err(error),
        None => Err("it was not looked at".to_owned()),
    }
}
