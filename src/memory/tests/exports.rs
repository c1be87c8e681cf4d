//! An export comes in whole or not at all, and what it cannot hold is no fault.

use super::*;

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
    let newer = lines[0].replace('2', "3");
    other[0] = &newer;
    assert!(imported(&other).unwrap_err().contains("newer engram"));

    // Form 1 had neither a first nor a last line.
    let older = imported(&lines[1..last]).unwrap();
    assert!(!older.whole && older.rows > 0, "{older:?}");
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
