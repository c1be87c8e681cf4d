//! What an erasure would take, counted before it is made: the same closure and the same pass over all versions, of which
//! nothing is carried out.

use std::any::Any;
use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;

use serde::Serialize;

use super::Forget;
use super::reach::Fate;
use super::sweep::{Meet, struck_answers, sweep_rows};
use crate::ids::{ClipId, EntityKind, SessionId, TrackId};
use crate::memory::Memory;
use crate::memory::error::MemoryError;
use crate::memory::model::{
    Clip, Exemplar, MediaDigest, MediaRow, MemoryRow, ObjectTrackRow, SoundRow, TextTrackRow,
    TrackRow, TurnRow,
};
use crate::memory::versions::temporal::{Temporal, Version};
use crate::memory::view::documents::PassageRow;
use crate::memory::watches::{FiringRow, WatchRow};
use crate::time::Span;

/// What an erasure would take. But for `rows`, it is counted in what is known now: what was retired or replaced goes, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Whoever and whatever has an id and is known no more: persons.
    pub persons: usize,
    /// Faces, with their vectors.
    pub faces: usize,
    /// Voices, with their vectors.
    pub voices: usize,
    /// Things.
    pub objects: usize,
    /// Places.
    pub places: usize,
    /// Samples of faces and voices, those of whoever stays among them.
    pub samples: usize,
    /// Times that a face was followed in view.
    pub tracks: usize,
    /// Times that a body was, from whatever side.
    pub body_tracks: usize,
    /// For how long faces were in view, seconds.
    pub seen_secs: f64,
    /// Speech turns that go as a whole.
    pub turns: usize,
    /// Speech in them, seconds.
    pub spoken_secs: f64,
    /// Turns that lose their words and their sound alone.
    pub wordless: usize,
    /// Times that a thing was followed in view.
    pub object_tracks: usize,
    /// Texts read in view.
    pub text_tracks: usize,
    /// Sounds that were neither speech nor noise.
    pub sounds: usize,
    /// Clips of which something goes.
    pub clips: usize,
    /// Memories.
    pub memories: usize,
    /// Of them those that state a fact.
    pub facts: usize,
    /// Memories that stay and lose a name, a ground, or a part.
    pub rewritten: usize,
    /// Documents of which nothing is left.
    pub documents: usize,
    /// Passages of documents.
    pub passages: usize,
    /// Standing questions.
    pub watches: usize,
    /// Times that one was answered.
    pub firings: usize,
    /// Answers that were given.
    pub answers: usize,
    /// Row versions of all tables, as [`Erased::rows`](super::Erased::rows) counts them.
    pub rows: u64,
    /// Media files.
    pub files: u64,
    /// What they hold, bytes.
    pub media_bytes: u64,
    /// When what goes was captured.
    #[serde(skip)]
    pub moments: Vec<Span>,
}

impl Memory {
    /// What [`Self::forget_all`] would take. Changes nothing and holds nobody up who writes; costs a pass over everything, as
    /// the erasure does. Rows that cannot be read, which any erasure takes, are not counted.
    ///
    /// # Errors
    /// When there is no such entity, memory or document, or the store fails.
    pub fn would_forget(&self, what: &[Forget]) -> Result<Tally, MemoryError> {
        let tables = self.tables();
        let reach = self.reach(what, &tables)?;
        let mut count = Count::default();
        let Ok(_) = sweep_rows(&mut count, &tables, &reach);
        let named = std::mem::take(&mut count.named);
        let Ok(()) = count.sweep(&tables.media, |row| match named.contains(&row.digest) {
            true => Fate::Keep,
            false => Fate::Delete,
        });
        let Count { mut tally, clips, followed, bodies, shown, read, gone_of, left_of, .. } = count;
        (tally.clips, tally.tracks, tally.body_tracks) =
            (clips.len(), followed.len(), bodies.len());
        (tally.object_tracks, tally.text_tracks) = (shown.len(), read.len());
        tally.documents = gone_of.difference(&left_of).count();
        let view = self.view();
        for id in &reach.ids {
            let count = match id.kind {
                // (Whoever was merged is not one more.)
                EntityKind::Person if view.resolve(*id) == *id => &mut tally.persons,
                EntityKind::Face => &mut tally.faces,
                EntityKind::Voice => &mut tally.voices,
                EntityKind::Object => &mut tally.objects,
                EntityKind::Place => &mut tally.places,
                _ => continue,
            };
            *count += 1;
        }
        tally.moments = reach.moments(&tables);
        tally.answers =
            self.with_db("counting answers", |db| Ok(struck_answers(db, &reach)?.len()))?;
        Ok(tally)
    }
}

