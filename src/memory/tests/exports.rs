//! An export comes in whole or not at all, and what it cannot hold is no fault.

use sha2::{Digest as _, Sha256};

use super::*;

/// Everything, also what has no versions.
fn whole(memory: &Memory) -> String {
    let mut out = Vec::new();
    memory.export(None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// How the lines fare in an empty store: what came, or why nothing did.
fn imported(lines: &[&str]) -> Result<Imported, String> {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    let done = memory.import(lines.join("\n").as_bytes()).map_err(|error| error.to_string());
    if done.is_err() {
        assert_eq!(memory.view().seq().0, 0, "nothing came in");
    }
    done
}

#[test]
fn an_export_that_was_cut_or_changed_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let exported = export(&memory.view());
    let lines: Vec<&str> = exported.lines().collect();
    let last = lines.len() - 1;
    assert!(imported(&lines).unwrap().whole);

    for kept in [0, 1, 2, lines.len() / 2, last] {
        let why = imported(&lines[..kept]).unwrap_err();
        assert!(why.contains("cut") || why.contains("nothing in it"), "{kept} lines: {why}");
    }
    for from in [1, 2, lines.len() / 2, last] {
        let why = imported(&lines[from..]).unwrap_err();
        assert!(why.contains("beginning is missing"), "from line {from}: {why}");
    }
    let without = |gone: usize| [&lines[..gone], &lines[gone + 1..]].concat();
    assert!(imported(&without(4)).unwrap_err().contains("some are missing"));
    let changed = lines[last - 1].replacen("recorded", "Recorded", 1);
    let mut other = lines.clone();
    other[1] = lines[2];
    other[2] = lines[1];
    assert!(imported(&other).unwrap_err().contains("not those that were exported"));
    other[last - 1] = &changed;
    assert!(imported(&other).unwrap_err().contains("Recorded"), "named by its line");
    let more = [lines.as_slice(), &lines[1..2]].concat();
    assert!(imported(&more).unwrap_err().contains("something follows"));
    let newer = lines[0].replace('3', "4");
    other[0] = &newer;
    assert!(imported(&other).unwrap_err().contains("newer engram"));

    // Form 1 had neither a first nor a last line.
    let older = imported(&lines[1..last]).unwrap();
    assert!(!older.whole && older.rows > 0, "{older:?}");

    // Form 2 had nothing but rows with versions.
    let rows = &lines[1..last];
    let begun = format!("{{\"engram_export\":2}}\n{}\n", rows.join("\n"));
    let sha256 = hex::encode(Sha256::digest(begun.as_bytes()));
    let end = serde_json::json!({ "end": { "rows": rows.len(), "sha256": sha256 } }).to_string();
    assert_eq!(imported(&[begun.trim_end(), &end]).unwrap(), imported(&lines).unwrap());
}

#[test]
fn a_whole_export_holds_answers_access_counts_and_what_is_given_once() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let memory = open(first.path());
    household(&memory);
    assert_eq!(whole(&memory), export(&memory.view()), "nobody has asked yet");
    memory.remember_answer("Who is Ava?", "{\"answer\":\"\\\"Ava\\\"\\n\"}", at(31)).unwrap();
    memory.remember_answer("Who poured?", "{}", at(32)).unwrap();
    memory.note_access(&[MemoryId(3), MemoryId(1), MemoryId(3), MemoryId(5)], at(33));
    // Its counts go with it, and nothing else gets its id.
    memory.forget(&Forget::Memory(MemoryId(5)), at(60)).unwrap();
    let exported = whole(&memory);

    let copy = open(second.path());
    let imported = copy.import(exported.as_bytes()).unwrap();
    assert_eq!(imported.beside, 2 + 2 + 1 + 2, "answers, counts, an erasure, next ids");
    assert_eq!((whole(&copy), copy.hash()), (exported.clone(), memory.hash()));
    assert_eq!(copy.answers(9).unwrap(), memory.answers(9).unwrap());
    let counts = [(MemoryId(1), (1, at(33))), (MemoryId(3), (2, at(33)))];
    assert_eq!(copy.accesses().unwrap(), BTreeMap::from(counts));
    let audit = |memory: &Memory| {
        let query = "SELECT at, action, rows, files FROM audit";
        memory.sql(query, SqlLimits::default()).unwrap().rows
    };
    assert_eq!((audit(&copy), audit(&copy).len()), (audit(&memory), 1));
    assert_eq!(copy.next_answer_id(), AnswerId(3));
    assert_eq!(copy.begin(at(90)).new_memory_id(), MemoryId(6));
    assert_eq!(copy.check().unwrap().faults, Vec::<String>::new());

    // Of the past there is only what has versions.
    let mut then = Vec::new();
    memory.export(Some(AsOf::Seq(Seq(1))), &mut then).unwrap();
    let view = memory.view_as_of(AsOf::Seq(Seq(1))).unwrap();
    assert_eq!(String::from_utf8(then).unwrap(), export(&view));
    // Whoever gave answers already has ids of its own.
    let third = tempfile::tempdir().unwrap();
    let asked = open(third.path());
    asked.remember_answer("Who?", "{}", at(1)).unwrap();
    assert!(asked.import(exported.as_bytes()).is_err());
    assert_eq!((asked.answers(9).unwrap().len(), asked.view().seq()), (1, Seq(0)));
}

