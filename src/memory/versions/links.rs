//! Adjacency lists with times: which versions of a table hang on an entity, and for tables of percepts when each of them was: whoever asks for the time
//! alone reads no row.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::ids::Seq;
use crate::time::{Span, Timestamp};

use super::log::{CHUNK, Log};
use super::persist::{Persist, Reader, Writer};
use super::shelf::Shelf;

/// When a face was in view or a voice was heard, and how much of it is speech.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Stretch {
    /// Nanoseconds UTC.
    start: i64,
    end: i64,
    /// Seconds of speech; 0 of a face.
    pub(in crate::memory) speech_secs: f64,
}

impl Stretch {
    pub(in crate::memory) fn new(span: Span, speech_secs: f64) -> Self {
        Self { start: span.start.as_nanos(), end: span.end.as_nanos(), speech_secs }
    }

    pub(in crate::memory) fn span(&self) -> Span {
        let [start, end] = [self.start, self.end].map(Timestamp::from_nanos);
        Span { start, end }
    }

    /// By start, then end, then speech.
    pub(in crate::memory) fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let own = (self.start, self.end).cmp(&(other.start, other.end));
        own.then(self.speech_secs.total_cmp(&other.speech_secs))
    }
}

/// What erasing made of versions, by position; `None`: they do not hang on the entity any more.
pub(in crate::memory) type Relinked = BTreeMap<u32, Option<Option<Stretch>>>;

/// The versions of one entity, in the order of commits. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::memory) struct Links {
    /// Positions in the table's log.
    pub(in crate::memory) positions: Log<u32>,
    /// Of tables of percepts: when each of them was, in the same order; else empty.
    times: Log<Stretch>,
    /// Earliest start and latest end in each chunk of `times`.
    bounds: Arc<Vec<Span>>,
    /// The newest commit that ended one of them, of tables of percepts.
    pub(in crate::memory) ended: Seq,
    /// How often erasing took some out: places count from the beginning again then.
    pub(in crate::memory) cuts: u64,
}

impl Links {
    pub(in crate::memory) fn push(&mut self, at: u32, stretch: Option<Stretch>) {
        self.positions.push(at);
        let Some(stretch) = stretch else { return };
        let (place, span) = (self.times.len(), stretch.span());
        self.times.push(stretch);
        let bounds = Arc::make_mut(&mut self.bounds);
        match bounds.get_mut(place / CHUNK) {
            Some(bound) => *bound = hull(*bound, span),
            None => bounds.push(span),
        }
    }

    /// Whether something is full that is not on the shelf yet.
    pub(in crate::memory) fn is_to_settle(&self) -> bool {
        self.positions.is_to_settle() || self.times.is_to_settle()
    }

    /// Puts on the shelf what is full.
    pub(in crate::memory) fn settle(&mut self, shelf: &Arc<Shelf>) {
        self.positions.settle(shelf);
        self.times.settle(shelf);
    }

    /// Without those that erasing took, and with the times that it changed.
    pub(in crate::memory) fn relinked(&self, touched: &Relinked) -> Self {
        let mut kept = Self { ended: self.ended, cuts: self.cuts + 1, ..Self::default() };
        for (place, at) in self.positions.iter().enumerate() {
            match touched.get(at) {
                Some(None) => {}
                Some(Some(stretch)) => kept.push(*at, *stretch),
                None => kept.push(*at, self.times.get(place).copied()),
            }
        }
        kept
    }

    /// Position and time of each from a place in the list on.
    pub(in crate::memory) fn times_from(
        &self,
        place: usize,
    ) -> impl Iterator<Item = (u32, &Stretch)> {
        self.positions.iter_from(place).copied().zip(self.times.iter_from(place))
    }

    /// Positions of those whose time may touch `span`, in the order of commits: all of them where no times are kept. Costs
    /// a look at one in 256, and at those around the span.
    pub(in crate::memory) fn touching(&self, span: Span) -> Vec<u32> {
        if self.times.len() < self.positions.len() {
            return self.positions.iter().copied().collect();
        }
        let touches = |other: &Span| other.start <= span.end && span.start <= other.end;
        let chunks = self.bounds.iter().enumerate().filter(|(_, bound)| touches(bound));
        let here = chunks
            .flat_map(|(chunk, _)| self.positions.chunk(chunk).iter().zip(self.times.chunk(chunk)));
        here.filter(|(_, time)| touches(&time.span())).map(|(at, _)| *at).collect()
    }

    /// From the earliest start to the latest end; `None`: there are none, or no times are kept.
    pub(in crate::memory) fn extent(&self) -> Option<Span> {
        self.bounds.iter().copied().reduce(hull)
    }
}

impl Persist for Links {
    fn save(&self, to: &mut Writer<'_>) {
        self.positions.save(to);
        self.times.save(to);
        save_spans(&self.bounds, to);
        to.number(self.ended.0);
    }

    fn load(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            positions: Log::load(from)?,
            times: Log::load(from)?,
            bounds: Arc::new(load_spans(from)?),
            ended: Seq(from.number()?),
            cuts: 0,
        })
    }
}

/// Writes spans of time.
pub(in crate::memory) fn save_spans(spans: &[Span], to: &mut Writer<'_>) {
    let ends = |span: &Span| [span.start.as_nanos(), span.end.as_nanos()];
    let all: Vec<u64> = spans.iter().flat_map(ends).map(i64::cast_unsigned).collect();
    to.numbers(&all);
}

/// Reads what [`save_spans`] wrote.
pub(in crate::memory) fn load_spans(from: &mut Reader<'_>) -> Option<Vec<Span>> {
    let all: Vec<u64> = from.numbers()?;
    let (all, rest) = all.as_chunks::<2>();
    let span = |ends: &[u64; 2]| {
        let [start, end] = ends.map(|nanos| Timestamp::from_nanos(nanos.cast_signed()));
        Span { start, end }
    };
    rest.is_empty().then(|| all.iter().map(span).collect())
}

/// The least span that holds both.
pub(in crate::memory) fn hull(a: Span, b: Span) -> Span {
    Span { start: a.start.min(b.start), end: a.end.max(b.end) }
}
