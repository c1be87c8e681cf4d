//! Who in the open window looks like nobody: told apart by their faces, so that a second stranger is no news of the first.
//!
//! They have numbers until their clip is sealed; after that the resolver knows them. Where a face is neither surely one with
//! another stranger's nor surely none of them, its number may be a second one of somebody: it is not *told apart*.

use std::collections::BTreeMap;

use crate::identify::Guesses;
use crate::ids::{SourceId, TrackId};
use crate::memory::Stranger;
use crate::percept::{Embedding, FaceSample};
use crate::time::Timestamp;

/// The strangers of all cameras.
#[derive(Default)]
pub(super) struct Strangers {
    /// Numbers that were given.
    given: u32,
    /// Those who are told apart.
    known: Vec<Known>,
    /// By camera and handle of a face or a body.
    open: BTreeMap<(SourceId, TrackId), Open>,
    /// Erasures by then.
    erasures: u64,
}

/// A stranger who is told apart.
struct Known {
    number: u32,
    face: Embedding,
    last: Timestamp,
}

/// A face or a body that is followed, and looks like nobody.
struct Open {
    stranger: Stranger,
    /// When the picture was taken by which it was looked at last.
    of: Option<Timestamp>,
}

impl Strangers {
    /// Lets go of all where something was erased since.
    pub(super) fn renew(&mut self, erasures: u64) {
        if self.erasures != erasures {
            *self = Self { given: self.given, erasures, ..Self::default() };
        }
    }

    /// A clip is sealed: whom it shows the resolver knows.
    pub(super) fn sealed(&mut self, boundary: Timestamp) {
        let open: Vec<u32> = self.open.values().map(|open| open.stranger.number).collect();
        self.known.retain(|known| known.last > boundary || open.contains(&known.number));
    }

    /// Lets go of the faces and bodies of a camera that are not followed any more, or look like somebody.
    pub(super) fn keep(&mut self, source: &SourceId, is_open: impl Fn(TrackId) -> bool) {
        self.open.retain(|(of, track), _| of != source || is_open(*track));
    }

    /// Which stranger a face is that looks like nobody: by its best picture, once it has one. `body`: on which it is; `beside`:
    /// the other faces of the picture.
    pub(super) fn face(
        &mut self,
        source: &SourceId,
        track: TrackId,
        best: Option<&FaceSample>,
        (body, beside): (Option<TrackId>, &[TrackId]),
        guesses: &Guesses,
    ) -> Stranger {
        let of = best.map(|sample| sample.at);
        let before = self.open.get(&(source.clone(), track));
        let known = before.map(|open| open.stranger);
        let is_looked_at = before.is_some_and(|open| open.of == of);
        let stranger = match (known, best) {
            (Some(stranger), _) if stranger.told_apart || is_looked_at => stranger,
            (known, best) => {
                let body = body.and_then(|body| self.of(source, body));
                let found = best.and_then(|best| {
                    let beside = beside.iter().filter_map(|one| self.of(source, *one));
                    let beside: Vec<u32> = beside.map(|one| one.number).collect();
                    self.told_apart(&best.embedding, known.or(body), &beside, guesses)
                });
                let number = found.or(known.or(body).map(|one| one.number));
                Stranger {
                    number: number.unwrap_or_else(|| self.give()),
                    told_apart: found.is_some(),
                }
            }
        };
        if let (true, Some(best)) = (stranger.told_apart, best) {
            self.see(stranger.number, best);
        }
        self.open.insert((source.clone(), track), Open { stranger, of });
        if let Some(body) = body {
            self.open.insert((source.clone(), body), Open { stranger, of: None });
        }
        stranger
    }

    /// Which stranger a body is whose face nobody knows or nobody saw.
    pub(super) fn body(&mut self, source: &SourceId, track: TrackId) -> Stranger {
        if let Some(stranger) = self.of(source, track) {
            return stranger;
        }
        let stranger = Stranger { number: self.give(), told_apart: false };
        self.open.insert((source.clone(), track), Open { stranger, of: None });
        stranger
    }

    fn of(&self, source: &SourceId, track: TrackId) -> Option<Stranger> {
        self.open.get(&(source.clone(), track)).map(|open| open.stranger)
    }

