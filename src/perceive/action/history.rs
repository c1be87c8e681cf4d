//! What a body did, look by look.

use serde::{Deserialize, Serialize};

use super::lane::Lane;
use super::posture::{HandUp, Look, Posture, look};
use crate::geometry::{Point, Rect};
use crate::percept::{Action, ActionKind, Object};
use crate::time::{Span, Timestamp};

/// How it is held is not known for so long: it may be another way since. Hands, likewise. Seconds.
const POSTURE_GONE_SECS: f64 = 2.5;
const HANDS_GONE_SECS: f64 = 0.7;
/// Ways are measured over at least so long, at most so long, seconds: a step takes half a second.
const WAY_SECS: (f64, f64) = (0.8, 2.0);
/// Who goes so fast walks, and who goes on so fast; heights a second (who strolls goes .5, the box of who stands shakes by .05).
const WALKS: f32 = 0.25;
const WALKS_ON: f32 = 0.15;
/// A hand that was up so long ago is another gesture; who waves, does it within so long, seconds.
const WAVES_SECS: f64 = 2.0;
/// It goes so far to a side and back, trunks, so often: there and back, and there again.
const SWING: f32 = 0.15;
const SWINGS: usize = 3;
/// From upright to the ground in so long, seconds, is a fall: looks are up to a second apart. Who lies down bends and sits first.
const FALL_SECS: f64 = 1.6;
/// Who stays down for so long, in so many looks, has fallen.
const DOWN_SECS: f64 = 1.5;
const DOWN_LOOKS: u32 = 3;
/// Where a body on the ground is from where it stood: at most so far to a side, up or down, its heights while it stood.
const FALLS_ASIDE: f32 = 1.0;
const FALLS_DOWN: f32 = 0.5;

/// What the track of a body knows of what it did; part of the checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionHistory {
    posture: Lane,
    hands: Lane,
    /// Where it stood, by its feet, and its height: of the last seconds.
    ways: Vec<(Timestamp, Point, f32)>,
    /// Each hand while it was up, of the last seconds: how far to the side of the elbow.
    waved: [Vec<(Timestamp, f32)>; 2],
    /// Where it was upright last.
    upright: Option<(Timestamp, Rect)>,
    /// The fall is told of.
    fell: Option<Timestamp>,
    /// What is over and was not given out yet.
    done: Vec<Action>,
}

impl ActionHistory {
    /// Takes a look at the body; nothing where its key points are not told.
    pub fn see(&mut self, at: Timestamp, object: &Object) {
        let Some(skeleton) = &object.skeleton else { return };
        let look = look(skeleton, object.bbox);
        let speed = self.speed(at, object.bbox);
        if matches!(look.posture, Some((Posture::Upright, _))) {
            self.upright = Some((at, object.bbox));
        }
        let held = self.hold(&look, speed).map(|(kind, confidence)| (kind, at, confidence));
        self.posture.look(at, held, POSTURE_GONE_SECS, &mut self.done);
        self.falls();
        let gesture = self.gesture(at, &look);
        self.hands.look(at, gesture, HANDS_GONE_SECS, &mut self.done);
    }

    /// The camera turned: what stood still is elsewhere in the picture, px.
    pub fn shift(&mut self, x: f32, y: f32) {
        for (_, place, _) in &mut self.ways {
            place.x += x;
            place.y += y;
        }
        if let Some((_, place)) = &mut self.upright {
            place.x += x;
            place.y += y;
        }
    }

