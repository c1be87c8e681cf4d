//! What a bag's first messages tell before anything is played: by which clock each topic is stamped, and which topics of
//! pictures hold measurements (depth) instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::connection::{BagReader as _, Connection, Container, Found};
use super::decode::message::{Decoded, decode, measured, stamps};
use super::decode::role::{Kind, Role};
use super::order::clock_offset::{ClockOffsets, MOST_DELAY_SECS, behind};
use super::order::reorder_buffer::REORDER_SECS;
use super::order::timestamp_filter::TimestampFilter;
use super::sound_formats::SoundFormats;
use crate::capture::error::CaptureError;
use crate::time::Timestamp;

/// Messages of a topic that are looked at.
const PER_TOPIC: usize = 64;
/// After this many messages, or this many bytes of them, the rest is not looked for.
const LOOKED_THROUGH: usize = 2_000;
/// See [`LOOKED_THROUGH`].
const MOST_BYTES: usize = 32 << 20;

/// Nobody waits longer for a piece of sound.
const MOST_PIECE_SECS: f64 = 30.0;

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct BagProbe {
    pub(super) clocks: ClockOffsets,
    /// Log time of the first message that is of the recording's time.
    pub(super) first: Option<Timestamp>,
    /// How long the longest piece of sound lasts.
    longest_secs: f64,
    /// Topics that hold measurements, and what their first message calls them.
    measured: BTreeMap<Arc<str>, String>,
}

/// A topic, as far as it was looked at.
#[derive(Default)]
struct Seen {
    messages: usize,
    /// How far its stamps lie behind the time of recording, nanoseconds.
    behind: Vec<i64>,
}

/// Text tells when something was said, and comes when it was understood: that is no clock.
fn is_looked_at(connection: &Connection) -> bool {
    let kind = connection.role.and_then(Role::kind);
    matches!(kind, Some(Kind::Camera | Kind::Microphone | Kind::Pose))
}

impl BagProbe {
    /// Reads the first messages of everything that may be played; `formats`: how its sound is coded.
    pub(super) fn of_bag(
        bag: &dyn Container,
        formats: &SoundFormats,
    ) -> Result<Self, CaptureError> {
        let connections = bag.connections();
        let mut seen: BTreeMap<Arc<str>, Seen> = connections
            .iter()
            .filter(|connection| is_looked_at(connection))
            .map(|connection| (Arc::clone(&connection.topic), Seen::default()))
            .collect();
        let mut look = Self::default();
        if seen.is_empty() {
            return Ok(look);
        }
        let mut reader = TimestampFilter::of(bag.reader(&is_looked_at)?);
        let mut bytes = 0;
        for _ in 0..LOOKED_THROUGH {
            let Some(found) = reader.next() else { break };
            let Found::Message(message) = found else { continue };
            look.first.get_or_insert(message.log_time);
            bytes += message.data.len();
            let connection = &message.connection;
            if let (Some(topic), Some(role)) = (seen.get_mut(&connection.topic), connection.role)
                && topic.messages < PER_TOPIC
                && let Ok(values) = connection.values(&message.data)
            {
                if topic.messages == 0
                    && let Some(what) = measured(role, &values)
                {
                    tracing::info!(topic = %connection.topic, what, "depth is not played");
                    look.measured.insert(Arc::clone(&connection.topic), what.to_owned());
                }
                topic.messages += 1;
                let stamps = stamps(role, &values);
                let secs = if role.kind() == Some(Kind::Microphone)
                    && let Ok(Decoded::Sound { coding, bytes, .. }) = decode(role, values)
                {
                    formats.secs(&connection.topic, coding.as_ref(), &bytes)
                } else {
                    0.0
                };
                if !stamps.is_empty() {
                    look.longest_secs = look.longest_secs.max(secs.min(MOST_PIECE_SECS));
                }
                let moved = |stamp: &Timestamp| {
                    Timestamp::from_nanos(stamp.as_nanos().saturating_add(message.moved_nanos))
                };
                let behind =
                    stamps.iter().map(|stamp| behind(moved(stamp), message.log_time, secs));
                topic.behind.extend(behind);
            }
            if bytes > MOST_BYTES || seen.values().all(|topic| topic.messages >= PER_TOPIC) {
                break;
            }
        }
        look.clocks =
            ClockOffsets::of(seen.into_iter().map(|(topic, seen)| (topic, seen.behind)).collect());
        Ok(look)
    }

    /// How long after its capture an item may be recorded and still be put in order.
    pub(super) fn reorder_secs(&self) -> f64 {
        REORDER_SECS.max(self.longest_secs + MOST_DELAY_SECS)
    }

    /// What the topic's pictures measure; `None`: they show something.
    pub(super) fn measured(&self, topic: &str) -> Option<&str> {
        self.measured.get(topic).map(String::as_str)
    }
}
