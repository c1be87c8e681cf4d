//! Episodes: who was in view, who came with whom, who was heard without being seen, what was loud,
//! when nothing went on.

use std::collections::BTreeMap;

use super::{Scene, Sentence};
use crate::ids::{EntityId, SourceId};
use crate::memory::model::{Ground, MemoryKind};
use crate::percept::{Liveness, SoundKind};
use crate::time::{Span, Timestamp};

/// Sightings closer together than this are one stay, seconds.
const STAY_GAP_SECS: f64 = 3.0;
/// Being in view together for less is not worth a memory, seconds.
const TOGETHER_SECS: f64 = 1.0;
/// A body without a face that is in view for less may be a false alarm, seconds.
const NAMELESS_SECS: f64 = 2.0;
/// An empty scene is worth a memory from this length on, seconds.
const NOBODY_SECS: f64 = 10.0;

/// A stretch in which something was perceived, with what it rests on.
#[derive(Clone)]
struct Stay {
    span: Span,
    grounds: Vec<Ground>,
}

pub(super) fn sentences(scene: &Scene<'_>) -> Vec<Sentence> {
    let seen = seen(scene);
    let heard = heard(scene);
    let mut sentences = in_view(&seen);
    sentences.extend(together(&seen));
    sentences.extend(heard_unseen(scene, &seen, &heard));
    sentences.extend(nameless(scene, &seen));
    sentences.extend(loud_sounds(scene));
    sentences.extend(nobody(scene));
    sentences
}

