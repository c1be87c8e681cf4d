//! Vectors and words find what they should.

use super::*;

/// splitmix64: the same numbers everywhere.
fn random(state: &mut u64) -> f32 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

#[test]
fn nearest_finds_what_a_full_scan_finds() {
    const DIMENSIONS: usize = 16;
    const COUNT: u64 = 30_000;
    let mut state = 5;
    let mut vector = |centre: Option<&[f32]>, spread: f32| -> Vec<f32> {
        (0..DIMENSIONS)
            .map(|i| centre.map_or(0.0, |c| c[i]) + spread * random(&mut state))
            .collect()
    };
    let centres: Vec<Vec<f32>> = (0..300).map(|_| vector(None, 1.0)).collect();
    let vectors: Vec<Embedding> =
        (0..COUNT).map(|i| embedding(&vector(Some(&centres[i as usize % 300]), 0.4))).collect();
    let queries: Vec<Embedding> =
        (0..50).map(|i| embedding(&vector(Some(&centres[i * 7 % 300]), 0.4))).collect();

    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    for (part, chunk) in vectors.chunks(3_000).enumerate() {
        let mut draft = memory.begin(at(part as i64));
        for (i, vector) in chunk.iter().enumerate() {
            let id = (part * 3_000 + i) as u64;
            let row = memory_row(id, "x", &[person(id as u32 % 100)], id as i64);
            draft.memory(row, Some(vector.clone()));
        }
        draft.commit().unwrap();
    }
    let other = Embedding { model: ModelHash([1; 32]), ..queries[0].clone() };
    assert_eq!(memory.view().nearest(&other, 3, &Filter::default()), [], "another model's vectors");

    let exact = |query: &Embedding, keep: &dyn Fn(u64) -> bool| -> Vec<MemoryId> {
        let mut all: Vec<(f32, u64)> = (0..COUNT)
            .filter(|id| keep(*id))
            .map(|id| (vectors[id as usize].cosine(query).unwrap(), id))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(10).map(|(_, id)| MemoryId(id)).collect()
    };
    let recall = |view: &View, filter: &Filter, keep: &dyn Fn(u64) -> bool| {
        let found: usize = queries
            .iter()
            .map(|query| {
                let hits = view.nearest(query, 10, filter);
                assert!(hits.iter().all(|(id, _)| keep(id.0)));
                let truth = exact(query, keep);
                hits.iter().filter(|(id, _)| truth.contains(id)).count()
            })
            .sum();
        found as f64 / (queries.len() * 10) as f64
    };
    let view = memory.view();
    let open_recall = recall(&view, &Filter::default(), &|_| true);
    assert!(open_recall >= 0.98, "recall@10 {open_recall}");
    let of_one = Filter { entities: vec![person(7)], ..Filter::default() };
    assert_eq!(recall(&view, &of_one, &|id| id % 100 == 7), 1.0);
    let early = Filter { span: Some(Span::new(at(0), at(26_000))), ..Filter::default() };
    let wide = recall(&view, &early, &|id| id < 26_000);
    assert!(wide >= 0.98, "recall@10 behind a wide filter {wide}");
    let both = Filter { entities: vec![person(7)], ..early };
    assert_eq!(recall(&view, &both, &|id| id % 100 == 7 && id < 26_000), 1.0);
    let late = Span::new(at(20_003), at(26_011));
    let two =
        Filter { entities: vec![person(8), person(7)], span: Some(late), ..Filter::default() };
    let then = |id| (20_003..26_011).contains(&id);
    assert_eq!(recall(&view, &two, &|id| [7, 8].contains(&(id % 100)) && then(id)), 1.0);
    let past = memory.view_as_of(AsOf::Seq(crate::ids::Seq(2))).unwrap();
    assert_eq!(recall(&past, &Filter::default(), &|id| id < 6_000), 1.0);

    // What is taken back is found no more, though it stands in the graph.
    let mut draft = memory.begin(at(99));
    for id in (0..COUNT).filter(|id| id % 300 == 0) {
        draft.retire_memory(MemoryId(id), None, "wrong").unwrap();
    }
    draft.commit().unwrap();
    let left = recall(&memory.view(), &Filter::default(), &|id| id % 300 != 0);
    assert!(left >= 0.98, "recall@10 after retiring a cluster {left}");
    assert!(
        recall(&view, &Filter::default(), &|_| true) >= 0.98,
        "the older view finds them still"
    );
}

