//! What goes on for long, and whoever was met long ago, costs no more than what is at hand.

use super::*;
use crate::identify::SharedResolver;
use crate::identify::matching::late::DECIDE_AFTER_SECS;

fn face_of(writer: &TestWriter, index: u32, track: u64) -> Option<EntityId> {
    let clip = ClipId { session: SessionId(1), index };
    writer.tracks.get(&(clip, TrackId(track))).and_then(|row| row.face)
}

#[test]
fn a_track_that_nobody_can_decide_does_not_grow() {
    let mut writer = TestWriter::default();
    let mut now = resolver(&IdentityRows::default(), PendingIdentities::default());
    let mut most = (0, 0);
    for index in 0..100_u32 {
        let from = 30.0 * f64::from(index);
        let mut clip = clip(index, &[], &[]);
        let mut seen = track(7, (0, from, from + 30.0, 100.0));
        seen.life = Liveness::Unproven; // a poster, or so it seems
        clip.tracks = vec![seen];
        now.resolve(&clip, &mut writer);
        for open in &now.undecided.tracks {
            most = (most.0.max(open.samples.len()), most.1.max(open.clips.len()));
        }
    }
    assert!(most.0 > 3 && most.0 <= 32, "{most:?} samples and clips");
    assert!(most.1 > 3 && most.1 <= 64, "{most:?} samples and clips");
    let first = now.undecided.tracks.first().map(|open| open.span.start);
    assert!(first.is_some_and(|start| at(3000.0).secs_since(start) <= DECIDE_AFTER_SECS + 60.0));
}

#[test]
fn who_was_met_once_and_long_ago_is_set_aside_and_comes_back_under_the_id() {
    let settings = Identity { cold_after_days: 1.0, ..Identity::default() };
    let (faces, voices) = (calibrated("mobilefacenet"), calibrated("ge2e"));
    let of = |rows: &IdentityRows, undecided: PendingIdentities| {
        Resolver::from_rows(rows, undecided, &settings, faces, voices)
    };
    let mut writer = TestWriter::default();
    let mut now = of(&IdentityRows::default(), PendingIdentities::default());
    let seen = |index: u32, who: usize, track: u64| {
        let from = 30.0 * f64::from(index);
        let mut clip = clip(index, &[], &[]);
        clip.tracks = vec![self::track(track, (who, from, from + 20.0, 100.0))];
        clip
    };
    // Two of them; the second gets a name.
    now.resolve(&seen(0, 0, 1), &mut writer);
    now.resolve(&seen(1, 1, 2), &mut writer);
    let named = face_of(&writer, 1, 2).unwrap();
    now.override_name(named, "Ava", at(50.0), &mut writer);
    let stranger = face_of(&writer, 0, 1).unwrap();
    let days = |days: u32| days * 24 * 120;
    now.resolve(&seen(days(3), 2, 3), &mut writer);
    assert!(now.cold.contains(stranger) && !now.centres.contains(stranger));
    assert!(now.centres.contains(named), "whoever has a name stays");
    // A guess about an open window does not look there; a clip does.
    let shared = SharedResolver::new(of(&writer.rows(), now.undecided().clone()));
    shared.lock().resolve(&seen(days(3) + 1, 3, 4), &mut writer);
    let face = seen(days(4), 0, 5).tracks[0].samples[0].embedding.clone();
    assert_eq!(shared.guesses().faces(&[&face]), [None]);
    // Whoever shows a face and asks whose it is is told all the same.
    let found = shared.guesses().likenesses(EntityKind::Face, vec![(face.clone(), 1.0)], 5);
    assert_eq!(found.clear().map(|one| one.part), Some(stranger), "{found:?}");
    shared.lock().resolve(&seen(days(4), 0, 5), &mut writer);
    assert_eq!(face_of(&writer, days(4), 5), Some(stranger), "under the same id");
    let held = shared.lock();
    assert!(held.centres.contains(stranger) && !held.cold.contains(stranger));
    drop(held);
    assert_eq!(shared.guesses().faces(&[&face])[0].map(|guess| guess.part), Some(stranger));
}

#[test]
fn guesses_wait_for_nobody_and_stay_as_they_were() {
    let mut writer = TestWriter::default();
    let shared =
        SharedResolver::new(resolver(&IdentityRows::default(), PendingIdentities::default()));
    let before = shared.guesses();
    let clip = clip(0, &[(0, 1.0, 20.0, 100.0)], &[(0, 2.0, 8.0)]);
    let (face, voice) = (&clip.tracks[0].samples[0].embedding, clip.turns[0].embedding.as_ref());
    let mut busy = shared.lock();
    busy.resolve(&clip, &mut writer);
    // While somebody decides, guesses are made from what stood before.
    assert!(shared.try_lock().is_none());
    assert_eq!(shared.guesses().faces(&[face]), [None]);
    drop(busy);
    let guess = shared.guesses().faces(&[face])[0].unwrap();
    assert_eq!((guess.part, guess.person), (id("face_1"), id("person_1")));
    let of_voice = shared.guesses().voice(voice.unwrap()).unwrap();
    assert_eq!(of_voice.part, id("voice_1"));
    let asked = vec![(face.clone(), 1.0)];
    assert!(before.likenesses(EntityKind::Face, asked.clone(), 5).matches.is_empty());
    let found = shared.guesses().likenesses(EntityKind::Face, asked, 5);
    assert_eq!((found.matches[0].person, found.known), (Some(id("person_1")), 1));
    assert_eq!(before.faces(&[face]), [None], "never changed");
    // Who was nobody then is somebody now, and one with oneself.
    let now = shared.guesses();
    assert!(before.is_nobodys(face, &[]) && !before.is_nobodys(face, &[face]));
    assert!(!now.is_nobodys(face, &[]) && now.are_one(face, face));
}

