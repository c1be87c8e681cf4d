//! Questions to a small real store: two days, four persons, what each did and said.
#![allow(clippy::unwrap_used)]

mod actions;
mod household;
mod people;
mod things;

use std::sync::Arc;

use super::*;
use crate::memory::AsOf;
use crate::time::Timestamp;
use household::Household;

fn ask(house: &Household, text: &str) -> Answer {
    house.ask(&Question { id: "q".into(), text: text.into(), ..Question::default() })
}

/// Question, the ids that must be the answer's entities ("-": not checked), pieces of the text; a leading
/// "?" marks an abstention.
type Row = (&'static str, &'static str, &'static [&'static str]);

fn check(table: &[Row]) {
    let house = Household::new();
    let mut wrong = Vec::new();
    for (text, entities, pieces) in table {
        let answer = ask(&house, text);
        let found: Vec<String> = answer.entities.iter().map(ToString::to_string).collect();
        let found = found.join(" ");
        let abstain = pieces.first() == Some(&"?");
        let said = pieces.iter().filter(|p| **p != "?").all(|piece| answer.answer.contains(piece));
        if (*entities != "-" && found != *entities) || !said || answer.abstained != abstain {
            wrong.push(format!("{text}\n   {}\n   entities [{found}] wanted [{entities}], pieces {pieces:?}, abstained {}", answer.answer, answer.abstained));
        }
        // Nobody is invented.
        for id in &answer.entities {
            assert!(house.memory.view().knows(*id), "{text}: {id}");
        }
        assert!((0.0..=1.0).contains(&answer.confidence), "{text}: {}", answer.confidence);
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

#[test]
fn who_was_there() {
    check(&[
        ("Who was visible at 17:30:05?", "person_1", &["I saw Ava at 17:30:05"]),
        ("Whom did you see at 17:30:12?", "person_1 person_2", &["Ava and Ben"]),
        (
            "At 17:31:05, who was in view?",
            "person_1 person_4",
            &["Ava and person 4 (unnamed, first seen 17:31:00)"],
        ),
        ("Which people were visible between 17:31:30 and 17:31:50?", "person_2", &["Ben"]),
        (
            "Who was there at 17:30:32?",
            "person_3",
            &[
                "I saw nobody",
                "I heard person 3 (unnamed, only heard, first yesterday at 09:00:45)",
            ],
        ),
        ("Who was here at 17:30:25?", "", &["I saw nobody"]),
        ("Who was here yesterday?", "person_1 person_2", &["Ava and Ben"]),
        ("Who was here last Tuesday?", "", &["?", "I was not recording"]),
        ("Whom did you see first today?", "person_1", &["first", "17:30:03"]),
        ("Who was seen last?", "person_2", &["Ben last", "17:31:50"]),
        ("Who was visible the longest today?", "person_1", &["Ava"]),
        ("Who came in after Ava left?", "person_2", &["Ben at 17:31:30"]),
        ("Who was here while Ben was there?", "person_1", &["Ava"]),
        ("Who was seen in the first 30 seconds?", "person_1 person_2", &["Ava", "Ben"]),
        ("Who was seen at the end of the recording?", "person_2", &["Ben"]),
        ("How many people did you see today?", "person_1 person_2 person_4", &["3 people"]),
        (
            "How many people were there yesterday?",
            "person_1 person_2",
            &["2 people", "1 person, out of view"],
        ),
        ("How many people were visible at 17:30:05?", "person_1", &["1 person"]),
        ("Who do you know?", "person_1 person_2 person_3 person_4", &["4 people"]),
        ("Who else was there with Ava today?", "person_4 person_2", &["Ben", "person 4"]),
    ]);
}

#[test]
fn who_spoke_and_what_was_said() {
    check(&[
        ("Who spoke first today?", "person_1", &["Ava", "hello my name is ava"]),
        ("Who spoke last?", "person_1", &["the weather is terrible"]),
        ("Who spoke at 17:30:33?", "person_3", &["Person 3"]),
        ("Who was talking at 17:30:13?", "person_2", &["Ben"]),
        ("Who talked the most today?", "person_1", &["Ava", "8 seconds"]),
        ("Who said \"have you seen my keys\"?", "person_2", &["Ben"]),
        (
            "Who mentioned the red mug?",
            "person_1",
            &["yesterday at 09:00:12", "i put the red mug on the kitchen table"],
        ),
        ("Who talked about the weather?", "person_1", &["weather is terrible"]),
        ("Who asked about the keys?", "person_2", &["keys"]),
        ("Who talked about dinosaurs?", "", &["?", "I don't know"]),
        (
            "What did Ava say today?",
            "person_1",
            &["hello my name is ava", "the weather is terrible today"],
        ),
        ("What did Ben say about the keys?", "person_2", &["have you seen my keys"]),
        ("What did Ava say at 17:31:03?", "person_1", &["the weather is terrible today"]),
        (
            "What was the last thing Ava said?",
            "person_1",
            &["Ava said at 17:31:02: “the weather is terrible today”"],
        ),
        (
            "What was said yesterday?",
            "person_1 person_2 person_3",
            &["good morning everybody", "dinner is ready"],
        ),
        ("What did Ben say before Ava came in?", "person_2", &["thank you ava"]),
        ("Tell me what person 3 said yesterday.", "person_3", &["dinner is ready"]),
        ("What did person 4 say?", "person_4", &["did not hear person 4"]),
        ("What did Ava say about elephants?", "person_1", &["?"]),
        ("Did Ava speak today?", "person_1", &["Yes"]),
        ("Did anyone mention the keys?", "person_2", &["Yes, Ben"]),
        ("Did Ben say anything about the weather?", "person_2", &["?", "Ben", "about Ava"]),
        ("What did the person who spoke first today say?", "person_1", &["hello my name is ava"]),
        (
            "What did the person on the right at 17:30:15 say?",
            "person_2",
            &["have you seen my keys"],
        ),
    ]);
}

#[test]
fn when_and_where() {
    check(&[
        ("When did you last see Ava?", "person_1", &["at 17:31:20"]),
        ("When was Ben last seen?", "person_2", &["at 17:31:50"]),
        ("When did Ben arrive today?", "person_2", &["at 17:30:10"]),
        ("When did Ava leave?", "person_1", &["at 17:31:20"]),
        ("When was Ava first seen?", "person_1", &["yesterday at 09:00:05"]),
        ("When was person 4 seen?", "person_4", &["from 17:31:00 to 17:31:15"]),
        ("When did Ben first speak today?", "person_2", &["at 17:30:12"]),
        ("When did Ava say hello my name is Ava?", "person_1", &["at 17:30:04"]),
        ("When was dinner mentioned?", "person_3", &["yesterday at 09:00:45"]),
        ("How long ago was Ben seen?", "person_2", &["10 seconds ago"]),
        ("When was the last time you saw person 4?", "person_4", &["17:31:15"]),
        ("When did you see person 3?", "person_3", &["never seen person 3"]),
        ("When was the room empty today?", "", &["from 17:30:20 to 17:31:00"]),
        ("When did you last see Zoe?", "", &["?", "I don't know anybody called Zoe."]),
        ("When was person 9 here?", "", &["?", "I don't know any person 9."]),
        ("When did Ava say goodbye?", "person_1", &["?"]),
        ("Where did you last see Ben?", "person_2", &["camera", "17:31:50"]),
        ("Where was Ava at 17:30:10?", "person_1", &["camera", "x 160"]),
        ("Where are my shoes?", "", &["?"]),
    ]);
}

#[test]
fn what_was_said_and_told_answers_by_its_meaning() {
    let house = Household::new();
    if !house.reads_meaning() {
        return;
    }
    house.tell("Ben likes tea.", household::local("2026-03-02T17:30:59"));
    house.tell("The red mug is in the drawer.", household::local("2026-03-02T17:31:00"));
    for (text, pieces) in [
        ("Where is the red mug?", &["In the drawer", "I was told"][..]),
        ("Where is my mug?", &["In the drawer"]),
        ("Where was the red mug before?", &["kitchen table", "Ava said", "I heard it"]),
        ("Where was the red mug yesterday?", &["kitchen table"]),
        ("Who put the red mug on the kitchen table?", &["Ava: Ava said"]),
        ("Is the red mug in the drawer?", &["Yes"]),
        ("Where is the blue book?", &["shelf"]),
        ("What does Ben like?", &["tea"]),
    ] {
        let answer = ask(&house, text);
        let all = pieces.iter().all(|piece| answer.answer.contains(piece));
        assert!(all && !answer.abstained, "{text}\n   {}", answer.answer);
        assert!(!answer.evidence.is_empty(), "{text}");
    }
    for text in ["Where are my shoes?", "What colour is the car of Ben?", "Where is the umbrella?"]
    {
        let answer = ask(&house, text);
        assert!(answer.abstained, "{text}\n   {}", answer.answer);
    }
}

#[test]
fn what_a_detector_saw_was_seen() {
    let house = Household::new();
    let cup = house.a_cup_is_seen();
    let place = "the cup is in view of camera, on the left (known since 17:31:40)";
    for (text, begins) in [
        ("Where is the cup?", place.replacen("the", "The", 1)),
        ("Where is object_1?", place.replacen("the", "The", 1)),
        ("Have you seen the cup?", format!("Yes, {place}")),
        ("Have you seen object_1?", format!("Yes, {place}")),
        ("Is the cup still on the left?", format!("Yes, {place}")),
    ] {
        let answer = ask(&house, text);
        assert!(answer.answer.starts_with(&begins), "{text}\n   {}", answer.answer);
        assert_eq!(answer.entities, [cup], "{text}");
        assert!(!answer.evidence.is_empty(), "{text}");
    }
}

#[test]
fn how_often_and_how_long() {
    check(&[
        ("How often was Ava seen today?", "person_1", &["twice"]),
        ("How many times did Ben appear?", "person_2", &["3 times"]),
        ("How often did Ava speak today?", "person_1", &["twice"]),
        ("How often did Ava mention the weather?", "person_1", &["once"]),
        ("How many times did person 4 speak?", "person_4", &["did not hear"]),
        ("How long was Ava visible today?", "person_1", &["37 seconds", "2 appearances"]),
        ("How long was person 4 in view?", "person_4", &["15 seconds"]),
        ("How long did Ava talk today?", "person_1", &["8 seconds"]),
        (
            "For how many seconds was Ben visible between 17:31:30 and 17:31:40?",
            "person_2",
            &["10 seconds"],
        ),
        ("How long was person 3 seen?", "person_3", &["0 seconds", "only heard"]),
        (
            "How long did the person who talked about the weather speak today?",
            "person_1",
            &["8 seconds"],
        ),
        ("How often was the person who was never seen heard?", "person_3", &["twice"]),
        ("How long was Zoe here?", "", &["?", "anybody called Zoe"]),
    ]);
}

#[test]
fn with_whom_and_never_seen_and_now() {
    check(&[
        (
            "With whom was Ava today?",
            "person_4 person_2",
            &["person 4", "15 seconds", "Ben", "10 seconds"],
        ),
        ("Who was with person 4?", "person_1", &["Ava"]),
        (
            "Who was seen together with the person who asked about the keys today?",
            "person_1",
            &["Ava"],
        ),
        ("Who did Ben talk to yesterday?", "person_1", &["Ava"]),
        ("With whom was Ben at 17:31:40?", "", &["alone"]),
        ("Were Ava and Ben there together?", "person_1 person_2", &["Yes"]),
        ("When did Ava and Ben meet?", "person_1 person_2", &["I saw Ava and Ben together"]),
        ("When were Ava and Ben last together?", "person_1 person_2", &["I last saw Ava and Ben"]),
        ("How long were Ava and person 4 together?", "person_1 person_4", &["15 seconds"]),
        ("How often did Ben and person 4 meet?", "person_2 person_4", &["I did not see"]),
        ("Was Ben alone at 17:31:40?", "", &["Yes, Ben was alone"]),
        ("Was person 4 alone?", "person_1", &["No, person 4 was with Ava"]),
        ("Has person 4 been together with anybody?", "person_1", &["Ava"]),
        ("Did Ben meet person 4?", "person_2 person_4", &["No"]),
        ("Who was heard but never seen?", "person_3", &["person 3"]),
        ("Whom did you only hear?", "person_3", &["person 3"]),
        ("Which voices were never visible?", "person_3", &["person 3"]),
        ("Who was seen but never heard?", "person_4", &["person 4"]),
        ("Have you ever seen Ava?", "person_1", &["Yes", "3 times"]),
        (
            "Have you ever seen person 3?",
            "person_3",
            &["No, I have never seen person 3; I have only heard"],
        ),
        ("Have you ever seen Zoe?", "", &["?"]),
        ("Who is here now?", "", &["I see nobody now"]),
        ("Is Ben here?", "person_2", &["No", "17:31:50"]),
        ("Was Ava here at 17:31:10?", "person_1", &["Yes"]),
        ("Was anybody there at 17:30:40?", "", &["No"]),
        ("Was the room empty at 17:30:25?", "", &["Yes"]),
        ("Who is Ava?", "person_1", &["Ava is person 1", "heard the name"]),
        ("Who is person_4?", "person_4", &["Person 4 has no name yet"]),
        ("Tell me about Ben.", "person_2", &["Ben is person 2", "likes tea"]),
        ("What happened yesterday?", "-", &["Ava and Ben", "good morning everybody"]),
        ("What happened between 17:31:00 and 17:31:20?", "-", &["weather"]),
        ("What is the capital of France?", "", &["?"]),
    ]);
}

#[test]
fn what_was_told_of_a_time_is_what_happened_then() {
    let house = Household::new();
    house.tell("The plumber mended the boiler.", household::local("2026-02-24T12:00:00"));
    house.tell("Last Wednesday the parcel came.", household::local("2026-03-02T17:31:59"));
    for (question, pieces) in [
        ("What happened last Tuesday?", &["plumber"][..]),
        ("What happened in February?", &["plumber", "parcel"]),
        ("What happened last Wednesday?", &["parcel"]),
    ] {
        let answer = ask(&house, question);
        assert!(!answer.abstained && !answer.evidence.is_empty(), "{question} {}", answer.answer);
        assert!(pieces.iter().all(|piece| answer.answer.contains(piece)), "{}", answer.answer);
    }
    let nothing = ask(&house, "What happened in January?");
    assert!(nothing.abstained && nothing.answer.contains("I was not recording"), "{nothing:?}");
    let today = ask(&house, "What happened today?");
    assert!(!today.answer.contains("plumber") && today.answer.contains("Ava"), "{today:?}");
}

#[test]
fn now_is_the_open_window_and_the_questions_own() {
    let house = Household::new();
    let at = |now: &str| {
        house.ask(&Question {
            text: "Who is here now?".into(),
            now: Some(household::local(now)),
            ..Question::default()
        })
    };
    assert_eq!(
        at("2026-03-02T17:31:05").answer,
        "I see Ava and person 4 (unnamed, first seen 17:31:00) now."
    );
    assert_eq!(at("2026-03-02T17:30:33").entities, [house.voice_only]);
    let later = at("2026-03-02T19:00:00");
    assert!(
        later.abstained && later.answer.contains("I last saw Ben at 17:31:50"),
        "{}",
        later.answer
    );
    house.someone_steps_in();
    let now = house.ask(&Question {
        text: "Who is here?".into(),
        now: Some(household::local("2026-03-02T17:32:05")),
        ..Question::default()
    });
    assert_eq!(now.entities, [house.ben]);
    assert_eq!((now.evidence[0].memory, now.evidence[0].kind.as_str()), (None, "face_track"));
    // What had not happened yet is not told.
    let before = house.ask(&Question {
        text: "When was Ben last seen?".into(),
        now: Some(household::local("2026-03-02T17:30:30")),
        ..Question::default()
    });
    assert!(before.answer.contains("17:30:20"), "{}", before.answer);
}

#[test]
fn the_past_answers_from_what_was_known_then() {
    let house = Household::new();
    let then = Question {
        text: "Who was seen today?".into(),
        as_of: Some(AsOf::Time(household::local("2026-03-01T10:00:00"))),
        ..Question::default()
    };
    let answer = house.ask(&then);
    assert_eq!(
        answer.answer,
        "I saw person 1 (unnamed, first seen 09:00:05) and person 2 (unnamed, first seen 09:00:15) from 09:00:00 to 09:01:00."
    );
    assert!(answer.as_of < house.memory.view().seq());
    let first = house.ask(&Question { as_of: Some(AsOf::Seq(crate::ids::Seq(0))), ..then.clone() });
    assert!(first.abstained, "{}", first.answer);
    let beyond = Question { as_of: Some(AsOf::Seq(crate::ids::Seq(9_999))), ..then };
    assert!(house.answerer.answer(&house.memory, &beyond, None).is_err());
}

#[test]
fn every_answer_rests_on_memories() {
    let house = Household::new();
    let view = house.memory.view();
    for text in [
        "Who was visible at 17:30:12?",
        "What did Ava say today?",
        "How long was Ava visible today?",
        "With whom was Ava?",
        "Where is my mug?",
        "When did Ben arrive?",
    ] {
        let answer = ask(&house, text);
        assert!(!answer.evidence.is_empty(), "{text}");
        for evidence in &answer.evidence {
            let memory = view.memory(evidence.memory.unwrap()).unwrap();
            assert_eq!(memory.kind.word(), evidence.kind, "{text}");
            assert!(evidence.start <= evidence.end && evidence.score > 0.0, "{text}: {evidence:?}");
        }
    }
}

#[test]
fn an_empty_memory_knows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let memory =
        crate::memory::Memory::open(dir.path(), &crate::memory::StoreOptions::default()).unwrap();
    let answerer = Answerer::new(jiff::tz::TimeZone::UTC, 10, None);
    for text in [
        "Who is here now?",
        "Who was here yesterday?",
        "When did you last see Ava?",
        "Where is my mug?",
        "What happened?",
        "Who spoke first?",
    ] {
        let question = Question { text: text.into(), ..Question::default() };
        let answer = answerer.answer(&memory, &question, Some(Timestamp::from_nanos(1))).unwrap();
        assert!(
            answer.evidence.is_empty() && answer.entities.is_empty(),
            "{text}: {}",
            answer.answer
        );
    }
}

#[test]
fn no_question_makes_it_panic() {
    let house = Household::new();
    let huge = "who was Ava with? ".repeat(300_000);
    for text in [
        "",
        " ",
        "?",
        "\u{0}\u{1}\u{7f}",
        "\u{1f600}\u{1f600}",
        "\u{202e}من هنا الآن؟",
        "who",
        "what did",
        "the person who",
        "\"\"",
        "'",
        "at at at",
        huge.as_str(),
    ] {
        let answer = ask(&house, text);
        assert!(!answer.answer.is_empty());
    }
}

#[test]
fn equal_questions_get_equal_answers_from_many_threads() {
    let house = Arc::new(Household::new());
    let texts = [
        "Who was here yesterday?",
        "What did Ava say today?",
        "How long was Ben visible?",
        "Where is the mug?",
        "Who was heard but never seen?",
        "What does Ben like?",
    ];
    let plain = |answer: Answer| Answer { latency_ms: LatencyMs::default(), ..answer };
    let alone: Vec<Answer> = texts.iter().map(|text| plain(ask(&house, text))).collect();
    let started = std::time::Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    for (text, expected) in texts.iter().zip(&alone) {
                        assert_eq!(&plain(ask(&house, text)), expected);
                    }
                }
            });
        }
    });
    let count = 8 * 20 * texts.len();
    let each = started.elapsed().as_secs_f64() * 1e3 / count as f64;
    eprintln!("{count} answers from 8 threads, {each:.3} ms each in all");
}

