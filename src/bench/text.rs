//! Words in view against stills with known text: `bench text`.
//!
//! `labels.json` beside the pictures says what stands in each, as `benches/text/stills.py` writes it:
//! `[{"file","signs":[{"text","quad":[[x,y],…4],"height_px"}]}]`. Whatever is read inside a sign's corners is its reading;
//! what is read elsewhere was invented. Spaces and capitals do not count as characters.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::BenchError;
use super::error::read_text;
use crate::config::Config;
use crate::daemon::assemble::catalogue;
use crate::daemon::ingest::PerceiverSet;
use crate::geometry::Point;

/// From this height of its capitals on a sign's characters count for [`TextScores::accuracy`], px.
const LEAST_HEIGHT_PX: u32 = 20;

/// `bench text`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TextScores {
    /// Pictures.
    pub pictures: usize,
    /// Characters read right of those on signs with capitals of 20 px and more, 0–1: what is wrong, missing or too much
    /// counts against it (Levenshtein distance).
    pub accuracy: f64,
    /// By height of the capitals, px.
    pub by_height: BTreeMap<u32, OfHeight>,
    /// Texts read where there is none.
    pub invented: Vec<String>,
    /// Reading a picture with signs, and one without, ms.
    pub ms: [f64; 2],
}

/// Signs of one height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OfHeight {
    /// Signs.
    pub signs: usize,
    /// Those whose every character is right.
    pub exact: usize,
    /// Those whose spaces are, too.
    pub exact_with_spaces: usize,
    /// Characters.
    pub characters: usize,
    /// Insertions, deletions and substitutions; of a sign at most as many as it has characters.
    pub errors: usize,
}

#[derive(Deserialize)]
struct Still {
    file: String,
    signs: Vec<Sign>,
}

#[derive(Deserialize)]
struct Sign {
    text: String,
    quad: [[f32; 2]; 4],
    height_px: u32,
}

impl Sign {
    /// Whether a point lies inside its corners, which go round.
    fn holds(&self, p: Point) -> bool {
        let side = |k: usize| {
            let ([ax, ay], [bx, by]) = (self.quad[k], self.quad[(k + 1) % 4]);
            (bx - ax) * (p.y - ay) - (by - ay) * (p.x - ax)
        };
        (0..4).all(|k| side(k) >= 0.0) || (0..4).all(|k| side(k) <= 0.0)
    }
}

/// Characters that count.
fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Reads every picture of the folder with the configured set's networks.
///
/// # Errors
/// When there are no labels, or a file or a network cannot be read.
pub fn measure(config: &Config, dir: &Path) -> Result<TextScores, BenchError> {
    let set = PerceiverSet::choose(config, &catalogue(config)?)?;
    let Some(mut reader) = set.text_reader()? else {
        return Err(BenchError::NoModel { job: "words in view", reasons: set.degraded.join("; ") });
    };
    let labels = dir.join("labels.json");
    let form = |path: &Path, reason: String| BenchError::Form { path: path.to_owned(), reason };
    let stills: Vec<Still> = serde_json::from_str(&read_text(&labels)?)
        .map_err(|error| form(&labels, error.to_string()))?;
    let mut scores = TextScores::default();
    let (mut taken, mut count) = ([0.0, 0.0], [0_u32, 0]);
    for still in stills {
        let path = dir.join(&still.file);
        let picture = image::open(&path).map_err(|error| form(&path, error.to_string()))?.to_rgb8();
        let begun = Instant::now();
        let found = reader.read(&picture).map_err(crate::perceive::PerceiveError::from)?;
        let kind = usize::from(still.signs.is_empty());
        taken[kind] += begun.elapsed().as_secs_f64() * 1e3;
        count[kind] += 1;
        let mut readings = vec![Vec::new(); still.signs.len()];
        for block in found {
            match still.signs.iter().position(|sign| sign.holds(block.bbox.centre())) {
                Some(sign) => readings[sign].push(block.text),
                None => scores.invented.push(format!("{}: {}", still.file, block.text)),
            }
        }
        for (sign, reading) in still.signs.iter().zip(readings) {
            let (said, meant) = (reading.join(" "), &sign.text);
            let of_height = scores.by_height.entry(sign.height_px).or_default();
            let characters = letters(meant).chars().count();
            let errors = strsim::levenshtein(&letters(&said), &letters(meant));
            of_height.signs += 1;
            of_height.exact += usize::from(errors == 0);
            of_height.exact_with_spaces += usize::from(said.eq_ignore_ascii_case(meant));
            of_height.characters += characters;
            of_height.errors += errors.min(characters);
        }
        scores.pictures += 1;
    }
    let large = scores.by_height.range(LEAST_HEIGHT_PX..);
    let sums = large.fold((0, 0), |(all, wrong), (_, of)| (all + of.characters, wrong + of.errors));
    if sums.0 == 0 {
        let reason = format!("labels.json names no sign of {LEAST_HEIGHT_PX} px and more");
        return Err(BenchError::TooLittle { path: dir.to_owned(), reason });
    }
    scores.accuracy = 1.0 - sums.1 as f64 / sums.0 as f64;
    scores.ms = [0, 1].map(|kind| taken[kind] / f64::from(count[kind].max(1)));
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_belongs_to_the_sign_that_it_lies_in() {
        let quad = [[10.0, 10.0], [50.0, 20.0], [48.0, 40.0], [8.0, 30.0]];
        let sign = Sign { text: "Exit".to_owned(), quad, height_px: 20 };
        assert!(sign.holds(Point { x: 30.0, y: 25.0 }));
        assert!(!sign.holds(Point { x: 30.0, y: 12.0 }) && !sign.holds(Point { x: 60.0, y: 30.0 }));
        assert_eq!(letters("Push to OPEN"), "pushtoopen");
    }
}
