//! Following what detectors find: the detections of consecutive frames of one camera become tracks.
//!
//! ByteTrack (Zhang et al. 2022, arXiv 2110.06864): strong detections are joined to tracks first, weak
//! ones may then continue a track but never begin one. What is followed ([`TrackPayload`]: a face, a thing) may add
//! likeness: it finds what was lost again, it is all that counts across a hard cut, and it overrules the boxes
//! when something else stands in the same place. A track may end too early; it must never hold two of a kind.

mod linear_sum_assignment;
mod motion;

use serde::{Deserialize, Serialize};

use linear_sum_assignment::linear_sum_assignment;
use motion::Motion;

use crate::camera::Bearing;
use crate::geometry::Rect;
use crate::ids::{SourceId, TrackId};
use crate::perceive::camera_motion::CameraShift;
use crate::percept::Sighting;
use crate::time::{Span, Timestamp};

/// Least overlap with the expected place: strong and weak detections (ByteTrack's 0.2 and 0.5).
const STRONG_IOU: f32 = 0.2;
const WEAK_IOU: f32 = 0.5;
/// What likeness counts beside overlap.
const LIKENESS_WEIGHT: f64 = 0.5;
/// A track that was found so often, and overlaps so much with itself one step later, is steady.
const STEADY_HITS: u32 = 5;
const STEADY_IOU: f32 = 0.85;

/// Cosines between two sightings of one camera, seconds apart, that decide whether they can be one track.
///
/// Not the thresholds of identification, which compare whole tracks over days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatingThresholds {
    /// At least this like a lost track's latest: it goes on.
    pub same: f32,
    /// Less than this like a track's latest: something else, whatever the boxes say.
    pub differ: f32,
}

/// What a tracker goes by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackerSettings {
    /// Score from which a detection may begin a track, 0–1.
    pub min_score: f32,
    /// Seconds a track survives without being seen.
    pub max_lost_secs: f64,
    /// Seconds from one frame that is looked at to the next.
    pub step_secs: f64,
    /// Who was found at most so long ago is taken to be there in frames in which nobody looked, seconds.
    pub coast_secs: f64,
    /// What the embedder's cosines mean; `None` without an embedder: boxes alone.
    pub gates: Option<GatingThresholds>,
}

/// Where a detection is, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    /// Box in px of the frame.
    pub bbox: Rect,
    /// The detector's confidence, 0–1.
    pub score: f32,
    /// Where it is, seen from a camera that is calibrated.
    pub bearing: Option<Bearing>,
}

/// A track as far as one clip shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Lasts over clip borders.
    pub id: TrackId,
    /// Which camera.
    pub source: SourceId,
    /// From the first sighting to one step after the last.
    pub span: Span,
    /// In time order.
    pub sightings: Vec<Sighting>,
    /// It began in an earlier clip.
    pub continued: bool,
}

/// A track that may still go on, as it stands.
#[derive(Debug)]
pub struct OpenTrack<'a, F> {
    /// Its id.
    pub id: TrackId,
    /// When it was seen first in the open clip.
    pub since: Timestamp,
    /// When it was seen last.
    pub last: Timestamp,
    /// What was gathered in the open clip.
    pub followed: &'a F,
    /// As in [`TrackerSettings`].
    pub step_secs: f64,
}

/// What a track knows of the one that it follows, beyond boxes.
pub trait TrackPayload: Clone {
    /// What the detector finds.
    type Detection;
    /// What a track becomes.
    type Track;

    /// Where that detection is.
    fn outline(detection: &Self::Detection) -> Outline;

    /// Whether the detection may begin a track, where one of that score may.
    fn is_strong(detection: &Self::Detection, min_score: f32) -> bool {
        Self::outline(detection).score >= min_score
    }

    /// Of the first detection, which [`Self::see`] is told of next.
    fn begin(detection: &Self::Detection) -> Self;

    /// One more detection of it.
    fn see(&mut self, at: Timestamp, detection: &Self::Detection);

    /// Whether the detection is of its kind at all; `iou`: how much it overlaps with where the track is expected.
    fn admits(&self, detection: &Self::Detection, iou: f32) -> bool;

    /// Cosine with the latest, -1–1; `None` where looks are not told.
    fn likeness(&self, detection: &Self::Detection) -> Option<f32>;

    /// Whether the detection, elsewhere and of another shape, may be the same one all the same.
    fn goes_on_as(&self, _at: Timestamp, _detection: &Self::Detection) -> bool {
        false
    }

    /// The camera moved: what stood still is elsewhere, px.
    fn shift(&mut self, _x: f32, _y: f32) {}

    /// Takes out what was gathered before the border.
    fn split(&mut self, border: Timestamp) -> Self;

