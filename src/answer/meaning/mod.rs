//! What was told and what is asked, read alike: sentences to clauses with roles, the question to a clause with a hole.
//!
//! `text` reads a note once, `question` a question; `likeness` compares their words by the thesaurus and the lexicon (the
//! one file that knows what English verbs do); `place` and `claim` say what was where and what was so; `plan` answers what
//! takes several notes, `candidate` picks the one note that answers the rest. Nothing here knows of stores or views: notes
//! come in, a reply goes out.

mod asking;
mod candidate;
mod claim;
mod corpus;
mod describe;
mod dialogue;
mod features;
mod follow;
mod likeness;
mod naming;
mod place;
mod plan;
mod question;
mod stranger;
#[cfg(test)]
mod tests;
mod topic;
mod wording;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::tz::TimeZone;

use crate::language::Language;
use crate::language::clause::{Role, Tree};
use crate::time::Timestamp;

pub use dialogue::{Heard, Line, PAUSE_SECS};
pub use follow::Turn;

pub(super) use asking::{Asking, Kind};
use candidate::{Candidate, candidates};
use corpus::{Corpus, Note, Read, time_of};
use plan::{Asked, Finding, planned};
use question::Question;

use crate::language::lexicon::Lexicon;
use crate::language::parses::Parses;
use crate::language::text::{Reader, Vocabulary};

/// A text that was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// When.
    pub at: Timestamp,
    /// In plain words, names and all.
    pub text: String,
    /// Cosine of its vector to the question's; 0 without vectors.
    pub cosine: f32,
    /// Of what was heard: who spoke, and after what; `None`: it was told.
    pub heard: Option<Heard>,
    /// Of one out of many, the names that are known to be told there, in lower case: it is read for itself. `None`: it is
    /// read with the names of all.
    pub names: Option<BTreeSet<String>>,
}

impl Told {
    /// Its text and those that it was heard after.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let lines = self.heard.iter().flat_map(|heard| &heard.before);
        lines.map(|line| line.text.as_str()).chain([self.text.as_str()])
    }

    fn speakers(&self) -> impl Iterator<Item = &str> {
        let lines = self.heard.iter().flat_map(|heard| &heard.before);
        let speakers = lines.filter_map(|line| line.speaker.as_deref());
        speakers.chain(self.heard.iter().filter_map(|heard| heard.speaker.as_deref()))
    }
}

/// A reply to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Meant {
    /// The value first, then the note that tells it and when it was told.
    pub text: String,
    /// How likely it is right, 0 to 1.
    pub confidence: f32,
    /// The notes that it rests on, by their place in what was given.
    pub notes: Vec<usize>,
}

/// A sentence beside a question, for fitting.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What it would be answered with.
    pub text: String,
    /// Its note, by its place in what was given.
    pub note: usize,
    /// What it has in common with the question.
    pub features: Vec<(&'static str, f32)>,
}

/// So many sentences are looked at for fitting.
const JUDGED: usize = 20;
/// Below this nothing is answered.
const LEAST: f32 = 0.4;
/// So many of the answers that take several notes are right, at least; how well their notes fit says little more.
const PLANNED: f32 = 0.8;
/// So many texts are kept as they were read.
const KEPT: usize = 4096;
/// So many notes are quoted.
const QUOTED: usize = 4;

/// Reads and answers; keeps texts that it has read.
#[derive(Debug)]
pub struct Meaning {
    language: Arc<Language>,
    zone: TimeZone,
    /// A question goes on with what it began with.
    known: Mutex<Arc<Known>>,
}

/// What was read: words and texts.
#[derive(Debug, Default)]
struct Known {
    vocabulary: Vocabulary,
    parses: Parses,
    kept: Mutex<Kept>,
}

