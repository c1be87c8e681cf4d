//! "How long did it take?", "How long was Ava away?", "How long ago …": a length that was told, or from what began it to
//! what ended it.

use jiff::tz::TimeZone;

use crate::language::clause::Role;
use crate::time::Timestamp;

use super::super::claim::{Claim, claims};
use super::super::corpus::Found;
use super::super::place::is_back;
use super::super::question::Kind;
use super::super::wording::length;
use super::{Asked, Finding};
use crate::language::lexicon::Lexicon;
use crate::language::text::Sentence;

/// So much of the question must stand in the note that tells the length.
const TOLD: f32 = 0.62;
/// … of what a state is said of.
const NAMED: f32 = 0.7;
const LOOKED_AT: usize = 6;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    if asked.question.kind != Kind::Duration {
        return None;
    }
    told(asked).or_else(|| loan(asked)).or_else(|| stay(asked)).or_else(|| state(asked))
}

/// A length in the words of the note, or two times of one sentence.
fn told(asked: &Asked<'_>) -> Option<Finding> {
    let corpus = asked.corpus;
    let fits = asked.candidates.iter().take(LOOKED_AT);
    for one in fits.filter(|one| one.cover() >= TOLD && !one.lacks_name()) {
        let note = &corpus.notes[one.note];
        let sentence = &note.read.sentences[one.sentence];
        let all = std::iter::once(sentence).chain(&note.read.sentences);
        if let Some(length) = all.clone().find_map(length_in) {
            return Some(Finding::new(length, vec![one.note], one.probability.max(0.6)));
        }
        if let [from, to, ..] = sentence.spans()[..]
            && to.start > from.start
            && from.start > note.told.plus_secs(-400.0 * 86_400.0)
        {
            let length = length(from.start, to.start, zone(asked));
            return Some(Finding::new(length, vec![one.note], one.probability.max(0.6)));
        }
    }
    None
}

fn zone<'a>(asked: &Asked<'a>) -> &'a TimeZone {
    &asked.corpus.zone
}

/// "three hours", "half an hour"; not "three years old", not "two days ago".
fn length_in(sentence: &Sentence) -> Option<String> {
    let lexicon = Lexicon::english();
    let words = &sentence.words;
    (1..words.len()).find_map(|at| {
        let before = &words[at - 1];
        let counts = before.tag == "CD" || lexicon.is("counting", &before.lemma);
        let of_age =
            words.get(at + 1).is_some_and(|next| matches!(next.lemma.as_str(), "old" | "ago"));
        let is = lexicon.is("units", &words[at].lemma) && counts && !of_age;
        is.then(|| format!("{} {}", before.form, words[at].form))
    })
}

/// From when somebody was lent something to when they gave it back.
fn loan(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let clause = question.clause()?;
    let lexicon = Lexicon::english();
    let keeps =
        lexicon.near(&clause.predicate, "have") > 0.0 || lexicon.is("lending", &clause.predicate);
    let who = question.phrase(clause.all(&Role::Agent).next()?);
    let what = question.phrase(clause.all(&Role::Object).next()?);
    if !keeps || who.is_empty() || what.is_empty() {
        return None;
    }
    // The newest loan to them; the first return after it.
    let told = |after: Option<Timestamp>| {
        let mut found = None;
        for (note, _, sentence) in corpus.sentences() {
            for (at, told) in sentence.clauses.iter().enumerate() {
                let mine = sentence.terms.iter().filter(|term| term.clause == Some(at));
                let mine: Vec<_> = mine.collect();
                let since = sentence.time_of(at, corpus.notes[note].told).0.start;
                let is_verb = match after {
                    Some(_) => is_back(sentence, told),
                    None => lexicon.is("lending", sentence.verb(told)),
                };
                let fits = is_verb
                    && corpus.likeness.all(&who, &mine)
                    && corpus.likeness.all(&what, &mine)
                    && after.is_none_or(|after| since > after);
                if fits && (after.is_none() || found.is_none()) {
                    found = Some((note, since));
                }
            }
        }
        found
    };
    let (first, since) = told(None)?;
    let end = told(Some(since));
    let (until, last) = match end {
        Some((note, at)) => (at, note),
        None if question.is_past => return None,
        None => (now, first),
    };
    Some(Finding::new(length(since, until, zone(asked)), vec![first, last], 0.7))
}

/// From when somebody or something came to a place to when it left.
fn stay(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let clause = question.clause()?;
    let (theme, head) = question.theme()?;
    let lexicon = Lexicon::english();
    let place = clause.roles.iter().find(|(role, at)| {
        matches!(role, Role::Oblique(of) if matches!(of.as_str(), "in" | "on" | "at" | "with"))
            && !theme.iter().any(|term| term.at == *at)
    });
    let is_gone = clause.all(&Role::Adverb).any(|at| lexicon.is("gone", &question.words[at].lemma));
    let mut found = corpus.whereabouts(&theme, head, now);
    found.reverse();
    let begins = |found: &Found<'_>| {
        let stands = !found.place.is_denied && !found.place.is_back;
        let fits = match place {
            Some((_, at)) => {
                let wanted = question.phrase(*at);
                let inside = corpus.inside(found.note, found.place);
                !wanted.is_empty() && corpus.likeness.all(&wanted, &inside)
            }
            None => is_gone && corpus.is_gone(found),
        };
        stands && fits
    };
    if place.is_none() && !is_gone {
        return None;
    }
    let first = found.iter().position(begins)?;
    let from = found[first];
    let ends = |found: &&Found<'_>| {
        let moved = found.place.is_back || place.is_some() && found.note != from.note;
        found.place.since > from.place.since && moved
    };
    let end = found[first + 1..].iter().find(ends).map(|end| (end.place.since, end.note));
    let (until, last) = end.or_else(|| (!question.is_past).then_some((now, from.note)))?;
    let length = length(from.place.since, until, zone(asked));
    Some(Finding::new(length, vec![from.note, last], 0.7))
}

/// From the claim that began a state to the one that ended it; "ago": since what happened.
fn state(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let (keys, others) = question.parts();
    let measures = |lemma: &str| Lexicon::english().is("measuring", lemma);
    if keys.is_empty() || keys.iter().all(|key| measures(&key.lemma)) {
        return None;
    }
    let found = claims(corpus, &keys, &others, NAMED);
    let named = |claim: &&Claim| !claim.missed.iter().any(|&at| others[at].is_name);
    let since = |claim: &Claim, until: Timestamp| length(claim.span.start, until, zone(asked));
    if question.has("ago") {
        let last = found.iter().rev().filter(named).find(|claim| claim.holds())?;
        return Some(Finding::new(format!("{} ago", since(last, now)), vec![last.note], 0.7));
    }
    let start = found.iter().filter(named).find(|claim| claim.holds())?;
    let ends = |claim: &&Claim| {
        claim.span.start > start.span.start && !claim.holds() && claim.note > start.note
    };
    match found.iter().filter(named).find(ends) {
        Some(end) => {
            let length = since(start, end.span.start);
            Some(Finding::new(length, vec![start.note, end.note], 0.6))
        }
        None => {
            let perfect =
                question.clause()?.verbs.iter().any(|&verb| question.words[verb].tag == "VBN");
            let lasts = perfect && !question.is_past;
            lasts.then(|| Finding::new(since(start, now), vec![start.note], 0.6))
        }
    }
}
