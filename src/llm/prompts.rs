//! Prompts: files of this folder, each replaceable by one of the same name in `prompts/` of the configuration
//! directory (`/etc/engram/prompts/`, the state directory, `/usr/share/engram/prompts/`).

use std::path::{Path, PathBuf};

use crate::config::find_file;

/// Longer files are no prompts.
const MAX_BYTES: u64 = 256 << 10;

/// Why a prompt cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The replacing file cannot be read.
    #[error("reading the prompt {}: {source}; mend the file or take it away", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is too long.
    #[error("the prompt {} has more than {MAX_BYTES} bytes; shorten it", path.display())]
    Long {
        /// The file.
        path: PathBuf,
    },
    /// It lacks a place that code fills in.
    #[error("the prompt {} lacks {{{place}}}, which the program fills in; put it where it belongs", path.display())]
    Place {
        /// The file.
        path: PathBuf,
        /// The place.
        place: &'static str,
    },
}

macro_rules! prompts {
    ($($(#[$doc:meta])* $field:ident: $file:literal, places $places:expr;)*) => {
        /// Every prompt.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Prompts { $($(#[$doc])* pub $field: String,)* }

        impl Prompts {
            /// The files of the configuration directory, else ours.
            ///
            /// # Errors
            /// When a replacing file cannot be read or lacks a place that is filled in.
            pub fn load(state_dir: Option<&Path>) -> Result<Self, PromptError> {
                Ok(Self { $($field: load($file, include_str!(concat!("prompts/", $file)), $places, state_dir)?,)* })
            }

            /// Ours.
            #[must_use]
            pub fn ours() -> Self {
                Self { $($field: include_str!(concat!("prompts/", $file)).to_owned(),)* }
            }
        }

        #[cfg(test)]
        const ALL: &[(&str, &str, &[&str])] = &[$(($file, include_str!(concat!("prompts/", $file)), $places),)*];
    };
}

prompts! {
    /// Rules of answering with tools.
    answer_tools: "answer_tools.md", places &["rounds"];
    /// The question with what is known at once.
    answer_question: "answer_question.md", places &["question", "now", "working_set"];
    /// The last round must answer.
    answer_last: "answer_last.md", places &[];
    /// The reply was no answer and no call.
    answer_repair: "answer_repair.md", places &["fault"];
    /// Rules of the textual protocol.
    answer_m3: "answer_m3.md", places &["question"];
    /// The form of each reply of the textual protocol.
    answer_m3_form: "answer_m3_form.md", places &[];
    /// The last round of the textual protocol.
    answer_m3_last: "answer_m3_last.md", places &[];
    /// Rules of drawing conclusions from many memories.
    reflect: "reflect.md", places &["most"];
    /// The memories to draw them from.
    reflect_memories: "reflect_memories.md", places &["now", "known", "memories"];
    /// Rules of memorizing.
    memorize: "memorize.md", places &[];
    /// The clip's facts around pictures, faces and turns.
    memorize_clip: "memorize_clip.md", places &["start", "secs", "place", "note", "turns"];
    /// Instruction of the published memorization model.
    memorize_m3: "memorize_m3.md", places &[];
    /// Whether an answer entails the reference.
    judge: "judge.md", places &["question", "truth", "reply"];
    /// The reply did not have the form.
    memorize_repair: "memorize_repair.md", places &["fault"];
}

fn load(
    file: &'static str,
    ours: &'static str,
    places: &[&'static str],
    state_dir: Option<&Path>,
) -> Result<String, PromptError> {
    let Some(path) = find_file(&Path::new("prompts").join(file), state_dir) else {
        return Ok(ours.to_owned());
    };
    let read = |source| PromptError::Read { path: path.clone(), source };
    if std::fs::metadata(&path).map_err(read)?.len() > MAX_BYTES {
        return Err(PromptError::Long { path });
    }
    let text = std::fs::read_to_string(&path).map_err(read)?;
    match places.iter().find(|place| !text.contains(&format!("{{{place}}}"))) {
        Some(place) => Err(PromptError::Place { path, place }),
        None => Ok(text),
    }
}

/// Puts values into `{places}`. What is put in is never looked at again: a value that holds `{now}` stays as it is.
#[must_use]
pub fn fill(prompt: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(prompt.len());
    let mut rest = prompt;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        let known = values.iter().find_map(|(place, value)| {
            let after = inside.strip_prefix(place)?.strip_prefix('}')?;
            Some((value, after))
        });
        rest = match known {
            Some((value, after)) => {
                out.push_str(value);
                after
            }
            None => {
                out.push('{');
                inside
            }
        };
    }
    out.push_str(rest);
    out.trim().to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn our_prompts_have_their_places() {
        for (file, text, places) in ALL {
            assert!(text.len() > 20, "{file}");
            for place in *places {
                assert!(text.contains(&format!("{{{place}}}")), "{file}: {place}");
            }
        }
        assert_eq!(Prompts::load(Some(Path::new("/nowhere"))).unwrap(), Prompts::ours());
    }

    #[test]
    fn a_file_of_the_same_name_replaces_ours() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("prompts")).unwrap();
        let file = dir.path().join("prompts/answer_repair.md");
        std::fs::write(&file, "Wrong: {fault}. Again, please.").unwrap();
        let prompts = Prompts::load(Some(dir.path())).unwrap();
        assert_eq!(prompts.answer_repair, "Wrong: {fault}. Again, please.");
        std::fs::write(&file, "Again, please.").unwrap();
        let error = Prompts::load(Some(dir.path())).unwrap_err().to_string();
        assert!(error.contains("{fault}") && error.contains("answer_repair.md"), "{error}");
    }

    #[test]
    fn values_are_not_filled_in_again() {
        let filled = fill("{a} {b} {c} {", &[("a", "{b}"), ("b", "2")]);
        assert_eq!(filled, "{b} 2 {c} {");
    }
}
