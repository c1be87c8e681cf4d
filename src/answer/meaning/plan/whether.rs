//! "Is the drill still in the van?", "Did Ava feed the cat?": what was last told of it, for or against.

use crate::language::clause::{Clause, Role};

use super::super::claim::{Claim, claims};
use super::super::corpus::{Corpus, Found};
use super::super::likeness::ALIKE;
use super::super::question::{Kind, Question};
use super::{Asked, Finding};
use crate::language::lexicon::Lexicon;
use crate::language::text::{Sentence, Term};

/// So much of what it is said of must be told with it.
const TOLD: f32 = 0.6;
/// … of the theme of a place.
const NAMED: f32 = 0.75;
/// Less told than the best by so much, it is of something else.
const TOLERANCE: f32 = 0.25;
/// So much may be missing from what is told.
const MISSING: f32 = 0.35;
const DEPTH: usize = 3;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    if asked.question.kind != Kind::Whether {
        return None;
    }
    place(asked).or_else(|| dwelling(asked)).or_else(|| holder(asked)).or_else(|| claimed(asked))
}

/// Whether somebody works or lives somewhere: whether the newest place that is told with that verb is it.
fn dwelling(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let clause = question.clause()?;
    let lexicon = Lexicon::english();
    let verb = clause.predicate.as_str();
    if question.is_past || !lexicon.is("dwelling", verb) {
        return None;
    }
    let who = clause.all(&Role::Agent).next()?;
    let theme = question.phrase(who);
    let at = spot(question, clause, &theme)?;
    let wanted = question.phrase(at);
    let mut found = corpus.whereabouts(&theme, &question.words[who].lemma, question.moment(now));
    found.retain(|one| one.place.is_told_with(verb));
    let newest = found.first().filter(|found| found.named > NAMED && !wanted.is_empty())?;
    let inside = corpus.inside(newest.note, newest.place);
    let is_so = corpus.likeness.all(&wanted, &inside) && !newest.place.is_denied;
    Some(Finding::new(yes_or_no(is_so != clause.negated), vec![newest.note], newest.named))
}

/// Whether somebody has something: whether it was last told to be with them.
fn holder(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let clause = question.clause()?;
    if clause.predicate != "have" {
        return None;
    }
    let thing = clause.all(&Role::Object).next()?;
    let who: Vec<&Term> = clause.all(&Role::Agent).flat_map(|at| question.phrase(at)).collect();
    let theme: Vec<&Term> = question
        .phrase(thing)
        .into_iter()
        .filter(|term| !who.iter().any(|one| one.lemma == term.lemma))
        .collect();
    let head = question.words[thing].lemma.as_str();
    let found = corpus.whereabouts(&theme, head, question.moment(now));
    let newest = found.first().filter(|found| found.named > NAMED && !who.is_empty())?;
    let inside = corpus.inside(newest.note, newest.place);
    let is_there = corpus.likeness.all(&who, &inside);
    let is_with_other = inside.iter().any(|term| corpus.likeness.is_person(term));
    let gives = is_given_back(corpus, newest, &who);
    let is_so = is_there && !newest.place.is_denied && !gives;
    (is_there || is_with_other || gives)
        .then(|| Finding::new(yes_or_no(is_so != clause.negated), vec![newest.note], newest.named))
}

/// Whether what was found is told to be brought back by them.
fn is_given_back(corpus: &Corpus<'_>, found: &Found<'_>, who: &[&Term]) -> bool {
    let sentence = corpus.sentence(found.note, found.place);
    let does = |term: &&Term| term.role == Some(Role::Agent);
    let doers: Vec<&Term> = sentence.terms.iter().filter(does).collect();
    found.place.is_back && corpus.likeness.all(who, &doers)
}

/// Whether something is where the question says.
fn place(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let clause = question.clause()?;
    let (theme, head) = question.theme()?;
    let is_being = Lexicon::english().is("being", &clause.predicate);
    let of_place = |key: &usize| clause.predicate != "be" || question.terms[*key].lemma == head;
    if !is_being || !question.keys.iter().all(of_place) {
        return None;
    }
    let at = spot(question, clause, &theme)?;
    let found = corpus.whereabouts(&theme, head, question.moment(now));
    let newest = found.first().filter(|found| found.named > NAMED)?;
    let mut notes = vec![newest.note];
    let word = question.words[at].lemma.as_str();
    let lexicon = Lexicon::english();
    let is_there = match word {
        word if lexicon.is("home", word) => newest.place.is_back,
        word if lexicon.is("gone", word) => !newest.place.is_back,
        _ => holds(asked, newest, &question.phrase(at), &mut notes),
    };
    let is_so = is_there && !newest.place.is_denied;
    Some(Finding::new(yes_or_no(is_so != clause.negated), notes, newest.named))
}

/// The word of where the question says that it is.
fn spot(question: &Question, clause: &Clause, theme: &[&Term]) -> Option<usize> {
    let lexicon = Lexicon::english();
    let is_spot = |(role, at): &&(Role, usize)| match role {
        Role::Oblique(of) => {
            lexicon.is("settings", &of.replace(' ', "_"))
                && !theme.iter().any(|term| term.at == *at)
                && question.terms.iter().any(|term| term.at == *at)
        }
        Role::Adverb => {
            let lemma = &question.words[*at].lemma;
            lemma == "back" || lexicon.is("spots", lemma)
        }
        _ => false,
    };
    clause.roles.iter().find(is_spot).map(|(_, at)| *at)
}

