//! Where everybody is, as it is said there: "We are in the kitchen now", "This is the office".

use super::read::{Passage, Text};
use super::things::is_place;
use crate::language::clause::{Clause, Role};
use crate::language::lexicon::Lexicon;

/// Longest name of a place, words.
const LONGEST: usize = 3;

/// The name of the place at which a text says that those who speak are. `overheard`: only a room counts.
pub(super) fn place_named(text: &Text<'_>, overheard: bool) -> Option<String> {
    text.passages().find_map(|passage| {
        passage.statements().into_iter().find_map(|clause| named(&passage, clause, overheard))
    })
}

fn named(passage: &Passage<'_>, clause: &Clause, overheard: bool) -> Option<String> {
    let lexicon = Lexicon::english();
    let who = clause.all(&Role::Agent).next()?;
    if clause.predicate != "be" || clause.negated || !passage.is_present(clause) {
        return None;
    }
    if lexicon.is("company", passage.lemma(who)) {
        let within =
            |role: &Role| matches!(role, Role::Oblique(joint) if lexicon.is("within", joint));
        let place = clause.roles.iter().find(|(role, _)| within(role)).map(|(_, place)| *place)?;
        return name(passage, place, overheard);
    }
    let points = |at: usize| lexicon.is("pointing", passage.lemma(at));
    let is_room = lexicon.is("rooms", passage.lemma(who));
    let is_here = points(who) || is_room && passage.tree.of(who, &["det"]).any(points);
    let place = clause.all(&Role::Object).next().filter(|_| is_here)?;
    name(passage, place, overheard || !is_room)
}

/// What a place is called, without its article; `must`: only a room.
fn name(passage: &Passage<'_>, noun: usize, must: bool) -> Option<String> {
    let lexicon = Lexicon::english();
    let words = passage.phrase(noun, |_| true);
    let article = passage.tree.of(noun, &["det", "poss"]).next();
    let known = article.is_some_and(|at| lexicon.is("ours", passage.lemma(at)));
    let is_sure = !must || known && passage.is_room(noun);
    let sound = is_place(passage, noun) && words.len() <= LONGEST && is_sure;
    passage.told(&words).filter(|_| sound).map(|text| text.to_lowercase())
}
