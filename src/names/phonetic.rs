//! How near two spellings of a name sound: "Shivon" and "Siobhán", "Aileen" and "Eileen".
//!
//! A spelling is read into a lattice of phones: at every letter all that the orthographies of Europe make of it (the table
//! `orthography.tsv`), the less usual readings at a price. Two lattices are compared by the cheapest alignment of a path
//! through one with a path through the other: a weighted edit distance over phones (Kondrak, "Phonetic alignment and
//! similarity", 2003, has the idea: what the mouth does alike costs little), without ever listing the paths.
//!
//! Who is compared at all is found by keys: the classes of the consonants of each path, and those with one left out, so
//! that a look-up costs as much as a word is long, however many are known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// From this likeness on a heard word is taken for a name, if both are long: calibrated on the development half of the pairs
/// in `testdata/heard.tsv` and on written talk ([`border`] has what is asked of short ones).
pub const SOUNDS_LIKE: f32 = 0.86;
/// How much of its weight a name may be off beyond what a short one weighs.
const SLACK: f32 = 0.22;
/// What a name weighs that has to be heard as it is.
const SHORT: f32 = 2.1;

/// From this likeness on two names count as one that was spelt in two ways: nearer than [`SOUNDS_LIKE`], as nothing but the
/// sound speaks for it.
pub const SAME_NAME: f32 = 0.92;

/// What a reading that is usual elsewhere, and one that few have, costs.
const PRICES: [f32; 3] = [0.0, 0.08, 0.25];
/// What it costs to part letters that are usually read as one.
const PARTED: f32 = 0.1;
/// What it costs to reduce the first vowel, besides.
const REDUCED: f32 = 0.2;
/// What a vowel weighs; a consonant weighs 1.
const VOWEL: f32 = 0.5;
/// How much more the first vowel weighs: it is mostly the stressed one, and in short names all there is.
const FIRST_VOWEL: f32 = 1.5;
/// Most classes of consonants that one spelling is looked up by.
const MOST_SKELETONS: usize = 16;
/// Longest word that is read, letters.
const LONGEST: usize = 32;

/// From which likeness on two of which the shorter weighs `mass` ([`Pronunciation::mass`]) may be one: what is short is soon
/// said by chance.
#[must_use]
pub fn border(mass: f32) -> f32 {
    let mass = mass.max(SHORT);
    (1.0 - SLACK * (mass - SHORT) / mass).max(SOUNDS_LIKE)
}

/// Whether two words are one name in two spellings.
#[must_use]
pub fn alike(a: &str, b: &str) -> bool {
    let (a, b) = (Pronunciation::of(a), Pronunciation::of(b));
    a.likeness(&b) >= border(a.mass.min(b.mass)).max(SAME_NAME)
}

/// Where a reading applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Anywhere,
    First,
    Last,
    BeforeFront,
    BeforeVowel,
    BeforeConsonant,
}

/// One row of the table.
#[derive(Debug)]
struct Reading {
    letters: Vec<char>,
    place: Place,
    /// Phones and price.
    phones: Vec<(Vec<u8>, f32)>,
}

/// The table, by the first letter of its rows.
struct Orthography {
    rows: BTreeMap<char, Vec<Reading>>,
    /// Letters with a mark that are read as the letter without.
    plain: BTreeMap<char, char>,
}

static ORTHOGRAPHY: LazyLock<Orthography> =
    LazyLock::new(|| Orthography::parse(include_str!("orthography.tsv")));

