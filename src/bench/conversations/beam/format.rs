//! BEAM's own files: a chat's turns, and what is asked about it. Pure functions over text, but for [`read`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::super::Turn;
use super::super::remembered::TURN_SECS;
use crate::bench::BenchError;
use crate::bench::error::{entries, read_text};
use crate::time::Timestamp;

/// The kind of question that nothing answers.
pub(super) const ABSTENTION: &str = "abstention";
/// The kind that asks for what has changed.
pub(super) const UPDATE: &str = "knowledge_update";
/// The kind that asks for what was told both ways.
pub(super) const CONTRADICTION: &str = "contradiction_resolution";
/// The file of a chat's turns.
const CHAT: &str = "chat.json";
/// Where its questions lie: beside it, or, as in BEAM's repository, in a folder.
const PROBES: [&str; 2] = ["probing_questions.json", "probing_questions/probing_questions.json"];

/// A chat with what is asked about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chat {
    /// Its batches (sittings), in order.
    pub(super) batches: Vec<Vec<Turn>>,
    /// Its questions, by kind, then in the file's order.
    pub(super) probes: Vec<Probe>,
}

/// A probing question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Probe {
    /// `knowledge_update`, …: the file's word.
    pub(super) kind: String,
    /// The words.
    pub(super) text: String,
    /// The turns that it rests on, as far as they are in the chat.
    pub(super) evidence: BTreeSet<String>,
    /// What was told before and what was told since (an update), or the two statements (a contradiction); `None` of other
    /// kinds, and where one turn tells both.
    pub(super) sides: Option<[BTreeSet<String>; 2]>,
}

/// The folders of chats in a folder, or the folder itself where it is a chat's; by name.
///
/// # Errors
/// When it cannot be read or holds no chat.
pub(super) fn folders(dir: &Path) -> Result<Vec<PathBuf>, BenchError> {
    if dir.join(CHAT).is_file() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut folders = entries(dir)?;
    folders.retain(|folder| folder.join(CHAT).is_file());
    if folders.is_empty() {
        let reason =
            "no folder in it holds a chat.json; give one of the sizes below `chats/` in BEAM's \
                      repository, such as chats/100K"
                .to_owned();
        return Err(BenchError::TooLittle { path: dir.to_owned(), reason });
    }
    Ok(folders)
}

/// Reads a chat's folder.
///
/// # Errors
/// When a file is missing or has another form.
pub(super) fn read(folder: &Path) -> Result<Chat, BenchError> {
    let form = |path: &Path, reason| BenchError::Form { path: path.to_owned(), reason };
    let chat = folder.join(CHAT);
    let batches = batches(&read_text(&chat)?).map_err(|reason| form(&chat, reason))?;
    let probes = PROBES.map(|name| folder.join(name)).into_iter().find(|path| path.is_file());
    let Some(path) = probes else {
        let reason = format!(
            "it has a {CHAT}, but neither {} nor {}: copy the questions of the same chat beside it",
            PROBES[0], PROBES[1]
        );
        return Err(form(folder, reason));
    };
    let known = batches.iter().flatten().map(|turn| turn.id.as_str()).collect();
    let probes = probes_of(&read_text(&path)?, &known).map_err(|reason| form(&path, reason))?;
    Ok(Chat { batches, probes })
}

