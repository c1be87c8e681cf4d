//! What stays open is decided when no more evidence will come.

use std::collections::BTreeSet;

use super::cluster;
use super::gallery::Probe;
use crate::identify::identified::IdentifiedClip;
use crate::identify::resolver::Resolver;
use crate::identify::writer::IdentityWriter;
use crate::ids::{EntityId, EntityKind};
use crate::time::Timestamp;

/// After that long an open percept gets the likeliest answer or none, seconds.
pub(in crate::identify) const DECIDE_AFTER_SECS: f64 = 300.0;

impl Resolver {
    /// Open percepts that ended before `until` get the likeliest known face or voice, or none for good. What was seen during a
    /// turn that gets one is evidence from then on, too, by how sure it is.
    pub(in crate::identify) fn decide_old(
        &mut self,
        until: Timestamp,
        writer: &mut dyn IdentityWriter,
        out: &mut IdentifiedClip,
    ) {
        let (old, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.undecided.tracks)
            .into_iter()
            .partition(|track| track.span.start < until);
        self.undecided.tracks = open;
        for track in old {
            let vectors = track.samples.iter().map(|s| (s.embedding.clone(), s.quality)).collect();
            let of = (EntityKind::Face, track.span.end);
            let found = self.likeliest(of, &Probe::new(vectors), &track.cannot_link);
            if let Some((face, confidence)) = found {
                for clip in track.clips {
                    writer.late_track(clip, track.track, face, confidence);
                }
            }
        }
        let (old, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.undecided.turns)
            .into_iter()
            .partition(|turn| turn.span.end < until);
        self.undecided.turns = open;
        for turn in old {
            let probe = Probe::new(vec![(turn.embedding.clone(), turn.speech_secs as f32)]);
            let of = (EntityKind::Voice, turn.span.end);
            if let Some((voice, confidence)) = self.likeliest(of, &probe, &[]) {
                writer.late_turn(turn.clip, turn.turn, voice, confidence);
                out.late_turns.push((turn.clip, turn.turn, voice));
                if !turn.overlapped && !self.persons.is_non_person(voice) {
                    let weight = f64::from(confidence);
                    let certain = (weight, &BTreeSet::new());
                    self.count_heard(turn.clip, voice, (&turn.seen, &turn.mouths), certain);
                }
            }
        }
        self.undecided.met.retain(|(at, _)| until.secs_since(*at) <= DECIDE_AFTER_SECS);
    }

    /// Whose face or voice of that time a probe is, and how sure: of all that are known; where they are so many that some
    /// stranger resembles one of them, of those who were surely met about that time.
    fn likeliest(
        &self,
        (kind, at): (EntityKind, Timestamp),
        probe: &Probe,
        cannot_link: &[EntityId],
    ) -> Option<(EntityId, f32)> {
        let (calibrated, all) = (self.calibrated(kind), self.thresholds(kind));
        let is_clear = |top: f32, second: f32, known: usize| {
            let least = calibrated.likely_among(known);
            top >= least && top - second >= 0.5 * calibrated.margin
        };
        let of_all = self.best_two_heads(kind, probe, cannot_link);
        let of_all = of_all.filter(|(_, top, second)| is_clear(*top, *second, self.known(kind)));
        let are_many = all.accept > calibrated.accept;
        let of_met = || {
            let met = self.met_about(kind, at, cannot_link);
            let score = |index: usize| self.score_of_head(met[index], probe);
            let indices: Vec<usize> = (0..met.len()).collect();
            let (index, top, second) = cluster::best_two(&indices, score)?;
            is_clear(top, second, met.len()).then_some((met[index], top, second))
        };
        let found = of_all.or_else(|| are_many.then(of_met).flatten());
        found.map(|(head, top, _)| (head, 0.8 * all.confidence(top)))
    }

    /// Faces or voices of the people who were surely seen or heard within [`DECIDE_AFTER_SECS`] of `at`, before or after.
    fn met_about(
        &self,
        kind: EntityKind,
        at: Timestamp,
        cannot_link: &[EntityId],
    ) -> Vec<EntityId> {
        let near = |when: &Timestamp| at.secs_since(*when).abs() <= DECIDE_AFTER_SECS;
        let met = self.undecided.met.iter().filter(|(when, _)| near(when));
        let people: BTreeSet<EntityId> =
            met.filter_map(|(_, part)| self.persons.person_of(*part)).collect();
        let people = people.into_iter().filter(|person| person.kind == EntityKind::Person);
        let heads = people.flat_map(|person| self.persons.parts(person, kind));
        heads.filter(|head| !cannot_link.contains(head)).collect()
    }
}
