//! Identity: whose face, whose voice, which of them are one person.
//!
//! One resolver, run by the single writer once per sealed clip, in canonical order (start, source, kind),
//! deterministic. It takes `percept`s and hands `memorize` the clip with names on it. All that it decides
//! on are rows ([`IdentityRows`]) and the small [`Undecided`] of the checkpoint: rebuilt from them it goes on
//! as if it had never stopped.
//!
//! Per clip: tracks and turns are grouped jointly with the galleries (`cluster`); what is between two
//! thresholds waits; galleries learn; signed face–voice evidence is counted (`evidence`); galleries that turn
//! out to be one (`likeness`) are merged; voices are linked to faces (`link`); what is left alone becomes a person alone. Names that
//! speakers gave themselves (`hear`) weigh in both (`introductions`).
//! Things are known by label and place (`objects`). Whom another model can no longer match stays, and is found again by the
//! other half (`unmatchable`).

mod enrol;
pub mod evidence;
pub mod ledger;
pub mod matching;
mod objects;
mod persons;
mod shared;
#[cfg(test)]
mod testing;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod wav;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use enrol::{EnrolError, Enrolled, Enrolment, Lesson};
pub use evidence::introductions::{Introductions, Naming};
pub use ledger::{IdentityRows, Ledger, Undecided};
pub use matching::thresholds::MatchThresholds;
pub use persons::Persons;
pub use persons::rows::{identity_rows, who_is_who};
pub use shared::{Guess, Guesses, ResolverGuard, SharedResolver};
pub use wav::{snippet, wav};

pub(crate) use ledger::pinned::file;

use crate::config::Identity;
use crate::ids::{ClipId, EntityId, EntityKind, SourceId, TrackId, TurnId};
use crate::memory::model::{
    Exemplar, Media, MediaDigest, Membership, Merge, NameRow, NameSource, TrackRow, TurnRow,
};
use crate::percept::{ClipPercepts, FaceTrack, Life, SpeechTurn};
use crate::time::Timestamp;
use evidence::introductions::Spellings;
use evidence::{Evidence, Moment, Mouth};
use matching::candidates::{Candidates, Idle};
use matching::centroids::Centres;
use matching::faces::Given;
use matching::gallery::{Gallery, Probe};
use objects::Objects;
use persons::merge::Ties;

/// What one turn counts at most for a face whose mouth tells nothing, in links (`link_secs`): not quite two, so that what was
/// linked on one occasion gives way to who is heard on two. A second at least.
const LINKS_PER_TURN: f64 = 1.9;

/// A track of the clip with its face.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentifiedTrack {
    /// The track.
    pub track: TrackId,
    /// `face_N`; `None` while undecided.
    pub face: Option<EntityId>,
    /// Whose face, merges resolved.
    pub person: Option<EntityId>,
    /// How sure, 0–1.
    pub confidence: f32,
}

/// A turn of the clip with its voice.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentifiedTurn {
    /// The turn.
    pub turn: TurnId,
    /// `voice_N`; `None` while undecided.
    pub voice: Option<EntityId>,
    /// Whose voice, merges resolved; `None` also where it is nobody's ([`Self::aside`]).
    pub person: Option<EntityId>,
    /// How sure, 0–1.
    pub confidence: f32,
    /// The robot's own speech or a television's: nothing is concluded from it.
    pub aside: bool,
}

/// An object track of the clip with its object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IdentifiedObject {
    /// The track.
    pub track: TrackId,
    /// `object_N`.
    pub object: EntityId,
    /// When it was seen last before this track's part in the clip; `None`: never.
    pub before: Option<Timestamp>,
}

/// What the resolver made of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdentifiedClip {
    /// The clip's tracks, in canonical order.
    pub tracks: Vec<IdentifiedTrack>,
    /// The clip's object tracks, in canonical order.
    pub objects: Vec<IdentifiedObject>,
    /// The clip's turns, in canonical order.
    pub turns: Vec<IdentifiedTurn>,
    /// Persons that were never met before.
    pub new_persons: Vec<EntityId>,
    /// Voices that were given to a face, or taken from one, in this clip, with the figures.
    pub links: Vec<Membership>,
    /// Merges found in this clip.
    pub merges: Vec<Merge>,
    /// Names heard.
    pub names: Vec<NameRow>,
    /// Decided only now: turns of earlier clips.
    pub late_turns: Vec<(ClipId, TurnId, EntityId)>,
}

