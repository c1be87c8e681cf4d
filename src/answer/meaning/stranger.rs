//! Whether a question is about somebody, or something with a name, of whom nothing was ever told: what was told of others
//! does not answer it.

use std::collections::BTreeSet;

use crate::language::Language;
use crate::memory::{is_misspelt, stems};

use super::{Told, names_in, words_of};

/// Shorter names are like too many others.
const SHORTEST: usize = 5;

/// Whether a question names what no text names and nobody is called: within it, with a capital, and no word of the language.
/// A name that may be misspelt is none.
pub(super) fn is_asked_of(
    question: &str,
    told: &[Told],
    people: &BTreeSet<String>,
    language: &Language,
) -> bool {
    // Whoever is called at its beginning is spoken to.
    let within = question.split_once([' ', ',']).map_or("", |(_, rest)| rest);
    let mut named = names_in([question].into_iter(), language);
    named.retain(|name| {
        let is_within = within.to_lowercase().contains(name.as_str());
        is_within && !language.parser.has(name) && !people.contains(name)
    });
    if named.is_empty() {
        return false;
    }
    let mut known: BTreeSet<String> = told.iter().flat_map(Told::texts).flat_map(stems).collect();
    known.extend(told.iter().flat_map(Told::speakers).flat_map(words_of));
    known.extend(people.iter().cloned());
    let is_told = |name: &String| {
        let may_be = |known: &&String| name.len() >= SHORTEST && is_misspelt(name, known);
        stems(name).iter().all(|stem| known.contains(stem) || known.iter().any(|one| may_be(&one)))
    };
    named.iter().any(|name| !is_told(name))
}
