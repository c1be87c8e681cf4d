//! In whose hands a thing is: when it is moved in the picture of one camera, and which body goes the same way.
//!
//! Geometry alone, of sightings in time order; so whoever has rows and whoever has percepts come to the same. While the camera
//! itself moves boxes tell of no way: what lies elsewhere after a turn was not moved by anybody who was seen.

use crate::geometry::Rect;
use crate::percept::Sighting;
use crate::time::{Span, Timestamp};

/// A thing that strays by less lies where it lay: share of its longer side.
const STILL: f32 = 0.25;
/// It was moved when it comes to lie, or is seen last, so far from there: share of its longer side.
const MOVED: f32 = 0.5;
/// It rests where it strays by less for so long, seconds.
const REST_SECS: f64 = 1.0;
/// Between two sightings so far apart it was not seen what became of it, seconds.
const UNSEEN_SECS: f64 = 3.0;
/// Sightings so close are of one moment, seconds.
const SAME_SECS: f64 = 0.25;
/// What appears or is lost so shortly after the camera moved, or before, does so because it moved; seconds.
const TURN_SECS: f64 = 3.0;
/// Hands reach so far beyond the box of a body: share of its width.
const REACH: f32 = 0.2;
/// Who carries a thing goes its way but for this share of it.
const ASTRAY: f32 = 0.5;
/// … and has it within reach in this share of the looks that show both.
const HELD: f32 = 0.6;

/// A thing's way from where it lay to where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// From the last look at its old place to the first at its new one.
    pub span: Span,
    /// Where it was.
    pub from: Rect,
    /// Where it came to lie, or was seen last.
    pub to: Rect,
    /// It was on its way when it was seen first.
    pub begins: bool,
    /// It was on its way when it was seen last.
    pub ends: bool,
}

/// The ways of a thing, in time order, as far as they were seen: what comes to lie elsewhere while nobody sees it, or while its
/// camera moves (`turns`, in time order), goes no way.
#[must_use]
pub fn moves(thing: &[Sighting], turns: &[Span]) -> Vec<Move> {
    let is_seen = |a: &Sighting, b: &Sighting| {
        b.at.secs_since(a.at) <= UNSEEN_SECS && !turned_within(turns, a.at, b.at)
    };
    let mut found = Vec::new();
    let mut until = 0;
    for seen in thing.chunk_by(is_seen) {
        let (first, last) = (until == 0, until + seen.len() == thing.len());
        until += seen.len();
        let from = seen.first().filter(|_| !first).map(|look| look.at);
        let ended_by_turn = |way: &Move| {
            way.ends
                && !last
                && thing.get(until).is_some_and(|next| turned_within(turns, way.span.end, next.at))
        };
        let begun_by_turn = |way: &Move| {
            way.begins
                && from.is_some_and(|from| turned_within(turns, from.plus_secs(-TURN_SECS), from))
        };
        let ways = moves_seen(seen).into_iter();
        found.extend(ways.filter(|way| !ended_by_turn(way) && !begun_by_turn(way)));
    }
    found
}

/// Whether the camera moved at any time between two, its `turns` in time order.
#[must_use]
pub fn turned_within(turns: &[Span], from: Timestamp, until: Timestamp) -> bool {
    let next = turns.partition_point(|turn| turn.end <= from);
    turns.get(next).is_some_and(|turn| turn.start < until)
}

/// Whether what was first seen then may have come into view because the camera moved.
#[must_use]
pub fn came_by_turn(turns: &[Span], at: Timestamp) -> bool {
    turned_within(turns, at.plus_secs(-TURN_SECS), at.plus_secs(SAME_SECS))
}

/// Until when the camera looked where it looked then; `until` where it did not move before that.
#[must_use]
pub fn looked_there_until(turns: &[Span], at: Timestamp, until: Timestamp) -> Timestamp {
    let next = turns.partition_point(|turn| turn.end <= at);
    turns.get(next).map_or(until, |turn| until.min(turn.start.max(at)))
}

