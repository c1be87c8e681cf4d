//! One wire format for the embedded broker that speaks MQTT 3.1, 3.1.1 and 5, whichever a client begins with.
//!
//! It wraps the broker crate's two codecs and mends what goes wrong between them (rumqttd 0.20): a message
//! that a v5 client published with properties kills the connection of every v3.1.1 subscriber; topic aliases
//! are given per filter instead of per topic, so that wildcard subscribers would see wrong topics; and nobody who has
//! subscribed can see that a message was published to be retained: a user property tells. Where the crate throws a client
//! out for what the standard allows, it never comes to see that: a subscription to `$SYS/#` (MQTT Explorer has one by
//! itself) is one to a topic on which nobody publishes, no keep alive is the longest there is, and MQTT 3.1 differs from
//! 3.1.1 in its name alone. And what a client of MQTT 5 asks not to be sent ([`Wishes`]) stops here.

use bytes::BytesMut;
use rumqttd::protocol::{Error, Packet, Protocol, v4::V4, v5::V5};

use super::wishes::Wishes;

/// User property of every message that was published to be retained.
pub(super) const RETAINED: &str = "retained";

/// The codec of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire {
    version: AnyVersion,
    wishes: Wishes,
}

/// The version that a connection speaks, known from the CONNECT packet on.
#[derive(Clone, Debug, Default)]
enum AnyVersion {
    /// Nothing read yet.
    #[default]
    Unknown,
    /// MQTT 3.1.1.
    V4,
    /// MQTT 5.
    V5,
}

/// Stands in for what begins with `$`: the broker tells nothing of itself.
const NOBODYS: &str = "-/nobody/publishes/here";

/// How MQTT 3.1 begins behind its lengths (protocol name and level), and how 3.1.1 does.
const VERSION_3_1: &[u8] = b"\0\x06MQIsdp\x03";
const VERSION_3_1_1: &[u8] = b"\0\x04MQTT\x04";

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
        // (The longer name of 3.1 is waited for: then it is that of 3.1.1.)
        let begin = 1 + length;
        if stream.get(begin..begin + 2) == Some(&VERSION_3_1[..2])
            && stream.len() < begin + VERSION_3_1.len()
        {
            return Err(Error::InsufficientBytes(begin + VERSION_3_1.len() - stream.len()));
        }
        let level = begin + 6;
        match stream.get(level) {
            Some(4) => Ok(Self::V4),
            Some(5) => Ok(Self::V5),
            Some(other) => Err(Error::InvalidProtocolLevel(*other)),
            None => Err(Error::InsufficientBytes(level + 1 - stream.len())),
        }
    }
}

/// A CONNECT packet of MQTT 3.1 becomes one of 3.1.1; anything else stays as it is.
fn renewed(stream: &mut BytesMut, max_size: usize) -> Result<(), Error> {
    if stream.first() != Some(&CONNECT) {
        return Ok(());
    }
    let digits = stream.iter().skip(1).take_while(|byte| **byte >= 128).count() + 1;
    let lengths = stream.get(1..=digits).unwrap_or_default();
    if digits > 4 || lengths.len() < digits {
        return Ok(());
    }
    let place = |(at, byte): (usize, &u8)| usize::from(*byte & 0x7f) << (7 * at);
    let length: usize = lengths.iter().enumerate().map(place).sum();
    let begin = 1 + digits;
    let version = stream.get(begin..begin + VERSION_3_1.len());
    if version != Some(VERSION_3_1) || length < VERSION_3_1.len() || length > max_size {
        return Ok(());
    }
    let whole = begin + length;
    if stream.len() < whole {
        return Err(Error::InsufficientBytes(whole - stream.len()));
    }
    let mut shorter = length - VERSION_3_1.len() + VERSION_3_1_1.len();
    let behind = stream.split_off(begin + VERSION_3_1.len());
    stream.clear();
    stream.extend_from_slice(&[CONNECT]);
    loop {
        let digit = (shorter % 128) as u8;
        shorter /= 128;
        stream.extend_from_slice(&[if shorter > 0 { digit | 128 } else { digit }]);
        if shorter == 0 {
            break;
        }
    }
    stream.extend_from_slice(VERSION_3_1_1);
    stream.unsplit(behind);
    Ok(())
}

