//! What lasts: one thing at a time out of what exclude each other, by looks that come as they come.

use serde::{Deserialize, Serialize};

use crate::percept::{Action, ActionKind};
use crate::time::{Span, Timestamp};

/// Less sure than this on the average, nothing is claimed, 0–1. (MoveNet is .5 to .8 sure of joints that are seen.)
const LEAST_CONFIDENCE: f32 = 0.4;
/// Looks in a row that do not tell what went on before it is over.
const MISSED: u32 = 2;
/// Who waves has raised a hand so shortly before, seconds: it is one thing.
const BEGINS_WAVING_SECS: f64 = 1.5;

/// How long, seconds, and in how many looks something must be seen before it counts.
const fn proof(kind: ActionKind) -> (f64, u32) {
    match kind {
        ActionKind::Stands | ActionKind::Walks | ActionKind::Lies => (0.8, 2),
        // Who bends his knees goes on in a moment.
        ActionKind::Sits => (1.5, 3),
        ActionKind::RaisesHand => (0.8, 3),
        ActionKind::Points => (1.0, 3),
        // Told by many looks already.
        ActionKind::Waves | ActionKind::Falls => (0.0, 1),
    }
}

/// Something that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) kind: ActionKind,
    /// When it began.
    pub(super) begun: Timestamp,
    /// The same, or the border that it went over.
    start: Timestamp,
    /// The last look that tells it.
    pub(super) last: Timestamp,
    looks: u32,
    sum: f32,
    /// A part of it belongs to an earlier clip.
    continued: bool,
}

impl Held {
    fn begin(kind: ActionKind, start: Timestamp, at: Timestamp, confidence: f32) -> Self {
        let begun = start;
        Self { kind, begun, start, last: at, looks: 1, sum: confidence, continued: false }
    }

    fn see(&mut self, at: Timestamp, confidence: f32) {
        self.last = at;
        self.looks += 1;
        self.sum += confidence;
    }

    pub(super) fn secs(&self) -> f64 {
        self.last.secs_since(self.begun)
    }

    pub(super) fn looks(&self) -> u32 {
        self.looks
    }

    pub(super) fn confidence(&self) -> f32 {
        self.sum / self.looks.max(1) as f32
    }

    fn is_proved(&self) -> bool {
        let (secs, looks) = proof(self.kind);
        self.secs() >= secs && self.looks >= looks && self.confidence() >= LEAST_CONFIDENCE
    }

    /// As it is up to the last look.
    fn action(&self) -> Option<Action> {
        let Self { kind, start, last, continued, .. } = *self;
        let span = Span::new(start, last);
        let confidence = self.confidence();
        (start <= last && confidence >= LEAST_CONFIDENCE).then_some(Action {
            kind,
            span,
            confidence,
            continued,
        })
    }
}

/// One thing after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Lane {
    held: Option<Held>,
    /// What may come next.
    next: Option<Held>,
    /// What went on before that.
    before: Option<Held>,
    /// Looks since the last one that told what goes on.
    missed: u32,
}

impl Lane {
    /// Takes what a look says, since when; after `gone_secs` without what goes on it is over. What is over goes into `done`.
    pub(super) fn look(
        &mut self,
        at: Timestamp,
        seen: Option<(ActionKind, Timestamp, f32)>,
        gone_secs: f64,
        done: &mut Vec<Action>,
    ) {
        self.missed += 1;
        match (seen, &mut self.held) {
            (Some((kind, _, confidence)), Some(held)) if held.kind == kind => {
                held.see(at, confidence);
                (self.next, self.missed) = (None, 0);
            }
            (Some((kind, since, confidence)), _) => {
                match &mut self.next {
                    Some(next) if next.kind == kind => next.see(at, confidence),
                    next => *next = Some(Held::begin(kind, since, at, confidence)),
                }
                if let Some(next) = self.next.take_if(|next| next.is_proved()) {
                    self.turn(next, done);
                }
            }
            (None, _) => {}
        }
        let over = |held: &mut Held| at.secs_since(held.last) > gone_secs;
        self.next.take_if(over);
        if self.missed >= MISSED
            && let Some(held) = self.held.take_if(over)
        {
            done.extend(held.action());
            self.before = Some(held);
        }
    }

