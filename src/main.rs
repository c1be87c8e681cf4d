//! The `engramd` binary: the command line over the library.

fn main() -> std::process::ExitCode {
    engram::cli::main()
}
