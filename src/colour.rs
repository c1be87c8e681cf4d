//! Colours by their names: the eleven basic colour terms (Berlin and Kay 1969), what a thing is called by them, and what is
//! settled of that over many looks.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A basic colour term.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Colour {
    Black,
    White,
    Red,
    Green,
    Yellow,
    Blue,
    Brown,
    Purple,
    Pink,
    Orange,
    Grey,
}

/// How another spelling of a term is spelled here.
const SPELLINGS: [(&str, Colour); 1] = [("gray", Colour::Grey)];
/// Pairs that two shades of one thing, or one thing in two lights, may be called by.
const NEAR: &str = include_str!("perceive/colour/near.tsv");

impl Colour {
    /// How many there are.
    pub const COUNT: usize = 11;
    /// All of them, in their order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Black,
        Self::White,
        Self::Red,
        Self::Green,
        Self::Yellow,
        Self::Blue,
        Self::Brown,
        Self::Purple,
        Self::Pink,
        Self::Orange,
        Self::Grey,
    ];

    /// The term.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::White => "white",
            Self::Red => "red",
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Blue => "blue",
            Self::Brown => "brown",
            Self::Purple => "purple",
            Self::Pink => "pink",
            Self::Orange => "orange",
            Self::Grey => "grey",
        }
    }

    /// The one that a word (lower case) names.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let spelled = SPELLINGS.iter().find(|(other, _)| *other == word).map(|(_, colour)| *colour);
        spelled.or_else(|| Self::ALL.into_iter().find(|colour| colour.word() == word))
    }

    /// Whether one thing may be called by both, in two lights.
    #[must_use]
    pub fn is_near(self, other: Self) -> bool {
        let pair = |line: &str| {
            let (a, b) = line.split_once(' ')?;
            Some((a == self.word() && b == other.word()) || (b == self.word() && a == other.word()))
        };
        self == other || NEAR.lines().any(|line| pair(line) == Some(true))
    }
}

/// The colours of a thing: one, or two ("red and white"), the foremost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colours {
    first: Colour,
    second: Option<Colour>,
}

impl Colours {
    /// Of one colour.
    #[must_use]
    pub const fn one(colour: Colour) -> Self {
        Self { first: colour, second: None }
    }

    /// Of two; of one where both are the same.
    #[must_use]
    pub fn two(first: Colour, second: Colour) -> Self {
        Self { first, second: Some(second).filter(|second| *second != first) }
    }

    /// Whether a thing of these colours may be called that: what is red and white is a red thing, too.
    #[must_use]
    pub fn has(self, colour: Colour) -> bool {
        self.first == colour || self.second == Some(colour)
    }

    /// The one or two, the foremost first.
    pub fn each(self) -> impl Iterator<Item = Colour> {
        std::iter::once(self.first).chain(self.second)
    }

    /// What is called that, with its colours before it: "red cup". A thing that is called as its colour has its name alone.
    #[must_use]
    pub fn before(this: Option<Self>, called: &str) -> String {
        let own = |colours: &Self| {
            called.split(' ').any(|word| colours.each().any(|one| one.word() == word))
        };
        match this.filter(|colours| !own(colours)) {
            Some(colours) => format!("{colours} {called}"),
            None => called.to_owned(),
        }
    }

    /// Whether a thing of these colours may be called by all of those.
    #[must_use]
    pub fn has_all(self, colours: &[Colour]) -> bool {
        colours.iter().all(|colour| self.has(*colour))
    }

    /// Whether no light makes one of the other: no colour of either is, or is near, one of the other's.
    #[must_use]
    pub fn differ(self, other: Self) -> bool {
        !self.each().any(|one| other.each().any(|another| one.is_near(another)))
    }
}

/// "red", "red and white".
impl fmt::Display for Colours {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.first.word())?;
        self.second.map_or(Ok(()), |second| write!(out, " and {}", second.word()))
    }
}

impl FromStr for Colours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |word: &str| {
            Colour::named(word).ok_or_else(|| {
                format!("{text:?} is no colour: one basic colour term, or two joined by \"and\"")
            })
        };
        match text.split_once(" and ") {
            Some((first, second)) => Ok(Self::two(named(first)?, named(second)?)),
            None => named(text).map(Self::one),
        }
    }
}

