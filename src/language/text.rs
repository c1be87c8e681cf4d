//! A told text, read: sentences, their clauses, and the terms in them, pronouns standing for what they mean.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use compact_str::CompactString;
use jiff::tz::TimeZone;

use crate::language::Language;
use crate::language::clause::{Clause, Kind, Role, Tree};
use crate::language::parse::Word;
use crate::language::parses::Parses;
use crate::language::thesaurus::{Part, field};
use crate::recall::time_expr::{TimeExpr, When, combined_span, told_expressions};
use crate::time::{Span, Timestamp};

use crate::language::lexicon::Lexicon;

/// The number of a word of some part of speech, names apart: equal for equal words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WordId(u32);

impl WordId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Numbers words.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary(Mutex<HashMap<Lemma, u32>>);

impl Vocabulary {
    fn number(&self, word: &Lemma) -> WordId {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.get(word) {
            return WordId(*number);
        }
        let next = known.len() as u32;
        known.insert(word.clone(), next);
        WordId(next)
    }
}

/// A word that carries meaning, and what it is to its clause.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) word: WordId,
    /// Of a verb with its particle the verb alone; of a compound verb both words: `take_place`.
    pub(crate) lemma: CompactString,
    pub(crate) part: Part,
    /// The word of the sentence; a pronoun's, where the term is what it stands for.
    pub(crate) at: usize,
    /// What the phrase that it stands in is to the clause.
    pub(crate) role: Option<Role>,
    pub(crate) clause: Option<usize>,
    /// It names somebody or something.
    pub(crate) is_name: bool,
    /// Whom a question means by it, where it describes somebody.
    pub(crate) alias: Option<String>,
}

/// One sentence of a text.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    pub(crate) words: Vec<Word>,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) terms: Vec<Term>,
    pub(crate) times: Vec<TimeExpr>,
    /// It asks, and says nothing.
    pub(crate) asks: bool,
}

/// How the words of a text are read: the language, and the names that are known, in lower case.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) language: &'a Language,
    pub(crate) names: &'a BTreeSet<String>,
    pub(crate) zone: &'a TimeZone,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) parses: &'a Parses,
}

/// Bytes of a text that are read; nobody says more at once, and what is longer is a document.
pub(crate) const MAX_BYTES: usize = 8_192;

/// What is read of a text.
pub(crate) fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// How far from when it was told a time may lie; open ends of "until Friday" reach further.
const FAR_SECS: f64 = 10.0 * 365.25 * 86_400.0;

impl Sentence {
    /// When what a clause tells is so, and whether the clause says it; else when it was told.
    pub(crate) fn time_of(&self, clause: usize, told: Timestamp) -> (Span, bool) {
        let tree = Tree::new(&self.words);
        let is_mine = |time: &&TimeExpr| {
            let of = |word: &Word| {
                time.range.contains(&word.span.start) || word.span.contains(&time.range.start)
            };
            let at = self.words.iter().position(of);
            at.is_some_and(|at| place_of(&tree, &self.clauses, at).1.is_none_or(|c| c == clause))
        };
        let mine: Vec<TimeExpr> = self.times.iter().filter(is_mine).cloned().collect();
        let alone = mine.is_empty() && self.clauses.len() == 1;
        bounded(if alone { &self.times } else { &mine }, told)
    }

    /// When the matter of the sentence is, and whether it says so.
    pub(crate) fn time(&self, told: Timestamp) -> (Span, bool) {
        bounded(&self.times, told)
    }

    /// Terms of the phrase under a word.
    pub(crate) fn phrase(&self, head: usize) -> Vec<usize> {
        let words = Tree::new(&self.words).phrase(head);
        (0..self.terms.len()).filter(|&at| words.contains(&self.terms[at].at)).collect()
    }

