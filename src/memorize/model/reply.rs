//! The model's reply as typed conclusions; forms that models drift into are understood.

use serde_json::Value;

use crate::ids::{EntityId, EntityKind};
use crate::llm::json;
use crate::memory::model::FactAction;
use crate::mention;

/// Entries of each list are read up to here.
const MOST: usize = 80;
/// Sentences are cut here, characters.
const TEXT_CHARS: usize = 600;
/// The wish "Equivalence: <face_1>, <voice_2>" of the published models begins so.
const EQUIVALENCE: &str = "equivalence";

/// What a model made of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusions {
    /// What happened.
    pub events: Vec<Event>,
    /// What is true.
    pub facts: Vec<Fact>,
    /// Where things are.
    pub objects: Vec<Placed>,
    /// Faces and voices of one person.
    pub same_person: Vec<SamePerson>,
    /// Names that were said.
    pub names: Vec<NamedAs>,
    /// For the next clip.
    pub note: String,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The sentence.
    pub text: String,
    /// Seconds from the clip's beginning; `None` = the whole clip.
    pub secs: Option<(f64, f64)>,
    /// 0–1.
    pub importance: f32,
}

/// Something that is true.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The sentence.
    pub text: String,
    /// Subject, attribute, value, where told.
    pub slot: Option<(String, String, String)>,
    /// What is to be done with it, where told.
    pub action: Option<FactAction>,
}

/// A thing in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The thing.
    pub object: String,
    /// Where.
    pub place: String,
    /// Who put it there, as the model wrote it.
    pub who: Option<String>,
}

/// A face and a voice of one person, as the model believes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamePerson {
    /// `face_N`.
    pub face: EntityId,
    /// `voice_N`.
    pub voice: EntityId,
    /// 0–1.
    pub confidence: f64,
}

/// A name that was said of somebody.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedAs {
    /// Who.
    pub entity: EntityId,
    /// The name.
    pub name: String,
}

/// Reads a reply of either profile.
///
/// # Errors
/// What is wrong, in words for the model.
pub(super) fn read(text: &str) -> Result<Conclusions, String> {
    if text.trim().is_empty() {
        return Err("it was empty".to_owned());
    }
    let object = json::object(text).ok_or_else(|| "it held no JSON object".to_owned())?;
    let list = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| object.get(*key)?.as_array());
        found.map(|items| items.iter().take(MOST).collect::<Vec<_>>())
    };
    let events = list(&["events", "video_descriptions", "video_description", "episodic_memory"]);
    let facts = list(&["facts", "high_level_conclusions", "semantic_memory"]);
    if events.is_none() && facts.is_none() {
        return Err("it held neither \"events\" nor \"facts\"".to_owned());
    }
    let mut out = Conclusions {
        events: events.unwrap_or_default().into_iter().filter_map(event).collect(),
        ..Conclusions::default()
    };
    for item in facts.unwrap_or_default() {
        let Some(fact) = fact(item) else { continue };
        if fact.text.to_lowercase().starts_with(EQUIVALENCE) {
            out.same_person.extend(equivalence(&fact.text));
        } else {
            out.facts.push(fact);
        }
    }
    out.objects = list(&["objects"]).unwrap_or_default().into_iter().filter_map(placed).collect();
    let same = list(&["same_person"]).unwrap_or_default();
    out.same_person.extend(same.into_iter().filter_map(same_person));
    out.names = list(&["names"]).unwrap_or_default().into_iter().filter_map(named).collect();
    out.note = object.get("note").and_then(words).unwrap_or_default();
    Ok(out)
}

/// Trimmed text, not empty, in bounds.
fn words(value: &Value) -> Option<String> {
    let text: String = value.as_str()?.trim().chars().take(TEXT_CHARS).collect();
    (!text.is_empty() && !text.eq_ignore_ascii_case("null")).then_some(text)
}

fn field(item: &Value, key: &str) -> Option<String> {
    item.get(key).and_then(words)
}

/// A sentence, or an object that holds one.
fn sentence(item: &Value) -> Option<String> {
    let keys = ["text", "description", "event", "fact", "content"];
    words(item).or_else(|| keys.into_iter().find_map(|key| field(item, key)))
}

fn unit(item: &Value, key: &str, otherwise: f64) -> f64 {
    item.get(key)
        .and_then(Value::as_f64)
        .filter(|x| x.is_finite())
        .unwrap_or(otherwise)
        .clamp(0.0, 1.0)
}

