//! `engramd replay`: remember a recording.

use std::io::{IsTerminal as _, Write as _, stdin, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use clap::error::ErrorKind;
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use indicatif::{ProgressBar, ProgressStyle};

use super::keys::Keys;
use crate::capture::bag::FrameNames;
use crate::capture::{Pattern, Recording, ReplayOptions};
use crate::config::{Config, Renaming, Replay};
use crate::daemon::announce::Announcer;
use crate::daemon::assemble::{Knowledge, model_memorizer, session_settings};
use crate::daemon::ingest::{
    self, Choice, ClipReport, Command, PlaybackClock, Playing, Report, SessionEnd, SessionSettings,
    YieldPolicy,
};
use crate::daemon::metrics::meters::Meters;
use crate::daemon::refine::Refiner;
use crate::daemon::serve::Daemon;
use crate::daemon::service::Clock;
use crate::daemon::vectorize::{Vectorizer, Work};
use crate::mqtt::message::ReplayRate;
use crate::text::Embedders;
use crate::time::{Span, Timestamp};

/// Remember recordings: bags (.mcap, .bag, .db3, rosbag2 folders) and any file that GStreamer decodes.
///
/// An interrupted replay goes on where it stopped; a finished one is not remembered twice. In a terminal, keys
/// steer it: space pauses, → steps, ↑ ↓ m set the rate, f goes 30 s further on, q stops.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd replay home.mp4                        remember a video, as fast as the machine can
  engramd replay run.mcap --rate 1 --serve       play it in real time and answer questions meanwhile
  engramd replay --serve --set replay.folder=DIR  nothing yet: choose on the page, or by `replay/play`
  engramd replay night/                          a rosbag2 folder; also run.bag and run_0.db3
  engramd replay left.bag right.bag --together  two bags of one run, in the order of their times
  engramd replay a.mp4 b.mp4 --together --remap 1:camera:=left --remap 2:camera:=right
  engramd replay run.mcap --topics /camera/image_raw/compressed,/audio/audio
  engramd replay run.mcap --transcripts /speech/text        words of the robot's own recogniser
  engramd replay clip.mp4 --start-time 2026-03-02T17:30:00Z")]
pub struct ReplayArgs {
    /// Recordings, remembered one after the other; with --serve none is needed where `replay.folder` says what may be chosen.
    #[arg(required_unless_present = "serve", value_name = "REC")]
    pub recordings: Vec<PathBuf>,
    /// Play all of them at once, in the order of their times, as one recording. Where two have a topic at the same time,
    /// the second recording's is called `2:/camera`.
    #[arg(long)]
    pub together: bool,
    /// How many times faster than real time, or `max`.
    #[arg(long, default_value = "max", value_parser = parse_rate)]
    pub rate: Rate,
    /// When the recording began; default: what the recording says.
    #[arg(long, value_name = "T", value_parser = Timestamp::parse)]
    pub start_time: Option<Timestamp>,
    /// Leave out the first seconds.
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = parse_secs)]
    pub start_offset: f64,
    /// Stop after so many seconds.
    #[arg(long, value_name = "S", value_parser = parse_length)]
    pub duration: Option<f64>,
    /// Stop at this time of the recording.
    #[arg(long, value_name = "T", value_parser = Timestamp::parse)]
    pub until: Option<Timestamp>,
    /// Begin again at the end, as a new session, until stopped.
    #[arg(long = "loop")]
    pub repeat: bool,
    /// Only these topics [default: `replay.topics` of the configuration].
    #[arg(long, value_delimiter = ',')]
    pub topics: Vec<String>,
    /// All but these topics [default: `replay.exclude_topics`].
    #[arg(long, value_delimiter = ',')]
    pub exclude_topics: Vec<String>,
    /// Only topics of which this regular expression matches a part; `replay.topics` does not count then.
    #[arg(long, value_name = "RE", value_parser = Pattern::new)]
    pub regex: Vec<Pattern>,
    /// Not the topics of which this regular expression matches a part.
    #[arg(long, value_name = "RE", value_parser = Pattern::new)]
    pub exclude_regex: Vec<Pattern>,
    /// These topics of text (std_msgs/String, JSON) are what people said, understood by another recogniser
    /// [default: `replay.transcripts`].
    #[arg(long, value_delimiter = ',', value_name = "TOPICS")]
    pub transcripts: Vec<String>,
    /// Name a topic differently: `/camera:=/front`; with `--together` that of one recording: `2:/camera:=/right`
    /// [default: `replay.remap`].
    #[arg(long, value_parser = Renaming::parse, value_name = "A:=B")]
    pub remap: Vec<Renaming>,
    /// Wait for `resume` (space, or MQTT `replay/resume`) before the first frame; needs `--serve` or a terminal.
    #[arg(long)]
    pub start_paused: bool,
    /// Wait so many seconds before the first frame.
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = parse_secs)]
    pub delay: f64,
    /// Remember it once more, as a new session.
    #[arg(long)]
    pub again: bool,
    /// Answer questions over MQTT during the replay and after it.
    #[arg(long)]
    pub serve: bool,
    /// Publish the recording's time over MQTT (topic `clock`), so many times a second; needs `--serve`.
    #[arg(long, value_name = "HZ", num_args = 0..=1, default_missing_value = "40", requires = "serve", value_parser = parse_hz)]
    pub clock: Option<f64>,
    /// Leave the terminal alone: no keys.
    #[arg(long)]
    pub no_keys: bool,
}

