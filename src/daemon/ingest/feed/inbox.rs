//! What is told from outside while a session runs: where the robot is, when it speaks itself, what it is made to say.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::daemon::ingest::commit::echo;
use crate::daemon::ingest::commit::echo::Echoes;
use crate::ids::SourceId;
use crate::media::Pose;
use crate::percept::SpeechTurn;
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

impl OwnSpeech {
    /// When it is heard, as far as a stretch tells.
    fn heard(&self, during: Span) -> Span {
        // A room and a sound card take their time.
        let end = self.end.unwrap_or(Timestamp::MAX).min(during.end.plus_secs(1.0));
        Span::new(self.start, end.max(self.start).plus_secs(ECHO_SECS))
    }
}

#[derive(Debug, Default)]
struct Kept {
    poses: VecDeque<Pose>,
    speech: VecDeque<OwnSpeech>,
    /// What it was made to say: asked only as long as it does not tell when it speaks.
    echoes: Echoes,
    /// Microphones out of which the robot's voice is taken before anybody listens.
    cancelled: BTreeSet<SourceId>,
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

    /// Of these microphones the robot's own voice is taken out as they are heard.
    pub(in crate::daemon::ingest) fn without_echo(&self, cancelled: BTreeSet<SourceId>) {
        self.lock().cancelled = cancelled;
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
    pub(in crate::daemon::ingest) fn is_echo(&self, span: Span, words: &str) -> bool {
        let mut kept = self.lock();
        kept.speech.is_empty() && kept.echoes.take(span, words)
    }

    /// Whether a stretch whose words are not known yet may well be what the robot was made to say.
    #[must_use]
    pub(in crate::daemon::ingest) fn may_be_echo(&self, span: Span) -> bool {
        let kept = self.lock();
        kept.speech.is_empty() && kept.echoes.may_hold(span)
    }

    /// When the robot itself spoke, in the order it was told.
    #[must_use]
    pub fn own_speech(&self) -> Vec<OwnSpeech> {
        self.lock().speech.iter().cloned().collect()
    }

    /// When the robot itself was heard by a microphone during a stretch; what goes on has no end yet. Nothing where its
    /// voice is taken out of the sound.
    #[must_use]
    pub fn own_during(&self, source: &SourceId, span: Span) -> Vec<Span> {
        let kept = self.lock();
        if kept.cancelled.contains(source) {
            return Vec::new();
        }
        kept.speech.iter().filter_map(|speech| speech.heard(span).intersection(span)).collect()
    }

    /// Whether most of a stretch lies in the robot's own speech, as a microphone hears it.
    #[must_use]
    pub fn is_own(&self, source: &SourceId, span: Span) -> bool {
        let within = self.own_during(source, span);
        within.into_iter().map(Span::secs).sum::<f64>() > 0.5 * span.secs()
    }

    /// Whether words that were heard while the robot spoke are what it said, where that was told.
    #[must_use]
    pub(in crate::daemon::ingest) fn is_said(&self, span: Span, words: &str) -> bool {
        self.said_during(span).is_some_and(|said| echo::repeats(words, &said))
    }

    /// What the robot said during a stretch, as far as it was told.
    fn said_during(&self, span: Span) -> Option<String> {
        let kept = self.lock();
        let during =
            kept.speech.iter().filter(|speech| speech.heard(span).overlap_secs(span) > 0.0);
        let texts: Vec<&str> = during.filter_map(|speech| speech.text.as_deref()).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    /// Whether a turn is, by its words, the robot's. Of who speaks over it, its words are taken out, since no recogniser tells
    /// whose a word of two at once is; where hardly any are left, the second voice that was heard was the robot's, too.
    pub(in crate::daemon::ingest) fn hears_itself(&self, turn: &mut SpeechTurn) -> bool {
        let Some(words) = &mut turn.words else { return false };
        if self.is_echo(turn.span, &words.text) {
            return true;
        }
        let Some(said) = self.said_during(turn.span) else { return false };
        let is_over = turn.overlapped && self.is_own(&turn.source, turn.span);
        let may_repeat = is_over || self.lock().cancelled.contains(&turn.source);
        if may_repeat && echo::repeats(&words.text, &said) {
            return true;
        }
        if is_over {
            let left = echo::without(&words.text, &said);
            if left != words.text {
                words.text = left;
                words.words.clear();
            }
        }
        false
    }

    /// Takes the poses before `boundary`, in time order.
    pub(in crate::daemon::ingest) fn poses_before(&self, boundary: Timestamp) -> Vec<Pose> {
        let mut kept = self.lock();
        if kept.poses.is_empty() {
            return Vec::new();
        }
        let (mut taken, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut kept.poses).into_iter().partition(|pose| pose.stamp < boundary);
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

    fn ears() -> SourceId {
        SourceId::new("ears")
    }

    #[test]
    fn a_microphone_without_echo_hears_others_unless_they_say_what_the_robot_says() {
        let inbox = Inbox::default();
        let text = Some("The parcel is on the shelf.".to_owned());
        inbox.speaking(OwnSpeech { start: at(10), end: Some(at(14)), text });
        let span = Span::new(at(11), at(13));
        assert!(inbox.is_own(&ears(), span));
        inbox.without_echo([ears()].into());
        assert!(!inbox.is_own(&ears(), span) && inbox.own_during(&ears(), span).is_empty());
        assert!(inbox.is_own(&SourceId::new("other"), span), "it has its echo");
        assert!(inbox.is_said(span, "The parcel's on the shelf"));
        assert!(!inbox.is_said(span, "Wait, which shelf do you mean?"));
        assert!(!inbox.is_said(Span::new(at(20), at(22)), "The parcel is on the shelf"));
    }

    #[test]
    fn a_second_voice_that_says_the_robots_words_is_the_robots() {
        let inbox = Inbox::default();
        let text = Some("The parcel is on the shelf in the kitchen.".to_owned());
        inbox.speaking(OwnSpeech { start: at(10), end: Some(at(14)), text });
        let mut turn = crate::daemon::ingest::commit::told::alone(crate::media::ToldWords {
            source: ears(),
            span: Span::new(at(11), at(13)),
            text: "on the shelf in the kitchen".to_owned(),
        });
        turn.overlapped = true;
        assert!(inbox.hears_itself(&mut turn));
        let mut words = |text: &str| {
            turn.words.iter_mut().for_each(|words| words.text = text.to_owned());
            let own = inbox.hears_itself(&mut turn);
            (own, turn.words.clone().unwrap_or_default().text)
        };
        let (own, left) = words("The parcel is on, wait, that is mine, I bought it");
        assert_eq!((own, left.as_str()), (false, "wait, that is mine, I bought it"));
    }

    #[test]
    fn what_is_mostly_the_robots_own_speech_is_its_own() {
        let inbox = Inbox::default();
        inbox.speaking(OwnSpeech { start: at(10), end: Some(at(14)), text: None });
        assert!(inbox.is_own(&ears(), Span::new(at(10), at(14))));
        assert!(inbox.is_own(&ears(), Span::new(at(12), at(15))));
        assert!(!inbox.is_own(&ears(), Span::new(at(13), at(20))));
        assert!(!inbox.is_own(&ears(), Span::new(at(2), at(5))));
        inbox.speaking(OwnSpeech { start: at(30), end: None, text: None });
        assert!(inbox.is_own(&ears(), Span::new(at(40), at(43))), "it still speaks");
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
