//! Who is who in a view: memberships, merges, names, profiles.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::ids::{EntityId, EntityKind, Seq};
use crate::names::{Heard, Text};
use crate::time::Timestamp;

use super::{View, rows};
use crate::memory::model::{
    Ground, Membership, MemoryKind, MemoryRow, Merge, NameRow, PersonProfile,
};
use crate::memory::tables::Everyone;
use crate::memory::versions::temporal::Horizon;
use crate::memory::words::called::Called;

/// Longer chains of merges are a fault.
const MAX_CHAIN: usize = 64;
/// Rows of a table that may have changed since everyone was looked at; with more, everyone is looked at again.
const MOST_CHANGED: usize = 4_096;

impl View {
    /// The person a face or voice belongs to now; `None` while it is undecided.
    #[must_use]
    pub fn person_of(&self, part: EntityId) -> Option<EntityId> {
        let membership = self.membership(part)?;
        Some(self.follow_merges(membership.person))
    }

    /// The membership row of a face or voice.
    #[must_use]
    pub fn membership(&self, part: EntityId) -> Option<Arc<Membership>> {
        self.current(&self.tables.memberships, &part)
    }

    /// All memberships, by part.
    #[must_use]
    pub fn memberships(&self) -> Vec<Arc<Membership>> {
        let mut found = rows(self.tables.memberships.all(&self.horizon));
        found.sort_by_key(|row| row.part);
        found
    }

    /// All merges that hold, by the id given up.
    #[must_use]
    pub fn merges(&self) -> Vec<Arc<Merge>> {
        let mut found = rows(self.tables.merges.all(&self.horizon));
        found.sort_by_key(|row| row.from);
        found
    }

    /// The id under which an entity is known now: a face or voice gives its person, a merged id the one
    /// that stayed; anything else itself.
    #[must_use]
    pub fn resolve(&self, id: EntityId) -> EntityId {
        let id = self.follow_merges(id);
        match self.membership(id) {
            Some(membership) if membership.person != id => self.follow_merges(membership.person),
            _ => id,
        }
    }

    fn follow_merges(&self, mut id: EntityId) -> EntityId {
        for _ in 0..MAX_CHAIN {
            match self.current(&self.tables.merges, &id) {
                Some(merge) => id = merge.into,
                None => break,
            }
        }
        id
    }

    /// Whether the model that runs cannot match this face or voice: it changed, and nothing was kept that the new one could
    /// learn from.
    #[must_use]
    pub fn unmatchable(&self, part: EntityId) -> bool {
        let row = self.current(&self.tables.evidence, &(part, EntityId::ROBOT));
        row.and_then(|row| row.as_standing()).is_some_and(|(_, lost)| lost)
    }

    /// Every id that means the same as `id`: the resolved one, its aliases, its faces and voices; ascending.
    #[must_use]
    pub fn same_as(&self, id: EntityId) -> Vec<EntityId> {
        let head = self.resolve(id);
        let mut found = BTreeSet::from([head]);
        let mut open = vec![head];
        while let Some(at) = open.pop() {
            let merged = self.tables.merges.linked(at, &self.horizon);
            let parts = self.tables.memberships.linked(at, &self.horizon);
            let more = merged.iter().map(|v| v.row.from).chain(parts.iter().map(|v| v.row.part));
            open.extend(more.filter(|id| found.insert(*id)));
        }
        found.into_iter().collect()
    }

    /// Faces and voices of a person, ascending.
    #[must_use]
    pub fn parts_of(&self, person: EntityId) -> Vec<EntityId> {
        let mut parts = self.same_as(person);
        parts.retain(|id| matches!(id.kind, EntityKind::Face | EntityKind::Voice));
        parts
    }

    /// Names of an entity under whatever id, the one that outranks the others first (told before concluded
    /// before heard; then the newest).
    #[must_use]
    pub fn names(&self, entity: EntityId) -> Vec<Arc<NameRow>> {
        let ids = self.same_as(entity);
        let mut found: Vec<_> =
            ids.into_iter().flat_map(|id| self.tables.names.linked(id, &self.horizon)).collect();
        found.sort_by(|a, b| {
            (b.row.source, b.row.since, b.seq)
                .cmp(&(a.row.source, a.row.since, a.seq))
                .then_with(|| a.row.name.cmp(&b.row.name))
        });
        rows(found)
    }

    /// The name, else the resolved id.
    #[must_use]
    pub fn display_name(&self, entity: EntityId) -> String {
        match self.names(entity).first() {
            Some(row) => row.name.clone(),
            None => self.resolve(entity).to_string(),
        }
    }

    /// Everyone and everything of that name (letter case aside), resolved, ascending.
    #[must_use]
    pub fn find_by_name(&self, name: &str) -> Vec<EntityId> {
        self.called().so(name)
    }

    /// The one whose name that is but for a title ("Novak", "Dr. Novak" of "Doctor Novak"); `None` where several are.
    #[must_use]
    pub fn find_but_for_title(&self, name: &str) -> Option<EntityId> {
        self.called().but_for_title(name)
    }

