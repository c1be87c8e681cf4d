//! "How often does Ava come?", "How many falls were there?": as it was told, else counted.

use super::super::claim::{Claim, claims};
use super::super::question::Kind;
use super::{Asked, Finding};
use crate::language::lexicon::Lexicon;
use crate::language::text::Sentence;

/// So much of the question must stand in the note that tells it.
const TOLD: f32 = 0.6;
/// … of what is counted in each.
const COUNTED: f32 = 0.75;
const LOOKED_AT: usize = 4;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, candidates, .. } = *asked;
    if question.kind != Kind::Frequency {
        return None;
    }
    let says = |sentence: &Sentence| {
        let words = &sentence.words;
        (0..words.len()).any(|at| {
            let counted = words[at].lemma == "time" && at > 0 && words[at - 1].tag == "CD";
            let is_weekday =
                words[at].form.ends_with("days") && words[at].form.starts_with(char::is_uppercase);
            Lexicon::english().is("repeated", &words[at].lemma) || counted || is_weekday
        })
    };
    let fits =
        candidates.iter().take(LOOKED_AT).filter(|one| one.cover() >= TOLD && !one.lacks_name());
    let told = fits
        .filter(|_| !question.is_past)
        .find(|one| says(&corpus.notes[one.note].read.sentences[one.sentence]));
    if let Some(told) = told {
        return Some(Finding::new("As I was told", vec![told.note], told.probability.max(0.6)));
    }
    let (mut keys, mut others) = question.parts();
    // "How many falls": the noun itself is what happens.
    if let Some(noun) = question.noun.as_deref()
        && let Some(at) = others.iter().position(|term| term.lemma == noun)
    {
        keys = vec![others.remove(at)];
    }
    if keys.is_empty() {
        return None;
    }
    let found = claims(corpus, &keys, &others, if others.is_empty() { 0.0 } else { COUNTED });
    let counts = |claim: &&Claim| {
        claim.side > 0.6
            && !claim.is_denied
            && !claim.missed.iter().any(|&at| others[at].is_name)
            && question.covers(claim.span)
    };
    let mut notes: Vec<usize> = found.iter().filter(counts).map(|claim| claim.note).collect();
    notes.dedup();
    let value = match notes.len() {
        0 => return None,
        1 => "Once (1 time)".to_owned(),
        2 => "Twice (2 times)".to_owned(),
        count => format!("{count} times"),
    };
    Some(Finding::new(value, notes, 0.6))
}
