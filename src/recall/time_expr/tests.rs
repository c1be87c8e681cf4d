//! Tables of expressions with what they mean on Monday 2 March 2026, 17:33:20 in Berlin.
#![allow(clippy::unwrap_used)]

mod broad;

use jiff::tz::TimeZone;

use super::*;

fn zone() -> TimeZone {
    TimeZone::get("Europe/Berlin").unwrap()
}

fn local(text: &str) -> Timestamp {
    let civil: jiff::civil::DateTime = text.parse().unwrap();
    Timestamp::from_jiff(civil.to_zoned(zone()).unwrap().timestamp())
}

fn now() -> Timestamp {
    local("2026-03-02T17:33:20")
}

fn span(text: &str) -> (Span, Precision) {
    let found = time_expressions(text, now(), &zone());
    combined_span(&found).unwrap_or_else(|| panic!("{text}: no span in {found:?}"))
}

#[track_caller]
fn check(text: &str, from: &str, to: &str) {
    let (found, _) = span(text);
    let show = |t: Timestamp| t.to_jiff().to_zoned(zone()).datetime().to_string();
    let want = Span::new(local(from), local(to));
    let close = |a: Timestamp, b: Timestamp| a.secs_since(b).abs() < 1e-6;
    assert!(
        close(found.start, want.start) && close(found.end, want.end),
        "{text}: {} .. {}, wanted {from} .. {to}",
        show(found.start),
        show(found.end)
    );
}

