#![allow(clippy::unwrap_used)]

use super::*;
use crate::time::Span;

/// What happened in a boat yard, one note a line: day of March and hour, then what was told.
const YARD: &str = "\
2 9:00|Wanda runs the boat yard. Piet and Amadou build the boats.
2 9:10|The red kayak lies in the shed, the yellow kayak hangs in the loft.
2 9:20|Piet's caulking iron is in the tool chest.
2 9:30|The tool chest stands in the workshop.
3 11:00|Amadou is allergic to epoxy.
4 8:00|Piet is ill, he stays at home.
5 10:00|Wanda lent the crane to the harbour master.
6 16:00|I moved the red kayak to the jetty.
8 8:00|Piet is well again.
9 14:00|Amadou sanded the hull of the dinghy. It took him five hours.
10 9:00|The outboard motor is broken.
11 10:00|Amadou forgot to lock the gate.
12 15:00|Mrs Osei bought the dinghy for 900 euros.
13 9:00|Wanda repaired the outboard motor.
14 9:00|The harbour master gave the crane back to Wanda.
16 17:00|The yellow kayak sprang a leak.
17 9:00|Every Friday Wanda teaches a knot class in the loft.
17 10:00|Wanda lent the router to Amadou.";

/// What happened to a family, in the same form, in May.
const FAMILY: &str = "\
3 9:00|Petra works at the mill.
3 9:10|Zeno owns a parrot called Kiko.
3 9:20|Odo is Petra's son.
3 9:30|Odo can't stand onions.
4 9:00|The concert is on 14 May.
4 9:30|The tall ladder costs 80 euros.
5 9:00|Petra lent the tent to Odo.
6 9:00|Kiko sleeps on the wardrobe.
7 9:00|The concert is moved to 19 May.
8 9:00|Odo repaired the lamp.
9 9:00|Petra is a nurse. She works at the harbour now.
10 9:00|Odo brought the tent back.
11 9:00|Odo repaired the gate.
12 9:00|Petra flies to Oslo on 20 May.
13 9:00|Zeno will visit us on 15 May.
14 9:00|Zeno's visit is cancelled, he has the flu.";

/// A cosine as vectors give it, about: near where a word is the same.
fn vicinity(one: &str, other: &str) -> f32 {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
        words.map(str::to_lowercase).filter(|word| word != "the").collect()
    };
    if words(one).is_disjoint(&words(other)) { 0.4 } else { 0.75 }
}

/// A cosine as vectors give it, about: more for more common words.
fn cosine(one: &str, other: &str) -> f32 {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.map(str::to_lowercase).collect()
    };
    (0.2 + 0.2 * words(one).intersection(&words(other)).count() as f32).min(0.8)
}

/// A story's notes beside a question; `month`: "2027-03".
fn notes(story: &str, month: &str, near: impl Fn(&str) -> f32) -> Vec<Told> {
    let line = |line: &str| {
        let (when, text) = line.split_once('|').unwrap();
        let (day, hour) = when.split_once(' ').unwrap();
        let at = Timestamp::parse(&format!("{month}-{day:0>2}T{hour:0>5}:00Z")).unwrap();
        Told { at, text: text.to_owned(), cosine: near(text), heard: None, names: None }
    };
    story.lines().map(line).collect()
}

fn told(question: &str) -> Vec<Told> {
    notes(YARD, "2027-03", |text| cosine(question, text))
}

fn of_family(meaning: &Meaning, question: &str) -> Option<Meant> {
    let now = Timestamp::parse("2027-05-16T12:00:00Z").unwrap();
    let told = notes(FAMILY, "2027-05", |text| vicinity(question, text));
    meaning.reply(question, &told, &BTreeSet::new(), now)
}

fn meaning() -> Option<Meaning> {
    Some(Meaning::new(crate::language::tests::shared()?, TimeZone::UTC))
}

fn asked(meaning: &Meaning, question: &str) -> Option<Meant> {
    let now = Timestamp::parse("2027-03-18T12:00:00Z").unwrap();
    meaning.reply(question, &told(question), &BTreeSet::new(), now)
}

/// The value, in front of what is quoted.
fn value(meant: &Meant) -> &str {
    meant.text.split('\u{201c}').next().unwrap().trim_end_matches(": ")
}

