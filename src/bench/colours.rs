//! Names of colours against labelled crops: `bench colours`.
//!
//! `labels.json` beside the pictures says what is in each, as `benches/colours/crops.py` writes it:
//! `[{"file","half","kind","box":[x,y,w,h],"colours":[..]}]`. A name that is told is right if all its colours are among those that are
//! right for the crop. One look is asked: what is settled over a track is surer.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::BenchError;
use super::error::read_text;
use crate::geometry::Rect;
use crate::perceive::colour::{Light, of_clothes, of_thing};

/// `bench colours`, by half of the crops.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ColourScores(BTreeMap<String, OfHalf>);

/// Crops of one half.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OfHalf {
    /// Crops.
    pub crops: usize,
    /// Those that were given a name.
    pub named: usize,
    /// Those whose name is right.
    pub right: usize,
    /// Share of the named ones that are right, 0–1.
    pub precision: f64,
    /// Share of all that are rightly named, 0–1.
    pub recall: f64,
    /// Naming one crop, its picture's light included, ms on average.
    pub ms: f64,
    /// What is wrong: the file, and what it was called.
    pub wrong: Vec<String>,
}

#[derive(Deserialize)]
struct Crop {
    file: String,
    half: String,
    kind: String,
    #[serde(rename = "box")]
    bbox: [f32; 4],
    colours: Vec<String>,
}

/// Names the colour of every crop of the folder.
///
/// # Errors
/// When there are no labels, or a picture cannot be read.
pub fn measure(dir: &Path) -> Result<ColourScores, BenchError> {
    let labels = dir.join("labels.json");
    let form = |path: &Path, reason: String| BenchError::Form { path: path.to_owned(), reason };
    let crops: Vec<Crop> = serde_json::from_str(&read_text(&labels)?)
        .map_err(|error| form(&labels, error.to_string()))?;
    let mut scores = ColourScores::default();
    for crop in crops {
        let path = dir.join(&crop.file);
        let picture = image::open(&path).map_err(|error| form(&path, error.to_string()))?.to_rgb8();
        let [x, y, w, h] = crop.bbox;
        let bbox = Rect { x, y, w, h };
        let begun = Instant::now();
        let light = Light::of(&picture);
        let named = match crop.kind.as_str() {
            "body" => of_clothes(&picture, bbox, &light),
            _ => of_thing(&picture, bbox, &light),
        };
        let half = scores.0.entry(crop.half).or_default();
        half.ms += begun.elapsed().as_secs_f64() * 1e3;
        half.crops += 1;
        let Some(named) = named else { continue };
        half.named += 1;
        let is_right = |word: &str| crop.colours.iter().any(|right| right == word);
        if named.colours.each().all(|colour| is_right(colour.word())) {
            half.right += 1;
        } else {
            half.wrong.push(format!("{}: {}", crop.file, named.colours));
        }
    }
    for half in scores.0.values_mut() {
        half.precision = half.right as f64 / half.named.max(1) as f64;
        half.recall = half.right as f64 / half.crops.max(1) as f64;
        half.ms /= half.crops.max(1) as f64;
    }
    Ok(scores)
}