/// The same of sightings without a gap.
fn moves_seen(thing: &[Sighting]) -> Vec<Move> {
    let mut found = Vec::new();
    let (mut rest, mut at) = (0, 1);
    while let Some(next) = thing.get(at) {
        let lay = thing[rest].bbox;
        if apart(lay, next.bbox) <= STILL * longer(lay) {
            at += 1;
            continue;
        }
        // It lay there until the look before.
        let from = at - 1;
        let end = (at..thing.len()).find(|&at| rests(thing, at)).unwrap_or(thing.len() - 1);
        let to = thing[end].bbox;
        if apart(lay, to) >= MOVED * longer(lay) {
            let span = Span::new(thing[from].at, thing[end].at);
            // What comes over the edge of the picture seems to lie there at first.
            let begins = span.start.secs_since(thing[0].at) <= REST_SECS;
            let ends = end + 1 == thing.len();
            found.push(Move { span, from: lay, to, begins, ends });
        }
        (rest, at) = (end, end + 1);
    }
    found
}

/// Whether a thing stays for a while where that look shows it.
fn rests(thing: &[Sighting], at: usize) -> bool {
    let here = &thing[at];
    let mut later = thing[at + 1..].iter();
    let strays = |one: &Sighting| apart(here.bbox, one.bbox) > STILL * longer(here.bbox);
    match later.find(|one| strays(one) || one.at.secs_since(here.at) >= REST_SECS) {
        Some(one) => !strays(one),
        None => false,
    }
}

/// Whether that body went with the thing on its way; both of one camera.
#[must_use]
pub fn carried(thing: &[Sighting], body: &[Sighting], way: &Move) -> bool {
    let on_way = |one: &&Sighting| way.span.start <= one.at && one.at <= way.span.end;
    let looks = thing.iter().filter(on_way);
    let both: Vec<(Rect, Rect)> =
        looks.filter_map(|look| Some((look.bbox, at_that_moment(body, look.at)?.bbox))).collect();
    let held = both.iter().filter(|(thing, body)| within_reach(*thing, *body)).count();
    let (Some(first), Some(last)) = (both.first(), both.last()) else { return false };
    if both.len() < 2 || (held as f32) < HELD * both.len() as f32 {
        return false;
    }
    let sideways = |from: Rect, to: Rect| to.centre().x - from.centre().x;
    let (thing, body) = (sideways(first.0, last.0), sideways(first.1, last.1));
    // What is lifted stays over the feet of whoever lifts it: sideways tells.
    thing * body > 0.0 && (thing - body).abs() <= ASTRAY * apart(first.0, last.0)
}

/// Whether somebody could reach the thing.
#[must_use]
pub fn within_reach(thing: Rect, body: Rect) -> bool {
    let centre = thing.centre();
    let reach = REACH * body.w;
    centre.x >= body.x - reach
        && centre.x <= body.right() + reach
        && centre.y >= body.y
        && centre.y <= body.bottom()
}

/// Where something was then, as far as it was seen.
#[must_use]
pub fn at_that_moment(sightings: &[Sighting], at: Timestamp) -> Option<&Sighting> {
    let after = sightings.partition_point(|one| one.at < at);
    let near = |one: &&Sighting| at.secs_since(one.at).abs() <= SAME_SECS;
    let before = after.checked_sub(1).and_then(|before| sightings.get(before));
    let found = sightings.get(after).into_iter().chain(before).filter(near);
    found.min_by(|a, b| at.secs_since(a.at).abs().total_cmp(&at.secs_since(b.at).abs()))
}

/// Between the centres, px.
fn apart(a: Rect, b: Rect) -> f32 {
    let (a, b) = (a.centre(), b.centre());
    (a.x - b.x).hypot(a.y - b.y)
}

