//! The command line: one file per subcommand.
//!
//! Commands speak MQTT to the running daemon, with `--http` HTTP; with `--data-dir` they open the store themselves. Exit codes:
//! 0 done, 1 error, 2 wrong usage, 3 done, but input was damaged or data was lost.

mod ask;
mod bench;
mod calibrate;
mod change;
mod check;
mod completions;
mod config;
mod connection;
mod context;
mod doctor;
mod documents;
mod encrypt;
mod export;
mod identify;
mod import;
mod keys;
mod log;
mod man;
mod mcp;
mod people;
mod places;
mod print;
mod profile;
mod reader;
mod recall;
mod record;
pub mod replay;
mod run;
mod sample;
mod sheet;
mod show;
mod snapshot;
mod sql;
mod timeline;
mod times;
mod top;
mod users;
mod visits;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::config::{Config, ConfigError, Loaded, Place, Source};
use crate::models::command::ModelsArgs;
use crate::runtime::{allocator, onnx};
use context::Context;

/// A memory for robots: sees, listens, remembers who was there and what was said, and answers.
#[derive(Debug, Parser)]
#[command(
    name = "engramd",
    version,
    propagate_version = true,
    after_help = "Commands speak MQTT to the running daemon, with --http URL HTTP; with --data-dir they read the store themselves.
Exit codes: 0 done, 1 error, 2 wrong usage, 3 done, but input was damaged or data was lost.

Examples:
  engramd doctor                                 what is missing on this machine, and what brings it
  engramd ask \"Who was here this morning?\"       ask the running daemon
  engramd people --data-dir /var/lib/engram      read a store without a daemon"
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// Configuration file [default: /etc/engram/engram.toml, then built-in defaults].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Override one key of the configuration: --set window.clip_secs=10; repeatable.
    #[arg(long = "set", global = true, value_name = "SECTION.KEY=VALUE")]
    overrides: Vec<String>,
    /// Folder of the memory [default: /var/lib/engram, else $XDG_STATE_HOME/engram].
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Reach the daemon over HTTP, for example http://127.0.0.1:8090, and not through a broker.
    #[arg(long, global = true, value_name = "URL", conflicts_with = "data_dir")]
    http: Option<String>,
    /// With --http: file with the token to come with [default: the variable ENGRAM_TOKEN, else none].
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// One JSON document, or JSON lines, on standard output.
    #[arg(long, global = true)]
    json: bool,
    /// Say more on standard error; twice: everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Remember what cameras and microphones deliver, and answer questions.
    Run(run::RunArgs),
    /// Remember recordings: bags, videos, sound.
    Replay(replay::ReplayArgs),
    /// Write cameras and microphones into a bag, and remember it meanwhile.
    Record(record::RecordArgs),
    /// Ask a question.
    Ask(ask::AskArgs),
    /// Find memories for a text.
    Recall(recall::RecallArgs),
    /// Tell something to remember.
    Remember(change::RememberArgs),
    /// Erase an entity, a memory or a stretch of time.
    Forget(change::ForgetArgs),
    /// Keep a memory whatever fades and ages.
    Pin(change::PinArgs),
    /// Give somebody a name; show their face, play their voice.
    Name(change::NameArgs),
    /// Whose face or voice is this? Nothing of it is kept.
    Identify(identify::IdentifyArgs),
    /// Which documents are remembered.
    Documents(documents::DocumentsArgs),
    /// Say whether an answer was right.
    Feedback(change::FeedbackArgs),
    /// Who is known.
    People(people::PeopleArgs),
    /// Who somebody is and what is true of them.
    Profile(profile::ProfileArgs),
    /// Where the robot stayed, and what was near a point.
    Places(places::PlacesArgs),
    /// Who was there when, as a picture.
    Timeline(timeline::TimelineArgs),
    /// Who was there from when to when, and what they said.
    Visits(visits::VisitsArgs),
    /// Keep a part of the last minutes of pictures and sound.
    Snapshot(snapshot::SnapshotArgs),
    /// Standing questions: tell me when Ava comes.
    Watch(watch::WatchArgs),
    /// Everything about one entity, clip or memory; a sheet of faces.
    Show(show::ShowArgs),
    /// One SELECT on the store.
    Sql(sql::SqlArgs),
    /// Model files: what there is, what is here, bring what is missing.
    Models(ModelsArgs),
    /// Measure matching thresholds on a labelled folder.
    Calibrate(calibrate::CalibrateArgs),
    /// What is missing on this machine, and what brings it.
    Doctor(doctor::DoctorArgs),
    /// The running daemon at a glance.
    Top(top::TopArgs),
    /// Serve an assistant on standard input and output (MCP).
    Mcp(mcp::McpArgs),
    /// Who may come in over HTTP.
    Users(users::UsersArgs),
    /// Look at everything in a store for damage.
    Check(check::CheckArgs),
    /// Show or check the configuration.
    Config(config::ConfigArgs),
    /// Write the memory, its percepts or its hash as text.
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Encrypt(encrypt::EncryptArgs),
    /// Measure: speed, recognition, memory, answers.
    Bench(bench::BenchArgs),
    /// What a shell needs to complete commands and options.
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Man(man::ManArgs),
    /// What reads a PDF for another process: its bytes on standard input.
    ///
    /// Examples: none; the daemon and `remember --file` start it.
    #[command(hide = true, name = crate::document::READ_PDF)]
    ReadPdf,
}