    /// The number of a face that is surely one with a stranger's, or surely a new one; `None`: neither.
    fn told_apart(
        &mut self,
        face: &Embedding,
        so_far: Option<Stranger>,
        beside: &[u32],
        guesses: &Guesses,
    ) -> Option<u32> {
        let others: Vec<&Known> =
            self.known.iter().filter(|known| !beside.contains(&known.number)).collect();
        let same = others.iter().find(|known| guesses.are_one(face, &known.face));
        if let Some(same) = same {
            return Some(same.number);
        }
        let faces: Vec<&Embedding> = others.iter().map(|known| &known.face).collect();
        guesses
            .is_nobodys(face, &faces)
            .then(|| so_far.map_or_else(|| self.give(), |stranger| stranger.number))
    }

    fn see(&mut self, number: u32, best: &FaceSample) {
        let at = best.at;
        match self.known.iter_mut().find(|known| known.number == number) {
            Some(known) => known.last = known.last.max(at),
            None => {
                self.known.push(Known { number, face: best.embedding.clone(), last: at });
            }
        }
    }

    fn give(&mut self) -> u32 {
        self.given += 1;
        self.given
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::sections::Identity;
    use crate::identify::{
        IdentityRows, MatchThresholds, PendingIdentities, Resolver, SharedResolver,
    };
    use crate::ids::ModelHash;
    use crate::models::Thresholds;

    /// Nobody is known yet.
    fn guesses() -> Arc<Guesses> {
        let faces = Thresholds::built_in("mobilefacenet").unwrap().unwrap();
        let faces = MatchThresholds::from(&faces);
        let (rows, pending) = (IdentityRows::default(), PendingIdentities::default());
        let resolver = Resolver::from_rows(
            &rows,
            pending,
            &Identity::default(),
            faces,
            MatchThresholds::UNKNOWN,
        );
        SharedResolver::new(resolver).guesses()
    }

    /// A face that turns from one direction to another.
    fn sample(second: i64, degrees: f32) -> FaceSample {
        let (y, x) = degrees.to_radians().sin_cos();
        FaceSample {
            at: Timestamp::from_nanos(second * 1_000_000_000),
            embedding: Embedding::normalised(vec![x, y], ModelHash([1; 32])),
            quality: 0.5,
            chip: Arc::from([]),
        }
    }

    #[test]
    fn two_who_look_unlike_are_two_and_one_whose_track_broke_off_is_one() {
        let (guesses, mut strangers, front) =
            (guesses(), Strangers::default(), SourceId::new("front"));
        let mut face = |track: u64, sample: Option<&FaceSample>| {
            strangers.face(&front, TrackId(track), sample, (None, &[]), &guesses)
        };
        let first = face(1, None);
        assert!(!first.told_apart, "nothing is known of its face yet");
        let seen = face(1, Some(&sample(1, 0.0)));
        assert_eq!(seen, Stranger { told_apart: true, ..first });
        let again = face(2, Some(&sample(5, 5.0)));
        assert_eq!(again, seen);
        let other = face(3, Some(&sample(6, 180.0)));
        assert!(other.told_apart && other.number != first.number);
        let unclear = face(4, Some(&sample(7, 67.0)));
        assert!(!unclear.told_apart, "{unclear:?}: it may be either's");
    }

    #[test]
    fn a_body_is_whose_face_was_on_it_and_who_stands_beside_somebody_is_another() {
        let (guesses, mut strangers, front) =
            (guesses(), Strangers::default(), SourceId::new("front"));
        let body = TrackId(101);
        let came = strangers.body(&front, body);
        assert!(!came.told_apart);
        let turned =
            strangers.face(&front, TrackId(1), Some(&sample(1, 0.0)), (Some(body), &[]), &guesses);
        assert_eq!(turned, Stranger { told_apart: true, ..came });
        assert_eq!(strangers.body(&front, body), turned);
        // (Twins.)
        let twin = strangers.face(
            &front,
            TrackId(2),
            Some(&sample(1, 1.0)),
            (None, &[TrackId(1)]),
            &guesses,
        );
        assert!(twin.told_apart && twin.number != turned.number);
    }

    #[test]
    fn what_a_clip_holds_and_what_is_erased_is_let_go_of() {
        let (guesses, mut strangers, front) =
            (guesses(), Strangers::default(), SourceId::new("front"));
        let alone = (None, [].as_slice());
        let gone = strangers.face(&front, TrackId(1), Some(&sample(1, 0.0)), alone, &guesses);
        strangers.keep(&front, |_| false);
        strangers.sealed(sample(30, 0.0).at);
        let next = strangers.face(&front, TrackId(2), Some(&sample(31, 0.0)), alone, &guesses);
        assert!(next.number > gone.number && next.told_apart);
        strangers.renew(1);
        assert!(strangers.known.is_empty() && strangers.open.is_empty());
        assert!(strangers.body(&front, TrackId(9)).number > next.number);
    }
}
