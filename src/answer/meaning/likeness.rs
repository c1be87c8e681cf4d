//! How near terms are to each other: by the word, the thesaurus, and what the lexicon says that they tell of.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::language::Language;
use crate::language::thesaurus::{Part, field};

use crate::language::lexicon::Lexicon;
use crate::language::text::{Term, WordId};

/// Below this, words are nothing to each other.
const LEAST: f32 = 0.5;
/// From here on they tell the same.
pub(super) const ALIKE: f32 = 0.6;
/// One word as two parts of speech.
const OTHER_PART: f32 = 0.95;
/// A kind of what was asked for: "violin" for "instrument".
const A_KIND: f32 = 0.7;
/// What a frame of the lexicon is worth beside a synonym.
const BY_FRAME: f32 = 0.9;

/// Compares terms; knows how rare each is among what was told, and who is a person.
pub(super) struct Likeness<'a> {
    pub(super) language: &'a Language,
    persons: HashSet<&'a str, RandomState>,
    /// In how many notes each lemma stands.
    frequency: HashMap<&'a str, usize, RandomState>,
    notes: usize,
    /// How near words are.
    near: Pairs,
    /// … by the lexicon's frames.
    framed: Pairs,
    /// Whether one says the contrary.
    contrary: Pairs,
}

/// What was found out about pairs of words: by the asked one, of each told one; NaN: not yet.
#[derive(Default)]
struct Pairs(RefCell<BTreeMap<WordId, Vec<f32>>>);

impl Pairs {
    fn of(&self, asked: &Term, told: &Term, find: impl FnOnce() -> f32) -> f32 {
        let mut known = self.0.borrow_mut();
        let row = known.entry(asked.word).or_default();
        let at = told.word.index();
        if row.len() <= at {
            row.resize(at + 1, f32::NAN);
        }
        if row[at].is_nan() {
            row[at] = find();
        }
        row[at]
    }
}

impl<'a> Likeness<'a> {
    /// `notes`: the terms of each; `persons`: names that are of people.
    pub(super) fn new<T>(
        language: &'a Language,
        persons: HashSet<&'a str, RandomState>,
        notes: impl Iterator<Item = T>,
    ) -> Self
    where
        T: Iterator<Item = &'a Term>,
    {
        // By lemma, in how many notes it stands, and in which it stood last.
        let mut held: HashMap<&str, (usize, usize), RandomState> = HashMap::default();
        let mut count = 0;
        for terms in notes {
            count += 1;
            for term in terms {
                let (notes, last) = held.entry(&term.lemma).or_default();
                if *last != count {
                    (*notes, *last) = (*notes + 1, count);
                }
            }
        }
        let frequency = held.into_iter().map(|(lemma, (notes, _))| (lemma, notes)).collect();
        let (near, framed, contrary) = <(Pairs, Pairs, Pairs)>::default();
        Self { language, persons, frequency, notes: count, near, framed, contrary }
    }

    /// How much a lemma tells: BM25's inverse document frequency.
    pub(super) fn rarity(&self, lemma: &str) -> f32 {
        let held = self.frequency.get(lemma).copied().unwrap_or(0) as f32;
        (1.0 + (self.notes as f32 - held + 0.5) / (held + 0.5)).ln()
    }

    /// [`Self::rarity`], for sums in which every term has a share.
    pub(super) fn weight(&self, term: &Term) -> f32 {
        self.rarity(&term.lemma).max(0.3)
    }

    /// How near a told term is to an asked one, 0 to 1.
    pub(super) fn of(&self, asked: &Term, told: &Term) -> f32 {
        if asked.alias.as_ref().is_some_and(|name| *name == told.lemma) {
            return 1.0;
        }
        self.near.of(asked, told, || self.compare(asked, told))
    }

    /// How near they are by what the lexicon says that they tell of, 0 to 1.
    pub(super) fn framed(&self, asked: &Term, told: &Term) -> f32 {
        self.framed.of(asked, told, || Lexicon::english().near(&asked.lemma, &told.lemma))
    }

    fn compare(&self, asked: &Term, told: &Term) -> f32 {
        let same = asked.lemma == told.lemma;
        if asked.is_name || told.is_name {
            return f32::from(same);
        }
        if same {
            return if asked.part == told.part { 1.0 } else { OTHER_PART };
        }
        let near = self.language.thesaurus.near(&asked.lemma, asked.part);
        let near = near.get(&(told.lemma.clone(), told.part)).copied().unwrap_or(0.0);
        let nouns = asked.part == Part::Noun && told.part == Part::Noun && told.lemma.len() > 2;
        let kind =
            nouns && near < A_KIND && self.language.thesaurus.is_a(&told.lemma, &asked.lemma);
        let frame = self.framed(asked, told) * BY_FRAME;
        let most = near.max(frame).max(if kind { A_KIND } else { 0.0 });
        if most < LEAST { 0.0 } else { most }
    }

    /// The nearest of some told terms.
    pub(super) fn best<'t>(&self, asked: &Term, told: impl Iterator<Item = &'t Term>) -> f32 {
        told.map(|term| self.of(asked, term)).fold(0.0, f32::max)
    }

    /// Whether each asked term is met by one of the told.
    pub(super) fn all(&self, asked: &[&Term], told: &[&Term]) -> bool {
        asked.iter().all(|term| self.best(term, told.iter().copied()) >= ALIKE)
    }

    /// Whether it means somebody.
    pub(super) fn is_person(&self, term: &Term) -> bool {
        match term.is_name {
            true => self.persons.contains(term.lemma.as_str()),
            false => {
                term.part == Part::Noun && self.language.thesaurus.is_of(&term.lemma, field::PERSON)
            }
        }
    }

    /// Whether two nouns are of one sort (two colours, two foods), neither a name.
    pub(super) fn are_rivals(&self, one: &Term, other: &Term) -> bool {
        let field =
            |term: &Term| self.language.thesaurus.fields(&term.lemma, Part::Noun).first().copied();
        !one.is_name && !other.is_name && field(one).is_some_and(|of| field(other) == Some(of))
    }

    /// Whether one says the contrary of the other, or ends what it began.
    pub(super) fn is_contrary(&self, asked: &Term, told: &Term) -> bool {
        let is_so = || self.is_contrary_of(asked, &told.lemma, told.part);
        self.contrary.of(asked, told, || f32::from(is_so())) > 0.0
    }

    /// The same of a word that is no term.
    pub(super) fn is_contrary_of(&self, asked: &Term, told: &str, part: Part) -> bool {
        let verb = asked.lemma.split('_').next().unwrap_or("");
        let lexicon = Lexicon::english();
        lexicon.ends(&asked.lemma, told)
            || lexicon.ends(verb, told)
            || asked.part == part && self.language.thesaurus.is_opposite(&asked.lemma, told, part)
    }
}
