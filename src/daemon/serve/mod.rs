//! The running daemon: broker and memory first, so that it answers at once; then whatever is to be
//! remembered; in the end everything in good order.

mod describer;
mod home;
mod lookout;
mod present_pictures;
mod reporter;
mod sweeper;
mod ticker;

use std::cell::RefCell;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded, unbounded};

use self::describer::Describer;
use self::home::HomeTeller;
use self::lookout::Lookout;
use self::present_pictures::PresentPictures;
use self::reporter::Reporter;
use self::sweeper::Sweeper;
use self::ticker::{TICK, Ticker};
use super::announce::Announcer;
use super::assemble::{AssembleError, Knowledge, catalogue, model_memorizer, session_settings};
use super::ingest::{
    self, LiveContext, PerceiverSet, PlaybackClock, Report, SessionSettings, YieldPolicy,
};
use super::lanes::{self, Lanes};
use super::metrics::meters::Meters;
use super::metrics::stats::{Models, StatsWriter};
use super::metrics::{Exporter, MetricsError, Responder};
use super::notify::{self, Pulse, Watchdog};
use super::read_ahead::ReadAhead;
use super::refine::Refiner;
use super::reload::{self, Waited};
use super::ring::Ring;
use super::room::Room;
use super::service::{Clock, MemoryService};
use super::status_line::StatusLine;
use super::stop::Stop;
use super::supervise;
use super::ticking::Ticking;
use super::vectorize::{Vectorizer, Work};
use crate::capture::SourceHealth;
use crate::config::{Config, ConfigError, HomeAssistant};
use crate::http::{self, HttpError};
use crate::ids::SourceId;
use crate::media::Item;
use crate::models::ModelError;
use crate::mqtt::{self, MqttError};
use crate::runtime::crash_journal;
use crate::wyoming;

