//! Names, ready for the texts that are looked through for them: every word of a question may be one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::ids::{EntityId, EntityKind};
use crate::names::{
    Heard, Name, SoundIndex, Text, folded, is_unusual, may_be_one, parted, unusual_places,
};

use crate::memory::versions::temporal::Moment;

/// Who is called what at one moment.
pub(crate) struct Called {
    pub(in crate::memory) at: Moment,
    /// Whose a name is, by the name as names are compared.
    by_name: BTreeMap<String, BTreeSet<EntityId>>,
    /// Whose a name is behind which title, by the name without it.
    titled: BTreeMap<String, BTreeSet<(&'static str, EntityId)>>,
    /// Names that count wherever they stand in a text.
    in_texts: Vec<(Name, EntityId)>,
    /// People's and places' names, which may be heard.
    spoken: Vec<(String, EntityId)>,
    /// The same by their sound, made when it is asked for.
    sounds: OnceLock<Arc<SoundIndex>>,
    /// Those that are more than a few plain words, as names are compared.
    unusual: Vec<String>,
}

impl Called {
    pub(in crate::memory) fn at(at: Moment) -> Self {
        let (by_name, titled, in_texts, spoken, unusual) = Default::default();
        Self { at, by_name, titled, in_texts, spoken, sounds: OnceLock::new(), unusual }
    }

    /// Takes over what an earlier moment has made, where nobody was named since.
    pub(in crate::memory) fn after(&mut self, earlier: &Self) {
        self.spoken.sort();
        if self.spoken == earlier.spoken
            && let Some(sounds) = earlier.sounds.get()
        {
            self.sounds.set(Arc::clone(sounds)).ok();
        }
    }

    /// The names that are heard in a text: what sounds like somebody's or some place's, and is written otherwise.
    pub(in crate::memory) fn heard_in(
        &self,
        text: &Text<'_>,
        doubted: &[Range<usize>],
    ) -> Vec<Heard> {
        let make = || {
            let mut spoken = self.spoken.clone();
            spoken.sort();
            Arc::new(SoundIndex::new(spoken.iter().map(|(name, who)| (name.as_str(), *who))))
        };
        self.sounds.get_or_init(make).heard_in(text, doubted)
    }

    /// Takes in the name of `entity`, which is `who` now.
    pub(in crate::memory) fn put(&mut self, name: &str, entity: EntityId, who: EntityId) {
        let as_compared = folded(name);
        if let Some((title, bare)) = parted(&as_compared) {
            self.titled.entry(bare.to_owned()).or_default().insert((title, who));
        }
        if entity.kind != EntityKind::Place
            && is_unusual(&as_compared)
            && !self.unusual.contains(&as_compared)
        {
            self.unusual.push(as_compared.clone());
        }
        self.by_name.entry(as_compared).or_default().insert(who);
        if entity.kind != EntityKind::Object {
            self.spoken.push((name.to_owned(), who));
        }
        // "The kitchen" in a sentence is a word first, whether a place is called so or not.
        if entity.kind != EntityKind::Place {
            self.in_texts.push((Name::new(name), who));
        }
    }

    /// Everyone and everything of that name, ascending.
    pub(in crate::memory) fn so(&self, name: &str) -> Vec<EntityId> {
        self.by_name.get(&folded(name)).into_iter().flatten().copied().collect()
    }

    /// The one who is called so but for a title: "Dr Novak" and "Novak" may be who was named "Doctor Novak", "Mrs Novak" is
    /// not. `None` where nobody is, or more than one.
    pub(in crate::memory) fn but_for_title(&self, name: &str) -> Option<EntityId> {
        let name = folded(name);
        let found: BTreeSet<EntityId> = match parted(&name) {
            Some((title, bare)) => {
                let plain = self.by_name.get(bare).into_iter().flatten().copied();
                let titled = self.titled.get(bare).into_iter().flatten();
                let same = titled.filter(|(other, _)| may_be_one(title, other));
                plain.chain(same.map(|(_, who)| *who)).collect()
            }
            None => self.titled.get(&name).into_iter().flatten().map(|(_, who)| *who).collect(),
        };
        found.first().copied().filter(|_| found.len() == 1)
    }

    /// The text with ids where names stand that are more than a few plain words: whoever takes it apart into words would take
    /// them apart, too. Of several of one name, persons come first, then the lowest id.
    pub(in crate::memory) fn with_ids<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let places = unusual_places(text, &self.unusual);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut from) = (String::with_capacity(text.len()), 0);
        for (range, number) in places {
            let whose = self.unusual.get(number).and_then(|name| self.by_name.get(name));
            let person = |id: &&EntityId| id.kind == EntityKind::Person;
            let id = whose.and_then(|ids| ids.iter().find(person).or_else(|| ids.first()));
            let Some(id) = id else { continue };
            out.push_str(text.get(from..range.start).unwrap_or_default());
            out.push_str(&id.to_string());
            from = range.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Whose name stands in the text.
    pub(in crate::memory) fn named_in(&self, text: &Text<'_>) -> impl Iterator<Item = EntityId> {
        self.in_texts.iter().filter(move |(name, _)| text.holds(name)).map(|(_, who)| *who)
    }
}
