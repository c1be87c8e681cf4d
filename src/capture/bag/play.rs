//! A bag's messages → items in event time order, in a thread of its own.
//!
//! Messages come in the order in which they were recorded; what they carry was captured a little earlier.
//! Items wait in the [sorter](super::order::reorder_buffer) until recording time is 2 s past them (longer where a piece of sound is), so
//! that they leave in the order of capture.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::Bag;
use super::connection::{BagReader, Found, Message};
use super::decode::codec::{Shown, SoundStream, VideoStream};
use super::decode::field::Refused;
use super::decode::message::{Decoded, SoundCoding};
use super::decode::role::{Kind, Role};
use super::decode::sound_probe::SoundProbe;
use super::decode::transform_tree::FrameTree;
use super::order::clock_offset::ClockOffsets;
use super::order::reorder_buffer::{Flaw, REORDER_SECS, ReorderBuffer};
use super::order::timestamp_filter::TimestampFilter;
use super::probe::BagProbe;
use super::sound_formats::SoundFormats;
use crate::capture::audio::blocks::{Blocks, Stamps};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::capture::options::ReplayOptions;
use crate::capture::playback::{Event, Outlet, Playback, Producer};
use crate::ids::SourceId;
use crate::media::{Block, Frame, Item, Pose, ToldWords};
use crate::time::{Span, Timestamp};

/// A picture that is still inside its decoder after this long is called out: its stream pauses.
const VIDEO_PAUSE_SECS: f64 = 10.0;
/// Sound that does not go on for this long is given out as it is.
const SOUND_PAUSE_SECS: f64 = 1.0;
/// Nobody speaks longer in one turn.
const MOST_WORDS_SECS: f64 = 300.0;
/// Words that come so long after the time that they tell were said then; else when they came.
const MOST_LATE_WORDS_SECS: f64 = 60.0;
/// Items that wait for the consumer; one may be a picture of hundreds of megabytes.
const CHANNEL_ITEMS: usize = 8;

