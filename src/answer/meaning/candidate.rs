//! Sentences that may answer a question, and how likely each does.
//!
//! A linear model over what a sentence has in common with the question, with a softmax over the best sentences and
//! "nothing of it": fitted on the four known stories and the sets made of them, answerable questions also without the
//! notes that answer them.

use std::collections::BTreeMap;

use crate::language::clause::Role;
use crate::language::parse::Word;
use crate::language::thesaurus::{Part, field};

use super::corpus::Corpus;
use super::lexicon::Lexicon;
use super::question::{Kind, Question};
use super::text::{Sentence, Term};

/// What a sentence is judged by, in the order of the weights.
#[derive(Clone, Copy, Debug, Default)]
struct Features {
    /// Share of the question's weight that the note holds, near words in part.
    cover: f32,
    /// … that the sentence holds word for word.
    exact: f32,
    /// … that the note does not hold.
    missing: f32,
    /// Names of the question that the note does not hold.
    names: f32,
    /// How far what is said of it is from what is asked.
    other_predicate: f32,
    /// How near it is by the lexicon's frames.
    frame: f32,
    /// Share that stands in one clause.
    in_clause: f32,
    /// Whether something there is of the kind that is asked for.
    value: f32,
    /// It is in the time asked for; it is in another.
    in_time: f32,
    out_of_time: f32,
    /// Of the vectors.
    cosine: f32,
    /// How far behind the best.
    behind_cover: f32,
    behind_cosine: f32,
    /// 0 the oldest note, 1 the newest.
    recent: f32,
}

impl Features {
    fn score(&self) -> f32 {
        0.969 * self.cover + 0.659 * self.exact
            - 0.331 * self.missing
            - 1.122 * self.names
            - 0.229 * self.other_predicate
            + 1.045 * self.frame
            - 0.377 * self.in_clause
            + 2.108 * self.value
            + 1.698 * self.in_time
            - 1.007 * self.out_of_time
            + 1.608 * self.cosine
            + 3.21 * self.cover * self.cosine
            - 1.087 * self.behind_cover
            - 2.954 * self.behind_cosine
            + 0.37 * self.recent
            - 4.454
    }
}

/// So many share the probability.
const RIVALS: usize = 12;

/// One sentence beside a question.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) note: usize,
    pub(super) sentence: usize,
    features: Features,
    score: f32,
    /// How likely this sentence answers it.
    pub(super) probability: f32,
    /// The thing that the question is about stands nowhere in its note.
    lacks_theme: bool,
    /// The word of what fills the question's hole.
    pub(super) value: Option<usize>,
}

impl Candidate {
    /// Share of the question that its note holds.
    pub(super) fn cover(&self) -> f32 {
        self.features.cover
    }

    /// Whether its note leaves out somebody whom the question names, or the thing that it is about.
    pub(super) fn leaves_out(&self) -> bool {
        self.features.names > 0.0 || self.lacks_theme
    }

    /// Whether a name of the question stands nowhere in its note.
    pub(super) fn lacks_name(&self) -> bool {
        self.features.names > 0.0
    }

    /// Whether it tells as much as another, of the same predicate, as likely.
    fn is_equal(&self, best: &Self) -> bool {
        let near = self.features;
        self.score >= best.score - 1.0
            && near.cover >= best.features.cover - 0.06
            && near.other_predicate <= best.features.other_predicate + 0.1
            && near.value >= best.features.value - 0.1
    }

    /// Whether it is one of those that the best stands for, where all are asked for.
    pub(super) fn is_another_of(&self, best: &Self) -> bool {
        self.features.cover >= best.features.cover - 0.12
            && self.features.value >= 0.55
            && (self.features.other_predicate - best.features.other_predicate).abs() < 0.4
    }
}

