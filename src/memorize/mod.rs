//! Memorizing: a clip's percepts become sentences with evidence.
//!
//! The built-in memorizer needs no language model. What it writes rests on percepts alone: who was in
//! view and for how long, which things came into view and where they are, what signs read, who was heard, what was said, which
//! sounds meant something, what people did,
//! and the few facts that people state plainly.
//! Sentences name entities by mention (`<person_4>`) under the ids of the time of writing. Where a multimodal
//! model memorizes ([`model`]), its memories come later and refine these.

mod actions;
mod facts;
pub mod model;
mod objects;
mod presence;
mod sounds;
mod stays;
mod texts;
mod upkeep;
mod utterances;
pub mod vectors;

#[cfg(test)]
pub(crate) use facts::told_tests::reader as fact_reader;
pub use facts::{FactReader, thing_called};
use stays::Stays;
pub use upkeep::{Upkeep, UpkeepDone};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::identify::{IdentifiedClip, Persons};
use crate::ids::{ClipId, EntityId, EntityKind, MemoryId, TurnId};
use crate::memory::model::{
    Decision, Fact, FactAction, Ground, MemoryKind, MemoryRow, NameRow, NameSource,
};
use crate::memory::{Draft, Filter, Memory, MemoryError, PresentMemory, View};
use crate::mention;
use crate::percept::{ClipPercepts, Embedding, SpeechTurn};
use crate::text::{TextEmbedder, for_embedding};
use crate::time::{Span, Timestamp};

/// Writes a clip's memories without a language model.
#[derive(Clone)]
pub struct Memorizer {
    text: Option<Arc<dyn TextEmbedder>>,
    /// Reads facts out of sentences; `None`: they state none.
    reader: Option<FactReader>,
    /// How long the robot is where it was told to be, unless another place is told, seconds.
    stay_secs: f64,
}

/// [`Memorizer::stay_secs`] where nothing else is set.
const STAY_SECS: f64 = 14_400.0;

/// A memory to be: everything but its id.
#[derive(Clone, Debug, PartialEq)]
struct Sentence {
    /// The id that was given out for it before; `None`: a new one.
    id: Option<MemoryId>,
    kind: MemoryKind,
    text: String,
    span: Span,
    /// About whom beyond those mentioned.
    about: Vec<EntityId>,
    fact: Option<Fact>,
    /// What a model or the words say is to be done with the fact; `None`: what its attribute's nature says.
    wish: Option<FactAction>,
    importance: f32,
    confidence: f32,
    grounds: Vec<Ground>,
    /// Until when it is true; `None` = still.
    valid_to: Option<Timestamp>,
    /// What was decided about the fact.
    verdict: Option<Verdict>,
    /// It takes the place of values that its slot was given earlier in the clip: of so many, one after the other.
    replaces: usize,
}

/// What to do with a fact that was stated, and why.
#[derive(Clone, Debug, PartialEq)]
struct Verdict {
    action: FactAction,
    other: Option<MemoryId>,
    reason: String,
}

impl Sentence {
    /// An ordinary observation.
    fn new(kind: MemoryKind, text: String, span: Span, grounds: Vec<Ground>) -> Self {
        let (importance, confidence) = (0.3, 0.9);
        Self {
            id: None,
            kind,
            text,
            span,
            about: Vec::new(),
            fact: None,
            wish: None,
            importance,
            confidence,
            grounds,
            valid_to: None,
            verdict: None,
            replaces: 0,
        }
    }

    /// As a row that has no id yet.
    fn row(self, clip: Option<ClipId>, origin: &str) -> MemoryRow {
        let mut entities = self.about;
        entities.extend(mention::mentions(&self.text).into_iter().map(|m| m.entity));
        entities.sort_unstable();
        entities.dedup();
        MemoryRow {
            id: MemoryId(0),
            kind: self.kind,
            text: self.text,
            span: self.span,
            clip,
            entities,
            fact: self.fact,
            importance: self.importance,
            confidence: self.confidence,
            pinned: false,
            valid_from: self.span.start,
            valid_to: self.valid_to,
            grounds: self.grounds,
            origin: origin.to_owned(),
        }
    }

