//! A bag's messages → items in event time order, in a thread of its own.
//!
//! Messages come in the order in which they were recorded; what they carry was captured a little earlier.
//! Items wait here until recording time is 2 s past them, so that they leave in the order of capture.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::ros2::{self, Decoded, Refused};
use super::sound::SoundFormats;
use super::{Bag, BagReader, Found, Kind, Message};
use crate::capture::blocks::Blocks;
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::capture::playback::{Event, Outlet, Playback, Producer};
use crate::capture::recording::ReplayOptions;
use crate::capture::sound::Resampled;
use crate::ids::SourceId;
use crate::media::{Block, Frame, Item};
use crate::time::Timestamp;

/// How late an item may be recorded and still be put in order.
const REORDER_SECS: f64 = 2.0;
/// A header stamp further than this from the log time is of another clock: the log time is taken.
const TRUSTED_STAMP_SECS: f64 = 60.0;
/// Sound that does not go on for this long is given out as it is.
const SOUND_PAUSE_SECS: f64 = 1.0;
/// Items that wait for the consumer.
const CHANNEL_ITEMS: usize = 32;

/// Starts the thread.
pub(super) fn start(
    bag: &Bag,
    options: &ReplayOptions,
    start: Timestamp,
    mut playback: Playback,
) -> Result<Playback, CaptureError> {
    let reader = bag.reader(|connection| {
        ros2::kind(&connection.schema, &connection.encoding).is_some()
            && options.selects(&connection.topic)
    })?;
    let recorded = bag.start().unwrap_or(start);
    let player = Player {
        reader,
        outlet: playback.outlet(CHANNEL_ITEMS),
        options: options.clone(),
        formats: bag.formats.clone(),
        shift_nanos: start.as_nanos().saturating_sub(recorded.as_nanos()),
        topics: BTreeMap::new(),
        sorter: Sorter::default(),
    };
    let handle = std::thread::Builder::new()
        .name("bag".to_owned())
        .spawn(move || player.run())
        .map_err(|source| CaptureError::Io { path: bag.index.path().to_owned(), source })?;
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
    blocks: Blocks,
    sound: Result<Resampled, String>,
}

struct Player {
    reader: Box<dyn BagReader>,
    outlet: Outlet,
    options: ReplayOptions,
    formats: SoundFormats,
    /// From the recording's own times to the ones asked for.
    shift_nanos: i64,
    topics: BTreeMap<Arc<str>, TopicState>,
    sorter: Sorter,
}

impl Player {
    fn run(mut self) {
        while let Some(found) = self.reader.next() {
            let listening = match found {
                Found::Damaged(cause, place) => self.outlet.send(Event::Damaged(cause, place)),
                Found::Message(message) => self.message(&message),
            };
            if !listening {
                return;
            }
        }
        self.flush_sound(Timestamp::MAX);
        if self.release(Timestamp::MAX) {
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

    fn decode(&mut self, message: &Message, log_time: Timestamp) -> Result<(), (Cause, String)> {
        let connection = &message.connection;
        let topic = self.topics.entry(Arc::clone(&connection.topic)).or_insert_with(|| {
            let source = self.options.source(&connection.topic);
            TopicState {
                blocks: Blocks::new(source.clone()),
                frames: 0,
                sound: self.formats.of_topic(&connection.topic).and_then(Resampled::new),
                source,
            }
        });
        let number = topic.frames;
        if ros2::kind(&connection.schema, &connection.encoding) == Some(Kind::Camera) {
            topic.frames += 1;
            if !self.outlet.wants(log_time.plus_secs(TRUSTED_STAMP_SECS)) {
                return Ok(());
            }
        }
        let decoded =
            ros2::decode(&connection.schema, &message.data).map_err(|refused| match refused {
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
        match decoded {
            Decoded::Picture { stamp, width, height, picture } => {
                let (source, at) = (topic.source.clone(), captured(stamp));
                self.sorter
                    .push(Item::Frame(Frame { source, at, number, width, height, picture }))
                    .map_err(|why| (Cause::Late, why))
            }
            Decoded::Pose { stamp, mut pose } => {
                pose.stamp = captured(stamp);
                let item = Item::Pose(topic.source.clone(), pose);
                self.sorter.push(item).map_err(|why| (Cause::Late, why))
            }
            Decoded::Sound { stamp, bytes } => {
                let sound =
                    topic.sound.as_mut().map_err(|why| (Cause::Undecodable, why.clone()))?;
                let mut blocks = Vec::new();
                let (samples, earlier_secs) =
                    sound.take(bytes).map_err(|why| (Cause::Undecodable, why))?;
                let at = captured(stamp).plus_secs(-earlier_secs);
                let overlapped = topic.blocks.push(at, &samples, &mut blocks);
                self.sorter.push_all(blocks)?;
                if overlapped > 0 {
                    let why = format!("{overlapped} samples overlap with sound before them");
                    return Err((Cause::Late, why));
                }
                Ok(())
            }
        }
    }

    /// Sound that ends before `until` does not wait for more.
    fn flush_sound(&mut self, until: Timestamp) {
        for topic in self.topics.values_mut() {
            let ended = topic.blocks.pending_end().is_some_and(|end| end < until);
            let mut blocks = Vec::new();
            if until == Timestamp::MAX
                && let Ok(sound) = &mut topic.sound
                && let (Ok(samples), Some(at)) = (sound.finish(), topic.blocks.end())
            {
                topic.blocks.push(at, &samples, &mut blocks);
            }
            if ended || until == Timestamp::MAX {
                topic.blocks.flush(&mut blocks);
            }
            // What was pending is not older than a second: never late.
            let _ = self.sorter.push_all(blocks);
        }
    }

    /// Gives out everything captured at or before `until`.
    fn release(&mut self, until: Timestamp) -> bool {
        while let Some(item) = self.sorter.pop(until) {
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
    released: Option<Timestamp>,
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
    /// Refuses what was captured before something that has left already.
    fn push(&mut self, item: Item) -> Result<(), String> {
        if self.released.is_some_and(|released| item.at() < released) {
            return Err(format!("captured at {}, more than {REORDER_SECS} s before", item.at()));
        }
        self.waiting.push(Reverse(Placed { item, number: self.pushed }));
        self.pushed += 1;
        Ok(())
    }

    fn push_all(&mut self, blocks: Vec<Block>) -> Result<(), (Cause, String)> {
        blocks
            .into_iter()
            .try_for_each(|block| self.push(Item::Block(block)).map_err(|why| (Cause::Late, why)))
    }

    fn pop(&mut self, until: Timestamp) -> Option<Item> {
        if self.waiting.peek()?.0.item.at() > until {
            return None;
        }
        let item = self.waiting.pop()?.0.item;
        self.released = Some(item.at());
        Some(item)
    }
}
