//! Clips in which known people and strangers come by, and whether they were taken for whom they are.

use std::collections::{BTreeMap, BTreeSet};

use super::super::filler::beginning;
use super::PeopleFigures;
use super::galleries::Known;
use super::spread::{Person, Spread};
use crate::bench::random::SplitMix64;
use crate::geometry::Rect;
use crate::identify::{IdentifiedClip, IdentityWriter, Persons};
use crate::ids::{ClipId, EntityId, EntityKind, SessionId, SourceId, TrackId, TurnId};
use crate::memory::Draft;
use crate::memory::model::{
    Clip, Exemplar, Media, Membership, Merge, NameRow, ObjectTrackRow, PairEvidence, TrackRow,
    TurnRow,
};
use crate::percept::{
    ClipCounts, ClipPercepts, Embedding, FaceSample, FaceTrack, Liveness, MouthScore, Sighting,
    SpeechTurn,
};
use crate::time::{Span, Timestamp};

/// Length of a clip, seconds.
pub(super) const CLIP_SECS: f64 = 30.0;
/// People of a clip.
const TOGETHER: usize = 5;
/// One visitor in so many was never met.
const STRANGER_ONE_IN: usize = 10;
/// Pictures of a track, as the tracker keeps them.
const SAMPLES: usize = 8;
/// Analysed frames a second.
const FRAMES_PER_SEC: f64 = 5.0;
/// A turn, seconds.
const TURN_SECS: f64 = 4.0;

/// Who came by: somebody of the galleries or a stranger.
#[derive(Clone, Copy, Debug)]
struct Visitor {
    known: Option<usize>,
    track: TrackId,
    turn: TurnId,
}

/// What became of a visit: the person of its face and of its voice.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    known: Option<usize>,
    face: Option<EntityId>,
    voice: Option<EntityId>,
}

/// Draws clips, and remembers what they were taken for.
pub(super) struct Visits<'a> {
    known: &'a Known,
    faces: &'a Spread,
    voices: &'a Spread,
    random: SplitMix64,
    ids: u64,
    taken: BTreeMap<TrackId, Taken>,
    by_turn: BTreeMap<TurnId, TrackId>,
    /// Merges of two of the galleries' people.
    wrong_merges: usize,
}

impl<'a> Visits<'a> {
    pub(super) fn new(
        known: &'a Known,
        (faces, voices): (&'a Spread, &'a Spread),
        seed: u64,
    ) -> Self {
        let random = SplitMix64::new(seed);
        let (taken, by_turn) = (BTreeMap::new(), BTreeMap::new());
        Self { known, faces, voices, random, ids: 0, taken, by_turn, wrong_merges: 0 }
    }

    /// Faces as they stand in an analysed frame.
    pub(super) fn faces(&mut self, many: usize) -> Vec<Embedding> {
        let face = |_| {
            let who = self.random.below(self.known.len());
            let seen = self.faces.occasion(&mut self.random);
            self.faces.sample(&mut self.random, &self.known[who].face, &seen)
        };
        (0..many).map(face).collect()
    }

    /// Five people side by side, who speak one after the other.
    pub(super) fn clip(&mut self, session: SessionId, index: u32) -> (ClipPercepts, Vec<TurnId>) {
        let start = beginning().plus_secs(f64::from(index) * CLIP_SECS);
        let span = Span::new(start, start.plus_secs(CLIP_SECS));
        let frames = (0..(CLIP_SECS * FRAMES_PER_SEC) as u32)
            .map(|n| start.plus_secs(f64::from(n) / FRAMES_PER_SEC));
        let frames: Vec<Timestamp> = frames.collect();
        let mut clip = ClipPercepts {
            clip: ClipId { session, index },
            span,
            tracks: Vec::new(),
            objects: Vec::new(),
            bodies: Vec::new(),
            texts: Vec::new(),
            turns: Vec::new(),
            mouths: Vec::new(),
            sounds: Vec::new(),
            sound_events: Vec::new(),
            camera_moves: Vec::new(),
            poses: Vec::new(),
            key_frames: Vec::new(),
            counts: ClipCounts::default(),
            looked: vec![(SourceId::new("camera"), frames.clone())],
        };
        let mut there: BTreeSet<usize> = BTreeSet::new();
        let mut turns = Vec::new();
        for place in 0..TOGETHER {
            let stranger = self.random.below(STRANGER_ONE_IN) == 0;
            let known = (!stranger).then(|| {
                loop {
                    let who = self.random.below(self.known.len());
                    if there.insert(who) || there.len() >= self.known.len() {
                        break who;
                    }
                }
            });
            let visitor = Visitor { known, track: TrackId(self.ids), turn: TurnId(self.ids) };
            self.ids += 1;
            self.visit(&mut clip, visitor, place, &frames);
            self.taken.insert(visitor.track, Taken { known, ..Taken::default() });
            self.by_turn.insert(visitor.turn, visitor.track);
            turns.push(visitor.turn);
        }
        (clip, turns)
    }

