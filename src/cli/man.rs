//! `engramd man`: manual pages of the real command line, and of the configuration file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::{Cli, print};

/// Write manual pages below a folder: man1/engramd*.1 and man5/engram.toml.5.
#[derive(Debug, Args)]
#[command(after_help = "The packages and `make install` put them into place.

Examples:
  engramd man ~/.local/share/man
  engramd man /tmp/pages && man /tmp/pages/man1/engramd-replay.1")]
pub(super) struct ManArgs {
    /// The folder; made where it is missing.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// The commented example, which a test keeps equal to the defaults.
const CONFIGURATION: &str = include_str!("../../config/engram.toml");
const MANUAL: &str = "engram";

pub(super) fn run(args: &ManArgs) -> anyhow::Result<u8> {
    let written = write(&args.dir)
        .with_context(|| format!("writing manual pages below {}", args.dir.display()))?;
    print::line(format!("{}: {written} manual pages", args.dir.display()))?;
    Ok(0)
}

/// Writes every page; gives back how many.
fn write(dir: &Path) -> io::Result<usize> {
    let (commands, files) = (dir.join("man1"), dir.join("man5"));
    fs::create_dir_all(&commands)?;
    fs::create_dir_all(&files)?;
    let pages = pages()?;
    for (name, page) in &pages {
        fs::write(commands.join(name), page)?;
    }
    fs::write(files.join("engram.toml.5"), configuration()?)?;
    Ok(pages.len() + 1)
}

/// File name and text of the page of every command that is shown, in the order of the help.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
        let man = Man::new(command.clone())
            .source(concat!("engram ", env!("CARGO_PKG_VERSION")))
            .manual(MANUAL);
        pages.push((man.get_filename(), page(command, &man)?));
        for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            collect(below, pages)?;
        }
        Ok(())
    }
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    Ok(pages)
}

/// One command's page; its examples stand as they are typed.
fn page(command: &Command, man: &Man) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(more) = command.get_after_long_help().or(command.get_after_help()) {
        let more = more.to_string();
        let (notes, examples) = more.split_once("Examples:").unwrap_or((&more, ""));
        let mut roff = Roff::new();
        if !notes.trim().is_empty() {
            roff.control("SH", ["NOTES"]);
            verbatim(&mut roff, notes.trim().lines());
        }
        if !examples.trim().is_empty() {
            roff.control("SH", ["EXAMPLES"]);
            verbatim(&mut roff, examples.lines().filter(|line| !line.trim().is_empty()));
        }
        roff.to_writer(&mut page)?;
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    let above = if command.get_name() == "engramd" { "" } else { "engramd(1), " };
    roff.text([roman(format!("{above}engram.toml(5)"))]);
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// Lines that are not filled.
fn verbatim<'a>(roff: &mut Roff, lines: impl Iterator<Item = &'a str>) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

/// The page of the configuration file: its comments as text, its sections and keys as headings.
fn configuration() -> io::Result<Vec<u8>> {
    let mut roff = Roff::new();
    let source = concat!("engram ", env!("CARGO_PKG_VERSION"));
    roff.control("TH", ["engram.toml", "5", "", source, MANUAL]);
    roff.control("SH", ["NAME"]);
    roff.text([roman("engram.toml - configuration of engramd")]);
    roff.control("SH", ["DESCRIPTION"]);
    let mut comment: Vec<&str> = Vec::new();
    for line in CONFIGURATION.lines() {
        let bare = line.strip_prefix("# ").unwrap_or(line);
        let section = bare.starts_with('[') && bare.ends_with(']');
        if section {
            prose(&mut roff, &mut comment);
            roff.control("SH", [bare]);
        } else if is_key(bare) {
            roff.control("TP", []);
            roff.text([bold(bare)]);
            let told = std::mem::take(&mut comment).join(" ");
            roff.text([roman(if told.is_empty() { "As above." } else { &told })]);
        } else if line.is_empty() || line == "#" {
            prose(&mut roff, &mut comment);
        } else if bare.starts_with(' ') {
            prose(&mut roff, &mut comment);
            verbatim(&mut roff, std::iter::once(bare));
        } else {
            comment.push(bare.trim_start_matches('#'));
        }
    }
    prose(&mut roff, &mut comment);
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman("engramd(1), engramd-config(1)")]);
    let mut page = Vec::new();
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// Ends a paragraph of comment.
fn prose(roff: &mut Roff, comment: &mut Vec<&str>) {
    if !comment.is_empty() {
        roff.control("PP", []);
        roff.text([roman(std::mem::take(comment).join(" "))]);
    }
}

/// `key = value`, shown or commented out.
fn is_key(line: &str) -> bool {
    let word = |key: &str| {
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'5')
    };
    line.split_once(" = ").is_some_and(|(key, _)| word(key))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::key_paths;

    fn text(page: &[u8]) -> String {
        let page = String::from_utf8(page.to_vec()).unwrap();
        page.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\(aq", "'")
    }

    #[test]
    fn every_command_has_a_page_with_its_options_and_examples() {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path()).unwrap();
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let mut expected = vec![("engramd".to_owned(), command.clone())];
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            let name = format!("engramd-{}", below.get_name());
            for last in below.get_subcommands().filter(|last| !last.is_hide_set()) {
                expected.push((format!("{name}-{}", last.get_name()), last.clone()));
            }
            expected.push((name, below.clone()));
        }
        assert!(written > expected.len(), "{written} pages");
        for (name, command) in expected {
            let file = dir.path().join("man1").join(format!("{name}.1"));
            let page = text(&fs::read(&file).unwrap_or_else(|e| panic!("{name}: {e}")));
            let about = command.get_about().unwrap().to_string();
            assert!(page.contains(about.lines().next().unwrap()), "{name}: {about}");
            for option in command.get_arguments().filter(|one| !one.is_hide_set()) {
                if let Some(long) = option.get_long() {
                    assert!(page.contains(&format!("--{long}")), "{name} has no --{long}");
                }
            }
            let examples =
                command.get_after_help().is_some_and(|m| m.to_string().contains("Examples:"));
            assert_eq!(page.contains(".SH EXAMPLES"), examples, "{name}");
        }
    }

    #[test]
    fn the_page_of_the_configuration_has_every_key() {
        let page = text(&configuration().unwrap());
        let mut section = String::new();
        let mut shown = Vec::new();
        for line in page.lines() {
            if let Some(heading) = line.strip_prefix(".SH ") {
                section = heading.trim_matches(['"', '[', ']']).to_owned();
            } else if let Some(rest) = line.strip_prefix("\\fB")
                && let Some((key, _)) = rest.split_once(" = ")
            {
                shown.push(format!("{section}.{key}"));
            }
        }
        assert_eq!(shown, key_paths());
    }
}