#[test]
fn words_find_sentences_and_names_find_people() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let view = memory.view();
    let ids = |query: &str, filter: &Filter| -> Vec<u64> {
        view.lexical(query, 10, filter).into_iter().map(|(id, _)| id.0).collect()
    };
    let open = Filter::default();
    assert_eq!(ids("pouring coffees", &open), [4]);
    assert_eq!(ids("what does Ava like?", &open)[0], 5, "her name stands for her id");
    assert_eq!(ids("what does person_1 like?", &open)[0], 5);
    assert_eq!(ids("<voice_1> tea", &open)[0], 5, "any of her ids");
    assert_eq!(ids("person", &open), [0_u64; 0], "mentions are no words");
    let said = Filter { kinds: vec![MemoryKind::Utterance], ..Filter::default() };
    assert_eq!(ids("Ava", &said), [1, 2]);
    assert_eq!(ids("", &open), [0_u64; 0]);
}

#[test]
fn filters_mean_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let mut draft = memory.begin(at(100));
    for id in 0..600 {
        let mut row = memory_row(id, "x", &[person(id as u32 % 3)], id as i64 * 10);
        row.clip = Some(clip(id as u32 / 3));
        draft.memory(row, None);
    }
    draft.commit().unwrap();
    let mut draft = memory.begin(at(200));
    draft.retire_memory(MemoryId(5), Some(at(55)), "moved").unwrap();
    draft.commit().unwrap();
    let view = memory.view();
    let ids =
        |filter: Filter| view.memories(&filter).iter().map(|row| row.id.0).collect::<Vec<_>>();
    let open = Filter::default;
    assert_eq!(ids(Filter { span: Some(Span::new(at(50), at(70))), ..open() }), [5, 6]);
    assert_eq!(ids(Filter { span: Some(Span::new(at(5_981), at(9_000))), ..open() }), [598, 599]);
    assert_eq!(ids(Filter { clip: Some(clip(2)), ..open() }), [6, 7, 8]);
    let newest =
        Filter { limit: Some(2), order: Order::NewestFirst, entities: vec![person(1)], ..open() };
    assert_eq!(ids(newest), [598, 595]);
    let then = Filter { valid_at: Some(at(54)), span: Some(Span::new(at(40), at(60))), ..open() };
    assert_eq!(ids(then), [4, 5]);
    let since = Filter { valid_at: Some(at(56)), span: Some(Span::new(at(40), at(60))), ..open() };
    assert_eq!(ids(since), [4]);
    assert_eq!(view.retirement(MemoryId(5)).unwrap().reason, "moved");
}

