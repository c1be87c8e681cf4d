//! How many voices a clip's windows are, and whose each window is.
//!
//! All windows are one heap at first. The heap that falls apart most clearly is parted in two, all are assigned anew among
//! the clusters, and so on. Two are believed from one clearness on. Of more, every two must be as clear after what so few
//! windows show by chance was taken off. Four voices may well show no two clear halves, so that parting goes on to the end
//! before the last division that is believed is taken.

use super::segment::{ReclusterSettings, SpeechSegment, steps};
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::segment::turns::STEP;

/// Rounds of assignment and averaging at most.
const ROUNDS: usize = 12;

/// `[start, end)` in samples of a stretch, and whose voice it is.
pub(super) type Run = (usize, usize, u8);

/// A clip's windows, parted.
#[derive(Clone)]
pub(super) struct Clusters {
    /// Whose each window of each stretch is.
    pub(super) states: Vec<Vec<u8>>,
    /// The direction of each voice's windows.
    pub(super) centroids: Vec<Vec<f32>>,
    /// Cosines of the windows with the centroids that they were assigned by, `[windows, voices]`.
    near: Vec<f32>,
}

/// The voices of a clip; `None` when it is one.
pub(super) fn find(stretches: &[SpeechSegment], settings: &ReclusterSettings) -> Option<Clusters> {
    let clip = Clip::new(stretches, settings);
    let mut found = None;
    let mut tried = clip.whole();
    while tried.centroids.len() < usize::from(settings.most_voices) {
        let Some((clearness, grown)) = clip.parted_further(&tried) else { break };
        let voices = grown.centroids.len();
        tracing::debug!(windows = clip.all.len(), voices, clearness, "heard again");
        let wanted = if voices > 2 { settings.further_clearness } else { settings.clearness };
        if clearness >= wanted {
            found = Some(grown.clone());
        }
        tried = grown;
    }
    found
}

/// What is parted.
struct Clip<'a> {
    stretches: &'a [SpeechSegment],
    settings: &'a ReclusterSettings,
    /// The windows of all stretches.
    all: Vec<&'a [f32]>,
    /// Samples of a window, and from one to the next.
    window: usize,
    hop: usize,
    /// Windows of a voice at least.
    least: usize,
}

impl<'a> Clip<'a> {
    fn new(stretches: &'a [SpeechSegment], settings: &'a ReclusterSettings) -> Self {
        Self {
            stretches,
            settings,
            all: stretches.iter().flat_map(|s| &s.windows).map(|w| w.values.as_slice()).collect(),
            window: steps(settings.window_secs) * STEP,
            hop: steps(settings.step_secs) * STEP,
            least: (settings.min_voice_secs / settings.step_secs).ceil() as usize,
        }
    }

    /// All windows as one voice.
    fn whole(&self) -> Clusters {
        Clusters {
            states: self.stretches.iter().map(|stretch| vec![0; stretch.windows.len()]).collect(),
            centroids: vec![Vec::new()],
            near: Vec::new(),
        }
    }

    /// One voice more, and how clear the two most alike are then; `None` where nobody speaks enough for two.
    fn parted_further(&self, clusters: &Clusters) -> Option<(f32, Clusters)> {
        let voices = clusters.centroids.len();
        if self.all.len() < (voices + 1) * self.least {
            return None;
        }
        let spoken = self.spoken(&clusters.states, voices);
        let mut best: Option<(f32, Clusters)> = None;
        for (voice, secs) in spoken.iter().enumerate() {
            if voices > 1 && *secs < 2.0 * self.settings.min_voice_secs {
                continue;
            }
            let grown = self.grow(clusters, voice);
            let Some(clearness) = self.clearness(&grown) else { continue };
            if best.as_ref().is_none_or(|(most, _)| clearness > *most) {
                best = Some((clearness, grown));
            }
        }
        best
    }

    /// Seconds of speech of each voice: a turn of one voice counts whole, not only where windows begin in it.
    fn spoken(&self, states: &[Vec<u8>], voices: usize) -> Vec<f64> {
        let mut secs = vec![0.0_f64; voices];
        for (stretch, states) in self.stretches.iter().zip(states) {
            for (start, end, voice) in runs(states, stretch.sound.len(), self.window, self.hop) {
                secs[usize::from(voice)] += (end - start) as f64 / f64::from(SAMPLE_RATE);
            }
        }
        secs
    }