    /// Plain spans among its times, in reading order.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let plain = |time: &TimeExpr| match &time.when {
            When::Span { span, .. } => Some(*span),
            _ => None,
        };
        self.times.iter().filter_map(plain).collect()
    }

    /// Whether a clause says that it was not so: by a word of denial, or by a verb before its own ("forgot to lock").
    pub(crate) fn is_denied(&self, clause: &Clause) -> bool {
        let before = &clause.verbs[..clause.verbs.len().saturating_sub(1)];
        let lexicon = Lexicon::english();
        let not_done = before.iter().any(|&verb| lexicon.is("not_done", &self.words[verb].lemma));
        clause.negated != not_done
    }

    /// The lemma of a clause's last verb.
    pub(crate) fn verb(&self, clause: &Clause) -> &str {
        clause.verbs.last().map_or("", |&verb| self.words[verb].lemma.as_str())
    }
}

fn bounded(times: &[TimeExpr], told: Timestamp) -> (Span, bool) {
    let Some((span, _)) = combined_span(times) else { return (Span::new(told, told), false) };
    let start = if span.start < told.plus_secs(-FAR_SECS) { told } else { span.start };
    let end = if span.end > told.plus_secs(FAR_SECS) { start } else { span.end };
    (Span::new(start, end.max(start)), true)
}

