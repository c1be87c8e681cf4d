//! Topics and their messages as containers give them, still in bytes.

use std::sync::Arc;

use super::decode::definition::Definition;
use super::decode::field::Refused;
use super::decode::role::{Kind, Role};
use super::decode::{message, value};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;
use crate::time::{Span, Timestamp};

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
    pub fn decode<'a>(&'a self, data: &'a [u8]) -> Option<Result<message::Decoded<'a>, Refused>> {
        let role = self.role?;
        Some(match self.values(data) {
            Ok(value) => message::decode(role, value),
            Err(why) => Err(Refused::Malformed(why)),
        })
    }

    /// A message's values by their names.
    pub(super) fn values<'a>(&'a self, data: &'a [u8]) -> Result<value::Value<'a>, String> {
        value::parse(self.definition.as_ref(), &self.encoding, data)
    }
}

/// Whether messages that are written so are read, if they are of a type that is.
pub(super) fn is_read(encoding: &str) -> bool {
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
pub(in crate::capture) trait Container: std::fmt::Debug + Send + Sync {
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