    /// One voice in two, along the direction in which its windows spread most; then all are assigned anew.
    fn grow(&self, clusters: &Clusters, voice: usize) -> Clusters {
        let states = clusters.states.iter().flatten();
        let own: Vec<&[f32]> = self
            .all
            .iter()
            .zip(states)
            .filter(|(_, state)| usize::from(**state) == voice)
            .map(|(window, _)| *window)
            .collect();
        let axis = main_axis(&own);
        let middle = mean(&own, |_| 1.0);
        let side = |window: &[f32]| dot(window, &axis) - dot(&middle, &axis) > 0.0;
        let [first, second] = [false, true].map(|one| {
            let half: Vec<&[f32]> = own.iter().copied().filter(|w| side(w) == one).collect();
            unit(mean_or(&half, &middle))
        });
        let mut centroids = clusters.centroids.clone();
        centroids[voice] = first;
        centroids.push(second);
        self.converge(centroids)
    }

    /// Assigns the windows and averages them by turns, until nothing changes or a voice has too little left.
    fn converge(&self, mut centroids: Vec<Vec<f32>>) -> Clusters {
        let voices = centroids.len();
        let penalty = self.settings.switch_penalty;
        let mut states: Vec<Vec<u8>> = Vec::new();
        let mut near: Vec<f32> = Vec::new();
        for _ in 0..ROUNDS {
            near = cosines(&self.all, &centroids);
            let leads: Vec<f32> = near.chunks_exact(voices).map(lead).collect();
            let scale = leads.iter().sum::<f32>() / leads.len() as f32;
            let mut from = 0;
            let mut next: Vec<Vec<u8>> = Vec::with_capacity(self.stretches.len());
            for stretch in self.stretches {
                let to = from + stretch.windows.len() * voices;
                next.push(smooth(&near[from..to], voices, scale.max(1e-6), |_| penalty, None));
                from = to;
            }
            let settled = next == states;
            states = next;
            let least = self.settings.min_voice_secs;
            if settled || !self.spoken(&states, voices).iter().all(|secs| *secs >= least) {
                break;
            }
            let flat: Vec<u8> = states.iter().flatten().copied().collect();
            let of = |voice: usize| {
                let weight = |n: usize| if usize::from(flat[n]) == voice { leads[n] } else { 0.0 };
                unit(mean(&self.all, weight))
            };
            centroids = (0..voices).map(of).collect();
        }
        Clusters { states, centroids, near }
    }

    /// How clear the two voices are that are most alike; `None` where one of two speaks too little beside the other.
    fn clearness(&self, clusters: &Clusters) -> Option<f32> {
        let spoken = self.spoken(&clusters.states, clusters.centroids.len());
        let mut least = f32::INFINITY;
        for (a, one) in spoken.iter().enumerate() {
            for (b, other) in spoken.iter().enumerate().skip(a + 1) {
                let share = self.settings.min_share * (one + other);
                if one.min(*other) < self.settings.min_voice_secs.max(share) {
                    return None;
                }
                let (clearness, seen) = self.pair_clearness(clusters, [a, b]);
                let clearness = if spoken.len() > 2 {
                    let secs = self.settings.window_secs;
                    beyond_chance(clearness, [one / secs, other / secs])
                } else {
                    clearness
                };
                least = least.min(clearness * seen);
            }
        }
        Some(least)
    }

    /// How much nearer the windows of two voices are to their own middle than to the other, as a share of how far they are
    /// from their own; and how many of the windows that were wanted there are, 0–1.
    fn pair_clearness(&self, clusters: &Clusters, [a, b]: [usize; 2]) -> (f32, f32) {
        let voices = clusters.centroids.len();
        let (mut own, mut lead, mut counts) = (0.0_f32, 0.0_f32, [0_usize; 2]);
        let near = clusters.near.chunks_exact(voices);
        for ((window, near), state) in
            self.all.iter().zip(near).zip(clusters.states.iter().flatten())
        {
            let Some(side) = [a, b].iter().position(|voice| *voice == usize::from(*state)) else {
                continue;
            };
            counts[side] += 1;
            own += dot(window, &clusters.centroids[a]).max(dot(window, &clusters.centroids[b]));
            lead += (near[b] - near[a]).abs();
        }
        let count = counts[0] + counts[1];
        let wanted = self.least.max((self.settings.min_share * count as f64).ceil() as usize);
        let clearness = (lead / count as f32) / (1.0 - own / count as f32).max(1e-3);
        // Windows are what tells: of fewer in short turns, more must be told by each.
        (clearness, (counts[0].min(counts[1]) as f32 / wanted as f32).min(1.0))
    }
}

