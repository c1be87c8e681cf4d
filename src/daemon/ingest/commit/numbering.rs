//! A clip's percepts in canonical order, under ids of the session.

use std::collections::BTreeMap;

use super::committer::Committer;
use super::turns::Heard;
use crate::daemon::ingest::clip_boundary::ClipBoundary;
use crate::daemon::ingest::contribution::{CameraContribution, DispatchContribution};
use crate::daemon::ingest::stage::mouths::Asked;
use crate::daemon::ingest::work::jobs::{Pending, take};
use crate::ids::{ClipId, TrackId, TurnId};
use crate::perceive::active_speaker::{CROPS_PER_SEC, MouthScores};
use crate::perceive::object::Seen;
use crate::percept::{
    BodyTrack, CameraMove, ClipCounts, ClipPercepts, FaceTrack, MouthScore, ObjectTrack,
    SpeechTurn, TextTrack, Transcript,
};
use crate::time::Span;

/// Pictures of a face that tell something about a turn: at least 0.8 s. A speaker with fewer was missed in the measurements.
const LEAST_SCORES: usize = 20;

impl Committer {
    /// The clip's percepts in canonical order, under ids of the session.
    pub(super) fn percepts(
        &mut self,
        clip: ClipId,
        boundary: ClipBoundary,
        dispatch: &DispatchContribution,
        cameras: &mut BTreeMap<usize, Box<CameraContribution>>,
        mut heard: Vec<Heard>,
    ) -> (ClipPercepts, Vec<(SpeechTurn, Pending<Transcript>)>) {
        let mut tracks: Vec<(usize, FaceTrack)> = Vec::new();
        let mut objects: Vec<(usize, ObjectTrack)> = Vec::new();
        let mut bodies: Vec<(usize, BodyTrack)> = Vec::new();
        let mut texts: Vec<(usize, TextTrack)> = Vec::new();
        let mut key_frames = Vec::new();
        let mut looked = Vec::new();
        let mut camera_moves = Vec::new();
        let mut faces = 0;
        for (index, part) in cameras {
            tracks
                .extend(std::mem::take(&mut part.percepts.faces).into_iter().map(|t| (*index, t)));
            for seen in std::mem::take(&mut part.percepts.objects) {
                match seen {
                    Seen::Thing(track) => objects.push((*index, track)),
                    Seen::Person(track) => bodies.push((*index, track)),
                }
            }
            texts.extend(std::mem::take(&mut part.percepts.texts).into_iter().map(|t| (*index, t)));
            key_frames.append(&mut part.key_frames);
            looked.push((self.cameras[*index].clone(), std::mem::take(&mut part.looked)));
            let source = &self.cameras[*index];
            let moved = |span| CameraMove { source: source.clone(), span };
            camera_moves.extend(std::mem::take(&mut part.moves).into_iter().map(moved));
            faces += part.faces;
        }
        camera_moves.sort_by(|a, b| (a.span, &a.source).cmp(&(b.span, &b.source)));
        tracks.sort_by(|(_, a), (_, b)| {
            (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id))
        });
        let tracks = tracks.into_iter().map(|(camera, track)| self.number(camera, track)).collect();
        objects.sort_by(|(_, a), (_, b)| {
            (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id))
        });
        let number = |(camera, track): (usize, ObjectTrack)| {
            let id = self.ids.object_track((camera, track.id));
            ObjectTrack { id, ..track }
        };
        let objects = objects.into_iter().map(number).collect();
        bodies.sort_by(|(_, a), (_, b)| {
            (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id))
        });
        let number = |(camera, track): (usize, BodyTrack)| {
            let id = self.ids.body_track((camera, track.id));
            BodyTrack { id, ..track }
        };
        let bodies = bodies.into_iter().map(number).collect();
        texts.sort_by(|(_, a), (_, b)| {
            (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id))
        });
        let number = |(camera, text): (usize, TextTrack)| {
            let id = self.ids.text_track((camera, text.id));
            TextTrack { id, ..text }
        };
        let texts = texts.into_iter().map(number).collect();
        heard.sort_by(|(a, _), (b, _)| {
            (a.span.start, &a.source, a.id).cmp(&(b.span.start, &b.source, b.id))
        });
        let (mut turns, mut late) = (Vec::new(), Vec::new());
        for (mut turn, words) in heard {
            self.ids.next_turn += 1;
            turn.id = TurnId(self.ids.next_turn);
            late.extend(words.map(|words| (turn.clone(), words)));
            turns.push(turn);
        }
        let mouths = self.mouths(boundary.index, &turns);
        let percepts = ClipPercepts {
            clip,
            span: Span::new(boundary.start, boundary.end),
            tracks,
            objects,
            bodies,
            texts,
            turns,
            mouths,
            sounds: Vec::new(),
            sound_events: Vec::new(),
            camera_moves,
            poses: dispatch.poses.clone(),
            key_frames,
            counts: ClipCounts {
                frames: dispatch.frames,
                analysed: dispatch.analysed,
                dropped: dispatch.dropped,
                faces,
            },
            looked,
        };
        (percepts, late)
    }

    /// What the mouths say about the clip's turns; tracks are numbered by now.
    fn mouths(&self, clip: u32, turns: &[SpeechTurn]) -> Vec<MouthScore> {
        let asked = self.mouths.as_ref().map(|mouths| mouths.take(clip)).unwrap_or_default();
        let mut by_pair: BTreeMap<(TurnId, TrackId), MouthScores> = BTreeMap::new();
        for Asked { microphone, camera, track, scores, .. } in asked {
            let source = &self.microphones[microphone];
            let scores = match take(&scores) {
                Ok(scores) => scores,
                Err(error) => {
                    tracing::warn!(%source, %error, "A face was not compared with a turn.");
                    continue;
                }
            };
            // A track that was taken for a false alarm has no number.
            let Some(track) = self.ids.tracks.get(&(camera, track)) else { continue };
            for turn in turns.iter().filter(|turn| turn.source == *source && !turn.own) {
                let inside = scores.iter().filter(|(at, _)| turn.span.contains(*at));
                by_pair.entry((turn.id, *track)).or_default().extend(inside);
            }
        }
        by_pair.retain(|_, scores| scores.len() >= LEAST_SCORES);
        let mean = |scores: &MouthScores| {
            let sum: f64 = scores.iter().map(|(_, odds)| f64::from(*odds)).sum();
            (sum / scores.len() as f64) as f32
        };
        let scored = |((turn, track), scores): ((TurnId, TrackId), MouthScores)| {
            let secs = scores.len() as f64 / CROPS_PER_SEC;
            let score = MouthScore { turn, track, log_odds: mean(&scores), secs };
            let MouthScore { log_odds, .. } = score;
            tracing::debug!(clip, %turn, %track, log_odds, secs, "A mouth was compared with a turn.");
            score
        };
        by_pair.into_iter().map(scored).collect()
    }

    fn number(&mut self, camera: usize, mut track: FaceTrack) -> FaceTrack {
        track.id = self.ids.face_track((camera, track.id));
        track
    }
}
