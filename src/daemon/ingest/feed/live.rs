//! A live session: cameras and microphones as they come, sealed by the watermark, until told to stop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::dispatch::{Dispatcher, StagesGone};
use super::session::Session;
use crate::capture::{FramesWanted, LiveSources, SourceHealth};
use crate::config::{EchoCancelling, Microphone};
use crate::daemon::ingest::error::IngestError;
use crate::daemon::ingest::report::{Report, SessionEnd};
use crate::daemon::ingest::settings::SessionSettings;
use crate::daemon::ingest::work::perceiver_set::Calibrations;
use crate::ids::{SessionId, SourceId};
use crate::media::Item;
use crate::supervise::contained;

/// How long one look for an item takes at most.
const LOOK: Duration = Duration::from_millis(100);
/// How often the sources' health is told.
const HEALTH_EVERY: Duration = Duration::from_secs(1);
/// How long a stopping session takes in what the sources had captured before.
const DRAIN: Duration = Duration::from_millis(300);

/// Takes how the sources are, and which of them hang and for how long.
type TellHealth<'a> = dyn Fn(&[SourceHealth], &[(SourceId, Duration)]) + 'a;

/// What a live session asks of and tells the daemon while it runs.
pub struct LiveContext<'a> {
    /// Set: seal the open window and end.
    pub stop: &'a AtomicBool,
    /// Told every second how the sources are, and which of them hang and for how long.
    pub health: &'a TellHealth<'a>,
    /// Asked every second: whether a new session is due because the configuration has changed.
    pub changed: &'a dyn Fn() -> bool,
    /// Told of every item before it is handed on; must not wait. Where it is there, cameras hand on every frame, else those
    /// that are looked at.
    pub tap: Option<&'a dyn Fn(&Item)>,
}

impl LiveContext<'_> {
    fn tell(&self, item: &Item) {
        if let Some(tap) = self.tap {
            tap(item);
        }
    }
}

/// Remembers what the configured cameras and microphones deliver, until it is stopped, or the wall clock
/// jumps or the configuration changes (then [`SessionEnd::stopped`] is false and a new session is due).
///
/// # Errors
/// When no source can be started, or a model or the store fails; clips committed before that stay.
pub fn live(
    settings: &SessionSettings,
    context: &LiveContext<'_>,
) -> Result<SessionEnd, IngestError> {
    contained(|| run(settings, context)).unwrap_or(Err(IngestError::Panic("live")))
}

/// As [`live`], whose thread this is.
fn run(settings: &SessionSettings, context: &LiveContext<'_>) -> Result<SessionEnd, IngestError> {
    let began = Instant::now();
    let config = Arc::clone(&settings.config);
    let per_sec = config.window.analyse_fps;
    let wanted = match context.tap {
        Some(_) => FramesWanted::All,
        None if settings.perceivers.scores_mouths() => FramesWanted::WithMouths(per_sec),
        None => FramesWanted::Analysed(per_sec),
    };
    let mut sources =
        LiveSources::start(&config.camera, &config.microphone, &config.window, wanted)?;
    let (cameras, microphones) = (sources.cameras(), sources.microphones());
    let cancels = |one: &&Microphone| one.echo != EchoCancelling::None;
    let cancelled = config.microphone.iter().filter(cancels).map(|one| SourceId::new(&one.id));
    settings.inbox.without_echo(cancelled.collect());
    // A session before this one may have learned what was not kept.
    settings.unlearn(&mut settings.resolver.lock());
    let session = Session {
        settings: settings.clone(),
        cameras,
        microphones,
        recording: None,
        calibrations: Calibrations::new(),
        resume: None,
        stopping: Some(Arc::default()),
    };
    let id = SessionId::default();
    settings.reports.send(Report::Began { session: id, span: None, from: None }).ok();
    let mut running = session.start()?;
    let load_secs = began.elapsed().as_secs_f64();
    let playing = Instant::now();
    let mut drops = Drops::default();
    let fed = contained(|| feed(&mut running.dispatcher, &mut sources, context, &mut drops));
    match &fed {
        Ok(Why::Stopped) => {
            running.words_may_be_late();
            drain(&mut running.dispatcher, &mut sources, context);
        }
        Ok(Why::ClockJumped(secs)) => {
            tracing::warn!("the wall clock jumped by {secs:.1} s: a new session begins");
        }
        Ok(Why::Changed) => drain(&mut running.dispatcher, &mut sources, context),
        Ok(Why::Fault) | Err(_) => {}
    }
    // What they dropped since that was last counted, and what nobody took.
    drops.count(&sources.finish(), &mut running.dispatcher);
    // The committer's own fault, if it met one, comes out of `finish`.
    let _ = running.dispatcher.finish();
    let media_secs = running.media_secs();
    let sealed = running.finish();
    settings.gauges.rest();
    let why = fed.map_err(|_| IngestError::Panic("live"))?;
    let clips = sealed?.clips;
    Ok(SessionEnd {
        done: true,
        clips,
        load_secs,
        wall_secs: playing.elapsed().as_secs_f64(),
        media_secs,
        dropped: drops.frames,
        stopped: why == Why::Stopped,
        ..SessionEnd::default()
    })
}

