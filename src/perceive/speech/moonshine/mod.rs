//! Moonshine base: English words by a small encoder and decoder in ONNX Runtime.
//!
//! N. Jeffries et al., "Moonshine: Speech Recognition for Live Transcription and Voice Commands", 2024. What it costs
//! grows with the length of what is said. A turn is cut into pieces at its pauses ([`cut`]), each is written greedily
//! ([`network`]), guarded against what nobody said ([`guard`]), and its tokens get times from the decoder's attention
//! ([`times`]). The same sound gives the same words, whatever came before it.

mod cut;
mod files;
#[cfg(test)]
mod golden;
mod guard;
mod network;
mod times;
mod tokens;

pub use files::Files;

use files::{ENGINE, setting};
use network::{Decoded, MIN_SAMPLES, Network};
use tokens::Tokens;

use super::pieces::Pieces;
use super::{TranscribeError, Transcriber};
use crate::media::SAMPLE_RATE;
use crate::percept::{Transcript, Word};
use crate::runtime::onnx::{Device, RuntimeError};
use crate::time::{Span, Timestamp};

/// How many pieces the table has; the network has room for 32,768.
const PIECES: usize = 32_000;
/// Shorter sound is looked at again, in silence, where the network was not sure of it, seconds.
const SHORT_SECS: f64 = 2.5;
/// So much silence before and after it, seconds.
const FRAME_SECS: f64 = 0.25;

/// The recogniser.
pub struct Moonshine {
    network: Network,
    tokens: Tokens,
}

impl Moonshine {
    /// Loads both networks, on `device` where it can be used, and the tokenizer's table.
    ///
    /// # Errors
    /// [`TranscribeError::Setting`] for a file that is no tokenizer's table, [`TranscribeError::Model`] for one that is no
    /// network.
    pub fn open(files: &Files, device: Device) -> Result<Self, TranscribeError> {
        let tokens = Tokens::read(&files.tokenizer)?;
        if tokens.len() != PIECES {
            let path = files.tokenizer.display();
            return Err(setting(format!("{path}: {} tokens, not {PIECES}", tokens.len())));
        }
        Ok(Self { network: Network::open(files, device)?, tokens })
    }

    /// What is said in a piece that is short enough.
    fn piece(&mut self, sound: &[f32]) -> Result<Piece, RuntimeError> {
        let plain = self.written(sound, 0)?;
        if secs(sound.len()) >= SHORT_SECS || !guard::is_unsure(&plain.decoded) {
            return Ok(plain);
        }
        let framed = self.written(sound, (FRAME_SECS * f64::from(SAMPLE_RATE)) as usize)?;
        let score = |piece: &Piece| {
            let Decoded { tokens, end_log_prob, .. } = &piece.decoded;
            (!tokens.is_empty(), end_log_prob.is_some(), piece.decoded.mean_log_prob())
        };
        Ok(if score(&framed) > score(&plain) { framed } else { plain })
    }

    /// What is said in a sound with so many samples of silence before and after it.
    fn written(&mut self, sound: &[f32], silence: usize) -> Result<Piece, RuntimeError> {
        let mut heard = vec![0.0; silence];
        heard.extend_from_slice(sound);
        heard.resize((heard.len() + silence).max(MIN_SAMPLES), 0.0);
        let most = guard::most_tokens(sound.len());
        let goes_on = |tokens: &[network::Token]| guard::looped(tokens).is_none();
        let decoded = guard::guarded(self.network.decode(&heard, most, goes_on)?);
        Ok(Piece {
            decoded,
            before: secs(silence),
            heard: secs(heard.len()),
            secs: secs(sound.len()),
        })
    }
}

/// What was written of a piece.
struct Piece {
    decoded: Decoded,
    /// Silence that was put before it, seconds.
    before: f64,
    /// How long it was with all silence, seconds.
    heard: f64,
    /// How long it is, seconds.
    secs: f64,
}

impl Piece {
    /// Text and words, for a piece that began at `start`.
    fn words(&self, tokens: &Tokens, start: Timestamp) -> (String, Vec<Word>) {
        let Decoded { tokens: written, attention, .. } = &self.decoded;
        let frames = attention.first().map_or(1, Vec::len).max(1);
        let at = |frame: usize| {
            let secs = self.heard * frame as f64 / frames as f64 - self.before;
            start.plus_secs(secs.clamp(0.0, self.secs))
        };
        let (mut text, mut pieces) = (Vec::new(), Pieces::default());
        for (token, (first, end)) in written.iter().zip(times::align(attention)) {
            let bytes = tokens.piece(token.id);
            pieces.add(&bytes, Span::new(at(first), at(end)), token.log_prob.exp());
            text.extend_from_slice(&bytes);
        }
        (String::from_utf8_lossy(&text).trim().to_owned(), pieces.words())
    }
}

impl Transcriber for Moonshine {
    fn transcribe(
        &mut self,
        sound: &[f32],
        start: Timestamp,
    ) -> Result<Transcript, TranscribeError> {
        let (mut texts, mut all) = (Vec::new(), Vec::new());
        for part in cut::pieces(sound) {
            if part.is_empty() {
                continue;
            }
            let start = start.plus_secs(secs(part.start));
            let (text, words) = self.piece(&sound[part])?.words(&self.tokens, start);
            texts.extend((!text.is_empty()).then_some(text));
            all.extend(words);
        }
        let language = Some("en".to_owned());
        Ok(Transcript { text: texts.join(" "), words: all, language, engine: ENGINE.to_owned() })
    }

    fn name(&self) -> &str {
        ENGINE
    }
}

fn secs(samples: usize) -> f64 {
    samples as f64 / f64::from(SAMPLE_RATE)
}
