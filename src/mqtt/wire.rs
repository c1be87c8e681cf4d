//! One wire format for the embedded broker that speaks MQTT 3.1.1 and 5, whichever a client begins with.
//!
//! It wraps the broker crate's two codecs and mends what goes wrong between them (rumqttd 0.20): a message
//! that a v5 client published with properties kills the connection of every v3.1.1 subscriber; topic aliases
//! are given per filter instead of per topic, so that wildcard subscribers would see wrong topics; and nobody who has
//! subscribed can see that a message was published to be retained: a user property tells.

use bytes::BytesMut;
use rumqttd::protocol::{Error, Packet, Protocol, v4::V4, v5::V5};

/// User property of every message that was published to be retained.
pub(super) const RETAINED: &str = "retained";

/// The codec of one connection; its version is known from the CONNECT packet on.
#[derive(Clone, Debug, Default)]
pub(super) enum AnyVersion {
    /// Nothing read yet.
    #[default]
    Unknown,
    /// MQTT 3.1.1.
    V4,
    /// MQTT 5.
    V5,
}

/// First byte of a CONNECT packet.
const CONNECT: u8 = 0x10;

impl AnyVersion {
    /// The version that a stream begins with.
    fn of(stream: &[u8]) -> Result<Self, Error> {
        if stream.first().is_some_and(|byte| *byte != CONNECT) {
            return Err(Error::InvalidProtocol);
        }
        // Remaining length: up to four bytes, the last one below 128. Then "\0\4MQTT" and the level.
        let length = stream.iter().skip(1).take_while(|byte| **byte >= 128).count() + 1;
        if length > 4 {
            return Err(Error::MalformedRemainingLength);
        }
        let level = 1 + length + 6;
        match stream.get(level) {
            Some(4) => Ok(Self::V4),
            Some(5) => Ok(Self::V5),
            Some(other) => Err(Error::InvalidProtocolLevel(*other)),
            None => Err(Error::InsufficientBytes(level + 1 - stream.len())),
        }
    }
}

impl Protocol for AnyVersion {
    fn read_mut(&mut self, stream: &mut BytesMut, max_size: usize) -> Result<Packet, Error> {
        if matches!(self, Self::Unknown) {
            *self = Self::of(stream)?;
        }
        let packet = match self {
            Self::V4 => V4.read_mut(stream, max_size)?,
            Self::V5 | Self::Unknown => V5.read_mut(stream, max_size)?,
        };
        Ok(match packet {
            Packet::Connect(connect, Some(mut properties), will, will_properties, login) => {
                properties.topic_alias_max = None;
                Packet::Connect(connect, Some(properties), will, will_properties, login)
            }
            Packet::Publish(publish, properties) if publish.retain => {
                let mut properties = properties.unwrap_or_default();
                properties.user_properties.push((RETAINED.to_owned(), "1".to_owned()));
                Packet::Publish(publish, Some(properties))
            }
            packet => packet,
        })
    }

    fn write(&self, packet: Packet, buffer: &mut BytesMut) -> Result<usize, Error> {
        match self {
            Self::V5 => V5.write(packet, buffer),
            Self::V4 | Self::Unknown => V4.write(without_properties(packet), buffer),
        }
    }
}

/// The packet as v3.1.1 knows it.
fn without_properties(packet: Packet) -> Packet {
    match packet {
        Packet::Publish(publish, _) => Packet::Publish(publish, None),
        Packet::PubAck(ack, _) => Packet::PubAck(ack, None),
        Packet::PubRec(ack, _) => Packet::PubRec(ack, None),
        Packet::PubRel(ack, _) => Packet::PubRel(ack, None),
        Packet::PubComp(ack, _) => Packet::PubComp(ack, None),
        Packet::SubAck(ack, _) => Packet::SubAck(ack, None),
        Packet::UnsubAck(ack, _) => Packet::UnsubAck(ack, None),
        Packet::Disconnect(disconnect, _) => Packet::Disconnect(disconnect, None),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_first_packet() {
        let connect = |level| [&[CONNECT, 0x90, 0x01, 0, 4][..], b"MQTT", &[level]].concat();
        assert!(matches!(AnyVersion::of(&connect(4)), Ok(AnyVersion::V4)));
        assert!(matches!(AnyVersion::of(&connect(5)), Ok(AnyVersion::V5)));
        assert!(matches!(AnyVersion::of(&connect(3)), Err(Error::InvalidProtocolLevel(3))));
        assert!(matches!(AnyVersion::of(&connect(4)[..5]), Err(Error::InsufficientBytes(5))));
        assert!(matches!(AnyVersion::of(b""), Err(Error::InsufficientBytes(_))));
        assert!(matches!(AnyVersion::of(b"GET / HTTP/1.1"), Err(Error::InvalidProtocol)));
        let endless = [CONNECT, 255, 255, 255, 255, 255];
        assert!(matches!(AnyVersion::of(&endless), Err(Error::MalformedRemainingLength)));
    }
}
