//! Names on badges.

use super::*;
use crate::percept::TextTrack;

/// A text that was read at that place.
fn badge(text: &str, x: f32, y: f32) -> TextTrack {
    TextTrack {
        id: TrackId(900),
        source: SourceId::new("camera"),
        span: Span::new(at(5.0), at(11.0)),
        text: text.to_owned(),
        confidence: 0.95,
        place: Rect { x, y, w: 60.0, h: 20.0 },
        picture: (640, 480),
        readings: 2,
        best_at: at(5.0),
        continued: false,
    }
}

/// Who is called what, and whence, where those are seen and that is read.
fn called(seen: &[Seen], text: TextTrack) -> Vec<(String, NameSource)> {
    let mut clips = vec![clip(0, seen, &[])];
    clips[0].texts.push(text);
    let (writer, _) = run(&clips, false);
    writer.rows().names.into_iter().map(|row| (row.name, row.source)).collect()
}

#[test]
fn a_badge_names_its_wearer_and_no_other_sign_names_anybody() {
    let alone = [(1, 1.0, 12.0, 200.0)];
    let named = called(&alone, badge("HELEN", 210.0, 180.0));
    assert_eq!(named, [("Helen".to_owned(), NameSource::Read)]);
    assert!(called(&alone, badge("Wet floor", 210.0, 180.0)).is_empty(), "no name");
    assert!(called(&alone, badge("HELEN", 500.0, 180.0)).is_empty(), "beside nobody");
    let doubtful = TextTrack { readings: 1, ..badge("HELEN", 210.0, 180.0) };
    assert!(called(&alone, doubtful).is_empty(), "read once");
    let two = [(1, 1.0, 12.0, 200.0), (2, 1.0, 12.0, 240.0)];
    assert!(called(&two, badge("HELEN", 230.0, 180.0)).is_empty(), "whose is it?");
}

#[test]
fn a_told_name_outranks_a_badge() {
    assert!(NameSource::Read < NameSource::Said && NameSource::Read < NameSource::Told);
    let first = clip(0, &[(1, 1.0, 12.0, 200.0)], &[]);
    let mut second = clip(1, &[(1, 31.0, 42.0, 200.0)], &[]);
    second.texts.push(TextTrack { best_at: at(35.0), ..badge("HELEN", 210.0, 180.0) });
    let mut writer = TestWriter::default();
    let mut now = resolver(&IdentityRows::default(), PendingIdentities::default());
    let seen = now.resolve(&first, &mut writer);
    let person = seen.tracks[0].person.unwrap();
    now.override_name(person, "Ava", at(30.0), &mut writer);
    now.resolve(&second, &mut writer);
    assert_eq!(now.persons().name(person), Some(("Ava", NameSource::Told)));
}
