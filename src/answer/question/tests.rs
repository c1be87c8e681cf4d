//! Wordings and what they ask.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::ids::EntityKind;

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

fn read(text: &str) -> Parsed {
    let now = Timestamp::parse("2026-03-02T17:33:20Z").unwrap();
    parse(text, now, &TimeZone::UTC, &name)
}

#[test]
fn wordings_ask_what_they_mean() {
    use Act::{Arrived, Left, Present, Seen, Spoke};
    use Order::{Any, First, Last, Most};
    let who = |act, order| Ask::Who { act, order };
    let when = |act, order| Ask::When { act, order, ago: false };
    let table: Vec<(&str, Ask)> = vec![
        ("Who is here now?", Ask::Now),
        ("Who is here?", Ask::Now),
        ("Who's there?", Ask::Now),
        ("Who can you see right now?", Ask::Now),
        ("Who do you see at the moment?", Ask::Now),
        ("Is anybody here?", Ask::Now),
        ("Is Ava here?", Ask::Now),
        ("Can you see Ben?", Ask::Now),
        ("who is in the room?", Ask::Now),
        ("What do you see now?", Ask::Now),
        ("Who was here at 17:30?", who(Present, Any)),
        ("Who was there yesterday evening?", who(Present, Any)),
        ("Whom did you see this morning?", who(Seen, Any)),
        ("At 17:30:05, who was visible?", who(Seen, Any)),
        ("Which person was visible at 17:31:10?", who(Seen, Any)),
        ("Who spoke first?", who(Spoke, First)),
        ("Who spoke at 17:31?", who(Spoke, Any)),
        ("Who was talking at 17:31:20?", who(Spoke, Any)),
        ("Who talked the most?", who(Spoke, Most)),
        ("Who was the first person you saw?", Ask::WhoIs),
        ("Whom did you see first?", who(Seen, First)),
        ("Who arrived last?", who(Arrived, Last)),
        ("Who left after Ava came in?", who(Left, Any)),
        ("Who said \"good morning\"?", Ask::WhoSaid),
        ("Who mentioned the red mug?", Ask::WhoSaid),
        ("Who talked about the weather?", Ask::WhoSaid),
        ("Who asked about Ben?", Ask::WhoSaid),
        ("What did Ava say?", Ask::SaidWhat { order: Any }),
        ("What did Ava say about the mug?", Ask::SaidWhat { order: Any }),
        ("What was the last thing Ben said?", Ask::SaidWhat { order: Last }),
        ("What did the person who spoke first say?", Ask::SaidWhat { order: Any }),
        ("Tell me what Ava said at 17:31.", Ask::SaidWhat { order: Any }),
        ("What was said at 17:31?", Ask::SaidWhat { order: Any }),
        ("When did Ava arrive?", when(Arrived, Any)),
        ("When did Ava leave?", when(Left, Any)),
        ("When did you last see Ava?", when(Seen, Last)),
        ("When was Ben last seen?", when(Seen, Last)),
        ("When did the woman who said hello world leave?", when(Left, Any)),
        ("At what time did Ben first speak?", when(Spoke, First)),
        ("do you know when Ava left?", when(Left, Any)),
        ("When was the last time you saw Ben?", when(Seen, Last)),
        ("How long ago was Ava here?", Ask::When { act: Present, order: Last, ago: true }),
        ("How often did Ava speak?", Ask::HowOften { act: Spoke }),
        ("How many times was Ben seen?", Ask::HowOften { act: Seen }),
        ("How many times did Ava appear?", Ask::HowOften { act: Seen }),
        ("How many people were there yesterday?", Ask::HowMany { act: Present }),
        ("How many different voices did you hear?", Ask::HowMany { act: Spoke }),
        ("How many people did you see?", Ask::HowMany { act: Seen }),
        ("How long was Ava visible?", Ask::HowLong { act: Seen }),
        ("How long did Ben talk?", Ask::HowLong { act: Spoke }),
        ("For how many seconds was Ava in view?", Ask::HowLong { act: Seen }),
        ("For how long was person 4 seen?", Ask::HowLong { act: Seen }),
        ("Where is my mug?", Ask::Where { order: Any }),
        ("Where was my mug originally?", Ask::Where { order: First }),
        ("Where was my mug before?", Ask::Where { order: Any }),
        ("Where was Ava at 17:31?", Ask::Where { order: Any }),
        ("Where did you last see Ben?", Ask::Where { order: Last }),
        ("With whom was Ava?", Ask::With { talked: false }),
        ("Who was with Ava?", Ask::With { talked: false }),
        ("Who was Ava with yesterday?", Ask::With { talked: false }),
        ("Who else was there with Ben?", Ask::With { talked: false }),
        ("Who did Ava talk to?", Ask::With { talked: true }),
        ("Who was seen together with the person who spoke first?", Ask::With { talked: false }),
        ("Who was never seen?", Ask::NeverSeen),
        ("Who was heard but never seen?", Ask::NeverSeen),
        ("Whom did you only hear?", Ask::NeverSeen),
        ("Which voices were never visible?", Ask::NeverSeen),
        ("Who did you hear without seeing them?", Ask::NeverSeen),
        ("Who spoke but was not on camera?", Ask::NeverSeen),
        ("Who was seen but never heard?", Ask::NeverSpoke),
        ("Who did not speak?", Ask::NeverSpoke),
        ("Have you ever seen Ava?", Ask::Ever { act: Seen }),
        ("Have you seen Ben?", Ask::Ever { act: Seen }),
        ("Was Ava never seen?", Ask::Ever { act: Seen }),
        ("Did you ever hear Ava?", Ask::Ever { act: Spoke }),
        ("Did Ava speak?", Ask::Did { act: Spoke }),
        ("Did Ben say anything about the keys?", Ask::Did { act: Spoke }),
        ("Did anyone mention Paris?", Ask::Did { act: Spoke }),
        ("Was Ava here at 17:31?", Ask::Did { act: Present }),
        ("Was the room empty at 17:31?", Ask::Did { act: Present }),
        ("Were Ava and Ben there together?", Ask::Together),
        ("Did Ava meet Ben?", Ask::Together),
        ("Who is Ava?", Ask::WhoIs),
        ("Who is person_4?", Ask::WhoIs),
        ("What is person 4's name?", Ask::WhoIs),
        ("Do you know Ava?", Ask::WhoIs),
        ("Tell me about Ava.", Ask::About),
        ("What do you know about Ava?", Ask::About),
        ("What happened yesterday?", Ask::Summary),
        ("Summarize this morning.", Ask::Summary),
        ("What did you see in the last hour?", Ask::Summary),
        ("What is going on?", Ask::Now),
        ("Who do you know?", Ask::Everybody),
        ("List all people.", Ask::Everybody),
        ("What does Ava like?", Ask::Search),
        ("What colour is the sofa?", Ask::Search),
        ("", Ask::Search),
        ("\u{202e}\u{0}\u{1f600}", Ask::Search),
    ];
    let wrong: Vec<String> = table
        .into_iter()
        .filter_map(|(text, ask)| {
            let found = read(text);
            (found.ask != ask).then(|| {
                format!("{text}\n   {:?}\n   wanted {ask:?}\n   {:?}", found.ask, found.subjects)
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_only_memories_can_place_limits_what_was_seen_and_is_a_part_of_what_was_told() {
    let times = |text: &str| read(text).times.iter().map(TimeExpr::is_told).collect::<Vec<_>>();
    assert_eq!(times("Who was here before the cat was sick?"), [true]);
    assert_eq!(times("What did Ben say after dinner yesterday?"), [true, false]);
    // Of somebody alone nothing is told.
    assert_eq!(read("Who spoke after Ben?").subjects, [known(2, "ben")]);
    assert_eq!(times("Who spoke after the man?"), [false; 0]);
    let parsed = read("How did Ava feel after the race?");
    assert_eq!((parsed.ask, parsed.times.len()), (Ask::Search, 0));
    assert!(parsed.content.contains(&"race".to_owned()), "{:?}", parsed.content);
    assert_eq!(read("Who was here that evening?").unread.as_deref(), Some("that evening"));
    assert_eq!(read("What did Ava cook that evening?").unread, None);
    // "last" before a stretch of time is no order.
    let who = |order| Ask::Who { act: Act::Present, order };
    assert_eq!(read("Who was here last semester?").ask, who(Order::Any));
    assert_eq!(read("Who was here last?").ask, who(Order::Last));
}

fn known(n: u32, text: &str) -> Subject {
    Subject::Known { id: EntityId::new(EntityKind::Person, n), text: text.into() }
}

#[test]
fn subjects_are_found() {
    assert_eq!(read("What did Cleo Miller's friend say?").subjects, [known(3, "cleo miller")]);
    assert_eq!(read("When was person 4 seen?").subjects, [known(4, "person 4")]);
    assert_eq!(read("When was person 9 seen?").subjects, [Subject::Unknown("person 9".into())]);
    assert_eq!(read("When did you last see Zoe?").subjects, [Subject::Unknown("Zoe".into())]);
    let titled = [Subject::Unknown("Mrs Miller".into())];
    assert_eq!(read("When did you last see Mrs Miller?").subjects, titled);
    let name = |text: &str| match read(text).subjects.as_slice() {
        [Subject::Unknown(name)] => name.clone(),
        _ => String::new(),
    };
    assert_eq!(name("How often is Doctor Novak in the shop?"), "Doctor Novak");
    assert_eq!(name("When did Dr. Anna Novak call?"), "Dr Anna Novak");
    assert_eq!(name("Did Doctor Novak come on Monday?"), "Doctor Novak");
    assert_eq!(name("WHERE DID DOCTOR NOVAK GO?"), "", "shouted words tell no names");
    // The name of a thing, and somebody without a name.
    for text in ["Who guided Class 3b?", "What is in Room 12?", "When does the Doctor come?"] {
        assert_eq!(read(text).subjects, [], "{text}");
    }
    let goggles = read("Where do the goggles go when I'm done?").subjects;
    assert!(!goggles.iter().any(|one| matches!(one, Subject::Unknown(_))), "{goggles:?}");
    assert_eq!(read("Where's Mark?").subjects, [known(5, "mark")]);
    assert_eq!(read("Did anyone mark the page?").subjects, [Subject::Anybody]);
    let parsed = read("What did Ava say about Ben?");
    assert_eq!(parsed.subjects, [known(1, "ava")]);
    assert_eq!(parsed.topic, ["ben"]);
    let parsed = read("Who said \"take the red mug\"?");
    assert_eq!(parsed.quotes, ["take the red mug"]);
    assert_eq!(read("What did Ava say about the red mug yesterday?").topic, ["red", "mug"]);
}

#[test]
fn descriptions_are_taken_apart() {
    let clause = |text: &str| {
        let parsed = read(text);
        let found = parsed.subjects.iter().find_map(|s| match s {
            Subject::Described(d) => Some((d.clause.clone(), d.time.is_some())),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{text}: {parsed:?}"))
    };
    let said = |words: &[&str]| Clause::Said {
        words: words.iter().map(|w| (*w).to_owned()).collect(),
        quote: None,
    };
    let table = [
        ("When was the person who spoke first last seen?", Clause::Spoke(Order::First), false),
        ("How long was the first person visible?", Clause::Seen(Order::First), false),
        ("What did the last speaker say?", Clause::Spoke(Order::Last), false),
        ("How long did the person who was seen at 17:30:05 speak?", Clause::Seen(Order::Any), true),
        ("How often was the one who talked about the weather seen?", said(&["weather"]), false),
        ("When did the woman who said hello world leave?", said(&["world"]), false),
        ("Where was the person who mentioned the red mug?", said(&["red", "mug"]), false),
        ("With whom was the man who spoke the most?", Clause::Spoke(Order::Most), false),
        ("What did the person on the left say?", Clause::Side(Side::Left), false),
        ("Who is the person on the right?", Clause::Side(Side::Right), false),
        ("What did the person who was never seen say?", Clause::NeverSeen, false),
        ("What did the voice that was only heard say?", Clause::NeverSeen, false),
        (
            "How long was the person with Ava visible?",
            Clause::With(Box::new(known(1, "ava"))),
            false,
        ),
        (
            "How long was the woman in the grey coat visible?",
            Clause::Looks(vec!["grey".into(), "coat".into()]),
            false,
        ),
        ("When was the little girl seen?", Clause::Looks(vec!["little".into()]), false),
        ("When did the person who was alone leave?", Clause::Alone, false),
        ("How often did the person who was seen longest speak?", Clause::Seen(Order::Most), false),
        ("When was the person who spoke at 17:31:20 first seen?", Clause::Spoke(Order::Any), true),
        ("Who was the other person?", Clause::Other, false),
        ("How long did the person who arrived first talk?", Clause::Arrived(Order::First), false),
    ];
    for (text, wanted, timed) in table {
        assert_eq!(clause(text), (wanted, timed), "{text}");
    }
    let parsed = read("What did the person seen at 17:30:05 say?");
    assert!(parsed.times.is_empty() && parsed.subjects.len() == 1, "{parsed:?}");
}

#[test]
fn another_deed_than_being_there_is_asked_of_the_memories() {
    for text in [
        "Who baked with Ava?",
        "Who else baked the cake besides Ava?",
        "Who returned the tent?",
        "Who moved into the guest room?",
        "Who cleans here?",
        "Who went to the market?",
        "How often did Ava practise the violin?",
        "How long has Ava been a baker?",
        "How long was the door open?",
        "How many people live next door?",
        "Did Ava return the tent?",
        "Did Ava and Ben bake together?",
        "What did Ava give to Ben?",
        "Where is the thing that Ava gave to Ben?",
    ] {
        let parsed = read(text);
        assert_eq!(parsed.ask, Ask::Search, "{text}");
        assert!(!parsed.content.is_empty(), "{text}");
    }
    let other = |order, ago| Ask::When { act: Act::Other, order, ago };
    assert_eq!(read("When did Ben return the tent?").ask, other(Order::Any, false));
    assert_eq!(read("How long ago did Ava fall?").ask, other(Order::Last, true));
    // Of these the camera tells.
    for text in [
        "Who came home late with Ava?",
        "Who entered the kitchen?",
        "Who entered the pantry?",
        "Who was sitting next to Ava?",
        "How long did Ava stay in the kitchen?",
        "How often did Ava come back?",
        "How many unknown people were here?",
        "Did Ava leave the room?",
    ] {
        assert_ne!(read(text).ask, Ask::Search, "{text}");
    }
}

#[test]
fn no_text_makes_it_panic() {
    let long = "who said ".repeat(200_000);
    let cyrillic = "где ключи ".repeat(100_000);
    for text in [
        long.as_str(),
        cyrillic.as_str(),
        "'''''",
        "\"\"\"",
        "«",
        "person_",
        "person 99999999999999",
        "the the the the",
        "the person who",
        "the person who was never",
        "who who who",
        "@ # %",
        "'s",
    ] {
        let _ = read(text);
    }
}

proptest::proptest! {
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
