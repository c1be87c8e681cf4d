//! Mentions of entities in text, `<person_4>`, as parsed spans: never as substrings.

use std::fmt::Write as _;
use std::ops::Range;

use crate::ids::EntityId;

/// A stretch of text: plain, or a mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Bytes of the text, angle brackets included.
    pub range: Range<usize>,
    /// Whom it names.
    pub entity: EntityId,
}

/// All mentions in reading order. Angle brackets that hold no entity id are plain text.
#[must_use]
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find('<').map(|at| from + at) {
        let inside = open + 1;
        let Some(len) = text[inside..].find(['<', '>']) else { break };
        let close = inside + len;
        if text.as_bytes()[close] == b'>' {
            if let Ok(entity) = text[inside..close].parse::<EntityId>() {
                found.push(Mention { range: open..close + 1, entity });
            }
            from = close + 1;
        } else {
            from = close;
        }
    }
    found
}

/// The text with each mention replaced by what `name` gives for it.
pub fn render(text: &str, mut name: impl FnMut(EntityId) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for mention in mentions(text) {
        out.push_str(&text[from..mention.range.start]);
        let _ = write!(out, "{}", name(mention.entity));
        from = mention.range.end;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;

    #[test]
    fn one_digit_more_is_another_entity() {
        let text = "<person_1> met <person_14>, a < b, <nobody> and <<person_2>";
        let found: Vec<_> = mentions(text).into_iter().map(|m| m.entity.to_string()).collect();
        assert_eq!(found, ["person_1", "person_14", "person_2"]);
        let ava = EntityId::new(EntityKind::Person, 1);
        let named = render(text, |id| if id == ava { "Ava".into() } else { id.to_string() });
        assert_eq!(named, "Ava met person_14, a < b, <nobody> and <person_2");
    }
}