    /// Whether a single sighting is no false alarm.
    fn convinces(&self) -> bool;

    /// The track; `step_secs` as in [`TrackerSettings`].
    fn track(self, part: Part, step_secs: f64) -> Self::Track;
}

/// Follows what one camera shows of one kind. Its state goes into checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tracker<F> {
    source: SourceId,
    settings: TrackerSettings,
    /// Number of the next track.
    next: u64,
    /// Tracks that may be seen again, oldest first.
    alive: Vec<Track<F>>,
    /// Tracks that ended since the last border.
    ended: Vec<Track<F>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Track<F> {
    id: TrackId,
    motion: Motion,
    /// When it was last in the picture, found there or taken to be.
    last_seen: Timestamp,
    /// When it was last found.
    found: Timestamp,
    /// A cut came since: its box tells nothing any more.
    unassociated: bool,
    /// The camera has turned away from it.
    out_of_view: bool,
    /// Frames in which it was ever seen.
    hits: u32,
    /// A part of it was given out at a border.
    published: bool,
    sightings: Vec<Sighting>,
    followed: F,
}

impl<F: TrackPayload> Tracker<F> {
    /// A tracker that has seen nothing; ids count from `track_1`.
    #[must_use]
    pub fn new(source: SourceId, settings: TrackerSettings) -> Self {
        Self { source, settings, next: 1, alive: Vec::new(), ended: Vec::new() }
    }

