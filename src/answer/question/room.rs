//! "In which room is the insulin?" asks where it is.

use std::borrow::Cow;

use super::words::{BE, listed};

/// How such a question begins, longest first.
const OPENINGS: [&str; 5] =
    ["in which room", "in what room", "which room", "what room", "whose room"];

const DO: &str = "do does did can could should";
/// What one does in a room of one's own, or to a thing there.
const DWELLS: &str = "sleep live stay sit find keep store";
/// What may stand behind the end of such a question.
const NOW: [&str; 4] = [" now", " today", " currently", " at the moment"];

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
    let mut words = after
        .split_whitespace()
        .map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    let verb = words.next().unwrap_or_default();
    // "Which room does Ava sleep in?", not "Which room did Ava clean?"
    let dwells = listed(DO, &verb) && words.any(|word| listed(DWELLS, &word));
    if !listed(BE, &verb) && !dwells {
        return text.into();
    }
    let bare = after.trim_end_matches(|c: char| !c.is_alphanumeric());
    let cut = NOW.iter().find_map(|now| Some((bare.strip_suffix(now)?, *now)));
    let (bare, now) = cut.unwrap_or((bare, ""));
    match bare.strip_suffix(" in") {
        // "Which room is it in?"
        Some(bare) => format!("Where{bare}{now}?").into(),
        // "Whose room is the kitchen?"
        None if opening.starts_with("whose") => text.into(),
        None => format!("Where{bare}{now}?").into(),
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
            ("In which room does Ava sleep now?", "Where does Ava sleep now?"),
            ("Which room did Ava sleep in?", "Where did Ava sleep?"),
            ("Which room is Ava in now?", "Where is Ava now?"),
            ("In which room do I find the tent?", "Where do I find the tent?"),
            ("Which rooms are there?", "Which rooms are there?"),
            ("Whose room is the mug in?", "Where is the mug?"),
            ("Whose room is the kitchen?", "Whose room is the kitchen?"),
            ("", ""),
        ] {
            assert_eq!(where_is(text), wanted);
        }
    }
}
