//! What of a model's conclusions gets into the memory: nothing that names an id which was not given, no name
//! that was not said, nothing that is known already.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::identify::Persons;
use crate::ids::{EntityId, EntityKind};
use crate::memorize::facts::SLOT_CHARS;
use crate::memorize::{Author, BUILTIN, Memorizer, Sentence, facts};
use crate::memory::model::{Fact as Slot, Ground, MemoryKind, MemoryRow};
use crate::memory::natures::attribute_meant;
use crate::memory::{Draft, Filter, View, placed_by};
use crate::mention;
use crate::time::Span;

use super::reply::{Conclusions, NamedAs};
use super::spooled::SpooledClip;

/// Cosine from which two statements about the same persons say the same.
const SAME: f32 = 0.9;
/// How far a model's fact is believed.
const CONFIDENCE: f32 = 0.6;
/// A built-in sentence that a model's event describes better steps back by this.
const STEP_BACK: f32 = 0.5;

/// What was written of a clip's conclusions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refined {
    /// New memories, by id.
    pub rows: Vec<MemoryRow>,
    /// Built-in memories that stepped back behind them.
    pub refined: usize,
    /// Conclusions that named an id which was not given.
    pub refused: usize,
}

impl Conclusions {
    /// The names that were really said in the clip, of those who were in it.
    #[must_use]
    pub fn said_names(&self, clip: &SpooledClip) -> Vec<NamedAs> {
        let given = clip.given();
        let words: BTreeSet<String> =
            clip.turns.iter().flat_map(|turn| words_of(&turn.words)).collect();
        let said = |name: &str| words_of(name).iter().all(|word| words.contains(word));
        let stated = self.facts.iter().filter_map(|fact| facts::naming(&fact.text));
        let stated = stated.map(|(entity, name)| NamedAs { entity, name });
        let mut names = self.names.clone();
        names.extend(stated);
        names.dedup();
        names.retain(|one| given.contains(&one.entity) && said(&one.name));
        names
    }
}

fn words_of(text: &str) -> Vec<String> {
    let letters = |c: char| !c.is_alphanumeric();
    text.split(letters).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Turns what a model wrote into what the memory holds.
struct Admission<'a> {
    clip: &'a SpooledClip,
    given: BTreeSet<EntityId>,
    persons: &'a Persons,
    before: &'a View,
}

impl Admission<'_> {
    /// The entity under its present id; `None` for what was not given or is no more.
    fn entity(&self, id: Option<EntityId>) -> Option<EntityId> {
        let id = id.filter(|id| self.given.contains(id))?;
        let known = self.persons.person_of(id).unwrap_or_else(|| self.persons.resolve(id));
        self.before.knows(known).then_some(known)
    }

    /// The sentence with mentions; `None` when it names an id that was not given.
    fn text(&self, text: &str) -> Option<String> {
        worded(text, |id| self.entity(id))
    }

    /// A stretch of the clip.
    fn span(&self, secs: Option<(f64, f64)>) -> Span {
        let Span { start, end } = self.clip.span;
        let Some((from, to)) = secs else { return self.clip.span };
        let most = end.secs_since(start);
        let from = from.clamp(0.0, most);
        let to = to.clamp(from, most);
        Span::new(start.plus_secs(from), start.plus_secs(to).min(end))
    }

    /// Turns of those persons in that time, and the built-in memories about them.
    fn grounds(&self, persons: &[EntityId], span: Span) -> Vec<Ground> {
        let touches = |other: Span| {
            other.overlap_secs(span) > 0.0
                || span.contains(other.start)
                || other.contains(span.start)
        };
        let mut grounds: Vec<Ground> = self
            .clip
            .turns
            .iter()
            .filter(|turn| touches(turn.span))
            .filter(|turn| {
                self.entity(turn.person.or(turn.voice)).is_some_and(|id| persons.contains(&id))
            })
            .map(|turn| Ground::Turn(self.clip.clip, turn.turn))
            .collect();
        let filter = Filter {
            clip: Some(self.clip.clip),
            kinds: vec![MemoryKind::Episodic],
            ..Filter::default()
        };
        let rows = self.before.memories(&filter);
        let about = |row: &MemoryRow| {
            row.origin == BUILTIN
                && touches(row.span)
                && row.entities.iter().any(|id| persons.contains(&self.before.resolve(*id)))
        };
        grounds.extend(rows.iter().filter(|row| about(row)).map(|row| Ground::Memory(row.id)));
        grounds
    }

    fn sentence(&self, kind: MemoryKind, text: String, span: Span) -> Sentence {
        let mut about: Vec<EntityId> =
            mention::mentions(&text).into_iter().map(|one| one.entity).collect();
        about.sort_unstable();
        about.dedup();
        let grounds = self.grounds(&about, span);
        let mut sentence = Sentence::new(kind, text, span, grounds);
        sentence.about = about;
        sentence
    }

    /// A slot: its subject an entity or a plain noun. `None`: there is none that can be kept.
    fn slot(&self, subject: &str, attribute: &str, value: &str) -> Option<Slot> {
        let attribute = attribute_meant(attribute);
        // Names have rules of their own.
        if attribute.is_empty() || attribute == "name" {
            return None;
        }
        let subject = match mention::spelled(subject).as_slice() {
            [] => facts::thing_called(subject)?,
            [one] => self.entity(one.id)?.to_string(),
            _ => return None,
        };
        let value: String = self.text(value)?.chars().take(SLOT_CHARS).collect();
        Some(Slot { subject, attribute: attribute.chars().take(SLOT_CHARS).collect(), value })
    }
}

