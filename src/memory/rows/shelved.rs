//! How rows of percepts, memories and vectors lie on the shelf: their numbers, then their texts, each with its length.
//! What is long and seldom read, components and sightings, comes first and stays there.
//! It is read by the process that wrote it and by no other, so it has no version.

use std::sync::Arc;

use crate::colour::{Colour, Colours};
use crate::geometry::Rect;
use crate::ids::{
    AnswerId, ClipId, EntityId, EntityKind, MemoryId, ModelHash, SessionId, SourceId, TrackId,
    TurnId,
};
use crate::media::Pose;
use crate::memory::model::{
    ActionRow, CameraMoveRow, Clip, Decision, Fact, FactAction, Ground, MediaDigest, MediaKind,
    MediaRow, MemoryKind, MemoryRow, MemoryVector, ObjectTrackRow, PoseRow, Retirement,
    SoundEventRow, SoundRow, TextTrackRow, TrackRow, TurnRow,
};
use crate::memory::versions::shelf::{Shelf, Slice};
use crate::memory::versions::sightings::{Packed, Sightings};
use crate::percept::{
    Action, ActionKind, CameraMove, Sound, SoundEvent, SoundKind, TextTrack, Transcript, Word,
};
use crate::time::{Span, Timestamp};

/// Before a vector's components: its memory and its model.
const VECTOR_HEAD: usize = 40;
/// Before the sightings of a track: how many.
const SIGHTINGS_HEAD: usize = 8;

/// Appends numbers and texts.
struct Writer<'b>(&'b mut Vec<u8>);

