//! Which analysed frames of a camera may go without detection: `face.only_changed`, `face.detect_every`,
//! `objects.every`.
//!
//! What is looked for in frame n hangs on what its stage knew [`LAG`] frames before or some more, never on how fast the
//! workers are: the dispatcher waits for that. So the same recording gives the same memory, and the workers still run
//! ahead.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::config::{FacePerception, Objects};
use crate::perceive::face::{Backdrop, Thumbnail};

/// How many frames before a frame the tracker's word on it dates from, at least.
const LAG: u64 = 4;
/// A frame of so many is searched for faces though nothing seems to have changed; the stage shows its backdrop then.
const CERTAIN: u64 = 5;

/// What a camera's stage said of its last frames; part of its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Said {
    /// Number of the next frame.
    next: u64,
    /// What the camera saw in these, where somebody was followed and every track was steady.
    steady: BTreeMap<u64, Option<Thumbnail>>,
    /// What the camera saw after these, where nobody was followed.
    empty: BTreeMap<u64, Option<Backdrop>>,
}

impl Said {
    /// Notes the next frame. `steady`: the picture, where all who are in it are steady; `empty`: the scene, where nobody
    /// is in it.
    pub(super) fn note(&mut self, steady: Option<Thumbnail>, empty: Option<&Backdrop>) {
        let number = self.next;
        self.next += 1;
        self.steady.insert(number, steady);
        self.steady.retain(|at, _| at + LAG >= number);
        if number.is_multiple_of(CERTAIN) {
            self.empty.insert(number, empty.cloned());
            self.empty.retain(|at, _| at + LAG + CERTAIN > number);
        }
    }
}

#[derive(Debug, Default)]
struct Board {
    said: Said,
    /// The stage is gone: nothing more will be said.
    closed: bool,
}

/// Written by a camera's stage, waited for by the dispatcher. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Steadiness(Arc<(Mutex<Board>, Condvar)>);

impl Steadiness {
    /// As it was at the checkpoint.
    pub(super) fn resume(said: &Said) -> Self {
        let board = Board { said: said.clone(), closed: false };
        Self(Arc::new((Mutex::new(board), Condvar::new())))
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stage's word after its next frame.
    pub(super) fn say(&self, said: &Said) {
        self.lock().said = said.clone();
        self.0.1.notify_all();
    }

    /// The stage has ended.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.0.1.notify_all();
    }

    /// Waits until that frame was spoken of; nothing of a stage that is gone.
    fn after<T>(&self, number: u64, word: impl Fn(&Said) -> Option<T>) -> Option<T> {
        let mut board = self.lock();
        loop {
            if board.said.next > number {
                return word(&board.said);
            }
            if board.closed {
                return None;
            }
            board = self.0.1.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What the camera saw in that frame, if every track was steady after it.
    fn steady(&self, number: u64) -> Option<Thumbnail> {
        self.after(number, |said| said.steady.get(&number).cloned()).flatten()
    }

    /// What the camera saw after that frame, one of [`CERTAIN`]; `None` where somebody was followed.
    fn empty(&self, number: u64) -> Option<Backdrop> {
        self.after(number, |said| said.empty.get(&number).cloned()).flatten()
    }
}

/// Whether faces are looked for in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceLook {
    /// In any case.
    Always,
    /// Where it differs from the scene in which nobody was; elsewhere nobody is.
    WhereChanged(Backdrop),
    /// Where another scene is seen than in this picture; else not: who is followed goes on as he moved.
    AfterCut(Thumbnail),
}

/// What is looked for in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Faces.
    pub faces: FaceLook,
    /// Things.
    pub objects: bool,
}

/// The dispatcher's count of one camera's analysed frames.
#[derive(Clone, Debug)]
pub(super) struct Cadence {
    /// In one frame of so many faces are looked for, however steady those are that are followed.
    every: u64,
    only_changed: bool,
    /// Things are looked for in one frame of so many.
    objects_every: u64,
    next: u64,
    steadiness: Steadiness,
}

impl Cadence {
    pub(super) fn new(
        faces: &FacePerception,
        objects: &Objects,
        said: &Said,
        steadiness: Steadiness,
    ) -> Self {
        Self {
            every: faces.detect_every.max(1) as u64,
            only_changed: faces.only_changed,
            objects_every: objects.every.max(1) as u64,
            next: said.next,
            steadiness,
        }
    }

    /// What is to be looked for in the next frame.
    pub(super) fn looks(&mut self) -> Looks {
        let number = self.next;
        self.next += 1;
        Looks { faces: self.faces(number), objects: number.is_multiple_of(self.objects_every) }
    }

