//! The client against a scripted server on a real socket.
#![allow(clippy::unwrap_used)]

use std::thread;

use super::*;
use crate::llm::llm_server::{Act, LlmServer};

const SOON: Duration = Duration::ZERO;

fn settings(server: &LlmServer) -> config::Embedder {
    config::Embedder {
        kind: config::EmbedderKind::Server,
        base_url: Some(server.base_url()),
        model: Some("some/tiny-embed".to_owned()),
        batch: 2,
        timeout_secs: 0.4,
        ..config::Embedder::default()
    }
}

fn client(server: &LlmServer) -> ServerEmbedder {
    ServerEmbedder::open(&settings(server), None).unwrap()
}

fn vectors_of(dimensions: usize) -> LlmServer {
    LlmServer::start(move |_, body| Act::vectors(body, dimensions, SOON))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn memories_go_out_in_batches_and_a_question_alone() {
    let server = vectors_of(12);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("embedder.key"), "secret\n").unwrap();
    let client = ServerEmbedder::open(
        &config::Embedder {
            query_prefix: "question: ".to_owned(),
            passage_prefix: "passage: ".to_owned(),
            api_key_file: Some("embedder.key".into()),
            ..settings(&server)
        },
        Some(dir.path()),
    )
    .unwrap();
    assert_eq!((client.model(), client.dimensions()), (None, None), "nothing was asked yet");
    let memories = texts(&["The red mug is here.", "She sings.", "It rains.", "", "Ben left."]);
    let vectors = client.embed_passages(&memories).unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0]["model"], "some/tiny-embed");
    assert_eq!(asked[0]["encoding_format"], "float");
    assert_eq!(asked[0]["input"][1], "passage: She sings.");
    assert_eq!(asked[2]["input"].as_array().map(Vec::len), Some(1));
    assert_eq!((vectors.len(), client.dimensions()), (5, Some(12)));
    let question = client.embed("Where is the red mug?").unwrap();
    assert_eq!(server.asked()[3]["input"][0], "question: Where is the red mug?");
    // In their order, though the server gives the last one first.
    let cosines: Vec<f32> =
        vectors.iter().map(|vector| vector.cosine(&question).unwrap()).collect();
    assert!(cosines[1..].iter().all(|other| *other < cosines[0]), "{cosines:?}");
    assert!(vectors.iter().all(|vector| Some(vector.model) == client.model()));
    assert!(client.embed_at_once("It rains.").unwrap().is_none());
}

#[test]
fn a_model_is_the_same_on_another_server_and_another_length_is_another() {
    let (one, other) = (client(&vectors_of(8)), vectors_of(8));
    let elsewhere =
        config::Embedder { model: Some("/models/tiny-embed".to_owned()), ..settings(&other) };
    let other = ServerEmbedder::open(&elsewhere, None).unwrap();
    let (a, b) = (one.embed("a mug").unwrap(), other.embed("a mug").unwrap());
    assert_eq!(a.model, b.model);
    let longer = client(&vectors_of(9));
    assert_ne!(longer.embed("a mug").unwrap().model, a.model);
    let named = config::Embedder { passage_prefix: "p: ".to_owned(), ..elsewhere };
    let named = ServerEmbedder::open(&named, None).unwrap();
    assert_ne!(named.embed("a mug").unwrap().model, a.model);
    // Known again by the vectors in a store, before the server has said a word.
    let down = client(&vectors_of(8));
    assert!(!down.recognise(a.model, 9) && down.model().is_none());
    assert!(down.recognise(a.model, 8));
    assert_eq!((down.model(), down.dimensions()), (Some(a.model), Some(8)));
}