#[test]
fn the_document_has_the_fields_of_the_contract() {
    let house = Household::new();
    let value = serde_json::to_value(ask(&house, "Who was visible at 17:30:05?")).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "id",
            "question",
            "answer",
            "confidence",
            "abstained",
            "engine",
            "as_of",
            "rounds",
            "entities",
            "evidence",
            "latency_ms"
        ]
    );
    let evidence: Vec<&str> =
        value["evidence"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(evidence, ["memory", "kind", "text", "start", "end", "clip", "entities", "score"]);
    assert_eq!(value["engine"], "builtin");
    assert_eq!(value["evidence"][0]["start"], "2026-03-02T16:30:03.000000000Z");
}

#[test]
fn other_wordings() {
    check(&[
        ("Which persons appeared today?", "person_1 person_2 person_4", &[]),
        ("Name everyone you saw today.", "person_1 person_2 person_4", &[]),
        ("Can you tell me who was on camera at 17:30:05?", "person_1", &[]),
        ("Who was in front of the camera at 17:30:15?", "person_1 person_2", &[]),
        ("Who showed up yesterday?", "person_1 person_2", &[]),
        ("Who could be seen 65 seconds into the recording?", "person_1 person_4", &[]),
        ("who was in the picture at 5:30:05 pm?", "person_1", &[]),
        ("Who was present between 17:31:00 and 17:31:10?", "person_1 person_4", &[]),
        ("When did Ava come in today?", "person_1", &["17:30:03"]),
        ("At what time did Ben leave?", "person_2", &["17:31:50"]),
        (
            "When was Ava in view today?",
            "person_1",
            &["17:30:03 to 17:30:20", "17:31:00 to 17:31:20"],
        ),
        (
            "When did the person who asked about the keys first appear today?",
            "person_2",
            &["17:30:10"],
        ),
        (
            "When was the person who was seen with Ava at 17:31:05 visible?",
            "person_4",
            &["17:31:00"],
        ),
        ("What time did Ava talk about the weather?", "person_1", &["17:31:02"]),
        ("What's the last time Ben was here?", "person_2", &["17:31:50"]),
        ("Where was Ben last seen?", "person_2", &["camera"]),
        ("Where was the person who talked about the weather at 17:30:10?", "person_1", &["camera"]),
        ("For how long did you see Ava today?", "person_1", &["37 seconds"]),
        ("How many seconds did Ben speak today?", "person_2", &["3 seconds"]),
        ("How long was the person who was never heard visible?", "person_4", &["15 seconds"]),
        ("How long did Ava stay today?", "person_1", &["37 seconds"]),
        ("What is the total time that Ava was visible today?", "person_1", &["37 seconds"]),
        ("How often did you see Ben?", "person_2", &["3 times"]),
        ("How many times did you hear person 3?", "person_3", &["twice"]),
        ("In how many separate appearances was Ava seen today?", "person_1", &["twice"]),
        ("How often did the first person you saw today speak today?", "person_1", &["twice"]),
        ("How often was the mug mentioned?", "-", &["once"]),
        ("What were Ben's words today?", "person_2", &["have you seen my keys"]),
        ("What did you hear Ava say today?", "person_1", &["hello my name is ava"]),
        ("What did the voice that was never seen say?", "person_3", &["dinner is ready"]),
        ("Quote Ben.", "person_2", &["thank you ava"]),
        ("What was Ava talking about at 17:31:03?", "person_1", &["weather"]),
        ("Whose voice was heard at 17:30:33?", "person_3", &[]),
        ("Who said something about a mug?", "person_1", &[]),
        ("When did you last hear Ben?", "person_2", &["17:30:15"]),
        ("How long has it been since you saw Ava?", "person_1", &["40 seconds ago"]),
        ("When was the last time that Ava was visible?", "person_1", &["17:31:20"]),
        ("Who was Ben seen with today?", "person_1", &[]),
        ("Whom did Ava share the picture with today?", "person_4 person_2", &[]),
        ("Who was next to Ava at 17:30:15?", "person_2", &[]),
        ("Was Ava ever together with person 4?", "person_1 person_4", &["Yes"]),
        ("Who did you hear but never see?", "person_3", &[]),
        ("Is there anybody you have heard but never seen?", "person_3", &[]),
        ("Who never appeared on screen?", "person_3", &[]),
        ("Did you ever see person 3?", "person_3", &["No"]),
        ("Has Ben ever been seen?", "person_2", &["Yes"]),
        ("Is anyone in the room right now?", "", &["nobody"]),
        ("Who is in front of you?", "", &["nobody"]),
        ("Who are you looking at?", "", &["nobody"]),
        ("Is somebody there?", "", &["nobody"]),
        ("Do you see Ava at the moment?", "person_1", &["No"]),
        ("Is the room empty?", "", &["nobody"]),
        ("Who left first today?", "-", &["17:30:20"]),
        ("Was Zoe here yesterday?", "", &["?", "Zoe"]),
        ("What did Zoe say?", "", &["?", "Zoe"]),
        ("with whom was zoe?", "", &["?"]),
        ("Have you ever met Max?", "", &["?", "Max"]),
        ("What is person 4 called?", "person_4", &["no name"]),
        ("What do you know about Ben?", "person_2", &["tea"]),
        ("Where was the woman in the grey coat?", "", &["?"]),
    ]);
}

