#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityId, EntityKind, ModelHash, SourceId, TrackId, TurnId};
use crate::memory::StoreOptions;
use crate::memory::model::{
    Clip, Exemplar, Media, MediaKind, Membership, MemoryKind, MemoryRow, NameRow, NameSource,
    PairEvidence, TrackRow, TurnRow,
};
use crate::percept::{Embedding, Sighting, Transcript};
use crate::time::{Span, Timestamp};

pub(crate) const T0: i64 = 1_772_472_600_000_000_000;

fn at(secs: f64) -> Timestamp {
    Timestamp::from_nanos(T0).plus_secs(secs)
}

fn span(start: f64, end: f64) -> Span {
    Span::new(at(start), at(end))
}

/// A memory of half a minute: Ava is seen twice and speaks once; somebody unknown speaks.
pub(crate) fn small_memory(dir: &std::path::Path) -> Memory {
    small_memory_with(dir, &StoreOptions::default())
}

/// The same in a store with those options.
pub(crate) fn small_memory_with(dir: &std::path::Path, options: &StoreOptions) -> Memory {
    let memory = Memory::open(dir, options).unwrap();
    let mut draft = memory.begin(at(30.0));
    let session = draft.new_session(at(0.0), 30.0, None);
    let clip = ClipId { session, index: 0 };
    let source = SourceId::new("front");
    let face = draft.new_entity(EntityKind::Face);
    let voice = draft.new_entity(EntityKind::Voice);
    let person = draft.new_entity(EntityKind::Person);
    let picture = Media::new(MediaKind::FaceChip, true, vec![0xff, 0xd8, 1]);
    let chip = picture.digest.clone();
    draft.media(picture);
    draft.clip(Clip {
        id: clip,
        span: span(0.0, 30.0),
        frames: 750,
        analysed: 150,
        dropped: 0,
        key_frames: Vec::new(),
    });
    for (number, start, end) in [(1, 1.0, 5.0), (2, 6.0, 9.0), (3, 20.0, 25.0)] {
        let bbox = Rect { x: 10.0, y: 20.0, w: 50.0, h: 60.0 };
        draft.track(TrackRow {
            clip,
            track: TrackId(number),
            source: source.clone(),
            span: span(start, end),
            sightings: [Sighting { at: at(start), bbox, score: 0.9, bearing: None }]
                .into_iter()
                .collect(),
            picture: false,
            face: Some(face),
            confidence: 0.9,
        });
    }
    for (number, start, who, text) in [(1, 2.0, Some(voice), "hello there"), (2, 27.0, None, "hm")]
    {
        draft.turn(TurnRow {
            clip,
            turn: TurnId(number),
            source: SourceId::new("head"),
            span: span(start, start + 1.0),
            speech_secs: 0.9,
            voice: who,
            confidence: 0.8,
            words: Some(Transcript { text: text.to_owned(), ..Transcript::default() }),
            sound: None,
        });
    }
    let embedding = Embedding::normalised(vec![1.0, 0.0], ModelHash([1; 32]));
    draft.exemplar(Exemplar {
        entity: face,
        slot: 0,
        at: at(1.0),
        embedding,
        quality: 0.8,
        weight: 1.0,
        media: Some(chip),
    });
    for part in [face, voice] {
        draft.membership(Membership { part, person, reason: "test".into(), decreed: false });
    }
    draft.name(NameRow {
        entity: person,
        name: "Ava".into(),
        since: at(2.0),
        source: NameSource::Told,
        turn: None,
    });
    let id = draft.new_memory_id();
    draft.memory(
        MemoryRow {
            id,
            kind: MemoryKind::Utterance,
            text: format!("<{person}> said \"hello there\"."),
            span: span(2.0, 3.0),
            clip: Some(clip),
            entities: vec![person],
            fact: None,
            importance: 0.5,
            confidence: 0.9,
            pinned: false,
            valid_from: at(2.0),
            valid_to: None,
            grounds: Vec::new(),
            origin: "builtin".into(),
        },
        None,
    );
    draft.commit().unwrap();
    memory
}

