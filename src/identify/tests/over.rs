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
        let (writer, now) = run(clips, restart);
        let person = person_of_face(&writer, &now, 0, 0);
        assert_eq!(person_of_voice(&writer, &now, owners), person);
        let alone = person_of_voice(&writer, &now, others);
        assert_ne!(alone, person);
        assert!(now.persons().parts(alone, EntityKind::Face).is_empty());
        assert_eq!(persons(&writer, &now).len(), 2);
    }
}

#[test]
fn of_one_clip_nobody_gets_the_face_and_of_two_its_owner_does() {
    for heard in [[over(0.0), owner(14.0)].concat(), [owner(0.0), over(12.0)].concat()] {
        let first = clip(0, &in_view(0.0), &heard);
        let (writer, now) = run(std::slice::from_ref(&first), false);
        assert_eq!(persons(&writer, &now).len(), 3, "one occasion tells too little");
        let is_over = |at: usize| heard[at].0 == 5;
        let [owners, others] = if is_over(0) { [1, 0] } else { [0, 2] };
        right(&[first, clip(1, &in_view(30.0), &owner(30.0))], owners, others);
    }
}

/// Whose voice is heard over the face in each clip.
fn scenes(heard: &[fn(f64) -> Vec<Heard>]) -> Vec<ClipPercepts> {
    let scene = |(index, heard): (u32, &fn(f64) -> Vec<Heard>)| {
        let start = 30.0 * f64::from(index);
        clip(index, &in_view(start), &heard(start))
    };
    (0..).zip(heard).map(scene).collect()
}

#[test]
fn a_voice_over_leaves_the_face_when_its_owner_is_heard() {
    let over_first = scenes(&[over, over, owner, owner]);
    let (writer, now) = run(&over_first[..1], false);
    let alone = |writer: &TestWriter, now: &Resolver, turn| {
        person_of_voice(writer, now, turn) != person_of_face(writer, now, 0, 0)
    };
    assert!(alone(&writer, &now, 0), "once is too little");
    let (writer, now) = run(&over_first[..2], false);
    assert!(!alone(&writer, &now, 0), "nothing speaks against it");
    right(&over_first, 200, 0);
    right(&scenes(&[owner, owner, over]), 0, 200);
}

#[test]
fn one_voice_in_fragments_stays_with_its_face() {
    let long = |start: f64| vec![(0, start + 1.0, start + 13.0)];
    let two = |start: f64| vec![(0, start + 1.0, start + 9.0), (0, start + 11.0, start + 19.0)];
    let mut clips = scenes(&[long, long, two, two]);
    let t = calibrated("ge2e");
    let other = 0.5 * (t.maybe + t.accept);
    for (clip, cosine) in clips.iter_mut().zip([1.0, 1.0, other, other]) {
        clip.turns.iter_mut().for_each(|turn| turn.embedding = Some(like_first(cosine, 1)));
    }
    let mut writer = TestWriter::default();
    let mut now = resolver(&IdentityRows::default(), PendingIdentities::default());
    for clip in &clips {
        now.resolve(clip, &mut writer);
    }
    let voice = |turn: u64| writer.turns[&(SessionId(1), TurnId(turn))].voice.unwrap();
    assert_ne!(voice(0), voice(200), "nobody knows yet that they are one");
    let person = person_of_face(&writer, &now, 0, 0);
    assert_eq!(person_of_voice(&writer, &now, 0), person);
    assert_eq!(person_of_voice(&writer, &now, 200), person);
}
