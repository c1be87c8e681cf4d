//! Clothes in a question, as far as eyes tell them: colours above the waist.

use crate::answer::meaning::Kind;
use crate::colour::Colour;
use crate::language::clause::Role;

use super::ask::Question;
use super::is;

/// "Who was wearing a yellow jacket?", "Who wore red?", "Who was in red?": the colours. `None`: it asks something else.
pub(super) fn worn(question: &Question<'_>) -> Option<Vec<Colour>> {
    let (told, clause) = (question.told, question.clause?);
    if question.kind != Kind::Person || question.is_of_words() || told.says() {
        return None;
    }
    let verb = told.verb(clause);
    let objects: Vec<usize> = if told.is("wearing", verb) {
        clause.all(&Role::Object).collect()
    } else if told.is("being", verb) {
        let within = told.obliques(clause).filter(|(name, _)| is("looks", name));
        within.map(|(_, at)| at).collect()
    } else {
        Vec::new()
    };
    let mut words: Vec<usize> = objects.iter().flat_map(|&at| told.tree.phrase(at)).collect();
    words.retain(|&at| told.tells(at));
    words.sort_unstable();
    words.dedup();
    colours(&told.forms(&words))
}

/// The colours of clothes above the waist that those words (lower case) tell; `None`: they tell anything else.
pub(in crate::answer) fn colours(words: &[String]) -> Option<Vec<Colour>> {
    let mut found = Vec::new();
    for word in words {
        match Colour::named(word) {
            Some(colour) => found.push(colour),
            None if is("upper_clothes", word) => {}
            None => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}
