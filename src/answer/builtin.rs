//! The built-in answerer: replies computed from rows, with no language model.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use jiff::tz::TimeZone;

use crate::ids::{EntityId, EntityKind, Seq};
use crate::memory::{Memory, MemoryError, PresentState, View};
use crate::percept::Embedding;
use crate::recall::time_expr::{TimeExpr, When};
use crate::text::TextEmbedder;
use crate::time::Timestamp;

use super::asked;
use super::by_meaning;
use super::document::{Answer, LatencyMs, Question};
use super::meaning::{Meaning, Turn};
use super::owner::Whose;
use super::persons::{self, Names};
use super::phrase::phrase;
use super::question::{self, AboutFact, AboutThing, Act, Ask, Order, Parsed, Subject};
use super::reading::Reading;
use super::remembered::{self, Asked, Fit};
use super::reply::Reply;
use super::rounds::{Errand, Rounds};
use super::wording::Wording;
use super::{
    counts, deed, described, events, facts, featured, having, journeys, keeping, lessons, pointing,
    presence, said, slots, spelling, things, told_often, told_place, unmet, when, who,
};

/// How likely a memory that holds a clause's words tells of the event that it means.
const RIGHT_EVENT: f32 = 0.7;

/// Answers questions from a memory; thread-safe, keeps nothing between questions.
#[derive(Clone)]
pub struct Answerer {
    pub(super) zone: TimeZone,
    pub(super) max_evidence: usize,
    embedder: Option<Arc<dyn TextEmbedder>>,
    meaning: Option<Arc<Meaning>>,
    rounds: Option<Arc<Rounds>>,
}

/// Vectors of what one question is compared with, each made once and only where it is wanted.
pub(super) struct Vectors<'a> {
    answerer: &'a Answerer,
    known: BTreeMap<String, Option<Embedding>>,
    /// What making them took.
    pub(super) ms: f64,
}

impl<'a> Vectors<'a> {
    pub(super) fn new(answerer: &'a Answerer) -> Self {
        Self { answerer, known: BTreeMap::new(), ms: 0.0 }
    }

    pub(super) fn of(&mut self, text: &str) -> Option<Embedding> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let started = Instant::now();
        let vector = self.answerer.embed(text);
        self.ms += started.elapsed().as_secs_f64() * 1e3;
        self.known.insert(text.to_owned(), vector.clone());
        vector
    }
}

/// What one question reads, from its first to its last step.
pub(super) struct Pinned {
    pub(super) view: View,
    present: Option<Arc<PresentState>>,
    pub(super) now: Timestamp,
}

impl std::fmt::Debug for Answerer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answerer")
            .field("zone", &self.zone)
            .field("max_evidence", &self.max_evidence)
            .field("embedder", &self.embedder.as_ref().map(|e| e.model()))
            .field("model", &self.rounds.as_ref().map(|rounds| rounds.engine()))
            .finish()
    }
}

impl Answerer {
    /// Times are read and told in `zone`; without an embedder recall goes by words alone. `max_evidence`:
    /// [`crate::config::sections::Answerer::max_evidence`].
    #[must_use]
    pub fn new(
        zone: TimeZone,
        max_evidence: usize,
        embedder: Option<Arc<dyn TextEmbedder>>,
    ) -> Self {
        Self { zone, max_evidence: max_evidence.max(1), embedder, meaning: None, rounds: None }
    }

    /// From now on what was told is read by a parse first ([`crate::config::sections::Answerer::told`]).
    #[must_use]
    pub fn with_meaning(mut self, meaning: Meaning) -> Self {
        self.meaning = Some(Arc::new(meaning));
        self
    }

    /// From now on a language model answers in rounds where that is asked for ([`Self::respond`]).
    #[must_use]
    pub fn with_model(mut self, rounds: Rounds) -> Self {
        self.rounds = Some(Arc::new(rounds));
        self
    }

