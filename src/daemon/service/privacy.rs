//! What is not to be kept: microphones switched off, strangers, whatever is older than the configuration allows.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Clock, MemoryService};
use crate::config;
use crate::ids::EntityId;
use crate::memory::model::MemoryKind;
use crate::memory::{Forget, MemoryError, View};
use crate::mqtt::message::Privacy;
use crate::mqtt::{Refusal, Reply};
use crate::time::{Span, Timestamp};

/// There while microphones are switched off, so that a restart does not switch them on.
const MARK: &str = "microphones-off";
/// What `status.degraded` says meanwhile.
const SWITCHED_OFF: &str = "hearing: the microphones are switched off (topic privacy)";

const DAY_SECS: f64 = 86_400.0;

impl MemoryService {
    /// Switches the microphones; kept over restarts.
    pub(super) fn privacy(&self, privacy: &Privacy) -> Result<Reply, Refusal> {
        let Clock::Wall = &self.clock else {
            return Err(Refusal::unavailable(
                "a recording is being played: no microphone is listened to",
            ));
        };
        let off = !privacy.microphones;
        // Off at once; on only when that is written.
        if off {
            self.session.load().inbox.mute(true);
        }
        mark(&self.mark_path(), off).map_err(|error| {
            Refusal::internal(format!(
                "writing {}: {error}; free space or mend its folder's rights",
                self.mark_path().display()
            ))
        })?;
        self.session.load().inbox.mute(off);
        self.tell_of_microphones(off);
        Ok(Reply::Document(json!({ "microphones": privacy.microphones })))
    }

    /// At the start: microphones that were switched off stay so.
    pub fn resume_privacy(&self) {
        if matches!(self.clock, Clock::Wall) && self.mark_path().exists() {
            self.session.load().inbox.mute(true);
            self.tell_of_microphones(true);
        }
    }

    fn mark_path(&self) -> PathBuf {
        self.dir().join(MARK)
    }

    fn tell_of_microphones(&self, off: bool) {
        self.announcer
            .degraded("privacy", off.then(|| SWITCHED_OFF.to_owned()).into_iter().collect());
    }

    /// Erases what is not to be kept any more: strangers, and, if `aged`, whatever is too old. Gives whether anything was
    /// erased: what failed may have failed after the rows were gone.
    pub fn sweep(&self, now: Timestamp, aged: bool) -> bool {
        let before = self.knowledge.memory.erasures();
        if let Err(error) = self.knowledge.memory.scrub_idle() {
            tracing::warn!(%error, "Free space in the memory's pages could not be overwritten; tried again in a minute.");
        }
        self.finish_erasing();
        if let Err(error) = self.forget_strangers(now) {
            tracing::warn!(%error, "Strangers could not be erased; tried again in a minute.");
        }
        if aged && let Err(error) = self.forget_aged(now) {
            tracing::warn!(%error, "What is too old could not be erased; tried again in six hours.");
        }
        if aged && let Err(error) = self.trim_answers(now) {
            tracing::warn!(%error, "Old answers could not be taken away; tried again in six hours.");
        }
        self.knowledge.memory.erasures() != before
    }

    /// Takes away answers that are too old, or too many.
    fn trim_answers(&self, now: Timestamp) -> Result<(), MemoryError> {
        let upkeep = self.session.load().config.upkeep.clone();
        let since = now.plus_secs(-86_400.0 * upkeep.keep_answers_days);
        let gone = self.knowledge.memory.trim_answers(upkeep.keep_answers, since)?;
        if gone > 0 {
            tracing::info!(answers = gone, "Old answers were taken away.");
        }
        Ok(())
    }

    /// Erases strangers that have gone, where they are not to be kept. Gives how many.
    ///
    /// # Errors
    /// When the store fails.
    pub fn forget_strangers(&self, now: Timestamp) -> Result<usize, Refusal> {
        // As it is since the last reload.
        let privacy = self.session.load().config.privacy.clone();
        if privacy.strangers {
            return Ok(0);
        }
        let Some(since) = before(now, privacy.stranger_secs) else { return Ok(0) };
        let gone = strangers(&self.view(), since);
        let what: Vec<Forget> = gone.into_iter().map(Forget::Entity).collect();
        if !what.is_empty() {
            self.erase(&what, now)?;
        }
        Ok(what.len())
    }

