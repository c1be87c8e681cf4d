//! Questions for more than a name: what a note has to tell before it may answer.

use super::household::{Household, local};
use super::told::{check, told};

#[test]
fn an_attribute_is_told_in_words_for_it() {
    let house = told(&[
        (40.0, "Otto is the baker and sells rolls."),
        (41.0, "Mrs Lindgren sells cheese at the market."),
        (42.0, "The pharmacy is behind the church."),
        (43.0, "Zoe repaired the fence."),
        (44.0, "The number of the plumber is 0171 5550."),
        (45.0, "Rosa's husband works in Kiel."),
    ]);
    check(
        &house,
        &[
            ("What is the surname of Otto?", &["?"]),
            ("What is the first name of Mrs Lindgren?", &["?"]),
            ("What is the phone number of the pharmacy?", &["?"]),
            ("What is the phone number of the plumber?", &["0171"]),
            ("Is Zoe married?", &["?"]),
            ("Is Rosa married?", &["husband"]),
        ],
    );
}

#[test]
fn the_first_of_several_is_not_whichever_came_first() {
    let house = told(&[
        (40.0, "Two parcels came for Ben. I left them in the porch."),
        (41.0, "Opened the first parcel: a telescope from Kiel."),
    ]);
    check(
        &house,
        &[
            ("What was in the first parcel?", &["telescope"]),
            ("What was in the second parcel?", &["?"]),
        ],
    );
}

#[test]
fn what_pleases_somebody_is_told_as_such() {
    let house = told(&[
        (40.0, "Otto turns 80 in May. He is very fond of figs."),
        (41.0, "Otto gave Ben a book about ships."),
        (42.0, "Zoe is vegetarian."),
        (43.0, "Zoe has a key to the boathouse."),
        (44.0, "Rosa repaired the boathouse."),
    ]);
    check(
        &house,
        &[
            ("What could I give Otto as a treat?", &["figs"]),
            ("Can I offer Zoe some ham?", &["vegetarian"]),
            ("What could I bring Rosa as a treat?", &["?"]),
        ],
    );
}

#[test]
fn who_gives_is_not_given_to() {
    let house = told(&[
        (40.0, "Otto gave his notice today."),
        (41.0, "At the farewell we gave Otto a compass."),
        (42.0, "Zoe brought Ben some plums."),
    ]);
    check(
        &house,
        &[
            ("What did Otto get as a leaving present?", &["compass"]),
            ("What did Zoe get as a present?", &["?"]),
        ],
    );
}

#[test]
fn what_another_one_did_is_no_answer() {
    let house = told(&[
        (40.0, "Rosa painted the gate with Zoe's brush."),
        (41.0, "Ben lent Zoe the tent."),
        (42.0, "Zoe is on holiday in Kiel."),
    ]);
    check(
        &house,
        &[
            ("When did Rosa paint the gate?", &["Rosa painted"]),
            ("When did Zoe paint the gate?", &["?"]),
            ("Has Zoe given Ben the tent back?", &["?"]),
            ("How long was Ben on holiday?", &["?", "-in view"]),
        ],
    );
}

#[test]
fn what_was_done_at_another_time_is_no_answer() {
    let house = Household::new();
    for (text, at) in [
        ("The siren went off, somebody burnt the toast.", "2026-02-18T12:00:00"),
        ("Six parcels came.", "2026-02-20T10:00:00"),
        ("The siren again, at two in the night: a moth in the detector.", "2026-02-25T08:00:00"),
    ] {
        house.tell(text, local(at));
    }
    check(
        &house,
        &[
            ("Why did the siren go off in the night of 25 February?", &["moth", "-toast"]),
            ("Why did the siren go off on 21 February?", &["?"]),
            ("How many parcels came on 20 February?", &["Six parcels"]),
            ("How many parcels came on 24 February?", &["?"]),
        ],
    );
}

#[test]
fn a_number_that_was_taken_back_is_no_answer() {
    let house = Household::new();
    for (text, at) in [
        ("41 parcels today.", "2026-02-21T17:00:00"),
        ("Sorry, I mistyped: yesterday it was 14 parcels, not 41.", "2026-02-22T09:00:00"),
        ("8 parcels today.", "2026-02-23T17:00:00"),
        ("9 letters today.", "2026-02-28T17:00:00"),
        ("Correction: it was 7 on Saturday, not 9.", "2026-03-01T20:00:00"),
    ] {
        house.tell(text, local(at));
    }
    check(
        &house,
        &[
            ("How many parcels came on 21 February?", &["14 parcels"]),
            ("How many parcels came on 23 February?", &["8 parcels"]),
            ("How many letters came on Saturday?", &["it was 7"]),
        ],
    );
}