impl Writer<'_> {
    fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    fn small(&mut self, value: u32) {
        self.0.extend(value.to_ne_bytes());
    }

    fn large(&mut self, value: u64) {
        self.0.extend(value.to_ne_bytes());
    }

    fn time(&mut self, at: Timestamp) {
        self.0.extend(at.as_nanos().to_ne_bytes());
    }

    fn text(&mut self, text: &str) {
        self.small(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    fn real(&mut self, value: f64) {
        self.large(value.to_bits());
    }

    fn span(&mut self, span: Span) {
        self.time(span.start);
        self.time(span.end);
    }

    /// Whether there is one, then it.
    fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn colours(&mut self, colours: Option<Colours>) {
        let each = colours.into_iter().flat_map(Colours::each).map(|colour| colour as u8 + 1);
        let mut each = each.chain([0, 0]);
        self.0.extend(each.by_ref().take(2));
    }

    fn clip(&mut self, clip: ClipId) {
        self.small(clip.session.0);
        self.small(clip.index);
    }

    fn entity(&mut self, id: EntityId) {
        self.byte(id.kind as u8);
        self.small(id.number);
    }

    fn ground(&mut self, ground: &Ground) {
        match ground {
            Ground::Track(clip, track) => (self.byte(0), self.clip(*clip), self.large(track.0)).2,
            Ground::Object(clip, track) => (self.byte(1), self.clip(*clip), self.large(track.0)).2,
            Ground::Turn(clip, turn) => (self.byte(2), self.clip(*clip), self.large(turn.0)).2,
            Ground::Memory(id) => (self.byte(3), self.large(id.0)).1,
            Ground::Answer(id) => (self.byte(4), self.large(id.0)).1,
            Ground::Text(clip, track) => (self.byte(5), self.clip(*clip), self.large(track.0)).2,
        }
    }

    /// What tracks of faces and of things begin with.
    fn seen(
        &mut self,
        sightings: &Sightings,
        (clip, track): (ClipId, TrackId),
        (source, span): (&SourceId, Span),
    ) {
        self.large(sightings.len() as u64);
        self.0.extend(bytemuck::cast_slice::<_, u8>(sightings.packed()));
        self.clip(clip);
        self.large(track.0);
        self.text(source.as_str());
        self.span(span);
    }

    fn transcript(&mut self, said: &Transcript) {
        self.text(&said.text);
        self.maybe(said.language.as_deref(), Self::text);
        self.text(&said.engine);
        self.small(said.words.len() as u32);
        for word in &said.words {
            self.span(word.span);
            self.maybe(word.confidence.map(f32::to_bits), Self::small);
            self.text(&word.text);
        }
    }
}

/// Reads them again, in the same order.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.fixed::<1>().map(|[byte]| byte)
    }

    fn small(&mut self) -> Option<u32> {
        self.fixed().map(u32::from_ne_bytes)
    }

    fn large(&mut self) -> Option<u64> {
        self.fixed().map(u64::from_ne_bytes)
    }

    fn time(&mut self) -> Option<Timestamp> {
        self.fixed().map(i64::from_ne_bytes).map(Timestamp::from_nanos)
    }

    fn real(&mut self) -> Option<f64> {
        self.large().map(f64::from_bits)
    }

    fn span(&mut self) -> Option<Span> {
        Some(Span { start: self.time()?, end: self.time()? })
    }

    /// A text, owned in whatever way.
    fn text<T: From<&'b str>>(&mut self) -> Option<T> {
        let len = self.small()? as usize;
        std::str::from_utf8(self.take(len)?).ok().map(T::from)
    }

    fn source(&mut self) -> Option<SourceId> {
        self.text().map(SourceId)
    }

    /// What [`Writer::maybe`] wrote: `None` where it is cut off.
    fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            _ => read(self).map(Some),
        }
    }

    fn colours(&mut self) -> Option<Option<Colours>> {
        let colour = |byte: u8| match byte {
            0 => Some(None),
            number => Colour::ALL.get(usize::from(number - 1)).copied().map(Some),
        };
        let (first, second) = (colour(self.byte()?)?, colour(self.byte()?)?);
        Some(
            first.map(|first| {
                second.map_or(Colours::one(first), |second| Colours::two(first, second))
            }),
        )
    }

    fn clip(&mut self) -> Option<ClipId> {
        Some(ClipId { session: SessionId(self.small()?), index: self.small()? })
    }

    fn entity(&mut self) -> Option<EntityId> {
        let kind = *EntityKind::ALL.get(usize::from(self.byte()?))?;
        Some(EntityId { kind, number: self.small()? })
    }

    fn ground(&mut self) -> Option<Ground> {
        Some(match self.byte()? {
            0 => Ground::Track(self.clip()?, TrackId(self.large()?)),
            1 => Ground::Object(self.clip()?, TrackId(self.large()?)),
            2 => Ground::Turn(self.clip()?, TurnId(self.large()?)),
            3 => Ground::Memory(MemoryId(self.large()?)),
            5 => Ground::Text(self.clip()?, TrackId(self.large()?)),
            _ => Ground::Answer(AnswerId(self.large()?)),
        })
    }

    fn transcript(&mut self) -> Option<Transcript> {
        let text = self.text()?;
        let language = self.maybe(Self::text)?;
        let engine = self.text()?;
        let words = self.all(|from| {
            let span = from.span()?;
            let confidence = from.maybe(Self::small)?.map(f32::from_bits);
            Some(Word { text: from.text()?, span, confidence })
        })?;
        Some(Transcript { text, words, language, engine })
    }

    fn all<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.small()?).map(|_| read(self)).collect()
    }
}

pub(super) fn write_memory(row: &MemoryRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.large(row.id.0);
    out.byte(row.kind as u8);
    let flags = [row.pinned, row.clip.is_some(), row.fact.is_some(), row.valid_to.is_some()];
    out.byte(flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag)));
    out.small(row.importance.to_bits());
    out.small(row.confidence.to_bits());
    for at in [row.span.start, row.span.end, row.valid_from] {
        out.time(at);
    }
    row.valid_to.into_iter().for_each(|at| out.time(at));
    row.clip.into_iter().for_each(|clip| out.clip(clip));
    out.small(row.entities.len() as u32);
    row.entities.iter().for_each(|id| out.entity(*id));
    out.small(row.grounds.len() as u32);
    row.grounds.iter().for_each(|ground| out.ground(ground));
    out.text(&row.text);
    out.text(&row.origin);
    if let Some(fact) = &row.fact {
        [&fact.subject, &fact.attribute, &fact.value].into_iter().for_each(|text| out.text(text));
    }
}

