//! PocketSphinx: English words without a neural net, from two Debian packages.

use std::path::{Path, PathBuf};

use super::sphinx_ffi::{Decoder, Segment};
use super::wav::to_pcm;
use super::{TranscribeError, Transcriber};
use crate::percept::{Transcript, Word};
use crate::time::{Span, Timestamp};

const ENGINE: &str = "pocketsphinx";
const PACKAGES: &str = "libpocketsphinx3 and pocketsphinx-en-us";
/// Where `pocketsphinx-en-us` puts its model.
const MODEL: &str = "/usr/share/pocketsphinx/model/en-us";
/// Frames per second of the decoder's times.
const FRAME_RATE: f64 = 100.0;

/// The recogniser.
pub struct PocketSphinx {
    decoder: Decoder,
}

impl PocketSphinx {
    /// Loads library, acoustic model, dictionary and language model (about half a second).
    ///
    /// # Errors
    /// [`TranscribeError::NotInstalled`] naming the packages.
    pub fn open() -> Result<Self, TranscribeError> {
        Self::open_model(Path::new(MODEL))
    }

    /// As [`PocketSphinx::open`], with a model folder laid out as Debian's `en-us`.
    ///
    /// # Errors
    /// [`TranscribeError::NotInstalled`].
    pub fn open_model(model: &Path) -> Result<Self, TranscribeError> {
        let fail = |reason: String| TranscribeError::NotInstalled {
            engine: ENGINE,
            reason,
            packages: PACKAGES,
        };
        let file = |name: &str| {
            let path: PathBuf = model.join(name);
            if path.exists() {
                Ok(path.to_string_lossy().into_owned())
            } else {
                Err(fail(format!("no {}", path.display())))
            }
        };
        let options = [
            ("-hmm", file("en-us")?),
            ("-lm", file("en-us.lm.bin")?),
            ("-dict", file("cmudict-en-us.dict")?),
            // Cutting silence out would shift the times of words.
            ("-remove_silence", "no".to_owned()),
            // Mean and variance of the utterance itself, nothing from the one before.
            ("-cmn", "batch".to_owned()),
        ];
        let options: Vec<String> =
            options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect();
        Ok(Self { decoder: Decoder::open(&options).map_err(fail)? })
    }
}

impl Transcriber for PocketSphinx {
    fn transcribe(
        &mut self,
        sound: &[f32],
        start: Timestamp,
    ) -> Result<Transcript, TranscribeError> {
        let segments = self
            .decoder
            .decode(&to_pcm(sound))
            .map_err(|reason| TranscribeError::Engine { engine: ENGINE, reason })?;
        let words: Vec<Word> =
            segments.into_iter().filter_map(|segment| word(segment, start)).collect();
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        Ok(Transcript {
            text,
            words,
            language: Some("en-US".to_owned()),
            engine: ENGINE.to_owned(),
        })
    }

    fn name(&self) -> &str {
        ENGINE
    }
}

/// A spoken word; `None` for silence, noise and sentence marks.
fn word(segment: Segment, start: Timestamp) -> Option<Word> {
    let spelled = segment.word.as_str();
    if spelled.starts_with(['<', '[', '+']) {
        return None;
    }
    // Further pronunciations are written `read(2)`.
    let text = spelled.split('(').next().unwrap_or_default().into();
    let span = Span::new(
        start.plus_secs(f64::from(segment.first) / FRAME_RATE),
        start.plus_secs(f64::from(segment.last + 1) / FRAME_RATE),
    );
    let confidence = Some(segment.posterior.clamp(0.0, 1.0) as f32);
    let word = Word { text, span, confidence };
    (!word.text.is_empty()).then_some(word)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_model_names_the_packages() {
        let error = PocketSphinx::open_model(Path::new("/nowhere")).err().unwrap().to_string();
        assert!(error.contains("pocketsphinx-en-us"), "{error}");
    }

    #[test]
    fn fillers_go_and_pronunciations_lose_their_number() {
        let segment =
            |text: &str| Segment { word: text.to_owned(), first: 10, last: 19, posterior: 1.2 };
        for filler in ["<sil>", "<s>", "[NOISE]", "++UH++"] {
            assert!(word(segment(filler), Timestamp::EPOCH).is_none());
        }
        let word = word(segment("read(2)"), Timestamp::EPOCH).unwrap();
        assert_eq!((word.text.as_str(), word.confidence), ("read", Some(1.0)));
        assert!((word.span.secs() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_decoder_that_is_gone_leaves_nothing_open() {
        // Files that other tests open come and go; a log would be one of these.
        let logs = || {
            let open = std::fs::read_dir("/proc/self/fd").unwrap();
            let of = |entry: std::io::Result<std::fs::DirEntry>| {
                std::fs::read_link(entry.ok()?.path()).ok()
            };
            open.filter_map(of).filter(|path| path.starts_with("/dev/null")).count()
        };
        let Ok(first) = PocketSphinx::open() else {
            eprintln!("SKIPPED: {PACKAGES} are not installed");
            return;
        };
        drop(first);
        let before = logs();
        for _ in 0..3 {
            let mut sphinx = PocketSphinx::open().unwrap();
            sphinx.transcribe(&[0.1; 16_000], Timestamp::EPOCH).unwrap();
        }
        assert!(logs() <= before, "{} before, {} now", before, logs());
    }

    #[test]
    fn words_have_times_and_do_not_depend_on_earlier_turns() {
        use crate::perceive::voice::measured::{shared, sound};
        let Some(folder) = shared("recordings/audio/librispeech/2414") else { return };
        let Ok(mut sphinx) = PocketSphinx::open() else {
            eprintln!("SKIPPED: {PACKAGES} are not installed");
            return;
        };
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let turns: Vec<Vec<f32>> = files
            .iter()
            .take(3)
            .map(|file| sound(file))
            .map(|s| s[..s.len().min(64_000)].to_vec())
            .collect();
        let start = Timestamp::from_nanos(7_000_000_000);
        let alone: Vec<Transcript> = turns
            .iter()
            .map(|turn| PocketSphinx::open().unwrap().transcribe(turn, start).unwrap())
            .collect();
        assert!(alone.iter().any(|transcript| transcript.words.len() > 3));
        for (turn, transcript) in turns.iter().zip(&alone) {
            let span = Span::new(start, start.plus_secs(turn.len() as f64 / 16_000.0 + 0.02));
            for word in &transcript.words {
                assert!(span.start <= word.span.start && word.span.end <= span.end);
                assert!(!word.text.contains(['<', '[', '(']), "{}", word.text);
            }
        }
        // Loud noise and other turns before it change nothing.
        let noise: Vec<f32> = (0..40_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 16) as f32 / 32_768.0 - 1.0)
            .collect();
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            sphinx.transcribe(&noise, start).unwrap();
            for n in order {
                assert_eq!(
                    sphinx.transcribe(&turns[n], start).unwrap(),
                    alone[n],
                    "turn {n} in {order:?}"
                );
            }
        }
        assert_eq!(sphinx.transcribe(&[], start).unwrap().text, "");
        assert_eq!(sphinx.transcribe(&[0.0; 100], start).unwrap().text, "");
    }
}
