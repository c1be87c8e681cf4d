//! Which format the sound of a bag's topics has: `AudioInfo` tells.

use std::sync::Arc;

use super::ros2::{self, Refused};
use super::{Bag, Connection, Found};
use crate::capture::error::CaptureError;
use crate::capture::sound::SoundFormat;

/// AudioInfo messages are latched at the beginning; after this many other messages they are no longer looked for.
const LOOKED_THROUGH: usize = 2_000;

/// What the AudioInfo messages say, by their topic.
#[derive(Clone, Debug, Default)]
pub(super) struct SoundFormats(Vec<(Arc<str>, Result<SoundFormat, String>)>);

impl SoundFormats {
    /// Reads the AudioInfo topics, if there are any.
    pub(super) fn of_bag(bag: &Bag) -> Result<Self, CaptureError> {
        let tells = |connection: &Connection| {
            ros2::is_sound_format(&connection.schema, &connection.encoding)
        };
        let expected = bag.index.connections().filter(|connection| tells(connection)).count();
        let mut formats = Self::default();
        if expected == 0 {
            return Ok(formats);
        }
        let is_sound = |connection: &Connection| {
            ros2::kind(&connection.schema, &connection.encoding) == Some(super::Kind::Microphone)
        };
        let mut reader = bag.reader(|connection| tells(connection) || is_sound(connection))?;
        for _ in 0..LOOKED_THROUGH {
            let Some(found) = reader.next() else { break };
            let Found::Message(message) = found else { continue };
            let topic = &message.connection.topic;
            if !tells(&message.connection) || formats.0.iter().any(|(told, _)| told == topic) {
                continue;
            }
            let format = ros2::sound_format(&message.data).map_err(|refused| match refused {
                Refused::Malformed(why) | Refused::Undecodable(why) => format!("{topic}: {why}"),
            });
            formats.0.push((Arc::clone(topic), format));
            if formats.0.len() == expected {
                break;
            }
        }
        Ok(formats)
    }

    /// The format of an audio topic: what the AudioInfo beside it says, else the only one there is, else
    /// the default; an error when that cannot be decoded.
    pub(super) fn of_topic(&self, topic: &str) -> Result<SoundFormat, String> {
        let folder =
            |topic: &str| topic.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let beside = self.0.iter().find(|(told, _)| folder(told) == folder(topic));
        match (beside, self.0.as_slice()) {
            (Some((_, format)), _) | (None, [(_, format)]) => format.clone(),
            _ => Ok(SoundFormat::default()),
        }
    }
}
