//! What a line of text says: a network that reads a line column by column, decoded by connectionist temporal
//! classification (Graves et al. 2006): of each column the likeliest character, repeats and blanks left out.

use std::path::Path;

use image::RgbImage;
use ndarray::{Array4, ArrayView2, Axis};

use super::rectify::Crop;
use super::{Quad, TextError};
use crate::runtime::onnx::{self, Device, Session};

/// Height of the network's input, px; its widths are as wide as the line is, within these.
const HEIGHT: usize = 48;
const LEAST_WIDTH: usize = 64;
const MOST_WIDTH: usize = 2048;
/// The network's blank.
const BLANK: usize = 0;
/// Probability of a space between two characters, in any column, from which there is one. The network, trained mostly on
/// Chinese, seldom finds it the likeliest; measured on the set `tune` of `benches/text/stills.py`.
const SPACE: f32 = 0.01;
/// Where full-width forms of ASCII lie in Unicode, and their distance from it.
const FULL_WIDTH: std::ops::RangeInclusive<char> = '\u{ff01}'..='\u{ff5e}';
const FULL_WIDTH_SHIFT: u32 = 0xfee0;

/// Reads lines of text.
pub trait TextRecognizer: Send {
    /// What the line says, and how sure that is (0–1); empty where it says nothing. The same line gives the same words, bit for
    /// bit.
    ///
    /// # Errors
    /// When the model cannot run or gives outputs of unexpected shape.
    fn read(&mut self, picture: &RgbImage, line: Quad) -> Result<(String, f32), TextError>;
}

/// A network `[1,3,48,W]` (blue first, -1..1) → `[1,W/8,C]` probabilities, whose alphabet is written in it under `character`,
/// a character a line; blank before them, a space after them.
pub struct CtcRecognizer {
    session: Session,
    input: String,
    output: String,
    /// By class; the blank's is empty.
    alphabet: Vec<String>,
}

impl CtcRecognizer {
    /// Opens the model and runs it once on grey, so that a file of another kind is refused at once.
    ///
    /// # Errors
    /// When the file is absent, or another model.
    pub fn open(path: &Path, threads: usize, device: Device) -> Result<Self, TextError> {
        let session = onnx::open_of_any_size(path, threads, device)?;
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let ([(input, _)], [(output, _), ..]) = (inputs.as_slice(), outputs.as_slice()) else {
            return Err(misfit(&session, format!("it has {} inputs", inputs.len())));
        };
        let characters = session
            .metadata("character")
            .ok_or_else(|| misfit(&session, "it has no alphabet in it".to_owned()))?;
        let mut alphabet = vec![String::new()];
        alphabet.extend(characters.lines().map(as_ascii));
        alphabet.push(" ".to_owned());
        let (input, output) = (input.clone(), output.clone());
        let mut recognizer = Self { session, input, output, alphabet };
        recognizer.run(&Array4::zeros((1, 3, HEIGHT, LEAST_WIDTH)))?;
        Ok(recognizer)
    }

    fn run(&mut self, tensor: &Array4<f32>) -> Result<(String, f32), TextError> {
        let [output] =
            self.session.run(&[(&self.input, tensor.view().into())], [self.output.as_str()])?;
        let found = output.shape().to_vec();
        let classes = self.alphabet.len();
        if found.len() != 3 || found[0] != 1 || found[2] != classes {
            let reason = format!("its output is {found:?} instead of [1,T,{classes}]");
            return Err(misfit(&self.session, reason));
        }
        let columns = output.len_of(Axis(1));
        let columns = output.into_shape_with_order((columns, classes));
        let columns = columns.map_err(|error| misfit(&self.session, error.to_string()))?;
        Ok(decode(columns.view(), &self.alphabet))
    }
}

fn misfit(session: &Session, reason: String) -> TextError {
    TextError::Model { model: session.model().to_owned(), job: "text recognizer", reason }
}

/// A character of the alphabet; full-width forms of ASCII as ASCII.
fn as_ascii(character: &str) -> String {
    let narrow = |c: char| match FULL_WIDTH.contains(&c) {
        true => char::from_u32(u32::from(c) - FULL_WIDTH_SHIFT).unwrap_or(c),
        false => c,
    };
    character.chars().map(narrow).collect()
}

impl TextRecognizer for CtcRecognizer {
    fn read(&mut self, picture: &RgbImage, line: Quad) -> Result<(String, f32), TextError> {
        let crop = Crop::of(line);
        let width = crop.width_at(HEIGHT).min(MOST_WIDTH);
        // What the line does not cover stays as the network's makers pad it: 0.
        let mut tensor = Array4::zeros((1, 3, HEIGHT, width.max(LEAST_WIDTH)));
        crop.fill(picture, tensor.slice_mut(ndarray::s![0, .., .., ..width]));
        self.run(&tensor)
    }
}

/// The characters of `[columns, classes]` and their mean probability; the last class is the space.
fn decode(columns: ArrayView2<'_, f32>, alphabet: &[String]) -> (String, f32) {
    let space = alphabet.len() - 1;
    let (mut text, mut sum, mut count) = (String::new(), 0.0_f32, 0_u32);
    let mut last = BLANK;
    let mut may_part = 0.0_f32;
    for column in columns.axis_iter(Axis(0)) {
        let mut best = (BLANK, f32::NEG_INFINITY);
        for (class, probability) in column.iter().enumerate() {
            if *probability > best.1 {
                best = (class, *probability);
            }
        }
        let (class, probability) = best;
        if class != BLANK && class != last {
            if class != space && may_part > SPACE && !text.is_empty() && !text.ends_with(' ') {
                text.push(' ');
            }
            text.push_str(&alphabet[class]);
            sum += probability;
            count += 1;
            may_part = 0.0;
        } else {
            may_part = may_part.max(column[space]);
        }
        last = class;
    }
    (text.trim().to_owned(), if count > 0 { sum / count as f32 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    /// Columns in which the likeliest class has .9, and the space may have some.
    fn columns(classes: &[(usize, f32)]) -> Array2<f32> {
        let mut columns = Array2::zeros((classes.len(), 4));
        for (at, (class, space)) in classes.iter().enumerate() {
            columns[[at, 3]] = *space;
            columns[[at, *class]] = 0.9;
        }
        columns
    }

    #[test]
    fn repeats_and_blanks_are_left_out_and_likely_spaces_are_kept() {
        let alphabet = ["", "a", "b", " "].map(str::to_owned);
        let read = |classes: &[(usize, f32)]| decode(columns(classes).view(), &alphabet).0;
        assert_eq!(read(&[(0, 0.0), (1, 0.0), (1, 0.0), (0, 0.0), (1, 0.0), (2, 0.0)]), "aab");
        assert_eq!(read(&[(1, 0.0), (0, 0.2), (2, 0.0)]), "a b");
        assert_eq!(read(&[(1, 0.0), (0, 0.001), (2, 0.0)]), "ab");
        assert_eq!(read(&[(1, 0.0), (0, 0.2), (3, 0.9), (0, 0.3), (2, 0.0)]), "a b", "one space");
        assert_eq!(read(&[(0, 0.5), (1, 0.0), (0, 0.5)]), "a", "none at the ends");
        assert_eq!(read(&[]), "");
        let (_, confidence) = decode(columns(&[(1, 0.0), (2, 0.0)]).view(), &alphabet);
        assert!((confidence - 0.9).abs() < 1e-6);
        assert_eq!(as_ascii("："), ":");
    }
}