/// What the sources have dropped so far.
#[derive(Default)]
struct Drops {
    frames: u64,
    seen: BTreeMap<SourceId, (u64, u64)>,
}

impl Drops {
    /// Counts the increase into the open clip.
    fn count(&mut self, health: &[SourceHealth], dispatcher: &mut Dispatcher) {
        for source in health {
            let before = self.seen.entry(source.id.clone()).or_default();
            let frames = source.dropped_frames - before.0;
            let blocks = source.dropped_blocks - before.1;
            *before = (source.dropped_frames, source.dropped_blocks);
            self.frames += frames;
            dispatcher.dropped(&source.id, frames, blocks);
        }
    }
}

/// What ends a live session.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    /// It was told to.
    Stopped,
    /// By so many seconds.
    ClockJumped(f64),
    /// The configuration is another.
    Changed,
    /// The stages are gone; why, comes out of the committer.
    Fault,
}

/// Hands on what comes, until the session ends.
fn feed(
    dispatcher: &mut Dispatcher,
    sources: &mut LiveSources,
    context: &LiveContext<'_>,
    drops: &mut Drops,
) -> Why {
    let mut told = Instant::now();
    let health = sources.health();
    dispatcher.gauges.health(&health);
    (context.health)(&health, &sources.hanging());
    loop {
        if context.stop.load(Ordering::Relaxed) {
            return Why::Stopped;
        }
        if let Some(item) = sources.next(LOOK).filter(|item| dispatcher.may_take(item)) {
            context.tell(&item);
            match dispatcher.item(item) {
                Ok(true) => {}
                Ok(false) => return Why::Stopped,
                Err(StagesGone) => return Why::Fault,
            }
        }
        // Borders come with the watermark, so a silent camera seals its clips, too.
        if let Err(StagesGone) = dispatcher.boundaries_until(sources.watermark()) {
            return Why::Fault;
        }
        if told.elapsed() >= HEALTH_EVERY {
            told = Instant::now();
            let health = sources.health();
            drops.count(&health, dispatcher);
            dispatcher.gauges.health(&health);
            (context.health)(&health, &sources.hanging());
            if let Some(secs) = sources.clock_jump_secs() {
                return Why::ClockJumped(secs);
            }
            if (context.changed)() {
                return Why::Changed;
            }
        }
    }
}

