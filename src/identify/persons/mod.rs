//! Which faces and voices are one person: memberships, merges that can be undone, names.

pub(super) mod merge;
pub(super) mod rows;
pub(super) mod ties;
pub mod unmatchable;

use std::collections::{BTreeMap, BTreeSet};

use super::writer::{IdentityRows, IdentityWriter};
use crate::ids::{EntityId, EntityKind, SessionId, TurnId};
use crate::memory::model::{Membership, Merge, NameRow, NameSource};
use crate::names::{are_same, folded, sound_alike};

/// The book of persons, rebuilt from rows.
#[derive(Clone, Debug, Default)]
pub struct Persons {
    memberships: BTreeMap<EntityId, Membership>,
    merges: BTreeMap<EntityId, Merge>,
    names: BTreeMap<EntityId, Vec<NameRow>>,
    /// Whose voice said the names that were heard.
    speakers: BTreeMap<(SessionId, TurnId), EntityId>,
    /// What was merged into an id, each step by itself.
    merged: BTreeMap<EntityId, BTreeSet<EntityId>>,
    /// Faces and voices by the person of their row.
    members: BTreeMap<EntityId, BTreeSet<EntityId>>,
    /// Who has rows of a name, by the name as names are compared.
    named: BTreeMap<String, BTreeSet<EntityId>>,
    /// Who has a row whose speaker is that voice.
    said: BTreeMap<EntityId, BTreeSet<EntityId>>,
    /// Whose rows changed since [`Self::take_changed`].
    changed: BTreeSet<EntityId>,
}

impl Persons {
    pub(super) fn from_rows(rows: &IdentityRows) -> Self {
        let mut book = Self { speakers: rows.speakers.clone(), ..Self::default() };
        for row in &rows.memberships {
            book.put_membership(row.clone());
        }
        for row in &rows.merges {
            book.put_merge(row.clone());
        }
        for row in &rows.names {
            book.index_name(row);
            book.names.entry(row.entity).or_default().push(row.clone());
        }
        book.changed.clear();
        book
    }

    fn put_membership(&mut self, row: Membership) {
        let (part, person) = (row.part, row.person);
        if let Some(old) = self.memberships.insert(part, row)
            && let Some(parts) = self.members.get_mut(&old.person)
        {
            parts.remove(&part);
        }
        self.members.entry(person).or_default().insert(part);
        self.changed.insert(part);
    }

    fn put_merge(&mut self, row: Merge) {
        let (from, into) = (row.from, row.into);
        if let Some(old) = self.merges.insert(from, row)
            && let Some(merged) = self.merged.get_mut(&old.into)
        {
            merged.remove(&from);
        }
        self.merged.entry(into).or_default().insert(from);
        self.changed.extend([from, into]);
    }

    fn index_name(&mut self, row: &NameRow) {
        self.named.entry(folded(&row.name)).or_default().insert(row.entity);
        if let Some(speaker) = self.speaker(row) {
            self.said.entry(speaker).or_default().insert(row.entity);
        }
        self.changed.insert(row.entity);
    }

    /// Whose rows changed since the last time: faces, voices, persons.
    pub(super) fn take_changed(&mut self) -> BTreeSet<EntityId> {
        std::mem::take(&mut self.changed)
    }

    /// An id and all that was merged into it, ascending; costs what it gives.
    pub(super) fn with_aliases(&self, id: EntityId) -> BTreeSet<EntityId> {
        let mut found = BTreeSet::from([id]);
        let mut open = vec![id];
        while let Some(at) = open.pop() {
            for alias in self.merged.get(&at).into_iter().flatten() {
                if found.insert(*alias) {
                    open.push(*alias);
                }
            }
        }
        found
    }

    /// A face or voice that is no alias with all that was merged into it (itself first), as far as they have a person. Costs
    /// what it gives.
    #[must_use]
    pub fn group_of(&self, head: EntityId) -> Vec<EntityId> {
        let mut all: Vec<EntityId> = self.with_aliases(head).into_iter().collect();
        all.retain(|id| self.memberships.contains_key(id));
        all.sort_by_key(|id| (*id != head, *id));
        all
    }

    /// Rows of names of an entity itself.
    pub(super) fn names_of(&self, entity: EntityId) -> &[NameRow] {
        self.names.get(&entity).map_or(&[], Vec::as_slice)
    }

    /// Rows of names that this very voice said of itself.
    pub(super) fn said_by(&self, voice: EntityId) -> impl Iterator<Item = &NameRow> {
        let rows = self.said.get(&voice).into_iter().flatten();
        rows.flat_map(|entity| self.names_of(*entity))
            .filter(move |row| row.source == NameSource::Said && self.speaker(row) == Some(voice))
    }

    /// Every name as names are compared, with who has rows of it.
    pub(super) fn spellings(&self) -> impl Iterator<Item = (&str, &BTreeSet<EntityId>)> {
        self.named.iter().map(|(name, of)| (name.as_str(), of))
    }

