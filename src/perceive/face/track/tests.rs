use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::geometry::{Point, Rect};
use crate::ids::{ModelHash, SourceId, TrackId};
use crate::percept::Sighting;
use crate::time::Span;

const MODEL: ModelHash = ModelHash([7; 32]);

fn settings() -> TrackerSettings {
    let gates = Some(GatingThresholds { same: 0.5, differ: 0.3 });
    TrackerSettings {
        min_score: 0.6,
        max_lost_secs: 2.0,
        step_secs: 0.2,
        coast_secs: f64::INFINITY,
        gates,
    }
}

fn tracker() -> FaceTracker {
    FaceTracker::new(SourceId::new("camera"), settings())
}

fn at(step: u32) -> Timestamp {
    Timestamp::from_nanos(i64::from(step) * 200_000_000)
}

/// A person's face: persons are orthogonal unit vectors, `wobble` turns a little away.
fn likeness_of(person: usize, wobble: f32) -> Embedding {
    let mut values = vec![0.0; 16];
    values[person] = 1.0;
    values[8 + person % 8] = wobble;
    Embedding::normalised(values, MODEL)
}

fn face(person: usize, x: f32, score: f32) -> Face {
    Face {
        bbox: Rect { x, y: 100.0, w: 60.0, h: 80.0 },
        landmarks: [Point::default(); 5],
        score,
        quality: 0.7,
        embedding: Some(likeness_of(person, 0.1)),
        chip: Some(vec![person as u8].into()),
        bearing: None,
        look: None,
    }
}

fn blurred(person: usize, x: f32, score: f32) -> Face {
    Face { embedding: None, chip: None, quality: 0.1, ..face(person, x, score) }
}

/// An analysed frame, and whether it shows another scene than the one before.
#[derive(Debug)]
struct Seen {
    at: Timestamp,
    cut: bool,
    faces: Vec<Face>,
}

impl FaceTracker {
    fn step(&mut self, Seen { at, cut, faces }: &Seen) {
        self.follow(*at, *cut, faces);
    }
}

fn frame(step: u32, faces: Vec<Face>) -> Seen {
    Seen { at: at(step), cut: false, faces }
}

fn cut(step: u32, faces: Vec<Face>) -> Seen {
    Seen { cut: true, ..frame(step, faces) }
}

/// Which steps each track holds.
fn steps(tracks: &[FaceTrack]) -> BTreeMap<u64, Vec<u32>> {
    let step = |s: &Sighting| (s.at.as_nanos() / 200_000_000) as u32;
    tracks.iter().map(|t| (t.id.0, t.sightings.iter().map(step).collect())).collect()
}

#[test]
fn somebody_else_cut_into_the_same_place_is_a_new_track() {
    let mut tracker = tracker();
    tracker.step(&frame(0, vec![face(0, 100.0, 0.9)]));
    tracker.step(&frame(1, vec![face(0, 102.0, 0.9)]));
    tracker.step(&cut(2, vec![face(1, 102.0, 0.9)]));
    tracker.step(&frame(3, vec![face(1, 102.0, 0.9)]));
    assert_eq!(steps(&tracker.seal(at(10))), BTreeMap::from([(1, vec![0, 1]), (2, vec![2, 3])]));
}

#[test]
fn a_face_without_embedding_is_not_joined_across_a_cut() {
    let mut tracker = tracker();
    tracker.step(&frame(0, vec![face(0, 100.0, 0.9)]));
    tracker.step(&cut(1, vec![blurred(1, 100.0, 0.9)]));
    tracker.step(&frame(2, vec![face(1, 100.0, 0.9)]));
    assert_eq!(steps(&tracker.seal(at(10))), BTreeMap::from([(1, vec![0]), (2, vec![1, 2])]));
}

#[test]
fn the_same_person_goes_on_across_a_cut_wherever_it_is() {
    let mut tracker = tracker();
    tracker.step(&frame(0, vec![face(0, 100.0, 0.9), face(1, 300.0, 0.9)]));
    tracker.step(&cut(1, vec![face(1, 100.0, 0.9), face(0, 500.0, 0.9)]));
    tracker.step(&frame(2, vec![face(1, 100.0, 0.9), face(0, 500.0, 0.9)]));
    let sealed = tracker.seal(at(10));
    assert_eq!(steps(&sealed), BTreeMap::from([(1, vec![0, 1, 2]), (2, vec![0, 1, 2])]));
    let second = sealed.iter().find(|t| t.id.0 == 2).unwrap();
    assert_eq!(second.sightings[2].bbox.x, 100.0);
}

#[test]
fn a_cut_that_nobody_noticed_mixes_no_persons() {
    let mut tracker = tracker();
    for step in 0..5 {
        tracker.step(&frame(step, vec![face(usize::from(step > 2), 100.0, 0.9)]));
    }
    assert_eq!(steps(&tracker.seal(at(10))), BTreeMap::from([(1, vec![0, 1, 2]), (2, vec![3, 4])]));
}

