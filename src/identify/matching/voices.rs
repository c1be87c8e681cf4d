//! Speech turns → voices.

use std::collections::{BTreeMap, BTreeSet};

use super::assignment::{Assignment, NewEntity};
use super::cluster;
use super::cluster::{Item, Outcome};
use super::gallery::Probe;
use super::short::{Grouped, SHORT_SECS, Whose};
use super::visibility::visible_at;
use crate::identify::pending::{Look, PendingTurn};
use crate::identify::resolver::Resolver;
use crate::ids::{EntityId, EntityKind, SourceId, TrackId, TurnId};
use crate::media::SAMPLE_RATE;
use crate::memory::model::{Exemplar, Media, MediaKind};
use crate::percept::{ClipPercepts, FaceTrack, SpeechTurn};
use crate::time::{Span, Timestamp};

/// A shorter turn never founds a voice, seconds of speech.
const FOUNDING_SECS: f64 = 1.2;
/// A lone turn of less, while a camera sees nobody, is fleeting: see [`Item::fleeting`], seconds of speech.
const FLEETING_SECS: f64 = 3.0;
/// Seconds of sound pinned with an exemplar.
const PINNED_SECS: f64 = 3.0;
/// What the confidence of a turn that is not surely that voice's is multiplied by.
const DOUBT: f32 = 0.6;
/// How far looks reach back, seconds: longer than any turn.
const LOOK_BACK_SECS: f64 = 30.0;
/// Step at which a turn is compared with what the cameras showed, seconds.
const STEP_SECS: f64 = 0.1;

/// What became of the clip's turns.
pub(in crate::identify) struct Voices {
    /// The clip's turns: voice, confidence, and whether it is beyond doubt.
    pub given: BTreeMap<TurnId, (Assignment, f32, bool)>,
    /// Open turns of earlier clips that were decided now.
    pub late: Vec<(PendingTurn, Assignment, f32, bool)>,
    /// New voices.
    pub new_entities: Vec<NewEntity>,
    /// Still open.
    pub open: Vec<PendingTurn>,
    /// What the galleries may learn.
    pub lessons: Vec<(Assignment, Exemplar)>,
    /// The sound of the lessons.
    pub media: Vec<Media>,
}

