//! Face tracks → faces.

use std::collections::{BTreeMap, BTreeSet};

use super::assignment::{Assignment, NewEntity};
use super::cluster;
use super::cluster::{Item, Outcome};
use super::gallery::Probe;
use super::visibility::visible_at;
use crate::identify::pending::PendingTrack;
use crate::identify::resolver::Resolver;
use crate::ids::{ClipId, EntityId, EntityKind, SourceId, TrackId};
use crate::memory::model::{Exemplar, MediaKind};
use crate::percept::{ClipPercepts, FaceTrack, Liveness};

/// Boxes that overlap less than this are two faces.
const SEPARATE_IOU: f32 = 0.3;
/// Analysed frames in which two tracks must be seen at once to count as two faces.
const SEPARATE_FRAMES: usize = 2;
/// A track of less may be a reflection, or one face found twice, seconds. Two cameras must see both for as long: their
/// clocks may differ, and who leaves one view may come into the other.
const SEPARATE_SECS: f64 = 1.0;
/// Quality from which a picture may teach a gallery or found a face.
const TEACHING_QUALITY: f32 = 0.3;
/// Pictures of one track of one clip that may enter a gallery.
const TAUGHT_PER_TRACK: usize = 4;

/// What became of the clip's tracks.
pub(in crate::identify) struct Faces {
    /// By the clip's tracks: face (a new one by its new entity's index) and confidence.
    pub given: BTreeMap<TrackId, (Assignment, f32)>,
    /// Open tracks of earlier clips that were decided now.
    pub late: Vec<(PendingTrack, Assignment, f32)>,
    /// New faces.
    pub new_entities: Vec<NewEntity>,
    /// Still open.
    pub open: Vec<PendingTrack>,
    /// What the galleries may learn: by face the samples, surest first.
    pub lessons: Vec<(Assignment, Exemplar, crate::memory::model::Media)>,
}

