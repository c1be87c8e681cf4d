//! OpenAI's `POST /v1/chat/completions`: a conversation as its JSON, and its stream as a reply.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::message::{ChatReply, ChatRequest, Message, Part, Role, ToolCall, Usage};

/// How a server is told the form of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SchemaForm {
    /// `json_schema`: OpenAI, vLLM, llama.cpp, Ollama, SGLang.
    #[default]
    JsonSchema,
    /// `json_object` with a `schema` beside it: llama-cpp-python, Together.
    JsonObject,
    /// Not at all: the prompt alone says it.
    Untold,
}

/// What a server was found not to take; it is asked without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Without {
    pub(super) stream_options: bool,
    pub(super) schema: SchemaForm,
    pub(super) pictures: bool,
    pub(super) sound: bool,
}

impl Without {
    /// Reads a refusal: what to leave out the next time; `None` when that is no cure.
    pub(super) fn learn(self, status: u16, message: &str) -> Option<Self> {
        if !matches!(status, 400 | 404 | 415 | 422 | 500 | 501) {
            return None;
        }
        let message = message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        // A server that merely failed on a picture is not one that takes none.
        let refuses = ["support", "should be", "unknown", "unexpected", "invalid", "mmproj"];
        if status >= 500 && !says(&refuses) {
            return None;
        }
        let mut next = self;
        next.stream_options |= says(&["stream_options", "include_usage"]);
        if says(&["response_format", "json_schema", "json_object", "grammar", "guided"]) {
            next.schema = match self.schema {
                SchemaForm::JsonSchema => SchemaForm::JsonObject,
                _ => SchemaForm::Untold,
            };
        }
        next.pictures |= says(&["image", "video", "multimodal", "mmproj", "vision"]);
        next.sound |= says(&["input_audio", "audio"]);
        (next != self).then_some(next)
    }
}

/// The body of the request.
pub(super) fn body(request: &ChatRequest, model: &str, without: Without) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().map(|one| message(one, without)).collect::<Vec<_>>(),
        "temperature": request.temperature,
        "max_tokens": request.max_tokens + request.thinking_tokens,
        "stream": true,
    });
    if let Some(top_p) = request.top_p {
        body["top_p"] = json!(top_p);
    }
    if !without.stream_options {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({ "type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        });
        body["tools"] = tools.collect();
    }
    if let Some(schema) = &request.schema {
        match without.schema {
            SchemaForm::JsonSchema => {
                body["response_format"] = json!({ "type": "json_schema", "json_schema": {
                    "name": schema.name, "schema": schema.schema, "strict": true,
                }});
            }
            SchemaForm::JsonObject => {
                let form = json!({ "type": "json_object", "schema": schema.schema });
                body["response_format"] = form;
            }
            SchemaForm::Untold => {}
        }
    }
    body
}

fn message(message: &Message, without: Without) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut out = json!({ "role": role, "content": content(&message.parts, without) });
    if !message.calls.is_empty() {
        let calls = message.calls.iter().map(|call| {
            json!({ "id": call.id, "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments } })
        });
        out["tool_calls"] = calls.collect();
    }
    if let Some(call) = &message.answers {
        out["tool_call_id"] = json!(call);
    }
    out
}

/// Words alone go as a string: every server takes that.
fn content(parts: &[Part], without: Without) -> Value {
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        return json!(texts.collect::<Vec<_>>().join("\n"));
    }
    let left_out = |what: &str| json!({ "type": "text", "text": format!("({what} left out)") });
    let shown = parts.iter().map(|part| match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Picture(_) if without.pictures => left_out("picture"),
        Part::Video(_) if without.pictures => left_out("video"),
        Part::Sound(_) if without.sound => left_out("sound"),
        Part::Picture(jpeg) => {
            let url = format!("data:image/jpeg;base64,{}", STANDARD.encode(jpeg));
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
        Part::Video(frames) => {
            // vLLM's form of a video given as frames.
            let frames: Vec<String> = frames.iter().map(|jpeg| STANDARD.encode(jpeg)).collect();
            let url = format!("data:video/jpeg;base64,{}", frames.join(","));
            json!({ "type": "video_url", "video_url": { "url": url } })
        }
        Part::Sound(wav) => json!({ "type": "input_audio", "input_audio": {
            "data": STANDARD.encode(wav), "format": "wav",
        }}),
    });
    shown.collect()
}

/// Why a reply cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is no chat completion.
    Form(String),
    /// The server reports an error inside the stream.
    Told(String),
}

