//! Clauses that say of something what a question says of it, or the contrary.

use crate::language::clause::Role;
use crate::language::thesaurus::Part;
use crate::time::Span;

use super::corpus::Corpus;
use super::likeness::ALIKE;
use crate::language::lexicon::Lexicon;
use crate::language::text::{Sentence, Term};

/// A clause that says it, or the contrary.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) note: usize,
    pub(super) sentence: usize,
    pub(super) clause: usize,
    /// How near it is to what is asked, 0 to 1; below 0 to its contrary.
    pub(super) side: f32,
    /// Share of what it is said of that is told there.
    pub(super) cover: f32,
    pub(super) span: Span,
    /// The clause tells its time.
    pub(super) is_dated: bool,
    /// Which of what it is said of is not told there.
    pub(super) missed: Vec<usize>,
    pub(super) is_denied: bool,
}

impl Claim {
    /// Whether it says that it is so.
    pub(super) fn holds(&self) -> bool {
        (self.side > 0.0) != self.is_denied
    }
}

/// A claim must be so near to what is asked, or to its contrary.
const LEAST: f32 = 0.55;
/// What a contrary is worth.
const CONTRARY: f32 = 0.9;
/// What does the same to a state is worth so much.
const OF_ONE_SIDE: f32 = 0.8;
/// Claims so much farther than the nearest are of something else.
const TOLERANCE: f32 = 0.22;

/// The claims of `keys` about `others`, of which at least a share `least` is told beside; oldest first.
pub(super) fn claims(
    corpus: &Corpus<'_>,
    keys: &[&Term],
    others: &[&Term],
    least: f32,
) -> Vec<Claim> {
    let likeness = &corpus.likeness;
    let total: f32 = others.iter().map(|term| likeness.weight(term)).sum();
    let mut out = Vec::new();
    for (note, number, sentence) in corpus.sentences() {
        let whole = &corpus.notes[note];
        let near = |term: &&Term| {
            let here = likeness.best(term, sentence.terms.iter());
            if here >= ALIKE {
                return here;
            }
            // Of whom was spoken before, this need not be said.
            let around = match term.is_name {
                true => likeness.best(term, whole.read.terms()),
                false => likeness.best(term, whole.read.terms_beside(None)),
            };
            here.max(around * 0.8)
        };
        let held: Vec<f32> = others.iter().map(near).collect();
        let weighed = others.iter().zip(&held).map(|(term, near)| near * likeness.weight(term));
        let cover = if total > 0.0 { weighed.sum::<f32>() / total } else { 0.0 };
        if cover < least {
            continue;
        }
        let missed: Vec<usize> = (0..others.len()).filter(|&at| held[at] < 0.5).collect();
        for (at, clause) in sentence.clauses.iter().enumerate() {
            let (plus, minus) = sides(corpus, keys, sentence, at);
            let side = if minus > plus { -minus } else { plus };
            if side.abs() < LEAST {
                continue;
            }
            let (span, is_dated) = sentence.time_of(at, whole.told);
            let is_denied = sentence.is_denied(clause);
            let mut claim = Claim {
                note,
                sentence: number,
                clause: at,
                side,
                cover,
                span,
                is_dated,
                missed: missed.clone(),
                is_denied,
            };
            left_out(corpus, others, sentence, total, &mut claim);
            out.push(claim);
        }
    }
    let most = out.iter().map(|claim| claim.side).fold(0.0, f32::max);
    out.retain(|claim| claim.side < 0.0 || claim.side >= most - TOLERANCE);
    out.sort_by_key(|claim| (claim.span.start, claim.note, claim.sentence, claim.clause));
    out
}

/// How near a clause is to what is asked, and to its contrary.
fn sides(corpus: &Corpus<'_>, keys: &[&Term], sentence: &Sentence, at: usize) -> (f32, f32) {
    let (likeness, lexicon) = (&corpus.likeness, Lexicon::english());
    let clause = &sentence.clauses[at];
    let (mut plus, mut minus) = (0.0_f32, 0.0_f32);
    for term in sentence.terms.iter().filter(|term| term.clause == Some(at)) {
        let whole = match term.part {
            Part::Verb => clause.predicate.replace(' ', "_"),
            _ => term.lemma.to_string(),
        };
        for key in keys {
            plus = plus.max(likeness.of(key, term));
            if lexicon.is_of_one_side(&key.lemma, &term.lemma) {
                plus = plus.max(OF_ONE_SIDE);
            }
            let contrary =
                likeness.is_contrary(key, term) || likeness.is_contrary_of(key, &whole, term.part);
            if key.lemma != term.lemma && contrary {
                minus = minus.max(CONTRARY);
            }
        }
    }
    if clause.predicate == "be" && keys.iter().any(|key| is_other_value(corpus, key, sentence, at))
    {
        minus = minus.max(CONTRARY);
    }
    for adverb in clause.all(&Role::Adverb).map(|at| &sentence.words[at].lemma) {
        for key in keys {
            if lexicon.ends(&key.lemma, adverb) {
                minus = minus.max(CONTRARY);
            }
            if key.lemma == *adverb {
                plus = 1.0;
            }
        }
    }
    (plus, minus)
}

/// "Ava's job is baker" where it is asked whether she is a beekeeper: the attribute has another value of its sort.
fn is_other_value(corpus: &Corpus<'_>, key: &Term, sentence: &Sentence, at: usize) -> bool {
    let mine = || sentence.terms.iter().filter(|term| term.clause == Some(at));
    let clause = &sentence.clauses[at];
    let is_attribute = clause.all(&Role::Agent).any(|agent| {
        mine().any(|term| term.at == agent && !term.is_name)
            && sentence.words[agent].tag.starts_with("NN")
    });
    let values = || mine().filter(|term| clause.all(&Role::Object).any(|object| object == term.at));
    is_attribute
        && corpus.likeness.best(key, values()) < 0.5
        && values().any(|value| corpus.likeness.are_rivals(key, value))
        && corpus.likeness.is_person(key)
}

/// What stands in another clause is left out where this one tells another of its kind: "drinks only tea, coffee …".
fn left_out(
    corpus: &Corpus<'_>,
    others: &[&Term],
    sentence: &Sentence,
    total: f32,
    claim: &mut Claim,
) {
    let likeness = &corpus.likeness;
    let mine = || sentence.terms.iter().filter(|term| term.clause == Some(claim.clause));
    let mut left = Vec::new();
    for (at, term) in others.iter().enumerate() {
        let plain = !claim.missed.contains(&at) && !term.is_name && term.role != Some(Role::Agent);
        let is_rival = |told: &Term| told.role == term.role && likeness.are_rivals(term, told);
        if plain && likeness.best(term, mine()) < 0.5 && mine().any(is_rival) {
            left.push(at);
        }
    }
    for at in left {
        claim.cover -= 0.5 * likeness.weight(others[at]) / total;
        claim.missed.push(at);
    }
}