    /// The id that stays after all merges.
    #[must_use]
    pub fn resolve(&self, id: EntityId) -> EntityId {
        let mut at = id;
        let mut seen = BTreeSet::new();
        while let Some(merge) = self.merges.get(&at) {
            if !seen.insert(at) {
                break;
            }
            at = merge.into;
        }
        at
    }

    /// Whether it was merged into another.
    pub(super) fn is_alias(&self, id: EntityId) -> bool {
        self.merges.contains_key(&id)
    }

    /// The person a face or voice belongs to.
    #[must_use]
    pub fn person_of(&self, part: EntityId) -> Option<EntityId> {
        let direct = |part| self.memberships.get(&part).map(|row| self.resolve(row.person));
        direct(part).or_else(|| direct(self.resolve(part)))
    }

    /// The faces or voices of a person, ascending; those merged into others left out.
    #[must_use]
    pub fn parts(&self, person: EntityId, kind: EntityKind) -> Vec<EntityId> {
        let mut parts = self.all_parts(person);
        parts.retain(|id| id.kind == kind && !self.merges.contains_key(id));
        parts
    }

    /// Whether the user said whom this part belongs to.
    #[must_use]
    pub fn decreed(&self, part: EntityId) -> bool {
        self.memberships.get(&part).is_some_and(|row| row.decreed)
    }

    /// Whether a voice (or `self`) is nobody's: the robot's own, or a voice that is called media.
    #[must_use]
    pub fn is_non_person(&self, part: EntityId) -> bool {
        part == EntityId::ROBOT
            || self.person_of(part).is_some_and(|owner| owner.kind != EntityKind::Person)
    }

    /// Whether any voice is known to be nobody's.
    #[must_use]
    pub fn knows_asides(&self) -> bool {
        let kinds = [EntityKind::Face, EntityKind::Voice, EntityKind::Object, EntityKind::Robot];
        let asides = kinds.into_iter().flat_map(|kind| {
            let (first, last) = (EntityId::new(kind, 0), EntityId::new(kind, u32::MAX));
            self.members.range(first..=last)
        });
        asides.flat_map(|(_, parts)| parts).any(|part| self.is_non_person(*part))
    }

    /// Everyone whose name that is, letter case aside, ascending.
    #[must_use]
    pub fn called(&self, name: &str) -> Vec<EntityId> {
        let wanted = folded(name);
        let so = |id: &&EntityId| self.names_of(**id).iter().any(|row| folded(&row.name) == wanted);
        let having = self.named.get(&wanted).into_iter().flatten();
        let mut found: Vec<EntityId> = having.filter(so).map(|id| self.resolve(*id)).collect();
        found.retain(|id| id.kind == EntityKind::Person);
        found.sort();
        found.dedup();
        found
    }