/// Runs the command line.
#[must_use]
pub fn main() -> ExitCode {
    allocator::give_back();
    // SAFETY: this is the first that the process does; nothing before it makes threads.
    unsafe { onnx::keep_silent() };
    let cli = match Cli::try_parse_from(side_by_side(std::env::args_os().collect())) {
        Ok(cli) => cli,
        Err(error) => {
            let wrong = error.use_stderr();
            let _ = error.print();
            return ExitCode::from(if wrong { 2 } else { 0 });
        }
    };
    if let Command::ReadPdf = cli.command {
        let served = crate::document::serve();
        return if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    log::start(cli.global.verbose);
    match run(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("engramd: {}", told(&error));
            ExitCode::from(if is_wrong_usage(&error) { 2 } else { 1 })
        }
    }
}

/// The arguments, with every `--set` before the command moved to the first behind it: clap takes those of one place alone.
fn side_by_side(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut rest = arguments.into_iter().peekable();
    let mut before: Vec<OsString> = rest.next().into_iter().collect();
    let mut sets = Vec::new();
    while let Some(option) = rest.next_if(|word| word.as_encoded_bytes().starts_with(b"-")) {
        let of_a_set = option == "--set" || option.as_encoded_bytes().starts_with(b"--set=");
        let takes_a_value = ["--set", "--config", "--data-dir", "--http", "--token-file"]
            .iter()
            .any(|one| option == *one);
        let to = if of_a_set { &mut sets } else { &mut before };
        to.push(option);
        if takes_a_value {
            to.extend(rest.next());
        }
    }
    let mut behind: Vec<OsString> = rest.collect();
    let is_set =
        |word: &OsString| word == "--set" || word.as_encoded_bytes().starts_with(b"--set=");
    match behind.iter().take_while(|word| *word != "--").position(is_set) {
        Some(first) => drop(behind.splice(first..first, sets)),
        None => before.extend(sets),
    }
    before.extend(behind);
    before
}

fn run(cli: Cli) -> anyhow::Result<u8> {
    let Cli { mut global, mut command } = cli;
    if let Command::Models(args) = &mut command {
        args.adopt_sets(&mut global.overrides);
    }
    let source = Source {
        file: global.config,
        overrides: global.overrides,
        data_dir: global.data_dir.clone(),
    };
    let Loaded { config, file } = Config::load(&source)?;
    let context = Context {
        config: config.resolved(),
        config_file: file,
        json: global.json,
        data_dir: global.data_dir,
        http: global.http,
        token_file: global.token_file,
        source,
    };
    match command {
        Command::Run(args) => run::run(&args, &context),
        Command::Replay(args) => replay::run(&args, &context.config, context.json),
        Command::Record(args) => record::run(&args, &context),
        Command::Ask(args) => ask::run(&args, &context),
        Command::Recall(args) => recall::run(&args, &context),
        Command::Remember(args) => change::remember(args, &context),
        Command::Forget(args) => change::forget(args, &context),
        Command::Pin(args) => change::pin(&args, &context),
        Command::Name(args) => change::name(args, &context),
        Command::Identify(args) => identify::run(&args, &context),
        Command::Documents(args) => documents::run(&args, &context),
        Command::Feedback(args) => change::feedback(args, &context),
        Command::People(args) => people::run(&args, &context),
        Command::Profile(args) => profile::run(&args, &context),
        Command::Places(args) => places::run(&args, &context),
        Command::Timeline(args) => timeline::run(&args, &context),
        Command::Visits(args) => visits::run(&args, &context),
        Command::Snapshot(args) => snapshot::run(&args, &context),
        Command::Watch(args) => watch::run(&args, &context),
        Command::Show(args) => show::run(&args, &context),
        Command::Sql(args) => sql::run(&args, &context),
        Command::Models(args) => {
            Ok(crate::models::command::run(&args, &context.config.models, context.json)?)
        }
        Command::Calibrate(args) => calibrate::run(&args, &context),
        Command::Doctor(args) => doctor::run(&args, &context),
        Command::Top(args) => top::run(&args, &context),
        Command::Mcp(args) => mcp::run(&args, context),
        Command::Users(args) => users::run(&args, &context),
        Command::Check(args) => check::run(&args, &context),
        Command::Config(args) => config::run(&args, &context),
        Command::Export(args) => export::run(&args, &context),
        Command::Import(args) => import::run(&args, &context),
        Command::Encrypt(args) => encrypt::run(&args, &context),
        Command::Bench(args) => bench::run(&args, &context.config, context.json),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::ReadPdf => Ok(crate::document::serve().map(|()| 0)?),
    }
}

