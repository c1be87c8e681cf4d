//! Facts that people state plainly: names, likes, where they put things.
//!
//! Conservative patterns over the words of one utterance; a fact is a slot (subject, attribute) with a
//! value. Same value again: nothing new. Another value of a single-valued slot: the old one ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Scene, Sentence, Verdict};
use crate::identify::IdentifiedClip;
use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{Decision, Fact, FactAction, Ground, MemoryKind, MemoryRow, NameSource};
use crate::memory::{Draft, Filter, View};
use crate::time::Span;

/// Attributes that hold one value at a time.
pub(super) const SINGLE_VALUED: [&str; 4] = ["location", "name", "home", "job"];
/// Share of the doubt that one more statement takes away.
const REINFORCEMENT: f32 = 0.2;
/// Grounds kept of a fact that is stated over and over.
const MOST_GROUNDS: usize = 16;
/// Words that end the name of a thing or a place in running speech.
const STOPS: [&str; 20] = [
    "and", "but", "because", "so", "then", "if", "when", "while", "that", "which", "who", "please",
    "i", "you", "we", "he", "she", "they", "today", "now",
];
/// Longest name of a thing or a place, words.
const LONGEST: usize = 5;

/// "X is called Ava", for every name heard in the clip.
pub(super) fn of_names(identified: &IdentifiedClip) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for row in &identified.names {
        if row.source != NameSource::Said {
            continue;
        }
        let text = format!("<{}> is called {}.", row.entity, row.name);
        let span = Span::new(row.since, row.since);
        let mut sentence = Sentence::new(MemoryKind::Semantic, text, span, Vec::new());
        sentence.importance = 0.9;
        sentence.fact = Some(fact(row.entity.to_string(), "name", row.name.clone()));
        sentences.push(sentence);
    }
    sentences
}

fn fact(subject: String, attribute: &str, value: String) -> Fact {
    Fact { subject, attribute: attribute.to_owned(), value }
}

/// What the clip's speakers stated.
pub(super) fn of_utterances(scene: &Scene<'_>) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for turn in &scene.percepts.turns {
        let Some(words) = &turn.words else { continue };
        if scene.identified.is_aside(turn.id) {
            continue;
        }
        let speaker = scene.identified.person_of_turn(turn.id);
        for stated in stated(&words.text, speaker) {
            let grounds = vec![Ground::Turn(scene.percepts.clip, turn.id)];
            let mut sentence = Sentence::new(MemoryKind::Semantic, stated.text, turn.span, grounds);
            sentence.about.extend(speaker);
            sentence.fact = Some(stated.fact);
            sentence.importance = 0.6;
            sentence.confidence = 0.7;
            sentences.push(sentence);
        }
    }
    sentences
}

/// A fact and the sentence that states it.
#[derive(Clone, Debug, PartialEq)]
struct Stated {
    fact: Fact,
    text: String,
}

/// The facts in one utterance of `speaker`.
fn stated(text: &str, speaker: Option<EntityId>) -> Vec<Stated> {
    let mut found = Vec::new();
    for phrase in text.split(['.', '!', '?', ';', ',']) {
        let words: Vec<String> = phrase
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        found.extend(put_somewhere(&words));
        found.extend(is_somewhere(&words));
        if let Some(speaker) = speaker {
            found.extend(liking(&words, speaker));
        }
    }
    found
}

/// "I put the red mug on the kitchen table", "we left my keys in the drawer".
fn put_somewhere(words: &[&str]) -> Option<Stated> {
    let verb = words.iter().position(|word| matches!(*word, "put" | "left" | "placed" | "hid"))?;
    let subject = verb.checked_sub(1).map(|at| words[at])?;
    if !matches!(subject, "i" | "we" | "he" | "she" | "they" | "i've" | "have" | "just" | "has") {
        return None;
    }
    let rest = &words[verb + 1..];
    located(rest)
}