impl Orthography {
    fn parse(table: &str) -> Self {
        let mut found = Self { rows: BTreeMap::new(), plain: BTreeMap::new() };
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut cells = line.split('\t');
            let (Some(letters), Some(place), Some(readings)) =
                (cells.next(), cells.next(), cells.next())
            else {
                continue;
            };
            if letters == "=" {
                let plain = readings.chars().next();
                found.plain.extend(place.chars().zip(plain.into_iter().cycle()));
                continue;
            }
            let place = match place {
                "^" => Place::First,
                "$" => Place::Last,
                "f" => Place::BeforeFront,
                "v" => Place::BeforeVowel,
                "c" => Place::BeforeConsonant,
                _ => Place::Anywhere,
            };
            let read = |one: &str| {
                let (phones, tier) = one.split_once(':').unwrap_or((one, "0"));
                let phones = phones.bytes().filter(|phone| *phone != b'-').collect();
                (phones, PRICES[tier.parse::<usize>().unwrap_or(0).min(PRICES.len() - 1)])
            };
            let row = Reading {
                letters: letters.chars().collect(),
                place,
                phones: readings.split(' ').map(read).collect(),
            };
            if let Some(first) = row.letters.first() {
                found.rows.entry(*first).or_default().push(row);
            }
        }
        found
    }

    /// The letters that are read of a word: lower case, doubled consonants and marks without a reading of their own off.
    fn letters(&self, word: &str) -> Vec<char> {
        let mut letters: Vec<char> = Vec::new();
        for letter in word.chars().flat_map(char::to_lowercase) {
            let known = self.rows.contains_key(&letter);
            let plain = if known { Some(&letter) } else { self.plain.get(&letter) };
            let Some(plain) = plain else { continue };
            let doubled = letters.last() == Some(plain) && !is_vowel_letter(*plain);
            // What two letters have for a reading of its own stays.
            if !doubled || matches!(plain, 'l' | 'z' | 'c') {
                letters.push(*plain);
            }
        }
        letters.truncate(LONGEST);
        letters
    }
}

fn is_vowel_letter(letter: char) -> bool {
    "aeiouyáäåąæéęíıóöøőœúüű".contains(letter)
}

fn is_front_letter(letter: char) -> bool {
    "eiyéęíäæöœü".contains(letter)
}

fn is_vowel(phone: u8) -> bool {
    b"ieaou@".contains(&phone)
}

/// From one node of a lattice to a later one.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: usize,
    /// `None`: nothing is spoken.
    phone: Option<u8>,
    price: f32,
    /// What the phone weighs.
    weight: f32,
}

/// How a word may be pronounced: every path through it is one way.
#[derive(Clone, Debug)]
pub struct Pronunciation {
    /// By node, in an order in which edges lead forward only; the last node is the end.
    edges: Vec<Vec<Edge>>,
    /// What the plainest reading weighs.
    mass: f32,
}

