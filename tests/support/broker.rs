//! Brokers and listeners: Debian's Mosquitto on a port of its own, and a client that collects everything.

use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, PublishProperties};
use rumqttc::v5::{Client, Event, MqttOptions};
use serde_json::Value;

use super::absent;

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until `look` gives something.
pub fn wait_for<T>(what: &str, secs: u64, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(secs);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited {secs} s for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A Mosquitto; ends with the test.
pub struct Mosquitto {
    program: &'static str,
    child: Option<Child>,
    pub port: u16,
    dir: tempfile::TempDir,
}

impl Mosquitto {
    /// `None`, with a line that says so, where it is not installed.
    pub fn start() -> Option<Self> {
        Self::with(|_| "persistence false\n".to_owned())
    }

    /// One that writes down at every change who has subscribed and what waits for whom, so that a kill takes little of
    /// it along.
    pub fn keeping() -> Option<Self> {
        Self::with(|dir| {
            format!(
                "user root\npersistence true\npersistence_location {}/\nautosave_on_changes true\n\
                 autosave_interval 1\nmax_queued_messages 0\n",
                dir.display()
            )
        })
    }

    fn with(more: impl Fn(&Path) -> String) -> Option<Self> {
        let programs = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"];
        let Some(program) = programs.into_iter().find(|path| Path::new(path).exists()) else {
            absent("mosquitto is not installed (apt-get install mosquitto)");
            return None;
        };
        let (dir, port) = (tempfile::tempdir().unwrap(), free_port());
        let config = dir.path().join("mosquitto.conf");
        let text = format!(
            "listener {port} 127.0.0.1\nset_tcp_nodelay true\nallow_anonymous true\nlog_dest none\n{}",
            more(dir.path())
        );
        std::fs::write(&config, text).unwrap();
        let mut broker = Self { program, child: None, port, dir };
        broker.run();
        Some(broker)
    }

    /// Starts it, at the first time or again.
    pub fn run(&mut self) {
        let child = Command::new(self.program)
            .arg("-c")
            .arg(self.dir.path().join("mosquitto.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.child = Some(child);
        let port = self.port;
        wait_for("mosquitto", 10, || TcpStream::connect(("127.0.0.1", port)).ok());
    }

    /// It is gone, without a word.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs one of Debian's MQTT tools; `None`, with a line that says so, where it is not installed.
pub fn tool(name: &str, port: u16, args: &[&str]) -> Option<Child> {
    let started = Command::new(name)
        .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-q", "1"])
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    if started.is_err() {
        absent(&format!("{name} is not installed (apt-get install mosquitto-clients)"));
    }
    started.ok()
}

/// A message as it came.
#[derive(Clone, Debug)]
pub struct Message {
    /// Below `engram/rob/`, or whole where it is another one.
    pub topic: String,
    pub payload: Vec<u8>,
    pub correlation: Option<Vec<u8>>,
}

impl Message {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.payload).unwrap_or_else(|error| {
            panic!("{}: {error}: {}", self.topic, String::from_utf8_lossy(&self.payload))
        })
    }
}

/// Subscribed to everything of the robot `rob`, or to other topics, by MQTT 5.
pub struct Listener {
    client: Client,
    seen: Arc<Mutex<Vec<Message>>>,
}

/// Requests of all listeners so far: a daemon that was killed sends what it had not seen acknowledged again, and the
/// reply to one listener's request must not pass for another's.
static ASKED: AtomicU32 = AtomicU32::new(0);

impl Listener {
    /// Connects as soon as somebody listens there.
    pub fn connect(port: u16) -> Self {
        Self::to(port, &["engram/rob/#"])
    }

    /// The same, subscribed to these.
    pub fn to(port: u16, filters: &[&str]) -> Self {
        wait_for("the broker", 60, || TcpStream::connect(("127.0.0.1", port)).ok());
        let mut options = MqttOptions::new(format!("listener-{port}"), "127.0.0.1", port);
        options.set_max_packet_size(Some(16 * 1024 * 1024));
        let (client, mut connection) = Client::new(options, 64);
        for filter in filters {
            client.subscribe(*filter, QoS::AtLeastOnce).unwrap();
        }
        let seen = Arc::new(Mutex::new(Vec::new()));
        let put = Arc::clone(&seen);
        thread::spawn(move || {
            for event in connection.iter() {
                match event {
                    Ok(Event::Incoming(Packet::Publish(publish))) => {
                        let topic = String::from_utf8_lossy(&publish.topic).into_owned();
                        let correlation = publish.properties.and_then(|all| all.correlation_data);
                        put.lock().unwrap().push(Message {
                            topic: topic.trim_start_matches("engram/rob/").to_owned(),
                            payload: publish.payload.to_vec(),
                            correlation: correlation.map(|data| data.to_vec()),
                        });
                    }
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        });
        Self { client, seen }
    }

    /// Everything on a topic so far.
    pub fn on(&self, topic: &str) -> Vec<Message> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|message| message.topic == topic).cloned().collect()
    }

    /// Every topic so far, once.
    pub fn topics(&self) -> BTreeSet<String> {
        self.seen.lock().unwrap().iter().map(|message| message.topic.clone()).collect()
    }

    /// Waits for a document on a topic that does.
    pub fn expect(&self, topic: &str, secs: u64, fits: impl Fn(&Value) -> bool) -> Value {
        wait_for(topic, secs, || {
            self.on(topic).iter().map(Message::json).find(|document| fits(document))
        })
    }

    /// Sends a payload without asking for a reply.
    pub fn send(&self, topic: &str, payload: &[u8]) {
        self.publish(&format!("engram/rob/{topic}"), payload);
    }

    /// The same, with the whole topic.
    pub fn publish(&self, topic: &str, payload: impl Into<Vec<u8>>) {
        let payload: Vec<u8> = payload.into();
        self.client.publish(topic, QoS::AtLeastOnce, false, payload).unwrap();
    }

    /// A v5 request and its reply, by response topic and correlation data.
    pub fn request(&self, topic: &str, payload: impl Into<Vec<u8>>) -> Message {
        let correlation = ASKED.fetch_add(1, Ordering::Relaxed).to_be_bytes().to_vec();
        let properties = PublishProperties {
            response_topic: Some("engram/rob/answer/listener".to_owned()),
            correlation_data: Some(correlation.clone().into()),
            ..PublishProperties::default()
        };
        let topic = format!("engram/rob/{topic}");
        let payload: Vec<u8> = payload.into();
        self.client
            .publish_with_properties(&topic, QoS::AtLeastOnce, false, payload, properties)
            .unwrap();
        wait_for(&format!("the reply on {topic}"), 20, || {
            let replies = self.on("answer/listener");
            replies.into_iter().find(|one| one.correlation.as_ref() == Some(&correlation))
        })
    }

    /// As [`Self::request`], with a JSON document both ways.
    pub fn ask(&self, topic: &str, document: &Value) -> Value {
        self.request(topic, document.to_string()).json()
    }

    /// The code of the refusal that a payload gets.
    pub fn refused(&self, topic: &str, payload: impl Into<Vec<u8>>) -> String {
        let reply = self.request(topic, payload).json();
        reply["error"]["code"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }
}
