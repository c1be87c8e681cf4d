//! Questions from the room: what somebody says behind the wake phrase ("Robot, where is my mug?") is asked, and
//! the answer goes out on `answer/…` and `say`.
//!
//! A turn is heard here once its words are committed, so a question is answered when its clip is sealed. The
//! robot's own speech and a television's wake nobody.

use std::io;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Sender, bounded};
use serde_json::Value;

use super::service::MemoryService;
use super::wake::WakePhrase;
use crate::identify::IdentifiedClip;
use crate::ids::{ClipId, TurnId};
use crate::mqtt::message::{Ask, Request, Say};
use crate::mqtt::{Call, Publisher, Reply, Service};
use crate::percept::SpeechTurn;

/// Questions that may wait; whoever asks more waits for an answer first.
const QUEUE: usize = 8;

/// Hears questions; they are answered in a thread of its own.
pub(super) struct Room {
    phrase: WakePhrase,
    questions: Sender<(ClipId, TurnId, String)>,
}

impl Room {
    /// Listens for `phrase`; the thread ends with the room.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn open(
        phrase: &str,
        service: Arc<MemoryService>,
        publisher: Publisher,
    ) -> io::Result<Self> {
        let (questions, asked) = bounded::<(ClipId, TurnId, String)>(QUEUE);
        let answer = move || {
            for (clip, turn, question) in asked {
                // A turn's number is unique in its session: each question is asked once.
                let id = format!("room-{}-{turn}", clip.session);
                // Names are asked for in the spelling in which they are known.
                let question = service.respelled(&question);
                let ask = Ask { id: Some(id.clone()), ..Ask::plain(&question) };
                match service.handle(Request::Ask(ask), &Call::local()) {
                    Ok(Reply::Document(document)) => tell(&service, &publisher, &id, &document),
                    Ok(Reply::Bytes { .. }) => {}
                    Err(error) => {
                        tracing::warn!(%error, %turn, "A question from the room has no answer.")
                    }
                }
            }
        };
        thread::Builder::new().name("room".to_owned()).spawn(answer)?;
        Ok(Self { phrase: WakePhrase::new(phrase), questions })
    }

    /// Whether somebody is calling in the first words of a turn that goes on.
    pub(super) fn is_called(&self, partial: &str) -> bool {
        self.phrase.is_in(partial)
    }

    /// Asks what was asked in those turns.
    pub(super) fn heard(&self, clip: ClipId, spoken: &[SpeechTurn], identified: &IdentifiedClip) {
        for turn in spoken.iter().filter(|turn| !turn.own && !identified.is_non_person(turn.id)) {
            let Some(said) = &turn.words else { continue };
            let Some(question) = self.phrase.question(&said.text) else { continue };
            if self.questions.try_send((clip, turn.id, question.to_owned())).is_err() {
                tracing::warn!(turn = %turn.id, "A question from the room was not asked: others wait.");
            }
        }
    }
}

fn tell(service: &MemoryService, publisher: &Publisher, id: &str, document: &Value) {
    publisher.answer(id, document);
    let text = |key: &str| document[key].as_str().map(str::to_owned);
    let Some(said) = text("answer") else { return };
    service.said(&said);
    publisher.say(&Say { text: said, answer: text("answer_id") });
}
