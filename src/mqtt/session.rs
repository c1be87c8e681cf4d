//! The daemon's session with the broker: connect, subscribe, be born, receive, publish, connect again.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rumqttc::Outgoing as Sent;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, DisconnectReasonCode, Filter, LastWill, Packet, Publish, PublishProperties,
    RetainForwardRule,
};
use rumqttc::v5::{AsyncClient, ConnectionError, Event, EventLoop, MqttOptions, StateError};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::broker::Broker;
use super::connection::{Target, credentials};
use super::dispatch::{Dispatcher, Incoming};
use super::journal::{Journal, Left};
use super::message::{Refusal, Status};
use super::outbox::{Class, Outbox, Outgoing, Waiting};
use super::rates::Rates;
use super::requests::Requests;
use super::trouble::Trouble;
use super::wire::RETAINED;
use super::{MqttError, Publisher, Service, Topics};
use crate::config::{BrokerAddress, Config};
use crate::supervise::keep_up_task;

/// Messages handed to the connection and not yet acknowledged.
const WINDOW: usize = 64;
/// Requests that the broker may have handed over before the first of them is acknowledged.
const RECEIVE_WINDOW: u16 = 64;
/// Room for both, and for subscribing and leaving. The embedded broker hands over up to 100, whatever it is told.
const REQUESTS: usize = 4 * WINDOW;
/// Waiting time before the second attempt to connect; doubles up to [`MAX_BACKOFF`], and begins anew once a connection has
/// lasted for [`STEADY`].
const MIN_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
const STEADY: Duration = Duration::from_secs(10);
/// The least of it when another client took this one's place, which at once would only be thrown out in its turn; and the
/// most of it while a broker comes and goes.
const RIVAL_BACKOFF: Duration = Duration::from_secs(5);
/// The session's loop goes round at least so often.
const TURN: Duration = Duration::from_millis(300);
/// How long an external broker keeps questions for a daemon that lost its connection.
const SESSION_EXPIRY_SECS: u32 = 300;
/// How long the goodbye waits for the disk.
const LAST_WRITE: Duration = Duration::from_millis(500);
/// How long a stop waits for running requests and for the broker's acknowledgements.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// The running session.
pub struct Session {
    publisher: Publisher,
    requests: Requests,
    topics: Topics,
    broker: Option<Broker>,
    stop: watch::Sender<bool>,
    renew: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Session {
    /// Starts the embedded broker where the configuration says so, then the session. Needs a tokio runtime with time
    /// and I/O. The `config` should be [`Config::resolved`]. Until the broker is reached, messages wait.
    ///
    /// # Errors
    /// [`MqttError`] when the embedded broker cannot start or the configuration cannot be used.
    pub async fn start(config: &Config, service: Arc<dyn Service>) -> Result<Self, MqttError> {
        let robot = config.robot_id();
        let topics = Topics::new(&config.mqtt.prefix, &robot);
        let user = credentials(config)?;
        let trouble = Trouble::default();
        let embedded = BrokerAddress::parse(&config.mqtt.broker) == Ok(BrokerAddress::Embedded);
        let broker = if embedded {
            let (settings, user, told) = (config.mqtt.clone(), user.clone(), trouble.clone());
            let start = move || Broker::start(&settings, user.as_ref(), &told);
            let started = tokio::task::spawn_blocking(start).await;
            let failed = |error: tokio::task::JoinError| MqttError::Setting(error.to_string());
            Some(started.map_err(failed)??)
        } else {
            None
        };
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let target = Target::new(config, broker.map_or(nowhere, |broker| broker.v5), user)?;
        let (outbox, left) = outbox(config).await;
        let publisher = Publisher::over(outbox, topics.clone(), &boot_id(), trouble.clone());
        let dispatcher = Dispatcher::new(
            service,
            topics.clone(),
            Arc::clone(&publisher.outbox),
            &config.answerer,
            Rates::new(config.mqtt.reply_rate, config.mqtt.request_rate),
            left,
        );
        let requests =
            Requests::new(dispatcher.clone(), topics.clone(), Arc::clone(&publisher.outbox));
        publisher.status(&[], None);
        let (stop, stopping) = watch::channel(false);
        let renew = Arc::new(Notify::new());
        let connection = Connection {
            client_id: format!("engramd-{robot}"),
            target,
            // The embedded broker knows the password that it was started with.
            files: (!embedded).then(|| config.clone()),
            renew: Arc::clone(&renew),
            topics: topics.clone(),
            publisher: publisher.clone(),
            dispatcher,
            trouble,
            stopping,
        };
        let task = tokio::spawn(connection.keep_up());
        Ok(Self { publisher, requests, topics, broker, stop, renew, task })
    }

    /// Reads the password and the certificates for an external broker again; where they have changed, connects anew.
    pub fn renew(&self) {
        self.renew.notify_one();
    }

    /// The handle for publishing.
    #[must_use]
    pub fn publisher(&self) -> Publisher {
        self.publisher.clone()
    }

    /// The handle for other doors: the same requests, and what is published.
    #[must_use]
    pub fn requests(&self) -> Requests {
        self.requests.clone()
    }

    /// The robot's topics.
    #[must_use]
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// Where the embedded broker listens, if it runs.
    #[must_use]
    pub fn broker(&self) -> Option<Broker> {
        self.broker
    }

    /// Lets running requests finish, publishes `stopped` and leaves; takes at most a few seconds.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = tokio::time::timeout(STOP_TIMEOUT * 2, self.task).await;
        // What was not delivered waits on disk for the next daemon.
        self.publisher.outbox.sync();
    }

