//! Live: clips in which nothing was perceived are not written one by one.
//!
//! An empty room would cost a clip, a sentence, key frames and a checkpoint twice a minute, for ever. The clip after such a
//! stretch tells of it in one sentence instead. A stretch of an hour is told of even if nothing comes, so that a power cut
//! does not take the knowledge along that nobody was there.

use super::poses::stands;
use crate::media::Pose;
use crate::percept::{ClipPercepts, SoundKind};
use crate::time::Timestamp;

/// A stretch is told of when it has lasted so long, seconds.
const TOLD_AFTER_SECS: f64 = 3600.0;

/// Touched by the sealing thread alone.
#[derive(Debug, Default)]
pub(in crate::daemon::ingest) struct Quiet {
    /// Where the clips begin that went unwritten since the last one that was written.
    since: Option<Timestamp>,
    /// Where the robot was at the end of the last one that was written.
    pose: Option<Pose>,
}

impl Quiet {
    /// Since when nothing was perceived that is not written.
    pub(in crate::daemon::ingest) fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Whether a clip may go unwritten; then it belongs to the stretch. `still`: every camera looked, and saw the scene that
    /// it always sees.
    pub(in crate::daemon::ingest) fn takes(
        &mut self,
        percepts: &ClipPercepts,
        still: bool,
    ) -> bool {
        let since = self.since.unwrap_or(percepts.span.start);
        let takes = still
            && is_empty(percepts)
            && self.stands(&percepts.poses)
            && percepts.span.end.secs_since(since) < TOLD_AFTER_SECS;
        if takes {
            self.since = Some(since);
        }
        takes
    }

    /// A clip was written.
    pub(in crate::daemon::ingest) fn written(&mut self, percepts: &ClipPercepts) {
        self.since = None;
        if let Some(pose) = percepts.poses.last() {
            self.pose = Some(pose.clone());
        }
    }

    fn stands(&self, poses: &[Pose]) -> bool {
        let stood = |pose: &Pose| self.pose.as_ref().is_some_and(|before| stands(before, pose));
        poses.iter().all(stood)
    }
}

/// Nobody, nothing, no sound but silence; and no frame was lost that could have shown more.
fn is_empty(percepts: &ClipPercepts) -> bool {
    percepts.tracks.is_empty()
        && percepts.objects.is_empty()
        && percepts.bodies.is_empty()
        && percepts.texts.is_empty()
        && percepts.turns.is_empty()
        && percepts.sounds.iter().all(|sound| sound.kind == SoundKind::Quiet)
        && percepts.sound_events.is_empty()
        && percepts.counts.dropped == 0
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ids::{ClipId, SessionId, SourceId};
    use crate::percept::{ClipCounts, Sound};
    use crate::time::Span;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn clip(index: u32) -> ClipPercepts {
        let start = at(30.0 * f64::from(index));
        ClipPercepts {
            clip: ClipId { session: SessionId(1), index },
            span: Span::new(start, start.plus_secs(30.0)),
            tracks: Vec::new(),
            objects: Vec::new(),
            bodies: Vec::new(),
            texts: Vec::new(),
            turns: Vec::new(),
            mouths: Vec::new(),
            sounds: Vec::new(),
            sound_events: Vec::new(),
            camera_moves: Vec::new(),
            poses: Vec::new(),
            key_frames: Vec::new(),
            counts: ClipCounts::default(),
            looked: Vec::new(),
        }
    }

    fn sound(kind: SoundKind, span: Span) -> Sound {
        Sound { source: SourceId::new("m"), span, kind, peak_dbfs: -60.0, background_dbfs: -60.0 }
    }

    #[test]
    fn clips_without_anything_are_one_stretch_until_something_comes_or_an_hour_is_over() {
        let mut quiet = Quiet::default();
        assert!(!quiet.takes(&clip(0), false), "the scene is another");
        quiet.written(&clip(0));
        for index in 1..120 {
            let mut silent = clip(index);
            silent.sounds.push(sound(SoundKind::Quiet, silent.span));
            assert!(quiet.takes(&silent, true));
            assert_eq!(quiet.since(), Some(at(30.0)));
        }
        assert!(!quiet.takes(&clip(120), true), "an hour is over");
        assert_eq!(quiet.since(), Some(at(30.0)));
        quiet.written(&clip(120));
        assert!(quiet.since().is_none() && quiet.takes(&clip(121), true));
        let mut bang = clip(122);
        bang.sounds.push(sound(SoundKind::Loud, bang.span));
        assert!(!quiet.takes(&bang, true));
        let mut lossy = clip(122);
        lossy.counts.dropped = 1;
        assert!(!quiet.takes(&lossy, true));
    }

    #[test]
    fn a_robot_that_moves_is_written_and_one_that_stands_is_not() {
        let (mut quiet, frame) = (Quiet::default(), "map".to_owned());
        let with = |index: u32, x: f64, yaw: f64| {
            let mut clip = clip(index);
            let stamp = clip.span.start;
            clip.poses.push(Pose { stamp, x, y: 0.0, yaw, frame: frame.clone() });
            clip
        };
        assert!(!quiet.takes(&with(0, 1.0, 0.01), true), "nobody knows where it was");
        quiet.written(&with(0, 1.0, 0.01));
        // Around the whole circle, too.
        assert!(quiet.takes(&with(1, 1.02, -0.02 + std::f64::consts::TAU), true));
        assert!(!quiet.takes(&with(2, 1.2, 0.01), true));
        assert!(!quiet.takes(&with(2, 1.0, 0.5), true));
    }
}
