//! Lists of English words by their name, out of a file of data.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

/// Words, without order.
pub(crate) type Words = BTreeSet<String>;

/// Words by the name of their list.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(from = "BTreeMap<String, String>")]
pub(crate) struct Lists(HashMap<String, List, RandomState>);

/// One list: in its order, and to be looked up, which each question does by the thousand.
#[derive(Debug)]
struct List {
    words: Words,
    held: HashSet<String, RandomState>,
}

impl Lists {
    /// Whether a word stands in a list.
    pub(crate) fn is(&self, list: &str, word: &str) -> bool {
        self.0.get(list).is_some_and(|list| list.held.contains(word))
    }

    /// The words of a list.
    pub(crate) fn all(&self, list: &str) -> impl Iterator<Item = &str> {
        self.0.get(list).into_iter().flat_map(|list| &list.words).map(String::as_str)
    }

    /// Whether a word stands in any of them.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.values().any(|list| list.held.contains(word))
    }
}

impl From<BTreeMap<String, String>> for Lists {
    fn from(lists: BTreeMap<String, String>) -> Self {
        let list = |(name, list): (String, String)| {
            let words = words(&list);
            (name, List { held: words.iter().cloned().collect(), words })
        };
        Self(lists.into_iter().map(list).collect())
    }
}

/// The words of a list as a file has it.
pub(crate) fn words(list: &str) -> Words {
    list.split_whitespace().map(str::to_owned).collect()
}
