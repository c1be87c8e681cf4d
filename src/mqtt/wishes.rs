//! What a client of MQTT 5 asks the embedded broker not to send, and the broker crate (rumqttd 0.20) would: packets larger
//! than its Maximum Packet Size (MQTT 5.0, 3.1.2.11.4), and on No Local subscriptions what it published itself (3.8.3.1).
//!
//! A message that is left out counts as delivered: the broker is given the acknowledgement that the client cannot send, and,
//! since it takes acknowledgements in the order of its messages alone, not before the client's own of all earlier ones. The
//! broker tells nobody who published a message, so each carries the number of its connection on the way through, as a
//! user property that no client sees.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::BytesMut;
use rumqttd::protocol::{
    Error, Packet, PubAck, PubAckReason, PubComp, PubCompReason, PubRec, PubRecReason, matches,
};

/// User property that tells which connection a message came in by; no client may use it.
const ORIGIN: &str = "\u{1}origin";

/// One connection's.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    /// The number of the connection; 0 before it is made.
    connection: u64,
    /// Packets are no larger, bytes.
    most: Option<usize>,
    /// Whether each filter leaves out what the client published itself.
    filters: BTreeMap<String, bool>,
    owed: Mutex<Owed>,
}

/// What the broker waits for, in the order in which it sent it.
#[derive(Clone, Debug, Default)]
struct Owed {
    /// Messages of QoS 1 and 2.
    acks: VecDeque<Sent>,
    /// Releases of QoS 2.
    completes: VecDeque<Sent>,
    /// Messages of QoS 2 that were left out and are not released yet.
    received: BTreeSet<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    pkid: u16,
    /// QoS 2.
    twice: bool,
    /// The client never saw it.
    left_out: bool,
}

/// The client's own acknowledgement came.
fn acknowledge(waiting: &mut VecDeque<Sent>, pkid: u16) {
    if let Some(at) = waiting.iter().position(|sent| sent.pkid == pkid && !sent.left_out) {
        waiting.remove(at);
    }
}

impl Clone for Wishes {
    fn clone(&self) -> Self {
        let Self { connection, most, filters, .. } = self;
        let owed = Mutex::new(self.owed().clone());
        Self { connection: *connection, most: *most, filters: filters.clone(), owed }
    }
}

impl Wishes {
    fn owed(&self) -> std::sync::MutexGuard<'_, Owed> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next acknowledgement in place of the client's, if it is its turn.
    pub(super) fn acknowledged(&self) -> Option<Packet> {
        let mut owed = self.owed();
        if let Some(Sent { pkid, twice, .. }) = owed.acks.pop_front_if(|sent| sent.left_out) {
            if twice {
                owed.received.insert(pkid);
                return Some(Packet::PubRec(PubRec { pkid, reason: PubRecReason::Success }, None));
            }
            return Some(Packet::PubAck(PubAck { pkid, reason: PubAckReason::Success }, None));
        }
        let Sent { pkid, .. } = owed.completes.pop_front_if(|sent| sent.left_out)?;
        Some(Packet::PubComp(PubComp { pkid, reason: PubCompReason::Success }, None))
    }

    /// A packet from the client: what it asks for is kept, what it publishes is marked.
    pub(super) fn read(&mut self, packet: Packet) -> Packet {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(1);
        match packet {
            Packet::Connect(connect, properties, will, will_properties, login) => {
                self.connection = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
                let most = properties.as_ref().and_then(|properties| properties.max_packet_size);
                self.most = most.and_then(|most| usize::try_from(most).ok());
                Packet::Connect(connect, properties, will, will_properties, login)
            }
            Packet::Subscribe(subscribe, properties) => {
                for filter in &subscribe.filters {
                    self.filters.insert(filter.path.clone(), filter.nolocal);
                }
                Packet::Subscribe(subscribe, properties)
            }
            Packet::Unsubscribe(unsubscribe, properties) => {
                for filter in &unsubscribe.filters {
                    self.filters.remove(filter);
                }
                Packet::Unsubscribe(unsubscribe, properties)
            }
            Packet::Publish(publish, properties) => {
                let mut properties = properties.unwrap_or_default();
                properties.user_properties.retain(|(key, _)| key != ORIGIN);
                properties.user_properties.push((ORIGIN.to_owned(), self.connection.to_string()));
                Packet::Publish(publish, Some(properties))
            }
            packet => {
                let mut owed = self.owed();
                match &packet {
                    Packet::PubAck(ack, _) => acknowledge(&mut owed.acks, ack.pkid),
                    Packet::PubRec(received, _) => acknowledge(&mut owed.acks, received.pkid),
                    Packet::PubComp(complete, _) => {
                        acknowledge(&mut owed.completes, complete.pkid);
                    }
                    _ => {}
                }
                drop(owed);
                packet
            }
        }
    }

