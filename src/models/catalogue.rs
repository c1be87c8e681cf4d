//! The catalogue: manifest and folders together; which model runs for a job.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::config::ModelSet;
use crate::ids::ModelHash;
use crate::models::error::ModelError;
use crate::models::job::{Job, set_name};
use crate::models::lock::{Lock, hash_file};
use crate::models::manifest::{Manifest, Model, Origin, Source};
use crate::models::thresholds::Thresholds;
use crate::runtime::crash_journal;

/// The models folders of an installed engram, most important first.
const INSTALLED: [&str; 2] = ["/var/lib/engram/models", "/usr/share/engram/models"];

/// Where a package puts the program.
const PACKAGED: &str = "/usr/bin/engramd";

/// The command that brings a set's models: a robot that got the program as a package gets them the same way.
#[must_use]
pub fn bringing(set: ModelSet) -> String {
    let packaged = std::env::current_exe().is_ok_and(|program| program == Path::new(PACKAGED));
    if packaged && set == ModelSet::Open && Path::new("/etc/debian_version").exists() {
        return "apt-get install ./engram-models-open_*.deb".to_owned();
    }
    format!("engramd models fetch --set {}", set_name(set))
}

/// Manifest and folders. Reading only; cheap to open, safe to share.
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) manifest: Manifest,
    /// Where files lie; the first is where fetching puts them.
    folders: Vec<Folder>,
    mirror: Option<PathBuf>,
    /// Where calibrations are looked for as well; `None`: in the default state directory.
    state_dir: Option<PathBuf>,
}

#[derive(Debug)]
struct Folder {
    dir: PathBuf,
    lock: Lock,
}

impl Folder {
    fn open(dir: PathBuf) -> Self {
        let lock = Lock::open(&dir);
        Self { dir, lock }
    }
}

/// A model whose files are all here, and are what they should be.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// Its name in the manifest.
    pub name: String,
    /// What it does.
    pub job: Job,
    /// Its file; of several, the part `model`, else the first by name.
    pub path: PathBuf,
    /// All its files by part: `model`, `tokenizer`, `pnet`, `rnet`, `onet`.
    pub parts: BTreeMap<String, PathBuf>,
    /// SHA-256 of the file; of several, over `part sha256` lines ordered by part.
    pub hash: ModelHash,
    /// Licence of the weights.
    pub licence: String,
    /// How many samples one call takes at most; `None`: any number.
    pub max_batch: Option<usize>,
    /// When two of its embeddings are alike.
    pub thresholds: Option<Thresholds>,
    /// The better model that it stands in for, when that one is absent.
    pub instead_of: Option<String>,
}

impl ModelFile {
    /// The file of a part.
    ///
    /// # Errors
    /// [`ModelError::Missing`] when the model has no such part.
    pub fn part(&self, part: &str) -> Result<&Path, ModelError> {
        self.parts.get(part).map(PathBuf::as_path).ok_or_else(|| ModelError::Missing {
            name: self.name.clone(),
            file: format!("of part `{part}`"),
            dir: self.path.parent().unwrap_or(Path::new("")).to_owned(),
            cure: "the manifest names no such part".to_owned(),
        })
    }
}

/// Whether a model is here.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Presence {
    /// All files are here and right.
    Present {
        /// Its hash.
        hash: ModelHash,
        /// Its files by part.
        files: BTreeMap<String, PathBuf>,
    },
    /// At least one file is not here.
    Missing {
        /// What to do.
        cure: String,
    },
    /// A file is here and wrong.
    Damaged {
        /// What is wrong, and what to do.
        why: String,
    },
}

/// One line of `engramd models list`.
#[derive(Clone, Debug, Serialize)]
pub struct ListRow {
    /// Name.
    pub name: String,
    /// What it does.
    pub job: Job,
    /// The sets that use it.
    pub sets: Vec<ModelSet>,
    /// One line for people.
    pub about: String,
    /// Licence of the weights.
    pub licence: String,
    /// Size of all its files on disk.
    pub bytes: u64,
    /// Whether it is here.
    #[serde(flatten)]
    pub presence: Presence,
}