/// Every sentence of the corpus, the likeliest first; of equals the newest, or the oldest where the first is asked for.
pub(super) fn candidates(corpus: &Corpus<'_>, question: &Question) -> Vec<Candidate> {
    let sentences: Vec<_> = corpus.sentences().collect();
    let judged = sentences
        .iter()
        .map(|&(note, sentence, read)| judge(corpus, question, note, sentence, read));
    let mut all: Vec<Candidate> =
        judged.filter(|one| one.features.cover > 0.0 || one.features.cosine > 0.2).collect();
    let best =
        |of: fn(&Features) -> f32| all.iter().map(|one| of(&one.features)).fold(0.0, f32::max);
    let (cover, cosine) = (best(|f| f.cover), best(|f| f.cosine));
    for one in &mut all {
        one.features.behind_cover = cover - one.features.cover;
        one.features.behind_cosine = cosine - one.features.cosine;
        one.score = one.features.score();
    }
    all.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then(b.note.cmp(&a.note)).then(a.sentence.cmp(&b.sentence))
    });
    let nothing = 0.0;
    let top = all.first().map_or(nothing, |one| one.score.max(nothing));
    let rivals = all.iter().take(RIVALS).map(|one| (one.score - top).exp());
    let sum = rivals.sum::<f32>() + (nothing - top).exp();
    for one in &mut all {
        one.probability = (one.score - top).exp() / sum;
    }
    in_order(question, &mut all);
    all
}

/// Puts the newest of what fits as well as the best in front.
fn in_order(question: &Question, all: &mut Vec<Candidate>) {
    let Some(best) = all.first().cloned() else { return };
    let first = question.says("first");
    if question.span.is_some() && !first {
        return;
    }
    let equal = (1..all.len().min(8)).filter(|&at| all[at].is_equal(&best));
    if question.asks_before() {
        // What was so until the newest came.
        let newest = equal.clone().chain([0]).max_by_key(|&at| all[at].note).unwrap_or(0);
        let note = all[newest].note;
        if let Some(at) =
            equal.chain([0]).filter(|&at| all[at].note < note).max_by_key(|&at| all[at].note)
        {
            let one = all.remove(at);
            all.insert(0, one);
        }
        return;
    }
    let chosen = match first {
        true => equal.filter(|&at| all[at].note < best.note).min_by_key(|&at| all[at].note),
        false => equal.filter(|&at| all[at].note > best.note).max_by_key(|&at| all[at].note),
    };
    if let Some(at) = chosen {
        let one = all.remove(at);
        all.insert(0, one);
    }
}

fn judge(
    corpus: &Corpus<'_>,
    question: &Question,
    note: usize,
    number: usize,
    sentence: &Sentence,
) -> Candidate {
    let likeness = &corpus.likeness;
    let whole = &corpus.notes[note];
    let mut features = Features::default();
    let mut total = 0.0;
    let mut matched: Vec<(f32, Option<usize>)> = Vec::with_capacity(question.terms.len());
    for term in &question.terms {
        let weight = share(corpus, question, term);
        let (here, at) = nearest(corpus, question, term, sentence);
        let others = || {
            let others = whole.read.sentences.iter().enumerate().filter(|(at, _)| *at != number);
            likeness.best(term, others.flat_map(|(_, one)| &one.terms)) * 0.75
        };
        let around = if here < 0.75 { others() } else { 0.0 };
        let (near, at) = if around > here { (around, None) } else { (here, at) };
        total += weight;
        features.cover += weight * near;
        features.exact += if here >= 0.95 { weight } else { 0.0 };
        if near < 0.3 {
            features.missing += weight;
            features.names += f32::from(term.is_name);
        }
        matched.push((near, at));
    }
    if total > 0.0 {
        features.cover /= total;
        features.exact /= total;
        features.missing /= total;
    }
    let clause = densest(corpus, question, sentence, &matched, &mut features);
    said(question, sentence, &matched, clause, &mut features);
    if let Some(asked) = question.span {
        let (own, is_said) = sentence.time(whole.told);
        match own.start < asked.end && asked.start <= own.end {
            true => features.in_time = 1.0,
            false => features.out_of_time = if is_said { 1.0 } else { 0.7 },
        }
    }
    features.cosine = whole.cosine;
    features.recent = note as f32 / corpus.notes.len() as f32;
    let hits: Vec<usize> = matched.iter().filter_map(|(_, at)| *at).collect();
    let of_main = |term: &Term| {
        let roles = question.clause().map_or(&[][..], |clause| &clause.roles);
        roles.iter().any(|(role, at)| *at == term.at && matches!(role, Role::Agent | Role::Object))
    };
    let lacks_theme = question.terms.iter().enumerate().any(|(at, term)| {
        term.part == Part::Noun
            && !term.is_name
            && !question.keys.contains(&at)
            && of_main(term)
            && matched[at].0 < 0.5
    });
    let (fits, value) = value(corpus, question, sentence, &hits, clause);
    features.value = fits;
    Candidate { note, sentence: number, features, score: 0.0, probability: 0.0, lacks_theme, value }
}

