//! Which analysed frames of a camera may go without detection: `face.only_changed`, `face.detect_every`,
//! `objects.every`; in which words are looked for; and which looks `window.budget` leaves out.
//!
//! What is looked for in frame n hangs on what its stage knew [`DETECTION_LAG`] frames before or some more, never on how fast the
//! workers are: the camera's own stage waits for that, and nobody else. So the same recording gives the same memory, and the
//! workers still run ahead.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::budget::Budget;
use crate::config::Config;
use crate::daemon::ingest::work::registry::DetectionPlan;
use crate::perceive::face::{BackgroundModel, FaceDetectionMode, Thumbnail};
use crate::perceive::object::Sought;
use crate::perceive::text::{READING_LAG, ReadingSchedule};
use crate::time::Timestamp;

/// How many frames before a frame the tracker's word on it dates from, at least.
const DETECTION_LAG: u64 = 4;
/// A frame of so many is searched for faces though nothing seems to have changed; the stage shows its backdrop then.
const CERTAIN: u64 = 5;

/// What bodies do in a frame, as far as it tells when they are looked for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::daemon::ingest) struct Doing {
    /// A body moves, or something where nobody is.
    pub(in crate::daemon::ingest) moving: bool,
    /// Somebody lies, or is gone where he stood.
    pub(in crate::daemon::ingest) may_lie: bool,
    /// So many are in view.
    pub(in crate::daemon::ingest) people: u32,
}

/// What a camera's stage reports of its last frames; part of its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::daemon::ingest) struct SceneReports {
    /// Number of the next frame.
    next: u64,
    /// What the camera saw in these, where somebody was followed and every track was steady.
    steady: BTreeMap<u64, Option<Thumbnail>>,
    /// What bodies did in these, and whether the budget allowed to look for it.
    doing: BTreeMap<u64, (Doing, bool)>,
    /// What may be spent on looks that are not promised.
    budget: Budget,
    /// What the camera saw after these, where nobody was followed.
    empty: BTreeMap<u64, Option<BackgroundModel>>,
    /// Which pictures are to be read.
    reading: ReadingSchedule,
}

impl SceneReports {
    /// Notes what the next frame shows, before it is noted itself. `found`: whether words were found in it; `None`: it was not
    /// read.
    pub(in crate::daemon::ingest) fn scene(
        &mut self,
        at: Timestamp,
        picture: &Thumbnail,
        found: Option<bool>,
        every_secs: f64,
    ) {
        self.reading.step(self.next, at, picture, found, every_secs);
    }

    /// Notes what the next frame cost, before it is noted itself. `at`: when it was taken; `None`: it was lost. `share`: what the
    /// camera may spend, thousandths of a core.
    pub(in crate::daemon::ingest) fn cost(
        &mut self,
        at: Option<Timestamp>,
        share: u32,
        cost_us: u64,
    ) {
        match at {
            Some(at) => self.budget.step(at, share, cost_us),
            None => self.budget.spend(cost_us),
        }
    }

    /// Notes the next frame. `steady`: the picture, where all who are in it are steady; `empty`: the scene, where nobody
    /// is in it.
    pub(in crate::daemon::ingest) fn note(
        &mut self,
        steady: Option<Thumbnail>,
        empty: Option<&BackgroundModel>,
        doing: Doing,
    ) {
        self.doing.insert(self.next, (doing, self.budget.allows()));
        let number = self.next;
        self.next += 1;
        self.steady.insert(number, steady);
        self.steady.retain(|at, _| at + DETECTION_LAG >= number);
        self.doing.retain(|at, _| at + DETECTION_LAG >= number);
        if number.is_multiple_of(CERTAIN) {
            self.empty.insert(number, empty.cloned());
            self.empty.retain(|at, _| at + DETECTION_LAG + CERTAIN > number);
        }
    }
}

/// A camera's stage's count of its analysed frames.
#[derive(Clone, Debug)]
pub(in crate::daemon::ingest) struct DetectionSchedule {
    /// In one frame of so many faces are looked for, however steady those are that are followed.
    every: u64,
    only_changed: bool,
    /// Bodies are looked for, in every frame while one moves.
    sees_bodies: bool,
    /// Whether words in view are read.
    reads: bool,
    config: Arc<Config>,
    next: u64,
}

impl DetectionSchedule {
    pub(in crate::daemon::ingest) fn new(
        config: &Arc<Config>,
        reports: &SceneReports,
        (sees_bodies, reads): (bool, bool),
    ) -> Self {
        Self {
            every: config.face.detect_every.max(1) as u64,
            only_changed: config.face.only_changed,
            sees_bodies,
            reads,
            config: Arc::clone(config),
            next: reports.next,
        }
    }

