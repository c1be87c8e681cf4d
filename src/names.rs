//! Names in plain text: where one stands, whatever its letter case and its ending, and whether somebody is meant.
//!
//! `Rosalind`, `rosalind's`, `Rosalinds` are one name. A name that is a plain word too (Will, May, Rose) counts only
//! where it is used as a name:
//!
//! - inside a sentence with a capital, unless it is a date: "I saw Will", but "in May", "4 May", "May 2026";
//! - at the head of a sentence, in small letters, or in capitals throughout (recognised speech has often no others) only
//!   by a sign: it is all there is, stands in the genitive or before a comma at the head, follows a word that introduces
//!   or addresses somebody ("called will", "hi rose"), or is followed by a verb in the past or of the third person
//!   ("rose likes tea");
//! - never after an article or a possessive: "a will", "my rose".
//!
//! What is no sign leaves the word alone: "He will be back", "Hope so", "Mark my words".

mod heard;
pub mod phonetic;
mod titles;

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::ids::EntityId;
use crate::text::composed;

pub use heard::{Heard, SoundIndex};
pub use titles::{is_title, may_be_one, parted, title};

/// Names that are also plain words, and met as such in every conversation.
pub const PLAIN_NAMES: [&str; 28] = [
    "will", "may", "mark", "rose", "grace", "hope", "joy", "bill", "pat", "drew", "sunny", "art",
    "june", "april", "august", "dawn", "faith", "frank", "jack", "gene", "rob", "sue", "max",
    "miles", "chase", "guy", "iris", "ivy",
];
/// More of them, met more seldom.
const SELDOM_PLAIN: &str = "amber angel autumn candy carol charity christian clay cliff daisy dale don earl eve ginger \
    glen grant harmony heath heather heide holly honey hunter jade jasmine juni lane lily mai \
    melody mercy nick olive pearl penny poppy ray robin ruby summer violet wade wolf";
/// Those before which no verb stands unless somebody is meant, and after which a name asks.
const MODALS: &str = "will may";
/// Those that are months or seasons.
const TIMES: &str = "may june april august mai juni summer autumn";
const MONTHS: &str =
    "january february march april may june july august september october november december";
/// Before a month.
const DATING: &str = "in since until till during early late mid last next every each im seit bis ab anfang mitte \
    ende";
/// Before "of" and a month.
const PARTS: &str = "beginning start first middle end rest month half";
/// After these stands a noun.
const ARTICLES: &str = "a an the my your his her our their its no some any every each this that these those what \
    der die das den dem des ein eine einen einer mein meine kein";
/// After these stands somebody.
const LEADS: &str = "am i'm called named name's is was does did mr mrs ms miss dr aunt uncle grandma grandpa hi \
    hello hey dear thanks bye with about saw seen met meet asked told tell bin hei\u{df}e \
    hei\u{df}t mit von frau herr hallo liebe";
/// Of these somebody is the subject; no modal verb stands before them.
const PREDICATES: &str = "is was isn't wasn't has hasn't had hadn't does doesn't did didn't said says likes loves \
    hates lives works wants needs knows knew thinks thought goes went comes came left leaves \
    puts took takes made makes gave gives got gets sees told tells asks sat sits stood stands \
    slept sleeps ate eats drank drinks reads brought brings bought buys kept keeps forgot lost \
    plays sang sings spoke speaks wrote writes drove drives broke ist war hat sagt sagte mag \
    wohnt kommt kam geht ging";
/// The past of these is what stands after a modal verb, too.
const UNCHANGING: &str = "put read cut let set hit";
/// Whom they mean is told by who says them, and to whom.
const PRONOUNS: &str = "i me myself mine you yourself yours he him himself his she her herself hers it itself we us \
    ourselves ours they them themselves theirs who whom whose nobody somebody anybody everybody someone anyone \
    everyone";
/// Typographic ones, and the one between letters of some languages.
const APOSTROPHES: [char; 2] = ['\u{2019}', '\u{2bc}'];
/// Words of their own that look like a short name with an ending.
const OWN_WORDS: &str = "this does was has his its hers ours yours als das uns";

/// How a name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// With the endings of the genitive and the plural.
    Name,
    /// A name that is a plain word, too.
    Plain,
    /// A noun: as it is.
    Noun,
}

/// A name to be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its words, lower case.
    parts: Vec<String>,
    kind: Kind,
    /// It holds a genitive before its last word: "Rosalind's mum".
    genitive: bool,
}