/// How much a term of the question counts.
fn share(corpus: &Corpus<'_>, question: &Question, term: &Term) -> f32 {
    let rarity = corpus.likeness.rarity(&term.lemma);
    let light = Lexicon::english().is("light", &question.words[term.at].lemma);
    rarity
        * match term.part {
            Part::Verb if light => 0.105,
            Part::Verb => 0.7,
            Part::Adverb => 0.3,
            Part::Noun | Part::Adjective => 1.0,
        }
}

/// The term of a sentence that is nearest to one of the question; one in the contrary role is worth less.
fn nearest(
    corpus: &Corpus<'_>,
    question: &Question,
    term: &Term,
    sentence: &Sentence,
) -> (f32, Option<usize>) {
    let is_person = term.is_name || corpus.likeness.is_person(term);
    let mut best = (0.0, None);
    for (at, told) in sentence.terms.iter().enumerate() {
        let mut near = corpus.likeness.of(term, told);
        if near > 0.0 && is_person && !question.is_being() && are_reversed(term, told) {
            let clause = told.clause.and_then(|clause| sentence.clauses.get(clause));
            if clause.is_some_and(|clause| clause.predicate != "be") {
                near *= 0.8;
            }
        }
        if near > best.0 {
            best = (near, Some(at));
        }
    }
    best
}

fn are_reversed(one: &Term, other: &Term) -> bool {
    let does = |role: &Option<Role>| *role == Some(Role::Agent);
    let bears = |role: &Option<Role>| matches!(role, Some(Role::Object | Role::Recipient));
    does(&one.role) && bears(&other.role) || bears(&one.role) && does(&other.role)
}

/// The clause that holds most of the question.
fn densest(
    corpus: &Corpus<'_>,
    question: &Question,
    sentence: &Sentence,
    matched: &[(f32, Option<usize>)],
    features: &mut Features,
) -> Option<usize> {
    let mut held = BTreeMap::<usize, f32>::new();
    let mut total = 0.0;
    for (term, (near, at)) in question.terms.iter().zip(matched) {
        let rarity = corpus.likeness.rarity(&term.lemma);
        total += rarity;
        if let Some(clause) = at.and_then(|at| sentence.terms[at].clause) {
            *held.entry(clause).or_default() += near * rarity;
        }
    }
    let best = held.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
    let (&clause, &most) = best?;
    features.in_clause = most / total.max(0.1);
    Some(clause)
}

/// How near what the sentence says is to what the question says.
fn said(
    question: &Question,
    sentence: &Sentence,
    matched: &[(f32, Option<usize>)],
    clause: Option<usize>,
    features: &mut Features,
) {
    let lexicon = Lexicon::english();
    let mut near = 0.0_f32;
    for &key in &question.keys {
        near = near.max(matched[key].0);
        let frames =
            sentence.terms.iter().map(|told| lexicon.near(&question.terms[key].lemma, &told.lemma));
        features.frame = frames.fold(features.frame, f32::max);
    }
    if !question.keys.is_empty() {
        features.other_predicate = 1.0 - near;
    }
    let told = clause.and_then(|clause| sentence.clauses.get(clause));
    if let (Some(told), Some(asked)) = (told, question.clause())
        && (question.keys.is_empty() || !question.is_being())
    {
        let verb = |predicate: &str| predicate.split(' ').next().unwrap_or("").to_owned();
        let frame = lexicon.near(&verb(&asked.predicate), &verb(&told.predicate));
        features.frame = features.frame.max(frame);
    }
}