    fn faces(&self, number: u64) -> FaceLook {
        let Some(known) = number.checked_sub(LAG) else { return FaceLook::Always };
        if !number.is_multiple_of(self.every)
            && let Some(picture) = self.steadiness.steady(known)
        {
            return FaceLook::AfterCut(picture);
        }
        if !self.only_changed || number.is_multiple_of(CERTAIN) {
            return FaceLook::Always;
        }
        match self.steadiness.empty(known / CERTAIN * CERTAIN) {
            Some(scene) => FaceLook::WhereChanged(scene),
            None => FaceLook::Always,
        }
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;
    use crate::perceive::face::Thumbnail;

    fn cadence(every: usize, only_changed: bool, said: &Said, board: &Steadiness) -> Cadence {
        let faces = FacePerception { detect_every: every, only_changed, ..Default::default() };
        let objects = Objects { every: 4, ..Default::default() };
        Cadence::new(&faces, &objects, said, board.clone())
    }

    /// What was looked for in frames after which the stage said these words; at `resume_at` from a checkpoint.
    fn looked(
        (every, only_changed): (usize, bool),
        words: &[(Option<&Thumbnail>, Option<&Backdrop>)],
        resume_at: usize,
    ) -> Vec<FaceLook> {
        let mut said = Said::default();
        let mut board = Steadiness::default();
        let mut frames = cadence(every, only_changed, &said, &board);
        let mut looked = Vec::new();
        for (at, (steady, empty)) in words.iter().enumerate() {
            if at == resume_at {
                board = Steadiness::resume(&said);
                frames = cadence(every, only_changed, &said, &board);
            }
            looked.push(frames.looks().faces);
            said.note(steady.cloned(), *empty);
            board.say(&said);
        }
        looked
    }

    fn picture(luma: u8) -> Thumbnail {
        Thumbnail::of(&RgbImage::from_pixel(64, 48, Rgb([luma; 3])))
    }

    fn scene(luma: u8) -> Backdrop {
        let mut scene = Backdrop::default();
        scene.learn(&picture(luma));
        scene
    }

    #[test]
    fn frames_are_left_out_while_all_is_steady_whatever_a_restart_comes_between() {
        let pictures: Vec<Thumbnail> = (0..24).map(picture).collect();
        let mut words: Vec<_> = pictures.iter().map(|picture| (Some(picture), None)).collect();
        words[10].0 = None;
        let whole = looked((3, false), &words, usize::MAX);
        let expected: Vec<FaceLook> = (0..24)
            .map(|n| match n {
                0..4 | 14 => FaceLook::Always,
                _ if n % 3 == 0 => FaceLook::Always,
                _ => FaceLook::AfterCut(pictures[n - 4].clone()),
            })
            .collect();
        assert_eq!(whole, expected);
        for at in 0..24 {
            assert_eq!(looked((3, false), &words, at), whole, "resumed at {at}");
        }
        let all = looked((1, false), &words, usize::MAX);
        assert!(all.iter().all(|look| *look == FaceLook::Always));
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
                Some(0 | 5) if number % 5 != 0 => FaceLook::WhereChanged(day.clone()),
                Some(15..) if number % 5 != 0 => FaceLook::WhereChanged(night.clone()),
                _ => FaceLook::Always,
            };
            assert_eq!(*look, expected, "frame {number}");
        }
        for at in 0..words.len() {
            assert_eq!(looked((1, true), &words, at), whole, "resumed at {at}");
        }
    }

    #[test]
    fn a_stage_that_is_gone_is_not_waited_for() {
        let board = Steadiness::default();
        let mut frames = cadence(5, true, &Said::default(), &board);
        for _ in 0..7 {
            board.close();
            assert_eq!(frames.looks().faces, FaceLook::Always);
        }
    }

    #[test]
    fn what_was_said_is_waited_for() {
        let board = Steadiness::default();
        let mut frames = cadence(5, true, &Said::default(), &board);
        let objects: Vec<bool> = (0..4)
            .map(|_| frames.looks())
            .map(|looks| {
                assert_eq!(looks.faces, FaceLook::Always);
                looks.objects
            })
            .collect();
        assert_eq!(objects, [true, false, false, false]);
        let later = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut said = Said::default();
            said.note(Some(picture(9)), None);
            board.say(&said);
        });
        let look = frames.looks().faces;
        let expected = FaceLook::AfterCut(picture(9));
        assert_eq!(look, expected, "frame 4 hangs on what is said after frame 0");
        assert!(later.join().is_ok());
    }
}
