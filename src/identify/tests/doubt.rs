//! Promises about turns that are not clearly somebody's: what they teach, tell and found.

use super::*;

#[test]
fn what_joined_for_being_like_another_turn_pulls_no_gallery_along() {
    // Founded; two turns, the first like the voice, the other like the first; then as the same voice varies.
    let angles: [&[f32]; 3] = [&[0.0], &[22.0, 47.0], &[40.0]];
    let scene = |(angles, index): (&&[f32], u32)| {
        let start = 30.0 * f64::from(index) + 1.0;
        let from = |number: usize| start + 8.0 * number as f64;
        let heard: Vec<Heard> =
            (0..angles.len()).map(|number| (0, from(number), from(number) + 4.0)).collect();
        let mut clip = clip(index, &[], &heard);
        for (turn, angle) in clip.turns.iter_mut().zip(*angles) {
            turn.embedding = Some(like_first(angle.to_radians().cos(), 1));
        }
        clip
    };
    let clips: Vec<ClipPercepts> = angles.iter().zip(0..).map(scene).collect();
    let (writer, _) = run(&clips, false);
    assert!(writer.turns.values().all(|row| row.voice == Some(id("voice_1"))), "all are heard");
    let learned: Vec<f32> = writer.exemplars.values().map(|row| row.embedding.values[0]).collect();
    assert_eq!(learned.len(), 2, "{learned:?}");
    assert!((learned[0] - 1.0).abs() < 1e-3 && (learned[1] - 0.766).abs() < 1e-3, "{learned:?}");
}

#[test]
fn replies_that_are_only_likely_somebodys_tell_of_a_face_by_how_likely() {
    let linked = |replies: usize, restart: bool| {
        let mut known = clip(0, &[], &[(0, 1.0, 9.0)]);
        known.turns[0].embedding = Some(like_first(1.0, 1));
        known.looked.clear();
        let mut clips = vec![known];
        for number in 1..=replies {
            let from = 30.0 * number as f64;
            let heard = [(0, from + 1.0, from + 5.0)];
            let mut seen = clip(number as u32, &[(0, from, from + 20.0, 100.0)], &heard);
            seen.turns[0].embedding = Some(like_first(0.7, number));
            clips.push(seen);
        }
        let (writer, now) = run(&clips, restart);
        assert_eq!(writer.turns[&(SessionId(1), TurnId(100))].voice, Some(id("voice_1")));
        person_of_voice(&writer, &now, 0) == person_of_face(&writer, &now, 1, 100)
    };
    for restart in [false, true] {
        assert!(!linked(1, restart), "one is not enough");
        assert!(linked(2, restart));
    }
}

#[test]
fn a_short_turn_of_nobody_in_view_founds_nobody_who_may_be_known() {
    let t = calibrated("ge2e");
    let cosine = t.nobody_below(2.0) - 0.5 * (t.accept - t.maybe);
    let voice_of = |seen: &[Seen], looked: bool, again: bool| {
        let mut known = clip(0, &[], &[(0, 1.0, 9.0)]);
        known.turns[0].embedding = Some(like_first(1.0, 1));
        let mut clips = vec![known, clip(1, seen, &[(0, 31.0, 33.0)])];
        if again {
            clips.push(clip(2, &[], &[(0, 61.0, 63.0)]));
        }
        for clip in &mut clips[1..] {
            clip.turns[0].embedding = Some(like_first(cosine, 1));
            clip.looked.retain(|_| looked);
        }
        let (writer, _) = run(&clips, true);
        writer.turns[&(SessionId(1), TurnId(100))].voice
    };
    let new = Some(id("voice_2"));
    assert_eq!(voice_of(&[], true, false), None);
    assert_eq!(voice_of(&[], true, true), new, "heard again");
    assert_eq!(voice_of(&[(1, 30.0, 40.0, 100.0)], true, false), new, "somebody is there");
    assert_eq!(voice_of(&[], false, false), new, "nobody looked");
}

/// Two who are heard well, and between them a turn of that many seconds and that vector; whose it is at the clip's end.
fn short_between(secs: f64, embedding: Embedding, told_apart: bool) -> (Option<EntityId>, usize) {
    let mut scene = clip(0, &[], &[(0, 1.0, 6.0), (0, 7.0, 7.0 + secs), (3, 11.0, 16.0)]);
    scene.turns[0].embedding = Some(like_first(1.0, 1));
    scene.turns[1].embedding = Some(embedding);
    if told_apart {
        scene.turns.iter_mut().zip([0, 1, 2]).for_each(|(turn, n)| turn.distinct = Some(n));
    }
    let mut writer = TestWriter::default();
    let mut now = resolver(&IdentityRows::default(), PendingIdentities::default());
    now.resolve(&scene, &mut writer);
    let row = &writer.turns[&(SessionId(1), TurnId(1))];
    assert_ne!(row.voice, Some(id("voice_2")), "that is the other one");
    (row.voice, writer.exemplars.len())
}

#[test]
fn a_short_turn_is_decided_by_its_clips_end_where_one_of_its_voices_clearly_leads() {
    let t = calibrated("ge2e");
    let cosine = t.maybe - 0.5 * (t.accept - t.maybe);
    let alone = like_first(cosine, 9);
    assert_eq!(short_between(1.0, alone.clone(), false), (Some(id("voice_1")), 2), "and learned");
    assert_eq!(short_between(1.0, alone.clone(), true).0, None, "it was told apart from both");
    assert_eq!(short_between(3.0, like_first(0.7, 9), false).0, None, "that is no short one");
    let unlike = like_first(t.nobody_below(1.0) - 0.05, 9);
    assert_eq!(short_between(1.0, unlike, false).0, None, "surely nobody's");
    // as like the one as the other
    let mut values = vec![0.0_f32; 32];
    (values[0], values[3], values[9]) =
        (cosine, cosine, (1.0 - 2.0 * cosine * cosine).max(0.0).sqrt());
    let torn = Embedding::normalised(values, VOICE_MODEL);
    assert_eq!(short_between(1.0, torn, false).0, None);
}