/// A clearness less what chance makes of one voice, when clusters of so many windows that share no sound are taken of it.
///
/// The mean of `m` windows takes a share `1/m` of their spread into itself, and two such means lie `1/a + 1/b` of it apart.
fn beyond_chance(clearness: f32, [a, b]: [f64; 2]) -> f32 {
    let explained = (2.0 / (a + b)).min(1.0);
    (f64::from(clearness) * (1.0 - explained) - 1.0 / a - 1.0 / b) as f32
}

/// Cosines of windows with centroids, `[windows, voices]`.
pub(super) fn cosines(windows: &[&[f32]], centroids: &[Vec<f32>]) -> Vec<f32> {
    let mut near = Vec::with_capacity(windows.len() * centroids.len());
    for window in windows {
        near.extend(centroids.iter().map(|middle| dot(window, middle)));
    }
    near
}

/// How much nearer a window is to this voice than to the nearest other; negative where another is nearer.
fn margin(near: &[f32], voice: usize) -> f32 {
    let others = near.iter().enumerate().filter(|(other, _)| *other != voice);
    near[voice] - others.map(|(_, cosine)| *cosine).fold(f32::NEG_INFINITY, f32::max)
}

/// How much nearer a window is to its nearest voice than to the next.
pub(super) fn lead(near: &[f32]) -> f32 {
    (0..near.len()).map(|voice| margin(near, voice)).fold(f32::NEG_INFINITY, f32::max)
}

/// The likeliest run of states (Viterbi): `near` are the windows' cosines with `voices` centroids, margins count over `scale`.
///
/// A change of state before window `n` costs `penalty(n)`. With `edges`, so does beginning or ending in another state than
/// what is known to be before (`penalty(0)`) and behind (`penalty` of the number of windows).
pub(super) fn smooth(
    near: &[f32],
    voices: usize,
    scale: f32,
    penalty: impl Fn(usize) -> f32,
    edges: Option<[u8; 2]>,
) -> Vec<u8> {
    let count = near.len() / voices;
    let at_edge = |edge: usize, state: usize, n: usize| match edges {
        Some(known) if usize::from(known[edge]) != state => penalty(n),
        _ => 0.0,
    };
    let mut best: Vec<f32> = (0..voices).map(|state| -at_edge(0, state, 0)).collect();
    let mut came: Vec<u8> = Vec::with_capacity(near.len());
    for (n, window) in near.chunks_exact(voices).enumerate() {
        let before = best.clone();
        for (state, best) in best.iter_mut().enumerate() {
            let mut from = state;
            for (other, value) in before.iter().enumerate() {
                let switched = value - penalty(n);
                if n > 0 && other != state && switched > *best {
                    *best = switched;
                    from = other;
                }
            }
            *best += margin(window, state) / scale;
            came.push(from as u8);
        }
    }
    let ended = |state: usize| best[state] - at_edge(1, state, count);
    let mut state = 0;
    for other in 1..voices {
        if ended(other) > ended(state) {
            state = other;
        }
    }
    let mut states = vec![0; count];
    for n in (0..count).rev() {
        states[n] = state as u8;
        state = usize::from(came[n * voices + state]);
    }
    states
}

/// Runs of one state as samples of the stretch, on the 10 ms grid; a border lies midway between two windows.
pub(super) fn runs(states: &[u8], length: usize, window: usize, hop: usize) -> Vec<Run> {
    let mut found = Vec::new();
    let mut start = 0;
    for (n, pair) in states.windows(2).enumerate() {
        if pair[0] != pair[1] {
            let border = (n * hop + (window + hop) / 2) / STEP * STEP;
            found.push((start, border.min(length), pair[0]));
            start = border.min(length);
        }
    }
    if let Some(last) = states.last() {
        found.push((start, length, *last));
    }
    found
}

