//! One of the files or folders that are played together: what is in it, and what its topics are called.
//!
//! Pieces of one recording have the same topics one after the other: those go on. Topics that two parts have at the
//! same time are two sources: the later part's is called by the number of the part, `2:/camera`; and so are they in the
//! pieces that follow that part, unless an option names their own. Options may name a topic of one part alone in that
//! way, too.

use std::path::Path;

use super::bag::{self, Bag, Kind};
use super::error::CaptureError;
use super::gst::{self, MediaFile};
use super::options::ReplayOptions;
use super::playback::Playback;
use crate::ids::SourceId;
use crate::time::{Span, Timestamp};

/// What kind of container it is.
#[derive(Debug)]
pub(super) enum Container {
    /// Anything GStreamer decodes.
    Media(MediaFile),
    /// Messages under topics.
    Bag(Bag),
}

impl Container {
    pub(super) fn open(path: &Path) -> Result<Self, CaptureError> {
        Ok(match Bag::open(path)? {
            Some(bag) => Self::Bag(bag),
            None => Self::Media(gst::probe(path)?),
        })
    }

    /// When it says that it began.
    pub(super) fn start(&self) -> Option<Timestamp> {
        match self {
            Self::Media(media) => media.created,
            Self::Bag(bag) => bag.start(),
        }
    }

    pub(super) fn duration_secs(&self) -> Option<f64> {
        match self {
            Self::Media(media) => media.duration_secs,
            Self::Bag(bag) => bag.duration_secs(),
        }
    }

    /// When it was recorded, where it says so.
    fn span(&self) -> Option<Span> {
        let start = self.start()?;
        Some(Span::new(start, start.plus_secs(self.duration_secs()?)))
    }

    fn topics(&self, options: &ReplayOptions) -> Vec<bag::Topic> {
        match self {
            Self::Media(media) => media.topics(),
            Self::Bag(bag) => bag.topics(options),
        }
    }
}

/// A topic that is played.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Played {
    /// Its name, with the number of its part where another part has one of that name.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// What its items are called.
    pub(super) source: SourceId,
}

/// What a topic of part `number` is called: as in a part that ended before, unless one that ran `beside` it has that name
/// already.
fn free_name(
    topic: &str,
    number: usize,
    beside: &[&Part],
    apart: &[&Part],
    options: &ReplayOptions,
) -> String {
    let names = |parts: &[&Part]| -> Vec<String> {
        let of_topic =
            parts.iter().flat_map(|part| part.selected()).filter(|(own, _)| *own == topic);
        of_topic.map(|(_, played)| played.name.clone()).collect()
    };
    let (taken, own) = (names(beside), format!("{number}:{topic}"));
    let is_told_apart = options.remap.iter().any(|(from, _)| *from == own);
    let before = if is_told_apart { Vec::new() } else { names(apart) };
    let mut going_on = std::iter::once(topic.to_owned()).chain(before);
    going_on.find(|name| !taken.contains(name)).unwrap_or(own)
}

/// A part of a recording, looked into.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) container: Container,
    /// Capture time of its beginning.
    pub(super) start: Timestamp,
    /// From 1, as a person counts; `None` where there is but one.
    number: Option<usize>,
    /// The options as they hold for its own topics.
    options: ReplayOptions,
    /// Everything that can be played.
    there: Vec<bag::Topic>,
    /// Of that, what is selected: with its own names.
    selected: Vec<(String, Played)>,
}

impl Part {
    /// Looks into part `number` (`None`: there is but one), behind those `before` it.
    pub(super) fn of(
        container: Container,
        number: Option<usize>,
        start: Timestamp,
        before: &[Self],
        options: &ReplayOptions,
    ) -> Self {
        let mut own = match number {
            Some(number) => options.of_part(&format!("{number}:")),
            None => options.clone(),
        };
        let there = container.topics(&own);
        let span = container.span();
        // Where nobody knows when a part was recorded, it may have been at the same time.
        let is_beside = |other: &&Self| {
            span.zip(other.container.span()).is_none_or(|(span, other)| span.is_beside(other))
        };
        let (beside, apart): (Vec<&Self>, Vec<&Self>) = before.iter().partition(is_beside);
        let played = |bag::Topic { name: topic, kind }: &bag::Topic| {
            let name = match number {
                Some(number) => free_name(topic, number, &beside, &apart, options),
                None => topic.clone(),
            };
            // A topic that has the name of its part is renamed by that alone.
            let source = if name == *topic { own.source(topic) } else { options.source(&name) };
            (topic.clone(), Played { name, kind: *kind, source })
        };
        // What is named as a transcript is selected by that.
        let is_selected =
            |topic: &&bag::Topic| topic.kind == Kind::Transcript || own.selects(&topic.name);
        let selected: Vec<_> = there.iter().filter(is_selected).map(played).collect();
        for (topic, Played { name, source, .. }) in &selected {
            if name != topic {
                tracing::info!(topic, %source, "another recording has this topic at the same time: here it is another source");
            }
        }
        let renamed =
            |(topic, played): &(String, Played)| (topic.clone(), played.source.as_str().to_owned());
        own.remap = selected.iter().map(renamed).collect();
        Self { container, start, number, options: own, there, selected }
    }

    /// Its topics that are played.
    pub(super) fn played(&self) -> impl Iterator<Item = &Played> {
        self.selected.iter().map(|(_, played)| played)
    }

    /// Its topics that are played, each with its own name.
    pub(super) fn selected(&self) -> impl Iterator<Item = (&str, &Played)> {
        self.selected.iter().map(|(topic, played)| (topic.as_str(), played))
    }

    /// The names of all that can be played of it.
    pub(super) fn there(&self) -> impl Iterator<Item = &str> {
        self.there.iter().map(|topic| topic.name.as_str())
    }

    /// Whether it has a topic of text of that name, or of that name with its number.
    pub(super) fn has_text(&self, name: &str) -> bool {
        let numbered = self.number.and_then(|number| name.strip_prefix(&format!("{number}:")));
        self.there.iter().any(|topic| {
            topic.kind == Kind::Transcript && (topic.name == name || Some(&*topic.name) == numbered)
        })
    }

    /// Starts decoding it into `playback`.
    pub(super) fn play(&self, playback: Playback) -> Result<Playback, CaptureError> {
        match &self.container {
            Container::Media(media) => media.play(&self.options, self.start, playback),
            Container::Bag(bag) => {
                let topics: Vec<_> = self.selected().map(|(topic, _)| topic.to_owned()).collect();
                bag::play(bag, &topics, &self.options, self.start, playback)
            }
        }
    }
}
