//! People and things that a question describes and does not name: "the cleaner", "Ava's daughter", "the woman who teaches sewing".

use crate::language::clause::{Clause, Kind as ClauseKind, Role, Tree};
use crate::language::thesaurus::{Part, field};

use super::corpus::Corpus;
use super::likeness::ALIKE;
use super::naming::Naming;
use super::question::{Kind, Question};
use crate::language::lexicon::Lexicon;
use crate::language::text::{Sentence, Term};

/// How much of a description must be told of somebody.
const TOLD: f32 = 0.75;
/// How near a word must be to the one that somebody is called.
const CALLED: f32 = 0.65;

/// Gives the terms of the question that describe somebody that person's name, and takes away those that only describe.
pub(super) fn resolve(corpus: &Corpus<'_>, question: &mut Question) {
    let mut describing: Vec<usize> = Vec::new();
    for at in 0..question.terms.len() {
        let found =
            meant(corpus, question, at, &describing).or_else(|| thing_meant(corpus, question, at));
        let Some((name, by)) = found else { continue };
        question.terms[at].alias = Some(name);
        describing.extend(by);
    }
    question.is_described = !describing.is_empty();
    let kept: Vec<usize> =
        (0..question.terms.len()).filter(|at| !describing.contains(at)).collect();
    let moved = |key: &usize| kept.iter().position(|at| at == key);
    question.keys = question.keys.iter().filter_map(moved).collect();
    let mut number = 0;
    question.terms.retain(|_| {
        number += 1;
        kept.contains(&(number - 1))
    });
}

/// The description around a term.
struct Description<'a> {
    term: &'a Term,
    /// What else describes.
    wanted: Vec<&'a Term>,
    /// A clause hangs on it.
    is_relative: bool,
}

/// Whom a term describes, and which other terms describe with it.
fn meant(
    corpus: &Corpus<'_>,
    question: &Question,
    at: usize,
    describing: &[usize],
) -> Option<(String, Vec<usize>)> {
    let term = &question.terms[at];
    let lexicon = Lexicon::english();
    let thesaurus = &corpus.likeness.language.thesaurus;
    let is_somebody =
        thesaurus.fields(&term.lemma, Part::Noun).iter().take(2).any(|of| *of == field::PERSON)
            || lexicon.is("anybody", &term.lemma);
    if term.is_name || term.part != Part::Noun || !is_somebody || is_asked(question, term) {
        return None;
    }
    let below = Tree::new(&question.words).below(term.at);
    let others = (0..question.terms.len()).filter(|&other| other != at);
    let by: Vec<usize> =
        others.filter(|&other| below.contains(&question.terms[other].at)).collect();
    let description = Description {
        term,
        wanted: by
            .iter()
            .filter(|other| !describing.contains(other))
            .map(|&other| &question.terms[other])
            .collect(),
        is_relative: question.clauses.iter().any(|one| one.kind == ClauseKind::Relative(term.at)),
    };
    if description.wanted.is_empty() && lexicon.is("anybody", &term.lemma) {
        return None;
    }
    let mut found: Vec<(f32, usize, String)> = Vec::new();
    for (note, _, sentence) in corpus.sentences() {
        let told = description.told(corpus, sentence);
        if told >= TOLD {
            let people = description.people(corpus, sentence).into_iter();
            found.extend(people.map(|name| (told, note, name)));
        }
    }
    let best = found
        .into_iter()
        .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(b.2.cmp(&a.2)));
    best.map(|(_, _, name)| (name, by))
}

