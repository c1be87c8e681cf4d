//! Whisper by whisper.cpp (cargo feature `whisper`): words in about a hundred languages.

use std::path::Path;

use whisper_rs::{
    FullParams, SamplingStrategy, WhisperContext, WhisperContextParameters, WhisperState,
};

use super::{TranscribeError, Transcriber};
use crate::config;
use crate::media::SAMPLE_RATE;
use crate::percept::{Transcript, Word};
use crate::time::{Span, Timestamp};

const ENGINE: &str = "whisper";
/// Threads inside one operation: a constant, not the machine's number of cores.
const THREADS: i32 = 2;
/// Shorter sound is refused by whisper.cpp; silence is put behind it.
const MIN_SAMPLES: usize = SAMPLE_RATE as usize + SAMPLE_RATE as usize / 10;

/// The recogniser.
pub struct Whisper {
    state: WhisperState,
    // Keeps the model's weights alive beside the state.
    _context: WhisperContext,
    language: Option<String>,
    name: String,
}

impl Whisper {
    /// Loads the model file `transcriber.model` (`ggml-*.bin`).
    ///
    /// # Errors
    /// [`TranscribeError::Setting`] when no file is named or it is no such model.
    pub fn open(settings: &config::Transcriber) -> Result<Self, TranscribeError> {
        let fail = |reason: String| TranscribeError::Setting {
            engine: ENGINE,
            reason,
            cure: "set transcriber.model to a ggml Whisper file",
        };
        let file = settings.model.as_deref().ok_or_else(|| fail("no model is named".to_owned()))?;
        if !Path::new(file).is_file() {
            return Err(fail(format!("no file {file}")));
        }
        whisper_rs::install_logging_hooks();
        let context = WhisperContext::new_with_params(file, WhisperContextParameters::default())
            .map_err(|error| fail(format!("{file}: {error}")))?;
        let state = context.create_state().map_err(|error| fail(error.to_string()))?;
        // whisper.cpp knows languages by their first part: `en` of `en-US`.
        let language = settings
            .language
            .as_deref()
            .map(|tag| tag.split('-').next().unwrap_or(tag).to_lowercase());
        let model = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self { state, _context: context, language, name: format!("{ENGINE}:{model}") })
    }
}

impl Transcriber for Whisper {
    fn transcribe(
        &mut self,
        sound: &[f32],
        start: Timestamp,
    ) -> Result<Transcript, TranscribeError> {
        let fail = |reason: String| TranscribeError::Engine { engine: ENGINE, reason };
        // Greedy and at temperature 0 without fallback: the same sound, the same words.
        let mut params = FullParams::new(SamplingStrategy::Greedy { best_of: 1 });
        params.set_n_threads(THREADS);
        params.set_language(self.language.as_deref().or(Some("auto")));
        params.set_temperature(0.0);
        params.set_temperature_inc(0.0);
        params.set_no_context(true);
        params.set_token_timestamps(true);
        params.set_suppress_nst(true);
        params.set_print_special(false);
        params.set_print_progress(false);
        params.set_print_realtime(false);
        params.set_print_timestamps(false);
        let mut padded = sound.to_vec();
        padded.resize(padded.len().max(MIN_SAMPLES), 0.0);
        self.state.full(params, &padded).map_err(|error| fail(error.to_string()))?;
        let secs = sound.len() as f64 / f64::from(SAMPLE_RATE);
        let at = |centisecs: i64| start.plus_secs((centisecs as f64 / 100.0).clamp(0.0, secs));
        let (mut text, mut words) = (String::new(), Vec::<Word>::new());
        for segment in self.state.as_iter() {
            text.push_str(&segment.to_str_lossy().map_err(|error| fail(error.to_string()))?);
            for token in (0..segment.n_tokens()).filter_map(|n| segment.get_token(n)) {
                let part = token.to_str_lossy().map_err(|error| fail(error.to_string()))?;
                if part.starts_with("[_") || part.starts_with("<|") {
                    continue;
                }
                let (times, probability) = (token.token_data(), token.token_probability());
                match words.last_mut() {
                    Some(word) if !part.starts_with(' ') => {
                        word.text.push_str(&part);
                        word.span = Span::new(word.span.start, at(times.t1));
                        word.confidence = word.confidence.map(|least| least.min(probability));
                    }
                    _ => words.push(Word {
                        text: part.trim_start().into(),
                        span: Span::new(at(times.t0), at(times.t1)),
                        confidence: Some(probability.clamp(0.0, 1.0)),
                    }),
                }
            }
        }
        words.retain(|word| !word.text.trim().is_empty());
        Ok(Transcript {
            text: text.trim().to_owned(),
            words,
            language: self.language.clone(),
            engine: self.name.clone(),
        })
    }

    fn name(&self) -> &str {
        &self.name
    }
}
