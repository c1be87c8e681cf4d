//! A clip as one chat request, in both profiles.

use serde_json::{Map, Value, json};

use crate::config::MemorizerProfile;
use crate::ids::EntityId;
use crate::llm::{ChatRequest, Message, Part, Role, Schema, fill};
use crate::time::Timestamp;

use super::{ModelMemorizer, SpooledClip};

/// Nothing that was said can close the fence of records.
pub(super) fn fenced(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace("RECORDS>>>", "RECORDS")
}

impl ModelMemorizer {
    pub(super) fn request(&self, clip: &SpooledClip, note: &str) -> ChatRequest {
        let request = ChatRequest {
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            thinking_tokens: self.thinking_tokens,
            ..ChatRequest::default()
        };
        match self.profile {
            MemorizerProfile::Engram => ChatRequest {
                messages: vec![
                    Message::text(Role::System, self.prompts.memorize.trim()),
                    Message::parts(Role::User, self.parts(clip, note)),
                ],
                schema: Some(schema()),
                ..request
            },
            MemorizerProfile::M3Memorization => ChatRequest {
                messages: vec![Message::parts(Role::User, self.m3_parts(clip))],
                temperature: 1e-6,
                thinking_tokens: 0,
                ..request
            },
        }
    }

    /// Ours: the facts around the clip, pictures with their times, faces with their ids, sound.
    fn parts(&self, clip: &SpooledClip, note: &str) -> Vec<Part> {
        let secs = |at: Timestamp| at.secs_since(clip.span.start);
        let turns: Vec<String> = clip
            .turns
            .iter()
            .map(|turn| {
                let who = turn
                    .voice
                    .or(turn.person)
                    .map_or("somebody".to_owned(), |id| format!("<{id}>"));
                let who = match turn.person.filter(|person| turn.voice != Some(*person)) {
                    Some(person) => format!("{who} (<{person}>)"),
                    None => who,
                };
                let (from, to) = (secs(turn.span.start), secs(turn.span.end));
                format!("{from:.1}-{to:.1} {who}: {}", fenced(&turn.words))
            })
            .collect();
        let place = clip.place.as_ref().map_or("unknown".to_owned(), |pose| {
            format!(
                "x {:.1} m, y {:.1} m, facing {:.0} degrees ({})",
                pose.x,
                pose.y,
                pose.yaw.to_degrees(),
                pose.frame
            )
        });
        let or_none = |text: String| if text.is_empty() { "(nothing)".to_owned() } else { text };
        let about = fill(
            &self.prompts.memorize_clip,
            &[
                ("start", &clip.span.start.to_string()),
                ("secs", &format!("{:.0}", clip.span.secs())),
                ("place", &place),
                ("note", &or_none(fenced(note))),
                ("turns", &or_none(turns.join("\n"))),
            ],
        );
        let mut parts = vec![Part::Text(about)];
        for (source, at, jpeg) in evenly(&clip.pictures, self.pictures) {
            parts.push(Part::Text(format!("Picture of {source}, {:.1} s:", secs(*at))));
            parts.push(Part::Picture(std::sync::Arc::clone(jpeg)));
        }
        if self.pictures > 0 {
            for face in &clip.faces {
                let whose = face.person.map_or(String::new(), |person| format!(" (<{person}>)"));
                let (from, to) = (secs(face.span.start), secs(face.span.end));
                parts.push(Part::Text(format!(
                    "Face <{}>{whose}, seen {from:.1}-{to:.1} s:",
                    face.face
                )));
                parts.push(Part::Picture(std::sync::Arc::clone(&face.chip)));
            }
        }
        parts.extend(clip.sound.iter().filter(|_| self.sound).map(|wav| Part::Sound(wav.clone())));
        parts
    }

