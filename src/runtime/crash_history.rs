//! Which networks crashed the process, and how long each is left out for it: a rule over times, and a small file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::whole_file;

/// The file in the state directory.
const FILE: &str = "crashes.json";
/// So many crashes …
const MOST: usize = 2;
/// … within so long, seconds, are all that is put up with; who ran well for so long has a clean record again.
const WITHIN_SECS: i64 = 3600;
/// The longest rest, seconds.
const LONGEST_SECS: i64 = 86_400;

/// A network's record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// When it crashed or hung, s since 1970, as far as that counts.
    crashes: Vec<i64>,
    /// How often it was left out since it last ran well.
    rests: u32,
    /// Until when it is left out, s since 1970.
    until: i64,
}

/// Why a network does not run, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// How often it crashed.
    pub crashes: usize,
    /// How long from now until it is tried anew, seconds.
    pub secs: u64,
}

impl std::fmt::Display for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { crashes, secs } = self;
        let minutes = secs.div_ceil(60);
        write!(
            f,
            "it crashed or hung {crashes} times and is left out, to be tried anew in {minutes} min"
        )
    }
}

/// The records by file name of the network. A clock that was set back or forth makes a rest shorter, never longer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    file: PathBuf,
    records: BTreeMap<String, Record>,
}

impl History {
    /// What is known in that state directory; a file that cannot be read counts as none.
    #[must_use]
    pub fn open(dir: &Path) -> Self {
        let file = dir.join(FILE);
        let records = match fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(file = %file.display(), %error, "What crashed before is not known: the file is damaged and begun anew.");
                BTreeMap::new()
            }),
            Err(_) => BTreeMap::new(),
        };
        Self { file, records }
    }

    /// Writes it down.
    ///
    /// # Errors
    /// When the state directory cannot be written.
    pub fn save(&self) -> io::Result<()> {
        whole_file::write(&self.file, &serde_json::to_vec_pretty(&self.records)?)
    }

    /// The network crashed, or hung for good. `first`: how long it is left out at the first time; each further time in a row
    /// it is twice as long, up to a day.
    pub fn crashed(&mut self, network: &str, now: i64, first: Duration) {
        let record = self.records.entry(network.to_owned()).or_default();
        record.crashes.retain(|at| (now - at).abs() <= WITHIN_SECS || record.rests > 0);
        record.crashes.push(now);
        if record.rests == 0 && record.crashes.len() < MOST {
            return;
        }
        let first = i64::try_from(first.as_secs()).unwrap_or(LONGEST_SECS);
        let rest = first.saturating_mul(1 << record.rests.min(20)).min(LONGEST_SECS);
        record.rests += 1;
        record.until = now + rest;
    }

    /// Whether the network is left out now.
    #[must_use]
    pub fn rest(&self, network: &str, now: i64) -> Option<Rest> {
        let record = self.records.get(network)?;
        let secs = record.until - now;
        let rests = record.rests > 0 && (1..=LONGEST_SECS).contains(&secs);
        rests.then(|| Rest { crashes: record.crashes.len(), secs: secs.unsigned_abs() })
    }

    /// Forgets the crashes of networks that have been running since, for long enough; true when there were any.
    pub fn ran_well(&mut self, now: i64) -> bool {
        let before = self.records.len();
        self.records.retain(|_, record| {
            let last = record.crashes.last().copied().unwrap_or_default().max(record.until);
            (now - last).abs() < WITHIN_SECS || (last > now && last - now <= LONGEST_SECS)
        });
        self.records.len() < before
    }

    /// Crashes that count still, of all networks.
    #[must_use]
    pub fn crashes(&self) -> usize {
        self.records.values().map(|record| record.crashes.len()).sum()
    }

    /// How many networks are left out now.
    #[must_use]
    pub fn resting(&self, now: i64) -> usize {
        self.records.keys().filter(|network| self.rest(network, now).is_some()).count()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const NET: &str = "yunet.onnx";
    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn the_third_start_is_without_a_network_that_crashed_twice() {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::open(dir.path());
        history.crashed(NET, 1_000, HOUR);
        assert_eq!(history.rest(NET, 1_001), None, "once may be an accident");
        history.save().unwrap();
        let mut history = History::open(dir.path());
        history.crashed(NET, 1_060, HOUR);
        history.crashed("other.onnx", 1_070, HOUR);
        let rest = history.rest(NET, 1_060).unwrap();
        assert_eq!(rest, Rest { crashes: 2, secs: 3600 });
        let told = rest.to_string();
        assert!(told.contains("crashed or hung 2 times") && told.contains("60 min"), "{told}");
        assert_eq!((history.rest("other.onnx", 1_070), history.resting(1_070)), (None, 1));
        assert_eq!(history.rest(NET, 1_060 + 3600), None, "it is tried anew");
    }

    #[test]
    fn who_crashes_again_when_tried_anew_rests_twice_as_long_up_to_a_day() {
        let (mut history, mut now) = (History::default(), 1_000);
        let mut rests = Vec::new();
        for _ in 0..8 {
            history.crashed(NET, now, HOUR);
            let secs = history.rest(NET, now).map_or(0, |rest| rest.secs);
            rests.push(secs / 3600);
            now += secs as i64 + 1;
        }
        assert_eq!(rests, [0, 1, 2, 4, 8, 16, 24, 24]);
    }

    #[test]
    fn crashes_far_apart_are_accidents_and_who_runs_well_has_a_clean_record() {
        let mut history = History::default();
        for day in 0..5 {
            history.crashed(NET, day * 86_400, HOUR);
            assert_eq!(history.rest(NET, day * 86_400), None);
        }
        assert!(!history.ran_well(4 * 86_400 + 60));
        assert!(history.ran_well(4 * 86_400 + 3601));
        assert_eq!(history.crashes(), 0);
        // One that was left out must have run, not only rested.
        history.crashed(NET, 1_000, HOUR);
        history.crashed(NET, 1_001, HOUR);
        assert!(!history.ran_well(1_001 + 3600 + 1800));
        assert!(history.ran_well(1_001 + 2 * 3600));
        // A clock that was set back by years leaves nobody out for years.
        history.crashed(NET, 2_000_000_000, HOUR);
        history.crashed(NET, 2_000_000_001, HOUR);
        assert_eq!(history.rest(NET, 1_000), None);
    }

    #[test]
    fn a_damaged_file_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), "{\"yunet").unwrap();
        assert_eq!(History::open(dir.path()).crashes(), 0);
    }
}
