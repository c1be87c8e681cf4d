//! "Who has the drill?", "Who has got Ava's tent now?": whom it was given to last, else who came to have it.

use crate::language::clause::Role;

use super::super::question::Kind;
use super::super::wording::capitalised;
use super::{Asked, Finding};
use crate::language::lexicon::Lexicon;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, now, .. } = *asked;
    let clause = question.clause()?;
    let lexicon = Lexicon::english();
    let asks_holder = question.kind == Kind::Person
        && question.hole == Some(Role::Agent)
        && lexicon.near(clause.predicate.split(' ').next()?, "have") > 0.0
        && !question.is_past;
    if !asks_holder {
        return None;
    }
    let object = clause.all(&Role::Object).next()?;
    let theme = question.phrase(object);
    let head = question.words.get(object)?.lemma.as_str();
    let found = corpus.whereabouts(&theme, head, question.moment(now));
    let newest = found.iter().find(|found| !found.place.is_denied)?;
    let sentence = corpus.sentence(newest.note, newest.place);
    let is_holder = sentence
        .terms
        .iter()
        .any(|term| term.at == newest.place.at && term.is_name && corpus.likeness.is_person(term));
    let value = corpus.say(newest.note, sentence, newest.place.at);
    is_holder.then(|| Finding::new(capitalised(&value), vec![newest.note], newest.named))
}