    /// Where it stands among the sentences of its clip: after what it replaces.
    fn place(&self) -> (Timestamp, MemoryKind, Timestamp, usize, &str) {
        (self.span.start, self.kind, self.span.end, self.replaces, &self.text)
    }
}

/// What the writers look at.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The clip's percepts.
    pub percepts: &'a ClipPercepts,
    /// Who they are.
    pub identified: &'a IdentifiedClip,
    /// Everybody known.
    pub persons: &'a Persons,
    /// The memory before this transaction.
    pub before: &'a View,
    /// Live: ids under which utterances of these turns were found before their clip was sealed.
    pub reserved: Option<&'a BTreeMap<TurnId, MemoryId>>,
    /// Since when nothing was perceived before the clip that no clip tells of (live).
    pub quiet_since: Option<Timestamp>,
}

/// In whose name sentences are written, and about which clip.
#[derive(Clone, Copy)]
struct Author<'a> {
    /// `None`: what follows from many clips.
    clip: Option<ClipId>,
    origin: &'a str,
    persons: &'a Persons,
}

/// [`MemoryRow::origin`] of what this memorizer writes.
const BUILTIN: &str = "builtin";

impl Scene<'_> {
    fn author(&self) -> Author<'_> {
        Author { clip: Some(self.percepts.clip), origin: BUILTIN, persons: self.persons }
    }
}

impl Memorizer {
    /// With the sentence embedder that recall uses; without one, memories are found by words alone.
    #[must_use]
    pub fn new(text: Option<Arc<dyn TextEmbedder>>) -> Self {
        Self { text, reader: None, stay_secs: STAY_SECS }
    }

    /// The same; facts are read out of what is told and said.
    #[must_use]
    pub fn reading(self, reader: Option<FactReader>) -> Self {
        Self { reader, ..self }
    }

    /// The same; the robot is for so long where it was told to be, unless another place is told.
    #[must_use]
    pub fn staying(self, stay_secs: f64) -> Self {
        Self { stay_secs, ..self }
    }

    /// Reads facts out of sentences.
    pub(crate) fn reader(&self) -> Option<&FactReader> {
        self.reader.as_ref()
    }

    /// What was said, the names heard in it and the facts stated.
    fn said(&self, scene: &Scene<'_>, draft: &mut Draft) -> Vec<Sentence> {
        let mut sentences = utterances::sentences(scene);
        sentences.extend(facts::of_names(scene.identified));
        let Some(reader) = &self.reader else { return sentences };
        let stated = reader.of_utterances(scene);
        sentences.extend(facts::settle(stated, scene.before, draft));
        sentences.extend(Stays::new(draft, self.stay_secs).overheard(scene, reader));
        sentences
    }

    /// Writes the memories of a sealed clip into its transaction; gives them back in the order of their ids.
    pub fn memorize(&self, scene: &Scene<'_>, draft: &mut Draft) -> Vec<MemoryRow> {
        let mut sentences = presence::sentences(scene);
        sentences.extend(objects::arrivals(scene));
        sentences.extend(objects::ways(scene));
        sentences.extend(objects::departures(scene));
        sentences.extend(texts::sentences(scene));
        sentences.extend(sounds::sentences(scene));
        sentences.extend(actions::sentences(scene));
        sentences.extend(facts::settle(objects::locations(scene), scene.before, draft));
        sentences.extend(self.said(scene, draft));
        let mut written = self.write_all(sentences, scene.author(), draft);
        for memory in utterances::asides(scene) {
            let reason = "it was the robot's own speech, or a television's";
            if let Err(error) = draft.retire_memory(memory, None, reason) {
                tracing::warn!(%error, "A memory of what a loudspeaker said was not taken back.");
            }
        }
        for utterance in utterances::late(scene) {
            self.put(&utterance, scene.persons, draft);
            written.push(utterance);
        }
        written
    }