#[test]
fn the_value_stands_first() {
    let Some(meaning) = meaning() else { return };
    for (question, wanted) in [
        ("Where is the red kayak?", "To the jetty"),
        ("Where was the red kayak on 4 March?", "In the shed"),
        ("Where is the yellow kayak?", "In the loft"),
        ("In which room is Piet's caulking iron?", "In the workshop"),
        ("Is the red kayak still in the shed?", "No"),
        ("Is the yellow kayak in the loft?", "Yes"),
        ("Is Piet still ill?", "No"),
        ("Is the outboard motor broken?", "No"),
        ("Did Amadou lock the gate?", "No"),
        ("Did Mrs Osei buy the dinghy?", "Yes"),
        ("How long did it take to sand the hull?", "five hours"),
        ("How long was Piet ill?", "4 days"),
        ("Who bought the dinghy?", "Mrs Osei"),
        ("Who has the router?", "Amadou"),
        ("When was the outboard motor repaired?", "13 March 2027"),
    ] {
        let meant = asked(&meaning, question);
        let text = meant.as_ref().map(value);
        assert_eq!(text, Some(wanted), "{question}: {meant:?}");
    }
}

#[test]
fn nothing_told_of_others_answers_of_whom_nothing_was_told() {
    let Some(meaning) = meaning() else { return };
    for question in [
        "Where is Nkechi's caulking iron?",
        "Who lent the router to Ezekiel?",
        "Is Zbigniew still ill?",
        "When did Mrs Oyelaran repair the outboard motor?",
    ] {
        assert_eq!(asked(&meaning, question), None, "{question}");
    }
    // A misspelt name, a word of the language with a capital, and whoever is spoken to are nobody else.
    for question in [
        "Who lent the router to Amadeu?",
        "Where is the red Kayak?",
        "Zbigniew, where is the red kayak?",
    ] {
        assert!(asked(&meaning, question).is_some(), "{question}");
    }
}

#[test]
fn states_end_plans_move_and_loans_come_back() {
    let Some(meaning) = meaning() else { return };
    for (question, wanted) in [
        ("When is the concert?", "19 May 2027"),
        ("How long did Odo have the tent?", "5 days"),
        ("Does Odo still have the tent?", "No"),
        ("Does Odo like onions?", "No"),
        ("Does Petra still work at the mill?", "No"),
        ("Where does Petra work?", "At the harbour"),
        ("On 6 May, where did Petra work?", "At the mill"),
        ("Did Zeno's visit take place?", "No"),
    ] {
        let meant = of_family(&meaning, question);
        assert_eq!(meant.as_ref().map(value), Some(wanted), "{question}: {meant:?}");
    }
}

#[test]
fn things_have_names_and_what_happened_twice_is_told_twice() {
    let Some(meaning) = meaning() else { return };
    for (question, wanted) in [
        ("Where does the parrot sleep?", &[7][..]),
        ("What did Odo repair?", &[9, 12]),
        ("What happened to the concert?", &[4, 8]),
    ] {
        let meant = of_family(&meaning, question);
        let mut notes = meant.as_ref().map(|meant| meant.notes.clone()).unwrap_or_default();
        notes.sort_unstable();
        assert_eq!(notes, wanted, "{question}: {meant:?}");
    }
}

#[test]
fn what_is_told_of_another_answers_nothing() {
    let Some(meaning) = meaning() else { return };
    for question in [
        "When does Odo fly to Oslo?",
        "How much does the short ladder cost?",
        "Why does Odo repair the lamp?",
        "What colour is the tent?",
    ] {
        let meant = of_family(&meaning, question);
        assert!(meant.is_none(), "{question}: {meant:?}");
    }
}

#[test]
fn a_question_to_eyes_and_ears_is_told_from_others() {
    let Some(meaning) = meaning() else { return };
    for (question, is_of_senses) in [
        ("When did you last see Petra?", true),
        ("Who was here on Friday?", true),
        ("Who spoke most?", true),
        ("How long was Odo in view?", true),
        ("Where is the tent?", false),
        ("Who lent Odo the tent?", false),
    ] {
        assert_eq!(meaning.asks_senses(question), is_of_senses, "{question}");
    }
}

#[test]
fn what_was_never_told_is_not_known() {
    let Some(meaning) = meaning() else { return };
    for question in [
        "Where is the anchor?",
        "Who stole the trailer?",
        "Is Wanda married?",
        "Where is Amadou's kayak?",
        "How old is Piet?",
    ] {
        let meant = asked(&meaning, question);
        assert!(meant.is_none(), "{question}: {meant:?}");
    }
}

#[test]
fn an_answer_rests_on_the_notes_that_it_quotes() {
    let Some(meaning) = meaning() else { return };
    let meant = asked(&meaning, "Who bought the dinghy?").unwrap();
    assert_eq!(meant.notes, [12]);
    assert!(
        meant.text.contains("900 euros") && meant.text.ends_with("I was told on 12 March 2027.")
    );
    assert!((0.0..=1.0).contains(&meant.confidence));
}

