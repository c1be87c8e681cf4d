//! Pages of the database that were overwritten: what was on them is lost, and nothing else.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use rusqlite::OpenFlags;

use super::*;

const PAGE: u64 = 4096;
/// Clips that the store remembers.
const CLIPS: u32 = 12;

fn key(encrypted: bool) -> Option<StoreKey> {
    encrypted.then(|| StoreKey::parse(&"7".repeat(64)).unwrap())
}

fn open_with(dir: &Path, key: Option<&StoreKey>) -> Result<Memory, MemoryError> {
    Memory::open(dir, &StoreOptions { key: key.cloned(), ..StoreOptions::default() })
}

fn connect(dir: &Path, key: Option<&StoreKey>) -> Connection {
    let path = store::database_path(dir);
    store::connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE, key).unwrap()
}

/// A household of some weeks: its tables lie on several pages.
fn crowded(dir: &Path, key: Option<&StoreKey>) {
    let memory = open_with(dir, key).unwrap();
    household(&memory);
    for index in 1..CLIPS {
        let start = i64::from(index) * 30;
        let mut draft = memory.begin(at(start + 30));
        draft.clip(Clip {
            id: clip(index),
            span: Span::new(at(start), at(start + 30)),
            frames: 750,
            analysed: 150,
            dropped: 0,
            key_frames: Vec::new(),
        });
        for number in 0..10 {
            draft.track(track(index, 10 + number, Some(face(1)), start + 1, 20));
        }
        let mut read = Vec::new();
        for number in 0..30 {
            let text = format!("<person_1> read page {number} of book {index} in the armchair.");
            let mut row = memory_row(0, &text, &[person(1)], start + 2);
            row.id = draft.new_memory_id();
            row.clip = Some(clip(index));
            let id = row.id;
            let values = [7, 5, 3, 2].map(|period| (id.0 % period) as f32 + 1.0);
            draft.memory(row, Some(embedding(&values)));
            read.push(id);
        }
        draft.commit().unwrap();
        memory.note_access(&read, at(start + 9));
        memory.remember_answer("Who reads?", &"Ava ".repeat(300), at(start + 29)).unwrap();
    }
    drop(memory);
    let db = connect(dir, key);
    db.execute("INSERT INTO audit (at, action, rows, files) VALUES (1, 'span', 2, 3)", []).unwrap();
}

/// Crowded stores, a plain one and an encrypted one, each with its key and a connection.
fn stores() -> impl Iterator<Item = (tempfile::TempDir, Option<StoreKey>, Connection)> {
    [false, true].into_iter().map(|encrypted| {
        let (store, key) = (tempfile::tempdir().unwrap(), key(encrypted));
        crowded(store.path(), key.as_ref());
        let db = connect(store.path(), key.as_ref());
        (store, key, db)
    })
}

/// The pages of a table: those with rows, or those above them; each with its number of cells.
fn pages_of(db: &Connection, table: &str, kind: &str) -> Vec<(u64, u64)> {
    let find = "SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno";
    let mut statement = db.prepare(find).unwrap();
    let number = |row: &rusqlite::Row<'_>, at: usize| -> rusqlite::Result<u64> {
        Ok(row.get::<_, i64>(at)? as u64)
    };
    let rows = statement.query_map([table, kind], |row| Ok((number(row, 0)?, number(row, 1)?)));
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn count(db: &Connection, table: &str) -> u64 {
    let rows: i64 =
        db.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| row.get(0)).unwrap();
    rows as u64
}

/// Writes nonsense over twelve bytes of a page: its header, or its first cell.
fn overwrite(dir: &Path, page: u64, cell: bool) {
    let path = store::database_path(dir);
    let mut file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut begin = (page - 1) * PAGE;
    if cell {
        // A leaf's header has eight bytes; the offsets of its cells follow.
        let mut offset = [0; 2];
        file.seek(SeekFrom::Start(begin + 8)).unwrap();
        file.read_exact(&mut offset).unwrap();
        begin += u64::from(u16::from_be_bytes(offset)) % (PAGE - 12);
    }
    file.seek(SeekFrom::Start(begin)).unwrap();
    file.write_all(&[0xff; 12]).unwrap();
}