impl IdentifiedClip {
    /// Adds what was decided after this clip, at the session's end.
    pub fn append(&mut self, after: Self) {
        let Self { tracks, objects, turns, new_persons, links, merges, names, late_turns } = after;
        self.tracks.extend(tracks);
        self.objects.extend(objects);
        self.turns.extend(turns);
        self.new_persons.extend(new_persons);
        self.links.extend(links);
        self.merges.extend(merges);
        self.names.extend(names);
        self.late_turns.extend(late_turns);
    }

    /// Whose face that track shows.
    #[must_use]
    pub fn person_of_track(&self, track: TrackId) -> Option<EntityId> {
        self.tracks.iter().find(|t| t.track == track).and_then(|t| t.person)
    }

    /// Whether that turn is the robot's own speech or a television's, from which nothing follows.
    #[must_use]
    pub fn is_aside(&self, turn: TurnId) -> bool {
        self.turns.iter().any(|t| t.turn == turn && t.aside)
    }

    /// Who spoke that turn.
    #[must_use]
    pub fn person_of_turn(&self, turn: TurnId) -> Option<EntityId> {
        self.turns.iter().find(|t| t.turn == turn).and_then(|t| t.person)
    }
}

/// The first percept of a new entity: ids are minted in that order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Founding {
    start: Timestamp,
    source: SourceId,
    kind: EntityKind,
}

impl Founding {
    fn new(kind: EntityKind, source: &SourceId) -> Self {
        Self { start: Timestamp::MAX, source: source.clone(), kind }
    }

    fn include(&mut self, start: Timestamp, source: &SourceId) {
        if (start, source) < (self.start, &self.source) {
            self.start = start;
            self.source = source.clone();
        }
    }
}

/// Percept → entity. See the module's head.
#[derive(Clone, Debug)]
pub struct Resolver {
    settings: Identity,
    faces: MatchThresholds,
    voices: MatchThresholds,
    galleries: BTreeMap<EntityId, Arc<Gallery>>,
    /// Those that percepts are compared with.
    centres: Centres,
    /// Those that are looked through for what matches nobody.
    cold: Centres,
    idle: Idle,
    spelt: Spellings,
    ties: Ties,
    persons: Persons,
    evidence: Evidence,
    objects: Objects,
    undecided: Undecided,
}

impl Resolver {
    /// From the rows that are valid now and the checkpoint's undecided percepts.
    ///
    /// `settings.face_accept` and `voice_accept`, where given, move the calibrated thresholds.
    ///
    /// Costs what the rows hold, once: nothing is compared with anything. Exemplars are shared, not copied.
    #[must_use]
    pub fn from_rows(
        rows: &IdentityRows,
        undecided: Undecided,
        settings: &Identity,
        faces: MatchThresholds,
        voices: MatchThresholds,
    ) -> Self {
        let mut slots: BTreeMap<EntityId, Vec<Arc<Exemplar>>> = BTreeMap::new();
        for exemplar in &rows.exemplars {
            slots.entry(exemplar.entity).or_default().push(Arc::clone(exemplar));
        }
        let galleries: BTreeMap<EntityId, Arc<Gallery>> = slots
            .into_iter()
            .map(|(entity, slots)| (entity, Arc::new(Gallery::from_exemplars(entity, slots))))
            .collect();
        let persons = Persons::from_rows(rows);
        let mut resolver = Self {
            settings: settings.clone(),
            faces: settings.face_accept.map_or(faces, |at| faces.with_accept(at)).of_views(),
            voices: settings.voice_accept.map_or(voices, |at| voices.with_accept(at)),
            galleries,
            centres: Centres::default(),
            cold: Centres::default(),
            idle: Idle::default(),
            spelt: Spellings::of(&persons),
            ties: Ties::from_rows(&rows.pairs),
            persons,
            evidence: Evidence::from_rows(&rows.pairs),
            objects: Objects::from_rows(rows),
            undecided,
        };
        let known: Vec<EntityId> = resolver.galleries.keys().copied().collect();
        known.into_iter().for_each(|entity| resolver.index_gallery(entity));
        resolver
    }