/// Puts a reply together from the chunks of its stream, or from one whole completion.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    text: String,
    thinking: String,
    calls: BTreeMap<u64, ToolCall>,
    finish: Option<String>,
    usage: Option<Usage>,
    /// Something of a completion came.
    begun: bool,
}

impl Assembly {
    /// Takes one chunk.
    pub(super) fn chunk(&mut self, data: &str) -> Result<(), Fault> {
        let chunk: Value = serde_json::from_str(data).map_err(|error| {
            Fault::Form(format!("{error} in {:?}", data.chars().take(80).collect::<String>()))
        })?;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(Fault::Told(told(error)));
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let count = |key: &str| usage[key].as_u64().unwrap_or_default();
            let counted =
                Usage { prompt: count("prompt_tokens"), completion: count("completion_tokens") };
            self.usage = Some(counted);
        }
        let Some(choices) = chunk.get("choices").and_then(Value::as_array) else {
            return if chunk.get("usage").is_some() || chunk.get("object").is_some() {
                Ok(())
            } else {
                Err(Fault::Form("there is no `choices` in it".to_owned()))
            };
        };
        let Some(choice) = choices.first() else { return Ok(()) };
        self.begun = true;
        let delta = choice.get("delta").or_else(|| choice.get("message"));
        if let Some(delta) = delta.and_then(Value::as_object) {
            self.delta(delta);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Map<String, Value>) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        self.text.push_str(text("content"));
        let thinking = [text("reasoning_content"), text("reasoning"), text("thinking")];
        self.thinking
            .push_str(thinking.into_iter().find(|one| !one.is_empty()).unwrap_or_default());
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (at, call) in calls.into_iter().flatten().enumerate().take(64) {
            let index = call["index"].as_u64().unwrap_or(at as u64);
            let entry = self.calls.entry(index).or_insert_with(|| ToolCall {
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
            });
            let function = &call["function"];
            if let Some(id) = call["id"].as_str().filter(|_| entry.id.is_empty()) {
                id.clone_into(&mut entry.id);
            }
            entry.name.push_str(function["name"].as_str().unwrap_or_default());
            match &function["arguments"] {
                Value::String(piece) => entry.arguments.push_str(piece),
                Value::Null => {}
                whole => entry.arguments = whole.to_string(),
            }
        }
    }

    /// Bytes of thinking so far, and of everything else.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let calls: usize = self.calls.values().map(|call| call.arguments.len()).sum();
        let open = self.text.trim_start().starts_with("<think>") && !self.text.contains("</think>");
        if open {
            (self.thinking.len() + self.text.len(), calls)
        } else {
            (self.thinking.len(), self.text.len() + calls)
        }
    }

    /// Whether the server said that it is done.
    pub(super) fn finished(&self) -> bool {
        self.finish.is_some()
    }

    /// The reply; `asked`: bytes of the request's words, for counting where the server does not.
    pub(super) fn reply(self, asked: usize) -> Result<ChatReply, Fault> {
        if !self.begun {
            return Err(Fault::Form("it holds no choice".to_owned()));
        }
        let counted = self.usage.filter(|usage| usage.prompt + usage.completion > 0);
        let (thinking, rest) = self.bytes();
        let usage = counted.unwrap_or(Usage {
            prompt: (asked / 4) as u64,
            completion: ((thinking + rest) / 4) as u64,
        });
        let (mut thought, text) = apart(&self.text);
        thought.insert_str(0, &self.thinking);
        let calls = self.calls.into_values().enumerate().map(|(at, mut call)| {
            if call.id.is_empty() {
                call.id = format!("call_{at}");
            }
            call
        });
        Ok(ChatReply {
            text,
            thinking: thought,
            calls: calls.filter(|call| !call.name.is_empty()).collect(),
            truncated: self.finish.as_deref() == Some("length"),
            usage,
            retries: 0,
        })
    }
}

/// Thinking, and what comes after it. Templates that open the thinking themselves leave only its end.
fn apart(text: &str) -> (String, String) {
    match text.rsplit_once("</think>") {
        Some((thinking, rest)) => {
            let thinking = thinking.trim_start().trim_start_matches("<think>");
            (thinking.trim().to_owned(), rest.trim().to_owned())
        }
        None => match text.trim_start().strip_prefix("<think>") {
            Some(thinking) => (thinking.trim().to_owned(), String::new()),
            None => (String::new(), text.trim().to_owned()),
        },
    }
}