    /// The published model's: instruction, video, faces, voices.
    fn m3_parts(&self, clip: &SpooledClip) -> Vec<Part> {
        let mut parts = vec![Part::Text(self.prompts.memorize_m3.trim().to_owned())];
        // One camera: frames of a video have one size.
        let camera = clip.pictures.first().map(|(source, ..)| source.clone());
        let mine: Vec<_> = clip
            .pictures
            .iter()
            .filter(|(source, ..)| Some(source) == camera.as_ref())
            .cloned()
            .collect();
        let frames: Vec<_> =
            evenly(&mine, self.pictures).map(|(_, _, jpeg)| std::sync::Arc::clone(jpeg)).collect();
        if !frames.is_empty() {
            parts.push(Part::Video(frames));
        }
        parts.extend(clip.sound.iter().filter(|_| self.sound).map(|wav| Part::Sound(wav.clone())));
        if !clip.faces.is_empty() {
            parts.push(Part::Text("Face features:".to_owned()));
            for face in &clip.faces {
                parts.push(Part::Text(format!("<{}>:", face.face)));
                parts.push(Part::Picture(std::sync::Arc::clone(&face.chip)));
            }
        }
        let mut voices: Map<String, Value> = Map::new();
        let clock = |at: Timestamp| {
            let secs = at.secs_since(clip.span.start).max(0.0) as u64;
            format!("{:02}:{:02}", secs / 60, secs % 60)
        };
        for turn in &clip.turns {
            let Some(voice) = turn.voice else { continue };
            let said = json!({
                "start_time": clock(turn.span.start),
                "end_time": clock(turn.span.end),
                "asr": fenced(&turn.words),
            });
            let entry = voices.entry(label(voice)).or_insert_with(|| json!([]));
            if let Some(list) = entry.as_array_mut() {
                list.push(said);
            }
        }
        if !voices.is_empty() {
            parts.push(Part::Text("Voice features:".to_owned()));
            parts.push(Part::Text(Value::Object(voices).to_string()));
        }
        parts
    }
}

fn label(id: EntityId) -> String {
    format!("<{id}>")
}

/// At most `most` of them, evenly spread, the first and the last among them.
fn evenly<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    let count = all.len().min(most);
    (0..count).map(move |at| {
        let index = if count > 1 { at * (all.len() - 1) / (count - 1) } else { 0 };
        &all[index]
    })
}

/// The form of our profile's reply.
fn schema() -> Schema {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "number" });
    let maybe = json!({ "type": ["string", "null"] });
    let list = |properties: Value, required: &[&str], most: u32| {
        json!({ "type": "array", "maxItems": most, "items": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        }})
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "events": list(json!({ "text": text, "start": number, "end": number, "importance": number }),
                &["text", "start", "end", "importance"], 40),
            "facts": list(json!({ "text": text,
                "type": { "type": "string", "enum": ["identity", "attribute", "relation", "plot", "general"] },
                "subject": maybe, "attribute": maybe, "value": maybe,
                "action": { "type": ["string", "null"], "enum": ["add", "update", "retire", "none", null] } }),
                &["text", "type", "subject", "attribute", "value", "action"], 30),
            "objects": list(json!({ "object": text, "place": text, "who": maybe }),
                &["object", "place", "who"], 30),
            "same_person": list(json!({ "face": text, "voice": text, "confidence": number }),
                &["face", "voice", "confidence"], 16),
            "names": list(json!({ "entity": text, "name": text }), &["entity", "name"], 16),
            "note": text,
        },
        "required": ["events", "facts", "objects", "same_person", "names", "note"],
        "additionalProperties": false,
    });
    Schema { name: "memories", schema }
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn pictures_are_spread() {
        let all: Vec<usize> = (0..10).collect();
        let of = |most| evenly(&all, most).copied().collect::<Vec<_>>();
        assert_eq!(of(4), [0, 3, 6, 9]);
        assert_eq!(of(1), [0]);
        assert!(of(0).is_empty());
        assert_eq!(of(99), all);
    }
}
