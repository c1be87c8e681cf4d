//! Looks at things: what one picture showed at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::answer::document::Evidence;
use crate::answer::question::{Beside, Named, Side};
use crate::answer::reading::{GATHERED, Reading, mean, touch};
use crate::geometry::{Rect, third};
use crate::ids::{EntityId, SourceId};
use crate::memory::model::ObjectTrackRow;
use crate::time::{Span, Timestamp};

use super::{evidence_of, rows_of};

/// What was seen within so long before now is there now, seconds: a thing that stands still is looked at once a second.
const HERE_SECS: f64 = 10.0;
/// So many looks must show as many at once: one may show a thing twice.
const AGREEING: usize = 2;
/// What stands on another has its foot between so much above the other's top, in its own height, and the other's foot.
const FOOT: f32 = 0.3;
/// What is near another is no farther from it than this share of the wider one's width.
const NEAR: f32 = 1.0;

/// One thing in one look.
#[derive(Clone, Debug)]
struct Seen {
    object: EntityId,
    bbox: Rect,
    score: f32,
    row: Arc<ObjectTrackRow>,
}

/// One look of one camera.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) at: Timestamp,
    pub(super) count: usize,
    seen: Vec<Seen>,
}

/// Looks in time order.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks(BTreeMap<(Timestamp, SourceId), Vec<Seen>>);

impl Looks {
    /// All that show one of those things in those times, or ever. Costs the sightings that [`rows_of`] gives.
    pub(super) fn of(reading: &Reading, objects: &[EntityId], spans: Option<&[Span]>) -> Self {
        let mut looks = Self::default();
        for &object in objects {
            for row in rows_of(reading, object, spans) {
                for look in row.sightings.iter().filter(|look| look.at <= reading.now()) {
                    let moment = Span::new(look.at, look.at);
                    if spans.is_none_or(|spans| spans.iter().any(|span| touch(*span, moment))) {
                        let seen = Seen {
                            object,
                            bbox: look.bbox,
                            score: look.score,
                            row: Arc::clone(&row),
                        };
                        looks.0.entry((look.at, row.source.clone())).or_default().push(seen);
                    }
                }
            }
        }
        looks
    }

    /// Those that show what is there now.
    pub(super) fn lately(reading: &Reading, objects: &[EntityId]) -> Self {
        let now = reading.now();
        Self::of(reading, objects, Some(&[Span::new(now.plus_secs(-HERE_SECS), now)]))
    }

    /// Only what is on that side of the picture.
    pub(super) fn on(mut self, side: Option<Side>) -> Self {
        if let Some(side) = side {
            self.retain(|_, seen| {
                let share = seen.bbox.centre().x / seen.row.picture.0.max(1) as f32;
                side == [Side::Left, Side::Middle, Side::Right][third(share)]
            });
        }
        self
    }

    /// Only what stands so to one of the others in the same look.
    pub(super) fn beside(
        mut self,
        reading: &Reading,
        how: Option<&(Beside, Named)>,
        others: &[EntityId],
    ) -> Self {
        let Some((how, _)) = how else { return self };
        let all = Self::of(reading, others, None);
        self.retain(|look, seen| {
            let there = all.0.get(look).into_iter().flatten();
            let mut there = there.filter(|other| other.object != seen.object);
            there.any(|other| stands(*how, seen.bbox, other.bbox))
        });
        self
    }

    /// The things in them, ascending.
    pub(super) fn all(&self) -> BTreeSet<EntityId> {
        self.0.values().flatten().map(|seen| seen.object).collect()
    }

    /// Only those things.
    pub(super) fn only(&self, objects: &[EntityId]) -> Self {
        let mut some = self.clone();
        some.retain(|_, seen| objects.contains(&seen.object));
        some
    }

    fn retain(&mut self, keep: impl Fn(&(Timestamp, SourceId), &Seen) -> bool) {
        self.0.retain(|look, seen| {
            seen.retain(|one| keep(look, one));
            !seen.is_empty()
        });
    }

    /// The newest of those looks that show the most at once, as far as others agree.
    pub(super) fn most(&self) -> Option<Look> {
        let mut counts: Vec<usize> = self.0.values().map(Vec::len).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let count = *counts.get(AGREEING - 1).or_else(|| counts.last())?;
        let mut shows = self.0.iter().rev();
        shows.find(|(_, seen)| seen.len() == count).map(Self::look)
    }

