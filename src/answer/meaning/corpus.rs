//! What was told, read, as one question sees it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use compact_str::CompactString;
use foldhash::fast::RandomState;
use jiff::tz::TimeZone;

use crate::language::clause::{Role, Tree};
use crate::language::thesaurus::field;
use crate::time::{Span, Timestamp};

use super::Told;
use super::dialogue::{Heard, Utterance};
use super::likeness::{ALIKE, Likeness};
use super::naming::{Naming, namings_of};
use super::place::{Place, places_of};
use super::question::Question;
use super::wording::capitalised;
use crate::language::lexicon::Lexicon;
use crate::language::text::{Reader, Sentence, Term};

/// A told text, read once.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) sentences: Vec<Sentence>,
    pub(super) places: Vec<Place>,
    pub(super) namings: Vec<Naming>,
    /// Terms of what was said right before it.
    around: Vec<Term>,
    /// The words that were read: a fragment is made whole.
    text: String,
    /// Which of the lines before it a fragment replies to.
    pub(super) replies_to: Option<usize>,
    /// The question word of that line, its lemma.
    pub(super) asked: Option<CompactString>,
    /// Somebody had asked why.
    pub(super) is_reason: bool,
}

impl Read {
    pub(super) fn of(reader: &Reader<'_>, told: &Told) -> Self {
        let (text, at) = (&told.text, told.at);
        let utterance = match &told.heard {
            None => Utterance::told(reader.read(text, at), text),
            Some(heard) => Utterance::read(reader, heard, text, at),
        };
        let Utterance { sentences, around, text, replies_to, asked, is_reason } = utterance;
        let is_person = |sentence: &Sentence, at: usize| {
            let word = &sentence.words[at];
            reader.is_name(&word.lemma)
                || reader.language.thesaurus.is_of(&word.lemma, field::PERSON)
        };
        let places = places_of(&sentences, at, reader.language, &is_person);
        let namings = namings_of(reader, &sentences);
        Self { sentences, places, namings, around, text, replies_to, asked, is_reason }
    }

    /// Every term of it.
    pub(super) fn terms(&self) -> impl Iterator<Item = &Term> + Clone {
        self.sentences.iter().flat_map(|sentence| &sentence.terms)
    }

    /// Every term of it, but of a sentence, and of what was said right before it.
    pub(super) fn terms_beside(&self, but: Option<usize>) -> impl Iterator<Item = &Term> + Clone {
        let others = self.sentences.iter().enumerate().filter(move |(at, _)| Some(*at) != but);
        others.flat_map(|(_, one)| &one.terms).chain(&self.around)
    }
}

/// One note.
pub(super) struct Note {
    pub(super) told: Timestamp,
    pub(super) text: String,
    /// Who said it; `None`: it was told, or nobody knows.
    pub(super) heard: Option<Heard>,
    pub(super) read: Arc<Read>,
    /// Cosine of its vector to the question's; 0 without.
    pub(super) cosine: f32,
}

/// The notes that one question is answered from, oldest first.
pub(super) struct Corpus<'a> {
    pub(super) notes: &'a [Note],
    pub(super) likeness: Likeness<'a>,
    pub(super) zone: TimeZone,
    /// Every place that was told, oldest first: note, place.
    places: Vec<(usize, &'a Place)>,
}

/// How much of a theme must be named where its place is told.
const NAMED: f32 = 0.5;
/// So much less may be named in a newer place.
const TOLERANCE: f32 = 0.15;
/// A theme's head must be so near.
const HEAD: f32 = 0.65;

impl<'a> Corpus<'a> {
    pub(super) fn new(reader: &Reader<'a>, notes: &'a [Note]) -> Self {
        let sentences = || notes.iter().flat_map(|note| &note.read.sentences);
        let persons = persons(sentences());
        let terms = notes.iter().map(|note| note.read.terms());
        let likeness = Likeness::new(reader.language, persons, terms);
        let of =
            |(at, note): (usize, &'a Note)| note.read.places.iter().map(move |place| (at, place));
        let mut places: Vec<(usize, &Place)> = notes.iter().enumerate().flat_map(of).collect();
        places.sort_by_key(|(note, place)| (place.since, *note, place.sentence, place.at));
        Self { notes, likeness, zone: reader.zone.clone(), places }
    }

    pub(super) fn sentence(&self, note: usize, place: &Place) -> &'a Sentence {
        &self.notes[note].read.sentences[place.sentence]
    }

