//! A real broker, an echoing service, and clients of both protocol versions.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rumqttc::v5;
use serde_json::{Value, json};

use crate::config::Config;
use crate::mqtt::{Call, MqttError, Refusal, Reply, Request, Service, Session};

/// Says back what it was asked; some questions make it slow, fail or fall over.
#[derive(Default)]
pub(crate) struct Echo {
    pub(crate) handled: AtomicUsize,
    pub(crate) erased: AtomicUsize,
}

impl Service for Echo {
    fn handle(&self, request: Request, call: &Call) -> Result<Reply, Refusal> {
        let number = self.handled.fetch_add(1, Ordering::SeqCst);
        Ok(Reply::Document(match request {
            Request::Ask(ask) => match ask.question.as_str() {
                "fall over" => panic!("as asked"),
                "refuse" => return Err(Refusal::not_found("no such thing")),
                "slow" => {
                    std::thread::sleep(Duration::from_millis(300));
                    json!({ "answer": "slow" })
                }
                "erased under it" => {
                    self.erased.fetch_add(1, Ordering::SeqCst);
                    json!({ "answer": number })
                }
                "erased under it once" => {
                    self.erased.fetch_max(1, Ordering::SeqCst);
                    json!({ "answer": number })
                }
                "rounds" => {
                    call.progress(&json!({ "round": 1, "thought": "looking" }));
                    json!({ "answer": "rounds" })
                }
                question => json!({ "question": question, "answer": question, "number": number }),
            },
            Request::Query(query) if query.verb.word() == "media" => {
                return Ok(Reply::Bytes {
                    content_type: "image/jpeg",
                    bytes: vec![0xff, 0xd8, 0xff],
                });
            }
            Request::Query(query) => json!([query.verb.word(), query.args]),
            other => json!({ "did": format!("{other:?}"), "number": number }),
        }))
    }

    fn erasures(&self) -> u64 {
        self.erased.load(Ordering::SeqCst) as u64
    }
}

/// A broker to test against.
pub(crate) enum Broker {
    Embedded,
    Mosquitto(Mosquitto),
}

/// Debian's broker on a port of its own.
pub(crate) struct Mosquitto {
    child: Option<Child>,
    pub(crate) port: u16,
    dir: tempfile::TempDir,
    /// Lines of its configuration about who may do what.
    rights: String,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Where Debian puts the broker; not on every user's path.
fn mosquitto_program() -> Option<&'static str> {
    ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
}

impl Mosquitto {
    /// `None`, with a line that says so, where it is not installed.
    pub(crate) fn start() -> Option<Self> {
        if mosquitto_program().is_none() {
            println!(
                "SKIPPED: mosquitto is not installed (apt-get install mosquitto mosquitto-clients)"
            );
            return None;
        }
        let (port, dir) = (free_port(), tempfile::tempdir().unwrap());
        let rights = "allow_anonymous true\n".to_owned();
        let mut broker = Self { child: None, port, dir, rights };
        broker.run();
        Some(broker)
    }

    /// With more lines of configuration.
    pub(crate) fn with(lines: &str) -> Option<Self> {
        let mut broker = Self::start()?;
        broker.kill();
        broker.rights.push_str(lines);
        broker.run();
        Some(broker)
    }

    /// With the rights that are shipped, and these users, the robots among them; each one's password is its name.
    pub(crate) fn guarded(users: &[&str], robots: &[&str]) -> Option<Self> {
        let mut broker = Self::start()?;
        broker.kill();
        let path = |name: &str| broker.dir.path().join(name);
        for user in users {
            std::fs::write(path(&format!("password-{user}")), user).unwrap();
            let made = Command::new("mosquitto_passwd")
                .args(if path("users").exists() { &["-b"][..] } else { &["-c", "-b"][..] })
                .arg(path("users"))
                .args([user, user])
                .output()
                .unwrap();
            assert!(made.status.success(), "{made:?}");
        }
        let shipped = include_str!("../../../config/mosquitto/engram.conf");
        let mut rights = String::new();
        for line in shipped.lines() {
            let line = match line.split_once(' ').unwrap_or((line, "")) {
                ("listener" | "#" | "set_tcp_nodelay", _) => continue,
                ("password_file", _) => format!("password_file {}", path("users").display()),
                ("acl_file", _) => format!("acl_file {}", path("acl").display()),
                _ => line.to_owned(),
            };
            rights.push_str(&line);
            rights.push('\n');
        }
        let mut acl = include_str!("../../../config/mosquitto/engram.acl").to_owned();
        for robot in robots {
            // As the file says that robots are added.
            let block = include_str!("../../../config/mosquitto/robot.acl");
            acl.push_str(&block.replace("ROBOT", robot));
        }
        std::fs::write(path("acl"), acl).unwrap();
        broker.rights = rights;
        broker.run();
        Some(broker)
    }

    /// The file with a user's password.
    pub(crate) fn password_file(&self, user: &str) -> std::path::PathBuf {
        self.dir.path().join(format!("password-{user}"))
    }