impl Serialize for Colours {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Colours {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What one look named, and how surely, 0–1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Named {
    /// The colours.
    pub colours: Colours,
    /// Which share of the thing they are, weighed by how surely they are called so, 0–1.
    pub sure: f32,
}

/// A colour is settled from this share of the votes on, and stays so down to that one: light changes.
const SETTLES: f32 = 0.6;
const STAYS: f32 = 0.4;
/// … of so many votes at least (a look has at most one), and of at least this share of all looks.
const LEAST: f32 = 1.5;
const OF_LOOKS: f32 = 0.2;
/// From so many votes on the older half counts half.
const KEPT: f32 = 40.0;

/// What the looks at one thing called it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColourVotes {
    /// By colour, each look's as strong as it was sure.
    votes: [f32; Colour::COUNT],
    /// All votes: of two colours both have one.
    all: f32,
    looks: f32,
    settled: Option<Colours>,
}

impl ColourVotes {
    /// Takes what a look named; `None`: it named nothing.
    pub fn see(&mut self, named: Option<Named>) {
        self.looks += 1.0;
        if let Some(Named { colours, sure }) = named {
            self.all += sure;
            for colour in colours.each() {
                self.votes[colour as usize] += sure;
            }
        }
        self.settled = self.decide();
        if self.looks > KEPT {
            self.votes = self.votes.map(|votes| 0.5 * votes);
            self.all *= 0.5;
            self.looks *= 0.5;
        }
    }

    /// What is settled; `None`: nothing is yet, or looks contradict each other.
    #[must_use]
    pub fn settled(&self) -> Option<Colours> {
        self.settled
    }

    fn decide(&self) -> Option<Colours> {
        if self.all < LEAST || self.all < OF_LOOKS * self.looks {
            return None;
        }
        let is_settled = |colour: Colour| {
            let was = self.settled.is_some_and(|settled| settled.has(colour));
            self.votes[colour as usize] >= if was { STAYS } else { SETTLES } * self.all
        };
        let mut found: Vec<Colour> =
            Colour::ALL.into_iter().filter(|one| is_settled(*one)).collect();
        found.sort_by(|a, b| self.votes[*b as usize].total_cmp(&self.votes[*a as usize]));
        match *found.as_slice() {
            [] => None,
            [one] => Some(Colours::one(one)),
            // Two shades of one colour are told by the foremost.
            [first, second, ..] if first.is_near(second) => Some(Colours::one(first)),
            [first, second, ..] => Some(Colours::two(first, second)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn named(text: &str, sure: f32) -> Option<Named> {
        Some(Named { colours: text.parse().unwrap(), sure })
    }

    #[test]
    fn colours_are_written_and_read_back() {
        for first in Colour::ALL {
            for second in Colour::ALL {
                let colours = Colours::two(first, second);
                assert_eq!(colours.to_string().parse(), Ok(colours));
            }
        }
        assert_eq!("gray".parse(), Ok(Colours::one(Colour::Grey)));
        for wrong in ["", "red and", "reddish", "red and white and blue"] {
            assert!(wrong.parse::<Colours>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_a_light_may_change_into_each_other_does_not_differ() {
        let differ = |a: &str, b: &str| a.parse::<Colours>().unwrap().differ(b.parse().unwrap());
        assert!(differ("red", "blue") && differ("black", "white"));
        assert!(!differ("red", "orange") && !differ("orange", "red") && !differ("white", "grey"));
        assert!(!differ("red and white", "red") && differ("red and white", "green"));
    }

    #[test]
    fn looks_settle_a_colour_and_a_few_others_do_not_change_it() {
        let mut votes = ColourVotes::default();
        votes.see(named("red", 0.8));
        assert_eq!(votes.settled(), None, "one look is none");
        votes.see(named("red", 0.8));
        let red = Some(Colours::one(Colour::Red));
        assert_eq!(votes.settled(), red);
        votes.see(named("blue", 0.9));
        votes.see(None);
        assert_eq!(votes.settled(), red);
        for _ in 0..9 {
            votes.see(named("blue", 0.9));
        }
        assert_eq!(votes.settled(), Some(Colours::one(Colour::Blue)));
        // Looks that mostly see nothing say nothing.
        let mut votes = ColourVotes::default();
        for number in 0..30 {
            votes.see(if number % 12 == 0 { named("red", 0.6) } else { None });
        }
        assert_eq!(votes.settled(), None);
        // Of two colours, as often as both are seen.
        let mut votes = ColourVotes::default();
        for look in ["red and white", "red", "red and white", "red and white"] {
            votes.see(named(look, 0.8));
        }
        assert_eq!(votes.settled().unwrap().to_string(), "red and white");
    }
}