/// Starts the thread.
pub(in crate::capture) fn start(
    bag: &Bag,
    topics: &[String],
    options: &ReplayOptions,
    start: Timestamp,
    mut playback: Playback,
) -> Result<Playback, CaptureError> {
    let reader = bag.reader(|connection| {
        connection.role.and_then(Role::kind).is_some()
            && topics.iter().any(|name| **name == *connection.topic)
    })?;
    let recorded = bag.start().unwrap_or(start);
    let formats = bag.formats.with(&options.sound);
    // How long its pieces are says what their stamps mean.
    let again = (!options.sound.is_empty())
        .then(|| BagProbe::of_bag(&*bag.container, &formats))
        .transpose()?;
    let look = again.as_ref().unwrap_or(&bag.first_look);
    let player = Player {
        reader: Box::new(TimestampFilter::of(reader)),
        outlet: playback.outlet(CHANNEL_ITEMS),
        options: options.clone(),
        formats,
        clocks: look.clocks.clone(),
        reorder_secs: look.reorder_secs(),
        flaws: bag.cameras.flaws().cloned().collect(),
        shift_nanos: start.as_nanos().saturating_sub(recorded.as_nanos()),
        topics: BTreeMap::new(),
        frames: FrameTree::new(options.frames.clone()),
        sorter: ReorderBuffer::default(),
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
    /// With what its messages say of its coding; `None` before the first sound.
    sound: Option<(Option<SoundCoding>, SoundStream)>,
    /// What is thought of its sound until enough has come; within: `None` where something says how it is coded.
    assumed: Option<Option<SoundProbe>>,
    /// It was told that messages of this topic are not played.
    passed_over: bool,
}

impl TopicState {
    fn new(source: SourceId) -> Self {
        let blocks = Blocks::new(source.clone(), Stamps::AtArrival);
        let (video, sound, assumed) = (None, None, None);
        Self { source, frames: 0, video, blocks, sound, assumed, passed_over: false }
    }

    /// The stream for sound of which its message tells this coding; `else_coding` says it where the message does not.
    /// What is still inside a stream of another coding goes to `blocks`.
    fn listen(
        &mut self,
        told: Option<SoundCoding>,
        else_coding: impl FnOnce() -> Result<SoundCoding, String>,
        blocks: &mut Vec<Block>,
    ) -> Result<&mut SoundStream, String> {
        if self.sound.as_ref().is_some_and(|(before, _)| *before != told) {
            self.end_sound(blocks);
        }
        let stream = match self.sound.take() {
            Some((_, stream)) => stream,
            None => SoundStream::new(&told.clone().map_or_else(else_coding, Ok)?)?,
        };
        Ok(&mut self.sound.insert((told, stream)).1)
    }

    /// Ends its stream of sound; what is still inside goes to `blocks`.
    fn end_sound(&mut self, blocks: &mut Vec<Block>) {
        if let (Some((_, mut sound)), Some(end)) = (self.sound.take(), self.blocks.end()) {
            for (at, samples) in sound.finish(end) {
                self.blocks.push(at, &samples, blocks);
            }
        }
    }

    /// Capture time of the earliest that is still inside a decoder, or waits for the rest of its block.
    fn held(&self) -> Option<Timestamp> {
        let picture = self.video.as_ref().and_then(VideoStream::oldest);
        [picture, self.blocks.pending_start()].into_iter().flatten().min()
    }

    fn frame(&self, shown: Shown) -> Item {
        let Shown { at, number, width, height, picture } = shown;
        let source = self.source.clone();
        Item::Frame(Frame { source, at, number, width, height, picture })
    }
}

struct Player {
    reader: Box<dyn BagReader>,
    outlet: Outlet,
    options: ReplayOptions,
    formats: SoundFormats,
    clocks: ClockOffsets,
    /// Items wait so long for earlier ones.
    reorder_secs: f64,
    /// Calibrations that could not be used.
    flaws: Vec<Flaw>,
    /// From the recording's own times to the ones asked for.
    shift_nanos: i64,
    topics: BTreeMap<Arc<str>, TopicState>,
    frames: FrameTree,
    sorter: ReorderBuffer,
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
        // Where there is no room, nothing waits for more.
        let pause = if self.sorter.is_full() { 0.0 } else { SOUND_PAUSE_SECS };
        self.flush_sound(log_time.plus_secs(-pause));
        self.release(log_time.plus_secs(-self.reorder_secs))
    }

    fn decode(&mut self, message: &Message, log_time: Timestamp) -> Result<(), Flaw> {
        let connection = &message.connection;
        let topic = self
            .topics
            .entry(Arc::clone(&connection.topic))
            .or_insert_with(|| TopicState::new(self.options.source(&connection.topic)));
        let number = topic.frames;
        let mut left_out = false;
        if connection.role.and_then(Role::kind) == Some(Kind::Camera) {
            topic.frames += 1;
            left_out = !self.outlet.wants(log_time.plus_secs(REORDER_SECS));
            if left_out && !connection.role.is_some_and(Role::may_stream) {
                return Ok(());
            }
        }
        let Some(decoded) = connection.decode(&message.data) else { return Ok(()) };
        let decoded = match decoded {
            Ok(decoded) => decoded,
            Err(Refused::Malformed(why)) => return Err((Cause::BadMessage, why)),
            Err(Refused::Undecodable(why)) => return Err((Cause::Undecodable, why)),
            Err(Refused::NotPlayed(why)) => {
                if !std::mem::replace(&mut topic.passed_over, true) {
                    tracing::info!(topic = %connection.topic, why, "not played");
                }
                return Ok(());
            }
        };
        let shift = self.shift_nanos.saturating_add(message.moved_nanos);
        let clocks = &self.clocks;
        let earliest = self.sorter.watermark();
        let shifted = |at: Timestamp| Timestamp::from_nanos(at.as_nanos().saturating_add(shift));
        let begun = |stamp: Option<Timestamp>, secs: f64| {
            clocks.captured(&connection.topic, stamp.map(shifted), log_time, secs, earliest)
        };
        let captured = |stamp: Option<Timestamp>| begun(stamp, 0.0);
        let pose = |topic: &TopicState, stamp, mut pose: Pose| {
            pose.stamp = captured(stamp);
            Item::Pose(topic.source.clone(), pose)
        };
        match decoded {
            Decoded::Picture { .. } if left_out => Ok(()),
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
                let (mut blocks, mut overlapped) = (Vec::new(), 0);
                let formats = &self.formats;
                if coding.is_none() {
                    let assume = || formats.assumed(&connection.topic, &bytes).map(SoundProbe::new);
                    let assumed = topic.assumed.get_or_insert_with(assume).as_mut();
                    let at = stamp.unwrap_or(message.log_time);
                    if let Some(why) = assumed.and_then(|assumed| assumed.take(at, bytes.len())) {
                        let (topic, likely) = (&connection.topic, why.likely);
                        let (rate, channels) = likely.unwrap_or((44_100, 2));
                        let cure = format!("replay.sound = [\"{topic}:=S16LE,{rate},{channels}\"]");
                        tracing::warn!(%topic, "{why}; say how it is coded, such as {cure}");
                    }
                }
                let else_coding = || formats.of_topic(&connection.topic, &bytes);
                let heard = topic
                    .listen(coding, else_coding, &mut blocks)
                    .and_then(|sound| sound.push(begun(stamp, sound.secs(bytes.len())), &bytes));
                for (at, samples) in heard.iter().flatten() {
                    overlapped += topic.blocks.push(*at, samples, &mut blocks);
                }
                self.sorter.push_all(blocks)?;
                heard.map_err(|why| (Cause::Undecodable, why))?;
                if overlapped > 0 {
                    let why = format!("{overlapped} samples overlap with sound before them");
                    return Err((Cause::Late, why));
                }
                Ok(())
            }
            Decoded::Words(Some(told)) => {
                let end = told.span.map(|span| shifted(span.end));
                let end = end.filter(|end| log_time.secs_since(*end).abs() <= MOST_LATE_WORDS_SECS);
                let end = end.unwrap_or(log_time);
                let secs = told.span.map_or(0.0, |span| span.secs().min(MOST_WORDS_SECS));
                // Words that were understood late end no earlier than what may have left already.
                let at = earliest.map_or(end, |earliest| end.max(earliest));
                let start = if secs > 0.0 { end.plus_secs(-secs) } else { at };
                let (source, text, span) = (topic.source.clone(), told.text, Span::new(start, at));
                self.sorter.push(Item::Words(ToldWords { source, span, text }))
            }
            Decoded::SoundInfo(_) | Decoded::Camera(_) | Decoded::Words(None) => Ok(()),
        }
    }

    /// Sound that ends before `until` does not wait for more; where there is no room, none waits for where it belongs.
    fn flush_sound(&mut self, until: Timestamp) {
        for topic in self.topics.values_mut() {
            let mut blocks = Vec::new();
            if topic.blocks.pending_end().is_some_and(|end| end < until) {
                topic.blocks.flush(&mut blocks);
            } else if self.sorter.is_full() {
                topic.blocks.settle(&mut blocks);
            }
            // Nothing left after what was inside: never late.
            let _ = self.sorter.push_all(blocks);
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
            topic.end_sound(&mut blocks);
            topic.blocks.flush(&mut blocks);
            let _ = self.sorter.push_all(blocks);
            topic.video = None;
        }
        self.release(Timestamp::MAX)
    }

    /// Gives out everything captured at or before `until`, and what there is no room for, but nothing after a picture
    /// that is still inside a decoder, or sound that waits for the rest of its block.
    fn release(&mut self, until: Timestamp) -> bool {
        self.sorter.advance(until);
        let patience = if self.sorter.is_full() { 0.0 } else { VIDEO_PAUSE_SECS };
        let overdue = until.plus_secs(-patience);
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
        let held = self.topics.values().filter_map(TopicState::held).min();
        let before = held
            .map_or(Timestamp::MAX, |at| Timestamp::from_nanos(at.as_nanos().saturating_sub(1)));
        while let Some(item) = self.sorter.pop(before) {
            if self.outlet.wants(item.at()) && !self.outlet.send(Event::Item(item)) {
                return false;
            }
        }
        true
    }
}
