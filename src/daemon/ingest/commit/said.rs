//! What was said, from the turn's end to its clip's seal: words are asked for at once and handed to the clip. Live they are
//! shown meanwhile, with the open window, under the id that the utterance will have; a replay's are only there sooner.

use std::collections::BTreeMap;

use crossbeam_channel::TryRecvError;

use crate::daemon::ingest::feed::inbox::Inbox;
use crate::daemon::ingest::stage::present::PresentBoard;
use crate::daemon::ingest::work::jobs::{JobQueue, Pending};
use crate::ids::{MemoryId, SourceId, TurnId};
use crate::memorize::Memorizer;
use crate::memory::Memory;
use crate::percept::{SpeechTurn, Transcript};
use crate::time::{Span, Timestamp};

/// A turn that has ended, and what will bring its words.
pub(in crate::daemon::ingest) struct EndedTurn {
    pub(in crate::daemon::ingest) turn: SpeechTurn,
    pub(in crate::daemon::ingest) words: Pending<Transcript>,
}

impl EndedTurn {
    /// Asks for the words of a turn that has ended; `None` where nobody may be quoted with them.
    pub(in crate::daemon::ingest) fn ask(
        turn: SpeechTurn,
        jobs: &JobQueue,
        inbox: &Inbox,
    ) -> Option<Self> {
        let own = turn.own || inbox.is_own(&turn.source, turn.span);
        if own || turn.overlapped || turn.words.is_some() {
            return None;
        }
        let words = jobs.words_ahead(turn.clone())?;
        Some(Self { turn, words })
    }
}

/// A turn of one microphone is known by its stretch: where the clip parts or joins turns, these are others.
type SpeechSegment = (SourceId, Span);

/// How far the words of a turn are.
pub(in crate::daemon::ingest) enum Words {
    /// They are still to come.
    Awaited(Pending<Transcript>),
    /// They are there; `None`: the recogniser failed.
    Known(Option<Transcript>),
}

/// What it takes to show an utterance.
pub(in crate::daemon::ingest) struct Showing<'a> {
    pub(in crate::daemon::ingest) memory: &'a Memory,
    pub(in crate::daemon::ingest) memorizer: &'a Memorizer,
    pub(in crate::daemon::ingest) inbox: &'a Inbox,
    pub(in crate::daemon::ingest) present: &'a PresentBoard,
}

/// Turns that have ended and whose clip is not sealed. Touched by the sealing thread alone.
#[derive(Default)]
pub(in crate::daemon::ingest) struct Said {
    awaited: BTreeMap<SpeechSegment, EndedTurn>,
    known: BTreeMap<SpeechSegment, Option<Transcript>>,
    /// Ids that were given out.
    ids: BTreeMap<SpeechSegment, MemoryId>,
}

fn stretch(turn: &SpeechTurn) -> SpeechSegment {
    (turn.source.clone(), turn.span)
}

impl Said {
    /// The words of that turn will come.
    pub(in crate::daemon::ingest) fn expect(&mut self, ended: EndedTurn) {
        self.awaited.insert(stretch(&ended.turn), ended);
    }

    /// Whether any words are still to come.
    pub(in crate::daemon::ingest) fn is_awaiting(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Takes in the words that have come, and shows them.
    pub(in crate::daemon::ingest) fn take_in(&mut self, showing: Option<&Showing<'_>>) {
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
            if let Some(id) = showing.and_then(|showing| showing.show(&turn)) {
                self.ids.insert(stretch.clone(), id);
            }
            self.known.insert(stretch, words);
        }
    }

    /// The words of a turn of the clip that is being sealed, once; `None`: they were not asked for.
    pub(in crate::daemon::ingest) fn take(&mut self, turn: &SpeechTurn) -> Option<Words> {
        if turn.overlapped {
            return None;
        }
        let stretch = stretch(turn);
        let known = self.known.remove(&stretch).map(Words::Known);
        known.or_else(|| self.awaited.remove(&stretch).map(|ended| Words::Awaited(ended.words)))
    }

    /// The ids that utterances of these turns of a clip, which are numbered by now, were shown under.
    pub(in crate::daemon::ingest) fn reserved(
        &mut self,
        turns: &[SpeechTurn],
    ) -> BTreeMap<TurnId, MemoryId> {
        let shown = turns.iter().filter(|turn| !turn.overlapped);
        shown.filter_map(|turn| Some((turn.id, self.ids.remove(&stretch(turn))?))).collect()
    }

