//! Facts that people state plainly: names, likes, where they put things.
//!
//! Conservative patterns over the words of one utterance; a fact is a slot (subject, attribute) with a
//! value. Same value again: nothing new. Another value of a single-valued slot: the old one ends.

mod told;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use told::told;

use super::{Scene, Sentence, Verdict};
use crate::identify::IdentifiedClip;
use crate::ids::{EntityId, MemoryId};
use crate::memory::model::{Decision, Fact, FactAction, Ground, MemoryKind, MemoryRow, NameSource};
use crate::memory::{Draft, Filter, View};
use crate::time::{Span, Timestamp};

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
/// "In the morning" is no place.
const TIMES: [&str; 9] =
    ["morning", "afternoon", "evening", "night", "noon", "midnight", "week", "month", "year"];
/// Words before the name of a thing.
const ARTICLES: [&str; 8] = ["the", "a", "an", "my", "your", "our", "his", "her"];
/// Longest names of things, attributes and values, characters.
pub(super) const SLOT_CHARS: usize = 80;
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
        let words: Vec<String> = words_of(phrase).map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        found.extend(put_somewhere(&words));
        found.extend(is_somewhere(&words));
        if let Some(speaker) = speaker {
            found.extend(liking(&words, speaker));
        }
    }
    found
}

/// The words of a phrase, without what stands around them.
fn words_of(phrase: &str) -> impl Iterator<Item = &str> {
    let words = phrase.split_whitespace();
    words
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
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

/// "the keys are in the drawer", "my phone is now on the desk".
fn is_somewhere(words: &[&str]) -> Option<Stated> {
    let verb = words.iter().position(|word| matches!(*word, "is" | "are" | "lies" | "lie"))?;
    if !matches!(words.first()?, &"the" | &"my" | &"your" | &"our" | &"his" | &"her") {
        return None;
    }
    let after = &words[verb + 1..];
    let after = after.strip_prefix(&["now"]).unwrap_or(after);
    if !is_place_word(after.first()?) {
        return None;
    }
    located(&[&words[..verb], after].concat())
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
    if place.len() < 2 || place.last().is_some_and(|word| TIMES.contains(word)) {
        return None;
    }
    let place = place.join(" ");
    let text = format!("The {thing} is {place}.");
    Some(Stated { fact: fact(thing, "location", place), text })
}

/// What facts call a thing: "The red mug." → "red mug". `None` for nothing, for mentions and for whole stories.
#[must_use]
pub fn thing_called(text: &str) -> Option<String> {
    let lower = text.trim().trim_end_matches('.').to_lowercase();
    let bare = match lower.split_once(' ') {
        Some((article, rest)) if ARTICLES.contains(&article) => rest.trim(),
        _ => lower.as_str(),
    };
    let plain =
        !bare.is_empty() && !bare.contains(['<', '>']) && bare.chars().count() <= SLOT_CHARS;
    plain.then(|| bare.to_owned())
}

/// The thing's name without its article: at least one word, none of them a pronoun.
fn noun(words: &[&str]) -> Option<String> {
    let rest = match words {
        [article, rest @ ..] if ARTICLES.contains(article) => rest,
        _ => return None,
    };
    let sound =
        !rest.is_empty() && rest.len() <= LONGEST && !rest.iter().any(|w| STOPS.contains(w));
    sound.then(|| rest.join(" "))
}

/// The words up to one that ends a name.
fn run<'a>(words: &[&'a str]) -> Vec<&'a str> {
    words.iter().take_while(|word| !STOPS.contains(word)).take(LONGEST).copied().collect()
}

/// Whether the words after "likes" name something.
fn is_liked(what: &[&str]) -> bool {
    what.first()
        .is_some_and(|first| !matches!(*first, "to" | "it" | "this" | "the" | "how" | "what"))
}

/// "I like green tea", "I love running".
fn liking(words: &[&str], speaker: EntityId) -> Option<Stated> {
    let verb = words.windows(2).position(|pair| {
        pair[0] == "i" && matches!(pair[1], "like" | "love" | "prefer" | "hate")
    })?;
    let what = run(&words[verb + 2..]);
    if !is_liked(&what) {
        return None;
    }
    let (attribute, verb) =
        if words[verb + 1] == "hate" { ("dislikes", "dislikes") } else { ("likes", "likes") };
    let value = what.join(" ");
    let text = format!("<{speaker}> {verb} {value}.");
    Some(Stated { fact: fact(speaker.to_string(), attribute, value), text })
}

/// A statement to be judged.
struct Statement<'a> {
    fact: &'a Fact,
    at: Timestamp,
    /// What a model wishes to be done.
    wish: Option<FactAction>,
    /// What it rests on.
    grounds: &'a [Ground],
    /// The told memory that says it.
    note: Option<MemoryId>,
}