impl Resolver {
    /// Gives voices to the clip's turns (in canonical order) and to the turns still open.
    pub(in crate::identify) fn group_voices(
        &self,
        clip: &ClipPercepts,
        turns: &[&SpeechTurn],
    ) -> Voices {
        let mut open: Vec<PendingTurn> = self.undecided.turns.clone();
        let before = open.len();
        let mut media = BTreeMap::new();
        for turn in turns {
            let Some(embedding) = turn.embedding.clone() else { continue };
            let long = (turn.sound.len() as f64 / f64::from(SAMPLE_RATE)).min(PINNED_SECS);
            let samples = (long * f64::from(SAMPLE_RATE)) as usize;
            let sound = (samples > 0).then(|| {
                let wav = crate::identify::wav(&turn.sound[..samples.min(turn.sound.len())]);
                let file = crate::identify::file(MediaKind::Speech, wav.into(), true);
                let digest = file.digest.clone();
                media.insert(digest.clone(), file);
                digest
            });
            open.push(PendingTurn {
                clip: clip.clip,
                turn: turn.id,
                source: turn.source.clone(),
                span: turn.span,
                speech_secs: turn.speech_secs,
                embedding,
                overlapped: turn.overlapped,
                distinct: turn.distinct,
                seen: self.seen_during(turn),
                mouths: mouths_of(clip, turn.id),
                sound,
            });
        }

        // turns that were told to be one voice of their clip count together
        let mut units: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, turn) in open.iter().enumerate() {
            let alone = turn.distinct.is_none().then_some(turn.turn);
            units.entry((turn.clip, &turn.source, turn.distinct, alone)).or_default().push(index);
        }
        let units: Vec<Vec<usize>> = units.into_values().collect();
        let probe = |unit: &Vec<usize>| {
            let turns = unit.iter().map(|index| &open[*index]);
            Probe::new(turns.map(|t| (t.embedding.clone(), t.speech_secs as f32)).collect())
        };
        let probes: Vec<Probe> = units.iter().map(probe).collect();
        let candidates =
            self.candidates(EntityKind::Voice, &probes.iter().collect::<Vec<_>>(), &[]);
        let (known, names) = (&candidates.known, &candidates.heads);
        let thresholds = self.thresholds(EntityKind::Voice);
        let item = |((unit, probe), near): ((&Vec<usize>, Probe), &Vec<usize>)| {
            let turns: Vec<&PendingTurn> = unit.iter().map(|index| &open[*index]).collect();
            let good = |t: &&PendingTurn| t.speech_secs >= FOUNDING_SECS && !t.overlapped;
            Item {
                probe,
                secs: turns.iter().map(|turn| turn.speech_secs).sum(),
                may_found: turns.iter().any(good),
                fleeting: matches!(turns[..], [turn] if is_fleeting(turn)),
                prior: None,
                cannot_link: vec![],
                near: near.clone(),
            }
        };
        let items: Vec<Item> = units.iter().zip(probes).zip(&candidates.near).map(item).collect();
        let apart = |a: usize, b: usize| {
            let pairs =
                |x: &usize| units[b].iter().any(|y| at_once_secs(&open[*x], &open[*y]) > 0.0);
            told_apart(&open[units[a][0]], &open[units[b][0]]) || units[a].iter().any(pairs)
        };
        let of_units = cluster::group(
            &items,
            known,
            &apart,
            &thresholds,
            f32::INFINITY,
            self.settings.min_new_voice_secs,
        );
        let of_clip = |unit: &Vec<usize>| unit.iter().any(|index| *index >= before);
        let lately =
            |turn: &PendingTurn| clip.span.start.secs_since(turn.span.end) < LOOK_BACK_SECS;
        let is_short = |unit: &Vec<usize>| {
            let speech: f64 = unit.iter().map(|index| open[*index].speech_secs).sum();
            let clean = |index: &usize| !open[*index].overlapped && lately(&open[*index]);
            speech < SHORT_SECS && unit.iter().all(clean)
        };
        let short: Vec<usize> = (0..units.len()).filter(|at| is_short(&units[*at])).collect();
        let clear = |at: &usize| of_clip(&units[*at]) && items[*at].may_found;
        let clear: BTreeSet<usize> = (0..units.len()).filter(clear).collect();
        let (outcomes, thresholds) = (of_units.as_slice(), &self.voices);
        let grouped = Grouped { items: &items, outcomes, known, thresholds, apart: &apart };
        let by_clip = grouped.decide_short(&short, &clear);
        let mut outcomes = vec![(Outcome::Undecided, None); open.len()];
        for (at, unit) in units.iter().enumerate() {
            for index in unit {
                outcomes[*index] = (of_units[at], by_clip.get(&at).copied());
            }
        }

