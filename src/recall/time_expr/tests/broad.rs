//! Weekends, seasons, feasts, loose amounts, pieces of months, days lent to parts of days, events far and near.

use super::*;

/// Like [`check`], at another now and in another zone.
#[track_caller]
fn check_in(place: &str, now: &str, text: &str, from: &str, to: &str) {
    let zone = TimeZone::get(place).unwrap();
    let at = |civil: &str| {
        let civil: jiff::civil::DateTime = civil.parse().unwrap();
        Timestamp::from_jiff(civil.to_zoned(zone.clone()).unwrap().timestamp())
    };
    let found = time_expressions(text, at(now), &zone);
    let (span, _) = combined_span(&found).unwrap_or_else(|| panic!("{text}: {found:?}"));
    let close = |a: Timestamp, b: Timestamp| a.secs_since(b).abs() < 1e-6;
    assert!(close(span.start, at(from)) && close(span.end, at(to)), "{text}: {span}");
}

/// The days that a text means one by one, by their first instants, and how long each is.
fn pieces(text: &str) -> Vec<(String, f64)> {
    let found = time_expressions(text, now(), &zone());
    let mut all: Vec<Span> = match found.last().map(|expr| &expr.when) {
        Some(When::Spans { spans, .. }) => spans.clone(),
        Some(When::Span { span, .. }) => vec![*span],
        other => panic!("{text}: {other:?}"),
    };
    all.sort_unstable();
    let show = |t: Timestamp| t.to_jiff().to_zoned(zone()).strftime("%m-%d %H:%M").to_string();
    all.into_iter().map(|span| (show(span.start), span.secs() / 3600.0)).collect()
}