impl Pronunciation {
    /// Reads a word, or several as one. What has no letters that the table knows is never like anything.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let table = &*ORTHOGRAPHY;
        let letters = table.letters(word);
        let first_vowel = letters.iter().position(|letter| is_vowel_letter(*letter));
        let mut nodes: Vec<Vec<Edge>> = Vec::new();
        // Of each letter, its node; the ends of edges are put in when all are known.
        let mut of_letter: Vec<usize> = Vec::with_capacity(letters.len() + 1);
        let mut pending: Vec<(usize, usize, usize)> = Vec::new();
        let mut mass = 0.0;
        let mut plain_until = 0;
        for (at, letter) in letters.iter().enumerate() {
            let node = nodes.len();
            of_letter.push(node);
            nodes.push(Vec::new());
            let rows: Vec<&Reading> = table
                .rows
                .get(letter)
                .into_iter()
                .flatten()
                .filter(|row| applies(row, &letters, at))
                .collect();
            let longest = rows.iter().map(|row| row.letters.len()).max().unwrap_or(1);
            // A place of its own goes before anywhere.
            let placed = |row: &Reading| {
                row.place == Place::Anywhere
                    && rows
                        .iter()
                        .any(|other| other.letters == row.letters && other.place != Place::Anywhere)
            };
            for row in rows.iter().filter(|row| !placed(row)) {
                let parted = if row.letters.len() < longest { PARTED } else { 0.0 };
                let end = at + row.letters.len();
                let stressed = first_vowel.is_some_and(|vowel| (at..end).contains(&vowel));
                if at >= plain_until && row.letters.len() == longest {
                    plain_until = end;
                    mass += row.phones.first().map_or(0.0, |(phones, _)| weigh(phones, stressed));
                }
                for (phones, price) in &row.phones {
                    let mut from = node;
                    let reduced = if stressed && phones.as_slice() == b"@" { REDUCED } else { 0.0 };
                    let mut toll = price + parted + reduced;
                    let (last, led) = match phones.split_last() {
                        Some((last, led)) => (Some(*last), led),
                        None => (None, &[][..]),
                    };
                    for phone in led {
                        let to = nodes.len();
                        let weight = weigh(&[*phone], stressed);
                        nodes[from].push(Edge { to, phone: Some(*phone), price: toll, weight });
                        nodes.push(Vec::new());
                        (from, toll) = (to, 0.0);
                    }
                    let weight = last.map_or(0.0, |phone| weigh(&[phone], stressed));
                    pending.push((from, nodes[from].len(), end));
                    nodes[from].push(Edge { to: usize::MAX, phone: last, price: toll, weight });
                }
            }
        }
        of_letter.push(nodes.len());
        nodes.push(Vec::new());
        for (node, edge, end) in pending {
            nodes[node][edge].to = of_letter[end];
        }
        Self { edges: nodes, mass }
    }

    /// What its plainest reading weighs: a consonant 1, a vowel a half.
    #[must_use]
    pub const fn mass(&self) -> f32 {
        self.mass
    }

    /// 0–1: 1 where some reading of the one is a reading of the other. Symmetric.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        let mean = f32::midpoint(self.mass, other.mass);
        if self.mass <= 0.0 || other.mass <= 0.0 {
            return 0.0;
        }
        let columns = other.edges.len();
        let mut cost = vec![f32::INFINITY; self.edges.len() * columns];
        cost[0] = 0.0;
        for (i, mine) in self.edges.iter().enumerate() {
            for (j, theirs) in other.edges.iter().enumerate() {
                let here = cost[i * columns + j];
                if !here.is_finite() {
                    continue;
                }
                let mut relax = |i: usize, j: usize, price: f32| {
                    let there = &mut cost[i * columns + j];
                    *there = there.min(here + price);
                };
                for a in mine {
                    relax(a.to, j, a.price + a.phone.map_or(0.0, |p| left_out(p) * a.weight));
                    let Some(phone) = a.phone else { continue };
                    for b in theirs {
                        let Some(other) = b.phone else { continue };
                        let weight = f32::midpoint(a.weight, b.weight);
                        relax(a.to, b.to, a.price + b.price + unlike(phone, other) * weight);
                    }
                }
                for b in theirs {
                    relax(i, b.to, b.price + b.phone.map_or(0.0, |p| left_out(p) * b.weight));
                }
            }
        }
        let least = cost.last().copied().unwrap_or(f32::INFINITY);
        (1.0 - least / mean).clamp(0.0, 1.0)
    }

    /// What it is looked up by: two that sound alike share one, whatever their vowels, up to one consonant. At most
    /// [`MOST_SKELETONS`] times as many as it has consonants.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<Key> {
        let skeletons = skeletons(&self.edges);
        let mut keys: BTreeSet<Key> = skeletons.iter().copied().map(Key).collect();
        for skeleton in skeletons {
            // Less each of its classes, the last first; the only one stays.
            let mut behind = 1;
            while skeleton >= CLASSES && skeleton / behind > 0 {
                keys.insert(Key(skeleton / behind / CLASSES * behind + skeleton % behind));
                match behind.checked_mul(CLASSES) {
                    Some(next) => behind = next,
                    None => break,
                }
            }
        }
        keys
    }
}

