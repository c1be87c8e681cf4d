//! The indefinite article.

/// "a cup", "an apple".
#[must_use]
pub fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vowel_wants_an() {
        assert_eq!(with_article("apple"), "an apple");
        assert_eq!(with_article("cup"), "a cup");
    }
}
