//! all-MiniLM-L6-v2 through ONNX Runtime: word pieces in, 384 numbers out, one text per run.
//!
//! A batch would change the last bits of its members (dynamic int8 scales depend on all of them), so every
//! text runs alone; several sessions stand ready so that concurrent questions do not wait for one lock.

use std::path::Path;

use crossbeam_channel::{Receiver, Sender, bounded};
use ndarray::Array2;
use sha2::{Digest, Sha256};
use tokenizers::{Tokenizer, TruncationParams};

use super::{TextEmbedder, TextError};
use crate::ids::ModelHash;
use crate::percept::Embedding;
use crate::runtime::onnx::{self, Device, Session, Tensor};

/// Word pieces that are looked at; the model was trained on 256.
const MAX_TOKENS: usize = 256;
/// Bytes beyond which nothing can fall within [`MAX_TOKENS`] word pieces in any ordinary text.
const MAX_BYTES: usize = 16_384;
/// Intra-op threads: a constant, for equal bits on every machine.
const THREADS: usize = 1;

/// The embedder. Input `input_ids`, `attention_mask`: i64 `[1, T]`; output `embedding`: f32 `[1, 384]`, mean over
/// tokens, L2-normalised (Reimers & Gurevych, arXiv 1908.10084).
pub struct MiniLm {
    tokenizer: Tokenizer,
    idle: Receiver<Session>,
    back: Sender<Session>,
    model: ModelHash,
    dimensions: usize,
}

impl std::fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MiniLm").field("model", &self.model).finish_non_exhaustive()
    }
}

/// A session on loan; goes back to the idle ones even when a run panics.
struct Loan<'a> {
    session: Option<Session>,
    back: &'a Sender<Session>,
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            // Never full: it holds as many as there are.
            let _ = self.back.try_send(session);
        }
    }
}

impl MiniLm {
    /// Opens `model` (`minilm_l6_v2_int8.onnx` or `minilm_l6_v2.onnx`) with `tokenizer`
    /// (`minilm_tokenizer.json`) and `sessions` runs at a time (at least one).
    ///
    /// # Errors
    /// When a file is missing or is not what it should be.
    pub fn open(model: &Path, tokenizer: &Path, sessions: usize) -> Result<Self, TextError> {
        let tokenizer_bytes = read(tokenizer)?;
        let identity = Self::identity(model, tokenizer)?;
        let bad = |reason: String| TextError::File { path: tokenizer.to_owned(), reason };
        let mut words = Tokenizer::from_bytes(&tokenizer_bytes).map_err(|e| bad(e.to_string()))?;
        let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
        words.with_truncation(Some(truncation)).map_err(|e| bad(e.to_string()))?;
        words.with_padding(None);
        let sessions = sessions.max(1);
        let (back, idle) = bounded(sessions);
        for _ in 0..sessions {
            let session = onnx::open(model, THREADS, Device::Cpu)?;
            let _ = back.try_send(session);
        }
        let mut opened = Self { tokenizer: words, idle, back, model: identity, dimensions: 0 };
        opened.dimensions = opened.embed("")?.values.len();
        Ok(opened)
    }

    /// The identity of the model in these files: SHA-256 over both.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn identity(model: &Path, tokenizer: &Path) -> Result<ModelHash, TextError> {
        let mut hash = Sha256::new();
        for path in [model, tokenizer] {
            hash.update(read(path)?);
        }
        Ok(ModelHash(hash.finalize().into()))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TextError> {
    std::fs::read(path)
        .map_err(|e| TextError::File { path: path.to_owned(), reason: e.to_string() })
}

impl TextEmbedder for MiniLm {
    fn embed(&self, text: &str) -> Result<Embedding, TextError> {
        let head = &text[..text.floor_char_boundary(MAX_BYTES)];
        let pieces = self
            .tokenizer
            .encode_fast(head, true)
            .map_err(|e| TextError::Tokenize { bytes: head.len(), reason: e.to_string() })?;
        let wide = |values: &[u32]| values.iter().map(|v| i64::from(*v)).collect::<Vec<_>>();
        let shape = (1, pieces.len());
        let array = |values: Vec<i64>| {
            Array2::from_shape_vec(shape, values)
                .map_err(|e| TextError::Tokenize { bytes: head.len(), reason: e.to_string() })
        };
        let (ids, mask) =
            (array(wide(pieces.get_ids()))?, array(wide(pieces.get_attention_mask()))?);
        let session = self.idle.recv().ok();
        let mut loan = Loan { session, back: &self.back };
        let Some(session) = loan.session.as_mut() else {
            return Err(TextError::Tokenize {
                bytes: head.len(),
                reason: "no session of the sentence embedder is left".into(),
            });
        };
        let inputs: [(&str, Tensor<'_>); 2] =
            [("input_ids", ids.view().into()), ("attention_mask", mask.view().into())];
        let [output] = session.run(&inputs, ["embedding"])?;
        if output.ndim() != 2 || output.shape()[0] != 1 || output.is_empty() {
            let model = session.model().to_owned();
            return Err(TextError::Shape { model, shape: output.shape().to_vec() });
        }
        Ok(Embedding::normalised(output.iter().copied().collect(), self.model))
    }

    fn model(&self) -> Option<ModelHash> {
        Some(self.model)
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;

    fn models() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/models")
    }

    fn open(file: &str, sessions: usize) -> Option<MiniLm> {
        let (model, tokenizer) = (models().join(file), models().join("minilm_tokenizer.json"));
        if !model.is_file() || !tokenizer.is_file() {
            eprintln!("SKIPPED: {} is not there (make setup)", model.display());
            return None;
        }
        Some(MiniLm::open(&model, &tokenizer, sessions).unwrap())
    }

    #[test]
    fn like_sentences_are_near() {
        for file in ["minilm_l6_v2_int8.onnx", "minilm_l6_v2.onnx"] {
            let Some(embedder) = open(file, 1) else { return };
            assert_eq!(embedder.dimensions(), Some(384));
            let vector = |text: &str| embedder.embed(text).unwrap();
            let mug = vector("The red mug is on the kitchen table.");
            let near = mug.cosine(&vector("Where is my mug?")).unwrap();
            let far = mug.cosine(&vector("She sang a song about the sea.")).unwrap();
            assert!(near > far + 0.2, "{file}: {near} {far}");
        }
    }

    #[test]
    fn strange_texts_have_vectors() {
        let Some(embedder) = open("minilm_l6_v2_int8.onnx", 1) else { return };
        let long = "word ".repeat(1_000_000);
        for text in ["", " ", "\u{0}\u{7}", "😀😀", "\u{202e}سلام", &long] {
            let vector = embedder.embed(text).unwrap();
            assert!(vector.values.iter().all(|v| v.is_finite()), "{:.20}", text);
        }
    }

    #[test]
    fn concurrent_embeddings_have_equal_bits() {
        let Some(embedder) = open("minilm_l6_v2_int8.onnx", 2) else { return };
        let texts: Vec<String> = (0..16).map(|i| format!("Ava said number {i} to Ben.")).collect();
        let alone: Vec<_> = texts.iter().map(|t| embedder.embed(t).unwrap()).collect();
        let started = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for (text, expected) in texts.iter().zip(&alone) {
                        assert_eq!(&embedder.embed(text).unwrap(), expected);
                    }
                });
            }
        });
        let each = started.elapsed().as_secs_f64() * 1e3 / 128.0;
        eprintln!("embed: {each:.2} ms each with 8 threads on 2 sessions");
    }
}
