//! What one look at a body says, by where its joints are in the picture of a camera that is held level.
//!
//! All lengths are in trunks: from the middle of the shoulders to the middle of the hips, as long as the picture shows it. Of a
//! grown person who stands a thigh is .85 of a trunk, a shin as much (Winter, *Biomechanics*, 2009: .245, .246 and .288 of the
//! height). Who sits shows the thighs shortened, or across.

use super::skeleton::{Joint, Side, Way};
use crate::geometry::{Point, Rect};
use crate::percept::{KeyPoint, Skeleton};

/// A smaller trunk is noise, px.
const LEAST_TRUNK: f32 = 12.0;
/// Upright: sideways by at most so much of what goes down (30°); who sits may lean (45°).
const UPRIGHT: f32 = 0.58;
const LEANING: f32 = 1.0;
/// Lying: down or up by at most so much of what goes sideways (35°), the trunk and the legs.
const FLAT: f32 = 0.7;
/// A trunk that is shorter than this, to the legs, is seen from above or ahead: how it lies is not known.
const SHORT: f32 = 0.35;
/// How far down a thigh goes of who stands, at least, and of who sits, at most; and a shin, at least.
const THIGH_STANDS: f32 = 0.6;
const THIGH_SITS: f32 = 0.45;
const SHIN_STANDS: f32 = 0.5;
const SHIN_SITS: f32 = 0.3;
/// Who sits facing the camera shows both knees below the hips, at most a little above.
const KNEE_ABOVE: f32 = 0.3;
/// Who stands has his thighs under him: sideways by at most so much of what they go down.
const THIGH_ASIDE: f32 = 0.7;
/// A hand that is above the nose and beside the head, or well above it: who scratches his head raises no hand.
const BESIDE: f32 = 0.35;
const ABOVE: f32 = 0.5;
/// A stretched arm: the way from shoulder to wrist, of the ways over the elbow; how long at least, and how level (27°).
const STRAIGHT: f32 = 0.93;
const STRETCHED: f32 = 0.8;
const LEVEL: f32 = 0.5;
/// A trunk by the distance of the shoulders, where no hips are seen.
const TRUNK_OF_SHOULDERS: f32 = 1.4;

/// How a body is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Posture {
    Upright,
    Sitting,
    Lying,
}

/// What one look says of a body. Confidences are those of the least sure joint, 0–1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Look {
    pub(super) posture: Option<(Posture, f32)>,
    /// A hand is raised.
    pub(super) raised: Option<f32>,
    /// An arm points.
    pub(super) points: Option<f32>,
    /// Hands that are above their elbows and shoulders: the left and the right one.
    pub(super) hands: [Option<HandUp>; 2],
}

/// A hand that is held up: where it is from its elbow, to the right, trunks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HandUp {
    pub(super) aside: f32,
    pub(super) confidence: f32,
}

/// Reads the joints of a body in that box.
pub(super) fn look(skeleton: &Skeleton, body: Rect) -> Look {
    let posture = posture(skeleton, body);
    let upright = !matches!(posture, Some((Posture::Lying, _)));
    let unit = trunk(skeleton).filter(|_| upright);
    let Some(unit) = unit else { return Look { posture, ..Look::default() } };
    let sides = Side::BOTH.map(|side| Arm::of(skeleton, side));
    let raised = sides.iter().flatten().filter_map(|arm| arm.raised(skeleton, unit));
    Look {
        posture,
        raised: raised.reduce(f32::max),
        points: pointing(&sides, unit),
        hands: sides.map(|arm| arm?.up(unit)),
    }
}

fn least(points: &[KeyPoint]) -> f32 {
    points.iter().map(|point| point.score).fold(1.0, f32::min)
}

/// The trunk's length, px; by the shoulders where no hips are seen.
fn trunk(skeleton: &Skeleton) -> Option<f32> {
    let [left, right] = Side::BOTH.map(|side| skeleton.joint(Joint::Shoulder, side));
    let across = left.zip(right).map(|(a, b)| Way::between(a.at, b.at).length());
    let down = skeleton.middle(Joint::Shoulder).zip(skeleton.middle(Joint::Hip));
    let down = down.map(|(shoulder, hip)| Way::between(shoulder.at, hip.at).length());
    let across = across.map(|across| TRUNK_OF_SHOULDERS * across);
    down.into_iter().chain(across).reduce(f32::max).filter(|trunk| *trunk >= LEAST_TRUNK)
}

