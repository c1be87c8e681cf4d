//! From a message to its reply: parse, admit, carry out, answer. Never silence.
//!
//! Questions and reading commands run side by side, as many as `answerer.concurrency` allows; questions for a
//! language model have a lane of that width of their own, so that a slow model holds nobody else up; what
//! writes runs one by one in the order it came; poses and the robot's own speech have a lane of their own,
//! so that no question holds them up.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::{Semaphore, mpsc};

use super::message::{Effort, Refusal, Request, parse};
use super::once::{Once, Verdict, fingerprint};
use super::outbox::{Class, JSON, Outbox, Outgoing};
use super::topics::Topics;
use crate::config::{Answerer, Engine};

/// Writing requests that may wait.
const WRITE_QUEUE: usize = 256;
/// Poses and speech that may wait.
const SENSE_QUEUE: usize = 4096;

/// What the daemon does with requests.
///
/// Called on threads that may block. Questions and queries come from several threads at once; everything
/// else one by one.
pub trait Service: Send + Sync + 'static {
    /// Carries out one request.
    ///
    /// # Errors
    /// A [`Refusal`], which becomes the error reply.
    fn handle(&self, request: Request, call: &Call) -> Result<Reply, Refusal>;
}

/// What a request is answered with.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A JSON document; into an object the request's `id` is put, and `"ok": true` where the request writes.
    Document(Value),
    /// Bytes of a picture or sound.
    Bytes {
        /// MIME type, for v5 clients.
        content_type: &'static str,
        /// At most 256 kB.
        bytes: Vec<u8>,
    },
}

/// The circumstances of one request.
#[derive(Debug)]
pub struct Call {
    /// The request's id.
    pub id: Option<String>,
    /// When it came in.
    pub received: Instant,
    progress: Option<(Arc<Outbox>, String)>,
}

impl Call {
    /// A call from inside the process, without progress.
    #[must_use]
    pub fn local() -> Self {
        Self { id: None, received: Instant::now(), progress: None }
    }

    /// Publishes a line on `answer/<id>/progress`; nothing without an id.
    pub fn progress(&self, line: &Value) {
        if let Some((outbox, topic)) = &self.progress {
            outbox.push(Outgoing {
                topic: topic.clone(),
                payload: line.to_string().into_bytes(),
                retain: false,
                class: Class::Event,
                correlation: None,
                content_type: JSON,
            });
        }
    }
}

/// Where a reply goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplyTo {
    pub(super) topic: String,
    pub(super) correlation: Option<Vec<u8>>,
}

/// A message as it came from the broker.
#[derive(Clone, Debug, Default)]
pub(super) struct Incoming {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    pub(super) response_topic: Option<String>,
    pub(super) correlation: Option<Vec<u8>>,
    pub(super) content_type: Option<String>,
}

/// A request on its way through a lane.
struct Job {
    request: Request,
    call: Call,
    reply_to: ReplyTo,
    /// The id's fingerprint, where it has one.
    once: Option<u64>,
    writes: bool,
    /// Poses and speech are only answered when somebody asked for it.
    quiet: bool,
}

/// Why a question was not even begun.
const LATE: &str =
    "the time allowed passed before its turn came; ask again or allow more with deadline_ms";

impl Job {
    /// How long its answer is waited for.
    fn time_left(&self) -> Duration {
        let Request::Ask(ask) = &self.request else { return Duration::MAX };
        Duration::from_millis(ask.deadline_ms()).saturating_sub(self.call.received.elapsed())
    }

    /// Whether nobody waits for the answer any more.
    fn is_late(&self) -> bool {
        let Request::Ask(ask) = &self.request else { return false };
        self.call.received.elapsed() >= Duration::from_millis(ask.deadline_ms())
    }
}

/// Takes messages apart and sees that each gets its reply. Cheap to clone.
#[derive(Clone)]
pub(super) struct Dispatcher {
    shared: Arc<Shared>,
    readers: mpsc::UnboundedSender<Job>,
    /// Questions for a language model that are answered at the same time.
    thinkers: Arc<Semaphore>,
    writers: mpsc::Sender<Job>,
    senses: mpsc::Sender<Job>,
}