    /// Tries again what could not be overwritten when it was erased; little where there is nothing.
    pub fn finish_erasing(&self) {
        if let Err(error) = self.knowledge.memory.finish_erasing() {
            tracing::warn!(%error, "What was erased is not overwritten on the disk yet; it is tried again.");
        }
    }

    /// Erases what is older than the configuration allows. Gives what was erased.
    ///
    /// # Errors
    /// When the store fails.
    pub fn forget_aged(&self, now: Timestamp) -> Result<Vec<Forget>, Refusal> {
        let memory = &self.knowledge.memory;
        let limits = limits(&self.session.load().config.privacy);
        let mut what = Vec::new();
        for (days, target) in limits {
            let Some(before) = before(now, days * DAY_SECS) else { continue };
            match target {
                None if memory.has_before(before) => {
                    what.push(Forget::Span(Span::new(Timestamp::from_nanos(i64::MIN), before)));
                }
                Some(kind) if memory.has_aged(kind, before) => {
                    what.push(Forget::Aged(kind, before))
                }
                _ => {}
            }
        }
        if !what.is_empty() {
            self.erase(&what, now)?;
        }
        Ok(what)
    }
}

/// Whether the microphones of the daemon whose store lies in that folder are switched off.
///
/// # Errors
/// When the folder may not be looked into.
pub fn microphones_off(dir: &Path) -> std::io::Result<bool> {
    dir.join(MARK).try_exists()
}

/// So many seconds ago; `None`: that is no time in the past, so nothing is older.
fn before(now: Timestamp, secs: f64) -> Option<Timestamp> {
    (secs.is_finite() && secs >= 0.0).then(|| now.plus_secs(-secs))
}

/// Days, and the kind they are for; `None`: everything.
fn limits(privacy: &config::Privacy) -> Vec<(f64, Option<MemoryKind>)> {
    [
        (privacy.keep_days, None),
        (privacy.keep_utterance_days, Some(MemoryKind::Utterance)),
        (privacy.keep_episodic_days, Some(MemoryKind::Episodic)),
        (privacy.keep_semantic_days, Some(MemoryKind::Semantic)),
        (privacy.keep_reflection_days, Some(MemoryKind::Reflection)),
        (privacy.keep_summary_days, Some(MemoryKind::Summary)),
        (privacy.keep_note_days, Some(MemoryKind::Note)),
        (privacy.keep_lesson_days, Some(MemoryKind::Lesson)),
    ]
    .into_iter()
    .filter_map(|(days, kind)| Some((days?, kind)))
    .collect()
}

/// Persons without a name who were not perceived since, ascending.
fn strangers(view: &View, since: Timestamp) -> Vec<EntityId> {
    let seen = view.last_seen();
    let gone = seen
        .into_iter()
        .filter(|(id, last)| *last < since && *id != EntityId::ROBOT && view.names(*id).is_empty());
    gone.map(|(id, _)| id).collect()
}

