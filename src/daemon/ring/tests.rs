//! What is kept of the ring is what was captured, and what is erased is not.

#![allow(clippy::unwrap_used)]

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;
use crate::capture::{Recording, ReplayOptions};
use crate::media::{Block, Frame, Picture};

/// Long after whatever is awaited has happened.
const LONG: Duration = Duration::from_secs(60);

pub(crate) fn limits(minutes: f64, cap_mb: u64) -> config::Ring {
    config::Ring { minutes, cap_mb, ..config::Ring::default() }
}

fn start(dir: &Path, key: Option<&StoreKey>, limits: &config::Ring) -> Ring {
    Ring::start(dir, key, limits, BTreeMap::new()).unwrap()
}

/// The beginning of what is fed: so long ago that all of it is over.
fn begin() -> Timestamp {
    Timestamp::wall_clock().plus_secs(-40.0)
}

/// A picture 10 times a second, and sound.
pub(crate) fn feed(ring: &Ring, from: Timestamp, secs: u32) {
    let rgb = image::RgbImage::from_fn(32, 24, |x, y| image::Rgb([x as u8, y as u8, 7]));
    for number in 0..secs * 10 {
        let at = from.plus_secs(f64::from(number) * 0.1);
        let picture = Picture::Rgb8(rgb.clone().into_raw().into());
        let (source, number) = (SourceId::new("front"), u64::from(number));
        ring.item(&Item::Frame(Frame { source, at, number, width: 32, height: 24, picture }));
        let source = SourceId::new("ears");
        ring.item(&Item::Block(Block { source, at, samples: vec![0.01; 1600].into() }));
        // The queue is as long as four seconds.
        if number % 20 == 19 {
            ring.settle();
        }
    }
    ring.settle();
}

/// When the pictures and the sounds of a snapshot were captured, as a replay plays it.
fn played(ring: &Ring, kept: &Kept) -> (Vec<Timestamp>, Vec<Timestamp>) {
    stamps("kept.mcap", &ring.read(&kept.name).unwrap().unwrap())
}

/// The stamps of a recording's pictures and sounds.
fn stamps(name: &str, file: &[u8]) -> (Vec<Timestamp>, Vec<Timestamp>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, file).unwrap();
    let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
    let mut playback = recording.play().unwrap();
    let (mut frames, mut blocks) = (Vec::new(), Vec::new());
    while let Some(item) = playback.next().unwrap() {
        match item {
            Item::Frame(frame) => frames.push(frame.at),
            Item::Block(block) => blocks.push(block.at),
            _ => {}
        }
    }
    (frames, blocks)
}

#[test]
fn a_part_of_the_ring_is_kept_to_the_half_second_and_played() {
    let dir = tempfile::tempdir().unwrap();
    let ring = start(dir.path(), None, &limits(5.0, 100));
    let from = begin();
    feed(&ring, from, 12);
    let wanted = Span::new(from.plus_secs(3.25), from.plus_secs(7.75));
    let kept = ring.keep(wanted).unwrap();
    let (frames, blocks) = played(&ring, &kept);
    assert_eq!(frames.len(), 45, "{frames:?}");
    for at in [&frames, &blocks] {
        let (first, last) = (*at.first().unwrap(), *at.last().unwrap());
        assert!(first.secs_since(wanted.start).abs() < 0.5, "{first} {wanted:?}");
        assert!(last.secs_since(wanted.end).abs() < 0.5, "{last} {wanted:?}");
        assert!(at.iter().all(|at| wanted.contains(*at) || *at == last));
    }
    assert!((kept.span.secs() - wanted.secs()).abs() < 0.5);
    assert_eq!(ring.kept().unwrap().as_slice(), std::slice::from_ref(&kept));
    // Nothing is there of another time, and what is named otherwise is nothing.
    let elsewhere = Span::new(from.plus_secs(-100.0), from.plus_secs(-90.0));
    assert!(matches!(ring.keep(elsewhere), Err(RingError::Nothing(_))));
    assert_eq!(ring.read("../ring/x").unwrap(), None);
    let whole = Span::new(from, from.plus_secs(2000.0));
    assert!(matches!(ring.keep(whole), Err(RingError::TooLarge(_))));
    assert!(ring.remove(&kept.name).unwrap() && !ring.remove(&kept.name).unwrap());
    assert!(ring.kept().unwrap().is_empty());
}

#[test]
fn who_comes_after_a_kill_finds_all_but_the_last_half_second() {
    let dir = tempfile::tempdir().unwrap();
    let from = begin();
    let ring = start(dir.path(), None, &limits(5.0, 100));
    feed(&ring, from, 6);
    // Half a second more, which nobody has come to close: all that a kill takes along.
    for number in 0..4 {
        let at = from.plus_secs(6.0 + f64::from(number) * 0.1);
        let block = Block { source: SourceId::new("ears"), at, samples: vec![0.01; 1600].into() };
        ring.item(&Item::Block(block));
    }
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("ring")).unwrap();
    for entry in std::fs::read_dir(dir.path().join("ring")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join("ring").join(entry.file_name())).unwrap();
    }
    std::fs::write(copy.path().join("ring/00_01.part"), b"half a file").unwrap();
    let next = start(copy.path(), None, &limits(5.0, 100));
    let kept = next.keep(Span::new(from.plus_secs(1.0), from.plus_secs(6.0))).unwrap();
    let (frames, _) = played(&next, &kept);
    assert_eq!(frames.len(), 50);
    assert!(!copy.path().join("ring/00_01.part").exists());
}