struct Shared {
    service: Arc<dyn Service>,
    topics: Topics,
    outbox: Arc<Outbox>,
    once: Mutex<Once>,
    admitted: AtomicUsize,
    most_admitted: usize,
    /// Questions for a language model that wait or are answered.
    thinking: AtomicUsize,
    most_thinking: usize,
    /// Which efforts go to a language model: fast, deep.
    modelled: (bool, bool),
    running: AtomicUsize,
}

impl Dispatcher {
    /// Starts the lanes; needs a tokio runtime.
    pub(super) fn new(
        service: Arc<dyn Service>,
        topics: Topics,
        outbox: Arc<Outbox>,
        limits: &Answerer,
    ) -> Self {
        let shared = Arc::new(Shared {
            service,
            topics,
            outbox,
            once: Mutex::default(),
            admitted: AtomicUsize::new(0),
            most_admitted: limits.concurrency.max(1) + limits.queue,
            thinking: AtomicUsize::new(0),
            most_thinking: limits.concurrency.max(1) + limits.model_queue,
            modelled: (limits.fast == Engine::Model, limits.kind == Engine::Model),
            running: AtomicUsize::new(0),
        });
        let lane = |capacity| {
            let (sender, mut jobs) = mpsc::channel::<Job>(capacity);
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                while let Some(job) = jobs.recv().await {
                    shared.carry_out(job).await;
                }
            });
            sender
        };
        let (writers, senses) = (lane(WRITE_QUEUE), lane(SENSE_QUEUE));
        let (readers, jobs) = mpsc::unbounded_channel();
        tokio::spawn(read_lane(Arc::clone(&shared), jobs, limits.concurrency.max(1)));
        let thinkers = Arc::new(Semaphore::new(limits.concurrency.max(1)));
        Self { shared, readers, thinkers, writers, senses }
    }

    /// Requests that are waiting or being carried out.
    pub(super) fn running(&self) -> usize {
        self.shared.running.load(Ordering::Relaxed)
    }

    /// Takes one message of a command topic. Returns at once; the reply comes through the outbox.
    pub(super) fn receive(&self, incoming: Incoming) {
        let Some(command) = self.shared.topics.command(&incoming.topic) else { return };
        let json_claimed =
            incoming.content_type.as_deref().is_some_and(|kind| kind.starts_with(JSON));
        let (id, request) = match command {
            Ok(command) => {
                let parsed = parse(command, &incoming.payload, json_claimed);
                (parsed.id, parsed.request)
            }
            Err(verb) => (
                super::message::request_id(&incoming.payload).unwrap_or_default(),
                Err(Refusal::bad_request(format!(
                    "there is no replay/{verb}; there are pause, resume, rate, seek, step, burst, stop"
                ))),
            ),
        };
        let (reply_to, request) = self.shared.address(&incoming, id.as_deref(), request);
        let request = match request {
            Ok(request) => request,
            Err(refusal) => {
                return self.shared.send(&reply_to, id.as_deref(), false, Err(refusal));
            }
        };
        let reads = matches!(request, Request::Ask(_) | Request::Query(_));
        let once = match &id {
            None => None,
            Some(id) => {
                let print = fingerprint(&incoming.topic, &incoming.payload);
                let verdict = self.shared.once().begin(id, print, reads, &reply_to, Instant::now());
                match verdict {
                    Verdict::New => Some(print),
                    Verdict::Joined => return,
                    Verdict::Again(reply) => return self.shared.put(&reply_to, reply, JSON),
                    Verdict::Taken => {
                        let refusal = Refusal::bad_request(format!(
                            "the id {id:?} was used for another request; give each request an id of its own"
                        ));
                        return self.shared.send(&reply_to, Some(id), false, Err(refusal));
                    }
                }
            }
        };
        let senses =
            matches!(request, Request::Pose(_) | Request::Speaking(_) | Request::Replay(_));
        let asked_for_reply = id.is_some() || incoming.response_topic.is_some();
        let progress = id
            .as_ref()
            .map(|id| (Arc::clone(&self.shared.outbox), self.shared.topics.progress(id)));
        let job = Job {
            quiet: matches!(request, Request::Pose(_) | Request::Speaking(_)) && !asked_for_reply,
            writes: !reads,
            request,
            call: Call { id, received: Instant::now(), progress },
            reply_to,
            once,
        };
        self.shared.running.fetch_add(1, Ordering::Relaxed);
        if self.shared.is_for_model(&job) {
            return self.think(job);
        }
        if reads {
            self.read(job);
            return;
        }
        let lane = if senses { &self.senses } else { &self.writers };
        if let Err(refused) = lane.try_send(job) {
            let refusal = match &refused {
                mpsc::error::TrySendError::Full(_) => {
                    Refusal::overloaded("too many requests wait; send it again in a moment")
                }
                mpsc::error::TrySendError::Closed(_) => Refusal::unavailable("the daemon stops"),
            };
            self.shared.not_done(refused.into_inner(), refusal);
        }
    }

    /// Lets a question for a language model wait for its turn, in the order they came, until its time is over.
    fn think(&self, job: Job) {
        let (shared, thinkers) = (Arc::clone(&self.shared), Arc::clone(&self.thinkers));
        if shared.thinking.fetch_add(1, Ordering::Relaxed) >= shared.most_thinking {
            shared.thinking.fetch_sub(1, Ordering::Relaxed);
            let refusal = Refusal::overloaded(
                "too many questions wait for the language model; ask again later, or with effort fast",
            );
            return shared.not_done(job, refusal);
        }
        tokio::spawn(async move {
            let turn = tokio::time::timeout(job.time_left(), thinkers.acquire_owned()).await;
            match turn {
                Ok(Ok(permit)) => {
                    shared.carry_out(job).await;
                    drop(permit);
                }
                Ok(Err(_)) => shared.not_done(job, Refusal::unavailable("the daemon stops")),
                Err(_) => shared.not_done(job, Refusal::overloaded(LATE)),
            }
            shared.thinking.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Lets a question or query wait for its turn, unless too many wait already.
    fn read(&self, job: Job) {
        let shared = &self.shared;
        if shared.admitted.fetch_add(1, Ordering::Relaxed) >= shared.most_admitted {
            shared.admitted.fetch_sub(1, Ordering::Relaxed);
            let refusal = Refusal::overloaded("too many questions wait; ask again in a moment");
            return shared.not_done(job, refusal);
        }
        if let Err(refused) = self.readers.send(job) {
            shared.not_done(refused.0, Refusal::unavailable("the daemon stops"));
        }
    }
}

/// Carries out questions and queries in the order they came, `concurrency` at a time.
async fn read_lane(
    shared: Arc<Shared>,
    mut jobs: mpsc::UnboundedReceiver<Job>,
    concurrency: usize,
) {
    let permits = Arc::new(Semaphore::new(concurrency));
    while let Some(job) = jobs.recv().await {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            if job.is_late() {
                shared.not_done(job, Refusal::overloaded(LATE));
            } else {
                shared.carry_out(job).await;
            }
            drop(permit);
            shared.admitted.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

impl Shared {
    /// Whether a language model answers it.
    fn is_for_model(&self, job: &Job) -> bool {
        let Request::Ask(ask) = &job.request else { return false };
        match ask.effort {
            Effort::Fast => self.modelled.0,
            Effort::Deep => self.modelled.1,
        }
    }

    fn once(&self) -> std::sync::MutexGuard<'_, Once> {
        self.once.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the reply goes; a response topic that is not ours to write to makes the request bad.
    fn address(
        &self,
        incoming: &Incoming,
        id: Option<&str>,
        request: Result<Request, Refusal>,
    ) -> (ReplyTo, Result<Request, Refusal>) {
        let correlation = incoming.correlation.clone();
        match &incoming.response_topic {
            Some(topic) if self.topics.may_reply_to(topic) => {
                (ReplyTo { topic: topic.clone(), correlation }, request)
            }
            Some(topic) => {
                let refusal = Refusal::bad_request(format!(
                    "the response topic {topic:?} is not below {}; replies go nowhere else",
                    self.topics.at("answer/")
                ));
                (ReplyTo { topic: self.topics.answer(id), correlation }, Err(refusal))
            }
            None => (ReplyTo { topic: self.topics.answer(id), correlation }, request),
        }
    }

    /// Lets the service do it, on a thread that may block, and replies.
    async fn carry_out(self: &Arc<Self>, job: Job) {
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let Job { request, call, reply_to, once, writes, quiet } = job;
            let service = &shared.service;
            let handled =
                std::panic::catch_unwind(AssertUnwindSafe(|| service.handle(request, &call)));
            let result = handled.unwrap_or_else(|_| {
                Err(Refusal::internal("the daemon failed on this request; its log says where"))
            });
            shared.running.fetch_sub(1, Ordering::Relaxed);
            if quiet && result.is_ok() {
                return;
            }
            let id = call.id.as_deref();
            match (id, once) {
                (Some(id), Some(print)) => shared.reply_once(id, print, &reply_to, writes, result),
                _ => shared.send(&reply_to, id, writes, result),
            }
        });
        // It cannot panic; it is cancelled only when the runtime ends.
        let _ = done.await;
    }

    /// Replies to everybody who sent the request with that id, and keeps the reply for those who send it again.
    fn reply_once(
        &self,
        id: &str,
        print: u64,
        reply_to: &ReplyTo,
        writes: bool,
        result: Result<Reply, Refusal>,
    ) {
        let again = result.as_ref().is_err_and(|refusal| refusal.code.retryable());
        let (payload, content_type) = encode(Some(id), writes, result);
        let targets = if again {
            self.once().abandon(id, print)
        } else {
            self.once().finish(id, print, &payload).unwrap_or_default()
        };
        if targets.is_empty() {
            return self.put(reply_to, payload, content_type);
        }
        for target in &targets {
            self.put(target, payload.clone(), content_type);
        }
    }

    /// Refuses a request that was admitted by its id but not carried out: it may be sent again.
    fn not_done(&self, job: Job, refusal: Refusal) {
        self.running.fetch_sub(1, Ordering::Relaxed);
        match (&job.call.id, job.once) {
            (Some(id), Some(print)) => {
                self.reply_once(id, print, &job.reply_to, job.writes, Err(refusal));
            }
            (id, _) => self.send(&job.reply_to, id.as_deref(), job.writes, Err(refusal)),
        }
    }

    fn send(&self, to: &ReplyTo, id: Option<&str>, writes: bool, result: Result<Reply, Refusal>) {
        let (payload, content_type) = encode(id, writes, result);
        self.put(to, payload, content_type);
    }

    fn put(&self, to: &ReplyTo, payload: Vec<u8>, content_type: &'static str) {
        self.outbox.push(Outgoing {
            topic: to.topic.clone(),
            payload,
            retain: false,
            class: Class::Reply,
            correlation: to.correlation.clone(),
            content_type,
        });
    }
}

/// The bytes of a reply and their type.
fn encode(
    id: Option<&str>,
    writes: bool,
    result: Result<Reply, Refusal>,
) -> (Vec<u8>, &'static str) {
    let document = match result {
        Ok(Reply::Bytes { content_type, bytes }) => return (bytes, content_type),
        Ok(Reply::Document(Value::Object(body))) => Value::Object(with_id(id, writes, body)),
        Ok(Reply::Document(other)) => other,
        Err(refusal) => refusal.document(id),
    };
    (document.to_string().into_bytes(), JSON)
}

/// Puts `id` first (the service's own where the request had none) and `ok` where the request writes.
fn with_id(id: Option<&str>, writes: bool, mut body: Map<String, Value>) -> Map<String, Value> {
    let own = body.shift_remove("id").unwrap_or_default();
    let mut document = Map::new();
    document.insert("id".to_owned(), id.map_or(own, Value::from));
    if writes && !body.contains_key("ok") {
        document.insert("ok".to_owned(), Value::Bool(true));
    }
    document.extend(body);
    document
}
