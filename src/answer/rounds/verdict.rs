//! The model's last word, and how far it may be believed.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::answer::document::Evidence;
use crate::ids::EntityId;
use crate::llm::{ToolCall, json};
use crate::memory::View;
use crate::mention::spelled;

use super::conversation::is_answerable;
use super::shown::Shown;

/// Confidence where the model tells none.
const UNTOLD: f32 = 0.6;
/// A claim without evidence is believed this much at most.
const UNCITED: f32 = 0.3;
/// Longer answers are cut, characters.
const ANSWER_CHARS: usize = 4000;

/// An answer as the model gave it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Final {
    pub(super) text: String,
    pub(super) cited: Vec<String>,
    pub(super) confidence: Option<f32>,
    pub(super) known: bool,
}

impl Final {
    /// Reads the JSON object of an answer.
    ///
    /// # Errors
    /// What is wrong, in words for the model.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("it was empty".to_owned());
        }
        let Some(object) = json::object(text) else {
            return Err("it held no JSON object".to_owned());
        };
        let answer = ["answer", "final_answer", "reply", "response"]
            .into_iter()
            .find_map(|key| object.get(key)?.as_str())
            .map(str::trim);
        let known = match &object["known"] {
            Value::Bool(known) => *known,
            Value::String(word) => !word.eq_ignore_ascii_case("false"),
            _ => true,
        };
        let text: String = match answer {
            Some(text) if !text.is_empty() => text.chars().take(ANSWER_CHARS).collect(),
            Some(_) if !known => "I don't know.".to_owned(),
            Some(_) => return Err("\"answer\" was empty".to_owned()),
            None => return Err("the JSON object held no \"answer\"".to_owned()),
        };
        let cited = match &object["evidence"] {
            Value::Array(keys) => keys.iter().filter_map(key).collect(),
            Value::String(keys) => keys.split([',', ' ', ';']).map(ToOwned::to_owned).collect(),
            other => key(other).into_iter().collect(),
        };
        let confidence = match &object["confidence"] {
            Value::String(text) => text.trim().trim_end_matches('%').trim().parse().ok(),
            other => other.as_f64(),
        };
        let confidence = confidence.filter(|value: &f64| value.is_finite() && *value >= 0.0);
        let confidence = confidence.map(|value| if value > 1.0 { value / 100.0 } else { value });
        let confidence = confidence.map(|value| value.min(1.0) as f32);
        Ok(Self { text, cited, confidence, known })
    }
}

/// "memory_12", "[memory_12]", 12 → "memory_12".
fn key(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let key = text.trim().trim_matches(['[', ']', '<', '>', '(', ')', '"', '.']);
            Some(key.split([' ', '|']).next().unwrap_or_default().to_owned())
        }
        Value::Number(number) => Some(format!("memory_{number}")),
        _ => None,
    }
}

/// The id of a call that a model wrote as words.
pub(super) const WRITTEN: &str = "written";

/// A tool call that a model wrote as text.
#[derive(Debug)]
pub(super) struct TextCall(pub(super) ToolCall);

impl TextCall {
    /// `{"name": …, "arguments": {…}}`, with or without `<tool_call>` around it.
    pub(super) fn read(text: &str) -> Option<Self> {
        let object = json::object(text)?;
        let name =
            ["name", "tool", "function"].into_iter().find_map(|key| object.get(key)?.as_str())?;
        let arguments =
            ["arguments", "parameters", "args"].into_iter().find_map(|key| object.get(key));
        let arguments = match arguments {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => "{}".to_owned(),
        };
        Some(Self(ToolCall { id: WRITTEN.to_owned(), name: name.to_owned(), arguments }))
    }
}

/// An answer after its evidence was looked at.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Checked {
    pub(super) text: String,
    pub(super) confidence: f32,
    pub(super) abstained: bool,
    pub(super) entities: Vec<EntityId>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) note: Option<String>,
}