#[test]
fn a_start_compares_nothing_and_decides_as_if_it_had_gone_on() {
    let clips: Vec<ClipPercepts> = (0..5_u32)
        .map(|index| {
            let from = 30.0 * f64::from(index);
            let who = index as usize % 3;
            let seen = [(who, from + 1.0, from + 20.0, 100.0), (3, from + 2.0, from + 25.0, 400.0)];
            clip(index, &seen, &[(who, from + 2.0, from + 8.0), (3, from + 10.0, from + 16.0)])
        })
        .collect();
    let ((on, _), (again, _)) = (run(&clips, false), run(&clips, true));
    assert_eq!(on, again);
}

#[test]
fn among_many_a_likely_voice_is_theirs_who_were_surely_there() {
    let settings = Identity::default();
    let (faces, voices) = (calibrated("mobilefacenet"), calibrated("campplus"));
    let of = |rows: &IdentityRows, undecided: PendingIdentities| {
        Resolver::from_rows(rows, undecided, &settings, faces, voices)
    };
    const KNOWN: u32 = 30;
    let asked = voices.among(KNOWN as usize);
    assert!(asked.accept > voices.accept, "so many that more is asked");
    let cosine = asked.maybe + 0.6 * (asked.accept - asked.maybe);
    let voice_of = |known: u32, heard_before: bool| {
        let mut writer = TestWriter::default();
        let mut now = of(&IdentityRows::default(), PendingIdentities::default());
        let heard = |index: u32, who: usize| {
            let from = 30.0 * f64::from(index) + 1.0;
            let mut clip = clip(index, &[], &[(who, from, from + 8.0)]);
            clip.looked.clear();
            clip
        };
        for who in 0..known {
            now.resolve(&heard(who, who as usize), &mut writer);
        }
        // Half an hour later, by then nobody was there.
        let later = known + 60;
        if heard_before {
            now.resolve(&heard(later - 2, 0), &mut writer);
        }
        let mut reply = heard(later, 0);
        reply.turns[0] =
            turn(9_999, (0, 30.0 * f64::from(later) + 1.0, 30.0 * f64::from(later) + 4.0));
        reply.turns[0].embedding = Some(like_first(cosine, 31));
        now.resolve(&reply, &mut writer);
        let open = writer.turns[&(SessionId(1), TurnId(9_999))].voice;
        assert_eq!(open, None, "it stays open for now");
        // What it takes is in the checkpoint.
        let config = bincode::config::standard();
        let blob = bincode::serde::encode_to_vec(now.undecided(), config).unwrap();
        let (undecided, _) = bincode::serde::decode_from_slice(&blob, config).unwrap();
        let mut now = of(&writer.rows(), undecided);
        now.resolve(&heard(later + 1 + (DECIDE_AFTER_SECS / 30.0) as u32, 1), &mut writer);
        writer.turns[&(SessionId(1), TurnId(9_999))].voice
    };
    assert_eq!(voice_of(KNOWN, true), Some(id("voice_1")));
    assert_eq!(voice_of(KNOWN, false), None, "a stranger resembles one of many");
    assert_eq!(voice_of(3, false), Some(id("voice_1")), "of few it is likely one");
}

#[test]
fn whom_a_sample_is_like_is_told_with_each_person_once_and_clearly_only_where_it_is() {
    let mut writer = TestWriter::default();
    let mut now = resolver(&IdentityRows::default(), PendingIdentities::default());
    for who in 0..4_u32 {
        let from = 30.0 * f64::from(who);
        let mut clip = clip(who, &[], &[]);
        clip.tracks = vec![track(u64::from(who) + 1, (who as usize, from, from + 20.0, 100.0))];
        now.resolve(&clip, &mut writer);
    }
    let sample =
        |who: usize| clip(9, &[(who, 300.0, 310.0, 100.0)], &[]).tracks[0].samples[0].clone();
    let shared = SharedResolver::new(now);
    let ask = |samples: Vec<(Embedding, f32)>, most| {
        shared.guesses().likenesses(EntityKind::Face, samples, most)
    };
    let found = ask(vec![(sample(2).embedding, 1.0)], 3);
    assert_eq!((found.matches.len(), found.known), (3, 4));
    assert_eq!(found.clear().map(|one| one.part), face_of(&writer, 2, 3));
    assert!(found.matches.windows(2).all(|pair| pair[0].score >= pair[1].score));
    // Half one and half another is clearly nobody, though both are named.
    let both = ask(vec![(sample(1).embedding, 1.0), (sample(2).embedding, 1.0)], 5);
    assert_eq!(both.clear(), None, "{both:?}");
    // Two faces that are one person are that person once.
    let (one, other) = (face_of(&writer, 1, 2).unwrap(), face_of(&writer, 2, 3).unwrap());
    let mut who = shared.lock();
    let persons = [one, other].map(|face| who.persons().person_of(face).unwrap());
    who.override_merge(persons[0], persons[1], &mut writer);
    drop(who);
    let found = ask(vec![(sample(2).embedding, 1.0)], 5);
    assert_eq!(found.matches.len(), 3, "{found:?}");
    assert_eq!(ask(Vec::new(), 5).matches, []);
}