/// One line of `engramd models verify`.
#[derive(Clone, Debug, Serialize)]
pub struct VerifyRow {
    /// The file's name.
    pub file: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Its SHA-256.
    pub sha256: ModelHash,
    /// Whether its hash is published in the manifest (else it is locked at first use).
    pub published: bool,
    /// What is wrong with it; `None`: nothing.
    pub wrong: Option<String>,
}

/// A file that was found.
struct Found<'a> {
    path: PathBuf,
    lock: &'a Lock,
    key: String,
}

impl Catalogue {
    /// Opens the catalogue over `dir`, or the default folders, and an optional mirror.
    ///
    /// `<dir>/manifest.toml` comes before the manifest that is built in. Without `dir`, files are
    /// looked for in those that exist of `target/models` beside a checkout's binary,
    /// `/var/lib/engram/models` and `/usr/share/engram/models`, in this order.
    ///
    /// # Errors
    /// [`ModelError::Manifest`] when the manifest cannot be understood.
    pub fn open(dir: Option<&Path>, mirror: Option<&Path>) -> Result<Self, ModelError> {
        let dirs = match dir {
            Some(dir) => vec![dir.to_owned()],
            None => default_dirs(std::env::current_exe().ok().as_deref()),
        };
        let own = dirs[0].join("manifest.toml");
        let manifest = match fs::read_to_string(&own) {
            Ok(text) => Manifest::parse(&text, &own.display().to_string())?,
            Err(_) => Manifest::built_in()?,
        };
        let folders = dirs.into_iter().map(Folder::open).collect();
        Ok(Self { manifest, folders, mirror: mirror.map(Path::to_owned), state_dir: None })
    }

    /// Takes the matching thresholds that were calibrated in this state directory.
    #[must_use]
    pub fn calibrated_in(self, state_dir: PathBuf) -> Self {
        Self { state_dir: Some(state_dir), ..self }
    }

