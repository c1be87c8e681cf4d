//! A unit of work: changes on their way into the memory, collected, then committed as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::ids::{
    AnswerId, ClipId, EntityId, EntityKind, MemoryId, ModelHash, Seq, SessionId, TrackId, TurnId,
    WatchId,
};
use crate::percept::{Embedding, Transcript};
use crate::time::{Span, Timestamp};

use super::error::MemoryError;
use super::exchange::beside::write_answer;
use super::forget::past::{Mark, write_mark};
use super::model::{
    ActionRow, CameraMoveRow, Clip, Decision, EntityRow, Exemplar, Media, MediaRow, Membership,
    MemoryRow, MemoryVector, Merge, NameRow, ObjectTrackRow, PairEvidence, PoseRow, Recording,
    Retirement, Session, SoundEventRow, SoundRow, TextTrackRow, TrackRow, TurnRow,
};
use super::recovery::spare;
use super::store;
use super::store::writer::Permit;
use super::tables::{Tables, each_table};
use super::versions::temporal::{Table, Temporal, Version};
use super::view::View;
use super::view::documents::PassageRow;
use super::view::visits::Appearance;
use super::watches::{FiringRow, WatchRow};
use super::{AccessCounts, Memory, write_access};

/// What happens to one key of a table.
enum Change<R> {
    Put(Arc<R>),
    Retire,
}

impl<R> Change<R> {
    fn row(&self) -> Option<Arc<R>> {
        match self {
            Self::Put(row) => Some(Arc::clone(row)),
            Self::Retire => None,
        }
    }
}

/// Changes of one table by key: within a draft the last word on a key counts.
struct Batch<R: Temporal>(BTreeMap<R::Key, Change<R>>);

impl<R: Temporal> Default for Batch<R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// Versions to show once the transaction is through.
struct Fresh<R: Temporal> {
    versions: Vec<Version<R>>,
    retired: Vec<(R::Key, Seq)>,
}

impl<R: Temporal> Batch<R> {
    fn put(&mut self, row: R) {
        self.0.insert(row.key(), Change::Put(Arc::new(row)));
    }

    fn retire(&mut self, key: R::Key) {
        self.0.insert(key, Change::Retire);
    }

    /// The row as it will be after the commit.
    fn find(&self, table: &Table<R>, key: &R::Key) -> Option<R> {
        match self.0.get(key) {
            Some(Change::Put(row)) => Some(R::clone(row)),
            Some(Change::Retire) => None,
            None => table.open_version(key).map(|version| R::clone(&version.row)),
        }
    }

    fn write(
        &self,
        db: &Connection,
        table: &Table<R>,
        (seq, recorded): (Seq, Timestamp),
    ) -> rusqlite::Result<Fresh<R>> {
        let mut fresh = Fresh { versions: Vec::new(), retired: Vec::new() };
        if self.0.is_empty() {
            return Ok(fresh);
        }
        // Those that were erased count: RAM finds rows by their ids, and SQLite gives the greatest again once it is free.
        let mut next = store::next_rowid::<R>(db)?.max(table.log().next_rowid());
        for (key, change) in &self.0 {
            let old = table.open_version(key);
            if let Some(old) = &old {
                store::retire::<R>(db, old.rowid, seq)?;
                fresh.retired.push((key.clone(), seq));
            }
            if let Change::Put(row) = change {
                let rowid = store::insert(db, Some(next), &**row, (seq, recorded))?;
                next += 1;
                fresh.versions.push(Version::new(rowid, seq, None, recorded, Arc::clone(row)));
            }
        }
        Ok(fresh)
    }
}

macro_rules! declare_batches {
    ($($field:ident: $row:ty,)*) => {
        #[derive(Default)]
        struct Batches { $($field: Batch<$row>,)* }

        struct Written { $($field: Fresh<$row>,)* }

        impl Batches {
            fn write(&self, db: &Connection, tables: &Tables, (seq, recorded): (Seq, Timestamp)) -> rusqlite::Result<Written> {
                Ok(Written { $($field: self.$field.write(db, &tables.$field, (seq, recorded))?,)* })
            }
        }

        impl Written {
            fn show(self, tables: &Tables) {
                $(tables.$field.append(self.$field.versions, &self.$field.retired);)*
            }
        }
    };
}
each_table!(declare_batches);

/// Next numbers of ids, as the draft sees them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counters(pub(crate) BTreeMap<String, u64>);

impl Counters {
    fn take(&mut self, what: &str) -> u64 {
        let next = self.0.entry(what.to_owned()).or_insert(1);
        *next += 1;
        *next - 1
    }