    /// Every sentence: note, its index there.
    pub(super) fn sentences(&self) -> impl Iterator<Item = (usize, usize, &'a Sentence)> + '_ {
        let of = |(at, note): (usize, &'a Note)| {
            let says = note.read.sentences.iter().enumerate().filter(|(_, read)| !read.asks);
            says.map(move |(sentence, read)| (at, sentence, read))
        };
        self.notes.iter().enumerate().flat_map(of)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = (usize, &'a Place)> + '_ {
        self.places.iter().copied()
    }

    /// Names of things and animals, newest last: note, naming.
    pub(super) fn namings(&self) -> impl Iterator<Item = (usize, &'a Naming)> + '_ {
        let of = |(at, note): (usize, &'a Note)| {
            note.read.namings.iter().map(move |naming| (at, naming))
        };
        self.notes.iter().enumerate().flat_map(of)
    }

    /// The terms of where something is.
    pub(super) fn inside(&self, note: usize, place: &Place) -> Vec<&'a Term> {
        let sentence = self.sentence(note, place);
        sentence.phrase(place.at).into_iter().map(|at| &sentence.terms[at]).collect()
    }

    /// Where a theme was told to be until then, the newest first, with how well it is named there.
    pub(super) fn whereabouts(
        &self,
        theme: &[&Term],
        head: &str,
        until: Timestamp,
    ) -> Vec<Found<'a>> {
        let known = self.places.iter().filter(|(_, place)| place.since <= until);
        let found = known.map(|&(note, place)| Found {
            note,
            place,
            named: self.is_named(theme, head, note, place),
        });
        let mut found: Vec<Found<'a>> = found.filter(|found| found.named > NAMED).collect();
        let best = found.iter().map(|found| found.named).fold(0.0, f32::max);
        found.retain(|found| found.named >= best - TOLERANCE);
        found.reverse();
        found
    }

    /// The newest place that is not denied, of the last word of a phrase that has one: the room of the box.
    pub(super) fn place_of(&self, phrase: &[&Term], until: Timestamp) -> Option<Found<'a>> {
        let of = |term: &&Term| {
            let found = self.whereabouts(&[*term], &term.lemma, until);
            found.into_iter().find(|found| !found.place.is_denied)
        };
        phrase.iter().rev().find_map(of)
    }

    /// How much of the asked terms stands in the theme of a place, 0 to 1; 0 where its head is another thing, or its owner
    /// somebody else.
    fn is_named(&self, asked: &[&Term], head: &str, note: usize, place: &Place) -> f32 {
        let sentence = self.sentence(note, place);
        let theme = || place.theme.iter().map(|&at| &sentence.terms[at]);
        let Some(thing) = asked.iter().find(|term| term.lemma == head) else { return 0.0 };
        let heads = theme().filter(|term| term.at == place.head);
        if self.likeness.best(thing, heads) < HEAD {
            return 0.0;
        }
        let (mut total, mut held) = (0.0, 0.0);
        for term in asked {
            let weight = self.likeness.rarity(&term.lemma).max(0.5);
            let mut near = self.likeness.best(term, theme());
            let is_owner = term.is_name && term.lemma != head;
            if near < ALIKE && is_owner {
                let Some(owned) = self.owned(term, thing, sentence, theme().any(|one| one.is_name))
                else {
                    return 0.0;
                };
                near = owned;
            } else if near < ALIKE && term.lemma != head {
                // Told again it is named in fewer words, never in others.
                let fewer = theme().all(|told| {
                    told.is_name || asked.iter().any(|one| self.likeness.of(one, told) >= ALIKE)
                });
                let around = self.likeness.best(term, sentence.terms.iter()) * 0.5;
                near = if fewer { 0.8 } else { near.max(around) };
            }
            total += weight;
            held += weight * near;
        }
        held / total
    }

    /// How sure it is that a thing told without its owner is somebody's; `None`: it is not.
    fn owned(&self, owner: &Term, thing: &Term, told: &Sentence, is_of_other: bool) -> Option<f32> {
        let mut sentences = self.sentences();
        let has = sentences.any(|(_, _, sentence)| {
            sentence.terms.iter().any(|term| term.is_name && term.lemma == owner.lemma)
                && self.likeness.best(thing, sentence.terms.iter()) >= 0.85
        });
        if is_of_other || !has {
            return None;
        }
        let somebody_else = |term: &Term| term.is_name && term.role == Some(Role::Agent);
        Some(if told.terms.iter().any(|term| term.lemma == owner.lemma) {
            1.0
        } else if told.terms.iter().any(somebody_else) {
            0.5
        } else {
            0.9
        })
    }

    /// The note that tells best of some terms, and when that was; `None`: none tells of them.
    pub(super) fn event(&self, terms: &[&Term]) -> Option<Event> {
        let total: f32 = terms.iter().map(|term| self.likeness.rarity(&term.lemma)).sum();
        let mut best: Option<Event> = None;
        for (note, _, sentence) in self.sentences() {
            let whole = &self.notes[note];
            let held = |term: &&Term| {
                let here = self.likeness.best(term, sentence.terms.iter());
                let around = whole.read.terms_beside(None);
                let near = if here < 0.5 { self.likeness.best(term, around) * 0.8 } else { here };
                near * self.likeness.rarity(&term.lemma)
            };
            let held = terms.iter().map(held).sum::<f32>() / total.max(0.1);
            if held < 0.55 || best.as_ref().is_some_and(|best| held <= best.held + 0.01) {
                continue;
            }
            let met = |told: &&Term| terms.iter().any(|term| self.likeness.of(term, told) > 0.5);
            let clause =
                sentence.terms.iter().filter(met).find_map(|term| term.clause).unwrap_or(0);
            let span = sentence.time_of(clause, whole.told).0;
            best = Some(Event { note, held, at: span.start });
        }
        best
    }

    /// Whether somebody was told to be gone.
    pub(super) fn is_gone(&self, found: &Found<'_>) -> bool {
        let sentence = self.sentence(found.note, found.place);
        let lexicon = Lexicon::english();
        let of = |(_, at): &(Role, usize)| *at == found.place.at;
        let clause = sentence.clauses.iter().find(|clause| clause.roles.iter().any(of));
        lexicon.is("gone", &sentence.words[found.place.at].lemma)
            || clause.is_some_and(|clause| lexicon.ends(sentence.verb(clause), "back"))
    }

    /// The words of a phrase as they were told; of "I" and "she" whom they mean.
    pub(super) fn say(&self, note: usize, sentence: &Sentence, at: usize) -> String {
        let whole = &self.notes[note];
        let is_pronoun = sentence.words[at].tag.starts_with("PRP");
        let meant = sentence.terms.iter().find(|term| is_pronoun && term.at == at && term.is_name);
        if let Some(name) = meant {
            let heard = whole.heard.iter();
            let before = heard.clone().flat_map(|heard| &heard.before);
            let lines = before.filter_map(|line| line.speaker.as_ref());
            let mut speakers = heard.filter_map(|heard| heard.speaker.as_ref()).chain(lines);
            let known = speakers.find(|one| one.to_lowercase().starts_with(name.lemma.as_str()));
            return known.cloned().unwrap_or_else(|| capitalised(&name.lemma));
        }
        let words = Tree::new(&sentence.words).phrase(at);
        let (Some(&first), Some(&last)) = (words.first(), words.last()) else {
            return String::new();
        };
        let range = sentence.words[first].span.start..sentence.words[last].span.end;
        whole.read.text.get(range).unwrap_or("").trim_matches([',', '.']).to_owned()
    }
}

/// A place that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) note: usize,
    pub(super) place: &'a Place,
    /// How much of the theme is named there, 0 to 1.
    pub(super) named: f32,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) note: usize,
    /// How much of it is told there, 0 to 1.
    pub(super) held: f32,
    pub(super) at: Timestamp,
}

