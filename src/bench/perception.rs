//! Persons, faces, voices and links of a memory against labels: the figures of `bench perception`.
//!
//! Computed from exactly the lines that `export --percepts` writes. A face is right when its centre lies in
//! the labelled area. A face line stands for one analysis step of time (the median distance of frames).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::diarization::{self, Segment};
use super::labels::Labels;
use crate::geometry::Rect;
use crate::percept::Embedding;
use crate::time::Timestamp;

/// A line of `export --percepts`. Faces and turns are taken, other kinds skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PerceptLine {
    /// A face in one analysed frame.
    Face {
        /// Capture time.
        t: Timestamp,
        /// Camera.
        source: String,
        /// x, y, width, height, px.
        #[serde(rename = "box")]
        bbox: [f32; 4],
        /// `track_N`.
        track: String,
        /// `person_N`; null while unassigned.
        person: Option<String>,
    },
    /// A speech turn.
    Turn {
        /// First speech.
        start: Timestamp,
        /// End of the last speech.
        end: Timestamp,
        /// Microphone.
        source: String,
        /// `voice_N`; null while unassigned.
        voice: Option<String>,
        /// `person_N`; null while unassigned.
        person: Option<String>,
        /// What was said.
        words: Option<String>,
    },
    /// Anything else.
    #[serde(other)]
    Other,
}

/// `bench perception`, without the figures that only a run can tell (speed).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerceptionScores {
    /// Who was found.
    pub persons: PersonScores,
    /// Faces.
    pub face: FaceScores,
    /// Voices.
    pub voice: VoiceScores,
    /// Voices on the right faces.
    pub link: LinkScores,
    /// Per identity, for people.
    pub identities: Vec<IdentityScore>,
}

/// Counts of persons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonScores {
    /// Identities in the labels.
    pub labelled: usize,
    /// One person has at least half of its time, and it is at least half of the person's.
    pub found: usize,
    /// Persons with ≥ 1 s of face or ≥ 2 s of speech that are no identity's.
    pub r#false: usize,
    /// Other persons with ≥ 1 s of an identity's face.
    pub split: usize,
    /// Identities found by face.
    pub with_face: usize,
    /// Identities that are never in view, found as a person with a voice and no face.
    pub voice_only: usize,
}

/// Shares, 0–1; null where nothing was labelled or found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaceScores {
    /// Of persons' matched face time, what is their main identity's.
    pub purity: Option<f64>,
    /// Of identities' visible time, what is under their main person.
    pub coverage: Option<f64>,
    /// How often an identity's person changes from one sighting to the next.
    pub id_switches: usize,
    /// Of identities' visible time, what no face was found in.
    pub missed: Option<f64>,
}

/// Error rates, 0 = perfect; null without labelled speech.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VoiceScores {
    /// Diarization error rate, collar 0.25 s.
    pub der: Option<f64>,
    /// The same without collar.
    pub der_no_collar: Option<f64>,
    /// All turns given to one speaker, collar 0.25 s.
    pub der_one_speaker: Option<f64>,
    /// The same without collar.
    pub der_one_speaker_no_collar: Option<f64>,
    /// Turns grouped by plain average linkage on the same embeddings, collar 0.25 s.
    pub der_average_linkage: Option<f64>,
    /// The same without collar.
    pub der_average_linkage_no_collar: Option<f64>,
    /// Turns given to whom they overlap most, collar 0.25 s.
    pub der_oracle: Option<f64>,
    /// The same without collar.
    pub der_oracle_no_collar: Option<f64>,
    /// Without the second of two voices at once, collar 0.25 s.
    pub der_one_at_a_time: Option<f64>,
    /// The same without collar.
    pub der_one_at_a_time_no_collar: Option<f64>,
    /// Of the time in which two were heard at once, what is labelled so.
    pub overlap_precision: Option<f64>,
    /// Of the time in which two spoke at once, what was heard so.
    pub overlap_recall: Option<f64>,
    /// Turns in which somebody speaks by the labels.
    #[serde(default)]
    pub turns: usize,
    /// Of them, those that are nobody's.
    #[serde(default)]
    pub turns_unassigned: usize,
    /// Of them, the share that is the person's who has most of the speech of whoever speaks most in them.
    #[serde(default)]
    pub turns_right: Option<f64>,
    /// Identities who speak.
    pub speakers_labelled: usize,
    /// Of them, those whose voice was found (as in [`PersonScores::found`]).
    pub speakers_found: usize,
}

