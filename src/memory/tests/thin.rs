//! Of tracks of long ago few sightings are left.

use super::*;
use crate::percept::Sighting;

/// Whose seventh sighting is the best.
fn seen(index: u32, number: u64, start: i64) -> TrackRow {
    let mut row = track(index, number, Some(face(1)), start, 4);
    let mut sightings: Vec<Sighting> = row.sightings.iter().collect();
    sightings[7].score = 0.99;
    row.sightings = sightings.as_slice().into();
    row
}

fn kept(view: &View) -> Vec<usize> {
    view.tracks(&PerceptFilter::default()).iter().map(|row| row.sightings.len()).collect()
}

#[test]
fn the_first_the_best_and_the_last_sighting_stay_of_tracks_of_long_ago() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    for part in 0..3 {
        let mut draft = memory.begin(at(1_000 * (i64::from(part) + 1)));
        if part == 0 {
            draft.new_session(at(0), 30.0, None);
            draft.new_entity(EntityKind::Face);
        }
        draft.clip(Clip {
            id: clip(part),
            span: Span::new(at(1_000 * i64::from(part)), at(1_000 * i64::from(part) + 30)),
            frames: 1,
            analysed: 1,
            dropped: 0,
            key_frames: Vec::new(),
        });
        draft.track(seen(part, 1, 1_000 * i64::from(part)));
        draft.commit().unwrap();
    }
    let before = memory.view();
    let whole: Vec<Sighting> =
        before.tracks(&PerceptFilter::default())[0].sightings.iter().collect();
    assert_eq!(kept(&before), [20, 20, 20]);
    assert_eq!(memory.thin_sightings(at(999)).unwrap(), 0, "nothing is so old");
    assert_eq!(memory.thin_sightings(at(2_000)).unwrap(), 2);
    assert_eq!(memory.thin_sightings(at(2_000)).unwrap(), 0, "and no more of it");
    let thinned = |memory: &Memory| {
        let view = memory.view();
        assert_eq!(kept(&view), [3, 3, 20]);
        let row = Arc::clone(&view.tracks(&PerceptFilter::default())[0]);
        let left: Vec<Sighting> = row.sightings.iter().collect();
        assert_eq!(left, [whole[0], whole[7], whole[19]]);
        assert_eq!((row.span, row.face), (Span::new(at(0), at(4)), Some(face(1))));
    };
    thinned(&memory);
    assert_eq!(kept(&before), [20, 20, 20], "who reads on reads what was there");
    drop(before);
    let hash = memory.hash();
    drop(memory);
    let memory = open(dir.path());
    thinned(&memory);
    assert_eq!(memory.hash(), hash, "the file says the same");
    assert_eq!(memory.thin_sightings(at(9_999)).unwrap(), 1);
    assert_eq!(kept(&memory.view()), [3, 3, 3]);
}

#[test]
fn the_file_has_room_where_sightings_were() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let mut draft = memory.begin(at(1_000));
    draft.new_session(at(0), 30.0, None);
    draft.new_entity(EntityKind::Face);
    (0..900).for_each(|number| draft.track(TrackRow { clip: clip(0), ..seen(0, number, 0) }));
    draft.commit().unwrap();
    let pages = |what: &str| -> i64 {
        let count = format!("PRAGMA {what}");
        memory.with_db("counting pages", |db| db.query_row(&count, [], |row| row.get(0))).unwrap()
    };
    let before = pages("page_count");
    assert_eq!(memory.thin_sightings(at(2_000)).unwrap(), 900);
    let left = pages("page_count") - pages("freelist_count");
    assert!(left < before / 2, "{left} of {before} pages are left");
    assert_eq!(kept(&memory.view()), vec![3; 900]);
}