#[test]
fn an_occluded_face_comes_back_under_its_id_unless_it_was_gone_too_long() {
    let mut tracker = tracker();
    for step in [0, 1, 2, 8, 9, 21, 22] {
        tracker.step(&frame(step, vec![face(0, 100.0 + 4.0 * step as f32, 0.9)]));
    }
    assert_eq!(
        steps(&tracker.seal(at(30))),
        BTreeMap::from([(1, vec![0, 1, 2, 8, 9]), (2, vec![21, 22])])
    );
}

#[test]
fn crossing_faces_keep_their_ids() {
    let mut tracker = tracker();
    for step in 0..20u32 {
        let there = 100.0 + 20.0 * step as f32;
        let back = 480.0 - 20.0 * step as f32;
        let mut faces = vec![face(0, there, 0.9), face(1, back, 0.9)];
        if (there - back).abs() < 30.0 {
            faces.truncate(1);
        }
        tracker.step(&frame(step, faces));
    }
    let sealed = tracker.seal(at(30));
    assert_eq!(sealed.len(), 2);
    for track in sealed {
        let who = track.id.0 as usize - 1;
        assert!(track.samples.iter().all(|s| s.embedding == likeness_of(who, 0.1)));
    }
}

#[test]
fn a_weak_detection_continues_a_track_but_begins_none() {
    let mut tracker = tracker();
    tracker.step(&frame(0, vec![face(0, 100.0, 0.9), blurred(1, 400.0, 0.4)]));
    tracker.step(&frame(1, vec![blurred(0, 101.0, 0.4), blurred(1, 400.0, 0.4)]));
    assert_eq!(steps(&tracker.seal(at(10))), BTreeMap::from([(1, vec![0, 1])]));
}

#[test]
fn one_poor_glimpse_is_a_false_alarm() {
    let mut tracker = tracker();
    tracker.step(&frame(0, vec![blurred(0, 100.0, 0.7), face(1, 400.0, 0.9)]));
    tracker.step(&frame(1, vec![]));
    assert_eq!(steps(&tracker.seal(at(10))), BTreeMap::from([(2, vec![0])]));
}

#[test]
fn a_border_cuts_a_track_and_its_id_goes_on() {
    let mut tracker = tracker();
    for step in 0..10 {
        tracker.step(&frame(step, vec![face(0, 100.0, 0.9)]));
    }
    assert_eq!(tracker.open().len(), 1);
    let first = tracker.seal(at(10)).remove(0);
    assert!(tracker.open().is_empty());
    for step in 10..15 {
        tracker.step(&frame(step, vec![face(0, 100.0, 0.9)]));
    }
    let second = tracker.seal(at(50)).remove(0);
    assert_eq!((first.id, first.continued), (TrackId(1), false));
    assert_eq!((second.id, second.continued), (TrackId(1), true));
    assert_eq!(first.span, Span::new(at(0), at(10)));
    assert_eq!(second.span, Span::new(at(10), at(15)));
    assert!(first.samples.len() <= SAMPLES && !second.samples.is_empty());
    assert!(tracker.seal(at(100)).is_empty());
}

#[test]
fn a_span_ends_at_the_border_at_the_latest() {
    let mut tracker = tracker();
    tracker.step(&frame(9, vec![face(0, 100.0, 0.9)]));
    let border = at(9).plus_secs(0.05);
    assert_eq!(tracker.seal(border)[0].span, Span::new(at(9), border));
}

#[test]
fn samples_are_the_best_and_most_different() {
    let mut tracker = tracker();
    for step in 0..40u32 {
        let mut seen = face(0, 100.0, 0.9);
        let turned = (20..23).contains(&step);
        seen.embedding = Some(likeness_of(0, if turned { 0.6 } else { 0.1 }));
        seen.quality = if step == 30 { 0.95 } else { 0.5 };
        tracker.step(&frame(step, vec![seen]));
    }
    let track = tracker.seal(at(50)).remove(0);
    assert_eq!(track.samples.len(), SAMPLES);
    assert_eq!((track.samples[0].at, track.samples[0].quality), (at(30), 0.95));
    assert!(track.samples.iter().any(|s| s.embedding == likeness_of(0, 0.6)));
}

/// Faces at a few places, some without embedding, weak ones and cuts among them.
fn scenes() -> impl Strategy<Value = Vec<Seen>> {
    let seen = (0usize..4, 0u8..6, 0.3f32..1.0, prop::bool::weighted(0.8)).prop_map(
        |(person, place, score, sharp)| {
            let x = 100.0 * f32::from(place);
            if sharp { face(person, x, score) } else { blurred(person, x, score) }
        },
    );
    let frames = (prop::collection::vec(seen, 0..4), prop::bool::weighted(0.1));
    prop::collection::vec(frames, 1..60).prop_map(|frames| {
        let number = |(step, (faces, cut)): (usize, (Vec<Face>, bool))| Seen {
            cut,
            ..frame(step as u32, faces)
        };
        frames.into_iter().enumerate().map(number).collect()
    })
}

