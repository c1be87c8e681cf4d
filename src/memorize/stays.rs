//! Where the robot is told to be: a stay at a place with a name, with poses or without.
//!
//! A note says it on purpose; what is overheard counts where the place is a room. The place is the one where the poses
//! say that the robot is, else the one of that name, else a new one.

use std::collections::BTreeMap;

use super::{FactReader, Scene, Sentence};
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{Fact, Ground, MemoryKind, MemoryRow, NameRow, NameSource};
use crate::memory::{Draft, Place, Point, View, WHEREABOUTS};
use crate::time::{Span, Timestamp};

/// Says that the robot is at a place.
pub(super) struct Stays<'d> {
    draft: &'d mut Draft,
    before: View,
    /// How long it is there where nothing else is told, seconds.
    holds_secs: f64,
    /// Places of this transaction, by name.
    founded: BTreeMap<String, EntityId>,
}

impl<'d> Stays<'d> {
    pub(super) fn new(draft: &'d mut Draft, holds_secs: f64) -> Self {
        Self { before: draft.before(), draft, holds_secs, founded: BTreeMap::new() }
    }

    /// What a note says of it.
    pub(super) fn told(&mut self, note: &MemoryRow, reader: &FactReader) -> Option<Sentence> {
        let at = note.span.start;
        let name = reader.place_named(&note.text, at, &self.before, false)?;
        Some(self.named(&name, at, vec![Ground::Memory(note.id)]).1)
    }

    /// The place that is called so, and that the robot is there.
    pub(super) fn named(
        &mut self,
        name: &str,
        at: Timestamp,
        grounds: Vec<Ground>,
    ) -> (EntityId, Sentence) {
        let posed = self.before.place_at(at).filter(|place| place.position.is_some());
        let place = self.place(name, at, posed, NameSource::Told);
        (place, self.stay(place, name, Span::new(at, at), grounds))
    }

    /// What the clip's speakers say of it.
    pub(super) fn overheard(&mut self, scene: &Scene<'_>, reader: &FactReader) -> Vec<Sentence> {
        let mut found = Vec::new();
        for turn in &scene.percepts.turns {
            let Some(words) =
                turn.words.as_ref().filter(|_| !scene.identified.is_non_person(turn.id))
            else {
                continue;
            };
            let at = turn.span.start;
            let Some(name) = reader.place_named(&words.text, at, &self.before, true) else {
                continue;
            };
            let poses = scene.percepts.poses.iter().filter(|pose| pose.stamp <= turn.span.end);
            let posed = poses.max_by_key(|pose| pose.stamp).and_then(|pose| {
                let here = Point { frame: pose.frame.clone(), x: pose.x, y: pose.y };
                self.before.place_near(&here)
            });
            let place = self.place(&name, turn.span.start, posed, NameSource::Said);
            let grounds = vec![Ground::Turn(scene.percepts.clip, turn.id)];
            found.push(self.stay(place, &name, turn.span, grounds));
        }
        found
    }

    /// The place that a name means; `posed`: where the poses say that the robot is.
    fn place(
        &mut self,
        name: &str,
        at: Timestamp,
        posed: Option<Place>,
        source: NameSource,
    ) -> EntityId {
        // One that has another name is another one.
        let posed = posed.filter(|place| place.name.is_none() || place.is_called(name));
        if let Some(named) = posed.as_ref().filter(|place| place.name.is_some()) {
            return named.id;
        }
        let known = self.founded.get(name).copied().or_else(|| {
            self.before.places().iter().find(|place| place.is_called(name)).map(|place| place.id)
        });
        if let Some(known) = known {
            return known;
        }
        let entity =
            posed.map_or_else(|| self.draft.new_entity(EntityKind::Place), |place| place.id);
        let name = name.to_owned();
        self.founded.insert(name.clone(), entity);
        self.draft.name(NameRow { entity, name, since: at, source, turn: None });
        entity
    }

    /// "<self> is at <place_1>."
    fn stay(&self, place: EntityId, name: &str, span: Span, grounds: Vec<Ground>) -> Sentence {
        let text = format!("<{}> is at <{place}>.", EntityId::ROBOT);
        let mut sentence = Sentence::new(MemoryKind::Semantic, text, span, grounds);
        sentence.importance = 0.2;
        sentence.fact = Some(Fact {
            subject: EntityId::ROBOT.to_string(),
            attribute: WHEREABOUTS.to_owned(),
            value: name.to_owned(),
        });
        sentence.valid_to = Some(span.end.plus_secs(self.holds_secs));
        sentence
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::identify::Persons;
    use crate::ids::MemoryId;
    use crate::memorize::Memorizer;
    use crate::memory::model::MemoryRow;
    use crate::memory::{Memory, StoreOptions};

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn tell(memory: &Memory, text: &str, secs: f64) {
        let row = MemoryRow {
            id: MemoryId(0),
            kind: MemoryKind::Note,
            text: text.to_owned(),
            span: Span::new(at(secs), at(secs)),
            clip: None,
            entities: Vec::new(),
            fact: None,
            importance: 0.6,
            confidence: 1.0,
            pinned: false,
            valid_from: at(secs),
            valid_to: None,
            grounds: Vec::new(),
            origin: "told".to_owned(),
        };
        let mut draft = memory.begin(at(20_000.0));
        let memorizer =
            Memorizer::new(None).reading(crate::memorize::fact_reader()).staying(3_600.0);
        memorizer.note(row, &Persons::default(), &mut draft);
        draft.commit().unwrap();
    }

    #[test]
    fn told_places_have_stays_without_a_pose() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        tell(&memory, "We are in the orangery now.", 100.0);
        tell(&memory, "We are in the kitchen.", 1_000.0);
        // Told later of the time between: what is valid is decided by event time.
        tell(&memory, "We are at the summer house.", 500.0);
        tell(&memory, "We are still in the kitchen, and Ava likes tea.", 2_000.0);
        tell(&memory, "We are in the orangery.", 9_000.0);
        let view = memory.view();
        let stays = |name: &str| {
            let places = view.places();
            let place = places.iter().find(|place| place.is_called(name)).unwrap();
            assert_eq!(place.position, None);
            view.stays_at(place)
        };
        let span = |from: f64, to: f64| Span::new(at(from), at(to));
        assert_eq!(view.places().len(), 3);
        assert_eq!(stays("orangery"), [span(100.0, 500.0), span(9_000.0, 12_600.0)]);
        assert_eq!(stays("summer house"), [span(500.0, 1_000.0)]);
        assert_eq!(stays("kitchen"), [span(1_000.0, 5_600.0)]);
        let name = |secs: f64| view.place_at(at(secs)).and_then(|place| place.name);
        assert_eq!(name(1_500.0).as_deref(), Some("kitchen"));
        assert_eq!(name(7_000.0), None, "nobody knows any more");
        let likes =
            |row: &MemoryRow| row.fact.as_ref().is_some_and(|fact| fact.attribute == WHEREABOUTS);
        let told = view.memories(&crate::memory::Filter::default());
        assert_eq!(told.iter().filter(|row| likes(row)).count(), 5);
        assert!(memory.check().unwrap().faults.is_empty());
    }
}
