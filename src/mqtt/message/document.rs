//! A document as `remember` brings it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use super::Refusal;
use crate::document::{DocumentError, Format, MAX_PASSAGES, Passage, read};

/// Longest name of a document, bytes.
const MAX_NAME_BYTES: usize = 200;
/// Longest passage that somebody else made, bytes.
const MAX_PASSAGE_BYTES: usize = 4_000;

/// A document, in one of three forms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldDocument {
    /// What it is called: told again under that name, it is told anew.
    pub name: String,
    /// Its text: Markdown where the name ends in `.md`, else plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A PDF, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdf: Option<String>,
    /// Passages that whoever sends them made, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
}

impl ToldDocument {
    /// Whether it has a name and one form.
    ///
    /// # Errors
    /// `bad_request`, with how to write it.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let strange = |c: char| c.is_control() || c == '<' || c == '>';
        let name = self.name.trim();
        if name.is_empty() || self.name.len() > MAX_NAME_BYTES || name.contains(strange) {
            return Err(Refusal::bad_request(format!(
                "`document.name` must have 1 to {MAX_NAME_BYTES} bytes, and no `<`, `>` or control characters"
            )));
        }
        let forms = [self.text.is_some(), self.pdf.is_some(), self.passages.is_some()];
        if forms.iter().filter(|one| **one).count() != 1 {
            return Err(Refusal::bad_request(
                "give exactly one of `document.text`, `document.pdf` and `document.passages`",
            ));
        }
        let passages = self.passages.as_deref().unwrap_or_default();
        if self.passages.is_some() && !(1..=MAX_PASSAGES).contains(&passages.len()) {
            return Err(Refusal::bad_request(format!(
                "`document.passages` must hold 1 to {MAX_PASSAGES} passages"
            )));
        }
        let fits = |text: &str, most: usize| !text.trim().is_empty() && text.len() <= most;
        let wrong = passages.iter().position(|one| {
            let heading =
                one.heading.as_deref().is_none_or(|heading| fits(heading, MAX_NAME_BYTES));
            !fits(&one.text, MAX_PASSAGE_BYTES)
                || !heading
                || one.line == 0
                || one.page == Some(0)
                || one.last_line < one.line
        });
        match wrong {
            Some(at) => Err(Refusal::bad_request(format!(
                "`document.passages[{at}]`: `text` must have 1 to {MAX_PASSAGE_BYTES} bytes, a `heading` 1 to \
                 {MAX_NAME_BYTES}, lines and pages count from 1, and `last_line` is not before `line`"
            ))),
            None => Ok(()),
        }
    }

    /// Its passages.
    ///
    /// # Errors
    /// `bad_request`: it cannot be read, and why.
    pub fn into_passages(self) -> Result<Vec<Passage>, Refusal> {
        let Self { name, text, pdf, passages } = self;
        let refused = |error: DocumentError| {
            let message = format!("the document {name:?} was not read: {error}");
            match error {
                DocumentError::TooLarge { .. } | DocumentError::TooLong { .. } => {
                    Refusal::too_large(message)
                }
                _ => Refusal::bad_request(message),
            }
        };
        if let Some(passages) = passages {
            return Ok(passages);
        }
        if let Some(pdf) = pdf {
            let bytes = BASE64.decode(pdf.trim()).map_err(|error| {
                Refusal::bad_request(format!("`document.pdf`: no base64: {error}"))
            })?;
            return read(Format::Pdf, &bytes).map_err(refused);
        }
        let text = text.unwrap_or_default();
        let format = match Format::of(&name, b"") {
            Format::Markdown => Format::Markdown,
            Format::Text | Format::Pdf => Format::Text,
        };
        read(format, text.as_bytes()).map_err(refused)
    }
}
