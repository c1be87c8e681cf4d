//! Words that were not there when their live clip was sealed: each a transaction of its own, in clip order.

use std::collections::VecDeque;

use crate::daemon::ingest::report::LateWords;
use crate::daemon::ingest::work::jobs::{Pending, take};
use crate::identify::{IdentifiedClip, IdentifiedTurn, Resolver};
use crate::ids::{ClipId, EntityId};
use crate::memorize::{Memorizer, Scene};
use crate::memory::{Memory, MemoryError};
use crate::percept::{ClipCounts, ClipPercepts, SpeechTurn, Transcript};
use crate::time::{Span, Timestamp};

/// Most turns that wait; of more, the oldest stays without words.
const WAITING: usize = 512;

/// A turn of a sealed clip whose words are still being recognised.
struct Waiting {
    clip: ClipId,
    turn: SpeechTurn,
    words: Pending<Transcript>,
}

/// Touched by the sealing thread alone.
#[derive(Default)]
pub(in crate::daemon::ingest) struct LateQueue {
    waiting: VecDeque<Waiting>,
}

impl LateQueue {
    /// The words of that turn will come.
    pub(in crate::daemon::ingest) fn expect(
        &mut self,
        clip: ClipId,
        turn: SpeechTurn,
        words: Pending<Transcript>,
    ) {
        if self.waiting.len() >= WAITING
            && let Some(lost) = self.waiting.pop_front()
        {
            tracing::warn!(source = %lost.turn.source, turn = %lost.turn.id, "A turn stays without words: too many wait.");
        }
        self.waiting.push_back(Waiting { clip, turn, words });
    }

    /// Whether any are still to come.
    pub(in crate::daemon::ingest) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many are still to come.
    pub(in crate::daemon::ingest) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether words of that clip are still to come.
    pub(in crate::daemon::ingest) fn waits_for(&self, clip: ClipId) -> bool {
        self.waiting.iter().any(|waiting| waiting.clip == clip)
    }

    /// The next turn whose words are there; turns after one that is still waited for stay behind it.
    pub(in crate::daemon::ingest) fn next_ready(&mut self) -> Option<(ClipId, SpeechTurn)> {
        loop {
            let first = self.waiting.front()?;
            let known = match first.words.try_recv() {
                Err(crossbeam_channel::TryRecvError::Empty) => return None,
                // A worker that died gives no words.
                Err(crossbeam_channel::TryRecvError::Disconnected) => take(&first.words),
                Ok(known) => known,
            };
            let Waiting { clip, mut turn, .. } = self.waiting.pop_front()?;
            match known {
                Ok(words) if !words.text.trim().is_empty() => {
                    turn.words = Some(words);
                    return Some((clip, turn));
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(source = %turn.source, %error, "The words of a turn are missing.");
                }
            }
        }
    }
}

/// Commits the words of one turn: the turn's new version, what was said, and what follows from it.
///
/// `recorded`: the session's clock. `None`: the turn was erased meanwhile, nothing is written.
///
/// # Errors
/// When the store fails; nothing is changed then.
pub(in crate::daemon::ingest) fn commit(
    (memory, memorizer): (&Memory, &Memorizer),
    resolver: &mut Resolver,
    (clip, turn): (ClipId, SpeechTurn),
    recorded: Timestamp,
) -> Result<Option<LateWords>, MemoryError> {
    let mut draft = memory.begin(recorded);
    let before = memory.view();
    let Some(row) = before.turn(clip.session, turn.id) else { return Ok(None) };
    let Some(words) = turn.words.clone() else { return Ok(None) };
    let voice = if turn.own { Some(EntityId::ROBOT) } else { row.voice };
    let aside = voice.is_some_and(|voice| resolver.persons().is_non_person(voice));
    let person = voice.and_then(|voice| resolver.persons().person_of(voice));
    let person = person.filter(|_| !aside);
    let mut identified = IdentifiedClip::default();
    if let Some(voice) = voice.filter(|_| person.is_some()) {
        let heard = (turn.span.end, clip, turn.id);
        identified.names.extend(resolver.hear_name(&words.text, voice, heard, &mut draft));
    } else {
        resolver.hear_question(&words.text, voice, turn.span.end);
    }
    identified.turns.push(IdentifiedTurn {
        turn: turn.id,
        voice,
        person,
        confidence: row.confidence,
        aside,
    });
    if turn.own {
        draft.assign_turn(clip.session, turn.id, voice, 1.0)?;
    }
    draft.late_words(clip.session, turn.id, words)?;
    let percepts = ClipPercepts {
        clip,
        span: Span::new(turn.span.start, turn.span.end),
        tracks: Vec::new(),
        objects: Vec::new(),
        bodies: Vec::new(),
        texts: Vec::new(),
        turns: vec![turn],
        mouths: Vec::new(),
        sounds: Vec::new(),
        sound_events: Vec::new(),
        camera_moves: Vec::new(),
        poses: Vec::new(),
        key_frames: Vec::new(),
        counts: ClipCounts::default(),
        looked: Vec::new(),
    };
    let (persons, before) = (resolver.persons(), &before);
    let (reserved, quiet_since) = (None, None);
    let scene = Scene {
        percepts: &percepts,
        identified: &identified,
        persons,
        before,
        reserved,
        quiet_since,
    };
    let memory_rows = memorizer.words(&scene, &mut draft);
    draft.commit()?;
    let turn = percepts.turns.into_iter().next();
    Ok(turn.map(|turn| LateWords { clip, turn, identified, memory_rows }))
}