impl Resolver {
    /// Gives faces to the clip's tracks (in canonical order) and to the tracks still open.
    pub(in crate::identify) fn group_faces(
        &self,
        clip: &ClipPercepts,
        tracks: &[&FaceTrack],
    ) -> Faces {
        let mut open: Vec<PendingTrack> = self.undecided.tracks.clone();
        let mut fresh: Vec<Option<usize>> = Vec::new(); // item → index into `tracks`
        fresh.resize(open.len(), None);
        for (index, track) in tracks.iter().enumerate() {
            let same = |o: &PendingTrack| {
                o.track == track.id && o.clips.iter().all(|c| c.session == clip.clip.session)
            };
            if let Some(at) = open.iter().position(same) {
                let before = &mut open[at];
                before.go_on(clip.clip, track);
                fresh[at] = Some(index);
            } else {
                open.push(PendingTrack {
                    clips: vec![clip.clip],
                    track: track.id,
                    source: track.source.clone(),
                    span: track.span,
                    samples: track.samples.clone(),
                    beside: vec![],
                    cannot_link: vec![],
                    life: track.life,
                });
                fresh.push(Some(index));
            }
        }

        let probes: Vec<Probe> = open.iter().map(probe).collect();
        let priors: Vec<Option<EntityId>> =
            open.iter().map(|o| self.face_of_track(clip.clip, o.track)).collect();
        let besides: Vec<EntityId> = open
            .iter()
            .flat_map(|o| &o.cannot_link)
            .chain(priors.iter().flatten())
            .copied()
            .collect();
        let candidates =
            self.candidates(EntityKind::Face, &probes.iter().collect::<Vec<_>>(), &besides);
        let beside = |a: usize, b: usize| match (fresh[a], fresh[b]) {
            (Some(x), Some(y)) => self.seen_beside(tracks[x], tracks[y]) >= SEPARATE_FRAMES,
            _ => open[a].beside.contains(&open[b].track),
        };
        let items: Vec<Item> = open
            .iter()
            .zip(probes)
            .zip(priors.iter().zip(&candidates.near))
            .map(|((o, probe), (prior, near))| {
                let good = o.samples.iter().filter(|s| s.quality >= TEACHING_QUALITY).count();
                Item {
                    probe,
                    secs: o.span.secs(),
                    may_found: good > 0 && o.life != Liveness::Unproven,
                    fleeting: false,
                    prior: prior.and_then(|face| candidates.position(face)),
                    cannot_link: o
                        .cannot_link
                        .iter()
                        .filter_map(|f| candidates.position(*f))
                        .collect(),
                    near: near.clone(),
                }
            })
            .collect();
        let thresholds = self.thresholds(EntityKind::Face);
        let outcomes = cluster::group(
            &items,
            &candidates.known,
            &beside,
            &thresholds,
            thresholds.accept,
            self.settings.min_new_face_secs,
        );

        let names = candidates.heads;
        let mut faces = Faces {
            given: BTreeMap::new(),
            late: vec![],
            new_entities: vec![],
            open: vec![],
            lessons: vec![],
        };
        let mut founded: BTreeMap<usize, usize> = BTreeMap::new();
        let mut decided: Vec<Option<(Assignment, f32)>> = vec![None; open.len()];
        for (index, outcome) in outcomes.iter().enumerate() {
            let (given, confidence, teaches) = match *outcome {
                Outcome::Undecided => continue,
                Outcome::Known { gallery, score, sure } => {
                    let stays = items[index].prior == Some(gallery);
                    let teaches =
                        sure && (score >= thresholds.accept || stays && score >= thresholds.maybe);
                    let certainty = if sure { 1.0 } else { 0.6 };
                    let confidence = certainty * thresholds.confidence(score);
                    (Assignment::Known(names[gallery]), confidence, teaches)
                }
                Outcome::New { group } => {
                    let at = *founded.entry(group).or_insert_with(|| {
                        faces
                            .new_entities
                            .push(NewEntity::new(EntityKind::Face, &open[index].source));
                        faces.new_entities.len() - 1
                    });
                    faces.new_entities[at].include(open[index].span.start, &open[index].source);
                    (Assignment::New(at), 0.8, true)
                }
            };
            decided[index] = Some((given, confidence));
            if teaches {
                let samples = open[index].samples.iter().filter(|s| s.quality >= TEACHING_QUALITY);
                for sample in samples.take(TAUGHT_PER_TRACK) {
                    let media =
                        crate::identify::file(MediaKind::FaceChip, sample.chip.clone(), true);
                    let exemplar = Exemplar {
                        entity: EntityId::new(EntityKind::Face, 0),
                        slot: 0,
                        at: sample.at,
                        embedding: sample.embedding.clone(),
                        quality: sample.quality,
                        weight: 1.0,
                        media: Some(media.digest.clone()),
                    };
                    faces.lessons.push((given, exemplar, media));
                }
            }
        }
        // what was visible beside an open track stays known about it
        let mut still = Vec::new();
        for (index, track) in open.iter().enumerate() {
            match decided[index] {
                Some((given, confidence)) => {
                    if let Some(at) = fresh[index] {
                        faces.given.insert(tracks[at].id, (given, confidence));
                    }
                    let mut earlier = track.clone();
                    earlier.clips.retain(|c| *c != clip.clip);
                    if !earlier.clips.is_empty() {
                        faces.late.push((earlier, given, confidence));
                    }
                }
                None if !track.samples.is_empty() => {
                    let mut track = track.clone();
                    for other in (0..open.len()).filter(|&other| other != index) {
                        if fresh[index].is_some() && fresh[other].is_some() && beside(index, other)
                        {
                            match decided[other] {
                                Some((Assignment::Known(face), _)) => track.cannot_link.push(face),
                                Some(_) | None => track.beside.push(open[other].track),
                            }
                        }
                    }
                    track.cannot_link.sort();
                    track.cannot_link.dedup();
                    track.beside.sort();
                    track.beside.dedup();
                    still.push(track);
                }
                None => {}
            }
        }
        faces.open = still;
        faces
    }