/// The first pause after a session failed; each further one is twice as long …
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// … up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What keeps the daemon from starting.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Memory or models.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The manifest of models.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The broker.
    #[error(transparent)]
    Mqtt(#[from] MqttError),
    /// The door over HTTP.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The endpoint for dashboards.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// The system gives no thread or no signals.
    #[error("starting the daemon: {0}")]
    System(#[from] std::io::Error),
}

/// Everything that runs beside ingest.
pub struct Daemon {
    settings: SessionSettings,
    announcer: Announcer,
    describer: Describer,
    service: Arc<MemoryService>,
    runtime: tokio::runtime::Runtime,
    session: mqtt::Session,
    http: Option<http::Server>,
    stop: Stop,
    capture: Pulse,
    degraded: Vec<String>,
    /// Of these, what does not depend on a session.
    knowledge_degraded: Vec<String>,
    quit: Sender<()>,
    threads: Vec<JoinHandle<()>>,
    refiner: Option<Refiner>,
    vectorizer: Option<Vectorizer>,
    read_ahead: ReadAhead,
    /// Where what is captured goes, too.
    ring: Option<Ring>,
}

impl Daemon {
    /// Opens the memory, starts the broker (where it is embedded) and answers from then on. `told` gets every
    /// report of a session, too.
    ///
    /// # Errors
    /// When the memory is in use or damaged, a model is damaged, or the broker's port is taken.
    pub fn start(
        config: &Config,
        clock: Clock,
        told: Option<Sender<Report>>,
    ) -> Result<Self, ServeError> {
        let stop = Stop::default();
        let played = match &clock {
            Clock::Replay(pace) => Some(pace.clone()),
            Clock::Wall | Clock::Store => None,
        };
        let pace = played.clone().unwrap_or_else(|| PlaybackClock::new(None, false));
        // (A live session hands on what was captured before the stop.)
        stop.on_signals(move || {
            if let Some(pace) = &played {
                pace.command(ingest::Command::Stop);
            }
        })?;

        let loading = notify::loading();
        let knowledge = Knowledge::open(config)?;
        let (reports, reported) = unbounded();
        let mut settings = session_settings(&knowledge, pace, YieldPolicy::default(), reports)?;
        settings.patience = Some(stop.clone());
        let (announcer, meters) = (Announcer::default(), Meters::default());
        let mut degraded = knowledge.degraded.clone();
        degraded.extend(settings.perceivers.degraded.iter().cloned());
        announcer.degraded("models", degraded.clone());
        let service = Arc::new(MemoryService::new(
            knowledge.clone(),
            settings.clone(),
            clock.clone(),
            announcer.clone(),
            meters.clone(),
        ));
        let live = matches!(clock, Clock::Wall);
        let ring = if live { fill_ring(&settings, &service) } else { None };
        let mut tallies = knowledge.tallies.clone();
        let (memorizer, tally) = model_memorizer(config)?.unzip();
        tallies.extend(tally);
        let refiner = Refiner::start(&settings, memorizer, announcer.clone(), meters.clone())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("mqtt")
            .enable_all()
            .build()?;
        let handler: Arc<dyn mqtt::Service> = Arc::<MemoryService>::clone(&service);
        let session = runtime.block_on(mqtt::Session::start(config, handler))?;
        let publisher = session.publisher();
        announcer.publish_to(publisher.clone());
        // (The service holds the announcer.)
        let speaker = Arc::downgrade(&service);
        announcer.hears_itself(move |text| {
            if let Some(speaker) = speaker.upgrade() {
                speaker.said(text);
            }
        });
        if let Some(ring) = ring.clone() {
            let important = config.ring.keep_importance;
            announcer.keeps(important, move |span| ring.keep_later(span));
        }
        announcer.fired_before(&settings.memory);

        let mut watchdog = Watchdog::new();
        let (capture, control) = (watchdog.pulse("capture"), watchdog.pulse("control"));
        let sealing = watchdog.pulse("memory");
        let lanes = Lanes::watched_by(&mut watchdog);
        capture.rest();
        let describer = Describer::new(catalogue(config)?, settings.clone(), publisher.clone());
        describer.publish();
        let home = config.home_assistant.discovery.then(|| HomeTeller::new(&settings, &announcer));
        if home.is_some() {
            let HomeAssistant { prefix, persons, .. } = &config.home_assistant;
            publisher.discovery(prefix, &config.robot_id(), *persons);
        }
        let (quit, quitting) = bounded(0);
        let reporter = Reporter {
            announcer: announcer.clone(),
            meters: meters.clone(),
            describer: describer.clone(),
            told,
            live,
            room: match config.answerer.wake_phrase.as_deref().filter(|_| live) {
                Some(phrase) => Some(Room::open(phrase, Arc::clone(&service), publisher.clone())?),
                None => None,
            },
        };
        let vectorizer = knowledge.embedders.clone().map(|embedders| {
            Vectorizer::start(Work {
                memory: settings.memory.clone(),
                embedders,
                batch: config.embedder.batch,
                courtesy: settings.courtesy.clone(),
                announcer: announcer.clone(),
                meters: meters.clone(),
            })
        });
        let vectorizer = vectorizer.transpose()?;
        let read_ahead = ReadAhead::start(
            settings.memory.clone(),
            Arc::clone(&knowledge.answerer),
            settings.courtesy.clone(),
            announcer.clone(),
        )?;
        let vectors = vectorizer.as_ref().map(Vectorizer::progress).unwrap_or_default();
        let models = Models { tallies, spool: settings.spool.clone(), vectors };
        let exporter = Exporter {
            memory: settings.memory.clone(),
            gauges: settings.gauges.clone(),
            stages: Arc::clone(&settings.perceivers.stages),
            meters: meters.clone(),
            clock: clock.clone(),
            models: models.clone(),
            publisher: publisher.clone(),
            announcer: announcer.clone(),
            started: Instant::now(),
        };
        let render: http::Render = Arc::new(move || exporter.page().text());
        if let Some(listen) = &config.metrics.listen {
            let responder = runtime.block_on(Responder::start(listen, Arc::clone(&render)))?;
            tracing::info!("metrics on http://{}/metrics", responder.address());
        }
        let behind = http::Behind {
            requests: session.requests(),
            pictures: Arc::new(PresentPictures::new(&settings)),
            snapshots: Arc::<MemoryService>::clone(&service),
            metrics: render,
        };
        let http = door(&runtime, config, behind, &announcer)?;
        if let Some(address) = config.wyoming.address() {
            let ears: Arc<dyn wyoming::Ears> = Arc::<MemoryService>::clone(&service);
            match runtime.block_on(wyoming::start(address, ears)) {
                Ok(address) => tracing::info!("Wyoming on {address}"),
                Err(error) => {
                    tracing::error!("{error}");
                    announcer.degraded("wyoming", vec![format!("wyoming: {error}")]);
                }
            }
        }
        let ticker = Ticker {
            status: StatusLine::new(
                announcer.clone(),
                settings.gauges.clone(),
                meters.clone(),
                publisher.clone(),
            ),
            stats: StatsWriter::new(
                settings.memory.clone(),
                settings.gauges.clone(),
                meters,
                clock,
                models,
            ),
            publisher,
            announcer: announcer.clone(),
            watchdog,
            control,
            sealing,
            lanes,
            settings: settings.clone(),
            home,
        };
        service.resume_privacy();
        let (ticked, swept, looked) = (quitting.clone(), quitting.clone(), quitting.clone());
        let lookout = Lookout {
            memory: settings.memory.clone(),
            announcer: announcer.clone(),
            zone: config.timezone(),
        };
        let sweeper =
            Sweeper { service: Arc::clone(&service), live, publisher: session.publisher() };
        let mut ticker = ticker;
        let threads = vec![
            stage("reports", &announcer, move || reporter.run(&reported, &quitting))?,
            stage("upkeep", &announcer, move || ticker.run(&ticked))?,
            stage("privacy", &announcer, move || sweeper.run(&swept))?,
            stage("watches", &announcer, move || match live {
                true => lookout.run(&looked),
                // A replay's watches are those of its clips, so that it fires alike at any speed.
                false => drop(looked.recv()),
            })?,
        ];
        drop(loading);
        notify::ready(&announcer.status_line());
        Ok(Self {
            settings,
            announcer,
            describer,
            service,
            runtime,
            session,
            http,
            stop,
            capture,
            degraded,
            knowledge_degraded: knowledge.degraded,
            quit,
            threads,
            refiner,
            vectorizer,
            read_ahead,
            ring,
        })
    }

    /// What ingest works with.
    #[must_use]
    pub fn settings(&self) -> &SessionSettings {
        &self.settings
    }

    /// Asked for by SIGTERM and Ctrl-C.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Abilities that are missing, and why.
    #[must_use]
    pub fn degraded(&self) -> &[String] {
        &self.degraded
    }

    /// Says in the status what ails that part of it; nothing: it is well again.
    pub fn ails(&self, part: &'static str, what: Vec<String>) {
        self.announcer.degraded(part, what);
    }

    /// Publishes the replay's time so many times a second, until what it gives is dropped.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn clock(&self, hz: f64) -> std::io::Result<Ticking> {
        Ticking::start(self.settings.pace.clone(), self.session.publisher(), hz)
    }

    /// Where it can be reached, in words.
    #[must_use]
    pub fn address(&self) -> String {
        let below = self.session.topics().at("ask");
        let broker = match self.session.broker() {
            Some(broker) => format!("MQTT on {} and {}, topic {below}", broker.v4, broker.v5),
            None => format!("MQTT through {}, topic {below}", self.settings.config.mqtt.broker),
        };
        match &self.http {
            Some(http) => format!("{broker}; {}", http.url()),
            None => broker,
        }
    }

    /// Remembers what the configured cameras and microphones deliver, until stopped. A session that fails is
    /// tried again; questions are answered meanwhile. Without sources this only waits.
    ///
    /// On SIGHUP the configuration is read again by `load`: what concerns a session begins a new one, how long things are kept
    /// counts at once, the rest is named in the status and waits for the next start; a wrong one is reported, and the
    /// old one stays.
    pub fn live(&self, load: &dyn Fn() -> Result<Config, ConfigError>) {
        self.live_with(load, None);
    }

    /// As [`live`](Self::live); `tap` is told of every item and must not wait.
    pub fn live_with(
        &self,
        load: &dyn Fn() -> Result<Config, ConfigError>,
        tap: Option<&dyn Fn(&Item)>,
    ) {
        let settings = RefCell::new(self.settings.clone());
        let both = |item: &Item| {
            if let Some(ring) = &self.ring {
                ring.item(item);
            }
            if let Some(tap) = tap {
                tap(item);
            }
        };
        let tap: Option<&dyn Fn(&Item)> =
            if self.ring.is_some() || tap.is_some() { Some(&both) } else { None };
        let mut pause = FIRST_PAUSE;
        while !self.stop.asked() {
            let current = settings.borrow().clone();
            let changed = || {
                self.stop.take_reload() && self.reload(load, &settings)
                    || crash_journal::is_any_due() && self.try_anew(&settings)
            };
            if current.config.camera.is_empty() && current.config.microphone.is_empty() {
                // What is configured no more ails no more.
                current.gauges.health(&[]);
                self.announcer.degraded("ingest", Vec::new());
                self.announcer.degraded("sources", Vec::new());
                while !self.stop.wait_for(TICK) && !changed() {}
                continue;
            }
            let began = Instant::now();
            let health = |sources: &[SourceHealth], hanging: &[(SourceId, Duration)]| {
                self.announcer.degraded("ingest", Vec::new());
                lanes::look_at_sources(sources, hanging, &self.capture, &self.announcer);
            };
            let context =
                LiveContext { stop: self.stop.flag(), health: &health, changed: &changed, tap };
            let ended = ingest::live(&current, &context);
            self.settings.reports.send(Report::Ended).ok();
            self.capture.rest();
            match ended {
                Ok(end) if end.stopped => return,
                // The wall clock jumped, or the configuration is another: a new session.
                Ok(_) => {}
                Err(error) => {
                    if began.elapsed() > LONGEST_PAUSE {
                        pause = FIRST_PAUSE;
                    }
                    tracing::error!(
                        "remembering stopped: {error}; trying again in {:.0} s",
                        pause.as_secs_f64()
                    );
                    self.announcer.degraded("ingest", vec![format!("remembering: {error}")]);
                    // Another configuration may be the cure.
                    match reload::wait(&self.stop, pause, &changed) {
                        Waited::Stopped => return,
                        Waited::Changed => pause = FIRST_PAUSE,
                        Waited::Out => pause = (pause * 2).min(LONGEST_PAUSE),
                    }
                }
            }
        }
    }

    /// Reads the configuration again; true when a new session is due, with `settings` as it will be.
    fn reload(
        &self,
        load: &dyn Fn() -> Result<Config, ConfigError>,
        settings: &RefCell<SessionSettings>,
    ) -> bool {
        notify::reloading();
        let due = self.take_over(load, &mut settings.borrow_mut());
        notify::ready(&self.announcer.status_line());
        due
    }

    /// A network that was left out may be tried anew: the models are chosen again, for a new session; false where that fails.
    fn try_anew(&self, settings: &RefCell<SessionSettings>) -> bool {
        let settings = &mut *settings.borrow_mut();
        let config = Arc::clone(&settings.config);
        tracing::info!("a network that was left out is tried anew: a new session begins");
        match self.choose_models(settings, &config) {
            Ok(()) => true,
            Err(error) => {
                tracing::error!("the network that was left out cannot be tried anew: {error}");
                false
            }
        }
    }

    /// Chooses the models of that configuration for the sessions to come.
    fn choose_models(
        &self,
        settings: &mut SessionSettings,
        config: &Arc<Config>,
    ) -> Result<(), AssembleError> {
        let models = catalogue(config)?;
        let mut perceivers = PerceiverSet::choose(config, &models)?;
        // What the stages have counted goes on.
        perceivers.stages = Arc::clone(&settings.perceivers.stages);
        let mut missing = self.knowledge_degraded.clone();
        missing.extend(perceivers.degraded.iter().cloned());
        self.announcer.degraded("models", missing);
        settings.perceivers = Arc::new(perceivers);
        let stay_secs = config.upkeep.place_told_secs;
        settings.memorizer = settings.memorizer.clone().staying(stay_secs);
        settings.config = Arc::clone(config);
        self.service.reconfigure(settings.clone());
        self.describer.renew(models, settings.clone());
        Ok(())
    }

    fn take_over(
        &self,
        load: &dyn Fn() -> Result<Config, ConfigError>,
        settings: &mut SessionSettings,
    ) -> bool {
        let new = match load() {
            Ok(new) => new,
            Err(error) => {
                tracing::error!("the changed configuration is wrong, the old one stays: {error}");
                self.announcer.degraded("reload", vec![format!("reload: {error}")]);
                return false;
            }
        };
        self.session.renew();
        let change = reload::change(&settings.config, &new);
        self.announcer.degraded("reload", change.waiting());
        if !change.later.is_empty() {
            tracing::warn!("these changes wait for the next start: {}", change.later.join(", "));
        }
        let Some(taken) = change.taken else {
            if change.later.is_empty() {
                tracing::info!("the configuration is what it was");
            }
            return false;
        };
        if !change.session {
            settings.config = Arc::new(*taken);
            self.service.reconfigure(settings.clone());
            tracing::info!("the changed configuration is taken");
            return false;
        }
        match self.choose_models(settings, &Arc::new(*taken)) {
            Ok(()) => {
                tracing::info!("the changed configuration is taken: a new session begins");
                true
            }
            Err(error) => {
                tracing::error!("the changed configuration cannot run, the old one stays: {error}");
                self.announcer.degraded("reload", vec![format!("reload: {error}")]);
                false
            }
        }
    }

    /// Tells what is left to tell, says `stopped` and leaves.
    pub fn finish(self) {
        notify::stopping();
        let Self {
            service,
            runtime,
            session,
            http,
            quit,
            threads,
            refiner,
            vectorizer,
            read_ahead,
            ring,
            stop,
            ..
        } = self;
        if let Some(ring) = ring {
            ring.settle();
        }
        read_ahead.stop();
        if let Some(refiner) = refiner {
            refiner.stop();
        }
        if let Some(vectorizer) = vectorizer {
            vectorizer.stop();
        }
        drop(quit);
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the daemon ended in a panic; please report it");
            }
        }
        service.hurry();
        if let Some(http) = http {
            runtime.block_on(http.stop());
        }
        runtime.block_on(session.stop());
        service.flush();
        runtime.shutdown_timeout(Duration::from_millis(500));
        crash_journal::end();
        stop.settled();
    }
}