/// A chat's batches; a turn is at the time anchor that it or its batch bears, at midnight UTC, else so many seconds after
/// the turn before it.
fn batches(text: &str) -> Result<Vec<Vec<Turn>>, String> {
    #[derive(Deserialize)]
    struct Batch {
        turns: Vec<Vec<Said>>,
        time_anchor: Option<String>,
    }
    #[derive(Deserialize)]
    struct Said {
        id: u64,
        role: String,
        content: String,
        time_anchor: Option<String>,
    }
    let read: Vec<Batch> = serde_json::from_str(text).map_err(|error| {
        format!(
            "it is no BEAM chat ({error}): expected is a list of batches with `turns`, lists of \
             {{\"id\", \"role\", \"content\"}}, as the sizes 100K to 1M have it"
        )
    })?;
    let mut known = BTreeSet::new();
    let mut clock: Option<Timestamp> = None;
    let mut batches = Vec::new();
    for Batch { turns, time_anchor } in read {
        let mut anchor = time_anchor;
        let mut batch = Vec::new();
        for said in turns.into_iter().flatten() {
            let id = said.id;
            if !known.insert(id) {
                return Err(format!("two turns have the id {id}: evidence could mean either"));
            }
            let speaker = match said.role.as_str() {
                "user" => "User",
                "assistant" => "Assistant",
                other => {
                    return Err(format!(
                        "turn {id} is by {other:?}; a BEAM chat has \"user\" and \"assistant\""
                    ));
                }
            };
            let at = match (said.time_anchor.or_else(|| anchor.take()), clock) {
                (Some(date), _) => read_date(&date).ok_or_else(|| {
                    format!("turn {id}: {date:?} is no time anchor such as \"March-15-2024\"")
                })?,
                (None, Some(before)) => before.plus_secs(TURN_SECS),
                (None, None) => {
                    return Err(format!(
                        "turn {id}, the first, has no `time_anchor` such as \"March-15-2024\", nor has \
                         its batch: one of them must say when the chat began"
                    ));
                }
            };
            clock = Some(at);
            let text = without_mark(&said.content).to_owned();
            batch.push(Turn { id: id.to_string(), speaker: speaker.to_owned(), text, at });
        }
        batches.push(batch);
    }
    Ok(batches)
}

/// `March-15-2024`, taken as UTC.
fn read_date(text: &str) -> Option<Timestamp> {
    let date = jiff::civil::Date::strptime("%B-%d-%Y", text.trim()).ok()?;
    let zoned = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_jiff(zoned.timestamp()))
}

