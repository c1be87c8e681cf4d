//! The closure of an erasure, what its target reaches: percepts, memories and what was concluded from them, names in other texts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::strike::{Struck, Wanted, without};
use super::{ERASED, left, summary};
use crate::ids::{ClipId, EntityId, EntityKind, MemoryId, SessionId, SourceId, TrackId, TurnId};
use crate::memory::model::{
    Clip, Decision, Exemplar, Fact, FactAction, Ground, MemoryKind, MemoryRow, NameRow, NameSource,
    Retirement, TurnRow,
};
use crate::memory::natures::{exclude, is_single_valued};
use crate::memory::tables::Tables;
use crate::memory::versions::temporal::Temporal as _;
use crate::memory::view::filter::overlaps;
use crate::memory::view::told::is_about;
use crate::memory::watches::WatchRow;
use crate::mention;
use crate::names::{Name, SoundIndex, Text};
use crate::percept::Transcript;
use crate::time::{Span, Timestamp};

/// What becomes of a version.
pub(super) enum Fate<R> {
    Keep,
    Delete,
    Rewrite(R),
}

/// Everything that the target reaches.
#[derive(Default)]
pub(super) struct Reach {
    pub(super) ids: BTreeSet<EntityId>,
    /// Nouns of things without an id, lower case.
    pub(super) things: BTreeSet<String>,
    /// Names of people without an id, by themselves in lower case.
    pub(super) called: BTreeMap<String, Name>,
    /// What is to be struck from other texts.
    pub(super) struck: Struck,
    pub(super) tracks: HashSet<(ClipId, TrackId)>,
    pub(super) objects: HashSet<(ClipId, TrackId)>,
    pub(super) texts: HashSet<(ClipId, TrackId)>,
    pub(super) turns: HashSet<(SessionId, TurnId)>,
    pub(super) memories: HashSet<MemoryId>,
    pub(super) span: Option<Span>,
    /// Turns that lose their words and their sound.
    pub(super) wordless: HashSet<(SessionId, TurnId)>,
    /// And so do turns that ended before it.
    pub(super) words_before: Option<Timestamp>,
    /// When, in which clip, by which camera the erased faces were seen.
    seen: BTreeMap<ClipId, Vec<Span>>,
    /// What the erased memories said, as a summary would repeat it.
    sentences: HashSet<String>,
    /// Something goes for its age alone: it was true, and what it replaced is over all the same.
    pub(super) aged: bool,
    /// Facts whose end was the beginning of one that is erased: at which of their ends, and until when they
    /// hold instead.
    reopened: HashMap<MemoryId, (BTreeSet<Timestamp>, Option<Timestamp>)>,
}