    pub(crate) fn new_memory_id(&mut self) -> MemoryId {
        MemoryId(self.take("memory"))
    }

    pub(crate) fn write(&self, db: &Connection) -> rusqlite::Result<()> {
        for (what, next) in &self.0 {
            db.prepare_cached(
                "INSERT INTO counter (what, next) VALUES (?1, ?2) \
                 ON CONFLICT (what) DO UPDATE SET next = ?2 WHERE next <> ?2",
            )?
            .execute(params![what, *next as i64])?;
        }
        Ok(())
    }
}

/// Changes that become visible together, or not at all.
///
/// There is one draft at a time: [`Memory::begin`] waits for the one before it. Dropping a draft throws
/// it away, with the ids it gave.
pub struct Draft {
    memory: Memory,
    tables: Arc<Tables>,
    recorded: Timestamp,
    permit: Permit,
    counters: Counters,
    batches: Batches,
    media: Vec<Media>,
    checkpoints: Vec<(SessionId, ClipId, Vec<u8>)>,
    answers: Vec<(AnswerId, String, String, Timestamp)>,
    marks: Vec<(String, Timestamp)>,
}

impl Draft {
    pub(crate) fn new(memory: Memory, permit: Permit, recorded: Timestamp) -> Self {
        let tables = memory.tables();
        let counters = memory.counters();
        Self {
            memory,
            tables,
            recorded,
            permit,
            counters,
            batches: Batches::default(),
            media: Vec::new(),
            checkpoints: Vec::new(),
            answers: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Record time of the commit to come.
    #[must_use]
    pub fn record_time(&self) -> Timestamp {
        self.recorded
    }

    /// The memory as it is before this draft.
    #[must_use]
    pub fn before(&self) -> View {
        self.memory.view()
    }

    /// True when nothing was put in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        macro_rules! none {
            ($($field:ident: $row:ty,)*) => { true $(&& self.batches.$field.0.is_empty())* };
        }
        each_table!(none)
            && self.media.is_empty()
            && self.checkpoints.is_empty()
            && self.answers.is_empty()
    }

    /// Mints an id. Call in canonical order (start, source, kind).
    pub fn new_entity(&mut self, kind: EntityKind) -> EntityId {
        let id = match kind {
            EntityKind::Robot => EntityId::ROBOT,
            kind => {
                let number = self.counters.take(kind.word());
                EntityId::new(kind, u32::try_from(number).unwrap_or(u32::MAX))
            }
        };
        self.batches.entities.put(EntityRow { id });
        id
    }

    /// Mints a memory's id.
    pub fn new_memory_id(&mut self) -> MemoryId {
        self.counters.new_memory_id()
    }

    /// Mints an answer's id.
    pub fn new_answer_id(&mut self) -> AnswerId {
        AnswerId(self.counters.take("answer"))
    }

    pub(super) fn next_number(&mut self, what: &str) -> u64 {
        self.counters.take(what)
    }

    /// Sets a watch.
    pub fn watch(&mut self, watch: WatchRow) {
        self.batches.watches.put(watch);
    }

    /// Takes a watch away. What it told of stays.
    pub fn remove_watch(&mut self, id: WatchId) {
        self.batches.watches.retire(id);
    }

    /// Says where a note stands in its document.
    pub fn passage(&mut self, passage: PassageRow) {
        self.batches.passages.put(passage);
    }

    /// A note is a passage no more.
    pub fn retire_passage(&mut self, memory: MemoryId) {
        self.batches.passages.retire(memory);
    }

    /// Puts a firing.
    pub fn firing(&mut self, firing: FiringRow) {
        self.batches.firings.put(firing);
    }

    /// Face tracks and speech turns that touch a span, as they will be after the commit; unordered.
    #[must_use]
    pub fn appearances(&self, span: Span) -> Vec<Appearance> {
        let (tracks, turns) = (&self.batches.tracks.0, &self.batches.turns.0);
        let mut found = self.before().appearances(span, None);
        found.retain(|one| match one {
            Appearance::Seen(track) => !tracks.contains_key(&track.key()),
            Appearance::Heard(turn) => !turns.contains_key(&turn.key()),
        });
        let touches =
            |one: &Appearance| one.span().start <= span.end && span.start <= one.span().end;
        let seen = tracks.values().filter_map(Change::row).map(Appearance::Seen);
        let heard = turns.values().filter_map(Change::row).map(Appearance::Heard);
        found.extend(seen.chain(heard).filter(touches));
        found
    }

