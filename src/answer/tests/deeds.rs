//! Questions about deeds and journeys that were told: who was in view then is no answer to them.

use super::household::{Household, local};
use super::told::{check, told};

#[test]
fn who_was_in_view_did_not_therefore_do_it() {
    let house = told(&[
        (40.0, "Ava and Zoe baked a cake."),
        (41.0, "Zoe cleans here on Fridays."),
        (42.0, "Zoe returned the ladder."),
        (43.0, "Ava is a nurse."),
        (44.0, "Ava gave the blue lamp to Ben."),
    ]);
    check(
        &house,
        &[
            ("Who baked with Ava?", &["Ava and Zoe baked a cake", "-was with"]),
            ("Who cleans here?", &["Zoe cleans here", "-I saw"]),
            ("Who returned the ladder?", &["Zoe returned the ladder", "-came"]),
            ("How long has Ava been a nurse?", &["nurse", "-in view"]),
            ("What did Ava give to Ben?", &["blue lamp", "-in view"]),
            ("Where is the thing that Ava gave to Ben?", &["blue lamp", "-I last saw"]),
            ("How many people juggle?", &["?"]),
            ("Who juggled with Ava?", &["?", "-was with"]),
            ("How often did Ava juggle?", &["?"]),
            ("How long did Ava juggle?", &["?"]),
            // What is of nothing but being there, the camera tells.
            ("Who was with Ava today?", &["Ava was with"]),
            ("Who came in after Ava left?", &["Ben at 17:31:30"]),
            ("How long was Ava here today?", &["37 seconds"]),
        ],
    );
}

#[test]
fn of_several_times_the_first_and_the_last_are_told_apart_and_all_are_counted() {
    let house = Household::new();
    for day in ["02-20", "02-22", "02-26"] {
        house.tell("Zoe watered the orchid.", local(&format!("2026-{day}T08:00:00")));
    }
    house.tell("Ava practised the flute for an hour.", local("2026-02-20T10:00:00"));
    house.tell("Ava practised the flute.", local("2026-02-22T10:00:00"));
    house.tell("Ava practised the flute with Ben.", local("2026-02-26T10:00:00"));
    for day in ["02-21", "02-23"] {
        house.tell("Ava swam in the lake.", local(&format!("2026-{day}T12:00:00")));
    }
    house.tell("Ben juggles daily.", local("2026-02-21T13:00:00"));
    house.tell("The drum was lent to Ben.", local("2026-02-20T11:00:00"));
    house.tell("Ben gave the drum back.", local("2026-02-22T11:00:00"));
    check(
        &house,
        &[
            ("When did Ava last practise the flute?", &["26 February"]),
            ("When did Ava first practise the flute?", &["20 February"]),
            ("Who practised the flute with Ava?", &["Ava practised the flute with Ben"]),
            ("How often did Ava practise the flute?", &["3 times", "20 February", "26 February"]),
            ("How often did Ava practise the flute on 22 February?", &["once", "22 February"]),
            ("How often did Ava swim?", &["I was told of it", "21 February", "23 February"]),
            ("How often does Ben juggle?", &["Ben juggles daily", "-I was told of it"]),
            ("Does Ben have the drum?", &["Ben gave the drum back"]),
        ],
    );
}

#[test]
fn what_was_told_more_often_than_is_looked_at_was_told_at_least_so_often() {
    let house = Household::new();
    let start = local("2026-02-20T06:00:00");
    let hours = |count: i32| (0..count).map(move |hour| start.plus_secs(f64::from(hour) * 3600.0));
    house.tell_at_each("Ava practised the flute.", hours(199));
    house.tell_at_each("Ben swam in the lake.", hours(230));
    check(
        &house,
        &[
            ("How often did Ava practise the flute?", &["it 199 times", "And 194 more", "-least"]),
            ("How often did Ben swim?", &["it at least 200 times", "And at least 195 more"]),
        ],
    );
}

#[test]
fn who_was_told_to_be_away_was_elsewhere() {
    let house = Household::new();
    for (text, at) in [
        ("Zoe left for Bonn this morning.", "2026-02-20T08:00:00"),
        ("Zoe came back from Bonn.", "2026-02-22T20:00:00"),
        ("Zoe went away to Kiel.", "2026-02-25T09:00:00"),
        ("Ava drove to the clinic.", "2026-02-26T09:00:00"),
        ("Max was in Rome from 10 February to 12 February.", "2026-02-14T09:00:00"),
        ("Max is back from Rome.", "2026-02-27T09:00:00"),
        ("Otto flies to Oslo on Saturday and comes back on Sunday evening.", "2026-02-24T09:00:00"),
    ] {
        house.tell(text, local(at));
    }
    check(
        &house,
        &[
            ("Where was Zoe on 21 February?", &["left for Bonn", "-recording"]),
            ("Where was Zoe on 24 February?", &["?"]),
            ("Where was Max on 11 February?", &["Max was in Rome"]),
            ("Where is Max now?", &["Max is back from Rome", "-recording"]),
            ("Where is Zoe now?", &["Kiel", "-Bonn"]),
            ("Where did Zoe go?", &["Kiel", "-Bonn"]),
            ("Where did Ava go on 26 February?", &["the clinic"]),
            ("Where did Ben go?", &["?", "I don't know where Ben went"]),
            ("When did Zoe leave for Bonn?", &["on 20 February", "-came back"]),
            ("When did Zoe come back from Bonn?", &["on 22 February"]),
            ("How long was Zoe in Bonn?", &["2 days 12 hours"]),
            (
                "How long was Otto in Oslo?",
                &["was away from Saturday 28 February 2026 to Sunday 1 March 2026 (1 day)"],
            ),
            ("When did Otto come back from Oslo?", &["on Sunday evening: Sunday 1 March 2026"]),
            ("Where was Otto on 28 February?", &["flies to Oslo"]),
            ("How long was Zoe in Oslo?", &["?", "I don't know that Zoe was in Oslo"]),
            ("How long was Ben away?", &["?", "-0 seconds"]),
            ("Who was away on 21 February?", &["Zoe", "-Ava", "-Max"]),
            ("Who was away on 23 February?", &["?"]),
            ("Was Zoe here on 21 February?", &["No, as far as I know", "left for Bonn"]),
            // Whom the camera saw was there.
            ("Where was Ava at 17:30:10?", &["camera"]),
            ("When did Ava leave?", &["17:31:20"]),
        ],
    );
}

