//! Plain text: paragraphs between empty lines, items of lists, and what is written as a heading.

use super::{Block, Kind};

/// A heading has at most so many letters …
const MOST: usize = 80;
/// … and so many words.
const MOST_WORDS: usize = 12;

/// A line that begins so far to the right stands in the middle, columns.
const CENTRED: usize = 20;

/// A line with words in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    words: &'t str,
    /// Columns before the words.
    indent: usize,
    /// From 1.
    number: u32,
}

impl<'t> Line<'t> {
    /// One that is not indented.
    pub(super) fn new(words: &'t str, number: u32) -> Self {
        Self { words, indent: 0, number }
    }
}

/// The blocks of a plain text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let paragraphs = paragraphs(text);
    for (at, lines) in paragraphs.iter().enumerate() {
        let next = paragraphs.get(at + 1).map(|next| next[0].indent);
        take(lines, next, &mut found);
    }
    found
}

/// Lines between empty ones.
fn paragraphs(text: &str) -> Vec<Vec<Line<'_>>> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let words = line.trim();
        // The sides of a box.
        let boxed = words.strip_prefix('|').and_then(|words| words.strip_suffix('|'));
        let words = boxed.map_or(words, str::trim);
        if words.is_empty() {
            if !open.is_empty() {
                found.push(std::mem::take(&mut open));
            }
            continue;
        }
        let before = line.len() - line.trim_start().len();
        let tabs = line[..before].matches('\t').count();
        open.push(Line { words, indent: before + 7 * tabs, number });
    }
    if !open.is_empty() {
        found.push(open);
    }
    found
}

/// A paragraph as blocks; `next`: how far the next one is indented.
fn take(lines: &[Line<'_>], next: Option<usize>, found: &mut Vec<Block>) {
    let mut rest = lines;
    // A title with a line of signs below it.
    if let [title, rule, below @ ..] = rest
        && is_rule(rule.words)
        && may_be_title(title.words)
    {
        found.push(heading(title.words, title.number));
        rest = below;
    }
    if let [title, below @ ..] = rest {
        let marked =
            title.words.strip_prefix('#').map(|words| words.trim_start_matches('#').trim());
        let centred = title.indent >= CENTRED;
        let alone = below.is_empty() && next.is_some_and(|next| next >= title.indent || centred);
        let term = below.first().is_some_and(|below| below.indent > title.indent + 1)
            && item(title.words).is_none();
        if let Some(marked) = marked.filter(|words| !words.is_empty()) {
            found.push(heading(marked, title.number));
            rest = below;
        } else if (alone || term) && may_be_title(title.words) && item(title.words).is_none() {
            found.push(heading(title.words, title.number));
            rest = below;
        }
    }
    let mut open: Vec<Line<'_>> = Vec::new();
    for line in rest.iter().filter(|line| !is_rule(line.words)) {
        if item(line.words).is_some() && !open.is_empty() {
            found.push(words(&open));
            open.clear();
        }
        open.push(*line);
    }
    if !open.is_empty() {
        found.push(words(&open));
    }
}

fn heading(title: &str, number: u32) -> Block {
    let text = title.trim_end_matches(':').to_owned();
    Block { text, kind: Kind::Heading, page: None, line: number, last_line: number }
}

fn words(lines: &[Line<'_>]) -> Block {
    let text = joined(lines.iter().copied());
    let number = |line: Option<&Line<'_>>| line.map_or(1, |line| line.number);
    let (line, last_line) = (number(lines.first()), number(lines.last()));
    Block { text, kind: Kind::Words, page: None, line, last_line }
}

/// The words of lines, without the signs of items.
pub(super) fn joined<'t>(lines: impl Iterator<Item = Line<'t>>) -> String {
    let mut text = String::new();
    for line in lines {
        let words = item(line.words).unwrap_or(line.words);
        // A word that was parted at the end of a line.
        let parted = text.strip_suffix('-').is_some_and(|text| text.ends_with(char::is_lowercase))
            && words.starts_with(char::is_lowercase);
        if parted {
            text.pop();
        } else if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(words);
    }
    text
}

/// Whether a line is an item of a list.
pub(super) fn is_item(words: &str) -> bool {
    item(words).is_some()
}

/// The words of an item of a list.
fn item(words: &str) -> Option<&str> {
    let sign = words.strip_prefix(['*', '-', '+', '•', '◦', '▪', '–']);
    if let Some(rest) = sign.filter(|rest| rest.starts_with(' ')) {
        return Some(rest.trim_start());
    }
    let digits = words.find(|c: char| !c.is_ascii_digit()).filter(|at| (1..=3).contains(at))?;
    let rest = words[digits..].strip_prefix(['.', ')'])?;
    rest.starts_with(' ').then(|| rest.trim_start())
}

/// A line of signs.
fn is_rule(words: &str) -> bool {
    words.len() >= 3 && !words.chars().any(|c| c.is_alphanumeric() || c.is_whitespace())
}

/// Whether a line can be a title: short, begun as one, and no sentence.
pub(super) fn may_be_title(words: &str) -> bool {
    let begins = words.trim_start_matches(['"', '\'', '“', '‘', '(', '[']).chars().next();
    let ends = words.chars().next_back();
    words.chars().count() <= MOST
        && words.split_whitespace().count() <= MOST_WORDS
        && begins.is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
        && !words.starts_with('[')
        && ends.is_some_and(|c| !matches!(c, '.' | ',' | ';' | '!'))
        && words.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::super::told;
    use super::*;

    #[test]
    fn titles_terms_items_and_paragraphs_are_told_apart() {
        let text = "\
                      ROBOT 9000
                      ==========

Cleaning

  The dust box is emp-
  tied every day.

  Weekly:
     Wash the filter.
  Then
     wait.

* Unplug it.
* Wipe it
  dry.

1. First step
2) Second step
Is it broken?

   Call us.
";
        let is = |heading, text: &str, line, last| (heading, text.to_owned(), line, last);
        assert_eq!(
            told(blocks(text)),
            [
                is(true, "ROBOT 9000", 1, 1),
                is(true, "Cleaning", 4, 4),
                is(false, "The dust box is emptied every day.", 6, 7),
                is(true, "Weekly", 9, 9),
                is(false, "Wash the filter. Then wait.", 10, 12),
                is(false, "Unplug it.", 14, 14),
                is(false, "Wipe it dry.", 15, 16),
                is(false, "First step", 18, 18),
                is(false, "Second step Is it broken?", 19, 20),
                is(false, "Call us.", 22, 22),
            ]
        );
    }
}