    /// The utterance of a turn whose clip is not sealed yet, as it will be written if nothing changes; `None` without words.
    /// `speaker`: a guess. The names in its vector are the view's.
    #[must_use]
    pub fn present(
        &self,
        id: MemoryId,
        turn: &SpeechTurn,
        speaker: Option<EntityId>,
        view: &View,
    ) -> Option<PresentMemory> {
        let sentence = utterances::sentence(turn, speaker, Vec::new(), view)?;
        let row = MemoryRow { id, ..sentence.row(None, BUILTIN) };
        let wording = for_embedding(row.meaning(), |id| vectors::named(view, id));
        Some(PresentMemory { vector: self.vector_worded(&wording), row })
    }

    /// Writes what follows from the words of a clip's turns alone, for words that came after it was sealed.
    pub fn words(&self, scene: &Scene<'_>, draft: &mut Draft) -> Vec<MemoryRow> {
        let sentences = self.said(scene, draft);
        self.write_all(sentences, scene.author(), draft)
    }

    /// In canonical order.
    fn write_all(
        &self,
        mut sentences: Vec<Sentence>,
        author: Author<'_>,
        draft: &mut Draft,
    ) -> Vec<MemoryRow> {
        sentences.sort_by(|a, b| a.place().cmp(&b.place()));
        let mut written: Vec<MemoryRow> = Vec::with_capacity(sentences.len());
        for mut sentence in sentences {
            if sentence.replaces > 0 {
                facts::end_earlier(&mut sentence, &mut written, draft);
            }
            written.push(self.write(sentence, author, draft));
        }
        written
    }

    /// Writes a sentence that was told from outside; `row.id` is minted here. What a note states plainly is judged
    /// as any other fact; of several facts, or where it tells who put a thing somewhere, each has a memory of its own
    /// that rests on the note.
    pub fn note(&self, mut row: MemoryRow, persons: &Persons, draft: &mut Draft) -> MemoryRow {
        row.id = draft.new_memory_id();
        let before = draft.before();
        let is_note = row.kind == MemoryKind::Note;
        let besides = match &self.reader {
            Some(reader) if is_note && row.fact.is_none() => reader.of_note(&mut row, &before),
            _ => Vec::new(),
        };
        if let Some(id) = row.fact.as_ref().and_then(|fact| fact.subject.parse().ok()) {
            row.entities.push(id);
            row.entities.sort_unstable();
            row.entities.dedup();
        }
        facts::settle_told(&mut row, draft);
        self.put(&row, persons, draft);
        let mut besides = facts::settle(besides, &before, draft);
        if let Some(reader) = self.reader.as_ref().filter(|_| is_note) {
            besides.extend(Stays::new(draft, self.stay_secs).told(&row, reader));
        }
        self.write_all(besides, Author { clip: None, origin: &row.origin, persons }, draft);
        row
    }

    /// Writes that the robot is at the place of that name; gives back which one, and the memory that says so.
    pub fn here(
        &self,
        name: &str,
        at: Timestamp,
        persons: &Persons,
        draft: &mut Draft,
    ) -> (EntityId, MemoryRow) {
        let (place, sentence) = Stays::new(draft, self.stay_secs).named(name, at, Vec::new());
        let author = Author { clip: None, origin: "told", persons };
        (place, self.write(sentence, author, draft))
    }

    /// Writes what sentences from elsewhere (a graph of M3-Agent) state plainly, and the names that they give; gives back
    /// how many facts.
    ///
    /// # Errors
    /// When the store fails; nothing is changed then.
    pub fn facts_from(&self, memory: &Memory, origin: &str) -> Result<usize, MemoryError> {
        let Some(at) = memory.newest_record() else { return Ok(0) };
        let mut draft = memory.begin(at);
        let before = draft.before();
        let kinds = vec![MemoryKind::Episodic, MemoryKind::Semantic];
        let mut rows = before.memories(&Filter { kinds, ..Filter::default() });
        rows.retain(|row| row.origin == origin && row.fact.is_none());
        let mut named = BTreeSet::new();
        for row in &rows {
            let Some((id, name)) = facts::naming(&row.text) else { continue };
            let (entity, since) = (before.resolve(id), row.span.start);
            if before.knows(entity) && named.insert((entity, name.clone())) {
                let source = NameSource::Model;
                draft.name(NameRow { entity, name, since, source, turn: None });
            }
        }
        let readers = self.reader.iter();
        let stated =
            readers.flat_map(|reader| rows.iter().map(|row| reader.of_memory(row, &before)));
        let stated = stated.flatten().collect();
        let fresh = facts::settle(stated, &before, &mut draft);
        let persons = Persons::default();
        let author = Author { clip: None, origin, persons: &persons };
        let written = self.write_all(fresh, author, &mut draft).len();
        match draft.is_empty() {
            true => drop(draft),
            false => draft.commit().map(drop)?,
        }
        Ok(written)
    }

