//! Blocks of one section become passages: small enough to be quoted, large enough to be understood alone.

use serde::{Deserialize, Serialize};

use super::{Block, Kind, in_line};
use crate::text::sentences;

/// What a section says is one passage up to here, bytes; what is longer is parted, between two blocks or two sentences.
const LARGE: usize = 1_000;
/// No heading is longer, bytes.
const MOST_HEADING: usize = 160;

/// A passage of a document and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    /// Its words, in one line.
    pub text: String,
    /// The heading above it.
    pub heading: Option<String>,
    /// Page, from 1; `None` of a form that has no pages.
    pub page: Option<u32>,
    /// First line, from 1: of the file, or of the page where there are pages.
    pub line: u32,
    /// Last line.
    pub last_line: u32,
}

/// The passages of blocks, in order.
pub(super) fn of(blocks: &[Block]) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut heading: Option<String> = None;
    // Whether the passage before may take more words; whether the section only tells what there is elsewhere.
    let (mut open, mut skipped) = (false, false);
    for block in blocks {
        let text = in_line(&block.text);
        if !text.chars().any(char::is_alphanumeric) {
            continue;
        }
        let contents = is_contents(&text);
        if block.kind == Kind::Heading {
            skipped = contents;
            let end = text.floor_char_boundary(MOST_HEADING);
            heading = Some(text[..end].trim_end().to_owned());
            open = false;
            continue;
        }
        if skipped || contents {
            continue;
        }
        let last = found
            .last_mut()
            .filter(|last| open && last.text.len() + text.len() < LARGE && last.page == block.page);
        if let Some(last) = last {
            last.text.push(' ');
            last.text.push_str(&text);
            last.last_line = block.last_line;
            continue;
        }
        for (text, share) in parts(&text) {
            let lines = f64::from(block.last_line.saturating_sub(block.line));
            let at = |share: f64| block.line + (share * lines).round() as u32;
            found.push(Passage {
                text,
                heading: heading.clone(),
                page: block.page,
                line: at(share.0),
                last_line: at(share.1),
            });
        }
        open = true;
    }
    found
}

/// Whether words begin a table of contents.
fn is_contents(text: &str) -> bool {
    let words = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    words == "contents" || words.starts_with("table of contents")
}

/// A long text parted between sentences, and which share of it each part is, from and to.
fn parts(text: &str) -> Vec<(String, (f64, f64))> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let within = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
    for sentence in sentences(text) {
        let (from, to) = (within(sentence), within(sentence) + sentence.len());
        match parts.last_mut() {
            Some((start, end)) if to - *start <= LARGE => *end = to,
            _ => parts.push((from, to)),
        }
    }
    if parts.is_empty() {
        parts.push((0, text.len()));
    }
    let whole = text.len().max(1) as f64;
    // What has no sentences at all is parted between words.
    let pieces = parts.into_iter().flat_map(|(from, to)| by_words(text, from, to));
    pieces
        .map(|(from, to)| {
            (text[from..to].trim().to_owned(), (from as f64 / whole, to as f64 / whole))
        })
        .filter(|(text, _)| !text.is_empty())
        .collect()
}

fn by_words(text: &str, mut from: usize, to: usize) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    while to - from > 2 * LARGE {
        let most = text.floor_char_boundary(from + LARGE);
        let end = text[from..most].rfind(' ').filter(|at| *at > 0).map_or(most, |at| from + at);
        pieces.push((from, end));
        from = end;
    }
    pieces.push((from, to));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, line: u32, last_line: u32) -> Block {
        Block { text: text.to_owned(), kind: Kind::Words, page: None, line, last_line }
    }

    fn heading(text: &str, line: u32) -> Block {
        Block { kind: Kind::Heading, ..words(text, line, line) }
    }

    #[test]
    fn small_blocks_of_a_section_are_one_passage_and_those_of_another_are_not() {
        let found = of(&[
            heading("Cleaning", 1),
            words("Unplug it.", 3, 3),
            words("Wipe the\n   housing.", 4, 5),
            heading("Storage", 7),
            words("Keep it dry.", 9, 9),
            words("+-----+", 10, 10),
        ]);
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.heading.as_deref(), one.text.as_str(), one.line, one.last_line))
            .collect();
        assert_eq!(
            told,
            [
                (Some("Cleaning"), "Unplug it. Wipe the housing.", 3, 5),
                (Some("Storage"), "Keep it dry.", 9, 9)
            ]
        );
    }

    #[test]
    fn a_long_block_is_parted_between_sentences_and_each_part_knows_its_lines() {
        let text = "The filter is washed in cold water every week. ".repeat(100);
        let found = of(&[words(&text, 11, 50)]);
        assert!(found.len() > 2, "{}", found.len());
        assert!(found.iter().all(|one| one.text.len() <= LARGE && one.text.ends_with('.')));
        assert_eq!((found[0].line, found.last().map(|one| one.last_line)), (11, Some(50)));
        assert!(found.windows(2).all(|pair| pair[0].last_line <= pair[1].line + 1));
        // Without an end anywhere it is parted all the same, and no letter is lost.
        let endless = "ä ö ".repeat(3_000);
        let found = of(&[words(&endless, 1, 1)]);
        assert!(found.iter().all(|one| one.text.len() <= 2 * LARGE));
        let letters: usize = found.iter().map(|one| one.text.matches('ö').count()).sum();
        assert_eq!(letters, 3_000);
        let one_word = "x".repeat(5_000);
        assert!(of(&[words(&one_word, 1, 1)]).len() > 2);
    }
}