#[test]
fn one_question_has_one_answer() {
    let (Some(one), Some(other)) = (meaning(), meaning()) else { return };
    for question in ["Where is the red kayak?", "What is Amadou allergic to?", "Who teaches?"] {
        let first = asked(&one, question);
        assert_eq!(first, asked(&one, question), "{question}");
        assert_eq!(first, asked(&other, question), "{question}");
    }
}

#[test]
fn strange_questions_and_notes_do_no_harm() {
    let Some(meaning) = meaning() else { return };
    let now = Timestamp::parse("2027-03-18T12:00:00Z").unwrap();
    let long = "who ".repeat(200);
    let strange = [
        "",
        " ",
        "?",
        "\u{201c}\u{201d}",
        "who",
        "or",
        "before",
        "\u{0}",
        "Where's?",
        "\u{1f600}",
        &long,
    ];
    let told: Vec<Told> = strange
        .iter()
        .map(|text| Told {
            at: now,
            text: (*text).to_owned(),
            cosine: 0.0,
            heard: None,
            names: None,
        })
        .chain(told(""))
        .collect();
    for question in strange {
        let _ = meaning.reply(question, &told, &BTreeSet::new(), now);
        let _ = meaning.reply(question, &[], &BTreeSet::new(), now);
    }
}

#[test]
fn a_follow_up_is_made_whole_by_the_question_before() {
    let Some(meaning) = meaning() else { return };
    let people: BTreeSet<String> = ["ava", "ben"].map(str::to_owned).into();
    let now = Timestamp::parse("2027-03-18T12:00:00Z").unwrap();
    for (before, value, question, wanted) in [
        (
            "Where is the red mug?",
            "In the sink",
            "Since when?",
            "Since when is the red mug in the sink?",
        ),
        ("Where is the red mug?", "In the sink", "And the blue one?", "Where is the blue mug?"),
        (
            "Who lent the drill to Ava?",
            "Ben",
            "When will he give it back?",
            "When will Ben give the drill back?",
        ),
        ("Where is Ava?", "In Oslo", "And Ben?", "Where is Ben?"),
        ("What is Ava's job?", "", "And Ben's?", "What is Ben's job?"),
        (
            "Did Ava feed the cat on Monday?",
            "Yes",
            "And on Friday?",
            "Did Ava feed the cat on Friday?",
        ),
        (
            "When does Ava fly to Oslo?",
            "3 May 2027",
            "And when does she come back?",
            "When does Ava come back?",
        ),
        (
            "Where is the tent?",
            "In the cellar",
            "Who put it there?",
            "Who put the tent in the cellar?",
        ),
        ("How old is Ava?", "", "And her brother?", "How old is Ava's brother?"),
        ("How much did the lamp cost?", "", "And the chair?", "How much did the chair cost?"),
        (
            "How many cups did Ben buy?",
            "",
            "How much did they cost?",
            "How much did the cups cost?",
        ),
        ("Where does Ben sleep?", "In the loft", "And earlier?", "Where does Ben sleep before?"),
        ("Did Ben repair the lamp?", "Yes", "What else?", "What did Ben repair?"),
    ] {
        let before = Turn { question: before.to_owned(), value: value.to_owned() };
        let whole = meaning.completed(question, &before, &people, now);
        assert_eq!(whole.as_deref(), Some(wanted), "{before:?}: {question}");
    }
}

#[test]
fn a_whole_question_stays_as_it_is() {
    let Some(meaning) = meaning() else { return };
    let before = Turn { question: "Where is the red mug?".to_owned(), value: String::new() };
    let now = Timestamp::parse("2027-03-18T12:00:00Z").unwrap();
    for question in ["Who bought the dinghy?", "Is the outboard motor broken?", "", "?", "\u{0}"] {
        let whole = meaning.completed(question, &before, &BTreeSet::new(), now);
        assert!(whole.is_none_or(|whole| !whole.is_empty()), "{question}");
    }
    let whole = meaning.completed("Who bought the dinghy?", &before, &BTreeSet::new(), now);
    assert_eq!(whole, None);
}

#[test]
fn nothing_read_is_kept_once_it_is_forgotten() {
    let Some(meaning) = meaning() else { return };
    let before = asked(&meaning, "Who bought the dinghy?");
    meaning.forget();
    assert!(meaning.known().kept().read.is_empty());
    assert_eq!(asked(&meaning, "Who bought the dinghy?"), before);
}

