//! Diarization error rate, as NIST's md-eval defines it, and the plain systems it is compared with.

use std::collections::{BTreeMap, BTreeSet};

use super::assignment;
use super::labels::Labels;
use crate::percept::Embedding;

/// A stretch of speech with the speaker a system gave it. Seconds from the recording's start.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// First instant.
    pub start: f64,
    /// First instant after it.
    pub end: f64,
    /// Any name.
    pub speaker: String,
}

/// (missed + false alarm + confusion) / reference speech, under the best one-to-one mapping of speakers;
/// `collar` seconds on both sides of every reference border are left out. `None` without reference speech.
#[must_use]
pub fn error_rate(labels: &Labels, system: &[Segment], collar: f64) -> Option<f64> {
    let reference: Vec<(usize, f64, f64)> = labels
        .identities
        .iter()
        .enumerate()
        .flat_map(|(who, identity)| identity.speaking.iter().map(move |(s, e)| (who, *s, *e)))
        .collect();
    let names: BTreeSet<&str> = system.iter().map(|s| s.speaker.as_str()).collect();
    let number: BTreeMap<&str, usize> =
        names.into_iter().enumerate().map(|(i, n)| (n, i)).collect();

    let mut borders: Vec<f64> = reference
        .iter()
        .flat_map(|(_, s, e)| [*s, *e, s - collar, s + collar, e - collar, e + collar])
        .chain(system.iter().flat_map(|s| [s.start, s.end]))
        .collect();
    borders.sort_by(f64::total_cmp);
    borders.dedup();
    let mut regions: Vec<(f64, BTreeSet<usize>, BTreeSet<usize>)> = Vec::new();
    for pair in borders.windows(2) {
        let (secs, middle) = (pair[1] - pair[0], 0.5 * (pair[0] + pair[1]));
        let near = |border: f64| (middle - border).abs() < collar;
        if reference.iter().any(|(_, s, e)| near(*s) || near(*e)) {
            continue;
        }
        let within = |start: f64, end: f64| start <= middle && middle < end;
        let truly = reference.iter().filter(|(_, s, e)| within(*s, *e)).map(|r| r.0).collect();
        let said = system
            .iter()
            .filter(|s| within(s.start, s.end))
            .filter_map(|s| number.get(s.speaker.as_str()).copied())
            .collect();
        regions.push((secs, truly, said));
    }
    let mut overlap = vec![vec![0.0; number.len()]; labels.identities.len()];
    for (secs, truly, said) in &regions {
        for &t in truly {
            for &s in said {
                overlap[t][s] += secs;
            }
        }
    }
    let mapping = assignment::best(&overlap);
    let (mut total, mut wrong) = (0.0, 0.0);
    for (secs, truly, said) in &regions {
        let right =
            truly.iter().filter(|t| mapping[**t].is_some_and(|s| said.contains(&s))).count();
        total += secs * truly.len() as f64;
        wrong += secs * (truly.len().max(said.len()) - right) as f64;
    }
    (total > 0.0).then(|| wrong / total)
}

/// Precision and recall of speech of two and more at once, by time, without a collar; `None` where nobody is heard, or
/// labelled, at once.
#[must_use]
pub fn overlap(labels: &Labels, system: &[Segment]) -> (Option<f64>, Option<f64>) {
    let true_names: Vec<(f64, f64, &str)> = labels
        .identities
        .iter()
        .flat_map(|who| who.speaking.iter().map(|(s, e)| (*s, *e, who.id.as_str())))
        .collect();
    let said_names: Vec<(f64, f64, &str)> =
        system.iter().map(|s| (s.start, s.end, s.speaker.as_str())).collect();
    let mut borders: Vec<f64> =
        true_names.iter().chain(&said_names).flat_map(|(s, e, _)| [*s, *e]).collect();
    borders.sort_by(f64::total_cmp);
    borders.dedup();
    let (mut truly, mut said, mut both) = (0.0, 0.0, 0.0);
    for pair in borders.windows(2) {
        let (secs, middle) = (pair[1] - pair[0], 0.5 * (pair[0] + pair[1]));
        let at_once = |all: &[(f64, f64, &str)]| {
            let now = all.iter().filter(|(s, e, _)| *s <= middle && middle < *e);
            now.map(|(.., name)| *name).collect::<BTreeSet<&str>>().len() > 1
        };
        let (is_true, is_said) = (at_once(&true_names), at_once(&said_names));
        truly += if is_true { secs } else { 0.0 };
        said += if is_said { secs } else { 0.0 };
        both += if is_true && is_said { secs } else { 0.0 };
    }
    let share = |of: f64| (of > 0.0).then(|| both / of);
    (share(said), share(truly))
}

/// The same stretches, each given to the labelled speaker it overlaps most: what grouping could reach at best.
#[must_use]
pub fn oracle(labels: &Labels, system: &[Segment]) -> Vec<Segment> {
    let truth = |segment: &Segment| {
        let who = labels.speaks_most(segment.start, segment.end);
        who.map_or_else(|| "nobody".to_owned(), |who| labels.identities[who].id.clone())
    };
    system.iter().map(|s| Segment { speaker: truth(s), ..s.clone() }).collect()
}

