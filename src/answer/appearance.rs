//! Appearances found without going through all that there ever were: what lies around a moment is looked at first, and more
//! only where an appearance may reach beyond that.

use std::collections::BTreeSet;

use crate::ids::EntityId;
use crate::time::{Span, Timestamp};

use super::reading::{ABSENCE_SECS, Appearance, PAUSE_SECS, Reading, Spoken, hull, stretches};

/// So far around a moment is looked at first, seconds; then …
const LOOK_SECS: f64 = 600.0;
/// … so many times as far.
const FARTHER: f64 = 4.0;
/// How near to a time an appearance counts as reaching it, seconds: whoever asks draws the line.
const NEAR_SECS: f64 = 1.0;

impl Reading {
    /// The appearance of somebody, or of anybody, that is the earliest by `rank` (of its beginning and end, whichever comes
    /// first in it). Costs what lies around it.
    pub(super) fn first_appearance<K: Ord>(
        &self,
        who: Option<EntityId>,
        rank: impl Fn(Span) -> K,
    ) -> Option<Appearance> {
        let ever = self.seen_ever(who)?;
        let mut look = LOOK_SECS;
        loop {
            let window = Span::new(ever.start, ever.start.plus_secs(look));
            let runs = self.appearances(who, Some(&[window]));
            let reaching = beyond(spans_of(&runs), window, ABSENCE_SECS).1;
            let all = window.end > ever.end;
            let first = runs.into_iter().min_by_key(|run| rank(run.span));
            let is_whole = |run: &Appearance| !reaching.contains(&(run.who, run.span));
            if all || first.as_ref().is_some_and(is_whole) {
                return first;
            }
            look *= FARTHER;
        }
    }

    /// The same of the latest by `rank`.
    pub(super) fn last_appearance<K: Ord>(
        &self,
        who: Option<EntityId>,
        rank: impl Fn(Span) -> K,
    ) -> Option<Appearance> {
        let ever = self.seen_ever(who)?;
        let end = ever.end.min(self.now());
        let mut look = LOOK_SECS;
        loop {
            let window = Span::new(end.plus_secs(-look), Timestamp::MAX);
            let runs = self.appearances(who, Some(&[window]));
            let reaching = beyond(spans_of(&runs), window, ABSENCE_SECS).0;
            let all = window.start < ever.start;
            let last = runs.into_iter().max_by_key(|run| rank(run.span));
            let is_whole = |run: &Appearance| !reaching.contains(&(run.who, run.span));
            if all || last.as_ref().is_some_and(is_whole) {
                return last;
            }
            look *= FARTHER;
        }
    }

    /// Whole appearances, not the parts inside those times, of which anything lies in them or near; without times all that
    /// there ever were. By start.
    pub(super) fn whole_appearances(
        &self,
        who: Option<EntityId>,
        spans: Option<&[Span]>,
    ) -> Vec<Appearance> {
        let (Some(asked), Some(ever)) = (spans.and_then(hull), self.seen_ever(who)) else {
            return self.appearances(who, spans);
        };
        let asked = Span::new(asked.start.plus_secs(-NEAR_SECS), asked.end.plus_secs(NEAR_SECS));
        let (mut before, mut after) = (LOOK_SECS, LOOK_SECS);
        loop {
            let window = Span::new(asked.start.plus_secs(-before), asked.end.plus_secs(after));
            let mut runs = self.appearances(who, Some(&[window]));
            let near = |span: &Span| span.start <= asked.end && asked.start <= span.end;
            let (left, right) = beyond(spans_of(&runs), window, ABSENCE_SECS);
            let left = window.start >= ever.start && left.iter().any(|(_, span)| near(span));
            let right = window.end <= ever.end && right.iter().any(|(_, span)| near(span));
            if !left && !right {
                runs.retain(|run| near(&run.span));
                return runs;
            }
            before *= if left { FARTHER } else { 1.0 };
            after *= if right { FARTHER } else { 1.0 };
        }
    }

