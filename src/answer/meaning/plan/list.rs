//! "What is in the van?", "Which rooms have a key?": all of them.

use crate::language::clause::Role;
use crate::language::parse::Word;
use crate::time::Timestamp;

use super::super::LEAST;
use super::super::candidate::Candidate;
use super::super::question::{Kind, Question};
use super::{Asked, Finding};
use crate::language::lexicon::Lexicon;
use crate::language::text::Term;

/// So many are told.
const MOST: usize = 4;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    contents(asked).or_else(|| several(asked))
}

/// What is at a place now.
fn contents(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, .. } = *asked;
    let clause = question.clause()?;
    let place = clause.roles.iter().find(|(role, _)| {
        matches!(role, Role::Oblique(of) if matches!(of.as_str(), "in" | "on" | "under"))
    });
    if question.kind != Kind::Thing || !question.is_being() || question.span.is_some() {
        return None;
    }
    let wanted = question.phrase(place?.1);
    let (mut names, mut notes) = (Vec::<String>::new(), Vec::new());
    for (note, place) in corpus.places().filter(|(_, place)| !place.is_denied) {
        let sentence = corpus.sentence(note, place);
        let inside = corpus.inside(note, place);
        let is_there =
            wanted.iter().all(|term| corpus.likeness.best(term, inside.iter().copied()) >= 0.9);
        if wanted.is_empty() || !is_there {
            continue;
        }
        let theme: Vec<&Term> = place.theme.iter().map(|&at| &sentence.terms[at]).collect();
        let head = theme.iter().find(|term| term.at == place.head).or(theme.first())?;
        let newest = corpus.whereabouts(&theme, &head.lemma, Timestamp::MAX);
        let moved =
            newest.first().is_some_and(|new| new.place.since > place.since && new.note != note);
        let name = match sentence.words[place.head].label.as_str() {
            "poss" => sentence.words[place.head].form.to_string(),
            _ => corpus.say(note, sentence, place.head),
        };
        if !moved && !names.contains(&name) {
            names.push(name);
            notes.push(note);
        }
    }
    (!names.is_empty()).then(|| Finding::new(names.join(", "), notes, 0.7))
}

/// Every one that fits as well as the best.
fn several(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, candidates, .. } = *asked;
    let first = candidates.first()?;
    let is_one = |one: &&Candidate| match is_plural(question) {
        true => one.is_another_of(first),
        false => happens_again(question) && one.is_as_much_as(first),
    };
    let all: Vec<&Candidate> = candidates.iter().filter(is_one).take(MOST).collect();
    let confidence: f32 = all.iter().map(|one| one.probability).sum();
    if all.len() < 2 || confidence < LEAST {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for one in &all {
        let sentence = &corpus.notes[one.note].read.sentences[one.sentence];
        names.extend(one.value.map(|at| corpus.say(one.note, sentence, at)));
    }
    names.dedup();
    let value = if names.is_empty() { "As I was told".to_owned() } else { names.join(", ") };
    let mut notes: Vec<usize> = all.iter().map(|one| one.note).collect();
    notes.dedup();
    Some(Finding::new(value, notes, confidence))
}

/// What happened may have happened more than once: all of it is told.
fn happens_again(question: &Question) -> bool {
    let is_open = matches!(question.kind, Kind::Thing | Kind::Person);
    let is_ordered = question.says("first") || question.says("last");
    question.is_past && is_open && !question.is_being() && !question.keys.is_empty() && !is_ordered
}

fn is_plural(question: &Question) -> bool {
    let noun = question.noun.as_deref();
    let plural = |word: &Word| word.tag == "NNS" && Some(word.lemma.as_str()) == noun;
    let all = question.words.iter().any(|word| Lexicon::english().is("everything", &word.lemma));
    all || question.kind == Kind::Which && question.words.iter().any(plural)
}