#[test]
fn why_tells_reasons_and_the_users_word_sticks() {
    use crate::daemon::overrule::overrule;
    use crate::identify::{MatchThresholds, Resolver, Undecided, identity_rows};
    use crate::mqtt::message::People;
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let why = |who: &str| ask(&memory, QueryVerb::People, json!({ "why": who }));
    let before = why("Ava").unwrap();
    assert_eq!(before["id"], "person_1");
    assert_eq!(before["parts"].as_array().unwrap().len(), 2);
    assert_eq!(before["parts"][0]["reason"], "test");
    assert_eq!(before["parts"][0]["exemplars"], 1);
    assert_eq!(why("Zoe").unwrap_err().code, RefusalCode::NotFound);

    let change = |merge: &[&str], split: &[&str]| {
        let words = |of: &[&str]| of.iter().map(|word| (*word).to_owned()).collect();
        let people = People { id: None, merge: words(merge), split: words(split) };
        let rows = identity_rows(&memory.view());
        let unknown = MatchThresholds::UNKNOWN;
        let settings = crate::config::Identity::default();
        let mut who = Resolver::from_rows(&rows, Undecided::default(), &settings, unknown, unknown);
        overrule(&memory, &mut who, &people, at(40.0))
    };
    assert_eq!(change(&[], &["person_1"]).unwrap_err().code, RefusalCode::BadRequest);
    let split = change(&[], &["voice_1"]).unwrap();
    assert_eq!(split, json!({ "split": ["voice_1"], "persons": ["person_2"] }));
    let view = memory.view();
    assert_ne!(view.resolve("face_1".parse().unwrap()), view.resolve("voice_1".parse().unwrap()));
    let merged = change(&["person_2", "Ava"], &[]).unwrap();
    assert_eq!(merged["into"], "person_1", "the named one stays");
    let after = why("person_2").unwrap();
    assert_eq!(after["merges"][0]["decreed"], true);
    assert_eq!(after["merges"][0]["from"], "person_2");
    // and back: the id that was given up gets its own again
    assert_eq!(change(&[], &["person_2"]).unwrap()["persons"], json!(["person_2"]));
}

#[test]
fn who_cannot_be_matched_is_shown_until_another_face_was_learned() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let ava = || ask(&memory, QueryVerb::People, json!({})).unwrap()[0].clone();
    let why = || ask(&memory, QueryVerb::People, json!({ "why": "Ava" })).unwrap();
    assert_eq!((ava().get("unmatchable"), why().get("unmatchable")), (None, None));

    let (face, person) = ("face_1".parse().unwrap(), "person_1".parse().unwrap());
    let mut draft = memory.begin(at(31.0));
    draft.evidence(PairEvidence::standing(face, true));
    draft.commit().unwrap();
    assert_eq!(ava()["unmatchable"], json!(["face_1"]));
    assert_eq!(why()["unmatchable"], json!(["face_1"]));
    assert_eq!(why()["different"], json!([]), "it is no evidence between two");

    let mut draft = memory.begin(at(32.0));
    let part = draft.new_entity(EntityKind::Face);
    draft.membership(Membership { part, person, reason: "test".into(), decreed: false });
    draft.commit().unwrap();
    assert_eq!(ava().get("unmatchable"), None);
    assert_eq!(ava()["faces"], json!(["face_1", "face_2"]));
}

fn ask(memory: &Memory, verb: QueryVerb, args: Value) -> Result<Value, Refusal> {
    match query(memory, None, verb, args)? {
        Reply::Document(document) => Ok(document),
        Reply::Bytes { content_type, bytes } => Ok(json!([content_type, bytes])),
    }
}

fn code(memory: &Memory, verb: QueryVerb, args: Value) -> RefusalCode {
    ask(memory, verb, args).unwrap_err().code
}

#[test]
fn people_have_the_fields_that_other_tools_rely_on() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let people = ask(&memory, QueryVerb::People, json!({})).unwrap();
    let ava = &people[0];
    let keys: Vec<&String> = ava.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "id",
            "name",
            "aliases",
            "faces",
            "voices",
            "first_seen",
            "last_seen",
            "seen_secs",
            "spoken_secs"
        ]
    );
    assert_eq!((&ava["id"], &ava["name"]), (&json!("person_1"), &json!("Ava")));
    assert_eq!(ava["seen_secs"], 12.0);
    assert_eq!(ask(&memory, QueryVerb::People, json!({"as_of": "seq:0"})).unwrap(), json!([]));
    assert_eq!(code(&memory, QueryVerb::People, json!({"nmed": true})), RefusalCode::BadRequest);
    assert_eq!(code(&memory, QueryVerb::People, json!({"as_of": 99})), RefusalCode::Expired);
}

