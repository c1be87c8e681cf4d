//! How a reading names persons, and shows what an answer rests on.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{ClipId, EntityId, TrackId, TurnId};
use crate::language::actions::SOMEBODY;
use crate::memory::Filter;
use crate::memory::model::{
    ActionRow, Ground, MemoryKind, MemoryRow, ObjectTrackRow, PersonProfile, SoundEventRow,
    TextTrackRow,
};
use crate::mention;
use crate::time::Span;

use super::cited::place_of;
use super::document::Evidence;
use super::reading::{Appearance, Reading, Spoken, mean};

impl Reading {
    /// A memory's sentence with names.
    pub(super) fn rendered(&self, text: &str) -> String {
        mention::render(text, |id| self.name(id))
    }

    /// The name, else "person 4".
    pub(super) fn name(&self, id: EntityId) -> String {
        if id == EntityId::ROBOT {
            return "I".into();
        }
        let resolved = self.view.resolve(id);
        match self.view.names(resolved).first() {
            Some(row) => row.name.clone(),
            None => resolved.to_string().replace('_', " "),
        }
    }

    /// The name; of the unnamed a line by which to know them.
    pub(super) fn introduce(&self, id: EntityId) -> String {
        let resolved = self.view.resolve(id);
        if resolved == EntityId::ROBOT || !self.view.names(resolved).is_empty() {
            return self.name(resolved);
        }
        self.introduced(&self.view.person(resolved))
    }

    /// The same of a person whose profile is known already.
    pub(super) fn introduced(&self, profile: &PersonProfile) -> String {
        if let Some(name) = &profile.name {
            return name.clone();
        }
        let name = self.name(profile.id);
        match profile.first_seen {
            None => format!("{name} (unnamed)"),
            Some(at) if profile.seen_secs == 0.0 => {
                format!("{name} (unnamed, only heard, first {})", self.wording.at(at))
            }
            Some(at) => {
                let at = self.wording.at(at);
                let at = at.strip_prefix("at ").unwrap_or(&at);
                format!("{name} (unnamed, first seen {at})")
            }
        }
    }

    fn clip_memories(&self, clip: ClipId) -> Vec<Arc<MemoryRow>> {
        let mut cache = self.memories.borrow_mut();
        let filter = Filter { clip: Some(clip), ..Filter::default() };
        cache.entry(clip).or_insert_with(|| self.view.memories(&filter)).clone()
    }

    /// The memory that was written about a track.
    fn memory_of_track(&self, clip: ClipId, track: TrackId) -> Option<Arc<MemoryRow>> {
        self.clip_memories(clip).into_iter().find(|row| {
            row.kind == MemoryKind::Episodic && row.grounds.contains(&Ground::Track(clip, track))
        })
    }

    /// A text in view as evidence, over the whole time in which it was read.
    pub(super) fn read_evidence(&self, row: &TextTrackRow, span: Span, score: f32) -> Evidence {
        let ground = Ground::Text(row.clip, row.track.id);
        let memories = self.clip_memories(row.clip);
        let memory = memories.iter().find(|memory| memory.grounds.contains(&ground));
        Evidence {
            memory: memory.map(|row| row.id),
            kind: memory.map_or("text_track", |row| row.kind.word()).into(),
            text: match memory {
                Some(memory) => self.rendered(&memory.text),
                None => format!("{} showed: \u{201c}{}\u{201d}", row.track.source, row.track.text),
            },
            start: span.start,
            end: span.end,
            clip: Some(row.clip),
            entities: Vec::new(),
            score: score.clamp(0.0, 1.0),
            document: None,
        }
    }

    /// A sound as evidence, from when to when it was heard.
    pub(super) fn sound_evidence(&self, row: &SoundEventRow, span: Span, score: f32) -> Evidence {
        let memories = self.clip_memories(row.clip);
        let what = crate::text::capitalised(&row.event.what);
        let tells = |memory: &&Arc<MemoryRow>| {
            memory.span.start == row.event.span.start && memory.text.starts_with(&what)
        };
        let memory = memories.iter().find(tells);
        Evidence {
            memory: memory.map(|row| row.id),
            kind: memory.map_or("sound_event", |row| row.kind.word()).into(),
            text: match memory {
                Some(memory) => self.rendered(&memory.text),
                None => format!("{what} was heard by {}.", row.event.source),
            },
            start: span.start,
            end: span.end,
            clip: Some(row.clip),
            entities: Vec::new(),
            score: score.clamp(0.0, 1.0),
            document: None,
        }
    }