/// Names that are of people: who does something, who is given something.
fn persons<'s>(sentences: impl Iterator<Item = &'s Sentence>) -> HashSet<&'s str, RandomState> {
    let mut votes: HashMap<&str, i32, RandomState> = HashMap::default();
    for term in sentences.flat_map(|sentence| &sentence.terms).filter(|term| term.is_name) {
        *votes.entry(&term.lemma).or_default() += match &term.role {
            Some(Role::Agent | Role::Recipient) => 2,
            Some(Role::Oblique(of)) if matches!(of.as_str(), "in" | "at" | "to" | "from") => -1,
            _ => 1,
        };
    }
    votes.into_iter().filter(|(_, votes)| *votes > 0).map(|(name, _)| name).collect()
}

/// When what a note tells happened, by what it says of the question's predicate.
pub(super) fn time_of(
    corpus: &Corpus<'_>,
    question: &Question,
    note: usize,
    sentence: usize,
) -> Span {
    let read = &corpus.notes[note].read.sentences[sentence];
    let told = corpus.notes[note].told;
    let key = question.keys.first().map(|&key| &question.terms[key]);
    let met = key.and_then(|key| {
        let near = |term: &&Term| corpus.likeness.of(key, term) >= 0.5;
        read.terms.iter().filter(near).find_map(|term| term.clause)
    });
    met.map_or_else(|| read.time(told).0, |clause| read.time_of(clause, told).0)
}
