//! The vectorizer over a small memory, with scripted embeddings servers on real sockets.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::AtomicUsize;

use super::*;
use crate::config::{Embedder, EmbedderKind};
use crate::llm::llm_server::{Act, LlmServer};
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::testing::memory_row;
use crate::memory::{Filter, Forget, StoreOptions};
use crate::text::{ServerEmbedder, TextEmbedder};
use crate::time::{Span, Timestamp};

const SOON: Duration = Duration::ZERO;

fn at(secs: u64) -> Timestamp {
    Timestamp::EPOCH.plus_secs(secs as f64)
}

fn sentence(number: u64) -> String {
    format!("Thing number{number} lies on shelf{}.", number * 7)
}

fn write(memory: &Memory, numbers: std::ops::Range<u64>) {
    let mut draft = memory.begin(at(numbers.end));
    for number in numbers {
        let span = Span::new(at(number), at(number + 1));
        let row = memory_row(MemoryKind::Episodic, &sentence(number), span);
        let id = draft.new_memory_id();
        draft.memory(MemoryRow { id, ..row }, None);
    }
    draft.commit().unwrap();
}

fn embedder(server: &LlmServer, model: &str) -> Arc<dyn TextEmbedder> {
    let settings = Embedder {
        kind: EmbedderKind::Server,
        base_url: Some(server.base_url()),
        model: Some(model.to_owned()),
        timeout_secs: 1.0,
        ..Embedder::default()
    };
    Arc::new(ServerEmbedder::open(&settings, None).unwrap())
}

fn vectors_of(dimensions: usize) -> LlmServer {
    LlmServer::start(move |_, body| Act::vectors(body, dimensions, SOON))
}

fn start(memory: &Memory, embedders: &Arc<Embedders>, batch: usize) -> Vectorizer {
    Vectorizer::start(Work {
        memory: memory.clone(),
        embedders: Arc::clone(embedders),
        batch,
        courtesy: YieldPolicy::default(),
        announcer: Announcer::default(),
        meters: Meters::default(),
    })
    .unwrap()
}

/// Waits until `look` gives something.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "waited for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn finished(vectorizer: &Vectorizer) {
    until("the last vector", || vectorizer.progress().is_idle().then_some(()));
    assert_eq!(vectorizer.progress().waiting(), 0);
}

/// A memory of so many, each with a vector of `embedder`.
fn embedded(count: u64, embedder: &Arc<dyn TextEmbedder>) -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    write(&memory, 0..count);
    let embedders = Arc::new(Embedders::new(Arc::clone(embedder), Answering::Configured));
    let vectorizer = start(&memory, &embedders, 16);
    finished(&vectorizer);
    vectorizer.stop();
    (dir, memory)
}

/// The memory that is nearest to a sentence, by whoever answers.
fn nearest(memory: &Memory, embedders: &Embedders, number: u64) -> Option<u64> {
    let question = embedders.embed(&sentence(number)).unwrap();
    let hits = memory.view().nearest(&question, 1, &Filter::default());
    hits.first().map(|(id, _)| id.0 - 1)
}

fn counts(memory: &Memory) -> Vec<(usize, u64)> {
    let counts = memory.view().vector_counts();
    let mut counts: Vec<_> = counts.iter().map(|one| (one.dimensions, one.memories)).collect();
    counts.sort_unstable();
    counts
}

#[test]
fn the_old_vectors_answer_until_every_memory_has_a_new_one() {
    let (old, new) = (vectors_of(64), LlmServer::acts(vec![Act::Stall]));
    let before = embedder(&old, "old");
    let (_dir, memory) = embedded(50, &before);
    assert_eq!(counts(&memory), [(64, 50)]);
    let embedders =
        Arc::new(Embedders::new(embedder(&new, "new"), Answering::Before(Arc::clone(&before))));
    let vectorizer = start(&memory, &embedders, 8);
    until("a server that does not answer", || vectorizer.progress().down());
    assert_eq!(nearest(&memory, &embedders, 31), Some(31));
    // Of another length, and slowly; what comes meanwhile gets its vector, too.
    new.now(|_, body| Act::vectors(body, 96, Duration::from_millis(30)));
    until("some vectors", || counts(&memory).iter().find(|(length, _)| *length == 96).copied());
    assert!(!embedders.is_settled());
    assert_eq!(nearest(&memory, &embedders, 17), Some(17));
    write(&memory, 50..60);
    until("the change", || embedders.is_settled().then_some(()));
    assert_eq!(nearest(&memory, &embedders, 17), Some(17));
    finished(&vectorizer);
    assert_eq!(counts(&memory), [(96, 60)], "the old vectors are taken back");
    assert_eq!(nearest(&memory, &embedders, 55), Some(55));
    vectorizer.stop();
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
}