/// "the keys are in the drawer", "my phone is on the desk".
fn is_somewhere(words: &[&str]) -> Option<Stated> {
    let verb = words.iter().position(|word| matches!(*word, "is" | "are" | "lies" | "lie"))?;
    if !matches!(words.first()?, &"the" | &"my" | &"your" | &"our" | &"his" | &"her") {
        return None;
    }
    let mut rest: Vec<&str> = words[..verb].to_vec();
    rest.extend(&words[verb + 1..]);
    if !is_place_word(words.get(verb + 1)?) {
        return None;
    }
    located(&rest)
}

fn is_place_word(word: &str) -> bool {
    matches!(
        word,
        "on" | "in" | "under" | "behind" | "beside" | "inside" | "at" | "near" | "next" | "above"
    )
}

/// `[the red mug, on, the kitchen table]` → a location.
fn located(words: &[&str]) -> Option<Stated> {
    let at = words.iter().position(|word| is_place_word(word))?;
    let thing = noun(&words[..at])?;
    let place: Vec<&str> = words[at..]
        .iter()
        .take_while(|word| !STOPS.contains(word))
        .take(LONGEST + 2)
        .copied()
        .collect();
    if place.len() < 2 {
        return None;
    }
    let place = place.join(" ");
    let text = format!("The {thing} is {place}.");
    Some(Stated { fact: fact(thing, "location", place), text })
}

/// The thing's name without its article: at least one word, none of them a pronoun.
fn noun(words: &[&str]) -> Option<String> {
    let rest = match words {
        [article, rest @ ..]
            if matches!(*article, "the" | "a" | "an" | "my" | "your" | "our" | "his" | "her") =>
        {
            rest
        }
        _ => return None,
    };
    let sound =
        !rest.is_empty() && rest.len() <= LONGEST && !rest.iter().any(|w| STOPS.contains(w));
    sound.then(|| rest.join(" "))
}

/// "I like green tea", "I love running".
fn liking(words: &[&str], speaker: EntityId) -> Option<Stated> {
    let verb = words.windows(2).position(|pair| {
        pair[0] == "i" && matches!(pair[1], "like" | "love" | "prefer" | "hate")
    })?;
    let what: Vec<&str> = words[verb + 2..]
        .iter()
        .take_while(|word| !STOPS.contains(word))
        .take(LONGEST)
        .copied()
        .collect();
    if what.is_empty() || matches!(what[0], "to" | "it" | "this" | "the" | "how" | "what") {
        return None;
    }
    let (attribute, verb) =
        if words[verb + 1] == "hate" { ("dislikes", "dislikes") } else { ("likes", "likes") };
    let value = what.join(" ");
    let text = format!("<{speaker}> {verb} {value}.");
    Some(Stated { fact: fact(speaker.to_string(), attribute, value), text })
}

/// Judges what was stated against what is known: the same again strengthens what is known, another value of
/// a single-valued slot ends the old one. Each verdict is kept with its reason. Gives back what is new.
pub(super) fn settle(stated: Vec<Sentence>, before: &View, draft: &mut Draft) -> Vec<Sentence> {
    if stated.is_empty() {
        return stated;
    }
    let filter =
        Filter { kinds: vec![MemoryKind::Semantic, MemoryKind::Note], ..Filter::default() };
    let mut slots: BTreeMap<(String, String), Vec<Arc<MemoryRow>>> = BTreeMap::new();
    for row in before.memories(&filter) {
        if let Some(fact) = row.fact.as_ref().filter(|_| row.valid_to.is_none()) {
            slots.entry(slot(fact)).or_default().push(row);
        }
    }
    let mut fresh: Vec<Sentence> = Vec::new();
    for mut sentence in stated {
        let Some(fact) = sentence.fact.clone() else { continue };
        let known = slots.entry(slot(&fact)).or_default();
        let in_clip = fresh
            .iter()
            .rfind(|earlier| earlier.fact.as_ref().is_some_and(|f| slot(f) == slot(&fact)));
        if let Some(earlier) = in_clip {
            if earlier.fact.as_ref() == Some(&fact) {
                continue;
            }
            sentence.verdict = verdict(FactAction::Add, None, "another value in the same clip");
        } else if let Some(row) = known.iter_mut().find(|row| row.fact.as_ref() == Some(&fact)) {
            *row = Arc::new(strengthen(row, &sentence, draft));
            continue;
        } else if SINGLE_VALUED.contains(&fact.attribute.as_str()) {
            sentence.valid_to = known
                .iter()
                .map(|row| row.valid_from)
                .filter(|newer| *newer > sentence.span.start)
                .min();
            sentence.verdict = match sentence.valid_to {
                None => supersede(known, &sentence, draft),
                Some(_) => {
                    verdict(FactAction::Add, None, "an earlier value, which came to be known late")
                }
            };
        } else {
            let reason = match known.is_empty() {
                true => "the first value of this attribute",
                false => "another value of an attribute that may have several",
            };
            sentence.verdict = verdict(FactAction::Add, None, reason);
        }
        fresh.push(sentence);
    }
    fresh
}

