//! Whether a question is about somebody, or something with a name, of whom nothing was ever told: what was told of others
//! does not answer it.

use std::collections::BTreeSet;

use crate::language::Language;
use crate::language::parse::Word;
use crate::memory::{is_misspelt, stems};

use super::{Told, words_of};

/// Shorter names are like too many others.
const SHORTEST: usize = 5;

/// Whether a question names what no text names and nobody is called. A name that may be misspelt is none, and whoever is called
/// at its beginning is spoken to.
pub(super) fn is_asked_of(
    question: &str,
    told: &[Told],
    people: &BTreeSet<String>,
    language: &Language,
) -> bool {
    let words = language.parse(question, &|_| false);
    let before_name = |at: usize| words.get(at + 1).is_some_and(|next| next.tag.starts_with("NNP"));
    let names: BTreeSet<String> = (1..words.len())
        .filter(|at| is_name(&words[*at], before_name(*at), language))
        .map(|at| words[at].form.as_str().to_lowercase())
        .filter(|name| !people.contains(name))
        .collect();
    if names.is_empty() {
        return false;
    }
    let mut known: BTreeSet<String> = told.iter().flat_map(Told::texts).flat_map(stems).collect();
    known.extend(told.iter().flat_map(Told::speakers).flat_map(words_of));
    known.extend(people.iter().cloned());
    let is_told = |name: &String| {
        let may_be = |known: &String| name.len() >= SHORTEST && is_misspelt(name, known);
        stems(name).iter().all(|stem| known.contains(stem) || known.iter().any(may_be))
    };
    names.iter().any(|name| !is_told(name))
}

/// Written and parsed as a name, and none of days, titles before names and abbreviations. (Prophets and poets of the thesaurus
/// are persons as doctors are.)
fn is_name(word: &Word, is_before_name: bool, language: &Language) -> bool {
    let lower = word.form.as_str().to_lowercase();
    word.tag.starts_with("NNP")
        && word.form.starts_with(char::is_uppercase)
        && word.form.contains(char::is_lowercase)
        && !language.is_of_calendar(&lower)
        && !(is_before_name && language.is_title(&lower))
}