/// Links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkScores {
    /// Share of on-screen speakers whose voice is on the person that has their face.
    pub accuracy: Option<f64>,
}

/// One identity's outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdentityScore {
    /// Name in the labels.
    pub id: String,
    /// The person that has most of its face.
    pub face_person: Option<String>,
    /// Seconds of its face under that person, and labelled.
    pub face_secs: (f64, f64),
    /// The person that has most of its speech.
    pub voice_person: Option<String>,
    /// Seconds of its speech under that person, and labelled.
    pub voice_secs: (f64, f64),
    /// See [`PersonScores::found`].
    pub found: bool,
}

/// Seconds by identity (index) and person.
type Shares = BTreeMap<(usize, String), f64>;

fn main_person(shares: &Shares, identity: usize) -> Option<(&str, f64)> {
    let mut best: Option<(&str, f64)> = None;
    for ((who, person), secs) in shares {
        if *who == identity && best.is_none_or(|(_, top)| *secs > top) {
            best = Some((person, *secs));
        }
    }
    best
}

fn main_identity(shares: &Shares, person: &str) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for ((who, name), secs) in shares {
        if name == person && best.is_none_or(|(_, top)| *secs > top) {
            best = Some((*who, *secs));
        }
    }
    best
}

fn of_person(shares: &Shares, person: &str) -> f64 {
    shares.iter().filter(|((_, name), _)| name == person).map(|(_, secs)| secs).sum()
}

fn is_found(
    shares: &Shares,
    identity: usize,
    labelled_secs: f64,
    all: &BTreeMap<String, f64>,
) -> bool {
    main_person(shares, identity).is_some_and(|(person, secs)| {
        let own = all.get(person).copied().unwrap_or(0.0);
        labelled_secs > 0.0 && secs >= 0.5 * labelled_secs && secs >= 0.5 * own
    })
}

/// Scores percepts against labels. `start` is the event time of the labels' second 0 (default: the labels'
/// own, else the first percept's). `embeddings` are those of the turn lines, in their order, with the model's
/// calibrated threshold: for the comparison with plain average linkage.
#[must_use]
pub fn score(
    lines: &[PerceptLine],
    labels: &Labels,
    start: Option<Timestamp>,
    embeddings: Option<(&[Option<Embedding>], f32)>,
) -> PerceptionScores {
    let first = lines.iter().filter_map(|line| match line {
        PerceptLine::Face { t, .. } => Some(*t),
        PerceptLine::Turn { start, .. } => Some(*start),
        PerceptLine::Other => None,
    });
    let zero = labels.start.or(start).or_else(|| first.min()).unwrap_or(Timestamp::EPOCH);
    let mut out = PerceptionScores::default();
    let speech_by_person = voices(lines, labels, zero, embeddings, &mut out);
    let faces = faces(lines, labels, zero, &mut out);
    persons(labels, &faces, &speech_by_person, &mut out);
    out
}

struct Modality {
    /// Matched seconds by identity and person.
    shares: Shares,
    /// All seconds by person, matched or not.
    all: BTreeMap<String, f64>,
}

