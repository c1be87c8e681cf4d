//! Questions about everybody, where they are many.

use super::household::Household;
use super::*;
use crate::ids::EntityKind;
use crate::memory::model::{Membership, NameRow, NameSource};
use crate::time::Timestamp;

#[test]
fn of_a_crowd_those_with_names_are_told_and_the_others_counted() {
    let house = Household::new();
    if !house.reads_meaning() {
        return;
    }
    let before = house.memory.view().persons().len();
    let mut draft = house.memory.begin(super::household::local("2026-03-02T17:34:00"));
    let mut named = Vec::new();
    for number in 0..60 {
        let entity = draft.new_entity(EntityKind::Person);
        if number < 50 {
            let part = draft.new_entity(EntityKind::Face);
            let reason = "test".to_owned();
            draft.membership(Membership { part, person: entity, reason, decreed: false });
        } else {
            let (name, since) = (format!("Visitor{number}"), Timestamp::from_nanos(0));
            named.push(name.clone());
            draft.name(NameRow { entity, name, since, source: NameSource::Told, turn: None });
        }
    }
    draft.commit().unwrap();
    let all = house.memory.view().persons().len();
    assert_eq!(all, before + 60);
    let answer = ask(&house, "Who do you know?");
    assert!(answer.answer.starts_with(&format!("I know {all} people")), "{}", answer.answer);
    assert!(named.iter().all(|name| answer.answer.contains(name)), "{}", answer.answer);
    assert!(answer.answer.contains("Ava") && answer.answer.contains("Ben"), "{}", answer.answer);
    assert!(answer.answer.ends_with(&format!("and {} more.", all - 50)), "{}", answer.answer);
    assert_eq!(answer.entities.len(), 50);
}