fn applies(row: &Reading, letters: &[char], at: usize) -> bool {
    let end = at + row.letters.len();
    if letters.get(at..end) != Some(row.letters.as_slice()) {
        return false;
    }
    let next = letters.get(end).copied();
    match row.place {
        Place::Anywhere => true,
        Place::First => at == 0,
        Place::Last => next.is_none(),
        Place::BeforeFront => next.is_some_and(is_front_letter),
        Place::BeforeVowel => next.is_some_and(is_vowel_letter),
        Place::BeforeConsonant => next.is_none_or(|next| !is_vowel_letter(next)),
    }
}

fn weigh(phones: &[u8], stressed: bool) -> f32 {
    let one = |phone: &u8| match (is_vowel(*phone), stressed) {
        (false, _) => 1.0,
        (true, false) => VOWEL,
        (true, true) => VOWEL * FIRST_VOWEL,
    };
    phones.iter().map(one).sum()
}

/// The share of its weight that a phone costs which is spoken in one of the two alone.
fn left_out(phone: u8) -> f32 {
    match phone {
        b'h' | b'j' | b'w' => 0.35,
        b'@' => 0.5,
        b'r' => 0.6,
        _ if is_vowel(phone) => 0.8,
        _ => 0.9,
    }
}

/// The share of its weight that it costs to speak one phone for another: by how, where and with what voice they are formed.
fn unlike(a: u8, b: u8) -> f32 {
    if a == b {
        return 0.0;
    }
    let (a, b) = (a.min(b), a.max(b));
    if is_vowel(a) && is_vowel(b) {
        return match (a, b) {
            (b'@', _) => 0.35,
            (b'a', b'o') | (b'e', b'i') | (b'o', b'u') => 0.4,
            (b'a', b'e') => 0.5,
            _ => 1.0,
        };
    }
    match (a, b) {
        // The same but for the voice.
        (b'b', b'p') | (b'd', b't') | (b'g', b'k') | (b'f', b'v') | (b's', b'z') => 0.35,
        (b'S', b'Z') | (b'C', b'J') => 0.35,
        // Sibilants and affricates.
        (b'S', b's') | (b'Z', b'z') | (b'C', b'S') | (b'J', b'Z') => 0.4,
        (b'S', b'z') | (b'Z', b's') | (b'C', b'Z') | (b'J', b'S') | (b'C', b's') => 0.6,
        (b'J', b'z') => 0.6,
        // Dental fricatives and what stands for them.
        (b'T', b't') | (b'T', b'd') | (b'T', b'f') | (b'T', b's') | (b'T', b'v') => 0.4,
        (b'T', b'z') => 0.4,
        (b'C', b't') | (b'J', b'd') | (b'J', b'j') => 0.6,
        // Nasals, liquids, glides.
        (b'm', b'n') => 0.5,
        (b'N', b'n') => 0.2,
        (b'l', b'r') => 0.7,
        (b'l', b'w') => 0.6,
        (b'r', b'w') => 0.7,
        (b'v', b'w') | (b'b', b'v') => 0.4,
        (b'h', b'x') | (b'k', b'x') => 0.3,
        (b'g', b'x') => 0.5,
        (b'N', b'g') => 0.5,
        (b'i', b'j') | (b'u', b'w') => 0.2,
        _ => 1.0,
    }
}

/// Classes of consonants, and one more for none.
const CLASSES: u64 = 9;

/// Consonants of a name by their classes, in order: the digits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u64);

/// The class of a consonant: those that are taken for each other have one.
fn class(phone: u8) -> Option<u64> {
    match phone {
        b'p' | b'b' => Some(1),
        b'f' | b'v' => Some(2),
        b't' | b'd' | b'T' => Some(3),
        b'k' | b'g' | b'x' => Some(4),
        b's' | b'z' | b'S' | b'Z' | b'C' | b'J' => Some(5),
        b'm' | b'n' | b'N' => Some(6),
        b'l' => Some(7),
        b'r' => Some(8),
        _ => None,
    }
}