    /// The one person of that name but `person` of whom there is no face and no voice: told of, and not met yet. Where nobody
    /// else has the name, one whose name sounds like it.
    #[must_use]
    pub fn unmet(&self, name: &str, person: EntityId) -> Option<EntityId> {
        let mut called = self.called(name);
        called.retain(|id| *id != person);
        if called.is_empty() {
            let alike = |row: &&NameRow| sound_alike(&row.name, name);
            let rows = self.name_rows().filter(alike);
            let found: BTreeSet<EntityId> = rows.map(|row| self.resolve(row.entity)).collect();
            called = found.into_iter().filter(|id| id.kind == EntityKind::Person).collect();
            called.retain(|id| *id != person);
        }
        called.retain(|id| self.all_parts(*id).is_empty());
        match called.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The name that outranks the others, with its source.
    #[must_use]
    pub fn name(&self, person: EntityId) -> Option<(&str, NameSource)> {
        // (Of equals the last one counts: aliases first, then the person itself.)
        let aliases = self.with_aliases(person).into_iter().filter(|id| *id != person);
        let all = aliases.chain([person]).flat_map(|id| self.names_of(id));
        all.max_by_key(|row| (row.source, row.since)).map(|row| (row.name.as_str(), row.source))
    }

    /// Every row of a name.
    pub(super) fn name_rows(&self) -> impl Iterator<Item = &NameRow> {
        self.names.values().flatten()
    }

    /// Whose voice said a name that was heard.
    #[must_use]
    pub fn speaker(&self, row: &NameRow) -> Option<EntityId> {
        self.speakers.get(&row.turn?).copied()
    }

    /// Whether two persons may be found to be one without the user's word.
    ///
    /// Not when the user gave both a different name, nor when he decreed parts of both (a split sticks).
    #[must_use]
    pub fn may_merge(&self, a: EntityId, b: EntityId) -> bool {
        let told = |person| self.name(person).filter(|(_, source)| *source == NameSource::Told);
        let names_agree = match (told(a), told(b)) {
            (Some((x, _)), Some((y, _))) => are_same(x, y),
            _ => true,
        };
        let decreed = |person| self.all_parts(person).iter().any(|part| self.decreed(*part));
        let persons = a.kind == EntityKind::Person && b.kind == EntityKind::Person;
        persons && names_agree && !(decreed(a) && decreed(b))
    }

    /// `a` and `b` are one person: the named one stays, else the older. Returns who stays.
    pub(super) fn unite(
        &mut self,
        a: EntityId,
        b: EntityId,
        reason: &str,
        writer: &mut dyn IdentityWriter,
    ) -> EntityId {
        let rank = |id: EntityId| (self.name(id).map_or(0, |(_, source)| 1 + source as u8), id);
        let (x, y) = (rank(a), rank(b));
        let a_stays = if x.0 == y.0 { a <= b } else { x.0 > y.0 };
        let (into, from) = if a_stays { (a, b) } else { (b, a) };
        self.merge(Merge { from, into, reason: reason.to_owned(), decreed: false }, writer);
        into
    }

    /// Writes a merge; one that would close a circle is left out.
    pub(super) fn merge(&mut self, row: Merge, writer: &mut dyn IdentityWriter) {
        if self.resolve(row.into) == row.from || row.into == row.from {
            return;
        }
        self.put_merge(row.clone());
        writer.merge(row);
    }

    /// Takes a merge back; false when there is none, or the user's own and `by_user` is not set.
    pub(super) fn undo(
        &mut self,
        from: EntityId,
        by_user: bool,
        writer: &mut dyn IdentityWriter,
    ) -> bool {
        if !self.merges.get(&from).is_some_and(|merge| by_user || !merge.decreed) {
            return false;
        }
        if let Some(row) = self.merges.remove(&from) {
            if let Some(merged) = self.merged.get_mut(&row.into) {
                merged.remove(&from);
            }
            self.changed.extend([from, row.into]);
        }
        writer.undo_merge(from);
        true
    }

    pub(super) fn enter(&mut self, row: Membership, writer: &mut dyn IdentityWriter) {
        self.put_membership(row.clone());
        writer.membership(row);
    }

    pub(super) fn membership(&self, part: EntityId) -> Option<&Membership> {
        self.memberships.get(&part)
    }

    /// The last automatic merge on the way from one of the ids to their common person.
    pub(super) fn merge_between(&self, a: EntityId, b: EntityId) -> Option<EntityId> {
        let way = |mut id: EntityId| {
            let mut passed = vec![id];
            while let Some(merge) = self.merges.get(&id) {
                if passed.contains(&merge.into) {
                    break;
                }
                id = merge.into;
                passed.push(id);
            }
            passed
        };
        let (from_a, from_b) = (way(a), way(b));
        let only = |these: &[EntityId], others: &[EntityId]| {
            these.iter().rfind(|id| !others.contains(id)).copied()
        };
        only(&from_a, &from_b).or_else(|| only(&from_b, &from_a))
    }

    /// Writes a name; it takes the place of an older row of the same name. False where that one outranks it, and stays.
    pub(super) fn name_it(&mut self, row: NameRow, writer: &mut dyn IdentityWriter) -> bool {
        let known = self.names.entry(row.entity).or_default();
        if known.iter().any(|older| older.source > row.source && are_same(&older.name, &row.name)) {
            return false;
        }
        known.retain(|older| older.name != row.name);
        known.push(row.clone());
        self.index_name(&row);
        writer.name(row);
        true
    }

    /// Writes a name that this voice gave itself; false where the user told it already.
    pub(super) fn introduce(
        &mut self,
        voice: EntityId,
        row: NameRow,
        writer: &mut dyn IdentityWriter,
    ) -> bool {
        let (turn, entity) = (row.turn, row.entity);
        let written = self.name_it(row, writer);
        if let Some(turn) = turn.filter(|_| written) {
            self.speakers.insert(turn, voice);
            self.said.entry(voice).or_default().insert(entity);
        }
        written
    }

    /// The user decides: parts of kind face or voice go to that person and stay there.
    pub(super) fn decree(
        &mut self,
        part: EntityId,
        person: EntityId,
        reason: String,
        writer: &mut dyn IdentityWriter,
    ) {
        self.enter(Membership { part, person, reason, decreed: true }, writer);
    }

    /// Why a face or voice is taken for its person: the reason of its membership, then those of the merges that lead on
    /// from it.
    pub(super) fn reasons(&self, part: EntityId) -> (Option<&str>, Vec<&str>) {
        let own = self.memberships.get(&part);
        let person = own.map(|row| row.person).filter(|person| *person != part);
        let mut merges = Vec::new();
        let mut seen = BTreeSet::new();
        for start in [Some(part), person].into_iter().flatten() {
            let mut at = start;
            while let Some(merge) = self.merges.get(&at).filter(|_| seen.insert(at)) {
                merges.push(merge.reason.as_str());
                at = merge.into;
            }
        }
        (own.map(|row| row.reason.as_str()), merges)
    }

    /// Memberships that lead to this person (aliases included), ascending; costs what it gives. None of an alias.
    pub(super) fn all_parts(&self, person: EntityId) -> Vec<EntityId> {
        if self.merges.contains_key(&person) && self.resolve(person) != person {
            return Vec::new();
        }
        let ids = self.with_aliases(person);
        let parts = ids.iter().filter_map(|id| self.members.get(id)).flatten();
        parts.copied().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// A membership that nobody decreed.
pub(super) fn membership(part: EntityId, person: EntityId, reason: String) -> Membership {
    Membership { part, person, reason, decreed: false }
}
