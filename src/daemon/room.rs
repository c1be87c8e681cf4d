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
use crate::identify::IdentifiedClip;
use crate::ids::{ClipId, TurnId};
use crate::mqtt::message::{Ask, Request, Say};
use crate::mqtt::{Call, Publisher, Reply, Service};
use crate::percept::SpeechTurn;

/// Questions that may wait; whoever asks more waits for an answer first.
const QUEUE: usize = 8;

/// Hears questions; they are answered in a thread of its own.
pub(super) struct Room {
    phrase: Vec<String>,
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
        Ok(Self { phrase: words(phrase).map(|(_, word)| word).collect(), questions })
    }

    /// Asks what was asked in those turns.
    pub(super) fn heard(&self, clip: ClipId, spoken: &[SpeechTurn], identified: &IdentifiedClip) {
        for turn in spoken.iter().filter(|turn| !turn.own && !identified.is_aside(turn.id)) {
            let Some(said) = &turn.words else { continue };
            let Some(question) = question(&said.text, &self.phrase) else { continue };
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

/// What follows the phrase in what was said; `None` without the phrase, or with nothing behind it.
fn question<'a>(said: &'a str, phrase: &[String]) -> Option<&'a str> {
    let said_words: Vec<(usize, String)> = words(said).collect();
    let at = said_words
        .windows(phrase.len().max(1))
        .position(|run| run.iter().map(|(_, word)| word).eq(phrase))?;
    let (start, _) = said_words.get(at + phrase.len())?;
    said.get(*start..)
}

/// Lower-case words and where they begin.
fn words(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut at = 0;
    text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '\'').filter_map(move |piece| {
        let start = at;
        at += piece.len();
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        (!word.is_empty()).then(|| (start, word.to_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'a>(said: &'a str, phrase: &str) -> Option<&'a str> {
        let phrase: Vec<String> = words(phrase).map(|(_, word)| word).collect();
        question(said, &phrase)
    }

    #[test]
    fn the_question_stands_behind_the_phrase() {
        assert_eq!(asked("Robot, where is my mug?", "robot"), Some("where is my mug?"));
        assert_eq!(asked("well hey robot who was here", "Hey Robot!"), Some("who was here"));
        assert_eq!(asked("the robots are coming", "robot"), None);
        assert_eq!(asked("Robot!", "robot"), None);
        assert_eq!(asked("", "robot"), None);
        assert_eq!(asked("ça va, Köchin, wo ist es?", "köchin"), Some("wo ist es?"));
    }
}
