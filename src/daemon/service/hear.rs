//! The words of an utterance that somebody sends, and whose they are; nothing of it is kept.

use std::sync::{Arc, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::MemoryService;
use crate::daemon::ingest::PerceiverSet;
use crate::mqtt::Reply;
use crate::mqtt::message::Identify;
use crate::perceive::speech::{Recogniser, to_wav};
use crate::time::Timestamp;
use crate::wyoming::{Ears, Heard};

impl Ears for MemoryService {
    fn hear(&self, sound: &[f32]) -> Result<Heard, String> {
        let _aside = self.courtesy.question();
        let session = self.session.load();
        let failed = |error: &dyn std::fmt::Display| {
            tracing::warn!(%error, "An utterance could not be understood.");
            format!("recognising words: {error}")
        };
        let mut loaded = self.recogniser.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current =
            |(set, _): &(Arc<PerceiverSet>, Recogniser)| Arc::ptr_eq(set, &session.perceivers);
        if !loaded.as_ref().is_some_and(is_current) {
            let fresh = session.perceivers.recogniser().map_err(|error| failed(&error))?;
            *loaded = fresh.map(|fresh| (Arc::clone(&session.perceivers), fresh));
        }
        let Some((_, recogniser)) = loaded.as_mut() else {
            return Err("there is no recogniser of words; see `transcriber.kind`".to_owned());
        };
        let words =
            recogniser.transcribe(sound, Timestamp::EPOCH).map_err(|error| failed(&error))?;
        drop(loaded);
        let text = self.respelled(words.text.trim());
        Ok(Heard { text, language: words.language, speaker: self.speaker(sound) })
    }

    fn recogniser(&self) -> Option<String> {
        let session = self.session.load();
        session.perceivers.recogniser_name()
    }
}

impl MemoryService {
    /// Whose voice it is; null where it is nobody's that is known, of several, or too short to tell.
    fn speaker(&self, sound: &[f32]) -> Value {
        let voice = Some(STANDARD.encode(to_wav(sound)));
        let identified = self.identify(&Identify { id: None, photo: None, voice });
        match identified {
            Ok(Reply::Document(found)) if !found["person"].is_null() => json!({
                "person": found["person"],
                "name": found["name"],
                "confidence": found["matches"][0]["confidence"],
            }),
            _ => Value::Null,
        }
    }
}