/// An afternoon at the boat yard, one line a turn.
const TALK: &str = "\
Wanda|Hello, I am Wanda. Has anybody seen the caulking iron?
Piet|I put it into the tool chest.
Wanda|And where is the tool chest?
Piet|In the loft.
Amadou|No, it's behind the winch. I moved it this morning.
Wanda|Piet, how many planks do we need?
Piet|Fourteen.
Wanda|Why so many?
Piet|The stern is rotten.
Amadou|Oluchi called. She wants her dinghy back.
Wanda|When does she need it?
Amadou|On Saturday.
Wanda|Who can bring it to her?
Piet|I can.
Amadou|My sister can't swim.";

fn talked(meaning: &Meaning, question: &str) -> Option<Meant> {
    let start = Timestamp::parse("2027-03-18T12:00:00Z").unwrap();
    let line = |(at, line): (usize, &str)| {
        let (speaker, text) = line.split_once('|').unwrap();
        let from = start.plus_secs(at as f64 * 4.0);
        let line = Line { speaker: Some(speaker.to_owned()), text: text.to_owned() };
        (Span::new(from, from.plus_secs(3.0)), line)
    };
    let lines: Vec<(Span, Line)> = TALK.lines().enumerate().map(line).collect();
    let told = |(at, (span, line)): (usize, &(Span, Line))| Told {
        at: span.start,
        text: line.text.clone(),
        cosine: cosine(question, &line.text),
        heard: Some(Heard::at(&lines, at)),
        names: None,
    };
    let told: Vec<Told> = lines.iter().enumerate().map(told).collect();
    let people = ["wanda", "piet", "amadou", "oluchi"].map(str::to_owned).into();
    meaning.reply(question, &told, &people, start.plus_secs(300.0))
}

#[test]
fn talk_is_read_as_talk() {
    let Some(meaning) = meaning() else { return };
    for (question, wanted, quoted) in [
        ("Who put the caulking iron into the tool chest?", "Piet", "Piet said"),
        ("Where is the tool chest?", "Behind the winch", "Amadou said"),
        ("Who moved the tool chest?", "Amadou", "I moved it this morning"),
        ("When does Oluchi need the dinghy?", "20 March 2027", "Wanda asked"),
        ("Who can bring the dinghy to Oluchi?", "Piet", "Piet said: \u{201c}I can.\u{201d}"),
    ] {
        let meant = talked(&meaning, question);
        let is_so = meant
            .as_ref()
            .is_some_and(|meant| meant.text.starts_with(wanted) && meant.text.contains(quoted));
        assert!(is_so, "{question}: {meant:?}");
    }
    let planks = talked(&meaning, "How many planks are needed?").unwrap();
    assert!(
        planks.text.contains("Fourteen") && planks.text.contains("how many planks"),
        "{planks:?}"
    );
    // Who asks says nothing, and nobody's sister is no one of these.
    for question in ["Where is the winch?", "Can Oluchi swim?"] {
        assert_eq!(talked(&meaning, question), None, "{question}");
    }
}

#[test]
fn what_is_named_first_stands_where_the_pronoun_stood() {
    let Some(language) = crate::language::tests::shared() else { return };
    let meaning = Meaning::new(language, TimeZone::UTC);
    let ava = ["ava".to_owned()].into();
    for (question, wanted) in [
        ("The torque wrench, where is it now?", Some("Where is the torque wrench now?")),
        ("Lima Cup \u{2013} what date is that?", Some("What date is Lima Cup?")),
        ("Ava, when did she leave?", Some("When did Ava leave?")),
        ("My phone, have you seen it?", Some("Have you seen my phone?")),
        ("Yesterday, what did he do?", None),
        ("Robot, where is it?", None),
        ("In the kitchen, who is it?", None),
        ("When she left, what did Ava say?", None),
        ("The mug, where did Ava see it?", None),
        ("Where is it?", None),
        ("", None),
    ] {
        assert_eq!(meaning.with_topic_inside(question, &ava).as_deref(), wanted, "{question}");
    }
}

#[test]
fn reading_ahead_ends_at_the_sentence_where_it_is_told_to() {
    let Some(meaning) = meaning() else { return };
    let (told, left) = (told(""), std::cell::Cell::new(3_usize));
    let keep_on = || left.replace(left.get().saturating_sub(1)) > 0;
    meaning.read_ahead(&told, &BTreeSet::new(), &keep_on);
    assert!(told.len() > 3);
    assert_eq!(meaning.known().kept().read.len(), 3);
}