/// Whether something in the sentence is what is asked for, 0 to 1, and the word of it.
fn value(
    corpus: &Corpus<'_>,
    question: &Question,
    sentence: &Sentence,
    hits: &[usize],
    clause: Option<usize>,
) -> (f32, Option<usize>) {
    let lexicon = Lexicon::english();
    let likeness = &corpus.likeness;
    let is_new = |term: &Term| !question.terms.iter().any(|asked| asked.lemma == term.lemma);
    let fresh = || {
        let terms = sentence.terms.iter().enumerate();
        terms.filter(|(at, term)| !hits.contains(at) && is_new(term)).map(|(_, term)| term)
    };
    let counts = |word: &Word| {
        word.tag == "CD" || lexicon.is("units", &word.lemma) || lexicon.is("repeated", &word.lemma)
    };
    let says = |is: bool, other: f32| (if is { 1.0 } else { other }, None);
    match question.kind {
        Kind::Person | Kind::Whose => {
            if question.is_being() && question.hole != Some(Role::Agent) {
                return (0.8, None);
            }
            let people = || fresh().filter(|term| likeness.is_person(term));
            let fits = |term: &&Term| term.clause == clause && term.role == question.hole;
            match people().find(fits) {
                Some(term) => (1.0, Some(term.at)),
                None => people().next().map_or((0.0, None), |term| (0.6, Some(term.at))),
            }
        }
        Kind::Place => place(question, sentence, clause).unwrap_or((0.1, None)),
        Kind::Time => (0.8, None),
        Kind::Duration | Kind::Frequency => says(sentence.words.iter().any(counts), 0.2),
        Kind::Count | Kind::Amount => {
            let number = |word: &Word| {
                word.tag == "CD"
                    || question.kind == Kind::Count && lexicon.is("numbers", &word.lemma)
            };
            says(sentence.words.iter().any(number), 0.2)
        }
        Kind::Which => {
            let noun = question.noun.as_deref().unwrap_or("");
            let thesaurus = &likeness.language.thesaurus;
            let wants_person = thesaurus.is_of(noun, field::PERSON);
            let is = |term: &Term| {
                term.lemma == noun
                    || is_new(term) && !term.is_name && thesaurus.is_a(&term.lemma, noun)
                    || wants_person && is_new(term) && likeness.is_person(term)
            };
            let terms = sentence.terms.iter().enumerate();
            says(terms.filter(|(at, _)| !hits.contains(at)).any(|(_, term)| is(term)), 0.3)
        }
        Kind::Reason => {
            says(sentence.words.iter().any(|word| lexicon.is("reasons", &word.lemma)), 0.4)
        }
        Kind::Manner | Kind::Thing | Kind::Whether | Kind::Choice => {
            (if fresh().next().is_some() { 0.8 } else { 0.2 }, None)
        }
    }
}

/// A phrase of place that the question does not name.
fn place(
    question: &Question,
    sentence: &Sentence,
    clause: Option<usize>,
) -> Option<(f32, Option<usize>)> {
    let lexicon = Lexicon::english();
    let timed = |at: usize| {
        let start = sentence.words[at].span.start;
        sentence.times.iter().any(|time| time.range.contains(&start))
    };
    let mut best: Option<(f32, Option<usize>)> = None;
    for (at, told) in sentence.clauses.iter().enumerate() {
        for (role, word) in &told.roles {
            let is = match role {
                Role::Oblique(of) => lexicon.is("places", &of.replace(' ', "_")),
                Role::Adverb => lexicon.is("spots", &sentence.words[*word].lemma),
                _ => false,
            };
            let worth = if Some(at) == clause { 1.0 } else { 0.8 };
            let is_asked =
                question.terms.iter().any(|term| term.lemma == sentence.words[*word].lemma);
            if is && !is_asked && !timed(*word) && best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, Some(*word)));
            }
        }
    }
    best
}
