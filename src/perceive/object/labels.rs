//! Names of a detector's classes: a file with one a line, or a YOLO data file (YAML with `names:`).

use std::path::Path;
use std::sync::Arc;

use yaml_rust2::{Yaml, YamlLoader};

use super::ObjectError;

/// Larger files are no labels.
const MOST_BYTES: u64 = 1024 * 1024;
/// More classes has no detector; longer names has no class.
const MOST_CLASSES: usize = 20_000;
const LONGEST: usize = 200;

/// What the classes of a detector are called, by their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels(Vec<Arc<str>>);

impl Labels {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or holds no labels.
    pub fn read(path: &Path) -> Result<Self, ObjectError> {
        let fail = |reason: String| ObjectError::Labels { path: path.to_owned(), reason };
        let size = std::fs::metadata(path).map_err(|error| fail(error.to_string()))?.len();
        if size > MOST_BYTES {
            return Err(fail(format!("it has {size} bytes, more than 1 MiB")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        Self::parse(&text).map_err(fail)
    }

    /// One label a line, or YAML with `names:` (a list, or a map from number to name).
    ///
    /// # Errors
    /// Why the text holds no labels.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        match names_block(text) {
            Some(block) => Self::of_yaml(&block),
            None => Self::checked(text.trim_end().lines().map(str::to_owned).collect()),
        }
    }

    /// What an exporter wrote into the model file: `{0: 'person', 1: 'bicycle'}` or `['person', 'bicycle']`.
    ///
    /// # Errors
    /// Why the text holds no labels.
    pub fn of_metadata(text: &str) -> Result<Self, String> {
        Self::of_yaml(&format!("names: {}", text.replace(['\n', '\r'], " ")))
    }

    fn of_yaml(block: &str) -> Result<Self, String> {
        // The parser recurses into brackets and lists.
        let nested = block.matches(['[', '{']).count() > 1
            || block
                .lines()
                .any(|line| line.matches("- ").count() > 1 || line.matches("? ").count() > 1);
        if nested || block.contains(['&', '*']) {
            return Err("`names` must be a plain list or a plain map".to_owned());
        }
        let documents = YamlLoader::load_from_str(block).map_err(|error| error.to_string())?;
        let names = documents.first().map_or(&Yaml::BadValue, |document| &document["names"]);
        match names {
            Yaml::Array(names) => {
                Self::checked(names.iter().map(word).collect::<Result<Vec<_>, _>>()?)
            }
            Yaml::Hash(names) => {
                let mut found = vec![None; names.len()];
                for (number, name) in names {
                    let place = number.as_i64().and_then(|number| usize::try_from(number).ok());
                    let slot = place.and_then(|place| found.get_mut(place)).ok_or_else(|| {
                        format!("`names` must count from 0 without gaps, found {number:?}")
                    })?;
                    *slot = Some(word(name)?);
                }
                Self::checked(found.into_iter().flatten().collect())
            }
            _ => Err("`names` must be a list, or a map from number to name".to_owned()),
        }
    }

    fn checked(names: Vec<String>) -> Result<Self, String> {
        if names.is_empty() || names.len() > MOST_CLASSES {
            return Err(format!("it must have 1–{MOST_CLASSES} labels, found {}", names.len()));
        }
        let tidy = |(line, name): (usize, String)| {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            let sound =
                !name.is_empty() && name.len() <= LONGEST && !name.contains(char::is_control);
            sound.then(|| Arc::from(name)).ok_or_else(|| format!("label {line} is no name"))
        };
        Ok(Self(names.into_iter().enumerate().map(tidy).collect::<Result<_, _>>()?))
    }

    /// How many classes there are, at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What that class is called.
    #[must_use]
    pub fn get(&self, class: usize) -> Option<&Arc<str>> {
        self.0.get(class)
    }
}

fn word(name: &Yaml) -> Result<String, String> {
    match name {
        Yaml::String(name) | Yaml::Real(name) => Ok(name.clone()),
        Yaml::Integer(number) => Ok(number.to_string()),
        // YAML 1.1's words for truth: a class may be called "on".
        Yaml::Boolean(value) => Ok(value.to_string()),
        other => Err(format!("{other:?} is no label")),
    }
}

/// The line `names:` at the left edge and what belongs to it; `None` where there is none: a data file holds much else.
fn names_block(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("names:"));
    let first = lines.next()?;
    let belongs =
        |line: &&str| line.trim().is_empty() || line.starts_with([' ', '\t', '-', '#', ']', '}']);
    let mut block = uncommented(first).to_owned();
    for line in lines.take_while(belongs) {
        block.push('\n');
        block.push_str(uncommented(line));
    }
    Some(block)
}

