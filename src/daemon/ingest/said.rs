//! What was said, from the turn's end to its clip's seal: words are asked for at once, shown with the open window under the
//! id that the utterance will have, and handed to the clip. Live only; a replay asks when it seals.

use std::collections::BTreeMap;

use crossbeam_channel::TryRecvError;

use super::inbox::Inbox;
use super::pool::Pending;
use super::present::PresentBoard;
use crate::ids::{MemoryId, SourceId, TurnId};
use crate::memorize::Memorizer;
use crate::memory::Memory;
use crate::percept::{SpeechTurn, Transcript};
use crate::time::{Span, Timestamp};

/// A turn that has ended, and what will bring its words.
pub(super) struct EndedTurn {
    pub(super) turn: SpeechTurn,
    pub(super) words: Pending<Transcript>,
}

/// A turn of one microphone is known by its stretch: where the clip parts or joins turns, these are others.
type Stretch = (SourceId, Span);

/// How far the words of a turn are.
pub(super) enum Words {
    /// They are still to come.
    Awaited(Pending<Transcript>),
    /// They are there; `None`: the recogniser failed.
    Known(Option<Transcript>),
}

/// What it takes to show an utterance.
pub(super) struct Showing<'a> {
    pub(super) memory: &'a Memory,
    pub(super) memorizer: &'a Memorizer,
    pub(super) inbox: &'a Inbox,
    pub(super) present: &'a PresentBoard,
}

/// Turns that have ended and whose clip is not sealed. Touched by the sealing thread alone.
#[derive(Default)]
pub(super) struct Said {
    awaited: BTreeMap<Stretch, EndedTurn>,
    known: BTreeMap<Stretch, Option<Transcript>>,
    /// Ids that were given out.
    ids: BTreeMap<Stretch, MemoryId>,
}

fn stretch(turn: &SpeechTurn) -> Stretch {
    (turn.source.clone(), turn.span)
}

impl Said {
    /// The words of that turn will come.
    pub(super) fn expect(&mut self, ended: EndedTurn) {
        self.awaited.insert(stretch(&ended.turn), ended);
    }

    /// Whether any words are still to come.
    pub(super) fn is_awaiting(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Shows the words that have come.
    pub(super) fn show(&mut self, showing: &Showing<'_>) {
        let mut come = Vec::new();
        self.awaited.retain(|_, ended| match ended.words.try_recv() {
            Err(TryRecvError::Empty) => true,
            Ok(Ok(words)) => {
                come.push((ended.turn.clone(), Some(words)));
                false
            }
            Ok(Err(error)) => {
                tracing::warn!(source = %ended.turn.source, %error, "The words of a turn are missing.");
                come.push((ended.turn.clone(), None));
                false
            }
            Err(TryRecvError::Disconnected) => {
                come.push((ended.turn.clone(), None));
                false
            }
        });
        for (mut turn, words) in come {
            let stretch = stretch(&turn);
            turn.words.clone_from(&words);
            if let Some(id) = showing.show(&turn) {
                self.ids.insert(stretch.clone(), id);
            }
            self.known.insert(stretch, words);
        }
    }

    /// The words of a turn of the clip that is being sealed, once; `None`: they were not asked for.
    pub(super) fn take(&mut self, turn: &SpeechTurn) -> Option<Words> {
        if turn.overlapped {
            return None;
        }
        let stretch = stretch(turn);
        let known = self.known.remove(&stretch).map(Words::Known);
        known.or_else(|| self.awaited.remove(&stretch).map(|ended| Words::Awaited(ended.words)))
    }

    /// The ids that utterances of these turns of a clip, which are numbered by now, were shown under.
    pub(super) fn reserved(&mut self, turns: &[SpeechTurn]) -> BTreeMap<TurnId, MemoryId> {
        let shown = turns.iter().filter(|turn| !turn.overlapped);
        shown.filter_map(|turn| Some((turn.id, self.ids.remove(&stretch(turn))?))).collect()
    }

    /// The clip that ends there is sealed: what it has no turn for is gone.
    pub(super) fn sealed(&mut self, border: Timestamp) {
        self.awaited.retain(|(_, span), _| span.end > border);
        self.known.retain(|(_, span), _| span.end > border);
        self.ids.retain(|(_, span), _| span.end > border);
    }
}

impl Showing<'_> {
    /// Shows a turn's words; gives back the id under which they are found. What may be the robot's own, or a television's, is
    /// nobody's: it waits for its clip.
    fn show(&self, turn: &SpeechTurn) -> Option<MemoryId> {
        let text = turn.words.as_ref().map(|words| words.text.trim())?;
        let (inbox, erasures) = (self.inbox, self.memory.erasures());
        if text.is_empty()
            || turn.own
            || inbox.is_own(&turn.source, turn.span)
            || inbox.may_be_echo(turn.span)
            || inbox.is_said(turn.span, text)
        {
            return None;
        }
        let speaker = self.present.speaker(turn)?;
        let id = match self.memory.reserve_memory_id() {
            Ok(id) => id,
            Err(error) => {
                tracing::warn!(%error, "What was said is found when its clip is sealed, not before.");
                return None;
            }
        };
        let view = self.memory.view();
        let said = self.memorizer.present(id, turn, speaker, &view)?;
        self.present.said(turn, said, erasures);
        Some(id)
    }
}