    /// Whether everything has been reports that the next frame hangs on; what is in work goes on meanwhile.
    pub(in crate::daemon::ingest) fn is_ready(&self, reports: &SceneReports) -> bool {
        let Some(known) = self.next.checked_sub(DETECTION_LAG) else { return true };
        let read = self.next.checked_sub(READING_LAG).filter(|_| self.reads);
        if read.is_some_and(|known| reports.next <= known) {
            return false;
        }
        if self.sees_bodies || !self.next.is_multiple_of(self.every) {
            return reports.next > known;
        }
        let scene = self.only_changed && !self.next.is_multiple_of(CERTAIN);
        !scene || reports.next > known / CERTAIN * CERTAIN
    }

    /// What is to be looked for in the next frame; and whether something is left out of it for want of budget.
    pub(in crate::daemon::ingest) fn plan(
        &mut self,
        reports: &SceneReports,
    ) -> (DetectionPlan, bool) {
        let number = self.next;
        self.next += 1;
        let faces = Some(self.faces(number, reports));
        let texts = (self.reads && reports.reading.is_planned(number)).then_some(());
        let planned = DetectionPlan::of(&self.config, number);
        let (Doing { moving, may_lie, people }, allowed) = self.doing(number, reports);
        let is_due = moving || may_lie;
        let left_out = planned.objects.is_none() && is_due && !allowed;
        let objects = planned.objects.or_else(|| (is_due && allowed).then(Sought::default));
        let objects = objects.map(|sought| Sought { lying: sought.lying || may_lie, people });
        (DetectionPlan { faces, objects, texts }, left_out)
    }

    /// What somebody did some frames before, so that people and things are to be looked for though it is not their turn; and
    /// whether they may.
    fn doing(&self, number: u64, reports: &SceneReports) -> (Doing, bool) {
        let (doing, allowed) = match number.checked_sub(DETECTION_LAG) {
            Some(known) => reports.doing.get(&known).copied().unwrap_or_default(),
            None => (Doing { moving: true, ..Doing::default() }, true),
        };
        (if self.sees_bodies { doing } else { Doing::default() }, allowed)
    }