fn faces(
    lines: &[PerceptLine],
    labels: &Labels,
    zero: Timestamp,
    out: &mut PerceptionScores,
) -> Modality {
    let mut times: BTreeMap<&str, BTreeSet<Timestamp>> = BTreeMap::new();
    for line in lines {
        if let PerceptLine::Face { t, source, .. } = line {
            times.entry(source).or_default().insert(*t);
        }
    }
    let mut steps: Vec<f64> = Vec::new();
    for stamps in times.values() {
        let stamps: Vec<Timestamp> = stamps.iter().copied().collect();
        steps.extend(stamps.windows(2).map(|pair| pair[1].secs_since(pair[0])));
    }
    steps.sort_by(f64::total_cmp);
    let step = steps.get(steps.len() / 2).copied().unwrap_or(0.2);

    let mut of = Modality { shares: Shares::new(), all: BTreeMap::new() };
    let mut matched: BTreeSet<(usize, Timestamp)> = BTreeSet::new();
    let mut sightings: Vec<(usize, Timestamp, &str)> = Vec::new();
    for line in lines {
        let PerceptLine::Face { t, bbox: [x, y, w, h], person, .. } = line else { continue };
        let centre = Rect { x: *x, y: *y, w: *w, h: *h }.centre();
        let at = t.secs_since(zero);
        let who = labels.identities.iter().position(|identity| {
            let shows = |(start, end, area): &(f64, f64, Rect)| {
                *start <= at && at < *end && area.contains(centre)
            };
            identity.visible.iter().any(shows)
        });
        if let Some(person) = person {
            *of.all.entry(person.clone()).or_default() += step;
        }
        if let Some(who) = who {
            matched.insert((who, *t));
            if let Some(person) = person {
                *of.shares.entry((who, person.clone())).or_default() += step;
                sightings.push((who, *t, person));
            }
        }
    }
    sightings.sort();
    out.face.id_switches = sightings
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0 && pair[0].2 != pair[1].2)
        .count();
    let visible: f64 = labels.identities.iter().map(super::labels::Identity::visible_secs).sum();
    if visible > 0.0 {
        let count = labels.identities.len();
        let main: f64 = (0..count)
            .filter_map(|who| {
                let cap = labels.identities[who].visible_secs();
                main_person(&of.shares, who).map(|(_, secs)| secs.min(cap))
            })
            .sum();
        out.face.coverage = Some((main / visible).min(1.0));
        out.face.missed = Some((1.0 - matched.len() as f64 * step / visible).clamp(0.0, 1.0));
        let persons: BTreeSet<&str> = of.shares.keys().map(|(_, person)| person.as_str()).collect();
        let total: f64 = of.shares.values().sum();
        let own: f64 = persons
            .iter()
            .filter_map(|person| main_identity(&of.shares, person).map(|(_, secs)| secs))
            .sum();
        out.face.purity = (total > 0.0).then(|| own / total);
    }
    of
}

fn voices(
    lines: &[PerceptLine],
    labels: &Labels,
    zero: Timestamp,
    embeddings: Option<(&[Option<Embedding>], f32)>,
    out: &mut PerceptionScores,
) -> Modality {
    let mut of = Modality { shares: Shares::new(), all: BTreeMap::new() };
    let mut segments = Vec::new();
    let mut alone = Vec::new();
    let mut spoken: Vec<(usize, Option<String>)> = Vec::new();
    let mut before: Option<(&str, Timestamp)> = None;
    for line in lines {
        let PerceptLine::Turn { start, end, source, voice, person, .. } = line else { continue };
        let second = before.is_some_and(|(of, until)| of == source && *end <= until);
        if !second {
            before = Some((source, *end));
        }
        let (start, end) = (start.secs_since(zero), end.secs_since(zero));
        let speaker = person.clone().or(voice.clone()).unwrap_or_else(|| "unassigned".into());
        let segment = Segment { start, end, speaker };
        if !second {
            alone.push(segment.clone());
        }
        segments.push(segment);
        if let Some(who) = labels.speaks_most(start, end) {
            spoken.push((who, person.clone()));
        }
        let Some(person) = person else { continue };
        *of.all.entry(person.clone()).or_default() += end - start;
        for (who, identity) in labels.identities.iter().enumerate() {
            let secs: f64 =
                identity.speaking.iter().map(|(s, e)| (e.min(end) - s.max(start)).max(0.0)).sum();
            if secs > 0.0 {
                *of.shares.entry((who, person.clone())).or_default() += secs;
            }
        }
    }
    let rate = |system: &[Segment], collar| diarization::error_rate(labels, system, collar);
    let voice = &mut out.voice;
    voice.der = rate(&segments, 0.25);
    voice.der_no_collar = rate(&segments, 0.0);
    voice.der_one_at_a_time = rate(&alone, 0.25);
    voice.der_one_at_a_time_no_collar = rate(&alone, 0.0);
    (voice.overlap_precision, voice.overlap_recall) = diarization::overlap(labels, &segments);
    let (one, oracle) =
        (diarization::one_speaker(&segments), diarization::oracle(labels, &segments));
    voice.der_one_speaker = rate(&one, 0.25);
    voice.der_one_speaker_no_collar = rate(&one, 0.0);
    voice.der_oracle = rate(&oracle, 0.25);
    voice.der_oracle_no_collar = rate(&oracle, 0.0);
    if let Some((embeddings, threshold)) = embeddings {
        let with: Vec<(Segment, Option<Embedding>)> = segments
            .iter()
            .enumerate()
            .map(|(index, s)| (s.clone(), embeddings.get(index).cloned().flatten()))
            .collect();
        let linked = diarization::average_linkage(&with, threshold);
        voice.der_average_linkage = rate(&linked, 0.25);
        voice.der_average_linkage_no_collar = rate(&linked, 0.0);
    }
    voice.turns = spoken.len();
    voice.turns_unassigned = spoken.iter().filter(|(_, person)| person.is_none()).count();
    let own = |(who, person): &&(usize, Option<String>)| {
        person.as_deref().is_some_and(|person| {
            main_person(&of.shares, *who).is_some_and(|(main, _)| main == person)
        })
    };
    let right = spoken.iter().filter(own).count();
    voice.turns_right = (!spoken.is_empty()).then(|| right as f64 / spoken.len() as f64);
    for (who, identity) in labels.identities.iter().enumerate() {
        let secs = identity.speaking_secs();
        voice.speakers_labelled += usize::from(secs > 0.0);
        voice.speakers_found += usize::from(is_found(&of.shares, who, secs, &speech_all(&of)));
    }
    of
}

