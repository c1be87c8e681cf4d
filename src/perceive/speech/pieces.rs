//! Words out of the pieces of bytes that a recogniser writes them in.
//!
//! A piece may end in the middle of a letter: letters are read when the bytes of a word are together.

use crate::percept::Word;
use crate::time::Span;

/// The words so far, the last one perhaps unfinished.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<Draft>);

#[derive(Debug)]
struct Draft {
    bytes: Vec<u8>,
    span: Span,
    /// Of its pieces' probabilities the least, marks aside.
    probability: f32,
}

impl Pieces {
    /// Takes the next piece; one that begins with a space begins a word.
    pub(super) fn add(&mut self, bytes: &[u8], span: Span, probability: f32) {
        match self.0.last_mut() {
            Some(word) if !bytes.starts_with(b" ") => {
                word.bytes.extend_from_slice(bytes);
                word.span = Span::new(word.span.start, span.end);
                // A comma where a full stop might stand is no doubt of the word.
                if bytes.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
                    word.probability = word.probability.min(probability);
                }
            }
            _ => self.0.push(Draft { bytes: bytes.to_vec(), span, probability }),
        }
    }

    /// All words, in their order.
    pub(super) fn words(self) -> Vec<Word> {
        let words = self.0.into_iter().map(|Draft { bytes, span, probability }| Word {
            text: String::from_utf8_lossy(&bytes).trim().into(),
            span,
            confidence: Some(probability.clamp(0.0, 1.0)),
        });
        words.filter(|word| !word.text.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    /// The words of pieces that are a second long each.
    fn words(pieces: &[(&[u8], f32)]) -> Vec<Word> {
        let at = |secs: usize| Timestamp::EPOCH.plus_secs(secs as f64);
        let mut all = Pieces::default();
        for (second, (bytes, probability)) in pieces.iter().enumerate() {
            all.add(bytes, Span::new(at(second), at(second + 1)), *probability);
        }
        all.words()
    }

    #[test]
    fn a_letter_that_is_split_over_two_pieces_is_whole_again() {
        for text in [" caf\u{e9}", "\u{4eca}\u{65e5}\u{306f}", " na\u{ef}ve", "\u{1f600}"] {
            for cut in 0..=text.len() {
                let (head, tail) = text.as_bytes().split_at(cut);
                let read = words(&[(head, 0.9), (tail, 0.6)]);
                assert_eq!(read.len(), 1, "{text} {cut}");
                assert_eq!(&*read[0].text, text.trim(), "{cut}");
            }
        }
    }

    #[test]
    fn a_space_begins_a_word_that_has_the_times_and_the_least_probability_of_its_pieces() {
        let read =
            words(&[(b" Good", 0.9), (b" morn", 0.8), (b"ing", 0.4), (b".", 0.2), (b" ", 0.1)]);
        let told: Vec<_> = read
            .iter()
            .map(|word| {
                let (start, end) = (word.span.start, word.span.end);
                let since = |at: Timestamp| at.secs_since(Timestamp::EPOCH);
                (&*word.text, since(start), since(end), word.confidence)
            })
            .collect();
        assert_eq!(told, [("Good", 0.0, 1.0, Some(0.9)), ("morning.", 1.0, 4.0, Some(0.4))]);
        assert!(words(&[(b"\xff", 0.5)])[0].text.contains('\u{fffd}'), "no text at all is told");
    }
}