fn longer(bbox: Rect) -> f32 {
    bbox.w.max(bbox.h).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks five times a second, whose boxes have their centre there.
    fn seen(size: (f32, f32), places: &[(f32, f32)]) -> Vec<Sighting> {
        let look = |(step, (x, y)): (usize, &(f32, f32))| Sighting {
            at: Timestamp::EPOCH.plus_secs(0.2 * step as f64),
            bbox: Rect { x: x - size.0 / 2.0, y: y - size.1 / 2.0, w: size.0, h: size.1 },
            score: 0.8,
            bearing: None,
        };
        places.iter().enumerate().map(look).collect()
    }

    /// It stays for ten looks, goes by `step` ten times, and stays for ten.
    fn way(x: f32, y: f32, step: f32) -> Vec<(f32, f32)> {
        let place = |look: usize| (x + step * look.saturating_sub(9).min(10) as f32, y);
        (0..30).map(place).collect()
    }

    #[test]
    fn who_goes_with_a_thing_carries_it() {
        let bag = seen((60.0, 60.0), &way(300.0, 300.0, 20.0));
        let found = moves(&bag, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        let span = found[0].span;
        let secs = |at: Timestamp| at.secs_since(Timestamp::EPOCH);
        assert!((secs(span.start) - 1.8).abs() < 0.3 && (secs(span.end) - 3.8).abs() < 0.3);
        assert!(!found[0].begins && !found[0].ends);
        let carrier = seen((120.0, 300.0), &way(320.0, 280.0, 20.0));
        let stands = seen((120.0, 300.0), &way(400.0, 280.0, 0.0));
        let comes = seen((120.0, 300.0), &way(500.0, 280.0, -20.0));
        let other = seen((120.0, 300.0), &way(100.0, 280.0, 20.0));
        let carries = |body: &[Sighting]| carried(&bag, body, &found[0]);
        assert!(carries(&carrier));
        assert!(!carries(&stands), "it goes past one who stands");
        assert!(!carries(&comes) && !carries(&other));
    }

    #[test]
    fn what_lies_is_not_moved_by_who_walks_past_and_covers_half_of_it() {
        let mut bag = seen((60.0, 60.0), &way(300.0, 300.0, 0.0));
        for look in &mut bag[10..20] {
            look.bbox.w = 40.0;
        }
        assert_eq!(moves(&bag, &[]), []);
        assert_eq!(moves(&[], &[]), []);
    }

    #[test]
    fn what_lies_elsewhere_after_a_while_unseen_went_no_way() {
        let mut bag = seen((60.0, 60.0), &way(300.0, 300.0, 0.0));
        let mut later = seen((60.0, 60.0), &way(500.0, 300.0, 0.0));
        for look in &mut later {
            look.at = look.at.plus_secs(20.0);
        }
        bag.extend(later);
        assert_eq!(moves(&bag, &[]), []);
    }

    #[test]
    fn what_comes_and_goes_on_its_way_begins_and_ends_there() {
        let bag = seen((60.0, 60.0), &way(300.0, 300.0, 20.0));
        let leaves = moves(&bag[..18], &[]);
        assert!(leaves.len() == 1 && leaves[0].ends && !leaves[0].begins, "{leaves:?}");
        let comes = moves(&bag[10..], &[]);
        assert!(comes.len() == 1 && comes[0].begins && !comes[0].ends, "{comes:?}");
    }

    #[test]
    fn what_lies_elsewhere_because_the_camera_turned_went_no_way() {
        // It lies, the camera turns from 1.8 to 3.8 s, and it lies on the other side of the picture.
        let bag = seen((60.0, 60.0), &way(300.0, 300.0, 20.0));
        let secs = |secs: f64| Timestamp::EPOCH.plus_secs(secs);
        let turn = [Span::new(secs(1.8), secs(3.8))];
        assert_eq!(moves(&bag, &turn), []);
        // A turn at another time hides nothing.
        assert_eq!(moves(&bag, &[Span::new(secs(5.0), secs(5.8))]).len(), 1);
        assert!(came_by_turn(&turn, secs(4.0)) && !came_by_turn(&turn, secs(9.0)));
        assert_eq!(looked_there_until(&turn, secs(1.0), secs(30.0)), secs(1.8));
        assert_eq!(looked_there_until(&turn, secs(4.0), secs(30.0)), secs(30.0));
    }
}
