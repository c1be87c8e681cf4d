//! The other side: asking a running daemon, for the command line.

use std::time::{Duration, Instant};

use rumqttc::v5::mqttbytes::v5::{Packet, PubAckReason, PublishProperties, SubscribeReasonCode};
use rumqttc::v5::mqttbytes::{Error as PacketError, QoS};
use rumqttc::v5::{Client, Connection, ConnectionError, Event, RecvTimeoutError, StateError};
use serde_json::Value;

use super::connection::{Target, credentials};
use super::{MqttError, Topics};
use crate::config::Config;

/// Why a daemon could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Mqtt(#[from] MqttError),
    /// No broker there.
    #[error(
        "connecting to the broker {broker}: {reason}; start the daemon (engramd run, or systemctl start engramd), \
         or read the store itself with --data-dir DIR"
    )]
    NoBroker {
        /// Where.
        broker: String,
        /// Why not.
        reason: String,
    },
    /// A broker that does not want this client.
    #[error(
        "connecting to the broker {broker}: it is there, and does not let this client in ({reason}); {cure}"
    )]
    NotLetIn {
        /// Which.
        broker: String,
        /// What it said.
        reason: String,
        /// What to correct.
        cure: &'static str,
    },
    /// A broker that does not take the request.
    #[error(
        "publishing to {topic} as {account}: the broker {broker} refuses it ({reason}); its access rules (ACL) decide \
         which account may publish where: give this one the right there, or set `mqtt.username` to one that has it \
         (docs/mqtt.md, Rights)"
    )]
    NotAllowed {
        /// Which broker.
        broker: String,
        /// Which topic.
        topic: String,
        /// Whose right is missing.
        account: String,
        /// What it said.
        reason: &'static str,
    },
    /// A broker that takes no packet of that size.
    #[error(
        "sending a request of {bytes} bytes to the broker {broker}: it takes packets of {most} bytes at most; ask for or \
         tell less at once, or raise its limit (`max_packet_size` of Mosquitto)"
    )]
    TooLarge {
        /// Which broker.
        broker: String,
        /// The whole packet.
        bytes: u32,
        /// What it takes.
        most: u32,
    },
    /// A broker, but no daemon.
    #[error(
        "asking the daemon of robot {robot:?} through the broker {broker}: no reply within {secs:.0} s; \
         is it running, and is `robot.id` the same there?"
    )]
    NoReply {
        /// Whom.
        robot: String,
        /// Through which broker.
        broker: String,
        /// How long was waited.
        secs: f64,
    },
    /// The daemon refused.
    #[error("{message} ({code})")]
    Refused {
        /// One of the error codes.
        code: String,
        /// What the daemon said.
        message: String,
    },
    /// The reply is no JSON.
    #[error("reading the daemon's reply: {0}")]
    Unreadable(serde_json::Error),
}

/// A connection to the daemon's broker, for one command.
pub struct DaemonClient {
    client: Client,
    connection: Connection,
    topics: Topics,
    response_topic: String,
    broker: String,
    robot: String,
    /// As whom it is there.
    account: String,
    asked: u32,
}

impl DaemonClient {
    /// Connects and subscribes to an answer topic of its own.
    ///
    /// # Errors
    /// [`ClientError::NoBroker`] after a few seconds, [`ClientError::NotLetIn`].
    pub fn connect(config: &Config) -> Result<Self, ClientError> {
        let robot = config.robot_id();
        let topics = Topics::new(&config.mqtt.prefix, &robot);
        let listen = config.mqtt.listen_v5.parse().map_err(|_| {
            MqttError::Setting(format!("`mqtt.listen_v5` is {:?}", config.mqtt.listen_v5))
        })?;
        let target = Target::new(config, listen, credentials(config)?)?;
        let nanos = crate::time::Timestamp::wall_clock().as_nanos() & 0xff_ffff;
        let name = format!("cli-{}-{nanos:06x}", std::process::id());
        // Below the user's name, where there is one: rights are given by it.
        let own = config
            .mqtt
            .username
            .as_ref()
            .map_or_else(|| name.clone(), |user| format!("{user}/{name}"));
        let response_topic = topics.answer(Some(&own));
        let broker = target.name();
        let (client, mut connection) = Client::new(target.options(&name), 16);
        let fail = |reason: String| ClientError::NoBroker { broker: broker.clone(), reason };
        client
            .try_subscribe(response_topic.clone(), QoS::AtLeastOnce)
            .map_err(|error| fail(error.to_string()))?;
        let until = Instant::now() + Duration::from_secs(5);
        loop {
            match next(&mut connection, until) {
                Ok(Some(Packet::SubAck(ack))) => match ack.return_codes.first() {
                    Some(SubscribeReasonCode::Success(_)) => break,
                    other => {
                        let reason = format!("the subscription to {response_topic}: {other:?}");
                        return Err(ClientError::NotLetIn { broker, reason, cure: RIGHTS });
                    }
                },
                Ok(_) => {}
                Err(Broken { reason, cure: Some(cure), .. }) => {
                    return Err(ClientError::NotLetIn { broker, reason, cure });
                }
                Err(Broken { reason, cure: None, .. }) => return Err(fail(reason)),
            }
        }
        let account = config.mqtt.username.as_ref();
        let account = account.map_or_else(|| "nobody".to_owned(), |user| format!("{user:?}"));
        Ok(Self { client, connection, topics, response_topic, broker, robot, account, asked: 0 })
    }