impl Reach {
    /// Everything that the targets reach.
    pub(super) fn spread(&mut self, tables: &Tables) {
        let reach = self;
        let of_target = |id: &EntityId| reach.ids.contains(id);
        let log = tables.names.log();
        let (own, others): (Vec<_>, Vec<_>) =
            log.iter().map(|version| version.row).partition(|row| of_target(&row.entity));
        let mut wanted = Wanted {
            people: reach.called.keys().cloned().collect(),
            nouns: reach.things.clone(),
            others: others.iter().map(|row| row.name.to_lowercase()).collect(),
            spared: reach.spared(tables),
        };
        for row in own {
            let names = match row.entity.kind {
                EntityKind::Object | EntityKind::Place => &mut wanted.nouns,
                _ => &mut wanted.people,
            };
            names.insert(row.name.to_lowercase());
        }
        wanted.people.extend(reach.heard_as(tables));
        reach.struck = Struck::new(&wanted);
        let wanted = reach.span;
        let in_span = |span: Span| wanted.is_some_and(|wanted| overlaps(wanted, span));
        for version in tables.tracks.log().iter() {
            let row = &version.row;
            let own = row.face.is_some_and(|face| reach.ids.contains(&face));
            if own {
                reach.seen.entry(row.clip).or_default().push(row.span);
            }
            if own || in_span(row.span) {
                reach.tracks.insert(row.key());
            }
        }
        for version in tables.object_tracks.log().iter() {
            let row = &version.row;
            if row.object.is_some_and(|id| reach.ids.contains(&id)) || in_span(row.span) {
                reach.objects.insert(row.key());
            }
        }
        // What names the target is read in the pictures of its time, too.
        for version in tables.text_tracks.log().iter() {
            let row = &version.row;
            let names = reach.struck.has_people()
                && (!reach.struck.places(&row.track.text).is_empty()
                    || reach.struck.label(&row.track.text) != row.track.text);
            if names {
                reach.seen.entry(row.clip).or_default().push(row.track.span);
            }
            if names || in_span(row.track.span) {
                reach.texts.insert(row.key());
            }
        }
        for version in tables.turns.log().iter() {
            let row = &version.row;
            if row.voice.is_some_and(|voice| reach.ids.contains(&voice)) || in_span(row.span) {
                reach.turns.insert(row.key());
            }
        }
        let log = tables.memories.log();
        let own = log.pick(|version| {
            let row = &version.row;
            (in_span(row.span) || reach.owns(row)).then(|| Arc::clone(row))
        });
        for row in own {
            reach.memories.insert(row.id);
            reach.take_words(&row);
        }
        // What was concluded from erased memories alone goes with them. Of all memories those count that rest on others, or
        // on nothing that is left.
        let resting = log.pick(|version| {
            let may_go = |ground: &Ground| {
                matches!(ground, Ground::Memory(_)) || reach.gone(&version.row, ground)
            };
            reach.rests(&version.row, may_go).then(|| Arc::clone(&version.row))
        });
        loop {
            let before = reach.memories.len();
            for row in &resting {
                if reach.rests(row, |ground| reach.gone(row, ground)) {
                    reach.memories.insert(row.id);
                }
            }
            if reach.memories.len() == before {
                break;
            }
        }
        let texts: Vec<String> =
            reach.erased(tables).map(|row| summary::sentence(&row.text)).collect();
        reach.sentences.extend(texts);
        if !reach.aged {
            reach.reopen(tables);
        }
        if reach.span.is_some() {
            let gone = left::ghosts(tables, reach);
            reach.ids.extend(gone);
        }
    }

    /// When what goes was captured: the erased stretch, faces, bodies, voices, words, and what names somebody in view; by
    /// time, those that touch as one. (Pictures of a thing stay.)
    pub(super) fn moments(&self, tables: &Tables) -> Vec<Span> {
        let tracks = tables.tracks.log();
        let tracks = tracks.iter().filter(|one| self.tracks.contains(&one.row.key()));
        let turns = tables.turns.log();
        let turns = turns.iter().filter(|one| {
            let key = one.row.key();
            self.turns.contains(&key) || self.wordless.contains(&key)
        });
        let texts = tables.text_tracks.log();
        let texts = texts.iter().filter(|one| self.texts.contains(&one.row.key()));
        let mut all: Vec<Span> = tracks
            .map(|one| one.row.span)
            .chain(turns.map(|one| one.row.span))
            .chain(texts.map(|one| one.row.track.span))
            .chain(self.span)
            .collect();
        all.sort_unstable_by_key(|span| (span.start, span.end));
        all.dedup_by(|next, before| {
            let touches = next.start <= before.end;
            if touches {
                before.end = before.end.max(next.end);
            }
            touches
        });
        all
    }

    /// As what the target's names were written where they were heard, lower case. (A plain word that was doubted and taken for
    /// one stays: it is struck nowhere else, and without the name nobody is meant by it.)
    fn heard_as(&self, tables: &Tables) -> BTreeSet<String> {
        let log = tables.names.log();
        let own =
            log.iter().map(|version| version.row).filter(|row| self.ids.contains(&row.entity));
        let own: BTreeSet<(String, EntityId)> =
            own.map(|row| (row.name.clone(), row.entity)).collect();
        if own.is_empty() {
            return BTreeSet::new();
        }
        let index = SoundIndex::new(own.iter().map(|(name, id)| (name.as_str(), *id)));
        let log = tables.memories.log();
        let linked = log.iter().map(|version| version.row).filter(|row| {
            row.kind == MemoryKind::Utterance && row.entities.iter().any(|id| self.ids.contains(id))
        });
        let heard = linked.flat_map(|row| index.heard_in(&Text::new(&row.text), &[]));
        heard.map(|heard| heard.written.to_lowercase()).collect()
    }

