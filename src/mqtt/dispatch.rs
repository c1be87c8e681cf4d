//! From a message to its reply: parse, admit, carry out, answer. Never silence.
//!
//! Questions and reading commands run side by side, as many as `answerer.concurrency` allows; questions for a
//! language model have a lane of that width of their own, so that a slow model holds nobody else up; what
//! writes runs one by one in the order it came; poses and the robot's own speech have a lane of their own,
//! so that no question holds them up.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::{Semaphore, mpsc};

use super::journal::{Acted, Left, Taken};
use super::message::{Effort, Refusal, Request, parse};
use super::once::{Kind, Once, Verdict, fingerprint};
use super::outbox::{Class, JSON, MOMENT_LASTS, Outbox, Outgoing, REPLY_LASTS, withdrawn_payload};
use super::rates::{Excess, Rates};
use super::requests::{Caller, Response};
use super::topics::Topics;
use crate::config::{Answerer, Engine};
use crate::supervise::contained_task;

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

    /// Counts up with every erasure, once nothing that is begun then reads what is erased, and before the request that
    /// erases is answered.
    fn erasures(&self) -> u64 {
        0
    }
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
    progress: Option<Progress>,
}

/// Where the rounds of an answer are told.
#[derive(Debug)]
struct Progress {
    outbox: Arc<Outbox>,
    topic: String,
    /// Who asked in this process; `None`: it came over MQTT.
    asker: Option<Arc<str>>,
}

impl Call {
    /// A call from inside the process, without progress.
    #[must_use]
    pub fn local() -> Self {
        Self { id: None, received: Instant::now(), progress: None }
    }

    /// Publishes a line on `answer/<id>/progress`; nothing without an id.
    pub fn progress(&self, line: &Value) {
        let Some(Progress { outbox, topic, asker }) = &self.progress else { return };
        let (topic, payload) = (topic.clone(), line.to_string().into_bytes());
        if let Some(asker) = asker {
            return outbox.feed.put(topic, payload, Class::Fleeting, Some(Arc::clone(asker)));
        }
        outbox.push(Outgoing {
            topic,
            payload,
            retain: false,
            class: Class::Fleeting,
            correlation: None,
            content_type: JSON.into(),
            lasts: MOMENT_LASTS,
        });
    }
}

/// Where a reply goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReplyTo {
    /// To the broker, with the v5 correlation data of the request.
    Topic { topic: String, correlation: Option<Vec<u8>> },
    /// To whoever waits for it in this process.
    Caller(Caller),
    /// The process in which somebody waited is gone.
    Nobody,
}

impl ReplyTo {
    /// As the journal keeps it: no topic where it did not come over MQTT.
    pub(super) fn kept(topic: String, correlation: Option<Vec<u8>>) -> Self {
        if topic.is_empty() { Self::Nobody } else { Self::Topic { topic, correlation } }
    }

    /// Topic and correlation data, as far as there are any.
    pub(super) fn parts(&self) -> (&str, Option<&[u8]>) {
        match self {
            Self::Topic { topic, correlation } => (topic, correlation.as_deref()),
            Self::Caller(_) | Self::Nobody => ("", None),
        }
    }
}

/// A message as it came from the broker, or from another door.
#[derive(Clone, Debug, Default)]
pub(super) struct Incoming {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    pub(super) response_topic: Option<String>,
    pub(super) correlation: Option<Vec<u8>>,
    pub(super) content_type: Option<String>,
    /// v5: how long it is still worth carrying out.
    pub(super) expiry: Option<Duration>,
    /// Who waits for the reply in this process.
    pub(super) caller: Option<Caller>,
}

/// What is owed to whoever asked.
struct Debt {
    id: Option<String>,
    /// Fingerprint of the request, where its id is kept.
    once: Option<u64>,
    reply_to: ReplyTo,
    writes: bool,
    received: Instant,
    /// v5 message expiry: how long after it came the request is worth something.
    expiry: Option<Duration>,
    /// In the journal, until it is paid.
    ticket: Option<u64>,
}