/// The filter as the broker takes it.
fn allowed(filter: &mut String) {
    if filter.starts_with('$') && !filter.starts_with("$share/") {
        NOBODYS.clone_into(filter);
    }
}

/// The packet as the broker takes it.
fn admitted(packet: Packet) -> Packet {
    match packet {
        Packet::Connect(mut connect, properties, will, will_properties, login) => {
            if connect.keep_alive == 0 {
                connect.keep_alive = u16::MAX;
            }
            Packet::Connect(connect, properties, will, will_properties, login)
        }
        Packet::Subscribe(mut subscribe, properties) => {
            subscribe.filters.iter_mut().for_each(|filter| allowed(&mut filter.path));
            Packet::Subscribe(subscribe, properties)
        }
        Packet::Unsubscribe(mut unsubscribe, properties) => {
            unsubscribe.filters.iter_mut().for_each(allowed);
            Packet::Unsubscribe(unsubscribe, properties)
        }
        packet => packet,
    }
}

impl Protocol for Wire {
    fn read_mut(&mut self, stream: &mut BytesMut, max_size: usize) -> Result<Packet, Error> {
        if let Some(packet) = self.wishes.acknowledged() {
            return Ok(packet);
        }
        if matches!(self.version, AnyVersion::Unknown) {
            renewed(stream, max_size)?;
            self.version = AnyVersion::of(stream)?;
        }
        let packet = admitted(match self.version {
            AnyVersion::V4 => V4.read_mut(stream, max_size)?,
            AnyVersion::V5 | AnyVersion::Unknown => V5.read_mut(stream, max_size)?,
        });
        let packet = self.wishes.read(packet);
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
        match self.version {
            AnyVersion::V5 => {
                self.wishes.write(packet, buffer, |packet, buffer| V5.write(packet, buffer))
            }
            AnyVersion::V4 | AnyVersion::Unknown => V4.write(without_properties(packet), buffer),
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
    fn a_client_of_version_3_1_is_one_of_3_1_1_to_the_broker() {
        // No flags but a clean session, 200 s, and a name so long that the length has two digits.
        let name = "n".repeat(130);
        let rest = [&[2, 0, 200, 0, 130][..], name.as_bytes()].concat();
        let length = VERSION_3_1.len() + rest.len();
        let lengths = [(length % 128) as u8 | 128, (length / 128) as u8];
        let old = [&[CONNECT][..], &lengths, VERSION_3_1, &rest, b"behind"].concat();
        let mut cut = BytesMut::from(&old[..20]);
        for length in [4, 8, 10, 20] {
            cut.truncate(0);
            cut.extend_from_slice(&old[..length]);
            let missing = Wire::default().read_mut(&mut cut, 10_000);
            assert!(matches!(missing, Err(Error::InsufficientBytes(_))), "{missing:?}");
        }
        let mut stream = BytesMut::from(&old[..]);
        let mut protocol = Wire::default();
        let packet = protocol.read_mut(&mut stream, 10_000);
        let Ok(Packet::Connect(connect, ..)) = packet else { panic!("{packet:?}") };
        assert_eq!((connect.client_id, connect.keep_alive), (name, 200));
        assert!(matches!(protocol.version, AnyVersion::V4));
        assert_eq!(&stream[..], b"behind");
    }

    #[test]
    fn what_the_broker_would_throw_out_for_it_never_sees() {
        let mut protocol = Wire { version: AnyVersion::V4, ..Wire::default() };
        // $SYS/# and engram/#, packet 7; no keep alive.
        let filters = [&b"\0\x06$SYS/#\0"[..], b"\0\x08engram/#\0"].concat();
        let packet = [&[0x82, filters.len() as u8 + 2, 0, 7][..], &filters].concat();
        let read = protocol.read_mut(&mut BytesMut::from(&packet[..]), 10_000);
        let Ok(Packet::Subscribe(subscribe, _)) = read else { panic!("{read:?}") };
        let paths: Vec<&str> = subscribe.filters.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, [NOBODYS, "engram/#"]);
        let connect = [&[CONNECT, 13][..], VERSION_3_1_1, &[2, 0, 0, 0, 1, b'x']].concat();
        let read = Wire::default().read_mut(&mut BytesMut::from(&connect[..]), 10_000);
        let Ok(Packet::Connect(connect, ..)) = read else { panic!("{read:?}") };
        assert_eq!(connect.keep_alive, u16::MAX);
    }

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