    /// Whether a memory rests on grounds, all of which `gone` takes. A note rests on nothing but itself: its grounds repeat it.
    fn rests(&self, row: &MemoryRow, gone: impl Fn(&Ground) -> bool) -> bool {
        row.kind != MemoryKind::Note && !row.grounds.is_empty() && row.grounds.iter().all(gone)
    }

    /// Whether a ground of a memory is erased. That somebody was heard does not rest on the words.
    fn gone(&self, row: &MemoryRow, ground: &Ground) -> bool {
        self.has(ground) || row.kind != MemoryKind::Episodic && self.takes_words_of(ground)
    }

    /// Every version of the memories that are erased.
    fn erased(&self, tables: &Tables) -> impl Iterator<Item = Arc<MemoryRow>> {
        let log = tables.memories.log();
        let mut positions: Vec<u32> = Vec::new();
        let memories: BTreeSet<&MemoryId> = self.memories.iter().collect();
        for id in memories {
            tables.memories.numbered(id.0, |at| positions.push(at));
        }
        positions.sort_unstable();
        let versions = positions.into_iter().filter_map(move |at| log.get(at as usize));
        versions.map(|version| version.row)
    }

    /// The nouns of things that stay and hold one that is struck.
    fn spared(&self, tables: &Tables) -> BTreeSet<String> {
        if self.things.is_empty() {
            return BTreeSet::new();
        }
        let log = tables.memories.log();
        let facts = log.iter().filter_map(|version| version.row.fact.clone());
        let seen = tables.object_tracks.log();
        let labels = seen.iter().map(|version| version.row.label.to_lowercase());
        let nouns = facts.map(|fact| fact.subject.to_lowercase()).chain(labels);
        let holds_one =
            |noun: &String| self.things.iter().any(|thing| noun.contains(thing.as_str()));
        let stays = |noun: &String| !self.things.contains(noun) && holds_one(noun);
        nouns.filter(stays).collect()
    }

    /// Whether the memory states a fact of one of the things.
    pub(super) fn tells_of(&self, row: &MemoryRow) -> bool {
        let subject = row.fact.as_ref().filter(|_| !self.things.is_empty());
        subject.is_some_and(|fact| self.things.contains(&fact.subject.to_lowercase()))
    }

    /// What an erased fact had ended (another value of its slot, or the opposite) holds again: for good, or until the next
    /// that is left ends it.
    fn reopen(&mut self, tables: &Tables) {
        let log = tables.memories.log();
        // By subject: erased facts as known at any time, by when they began; those that are left as they are known now.
        let mut erased: HashMap<String, BTreeMap<Timestamp, Vec<Fact>>> = HashMap::new();
        let mut left: HashMap<String, Vec<(Timestamp, MemoryId, Fact)>> = HashMap::new();
        for row in self.erased(tables) {
            let Some(fact) = row.fact.clone() else { continue };
            let begun = erased.entry(fact.subject.clone()).or_default();
            begun.entry(row.valid_from).or_default().push(fact);
        }
        if erased.is_empty() {
            return;
        }
        for version in log.iter().filter(|version| version.retired_seq().is_none()) {
            let row = &version.row;
            let fact = row.fact.as_ref().filter(|fact| erased.contains_key(&fact.subject));
            if let Some(fact) = fact.filter(|_| !self.memories.contains(&row.id)) {
                let begun = (row.valid_from, row.id, fact.clone());
                left.entry(fact.subject.clone()).or_default().push(begun);
            }
        }
        for version in log.iter().filter(|version| !self.memories.contains(&version.row.id)) {
            let row = &version.row;
            let Some((fact, end)) = row.fact.as_ref().zip(row.valid_to) else { continue };
            let begun = erased.get(&fact.subject).and_then(|begun| begun.get(&end));
            let Some(begun) = begun else { continue };
            let in_slot = |other: &Fact| other.attribute == fact.attribute;
            let by_nature = |other: &Fact| {
                exclude(fact, other) || in_slot(other) && is_single_valued(&fact.attribute)
            };
            let natural = begun.iter().any(by_nature);
            // A model may have said that it takes the place of whatever the slot held.
            if !natural && !begun.iter().any(in_slot) {
                continue;
            }
            let ends = |other: &Fact| by_nature(other) || !natural && in_slot(other);
            let others = left.get(&fact.subject).into_iter().flatten();
            // (What ended in the moment in which it began was not ended by itself, nor by what was told before it.)
            let own = (row.valid_from, row.id);
            let later = |start: Timestamp, id: MemoryId| start >= end && (start, id) > own;
            let next = others.filter(|(start, id, other)| later(*start, *id) && ends(other));
            let until = next.map(|(start, ..)| *start).min();
            if until == Some(end) {
                // What ended it is left.
                continue;
            }
            self.reopened.entry(row.id).or_insert((BTreeSet::new(), until)).0.insert(end);
        }
    }

