//! The built-in answerer: replies computed from rows, with no language model.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use jiff::tz::TimeZone;

use crate::ids::{EntityKind, MemoryId, Seq};
use crate::language::Language;
use crate::memory::{Memory, MemoryError, PresentState, View};
use crate::percept::Embedding;
use crate::text::TextEmbedder;
use crate::time::Timestamp;

use super::cited::cited;
use super::document::{Answer, LatencyMs, Question};
use super::meaning::{Meaning, Turn};
use super::perceived::{Perceived, perceived};
use super::persons::Names;
use super::reading::Reading;
use super::remembered::{Remembered, remembered};
use super::reply::Reply;
use super::rounds::{Errand, Rounds};
use super::wording::Wording;
use super::{by_meaning, lessons, pointing, question, spelling};

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

impl Vectors<'_> {
    /// Vectors of sentences that are compared with one question; `None` where there are none.
    pub(super) fn of_sentences(&mut self, sentences: &[String]) -> Option<Vec<Embedding>> {
        let started = Instant::now();
        let embedder = self.answerer.embedder.as_ref()?;
        let made = embedder.embed_passages(sentences);
        self.ms += started.elapsed().as_secs_f64() * 1e3;
        match made {
            Ok(vectors) => Some(vectors),
            Err(error) => {
                tracing::debug!(%error, "passages are told apart without their sentences");
                None
            }
        }
    }
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

    /// From now on questions are read, and what was told and said answers by its meaning; without it, a question is only
    /// searched for.
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

    /// What questions to eyes and ears are read with; `None`: there is no parser.
    #[must_use]
    pub fn language(&self) -> Option<&Language> {
        self.meaning.as_deref().map(Meaning::language)
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

    /// Reads what was told after a commit, so that the next question need not. Costs what is new, and goes on as
    /// long as `keep_on` says so.
    pub fn read_ahead(&self, view: View, since: Seq, keep_on: &dyn Fn() -> bool) {
        let Some(meaning) = &self.meaning else { return };
        let now = view.newest_time().unwrap_or(Timestamp::EPOCH);
        let pinned = Pinned { view, present: None, now };
        by_meaning::read_ahead(&self.reading(&pinned), meaning, since, keep_on);
    }

    /// The memories of before that [`Self::parse_ahead`] may parse, oldest first; none without a parser.
    #[must_use]
    pub fn unparsed(&self, view: &View) -> Vec<MemoryId> {
        self.meaning.as_ref().map_or_else(Vec::new, |_| by_meaning::earlier(view))
    }

    /// Parses what was told and said in those memories, so that a question that reads them is quicker, as long as
    /// `keep_on` says so.
    pub fn parse_ahead(&self, view: View, memories: &[MemoryId], keep_on: &dyn Fn() -> bool) {
        let Some(meaning) = &self.meaning else { return };
        let now = view.newest_time().unwrap_or(Timestamp::EPOCH);
        let pinned = Pinned { view, present: None, now };
        by_meaning::parse_ahead(&self.reading(&pinned), meaning, memories, keep_on);
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
        // Nobody knows, or nobody was there: a document may tell.
        let reply = match reply.abstained || reply.evidence.is_empty() {
            true => match cited(&self.reading(pinned), &question.text, &mut vectors) {
                Some(cited) if !cited.abstained || reply.abstained && reply.evidence.is_empty() => {
                    cited
                }
                _ => reply,
            },
            false => reply,
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

    /// The reply to a question: what the senses are asked, percepts answer; else what was told; else percepts, which
    /// outweigh what was only heard; at last what recall finds is quoted.
    pub(super) fn told(&self, pinned: &Pinned, text: &str, vectors: &mut Vectors<'_>) -> Reply {
        let text = &text[..text.floor_char_boundary(question::MAX_BYTES)];
        let whole = self.meaning.as_ref().and_then(|meaning| {
            meaning.with_topic_inside(text, &by_meaning::named(&pinned.view, text))
        });
        let text = whole.as_deref().unwrap_or(text);
        let language = self.language();
        let names = Names { view: &pinned.view, language };
        if let Some(reply) = pointing::at_nothing(text, &|word| names.find(word).is_some()) {
            return reply;
        }
        let reading = self.reading(pinned);
        let meaning = self.meaning.as_deref();
        let mut seen: Option<Perceived> = None;
        let is_of_senses = meaning.is_some_and(|meaning| meaning.asks_senses(text));
        if is_of_senses {
            let found = perceived(self.reading(pinned), language, text);
            if found.answers() {
                return found.reply;
            }
            seen = Some(found);
        }
        let told = meaning.and_then(|one| by_meaning::told_of(&reading, one, text, vectors));
        if let Some(told) = told.as_ref().filter(|told| told.is_told()) {
            return told.clone();
        }
        let seen = seen.unwrap_or_else(|| perceived(self.reading(pinned), language, text));
        // Who is here now, eyes and ears say, or nobody.
        if seen.answers() || seen.is_final || is_of_senses && !seen.is_open() {
            return seen.reply;
        }
        let quoted = remembered(&seen, text, vectors.of(text).as_ref());
        match (told, quoted) {
            (_, Some(Remembered::OfAnother(unknown))) => unknown,
            (Some(heard), Some(Remembered::Quoted(quoted))) => heard.beside(quoted.evidence),
            (Some(heard), None) => heard,
            // Notes that do not answer by their meaning only have words of the question.
            (None, Some(Remembered::Quoted(quoted))) if meaning.is_some() && quoted.is_told() => {
                Reply::nothing()
            }
            (None, Some(Remembered::Quoted(quoted))) => quoted,
            // Percepts tell of something else.
            (None, None) if !seen.reply.abstained && seen.is_open() && !seen.is_plain() => {
                Reply::nothing()
            }
            (None, None) => seen.reply,
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