    fn write(&self, sentence: Sentence, author: Author<'_>, draft: &mut Draft) -> MemoryRow {
        let id = sentence.id.unwrap_or_else(|| draft.new_memory_id());
        let verdict = sentence.verdict.clone();
        let row = MemoryRow { id, ..sentence.row(author.clip, author.origin) };
        self.put(&row, author.persons, draft);
        if let Some(Verdict { action, other, reason }) = verdict {
            draft.decision(Decision { memory: row.id, at: row.span.start, action, other, reason });
        }
        row
    }

    fn put(&self, row: &MemoryRow, persons: &Persons, draft: &mut Draft) {
        draft.memory(row.clone(), self.vector(row.meaning(), persons));
    }

    /// The vector of a sentence, where it need not be waited for; a failing embedder costs the vector, not the
    /// memory. What has none gets it later ([`vectors`]).
    #[must_use]
    pub fn vector(&self, text: &str, persons: &Persons) -> Option<Embedding> {
        let wording = for_embedding(text, |id| match id.kind {
            EntityKind::Object | EntityKind::Place => None,
            _ => persons.name(persons.resolve(id)).map(|(name, _)| name.to_owned()),
        });
        self.vector_worded(&wording)
    }

    /// The vector of words that name nobody by an id; as [`Self::vector`].
    #[must_use]
    pub fn vector_of_words(&self, text: &str) -> Option<Embedding> {
        self.vector_worded(text)
    }

    /// Makes the vectors of sentences that erasing rewrote; gives back how many. Recorded with the erasure, so
    /// that a kill in between changes nothing.
    ///
    /// Whoever writes does not wait meanwhile: nothing is held while a portion is embedded. What was erased, rewritten
    /// or named otherwise by its commit gets none of these vectors.
    ///
    /// # Errors
    /// When the store fails.
    pub fn embed_rewritten(&self, memory: &Memory) -> Result<usize, MemoryError> {
        let seen = memory.view().seq();
        let rewritten = memory.rewritten()?;
        let Some(model) = self.text.as_ref().and_then(|text| text.model()) else { return Ok(0) };
        if rewritten.is_empty() {
            return Ok(0);
        }
        let mut made = 0;
        for ids in rewritten.chunks(vectors::PORTION) {
            let mut wanted = vectors::lacking(&memory.view(), ids, model);
            let mut found = Vec::with_capacity(wanted.len());
            wanted.retain(|one| {
                let vector = self.vector_worded(&one.wording);
                let is_made = vector.is_some();
                found.extend(vector);
                is_made
            });
            let Some(at) = memory.newest_record().filter(|_| !wanted.is_empty()) else { continue };
            made += vectors::keep_as_worded(memory, at, &wanted, found)?;
        }
        memory.settle_rewritten(&rewritten, seen)?;
        Ok(made)
    }