    /// Until when a fact holds that ended then; `None`: it was not ended by what is erased.
    fn holds_until(&self, id: MemoryId, end: Option<Timestamp>) -> Option<Option<Timestamp>> {
        let (ends, until) = self.reopened.get(&id)?;
        end.is_some_and(|end| ends.contains(&end)).then_some(*until)
    }

    /// The reason names nobody and quotes nothing that is erased; of a fact that holds again it goes.
    pub(super) fn retirement(&self, row: &Retirement) -> Fate<Retirement> {
        if self.memories.contains(&row.memory) {
            return Fate::Delete;
        }
        let until = self.holds_until(row.memory, row.valid_to);
        if until == Some(None) {
            return Fate::Delete;
        }
        // Older stores quote the newer fact: it may be what is erased.
        let reason = match row.reason.strip_prefix("superseded: ") {
            Some(_) => "superseded".to_owned(),
            None => self.strike(&row.reason),
        };
        let new = Retirement { reason, valid_to: until.unwrap_or(row.valid_to), ..row.clone() };
        if new == *row { Fate::Keep } else { Fate::Rewrite(new) }
    }

    /// What was decided about an erased memory, or for its sake.
    pub(super) fn decision(&self, row: &Decision) -> bool {
        let gone = |id: &MemoryId| self.memories.contains(id);
        let ended = row.action == FactAction::Retire
            && self.holds_until(row.memory, Some(row.at)).is_some();
        gone(&row.memory) || row.other.as_ref().is_some_and(gone) || ended
    }

    /// What an erased utterance repeats goes from its turn, too, whosever voice that turn was given.
    pub(super) fn take_words(&mut self, row: &MemoryRow) {
        if row.kind != MemoryKind::Utterance {
            return;
        }
        let turns = row.grounds.iter().filter_map(|ground| match ground {
            Ground::Turn(clip, turn) => Some((clip.session, *turn)),
            _ => None,
        });
        self.wordless.extend(turns);
    }

    /// Whether the memory is about nobody else (be it by a name without an id), states a fact of a thing, or is what the
    /// target itself said.
    fn owns(&self, row: &MemoryRow) -> bool {
        let linked = row.links();
        let about = linked.iter().any(|id| self.ids.contains(id));
        let others = linked.iter().any(|id| !self.ids.contains(id) && *id != EntityId::ROBOT);
        let said = row.kind == MemoryKind::Utterance
            && row
                .grounds
                .iter()
                .any(|ground| matches!(ground, Ground::Turn(..)) && self.has(ground));
        said || (about && !others) || self.tells_of(row) || is_about(row, self.called.values())
    }