    /// A question made whole by the one before it in its conversation; `None`: it is whole, or there is no parser.
    #[must_use]
    pub fn completed(&self, memory: &Memory, question: &str, before: &Turn) -> Option<String> {
        let meaning = self.meaning.as_ref()?;
        let view = memory.view();
        let head = &question[..question.floor_char_boundary(question::MAX_BYTES)];
        let said = format!("{} {} {head}", before.question, before.value);
        let people = by_meaning::named(&view, &said);
        meaning.completed(head, before, &people, view.newest_time().unwrap_or(Timestamp::EPOCH))
    }

    /// Reads what was told after a commit, so that the next question need not. Costs what is new.
    pub fn read_ahead(&self, view: View, since: Seq) {
        let Some(meaning) = &self.meaning else { return };
        let now = view.newest_time().unwrap_or(Timestamp::EPOCH);
        let pinned = Pinned { view, present: None, now };
        by_meaning::read_ahead(&self.reading(&pinned), meaning, since);
    }

    /// Keeps nothing of what was read until now: something was erased.
    pub fn forget_read(&self) {
        if let Some(meaning) = &self.meaning {
            meaning.forget();
        }
    }

    /// Answers one question, by the language model where there is one and the question is worth it, else as
    /// [`Self::answer`]. Whatever the model does, there is an answer when the errand's time is over.
    ///
    /// # Errors
    /// [`MemoryError::Expired`] when `as_of` is outside the history.
    pub fn respond(
        &self,
        memory: &Memory,
        question: &Question,
        clock: Option<Timestamp>,
        errand: &Errand<'_>,
    ) -> Result<Answer, MemoryError> {
        match self.rounds.as_deref().filter(|rounds| rounds.takes(question.effort)) {
            Some(rounds) => rounds.answer(self, memory, question, clock, errand),
            None => self.answer(memory, question, clock),
        }
    }

    /// Answers one question. Its "now" is the question's own, else `clock` (the replay's or the wall clock),
    /// else the newest time the view knows.
    ///
    /// # Errors
    /// [`MemoryError::Expired`] when `as_of` is outside the history.
    pub fn answer(
        &self,
        memory: &Memory,
        question: &Question,
        clock: Option<Timestamp>,
    ) -> Result<Answer, MemoryError> {
        let started = Instant::now();
        let pinned = self.pin(memory, question, clock)?;
        Ok(self.answer_pinned(&pinned, question, started))
    }

    pub(super) fn pin(
        &self,
        memory: &Memory,
        question: &Question,
        clock: Option<Timestamp>,
    ) -> Result<Pinned, MemoryError> {
        // Taken before the view, so that what is sealed in between is there once.
        let present = question.as_of.is_none().then(|| memory.present().now());
        let view = match (question.as_of, &present) {
            (Some(at), _) => memory.view_as_of(at)?,
            (None, Some(present)) => memory.view_with(present),
            (None, None) => memory.view(),
        };
        let live = clock.filter(|_| question.as_of.is_none());
        let now = question.now.or(live).or_else(|| view.newest_time()).unwrap_or(Timestamp::EPOCH);
        // Percepts of the open window are younger than a question about an older now.
        let present = present.filter(|state| state.updated.is_some());
        Ok(Pinned { view, present, now })
    }

    /// A reading of what is pinned, without times of its own.
    pub(super) fn reading(&self, pinned: &Pinned) -> Reading {
        let wording = Wording { zone: self.zone.clone(), now: pinned.now };
        Reading::new(pinned.view.clone(), pinned.present.clone(), wording)
    }

    pub(super) fn answer_pinned(
        &self,
        pinned: &Pinned,
        question: &Question,
        started: Instant,
    ) -> Answer {
        let mut vectors = Vectors::new(self);
        if pinned.view.newest_time().is_none() && pinned.present.is_none() {
            let empty = Reply::unknown("I don't know: my memory is empty.");
            return self.document(question, &pinned.view, empty, vectors.ms, started);
        }
        let reply = self.told(pinned, &question.text, &mut vectors);
        let respelled = || spelling::respelled(&pinned.view, &question.text);
        let reply = match reply.abstained.then(respelled).flatten() {
            Some(meant) => {
                let again = self.told(pinned, &meant.text, &mut vectors);
                meant.better(reply, again)
            }
            None => reply,
        };
        let reply = if pinned.view.has_lessons() {
            let reading = self.reading(pinned);
            lessons::heeded(&reading, &question.text, reply, |text| vectors.of(text))
        } else {
            reply
        };
        self.document(question, &pinned.view, reply, vectors.ms, started)
    }

