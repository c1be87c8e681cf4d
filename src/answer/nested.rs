//! A thing in a thing: the insulin is in the blue box, and the blue box stands in the pantry.

use std::sync::Arc;

use crate::memory::model::MemoryRow;
use crate::memory::telling_stems;

use super::whereabouts::is_preposition;

/// Things that stand in one another, at most.
const DEEPEST: usize = 4;

/// What that row leads to, what this leads to, and so on, until nothing does or it leads back.
pub(super) fn chain(
    row: &Arc<MemoryRow>,
    next: impl Fn(&Arc<MemoryRow>) -> Option<Arc<MemoryRow>>,
) -> Vec<Arc<MemoryRow>> {
    let mut chain: Vec<Arc<MemoryRow>> = Vec::new();
    while chain.len() < DEEPEST
        && let Some(outer) = next(chain.last().unwrap_or(row))
        && outer.id != row.id
        && chain.iter().all(|known| known.id != outer.id)
    {
        chain.push(outer);
    }
    chain
}

/// The words of the place that is told first: "blue box" of "in the blue box on the shelf".
pub(super) fn innermost(place: &str) -> Vec<String> {
    let lower = place.to_lowercase();
    let mut words = Vec::new();
    for word in lower.split([',', ';']).next().unwrap_or_default().split_whitespace() {
        match is_preposition(word) {
            true if words.is_empty() => {}
            true => break,
            false if telling_stems(word).is_empty() => {}
            false => words.push(word.to_owned()),
        }
    }
    words
}

/// The words of what the place that is told first is a part of: "desk" of "in the drawer of the desk".
pub(super) fn whole(place: &str) -> Option<Vec<String>> {
    let lower = place.to_lowercase();
    let (part, whole) = lower.split(',').next()?.split_once(" of ")?;
    // "In the hall at the end of the corridor": the hall is no part of it.
    let first = part.split_whitespace().filter(|word| is_preposition(word)).count() < 2;
    first.then(|| innermost(whole)).filter(|words| !words.is_empty())
}

/// Whether both name the same thing, by the same telling words.
pub(super) fn is_named_alike(one: &str, other: &str) -> bool {
    let name = |text: &str| {
        let mut stems = telling_stems(text);
        stems.sort_unstable();
        stems
    };
    name(one) == name(other)
}

#[cfg(test)]
mod tests {
    use super::{innermost, whole};

    #[test]
    fn a_part_is_where_the_whole_is() {
        for (place, words) in [
            ("in the top drawer of the desk", Some("desk")),
            ("on top of the old wardrobe in the hall", Some("old wardrobe")),
            ("in the hall at the end of the corridor", None),
            ("in the drawer", None),
            ("", None),
        ] {
            assert_eq!(whole(place).map(|words| words.join(" ")).as_deref(), words, "{place:?}");
        }
    }

    #[test]
    fn a_thing_is_in_what_is_told_first() {
        for (place, words) in [
            ("in the blue box", "blue box"),
            ("blue box", "blue box"),
            ("in the box on the shelf", "box"),
            ("in the hall, on the left", "hall"),
            ("", ""),
            ("in the", ""),
        ] {
            assert_eq!(innermost(place).join(" "), words, "{place:?}");
        }
    }
}
