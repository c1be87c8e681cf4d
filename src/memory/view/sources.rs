//! How many independent sources a fact has: one remark, however often it is repeated in one talk, is one source.

use crate::ids::{ClipId, EntityId};
use crate::time::Timestamp;

use super::View;
use crate::memory::model::{Ground, MemoryKind, MemoryRow};
use crate::memory::natures::is_trait;

/// What one teller says again this much later is said on another day (in whatever time zone: a night lies between),
/// seconds.
const ANOTHER_DAY_SECS: f64 = 8.0 * 3600.0;

/// Who says or shows something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Teller {
    /// Whoever tells notes.
    Notes,
    /// A speaker, as far as known.
    Speaker(Option<EntityId>),
    /// Nobody: it was seen, or a model concluded it from a clip.
    Seen(Option<ClipId>),
}

/// One statement or observation.
#[derive(Clone, Copy, Debug)]
struct Source {
    teller: Teller,
    at: Timestamp,
}

impl Source {
    /// Whether it says more than the other one alone.
    fn is_independent(self, other: Self) -> bool {
        let apart = self.at.secs_since(other.at).abs() >= ANOTHER_DAY_SECS;
        apart
            || match (self.teller, other.teller) {
                // Somebody unknown may be the same.
                (Teller::Speaker(a), Teller::Speaker(b)) => a.zip(b).is_some_and(|(a, b)| a != b),
                (a, b) => a != b,
            }
    }
}

impl View {
    /// Whether it is a trait (a liking, a habit; not who or where somebody is) that rests on one source only, and is not to
    /// be relied on yet. Sources are distinct tellers, or distinct days of one teller, or distinct clips in which it
    /// was observed.
    #[must_use]
    pub fn is_weak(&self, row: &MemoryRow) -> bool {
        if !row.fact.as_ref().is_some_and(|fact| is_trait(&fact.attribute)) {
            return false;
        }
        let sources = self.sources(row);
        let more = |(n, one): (usize, &Source)| {
            sources[n + 1..].iter().any(|other| one.is_independent(*other))
        };
        !sources.iter().enumerate().any(more)
    }

    fn sources(&self, row: &MemoryRow) -> Vec<Source> {
        // A note says so itself; what repeats it stands among its grounds.
        let own = match row.kind {
            MemoryKind::Note => Some(Teller::Notes),
            _ => row.grounds.is_empty().then_some(Teller::Seen(row.clip)),
        };
        let own = own.map(|teller| Source { teller, at: row.span.start });
        own.into_iter().chain(row.grounds.iter().map(|ground| self.source(row, ground))).collect()
    }

    fn source(&self, row: &MemoryRow, ground: &Ground) -> Source {
        // What a model makes of a clip is one conclusion, whoever speaks in it.
        let concluded = row.origin.starts_with("model:");
        let seen = |clip, at| Source { teller: Teller::Seen(clip), at };
        match ground {
            Ground::Turn(clip, turn) => {
                let said = self.turn(clip.session, *turn);
                let at = said.as_ref().map_or(row.span.start, |turn| turn.span.start);
                let speaker = said.and_then(|turn| turn.voice).map(|voice| self.resolve(voice));
                match concluded {
                    true => seen(Some(*clip), row.span.start),
                    false => Source { teller: Teller::Speaker(speaker), at },
                }
            }
            Ground::Track(clip, _) | Ground::Object(clip, _) | Ground::Text(clip, _) => {
                let at = self.clip(*clip).map_or(row.span.start, |clip| clip.span.start);
                seen(Some(*clip), at)
            }
            Ground::Memory(id) => match self.memory(*id) {
                Some(other) if other.kind == MemoryKind::Note => {
                    Source { teller: Teller::Notes, at: other.span.start }
                }
                Some(other) => seen(other.clip, other.span.start),
                None => seen(row.clip, row.span.start),
            },
            Ground::Answer(_) => seen(row.clip, row.span.start),
        }
    }
}
