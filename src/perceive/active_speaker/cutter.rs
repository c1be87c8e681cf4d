//! Mouth crops at the camera's own rate, while faces are looked for in a few frames per second only.
//!
//! The frames between two analysed ones wait for the second (a fraction of a second); then every track that was seen in
//! both is cut out of each of them, its box interpolated in time. The frames go, the crops stay.

use serde::{Deserialize, Serialize};

use super::Crop;
use super::crop::{Gray, crop};
use crate::capture::imaging::picture::to_rgb;
use crate::geometry::Rect;
use crate::ids::TrackId;
use crate::media::Frame;
use crate::time::Timestamp;

/// Faces per camera that are cut at most at one time: the largest.
const MOST_FACES: usize = 4;
/// A face smaller than this, shorter side, shows no lips, px.
const MIN_FACE_PX: f32 = 32.0;
/// Analysed frames further apart tell nothing about the frames between them, seconds.
const MAX_GAP_SECS: f64 = 0.7;

/// A crop and whose face it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutTrack {
    /// The track.
    pub track: TrackId,
    /// The crop.
    pub crop: Crop,
}

/// Cuts the crops of one camera. Its state goes into checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MouthCutter {
    /// The last analysed frame: its time, and who was seen where.
    last: Option<(Timestamp, Vec<(TrackId, Rect)>)>,
}

impl MouthCutter {
    /// Takes the next analysed frame's tracks with their boxes, and the frames since the one before, this one included, in
    /// time order; gives the crops in time order. After a hard cut nothing is interpolated.
    ///
    /// A frame that cannot be decoded gives none.
    pub fn step(
        &mut self,
        at: Timestamp,
        seen: Vec<(TrackId, Rect)>,
        cut: bool,
        frames: &[Frame],
    ) -> Vec<CutTrack> {
        let mut ranked = seen.clone();
        ranked.retain(|(_, bbox)| bbox.w.min(bbox.h) >= MIN_FACE_PX);
        ranked.sort_by(|(a, x), (b, y)| y.area().total_cmp(&x.area()).then(a.cmp(b)));
        ranked.truncate(MOST_FACES);
        ranked.sort_by_key(|(track, _)| *track);
        let before = self.last.replace((at, seen));
        let before = before.filter(|(then, _)| !cut && at.secs_since(*then) <= MAX_GAP_SECS);
        let mut crops = Vec::new();
        for frame in frames {
            let boxes: Vec<(TrackId, Rect)> = ranked
                .iter()
                .filter_map(|(track, bbox)| {
                    if frame.at == at {
                        return Some((*track, *bbox));
                    }
                    let (then, seen) = before.as_ref()?;
                    let (_, from) = seen.iter().find(|(other, _)| other == track)?;
                    Some((*track, between((*then, *from), (at, *bbox), frame.at)?))
                })
                .collect();
            crops.extend(cut_out(frame, &boxes));
        }
        crops
    }
}

/// The box at a time between two sightings; `None` outside.
fn between(from: (Timestamp, Rect), to: (Timestamp, Rect), at: Timestamp) -> Option<Rect> {
    let whole = to.0.secs_since(from.0);
    let share = (at.secs_since(from.0) / whole) as f32;
    if !(0.0..=1.0).contains(&share) {
        return None;
    }
    let mix = |a: f32, b: f32| a + share * (b - a);
    let (a, b) = (from.1, to.1);
    Some(Rect { x: mix(a.x, b.x), y: mix(a.y, b.y), w: mix(a.w, b.w), h: mix(a.h, b.h) })
}