/// The name of the thing that a term describes ("the cat", "Ava's boat"), or what the thing of that name is.
fn thing_meant(
    corpus: &Corpus<'_>,
    question: &Question,
    at: usize,
) -> Option<(String, Vec<usize>)> {
    let term = &question.terms[at];
    if term.part != Part::Noun || Some(&term.lemma) == question.noun.as_ref() {
        return None;
    }
    if term.is_name {
        let mut nouns = corpus.namings().filter(|(_, naming)| naming.name == term.lemma);
        let (_, naming) = nouns.next()?;
        let is_other =
            |(_, one): (usize, &Naming)| one.noun == naming.noun && one.name != naming.name;
        return (!corpus.namings().any(is_other)).then(|| (naming.noun.to_string(), Vec::new()));
    }
    let below = Tree::new(&question.words).phrase(term.at);
    let by: Vec<usize> = (0..question.terms.len())
        .filter(|&other| other != at && below.contains(&question.terms[other].at))
        .collect();
    let wanted: Vec<&Term> = by.iter().map(|&other| &question.terms[other]).collect();
    let thesaurus = &corpus.likeness.language.thesaurus;
    let fits = |(note, naming): &(usize, &Naming)| {
        let sentence = &corpus.notes[*note].read.sentences[naming.sentence];
        let told: Vec<&Term> = sentence.terms.iter().collect();
        (naming.noun == term.lemma || thesaurus.is_a(&naming.noun, &term.lemma))
            && corpus.likeness.all(&wanted, &told)
    };
    let (_, naming) = corpus.namings().filter(fits).last()?;
    Some((naming.name.to_string(), by))
}

/// "Who is Ava's wife?" asks for the description itself.
fn is_asked(question: &Question, term: &Term) -> bool {
    let tree = Tree::new(&question.words);
    let holds_word = question.asked.is_some_and(|asked| tree.phrase(term.at).contains(&asked));
    let stands_free =
        question.clause().is_some_and(|one| one.roles.iter().any(|(_, at)| *at == term.at));
    let is_said =
        question.clause().is_some_and(|one| one.all(&Role::Object).any(|at| at == term.at));
    question.is_being()
        && (holds_word
            || question.kind == Kind::Person && stands_free
            || question.kind == Kind::Whether && is_said)
}

