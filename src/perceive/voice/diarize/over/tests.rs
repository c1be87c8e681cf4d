use super::*;
use crate::ids::SourceId;
use crate::media::SAMPLE_RATE;
use crate::perceive::voice::bench::{model, shared, sound};
use crate::perceive::voice::diarize::segmentation::{Activity, Pyannote, SPEAKERS};
use crate::time::Timestamp;

/// Reads out of the samples how loud the second voice is.
struct Told;

impl SpeakerSegmentation for Told {
    fn activity(&mut self, sound: &[f32]) -> Result<Activity, VoiceError> {
        let row = |step: &[f32]| {
            let mut row = [0.0; SPEAKERS];
            row[1] = 0.95;
            row[2] = step[0];
            row
        };
        Ok(sound.chunks_exact(STEP).map(row).collect())
    }
}

fn at(secs: f64) -> Timestamp {
    Timestamp::EPOCH.plus_secs(secs)
}

/// A turn from the first second on: `(how sure the second voice is, seconds)`.
fn turn(parts: &[(f32, f64)]) -> RawTurn {
    let steps = |secs: f64| (secs * 100.0).round() as usize;
    let sound: Vec<f32> =
        parts.iter().flat_map(|(p, secs)| vec![*p; steps(*secs) * STEP]).collect();
    let activity = vec![0.9; sound.len() / STEP];
    RawTurn::new(SourceId::new("mic"), at(1.0), sound.into(), activity, 0.5)
}

fn shares(raw: &RawTurn, own: &[(f64, f64)]) -> Shares {
    let own: Vec<Span> = own.iter().map(|(from, to)| Span::new(at(*from), at(*to))).collect();
    let split = SplitSettings::default();
    let (mut told, voice) = (Told, None);
    let network = Some(&mut told as &mut dyn SpeakerSegmentation);
    let mut listener = Listener { network, voice, unlike: 0.3, min_embed_secs: 1.0, split: &split };
    listener.shares(raw, &own).unwrap()
}

fn spans(parts: &[RawTurn]) -> Vec<(f64, f64)> {
    let secs = |at: Timestamp| (at.secs_since(Timestamp::EPOCH) * 100.0).round() / 100.0;
    parts.iter().map(|part| (secs(part.span.start), secs(part.span.end))).collect()
}

#[test]
fn who_speaks_over_the_robot_is_parted_from_it() {
    let raw = turn(&[(0.05, 7.0), (0.6, 2.0), (0.1, 3.0)]);
    let found = shares(&raw, &[(0.5, 13.5)]);
    assert_eq!(spans(&found.over), [(8.0, 10.0)]);
    assert_eq!(spans(&found.own), [(1.0, 8.0), (10.0, 13.0)]);
    assert_eq!(found.alone, []);
}

#[test]
fn the_robot_alone_is_alone_and_what_is_short_or_doubtful_is_nobody() {
    for parts in [&[(0.25, 6.0)][..], &[(0.0, 3.0), (0.9, 0.3), (0.0, 3.0)]] {
        let found = shares(&turn(parts), &[(0.5, 8.0)]);
        assert_eq!((found.own.len(), found.over.len(), found.alone.len()), (1, 0, 0));
    }
}

#[test]
fn who_goes_on_when_the_robot_has_ended_is_somebody() {
    // A second voice counts only beside the robot's.
    let found = shares(&turn(&[(0.0, 2.0), (0.8, 2.0), (0.5, 4.0)]), &[(0.0, 5.0)]);
    assert_eq!(spans(&found.own), [(1.0, 3.0)]);
    assert_eq!(spans(&found.over), [(3.0, 5.0)]);
    assert_eq!(spans(&found.alone), [(5.0, 9.0)]);
    // A robot whose times are a little off is nobody else.
    let late = shares(&turn(&[(0.0, 6.0)]), &[(1.9, 7.0)]);
    assert_eq!((late.own.len(), late.alone.len()), (1, 0));
}

