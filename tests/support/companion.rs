//! Somebody who talks to the robot `rob` all the time and keeps the books: what was asked, and what came back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{Client, Event, MqttOptions};
use serde_json::{Value, json};

/// What is asked again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A question that the built-in engine answers.
    Fast,
    /// A question for the language model.
    Deep,
    /// A note; its text names its number.
    Note,
    /// Anything else.
    Command,
}

/// A request and everything that was replied to it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub kind: Kind,
    topic: String,
    payload: String,
    pub replies: Vec<Value>,
}

/// What the companion knows.
#[derive(Debug, Default)]
pub struct Books {
    /// By id, in the order they were asked.
    pub asked: BTreeMap<u32, Asked>,
    /// The robot's newest status.
    pub status: Value,
    connected: bool,
}

impl Books {
    /// Requests without any reply.
    pub fn open(&self) -> usize {
        self.asked.values().filter(|one| one.replies.is_empty()).count()
    }

    /// Whether the daemon is there and names something that begins so as missing.
    pub fn is_degraded(&self, beginning: &str) -> bool {
        let degraded = self.status["degraded"].as_array().into_iter().flatten();
        self.is_online() && degraded.filter_map(Value::as_str).any(|one| one.starts_with(beginning))
    }

    /// Whether the daemon is there.
    pub fn is_online(&self) -> bool {
        self.connected && self.status["state"] == "online"
    }

    /// Requests of a kind from that one on, which got a reply that fits.
    pub fn answered(&self, kind: Kind, from: u32, fits: impl Fn(&Value) -> bool) -> usize {
        let of_kind = self.asked.range(from..).filter(|(_, one)| one.kind == kind);
        of_kind.filter(|(_, one)| one.replies.iter().any(&fits)).count()
    }

    /// The number of the next request.
    pub fn next(&self) -> u32 {
        self.asked.last_key_value().map_or(0, |(last, _)| last + 1)
    }
}

/// The text of a note.
pub fn note(number: u32) -> String {
    format!("Checkpoint {number} was passed.")
}

const EVERY: Duration = Duration::from_millis(100);

/// Connected for as long as the test runs, whatever becomes of broker and daemon.
pub struct Companion {
    client: Client,
    books: Arc<Mutex<Books>>,
    quit: Arc<AtomicBool>,
    asking: Option<JoinHandle<()>>,
}

impl Companion {
    /// Connects, with a session that the broker keeps. What has no reply when a connection begins is sent again under
    /// its id: the broker before may have taken it along.
    pub fn connect(port: u16) -> Self {
        let mut options = MqttOptions::new("companion", "127.0.0.1", port);
        options.set_max_packet_size(Some(16 * 1024 * 1024));
        options.set_clean_start(false).set_session_expiry_interval(Some(600));
        let (client, mut connection) = Client::new(options, 65_536);
        let books = Arc::new(Mutex::new(Books::default()));
        let (own, ours) = (client.clone(), Arc::clone(&books));
        thread::spawn(move || {
            for event in connection.iter() {
                match event {
                    Ok(Event::Incoming(Packet::ConnAck(_))) => {
                        own.try_subscribe("engram/rob/#", QoS::AtLeastOnce).unwrap();
                        let mut books = ours.lock().unwrap();
                        books.connected = true;
                        for one in books.asked.values().filter(|one| one.replies.is_empty()) {
                            send(&own, &one.topic, &one.payload);
                        }
                    }
                    Ok(Event::Incoming(Packet::Publish(publish))) => {
                        let topic = String::from_utf8_lossy(&publish.topic).into_owned();
                        take(&mut ours.lock().unwrap(), &topic, &publish.payload);
                    }
                    Ok(_) => {}
                    Err(_) => {
                        ours.lock().unwrap().connected = false;
                        thread::sleep(Duration::from_millis(50));
                    }
                }
            }
        });
        Self { client, books, quit: Arc::default(), asking: None }
    }

    /// Begins to ask, ten times a second while there is a broker: of four requests one is for the model, and one is a
    /// note if there are to be `notes`.
    pub fn ask_on(&mut self, notes: bool) {
        let (client, books) = (self.client.clone(), Arc::clone(&self.books));
        let quit = Arc::clone(&self.quit);
        self.asking = Some(thread::spawn(move || {
            while !quit.load(Ordering::Relaxed) {
                thread::sleep(EVERY);
                let mut books = books.lock().unwrap();
                if !books.connected {
                    continue;
                }
                let number = books.next();
                let kind = match number % 4 {
                    1 => Kind::Deep,
                    3 if notes => Kind::Note,
                    _ => Kind::Fast,
                };
                put(&mut books, &client, kind);
            }
        }));
    }

    /// Sends a command now.
    pub fn command(&self, topic: &str) {
        let mut books = self.books();
        let number = books.next();
        let payload = json!({"id": number.to_string()}).to_string();
        let topic = format!("engram/rob/{topic}");
        send(&self.client, &topic, &payload);
        let kind = Kind::Command;
        books.asked.insert(number, Asked { kind, topic, payload, replies: Vec::new() });
    }

    /// Asks nothing more.
    pub fn stop_asking(&mut self) {
        self.quit.store(true, Ordering::Relaxed);
        if let Some(asking) = self.asking.take() {
            asking.join().unwrap();
        }
    }

    /// What is known now.
    pub fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.quit.store(true, Ordering::Relaxed);
    }
}

fn put(books: &mut Books, client: &Client, kind: Kind) {
    let number = books.next();
    let id = number.to_string();
    let (topic, payload) = match kind {
        Kind::Deep => {
            let ask = json!({"id": id, "question": "Where is the red mug?", "effort": "deep", "deadline_ms": 4_000});
            ("engram/rob/ask", ask)
        }
        Kind::Note => ("engram/rob/remember", json!({"id": id, "text": note(number)})),
        _ => {
            let ask = json!({"id": id, "question": "Where is the red mug?", "deadline_ms": 20_000});
            ("engram/rob/ask", ask)
        }
    };
    let (topic, payload) = (topic.to_owned(), payload.to_string());
    send(client, &topic, &payload);
    books.asked.insert(number, Asked { kind, topic, payload, replies: Vec::new() });
}

fn send(client: &Client, topic: &str, payload: &str) {
    client.try_publish(topic, QoS::AtLeastOnce, false, payload.to_owned()).unwrap();
}

fn take(books: &mut Books, topic: &str, payload: &[u8]) {
    let Some(topic) = topic.strip_prefix("engram/rob/") else { return };
    if topic == "status" {
        books.status = serde_json::from_slice(payload).unwrap();
        return;
    }
    let id = topic.strip_prefix("answer/").and_then(|id| id.parse::<u32>().ok());
    if let Some(asked) = id.and_then(|id| books.asked.get_mut(&id)) {
        asked.replies.push(serde_json::from_slice(payload).unwrap());
    }
}
