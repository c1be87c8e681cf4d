//! Words to vectors: hash embeddings of what a word looks like, and four convolutions over its neighbours.

use super::hash;
use super::tokenizer::Token;
use super::weights::{Layers, WeightsError};

/// Numbers of a word's vector.
pub const WIDTH: usize = 96;
/// Linear pieces of a unit, of which the highest counts.
const PIECES: usize = 3;
/// Rows of each table: norm, first letter, last three, shape, whether a space stands behind, whether it is one.
const ROWS: [usize; 6] = [5000, 1000, 2500, 2500, 50, 50];
/// Seed of the first table's hash; each further one's is one higher.
const SEED: u32 = 8;
/// Convolutions, each over a word and its two neighbours.
const DEPTH: usize = 4;

/// `WIDTH` maxout units and a layer norm.
#[derive(Debug)]
struct Maxout {
    inputs: usize,
    /// `[WIDTH, PIECES, inputs]`
    weights: Vec<f32>,
    /// `[WIDTH, PIECES]`
    bias: Vec<f32>,
    gain: Vec<f32>,
    shift: Vec<f32>,
}

impl Maxout {
    fn read(layers: &mut Layers, inputs: usize) -> Result<Self, WeightsError> {
        let [weights, bias] =
            layers.next([("W", &[WIDTH, PIECES, inputs]), ("b", &[WIDTH, PIECES])])?;
        Ok(Self { inputs, weights, bias, gain: Vec::new(), shift: Vec::new() })
    }

    fn read_norm(&mut self, layers: &mut Layers) -> Result<(), WeightsError> {
        [self.gain, self.shift] = layers.next([("G", &[WIDTH]), ("b", &[WIDTH])])?;
        Ok(())
    }

    fn run(&self, input: &[f32], out: &mut [f32]) {
        for ((unit, weights), bias) in out
            .iter_mut()
            .zip(self.weights.chunks_exact(PIECES * self.inputs))
            .zip(self.bias.chunks_exact(PIECES))
        {
            *unit = weights
                .chunks_exact(self.inputs)
                .zip(bias)
                .map(|(row, bias)| dot(row, input) + bias)
                .fold(f32::NEG_INFINITY, f32::max);
        }
        let count = out.len() as f32;
        let mean = out.iter().sum::<f32>() / count;
        let variance = out.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count + 1e-8;
        let scale = variance.sqrt().recip();
        for ((x, gain), shift) in out.iter_mut().zip(&self.gain).zip(&self.shift) {
            *x = (*x - mean) * scale * gain + shift;
        }
    }
}

/// Inner product, in eight lanes: always the same order of additions, whatever the machine.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0_f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// The embedding and the convolutions.
#[derive(Debug)]
pub struct Network {
    tables: Vec<Vec<f32>>,
    mix: Maxout,
    convolutions: Vec<Maxout>,
}

impl Network {
    /// From the bytes of `tok2vec/model`.
    ///
    /// # Errors
    /// They are no model of this shape.
    pub fn read(bytes: &[u8]) -> Result<Self, WeightsError> {
        let mut layers = Layers::read("tok2vec/model", bytes)?;
        let mut tables = Vec::with_capacity(ROWS.len());
        for rows in ROWS {
            let [table] = layers.next([("E", &[rows, WIDTH])])?;
            tables.push(table);
        }
        let mut mix = Maxout::read(&mut layers, ROWS.len() * WIDTH)?;
        mix.read_norm(&mut layers)?;
        let mut convolutions = Vec::with_capacity(DEPTH);
        for _ in 0..DEPTH {
            let mut layer = Maxout::read(&mut layers, 3 * WIDTH)?;
            layer.read_norm(&mut layers)?;
            convolutions.push(layer);
        }
        Ok(Self { tables, mix, convolutions })
    }

    /// One vector of [`WIDTH`] a token, one behind the other.
    #[must_use]
    pub fn vectors(&self, tokens: &[Token]) -> Vec<f32> {
        // The published network runs over four empty rows at either end, and what becomes of them reaches the words.
        let count = tokens.len() + 2 * DEPTH;
        let mut rows = vec![0_f32; count * WIDTH];
        let mut input = vec![0_f32; ROWS.len() * WIDTH];
        for (token, row) in tokens.iter().zip(rows[DEPTH * WIDTH..].chunks_exact_mut(WIDTH)) {
            self.embed(token, &mut input);
            self.mix.run(&input, row);
        }
        let mut next = vec![0_f32; count * WIDTH];
        let mut window = vec![0_f32; 3 * WIDTH];
        for layer in &self.convolutions {
            for i in 0..count {
                window.fill(0.0);
                let from = i.saturating_sub(1);
                let to = (i + 2).min(count);
                let at = (from + 1 - i) * WIDTH;
                window[at..at + (to - from) * WIDTH]
                    .copy_from_slice(&rows[from * WIDTH..to * WIDTH]);
                layer.run(&window, &mut next[i * WIDTH..(i + 1) * WIDTH]);
            }
            for (row, more) in rows.iter_mut().zip(&next) {
                *row += more;
            }
        }
        rows.truncate((count - DEPTH) * WIDTH);
        rows.drain(..DEPTH * WIDTH);
        rows
    }

    fn embed(&self, token: &Token, input: &mut [f32]) {
        let numbers = [
            hash::of_string(&token.norm),
            hash::of_string(&token.form.chars().take(1).collect::<String>()),
            hash::of_string(last_three(&token.form)),
            hash::of_string(&shape(&token.form)),
            u64::from(token.space),
            u64::from(token.form.chars().all(char::is_whitespace)),
        ];
        for ((((number, seed), table), rows), out) in numbers
            .into_iter()
            .zip(SEED..)
            .zip(&self.tables)
            .zip(ROWS)
            .zip(input.chunks_exact_mut(WIDTH))
        {
            out.fill(0.0);
            for key in hash::rows(number, seed) {
                let row = key as usize % rows * WIDTH;
                for (x, more) in out.iter_mut().zip(&table[row..row + WIDTH]) {
                    *x += more;
                }
            }
        }
    }
}

fn last_three(form: &str) -> &str {
    form.char_indices().rev().nth(2).map_or(form, |(at, _)| &form[at..])
}

/// `Xxxx` of "Nora", `dd:dd` of "10:15": letters by case, digits, and never more than four of a kind.
fn shape(form: &str) -> String {
    if form.chars().count() >= 100 {
        return "LONG".to_owned();
    }
    let (mut out, mut last, mut run) = (String::new(), None, 0);
    for letter in form.chars() {
        let kind = match letter {
            _ if letter.is_alphabetic() && letter.is_uppercase() => 'X',
            _ if letter.is_alphabetic() => 'x',
            _ if letter.is_numeric() => 'd',
            _ => letter,
        };
        run = if last == Some(kind) { run + 1 } else { 0 };
        last = Some(kind);
        if run < 4 {
            out.push(kind);
        }
    }
    out
}