fn event(item: &Value) -> Option<Event> {
    let secs = |key: &str| item.get(key).and_then(Value::as_f64).filter(|secs| secs.is_finite());
    Some(Event {
        text: sentence(item)?,
        secs: secs("start").map(|start| (start, secs("end").unwrap_or(start))),
        importance: unit(item, "importance", 0.5) as f32,
    })
}

fn fact(item: &Value) -> Option<Fact> {
    let slot = field(item, "subject").zip(field(item, "attribute")).zip(field(item, "value"));
    let slot = slot.map(|((subject, attribute), value)| (subject, attribute, value));
    let action = field(item, "action");
    let action = FactAction::ALL.into_iter().find(|one| action.as_deref() == Some(one.word()));
    Some(Fact { text: sentence(item)?, slot, action })
}

fn placed(item: &Value) -> Option<Placed> {
    Some(Placed {
        object: field(item, "object")?,
        place: field(item, "place").or_else(|| field(item, "location"))?,
        who: field(item, "who"),
    })
}

/// The one id that a text spells.
fn id(text: &str) -> Option<EntityId> {
    match mention::spelled(text).as_slice() {
        [one] => one.id,
        _ => None,
    }
}

fn same_person(item: &Value) -> Option<SamePerson> {
    let of =
        |key: &str, kind| field(item, key).and_then(|text| id(&text)).filter(|id| id.kind == kind);
    Some(SamePerson {
        face: of("face", EntityKind::Face)?,
        voice: of("voice", EntityKind::Voice)?,
        confidence: unit(item, "confidence", 0.5),
    })
}

/// "Equivalence: <face_1>, <voice_2>": every face with every voice.
fn equivalence(text: &str) -> Vec<SamePerson> {
    let ids: Vec<EntityId> = mention::spelled(text).into_iter().filter_map(|one| one.id).collect();
    let of = |kind| ids.iter().copied().filter(move |id| id.kind == kind);
    of(EntityKind::Face)
        .flat_map(|face| of(EntityKind::Voice).map(move |voice| (face, voice)))
        .map(|(face, voice)| SamePerson { face, voice, confidence: 0.7 })
        .collect()
}

fn named(item: &Value) -> Option<NamedAs> {
    let name = field(item, "name")?;
    let plain = name.chars().all(|c| c.is_alphabetic() || " -'.’".contains(c));
    (plain && name.chars().count() <= 40).then_some(())?;
    Some(NamedAs { entity: id(&field(item, "entity")?)?, name })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn our_form_is_read() {
        let text = r#"{"events":[{"text":"<person_1> waves.","start":1,"end":2.5,"importance":7},"bare"],
            "facts":[{"text":"<person_1> is a cook.","type":"attribute","subject":"person_1","attribute":"job","value":"cook","action":"update"}],
            "objects":[{"object":"mug","place":"on the shelf","who":null},{"object":"","place":"x"}],
            "same_person":[{"face":"<face_1>","voice":"voice_2","confidence":0.9},{"face":"voice_2","voice":"face_1"}],
            "names":[{"entity":"<person_1>","name":"Ava"},{"entity":"person_1","name":"<script>"}],"note":"n"}"#;
        let read = read(text).unwrap();
        assert_eq!(read.events[0].secs, Some((1.0, 2.5)));
        assert_eq!((read.events[0].importance, read.events[1].secs), (1.0, None));
        assert_eq!(read.facts[0].slot.as_ref().unwrap().1, "job");
        assert_eq!(read.facts[0].action, Some(FactAction::Update));
        assert_eq!((read.objects.len(), read.same_person.len(), read.names.len()), (1, 1, 1));
    }

    #[test]
    fn both_spellings_of_the_published_form_are_read() {
        for key in ["video_descriptions", "video_description"] {
            let text = format!(
                "```json\n{{\"{key}\": [\"<face_1> sits.\"], \"high_level_conclusions\": \
                [\"Equivalence: <face_1>, <voice_2>\", \"<face_1> is tired.\"]}}\n```"
            );
            let read = read(&text).unwrap();
            assert_eq!((read.events.len(), read.facts.len()), (1, 1));
            assert_eq!(read.same_person[0].voice.to_string(), "voice_2");
        }
    }

    #[test]
    fn other_forms_are_told_what_is_wrong() {
        for bad in ["", "[]", "words", "{\"answer\": 1}", "{\"events\": \"x\"}"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(read("{\"events\":[]}").unwrap(), Conclusions::default());
    }
}