    fn faces(&self, number: u64, reports: &SceneReports) -> FaceDetectionMode {
        let Some(known) = number.checked_sub(DETECTION_LAG) else {
            return FaceDetectionMode::Always;
        };
        if !number.is_multiple_of(self.every)
            && let Some(Some(picture)) = reports.steady.get(&known)
        {
            return FaceDetectionMode::AfterCut(picture.clone());
        }
        if !self.only_changed || number.is_multiple_of(CERTAIN) {
            return FaceDetectionMode::Always;
        }
        match reports.empty.get(&(known / CERTAIN * CERTAIN)) {
            Some(Some(scene)) => FaceDetectionMode::WhereChanged(scene.clone()),
            _ => FaceDetectionMode::Always,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;
    use crate::perceive::face::Thumbnail;

    fn cadence(every: usize, only_changed: bool, said: &SceneReports) -> DetectionSchedule {
        let mut config = Config::default();
        config.face.detect_every = every;
        config.face.only_changed = only_changed;
        config.objects.every = 4;
        DetectionSchedule::new(&Arc::new(config), said, (false, false))
    }

    /// What was looked for in frames after which the stage said these words; at `resume_at` from a checkpoint.
    fn looked(
        (every, only_changed): (usize, bool),
        words: &[(Option<&Thumbnail>, Option<&BackgroundModel>)],
        resume_at: usize,
    ) -> Vec<FaceDetectionMode> {
        let mut said = SceneReports::default();
        let mut frames = cadence(every, only_changed, &said);
        let mut looked = Vec::new();
        for (at, (steady, empty)) in words.iter().enumerate() {
            if at == resume_at {
                frames = cadence(every, only_changed, &said);
            }
            looked.push(frames.plan(&said).0.faces.unwrap());
            said.note(steady.cloned(), *empty, Doing::default());
        }
        looked
    }

    fn picture(luma: u8) -> Thumbnail {
        Thumbnail::of(&RgbImage::from_pixel(64, 48, Rgb([luma; 3])))
    }

    fn scene(luma: u8) -> BackgroundModel {
        let mut scene = BackgroundModel::default();
        scene.learn(&picture(luma));
        scene
    }

    #[test]
    fn frames_are_left_out_while_all_is_steady_whatever_a_restart_comes_between() {
        let pictures: Vec<Thumbnail> = (0..24).map(picture).collect();
        let mut words: Vec<_> = pictures.iter().map(|picture| (Some(picture), None)).collect();
        words[10].0 = None;
        let whole = looked((3, false), &words, usize::MAX);
        let expected: Vec<FaceDetectionMode> = (0..24)
            .map(|n| match n {
                0..4 | 14 => FaceDetectionMode::Always,
                _ if n % 3 == 0 => FaceDetectionMode::Always,
                _ => FaceDetectionMode::AfterCut(pictures[n - 4].clone()),
            })
            .collect();
        assert_eq!(whole, expected);
        for at in 0..24 {
            assert_eq!(looked((3, false), &words, at), whole, "resumed at {at}");
        }
        let all = looked((1, false), &words, usize::MAX);
        assert!(all.iter().all(|look| *look == FaceDetectionMode::Always));
    }

    #[test]
    fn an_empty_scene_is_searched_where_it_changes_and_now_and_then() {
        let (day, night) = (scene(200), scene(20));
        let mut words = [(None, Some(&day)); 30];
        // Somebody is followed after frames 8 to 12, and then it is night.
        words[8..13].fill((None, None));
        words[13..].fill((None, Some(&night)));
        let whole = looked((1, true), &words, usize::MAX);
        for (number, look) in whole.iter().enumerate() {
            // The last frame of five that the stage had spoken of.
            let known = number.checked_sub(4).map(|known| known / 5 * 5);
            let expected = match known {
                Some(0 | 5) if number % 5 != 0 => FaceDetectionMode::WhereChanged(day.clone()),
                Some(15..) if number % 5 != 0 => FaceDetectionMode::WhereChanged(night.clone()),
                _ => FaceDetectionMode::Always,
            };
            assert_eq!(*look, expected, "frame {number}");
        }
        for at in 0..words.len() {
            assert_eq!(looked((1, true), &words, at), whole, "resumed at {at}");
        }
    }

    /// In which frames words are looked for, by a stage that runs as far ahead of what is said as it may.
    fn read(count: u64, picture: impl Fn(u64) -> Thumbnail, resume_at: u64) -> Vec<u64> {
        let mut said = SceneReports::default();
        let config = Arc::new(Config::default());
        let begin = |said: &SceneReports| DetectionSchedule::new(&config, said, (false, true));
        let (mut frames, mut planned, mut spoken) = (begin(&said), BTreeMap::new(), 0);
        let mut looked = Vec::new();
        while spoken < count {
            while frames.is_ready(&said) && frames.next < count && frames.next < resume_at {
                let number = frames.next;
                planned.insert(number, frames.plan(&said).0.texts.is_some());
            }
            if planned.get(&spoken) == Some(&true) {
                looked.push(spoken);
            }
            let found = planned.get(&spoken).filter(|read| **read).map(|_| false);
            let at = Timestamp::from_nanos(spoken as i64 * 200_000_000);
            said.scene(at, &picture(spoken), found, 5.0);
            said.note(None, None, Doing::default());
            spoken += 1;
            if spoken == resume_at {
                // A checkpoint lies between two frames, and none is in work then.
                frames = begin(&said);
                return looked.into_iter().chain(resumed(count, &picture, frames, said)).collect();
            }
        }
        looked
    }

    /// The rest of the frames, one after the other.
    fn resumed(
        count: u64,
        picture: &impl Fn(u64) -> Thumbnail,
        mut frames: DetectionSchedule,
        mut said: SceneReports,
    ) -> Vec<u64> {
        let mut looked = Vec::new();
        for number in frames.next..count {
            let read = frames.plan(&said).0.texts.is_some();
            looked.extend(read.then_some(number));
            let at = Timestamp::from_nanos(number as i64 * 200_000_000);
            said.scene(at, &picture(number), read.then_some(false), 5.0);
            said.note(None, None, Doing::default());
        }
        looked
    }

    #[test]
    fn words_are_looked_for_in_the_same_frames_however_far_a_stage_runs_ahead() {
        let scenes: Vec<Thumbnail> = [40, 90, 160].map(picture).to_vec();
        let scene = |number: u64| scenes[(number / 60) as usize % scenes.len()].clone();
        let whole = read(180, scene, u64::MAX);
        assert_eq!(whole.len(), 3, "each scene once: {whole:?}");
        for at in [1, 7, 8, 9, 66, 68, 70, 120] {
            assert_eq!(read(180, scene, at), whole, "resumed at {at}");
        }
    }

    /// As `looked`, by a stage that runs as far ahead of what is said as it may.
    fn looked_ahead(
        (every, only_changed): (usize, bool),
        words: &[(Option<&Thumbnail>, Option<&BackgroundModel>)],
    ) -> (Vec<FaceDetectionMode>, usize) {
        let mut said = SceneReports::default();
        let mut frames = cadence(every, only_changed, &said);
        let (mut looked, mut spoken, mut most) = (Vec::new(), 0, 0);
        while looked.len() < words.len() {
            while !frames.is_ready(&said) {
                let (steady, empty) = words[spoken];
                said.note(steady.cloned(), empty, Doing::default());
                spoken += 1;
            }
            looked.push(frames.plan(&said).0.faces.unwrap());
            most = most.max(looked.len() - spoken);
        }
        (looked, most)
    }

    #[test]
    fn a_stage_runs_ahead_and_looks_for_the_same() {
        let (pictures, day): (Vec<Thumbnail>, _) = ((0..40).map(picture).collect(), scene(200));
        let word = |picture| (Some(picture), Some(&day));
        let mut words: Vec<_> = pictures.iter().map(word).collect();
        words[12..20].fill((None, None));
        for how in [(3, false), (3, true), (1, true)] {
            let (looks, most) = looked_ahead(how, &words);
            assert_eq!(looks, looked(how, &words, usize::MAX), "{how:?}");
            assert!(most >= DETECTION_LAG as usize, "{how:?}: {most}");
        }
        // Nothing hangs on what is said: nothing is waited for.
        assert_eq!(looked_ahead((1, false), &words).1, words.len());
        let (said, mut frames) =
            (SceneReports::default(), cadence(1, true, &SceneReports::default()));
        let objects: Vec<bool> = (0..4).map(|_| frames.plan(&said).0.objects.is_some()).collect();
        assert_eq!(objects, [true, false, false, false]);
    }

    #[test]
    fn who_moves_is_looked_for_as_often_as_the_budget_allows_whatever_a_restart_comes_between() {
        let mut config = Config::default();
        config.objects.every = 5;
        let config = Arc::new(config);
        // Four seconds at five pictures a second; a look costs 50 ms.
        let looked = |share: u32, resume_at: u64| {
            let mut said = SceneReports::default();
            let begin = |said: &SceneReports| DetectionSchedule::new(&config, said, (true, false));
            let mut frames = begin(&said);
            let (mut looks, mut left_out) = (Vec::new(), 0);
            for number in 0..200 {
                if number == resume_at {
                    frames = begin(&said);
                }
                let (plan, less) = frames.plan(&said);
                left_out += usize::from(less);
                looks.push(plan.objects.is_some());
                let at = Timestamp::from_nanos(number as i64 * 200_000_000);
                said.cost(Some(at), share, if plan.objects.is_some() { 50_000 } else { 0 });
                said.note(None, None, Doing { moving: true, ..Doing::default() });
            }
            (looks, left_out)
        };
        let often = |looks: &[bool]| looks.iter().filter(|look| **look).count();
        let (all, none) = looked(1000, u64::MAX);
        assert_eq!((often(&all), none), (200, 0));
        let (some, left_out) = looked(150, u64::MAX);
        assert!((115..=135).contains(&often(&some)), "{}", often(&some));
        assert_eq!(often(&some) + left_out, 200);
        // What is promised is never left out.
        let (promised, _) = looked(0, u64::MAX);
        assert!(promised.iter().skip(4).step_by(5).count() > 30);
        assert_eq!(often(&promised[5..]), 39, "one in five");
        for at in [1, 7, 50, 111] {
            assert_eq!(looked(150, at).0, some, "resumed at {at}");
        }
    }

    #[test]
    fn who_lies_is_looked_for_now_and_then_and_whenever_somebody_may_lie() {
        let mut config = Config::default();
        config.objects.every = 5;
        let mut said = SceneReports::default();
        let mut frames = DetectionSchedule::new(&Arc::new(config), &said, (true, false));
        let mut looked = Vec::new();
        for number in 0..60 {
            let (plan, _) = frames.plan(&said);
            looked.extend(plan.objects.filter(|sought| sought.lying).map(|_| number));
            assert!(
                plan.objects.is_none_or(|sought| sought.people == if number < 4 { 0 } else { 2 })
            );
            let may_lie = (30..33).contains(&number);
            said.cost(Some(Timestamp::from_nanos(number * 200_000_000)), 1000, 0);
            said.note(None, None, Doing { may_lie, people: 2, ..Doing::default() });
        }
        assert_eq!(looked, [0, 25, 34, 35, 36, 50]);
    }
}
