//! A second look at where one voice may follow another, once the clip's voices are known.
//!
//! The windows that find the voices are longer than many a reply. Shorter ones tell less, but enough to choose among voices
//! that are known. They are looked at around pauses inside the turns, where a change costs less, and around the borders
//! that the long windows found; how many there may be is set, since each costs half as much as a long one. A network that
//! [hears parts at once](SpeakerEmbedder::hears_parts_at_once) has them for nothing and looks everywhere: a reply may come
//! without a pause.

use std::ops::Range;

use super::clusters::{Clusters, Run, cosines, lead, runs, smooth};
use super::pauses::pauses;
use super::segment::{ReclusterSettings, SpeechSegment, steps};
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::segment::turns::STEP;
use crate::perceive::voice::{SpeakerEmbedder, VoiceError};

/// Length of a window, and from one to the next, samples: 0.6 and 0.1 s.
const WINDOW: usize = 60 * STEP;
const HOP: usize = 10 * STEP;
/// The shortest pause at which somebody else may begin, seconds.
const LEAST_PAUSE_SECS: f64 = 0.15;
/// So much is looked at before and after a pause, and around a border, seconds.
const AROUND_PAUSE_SECS: f64 = 1.2;
const AROUND_BORDER_SECS: f64 = 0.8;
/// What a change of voice costs, in windows of mean lead: elsewhere, and where a pause is within half a window.
const SWITCH: f32 = 3.0;
const SWITCH_AT_PAUSE: f32 = 1.0;
/// Shorter speech of another voice inside that of one is taken for its own, samples: 0.4 s.
const LEAST_PART: usize = 40 * STEP;

/// What is looked at again, `[start, end)` in samples of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    stretch: usize,
    start: usize,
    end: usize,
    /// How long the pause is, samples; 0 for a border.
    pause: usize,
}

/// Moves the borders of `found` (runs of each stretch) to where short windows see them and cuts out short replies.
///
/// # Errors
/// What the embedder gives.
pub(super) fn refine(
    found: &mut [Vec<Run>],
    stretches: &[SpeechSegment],
    clusters: &Clusters,
    finder: &mut dyn SpeakerEmbedder,
    settings: &ReclusterSettings,
) -> Result<(), VoiceError> {
    let silent: Vec<Vec<(usize, usize)>> =
        stretches.iter().map(|stretch| pauses(stretch, LEAST_PAUSE_SECS)).collect();
    let samples: usize = found.iter().filter_map(|runs| runs.last()).map(|run| run.1).sum();
    let secs = samples as f64 / f64::from(SAMPLE_RATE);
    let everywhere = finder.hears_parts_at_once();
    let places = if everywhere {
        whole(found)
    } else {
        chosen(places(found, &silent), (secs * settings.fine_per_sec) as usize)
    };
    let voices = clusters.centroids.len();
    let mut seen: Vec<Vec<f32>> = Vec::with_capacity(places.len());
    for place in &places {
        let starts = (place.start..place.end.saturating_sub(WINDOW - 1)).step_by(HOP);
        let parts: Vec<Range<usize>> = starts.map(|start| start..start + WINDOW).collect();
        let vectors = finder.embed_parts(&stretches[place.stretch].sound, &parts)?;
        let windows: Vec<&[f32]> = vectors.iter().map(|vector| vector.values.as_slice()).collect();
        seen.push(cosines(&windows, &clusters.centroids));
    }
    let windows = seen.iter().flat_map(|near| near.chunks_exact(voices));
    let leads: Vec<f32> = windows.map(lead).collect();
    tracing::debug!(places = places.len(), windows = leads.len(), "looked at again");
    let scale = (leads.iter().sum::<f32>() / leads.len().max(1) as f32).max(1e-6);
    for (place, near) in places.iter().zip(&seen) {
        let runs_of = &mut found[place.stretch];
        let edges = [voice_at(runs_of, place.start), voice_at(runs_of, place.end - 1)];
        // Nothing is known of what is before and behind a whole stretch.
        let edges = (!everywhere).then_some(edges);
        let penalty = |n: usize| {
            let border = place.start + n * HOP + (WINDOW - HOP) / 2;
            let near = |pause: &(usize, usize)| {
                pause.0 <= border + WINDOW / 2 && border <= pause.1 + WINDOW / 2
            };
            if silent[place.stretch].iter().any(near) { SWITCH_AT_PAUSE } else { SWITCH }
        };
        let states = smooth(near, voices, scale, penalty, edges);
        let parts = runs(&states, place.end - place.start, WINDOW, HOP);
        *runs_of = replaced(runs_of, *place, &without_bits(parts));
    }
    Ok(())
}

/// The whole of every stretch that has room for a window.
fn whole(found: &[Vec<Run>]) -> Vec<Place> {
    let place = |(stretch, runs): (usize, &Vec<Run>)| {
        let place = Place { stretch, start: 0, end: runs.last()?.1, pause: 0 };
        (windows_in(&place) > 0).then_some(place)
    };
    found.iter().enumerate().filter_map(place).collect()
}

