//! `engramd`: the daemon and its command line.

fn main() -> std::process::ExitCode {
    engram::cli::main()
}