/// What an error body says, shortened.
pub(super) fn told(error: &Value) -> String {
    let message = error.get("message").unwrap_or(error);
    let text = message.as_str().map_or_else(|| message.to_string(), ToOwned::to_owned);
    text.chars().take(300).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn assembled(chunks: &[&str]) -> Result<ChatReply, Fault> {
        let mut assembly = Assembly::default();
        for chunk in chunks {
            assembly.chunk(chunk)?;
        }
        assembly.reply(40)
    }

    #[test]
    fn a_stream_of_words_thinking_and_calls_is_put_together() {
        let reply = assembled(&[
            r#"{"object":"chat.completion.chunk","choices":[{"delta":{"role":"assistant","reasoning_content":"let me "}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"see","content":null}}]}"#,
            r#"{"choices":[{"delta":{"content":"Hel"}}]}"#,
            r#"{"choices":[{"delta":{"content":"lo"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"search","arguments":"{\"te"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"xt\":1}"}}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7}}"#,
        ])
        .unwrap();
        assert_eq!((reply.text.as_str(), reply.thinking.as_str()), ("Hello", "let me see"));
        assert_eq!(reply.calls[0].arguments, "{\"text\":1}");
        assert_eq!(reply.usage, Usage { prompt: 11, completion: 7 });
    }

    #[test]
    fn a_whole_completion_is_a_reply_too() {
        let reply = assembled(&[r#"{"choices":[{"message":{"content":"<think>a</think>\n\nb",
            "tool_calls":[{"function":{"name":"look","arguments":{"x":1}}}]},"finish_reason":"length"}]}"#]).unwrap();
        assert_eq!((reply.text.as_str(), reply.thinking.as_str()), ("b", "a"));
        assert_eq!(reply.calls[0].id, "call_0");
        assert_eq!(reply.calls[0].arguments, "{\"x\":1}");
        assert!(reply.truncated && reply.usage.prompt == 10);
    }

    #[test]
    fn what_is_no_completion_is_a_fault() {
        assert!(matches!(assembled(&["<html>"]), Err(Fault::Form(_))));
        assert!(matches!(assembled(&["{\"a\":1}"]), Err(Fault::Form(_))));
        assert!(matches!(assembled(&[]), Err(Fault::Form(_))));
        let told = assembled(&[r#"{"error":{"message":"no memory left"}}"#]);
        assert_eq!(told, Err(Fault::Told("no memory left".to_owned())));
        assert_eq!(apart("<think>for ever"), ("for ever".to_owned(), String::new()));
        assert_eq!(apart("so</think>\nyes"), ("so".to_owned(), "yes".to_owned()));
    }

    #[test]
    fn a_refusal_tells_what_to_leave_out() {
        let all = Without::default();
        let next = all.learn(400, "Unknown parameter: 'stream_options'").unwrap();
        assert!(next.stream_options && next.schema == SchemaForm::JsonSchema && !next.pictures);
        let form =
            all.learn(422, "body.response_format.type: Input should be 'json_object'").unwrap();
        assert_eq!(form.schema, SchemaForm::JsonObject);
        let form = form.learn(400, "response_format is unknown").unwrap();
        assert_eq!(form.schema, SchemaForm::Untold);
        assert!(form.learn(400, "response_format is unknown").is_none());
        assert!(next.learn(400, "unknown parameter stream_options").is_none());
        assert!(next.learn(500, "image input is not supported").unwrap().pictures);
        assert!(all.learn(429, "image").is_none());
        assert!(all.learn(500, "out of memory while reading an image").is_none());
        assert!(all.learn(400, "the model does not exist").is_none());
    }

    #[test]
    fn words_alone_are_a_string_and_pictures_are_data() {
        let picture = Part::Picture(vec![1, 2, 3].into());
        let request = ChatRequest {
            messages: vec![
                Message::text(Role::System, "rules"),
                Message::parts(Role::User, vec![Part::Text("see".into()), picture]),
            ],
            max_tokens: 5,
            thinking_tokens: 7,
            ..ChatRequest::default()
        };
        let asked = body(&request, "m", Without::default());
        assert_eq!(asked["messages"][0]["content"], "rules");
        assert_eq!(
            asked["messages"][1]["content"][1]["image_url"]["url"],
            "data:image/jpeg;base64,AQID"
        );
        assert_eq!(asked["max_tokens"], 12);
        let blind = body(&request, "m", Without { pictures: true, ..Without::default() });
        assert_eq!(blind["messages"][1]["content"][1]["type"], "text");
    }
}