fn sealed_every_ten(mut tracker: FaceTracker, frames: &[Seen]) -> Vec<FaceTrack> {
    let mut sealed = Vec::new();
    for frame in frames {
        if frame.at.as_nanos() % at(10).as_nanos() == 0 {
            sealed.extend(tracker.seal(frame.at));
        }
        tracker.step(frame);
    }
    sealed.extend(tracker.seal(at(1000)));
    sealed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn occlusions_up_to_two_seconds_and_cuts_keep_a_lone_face_in_one_track(
        stretches in proptest::collection::vec((1u32..12, 0u32..9, any::<bool>(), 0f32..500.0), 1..8)
    ) {
        let (mut tracker, mut now) = (tracker(), 0);
        for (seen, hidden, is_cut, x) in stretches {
            for step in 0..seen {
                // it comes back anywhere after a cut, and where it may have walked to otherwise
                let found = vec![face(0, x + step as f32, 0.9)];
                let made = if step == 0 && is_cut { cut(now, found) } else { frame(now, found) };
                tracker.step(&made);
                now += 1;
            }
            for _ in 0..hidden {
                tracker.step(&frame(now, vec![]));
                now += 1;
            }
        }
        let sealed = tracker.seal(at(now + 1));
        prop_assert_eq!(sealed.len(), 1, "{:?}", steps(&sealed));
    }

    #[test]
    fn a_snapshot_in_the_middle_changes_nothing(frames in scenes(), middle in 0usize..60) {
        let middle = middle.min(frames.len());
        let config = bincode::config::standard();
        let mut first = tracker();
        let mut sealed = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            if index == middle {
                let bytes = bincode::serde::encode_to_vec(&first, config).unwrap();
                first = bincode::serde::decode_from_slice(&bytes, config).unwrap().0;
            }
            if frame.at.as_nanos() % at(10).as_nanos() == 0 {
                sealed.extend(first.seal(frame.at));
            }
            first.step(frame);
        }
        sealed.extend(first.seal(at(1000)));
        prop_assert_eq!(sealed, sealed_every_ten(tracker(), &frames));
    }

    #[test]
    fn tracks_are_pure_ordered_and_inside_their_clip(frames in scenes()) {
        let sealed = sealed_every_ten(tracker(), &frames);
        let mut persons: BTreeMap<TrackId, Embedding> = BTreeMap::new();
        let mut last: BTreeMap<TrackId, Timestamp> = BTreeMap::new();
        for track in &sealed {
            prop_assert!(!track.sightings.is_empty() && track.samples.len() <= SAMPLES);
            prop_assert_eq!(track.continued, last.contains_key(&track.id));
            prop_assert_eq!(track.span.start, track.sightings[0].at);
            for sighting in &track.sightings {
                prop_assert!(track.span.contains(sighting.at));
                prop_assert!(last.insert(track.id, sighting.at).is_none_or(|t| t < sighting.at));
            }
            for sample in &track.samples {
                let person = persons.entry(track.id).or_insert_with(|| sample.embedding.clone());
                prop_assert_eq!(&*person, &sample.embedding);
            }
        }
    }
}

#[test]
fn a_steady_face_is_followed_through_frames_in_which_nobody_looks() {
    let mut tracker = tracker();
    for step in 0..8 {
        assert_eq!(
            tracker.steady(at(step)),
            step == 0,
            "{step}: an empty scene is steady, a new face is not"
        );
        tracker.step(&frame(step, vec![face(0, 100.0 + step as f32, 0.9)]));
    }
    assert!(tracker.steady(at(7)));
    for step in 8..20 {
        if step % 3 == 0 {
            tracker.step(&frame(step, vec![face(0, 100.0 + step as f32, 0.9)]));
        } else {
            tracker.coast(at(step), false);
        }
        assert!(tracker.steady(at(step)), "{step}");
    }
    // a cut where nobody looks: the face is nowhere, and nobody is made up
    tracker.coast(at(20), true);
    tracker.coast(at(21), false);
    assert!(!tracker.steady(at(21)));
    let tracks = tracker.seal(at(30));
    assert_eq!(steps(&tracks), BTreeMap::from([(1, (0..20).collect())]));
    let off = |s: &Sighting| (s.bbox.x - 100.0 - (s.at.as_nanos() / 200_000_000) as f32).abs();
    assert!(tracks[0].sightings.iter().all(|s| off(s) < 3.0));
    // who leaves while nobody looks is gone at the next look
    let mut tracker = self::tracker();
    for step in 0..8 {
        tracker.step(&frame(step, vec![face(0, 100.0, 0.9)]));
    }
    tracker.coast(at(8), false);
    tracker.step(&frame(9, vec![]));
    tracker.coast(at(10), false);
    tracker.coast(at(11), false);
    assert_eq!(steps(&tracker.seal(at(30))), BTreeMap::from([(1, (0..9).collect())]));
}
