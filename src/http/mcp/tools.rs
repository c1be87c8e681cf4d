//! The tools: what each is called, what it takes, and which request it is.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::Reached;
use crate::http::visitor::Role;
use crate::memory::sql_views;

/// One tool.
pub(super) struct OneTool {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Its arguments: name, whether it must be there, JSON type, what it is.
    args: &'static [Arg],
    /// Which right it needs.
    pub(super) need: Role,
    way: Way,
}

struct Arg {
    name: &'static str,
    required: bool,
    kind: &'static str,
    description: &'static str,
}

/// Which request a tool is.
#[derive(Clone, Copy)]
enum Way {
    /// A reading command; arguments go as they are.
    Query(&'static str),
    /// The picture of an entity or a clip.
    Picture,
    /// A question.
    Ask,
    /// The question where something is.
    WhereIs,
    /// A command; arguments go as they are.
    Command(&'static str),
}

const fn must(name: &'static str, description: &'static str) -> Arg {
    Arg { name, required: true, kind: "string", description }
}

const fn may(name: &'static str, description: &'static str) -> Arg {
    Arg { name, required: false, kind: "string", description }
}

const fn number(name: &'static str, description: &'static str) -> Arg {
    Arg { name, required: false, kind: "integer", description }
}

const fn flag(name: &'static str, description: &'static str) -> Arg {
    Arg { name, required: false, kind: "boolean", description }
}

const START: Arg = may("start", "From when on, RFC 3339.");
const END: Arg = may("end", "Until when, RFC 3339.");
const AS_OF: Arg =
    may("as_of", "What was known at that time, RFC 3339. Default: what is known now.");

/// All of them.
pub(super) const TOOLS: &[OneTool] = &[
    OneTool {
        name: "ask",
        title: "Ask the memory",
        description: "Answers a question from what the robot saw, heard and was told, with the memories that the answer rests on. \
            Says that it does not know where the memory does not tell.",
        args: &[
            must("question", "The question, in plain words."),
            may(
                "conversation",
                "A name of your own; questions of one conversation may point to those before (\"And where is she now?\").",
            ),
            may(
                "effort",
                "\"fast\" (default), or \"deep\": with the robot's language model, where it has one.",
            ),
            AS_OF,
        ],
        need: Role::Ask,
        way: Way::Ask,
    },
    OneTool {
        name: "search",
        title: "Search memories",
        description: "Finds memories for a text: what was said, what happened, what is true. A time in the text (\"yesterday evening\") is understood.",
        args: &[
            must("query", "What to look for."),
            number("limit", "How many at most. Default 10."),
            START,
            END,
            may("entity", "Only what is about them: a name or an id such as person_4."),
            may("place", "Only what was perceived there, or names it."),
            AS_OF,
        ],
        need: Role::Look,
        way: Way::Query("recall"),
    },
    OneTool {
        name: "person",
        title: "What is known of somebody",
        description: "What is true of a person, thing or place, and what was noted of them.",
        args: &[
            must("who", "A name, or an id such as person_4."),
            may("at", "What was true then, RFC 3339."),
            AS_OF,
        ],
        need: Role::Look,
        way: Way::Query("profile"),
    },
    OneTool {
        name: "people",
        title: "Who is known",
        description: "Everybody whom the robot knows: names, when they were seen and heard first and last, for how long.",
        args: &[AS_OF],
        need: Role::Look,
        way: Way::Query("people"),
    },
    OneTool {
        name: "timeline",
        title: "Who was there when",
        description: "For a day or a stretch of time: when each person was seen and spoke, with the words.",
        args: &[
            may("day", "A date such as 2026-11-28."),
            START,
            END,
            may("entity", "Only them: a name or id."),
            may("place", "Only there."),
            AS_OF,
        ],
        need: Role::Look,
        way: Way::Query("timeline"),
    },
    OneTool {
        name: "where_is",
        title: "Where is it?",
        description: "Where a person or thing was seen last, or is said to be.",
        args: &[must("what", "A person or a thing: \"Ava\", \"the red mug\"."), AS_OF],
        need: Role::Ask,
        way: Way::WhereIs,
    },
    OneTool {
        name: "clip",
        title: "One clip",
        description: "Everything of one clip, some thirty seconds: who was seen, who said what, what was remembered.",
        args: &[
            must(
                "what",
                "The clip, as other tools name it, such as 1/42; any other id works, too.",
            ),
            AS_OF,
        ],
        need: Role::Look,
        way: Way::Query("show"),
    },
    OneTool {
        name: "look",
        title: "See a picture",
        description: "The face of a person, or the picture of a clip.",
        args: &[must("what", "An id such as person_4 or object_2, or a clip such as 1/42.")],
        need: Role::Look,
        way: Way::Picture,
    },
    OneTool {
        name: "sql",
        title: "Query the store",
        description: "One SELECT on read-only views.",
        args: &[
            must("query", "The SELECT."),
            number("limit", "Rows at most. Default 1,000."),
            AS_OF,
        ],
        need: Role::Look,
        way: Way::Query("sql"),
    },
    OneTool {
        name: "remember",
        title: "Tell the memory",
        description: "Notes something that the robot did not perceive; it is answered from as told, not as seen.",
        args: &[must("text", "What to remember, a sentence or a few."), START, END],
        need: Role::Operate,
        way: Way::Command("remember"),
    },
    OneTool {
        name: "name",
        title: "Give a name",
        description: "Gives a person, thing or place a name.",
        args: &[must("entity", "An id such as person_4."), must("name", "The name.")],
        need: Role::Operate,
        way: Way::Command("name"),
    },
    OneTool {
        name: "feedback",
        title: "Judge an answer",
        description: "Says whether an answer was right; the memory learns from it.",
        args: &[
            must("answer", "The answer's id."),
            must("verdict", "\"right\" or \"wrong\"."),
            may("comment", "What would have been right."),
        ],
        need: Role::Operate,
        way: Way::Command("feedback"),
    },
    OneTool {
        name: "forget",
        title: "Erase for good",
        description: "Erases a person with everything about them, or one memory. It cannot be undone: count what goes with a dry run, and ask the user first.",
        args: &[
            may("entity", "An id such as person_4."),
            may("memory", "A memory's id."),
            flag("dry_run", "Nothing is erased: the reply counts what would be."),
        ],
        need: Role::Erase,
        way: Way::Command("forget"),
    },
];

impl OneTool {
    /// As an assistant is told of it.
    pub(super) fn described(&self) -> Tool {
        let property = |arg: &Arg| {
            (arg.name.to_owned(), json!({ "type": arg.kind, "description": arg.description }))
        };
        let properties: JsonObject = self.args.iter().map(property).collect();
        let required: Vec<&str> =
            self.args.iter().filter(|arg| arg.required).map(|arg| arg.name).collect();
        let schema: JsonObject = [
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties)),
            ("required".to_owned(), json!(required)),
            ("additionalProperties".to_owned(), json!(false)),
        ]
        .into_iter()
        .collect();
        let reads = matches!(self.need, Role::Look | Role::Ask);
        let hints = ToolAnnotations::from_raw(
            None,
            Some(reads),
            Some(self.need == Role::Erase),
            None,
            Some(false),
        );
        let description = match self.way {
            Way::Query("sql") => format!("{} They are {}.", self.description, sql_views()),
            _ => self.description.to_owned(),
        };
        Tool::new(self.name, description, Arc::new(schema))
            .with_title(self.title)
            .with_annotations(hints)
    }

