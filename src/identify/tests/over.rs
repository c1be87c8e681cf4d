//! Promises about voices that are heard over somebody's silent face, where no mouth tells.

use super::*;

/// One long turn over the face.
fn over(from: f64) -> Vec<Heard> {
    vec![(5, from + 1.0, from + 13.0)]
}

/// Less in all, but on two occasions.
fn owner(from: f64) -> Vec<Heard> {
    vec![(0, from + 1.0, from + 5.0), (0, from + 7.0, from + 11.0)]
}

fn in_view(from: f64) -> [Seen; 1] {
    [(0, from, from + 30.0, 100.0)]
}

/// The face has its owner's voice, and the other one is alone; a turn of each.
fn right(clips: &[ClipPercepts], owners: u64, others: u64) {
    for restart in [false, true] {
        let (ledger, now) = run(clips, restart);
        let person = person_of_face(&ledger, &now, 0, 0);
        assert_eq!(person_of_voice(&ledger, &now, owners), person);
        let alone = person_of_voice(&ledger, &now, others);
        assert_ne!(alone, person);
        assert!(now.persons().parts(alone, EntityKind::Face).is_empty());
        assert_eq!(persons(&ledger, &now).len(), 2);
    }
}

#[test]
fn of_one_clip_a_long_voice_over_does_not_get_the_face() {
    let scene = |heard: Vec<Heard>| [clip(0, &in_view(0.0), &heard)];
    right(&scene([over(0.0), owner(14.0)].concat()), 1, 0);
    right(&scene([owner(0.0), over(12.0)].concat()), 0, 2);
}

#[test]
fn a_voice_over_leaves_the_face_when_its_owner_is_heard() {
    let scenes = |first: &[Heard], second: &[Heard]| {
        [clip(0, &in_view(0.0), first), clip(1, &in_view(30.0), second)]
    };
    let over_first = scenes(&over(0.0), &owner(30.0));
    let (ledger, now) = run(&over_first[..1], false);
    let face = person_of_face(&ledger, &now, 0, 0);
    assert_eq!(person_of_voice(&ledger, &now, 0), face, "nothing speaks against it yet");
    right(&over_first, 100, 0);
    right(&scenes(&owner(0.0), &over(30.0)), 0, 100);
}

#[test]
fn one_voice_in_fragments_stays_with_its_face() {
    let mut clips = [
        clip(0, &in_view(0.0), &[(0, 1.0, 13.0)]),
        clip(1, &in_view(30.0), &[(0, 31.0, 39.0), (0, 41.0, 49.0)]),
    ];
    let t = calibrated("ge2e");
    for (clip, cosine) in clips.iter_mut().zip([1.0, 0.5 * (t.maybe + t.accept)]) {
        clip.turns.iter_mut().for_each(|turn| turn.embedding = Some(like_first(cosine, 1)));
    }
    let mut ledger = TestLedger::default();
    let mut now = resolver(&IdentityRows::default(), Undecided::default());
    for clip in &clips {
        now.resolve(clip, &mut ledger);
    }
    let voice = |turn: u64| ledger.turns[&(SessionId(1), TurnId(turn))].voice.unwrap();
    assert_ne!(voice(0), voice(100), "nobody knows yet that they are one");
    let person = person_of_face(&ledger, &now, 0, 0);
    assert_eq!(person_of_voice(&ledger, &now, 0), person);
    assert_eq!(person_of_voice(&ledger, &now, 100), person);
}