/// The same stretches, all given to one speaker.
#[must_use]
pub fn one_speaker(system: &[Segment]) -> Vec<Segment> {
    system.iter().map(|s| Segment { speaker: "one".into(), ..s.clone() }).collect()
}

/// The same stretches grouped by plain average linkage over cosines: the most alike clusters are joined
/// until none are at least `threshold` alike. A stretch without an embedding is a speaker of its own.
#[must_use]
pub fn average_linkage(system: &[(Segment, Option<Embedding>)], threshold: f32) -> Vec<Segment> {
    let mut clusters: Vec<Vec<usize>> = (0..system.len()).map(|index| vec![index]).collect();
    let cosine = |a: usize, b: usize| match (&system[a].1, &system[b].1) {
        (Some(x), Some(y)) => x.cosine(y).unwrap_or(-1.0),
        _ => -1.0,
    };
    loop {
        let mut best: Option<(f32, usize, usize)> = None;
        for a in 0..clusters.len() {
            for b in a + 1..clusters.len() {
                let pairs = clusters[a].iter().flat_map(|x| clusters[b].iter().map(|y| (*x, *y)));
                let sum: f32 = pairs.map(|(x, y)| cosine(x, y)).sum();
                let mean = sum / (clusters[a].len() * clusters[b].len()) as f32;
                if mean >= threshold && best.is_none_or(|(top, ..)| mean > top) {
                    best = Some((mean, a, b));
                }
            }
        }
        let Some((_, a, b)) = best else { break };
        let joined = clusters.remove(b);
        clusters[a].extend(joined);
    }
    let mut segments: Vec<Segment> = system.iter().map(|(segment, _)| segment.clone()).collect();
    for (number, cluster) in clusters.iter().enumerate() {
        for &index in cluster {
            segments[index].speaker = number.to_string();
        }
    }
    segments
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bench::labels::Identity;

    fn labels() -> Labels {
        let person = |id: &str, speaking| Identity { id: id.into(), visible: vec![], speaking };
        Labels {
            start: None,
            identities: vec![person("a", vec![(0.0, 10.0)]), person("b", vec![(10.0, 20.0)])],
        }
    }

    fn segment(start: f64, end: f64, speaker: &str) -> Segment {
        Segment { start, end, speaker: speaker.into() }
    }

    #[test]
    fn error_rate_counts_missed_false_alarm_and_confusion() {
        let perfect = [segment(0.0, 10.0, "x"), segment(10.0, 20.0, "y")];
        assert_eq!(error_rate(&labels(), &perfect, 0.0), Some(0.0));
        let one = one_speaker(&perfect);
        assert_eq!(error_rate(&labels(), &one, 0.0), Some(0.5));
        // 2 s missed, 4 s false alarm, 2 s confused
        let poor = [segment(2.0, 12.0, "x"), segment(12.0, 24.0, "y")];
        assert!((error_rate(&labels(), &poor, 0.0).unwrap() - 8.0 / 20.0).abs() < 1e-9);
        // the collar forgives a border that is 0.2 s off
        let near = [segment(0.2, 10.2, "x"), segment(10.2, 20.0, "y")];
        assert_eq!(error_rate(&labels(), &near, 0.25), Some(0.0));
        assert_eq!(error_rate(&labels(), &oracle(&labels(), &perfect), 0.0), Some(0.0));
        assert_eq!(error_rate(&Labels::default(), &perfect, 0.0), None);
    }

    #[test]
    fn speech_of_two_at_once_counts_twice_and_the_one_who_is_not_heard_is_missed() {
        let mut labels = labels();
        labels.identities[1].speaking = vec![(8.0, 20.0)];
        // 22 s of reference speech, 2 s of it at once
        let one = [segment(0.0, 10.0, "x"), segment(10.0, 20.0, "y")];
        assert!((error_rate(&labels, &one, 0.0).unwrap() - 2.0 / 22.0).abs() < 1e-9);
        let both = [segment(0.0, 10.0, "x"), segment(8.0, 20.0, "y")];
        assert_eq!(error_rate(&labels, &both, 0.0), Some(0.0));
        // a second voice where there is none is a false alarm
        let more = [segment(0.0, 12.0, "x"), segment(8.0, 20.0, "y")];
        assert!((error_rate(&labels, &more, 0.0).unwrap() - 2.0 / 22.0).abs() < 1e-9);
        assert_eq!(overlap(&labels, &more), (Some(0.5), Some(1.0)));
        assert_eq!(overlap(&labels, &one), (None, Some(0.0)));
        assert_eq!(overlap(&labels, &both), (Some(1.0), Some(1.0)));
        assert_eq!(overlap(&Labels::default(), &[]), (None, None));
        // one speaker twice is one
        let twice = [segment(0.0, 10.0, "x"), segment(5.0, 10.0, "x")];
        assert_eq!(overlap(&labels, &twice), (None, Some(0.0)));
    }
}