    /// The vector of a text; a failing embedder costs the vector, not the answer.
    pub(super) fn embed(&self, text: &str) -> Option<Embedding> {
        let head = &text[..text.floor_char_boundary(question::MAX_BYTES)];
        self.embedder.as_ref().and_then(|embedder| match embedder.embed(head) {
            Ok(vector) => Some(vector),
            Err(error) if error.is_told() => {
                tracing::debug!(%error, "the question is answered by its words alone");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "the question is answered by its words alone");
                None
            }
        })
    }

    /// The reply to a question, of whom it describes where it names nobody.
    fn told(&self, pinned: &Pinned, text: &str, vectors: &mut Vectors<'_>) -> Reply {
        let text = &text[..text.floor_char_boundary(question::MAX_BYTES)];
        let names = Names { view: &pinned.view };
        if let Some(reply) = pointing::at_nothing(text, &|word| names.find(word).is_some()) {
            return reply;
        }
        match &self.meaning {
            Some(meaning) => self.by_meaning(pinned, meaning, text, vectors),
            None => self.by_rules(pinned, text, vectors),
        }
    }

    /// What was told answers by its meaning, what was perceived by rules; what the senses are asked, they answer first.
    fn by_meaning(
        &self,
        pinned: &Pinned,
        meaning: &Meaning,
        text: &str,
        vectors: &mut Vectors<'_>,
    ) -> Reply {
        let mut perceived = None;
        if meaning.asks_senses(text) {
            let reply = self.by_rules(pinned, text, vectors);
            if !reply.abstained && !reply.is_told() {
                return reply;
            }
            perceived = Some(reply);
        }
        let reading = self.reading(pinned);
        if let Some(reply) = by_meaning::told_of(&reading, meaning, text, vectors) {
            return reply;
        }
        let reply = perceived.unwrap_or_else(|| self.by_rules(pinned, text, vectors));
        if reply.is_told() { Reply::nothing() } else { reply }
    }

    fn by_rules(&self, pinned: &Pinned, text: &str, vectors: &mut Vectors<'_>) -> Reply {
        let (view, reading) = (&pinned.view, self.reading(pinned));
        let names = Names { view };
        if let Some(featured) = featured::resolved(&reading, text) {
            let reply = self.by_rules(pinned, &featured.question, vectors);
            return featured.told(&reading, reply);
        }
        let told = events::told_of(&reading, text).or_else(|| having::told_of(&reading, text));
        if let Some(reply) = told {
            return reply;
        }
        match described::resolved(&reading, &names, text) {
            None => self.reply(reading, view, text, vectors),
            Some(Err(unknown)) => unknown,
            Some(Ok(hop)) => {
                let told = events::told_of(&reading, &hop.question);
                let reply = told.unwrap_or_else(|| {
                    self.reply(self.reading(pinned), view, &hop.question, vectors)
                });
                hop.told(&reading, reply)
            }
        }
    }

    fn reply(
        &self,
        mut reading: Reading,
        view: &View,
        text: &str,
        vectors: &mut Vectors<'_>,
    ) -> Reply {
        let names = Names { view };
        let parsed = question::parse(&view.with_ids(text), reading.now(), &self.zone, &|name| {
            names.find(name)
        });
        let not_understood = parsed.unread.as_deref().map(asked::not_understood);
        match not_understood.map_or_else(|| asked::spans(&reading, &names, &parsed.times), Err) {
            Ok(spans) => reading.spans = spans,
            Err(reply) => {
                return whenever(&reading, &names, &parsed, text, reply, &mut || vectors.of(text));
            }
        }
        let fact = parsed.fact.as_ref();
        if let Some(reply) =
            fact.and_then(|asked| slots::told(&reading, &names, (asked, text), parsed.past))
        {
            return reply;
        }
        if let Some(reply) = journeys::told_of(&reading, &names, &parsed) {
            return reply;
        }
        let slot = fact.filter(|asked| slots::is_slot(asked));
        let not_known = || {
            slot.and_then(|asked| slots::not_known(&reading, &names, (asked, text), parsed.past))
        };
        let mut embed = || vectors.of(text);
        let (people, reply) = match persons(&reading, &names, &parsed.subjects) {
            Ok(people) => {
                let subject = people.first();
                if let Some(reply) = subject.and_then(|id| facts::usual(&reading, *id, &parsed)) {
                    return reply;
                }
                if let Some(reply) = told_place::of_known(&reading, &parsed, &people) {
                    return reply;
                }
                let whose = Whose::of(&reading, &names, parsed.owner.as_ref());
                if let Some(asked) = &parsed.thing
                    && let Some(reply) = things::told_of(&reading, asked, &whose, &mut embed)
                        .or_else(|| keeping::told_of(&reading, asked, &whose))
                {
                    return reply;
                }
                if parsed.often
                    && let Some(reply) = told_often::how_often(&reading, &parsed, &people)
                {
                    return reply;
                }
                let mut reply = match slot {
                    Some(_) => Reply::nothing(),
                    None => dispatch(&reading, &names, &parsed, &people, &mut embed),
                };
                if parsed.times.iter().any(TimeExpr::is_told) {
                    reply.confidence *= RIGHT_EVENT;
                }
                (people, reply)
            }
            Err(unknown) => match mentioned(&reading, &names, &parsed) {
                Some(people) => {
                    if parsed.often
                        && let Some(reply) = told_often::how_often(&reading, &parsed, &people)
                    {
                        return reply;
                    }
                    (people, facts::named_then(&reading, &parsed).unwrap_or(unknown))
                }
                None => {
                    let never = || persons::never_met(&reading, &parsed);
                    let told = || unmet::told_of(&reading, &parsed, text);
                    return not_known().or_else(never).or_else(told).unwrap_or(unknown);
                }
            },
        };
        match slot.map(|_| Fit::SLOT).or_else(|| leaves_open(&parsed, &reply)) {
            Some(fit) => {
                let timed = reading.spans.is_some();
                let kept = parsed.thing.as_ref().and_then(AboutThing::kept);
                let (fit, matter) = match (slot, kept) {
                    (Some(asked), _) => (fit, slot_matter(&parsed, asked)),
                    // Of that very thing.
                    (None, Some(thing)) => (Fit::WORDS, thing.join(" ")),
                    (None, None) if parsed.yes_no && timed => (Fit::THEN, matter(&parsed)),
                    (None, None) if fact.is_some() => (Fit::CLOSE, matter(&parsed)),
                    (None, None) => (fit, matter(&parsed)),
                };
                let present = !parsed.past && !timed;
                // Whether it is so, what was told last tells.
                let order = match parsed.order {
                    Order::Any if parsed.yes_no => Order::Last,
                    order => order,
                };
                let asked = Asked {
                    text,
                    matter: &matter,
                    who: &people,
                    valid_at: present.then(|| reading.now()),
                    in_time: parsed.yes_no,
                    order,
                };
                let told = remembered::remembered(&reading, &asked, embed().as_ref(), fit);
                let told = told.map(|told| deed::checked(&reading, text, told));
                if !told.as_ref().is_ok_and(|told| !told.abstained)
                    && let Some(unknown) = not_known()
                {
                    return unknown;
                }
                // An abstention that says what it knows says more than one that does not.
                told.unwrap_or_else(|nothing| if reply.abstained { reply } else { nothing })
            }
            None if reply.evidence.is_empty() => {
                whenever(&reading, &names, &parsed, text, reply, &mut embed)
            }
            None => reply,
        }
    }

    fn document(
        &self,
        question: &Question,
        view: &View,
        mut reply: Reply,
        embed_ms: f64,
        started: Instant,
    ) -> Answer {
        let total = started.elapsed().as_secs_f64() * 1e3;
        reply.evidence.truncate(self.max_evidence);
        reply.entities.retain(|id| id.kind != EntityKind::Robot);
        Answer {
            id: question.id.clone(),
            question: question.text.clone(),
            answer: reply.text,
            confidence: reply.confidence,
            abstained: reply.abstained,
            engine: "builtin".into(),
            as_of: view.seq(),
            rounds: 1,
            entities: reply.entities,
            evidence: reply.evidence,
            latency_ms: LatencyMs { embed: embed_ms, recall: total - embed_ms, model: 0.0, total },
            note: None,
            cost: None,
        }
    }
}