    /// Breaks the connection without a word, as a crash would.
    #[cfg(test)]
    pub(super) async fn kill(self) {
        self.task.abort();
        // `stop` lives until the task is gone: a sender that is dropped while the task still runs reads as a stop.
        let _ = self.task.await;
    }
}

/// A name for this start of the daemon.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/uuid")
        .map(|text| text.trim().to_owned())
        .unwrap_or_else(|_| {
            format!("{}-{}", std::process::id(), crate::time::Timestamp::wall_clock())
        })
}

/// The outbox, kept in the state folder where the configuration names one, and what an earlier daemon left in it.
async fn outbox(config: &Config) -> (Outbox, Left) {
    let Some(dir) = config.store.dir.clone() else { return Default::default() };
    let shown = dir.display().to_string();
    let config = config.clone();
    let opened = tokio::task::spawn_blocking(move || {
        let key = config.store_key().map_err(|error| error.to_string())?;
        Journal::open(&dir, key.as_ref()).map_err(|error| error.to_string())
    });
    match opened.await {
        Ok(Ok((journal, mut left))) => (Outbox::over(journal, &mut left), left),
        failed => {
            let why = match failed {
                Ok(Err(error)) => error,
                _ => "the thread that opens it failed".to_owned(),
            };
            tracing::warn!(
                "messages for the broker are kept in memory only: opening outbox.db in {shown}: {why}"
            );
            Default::default()
        }
    }
}

fn options(target: &Target, client_id: &str, keep_session: bool) -> MqttOptions {
    let mut options = target.options(client_id);
    // A request is acknowledged when it is on disk, not when it comes: until then the broker keeps it.
    options.set_manual_acks(true).set_receive_maximum(Some(RECEIVE_WINDOW));
    options.set_clean_start(!keep_session);
    if keep_session {
        options.set_session_expiry_interval(Some(SESSION_EXPIRY_SECS));
    }
    options
}

/// Everything the task needs.
struct Connection {
    client_id: String,
    target: Target,
    /// An external broker: the configuration that names its password and certificates.
    files: Option<Config>,
    /// These may have changed.
    renew: Arc<Notify>,
    topics: Topics,
    publisher: Publisher,
    dispatcher: Dispatcher,
    trouble: Trouble,
    stopping: watch::Receiver<bool>,
}

/// Why a connection ended.
enum End {
    /// It broke.
    Broken(String),
    /// Another client with this one's id took its place.
    Replaced,
    /// There are other certificates or another password now.
    Renewed(Box<Target>),
    /// The daemon stops.
    Stopped,
}

/// Messages handed to the connection; what the broker did not acknowledge goes back when this goes.
struct Handed {
    outbox: Arc<Outbox>,
    /// In order, with their packet id once they have one, until the broker has them.
    kept: VecDeque<(Option<u16>, Waiting)>,
    /// How many that are sent at most once are still on their way out.
    ticks: usize,
}

impl Drop for Handed {
    fn drop(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        self.outbox.give_back(kept.into_iter().map(|(_, message)| message));
    }
}

impl Handed {
    fn new(outbox: &Arc<Outbox>) -> Self {
        Self { outbox: Arc::clone(outbox), kept: VecDeque::new(), ticks: 0 }
    }

    fn has_room(&self) -> bool {
        self.kept.len() < WINDOW && self.ticks < WINDOW
    }

