//! The form of a summary's text: a head, then what was most notable, part by part.
//!
//! Upkeep writes and reads it; erasing takes out the parts that repeat what is erased.

use crate::mention;

use super::model::{MemoryKind, MemoryRow};

/// Between the parts.
pub const BETWEEN: &str = " \u{b7} ";
/// A part is cut here, characters.
const MOST_CHARS: usize = 160;
/// What stands between whoever spoke and the words.
const SAID: &str = " said: \"";

/// A text as a part: one line that is not too long and holds no mark of ours; mentions stay whole.
#[must_use]
pub fn sentence(text: &str) -> String {
    let line: String =
        text.chars().map(|c| if c.is_control() || c == '\u{b7}' { ' ' } else { c }).collect();
    if line.chars().count() <= MOST_CHARS {
        return line;
    }
    let mut end = line.char_indices().nth(MOST_CHARS).map_or(line.len(), |(at, _)| at);
    if let Some(cut) = mention::mentions(&line).iter().find(|m| m.range.contains(&end)) {
        end = cut.range.start;
    }
    format!("{}\u{2026}", line[..end].trim_end())
}

/// The text without those of its parts that are `gone`; the head stays.
pub(super) fn without(text: &str, gone: impl Fn(&str) -> bool) -> String {
    let mut parts = text.split(BETWEEN);
    let mut left = parts.next().unwrap_or_default().to_owned();
    for part in parts.filter(|part| !gone(part)) {
        left.push_str(BETWEEN);
        left.push_str(part);
    }
    left
}

/// Whether the part is somebody's words.
pub(super) fn is_quote(part: &str) -> bool {
    part.contains(SAID)
}

/// Whether the memory is a summary that repeats somebody's words.
pub(super) fn quotes(row: &MemoryRow) -> bool {
    row.kind == MemoryKind::Summary && row.text.split(BETWEEN).skip(1).any(is_quote)
}