/// Whether whoever read our output has read enough: `engramd people | head -1`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let json =
            cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(std::io::ErrorKind::BrokenPipe)
    })
}

/// Whether the command line itself was wrong, rather than what it met.
fn is_wrong_usage(error: &anyhow::Error) -> bool {
    if error.is::<clap::Error>() {
        return true;
    }
    match error.downcast_ref::<ConfigError>() {
        Some(ConfigError::Invalid(problems)) => {
            problems.iter().any(|problem| matches!(problem.place, Place::Override(_)))
        }
        _ => false,
    }
}

/// An error with its causes, each told once: some messages hold their cause already, some a name that somebody was given.
fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    print::visible(&text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed_and_every_command_teaches_by_example() {
        Cli::command().debug_assert();
        for command in Cli::command().get_subcommands() {
            let help = command.clone().render_long_help().to_string();
            let teaches = help.contains("Examples:") || command.has_subcommands();
            assert!(teaches, "{} has no examples", command.get_name());
        }
    }

    #[test]
    fn an_error_tells_each_cause_once_and_commands_no_terminal() {
        let error = anyhow::anyhow!("this voice is that of \u{1b}[2JAva").context("naming");
        assert_eq!(told(&error), "naming: this voice is that of \\u{1b}[2JAva");
        let error = anyhow::anyhow!("the disk is full").context("writing: the disk is full");
        assert_eq!(told(&error), "writing: the disk is full");
    }

    #[test]
    fn sets_of_models_and_overrides_share_an_option() {
        let words = ["engramd", "models", "fetch", "--set", "edge", "--set", "models.mirror=/x"];
        let mut cli = Cli::try_parse_from(words).unwrap();
        let Command::Models(args) = &mut cli.command else { panic!() };
        args.adopt_sets(&mut cli.global.overrides);
        assert_eq!(cli.global.overrides, ["models.mirror=/x"]);
        assert!(format!("{args:?}").contains("Edge"), "{args:?}");
    }

    #[test]
    fn overrides_before_and_behind_the_command_count() {
        let overrides = |words: &str| {
            let words = words.split(' ').map(OsString::from).collect();
            let mut cli = Cli::try_parse_from(side_by_side(words)).unwrap();
            if let Command::Models(args) = &mut cli.command {
                args.adopt_sets(&mut cli.global.overrides);
            }
            cli.global.overrides.join(" ")
        };
        let (a, b, c) = ("a.b=1", "c.d=2", "e.f=3");
        assert_eq!(overrides(&format!("engramd --set {a} config show --set {b}")), "a.b=1 c.d=2");
        assert_eq!(
            overrides(&format!("engramd -v --set={a} --data-dir d --set {b} ask --set={c} Who")),
            "a.b=1 c.d=2 e.f=3"
        );
        assert_eq!(overrides(&format!("engramd --set {a} --json people")), "a.b=1");
        assert_eq!(overrides(&format!("engramd --set {a} ask -- --set")), "a.b=1");
        assert_eq!(overrides(&format!("engramd --set {a} models fetch --set edge")), "a.b=1");
    }

    #[test]
    fn global_options_may_stand_behind_the_command() {
        let cli = Cli::try_parse_from([
            "engramd",
            "ask",
            "--set",
            "robot.id=demo",
            "--data-dir",
            "/tmp/x",
            "--json",
            "Who?",
        ]);
        assert!(cli.is_ok_and(|cli| cli.global.json && cli.global.overrides.len() == 1));
    }
}