    /// The clip that ends there is sealed: what it has no turn for is gone.
    pub(in crate::daemon::ingest) fn sealed(&mut self, boundary: Timestamp) {
        self.awaited.retain(|(_, span), _| span.end > boundary);
        self.known.retain(|(_, span), _| span.end > boundary);
        self.ids.retain(|(_, span), _| span.end > boundary);
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Identity;
    use crate::daemon::ingest::OwnSpeech;
    use crate::daemon::ingest::commit::told::alone;
    use crate::identify::{
        IdentityRows, MatchThresholds, PendingIdentities, Resolver, SharedResolver,
    };
    use crate::ids::EntityKind;
    use crate::media::ToldWords;
    use crate::memory::{Forget, StoreOptions};

    fn at(secs: f64) -> Timestamp {
        Timestamp::from_nanos(1_700_000_000_000_000_000).plus_secs(secs)
    }

    fn turn(start: f64, end: f64) -> SpeechTurn {
        let span = Span::new(at(start), at(end));
        let mut turn =
            alone(ToldWords { source: SourceId::new("head"), span, text: String::new() });
        turn.words = None;
        turn
    }

    struct Room {
        _dir: tempfile::TempDir,
        memory: Memory,
        inbox: Inbox,
        present: PresentBoard,
        said: Said,
    }

    impl Room {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
            let (rows, unknown) = (IdentityRows::default(), MatchThresholds::UNKNOWN);
            let identity = Identity::default();
            let resolver = Resolver::from_rows(
                &rows,
                PendingIdentities::default(),
                &identity,
                unknown,
                unknown,
            );
            let resolver = Arc::new(SharedResolver::new(resolver));
            let present = PresentBoard::new(memory.clone(), resolver, None);
            Self { _dir: dir, memory, inbox: Inbox::default(), present, said: Said::default() }
        }

        /// A turn ends, and its words come at once.
        fn hear(&mut self, turn: &SpeechTurn, text: &str) {
            self.present.spoken(turn);
            let (put, words) = crossbeam_channel::bounded(1);
            put.send(Ok(Transcript { text: text.to_owned(), ..Transcript::default() })).unwrap();
            self.said.expect(EndedTurn { turn: turn.clone(), words });
            let memorizer = Memorizer::new(None);
            let (memory, inbox, present) = (&self.memory, &self.inbox, &self.present);
            let showing = Showing { memory, memorizer: &memorizer, inbox, present };
            self.said.take_in(Some(&showing));
        }

        fn found(&self) -> Vec<MemoryId> {
            let view = self.memory.view_with(&self.memory.present().now());
            let query =
                crate::recall::Query { text: "parcel".to_owned(), k: 5, ..Default::default() };
            crate::recall::recall(&view, &query).iter().map(|hit| hit.memory.id).collect()
        }
    }

    #[test]
    fn an_ended_turn_is_found_under_an_id_that_nobody_else_gets() {
        let mut room = Room::new();
        let turn = turn(1.0, 3.0);
        room.hear(&turn, "The parcel is green.");
        assert_eq!(room.found(), [MemoryId(1)]);
        assert!(room.memory.view().memory(MemoryId(1)).is_none(), "it is not committed");
        assert_eq!(room.memory.begin(at(9.0)).new_memory_id(), MemoryId(2));
        // Its clip takes words and id, once.
        assert!(matches!(room.said.take(&turn), Some(Words::Known(Some(_)))));
        assert!(room.said.take(&turn).is_none());
        assert_eq!(
            room.said.reserved(std::slice::from_ref(&turn)).get(&turn.id),
            Some(&MemoryId(1))
        );
        assert!(room.said.reserved(&[turn]).is_empty());
    }

    #[test]
    fn what_the_clip_has_no_turn_for_is_gone_when_it_is_sealed() {
        let mut room = Room::new();
        room.hear(&turn(1.0, 3.0), "The parcel is green.");
        room.hear(&turn(8.0, 12.0), "The parcel is heavy.");
        // Its parts are other turns.
        assert!(room.said.take(&turn(1.0, 2.0)).is_none());
        room.said.sealed(at(10.0));
        room.present.sealed(at(10.0));
        assert_eq!(room.found(), [MemoryId(2)]);
        assert!(room.said.take(&turn(1.0, 3.0)).is_none());
        assert!(room.said.take(&turn(8.0, 12.0)).is_some());
    }

    #[test]
    fn the_robots_own_words_are_nobodys() {
        let mut room = Room::new();
        let text = Some("The parcel is green.".to_owned());
        room.inbox.speaking(OwnSpeech { start: at(0.0), end: Some(at(4.0)), text });
        room.hear(&turn(1.0, 3.0), "The parcel is green.");
        assert!(room.found().is_empty());
        let mut room = Room::new();
        room.inbox.said(at(0.5), "The parcel is green.");
        room.hear(&turn(1.0, 3.0), "The parcel is green.");
        assert!(room.found().is_empty());
    }

    #[test]
    fn an_erasure_takes_away_what_was_just_said() {
        let mut room = Room::new();
        let mut draft = room.memory.begin(at(0.0));
        let ava = draft.new_entity(EntityKind::Person);
        draft.commit().unwrap();
        room.hear(&turn(1.0, 3.0), "The parcel is green.");
        assert_eq!(room.found().len(), 1);
        room.memory.forget(&Forget::Entity(ava), at(4.0)).unwrap();
        assert!(room.found().is_empty());
        // Whatever else is heard does not bring it back.
        room.present.speaking(&SourceId::new("head"), at(5.0), None);
        assert!(room.found().is_empty());
    }
}
