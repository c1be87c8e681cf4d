//! A sealed clip resolved: percepts grouped, galleries taught, evidence counted, persons found.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Moment, Mouth};
use super::identified::{IdentifiedClip, IdentifiedTrack, IdentifiedTurn};
use super::matching::assignment::{Assignment, NewEntity};
use super::matching::{late, voices};
use super::pending::PendingIdentities;
use super::persons::membership;
use super::resolver::Resolver;
use super::wav::snippet;
use super::writer::IdentityWriter;
use crate::ids::{ClipId, EntityId, EntityKind, TrackId, TurnId};
use crate::memory::model::{Exemplar, Media, MediaDigest, TrackRow, TurnRow};
use crate::percept::{ClipPercepts, FaceTrack, Liveness, SpeechTurn};
use crate::time::Timestamp;

/// What one turn counts at most for a face whose mouth tells nothing, in links (`link_secs`): not quite two, so that what was
/// linked on one occasion gives way to who is heard on two. A second at least.
const LINKS_PER_TURN: f64 = 1.9;

impl Resolver {
    /// Decides who is who in a sealed clip.
    pub fn resolve(
        &mut self,
        clip: &ClipPercepts,
        writer: &mut dyn IdentityWriter,
    ) -> IdentifiedClip {
        let objects = self.objects.resolve(clip, &mut self.undecided.objects, writer);
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
            .filter(|track| track.life == Liveness::Picture)
            .map(|track| track.id)
            .collect();
        self.undecided.tracks.retain(|open| {
            let other = open.clips.iter().any(|at| at.session != clip.clip.session);
            other || !pictures.contains(&open.track)
        });
        let living: Vec<&FaceTrack> =
            tracks.iter().copied().filter(|track| track.life != Liveness::Picture).collect();
        self.look(clip, &living);

        let faces = self.group_faces(clip, &living);
        let voices = self.group_voices(clip, &turns);
        let found = faces.given.values().map(|(given, _)| *given);
        let found = found.chain(voices.given.values().map(|(given, ..)| *given));
        let found = found.chain(faces.late.iter().map(|(_, given, _)| *given));
        let found: Vec<Assignment> =
            found.chain(voices.late.iter().map(|(_, given, ..)| *given)).collect();
        for given in found {
            if let Assignment::Known(head) = given {
                self.warm(head);
                self.undecided.touched.insert(head);
            }
        }
        let (new_faces, new_voices, order) =
            mint(&faces.new_entities, &voices.new_entities, writer);
        let face = |given: Assignment| match given {
            Assignment::Known(id) => id,
            Assignment::New(index) => new_faces[index],
        };
        let voice = |given: Assignment| match given {
            Assignment::Known(id) => id,
            Assignment::New(index) => new_voices[index],
        };

        // rows of tracks and turns
        let mut face_of: BTreeMap<TrackId, EntityId> = BTreeMap::new();
        for track in &tracks {
            let given = faces.given.get(&track.id).map(|(given, sure)| (face(*given), *sure));
            if let Some((id, _)) = given {
                face_of.insert(track.id, id);
            }
            writer.track(TrackRow {
                clip: clip.clip,
                track: track.id,
                source: track.source.clone(),
                span: track.span,
                sightings: track.sightings.as_slice().into(),
                picture: track.life == Liveness::Picture,
                body: false,
                face: given.map(|(id, _)| id),
                confidence: given.map_or(0.0, |(_, sure)| sure),
                colours: None,
            });
        }
        for (track, given, confidence) in &faces.late {
            for at in &track.clips {
                writer.late_track(*at, track.track, face(*given), *confidence);
                self.undecided.faces.push((*at, track.track, face(*given)));
            }
        }
        self.undecided.faces.extend(face_of.iter().map(|(track, id)| (clip.clip, *track, *id)));
        for turn in &turns {
            let given = voices.given.get(&turn.id).map(|(given, sure, _)| (voice(*given), *sure));
            let given = if turn.own { Some((EntityId::ROBOT, 1.0)) } else { given };
            let snippet = snippet(turn);
            let sound = snippet.as_ref().map(|file| file.digest.clone());
            snippet.into_iter().for_each(|file| writer.media(file));
            writer.turn(TurnRow {
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
            writer.late_turn(turn.clip, turn.turn, voice(*given), *confidence);
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
        self.learn(lessons, writer);
        for turn in &voices.open {
            if let Some(file) = turn.sound.as_ref().and_then(|digest| files.get(digest)) {
                writer.media(file.clone());
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
            open.cannot_link.extend(beside);
            open.cannot_link.sort();
            open.cannot_link.dedup();
        }
        self.undecided.turns = voices.open;
        self.undecided.in_step |=
            clip.mouths.iter().any(|score| Mouth::of(score.log_odds) == Mouth::Speaks);
        let silent = self.silent_in_clip(clip.clip, &heard);
        for (id, seen, mouths) in heard {
            self.count_heard(clip.clip, id, (&seen, &mouths), (1.0, &silent));
        }

        // persons
        self.merge_galleries(writer, &mut out);
        self.link_voices(&order, writer, &mut out);
        for part in &order {
            if self.persons.person_of(*part).is_none() {
                let person = writer.mint(EntityKind::Person);
                let reason = format!("{part} is first met in {}", clip.clip);
                self.persons.enter(membership(*part, person, reason), writer);
                out.new_persons.push(person);
            }
        }
        let ends =
            tracks.iter().filter_map(|track| Some((track.span.end, *face_of.get(&track.id)?)));
        let spoken =
            turns.iter().filter_map(|turn| Some((turn.span.end, *voice_of.get(&turn.id)?)));
        self.undecided.met.extend(ends.chain(spoken));
        self.decide_old(clip.span.end.plus_secs(-late::DECIDE_AFTER_SECS), writer, &mut out);
        self.write_evidence(writer);

        out.bodies = self.give_bodies(clip, &tracks, &face_of, writer);
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
            let aside = turn.own || given.is_some_and(|(id, _)| self.persons.is_non_person(id));
            let person = given.and_then(|(id, _)| self.persons.person_of(id));
            out.turns.push(IdentifiedTurn {
                turn: turn.id,
                voice: given.map(|(id, _)| id),
                person: person.filter(|_| !aside),
                confidence: given.map_or(0.0, |(_, sure)| sure),
                aside,
            });
        }
        self.hear_names((clip, turns.as_slice()), &voice_of, &mut out, writer);
        self.read_badges(clip, &mut out, writer);
        self.renew_owners();
        out
    }

    /// The session is over: what is still open gets the likeliest answer or stays without one.
    pub fn finish(&mut self, writer: &mut dyn IdentityWriter) -> IdentifiedClip {
        let mut out = IdentifiedClip::default();
        self.decide_old(Timestamp::MAX, writer, &mut out);
        self.merge_galleries(writer, &mut out);
        self.link_voices(&[], writer, &mut out);
        self.write_evidence(writer);
        self.renew_owners();
        self.undecided = PendingIdentities::default();
        out
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

    /// What was seen while each turn that is beyond doubt was heard.
    fn heard_in_clip(
        &self,
        clip: &ClipPercepts,
        turns: &[&SpeechTurn],
        voices: &voices::Voices,
        voice: &dyn Fn(Assignment) -> EntityId,
    ) -> Vec<(EntityId, Seen, Mouths)> {
        let mut heard = Vec::new();
        for (turn, given, _, sure) in &voices.late {
            if *sure {
                heard.push((voice(*given), turn.seen.clone(), turn.mouths.clone()));
            }
        }
        for turn in turns {
            if let Some((given, _, true)) = voices.given.get(&turn.id) {
                let mouths = voices::mouths_of(clip, turn.id);
                heard.push((voice(*given), self.seen_during(turn), mouths));
            }
        }
        // What loudspeakers say goes with no face.
        heard.retain(|(voice, ..)| !self.persons.is_non_person(*voice));
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
    pub(super) fn count_heard(
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

    /// Writes the evidence that changed; who is one with whom is looked at again for those that it is about.
    pub(super) fn write_evidence(&mut self, writer: &mut dyn IdentityWriter) {
        self.take_in_evidence();
        self.evidence.write(writer);
    }
}

/// Seconds by the set of visible tracks.
pub(super) type Seen = Vec<(f64, Vec<TrackId>)>;

/// Mean log odds that these tracks' mouths made the sound.
pub(super) type Mouths = Vec<(TrackId, f32)>;

/// Mints the new faces and voices in canonical order; returns them by new_entity, and all in that order.
fn mint(
    faces: &[NewEntity],
    voices: &[NewEntity],
    writer: &mut dyn IdentityWriter,
) -> (Vec<EntityId>, Vec<EntityId>, Vec<EntityId>) {
    let mut order: Vec<(&NewEntity, usize)> =
        faces.iter().enumerate().map(|(i, f)| (f, i)).collect();
    order.extend(voices.iter().enumerate().map(|(i, f)| (f, i)));
    order.sort();
    let none = EntityId::ROBOT;
    let (mut new_faces, mut new_voices) = (vec![none; faces.len()], vec![none; voices.len()]);
    let mut minted = Vec::new();
    for (new_entity, index) in order {
        let id = writer.mint(new_entity.kind);
        match new_entity.kind {
            EntityKind::Face => new_faces[index] = id,
            _ => new_voices[index] = id,
        }
        minted.push(id);
    }
    (new_faces, new_voices, minted)
}
