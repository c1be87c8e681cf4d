//! Bags: recordings of messages under topics.
//!
//! Three steps, each by itself: a [`BagReader`] takes a container apart into messages in log-time order
//! (one file per container format), [`ros2`] turns a message's bytes into pictures, sound and poses, and
//! `play` puts these in event time order.

pub mod mcap;
mod play;
pub mod ros2;
mod sound;

use std::path::Path;
use std::sync::Arc;

use super::damage::Cause;
use super::error::CaptureError;
use super::playback::Playback;
use super::recording::ReplayOptions;
use crate::time::Timestamp;

/// What a topic carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Pictures.
    Camera,
    /// Sound.
    Microphone,
    /// Poses.
    Pose,
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// Name of the topic.
    pub topic: Arc<str>,
    /// Type of its messages, e.g. `sensor_msgs/msg/Image`.
    pub schema: Arc<str>,
    /// How they are written, e.g. `cdr`.
    pub encoding: Arc<str>,
}

/// One message, still in bytes.
#[derive(Clone, Debug)]
pub struct Message {
    /// Topic, type and encoding.
    pub connection: Arc<Connection>,
    /// When the recorder received it.
    pub log_time: Timestamp,
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

/// A bag, opened and looked into.
#[derive(Debug)]
pub struct Bag {
    index: Arc<mcap::Index>,
    /// What its AudioInfo messages say, by their topic.
    formats: sound::SoundFormats,
}

impl Bag {
    /// Opens a bag and finds out what is in it.
    ///
    /// # Errors
    /// When it cannot be read or nothing in it is whole.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let index = Arc::new(mcap::Index::of(path)?);
        let mut bag = Self { index, formats: sound::SoundFormats::default() };
        bag.formats = sound::SoundFormats::of_bag(&bag)?;
        Ok(bag)
    }

    /// Log time of the first message.
    #[must_use]
    pub fn start(&self) -> Option<Timestamp> {
        self.index.span.map(|span| span.start)
    }

    /// From the first to the last message.
    #[must_use]
    pub fn duration_secs(&self) -> Option<f64> {
        self.index.span.map(crate::time::Span::secs)
    }

    /// Topics that can be played, in name order.
    #[must_use]
    pub fn topics(&self) -> Vec<Topic> {
        let mut topics: Vec<_> = self
            .index
            .connections()
            .filter_map(|connection| {
                let kind = ros2::kind(&connection.schema, &connection.encoding)?;
                Some(Topic { name: connection.topic.to_string(), kind })
            })
            .collect();
        topics.sort_by(|a, b| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
        topics.dedup();
        topics
    }

    /// For people: what is in the bag instead of something that can be played.
    #[must_use]
    pub fn why_nothing_plays(&self) -> String {
        let mut topics: Vec<_> = self
            .index
            .connections()
            .map(|c| format!("{} ({}, {})", c.topic, c.schema, c.encoding))
            .collect();
        topics.sort();
        let broken = self.index.damage.first().map(|(cause, place)| format!(" [{cause}: {place}]"));
        let there = if topics.is_empty() { "nothing".to_owned() } else { topics.join(", ") };
        format!(
            "played are ROS 2 CompressedImage, Image, AudioData and Odometry in CDR; in it is {there}{}",
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
        Ok(Box::new(mcap::Reader::new(Arc::clone(&self.index), wanted)?))
    }

    /// Starts a thread that decodes the selected topics into `playback`.
    pub(super) fn play(
        &self,
        options: &ReplayOptions,
        start: Timestamp,
        playback: Playback,
    ) -> Result<Playback, CaptureError> {
        play::start(self, options, start, playback)
    }
}

/// Names the bag formats that are known by their names, but cannot be read yet.
///
/// # Errors
/// For a ROS 1 `.bag`, a `.db3` and a rosbag2 directory.
pub fn refuse_unsupported(path: &Path) -> Result<(), CaptureError> {
    let extension = path.extension().and_then(|text| text.to_str()).unwrap_or_default();
    let (format, cure) = match extension {
        "bag" => ("ROS 1", "pip install rosbags; rosbags-convert --src in.bag --dst out"),
        "db3" => ("rosbag2 SQLite", "ros2 bag convert -i in.db3 -o mcap.yaml"),
        _ if path.is_dir() && path.join("metadata.yaml").exists() => {
            ("rosbag2", "ros2 bag convert -i in -o mcap.yaml")
        }
        _ if path.is_dir() => {
            let reason = "it is a directory without metadata.yaml".to_owned();
            return Err(CaptureError::Unreadable { path: path.to_owned(), reason });
        }
        _ => return Ok(()),
    };
    Err(CaptureError::UnsupportedBag { path: path.to_owned(), format, cure })
}