    /// A message went out under that packet id; 0: it gets no acknowledgement.
    fn sent(&mut self, id: u16) {
        if id == 0 {
            self.ticks = self.ticks.saturating_sub(1);
        } else if let Some(next) = self.kept.iter_mut().find(|(given, _)| given.is_none()) {
            next.0 = Some(id);
        }
    }

    /// The broker has the message of that packet id.
    fn acknowledged(&mut self, id: u16) -> Option<Waiting> {
        let at = self.kept.iter().position(|(given, _)| *given == Some(id))?;
        self.kept.remove(at).map(|(_, waiting)| waiting)
    }
}

impl Connection {
    /// Runs until the daemon stops; after a panic anew.
    async fn keep_up(self) {
        if let Err(over) = keep_up_task("mqtt", || self.run()).await {
            self.publisher.lost(over.to_string());
            self.trouble.down("mqtt", format!("{over}; restart engramd"));
        }
    }

    async fn run(&self) {
        let mut stopping = self.stopping.clone();
        let mut target = self.target.clone();
        let mut backoff = MIN_BACKOFF;
        loop {
            if let Some(new) = self.changed(&target) {
                target = new;
            }
            let mut handed = Handed::new(&self.publisher.outbox);
            let mut since = None;
            let end = self.connection(&target, &mut handed, &mut since).await;
            drop(handed);
            let why = match end {
                End::Stopped => return self.publisher.lost("the daemon stops".to_owned()),
                End::Renewed(new) => {
                    tracing::info!(
                        "the password or the certificates for {} are others: connecting anew",
                        new.name()
                    );
                    self.publisher.lost("connecting anew".to_owned());
                    target = *new;
                    continue;
                }
                End::Replaced => {
                    self.rivalled();
                    backoff = backoff.max(RIVAL_BACKOFF);
                    "another client with this robot's id took this one's place".to_owned()
                }
                End::Broken(why) => {
                    backoff = match since.map(|since: Instant| since.elapsed()) {
                        Some(lasted) if lasted >= STEADY => MIN_BACKOFF,
                        Some(_) => backoff.min(RIVAL_BACKOFF),
                        None => backoff,
                    };
                    why
                }
            };
            tracing::warn!(
                "connecting to the broker {}: {why}; trying again in {:.1} s ({} messages wait)",
                target.name(),
                backoff.as_secs_f64(),
                self.publisher.waiting()
            );
            self.publisher.lost(format!("{}: {why}", target.name()));
            let until = Instant::now() + backoff;
            while Instant::now() < until {
                self.publisher.turn();
                let turn = until.min(Instant::now() + TURN);
                tokio::select! {
                    () = tokio::time::sleep_until(turn) => {}
                    _ = stopping.wait_for(|stop| *stop) => return,
                    () = self.renew.notified() => break,
                }
            }
            backoff = (backoff * 2).min(MAX_BACKOFF);
        }
    }

    /// What leads to the external broker now, where it is another way than that.
    fn changed(&self, target: &Target) -> Option<Target> {
        let config = self.files.as_ref()?;
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let read = credentials(config).and_then(|user| Target::new(config, nowhere, user));
        match read {
            Ok(new) => (!new.is(target)).then_some(new),
            Err(error) => {
                tracing::warn!("{error}; what was read before stays");
                None
            }
        }
    }

    /// Somebody else uses this robot's id.
    fn rivalled(&self) {
        if self.trouble.rival() {
            tracing::warn!(
                "another daemon says to be this robot ({}); give each robot a `robot.id` of its own",
                self.client_id
            );
        }
    }