/// `--rate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(pub Option<f64>);

fn parse_rate(text: &str) -> Result<Rate, String> {
    if text == "max" {
        return Ok(Rate(None));
    }
    match text.parse().ok().and_then(ReplayRate::times) {
        Some(ReplayRate::Times(rate)) => Ok(Rate(Some(rate))),
        _ => Err(format!(
            "{text:?} is no rate; write a number from {} to {}, or max",
            ReplayRate::SLOWEST,
            ReplayRate::FASTEST
        )),
    }
}

/// Longer than a year nobody waits and nothing is recorded.
const MOST_SECS: f64 = 366.0 * 86_400.0;

fn parse_secs(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(secs) if (0.0..=MOST_SECS).contains(&secs) => Ok(secs),
        _ => Err(format!("{text:?} is no number of seconds; write 0 or more, up to a year")),
    }
}

fn parse_length(text: &str) -> Result<f64, String> {
    match parse_secs(text)? {
        0.0 => Err("in 0 seconds there is nothing; write more, up to a year".to_owned()),
        secs => Ok(secs),
    }
}

fn parse_hz(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(hz) if (0.01..=1000.0).contains(&hz) => Ok(hz),
        _ => Err(format!("{text:?} is no number of times a second; write 0.01 to 1000")),
    }
}

/// What the command line gives, else what the configuration says.
fn or_config<'a, T>(given: &'a [T], config: &'a [T]) -> &'a [T] {
    if given.is_empty() { config } else { given }
}

impl ReplayArgs {
    /// Whether the options go together; `terminal`: standard input is one.
    fn check(&self, terminal: bool) -> Result<(), clap::Error> {
        let wrong =
            |why: &str| Err(clap::Error::raw(ErrorKind::ArgumentConflict, format!("{why}\n")));
        if self.serve {
            return Ok(());
        }
        if self.repeat && !self.together && self.recordings.len() > 1 {
            return wrong("--loop plays one recording; name one");
        }
        if self.start_paused && (self.no_keys || !terminal) {
            return wrong(
                "--start-paused waits for a key or for MQTT: add --serve, or run it in a terminal",
            );
        }
        Ok(())
    }

    /// What is played; `config` says what no option does.
    fn options(&self, config: &Replay) -> ReplayOptions {
        // Topics of the configuration beside those of a --regex would not be "only" these.
        let configured = if self.regex.is_empty() { config.topics.as_slice() } else { &[] };
        let remap = or_config(&self.remap, &config.remap).iter();
        let (bases, fixed) = (config.base_frames.clone(), config.fixed_frames.clone());
        ReplayOptions {
            start_time: self.start_time,
            start_offset_secs: self.start_offset,
            duration_secs: self.duration,
            until: self.until,
            topics: or_config(&self.topics, configured).to_vec(),
            exclude_topics: or_config(&self.exclude_topics, &config.exclude_topics).to_vec(),
            regex: self.regex.clone(),
            exclude_regex: self.exclude_regex.clone(),
            transcripts: or_config(&self.transcripts, &config.transcripts).to_vec(),
            remap: remap.map(|one| (one.from.clone(), one.to.clone())).collect(),
            sound: config.sound.clone(),
            frames: FrameNames { bases, fixed },
        }
    }
}