    fn visit(
        &mut self,
        clip: &mut ClipPercepts,
        visitor: Visitor,
        place: usize,
        frames: &[Timestamp],
    ) {
        let (face, voice): (Person, Person) = match visitor.known {
            Some(who) => (self.known[who].face.clone(), self.known[who].voice.clone()),
            None => {
                let face = self.faces.person(&mut self.random, None);
                (face, self.voices.person(&mut self.random, None))
            }
        };
        let bbox = Rect { x: 200.0 * place as f32, y: 100.0, w: 120.0, h: 120.0 };
        let seen = self.faces.occasion(&mut self.random);
        let samples = (0..SAMPLES).map(|n| FaceSample {
            at: frames[n * 15],
            embedding: self.faces.sample(&mut self.random, &face, &seen),
            quality: 0.5 + 0.05 * n as f32,
            chip: vec![n as u8].into(),
        });
        let mut samples: Vec<FaceSample> = samples.collect();
        samples.sort_by(|a, b| b.quality.total_cmp(&a.quality));
        clip.tracks.push(FaceTrack {
            id: visitor.track,
            source: SourceId::new("camera"),
            span: clip.span,
            sightings: frames
                .iter()
                .map(|at| Sighting { at: *at, bbox, score: 0.9, bearing: None })
                .collect(),
            samples,
            continued: false,
            life: Liveness::Alive,
        });
        let heard = self.voices.occasion(&mut self.random);
        let from = clip.span.start.plus_secs(1.0 + 5.5 * place as f64);
        clip.turns.push(SpeechTurn {
            id: visitor.turn,
            source: SourceId::new("microphone"),
            span: Span::new(from, from.plus_secs(TURN_SECS)),
            speech_secs: TURN_SECS,
            level_dbfs: -20.0,
            embedding: Some(self.voices.sample(&mut self.random, &voice, &heard)),
            words: None,
            overlapped: false,
            distinct: None,
            own: false,
            sound: Vec::new().into(),
        });
        let log_odds = 4.0;
        clip.mouths.push(MouthScore {
            turn: visitor.turn,
            track: visitor.track,
            log_odds,
            secs: TURN_SECS,
        });
    }

    /// Takes note of what a clip's visitors, and earlier ones that were decided now, were taken for.
    pub(super) fn judge(
        &mut self,
        turns: &[TurnId],
        found: &IdentifiedClip,
        late: &[(Late, EntityId)],
        persons: &Persons,
    ) {
        for track in &found.tracks {
            if let Some(taken) = self.taken.get_mut(&track.track) {
                taken.face = track.face;
            }
        }
        for turn in found.turns.iter().filter(|turn| turns.contains(&turn.turn)) {
            if let Some(taken) = self.by_turn.get(&turn.turn).and_then(|t| self.taken.get_mut(t)) {
                taken.voice = turn.voice;
            }
        }
        for (percept, part) in late {
            let track = match percept {
                Late::Track(track) => Some(*track),
                Late::Turn(turn) => self.by_turn.get(turn).copied(),
            };
            if let Some(taken) = track.and_then(|track| self.taken.get_mut(&track)) {
                match percept {
                    Late::Track(_) => taken.face = Some(*part),
                    Late::Turn(_) => taken.voice = Some(*part),
                }
            }
        }
        let of_galleries =
            |id: EntityId| id.kind == EntityKind::Person && id.number as usize <= self.known.len();
        let of_two = |merge: &&Merge| of_galleries(merge.from) && of_galleries(merge.into);
        self.wrong_merges += found.merges.iter().filter(of_two).count();
        debug_assert!(found.tracks.iter().all(|track| {
            track.person.is_none_or(|person| persons.resolve(person).kind == EntityKind::Person)
        }));
    }

