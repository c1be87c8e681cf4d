//! A recogniser of words behind the OpenAI-compatible interface.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

/// One that takes its time: each request gets the next of `said`, round and round, after `delay`. Gives back its
/// base URL, and how many turns it was asked for so far.
pub fn slow_recogniser(
    delay: Duration,
    said: &'static [&'static str],
) -> (String, Arc<AtomicUsize>) {
    recogniser(delay, move |number| said[number % said.len()].to_owned())
}

/// The same, which understands what it is told to, by the request's number.
pub fn recogniser(
    delay: Duration,
    understood: impl Fn(usize) -> String + Send + Sync + 'static,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let understood = Arc::new(understood);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let count = Arc::clone(&count);
            let understood = Arc::clone(&understood);
            thread::spawn(move || {
                read_request(&mut stream);
                count.fetch_add(1, Ordering::SeqCst);
                thread::sleep(delay);
                let text = understood(number);
                let body = json!({"text": text, "language": "english"}).to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).ok();
            });
        }
    });
    (address, asked)
}

/// Reads one whole HTTP request.
fn read_request(stream: &mut TcpStream) {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 65_536]);
    loop {
        let read = stream.read(&mut chunk).unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        if bytes.len() >= end + 4 + length.map_or(0, |length| length.parse().unwrap()) {
            return;
        }
    }
}