    /// The text with ids in place of names that are more than a few plain words (Anne-Marie, Maria de la Cruz Ruiz).
    #[must_use]
    pub fn with_ids<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        self.called().with_ids(text)
    }

    /// Everyone and everything that a text names, by name or id, resolved, ascending.
    #[must_use]
    pub fn named_in(&self, text: &str) -> Vec<EntityId> {
        let text = Text::new(text);
        let mut found: BTreeSet<EntityId> = text
            .ids()
            .filter(|id| id.kind != EntityKind::Robot && self.knows(*id))
            .map(|id| self.resolve(id))
            .collect();
        found.extend(self.called().named_in(&text));
        found.into_iter().collect()
    }

    /// The names of people and places that are heard in a text: what sounds like a known name and is written as none. It is
    /// read off words and names whenever it is asked for, so it is gone with either. Costs as much as the text has capitals,
    /// however many are known; once after somebody was named, as much as there are names. `doubted`: bytes of the text of
    /// which its recogniser is not sure ([`Transcript::doubted`](crate::percept::Transcript::doubted)).
    #[must_use]
    pub fn heard_in(&self, text: &str, doubted: &[Range<usize>]) -> Vec<Heard> {
        self.called().heard_in(&Text::new(text), doubted)
    }

    /// The names that are heard in an utterance, of those that it was linked with.
    #[must_use]
    pub fn heard_in_utterance(&self, row: &MemoryRow) -> Vec<Heard> {
        if row.kind != MemoryKind::Utterance {
            return Vec::new();
        }
        let turns = row.grounds.iter().filter_map(|ground| match ground {
            Ground::Turn(clip, turn) => self.turn(clip.session, *turn),
            _ => None,
        });
        let doubted = turns.filter_map(|turn| {
            let words = turn.words.as_ref()?;
            let said = words.text.trim();
            let at = row.text.find(said)?;
            let trimmed = words.text.find(said)?;
            let moved = move |doubt: Range<usize>| {
                Some(
                    (doubt.start + at).checked_sub(trimmed)?
                        ..(doubt.end + at).checked_sub(trimmed)?,
                )
            };
            Some(words.doubted().into_iter().filter_map(moved).collect::<Vec<_>>())
        });
        let doubted: Vec<Range<usize>> = doubted.flatten().collect();
        let linked = |id: EntityId| row.entities.iter().any(|other| self.resolve(*other) == id);
        let mut heard = self.heard_in(&row.text, &doubted);
        heard.retain(|heard| linked(heard.entity));
        heard
    }

    /// A text with the names that are heard in it in their known spelling.
    #[must_use]
    pub fn respelled<'t>(&self, text: &'t str, doubted: &[Range<usize>]) -> Cow<'t, str> {
        let heard = self.heard_in(text, doubted);
        if heard.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut respelled = text.to_owned();
        for one in heard.into_iter().rev() {
            respelled.replace_range(one.range, &one.name);
        }
        Cow::Owned(respelled)
    }

    /// The names of this view, made ready once.
    fn called(&self) -> Arc<Called> {
        let at = self.horizon.moment();
        let known = self.tables.called.load_full().filter(|known| known.at == at);
        known.unwrap_or_else(|| {
            let mut called = Called::at(at);
            let earlier = self.tables.called.load_full();
            for version in self.tables.names.all(&self.horizon) {
                let NameRow { entity, name, .. } = &*version.row;
                called.put(name, *entity, self.resolve(*entity));
            }
            if let Some(earlier) = earlier {
                called.after(&earlier);
            }
            let called = Arc::new(called);
            self.tables.called.store(Some(Arc::clone(&called)));
            called
        })
    }

    /// The profile of one person, face, voice or alias.
    #[must_use]
    pub fn person(&self, id: EntityId) -> PersonProfile {
        let id = self.resolve(id);
        let same = self.same_as(id);
        let of_kind = |kind| same.iter().copied().filter(|id| id.kind == kind).collect::<Vec<_>>();
        let (faces, voices) = (of_kind(EntityKind::Face), of_kind(EntityKind::Voice));
        let presence = self.presence(id, &faces, &voices);
        let names = self.names(id);
        let name = names.first().map(|row| row.name.clone());
        let mut aliases: Vec<String> = Vec::new();
        for row in names.iter().skip(1) {
            if name.as_ref() != Some(&row.name) && !aliases.contains(&row.name) {
                aliases.push(row.name.clone());
            }
        }
        let ids = same.iter().filter(|other| **other != id);
        aliases.extend(
            ids.filter(|other| !matches!(other.kind, EntityKind::Face | EntityKind::Voice))
                .map(ToString::to_string),
        );
        let lost = |parts: &&Vec<EntityId>| parts.iter().all(|part| self.unmatchable(*part));
        let unmatchable = [&faces, &voices].into_iter().filter(lost).flatten().copied().collect();
        PersonProfile {
            id,
            name,
            aliases,
            faces,
            voices,
            unmatchable,
            first_seen: presence.first,
            last_seen: presence.last,
            seen_secs: presence.seen_secs,
            spoken_secs: presence.spoken_secs,
        }
    }

    /// Every person there is (and `self` once a face or voice is the robot's), by id. Costs a copy, and what changed since it
    /// was asked last; for a moment of the past all that is known of everybody.
    #[must_use]
    pub fn persons(&self) -> Vec<PersonProfile> {
        let Horizon::Prefix(seq) = self.horizon else { return self.gather_persons() };
        let [newest, other] = &self.tables.people;
        let known = newest.load_full();
        let mut held = [known.clone(), other.load_full()].into_iter().flatten();
        if let Some(known) = held.find(|known| known.0 == seq) {
            return known.1.clone();
        }
        let newer = known.as_ref().is_some_and(|known| known.0 > seq);
        let on = known.filter(|_| !newer).and_then(|known| self.persons_since(&known));
        let persons = on.unwrap_or_else(|| self.gather_persons());
        let place = if newer { other } else { newest };
        place.store(Some(Arc::new((seq, persons.clone()))));
        persons
    }

    /// Everyone, of whom only those are looked at anew of whom something changed since then; `None` where that is much.
    fn persons_since(&self, (then, known): &Everyone) -> Option<Vec<PersonProfile>> {
        let touched = self.touched_since(*then)?;
        let before = Self::new(Arc::clone(&self.tables), Horizon::Prefix(*then));
        let heads = |view: &Self| -> BTreeSet<EntityId> {
            touched.iter().map(|id| view.resolve(*id)).collect()
        };
        let (old, new) = (heads(&before), heads(self));
        let is_same =
            |person: &&PersonProfile| !old.contains(&person.id) && !new.contains(&person.id);
        let mut persons: Vec<PersonProfile> = known.iter().filter(is_same).cloned().collect();
        // Whoever gave a part or a name away is still there, perhaps.
        let again = old.union(&new).filter(|id| self.resolve(**id) == **id && self.is_met(**id));
        persons.extend(again.map(|id| self.person(*id)));
        persons.sort_by_key(|person| person.id);
        Some(persons)
    }

    /// The entities of all that says of persons who they are and when they were perceived, and that came or was ended after
    /// a commit; `None` where that is much.
    fn touched_since(&self, then: Seq) -> Option<BTreeSet<EntityId>> {
        let (tables, newest) = (&self.tables, self.horizon.newest());
        let mut touched = BTreeSet::new();
        let tracks = tables.tracks.changed(then, newest, MOST_CHANGED)?;
        touched.extend(tracks.iter().filter_map(|row| row.face));
        let turns = tables.turns.changed(then, newest, MOST_CHANGED)?;
        touched.extend(turns.iter().filter_map(|row| row.voice));
        let memberships = tables.memberships.changed(then, newest, MOST_CHANGED)?;
        touched.extend(memberships.iter().flat_map(|row| [row.part, row.person]));
        let merges = tables.merges.changed(then, newest, MOST_CHANGED)?;
        touched.extend(merges.iter().flat_map(|row| [row.from, row.into]));
        let names = tables.names.changed(then, newest, MOST_CHANGED)?;
        touched.extend(names.iter().map(|row| row.entity));
        // What tells of a model that cannot match a part.
        let evidence = tables.evidence.changed(then, newest, MOST_CHANGED)?;
        let standing = evidence.iter().filter(|row| row.as_standing().is_some());
        touched.extend(standing.flat_map(|row| [row.face, row.voice]));
        Some(touched)
    }

    fn gather_persons(&self) -> Vec<PersonProfile> {
        let mut ids: BTreeSet<EntityId> = BTreeSet::new();
        let people = |id: &EntityId| matches!(id.kind, EntityKind::Person | EntityKind::Robot);
        let memberships = self.tables.memberships.all(&self.horizon);
        let names = self.tables.names.all(&self.horizon);
        let parts = memberships.iter().map(|version| version.row.part);
        // A person of whom only the name is known was told of.
        let named = names.iter().map(|version| version.row.entity);
        ids.extend(
            parts
                .chain(named.filter(|id| id.kind == EntityKind::Person))
                .map(|id| self.resolve(id))
                .filter(people),
        );
        ids.into_iter().map(|id| self.person(id)).collect()
    }

    /// Whether somebody has a face or voice, or a name by which they were told of: [`Self::gather_persons`] finds those.
    fn is_met(&self, head: EntityId) -> bool {
        let is_named = |id: EntityId| {
            id.kind == EntityKind::Person && !self.tables.names.linked(id, &self.horizon).is_empty()
        };
        matches!(head.kind, EntityKind::Person | EntityKind::Robot)
            && self
                .same_as(head)
                .into_iter()
                .any(|id| is_named(id) || id != head && self.membership(id).is_some())
    }

    /// When each person was last seen or heard, for all of them at once.
    #[must_use]
    pub fn last_seen(&self) -> BTreeMap<EntityId, Timestamp> {
        self.persons().into_iter().filter_map(|row| Some((row.id, row.last_seen?))).collect()
    }
}