    /// Takes the detections of the next frame of this camera that was looked at; `cut`: it shows another scene than
    /// the analysed frame before it. Frames must come in time order.
    pub fn follow<'d>(
        &mut self,
        at: Timestamp,
        cut: bool,
        detections: impl IntoIterator<Item = &'d F::Detection>,
    ) where
        F::Detection: 'd,
    {
        self.retire(at);
        if cut {
            self.cut();
        }
        let (strong, weak): (Vec<&F::Detection>, Vec<&F::Detection>) = detections
            .into_iter()
            .partition(|detection| F::is_strong(detection, self.settings.min_score));

        let in_place: Vec<usize> =
            (0..self.alive.len()).filter(|&i| !self.alive[i].unassociated).collect();
        let strong = self.join(at, &in_place, strong, |tracker, track, detection| {
            tracker.overlap(track, detection, at, STRONG_IOU)
        });
        // Only what was there a moment ago is held by a weak detection.
        let held: Vec<usize> = in_place
            .into_iter()
            .filter(|&i| {
                let unseen = at.secs_since(self.alive[i].last_seen);
                unseen > 0.0 && unseen <= 1.5 * self.settings.step_secs
            })
            .collect();
        self.join(at, &held, weak, |tracker, track, detection| {
            tracker.overlap(track, detection, at, WEAK_IOU)
        });
        let unseen: Vec<usize> =
            (0..self.alive.len()).filter(|&i| self.alive[i].last_seen < at).collect();
        let strangers = self.join(at, &unseen, strong, |tracker, track, detection| {
            let likeness = track.followed.likeness(detection)?;
            let same = likeness >= tracker.settings.gates?.same;
            (same || track.followed.goes_on_as(at, detection)).then_some(f64::from(likeness))
        });
        for detection in strangers {
            let id = TrackId(self.next);
            self.next += 1;
            self.alive.push(Track::begin(id, at, detection));
        }
    }

    /// The camera moved since the frame before: all that is followed is expected elsewhere in the picture.
    pub fn shift(&mut self, shift: CameraShift) {
        for track in &mut self.alive {
            track.motion.shift(shift.x, shift.y);
            track.followed.shift(shift.x, shift.y);
            track.out_of_view = !shift.shows(track.motion.expected(0.0).centre());
        }
    }

    /// The picture shows another scene from here on: boxes tell nothing any more.
    pub fn cut(&mut self) {
        for track in &mut self.alive {
            track.unassociated = true;
        }
    }

    /// Takes the next analysed frame, in which nobody looked: who was there a moment ago is taken to be where he would be
    /// by now. After a cut nobody is.
    pub fn coast(&mut self, at: Timestamp, cut: bool) {
        self.retire(at);
        for track in &mut self.alive {
            track.unassociated |= cut;
            let unseen = at.secs_since(track.last_seen);
            let lost = unseen > 1.5 * self.settings.step_secs;
            if track.unassociated
                || track.out_of_view
                || unseen <= 0.0
                || lost
                || at.secs_since(track.found) > self.settings.coast_secs
            {
                continue;
            }
            let Some(last) = track.sightings.last() else { continue };
            let bbox = track.motion.expected(at.secs_since(track.found));
            track.sightings.push(Sighting { at, bbox, score: last.score, bearing: last.bearing });
            track.last_seen = at;
        }
    }

    /// Whether everything that is followed was there at `at`, is known for a while, and hardly moves. An empty scene is
    /// steady.
    #[must_use]
    pub fn steady(&self, at: Timestamp) -> bool {
        self.alive.iter().all(|track| {
            let now = track.motion.expected(at.secs_since(track.found));
            let next = track.motion.expected(at.secs_since(track.found) + self.settings.step_secs);
            track.last_seen == at
                && !track.unassociated
                && track.hits >= STEADY_HITS
                && now.iou(next) >= STEADY_IOU
        })
    }

    /// All that is followed and where it is at `at`, or where it should be by then.
    #[must_use]
    pub fn places_at(&self, at: Timestamp) -> Vec<(TrackId, Rect)> {
        let place = |track: &Track<F>| match track.sightings.last() {
            Some(last) if last.at == at => last.bbox,
            _ => track.motion.expected(at.secs_since(track.found)),
        };
        let known = self.alive.iter().filter(|track| !track.unassociated);
        known.map(|track| (track.id, place(track))).collect()
    }

    /// Ends everything that is followed.
    pub fn end_all(&mut self) {
        self.ended.append(&mut self.alive);
    }

    /// Ends a track; what is seen there from now on is another.
    pub fn end(&mut self, id: TrackId) {
        if let Some(place) = self.alive.iter().position(|track| track.id == id) {
            self.ended.push(self.alive.remove(place));
        }
    }

    /// Ends a track and goes on with what is seen there under a new id, which is given back; `change` is told of what the new
    /// one knows. `None`: there is no such track.
    pub fn renew(
        &mut self,
        id: TrackId,
        at: Timestamp,
        change: impl FnOnce(&mut F),
    ) -> Option<TrackId> {
        let place = self.alive.iter().position(|track| track.id == id)?;
        let mut new = self.alive[place].clone();
        (new.id, new.published) = (TrackId(self.next), false);
        self.next += 1;
        // What is seen now is the new one's: what came before it is known whose it was.
        let old = &mut self.alive[place];
        new.sightings = old.sightings.pop_if(|last| last.at == at).into_iter().collect();
        change(&mut new.followed);
        let id = new.id;
        let old = std::mem::replace(old, new);
        self.ended.push(old);
        Some(id)
    }

    /// What is known of each that is followed.
    pub fn followed(&self) -> impl Iterator<Item = &F> {
        self.alive.iter().map(|track| &track.followed)
    }

    /// Whether nothing is followed, seen or out of sight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.alive.is_empty()
    }

    /// The tracks that were in the frame of `at`, the last one taken, and where.
    #[must_use]
    pub fn seen_at(&self, at: Timestamp) -> Vec<(TrackId, Rect)> {
        let latest = |track: &Track<F>| {
            let last = track.sightings.last().filter(|last| last.at == at)?;
            Some((track.id, last.bbox))
        };
        self.alive.iter().filter_map(latest).collect()
    }

    /// Joins detections to tracks (indices into `alive`) for the greatest sum of `value`; gives back those left over.
    fn join<'d>(
        &mut self,
        at: Timestamp,
        tracks: &[usize],
        detections: Vec<&'d F::Detection>,
        value: impl Fn(&Self, &Track<F>, &F::Detection) -> Option<f64>,
    ) -> Vec<&'d F::Detection> {
        let tracks: Vec<usize> =
            tracks.iter().copied().filter(|&i| self.alive[i].last_seen < at).collect();
        let pairs = linear_sum_assignment(tracks.len(), detections.len(), |row, column| {
            value(self, &self.alive[tracks[row]], detections[column])
        });
        let mut taken = vec![false; detections.len()];
        for (row, column) in pairs {
            self.alive[tracks[row]].see(at, detections[column]);
            taken[column] = true;
        }
        detections.into_iter().zip(taken).filter(|(_, taken)| !taken).map(|(one, _)| one).collect()
    }

    /// How well a detection fits the place where the track is expected; `None` when it does not, or when it
    /// is something else.
    fn overlap(
        &self,
        track: &Track<F>,
        detection: &F::Detection,
        at: Timestamp,
        least: f32,
    ) -> Option<f64> {
        let bbox = F::outline(detection).bbox;
        let iou = track.motion.expected(at.secs_since(track.found)).iou(bbox);
        if iou < least || !track.followed.admits(detection, iou) {
            return None;
        }
        let likeness = match (self.settings.gates, track.followed.likeness(detection)) {
            (Some(gates), Some(likeness)) if likeness < gates.differ => return None,
            (Some(_), Some(likeness)) => likeness,
            (Some(gates), None) => gates.same,
            (None, _) => 0.0,
        };
        Some(f64::from(iou) + LIKENESS_WEIGHT * f64::from(likeness))
    }

    /// Ends the tracks that were not seen for too long.
    fn retire(&mut self, now: Timestamp) {
        let lost = |track: &Track<F>| now.secs_since(track.last_seen) > self.settings.max_lost_secs;
        let (ended, alive) = std::mem::take(&mut self.alive).into_iter().partition(lost);
        self.alive = alive;
        self.ended
            .extend(Vec::into_iter(ended).filter(|track: &Track<F>| !track.sightings.is_empty()));
    }

    /// Gives out what every track did before `border` and forgets it; open tracks go on under their ids.
    ///
    /// A track that was seen once only, and [not well](TrackPayload::convinces), is taken for a false alarm and
    /// left out. In canonical order: start, then id.
    pub fn seal(&mut self, border: Timestamp) -> Vec<F::Track> {
        let step_secs = self.settings.step_secs;
        let mut sealed: Vec<(Part, F)> = Vec::new();
        for track in self.ended.iter_mut().chain(&mut self.alive) {
            let keep = track.sightings.partition_point(|sighting| sighting.at < border);
            let later = track.sightings.split_off(keep);
            let sightings = std::mem::replace(&mut track.sightings, later);
            let before = track.followed.split(border);
            let false_alarm = track.hits == 1 && !before.convinces();
            if sightings.is_empty() || false_alarm {
                continue;
            }
            sealed.push((track.part(&self.source, sightings, border, step_secs), before));
            track.published = true;
        }
        self.ended.retain(|track| !track.sightings.is_empty());
        in_order(sealed, step_secs)
    }

    /// The open clip's tracks that may still go on, as far as they are known: for the live view. In canonical order: start,
    /// then id. Nothing of them is copied, however long they are.
    #[must_use]
    pub fn open(&self) -> Vec<OpenTrack<'_, F>> {
        let of = |track: &'_ Track<F>| {
            let (first, last) = (track.sightings.first()?.at, track.sightings.last()?.at);
            Some((track.id, first, last))
        };
        let mut open: Vec<OpenTrack<'_, F>> = self
            .alive
            .iter()
            .filter_map(|track| {
                let (id, since, last) = of(track)?;
                let (followed, step_secs) = (&track.followed, self.settings.step_secs);
                Some(OpenTrack { id, since, last, followed, step_secs })
            })
            .collect();
        open.sort_by_key(|track| (track.since, track.id));
        open
    }
}

