//! Bags: recordings of messages under topics.
//!
//! ```text
//! file(s) ─▶ container (mcap, rosbag1, rosbag2: sqlite or mcap) ─▶ messages in log-time order
//!         ─▶ value (bytes + definition → values by name) ─▶ message (values → picture, sound, pose)
//!         ─▶ play (event time order, codecs) ─▶ items
//! ```
//!
//! Each arrow is a module of its own; everything up to `play` is a pure function over bytes. Which topics
//! are played is decided by their types ([`decode::message::Role`]).

mod container;
pub mod decode;
pub mod fuzz;
mod order;
mod play;
mod probe;
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
use std::sync::Arc;

pub use container::rosbag2::is_bag_folder;
use decode::camera_info::CameraInfos;
use decode::definition::Definition;
use decode::message::Role;
pub use decode::transform_tree::FrameNames;
use probe::FirstLook;
pub use writer::{BagWriter, RecordError, Recorded, SplitLimits};

use super::damage::Cause;
use super::error::CaptureError;
use super::options::ReplayOptions;
use super::playback::Playback;
use crate::time::{Span, Timestamp};

/// What a topic carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Pictures.
    Camera,
    /// Sound.
    Microphone,
    /// Poses.
    Pose,
    /// Words that somebody else understood.
    Transcript,
}

/// A topic that can be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, as recorded.
    pub name: String,
    /// What it carries.
    pub kind: Kind,
}

/// A topic as the container declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Name of the topic.
    pub topic: Arc<str>,
    /// Type of its messages, e.g. `sensor_msgs/msg/Image`.
    pub schema: Arc<str>,
    /// How they are written, e.g. `cdr`.
    pub encoding: Arc<str>,
    /// What its messages are to engram; `None`: nothing that is played.
    pub role: Option<Role>,
    /// How they are taken apart; `None` for JSON.
    definition: Option<Definition>,
}

impl Connection {
    /// Of a topic with the type `schema`; `definition`: language and text, where the container has them.
    ///
    /// The second value tells what is wrong with the definition.
    #[must_use]
    pub fn new(
        topic: &str,
        schema: &str,
        encoding: &str,
        definition: Option<(&str, &[u8])>,
    ) -> (Self, Option<(Cause, String)>) {
        // JSON tells its names itself: of whatever type, it may be words.
        let role = Role::of(schema)
            .or_else(|| (encoding == "json").then_some(Role::Text))
            .filter(|_| is_read(encoding));
        let mut flaw = None;
        let mut parsed = None;
        // Types that are not played are nobody's business: their definitions may be anything.
        if role.is_some() && encoding != "json" {
            let told = definition.filter(|(_, text)| !text.is_empty());
            let told =
                told.map(|(language, text)| Definition::parse(schema, encoding, language, text));
            parsed = match told {
                Some(Ok(definition)) => Some(definition),
                Some(Err(why)) => {
                    let place = format!("topic {topic}, type {schema}: {why}");
                    flaw = Some((Cause::UnknownSchema, place));
                    Definition::built_in(schema, encoding)
                }
                None => Definition::built_in(schema, encoding),
            };
        }
        let connection = Self {
            topic: topic.into(),
            schema: schema.into(),
            encoding: encoding.into(),
            role,
            definition: parsed,
        };
        (connection, flaw)
    }

    /// Decodes a message of this topic; `None`: nothing that is played.
    ///
    /// # Errors
    /// When it does not parse, or holds what cannot be decoded.
    pub fn decode<'a>(
        &'a self,
        data: &'a [u8],
    ) -> Option<Result<decode::message::Decoded<'a>, decode::message::Refused>> {
        let role = self.role?;
        Some(match self.values(data) {
            Ok(value) => decode::message::decode(role, value),
            Err(why) => Err(decode::message::Refused::Malformed(why)),
        })
    }

    /// A message's values by their names.
    fn values<'a>(&'a self, data: &'a [u8]) -> Result<decode::value::Value<'a>, String> {
        decode::value::parse(self.definition.as_ref(), &self.encoding, data)
    }
}

/// Whether messages that are written so are read, if they are of a type that is.
fn is_read(encoding: &str) -> bool {
    matches!(encoding, "cdr" | "ros1" | "protobuf" | "json")
}

/// One message, still in bytes.
#[derive(Clone, Debug)]
pub struct Message {
    /// Topic, type and encoding.
    pub connection: Arc<Connection>,
    /// When the recorder received it.
    pub log_time: Timestamp,
    /// How far `log_time` was moved against what the file says, nanoseconds; its own stamps are to be moved as far.
    pub moved_nanos: i64,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// What a reader comes upon.
#[derive(Debug)]
pub enum Found {
    /// A message.
    Message(Message),
    /// Something that cannot be used.
    Damaged(Cause, String),
}

/// Takes a container apart: messages of the wanted connections in log-time order, then `None`.
pub trait BagReader: Send {
    /// The next message or piece of damage.
    fn next(&mut self) -> Option<Found>;
}

/// A container, looked into.
pub(super) trait Container: std::fmt::Debug + Send + Sync {
    /// Every topic that is declared.
    fn connections(&self) -> Vec<Arc<Connection>>;
    /// From the first to the last message, log time.
    fn span(&self) -> Option<Span>;
    /// What was found broken when it was looked into; a reader tells it again.
    fn damage(&self) -> &[(Cause, String)];
    /// Reads the messages of the connections for which `wanted` holds.
    fn reader(
        &self,
        wanted: &dyn Fn(&Connection) -> bool,
    ) -> Result<Box<dyn BagReader>, CaptureError>;
}

/// Opens a single bag file by its first bytes; `None`: it is no bag.
fn open_file(path: &Path) -> Result<Option<Box<dyn Container>>, CaptureError> {
    Ok(if container::mcap::is_mcap(path)? {
        Some(Box::new(Arc::new(container::mcap::Index::of(path)?)))
    } else if container::rosbag1::is_rosbag(path)? {
        Some(Box::new(Arc::new(container::rosbag1::Index::of(path)?)))
    } else if container::sqlite::is_sqlite(path)? {
        Some(Box::new(Arc::new(container::sqlite::Index::of(path, None)?)))
    } else {
        None
    })
}

/// A bag, opened and looked into.
#[derive(Debug)]
pub struct Bag {
    path: PathBuf,
    container: Box<dyn Container>,
    /// What its AudioInfo messages say, by their topic.
    formats: decode::sound::SoundFormats,
    /// What its CameraInfo messages say, and whom they may be about.
    cameras: CameraInfos,
    /// Whose clock its topics are stamped by, and which of them show nothing.
    first_look: FirstLook,
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
        let formats = decode::sound::SoundFormats::default();
        let cameras = CameraInfos::default();
        let first_look = FirstLook::default();
        let mut bag = Self { path: path.to_owned(), container, formats, cameras, first_look };
        bag.formats = decode::sound::SoundFormats::of_bag(&bag)?;
        bag.cameras = CameraInfos::of_bag(&bag)?;
        bag.first_look = FirstLook::of_bag(&bag, &bag.formats)?;
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

    /// Starts a thread that decodes the topics of these names into `playback`.
    pub(super) fn play(
        &self,
        topics: &[String],
        options: &ReplayOptions,
        start: Timestamp,
        playback: Playback,
    ) -> Result<Playback, CaptureError> {
        play::start(self, topics, options, start, playback)
    }
}
