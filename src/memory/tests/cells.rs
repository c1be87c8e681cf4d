//! Recall by cells of vectors finds what recall by all of them finds.

use super::*;
use crate::memory::{Forget, Look, StoreOptions, VectorSearch};

const DIMENSIONS: usize = 48;
const COUNT: u64 = 6_000;

/// Near those of the same remainder by 60.
fn vector(id: u64) -> Embedding {
    let spread = |seed: u64, size: f32| {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        (0..DIMENSIONS).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            size * ((state >> 40) as f32 / (1 << 23) as f32 - 1.0)
        })
    };
    let mixed = spread(id % 60, 1.0).zip(spread(id + 5_000, 0.6));
    embedding(&mixed.map(|(centre, own)| centre + own).collect::<Vec<_>>())
}

fn filled(dir: &Path, vectors: VectorSearch) -> Memory {
    let memory = Memory::open(dir, &StoreOptions { vectors, ..StoreOptions::default() }).unwrap();
    for (part, ids) in (0..COUNT).collect::<Vec<_>>().chunks(1_500).enumerate() {
        let mut draft = memory.begin(at(part as i64));
        if part == 0 {
            for _ in 0..50 {
                draft.new_entity(EntityKind::Person);
            }
        }
        for id in ids {
            draft.memory(
                memory_row(*id, "x", &[person(*id as u32 % 50 + 1)], *id as i64),
                Some(vector(*id)),
            );
        }
        draft.commit().unwrap();
    }
    memory
}

/// How many of what all codes find is found by cells.
fn agreement(view: &View, filter: &Filter) -> f64 {
    let among = view.passing(filter);
    let shares = (0..40).map(|query| {
        let query = vector(COUNT + query);
        let all = view.nearest_looked(&Look::new(&query), 10, filter, among.as_ref());
        let near = view.nearest_looked(&Look::routed(&query), 10, filter, among.as_ref());
        assert!(near.iter().all(|(id, _)| among.as_ref().is_none_or(|some| some.contains(*id))));
        near.iter().filter(|hit| all.contains(hit)).count() as f64 / all.len().max(1) as f64
    });
    shares.sum::<f64>() / 40.0
}

#[test]
fn cells_find_what_all_codes_find_with_and_without_filters_and_after_changes() {
    for search in [VectorSearch::Cells, VectorSearch::Graph] {
        let dir = tempfile::tempdir().unwrap();
        let memory = filled(dir.path(), search);
        let before = memory.view();
        // Half of them in cells, the other half in none yet.
        assert!(memory.gather_vectors(), "more are to follow");
        assert!(agreement(&memory.view(), &Filter::default()) > 0.95, "{search:?}");
        while memory.gather_vectors() {}
        let early = Filter { span: Some(Span::new(at(0), at(3_000))), ..Filter::default() };
        let first = Filter { span: Some(Span::new(at(0), at(200))), ..Filter::default() };
        let of_one = Filter { entities: vec![person(8)], ..Filter::default() };
        for filter in [&Filter::default(), &early, &first, &of_one] {
            let agreed = agreement(&memory.view(), filter);
            assert!(agreed > 0.95, "{search:?} {filter:?}: {agreed}");
        }
        let gone = vector(7);
        let nearest = |view: &View| {
            let hits = view.nearest_looked(&Look::routed(&gone), 1, &Filter::default(), None);
            hits.first().map(|(id, _)| *id)
        };
        assert_eq!(nearest(&memory.view()), Some(MemoryId(7)));
        memory.forget(&Forget::Entity(person(8)), at(9_000)).unwrap();
        assert_ne!(nearest(&memory.view()), Some(MemoryId(7)), "it was erased");
        assert!(agreement(&memory.view(), &Filter::default()) > 0.95, "{search:?}");
        // A view of before reads as it did.
        assert_eq!(before.seq(), Seq(4));
        drop(before);
        // What is remembered from now on is found at once, and after a start.
        let mut draft = memory.begin(at(9_500));
        draft.memory(memory_row(COUNT + 90, "new", &[], 9_500), Some(gone.clone()));
        draft.commit().unwrap();
        assert_eq!(nearest(&memory.view()), Some(MemoryId(COUNT + 90)));
        drop(memory);
        let options = StoreOptions { vectors: search, ..StoreOptions::default() };
        let memory = Memory::open(dir.path(), &options).unwrap();
        while memory.gather_vectors() {}
        assert_eq!(nearest(&memory.view()), Some(MemoryId(COUNT + 90)));
        assert!(agreement(&memory.view(), &early) > 0.95, "{search:?}");
    }
}

#[test]
fn few_vectors_stand_in_no_cells_and_none_where_all_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let memory = filled(dir.path(), VectorSearch::Auto);
    assert!(!memory.gather_vectors());
    assert_eq!(agreement(&memory.view(), &Filter::default()), 1.0);
}
