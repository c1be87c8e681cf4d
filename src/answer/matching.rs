//! Words of a question against words of an utterance, which a recogniser may have garbled.

use crate::memory::stems;
use crate::time::Span;

use super::reading::{Reading, Spoken};
use crate::ids::EntityId;

/// Share of wanted words from which an utterance is about them.
const MATCHES: f32 = 0.6;
/// The same for a quotation of some length, in which the recogniser may have missed more.
const QUOTE_MATCHES: f32 = 0.5;
/// Utterances taken from the lexical index.
const INDEXED: usize = 200;
/// Likeness from which two stems are the same word misheard.
const ALIKE: f64 = 0.8;

/// Share of the wanted words that the text has, 0–1; a word misheard counts less.
pub(super) fn share(wanted: &[String], text: &str) -> f32 {
    if wanted.is_empty() {
        return 0.0;
    }
    let have = stems(text);
    let best =
        |word: &String| have.iter().map(|other| likeness(word, other)).fold(0.0_f32, f32::max);
    wanted.iter().map(best).sum::<f32>() / wanted.len() as f32
}

fn likeness(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    if a.chars().count() < 4 || b.chars().count() < 4 {
        return 0.0;
    }
    let alike = strsim::normalized_damerau_levenshtein(a, b);
    if alike >= ALIKE { alike as f32 * 0.9 } else { 0.0 }
}

/// Stems of what was asked for: the quotation, else the content words.
pub(super) fn wanted(topic: &[String], quotes: &[String]) -> Vec<String> {
    let mut found =
        if quotes.is_empty() { stems(&topic.join(" ")) } else { stems(&quotes.join(" ")) };
    found.dedup();
    found
}

/// Utterances that hold those words, best first, with their share of them.
pub(super) fn utterances(
    reading: &Reading,
    who: Option<EntityId>,
    spans: Option<&[Span]>,
    topic: &[String],
    quotes: &[String],
) -> Vec<(Spoken, f32)> {
    let wanted = wanted(topic, quotes);
    let least = if wanted.len() >= 3 { QUOTE_MATCHES } else { MATCHES };
    let quick = spans.is_none().then(|| by_index(reading, who, &wanted, topic, quotes)).flatten();
    let mut found: Vec<(Spoken, f32)> = quick
        .unwrap_or_else(|| reading.spoken(who, spans))
        .into_iter()
        .filter_map(|spoken| {
            let score = share(&wanted, spoken.words.as_deref()?);
            (score >= least).then_some((spoken, score))
        })
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.span.start.cmp(&b.0.span.start)));
    found
}

/// Over all time the lexical index spares reading every utterance, as long as it finds all the words; words
/// that were misheard it does not know.
fn by_index(
    reading: &Reading,
    who: Option<EntityId>,
    wanted: &[String],
    topic: &[String],
    quotes: &[String],
) -> Option<Vec<Spoken>> {
    let words = if quotes.is_empty() { topic } else { quotes };
    let hits = reading.said_with(&words.join(" "), who, INDEXED);
    let whole =
        |spoken: &Spoken| spoken.words.as_deref().is_some_and(|text| share(wanted, text) >= 0.99);
    // A full list may have cut off others; then all are read.
    (hits.len() < INDEXED && hits.iter().any(whole)).then_some(hits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misheard_words_count() {
        let words = |text: &str| stems(text);
        assert_eq!(share(&words("red mug"), "I put the red mugs on the table"), 1.0);
        assert!(share(&words("kitchen table"), "the kitchin table") > 0.8);
        assert_eq!(share(&words("red mug"), "a blue cup"), 0.0);
        assert_eq!(share(&[], "anything"), 0.0);
    }
}
