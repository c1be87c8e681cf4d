//! Another model, and nothing was kept that it could learn from: people keep their ids and names.

use super::*;
use crate::identify::persons::unmatchable::restated;

const NEW_MODEL: ModelHash = ModelHash([3; 32]);

/// Two who are seen one after the other and speak.
fn two_who_speak(index: u32) -> ClipPercepts {
    let start = 30.0 * f64::from(index);
    clip(
        index,
        &[(0, start, start + 12.0, 100.0), (1, start + 14.0, start + 28.0, 100.0)],
        &[(0, start + 1.0, start + 10.0), (1, start + 15.0, start + 26.0)],
    )
}

/// The same through another model for that kind.
fn anew(mut clip: ClipPercepts, kind: EntityKind) -> ClipPercepts {
    if kind == EntityKind::Face {
        for sample in clip.tracks.iter_mut().flat_map(|track| track.samples.iter_mut()) {
            sample.embedding.model = NEW_MODEL;
        }
    } else {
        for embedding in clip.turns.iter_mut().filter_map(|turn| turn.embedding.as_mut()) {
            embedding.model = NEW_MODEL;
        }
    }
    clip
}

/// The start after the model for that kind was changed.
fn changed(writer: &mut TestWriter, kind: EntityKind) -> Resolver {
    let parts: BTreeSet<EntityId> =
        writer.memberships.keys().copied().filter(|part| part.kind == kind).collect();
    let pairs = writer.rows().pairs;
    for row in restated(kind, &parts, &parts, &pairs) {
        writer.pair(row);
    }
    resolver(&writer.rows(), PendingIdentities::default())
}

#[test]
fn people_are_found_again_by_the_half_that_is_still_known() {
    for kind in [EntityKind::Face, EntityKind::Voice] {
        let [once, restarted] = [false, true].map(|restart| {
            let (mut writer, mut now) = run(&[two_who_speak(0), two_who_speak(1)], false);
            let known = persons(&writer, &now);
            assert_eq!(known.len(), 2);
            let (ava, ben) =
                (person_of_face(&writer, &now, 0, 0), person_of_face(&writer, &now, 0, 1));
            now.override_name(ava, "Ava", at(60.0), &mut writer);
            let before = now.persons().all_parts(ava);
            let mut now = changed(&mut writer, kind);
            for index in 2..5 {
                now.resolve(&anew(two_who_speak(index), kind), &mut writer);
                if restart {
                    now = resolver(&writer.rows(), now.undecided().clone());
                }
                let base = u64::from(index) * 100;
                for (number, who) in [(base, ava), (base + 1, ben)] {
                    let [face, voice] = [
                        person_of_face(&writer, &now, index, number),
                        person_of_voice(&writer, &now, number),
                    ];
                    let known = if kind == EntityKind::Face { voice } else { face };
                    assert_eq!(known, who, "{kind:?}");
                    assert_eq!(face == voice, index > 2, "{kind:?}: on the second occasion");
                }
            }
            now.finish(&mut writer);
            assert_eq!(persons(&writer, &now), known, "nobody new");
            assert_eq!(now.persons().name(ava), Some(("Ava", NameSource::Told)));
            let after = now.persons().all_parts(ava);
            assert_eq!(after.len(), before.len() + 1, "{after:?}");
            assert!(before.iter().all(|part| after.contains(part)), "{after:?}");
            writer
        });
        assert_eq!(once, restarted, "a restart changes nothing");
    }
}

#[test]
fn of_what_was_heard_before_the_change_nothing_is_held_against_a_new_face() {
    let (mut writer, _) = run(&[two_who_speak(0), two_who_speak(1)], false);
    let mut now = changed(&mut writer, EntityKind::Face);
    now.resolve(&anew(two_who_speak(2), EntityKind::Face), &mut writer);
    let (old, new, voice) = (id("face_1"), id("face_3"), id("voice_1"));
    let away = |face| now.evidence().between(&[face], &[voice]).against_secs;
    assert!(away(new) < 1e-9, "{}", away(new));
    assert!(away(old) < 1e-9, "nor absence against the face that nobody could see");
}

#[test]
fn a_face_that_joined_by_mistake_leaves_and_takes_neither_voice_nor_name() {
    let (mut writer, mut before) = run(&[two_who_speak(0), two_who_speak(1)], false);
    let ava = person_of_face(&writer, &before, 0, 0);
    before.override_name(ava, "Ava", at(60.0), &mut writer);
    let mut now = changed(&mut writer, EntityKind::Face);
    // somebody else is in view while her voice is heard, twice
    for index in 2..4 {
        let start = 30.0 * f64::from(index);
        let seen = (6, start, start + 10.0, 100.0);
        let beside = clip(index, &[seen], &[(0, start + 1.0, start + 5.0)]);
        now.resolve(&anew(beside, EntityKind::Face), &mut writer);
    }
    assert_eq!(person_of_face(&writer, &now, 2, 200), ava);
    // then she is heard for long, and that face is not there
    for index in 4..6 {
        let start = 30.0 * f64::from(index);
        now.resolve(&clip(index, &[], &[(0, start + 1.0, start + 25.0)]), &mut writer);
    }
    assert_ne!(person_of_face(&writer, &now, 2, 200), ava);
    assert_eq!(person_of_voice(&writer, &now, 500), ava);
    assert_eq!(now.persons().name(ava), Some(("Ava", NameSource::Told)));
    assert_eq!(now.persons().parts(ava, EntityKind::Face), [id("face_1")]);
}
