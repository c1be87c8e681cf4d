//! Questions about where things and people are, and were, by what was told in several notes.

use super::household::{Household, local};
use super::told::{check, told};

/// Each is told at its local time.
fn over_days(notes: &[(&str, &str)]) -> Household {
    let house = Household::new();
    for (at, text) in notes {
        house.tell(text, local(at));
    }
    house
}

#[test]
fn a_thing_is_where_it_was_told_to_be_last_before_that_time() {
    let house = over_days(&[
        ("2026-02-10T09:00:00", "The big clock stands in the hall, the barometer in the study."),
        (
            "2026-02-12T09:00:00",
            "The joiner comes tomorrow, so Ben carried the clock down to the cellar.",
        ),
        ("2026-02-16T09:00:00", "The joiner is done. The clock is back in its old place."),
        ("2026-02-18T09:00:00", "The barometer is clean and left for the museum in Kiel, on loan."),
    ]);
    check(
        &house,
        &[
            ("Where is the clock now?", &["the hall"]),
            ("Where was the clock on 14 February?", &["cellar"]),
            ("Where was the clock on 11 February?", &["in the hall"]),
            ("Where was the clock on 9 February?", &["?", "-cellar"]),
            ("Where is the barometer?", &["Kiel"]),
            ("Where was the barometer on 12 February?", &["in the study", "-Kiel"]),
        ],
    );
}

#[test]
fn what_somebody_has_goes_by_a_shorter_name_too() {
    let house = over_days(&[
        ("2026-02-10T09:00:00", "Found Zoe's reading glasses. I put them on the shelf."),
        (
            "2026-02-17T09:00:00",
            "Zoe's glasses turned up in the wash. They're on the windowsill now.",
        ),
        ("2026-02-18T09:00:00", "The fuse box is in the hall."),
        ("2026-02-19T09:00:00", "The box is in the shed."),
    ]);
    check(
        &house,
        &[
            ("Where are Zoe's reading glasses?", &["windowsill", "-shelf"]),
            ("Where were Zoe's glasses on 12 February?", &["on the shelf"]),
            // The fuse box is no box.
            ("Where is the fuse box?", &["in the hall", "-shed"]),
        ],
    );
}

#[test]
fn what_is_in_a_part_of_a_thing_is_where_the_thing_is() {
    let house = told(&[
        (40.0, "Ottoline takes sleeping pills. They are kept in the top drawer of the trolley."),
        (41.0, "The trolley is parked in the linen room."),
    ]);
    check(
        &house,
        &[
            ("In which room do I find Ottoline's sleeping pills?", &["linen room"]),
            ("Where do I find Zoe's sleeping pills?", &["?"]),
        ],
    );
}

#[test]
fn a_thing_may_be_told_by_what_it_has() {
    let house = told(&[
        (
            40.0,
            "Zoe and Otto have a suitcase each. Zoe's has wheels, Otto's is the one with the strap.",
        ),
        (41.0, "Zoe's suitcase is in the attic. Otto's suitcase is under the stairs."),
    ]);
    check(
        &house,
        &[
            (
                "Where is the suitcase with the strap?",
                &["is Otto's.", "under the stairs", "-attic"],
            ),
            ("Where is the suitcase with the zip?", &["?", "-is Otto's.", "-is Zoe's."]),
        ],
    );
}

#[test]
fn who_was_taken_somewhere_was_there_until_the_return() {
    let house = over_days(&[
        ("2026-02-10T17:00:00", "Otto was taken to hospital this afternoon."),
        ("2026-02-14T10:00:00", "Otto came back from hospital this morning."),
        ("2026-02-18T12:00:00", "Zoe was at home with a cold this morning."),
    ]);
    check(
        &house,
        &[
            ("Where was Otto on 12 February?", &["hospital", "-recording"]),
            ("Where was Otto on 16 February?", &["?"]),
            ("Where was Zoe on 18 February?", &["at home"]),
        ],
    );
}

#[test]
fn a_note_without_a_place_tells_nobody_where() {
    let house = told(&[
        (40.0, "Staff meeting on Friday. Everybody assembles at the fountain."),
        (41.0, "The staff meeting has been put off by a day."),
        (42.0, "Wet umbrellas have to be left in the porch."),
        (43.0, "The rowing boat needs paint."),
    ]);
    check(
        &house,
        &[
            ("Where do we gather for the staff meeting?", &["fountain"]),
            ("Where should people leave wet umbrellas?", &["porch"]),
            ("Where is the rowing boat?", &["?", "I don't know where"]),
        ],
    );
}
