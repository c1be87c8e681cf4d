//! What an attribute is by nature: how many values it holds at a time, what cannot be true beside what, and whether it
//! tells who somebody is or only what somebody is like.

use super::model::Fact;

/// Attributes that hold one value at a time: they tell who, what or where somebody or something is.
const SINGLE_VALUED: [&str; 17] = [
    "name",
    "location",
    "position",
    "home",
    "address",
    "job",
    "employer",
    "age",
    "birthday",
    "birthplace",
    "phone",
    "email",
    "wife",
    "husband",
    "partner",
    "mother",
    "father",
];
/// So do all that begin so: `favourite_colour`.
const FAVOURITE: &str = "favourite_";
/// What somebody may be to somebody. A relation tells who somebody is, and somebody may have several.
pub(crate) const RELATIONS: [&str; 18] = [
    "sister",
    "brother",
    "mother",
    "father",
    "son",
    "daughter",
    "wife",
    "husband",
    "partner",
    "friend",
    "colleague",
    "neighbour",
    "neighbor",
    "aunt",
    "uncle",
    "cousin",
    "boss",
    "flatmate",
];
/// The attribute of "Ava is Ben's sister".
pub(crate) const RELATION: &str = "relation";
/// Attributes of which the same value is never true at once.
const OPPOSITES: [(&str, &str); 2] = [("likes", "dislikes"), ("dislikes", "likes")];
/// The attribute of "Ava is vegetarian".
pub(crate) const STATUS: &str = "status";
/// States of somebody; of each family one holds at a time.
pub(crate) const STATES: [&[&str]; 6] = [
    &["vegetarian", "vegan", "pescatarian"],
    &["single", "engaged", "married", "divorced", "separated", "widowed"],
    &["employed", "unemployed", "retired"],
    &["left-handed", "right-handed"],
    &["pregnant"],
    &["diabetic"],
];
/// Other words for an attribute.
const MEANT: [(&str, &str); 16] = [
    ("occupation", "job"),
    ("profession", "job"),
    ("works_as", "job"),
    ("works_for", "employer"),
    ("works_at", "employer"),
    ("company", "employer"),
    ("lives_in", "home"),
    ("residence", "home"),
    ("phone_number", "phone"),
    ("telephone", "phone"),
    ("mobile", "phone"),
    ("birth_date", "birthday"),
    ("date_of_birth", "birthday"),
    ("like", "likes"),
    ("dislike", "dislikes"),
    ("place", "location"),
];

/// The attribute that a word means: "Phone number" → `phone`, "favorite color" → `favourite_colour`.
#[must_use]
pub fn attribute_meant(word: &str) -> String {
    let plain = word.trim().to_lowercase().replace([' ', '-'], "_");
    let plain = plain.replace("favorite", "favourite").replace("color", "colour");
    let meant = MEANT.iter().find(|(other, _)| *other == plain);
    meant.map_or(plain.as_str(), |(_, attribute)| *attribute).to_owned()
}

/// Whether it holds one value at a time.
#[must_use]
pub fn is_single_valued(attribute: &str) -> bool {
    SINGLE_VALUED.contains(&attribute) || attribute.starts_with(FAVOURITE)
}

/// Whether it tells what somebody is like, or does: not who or where.
#[must_use]
pub fn is_trait(attribute: &str) -> bool {
    !is_single_valued(attribute) && attribute != RELATION && !RELATIONS.contains(&attribute)
}

/// The attribute that says the opposite.
#[must_use]
pub fn opposite(attribute: &str) -> Option<&'static str> {
    OPPOSITES.iter().find(|(one, _)| *one == attribute).map(|(_, other)| *other)
}

/// Whether the two cannot be true of one subject at once.
#[must_use]
pub fn exclude(a: &Fact, b: &Fact) -> bool {
    let (x, y) = (a.value.to_lowercase(), b.value.to_lowercase());
    let of_a_kind =
        |states: &&[&str]| [&x, &y].iter().all(|value| states.contains(&value.as_str()));
    a.subject == b.subject
        && match a.attribute == b.attribute {
            true if a.attribute == STATUS => x != y && STATES.iter().any(of_a_kind),
            true => x != y && is_single_valued(&a.attribute),
            false => x == y && opposite(&a.attribute) == Some(b.attribute.as_str()),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(attribute: &str, value: &str) -> Fact {
        let (subject, attribute) = ("person_1".to_owned(), attribute.to_owned());
        Fact { subject, attribute, value: value.to_owned() }
    }

    #[test]
    fn what_cannot_be_true_at_once_is_known_by_nature() {
        for (a, b, wanted) in [
            (("home", "Bonn"), ("home", "Munich"), true),
            (("home", "Bonn"), ("home", "bonn"), false),
            (("home", "Bonn"), ("job", "nurse"), false),
            (("age", "41"), ("age", "42"), true),
            (("favourite_colour", "red"), ("favourite_colour", "blue"), true),
            (("favourite_colour", "red"), ("favourite_food", "rice"), false),
            (("likes", "tea"), ("likes", "jazz"), false),
            (("likes", "tea"), ("dislikes", "Tea"), true),
            (("dislikes", "tea"), ("likes", "tea"), true),
            (("likes", "tea"), ("dislikes", "jazz"), false),
            (("status", "vegetarian"), ("status", "vegan"), true),
            (("status", "vegetarian"), ("status", "married"), false),
            (("relation", "sister of Ben"), ("relation", "friend of Eva"), false),
        ] {
            let (a, b) = (fact(a.0, a.1), fact(b.0, b.1));
            assert_eq!(exclude(&a, &b), wanted, "{a:?} {b:?}");
        }
    }

    #[test]
    fn attributes_go_by_many_words() {
        for (word, attribute) in [
            ("Phone number", "phone"),
            (" favorite color", "favourite_colour"),
            ("occupation", "job"),
            ("Likes", "likes"),
            ("shoe size", "shoe_size"),
        ] {
            assert_eq!(attribute_meant(word), attribute);
        }
        assert!(is_trait("personality") && is_trait("likes") && is_trait("usual_time"));
        assert!(
            ["name", "home", "relation", "sister", "location"].iter().all(|one| !is_trait(one))
        );
    }
}