    /// The folder where fetching puts files.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.folders[0].dir
    }

    /// The mirror.
    #[must_use]
    pub fn mirror(&self) -> Option<&Path> {
        self.mirror.as_deref()
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The best model that is present for a job; where embeddings are compared, the best one whose thresholds are known
    /// ([`Self::passed_over`]), if there is one.
    ///
    /// # Errors
    /// [`ModelError::NoModel`] when the set has none for this job, [`ModelError::NonePresent`] with the
    /// command that brings one when none is here, and the error of a file that is here and wrong.
    pub fn choose(&self, set: ModelSet, job: Job) -> Result<ModelFile, ModelError> {
        let order = self.manifest.order(set, job);
        let Some(best) = order.first() else { return Err(ModelError::NoModel { set, job }) };
        if let Some(file) = self.first_of(order, job.compares())? {
            return Ok(file);
        }
        let fetchable = order.iter().filter_map(|name| self.manifest.model(name));
        let cure = match fetchable.into_iter().find(|model| self.user_supplied(model).is_none()) {
            Some(_) => format!("run `{}`", bringing(set)),
            None => self.manifest.model(best).map(|model| self.cure(model)).unwrap_or_default(),
        };
        let dir = self.dir().to_owned();
        Err(ModelError::NonePresent { set, job, dir, wanted: order.join(", "), cure })
    }

    /// The models of a set that come before `chosen`, are here, and have no thresholds: nothing could be told by them,
    /// so they run where nothing better is, or where they are named.
    ///
    /// # Errors
    /// That of a file that is here and wrong.
    pub fn passed_over(
        &self,
        set: ModelSet,
        chosen: &ModelFile,
    ) -> Result<Vec<String>, ModelError> {
        if chosen.thresholds.is_none() {
            return Ok(Vec::new());
        }
        let before = self.manifest.order(set, chosen.job).iter();
        let mut passed = Vec::new();
        for name in before.take_while(|name| **name != chosen.name) {
            match self.file(name) {
                Ok(file) if file.thresholds.is_none() => passed.push(file.name),
                Err(error) if !error.is_absence() => return Err(error),
                _ => {}
            }
        }
        Ok(passed)
    }

    /// The first of these models that is present, before those whose thresholds nobody knows if they are to be
    /// `calibrated`; `None`: none is.
    ///
    /// # Errors
    /// That of a file that is here and wrong.
    pub(super) fn first_of<S: AsRef<str>>(
        &self,
        order: &[S],
        calibrated: bool,
    ) -> Result<Option<ModelFile>, ModelError> {
        let mut first = None;
        for (place, name) in order.iter().enumerate() {
            match self.file(name.as_ref()) {
                Ok(mut file) => {
                    file.instead_of = (place > 0).then(|| order[0].as_ref().to_owned());
                    if !calibrated || file.thresholds.is_some() {
                        return Ok(Some(file));
                    }
                    first.get_or_insert(file);
                }
                // Another model in its place would have everybody to learn anew, and back again.
                Err(error @ ModelError::LeftOut { .. }) => return Err(error),
                Err(error) if error.is_absence() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(first)
    }

    /// The model of this name.
    ///
    /// # Errors
    /// [`ModelError::Unknown`], [`ModelError::Missing`], or what is wrong with a file that is here.
    pub fn file(&self, name: &str) -> Result<ModelFile, ModelError> {
        let model = self.model(name)?;
        let mut parts = BTreeMap::new();
        let mut hashes = Vec::new();
        for (part, file) in &model.parts {
            let Some(found) = self.find(file) else {
                let dir = self.dir().to_owned();
                let cure = self.cure(model);
                return Err(ModelError::Missing {
                    name: name.to_owned(),
                    file: file.clone(),
                    dir,
                    cure,
                });
            };
            hashes.push((part.as_str(), self.check(file, &found)?));
            parts.insert(part.clone(), found.path);
        }
        for (file, path) in model.parts.values().zip(parts.values()) {
            if let Some(rest) = crash_journal::left_out(path) {
                let (name, file) = (name.to_owned(), file.clone());
                return Err(ModelError::LeftOut { name, file, rest });
            }
        }
        let hash = combined(&hashes);
        let path =
            parts.get("model").or_else(|| parts.values().next()).cloned().unwrap_or_default();
        Ok(ModelFile {
            name: name.to_owned(),
            job: model.job,
            path,
            parts,
            hash,
            licence: model.licence.clone(),
            max_batch: model.max_batch,
            thresholds: thresholds(model, hash, self.state_dir.as_deref())?,
            instead_of: None,
        })
    }

    /// Every model of the manifest and whether it is here.
    #[must_use]
    pub fn list(&self) -> Vec<ListRow> {
        self.manifest.models().iter().map(|model| self.row(model)).collect()
    }

    /// Hashes every file that is here anew and compares it with the manifest and the lock. With
    /// `accept`, files without a published hash are locked as they are now.
    ///
    /// # Errors
    /// [`ModelError::Io`] when a file cannot be read.
    pub fn verify(&self, accept: bool) -> Result<Vec<VerifyRow>, ModelError> {
        let files: BTreeSet<&String> =
            self.manifest.models().iter().flat_map(|model| model.parts.values()).collect();
        let mut rows = Vec::new();
        for file in files {
            let Some(found) = self.find(file) else { continue };
            let sha256 = hash_file(&found.path)?;
            let published = self.published(file).is_some();
            if accept && !published {
                found.lock.write(&found.key, &found.path, sha256)?;
            }
            let wrong = self.judge(file, &found, sha256).err().map(|error| error.to_string());
            rows.push(VerifyRow { file: file.clone(), path: found.path, sha256, published, wrong });
        }
        Ok(rows)
    }

    /// The names of all models in these sets, in the manifest's order.
    #[must_use]
    pub fn models_of(&self, sets: &[ModelSet]) -> Vec<String> {
        let wanted = |model: &&Model| {
            self.manifest.sets_of(&model.name).iter().any(|set| sets.contains(set))
        };
        self.manifest.models().iter().filter(wanted).map(|model| model.name.clone()).collect()
    }

    pub(crate) fn model(&self, name: &str) -> Result<&Model, ModelError> {
        self.manifest.model(name).ok_or_else(|| {
            let closeness = |model: &&Model| (strsim::jaro_winkler(&model.name, name) * 1e6) as u32;
            let near = self.manifest.models().iter().max_by_key(closeness);
            let near = near.filter(|model| strsim::jaro_winkler(&model.name, name) > 0.8);
            let suggestion = near.map(|model| format!(" (did you mean `{}`?)", model.name));
            ModelError::Unknown {
                name: name.to_owned(),
                suggestion: suggestion.unwrap_or_default(),
            }
        })
    }

    /// Takes note that fetching wrote this file: its hash now is the right one.
    pub(crate) fn note_written(&self, file: &str) -> Result<ModelHash, ModelError> {
        let folder = &self.folders[0];
        let path = folder.dir.join(file);
        let hash = hash_file(&path)?;
        folder.lock.write(file, &path, hash)?;
        Ok(hash)
    }

    /// Whether the file lies in the first folder and is right.
    pub(crate) fn has(&self, file: &str) -> bool {
        let folder = &self.folders[0];
        let path = folder.dir.join(file);
        let found = Found { path, lock: &folder.lock, key: file.to_owned() };
        found.path.is_file() && self.check(file, &found).is_ok()
    }

    /// The mirror's file for a source, when its hash is right.
    pub(crate) fn in_mirror(&self, source: &Source) -> Option<PathBuf> {
        let path = self.mirror.as_ref()?.join(source.mirror.as_ref()?);
        if !path.is_file() {
            return None;
        }
        let lock = &self.folders[0].lock;
        let key = path.display().to_string();
        let hash = lock.hash(&key, &path).ok()?;
        let right = source.sha256.as_ref().is_some_and(|wanted| *wanted == hash.to_string());
        if !right {
            tracing::warn!(path = %path.display(), "the mirror's file has another hash than the published one, not used");
            return None;
        }
        lock.write(&key, &path, hash).ok()?;
        Some(path)
    }

    fn find(&self, file: &str) -> Option<Found<'_>> {
        for Folder { dir, lock } in &self.folders {
            let path = dir.join(file);
            if path.is_file() {
                return Some(Found { path, lock, key: file.to_owned() });
            }
        }
        let Some(Origin::Source(source)) = self.manifest.origin(file) else { return None };
        let path = self.in_mirror(source)?;
        let key = path.display().to_string();
        Some(Found { path, lock: &self.folders[0].lock, key })
    }

    /// The hash of a file that was found, if it is the right one.
    fn check(&self, file: &str, found: &Found<'_>) -> Result<ModelHash, ModelError> {
        let hash = found.lock.hash(&found.key, &found.path)?;
        self.judge(file, found, hash)?;
        found.lock.write(&found.key, &found.path, hash)?;
        Ok(hash)
    }

    fn judge(&self, file: &str, found: &Found<'_>, hash: ModelHash) -> Result<(), ModelError> {
        let path = found.path.clone();
        if let Some(expected) = self.published(file) {
            if *expected != hash.to_string() {
                let (expected, found) = (expected.to_owned(), hash.to_string());
                return Err(ModelError::WrongHash { path, expected, found });
            }
        } else if let Some(locked) = found.lock.hash_of(&found.key)
            && locked != hash
        {
            let (locked, found) = (locked.to_string(), hash.to_string());
            return Err(ModelError::Changed { path, locked, found });
        }
        Ok(())
    }

    fn published(&self, file: &str) -> Option<&str> {
        match self.manifest.origin(file)? {
            Origin::Source(source) => source.sha256.as_deref(),
            Origin::Export(_) => None,
        }
    }

    fn row(&self, model: &Model) -> ListRow {
        let presence = match self.file(&model.name) {
            Ok(file) => Presence::Present { hash: file.hash, files: file.parts },
            Err(error) if error.is_absence() => Presence::Missing { cure: self.cure(model) },
            Err(error) => Presence::Damaged { why: error.to_string() },
        };
        let size = |file: &String| self.find(file).and_then(|found| fs::metadata(found.path).ok());
        ListRow {
            name: model.name.clone(),
            job: model.job,
            sets: self.manifest.sets_of(&model.name),
            about: model.about.clone(),
            licence: model.licence.clone(),
            bytes: model.parts.values().filter_map(size).map(|facts| facts.len()).sum(),
            presence,
        }
    }

    /// The source that only the user can supply, if the model has one.
    pub(crate) fn user_supplied(&self, model: &Model) -> Option<&Source> {
        model.parts.values().find_map(|file| match self.manifest.origin(file)? {
            Origin::Source(source) => Some(source).filter(|source| !source.is_fetchable()),
            Origin::Export(_) => None,
        })
    }

    /// What brings a model's files.
    pub(crate) fn cure(&self, model: &Model) -> String {
        match self.user_supplied(model) {
            Some(Source { file, hint, .. }) => {
                let hint = hint.as_deref().unwrap_or("see models/README.md");
                format!("put {file} into {} yourself ({hint})", self.dir().display())
            }
            None => format!("run `engramd models fetch {}`", model.name),
        }
    }
}

/// The thresholds of a model, or of the one that the manifest says it shares them with, unless they were measured for
/// another file.
fn thresholds(
    model: &Model,
    hash: ModelHash,
    state_dir: Option<&Path>,
) -> Result<Option<Thresholds>, ModelError> {
    let own = Thresholds::of(&model.name, state_dir)?;
    let read = match (own, &model.thresholds) {
        (None, Some(shared)) => Thresholds::of(shared, state_dir)?,
        (own, _) => own,
    };
    Ok(read.filter(|thresholds| {
        let fits = thresholds.sha256.is_none_or(|measured| measured == hash);
        if !fits {
            tracing::warn!(model = %model.name, "its matching thresholds were measured for another file, not used");
        }
        fits
    }))
}

/// One hash for all parts: the file's own for one, else over `part sha256` lines in the order of parts.
fn combined(hashes: &[(&str, ModelHash)]) -> ModelHash {
    if let [(_, hash)] = hashes {
        return *hash;
    }
    let lines: String = hashes.iter().map(|(part, hash)| format!("{part} {hash}\n")).collect();
    ModelHash(Sha256::digest(lines).into())
}

/// The default folders that exist; where none does, the first in which files may be put.
fn default_dirs(exe: Option<&Path>) -> Vec<PathBuf> {
    let checkout = exe.and_then(checkout).map(|root| root.join("target/models"));
    // An installation below another prefix: <prefix>/bin/engramd, <prefix>/share/engram/models.
    let prefix =
        exe.and_then(|exe| exe.parent()?.parent()).map(|dir| dir.join("share/engram/models"));
    let mut candidates: Vec<PathBuf> =
        checkout.into_iter().chain(INSTALLED.map(PathBuf::from)).collect();
    candidates.extend(prefix.filter(|dir| !INSTALLED.iter().any(|known| dir == Path::new(known))));
    let there: Vec<PathBuf> = candidates.iter().filter(|dir| dir.is_dir()).cloned().collect();
    if there.is_empty() { candidates[..1].to_vec() } else { there }
}

/// The checkout that a binary was built in: the folder that has both `target/…/<exe>` and `models/manifest.toml`.
pub(crate) fn checkout(exe: &Path) -> Option<&Path> {
    let target =
        exe.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == "target"))?;
    target.parent().filter(|root| root.join("models/manifest.toml").is_file())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const MANIFEST: &str = "format = 'engram-models/1'