    pub(crate) fn run(&mut self) {
        let config = self.dir.path().join("mosquitto.conf");
        let text = format!(
            "user root\nlistener {} 127.0.0.1\nset_tcp_nodelay true\npersistence false\nlog_dest none\n{}",
            self.port, self.rights
        );
        std::fs::write(&config, text).unwrap();
        let child = Command::new(mosquitto_program().unwrap())
            .arg("-c")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.child = Some(child);
        let until = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until, "mosquitto does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A daemon's session with an [`Echo`], and where its broker is.
pub(crate) struct Daemon {
    pub(crate) session: Session,
    pub(crate) echo: Arc<Echo>,
    pub(crate) v4: SocketAddr,
    pub(crate) v5: SocketAddr,
}

pub(crate) fn config(broker: &Broker) -> Config {
    let mut config = Config::default();
    config.robot.id = Some("rob".to_owned());
    config.mqtt.listen = "127.0.0.1:0".to_owned();
    config.mqtt.listen_v5 = "127.0.0.1:0".to_owned();
    if let Broker::Mosquitto(mosquitto) = broker {
        config.mqtt.broker = format!("mqtt://127.0.0.1:{}", mosquitto.port);
    }
    config
}

impl Daemon {
    pub(crate) async fn start(broker: &Broker) -> Self {
        Self::with(&config(broker)).await.unwrap()
    }

    pub(crate) async fn with(config: &Config) -> Result<Self, MqttError> {
        let echo = Arc::new(Echo::default());
        let session = Session::start(config, echo.clone()).await?;
        let until = Instant::now() + Duration::from_secs(5);
        while !session.publisher().connected() {
            assert!(Instant::now() < until, "the session does not connect");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let external = || {
            let port = config.mqtt.broker.rsplit(':').next().unwrap().parse().unwrap();
            SocketAddr::from(([127, 0, 0, 1], port))
        };
        let (v4, v5) = match session.broker() {
            Some(broker) => (broker.v4, broker.v5),
            None => (external(), external()),
        };
        Ok(Self { session, echo, v4, v5 })
    }
}

/// Every broker that is there.
pub(crate) fn brokers() -> Vec<Broker> {
    let mosquitto = Mosquitto::start().map(Broker::Mosquitto);
    [Some(Broker::Embedded), mosquitto].into_iter().flatten().collect()
}

/// A message as a client sees it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) retain: bool,
    pub(crate) correlation: Option<Vec<u8>>,
    pub(crate) content_type: Option<String>,
    /// Seconds.
    pub(crate) expiry: Option<u32>,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.payload)
            .unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(&self.payload)))
    }
}

/// Topic, payload, retained, v5 properties.
type Publish = dyn Fn(&str, Vec<u8>, bool, Option<v5::mqttbytes::v5::PublishProperties>) + Send;

/// A client that has subscribed and collects what it sees.
pub(crate) struct TestClient {
    publish: Box<Publish>,
    seen: tokio::sync::mpsc::UnboundedReceiver<Seen>,
}

static CLIENTS: AtomicUsize = AtomicUsize::new(0);

fn client_id() -> String {
    format!("test-{}-{}", std::process::id(), CLIENTS.fetch_add(1, Ordering::SeqCst))
}

const BIG: usize = 8 * 1024 * 1024;

impl TestClient {
    /// MQTT 5.
    pub(crate) async fn v5(at: SocketAddr, filters: &[&str]) -> Self {
        Self::v5_with(at, filters, |_| {}).await
    }

    /// MQTT 5, taking packets of so many bytes at most.
    pub(crate) async fn v5_narrow(at: SocketAddr, filters: &[&str], most: u32) -> Self {
        Self::v5_with(at, filters, |options| {
            options.set_max_packet_size(Some(most));
        })
        .await
    }

    /// MQTT 5, without what it publishes itself.
    pub(crate) async fn v5_no_local(at: SocketAddr, filters: &[&str]) -> Self {
        let filters = filters.iter().map(|filter| {
            let mut filter = v5::mqttbytes::v5::Filter::new(
                (*filter).to_owned(),
                v5::mqttbytes::QoS::AtLeastOnce,
            );
            filter.nolocal = true;
            filter
        });
        Self::v5_of(at, filters.collect(), |_| {}).await
    }

    /// MQTT 5, as that user, whose password is its name.
    pub(crate) async fn v5_as(at: SocketAddr, filters: &[&str], user: &str) -> Self {
        Self::v5_with(at, filters, |options| {
            options.set_credentials(user, user);
        })
        .await
    }

    async fn v5_with(
        at: SocketAddr,
        filters: &[&str],
        more: impl FnOnce(&mut v5::MqttOptions),
    ) -> Self {
        let filter = |filter: &&str| {
            let qos = v5::mqttbytes::QoS::AtLeastOnce;
            v5::mqttbytes::v5::Filter::new((*filter).to_owned(), qos)
        };
        Self::v5_of(at, filters.iter().map(filter).collect(), more).await
    }