/// What becomes of a statement.
enum Judgement {
    /// It says what is known, which is strengthened.
    Known,
    /// It is new: until when it is true, and why it is kept.
    New(Option<Timestamp>, Verdict),
}

/// A slot: subject and attribute.
type Slot = (String, String);

/// Judges what was stated against what is known: the same again strengthens what is known, another value of
/// a single-valued slot ends the old one. Each verdict is kept with its reason. Gives back what is new.
pub(super) fn settle(stated: Vec<Sentence>, before: &View, draft: &mut Draft) -> Vec<Sentence> {
    let wanted: Vec<Slot> =
        stated.iter().filter_map(|sentence| sentence.fact.as_ref()).map(slot).collect();
    let mut slots = known_in(wanted, before);
    let mut fresh: Vec<Sentence> = Vec::new();
    for mut sentence in stated {
        let Some(fact) = sentence.fact.clone() else { continue };
        let in_clip = fresh
            .iter()
            .rfind(|earlier| earlier.fact.as_ref().is_some_and(|f| slot(f) == slot(&fact)));
        if let Some(earlier) = in_clip {
            if earlier.fact.as_ref().is_some_and(|earlier| is_same(earlier, &fact)) {
                continue;
            }
            let reason = "another value in the same clip";
            sentence.verdict = Some(verdict(FactAction::Add, None, reason));
            fresh.push(sentence);
            continue;
        }
        let known = slots.entry(slot(&fact)).or_default();
        let (at, grounds) = (sentence.span.start, sentence.grounds.as_slice());
        let statement = Statement { fact: &fact, at, wish: sentence.wish, grounds, note: None };
        if let Judgement::New(valid_to, verdict) = judge(&statement, known, draft) {
            (sentence.valid_to, sentence.verdict) = (valid_to, Some(verdict));
            fresh.push(sentence);
        }
    }
    fresh
}

/// Judges the fact of a memory that was told, as any other. The memory is written in any case; what only says
/// again what is known has no slot of its own.
pub(super) fn settle_told(row: &mut MemoryRow, draft: &mut Draft) {
    let Some(fact) = row.fact.clone() else { return };
    let mut known =
        known_in([slot(&fact)], &draft.before()).remove(&slot(&fact)).unwrap_or_default();
    let (at, grounds) = (row.valid_from, [Ground::Memory(row.id)]);
    let statement =
        Statement { fact: &fact, at, wish: None, grounds: &grounds, note: Some(row.id) };
    match judge(&statement, &mut known, draft) {
        Judgement::Known => row.fact = None,
        Judgement::New(valid_to, Verdict { action, other, reason }) => {
            row.valid_to = valid_to.or(row.valid_to);
            draft.decision(Decision { memory: row.id, at, action, other, reason });
        }
    }
}

/// What those slots hold and held.
fn known_in(
    slots: impl IntoIterator<Item = Slot>,
    before: &View,
) -> BTreeMap<Slot, Vec<Arc<MemoryRow>>> {
    let mut known: BTreeMap<Slot, Vec<Arc<MemoryRow>>> =
        slots.into_iter().map(|slot| (slot, Vec::new())).collect();
    if known.is_empty() {
        return known;
    }
    let filter =
        Filter { kinds: vec![MemoryKind::Semantic, MemoryKind::Note], ..Filter::default() };
    for row in before.memories(&filter) {
        let Some(fact) = &row.fact else { continue };
        if let Some(rows) = known.get_mut(&slot(fact)) {
            rows.push(row);
        }
    }
    known
}

fn slot(fact: &Fact) -> Slot {
    (fact.subject.clone(), fact.attribute.clone())
}

/// Letter case aside.
fn is_same(a: &Fact, b: &Fact) -> bool {
    slot(a) == slot(b) && a.value.to_lowercase() == b.value.to_lowercase()
}

fn verdict(action: FactAction, other: Option<MemoryId>, reason: &str) -> Verdict {
    Verdict { action, other, reason: reason.to_owned() }
}

