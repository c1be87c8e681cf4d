//! Where something was seen, picture by picture.

use std::fmt;

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::shelf::{Slice, Values};
use crate::camera::Bearing;
use crate::geometry::Rect;
use crate::percept::Sighting;
use crate::time::Timestamp;

/// The sightings of a track, ascending in time. They never change; a minute of a face at 5 pictures a second takes
/// 12 kB, on disk where the memory has a place for it.
#[derive(Clone, PartialEq)]
pub struct Sightings(Values<Packed>);

/// A sighting without pointers and padding. What is not known of the bearing is not a number.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(in crate::memory) struct Packed {
    at: i64,
    bbox: [f32; 4],
    score: f32,
    /// Azimuth, elevation, distance.
    bearing: [f32; 3],
}

const _: () = assert!(size_of::<Packed>() == 40);

impl From<&Sighting> for Packed {
    fn from(sighting: &Sighting) -> Self {
        let Rect { x, y, w, h } = sighting.bbox;
        let bearing = sighting.bearing.map(|Bearing { azimuth, elevation, distance }| {
            [azimuth, elevation, distance.unwrap_or(f32::NAN)]
        });
        Self {
            at: sighting.at.as_nanos(),
            bbox: [x, y, w, h],
            score: sighting.score,
            bearing: bearing.unwrap_or([f32::NAN; 3]),
        }
    }
}

impl From<&Packed> for Sighting {
    fn from(packed: &Packed) -> Self {
        let [x, y, w, h] = packed.bbox;
        let [azimuth, elevation, distance] = packed.bearing;
        let distance = Some(distance).filter(|distance| distance.is_finite());
        let known = azimuth.is_finite() && elevation.is_finite();
        Self {
            at: Timestamp::from_nanos(packed.at),
            bbox: Rect { x, y, w, h },
            score: packed.score,
            bearing: known.then_some(Bearing { azimuth, elevation, distance }),
        }
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        Sighting::from(self) == Sighting::from(other)
    }
}

impl Sightings {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last one.
    #[must_use]
    pub fn last(&self) -> Option<Sighting> {
        self.0.last().map(Sighting::from)
    }

    /// Each, in order of time.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Sighting> + ExactSizeIterator + '_ {
        self.0.iter().map(Sighting::from)
    }

    pub(in crate::memory) fn packed(&self) -> &[Packed] {
        &self.0
    }
}

impl From<Slice<Packed>> for Sightings {
    fn from(slice: Slice<Packed>) -> Self {
        Self(slice.into())
    }
}

impl From<&[Sighting]> for Sightings {
    fn from(sightings: &[Sighting]) -> Self {
        sightings.iter().copied().collect()
    }
}

impl FromIterator<Sighting> for Sightings {
    fn from_iter<I: IntoIterator<Item = Sighting>>(sightings: I) -> Self {
        Self(sightings.into_iter().map(|sighting| Packed::from(&sighting)).collect())
    }
}

impl fmt::Debug for Sightings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Sightings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Sightings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Sighting>::deserialize(deserializer).map(|sightings| sightings.as_slice().into())
    }
}
