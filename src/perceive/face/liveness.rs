//! Faces that are pictures: a poster, a photograph, a portrait on a screen that never moves.
//!
//! The upright chip of a face is made small ([`Look`]); a living face's eyes and mouth differ from its first look within
//! seconds, a picture's only by noise. Measured at 5 pictures per second: the second greatest [`Look::differs`] of scenes in
//! which people talk is 0.28 to 0.60, that of pictures taken with noise, another light and half a pixel of shake at most
//! 0.22 where the face is 110 px wide; the noise of faces below 70 px looks alive by itself, and they are left in peace.

use image::RgbImage;
use serde::{Deserialize, Serialize};

use crate::geometry::Rect;
use crate::percept::{Liveness, Look};
use crate::time::Timestamp;

/// Cells of a look, each way.
const CELLS: usize = 16;
/// The part of the chip that is looked at: left, top, right, bottom, as shares of its side.
const PART: [f32; 4] = [1.0 / 7.0, 1.0 / 7.0, 6.0 / 7.0, 1.0];
/// Rows of cells that hold the eyes, and the mouth.
const EYES: std::ops::Range<usize> = 3..8;
const MOUTH: std::ops::Range<usize> = 9..15;
/// Luma that is added to the spread of a look: nothing is made of a face without contrast.
const FLAT: f32 = 8.0;
/// From here on eyes or mouth have moved, and that often they must.
const MOVED: f32 = 0.28;
const TIMES: u32 = 2;
/// The head has moved by this share of its box's height.
const WANDERED: f32 = 0.15;
/// Without any of that for so long it is a picture, seconds.
const WATCHED_SECS: f64 = 10.0;
/// From one look to the next no more counts, seconds: it was out of sight.
const BETWEEN_SECS: f64 = 2.0;

impl Look {
    /// Of an upright chip of any side.
    #[must_use]
    pub fn of(chip: &RgbImage) -> Self {
        let (width, height) = chip.dimensions();
        let edge = |side: u32, (from, to): (f32, f32), index: usize| {
            let share = from + (to - from) * index as f32 / CELLS as f32;
            ((side as f32 * share) as u32).min(side)
        };
        let mut cells = Vec::with_capacity(CELLS * CELLS);
        for row in 0..CELLS {
            for column in 0..CELLS {
                let (across, down) = ((PART[0], PART[2]), (PART[1], PART[3]));
                let (x0, x1) = (edge(width, across, column), edge(width, across, column + 1));
                let (y0, y1) = (edge(height, down, row), edge(height, down, row + 1));
                let (mut sum, mut count) = (0_u32, 0_u32);
                for y in y0..y1 {
                    for x in x0..x1 {
                        let [r, g, b] = chip.get_pixel(x, y).0;
                        sum += (77 * u32::from(r) + 150 * u32::from(g) + 29 * u32::from(b)) >> 8;
                        count += 1;
                    }
                }
                cells.push(sum as f32 / count.max(1) as f32);
            }
        }
        let count = cells.len() as f32;
        let mean = cells.iter().sum::<f32>() / count;
        let spread = (cells.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / count).sqrt();
        for value in &mut cells {
            *value = (*value - mean) / (spread + FLAT);
        }
        Self(cells)
    }

    /// Mean difference of the eyes or of the mouth, whichever is greater, in units of the face's contrast.
    #[must_use]
    pub fn differs(&self, other: &Self) -> f32 {
        let band = |rows: std::ops::Range<usize>| {
            let cells = rows.start * CELLS..rows.end * CELLS;
            let (Some(a), Some(b)) = (self.0.get(cells.clone()), other.0.get(cells.clone())) else {
                return 0.0;
            };
            a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>() / cells.len() as f32
        };
        band(EYES).max(band(MOUTH))
    }
}

/// What is remembered of one track to tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LivenessState {
    /// The first look, and where the face was then.
    first: Option<(Look, Rect)>,
    looks: u32,
    moves: u32,
    /// When it was looked at last.
    latest: Option<Timestamp>,
    /// For how long it was watched from the first look to the latest, seconds: it may be looked at in every second frame
    /// or less often while it is steady.
    secs: f64,
}

impl LivenessState {
    /// Takes the next sighting.
    pub(super) fn see(&mut self, at: Timestamp, look: &Look, bbox: Rect) {
        self.looks += 1;
        if let Some(before) = self.latest.replace(at) {
            self.secs += at.secs_since(before).clamp(0.0, BETWEEN_SECS);
        }
        let Some((first, place)) = &self.first else {
            self.first = Some((look.clone(), bbox));
            return;
        };
        let (here, there) = (bbox.centre(), place.centre());
        if (here.x - there.x).hypot(here.y - there.y) > WANDERED * place.h {
            self.moves = TIMES;
        }
        if first.differs(look) > MOVED {
            self.moves = self.moves.saturating_add(1);
        }
    }