/// Keeps the citations of what exists and was shown; a claim without any is hardly believed, and not at all
/// when nothing was shown.
pub(super) fn check(reply: Final, shown: &Shown, view: &View) -> Checked {
    let mut evidence: Vec<Evidence> = Vec::new();
    let (mut seen, mut unknown) = (BTreeSet::new(), 0);
    for key in reply.cited.iter().filter(|key| !key.is_empty()) {
        if !seen.insert(key.clone()) {
            continue;
        }
        match shown.get(key) {
            Some(one) => evidence.push(one.clone()),
            None => unknown += 1,
        }
    }
    let mut confidence = reply.confidence.unwrap_or(UNTOLD);
    let mut notes = Vec::new();
    if unknown > 0 {
        confidence *= 0.8;
        notes.push(format!("{unknown} citations of what was not shown were left out"));
    }
    let mut abstained = !reply.known;
    let mut text = with_names(&reply.text, view);
    if evidence.is_empty() && !abstained {
        confidence = confidence.min(UNCITED);
        if shown.is_empty() {
            abstained = true;
            "I don't know: there is nothing in my memory about that.".clone_into(&mut text);
            notes.push("a claim without evidence was left out".to_owned());
        } else {
            notes.push("the claim cites no evidence".to_owned());
        }
    }
    if abstained {
        confidence = confidence.min(0.1);
    }
    let mut entities: Vec<EntityId> =
        view.named_in(&text).into_iter().filter(|id| is_answerable(*id)).collect();
    entities.extend(ids_in(&text, view).into_iter().filter(|id| is_answerable(*id)));
    if entities.is_empty() && !abstained {
        entities.extend(evidence.iter().flat_map(|one| one.entities.iter().copied()));
        entities.retain(|id| is_answerable(*id));
    }
    let mut once = BTreeSet::new();
    entities.retain(|id| once.insert(*id));
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Checked { text, confidence: confidence.clamp(0.0, 1.0), abstained, entities, evidence, note }
}

/// Names in place of ids; "person 4" for those without one, "somebody" for ids that were never given.
pub(super) fn with_names(text: &str, view: &View) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for one in spelled(text) {
        out.push_str(&text[from..one.range.start]);
        match one.id.filter(|id| view.knows(*id)) {
            Some(id) => out.push_str(&view.display_name(id).replace('_', " ")),
            None => out.push_str("somebody"),
        }
        from = one.range.end;
    }
    out.push_str(&text[from..]);
    // "person 4", and whatever else stands in angle brackets, is left as it is.
    out
}

/// Those whom "person 4" means.
fn ids_in(text: &str, view: &View) -> Vec<EntityId> {
    let joined = text.replace("person ", "person_");
    let ids = spelled(&joined).into_iter().filter_map(|one| one.id);
    ids.filter(|id| view.knows(*id)).map(|id| view.resolve(id)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_many_forms_are_read() {
        let plain = Final::read(
            r#"{"answer":"Ava.","evidence":["memory_1"],"confidence":0.7,"known":true}"#,
        );
        let plain = plain.unwrap();
        assert_eq!((plain.text.as_str(), plain.confidence), ("Ava.", Some(0.7)));
        let odd = Final::read(
            "Sure!\n```json\n{'answer': 'Ava', 'evidence': '[memory_1], record_2', 'confidence': '85%',}\n```",
        );
        let odd = odd.unwrap();
        assert_eq!(odd.confidence, Some(0.85));
        assert_eq!(odd.cited.len(), 3);
        let none = Final::read(r#"{"answer":"","known":false,"evidence":[3]}"#).unwrap();
        assert_eq!((none.text.as_str(), none.cited[0].as_str()), ("I don't know.", "memory_3"));
        for bad in ["", "Ava.", "{}", "{\"answer\": 3}", "{\"answer\": \"\"}"] {
            assert!(Final::read(bad).is_err(), "{bad}");
        }
        let call = TextCall::read(
            "<tool_call>{\"name\":\"search\",\"arguments\":{\"text\":\"mug\"}}</tool_call>",
        );
        assert_eq!(call.unwrap().0.arguments, "{\"text\":\"mug\"}");
    }
}
