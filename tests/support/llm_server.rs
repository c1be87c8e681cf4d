//! A scripted OpenAI-compatible server on a real socket: each request is answered as the script says.

#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What a request gets.
#[derive(Clone, Debug)]
pub enum Act {
    /// These words, streamed in pieces.
    Words(String),
    /// Calls of tools: name and arguments.
    Calls(Vec<(&'static str, String)>),
    /// A whole completion, no stream.
    Whole(String),
    /// A refusal: status, headers, body.
    Refuse(u16, &'static str, String),
    /// The stream breaks off after some words.
    Cut,
    /// Thinking that never ends.
    Think,
    /// A 200 whose body is this.
    Garbage(String),
    /// Nothing at all comes.
    Stall,
    /// The words come after so long.
    Slow(Duration, String),
    /// This JSON, whole, after so long.
    Json(Duration, String),
}

impl Act {
    pub fn words(text: &str) -> Self {
        Self::Words(text.to_owned())
    }

    pub fn json(value: &Value) -> Self {
        Self::Words(value.to_string())
    }

    pub fn call(name: &'static str, arguments: &Value) -> Self {
        Self::Calls(vec![(name, arguments.to_string())])
    }

    /// What `/v1/embeddings` replies to `body`: vectors of so many numbers, near where words are shared; the last
    /// text's first.
    pub fn vectors(body: &Value, dimensions: usize, after: Duration) -> Self {
        let texts = body["input"].as_array().unwrap();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .rev()
            .map(|(index, text)| {
                let vector = bag_of_words(text.as_str().unwrap(), dimensions);
                json!({"object": "embedding", "index": index, "embedding": vector})
            })
            .collect();
        let reply = json!({"object": "list", "data": data, "model": body["model"]});
        Self::Json(after, reply.to_string())
    }
}

/// One number per word and its hash (FNV-1a), so that texts with the same words are near.
fn bag_of_words(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.01; dimensions];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        if word.len() > 2 {
            vector[(hash % dimensions as u64) as usize] += 1.0;
        }
    }
    vector
}

type Script = dyn Fn(usize, &Value) -> Act + Send + Sync;

/// The server; ends with the process.
#[derive(Clone)]
pub struct LlmServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
    script: Arc<Mutex<Arc<Script>>>,
}

impl LlmServer {
    /// Answers the n-th request (from 0) as `script` says.
    pub fn start(script: impl Fn(usize, &Value) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let script: Arc<Mutex<Arc<Script>>> = Arc::new(Mutex::new(Arc::new(script)));
        let server = Self { address, asked: Arc::default(), script };
        let shared = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        server
    }

    /// Answers with these, one after the other; the last again and again.
    pub fn acts(acts: Vec<Act>) -> Self {
        Self::start(move |n, _| acts[n.min(acts.len() - 1)].clone())
    }

    /// From now on the script is another one.
    pub fn now(&self, script: impl Fn(usize, &Value) -> Act + Send + Sync + 'static) {
        *self.script.lock().unwrap() = Arc::new(script);
    }

    /// `http://127.0.0.1:port/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request body so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut bytes = Vec::new();
        loop {
            let Some(body) = request(&mut stream, &mut bytes)? else { return Ok(()) };
            let n = {
                let mut asked = self.asked.lock().unwrap();
                asked.push(body.clone());
                asked.len() - 1
            };
            let script = Arc::clone(&self.script.lock().unwrap());
            act(&mut stream, script(n, &body))?;
        }
    }
}

/// One request's body; `None` when the client is gone.
fn request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<Option<Value>> {
    let mut chunk = [0; 1 << 16];
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length: usize = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, value)| value.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let body = serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap();
                bytes.drain(..end + 4 + length);
                return Ok(Some(body));
            }
        }
        match stream.read(&mut chunk)? {
            0 => return Ok(None),
            read => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}

fn act(stream: &mut TcpStream, act: Act) -> std::io::Result<()> {
    match act {
        Act::Words(text) => words(stream, &text),
        Act::Slow(time, text) => {
            thread::sleep(time);
            words(stream, &text)
        }
        Act::Calls(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(n, (name, arguments))| {
                    json!({"index": n, "id": format!("call_{n}"), "type": "function",
                           "function": {"name": name, "arguments": arguments}})
                })
                .collect();
            head(stream)?;
            event(
                stream,
                &json!({"choices": [{"delta": {"role": "assistant", "tool_calls": calls}}]}),
            )?;
            event(stream, &json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}))?;
            done(stream)
        }
        Act::Whole(text) => {
            let body = json!({"choices": [{"message": {"role": "assistant", "content": text},
                              "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}});
            reply(stream, "200 OK", "Content-Type: application/json\r\n", &body.to_string())
        }
        Act::Json(after, text) => {
            thread::sleep(after);
            reply(stream, "200 OK", "Content-Type: application/json\r\n", &text)
        }
        Act::Garbage(text) => reply(stream, "200 OK", "Content-Type: text/event-stream\r\n", &text),
        Act::Refuse(status, headers, body) => {
            reply(stream, &format!("{status} No"), headers, &body)
        }
        Act::Cut => {
            head(stream)?;
            event(stream, &json!({"choices": [{"delta": {"content": "{\"answer\": \"It was"}}]}))?;
            stream.shutdown(std::net::Shutdown::Both)
        }
        Act::Think => {
            head(stream)?;
            loop {
                let more = "and then again ".repeat(20);
                event(stream, &json!({"choices": [{"delta": {"reasoning_content": more}}]}))?;
            }
        }
        Act::Stall => loop {
            // Until the client leaves.
            if stream.read(&mut [0; 64])? == 0 {
                return Ok(());
            }
        },
    }
}

fn words(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    head(stream)?;
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(7) {
        let piece: String = piece.iter().collect();
        event(stream, &json!({"choices": [{"delta": {"content": piece}}]}))?;
    }
    event(stream, &json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}))?;
    event(
        stream,
        &json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}),
    )?;
    done(stream)
}

fn head(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    )
}

fn chunk(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

fn event(stream: &mut TcpStream, data: &Value) -> std::io::Result<()> {
    chunk(stream, &format!("data: {data}\n\n"))
}

fn done(stream: &mut TcpStream) -> std::io::Result<()> {
    chunk(stream, "data: [DONE]\n\n")?;
    stream.write_all(b"0\r\n\r\n")
}

fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    stream.write_all(
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}").as_bytes(),
    )
}