/// A person's speech as far as anybody really spoke: pauses inside turns are nobody's.
fn speech_all(of: &Modality) -> BTreeMap<String, f64> {
    of.all.keys().map(|person| (person.clone(), of_person(&of.shares, person))).collect()
}

fn persons(labels: &Labels, face: &Modality, speech: &Modality, out: &mut PerceptionScores) {
    let mut owned: BTreeSet<&str> = BTreeSet::new();
    let (mut speakers, mut linked) = (0_u32, 0_u32);
    let spoken = speech_all(speech);
    out.persons.labelled = labels.identities.len();
    for (who, identity) in labels.identities.iter().enumerate() {
        let (seen, heard) = (main_person(&face.shares, who), main_person(&speech.shares, who));
        let (visible, speaking) = (identity.visible_secs(), identity.speaking_secs());
        let by_face = is_found(&face.shares, who, visible, &face.all);
        let by_voice = is_found(&speech.shares, who, speaking, &spoken);
        let found = if visible > 0.0 { by_face } else { by_voice };
        out.persons.found += usize::from(found);
        out.persons.with_face += usize::from(by_face);
        let faceless = |person: &str| face.all.get(person).is_none_or(|secs| *secs < 1.0);
        if visible == 0.0 && by_voice && heard.is_some_and(|(person, _)| faceless(person)) {
            out.persons.voice_only += 1;
        }
        for (main, shares) in [(seen, &face.shares), (heard, &speech.shares)] {
            // a person is an identity's only if the identity is most of the person, too
            if let Some((person, _)) = main
                && main_identity(shares, person).is_some_and(|(most, _)| most == who)
            {
                owned.insert(person);
            }
        }
        if let Some((main, _)) = seen {
            let others = face
                .shares
                .iter()
                .filter(|((i, person), secs)| *i == who && person != main && **secs >= 1.0 - 1e-9);
            out.persons.split += others.count();
        }
        if visible > 0.0 && speaking > 0.0 {
            speakers += 1;
            let same = seen.zip(heard).is_some_and(|((a, _), (b, _))| a == b);
            linked += u32::from(same);
        }
        out.identities.push(IdentityScore {
            id: identity.id.clone(),
            face_person: seen.map(|(person, _)| person.to_owned()),
            face_secs: (seen.map_or(0.0, |(_, secs)| secs), visible),
            voice_person: heard.map(|(person, _)| person.to_owned()),
            voice_secs: (heard.map_or(0.0, |(_, secs)| secs), speaking),
            found,
        });
    }
    out.link.accuracy = (speakers > 0).then(|| f64::from(linked) / f64::from(speakers));
    let everybody: BTreeSet<&str> =
        face.all.keys().chain(speech.all.keys()).map(String::as_str).collect();
    let long = |person: &str| {
        face.all.get(person).is_some_and(|secs| *secs >= 1.0 - 1e-9)
            || speech.all.get(person).is_some_and(|secs| *secs >= 2.0)
    };
    out.persons.r#false = everybody.into_iter().filter(|p| long(p) && !owned.contains(p)).count();
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::bench::labels::Identity;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    fn face(secs: f64, x: f32, person: &str) -> PerceptLine {
        PerceptLine::Face {
            t: at(secs),
            source: "cam".into(),
            bbox: [x, 0.0, 10.0, 10.0],
            track: "track_1".into(),
            person: Some(person.into()),
        }
    }

    fn turn(start: f64, end: f64, person: &str) -> PerceptLine {
        PerceptLine::Turn {
            start: at(start),
            end: at(end),
            source: "mic".into(),
            voice: None,
            person: Some(person.into()),
            words: None,
        }
    }

    fn labels() -> Labels {
        let left = Rect { x: 0.0, y: 0.0, w: 100.0, h: 100.0 };
        let right = Rect { x: 100.0, ..left };
        let person = |id: &str, visible, speaking| Identity { id: id.into(), visible, speaking };
        Labels {
            start: Some(Timestamp::EPOCH),
            identities: vec![
                person("a", vec![(0.0, 10.0, left)], vec![(1.0, 4.0)]),
                person("b", vec![(0.0, 10.0, right)], vec![(5.0, 8.0)]),
                person("c", vec![], vec![(10.0, 15.0)]),
            ],
        }
    }

    #[test]
    fn a_perfect_memory_scores_full_marks_and_a_wrong_one_does_not() {
        let mut lines: Vec<PerceptLine> = (0..50)
            .flat_map(|k| {
                let t = f64::from(k) * 0.2;
                [face(t, 40.0, "person_1"), face(t, 140.0, "person_2")]
            })
            .collect();
        lines.extend([
            turn(1.0, 4.0, "person_1"),
            turn(5.0, 8.0, "person_2"),
            turn(10.0, 15.0, "person_3"),
        ]);
        let scores = score(&lines, &labels(), None, None);
        assert_eq!((scores.persons.found, scores.persons.r#false, scores.persons.split), (3, 0, 0));
        assert_eq!((scores.persons.with_face, scores.persons.voice_only), (2, 1));
        assert!(scores.face.purity.unwrap() > 0.999 && scores.face.coverage.unwrap() > 0.999);
        assert_eq!(scores.voice.der, Some(0.0));
        // Of eleven labelled seconds the one speaker has the five of c.
        let one_speaker = scores.voice.der_one_speaker_no_collar.unwrap();
        assert!((one_speaker - 6.0 / 11.0).abs() < 1e-9, "{one_speaker}");
        assert!(scores.voice.der_oracle_no_collar.unwrap() < 1e-9);
        assert_eq!(scores.voice.der_average_linkage_no_collar, None, "without embeddings");
        assert_eq!(scores.link.accuracy, Some(1.0));
        assert_eq!((scores.voice.speakers_labelled, scores.voice.speakers_found), (3, 3));

        // the last five seconds of a's face go to a stranger, and b's voice to a
        for line in &mut lines {
            match line {
                PerceptLine::Face { t, bbox, person, .. } if *t >= at(5.0) && bbox[0] < 100.0 => {
                    *person = Some("person_9".into());
                }
                PerceptLine::Turn { start, person, .. } if *start == at(5.0) => {
                    *person = Some("person_1".into());
                }
                _ => {}
            }
        }
        let scores = score(&lines, &labels(), None, None);
        assert_eq!(
            (scores.persons.split, scores.persons.r#false, scores.face.id_switches),
            (1, 1, 1)
        );
        assert!((scores.face.coverage.unwrap() - 0.75).abs() < 0.02);
        assert_eq!(scores.link.accuracy, Some(0.5));
    }

    #[test]
    fn lines_read_as_the_export_writes_them() {
        let text = r#"{"kind":"face","t":"1970-01-01T00:00:01Z","source":"cam","box":[1,2,3,4],"track":"track_1","person":null}"#;
        assert!(matches!(
            serde_json::from_str(text).unwrap(),
            PerceptLine::Face { person: None, .. }
        ));
        let text = r#"{"kind":"object","t":"1970-01-01T00:00:01Z"}"#;
        assert_eq!(serde_json::from_str::<PerceptLine>(text).unwrap(), PerceptLine::Other);
    }
}