/// Mixtures by `benches/barge_in.py`: `ENGRAM_MIXES=FOLDER cargo test over::tests::mixtures -- --ignored --nocapture`.
#[test]
#[ignore = "prints figures"]
fn mixtures_of_robots_and_people() {
    let (Some(folder), Some(file)) =
        (std::env::var_os("ENGRAM_MIXES"), model("pyannote_segmentation.onnx"))
    else {
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let labels = std::fs::read_to_string(folder.join("labels.json")).unwrap();
    let labels: Vec<serde_json::Value> = serde_json::from_str(&labels).unwrap();
    let mut network = Pyannote::open(&file, crate::runtime::onnx::Device::Cpu).unwrap();
    let settings = crate::config::VoicePerception::default();
    let split = SplitSettings::default();
    let (mut heard, mut invented) = (0, 0);
    for label in &labels {
        let time = |key: &str, n: usize| label[key][n].as_f64().unwrap();
        let own = Span::new(at(time("robot", 0)), at(time("robot", 1) + 0.3));
        let person = Span::new(at(time("person", 0)), at(time("person", 1)));
        let mut over = |name: String| {
            let raws =
                crate::perceive::voice::bench::turns_of(&sound(&folder.join(name)), &settings)
                    .unwrap();
            let mut found = Vec::new();
            for raw in raws {
                let network = Some(&mut network as &mut dyn SpeakerSegmentation);
                let mut listener = Listener {
                    network,
                    voice: None,
                    unlike: 0.3,
                    min_embed_secs: 1.0,
                    split: &split,
                };
                let Shares { over, alone, .. } = listener.shares(&raw, &[own]).unwrap();
                found.extend(over.into_iter().chain(alone).map(|part| part.span));
            }
            found
        };
        let found = over(format!("m{}.wav", label["n"]));
        let common: f64 = found.iter().map(|span| span.overlap_secs(person)).sum();
        let share = common / person.secs();
        let alone = over(format!("r{}.wav", label["n"]));
        heard += usize::from(share >= 0.5);
        invented += alone.len();
        println!(
            "{} {}: {share:.2} of the person, {} turns of the robot alone",
            label["n"],
            label["voice"],
            alone.len()
        );
    }
    println!("{heard} of {} heard, {invented} invented", labels.len());
}

#[test]
fn a_reader_over_another_is_heard_beside_it() {
    let reader = |name: &str, n: usize| {
        let folder = shared(&format!("recordings/audio/librispeech/{name}"))?;
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        Some(sound(&files[n]))
    };
    let (Some(file), Some(robot), Some(person)) =
        (model("pyannote_segmentation.onnx"), reader("1998", 0), reader("2609", 0))
    else {
        return;
    };
    let rate = SAMPLE_RATE as usize;
    let (robot, person) = (&robot[..6 * rate], &person[rate / 2..5 * rate / 2]);
    let power = |sound: &[f32]| sound.iter().map(|v| v * v).sum::<f32>() / sound.len() as f32;
    let gain = (power(robot) / power(person)).sqrt();
    let mut mixed = robot.to_vec();
    mixed[2 * rate..4 * rate].iter_mut().zip(person).for_each(|(a, b)| *a += gain * b);
    let mut network = Pyannote::open(&file, crate::runtime::onnx::Device::Cpu).unwrap();
    let split = SplitSettings::default();
    let mut over = |sound: &[f32]| {
        let activity = vec![0.9; sound.len() / STEP];
        let raw = RawTurn::new(SourceId::new("mic"), at(0.0), sound.into(), activity, 0.5);
        let network = Some(&mut network as &mut dyn SpeakerSegmentation);
        let mut listener =
            Listener { network, voice: None, unlike: 0.3, min_embed_secs: 1.0, split: &split };
        listener.shares(&raw, &[Span::new(at(0.0), at(7.0))]).unwrap().over
    };
    let found = over(&mixed);
    let common: f64 =
        found.iter().map(|part| part.span.overlap_secs(Span::new(at(2.0), at(4.0)))).sum();
    assert!(common > 1.0, "{:?}", spans(&found));
    assert_eq!(over(robot).len(), 0, "nobody speaks over it");
}
