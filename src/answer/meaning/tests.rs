#![allow(clippy::unwrap_used)]

use super::*;

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
17 9:00|Every Friday Wanda teaches a knot class in the loft.";

/// A cosine as vectors give it, about: more for more common words.
fn cosine(one: &str, other: &str) -> f32 {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.map(str::to_lowercase).collect()
    };
    (0.2 + 0.2 * words(one).intersection(&words(other)).count() as f32).min(0.8)
}

fn told(question: &str) -> Vec<Told> {
    let line = |line: &str| {
        let (when, text) = line.split_once('|').unwrap();
        let (day, hour) = when.split_once(' ').unwrap();
        let at = format!("2027-03-{:0>2}T{:0>5}:00Z", day, hour);
        Told {
            at: Timestamp::parse(&at).unwrap(),
            text: text.to_owned(),
            cosine: cosine(question, text),
        }
    };
    YARD.lines().map(line).collect()
}

fn meaning() -> Option<Meaning> {
    Some(Meaning::new(crate::language::tests::opened()?, TimeZone::UTC))
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
        ("When was the outboard motor repaired?", "13 March 2027"),
    ] {
        let meant = asked(&meaning, question);
        let text = meant.as_ref().map(value);
        assert_eq!(text, Some(wanted), "{question}: {meant:?}");
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
        .map(|text| Told { at: now, text: (*text).to_owned(), cosine: 0.0 })
        .chain(told(""))
        .collect();
    for question in strange {
        let _ = meaning.reply(question, &told, &BTreeSet::new(), now);
        let _ = meaning.reply(question, &[], &BTreeSet::new(), now);
    }
}
