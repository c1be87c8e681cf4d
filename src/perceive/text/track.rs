//! Following texts: what is read at one place is one percept, however often it is read.
//!
//! Readings of one text differ by a letter now and then. Each has a vote as strong as it was sure; what most votes are for
//! is what it says, by then.

use serde::{Deserialize, Serialize};

use super::TextBlock;
use crate::geometry::Rect;
use crate::ids::{SourceId, TrackId};
use crate::perceive::camera_motion::CameraShift;
use crate::percept::TextTrack;
use crate::time::{Span, Timestamp};

/// Boxes that overlap so much lie at one place, intersection over union; a part of a text lies inside the whole.
const SAME_PLACE: f32 = 0.3;
const INSIDE: f32 = 0.7;
/// Two readings differ in at most this share of the longer one's letters.
const MAY_DIFFER: f64 = 0.5;
/// A text that is read once is believed if it is so sure; twice in any case.
const SURE: f32 = 0.9;
/// A text that looks do not find any more is forgotten after so long, seconds: whoever stood before it may have gone by then.
const MAX_LOST_SECS: f64 = 600.0;
/// Readings kept of one text, and texts of one camera.
const MOST_READINGS: usize = 8;
const MOST_TEXTS: usize = 64;

/// Follows the texts that one camera shows. Its state goes into checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextTracker {
    source: SourceId,
    /// From one picture to the next, seconds.
    step_secs: f64,
    next: u64,
    open: Vec<OpenText>,
    /// What ended since the last boundary.
    ended: Vec<OpenText>,
}