/// Runs the command; gives back the exit code.
///
/// # Errors
/// When a recording cannot be opened, or a model or the store fails.
pub fn run(args: &ReplayArgs, config: &Config, json: bool) -> anyhow::Result<u8> {
    args.check(stdin().is_terminal())?;
    // Look at all of them before hours are spent on the first.
    let recordings = open(args, config)?;
    if args.serve {
        if recordings.is_empty() && config.replay.folder.is_none() {
            let why =
                "there is nothing to play: name a recording, or set replay.folder to choose from\n";
            return Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, why).into());
        }
        return serve(args, config, &recordings, json);
    }
    let knowledge = Knowledge::open(config)?;
    let pace = PlaybackClock::new(args.rate.0, args.start_paused);
    let interrupts = stop_on_interrupt(&pace)?;
    let (reports, told) = unbounded();
    let settings = session_settings(&knowledge, pace, YieldPolicy::default(), reports)?;
    for missing in settings.perceivers.degraded.iter().chain(&knowledge.degraded) {
        eprintln!("warning: without {missing}");
    }
    let model = model_memorizer(config)?.map(|(model, _)| model);
    let refiner = Refiner::start_unwatched(&settings, model)?;
    settings.pace.wait_for_stop(Duration::from_secs_f64(args.delay));
    let played = play(args, &settings, &recordings, &told, json);
    if let Some(refiner) = refiner {
        refine_the_rest(
            refiner,
            played.is_err() || interrupts.load(Ordering::Relaxed) > 0,
            &interrupts,
        );
    }
    if let Ok(played) = &played
        && let Some(embedders) = knowledge.embedders.clone()
    {
        let interrupted = played.stopped || interrupts.load(Ordering::Relaxed) > 0;
        embed_the_rest(&settings, embedders, interrupted, &interrupts)?;
    }
    Ok(played?.exit_code(interrupts.load(Ordering::Relaxed) > 0))
}

/// Lets the memorizing model work off what the recordings left in the spool.
fn refine_the_rest(refiner: Refiner, at_once: bool, interrupts: &AtomicU32) {
    let enough = || at_once || interrupts.load(Ordering::Relaxed) > 0;
    let (left, why) = refiner.drain(enough);
    refiner.stop();
    if left > 0 {
        let why = why.unwrap_or_else(|| "it was stopped".to_owned());
        eprintln!(
            "warning: {left} clips wait in the spool for the memorizing model ({why}); they have their built-in \
             memories, and the daemon goes on with them"
        );
    }
}

/// Makes the vectors that are made after the memories: where a server embeds, or the embedder was changed. After
/// the last clip, so that they come in the same order every time.
fn embed_the_rest(
    settings: &SessionSettings,
    embedders: Arc<Embedders>,
    at_once: bool,
    interrupts: &AtomicU32,
) -> anyhow::Result<()> {
    let vectorizer = Vectorizer::start(Work {
        memory: settings.memory.clone(),
        embedders,
        batch: settings.config.embedder.batch,
        courtesy: settings.courtesy.clone(),
        announcer: Announcer::default(),
        meters: Meters::default(),
    })?;
    let (left, why) = vectorizer.drain(|| at_once || interrupts.load(Ordering::Relaxed) > 0);
    vectorizer.stop();
    if left > 0 {
        let why = why.unwrap_or_else(|| "it was stopped".to_owned());
        eprintln!(
            "warning: {left} memories have no vector yet ({why}); they are found by words, and the daemon goes on with \
             them"
        );
    }
    Ok(())
}

/// Plays the recordings and answers questions, during it and after it, until SIGTERM or Ctrl-C.
fn serve(
    args: &ReplayArgs,
    config: &Config,
    recordings: &[Recording],
    json: bool,
) -> anyhow::Result<u8> {
    let pace = PlaybackClock::new(args.rate.0, args.start_paused);
    let (forwarded, told) = unbounded();
    let daemon = Daemon::start(config, Clock::Replay(pace.clone()), Some(forwarded))?;
    for missing in daemon.degraded() {
        eprintln!("warning: without {missing}");
    }
    eprintln!("answering: {}", daemon.address());
    let delay = Duration::from_secs_f64(args.delay);
    let played = if daemon.stop().wait_for(delay) {
        Ok(Played::default())
    } else {
        let ticking = args.clock.map(|hz| daemon.clock(hz)).transpose();
        let _ticking = ticking.context("starting the clock")?;
        let played = play(args, daemon.settings(), recordings, &told, json);
        if played.is_ok() {
            play_what_is_chosen(args, &daemon, &pace, &told, json);
        }
        played
    };
    daemon.finish();
    // Here a signal is how it ends.
    Ok(played?.exit_code(false))
}

