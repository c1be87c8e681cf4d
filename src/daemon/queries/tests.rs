#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;
use crate::daemon::overrule::overrule;
use crate::geometry::Rect;
use crate::identify::{MatchThresholds, PendingIdentities, Resolver, identity_rows};
use crate::ids::{ClipId, EntityId, EntityKind, ModelHash, SourceId, TrackId, TurnId};
use crate::memory::StoreOptions;
use crate::memory::model::{
    Clip, Exemplar, Media, MediaKind, Membership, MemoryKind, MemoryRow, Merge, NameRow,
    NameSource, PairEvidence, TrackRow, TurnRow,
};
use crate::memory::testing::memory_row;
use crate::mqtt::RefusalCode;
use crate::mqtt::message::People;
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
            body: false,
            face: Some(face),
            confidence: 0.9,
            colours: None,
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
    let text = format!("<{person}> said \"hello there\".");
    let row = memory_row(MemoryKind::Utterance, &text, span(2.0, 3.0));
    draft.memory(MemoryRow { id, clip: Some(clip), entities: vec![person], ..row }, None);
    draft.commit().unwrap();
    memory
}

/// A detector finds a thing from second 10 to 12.
pub(crate) fn found(memory: &Memory, track: u64, label: &str) -> EntityId {
    let mut draft = memory.begin(at(31.0));
    let object = draft.new_entity(EntityKind::Object);
    let bbox = Rect { x: 300.0, y: 20.0, w: 50.0, h: 60.0 };
    draft.object_track(crate::memory::model::ObjectTrackRow {
        clip: "s1/0".parse().unwrap(),
        track: TrackId(track),
        source: SourceId::new("front"),
        span: span(10.0, 12.0),
        label: label.into(),
        picture: (640, 480),
        sightings: [Sighting { at: at(10.0), bbox, score: 0.9, bearing: None }]
            .into_iter()
            .collect(),
        object: Some(object),
        confidence: 0.9,
        colours: None,
    });
    draft.commit().unwrap();
    object
}

/// The user's word on a store that no daemon holds.
fn overruled(memory: &Memory, merge: &[&str], split: &[&str]) -> Result<Value, Refusal> {
    let words = |of: &[&str]| of.iter().map(|word| (*word).to_owned()).collect();
    let people = People { id: None, merge: words(merge), split: words(split) };
    let rows = identity_rows(&memory.view());
    let unknown = MatchThresholds::UNKNOWN;
    let settings = crate::config::Identity::default();
    let mut who =
        Resolver::from_rows(&rows, PendingIdentities::default(), &settings, unknown, unknown);
    overrule(memory, &mut who, &people, at(40.0))
}

/// A voice that is found to be Ava's, as `reason` tells.
fn join_to_ava(memory: &Memory, reason: &str) {
    let mut draft = memory.begin(at(31.0));
    let part = draft.new_entity(EntityKind::Voice);
    let from = draft.new_entity(EntityKind::Person);
    let [into, face] = ["person_1", "face_1"].map(|id| id.parse().unwrap());
    let met = format!("{part} is first met in s1/0");
    draft.membership(Membership { part, person: from, reason: met, decreed: false });
    draft.merge(Merge { from, into, reason: reason.to_owned(), decreed: false }).unwrap();
    let (support_secs, against_secs, presence) = (3.0, 0.5, None);
    draft.evidence(PairEvidence { face, voice: part, support_secs, against_secs, presence });
    draft.commit().unwrap();
}

#[test]
fn after_a_split_both_still_tell_why_they_were_one() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let reason = "voice_2 goes with face_1: 3.0 s for, 0.5 s against";
    join_to_ava(&memory, reason);
    let why = |who: &str| ask(&memory, QueryVerb::People, json!({ "why": who })).unwrap();
    assert_eq!(why("Ava")["merges"][0]["reason"], reason);
    let told = |document: &Value| -> Vec<String> {
        let parts = document["parts"].as_array().unwrap();
        parts.iter().map(|part| part["reason"].as_str().unwrap().to_owned()).collect()
    };
    for round in 0..3 {
        let split = overruled(&memory, &[], &["voice_2"]).unwrap();
        assert_eq!(split["persons"], json!(["person_2"]), "round {round}");
        let (stays, leaves) = (why("Ava"), why("person_2"));
        assert_eq!((&stays["id"], &leaves["id"]), (&json!("person_1"), &json!("person_2")));
        for part in told(&stays) {
            assert!(part.starts_with("test; "), "{part}");
            assert!(part.contains(reason), "{part}");
            assert!(part.contains("the user said that voice_2 is somebody else"), "{part}");
        }
        let [part]: [String; 1] = told(&leaves).try_into().unwrap();
        assert!(part.starts_with("voice_2 is first met in s1/0; "), "{part}");
        assert!(part.contains(reason), "{part}");
        assert!(part.contains("the user said that person_1 is somebody else"), "{part}");
        for document in [&stays, &leaves] {
            let link = &document["links"][0];
            assert_eq!((&link["face"], &link["voice"]), (&json!("face_1"), &json!("voice_2")));
            assert_eq!((&link["support_secs"], &link["same_person"]), (&json!(3.0), &json!(false)));
        }
        overruled(&memory, &["Ava", "person_2"], &[]).unwrap();
    }
}

