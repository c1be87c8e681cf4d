//! The words of English that reading goes by, out of one file of data.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use foldhash::fast::RandomState;

use super::lists::{Lists, Words, words};

#[derive(Debug, serde::Deserialize)]
struct Frame {
    near: f32,
    words: String,
}

#[derive(Debug, serde::Deserialize)]
struct Ends {
    one: String,
    other: String,
}

#[derive(Debug, serde::Deserialize)]
struct File {
    frames: Vec<Frame>,
    ends: Vec<Ends>,
    inverse: Vec<Ends>,
    turned: Vec<Ends>,
    towards: Vec<Ends>,
    worded: Vec<Ends>,
    attributes: Vec<Attribute>,
    #[serde(flatten)]
    lists: Lists,
}

/// What a clause tells of somebody.
#[derive(Debug, serde::Deserialize)]
struct Attribute {
    /// With one of these verbs …
    verbs: String,
    /// … behind one of these prepositions; none: as its object.
    #[serde(default)]
    at: String,
    attribute: String,
    /// It is so no more.
    #[serde(default)]
    left: bool,
}

/// What the file holds.
#[derive(Debug)]
pub(crate) struct Lexicon {
    /// How near the words of each frame are.
    frames: Vec<f32>,
    /// In which frames a word stands.
    framed: HashMap<String, Vec<usize>, RandomState>,
    ends: Vec<(Words, Words)>,
    inverse: Vec<(Words, Words)>,
    turned: BTreeMap<String, String>,
    towards: BTreeMap<String, String>,
    worded: BTreeMap<String, String>,
    attributes: Vec<Attribute>,
    lists: Lists,
}

impl Lexicon {
    /// The one of English.
    pub(crate) fn english() -> &'static Self {
        static ENGLISH: OnceLock<Lexicon> = OnceLock::new();
        ENGLISH.get_or_init(|| {
            Self::read(include_str!("lexicon.toml")).unwrap_or_else(|_| Self::empty())
        })
    }

    fn read(text: &str) -> Result<Self, toml::de::Error> {
        let file: File = toml::from_str(text)?;
        let mut framed = HashMap::<String, Vec<usize>, RandomState>::default();
        for (at, frame) in file.frames.iter().enumerate() {
            for word in words(&frame.words) {
                framed.entry(word).or_default().push(at);
            }
        }
        Ok(Self {
            frames: file.frames.iter().map(|frame| frame.near).collect(),
            framed,
            ends: pairs(&file.ends),
            inverse: pairs(&file.inverse),
            turned: by_one(file.turned),
            towards: by_one(file.towards),
            worded: by_one(file.worded),
            attributes: file.attributes,
            lists: file.lists,
        })
    }

    fn empty() -> Self {
        Self {
            frames: Vec::new(),
            framed: HashMap::default(),
            ends: Vec::new(),
            inverse: Vec::new(),
            turned: BTreeMap::new(),
            towards: BTreeMap::new(),
            worded: BTreeMap::new(),
            attributes: Vec::new(),
            lists: Lists::default(),
        }
    }

    /// How near two words are by what they tell of, 0 to 1.
    pub(crate) fn near(&self, one: &str, other: &str) -> f32 {
        let (Some(of_one), Some(of_other)) = (self.framed.get(one), self.framed.get(other)) else {
            return 0.0;
        };
        let both = of_one.iter().filter(|frame| of_other.contains(frame));
        both.map(|&frame| self.frames[frame]).fold(0.0, f32::max)
    }

    /// Whether one ends what the other began, whichever came first.
    pub(crate) fn ends(&self, one: &str, other: &str) -> bool {
        self.ends.iter().any(|(a, b)| {
            a.contains(one) && b.contains(other) || a.contains(other) && b.contains(one)
        })
    }

    /// Whether somebody is the one to who is the other to them.
    pub(crate) fn is_inverse(&self, one: &str, other: &str) -> bool {
        self.inverse.iter().any(|(a, b)| {
            a.contains(one) && b.contains(other) || a.contains(other) && b.contains(one)
        })
    }

    /// A pronoun as who is spoken to says it: "you" of "I".
    pub(crate) fn turned(&self, word: &str) -> Option<&str> {
        self.turned.get(word).map(String::as_str)
    }

    /// Where something is that was brought there: "at" of "to".
    pub(crate) fn towards(&self, preposition: &str) -> Option<&str> {
        self.towards.get(preposition).map(String::as_str)
    }

    /// The verb with which somebody's attribute is told.
    pub(crate) fn worded(&self, attribute: &str) -> Option<&str> {
        self.worded.get(attribute).map(String::as_str)
    }

    /// What a verb may tell of somebody with what stands behind that preposition (none: its object), and whether it is so no
    /// more.
    pub(crate) fn attributes<'a>(
        &'a self,
        verb: &'a str,
        at: &'a str,
    ) -> impl Iterator<Item = (&'a str, bool)> {
        let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
        let fits = move |one: &&Attribute| {
            is_in(&one.verbs, verb) && (at.is_empty() && one.at.is_empty() || is_in(&one.at, at))
        };
        self.attributes.iter().filter(fits).map(|one| (one.attribute.as_str(), one.left))
    }

    /// The words of a list.
    pub(crate) fn all(&self, list: &str) -> impl Iterator<Item = &str> {
        self.lists.all(list)
    }

    /// Whether both begin, or both end, one thing.
    pub(crate) fn is_of_one_side(&self, one: &str, other: &str) -> bool {
        let holds = |side: &Words| side.contains(one) && side.contains(other);
        self.ends.iter().any(|(a, b)| holds(a) || holds(b))
    }

    /// Whether a word stands in a list of the file.
    pub(crate) fn is(&self, list: &str, word: &str) -> bool {
        self.lists.is(list, word)
    }
}

fn pairs(all: &[Ends]) -> Vec<(Words, Words)> {
    all.iter().map(|pair| (words(&pair.one), words(&pair.other))).collect()
}

fn by_one(pairs: Vec<Ends>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|pair| (pair.one, pair.other)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_file_is_read_and_its_frames_are_symmetric() {
        let lexicon = Lexicon::read(include_str!("lexicon.toml")).unwrap();
        assert!(lexicon.frames.len() > 20 && lexicon.ends.len() > 10);
        assert!(lexicon.near("repair", "fix") > 0.8);
        assert_eq!(lexicon.near("repair", "fix"), lexicon.near("fix", "repair"));
        assert!(lexicon.ends("lend", "give_back") && lexicon.ends("give_back", "lend"));
        assert!(!lexicon.ends("lend", "borrow"));
        assert!(lexicon.is("light", "be") && !lexicon.is("light", "repair"));
    }
}