    /// The request that a call is: its topic and payload. What is wrong with the arguments, where something is.
    pub(super) fn request(&self, mut args: JsonObject) -> Result<(&'static str, Value), String> {
        args.retain(|_, value| !value.is_null());
        let names = || self.args.iter().map(|arg| arg.name).collect::<Vec<_>>().join(", ");
        if let Some(strange) = args.keys().find(|key| !self.args.iter().any(|arg| arg.name == *key))
        {
            return Err(format!("{} takes {}, not {strange:?}", self.name, names()));
        }
        if let Some(missing) =
            self.args.iter().find(|arg| arg.required && !args.contains_key(arg.name))
        {
            return Err(format!("{} needs {:?}: {}", self.name, missing.name, missing.description));
        }
        let text = |name: &str| {
            args.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
        };
        Ok(match self.way {
            Way::Query(verb) => ("query", json!({ "verb": verb, "args": args })),
            Way::Picture => {
                let what = text("what");
                let key = if what.contains('/') { "clip" } else { "entity" };
                ("query", json!({ "verb": "media", "args": { key: what } }))
            }
            Way::Ask => ("ask", Value::Object(args)),
            Way::WhereIs => {
                let question = format!("Where is {}?", text("what").trim_end_matches(['?', '.']));
                args.remove("what");
                args.insert("question".to_owned(), question.into());
                ("ask", Value::Object(args))
            }
            Way::Command(topic) => (topic, Value::Object(args)),
        })
    }