    /// One connection, from its beginning to its end; `since` when it is there.
    async fn connection(
        &self,
        target: &Target,
        handed: &mut Handed,
        since: &mut Option<Instant>,
    ) -> End {
        let mut stopping = self.stopping.clone();
        let mut options = options(target, &self.client_id, self.files.is_some());
        let will = serde_json::to_vec(&self.publisher.will()).unwrap_or_default();
        let status = self.topics.at("status");
        options.set_last_will(LastWill::new(status, will, QoS::AtLeastOnce, true, None));
        let (client, mut eventloop) = AsyncClient::new(options, REQUESTS);
        let outbox = Arc::clone(&self.publisher.outbox);
        let mut connected = false;
        let mut max_bytes = usize::MAX;
        let mut give_up: Option<Instant> = None;
        let mut said_stopped = false;
        let mut renewed = None;
        loop {
            let event = {
                // Not cancelled while it runs: a message taken by it would be lost.
                let poll = eventloop.poll();
                tokio::pin!(poll);
                loop {
                    self.publisher.turn();
                    let leaving = give_up.is_some();
                    let turn = if leaving { Duration::from_millis(20) } else { TURN };
                    tokio::select! {
                        biased;
                        event = &mut poll => break Some(event),
                        () = outbox.filled() => {}
                        _ = stopping.wait_for(|stop| *stop), if !leaving => {
                            give_up = Some(Instant::now() + STOP_TIMEOUT);
                        }
                        () = self.renew.notified(), if !leaving => {
                            renewed = self.changed(target);
                            if renewed.is_some() {
                                break None;
                            }
                        }
                        () = tokio::time::sleep(turn) => {}
                    }
                    if let Some(at) = give_up {
                        let idle = self.dispatcher.running() == 0 && outbox.len() == 0;
                        if !said_stopped && (idle || Instant::now() > at) {
                            self.publisher.stopped();
                            said_stopped = true;
                        }
                        let done = said_stopped && outbox.len() == 0 && handed.kept.is_empty();
                        if !connected || done || Instant::now() > at + STOP_TIMEOUT {
                            break None;
                        }
                    }
                    if connected {
                        self.feed(&client, handed, max_bytes);
                    }
                }
            };
            if let Some(new) = renewed.take() {
                // Without a goodbye: should the new ones not be let in, the will says that nobody is there.
                return End::Renewed(Box::new(new));
            }
            let Some(event) = event else {
                // What was taken is acknowledged before: nobody hands it over again.
                let written = Arc::clone(&outbox);
                let written = tokio::task::spawn_blocking(move || written.sync());
                let _ = tokio::time::timeout(LAST_WRITE, written).await;
                let _ = client.try_disconnect();
                leave(eventloop).await;
                return End::Stopped;
            };
            match event {
                Ok(Event::Incoming(Packet::ConnAck(ack))) => {
                    connected = true;
                    *since = Some(Instant::now());
                    max_bytes = greatest_packet(&ack);
                    if client.try_subscribe_many(self.filters()).is_err() {
                        return End::Broken("subscribing failed".to_owned());
                    }
                    self.publisher.born();
                    outbox.give_birth();
                    tracing::info!("connected to the broker {}", target.name());
                    self.feed(&client, handed, max_bytes);
                }
                Ok(Event::Incoming(Packet::Publish(publish))) => {
                    let acknowledged = publish.clone();
                    self.receive(publish, said_stopped);
                    let client = client.clone();
                    outbox.after(move || {
                        if let Err(error) = client.try_ack(&acknowledged) {
                            tracing::debug!(%error, "not acknowledged: the broker hands it over again");
                        }
                    });
                }
                Ok(Event::Incoming(Packet::PubAck(ack))) => {
                    if let Some(waiting) = handed.acknowledged(ack.pkid) {
                        outbox.settled(&waiting);
                    }
                    self.feed(&client, handed, max_bytes);
                }
                Ok(Event::Incoming(Packet::Disconnect(_))) => {
                    return End::Broken("the broker closed the connection".to_owned());
                }
                Ok(Event::Outgoing(Sent::Publish(id))) => handed.sent(id),
                Ok(_) => {}
                Err(ConnectionError::MqttState(StateError::ServerDisconnect {
                    reason_code: DisconnectReasonCode::SessionTakenOver,
                    ..
                })) => return End::Replaced,
                Err(error) => return End::Broken(error.to_string()),
            }
        }
    }

    fn filters(&self) -> Vec<Filter> {
        let command = |path| {
            let mut filter = Filter::new(path, QoS::AtLeastOnce);
            filter.retain_forward_rule = RetainForwardRule::Never;
            // One that is published to be retained while this is subscribed comes all the same, and is to say so.
            filter.preserve_retain = true;
            filter
        };
        let mut filters: Vec<Filter> =
            self.topics.command_filters().into_iter().map(command).collect();
        // A will that comes late must not stand, and nobody else be this robot.
        let mut status = Filter::new(self.topics.at("status"), QoS::AtLeastOnce);
        status.retain_forward_rule = RetainForwardRule::OnEverySubscribe;
        status.nolocal = true;
        filters.push(status);
        filters
    }

