//! `engramd completions`: what a shell needs to complete commands and options.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, print};

/// Print what a shell needs to complete engramd's commands and options.
#[derive(Debug, Args)]
#[command(after_help = "The packages and `make install` put them into place.

Examples:
  engramd completions bash > ~/.local/share/bash-completion/completions/engramd
  engramd completions zsh > ~/.zfunc/_engramd        with ~/.zfunc in $fpath
  engramd completions fish > ~/.config/fish/completions/engramd.fish")]
pub(super) struct CompletionsArgs {
    /// Which shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<u8> {
    print::line(script(args.shell).trim_end())?;
    Ok(0)
}

fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "engramd", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_knows_every_command_and_its_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set())
            {
                let name = command.get_name();
                assert!(script.contains(name), "{shell} does not know {name}");
            }
            for option in ["start-offset", "data-dir", "config", "effort"] {
                assert!(script.contains(option), "{shell} does not know --{option}");
            }
        }
    }
}