/// The persons a question names, in order; the first is its subject.
fn persons(
    reading: &Reading,
    names: &Names<'_>,
    subjects: &[Subject],
) -> Result<Vec<EntityId>, Reply> {
    let mut found = Vec::new();
    for subject in subjects {
        match subject {
            Subject::Anybody | Subject::Robot | Subject::Asker => {}
            Subject::Described(told) if told.clause == question::Clause::Other => {
                let known = found.clone();
                let others: Vec<EntityId> = reading
                    .seen(None)
                    .into_iter()
                    .map(|(id, _)| id)
                    .filter(|id| !known.contains(id))
                    .collect();
                found.extend(others.first().filter(|_| others.len() == 1));
            }
            subject => found.push(names.person(reading, subject)?),
        }
    }
    Ok(found)
}

/// The persons of a question whose other names nobody bears, but which were spoken of ("the Harry Potter book");
/// `None` where the question is whether somebody of that name was seen or heard.
fn mentioned(reading: &Reading, names: &Names<'_>, parsed: &Parsed) -> Option<Vec<EntityId>> {
    let of_percepts = match &parsed.ask {
        Ask::Search | Ask::Summary | Ask::SaidWhat { .. } | Ask::WhoSaid | Ask::WhoIs => false,
        // "When will Ben leave for Ireland?"
        Ask::When { act, .. } => *act != Act::Other && parsed.subjects.len() < 2,
        Ask::HowLong { .. } | Ask::HowOften { .. } | Ask::Where { .. } => parsed.content.is_empty(),
        _ => true,
    };
    let spoken_of = |subject: &Subject| match subject {
        Subject::Unknown(name) => !name.contains('_') && unmet::is_told_of(reading, name),
        _ => true,
    };
    if of_percepts || !parsed.subjects.iter().all(spoken_of) {
        return None;
    }
    let bears_a_name = |subject: &&Subject| match subject {
        Subject::Unknown(_) => false,
        Subject::Described(told) => !matches!(told.clause, question::Clause::Looks(_)),
        _ => true,
    };
    let known: Vec<Subject> = parsed.subjects.iter().filter(bears_a_name).cloned().collect();
    persons(reading, names, &known).ok()
}