/// A model's sentence with its mentions as they stand in the memory; `None` when it names what is no `entity`.
pub(super) fn worded(
    text: &str,
    entity: impl Fn(Option<EntityId>) -> Option<EntityId>,
) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for one in mention::spelled(text) {
        let plain = &text[from..one.range.start];
        let entity = entity(one.id)?;
        out.push_str(plain);
        out.push_str(&format!("<{entity}>"));
        from = one.range.end;
    }
    out.push_str(&text[from..]);
    let out: String = out.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // "<face_x>", "<person 4>": meant as an id, and none.
    let mentions = mention::mentions(&out);
    let strange = out.match_indices('<').any(|(at, _)| {
        let inside = out[at + 1..].to_ascii_lowercase();
        ["face", "voice", "person", "character", "object", "place"]
            .iter()
            .any(|word| inside.starts_with(word))
            && !mentions.iter().any(|mention| mention.range.start == at)
    });
    (!strange && !out.trim().is_empty()).then(|| out.trim().to_owned())
}

impl Memorizer {
    /// Writes a model's conclusions about a clip into a transaction of their own. `before` is the memory as it is
    /// now; the clip's built-in memories are in it.
    pub fn refine(
        &self,
        (clip, found): (&SpooledClip, &Conclusions),
        origin: &str,
        persons: &Persons,
        before: &View,
        draft: &mut Draft,
    ) -> Refined {
        let admission = Admission { clip, given: clip.given(), persons, before };
        let mut out = Refined::default();
        let mut events: Vec<Sentence> = Vec::new();
        for event in &found.events {
            let Some(text) = admission.text(&event.text) else {
                out.refused += 1;
                continue;
            };
            let span = admission.span(event.secs);
            let mut sentence = admission.sentence(MemoryKind::Episodic, text, span);
            sentence.importance = event.importance;
            sentence.confidence = CONFIDENCE + 0.1;
            events.push(sentence);
        }
        let (mut slotted, plain) = self.facts(&admission, found, &mut out.refused);
        if let Some(reader) = &self.reader {
            slotted.extend(events.iter_mut().flat_map(|event| reader.of_sentence(event, before)));
        }
        let slotted = facts::settle(slotted, before, draft);
        let plain = plain.into_iter().filter(|one| !self.is_known(one, persons, before));
        out.refined = step_back(&events, before, draft);
        let mut sentences: Vec<Sentence> = events.into_iter().chain(slotted).chain(plain).collect();
        sentences.sort_by(|a, b| a.place().cmp(&b.place()));
        sentences.dedup_by(|a, b| a.kind == b.kind && a.text == b.text);
        let author = Author { clip: Some(clip.clip), origin, persons };
        out.rows = self.write_all(sentences, author, draft);
        out
    }

