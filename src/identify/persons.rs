//! Which faces and voices are one person: memberships, merges that can be undone, names.

use std::collections::{BTreeMap, BTreeSet};

use super::introductions::Introductions;
use super::ledger::{IdentityRows, Ledger};
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
}

impl Persons {
    pub(super) fn from_rows(rows: &IdentityRows) -> Self {
        let mut book = Self { speakers: rows.speakers.clone(), ..Self::default() };
        for row in &rows.memberships {
            book.memberships.insert(row.part, row.clone());
        }
        for row in &rows.merges {
            book.merges.insert(row.from, row.clone());
        }
        for row in &rows.names {
            book.names.entry(row.entity).or_default().push(row.clone());
        }
        book
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

    /// The person a face or voice belongs to.
    #[must_use]
    pub fn person_of(&self, part: EntityId) -> Option<EntityId> {
        let direct = |part| self.memberships.get(&part).map(|row| self.resolve(row.person));
        direct(part).or_else(|| direct(self.resolve(part)))
    }

    /// The faces or voices of a person, ascending; those merged into others left out.
    #[must_use]
    pub fn parts(&self, person: EntityId, kind: EntityKind) -> Vec<EntityId> {
        let part = |id: &&EntityId| {
            id.kind == kind && !self.merges.contains_key(id) && self.person_of(**id) == Some(person)
        };
        self.memberships.keys().filter(part).copied().collect()
    }

    /// Every face or voice that is no alias, with all that was merged into it (itself first).
    #[must_use]
    pub fn groups(&self, kind: EntityKind) -> BTreeMap<EntityId, Vec<EntityId>> {
        let mut groups: BTreeMap<EntityId, Vec<EntityId>> = BTreeMap::new();
        for id in self.memberships.keys().filter(|id| id.kind == kind) {
            groups.entry(self.resolve(*id)).or_default().push(*id);
        }
        for (head, members) in &mut groups {
            members.sort_by_key(|id| (id != head, *id));
        }
        groups
    }

    /// Whether the user said whom this part belongs to.
    #[must_use]
    pub fn decreed(&self, part: EntityId) -> bool {
        self.memberships.get(&part).is_some_and(|row| row.decreed)
    }

    /// Whether a voice (or `self`) is nobody's: the robot's own, or a voice that is called media.
    #[must_use]
    pub fn is_aside(&self, part: EntityId) -> bool {
        part == EntityId::ROBOT
            || self.person_of(part).is_some_and(|owner| owner.kind != EntityKind::Person)
    }

    /// Whether any voice is known to be nobody's.
    #[must_use]
    pub fn knows_asides(&self) -> bool {
        self.memberships.keys().any(|part| self.is_aside(*part))
    }

    /// Everyone whose name that is, letter case aside, ascending.
    #[must_use]
    pub fn called(&self, name: &str) -> Vec<EntityId> {
        let wanted = folded(name);
        let so = |id: &EntityId| {
            let names = self.names.get(id).into_iter().flatten();
            names.into_iter().any(|row| folded(&row.name) == wanted)
        };
        let mut found: Vec<EntityId> =
            self.names.keys().filter(|id| so(id)).map(|id| self.resolve(*id)).collect();
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
        let aliases = self.merges.keys().filter(|id| self.resolve(**id) == person);
        let all = aliases.chain([&person]).filter_map(|id| self.names.get(id)).flatten();
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

    /// Who gave which name.
    #[must_use]
    pub fn introductions(&self) -> Introductions {
        Introductions::of(self)
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
        let decreed = |person| {
            self.memberships.values().any(|row| row.decreed && self.resolve(row.person) == person)
        };
        let persons = a.kind == EntityKind::Person && b.kind == EntityKind::Person;
        persons && names_agree && !(decreed(a) && decreed(b))
    }

    /// `a` and `b` are one person: the named one stays, else the older. Returns who stays.
    pub(super) fn unite(
        &mut self,
        a: EntityId,
        b: EntityId,
        reason: &str,
        ledger: &mut dyn Ledger,
    ) -> EntityId {
        let rank = |id: EntityId| (self.name(id).map_or(0, |(_, source)| 1 + source as u8), id);
        let (x, y) = (rank(a), rank(b));
        let a_stays = if x.0 == y.0 { a <= b } else { x.0 > y.0 };
        let (into, from) = if a_stays { (a, b) } else { (b, a) };
        self.merge(Merge { from, into, reason: reason.to_owned(), decreed: false }, ledger);
        into
    }

    /// Writes a merge; one that would close a circle is left out.
    pub(super) fn merge(&mut self, row: Merge, ledger: &mut dyn Ledger) {
        if self.resolve(row.into) == row.from || row.into == row.from {
            return;
        }
        self.merges.insert(row.from, row.clone());
        ledger.merge(row);
    }

    /// Takes a merge back; false when there is none, or the user's own and `by_user` is not set.
    pub(super) fn undo(&mut self, from: EntityId, by_user: bool, ledger: &mut dyn Ledger) -> bool {
        if !self.merges.get(&from).is_some_and(|merge| by_user || !merge.decreed) {
            return false;
        }
        self.merges.remove(&from);
        ledger.undo_merge(from);
        true
    }

    pub(super) fn enter(&mut self, row: Membership, ledger: &mut dyn Ledger) {
        self.memberships.insert(row.part, row.clone());
        ledger.membership(row);
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
    pub(super) fn name_it(&mut self, row: NameRow, ledger: &mut dyn Ledger) -> bool {
        let known = self.names.entry(row.entity).or_default();
        if known.iter().any(|older| older.source > row.source && are_same(&older.name, &row.name)) {
            return false;
        }
        known.retain(|older| older.name != row.name);
        known.push(row.clone());
        ledger.name(row);
        true
    }

    /// Writes a name that this voice gave itself; false where the user told it already.
    pub(super) fn introduce(
        &mut self,
        voice: EntityId,
        row: NameRow,
        ledger: &mut dyn Ledger,
    ) -> bool {
        let turn = row.turn;
        let written = self.name_it(row, ledger);
        if let Some(turn) = turn.filter(|_| written) {
            self.speakers.insert(turn, voice);
        }
        written
    }

    /// The user decides: parts of kind face or voice go to that person and stay there.
    pub(super) fn decree(
        &mut self,
        part: EntityId,
        person: EntityId,
        reason: String,
        ledger: &mut dyn Ledger,
    ) {
        self.enter(Membership { part, person, reason, decreed: true }, ledger);
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

    /// Memberships that lead to this person (aliases included), ascending.
    pub(super) fn all_parts(&self, person: EntityId) -> Vec<EntityId> {
        let mine = |id: &&EntityId| self.person_of(**id) == Some(person);
        self.memberships.keys().filter(mine).copied().collect()
    }
}
