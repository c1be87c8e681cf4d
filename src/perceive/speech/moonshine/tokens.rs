//! The tokenizer's table: what each token writes.

use std::path::Path;

use super::super::TranscribeError;
use super::files::setting;

/// A blank in the table's pieces, as SentencePiece writes it: U+2581.
const BLANK: &[u8] = "\u{2581}".as_bytes();

/// Pieces by token.
#[derive(Debug)]
pub(super) struct Tokens(Vec<Vec<u8>>);

impl Tokens {
    /// Reads `tokenizer.bin` of the package `moonshine-cpp`: byte strings with their lengths before them; a length of
    /// 128 and more takes two bytes, the lower seven bits first. A piece of no bytes is a mark that writes nothing.
    pub(super) fn read(path: &Path) -> Result<Self, TranscribeError> {
        let fail = |reason: String| setting(format!("{}: {reason}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
        Self::parse(&bytes).ok_or_else(|| fail("a piece ends after the file".to_owned()))
    }

    fn parse(mut bytes: &[u8]) -> Option<Self> {
        let mut pieces = Vec::new();
        while let Some((&first, rest)) = bytes.split_first() {
            let (length, rest) = match rest.split_first() {
                Some((&second, rest)) if first >= 128 => {
                    (usize::from(second) * 128 + usize::from(first) - 128, rest)
                }
                None if first >= 128 => return None,
                _ => (usize::from(first), rest),
            };
            let (piece, rest) = rest.split_at_checked(length)?;
            pieces.push(piece.to_vec());
            bytes = rest;
        }
        Some(Self(pieces))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What a token writes, with plain blanks; nothing for a token that the table does not have.
    pub(super) fn piece(&self, token: usize) -> Vec<u8> {
        let Some(mut rest) = self.0.get(token).map(Vec::as_slice) else { return Vec::new() };
        let mut written = Vec::with_capacity(rest.len());
        while let Some((&byte, after)) = rest.split_first() {
            match rest.strip_prefix(BLANK) {
                Some(after) => {
                    written.push(b' ');
                    rest = after;
                }
                None => {
                    written.push(byte);
                    rest = after;
                }
            }
        }
        written
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_their_length_before_them() {
        let mut file = vec![0, 2, b'h', b'i', 5];
        file.extend_from_slice("\u{2581}my".as_bytes());
        file.extend_from_slice(&[128 + 2, 1]);
        file.extend_from_slice(&[b'x'; 130]);
        let tokens = Tokens::parse(&file).unwrap();
        assert_eq!(tokens.len(), 4);
        let written: Vec<Vec<u8>> = (0..5).map(|token| tokens.piece(token)).collect();
        assert_eq!(written, [vec![], b"hi".to_vec(), b" my".to_vec(), vec![b'x'; 130], vec![]]);
    }

    #[test]
    fn a_table_that_was_cut_off_is_refused() {
        for cut in [&[3, b'a'][..], &[200], &[130, 1, b'x']] {
            assert!(Tokens::parse(cut).is_none(), "{cut:?}");
        }
    }
}
