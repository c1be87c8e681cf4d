//! Turns too short to be known by themselves, decided at their clip's end by who else speaks in it.
//!
//! A second of speech is easily less like its own voice than a stranger's four seconds may be: alone it waits for more, and
//! mostly none comes. But it is one of the few who spoke just before and after it nearly always. Such a turn gets the voice
//! of its clip that it is most like, where it is not surely nobody's and that voice leads all who are somebody else,
//! whoever of them is in the clip. It teaches nothing and is no evidence.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster::{Item, Outcome};
use super::gallery::{Gallery, Probe};
use super::thresholds::MatchThresholds;

/// A turn with less speech is short, seconds.
pub(in crate::identify) const SHORT_SECS: f64 = 2.5;

/// Whose a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::identify) enum Whose {
    /// The known gallery of that index.
    Known(usize),
    /// The new voice of that index.
    New(usize),
}

/// What the turns of a clip were grouped by, and into.
pub(in crate::identify) struct Grouped<'a> {
    pub items: &'a [Item],
    pub outcomes: &'a [Outcome],
    pub known: &'a [Vec<&'a Gallery>],
    pub thresholds: &'a MatchThresholds,
    /// Whether two items cannot be one voice.
    pub apart: &'a dyn Fn(usize, usize) -> bool,
}

impl Grouped<'_> {
    /// Whose the undecided of `short` are, with the score, by those of `clear`: the items of the clip that are somebody's
    /// beyond doubt. Costs the undecided times all known voices.
    pub(in crate::identify) fn decide_short(
        &self,
        short: &[usize],
        clear: &BTreeSet<usize>,
    ) -> BTreeMap<usize, (Whose, f32)> {
        let mut voices: BTreeMap<Whose, Vec<usize>> = BTreeMap::new();
        for index in clear {
            let whose = match self.outcomes[*index] {
                Outcome::Known { gallery, sure: true, .. } => Whose::Known(gallery),
                Outcome::New { group } => Whose::New(group),
                _ => continue,
            };
            voices.entry(whose).or_default().push(*index);
        }
        let undecided = short.iter().filter(|at| self.outcomes[**at] == Outcome::Undecided);
        let decided = undecided.filter_map(|at| Some((*at, self.clearly_one_of(*at, &voices)?)));
        decided.collect()
    }

    fn clearly_one_of(
        &self,
        at: usize,
        voices: &BTreeMap<Whose, Vec<usize>>,
    ) -> Option<(Whose, f32)> {
        let Item { probe, secs, .. } = &self.items[at];
        let may_be = |members: &[usize]| !members.iter().any(|other| (self.apart)(at, *other));
        let mut best: Option<(Whose, f32)> = None;
        for (whose, members) in voices.iter().filter(|(_, members)| may_be(members)) {
            let score = self.score(probe, *whose, members);
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((*whose, score));
            }
        }
        let (whose, score) = best?;
        let own = &voices[&whose];
        let others = voices.iter().map(|(other, members)| (*other, members.as_slice()));
        let absent = (0..self.known.len()).map(|index| (Whose::Known(index), [].as_slice()));
        let absent = absent.filter(|(other, _)| !voices.contains_key(other));
        let rivals = others
            .chain(absent)
            .filter(|(other, members)| *other != whose && self.are_two(own, *other, members));
        let second = rivals.map(|(other, members)| self.score(probe, other, members));
        let second = second.fold(-1.0_f32, f32::max);
        let is_somebody = score >= self.thresholds.nobody_below(*secs);
        (is_somebody && score - second >= self.thresholds.margin).then_some((whose, score))
    }

    /// How like somebody a probe is: their gallery, and their turns in this clip.
    fn score(&self, probe: &Probe, whose: Whose, members: &[usize]) -> f32 {
        let known = match whose {
            Whose::Known(index) => self.known[index].as_slice(),
            Whose::New(_) => &[],
        };
        let galleries = known.iter().map(|gallery| gallery.score(probe));
        let turns = members.iter().map(|other| probe.cosine(&self.items[*other].probe));
        galleries.chain(turns).fold(-1.0_f32, f32::max)
    }

    /// Whether the items `own` are surely another voice's than that: one voice may be known in pieces.
    fn are_two(&self, own: &[usize], other: Whose, members: &[usize]) -> bool {
        let alike = own.iter().map(|at| self.score(&self.items[*at].probe, other, members));
        alike.fold(-1.0_f32, f32::max) < self.thresholds.maybe
    }
}
