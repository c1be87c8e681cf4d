//! What SQL sees: the documented views at one commit, and nothing below them.

use super::super::sql::COLUMNS;
use super::*;

fn rows(memory: &Memory, view: &View, query: &str) -> Vec<Vec<serde_json::Value>> {
    memory.sql_at(view, query, SqlLimits::default()).unwrap().rows
}

#[test]
fn sql_as_of_a_commit_sees_what_was_known_then() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    memory.remember_answer("Who is Ava?", "{}", at(31)).unwrap();
    let then = memory.view();
    let queries = COLUMNS.map(|(view, _)| format!("SELECT * FROM {view} ORDER BY 1, 2, 3"));
    let told = |view: &View| queries.each_ref().map(|query| rows(&memory, view, query));
    let known = told(&then);

    // More is learned: a memory, a name, who is who, a pair of eyes less.
    let mut draft = memory.begin(at(40));
    draft.memory(memory_row(99, "<person_1> left.", &[person(1)], 35), None);
    draft.name(named(person(1), "Avery", 35, NameSource::Told));
    draft
        .merge(Merge { from: person(2), into: person(1), reason: "test".into(), decreed: true })
        .unwrap();
    draft.retire_memory(MemoryId(1), Some(at(36)), "test").unwrap();
    draft.commit().unwrap();
    memory.remember_answer("Who left?", "{}", at(41)).unwrap();

    assert_eq!(told(&then), known, "a view stays as it is");
    assert_eq!(told(&memory.view_as_of(AsOf::Seq(then.seq())).unwrap()), known);
    assert_eq!(told(&memory.view_as_of(AsOf::Time(at(35))).unwrap()), known);
    assert_ne!(told(&memory.view()), known);
    let names = rows(&memory, &memory.view(), "SELECT name FROM people");
    assert_eq!(names, [[serde_json::json!("Avery")]]);

    // A clock that was behind: what was known at 35 s is no run of commits.
    let mut draft = memory.begin(at(33));
    draft.memory(memory_row(100, "Late news.", &[], 33), None);
    draft.commit().unwrap();
    let mixed = memory.view_as_of(AsOf::Time(at(35))).unwrap();
    let refused = memory.sql_at(&mixed, "SELECT 1", SqlLimits::default()).unwrap_err();
    assert!(refused.to_string().contains("seq:N"), "{refused}");
}

#[test]
fn sql_reads_nothing_below_the_views() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let sql = |query: &str| memory.sql(query, SqlLimits::default());
    for view in COLUMNS.map(|(view, _)| view) {
        for query in ["count(*) FROM {}", "count(*) FROM {} AS a, {} AS b", "1 FROM {} LIMIT 1"] {
            let query = format!("SELECT {}", query.replace("{}", view));
            assert!(sql(&query).is_ok(), "{query}: {:?}", sql(&query));
        }
    }
    for harmless in [
        "WITH n AS (SELECT 1 AS x) SELECT count(*) FROM n",
        "WITH memories AS (SELECT id FROM people) SELECT count(*) FROM memories",
        "SELECT value FROM memories, json_each(entities)",
        "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM Memories) WHERE n < 3",
    ] {
        assert!(sql(harmless).is_ok(), "{harmless}: {:?}", sql(harmless));
    }
    for below in [
        "SELECT * FROM vector",
        "SELECT count(*) FROM VECTOR",
        "SELECT hex(vector) FROM main.vector",
        "SELECT * FROM exemplar",
        "SELECT * FROM main.memory",
        "SELECT count(*) FROM main.audit",
        "SELECT rowid FROM checkpoint",
        "SELECT name FROM sqlite_schema",
        "SELECT sql FROM sqlite_temp_schema",
        "SELECT * FROM pragma_table_list",
        "SELECT * FROM temp.whose",
        // The name of a view does not open the door.
        "WITH memories AS (SELECT vector FROM vector) SELECT * FROM memories",
        "WITH people AS MATERIALIZED (SELECT vector FROM vector) SELECT count(*) FROM people",
        "SELECT (SELECT vector FROM vector LIMIT 1) FROM memories",
        "SELECT id FROM memories WHERE EXISTS (SELECT 1 FROM vector)",
    ] {
        assert!(matches!(sql(below), Err(MemoryError::Refused(_))), "{below}: {:?}", sql(below));
    }
}

#[test]
fn every_view_and_column_is_documented() {
    let page = include_str!("../../../docs/sql.md");
    let mut documented: Vec<(String, Vec<String>)> = Vec::new();
    for line in page.lines() {
        let named = |line: &str| line.split('`').nth(1).unwrap().to_owned();
        if line.starts_with("## `") {
            documented.push((named(line), Vec::new()));
        } else if line.starts_with("| `") {
            documented.last_mut().unwrap().1.push(named(line));
        }
    }
    let views = COLUMNS.map(|(view, columns)| {
        let columns = columns.replace('"', "");
        (view.to_owned(), columns.split(", ").map(str::to_owned).collect::<Vec<_>>())
    });
    assert_eq!(documented, views);
}