/// The direction in which the vectors spread most, by power iteration.
fn main_axis(vectors: &[&[f32]]) -> Vec<f32> {
    let middle = mean(vectors, |_| 1.0);
    let far = |v: &&&[f32]| -> f32 { v.iter().zip(&middle).map(|(a, b)| (a - b).powi(2)).sum() };
    let first = vectors.iter().max_by(|a, b| far(a).total_cmp(&far(b)));
    let mut axis: Vec<f32> =
        first.map_or_else(Vec::new, |v| v.iter().zip(&middle).map(|(a, b)| a - b).collect());
    for _ in 0..50 {
        let mut next = vec![0.0_f32; axis.len()];
        for vector in vectors {
            let along = dot(vector, &axis) - dot(&middle, &axis);
            for ((sum, value), mid) in next.iter_mut().zip(*vector).zip(&middle) {
                *sum += along * (value - mid);
            }
        }
        axis = unit(next);
    }
    axis
}

fn mean(vectors: &[&[f32]], weight: impl Fn(usize) -> f32) -> Vec<f32> {
    let mut sum = vec![0.0_f64; vectors.first().map_or(0, |v| v.len())];
    let mut weights = 0.0_f64;
    for (n, vector) in vectors.iter().enumerate() {
        let w = f64::from(weight(n));
        if w == 0.0 {
            continue;
        }
        weights += w;
        for (total, value) in sum.iter_mut().zip(*vector) {
            *total += w * f64::from(*value);
        }
    }
    sum.into_iter().map(|v| (v / weights.max(1e-9)) as f32).collect()
}

fn mean_or(vectors: &[&[f32]], otherwise: &[f32]) -> Vec<f32> {
    if vectors.is_empty() { otherwise.to_vec() } else { mean(vectors, |_| 1.0) }
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|v| *v = (f64::from(*v) / norm) as f32);
    }
    vector
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_few_windows_of_one_voice_show_by_chance_is_nothing() {
        for windows in [3.0_f64, 5.0, 10.0] {
            let by_chance = (2.0 / (windows - 1.0)) as f32;
            assert!(beyond_chance(by_chance, [windows; 2]).abs() < 1e-5, "{windows}");
            assert!(beyond_chance(1.5, [windows; 2]) < 1.5 - 1.0 / windows as f32);
        }
        assert!(beyond_chance(0.87, [2.5, 20.0]) < beyond_chance(0.87, [10.0, 20.0]));
    }

    #[test]
    fn a_change_is_cheaper_where_the_penalty_is_less() {
        // undecided between the windows that are clear: the change goes where it costs least
        let near = [1.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 1.0];
        let at = |cheap: usize| smooth(&near, 2, 1.0, |n| if n == cheap { 0.1 } else { 0.5 }, None);
        assert_eq!(at(2), [0, 0, 1, 1, 1]);
        assert_eq!(at(3), [0, 0, 0, 1, 1]);
        // a clear one must pay for leaving what is known around it
        assert_eq!(smooth(&[0.0, 1.0], 2, 1.0, |_| 0.5, Some([0, 0])), [1]);
        assert_eq!(smooth(&[0.0, 1.0], 2, 1.0, |_| 1.5, Some([0, 0])), [0]);
    }

    proptest! {
        #[test]
        fn smoothing_follows_clear_leads_and_runs_cover_all(
            leads in proptest::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 1..60)
        ) {
            for voices in [2, 3] {
                let window = |(a, b): &(f32, f32)| [0.0, *a, *b].into_iter().take(voices);
                let near: Vec<f32> = leads.iter().flat_map(window).collect();
                let states = smooth(&near, voices, 0.5, |_| 1.5, None);
                prop_assert_eq!(states.len(), leads.len());
                let value = |states: &[u8]| -> f32 {
                    let windows = near.chunks_exact(voices).zip(states);
                    let gain: f32 = windows.map(|(w, s)| margin(w, usize::from(*s)) / 0.5).sum();
                    gain - 1.5 * states.windows(2).filter(|p| p[0] != p[1]).count() as f32
                };
                // no single change makes it better
                for n in 0..states.len() {
                    for state in 0..voices {
                        let mut other = states.clone();
                        other[n] = state as u8;
                        prop_assert!(value(&other) <= value(&states) + 1e-3);
                    }
                }
                let length = (leads.len() - 1) * 3200 + 19_200 + 77;
                let found = runs(&states, length, 19_200, 3200);
                prop_assert_eq!(found.first().map(|r| r.0), Some(0));
                prop_assert_eq!(found.last().map(|r| r.1), Some(length));
                prop_assert!(found.windows(2).all(|p| p[0].1 == p[1].0 && p[0].2 != p[1].2));
            }
        }
    }
}