/// "9 s", "1 min 12 s", "2 h 5 min".
fn length(secs: f64) -> String {
    let whole = secs.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, secs) => format!("{secs} s"),
        (0, minutes, secs) => format!("{minutes} min {secs} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Joins stretches that nearly touch; in time order.
fn join(mut stays: Vec<Stay>) -> Vec<Stay> {
    stays.sort_by_key(|stay| (stay.span.start, stay.span.end));
    let mut joined: Vec<Stay> = Vec::new();
    for stay in stays {
        match joined.last_mut() {
            Some(last) if stay.span.start.secs_since(last.span.end) <= STAY_GAP_SECS => {
                last.span.end = last.span.end.max(stay.span.end);
                last.grounds.extend(stay.grounds);
            }
            _ => joined.push(stay),
        }
    }
    joined
}

/// Stays in view by person and camera.
fn seen(scene: &Scene<'_>) -> BTreeMap<(EntityId, SourceId), Vec<Stay>> {
    let mut stays: BTreeMap<_, Vec<Stay>> = BTreeMap::new();
    for track in &scene.percepts.tracks {
        if let Some(person) = scene.identified.person_of_track(track.id) {
            let grounds = vec![Ground::Track(scene.percepts.clip, track.id)];
            let stay = Stay { span: track.span, grounds };
            stays.entry((person, track.source.clone())).or_default().push(stay);
        }
    }
    for body in &scene.percepts.bodies {
        if let Some(person) = scene.identified.person_of_body(body.id) {
            let grounds = vec![Ground::Track(scene.percepts.clip, body.id)];
            let stay = Stay { span: body.span, grounds };
            stays.entry((person, body.source.clone())).or_default().push(stay);
        }
    }
    stays.into_iter().map(|(key, stays)| (key, join(stays))).collect()
}

/// Stretches of speech by person.
fn heard(scene: &Scene<'_>) -> BTreeMap<EntityId, Vec<Stay>> {
    let mut stays: BTreeMap<_, Vec<Stay>> = BTreeMap::new();
    for turn in &scene.percepts.turns {
        if let Some(person) = scene.identified.person_of_turn(turn.id) {
            let grounds = vec![Ground::Turn(scene.percepts.clip, turn.id)];
            stays.entry(person).or_default().push(Stay { span: turn.span, grounds });
        }
    }
    stays.into_iter().map(|(person, stays)| (person, join(stays))).collect()
}

fn in_view(seen: &BTreeMap<(EntityId, SourceId), Vec<Stay>>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for ((person, camera), stays) in seen {
        for stay in stays {
            let text =
                format!("<{person}> was in view of {camera} for {}.", length(stay.span.secs()));
            let grounds = stay.grounds.clone();
            sentences.push(Sentence::new(MemoryKind::Episodic, text, stay.span, grounds));
        }
    }
    sentences
}

/// Pairs in view of one camera at the same time.
fn together(seen: &BTreeMap<(EntityId, SourceId), Vec<Stay>>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for ((a, camera), stays) in seen {
        for ((b, other), others) in seen {
            if a >= b || camera != other {
                continue;
            }
            for x in stays {
                for y in others {
                    let Some(span) = x.span.intersection(y.span) else { continue };
                    if span.secs() < TOGETHER_SECS {
                        continue;
                    }
                    let secs = length(span.secs());
                    let text =
                        format!("<{a}> and <{b}> were in view of {camera} together for {secs}.");
                    let grounds = x.grounds.iter().chain(&y.grounds).copied().collect();
                    sentences.push(Sentence::new(MemoryKind::Episodic, text, span, grounds));
                }
            }
        }
    }
    sentences
}

fn heard_unseen(
    scene: &Scene<'_>,
    seen: &BTreeMap<(EntityId, SourceId), Vec<Stay>>,
    heard: &BTreeMap<EntityId, Vec<Stay>>,
) -> Vec<Sentence> {
    let looked = scene.percepts.looked.iter().any(|(_, times)| !times.is_empty());
    let mut sentences = Vec::new();
    for (person, stays) in heard {
        for stay in stays {
            let visible: f64 = seen
                .iter()
                .filter(|((who, _), _)| who == person)
                .flat_map(|(_, stays)| stays)
                .map(|view| view.span.overlap_secs(stay.span))
                .sum();
            if looked && visible > 0.5 * stay.span.secs() {
                continue;
            }
            let secs = length(stay.span.secs());
            let text = if looked {
                format!("<{person}> was heard for {secs} but not seen.")
            } else {
                format!("<{person}> was heard for {secs}.")
            };
            let grounds = stay.grounds.clone();
            sentences.push(Sentence::new(MemoryKind::Episodic, text, stay.span, grounds));
        }
    }
    sentences
}

/// Somebody whose face was not seen: bodies that are more than the people who were seen there.
fn nameless(scene: &Scene<'_>, seen: &BTreeMap<(EntityId, SourceId), Vec<Stay>>) -> Vec<Sentence> {
    let bodies = &scene.percepts.bodies;
    let mut stays: BTreeMap<&SourceId, Vec<Stay>> = BTreeMap::new();
    for body in bodies {
        let known = seen.keys().filter(|(_, camera)| *camera == body.source).count();
        let beside = bodies.iter().filter(|other| {
            other.source == body.source && other.span.overlap_secs(body.span) > 0.0
        });
        if scene.identified.person_of_body(body.id).is_none() && beside.count() > known {
            let grounds = vec![Ground::Track(scene.percepts.clip, body.id)];
            stays.entry(&body.source).or_default().push(Stay { span: body.span, grounds });
        }
    }
    let mut sentences = Vec::new();
    for (camera, stays) in stays {
        for stay in join(stays).into_iter().filter(|stay| stay.span.secs() >= NAMELESS_SECS) {
            let secs = length(stay.span.secs());
            let text =
                format!("Somebody whose face was not seen was in view of {camera} for {secs}.");
            let mut sentence =
                Sentence::new(MemoryKind::Episodic, text, stay.span, stay.grounds.clone());
            sentence.importance = 0.2;
            sentences.push(sentence);
        }
    }
    sentences
}

/// Loud sounds; what several microphones hear at once is one.
fn loud_sounds(scene: &Scene<'_>) -> Vec<Sentence> {
    let loud = scene.percepts.sounds.iter().filter(|sound| sound.kind == SoundKind::Loud);
    let heard = loud.map(|sound| Stay { span: sound.span, grounds: Vec::new() }).collect();
    let sentence = |stay: Stay| {
        let secs = stay.span.secs();
        let text = if secs < 1.0 {
            "A short loud sound was heard.".to_owned()
        } else {
            format!("A loud sound was heard for {}.", length(secs))
        };
        let mut sentence = Sentence::new(MemoryKind::Episodic, text, stay.span, Vec::new());
        sentence.importance = 0.2;
        sentence
    };
    join(heard).into_iter().map(sentence).collect()
}

/// Long stretches in which every camera looked and nobody was seen or heard, with those before the clip that went unwritten.
fn nobody(scene: &Scene<'_>) -> Vec<Sentence> {
    let percepts = scene.percepts;
    let looked: Vec<Timestamp> =
        percepts.looked.iter().flat_map(|(_, times)| times.iter().copied()).collect();
    let before = scene.quiet_since;
    let first = before.or(looked.iter().min().copied());
    let last = looked.iter().max().copied().or(before.map(|_| percepts.span.start));
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    let living = percepts.tracks.iter().filter(|track| track.life != Liveness::Picture);
    let mut busy: Vec<Span> = living.map(|track| track.span).collect();
    busy.extend(percepts.bodies.iter().map(|body| body.span));
    busy.extend(percepts.turns.iter().map(|turn| turn.span));
    busy.sort_unstable();
    let mut sentences = Vec::new();
    let mut free = first;
    for span in busy.into_iter().chain([Span::new(last, last)]) {
        let gap = Span::new(free, span.start);
        if gap.secs() >= NOBODY_SECS {
            let text = format!("Nobody was seen or heard for {}.", length(gap.secs()));
            let mut sentence = Sentence::new(MemoryKind::Episodic, text, gap, Vec::new());
            sentence.importance = 0.1;
            sentences.push(sentence);
        }
        free = free.max(span.end);
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_nearly_touch_are_one_stay() {
        let stay = |from: f64, to: f64| Stay {
            span: Span::new(Timestamp::EPOCH.plus_secs(from), Timestamp::EPOCH.plus_secs(to)),
            grounds: Vec::new(),
        };
        let joined = join(vec![stay(10.0, 12.0), stay(0.0, 4.0), stay(6.5, 8.0), stay(30.0, 31.0)]);
        let spans: Vec<f64> = joined.iter().map(|stay| stay.span.secs()).collect();
        assert_eq!(spans, [12.0, 1.0]);
        assert_eq!([length(71.6), length(7_530.0)], ["1 min 12 s", "2 h 5 min"]);
    }
}
