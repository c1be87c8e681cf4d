//! Bags: recordings of messages under topics.
//!
//! ```text
//! file(s) ─▶ container (mcap, rosbag1, rosbag2: sqlite or mcap) ─▶ messages in log-time order
//!         ─▶ value (bytes + definition → values by name) ─▶ message (values → picture, sound, pose)
//!         ─▶ play (event time order, codecs) ─▶ items
//! ```
//!
//! Each arrow is a module of its own; everything up to `play` is a pure function over bytes. Which topics
//! are played is decided by their types ([`decode::role::Role`]).

pub mod cameras;
mod connection;
mod container;
pub mod decode;
pub mod fuzz;
mod order;
mod play;
mod probe;
mod sound_formats;
mod writer;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod damage_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod golden_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod mutations;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod reported_tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod seeds;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod unusual_tests;

use std::path::{Path, PathBuf};

use cameras::CameraInfos;
use connection::Container;
pub use connection::{BagReader, Connection, Found, Message, Topic};
pub use container::rosbag2::is_bag_folder;
pub use decode::role::Kind;
use decode::role::Role;
pub use decode::transform_tree::FrameNames;
pub(in crate::capture) use play::start as play;
use probe::BagProbe;
use sound_formats::SoundFormats;
pub use writer::{BagWriter, RecordError, Recorded, SplitLimits};

use super::error::CaptureError;
use super::options::ReplayOptions;
use crate::time::{Span, Timestamp};

/// A bag, opened and looked into.
#[derive(Debug)]
pub struct Bag {
    path: PathBuf,
    container: Box<dyn Container>,
    /// What its AudioInfo messages say, by their topic.
    formats: SoundFormats,
    /// What its CameraInfo messages say, and whom they may be about.
    cameras: CameraInfos,
    /// Whose clock its topics are stamped by, and which of them show nothing.
    first_look: BagProbe,
}

impl Bag {
    /// Opens a bag (a file or a rosbag2 folder) and finds out what is in it; `None`: it is no bag.
    ///
    /// # Errors
    /// When it cannot be read or nothing in it is whole.
    pub fn open(path: &Path) -> Result<Option<Self>, CaptureError> {
        let container: Box<dyn Container> = if path.is_dir() {
            Box::new(container::rosbag2::Split::of(path)?)
        } else if let Some(container) = container::rosbag2::alone(path)? {
            container
        } else {
            return Ok(None);
        };
        let formats = SoundFormats::default();
        let cameras = CameraInfos::default();
        let first_look = BagProbe::default();
        let mut bag = Self { path: path.to_owned(), container, formats, cameras, first_look };
        bag.formats = SoundFormats::of_bag(&*bag.container)?;
        bag.cameras = CameraInfos::of_bag(&*bag.container)?;
        bag.first_look = BagProbe::of_bag(&*bag.container, &bag.formats)?;
        Ok(Some(bag))
    }

    /// From the first to the last message; what is of another time before that does not count.
    fn span(&self) -> Option<Span> {
        let span = self.container.span()?;
        let is_wild = |first: &Timestamp| {
            first.secs_since(span.start) > order::timestamp_filter::MAX_GAP_SECS
        };
        let start = self.first_look.first.filter(is_wild).unwrap_or(span.start);
        Some(Span::new(start, span.end.max(start)))
    }

    /// Log time of the first message.
    #[must_use]
    pub fn start(&self) -> Option<Timestamp> {
        self.span().map(|span| span.start)
    }

    /// From the first to the last message.
    #[must_use]
    pub fn duration_secs(&self) -> Option<f64> {
        self.span().map(Span::secs)
    }

    /// Topics that can be played, in name order.
    ///
    /// Of several kinds of poses the most trustworthy is offered: what odometry or localization says, else
    /// the tree of frames, else plain poses (which may be goals); and those that are named. Text is offered where
    /// it is named as a transcript. Depth is no picture.
    #[must_use]
    pub fn topics(&self, options: &ReplayOptions) -> Vec<Topic> {
        let connections = self.container.connections();
        let rank = |role: Role| match role {
            Role::UncertainPose => 0,
            Role::Transforms | Role::Transform => 1,
            _ => 2,
        };
        let poses = connections.iter().filter_map(|connection| connection.role);
        let best = poses.filter(|role| role.kind() == Some(Kind::Pose)).map(rank).min();
        let mut topics: Vec<_> = connections
            .iter()
            .filter_map(|connection| {
                let role = connection.role?;
                let kind = role.kind()?;
                let among = |names: &[String]| names.iter().any(|n| **n == *connection.topic);
                let offered = match kind {
                    Kind::Pose => Some(rank(role)) == best || among(&options.topics),
                    Kind::Transcript => among(&options.transcripts),
                    Kind::Camera => self.first_look.measured(&connection.topic).is_none(),
                    Kind::Microphone => true,
                };
                offered.then(|| Topic { name: connection.topic.to_string(), kind })
            })
            .collect();
        topics.sort_by(|a, b| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
        topics.dedup();
        topics
    }

    /// What its CameraInfo messages say, and whom they may be about.
    #[must_use]
    pub fn cameras(&self) -> &CameraInfos {
        &self.cameras
    }

    /// Topics of types that nobody plays, each with its type, in name order; `None` when there are none.
    #[must_use]
    pub fn not_played(&self) -> Option<String> {
        let connections = self.container.connections();
        let unread = connections.iter().filter(|connection| connection.role.is_none());
        let mut names: Vec<String> =
            unread.map(|one| format!("{} ({})", one.topic, one.schema)).collect();
        names.sort();
        names.dedup();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// For people: what is in the bag instead of something that can be played.
    #[must_use]
    pub fn why_nothing_plays(&self) -> String {
        let connections = self.container.connections();
        let mut topics: Vec<_> = connections
            .iter()
            .map(|c| match self.first_look.measured(&c.topic) {
                Some(what) => format!("{} (depth, {what})", c.topic),
                None => format!("{} ({}, {})", c.topic, c.schema, c.encoding),
            })
            .collect();
        topics.sort();
        topics.dedup();
        let broken = self.container.damage().first();
        let broken = broken.map(|(cause, place)| format!(" [{cause}: {place}]"));
        let there = if topics.is_empty() { "nothing".to_owned() } else { topics.join(", ") };
        format!(
            "played are pictures, sound and poses of sensor_msgs, audio_common_msgs, nav_msgs, \
             geometry_msgs, tf2_msgs and foxglove; in it is {there}{}",
            broken.unwrap_or_default()
        )
    }

    /// Reads the messages of the connections for which `wanted` holds.
    ///
    /// # Errors
    /// When the file cannot be opened again.
    pub fn reader(
        &self,
        wanted: impl Fn(&Connection) -> bool,
    ) -> Result<Box<dyn BagReader>, CaptureError> {
        self.container.reader(&wanted)
    }
}
