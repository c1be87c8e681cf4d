//! Documents: a text, a Markdown file or a PDF becomes passages, each with its place.
//!
//! What a file says is read into blocks (`text`, `markdown`, `pdf`): a heading or a run of words, with line and page. Blocks of one
//! section become passages of a size that can be quoted ([`passages`]). Nothing here knows of the memory. A PDF is read in a process of
//! its own (`apart`): it is the one form whose reading may fail in ways that nobody can catch.

mod apart;
mod markdown;
mod passages;
mod pdf;
mod text;

use serde::{Deserialize, Serialize};

pub use apart::{READ_PDF, serve};
pub use passages::Passage;

/// The largest document that is read, bytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The most passages of one document.
pub const MAX_PASSAGES: usize = 20_000;

/// In what form a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Plain text, UTF-8.
    Text,
    /// CommonMark.
    Markdown,
    /// PDF (ISO 32000) whose text can be copied.
    Pdf,
}

impl Format {
    /// The form of a file by its first bytes and the end of its name.
    #[must_use]
    pub fn of(name: &str, bytes: &[u8]) -> Self {
        let end = name.rsplit('.').next().unwrap_or_default().to_lowercase();
        match end.as_str() {
            _ if bytes.starts_with(b"%PDF-") => Self::Pdf,
            "pdf" => Self::Pdf,
            "md" | "markdown" => Self::Markdown,
            _ => Self::Text,
        }
    }
}

/// Why a document was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum DocumentError {
    /// It is larger than [`MAX_BYTES`].
    #[error("it has {bytes} bytes, more than the {MAX_BYTES} that are read; split it")]
    TooLarge {
        /// How many it has.
        bytes: usize,
    },
    /// It has more passages than [`MAX_PASSAGES`].
    #[error("it has {passages} passages, more than the {MAX_PASSAGES} that are kept; split it")]
    TooLong {
        /// How many it has.
        passages: usize,
    },
    /// It is no text.
    #[error("it is not UTF-8 text: byte {at} begins no character")]
    NotText {
        /// The first byte that is wrong.
        at: usize,
    },
    /// There is nothing to be read in it.
    #[error("there are no words in it")]
    Empty,
    /// There are pages, and no letters on them.
    #[error(
        "its {pages} pages are pictures without letters; run it through a text recogniser (ocrmypdf) first"
    )]
    Pictures {
        /// How many pages.
        pages: u32,
    },
    /// It needs a password.
    #[error("it is encrypted; save it without a password")]
    Encrypted,
    /// Its bytes are no PDF, or a damaged one.
    #[error("it is no PDF that can be read: {0}")]
    Damaged(String),
    /// Reading it did not end well: it took too long or too much memory, or the reader fell over.
    #[error("reading it {0}; save it anew, or as text")]
    GaveUp(String),
}

/// A piece of a document as it stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Block {
    /// Its words in one line; for a heading its title.
    text: String,
    kind: Kind,
    /// From 1; `None` of a form that has no pages.
    page: Option<u32>,
    /// First line, from 1: of the file, or of the page where there are pages.
    line: u32,
    /// Last line.
    last_line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// What follows is about it.
    Heading,
    /// Words of a section; may be joined with those before.
    Words,
}

/// The passages of a document, in order. A PDF is read by a process of its own: `engramd`, this program.
///
/// # Errors
/// [`DocumentError`]: what is wrong with it.
pub fn read(format: Format, bytes: &[u8]) -> Result<Vec<Passage>, DocumentError> {
    if bytes.len() > MAX_BYTES {
        return Err(DocumentError::TooLarge { bytes: bytes.len() });
    }
    let blocks = match format {
        Format::Pdf => apart::blocks(bytes)?,
        Format::Text | Format::Markdown => {
            let text = std::str::from_utf8(bytes)
                .map_err(|error| DocumentError::NotText { at: error.valid_up_to() })?;
            let text = text.trim_start_matches('\u{feff}');
            if format == Format::Text { text::blocks(text) } else { markdown::blocks(text) }
        }
    };
    let found = passages::of(&blocks);
    match found.len() {
        0 => Err(DocumentError::Empty),
        passages if passages > MAX_PASSAGES => Err(DocumentError::TooLong { passages }),
        _ => Ok(found),
    }
}

/// Words in one line: white space of any kind is one space, control characters go.
fn in_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Of each block whether it is a heading, its words, and its first and last line.
#[cfg(test)]
fn told(blocks: Vec<Block>) -> Vec<(bool, String, u32, u32)> {
    let of = |one: Block| (one.kind == Kind::Heading, one.text, one.line, one.last_line);
    blocks.into_iter().map(of).collect()
}