#[test]
fn a_change_goes_on_where_it_was_interrupted() {
    let (old, new) = (vectors_of(32), vectors_of(48));
    let before = embedder(&old, "old");
    let (dir, memory) = embedded(40, &before);
    new.now(|_, body| Act::vectors(body, 48, Duration::from_millis(50)));
    let change = || {
        let before = Answering::Before(Arc::clone(&before));
        Arc::new(Embedders::new(embedder(&new, "new"), before))
    };
    let vectorizer = start(&memory, &change(), 4);
    until("some vectors", || (counts(&memory).len() == 2).then_some(()));
    vectorizer.stop();
    let made = counts(&memory);
    assert!(made[0] == (32, 40) && made[1].1 < 40, "{made:?}");
    drop(memory);

    let memory = until("the store", || Memory::open(dir.path(), &StoreOptions::default()).ok());
    assert_eq!(counts(&memory), made);
    let embedders = change();
    assert_eq!(nearest(&memory, &embedders, 39), Some(39));
    let vectorizer = start(&memory, &embedders, 4);
    finished(&vectorizer);
    vectorizer.stop();
    assert_eq!(counts(&memory), [(48, 40)]);
    assert_eq!(nearest(&memory, &embedders, 39), Some(39));
    // Nothing is made twice, but for the portion that was in hand when it was interrupted.
    let texts: usize =
        new.asked().iter().map(|body| body["input"].as_array().map_or(0, Vec::len)).sum();
    assert!(texts <= 40 + 4 * 4, "{texts}");
}

#[test]
fn a_server_that_talks_nonsense_costs_nothing_but_time() {
    let refuse = |status| Act::Refuse(status, "", "{\"error\":\"no\"}".to_owned());
    let faults = [
        ("500", refuse(500)),
        ("429", Act::Refuse(429, "Retry-After: 1\r\n", String::new())),
        ("401", refuse(401)),
        ("garbage", Act::Garbage("\u{1}{]".to_owned())),
        ("cut", Act::Cut),
        ("too few", Act::Json(SOON, "{\"data\":[]}".to_owned())),
        ("stall", Act::Stall),
    ];
    for (name, fault) in faults {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        write(&memory, 0..10);
        let server = LlmServer::acts(vec![fault]);
        let embedders = Arc::new(Embedders::new(embedder(&server, "new"), Answering::Configured));
        let vectorizer = start(&memory, &embedders, 4);
        until(name, || vectorizer.progress().down());
        assert_eq!(vectorizer.progress().waiting(), 10, "{name}");
        assert!(embedders.embed("Where is it?").is_err(), "{name}");
        // Writing goes on.
        write(&memory, 10..12);
        server.now(|_, body| Act::vectors(body, 64, SOON));
        finished(&vectorizer);
        vectorizer.stop();
        assert_eq!(counts(&memory), [(64, 12)], "{name}");
    }
}

#[test]
fn vectors_of_another_length_never_get_in() {
    let server = vectors_of(16);
    let before = embedder(&server, "same");
    let (_dir, memory) = embedded(6, &before);
    server.now(|_, body| Act::vectors(body, 24, SOON));
    write(&memory, 6..9);
    let embedders = Arc::new(Embedders::new(Arc::clone(&before), Answering::Configured));
    let vectorizer = start(&memory, &embedders, 4);
    let fault = until("the fault", || vectorizer.progress().down());
    assert!(fault.contains("have 24 numbers"), "{fault}");
    vectorizer.stop();
    assert_eq!(counts(&memory), [(16, 6)]);
}

#[test]
fn a_text_that_is_refused_holds_nobody_up() {
    let server = LlmServer::start(|_, body| {
        if body["input"].to_string().contains("number5 ") {
            Act::Refuse(400, "", "input is too long".to_owned())
        } else {
            Act::vectors(body, 32, SOON)
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    write(&memory, 0..20);
    let embedders = Arc::new(Embedders::new(embedder(&server, "new"), Answering::Nobody));
    assert!(matches!(embedders.embed("Where?"), Err(TextError::Changing)));
    let vectorizer = start(&memory, &embedders, 8);
    finished(&vectorizer);
    vectorizer.stop();
    assert_eq!(counts(&memory), [(32, 19)]);
    assert!(embedders.is_settled());
    assert_eq!(memory.view().without_vector().iter().map(|id| id.0).collect::<Vec<_>>(), [6]);
}

#[test]
fn what_was_erased_while_it_was_embedded_stays_erased() {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
    write(&memory, 0..4);
    let asked = Arc::new(AtomicUsize::new(0));
    let (forgetful, counted) = (memory.clone(), Arc::clone(&asked));
    let server = LlmServer::start(move |_, body| {
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            forgetful.forget(&Forget::Memory(MemoryId(2)), at(9)).unwrap();
        }
        Act::vectors(body, 32, SOON)
    });
    let embedders = Arc::new(Embedders::new(embedder(&server, "new"), Answering::Configured));
    let vectorizer = start(&memory, &embedders, 4);
    until("the vectors", || (counts(&memory) == [(32, 3)]).then_some(()));
    finished(&vectorizer);
    vectorizer.stop();
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
}