fn posture(skeleton: &Skeleton, body: Rect) -> Option<(Posture, f32)> {
    let shoulder = skeleton.middle(Joint::Shoulder)?;
    let hip = skeleton.middle(Joint::Hip)?;
    let knee = skeleton.middle(Joint::Knee)?;
    let ankle = skeleton.middle(Joint::Ankle);
    let down = Way::between(shoulder.at, hip.at);
    let trunk = down.length();
    if trunk < LEAST_TRUNK {
        return None;
    }
    let thigh = Way::between(hip.at, knee.at);
    // The ends of legs that are stretched or folded.
    let foot = ankle.unwrap_or(knee);
    let legs = Way::between(hip.at, foot.at);
    let confidence = least(&[shoulder, hip, knee, foot]);
    let flat = |way: Way| way.y.abs() < FLAT * way.x.abs();
    if flat(down) && flat(legs) && down.dot(legs) > 0.0 {
        let long = trunk >= SHORT * legs.length() && legs.length() >= SHORT * trunk;
        return (long && body.w > body.h).then_some((Posture::Lying, confidence));
    }
    let ankle = ankle?;
    let shin = Way::between(knee.at, ankle.at);
    let upright = |most: f32| down.y > 0.0 && down.x.abs() < most * down.y;
    let stands = upright(UPRIGHT)
        && thigh.y > THIGH_STANDS * trunk
        && thigh.x.abs() < THIGH_ASIDE * thigh.y
        && shin.y > SHIN_STANDS * trunk;
    if stands {
        return Some((Posture::Upright, confidence));
    }
    let sits = upright(LEANING)
        && thigh.y < THIGH_SITS * trunk
        && thigh.y > -KNEE_ABOVE * trunk
        && shin.y > SHIN_SITS * trunk;
    sits.then_some((Posture::Sitting, confidence))
}

/// An arm of which all is seen.
#[derive(Clone, Copy)]
struct Arm {
    shoulder: KeyPoint,
    elbow: KeyPoint,
    wrist: KeyPoint,
}

impl Arm {
    fn of(skeleton: &Skeleton, side: Side) -> Option<Self> {
        let joint = |joint| skeleton.joint(joint, side);
        let (shoulder, elbow) = (joint(Joint::Shoulder)?, joint(Joint::Elbow)?);
        Some(Self { shoulder, elbow, wrist: joint(Joint::Wrist)? })
    }

    fn confidence(self) -> f32 {
        least(&[self.shoulder, self.elbow, self.wrist])
    }

    /// Whether the hand is above the shoulder and the elbow.
    fn is_up(self) -> bool {
        let Point { y, .. } = self.wrist.at;
        y < self.shoulder.at.y && y < self.elbow.at.y
    }

    fn up(self, unit: f32) -> Option<HandUp> {
        let aside = (self.wrist.at.x - self.elbow.at.x) / unit;
        self.is_up().then(|| HandUp { aside, confidence: self.confidence() })
    }

    fn raised(self, skeleton: &Skeleton, unit: f32) -> Option<f32> {
        let head = skeleton.nose().or(skeleton.middle(Joint::Eye))?;
        let from_head = Way::between(head.at, self.wrist.at);
        let beside = from_head.x.abs() > BESIDE * unit && from_head.y < 0.0;
        let above = from_head.y < -ABOVE * unit;
        let raised = self.is_up() && (beside || above);
        raised.then(|| self.confidence().min(head.score))
    }

    fn is_stretched(self, unit: f32) -> bool {
        let whole = Way::between(self.shoulder.at, self.wrist.at);
        let upper = Way::between(self.shoulder.at, self.elbow.at).length();
        let over = upper + Way::between(self.elbow.at, self.wrist.at).length();
        whole.length() > STRAIGHT * over
            && whole.length() > STRETCHED * unit
            && whole.y.abs() < LEVEL * whole.x.abs()
    }
}

