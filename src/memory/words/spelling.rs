//! Words that nothing remembered holds, and what they were most likely meant to be.

use std::cmp::Reverse;

use super::lexical::telling_stems;
use crate::memory::view::View;

/// Shorter words are as like to many others.
const SHORTEST: usize = 5;
/// From so many letters on two of them may be wrong; before, one.
const LONG: usize = 8;

/// Whether a word is the other one misspelt: the first letter is right, and one or two are wrong, swapped, lacking or too
/// many.
pub(crate) fn is_misspelt(word: &str, meant: &str) -> bool {
    let letters = word.chars().count();
    let wrong = if letters >= LONG { 2 } else { 1 };
    let about = meant.chars().count().abs_diff(letters) <= wrong;
    about
        && word != meant
        && word.chars().next() == meant.chars().next()
        && strsim::osa_distance(word, meant) <= wrong
}

impl View {
    /// The remembered word that a lower-case one was most likely meant to be: the nearest, of equals the most frequent.
    /// `None` where the word is remembered itself, is too short to tell, or is like none.
    #[must_use]
    pub fn spelled(&self, word: &str) -> Option<String> {
        let first = word.chars().next()?;
        let plain = word.chars().count() >= SHORTEST && word.chars().all(char::is_alphabetic);
        if !plain || telling_stems(word).is_empty() || self.is_mentioned(word) {
            return None;
        }
        let docs = self.tables.memories.log().partition_point(|seq| seq <= self.seq());
        let near = self.tables.lexical.words(first, |known| is_misspelt(word, known)).into_iter();
        let ranked = near.filter_map(|(known, stem)| {
            let count = self.tables.lexical.frequency(&stem, docs);
            let wrong = strsim::osa_distance(word, &known);
            (count > 0).then_some((wrong, Reverse(count), known))
        });
        ranked.min().map(|(.., known)| known)
    }
}

#[cfg(test)]
mod tests {
    use super::is_misspelt;

    #[test]
    fn a_word_is_known_by_most_of_its_letters() {
        for (word, meant) in [
            ("hegde", "hedge"),
            ("trimer", "trimmer"),
            ("telescpoe", "telescope"),
            ("umbrelas", "umbrella"),
        ] {
            assert!(is_misspelt(word, meant), "{word}, {meant}");
        }
        for (word, meant) in
            [("hedge", "hedge"), ("house", "mouse"), ("table", "tables lamp"), ("basket", "bucket")]
        {
            assert!(!is_misspelt(word, meant), "{word}, {meant}");
        }
    }
}
