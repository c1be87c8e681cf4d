//! The resources: people and places by what is known of them, clips by everything of them.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::Reached;

const JSON: &str = "application/json";

/// What is listed, each with an id and a name.
#[derive(Clone, Copy)]
pub(super) enum Listing {
    People,
    Places,
}

/// All that is listed.
pub(super) const LISTINGS: [Listing; 2] = [Listing::People, Listing::Places];

impl Listing {
    /// The request whose reply is listed.
    pub(super) fn request(self) -> (&'static str, Value) {
        let verb = match self {
            Self::People => "people",
            Self::Places => "places",
        };
        ("query", json!({ "verb": verb, "args": {} }))
    }

    /// What is in the reply.
    pub(super) fn resources(
        self,
        reached: Result<Reached, String>,
    ) -> Result<Vec<Resource>, String> {
        let Reached::Document(document) = reached? else { return Ok(Vec::new()) };
        let (rows, kind) = match self {
            Self::People => (&document, "person"),
            Self::Places => (&document["places"], "place"),
        };
        let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
        let resource = |row: &Value| {
            let id = row["id"].as_str()?;
            let name = row["name"].as_str().unwrap_or(id);
            let uri = format!("engram://{kind}/{id}");
            Some(
                Resource::new(uri, name)
                    .with_description(format!("What is known of {name}"))
                    .with_mime_type(JSON),
            )
        };
        Ok(rows.iter().filter_map(resource).collect())
    }
}

/// Those that are not listed, too.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    [
        ("engram://person/{id}", "person", "What is known of somebody; a name works, too"),
        ("engram://place/{id}", "place", "What is known of a place"),
        ("engram://object/{id}", "object", "What is known of a thing"),
        ("engram://clip/{session}/{number}", "clip", "Everything of some thirty seconds"),
    ]
    .into_iter()
    .map(|(uri, name, description)| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(JSON)
    })
    .collect()
}

/// The request that reads one; `None`: there is no such thing.
pub(super) fn request(uri: &str) -> Option<(&'static str, Value)> {
    let (kind, id) = uri.strip_prefix("engram://")?.split_once('/')?;
    let id = percent_encoding::percent_decode_str(id).decode_utf8().ok()?;
    match kind {
        _ if id.is_empty() => None,
        "clip" => Some(("query", json!({ "verb": "show", "args": { "what": id } }))),
        "person" | "place" | "object" => {
            Some(("query", json!({ "verb": "profile", "args": { "who": id } })))
        }
        _ => None,
    }
}

/// What was read.
pub(super) fn contents(uri: &str, reached: Reached) -> ReadResourceResult {
    let text = match reached {
        Reached::Document(document) => document.to_string(),
        Reached::Bytes(..) => String::new(),
    };
    let mime_type = Some(JSON.to_owned());
    ReadResourceResult::new(vec![ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type,
        text,
        meta: None,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_request() {
        let profile =
            |who: &str| Some(("query", json!({ "verb": "profile", "args": { "who": who } })));
        assert_eq!(request("engram://person/person_4"), profile("person_4"));
        assert_eq!(request("engram://person/Old%20Joe"), profile("Old Joe"));
        let clip = json!({ "verb": "show", "args": { "what": "1/42" } });
        assert_eq!(request("engram://clip/1/42"), Some(("query", clip)));
        for other in
            ["engram://person/", "engram://file/x", "file:///etc/passwd", "engram:person", ""]
        {
            assert_eq!(request(other), None, "{other}");
        }
    }

    #[test]
    fn whoever_is_known_is_listed() {
        let rows = json!([{ "id": "person_4", "name": "Ava" }, { "id": "person_5", "name": null }]);
        let listed = Listing::People.resources(Ok(Reached::Document(rows))).unwrap_or_default();
        let told: Vec<_> = listed.iter().map(|one| (one.uri.as_str(), one.name.as_str())).collect();
        assert_eq!(
            told,
            [("engram://person/person_4", "Ava"), ("engram://person/person_5", "person_5")]
        );
    }
}
