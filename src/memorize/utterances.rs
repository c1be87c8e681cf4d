//! Utterances: who said what, verbatim.

use super::{Scene, Sentence};
use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{Ground, MemoryKind, MemoryRow};
use crate::memory::{Filter, View};
use crate::mention;
use crate::percept::SpeechTurn;

/// The sentence for words whose speaker is, or is not yet, known.
fn wording(speaker: Option<EntityId>, words: &str) -> String {
    match speaker {
        Some(person) => format!("<{person}> said: \"{words}\""),
        None => format!("Somebody said: \"{words}\""),
    }
}

/// One per turn with words.
pub(super) fn sentences(scene: &Scene<'_>) -> Vec<Sentence> {
    let clip = scene.percepts.clip;
    let mut found = Vec::new();
    for turn in &scene.percepts.turns {
        // What the robot says itself, and what comes out of a television, tells of nobody.
        if scene.identified.is_non_person(turn.id) {
            continue;
        }
        let speaker = scene.identified.person_of_turn(turn.id);
        let grounds = vec![Ground::Turn(clip, turn.id)];
        let id = scene.reserved.and_then(|reserved| reserved.get(&turn.id)).copied();
        let written = sentence(turn, speaker, grounds, scene.before);
        found.extend(written.map(|written| Sentence { id, ..written }));
    }
    found
}

/// What a turn's words come to; `None` without words.
pub(super) fn sentence(
    turn: &SpeechTurn,
    speaker: Option<EntityId>,
    grounds: Vec<Ground>,
    before: &View,
) -> Option<Sentence> {
    let transcript = turn.words.as_ref()?;
    let words = transcript.text.trim();
    if words.is_empty() {
        return None;
    }
    let text = wording(speaker, words);
    let mut sentence = Sentence::new(MemoryKind::Utterance, text, turn.span, grounds);
    // Who is spoken of by a name that was written otherwise: the words stay as they are.
    let heard = before.heard_in(&transcript.text, &transcript.doubted());
    sentence.about.extend(heard.into_iter().map(|heard| heard.entity));
    // Longer speech carries more.
    sentence.importance = (0.2 + 0.02 * words.split_whitespace().count() as f32).min(0.6);
    Some(sentence)
}

/// Memories of turns of earlier clips that turn out to be the robot's own or a television's: to be taken back.
pub(super) fn asides(scene: &Scene<'_>) -> Vec<MemoryId> {
    let mut found = Vec::new();
    for (clip, turn, voice) in &scene.identified.late_turns {
        if !scene.persons.is_non_person(*voice) {
            continue;
        }
        let filter = Filter { clip: Some(*clip), ..Filter::default() };
        let ground = Ground::Turn(*clip, *turn);
        let alone =
            |row: &MemoryRow| !row.grounds.is_empty() && row.grounds.iter().all(|g| *g == ground);
        found.extend(scene.before.memories(&filter).iter().filter(|r| alone(r)).map(|r| r.id));
    }
    found
}

/// New versions of utterances of earlier clips whose speaker was decided only now.
pub(super) fn late(scene: &Scene<'_>) -> Vec<MemoryRow> {
    let mut rows = Vec::new();
    let known = scene.identified.late_turns.iter();
    for (clip, turn, voice) in known.filter(|(_, _, voice)| !scene.persons.is_non_person(*voice)) {
        let filter =
            Filter { clip: Some(*clip), kinds: vec![MemoryKind::Utterance], ..Filter::default() };
        let ground = Ground::Turn(*clip, *turn);
        for row in scene.before.memories(&filter) {
            if !row.grounds.contains(&ground) || !mention::mentions(&row.text).is_empty() {
                continue;
            }
            let Some((_, quoted)) = row.text.split_once(": \"") else { continue };
            let mut row = (*row).clone();
            let speaker = scene.persons.person_of(*voice).unwrap_or(*voice);
            row.text = wording(Some(speaker), quoted.trim_end_matches('"'));
            row.entities.push(speaker);
            row.entities.sort_unstable();
            row.entities.dedup();
            rows.push(row);
        }
    }
    rows
}