/// What was read, how often, and how surely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Reading {
    text: String,
    times: u32,
    /// Sum of confidences.
    votes: f32,
    surest: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenText {
    id: TrackId,
    place: Rect,
    picture: (u32, u32),
    readings: Vec<Reading>,
    /// Looks in this clip that found it: the first, the last, the surest.
    seen: Option<Seen>,
    /// Since when looks do not find it.
    lost: Option<Timestamp>,
    /// What an earlier clip told that it says.
    told: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Seen {
    first: Timestamp,
    last: Timestamp,
    best: Timestamp,
    confidence: f32,
}

impl OpenText {
    /// What it says: what most votes are for; of equals what was read first.
    fn says(&self) -> Option<&Reading> {
        self.readings.iter().reduce(|best, one| if one.votes > best.votes { one } else { best })
    }

    /// Whether a block is another reading of it.
    fn is(&self, block: &TextBlock) -> bool {
        let says = self.says().map(|reading| letters(&reading.text));
        lies_at(self.place, block.bbox)
            && says.is_some_and(|says| are_alike(&says, &letters(&block.text)))
    }

    fn read(&mut self, at: Timestamp, block: &TextBlock) {
        let (place, confidence) = (block.bbox, block.confidence);
        (self.place, self.picture, self.lost) = (place, block.picture, None);
        match self.readings.iter_mut().find(|reading| reading.text == block.text) {
            Some(reading) => {
                reading.times += 1;
                reading.votes += confidence;
                reading.surest = reading.surest.max(confidence);
            }
            None => {
                let text = block.text.clone();
                let reading = Reading { text, times: 1, votes: confidence, surest: confidence };
                self.readings.push(reading);
                if self.readings.len() > MOST_READINGS
                    && let Some(least) = (0..MOST_READINGS)
                        .min_by(|a, b| self.readings[*a].votes.total_cmp(&self.readings[*b].votes))
                {
                    self.readings.remove(least);
                }
            }
        }
        let seen = self.seen.get_or_insert(Seen { first: at, last: at, best: at, confidence });
        seen.last = at;
        if confidence > seen.confidence {
            (seen.best, seen.confidence) = (at, confidence);
        }
    }

    /// What the clip gets of it; `None` where it was not read there, or is not believed.
    fn percept(&self, source: &SourceId, step_secs: f64, end: Timestamp) -> Option<TextTrack> {
        let (seen, says) = (self.seen?, self.says()?);
        if says.times < 2 && says.surest < SURE {
            return None;
        }
        let all: f32 = self.readings.iter().map(|reading| reading.votes).sum();
        let mean = says.votes / says.times as f32;
        let until = seen.last.plus_secs(step_secs).min(end).max(seen.last);
        Some(TextTrack {
            id: self.id,
            source: source.clone(),
            span: Span::new(seen.first, until),
            text: says.text.clone(),
            confidence: (mean * says.votes / all).clamp(0.0, 1.0),
            place: self.place,
            picture: self.picture,
            readings: self.readings.iter().map(|reading| reading.times).sum(),
            best_at: seen.best,
            continued: self.told.as_ref() == Some(&says.text),
        })
    }
}

impl TextTracker {
    /// Of a camera that is analysed so often.
    #[must_use]
    pub fn new(source: SourceId, analyse_fps: f64) -> Self {
        let step_secs = 1.0 / analyse_fps.max(0.1);
        Self { source, step_secs, next: 1, open: Vec::new(), ended: Vec::new() }
    }

    /// Another scene is seen: what was read in the one before has ended.
    pub fn cut(&mut self) {
        self.ended.append(&mut self.open);
    }

    /// The camera moved: what is read stands elsewhere in the picture, or out of it.
    pub fn shift(&mut self, shift: CameraShift) {
        for text in &mut self.open {
            (text.place.x, text.place.y) = (text.place.x + shift.x, text.place.y + shift.y);
        }
    }

    /// What a look found.
    pub fn follow(&mut self, at: Timestamp, blocks: &[TextBlock]) {
        let mut found = vec![false; self.open.len()];
        for block in blocks {
            let same = (0..found.len()).find(|known| !found[*known] && self.open[*known].is(block));
            match same {
                Some(known) => {
                    found[known] = true;
                    self.open[known].read(at, block);
                }
                None => self.begin(at, block),
            }
        }
        let replaced = |text: &OpenText| {
            // Something else is read where it was.
            text.seen.is_none_or(|seen| seen.last < at)
                && blocks.iter().any(|block| lies_at(text.place, block.bbox))
        };
        let mut kept = Vec::new();
        for mut text in std::mem::take(&mut self.open) {
            let is_read = text.seen.is_some_and(|seen| seen.last == at);
            let lost = *text.lost.get_or_insert(at);
            if is_read {
                text.lost = None;
                kept.push(text);
            } else if replaced(&text) || at.secs_since(lost) > MAX_LOST_SECS {
                self.ended.push(text);
            } else {
                kept.push(text);
            }
        }
        while kept.len() > MOST_TEXTS {
            let least = (0..kept.len()).min_by_key(|at| (kept[*at].lost.is_none(), *at));
            self.ended.push(kept.remove(least.unwrap_or(0)));
        }
        self.open = kept;
    }

    fn begin(&mut self, at: Timestamp, block: &TextBlock) {
        let mut text = OpenText {
            id: TrackId(self.next),
            place: block.bbox,
            picture: block.picture,
            readings: Vec::new(),
            seen: None,
            lost: None,
            told: None,
        };
        self.next += 1;
        text.read(at, block);
        self.open.push(text);
    }

    /// The texts that were read in the clip that ends at `end`; what stays goes on under its number.
    pub fn seal(&mut self, end: Timestamp) -> Vec<TextTrack> {
        let ended = std::mem::take(&mut self.ended);
        let (source, step_secs) = (&self.source, self.step_secs);
        let percept = |text: &OpenText| text.percept(source, step_secs, end);
        let mut found: Vec<TextTrack> =
            ended.iter().chain(&self.open).filter_map(percept).collect();
        found.sort_by_key(|text| (text.span.start, text.id));
        for text in &mut self.open {
            if let Some(track) = text.percept(source, step_secs, end) {
                text.told = Some(track.text);
            }
            text.seen = None;
        }
        found
    }
}

/// Whether two boxes are of one place.
fn lies_at(a: Rect, b: Rect) -> bool {
    let least = a.area().min(b.area());
    a.iou(b) >= SAME_PLACE || a.intersection_area(b) >= INSIDE * least && least > 0.0
}

/// Letters and digits of a text, lower case: spaces come and go.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether two readings may be of one text: by their edit distance, unless each has another number in it (a display counts
/// on), or since one is part of the other (of a text that somebody stands before).
fn are_alike(a: &str, b: &str) -> bool {
    let longer = a.chars().count().max(b.chars().count()) as f64;
    let part = |a: &str, b: &str| a.chars().count() >= 2 && b.contains(a);
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let (of_a, of_b) = (digits(a), digits(b));
    let other_number = !of_a.is_empty() && !of_b.is_empty() && of_a != of_b;
    let near = strsim::levenshtein(a, b) as f64 <= MAY_DIFFER * longer;
    part(a, b) || part(b, a) || near && !other_number
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn block(x: f32, text: &str, confidence: f32) -> TextBlock {
        let bbox = Rect { x, y: 100.0, w: 90.0, h: 30.0 };
        TextBlock { bbox, text: text.to_owned(), confidence, picture: (640, 480) }
    }

    fn tracker() -> TextTracker {
        TextTracker::new(SourceId::new("door"), 5.0)
    }

    fn told(tracks: &[TextTrack]) -> Vec<(u64, &str, bool, u32)> {
        tracks.iter().map(|t| (t.id.0, t.text.as_str(), t.continued, t.readings)).collect()
    }

    #[test]
    fn a_sign_is_one_percept_and_says_what_most_readings_say() {
        let mut tracker = tracker();
        tracker.follow(at(1.0), &[block(100.0, "Push t0 open", 0.7)]);
        tracker.follow(at(6.0), &[block(104.0, "Push to open", 0.97), block(400.0, "EXIT", 0.95)]);
        tracker.follow(at(11.0), &[block(102.0, "Push to open", 0.95)]);
        let tracks = tracker.seal(at(30.0));
        assert_eq!(told(&tracks), [(1, "Push to open", false, 3), (2, "EXIT", false, 1)]);
        let sign = &tracks[0];
        assert_eq!((sign.span.start, sign.best_at), (at(1.0), at(6.0)));
        assert!((0.6..0.8).contains(&sign.confidence), "one reading spoke against it: {sign:?}");
        assert!((tracks[1].confidence - 0.95).abs() < 1e-6);
        assert!(tracker.seal(at(60.0)).is_empty(), "nobody looked");
        // Somebody stands before half of it, and goes.
        tracker.follow(at(70.0), &[block(102.0, "Push", 0.99), block(400.0, "EXIT", 0.95)]);
        tracker.follow(at(75.0), &[block(102.0, "Push to open", 0.9)]);
        let tracks = tracker.seal(at(90.0));
        assert_eq!(told(&tracks), [(1, "Push to open", true, 5), (2, "EXIT", true, 2)]);
    }

    #[test]
    fn a_display_that_changes_shows_another_text_and_a_doubtful_one_is_none() {
        let mut tracker = tracker();
        tracker.follow(at(1.0), &[block(100.0, "42 Harbour", 0.95)]);
        tracker.follow(at(6.0), &[block(100.0, "7 Castle Hill", 0.95), block(300.0, "l|I", 0.6)]);
        tracker.follow(at(11.0), &[block(100.0, "7 Castle Hill", 0.95)]);
        let texts = tracker.seal(at(30.0));
        assert_eq!(told(&texts), [(1, "42 Harbour", false, 1), (2, "7 Castle Hill", false, 2)]);
        // Another scene: the same words are another sign.
        tracker.cut();
        tracker.follow(at(31.0), &[block(100.0, "7 Castle Hill", 0.95)]);
        let texts = tracker.seal(at(60.0));
        assert_eq!(told(&texts), [(4, "7 Castle Hill", false, 1)]);
    }

    #[test]
    fn another_number_is_another_text_and_a_letter_read_for_a_digit_is_not() {
        assert!(!are_alike("nowserving31", "nowserving32"));
        assert!(are_alike("pusht0open", "pushtoopen"));
        assert!(are_alike("nowserving3", "nowserving31"), "somebody stands before the rest");
        assert!(!are_alike("exit", "kitchen"));
    }

    #[test]
    fn a_checkpoint_goes_on_and_what_stays_away_is_forgotten() {
        let mut tracker = tracker();
        tracker.follow(at(1.0), &[block(100.0, "EXIT", 0.95)]);
        tracker.seal(at(30.0));
        let config = bincode::config::standard();
        let bytes = bincode::serde::encode_to_vec(&tracker, config).unwrap();
        let mut tracker: TextTracker = bincode::serde::decode_from_slice(&bytes, config).unwrap().0;
        tracker.follow(at(40.0), &[]);
        tracker.follow(at(100.0), &[block(100.0, "EXIT", 0.95)]);
        assert_eq!(told(&tracker.seal(at(120.0))), [(1, "EXIT", true, 2)]);
        tracker.follow(at(130.0), &[]);
        tracker.follow(at(800.0), &[]);
        tracker.follow(at(810.0), &[block(100.0, "EXIT", 0.95)]);
        assert_eq!(told(&tracker.seal(at(820.0))), [(2, "EXIT", false, 1)]);
    }
}
