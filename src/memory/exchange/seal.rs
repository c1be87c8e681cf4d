//! A checksummed stream: the first and the last line of an export, by which one that was cut or changed is told from a whole one.
//!
//! First `{"engram_export":3}`, last `{"end":{"rows":N,"sha256":"…"}}`: how many lines lie between the two, and the
//! SHA-256 of all lines before it, each with its line feed. Exports of form 2 held rows with versions alone, those of
//! form 1 had neither a first nor a last line.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// The form that is written.
const FORM: u32 = 3;

/// Writes lines between the first and the last.
pub(in crate::memory) struct Sealing<W> {
    out: W,
    digest: Sha256,
    rows: u64,
}

impl<W: Write> Sealing<W> {
    /// Writes the first line.
    pub(in crate::memory) fn begin(out: W) -> io::Result<Self> {
        let mut sealing = Self { out, digest: Sha256::new(), rows: 0 };
        sealing.line(&json!({ "engram_export": FORM }))?;
        Ok(sealing)
    }

    /// Writes a row.
    pub(in crate::memory) fn row(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.rows += 1;
        self.line(row)
    }

    /// Writes the last line.
    pub(in crate::memory) fn end(mut self) -> io::Result<()> {
        let (rows, sha256) = (self.rows, hex::encode(self.digest.clone().finalize()));
        self.line(&json!({ "end": { "rows": rows, "sha256": sha256 } }))
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.digest.update(&text);
        self.out.write_all(&text)
    }
}

#[derive(Deserialize)]
struct Head {
    engram_export: u32,
}

#[derive(Deserialize)]
struct Last {
    end: End,
}

#[derive(Deserialize)]
struct End {
    rows: u64,
    sha256: String,
}

/// What has been read of an export so far.
#[derive(Default)]
pub(in crate::memory) struct Unsealing {
    digest: Sha256,
    rows: u64,
    /// The first line was there: the last one must be.
    headed: bool,
    ended: bool,
}

impl Unsealing {
    /// Takes in the next line; true when it is a row's.
    ///
    /// # Errors
    /// What is wrong with the export, in words.
    pub(in crate::memory) fn takes_row(&mut self, line: &str) -> Result<bool, String> {
        if self.ended {
            return Err("something follows on the export's last line".to_owned());
        }
        let first = self.rows == 0 && !self.headed;
        if line.starts_with("{\"end\"") {
            if !self.headed {
                return Err("the export's beginning is missing".to_owned());
            }
            let Last { end } = serde_json::from_str(line).map_err(|error| error.to_string())?;
            if end.rows != self.rows {
                return Err(format!("{} rows of {}: some are missing", self.rows, end.rows));
            }
            if end.sha256 != hex::encode(self.digest.clone().finalize()) {
                return Err("the rows are not those that were exported: their SHA-256 is another"
                    .to_owned());
            }
            self.ended = true;
            return Ok(false);
        }
        self.digest.update(line.as_bytes());
        self.digest.update(b"\n");
        if first && line.starts_with("{\"engram_export\"") {
            let Head { engram_export: form } =
                serde_json::from_str(line).map_err(|error| error.to_string())?;
            if form > FORM {
                return Err(format!(
                    "the export is of form {form}, this engram reads {FORM} and what was before it; \
                     install the newer engram"
                ));
            }
            self.headed = true;
            return Ok(false);
        }
        // Form 1 begins with the commits.
        if first && !line.starts_with("{\"table\":\"commits\"") {
            return Err("this is no export, or its beginning is missing".to_owned());
        }
        self.rows += 1;
        Ok(true)
    }

    /// Whether it is whole; false: it is of the form before, which does not say.
    ///
    /// # Errors
    /// When its end is missing.
    pub(in crate::memory) fn finish(&self) -> Result<bool, String> {
        match (self.headed, self.ended) {
            (true, true) => Ok(true),
            (true, false) => {
                Err(format!("the export was cut: its end is missing after {} rows", self.rows))
            }
            (false, _) if self.rows == 0 => Err("there is nothing in it".to_owned()),
            (false, _) => Ok(false),
        }
    }
}
