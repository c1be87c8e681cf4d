//! Long conversations that others published, each question with the turns that answer it: recall finds them, better than
//! their words alone do.

use serde_json::Value;

use crate::support::{Robot, need};

/// `bench` of a file or folder; `figures` of it.
fn bench(what: &str, path: &std::path::Path) -> Value {
    let figures = Robot::new("edge").json(&["bench", what, path.to_str().unwrap(), "--json"]);
    println!("{what}: {figures}");
    figures
}

fn figure(figures: &Value, path: &str) -> f64 {
    let value = figures.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no {path}: {figures}"))
}

/// Of evidence recall: nobody has all of the evidence more often than some of it.
fn is_in_order(recall: &Value, cuts: &[&str]) {
    for cut in cuts {
        let [all, mean, any] =
            ["all", "mean", "any"].map(|count| figure(recall, &format!("/{count}/{cut}")));
        assert!((0.0..=mean).contains(&all) && mean <= any && any <= 1.0, "@{cut}: {recall}");
    }
}

#[test]
fn the_evidence_of_locomo_is_found() {
    let figures = bench("locomo", &need!("datasets/locomo_first5.json"));
    assert_eq!(figures["questions"], 760);
    for (cut, least) in [("5", 0.6865), ("10", 0.7785), ("20", 0.8335)] {
        let mean = figure(&figures, &format!("/turn_level/mean/{cut}"));
        assert!(mean >= least, "@{cut}: {mean}");
        assert_eq!(mean, figure(&figures, &format!("/evidence_recall/{cut}")));
        assert!(mean > figure(&figures, &format!("/bm25/turn_level/mean/{cut}")), "@{cut}");
    }
    for level in ["/turn_level", "/session_level", "/bm25/turn_level", "/bm25/session_level"] {
        is_in_order(figures.pointer(level).unwrap(), &["1", "5", "10", "20"]);
    }
}

#[test]
fn a_chat_of_beam_is_scored() {
    let figures = bench("beam", &need!("datasets/beam_100k/1"));
    let counts = [("chats", 1), ("turns", 188), ("questions", 18), ("without_evidence", 0)];
    for (what, count) in counts {
        assert_eq!(figures[what], count, "{what}");
    }
    assert_eq!(figures["answers"]["unanswerable"], 2);
    assert_eq!(figures["answers"]["answerable"], 18);
    for way in ["recall", "bm25"] {
        let ranking = &figures[way];
        is_in_order(&ranking["evidence_recall"], &["5", "10", "20"]);
        let kinds = ranking["by_kind"].as_object().unwrap();
        assert_eq!(kinds.len(), 9, "all but those that nothing answers");
        for of_kind in kinds.values() {
            assert_eq!(of_kind["questions"], 2);
            is_in_order(of_kind, &["5", "10", "20"]);
        }
        assert_eq!(ranking["knowledge_update"]["questions"], 2);
        assert_eq!(
            ranking["contradiction"]["questions"], 1,
            "one turn tells both sides of the other"
        );
    }
}