    /// Whether a part of that summary repeats what is erased: the memory itself may be long gone.
    fn repeats(&self, summary: &MemoryRow, part: &str) -> bool {
        let mentions = mention::mentions(part);
        let own = |id: &EntityId| self.ids.contains(id);
        let about = mentions.iter().any(|one| own(&one.entity));
        let others = mentions.iter().any(|one| !own(&one.entity) && one.entity != EntityId::ROBOT);
        let quote = summary::is_quote(part);
        let said = quote && mentions.first().is_some_and(|one| own(&one.entity));
        let aged = quote && self.words_before.is_some_and(|before| summary.span.end < before);
        said || aged || (about && !others) || self.sentences.contains(part)
    }

    fn takes_words_of(&self, ground: &Ground) -> bool {
        matches!(ground, Ground::Turn(clip, turn) if self.wordless.contains(&(clip.session, *turn)))
    }

    fn has(&self, ground: &Ground) -> bool {
        match ground {
            Ground::Track(clip, track) => self.tracks.contains(&(*clip, *track)),
            Ground::Object(clip, track) => self.objects.contains(&(*clip, *track)),
            Ground::Text(clip, track) => self.texts.contains(&(*clip, *track)),
            Ground::Turn(clip, turn) => self.turns.contains(&(clip.session, *turn)),
            Ground::Memory(id) => self.memories.contains(id),
            Ground::Answer(_) => false,
        }
    }

    pub(super) fn sessions(&self) -> BTreeSet<SessionId> {
        let tracks = self.tracks.iter().chain(&self.objects).chain(&self.texts);
        let tracks = tracks.map(|(clip, _)| clip.session);
        let turns = self.turns.iter().chain(&self.wordless).map(|(session, _)| *session);
        tracks.chain(turns).collect()
    }

    /// Whether texts that stay are looked through at all.
    pub(super) fn strikes(&self) -> bool {
        !self.ids.is_empty() || !self.struck.is_empty()
    }

    /// A sentence without mentions of whoever is erased, and without their names.
    pub(super) fn strike(&self, text: &str) -> String {
        let own = mention::mentions(text).into_iter().filter(|one| self.ids.contains(&one.entity));
        self.strike_with(text, own.map(|one| one.range).collect())
    }

    /// The same of words about ids, which stand there without brackets.
    pub(super) fn strike_reason(&self, text: &str) -> String {
        let own = |id: &EntityId| self.ids.contains(id);
        let spelled = mention::spelled(text).into_iter();
        let gone = spelled.filter(|one| one.id.as_ref().is_some_and(own)).map(|one| one.range);
        self.strike_with(text, gone.collect())
    }

    fn strike_with(&self, text: &str, mut gone: Vec<Range<usize>>) -> String {
        gone.extend(self.struck.places(text));
        gone.sort_by_key(|place| place.start);
        without(text, &gone)
    }

    /// Whether a sample of a face or voice goes.
    pub(super) fn takes_sample(&self, row: &Exemplar) -> bool {
        self.ids.contains(&row.entity) || self.span.is_some_and(|span| span.contains(row.at))
    }

    /// Whether a name was heard in a turn that is erased, or read in a time that is, and is known by nothing else.
    pub(super) fn unhears(&self, row: &NameRow) -> bool {
        let read = row.source == NameSource::Read;
        if read && self.span.is_some_and(|span| span.contains(row.since)) {
            return true;
        }
        row.source != NameSource::Told && row.turn.is_some_and(|turn| self.turns.contains(&turn))
    }

    /// A name of somebody else that holds one which is struck; `known`: which name of whom first became that.
    pub(super) fn name(
        &self,
        row: &NameRow,
        known: &mut HashMap<(EntityId, String), String>,
    ) -> Fate<NameRow> {
        if self.ids.contains(&row.entity) || self.unhears(row) {
            return Fate::Delete;
        }
        let name = self.struck.text(&row.name);
        if name == row.name {
            return Fate::Keep;
        }
        // Two names that are one now would be two rows under one key.
        let first = known.entry((row.entity, name.clone())).or_insert_with(|| row.name.clone());
        if name.trim() == ERASED || *first != row.name {
            return Fate::Delete;
        }
        Fate::Rewrite(NameRow { name, ..row.clone() })
    }

