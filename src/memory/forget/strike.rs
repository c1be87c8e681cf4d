//! Redaction, here striking: names of whoever is erased, and nouns of things, out of texts that stay.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ERASED;
use crate::names::{Name, Text};
use crate::percept::Word;

/// A name of so many letters is struck from the middle of a file's name, too.
const TELLING_LETTERS: usize = 5;

/// What is to be struck. All of it is lower case.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Names of people.
    pub(super) people: BTreeSet<String>,
    /// What things and places are called.
    pub(super) nouns: BTreeSet<String>,
    /// Names of those who stay.
    pub(super) others: BTreeSet<String>,
    /// Nouns of other things that hold one of those: where the mug goes, the mug rack stays.
    pub(super) spared: BTreeSet<String>,
}

/// The same, ready.
#[derive(Debug, Default)]
pub(super) struct Struck {
    names: Vec<Name>,
    spared: Vec<Name>,
    /// Letters of people's names.
    letters: Vec<Vec<char>>,
}

impl Struck {
    pub(super) fn new(wanted: &Wanted) -> Self {
        let Wanted { people, nouns, others, spared } = wanted;
        // Whoever has the same name keeps it.
        let own = |names: &BTreeSet<String>| names.difference(others).cloned().collect::<Vec<_>>();
        let people = own(people);
        let spelled = people.iter().filter(|name| name.contains(char::is_alphanumeric));
        let letters: Vec<Vec<char>> = spelled.map(|name| name.chars().collect()).collect();
        let people: Vec<Name> = people.iter().map(|name| Name::new(name)).collect();
        let others = others.iter().map(|name| Name::new(name));
        let longer = others.filter(|other| people.iter().any(|name| name.is_part_of(other)));
        let spared = spared.iter().map(|noun| Name::noun(noun)).chain(longer).collect();
        let nouns = own(nouns);
        let names = people.into_iter().chain(nouns.iter().map(|noun| Name::noun(noun))).collect();
        Self { names, spared, letters }
    }

    /// Whether there is nothing to strike.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether somebody's name is to be struck.
    pub(super) fn has_people(&self) -> bool {
        !self.letters.is_empty()
    }

    /// Bytes of a text that go, in order.
    pub(super) fn places(&self, text: &str) -> Vec<Range<usize>> {
        let lower = text.to_lowercase();
        if !self.names.iter().any(|name| lower.contains(name.beginning())) {
            return Vec::new();
        }
        Text::new(text).places(&self.names, &self.spared)
    }

    /// A text without them; mentions are left as they are.
    pub(super) fn text(&self, text: &str) -> String {
        without(text, &self.places(text))
    }

    /// The words of a turn without them: names may be several of them.
    pub(super) fn words(&self, words: &[Word]) -> Vec<Word> {
        let mut text = String::new();
        let mut stands = Vec::with_capacity(words.len());
        for word in words {
            if !text.is_empty() {
                text.push(' ');
            }
            let start = text.len();
            text.push_str(&word.text);
            stands.push(start..text.len());
        }
        let places = self.places(&text);
        let mut left = words.to_vec();
        for (word, stands) in left.iter_mut().zip(stands) {
            let within = |place: &Range<usize>| {
                let (start, end) = (place.start.max(stands.start), place.end.min(stands.end));
                (start < end).then(|| start - stands.start..end - stands.start)
            };
            let gone: Vec<Range<usize>> = places.iter().filter_map(within).collect();
            if !gone.is_empty() {
                word.text = without(&word.text, &gone).into();
            }
        }
        left
    }

    /// What names a file, a camera or a topic, without names of people: at the beginning of a word, in any case, the words
    /// of a name parted by anything; longer names in the middle of a word, too.
    pub(super) fn label(&self, label: &str) -> String {
        let letters: Vec<char> = label.chars().collect();
        let mut left = String::with_capacity(label.len());
        let mut at = 0;
        while at < letters.len() {
            let ends = self.letters.iter().filter(|name| may_begin(&letters, at, name));
            match ends.filter_map(|name| spelled(&letters, at, name)).max() {
                Some(end) => {
                    left.push_str(ERASED);
                    at = end;
                }
                None => {
                    left.push(letters[at]);
                    at += 1;
                }
            }
        }
        left
    }

    /// Whether bytes of an unknown form hold a person's name, as [`Self::label`] finds it in what names a file, or at the
    /// beginning of a text whose length is written before it.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        // (What is no text ends where the next letter begins: no name is lost.)
        let letters: Vec<char> = String::from_utf8_lossy(bytes).chars().collect();
        (0..letters.len()).any(|at| {
            self.letters.iter().any(|name| {
                spelled(&letters, at, name).is_some()
                    && (may_begin(&letters, at, name) || is_counted(&letters, at))
            })
        })
    }
}