    /// Writes a packet to the client, unless it asked not to be sent such.
    pub(super) fn write(
        &self,
        packet: Packet,
        buffer: &mut BytesMut,
        encode: impl Fn(Packet, &mut BytesMut) -> Result<usize, Error>,
    ) -> Result<usize, Error> {
        match packet {
            Packet::Publish(publish, properties) => {
                let mut properties = properties.unwrap_or_default();
                let is_unwanted = self.is_own(&properties.user_properties)
                    && self.is_left_out(&String::from_utf8_lossy(&publish.topic));
                properties.user_properties.retain(|(key, _)| key != ORIGIN);
                let start = buffer.len();
                let bytes = encode(Packet::Publish(publish, Some(properties)), buffer)?;
                let is_too_large = self.most.is_some_and(|most| buffer.len() - start > most);
                let left_out = is_too_large || is_unwanted;
                if let Some((pkid, twice)) = awaited(&buffer[start..]) {
                    self.owed().acks.push_back(Sent { pkid, twice, left_out });
                }
                if left_out {
                    buffer.truncate(start);
                    return Ok(0);
                }
                Ok(bytes)
            }
            Packet::PubRel(release, properties) => {
                let mut owed = self.owed();
                let left_out = owed.received.remove(&release.pkid);
                owed.completes.push_back(Sent { pkid: release.pkid, twice: true, left_out });
                drop(owed);
                if left_out {
                    return Ok(0);
                }
                encode(Packet::PubRel(release, properties), buffer)
            }
            packet => encode(packet, buffer),
        }
    }

    /// Whether a message with these properties came in by this connection.
    fn is_own(&self, properties: &[(String, String)]) -> bool {
        let origin = properties.iter().find(|(key, _)| key == ORIGIN);
        origin.is_some_and(|(_, by)| by.parse() == Ok(self.connection))
    }

    /// Whether no filter but No Local ones takes that topic.
    fn is_left_out(&self, topic: &str) -> bool {
        let mut taken = self.filters.iter().filter(|(filter, _)| matches(topic, filter)).peekable();
        taken.peek().is_some() && taken.all(|(_, no_local)| *no_local)
    }
}

/// The number under which a PUBLISH packet waits for an acknowledgement, and whether it is of QoS 2; `None` of QoS 0, and of
/// what is no such packet.
fn awaited(packet: &[u8]) -> Option<(u16, bool)> {
    let digits = packet.iter().skip(1).take_while(|byte| **byte >= 128).count() + 1;
    let topic = packet.get(1 + digits..)?;
    let length = usize::from(u16::from_be_bytes([*topic.first()?, *topic.get(1)?]));
    let qos = (packet.first()? >> 1) & 0b11;
    let number = topic.get(2 + length..4 + length).filter(|_| qos > 0)?;
    Some((u16::from_be_bytes([number[0], number[1]]), qos == 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broker_gets_its_acknowledgements_in_the_order_of_its_messages() {
        let wishes = Wishes::default();
        let sent = |pkid, left_out| Sent { pkid, twice: false, left_out };
        wishes.owed().acks.extend([sent(1, false), sent(2, true), sent(3, false), sent(4, true)]);
        assert!(
            wishes.acknowledged().is_none(),
            "the client has the first one still to acknowledge"
        );
        let mut wishes = wishes;
        let ack = |pkid| Packet::PubAck(PubAck { pkid, reason: PubAckReason::Success }, None);
        wishes.read(ack(1));
        assert_eq!(wishes.acknowledged(), Some(ack(2)));
        assert!(wishes.acknowledged().is_none());
        wishes.read(ack(3));
        assert_eq!(wishes.acknowledged(), Some(ack(4)));
        assert!(wishes.acknowledged().is_none());
    }

    #[test]
    fn a_message_tells_what_it_waits_for() {
        // Topic `a/b`, packet 258, QoS 0 to 2; cut short.
        let packet = |qos: u8| [0x30 | qos << 1, 9, 0, 3, b'a', b'/', b'b', 1, 2, 0, b'x'];
        assert_eq!(awaited(&packet(0)), None);
        assert_eq!(awaited(&packet(1)), Some((258, false)));
        assert_eq!(awaited(&packet(2)), Some((258, true)));
        assert_eq!(awaited(&packet(1)[..8]), None);
    }
}