    /// What the checkpoint has to keep.
    #[must_use]
    pub fn undecided(&self) -> &Undecided {
        &self.undecided
    }

    /// Who is one person with whom.
    #[must_use]
    pub fn persons(&self) -> &Persons {
        &self.persons
    }

    /// The signed evidence.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Decides who is who in a sealed clip.
    pub fn resolve(&mut self, clip: &ClipPercepts, ledger: &mut dyn Ledger) -> IdentifiedClip {
        let objects = self.objects.resolve(clip, &mut self.undecided.objects, ledger);
        let mut out = IdentifiedClip { objects, ..IdentifiedClip::default() };
        let mut tracks: Vec<&FaceTrack> = clip.tracks.iter().collect();
        tracks
            .sort_by(|a, b| (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id)));
        let mut turns: Vec<&SpeechTurn> = clip.turns.iter().collect();
        turns.sort_by(|a, b| (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id)));
        self.start_clip(clip);
        self.renew_owners();
        self.cool(clip.span.end);
        // A picture is nobody's, also where it was not found out at once.
        let pictures: BTreeSet<TrackId> = tracks
            .iter()
            .filter(|track| track.life == Life::Picture)
            .map(|track| track.id)
            .collect();
        self.undecided.tracks.retain(|open| {
            let other = open.clips.iter().any(|at| at.session != clip.clip.session);
            other || !pictures.contains(&open.track)
        });
        let living: Vec<&FaceTrack> =
            tracks.iter().copied().filter(|track| track.life != Life::Picture).collect();
        self.look(clip, &living);

        let faces = self.group_faces(clip, &living);
        let voices = self.group_voices(clip, &turns);
        let found = faces.given.values().map(|(given, _)| *given);
        let found = found.chain(voices.given.values().map(|(given, ..)| *given));
        let found = found.chain(faces.late.iter().map(|(_, given, _)| *given));
        let found: Vec<Given> =
            found.chain(voices.late.iter().map(|(_, given, ..)| *given)).collect();
        for given in found {
            if let Given::Known(head) = given {
                self.warm(head);
                self.undecided.touched.insert(head);
            }
        }
        let (new_faces, new_voices, order) = mint(&faces.foundings, &voices.foundings, ledger);
        let face = |given: Given| match given {
            Given::Known(id) => id,
            Given::New(index) => new_faces[index],
        };
        let voice = |given: Given| match given {
            Given::Known(id) => id,
            Given::New(index) => new_voices[index],
        };

        // rows of tracks and turns
        let mut face_of: BTreeMap<TrackId, EntityId> = BTreeMap::new();
        for track in &tracks {
            let given = faces.given.get(&track.id).map(|(given, sure)| (face(*given), *sure));
            if let Some((id, _)) = given {
                face_of.insert(track.id, id);
            }
            ledger.track(TrackRow {
                clip: clip.clip,
                track: track.id,
                source: track.source.clone(),
                span: track.span,
                sightings: track.sightings.as_slice().into(),
                picture: track.life == Life::Picture,
                face: given.map(|(id, _)| id),
                confidence: given.map_or(0.0, |(_, sure)| sure),
            });
        }
        for (track, given, confidence) in &faces.late {
            for at in &track.clips {
                ledger.late_track(*at, track.track, face(*given), *confidence);
                self.undecided.faces.push((*at, track.track, face(*given)));
            }
        }
        self.undecided.faces.extend(face_of.iter().map(|(track, id)| (clip.clip, *track, *id)));
        for turn in &turns {
            let given = voices.given.get(&turn.id).map(|(given, sure, _)| (voice(*given), *sure));
            let given = if turn.own { Some((EntityId::ROBOT, 1.0)) } else { given };
            let snippet = snippet(turn);
            let sound = snippet.as_ref().map(|file| file.digest.clone());
            snippet.into_iter().for_each(|file| ledger.media(file));
            ledger.turn(TurnRow {
                clip: clip.clip,
                turn: turn.id,
                source: turn.source.clone(),
                span: turn.span,
                speech_secs: turn.speech_secs,
                voice: given.map(|(id, _)| id),
                confidence: given.map_or(0.0, |(_, sure)| sure),
                words: turn.words.clone(),
                sound,
            });
        }
        for (turn, given, confidence, _) in &voices.late {
            ledger.late_turn(turn.clip, turn.turn, voice(*given), *confidence);
            out.late_turns.push((turn.clip, turn.turn, voice(*given)));
        }

        // galleries learn
        let files: BTreeMap<MediaDigest, Media> =
            voices.media.iter().map(|file| (file.digest.clone(), file.clone())).collect();
        let mut lessons: Vec<(Exemplar, Option<Media>)> = Vec::new();
        for (given, exemplar, media) in &faces.lessons {
            let entity = face(*given);
            lessons.push((Exemplar { entity, ..exemplar.clone() }, Some(media.clone())));
        }
        for (given, exemplar) in &voices.lessons {
            let media = exemplar.media.as_ref().and_then(|digest| files.get(digest)).cloned();
            lessons.push((Exemplar { entity: voice(*given), ..exemplar.clone() }, media));
        }
        self.learn(lessons, ledger);
        for turn in &voices.open {
            if let Some(file) = turn.sound.as_ref().and_then(|digest| files.get(digest)) {
                ledger.media(file.clone());
            }
        }

        // evidence
        self.count_together(&tracks, &face_of);
        let voice_of: BTreeMap<TurnId, EntityId> =
            voices.given.iter().map(|(turn, (given, ..))| (*turn, voice(*given))).collect();
        self.count_apart(&turns, &voice_of);
        let heard: Vec<_> = self.heard_in_clip(clip, &turns, &voices, &voice);
        self.undecided.tracks = faces.open;
        for open in &mut self.undecided.tracks {
            let beside = open.beside.iter().filter_map(|track| face_of.get(track).copied());
            open.barred.extend(beside);
            open.barred.sort();
            open.barred.dedup();
        }
        self.undecided.turns = voices.open;
        self.undecided.in_step |=
            clip.mouths.iter().any(|score| Mouth::of(score.log_odds) == Mouth::Speaks);
        let silent = self.silent_in_clip(clip.clip, &heard);
        for (id, seen, mouths) in heard {
            self.count_heard(clip.clip, id, (&seen, &mouths), (1.0, &silent));
        }

        // persons
        self.merge_galleries(ledger, &mut out);
        self.link_voices(&order, ledger, &mut out);
        for part in &order {
            if self.persons.person_of(*part).is_none() {
                let person = ledger.mint(EntityKind::Person);
                let reason = format!("{part} is first met in {}", clip.clip);
                self.persons.enter(membership(*part, person, reason), ledger);
                out.new_persons.push(person);
            }
        }
        let ends =
            tracks.iter().filter_map(|track| Some((track.span.end, *face_of.get(&track.id)?)));
        let spoken =
            turns.iter().filter_map(|turn| Some((turn.span.end, *voice_of.get(&turn.id)?)));
        self.undecided.met.extend(ends.chain(spoken));
        self.decide_old(
            clip.span.end.plus_secs(-matching::late::DECIDE_AFTER_SECS),
            ledger,
            &mut out,
        );
        self.write_evidence(ledger);

        for track in &tracks {
            let id = face_of.get(&track.id).copied();
            out.tracks.push(IdentifiedTrack {
                track: track.id,
                face: id,
                person: id.and_then(|id| self.persons.person_of(id)),
                confidence: faces.given.get(&track.id).map_or(0.0, |(_, sure)| *sure),
            });
        }
        for turn in &turns {
            let given = voices.given.get(&turn.id).map(|(given, sure, _)| (voice(*given), *sure));
            let aside = turn.own || given.is_some_and(|(id, _)| self.persons.is_aside(id));
            let person = given.and_then(|(id, _)| self.persons.person_of(id));
            out.turns.push(IdentifiedTurn {
                turn: turn.id,
                voice: given.map(|(id, _)| id),
                person: person.filter(|_| !aside),
                confidence: given.map_or(0.0, |(_, sure)| sure),
                aside,
            });
        }
        self.hear_names((clip, turns.as_slice()), &voice_of, &mut out, ledger);
        self.renew_owners();
        out
    }

    /// A model concluded that a face and a voice are one person: evidence that weighs as much as `secs` seconds of
    /// speech under that face, never a verdict. The next clip's assignment takes it into account.
    pub fn believe(&mut self, face: EntityId, voice: EntityId, secs: f64, ledger: &mut dyn Ledger) {
        if face.kind == EntityKind::Face && voice.kind == EntityKind::Voice && secs > 0.0 {
            self.evidence.believed(face, voice, secs);
            self.write_evidence(ledger);
        }
    }

    /// A model concluded a name from what was said. It is kept for those who have none; gives back the row.
    pub fn conclude_name(
        &mut self,
        entity: EntityId,
        name: &str,
        at: Timestamp,
        ledger: &mut dyn Ledger,
    ) -> Option<NameRow> {
        let entity = self.persons.person_of(entity).unwrap_or(self.persons.resolve(entity));
        if entity.kind != EntityKind::Person || self.persons.name(entity).is_some() {
            return None;
        }
        let (name, source) = (name.to_owned(), NameSource::Model);
        let row = NameRow { entity, name, since: at, source, turn: None };
        self.persons.name_it(row.clone(), ledger);
        self.meet(entity, &row.name, false, ledger);
        Some(row)
    }

    /// The session is over: what is still open gets the likeliest answer or stays without one.
    pub fn finish(&mut self, ledger: &mut dyn Ledger) -> IdentifiedClip {
        let mut out = IdentifiedClip::default();
        self.decide_old(Timestamp::MAX, ledger, &mut out);
        self.merge_galleries(ledger, &mut out);
        self.link_voices(&[], ledger, &mut out);
        self.write_evidence(ledger);
        self.renew_owners();
        self.undecided = Undecided::default();
        out
    }

    /// The user names an entity (a face or voice stands for its person). Gives back the name, of the one it then is: who was
    /// told of by that name is met now.
    pub fn decree_name(
        &mut self,
        entity: EntityId,
        name: &str,
        at: Timestamp,
        ledger: &mut dyn Ledger,
    ) -> NameRow {
        let entity = self.persons.person_of(entity).unwrap_or(self.persons.resolve(entity));
        let row = NameRow {
            entity,
            name: name.to_owned(),
            since: at,
            source: NameSource::Told,
            turn: None,
        };
        self.persons.name_it(row.clone(), ledger);
        NameRow { entity: self.meet(entity, name, true, ledger), ..row }
    }

    /// The user says that two persons are one: the named one stays, else the older. Returns who stays.
    pub fn decree_merge(&mut self, a: EntityId, b: EntityId, ledger: &mut dyn Ledger) -> EntityId {
        let (a, b) = (self.persons.resolve(a), self.persons.resolve(b));
        let rank = |id| (self.persons.name(id).map_or(0, |(_, source)| 1 + source as u8), id);
        let (x, y) = (rank(a), rank(b));
        let a_stays = if x.0 == y.0 { a <= b } else { x.0 > y.0 };
        let (into, from) = if a_stays { (a, b) } else { (b, a) };
        let reason = "the user said so".to_owned();
        self.persons.merge(Merge { from, into, reason, decreed: true }, ledger);
        into
    }

    /// The user says that somebody of whom there is no face and no voice is not whom they were merged into. Returns who
    /// they are then.
    pub fn decree_apart(&mut self, alias: EntityId, ledger: &mut dyn Ledger) -> EntityId {
        self.persons.undo(alias, true, ledger);
        self.persons.resolve(alias)
    }

    /// The user says that these faces or voices are another person than they were taken for.
    ///
    /// Each goes back to the person it first was, or, where that is the same, together to a new one. It sticks:
    /// evidence does not overrule it. Returns the persons they now belong to.
    pub fn decree_split(&mut self, parts: &[EntityId], ledger: &mut dyn Ledger) -> Vec<EntityId> {
        let mut fresh: Option<EntityId> = None;
        let mut persons = BTreeSet::new();
        let taken_for = |part: &EntityId| {
            let person = self.persons.person_of(*part)?;
            let (was, ties) = self.persons.reasons(*part);
            Some((*part, person, was.unwrap_or_default().to_owned(), ties.join("; ")))
        };
        let before: Vec<(EntityId, EntityId, String, String)> =
            parts.iter().filter_map(taken_for).collect();
        for (part, person, was, tie) in &before {
            let person = *person;
            self.persons.undo(*part, true, ledger); // face or voice merged into another
            let own = self.persons.membership(*part).map(|row| row.person);
            let origin = match own.filter(|own| *own != person) {
                Some(own) => {
                    if self.persons.resolve(own) == person
                        && let Some(merge) = self.persons.merge_between(own, person)
                    {
                        self.persons.undo(merge, true, ledger);
                    }
                    own
                }
                None => *fresh.get_or_insert_with(|| ledger.mint(EntityKind::Person)),
            };
            // Both sides go on telling why they were one.
            let held = if tie.is_empty() { was } else { tie };
            for other in self.persons.all_parts(person) {
                let Some(row) = self.persons.membership(other) else { continue };
                if parts.contains(&other) {
                    continue;
                }
                let keeps = row.person;
                let told = format!("the user said that {part} is somebody else");
                let reason = joined([&row.reason, held, &told]);
                self.persons.decree(other, keeps, reason, ledger);
            }
            let told = format!("the user said that {person} is somebody else");
            self.persons.decree(*part, origin, joined([was, tie, &told]), ledger);
            persons.insert(self.persons.resolve(origin));
        }
        persons.into_iter().collect()
    }

    /// The face or voice that a probe clearly is, with its score.
    fn nearest(
        &self,
        kind: EntityKind,
        probe: &Probe,
        thresholds: &MatchThresholds,
    ) -> Option<(EntityId, f32)> {
        let (head, score, second) = self.best_two_heads(kind, probe, &[])?;
        let clear = score >= thresholds.accept && score - second >= thresholds.margin;
        clear.then_some((head, score))
    }

    /// The likeliest face or voice but for some, its score, and that of the next one (-1: there is none).
    fn best_two_heads(
        &self,
        kind: EntityKind,
        probe: &Probe,
        but: &[EntityId],
    ) -> Option<(EntityId, f32, f32)> {
        let Candidates { heads, known, near } = self.candidates(kind, &[probe], &[]);
        let near = near.first()?.iter().filter(|index| !but.contains(&heads[**index]));
        let score = |index: usize| {
            known[index].iter().map(|gallery| gallery.score(probe)).fold(-1.0_f32, f32::max)
        };
        let (index, top, second) = matching::cluster::best_two(near, score)?;
        Some((heads[index], top, second))
    }

    /// A face or voice with all that was merged into it (itself first); `None` where the present model can match none of it.
    fn matchable(&self, head: EntityId) -> Option<Vec<EntityId>> {
        let ids = self.persons.group_of(head);
        let lost = ids.iter().all(|id| self.evidence.unmatchable(*id));
        (!lost).then_some(ids)
    }

    /// What is asked of likenesses, so many faces or voices being known.
    fn thresholds(&self, kind: EntityKind) -> MatchThresholds {
        self.calibrated(kind).among(self.known(kind))
    }

    /// What was calibrated, however many are known.
    fn calibrated(&self, kind: EntityKind) -> MatchThresholds {
        if kind == EntityKind::Face { self.faces } else { self.voices }
    }

    /// How many faces or voices are known.
    fn known(&self, kind: EntityKind) -> usize {
        self.centres.count(kind) + self.cold.count(kind)
    }

    fn galleries_of(&self, ids: &[EntityId]) -> Vec<&Gallery> {
        ids.iter().filter_map(|id| self.galleries.get(id)).map(|gallery| &**gallery).collect()
    }

    /// Writes the evidence that changed; who is one with whom is looked at again for those that it is about.
    fn write_evidence(&mut self, ledger: &mut dyn Ledger) {
        self.take_in_evidence();
        self.evidence.write(ledger);
    }

    /// Another session's tracks mean nothing to this one; faces of the last clip but one are forgotten.
    fn start_clip(&mut self, clip: &ClipPercepts) {
        let recent =
            |at: &ClipId| at.session == clip.clip.session && at.index + 2 >= clip.clip.index;
        let held: BTreeSet<TrackId> =
            self.undecided.turns.iter().flat_map(|t| &t.seen).flat_map(|s| s.1.clone()).collect();
        let session = clip.clip.session;
        self.undecided
            .faces
            .retain(|(at, track, _)| recent(at) || at.session == session && held.contains(track));
        if self.undecided.faces.iter().all(|(at, ..)| at.session != session) && clip.clip.index == 0
        {
            self.undecided.looks.clear();
            self.undecided.in_step = false;
        }
    }

    fn learn(&mut self, lessons: Vec<(Exemplar, Option<Media>)>, ledger: &mut dyn Ledger) {
        let mut changed: BTreeMap<(EntityId, u32), Option<Media>> = BTreeMap::new();
        let mut emptied: BTreeSet<(EntityId, u32)> = BTreeSet::new();
        for (exemplar, media) in lessons {
            let entity = exemplar.entity;
            let same_view = self.thresholds(entity.kind).same_view();
            let empty = || Arc::new(Gallery::new(entity));
            let gallery = Arc::make_mut(self.galleries.entry(entity).or_insert_with(empty));
            let others = gallery.leave_other_models(exemplar.embedding.model);
            emptied.extend(others.into_iter().map(|slot| (entity, slot)));
            if let Some(row) = gallery.admit(exemplar, self.settings.gallery_size, same_view) {
                changed.insert((entity, row.slot), media);
                self.evidence.learned(entity);
            }
        }
        let taught: BTreeSet<EntityId> =
            changed.keys().chain(&emptied).map(|(entity, _)| *entity).collect();
        for entity in taught {
            self.index_gallery(entity);
            self.undecided.touched.insert(entity);
        }
        for (entity, slot) in emptied.into_iter().filter(|key| !changed.contains_key(key)) {
            ledger.retire_exemplar(entity, slot);
        }
        for ((entity, slot), media) in changed {
            let row = self.galleries.get(&entity).and_then(|gallery| gallery.in_slot(slot));
            if let Some(row) = row {
                if let Some(media) = media {
                    ledger.media(media);
                }
                ledger.exemplar((**row).clone());
            }
        }
    }

    /// What was seen while each turn that is beyond doubt was heard.
    fn heard_in_clip(
        &self,
        clip: &ClipPercepts,
        turns: &[&SpeechTurn],
        voices: &matching::voices::Voices,
        voice: &dyn Fn(Given) -> EntityId,
    ) -> Vec<(EntityId, Seen, Mouths)> {
        let mut heard = Vec::new();
        for (turn, given, _, sure) in &voices.late {
            if *sure {
                heard.push((voice(*given), turn.seen.clone(), turn.mouths.clone()));
            }
        }
        for turn in turns {
            if let Some((given, _, true)) = voices.given.get(&turn.id) {
                let mouths = matching::voices::mouths_of(clip, turn.id);
                heard.push((voice(*given), self.seen_during(turn), mouths));
            }
        }
        // What loudspeakers say goes with no face.
        heard.retain(|(voice, ..)| !self.persons.is_aside(*voice));
        debug_assert!(turns.iter().all(|t| t.span.start <= clip.span.end));
        heard
    }

    /// Voices and faces of a clip of which a mouth looked silent in some turn and spoke in none: the turns that were not
    /// compared, for want of time, are likely the same.
    fn silent_in_clip(
        &self,
        clip: ClipId,
        heard: &[(EntityId, Seen, Mouths)],
    ) -> BTreeSet<(EntityId, EntityId)> {
        let (mut silent, mut speaking) = (BTreeSet::new(), BTreeSet::new());
        for (voice, _, mouths) in heard {
            for (track, log_odds) in mouths {
                let Some(face) = self.face_of_track(clip, *track) else { continue };
                match Mouth::of(*log_odds) {
                    Mouth::Silent => silent.insert((*voice, face)),
                    Mouth::Speaks => speaking.insert((*voice, face)),
                    Mouth::Unclear | Mouth::Doubtful => false,
                };
            }
        }
        silent.retain(|pair| !speaking.contains(pair));
        silent
    }

    /// Counts what was seen, and the mouths, while a turn was heard that is this voice's; `weight` is how sure that is, 0–1;
    /// `silent` as [`Self::silent_in_clip`].
    fn count_heard(
        &mut self,
        clip: ClipId,
        voice: EntityId,
        (seen, mouths): (&Seen, &Mouths),
        (weight, silent): (f64, &BTreeSet<(EntityId, EntityId)>),
    ) {
        let mut turn: Vec<Moment> = Vec::new();
        for (secs, tracks) in seen {
            let mut unknown = 0;
            let mut visible: BTreeMap<EntityId, Mouth> = BTreeMap::new();
            for track in tracks {
                match self.face_of_track(clip, *track) {
                    Some(face) => {
                        let mouth = self.mouth(mouths, *track);
                        let of = visible.entry(face).or_default();
                        // One face in two tracks: what is clear counts.
                        *of = if mouth == Mouth::Unclear { *of } else { mouth };
                    }
                    None => unknown += 1,
                }
            }
            for (face, mouth) in &mut visible {
                if *mouth == Mouth::Unclear && silent.contains(&(voice, *face)) {
                    *mouth = Mouth::Doubtful;
                }
            }
            turn.push(Moment { secs: weight * secs, visible, unknown });
        }
        let witness_secs = weight * (LINKS_PER_TURN * self.settings.link_secs).max(1.0);
        self.evidence.heard(voice, clip, &turn, witness_secs);
    }

    /// What a track's mouth did. As long as none was seen to speak, sound and pictures may be out of step, or the mouth of
    /// everybody hidden: then a silent one speaks neither for nor against.
    fn mouth(&self, mouths: &[(TrackId, f32)], track: TrackId) -> Mouth {
        let log_odds = mouths.iter().find(|(of, _)| *of == track).map(|(_, log_odds)| *log_odds);
        match log_odds.map(Mouth::of) {
            Some(Mouth::Silent) if !self.undecided.in_step => Mouth::Doubtful,
            Some(mouth) => mouth,
            None => Mouth::Unclear,
        }
    }
}