    /// The shares, as everything stands at the end.
    pub(super) fn tally(&self, figures: &mut PeopleFigures, persons: &Persons) {
        let (mut right, mut wrong, mut split) = (0, 0, 0);
        let (mut faces, mut voices) = (0, 0);
        for taken in self.taken.values() {
            let own = taken.known.map(|who| &self.known[who]);
            // Whose a face or voice is by the galleries' own row; whoever came later is nobody of theirs.
            let is_own = |part: Option<EntityId>| {
                own.is_some_and(|own| part.is_some_and(|part| own.entities.contains(&part)))
            };
            let theirs = |part: Option<EntityId>| {
                let part = part.map(|part| persons.resolve(part));
                part.is_some_and(|part| part.number as usize <= self.known.len()) && !is_own(part)
            };
            let new = |part: Option<EntityId>| {
                part.is_some_and(|part| part.number as usize > self.known.len())
                    && own.is_some_and(|own| {
                        part.and_then(|part| persons.person_of(part))
                            != Some(persons.resolve(own.person))
                    })
            };
            let (face, voice) = (taken.face, taken.voice);
            let is_wrong = theirs(face) || theirs(voice);
            wrong += usize::from(is_wrong);
            figures.wrong_faces += usize::from(theirs(face));
            figures.wrong_voices += usize::from(theirs(voice));
            let Some(_) = own else {
                figures.strangers += 1;
                figures.wrong_strangers += usize::from(is_wrong);
                continue;
            };
            figures.probes += 1;
            faces += usize::from(is_own(face));
            voices += usize::from(is_own(voice));
            right += usize::from(!is_wrong && (is_own(face) || is_own(voice)));
            split += usize::from(new(face) || new(voice));
        }
        let probes = figures.probes.max(1) as f64;
        let visits = (figures.probes + figures.strangers).max(1) as f64;
        figures.recognised_share = right as f64 / probes;
        figures.wrong_per_1000 = 1000.0 * wrong as f64 / visits;
        figures.split_per_1000 = 1000.0 * split as f64 / probes;
        figures.faces_recognised = faces as f64 / probes;
        figures.voices_recognised = voices as f64 / probes;
        figures.wrong_merges = self.wrong_merges;
    }
}

/// Pairs of faces and voices that a clip shows at once: each face with each voice, and any two of a kind.
pub(super) fn pairs_present(found: &IdentifiedClip) -> usize {
    let faces: BTreeSet<EntityId> = found.tracks.iter().filter_map(|track| track.face).collect();
    let voices: BTreeSet<EntityId> = found.turns.iter().filter_map(|turn| turn.voice).collect();
    let two = |many: usize| many * many.saturating_sub(1) / 2;
    faces.len() * voices.len() + two(faces.len()) + two(voices.len()) + voices.len()
}

/// The clip's own row, as the committer writes it.
pub(super) fn keep(clip: &ClipPercepts, draft: &mut Draft) {
    let frames = clip.looked.iter().map(|(_, times)| times.len() as u64).sum();
    draft.clip(Clip {
        id: clip.clip,
        span: clip.span,
        frames,
        analysed: frames,
        dropped: 0,
        key_frames: Vec::new(),
    });
}

/// A percept of an earlier clip.
#[derive(Clone, Copy, Debug)]
pub(super) enum Late {
    Track(TrackId),
    Turn(TurnId),
}

/// A clip's draft that counts what is written about pairs, and notes what is decided late.
pub(super) struct Counting<'a> {
    draft: &'a mut Draft,
    pub(super) pairs: usize,
    pub(super) late: Vec<(Late, EntityId)>,
}

impl<'a> Counting<'a> {
    pub(super) fn new(draft: &'a mut Draft) -> Self {
        Self { draft, pairs: 0, late: Vec::new() }
    }
}

impl IdentityWriter for Counting<'_> {
    fn mint(&mut self, kind: EntityKind) -> EntityId {
        IdentityWriter::mint(self.draft, kind)
    }
    fn track(&mut self, row: TrackRow) {
        IdentityWriter::track(self.draft, row);
    }
    fn object_track(&mut self, row: ObjectTrackRow) {
        IdentityWriter::object_track(self.draft, row);
    }
    fn turn(&mut self, row: TurnRow) {
        IdentityWriter::turn(self.draft, row);
    }
    fn late_track(&mut self, clip: ClipId, track: TrackId, face: EntityId, confidence: f32) {
        self.late.push((Late::Track(track), face));
        IdentityWriter::late_track(self.draft, clip, track, face, confidence);
    }
    fn late_turn(&mut self, clip: ClipId, turn: TurnId, voice: EntityId, confidence: f32) {
        self.late.push((Late::Turn(turn), voice));
        IdentityWriter::late_turn(self.draft, clip, turn, voice, confidence);
    }
    fn exemplar(&mut self, row: Exemplar) {
        IdentityWriter::exemplar(self.draft, row);
    }
    fn retire_exemplar(&mut self, entity: EntityId, slot: u32) {
        IdentityWriter::retire_exemplar(self.draft, entity, slot);
    }
    fn pair(&mut self, row: PairEvidence) {
        self.pairs += 1;
        IdentityWriter::pair(self.draft, row);
    }
    fn membership(&mut self, row: Membership) {
        IdentityWriter::membership(self.draft, row);
    }
    fn merge(&mut self, row: Merge) {
        IdentityWriter::merge(self.draft, row);
    }
    fn undo_merge(&mut self, from: EntityId) {
        IdentityWriter::undo_merge(self.draft, from);
    }
    fn name(&mut self, row: NameRow) {
        IdentityWriter::name(self.draft, row);
    }
    fn media(&mut self, media: Media) {
        IdentityWriter::media(self.draft, media);
    }
}
