//! Launch descriptions: found by name, filled in, started.
//!
//! A `.launch` file is what `gst-launch-1.0` takes, with `#` comments, `{uri}` for the device or address,
//! and appsinks named `video` and/or `audio`. Paragraphs (separated by an empty line) are pipelines of
//! their own: they share nothing and never wait for each other.

use std::path::PathBuf;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app::AppSink;

use super::packages;
use crate::capture::error::CaptureError;

/// Where launch files are looked for: beside a checkout's binary or working directory, then installed ones.
fn folders() -> Vec<PathBuf> {
    let beside_binary = std::env::current_exe().ok().and_then(|exe| {
        exe.ancestors().skip(1).take(5).map(|dir| dir.join("pipelines")).find(|dir| dir.is_dir())
    });
    let installed = ["pipelines", "/etc/engram/pipelines", "/usr/share/engram/pipelines"];
    installed.into_iter().map(PathBuf::from).chain(beside_binary).collect()
}

/// The text of a pipeline: the named file's, or the name itself where it contains `!`.
pub(in crate::capture) fn find(name: &str) -> Result<String, CaptureError> {
    if name.contains('!') {
        return Ok(name.to_owned());
    }
    let folders = folders();
    for folder in &folders {
        let path = folder.join(name).with_extension("launch");
        if path.is_file() {
            return std::fs::read_to_string(&path)
                .map_err(|source| CaptureError::Io { path, source });
        }
    }
    let searched: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(CaptureError::PipelineNotFound { name: name.to_owned(), searched: searched.join(", ") })
}

/// The paragraphs of a description, without comments, `{uri}` filled in. Without one, properties set to
/// `"{uri}"` are left out: the element's default counts.
pub(in crate::capture) fn paragraphs(text: &str, uri: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            paragraphs.push(String::new());
        } else if !line.starts_with('#')
            && let Some(paragraph) = paragraphs.last_mut()
        {
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    let quoted = uri.replace('\\', "\\\\").replace('"', "\\\"");
    let filled = |paragraph: &String| {
        let words = paragraph.split(' ');
        let kept = words.filter(|word| !(uri.is_empty() && word.ends_with("=\"{uri}\"")));
        kept.collect::<Vec<_>>().join(" ").replace("{uri}", &quoted)
    };
    paragraphs.iter().map(filled).collect()
}

/// Whether a paragraph has an appsink of that name.
pub(in crate::capture) fn has_sink(paragraph: &str, sink: &str) -> bool {
    paragraph.split_whitespace().any(|word| word.strip_prefix("name=") == Some(sink))
}

/// Builds a pipeline; nothing flows yet. `name` is for messages.
pub(in crate::capture) fn build(
    name: &str,
    paragraph: &str,
) -> Result<gst::Pipeline, CaptureError> {
    super::init()?;
    let mut context = gst::ParseContext::new();
    let flags = gst::ParseFlags::FATAL_ERRORS;
    let element = gst::parse::launch_full(paragraph, Some(&mut context), flags).map_err(
        // (An element with a property that it does not have counts as missing, too.)
        |error| match context.missing_elements().first() {
            Some(missing) if gst::ElementFactory::find(missing).is_none() => {
                CaptureError::MissingPlugin {
                    doing: format!("starting pipeline {name:?}"),
                    what: format!("the element {missing}"),
                    package: packages::of_element(missing).map(str::to_owned),
                }
            }
            _ => CaptureError::Pipeline {
                name: name.to_owned(),
                reason: format!("{error} in `{}`", paragraph.trim()),
            },
        },
    )?;
    let pipeline = element.downcast::<gst::Pipeline>().map_err(|_| CaptureError::Pipeline {
        name: name.to_owned(),
        reason: "it is a single element; link at least a source and an appsink with `!`".to_owned(),
    })?;
    // MJPEG over HTTP is one stream; without being told, a decodebin waits for others.
    pipeline.connect_deep_element_added(|_, _, element| {
        if element.factory().is_some_and(|factory| factory.name().as_str() == "multipartdemux") {
            element.set_property("single-stream", true);
        }
    });
    Ok(pipeline)
}

/// Has a live pipeline run by the machine's monotonic clock, whatever clocks its elements offer: a sound card's drifts, and
/// what is seen and what is heard would part. Sources of sound then stamp what they read by that clock; how fast the card
/// is is seen by these stamps, and none of its samples is left out or repeated to hide it. (Not beside an echo canceller: it
/// lays two devices' sounds over each other by their stamps, which have to be even for that.)
pub(in crate::capture) fn run_by_system_clock(pipeline: &gst::Pipeline) {
    pipeline.use_clock(Some(&gst::SystemClock::obtain()));
    let elements: Vec<gst::Element> = pipeline.iterate_recurse().into_iter().flatten().collect();
    let cancels = |element: &gst::Element| {
        element.factory().is_some_and(|factory| factory.name().as_str() == "webrtcdsp")
    };
    if elements.iter().any(cancels) {
        return;
    }
    elements.iter().for_each(restamp);
    pipeline.connect_deep_element_added(|_, _, element| restamp(element));
}

