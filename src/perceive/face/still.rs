//! Faces that are pictures: a poster, a photograph, a portrait on a screen that never moves.
//!
//! The upright chip of a face is made small ([`Look`]); a living face's eyes and mouth differ from its first look within
//! seconds, a picture's only by noise. Measured at 5 pictures per second: the second greatest [`Look::differs`] of scenes in
//! which people talk is 0.28 to 0.60, that of pictures taken with noise, another light and half a pixel of shake at most
//! 0.22 where the face is 110 px wide; the noise of faces below 70 px looks alive by itself, and they are left in peace.

use image::RgbImage;
use serde::{Deserialize, Serialize};

use crate::geometry::Rect;
use crate::percept::{Life, Look};

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
/// Without any of that for so long it is a picture, seconds of sightings.
const WATCHED_SECS: f64 = 10.0;

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
pub(super) struct Watched {
    /// The first look, and where the face was then.
    first: Option<(Look, Rect)>,
    looks: u32,
    moves: u32,
}

impl Watched {
    /// Takes the next sighting.
    pub(super) fn see(&mut self, look: &Look, bbox: Rect) {
        self.looks += 1;
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

    pub(super) fn life(&self, step_secs: f64) -> Life {
        match self.looks {
            0 => Life::Untold,
            _ if self.moves >= TIMES => Life::Alive,
            looks if f64::from(looks) * step_secs >= WATCHED_SECS => Life::Picture,
            _ => Life::Unproven,
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

    fn life(looks: usize, mut see: impl FnMut(usize, &mut SplitMix64) -> (RgbImage, f32)) -> Life {
        let mut random = SplitMix64::new(3);
        let mut watched = Watched::default();
        for index in 0..looks {
            let (chip, x) = see(index, &mut random);
            watched.see(&Look::of(&chip), Rect { x, y: 50.0, w: 90.0, h: 110.0 });
        }
        watched.life(0.2)
    }

    #[test]
    fn a_picture_in_noise_and_changing_light_is_told_from_who_talks_blinks_or_turns_up_elsewhere() {
        let still = |index: usize, random: &mut SplitMix64| {
            let light = 0.9 + 0.2 * (index % 7) as f32 / 7.0;
            (chip(2, 4, 6.0, light, random), 100.0 + (index % 3) as f32)
        };
        assert_eq!(life(60, still), Life::Picture);
        assert_eq!(life(30, still), Life::Unproven, "six seconds are too short");
        let talks = |index: usize, random: &mut SplitMix64| {
            (chip(2 + 6 * (index as u32 / 2 % 2), 4, 6.0, 1.0, random), 100.0)
        };
        assert_eq!(life(60, talks), Life::Alive);
        let blinks = |index: usize, random: &mut SplitMix64| {
            (chip(2, if index % 20 == 11 { 0 } else { 6 }, 6.0, 1.0, random), 100.0)
        };
        assert_eq!(life(60, blinks), Life::Alive);
        let moves = |index: usize, random: &mut SplitMix64| {
            (chip(2, 4, 6.0, 1.0, random), if index > 40 { 130.0 } else { 100.0 })
        };
        assert_eq!(life(60, moves), Life::Alive);
        assert_eq!(Watched::default().life(0.2), Life::Untold);
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
