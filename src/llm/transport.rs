//! One HTTP request in a thread of its own, so that whoever waits for it can leave at any moment.

use std::io::Read as _;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Pieces that may wait for the reader.
const WAITING: usize = 64;
/// Whole replies and refusals are read up to here.
const MAX_BODY: u64 = 8 << 20;

/// What comes of a request, in order.
#[derive(Debug)]
pub(super) enum Piece {
    /// The head of the reply.
    Head {
        /// HTTP status.
        status: u16,
        /// `Retry-After`.
        retry_after: Option<Duration>,
        /// The body is a stream of events.
        events: bool,
    },
    /// Bytes of the body.
    Bytes(Vec<u8>),
    /// The body is over.
    End,
    /// The network failed.
    Failed(String),
}

/// What to send where.
pub(super) struct Post {
    pub(super) url: String,
    pub(super) authorization: Option<String>,
    pub(super) body: Vec<u8>,
    /// The thread gives up after that long.
    pub(super) time: Duration,
}

/// Sends it; the pieces come through the channel. Dropping the channel ends the exchange.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn post(agent: &ureq::Agent, post: Post) -> std::io::Result<Receiver<Piece>> {
    let (pieces, taken) = bounded(WAITING);
    let agent = agent.clone();
    thread::Builder::new()
        .name("llm".to_owned())
        .spawn(move || drop(exchange(&agent, post, &pieces)))?;
    Ok(taken)
}

/// Ends early, with an error nobody reads, when nobody takes the pieces any more.
fn exchange(
    agent: &ureq::Agent,
    post: Post,
    pieces: &Sender<Piece>,
) -> Result<(), crossbeam_channel::SendError<Piece>> {
    let mut request = agent
        .post(&post.url)
        .config()
        .timeout_global(Some(post.time))
        .build()
        .header("Content-Type", "application/json")
        .header("Accept", "text/event-stream, application/json");
    if let Some(authorization) = &post.authorization {
        request = request.header("Authorization", authorization);
    }
    let response = match request.send(&post.body[..]) {
        Ok(response) => response,
        Err(error) => return pieces.send(Piece::Failed(error.to_string())),
    };
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let head = Piece::Head {
        status: response.status().as_u16(),
        retry_after: header("retry-after").and_then(retry_after),
        events: header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")),
    };
    pieces.send(head)?;
    let mut body = response.into_body().into_with_config().limit(MAX_BODY).reader();
    let mut buffer = vec![0; 16 << 10];
    loop {
        match body.read(&mut buffer) {
            Ok(0) => return pieces.send(Piece::End),
            Ok(read) => pieces.send(Piece::Bytes(buffer[..read].to_vec()))?,
            Err(error) => return pieces.send(Piece::Failed(error.to_string())),
        }
    }
}

/// RFC 9110, 10.2.3: seconds or a date.
fn retry_after(text: &str) -> Option<Duration> {
    if let Ok(secs) = text.trim().parse::<f64>() {
        return (0.0..1e6).contains(&secs).then(|| Duration::from_secs_f64(secs));
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    let secs = at.timestamp().as_second() - jiff::Timestamp::now().as_second();
    u64::try_from(secs.min(1_000_000)).ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after("3"), Some(Duration::from_secs(3)));
        assert_eq!(retry_after("0.5"), Some(Duration::from_millis(500)));
        assert!(retry_after("Fri, 31 Dec 2100 23:59:59 GMT").is_some());
        assert_eq!(retry_after("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert_eq!(retry_after("soon"), None);
        assert_eq!(retry_after("-4"), None);
    }
}