        let mut voices = Voices {
            given: BTreeMap::new(),
            late: vec![],
            new_entities: vec![],
            open: vec![],
            lessons: vec![],
            media: vec![],
        };
        let mut founded: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, turn) in open.into_iter().enumerate() {
            let mut found = |group: usize, turn: &PendingTurn| {
                let at = *founded.entry(group).or_insert_with(|| {
                    voices.new_entities.push(NewEntity::new(EntityKind::Voice, &turn.source));
                    voices.new_entities.len() - 1
                });
                voices.new_entities[at].include(turn.span.start, &turn.source);
                Assignment::New(at)
            };
            let (given, confidence, sure, teaches) = match outcomes[index] {
                (Outcome::Undecided, Some((whose, score))) => {
                    let given = match whose {
                        Whose::Known(gallery) => Assignment::Known(names[gallery]),
                        Whose::New(group) => found(group, &turn),
                    };
                    (given, DOUBT * self.voices.confidence(score), false, false)
                }
                (Outcome::Undecided, None) => {
                    voices.open.push(turn);
                    continue;
                }
                (Outcome::Known { gallery, score, sure }, _) => {
                    let doubt = if sure { 1.0 } else { DOUBT };
                    let confidence = doubt * thresholds.confidence(score);
                    let own = Probe::new(vec![(turn.embedding.clone(), turn.speech_secs as f32)]);
                    let likest = known[gallery].iter().map(|g| g.score(&own));
                    let teaches = likest.fold(-1.0_f32, f32::max) >= thresholds.teaches_from();
                    let sure = sure && !turn.overlapped;
                    (Assignment::Known(names[gallery]), confidence, sure, sure && teaches)
                }
                (Outcome::New { group }, _) => {
                    (found(group, &turn), 0.8, !turn.overlapped, !turn.overlapped)
                }
            };
            if teaches && turn.speech_secs >= FOUNDING_SECS {
                let weight = turn.speech_secs.min(10.0) as f32;
                voices.lessons.push((
                    given,
                    Exemplar {
                        entity: EntityId::new(EntityKind::Voice, 0),
                        slot: 0,
                        at: turn.span.start,
                        embedding: turn.embedding.clone(),
                        quality: (turn.speech_secs / 4.0).clamp(0.2, 1.0) as f32,
                        weight,
                        media: turn.sound.clone(),
                    },
                ));
            }
            if index < before {
                voices.late.push((turn, given, confidence, sure));
            } else {
                voices.given.insert(turn.turn, (given, confidence, sure));
            }
        }
        voices.media = media.into_values().collect();
        voices
    }

    /// Counts for how long voices of this clip were told apart, or spoke at once.
    pub(in crate::identify) fn count_apart(
        &mut self,
        turns: &[&SpeechTurn],
        voice: &BTreeMap<TurnId, EntityId>,
    ) {
        for (n, a) in turns.iter().enumerate() {
            for b in &turns[n + 1..] {
                // Numbered ones are counted below.
                let counted = a.distinct.is_some() && b.distinct.is_some() || a.source != b.source;
                let voices = voice.get(&a.id).zip(voice.get(&b.id)).filter(|(x, y)| x != y);
                let Some((x, y)) = voices.filter(|_| !counted) else { continue };
                let secs = together_secs(a.span, b.span);
                if secs > 0.0 {
                    self.evidence.together(*x, *y, secs);
                }
            }
        }
        let mut secs: BTreeMap<(&SourceId, u8), BTreeMap<EntityId, f64>> = BTreeMap::new();
        for turn in turns {
            if let (Some(number), Some(id)) = (turn.distinct, voice.get(&turn.id)) {
                let of = secs.entry((&turn.source, number)).or_default();
                *of.entry(*id).or_default() += turn.speech_secs;
            }
        }
        for ((source, number), these) in &secs {
            for ((other_source, other), those) in &secs {
                if source != other_source || number >= other {
                    continue;
                }
                for (a, x) in these {
                    for (b, y) in those.iter().filter(|(b, _)| *b != a) {
                        self.evidence.together(*a, *b, x.min(*y));
                    }
                }
            }
        }
    }

    /// Enters what the cameras showed in this clip; forgets what no turn can reach back to.
    pub(in crate::identify) fn look(&mut self, clip: &ClipPercepts, tracks: &[&FaceTrack]) {
        let horizon = clip.span.start.plus_secs(-LOOK_BACK_SECS);
        self.undecided.looks.retain(|look| look.at >= horizon);
        let mut looked = clip.looked.clone();
        looked.sort_by(|a, b| a.0.cmp(&b.0));
        for (source, times) in looked {
            for at in times {
                let mut visible: Vec<TrackId> = tracks
                    .iter()
                    .filter(|track| track.source == source && visible_at(track, at))
                    .map(|track| track.id)
                    .collect();
                visible.sort();
                let look = Look { at, source: source.clone(), tracks: visible };
                self.undecided.looks.push(look);
            }
        }
        self.undecided.looks.sort_by(|a, b| (a.at, &a.source).cmp(&(b.at, &b.source)));
    }

    /// Seconds of the turn's speech by the set of tracks that were visible; where no camera looked, none.
    pub(in crate::identify) fn seen_during(&self, turn: &SpeechTurn) -> Vec<(f64, Vec<TrackId>)> {
        let mut by_source: BTreeMap<&SourceId, Vec<&Look>> = BTreeMap::new();
        for look in &self.undecided.looks {
            by_source.entry(&look.source).or_default().push(look);
        }
        let steps = (turn.span.secs() / STEP_SECS).ceil().max(1.0);
        let step = turn.span.secs() / steps;
        let mut seen: BTreeMap<Vec<TrackId>, u32> = BTreeMap::new();
        for number in 0..steps as u32 {
            let at = turn.span.start.plus_secs((f64::from(number) + 0.5) * step);
            let looks: Vec<&Look> = by_source.values().filter_map(|l| nearest(l, at)).collect();
            if looks.is_empty() {
                continue;
            }
            let mut tracks: Vec<TrackId> =
                looks.iter().flat_map(|look| look.tracks.iter().copied()).collect();
            tracks.sort();
            tracks.dedup();
            *seen.entry(tracks).or_default() += 1;
        }
        let per_step = turn.speech_secs / steps;
        seen.into_iter().map(|(tracks, count)| (f64::from(count) * per_step, tracks)).collect()
    }
}

