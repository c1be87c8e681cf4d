//! What is read of a long text for a question: parsing all of what many pages hold would take seconds, and of a thousand sentences
//! some look like an answer by chance.

use std::borrow::Cow;

use crate::memory::stems;
use crate::text::sentences;

/// Bytes of a text that is read whole: few utterances have more.
const WHOLE: usize = 1_000;

/// Whether a text is not read whole.
pub(super) fn is_long(text: &str) -> bool {
    text.len() > WHOLE
}

/// Of a long text the sentences that hold most of the wanted words (stems, each with its weight), in their order, each with the
/// one before it, which may say what it is about.
pub(super) fn passages<'t>(text: &'t str, wanted: &[(String, f32)]) -> Cow<'t, str> {
    if !is_long(text) {
        return text.into();
    }
    let all: Vec<&str> = sentences(text).collect();
    let weights: Vec<f32> = all.iter().map(|sentence| weight(sentence, wanted)).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]).then(a.cmp(b)));
    let (mut read, mut bytes) = (vec![false; all.len()], 0);
    for best in order {
        let pair = [Some(best), best.checked_sub(1)].into_iter().flatten();
        for at in pair.filter(|at| !read[*at]).collect::<Vec<_>>() {
            bytes += all[at].len() + 1;
            read[at] = bytes <= WHOLE;
        }
        if bytes > WHOLE {
            break;
        }
    }
    let read: Vec<&str> =
        all.iter().zip(read).filter(|(_, read)| *read).map(|(one, _)| *one).collect();
    match read.is_empty() {
        true => text[..text.floor_char_boundary(WHOLE)].into(),
        false => read.join(" ").into(),
    }
}

fn weight(sentence: &str, wanted: &[(String, f32)]) -> f32 {
    let have = stems(sentence);
    wanted.iter().filter(|(stem, _)| have.contains(stem)).map(|(_, weight)| weight).sum()
}

/// The last sentences of a long text: what is said next is said to them.
pub(super) fn ending(text: &str) -> &str {
    if !is_long(text) {
        return text;
    }
    let first = text.ceil_char_boundary(text.len() - WHOLE);
    let mut from = first;
    for sentence in sentences(text) {
        let at = sentence.as_ptr() as usize - text.as_ptr() as usize;
        if at >= first {
            from = at;
            break;
        }
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(words: &[(&str, f32)]) -> Vec<(String, f32)> {
        words.iter().map(|(word, weight)| (stems(word).concat(), *weight)).collect()
    }

    #[test]
    fn of_a_long_text_the_sentences_with_the_wanted_words_are_read() {
        let filler =
            |number: usize| format!("Line {number} tells of nothing that anybody asked about. ");
        let mut text: String = (0..40).map(filler).collect();
        text += "The lease of the workshop was signed by Priya. It ends in 2031. ";
        text.extend((40..80).map(filler));
        let read = passages(&text, &wanted(&[("workshop", 3.0), ("lease", 2.0), ("ends", 1.0)]));
        assert!(read.len() <= WHOLE, "{}", read.len());
        let lease = read.find("The lease of the workshop was signed by Priya. It ends in 2031.");
        assert!(lease.is_some(), "{read}");
        assert!(read.find("Line 39").is_some_and(|before| Some(before) < lease), "{read}");
        // A short one is read whole, one without any of the words from its beginning, one without an end at all, too.
        assert_eq!(passages("Priya signed.", &[]), "Priya signed.");
        assert!(passages(&text, &wanted(&[("zebra", 1.0)])).starts_with("Line 0 tells"));
        let endless = "ä,".repeat(4_000);
        assert!(endless.starts_with(&*passages(&endless, &[])));
    }

    #[test]
    fn of_what_was_said_before_the_end_counts() {
        let text = format!("{} Shall we take the tram?", "We walked a while. ".repeat(100));
        let end = ending(&text);
        assert!(
            end.len() <= WHOLE && end.starts_with("We walked") && end.ends_with("tram?"),
            "{end}"
        );
        assert_eq!(ending("Shall we?"), "Shall we?");
        assert!(ending(&"ä".repeat(4_000)).len() <= WHOLE);
    }
}
