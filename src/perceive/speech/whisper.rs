//! Whisper by whisper.cpp (cargo feature `whisper`): words in about a hundred languages.

use std::path::Path;

use whisper_rs::{
    FullParams, SamplingStrategy, WhisperContext, WhisperContextParameters, WhisperState,
};

use super::pieces::Pieces;
use super::{TranscribeError, Transcriber};
use crate::config;
use crate::media::SAMPLE_RATE;
use crate::percept::Transcript;
use crate::runtime::crash_journal;
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
    /// What is spoken, as whisper.cpp calls it; `None`: found anew in every turn.
    language: Option<String>,
    name: String,
    native: crash_journal::Network,
}

impl Whisper {
    /// Loads a model file (`ggml-*.bin`).
    ///
    /// # Errors
    /// [`TranscribeError::Setting`] when there is no such file or it is no such model.
    pub fn open(file: &Path, settings: &config::Transcriber) -> Result<Self, TranscribeError> {
        let fail = |reason: String| TranscribeError::Setting {
            engine: ENGINE,
            reason,
            cure: "set transcriber.model to a ggml Whisper file",
        };
        let shown = file.display();
        if !file.is_file() {
            return Err(fail(format!("no file {shown}")));
        }
        if let Some(rest) = crash_journal::left_out(file) {
            return Err(fail(format!("{shown}: {rest}")));
        }
        let native = crash_journal::Network::of_file(file);
        let _opens = native.opens();
        whisper_rs::install_logging_hooks();
        let context = WhisperContext::new_with_params(file, WhisperContextParameters::default())
            .map_err(|error| fail(format!("{shown}: {error}")))?;
        let state = context.create_state().map_err(|error| fail(error.to_string()))?;
        // whisper.cpp knows languages by their first part: `en` of `en-US`.
        let language = settings
            .language
            .as_deref()
            .map(|tag| tag.split('-').next().unwrap_or(tag).to_lowercase())
            .filter(|language| language != "auto");
        let model = file.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self { state, _context: context, language, name: format!("{ENGINE}:{model}"), native })
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
        let running = self.native.runs();
        self.state.full(params, &padded).map_err(|error| fail(error.to_string()))?;
        drop(running);
        let secs = sound.len() as f64 / f64::from(SAMPLE_RATE);
        let at = |centisecs: i64| start.plus_secs((centisecs as f64 / 100.0).clamp(0.0, secs));
        let (mut text, mut pieces) = (Vec::new(), Pieces::default());
        for segment in self.state.as_iter() {
            text.extend_from_slice(segment.to_bytes().map_err(|error| fail(error.to_string()))?);
            for token in (0..segment.n_tokens()).filter_map(|n| segment.get_token(n)) {
                let part = token.to_bytes().map_err(|error| fail(error.to_string()))?;
                if part.starts_with(b"[_") || part.starts_with(b"<|") {
                    continue;
                }
                let times = token.token_data();
                let span = Span::new(at(times.t0), at(times.t1));
                pieces.add(part, span, token.token_probability());
            }
        }
        let found = || whisper_rs::get_lang_str(self.state.full_lang_id_from_state());
        let language = self.language.clone().or_else(|| found().map(str::to_owned));
        Ok(Transcript {
            text: String::from_utf8_lossy(&text).trim().to_owned(),
            words: pieces.words(),
            language,
            engine: self.name.clone(),
        })
    }

    fn name(&self) -> &str {
        &self.name
    }
}