/// Sets `slave-method` of a source of sound ([`GstAudioBaseSrc`]) that still has its default, which skips and repeats.
///
/// [`GstAudioBaseSrc`]: https://gstreamer.freedesktop.org/documentation/audio/gstaudiobasesrc.html
fn restamp(element: &gst::Element) {
    let base = gst::glib::Type::from_name("GstAudioBaseSrc");
    if !base.is_some_and(|base| element.type_().is_a(base)) {
        return;
    }
    let method = element.property_value("slave-method");
    let is_default =
        gst::glib::EnumValue::from_value(&method).is_some_and(|(_, value)| value.nick() == "skew");
    if is_default {
        element.set_property_from_str("slave-method", "re-timestamp");
    }
}

/// The appsink of that name, if there is one.
pub(in crate::capture) fn sink(pipeline: &gst::Pipeline, name: &str) -> Option<AppSink> {
    pipeline.by_name(name)?.downcast().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_pipelines_of_their_own() {
        let text =
            "# a comment\nsrc uri=\"{uri}\" !\n  appsink name=video\n\n\nb ! appsink name=audio\n";
        let paragraphs = paragraphs(text, "file:///a b.mp4");
        assert_eq!(paragraphs.len(), 2);
        assert_eq!(paragraphs[0], "src uri=\"file:///a b.mp4\" ! appsink name=video ");
        assert_eq!(super::paragraphs(text, "")[0], "src ! appsink name=video ");
        assert!(has_sink(&paragraphs[0], "video") && !has_sink(&paragraphs[1], "video"));
    }

    #[test]
    fn every_shipped_description_parses_or_names_its_package() {
        for name in ["file", "test", "v4l2", "rtsp", "uri", "libcamera", "alsa", "pulse"] {
            for paragraph in paragraphs(&find(name).unwrap(), "rtsp://127.0.0.1/x") {
                match build(name, &paragraph) {
                    Ok(pipeline) => {
                        assert!(sink(&pipeline, "video").or(sink(&pipeline, "audio")).is_some());
                    }
                    Err(CaptureError::MissingPlugin { package: Some(package), .. }) => {
                        assert!(package.starts_with("gstreamer1.0-"), "{package}");
                    }
                    Err(error) => panic!("{name}: {error}"),
                }
            }
        }
    }

    #[test]
    fn a_live_pipeline_runs_by_the_system_clock_whatever_sound_card_is_in_it() {
        // ALSA's own null device offers a clock as any card does.
        let card = "alsasrc device=null ! fakesink sync=false";
        let Ok(pipeline) = build("card", card) else {
            return eprintln!("SKIPPED: GStreamer's plugin for ALSA is not installed");
        };
        let runs_by = |pipeline: &gst::Pipeline| {
            pipeline.set_state(gst::State::Playing).unwrap();
            let clock = pipeline.bus().unwrap().timed_pop_filtered(
                gst::ClockTime::from_seconds(10),
                &[gst::MessageType::NewClock, gst::MessageType::Error],
            );
            let clock = clock.and_then(|message| match message.view() {
                gst::MessageView::NewClock(new) => new.clock(),
                _ => None,
            });
            pipeline.set_state(gst::State::Null).unwrap();
            clock.unwrap()
        };
        assert!(!runs_by(&pipeline).is::<gst::SystemClock>() || pipeline.clock().is_some());
        let pipeline = build("card", card).unwrap();
        run_by_system_clock(&pipeline);
        let clock = runs_by(&pipeline).downcast::<gst::SystemClock>().unwrap();
        assert_eq!(clock.property::<gst::ClockType>("clock-type"), gst::ClockType::Monotonic);
        let method = |text: &str| {
            let pipeline = build("card", text).unwrap();
            run_by_system_clock(&pipeline);
            let value = pipeline.by_name("mic").unwrap().property_value("slave-method");
            let (_, value) = gst::glib::EnumValue::from_value(&value).unwrap();
            value.nick().to_owned()
        };
        assert_eq!(method("alsasrc name=mic ! fakesink"), "re-timestamp");
        assert_eq!(method("alsasrc name=mic slave-method=none ! fakesink"), "none");
    }

    #[test]
    fn unknown_names_and_elements_are_told() {
        assert!(matches!(find("no_such"), Err(CaptureError::PipelineNotFound { .. })));
        let missing = build("x", "nosuchelement ! appsink name=video").unwrap_err();
        let told = missing.to_string();
        assert!(told.contains("nosuchelement") && !told.contains("sudo"), "{told}");
    }

    #[test]
    fn a_description_that_does_not_parse_is_told_without_its_password() {
        for text in [
            "videotestsrc name=\"rtsp://u:geheim@cam\" nosuchproperty=1 ! appsink name=video",
            "videotestsrc user-pw=geheim ! appsink name=video",
        ] {
            let told = build("x", text).unwrap_err().to_string();
            assert!(told.contains("***") && !told.contains("geheim"), "{told}");
        }
        let told = find("rtspsrc location=rtsp://u:geheim@cam").unwrap_err().to_string();
        assert!(told.contains("***") && !told.contains("geheim"), "{told}");
    }
}