    /// Opens a session.
    pub fn new_session(
        &mut self,
        start: Timestamp,
        clip_secs: f64,
        recording: Option<Recording>,
    ) -> SessionId {
        let number = self.counters.take("session");
        let id = SessionId(u32::try_from(number).unwrap_or(u32::MAX));
        self.session(Session { id, start, clip_secs, recording, finished: false });
        id
    }

    /// Puts a session's row.
    pub fn session(&mut self, session: Session) {
        self.batches.sessions.put(session);
    }

    /// Marks a session as complete.
    ///
    /// # Errors
    /// When there is no such session.
    pub fn finish_session(&mut self, id: SessionId) -> Result<(), MemoryError> {
        let mut session =
            self.batches.sessions.find(&self.tables.sessions, &id).ok_or_else(|| {
                MemoryError::NotFound { doing: "finishing a session", what: id.to_string() }
            })?;
        session.finished = true;
        self.session(session);
        Ok(())
    }

    /// Puts a sealed clip.
    pub fn clip(&mut self, mut clip: Clip) {
        if !self.memory.options().keep_media {
            clip.key_frames.clear();
        }
        self.batches.clips.put(clip);
    }

    /// Puts a face track of a clip.
    pub fn track(&mut self, track: TrackRow) {
        self.batches.tracks.put(track);
    }

    /// Gives a track its face later: a new version of the row.
    ///
    /// # Errors
    /// When there is no such track.
    pub fn assign_track(
        &mut self,
        clip: ClipId,
        track: TrackId,
        face: Option<EntityId>,
        confidence: f32,
    ) -> Result<(), MemoryError> {
        let key = (clip, track);
        let mut row = self.batches.tracks.find(&self.tables.tracks, &key).ok_or_else(|| {
            MemoryError::NotFound {
                doing: "assigning a track",
                what: format!("{track} in clip {clip}"),
            }
        })?;
        (row.face, row.confidence) = (face, confidence);
        self.track(row);
        Ok(())
    }

    /// Puts an object track of a clip.
    pub fn object_track(&mut self, track: ObjectTrackRow) {
        self.batches.object_tracks.put(track);
    }

    /// Puts a speech turn.
    pub fn turn(&mut self, mut turn: TurnRow) {
        turn.sound = turn.sound.filter(|_| self.memory.options().keep_media);
        self.batches.turns.put(turn);
    }

    /// Gives a turn its voice later: a new version of the row.
    ///
    /// # Errors
    /// When there is no such turn.
    pub fn assign_turn(
        &mut self,
        session: SessionId,
        turn: TurnId,
        voice: Option<EntityId>,
        confidence: f32,
    ) -> Result<(), MemoryError> {
        let mut row = self.find_turn("assigning a turn", session, turn)?;
        (row.voice, row.confidence) = (voice, confidence);
        self.turn(row);
        Ok(())
    }

    /// Words that came after the clip was sealed: a new version of the turn.
    ///
    /// # Errors
    /// When there is no such turn.
    pub fn late_words(
        &mut self,
        session: SessionId,
        turn: TurnId,
        words: Transcript,
    ) -> Result<(), MemoryError> {
        let mut row = self.find_turn("adding late words", session, turn)?;
        row.words = Some(words);
        self.turn(row);
        Ok(())
    }

    fn find_turn(
        &self,
        doing: &'static str,
        session: SessionId,
        turn: TurnId,
    ) -> Result<TurnRow, MemoryError> {
        self.batches.turns.find(&self.tables.turns, &(session, turn)).ok_or_else(|| {
            MemoryError::NotFound { doing, what: format!("{turn} in session {session}") }
        })
    }

    /// Puts a text in view.
    pub fn text_track(&mut self, text: TextTrackRow) {
        self.batches.text_tracks.put(text);
    }

    /// Puts a sound.
    pub fn sound(&mut self, sound: SoundRow) {
        self.batches.sounds.put(sound);
    }

    /// Puts a sound that means something.
    pub fn sound_event(&mut self, event: SoundEventRow) {
        self.batches.sound_events.put(event);
    }

    /// Puts what a body did.
    pub fn action(&mut self, action: ActionRow) {
        self.batches.actions.put(action);
    }

    /// Puts a stretch in which a camera moved.
    pub fn camera_move(&mut self, moved: CameraMoveRow) {
        self.batches.camera_moves.put(moved);
    }

    /// Puts a pose.
    pub fn pose(&mut self, pose: PoseRow) {
        self.batches.poses.put(pose);
    }

    /// Puts a gallery exemplar into its slot.
    pub fn exemplar(&mut self, mut exemplar: Exemplar) {
        exemplar.media = exemplar.media.filter(|_| self.memory.options().keep_media);
        self.batches.exemplars.put(exemplar);
    }

