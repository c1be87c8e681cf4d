//! The memory graph of M3-Agent, a pickle, becomes a memory that answers; a pickle that would run something does not.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::Robot;

/// Writes two pickles: `graph.pkl`, a graph as M3-Agent leaves it, and `bad.pkl`, which would make a file when loaded.
const PICKLES: &str = r#"
import collections, os, pickle
class VideoGraph:
    class Node:
        def __init__(self, id, type):
            self.id, self.type, self.embeddings, self.metadata = id, type, [], {}
    def __init__(self):
        self.nodes, self.edges, self.text_nodes_by_clip = {}, {}, collections.defaultdict(list)
    def add(self, type, contents, clip=None, about={}):
        node = VideoGraph.Node(len(self.nodes), type)
        node.metadata = {"contents": contents}
        if clip is not None:
            node.metadata["timestamp"] = clip
            self.text_nodes_by_clip[clip].append(node.id)
        for other, weight in about.items():
            self.edges[node.id, other] = self.edges[other, node.id] = weight
        self.nodes[node.id] = node
        return node.id
class Bad:
    def __reduce__(self):
        return os.system, ("touch executed",)
graph = VideoGraph()
face = graph.add("img", ["/9j/4AAQ"])
voice = graph.add("voice", ["The ficus looks thirsty."])
graph.nodes[face].embeddings = [[0.6, 0.8]]
graph.add("episodic", ["<face_0> waters the ficus by the window."], 0, {face: 1.0})
graph.add("semantic", ["<voice_1> loves gardening."], 3, {voice: 3.0})
graph.add("semantic", ["Equivalence: <face_0>, <voice_1>"], 3, {face: 3.0, voice: 3.0})
pickle.dump(graph, open("graph.pkl", "wb"))
graph.more = Bad()
pickle.dump(graph, open("bad.pkl", "wb"))
"#;

/// `python3` in a folder; `None` where there is none.
fn python(dir: &Path, args: &[&str]) -> Option<Output> {
    match Command::new("python3").args(args).current_dir(dir).output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("SKIPPED: python3: {error}");
            None
        }
    }
}

#[test]
fn a_memory_graph_of_m3_agent_answers() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let Some(made) = python(dir, &["-c", PICKLES]) else { return };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let converter = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/m3_graph.py");
    let refused = python(dir, &[converter, "bad.pkl"]).unwrap();
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && why.contains(".system"), "{why}");
    assert!(refused.stdout.is_empty() && !dir.join("executed").exists(), "{why}");

    let converted = python(dir, &[converter, "graph.pkl", "graph.jsonl"]).unwrap();
    assert!(converted.status.success(), "{}", String::from_utf8_lossy(&converted.stderr));
    let robot = Robot::new("edge");
    let graph = dir.join("graph.jsonl");
    let import = |file: &Path| {
        let file = file.to_str().unwrap();
        robot.run(&["import", file, "--start", "2026-03-02T17:30:00Z", "--json"])
    };
    let pickle = import(&dir.join("graph.pkl"));
    let why = String::from_utf8_lossy(&pickle.stderr).into_owned();
    assert!(pickle.status.code() == Some(1) && why.contains("m3_graph.py"), "{why}");
    let done = import(&graph);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&done["persons"], &done["semantic"]), (&1.into(), &1.into()), "{done}");

    let people = robot.json(&["people", "--json"]);
    assert_eq!(people.as_array().unwrap().len(), 1, "{people}");
    assert_eq!(people[0]["faces"], serde_json::json!(["face_1"]));
    assert_eq!(people[0]["voices"], serde_json::json!(["voice_1"]));
    let found = robot.json(&["recall", "watering the ficus", "--json"]);
    let best = &found["hits"][0];
    assert!(best["text"].as_str().is_some_and(|text| text.contains("ficus")), "{found}");
    assert_eq!(best["start"], "2026-03-02T17:30:00.000000000Z");
    let checked = robot.json(&["check", "--json"]);
    assert_eq!(checked["faults"], serde_json::json!([]));
}
