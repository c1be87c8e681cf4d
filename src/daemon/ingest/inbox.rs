//! What is told from outside while a session runs: where the robot is, when it speaks itself, what it is made to say.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::echo::Echoes;
use crate::media::Pose;
use crate::time::{Span, Timestamp};

/// Poses kept until a clip takes them; half an hour at 50 per second.
const MAX_POSES: usize = 100_000;
/// Stretches of the robot's own speech kept.
const MAX_SPEECH: usize = 10_000;
/// For how long the robot's own speech is still heard after its end, seconds.
const ECHO_SECS: f64 = 0.3;

/// A stretch in which the robot itself spoke.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnSpeech {
    /// First sound.
    pub start: Timestamp,
    /// Last sound; `None` while it goes on.
    pub end: Option<Timestamp>,
    /// What it said.
    pub text: Option<String>,
}

#[derive(Debug, Default)]
struct Kept {
    poses: VecDeque<Pose>,
    speech: VecDeque<OwnSpeech>,
    /// What it was made to say: asked only as long as it does not tell when it speaks.
    echoes: Echoes,
    /// Microphones are not listened to.
    muted: bool,
    /// Who writes the poses down, too.
    listener: Option<Sender<Pose>>,
}

/// Shared between the control plane and the session. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<Kept>>);

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every pose from now on, as it is told; the last who asks gets them.
    #[must_use]
    pub fn listen(&self) -> Receiver<Pose> {
        let (told, poses) = unbounded();
        self.lock().listener = Some(told);
        poses
    }

    /// From now on microphones are not listened to, or are again.
    pub fn mute(&self, muted: bool) {
        self.lock().muted = muted;
    }

    /// Whether microphones are not listened to.
    #[must_use]
    pub fn is_muted(&self) -> bool {
        self.lock().muted
    }

    /// Keeps a pose for the clip that covers it; of too many the oldest goes.
    pub fn pose(&self, pose: Pose) {
        let mut kept = self.lock();
        if kept.poses.len() >= MAX_POSES {
            kept.poses.pop_front();
        }
        if let Some(listener) = &kept.listener {
            listener.send(pose.clone()).ok();
        }
        kept.poses.push_back(pose);
    }

    /// The robot speaks. What goes on ends where the next begins.
    pub fn speaking(&self, speech: OwnSpeech) {
        let mut kept = self.lock();
        if let Some(last) = kept.speech.back_mut()
            && last.end.is_none()
        {
            last.end = Some(speech.start.max(last.start));
        }
        if kept.speech.len() >= MAX_SPEECH {
            kept.speech.pop_front();
        }
        kept.speech.push_back(speech);
    }

    /// The robot is made to say something, live.
    pub fn said(&self, at: Timestamp, text: &str) {
        self.lock().echoes.expect(at, text);
    }

    /// Whether a turn is, by its words, what the robot was made to say; what was heard of it is not expected again.
    #[must_use]
    pub(super) fn is_echo(&self, span: Span, words: &str) -> bool {
        let mut kept = self.lock();
        kept.speech.is_empty() && kept.echoes.take(span, words)
    }

    /// Whether a stretch whose words are not known yet may well be what the robot was made to say.
    #[must_use]
    pub(super) fn may_be_echo(&self, span: Span) -> bool {
        let kept = self.lock();
        kept.speech.is_empty() && kept.echoes.may_hold(span)
    }

    /// When the robot itself spoke, in the order it was told.
    #[must_use]
    pub fn own_speech(&self) -> Vec<OwnSpeech> {
        self.lock().speech.iter().cloned().collect()
    }

    /// Whether most of a stretch lies in the robot's own speech; what goes on has no end yet.
    #[must_use]
    pub fn is_own(&self, span: Span) -> bool {
        let kept = self.lock();
        let within = |speech: &OwnSpeech| {
            // a room and a sound card take their time
            let end = speech.end.unwrap_or(Timestamp::MAX).min(span.end.plus_secs(1.0));
            let heard = Span::new(speech.start, end.max(speech.start).plus_secs(ECHO_SECS));
            heard.intersection(span).map_or(0.0, Span::secs)
        };
        kept.speech.iter().map(within).sum::<f64>() > 0.5 * span.secs()
    }

    /// Takes the poses before `border`, in time order.
    pub(super) fn poses_before(&self, border: Timestamp) -> Vec<Pose> {
        let mut kept = self.lock();
        if kept.poses.is_empty() {
            return Vec::new();
        }
        let (mut taken, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut kept.poses).into_iter().partition(|pose| pose.stamp < border);
        kept.poses = left.into();
        taken.sort_by_key(|pose| pose.stamp);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_nanos(secs * 1_000_000_000)
    }

    #[test]
    fn a_clip_takes_its_poses_in_time_order_and_leaves_the_later_ones() {
        let inbox = Inbox::default();
        for stamp in [3, 1, 7, 2] {
            let frame = "map".to_owned();
            inbox.pose(Pose { stamp: at(stamp), x: 0.0, y: 0.0, yaw: 0.0, frame });
        }
        let stamps = |poses: Vec<Pose>| poses.iter().map(|pose| pose.stamp).collect::<Vec<_>>();
        assert_eq!(stamps(inbox.poses_before(at(5))), [at(1), at(2), at(3)]);
        assert_eq!(stamps(inbox.poses_before(at(9))), [at(7)]);
    }

    #[test]
    fn what_is_mostly_the_robots_own_speech_is_its_own() {
        let inbox = Inbox::default();
        inbox.speaking(OwnSpeech { start: at(10), end: Some(at(14)), text: None });
        assert!(inbox.is_own(Span::new(at(10), at(14))));
        assert!(inbox.is_own(Span::new(at(12), at(15))));
        assert!(!inbox.is_own(Span::new(at(13), at(20))));
        assert!(!inbox.is_own(Span::new(at(2), at(5))));
        inbox.speaking(OwnSpeech { start: at(30), end: None, text: None });
        assert!(inbox.is_own(Span::new(at(40), at(43))), "it still speaks");
    }

    #[test]
    fn what_the_robot_was_made_to_say_is_its_own_unless_it_tells_when_it_speaks() {
        let inbox = Inbox::default();
        let (text, span) = ("The parcel is on the shelf.", Span::new(at(11), at(13)));
        assert!(!inbox.is_echo(span, text) && !inbox.may_be_echo(span));
        inbox.said(at(10), text);
        assert!(inbox.may_be_echo(span));
        assert!(inbox.is_echo(span, "the parcel is on the shelf"));
        inbox.said(at(20), text);
        inbox.speaking(OwnSpeech { start: at(21), end: Some(at(22)), text: None });
        let span = Span::new(at(23), at(25));
        assert!(!inbox.is_echo(span, text) && !inbox.may_be_echo(span), "it knows better");
    }

    #[test]
    fn speech_without_an_end_ends_where_the_next_begins() {
        let inbox = Inbox::default();
        inbox.speaking(OwnSpeech { start: at(1), end: None, text: None });
        inbox.speaking(OwnSpeech { start: at(4), end: Some(at(5)), text: Some("hello".into()) });
        let ends: Vec<_> = inbox.own_speech().iter().map(|speech| speech.end).collect();
        assert_eq!(ends, [Some(at(4)), Some(at(5))]);
    }
}