impl Description<'_> {
    /// Share of what describes that a sentence tells.
    fn told(&self, corpus: &Corpus<'_>, sentence: &Sentence) -> f32 {
        if self.wanted.is_empty() {
            return 1.0;
        }
        let likeness = &corpus.likeness;
        let total: f32 = self.wanted.iter().map(|term| likeness.weight(term)).sum();
        let held =
            |term: &&Term| likeness.best(term, sentence.terms.iter()) * likeness.weight(term);
        self.wanted.iter().map(held).sum::<f32>() / total
    }

    /// Names of those in a sentence of whom the description is told.
    fn people(&self, corpus: &Corpus<'_>, sentence: &Sentence) -> Vec<String> {
        if self.term.lemma == "owner" {
            return self.owners(corpus, sentence);
        }
        let tree = Tree::new(&sentence.words);
        let of = |(at, clause): (usize, &Clause)| match self.is_relative {
            true => self.doers(corpus, sentence, at),
            false => self.called(corpus, sentence, &tree, (at, clause)),
        };
        sentence.clauses.iter().enumerate().flat_map(of).collect()
    }

    /// Whose it is what a clause says that somebody is, but for those who describe.
    fn owners_of_said(
        &self,
        corpus: &Corpus<'_>,
        sentence: &Sentence,
        tree: &Tree<'_>,
        clause: &Clause,
    ) -> Vec<String> {
        let owners: Vec<usize> =
            clause.all(&Role::Object).flat_map(|at| tree.of(at, &["poss"])).collect();
        let is = |term: &&Term| {
            owners.contains(&term.at)
                && term.is_name
                && corpus.likeness.is_person(term)
                && !self.wanted.iter().any(|one| one.lemma == term.lemma)
        };
        sentence.terms.iter().filter(is).map(|term| term.lemma.to_string()).collect()
    }

    fn agents(&self, corpus: &Corpus<'_>, sentence: &Sentence, clause: usize) -> Vec<String> {
        let is = |term: &&Term| {
            term.clause == Some(clause)
                && term.role == Some(Role::Agent)
                && term.is_name
                && corpus.likeness.is_person(term)
                && sentence.words[term.at].label != "poss"
                && !self.wanted.iter().any(|one| one.lemma == term.lemma)
        };
        sentence.terms.iter().filter(is).map(|term| term.lemma.to_string()).collect()
    }

    /// Who does what the clause on the noun tells.
    fn doers(&self, corpus: &Corpus<'_>, sentence: &Sentence, clause: usize) -> Vec<String> {
        let told = |term: &&&Term| {
            let mine = sentence.terms.iter().filter(|told| told.clause == Some(clause));
            corpus.likeness.best(term, mine) > 0.5
        };
        let verbs = self.wanted.iter().filter(|term| term.part == Part::Verb);
        if verbs.clone().filter(told).count() < verbs.count() {
            return Vec::new();
        }
        self.agents(corpus, sentence, clause)
    }

    /// Whose something is told to be, the nearest to it.
    fn owners(&self, corpus: &Corpus<'_>, sentence: &Sentence) -> Vec<String> {
        let lexicon = Lexicon::english();
        let is_owned = |term: &Term| {
            let next = sentence.words.get(term.at + 1);
            term.is_name
                && (sentence.words[term.at].label == "poss"
                    || next.is_some_and(|word| word.tag == "POS"))
        };
        let says =
            sentence.terms.iter().any(|term| lexicon.is("having", &term.lemma) || is_owned(term));
        let met =
            |told: &&Term| self.wanted.iter().any(|one| corpus.likeness.of(one, told) > ALIKE);
        let thing = sentence.terms.iter().filter(met).map(|term| term.at).max().unwrap_or(0);
        let people =
            sentence.terms.iter().filter(|term| term.is_name && corpus.likeness.is_person(term));
        let nearest = people.min_by_key(|term| term.at.abs_diff(thing));
        nearest.filter(|_| says).map(|term| term.lemma.to_string()).into_iter().collect()
    }

    /// Who is told to be one: "Ava is our cook", "works as a cook", "the cook Ava", "her nephew Ben".
    fn called(
        &self,
        corpus: &Corpus<'_>,
        sentence: &Sentence,
        tree: &Tree<'_>,
        (at, clause): (usize, &Clause),
    ) -> Vec<String> {
        let is_it = |word: usize| {
            let mut terms = sentence.terms.iter().filter(|term| term.at == word);
            terms.any(|term| corpus.likeness.of(self.term, term) >= CALLED)
        };
        let is_as = |role: &Role| matches!(role, Role::Oblique(of) if of == "as");
        let is_said = clause.roles.iter().any(|(role, word)| {
            (*role == Role::Object && clause.predicate == "be" || is_as(role)) && is_it(*word)
        });
        let is_inverse = |word: usize| {
            Lexicon::english().is_inverse(&self.term.lemma, &sentence.words[word].lemma)
        };
        if clause.predicate == "be" && clause.all(&Role::Object).any(is_inverse) {
            // Ava's mother is whose daughter Ava is.
            let is_of = |agent: usize| {
                let mut terms = sentence.terms.iter().filter(|term| term.at == agent);
                terms
                    .any(|term| self.wanted.iter().any(|one| corpus.likeness.of(one, term) > ALIKE))
            };
            if clause.all(&Role::Agent).any(is_of) {
                return self.owners_of_said(corpus, sentence, tree, clause);
            }
        }
        if is_said {
            let agents = self.agents(corpus, sentence, at);
            // Ava's cousin is whose cousin Ava is.
            if agents.is_empty() && Lexicon::english().is("mutual", &self.term.lemma) {
                return self.owners_of_said(corpus, sentence, tree, clause);
            }
            return agents;
        }
        let beside = |term: &Term| {
            tree.of(term.at, &["appos", "compound", "nmod"]).any(is_it)
                || tree.of(sentence.words[term.at].head, &["appos"]).any(|other| other == term.at)
                    && is_it(sentence.words[term.at].head)
        };
        let people = sentence.terms.iter().filter(|term| {
            term.clause == Some(at)
                && term.is_name
                && corpus.likeness.is_person(term)
                && beside(term)
        });
        people.map(|term| term.lemma.to_string()).collect()
    }
}