    /// Empties a slot.
    pub fn retire_exemplar(&mut self, entity: EntityId, slot: u32) {
        self.batches.exemplars.retire((entity, slot));
    }

    /// Puts the evidence of a pair.
    pub fn evidence(&mut self, evidence: PairEvidence) {
        self.batches.evidence.put(evidence);
    }

    /// Says whose a face or voice is.
    pub fn membership(&mut self, membership: Membership) {
        self.batches.memberships.put(membership);
    }

    /// Takes a face or voice from its person.
    pub fn retire_membership(&mut self, part: EntityId) {
        self.batches.memberships.retire(part);
    }

    /// Makes one person an alias of another.
    ///
    /// # Errors
    /// When that would make an id an alias of itself.
    pub fn merge(&mut self, merge: Merge) -> Result<(), MemoryError> {
        let mut at = merge.into;
        for _ in 0..64 {
            if at == merge.from {
                return Err(MemoryError::Refused(format!(
                    "merging: {} cannot become an alias of {}: they are one already",
                    merge.from, merge.into
                )));
            }
            match self.batches.merges.find(&self.tables.merges, &at) {
                Some(next) => at = next.into,
                None => break,
            }
        }
        self.batches.merges.put(merge);
        Ok(())
    }

    /// Undoes a merge: `from` is itself again.
    pub fn undo_merge(&mut self, from: EntityId) {
        self.batches.merges.retire(from);
    }

    /// Puts a name. What was told of somebody by that name is about whoever has it from now on.
    pub fn name(&mut self, name: NameRow) {
        if self.batches.names.find(&self.tables.names, &name.key()).is_none() {
            self.link_told(&name);
        }
        self.batches.names.put(name);
    }

    /// Takes a name back.
    pub fn retire_name(&mut self, entity: EntityId, name: &str) {
        self.batches.names.retire((entity, name.to_owned()));
    }

    /// Puts a memory (its entities are sorted) and its vector.
    pub fn memory(&mut self, mut memory: MemoryRow, embedding: Option<Embedding>) {
        memory.entities.sort_unstable();
        memory.entities.dedup();
        let known = self.tables.memories.open_version(&memory.id);
        if known.is_some_and(|known| known.row.text != memory.text) {
            self.retire_vectors(memory.id);
        }
        if let Some(embedding) = embedding {
            self.embed(memory.id, embedding);
        }
        self.batches.memories.put(memory);
    }

    /// A memory as it will be after the commit.
    pub(super) fn memory_as_is(&self, id: MemoryId) -> Option<MemoryRow> {
        self.batches.memories.find(&self.tables.memories, &id)
    }

    /// Puts a memory's vector later.
    pub fn embed(&mut self, memory: MemoryId, embedding: Embedding) {
        let row = MemoryVector::new(memory, &embedding);
        self.batches.vectors.put(row);
    }

    /// Takes a memory's vector of that model back.
    pub fn retire_vector(&mut self, memory: MemoryId, model: ModelHash) {
        self.batches.vectors.retire((memory, model));
    }

    /// Takes a memory's vectors back, of whatever model: they are of another sentence, or of none.
    fn retire_vectors(&mut self, memory: MemoryId) {
        let all = (memory, ModelHash([0; 32]))..=(memory, ModelHash([u8::MAX; 32]));
        let mut models: Vec<ModelHash> =
            self.batches.vectors.0.range(all).map(|((_, model), _)| *model).collect();
        models.extend(self.tables.index.models());
        for model in models {
            self.retire_vector(memory, model);
        }
    }

    /// Closes a memory at `valid_to` (it stays, as something that was true until then), or with `None`
    /// takes it back altogether. The reason is kept.
    ///
    /// # Errors
    /// When there is no such memory.
    pub fn retire_memory(
        &mut self,
        id: MemoryId,
        valid_to: Option<Timestamp>,
        reason: &str,
    ) -> Result<(), MemoryError> {
        let mut row = self
            .batches
            .memories
            .find(&self.tables.memories, &id)
            .ok_or_else(|| MemoryError::no_memory("retiring a memory", id))?;
        if valid_to.is_some() {
            row.valid_to = valid_to;
            self.batches.memories.put(row);
        } else {
            self.batches.memories.retire(id);
            self.retire_vectors(id);
        }
        self.batches.retirements.put(Retirement {
            memory: id,
            valid_to,
            reason: reason.to_owned(),
        });
        Ok(())
    }

