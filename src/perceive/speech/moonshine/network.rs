//! Encoder and decoder: sound to tokens, greedily, with the decoder's caches left where ONNX Runtime has them.

use ndarray::{Array2, Array4, ArrayView1, Axis};

use super::files::Files;
use crate::runtime::onnx::{self, Device, Held, RuntimeError, Session, Tensor};

/// Threads inside one call: a constant, because it decides the last bits of the result.
const INTRA_OP_THREADS: usize = 1;
/// Marks the beginning of a text.
const START: i64 = 1;
/// Marks its end.
const END: usize = 2;
/// Layers of the decoder.
const LAYERS: usize = 8;
/// Heads of a layer, and values of a head.
const HEADS: (usize, usize) = (8, 52);
/// Shorter sound is too little for the encoder's filters, samples.
pub(super) const MIN_SAMPLES: usize = 2_000;

/// A token that was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// Which.
    pub(super) id: usize,
    /// Natural logarithm of its probability, 0 and less.
    pub(super) log_prob: f32,
}

/// What was written of a sound.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoded {
    /// The tokens, without the marks.
    pub(super) tokens: Vec<Token>,
    /// `[tokens, S]`: where in the sound each token is, S stretches of equal length; a row sums up to 1.
    pub(super) attention: Vec<Vec<f32>>,
    /// Natural logarithm of the end's probability; `None`: the network had to be stopped.
    pub(super) end_log_prob: Option<f32>,
}

impl Decoded {
    /// Keeps the first tokens.
    pub(super) fn truncate(&mut self, tokens: usize) {
        self.tokens.truncate(tokens);
        self.attention.truncate(tokens);
    }

    /// Mean of the logarithms of all tokens' probabilities, the end's among them.
    pub(super) fn mean_log_prob(&self) -> f32 {
        let all = self.tokens.iter().map(|token| token.log_prob).chain(self.end_log_prob);
        let (sum, count) = all.fold((0.0, 0_u16), |(sum, count), one| (sum + one, count + 1));
        sum / f32::from(count.max(1))
    }
}

/// The two networks.
pub(super) struct Network {
    encoder: Session,
    decoder: Session,
    cross: Vec<String>,
    past: Vec<String>,
    present: Vec<String>,
}

impl Network {
    pub(super) fn open(files: &Files, device: Device) -> Result<Self, RuntimeError> {
        let device = onnx::for_changing_shapes(device);
        let names = |of: &str| -> Vec<String> {
            (0..LAYERS).flat_map(|n| [format!("{of}.{n}.key"), format!("{of}.{n}.value")]).collect()
        };
        Ok(Self {
            encoder: onnx::open(&files.encoder, INTRA_OP_THREADS, device)?,
            decoder: onnx::open(&files.decoder, INTRA_OP_THREADS, device)?,
            cross: names("cross"),
            past: names("past"),
            present: names("present"),
        })
    }

    /// Writes what is said in `sound`, 16 kHz mono in [-1, 1], [`MIN_SAMPLES`] and more: the likeliest token each time,
    /// at most `most`, and no further than `goes_on` allows.
    pub(super) fn decode(
        &mut self,
        sound: &[f32],
        most: usize,
        goes_on: impl Fn(&[Token]) -> bool,
    ) -> Result<Decoded, RuntimeError> {
        let sound = ArrayView1::from(sound).insert_axis(Axis(0));
        let outputs: Vec<&str> = self.cross.iter().map(String::as_str).collect();
        let cross = self.encoder.run_held(&[("sound", sound.into())], &outputs)?;
        let mut outputs: Vec<&str> = vec!["logits", "attention"];
        outputs.extend(self.present.iter().map(String::as_str));
        let nothing = Array4::<f32>::zeros((1, HEADS.0, 0, HEADS.1));
        let mut past: Vec<Held> = Vec::new();
        let mut decoded = Decoded::default();
        let mut last = START;
        while decoded.tokens.len() < most {
            let token = Array2::from_elem((1, 1), last);
            let mut inputs: Vec<(&str, Tensor<'_>)> = vec![("token", token.view().into())];
            inputs.extend(self.cross.iter().zip(&cross).map(|(name, held)| (&**name, held.into())));
            for (n, name) in self.past.iter().enumerate() {
                let held = past.get(n).map_or_else(|| nothing.view().into(), Tensor::from);
                inputs.push((name.as_str(), held));
            }
            let mut found = self.decoder.run_held(&inputs, &outputs)?.into_iter();
            let (Some(logits), Some(attention)) = (found.next(), found.next()) else { break };
            drop(inputs);
            past = found.collect();
            let Some(token) = likeliest(logits.values()?.iter().copied()) else { break };
            if token.id == END {
                decoded.end_log_prob = Some(token.log_prob);
                break;
            }
            last = i64::try_from(token.id).unwrap_or(START);
            decoded.tokens.push(token);
            decoded.attention.push(attention.values()?.iter().copied().collect());
            if !goes_on(&decoded.tokens) {
                break;
            }
        }
        Ok(decoded)
    }
}

/// The greatest of the logits, the first of equal ones, and its log probability.
fn likeliest(logits: impl Iterator<Item = f32> + Clone) -> Option<Token> {
    let (id, greatest) = logits.clone().enumerate().fold(None, |best, (id, logit)| match best {
        Some((_, greatest)) if logit <= greatest => best,
        _ => Some((id, logit)),
    })?;
    let sum: f64 = logits.map(|logit| f64::from(logit - greatest).exp()).sum();
    Some(Token { id, log_prob: -(sum.ln() as f32) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_token_has_its_share_of_all() {
        let logits = [0.0, 1.0, 1.0, -3.0_f32];
        let token = likeliest(logits.into_iter()).unwrap();
        let all: f32 = logits.iter().map(|logit| logit.exp()).sum();
        assert_eq!(token.id, 1);
        assert!((token.log_prob - (1.0_f32.exp() / all).ln()).abs() < 1e-6);
        assert!(likeliest(std::iter::empty()).is_none());
    }
}