    /// What the assistant reads of a reply.
    pub(super) fn result(&self, reached: Result<Reached, String>) -> CallToolResult {
        match reached {
            Err(message) => refused(message),
            Ok(Reached::Bytes(kind, bytes)) => {
                let data = STANDARD.encode(bytes);
                let content = match kind.starts_with("audio/") {
                    true => ContentBlock::audio(data, kind),
                    false => ContentBlock::image(data, kind),
                };
                CallToolResult::success(vec![content])
            }
            Ok(Reached::Document(document)) => {
                let spoken = document["answer"].as_str().map(|answer| told(answer, &document));
                // What is structured is an object.
                let document = match document {
                    Value::Object(_) => document,
                    other => json!({ self.name: other }),
                };
                let mut result = CallToolResult::structured(document);
                if let Some(spoken) = spoken {
                    result.content = vec![ContentBlock::text(spoken)];
                }
                result
            }
        }
    }
}

/// The answer with what it rests on, a line each.
fn told(answer: &str, document: &Value) -> String {
    let line = |memory: &Value| {
        let part = |key: &str| memory[key].as_str().unwrap_or_default();
        format!("\n- {} {} ({}): {}", part("start"), part("memory"), part("kind"), part("text"))
    };
    let evidence = document["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
    format!("{answer}{}", evidence.iter().map(line).collect::<String>())
}

/// Nothing came of it, and why.
pub(super) fn refused(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn object(value: Value) -> JsonObject {
        value.as_object().unwrap().clone()
    }

    fn tool(name: &str) -> &'static OneTool {
        TOOLS.iter().find(|one| one.name == name).unwrap()
    }

    #[test]
    fn a_call_is_a_request_of_the_contract() {
        let request = |name: &str, args: Value| tool(name).request(object(args));
        assert_eq!(
            request("search", json!({ "query": "keys", "limit": 3, "start": null })).unwrap(),
            ("query", json!({ "verb": "recall", "args": { "query": "keys", "limit": 3 } }))
        );
        assert_eq!(
            request("where_is", json!({ "what": " the red mug? " })).unwrap(),
            ("ask", json!({ "question": "Where is the red mug?" }))
        );
        for (what, key) in [("1/42", "clip"), ("person_4", "entity")] {
            let args = json!({ "verb": "media", "args": { key: what } });
            assert_eq!(request("look", json!({ "what": what })).unwrap(), ("query", args));
        }
        let told = request("search", json!({ "words": "keys" })).unwrap_err();
        assert_eq!(
            told,
            "search takes query, limit, start, end, entity, place, as_of, not \"words\""
        );
        let told = request("ask", json!({})).unwrap_err();
        assert_eq!(told, "ask needs \"question\": The question, in plain words.");
    }

    #[test]
    fn an_answer_is_told_with_what_it_rests_on() {
        let document = json!({
            "answer": "In the sink.",
            "evidence": [{ "start": "2026-11-28T10:00:00Z", "memory": "memory_7", "kind": "note", "text": "The mug is in the sink." }],
        });
        let result = tool("ask").result(Ok(Reached::Document(document.clone())));
        assert_eq!(result.structured_content, Some(document));
        let text = serde_json::to_value(&result.content).unwrap()[0]["text"].clone();
        assert_eq!(
            text,
            "In the sink.\n- 2026-11-28T10:00:00Z memory_7 (note): The mug is in the sink."
        );
        let listed = tool("people").result(Ok(Reached::Document(json!([1, 2]))));
        assert_eq!(listed.structured_content, Some(json!({ "people": [1, 2] })));
        let refused = tool("ask").result(Err("too many questions".to_owned()));
        assert_eq!(refused.is_error, Some(true));
    }

    #[test]
    fn the_views_are_told_with_their_columns() {
        let described = tool("sql").described().description.unwrap();
        assert!(described.contains("people (id, name, "), "{described}");
    }

    #[test]
    fn what_changes_says_so() {
        for one in TOOLS {
            let hints = one.described().annotations.unwrap();
            let changes = ["remember", "name", "feedback", "forget"].contains(&one.name);
            assert_eq!(
                (hints.read_only_hint, hints.destructive_hint),
                (Some(!changes), Some(one.name == "forget")),
                "{}",
                one.name
            );
        }
    }
}
