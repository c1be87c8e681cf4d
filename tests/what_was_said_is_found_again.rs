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

/// A chat in BEAM's form. (A published one takes minutes to answer: its turns are pages long.)
const CHAT: &str = r#"[
    {"batch_number": 1, "time_anchor": null, "turns": [
        [{"role": "user", "id": 0, "time_anchor": "May-04-2024", "content": "I keep the bicycle in the shed. ->-> 1,1"},
         {"role": "assistant", "id": 1, "content": "A dry place is a good choice."}],
        [{"role": "user", "id": 2, "content": "I have never baked any bread."},
         {"role": "assistant", "id": 3, "content": "There is always a first time."}],
        [{"role": "user", "id": 4, "content": "My sister Marta plays the cello."},
         {"role": "assistant", "id": 5, "content": "How lovely!"}]]},
    {"batch_number": 2, "time_anchor": null, "turns": [
        [{"role": "user", "id": 6, "time_anchor": "June-01-2024", "content": "The bicycle is kept in the cellar now. ->-> 2,1"},
         {"role": "assistant", "id": 7, "content": "Mind the stairs."}],
        [{"role": "user", "id": 8, "content": "Yesterday I baked a bread with walnuts."},
         {"role": "assistant", "id": 9, "content": "Well done."}]]}]"#;
const QUESTIONS: &str = r#"{
    "abstention": [{"question": "What did the dentist charge?", "rubric": []}],
    "contradiction_resolution": [{"question": "Have I ever baked bread?",
        "source_chat_ids": {"first_statement": [2], "second_statement": [8]}}],
    "information_extraction": [{"question": "Who plays the cello?", "source_chat_ids": [4]},
                               {"question": "What else?", "source_chat_ids": []}],
    "knowledge_update": [{"question": "Where is the bicycle kept?",
        "source_chat_ids": {"original_info": [0], "updated_info": [6]}}]}"#;

#[test]
fn a_chat_of_beam_is_scored() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("1/probing_questions");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(dir.path().join("1/chat.json"), CHAT).unwrap();
    std::fs::write(folder.join("probing_questions.json"), QUESTIONS).unwrap();
    let figures = bench("beam", dir.path());
    let counts = [("chats", 1), ("turns", 10), ("questions", 3), ("without_evidence", 1)];
    for (what, count) in counts {
        assert_eq!(figures[what], count, "{what}");
    }
    assert_eq!(figures["answers"]["unanswerable"], 1);
    assert_eq!(figures["answers"]["answerable"], 4);
    for way in ["recall", "bm25"] {
        let ranking = &figures[way];
        is_in_order(&ranking["evidence_recall"], &["5", "10", "20"]);
        assert_eq!(figure(ranking, "/evidence_recall/all/10"), 1.0, "{way}");
        let kinds = ranking["by_kind"].as_object().unwrap();
        let names: Vec<&str> = kinds.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["contradiction_resolution", "information_extraction", "knowledge_update"]
        );
        assert_eq!(ranking["knowledge_update"]["questions"], 1);
        let (newest, superseded) = (
            figure(ranking, "/knowledge_update/newest_first"),
            figure(ranking, "/knowledge_update/superseded_first"),
        );
        assert_eq!(newest + superseded, 1.0, "{way}: one of them is first");
        assert_eq!(ranking["contradiction"]["questions"], 1);
        assert_eq!(figure(ranking, "/contradiction/both/10"), 1.0, "{way}");
    }
}