/// A text with [`ERASED`] in those places, which are in order; of two that overlap the first counts.
pub(super) fn without(text: &str, places: &[Range<usize>]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for place in places.iter().filter(|place| !place.is_empty()) {
        if place.start < from {
            continue;
        }
        left.push_str(&text[from..place.start]);
        left.push_str(ERASED);
        from = place.end;
    }
    left.push_str(&text[from..]);
    left
}

/// Whether a name can begin there: where a word does, `likeThis` too; a telling one anywhere.
fn may_begin(letters: &[char], at: usize, name: &[char]) -> bool {
    let Some(before) = at.checked_sub(1).map(|at| letters[at]) else { return true };
    !before.is_alphabetic()
        || before.is_lowercase() && letters[at].is_uppercase()
        || name.len() >= TELLING_LETTERS
}

/// Whether what stands before is no letter, but how many bytes of text begin there.
fn is_counted(letters: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| letters[at]).filter(char::is_ascii_alphabetic);
    let Some(mut left) = before.map(|bytes| bytes as usize) else { return false };
    for letter in &letters[at..] {
        if left == 0 {
            break;
        }
        let is_text = !letter.is_control() && *letter != char::REPLACEMENT_CHARACTER;
        match left.checked_sub(letter.len_utf8()).filter(|_| is_text || letter.is_whitespace()) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    left == 0
}

/// Where the name ends that is spelled from there on; a very short one is a whole word.
fn spelled(letters: &[char], mut at: usize, name: &[char]) -> Option<usize> {
    for wanted in name {
        if wanted.is_whitespace() {
            while letters.get(at).is_some_and(|c| !c.is_alphanumeric()) {
                at += 1;
            }
            continue;
        }
        let found = letters.get(at)?;
        if !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
        at += 1;
    }
    let goes_on = letters.get(at).is_some_and(|c| c.is_alphabetic());
    (!name.is_empty() && (name.len() > 2 || !goes_on)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struck(people: &[&str], others: &[&str]) -> Struck {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Struck::new(&Wanted { people: set(people), others: set(others), ..Wanted::default() })
    }

    #[test]
    fn names_go_from_whatever_names_a_file() {
        // (Nobody is called by a space, or by what parts words.)
        let struck = struck(&["rosalind", "ava", "old joe", "al", "", " ", "-"], &[]);
        for (label, left) in [
            ("rosalind_birthday.mp4", "<erased>_birthday.mp4"),
            ("2026-03-partyRosalind.mp4", "2026-03-party<erased>.mp4"),
            ("sweetrosalinds.mp4", "sweet<erased>s.mp4"),
            ("/AVA/image", "/<erased>/image"),
            ("withAva.mkv", "with<erased>.mkv"),
            ("java.mp4", "java.mp4"),
            ("old_joe oldJoe old-joe", "<erased> <erased> <erased>"),
            ("front all al.mp4", "front all <erased>.mp4"),
            ("front - left.mp4", "front - left.mp4"),
        ] {
            assert_eq!(struck.label(label), left);
        }
    }

    #[test]
    fn names_are_found_in_bytes_and_letters_by_chance_are_none() {
        let struck = struck(&["rosalind", "ava", "al", "zoë"], &[]);
        let held: [&[u8]; 6] = [
            b"\x07aVa\x01",
            b"\xff\xc3Ava_cam\x80",
            b"\x02AL\x03",
            "\u{3}ZOË\u{1}".as_bytes(),
            b"/sweetRosalinds/",
            b"Al",
        ];
        for bytes in held {
            assert!(struck.is_in(bytes), "{bytes:?}");
        }
        for bytes in [&b"\x07ana\x01"[..], b"xal\x02", b"\x02alx", b"java", b"\x07ZO\xcb\x01", b""]
        {
            assert!(!struck.is_in(bytes), "{bytes:?}");
        }
        // A text of 65 bytes: its length looks like an A.
        let counted = |length: usize| format!("AAva {}\u{1}", "-".repeat(length - 4));
        assert!(struck.is_in(counted(65).as_bytes()));
        assert!(!struck.is_in(counted(60).as_bytes()));
    }

    #[test]
    fn whoever_stays_keeps_the_name() {
        let struck = struck(&["anna", "ben"], &["ben", "anna lena", "anna's mum"]);
        assert_eq!(
            struck.text("Anna, Annas Hund and Anna's mum; Anna Lena and Ben"),
            "<erased>, <erased>s Hund and <erased>'s mum; Anna Lena and Ben"
        );
        assert_eq!(struck.label("ben.mp4"), "ben.mp4");
    }
}
