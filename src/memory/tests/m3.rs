//! A memory graph of M3-Agent becomes a memory.

use super::*;

const GRAPH: &str = r#"{"m3_graph":1,"nodes":6,"edges":4,"equivalences":3}
{"node":0,"type":"img","embeddings":[[0.6,0.8]]}
{"node":1,"type":"voice","contents":["hello"]}
{"node":2,"type":"episodic","clip":0,"contents":["<face_0> waters the ficus."]}
{"node":5,"type":"face"}
{"node":6,"type":"semantic","clip":2,"contents":["<voice_1> knows face_5 and <face_77>, not <person_1>; <self> and <object_3> stay."]}
{"node":8,"type":"voice"}
{"edge":[2,0],"weight":1.0}
{"edge":[2,5]}
{"edge":[6,1],"weight":4.0}
{"edge":[6,5],"weight":2.0}
{"equivalent":[0,1],"weight":5.0}
{"equivalent":[5,1],"weight":1.0}
{"equivalent":[8,5]}
"#;

#[test]
fn a_graph_of_m3_agent_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    assert!(M3Graph::begins_with(GRAPH.lines().next().unwrap()));
    let graph = M3Graph::read(GRAPH.as_bytes()).unwrap();
    let done = memory.import_m3(&graph, at(100)).unwrap();
    let expected = M3Imported {
        faces: 2,
        voices: 2,
        persons: 2,
        episodic: 1,
        semantic: 1,
        unknown_mentions: 2,
    };
    assert_eq!(done, expected);

    let view = memory.view();
    // The voice goes with the face that most equivalences give it.
    let persons = [face(1), voice(1), face(2), voice(2)].map(|part| view.person_of(part));
    assert_eq!(persons, [Some(person(1)), Some(person(1)), Some(person(2)), Some(person(2))]);
    assert_eq!(view.persons().len(), 2);
    let rows = view.memories(&Filter::default());
    assert_eq!(rows[0].text, "<face_1> waters the ficus.");
    assert_eq!(
        (rows[0].kind, rows[0].entities.as_slice()),
        (MemoryKind::Episodic, [face(1), face(2)].as_slice())
    );
    assert_eq!(
        rows[1].text,
        "<voice_1> knows <face_2> and somebody, not somebody; the robot and object 3 stay."
    );
    assert_eq!((rows[1].kind, rows[1].span), (MemoryKind::Semantic, Span::new(at(160), at(190))));
    assert_eq!((rows[1].clip, rows[1].origin.as_str()), (Some(clip(2)), "m3-agent"));
    assert!((rows[0].confidence - 0.6).abs() < 1e-6 && (rows[1].confidence - 0.9).abs() < 1e-6);
    let about = Filter { entities: vec![person(2)], ..Filter::default() };
    assert_eq!(view.memories(&about).len(), 2);
    let session = &view.sessions()[0];
    assert!(session.finished && session.recording.is_some() && session.start == at(100));
    assert_eq!((view.clips(None).len(), view.newest_time()), (2, Some(at(190))));
    let wanting = view.without_vector_of(None, crate::ids::Seq(0));
    assert_eq!(wanting.len(), 2, "the daemon makes them anew");
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    let again = memory.import_m3(&graph, at(100)).unwrap_err().to_string();
    assert!(again.contains("something is remembered there already"), "{again}");
}

#[test]
fn a_graph_that_was_cut_or_has_loose_ends_is_refused() {
    let read = |text: &str| M3Graph::read(text.as_bytes()).map_err(|error| error.to_string());
    let cut: Vec<&str> = GRAPH.lines().collect();
    for kept in 1..cut.len() {
        let why = read(&cut[..kept].join("\n")).unwrap_err();
        assert!(why.contains("it was cut"), "{kept} lines: {why}");
    }
    assert!(read("").unwrap_err().contains("nothing in it"));
    assert!(read(&cut[1..].join("\n")).unwrap_err().contains("does not begin with"));
    for (from, to, part) in [
        ("\"m3_graph\":1", "\"m3_graph\":2", "form 2"),
        ("[6,5]", "[6,55]", "there is no node 55"),
        ("[6,5]", "[5,6]", "not from a sentence to a face or voice"),
        ("[8,5]", "[8,6]", "node 6 is no face or voice"),
        ("[2,5]", "[2,0]", "is there twice"),
        ("\"node\":5,", "\"node\":1,", "node 1 is there twice"),
        ("\"clip\":2,", "", "needs the clip"),
        ("\"semantic\"", "\"rumour\"", "rumour"),
        ("{\"equivalent\":[8,5]}", "{\"same\":[8,5]}", "neither a node nor an edge"),
        ("{\"node\":8", "{\"node\":8,,", "line 7: "),
    ] {
        let why = read(&GRAPH.replacen(from, to, 1)).unwrap_err();
        assert!(why.contains(part), "{to}: {why}");
    }
    assert!(!M3Graph::begins_with("{\"engram_export\":2}") && !M3Graph::begins_with(""));
}