[sets.open]
face_detector = ['best', 'plain']
active_speaker = []
[sets.m3]
face_detector = ['own']
[[model]]
name = 'best'
job = 'face_detector'
about = ''
licence = 'MIT'
input = ''
output = ''
parts = { model = 'best.onnx', words = 'words.json' }
[[model]]
name = 'plain'
job = 'face_detector'
about = ''
licence = 'MIT'
input = ''
output = ''
parts = { model = 'plain.onnx' }
[[model]]
name = 'own'
job = 'face_detector'
about = ''
licence = 'MIT'
input = ''
output = ''
parts = { model = 'own.onnx' }
[[export]]
script = 'best.py'
makes = ['best.onnx', 'words.json']
needs = ['plain.onnx']
[[source]]
file = 'plain.onnx'
mirror = 'published.onnx'
sha256 = 'SHA'
[[source]]
file = 'own.onnx'
hint = 'from the shelf'
";

    /// A models folder and a mirror; the published file's bytes are "plain".
    fn catalogue(dir: &Path) -> Catalogue {
        let sha = hex::encode(Sha256::digest("plain"));
        fs::create_dir_all(dir.join("mirror")).unwrap();
        fs::create_dir_all(dir.join("models")).unwrap();
        fs::write(dir.join("models/manifest.toml"), MANIFEST.replace("SHA", &sha)).unwrap();
        Catalogue::open(Some(&dir.join("models")), Some(&dir.join("mirror"))).unwrap()
    }

    #[test]
    fn the_first_present_model_runs() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = catalogue(dir.path());
        let missing = catalogue.choose(ModelSet::Open, Job::FaceDetector).unwrap_err().to_string();
        assert!(missing.contains("`engramd models fetch --set open`"), "{missing}");

        fs::write(dir.path().join("mirror/published.onnx"), "plain").unwrap();
        let chosen = catalogue.choose(ModelSet::Open, Job::FaceDetector).unwrap();
        assert_eq!(chosen.name, "plain");
        assert_eq!(chosen.instead_of.as_deref(), Some("best"));
        assert_eq!(chosen.path, dir.path().join("mirror/published.onnx"));
        assert_eq!(chosen.hash.to_string(), hex::encode(Sha256::digest("plain")));

        fs::write(dir.path().join("models/best.onnx"), "best").unwrap();
        assert_eq!(catalogue.choose(ModelSet::Open, Job::FaceDetector).unwrap().name, "plain");
        fs::write(dir.path().join("models/words.json"), "{}").unwrap();
        let chosen = catalogue.choose(ModelSet::Open, Job::FaceDetector).unwrap();
        assert_eq!((chosen.name.as_str(), chosen.instead_of), ("best", None));
        assert_eq!(chosen.parts.len(), 2);
    }

    #[test]
    fn absence_names_its_cure() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = catalogue(dir.path());
        let own = catalogue.choose(ModelSet::M3, Job::FaceDetector).unwrap_err();
        assert!(own.is_absence() && own.to_string().contains("from the shelf"), "{own}");
        let none = catalogue.choose(ModelSet::Open, Job::ActiveSpeaker).unwrap_err();
        assert_eq!(none.to_string(), "the model set `open` has no active speaker");
        let unknown = catalogue.file("plian").unwrap_err().to_string();
        assert!(unknown.contains("did you mean `plain`?"), "{unknown}");
    }

    #[test]
    fn a_wrong_or_changed_file_is_never_run() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = catalogue(dir.path());
        fs::write(dir.path().join("models/plain.onnx"), "damaged").unwrap();
        assert!(matches!(catalogue.file("plain"), Err(ModelError::WrongHash { .. })));

        let own = dir.path().join("models/own.onnx");
        fs::write(&own, "first").unwrap();
        let first = catalogue.file("own").unwrap().hash;
        fs::write(&own, "another").unwrap();
        assert!(matches!(catalogue.file("own"), Err(ModelError::Changed { .. })));
        let again = Catalogue::open(Some(&dir.path().join("models")), None).unwrap();
        assert!(matches!(again.file("own"), Err(ModelError::Changed { .. })));
        let rows = again.verify(false).unwrap();
        assert_eq!(rows.iter().filter(|row| row.wrong.is_some()).count(), 2);
        again.verify(true).unwrap();
        assert_ne!(again.file("own").unwrap().hash, first);
        assert!(again.file("plain").is_err());
    }

    #[test]
    fn a_mirror_with_another_file_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = catalogue(dir.path());
        fs::write(dir.path().join("mirror/published.onnx"), "other").unwrap();
        assert!(catalogue.file("plain").unwrap_err().is_absence());
    }

    #[test]
    fn a_checkouts_binary_finds_its_models() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("models")).unwrap();
        fs::write(dir.path().join("models/manifest.toml"), "").unwrap();
        fs::create_dir_all(dir.path().join("target/models")).unwrap();
        for exe in ["target/release/engramd", "target/debug/deps/promises-0"] {
            let dirs = default_dirs(Some(&dir.path().join(exe)));
            assert_eq!(dirs[0], dir.path().join("target/models"));
        }
        assert_eq!(checkout(Path::new("/usr/bin/engramd")), None);
    }

    #[test]
    fn every_row_says_where_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = catalogue(dir.path());
        fs::write(dir.path().join("models/plain.onnx"), "damaged").unwrap();
        let rows = catalogue.list();
        let states: Vec<&str> = rows
            .iter()
            .map(|row| match &row.presence {
                Presence::Present { .. } => "present",
                Presence::Missing { .. } => "missing",
                Presence::Damaged { .. } => "damaged",
            })
            .collect();
        assert_eq!(states, ["missing", "damaged", "missing"]);
        assert_eq!(catalogue.models_of(&[ModelSet::Open]), ["best", "plain"]);
    }
}