fn cut_out(frame: &Frame, boxes: &[(TrackId, Rect)]) -> Vec<CutTrack> {
    if boxes.is_empty() {
        return Vec::new();
    }
    let decoded;
    let gray = match Gray::of(&frame.picture, frame.width, frame.height) {
        Some(gray) => gray,
        None => match to_rgb(frame) {
            Ok(picture) => {
                decoded = picture;
                Gray::of_rgb(&decoded)
            }
            // The analysed frames of a source that cannot be decoded are counted; these are not needed.
            Err(_) => return Vec::new(),
        },
    };
    boxes
        .iter()
        .map(|(track, bbox)| CutTrack { track: *track, crop: crop(&gray, *bbox, frame.at) })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::SourceId;
    use crate::media::Picture;

    const ANNA: TrackId = TrackId(1);
    const BEN: TrackId = TrackId(2);

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    /// A bright square of 60 px at `x`, on black.
    fn frame(secs: f64, x: usize) -> Frame {
        let inside = |n: usize| (x..x + 60).contains(&(n % 320)) && (50..110).contains(&(n / 320));
        let rgb: Vec<u8> =
            (0..320 * 200).flat_map(|n| [if inside(n) { 200 } else { 0 }; 3]).collect();
        Frame {
            source: SourceId::new("camera"),
            at: at(secs),
            number: 0,
            width: 320,
            height: 200,
            picture: Picture::Rgb8(Arc::from(rgb)),
        }
    }

    fn face(x: f32) -> Rect {
        Rect { x, y: 50.0, w: 60.0, h: 60.0 }
    }

    #[test]
    fn a_box_is_interpolated_in_time() {
        let mut cutter = MouthCutter::default();
        let first = cutter.step(at(0.0), vec![(ANNA, face(20.0))], false, &[frame(0.0, 20)]);
        assert_eq!(first.len(), 1);
        // The face moves by 10 px per frame of 40 ms; the crops stay on it.
        let frames: Vec<Frame> =
            (1..=5).map(|n| frame(0.04 * f64::from(n), 20 + 10 * n as usize)).collect();
        let cut = cutter.step(at(0.2), vec![(ANNA, face(70.0))], false, &frames);
        assert_eq!(cut.len(), 5);
        for (cut, frame) in cut.iter().zip(&frames) {
            assert_eq!((cut.track, cut.crop.at), (ANNA, frame.at));
            let pairs = cut.crop.pixels.iter().zip(first[0].crop.pixels.iter());
            assert!(pairs.map(|(a, b)| a.abs_diff(*b)).max() <= Some(1), "{:?}", frame.at);
        }
    }

    #[test]
    fn nothing_is_interpolated_over_a_cut_a_gap_or_for_who_came_only_now() {
        let frames = [frame(0.16, 20), frame(0.2, 20)];
        let known = || {
            let mut cutter = MouthCutter::default();
            cutter.step(at(0.0), vec![(ANNA, face(20.0))], false, &[]);
            cutter
        };
        assert_eq!(known().step(at(0.2), vec![(ANNA, face(20.0))], false, &frames).len(), 2);
        let times = |cut: Vec<CutTrack>| cut.iter().map(|c| c.crop.at).collect::<Vec<_>>();
        let after = known().step(at(0.2), vec![(ANNA, face(20.0))], true, &frames);
        assert_eq!(times(after), [at(0.2)]);
        let newcomer = known().step(at(0.2), vec![(BEN, face(20.0))], false, &frames);
        assert_eq!(times(newcomer), [at(0.2)]);
        let late = [frame(0.9, 20), frame(1.0, 20)];
        let gap = known().step(at(1.0), vec![(ANNA, face(20.0))], false, &late);
        assert_eq!(times(gap), [at(1.0)]);
        assert!(known().step(at(0.2), vec![], false, &frames).is_empty());
    }

    #[test]
    fn only_the_largest_faces_are_cut_and_tiny_ones_never() {
        let seen: Vec<(TrackId, Rect)> = (0..8)
            .map(|n| {
                let side = 20.0 + 10.0 * n as f32;
                (TrackId(n), Rect { x: 10.0 * n as f32, y: 20.0, w: side, h: side })
            })
            .collect();
        let cut = MouthCutter::default().step(at(0.0), seen.clone(), false, &[frame(0.0, 20)]);
        let tracks: Vec<u64> = cut.iter().map(|cut| cut.track.0).collect();
        assert_eq!(tracks, [4, 5, 6, 7]);
        let few =
            MouthCutter::default().step(at(0.0), seen[..3].to_vec(), false, &[frame(0.0, 20)]);
        assert_eq!(few.iter().map(|cut| cut.track.0).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_frame_that_is_no_picture_gives_nothing() {
        let mut broken = frame(0.0, 20);
        broken.picture = Picture::Encoded(b"no jpeg".as_slice().into());
        let cut = MouthCutter::default().step(at(0.0), vec![(ANNA, face(20.0))], false, &[broken]);
        assert!(cut.is_empty());
    }

    #[test]
    fn a_state_that_was_kept_goes_on() {
        let mut whole = MouthCutter::default();
        whole.step(at(0.0), vec![(ANNA, face(20.0))], false, &[]);
        let layout = bincode::config::standard();
        let bytes = bincode::serde::encode_to_vec(&whole, layout).unwrap();
        let (mut resumed, _): (MouthCutter, usize) =
            bincode::serde::decode_from_slice(&bytes, layout).unwrap();
        let frames = [frame(0.1, 20), frame(0.2, 20)];
        let seen = vec![(ANNA, face(24.0))];
        assert_eq!(
            resumed.step(at(0.2), seen.clone(), false, &frames),
            whole.step(at(0.2), seen, false, &frames)
        );
    }
}
