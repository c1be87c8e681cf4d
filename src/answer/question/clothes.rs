//! Clothes in a question, as far as eyes tell them: colours above the waist.

use crate::answer::meaning::Kind;
use crate::colour::Colour;

use super::ask::Question;
use super::is;

/// "Who was wearing a yellow jacket?", "Who wore red?", "Who was in red?": the colours. `None`: it asks something else.
pub(super) fn worn(question: &Question<'_>) -> Option<Vec<Colour>> {
    let (told, clause) = (question.told, question.clause?);
    if question.kind != Kind::Person || question.is_of_words() || told.says() {
        return None;
    }
    let verb = told.verb(clause);
    let mut words: Vec<usize> = if told.is("wearing", verb) {
        told.all().filter(|&at| at != verb).collect()
    } else if told.is("being", verb) {
        let within = told.obliques(clause).filter(|(name, _)| is("looks", name));
        within.flat_map(|(_, at)| told.tree.phrase(at)).collect()
    } else {
        Vec::new()
    };
    words.retain(|&at| told.tells(at));
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