#[test]
fn the_timeline_joins_what_is_close_and_keeps_the_unknown_apart() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let shown = ask(&memory, QueryVerb::Timeline, json!({})).unwrap();
    let shown: Timeline = serde_json::from_value(shown).unwrap();
    assert_eq!((shown.start, shown.end), (at(0.0), at(30.0)));
    let ava = &shown.rows[0];
    assert_eq!(ava.name.as_deref(), Some("Ava"));
    let seen: Vec<_> =
        ava.blocks.iter().filter(|b| b.kind == BlockKind::Seen).map(|b| (b.start, b.end)).collect();
    assert_eq!(seen, [(at(1.0), at(9.0)), (at(20.0), at(25.0))]);
    assert_eq!(ava.blocks.iter().find_map(|b| b.text.clone()).as_deref(), Some("hello there"));
    assert_eq!(shown.rows[1].person, None);
    let only =
        ask(&memory, QueryVerb::Timeline, json!({"entity": "ava", "end": at(10.0)})).unwrap();
    assert_eq!(only["rows"].as_array().unwrap().len(), 1);
    assert_eq!(code(&memory, QueryVerb::Timeline, json!({"entity": "Bob"})), RefusalCode::NotFound);
}

#[test]
fn a_profile_and_a_day_can_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let ava = ask(&memory, QueryVerb::Profile, json!({"who": "ava"})).unwrap();
    assert_eq!((&ava["id"], &ava["name"]), (&json!("person_1"), &json!("Ava")));
    assert!(ava["facts"].is_array() && ava["notes"].is_array());
    assert_eq!(code(&memory, QueryVerb::Profile, json!({"who": "Bob"})), RefusalCode::NotFound);
    assert_eq!(code(&memory, QueryVerb::Profile, json!({})), RefusalCode::BadRequest);
    let date = at(0.0).to_jiff().to_zoned(jiff::tz::TimeZone::UTC).date();
    let day = |date: jiff::civil::Date| {
        let shown = ask(&memory, QueryVerb::Timeline, json!({ "day": date })).unwrap();
        serde_json::from_value::<Timeline>(shown).unwrap()
    };
    assert_eq!(day(date).rows.len(), 2);
    assert!(day(date.yesterday().unwrap()).rows.is_empty());
    let both = json!({ "day": date, "start": at(0.0) });
    assert_eq!(code(&memory, QueryVerb::Timeline, both), RefusalCode::BadRequest);
    let nowhere = json!({ "day": date, "timezone": "Nowhere/Atall" });
    assert_eq!(code(&memory, QueryVerb::Timeline, nowhere), RefusalCode::BadRequest);
}