fn slot(fact: &Fact) -> (String, String) {
    (fact.subject.clone(), fact.attribute.clone())
}

fn verdict(action: FactAction, other: Option<MemoryId>, reason: &str) -> Option<Verdict> {
    Some(Verdict { action, other, reason: reason.to_owned() })
}

/// The same was stated again: surer than before, with one more ground.
fn strengthen(row: &MemoryRow, again: &Sentence, draft: &mut Draft) -> MemoryRow {
    let mut row = row.clone();
    row.confidence += (1.0 - row.confidence) * REINFORCEMENT;
    for ground in &again.grounds {
        if row.grounds.len() < MOST_GROUNDS && !row.grounds.contains(ground) {
            row.grounds.push(*ground);
        }
    }
    draft.memory(row.clone(), None);
    draft.decision(Decision {
        memory: row.id,
        at: again.span.start,
        action: FactAction::None,
        other: None,
        reason: "the same value was stated again".to_owned(),
    });
    row
}

/// Ends the values that the new one replaces; which holds is decided by when they were stated.
fn supersede(known: &[Arc<MemoryRow>], sentence: &Sentence, draft: &mut Draft) -> Option<Verdict> {
    let mut replaced = None;
    for row in known.iter().filter(|row| row.valid_from <= sentence.span.start) {
        let reason = format!("superseded: {}", sentence.text);
        match draft.retire_memory(row.id, Some(sentence.span.start), &reason) {
            Ok(()) => {
                draft.decision(Decision {
                    memory: row.id,
                    at: sentence.span.start,
                    action: FactAction::Retire,
                    other: None,
                    reason: "another value of a single-valued attribute was stated".to_owned(),
                });
                replaced = Some(row.id);
            }
            Err(error) => tracing::warn!(%error, "A superseded fact was not closed."),
        }
    }
    match replaced {
        Some(old) => verdict(
            FactAction::Update,
            Some(old),
            "another value of a single-valued attribute: it replaces the older one",
        ),
        None => verdict(FactAction::Add, None, "the first value of this attribute"),
    }
}

/// Judges a note's fact: it is written as it was told in any case.
pub(super) fn place_taken(fact: &Fact, note: &MemoryRow, draft: &mut Draft) {
    let mut sentence = Sentence::new(note.kind, note.text.clone(), note.span, note.grounds.clone());
    sentence.fact = Some(fact.clone());
    let filter =
        Filter { kinds: vec![MemoryKind::Semantic, MemoryKind::Note], ..Filter::default() };
    let mut known = draft.before().memories(&filter);
    known.retain(|row| {
        row.valid_to.is_none()
            && row.fact.as_ref().is_some_and(|f| slot(f) == slot(fact) && f.value != fact.value)
    });
    let verdict = match SINGLE_VALUED.contains(&fact.attribute.as_str()) {
        true => supersede(&known, &sentence, draft),
        false => verdict(FactAction::Add, None, "told"),
    };
    if let Some(Verdict { action, other, reason }) = verdict {
        draft.decision(Decision { memory: note.id, at: note.span.start, action, other, reason });
    }
}