#[test]
fn numbers_come_in_to_the_last_bit() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let memory = open(first.path());
    household(&memory);
    let mut draft = memory.begin(at(60));
    // Sums and quotients with seventeen digits, as evidence has them.
    for number in 1..400_u32 {
        let support_secs = f64::from(number) / 13.0 + 0.1;
        let against_secs = f64::from(number) * 0.1 + 0.2;
        let pair = (face(1 + number), voice(1));
        let (face, voice) = pair;
        let presence = (number % 2 == 0).then(|| Presence {
            visible_secs: support_secs / 7.0,
            since_secs: -against_secs / 3.0,
            clear_secs: 0.1 * support_secs,
            occasions: (number % 4 == 0).then(|| (clip(0), clip(number))),
        });
        draft.evidence(PairEvidence { face, voice, support_secs, against_secs, presence });
    }
    draft.commit().unwrap();
    let exported = whole(&memory);
    let copy = open(second.path());
    copy.import(exported.as_bytes()).unwrap();
    assert_eq!((whole(&copy), copy.hash()), (exported, memory.hash()));
}

#[test]
fn a_number_that_the_store_has_no_room_for_is_refused() {
    let whole = |line: &str| format!("{line}\n");
    let most = i64::MAX as u64;
    let commit = |seq: u64| {
        whole(&format!(r#"{{"table":"commits","seq":{seq},"recorded":"2026-03-02T17:30:00Z"}}"#))
    };
    let counter = |next: u64| {
        let line = format!(r#"{{"table":"counter","row":{{"what":"memory","next":{next}}}}}"#);
        commit(1) + &whole(&line)
    };
    for (lines, at_line, number) in
        [(counter(u64::MAX), "line 2", u64::MAX), (commit(most + 1), "line 1", most + 1)]
    {
        let dir = tempfile::tempdir().unwrap();
        let memory = open(dir.path());
        let refused = memory.import(lines.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(at_line) && refused.contains(&number.to_string()), "{refused}");
        let next = memory.begin(at(1)).new_memory_id();
        assert_eq!((memory.view().seq(), next), (Seq(0), MemoryId(1)));
    }
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    memory.import(counter(most).as_bytes()).unwrap();
    assert_eq!(memory.begin(at(1)).new_memory_id(), MemoryId(most));
}

#[test]
fn nobody_who_was_erased_is_in_an_exported_answer() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let memory = open(first.path());
    household(&memory);
    for (question, document) in [
        ("Who is Ava?", "{\"answer\":\"Ava is here.\"}"),
        ("Who likes tea?", "{\"answer\":\"Somebody.\",\"evidence\":[{\"memory\":\"memory_5\"}]}"),
        ("Who poured?", "{\"answer\":\"Ben.\"}"),
    ] {
        memory.remember_answer(question, document, at(31)).unwrap();
    }
    memory.note_access(&[MemoryId(4), MemoryId(5)], at(33));
    let traces = ["Ava", "likes tea", "memory_5"];
    let before = whole(&memory);
    assert!(traces.iter().all(|trace| before.contains(trace)));
    memory.forget(&Forget::Entity(person(1)), at(60)).unwrap();
    let exported = whole(&memory);
    for trace in traces {
        assert!(!exported.contains(trace), "{trace}: {exported}");
    }
    let copy = open(second.path());
    copy.import(exported.as_bytes()).unwrap();
    let left: Vec<String> =
        copy.answers(9).unwrap().into_iter().map(|answer| answer.question).collect();
    assert_eq!(left, ["Who poured?"]);
    assert_eq!(copy.accesses().unwrap(), BTreeMap::from([(MemoryId(4), (1, at(33)))]));
}

#[test]
fn the_past_of_a_copy_is_exact_from_the_same_time_on() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(80));
    draft.retire_memory(MemoryId(5), Some(at(55)), "she said so").unwrap();
    draft.commit().unwrap();
    assert!(memory.compact(at(90)).unwrap().rows > 0);
    let mut then = Vec::new();
    memory.export(Some(AsOf::Time(at(80))), &mut then).unwrap();
    for exported in [whole(&memory).into_bytes(), then] {
        let dir = tempfile::tempdir().unwrap();
        let copy = open(dir.path());
        copy.import(exported.as_slice()).unwrap();
        let exact_from = |copy: &Memory| {
            let gone = copy.view_as_of(AsOf::Time(at(79)));
            assert!(matches!(gone, Err(MemoryError::Expired { .. })), "{gone:?}");
            copy.history_from()
        };
        assert_eq!((exact_from(&copy), copy.hash()), (Some(at(80)), memory.hash()));
        drop(copy);
        assert_eq!(exact_from(&open(dir.path())), Some(at(80)));
    }
}

