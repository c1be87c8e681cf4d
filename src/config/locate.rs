//! Where in a TOML text a key stands.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Place;

/// A parsed file that still knows where everything was written.
pub(super) struct Text<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) table: Spanned<DeTable<'a>>,
}

impl Text<'_> {
    /// Place of a byte of the text.
    pub(super) fn place(&self, byte: usize) -> Place {
        place(self.path, self.text, byte)
    }

    /// Place of the value at `section.key` or `camera.0.uri`; `None` when the file does not write it.
    pub(super) fn find(&self, path: &str) -> Option<Place> {
        let mut parts = path.split('.');
        let first = parts.next()?;
        let mut here = self.table.get_ref().get(first)?;
        for part in parts {
            here = match here.get_ref() {
                DeValue::Table(table) => table.get(part)?,
                DeValue::Array(array) => array.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(self.place(here.span().start))
    }
}

/// Line and column of a byte.
pub(super) fn place(path: &Path, text: &str, byte: usize) -> Place {
    let before = &text[..floor_char(text, byte)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Place::File {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

fn floor_char(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A key that was found where none of that name is known.
pub(super) struct UnknownKey {
    pub(super) section: String,
    pub(super) key: String,
    pub(super) siblings: Vec<&'static str>,
    pub(super) span: Range<usize>,
}

/// All keys of `table` that `known` (a level of [`super::keys::tree`]) lacks.
pub(super) fn unknown_keys(
    table: &DeTable<'_>,
    known: &'static serde_json::Value,
) -> Vec<UnknownKey> {
    let mut found = Vec::new();
    walk(table, known, "", &mut found);
    found
}

fn walk(
    table: &DeTable<'_>,
    known: &'static serde_json::Value,
    section: &str,
    found: &mut Vec<UnknownKey>,
) {
    let Some(known) = known.as_object() else { return };
    for (key, value) in table {
        let name: &str = key.get_ref();
        let Some(below) = known.get(name) else {
            found.push(UnknownKey {
                section: section.to_owned(),
                key: name.to_owned(),
                siblings: known.keys().map(String::as_str).collect(),
                span: key.span(),
            });
            continue;
        };
        match value.get_ref() {
            DeValue::Table(inner) => walk(inner, below, name, found),
            DeValue::Array(entries) => {
                let Some(below) = below.get(0) else { continue };
                for entry in entries.iter() {
                    if let DeValue::Table(inner) = entry.get_ref() {
                        walk(inner, below, name, found);
                    }
                }
            }
            _ => {}
        }
    }
}