    /// What somebody did as evidence, over the time in which he did it; `told`: in which words, and how sure that is.
    pub(super) fn action_evidence(
        &self,
        row: &ActionRow,
        span: Span,
        who: Option<EntityId>,
        (told, score): (&str, f32),
    ) -> Evidence {
        let ground = Ground::Track(row.clip, row.track);
        let memories = self.clip_memories(row.clip);
        let tells = |memory: &&Arc<MemoryRow>| {
            memory.span.start == row.action.span.start && memory.grounds.contains(&ground)
        };
        let memory = memories.iter().find(tells);
        let name = who.map_or_else(|| SOMEBODY.to_owned(), |who| self.name(who));
        let name = crate::text::capitalised(&name);
        Evidence {
            memory: memory.map(|row| row.id),
            kind: memory.map_or("body_action", |row| row.kind.word()).into(),
            text: format!("{name} {told}, {}.", row.source),
            start: span.start,
            end: span.end,
            clip: Some(row.clip),
            entities: who.into_iter().collect(),
            score: score.clamp(0.0, 1.0),
            document: None,
        }
    }

    /// A thing in view as evidence, whose text is that.
    pub(super) fn object_evidence(&self, row: &ObjectTrackRow, text: String) -> Evidence {
        let ground = Ground::Object(row.clip, row.track);
        let memories = self.clip_memories(row.clip);
        let memory = memories.iter().find(|memory| memory.grounds.contains(&ground));
        Evidence {
            memory: memory.map(|row| row.id),
            kind: memory.map_or("object_track", |row| row.kind.word()).into(),
            text,
            start: row.span.start,
            end: row.span.end,
            clip: Some(row.clip),
            entities: row.object.into_iter().collect(),
            score: row.confidence,
            document: None,
        }
    }

    /// The utterance that was written about a turn.
    fn memory_of_turn(&self, clip: ClipId, turn: TurnId) -> Option<Arc<MemoryRow>> {
        self.clip_memories(clip).into_iter().find(|row| {
            row.kind == MemoryKind::Utterance && row.grounds.contains(&Ground::Turn(clip, turn))
        })
    }

    /// A memory as evidence.
    pub(super) fn memory_evidence(&self, row: &MemoryRow, score: f32) -> Evidence {
        Evidence {
            memory: Some(row.id),
            kind: row.kind.word().into(),
            text: self.rendered(&row.text),
            start: row.span.start,
            end: row.span.end,
            clip: row.clip,
            entities: self.resolved(&row.entities),
            score: score.clamp(0.0, 1.0),
            document: place_of(&self.view, row),
        }
    }

    fn resolved(&self, ids: &[EntityId]) -> Vec<EntityId> {
        let ids: BTreeSet<EntityId> = ids.iter().map(|id| self.view.resolve(*id)).collect();
        ids.into_iter().collect()
    }

    /// An appearance as evidence: its own times, the memory of its first track.
    pub(super) fn sight_evidence(&self, run: &Appearance) -> Evidence {
        let rows = || run.glimpses.iter().filter_map(|glimpse| glimpse.row.as_ref());
        let memory = rows().find_map(|row| self.memory_of_track(row.clip, row.track));
        let cameras: BTreeSet<&str> = run.glimpses.iter().map(|g| g.source.as_str()).collect();
        let cameras = cameras.into_iter().collect::<Vec<_>>().join(", ");
        let own = format!(
            "{} was in view of {cameras} {}.",
            self.name(run.who),
            self.wording.stretch(run.span)
        );
        Evidence {
            memory: memory.as_ref().map(|row| row.id),
            kind: memory.as_ref().map_or("face_track", |row| row.kind.word()).into(),
            text: own,
            start: run.span.start,
            end: run.span.end,
            clip: rows().next().map(|row| row.clip),
            entities: vec![run.who],
            score: mean(run.glimpses.iter().map(|glimpse| glimpse.confidence)),
            document: None,
        }
    }

    /// Something said as evidence.
    pub(super) fn speech_evidence(&self, spoken: &Spoken, score: f32) -> Evidence {
        let row = spoken.row.as_ref();
        let said = || spoken.memory.as_ref().map(|one| Arc::new(one.row.clone()));
        let memory = row.and_then(|row| self.memory_of_turn(row.clip, row.turn)).or_else(said);
        let speaker = spoken.who.map_or_else(|| "Somebody".to_owned(), |who| self.name(who));
        let text = match (&memory, &spoken.words) {
            (Some(memory), _) => self.rendered(&memory.text),
            (None, Some(words)) => format!("{speaker} said: \u{201c}{words}\u{201d}"),
            (None, None) => format!("{speaker} spoke; the words are not known."),
        };
        Evidence {
            memory: memory.as_ref().map(|row| row.id),
            kind: memory.as_ref().map_or("speech_turn", |row| row.kind.word()).into(),
            text,
            start: spoken.span.start,
            end: spoken.span.end,
            clip: row.map(|row| row.clip),
            entities: spoken.who.into_iter().collect(),
            score: score.clamp(0.0, 1.0),
            document: None,
        }
    }
}