    /// Whether every picture is worth a look: a hand is up, or something begins.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.hands.held().is_some() || self.hands.is_turning() || self.posture.is_turning()
    }

    /// Whether it lies, or was upright a moment ago and may lie now: `seen` last. Who lies is not found by who looks for people as
    /// they stand.
    #[must_use]
    pub fn may_lie(&self, at: Timestamp, seen: Timestamp) -> bool {
        let lies = self.posture.held().is_some_and(|held| held.kind == ActionKind::Lies);
        let fell = |(when, _): (Timestamp, Rect)| at.secs_since(when) <= FALL_SECS + DOWN_SECS;
        lies || seen < at && self.upright.is_some_and(fell)
    }

    /// When it fell, where it lies since.
    #[must_use]
    pub fn fell(&self) -> Option<Timestamp> {
        self.fell
    }

    /// Whether that may be this body, which stood a moment ago and lies now where it stood.
    #[must_use]
    pub fn may_have_fallen(&self, at: Timestamp, object: &Object) -> bool {
        let Some((when, stood)) = self.upright else { return false };
        let Some(skeleton) = &object.skeleton else { return false };
        let lies = super::lies(skeleton, object.bbox);
        let aside = (object.bbox.centre().x - stood.centre().x).abs();
        let down = (object.bbox.bottom() - stood.bottom()).abs();
        lies && at.secs_since(when) <= FALL_SECS
            && aside <= FALLS_ASIDE * stood.h
            && down <= FALLS_DOWN * stood.h
    }

    /// Gives out what it did before the border; what goes on is cut there, and goes on.
    pub fn split(&mut self, border: Timestamp) -> Vec<Action> {
        let mut done = std::mem::take(&mut self.done);
        done.extend(self.posture.cut(border));
        done.extend(self.hands.cut(border));
        done.sort_by_key(|action| (action.span.start, action.kind));
        done
    }

    /// How fast it went lately, heights a second; `None`: it was not followed for long enough.
    fn speed(&mut self, at: Timestamp, body: Rect) -> Option<f32> {
        let foot = Point { x: body.centre().x, y: body.bottom() };
        let (least, most) = WAY_SECS;
        self.ways.retain(|(when, ..)| at.secs_since(*when) <= most);
        self.ways.push((at, foot, body.h));
        let long_ago = |(when, ..): &&(Timestamp, Point, f32)| at.secs_since(*when) >= least;
        let (when, was, height) = *self.ways.iter().rev().find(long_ago)?;
        let (x, y) = (foot.x - was.x, foot.y - was.y);
        // Who comes nearer grows.
        let way = (x * x + y * y).sqrt().max((body.h - height).abs());
        Some(way / body.h.max(height).max(1.0) / at.secs_since(when) as f32)
    }

    fn hold(&self, look: &Look, speed: Option<f32>) -> Option<(ActionKind, f32)> {
        let (posture, confidence) = look.posture?;
        let kind = match posture {
            Posture::Sitting => ActionKind::Sits,
            Posture::Lying => ActionKind::Lies,
            Posture::Upright => {
                let walked = self.posture.held().is_some_and(|it| it.kind == ActionKind::Walks);
                let least = if walked { WALKS_ON } else { WALKS };
                if speed? > least { ActionKind::Walks } else { ActionKind::Stands }
            }
        };
        Some((kind, confidence))
    }

    /// Whoever was upright, and lies the next moment, and stays so.
    fn falls(&mut self) {
        let lies = self.posture.held().filter(|held| held.kind == ActionKind::Lies);
        let Some(lies) = lies else {
            self.fell = None;
            return;
        };
        if self.fell.is_some() || lies.secs() < DOWN_SECS || lies.looks() < DOWN_LOOKS {
            return;
        }
        let Some(before) = self.posture.before() else { return };
        let stood = matches!(before.kind, ActionKind::Stands | ActionKind::Walks);
        if !stood || lies.begun.secs_since(before.last) > FALL_SECS {
            return;
        }
        self.fell = Some(before.last);
        self.done.push(Action {
            kind: ActionKind::Falls,
            span: Span::new(before.last, lies.begun),
            confidence: lies.confidence().min(before.confidence()),
            continued: false,
        });
    }

    /// What a hand does, and since when.
    fn gesture(&mut self, at: Timestamp, look: &Look) -> Option<(ActionKind, Timestamp, f32)> {
        for (waved, hand) in self.waved.iter_mut().zip(look.hands) {
            waved.retain(|(when, _)| at.secs_since(*when) <= WAVES_SECS);
            waved.extend(hand.map(|HandUp { aside, .. }| (at, aside)));
        }
        let waves = self.waved.iter().zip(look.hands).find_map(|(waved, hand)| {
            let swings = swings(waved.iter().map(|(_, aside)| *aside));
            let (since, _) = waved.first()?;
            (swings >= SWINGS).then_some((ActionKind::Waves, *since, hand?.confidence))
        });
        let raises = || look.raised.map(|confidence| (ActionKind::RaisesHand, at, confidence));
        let points = || look.points.map(|confidence| (ActionKind::Points, at, confidence));
        waves.or_else(raises).or_else(points)
    }
}

