//! Profiles compiled from facts.

use super::*;

fn fact(id: u64, subject: &str, attribute: &str, value: &str, from: i64) -> MemoryRow {
    let about: EntityId = subject.parse().unwrap();
    let text = format!("<{subject}> {attribute} {value}.");
    MemoryRow {
        kind: MemoryKind::Semantic,
        fact: Some(Fact {
            subject: subject.to_owned(),
            attribute: attribute.to_owned(),
            value: value.to_owned(),
        }),
        ..memory_row(id, &text, &[about], from)
    }
}

#[test]
fn a_profile_tells_what_holds_and_what_held() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(200));
    let rows = [
        fact(0, "person_1", "job", "baker", 40),
        fact(0, "person_1", "job", "pilot", 100),
        fact(0, "person_1", "likes", "green tea", 50),
        fact(0, "voice_1", "usually_with", "person_2", 60),
        fact(0, "person_2", "likes", "<person_1>", 60),
        MemoryRow {
            kind: MemoryKind::Note,
            ..memory_row(0, "<person_1> is allergic to nuts.", &[person(1)], 70)
        },
    ];
    let mut ids = Vec::new();
    for mut row in rows {
        row.id = draft.new_memory_id();
        ids.push(row.id);
        draft.memory(row, None);
    }
    draft.retire_memory(ids[0], Some(at(100)), "another job").unwrap();
    draft.commit().unwrap();
    let view = memory.view();
    let told = |profile: &Profile| -> Vec<String> {
        profile.facts.iter().map(|fact| format!("{}: {}", fact.attribute, fact.value)).collect()
    };
    let now = view.profile(person(1), None);
    // What holds; under whatever id it was written; what is about somebody else stands with them.
    assert_eq!(told(&now), ["job: pilot", "likes: green tea", "usually_with: Ben"]);
    assert_eq!(
        told(&view.profile(voice(1), Some(at(80)))),
        ["job: baker", "likes: green tea", "usually_with: Ben"]
    );
    assert_eq!(told(&view.profile(person(2), None)), ["likes: Ava"]);
    assert_eq!(now.person.name.as_deref(), Some("Ava"));
    let notes: Vec<&str> = now.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(notes[0], "Ava is allergic to nuts.");
    assert!(now.facts[1].weak && !now.facts[0].weak);
    let card = now.card(400, |_| "today".to_owned());
    assert_eq!(
        card,
        "Ava (person_1): last seen or heard today; job: pilot; likes: green tea (said once); \
         usually with: Ben (said once); Ava is allergic to nuts"
    );
    // Parts that do not fit are left out whole.
    let short = now.card(70, |_| "today".to_owned());
    assert!(short.chars().count() <= 70 && short.ends_with("job: pilot"), "{short}");
}

#[test]
fn a_profile_costs_the_same_whatever_happened() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(200));
    for n in 0..20_000 {
        let id = draft.new_memory_id();
        draft.memory(memory_row(id.0, "<person_1> was in view.", &[person(1)], 40 + n), None);
    }
    for n in 0..50 {
        let mut row = fact(0, "person_1", "likes", &format!("thing {n}"), 50 + n);
        row.id = draft.new_memory_id();
        draft.memory(row, None);
    }
    draft.commit().unwrap();
    let view = memory.view();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let begun = std::time::Instant::now();
        assert_eq!(view.profile(person(1), None).facts.len(), 50);
        best = best.min(begun.elapsed().as_secs_f64() * 1e3);
    }
    // Unoptimized builds take several times as long.
    let limit = if cfg!(debug_assertions) { 100.0 } else { 5.0 };
    assert!(best < limit, "{best} ms");
}