/// A track, over all clips that show it.
type Followed = BTreeSet<(SessionId, TrackId)>;

/// What is counted on the way.
#[derive(Default)]
struct Count {
    tally: Tally,
    clips: BTreeSet<ClipId>,
    followed: Followed,
    bodies: Followed,
    shown: Followed,
    read: Followed,
    /// Documents that lose passages, and those that keep some.
    gone_of: BTreeSet<String>,
    left_of: BTreeSet<String>,
    /// Media that whatever stays names.
    named: HashSet<MediaDigest>,
}

impl Meet for Count {
    type Error = Infallible;

    fn meet<R: Temporal>(&mut self, version: &Version<R>, fate: Fate<R>) -> Result<(), Infallible> {
        let row: &R = &version.row;
        match &fate {
            Fate::Keep => self.note_media(row),
            Fate::Rewrite(new) => self.note_media(new),
            Fate::Delete => self.tally.rows += 1,
        }
        if version.retired_seq().is_none() {
            match &fate {
                Fate::Keep => self.stays(row),
                Fate::Rewrite(new) => self.changes(row, new),
                Fate::Delete => self.goes(row),
            }
        }
        Ok(())
    }
}

impl Count {
    /// The media that a row which stays names.
    fn note_media(&mut self, row: &dyn Any) {
        if let Some(turn) = row.downcast_ref::<TurnRow>() {
            self.named.extend(turn.sound.clone());
        } else if let Some(sample) = row.downcast_ref::<Exemplar>() {
            self.named.extend(sample.media.clone());
        } else if let Some(clip) = row.downcast_ref::<Clip>() {
            self.named.extend(clip.key_frames.iter().map(|(_, _, digest)| digest.clone()));
        }
    }

    fn goes(&mut self, row: &dyn Any) {
        let tally = &mut self.tally;
        if let Some(track) = row.downcast_ref::<TrackRow>() {
            self.clips.insert(track.clip);
            let key = (track.clip.session, track.track);
            if track.body {
                self.bodies.insert(key);
            } else {
                self.followed.insert(key);
                tally.seen_secs += track.span.secs();
            }
        } else if let Some(track) = row.downcast_ref::<ObjectTrackRow>() {
            self.clips.insert(track.clip);
            self.shown.insert((track.clip.session, track.track));
        } else if let Some(text) = row.downcast_ref::<TextTrackRow>() {
            self.clips.insert(text.clip);
            self.read.insert((text.clip.session, text.track.id));
        } else if let Some(turn) = row.downcast_ref::<TurnRow>() {
            self.clips.insert(turn.clip);
            tally.turns += 1;
            tally.spoken_secs += turn.speech_secs;
        } else if let Some(sound) = row.downcast_ref::<SoundRow>() {
            self.clips.insert(sound.clip);
            tally.sounds += 1;
        } else if row.is::<Exemplar>() {
            tally.samples += 1;
        } else if let Some(memory) = row.downcast_ref::<MemoryRow>() {
            tally.memories += 1;
            tally.facts += usize::from(memory.fact.is_some());
        } else if let Some(passage) = row.downcast_ref::<PassageRow>() {
            tally.passages += 1;
            self.gone_of.insert(passage.document.clone());
        } else if row.is::<WatchRow>() {
            tally.watches += 1;
        } else if row.is::<FiringRow>() {
            tally.firings += 1;
        } else if let Some(media) = row.downcast_ref::<MediaRow>() {
            tally.files += 1;
            tally.media_bytes += media.bytes;
        }
    }

    fn changes(&mut self, row: &dyn Any, left: &dyn Any) {
        if let Some(clip) = row.downcast_ref::<Clip>() {
            self.clips.insert(clip.id);
        } else if let Some(turn) = left.downcast_ref::<TurnRow>() {
            self.clips.insert(turn.clip);
            self.tally.wordless += usize::from(turn.words.is_none());
        } else if left.is::<MemoryRow>() {
            self.tally.rewritten += 1;
        }
    }

    fn stays(&mut self, row: &dyn Any) {
        if let Some(passage) = row.downcast_ref::<PassageRow>() {
            self.left_of.insert(passage.document.clone());
        }
    }
}
