//! A bag's messages → items in event time order, in a thread of its own.
//!
//! Messages come in the order in which they were recorded; what they carry was captured a little earlier.
//! Items wait here until recording time is 2 s past them, so that they leave in the order of capture.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::codec::{Shown, SoundStream, VideoStream};
use super::frames::FrameTree;
use super::message::{Decoded, Refused};
use super::plausible::Plausible;
use super::sound::SoundFormats;
use super::{Bag, BagReader, Found, Kind, Message};
use crate::capture::blocks::Blocks;
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::capture::playback::{Event, Outlet, Playback, Producer};
use crate::capture::recording::ReplayOptions;
use crate::ids::SourceId;
use crate::media::{Block, Frame, Item, Picture, Pose, ToldWords};
use crate::time::{Span, Timestamp};

/// How late an item may be recorded and still be put in order.
const REORDER_SECS: f64 = 2.0;
/// A header stamp further than this from the log time is of another clock: the log time is taken.
const TRUSTED_STAMP_SECS: f64 = 60.0;
/// A picture that is still inside its decoder after this long is called out: its stream pauses.
const VIDEO_PAUSE_SECS: f64 = 10.0;
/// Sound that does not go on for this long is given out as it is.
const SOUND_PAUSE_SECS: f64 = 1.0;
/// Nobody speaks longer in one turn.
const MOST_WORDS_SECS: f64 = 300.0;
/// Items that wait for the consumer.
const CHANNEL_ITEMS: usize = 32;

/// Starts the thread.
pub(super) fn start(
    bag: &Bag,
    topics: &[String],
    options: &ReplayOptions,
    start: Timestamp,
    mut playback: Playback,
) -> Result<Playback, CaptureError> {
    let reader = bag.reader(|connection| {
        connection.role.and_then(super::Role::kind).is_some()
            && topics.iter().any(|name| **name == *connection.topic)
    })?;
    let recorded = bag.start().unwrap_or(start);
    let player = Player {
        reader: Box::new(Plausible::of(reader)),
        outlet: playback.outlet(CHANNEL_ITEMS),
        options: options.clone(),
        formats: bag.formats.clone(),
        flaws: bag.cameras.flaws().cloned().collect(),
        shift_nanos: start.as_nanos().saturating_sub(recorded.as_nanos()),
        topics: BTreeMap::new(),
        frames: FrameTree::default(),
        sorter: Sorter::default(),
    };
    let handle = std::thread::Builder::new()
        .name("bag".to_owned())
        .spawn(move || player.run())
        .map_err(|source| CaptureError::Io { path: bag.path.clone(), source })?;
    playback.keep(Box::new(PlayerThread(Some(handle))));
    Ok(playback)
}

/// Waits for the thread when the playback goes; its channel is closed by then.
struct PlayerThread(Option<JoinHandle<()>>);

impl Producer for PlayerThread {}

impl Drop for PlayerThread {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            let _ = handle.join();
        }
    }
}

/// What is kept of a topic from message to message.
struct TopicState {
    source: SourceId,
    frames: u64,
    video: Option<VideoStream>,
    blocks: Blocks,
    /// `None` before the first sound.
    sound: Option<Result<SoundStream, String>>,
}

impl TopicState {
    fn new(source: SourceId) -> Self {
        let blocks = Blocks::new(source.clone());
        Self { source, frames: 0, video: None, blocks, sound: None }
    }

    fn frame(&self, shown: Shown) -> Item {
        let Shown { at, number, width, height, pixels } = shown;
        let (source, picture) = (self.source.clone(), Picture::I420(pixels));
        Item::Frame(Frame { source, at, number, width, height, picture })
    }
}

/// What went wrong with one message.
type Flaw = (Cause, String);

struct Player {
    reader: Box<dyn BagReader>,
    outlet: Outlet,
    options: ReplayOptions,
    formats: SoundFormats,
    /// Calibrations that could not be used.
    flaws: Vec<Flaw>,
    /// From the recording's own times to the ones asked for.
    shift_nanos: i64,
    topics: BTreeMap<Arc<str>, TopicState>,
    frames: FrameTree,
    sorter: Sorter,
}

impl Player {
    fn run(mut self) {
        for (cause, place) in std::mem::take(&mut self.flaws) {
            if !self.outlet.send(Event::Damaged(cause, place)) {
                return;
            }
        }
        while let Some(found) = self.reader.next() {
            let listening = match found {
                Found::Damaged(cause, place) => self.outlet.send(Event::Damaged(cause, place)),
                Found::Message(message) => self.message(&message),
            };
            if !listening {
                return;
            }
        }
        if self.finish() {
            self.outlet.send(Event::End);
        }
    }

