//! Questions that set two told events side by side, or the beginning of a state and its end; and events that are counted.

use super::ask;
use super::household::{Household, local};
use super::told::check;

/// Told in 2026, at those local times.
fn story(notes: &[(&str, &str)]) -> Household {
    let house = Household::new();
    for (at, text) in notes {
        house.tell(text, local(&format!("2026-{at}:00")));
    }
    house
}

#[test]
fn of_two_told_events_it_is_known_which_was_first() {
    let house = story(&[
        ("02-11T08:00", "Wilma slipped on the ice."),
        ("02-12T10:00", "Otto was taken to hospital with a sore throat."),
        ("02-16T11:00", "Otto came back from hospital this morning."),
        ("02-20T12:00", "Greta fell off a ladder."),
        ("02-21T09:00", "Wilma and Greta had lunch together."),
        ("02-22T09:00", "Mrs Hart dropped in with a cake."),
        ("02-23T09:00", "A man came for the parcel, a Mr Lund."),
    ]);
    check(
        &house,
        &[
            ("Did Wilma fall before Otto came back?", &["Yes, as", "slipped", "came back"]),
            ("Did Greta fall before Otto came back?", &["No, after", "Greta fell", "came back"]),
            ("Did Greta fall before or after Otto came back?", &["After, as", "Greta fell"]),
            ("Who fell first, Greta or Wilma?", &["Wilma was first", "ice", "ladder"]),
            ("Who fell last, Greta or Wilma?", &["Greta was last"]),
            ("Who came here first, Mrs Hart or Mr Lund?", &["Mrs Hart was first"]),
            ("Did Mr Lund fetch the parcel after Wilma fell?", &["Yes, as", "came for the parcel"]),
            ("Was Otto already back when Greta fell?", &["Yes, as"]),
            ("Was Otto already back when Wilma fell?", &["No, as"]),
            ("Was Otto in hospital when Wilma fell?", &["No, as"]),
        ],
    );
    // Nobody told that Otto fell.
    assert!(!ask(&house, "Who fell first, Otto or Wilma?").answer.contains("was first"));
    // Whom the camera saw came when it saw them.
    let seen = ask(&house, "Did Ava come before Ben came?").answer;
    assert!(!seen.contains("as far as I know"), "{seen}");
}

#[test]
fn a_state_lasts_from_the_note_of_its_beginning_to_that_of_its_end() {
    let house = story(&[
        ("02-10T09:00", "The pump in the cellar is stuck."),
        ("02-14T15:00", "A plumber repaired the pump."),
        ("02-12T10:00", "Otto was taken to hospital with a sore throat."),
        ("02-16T11:00", "Otto came back from hospital."),
        ("02-18T09:00", "Zoe says the shed door won't lock."),
        ("02-20T09:00", "Wilma is ill."),
        ("02-19T09:00", "Hugo has given notice, his last day will be the 27th."),
        ("02-21T09:00", "The saw is not broken."),
    ]);
    check(
        &house,
        &[
            ("How long was the pump out of order?", &["For 4 days", "stuck", "repaired"]),
            ("How many days did Otto spend in hospital?", &["For 4 days", "came back"]),
            ("How long has Wilma been ill?", &["Since Friday 20 February 2026"]),
            ("Is Otto still in hospital?", &["No, as", "came back"]),
            ("Is Wilma still ill?", &["Yes, as", "Wilma is ill"]),
            ("Is the pump working again?", &["Yes, as", "repaired the pump"]),
            ("Does the shed door lock again?", &["No, as", "won't lock"]),
            ("Is Hugo still working here?", &["No, as", "given notice"]),
            ("How long was Hugo ill?", &["?", "-days", "-in view"]),
        ],
    );
    for question in ["Is the saw still broken?", "Is Greta still working here?"] {
        assert!(!ask(&house, question).answer.starts_with("Yes, as"), "{question}");
    }
}

