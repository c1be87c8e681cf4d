//! Names as models tell them: "<face_1>'s name is Lucy."

use crate::ids::EntityId;
use crate::mention;

/// How a sentence tells the name of somebody whom it begins with (M3-Agent, arXiv 2508.09736, and its kin).
const NAMING: [&str; 5] =
    ["'s name is ", "\u{2019}s name is ", " is called ", " is named ", "'s first name is "];
/// Longest name, words.
const LONGEST: usize = 3;

/// Whom a plain sentence names.
pub(in crate::memorize) fn naming(text: &str) -> Option<(EntityId, String)> {
    let one = mention::spelled(text).into_iter().find(|one| one.range.start == 0)?;
    let rest = &text[one.range.end..];
    let rest = NAMING.iter().find_map(|words| rest.strip_prefix(*words))?;
    let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
    let words: Vec<&str> = rest.split_whitespace().take_while(is_capital).take(LONGEST).collect();
    let name = words.join(" ");
    let name = name.split([',', '.', ';', '!', '?', '(']).next()?.trim();
    (!name.is_empty()).then(|| Some((one.id?, name.to_owned())))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;

    #[test]
    fn a_sentence_about_somebody_mentioned_may_name_them() {
        let face = EntityId::new(EntityKind::Face, 1);
        let named = |name: &str| Some((face, name.to_owned()));
        assert_eq!(naming("<face_1>'s name is Lucy."), named("Lucy"));
        assert_eq!(naming("face_1 is called Lucy Ann, says <face_2>."), named("Lucy Ann"));
        for text in
            ["<face_1> is called away.", "Maybe <face_1>'s name is Lucy.", "Lucy is here.", ""]
        {
            assert_eq!(naming(text), None, "{text}");
        }
    }
}