/// Canonical order: start, then id.
fn in_order<F: TrackPayload>(mut parts: Vec<(Part, F)>, step_secs: f64) -> Vec<F::Track> {
    parts.sort_by_key(|(part, _)| (part.span.start, part.id));
    parts.into_iter().map(|(part, followed)| followed.track(part, step_secs)).collect()
}

impl<F: TrackPayload> Track<F> {
    fn begin(id: TrackId, at: Timestamp, detection: &F::Detection) -> Self {
        let mut track = Self {
            id,
            motion: Motion::at_rest(F::outline(detection).bbox),
            last_seen: at,
            found: at,
            unassociated: false,
            out_of_view: false,
            hits: 0,
            published: false,
            sightings: Vec::new(),
            followed: F::begin(detection),
        };
        track.record(at, detection);
        track
    }

    /// Continues with a detection of a later frame.
    fn see(&mut self, at: Timestamp, detection: &F::Detection) {
        let bbox = F::outline(detection).bbox;
        let unseen = at.secs_since(self.found);
        let jumped = self.motion.expected(unseen).iou(bbox) < STRONG_IOU;
        if self.unassociated || jumped {
            self.motion = Motion::at_rest(bbox);
        } else {
            self.motion.seen(bbox, unseen);
        }
        (self.unassociated, self.out_of_view) = (false, false);
        (self.last_seen, self.found) = (at, at);
        self.record(at, detection);
    }

    fn record(&mut self, at: Timestamp, detection: &F::Detection) {
        self.hits += 1;
        let Outline { bbox, score, bearing } = F::outline(detection);
        self.sightings.push(Sighting { at, bbox, score, bearing });
        self.followed.see(at, detection);
    }

    fn part(
        &self,
        source: &SourceId,
        sightings: Vec<Sighting>,
        border: Timestamp,
        step_secs: f64,
    ) -> Part {
        let start = sightings.first().map_or(self.last_seen, |sighting| sighting.at);
        let last = sightings.last().map_or(self.last_seen, |sighting| sighting.at);
        let span = Span::new(start, last.plus_secs(step_secs).min(border));
        let (source, continued) = (source.clone(), self.published);
        Part { id: self.id, source, span, sightings, continued }
    }
}