pub(super) fn read_memory(bytes: &[u8]) -> Option<MemoryRow> {
    let mut from = Reader(bytes);
    let id = MemoryId(from.large()?);
    let kind = *MemoryKind::ALL.get(usize::from(from.byte()?))?;
    let flags = from.byte()?;
    let [pinned, clip, fact, ends] = [0, 1, 2, 3].map(|bit| flags >> bit & 1 == 1);
    let (importance, confidence) = (from.small()?, from.small()?);
    let span = Span { start: from.time()?, end: from.time()? };
    let valid_from = from.time()?;
    let valid_to = if ends { Some(from.time()?) } else { None };
    let clip = if clip { Some(from.clip()?) } else { None };
    let entities = from.all(Reader::entity)?;
    let grounds = from.all(Reader::ground)?;
    let (text, origin) = (from.text()?, from.text()?);
    let fact = match fact {
        true => Some(Fact { subject: from.text()?, attribute: from.text()?, value: from.text()? }),
        false => None,
    };
    Some(MemoryRow {
        id,
        kind,
        text,
        span,
        clip,
        entities,
        fact,
        importance: f32::from_bits(importance),
        confidence: f32::from_bits(confidence),
        pinned,
        valid_from,
        valid_to,
        grounds,
        origin,
    })
}

pub(super) fn write_clip(row: &Clip, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.clip(row.id);
    out.span(row.span);
    [row.frames, row.analysed, row.dropped].into_iter().for_each(|count| out.large(count));
    out.small(row.key_frames.len() as u32);
    for (source, at, digest) in &row.key_frames {
        out.text(source.as_str());
        out.time(*at);
        out.text(&digest.0);
    }
}

pub(super) fn read_clip(bytes: &[u8]) -> Option<Clip> {
    let mut from = Reader(bytes);
    let (id, span) = (from.clip()?, from.span()?);
    let (frames, analysed, dropped) = (from.large()?, from.large()?, from.large()?);
    let key_frames =
        from.all(|from| Some((from.source()?, from.time()?, from.text().map(MediaDigest)?)))?;
    Some(Clip { id, span, frames, analysed, dropped, key_frames })
}

pub(super) fn write_retirement(row: &Retirement, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.large(row.memory.0);
    out.maybe(row.valid_to, Writer::time);
    out.text(&row.reason);
}

pub(super) fn read_retirement(bytes: &[u8]) -> Option<Retirement> {
    let mut from = Reader(bytes);
    Some(Retirement {
        memory: MemoryId(from.large()?),
        valid_to: from.maybe(Reader::time)?,
        reason: from.text()?,
    })
}

pub(super) fn write_decision(row: &Decision, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.large(row.memory.0);
    out.time(row.at);
    out.byte(row.action as u8);
    out.maybe(row.other.map(|other| other.0), Writer::large);
    out.text(&row.reason);
}

pub(super) fn read_decision(bytes: &[u8]) -> Option<Decision> {
    let mut from = Reader(bytes);
    Some(Decision {
        memory: MemoryId(from.large()?),
        at: from.time()?,
        action: *FactAction::ALL.get(usize::from(from.byte()?))?,
        other: from.maybe(Reader::large)?.map(MemoryId),
        reason: from.text()?,
    })
}

pub(super) fn write_sound(row: &SoundRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.clip(row.clip);
    out.text(row.sound.source.as_str());
    out.span(row.sound.span);
    out.byte(row.sound.kind as u8);
    out.small(row.sound.peak_dbfs.to_bits());
    out.small(row.sound.background_dbfs.to_bits());
}

pub(super) fn read_sound(bytes: &[u8]) -> Option<SoundRow> {
    let mut from = Reader(bytes);
    let (clip, source, span) = (from.clip()?, from.source()?, from.span()?);
    let kind = *SoundKind::ALL.get(usize::from(from.byte()?))?;
    let peak_dbfs = from.small().map(f32::from_bits)?;
    let background_dbfs = from.small().map(f32::from_bits)?;
    Some(SoundRow { clip, sound: Sound { source, span, kind, peak_dbfs, background_dbfs } })
}

pub(super) fn write_sound_event(row: &SoundEventRow, into: &mut Vec<u8>) {
    let (mut out, event) = (Writer(into), &row.event);
    out.clip(row.clip);
    out.text(event.source.as_str());
    out.span(event.span);
    out.text(&event.what);
    out.small(event.confidence.to_bits());
    out.byte(event.continued.into());
}

