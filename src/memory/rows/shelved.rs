//! How rows of memories and vectors lie on the shelf: their numbers, then their texts, each with its length.
//! It is read by the process that wrote it and by no other, so it has no version.

use std::sync::Arc;

use crate::ids::{
    AnswerId, ClipId, EntityId, EntityKind, MemoryId, ModelHash, SessionId, TrackId, TurnId,
};
use crate::memory::model::{Fact, Ground, MemoryKind, MemoryRow, MemoryVector};
use crate::memory::shelf::{Shelf, Slice};
use crate::time::{Span, Timestamp};

/// Before a vector's components: its memory and its model.
const VECTOR_HEAD: usize = 40;

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

    fn text(&mut self) -> Option<String> {
        let len = self.small()? as usize;
        std::str::from_utf8(self.take(len)?).ok().map(str::to_owned)
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
            _ => Ground::Answer(AnswerId(self.large()?)),
        })
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

pub(super) fn write_vector(row: &MemoryVector, into: &mut Vec<u8>) {
    into.extend(row.memory.0.to_ne_bytes());
    into.extend(row.model.0);
    into.extend(row.values.iter().flat_map(|value| value.to_ne_bytes()));
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
    use crate::memory::temporal::Temporal as _;

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
}
