//! Development only.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
use super::testing::TestLedger;
use super::*;
use crate::bench::{labels::Labels, perception};
use crate::config::FacePerception;
use crate::ids::{ModelHash, SessionId};
use crate::perceive::face::*;
use crate::percept::*;
use crate::time::Span;

fn dir() -> std::path::PathBuf {
    "/tmp/idn".into()
}

const RECS: [&str; 3] = ["living_room", "two_people", "one_person"];

fn models(set: &str) -> FaceModels {
    let m = std::path::PathBuf::from("/work/main/target/models");
    let (detector, embedder) = if set == "edge" {
        (
            DetectorFiles::YuNet(m.join("face_det_yunet_n_640.onnx")),
            EmbedderFile {
                path: m.join("mobilefacenet.onnx"),
                kind: EmbedderKind::MobileFaceNet,
                hash: ModelHash([1; 32]),
            },
        )
    } else {
        (
            DetectorFiles::Mtcnn {
                pnet: m.join("mtcnn_pnet.onnx"),
                rnet: m.join("mtcnn_rnet.onnx"),
                onet: m.join("mtcnn_onet.onnx"),
            },
            EmbedderFile {
                path: m.join("faceapi_descriptor.onnx"),
                kind: EmbedderKind::FaceApi,
                hash: ModelHash([2; 32]),
            },
        )
    };
    FaceModels { detector, embedder: Some(embedder), device: crate::runtime::onnx::Device::Cpu }
}

fn start_of(rec: &str) -> Timestamp {
    let text = std::fs::read_to_string(format!("/work/shared/recordings/{rec}_dev.json")).unwrap();
    Labels::read(&text).unwrap().start.unwrap()
}

#[test]
#[ignore]
fn dev_dump() {
    let sets = std::env::var("SETS").unwrap_or("edge,open".into());
    let clip_secs: f64 = 30.0;
    for set in sets.split(',') {
        for rec in RECS {
            let bytes = std::fs::read(dir().join(format!("{rec}.rgb"))).unwrap();
            let settings = FacePerception::default();
            let mut analyser = FaceAnalyser::new(&models(set), &settings, 1).unwrap();
            let cam = SourceId::new("cam");
            let mut tracker = FaceTracker::new(
                cam.clone(),
                TrackerSettings::new(&settings, 5.0, analyser.gates()),
            );
            let mut cuts = CutDetector::default();
            let t0 = start_of(rec);
            let size = 640 * 480 * 3;
            let frames = bytes.len() / size;
            let end = frames as f64 * 0.2;
            let mut clips: Vec<(Span, Vec<FaceTrack>, Vec<Timestamp>)> = vec![];
            let mut looked = vec![];
            let mut k = 0u32;
            for f in 0..frames {
                let at = t0.plus_secs(f as f64 * 0.2);
                let border = t0.plus_secs(f64::from(k + 1) * clip_secs);
                if at >= border {
                    clips.push((
                        Span::new(t0.plus_secs(f64::from(k) * clip_secs), border),
                        tracker.seal(border),
                        std::mem::take(&mut looked),
                    ));
                    k += 1;
                }
                let img =
                    image::RgbImage::from_raw(640, 480, bytes[f * size..(f + 1) * size].to_vec())
                        .unwrap();
                let mut faces = analyser.analyse(&cam, at, &img).unwrap();
                faces.cut = cuts.step(Thumbnail::of(&img));
                tracker.step(&faces);
                looked.push(at);
            }
            let last = t0.plus_secs(end);
            clips.push((
                Span::new(t0.plus_secs(f64::from(k) * clip_secs), last),
                tracker.seal(last),
                looked,
            ));
            let out: Vec<ClipPercepts> = clips
                .into_iter()
                .enumerate()
                .map(|(k, (span, tracks, looked))| ClipPercepts {
                    clip: ClipId { session: SessionId(1), index: k as u32 },
                    span,
                    tracks,
                    turns: vec![],
                    poses: vec![],
                    key_frames: vec![],
                    counts: ClipCounts::default(),
                    looked: vec![(cam.clone(), looked)],
                })
                .collect();
            let blob = bincode::serde::encode_to_vec(&out, bincode::config::standard()).unwrap();
            std::fs::write(dir().join(format!("{rec}.{set}.faces")), blob).unwrap();
            println!(
                "{set} {rec}: {} clips {} tracks",
                out.len(),
                out.iter().map(|c| c.tracks.len()).sum::<usize>()
            );
        }
    }
}