/// Around pauses and borders, as far as there is sound.
fn places(found: &[Vec<Run>], silent: &[Vec<(usize, usize)>]) -> Vec<Place> {
    let mut places = Vec::new();
    for (stretch, (runs, silent)) in found.iter().zip(silent).enumerate() {
        let Some(length) = runs.last().map(|run| run.1) else { continue };
        let mut around = |(start, end): (usize, usize), secs: f64| {
            let reach = steps(secs) * STEP;
            let place = Place {
                stretch,
                start: start.saturating_sub(reach),
                end: (end + reach).min(length),
                pause: end - start,
            };
            places.push(place);
        };
        for pause in silent {
            around(*pause, AROUND_PAUSE_SECS);
        }
        for run in runs.iter().skip(1) {
            around((run.0, run.0), AROUND_BORDER_SECS);
        }
    }
    places
}

/// The longest pauses first, then borders, as long as they have at most so many windows; in order, those that overlap as one.
fn chosen(mut places: Vec<Place>, most: usize) -> Vec<Place> {
    places.sort_by_key(|place| (std::cmp::Reverse(place.pause), place.stretch, place.start));
    let mut left = most;
    places.retain(|place| {
        let windows = windows_in(place);
        let fits = windows > 0 && windows <= left;
        if fits {
            left -= windows;
        }
        fits
    });
    places.sort_by_key(|place| (place.stretch, place.start, place.end));
    places.dedup_by(|later, earlier| {
        let one = later.stretch == earlier.stretch && later.start <= earlier.end;
        if one {
            earlier.end = earlier.end.max(later.end);
        }
        one
    });
    places
}

fn windows_in(place: &Place) -> usize {
    (place.end - place.start).checked_sub(WINDOW).map_or(0, |rest| rest / HOP + 1)
}

/// Whose voice a sample is.
fn voice_at(runs: &[Run], sample: usize) -> u8 {
    runs.iter().find(|run| sample < run.1).or(runs.last()).map_or(0, |run| run.2)
}

/// Short parts between others are what comes before them.
fn without_bits(mut parts: Vec<Run>) -> Vec<Run> {
    for n in 1..parts.len().saturating_sub(1) {
        if parts[n].1 - parts[n].0 < LEAST_PART {
            parts[n].2 = parts[n - 1].2;
        }
    }
    parts
}

/// Runs with other ones in a place, `parts` counted from its start.
fn replaced(runs: &[Run], place: Place, parts: &[Run]) -> Vec<Run> {
    if parts.is_empty() {
        return runs.to_vec();
    }
    let before = runs.iter().map(|run| (run.0, run.1.min(place.start), run.2));
    let inside = parts.iter().map(|part| (part.0 + place.start, part.1 + place.start, part.2));
    let after = runs.iter().map(|run| (run.0.max(place.end), run.1, run.2));
    let mut found: Vec<Run> = Vec::new();
    for run in before.chain(inside).chain(after).filter(|run| run.0 < run.1) {
        match found.last_mut() {
            Some(last) if last.2 == run.2 => last.1 = run.1,
            _ => found.push(run),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: usize, end: usize, pause: usize) -> Place {
        Place { stretch: 0, start: start * STEP, end: end * STEP, pause: pause * STEP }
    }

    #[test]
    fn no_more_windows_are_looked_at_than_there_may_be() {
        let border = place(500, 660, 0);
        let (short, long) = (place(0, 200, 15), place(100, 300, 40));
        let all = vec![border, short, long];
        assert_eq!(windows_in(&border), 11);
        assert!(chosen(all.clone(), 0).is_empty());
        assert_eq!(chosen(all.clone(), 16), [long]);
        // those that overlap are one
        assert_eq!(chosen(all, 100), [place(0, 300, 15), border]);
        assert!(chosen(vec![place(0, 59, 20)], 100).is_empty(), "no window has room");
    }

    #[test]
    fn the_whole_of_every_stretch_with_room_for_a_window_can_be_looked_at() {
        let long = vec![(0, 50 * STEP, 0), (50 * STEP, 90 * STEP, 1)];
        let found = [Vec::new(), long, vec![(0, 59 * STEP, 0)]];
        assert_eq!(whole(&found), [Place { stretch: 1, start: 0, end: 90 * STEP, pause: 0 }]);
    }

    #[test]
    fn what_is_seen_in_a_place_replaces_what_was_there() {
        let runs = [(0, 1000, 0), (1000, 2000, 1)];
        let at = Place { stretch: 0, start: 800, end: 1400, pause: 0 };
        let moved = replaced(&runs, at, &[(0, 300, 0), (300, 600, 1)]);
        assert_eq!(moved, [(0, 1100, 0), (1100, 2000, 1)]);
        let reply = replaced(&runs, at, &[(0, 50, 0), (50, 100, 2), (100, 600, 1)]);
        assert_eq!(reply, [(0, 850, 0), (850, 900, 2), (900, 2000, 1)]);
        assert_eq!(replaced(&runs, at, &[]), runs);
        assert_eq!((voice_at(&runs, 999), voice_at(&runs, 1000), voice_at(&[], 5)), (0, 1, 0));
        let bits = without_bits(vec![(0, 9000, 0), (9000, 9100, 1), (9100, 20_000, 0)]);
        assert_eq!(bits[1].2, 0);
    }
}
