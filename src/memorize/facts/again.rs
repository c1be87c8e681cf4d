//! "The globe is back in its old place": which place that was.

use std::sync::Arc;

use super::owned::LOCATION;
use crate::language::lexicon::Lexicon;
use crate::memory::model::{Fact, MemoryRow};
use crate::time::Timestamp;

/// Puts the place where a thing was before the last one in place of words that only point at it. `known`: what its slot
/// holds and held; where it was nowhere else, the words stay.
pub(super) fn restored(fact: &mut Fact, at: Timestamp, known: &[Arc<MemoryRow>]) {
    if fact.attribute != LOCATION || !is_old_place(&fact.value) {
        return;
    }
    let mut rows: Vec<&Arc<MemoryRow>> = known.iter().filter(|row| row.valid_from < at).collect();
    rows.sort_by_key(|row| (row.valid_from, row.id));
    // What holds until now is where the thing comes from.
    let holds = |row: &&Arc<MemoryRow>| row.valid_to.is_none_or(|end| end > at);
    let value = |row: &Arc<MemoryRow>| row.fact.as_ref().map(|known| known.value.clone());
    let from = rows.last().copied().filter(holds).and_then(value);
    let mut before = rows.iter().rev().filter_map(|row| value(row));
    if let Some(place) = before.find(|place| Some(place) != from.as_ref() && !is_old_place(place)) {
        fact.value = place;
    }
}

/// "In its old place", "at the usual spot".
fn is_old_place(place: &str) -> bool {
    let (mut words, lexicon) = (place.rsplit(' '), Lexicon::english());
    words.next().is_some_and(|last| lexicon.is("meant_places", last))
        && words.any(|word| lexicon.is("as_before", word))
}

#[cfg(test)]
mod tests {
    use super::is_old_place;

    #[test]
    fn a_place_may_only_be_pointed_at() {
        for place in ["in its old place", "in their usual place", "at the old spot"] {
            assert!(is_old_place(place), "{place}");
        }
        for place in ["in the old town", "at the market place", "in the hall", "old", ""] {
            assert!(!is_old_place(place), "{place:?}");
        }
    }
}
