//! Facts in words: "Ava likes tea", "the keys are in the drawer".

use crate::language::lexicon::Lexicon;

/// Plurals without an "s".
const PLURALS: [&str; 8] = ["people", "children", "men", "women", "feet", "teeth", "mice", "geese"];
/// Endings of nouns with an "s" that are one thing.
const SINGULAR: [&str; 6] = ["ss", "us", "is", "as", "lens", "news"];

/// Words that may begin a place.
const PLACING: [&str; 23] = [
    "on",
    "onto",
    "upon",
    "atop",
    "in",
    "inside",
    "into",
    "within",
    "under",
    "below",
    "beneath",
    "underneath",
    "above",
    "over",
    "behind",
    "at",
    "near",
    "by",
    "beside",
    "next",
    "around",
    "against",
    "between",
];
/// Words within a name, after its noun.
const JOINING: [&str; 8] = ["of", "for", "with", "from", "in", "on", "to", "at"];

/// The sentence of a fact, without its full stop. `subject`: as it stands in a sentence ("Ava", "the keys"); `past`: it
/// is over.
#[must_use]
pub fn phrase(subject: &str, attribute: &str, value: &str, past: bool) -> String {
    let value = value.trim();
    let be = match (is_plural(subject), past) {
        (true, false) => "are",
        (true, true) => "were",
        (false, false) => "is",
        (false, true) => "was",
    };
    let verb = |now: &'static str, then: &'static str| if past { then } else { now };
    match attribute {
        "likes" => format!("{subject} {} {value}", verb("likes", "liked")),
        "dislikes" => format!("{subject} {} {value}", verb("dislikes", "disliked")),
        "home" => format!("{subject} {} {}", verb("lives", "lived"), placed(value, "in")),
        "job" => format!("{subject} {} as {}", verb("works", "worked"), one(value)),
        "employer" => format!("{subject} {} for {value}", verb("works", "worked")),
        "name" => format!("{subject} {be} called {value}"),
        "status" => format!("{subject} {be} {value}"),
        "allergy" => format!("{subject} {be} allergic to {value}"),
        "birthplace" => format!("{subject} was born {}", placed(value, "in")),
        "age" if value.parse::<u32>().is_ok() => format!("{subject} {be} {value} years old"),
        "location" => format!("{subject} {be} {}", placed(value, "at the")),
        "relation" => match value.split_once(" of ") {
            Some((relation, whose)) => format!("{subject} {be} {} {relation}", genitive(whose)),
            None => format!("{subject}: {value}"),
        },
        other => {
            format!(
                "{} {} {} {value}",
                genitive(subject),
                other.replace('_', " "),
                verb("is", "was")
            )
        }
    }
}

/// Whether a lower-case word may begin a place: "on", "next".
pub(super) fn is_preposition(word: &str) -> bool {
    PLACING.contains(&word)
}

/// Whether a lower-case word makes a whole of a name behind it.
pub(super) fn is_determiner(word: &str) -> bool {
    Lexicon::english().is("determiners", word)
}

/// A place with its preposition, else behind `before`: "in the drawer", "at the kitchen", "in Bonn".
#[must_use]
pub fn placed(place: &str, before: &str) -> String {
    let first = place.split_whitespace().next().unwrap_or_default();
    let lower = first.to_lowercase();
    let preposition = before.split(' ').next().unwrap_or_default();
    if is_preposition(&lower) {
        place.to_owned()
    } else if is_determiner(&lower) {
        format!("{preposition} {place}")
    } else if first.starts_with(char::is_uppercase) {
        format!("in {place}")
    } else {
        format!("{before} {place}")
    }
}

/// "a nurse", "an engineer"; with what it has before it, as it is.
fn one(noun: &str) -> String {
    let first = noun.split_whitespace().next().unwrap_or_default().to_lowercase();
    if is_determiner(&first) || is_plural(noun) {
        return noun.to_owned();
    }
    let article = if first.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// "Ava's", "the keys'".
fn genitive(subject: &str) -> String {
    let plural = subject.starts_with("the ") && is_plural(subject) && subject.ends_with('s');
    format!("{subject}{}", if plural { "'" } else { "'s" })
}

/// The part of a thing's name that ends with its noun: "box" of "box of pens".
fn up_to_noun(thing: &str) -> &str {
    let joint = |(at, _): &(usize, &str)| {
        let next = thing[at + 1..].split_whitespace().next();
        *at > 0 && next.is_some_and(|next| JOINING.contains(&next))
    };
    thing.match_indices(' ').find(joint).map_or(thing, |(at, _)| &thing[..at])
}

/// Whether the noun in what names a thing means several. A name that ends so is one.
#[must_use]
pub fn is_plural(thing: &str) -> bool {
    let noun = up_to_noun(thing).split_whitespace().next_back().unwrap_or_default();
    if noun.starts_with(char::is_uppercase) {
        return false;
    }
    let several = noun.ends_with('s') && noun.len() > 3;
    PLURALS.contains(&noun) || several && !SINGULAR.iter().any(|end| noun.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_read_as_a_person_says_them() {
        for (subject, attribute, value, past, wanted) in [
            ("Ava", "likes", "oat milk", false, "Ava likes oat milk"),
            ("Ava", "home", "Bonn", true, "Ava lived in Bonn"),
            ("Ava", "home", "at the coast", false, "Ava lives at the coast"),
            ("Ava", "job", "engineer", false, "Ava works as an engineer"),
            ("Ava", "job", "the cook", false, "Ava works as the cook"),
            ("Ava", "age", "41", false, "Ava is 41 years old"),
            ("Ava", "relation", "sister of Ben", false, "Ava is Ben's sister"),
            ("Ava", "shoe_size", "39", false, "Ava's shoe size is 39"),
            ("the keys", "location", "in the drawer", false, "the keys are in the drawer"),
            ("the glass", "location", "on the table", true, "the glass was on the table"),
            ("the box of pens", "location", "on the desk", false, "the box of pens is on the desk"),
            (
                "the keys for the shed",
                "location",
                "at hand",
                false,
                "the keys for the shed are at hand",
            ),
            ("Ava's mug", "location", "the sink", false, "Ava's mug is at the sink"),
            ("the cup", "location", "kitchen", false, "the cup is at the kitchen"),
            ("the keys", "colour", "red", false, "the keys' colour is red"),
            ("the lamp", "status", "broken", true, "the lamp was broken"),
        ] {
            assert_eq!(phrase(subject, attribute, value, past), wanted);
        }
    }
}