#[test]
fn weekends_seasons_and_feasts() {
    let table = [
        ("was Ava here at the weekend?", "2026-02-28T00:00", "2026-03-02T00:00"),
        ("over the weekend", "2026-02-28T00:00", "2026-03-02T00:00"),
        ("at weekend", "2026-02-28T00:00", "2026-03-02T00:00"),
        ("next weekend", "2026-03-14T00:00", "2026-03-16T00:00"),
        ("the weekend before last", "2026-02-21T00:00", "2026-02-23T00:00"),
        ("the other day", "2026-02-20T00:00", "2026-03-02T00:00"),
        ("last spring", "2025-03-01T00:00", "2025-06-01T00:00"),
        ("last summer", "2025-06-01T00:00", "2025-09-01T00:00"),
        ("last winter", "2025-12-01T00:00", "2026-03-01T00:00"),
        ("in the spring", "2026-03-01T00:00", "2026-06-01T00:00"),
        ("in the summer of 2024", "2024-06-01T00:00", "2024-09-01T00:00"),
        ("in autumn", "2025-09-01T00:00", "2025-12-01T00:00"),
        ("on Christmas", "2025-12-25T00:00", "2025-12-26T00:00"),
        ("at Christmas", "2025-12-24T00:00", "2025-12-27T00:00"),
        ("last Christmas", "2025-12-24T00:00", "2025-12-27T00:00"),
        ("on Christmas Eve", "2025-12-24T00:00", "2025-12-25T00:00"),
        ("on Christmas morning", "2025-12-25T04:00", "2025-12-25T12:00"),
        ("who was here New Year's Eve?", "2025-12-31T00:00", "2026-01-01T00:00"),
        ("on New Year\u{2019}s Day", "2026-01-01T00:00", "2026-01-02T00:00"),
        ("on Halloween 2024", "2024-10-31T00:00", "2024-11-01T00:00"),
        ("at Easter", "2025-04-18T00:00", "2025-04-22T00:00"),
        ("on Good Friday", "2025-04-18T00:00", "2025-04-19T00:00"),
        ("the day after Christmas", "2025-12-26T00:00", "2025-12-27T00:00"),
        ("the week before Easter", "2025-04-13T00:00", "2025-04-20T00:00"),
        ("two days before Christmas", "2025-12-23T00:00", "2025-12-24T00:00"),
        ("last year at Christmas", "2025-12-24T00:00", "2025-12-27T00:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
    check_in(
        "Pacific/Auckland",
        "2026-03-02T12:00",
        "last summer",
        "2025-12-01T00:00",
        "2026-03-01T00:00",
    );
}

#[test]
fn pieces_of_weeks_months_and_years() {
    let table = [
        ("in early March", "2026-03-01T00:00", "2026-03-12T00:00"),
        ("in mid-January", "2026-01-11T00:00", "2026-01-22T00:00"),
        ("in late February", "2026-02-19T00:00", "2026-03-01T00:00"),
        ("at the end of last month", "2026-02-22T00:00", "2026-03-01T00:00"),
        ("at the beginning of March", "2026-03-01T00:00", "2026-03-09T00:00"),
        ("at the start of last week", "2026-02-23T00:00", "2026-02-26T00:00"),
        ("at the end of last week", "2026-02-27T00:00", "2026-03-02T00:00"),
        ("early last year", "2025-01-01T00:00", "2025-05-03T00:00"),
        ("in the second half of February", "2026-02-15T00:00", "2026-03-01T00:00"),
        ("in the first week of February", "2026-02-01T00:00", "2026-02-08T00:00"),
        ("in the last two days of February", "2026-02-27T00:00", "2026-03-01T00:00"),
        ("on the last Friday of January", "2026-01-30T00:00", "2026-01-31T00:00"),
        ("in March last year", "2025-03-01T00:00", "2025-04-01T00:00"),
        ("last year in March", "2025-03-01T00:00", "2025-04-01T00:00"),
        ("on 5 March last year", "2025-03-05T00:00", "2025-03-06T00:00"),
        ("on the 5th of last month", "2026-02-05T00:00", "2026-02-06T00:00"),
        ("next week", "2026-03-09T00:00", "2026-03-16T00:00"),
        ("all week", "2026-03-02T00:00", "2026-03-09T00:00"),
        ("this day last year", "2025-03-02T00:00", "2025-03-03T00:00"),
        ("on this day last week", "2026-02-23T00:00", "2026-02-24T00:00"),
        ("this time last year", "2025-02-23T00:00", "2025-03-10T00:00"),
        ("this time yesterday", "2026-03-01T17:03:20", "2026-03-01T18:03:20"),
        ("at the same time last week", "2026-02-23T17:03:20", "2026-02-23T18:03:20"),
        ("the Wednesday before last", "2026-02-18T00:00", "2026-02-19T00:00"),
        ("the week before last", "2026-02-16T00:00", "2026-02-23T00:00"),
        ("the month before last", "2026-01-01T00:00", "2026-02-01T00:00"),
        ("the night before last", "2026-02-28T18:00", "2026-03-01T06:00"),
        ("on Friday the 13th", "2026-02-13T00:00", "2026-02-14T00:00"),
        ("on Friday, 27 February", "2026-02-27T00:00", "2026-02-28T00:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn parts_of_days_lie_in_the_day_that_is_named() {
    let table = [
        ("two days ago in the morning", "2026-02-28T04:00", "2026-02-28T12:00"),
        ("on Saturday, who was here in the morning?", "2026-02-28T04:00", "2026-02-28T12:00"),
        ("who came in the evening on Friday?", "2026-02-27T17:00", "2026-02-28T00:00"),
        ("in the morning of 1 March", "2026-03-01T04:00", "2026-03-01T12:00"),
        ("on Saturday before dawn", "2026-02-28T00:00", "2026-02-28T04:00"),
        ("in the morning, who came at 7?", "2026-03-02T06:55", "2026-03-02T07:05"),
        ("overnight", "2026-03-01T18:00", "2026-03-02T06:00"),
        ("at night", "2026-03-01T20:00", "2026-03-02T06:00"),
        ("at dawn", "2026-03-02T04:00", "2026-03-02T08:00"),
        ("at dusk", "2026-03-02T16:00", "2026-03-02T22:00"),
        ("before dawn", "2026-03-02T00:00", "2026-03-02T04:00"),
        ("yesterday at sunset", "2026-03-01T16:00", "2026-03-01T22:00"),
        ("early yesterday", "2026-03-01T04:00", "2026-03-01T09:00"),
        ("late in the afternoon", "2026-03-02T15:00", "2026-03-02T18:00"),
        ("late last night", "2026-03-01T18:00", "2026-03-02T06:00"),
        ("in the middle of the night", "2026-03-02T00:00", "2026-03-02T06:00"),
        ("in the small hours", "2026-03-02T00:00", "2026-03-02T06:00"),
        ("all day", "2026-03-02T00:00", "2026-03-03T00:00"),
        ("during the day", "2026-03-02T06:00", "2026-03-02T20:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn loose_amounts_are_as_wide_as_they_are_coarse() {
    let table = [
        ("a fortnight ago", "2026-02-14T00:00", "2026-02-19T00:00"),
        ("four weeks ago", "2026-01-30T00:00", "2026-02-06T00:00"),
        ("a month ago", "2026-01-26T00:00", "2026-02-10T00:00"),
        ("a couple of days ago", "2026-02-27T00:00", "2026-03-02T00:00"),
        ("a few days ago", "2026-02-25T00:00", "2026-03-01T00:00"),
        ("several weeks ago", "2026-01-12T00:00", "2026-02-10T00:00"),
        ("exactly two weeks ago", "2026-02-16T00:00", "2026-02-17T00:00"),
        ("a week ago today", "2026-02-23T00:00", "2026-02-24T00:00"),
        ("two weeks ago on Tuesday", "2026-02-17T00:00", "2026-02-18T00:00"),
        ("a week ago at five", "2026-02-23T16:55", "2026-02-23T17:05"),
        ("a few hours ago", "2026-03-02T12:33:20", "2026-03-02T15:33:20"),
        ("two hours ago", "2026-03-02T15:15:20", "2026-03-02T15:51:20"),
        ("a couple of minutes ago", "2026-03-02T17:30:20", "2026-03-02T17:32:20"),
        ("in the last fortnight", "2026-02-16T17:33:20", "2026-03-02T17:33:20"),
        ("in the last couple of days", "2026-02-28T17:33:20", "2026-03-02T17:33:20"),
        ("over the past week", "2026-02-23T17:33:20", "2026-03-02T17:33:20"),
        ("around nine", "2026-03-02T08:30", "2026-03-02T09:30"),
        ("yesterday around 9", "2026-03-01T08:30", "2026-03-01T09:30"),
        ("yesterday between nine and half past nine", "2026-03-01T09:00", "2026-03-01T09:30"),
        ("at 3", "2026-03-02T14:55", "2026-03-02T15:05"),
        ("an hour after noon", "2026-03-02T12:45", "2026-03-02T13:15"),
        ("ten minutes before 17:30", "2026-03-02T17:17:30", "2026-03-02T17:22:30"),
        ("yesterday, ten minutes before 17:30", "2026-03-01T17:17:30", "2026-03-01T17:22:30"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
    // At nine in the morning nobody means three at night; at four at night everybody does.
    let three = |now: &str, from: &str, to: &str| check_in("Europe/Berlin", now, "at 3", from, to);
    three("2026-03-04T09:15", "2026-03-03T14:55", "2026-03-03T15:05");
    three("2026-03-04T04:00", "2026-03-04T02:55", "2026-03-04T03:05");
}

#[test]
fn the_clocks_going_forward_move_no_time_of_day() {
    let berlin = |text: &str, from: &str, to: &str| {
        check_in("Europe/Berlin", "2026-03-30T01:30", text, from, to);
    };
    berlin("yesterday", "2026-03-29T00:00", "2026-03-30T00:00");
    berlin("at 17:30", "2026-03-29T17:30", "2026-03-29T17:31");
    berlin("at 5 in the afternoon", "2026-03-29T16:55", "2026-03-29T17:05");
    berlin("this time yesterday", "2026-03-29T01:00", "2026-03-29T03:00");
    berlin("over the last two days", "2026-03-28T01:30", "2026-03-30T01:30");
    berlin("from 11 pm on Saturday to 4 am", "2026-03-28T23:00", "2026-03-29T04:00");
}

#[test]
fn or_joins_times_that_are_apart() {
    let day = |date: &str| (format!("{date} 00:00"), 24.0);
    assert_eq!(pieces("on Friday or Sunday"), [day("02-27"), day("03-01")]);
    assert_eq!(pieces("Monday or Tuesday"), [day("02-24"), day("03-02")]);
    assert_eq!(
        pieces("on Tuesday, Friday or on Saturday"),
        [day("02-24"), day("02-27"), day("02-28")]
    );
    assert_eq!(pieces("yesterday and today"), [day("03-01"), day("03-02")]);
    let part = |start: &str, hours: f64| (start.to_owned(), hours);
    assert_eq!(
        pieces("yesterday morning or evening"),
        [part("03-01 04:00", 8.0), part("03-01 17:00", 7.0)]
    );
    assert_eq!(
        pieces("on Friday or Saturday, who was here in the morning?"),
        [part("02-27 04:00", 8.0), part("02-28 04:00", 8.0)]
    );
    assert_eq!(
        pieces("at the weekend in the evening"),
        [part("02-28 17:00", 7.0), part("03-01 17:00", 7.0)]
    );
    // A comma alone joins nothing, and bounds that hold together are no choice.
    assert_eq!(pieces("on Saturday, at 17:30").len(), 1);
    check("after 17:00 and before 17:31", "2026-03-02T17:00", "2026-03-02T17:31");
}

#[test]
fn halves_and_large_numbers_are_lengths() {
    let table = [
        ("in the last half hour", "2026-03-02T17:03:20", "2026-03-02T17:33:20"),
        ("a half hour ago", "2026-03-02T17:00:50", "2026-03-02T17:05:50"),
        ("in the last hour and a half", "2026-03-02T16:03:20", "2026-03-02T17:33:20"),
        ("over the past two and a half hours", "2026-03-02T15:03:20", "2026-03-02T17:33:20"),
        ("one and a half hours ago", "2026-03-02T16:00:50", "2026-03-02T16:05:50"),
        ("in the last ninety minutes", "2026-03-02T16:03:20", "2026-03-02T17:33:20"),
        ("since an hour ago", "2026-03-02T16:18:20", "2026-03-02T17:33:20"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn ranges_of_what_comes_again_end_after_they_begin() {
    let table = [
        ("from Monday to Wednesday", "2026-02-23T00:00", "2026-02-26T00:00"),
        ("between Thursday and Tuesday", "2026-02-19T00:00", "2026-02-25T00:00"),
        ("from Friday to Saturday", "2026-02-27T00:00", "2026-03-01T00:00"),
        ("from November to January", "2025-11-01T00:00", "2026-02-01T00:00"),
        ("between April and June", "2025-04-01T00:00", "2025-07-01T00:00"),
        ("between November and May", "2024-11-01T00:00", "2025-06-01T00:00"),
        ("from 2023 to 2024", "2023-01-01T00:00", "2025-01-01T00:00"),
        ("between Christmas and New Year", "2025-12-25T00:00", "2026-01-02T00:00"),
        ("from the 26th to the 1st", "2026-02-26T00:00", "2026-03-02T00:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
    check_in(
        "Europe/Berlin",
        "2025-12-30T12:00",
        "between Christmas and New Year",
        "2024-12-25T00:00",
        "2025-01-02T00:00",
    );
}

#[test]
fn days_of_one_month_are_no_hours() {
    let table = [
        // A number behind a month and a comma counts something else.
        ("In March, 3 parcels came.", "2026-03-01T00:00", "2026-04-01T00:00"),
        ("on Feb. 3", "2026-02-03T00:00", "2026-02-04T00:00"),
        ("between 17 and 21 February", "2026-02-17T00:00", "2026-02-22T00:00"),
        ("from 25 to 28 February 2025", "2025-02-25T00:00", "2025-03-01T00:00"),
        ("between the 17th and the 21st of February", "2026-02-17T00:00", "2026-02-22T00:00"),
        ("between February 17 and 21", "2026-02-17T00:00", "2026-02-22T00:00"),
        // The last of them may still come.
        ("from 1 to 5 March", "2026-03-01T00:00", "2026-03-06T00:00"),
        ("from 2 to 5 April", "2025-04-02T00:00", "2025-04-06T00:00"),
        ("between 9 and 10 am on 21 February", "2026-02-21T09:00", "2026-02-21T10:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn a_day_ends_at_the_midnight_up_to_which_it_is_told() {
    let table = [
        ("before midnight", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("yesterday before midnight", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("until midnight yesterday", "2026-03-01T00:00", "2026-03-02T00:00"),
        ("from 8 pm to midnight yesterday", "2026-03-01T20:00", "2026-03-02T00:00"),
        ("yesterday from 8 pm to midnight", "2026-03-01T20:00", "2026-03-02T00:00"),
        ("last night before midnight", "2026-03-01T18:00", "2026-03-02T00:00"),
        ("until the evening", "2026-03-02T00:00", "2026-03-03T00:00"),
        ("after midnight", "2026-03-02T00:00", "2026-03-02T17:33:20"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn the_evening_lasts_until_those_who_are_awake_go_to_bed() {
    let berlin = |now: &str, text: &str, from: &str, to: &str| {
        check_in("Europe/Berlin", now, text, from, to);
    };
    berlin("2026-03-03T00:30", "tonight", "2026-03-02T18:00", "2026-03-03T06:00");
    berlin("2026-03-03T00:30", "this evening", "2026-03-02T17:00", "2026-03-03T00:00");
    berlin("2026-03-03T00:30", "this afternoon", "2026-03-02T12:00", "2026-03-02T18:00");
    berlin("2026-03-03T00:30", "this morning", "2026-03-03T04:00", "2026-03-03T12:00");
    berlin("2026-03-03T05:30", "tonight", "2026-03-03T17:00", "2026-03-04T00:00");
}

#[test]
fn months_are_as_long_as_they_are_and_mornings_are_of_their_day() {
    let table = [
        ("in the first month of last year", "2025-01-01T00:00", "2025-02-01T00:00"),
        ("in the second month of 2024", "2024-02-01T00:00", "2024-03-01T00:00"),
        ("in the last month of 2025", "2025-12-01T00:00", "2026-01-01T00:00"),
        ("on the morning of March 1st", "2026-03-01T04:00", "2026-03-01T12:00"),
        ("on the evening of the 28th", "2026-02-28T17:00", "2026-03-01T00:00"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
    let text = "Who was here on the morning of the party?";
    let left = unread(text, &time_expressions(text, now(), &zone()));
    assert_eq!(left.as_deref(), Some("on the morning of the party"));
}

#[test]
fn ago_is_a_border_where_the_words_say_so() {
    for (text, end) in [
        ("more than an hour ago", "2026-03-02T16:33:20"),
        ("who came over a week ago?", "2026-02-23T17:33:20"),
        ("at least two days ago", "2026-02-28T17:33:20"),
        ("not less than two days ago", "2026-02-28T17:33:20"),
        ("earlier than half an hour ago", "2026-03-02T17:03:20"),
    ] {
        let (found, _) = span(text);
        assert_eq!(found, Span::new(Timestamp::from_nanos(i64::MIN), local(end)), "{text}");
    }
    let table = [
        ("less than ten minutes ago", "2026-03-02T17:23:20", "2026-03-02T17:33:20"),
        ("within an hour ago", "2026-03-02T16:33:20", "2026-03-02T17:33:20"),
        ("under an hour ago", "2026-03-02T16:33:20", "2026-03-02T17:33:20"),
        ("no more than two days ago", "2026-02-28T17:33:20", "2026-03-02T17:33:20"),
        ("at most a month ago", "2026-02-02T17:33:20", "2026-03-02T17:33:20"),
        // A little more is told as loosely as the length itself.
        ("just over an hour ago", "2026-03-02T16:18:20", "2026-03-02T16:48:20"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn what_lies_between_two_lengths_ago_is_a_range() {
    let table = [
        ("between two hours ago and one hour ago", "2026-03-02T15:33:20", "2026-03-02T16:33:20"),
        ("between an hour ago and two hours ago", "2026-03-02T15:33:20", "2026-03-02T16:33:20"),
        ("between one and two hours ago", "2026-03-02T15:33:20", "2026-03-02T16:33:20"),
        ("between 10 and 20 minutes ago", "2026-03-02T17:13:20", "2026-03-02T17:23:20"),
        ("from three days ago to yesterday", "2026-02-27T00:00", "2026-03-02T00:00"),
        ("from half an hour ago until now", "2026-03-02T17:03:20", "2026-03-02T17:33:20"),
        ("from noon until an hour ago", "2026-03-02T12:00", "2026-03-02T16:33:20"),
        ("from yesterday to now", "2026-03-01T00:00", "2026-03-02T17:33:20"),
    ];
    for (text, from, to) in table {
        check(text, from, to);
    }
}

#[test]
fn minutes_before_and_after_noon_and_midnight_are_on_one_side_of_the_day() {
    let berlin = |now: &str, text: &str, from: &str, to: &str| {
        check_in("Europe/Berlin", now, text, from, to);
    };
    let (night, morning) = ("2026-03-03T03:00", "2026-03-03T09:00");
    berlin(morning, "at a quarter to noon", "2026-03-02T11:45", "2026-03-02T11:46");
    berlin(morning, "at ten to midnight", "2026-03-02T23:50", "2026-03-02T23:51");
    berlin(morning, "at ten past midnight", "2026-03-03T00:10", "2026-03-03T00:11");
    berlin(night, "at ten past noon", "2026-03-02T12:10", "2026-03-02T12:11");
    // Of a number both are open.
    berlin(morning, "at a quarter to 12", "2026-03-02T23:45", "2026-03-02T23:46");
}

#[test]
fn the_29th_of_february_may_lie_eight_years_back() {
    check_in(
        "Europe/Berlin",
        "2104-02-28T12:00",
        "on 29 February",
        "2096-02-29T00:00",
        "2096-03-01T00:00",
    );
}

#[test]
fn a_time_that_there_is_not_is_named() {
    let left = |text: &str| unread(text, &time_expressions(text, now(), &zone()));
    for words in [
        "from today to yesterday",
        "on 31 February",
        "on the 45th of May",
        "since February 30th",
        "on 29 February 2025",
        "on 29.2.2025",
        "before 2026-02-31",
    ] {
        let text = format!("Who was here {words}?");
        assert_eq!(left(&text).as_deref(), Some(words), "{text}");
        assert_eq!(combined_span(&time_expressions(&text, now(), &zone())), None, "{text}");
    }
    for text in [
        "Who was here on 28 February?",
        "Who was here on 29 February 2024?",
        "In February 45 people came.",
        "Where may 45 people sit?",
        "Who said \"on 31 February\"?",
    ] {
        assert_eq!(left(text), None, "{text}");
    }
}

#[test]
fn many_days_times_many_parts_of_days_are_not_multiplied() {
    let text = |count: usize| {
        let days: Vec<String> = (0..count).map(|n| format!("{} January", n % 31 + 1)).collect();
        let parts = vec!["in the morning"; count];
        format!("On {}, who was here {}?", days.join(" or "), parts.join(" or "))
    };
    let read = |count: usize| {
        let found = time_expressions(&text(count), now(), &zone());
        let spans = |expr: &TimeExpr| match &expr.when {
            When::Spans { spans, .. } => spans.len(),
            other => panic!("{other:?}"),
        };
        let counts: Vec<usize> = found.iter().map(spans).collect();
        (counts, unread(&text(count), &found))
    };
    assert_eq!(read(20), (vec![20, 20], None));
    let (counts, left) = read(200);
    assert_eq!(counts, [31, 0]);
    assert!(left.unwrap().starts_with("in the morning or in the morning"));
}

#[test]
fn the_start_of_something_else_is_not_the_start_of_the_recording() {
    for text in
        ["ten minutes after the start of the meeting", "5 minutes before the end of the game"]
    {
        assert_eq!(event(text).1, Happening::Told, "{text}");
    }
}

fn event(text: &str) -> (Relation, Happening, String, String, Option<Apart>) {
    let found = time_expressions(text, now(), &zone());
    match found.as_slice() {
        [TimeExpr { when: When::Event { relation, happening, who, what, apart }, .. }] => {
            (*relation, *happening, who.clone(), what.clone(), *apart)
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn events_are_told_by_verbs_nouns_and_lengths() {
    use Happening::{Arrived, Left, Present, Told};
    use Relation::{After, Before, During};
    let table = [
        ("Who was here after Ben's arrival?", After, Arrived, "ben", ""),
        ("Who spoke before the departure of Ava?", Before, Left, "ava", ""),
        ("Who spoke on Ava's arrival?", During, Arrived, "ava", ""),
        ("Who was there during Ben's visit?", During, Present, "ben", ""),
        ("Who spoke once Ava had left?", After, Left, "ava", ""),
        ("Who came as soon as Ava had gone home?", After, Left, "ava", ""),
        ("Who was here when Ava had left?", After, Left, "ava", ""),
        ("Who was here the moment Ava left?", During, Left, "ava", ""),
        ("Who was here by the time Ben arrived?", Before, Arrived, "ben", ""),
        ("Who was here before the cat was sick?", Before, Told, "", "the cat was sick"),
        ("Who was here after Ben broke the vase?", After, Told, "", "ben broke the vase"),
        ("Who spoke when Ben had broken the vase?", After, Told, "", "ben had broken the vase"),
        ("After dinner, who was here?", After, Told, "", "dinner"),
        ("Who was here during the meeting yesterday?", During, Told, "", "the meeting"),
    ];
    for (text, relation, happening, who, what) in table {
        if text.ends_with("yesterday?") {
            let found = time_expressions(text, now(), &zone());
            assert!(found.len() == 2 && found[0].is_told() && !found[1].is_told(), "{found:?}");
            continue;
        }
        let wanted = (relation, happening, who.to_owned(), what.to_owned(), None);
        assert_eq!(event(text), wanted, "{text}");
    }
    let apart = |least_secs: f64, most_secs: f64| Some(Apart { least_secs, most_secs });
    let table = [
        ("five minutes before Ava left", Before, Left, apart(210.0, 390.0)),
        ("10 seconds after Ben arrived", After, Arrived, apart(8.0, 12.0)),
        ("within ten minutes of Ben's arrival", During, Arrived, apart(0.0, 750.0)),
        ("in the hour before Ava came in", Before, Arrived, apart(0.0, 4500.0)),
        ("two hours after the cat was sick", After, Told, apart(6120.0, 8280.0)),
    ];
    for (text, relation, happening, wanted) in table {
        let (side, what, .., apart) = event(text);
        assert_eq!((side, what, apart), (relation, happening, wanted), "{text}");
    }
    let at = Span::new(now(), now().plus_secs(10.0));
    let near = Apart { least_secs: 5.0, most_secs: 20.0 };
    assert_eq!(near.beside(Before, at), Span::new(now().plus_secs(-20.0), now().plus_secs(-5.0)));
    assert_eq!(near.beside(After, at), Span::new(now().plus_secs(15.0), now().plus_secs(30.0)));
}

#[test]
fn what_tells_a_time_and_is_not_read_is_named() {
    let left = |text: &str| unread(text, &time_expressions(text, now(), &zone()));
    for (text, words) in [
        ("Who was here that evening?", "that evening"),
        ("What did Ben say the day after?", "the day after"),
        ("Who came in the following week?", "following week"),
        ("Was Ava here last semester?", "last semester"),
        ("Who was here on Thanksgiving?", "on Thanksgiving"),
        ("Who was here on my birthday?", "on my birthday"),
        ("Who left a while ago?", "a while ago"),
        ("Who was here before that?", "before that"),
    ] {
        assert_eq!(left(text).as_deref(), Some(words), "{text}");
    }
    for text in [
        "Who was here yesterday evening?",
        "How many minutes ago did Ava leave?",
        "How long ago was Ben here?",
        "When was the last day you saw Ava?",
        "What did she say about Thanksgiving?",
        "Who said \"that evening\"?",
        "Was anybody here at the time?",
        "Who was here?",
    ] {
        assert_eq!(left(text), None, "{text}");
    }
}

#[test]
fn names_and_things_are_no_times() {
    for text in [
        "What did Ava get for Christmas?",
        "Who talked about Easter?",
        "Did Dawn leave?",
        "Where is the overnight bag?",
        "Who packed the summer clothes?",
        "Who was seen during the recording?",
        "Was that the first half?",
        "Who spoke once?",
        "Who comes on Mondays?",
        "How long has it been since you saw Ava?",
        "Who was on the 2nd floor?",
        "What did Ava get from May?",
        "Who stood between Ava and the 2nd man?",
    ] {
        assert_eq!(time_expressions(text, now(), &zone()), [], "{text}");
    }
}