#[test]
fn everything_can_be_shown_by_its_id_or_name() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    for (what, kind) in [
        ("Ava", "entity"),
        ("face_1", "entity"),
        ("person_1", "entity"),
        ("s1/0", "clip"),
        ("s1", "session"),
        ("memory_1", "memory"),
    ] {
        let shown = ask(&memory, QueryVerb::Show, json!({ "what": what })).unwrap();
        assert_eq!(shown["kind"], kind, "{what}");
    }
    let ava = ask(&memory, QueryVerb::Show, json!({"what": "Ava"})).unwrap();
    assert_eq!(ava["memories"][0]["text"], "Ava said \"hello there\".");
    let sheet = ask(&memory, QueryVerb::Show, json!({"what": "people"})).unwrap();
    let digest = sheet[0]["chips"][0]["media"].clone();
    for (format, begins) in [("svg", "<svg"), ("dot", "graph"), ("html", "<!")] {
        let graph = json!({ "what": "graph", "format": format });
        let shown = ask(&memory, QueryVerb::Show, graph).unwrap();
        let text = shown["text"].as_str().unwrap();
        assert!(text.trim_start().to_lowercase().starts_with(begins), "{format}: {text}");
    }
    let graph = ask(&memory, QueryVerb::Show, json!({"what": "graph"})).unwrap();
    assert!(graph["graph"]["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty()));
    let bytes = json!(["image/jpeg", [255, 216, 1]]);
    assert_eq!(ask(&memory, QueryVerb::Media, json!({ "digest": digest })).unwrap(), bytes);
    assert_eq!(ask(&memory, QueryVerb::Media, json!({"entity": "Ava"})).unwrap(), bytes);
    for nothing in ["memory_9", "s1/7", "s9", "person_9", "answer_1", "nobody"] {
        assert_eq!(
            code(&memory, QueryVerb::Show, json!({ "what": nothing })),
            RefusalCode::NotFound
        );
    }
    assert_eq!(code(&memory, QueryVerb::Media, json!({})), RefusalCode::BadRequest);
    assert_eq!(
        code(&memory, QueryVerb::Media, json!({"digest": "../engram.db"})),
        RefusalCode::BadRequest
    );
    assert_eq!(code(&memory, QueryVerb::Media, json!({"clip": "s1/0"})), RefusalCode::NotFound);
}

#[test]
fn sql_reads_and_does_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let sql = |query: &str| ask(&memory, QueryVerb::Sql, json!({ "query": query }));
    let rows = sql("SELECT person, words FROM utterances ORDER BY start").unwrap();
    assert_eq!(rows["columns"], json!(["person", "words"]));
    assert_eq!(rows["rows"][0], json!(["person_1", "hello there"]));
    let views =
        ["people", "sightings", "utterances", "memories", "facts", "places", "clips", "answers"];
    for view in views {
        sql(&format!("SELECT * FROM {view}")).unwrap();
    }
    let limited = json!({"query": "SELECT * FROM sightings", "limit": 2});
    assert_eq!(ask(&memory, QueryVerb::Sql, limited).unwrap()["truncated"], true);
    for bad in [
        "DELETE FROM memory",
        "UPDATE name SET name = 'x'",
        "DROP VIEW utterances",
        "ATTACH 'x.db' AS x",
        "PRAGMA journal_mode = DELETE",
        "SELECT 1; SELECT 2",
        "CREATE TABLE x (y)",
        "SELECT load_extension('x')",
        "SELECT nothing FROM nowhere",
        "",
    ] {
        assert_eq!(sql(bad).unwrap_err().code, RefusalCode::BadRequest, "{bad}");
    }
    let endless =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let began = std::time::Instant::now();
    assert!(sql(endless).unwrap_err().message.contains("took longer"));
    assert!(began.elapsed() < TIME_LIMIT * 2);
}

#[test]
fn words_mean_ids_or_names() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let view = memory.view();
    let ava = EntityId::new(EntityKind::Person, 1);
    for word in ["person_1", "voice_1", " ava ", "Ava"] {
        assert_eq!(find(&view, word).unwrap(), ava, "{word}");
    }
    assert_eq!(name_of(&view, ava).as_deref(), Some("Ava"));
}

#[test]
fn memories_are_recalled_and_questions_answered() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let found = ask(&memory, QueryVerb::Recall, json!({"query": "hello"})).unwrap();
    assert_eq!(found["hits"][0]["memory"], "memory_1");
    assert!(found["hits"][0]["score"].as_f64().unwrap() > 0.0);
    let late = json!({"query": "hello", "start": at(20.0)});
    assert_eq!(ask(&memory, QueryVerb::Recall, late).unwrap()["hits"], json!([]));

    let answerer = crate::answer::Answerer::new(jiff::tz::TimeZone::UTC, 10, None);
    let asked = crate::mqtt::message::Ask::plain("Who said hello there?");
    let answer = answer(&memory, &answerer, &asked, None).unwrap();
    assert!(answer["answer"].as_str().unwrap().contains("Ava"), "{answer}");
    for key in [
        "confidence",
        "abstained",
        "engine",
        "as_of",
        "rounds",
        "entities",
        "evidence",
        "latency_ms",
    ] {
        assert!(answer.get(key).is_some(), "{key}");
    }
}