#[test]
fn the_ring_lets_go_of_what_is_old_and_of_what_is_too_much() {
    let files = |dir: &Path| {
        std::fs::read_dir(dir.join("ring")).map(|entries| entries.count()).unwrap_or_default()
    };
    let dir = tempfile::tempdir().unwrap();
    let from = begin();
    // Six seconds long.
    let ring = start(dir.path(), None, &limits(0.1, 100));
    feed(&ring, from, 12);
    let kept = ring.keep(Span::new(from, from.plus_secs(12.0))).unwrap();
    assert!((kept.span.start.secs_since(from) - 6.0).abs() <= 1.0, "{:?}", kept.span);
    assert!((10..=14).contains(&files(dir.path())), "{}", files(dir.path()));
    drop(ring);
    // What is too old when the daemon starts goes, and all of it where there is no ring any more.
    drop(start(dir.path(), None, &limits(10.0, 100)));
    assert!(files(dir.path()) > 0);
    drop(start(dir.path(), None, &limits(0.0, 100)));
    assert_eq!(files(dir.path()), 0);
    assert_eq!(Ring::at_rest(dir.path(), None, &limits(0.0, 0)).kept().unwrap().len(), 1);

    let ring = start(dir.path(), None, &limits(5.0, 0));
    feed(&ring, from, 3);
    assert_eq!(files(dir.path()), 0, "there is no room for it");
    let full = config::Ring { snapshots_mb: 0, ..limits(5.0, 100) };
    drop(ring);
    let ring = start(dir.path(), None, &full);
    feed(&ring, from, 3);
    let kept = ring.keep(Span::new(from, from.plus_secs(3.0)));
    assert!(matches!(kept, Err(RingError::TooLarge(_))), "snapshots have no room");
}

#[test]
fn what_is_erased_is_in_no_file_and_the_rest_of_a_snapshot_stays() {
    let dir = tempfile::tempdir().unwrap();
    let ring = start(dir.path(), None, &limits(5.0, 100));
    let from = begin();
    feed(&ring, from, 12);
    let at = |secs: f64| from.plus_secs(secs);
    let both = ring.keep(Span::new(at(0.0), at(10.0))).unwrap();
    let gone = ring.keep(Span::new(at(4.0), at(5.5))).unwrap();
    let other = ring.keep(Span::new(at(8.0), at(10.0))).unwrap();
    let there = [Span::new(at(4.5), at(5.0))];
    let (secs, snapshots) = ring.would_erase(&there).unwrap();
    assert!((1.5..=3.5).contains(&secs) && snapshots == 2, "{secs} {snapshots}");
    assert_eq!(ring.kept().unwrap().len(), 3, "nothing is changed");
    ring.erase(&there).unwrap();
    let (secs, snapshots) = ring.would_erase(&there).unwrap();
    assert!(secs == 0.0 && snapshots == 1, "{secs} {snapshots}");
    let kept = ring.kept().unwrap();
    assert!(kept.contains(&other) && !kept.contains(&gone), "{kept:?}");
    // In what goes on over it nothing of that time is left, and a second around it neither.
    let left = kept.iter().find(|one| one.span.start == both.span.start).unwrap();
    let (frames, blocks) = played(&ring, left);
    let erased = Span::new(at(3.6), at(5.9));
    assert!(!frames.iter().chain(&blocks).any(|at| erased.contains(*at)));
    assert!(frames.iter().any(|one| *one < at(3.0)) && frames.iter().any(|one| *one > at(7.0)));
    let again = ring.keep(Span::new(at(3.6), at(5.9)));
    assert!(matches!(again, Err(RingError::Nothing(_))), "{again:?}");
    ring.keep(Span::new(at(0.0), at(2.0))).unwrap();

    // Where no daemon runs, too.
    let rest = Ring::at_rest(dir.path(), None, &limits(0.0, 0));
    drop(ring);
    rest.erase(&[Span::new(at(-10.0), at(100.0))]).unwrap();
    assert!(rest.kept().unwrap().is_empty());
    assert_eq!(rest.would_erase(&[Span::new(at(-10.0), at(100.0))]).unwrap(), (0.0, 0));
}