    fn shifted(&self, at: Timestamp) -> Timestamp {
        Timestamp::from_nanos(at.as_nanos().saturating_add(self.shift_nanos))
    }

    /// Decodes one message and gives out what has waited long enough; `false` when nobody listens.
    fn message(&mut self, message: &Message) -> bool {
        let log_time = self.shifted(message.log_time);
        if let Err((cause, why)) = self.decode(message, log_time) {
            let place = format!("{} at {log_time}: {why}", message.connection.topic);
            if !self.outlet.send(Event::Damaged(cause, place)) {
                return false;
            }
        }
        self.flush_sound(log_time.plus_secs(-SOUND_PAUSE_SECS));
        self.release(log_time.plus_secs(-REORDER_SECS))
    }

    fn decode(&mut self, message: &Message, log_time: Timestamp) -> Result<(), Flaw> {
        let connection = &message.connection;
        let topic = self
            .topics
            .entry(Arc::clone(&connection.topic))
            .or_insert_with(|| TopicState::new(self.options.source(&connection.topic)));
        let number = topic.frames;
        if connection.role.and_then(super::Role::kind) == Some(Kind::Camera) {
            topic.frames += 1;
            let streamed = connection.role == Some(super::Role::CompressedVideo);
            if !streamed && !self.outlet.wants(log_time.plus_secs(TRUSTED_STAMP_SECS)) {
                return Ok(());
            }
        }
        let Some(decoded) = connection.decode(&message.data) else { return Ok(()) };
        let decoded = decoded.map_err(|refused| match refused {
            Refused::Malformed(why) => (Cause::BadMessage, why),
            Refused::Undecodable(why) => (Cause::Undecodable, why),
        })?;
        let shift = self.shift_nanos;
        let captured = |stamp: Option<Timestamp>| {
            stamp
                .map(|stamp| Timestamp::from_nanos(stamp.as_nanos().saturating_add(shift)))
                .filter(|stamp| log_time.secs_since(*stamp).abs() <= TRUSTED_STAMP_SECS)
                .unwrap_or(log_time)
        };
        let pose = |topic: &TopicState, stamp, mut pose: Pose| {
            pose.stamp = captured(stamp);
            Item::Pose(topic.source.clone(), pose)
        };
        match decoded {
            Decoded::Picture { stamp, width, height, picture } => {
                let (source, at) = (topic.source.clone(), captured(stamp));
                self.sorter.push(Item::Frame(Frame { source, at, number, width, height, picture }))
            }
            Decoded::Video { stamp, codec, bytes } => {
                let at = captured(stamp);
                // Late ones must be decoded, too: others build upon them.
                let in_time = self.sorter.in_time(at);
                let video = topic.video.get_or_insert_with(|| VideoStream::new(codec));
                let mut shown = Vec::new();
                let kept = in_time.is_ok();
                let result = video.push(codec, at, number, kept, &bytes, &mut shown);
                for picture in shown {
                    self.sorter.put(topic.frame(picture));
                }
                result.map_err(|why| (Cause::Undecodable, why)).and(in_time)
            }
            Decoded::Pose { stamp, pose: told } => self.sorter.push(pose(topic, stamp, told)),
            Decoded::Transforms(transforms) => {
                let moved: Vec<_> =
                    transforms.into_iter().filter_map(|one| self.frames.take(one)).collect();
                moved
                    .into_iter()
                    .try_for_each(|(stamp, told)| self.sorter.push(pose(topic, stamp, told)))
            }
            Decoded::Sound { stamp, coding, bytes } => {
                let sound = topic.sound.get_or_insert_with(|| {
                    coding
                        .map_or_else(|| self.formats.of_topic(&connection.topic, &bytes), Ok)
                        .and_then(|coding| SoundStream::new(&coding))
                });
                let sound = sound.as_mut().map_err(|why| (Cause::Undecodable, why.clone()))?;
                let heard =
                    sound.push(captured(stamp), &bytes).map_err(|why| (Cause::Undecodable, why))?;
                let (mut blocks, mut overlapped) = (Vec::new(), 0);
                for (at, samples) in heard {
                    overlapped += topic.blocks.push(at, &samples, &mut blocks);
                }
                self.sorter.push_all(blocks)?;
                if overlapped > 0 {
                    let why = format!("{overlapped} samples overlap with sound before them");
                    return Err((Cause::Late, why));
                }
                Ok(())
            }
            Decoded::Words(Some(told)) => {
                let end = captured(told.span.map(|span| span.end));
                let secs = told.span.map_or(0.0, |span| span.secs().min(MOST_WORDS_SECS));
                let (source, text) = (topic.source.clone(), told.text);
                let span = Span::new(end.plus_secs(-secs), end);
                self.sorter.push(Item::Words(ToldWords { source, span, text }))
            }
            Decoded::SoundInfo(_) | Decoded::Camera(_) | Decoded::Words(None) => Ok(()),
        }
    }