    pub(super) fn first(&self) -> Option<Look> {
        self.0.iter().next().map(Self::look)
    }

    pub(super) fn last(&self) -> Option<Look> {
        self.0.iter().next_back().map(Self::look)
    }

    fn look(((at, _), seen): (&(Timestamp, SourceId), &Vec<Seen>)) -> Look {
        Look { at: *at, count: seen.len(), seen: seen.clone() }
    }

    /// "I last saw two cups at 17:30:05"
    pub(super) fn last_told(&self, reading: &Reading, called: &str) -> String {
        let Some(last) = self.last() else { return "I never saw one".to_owned() };
        format!("I last saw {} {}", several(last.count, called), reading.wording.at(last.at))
    }

    pub(super) fn last_evidence(&self, reading: &Reading) -> Vec<Evidence> {
        self.last().map_or_else(Vec::new, |last| last.evidence(reading))
    }
}

impl Look {
    pub(super) fn objects(&self) -> Vec<EntityId> {
        self.seen.iter().map(|one| one.object).collect()
    }

    /// A piece for every thing in it; each is of that moment.
    pub(super) fn evidence(&self, reading: &Reading) -> Vec<Evidence> {
        let moment = Span::new(self.at, self.at);
        let of = |one: &Seen| {
            let text = format!("A {} was in view of {}.", one.row.called(), one.row.source);
            evidence_of(
                reading,
                &one.row,
                moment,
                text,
                mean([one.score, one.row.confidence].into_iter()),
            )
        };
        self.seen.iter().take(GATHERED).map(of).collect()
    }
}

/// Whether a thing stands so to another.
fn stands(how: Beside, thing: Rect, other: Rect) -> bool {
    let apart = (thing.x - other.right()).max(other.x - thing.right());
    match how {
        Beside::On => {
            let middle = thing.centre().x;
            let within = middle >= other.x && middle <= other.right();
            within
                && thing.bottom() >= other.y - FOOT * thing.h
                && thing.bottom() <= other.bottom()
                && thing.area() < other.area()
        }
        Beside::Near => {
            let level = thing.y < other.bottom() && other.y < thing.bottom();
            level && apart <= NEAR * thing.w.max(other.w)
        }
    }
}

/// "one cup", "3 cups", "2 people".
pub(super) fn several(count: usize, noun: &str) -> String {
    match count {
        1 => format!("one {noun}"),
        _ => format!("{count} {}", plural(noun)),
    }
}

/// The plural of a regular noun.
fn plural(noun: &str) -> String {
    const SIBILANTS: [&str; 5] = ["s", "x", "z", "ch", "sh"];
    if let Some(stem) =
        noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']))
    {
        return format!("{stem}ies");
    }
    let hisses = SIBILANTS.iter().any(|end| noun.ends_with(end));
    format!("{noun}{}", if hisses { "es" } else { "s" })
}

pub(super) fn side_words(side: Side) -> &'static str {
    match side {
        Side::Left => " on the left",
        Side::Middle => " in the middle",
        Side::Right => " on the right",
    }
}

pub(super) fn beside_words(how: Beside) -> &'static str {
    match how {
        Beside::On => "on",
        Beside::Near => "beside",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_is_over_the_foot_and_near_is_a_width_away() {
        let table = Rect { x: 100.0, y: 300.0, w: 300.0, h: 120.0 };
        let cup = |x: f32, y: f32| Rect { x, y, w: 40.0, h: 50.0 };
        assert!(stands(Beside::On, cup(200.0, 255.0), table));
        assert!(stands(Beside::On, cup(200.0, 300.0), table));
        assert!(!stands(Beside::On, cup(200.0, 200.0), table), "it floats");
        assert!(!stands(Beside::On, cup(420.0, 300.0), table), "it is beside it");
        assert!(stands(Beside::Near, cup(420.0, 300.0), cup(470.0, 310.0)));
        assert!(!stands(Beside::Near, cup(420.0, 300.0), cup(510.0, 310.0)));
        assert!(!stands(Beside::Near, cup(420.0, 300.0), cup(430.0, 100.0)));
    }

    #[test]
    fn several_are_told_in_the_plural() {
        assert_eq!(several(1, "cup"), "one cup");
        assert_eq!(several(3, "wine glass"), "3 wine glasses");
        assert_eq!(several(2, "bench"), "2 benches");
        assert_eq!(several(2, "berry"), "2 berries");
        assert_eq!(several(2, "toy"), "2 toys");
    }
}
