//! Words of a turn that is still being spoken: shown with the open window and told, never remembered. Live only.
//!
//! They come before the words of turns that have ended, and are asked for each time for a good deal more than the last, so
//! that it costs little. The last words, which may be cut off, are held back: what is told stands in the whole, nine words
//! of ten and more. Whose turn it is will be known when it has ended: where the robot's or a television's voice is
//! enrolled, or the robot may be saying something, nothing is told before.

use std::sync::Arc;

use crossbeam_channel::{Sender, TryRecvError};

use super::present::PresentBoard;
use crate::daemon::ingest::feed::inbox::Inbox;
use crate::daemon::ingest::report::{PartialWords, Report};
use crate::daemon::ingest::work::jobs::{JobQueue, Pending};
use crate::identify::SharedResolver;
use crate::ids::{SourceId, TurnId};
use crate::perceive::voice::OpenTurn;
use crate::percept::{SpeechTurn, Transcript};
use crate::time::{Span, Timestamp};

/// The first words are asked for after so long, seconds.
const FIRST_SECS: f64 = 1.2;
/// A word that ends closer to the end of what was heard may be another one, seconds.
const HOLD_SECS: f64 = 0.3;
/// Then each time the turn has become longer by this factor …
const GROWTH: f64 = 1.6;
/// … up to here: its words come soon enough when it ends.
const LAST_SECS: f64 = 10.0;

/// Asks for one microphone's partial words. Touched by its stage's thread alone.
pub(in crate::daemon::ingest) struct Partials {
    pub(in crate::daemon::ingest) jobs: JobQueue,
    pub(in crate::daemon::ingest) inbox: Inbox,
    pub(in crate::daemon::ingest) resolver: Arc<SharedResolver>,
    pub(in crate::daemon::ingest) reports: Sender<Report>,
    pub(in crate::daemon::ingest) turn: Asked,
}

/// The open turn as far as words were asked for.
#[derive(Default)]
pub(in crate::daemon::ingest) struct Asked {
    start: Option<Timestamp>,
    /// How long it was when they were.
    secs: f64,
    pending: Option<(Span, Pending<Transcript>)>,
}

impl Asked {
    /// Whether it is time to ask, the turn being so long.
    fn wants(&mut self, span: Span) -> bool {
        if self.start != Some(span.start) {
            *self = Self { start: Some(span.start), secs: 0.0, pending: None };
        }
        let next = if self.secs == 0.0 { FIRST_SECS } else { self.secs * GROWTH };
        self.pending.is_none() && span.secs() >= next && span.secs() <= LAST_SECS
    }
}

impl Partials {
    /// Looks after every block of sound: takes what has come, asks for more.
    pub(in crate::daemon::ingest) fn step(
        &mut self,
        source: &SourceId,
        open: Option<&OpenTurn<'_>>,
        present: &PresentBoard,
    ) {
        let Some(open) = open else {
            // What is still to come of a turn that has ended comes with the whole.
            self.turn = Asked::default();
            return;
        };
        if self.turn.wants(open.span)
            && let Some(pending) = self.jobs.glimpse(speech(source, open))
        {
            self.turn.secs = open.span.secs();
            self.turn.pending = Some((open.span, pending));
        }
        let Some((span, pending)) = &self.turn.pending else { return };
        let span = *span;
        match pending.try_recv() {
            Err(TryRecvError::Empty) => return,
            Ok(Ok(words)) => self.tell(source, span, &settled(&words, span), present),
            Ok(Err(error)) => tracing::debug!(%source, %error, "No partial words."),
            Err(TryRecvError::Disconnected) => {}
        }
        self.turn.pending = None;
    }

    fn tell(&self, source: &SourceId, span: Span, text: &str, present: &PresentBoard) {
        if text.is_empty()
            || self.inbox.is_own(source, span)
            || self.inbox.may_be_echo(span)
            || self.inbox.is_said(span, text)
        {
            return;
        }
        present.words(source, span.start, text);
        if !self.resolver.guesses().knows_asides() {
            let (source, text) = (source.clone(), text.to_owned());
            // Nobody listening is no fault.
            self.reports.send(Report::Partial(PartialWords { source, span, text })).ok();
        }
    }
}

/// The words that will stay as more is heard; all of a recogniser that tells no times.
fn settled(words: &Transcript, span: Span) -> String {
    if words.words.is_empty() {
        return words.text.trim().to_owned();
    }
    let until = span.end.plus_secs(-HOLD_SECS);
    let settled = words.words.iter().take_while(|word| word.span.end <= until);
    settled.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The open turn as if it had ended here.
fn speech(source: &SourceId, open: &OpenTurn<'_>) -> SpeechTurn {
    SpeechTurn {
        id: TurnId(0),
        source: source.clone(),
        span: open.span,
        speech_secs: open.span.secs(),
        level_dbfs: 0.0,
        embedding: None,
        words: None,
        overlapped: false,
        distinct: None,
        own: false,
        sound: open.sound.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_asked_for_ever_more_rarely_and_anew_for_each_turn() {
        let mut asked = Asked::default();
        let at = |secs: f64| Timestamp::EPOCH.plus_secs(secs);
        let mut times = Vec::new();
        for tenth in 0..200 {
            let secs = 0.1 * f64::from(tenth);
            if asked.wants(Span::new(at(5.0), at(5.0 + secs))) {
                asked.secs = secs;
                times.push(tenth);
            }
        }
        assert_eq!(times, [12, 20, 32, 52, 84]);
        assert!(!asked.wants(Span::new(at(30.0), at(31.0))));
        assert!(asked.wants(Span::new(at(30.0), at(31.6))), "another turn");
    }

    #[test]
    fn words_that_may_be_cut_off_are_held_back() {
        let at = |secs: f64| Timestamp::EPOCH.plus_secs(secs);
        let word = |text: &str, start: f64, end: f64| crate::percept::Word {
            text: text.into(),
            span: Span::new(at(start), at(end)),
            confidence: None,
        };
        let mut words = Transcript { text: "Where is the key".to_owned(), ..Transcript::default() };
        let span = Span::new(at(5.0), at(6.2));
        assert_eq!(settled(&words, span), "Where is the key");
        words.words = vec![word("Where", 5.1, 5.4), word("is", 5.4, 5.7), word("the", 5.7, 6.0)];
        assert_eq!(settled(&words, span), "Where is");
        assert_eq!(settled(&words, Span::new(at(5.0), at(5.5))), "");
    }
}
