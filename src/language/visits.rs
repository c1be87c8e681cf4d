//! How a visit is told: `visits.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

/// Parts of the sentence; `{}` stands for things, or for how many.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wording {
    pub(crate) came: String,
    pub(crate) came_with: String,
    pub(crate) brought: String,
    pub(crate) took: String,
    pub(crate) moved: String,
    pub(crate) more: String,
    pub(crate) left: String,
    pub(crate) left_with: String,
    pub(crate) left_without: String,
    pub(crate) left_without_it: String,
    pub(crate) the: String,
}

/// The words.
pub(crate) fn wording() -> &'static Wording {
    static KNOWN: OnceLock<Wording> = OnceLock::new();
    KNOWN.get_or_init(|| toml::from_str(include_str!("visits.toml")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_words() {
        let Wording { came, came_with, left_without_it, more, .. } = wording();
        assert!(!came.is_empty() && came_with.contains("{}"));
        assert!(!left_without_it.is_empty() && more.contains("{}"));
    }
}