#[test]
fn what_an_export_cannot_hold_is_no_fault_of_the_copy() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let memory = open(first.path());
    household(&memory);
    let answer = memory.remember_answer("Who was here?", "{}", at(40)).unwrap();
    let mut draft = memory.begin(at(50));
    let id = draft.new_memory_id();
    let mut lesson = memory_row(id.0, "Ben was meant.", &[person(2)], 40);
    lesson.kind = MemoryKind::Lesson;
    lesson.grounds = vec![Ground::Answer(answer)];
    draft.memory(lesson, None);
    draft.commit().unwrap();
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());

    let copy = open(second.path());
    copy.import(export(&memory.view()).as_bytes()).unwrap();
    assert_eq!(copy.hash(), memory.hash());
    let report = copy.check().unwrap();
    assert_eq!((report.faults, report.media_taken), (Vec::new(), 4));
    assert_eq!(copy.repair(at(60)).unwrap(), Vec::<String>::new());
    assert!(copy.next_answer_id() > answer, "what the lesson rests on is no other answer");

    // What is pinned from then on has to be there.
    let mut draft = copy.begin(at(70));
    let chip = Media::new(MediaKind::FaceChip, true, b"another chip of ava".to_vec());
    let digest = chip.digest.clone();
    draft.media(chip);
    draft.commit().unwrap();
    assert_eq!(copy.check().unwrap().faults, Vec::<String>::new());
    copy.folder().remove(&digest).unwrap();
    let faults = copy.check().unwrap().faults;
    assert!(faults.len() == 1 && faults[0].contains("pinned, but not there"), "{faults:?}");
}
