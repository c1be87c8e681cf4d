//! Matching thresholds: when two embeddings of a model are the same face or voice.
//!
//! They belong to a model, not to the code: `calibration/thresholds/<model>.toml`, measured with
//! `engramd calibrate` and on recordings. A file in `/etc/engram`, the state directory or
//! `/usr/share/engram` ([`find_file`]) comes before the one this build was made with.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::find_file;
use crate::ids::ModelHash;
use crate::models::error::ModelError;

/// The thresholds that this build was made with.
const BUILT_IN: [(&str, &str); 5] = [
    ("mobilefacenet", include_str!("../../calibration/thresholds/mobilefacenet.toml")),
    ("faceapi_descriptor", include_str!("../../calibration/thresholds/faceapi_descriptor.toml")),
    ("ge2e", include_str!("../../calibration/thresholds/ge2e.toml")),
    ("eres2netv2", include_str!("../../calibration/thresholds/eres2netv2.toml")),
    ("arcface_r50", include_str!("../../calibration/thresholds/arcface_r50.toml")),
];

/// Where calibrations lie, below each of the folders in which files are looked up.
pub const FOLDER: &str = "calibration/thresholds";

/// How two embeddings are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Dot product of unit vectors, [-1, 1].
    #[default]
    Cosine,
}

/// When two embeddings of one model are alike. Scores are of [`Metric`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// The model they were measured for.
    pub model: String,
    /// Only for the file of this hash; `None`: for any file of the model.
    pub sha256: Option<ModelHash>,
    /// What the numbers are.
    pub metric: Metric,
    /// At least this: the same.
    pub accept: f32,
    /// Below this: surely another. Between: to be decided by more evidence.
    pub maybe: f32,
    /// The best match leads the second best by at least this.
    pub margin: f32,
    /// From here on two galleries are taken for one.
    pub merge: f32,
    /// Norm of a raw face embedding up to which it is of nobody; `None`: norms tell nothing of a face, or nobody measured it.
    pub min_norm: Option<f32>,
    /// Equal error rate of the measurement, 0–1.
    pub eer: Option<f32>,
    /// The score at which it is reached.
    pub eer_threshold: Option<f32>,
    /// Pairs that were compared.
    pub pairs: Option<u64>,
    /// How it was measured.
    pub how: String,
}

impl Thresholds {
    /// The thresholds of a model: of this machine, else of this build; `None` when there are none. `state_dir`: the
    /// state directory, where it is not the default one.
    ///
    /// # Errors
    /// [`ModelError::Thresholds`] when a file is there and cannot be understood.
    pub fn of(model: &str, state_dir: Option<&Path>) -> Result<Option<Self>, ModelError> {
        let Some(path) = Self::file(model, state_dir) else { return Self::built_in(model) };
        let text = std::fs::read_to_string(&path).map_err(ModelError::io("reading", &path))?;
        Self::parse(&text, &path).map(Some)
    }

    /// The file that holds this machine's calibration of a model; `None` where there is none.
    #[must_use]
    pub fn file(model: &str, state_dir: Option<&Path>) -> Option<PathBuf> {
        find_file(&Path::new(FOLDER).join(format!("{model}.toml")), state_dir)
    }

    /// The thresholds that this build was made with; `None` for a model that it does not know.
    ///
    /// # Errors
    /// [`ModelError::Thresholds`] when the file was wrong at build time.
    pub fn built_in(model: &str) -> Result<Option<Self>, ModelError> {
        let built_in = BUILT_IN.iter().find(|(name, _)| *name == model);
        built_in.map(|(name, text)| Self::parse(text, Path::new(name))).transpose()
    }

    /// Reads a thresholds file; `path` is for messages.
    ///
    /// # Errors
    /// [`ModelError::Thresholds`] when a key is missing or unknown, or a number makes no sense.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::Thresholds { path: PathBuf::from(path), why };
        let read: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let sound =
            [read.accept, read.maybe, read.merge].iter().all(|score| (-1.0..=1.0).contains(score));
        if !sound || !(0.0..=2.0).contains(&read.margin) {
            return Err(wrong("accept, maybe and merge are cosines, margin is 0–2".to_owned()));
        }
        if read.min_norm.is_some_and(|norm| !(norm.is_finite() && norm > 0.0)) {
            return Err(wrong("min_norm is a length above 0".to_owned()));
        }
        if read.maybe > read.accept {
            return Err(wrong(format!("maybe {} is above accept {}", read.maybe, read.accept)));
        }
        Ok(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::models::Manifest;

    #[test]
    fn built_in_thresholds_belong_to_models() {
        let manifest = Manifest::built_in().unwrap();
        for (name, text) in BUILT_IN {
            let read = Thresholds::parse(text, Path::new(name)).unwrap();
            assert_eq!(read.model, name);
            assert!(manifest.model(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_calibration_in_the_state_directory_comes_before_the_built_in_one() {
        let (name, text) = BUILT_IN[0];
        let state = tempfile::tempdir().unwrap();
        let of_this_machine = || Thresholds::of(name, Some(state.path()));
        assert_eq!(of_this_machine().unwrap(), Thresholds::built_in(name).unwrap());
        let folder = state.path().join(FOLDER);
        std::fs::create_dir_all(&folder).unwrap();
        let measured = text.replace("margin = ", "margin = 0.123 # ");
        assert_ne!(measured, text);
        std::fs::write(folder.join(format!("{name}.toml")), measured).unwrap();
        assert_eq!(of_this_machine().unwrap().map(|found| found.margin), Some(0.123));
        std::fs::write(folder.join(format!("{name}.toml")), "garbage").unwrap();
        let error = of_this_machine().unwrap_err().to_string();
        assert!(error.contains(&*state.path().to_string_lossy()), "{error}");
        assert_eq!(Thresholds::of("of_nobody", Some(state.path())).unwrap(), None);
    }

    #[test]
    fn nonsense_is_refused() {
        let text = BUILT_IN[0].1;
        let swapped = text.replace("maybe = ", "maybe = 0.9 # ");
        assert!(Thresholds::parse(&swapped, Path::new("t")).is_err());
        let unknown = format!("{text}\nmatch = 1\n");
        assert!(Thresholds::parse(&unknown, Path::new("t")).is_err());
        for (key, value) in [("merge", "inf"), ("min_norm", "nan"), ("min_norm", "-1.0")] {
            let absurd = text.replace(&format!("{key} = "), &format!("{key} = {value} # "));
            assert_ne!(absurd, text);
            assert!(Thresholds::parse(&absurd, Path::new("t")).is_err(), "{key} = {value}");
        }
    }

    #[test]
    fn mutated_thresholds_never_panic_and_what_is_read_makes_sense() {
        let seeds: Vec<Vec<u8>> =
            BUILT_IN.iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
        let mut read = 0;
        crate::capture::bag::mutations::hold("thresholds", 5_000, &seeds, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let Ok(found) = Thresholds::parse(&text, Path::new("t")) else { return };
            read += 1;
            assert!(found.maybe <= found.accept && found.accept.abs() <= 1.0);
            assert!(found.margin >= 0.0 && found.merge.is_finite());
        });
        assert!(read > 100, "{read}");
    }
}