pub(super) fn read_sound_event(bytes: &[u8]) -> Option<SoundEventRow> {
    let mut from = Reader(bytes);
    let (clip, source, span) = (from.clip()?, from.source()?, from.span()?);
    let what: String = from.text()?;
    let confidence = from.small().map(f32::from_bits)?;
    let continued = from.byte()? != 0;
    let event = SoundEvent { source, span, what: what.into(), confidence, continued };
    Some(SoundEventRow { clip, event })
}

pub(super) fn write_action(row: &ActionRow, into: &mut Vec<u8>) {
    let (mut out, action) = (Writer(into), &row.action);
    out.clip(row.clip);
    out.large(row.track.0);
    out.text(row.source.as_str());
    out.span(action.span);
    out.byte(action.kind as u8);
    out.small(action.confidence.to_bits());
    out.byte(action.continued.into());
}

pub(super) fn read_action(bytes: &[u8]) -> Option<ActionRow> {
    let mut from = Reader(bytes);
    let (clip, track) = (from.clip()?, TrackId(from.large()?));
    let (source, span) = (from.source()?, from.span()?);
    let kind = *ActionKind::ALL.get(usize::from(from.byte()?))?;
    let confidence = from.small().map(f32::from_bits)?;
    let continued = from.byte()? != 0;
    Some(ActionRow { clip, track, source, action: Action { kind, span, confidence, continued } })
}

pub(super) fn write_camera_move(row: &CameraMoveRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.clip(row.clip);
    out.text(row.moved.source.as_str());
    out.span(row.moved.span);
}

pub(super) fn read_camera_move(bytes: &[u8]) -> Option<CameraMoveRow> {
    let mut from = Reader(bytes);
    let (clip, source, span) = (from.clip()?, from.source()?, from.span()?);
    Some(CameraMoveRow { clip, moved: CameraMove { source, span } })
}

pub(super) fn write_text_track(row: &TextTrackRow, into: &mut Vec<u8>) {
    let (mut out, track) = (Writer(into), &row.track);
    out.clip(row.clip);
    out.large(track.id.0);
    out.text(track.source.as_str());
    out.span(track.span);
    out.text(&track.text);
    let place = track.place;
    for value in [track.confidence, place.x, place.y, place.w, place.h] {
        out.small(value.to_bits());
    }
    out.small(track.picture.0);
    out.small(track.picture.1);
    out.small(track.readings);
    out.time(track.best_at);
    out.byte(u8::from(track.continued));
}

pub(super) fn read_text_track(bytes: &[u8]) -> Option<TextTrackRow> {
    let mut from = Reader(bytes);
    let clip = from.clip()?;
    let (id, source, span) = (TrackId(from.large()?), from.source()?, from.span()?);
    let text = from.text()?;
    let mut value = || from.small().map(f32::from_bits);
    let confidence = value()?;
    let place = Rect { x: value()?, y: value()?, w: value()?, h: value()? };
    let picture = (from.small()?, from.small()?);
    let (readings, best_at, continued) = (from.small()?, from.time()?, from.byte()? != 0);
    let track = TextTrack {
        id,
        source,
        span,
        text,
        confidence,
        place,
        picture,
        readings,
        best_at,
        continued,
    };
    Some(TextTrackRow { clip, track })
}

pub(super) fn write_media(row: &MediaRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.text(&row.digest.0);
    out.byte(row.kind as u8);
    out.large(row.bytes);
    out.byte(u8::from(row.pinned));
}

pub(super) fn read_media(bytes: &[u8]) -> Option<MediaRow> {
    let mut from = Reader(bytes);
    Some(MediaRow {
        digest: from.text().map(MediaDigest)?,
        kind: *MediaKind::ALL.get(usize::from(from.byte()?))?,
        bytes: from.large()?,
        pinned: from.byte()? != 0,
    })
}

pub(super) fn write_track(row: &TrackRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.seen(&row.sightings, (row.clip, row.track), (&row.source, row.span));
    out.byte(u8::from(row.picture) | u8::from(row.body) << 1);
    out.maybe(row.face, Writer::entity);
    out.small(row.confidence.to_bits());
    out.colours(row.colours);
}