fn turns(rec: &str) -> Vec<SpeechTurn> {
    let value: serde_json::Value = serde_json::from_str(
        &std::fs::read_to_string(dir().join(format!("{rec}.turns.json"))).unwrap(),
    )
    .unwrap();
    let t0 = start_of(rec);
    value
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(i, t)| {
            let f = |k: &str| t[k].as_f64().unwrap();
            SpeechTurn {
                id: TurnId(i as u64),
                source: SourceId::new("mic"),
                span: Span::new(t0.plus_secs(f("start")), t0.plus_secs(f("end"))),
                speech_secs: f("speech"),
                level_dbfs: -20.0,
                embedding: Some(Embedding::normalised(
                    t["emb"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|v| v.as_f64().unwrap() as f32)
                        .collect(),
                    ModelHash([9; 32]),
                )),
                words: None,
                overlapped: false,
                sound: vec![0.0; 100].into(),
            }
        })
        .collect()
}

#[test]
#[ignore]
fn dev_score() {
    let sets = std::env::var("SETS").unwrap_or("edge,open".into());
    for set in sets.split(',') {
        for rec in RECS {
            let Ok(blob) = std::fs::read(dir().join(format!("{rec}.{set}.faces"))) else {
                continue;
            };
            let (mut clips, _): (Vec<ClipPercepts>, usize) =
                bincode::serde::decode_from_slice(&blob, bincode::config::standard()).unwrap();
            let all = turns(rec);
            let last = clips.len() - 1;
            for (k, clip) in clips.iter_mut().enumerate() {
                clip.turns = all
                    .iter()
                    .filter(|t| {
                        clip.span.contains(t.span.end) || (k == last && t.span.end >= clip.span.end)
                    })
                    .cloned()
                    .collect();
            }
            let mut ledger = TestLedger::default();
            let faces = if set == "edge" {
                MatchThresholds::MOBILEFACENET
            } else {
                MatchThresholds::FACE_API
            };
            let mut r = Resolver::from_rows(
                &IdentityRows::default(),
                Undecided::default(),
                &Identify::default(),
                faces,
                MatchThresholds::GE2E,
            );
            for clip in &clips {
                let out = r.resolve(clip, &mut ledger);
                if std::env::var("V").is_ok() {
                    println!(
                        "-- {} new {:?}",
                        clip.clip,
                        out.new_persons.iter().map(ToString::to_string).collect::<Vec<_>>()
                    );
                    for l in &out.links {
                        println!("   link {} -> {}: {}", l.part, l.person, l.reason);
                    }
                    for l in &out.merges {
                        println!("   merge {} -> {}: {}", l.from, l.into, l.reason);
                    }
                    println!(
                        "   open tracks {} turns {}",
                        r.undecided.tracks.len(),
                        r.undecided.turns.len()
                    );
                }
            }
            r.finish(&mut ledger);
            let mut lines = vec![];
            let person = |part: Option<EntityId>| {
                part.and_then(|p| r.persons().person_of(p)).map(|p| p.to_string())
            };
            for row in ledger.tracks.values() {
                for s in &row.sightings {
                    lines.push(perception::PerceptLine::Face {
                        t: s.at,
                        source: "cam".into(),
                        bbox: [s.bbox.x, s.bbox.y, s.bbox.w, s.bbox.h],
                        track: row.track.to_string(),
                        person: person(row.face),
                    });
                }
            }
            let mut emb = vec![];
            for row in ledger.turns.values() {
                emb.push(all.iter().find(|t| t.id == row.turn).unwrap().embedding.clone());
                lines.push(perception::PerceptLine::Turn {
                    start: row.span.start,
                    end: row.span.end,
                    source: "mic".into(),
                    voice: row.voice.map(|v| v.to_string()),
                    person: person(row.voice),
                    words: None,
                });
                if std::env::var("V").is_ok() {
                    println!(
                        "   {} {:.1}-{:.1} {} {:?} {:.2}",
                        row.turn,
                        row.span.start.secs_since(start_of(rec)),
                        row.span.end.secs_since(start_of(rec)),
                        row.voice.map_or("-".into(), |v| v.to_string()),
                        person(row.voice),
                        row.confidence
                    );
                }
            }
            let labels = Labels::read(
                &std::fs::read_to_string(format!("/work/shared/recordings/{rec}_dev.json"))
                    .unwrap(),
            )
            .unwrap();
            let s = perception::score(
                &lines,
                &labels,
                None,
                Some((&emb, MatchThresholds::GE2E.accept)),
            );
            println!(
                "== {set} {rec}: {:?}\n   {:?}\n   {:?}\n   link {:?}",
                s.persons, s.face, s.voice, s.link.accuracy
            );
            for i in &s.identities {
                println!(
                    "   {:24} face {:?} {:.1}/{:.1}  voice {:?} {:.1}/{:.1} {}",
                    i.id,
                    i.face_person,
                    i.face_secs.0,
                    i.face_secs.1,
                    i.voice_person,
                    i.voice_secs.0,
                    i.voice_secs.1,
                    i.found
                );
            }
            // margins: every track against every gallery
            if std::env::var("M").is_ok() {
                let groups = r.persons().groups(EntityKind::Face);
                for clip in &clips {
                    for t in &clip.tracks {
                        let p = Probe::new(
                            t.samples.iter().map(|s| (s.embedding.clone(), s.quality)).collect(),
                        );
                        let sc: Vec<String> = groups
                            .iter()
                            .map(|(h, ids)| {
                                format!(
                                    "{h} {:.2}",
                                    r.galleries_of(ids)
                                        .iter()
                                        .map(|g| g.score(&p))
                                        .fold(-1.0f32, f32::max)
                                )
                            })
                            .collect();
                        let row = &ledger.tracks[&(clip.clip, t.id)];
                        println!(
                            "   {} {} {:.1}-{:.1} n{} q{:.2} {} | {}",
                            clip.clip,
                            t.id,
                            t.span.start.secs_since(start_of(rec)),
                            t.span.end.secs_since(start_of(rec)),
                            t.samples.len(),
                            t.samples.first().map_or(0.0, |s| s.quality),
                            row.face.map_or("-".into(), |v| v.to_string()),
                            sc.join(" ")
                        );
                    }
                }
                for e in ledger.pairs.values() {
                    println!(
                        "   pair {} {} +{:.1} -{:.1}",
                        e.face, e.voice, e.support_secs, e.against_secs
                    );
                }
            }
        }
    }
}