    /// Hands waiting messages to the connection as far as the window allows.
    fn feed(&self, client: &AsyncClient, handed: &mut Handed, max_bytes: usize) {
        while handed.has_room() {
            let outbox = &self.publisher.outbox;
            let Some(waiting) = outbox.take() else { return };
            let Some(message) = fitting(waiting.message.clone(), max_bytes) else {
                outbox.settled(&waiting);
                continue;
            };
            let left = waiting.time_left();
            let properties = PublishProperties {
                correlation_data: message.correlation.clone().map(Into::into),
                content_type: Some(message.content_type.to_string()),
                payload_format_indicator: (message.content_type == super::outbox::JSON)
                    .then_some(1),
                message_expiry_interval: left
                    .map(|left| u32::try_from(left.as_secs().max(1)).unwrap_or(u32::MAX)),
                ..PublishProperties::default()
            };
            let once = message.class == Class::Tick;
            let given = client.try_publish_with_properties(
                message.topic.clone(),
                if once { QoS::AtMostOnce } else { QoS::AtLeastOnce },
                message.retain,
                message.payload.clone(),
                properties,
            );
            match given {
                Ok(()) if once => handed.ticks += 1,
                Ok(()) => handed.kept.push_back((None, waiting)),
                Err(error) => {
                    // The channel holds more than the window: it is the topic that is impossible.
                    tracing::error!(
                        "publishing on {:?}: {error}; the message is dropped",
                        message.topic
                    );
                    outbox.settled(&waiting);
                }
            }
        }
    }

    fn receive(&self, publish: Publish, leaving: bool) {
        if *publish.topic == *self.topics.at("status").as_bytes() {
            if !leaving {
                self.heard(&publish.payload, publish.retain);
            }
            return;
        }
        let properties = publish.properties.unwrap_or_default();
        if publish.retain || properties.user_properties.iter().any(|(key, _)| key == RETAINED) {
            let topic = String::from_utf8_lossy(&publish.topic);
            tracing::warn!("ignored a retained message on {topic}: commands must not be retained");
            return;
        }
        let Ok(topic) = String::from_utf8(publish.topic.to_vec()) else { return };
        self.dispatcher.receive(Incoming {
            topic,
            payload: publish.payload.to_vec(),
            response_topic: properties.response_topic,
            correlation: properties.correlation_data.map(|data| data.to_vec()),
            content_type: properties.content_type,
            expiry: properties.message_expiry_interval.map(|secs| Duration::from_secs(secs.into())),
            caller: None,
        });
    }

    /// Somebody else, or a will, says how this robot is. `retained`: it was said before this connection, whose birth
    /// takes its place.
    fn heard(&self, status: &[u8], retained: bool) {
        let Ok(status) = serde_json::from_slice::<Status>(status) else { return };
        if !retained && self.publisher.is_denied_by(&status) {
            tracing::info!(
                "a late {:?} of boot {}, connection {} came; saying once more that this daemon is there",
                status.state,
                status.boot_id,
                status.connection
            );
            self.publisher.reaffirm();
        } else if self.publisher.is_claimed_by(&status, retained) {
            self.rivalled();
        }
    }
}

/// Lets the goodbye out.
async fn leave(mut eventloop: EventLoop) {
    let goodbye = async {
        loop {
            match eventloop.poll().await {
                Ok(Event::Outgoing(Sent::Disconnect)) | Err(_) => return,
                Ok(_) => {}
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(500), goodbye).await;
}

/// The greatest packet that the broker takes.
fn greatest_packet(ack: &ConnAck) -> usize {
    let limit = ack.properties.as_ref().and_then(|properties| properties.max_packet_size);
    limit.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(super::MAX_PACKET_BYTES)
}

/// The message, when the broker takes it; an error in its place when somebody waits for it; else nothing.
fn fitting(message: Outgoing, max_bytes: usize) -> Option<Outgoing> {
    let overhead = 256 + message.topic.len() + message.correlation.as_ref().map_or(0, Vec::len);
    let size = message.payload.len() + overhead;
    if size <= max_bytes {
        return Some(message);
    }
    tracing::warn!(
        "a message of {size} bytes on {} is more than the {max_bytes} that the broker takes",
        message.topic
    );
    if message.class != Class::Reply {
        return None;
    }
    let refusal = Refusal::too_large(format!(
        "the reply has {} bytes, and the broker takes packets of {max_bytes} bytes at most; ask for less, or raise its \
         limit (`max_packet_size` of Mosquitto)",
        message.payload.len()
    ));
    let payload = refusal.document(None).to_string().into_bytes();
    Some(Outgoing { payload, content_type: super::outbox::JSON.into(), ..message })
}