/// What was said, without the place in the plan that its maker left behind it: `… meet my deadlines? ->-> 1,1`.
fn without_mark(content: &str) -> &str {
    let place = |text: &str| {
        text.split(',').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    match content.rsplit_once("->->") {
        Some((said, mark)) if place(mark.trim()) => said.trim_end(),
        _ => content,
    }
}

/// The questions; `known`: the ids of the chat's turns.
fn probes_of(text: &str, known: &BTreeSet<&str>) -> Result<Vec<Probe>, String> {
    #[derive(Deserialize)]
    struct Asked {
        question: String,
        /// Ids of turns, in lists and objects; on some unanswerable ones words.
        #[serde(default)]
        source_chat_ids: Value,
    }
    let read: BTreeMap<String, Vec<Asked>> = serde_json::from_str(text).map_err(|error| {
        format!(
            "it holds no BEAM questions ({error}): expected is an object of lists by kind, each question \
             with `question` and `source_chat_ids`"
        )
    })?;
    let mut probes = Vec::new();
    for (kind, asked) in read {
        for (index, Asked { question, source_chat_ids }) in asked.into_iter().enumerate() {
            let ids = |from: &Value| -> Result<BTreeSet<String>, String> {
                let mut found = BTreeSet::new();
                ids_in(from, &mut found).map_err(|odd| {
                    format!(
                        "`source_chat_ids` of {kind} {} hold {odd}; expected are ids of turns, such as 58",
                        index + 1
                    )
                })?;
                found.retain(|id| known.contains(id.as_str()));
                Ok(found)
            };
            let names = match kind.as_str() {
                UPDATE => Some(["original_info", "updated_info"]),
                CONTRADICTION => Some(["first_statement", "second_statement"]),
                _ => None,
            };
            let sides = match names {
                Some(names) => {
                    let [one, other] = names.map(|name| source_chat_ids.get(name));
                    let side = |of: Option<&Value>| of.map_or(Ok(BTreeSet::new()), &ids);
                    let (one, other) = (side(one)?, side(other)?);
                    let apart = !one.is_empty() && !other.is_empty() && one.is_disjoint(&other);
                    apart.then_some([one, other])
                }
                None => None,
            };
            let evidence =
                if kind == ABSTENTION { BTreeSet::new() } else { ids(&source_chat_ids)? };
            probes.push(Probe { kind: kind.clone(), text: question, evidence, sides });
        }
    }
    Ok(probes)
}

/// The numbers anywhere in a value; what else it holds is the error. (The reader bounds how deep it nests.)
fn ids_in<'v>(value: &'v Value, found: &mut BTreeSet<String>) -> Result<(), &'v Value> {
    match value {
        Value::Null => Ok(()),
        Value::Number(id) if id.is_u64() => {
            found.insert(id.to_string());
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| ids_in(item, found)),
        Value::Object(fields) => fields.values().try_for_each(|item| ids_in(item, found)),
        odd => Err(odd),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::perceive::face::fixtures::shared;

    const CHAT_FILE: &str = r#"[
        {"batch_number": 1, "time_anchor": null, "turns": [
            [{"role": "user", "id": 0, "time_anchor": "May-04-2024", "index": "1,1", "question_type": "main_question",
              "content": "Where do I keep a->->b? ->-> 1,1"},
             {"role": "assistant", "id": 1, "content": "In the shed."}],
            [{"role": "user", "id": 2, "question_type": "followup_question", "content": "Thanks ->-> again"}]]},
        {"batch_number": 2, "time_anchor": "June-01-2024", "turns": [
            [{"role": "user", "id": 3, "content": "I moved it to the attic. ->->  2,11"}]]}]"#;

    fn known() -> BTreeSet<&'static str> {
        BTreeSet::from(["0", "1", "2", "3"])
    }

    #[test]
    fn turns_are_at_their_anchors_and_without_the_mark_of_their_maker() {
        let read = batches(CHAT_FILE).unwrap();
        let [first, second] = read.as_slice() else { panic!("{read:?}") };
        let said: Vec<(&str, String)> =
            first.iter().chain(second).map(|turn| (turn.id.as_str(), turn.sentence())).collect();
        let expected = [
            ("0", "User: Where do I keep a->->b?"),
            ("1", "Assistant: In the shed."),
            ("2", "User: Thanks ->-> again"),
            ("3", "User: I moved it to the attic."),
        ];
        assert_eq!(said, expected.map(|(id, said)| (id, said.to_owned())));
        let at = |text: &str| Timestamp::parse(text).unwrap();
        assert_eq!(first[0].at, at("2024-05-04T00:00:00Z"));
        assert_eq!(first[2].at, at("2024-05-04T00:00:40Z"));
        assert_eq!(second[0].at, at("2024-06-01T00:00:00Z"));
    }

    #[test]
    fn evidence_is_read_out_of_lists_and_sides() {
        let file = r#"{
            "abstention": [{"question": "Why?", "rubric": []}, {"question": "Who?", "source_chat_ids": "none"}],
            "contradiction_resolution": [
                {"question": "Have I?", "source_chat_ids": {"first_statement": [0, 2], "second_statement": [3]}},
                {"question": "Did I?", "source_chat_ids": {"first_statement": [2], "second_statement": [2]}}],
            "event_ordering": [{"question": "In which order?", "source_chat_ids": [[0, 1], 3, 99]}],
            "knowledge_update": [
                {"question": "Where is it?", "source_chat_ids": {"original_info": [1], "updated_info": [3]}},
                {"question": "When?", "source_chat_ids": {"original_info": [1], "updated_info": [77]}}],
            "temporal_reasoning": [{"question": "How long?", "source_chat_ids": {"first_event": [0], "second_event": [3]}}],
            "preference_following": [{"question": "Which?", "source_chat_ids": []}]}"#;
        let read = probes_of(file, &known()).unwrap();
        let seen: Vec<(&str, Vec<&str>, bool)> = read
            .iter()
            .map(|probe| {
                let evidence = probe.evidence.iter().map(String::as_str).collect();
                (probe.text.as_str(), evidence, probe.sides.is_some())
            })
            .collect();
        let expected = [
            ("Why?", vec![], false),
            ("Who?", vec![], false),
            ("Have I?", vec!["0", "2", "3"], true),
            ("Did I?", vec!["2"], false),
            ("In which order?", vec!["0", "1", "3"], false),
            ("Where is it?", vec!["1", "3"], true),
            ("When?", vec!["1"], false),
            ("Which?", vec![], false),
            ("How long?", vec!["0", "3"], false),
        ];
        assert_eq!(seen, expected);
        let [before, since] = read[5].sides.clone().unwrap();
        assert_eq!((before, since), (BTreeSet::from(["1".into()]), BTreeSet::from(["3".into()])));
    }

    #[test]
    fn what_is_wrong_with_a_chat_is_said_with_the_cure() {
        let one = |turn: &str| format!(r#"[{{"turns": [[{turn}]]}}]"#);
        let anchored = r#"{"id": 4, "role": "user", "content": "", "time_anchor": "May-04-2024"}"#;
        for (file, told) in [
            ("".to_owned(), "expected is a list of batches"),
            (r#"[{"plan-1": []}]"#.to_owned(), "100K to 1M"),
            (one(r#"{"id": -1, "role": "user", "content": ""}"#), "expected is a list"),
            (one(r#"{"id": 4, "role": "user", "content": ""}"#), "when the chat began"),
            (one(&anchored.replace("May-04", "Mayday-99")), "such as \"March-15-2024\""),
            (one(&anchored.replace("user", "system")), "\"user\" and \"assistant\""),
            (one(&format!("{anchored}, {anchored}")), "two turns have the id 4"),
        ] {
            let error = batches(&file).unwrap_err();
            assert!(error.contains(told), "{file}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_with_questions_is_said_with_the_cure() {
        for (file, told) in [
            ("[]", "an object of lists by kind"),
            (r#"{"summarization": [{"source_chat_ids": [1]}]}"#, "missing field `question`"),
            (
                r#"{"summarization": [{"question": "?", "source_chat_ids": ["Session 4"]}]}"#,
                "summarization 1 hold \"Session 4\"; expected are ids",
            ),
            (r#"{"summarization": [{"question": "?", "source_chat_ids": [1.5]}]}"#, "hold 1.5"),
        ] {
            let error = probes_of(file, &known()).unwrap_err();
            assert!(error.contains(told), "{file}: {error}");
        }
    }

    #[test]
    fn a_cut_off_file_is_an_error_and_no_panic() {
        let questions = r#"{"knowledge_update": [{"question": "Wo läuft's?", "source_chat_ids": {"original_info": [1]}}]}"#;
        for (file, read) in [
            (CHAT_FILE, (|text| batches(text).is_err()) as fn(&str) -> bool),
            (questions, |text| probes_of(text, &BTreeSet::new()).is_err()),
        ] {
            let ends = (0..file.len()).filter(|end| file.is_char_boundary(*end));
            for end in ends {
                assert!(read(&file[..end]), "{}", &file[..end]);
            }
        }
        let deep = format!(
            "{{\"a\": [{{\"question\": \"?\", \"source_chat_ids\": {}",
            "[".repeat(100_000)
        );
        assert!(probes_of(&deep, &BTreeSet::new()).is_err());
    }

    #[test]
    fn a_folder_without_chats_or_without_questions_says_what_to_give() {
        let dir = tempfile::tempdir().unwrap();
        let told = |error: BenchError| error.to_string();
        assert!(told(folders(dir.path()).unwrap_err()).contains("chats/100K"));
        let folder = dir.path().join("7");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(CHAT), CHAT_FILE).unwrap();
        assert_eq!(folders(dir.path()).unwrap(), std::slice::from_ref(&folder));
        assert_eq!(folders(&folder).unwrap(), std::slice::from_ref(&folder));
        assert!(told(read(&folder).unwrap_err()).contains("copy the questions"));
        let inner = folder.join("probing_questions");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join(PROBES[0]), "{}").unwrap();
        assert_eq!(read(&folder).unwrap().batches.len(), 2);
        std::fs::write(folder.join(PROBES[0]), "nothing").unwrap();
        let error = told(read(&folder).unwrap_err());
        assert!(error.contains("7/probing_questions.json"), "{error}");
    }

    /// All but one of the questions that something answers name turns of their chat.
    #[test]
    fn the_published_chats_can_be_read() {
        let Some(dir) = shared("datasets/beam_100k") else { return };
        let folders = folders(&dir).unwrap();
        let chats: Vec<Chat> = folders.iter().map(|folder| read(folder).unwrap()).collect();
        let turns: usize = chats.iter().flat_map(|chat| &chat.batches).map(Vec::len).sum();
        assert_eq!((chats.len(), turns), (10, 2432));
        let probes: Vec<&Probe> = chats.iter().flat_map(|chat| &chat.probes).collect();
        let of = |kind: &str| probes.iter().filter(|probe| probe.kind == kind).count();
        assert_eq!(
            (probes.len(), of(ABSTENTION), of(UPDATE), of(CONTRADICTION)),
            (200, 20, 20, 20)
        );
        assert_eq!(probes.iter().filter(|probe| !probe.evidence.is_empty()).count(), 179);
        let told_apart = |kind: &str| {
            probes.iter().filter(|probe| probe.kind == kind && probe.sides.is_some()).count()
        };
        assert_eq!((told_apart(UPDATE), told_apart(CONTRADICTION)), (18, 17));
        for chat in &chats {
            let times: Vec<Timestamp> = chat.batches.iter().flatten().map(|turn| turn.at).collect();
            assert!(times.is_sorted());
        }
    }
}