    /// What somebody said first.
    pub(super) fn first_spoken(&self, who: EntityId) -> Option<Spoken> {
        self.spoken_at_an_end(Some(who), false).into_iter().next()
    }

    /// Turns of somebody, or of anybody, by start, of which the first stretch of speech (see [`stretches`]), or the last one,
    /// is whole: no other one begins before it, or ends after it.
    pub(super) fn spoken_at_an_end(&self, who: Option<EntityId>, last: bool) -> Vec<Spoken> {
        let open = self.present.iter().flat_map(|present| &present.turns);
        let open = open.map(|turn| Span::new(turn.start, self.now().max(turn.start)));
        let all: Vec<Span> = self.view.heard_extent(who).into_iter().chain(open).collect();
        let Some(ever) = hull(&all) else { return Vec::new() };
        let end = ever.end.min(self.now());
        let mut look = LOOK_SECS;
        loop {
            let (window, all) = if last {
                let from = end.plus_secs(-look);
                (Span::new(from, Timestamp::MAX), from < ever.start)
            } else {
                let to = ever.start.plus_secs(look);
                (Span::new(ever.start, to), to > ever.end)
            };
            let turns = self.spoken(who, Some(&[window]));
            let runs = stretches(&turns);
            let (before, after) = beyond(runs.iter().copied(), window, PAUSE_SECS);
            let (reaching, outmost) = if last {
                (before, runs.iter().max_by_key(|(_, span)| (span.end, span.start)))
            } else {
                (after, runs.iter().min_by_key(|(_, span)| *span))
            };
            if all || outmost.is_some_and(|run| !reaching.contains(run)) {
                return turns;
            }
            look *= FARTHER;
        }
    }

    /// From when to when somebody was in view, or anybody: no less than that.
    fn seen_ever(&self, who: Option<EntityId>) -> Option<Span> {
        let open = self.present.iter().flat_map(|present| &present.tracks);
        let open = open.map(|track| Span::new(track.since, track.last.plus_secs(NEAR_SECS)));
        let all: Vec<Span> = self.view.seen_extent(who).into_iter().chain(open).collect();
        hull(&all)
    }
}

fn spans_of(runs: &[Appearance]) -> impl DoubleEndedIterator<Item = (EntityId, Span)> + Clone {
    runs.iter().map(|run| (run.who, run.span))
}

/// Whose runs may reach beyond a window.
type Reach<W> = BTreeSet<(W, Span)>;

