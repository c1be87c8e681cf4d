//! Which things a noun means: by what the detector calls them, and what is a kind of what.

use std::collections::BTreeMap;

use crate::answer::reading::Reading;
use crate::ids::EntityId;
use crate::language::Language;

/// The things that were ever seen, by what they are called.
pub(super) struct Kinds(BTreeMap<String, Vec<EntityId>>);

impl Kinds {
    /// Costs what was ever seen.
    pub(super) fn seen(reading: &Reading) -> Self {
        let mut kinds: BTreeMap<String, Vec<EntityId>> = BTreeMap::new();
        for row in reading.view.objects() {
            let Some(object) = row.object else { continue };
            let of_label = kinds.entry(row.label.to_lowercase()).or_default();
            let object = reading.view.resolve(object);
            if !of_label.contains(&object) {
                of_label.push(object);
            }
        }
        Self(kinds)
    }

    /// Those that a noun (behind what makes its name) means, by label; all of them without one. One that is called just so
    /// leaves no other: a hot dog is no dog.
    pub(super) fn named(
        &self,
        language: &Language,
        noun: &[String],
    ) -> BTreeMap<String, Vec<EntityId>> {
        let Some(head) = noun.last() else { return self.0.clone() };
        let whole = noun.join(" ");
        let last = |label: &str| label.split(' ').next_back() == Some(whole.as_str());
        let kind = |label: &str| {
            let own = label.replace(' ', "_");
            language.thesaurus.is_a(&own, &noun.join("_"))
        };
        let is_so: [&dyn Fn(&str) -> bool; 3] = [&|label| label == whole, &last, &kind];
        for is_so in is_so {
            let found: BTreeMap<_, _> = self
                .0
                .iter()
                .filter(|(label, _)| is_so(label))
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect();
            if !found.is_empty() && !head.is_empty() {
                return found;
            }
        }
        BTreeMap::new()
    }
}
