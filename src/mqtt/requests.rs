//! The way in for other doors of this process: the same commands through the same dispatcher, and what is published.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::dispatch::{Dispatcher, Incoming};
use super::feed::{Missed, Publication};
use super::outbox::{JSON, Outbox};
use super::{Command, RefusalCode, Topics};

/// What a request was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// A JSON document, or the bytes of a picture or sound.
    pub payload: Vec<u8>,
    /// MIME type.
    pub content_type: &'static str,
    /// It was refused because its `id` belongs to another request.
    pub conflict: bool,
}

impl Response {
    pub(super) fn new(payload: Vec<u8>, content_type: &'static str) -> Self {
        Self { payload, content_type, conflict: false }
    }

    /// The code of a refusal; `None`: it was carried out.
    #[must_use]
    pub fn refused(&self) -> Option<RefusalCode> {
        #[derive(serde::Deserialize)]
        struct Refused {
            error: Error,
        }
        #[derive(serde::Deserialize)]
        struct Error {
            code: RefusalCode,
        }
        if self.content_type != JSON || self.payload.first() != Some(&b'{') {
            return None;
        }
        serde_json::from_slice::<Refused>(&self.payload).ok().map(|refused| refused.error.code)
    }
}

/// Who waits for a reply in this process.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    replies: mpsc::UnboundedSender<Response>,
    asker: Arc<str>,
}

impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        self.replies.same_channel(&other.replies)
    }
}

impl Caller {
    /// By whom the limits of rate go.
    pub(super) fn asker(&self) -> Arc<str> {
        Arc::clone(&self.asker)
    }

    /// Refuses it: its `id` belongs to another request.
    pub(super) fn conflict(&self, document: &serde_json::Value) {
        let payload = document.to_string().into_bytes();
        self.answer(Response { conflict: true, ..Response::new(payload, JSON) });
    }

    /// Hands the reply over; who has gone meanwhile gets none.
    pub(super) fn answer(&self, response: Response) {
        let _ = self.replies.send(response);
    }
}

/// Hands in requests and hears what is published. Cheap to clone.
#[derive(Clone)]
pub struct Requests {
    dispatcher: Dispatcher,
    topics: Topics,
    outbox: Arc<Outbox>,
}

impl Requests {
    pub(super) fn new(dispatcher: Dispatcher, topics: Topics, outbox: Arc<Outbox>) -> Self {
        Self { dispatcher, topics, outbox }
    }

    /// Has a request carried out as if it had come over MQTT, and waits for its reply. `below`: the topic below the
    /// robot's (`ask`, `replay/pause`); `json`: the payload says to be JSON; `asker`: by whom the limits of rate go.
    /// `None`: there is no such command, or the daemon stops.
    pub async fn request(
        &self,
        below: &str,
        payload: Vec<u8>,
        json: bool,
        asker: Arc<str>,
    ) -> Option<Response> {
        let _ = Command::at(below)?;
        let (replies, mut reply) = mpsc::unbounded_channel();
        self.dispatcher.receive(Incoming {
            topic: self.topics.at(below),
            payload,
            content_type: json.then(|| JSON.to_owned()),
            caller: Some(Caller { replies, asker }),
            ..Incoming::default()
        });
        reply.recv().await
    }

    /// What was published after that number, as far as it is kept, oldest first; the topics below the robot's.
    ///
    /// # Errors
    /// [`Missed`], where something in between is not kept any more.
    pub fn published_after(&self, seq: u64) -> Result<Vec<Arc<Publication>>, Missed> {
        self.outbox.feed.after(seq)
    }

    /// The number of what was published last.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.outbox.feed.newest()
    }

    /// Waits until something after that number is published.
    pub async fn published(&self, after: u64) {
        self.outbox.feed.filled(after).await;
    }

    /// The newest document of a topic of state (`status`, `stats`, `describe`); `None`: nothing was published yet.
    #[must_use]
    pub fn document(&self, below: &str) -> Option<Arc<Publication>> {
        self.outbox.feed.document(&self.topics.at(below))
    }

    /// The robot's topics.
    #[must_use]
    pub fn topics(&self) -> &Topics {
        &self.topics
    }
}