    /// The same as [`Self::vector`], of a sentence as it is worded for the embedder.
    fn vector_worded(&self, wording: &str) -> Option<Embedding> {
        match self.text.as_ref()?.embed_at_once(wording) {
            Ok(vector) => vector,
            Err(error) => {
                tracing::warn!(%error, "A memory is kept without its vector.");
                None
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Identity;
    use crate::identify::{
        IdentifiedTurn, IdentityRows, MatchThresholds, PendingIdentities, Resolver,
    };
    use crate::ids::SourceId;
    use crate::memory::StoreOptions;
    use crate::memory::model::{Membership, TurnRow};
    use crate::percept::{ClipCounts, Transcript};

    fn heard(turn: u64, said: &str) -> ClipPercepts {
        let at = |secs: i64| Timestamp::from_nanos(secs * 1_000_000_000);
        let words = Transcript { text: said.to_owned(), ..Transcript::default() };
        let turn = SpeechTurn {
            id: TurnId(turn),
            source: SourceId::new("head"),
            span: Span::new(at(2), at(5)),
            speech_secs: 3.0,
            level_dbfs: -20.0,
            embedding: None,
            words: Some(words),
            overlapped: false,
            distinct: None,
            own: false,
            sound: vec![0.1; 1600].into(),
        };
        ClipPercepts {
            clip: ClipId::default(),
            span: Span::new(at(0), at(30)),
            tracks: Vec::new(),
            objects: Vec::new(),
            bodies: Vec::new(),
            texts: Vec::new(),
            turns: vec![turn],
            mouths: Vec::new(),
            sounds: Vec::new(),
            sound_events: Vec::new(),
            camera_moves: Vec::new(),
            poses: Vec::new(),
            key_frames: Vec::new(),
            counts: ClipCounts::default(),
            looked: Vec::new(),
        }
    }

    /// Who is who where `voice_1` is the robot's own.
    fn knowing_the_robot() -> Resolver {
        let membership = Membership {
            part: EntityId::new(EntityKind::Voice, 1),
            person: EntityId::ROBOT,
            reason: "told".to_owned(),
            decreed: true,
        };
        let rows = IdentityRows { memberships: vec![membership], ..IdentityRows::default() };
        let unknown = MatchThresholds::UNKNOWN;
        Resolver::from_rows(
            &rows,
            PendingIdentities::default(),
            &Identity::default(),
            unknown,
            unknown,
        )
    }

    #[test]
    fn an_answer_played_back_into_the_microphone_leaves_no_memory_and_no_fact() {
        if fact_reader().is_none() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let memorizer = Memorizer::new(None).reading(fact_reader());
        let resolver = knowing_the_robot();
        let said = "I put the red mug on the kitchen table.";
        let percepts = heard(1, said);
        let voice = EntityId::new(EntityKind::Voice, 1);
        let write = |percepts: &ClipPercepts, identified: &IdentifiedClip| {
            let mut draft = memory.begin(percepts.span.end);
            let before = memory.view();
            for turn in &percepts.turns {
                draft.turn(TurnRow {
                    clip: percepts.clip,
                    turn: turn.id,
                    source: turn.source.clone(),
                    span: turn.span,
                    speech_secs: turn.speech_secs,
                    voice: None,
                    confidence: 0.0,
                    words: turn.words.clone(),
                    sound: None,
                });
            }
            let persons = resolver.persons();
            let (reserved, quiet_since) = (None, None);
            let before = &before;
            let scene = Scene { percepts, identified, persons, before, reserved, quiet_since };
            let written = memorizer.memorize(&scene, &mut draft);
            draft.commit().unwrap();
            written
        };
        let turn = IdentifiedTurn {
            turn: TurnId(1),
            voice: Some(voice),
            person: None,
            confidence: 0.9,
            aside: true,
        };
        let own = IdentifiedClip { turns: vec![turn.clone()], ..IdentifiedClip::default() };
        assert_eq!(write(&percepts, &own), []);
        // Heard before it was known whose voice it is: remembered …
        let open = IdentifiedTurn { voice: None, aside: false, ..turn };
        let unknown = IdentifiedClip { turns: vec![open], ..IdentifiedClip::default() };
        let written = write(&percepts, &unknown);
        assert!(written.iter().any(|row| row.fact.is_some()), "{written:?}");
        assert!(written.iter().any(|row| row.kind == MemoryKind::Utterance), "{written:?}");
        // … and taken back when it is.
        let late = vec![(percepts.clip, TurnId(1), voice)];
        let known = IdentifiedClip { late_turns: late, ..IdentifiedClip::default() };
        let silent = ClipPercepts { turns: Vec::new(), ..percepts };
        assert_eq!(write(&silent, &known), []);
        assert_eq!(memory.view().memories(&crate::memory::Filter::default()), []);
    }

    #[test]
    fn who_is_spoken_of_in_another_spelling_is_linked_and_the_words_stay() {
        if fact_reader().is_none() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(Timestamp::from_nanos(0));
        let (entity, since) = (draft.new_entity(EntityKind::Person), Timestamp::from_nanos(0));
        let name = "Siobh\u{e1}n".to_owned();
        draft.name(NameRow { entity, name, since, source: NameSource::Told, turn: None });
        draft.commit().unwrap();
        let percepts = heard(1, "Shivon likes tea. Peter likes coffee.");
        let (before, resolver) = (memory.view(), knowing_the_robot());
        let identified = IdentifiedClip::default();
        let (persons, before) = (resolver.persons(), &before);
        let (reserved, quiet_since) = (None, None);
        let scene = Scene {
            percepts: &percepts,
            identified: &identified,
            persons,
            before,
            reserved,
            quiet_since,
        };
        let mut draft = memory.begin(percepts.span.end);
        let written = Memorizer::new(None).reading(fact_reader()).memorize(&scene, &mut draft);
        let utterance = written.iter().find(|row| row.kind == MemoryKind::Utterance).unwrap();
        assert_eq!(utterance.text, "Somebody said: \"Shivon likes tea. Peter likes coffee.\"");
        assert_eq!(utterance.entities, [entity]);
        let facts: Vec<_> = written.iter().filter_map(|row| row.fact.as_ref()).collect();
        let likes = |subject: &str| facts.iter().any(|fact| fact.subject == subject);
        assert!(likes(&entity.to_string()), "{facts:?}");
    }

    #[test]
    fn a_graph_of_m3_agent_states_facts_and_names() {
        if fact_reader().is_none() {
            return;
        }
        let graph = concat!(
            r#"{"m3_graph":1,"nodes":5,"edges":3,"equivalences":0}"#,
            "\n",
            r#"{"node":0,"type":"img"}"#,
            "\n",
            r#"{"node":1,"type":"semantic","clip":0,"contents":["<face_0> likes tea."]}"#,
            "\n",
            r#"{"node":2,"type":"semantic","clip":0,"contents":["<face_0>'s name is Lucy."]}"#,
            "\n",
            r#"{"node":3,"type":"episodic","clip":1,"contents":["<face_0> puts the red mug on the shelf."]}"#,
            "\n",
            r#"{"node":4,"type":"episodic","clip":1,"contents":["<face_0> waves."]}"#,
            "\n",
            r#"{"edge":[1,0]}"#,
            "\n",
            r#"{"edge":[2,0]}"#,
            "\n",
            r#"{"edge":[3,0]}"#,
            "\n",
        );
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let graph = crate::memory::M3Graph::read(graph.as_bytes()).unwrap();
        memory.import_m3(&graph, Timestamp::from_nanos(0)).unwrap();
        let memorizer = Memorizer::new(None).reading(fact_reader());
        let take_in = || memorizer.facts_from(&memory, crate::memory::M3_ORIGIN).unwrap();
        assert_eq!(take_in(), 3);
        let view = memory.view();
        let lucy = EntityId::new(EntityKind::Person, 1);
        assert_eq!(view.display_name(lucy), "Lucy");
        let slots: BTreeSet<String> = view
            .memories(&Filter::default())
            .iter()
            .filter_map(|row| row.fact.as_ref())
            .map(|fact| format!("{} | {} | {}", fact.subject, fact.attribute, fact.value))
            .collect();
        let wanted = [
            "person_1 | likes | tea",
            "person_1 | name | Lucy",
            "red mug | location | on the shelf",
        ];
        assert_eq!(slots, BTreeSet::from(wanted.map(str::to_owned)));
        assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    }
}