/// Begins the ring, where there is to be one; what an earlier one left and is too old goes in any case. Without room for it
/// everything else runs.
fn fill_ring(settings: &SessionSettings, service: &MemoryService) -> Option<Ring> {
    let (memory, config) = (&settings.memory, &settings.config);
    // What is wrong with a calibration, others tell.
    let cameras = ingest::calibrations(config, &mut Vec::new());
    let key = memory.options().key.as_ref();
    match Ring::start(memory.dir(), key, &config.ring, cameras) {
        Ok(ring) => {
            service.fills(ring.clone());
            Some(ring).filter(Ring::is_on)
        }
        Err(error) => {
            tracing::error!("there is no ring: {error}");
            None
        }
    }
}

/// The door over HTTP. Where its port is taken, the memory runs without it and says so.
fn door(
    runtime: &tokio::runtime::Runtime,
    config: &Config,
    behind: http::Behind,
    announcer: &Announcer,
) -> Result<Option<http::Server>, HttpError> {
    match runtime.block_on(http::Server::start(config, behind)) {
        Ok(server) => {
            if let Some(server) = &server {
                tracing::info!("answering on {}", server.url());
            }
            Ok(server)
        }
        Err(error @ HttpError::Listen { .. }) => {
            tracing::error!("{error}");
            announcer.degraded("http", vec![format!("http: {error}")]);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A thread of the daemon that is kept up.
fn stage(
    name: &'static str,
    announcer: &Announcer,
    run: impl FnMut() + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let announcer = announcer.clone();
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(move || supervise::keep_up(name, |stage, why| announcer.degraded(stage, why), run))
}
