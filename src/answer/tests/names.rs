//! Of whom was only told, by which name, and who is meant by what somebody is.

use super::ask;
use super::household::{Household, local};
use super::told::{check, told};
use crate::ids::{EntityId, EntityKind};
use crate::memory::model::{NameRow, NameSource};

#[test]
fn what_notes_tell_of_whom_nobody_met_answers_before_that_nobody_met_them() {
    let house = Household::new();
    for (text, at) in [
        ("Otto is the baker. He comes at six on Mondays.", "2026-02-20T08:00:00"),
        ("Wanda visited Otto and brought him a radio.", "2026-02-21T15:00:00"),
        ("Otto has to see the dentist on Thursday. Milo will take him.", "2026-02-22T09:00:00"),
        ("Dr. Novak is here every Friday.", "2026-02-23T09:00:00"),
        ("Wanda has resigned.", "2026-02-24T09:00:00"),
        ("Mrs Faber is ill, so Mrs Lund came instead.", "2026-02-25T09:00:00"),
    ] {
        house.tell(text, local(at));
    }
    check(
        &house,
        &[
            ("When does Otto arrive?", &["He comes at six"]),
            ("Did Wanda visit Otto on 21 February?", &["Yes, as far as I know", "Wanda visited"]),
            ("Who visited Otto?", &["Wanda visited Otto"]),
            ("Who went with Otto to the dentist?", &["Milo"]),
            ("How often is Doctor Novak here?", &["every Friday"]),
            ("Is Wanda still working here?", &["No, as far as I know", "resigned"]),
            ("Did Mrs Faber come on 25 February?", &["No, as far as I know", "Mrs Lund"]),
            // What they do not tell, and what only eyes and ears do.
            ("Did Otto visit Wanda on 21 February?", &["?", "I have met nobody called"]),
            ("Did Wanda visit Otto on 22 February?", &["?", "I have met nobody called"]),
            ("Is Otto still working here?", &["?", "-No, as far"]),
            ("When did you last see Otto?", &["?", "I have met nobody called Otto"]),
            ("How often is Milo here?", &["?", "I have met nobody called Milo"]),
        ],
    );
}

#[test]
fn a_title_is_part_of_a_name_and_another_title_is_another_ones() {
    let house = told(&[
        (40.0, "Doctor Novak sleeps in the attic."),
        (41.0, "Mrs Faber sleeps in the barn."),
        (42.0, "Class 3b from the village was here. Wanda was away because she had a cough."),
    ]);
    check(
        &house,
        &[
            ("Where is Dr. Novak?", &["sleeps in the attic", "-barn"]),
            ("Where is Novak?", &["sleeps in the attic"]),
            ("Where is Mrs Faber?", &["sleeps in the barn"]),
            ("Where is Mr Faber?", &["?", "-barn"]),
            ("Where is Professor Novak?", &["?", "-attic"]),
            ("Why was Wanda away when Class 3b came?", &["cough"]),
        ],
    );
}

#[test]
fn where_somebody_is_told_to_be_the_newest_note_tells() {
    let house = told(&[
        (40.0, "Otto lives in cabin 2, Wanda in cabin 3 and Milo in cabin 4."),
        (41.0, "Otto lost his cap."),
        (42.0, "Wanda sings when she cooks."),
        (43.0, "Otto and Wanda have swapped cabins: she is in cabin 2 now and he is in cabin 3."),
        (44.0, "Milo and Pim have swapped bikes: he is in the shed now."),
        (45.0, "Rut sleeps in the loft. She was a tram driver."),
        (46.0, "Rut went to the fair."),
        (47.0, "I met Rut in town."),
    ]);
    check(
        &house,
        &[
            ("Where is Wanda?", &["Wanda is in cabin 2", "-cabin 3"]),
            ("Which room is Otto in now?", &["Otto is in cabin 3", "-cabin 2"]),
            ("In which cabin is Zebediah?", &["?"]),
            // Nobody can tell whom "he" means.
            ("Where is Milo?", &["?", "-shed"]),
        ],
    );
    // Whoever went may be elsewhere.
    let rut = ask(&house, "Where is Rut?");
    assert!(!rut.answer.contains("loft"), "{rut:?}");
}

#[test]
fn what_is_told_of_age_birthday_and_former_work_is_told_in_many_words() {
    let house = told(&[
        (40.0, "Wanda turns 71 on the 3rd of June. She has a weakness for nougat."),
        (41.0, "Otto was a tram driver, and Wanda used to teach the violin."),
        (42.0, "Milo turned the key."),
    ]);
    check(
        &house,
        &[
            ("How old is Wanda?", &["turns 71"]),
            ("When is Wanda's birthday?", &["3rd of June"]),
            ("What did Wanda do for a living?", &["teach the violin"]),
            ("What could I give Wanda as a treat?", &["nougat"]),
            ("How old is Milo?", &["?"]),
            ("What did Milo do for a living?", &["?"]),
        ],
    );
}

#[test]
fn a_description_is_what_somebody_is_and_not_how() {
    let house = told(&[
        (40.0, "Ava is back from the sea. She brought a shell."),
        (41.0, "The smith mended the back door."),
        (42.0, "Ben was a tram driver before he came here."),
        (43.0, "Ben keeps bees behind the shed."),
        (44.0, "Wanda is our treasurer."),
        (45.0, "The new coat is for Wanda."),
    ]);
    check(
        &house,
        &[
            (
                "What does the former tram driver keep behind the shed?",
                &["The former tram driver is Ben", "bees"],
            ),
            // Whatever names her is no answer.
            ("What sweets would our treasurer choose?", &["?", "Our treasurer is Wanda"]),
        ],
    );
    let door = ask(&house, "Does the back door close again?");
    assert!(!door.answer.contains("The back is"), "{door:?}");
}

#[test]
fn whoever_has_a_name_is_asked_for_by_it_exactly_as_it_was_given() {
    for name in [
        "Anne-Marie",
        "Maria de la Cruz Ruiz",
        "J. R. Hart",
        "Bob (next door)",
        "Siobha\u{301}n O\u{2019}Neil",
        "O\u{2019}Neil",
        "Zoe \u{1f98a}",
        "\u{1f98a}",
        "Jean-Luc d'Arcy-Moreau",
    ] {
        let house = Household::new();
        let who = EntityId::new(EntityKind::Person, 4);
        let (at, source) = (local("2026-03-02T18:00:00"), NameSource::Told);
        let mut draft = house.memory.begin(at);
        let name = crate::text::composed(name).into_owned();
        draft.name(NameRow { entity: who, name: name.clone(), since: at, source, turn: None });
        draft.commit().unwrap();
        for text in [
            format!("When did you last see {name}?"),
            format!("Have you seen {} today?", name.to_lowercase()),
            format!("Was {name} here?"),
        ] {
            let answer = ask(&house, &text);
            assert!(!answer.abstained, "{text}: {}", answer.answer);
            assert!(
                answer.entities.contains(&who),
                "{text}: {} {:?}",
                answer.answer,
                answer.entities
            );
        }
    }
}