    fn turn(&mut self, next: Held, done: &mut Vec<Action>) {
        if let Some(held) = self.held.replace(next) {
            let waves = next.kind == ActionKind::Waves && held.kind == ActionKind::RaisesHand;
            if !waves || next.begun.secs_since(held.begun) > BEGINS_WAVING_SECS {
                done.extend(held.action());
            }
            self.before = Some(held);
        }
        self.missed = 0;
    }

    /// What goes on.
    pub(super) fn held(&self) -> Option<&Held> {
        self.held.as_ref()
    }

    /// What went on before.
    pub(super) fn before(&self) -> Option<&Held> {
        self.before.as_ref()
    }

    /// Whether something may be about to begin.
    pub(super) fn is_turning(&self) -> bool {
        self.next.is_some()
    }

    /// What goes on at a border, which it goes on beyond.
    pub(super) fn cut(&mut self, border: Timestamp) -> Option<Action> {
        let held = self.held.as_mut()?;
        let action = held.action();
        (held.start, held.continued) = (border, true);
        action
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    /// What comes of a look each fifth of a second: the kinds, a letter each, for standing, sitting, and nothing that is known.
    fn told(looks: &str) -> Vec<(ActionKind, i64, i64)> {
        let (mut lane, mut done) = (Lane::default(), Vec::new());
        for (number, look) in looks.chars().enumerate() {
            let now = at(0.2 * number as f64);
            let kind = match look {
                's' => Some(ActionKind::Stands),
                'i' => Some(ActionKind::Sits),
                _ => None,
            };
            lane.look(now, kind.map(|kind| (kind, now, 0.8)), 2.5, &mut done);
        }
        done.extend(lane.cut(at(100.0)));
        let tenth = |at: Timestamp| (at.as_nanos() + 50_000_000) / 100_000_000;
        done.iter().map(|one| (one.kind, tenth(one.span.start), tenth(one.span.end))).collect()
    }

    #[test]
    fn what_lasts_is_told_once_and_a_slip_changes_nothing() {
        use ActionKind::{Sits, Stands};
        assert_eq!(told("ssssssssss"), [(Stands, 0, 18)]);
        assert_eq!(told("sssssissss..sss"), [(Stands, 0, 28)]);
        assert_eq!(told("ssssssiiiiiiiiiii"), [(Stands, 0, 10), (Sits, 12, 32)]);
        assert_eq!(told("iiii"), [], "too short");
        let gone = format!("ssssss{}ssssss", ".".repeat(20));
        assert_eq!(told(&gone), [(Stands, 0, 10), (Stands, 52, 62)]);
    }

    #[test]
    fn what_is_not_sure_is_not_told() {
        let (mut lane, mut done) = (Lane::default(), Vec::new());
        for number in 0..20 {
            let now = at(0.2 * f64::from(number));
            lane.look(now, Some((ActionKind::Stands, now, 0.35)), 2.5, &mut done);
        }
        assert_eq!(lane.cut(at(9.0)), None);
    }

    #[test]
    fn at_a_border_it_is_cut_and_goes_on() {
        let (mut lane, mut done) = (Lane::default(), Vec::new());
        let look = |lane: &mut Lane, secs: f64, done: &mut Vec<Action>| {
            lane.look(at(secs), Some((ActionKind::Stands, at(secs), 0.8)), 2.5, done);
        };
        (0..6).for_each(|n| look(&mut lane, 0.2 * f64::from(n), &mut done));
        let first = lane.cut(at(1.2)).unwrap();
        assert_eq!((first.span, first.continued), (Span::new(at(0.0), at(1.0)), false));
        look(&mut lane, 1.4, &mut done);
        let second = lane.cut(at(2.0)).unwrap();
        assert_eq!((second.span, second.continued), (Span::new(at(1.2), at(1.4)), true));
        // Not seen again in the clip after.
        assert_eq!(lane.cut(at(4.0)), None);
    }
}
