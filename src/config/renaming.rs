//! Another name for a topic: `/camera:=/front`.

use serde::{Deserialize, Serialize};

/// Another name for a topic of a recording, in text `OLD:=NEW`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Renaming {
    /// The topic's name in the recording.
    pub from: String,
    /// The name that it gets.
    pub to: String,
}

impl Renaming {
    /// Reads `OLD:=NEW`.
    ///
    /// # Errors
    /// A sentence that says how to write it.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(":=") {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => {
                Ok(Self { from: from.to_owned(), to: to.to_owned() })
            }
            _ => Err(format!("{text:?} is no renaming; write OLD:=NEW")),
        }
    }
}

impl TryFrom<String> for Renaming {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Renaming> for String {
    fn from(renaming: Renaming) -> Self {
        format!("{}:={}", renaming.from, renaming.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_refuses_half_a_renaming() {
        let renaming = Renaming { from: "/camera".to_owned(), to: "/front".to_owned() };
        assert_eq!(String::from(renaming.clone()), "/camera:=/front");
        assert_eq!(Renaming::parse("/camera:=/front"), Ok(renaming));
        for half in ["", "/camera", "/camera:=", ":=/front", "/camera=/front"] {
            let message = format!("{half:?} is no renaming; write OLD:=NEW");
            assert_eq!(Renaming::parse(half), Err(message));
        }
    }
}