/// Judges one statement by when it was stated; brings `known`, what its slot holds and held, up to date.
fn judge(said: &Statement<'_>, known: &mut [Arc<MemoryRow>], draft: &mut Draft) -> Judgement {
    let states = |row: &MemoryRow| row.fact.as_ref().is_some_and(|fact| is_same(fact, said.fact));
    let holds =
        |row: &MemoryRow| row.valid_from <= said.at && row.valid_to.is_none_or(|end| said.at < end);
    let single = match said.wish {
        Some(FactAction::Retire) => {
            for row in known.iter_mut().filter(|row| states(row) && holds(row)) {
                end(row, said.at, "a model concluded that it is true no more", draft);
            }
            return Judgement::Known;
        }
        // What a model takes for known and is not is kept by nature.
        Some(FactAction::Add) => false,
        Some(FactAction::Update) => true,
        Some(FactAction::None) | None => SINGLE_VALUED.contains(&said.fact.attribute.as_str()),
    };
    if !single {
        let reason = match (said.wish, known.is_empty()) {
            (_, true) => "the first value of this attribute",
            (Some(FactAction::Add), false) => "a model concluded that it is true beside the others",
            (_, false) => "another value of an attribute that may have several",
        };
        return match known.iter_mut().find(|row| states(row) && row.valid_to.is_none()) {
            Some(row) => strengthen(row, said, draft),
            None => Judgement::New(None, verdict(FactAction::Add, None, reason)),
        };
    }
    known.sort_by_key(|row| (row.valid_from, row.id));
    if let Some(row) = known.iter_mut().rfind(|row| states(row) && holds(row)) {
        return strengthen(row, said, draft);
    }
    let mut replaced = None;
    for row in known.iter_mut().filter(|row| holds(row)) {
        replaced = end(row, said.at, REPLACED, draft).or(replaced);
    }
    let next = known.iter_mut().find(|row| row.valid_from > said.at);
    let until = next.as_ref().map(|row| row.valid_from);
    if let Some(row) = next.filter(|row| states(row)) {
        // It was so earlier than was known.
        Arc::make_mut(row).valid_from = said.at;
        return strengthen(row, said, draft);
    }
    let verdict = match (replaced, until) {
        (Some(old), _) => {
            let reason = match said.wish {
                Some(FactAction::Update) => "a model concluded that it replaces the older value",
                _ => "another value of a single-valued attribute: it replaces the older one",
            };
            verdict(FactAction::Update, Some(old), reason)
        }
        (None, Some(_)) => {
            verdict(FactAction::Add, None, "an earlier value, which came to be known late")
        }
        (None, None) => verdict(FactAction::Add, None, "the first value of this attribute"),
    };
    Judgement::New(until, verdict)
}

/// The same was stated again: surer than before, with one more ground.
fn strengthen(row: &mut Arc<MemoryRow>, again: &Statement<'_>, draft: &mut Draft) -> Judgement {
    let known = Arc::make_mut(row);
    known.confidence += (1.0 - known.confidence) * REINFORCEMENT;
    // What was told rests on nothing but itself; it must not come to rest on what repeats it alone.
    if again.note.is_none() || !known.grounds.is_empty() {
        for ground in again.grounds {
            if known.grounds.len() < MOST_GROUNDS && !known.grounds.contains(ground) {
                known.grounds.push(*ground);
            }
        }
    }
    draft.memory(known.clone(), None);
    draft.decision(Decision {
        memory: known.id,
        at: again.at,
        action: FactAction::None,
        other: again.note,
        reason: "the same value was stated again".to_owned(),
    });
    Judgement::Known
}

/// Why a value ends that another one replaces.
const REPLACED: &str = "another value of a single-valued attribute was stated";