/// The sightings stay where they are.
pub(super) fn read_track(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<TrackRow> {
    let (Seen { sightings, clip, track, source, span }, mut from) = read_seen(shelf, at, len)?;
    let of = from.byte()?;
    Some(TrackRow {
        sightings,
        clip,
        track,
        source,
        span,
        picture: of & 1 != 0,
        body: of & 2 != 0,
        face: from.maybe(Reader::entity)?,
        confidence: from.small().map(f32::from_bits)?,
        colours: from.colours()?,
    })
}

pub(super) fn write_object_track(row: &ObjectTrackRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.seen(&row.sightings, (row.clip, row.track), (&row.source, row.span));
    out.text(&row.label);
    out.small(row.picture.0);
    out.small(row.picture.1);
    out.maybe(row.object, Writer::entity);
    out.small(row.confidence.to_bits());
    out.colours(row.colours);
}

/// As of [`read_track`].
pub(super) fn read_object_track(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<ObjectTrackRow> {
    let (Seen { sightings, clip, track, source, span }, mut from) = read_seen(shelf, at, len)?;
    Some(ObjectTrackRow {
        sightings,
        clip,
        track,
        source,
        span,
        label: from.text()?,
        picture: (from.small()?, from.small()?),
        object: from.maybe(Reader::entity)?,
        confidence: from.small().map(f32::from_bits)?,
        colours: from.colours()?,
    })
}

/// What [`Writer::seen`] wrote.
struct Seen {
    sightings: Sightings,
    clip: ClipId,
    track: TrackId,
    source: SourceId,
    span: Span,
}

/// That, and what comes after it.
fn read_seen(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<(Seen, Reader<'_>)> {
    let count = Reader(shelf.bytes(at, SIGHTINGS_HEAD)).large()? as usize;
    let first = at + SIGHTINGS_HEAD as u64;
    let bytes = count * size_of::<Packed>();
    let rest = len.checked_sub(SIGHTINGS_HEAD + bytes)?;
    let mut from = Reader(shelf.bytes(first + bytes as u64, rest));
    let seen = Seen {
        sightings: shelf.slice(first, count)?.into(),
        clip: from.clip()?,
        track: TrackId(from.large()?),
        source: from.source()?,
        span: from.span()?,
    };
    Some((seen, from))
}

pub(super) fn write_turn(row: &TurnRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.clip(row.clip);
    out.large(row.turn.0);
    out.text(row.source.as_str());
    out.span(row.span);
    out.real(row.speech_secs);
    out.maybe(row.voice, Writer::entity);
    out.small(row.confidence.to_bits());
    out.maybe(row.words.as_ref(), Writer::transcript);
    out.maybe(row.sound.as_ref().map(|digest| &*digest.0), Writer::text);
}

pub(super) fn read_turn(bytes: &[u8]) -> Option<TurnRow> {
    let mut from = Reader(bytes);
    Some(TurnRow {
        clip: from.clip()?,
        turn: TurnId(from.large()?),
        source: from.source()?,
        span: from.span()?,
        speech_secs: from.real()?,
        voice: from.maybe(Reader::entity)?,
        confidence: from.small().map(f32::from_bits)?,
        words: from.maybe(Reader::transcript)?,
        sound: from.maybe(Reader::text)?.map(MediaDigest),
    })
}

pub(super) fn write_pose(row: &PoseRow, into: &mut Vec<u8>) {
    let mut out = Writer(into);
    out.clip(row.clip);
    out.time(row.pose.stamp);
    [row.pose.x, row.pose.y, row.pose.yaw].into_iter().for_each(|value| out.real(value));
    out.text(&row.pose.frame);
}

pub(super) fn read_pose(bytes: &[u8]) -> Option<PoseRow> {
    let mut from = Reader(bytes);
    let clip = from.clip()?;
    let stamp = from.time()?;
    let [x, y, yaw] = [from.real()?, from.real()?, from.real()?];
    Some(PoseRow { clip, pose: Pose { stamp, x, y, yaw, frame: from.text()? } })
}

pub(super) fn write_vector(row: &MemoryVector, into: &mut Vec<u8>) {
    into.extend(row.memory.0.to_ne_bytes());
    into.extend(row.model.0);
    into.extend_from_slice(bytemuck::cast_slice(&row.values));
}

/// The components stay where they are.
pub(super) fn read_vector(shelf: &Arc<Shelf>, at: u64, len: usize) -> Option<MemoryVector> {
    let mut from = Reader(shelf.bytes(at, VECTOR_HEAD));
    let (memory, model) = (MemoryId(from.large()?), ModelHash(from.fixed()?));
    let components = len.checked_sub(VECTOR_HEAD)? / size_of::<f32>();
    let values: Slice<f32> = shelf.slice(at + VECTOR_HEAD as u64, components)?;
    Some(MemoryVector { memory, model, values: values.into() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::camera::Bearing;

    use crate::memory::versions::temporal::Temporal;
    use crate::percept::Sighting;

    fn row() -> MemoryRow {
        let clip = ClipId { session: SessionId(3), index: 70_000 };
        MemoryRow {
            id: MemoryId(1 << 40),
            kind: MemoryKind::Lesson,
            text: "<person_1> put the cup on the shelf – “there”.".into(),
            span: Span { start: Timestamp::from_nanos(-5), end: Timestamp::from_nanos(i64::MAX) },
            clip: Some(clip),
            entities: vec![EntityId::ROBOT, EntityId::new(EntityKind::Place, 7)],
            fact: Some(Fact {
                subject: "cup".into(),
                attribute: "location".into(),
                value: "".into(),
            }),
            importance: 0.25,
            confidence: 1.0,
            pinned: true,
            valid_from: Timestamp::from_nanos(12),
            valid_to: Some(Timestamp::from_nanos(99)),
            grounds: vec![
                Ground::Track(clip, TrackId(4)),
                Ground::Object(clip, TrackId(5)),
                Ground::Text(clip, TrackId(9)),
                Ground::Turn(clip, TurnId(6)),
                Ground::Memory(MemoryId(7)),
                Ground::Answer(AnswerId(8)),
            ],
            origin: "model:tiny".into(),
        }
    }

    #[test]
    fn a_row_comes_back_as_it_was() {
        let full = row();
        let mut bare = row();
        (bare.clip, bare.fact, bare.valid_to, bare.pinned) = (None, None, None, false);
        (bare.entities, bare.grounds) = (Vec::new(), Vec::new());
        for kind in MemoryKind::ALL {
            for row in [&full, &bare] {
                let row = MemoryRow { kind, ..row.clone() };
                let mut bytes = Vec::new();
                assert!(row.shelve(&mut bytes));
                assert_eq!(read_memory(&bytes).unwrap(), row);
                assert_eq!(read_memory(&bytes[..bytes.len() - 1]), None);
            }
        }
        for (place, kind) in EntityKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }

    #[test]
    fn a_vector_comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(dir.path()));
        let values: Vec<f32> = (0..384).map(|at| at as f32 * 0.5 - 3.0).collect();
        let vector = MemoryVector {
            memory: MemoryId(9),
            model: ModelHash([7; 32]),
            values: values.as_slice().into(),
        };
        let mut bytes = Vec::new();
        assert!(vector.shelve(&mut bytes));
        let at = shelf.put(&bytes).unwrap();
        assert_eq!(MemoryVector::unshelve(&shelf, at, bytes.len()).unwrap(), vector);
    }

    /// Puts a row down and reads it again.
    fn there_and_back<R: Temporal + PartialEq + std::fmt::Debug>(row: &R) {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(dir.path()));
        let mut bytes = Vec::new();
        assert!(row.shelve(&mut bytes));
        let at = shelf.put(&bytes).unwrap();
        assert_eq!(R::unshelve(&shelf, at, bytes.len()).as_ref(), Some(row));
        for len in 0..bytes.len() {
            assert_eq!(R::unshelve(&shelf, at, len), None, "cut off after {len} bytes");
        }
    }

    #[test]
    fn percepts_come_back_as_they_were() {
        let clip = ClipId { session: SessionId(2), index: 9 };
        let at = Timestamp::from_nanos;
        let source = SourceId::new("front");
        let span = Span { start: at(5), end: at(90) };
        let bearing = Bearing { azimuth: 0.5, elevation: -0.25, distance: None };
        let seen = |number: i64, bearing| Sighting {
            at: at(number),
            bbox: Rect { x: 1.0, y: -2.0, w: 3.5, h: 4.0 },
            score: 0.75,
            bearing,
        };
        let far = Bearing { distance: Some(3.0), ..bearing };
        let seen = [seen(5, None), seen(40, Some(bearing)), seen(90, Some(far))];
        for sightings in [seen.as_slice(), &[]] {
            for face in [Some(EntityId::new(EntityKind::Face, 3)), None] {
                let track = TrackId(77);
                there_and_back(&TrackRow {
                    clip,
                    track,
                    source: source.clone(),
                    span,
                    sightings: sightings.into(),
                    picture: face.is_none(),
                    body: true,
                    face,
                    confidence: 0.5,
                    colours: None,
                });
                there_and_back(&ObjectTrackRow {
                    clip,
                    track,
                    source: source.clone(),
                    span,
                    label: "cup".into(),
                    picture: (640, 480),
                    sightings: sightings.into(),
                    object: face,
                    confidence: 0.5,
                    colours: Some(Colours::two(Colour::Red, Colour::Grey)),
                });
            }
        }
        let word = |text: &str, confidence| Word { text: text.into(), span, confidence };
        let said = Transcript {
            text: "hello, Zoë".into(),
            words: vec![word("hello,", Some(0.25)), word("Zoë", None)],
            language: Some("en".into()),
            engine: "tiny".into(),
        };
        let wordless = Transcript { language: None, words: Vec::new(), ..said.clone() };
        for words in [Some(said), Some(wordless), None] {
            there_and_back(&TurnRow {
                clip,
                turn: TurnId(3),
                source: source.clone(),
                span,
                speech_secs: 1.5,
                voice: words.as_ref().map(|_| EntityId::new(EntityKind::Voice, 1)),
                confidence: 0.5,
                sound: words.as_ref().map(|_| MediaDigest("ab12".into())),
                words,
            });
        }
        let pose = Pose { stamp: at(7), x: 1.5, y: -2.0, yaw: 0.1, frame: "map".into() };
        there_and_back(&PoseRow { clip, pose });
        let digest = MediaDigest("cd34".into());
        for key_frames in [vec![(source.clone(), at(6), digest.clone())], Vec::new()] {
            let (frames, analysed, dropped) = (750, 150, 3);
            there_and_back(&Clip { id: clip, span, frames, analysed, dropped, key_frames });
        }
        for (other, until) in [(None, None), (Some(MemoryId(7)), Some(at(70)))] {
            let (memory, reason) = (MemoryId(1 << 40), "she said so".to_owned());
            there_and_back(&Retirement { memory, valid_to: until, reason: reason.clone() });
            for action in FactAction::ALL {
                let reason = reason.clone();
                there_and_back(&Decision { memory, at: at(9), action, other, reason });
            }
        }
        for kind in SoundKind::ALL {
            let (peak_dbfs, background_dbfs) = (-3.5, -60.25);
            let sound = Sound { source: source.clone(), span, kind, peak_dbfs, background_dbfs };
            there_and_back(&SoundRow { clip, sound });
            for continued in [false, true] {
                let (source, confidence) = (source.clone(), 0.75);
                let what = "a door bell".into();
                let event = SoundEvent { source, span, what, confidence, continued };
                there_and_back(&SoundEventRow { clip, event });
            }
            let moved = CameraMove { source: source.clone(), span };
            there_and_back(&CameraMoveRow { clip, moved });
        }
        for kind in ActionKind::ALL {
            for continued in [false, true] {
                let (track, source) = (TrackId(1 << 40), source.clone());
                let action = Action { kind, span, confidence: 0.75, continued };
                there_and_back(&ActionRow { clip, track, source, action });
            }
        }
        for continued in [false, true] {
            let track = TextTrack {
                id: TrackId(1 << 40),
                source: source.clone(),
                span,
                text: "Ausgang → Süd".to_owned(),
                confidence: 0.75,
                place: Rect { x: 1.5, y: -0.5, w: 90.0, h: 30.25 },
                picture: (640, 480),
                readings: 3,
                best_at: at(7),
                continued,
            };
            there_and_back(&TextTrackRow { clip, track });
        }
        for kind in MediaKind::ALL {
            there_and_back(&MediaRow {
                digest: digest.clone(),
                kind,
                bytes: 1 << 40,
                pinned: true,
            });
        }
    }
}