impl Known {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, reader: &Reader<'_>, told: &[Told], names: &[Names<'_>]) -> Vec<Note> {
        told.iter().zip(names).map(|(one, names)| self.note(reader, one, names)).collect()
    }

    /// One text, read with its names; as it was read before where nothing of what that depends on has changed.
    fn note(&self, reader: &Reader<'_>, one: &Told, names: &Names<'_>) -> Note {
        let reader = &Reader { names, ..*reader };
        let names: Vec<String> = one.texts().flat_map(|text| reader.names_in(text)).collect();
        let key = (one.at, one.text.clone(), one.heard.clone(), names);
        let known = self.kept().read.get(&key).cloned();
        let read = known.unwrap_or_else(|| {
            // Parsed outside the lock: other questions go on.
            let read = Arc::new(Read::of(reader, one));
            let mut kept = self.kept();
            if kept.read.len() >= KEPT {
                kept.read.clear();
            }
            Arc::clone(kept.read.entry(key).or_insert(read))
        });
        let (text, heard) = (one.text.clone(), one.heard.clone());
        Note { told: one.at, text, heard, read, cosine: one.cosine }
    }
}

/// The names that a text is read with.
type Names<'a> = Cow<'a, BTreeSet<String>>;

/// What a reading depends on: when it was told, the text, what it was heard after, and which of its words are names.
type Key = (Timestamp, String, Option<Heard>, Vec<String>);

/// Texts as they were read, and attributes of facts: whether each is a verb.
#[derive(Debug, Default)]
struct Kept {
    read: BTreeMap<Key, Arc<Read>>,
    verbs: BTreeMap<String, bool>,
    /// Of those that were read ahead.
    names: BTreeSet<String>,
}

impl Meaning {
    /// Times are read and told in `zone`.
    #[must_use]
    pub fn new(language: Arc<Language>, zone: TimeZone) -> Self {
        Self { language, zone, known: Mutex::default() }
    }

    /// What it reads with.
    #[must_use]
    pub(super) fn language(&self) -> &Language {
        &self.language
    }

    /// The reply to a question from what was told, oldest first; `None`: nothing there answers it. `people`: names that
    /// are known, in lower case. Costs in the order of the notes; each is parsed once.
    #[must_use]
    pub fn reply(
        &self,
        question: &str,
        told: &[Told],
        people: &BTreeSet<String>,
        now: Timestamp,
    ) -> Option<Meant> {
        if stranger::is_asked_of(question, told, people, &self.language) {
            return None;
        }
        self.beside(question, told, people, now, |asked| {
            let finding = match planned(asked) {
                Some(finding) => {
                    Finding { confidence: PLANNED + finding.confidence * 0.1, ..finding }
                }
                None if asked.question.kind == Kind::Whether => return None,
                None => quoted(asked)?,
            };
            Some(self.tell(asked.corpus, finding))
        })
    }