/// What the mouths say about a turn: mean log odds by track.
pub(in crate::identify) fn mouths_of(clip: &ClipPercepts, turn: TurnId) -> Vec<(TrackId, f32)> {
    let of = clip.mouths.iter().filter(|score| score.turn == turn);
    of.map(|score| (score.track, score.log_odds)).collect()
}

/// Whether it is short, not told apart from others of its clip, and a camera looked and saw nobody all the while.
fn is_fleeting(turn: &PendingTurn) -> bool {
    let unseen = turn.seen.iter().all(|(_, tracks)| tracks.is_empty());
    let alone = turn.distinct.is_none() && unseen && !turn.seen.is_empty();
    alone && turn.speech_secs < FLEETING_SECS
}

/// Whether hearing their clip again told the two turns apart.
fn told_apart(a: &PendingTurn, b: &PendingTurn) -> bool {
    let both = a.distinct.zip(b.distinct);
    both.is_some_and(|(x, y)| x != y) && a.clip == b.clip && a.source == b.source
}

/// For how long both turns were heard at once on one microphone: two voices then, seconds.
fn at_once_secs(a: &PendingTurn, b: &PendingTurn) -> f64 {
    if a.clip != b.clip || a.source != b.source || a.turn == b.turn {
        return 0.0;
    }
    together_secs(a.span, b.span)
}

/// Common time of two turns; turns that touch have none, whatever their rounding.
fn together_secs(a: Span, b: Span) -> f64 {
    let secs = a.overlap_secs(b);
    if secs < 0.05 { 0.0 } else { secs }
}

/// The camera's look that tells what it showed at that time.
fn nearest<'a>(looks: &[&'a Look], at: Timestamp) -> Option<&'a Look> {
    let (first, last) = (looks.first()?, looks.last()?);
    let spacing = last.at.secs_since(first.at) / (looks.len().max(2) - 1) as f64;
    let reach = (0.75 * spacing).clamp(0.15, 2.0);
    let after = looks.partition_point(|look| look.at < at);
    [after.checked_sub(1), Some(after)]
        .into_iter()
        .flatten()
        .filter_map(|index| looks.get(index))
        .min_by(|a, b| {
            let far = |look: &Look| look.at.secs_since(at).abs();
            far(a).total_cmp(&far(b))
        })
        .filter(|look| look.at.secs_since(at).abs() <= reach)
        .copied()
}
