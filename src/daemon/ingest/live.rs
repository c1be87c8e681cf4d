//! A live session: cameras and microphones as they come, sealed by the watermark, until told to stop.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::dispatch::{Dispatcher, StagesGone};
use super::perceivers::Calibrations;
use super::report::{Report, SessionEnd};
use super::session::{IngestError, Session, SessionSettings};
use crate::capture::{LiveSources, SourceHealth};
use crate::ids::{SessionId, SourceId};
use crate::media::Item;
use crate::supervise::contained;

/// How long one look for an item takes at most.
const LOOK: Duration = Duration::from_millis(100);
/// How often the sources' health is told.
const HEALTH_EVERY: Duration = Duration::from_secs(1);
/// How long a stopping session takes in what the sources had captured before.
const DRAIN: Duration = Duration::from_millis(300);

/// What a live session asks of and tells the daemon while it runs.
pub struct LiveContext<'a> {
    /// Set: seal the open window and end.
    pub stop: &'a AtomicBool,
    /// Told every second how the sources are.
    pub health: &'a dyn Fn(&[SourceHealth]),
    /// Asked every second: whether a new session is due because the configuration has changed.
    pub changed: &'a dyn Fn() -> bool,
    /// Told of every item before it is handed on; must not wait.
    pub tap: &'a dyn Fn(&Item),
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
    let mut sources = LiveSources::start(&config.camera, &config.microphone, &config.window)?;
    let (cameras, microphones) = (sources.cameras(), sources.microphones());
    // A session before this one may have learned what was not kept.
    settings.unlearn(&mut settings.resolver.lock().unwrap_or_else(PoisonError::into_inner));
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
    drop(sources);
    // The sealer's own fault, if it met one, comes out of `finish`.
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
    /// The stages are gone; why, comes out of the sealer.
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
    (context.health)(&health);
    loop {
        if context.stop.load(Ordering::Relaxed) {
            return Why::Stopped;
        }
        if let Some(item) = sources.next(LOOK).filter(|item| dispatcher.may_take(item)) {
            (context.tap)(&item);
            if !matches!(dispatcher.item(item), Ok(true)) {
                return Why::Fault;
            }
        }
        // Borders come with the watermark, so a silent camera seals its clips, too.
        if let Err(StagesGone) = dispatcher.borders_until(sources.watermark()) {
            return Why::Fault;
        }
        if told.elapsed() >= HEALTH_EVERY {
            told = Instant::now();
            let health = sources.health();
            drops.count(&health, dispatcher);
            dispatcher.gauges.health(&health);
            (context.health)(&health);
            if let Some(secs) = sources.clock_jump_secs() {
                return Why::ClockJumped(secs);
            }
            if (context.changed)() {
                return Why::Changed;
            }
        }
    }
}

/// Takes in what was captured before the stop.
fn drain(dispatcher: &mut Dispatcher, sources: &mut LiveSources, context: &LiveContext<'_>) {
    let until = Instant::now() + DRAIN;
    while Instant::now() < until {
        let Some(item) = sources.next(Duration::from_millis(20)) else { return };
        if !dispatcher.may_take(&item) {
            continue;
        }
        (context.tap)(&item);
        if !matches!(dispatcher.item(item), Ok(true)) {
            return;
        }
    }
}