/// How often something goes to one side by [`SWING`] after it went to the other.
fn swings(mut places: impl Iterator<Item = f32>) -> usize {
    let Some(first) = places.next() else { return 0 };
    // How far it went to either side since it turned last, and to which side it goes.
    let (mut low, mut high, mut side, mut count) = (first, first, None, 0);
    for place in places {
        let turned = match side {
            Some(true) => high - place >= SWING,
            Some(false) => place - low >= SWING,
            None => high - place >= SWING || place - low >= SWING,
        };
        if turned {
            let right = place > low;
            (side, count) = (Some(side.map_or(right, |side: bool| !side)), count + 1);
            (low, high) = (place, place);
        }
        (low, high) = (low.min(place), high.max(place));
    }
    count
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::posture::tests::{Figure, LIES, SITS, STANDS};
    use super::*;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn body(figure: &Figure) -> Object {
        let (skeleton, bbox) = figure.skeleton();
        Object {
            bbox,
            label: "person".into(),
            score: 0.8,
            least: 0.0,
            bearing: None,
            picture: (640, 480),
            clothes: None,
            colours: None,
            skeleton: Some(skeleton),
        }
    }

    /// What comes of looks five times a second; seconds.
    fn told(looks: impl IntoIterator<Item = Figure>) -> Vec<(ActionKind, f64, f64)> {
        let mut history = ActionHistory::default();
        let mut end = 0.0;
        for (number, figure) in looks.into_iter().enumerate() {
            end = 0.2 * number as f64;
            history.see(at(end), &body(&figure));
        }
        let secs = |at: Timestamp| (at.secs_since(Timestamp::EPOCH) * 10.0).round() / 10.0;
        let done = history.split(at(end + 0.2));
        done.iter().map(|one| (one.kind, secs(one.span.start), secs(one.span.end))).collect()
    }

    fn times(count: usize, figure: impl Fn(usize) -> Figure) -> impl Iterator<Item = Figure> {
        (0..count).map(figure)
    }

    #[test]
    fn who_stands_up_and_walks_is_told_in_three() {
        let sits = times(16, |_| SITS);
        let stands = times(15, |_| STANDS);
        let walks = times(20, |n| Figure { hip: (300.0 + 25.0 * n as f32, 250.0), ..STANDS });
        let told = told(sits.chain(stands).chain(walks));
        let kinds: Vec<ActionKind> = told.iter().map(|(kind, ..)| *kind).collect();
        assert_eq!(kinds, [ActionKind::Sits, ActionKind::Stands, ActionKind::Walks], "{told:?}");
        assert!((told[0].1, told[0].2) <= (0.8, 3.0) && told[2].2 == 10.0, "{told:?}");
    }

    #[test]
    fn who_is_down_in_a_moment_and_stays_there_has_fallen() {
        let falls = |down: usize| {
            let between = Figure { trunk: (60.0, -70.0), knee: (-30.0, 60.0), ..STANDS };
            let looks = times(15, |_| STANDS).chain([between]).chain(times(down, |_| LIES));
            told(looks).into_iter().find(|(kind, ..)| *kind == ActionKind::Falls)
        };
        assert_eq!(falls(15), Some((ActionKind::Falls, 2.8, 3.2)));
        assert_eq!(falls(4), None, "up again at once");
    }

    #[test]
    fn who_lies_down_slowly_or_was_seen_lying_first_has_not_fallen() {
        let fell = |looks: Vec<Figure>| told(looks).iter().any(|one| one.0 == ActionKind::Falls);
        let bends =
            || times(12, |_| Figure { trunk: (60.0, -70.0), knee: (-30.0, 60.0), ..STANDS });
        assert!(!fell(times(15, |_| STANDS).chain(bends()).chain(times(20, |_| LIES)).collect()));
        let sits = times(15, |_| STANDS).chain(times(12, |_| SITS));
        assert!(!fell(sits.chain(times(20, |_| LIES)).collect()));
        assert!(!fell(times(30, |_| LIES).collect()));
    }

    #[test]
    fn a_hand_that_goes_to_and_fro_waves_and_one_that_is_held_up_is_raised() {
        let hand = |aside: f32| Figure { elbow: (50.0, -110.0), wrist: (aside, -165.0), ..STANDS };
        let gestures = |looks: Vec<Figure>| -> Vec<ActionKind> {
            let told = told(looks).into_iter().map(|(kind, ..)| kind);
            told.filter(|kind| *kind != ActionKind::Stands).collect()
        };
        let waves = times(20, |n| hand(if n / 2 % 2 == 0 { 40.0 } else { 85.0 }));
        let still = times(10, |_| STANDS);
        assert_eq!(gestures(waves.chain(still).collect()), [ActionKind::Waves]);
        let raises = times(12, |n| hand(60.0 + (n % 2) as f32));
        assert_eq!(gestures(raises.collect()), [ActionKind::RaisesHand]);
        let once = times(4, |n| hand(40.0 + 15.0 * n as f32)).chain(times(10, |_| STANDS));
        assert_eq!(gestures(once.collect()), []);
    }

    #[test]
    fn swings_are_counted_from_where_they_turn() {
        let count = |places: &[f32]| swings(places.iter().copied());
        assert_eq!(count(&[0.0, 0.1, 0.05, 0.12]), 0, "it trembles");
        assert_eq!(count(&[0.0, 0.2, 0.4]), 1);
        assert_eq!(count(&[0.0, 0.3, 0.0, 0.3, 0.0]), 4);
        assert_eq!(count(&[0.0, 0.3, 0.25, 0.1, 0.3]), 3);
        assert_eq!(count(&[]), 0);
    }

    #[test]
    fn a_turn_of_the_camera_is_no_walk() {
        let mut history = ActionHistory::default();
        for number in 0..20 {
            let figure = Figure { hip: (100.0 + 20.0 * number as f32, 250.0), ..STANDS };
            if number > 0 {
                history.shift(20.0, 0.0);
            }
            history.see(at(0.2 * f64::from(number)), &body(&figure));
        }
        let kinds: Vec<ActionKind> = history.split(at(4.0)).iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [ActionKind::Stands]);
    }

    #[test]
    fn a_body_on_the_ground_where_one_stood_may_be_the_same() {
        let mut history = ActionHistory::default();
        history.see(at(0.0), &body(&STANDS));
        let there = body(&LIES);
        assert!(history.may_have_fallen(at(1.0), &there));
        assert!(!history.may_have_fallen(at(3.0), &there), "long ago");
        let elsewhere = Figure { hip: (900.0, 410.0), ..LIES };
        assert!(!history.may_have_fallen(at(1.0), &body(&elsewhere)));
        assert!(!history.may_have_fallen(at(1.0), &body(&SITS)));
    }
}