/// The classes of the consonants of the paths, of the cheapest where there are too many. Doubled ones are one.
fn skeletons(nodes: &[Vec<Edge>]) -> Vec<u64> {
    let mut at: Vec<Vec<(u64, f32)>> = vec![Vec::new(); nodes.len()];
    at[0].push((0, 0.0));
    for (node, edges) in nodes.iter().enumerate() {
        let mut here = std::mem::take(&mut at[node]);
        here.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)));
        here.dedup_by_key(|(skeleton, _)| *skeleton);
        here.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        here.truncate(MOST_SKELETONS);
        if node + 1 == nodes.len() {
            return here.into_iter().map(|(skeleton, _)| skeleton).collect();
        }
        for edge in edges {
            let class = edge.phone.and_then(class);
            for (skeleton, price) in &here {
                let longer = match class {
                    // (What is too long for a number goes on with what there is room for.)
                    Some(class) if skeleton % CLASSES != class => {
                        skeleton.checked_mul(CLASSES).map_or(*skeleton, |longer| longer + class)
                    }
                    _ => *skeleton,
                };
                at[edge.to].push((longer, price + edge.price));
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the pairs of one half (a name, what a recogniser wrote where it was said): the share whose nearest name of all in
    /// that half is the right one and near enough, and of what is found the share that is right; the share of pairs that
    /// are equal but for letter case.
    fn scored(half: &str) -> (f64, f64, f64) {
        let rows = include_str!("testdata/heard.tsv").lines().filter_map(|line| {
            let mut cells = line.split('\t');
            (cells.next() == Some(half)).then_some(())?;
            cells.next().zip(cells.next())
        });
        let rows: Vec<(&str, &str)> = rows.collect();
        let names: BTreeSet<&str> = rows.iter().map(|(name, _)| *name).collect();
        let names: Vec<(&str, Pronunciation)> =
            names.into_iter().map(|name| (name, Pronunciation::of(name))).collect();
        let (mut right, mut found, mut equal) = (0, 0, 0);
        for (name, written) in &rows {
            let heard = Pronunciation::of(written);
            let keys = heard.keys();
            let near = names.iter().filter(|(_, sound)| !sound.keys().is_disjoint(&keys));
            let near = near.map(|(name, sound)| (name, heard.likeness(sound), sound.mass));
            let nearest = near.max_by(|a, b| a.1.total_cmp(&b.1));
            let nearest = nearest.filter(|(_, like, mass)| *like >= border(mass.min(heard.mass)));
            found += usize::from(nearest.is_some());
            right += usize::from(nearest.is_some_and(|(nearest, ..)| nearest == name));
            equal += usize::from(name.to_lowercase() == written.to_lowercase());
        }
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        (share(right, rows.len()), share(right, found), share(equal, rows.len()))
    }

    #[test]
    fn names_of_many_languages_are_known_by_what_a_recogniser_writes() {
        for half in ["dev", "test"] {
            let (recall, precision, equal) = scored(half);
            assert!(recall >= 0.65 && precision >= 0.97, "{half}: {recall}, {precision}");
            assert!(recall >= 2.0 * equal, "{half}: equal spelling finds {equal}");
        }
    }

    #[test]
    fn other_names_are_others() {
        for (a, b) in [("Eileen", "Aileen"), ("John", "Jon"), ("Kathryn", "Catherine")] {
            assert!(alike(a, b) && alike(b, a), "{a}, {b}");
        }
        for (a, b) in
            [("Tim", "Tom"), ("Ben", "Dan"), ("Mark", "Mike"), ("Ava", "Eve"), ("", "Ava")]
        {
            assert!(!alike(a, b), "{a}, {b}");
        }
        // What no orthography of the table has is like nothing, itself neither.
        assert!(Pronunciation::of("\u{5f20}\u{4f1f}").mass() <= 0.0);
    }
}