impl Reader<'_> {
    pub(crate) fn is_name(&self, lemma: &str) -> bool {
        self.names.contains(lemma)
    }

    /// Those of a text's words that are names, in lower case.
    pub(crate) fn names_in(&self, text: &str) -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|word| self.is_name(word)).collect()
    }

    /// A text that is read again and again, parsed once.
    pub(crate) fn parsed(&self, text: &str) -> Arc<[Word]> {
        let names = self.names_in(text);
        self.parses.get(text, &names).unwrap_or_else(|| {
            // Parsed outside the lock: other questions go on.
            let words = self.language.parse(text, &|name| self.is_name(name));
            self.parses.put(text, &names, &words);
            words.into()
        })
    }

    /// The sentences of a text that was told at `told`.
    pub(crate) fn read(&self, text: &str, told: Timestamp) -> Vec<Sentence> {
        self.read_after(&mut Before::default(), &Voice::default(), text, told)
    }

    /// The same of what is said behind something else.
    pub(crate) fn read_after(
        &self,
        before: &mut Before,
        voice: &Voice,
        text: &str,
        told: Timestamp,
    ) -> Vec<Sentence> {
        let times = told_expressions(text, told, self.zone);
        self.read_with(before, voice, text, &times)
    }

    /// The same without its times, where it is only read for what it names.
    pub(crate) fn read_for_names(
        &self,
        before: &mut Before,
        voice: &Voice,
        text: &str,
    ) -> Vec<Sentence> {
        self.read_with(before, voice, text, &[])
    }

    fn read_with(
        &self,
        before: &mut Before,
        voice: &Voice,
        text: &str,
        times: &[TimeExpr],
    ) -> Vec<Sentence> {
        let words = self.parsed(text);
        before.goes_on();
        sentences(&words)
            .into_iter()
            .map(|range| {
                let mut words = words[range.clone()].to_vec();
                for word in &mut words {
                    word.head = word.head.clamp(range.start, range.end - 1) - range.start;
                }
                self.sentence(words, times, voice, before)
            })
            .collect()
    }

    fn sentence(
        &self,
        words: Vec<Word>,
        times: &[TimeExpr],
        voice: &Voice,
        before: &mut Before,
    ) -> Sentence {
        let tree = Tree::new(&words);
        let clauses = tree.clauses();
        let mut terms = self.terms(&tree, &clauses);
        let timed = |at: usize| times.iter().any(|time| time.range.contains(&words[at].span.start));
        let is_time =
            |at: usize| timed(at) || self.language.thesaurus.is_of(&words[at].lemma, field::TIME);
        let is_thing = |at: usize| {
            words[at].tag.starts_with("NN") && !self.is_somebody(&words[at]) && !is_time(at)
        };
        let lexicon = Lexicon::english();
        let mut resolved = Vec::new();
        let mut pointed = Vec::new();
        for at in 0..words.len() {
            let (role, clause) = place_of(&tree, &clauses, at);
            let is = |list: &str| lexicon.is(list, &words[at].lemma);
            // "Ava saw her": somebody else.
            let bears = matches!(role, Some(Role::Object | Role::Recipient));
            let is_whole = words[at].label != "poss";
            let doers = clause.filter(|_| bears && is_whole).map_or_else(Vec::new, |clause| {
                let agents = clauses[clause].all(&Role::Agent);
                agents.map(|agent| words[agent].lemma.clone()).collect()
            });
            let points = words[at].tag == "DT"
                && is("pointing")
                && matches!(role, Some(Role::Agent | Role::Object));
            let meant = if is("he") || is("she") {
                let mut meant = before.person(usize::from(is("she")), &doers);
                if meant.is_empty() {
                    meant = before.thing(std::iter::empty());
                }
                meant
            } else if is("speaker") {
                let quoted = self.speaker(&words, &clauses, clause);
                quoted.or_else(|| voice.speaker.as_deref().map(named)).into_iter().collect()
            } else if is("robot") {
                voice.addressee.as_deref().map(named).into_iter().collect()
            } else if is("things") || points {
                let here = heads(&clauses, clause).filter(|(_, w)| *w < at && is_thing(*w));
                let here = here.map(|(rank, w)| (rank, w, phrase_of(&tree, &terms, &resolved, w)));
                let meant = before.thing(here);
                pointed.push((rank_of(role.as_ref()), meant.clone()));
                meant
            } else {
                Vec::new()
            };
            for meant in meant {
                resolved.push(self.term(meant, at, role.clone(), clause));
            }
            let is_called = |term: &Term| Some(&term.lemma) == voice.addressee.as_ref();
            let named = terms.iter().find(|term| term.at == at && term.is_name);
            let of_person = |term: &&Term| !is_called(term) && !is_site(&tree, at);
            if let Some(term) = named.filter(of_person) {
                before.name(&term.lemma, words[at].label == "poss");
            }
        }
        let things = heads(&clauses, None).filter(|(_, at)| is_thing(*at));
        let mut things: Vec<_> =
            things.map(|(rank, at)| (rank, phrase_of(&tree, &terms, &resolved, at))).collect();
        things.extend(pointed);
        before.told(things);
        terms.append(&mut resolved);
        let range = words.first().map_or(0, |word| word.span.start)
            ..words.last().map_or(0, |word| word.span.end);
        let times =
            times.iter().filter(|time| range.contains(&time.range.start)).cloned().collect();
        let asks = asks(&words);
        Sentence { clauses, terms, times, words, asks }
    }

    /// Who says what "I" stands in: "… , says Ava".
    fn speaker(&self, words: &[Word], clauses: &[Clause], clause: Option<usize>) -> Option<Lemma> {
        let Kind::Complement(verb) = clauses.get(clause?)?.kind else { return None };
        let saying = clauses.iter().find(|one| one.verbs.contains(&verb))?;
        let who = saying.all(&Role::Agent).find(|&at| self.is_name(&words[at].lemma))?;
        Some((words[who].lemma.clone(), Part::Noun, true))
    }

    fn is_person(&self, word: &Word) -> bool {
        self.is_name(&word.lemma) || self.language.thesaurus.is_of(&word.lemma, field::PERSON)
    }

    fn is_somebody(&self, word: &Word) -> bool {
        self.is_person(word) || Lexicon::english().is("anybody", &word.lemma)
    }

    fn term(&self, word: Lemma, at: usize, role: Option<Role>, clause: Option<usize>) -> Term {
        let id = self.vocabulary.number(&word);
        let (lemma, part, is_name) = word;
        Term { word: id, lemma, part, at, role, clause, is_name, alias: None }
    }

    /// The terms of a tree.
    pub(crate) fn terms(&self, tree: &Tree<'_>, clauses: &[Clause]) -> Vec<Term> {
        let lexicon = Lexicon::english();
        let mut out = Vec::new();
        for (at, word) in tree.words.iter().enumerate() {
            let is_name = self.is_name(&word.lemma) && word.tag.starts_with("NNP");
            let part = if is_name || word.tag == "CD" {
                Some(Part::Noun)
            } else {
                Part::of_tag(&word.tag)
            };
            let Some(part) = part else { continue };
            let of_grammar = matches!(word.label.as_str(), "aux" | "auxpass" | "punct")
                || word.tag == "RB" && lexicon.is("grammar", &word.lemma)
                || lexicon.is("beside", &word.lemma)
                || word.lemma == "use" && tree.of(at, &["xcomp"]).next().is_some();
            if !of_grammar {
                let (role, clause) = place_of(tree, clauses, at);
                out.push(self.term((word.lemma.clone(), part, is_name), at, role, clause));
            }
        }
        self.join_verbs(tree, &mut out);
        out
    }

    /// A verb and a bare object that are one verb together: `take_place`.
    fn join_verbs(&self, tree: &Tree<'_>, terms: &mut Vec<Term>) {
        for at in 0..terms.len() {
            let Some(object) = tree.of(terms[at].at, &["dobj"]).next() else { continue };
            let joined =
                compact_str::format_compact!("{}_{}", terms[at].lemma, tree.words[object].lemma);
            let is_noun = tree.words[object].tag.starts_with("NN");
            let one = terms[at].part == Part::Verb && is_noun && tree.under(object).is_empty();
            if one && self.language.thesaurus.has(&joined, Part::Verb) {
                terms[at].word = self.vocabulary.number(&(joined.clone(), Part::Verb, false));
                terms[at].lemma = joined;
                terms.retain(|term| term.at != object);
                return;
            }
        }
    }
}