    /// Facts with a slot, and those without.
    fn facts(
        &self,
        admission: &Admission<'_>,
        found: &Conclusions,
        refused: &mut usize,
    ) -> (Vec<Sentence>, Vec<Sentence>) {
        let (mut slotted, mut plain) = (Vec::new(), Vec::new());
        let whole = admission.clip.span;
        for fact in &found.facts {
            let Some(text) = admission.text(&fact.text) else {
                *refused += 1;
                continue;
            };
            let mut sentence = admission.sentence(MemoryKind::Semantic, text, whole);
            (sentence.importance, sentence.confidence) = (0.6, CONFIDENCE);
            let slot = fact.slot.as_ref();
            sentence.fact = slot.and_then(|(s, a, v)| admission.slot(s, a, v));
            sentence.wish = fact.action;
            if sentence.fact.is_none()
                && let Some(reader) = &self.reader
            {
                slotted.extend(reader.of_sentence(&mut sentence, admission.before));
            }
            match sentence.fact {
                Some(_) => slotted.push(sentence),
                None => plain.push(sentence),
            }
        }
        for placed in &found.objects {
            let slot = admission.slot(&placed.object, "location", &placed.place);
            let Some(slot) = slot else {
                *refused += 1;
                continue;
            };
            let mut text = format!("The {} is {}.", slot.subject, slot.value);
            if let Some(who) = placed.who.as_deref().filter(|who| !mention::spelled(who).is_empty())
            {
                match admission.text(who) {
                    Some(who) => text = placed_by(&text, &who, false),
                    None => {
                        *refused += 1;
                        continue;
                    }
                }
            }
            let mut sentence = admission.sentence(MemoryKind::Semantic, text, whole);
            (sentence.importance, sentence.confidence) = (0.6, CONFIDENCE);
            sentence.fact = Some(slot);
            slotted.push(sentence);
        }
        (slotted, plain)
    }

    /// Whether a statement about the same persons says the same. Compares with every one of them: nothing that
    /// writes depends on an approximate search.
    pub(super) fn is_known(&self, sentence: &Sentence, persons: &Persons, before: &View) -> bool {
        let filter = Filter {
            entities: sentence.about.clone(),
            kinds: vec![MemoryKind::Semantic, MemoryKind::Reflection, MemoryKind::Note],
            ..Filter::default()
        };
        let vector = self.vector(&sentence.text, persons);
        let whole = |row: &MemoryRow| {
            let about: BTreeSet<EntityId> =
                row.entities.iter().map(|id| before.resolve(*id)).collect();
            sentence.about.iter().all(|id| about.contains(id))
        };
        before.memories(&filter).iter().filter(|row| whole(row)).any(|row| {
            let near = || {
                let vector = vector.as_ref()?;
                vector.cosine(&before.embedding(row.id, vector.model)?)
            };
            row.text == sentence.text || near().is_some_and(|cosine| cosine >= SAME)
        })
    }
}

/// Built-in sentences of presence that a model's event rests on lose weight: the event says it better.
fn step_back(events: &[Sentence], before: &View, draft: &mut Draft) -> usize {
    let mut refined: BTreeMap<_, Arc<MemoryRow>> = BTreeMap::new();
    for ground in events.iter().flat_map(|event| &event.grounds) {
        if let Ground::Memory(id) = ground
            && let Some(row) = before.memory(*id).filter(|row| !row.pinned)
        {
            refined.insert(*id, row);
        }
    }
    for row in refined.values() {
        let row = MemoryRow { importance: row.importance * STEP_BACK, ..(**row).clone() };
        draft.memory(row, None);
    }
    refined.len()
}

/// Whether a belief about a face and a voice concerns those who were in the clip.
pub(super) fn is_given(clip: &SpooledClip, face: EntityId, voice: EntityId) -> bool {
    let given = clip.given();
    face.kind == EntityKind::Face
        && voice.kind == EntityKind::Voice
        && given.contains(&face)
        && given.contains(&voice)
}