/// The fact that a told sentence states, where it is put plainly: where a thing is.
pub(super) fn told(text: &str) -> Option<Fact> {
    stated(text, None).into_iter().next().map(|stated| stated.fact)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::identify::Persons;
    use crate::ids::{ClipId, EntityKind, TurnId};
    use crate::memorize::{Author, BUILTIN, Memorizer};
    use crate::memory::{Memory, StoreOptions};
    use crate::time::Timestamp;

    fn facts(text: &str) -> Vec<String> {
        let ava = EntityId::new(EntityKind::Person, 1);
        stated(text, Some(ava))
            .into_iter()
            .map(|s| format!("{} | {} | {}", s.fact.subject, s.fact.attribute, s.fact.value))
            .collect()
    }

    #[test]
    fn plain_statements_become_slots() {
        assert_eq!(
            facts("I put the red mug on the kitchen table."),
            ["red mug | location | on the kitchen table"]
        );
        assert_eq!(
            facts("The keys are in the top drawer"),
            ["keys | location | in the top drawer"]
        );
        assert_eq!(facts("I like green tea and you?"), ["person_1 | likes | green tea"]);
    }

    #[test]
    fn other_speech_states_nothing() {
        for text in [
            "put it on",
            "where is the mug",
            "I would like to go",
            "is that on the list",
            "I put up with it in the end",
            "he is in",
            "",
            "I like",
            "the",
        ] {
            assert!(facts(text).is_empty(), "{text}: {:?}", facts(text));
        }
    }

    fn sentence(secs: i64, value: &str, attribute: &str, turn: u64) -> Sentence {
        let at = Timestamp::from_nanos(secs * 1_000_000_000);
        let clip = ClipId::default();
        let text = format!("{attribute} {value}");
        let grounds = vec![Ground::Turn(clip, TurnId(turn))];
        let mut sentence = Sentence::new(MemoryKind::Semantic, text, Span::new(at, at), grounds);
        sentence.fact = Some(fact("mug".into(), attribute, value.into()));
        sentence.confidence = 0.5;
        sentence
    }

    #[test]
    fn every_verdict_on_a_fact_is_kept_with_its_reason() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let memorizer = Memorizer::new(None);
        let state = |sentence: Sentence| {
            let mut draft = memory.begin(sentence.span.end);
            let persons = Persons::default();
            let fresh = settle(vec![sentence], &memory.view(), &mut draft);
            for sentence in fresh {
                let clip = ClipId::default();
                let author = Author { clip: Some(clip), origin: BUILTIN, persons: &persons };
                memorizer.write(sentence, author, &mut draft);
            }
            draft.commit().unwrap();
        };
        state(sentence(10, "on the table", "location", 1));
        state(sentence(20, "on the table", "location", 2));
        state(sentence(30, "in the sink", "location", 3));
        state(sentence(40, "red", "likes", 4));
        state(sentence(50, "blue", "likes", 5));
        let view = memory.view();
        let actions: Vec<_> =
            view.decisions().iter().map(|d| (d.memory.0, d.action, d.other.map(|o| o.0))).collect();
        assert_eq!(
            actions,
            [
                (1, FactAction::Add, None),
                (1, FactAction::None, None),
                (1, FactAction::Retire, None),
                (2, FactAction::Update, Some(1)),
                (3, FactAction::Add, None),
                (4, FactAction::Add, None),
            ]
        );
        assert!(view.decisions().iter().all(|decision| !decision.reason.is_empty()));
        let first = view.memory(MemoryId(1)).unwrap();
        assert!((first.confidence - 0.6).abs() < 1e-6 && first.grounds.len() == 2);
        assert_eq!(first.valid_to, Some(Timestamp::from_nanos(30_000_000_000)));
        let likes = [view.memory(MemoryId(3)).unwrap(), view.memory(MemoryId(4)).unwrap()];
        assert!(likes.iter().all(|row| row.valid_to.is_none() && row.is_weak()));
        // What is stated late about an earlier time does not end the newer.
        state(sentence(25, "on the shelf", "location", 6));
        assert!(memory.view().memory(MemoryId(2)).unwrap().valid_to.is_none());
        let late = memory.view().memory(MemoryId(5)).unwrap();
        assert_eq!(late.valid_to, Some(Timestamp::from_nanos(30_000_000_000)));
    }
}
