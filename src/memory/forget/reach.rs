//! What a target of erasing reaches: percepts, memories and what was concluded from them, names in other texts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use unicode_segmentation::UnicodeSegmentation;

use super::{ERASED, summary};
use crate::ids::{ClipId, EntityId, MemoryId, SessionId, TrackId, TurnId};
use crate::memory::filter::overlaps;
use crate::memory::model::{
    Clip, Decision, FactAction, Ground, MemoryKind, MemoryRow, Retirement, TurnRow,
};
use crate::memory::tables::Tables;
use crate::memory::temporal::Temporal as _;
use crate::mention;
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
    /// Names to be struck from other texts.
    pub(super) names: BTreeSet<String>,
    pub(super) tracks: HashSet<(ClipId, TrackId)>,
    pub(super) objects: HashSet<(ClipId, TrackId)>,
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
        let others: BTreeSet<String> = others.iter().map(|row| row.name.to_lowercase()).collect();
        reach.names = own
            .iter()
            .map(|row| row.name.to_lowercase())
            .filter(|name| !others.contains(name))
            .collect();
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
        for version in tables.turns.log().iter() {
            let row = &version.row;
            if row.voice.is_some_and(|voice| reach.ids.contains(&voice)) || in_span(row.span) {
                reach.turns.insert(row.key());
            }
        }
        for version in tables.memories.log().iter() {
            let row = &version.row;
            if in_span(row.span) || reach.owns(row) {
                reach.memories.insert(row.id);
                reach.take_words(row);
            }
        }
        // What was concluded from erased memories alone goes with them.
        loop {
            let before = reach.memories.len();
            for version in tables.memories.log().iter() {
                let row = &version.row;
                // That somebody was heard does not rest on the words.
                let by_words = row.kind != MemoryKind::Episodic;
                let gone = |ground: &Ground| {
                    reach.has(ground) || (by_words && reach.takes_words_of(ground))
                };
                if !row.grounds.is_empty() && row.grounds.iter().all(gone) {
                    reach.memories.insert(row.id);
                }
            }
            if reach.memories.len() == before {
                break;
            }
        }
        for version in tables.memories.log().iter() {
            if reach.memories.contains(&version.row.id) {
                reach.sentences.insert(summary::sentence(&version.row.text));
            }
        }
        if !reach.aged {
            reach.reopen(tables);
        }
    }

    /// What an erased fact had replaced holds again: for good, or until the next value that is left.
    fn reopen(&mut self, tables: &Tables) {
        let slot = |row: &MemoryRow| {
            row.fact.as_ref().map(|fact| (fact.subject.clone(), fact.attribute.clone()))
        };
        // When values of a slot began: erased ones at any time, those that are left as they are known now.
        let mut erased: HashMap<_, BTreeSet<Timestamp>> = HashMap::new();
        let mut left: HashMap<_, BTreeSet<(Timestamp, MemoryId)>> = HashMap::new();
        for version in tables.memories.log().iter() {
            let row = &version.row;
            let Some(slot) = slot(row) else { continue };
            if self.memories.contains(&row.id) {
                erased.entry(slot).or_default().insert(row.valid_from);
            } else if version.retired_seq().is_none() {
                left.entry(slot).or_default().insert((row.valid_from, row.id));
            }
        }
        if erased.is_empty() {
            return;
        }
        for version in tables.memories.log().iter() {
            let row = &version.row;
            let Some(slot) = slot(row).filter(|_| !self.memories.contains(&row.id)) else {
                continue;
            };
            let Some(end) = row.valid_to else { continue };
            if !erased.get(&slot).is_some_and(|starts| starts.contains(&end)) {
                continue;
            }
            let mut others = left.get(&slot).into_iter().flatten();
            let next = others.find(|other| **other > (row.valid_from, row.id));
            let until = next.map(|(start, _)| *start);
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

    /// Whether the memory is about nobody else, or is what the target itself said.
    fn owns(&self, row: &MemoryRow) -> bool {
        let linked = row.links();
        let about = linked.iter().any(|id| self.ids.contains(id));
        let others = linked.iter().any(|id| !self.ids.contains(id) && *id != EntityId::ROBOT);
        let said = row.kind == MemoryKind::Utterance
            && row
                .grounds
                .iter()
                .any(|ground| matches!(ground, Ground::Turn(..)) && self.has(ground));
        said || (about && !others)
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
            Ground::Turn(clip, turn) => self.turns.contains(&(clip.session, *turn)),
            Ground::Memory(id) => self.memories.contains(id),
            Ground::Answer(_) => false,
        }
    }

    pub(super) fn sessions(&self) -> BTreeSet<SessionId> {
        let tracks = self.tracks.iter().chain(&self.objects).map(|(clip, _)| clip.session);
        let turns = self.turns.iter().chain(&self.wordless).map(|(session, _)| *session);
        tracks.chain(turns).collect()
    }

    pub(super) fn strike(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for mention in mention::mentions(text) {
            if self.ids.contains(&mention.entity) {
                out.push_str(&strike_names(&text[from..mention.range.start], &self.names));
                out.push_str(ERASED);
                from = mention.range.end;
            }
        }
        out.push_str(&strike_names(&text[from..], &self.names));
        out
    }

    pub(super) fn clip(&self, row: &Clip) -> Fate<Clip> {
        let seen = self.seen.get(&row.id);
        let gone = |at: Timestamp| {
            self.span.is_some_and(|span| span.contains(at))
                || seen.is_some_and(|spans| spans.iter().any(|span| span.contains(at)))
        };
        if !row.key_frames.iter().any(|(_, at, _)| gone(*at)) {
            return Fate::Keep;
        }
        let mut row = row.clone();
        row.key_frames.retain(|(_, at, _)| !gone(*at));
        Fate::Rewrite(row)
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
        let Some(words) = &row.words else { return Fate::Keep };
        let text = self.strike(&words.text);
        if text == words.text {
            return Fate::Keep;
        }
        // A name may be several words: each of its words goes where it stands alone in the list.
        let parts: BTreeSet<String> =
            self.names.iter().flat_map(|name| words_of(name).map(|(_, word)| word)).collect();
        let words = Transcript {
            text,
            words: words
                .words
                .iter()
                .map(|word| {
                    let mut word = word.clone();
                    word.text = strike_names(&word.text, &parts).into();
                    word
                })
                .collect(),
            ..words.clone()
        };
        Fate::Rewrite(TurnRow { words: Some(words), ..row.clone() })
    }

    pub(super) fn memory(&self, row: &MemoryRow) -> Fate<MemoryRow> {
        if self.memories.contains(&row.id) {
            return Fate::Delete;
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

/// Lower-cased words with their places; a possessive 's is no part of them.
pub(super) fn words_of(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, String)> + '_ {
    text.unicode_word_indices().map(|(at, word)| {
        let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        (at..at + bare.len(), bare.to_lowercase())
    })
}

/// Replaces each name (lower case) where it stands as whole words.
pub(super) fn strike_names(text: &str, names: &BTreeSet<String>) -> String {
    let words: Vec<_> = words_of(text).collect();
    let names: Vec<Vec<String>> =
        names.iter().map(|name| words_of(name).map(|(_, word)| word).collect()).collect();
    let mut out = String::with_capacity(text.len());
    let (mut from, mut at) = (0, 0);
    while at < words.len() {
        let longest = names
            .iter()
            .filter(|name| {
                !name.is_empty()
                    && words[at..].len() >= name.len()
                    && words[at..].iter().zip(name.iter()).all(|((_, word), part)| word == part)
            })
            .map(Vec::len)
            .max();
        let Some(len) = longest else {
            at += 1;
            continue;
        };
        out.push_str(&text[from..words[at].0.start]);
        out.push_str(ERASED);
        from = words[at + len - 1].0.end;
        at += len;
    }
    out.push_str(&text[from..]);
    out
}
