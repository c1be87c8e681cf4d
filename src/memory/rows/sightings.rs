//! How sightings lie in a column: a blob.

use rusqlite::types::Value;

use crate::camera::Bearing;
use crate::geometry::Rect;
use crate::memory::versions::sightings::Sightings;
use crate::percept::Sighting;
use crate::time::Timestamp;

/// What may be said before the sightings: a time that no frame has, plus these.
const WITH_BEARINGS: i64 = 1;
const OF_A_PICTURE: i64 = 2;
const OF_A_BODY: i64 = 4;

/// What the sightings are of: neither is a living face, or a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OfWhat {
    /// A picture of a face.
    pub(super) picture: bool,
    /// A body.
    pub(super) body: bool,
}

/// Little-endian: time in nanoseconds, box (x, y, w, h), score; 28 bytes each. Where one has a bearing, or they are of a
/// picture or a body, the blob begins with the least time plus [`WITH_BEARINGS`], [`OF_A_PICTURE`] and [`OF_A_BODY`]; with bearings each has
/// azimuth, elevation and distance (not a number: unknown) on top.
pub(super) fn sightings_blob(sightings: &Sightings, of: OfWhat) -> Value {
    let calibrated = sightings.iter().any(|sighting| sighting.bearing.is_some());
    let mut bytes = Vec::with_capacity(8 + sightings.len() * 40);
    let said = [(calibrated, WITH_BEARINGS), (of.picture, OF_A_PICTURE), (of.body, OF_A_BODY)];
    let said: i64 = said.into_iter().filter(|(is, _)| *is).map(|(_, says)| says).sum();
    if said != 0 {
        bytes.extend((i64::MIN + said).to_le_bytes());
    }
    for sighting in sightings.iter() {
        bytes.extend(sighting.at.as_nanos().to_le_bytes());
        let Rect { x, y, w, h } = sighting.bbox;
        for value in [x, y, w, h, sighting.score] {
            bytes.extend(value.to_le_bytes());
        }
        if calibrated {
            let bearing = sighting.bearing;
            for value in [
                bearing.map(|bearing| bearing.azimuth),
                bearing.map(|bearing| bearing.elevation),
                bearing.and_then(|bearing| bearing.distance),
            ] {
                bytes.extend(value.unwrap_or(f32::NAN).to_le_bytes());
            }
        }
    }
    Value::Blob(bytes)
}

/// The sightings, and what they are of.
pub(super) fn sightings_from(bytes: &[u8]) -> Option<(Sightings, OfWhat)> {
    let head = bytes.first_chunk::<8>().map(|head| i64::from_le_bytes(*head));
    let said = head.map(|head| head.wrapping_sub(i64::MIN)).filter(|said| (1..=7).contains(said));
    let (said, bytes) = match said {
        Some(said) => (said, bytes.get(8..)?),
        None => (0, bytes),
    };
    let says = |what: i64| said & what != 0;
    let calibrated = says(WITH_BEARINGS);
    let of = OfWhat { picture: says(OF_A_PICTURE), body: says(OF_A_BODY) };
    let records = bytes.chunks_exact(if calibrated { 40 } else { 28 });
    if !records.remainder().is_empty() {
        return None;
    }
    let float = |record: &[u8], at: usize| {
        let bytes: [u8; 4] = record.get(at..at + 4)?.try_into().ok()?;
        Some(f32::from_le_bytes(bytes))
    };
    records
        .map(|record| {
            let at: [u8; 8] = record.get(..8)?.try_into().ok()?;
            Some(Sighting {
                at: Timestamp::from_nanos(i64::from_le_bytes(at)),
                bbox: Rect {
                    x: float(record, 8)?,
                    y: float(record, 12)?,
                    w: float(record, 16)?,
                    h: float(record, 20)?,
                },
                score: float(record, 24)?,
                bearing: calibrated.then(|| bearing_from(record)).flatten(),
            })
        })
        .collect::<Option<Sightings>>()
        .map(|sightings| (sightings, of))
}

/// The last three numbers of a record.
fn bearing_from(record: &[u8]) -> Option<Bearing> {
    let value = |at: usize| {
        let bytes: [u8; 4] = record.get(at..at + 4)?.try_into().ok()?;
        Some(f32::from_le_bytes(bytes)).filter(|value| value.is_finite())
    };
    Some(Bearing { azimuth: value(28)?, elevation: value(32)?, distance: value(36) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sightings_are_read_back_with_and_without_bearings() {
        let seen = |number: i64, bearing: Option<Bearing>| Sighting {
            at: Timestamp::from_nanos(number),
            bbox: Rect { x: 1.5, y: 2.0, w: 30.0, h: 40.0 },
            score: 0.9,
            bearing,
        };
        let left = Bearing { azimuth: 0.4, elevation: -0.1, distance: Some(2.25) };
        let unknown = Bearing { distance: None, ..left };
        for (sightings, length) in [
            (vec![seen(1, None), seen(2, None)], 56),
            (vec![seen(1, Some(left)), seen(2, None), seen(3, Some(unknown))], 128),
            (Vec::new(), 0),
        ] {
            for (picture, body) in [(false, false), (true, false), (false, true), (true, true)] {
                let (what, of) = (OfWhat { picture, body }, Sightings::from(sightings.as_slice()));
                let Value::Blob(bytes) = sightings_blob(&of, what) else { panic!() };
                let head = if (picture || body) && length % 28 == 0 { 8 } else { 0 };
                assert_eq!(bytes.len(), length + head);
                assert_eq!(sightings_from(&bytes).unwrap(), (of, what));
                for cut in 1..bytes.len() {
                    let _ = sightings_from(&bytes[..cut]);
                }
            }
        }
    }
}
