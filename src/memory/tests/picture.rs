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
