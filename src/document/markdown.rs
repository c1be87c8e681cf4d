//! Markdown (CommonMark, with tables): headings, paragraphs, list items, rows of tables, code.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{Block, Kind};

/// The blocks of a Markdown text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let lines = Lines::of(text);
    let mut found = Vec::new();
    let mut current = Open::default();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                current.end(&mut found, &lines);
                current.kind = Some(Kind::Heading);
            }
            Event::Start(
                Tag::Paragraph | Tag::Item | Tag::CodeBlock(_) | Tag::TableHead | Tag::TableRow,
            )
            | Event::End(
                TagEnd::Heading(_)
                | TagEnd::Paragraph
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::TableHead
                | TagEnd::TableRow,
            )
            | Event::Rule => current.end(&mut found, &lines),
            Event::Start(Tag::TableCell) => current.add(" ", range.start, range.start),
            Event::End(TagEnd::TableCell) => current.add("; ", range.end, range.end),
            Event::Text(words) | Event::Code(words) => {
                current.add(&words, range.start, range.end);
            }
            Event::SoftBreak | Event::HardBreak => current.add(" ", range.start, range.end),
            _ => {}
        }
    }
    current.end(&mut found, &lines);
    found
}

/// The block that is being read.
#[derive(Default)]
struct Open {
    text: String,
    kind: Option<Kind>,
    /// First and last byte of its words.
    range: Option<(usize, usize)>,
}

impl Open {
    fn add(&mut self, words: &str, from: usize, to: usize) {
        self.text.push_str(words);
        if words.trim().is_empty() || from == to {
            return;
        }
        let (first, _) = self.range.unwrap_or((from, to));
        self.range = Some((first, to));
    }

    fn end(&mut self, found: &mut Vec<Block>, lines: &Lines) {
        let Self { text, kind, range } = std::mem::take(self);
        let Some((from, to)) = range else { return };
        let text = text.trim().trim_end_matches(';').to_owned();
        let (line, last_line) = (lines.at(from), lines.at(to.saturating_sub(1).max(from)));
        found.push(Block { text, kind: kind.unwrap_or(Kind::Words), page: None, line, last_line });
    }
}

/// Where each line begins.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1.
    fn at(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|end| *end < byte) + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::told;
    use super::*;

    #[test]
    fn headings_paragraphs_items_and_rows_come_with_their_lines() {
        let text = "# Robot *9000*\n\nIt vacuums\nthe floor.\n\n## Cleaning\n\n- Unplug it.\n- Wipe the `housing`.\n\n| part | every |\n|---|---|\n| filter | week |\n\n```\nreset now\n```\n";
        let is = |heading, text: &str, line, last| (heading, text.to_owned(), line, last);
        assert_eq!(
            told(blocks(text)),
            [
                is(true, "Robot 9000", 1, 1),
                is(false, "It vacuums the floor.", 3, 4),
                is(true, "Cleaning", 6, 6),
                is(false, "Unplug it.", 8, 8),
                is(false, "Wipe the housing.", 9, 9),
                is(false, "part;  every", 11, 11),
                is(false, "filter;  week", 13, 13),
                is(false, "reset now", 16, 16),
            ]
        );
    }
}