    /// Keeps what was decided about a fact.
    pub fn decision(&mut self, decision: Decision) {
        self.batches.decisions.put(decision);
    }

    /// Keeps a media file, unless the store keeps none ([`StoreOptions::keep_media`](super::StoreOptions)).
    pub fn media(&mut self, media: Media) {
        if !self.memory.options().keep_media {
            return;
        }
        let pinned = media.pinned
            || self
                .batches
                .media
                .find(&self.tables.media, &media.digest)
                .is_some_and(|known| known.pinned);
        let row = MediaRow {
            digest: media.digest.clone(),
            kind: media.kind,
            bytes: media.bytes.len() as u64,
            pinned,
        };
        // The same file again is no new version.
        if self.batches.media.find(&self.tables.media, &media.digest).as_ref() != Some(&row) {
            self.batches.media.put(row);
        }
        self.media.push(media);
    }

    /// A pinned file is lost: its row no longer promises it.
    pub(super) fn give_up_media(&mut self, row: MediaRow) {
        self.batches.media.put(MediaRow { pinned: false, ..row });
    }

    /// Puts the streaming state as of the end of `clip`.
    pub fn checkpoint(&mut self, session: SessionId, clip: ClipId, state: Vec<u8>) {
        self.checkpoints.push((session, clip, state));
    }

    /// Keeps an answer that was given; `document` is its JSON.
    pub fn answer(&mut self, id: AnswerId, question: &str, document: &str, asked: Timestamp) {
        self.answers.push((id, question.to_owned(), document.to_owned(), asked));
    }

    /// Notes that a job of upkeep has seen everything up to this commit; alone it is no change.
    pub fn mark(&mut self, job: &str, at: Timestamp) {
        self.marks.push((job.to_owned(), at));
    }

    /// Commits: one SQLite transaction, then the view that readers get.
    ///
    /// # Errors
    /// When the disk or the store fails; nothing is changed then. (Media files written by then are taken
    /// away at the next start, when no row names them.)
    pub fn commit(self) -> Result<Seq, MemoryError> {
        self.commit_retrying(|_| false)
    }

    /// Commits; on an error `again` says whether to try once more (after it has waited, for instance for
    /// disk space).
    ///
    /// # Errors
    /// The last one.
    pub fn commit_retrying(
        self,
        mut again: impl FnMut(&MemoryError) -> bool,
    ) -> Result<Seq, MemoryError> {
        let commit = (Seq(self.tables.published().0 + 1), self.recorded);
        let counts = self.memory.take_access();
        let written = loop {
            match self.write(commit, &counts) {
                Ok(written) => break written,
                Err(error) if self.memory.spare(&error) || again(&error) => {}
                Err(error) => {
                    self.memory.put_access_back(counts);
                    return Err(error);
                }
            }
        };
        let Self { memory, tables, counters, permit, media, .. } = self;
        written.show(&tables);
        tables.extend_indexes();
        memory.set_counters(counters);
        tables.publish([commit]);
        drop(permit);
        if !media.is_empty() {
            memory.note_media(media.iter().map(|file| file.bytes.len() as u64).sum());
        }
        Ok(commit.0)
    }

    fn write(
        &self,
        (seq, recorded): (Seq, Timestamp),
        counts: &AccessCounts,
    ) -> Result<Written, MemoryError> {
        for file in &self.media {
            self.memory.folder().write(file)?;
        }
        self.memory.transaction("committing", |db| {
            if !self.memory.is_spared(spare::ACCESS) {
                write_access(db, counts)?;
            }
            let ingested = Timestamp::wall_clock().as_nanos();
            db.prepare_cached("INSERT INTO commits (seq, recorded, ingested) VALUES (?, ?, ?)")?
                .execute(params![seq.0 as i64, recorded.as_nanos(), ingested])?;
            let written = self.batches.write(db, &self.tables, (seq, recorded))?;
            self.counters.write(db)?;
            for (session, clip, state) in &self.checkpoints {
                db.prepare_cached(
                    "INSERT OR REPLACE INTO checkpoint (session, clip, watermark, state) \
                     VALUES (?, ?, ?, ?)",
                )?
                .execute(params![
                    session.0,
                    clip.index,
                    recorded.as_nanos(),
                    state
                ])?;
            }
            let kept = if self.memory.is_spared(spare::ANSWER) { 0 } else { self.answers.len() };
            for (id, question, document, asked) in self.answers.iter().take(kept) {
                write_answer(db, *id, question, document, *asked)?;
            }
            for (job, at) in &self.marks {
                write_mark(db, job, Mark { at: *at, seq })?;
            }
            Ok(written)
        })
    }
}