    /// Sends a request and waits for its reply; a [`Value`] payload without an `id`.
    ///
    /// # Errors
    /// [`ClientError::NotAllowed`], [`ClientError::TooLarge`], [`ClientError::NoReply`], [`ClientError::Refused`],
    /// [`ClientError::Unreadable`].
    pub fn request(
        &mut self,
        below: &str,
        payload: &Value,
        timeout: Duration,
    ) -> Result<Value, ClientError> {
        let bytes = self.request_bytes(below, payload, timeout)?;
        let reply: Value = serde_json::from_slice(&bytes).map_err(ClientError::Unreadable)?;
        refused(&reply).map_or(Ok(reply), Err)
    }

    /// As [`Self::request`], for replies that may be bytes of a picture or sound.
    ///
    /// # Errors
    /// [`ClientError::NotAllowed`], [`ClientError::TooLarge`], [`ClientError::NoReply`], [`ClientError::Refused`].
    pub fn request_media(
        &mut self,
        payload: &Value,
        timeout: Duration,
    ) -> Result<Vec<u8>, ClientError> {
        let bytes = self.request_bytes("query", payload, timeout)?;
        let reply = bytes.first().filter(|first| **first == b'{');
        let reply = reply.and_then(|_| serde_json::from_slice::<Value>(&bytes).ok());
        match reply.and_then(|reply| refused(&reply)) {
            Some(error) => Err(error),
            None => Ok(bytes),
        }
    }

    /// From now on [`Self::next_message`] gives what the daemon publishes on these topics.
    ///
    /// # Errors
    /// [`ClientError::NoBroker`].
    pub fn listen(&mut self, below: &[&str]) -> Result<(), ClientError> {
        for below in below {
            let subscribed = self.client.try_subscribe(self.topics.at(below), QoS::AtLeastOnce);
            subscribed.map_err(|error| self.no_broker(error.to_string()))?;
        }
        Ok(())
    }

    /// The next message of a topic that is listened to: topic below the robot's, and payload.
    ///
    /// # Errors
    /// [`ClientError::NoReply`], [`ClientError::NoBroker`].
    pub fn next_message(&mut self, timeout: Duration) -> Result<(String, Vec<u8>), ClientError> {
        let until = Instant::now() + timeout;
        let base = self.topics.at("");
        loop {
            let packet = self.packet(until, timeout)?;
            let Some(Packet::Publish(publish)) = packet else { continue };
            let topic = String::from_utf8_lossy(&publish.topic).into_owned();
            if let Some(below) = topic.strip_prefix(&base) {
                return Ok((below.to_owned(), publish.payload.to_vec()));
            }
        }
    }

    /// The next packet before `until`, the end of `timeout`.
    fn packet(&mut self, until: Instant, timeout: Duration) -> Result<Option<Packet>, ClientError> {
        next(&mut self.connection, until).map_err(
            |Broken { reason, too_large, .. }| match too_large {
                Some((bytes, most)) => {
                    ClientError::TooLarge { broker: self.broker.clone(), bytes, most }
                }
                None if Instant::now() >= until => self.no_reply(timeout),
                None => self.no_broker(reason),
            },
        )
    }

    fn no_broker(&self, reason: String) -> ClientError {
        ClientError::NoBroker { broker: self.broker.clone(), reason }
    }

    fn no_reply(&self, timeout: Duration) -> ClientError {
        ClientError::NoReply {
            robot: self.robot.clone(),
            broker: self.broker.clone(),
            secs: timeout.as_secs_f64(),
        }
    }

