//! Promises about names that speakers give themselves: evidence, never a verdict.

use super::*;
use crate::memory::model::PairEvidence;

fn saying(text: &str, mut clip: ClipPercepts) -> ClipPercepts {
    for turn in &mut clip.turns {
        turn.words = Some(Transcript { text: text.into(), ..Transcript::default() });
    }
    clip
}

/// Ava's photo was shown; then these clips.
fn with_avas_photo(clips: &[ClipPercepts], restart: bool) -> (TestWriter, Resolver) {
    let (mut writer, mut now) = run(&[], false);
    enrol(&mut now, &mut writer, (Some(0), None), Enrolled::Named("Ava")).unwrap();
    for clip in clips {
        now.resolve(clip, &mut writer);
        if restart {
            now = resolver(&writer.rows(), now.undecided().clone());
        }
    }
    now.finish(&mut writer);
    (writer, now)
}

/// Ava and somebody else are always seen together; one of them speaks.
fn one_of_two_speaks(text: &str) -> [ClipPercepts; 2] {
    let seen = [(0, 0.0, 30.0, 100.0), (1, 0.0, 30.0, 400.0)];
    [saying(text, clip(0, &seen, &[(0, 1.0, 5.0)])), clip(1, &[], &[])]
}

#[test]
fn a_name_tells_apart_two_who_are_always_seen_together() {
    for restart in [false, true] {
        let whose = |text: &str| {
            let (writer, now) = with_avas_photo(&one_of_two_speaks(text), restart);
            let voice = person_of_voice(&writer, &now, 0);
            let faces = [0, 1].map(|track| person_of_face(&writer, &now, 0, track) == voice);
            (faces, writer)
        };
        assert_eq!(whose("Hello there.").0, [false, false], "presence alone cannot tell");
        let (faces, writer) = whose("Hello, I am Ava.");
        assert_eq!(faces, [true, false]);
        let reasons: Vec<&str> = writer.merges.values().map(|row| row.reason.as_str()).collect();
        assert!(reasons[0].contains("; they gave the same name"), "{reasons:?}");
        assert!(!reasons[0].contains("Ava"), "names can be erased, reasons stay: {reasons:?}");
        assert_eq!(whose("Hello, I am Zoe.").0, [false, false], "on one occasion nobody is sure");
        let mut again = one_of_two_speaks("Hello, I am Zoe.");
        let seen = [(0, 30.0, 60.0, 100.0), (1, 30.0, 60.0, 400.0)];
        again[1] = clip(1, &seen, &[(0, 31.0, 32.3)]);
        let (writer, now) = with_avas_photo(&again, restart);
        let voice = person_of_voice(&writer, &now, 0);
        assert_ne!(person_of_face(&writer, &now, 0, 0), voice);
        let other = person_of_face(&writer, &now, 0, 1);
        assert_eq!(other, voice, "who is not Ava is the other one");
    }
}

#[test]
fn a_name_alone_is_no_verdict_however_often_it_is_said() {
    let unseen = |index: u32| {
        let start = 30.0 * f64::from(index);
        let heard = [(0, start + 1.0, start + 9.0), (0, start + 11.0, start + 20.0)];
        let mut clip = saying("I am Ava.", clip(index, &[], &heard));
        clip.looked.clear();
        clip
    };
    let clips: Vec<ClipPercepts> = (0..5).map(unseen).collect();
    let (writer, now) = with_avas_photo(&clips, false);
    let voice = person_of_voice(&writer, &now, 0);
    assert_ne!(voice, id("person_1"));
    assert_eq!(Introductions::of(now.persons()).namesakes(voice), [id("person_1")]);
}

#[test]
fn who_was_there_at_once_is_not_one_for_having_one_name() {
    let at_once = clip(0, &[(0, 0.0, 30.0, 100.0), (1, 0.0, 30.0, 400.0)], &[]);
    let (writer, now) = run(&[at_once, clip(1, &[(2, 30.0, 40.0, 100.0)], &[])], false);
    let [a, b] = [0, 1].map(|track| person_of_face(&writer, &now, 0, track));
    let other = person_of_face(&writer, &now, 1, 100);
    assert_eq!(now.heeded(Naming::Same, a, b), Naming::Silent);
    assert_eq!(now.heeded(Naming::Different, a, b), Naming::Different);
    assert_eq!(now.heeded(Naming::Same, a, other), Naming::Same);
}

#[test]
fn the_users_split_holds_against_a_name() {
    let (mut writer, mut now) = with_avas_photo(&one_of_two_speaks("I am Ava."), false);
    assert_eq!(person_of_voice(&writer, &now, 0), id("person_1"));
    let voice = writer.turns[&(SessionId(1), TurnId(0))].voice.unwrap();
    let alone = now.override_split(&[voice], &mut writer);
    for index in 2..4 {
        let start = 30.0 * f64::from(index);
        let alike =
            clip(index, &[(0, start, start + 9.0, 100.0)], &[(0, start + 1.0, start + 8.0)]);
        now.resolve(&saying("I am Ava.", alike), &mut writer);
    }
    assert_eq!(vec![person_of_voice(&writer, &now, 0)], alone);
    assert_ne!(alone, [id("person_1")]);
}

