//! Titles before names: "Doctor Whitlock" is one name, and the same as "Dr. Whitlock" and "Whitlock"; "Mrs Pellew" and
//! "Mr Pellew" are two.

/// Titles, a line each with their spellings.
const TITLES: &str = "\
    mr mister herr\nmrs\nms\nmiss\nfrau\ndoctor dr\nprofessor prof\nsir\nlady\nlord\ndame\ncaptain capt\nmajor\n\
    colonel col\ngeneral\nsergeant sgt\nlieutenant lt\nfather fr\nsister\nbrother\nnurse\nmatron\n\
    reverend rev\npastor\nvicar\nrabbi\nimam\ninspector\nconstable\nofficer\njudge\naunt auntie\nuncle";
/// Of a woman of whom nobody says whether she is married.
const UNTOLD: &str = "ms";
/// Titles that may be told so.
const TOLD_SO: [&str; 3] = ["mrs", "miss", "frau"];

/// Whether a lower-case word may stand before a name as a title.
#[must_use]
pub fn is_title(word: &str) -> bool {
    title(word).is_some()
}

/// A title in its first spelling.
#[must_use]
pub fn title(word: &str) -> Option<&'static str> {
    let word = word.strip_suffix('.').unwrap_or(word);
    let is_it = |line: &&str| line.split_whitespace().any(|one| one == word);
    TITLES.lines().find(is_it)?.split_whitespace().next()
}

/// The title of a lower-case name, and the name without it; `None` where it has none, or is nothing else.
#[must_use]
pub fn parted(name: &str) -> Option<(&'static str, &str)> {
    let (first, rest) = name.split_once(' ')?;
    title(first).map(|title| (title, rest))
}

/// Whether two titles, in their first spelling, may be those of one person.
#[must_use]
pub fn may_be_one(one: &str, other: &str) -> bool {
    let untold = |a: &str, b: &str| a == UNTOLD && TOLD_SO.contains(&b);
    one == other || untold(one, other) || untold(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_told_from_the_name() {
        for (name, wanted) in [
            ("dr. novak", Some(("doctor", "novak"))),
            ("doctor novak", Some(("doctor", "novak"))),
            ("mrs anna novak", Some(("mrs", "anna novak"))),
            ("novak", None),
            ("captain", None),
            ("anna novak", None),
        ] {
            assert_eq!(parted(name), wanted, "{name}");
        }
        assert!(may_be_one("ms", "mrs") && may_be_one("doctor", "doctor"));
        assert!(!may_be_one("mr", "mrs") && !may_be_one("doctor", "captain"));
    }
}
