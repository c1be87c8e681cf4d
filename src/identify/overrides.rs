//! What the user or a model says of who is who.

use std::collections::BTreeSet;

use super::resolver::Resolver;
use super::writer::IdentityWriter;
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{Merge, NameRow, NameSource};
use crate::time::Timestamp;

impl Resolver {
    /// A model concluded that a face and a voice are one person: evidence that weighs as much as `secs` seconds of
    /// speech under that face, never a verdict. The next clip's assignment takes it into account.
    pub fn believe(
        &mut self,
        face: EntityId,
        voice: EntityId,
        secs: f64,
        writer: &mut dyn IdentityWriter,
    ) {
        if face.kind == EntityKind::Face && voice.kind == EntityKind::Voice && secs > 0.0 {
            self.evidence.believed(face, voice, secs);
            self.write_evidence(writer);
        }
    }

    /// A model concluded a name from what was said. It is kept for those who have none; gives back the row.
    pub fn conclude_name(
        &mut self,
        entity: EntityId,
        name: &str,
        at: Timestamp,
        writer: &mut dyn IdentityWriter,
    ) -> Option<NameRow> {
        let entity = self.persons.person_of(entity).unwrap_or(self.persons.resolve(entity));
        if entity.kind != EntityKind::Person || self.persons.name(entity).is_some() {
            return None;
        }
        let (name, source) = (name.to_owned(), NameSource::Model);
        let row = NameRow { entity, name, since: at, source, turn: None };
        self.persons.name_it(row.clone(), writer);
        self.meet(entity, &row.name, false, writer);
        Some(row)
    }

    /// The user names an entity (a face or voice stands for its person). Gives back the name, of the one it then is: who was
    /// told of by that name is met now.
    pub fn override_name(
        &mut self,
        entity: EntityId,
        name: &str,
        at: Timestamp,
        writer: &mut dyn IdentityWriter,
    ) -> NameRow {
        let entity = self.persons.person_of(entity).unwrap_or(self.persons.resolve(entity));
        let row = NameRow {
            entity,
            name: name.to_owned(),
            since: at,
            source: NameSource::Told,
            turn: None,
        };
        self.persons.name_it(row.clone(), writer);
        NameRow { entity: self.meet(entity, name, true, writer), ..row }
    }

    /// The user says that two persons are one: the named one stays, else the older. Returns who stays.
    pub fn override_merge(
        &mut self,
        a: EntityId,
        b: EntityId,
        writer: &mut dyn IdentityWriter,
    ) -> EntityId {
        let (a, b) = (self.persons.resolve(a), self.persons.resolve(b));
        let rank = |id| (self.persons.name(id).map_or(0, |(_, source)| 1 + source as u8), id);
        let (x, y) = (rank(a), rank(b));
        let a_stays = if x.0 == y.0 { a <= b } else { x.0 > y.0 };
        let (into, from) = if a_stays { (a, b) } else { (b, a) };
        let reason = "the user said so".to_owned();
        self.persons.merge(Merge { from, into, reason, decreed: true }, writer);
        into
    }

    /// The user says that somebody of whom there is no face and no voice is not whom they were merged into. Returns who
    /// they are then.
    pub fn override_apart(&mut self, alias: EntityId, writer: &mut dyn IdentityWriter) -> EntityId {
        self.persons.undo(alias, true, writer);
        self.persons.resolve(alias)
    }

    /// The user says that these faces or voices are another person than they were taken for.
    ///
    /// Each goes back to the person it first was, or, where that is the same, together to a new one. It sticks:
    /// evidence does not overrule it. Returns the persons they now belong to.
    pub fn override_split(
        &mut self,
        parts: &[EntityId],
        writer: &mut dyn IdentityWriter,
    ) -> Vec<EntityId> {
        let mut fresh: Option<EntityId> = None;
        let mut persons = BTreeSet::new();
        let taken_for = |part: &EntityId| {
            let person = self.persons.person_of(*part)?;
            let (was, ties) = self.persons.reasons(*part);
            Some((*part, person, was.unwrap_or_default().to_owned(), ties.join("; ")))
        };
        let before: Vec<(EntityId, EntityId, String, String)> =
            parts.iter().filter_map(taken_for).collect();
        for (part, person, was, tie) in &before {
            let person = *person;
            self.persons.undo(*part, true, writer); // face or voice merged into another
            let own = self.persons.membership(*part).map(|row| row.person);
            let origin = match own.filter(|own| *own != person) {
                Some(own) => {
                    if self.persons.resolve(own) == person
                        && let Some(merge) = self.persons.merge_between(own, person)
                    {
                        self.persons.undo(merge, true, writer);
                    }
                    own
                }
                None => *fresh.get_or_insert_with(|| writer.mint(EntityKind::Person)),
            };
            // Both sides go on telling why they were one.
            let held = if tie.is_empty() { was } else { tie };
            for other in self.persons.all_parts(person) {
                let Some(row) = self.persons.membership(other) else { continue };
                if parts.contains(&other) {
                    continue;
                }
                let keeps = row.person;
                let told = format!("the user said that {part} is somebody else");
                let reason = joined([&row.reason, held, &told]);
                self.persons.decree(other, keeps, reason, writer);
            }
            let told = format!("the user said that {person} is somebody else");
            self.persons.decree(*part, origin, joined([was, tie, &told]), writer);
            persons.insert(self.persons.resolve(origin));
        }
        persons.into_iter().collect()
    }
}

/// Reasons one after the other, each once.
fn joined(reasons: [&str; 3]) -> String {
    let mut all = String::new();
    for reason in reasons {
        if all.contains(reason) {
            continue;
        }
        let between = if all.is_empty() { "" } else { "; " };
        all = format!("{all}{between}{reason}");
    }
    all
}