/// Ends a value. The reason quotes nothing: it outlives what it speaks of.
fn end(
    row: &mut Arc<MemoryRow>,
    at: Timestamp,
    reason: &str,
    draft: &mut Draft,
) -> Option<MemoryId> {
    if let Err(error) = draft.retire_memory(row.id, Some(at), reason) {
        tracing::warn!(%error, "A superseded fact was not closed.");
        return None;
    }
    let (action, reason) = (FactAction::Retire, reason.to_owned());
    draft.decision(Decision { memory: row.id, at, action, other: None, reason });
    Arc::make_mut(row).valid_to = Some(at);
    Some(row.id)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::identify::Persons;
    use crate::ids::{ClipId, EntityKind, TurnId};
    use crate::memorize::{Author, BUILTIN, Memorizer};
    use crate::memory::{Memory, StoreOptions};

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
        assert_eq!(facts("The keys are now in the hall"), ["keys | location | in the hall"]);
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
            "I left the house in the morning",
            "it is in the air",
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

    /// States it in a transaction of its own.
    fn state_in(memory: &Memory, sentence: Sentence) {
        let mut draft = memory.begin(sentence.span.end);
        let persons = Persons::default();
        let fresh = settle(vec![sentence], &memory.view(), &mut draft);
        for sentence in fresh {
            let clip = ClipId::default();
            let author = Author { clip: Some(clip), origin: BUILTIN, persons: &persons };
            Memorizer::new(None).write(sentence, author, &mut draft);
        }
        draft.commit().unwrap();
    }

    #[test]
    fn a_models_verdict_goes_before_the_nature_of_the_attribute() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let said = [
            (10, "spare", "role", None),
            (20, "main", "role", Some(FactAction::Update)),
            (30, "in the sink", "location", None),
            (40, "on the shelf", "location", Some(FactAction::Add)),
            (50, "main", "role", Some(FactAction::None)),
            (60, "main", "role", Some(FactAction::Retire)),
            (70, "unheard of", "role", Some(FactAction::Retire)),
        ];
        for (turn, (secs, value, attribute, wish)) in (1..).zip(said) {
            let sentence = sentence(secs, value, attribute, turn);
            state_in(&memory, Sentence { wish, ..sentence });
        }
        let ends = |id| memory.view().memory(MemoryId(id)).unwrap().valid_to;
        let secs = |secs: i64| Some(Timestamp::from_nanos(secs * 1_000_000_000));
        assert_eq!([1, 2, 3, 4].map(ends), [secs(20), secs(60), None, None]);
        assert!(memory.view().memory(MemoryId(5)).is_none());
        let strengthened = memory.view().memory(MemoryId(2)).unwrap();
        assert_eq!(strengthened.grounds.len(), 2);
    }

    #[test]
    fn every_verdict_on_a_fact_is_kept_with_its_reason() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let state = |sentence: Sentence| state_in(&memory, sentence);
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
        // And ends what was before it.
        let first = memory.view().memory(MemoryId(1)).unwrap();
        assert_eq!(first.valid_to, Some(late.valid_from));
    }

    /// Tells notes, each with its minute; gives back the decisions about them.
    fn tell(memory: &Memory, notes: &[(&str, i64)]) -> Vec<(u64, FactAction, Option<u64>)> {
        for (text, minute) in notes {
            let at = Timestamp::from_nanos(minute * 60_000_000_000);
            let mut draft = memory.begin(Timestamp::from_nanos(i64::MAX / 2));
            let row = MemoryRow {
                id: MemoryId::default(),
                kind: MemoryKind::Note,
                text: (*text).to_owned(),
                span: Span::new(at, at),
                clip: None,
                entities: Vec::new(),
                fact: None,
                importance: 0.6,
                confidence: 0.5,
                pinned: false,
                valid_from: at,
                valid_to: None,
                grounds: Vec::new(),
                origin: "told".to_owned(),
            };
            Memorizer::new(None).note(row, &Persons::default(), &mut draft);
            draft.commit().unwrap();
        }
        let decisions = memory.view().decisions();
        decisions.iter().map(|d| (d.memory.0, d.action, d.other.map(|other| other.0))).collect()
    }

    /// The slots that hold or held, with the minutes from which and until which.
    fn slots(memory: &Memory) -> Vec<(String, i64, Option<i64>)> {
        let minute = |at: Timestamp| at.as_nanos() / 60_000_000_000;
        let rows = memory.view().memories(&Filter::default());
        let slotted = rows.iter().filter_map(|row| {
            let fact = row.fact.as_ref()?;
            Some((fact.value.clone(), minute(row.valid_from), row.valid_to.map(minute)))
        });
        slotted.collect()
    }

    #[test]
    fn notes_told_late_find_their_place_in_time() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let (shed, garage) = ("The drill is in the shed.", "The drill is in the garage.");
        let decided = tell(&memory, &[(shed, 840), (garage, 660), (shed, 870)]);
        assert_eq!(
            slots(&memory),
            [("in the garage".to_owned(), 660, Some(840)), ("in the shed".to_owned(), 840, None)]
        );
        assert_eq!(
            decided,
            [
                (2, FactAction::Add, None),
                (1, FactAction::Add, None),
                (1, FactAction::None, Some(3)),
            ]
        );
        let view = memory.view();
        assert!((view.memory(MemoryId(1)).unwrap().confidence - 0.6).abs() < 1e-6);
        assert_eq!(view.memory(MemoryId(3)).unwrap().text, shed, "as it was told");
        // It was there earlier than was known: the border moves.
        tell(&memory, &[("The drill is in the Shed.", 780)]);
        assert_eq!(
            slots(&memory),
            [("in the garage".to_owned(), 660, Some(780)), ("in the shed".to_owned(), 780, None)]
        );
        // What stood in between ends with what comes next.
        tell(&memory, &[("The drill is on the bench.", 700)]);
        assert_eq!(
            slots(&memory),
            [
                ("in the garage".to_owned(), 660, Some(700)),
                ("on the bench".to_owned(), 700, Some(780)),
                ("in the shed".to_owned(), 780, None),
            ]
        );
    }
}