    /// The question, read, beside what was told.
    fn beside<R>(
        &self,
        question: &str,
        told: &[Told],
        people: &BTreeSet<String>,
        now: Timestamp,
        then: impl FnOnce(&Asked<'_>) -> R,
    ) -> R {
        let mut names = names_in(told.iter().map(|one| one.text.as_str()), &self.language);
        names.extend(people.iter().cloned());
        let each = self.names_of_each(told, &names);
        let known = self.known();
        let reader = self.reader(&names, &known);
        let notes = known.read(&reader, told, &each);
        let corpus = Corpus::new(&reader, &notes);
        let mut question = Question::read(&reader, question, now);
        describe::resolve(&corpus, &mut question);
        let candidates = candidates(&corpus, &question);
        let asked = Asked { corpus: &corpus, question: &question, candidates: &candidates, now };
        then(&asked)
    }

    /// Reads texts, so that the next question finds them read, as long as `keep_on` says so; the other arguments as of
    /// [`Self::reply`].
    pub fn read_ahead(&self, told: &[Told], people: &BTreeSet<String>, keep_on: &dyn Fn() -> bool) {
        let known = self.known();
        let whole = told.iter().filter(|one| one.names.is_none());
        let new = names_in(whole.map(|one| one.text.as_str()), &self.language);
        let names = {
            let mut kept = known.kept();
            kept.names.extend(new);
            kept.names.extend(people.iter().cloned());
            kept.names.clone()
        };
        let each = self.names_of_each(told, &names);
        let reader = self.reader(&names, &known);
        for (one, names) in told.iter().zip(&each).take_while(|_| keep_on()) {
            known.note(&reader, one, names);
        }
    }

    /// Parses what is in reading texts out of many, as long as `keep_on` says so, so that a question that reads them later is
    /// quicker: of many more than are kept as they were read.
    pub fn parse_ahead(&self, told: &[Told], keep_on: &dyn Fn() -> bool) {
        let (known, nobody) = (self.known(), BTreeSet::new());
        let each = self.names_of_each(told, &nobody);
        for (one, names) in told.iter().zip(&each).take_while(|_| keep_on()) {
            Read::of(&self.reader(names, &known), one);
        }
    }

    /// The names that each text is read with: `all`, or its own.
    fn names_of_each<'a>(&self, told: &[Told], all: &'a BTreeSet<String>) -> Vec<Names<'a>> {
        let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut each = Vec::with_capacity(told.len());
        for one in told {
            each.push(match &one.names {
                None => Cow::Borrowed(all),
                Some(known) => {
                    let mut names = known.clone();
                    for text in one.texts() {
                        let new = || names_in([text].into_iter(), &self.language);
                        names.extend(found.entry(text).or_insert_with(new).iter().cloned());
                    }
                    names.extend(one.speakers().flat_map(words_of));
                    Cow::Owned(names)
                }
            });
        }
        each
    }

    /// Keeps nothing of what was read until now: something was erased.
    pub fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        self.language.forget();
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn reader<'a>(&'a self, names: &'a BTreeSet<String>, known: &'a Known) -> Reader<'a> {
        let Known { vocabulary, parses, .. } = known;
        Reader { language: &self.language, names, zone: &self.zone, vocabulary, parses }
    }

    /// What each of the likeliest sentences has in common with a question, for fitting the weights; arguments as of
    /// [`Self::reply`].
    #[must_use]
    pub fn judged(
        &self,
        question: &str,
        told: &[Told],
        people: &BTreeSet<String>,
        now: Timestamp,
    ) -> Vec<Judged> {
        self.beside(question, told, people, now, |asked| {
            let judged = |one: &Candidate| {
                let value = value_of(asked.corpus, asked.question, one);
                let finding = Finding { value, notes: vec![one.note], confidence: one.probability };
                Judged {
                    text: self.tell(asked.corpus, finding).text,
                    note: one.note,
                    features: one.features.named(asked.question.kind),
                }
            };
            asked.candidates.iter().take(JUDGED).map(judged).collect()
        })
    }

    /// Whether a question is one to eyes and ears: what the robot saw or heard, who was in view or here, who said what.
    #[must_use]
    pub fn asks_senses(&self, question: &str) -> bool {
        let words = self.language.parse(question, &|_| false);
        let tree = Tree::new(&words);
        let clauses = tree.clauses();
        let lexicon = Lexicon::english();
        let is = |list: &str, at: usize| lexicon.is(list, &words[at].lemma);
        clauses.iter().any(|clause| {
            let verb = clause.verbs.last().copied().unwrap_or(clause.head);
            clause.all(&Role::Agent).any(|at| is("robot", at))
                || is("sensing", verb)
                || clause.roles.iter().any(|(role, at)| match role {
                    Role::Adverb => is("present", *at),
                    Role::Oblique(_) => is("sensed", *at),
                    _ => false,
                })
        })
    }

    /// A fact as people say it: "Ava likes tea", "Ava's home is Bonn".
    #[must_use]
    pub fn sentence(&self, subject: &str, attribute: &str, value: &str) -> String {
        let known = self.known();
        let told = known.kept().verbs.get(attribute).copied();
        let is_verb = told.unwrap_or_else(|| {
            let words = self.language.parse(&format!("Ava {attribute} it."), &|name| name == "ava");
            let is = words.get(1).is_some_and(|word| word.tag == "VBZ" && word.label == "ROOT");
            known.kept().verbs.insert(attribute.to_owned(), is);
            is
        });
        match is_verb {
            true => format!("{subject} {attribute} {value}."),
            false => format!("{subject}'s {attribute} is {value}."),
        }
    }

    fn tell(&self, corpus: &Corpus<'_>, finding: Finding) -> Meant {
        let Finding { value, mut notes, confidence } = finding;
        let mut seen = BTreeSet::new();
        notes.retain(|note| seen.insert(*note));
        let quotes = notes.iter().take(QUOTED).map(|&note| wording::quoted(&corpus.notes[note]));
        let quotes = quotes.collect::<Vec<_>>().join(" ");
        let colon = if value.is_empty() { "" } else { ": " };
        let source = notes.first().map(|&note| wording::source(&corpus.notes[note], &self.zone));
        let source = source.unwrap_or_default();
        Meant { text: format!("{value}{colon}{quotes}{source}"), confidence, notes }
    }
}