#[test]
fn numbers_of_days_are_added_and_compared() {
    let house = story(&[
        ("02-03T18:00", "31 guests today."),
        ("02-05T18:00", "44 guests today."),
        ("02-06T09:00", "I miscounted: yesterday it was 40 guests, not 44."),
        ("02-07T09:00", "A glazier mended the window for 80 euros."),
        ("02-08T09:00", "Zoe bought a kettle. She paid 35 euros."),
    ]);
    check(
        &house,
        &[
            ("How many guests did we have on 5 February?", &["40 guests, as", "miscounted"]),
            ("How many guests did we have on 4 February?", &["?", "I was told no number"]),
            (
                "How many guests came on 3 February and 5 February together?",
                &["71 guests in all", "31 on Tuesday", "40 on Thursday"],
            ),
            ("Did more guests come on 5 February than on 3 February?", &["Yes, more", "40", "31"]),
            ("Did more guests come on 3 February than on 5 February?", &["No, fewer", "31", "40"]),
            (
                "Which was more expensive, the window or the kettle?",
                &["The window was more expensive", "80 against 35"],
            ),
            ("Which was cheaper, the window or the kettle?", &["The kettle was cheaper"]),
        ],
    );
    let strange = ask(&house, "Which was cheaper, the window or the anvil?").answer;
    assert!(!strange.contains("was cheaper"), "{strange}");
}

#[test]
fn what_was_done_is_counted_and_what_was_planned_is_not() {
    let house = story(&[
        ("02-03T09:00", "Wilma can't find her ring."),
        ("02-03T12:00", "Wilma found her ring under the sofa."),
        ("02-20T09:00", "Wilma has lost her ring again."),
        ("02-10T09:00", "Group 4b from Hill School is coming on Thursday."),
        ("02-12T12:00", "Group 4b was here."),
        ("03-01T09:00", "Group 6c from Hill School is booked in for next Thursday."),
        ("02-11T08:00", "Otto slipped on the ice."),
        ("02-13T08:00", "Greta fell off a ladder."),
        ("02-14T08:00", "The smoke alarm went off, somebody had burnt the toast."),
        ("02-15T08:00", "Alarm again, this time it was a spider."),
    ]);
    check(
        &house,
        &[
            ("How often has Wilma lost her ring?", &["twice", "can't find", "-under the sofa"]),
            ("How many falls did we have in February?", &["2 falls", "Otto", "Greta"]),
            ("Which groups have been here so far?", &["Group 4b was here", "-6c"]),
            (
                "How often have children from Hill School been here so far?",
                &["Once", "Group 4b was here", "-6c"],
            ),
            ("What has set off the smoke alarm?", &["toast", "spider"]),
        ],
    );
}

#[test]
fn what_was_moved_is_on_the_day_that_was_told_last() {
    let house = story(&[
        ("02-25T09:00", "The fire drill is on the 5th of March at nine."),
        ("03-01T10:00", "The fire drill has been put off, it's on the 6th of March now."),
        ("03-01T11:00", "The library will be open on Saturday."),
    ]);
    check(
        &house,
        &[
            ("Is the fire drill on Thursday?", &["No, as", "put off"]),
            ("Is the fire drill on Friday?", &["Yes, as", "put off"]),
        ],
    );
    // What is open on one day may be so on others.
    let open = ask(&house, "Is the library open on Sunday?").answer;
    assert!(!open.starts_with("No, as"), "{open}");
}

#[test]
fn whoever_is_told_to_have_an_allergy_is_told_of() {
    let house = story(&[
        ("02-03T09:00", "Ben is allergic to walnuts."),
        ("02-04T09:00", "Wilma must not eat any shrimps, she is allergic."),
        ("02-05T09:00", "Otto is not allergic to anything."),
    ]);
    check(&house, &[("Who has an allergy?", &["walnuts", "shrimps", "-Otto"])]);
}

#[test]
fn things_of_a_kind_are_those_in_the_place() {
    let house = story(&[
        ("02-03T09:00", "The pills are in the upper drawer of the trolley."),
        ("02-04T09:00", "The ointment is in the lower drawer of the trolley."),
        ("02-05T09:00", "The bandages are in the cupboard."),
    ]);
    check(&house, &[("What medicines are in the trolley?", &["pills", "ointment", "-bandages"])]);
}