#[test]
fn what_is_to_come_is_the_first_of_its_kind() {
    let table = [
        ("Ava flies on Saturday.", "2026-03-07T00:00", "2026-03-08T00:00"),
        ("Ava flew on Saturday.", "2026-02-28T00:00", "2026-03-01T00:00"),
        ("Ava is in Bonn on Monday.", "2026-03-02T00:00", "2026-03-03T00:00"),
        ("The inspection is this Thursday.", "2026-03-05T00:00", "2026-03-06T00:00"),
        ("The fair is on 1 March.", "2027-03-01T00:00", "2027-03-02T00:00"),
        ("The fair is on 3 April 2025.", "2025-04-03T00:00", "2025-04-04T00:00"),
        ("What is happening in May?", "2026-05-01T00:00", "2026-06-01T00:00"),
        ("What happened in May?", "2025-05-01T00:00", "2025-06-01T00:00"),
        ("What is happening in March?", "2026-03-01T00:00", "2026-04-01T00:00"),
        ("Zoe moves on Tuesday evening.", "2026-03-03T17:00", "2026-03-04T00:00"),
        ("The fair was moved to 4 April.", "2026-04-04T00:00", "2026-04-05T00:00"),
        ("Ava ordered a cake for Friday.", "2026-03-06T00:00", "2026-03-07T00:00"),
        ("Zoe was ill last Tuesday.", "2026-02-24T00:00", "2026-02-25T00:00"),
        ("The fair is at the weekend.", "2026-03-07T00:00", "2026-03-09T00:00"),
        ("The fair was at the weekend.", "2026-02-28T00:00", "2026-03-02T00:00"),
        ("The fair is on the 1st.", "2026-04-01T00:00", "2026-04-02T00:00"),
        ("The party is on Friday the 13th.", "2026-03-13T00:00", "2026-03-14T00:00"),
        ("The fair is on Sunday, 1 March.", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("The race is on 29 February.", "2028-02-29T00:00", "2028-03-01T00:00"),
        // Both ends, and the hours of a day that is not named.
        ("Ava is in Bonn from 17 to 21 April.", "2026-04-17T00:00", "2026-04-22T00:00"),
        ("Ava was in Bonn from 17 to 21 April.", "2025-04-17T00:00", "2025-04-22T00:00"),
        ("Zoe is away from Thursday to Tuesday.", "2026-03-05T00:00", "2026-03-11T00:00"),
        ("Zoe was away from Thursday to Tuesday.", "2026-02-19T00:00", "2026-02-25T00:00"),
        ("Zoe is away from December to March.", "2025-12-01T00:00", "2026-04-01T00:00"),
        ("The plumber comes at 18:00.", "2026-03-02T18:00", "2026-03-02T18:01"),
        ("The plumber came at 18:00.", "2026-03-01T18:00", "2026-03-01T18:01"),
        ("The plumber comes about noon on Friday.", "2026-03-06T11:30", "2026-03-06T12:30"),
        ("The lesson is from 19:00 to 20:00.", "2026-03-02T19:00", "2026-03-02T20:00"),
        ("Zoe comes late in the evening.", "2026-03-02T20:00", "2026-03-03T00:00"),
    ];
    for (text, from, to) in table {
        let found = combined_span(&told_expressions(text, now(), &zone()));
        let wanted = Span::new(local(from), local(to));
        assert_eq!(found.map(|(span, _)| span), Some(wanted), "{text}");
    }
    let night = told_expressions("Zoe comes this evening.", local("2026-03-03T00:30"), &zone());
    let evening = Span::new(local("2026-03-03T17:00"), local("2026-03-04T00:00"));
    assert_eq!(combined_span(&night).map(|(span, _)| span), Some(evening));
}

#[test]
fn days_and_their_parts() {
    let table = [
        ("who was here today?", "2026-03-02T00:00", "2026-03-03T00:00"),
        ("yesterday", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("the day before yesterday", "2026-02-28T00:00", "2026-03-01T00:00"),
        ("yesterday evening", "2026-03-01T17:00", "2026-03-02T00:00"),
        ("yesterday in the morning", "2026-03-01T04:00", "2026-03-01T12:00"),
        ("this morning", "2026-03-02T04:00", "2026-03-02T12:00"),
        ("in the morning", "2026-03-02T04:00", "2026-03-02T12:00"),
        ("last night", "2026-03-01T18:00", "2026-03-02T06:00"),
        ("tonight", "2026-03-02T17:00", "2026-03-03T00:00"),
        ("last Tuesday", "2026-02-24T00:00", "2026-02-25T00:00"),
        ("last Monday", "2026-02-23T00:00", "2026-02-24T00:00"),
        ("on Monday", "2026-03-02T00:00", "2026-03-03T00:00"),
        ("on Saturday afternoon", "2026-02-28T12:00", "2026-02-28T18:00"),
        ("on March 1st", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("March 2nd", "2026-03-02T00:00", "2026-03-03T00:00"),
        ("on the 1st", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("on the 2nd of January", "2026-01-02T00:00", "2026-01-03T00:00"),
        ("on 24 December", "2025-12-24T00:00", "2025-12-25T00:00"),
        ("on 24 December 2024", "2024-12-24T00:00", "2024-12-25T00:00"),
        ("on 2026-02-27", "2026-02-27T00:00", "2026-02-28T00:00"),
        ("on 27.2.2026", "2026-02-27T00:00", "2026-02-28T00:00"),
        ("on 2/27/2026", "2026-02-27T00:00", "2026-02-28T00:00"),
        ("this week", "2026-03-02T00:00", "2026-03-09T00:00"),
        ("last week", "2026-02-23T00:00", "2026-03-02T00:00"),
        ("last month", "2026-02-01T00:00", "2026-03-01T00:00"),
        ("in January", "2026-01-01T00:00", "2026-02-01T00:00"),
        ("in March 2025", "2025-03-01T00:00", "2025-04-01T00:00"),
        ("in 2025", "2025-01-01T00:00", "2026-01-01T00:00"),
        ("last weekend", "2026-02-28T00:00", "2026-03-02T00:00"),
        ("three days ago", "2026-02-27T00:00", "2026-02-28T00:00"),
        ("a week ago", "2026-02-21T00:00", "2026-02-26T00:00"),
        ("two weeks ago", "2026-02-14T00:00", "2026-02-19T00:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn clock_times() {
    let table = [
        ("at 17:32", "2026-03-02T17:32", "2026-03-02T17:33"),
        ("at 17:32:10", "2026-03-02T17:32:10", "2026-03-02T17:32:11"),
        ("at 18:00", "2026-03-01T18:00", "2026-03-01T18:01"),
        ("at 5:32", "2026-03-02T17:32", "2026-03-02T17:33"),
        ("at 5.32 pm", "2026-03-02T17:32", "2026-03-02T17:33"),
        ("at 5:32 am", "2026-03-02T05:32", "2026-03-02T05:33"),
        ("at 5", "2026-03-02T16:55", "2026-03-02T17:05"),
        ("at five o'clock", "2026-03-02T16:55", "2026-03-02T17:05"),
        ("at 5pm", "2026-03-02T16:55", "2026-03-02T17:05"),
        ("at 6", "2026-03-02T05:55", "2026-03-02T06:05"),
        ("at 6 p.m.", "2026-03-01T17:55", "2026-03-01T18:05"),
        ("at noon", "2026-03-02T11:55", "2026-03-02T12:05"),
        ("at half past five", "2026-03-02T17:30", "2026-03-02T17:31"),
        ("around half past five", "2026-03-02T17:20", "2026-03-02T17:40"),
        ("at a quarter to five", "2026-03-02T16:45", "2026-03-02T16:46"),
        ("at ten past five", "2026-03-02T17:10", "2026-03-02T17:11"),
        ("at five thirty", "2026-03-02T17:30", "2026-03-02T17:31"),
        ("yesterday at 5", "2026-03-01T16:55", "2026-03-01T17:05"),
        ("yesterday at 17:32", "2026-03-01T17:32", "2026-03-01T17:33"),
        ("at 17:32 yesterday", "2026-03-01T17:32", "2026-03-01T17:33"),
        ("at 8 in the evening", "2026-03-01T19:55", "2026-03-01T20:05"),
        ("at 8 in the morning", "2026-03-02T07:55", "2026-03-02T08:05"),
        ("on Saturday, who was here at 9:15 am?", "2026-02-28T09:15", "2026-02-28T09:16"),
        ("last night at 11", "2026-03-01T22:55", "2026-03-01T23:05"),
        ("around 17:31", "2026-03-02T17:29:30", "2026-03-02T17:32:30"),
        ("on March 1st at 08:15:30", "2026-03-01T08:15:30", "2026-03-01T08:15:31"),
        ("at 2026-03-02T16:30:00Z", "2026-03-02T17:30", "2026-03-02T17:30:01"),
        ("at 2026-03-02T17:30:00", "2026-03-02T17:30", "2026-03-02T17:30:01"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn ranges_and_borders() {
    let table = [
        ("between 5 and 6 pm", "2026-03-02T17:00", "2026-03-02T18:00"),
        ("between 5 and 6", "2026-03-02T17:00", "2026-03-02T18:00"),
        ("between 17:30 and 17:31", "2026-03-02T17:30", "2026-03-02T17:31"),
        ("from 11 am to 1 pm", "2026-03-02T11:00", "2026-03-02T13:00"),
        ("from 17:30:00 until 17:31:15", "2026-03-02T17:30", "2026-03-02T17:31:15"),
        ("17:30-17:31", "2026-03-02T17:30", "2026-03-02T17:31"),
        ("yesterday between 9 and 10 am", "2026-03-01T09:00", "2026-03-01T10:00"),
        ("between 9 and 10 am yesterday", "2026-03-01T09:00", "2026-03-01T10:00"),
        ("from Friday to Saturday", "2026-02-27T00:00", "2026-03-01T00:00"),
        ("since this morning", "2026-03-02T04:00", "2026-03-02T17:33:20"),
        ("since 17:30", "2026-03-02T17:30", "2026-03-02T17:33:20"),
        ("since yesterday", "2026-03-01T00:00", "2026-03-02T17:33:20"),
        ("after 17:31", "2026-03-02T17:31", "2026-03-02T17:33:20"),
        ("before 17:31", "2026-03-02T00:00", "2026-03-02T17:31"),
        ("after 5 pm yesterday", "2026-03-01T17:00", "2026-03-02T00:00"),
        ("from 11 pm yesterday to 1 am today", "2026-03-01T23:00", "2026-03-02T01:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn relative_times() {
    let table = [
        ("in the last hour", "2026-03-02T16:33:20", "2026-03-02T17:33:20"),
        ("in the past 20 minutes", "2026-03-02T17:13:20", "2026-03-02T17:33:20"),
        ("over the last two days", "2026-02-28T17:33:20", "2026-03-02T17:33:20"),
        ("during the last 30 seconds", "2026-03-02T17:32:50", "2026-03-02T17:33:20"),
        ("ten minutes ago", "2026-03-02T17:20:50", "2026-03-02T17:25:50"),
        ("half an hour ago", "2026-03-02T17:00:50", "2026-03-02T17:05:50"),
        ("an hour ago", "2026-03-02T16:18:20", "2026-03-02T16:48:20"),
        ("30 seconds ago", "2026-03-02T17:32:47", "2026-03-02T17:32:53"),
        ("just now", "2026-03-02T17:32:20", "2026-03-02T17:33:20"),
        ("two hours and a half ago", "2026-03-02T15:00:50", "2026-03-02T15:05:50"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn positions_in_the_recording() {
    let only = |text: &str| time_expressions(text, now(), &zone()).remove(0).when;
    let spot = |from_end, secs, at| When::Recording { from_end, secs, at };
    assert_eq!(only("in the first minute"), spot(false, 60.0, false));
    assert_eq!(only("who was seen in the first 30 seconds of the video"), spot(false, 30.0, false));
    assert_eq!(only("30 seconds into the recording"), spot(false, 30.0, true));
    assert_eq!(only("after 45 seconds"), spot(false, 45.0, true));
    assert_eq!(only("at second 42"), spot(false, 42.0, true));
    assert_eq!(only("at the beginning"), spot(false, 15.0, false));
    assert_eq!(only("at the end of the recording"), spot(true, 15.0, false));
    assert_eq!(only("in the last 20 seconds of the recording"), spot(true, 20.0, false));
    assert_eq!(only("10 seconds before the end"), spot(true, 10.0, true));
    assert_eq!(only("who is here now?"), When::Now);
    assert_eq!(only("who do you see at the moment?"), When::Now);
}

#[test]
fn event_clauses_become_anchors() {
    let only = |text: &str| {
        let mut found = time_expressions(text, now(), &zone());
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        match found.remove(0).when {
            When::Event { relation, happening, who, what, apart: None } => {
                (relation, happening, who, what)
            }
            other => panic!("{text}: {other:?}"),
        }
    };
    use Happening::{Arrived, Left, Present, Spoke};
    use Relation::{After, Before, During};
    let w = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let table = [
        ("What did Ben say before Ava left?", Before, Left, w("ava", "")),
        ("Who came in after Ava left the room?", After, Left, w("ava", "")),
        ("Who was there when Ava came in?", During, Arrived, w("ava", "")),
        ("Who spoke after the man arrived?", After, Arrived, w("the man", "")),
        (
            "Who was here while Ben was talking about the weather?",
            During,
            Spoke,
            w("ben", "about the weather"),
        ),
        ("What happened when Ava said hello?", During, Spoke, w("ava", "hello")),
        ("Who spoke while Ava was there?", During, Present, w("ava", "")),
    ];
    for (text, relation, happening, (who, what)) in table {
        assert_eq!(only(text), (relation, happening, who, what), "{text}");
    }
}

#[test]
fn words_that_only_look_like_times() {
    for text in [
        "who said \"see you tomorrow\"?",
        "when did Ava leave?",
        "when was Ben last seen?",
        "do you know when Ava left?",
        "may I ask who that is?",
        "the second person who spoke",
        "how many people sat there",
        "who was the first person?",
        "the last person who spoke",
        "have you seen two people?",
        "march on",
        "a man with five dogs",
        "talk about five people",
        "where did you last see the mug",
        "",
        "\u{202e}\u{0000}\u{1f600}",
    ] {
        assert_eq!(time_expressions(text, now(), &zone()), [], "{text}");
    }
}

#[test]
fn the_words_are_cut_where_they_stand() {
    let text = "Who was here yesterday at 17:32 with Ava?";
    let found = time_expressions(text, now(), &zone());
    assert_eq!(&text[found[0].range.clone()], "yesterday at 17:32");
    assert_eq!(span("who was here at 17:32").1, Precision::Minute);
    assert_eq!(duration_secs("about 12 seconds"), Some(12.0));
    assert!(["17:30:05", "2nd", "seven", "thirty"].into_iter().all(is_number));
    assert!(!["often", "at", "room-3"].into_iter().any(is_number));
}

#[test]
fn no_text_makes_it_panic() {
    for text in [
        "99999999999999999999 days ago",
        "in the last 1e400 years",
        "1e9 weeks ago",
        "at 99:99:99",
        "on 9999-12-31 at 23:59:59.999999999999",
        "between and",
        "from to",
        "since",
        "before before before",
        "in the last",
        "the last 999999999999 years",
        "on -9999-01-01",
        "12345678901234567890 seconds into the recording",
    ] {
        let _ = time_expressions(text, now(), &zone());
    }
}

proptest::proptest! {
    #[test]
    fn any_words_are_read(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "at", "on", "the", "last", "5", "17:30", "pm", "march", "2nd", "yesterday", "between", "and",
            "from", "to", "until", "half", "past", "quarter", "in", "first", "minute", "ago", "two", "weeks",
            "monday", "evening", "before", "ava", "left", "said", "when", "while", "a", "9999", "now", "\u{1f600}",
        ]), 0..12)) {
        let _ = time_expressions(&words.join(" "), now(), &zone());
    }
}
