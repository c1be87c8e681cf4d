//! Places in words: whether "on the kitchen table" is on the table, in the kitchen, or rules out the drawer.

use crate::memory::natures::{HOUSES, ROOMS};
use crate::memory::{stems, telling_stems};

/// Nouns of places that hold others: whatever is in one may be on a table there.
const HOLDING: [&str; 3] = [ROOMS, HOUSES, "car"];
/// What a camera has in view may be anywhere.
const VIEW: &str = "view";

/// How a thing is to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    On,
    In,
    Under,
    Above,
    Behind,
    /// Somewhere about it, or in no way that was told.
    Near,
}

/// The relation that a preposition tells.
fn relation(word: &str) -> Option<Relation> {
    Some(match word {
        "on" | "onto" | "upon" | "atop" => Relation::On,
        "in" | "inside" | "into" | "within" => Relation::In,
        "under" | "below" | "beneath" | "underneath" => Relation::Under,
        "above" | "over" => Relation::Above,
        "behind" => Relation::Behind,
        "at" | "near" | "by" | "beside" | "next" | "around" | "against" | "between" => {
            Relation::Near
        }
        _ => return None,
    })
}

/// Whether a lower-case word may begin a place: "on", "next".
pub(super) fn is_preposition(word: &str) -> bool {
    relation(word).is_some()
}

/// One of the places that are told of: "on the table" of "on the table in the kitchen".
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spot {
    relation: Relation,
    /// Stems of its name, the noun last; not empty.
    name: Vec<String>,
}

impl Spot {
    fn noun(&self) -> Option<&String> {
        self.name.last()
    }

    fn agrees(&self, other: &Self) -> bool {
        self.relation == other.relation || [self.relation, other.relation].contains(&Relation::Near)
    }

    fn is_room(&self, rooms: &[Whereabouts]) -> bool {
        rooms.iter().flat_map(|room| &room.0).any(|room| room.name == self.name)
            || self.noun().is_some_and(|noun| HOLDING.iter().any(|list| stems(list).contains(noun)))
    }
}

/// Where something is, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Whereabouts(Vec<Spot>);

impl Whereabouts {
    /// Each clause and each preposition begins another spot.
    pub(super) fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let mut spots: Vec<Spot> = Vec::new();
        for clause in lower.split([',', ';']) {
            let mut open = Spot { relation: Relation::Near, name: Vec::new() };
            for word in clause.split_whitespace() {
                match relation(word) {
                    Some(relation) => {
                        spots.push(std::mem::replace(&mut open, Spot { relation, name: vec![] }));
                    }
                    None => open.name.extend(telling_stems(word)),
                }
            }
            spots.push(open);
        }
        spots.retain(|spot| !spot.name.is_empty());
        Self(spots)
    }

    /// Whether it tells no place at all.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether what is here is there: what is on the kitchen table is on the table, and in the kitchen.
    pub(super) fn is_at(&self, there: &Self) -> bool {
        let known = |word: &String| self.0.iter().any(|spot| spot.name.contains(word));
        let is_at = |there: &Spot| {
            let same: Vec<&Spot> =
                self.0.iter().filter(|spot| spot.noun() == there.noun()).collect();
            let fits = match same.as_slice() {
                [] => matches!(there.relation, Relation::In | Relation::Near),
                same => same.iter().any(|spot| spot.agrees(there)),
            };
            fits && there.name.iter().all(known)
        };
        !there.is_empty() && there.0.iter().all(is_at)
    }

    /// Whether both tell of the same kind of places: of a table, not of a table and a kitchen.
    pub(super) fn has_nouns_of(&self, other: &Self) -> bool {
        other.0.iter().all(|there| self.0.iter().any(|spot| spot.noun() == there.noun()))
    }

    /// Whether what is here, and not known to be there, is somewhere else. A room and a spot may be one in the other,
    /// "on the table" may be that of the kitchen, and a camera's view says nothing. `rooms`: those that have a name.
    pub(super) fn rules_out(&self, there: &Self, rooms: &[Self]) -> bool {
        let mut spots = self.0.iter().take_while(|spot| spot.name.iter().all(|word| word != VIEW));
        let rules_out = |spot: &Spot| {
            let same = |there: &Spot| {
                let vaguer = spot.name.iter().all(|word| there.name.contains(word));
                spot.is_room(rooms) == there.is_room(rooms) && !(vaguer && spot.agrees(there))
            };
            there.0.iter().any(same)
        };
        spots.any(rules_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_it_stands_in_and_rules_out_its_like() {
        let rooms = [Whereabouts::of("pantry")];
        let told = |here: &str, there: &str| {
            let (here, there) = (Whereabouts::of(here), Whereabouts::of(there));
            match (here.is_at(&there), here.rules_out(&there, &rooms)) {
                (true, _) => "there",
                (false, true) => "elsewhere",
                (false, false) => "unknown",
            }
        };
        for (here, there, wanted) in [
            ("on the kitchen table", "on the kitchen table", "there"),
            ("on the kitchen table", "on my table", "there"),
            ("on the kitchen table", "in the kitchen", "there"),
            ("on the table in the kitchen", "on the table", "there"),
            ("on the table in the kitchen", "on the kitchen table", "there"),
            ("at the cellar", "in the cellar", "there"),
            ("kitchen table", "on the kitchen table", "there"),
            ("in the hall, in view of front, on the left", "in the hall", "there"),
            ("in view of front, on the left", "on the left", "there"),
            ("on the kitchen table", "under the kitchen table", "elsewhere"),
            ("on the kitchen table", "in the drawer", "elsewhere"),
            ("in the shed", "in the garage", "elsewhere"),
            ("in the shed", "in the pantry", "elsewhere"),
            ("on the table in the kitchen", "in the garage", "elsewhere"),
            ("in the hall, in view of front, on the left", "in the kitchen", "elsewhere"),
            ("on the shelf", "in the kitchen", "unknown"),
            ("on the shelf", "in the pantry", "unknown"),
            ("on the shelf", "in the lab", "unknown"),
            ("on the shelf", "in the car", "unknown"),
            ("in the kitchen", "on the kitchen table", "unknown"),
            ("on the table", "on the kitchen table", "unknown"),
            ("in view of front, on the left", "on the table", "unknown"),
            ("in the hall, in view of front, on the left", "on the table", "unknown"),
            ("", "on the table", "unknown"),
        ] {
            assert_eq!(told(here, there), wanted, "{here:?}, asked for {there:?}");
        }
        assert!(!Whereabouts::of("on the table").is_at(&Whereabouts::of("on")));
        assert!(Whereabouts::of("on").is_empty());
    }
}