impl Name {
    /// Of somebody.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut read = Self::noun(name);
        read.kind = match read.parts.as_slice() {
            [one] if is_plain(one) => Kind::Plain,
            _ => Kind::Name,
        };
        read
    }

    /// What a thing or a place is called.
    #[must_use]
    pub fn noun(noun: &str) -> Self {
        let words = Text::new(noun).words;
        let genitive = words.split_last().is_some_and(|(_, led)| led.iter().any(|w| w.possessive));
        let parts = words.into_iter().map(|word| word.lower).collect();
        Self { parts, kind: Kind::Noun, genitive }
    }

    /// How it begins, lower case: a text without that does not hold it.
    #[must_use]
    pub fn beginning(&self) -> &str {
        let first = self.parts.first().map_or("", String::as_str);
        first.split('\'').next().unwrap_or_default()
    }

    /// Whether another name holds this one as a word of its own: `Anna Lena` is not Anna, `Hans` is no more than one
    /// Han. "Anna's mum" is called after her.
    #[must_use]
    pub fn is_part_of(&self, other: &Self) -> bool {
        if other.parts.len() > self.parts.len() {
            return !other.genitive && other.parts.starts_with(&self.parts);
        }
        match (self.parts.as_slice(), other.parts.as_slice()) {
            ([own], [longer]) => own != longer && ending(longer, own).is_some(),
            _ => false,
        }
    }
}

/// A name as names are compared: letter case, blanks and the forms of apostrophes and of letters aside.
#[must_use]
pub fn folded(name: &str) -> String {
    let name = composed(name).to_lowercase().replace(APOSTROPHES, "'");
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why nobody can be called so; `None`: somebody can. An id is somebody else's, and who was called "me" could not be asked
/// for.
#[must_use]
pub fn why_no_name(name: &str) -> Option<&'static str> {
    let folded = folded(name);
    if folded.parse::<EntityId>().is_ok() {
        return Some("it is an id");
    }
    among(PRONOUNS, &folded).then_some("it is a pronoun")
}

/// Where names stand in a text that are more than up to three plain words (Anne-Marie, J. R. Smith, Bob (next door)): bytes
/// of the text, and which of the names; longer ones first, none inside of another, in the order of the text.
#[must_use]
pub fn unusual_places(text: &str, names: &[String]) -> Vec<(Range<usize>, usize)> {
    let letters: Vec<(usize, char)> = text
        .char_indices()
        .flat_map(|(at, c)| c.to_lowercase().map(move |lower| (at, lower)))
        .map(|(at, c)| (at, if APOSTROPHES.contains(&c) { '\'' } else { c }))
        .map(|(at, c)| (at, if c.is_whitespace() { ' ' } else { c }))
        .collect();
    let end_of = |index: usize| letters.get(index).map_or(text.len(), |(at, _)| *at);
    let is_word = |index: Option<usize>| {
        index
            .and_then(|index| letters.get(index))
            .is_some_and(|(_, c)| c.is_alphanumeric() || *c == '_')
    };
    let mut places: Vec<(Range<usize>, usize)> = Vec::new();
    let mut order: Vec<(usize, Vec<char>)> =
        names.iter().map(|name| name.chars().collect()).enumerate().collect();
    order.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    for (number, name) in order {
        let (Some(first), Some(last)) = (name.first(), name.last()) else { continue };
        for at in 0..letters.len() {
            let found = letters.get(at..at + name.len());
            let is_it = found.is_some_and(|found| found.iter().map(|(_, c)| c).eq(&name))
                && !(first.is_alphanumeric() && is_word(at.checked_sub(1)))
                && !(last.is_alphanumeric() && is_word(Some(at + name.len())));
            let range = end_of(at)..end_of(at + name.len());
            let is_free = |(other, _): &(Range<usize>, usize)| {
                range.end <= other.start || other.end <= range.start
            };
            if is_it && places.iter().all(is_free) {
                places.push((range, number));
            }
        }
    }
    places.sort_by_key(|(range, _)| range.start);
    places
}

/// Whether a name, as [`folded`], is more than up to three plain words.
#[must_use]
pub fn is_unusual(folded: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || c == ' ' || c == '\'';
    folded.split(' ').count() > 3 || !folded.chars().all(is_plain)
}

/// Whether two names are one, letter case and blanks aside.
#[must_use]
pub fn are_same(a: &str, b: &str) -> bool {
    folded(a) == folded(b)
}

