//! A door before an echoing service, a camera that shows what a test says, and a client that sends what it likes.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::config::{Config, Http};
use crate::http::pictures::{Pictures, Still};
use crate::http::snapshots::Snapshots;
use crate::http::{Behind, HttpError, Server};
use crate::mqtt::Refusal;
use crate::mqtt::tests::support::{self as mqtt, Broker, Echo};
use crate::time::Timestamp;

/// Nothing in these tests takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a test on a runtime of its own.
pub(super) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test)
}

/// Cameras that show what they are given.
#[derive(Clone, Default)]
pub(super) struct Cameras(Arc<Mutex<BTreeMap<String, Still>>>);

impl Cameras {
    /// A camera's newest picture is that text, of that second.
    pub(super) fn show(&self, camera: &str, secs: u32, picture: &str) {
        let at = Timestamp::EPOCH.plus_secs(f64::from(secs));
        let still = Still { at, jpeg: picture.as_bytes().into() };
        self.0.lock().unwrap().insert(camera.to_owned(), still);
    }
}

impl Pictures for Cameras {
    fn newest(&self, camera: &str) -> Option<Still> {
        self.0.lock().unwrap().get(camera).cloned()
    }

    fn knows(&self, camera: &str) -> bool {
        camera == "front" || self.newest(camera).is_some()
    }
}

/// One snapshot, `1_2`.
struct Kept;

impl Snapshots for Kept {
    fn read(&self, name: &str) -> std::io::Result<Option<Vec<u8>>> {
        Ok((name == "1_2").then(|| b"mcap".to_vec()))
    }

    fn film(&self, name: &str, camera: Option<&str>) -> Result<Option<Vec<u8>>, Refusal> {
        match camera {
            None | Some("front") => Ok((name == "1_2").then(|| b"film".to_vec())),
            Some(other) => Err(Refusal::bad_request(format!("no pictures of {other}"))),
        }
    }
}

/// A door, and what is behind it.
pub(super) struct House {
    pub(super) at: SocketAddr,
    pub(super) server: Server,
    pub(super) daemon: mqtt::Daemon,
    pub(super) echo: Arc<Echo>,
    pub(super) cameras: Cameras,
}

impl House {
    /// Open to whoever is on this machine.
    pub(super) async fn open() -> Self {
        Self::with(|_| {}).await
    }

    pub(super) async fn with(set: impl FnOnce(&mut Config)) -> Self {
        Self::try_with(set).await.unwrap()
    }

    pub(super) async fn try_with(set: impl FnOnce(&mut Config)) -> Result<Self, HttpError> {
        let mut config = mqtt::config(&Broker::Embedded);
        config.http = Http { listen: "127.0.0.1:0".to_owned(), ..Http::default() };
        set(&mut config);
        let daemon = mqtt::Daemon::with(&config).await.unwrap();
        let cameras = Cameras::default();
        let behind = Behind {
            requests: daemon.session.requests(),
            pictures: Arc::new(cameras.clone()),
            snapshots: Arc::new(Kept),
            metrics: Arc::new(|| "engram_up 1\n".to_owned()),
        };
        let server = Server::start(&config, behind).await?.unwrap();
        let echo = Arc::clone(&daemon.echo);
        Ok(Self { at: server.address(), server, daemon, echo, cameras })
    }

    /// `Host` as a browser on this machine sends it.
    pub(super) fn host(&self) -> String {
        self.at.to_string()
    }

    /// A request with that method and path, and these lines of its head.
    pub(super) async fn send(&self, start: &str, head: &[&str], body: &[u8]) -> Got {
        let mut text = format!("{start} HTTP/1.1\r\n");
        if !head.iter().any(|line| line.to_ascii_lowercase().starts_with("host:")) {
            text.push_str(&format!("Host: {}\r\n", self.host()));
        }
        for line in head {
            text.push_str(&format!("{line}\r\n"));
        }
        let has = |name: &str| head.iter().any(|line| line.to_ascii_lowercase().starts_with(name));
        if !has("content-length:") && !has("transfer-encoding:") {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("Connection: close\r\n\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes).await
    }

    /// Bytes as they are; reads until the other side closes.
    pub(super) async fn raw(&self, bytes: &[u8]) -> Got {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        // The other side may refuse, and close, before it has read everything.
        let _ = stream.write_all(bytes).await;
        let mut reply = Vec::new();
        let read = stream.read_to_end(&mut reply);
        let _ = tokio::time::timeout(PATIENCE, read).await.expect("a reply, or the end");
        Got::parse(&reply)
    }

    pub(super) async fn get(&self, path: &str) -> Got {
        self.send(&format!("GET {path}"), &[], b"").await
    }

    /// As our own page posts.
    pub(super) async fn post(&self, path: &str, body: &str) -> Got {
        let head = ["X-Engram: 1", "Content-Type: application/json"];
        self.send(&format!("POST {path}"), &head, body.as_bytes()).await
    }

    /// Listens or watches: the connection, after the head of the reply.
    pub(super) async fn listen(&self, path: &str, head: &[&str]) -> Stream {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        let mut text = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", self.host());
        for line in head {
            text.push_str(&format!("{line}\r\n"));
        }
        stream.write_all(format!("{text}\r\n").as_bytes()).await.unwrap();
        let mut stream = Stream { stream, read: Vec::new() };
        stream.until("\r\n\r\n").await;
        stream
    }

    pub(super) async fn close(self) {
        self.server.stop().await;
        self.daemon.session.stop().await;
    }
}

/// A reply that goes on.
pub(super) struct Stream {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Stream {
    /// What comes up to that text, itself included.
    pub(super) async fn until(&mut self, text: &str) -> String {
        let find = |read: &[u8]| read.windows(text.len()).position(|part| part == text.as_bytes());
        let mut piece = [0; 4096];
        loop {
            if let Some(at) = find(&self.read) {
                let rest = self.read.split_off(at + text.len());
                let found = std::mem::replace(&mut self.read, rest);
                return String::from_utf8_lossy(&found).into_owned();
            }
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut piece)).await;
            let read =
                read.unwrap_or_else(|_| panic!("{text:?} does not come: {:?}", self.so_far()));
            let read = read.unwrap();
            assert!(read > 0, "it ended before {text:?}: {:?}", self.so_far());
            self.read.extend_from_slice(&piece[..read]);
        }
    }

    /// Waits until the other side ends it.
    pub(super) async fn end(mut self) -> String {
        let read = self.stream.read_to_end(&mut self.read);
        let _ = tokio::time::timeout(PATIENCE, read).await.expect("the end");
        self.so_far()
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.read).into_owned()
    }
}

/// A reply.
#[derive(Clone, Debug)]
pub(super) struct Got {
    /// 0: there was none.
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Got {
    fn parse(reply: &[u8]) -> Self {
        let end = reply.windows(4).position(|part| part == b"\r\n\r\n");
        let (head, body) = match end {
            Some(end) => (&reply[..end], &reply[end + 4..]),
            None => (reply, &[][..]),
        };
        let head = String::from_utf8_lossy(head).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head, body: body.to_vec() }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.head, self.text()))
    }

    /// The code and the message of a refusal.
    pub(super) fn error(&self) -> (String, String) {
        let error = &self.json()["error"];
        crate::mqtt::tests::schemas::check("error", &self.json());
        (error["code"].as_str().unwrap().to_owned(), error["message"].as_str().unwrap().to_owned())
    }
}
