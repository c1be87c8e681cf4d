//! "Where is the drill?", "In which room are the keys?", "Where was it before Ava took it?"

use crate::language::clause::Role;
use crate::language::thesaurus::field;
use crate::time::Timestamp;

use super::super::corpus::{Corpus, Found};
use super::super::question::{Kind, Question};
use super::super::wording::capitalised;
use super::{Asked, Finding};
use crate::language::lexicon::Lexicon;

/// How many things may lie in each other.
const DEPTH: usize = 3;
const DAY_SECS: f64 = 86_400.0;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let clause = question.clause()?;
    let verb = clause.predicate.split(' ').next()?;
    if !asks_place(corpus, question) || !Lexicon::english().is("whereabouts", verb) {
        return None;
    }
    let (theme, head) = question.theme()?;
    let mut moment = question.moment(now);
    if let Some((mark, mut inner, _)) = question.beside() {
        if !inner.iter().any(|term| term.lemma == head) {
            inner.extend(&theme);
        }
        if let Some(event) = corpus.event(&inner) {
            moment = match mark {
                "before" => event.at.plus_secs(-1.0),
                _ => moment.min(event.at.plus_secs(DAY_SECS)),
            };
        }
    }
    let mut found = corpus.whereabouts(&theme, head, moment);
    // Where somebody works or lives is told with that verb.
    let of_verb = |found: &Found<'_>| found.place.is_told_with(verb);
    if Lexicon::english().is("dwelling", verb) && found.iter().any(of_verb) {
        found.retain(of_verb);
    }
    // Which room: places that are one, where any is.
    let thesaurus = &corpus.likeness.language.thesaurus;
    let is_one = |found: &Found<'_>, noun: &str| {
        let inside = corpus.inside(found.note, found.place);
        inside.iter().any(|term| term.lemma == noun || thesaurus.is_a(&term.lemma, noun))
    };
    if let Some(noun) = question.noun.as_deref().filter(|_| question.kind == Kind::Which)
        && (question.asks_before() || question.beside().is_some())
        && found.iter().any(|one| is_one(one, noun))
    {
        found.retain(|one| is_one(one, noun));
    }
    let newest = found.first()?;
    let stands = |found: &&Found<'_>| !found.place.is_denied;
    let of_newest = |one: &&Found<'_>| one.note == newest.note || !newest.place.is_denied;
    let first = question.says("first");
    let chosen = match first {
        true => found.iter().rev().find(stands),
        false if question.asks_before() => {
            found.iter().filter(stands).find(|found| found.place.since < newest.place.since)
        }
        false => found.iter().filter(stands).find(of_newest).or_else(|| found.iter().find(stands)),
    }?;
    let (mut at, mut notes) = (*chosen, vec![chosen.note]);
    if let Some(noun) = question.noun.as_deref().filter(|_| question.kind == Kind::Which) {
        for _ in 0..DEPTH {
            if is_one(&at, noun) {
                break;
            }
            let inside = corpus.inside(at.note, at.place);
            let Some(next) = corpus.place_of(&inside, now) else { break };
            if notes.contains(&next.note) {
                break;
            }
            at = next;
            notes.push(next.note);
        }
    }
    if question.kind == Kind::Place && !first && !question.asks_before() {
        at = moved_along(corpus, at, moment, &mut notes);
    }
    Some(Finding::new(say(corpus, &at), notes, chosen.named))
}

/// Where what holds it has been put since.
fn moved_along<'a>(
    corpus: &Corpus<'a>,
    mut at: Found<'a>,
    moment: Timestamp,
    notes: &mut Vec<usize>,
) -> Found<'a> {
    for _ in 0..DEPTH {
        let inside = corpus.inside(at.note, at.place);
        let Some(holder) = inside.iter().find(|term| term.at == at.place.at) else { break };
        let mut since = corpus.whereabouts(&inside, &holder.lemma, moment).into_iter();
        let is_newer =
            |found: &Found<'_>| found.place.since > at.place.since && !found.place.is_denied;
        let Some(next) = since.find(is_newer).filter(|next| !notes.contains(&next.note)) else {
            break;
        };
        at = next;
        notes.push(next.note);
    }
    at
}

fn asks_place(corpus: &Corpus<'_>, question: &Question) -> bool {
    let is_site = |noun: &str| {
        let thesaurus = &corpus.likeness.language.thesaurus;
        thesaurus.is_of(noun, field::LOCATION) || thesaurus.is_of(noun, field::ARTIFACT)
    };
    let within = matches!(question.hole, Some(Role::Oblique(_)))
        || question.clause().is_some_and(|one| matches!(one.predicate.as_str(), "be" | "have"));
    match question.kind {
        Kind::Place => true,
        Kind::Which => within && question.noun.as_deref().is_some_and(is_site),
        _ => false,
    }
}

/// "In the sink", "Upstairs", "Back".
pub(super) fn say(corpus: &Corpus<'_>, found: &Found<'_>) -> String {
    if found.place.is_only_back {
        return "Back".to_owned();
    }
    let sentence = corpus.sentence(found.note, found.place);
    let words = corpus.say(found.note, sentence, found.place.at);
    let whole = format!("{} {words}", found.place.preposition);
    capitalised(whole.trim())
}