/// Stops the sources and takes in what they captured before.
fn drain(dispatcher: &mut Dispatcher, sources: &mut LiveSources, context: &LiveContext<'_>) {
    sources.stop();
    let until = Instant::now() + DRAIN;
    while Instant::now() < until {
        let Some(item) = sources.next(Duration::ZERO) else { return };
        if !dispatcher.may_take(&item) {
            continue;
        }
        context.tell(&item);
        if !matches!(dispatcher.item(item), Ok(true)) {
            return;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::thread;

    use crossbeam_channel::unbounded;

    use super::*;
    use crate::config::{Camera, Window};
    use crate::daemon::ingest::feed::dispatch::Way;
    use crate::daemon::ingest::stage::camera::Step;
    use crate::daemon::ingest::work::jobs::JobQueue;
    use crate::daemon::ingest::{Gauges, Inbox, PlaybackClock};
    use crate::daemon::metrics::meters::Meters;
    use crate::daemon::metrics::stats::{Models, StatsWriter};
    use crate::daemon::service::Clock;
    use crate::memory::{Memory, StoreOptions};
    use crate::mqtt::{Publisher, Topics};

    /// Places on the way to the camera's stage, and frames that the session is to analyse per second.
    const PLACES: usize = 2;
    const WANTED: f64 = 5.0;

    /// Hands what a camera delivers on until it is told to stop.
    fn watch(steps: Way<Step>, gauges: Gauges, stop: &AtomicBool) {
        let pipeline = "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=30/1 \
                        ! appsink name=video sync=false";
        let camera = Camera {
            id: "front".to_owned(),
            pipeline: Some(pipeline.to_owned()),
            uri: None,
            calibration_file: None,
        };
        let window = Window { frame_queue: 2, analyse_fps: WANTED, ..Window::default() };
        let mut sources = LiveSources::start(&[camera], &[], &window, FramesWanted::All).unwrap();
        let (parts, _gathered) = unbounded();
        let mut dispatcher = Dispatcher {
            cameras: BTreeMap::from([(SourceId::new("front"), steps)]),
            microphones: BTreeMap::new(),
            jobs: JobQueue::idle(),
            parts,
            pace: PlaybackClock::new(None, false),
            gauges,
            inbox: Inbox::default(),
            clip_secs: window.clip_secs,
            analyse_fps: window.analyse_fps,
            grid: None,
            progress: None,
            consumed: BTreeMap::new(),
            mouths: None,
            between: BTreeMap::new(),
        };
        let context = LiveContext { stop, health: &|_, _| {}, changed: &|| false, tap: None };
        let why = feed(&mut dispatcher, &mut sources, &context, &mut Drops::default());
        assert_eq!(why, Why::Stopped);
    }

    #[test]
    fn what_the_machine_cannot_analyse_is_dropped_and_stats_show_the_rate_below_the_wanted_one() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let (gauges, stop) = (Gauges::default(), AtomicBool::new(false));
        let (front, publisher) =
            (SourceId::new("front"), Publisher::new(Topics::new("engram", "rob"), "boot"));
        gauges.wanted(&front, WANTED);
        let (steps, stage) = Way::new(PLACES, true);
        let mut stats = StatsWriter::new(
            memory,
            gauges.clone(),
            Meters::default(),
            Clock::Wall,
            Models::default(),
        );
        let gauge = || gauges.read().sources[&front].clone();
        let (full, standing, slow) = thread::scope(|scope| {
            scope.spawn(|| watch(steps, gauges.clone(), &stop));
            // The stage stands still: as many frames as have a place wait for it, and what comes then is dropped.
            let patience = Instant::now() + Duration::from_secs(30);
            while gauge().dropped == 0 && Instant::now() < patience {
                thread::sleep(Duration::from_millis(20));
            }
            let full = gauge().captured;
            stats.next(&publisher);
            let standing = stats.next(&publisher).sources.remove("front");
            // It takes fewer than are wanted, so the rate is at most its own, however slow this machine is.
            while gauge().captured == full && Instant::now() < patience {
                thread::sleep(Duration::from_millis(500));
                stage.try_recv().ok();
            }
            let slow = stats.next(&publisher).sources.remove("front");
            stop.store(true, Ordering::Relaxed);
            (full, standing, slow)
        });
        let (standing, slow) = (standing.unwrap(), slow.unwrap());
        assert_eq!(full, PLACES as u64);
        assert_eq!((standing.per_sec, standing.wanted_per_sec), (0.0, Some(WANTED)));
        assert!(standing.dropped > 0, "{standing:?}");
        assert!(slow.dropped > 0 && slow.captured > full, "{slow:?}");
        assert!(slow.wanted_per_sec.is_some_and(|wanted| slow.per_sec < wanted), "{slow:?}");
    }
}
