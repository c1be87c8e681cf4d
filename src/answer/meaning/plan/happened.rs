//! "What happened on Friday?": everything that was told of that time.

use crate::language::clause::Role;

use super::super::question::Kind;
use super::{Asked, Finding};
use crate::language::lexicon::Lexicon;
use crate::language::text::Term;

/// So many notes tell what became of something.
const NEWEST: usize = 3;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    happened_to(asked).or_else(|| happened_then(asked))
}

/// "What happened to the puppet show?": what was told of it last.
fn happened_to(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, .. } = *asked;
    let clause = question.clause()?;
    let to = |(role, at): &(Role, usize)| {
        matches!(role, Role::Oblique(of) if matches!(of.as_str(), "to" | "with")).then_some(*at)
    };
    let what = clause.roles.iter().find_map(to)?;
    let theme = question.phrase(what);
    if clause.predicate != "happen" || theme.is_empty() || question.beside().is_some() {
        return None;
    }
    let mut notes: Vec<usize> = Vec::new();
    for (note, _, sentence) in corpus.sentences() {
        let bears = |term: &&Term| matches!(term.role, Some(Role::Agent | Role::Object));
        let terms: Vec<&Term> = sentence.terms.iter().filter(bears).collect();
        let fits = corpus.likeness.all(&theme, &terms)
            && question.covers(sentence.time(corpus.notes[note].told).0);
        if fits && !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes.reverse();
    notes.truncate(NEWEST);
    (!notes.is_empty()).then(|| Finding::new("What I was told of it", notes, 0.6))
}

fn happened_then(asked: &Asked<'_>) -> Option<Finding> {
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