/// Percepts tell whether people met.
fn is_seen(word: &str) -> bool {
    matches!(word, "meet" | "met")
}

/// The reply to a question whose time is told by what only memories know: what they say to it as a whole, where they can
/// tell what it asks; else `otherwise`.
fn whenever(
    reading: &Reading,
    names: &Names<'_>,
    parsed: &Parsed,
    text: &str,
    otherwise: Reply,
    embed: &mut dyn FnMut() -> Option<Embedding>,
) -> Reply {
    let in_memories = parsed.unread.is_some() || parsed.times.iter().any(TimeExpr::is_told);
    let is_event = |time: &TimeExpr| matches!(time.when, When::Event { .. });
    // "Why was Ava at home when the painters came?": whom nobody saw come may have been told of.
    let is_search = parsed.ask == Ask::Search && parsed.times.iter().any(is_event);
    let is_told = match &parsed.ask {
        Ask::Summary | Ask::SaidWhat { .. } | Ask::WhoSaid | Ask::When { .. } => true,
        Ask::Did { act } => *act == Act::Spoke,
        _ => false,
    };
    if !is_search && (!in_memories || !is_told) {
        return otherwise;
    }
    let people = persons(reading, names, &parsed.subjects).unwrap_or_default();
    let asked = Asked {
        text,
        matter: text,
        who: &people,
        valid_at: None,
        in_time: false,
        order: Order::Any,
    };
    match remembered::remembered(reading, &asked, embed().as_ref(), Fit::CLOSE) {
        Ok(told) if is_search => deed::checked(reading, text, told),
        Ok(told) => told,
        Err(_) => otherwise,
    }
}