/// Puts the mark there, or takes it away.
fn mark(path: &Path, there: bool) -> std::io::Result<()> {
    if there {
        let mut options = fs::OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        return options.open(path)?.sync_all();
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::sync::Arc;

    use crossbeam_channel::unbounded;

    use super::*;
    use crate::config::Config;
    use crate::daemon::announce::Announcer;
    use crate::daemon::assemble::{Knowledge, session_settings};
    use crate::daemon::ingest::{PlaybackClock, YieldPolicy};
    use crate::daemon::metrics::meters::Meters;
    use crate::daemon::queries::tests::{T0, small_memory, small_memory_with};
    use crate::geometry::Rect;
    use crate::ids::{ClipId, EntityKind, ModelHash, SourceId, TrackId};
    use crate::memory::model::{Exemplar, Membership, TrackRow};
    use crate::memory::{Memory, StoreOptions};
    use crate::percept::{Embedding, Sighting};

    fn at(secs: f64) -> Timestamp {
        Timestamp::from_nanos(T0).plus_secs(secs)
    }

    /// Over the store in `dir`, without models, as the daemon has it.
    pub(in crate::daemon::service) fn service(
        dir: &Path,
        clock: Clock,
        privacy: config::Privacy,
    ) -> MemoryService {
        let mut config = Config::default();
        config.store.dir = Some(dir.to_owned());
        config.models.dir = Some(dir.join("no-models"));
        config.robot.id = Some("rob".into());
        config.privacy = privacy;
        let mut knowledge = Knowledge::open(&config).unwrap();
        knowledge.reader = crate::memorize::fact_reader();
        let (reports, _) = unbounded();
        let pace = PlaybackClock::new(None, false);
        let session = session_settings(&knowledge, pace, YieldPolicy::default(), reports).unwrap();
        MemoryService::new(knowledge, session, clock, Announcer::default(), Meters::default())
    }

    /// Somebody without a name is seen from 10 s to 12 s.
    fn stranger(memory: &Memory) -> EntityId {
        let mut draft = memory.begin(at(31.0));
        let face = draft.new_entity(EntityKind::Face);
        let person = draft.new_entity(EntityKind::Person);
        let clip = ClipId { session: crate::ids::SessionId(1), index: 0 };
        let bbox = Rect { x: 300.0, y: 20.0, w: 50.0, h: 60.0 };
        draft.track(TrackRow {
            clip,
            track: TrackId(9),
            source: SourceId::new("front"),
            span: Span::new(at(10.0), at(12.0)),
            sightings: [Sighting { at: at(10.0), bbox, score: 0.9, bearing: None }]
                .into_iter()
                .collect(),
            face: Some(face),
            confidence: 0.9,
            picture: false,
            body: false,
            colours: None,
        });
        draft.exemplar(Exemplar {
            entity: face,
            slot: 0,
            at: at(10.0),
            embedding: Embedding::normalised(vec![0.0, 1.0], ModelHash([1; 32])),
            quality: 0.8,
            weight: 1.0,
            media: None,
        });
        draft.membership(Membership { part: face, person, reason: "test".into(), decreed: false });
        draft.commit().unwrap();
        person
    }

    #[test]
    fn strangers_are_erased_when_they_have_gone_and_whoever_has_a_name_stays() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        let unknown = stranger(&memory);
        drop(memory);
        let keeping = service(dir.path(), Clock::Wall, config::Privacy::default());
        assert_eq!(keeping.forget_strangers(at(5000.0)).unwrap(), 0);
        drop(keeping);
        let privacy =
            config::Privacy { strangers: false, stranger_secs: 100.0, ..Default::default() };
        let service = service(dir.path(), Clock::Wall, privacy);
        assert_eq!(service.forget_strangers(at(60.0)).unwrap(), 0, "may still be here");
        assert_eq!(service.forget_strangers(at(200.0)).unwrap(), 1);
        let view = service.view();
        assert!(!view.knows(unknown));
        let known: Vec<String> = view.persons().into_iter().map(|row| row.id.to_string()).collect();
        assert_eq!(known, ["person_1"]);
        assert_eq!(service.forget_strangers(at(300.0)).unwrap(), 0);
    }

    #[test]
    fn what_is_not_to_be_kept_any_more_counts_without_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        stranger(&memory);
        drop(memory);
        let service = service(dir.path(), Clock::Wall, config::Privacy::default());
        let later = at(2.0 * DAY_SECS);
        assert_eq!(service.forget_strangers(later).unwrap(), 0);
        assert_eq!(service.forget_aged(later).unwrap(), []);
        let mut session = (**service.session.load()).clone();
        let mut config = (*session.config).clone();
        config.privacy.strangers = false;
        config.privacy.keep_days = Some(1.0);
        session.config = Arc::new(config);
        service.reconfigure(session);
        assert_eq!(service.forget_strangers(later).unwrap(), 1);
        assert_eq!(service.forget_aged(later).unwrap().len(), 1);
    }

    #[test]
    fn what_fails_once_the_rows_are_gone_is_told_as_erased() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        let unknown = stranger(&memory);
        drop(memory);
        let privacy =
            config::Privacy { strangers: false, stranger_secs: 100.0, ..Default::default() };
        let service = service(dir.path(), Clock::Wall, privacy);
        assert!(!service.sweep(at(60.0), true), "may still be here");
        // A file lies where a folder is to be deleted, after the rows.
        let aside = dir.path().join("aside");
        fs::write(&aside, "").unwrap();
        assert!(service.sweep(at(200.0), true));
        assert!(!service.view().knows(unknown));
        fs::remove_file(aside).unwrap();
        assert!(!service.sweep(at(300.0), true), "there is nothing more");
    }

    #[test]
    fn what_is_older_than_allowed_goes_by_kind_and_altogether() {
        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let words = config::Privacy { keep_utterance_days: Some(1.0), ..Default::default() };
        let clip = ClipId { session: crate::ids::SessionId(1), index: 0 };
        {
            let service = service(dir.path(), Clock::Wall, words.clone());
            assert_eq!(service.forget_aged(at(3600.0)).unwrap(), []);
            let later = at(2.0 * DAY_SECS);
            let erased = service.forget_aged(later).unwrap();
            assert!(matches!(erased[..], [Forget::Aged(MemoryKind::Utterance, _)]), "{erased:?}");
            assert_eq!(service.forget_aged(later).unwrap(), [], "there is nothing more");
            let view = service.view();
            assert!(view.memory(crate::ids::MemoryId(1)).is_none());
            assert!(view.track(clip, TrackId(1)).is_some(), "who was seen is of another kind");
        }
        for file in ["engram.db", "engram.db-wal"] {
            let bytes = fs::read(dir.path().join(file)).unwrap_or_default();
            assert!(!bytes.windows(11).any(|text| text == b"hello there"), "{file}");
        }
        let all = config::Privacy { keep_days: Some(1.0), ..Default::default() };
        let service = service(dir.path(), Clock::Wall, all);
        let later = at(2.0 * DAY_SECS);
        assert!(matches!(service.forget_aged(later).unwrap()[..], [Forget::Span(_)]));
        assert!(service.view().track(clip, TrackId(1)).is_none());
        assert_eq!(service.forget_aged(later).unwrap(), []);
    }

    #[test]
    fn a_limit_that_is_no_time_in_the_past_erases_nothing() {
        for limit in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            let dir = tempfile::tempdir().unwrap();
            let memory = small_memory(dir.path());
            let unknown = stranger(&memory);
            drop(memory);
            let privacy = config::Privacy {
                strangers: false,
                stranger_secs: limit,
                keep_days: Some(limit),
                keep_utterance_days: Some(limit),
                ..Default::default()
            };
            let service = service(dir.path(), Clock::Wall, privacy);
            let later = at(1e4 * DAY_SECS);
            assert_eq!(service.forget_strangers(later).unwrap(), 0, "{limit}");
            assert_eq!(service.forget_aged(later).unwrap(), [], "{limit}");
            assert!(service.view().knows(unknown), "{limit}");
        }
    }

    #[test]
    fn without_media_no_picture_and_no_sound_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let options = StoreOptions { keep_media: false, ..StoreOptions::default() };
        let memory = small_memory_with(dir.path(), &options);
        assert!(!dir.path().join("media").exists());
        let view = memory.view();
        let exemplars = view.exemplars(EntityId::new(EntityKind::Face, 1));
        assert_eq!(exemplars.len(), 1, "the vector is kept");
        assert!(exemplars.iter().all(|exemplar| exemplar.media.is_none()));
        let report = memory.check().unwrap();
        assert_eq!((report.faults, report.media_taken), (Vec::<String>::new(), 0));
    }

    #[test]
    fn microphones_stay_off_over_a_restart_and_a_replay_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let switch = |on| Privacy { id: None, microphones: on };
        let muted = |service: &MemoryService| service.session.load().inbox.is_muted();
        let mark = dir.path().join(MARK);
        {
            let service = service(dir.path(), Clock::Wall, config::Privacy::default());
            service.resume_privacy();
            assert!(!muted(&service));
            service.privacy(&switch(false)).unwrap();
            assert!(muted(&service) && service.announcer.impaired() == 1);
        }
        assert_eq!(fs::metadata(&mark).unwrap().mode() & 0o777, 0o600);
        assert!(microphones_off(dir.path()).unwrap());
        {
            let service = service(dir.path(), Clock::Wall, config::Privacy::default());
            service.resume_privacy();
            assert!(muted(&service), "still off");
            service.privacy(&switch(true)).unwrap();
            assert!(!muted(&service) && !mark.exists() && service.announcer.impaired() == 0);
            assert!(!microphones_off(dir.path()).unwrap());
        }
        let clock = Clock::Replay(PlaybackClock::new(None, false));
        let service = service(dir.path(), clock, config::Privacy::default());
        let refused = service.privacy(&switch(false)).unwrap_err();
        assert_eq!(refused.code, crate::mqtt::RefusalCode::Unavailable);
    }
}
