//! Promises about faces that two cameras see at once.

use super::*;

/// Percepts of two cameras: the first tracks are `camera`'s, those from `hall` on the other's.
fn two_cameras(mut clip: ClipPercepts, hall: usize) -> ClipPercepts {
    clip.tracks[hall..].iter_mut().for_each(|track| track.source = SourceId::new("hall"));
    clip
}

fn seen(clip: &ClipPercepts, separate: &[&[&str]]) -> TestWriter {
    let names =
        |list: &&[&str]| -> Vec<String> { list.iter().map(|name| (*name).to_owned()).collect() };
    let separate_views = separate.iter().map(names).collect();
    let settings = Identity { separate_views, ..Identity::default() };
    let (faces, voices) = (calibrated("mobilefacenet"), calibrated("ge2e"));
    let rows = IdentityRows::default();
    let mut now =
        Resolver::from_rows(&rows, PendingIdentities::default(), &settings, faces, voices);
    let mut writer = TestWriter::default();
    now.resolve(clip, &mut writer);
    now.finish(&mut writer);
    writer
}

fn faces(writer: &TestWriter) -> Vec<Option<EntityId>> {
    writer.tracks.values().map(|row| row.face).collect()
}

#[test]
fn a_face_in_two_views_at_once_is_one_unless_the_views_are_separate() {
    let both = two_cameras(clip(0, &[(0, 0.0, 10.0, 100.0), (0, 0.1, 10.0, 400.0)], &[]), 1);
    let of_others: [&[&[&str]]; 2] = [&[], &[&["camera", "front"], &["front", "hall"]]];
    for separate in of_others {
        let found = faces(&seen(&both, separate));
        assert!(found[0].is_some() && found[0] == found[1], "{separate:?}: {found:?}");
    }
    let found = faces(&seen(&both, &[&["front", "hall", "camera"]]));
    assert!(found[0].is_some() && found[1].is_none(), "the look-alike stays undecided: {found:?}");
}

#[test]
fn two_who_are_seen_at_once_in_separate_views_are_evidence_of_two() {
    let both = two_cameras(clip(0, &[(0, 0.0, 10.0, 100.0), (1, 0.1, 10.0, 100.0)], &[]), 1);
    let pair = (id("face_1"), id("face_2"));
    assert!(!seen(&both, &[]).pairs.contains_key(&pair));
    let writer = seen(&both, &[&["camera", "hall"]]);
    let against = writer.pairs[&pair].against_secs;
    assert!((against - 9.8).abs() < 0.3, "{against}: whatever their boxes");
    let mut reversed = both.clone();
    reversed.tracks.reverse();
    assert_eq!(seen(&reversed, &[&["hall", "camera"]]), writer, "the order is no evidence");
}

#[test]
fn who_walks_from_one_separate_view_into_the_other_is_one() {
    // the cameras' clocks differ by half a second
    let walk = two_cameras(clip(0, &[(0, 0.0, 10.0, 100.0), (0, 9.5, 20.0, 400.0)], &[]), 1);
    let found = faces(&seen(&walk, &[&["camera", "hall"]]));
    assert!(found[0].is_some() && found[0] == found[1], "{found:?}");
}