/// Whether the place that was found is the one asked for, or in it.
fn holds(asked: &Asked<'_>, newest: &Found<'_>, wanted: &[&Term], notes: &mut Vec<usize>) -> bool {
    let Asked { corpus, now, .. } = *asked;
    let mut at = *newest;
    if wanted.is_empty() || at.place.is_only_back {
        return false;
    }
    for _ in 0..DEPTH {
        let inside = corpus.inside(at.note, at.place);
        if corpus.likeness.all(wanted, &inside) {
            return true;
        }
        let Some(next) = corpus.place_of(&inside, now) else { return false };
        if notes.contains(&next.note) {
            return false;
        }
        at = next;
        notes.push(next.note);
    }
    false
}

/// Whether it is so by what was told of it.
fn claimed(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let (keys, others) = question.parts();
    if keys.is_empty() {
        return None;
    }
    let mut found = claims(corpus, &keys, &others, TOLD);
    // Told of somebody else it says nothing, unless it happened once and that one did it.
    let is_doer = |at: usize| others[at].role == Some(Role::Agent);
    let of_other = |claim: &Claim, at: usize| {
        others[at].is_name && !(question.is_past && is_doer(at) && claim.cover >= TOLD)
    };
    found.retain(|claim| !claim.missed.iter().any(|&at| of_other(claim, at)));
    let best = found.iter().map(|claim| claim.cover).fold(0.0, f32::max);
    found.retain(|claim| claim.cover >= best - TOLERANCE);
    let claim = chosen(question, &found, question.moment(now))?;
    let clause = question.clause()?;
    let sentence = &corpus.notes[claim.note].read.sentences[claim.sentence];
    let mut is_so = claim.holds()
        && !(question.is_past && claim.is_dated && !question.covers(claim.span))
        && !is_of_another(corpus, question, sentence, claim);
    if without(corpus, question, sentence) {
        is_so = !is_so;
    }
    let weight = |term: &&Term| corpus.likeness.weight(term);
    let total: f32 = others.iter().map(weight).sum();
    let lacking: f32 = claim.missed.iter().map(|&at| weight(&others[at])).sum();
    if is_so && lacking > 0.0 {
        let replaced = |at: &usize| is_replaced(corpus, others[*at], sentence, claim);
        if claim.missed.iter().any(replaced) {
            is_so = false;
        } else if lacking / total > MISSING {
            return None;
        }
    }
    Some(Finding::new(yes_or_no(is_so != clause.negated), vec![claim.note], claim.cover * 0.9))
}

/// The claim that decides: of a state the newest, of what happened the one that fits best.
fn chosen<'c>(
    question: &Question,
    found: &'c [Claim],
    moment: crate::time::Timestamp,
) -> Option<&'c Claim> {
    let is_known = |claim: &&Claim| claim.span.start <= moment;
    let is_state = !question.is_past
        || question.words.iter().any(|word| Lexicon::english().is("past_again", &word.lemma));
    if is_state {
        return found.iter().rev().find(is_known).or(found.last());
    }
    let happened = found.iter().any(|claim| claim.side > 0.0);
    let fits = |claim: &&Claim| {
        (question.span.is_none() || is_known(claim)) && (!happened || claim.side > 0.0)
    };
    let worth = |claim: &Claim| {
        claim.cover + claim.side.abs() * 0.3 + if question.covers(claim.span) { 0.3 } else { 0.0 }
    };
    let best = found.iter().filter(fits).max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
    // Told before it came to it, and called off since.
    let called_off = |claim: &&Claim| {
        claim.note > best.note && claim.side < 0.0 && claim.holds() != best.holds()
    };
    let is_plan = best.side > 0.0 && best.is_dated;
    let later = found.iter().rev().find(called_off).filter(|_| is_plan);
    Some(later.unwrap_or(best))
}

/// Whether somebody else is told to have done it.
fn is_of_another(
    corpus: &Corpus<'_>,
    question: &Question,
    sentence: &Sentence,
    claim: &Claim,
) -> bool {
    let does = |term: &&Term| {
        term.role == Some(Role::Agent) && (term.is_name || corpus.likeness.is_person(term))
    };
    let doers = || question.terms.iter().filter(does);
    let Some(doer) = doers().find(|term| term.is_name).or(doers().next()) else { return false };
    let mine = || sentence.terms.iter().filter(|term| term.clause == Some(claim.clause));
    let others = mine().any(|term| term.role == Some(Role::Agent) && term.is_name);
    others
        && claim.side > 0.0
        && !sentence.clauses[claim.clause].passive
        && !mine().any(|term| corpus.likeness.of(doer, term) >= ALIKE)
}

/// "… drinks it without sugar"
fn without(corpus: &Corpus<'_>, question: &Question, sentence: &Sentence) -> bool {
    let is_left = |term: &Term| {
        matches!(&term.role, Some(Role::Oblique(of)) if of == "without")
            && question.terms.iter().any(|asked| corpus.likeness.of(asked, term) >= ALIKE)
    };
    !question.has("without") && sentence.terms.iter().any(is_left)
}

/// Whether another one of its kind stands in the place of a term.
fn is_replaced(corpus: &Corpus<'_>, term: &Term, sentence: &Sentence, claim: &Claim) -> bool {
    sentence.terms.iter().any(|told| {
        told.role == term.role
            && told.clause == Some(claim.clause)
            && told.is_name == term.is_name
            && (term.is_name || corpus.likeness.are_rivals(term, told))
    })
}

fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "Yes" } else { "No" }
}