fn copy_of(store: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(store::database_path(store), store::database_path(dir.path())).unwrap();
    dir
}

/// Salvages what was damaged; what is left of `table`, and whether any other table lost a row.
fn salvaged(dir: &Path, key: Option<&StoreKey>, table: &str) -> (u64, Vec<Gap>) {
    let damaged = fs::read(store::database_path(dir)).unwrap();
    let done = salvage(dir, key).unwrap().unwrap();
    assert_eq!(fs::read(&done.aside).unwrap(), damaged, "the damaged file is kept");
    assert!(done.faults.iter().any(|fault| fault.contains(table)), "{table}: {done:?}");
    let (mut own, others): (Vec<_>, Vec<_>) =
        done.tables.into_iter().partition(|salvaged| salvaged.table == table);
    assert!(others.iter().all(|other| other.lost.is_empty()), "{table}: {others:?}");
    // It is whole again, and what hung on lost rows is taken out.
    let memory = open_with(dir, key).unwrap();
    memory.repair(at(500)).unwrap();
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new(), "{table}");
    assert_eq!(memory.view().newest_time(), Some(at(i64::from(CLIPS) * 30)), "{table}");
    drop(memory);
    assert_eq!(salvage(dir, key).unwrap(), None, "{table}");
    let own = own.remove(0);
    (own.kept, own.lost)
}

#[test]
fn a_damaged_page_costs_its_own_rows_and_no_others() {
    for (store, key, db) in stores() {
        let key = key.as_ref();
        for table in [
            "memory",
            "vector",
            "track",
            "turn",
            "entity",
            "commits",
            "clip",
            "membership",
            "access",
            "audit",
            "answer",
        ] {
            let all = count(&db, table);
            let leaves = pages_of(&db, table, "leaf");
            let (page, rows) = leaves[leaves.len() / 2];
            for cell in [false, true] {
                let dir = copy_of(store.path());
                overwrite(dir.path(), page, cell);
                let faults = page_faults(dir.path(), key).unwrap();
                let place = format!("table {table}, page {page}");
                assert!(faults.iter().any(|fault| fault.contains(&place)), "{place}: {faults:?}");
                let (kept, lost) = salvaged(dir.path(), key, table);
                // Of an encrypted page nothing is left, whatever byte of it was changed.
                let most = if cell && key.is_none() { 2 } else { rows };
                assert!(all - kept <= most, "{table} {cell}: {kept} of {all} ({rows} on the page)");
                assert!(
                    kept < all && !lost.is_empty(),
                    "{table} {cell}: {kept} of {all}, {lost:?}"
                );
            }
        }
    }
}

#[test]
fn a_damaged_page_above_others_costs_nothing() {
    for (store, key, db) in stores() {
        let key = key.as_ref();
        for table in ["memory", "vector", "track"] {
            let (page, _) = pages_of(&db, table, "internal")[0];
            let dir = copy_of(store.path());
            overwrite(dir.path(), page, false);
            assert!(open_with(dir.path(), key).is_err_and(|error| error.is_damage()));
            let (kept, _) = salvaged(dir.path(), key, table);
            assert_eq!(kept, count(&db, table), "{table}");
        }
    }
}

