//! Facts that people state plainly: names, likes, where they put things.
//!
//! Conservative patterns over the words of one utterance; a fact is a slot (subject, attribute) with a
//! value. Same value again: nothing new. Another value of a single-valued slot: the old one ends.

use std::collections::BTreeMap;

use super::{Scene, Sentence};
use crate::identify::IdentifiedClip;
use crate::ids::EntityId;
use crate::memory::model::{Fact, Ground, MemoryKind, MemoryRow, NameSource};
use crate::memory::{Draft, Filter, View};
use crate::time::Span;

/// Attributes that hold one value at a time.
pub(super) const SINGLE_VALUED: [&str; 4] = ["location", "name", "home", "job"];
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

/// Drops what is known already and ends what is no longer so; gives back what is new.
pub(super) fn settle(stated: Vec<Sentence>, before: &View, draft: &mut Draft) -> Vec<Sentence> {
    if stated.is_empty() {
        return stated;
    }
    let filter =
        Filter { kinds: vec![MemoryKind::Semantic, MemoryKind::Note], ..Filter::default() };
    let mut slots: BTreeMap<(String, String), Vec<std::sync::Arc<MemoryRow>>> = BTreeMap::new();
    for row in before.memories(&filter) {
        if let Some(fact) = row.fact.as_ref().filter(|_| row.valid_to.is_none()) {
            slots.entry((fact.subject.clone(), fact.attribute.clone())).or_default().push(row);
        }
    }
    let mut fresh: Vec<Sentence> = Vec::new();
    for sentence in stated {
        let Some(fact) = sentence.fact.clone() else { continue };
        let single = SINGLE_VALUED.contains(&fact.attribute.as_str());
        let slot = (fact.subject.clone(), fact.attribute.clone());
        let known = slots.get(&slot).map(Vec::as_slice).unwrap_or_default();
        let again = |other: &Fact| *other == fact;
        let in_clip = fresh.iter().rposition(|earlier| {
            earlier
                .fact
                .as_ref()
                .is_some_and(|f| f.subject == fact.subject && f.attribute == fact.attribute)
        });
        if let Some(at) = in_clip {
            if fresh[at].fact.as_ref().is_some_and(again) {
                continue;
            }
        } else if known.iter().any(|row| row.fact.as_ref().is_some_and(again)) {
            continue;
        } else if single {
            for row in known.iter().filter(|row| row.valid_from <= sentence.span.start) {
                let reason = format!("superseded: {}", sentence.text);
                if let Err(error) = draft.retire_memory(row.id, Some(sentence.span.start), &reason)
                {
                    tracing::warn!(%error, "A superseded fact was not closed.");
                }
            }
        }
        fresh.push(sentence);
    }
    fresh
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::EntityKind;

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
}
