//! Mentions of entities in text, `<person_4>`, as parsed spans: never as substrings.

use std::fmt::Write as _;
use std::ops::Range;

use crate::ids::{EntityId, EntityKind};

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

/// An id in the text of a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelled {
    /// Its bytes, angle brackets included.
    pub range: Range<usize>,
    /// What it names; `None` for a number that nothing can have.
    pub id: Option<EntityId>,
}

/// Every `<person_4>`, `person_4` and `<character_4>` (the published models' word for a person), in order.
#[must_use]
pub fn spelled(text: &str) -> Vec<Spelled> {
    const WORDS: [(&str, EntityKind); 6] = [
        ("person_", EntityKind::Person),
        ("character_", EntityKind::Person),
        ("face_", EntityKind::Face),
        ("voice_", EntityKind::Voice),
        ("object_", EntityKind::Object),
        ("place_", EntityKind::Place),
    ];
    let bytes = text.as_bytes();
    let mut found: Vec<Spelled> = Vec::new();
    for (word, kind) in WORDS {
        for (at, _) in text.match_indices(word) {
            let before = at.checked_sub(1).map(|at| bytes[at]);
            if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
                continue;
            }
            let digits = &text[at + word.len()..];
            let digits = digits.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                continue;
            }
            let (mut start, mut end) = (at, at + word.len() + digits);
            let number = text[at + word.len()..end].parse::<u32>().ok();
            if before == Some(b'<') && bytes.get(end) == Some(&b'>') {
                start -= 1;
                end += 1;
            }
            found.push(Spelled { range: start..end, id: number.map(|n| EntityId::new(kind, n)) });
        }
    }
    found.sort_by_key(|one| one.range.start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digit_more_is_another_entity() {
        let text = "<person_1> met <person_14>, a < b, <nobody> and <<person_2>";
        let found: Vec<_> = mentions(text).into_iter().map(|m| m.entity.to_string()).collect();
        assert_eq!(found, ["person_1", "person_14", "person_2"]);
        let ava = EntityId::new(EntityKind::Person, 1);
        let named = render(text, |id| if id == ava { "Ava".into() } else { id.to_string() });
        assert_eq!(named, "Ava met person_14, a < b, <nobody> and <person_2");
    }

    #[test]
    fn models_spell_ids_in_many_ways() {
        let text =
            "<person_1> met person_14 and <character_2>; xface_3, person_, voice_99999999999";
        let found: Vec<_> = spelled(text)
            .into_iter()
            .map(|one| (text[one.range].to_owned(), one.id.map(|id| id.to_string())))
            .collect();
        let known = |text: &str, id: &str| (text.to_owned(), Some(id.to_owned()));
        assert_eq!(found[0], known("<person_1>", "person_1"));
        assert_eq!(found[1], known("person_14", "person_14"));
        assert_eq!(found[2], known("<character_2>", "person_2"));
        assert_eq!(found[3], ("voice_99999999999".to_owned(), None));
        assert_eq!(found.len(), 4);
    }
}
