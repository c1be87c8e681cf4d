//! Files of kinds that users of other players reported as trouble; each is made here.

use std::path::Path;

use super::generated_tests::{frames, items, make, sound_secs};
use super::*;
use crate::media::Item;

/// Ten pictures a second for two seconds, and what `rest` makes of them.
fn video(format: &str, rest: &str, path: &Path) {
    make(&format!(
        "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format={format},width=160,height=120,framerate=10/1 \
         ! {rest} ! filesink location={}",
        path.display()
    ));
}

/// How loud all of the sound is: its mean square.
fn loudness(items: &[Item]) -> f64 {
    let blocks = items.iter().filter_map(|item| match item {
        Item::Block(block) => Some(block.samples.to_vec()),
        _ => None,
    });
    let samples: Vec<f32> = blocks.flatten().collect();
    samples.iter().map(|one| f64::from(*one).powi(2)).sum::<f64>() / samples.len().max(1) as f64
}

#[test]
fn pictures_of_every_form_of_pixels_are_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("video.mkv");
    for (format, coded) in [
        ("Y42B", "x264enc speed-preset=ultrafast ! h264parse"),
        ("Y444", "x264enc speed-preset=ultrafast ! h264parse"),
        ("BGRA", "avenc_ffv1"),
    ] {
        video(format, &format!("{coded} ! matroskamux"), &path);
        let (played, damage) = items(&path);
        assert_eq!((frames(&played).len(), damage.total()), (20, 0), "{format}: {damage}");
    }
}

#[test]
fn streams_without_times_have_thirty_pictures_a_second_or_as_many_as_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (told, jpeg) = (path("b.h264"), path("c.mjpeg"));
    let stream = "h264parse ! video/x-h264,stream-format=byte-stream,alignment=au";
    video("I420", &format!("x264enc speed-preset=ultrafast bframes=2 ! {stream}"), &told);
    video("I420", "jpegenc", &jpeg);
    for (path, fps) in [(&told, 10.0), (&jpeg, 30.0)] {
        let (played, damage) = items(path);
        let shown = frames(&played);
        assert_eq!((shown.len(), damage.total()), (20, 0), "{}: {damage}", path.display());
        let secs = shown[19].at.secs_since(shown[0].at);
        assert!((secs - 19.0 / fps).abs() < 0.01, "{}: {secs}", path.display());
    }
    // One photograph, even with a second one behind it, is no film.
    let photo = std::fs::read(&jpeg).unwrap();
    let end = photo.windows(2).position(|pair| pair == [0xFF, 0xD9]).unwrap() + 2;
    let still = path("still.jpg");
    std::fs::write(&still, [&photo[..end], &photo[..end]].concat()).unwrap();
    assert!(Recording::open(&still, &ReplayOptions::default()).is_err());
}

#[test]
fn files_that_begin_elsewhere_than_at_0_are_whole_and_begin_when_they_were_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hour.mkv");
    make(&format!(
        "videotestsrc num-buffers=20 timestamp-offset=3600000000000 ! \
         video/x-raw,width=160,height=120,framerate=10/1 ! jpegenc ! matroskamux ! filesink location={}",
        path.display()
    ));
    let recording = Recording::open(&path, &ReplayOptions::default()).unwrap();
    let (played, damage) = items(&path);
    assert_eq!((frames(&played).len(), damage.total()), (20, 0), "{damage}");
    assert!(frames(&played)[0].at.secs_since(recording.start()).abs() < 0.2);
}

#[test]
fn pictures_that_build_upon_what_is_missing_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.h264");
    video(
        "I420",
        "x264enc key-int-max=10 bframes=0 speed-preset=ultrafast ! h264parse ! \
         video/x-h264,stream-format=byte-stream,alignment=au",
        &path,
    );
    let bytes = std::fs::read(&path).unwrap();
    // The first slice of a key frame (unit of type 5) goes; what describes the stream stays.
    let starts: Vec<usize> = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, four)| four[..3] == [0, 0, 1])
        .map(|(at, _)| at)
        .collect();
    let key = starts.iter().position(|at| bytes[at + 3] & 0x1f == 5).unwrap();
    let after = starts[key..].iter().position(|at| bytes[at + 3] & 0x1f != 5).unwrap() + key;
    let cut = [&bytes[..starts[key]], &bytes[starts[after]..]].concat();
    std::fs::write(&path, cut).unwrap();
    let (played, damage) = items(&path);
    let shown = frames(&played).len();
    assert!((10..20).contains(&shown) && damage.count(Cause::Undecodable) > 0, "{shown} {damage}");
}

