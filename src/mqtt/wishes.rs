//! What a client of MQTT 5 asks the embedded broker not to send, and the broker crate (rumqttd 0.20) would: packets larger
//! than its Maximum Packet Size (MQTT 5.0, 3.1.2.11.4), and on No Local subscriptions what it published itself (3.8.3.1).
//!
//! A message that is left out counts as delivered: the broker is given the acknowledgement that the client cannot send. The
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

/// What the client will not acknowledge.
#[derive(Clone, Debug, Default)]
struct Owed {
    /// In the order in which it was left out.
    next: VecDeque<Acknowledgement>,
    /// Of QoS 2, half acknowledged.
    received: BTreeSet<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acknowledgement {
    /// Of QoS 1.
    Ack(u16),
    /// Of QoS 2, and its second half.
    Received(u16),
    Complete(u16),
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

    /// The next acknowledgement in place of the client's.
    pub(super) fn acknowledged(&self) -> Option<Packet> {
        Some(match self.owed().next.pop_front()? {
            Acknowledgement::Ack(pkid) => {
                Packet::PubAck(PubAck { pkid, reason: PubAckReason::Success }, None)
            }
            Acknowledgement::Received(pkid) => {
                Packet::PubRec(PubRec { pkid, reason: PubRecReason::Success }, None)
            }
            Acknowledgement::Complete(pkid) => {
                Packet::PubComp(PubComp { pkid, reason: PubCompReason::Success }, None)
            }
        })
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
            packet => packet,
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
                let own = self.connection.to_string();
                let is_own =
                    properties.user_properties.iter().any(|(key, by)| key == ORIGIN && *by == own);
                properties.user_properties.retain(|(key, _)| key != ORIGIN);
                let topic = String::from_utf8_lossy(&publish.topic).into_owned();
                let start = buffer.len();
                let bytes = encode(Packet::Publish(publish, Some(properties)), buffer)?;
                let is_too_large = self.most.is_some_and(|most| buffer.len() - start > most);
                if is_too_large || is_own && self.is_left_out(&topic) {
                    let acknowledgement = due(&buffer[start..]);
                    buffer.truncate(start);
                    let mut owed = self.owed();
                    if let Some(Acknowledgement::Received(pkid)) = acknowledgement {
                        owed.received.insert(pkid);
                    }
                    owed.next.extend(acknowledgement);
                    return Ok(0);
                }
                Ok(bytes)
            }
            Packet::PubRel(release, properties) => {
                let mut owed = self.owed();
                if owed.received.remove(&release.pkid) {
                    owed.next.push_back(Acknowledgement::Complete(release.pkid));
                    return Ok(0);
                }
                drop(owed);
                encode(Packet::PubRel(release, properties), buffer)
            }
            packet => encode(packet, buffer),
        }
    }

    /// Whether no filter but No Local ones takes that topic.
    fn is_left_out(&self, topic: &str) -> bool {
        let mut taken = self.filters.iter().filter(|(filter, _)| matches(topic, filter)).peekable();
        taken.peek().is_some() && taken.all(|(_, no_local)| *no_local)
    }
}

/// The acknowledgement that a PUBLISH packet asks for; `None` of QoS 0, and of what is no such packet.
fn due(packet: &[u8]) -> Option<Acknowledgement> {
    let digits = packet.iter().skip(1).take_while(|byte| **byte >= 128).count() + 1;
    let topic = packet.get(1 + digits..)?;
    let length = usize::from(u16::from_be_bytes([*topic.first()?, *topic.get(1)?]));
    let pkid = |at: usize| Some(u16::from_be_bytes([*topic.get(at)?, *topic.get(at + 1)?]));
    match (packet.first()? >> 1) & 0b11 {
        1 => Some(Acknowledgement::Ack(pkid(2 + length)?)),
        2 => Some(Acknowledgement::Received(pkid(2 + length)?)),
        _ => None,
    }
}