/// What the question is about, names of known persons and words of percepts left out.
fn matter(parsed: &Parsed) -> String {
    let mut words: Vec<&str> = parsed.content.iter().map(String::as_str).collect();
    words.extend(parsed.topic.iter().map(String::as_str));
    words.extend(parsed.quotes.iter().map(String::as_str));
    words.extend(parsed.subjects.iter().filter_map(|subject| match subject {
        Subject::Unknown(name) => Some(name.as_str()),
        Subject::Described(told) => Some(told.text.as_str()),
        _ => None,
    }));
    words.join(" ")
}

/// The same of a question for a fact, whose verb is told in as many words.
fn slot_matter(parsed: &Parsed, asked: &AboutFact) -> String {
    match asked {
        AboutFact::Whom { attribute, value } => phrase("", attribute, value, false),
        AboutFact::Value { attribute, .. } if parsed.content.is_empty() => {
            format!("{} {attribute}", matter(parsed))
        }
        AboutFact::Value { .. } | AboutFact::Holds { .. } => matter(parsed),
    }
}

/// Whether a reply from percepts leaves open what was asked: nothing was seen or heard of it, or the question
/// holds more than percepts can tell. Then the memories are asked, and have to fit so well.
fn leaves_open(parsed: &Parsed, reply: &Reply) -> Option<Fit> {
    let strange = parsed.subjects.iter().any(|subject| matches!(subject, Subject::Unknown(_)));
    let said = !parsed.topic.is_empty() || !parsed.quotes.is_empty();
    let seen = !said && parsed.content.iter().all(|word| is_seen(word));
    if seen && !strange || parsed.content.iter().any(|word| word == "empty") {
        return None;
    }
    let known = !reply.evidence.is_empty();
    match &parsed.ask {
        Ask::Now => None,
        Ask::Search => Some(Fit::LOOSE),
        Ask::When { act: Act::Other, .. } => Some(Fit::LOOSE),
        // A thing is where it was told to be, or nobody knows.
        Ask::Where { .. } if parsed.subjects.is_empty() => None,
        Ask::WhoSaid | Ask::SaidWhat { .. } | Ask::Did { act: Act::Spoke } => {
            (!known).then_some(Fit::CLOSE)
        }
        _ => (!known).then_some(Fit::LOOSE),
    }
}

