//! Which things a noun means: by what the detector calls them, and what is a kind of what.

use std::collections::BTreeMap;

use crate::answer::question::Named;
use crate::answer::reading::Reading;
use crate::colour::Colours;
use crate::ids::EntityId;
use crate::language::Language;

/// The things that were ever seen, by what they are called, and their colours as far as those are settled.
pub(super) struct Kinds {
    of: BTreeMap<String, Vec<EntityId>>,
    colours: BTreeMap<EntityId, Colours>,
}

impl Kinds {
    /// Costs what was ever seen.
    pub(super) fn seen(reading: &Reading) -> Self {
        let mut kinds: BTreeMap<String, Vec<EntityId>> = BTreeMap::new();
        let mut known = BTreeMap::new();
        for row in reading.view.objects() {
            let Some(object) = row.object else { continue };
            let of_label = kinds.entry(row.label.to_lowercase()).or_default();
            let object = reading.view.resolve(object);
            if !of_label.contains(&object) {
                of_label.push(object);
            }
            if let Some(colours) = row.colours {
                known.insert(object, colours);
            }
        }
        Self { of: kinds, colours: known }
    }

    /// Those that a noun means ([`Self::called`]) and that have its colours; of which no colour is known it may not be one.
    pub(super) fn named(
        &self,
        language: &Language,
        named: &Named,
    ) -> BTreeMap<String, Vec<EntityId>> {
        let mut found = self.called(language, &named.noun);
        if !named.colours.is_empty() {
            let has = |id: &EntityId| {
                self.colours.get(id).is_some_and(|colours| colours.has_all(&named.colours))
            };
            // What is called "red box" is one.
            let is_called = |label: &str| {
                named.colours.iter().all(|one| label.split(' ').any(|word| word == one.word()))
            };
            for (label, objects) in &mut found {
                objects.retain(|id| is_called(label) || has(id));
            }
            found.retain(|_, objects| !objects.is_empty());
        }
        found
    }

    /// Those that a noun (behind what makes its name) means, by label; all of them without one. One that is called just so
    /// leaves no other: a hot dog is no dog.
    fn called(&self, language: &Language, noun: &[String]) -> BTreeMap<String, Vec<EntityId>> {
        let Some(head) = noun.last() else { return self.of.clone() };
        let whole = noun.join(" ");
        let last = |label: &str| label.split(' ').next_back() == Some(whole.as_str());
        let kind = |label: &str| {
            let own = label.replace(' ', "_");
            language.thesaurus.is_a(&own, &noun.join("_"))
        };
        let is_so: [&dyn Fn(&str) -> bool; 3] = [&|label| label == whole, &last, &kind];
        for is_so in is_so {
            let found: BTreeMap<_, _> = self
                .of
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
