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

    /// Of inputs one behind the other as many vectors of [`WIDTH`]. Each row of weights meets all inputs before the next
    /// is read: the weights are larger than the caches.
    fn run(&self, inputs: &[f32], out: &mut [f32]) {
        let units = self.weights.chunks_exact(PIECES * self.inputs);
        for (unit, (weights, bias)) in units.zip(self.bias.chunks_exact(PIECES)).enumerate() {
            for (input, out) in inputs.chunks_exact(self.inputs).zip(out.chunks_exact_mut(WIDTH)) {
                out[unit] = weights
                    .chunks_exact(self.inputs)
                    .zip(bias)
                    .map(|(row, bias)| dot(row, input) + bias)
                    .fold(f32::NEG_INFINITY, f32::max);
            }
        }
        for out in out.chunks_exact_mut(WIDTH) {
            self.norm(out);
        }
    }

    fn norm(&self, out: &mut [f32]) {
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
    /// What the first convolution makes of an empty row among empty rows.
    far: Vec<f32>,
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
        let mut far = vec![0_f32; WIDTH];
        convolutions[0].run(&[0.0; 3 * WIDTH], &mut far);
        Ok(Self { tables, mix, convolutions, far })
    }

    /// One vector of [`WIDTH`] a token, one behind the other.
    #[must_use]
    pub fn vectors(&self, tokens: &[Token]) -> Vec<f32> {
        let mut inputs = vec![0_f32; tokens.len() * ROWS.len() * WIDTH];
        for (token, input) in tokens.iter().zip(inputs.chunks_exact_mut(ROWS.len() * WIDTH)) {
            self.embed(token, input);
        }
        // The published network runs over four empty rows at either end, and what becomes of them reaches the words: of
        // the rows that the next convolution looks at, those that are farther from the words than the convolutions so far
        // reach are alike.
        let count = tokens.len() + 2 * DEPTH;
        let mut rows = vec![0_f32; count * WIDTH];
        self.mix.run(&inputs, &mut rows[DEPTH * WIDTH..(count - DEPTH) * WIDTH]);
        let mut windows = Vec::new();
        let mut next = vec![0_f32; count * WIDTH];
        for (depth, layer) in self.convolutions.iter().enumerate() {
            // Rows that are looked at later, and of these those that words have reached.
            let reached = (depth + 1).min(DEPTH - 1 - depth);
            let from = DEPTH - reached;
            let some = from..count - from;
            windows.clear();
            for row in some.clone() {
                windows.extend_from_slice(&rows[(row - 1) * WIDTH..(row + 2) * WIDTH]);
            }
            layer.run(&windows, &mut next[from * WIDTH..some.end * WIDTH]);
            for (row, more) in
                rows[from * WIDTH..some.end * WIDTH].iter_mut().zip(&next[from * WIDTH..])
            {
                *row += more;
            }
            if depth == 0 {
                for row in (0..from).chain(some.end..count) {
                    let far = &mut rows[row * WIDTH..(row + 1) * WIDTH];
                    far.iter_mut().zip(&self.far).for_each(|(x, more)| *x += more);
                }
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