#[test]
fn why_tells_whose_voice_gave_a_name_and_who_gave_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let why = |who: &str| ask(&memory, QueryVerb::People, json!({ "why": who })).unwrap();
    assert_eq!(why("Ava")["names"][0]["by"], Value::Null, "the user told it");
    join_to_ava(&memory, "test");
    overruled(&memory, &[], &["voice_2"]).unwrap();
    for (name, names, namesakes) in
        [("Zoe", "different", json!([])), ("ava", "same", json!(["person_1"]))]
    {
        let clip = memory.view().clips(None)[0].id;
        let [entity, voice] = ["person_2", "voice_2"].map(|id| id.parse().unwrap());
        let mut draft = memory.begin(at(50.0));
        draft.turn(TurnRow {
            clip,
            turn: TurnId(3),
            source: SourceId::new("head"),
            span: span(10.0, 12.0),
            speech_secs: 2.0,
            voice: Some(voice),
            confidence: 0.8,
            words: None,
            sound: None,
        });
        let turn = Some((clip.session, TurnId(3)));
        let (name, source) = (name.to_owned(), NameSource::Said);
        draft.name(NameRow { entity, name, since: at(12.0), source, turn });
        draft.commit().unwrap();
        let (ava, other) = (why("person_1"), why("person_2"));
        assert_eq!(ava["links"][0]["names"], names);
        assert_eq!(other["same_name"], namesakes);
        assert_eq!(other["names"][0]["by"], "voice_2");
    }
    assert_eq!(why("person_1")["same_name"], json!(["person_2"]));
}

#[test]
fn why_tells_reasons_and_the_users_word_sticks() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let why = |who: &str| ask(&memory, QueryVerb::People, json!({ "why": who }));
    let before = why("Ava").unwrap();
    assert_eq!(before["id"], "person_1");
    assert_eq!(before["parts"].as_array().unwrap().len(), 2);
    assert_eq!(before["parts"][0]["reason"], "test");
    assert_eq!(before["parts"][0]["exemplars"], 1);
    assert_eq!(why("Zoe").unwrap_err().code, RefusalCode::NotFound);

    let change = |merge: &[&str], split: &[&str]| overruled(&memory, merge, split);
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
fn somebody_known_by_the_name_alone_is_split_off_again() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let mut draft = memory.begin(at(31.0));
    let zoe = draft.new_entity(EntityKind::Person);
    let (name, source) = ("Zoe".to_owned(), NameSource::Told);
    draft.name(NameRow { entity: zoe, name, since: at(31.0), source, turn: None });
    draft.commit().unwrap();
    let names = || {
        let people = ask(&memory, QueryVerb::People, json!({})).unwrap();
        let names = people.as_array().unwrap().iter().map(|person| person["name"].clone());
        names.collect::<Vec<Value>>()
    };
    assert_eq!(names(), ["Ava", "Zoe"]);
    let whole = overruled(&memory, &[], &["person_2"]).unwrap_err().to_string();
    assert!(whole.contains("no face and no voice"), "{whole}");
    let twice = overruled(&memory, &["Ava", "Zoe", "person_1"], &[]).unwrap_err().to_string();
    assert_eq!(twice, "Ava and person_1 are one already");
    let merged = overruled(&memory, &["Ava", "Zoe"], &[]).unwrap();
    assert_eq!((&merged["into"], names().len()), (&json!("person_1"), 1));
    let again = overruled(&memory, &["Ava", "Zoe"], &[]).unwrap_err();
    assert_eq!(again.code, RefusalCode::BadRequest);
    let split = overruled(&memory, &[], &["person_2"]).unwrap();
    assert_eq!(split, json!({ "split": ["person_2"], "persons": ["person_2"] }));
    assert_eq!(names(), ["Ava", "Zoe"]);
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
    match query(memory, &Means::default(), verb, args)? {
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
fn a_place_that_was_only_told_has_a_timeline() {
    let dir = tempfile::tempdir().unwrap();
    let memory = small_memory(dir.path());
    let mut draft = memory.begin(at(31.0));
    let memorizer = crate::memorize::Memorizer::new(None);
    for (secs, name) in [(0.5, "Orangery"), (15.0, "Cellar")] {
        memorizer.here(name, at(secs), &crate::identify::Persons::default(), &mut draft);
    }
    draft.commit().unwrap();
    let seen = |place: &str| -> Vec<Timestamp> {
        let shown = ask(&memory, QueryVerb::Timeline, json!({ "place": place })).unwrap();
        let shown: Timeline = serde_json::from_value(shown).unwrap();
        let blocks = shown.rows.into_iter().flat_map(|row| row.blocks);
        blocks.filter(|block| block.kind == BlockKind::Seen).map(|block| block.start).collect()
    };
    assert_eq!(seen("orangery"), [at(1.0)]);
    assert_eq!(seen("place_2"), [at(20.0)]);
    let places = ask(&memory, QueryVerb::Places, json!({})).unwrap();
    let known: Places = serde_json::from_value(places).unwrap();
    let told: Vec<_> =
        known.places.iter().map(|row| (row.place.position.clone(), row.secs.round())).collect();
    assert_eq!(told, [(None, 15.0), (None, 15.0)]);
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

    let Some(language) = crate::language::tests::shared() else { return };
    let utc = jiff::tz::TimeZone::UTC;
    let answerer = crate::answer::Answerer::new(utc.clone(), 10, None)
        .with_meaning(crate::answer::Meaning::new(language, utc));
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
