//! When a file was made, as far as what it says of that can be true.
//!
//! Containers count from years of their own, and zero means that nobody set it. Cameras without a clock write such a zero;
//! some count from 1970 in a field that counts from 1904, which puts them 66 years back.

use crate::time::Timestamp;

/// From 1904, the year of ISO media files (ISO/IEC 14496-12, 8.2.2), to 1970, seconds.
const FROM_1904_TO_1970_SECS: f64 = 2_082_844_800.0;
/// Years that are counted from, 1 January, seconds from 1970: Windows, ISO media, Unix, FAT and GPS (two days), Matroska.
const ZEROS_SECS: [i64; 6] =
    [-11_644_473_600, -2_082_844_800, 0, 315_532_800, 315_964_800, 978_307_200];
/// Before 1990 nobody recorded into files that are read here, seconds from 1970.
const EARLIEST_SECS: f64 = 631_152_000.0;
/// Nor after 2100.
const LATEST_SECS: f64 = 4_102_444_800.0;

/// What is taken for the time at which a file was made.
#[derive(Debug, PartialEq)]
pub(super) enum Created {
    /// What it says.
    Said(Timestamp),
    /// What it must mean, and why.
    Meant(Timestamp, &'static str),
    /// It cannot be told, and why.
    Unknown(&'static str),
}

/// Judges what a file says; from that alone, so that the same file is always remembered alike.
pub(super) fn judge(said: Timestamp) -> Created {
    const SECOND: i64 = 1_000_000_000;
    let secs = said.secs_since(Timestamp::EPOCH);
    if ZEROS_SECS.iter().any(|zero| zero.saturating_mul(SECOND) == said.as_nanos()) {
        return Created::Unknown("that is where its clock begins to count: it was not set");
    }
    if (EARLIEST_SECS..LATEST_SECS).contains(&secs) {
        return Created::Said(said);
    }
    let later = secs + FROM_1904_TO_1970_SECS;
    if (EARLIEST_SECS..LATEST_SECS).contains(&later) {
        let meant = said.plus_secs(FROM_1904_TO_1970_SECS);
        return Created::Meant(meant, "its field counts from 1904, and was counted from 1970");
    }
    Created::Unknown("nobody recorded then")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_that_cannot_be_are_not_believed() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        for (said, meant) in [
            ("2026-04-01T10:00:00Z", Some("2026-04-01T10:00:00Z")),
            ("1960-03-31T10:00:00Z", Some("2026-04-01T10:00:00Z")),
            ("1999-12-31T23:59:59Z", Some("1999-12-31T23:59:59Z")),
            ("1904-01-01T00:00:00Z", None),
            ("1970-01-01T00:00:00Z", None),
            ("1980-01-01T00:00:00Z", None),
            ("2001-01-01T00:00:00Z", None),
            ("2001-01-01T00:00:01Z", Some("2001-01-01T00:00:01Z")),
            ("1910-01-01T00:00:00Z", None),
            ("2199-01-01T00:00:00Z", None),
        ] {
            let taken = match judge(at(said)) {
                Created::Said(at) | Created::Meant(at, _) => Some(at),
                Created::Unknown(_) => None,
            };
            assert_eq!(taken, meant.map(at), "{said}");
        }
    }
}