/// A WAVE file of 16 bits.
fn wave(channels: u16, samples: &[i16]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let length = u32::try_from(data.len()).unwrap();
    let (rate, align) = (16_000_u32, channels * 2);
    let mut file = b"RIFF".to_vec();
    file.extend((36 + length).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    file.extend(channels.to_le_bytes());
    file.extend(rate.to_le_bytes());
    file.extend((rate * u32::from(align)).to_le_bytes());
    file.extend(align.to_le_bytes());
    file.extend(b"\x10\0data");
    file.extend(length.to_le_bytes());
    file.extend(data);
    file
}

#[test]
fn whichever_channel_speaks_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sound.wav");
    let tone = |n: usize| ((n as f32 * 0.2).sin() * 9_000.0) as i16;
    let alone = |channels: usize, speaking: usize| -> Vec<i16> {
        let of = |n: usize| (0..channels).map(move |c| if c == speaking { tone(n) } else { 0 });
        (0..32_000).flat_map(of).collect()
    };
    let opposite: Vec<i16> = (0..32_000).flat_map(|n| [tone(n), -tone(n)]).collect();
    let loud = |channels: u16, samples: &[i16]| {
        std::fs::write(&path, wave(channels, samples)).unwrap();
        let (played, damage) = items(&path);
        assert_eq!(damage.total(), 0, "{damage}");
        assert!((sound_secs(&played) - 2.0).abs() < 0.01);
        loudness(&played)
    };
    let mono = loud(1, &alone(1, 0));
    for (channels, samples) in [(4, alone(4, 3)), (6, alone(6, 2)), (8, alone(8, 5)), (2, opposite)]
    {
        let heard = loud(channels, &samples) / mono;
        assert!((0.7..1.1).contains(&heard), "{channels} channels: {heard}");
    }
}

/// A film with two tracks of sound.
fn two_tracks(first: &str, second: &str, mux: &str, path: &Path) {
    let sound = |what: &str| {
        format!(
            "audiotestsrc num-buffers=32 samplesperbuffer=1000 {what} ! audio/x-raw,rate=16000,channels=1 \
             ! audioconvert ! avenc_aac ! aacparse ! queue ! m."
        )
    };
    make(&format!(
        "{mux} name=m ! filesink location={} {} {}",
        path.display(),
        sound(first),
        sound(second)
    ));
}

#[test]
fn of_two_tracks_of_sound_the_one_with_sound_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.mkv");
    let (silent, quiet, loud) = ("wave=silence", "volume=0.1", "volume=0.8");
    let heard = |first: &str, second: &str| {
        two_tracks(first, second, "matroskamux", &path);
        loudness(&items(&path).0)
    };
    assert!(heard(silent, loud) > 0.1 && heard(loud, silent) > 0.1);
    let first = heard(quiet, loud);
    assert!((0.002..0.02).contains(&first), "the first, where both have sound: {first}");
    assert!(heard(silent, silent) < 1e-6);
}

#[test]
fn a_track_that_nobody_decodes_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracks.mp4");
    two_tracks("volume=0.8", "volume=0.8", "mp4mux", &path);
    let mut bytes = std::fs::read(&path).unwrap();
    let entries: Vec<usize> = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, name)| name == b"mp4a")
        .map(|(at, _)| at)
        .collect();
    let last = *entries.last().unwrap();
    bytes[last..last + 4].copy_from_slice(b"apac");
    std::fs::write(&path, &bytes).unwrap();
    let (played, damage) = items(&path);
    assert!(loudness(&played) > 0.1 && damage.is_empty(), "{damage}");
    // Where there is none that is decoded, what is missing is named, and no package that is there already.
    for at in entries {
        bytes[at..at + 4].copy_from_slice(b"apac");
    }
    std::fs::write(&path, &bytes).unwrap();
    let refused = Recording::open(&path, &ReplayOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("apac") && !refused.contains("apt-get install"), "{refused}");
}

#[test]
fn a_cut_avi_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.avi");
    video("I420", "jpegenc ! avimux", &path);
    let (played, damage) = items(&path);
    assert_eq!((frames(&played).len(), damage.total()), (20, 0), "{damage}");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (played, damage) = items(&path);
    let shown = frames(&played).len();
    assert!((5..20).contains(&shown) && damage.count(Cause::Truncated) > 0, "{shown} {damage}");
}
