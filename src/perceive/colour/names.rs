//! What people call a colour.

use std::sync::LazyLock;

use super::light::{Lab, srgb};
use crate::colour::Colour;

/// Terms, and none of them.
pub(super) const TERMS: usize = Colour::COUNT + 1;
pub(super) const NONE: usize = Colour::COUNT;
/// Colours so far apart are called the same hardly more often than not, OKLab.
const SIGMA: f32 = 0.025;
/// How far lightness tells colours apart, beside hue.
const LIGHTNESS: f32 = 0.5;
/// What half of the people call so counts so much.
const HALF: f32 = 0.7;
/// How unlikely a colour far from all that were named is any of them.
const FAR: f32 = 0.02;

/// A colour that people named, and how surely by each term, 0–1.
struct Prototype {
    place: Lab,
    of: [f32; TERMS],
}

static PROTOTYPES: LazyLock<Vec<Prototype>> =
    LazyLock::new(|| include_str!("names.tsv").lines().filter_map(prototype).collect());

/// `rrggbb`, a tab, and one or two names.
fn prototype(line: &str) -> Option<Prototype> {
    let (value, names) = line.split_once('\t').filter(|_| !line.starts_with('#'))?;
    let byte = |at: usize| u8::from_str_radix(value.get(at..at + 2)?, 16).ok();
    let names: Vec<&str> = names.split(' ').collect();
    let mut of = [0.0; TERMS];
    for name in &names {
        let term = Colour::named(name).map_or(NONE, |colour| colour as usize);
        of[term] = if names.len() == 1 { 1.0 } else { HALF };
    }
    Some(Prototype { place: srgb([byte(0)?, byte(2)?, byte(4)?]), of })
}

/// How surely a colour is called by each term, by [`Colour`], and by none: 0–1, together at most 1.
pub(super) fn of(place: Lab) -> [f32; TERMS] {
    let mut best = [0.0_f32; TERMS];
    for Prototype { place: other, of } in PROTOTYPES.iter() {
        let [l, a, b] = [0, 1, 2].map(|at| place[at] - other[at]);
        let apart = (LIGHTNESS * l).powi(2) + a * a + b * b;
        let near = (-apart / (2.0 * SIGMA * SIGMA)).exp();
        for (best, of) in best.iter_mut().zip(of) {
            *best = best.max(near * of);
        }
    }
    let sum: f32 = best.iter().sum();
    best.map(|one| one / (sum + FAR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_focal_colours_have_their_names() {
        let lines = include_str!("names.tsv").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.count(), PROTOTYPES.len());
        let focal = [
            ([0, 0, 0], Colour::Black),
            ([255, 255, 255], Colour::White),
            ([220, 20, 30], Colour::Red),
            ([20, 150, 40], Colour::Green),
            ([250, 220, 20], Colour::Yellow),
            ([20, 70, 210], Colour::Blue),
            ([100, 60, 20], Colour::Brown),
            ([125, 40, 160], Colour::Purple),
            ([255, 130, 190], Colour::Pink),
            ([250, 120, 10], Colour::Orange),
            ([132, 132, 130], Colour::Grey),
        ];
        for (value, colour) in focal {
            let named = of(srgb(value));
            assert!(named[colour as usize] > 0.6, "{value:?}: {named:?}");
        }
    }
}