#[test]
fn sql_reads_and_never_writes() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let sql = |query: &str| memory.sql(query, SqlLimits::default());
    let said = sql(
        "SELECT p.name, u.words FROM utterances u JOIN people p ON p.id = u.person ORDER BY start",
    );
    let said = said.unwrap();
    assert_eq!(said.columns, ["name", "words"]);
    assert_eq!(said.rows[0], [serde_json::json!("Ava"), serde_json::json!("hello I am Ava")]);
    for (view, columns) in super::super::sql::COLUMNS {
        let all = sql(&format!("SELECT * FROM {view}")).unwrap();
        let named = columns.replace('"', "");
        assert_eq!(all.columns, named.split(", ").collect::<Vec<_>>(), "{view}");
    }
    let error = sql("SELECT * FROM persons").unwrap_err().to_string();
    assert!(
        error.contains("no such table: persons") && error.contains("people (id, name"),
        "{error}"
    );
    for bad in [
        "DELETE FROM memory",
        "DROP TABLE memory",
        "ATTACH '/tmp/x.db' AS x",
        "PRAGMA journal_mode=DELETE",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM nowhere",
        "",
    ] {
        assert!(matches!(sql(bad), Err(MemoryError::Refused(_))), "{bad}");
    }
    for vast in
        ["zeroblob(900000000)", "hex(zeroblob(400000000))", "printf('%.*c', 900000000, 'x')"]
    {
        let long = sql(&format!("SELECT {vast}"));
        let cut = long.as_ref().is_ok_and(|table| table.rows[0][0].to_string().len() <= 2 << 20);
        assert!(cut || matches!(long, Err(MemoryError::Refused(_))), "{vast}");
    }
    let long = sql("SELECT hex(zeroblob(500000)) FROM memories a, memories b, memories c, memories d, memories e").unwrap();
    assert!(long.truncated && long.rows.len() < 20, "{}", long.rows.len());
    let limits = SqlLimits { rows: 2, time: std::time::Duration::from_millis(200) };
    let few = memory.sql("SELECT id FROM memories", limits).unwrap();
    assert!(few.rows.len() == 2 && few.truncated);
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let error = memory.sql(endless, limits).unwrap_err();
    assert!(error.to_string().contains("longer than 0.2 s"), "{error}");
}

/// Figures, not a promise: `cargo test --lib memory -- --ignored --nocapture measure`.
#[test]
#[ignore = "takes a minute; prints figures"]
fn measure_commits_and_recall() {
    use std::time::Instant;
    let count: u64 =
        std::env::var("ENGRAM_TEST_COUNT").map_or(15_000, |text| text.parse().unwrap());
    let mut state = 9;
    let mut vector = |_| embedding(&(0..384).map(|_| random(&mut state)).collect::<Vec<_>>());
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let mut took = Vec::new();
    let vectors: Vec<Embedding> = (0..count).map(&mut vector).collect();
    let start = Instant::now();
    for (part, chunk) in vectors.chunks(30).enumerate() {
        let begun = Instant::now();
        let mut draft = memory.begin(at(part as i64 * 30));
        for (i, vector) in chunk.iter().enumerate() {
            let id = (part * 30 + i) as u64;
            let text =
                format!("<person_{}> took item {} from shelf {}", id % 50, id % 977, id % 31);
            draft.memory(
                memory_row(id, &text, &[person(id as u32 % 50)], id as i64),
                Some(vector.clone()),
            );
        }
        draft.commit().unwrap();
        took.push(begun.elapsed());
    }
    let wall = start.elapsed().as_secs_f64();
    took.sort();
    println!(
        "{count} memories: {:.0}/s, commit p50 {:?} p95 {:?}",
        count as f64 / wall,
        took[took.len() / 2],
        took[took.len() * 95 / 100]
    );
    let view = memory.view();
    let open_filter = Filter::default();
    let timed = |what: &str, run: &dyn Fn(u64) -> usize| {
        let mut took: Vec<_> = (0..100)
            .map(|i| {
                let begun = Instant::now();
                assert!(run(i) > 0);
                begun.elapsed()
            })
            .collect();
        took.sort();
        println!("{what}: p50 {:?} p99 {:?}", took[50], took[98]);
    };
    timed("nearest", &|i| view.nearest(&vectors[i as usize * 7], 10, &open_filter).len());
    timed("lexical", &|i| {
        view.lexical(&format!("item {i} from the shelf"), 10, &open_filter).len()
    });
    timed("memories of one person", &|i| view.memories_of(person(i as u32 % 50)).len());
    let minute = |i: u64| Span::new(at(i as i64 * 60), at(i as i64 * 60 + 60));
    timed("memories of a minute", &|i| {
        view.memories(&Filter { span: Some(minute(i)), ..Filter::default() }).len()
    });
    drop(view);
    drop(memory);
    let begun = Instant::now();
    let memory = open(dir.path());
    println!("start to answering: {:?} ({} rows)", begun.elapsed(), memory.loaded().rows);
}
