//! "What happened on Friday?": everything that was told of that time.

use super::super::lexicon::Lexicon;
use super::super::question::Kind;
use super::super::text::Term;
use super::{Asked, Finding};

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, .. } = *asked;
    let predicate = question.clause()?.predicate.as_str();
    let lexicon = Lexicon::english();
    let asks_all = lexicon.is("happening", &predicate.replace(' ', "_"));
    if !asks_all || question.kind != Kind::Thing || question.span.is_none() {
        return None;
    }
    let (keys, others) = question.parts();
    let says_nothing = |term: &&Term| lexicon.is("happening", &term.lemma);
    let wanted: Vec<&Term> =
        keys.into_iter().chain(others).filter(|term| !says_nothing(term)).collect();
    let mut notes: Vec<usize> = Vec::new();
    for (note, _, sentence) in corpus.sentences() {
        let whole = &corpus.notes[note];
        let terms: Vec<&Term> = whole.read.sentences.iter().flat_map(|one| &one.terms).collect();
        let fits =
            question.covers(sentence.time(whole.told).0) && corpus.likeness.all(&wanted, &terms);
        if fits && !notes.contains(&note) {
            notes.push(note);
        }
    }
    (!notes.is_empty()).then(|| Finding::new("What I was told of it", notes, 0.6))
}