#[test]
fn rows_that_nothing_leads_to_come_into_no_other_table() {
    let recorded = |db: &Connection| -> Vec<(i64, i64)> {
        let mut statement = db.prepare("SELECT seq, recorded FROM commits ORDER BY seq").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    for (store, key, db) in stores() {
        let key = key.as_ref();
        let known = (recorded(&db), count(&db, "track"));
        // A track begins with two numbers, as a commit does.
        let pages = [pages_of(&db, "commits", "leaf"), pages_of(&db, "track", "internal")];
        assert!(pages.iter().all(|pages| !pages.is_empty()), "{pages:?}");
        drop(db);
        for (page, _) in pages.into_iter().flatten() {
            overwrite(store.path(), page, false);
        }
        salvage(store.path(), key).unwrap().unwrap();
        let db = connect(store.path(), key);
        assert_eq!((recorded(&db), count(&db, "track")), known);
    }
}

#[test]
fn several_damaged_pages_are_salvaged_at_once() {
    let store = tempfile::tempdir().unwrap();
    crowded(store.path(), None);
    let db = connect(store.path(), None);
    let mut lost = 0;
    let leaves = pages_of(&db, "memory", "leaf");
    assert!(leaves.len() > 6, "{leaves:?}");
    for (page, rows) in [leaves[1], leaves[2], leaves[5], leaves[leaves.len() - 1]] {
        overwrite(store.path(), page, false);
        lost += rows;
    }
    let all = count_of_ids(&db);
    drop(db);
    let (kept, gaps) = salvaged(store.path(), None, "memory");
    assert_eq!(kept, all - lost);
    assert_eq!(gaps.last().unwrap().last, None, "nobody knows where the table ended");
}

#[test]
fn of_a_file_that_was_cut_short_the_pages_that_are_left_are_kept() {
    for (store, key, db) in stores() {
        let key = key.as_ref();
        let tables = |db: &Connection| -> BTreeMap<&str, u64> {
            ["memory", "track", "turn", "commits", "entity"].map(|it| (it, count(db, it))).into()
        };
        let known = tables(&db);
        drop(db);
        let whole = fs::read(store::database_path(store.path())).unwrap();
        let pages = whole.len() as u64 / PAGE;
        // At the end of a page, and within one.
        for left in [(pages - 1) * PAGE, pages * 3 / 4 * PAGE, pages * 2 / 3 * PAGE + 100] {
            let dir = tempfile::tempdir().unwrap();
            let path = store::database_path(dir.path());
            fs::write(&path, &whole[..left as usize]).unwrap();
            assert!(open_with(dir.path(), key).is_err(), "{left}");
            assert!(!page_faults(dir.path(), key).unwrap().is_empty(), "{left}");
            let done = salvage(dir.path(), key).unwrap().unwrap();
            assert_eq!(fs::read(&done.aside).unwrap(), whole[..left as usize], "it is kept");
            let memory = open_with(dir.path(), key).unwrap();
            memory.repair(at(500)).unwrap();
            assert_eq!(memory.check().unwrap().faults, Vec::<String>::new(), "{left}");
            drop(memory);
            let db = connect(dir.path(), key);
            let kept: u64 = tables(&db).values().sum();
            let all: u64 = known.values().sum();
            assert!(kept * 4 > all, "{left}: {kept} of {all}");
        }
    }
}

/// How many rows of memories there were: the counter tells it where the table cannot be counted.
fn count_of_ids(db: &Connection) -> u64 {
    let next = "SELECT next FROM counter WHERE what = 'memory'";
    db.query_row(next, [], |row| row.get::<_, i64>(0)).unwrap() as u64 - 1
}

#[test]
fn without_its_first_page_a_store_cannot_be_salvaged_and_the_cure_is_told() {
    for (encrypted, offset) in [(false, 0), (false, 20), (false, 100), (true, 0), (true, 100)] {
        let key = key(encrypted);
        let key = key.as_ref();
        let dir = tempfile::tempdir().unwrap();
        crowded(dir.path(), key);
        let path = store::database_path(dir.path());
        let mut bytes = fs::read(&path).unwrap();
        bytes[offset..offset + 12].fill(0xff);
        fs::write(&path, &bytes).unwrap();
        for error in
            [page_faults(dir.path(), key).unwrap_err(), salvage(dir.path(), key).unwrap_err()]
        {
            assert!(matches!(error, MemoryError::Unsalvageable { .. }), "{offset}: {error}");
            let told = error.to_string();
            assert!(told.contains("`engramd import`") && !told.contains("check"), "{told}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "it is left as it is");
    }
}

#[test]
fn a_session_made_again_begins_before_its_lost_clips_and_things_are_no_entities() {
    let store = tempfile::tempdir().unwrap();
    crowded(store.path(), None);
    let memory = open_with(store.path(), None).unwrap();
    let known = memory.view().sessions()[0].clone();
    let mut draft = memory.begin(at(400));
    for thing in ["room_101", "person_", "object_007", "face_4294967296", "7"] {
        let mut row = memory_row(0, &format!("{thing} is upstairs."), &[], 390);
        row.id = draft.new_memory_id();
        let (attribute, value) = ("location".to_owned(), "upstairs".to_owned());
        row.fact = Some(Fact { subject: thing.to_owned(), attribute, value });
        draft.memory(row, None);
    }
    draft.commit().unwrap();
    drop(memory);
    let db = connect(store.path(), None);
    let page = |table: &str| pages_of(&db, table, "leaf")[0].0;
    let (session, clips, entities) = (page("session"), page("clip"), page("entity"));
    drop(db);
    overwrite(store.path(), session, false);
    overwrite(store.path(), clips, true);
    overwrite(store.path(), entities, false);
    let done = salvage(store.path(), None).unwrap().unwrap();
    let clips = done.tables.iter().find(|table| table.table == "clip").unwrap();
    assert!(!clips.lost.is_empty(), "{clips:?}");
    let db = connect(store.path(), None);
    let mut statement = db.prepare("SELECT id FROM entity ORDER BY id").unwrap();
    let ids = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>().unwrap();
    assert_eq!(ids, ["face_1", "face_2", "person_1", "person_2", "voice_1", "voice_2"]);
    drop(statement);
    drop(db);
    let memory = open_with(store.path(), None).unwrap();
    let view = memory.view();
    let made = view.sessions()[0].clone();
    assert_eq!((made.id, made.start, made.clip_secs), (known.id, known.start, known.clip_secs));
    assert_eq!(view.clips(Some(made.id))[0].span, Span::new(at(0), at(30)));
}

#[test]
fn tables_beside_the_memory_stop_nobody() {
    for (store, key, db) in stores() {
        let key = key.as_ref();
        let pages: Vec<u64> = ["access", "audit", "answer"]
            .iter()
            .map(|table| pages_of(&db, table, "leaf").last().unwrap().0)
            .collect();
        drop(db);
        for page in pages {
            overwrite(store.path(), page, false);
        }
        let memory = open_with(store.path(), key).unwrap();
        assert_eq!(memory.damaged_tables(), ["access", "audit"]);
        let known = memory.view().memories(&Filter::default()).len();
        memory.note_access(&[MemoryId(1)], at(400));
        assert_eq!(memory.accesses().unwrap().len(), 1, "what was noted since");
        let id = memory.remember_answer("Who is here?", "{}", at(400)).unwrap();
        assert!(memory.next_answer_id() > id);
        let mut draft = memory.begin(at(400));
        let mut row = memory_row(0, "<person_2> watered the fern.", &[person(2)], 399);
        row.id = draft.new_memory_id();
        draft.memory(row, None);
        draft.commit().unwrap();
        assert_eq!(memory.view().memories(&Filter::default()).len(), known + 1);
        let mut out = Vec::new();
        memory.export(None, &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("watered the fern"));
        drop(memory);
        let done = salvage(store.path(), key).unwrap().unwrap();
        assert!(done.tables.iter().any(|table| table.table == "answer" && table.kept > 0));
        let memory = open_with(store.path(), key).unwrap();
        assert_eq!(memory.damaged_tables(), Vec::<&str>::new());
        assert_eq!(memory.view().memories(&Filter::default()).len(), known + 1);
    }
}