fn dispatch(
    reading: &Reading,
    names: &Names<'_>,
    parsed: &Parsed,
    ids: &[EntityId],
    embed: &mut dyn FnMut() -> Option<Embedding>,
) -> Reply {
    let first = ids.first().copied();
    let is_thing = |id: &EntityId| !Reading::is_person(*id);
    let is_object = |id: EntityId| id.kind == EntityKind::Object;
    let pair = match ids {
        [a, b] if !is_thing(a) && !is_thing(b) && a != b => Some((*a, *b)),
        _ => None,
    };
    let met = |meant| match pair {
        Some(pair) => presence::met(reading, pair, meant),
        None => Reply::unknown("I don't know whom you mean."),
    };
    match &parsed.ask {
        Ask::Now => who::now(reading, first),
        Ask::Who { act, order } => {
            let mut not = ids.to_vec();
            not.extend(asked::hosts(reading, names, &parsed.times));
            who::who(reading, *act, *order, &not)
        }
        Ask::WhoSaid => said::who_said(reading, parsed),
        Ask::SaidWhat { order } => said::said_what(reading, parsed, *order, first),
        Ask::When { act, order, ago: false } if pair.is_some() && *act != Act::Spoke => {
            met(presence::Meant::When(*order))
        }
        Ask::HowOften { act } if pair.is_some() && *act != Act::Spoke => {
            met(presence::Meant::HowOften)
        }
        Ask::HowLong { act } if pair.is_some() && *act != Act::Spoke => {
            met(presence::Meant::HowLong)
        }
        Ask::When { act, order, ago } if first.is_some() || anybody(parsed, *act) => {
            when::when(reading, parsed, *act, *order, *ago, first)
        }
        Ask::When { .. } => Reply::nothing(),
        Ask::HowOften { act } => counts::often(reading, parsed, *act, first),
        Ask::HowMany { act } => counts::many(reading, *act),
        Ask::HowLong { act } => counts::long(reading, *act, first),
        Ask::Where { .. } if parsed.content.is_empty() && first.is_some_and(is_object) => {
            first.map_or_else(Reply::nothing, |id| things::where_object(reading, id))
        }
        Ask::Where { order, before } => match first.filter(|id| !is_thing(id)) {
            Some(id) if parsed.content.is_empty() => facts::where_person(reading, id, *order),
            _ if parsed.content.is_empty() => {
                Reply::unknown("I don't know what you are looking for.")
            }
            // "Where does Ben go to school?" looks for no thing.
            Some(_) if parsed.owner.is_none() && !things::is_put(&parsed.content) => {
                Reply::nothing()
            }
            by => {
                let which = match (order, before) {
                    (_, true) => things::Which::Before,
                    (Order::First, _) => things::Which::First,
                    _ => things::Which::Present,
                };
                let owner = parsed.owner.as_ref();
                let whose = Whose::of(reading, names, owner);
                let by = by.filter(|_| owner.is_none());
                let wanted = things::Wanted { words: &parsed.content, whose: &whose, by };
                things::where_thing(reading, &wanted, which, embed().as_ref())
            }
        },
        Ask::With { talked } => match first {
            Some(id) => presence::with(reading, id, *talked),
            None => Reply::unknown("I don't know whom you mean."),
        },
        Ask::NeverSeen => match first {
            Some(id) => presence::ever(reading, id, Act::Seen),
            None => presence::list_never_seen(reading),
        },
        Ask::Alone => match first {
            Some(id) => presence::alone(reading, id),
            None => Reply::unknown("I don't know whom you mean."),
        },
        Ask::NeverSpoke => presence::list_never_spoke(reading),
        Ask::Ever { act } => match first {
            Some(id) if is_object(id) => things::seen_object(reading, id),
            Some(id) => presence::ever(reading, id, *act),
            None => presence::did(reading, parsed, *act, None),
        },
        Ask::Did { act } => presence::did(reading, parsed, *act, first),
        Ask::Together => match ids {
            [a, b, ..] => presence::together(reading, *a, *b),
            [a] => presence::with(reading, *a, false),
            [] => Reply::unknown("I don't know whom you mean."),
        },
        Ask::WhoIs => match first {
            Some(id) => facts::who_is(reading, id),
            None => Reply::unknown("I don't know whom you mean."),
        },
        Ask::About => match first {
            Some(id) => facts::about(reading, id),
            None => Reply::nothing(),
        },
        Ask::Summary => facts::summary(reading, first),
        Ask::Everybody => facts::everybody(reading),
        Ask::Search => match (matter(parsed).is_empty(), first) {
            (true, Some(id)) => facts::about(reading, id),
            (true, None) => Reply::unknown("I don't understand the question."),
            // The memories are asked.
            (false, _) => Reply::nothing(),
        },
    }
}

/// Whether "when" without a person can be told from percepts: somebody's speech or presence.
fn anybody(parsed: &Parsed, act: Act) -> bool {
    match act {
        Act::Spoke => true,
        Act::Other => parsed.content.iter().any(|word| word == "empty"),
        _ => parsed.content.is_empty() || parsed.content.iter().any(|word| word == "empty"),
    }
}