/// How often it is looked whether the daemon is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Plays what is chosen out of the folder, one after the other, until the daemon is stopped. What cannot be played is told in
/// the status, until something can.
fn play_what_is_chosen(
    args: &ReplayArgs,
    daemon: &Daemon,
    pace: &PlaybackClock,
    told: &Receiver<Report>,
    json: bool,
) {
    let config = &daemon.settings().config;
    if config.replay.folder.is_none() {
        return daemon.stop().wait();
    }
    let options = ReplayOptions {
        // These are about the recording that was named.
        start_time: None,
        start_offset_secs: 0.0,
        duration_secs: None,
        until: None,
        ..args.options(&config.replay)
    };
    while !daemon.stop().asked() {
        let Some(Choice { path, again }) = pace.chosen(LOOK_EVERY) else { continue };
        // A stop that came just before is not one of this recording.
        if daemon.stop().asked() {
            break;
        }
        let played = Recording::open(&path, &options)
            .map_err(anyhow::Error::from)
            .and_then(|recording| remember(&recording, again, daemon.settings(), told, json));
        pace.over();
        let failed = played.err().map(|error| {
            tracing::error!("what was chosen cannot be played: {error:#}");
            // (The status is for everybody, and a file may be called by somebody's name.)
            "replay: what was chosen last cannot be played; the log says why".to_owned()
        });
        daemon.ails("replay", failed.into_iter().collect());
    }
}

/// What became of the recordings.
#[derive(Clone, Copy, Debug, Default)]
struct Played {
    damaged: bool,
    /// Stopped from outside before the end.
    stopped: bool,
}

impl Played {
    /// The code to exit with; whoever stopped it by a key or over MQTT is told of damage, too.
    fn exit_code(self, interrupted: bool) -> u8 {
        match self {
            Self { stopped: true, .. } if interrupted => 130,
            Self { damaged: true, .. } => 3,
            _ => 0,
        }
    }
}

/// Remembers one recording after the other and tells about it.
fn play(
    args: &ReplayArgs,
    settings: &SessionSettings,
    recordings: &[Recording],
    told: &Receiver<Report>,
    json: bool,
) -> anyhow::Result<Played> {
    let mut played = Played::default();
    let _keys = if args.no_keys { None } else { Keys::listen(&settings.pace) };
    for recording in recordings {
        let mut again = args.again;
        loop {
            let end = remember(recording, again, settings, told, json);
            settings.pace.over();
            let end = end?;
            played.damaged |= end.damaged > 0 || end.dropped > 0;
            if end.stopped {
                return Ok(Played { stopped: true, ..played });
            }
            if !args.repeat {
                break;
            }
            again = true;
        }
    }
    Ok(played)
}

/// Remembers a recording and tells about it.
fn remember(
    recording: &Recording,
    again: bool,
    settings: &SessionSettings,
    told: &Receiver<Report>,
    json: bool,
) -> anyhow::Result<SessionEnd> {
    let start = recording.start();
    let span = recording.duration_secs().map(|secs| Span::new(start, start.plus_secs(secs)));
    settings.pace.begin(Playing { name: recording.name(), span });
    let end = thread::scope(|scope| {
        let shower = scope.spawn(|| show(told, &settings.pace, json));
        let end = ingest::replay(settings, recording, again);
        settings.reports.send(Report::Ended).ok();
        shower.join().ok();
        end
    })
    .with_context(|| format!("replaying {}", recording.path().display()))?;
    tell_end(recording, &end, json)?;
    Ok(end)
}

/// Opens the recordings that the arguments name.
///
/// # Errors
/// The first one that cannot be opened.
pub fn open(args: &ReplayArgs, config: &Config) -> anyhow::Result<Vec<Recording>> {
    let options = args.options(&config.replay);
    let mut recordings = Vec::new();
    let singly = args.recordings.iter().map(std::slice::from_ref);
    let groups: Vec<&[PathBuf]> =
        if args.together { vec![args.recordings.as_slice()] } else { singly.collect() };
    for paths in groups {
        let recording = Recording::open_together(paths, &options)?;
        if recording.start_is_guess() {
            eprintln!(
                "warning: {} does not say when it was recorded; counting from {} (--start-time sets it)",
                recording.path().display(),
                recording.start()
            );
        }
        recordings.push(recording);
    }
    Ok(recordings)
}

