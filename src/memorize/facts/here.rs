//! Where everybody is, as it is said there: "We are in the kitchen now", "This is the office".

use super::phrase::{Clause, clauses, noun_phrase, place, read_clause};
use super::words::{DETERMINERS, Words};
use crate::memory::natures;

/// Longest name of a place, words.
const LONGEST: usize = 3;
/// After these somebody names where they are.
const WITHIN: Words = Words("in at inside on");
/// Nouns of rooms: what is overheard, or only shown ("this is the …"), must be one.
const ROOMS: [Words; 2] =
    [Words(natures::ROOMS), Words("canteen classroom library reception ward")];
/// "In the dark" is nowhere.
const NOWHERE: Words = Words(
    "dark clear black red green process mess position situation stage point company boat same zone middle midst know loop \
     running majority minority mist",
);

/// The name of the place at which a text says that those who speak are. `overheard`: it was not meant for the robot, so
/// only what is a room by its noun counts.
pub(in crate::memorize) fn place_named(text: &str, overheard: bool) -> Option<String> {
    clauses(text).iter().find_map(|words| {
        read_clause(words, |clause| named(clause, overheard).into_iter().collect()).pop()
    })
}

fn named(clause: Clause<'_>, overheard: bool) -> Option<String> {
    match clause.lower {
        ["we" | "you", "are", ..] => {
            let rest = clause.from(2);
            let there = rest.part(place(rest.lower)?);
            let begin = there.lower.iter().position(|word| WITHIN.has(word))? + 1;
            name(there.from(begin), overheard)
        }
        ["this", "room", "is", ..] => name(clause.from(3), overheard),
        ["this" | "here", "is", ..] => name(clause.from(2), true),
        _ => None,
    }
}

/// The name that the clause begins with, without its article.
fn name(clause: Clause<'_>, room: bool) -> Option<String> {
    let words = &clause.lower[..noun_phrase(clause.lower)];
    let (article, words) = match words {
        [first, rest @ ..] if DETERMINERS.has(first) => (Some(*first), rest),
        all => (None, all),
    };
    let last = words.last()?;
    let is_room = || {
        let known = matches!(article, Some("the" | "our"));
        known && ROOMS.iter().any(|rooms| rooms.has(last))
    };
    let sound = words.len() <= LONGEST
        && !words.contains(&"of")
        && !words.iter().any(|word| NOWHERE.has(word))
        && (!room || is_room());
    sound.then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::place_named;

    #[test]
    fn who_is_somewhere_says_so_plainly() {
        let told = |text: &str| place_named(text, false).unwrap_or_default();
        let heard = |text: &str| place_named(text, true).unwrap_or_default();
        for (text, name) in [
            ("We are in the kitchen now.", "kitchen"),
            ("Ok, now we're in the living room", "living room"),
            ("<person_1> said: \"This is the kitchen.\"", "kitchen"),
            ("This room is the nursery.", "nursery"),
            ("This is the larder.", "larder"),
            ("You are now in our workshop, robot.", "workshop"),
        ] {
            assert_eq!([told(text), heard(text)], [name, name], "{text}");
        }
        // Told on purpose, a place need not be a room.
        for (text, name) in [
            ("We are at the summer house now.", "summer house"),
            ("We are in the orangery.", "orangery"),
            ("We are at home.", "home"),
        ] {
            assert_eq!([told(text), heard(text)], [name, ""], "{text}");
        }
        for other in [
            "This is the best cup of all",
            "this is my cup",
            "the kitchen is over there",
            "We are not in the kitchen.",
            "Are we in the kitchen?",
            "Maybe we are in the kitchen.",
            "We are in a hurry.",
            "We are in the middle of dinner.",
            "We are at the end.",
            "We are in trouble",
            "",
        ] {
            assert_eq!(told(other) + &heard(other), "", "{other}");
        }
    }
}
