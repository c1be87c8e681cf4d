//! Which pictures are worth reading: still ones that show something new.
//!
//! A look takes as long as dozens of searches for faces, and signs hang where they hang. So a picture is read when the
//! camera holds still, somewhere it shows something else than the picture read last (whatever moves just now does not
//! count), and the last look is some seconds ago; a look that found words is followed by another one, which confirms them.
//! Counted in pictures and event time alone: the same recording is read at the same places, whatever the load.

use serde::{Deserialize, Serialize};

use crate::perceive::face::Thumbnail;
use crate::time::Timestamp;

/// A picture is read so many pictures after it was decided, so that workers may run ahead.
pub const READING_LAG: u64 = 4;
/// A cell whose luma differs by more shows something else, 0–255.
const DIFFERS: u8 = 3;
/// Where more cells than one in so many move, the camera does.
const MOVING: usize = 3;
/// A cell that has not moved for so many pictures is settled.
const SETTLED: u8 = 4;

/// What a camera's stage knows of it; part of its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadingSchedule {
    last: Option<Thumbnail>,
    /// For how many pictures each cell has been still.
    still: Vec<u8>,
    /// What each cell showed when it was read last, as far as it was settled by then.
    read: Vec<Option<u8>>,
    /// When a picture was read last, or planned to be.
    read_at: Option<Timestamp>,
    /// A look found words that are to be confirmed.
    unconfirmed: bool,
    /// The look under way is one that confirms.
    confirms: bool,
    /// Numbers of pictures that are to be read.
    planned: Option<u64>,
}

impl ReadingSchedule {
    /// Whether the `number`th analysed picture is to be read.
    #[must_use]
    pub fn is_planned(&self, number: u64) -> bool {
        self.planned == Some(number)
    }

    /// The `number`th analysed picture. `found`: whether words were found in it; `None`: it was not read.
    pub fn step(
        &mut self,
        number: u64,
        at: Timestamp,
        picture: &Thumbnail,
        found: Option<bool>,
        every_secs: f64,
    ) {
        let cells = picture.cells();
        let fresh = self.still.len() != cells.len();
        if fresh {
            self.still = vec![0; cells.len()];
            self.read = vec![None; cells.len()];
        }
        let mut moving = 0;
        for (at, luma) in cells.iter().enumerate() {
            let before = self.last.as_ref().and_then(|last| last.cells().get(at));
            let moves = before.is_none_or(|before| before.abs_diff(*luma) > DIFFERS);
            self.still[at] = if moves { 0 } else { self.still[at].saturating_add(1) };
            moving += usize::from(moves);
        }
        self.last = Some(picture.clone());
        if self.planned.is_some_and(|planned| planned <= number) {
            self.planned = None;
            self.was_read(cells, found);
        }
        let rested = self.read_at.is_none_or(|last| at.secs_since(last) >= every_secs);
        let holds_still = !fresh && MOVING * moving <= cells.len();
        if self.planned.is_none()
            && rested
            && holds_still
            && (self.unconfirmed || self.is_new(cells))
        {
            self.planned = Some(number + READING_LAG);
            self.read_at = Some(at);
            self.confirms = self.unconfirmed;
            self.unconfirmed = false;
        }
    }

    fn was_read(&mut self, cells: &[u8], found: Option<bool>) {
        // A look that was lost is made again.
        let Some(found) = found else { return };
        self.unconfirmed = found && !self.confirms;
        for (at, luma) in cells.iter().enumerate() {
            if self.still[at] >= SETTLED {
                self.read[at] = Some(*luma);
            }
        }
    }

    /// Whether a settled cell shows something else than when it was read.
    fn is_new(&self, cells: &[u8]) -> bool {
        let cells = cells.iter().zip(&self.still).zip(&self.read);
        let settled = cells.filter(|((_, still), _)| **still >= SETTLED);
        settled
            .into_iter()
            .any(|((luma, _), read)| read.is_none_or(|read| read.abs_diff(*luma) > DIFFERS))
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    /// Reads of a scene, five pictures a second: what each picture shows by its number.
    fn reads(count: u64, found: bool, show: impl Fn(u64) -> RgbImage) -> Vec<u64> {
        let mut schedule = ReadingSchedule::default();
        let mut read = Vec::new();
        for number in 0..count {
            let is_read = schedule.is_planned(number);
            if is_read {
                read.push(number);
            }
            let at = Timestamp::from_nanos(number as i64 * 200_000_000);
            let found = is_read.then_some(found);
            schedule.step(number, at, &Thumbnail::of(&show(number)), found, 5.0);
        }
        read
    }

    fn wall(luma: u8) -> RgbImage {
        RgbImage::from_pixel(64, 48, Rgb([luma; 3]))
    }

    #[test]
    fn a_still_scene_is_read_once_and_words_in_it_once_more() {
        assert_eq!(reads(200, false, |_| wall(90)), [8]);
        assert_eq!(
            reads(200, true, |_| wall(90)),
            [8, 33],
            "25 pictures, 5 s, after it was decided"
        );
    }

    #[test]
    fn what_is_put_up_is_read_and_what_moves_is_not() {
        let sign = |number: u64| {
            let mut wall = wall(90);
            if number >= 100 {
                (10..20).for_each(|x| (10..16).for_each(|y| wall.put_pixel(x, y, Rgb([250; 3]))));
            }
            wall
        };
        let read = reads(300, false, sign);
        assert_eq!(read.len(), 2, "{read:?}");
        assert!((104..=112).contains(&read[1]), "{read:?}");
        // Somebody walks to and fro all the time before a wall.
        let walker = |number: u64| {
            let mut wall = wall(90);
            let left = (number * 3 % 50) as u32;
            (left..left + 8).for_each(|x| (8..48).for_each(|y| wall.put_pixel(x, y, Rgb([20; 3]))));
            wall
        };
        let read = reads(300, false, walker);
        assert!(read.len() <= 300 / 25 + 1, "never more than one in 5 s: {read:?}");
        // The camera itself turns.
        let turning = |number: u64| {
            RgbImage::from_fn(64, 48, |x, _| {
                Rgb([((u64::from(x) * 9 + number * 23) % 250) as u8; 3])
            })
        };
        assert!(reads(200, false, turning).is_empty());
    }
}