#[test]
#[ignore]
fn dev_cosines() {
    for set in ["edge", "open"] {
        for rec in RECS {
            let blob = std::fs::read(dir().join(format!("{rec}.{set}.faces"))).unwrap();
            let (clips, _): (Vec<ClipPercepts>, usize) =
                bincode::serde::decode_from_slice(&blob, bincode::config::standard()).unwrap();
            let labels = Labels::read(
                &std::fs::read_to_string(format!("/work/shared/recordings/{rec}_dev.json"))
                    .unwrap(),
            )
            .unwrap();
            let mut ps = vec![];
            for c in &clips {
                for t in &c.tracks {
                    let at = t.sightings[0].at.secs_since(start_of(rec));
                    let who = labels.identities.iter().position(|i| {
                        i.visible.iter().any(|(s, e, a)| {
                            *s <= at && at < *e && a.contains(t.sightings[0].bbox.centre())
                        })
                    });
                    let n: Vec<_> = t.samples.iter().map(|s| s.embedding.clone()).collect();
                    ps.push((
                        who,
                        Probe::new(
                            t.samples.iter().map(|s| (s.embedding.clone(), s.quality)).collect(),
                        ),
                        n,
                    ));
                }
            }
            let (mut same, mut diff, mut same1, mut diff1) = (vec![], vec![], vec![], vec![]);
            for i in 0..ps.len() {
                for j in i + 1..ps.len() {
                    let c = ps[i].1.cosine(&ps[j].1);
                    let s = ps[i].0 == ps[j].0;
                    if s {
                        same.push(c)
                    } else {
                        diff.push(c)
                    }
                    for a in &ps[i].2 {
                        for b in &ps[j].2 {
                            let c = a.cosine(b).unwrap();
                            if s { same1.push(c) } else { diff1.push(c) }
                        }
                    }
                }
            }
            let q = |v: &mut Vec<f32>| {
                v.sort_by(f32::total_cmp);
                if v.is_empty() {
                    return "-".to_string();
                }
                let n = v.len();
                format!(
                    "{:.3} {:.3} {:.3} {:.3} {:.3} {:.3} {:.3}",
                    v[0],
                    v[n / 20],
                    v[n / 4],
                    v[n / 2],
                    v[n * 3 / 4],
                    v[n * 19 / 20],
                    v[n - 1]
                )
            };
            println!(
                "{set} {rec} who {:?}\n  track same {}\n  track diff {}\n  sample same {}\n  sample diff {}",
                ps.iter().map(|p| p.0.map_or(-1, |w| w as i32)).collect::<Vec<_>>(),
                q(&mut same),
                q(&mut diff),
                q(&mut same1),
                q(&mut diff1)
            );
        }
    }
    // LFW folder, five people
    for set in ["edge", "open"] {
        let mut a = FaceAnalyser::new(&models(set), &FacePerception::default(), 1).unwrap();
        let mut v = vec![];
        let root = std::path::Path::new("/work/shared/recordings/faces/lfw");
        let mut dirs: Vec<_> = std::fs::read_dir(root)
            .unwrap()
            .map(|d| d.unwrap().path())
            .filter(|p| p.is_dir())
            .collect();
        dirs.sort();
        for (i, d) in dirs.iter().enumerate() {
            for f in std::fs::read_dir(d).unwrap() {
                let Ok(img) = image::open(f.unwrap().path()) else { continue };
                let faces =
                    a.analyse(&SourceId::new("x"), Timestamp::EPOCH, &img.to_rgb8()).unwrap();
                if let Some(f) =
                    faces.faces.iter().max_by(|a, b| a.bbox.area().total_cmp(&b.bbox.area()))
                    && let Some(e) = &f.embedding
                {
                    v.push((i, e.clone()));
                }
            }
        }
        let (mut same, mut diff) = (vec![], vec![]);
        for i in 0..v.len() {
            for j in i + 1..v.len() {
                let c = v[i].1.cosine(&v[j].1).unwrap();
                if v[i].0 == v[j].0 { same.push(c) } else { diff.push(c) }
            }
        }
        same.sort_by(f32::total_cmp);
        diff.sort_by(f32::total_cmp);
        println!(
            "lfw {set} n {} same min {:.3} p1 {:.3} p5 {:.3} med {:.3}; diff med {:.3} p95 {:.3} p99 {:.3} max {:.3}",
            v.len(),
            same[0],
            same[same.len() / 100],
            same[same.len() / 20],
            same[same.len() / 2],
            diff[diff.len() / 2],
            diff[diff.len() * 95 / 100],
            diff[diff.len() * 99 / 100],
            diff[diff.len() - 1]
        );
    }
}
