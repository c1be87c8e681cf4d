//! "In which room is the insulin?" asks where it is.

use std::borrow::Cow;

use super::words::{BE, listed};

/// How such a question begins, longest first.
const OPENINGS: [&str; 5] =
    ["in which room", "in what room", "which room", "what room", "whose room"];

/// The question with "where" in place of the room that is asked for.
pub(super) fn where_is(text: &str) -> Cow<'_, str> {
    let head = text.trim_start();
    let found = OPENINGS.iter().find_map(|opening| {
        let (start, rest) = head.split_at_checked(opening.len())?;
        start.eq_ignore_ascii_case(opening).then_some((*opening, rest))
    });
    let Some((opening, after)) = found.filter(|(_, rest)| rest.starts_with(' ')) else {
        return text.into();
    };
    let verb = after.split_whitespace().next().unwrap_or_default().to_lowercase();
    if !listed(BE, &verb) {
        return text.into();
    }
    let bare = after.trim_end_matches(|c: char| !c.is_alphanumeric());
    match bare.strip_suffix(" in") {
        // "Which room is it in?"
        Some(bare) => format!("Where{bare}?").into(),
        // "Whose room is the kitchen?"
        None if opening.starts_with("whose") => text.into(),
        None => format!("Where{bare}?").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::where_is;

    #[test]
    fn a_room_is_a_where() {
        for (text, wanted) in [
            ("In which room is the insulin?", "Where is the insulin?"),
            ("what room are the keys in?", "Where are the keys?"),
            ("Which room did Ava clean?", "Which room did Ava clean?"),
            ("Which rooms are there?", "Which rooms are there?"),
            ("Whose room is the mug in?", "Where is the mug?"),
            ("Whose room is the kitchen?", "Whose room is the kitchen?"),
            ("", ""),
        ] {
            assert_eq!(where_is(text), wanted);
        }
    }
}
