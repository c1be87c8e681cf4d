//! What is found though it was worded otherwise, and what is not given for an answer though it has the words.

use super::ask;
use super::household::{Household, local};

/// Each is told one second later than the one before.
fn told(notes: &[&str]) -> Household {
    let house = Household::new();
    for (second, text) in notes.iter().enumerate() {
        house.tell(text, local("2026-03-02T17:31:00").plus_secs(second as f64));
    }
    house
}

#[test]
fn a_thing_in_a_box_is_where_the_box_is() {
    let house = told(&["The insulin is in the blue box.", "The blue box is in the pantry."]);
    for question in ["Where is the insulin?", "In which room is the insulin?"] {
        let answer = ask(&house, question);
        assert!(!answer.abstained && answer.answer.contains("pantry"), "{answer:?}");
        assert_eq!(answer.evidence.len(), 2, "{answer:?}");
    }
    let yes = ask(&house, "Is the insulin in the pantry?");
    assert!(!yes.abstained && yes.answer.starts_with("Yes"), "{yes:?}");
    let no = ask(&house, "Is the insulin in the cellar?");
    assert!(!no.abstained && no.answer.starts_with("No"), "{no:?}");
    // The pantry may have a drawer.
    assert!(ask(&house, "Is the insulin in the drawer?").abstained);
    // What is told to be in itself ends the search.
    house.tell("The pantry is in the blue box.", local("2026-03-02T17:31:30"));
    let circle = ask(&house, "Where is the insulin?");
    assert!(circle.evidence.len() <= 3 && circle.answer.contains("blue box"), "{circle:?}");
}

#[test]
fn what_is_not_told_of_a_time_is_counted() {
    let house = Household::new();
    for number in 1..=7 {
        let at = local("2026-02-24T12:00:00").plus_secs(f64::from(number));
        house.tell(&format!("Parcel number {number} came."), at);
    }
    let answer = ask(&house, "What happened last Tuesday?");
    assert!(answer.answer.ends_with("And 2 more memories."), "{}", answer.answer);
    assert_eq!(answer.evidence.len(), 7, "{answer:?}");
}

#[test]
fn what_comes_after_an_event_does_not_hold_it() {
    let house = Household::new();
    house.tell("The cat was sick.", local("2026-03-01T09:30:00"));
    house.tell("The vet came.", local("2026-03-01T11:00:00"));
    let answer = ask(&house, "What happened after the cat was sick?");
    assert!(answer.answer.contains("The vet came."), "{}", answer.answer);
    assert!(!answer.answer.contains("The cat was sick."), "{}", answer.answer);
}

#[test]
fn other_forms_and_words_find_what_was_told() {
    let house = told(&["Ben lost his library card.", "Ben mended the tap in the kitchen."]);
    let lost = ask(&house, "What did Ben lose?");
    assert!(!lost.abstained && lost.answer.contains("library card"), "{lost:?}");
    let mended = ask(&house, "Who repaired the faucet?");
    assert!(!mended.abstained && mended.answer.contains("mended the tap"), "{mended:?}");
}

#[test]
fn a_misspelt_word_is_taken_for_the_one_that_is_known() {
    let house = told(&["The hedge trimmer is in the greenhouse."]);
    let answer = ask(&house, "Where is the hegde trimer?");
    assert!(!answer.abstained && answer.answer.contains("greenhouse"), "{answer:?}");
    assert!(
        answer.answer.contains("\u{201c}hegde\u{201d} for \u{201c}hedge\u{201d}"),
        "{answer:?}"
    );
    assert!(answer.confidence < ask(&house, "Where is the hedge trimmer?").confidence);
    // That is another word.
    assert!(ask(&house, "Where is the ladder?").abstained);
}

#[test]
fn another_deed_is_no_answer() {
    let house = told(&["Ben bought a white van.", "The tent was lent to Ava."]);
    let bought = ask(&house, "Who bought the white van?");
    assert!(!bought.abstained && bought.answer.contains("Ben bought"), "{bought:?}");
    let stolen = ask(&house, "Who stole the white van?");
    assert!(stolen.abstained && stolen.answer.starts_with("I don't know"), "{stolen:?}");
    let other = ask(&house, "Who bought the boat?");
    assert!(other.abstained && other.answer.contains("white van"), "{other:?}");
    let lent = ask(&house, "Who lent the tent to Ava?");
    assert!(lent.abstained && lent.answer.starts_with("I don't know"), "{lent:?}");
}
