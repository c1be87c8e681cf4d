//! The memory graph as a picture.

use super::*;

#[test]
fn the_graph_is_drawn_whole_and_always_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    draft.name(named(person(2), "Ben \"<b>\" & co", 50, NameSource::Told));
    draft.evidence(PairEvidence {
        face: face(2),
        voice: voice(1),
        support_secs: 0.5,
        against_secs: 4.0,
        presence: None,
    });
    draft.commit().unwrap();
    let graph = memory.view().graph(4);
    // 2 persons, 4 parts, 4 memories.
    assert_eq!(graph.nodes.len(), 10);
    let svg = graph.svg();
    assert_eq!(svg, memory.view().graph(4).svg());
    assert_eq!(svg.matches("class=\"node\"").count(), 10);
    assert!(svg.contains("Ava · person_1") && svg.contains("-3.5 s") && !svg.contains("<b>"));
    let dot = graph.dot();
    assert!(
        dot.contains("\"face_1\" -- \"voice_1\" [color=\"#3f8437\", label=\"+2.2 s\"]"),
        "{dot}"
    );
    assert!(graph.html().contains("</svg>"));
    let empty = tempfile::tempdir().unwrap();
    assert!(open(empty.path()).view().graph(9).svg().ends_with("</svg>\n"));
    if let Ok(path) = std::env::var("ENGRAM_TEST_PICTURE") {
        std::fs::write(path, svg).unwrap();
    }
}

#[test]
fn of_a_crowd_those_are_drawn_who_have_a_name_or_came_last() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let mut draft = memory.begin(at(60));
    for _ in 0..300 {
        let (person, face) =
            (draft.new_entity(EntityKind::Person), draft.new_entity(EntityKind::Face));
        let reason = "first met".to_owned();
        draft.membership(Membership { part: face, person, reason, decreed: false });
    }
    draft.name(named(person(7), "Ava", 50, NameSource::Told));
    draft.commit().unwrap();
    let graph = memory.view().graph(4);
    assert_eq!((graph.nodes.len(), graph.persons_left_out), (240, 180));
    let drawn = |id: &str| graph.nodes.iter().any(|node| node.id == id);
    assert!(drawn("person_7") && drawn("face_7"));
    assert!(graph.svg().contains("not drawn: 180 more persons"));
    assert!(graph.html().contains("not drawn: 180 more persons"));
}