/// Those that may have begun before the window, and those that may go on after it, of runs by start that are `gap_secs` and
/// more apart where they are of one person.
fn beyond<W: Copy + Ord>(
    runs: impl DoubleEndedIterator<Item = (W, Span)> + Clone,
    window: Span,
    gap_secs: f64,
) -> (Reach<W>, Reach<W>) {
    let (mut first, mut last) = (BTreeSet::new(), BTreeSet::new());
    let begun = runs.clone().filter(|(who, _)| first.insert(*who));
    let before = begun.filter(|(_, span)| span.start.secs_since(window.start) < gap_secs).collect();
    let ended = runs.rev().filter(|(who, _)| last.insert(*who));
    let after = ended.filter(|(_, span)| window.end.secs_since(span.end) < gap_secs).collect();
    (before, after)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;
    use crate::answer::wording::Wording;
    use crate::ids::{ClipId, EntityKind, SourceId, TrackId, TurnId};
    use crate::memory::model::{Membership, TrackRow, TurnRow};
    use crate::memory::{Memory, StoreOptions};

    fn at(secs: f64) -> Timestamp {
        Timestamp::from_nanos(1_772_323_200_000_000_000).plus_secs(secs)
    }

    /// Whose track comes so long after the last one's beginning, and how long it is.
    type Track = (usize, f64, f64);

    fn tracks() -> impl Strategy<Value = Vec<Track>> {
        let gap =
            prop_oneof![Just(0.5), Just(2.0), Just(3.0), Just(7.0), Just(700.0), Just(50_000.0)];
        let length = prop_oneof![Just(0.0), Just(1.0), Just(4.0), Just(30.0), Just(2_000.0)];
        proptest::collection::vec((0_usize..2, gap, length), 1..60)
    }

    /// The two persons, and a memory of their tracks as it is read at the end.
    fn reading(dir: &std::path::Path, tracks: &[Track]) -> (Reading, [EntityId; 2]) {
        let memory = Memory::open(dir, &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(at(0.0));
        let session = draft.new_session(at(0.0), 30.0, None);
        let met = [(); 2].map(|()| {
            let face = draft.new_entity(EntityKind::Face);
            let person = draft.new_entity(EntityKind::Person);
            let voice = draft.new_entity(EntityKind::Voice);
            for part in [face, voice] {
                let (reason, decreed) = ("made up".to_owned(), false);
                draft.membership(Membership { part, person, reason, decreed });
            }
            (face, voice, person)
        });
        let mut start = 0.0;
        for (number, (who, gap, length)) in tracks.iter().enumerate() {
            start += gap;
            draft.track(TrackRow {
                clip: ClipId { session, index: 0 },
                track: TrackId(number as u64),
                source: SourceId::new("front"),
                span: Span::new(at(start), at(start + length)),
                sightings: [].as_slice().into(),
                picture: false,
                body: false,
                face: Some(met[*who].0),
                confidence: 0.5,
                colours: None,
            });
            draft.turn(TurnRow {
                clip: ClipId { session, index: 0 },
                turn: TurnId(number as u64),
                source: SourceId::new("microphone"),
                span: Span::new(at(start), at(start + length)),
                speech_secs: *length,
                voice: Some(met[*who].1),
                confidence: 0.5,
                words: None,
                sound: None,
            });
        }
        draft.commit().unwrap();
        let wording = Wording { zone: TimeZone::UTC, now: at(start + 10.0) };
        (Reading::new(memory.view(), None, wording), met.map(|(_, _, person)| person))
    }

    fn shown(run: &Appearance) -> (EntityId, Span, usize) {
        (run.who, run.span, run.glimpses.len())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 64,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_found_around_a_time_is_what_is_found_among_all(
            tracks in tracks(),
            asked in proptest::collection::vec((0.0..1.0, 0.0..4_000.0), 1..3),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let (reading, persons) = reading(dir.path(), &tracks);
            let extent = reading.seen_ever(None).unwrap();
            for who in [None, Some(persons[0]), Some(persons[1])] {
                let all = reading.appearances(who, None);
                let by_end = |span: Span| (span.end, span.start);
                let first = all.iter().min_by_key(|run| run.span).map(shown);
                prop_assert_eq!(reading.first_appearance(who, |span| span).as_ref().map(shown), first);
                let last = all.iter().max_by_key(|run| by_end(run.span)).map(shown);
                prop_assert_eq!(reading.last_appearance(who, by_end).as_ref().map(shown), last);
                let spans: Vec<Span> = asked
                    .iter()
                    .map(|(share, secs)| {
                        let start = extent.start.plus_secs(extent.secs() * share);
                        Span::new(start, start.plus_secs(*secs))
                    })
                    .collect();
                let turns = stretches(&reading.spoken(who, None));
                let found = |last| stretches(&reading.spoken_at_an_end(who, last));
                prop_assert_eq!(
                    found(false).into_iter().min_by_key(|(_, span)| *span),
                    turns.iter().copied().min_by_key(|(_, span)| *span)
                );
                let by_end = |(_, span): &(Option<EntityId>, Span)| (span.end, span.start);
                prop_assert_eq!(
                    found(true).into_iter().max_by_key(by_end),
                    turns.iter().copied().max_by_key(by_end)
                );
                let near = hull(&spans).unwrap();
                let (from, to) = (near.start.plus_secs(-NEAR_SECS), near.end.plus_secs(NEAR_SECS));
                let expected: Vec<_> = all
                    .iter()
                    .filter(|run| run.span.start <= to && from <= run.span.end)
                    .map(shown)
                    .collect();
                let found = reading.whole_appearances(who, Some(&spans));
                prop_assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected);
            }
        }
    }
}