/// Whether a sentence asks: by its mark, or by the word that it begins with.
fn asks(words: &[Word]) -> bool {
    let aside = |word: &&Word| matches!(word.label.as_str(), "cc" | "intj" | "punct");
    let first = words.iter().find(|word| !aside(word));
    words.last().is_some_and(|word| word.form == "?")
        || first.is_some_and(|word| matches!(word.tag.as_str(), "WP" | "WRB" | "WP$"))
}

/// Where each sentence begins and ends, in words: each root with what hangs on it.
pub(crate) fn sentences(words: &[Word]) -> Vec<Range<usize>> {
    let tree = Tree::new(words);
    let mut out: Vec<(usize, Range<usize>)> = Vec::new();
    for at in 0..words.len() {
        let root = tree.root(at);
        match out.iter_mut().find(|(of, _)| *of == root) {
            Some((_, range)) => range.end = at + 1,
            None => out.push((root, at..at + 1)),
        }
    }
    out.into_iter().map(|(_, range)| range).collect()
}

/// A word's clause, and what the phrase that it stands in is to it.
pub(crate) fn place_of(
    tree: &Tree<'_>,
    clauses: &[Clause],
    at: usize,
) -> (Option<Role>, Option<usize>) {
    let above = tree.above(at);
    let holding =
        above.iter().find_map(|word| clauses.iter().position(|one| one.verbs.contains(word)));
    let Some(clause) = holding else { return (None, None) };
    let depth = |word: &usize| above.iter().position(|up| up == word);
    let roles = clauses[clause].roles.iter().filter_map(|(role, word)| Some((depth(word)?, role)));
    (roles.min_by_key(|(depth, _)| *depth).map(|(_, role)| role.clone()), Some(clause))
}

/// Lemma, part of speech, whether it is a name.
type Lemma = (CompactString, Part, bool);

/// The terms of a phrase, its head first; none where the head is no term.
fn phrase_of(tree: &Tree<'_>, terms: &[Term], meant: &[Term], head: usize) -> Vec<Lemma> {
    let words = tree.phrase(head);
    let all = terms.iter().chain(meant);
    let mut held: Vec<&Term> = all.filter(|term| words.contains(&term.at)).collect();
    held.sort_by_key(|term| term.at != head);
    if held.first().is_none_or(|term| term.at != head) {
        return Vec::new();
    }
    held.into_iter().map(|term| (term.lemma.clone(), term.part, term.is_name)).collect()
}

/// Heads in the clauses but one, with how likely a pronoun means them: subjects, objects, the rest.
fn heads(clauses: &[Clause], but: Option<usize>) -> impl Iterator<Item = (u8, usize)> + '_ {
    let others = clauses.iter().enumerate().filter(move |(at, _)| Some(*at) != but);
    others.flat_map(|(_, clause)| &clause.roles).map(|(role, word)| (rank_of(Some(role)), *word))
}

