//! Windows that were embedded once are not embedded again.
//!
//! Looking for changes of voice inside a turn and hearing a clip again (`split`, `joint`) slide the same windows over
//! the same sound, seconds apart and on whichever worker is free. The vectors are those of the same network on the same
//! samples, so that nothing depends on whether they were still there.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::ids::ModelHash;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};
use crate::percept::Embedding;

/// Length of the windows that slide over speech, seconds.
pub(in crate::perceive::voice) const WINDOW_SECS: f64 = 1.2;
/// From one of them to the next, seconds.
pub(in crate::perceive::voice) const HOP_SECS: f64 = 0.2;
/// So many vectors are kept: three minutes of speech, some 1 kB each.
const MOST: usize = 1024;

/// Which windows of which sound, by which network.
type Key = (ModelHash, usize, usize, [u8; 32]);

/// Vectors of the sound that was heard last; shared by all workers.
#[derive(Debug, Default)]
pub struct EmbeddingCache(Mutex<VecDeque<(Key, Vec<Embedding>)>>);

impl EmbeddingCache {
    fn get(&self, key: &Key) -> Option<Vec<Embedding>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == key).map(|(_, vectors)| vectors.clone())
    }

    fn put(&self, key: Key, vectors: Vec<Embedding>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((key, vectors));
        while kept.len() > 1 && kept.iter().map(|(_, vectors)| vectors.len()).sum::<usize>() > MOST
        {
            kept.pop_front();
        }
    }
}

/// An embedder that looks first whether windows were embedded before.
pub struct CachedEmbedder {
    inner: Box<dyn SpeakerEmbedder>,
    heard: Arc<EmbeddingCache>,
}

impl CachedEmbedder {
    /// `inner`, with what all workers have heard.
    #[must_use]
    pub fn new(inner: Box<dyn SpeakerEmbedder>, heard: Arc<EmbeddingCache>) -> Self {
        Self { inner, heard }
    }
}

impl SpeakerEmbedder for CachedEmbedder {
    fn embed(&mut self, sound: &[f32]) -> Result<Embedding, VoiceError> {
        self.inner.embed(sound)
    }

    fn embed_equal(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        self.inner.embed_equal(sounds)
    }

    fn embed_all(&mut self, sounds: &[&[f32]]) -> Result<Vec<Embedding>, VoiceError> {
        self.inner.embed_all(sounds)
    }

    fn embed_windows(
        &mut self,
        sound: &[f32],
        window: usize,
        step: usize,
    ) -> Result<Vec<Embedding>, VoiceError> {
        let key = (self.inner.hash(), window, step, digest(sound));
        if let Some(vectors) = self.heard.get(&key) {
            return Ok(vectors);
        }
        let vectors = self.inner.embed_windows(sound, window, step)?;
        self.heard.put(key, vectors.clone());
        Ok(vectors)
    }

    fn embed_parts(
        &mut self,
        sound: &[f32],
        parts: &[Range<usize>],
    ) -> Result<Vec<Embedding>, VoiceError> {
        self.inner.embed_parts(sound, parts)
    }

    fn hears_parts_at_once(&self) -> bool {
        self.inner.hears_parts_at_once()
    }

    fn min_secs(&self) -> f64 {
        self.inner.min_secs()
    }

    fn hash(&self) -> ModelHash {
        self.inner.hash()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}

fn digest(sound: &[f32]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for samples in sound.chunks(1024) {
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        digest.update(&bytes);
    }
    digest.finalize().into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The number of windows asked of it so far is the vector.
    struct Counts(f32);

    impl SpeakerEmbedder for Counts {
        fn embed(&mut self, _: &[f32]) -> Result<Embedding, VoiceError> {
            self.0 += 1.0;
            Ok(Embedding { values: vec![self.0], model: self.hash() })
        }

        fn min_secs(&self) -> f64 {
            0.0
        }

        fn hash(&self) -> ModelHash {
            ModelHash([7; 32])
        }

        fn name(&self) -> &str {
            "counts"
        }
    }

    #[test]
    fn what_one_worker_heard_another_need_not_embed() {
        let heard = Arc::new(EmbeddingCache::default());
        let worker = || CachedEmbedder::new(Box::new(Counts(0.0)), Arc::clone(&heard));
        let (mut one, mut other) = (worker(), worker());
        let sound: Vec<f32> = (0..100).map(|n| n as f32).collect();
        let first = one.embed_windows(&sound, 10, 10).unwrap();
        assert_eq!(first.len(), 10);
        assert_eq!(other.embed_windows(&sound, 10, 10).unwrap(), first);
        assert_eq!(other.embed(&sound).unwrap().values, [1.0], "it embedded nothing before");
        for (changed, window, step) in
            [(&sound[1..], 10, 10), (&sound[..], 20, 10), (&sound, 10, 20)]
        {
            let vectors = other.embed_windows(changed, window, step).unwrap();
            assert!(vectors[0].values[0] > 1.0, "of {window} every {step}");
        }
    }

    #[test]
    fn what_was_heard_long_ago_goes() {
        let heard = Arc::new(EmbeddingCache::default());
        let mut worker = CachedEmbedder::new(Box::new(Counts(0.0)), Arc::clone(&heard));
        for n in 0..10 {
            worker.embed_windows(&vec![n as f32; MOST / 4], 1, 1).unwrap();
        }
        assert_eq!(heard.0.lock().unwrap().len(), 4);
        let before = worker.embed(&[]).unwrap().values[0];
        worker.embed_windows(&vec![9.0; MOST / 4], 1, 1).unwrap();
        worker.embed_windows(&vec![0.0; MOST / 4], 1, 1).unwrap();
        let after = worker.embed(&[]).unwrap().values[0];
        assert_eq!(
            after - before,
            (MOST / 4) as f32 + 1.0,
            "the last was there, the first was not"
        );
    }
}