    /// Sound that ends before `until` does not wait for more.
    fn flush_sound(&mut self, until: Timestamp) {
        for topic in self.topics.values_mut() {
            if topic.blocks.pending_end().is_some_and(|end| end < until) {
                let mut blocks = Vec::new();
                topic.blocks.flush(&mut blocks);
                // What was pending is not older than a second: never late.
                let _ = self.sorter.push_all(blocks);
            }
        }
    }

    /// The end of the bag: gives out everything.
    fn finish(&mut self) -> bool {
        for (name, topic) in &mut self.topics {
            let mut shown = Vec::new();
            let lost = topic.video.as_mut().map_or(0, |video| video.finish(&mut shown));
            for picture in shown {
                let item = topic.frame(picture);
                self.sorter.put(item);
            }
            if lost > 0 {
                let place = format!("{name}: the last {lost} packets gave no picture");
                if !self.outlet.send(Event::Damaged(Cause::Undecodable, place)) {
                    return false;
                }
            }
            let mut blocks = Vec::new();
            if let (Some(Ok(sound)), Some(end)) = (&mut topic.sound, topic.blocks.end()) {
                for (at, samples) in sound.finish(end) {
                    topic.blocks.push(at, &samples, &mut blocks);
                }
            }
            topic.blocks.flush(&mut blocks);
            let _ = self.sorter.push_all(blocks);
            topic.video = None;
        }
        self.release(Timestamp::MAX)
    }

    /// Gives out everything captured at or before `until`, but nothing after a picture that is still
    /// inside a decoder.
    fn release(&mut self, until: Timestamp) -> bool {
        self.sorter.watermark = self.sorter.watermark.max(Some(until));
        let overdue = until.plus_secs(-VIDEO_PAUSE_SECS);
        for topic in self.topics.values_mut() {
            let Some(video) = topic.video.as_mut() else { continue };
            if video.oldest().is_some_and(|at| at < overdue) {
                let mut shown = Vec::new();
                video.finish(&mut shown);
                for picture in shown {
                    self.sorter.put(topic.frame(picture));
                }
            }
        }
        let held = self.topics.values().filter_map(|topic| topic.video.as_ref()?.oldest()).min();
        let before = held
            .map_or(Timestamp::MAX, |at| Timestamp::from_nanos(at.as_nanos().saturating_sub(1)));
        while let Some(item) = self.sorter.pop(until.min(before)) {
            if self.outlet.wants(item.at()) && !self.outlet.send(Event::Item(item)) {
                return false;
            }
        }
        true
    }
}

/// Items in the order of (capture time, source, arrival).
#[derive(Default)]
struct Sorter {
    waiting: BinaryHeap<Reverse<Placed>>,
    pushed: u64,
    /// What was captured before this comes too late, whether or not anything has left already.
    watermark: Option<Timestamp>,
}

struct Placed {
    item: Item,
    number: u64,
}

impl Placed {
    fn key(&self) -> (Timestamp, &SourceId, u64) {
        (self.item.at(), self.item.source(), self.number)
    }
}

impl PartialEq for Placed {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Placed {}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Placed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Sorter {
    /// Refuses what was captured before what may have left already.
    fn in_time(&self, at: Timestamp) -> Result<(), Flaw> {
        if self.watermark.is_some_and(|watermark| at < watermark) {
            let why = format!("captured at {at}, more than {REORDER_SECS} s before");
            return Err((Cause::Late, why));
        }
        Ok(())
    }

    fn push(&mut self, item: Item) -> Result<(), Flaw> {
        self.in_time(item.at())?;
        self.put(item);
        Ok(())
    }

    /// What was in time when it came, and was held back since.
    fn put(&mut self, item: Item) {
        self.waiting.push(Reverse(Placed { item, number: self.pushed }));
        self.pushed += 1;
    }

    fn push_all(&mut self, blocks: Vec<Block>) -> Result<(), Flaw> {
        blocks.into_iter().try_for_each(|block| self.push(Item::Block(block)))
    }

    fn pop(&mut self, until: Timestamp) -> Option<Item> {
        if self.waiting.peek()?.0.item.at() > until {
            return None;
        }
        self.waiting.pop().map(|placed| placed.0.item)
    }
}