#[test]
fn a_snapshot_is_shown_as_a_film_with_every_picture_at_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let key = StoreKey::parse(&"5a".repeat(32)).unwrap();
    let ring = start(dir.path(), Some(&key), &limits(5.0, 100));
    let from = begin();
    feed(&ring, from, 6);
    let kept = ring.keep(Span::new(from.plus_secs(1.0), from.plus_secs(4.0))).unwrap();
    let (frames, blocks) = played(&ring, &kept);
    let film = ring.film(&kept.name, None).unwrap().unwrap();
    let (shown, heard) = stamps("film.mp4", &film);
    assert_eq!(shown.len(), frames.len());
    let (first, begin) = (shown[0], frames[0]);
    let apart = |(shown, frame): (&Timestamp, &Timestamp)| {
        (shown.secs_since(first) - frame.secs_since(begin)).abs()
    };
    assert!(shown.iter().zip(&frames).map(apart).all(|apart| apart < 0.01), "{shown:?} {frames:?}");
    assert!(!heard.is_empty() && !blocks.is_empty());
    assert!(matches!(ring.film(&kept.name, Some("rear")), Err(RingError::Film(_))));
    assert!(ring.film(&kept.name, Some("front")).unwrap().is_some());
    assert!(ring.film("1_2", None).unwrap().is_none());
}

#[test]
fn what_an_erasure_left_goes_with_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let ring = start(dir.path(), None, &limits(5.0, 100));
    let from = begin();
    feed(&ring, from, 8);
    let at = |secs: f64| from.plus_secs(secs);
    let kept = ring.keep(Span::new(at(0.0), at(8.0))).unwrap();
    let path = dir.path().join("snapshots").join(format!("{}.mcap", kept.name));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, b"damaged").unwrap();
    let there = Span::new(at(4.0), at(5.0));
    let later = ring.keep(Span::new(at(4.5), at(7.0))).unwrap();
    ring.erase(&[there]).unwrap_err();
    assert!(!ring.kept().unwrap().contains(&later), "the damaged one keeps no other");
    let again = ring.keep(there);
    assert!(
        matches!(again, Err(RingError::Nothing(_))),
        "the ring was not kept waiting: {again:?}"
    );
    std::fs::write(&path, whole).unwrap();
    drop(ring);
    let ring = start(dir.path(), None, &limits(5.0, 100));
    let left = ring.kept().unwrap();
    let (frames, blocks) = played(&ring, &left[0]);
    assert!(!frames.is_empty());
    assert!(!frames.iter().chain(&blocks).any(|at| there.contains(*at)));
}

#[test]
fn under_a_key_nothing_of_it_lies_in_the_clear() {
    let dir = tempfile::tempdir().unwrap();
    let key = StoreKey::parse(&"5a".repeat(32)).unwrap();
    let plain = start(dir.path(), None, &limits(5.0, 100));
    let from = begin();
    feed(&plain, from, 2);
    plain.keep(Span::new(from, from.plus_secs(2.0))).unwrap();
    drop(plain);
    let in_the_clear = || {
        let folders = ["ring", "snapshots"].map(|name| dir.path().join(name));
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        files
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
            .filter(|bytes| {
                bytes.starts_with(mcap::MAGIC) || bytes.windows(5).any(|window| window == b"front")
            })
            .count()
    };
    assert!(in_the_clear() > 2);
    assert!(Ring::at_rest(dir.path(), Some(&key), &limits(0.0, 0)).encrypt().unwrap() > 2);
    assert_eq!(in_the_clear(), 0);
    let ring = start(dir.path(), Some(&key), &limits(5.0, 100));
    feed(&ring, from.plus_secs(2.0), 2);
    let kept = ring.keep(Span::new(from.plus_secs(1.0), from.plus_secs(3.0))).unwrap();
    assert_eq!(in_the_clear(), 0);
    assert_eq!(played(&ring, &kept).0.len(), 20);
    assert!(Ring::at_rest(dir.path(), None, &limits(0.0, 0)).read(&kept.name).is_err());
}

#[test]
fn what_a_watch_wants_is_kept_once_it_is_over() {
    let dir = tempfile::tempdir().unwrap();
    let ring = start(dir.path(), None, &limits(5.0, 100));
    let from = begin();
    feed(&ring, from, 6);
    ring.keep_later(Span::new(from.plus_secs(1.0), from.plus_secs(3.0)));
    let until = Instant::now() + LONG;
    while ring.kept().unwrap().is_empty() && Instant::now() < until {
        sleep(Duration::from_millis(20));
    }
    let kept = ring.kept().unwrap();
    assert_eq!(kept.len(), 1);
    assert!((kept[0].span.secs() - 2.0).abs() < 0.5);
}

#[test]
fn what_overlaps_is_kept_as_one() {
    let from = begin();
    let span = |start: f64, end: f64| Span::new(from.plus_secs(start), from.plus_secs(end));
    let mut waiting = Vec::new();
    for (start, end) in
        [(1.0, 2.0), (4.0, 5.0), (1.5, 4.5), (6.0, 7.0), (6.5, MOST_SNAPSHOT_SECS + 7.0)]
    {
        wait_for(&mut waiting, span(start, end));
    }
    // The last two would be longer than a snapshot may be.
    let wanted = [span(1.0, 5.0), span(6.0, 7.0), span(6.5, MOST_SNAPSHOT_SECS + 7.0)];
    assert_eq!(waiting, wanted);
}
