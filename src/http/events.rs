//! `GET /api/events`: what is published, as server-sent events (WHATWG HTML, 9.2), to be gone on with after a break.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::watch;

use super::Door;
use super::reply::{self, Problem};
use super::rights::may_hear;
use super::visitor::Visitor;
use crate::mqtt::{Publication, Refusal};

/// A line goes out at least so often, so that both ends see that the other is there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What a listener is told first: to come back 2 s after a break.
const GREETING: &str = "retry: 2000\n\n";
/// Topics that can be named.
const MAX_TOPICS: usize = 64;

/// The query of the address.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Topics below the robot's, or the first levels of some, by commas; none: all.
    topics: Option<String>,
    /// As the header `Last-Event-ID`, for who cannot send one.
    after: Option<u64>,
}

/// `GET /api/events[?topics=A,B]`.
pub(super) async fn events(
    State(door): State<Door>,
    Extension(visitor): Extension<Visitor>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = match headers.get("last-event-id").map(HeaderValue::to_str) {
        None => wanted.after,
        Some(id) => Some(id.ok().and_then(|id| id.trim().parse().ok()).ok_or_else(|| {
            Refusal::bad_request("`Last-Event-ID` must be the `id` of an event: a number")
        })?),
    };
    let topics: Vec<String> = wanted
        .topics
        .iter()
        .flat_map(|topics| topics.split(','))
        .map(|topic| topic.trim().trim_end_matches('/').to_owned())
        .filter(|topic| !topic.is_empty())
        .collect();
    if topics.len() > MAX_TOPICS {
        return Err(Refusal::bad_request(format!("`topics` names more than {MAX_TOPICS}")).into());
    }
    let asker = visitor.asker();
    let seq = last.unwrap_or_else(|| door.requests.newest());
    let stopping = door.stopping.clone();
    let listener = Listener { door, visitor, asker, topics, seq, stopping, greeted: false };
    let body = Body::from_stream(stream::unfold(listener, |mut listener| async move {
        let text = listener.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), listener))
    }));
    let mut response = reply::bytes(StatusCode::OK, "text/event-stream", body);
    // A proxy that collects before it sends would hold events back (nginx).
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Whoever listens.
struct Listener {
    door: Door,
    visitor: Visitor,
    asker: Arc<str>,
    topics: Vec<String>,
    /// What was told last.
    seq: u64,
    stopping: watch::Receiver<bool>,
    greeted: bool,
}

impl Listener {
    /// The next text to send; `None`: it is over, because the daemon stops or the login ended.
    async fn next(&mut self) -> Option<String> {
        if !std::mem::replace(&mut self.greeted, true) {
            return Some(GREETING.to_owned());
        }
        let heartbeat = tokio::time::sleep(HEARTBEAT);
        tokio::pin!(heartbeat);
        loop {
            if *self.stopping.borrow() || !self.door.access.still_knows(&self.visitor) {
                return None;
            }
            let text = self.told();
            if !text.is_empty() {
                return Some(text);
            }
            let requests = self.door.requests.clone();
            tokio::select! {
                () = requests.published(self.seq) => {}
                () = &mut heartbeat => return Some(": still here\n\n".to_owned()),
                _ = self.stopping.wait_for(|stop| *stop) => return None,
            }
        }
    }

    /// What was published since, as events.
    fn told(&mut self) -> String {
        let mut text = String::new();
        let published: VecDeque<Arc<Publication>> =
            match self.door.requests.published_after(self.seq) {
                Ok(published) => published.into(),
                Err(missed) => {
                    // Without an id: what is told next has its own.
                    let _ = write!(text, "event: missed\ndata: {{\"after\":{}}}\n\n", self.seq);
                    // A number from before a clock was set back.
                    self.seq = self.seq.min(self.door.requests.newest());
                    missed.kept.into()
                }
            };
        for one in published {
            self.seq = one.seq;
            let Some(topic) = self.door.requests.topics().below(&one.topic) else { continue };
            if self.wants(topic)
                && may_hear(topic, one.reader.as_deref(), self.visitor.roles, &self.asker)
            {
                // Documents have no line ends outside of strings, and none within.
                let data = String::from_utf8_lossy(&one.payload);
                let _ = write!(text, "event: {topic}\nid: {}\ndata: {data}\n\n", one.seq);
            }
        }
        text
    }

    fn wants(&self, topic: &str) -> bool {
        let fits = |wanted: &String| {
            topic
                .strip_prefix(wanted.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.topics.is_empty() || self.topics.iter().any(fits)
    }
}
