//! Wordings and what they ask, as long as the parser's models are there.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::ids::EntityKind;
use crate::language::tests::shared;

fn name(text: &str) -> Option<EntityId> {
    let person = |n| Some(EntityId::new(EntityKind::Person, n));
    match text {
        "ava" | "person_1" => person(1),
        "ben" | "person_2" => person(2),
        "cleo" | "cleo miller" | "person_3" => person(3),
        "person_4" => person(4),
        "mark" => person(5),
        _ => None,
    }
}

fn read(text: &str) -> Option<Parsed> {
    let now = Timestamp::parse("2026-03-02T17:33:20Z").unwrap();
    shared().map(|language| parse(Some(&language), text, now, &TimeZone::UTC, &name))
}

/// "Who Seen Any" of `Who { act: Seen, order: Any }`.
fn brief(ask: &Ask) -> String {
    let told = format!("{ask:?}").replace("ago: true", "ago").replace("talked: true", "talked");
    let told = told.replace("ago: false", "").replace("talked: false", "");
    let words = told.split([' ', ',', '{', '}']).filter(|w| !w.is_empty() && !w.ends_with(':'));
    words.collect::<Vec<_>>().join(" ")
}

/// A name as written, "?" before one that nobody bears, what describes somebody with "@" where a time tells it.
fn told(subject: &Subject) -> String {
    match subject {
        Subject::Known { text, .. } => text.clone(),
        Subject::Unknown(name) => format!("?{name}"),
        Subject::Anybody => "anybody".into(),
        Subject::Described(Description { clause: Clause::With(other), .. }) => {
            format!("With {}", told(other))
        }
        Subject::Described(Description { clause, time, .. }) => {
            format!("{clause:?}{}", if time.is_some() { "@" } else { "" })
        }
    }
}

#[test]
fn wordings_ask_what_they_mean_of_whom_they_name() {
    let mut wrong = Vec::new();
    for line in include_str!("wordings.tsv").lines() {
        let mut row = line.split('\t');
        let text = row.next().unwrap();
        let wanted = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
        let Some(parsed) = read(text) else { return };
        let subjects: Vec<String> = parsed.subjects.iter().map(told).collect();
        let found = (brief(&parsed.ask), subjects.join(" | "));
        if (found.0.as_str(), found.1.as_str()) != wanted {
            wrong.push(format!("{text}\n   {found:?}\n   wanted {wanted:?}"));
        }
        // Recognised speech has no capitals and no full stops, and names nobody it does not know.
        let spoken = text.to_lowercase().replace(['?', '.'], "");
        let heard = read(&spoken).map(|parsed| brief(&parsed.ask)).unwrap_or_default();
        if heard != wanted.0 && !wanted.1.contains('?') {
            wrong.push(format!("{spoken}\n   {heard}\n   wanted {}", wanted.0));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_only_memories_can_place_limits_what_was_seen_and_is_a_part_of_what_was_told() {
    let Some(parsed) = read("Who was here before the cat was sick?") else { return };
    let times = |parsed: &Parsed| parsed.times.iter().map(TimeExpr::is_told).collect::<Vec<_>>();
    assert_eq!(times(&parsed), [true]);
    let parsed = read("What did Ben say after dinner yesterday?").unwrap();
    assert_eq!(times(&parsed), [true, false]);
    // Of somebody alone nothing is told.
    assert_eq!(times(&read("Who spoke after the man?").unwrap()), [false; 0]);
    let parsed = read("How did Ava feel after the race?").unwrap();
    assert_eq!((&parsed.ask, parsed.times.len()), (&Ask::Search, 0));
    assert!(parsed.content.contains(&"race".to_owned()), "{:?}", parsed.content);
    let unread = |text: &str| read(text).unwrap().unread;
    assert_eq!(unread("Who was here that evening?").as_deref(), Some("that evening"));
    assert_eq!(unread("What did Ava cook that evening?"), None);
    // The time of a description is none of the question's.
    assert!(read("What did the person seen at 17:30:05 say?").unwrap().times.is_empty());
}

#[test]
fn what_was_said_and_what_else_is_asked_for_are_told_by_words() {
    let text = "What did Ava say about the red mug yesterday?";
    let Some(Parsed { topic, past, yes_no, .. }) = read(text) else { return };
    assert_eq!((topic.join(" ").as_str(), past, yes_no), ("red mug", true, false));
    assert_eq!(read("What did Ava say about Ben?").unwrap().topic, ["ben"]);
    assert_eq!(read("Who said \"take the red mug\"?").unwrap().quotes, ["take the red mug"]);
    for (text, wanted) in [
        ("When was Ava visible?", ""),
        ("When is Ava usually here?", "usually"),
        ("Is the cup on the left?", "cup left"),
        ("Who moved into the guest room?", "moved guest room"),
        ("What did Ava give to Ben?", "give"),
        ("Why did Ava leave early?", "leave early"),
        ("In which room is the insulin?", "room insulin"),
    ] {
        assert_eq!(read(text).unwrap().content.join(" "), wanted, "{text}");
    }
}

#[test]
fn without_a_parser_a_question_is_searched_for() {
    let text = "When did Ava and person 9 paint \"the red boat\" yesterday?";
    let now = Timestamp::parse("2026-03-02T17:33:20Z").unwrap();
    let parsed = parse(None, text, now, &TimeZone::UTC, &name);
    let subjects: Vec<String> = parsed.subjects.iter().map(told).collect();
    assert_eq!((&parsed.ask, subjects.join(" ").as_str()), (&Ask::Search, "ava ?person 9"));
    assert_eq!((parsed.content, parsed.times.len()), (vec!["paint".to_owned()], 1));
    assert_eq!(parsed.quotes, ["the red boat"]);
    let parsed = parse(None, "What happened on 1 March?", now, &TimeZone::UTC, &name);
    assert_eq!((parsed.ask, parsed.times.len()), (Ask::Summary, 1));
}

#[test]
fn no_text_makes_it_panic() {
    let long = "who said ".repeat(200_000);
    let cyrillic = "где ключи ".repeat(100_000);
    for text in [&long, &cyrillic] {
        let _ = read(text);
    }
    for text in [
        "",
        "'''''",
        "\"\"\"",
        "«",
        "person_",
        "the the the",
        "the person who",
        "\u{202e}\u{0}\u{1f600}",
    ] {
        let _ = read(text);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn any_words_are_read(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "who", "the", "person", "that", "said", "spoke", "first", "last", "was", "never", "seen", "with", "Ava", "zoe", "Zoe",
            "at", "17:30", "yesterday", "how", "long", "often", "many", "on", "left", "\"hello\"", "'", "about", "'s", "in", "grey",
            "what", "did", "when", "where", "is", "you", "person_4", "other", "?", ",", "to", "speak", "alone", "only", "heard",
        ]), 0..14)) {
        let _ = read(&words.join(" "));
    }
}