/// The note that answers best by itself, with what fills the question's hole.
fn quoted(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, candidates, .. } = *asked;
    let best = candidates.first()?;
    let of_note = candidates.iter().filter(|one| one.note == best.note);
    let confidence: f32 = of_note.map(|one| one.probability).sum();
    let measures =
        matches!(question.kind, Kind::Duration | Kind::Frequency | Kind::Count | Kind::Amount);
    let is_open = confidence < LEAST || !best.may_answer(question);
    if is_open || measures && best.features.value < 0.5 {
        return None;
    }
    let value = value_of(corpus, question, best);
    Some(Finding { value, notes: vec![best.note], confidence: calibrated(confidence) })
}

/// The share of right answers among those whose sentences are so likely: the fit counts "nothing of it" too often
/// (benches/told_fit.py), by this in log odds.
fn calibrated(likely: f32) -> f32 {
    const TOO_OFTEN: f32 = 1.0;
    let likely = likely.clamp(0.01, 0.99);
    1.0 / (1.0 + (1.0 - likely) / likely * (-TOO_OFTEN).exp())
}

fn value_of(corpus: &Corpus<'_>, question: &Question, best: &Candidate) -> String {
    if question.kind == Kind::Time {
        let span = time_of(corpus, question, best.note, best.sentence);
        return wording::day(span.start, &corpus.zone);
    }
    let sentence = &corpus.notes[best.note].read.sentences[best.sentence];
    let Some(at) = best.value else { return String::new() };
    let meant = sentence.terms.iter().find(|term| term.at == at && term.is_name);
    let word = &sentence.words[at];
    match meant {
        Some(_) if word.label == "poss" && question.kind == Kind::Person => word.form.to_string(),
        _ => corpus.say(best.note, sentence, at),
    }
}

/// The words of a name, in lower case.
fn words_of(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split_whitespace().map(str::to_lowercase)
}

/// Words that are names, in lower case: written with a capital where no sentence begins, or where one does if the language
/// has no such word, and nowhere without one.
fn names_in<'t>(texts: impl Iterator<Item = &'t str>, language: &Language) -> BTreeSet<String> {
    let (mut upper, mut lower) = (BTreeSet::new(), BTreeSet::new());
    for text in texts {
        let mut begins = true;
        let mut pieces = text.split(|c: char| c.is_whitespace() || c == '-').peekable();
        while let Some(piece) = pieces.next() {
            let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
            let word = word.strip_suffix("'s").or(word.strip_suffix("\u{2019}s")).unwrap_or(word);
            let small = word.to_lowercase();
            let is_capital = word.starts_with(char::is_uppercase) && word.chars().count() > 1;
            // "Doctor Osei", but "Odo", who is a pope in the thesaurus.
            let before_name =
                pieces.peek().is_some_and(|next| next.starts_with(char::is_uppercase));
            let is_other = language.is_of_calendar(&small)
                || before_name && language.is_title(&small)
                || ["asking", "determiners"].iter().any(|list| Lexicon::english().is(list, &small))
                || word.starts_with("I'");
            if is_capital && !is_other {
                if !begins || !language.parser.has(&small) {
                    upper.insert(small);
                }
            } else if !word.is_empty() && !is_capital {
                lower.insert(small);
            }
            begins = piece.ends_with(['.', '?', '!', ':']);
        }
    }
    upper.retain(|name| !lower.contains(name));
    upper
}