    pub(super) fn clip(&self, row: &Clip) -> Fate<Clip> {
        let seen = self.seen.get(&row.id);
        let gone = |at: Timestamp| {
            self.span.is_some_and(|span| span.contains(at))
                || seen.is_some_and(|spans| spans.iter().any(|span| span.contains(at)))
        };
        let mut new = row.clone();
        new.key_frames.retain(|(_, at, _)| !gone(*at));
        for (source, _, _) in &mut new.key_frames {
            *source = SourceId::new(&self.struck.label(source.as_str()));
        }
        if new == *row { Fate::Keep } else { Fate::Rewrite(new) }
    }

    pub(super) fn turn(&self, row: &TurnRow) -> Fate<TurnRow> {
        if self.turns.contains(&row.key()) {
            return Fate::Delete;
        }
        let aged = self.words_before.is_some_and(|before| row.span.end < before);
        if (aged || self.wordless.contains(&row.key()))
            && (row.words.is_some() || row.sound.is_some())
        {
            return Fate::Rewrite(TurnRow { words: None, sound: None, ..row.clone() });
        }
        let Some(words) = row.words.as_ref().filter(|_| self.strikes()) else { return Fate::Keep };
        let (text, list) = (self.strike(&words.text), self.struck.words(&words.words));
        if text == words.text && list == words.words {
            return Fate::Keep;
        }
        let words = Transcript { text, words: list, ..words.clone() };
        Fate::Rewrite(TurnRow { words: Some(words), ..row.clone() })
    }

    /// A watch that names whoever is erased goes; in the words of others names are struck.
    pub(super) fn watch(&self, row: &WatchRow) -> Fate<WatchRow> {
        let who = row.rule.who.trim();
        let ids = [row.entity, who.parse::<EntityId>().ok()];
        let is_own = ids.iter().flatten().any(|id| self.ids.contains(id));
        if is_own || !self.struck.places(who).is_empty() {
            return Fate::Delete;
        }
        let mut new = row.clone();
        for text in [&mut new.rule.say, &mut new.rule.place].into_iter().flatten() {
            *text = self.strike_reason(text);
        }
        if new == *row { Fate::Keep } else { Fate::Rewrite(new) }
    }

    /// Whether a memory that stays may have to be rewritten.
    fn touches(&self, row: &MemoryRow) -> bool {
        let is_own = |id: &EntityId| self.ids.contains(id);
        let tells = |text: &str| {
            mention::mentions(text).iter().any(|one| is_own(&one.entity))
                || !self.struck.places(text).is_empty()
        };
        let states = |fact: &Fact| {
            let fields = [&fact.subject, &fact.attribute, &fact.value];
            fields.iter().any(|field| field.parse().is_ok_and(|id| is_own(&id)) || tells(field))
        };
        row.kind == MemoryKind::Summary
            || self.reopened.contains_key(&row.id)
            || row.entities.iter().any(is_own)
            || row.grounds.iter().any(|ground| self.has(ground))
            || tells(&row.text)
            || row.fact.as_ref().is_some_and(states)
    }

    pub(super) fn memory(&self, row: &MemoryRow) -> Fate<MemoryRow> {
        if self.memories.contains(&row.id) {
            return Fate::Delete;
        }
        if !self.touches(row) {
            return Fate::Keep;
        }
        let mut new = row.clone();
        new.text = match row.kind {
            MemoryKind::Summary => {
                let left = summary::without(&row.text, |part| self.repeats(row, part));
                self.strike(&left)
            }
            _ => self.strike(&row.text),
        };
        if let Some(until) = self.holds_until(row.id, row.valid_to) {
            new.valid_to = until;
        }
        new.entities.retain(|id| !self.ids.contains(id));
        new.grounds.retain(|ground| !self.has(ground));
        if let Some(fact) = &mut new.fact {
            for field in [&mut fact.subject, &mut fact.attribute, &mut fact.value] {
                let named = field.parse::<EntityId>().is_ok_and(|id| self.ids.contains(&id));
                *field = if named { ERASED.to_owned() } else { self.strike(field) };
            }
        }
        if new == *row { Fate::Keep } else { Fate::Rewrite(new) }
    }
}