#[test]
fn times_are_understood_or_asked_back() {
    check(&[
        ("Who was here at the weekend?", "person_1 person_2", &["Ava and Ben"]),
        ("Who was here last spring?", "", &["?", "I was not recording"]),
        ("On Sunday, who was here in the morning?", "person_1 person_2", &["Ava and Ben"]),
        ("Who was here on Saturday or Sunday?", "person_1 person_2", &["Ava and Ben"]),
        ("Who came in after Ava's departure?", "person_2", &["Ben at 17:31:30"]),
        ("Whom did you see five seconds before Ben arrived?", "person_1", &["Ava"]),
        ("Who was here before Ava put the red mug on the table?", "person_1", &["Ava"]),
        ("Who was here before the cat was sick?", "", &["?", "I don't know when that was"]),
        ("Who was here that evening?", "", &["?", "I did not understand", "that evening"]),
    ]);
}

/// A month of 30 clips a day (900 clips, 5,400 tracks, 5,400 turns, 10,800 memories): run with
/// `cargo test --lib answer::tests::latency -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn latency_of_a_month() {
    let house = household::month();
    let embedder = household::embedder();
    let answerer = Answerer::new(jiff::tz::TimeZone::UTC, 10, embedder);
    for text in [
        "Who is here now?",
        "Who was visible at 10:05:05?",
        "Who was here yesterday?",
        "What did Ava say yesterday?",
        "Who mentioned the red mug?",
        "When did you last see Ben?",
        "How long was Ava visible?",
        "With whom was Ava?",
        "Who was heard but never seen?",
        "Where is the mug?",
        "What is on the kitchen table?",
    ] {
        let question = Question { text: text.into(), ..Question::default() };
        let mut totals: Vec<f64> = (0..10)
            .map(|_| answerer.answer(&house.memory, &question, None).unwrap().latency_ms.total)
            .collect();
        totals.sort_by(f64::total_cmp);
        let answer = answerer.answer(&house.memory, &question, None).unwrap();
        let latency = answer.latency_ms;
        eprintln!(
            "{:8.2} ms median (embed {:.2}) {text} -> {:.90}",
            totals[5], latency.embed, answer.answer
        );
    }
}