#[test]
fn every_fault_names_its_cure() {
    let refuse = |status| Act::Refuse(status, "", "{\"error\":\"no\"}".to_owned());
    let faults = [
        (refuse(401), "embedder.api_key_file", false, true),
        (refuse(404), "embedder.base_url", false, true),
        (refuse(400), "how long a text", true, false),
        (refuse(413), "how long a text", true, false),
        (refuse(429), "asked again later", false, true),
        (refuse(500), "the server's log", false, true),
        (Act::Garbage("<html>".to_owned()), "embedder.model embeds", false, true),
        (Act::Json(SOON, "{\"data\":[]}".to_owned()), "0 vectors came for 1", false, true),
        (Act::Stall, "embedder.timeout_secs", false, true),
        (Act::Cut, "embedder.base_url", false, true),
    ];
    for (act, cure, of_the_text, of_the_server) in faults {
        let server = LlmServer::acts(vec![act.clone()]);
        let client = client(&server);
        let error = client.embed("a mug").unwrap_err();
        assert!(error.to_string().contains(cure), "{act:?}: {error}");
        assert_eq!(error.is_of_the_text(), of_the_text, "{act:?}");
        assert_eq!(client.fault().is_some(), of_the_server, "{act:?}");
    }
    let nowhere = config::Embedder {
        base_url: Some("http://127.0.0.1:9/v1".to_owned()),
        ..settings(&vectors_of(8))
    };
    let error = ServerEmbedder::open(&nowhere, None).unwrap().embed("a mug").unwrap_err();
    assert!(error.to_string().contains("check embedder.base_url"), "{error}");
    for (bad, says) in [
        (config::Embedder { base_url: None, ..nowhere.clone() }, "base_url"),
        (config::Embedder { model: None, ..nowhere.clone() }, "model"),
        (config::Embedder { api_key_file: Some("/no/key".into()), ..nowhere }, "/no/key"),
    ] {
        let error = ServerEmbedder::open(&bad, None).err().unwrap();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn no_message_shows_the_password_of_an_address() {
    let server = LlmServer::acts(vec![Act::Refuse(500, "", "no".to_owned())]);
    let with = |base_url: String| {
        let settings = config::Embedder { base_url: Some(base_url), ..settings(&server) };
        ServerEmbedder::open(&settings, None)
    };
    let hides = |error: TextError| {
        let told = error.to_string();
        assert!(told.contains("***@") && !told.contains("geheim"), "{told}");
    };
    hides(with("ftp://u:geheim@host/v1".to_owned()).err().unwrap());
    for base in ["http://127.0.0.1:9/v1".to_owned(), server.base_url()] {
        let client = with(base.replace("://", "://u:geheim@")).unwrap();
        // The third time it is left alone.
        for _ in 0..3 {
            hides(client.embed("a mug").unwrap_err());
        }
    }
}

#[test]
fn a_server_that_fails_is_left_alone_and_asked_again_later() {
    let server = LlmServer::acts(vec![Act::Refuse(503, "", "loading".to_owned())]);
    let client = client(&server);
    for _ in 0..2 {
        assert!(matches!(client.embed("a mug"), Err(TextError::Refused { status: 503, .. })));
    }
    let error = client.embed("a mug").unwrap_err();
    assert!(
        matches!(&error, TextError::Resting { last, .. } if last.contains("loading")),
        "{error}"
    );
    assert_eq!(server.asked().len(), 2);
    server.now(|_, body| Act::vectors(body, 8, SOON));
    thread::sleep(Duration::from_millis(1100));
    assert!(client.embed("a mug").is_ok() && client.fault().is_none());
}

#[test]
fn vectors_of_another_length_under_the_same_name_are_refused() {
    let server = vectors_of(8);
    let client = client(&server);
    client.embed("a mug").unwrap();
    server.now(|_, body| Act::vectors(body, 4, SOON));
    let error = client.embed("a mug").unwrap_err().to_string();
    assert!(error.contains("have 4 numbers") && error.contains("had 8"), "{error}");
    assert!(error.contains("embedder.dimensions = 4") && client.fault().is_some(), "{error}");
}

#[test]
fn what_a_server_does_not_take_is_left_out() {
    let server = LlmServer::start(|_, body| match body.get("dimensions") {
        Some(_) => Act::Refuse(422, "", "extra fields are not permitted".to_owned()),
        None => Act::vectors(body, 6, SOON),
    });
    let shortened = config::Embedder { dimensions: Some(6), ..settings(&server) };
    let client = ServerEmbedder::open(&shortened, None).unwrap();
    assert!(client.model().is_some(), "its length is told");
    client.embed("a mug").unwrap();
    client.embed("a cup").unwrap();
    assert_eq!(server.asked().len(), 3);
    assert_eq!(server.asked()[0]["dimensions"], 6);
}

#[test]
fn strange_texts_are_sent_too() {
    let server = vectors_of(8);
    let client = client(&server);
    let long = "word ".repeat(100_000);
    for text in ["", "\u{0}\u{7}", "😀😀", &long] {
        client.embed(text).unwrap();
    }
    let asked = server.asked();
    assert_eq!(asked[0]["input"][0], " ");
    assert!(asked[3]["input"][0].as_str().unwrap().len() <= MAX_BYTES);
}
