//! Recordings of which years are missing: what lies on either side is remembered, and nothing in between is waited for.

#![allow(clippy::unwrap_used)]

use crossbeam_channel::unbounded;

use super::{PlaybackClock, Report, YieldPolicy, replay};
use crate::capture::bag::{BagWriter, SplitLimits};
use crate::capture::{Recording, ReplayOptions};
use crate::config::Config;
use crate::config::sections::TranscriberKind;
use crate::daemon::assemble::{Knowledge, session_settings};
use crate::ids::SourceId;
use crate::media::{Block, Item};
use crate::time::Timestamp;

#[test]
fn years_without_anything_are_not_sealed_clip_by_clip() {
    let dir = tempfile::tempdir().unwrap();
    let sources = SourceId::new("ears");
    // Two recordings that are played as one: 1970, and 2026.
    let begins = [Timestamp::EPOCH, Timestamp::from_nanos(1_772_612_100_000_000_000)];
    let paths: Vec<_> = (0..2).map(|number| dir.path().join(format!("{number}.mcap"))).collect();
    for (path, begin) in paths.iter().zip(begins) {
        let mut writer = BagWriter::create(path, SplitLimits::default()).unwrap();
        for number in 0..50 {
            let at = begin.plus_secs(f64::from(number) * 0.1);
            let block = Block { source: sources.clone(), at, samples: vec![0.01; 1_600].into() };
            writer.item(&Item::Block(block)).unwrap();
        }
        writer.finish().unwrap();
    }
    let recording = Recording::open_together(&paths, &ReplayOptions::default()).unwrap();
    let mut config = Config::default();
    config.store.dir = Some(dir.path().join("store"));
    config.transcriber.kind = TranscriberKind::None;
    let knowledge = Knowledge::open(&config).unwrap();
    let (reports, told) = unbounded();
    let pace = PlaybackClock::new(None, false);
    let settings = session_settings(&knowledge, pace, YieldPolicy::default(), reports).unwrap();
    let end = replay(&settings, &recording, false).unwrap();
    assert!(end.done);
    let clips = told.try_iter().filter_map(|report| match report {
        Report::Clip(clip) => Some(clip.clip.index),
        _ => None,
    });
    let clips: Vec<u32> = clips.collect();
    assert!((2..20).contains(&clips.len()), "{clips:?}");
    let spans = knowledge.memory.view().clips(None);
    for begin in begins {
        assert!(spans.iter().any(|clip| clip.span.contains(begin)), "{begin}");
    }
}