    fn request_bytes(
        &mut self,
        below: &str,
        payload: &Value,
        timeout: Duration,
    ) -> Result<Vec<u8>, ClientError> {
        self.asked += 1;
        let correlation = self.asked.to_be_bytes().to_vec();
        let properties = PublishProperties {
            response_topic: Some(self.response_topic.clone()),
            correlation_data: Some(correlation.clone().into()),
            content_type: Some("application/json".to_owned()),
            ..PublishProperties::default()
        };
        let topic = self.topics.at(below);
        self.client
            .try_publish_with_properties(
                topic.clone(),
                QoS::AtLeastOnce,
                false,
                payload.to_string(),
                properties,
            )
            .map_err(|error| self.no_broker(error.to_string()))?;
        let until = Instant::now() + timeout;
        loop {
            match self.packet(until, timeout)? {
                Some(Packet::Publish(publish)) => {
                    let properties = publish.properties;
                    let echoed = properties.and_then(|properties| properties.correlation_data);
                    if echoed.as_deref() == Some(&correlation[..]) {
                        return Ok(publish.payload.to_vec());
                    }
                }
                Some(Packet::PubAck(ack)) => {
                    if let Some(reason) = not_taken(ack.reason) {
                        let (broker, account) = (self.broker.clone(), self.account.clone());
                        return Err(ClientError::NotAllowed { broker, topic, account, reason });
                    }
                }
                _ => {}
            }
        }
    }
}

/// Why the broker does not pass a message on, in the words of MQTT 5 (3.4.2.1); `None`: it does.
fn not_taken(reason: PubAckReason) -> Option<&'static str> {
    match reason {
        PubAckReason::Success
        | PubAckReason::NoMatchingSubscribers
        | PubAckReason::PacketIdentifierInUse => None,
        PubAckReason::NotAuthorized => Some("not authorized"),
        PubAckReason::UnspecifiedError => Some("unspecified error"),
        PubAckReason::ImplementationSpecificError => Some("implementation specific error"),
        PubAckReason::TopicNameInvalid => Some("topic name invalid"),
        PubAckReason::QuotaExceeded => Some("quota exceeded"),
        PubAckReason::PayloadFormatInvalid => Some("payload format invalid"),
    }
}

impl Drop for DaemonClient {
    fn drop(&mut self) {
        let _ = self.client.try_disconnect();
        let until = Instant::now() + Duration::from_millis(200);
        while let Ok(packet) = next(&mut self.connection, until) {
            if packet.is_none() && Instant::now() >= until {
                break;
            }
        }
    }
}

/// What to correct where user or password are refused.
const CREDENTIALS: &str =
    "set `mqtt.username` and `mqtt.password_file` to a user that it knows and that user's password";
/// Where the certificate is.
const CERTIFICATES: &str = "correct `mqtt.ca_file`, and `mqtt.client_cert_file` and `client_key_file` where it demands a certificate";
/// Where the user may not do it.
const RIGHTS: &str =
    "give the user `mqtt.username` the right to read its answers (docs/mqtt.md, Rights)";

/// Why there is no next packet.
struct Broken {
    reason: String,
    /// The broker is there, and this is to be corrected.
    cure: Option<&'static str>,
    /// Bytes of the packet that was to be sent, and of the largest that the broker takes.
    too_large: Option<(u32, u32)>,
}

/// The next packet from the broker, `None` for our own.
fn next(connection: &mut Connection, until: Instant) -> Result<Option<Packet>, Broken> {
    let left = until.saturating_duration_since(Instant::now());
    let broken =
        |reason: &str| Err(Broken { reason: reason.to_owned(), cure: None, too_large: None });
    match connection.recv_timeout(left) {
        Ok(Ok(Event::Incoming(packet))) => Ok(Some(packet)),
        Ok(Ok(Event::Outgoing(rumqttc::Outgoing::Disconnect))) => broken("disconnected"),
        Ok(Ok(Event::Outgoing(_))) => Ok(None),
        Ok(Err(error)) => Err(Broken {
            reason: error.to_string(),
            cure: cure(&error),
            too_large: too_large(&error),
        }),
        Err(RecvTimeoutError::Timeout) => broken("no reply"),
        Err(RecvTimeoutError::Disconnected) => broken("the connection was closed"),
    }
}

/// What to correct when somebody is there who does not let this client in; the embedded broker just hangs up.
fn cure(error: &ConnectionError) -> Option<&'static str> {
    match error {
        ConnectionError::ConnectionRefused(_) | ConnectionError::MqttState(_) => Some(CREDENTIALS),
        ConnectionError::Tls(_) => Some(CERTIFICATES),
        _ => None,
    }
}

/// Bytes of a packet of ours that is more than the broker takes, and what it takes.
fn too_large(error: &ConnectionError) -> Option<(u32, u32)> {
    match error {
        ConnectionError::MqttState(
            StateError::OutgoingPacketTooLarge { pkt_size, max }
            | StateError::Deserialization(PacketError::OutgoingPacketTooLarge { pkt_size, max }),
        ) => Some((*pkt_size, *max)),
        _ => None,
    }
}

/// The refusal that a reply is, if it is one.
fn refused(reply: &Value) -> Option<ClientError> {
    let error = reply.get("error")?;
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(ClientError::Refused { code: text("code"), message: text("message") })
}