fn rank_of(role: Option<&Role>) -> u8 {
    match role {
        Some(Role::Agent) => 2,
        Some(Role::Object) => 1,
        _ => 0,
    }
}

/// "the Lantern", "in Lisbon", "an Italian place": a name of no person.
fn is_site(tree: &Tree<'_>, at: usize) -> bool {
    let head = &tree.words[tree.words[at].head];
    let stands_in = head.tag == "IN"
        && Lexicon::english().is("places", &head.lemma)
        && !matches!(head.lemma.as_str(), "to" | "for" | "with");
    let is_sort = matches!(tree.words[at].label.as_str(), "compound" | "amod" | "nmod")
        && matches!(head.tag.as_str(), "NN" | "NNS");
    stands_in || is_sort || tree.of(at, &["det"]).next().is_some()
}

fn named(name: &str) -> Lemma {
    (name.into(), Part::Noun, true)
}

/// Whose words they are, and to whom; names in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Voice {
    /// Whom "I" means.
    pub(crate) speaker: Option<CompactString>,
    /// Whom "you" means.
    pub(crate) addressee: Option<CompactString>,
}

/// "It" points back so many sentences at most.
const REACH: usize = 6;

/// What the sentences before named.
#[derive(Default)]
pub(crate) struct Before {
    /// In order; an owner stands behind those who do something.
    people: Vec<CompactString>,
    /// Whom "he" and "she" mean.
    meant: [Option<CompactString>; 2],
    /// Somebody was named since the text began.
    is_named: bool,
    /// Things of the sentences before, the newest first in each of as many.
    things: VecDeque<Vec<(u8, Vec<Lemma>)>>,
}

impl Before {
    /// Another text begins: "she" may mean whom the last one named.
    fn goes_on(&mut self) {
        if std::mem::take(&mut self.is_named) {
            self.meant = [None, None];
        }
    }

    fn name(&mut self, name: &str, is_owner: bool) {
        self.is_named = true;
        match is_owner {
            true => self.people.insert(0, name.into()),
            false => self.people.push(name.into()),
        }
    }

    /// Whom "he" (0) and "she" (1) mean, none of those.
    fn person(&mut self, which: usize, but: &[CompactString]) -> Vec<Lemma> {
        let others = self.meant[1 - which].clone();
        let known = self.meant[which].clone();
        let newest = || {
            let is_other =
                |name: &&CompactString| Some(*name) != others.as_ref() && !but.contains(name);
            self.people.iter().rev().find(is_other).cloned()
        };
        let Some(name) = known.filter(|name| !but.contains(name)).or_else(newest) else {
            return Vec::new();
        };
        self.meant[which] = Some(name.clone());
        vec![(name, Part::Noun, true)]
    }

    /// Another sentence ends, which tells of those things.
    fn told(&mut self, things: Vec<(u8, Vec<Lemma>)>) {
        if !things.is_empty() {
            self.things.push_front(things);
            self.things.truncate(REACH);
        }
    }

    /// What "it" or "they" means, of the sentence so far or of those before: a subject rather than an object rather than
    /// anything else, and each sentence farther back is one step down.
    fn thing(&self, here: impl Iterator<Item = (u8, usize, Vec<Lemma>)>) -> Vec<Lemma> {
        let step = |rank: u8, back: usize| i32::from(rank) - back as i32;
        let before = self.things.iter().enumerate().flat_map(|(back, things)| {
            let things = things.iter().enumerate();
            things.map(move |(at, (rank, phrase))| {
                (step(*rank, back + 1), back + 1, at, phrase.clone())
            })
        });
        let here = here.map(|(rank, at, phrase)| (step(rank, 0), 0, at, phrase));
        let known = before.chain(here).filter(|(.., phrase)| !phrase.is_empty());
        match known.max_by_key(|(step, back, at, _)| (*step, Reverse(*back), *at)) {
            Some((.., phrase)) => phrase,
            None => self
                .people
                .last()
                .map(|name| (name.clone(), Part::Noun, true))
                .into_iter()
                .collect(),
        }
    }
}