    /// By what was seen so far; the latest look stands for `step_secs`, those before it until the next one.
    pub(super) fn life(&self, step_secs: f64) -> Liveness {
        match self.looks {
            0 => Liveness::Untold,
            _ if self.moves >= TIMES => Liveness::Alive,
            _ if self.secs + step_secs >= WATCHED_SECS => Liveness::Picture,
            _ => Liveness::Unproven,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bench::random::SplitMix64;

    /// A face of dark eyes and mouth, open by so much, with noise and in another light.
    fn chip(mouth: u32, eyes: u32, noise: f32, light: f32, random: &mut SplitMix64) -> RgbImage {
        RgbImage::from_fn(112, 112, |x, y| {
            let eye = (30..48).contains(&x) || (64..82).contains(&x);
            let dark = eye && (48 - eyes..52 + eyes).contains(&y)
                || (40..72).contains(&x) && (90 - mouth..93 + mouth).contains(&y);
            let value = if dark { 50.0 } else { 170.0 - 0.3 * x as f32 };
            let value = light * value + noise * random.gaussian();
            image::Rgb([value.clamp(0.0, 255.0) as u8; 3])
        })
    }

    fn life(looks: usize, see: impl FnMut(usize, &mut SplitMix64) -> (RgbImage, f32)) -> Liveness {
        watched((0..looks).map(|index| 0.2 * index as f64), see)
    }

    /// With a look at each of these times, seconds.
    fn watched(
        looks: impl Iterator<Item = f64>,
        mut see: impl FnMut(usize, &mut SplitMix64) -> (RgbImage, f32),
    ) -> Liveness {
        let mut random = SplitMix64::new(3);
        let mut watched = LivenessState::default();
        for (index, secs) in looks.enumerate() {
            let (chip, x) = see(index, &mut random);
            let at = Timestamp::EPOCH.plus_secs(secs);
            watched.see(at, &Look::of(&chip), Rect { x, y: 50.0, w: 90.0, h: 110.0 });
        }
        watched.life(0.2)
    }

    #[test]
    fn a_picture_in_noise_and_changing_light_is_told_from_who_talks_blinks_or_turns_up_elsewhere() {
        let still = |index: usize, random: &mut SplitMix64| {
            let light = 0.9 + 0.2 * (index % 7) as f32 / 7.0;
            (chip(2, 4, 6.0, light, random), 100.0 + (index % 3) as f32)
        };
        assert_eq!(life(60, still), Liveness::Picture);
        assert_eq!(life(30, still), Liveness::Unproven, "six seconds are too short");
        let talks = |index: usize, random: &mut SplitMix64| {
            (chip(2 + 6 * (index as u32 / 2 % 2), 4, 6.0, 1.0, random), 100.0)
        };
        assert_eq!(life(60, talks), Liveness::Alive);
        let blinks = |index: usize, random: &mut SplitMix64| {
            (chip(2, if index % 20 == 11 { 0 } else { 6 }, 6.0, 1.0, random), 100.0)
        };
        assert_eq!(life(60, blinks), Liveness::Alive);
        let moves = |index: usize, random: &mut SplitMix64| {
            (chip(2, 4, 6.0, 1.0, random), if index > 40 { 130.0 } else { 100.0 })
        };
        assert_eq!(life(60, moves), Liveness::Alive);
        assert_eq!(LivenessState::default().life(0.2), Liveness::Untold);
    }

    #[test]
    fn a_picture_is_told_after_as_long_however_often_it_is_looked_at() {
        let still = |_: usize, random: &mut SplitMix64| (chip(2, 4, 3.0, 1.0, random), 100.0);
        for every in [1, 2, 4] {
            let until = |secs: f64| {
                let step = 0.2 * f64::from(every);
                let looks = (0_u32..).map(move |index| step * f64::from(index));
                watched(looks.take_while(move |at| *at <= secs), still)
            };
            assert_eq!(until(9.0), Liveness::Unproven, "every {every}");
            assert_eq!(until(10.5), Liveness::Picture, "every {every}");
        }
        // Out of sight is not watched: of twenty seconds it was seen for three.
        let seen = [0.0, 0.2, 0.4, 20.0, 20.2, 20.4].into_iter();
        assert_eq!(watched(seen, still), Liveness::Unproven);
    }

    #[test]
    fn a_look_has_neither_light_nor_contrast() {
        let mut random = SplitMix64::new(1);
        let bright = Look::of(&chip(3, 5, 0.0, 1.0, &mut random));
        let dark = Look::of(&chip(3, 5, 0.0, 0.6, &mut random));
        let open = Look::of(&chip(9, 5, 0.0, 1.0, &mut random));
        assert!(bright.differs(&dark) < 0.1, "{}", bright.differs(&dark));
        assert!(bright.differs(&open) > MOVED, "{}", bright.differs(&open));
        let _ = Look::of(&RgbImage::new(0, 0)).differs(&Look::of(&RgbImage::new(3, 1)));
    }
}
