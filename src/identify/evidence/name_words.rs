//! Names as words that are compared.

use crate::names::{folded, sound_alike};

/// A name's words in lower case, one at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words(pub(super) Vec<String>);

impl Words {
    pub(super) fn of(name: &str) -> Option<Self> {
        let words: Vec<String> = folded(name).split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Whether both may name one person: `Ava` and `Ava Stone` may, and so may `Aileen` and `Eileen`: what was heard was
    /// spelt by whoever wrote it down.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a == b || sound_alike(a, b))
    }
}
