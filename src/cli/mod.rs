//! The command line: one file per subcommand.

pub mod bench;
pub mod replay;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::{Config, Source};

#[derive(Debug, Parser)]
struct Cli {
    #[arg(long, global = true)]
    config: Option<PathBuf>,
    #[arg(long = "set", global = true)]
    set: Vec<String>,
    #[arg(long, global = true)]
    data_dir: Option<PathBuf>,
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Replay(replay::ReplayArgs),
    Bench(bench::BenchArgs),
    Export {
        #[arg(long)]
        hash: bool,
        #[arg(long)]
        percepts: bool,
    },
    Models(crate::models::command::ModelsArgs),
    People,
    Memories,
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::new("warn");
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let cli = Cli::parse();
    let source = Source { file: cli.config, overrides: cli.set, data_dir: cli.data_dir };
    let config = match Config::load(&source) {
        Ok(loaded) => loaded.config.resolved(),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(1);
        }
    };
    match run(cli.command, &config, cli.json) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn run(command: Command, config: &Config, json: bool) -> anyhow::Result<u8> {
    match command {
        Command::Replay(args) => return replay::run(&args, config, json),
        Command::Bench(args) => return bench::run(&args, config, json),
        Command::Export { hash, percepts } => {
            let memory = crate::memory::Memory::open_read_only(&config.store_dir())?;
            if hash {
                println!("{}", serde_json::json!({"hash": memory.hash()}));
            }
            if percepts {
                let filter = crate::memory::PerceptFilter::default();
                memory.view().export_percepts(&filter, &mut std::io::stdout())?;
            }
        }
        Command::Models(args) => return Ok(crate::models::command::run(&args, &config.models)?),
        Command::People => {
            let memory = crate::memory::Memory::open_read_only(&config.store_dir())?;
            println!("{}", serde_json::to_string_pretty(&memory.view().persons())?);
        }
        Command::Memories => {
            let memory = crate::memory::Memory::open_read_only(&config.store_dir())?;
            for row in memory.view().memories(&crate::memory::Filter::default()) {
                println!("{} {} {:?}", row.span.start, row.text, row.kind);
            }
        }
    }
    Ok(0)
}