/// What becomes of two voices that are so alike, gave those names and were told apart for that long.
fn merged(similarity: f32, names: [&str; 2], apart_secs: f64) -> Option<Merge> {
    let mut rows = IdentityRows::default();
    let across = (1.0 - similarity * similarity).sqrt();
    let [one, other] = [1, 2].map(|n| EntityId::new(EntityKind::Voice, n));
    for (part, name, values) in
        [(one, names[0], vec![1.0, 0.0]), (other, names[1], vec![similarity, across])]
    {
        rows.exemplars.push(Arc::new(Exemplar {
            entity: part,
            slot: 0,
            at: at(0.0),
            embedding: Embedding::normalised(values, VOICE_MODEL),
            quality: 1.0,
            weight: 4.0,
            media: None,
        }));
        let person = EntityId::new(EntityKind::Person, part.number);
        rows.memberships.push(membership(part, person, "test".into()));
        let turn = (SessionId(1), TurnId(u64::from(part.number)));
        if !name.is_empty() {
            let (name, source) = (name.to_owned(), NameSource::Said);
            rows.speakers.insert(turn, part);
            rows.names.push(NameRow {
                entity: person,
                name,
                since: at(0.0),
                source,
                turn: Some(turn),
            });
        }
    }
    let (support_secs, against_secs) = (0.0, apart_secs);
    let presence = None;
    rows.pairs.push(PairEvidence { face: one, voice: other, support_secs, against_secs, presence });
    let mut writer = TestWriter::default();
    // (Something is new of one of them: a start by itself compares nobody.)
    let undecided =
        PendingIdentities { touched: BTreeSet::from([other]), ..PendingIdentities::default() };
    resolver(&rows, undecided).finish(&mut writer);
    writer.merges.remove(&other)
}

#[test]
fn names_move_what_two_voices_need_to_be_one_and_no_farther() {
    let t = calibrated("ge2e");
    let (below, above) = (t.merge - 0.02, t.merge + 0.02);
    for (names, unlike, alike) in [
        (["", ""], false, true),
        (["Ava", ""], false, true),
        (["Ava", "ava Stone"], true, true),
        (["Ava", "Zoe"], false, false),
    ] {
        assert_eq!(merged(below, names, 0.0).is_some(), unlike, "{names:?}");
        assert_eq!(merged(above, names, 0.0).is_some(), alike, "{names:?}");
    }
    assert!(merged(t.accept - 0.02, ["Ava", "Ava"], 0.0).is_none(), "a namesake");
    assert!(merged(0.97, ["Ava", "Zoe"], 0.0).is_some(), "a nickname, or misheard");
    assert!(merged(below, ["Ava", "Ava"], 1.0).is_none(), "they were told apart");
    let reason = merged(above, ["Ava", "Ava"], 0.0).unwrap().reason;
    assert!(reason.ends_with("; they gave the same name"), "{reason}");
}

/// Two voices, one after the other, in a clip: what each says.
fn talk(first: &str, second: &str) -> ClipPercepts {
    let mut clip = clip(0, &[], &[(0, 1.0, 9.0), (1, 11.0, 20.0)]);
    for (turn, text) in clip.turns.iter_mut().zip([first, second]) {
        turn.words = Some(Transcript { text: text.into(), ..Transcript::default() });
    }
    clip
}

fn names_after(clips: &[ClipPercepts]) -> Vec<String> {
    let (writer, _) = run(clips, false);
    writer.names.iter().map(|row| row.name.clone()).collect()
}

#[test]
fn whoever_is_asked_for_a_name_gives_it_in_reply() {
    assert_eq!(names_after(&[talk("What's your name?", "Caoimhe.")]), ["Caoimhe"]);
    assert_eq!(names_after(&[talk("Where is the milk?", "Caoimhe.")]), [""; 0]);
    assert_eq!(names_after(&[talk("What's your name?", "Why do you ask?")]), [""; 0]);
}

#[test]
fn who_stands_beside_the_speaker_is_introduced() {
    let (writer, now) = run(&[talk("Hello, this is my brother Tadhg.", "How do you do.")], false);
    let row = writer.names.first().unwrap();
    assert_eq!((row.name.as_str(), writer.names.len()), ("Tadhg", 1));
    let heard = Introductions::of(now.persons());
    assert!(writer.names.iter().all(|row| now.persons().name(row.entity).is_some()));
    let speaker = now.persons().speaker(row).unwrap();
    assert_ne!(now.persons().person_of(speaker), Some(row.entity));
    assert!(!heard.speaks(speaker), "it is no word of the speaker about himself");
}

#[test]
fn who_was_told_of_is_met_in_another_spelling() {
    let (mut writer, mut now) = run(&[], false);
    let told = now.tell_of("Siobh\u{e1}n", at(0.0), &mut writer);
    now.resolve(&saying("Hello, I'm Shivon.", clip(0, &[], &[(0, 1.0, 9.0)])), &mut writer);
    let name = now.persons().name(now.persons().resolve(told)).map(|(name, _)| name.to_owned());
    assert_eq!(name.as_deref(), Some("Siobh\u{e1}n"), "as it was told");
    assert!(!now.persons().all_parts(now.persons().resolve(told)).is_empty(), "and met");
}
