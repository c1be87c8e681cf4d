//! Which analysed frames of a camera may go without detection: `face.detect_every`, `objects.every`.
//!
//! Whether frame n is looked at hangs on what the tracker knew after frame n - [`LAG`], never on how fast the workers
//! are: the dispatcher waits for that. So the same recording gives the same memory, and the workers still run ahead.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// How many frames before a frame the tracker's word on it dates from.
const LAG: u64 = 4;

/// What a camera's tracker said of its last frames; part of its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Said {
    /// Number of the next frame.
    next: u64,
    /// Whether every track was steady after these.
    steady: BTreeMap<u64, bool>,
}

impl Said {
    /// Notes the next frame; gives its number.
    pub(super) fn note(&mut self, steady: bool) -> u64 {
        let number = self.next;
        self.next += 1;
        self.steady.insert(number, steady);
        self.steady.retain(|at, _| at + LAG >= number);
        number
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

    /// Waits for what was said after that frame; a stage that is gone says no.
    fn after(&self, number: u64) -> bool {
        let mut board = self.lock();
        loop {
            if board.said.next > number {
                return board.said.steady.get(&number).copied().unwrap_or(false);
            }
            if board.closed {
                return false;
            }
            board = self.0.1.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What is looked for in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Faces.
    pub faces: bool,
    /// Things.
    pub objects: bool,
}

/// The dispatcher's count of one camera's analysed frames.
#[derive(Clone, Debug)]
pub(super) struct Cadence {
    every: u64,
    /// Things are looked for in one frame of so many.
    objects_every: u64,
    next: u64,
    steadiness: Steadiness,
}

impl Cadence {
    /// `every`: in one frame of so many faces are always looked for; `objects_every`: in just these things are.
    pub(super) fn new(
        every: usize,
        objects_every: usize,
        said: &Said,
        steadiness: Steadiness,
    ) -> Self {
        let (every, objects_every) = (every.max(1) as u64, objects_every.max(1) as u64);
        Self { every, objects_every, next: said.next, steadiness }
    }

    /// What is to be looked for in the next frame.
    pub(super) fn looks(&mut self) -> Looks {
        let number = self.next;
        self.next += 1;
        Looks { faces: self.faces(number), objects: number.is_multiple_of(self.objects_every) }
    }

    fn faces(&self, number: u64) -> bool {
        if self.every == 1 || number.is_multiple_of(self.every) || number < LAG {
            return true;
        }
        !self.steadiness.after(number - LAG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(every: usize, steady: &[bool], resume_at: usize) -> Vec<bool> {
        let mut said = Said::default();
        let mut board = Steadiness::default();
        let mut cadence = Cadence::new(every, 1, &said, board.clone());
        let mut looked = Vec::new();
        for (at, steady) in steady.iter().enumerate() {
            if at == resume_at {
                board = Steadiness::resume(&said);
                cadence = Cadence::new(every, 1, &said, board.clone());
            }
            looked.push(cadence.looks().faces);
            said.note(*steady);
            board.say(&said);
        }
        looked
    }

    #[test]
    fn frames_are_left_out_while_all_is_steady_whatever_a_restart_comes_between() {
        let mut steady = [true; 24];
        steady[10] = false;
        let whole = looked(3, &steady, usize::MAX);
        let expected: Vec<bool> = (0..24).map(|n| n % 3 == 0 || n < 4 || n == 14).collect();
        assert_eq!(whole, expected);
        for at in 0..24 {
            assert_eq!(looked(3, &steady, at), whole, "resumed at {at}");
        }
        assert!(looked(1, &steady, usize::MAX).iter().all(|looks| *looks));
    }

    #[test]
    fn a_stage_that_is_gone_is_not_waited_for() {
        let board = Steadiness::default();
        let mut cadence = Cadence::new(5, 4, &Said::default(), board.clone());
        for _ in 0..6 {
            board.close();
            assert!(cadence.looks().faces);
        }
    }

    #[test]
    fn what_was_said_is_waited_for() {
        let board = Steadiness::default();
        let mut cadence = Cadence::new(5, 4, &Said::default(), board.clone());
        let objects: Vec<bool> = (0..4)
            .map(|_| cadence.looks())
            .map(|looks| {
                assert!(looks.faces);
                looks.objects
            })
            .collect();
        assert_eq!(objects, [true, false, false, false]);
        let later = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut said = Said::default();
            said.note(true);
            board.say(&said);
        });
        assert!(!cadence.looks().faces, "frame 4 hangs on what is said after frame 0");
        assert!(later.join().is_ok());
    }
}
