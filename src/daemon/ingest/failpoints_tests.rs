//! Stages that end in a panic in the middle of a recording: each is begun anew alone, and the session goes on.

#![allow(clippy::unwrap_used)]

use crossbeam_channel::unbounded;

use super::{IngestError, PlaybackClock, Report, SessionEnd, YieldPolicy, replay};
use crate::capture::{Recording, ReplayOptions};
use crate::config::Config;
use crate::config::sections::TranscriberKind;
use crate::daemon::assemble::{Knowledge, session_settings};
use crate::ids::EntityKind;
use crate::perceive::voice::bench::shared;

/// How it ended, clips told of, restarts by stage, and whether the session is finished in the store.
struct Ended {
    end: SessionEnd,
    clips: Vec<u32>,
    restarts: Vec<(&'static str, u64)>,
    persons: usize,
}

/// Replays into a store of its own while these stages break down.
fn replay_with(planned: &[(&'static str, u64)]) -> Option<Result<Ended, IngestError>> {
    let recording = Recording::open(
        &shared("recordings/living_room_dev.mp4")?,
        &ReplayOptions { duration_secs: Some(95.0), ..ReplayOptions::default() },
    );
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.store.dir = Some(dir.path().to_owned());
    config.transcriber.kind = TranscriberKind::None;
    let knowledge = Knowledge::open(&config).unwrap();
    let (reports, told) = unbounded();
    let pace = PlaybackClock::new(None, false);
    let settings = session_settings(&knowledge, pace, YieldPolicy::default(), reports).unwrap();
    if settings.perceivers.face_embedder.is_none() || settings.perceivers.speaker_embedder.is_none()
    {
        eprintln!("SKIPPED: no models (make setup)");
        return None;
    }
    for (stage, after) in planned {
        settings.failpoints.plan(stage, *after);
    }
    let end = match replay(&settings, &recording.unwrap(), false) {
        Ok(end) => end,
        Err(error) => return Some(Err(error)),
    };
    let clips = told.try_iter().filter_map(|report| match report {
        Report::Clip(clip) => Some(clip.clip.index),
        _ => None,
    });
    let view = knowledge.memory.view();
    Some(Ok(Ended {
        end,
        clips: clips.collect(),
        restarts: settings.gauges.read().restarts.into_iter().collect(),
        persons: view.entities().iter().filter(|id| id.kind == EntityKind::Person).count(),
    }))
}

#[test]
fn a_stage_that_breaks_down_is_begun_anew_and_the_session_goes_on() {
    let planned = [("camera", 40), ("microphone", 900), ("seal", 2)];
    let Some(broken) = replay_with(&planned) else { return };
    let broken = broken.unwrap();
    assert_eq!(broken.restarts, [("camera", 1), ("microphone", 1), ("seal", 1)]);
    // The clip in the committer's hands is lost; those before and after it are not.
    assert_eq!(broken.clips, [0, 1, 3]);
    assert_eq!((broken.end.clips, broken.end.damaged), (3, 3));
    assert!(broken.end.damage[0].contains("lost by a fault of engram itself"));
    assert!(broken.persons > 0, "nobody was found around the failpoints");
}

#[test]
fn a_replay_whose_own_thread_breaks_down_ends_with_an_error() {
    let Some(broken) = replay_with(&[("replay", 300)]) else { return };
    let error = broken.err().unwrap();
    assert!(error.to_string().contains("replay stage ended in a panic"), "{error}");
}