    /// The face a track was given in this or the last clip.
    pub(in crate::identify) fn face_of_track(
        &self,
        clip: ClipId,
        track: TrackId,
    ) -> Option<EntityId> {
        let same =
            |(at, id, _): &&(ClipId, TrackId, EntityId)| at.session == clip.session && *id == track;
        self.undecided.faces.iter().rfind(same).map(|(.., face)| self.persons.resolve(*face))
    }

    /// Counts for how long faces were seen at once.
    pub(in crate::identify) fn count_together(
        &mut self,
        tracks: &[&FaceTrack],
        face: &BTreeMap<TrackId, EntityId>,
    ) {
        for (index, a) in tracks.iter().enumerate() {
            for b in &tracks[index + 1..] {
                let (Some(&x), Some(&y)) = (face.get(&a.id), face.get(&b.id)) else { continue };
                let frames = self.seen_beside(a, b);
                if x != y && frames >= SEPARATE_FRAMES {
                    self.evidence.together(x, y, secs_of_frames(a, frames));
                }
            }
        }
    }

    /// Analysed frames (of the one that comes first in canonical order) in which both are seen and cannot be one face: at
    /// different places of one camera, or by cameras that see different places.
    fn seen_beside(&self, a: &FaceTrack, b: &FaceTrack) -> usize {
        let long = |track: &FaceTrack| track.span.secs() >= SEPARATE_SECS;
        if a.span.intersection(b.span).is_none() || !(long(a) && long(b)) {
            return 0;
        }
        if a.source == b.source {
            return beside_in_picture(a, b);
        }
        let separate = |list: &Vec<String>| {
            let names = |source: &SourceId| list.iter().any(|name| name == source.as_str());
            names(&a.source) && names(&b.source)
        };
        if self.settings.separate_views.iter().any(separate) { seen_at_once(a, b) } else { 0 }
    }
}

/// Seconds that so many of a track's frames stand for.
fn secs_of_frames(track: &FaceTrack, frames: usize) -> f64 {
    let per_frame = track.span.secs() / track.sightings.len().max(1) as f64;
    frames as f64 * per_frame
}

/// Frames of two cameras in which both are seen; none where that is a moment only.
fn seen_at_once(a: &FaceTrack, b: &FaceTrack) -> usize {
    let order = |track: &FaceTrack| (track.span.start, track.source.clone(), track.id);
    let (first, other) = if order(a) <= order(b) { (a, b) } else { (b, a) };
    let frames = first.sightings.iter().filter(|sighting| visible_at(other, sighting.at)).count();
    if secs_of_frames(first, frames) < SEPARATE_SECS { 0 } else { frames }
}

/// Frames of one camera in which both are seen at different places.
fn beside_in_picture(a: &FaceTrack, b: &FaceTrack) -> usize {
    let at: BTreeMap<_, _> = b.sightings.iter().map(|s| (s.at, s.bbox)).collect();
    let beside = |s: &&crate::percept::Sighting| {
        at.get(&s.at).is_some_and(|bbox| bbox.iou(s.bbox) < SEPARATE_IOU)
    };
    a.sightings.iter().filter(beside).count()
}

/// The best-seen moments of a track; poor pictures only where there are no others.
fn probe(track: &PendingTrack) -> Probe {
    let good: Vec<_> = track.samples.iter().filter(|s| s.quality >= TEACHING_QUALITY).collect();
    let taken = if good.is_empty() { track.samples.iter().collect() } else { good };
    let mut seen = BTreeSet::new();
    let unique = taken.into_iter().filter(|s| seen.insert(s.at));
    Probe::new(unique.map(|s| (s.embedding.clone(), s.quality)).collect())
}