/// The first Ctrl-C stops in good order, the second at once.
fn stop_on_interrupt(pace: &PlaybackClock) -> anyhow::Result<Arc<AtomicU32>> {
    let count = Arc::new(AtomicU32::new(0));
    let (counted, pace) = (Arc::clone(&count), pace.clone());
    let mut signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
    ])
    .context("listening for Ctrl-C")?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if counted.fetch_add(1, Ordering::Relaxed) > 0 {
                crate::terminal::exit(130);
            }
            eprintln!(
                "stopping after the clips in hand; run the same command again to go on from there"
            );
            pace.command(Command::Stop);
        }
    });
    Ok(count)
}

/// Shows the reports of one session: JSON lines, or a progress bar.
fn show(told: &Receiver<Report>, pace: &PlaybackClock, json: bool) {
    let mut bar: Option<Progress> = None;
    loop {
        match told.recv_timeout(BAR_EVERY) {
            Ok(Report::Began { span, from, .. }) => {
                if let Some(from) = from
                    && !json
                {
                    eprintln!("going on from {from}");
                }
                bar = (!json && stdout().is_terminal()).then(|| Progress::new(span));
            }
            Ok(Report::Clip(clip)) if json => {
                let line = serde_json::to_string(&*clip).unwrap_or_default();
                // A reader that left (head, say) is no reason to stop remembering.
                writeln!(stdout(), "{line}").ok();
            }
            Ok(Report::Clip(clip)) => tell_clip(bar.as_ref(), &clip),
            // A replay waits for its words; a full disk is in the log.
            Ok(Report::Words(_) | Report::Partial(_) | Report::DiskFull(_)) => {}
            Ok(Report::Ended) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(bar) = &bar {
            bar.show(pace);
        }
    }
    if let Some(bar) = bar {
        bar.bar.finish_and_clear();
    }
}

/// How often the progress bar moves.
const BAR_EVERY: Duration = Duration::from_millis(200);

/// The bar, and where the recording begins.
struct Progress {
    bar: ProgressBar,
    start: Option<Timestamp>,
}

impl Progress {
    fn new(span: Option<Span>) -> Self {
        let bar = ProgressBar::new(span.map_or(0, |span| (span.secs() * 1e3) as u64));
        let style = ProgressStyle::with_template(
            "{spinner} {bar:40} {percent:>3} %  {elapsed} of about {duration}  {prefix}  {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(BAR_EVERY);
        Self { bar, start: span.map(|span| span.start) }
    }

    /// As far as the recording was let through, at which rate.
    fn show(&self, pace: &PlaybackClock) {
        if let Some(start) = self.start {
            self.bar.set_position((pace.position().secs_since(start) * 1e3).max(0.0) as u64);
        }
        self.bar.set_prefix(match pace.state() {
            (_, true) => "paused".to_owned(),
            (Some(rate), false) => format!("{rate:.2}x"),
            (None, false) => String::new(),
        });
    }
}

fn tell_clip(bar: Option<&Progress>, clip: &ClipReport) {
    let text = format!(
        "clip {}: {} frames, {} faces, {} turns, {} memories",
        clip.clip, clip.frames, clip.faces, clip.turns, clip.memories
    );
    match bar {
        Some(progress) => progress.bar.set_message(text),
        None => {
            writeln!(stdout(), "{text}").ok();
        }
    }
}

fn tell_end(recording: &Recording, end: &SessionEnd, json: bool) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(end)?).ok();
        return Ok(());
    }
    let name = recording.path().display();
    if end.already_remembered {
        writeln!(out, "{name}: already remembered (--again remembers it once more)").ok();
        return Ok(());
    }
    let speed = if end.wall_secs > 0.0 { end.media_secs / end.wall_secs } else { 0.0 };
    writeln!(
        out,
        "{name}: {} clips, {:.1} s of media in {:.1} s ({speed:.1} times real time)",
        end.clips, end.media_secs, end.wall_secs
    )
    .ok();
    for damage in &end.damage {
        writeln!(out, "  damaged: {damage}").ok();
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::config::TopicSound;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ReplayArgs,
    }

    fn options(line: &[&str], config: &Replay) -> ReplayOptions {
        let line = [["replay", "run.mcap"].as_slice(), line].concat();
        Line::try_parse_from(line).unwrap().args.options(config)
    }

    #[test]
    fn rates_are_what_a_replay_can_be_played_at() {
        for (text, rate) in [("max", None), ("0.5", Some(0.5)), ("10000", Some(10_000.0))] {
            assert_eq!(parse_rate(text), Ok(Rate(rate)));
        }
        for text in ["0", "-1", "1e-300", "1e9", "inf", "nan", "fast"] {
            assert!(parse_rate(text).unwrap_err().contains("0.001"), "{text}");
        }
    }

    #[test]
    fn a_wrong_command_line_is_refused_as_one() {
        let parsed = |line: &[&str]| {
            let line = [["replay", "run.mcap"].as_slice(), line].concat();
            Line::try_parse_from(line).map(|line| line.args)
        };
        let told = parsed(&["--duration", "0"]).unwrap_err().to_string();
        assert!(told.contains("in 0 seconds there is nothing"), "{told}");
        assert_eq!(parsed(&["--duration", "0.5"]).unwrap().duration, Some(0.5));
        for (line, terminal, fits) in [
            (["--start-paused"].as_slice(), false, false),
            (&["--start-paused"], true, true),
            (&["--start-paused", "--no-keys"], true, false),
            (&["--start-paused", "--serve"], false, true),
            (&["b.mcap", "--loop"], true, false),
            (&["b.mcap", "--loop", "--together"], false, true),
        ] {
            let checked = parsed(line).unwrap().check(terminal);
            assert_eq!(checked.is_ok(), fits, "{line:?}");
        }
    }

    #[test]
    fn damage_is_told_by_the_exit_code_however_a_replay_was_stopped() {
        let code =
            |damaged, stopped, interrupted| Played { damaged, stopped }.exit_code(interrupted);
        assert_eq!((code(false, false, false), code(true, false, false)), (0, 3));
        // By a key, or over MQTT.
        assert_eq!((code(false, true, false), code(true, true, false)), (0, 3));
        // By Ctrl-C; what had ended before that, had ended.
        assert_eq!((code(false, true, true), code(true, true, true)), (130, 130));
        assert_eq!((code(false, false, true), code(true, false, true)), (0, 3));
    }

    #[test]
    fn the_configuration_names_topics_and_the_command_line_wins() {
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let config = Replay {
            topics: vec!["/camera".to_owned(), "/audio".to_owned()],
            exclude_topics: vec!["/goal".to_owned()],
            transcripts: vec!["/asr".to_owned()],
            remap: vec![Renaming::parse("/camera:=/front").unwrap()],
            sound: vec![TopicSound::parse("/audio:=S16LE,44100,2").unwrap()],
            base_frames: vec!["torso".to_owned()],
            ..Replay::default()
        };
        let of_config = options(&[], &config);
        assert_eq!(of_config.topics, ["/camera", "/audio"]);
        assert_eq!(of_config.exclude_topics, ["/goal"]);
        assert_eq!(of_config.transcripts, ["/asr"]);
        assert_eq!(of_config.remap, [pair("/camera", "/front")]);
        assert_eq!(of_config.sound, config.sound);
        assert_eq!(of_config.frames.bases, ["torso"]);
        assert_eq!(of_config.frames.fixed, FrameNames::default().fixed);

        // An option replaces its own key and no other.
        let one = options(&["--topics", "/odom,/left"], &config);
        let expected = vec!["/odom".to_owned(), "/left".to_owned()];
        assert_eq!(one, ReplayOptions { topics: expected, ..of_config.clone() });
        let line = ["--exclude-topics", "/a", "--transcripts", "/b", "--remap", "/c:=/d"];
        let given = options(&line, &config);
        assert_eq!(given.topics, of_config.topics);
        assert_eq!(given.exclude_topics, ["/a"]);
        assert_eq!(given.transcripts, ["/b"]);
        assert_eq!(given.remap, [pair("/c", "/d")]);

        let by_pattern = options(&["--regex", "^/left"], &config);
        assert!(by_pattern.selects("/left/image") && !by_pattern.selects("/camera"));
        assert_eq!(options(&[], &Replay::default()), ReplayOptions::default());
    }
}