    async fn v5_of(
        at: SocketAddr,
        filters: Vec<v5::mqttbytes::v5::Filter>,
        more: impl FnOnce(&mut v5::MqttOptions),
    ) -> Self {
        use v5::mqttbytes::QoS;
        let mut options = v5::MqttOptions::new(client_id(), at.ip().to_string(), at.port());
        let mut network = rumqttc::NetworkOptions::new();
        network.set_tcp_nodelay(true);
        options.set_network_options(network).set_max_packet_size(Some(BIG as u32));
        more(&mut options);
        let (client, mut eventloop) = v5::AsyncClient::new(options, 1000);
        let asked = filters.len();
        for filter in filters {
            client.try_subscribe_many([filter]).unwrap();
        }
        let (sender, seen) = tokio::sync::mpsc::unbounded_channel();
        let (ready, mut acks) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            use v5::mqttbytes::v5::Packet;
            while let Ok(event) = eventloop.poll().await {
                match event {
                    v5::Event::Incoming(Packet::SubAck(_)) => drop(ready.send(())),
                    v5::Event::Incoming(Packet::Publish(publish)) => {
                        let properties = publish.properties.unwrap_or_default();
                        let _ = sender.send(Seen {
                            topic: String::from_utf8(publish.topic.to_vec()).unwrap(),
                            payload: publish.payload.to_vec(),
                            retain: publish.retain,
                            correlation: properties.correlation_data.map(|data| data.to_vec()),
                            content_type: properties.content_type,
                            expiry: properties.message_expiry_interval,
                        });
                    }
                    _ => {}
                }
            }
        });
        for _ in 0..asked {
            acks.recv().await.unwrap();
        }
        let publish = move |topic: &str, payload: Vec<u8>, retain, properties: Option<_>| {
            let properties = properties.unwrap_or_default();
            client
                .try_publish_with_properties(topic, QoS::AtLeastOnce, retain, payload, properties)
                .unwrap();
        };
        Self { publish: Box::new(publish), seen }
    }

    /// MQTT 3.1.1.
    pub(crate) async fn v4(at: SocketAddr, filters: &[&str]) -> Self {
        let mut options = rumqttc::MqttOptions::new(client_id(), at.ip().to_string(), at.port());
        options.set_max_packet_size(BIG, BIG);
        let (client, mut eventloop) = rumqttc::AsyncClient::new(options, 1000);
        for filter in filters {
            client.try_subscribe(*filter, rumqttc::QoS::AtLeastOnce).unwrap();
        }
        let (sender, seen) = tokio::sync::mpsc::unbounded_channel();
        let (ready, mut acks) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            use rumqttc::{Event, Packet};
            while let Ok(event) = eventloop.poll().await {
                match event {
                    Event::Incoming(Packet::SubAck(_)) => drop(ready.send(())),
                    Event::Incoming(Packet::Publish(publish)) => {
                        let _ = sender.send(Seen {
                            topic: publish.topic.clone(),
                            payload: publish.payload.to_vec(),
                            retain: publish.retain,
                            correlation: None,
                            content_type: None,
                            expiry: None,
                        });
                    }
                    _ => {}
                }
            }
        });
        for _ in filters {
            acks.recv().await.unwrap();
        }
        let publish = move |topic: &str, payload: Vec<u8>, retain, _: Option<_>| {
            client.try_publish(topic, rumqttc::QoS::AtLeastOnce, retain, payload).unwrap();
        };
        Self { publish: Box::new(publish), seen }
    }

    pub(crate) fn send(&self, topic: &str, payload: impl Into<Vec<u8>>) {
        (self.publish)(topic, payload.into(), false, None);
    }

    pub(crate) fn send_retained(&self, topic: &str, payload: impl Into<Vec<u8>>) {
        (self.publish)(topic, payload.into(), true, None);
    }

    /// With a v5 message expiry, seconds.
    pub(crate) fn send_expiring(&self, topic: &str, payload: impl Into<Vec<u8>>, secs: u32) {
        let properties = v5::mqttbytes::v5::PublishProperties {
            message_expiry_interval: Some(secs),
            ..Default::default()
        };
        (self.publish)(topic, payload.into(), false, Some(properties));
    }

    /// With a v5 response topic and correlation data.
    pub(crate) fn ask_v5(
        &self,
        topic: &str,
        payload: impl Into<Vec<u8>>,
        response_topic: &str,
        correlation: &[u8],
    ) {
        let properties = v5::mqttbytes::v5::PublishProperties {
            response_topic: Some(response_topic.to_owned()),
            correlation_data: Some(correlation.to_vec().into()),
            ..Default::default()
        };
        (self.publish)(topic, payload.into(), false, Some(properties));
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Seen {
        tokio::time::timeout(Duration::from_secs(10), self.seen.recv())
            .await
            .expect("a message within 10 s")
            .expect("the connection lives")
    }

    /// The next message on that topic; others are passed over.
    pub(crate) async fn on(&mut self, topic: &str) -> Seen {
        loop {
            let seen = self.next().await;
            if seen.topic == topic {
                return seen;
            }
        }
    }

    /// Whether nothing comes for a while.
    pub(crate) async fn silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(300), self.seen.recv()).await.is_err()
    }
}

/// A test's runtime.
pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}