fn uncommented(line: &str) -> &str {
    match line.find(" #") {
        Some(at) => line[..at].trim_end(),
        None if line.starts_with('#') => "",
        None => line.trim_end(),
    }
}

/// Labels in every form, for whatever mutates them.
#[cfg(test)]
pub(crate) const LABEL_SEEDS: [&str; 5] = [
    "person\r\ncell phone \n\n",
    "# COCO\npath: ../coco # root\nnames:\n  0: person\n  1: traffic light # two words\n  2: 7\n\nnc: 3\n",
    "nc: 2\nnames: [cup,\n  book]\nval: x\n",
    "names:\n- cup\n- book\nval: x",
    "{0: 'person', 1: \"hair drier\"}",
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(text: &str) -> Vec<String> {
        Labels::parse(text).unwrap().0.iter().map(|label| label.to_string()).collect()
    }

    #[test]
    fn the_forms_of_the_field_are_read() {
        assert_eq!(labels("person\r\ncell phone \n\n"), ["person", "cell phone"]);
        let map = "# COCO\npath: ../coco # dataset root\nnames:\n  0: person\n  1: traffic light # two words\n  2: 7\n\ndownload: |\n  from x import *\n  a = {'b': [1]}\n";
        assert_eq!(labels(map), ["person", "traffic light", "7"]);
        assert_eq!(labels("nc: 2\nnames: ['cup', 'book']\n"), ["cup", "book"]);
        assert_eq!(labels("nc: 2\nnames: [cup,\n  book]\nval: x\n"), ["cup", "book"]);
        assert_eq!(labels("names:\n- cup\n- book\nval: x"), ["cup", "book"]);
        let written = Labels::of_metadata("{0: 'person', 1: 'hair drier'}").unwrap();
        assert_eq!((written.count(), written.get(1).unwrap().as_ref()), (2, "hair drier"));
        assert_eq!(Labels::of_metadata("['a', \"b\"]").unwrap().count(), 2);
    }

    #[test]
    fn what_is_no_labels_says_why() {
        for text in [
            "",
            "\n\n",
            "person\n\ncup",
            "names:",
            "names: 3",
            "names:\n  0: a\n  2: b",
            "names:\n  - [a, b]",
            "names: {0: {1: a}}",
            "names: *x",
            "names:\n  -1: a",
        ] {
            assert!(Labels::parse(text).is_err(), "{text:?}");
        }
        let missing = Labels::read(Path::new("/nowhere/coco.txt")).unwrap_err().to_string();
        assert!(missing.contains("/nowhere/coco.txt") && missing.contains("objects.labels"));
    }

    #[test]
    fn mutated_labels_never_panic_and_what_is_read_has_names() {
        let seeds: Vec<_> = LABEL_SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect();
        let mut read = 0;
        crate::capture::bag::mutations::hold("class_labels", 5_000, &seeds, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            for labels in [Labels::parse(&text), Labels::of_metadata(&text)].into_iter().flatten() {
                read += 1;
                assert!(labels.0.iter().all(|label| !label.is_empty() && label.len() <= LONGEST));
            }
        });
        assert!(read > 100, "{read}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(names:)?[ \\na-z0-9:\\[\\]{}'\",#-]{0,200}") {
            let _ = Labels::parse(&text);
            let _ = Labels::of_metadata(&text);
        }
    }
}