#[test]
fn what_somebody_did_for_a_living_is_told_as_of_then() {
    let house = Household::new();
    house.tell("Ava works as a beekeeper.", local("2026-02-20T08:00:00"));
    house.tell("Ava works as a baker.", local("2026-02-25T08:00:00"));
    check(
        &house,
        &[
            ("What did Ava do for a living on 22 February?", &["beekeeper", "-baker"]),
            ("What does Ava do for a living?", &["baker", "-beekeeper"]),
        ],
    );
}

#[test]
fn whom_a_description_means_is_found_first() {
    let house = told(&[
        (40.0, "Ava is our gardener."),
        (41.0, "Ava keeps bees behind the shed."),
        (42.0, "Ben is a painter."),
        (43.0, "Zoe is a painter."),
        (44.0, "I met Zoe in town."),
    ]);
    check(
        &house,
        &[
            ("What does the gardener keep behind the shed?", &["The gardener is Ava", "bees"]),
            ("What does the painter keep behind the shed?", &["?", "which one you mean"]),
            ("What does the owner of the yacht keep?", &["?", "whom you mean"]),
            ("Did he give it back?", &["?", "whom you mean"]),
            ("And the red one?", &["?", "the red one"]),
        ],
    );
}

#[test]
fn a_deed_is_known_in_other_words() {
    let house = told(&[
        (40.0, "Unpacked the parcel: a brass telescope, a gift from the Lindner family."),
        (41.0, "The scouts were here. Ottoline had a fever, so Mr Brandt showed them round."),
        (42.0, "A man came for the grey scarf, a Mr Castell."),
        (43.0, "Ruth beat Edgar at darts."),
        (44.0, "Ruth takes over from Edgar as choirmaster."),
        (45.0, "Edgar has given notice, his last rehearsal is on Friday."),
        (46.0, "Zelda flies to Malmo for a week. Ruth is in charge."),
        (47.0, "The kiln turned up in the barn."),
    ]);
    check(
        &house,
        &[
            ("Who donated the telescope?", &["Lindner"]),
            ("Who guided the scouts?", &["Mr Brandt showed them round"]),
            ("Who picked up the grey scarf?", &["Mr Castell"]),
            ("Who won at darts?", &["Ruth beat Edgar"]),
            ("Who lost at darts?", &["Ruth beat Edgar"]),
            ("Who is going to replace Edgar?", &["Ruth takes over from Edgar", "-notice"]),
            ("Who ran the pottery while Zelda was in Malmo?", &["Ruth is in charge"]),
            ("Who won at chess?", &["?"]),
            ("Who picked up the grey ladder?", &["?"]),
            ("Who guided the painters?", &["?"]),
            ("Who is going to replace Ottoline?", &["?"]),
            // It is told that it was found, and not by whom.
            ("Who discovered the kiln?", &["?"]),
        ],
    );
}

#[test]
fn what_was_the_matter_and_what_came_of_a_trip_is_told_in_other_words() {
    let house = told(&[
        (40.0, "I took Edgar's loom to the attic because a pedal is loose."),
        (41.0, "Edgar's loom is made of oak."),
        (42.0, "Edgar is back from Husum. He brought us smoked eel."),
        (43.0, "Ottoline is Ruth's mother."),
        (44.0, "Ruth came by and gave Ottoline a red quilt."),
        (45.0, "The bazaar opens on 8 May at six. The mayor is giving a speech."),
        (46.0, "The painters were here. Edgar was in bed with a migraine."),
    ]);
    check(
        &house,
        &[
            ("What was the matter with Edgar's loom?", &["pedal is loose"]),
            ("What did Edgar bring back from his trip?", &["smoked eel"]),
            ("What did Ruth give her mother?", &["Her mother is Ottoline", "red quilt"]),
            ("What did Edgar bring for his mother?", &["?"]),
            ("Who is going to speak when the bazaar opens?", &["The mayor"]),
            ("Who is going to speak at the regatta?", &["?"]),
            ("Why was Edgar in bed when the painters came?", &["migraine"]),
            ("Why was Zelda in bed when the painters came?", &["?"]),
        ],
    );
}