/// Seconds by the set of visible tracks.
type Seen = Vec<(f64, Vec<TrackId>)>;

/// Mean log odds that these tracks' mouths made the sound.
type Mouths = Vec<(TrackId, f32)>;

/// Reasons one after the other, each once.
fn joined(reasons: [&str; 3]) -> String {
    let mut all = String::new();
    for reason in reasons {
        if all.contains(reason) {
            continue;
        }
        let between = if all.is_empty() { "" } else { "; " };
        all = format!("{all}{between}{reason}");
    }
    all
}

fn membership(part: EntityId, person: EntityId, reason: String) -> Membership {
    Membership { part, person, reason, decreed: false }
}

/// Mints the new faces and voices in canonical order; returns them by founding, and all in that order.
fn mint(
    faces: &[Founding],
    voices: &[Founding],
    ledger: &mut dyn Ledger,
) -> (Vec<EntityId>, Vec<EntityId>, Vec<EntityId>) {
    let mut order: Vec<(&Founding, usize)> =
        faces.iter().enumerate().map(|(i, f)| (f, i)).collect();
    order.extend(voices.iter().enumerate().map(|(i, f)| (f, i)));
    order.sort();
    let none = EntityId::ROBOT;
    let (mut new_faces, mut new_voices) = (vec![none; faces.len()], vec![none; voices.len()]);
    let mut minted = Vec::new();
    for (founding, index) in order {
        let id = ledger.mint(founding.kind);
        match founding.kind {
            EntityKind::Face => new_faces[index] = id,
            _ => new_voices[index] = id,
        }
        minted.push(id);
    }
    (new_faces, new_voices, minted)
}