/// Whether two spellings may be of one name: the same, or so near in sound that whoever writes down what is said cannot tell
/// them apart. Word by word; names of different length are not one.
#[must_use]
pub fn sound_alike(a: &str, b: &str) -> bool {
    let (a, b) = (folded(a), folded(b));
    let words = |name: &str| name.split(' ').count();
    a == b
        || words(&a) == words(&b)
            && a.split(' ').zip(b.split(' ')).all(|(a, b)| a == b || phonetic::alike(a, b))
}

/// Whether a word is one of a list, parted by single spaces.
pub(crate) fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn is_plain(word: &str) -> bool {
    PLAIN_NAMES.contains(&word) || among(SELDOM_PLAIN, word)
}

/// The bytes that a word has after a name: the ending of a genitive or a plural.
fn ending(word: &str, name: &str) -> Option<usize> {
    let rest = word.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(0);
    }
    if name.chars().count() < 3 || among(OWN_WORDS, word) {
        return None;
    }
    let hisses = name.ends_with(['s', 'x', 'z']) || name.ends_with("sh") || name.ends_with("ch");
    match rest {
        "s" => Some(1),
        "es" if hisses => Some(2),
        _ => None,
    }
}

#[derive(Clone, Debug)]
struct Word {
    /// Bytes of the text, without the `'s` of a genitive.
    range: Range<usize>,
    /// Lower case, typographic apostrophes made plain.
    lower: String,
    /// A capital first, and not throughout.
    capital: bool,
    /// It had that `'s`.
    possessive: bool,
}

impl Word {
    fn new(start: usize, raw: &str) -> Self {
        let bare = bare(raw);
        let mut letters = bare.chars().filter(|c| c.is_alphabetic());
        let capital = letters.next().is_some_and(char::is_uppercase)
            && (bare.chars().nth(1).is_none() || letters.any(char::is_lowercase));
        Self {
            range: start..start + bare.len(),
            lower: composed(bare).to_lowercase().replace(APOSTROPHES, "'"),
            capital,
            possessive: bare.len() < raw.len(),
        }
    }
}

/// A word without the `'s` of a genitive.
fn bare(word: &str) -> &str {
    let cut = word.strip_suffix(['s', 'S']).and_then(|rest| rest.strip_suffix(['\'', '\u{2019}']));
    cut.unwrap_or(word)
}

/// They part words that are no ids.
const PARTING: [char; 2] = ['_', '.'];

/// Where a name stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    /// How many words it takes.
    words: usize,
    /// Bytes of its ending.
    ending: usize,
    range: Range<usize>,
}

/// A text as words.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    text: &'a str,
    words: Vec<Word>,
}