/// One arm is stretched out to a side, and the other is seen and is not.
fn pointing(arms: &[Option<Arm>; 2], unit: f32) -> Option<f32> {
    let [Some(left), Some(right)] = arms else { return None };
    match [left, right].map(|arm| arm.is_stretched(unit)) {
        [true, false] => Some(left.confidence()),
        [false, true] => Some(right.confidence()),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A body of 100 px of trunk at the middle of its hips: where knees, ankles, and the right arm's elbow and wrist are, from
    /// there; the trunk goes `trunk`. All joints are as sure as told.
    pub(in super::super) struct Figure {
        pub(in super::super) hip: (f32, f32),
        pub(in super::super) trunk: (f32, f32),
        pub(in super::super) knee: (f32, f32),
        pub(in super::super) ankle: (f32, f32),
        pub(in super::super) elbow: (f32, f32),
        pub(in super::super) wrist: (f32, f32),
        pub(in super::super) score: f32,
    }

    pub(in super::super) const STANDS: Figure = Figure {
        hip: (300.0, 250.0),
        trunk: (0.0, -100.0),
        knee: (0.0, 85.0),
        ankle: (0.0, 170.0),
        elbow: (25.0, -50.0),
        wrist: (25.0, 0.0),
        score: 0.8,
    };
    pub(in super::super) const SITS: Figure =
        Figure { knee: (30.0, 25.0), ankle: (30.0, 105.0), ..STANDS };
    pub(in super::super) const LIES: Figure = Figure {
        hip: (300.0, 410.0),
        trunk: (100.0, -5.0),
        knee: (-85.0, 0.0),
        ankle: (-170.0, 5.0),
        elbow: (60.0, 20.0),
        wrist: (20.0, 20.0),
        score: 0.8,
    };

    impl Figure {
        pub(in super::super) fn skeleton(&self) -> (Skeleton, Rect) {
            let at = |(x, y): (f32, f32)| Point { x: self.hip.0 + x, y: self.hip.1 + y };
            let joint = |place: (f32, f32)| KeyPoint { at: at(place), score: self.score };
            let (x, y) = self.trunk;
            // The head goes on from the trunk; shoulders and hips lie across it.
            let across = |(px, py): (f32, f32), share: f32| (px - share * y, py + share * x);
            let mut points = Skeleton::unknown();
            for head in &mut points.0[..5] {
                *head = joint((1.35 * x, 1.35 * y));
            }
            for (number, middle) in [(5, (x, y)), (11, (0.0, 0.0))] {
                points.0[number] = joint(across(middle, 0.25));
                points.0[number + 1] = joint(across(middle, -0.25));
            }
            for (number, place) in [(13, self.knee), (15, self.ankle)] {
                points.0[number] = joint((place.0 + 8.0, place.1));
                points.0[number + 1] = joint((place.0 - 8.0, place.1));
            }
            // The left arm hangs, or lies beside the trunk.
            points.0[7] = joint(across((0.5 * x, 0.5 * y), 0.3));
            points.0[9] = joint(across((0.1 * x, 0.1 * y), 0.3));
            (points.0[8], points.0[10]) = (joint(self.elbow), joint(self.wrist));
            let xs = points.0.iter().map(|point| point.at.x);
            let ys = points.0.iter().map(|point| point.at.y);
            let (left, right) = (xs.clone().fold(f32::MAX, f32::min), xs.fold(0.0, f32::max));
            let (top, bottom) = (ys.clone().fold(f32::MAX, f32::min), ys.fold(0.0, f32::max));
            (points, Rect::from_corners(left, top, right, bottom))
        }

        fn look(&self) -> Look {
            let (points, body) = self.skeleton();
            look(&points, body)
        }
    }

    fn held(figure: &Figure) -> Option<Posture> {
        figure.look().posture.map(|(posture, _)| posture)
    }

    #[test]
    fn who_stands_sits_and_lies_is_told_apart() {
        assert_eq!(held(&STANDS), Some(Posture::Upright));
        assert_eq!(held(&SITS), Some(Posture::Sitting));
        // From the side the thighs go across.
        assert_eq!(
            held(&Figure { knee: (80.0, 5.0), ankle: (75.0, 85.0), ..STANDS }),
            Some(Posture::Sitting)
        );
        assert_eq!(held(&LIES), Some(Posture::Lying));
        let other_way = Figure { trunk: (-100.0, 5.0), knee: (85.0, 0.0), ..LIES };
        assert_eq!(held(&Figure { ankle: (170.0, 0.0), ..other_way }), Some(Posture::Lying));
    }

    #[test]
    fn of_what_is_in_between_or_not_seen_nothing_is_claimed() {
        // Half way down.
        assert_eq!(held(&Figure { knee: (20.0, 52.0), ankle: (20.0, 130.0), ..STANDS }), None);
        // Bent down to the floor: the legs stand.
        assert_eq!(held(&Figure { trunk: (95.0, 20.0), ..STANDS }), None);
        // Sitting on the floor, legs stretched out.
        assert_eq!(held(&Figure { knee: (85.0, 5.0), ankle: (165.0, 10.0), ..STANDS }), None);
        assert_eq!(held(&Figure { score: 0.2, ..STANDS }), None);
        // No ankles: the picture ends at the knees.
        let (mut points, body) = SITS.skeleton();
        (points.0[15].score, points.0[16].score) = (0.0, 0.1);
        assert_eq!(look(&points, body).posture, None);
    }

    #[test]
    fn a_hand_is_raised_beside_or_above_the_head_and_not_at_the_face() {
        let hand = |elbow, wrist| Figure { elbow, wrist, ..STANDS }.look();
        let (nose, side) = (-135.0, 60.0);
        assert!(hand((45.0, -110.0), (side, nose - 20.0)).raised.is_some());
        assert!(hand((30.0, -150.0), (10.0, nose - 60.0)).raised.is_some());
        for wrist in [(15.0, nose - 5.0), (side, nose + 15.0), (25.0, 0.0)] {
            assert_eq!(hand((45.0, -70.0), wrist).raised, None, "{wrist:?}");
        }
        // Who lies raises none.
        assert_eq!(
            Figure { elbow: (100.0, -60.0), wrist: (100.0, -120.0), ..LIES }.look().raised,
            None
        );
    }

    #[test]
    fn one_arm_that_is_stretched_out_points() {
        let arm = |elbow, wrist| Figure { elbow, wrist, ..STANDS }.look().points;
        assert_eq!(arm((75.0, -95.0), (125.0, -92.0)), Some(0.8));
        assert_eq!(arm((25.0, -50.0), (25.0, 0.0)), None, "it hangs");
        assert_eq!(arm((75.0, -95.0), (60.0, -60.0)), None, "it is bent");
        assert_eq!(arm((60.0, -60.0), (100.0, -10.0)), None, "it goes down");
    }
}