impl Debt {
    /// Whether the message expiry is over.
    fn is_expired(&self) -> bool {
        self.expiry.is_some_and(|expiry| self.received.elapsed() >= expiry)
    }

    /// How long the reply is worth sending.
    fn reply_lasts(&self) -> Duration {
        let left = self.expiry.map(|expiry| expiry.saturating_sub(self.received.elapsed()));
        left.map_or(REPLY_LASTS, |left| left.max(Duration::from_secs(1)))
    }
}

/// A request on its way through a lane.
struct Job {
    request: Request,
    call: Call,
    debt: Debt,
    /// Poses and speech are only answered when somebody asked for it.
    quiet: bool,
}

/// How often a question is asked that something was erased under.
const READINGS: usize = 2;
/// Why a request was not even begun.
const EXPIRED: &str = "the message expired before its turn came, and was not carried out";
/// The same for a question whose deadline passed.
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

/// A place among those who may wait; free again when this goes.
struct Place(Arc<AtomicUsize>);

impl Place {
    /// `None`: there are only so many, and all are taken.
    fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let place = Self(Arc::clone(taken));
        (taken.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes messages apart and sees that each gets its reply. Cheap to clone.
#[derive(Clone)]
pub(super) struct Dispatcher {
    shared: Arc<Shared>,
    readers: mpsc::UnboundedSender<(Job, Place)>,
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
    rates: Mutex<Rates>,
    admitted: Arc<AtomicUsize>,
    most_admitted: usize,
    /// Questions for a language model that wait or are answered.
    thinking: Arc<AtomicUsize>,
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
        rates: Rates,
        left: Left,
    ) -> Self {
        let shared = Arc::new(Shared {
            service,
            topics,
            outbox,
            once: Mutex::default(),
            rates: Mutex::new(rates),
            admitted: Arc::default(),
            most_admitted: limits.concurrency.max(1) + limits.queue,
            thinking: Arc::default(),
            most_thinking: limits.concurrency.max(1) + limits.model_queue,
            modelled: (limits.fast == Engine::Model, limits.kind == Engine::Model),
            running: AtomicUsize::new(0),
        });
        shared.take_over(left);
        let lane = |capacity| {
            let (sender, mut jobs) = mpsc::channel::<Job>(capacity);
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                while let Some(job) = jobs.recv().await {
                    // Whatever befalls one job, the lane goes on.
                    if let Err(why) = contained_task(shared.carry_out(job)).await {
                        tracing::error!(%why, "A request ended in a panic; please report it.");
                    }
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
        let asked_for_reply =
            id.is_some() || incoming.response_topic.is_some() || incoming.caller.is_some();
        let quiet =
            matches!(request, Ok(Request::Pose(_) | Request::Speaking(_))) && !asked_for_reply;
        if !quiet && let Err(refusal) = self.shared.admit(&incoming) {
            return self.shared.send(&reply_to, id.as_deref(), false, Err(refusal));
        }
        let request = match request {
            Ok(request) => request,
            Err(refusal) => {
                return self.shared.send(&reply_to, id.as_deref(), false, Err(refusal));
            }
        };
        let kind = match request {
            Request::Ask(_) | Request::Query(_) | Request::Identify(_) => Kind::Read,
            Request::Pose(_) | Request::Speaking(_) | Request::Replay(_) => Kind::Sense,
            _ => Kind::Change,
        };
        let reads = kind == Kind::Read;
        let print = fingerprint(&incoming.topic, &incoming.payload);
        let once = match &id {
            None => None,
            Some(id) => {
                let verdict = self.shared.once().begin(id, print, kind, &reply_to, Instant::now());
                match verdict {
                    Verdict::New => Some(print),
                    Verdict::Joined => return,
                    Verdict::Again(reply) => {
                        return self.shared.put(&reply_to, reply, JSON, REPLY_LASTS);
                    }
                    Verdict::Taken => {
                        let refusal = Refusal::bad_request(format!(
                            "the id {id:?} was used for another request; give each request an id of its own"
                        ));
                        if let ReplyTo::Caller(caller) = &reply_to {
                            return caller.conflict(&refusal.document(Some(id)));
                        }
                        return self.shared.send(&reply_to, Some(id), false, Err(refusal));
                    }
                }
            }
        };
        let progress = id.as_ref().map(|id| Progress {
            outbox: Arc::clone(&self.shared.outbox),
            topic: self.shared.topics.progress(id),
            asker: incoming.caller.as_ref().map(Caller::asker),
        });
        let ticket = if quiet {
            None
        } else {
            let (id, reply_to) = (id.clone(), reply_to.clone());
            let taken = |ticket| Taken { ticket, id, request: print, writes: !reads, reply_to };
            self.shared.outbox.accept(taken)
        };
        let received = Instant::now();
        let debt = Debt {
            id: id.clone(),
            once,
            reply_to,
            writes: !reads,
            received,
            expiry: incoming.expiry,
            ticket,
        };
        let job = Job { request, call: Call { id, received, progress }, debt, quiet };
        self.shared.running.fetch_add(1, Ordering::Relaxed);
        if self.shared.is_for_model(&job) {
            return self.think(job);
        }
        if reads {
            self.read(job);
            return;
        }
        let lane = if kind == Kind::Sense { &self.senses } else { &self.writers };
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
        let Some(place) = Place::take(&shared.thinking, shared.most_thinking) else {
            let refusal = Refusal::overloaded(
                "too many questions wait for the language model; ask again later, or with effort fast",
            );
            return shared.not_done(job, refusal);
        };
        tokio::spawn(async move {
            let _place = place;
            let turn = tokio::time::timeout(job.time_left(), thinkers.acquire_owned()).await;
            match turn {
                Ok(Ok(permit)) => {
                    shared.carry_out(job).await;
                    drop(permit);
                }
                Ok(Err(_)) => shared.not_done(job, Refusal::unavailable("the daemon stops")),
                Err(_) => shared.not_done(job, Refusal::overloaded(LATE)),
            }
        });
    }

    /// Lets a question or query wait for its turn, unless too many wait already.
    fn read(&self, job: Job) {
        let shared = &self.shared;
        let Some(place) = Place::take(&shared.admitted, shared.most_admitted) else {
            let refusal = Refusal::overloaded("too many questions wait; ask again in a moment");
            return shared.not_done(job, refusal);
        };
        if let Err(refused) = self.readers.send((job, place)) {
            shared.not_done(refused.0.0, Refusal::unavailable("the daemon stops"));
        }
    }
}

/// Carries out questions and queries in the order they came, `concurrency` at a time.
async fn read_lane(
    shared: Arc<Shared>,
    mut jobs: mpsc::UnboundedReceiver<(Job, Place)>,
    concurrency: usize,
) {
    let permits = Arc::new(Semaphore::new(concurrency));
    while let Some((job, place)) = jobs.recv().await {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            if job.is_late() {
                shared.not_done(job, Refusal::overloaded(LATE));
            } else {
                shared.carry_out(job).await;
            }
            drop((permit, place));
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

    /// Lets a request in that is within the limits of rate.
    fn admit(&self, incoming: &Incoming) -> Result<(), Refusal> {
        let caller = incoming.caller.as_ref().map(Caller::asker);
        let asker = match &caller {
            Some(asker) => asker,
            None => self.topics.asker(incoming.response_topic.as_deref()),
        };
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        rates.admit(asker, Instant::now()).map_err(|excess| {
            Refusal::overloaded(match (excess, asker) {
                (Excess::All, _) => "the daemon is busy: more requests come than `mqtt.request_rate` allows; send it \
                                     again in a moment"
                    .to_owned(),
                (Excess::Own, asker) if caller.is_some() => {
                    format!("more requests than `mqtt.reply_rate` allows come from {asker}; send fewer")
                }
                (Excess::Own, "") => "more requests without a response topic come than `mqtt.reply_rate` allows; send \
                                      fewer"
                    .to_owned(),
                (Excess::Own, asker) => format!(
                    "more requests than `mqtt.reply_rate` allows ask for replies below answer/{asker}; send fewer"
                ),
            })
        })
    }

    /// The ids of late, without replies from before an erasure.
    fn once(&self) -> std::sync::MutexGuard<'_, Once> {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        once.catch_up(self.outbox.erasures());
        once
    }

    /// Where the reply goes; a response topic that is not ours to write to makes the request bad.
    fn address(
        &self,
        incoming: &Incoming,
        id: Option<&str>,
        request: Result<Request, Refusal>,
    ) -> (ReplyTo, Result<Request, Refusal>) {
        let correlation = incoming.correlation.clone();
        if let Some(caller) = &incoming.caller {
            return (ReplyTo::Caller(caller.clone()), request);
        }
        match &incoming.response_topic {
            Some(topic) if self.topics.may_reply_to(topic) => {
                (ReplyTo::Topic { topic: topic.clone(), correlation }, request)
            }
            Some(topic) => {
                let refusal = Refusal::bad_request(format!(
                    "the response topic {topic:?} is not below {}; replies go nowhere else",
                    self.topics.at("answer/")
                ));
                (ReplyTo::Topic { topic: self.topics.answer(id), correlation }, Err(refusal))
            }
            None => (ReplyTo::Topic { topic: self.topics.answer(id), correlation }, request),
        }
    }

    /// Lets the service do it, on a thread that may block, and replies.
    async fn carry_out(self: &Arc<Self>, job: Job) {
        if job.debt.is_expired() {
            return self.not_done(job, Refusal::expired(EXPIRED));
        }
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let Job { request, call, debt, quiet } = job;
            if debt.writes && debt.ticket.is_some() {
                // Killed from here on, the next daemon knows that this was begun.
                shared.outbox.sync();
            }
            let (result, erasures) = match debt.writes {
                true => shared.change(request, &call),
                false => shared.look_up(&request, &call),
            };
            if !(quiet && result.is_ok()) {
                let kept = !result.as_ref().is_err_and(|refusal| refusal.code.retryable());
                shared.pay(&debt, result, kept, erasures);
            }
        });
        // It is cancelled only when the runtime ends.
        if let Err(error) = done.await
            && error.is_panic()
        {
            tracing::error!(%error, "A reply could not be made; please report it.");
        }
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whatever befalls the service, there is a result.
    fn handle(&self, request: Request, call: &Call) -> Result<Reply, Refusal> {
        let handle = AssertUnwindSafe(|| self.service.handle(request, call));
        std::panic::catch_unwind(handle).unwrap_or_else(|_| {
            Err(Refusal::internal("the daemon failed on this request; its log says where"))
        })
    }

    /// Carries out a change; gives, too, of how many erasures the outbox knew then.
    fn change(&self, request: Request, call: &Call) -> (Result<Reply, Refusal>, u64) {
        let erases = matches!(&request, Request::Forget(forget) if !forget.dry_run);
        let before = self.service.erasures();
        let result = self.handle(request, call);
        // What failed may have failed after the rows were gone.
        if erases && (result.is_ok() || self.service.erasures() != before) {
            self.outbox.erase();
            // Replies that would be repeated go, too.
            drop(self.once());
        }
        (result, self.outbox.erasures())
    }

    /// Answers what changes nothing, once more where something was erased meanwhile; gives, too, of how many erasures
    /// in the outbox the answer knows.
    fn look_up(&self, request: &Request, call: &Call) -> (Result<Reply, Refusal>, u64) {
        for _ in 0..READINGS {
            let before = self.service.erasures();
            let result = self.handle(request.clone(), call);
            // What is erased in the memory from here on reaches the outbox later still.
            let erasures = self.outbox.erasures();
            if self.service.erasures() == before {
                return (result, erasures);
            }
        }
        (Err(Refusal::outdated()), self.outbox.erasures())
    }

    /// Refuses a request that was admitted but not carried out: it may be sent again under its id.
    fn not_done(&self, job: Job, refusal: Refusal) {
        self.pay(&job.debt, Err(refusal), false, self.outbox.erasures());
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    /// Replies to everybody who sent the request. `kept`: the reply is kept for those who send it again under the
    /// same id; else they may try anew. `erasures`: of how many the reply knows; after another it is withdrawn.
    fn pay(&self, debt: &Debt, result: Result<Reply, Refusal>, kept: bool, erasures: u64) {
        let (payload, content_type) = encode(debt.id.as_deref(), debt.writes, result);
        let targets = match (&debt.id, debt.once) {
            (Some(id), Some(print)) if !kept => self.once().abandon(id, print),
            (Some(id), Some(print)) => {
                if debt.writes {
                    self.outbox.acted(id, print, &payload);
                    // Whoever has a reply gets the same one after a kill.
                    self.outbox.sync();
                }
                let mut once = self.once();
                match debt.writes || self.outbox.erasures() == erasures {
                    true => once.finish(id, print, &payload).unwrap_or_default(),
                    false => once.abandon(id, print),
                }
            }
            _ => Vec::new(),
        };
        let alone = [debt.reply_to.clone()];
        let targets = if targets.is_empty() { &alone[..] } else { &targets[..] };
        for target in targets {
            match target {
                ReplyTo::Topic { topic, correlation } => {
                    let lasts = debt.reply_lasts();
                    let reply = reply(topic, correlation, payload.clone(), content_type, lasts);
                    self.outbox.reply(reply, erasures);
                }
                ReplyTo::Caller(caller) if self.outbox.erasures() == erasures => {
                    caller.answer(Response::new(payload.clone(), content_type));
                }
                ReplyTo::Caller(caller) => {
                    let payload = withdrawn_payload(&payload);
                    caller.answer(Response::new(payload, JSON));
                }
                ReplyTo::Nobody => {}
            }
        }
        self.outbox.settle(debt.ticket);
    }

    fn send(&self, to: &ReplyTo, id: Option<&str>, writes: bool, result: Result<Reply, Refusal>) {
        let (payload, content_type) = encode(id, writes, result);
        self.put(to, payload, content_type, REPLY_LASTS);
    }

    fn put(&self, to: &ReplyTo, payload: Vec<u8>, content_type: &'static str, lasts: Duration) {
        match to {
            ReplyTo::Topic { topic, correlation } => {
                self.outbox.push(reply(topic, correlation, payload, content_type, lasts));
            }
            ReplyTo::Caller(caller) => caller.answer(Response::new(payload, content_type)),
            ReplyTo::Nobody => {}
        }
    }

    /// Takes over what an earlier daemon, killed or stopped, left: nobody who asked it is left without a reply, and
    /// no change is carried out twice.
    fn take_over(&self, left: Left) {
        let mut replied: HashMap<(String, u64), Vec<u8>> = HashMap::new();
        for acted in &left.acted {
            replied.insert((acted.id.clone(), acted.request), acted.reply.clone());
        }
        self.once().restore(left.acted, Instant::now());
        for Taken { ticket, id, request, writes, reply_to } in left.taken {
            // Killed between the change and its reply.
            let known = id.clone().and_then(|id| replied.remove(&(id, request)));
            if let Some(reply) = known.filter(|_| writes) {
                self.put(&reply_to, reply, JSON, REPLY_LASTS);
                self.outbox.settle(Some(ticket));
                continue;
            }
            let refusal = if writes {
                Refusal::internal(
                    "the daemon was restarted while this was under way: look whether it was done, and send it under \
                     a new id if not",
                )
            } else {
                Refusal::unavailable("the daemon was restarted before it answered; ask again")
            };
            let (payload, content_type) = encode(id.as_deref(), false, Err(refusal));
            if let Some(id) = id.filter(|_| writes) {
                self.outbox.acted(&id, request, &payload);
                let (reply, age) = (payload.clone(), Duration::ZERO);
                self.once().restore(vec![Acted { id, request, reply, age }], Instant::now());
            }
            self.put(&reply_to, payload, content_type, REPLY_LASTS);
            self.outbox.settle(Some(ticket));
        }
    }
}

/// The message that a reply is.
fn reply(
    topic: &str,
    correlation: &Option<Vec<u8>>,
    payload: Vec<u8>,
    content_type: &'static str,
    lasts: Duration,
) -> Outgoing {
    Outgoing {
        topic: topic.to_owned(),
        payload,
        retain: false,
        class: Class::Reply,
        correlation: correlation.clone(),
        content_type: content_type.into(),
        lasts,
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