impl<'a> Text<'a> {
    /// Reads it. Dots and underlines part words (`rosalind_at_home.mp4`), but not those of ids (`person_4`).
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let mut words = Vec::new();
        for (at, whole) in text.unicode_word_indices() {
            let word = Word::new(at, whole);
            if word.lower.parse::<EntityId>().is_ok() || !whole.contains(PARTING) {
                words.push(word);
                continue;
            }
            let mut start = at;
            for part in whole.split(PARTING) {
                if !part.is_empty() {
                    words.push(Word::new(start, part));
                }
                start += part.len() + 1;
            }
        }
        Self { text, words }
    }

    /// Whether the name stands in it.
    #[must_use]
    pub fn holds(&self, name: &Name) -> bool {
        (0..self.words.len()).any(|at| self.found(at, name).is_some())
    }

    /// The ids in it, as words or mentions; as they are written.
    pub fn ids(&self) -> impl Iterator<Item = EntityId> + '_ {
        self.words.iter().filter_map(|word| word.lower.parse().ok())
    }

    /// Bytes that the `names` take, without their endings; the longest first, and none inside of one that is `spared`.
    #[must_use]
    pub fn places(&self, names: &[Name], spared: &[Name]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            let wanted = names.iter().map(|name| (name, true));
            let found = wanted
                .chain(spared.iter().map(|name| (name, false)))
                .filter_map(|(name, counts)| Some((self.found(at, name)?, counts)))
                .max_by_key(|(found, counts)| (found.words, found.ending == 0, *counts));
            let Some((found, counts)) = found else {
                at += 1;
                continue;
            };
            at += found.words;
            if counts {
                places.push(found.range);
            }
        }
        places
    }

    /// The name from word `at` on.
    fn found(&self, at: usize, name: &Name) -> Option<Found> {
        let (last, led) = name.parts.split_last()?;
        let words = self.words.get(at..at + name.parts.len())?;
        let (tail, head) = words.split_last()?;
        if !head.iter().zip(led).all(|(word, part)| word.lower == *part) {
            return None;
        }
        let ending = match name.kind {
            Kind::Noun => (tail.lower == *last).then_some(0)?,
            Kind::Name | Kind::Plain => ending(&tail.lower, last)?,
        };
        if name.kind == Kind::Plain && !self.is_meant(at) {
            return None;
        }
        let start = words[0].range.start;
        Some(Found { words: words.len(), ending, range: start..tail.range.end - ending })
    }

    /// Whether a word that is a name, too, is used as one.
    fn is_meant(&self, at: usize) -> bool {
        let word = &self.words[at];
        let head = self.is_head(at);
        let before = at.checked_sub(1).filter(|_| !head).map(|at| self.words[at].lower.as_str());
        let next = self.words.get(at + 1).filter(|_| !self.is_head(at + 1));
        let after = next.map(|word| word.lower.as_str());
        if self.is_date(at, before, after) {
            return false;
        }
        if word.capital && !head || self.words.len() == 1 {
            return true;
        }
        if before.is_some_and(|before| among(ARTICLES, before)) {
            return false;
        }
        let modal = among(MODALS, word.lower.as_str());
        let led = before.is_some_and(|before| among(LEADS, before));
        let acts = after.is_some_and(|after| {
            let past = after.len() > 4 && after.ends_with("ed") && !after.ends_with("eed");
            past || among(PREDICATES, after) || !modal && among(UNCHANGING, after)
        });
        word.possessive || led || acts || head && self.leads_off(at, modal, next)
    }

    /// Signs of a capitalised name at the head of a sentence: "Rose, come here", "Rose Miller", "Rose and Ben".
    fn leads_off(&self, at: usize, modal: bool, next: Option<&Word>) -> bool {
        let word = &self.words[at];
        let capital = |word: Option<&Word>| word.is_some_and(|word| word.capital);
        let addressed = self.text[word.range.end..].starts_with(',');
        // "Will Ava come?" asks.
        let surname = !modal && capital(next) && next.is_some_and(|next| next.lower != "i");
        let paired = next.is_some_and(|next| next.lower == "and" || next.lower == "und")
            && capital(self.words.get(at + 2));
        word.capital && (addressed || surname || paired)
    }

    /// Whether it is a month or a season: "in May", "May 4", "the end of May".
    fn is_date(&self, at: usize, before: Option<&str>, after: Option<&str>) -> bool {
        let counts = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let dates = |word: &str| counts(word) || among(MONTHS, word);
        let of = |word: &str| {
            let part = at.checked_sub(2).map(|at| self.words[at].lower.as_str());
            word == "of" && part.is_some_and(|part| counts(part) || among(PARTS, part))
        };
        among(TIMES, self.words[at].lower.as_str())
            && (before.is_some_and(|word| dates(word) || among(DATING, word) || of(word))
                || after.is_some_and(dates))
    }

    /// Whether a sentence, or what somebody said, begins with word `at`.
    fn is_head(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        let before = &self.text[..word.range.start];
        let gap = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '(' | '['));
        before.ends_with(['\'', '\u{2018}'])
            || before[gap.len()..].contains('\n')
            || gap.chars().next_back().is_none_or(|c| {
                matches!(
                    c,
                    '.' | '!'
                        | '?'
                        | ':'
                        | '\u{2026}'
                        | '\u{b7}'
                        | '"'
                        | '\u{201c}'
                        | '\u{201d}'
                        | '\u{201e}'
                        | '\u{ab}'
                        | '\u{bb}'
                )
            })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The text with every place of the names in brackets.
    fn marked(text: &str, names: &[&str]) -> String {
        let names: Vec<Name> = names.iter().map(|name| Name::new(name)).collect();
        let mut out = text.to_owned();
        for place in Text::new(text).places(&names, &[]).into_iter().rev() {
            out.insert(place.end, ']');
            out.insert(place.start, '[');
        }
        out
    }

    #[test]
    fn a_name_is_found_in_every_case_and_with_every_ending() {
        for (name, text) in [
            (
                "Rosalind",
                "[rosalind]'s and [ROSALIND]'S, [Rosalind]\u{2019}s; [rosalind]s, not rosalinde",
            ),
            ("Ava", "[Ava]s Tasse, <person_4>, lava, available, [ava]_at_home.mp4"),
            // What stands between the words does not count: better one struck too many than a name that stays.
            ("Max Marx", "[max marx]es, [max, Marx]; max and Marx"),
            ("O\u{2019}Neil", "the [O'Neil]s met [o\u{2019}neil]"),
            ("Doe", "does [Doe] know the [doe]"),
            ("Al", "als [Al]'s not"),
        ] {
            let plain = text.replace(['[', ']'], "");
            assert_eq!(marked(&plain, &[name]), text, "{name}");
        }
    }

    #[test]
    fn a_name_that_is_a_word_counts_where_somebody_is_meant() {
        for text in [
            "He will be back; where there's a will there's a way.",
            "Will you come? Will Ava come with [May]'s car? I will.",
            "[Will] said he will ask [Will]'s mum. Then [Will] poured tea.",
            "we saw [will] here and [will] is late, he will read",
            "<voice_2> said: \"will be there\" \u{b7} <voice_1> said: \"[will] left\"",
            "in May, on 4 May, May 2026, at the end of May, in May and June",
            "I told [May] about it. May I? It may rain. [May] and Ben, the mother of [May]",
            "Mark my words, the mark on the [Mark] I know; on your mark. [Mark], wait!",
            "She rose early. A red rose. [Rose] likes roses; i met [rose] and my rose",
            "I hope so. Hope for the best. With [hope] or with [Hope]. [Grace] sang, grace period",
            "WILL IT RAIN",
            "[will]",
        ] {
            let plain = text.replace(['[', ']'], "");
            assert_eq!(marked(&plain, &["Will", "May", "Mark", "Rose", "Hope", "Grace"]), text);
        }
    }

    #[test]
    fn whoever_bears_a_longer_name_is_somebody_else() {
        let part = |own: &str, other: &str| Name::new(own).is_part_of(&Name::new(other));
        assert!(part("Anna", "Anna Lena") && part("Han", "Hans"));
        for other in ["Anna", "Anna's mum", "Annas Mutter", "Little Anna", "Ben"] {
            assert!(!part("Anna", other), "{other}");
        }
        let text = "Anna Lena met Anna.";
        let places = Text::new(text).places(&[Name::new("Anna")], &[Name::new("Anna Lena")]);
        assert_eq!((places.len(), places.first()), (1, Some(&(14..18))));
        let noun = [Name::noun("red mug")];
        let places = Text::new("Red mugs, the Red Mug's").places(&noun, &[]);
        assert_eq!((places.len(), places.first()), (1, Some(&(14..21))));
    }

    #[test]
    fn ids_are_read_as_words_and_as_mentions() {
        let ids: Vec<String> =
            Text::new("<person_4> and Face_2's").ids().map(|id| id.to_string()).collect();
        assert_eq!(ids, ["person_4", "face_2"]);
    }

    #[test]
    fn unusual_names_stand_where_they_are_written_whole() {
        let names: Vec<String> = ["Anne-Marie", "Anne-Marie Lind", "j. r. hart"]
            .iter()
            .map(|name| folded(name))
            .collect();
        let found = |text: &'static str| -> Vec<(&str, usize)> {
            let places = unusual_places(text, &names);
            places.into_iter().map(|(range, which)| (&text[range], which)).collect()
        };
        assert_eq!(found("Is ANNE-MARIE here?"), [("ANNE-MARIE", 0)]);
        assert_eq!(
            found("Anne-Marie Lind and Anne-Marie's son"),
            [("Anne-Marie Lind", 1), ("Anne-Marie", 0)]
        );
        assert_eq!(found("J. R. Hart, Susanne-Marie and Anne-Marieke"), [("J. R. Hart", 2)]);
        assert!(is_unusual("anne-marie") && is_unusual("a b c d") && !is_unusual("ava o'neil"));
    }

    #[test]
    fn ids_and_pronouns_are_no_names_and_forms_of_letters_are_one() {
        for name in ["person_99", " Person_4", "me", "Nobody"] {
            assert!(why_no_name(name).is_some(), "{name}");
        }
        for name in ["Mei", "Will", "An", "Nobody Jones", "\u{1f98a}"] {
            assert_eq!(why_no_name(name), None, "{name}");
        }
        assert!(are_same("Jose\u{301}", "JOS\u{c9}") && are_same("O\u{2019}Neil", "O'Neil"));
        assert!(Text::new("I met Jose\u{301}.").holds(&Name::new("Jos\u{e9}")));
    }
}
