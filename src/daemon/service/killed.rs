//! kill -9 while a household is remembered, its memory kept up and parts of it erased: nothing that was committed
//! is lost, nothing that was erased comes back, and the life ends in the same memory.
//!
//! A life is a function of the clip's number: whoever was killed goes on where the store says. `ENGRAM_KILLS` says
//! how many kills, `ENGRAM_KILLS_FROM` from which seed on.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::unbounded;
use jiff::tz::TimeZone;

use super::*;
use crate::config::{self, Engine};
use crate::geometry::Rect;
use crate::ids::{ClipId, EntityKind, ModelHash, SessionId, SourceId, TrackId, TurnId};
use crate::memorize::Upkeep;
use crate::memorize::model::{SpooledClip, SpooledTurn};
use crate::memory::model::{
    Clip, Exemplar, Ground, Media, MediaKind, Membership, NameRow, NameSource, TrackRow, TurnRow,
};
use crate::memory::{Draft, ENDS_AT, Filter, Forget, Memory, STEPS};
use crate::percept::{Embedding, Sighting, Transcript};
use crate::text::{TextEmbedder, TextError};

/// Where the process that is killed finds its store.
const STORE: &str = "ENGRAM_TEST_KILLED_LIFE";
/// Its test.
const CHILD: &str = "daemon::service::killed::lives_until_it_is_killed";
/// Clips of a life, one an hour: five days.
const CLIPS: u32 = 120;
/// Somebody comes, and something is erased, once in so many clips.
const EVERY: u32 = 6;
/// Kills that one life has to bear, at most.
const KILLS_OF_A_LIFE: usize = 25;
const MODEL: ModelHash = ModelHash([9; 32]);
const DIMENSIONS: usize = 32;

/// Words to vectors without a model: every word a seeded direction.
struct WordSum;

impl TextEmbedder for WordSum {
    fn embed(&self, text: &str) -> Result<Embedding, TextError> {
        let mut sum = vec![0.01_f32; DIMENSIONS];
        for word in text.split_whitespace() {
            let seed = word.bytes().fold(7, |seed, byte| mix(seed ^ u64::from(byte)));
            for (at, value) in sum.iter_mut().enumerate() {
                *value += (mix(seed ^ at as u64) % 2001) as f32 / 1000.0 - 1.0;
            }
        }
        Ok(Embedding::normalised(sum, MODEL))
    }

    fn model(&self) -> Option<ModelHash> {
        Some(MODEL)
    }

    fn dimensions(&self) -> Option<usize> {
        Some(DIMENSIONS)
    }
}

/// SplitMix64's step: a number that looks like chance.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn begins(clip: u32) -> Timestamp {
    Timestamp::from_nanos(1_772_323_200_000_000_000).plus_secs(f64::from(clip) * 3_600.0)
}

fn covers(clip: u32) -> Span {
    Span::new(begins(clip), begins(clip).plus_secs(30.0))
}

fn has_visitor(clip: u32) -> bool {
    clip % EVERY == 2
}

/// Names and words that stand nowhere else.
fn visitor(clip: u32) -> String {
    format!("Quill{clip:04}")
}

fn secret(clip: u32) -> String {
    format!("zanzibar{clip:04}")
}

fn visitors_secret(clip: u32) -> String {
    format!("wolframite{clip:04}")
}

fn visitors_face(clip: u32) -> Embedding {
    WordSum.embed(&format!("the face of {}", visitor(clip))).unwrap()
}

fn visitors_chip(clip: u32) -> Vec<u8> {
    format!("picture of {}", visitor(clip)).into_bytes()
}

fn bytes_of(vector: &Embedding) -> Vec<u8> {
    vector.values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn sentence_of(clip: u32) -> String {
    format!("<person_1> said: \"Do not tell anybody of the {}.\"", secret(clip))
}

/// What is erased after that clip, and what must be nowhere from then on.
fn erasure(memory: &Memory, clip: u32) -> (Forget, Vec<Vec<u8>>) {
    let of = |words: &str| words.as_bytes().to_vec();
    match clip / EVERY % 4 {
        0 => {
            let who = clip - 2;
            let id = memory.view().find_by_name(&visitor(who)).first().copied();
            let traces = vec![
                of(&visitor(who)),
                of(&visitors_secret(who)),
                bytes_of(&visitors_face(who)),
                visitors_chip(who),
            ];
            (Forget::Entity(id.unwrap_or(EntityId::ROBOT)), traces)
        }
        1 => {
            let text = sentence_of(clip - 1);
            let rows = memory.view().memories(&Filter::default());
            let id = rows.iter().find(|row| row.text == text).map(|row| row.id);
            let vector = bytes_of(&WordSum.embed(&text).unwrap());
            (Forget::Memory(id.unwrap_or_default()), vec![of(&secret(clip - 1)), vector])
        }
        2 => {
            let picture = format!("frame {:04} of the room", clip - 1);
            (Forget::Span(covers(clip - 1)), vec![of(&secret(clip - 1)), of(&picture)])
        }
        _ => {
            let before = begins(clip.saturating_sub(30));
            let gone = (0..clip).filter(|clip| covers(*clip).end < before);
            let words = gone.map(|clip| of(&secret(clip))).collect();
            (Forget::Aged(MemoryKind::Utterance, before), words)
        }
    }
}

/// Clips after which something is erased.
fn erasures() -> impl Iterator<Item = u32> {
    (0..CLIPS).filter(|clip| clip % EVERY == 4)
}

fn service(dir: &Path) -> MemoryService {
    let mut config = Config::default();
    config.store.dir = Some(dir.to_owned());
    config.models.dir = Some(dir.join("no-models"));
    config.robot.id = Some("rob".into());
    // Clips wait for a model that never comes.
    config.memorizer.kind = Engine::Model;
    let mut knowledge = Knowledge::open(&config).unwrap();
    knowledge.text = Some(Arc::new(WordSum));
    let (reports, _) = unbounded();
    let pace = PlaybackClock::new(None, false);
    let session =
        session_settings(&knowledge, pace.clone(), YieldPolicy::default(), reports).unwrap();
    let (announcer, meters) = (Announcer::default(), Meters::default());
    MemoryService::new(knowledge, session, Clock::Replay(pace), announcer, meters)
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nlife: {line}").unwrap();
    out.flush().unwrap();
}

/// Goes on with the life in the store, to its end.
fn live(dir: &Path) {
    let service = service(dir);
    let memory = service.knowledge.memory.clone();
    let session = service.session.load_full();
    let spool = session.spool.clone().unwrap();
    let view = memory.view();
    spool.settle(|clip| view.clip(clip).is_some());
    drop(view);
    let settings = config::Upkeep {
        keep_memories: 150,
        fade_days: 1.0,
        history_days: 1.5,
        reflect_importance: 12.0,
        ..config::Upkeep::default()
    };
    let upkeep = Upkeep::new(memory.clone(), session.memorizer.clone(), settings, TimeZone::UTC);
    let next = memory.view().clips(None).last().map_or(0, |clip| clip.id.index + 1);
    // What was due when it was killed.
    for clip in next.saturating_sub(1)..CLIPS {
        if clip >= next {
            say(&format!("upkeep {clip}"));
            let done = upkeep.run(begins(clip)).unwrap();
            say(&format!("did {} {} {}", done.concluded, done.folded, done.compacted));
            say(&format!("clip {clip}"));
            remember(&memory, &session, clip);
            say(&format!("kept {clip}"));
        }
        let done = erased_so_far(&memory);
        if erasures().nth(done) == Some(clip) {
            let (what, _) = erasure(&memory, clip);
            say(&format!("erase {done}"));
            service.erase(&[what], covers(clip).end).unwrap();
            say(&format!("erased {done}"));
        }
    }
}

/// Erasures whose transaction is through.
fn erased_so_far(memory: &Memory) -> usize {
    let count = memory.with_db("test", |db| {
        db.query_row("SELECT count(*) FROM audit", [], |row| row.get::<_, i64>(0))
    });
    usize::try_from(count.unwrap()).unwrap()
}

/// Ava and Ben talk; now and then somebody visits.
fn remember(memory: &Memory, session: &SessionSettings, index: u32) {
    let span = covers(index);
    let mut draft = memory.begin(span.end);
    if index == 0 {
        draft.new_session(span.start, 30.0, None);
    }
    let clip = ClipId { session: SessionId(1), index };
    let (mut faces, mut people) = (BTreeMap::new(), BTreeMap::new());
    let meet = |name: &str, draft: &mut Draft| {
        let (face, person) =
            (draft.new_entity(EntityKind::Face), draft.new_entity(EntityKind::Person));
        let (reason, decreed) = ("test".to_owned(), false);
        draft.membership(Membership { part: face, person, reason, decreed });
        let (name, source) = (name.to_owned(), NameSource::Said);
        draft.name(NameRow { entity: person, name, since: span.start, source, turn: None });
        (face, person)
    };
    if index == 0 {
        meet("Ava", &mut draft);
        meet("Ben", &mut draft);
    }
    for number in [1, 2] {
        faces.insert(number, EntityId::new(EntityKind::Face, number));
        people.insert(number, EntityId::new(EntityKind::Person, number));
    }
    if has_visitor(index) {
        let (face, person) = meet(&visitor(index), &mut draft);
        faces.insert(3, face);
        people.insert(3, person);
        let chip = Media::new(MediaKind::FaceChip, true, visitors_chip(index));
        draft.exemplar(Exemplar {
            entity: face,
            slot: 0,
            at: span.start,
            embedding: visitors_face(index),
            quality: 0.8,
            weight: 1.0,
            media: Some(chip.digest.clone()),
        });
        draft.media(chip);
    }
    let frame = Media::new(
        MediaKind::KeyFrame,
        false,
        format!("frame {index:04} of the room").into_bytes(),
    );
    draft.clip(Clip {
        id: clip,
        span,
        frames: 750,
        analysed: 150,
        dropped: 0,
        key_frames: vec![(SourceId::new("front"), span.start.plus_secs(1.0), frame.digest.clone())],
    });
    draft.media(frame);
    for (number, face) in &faces {
        let start = span.start.plus_secs(f64::from(*number));
        let bbox = Rect { x: 10.0, y: 20.0, w: 64.0, h: 80.0 };
        draft.track(TrackRow {
            clip,
            track: TrackId(u64::from(index * 8 + number)),
            source: SourceId::new("front"),
            span: Span::new(start, start.plus_secs(5.0)),
            sightings: [Sighting { at: start, bbox, score: 0.9, bearing: None }]
                .into_iter()
                .collect(),
            face: Some(*face),
            confidence: 0.9,
            picture: false,
            body: false,
            colours: None,
        });
        let text = format!("<{}> was in view of front for 5 s.", people[number]);
        let grounds = vec![Ground::Track(clip, TrackId(u64::from(index * 8 + number)))];
        put(&mut draft, MemoryKind::Episodic, text, start, (clip, grounds));
    }
    let mut said = vec![
        (1, sentence_of(index)),
        (2, format!("<person_2> said: \"Is there coffee left, at {index}?\"")),
    ];
    if let Some(guest) = people.get(&3) {
        said.push((3, format!("<{guest}> said: \"I lost my {}.\"", visitors_secret(index))));
        said.push((2, format!("<person_2> said: \"Welcome, {}!\"", visitor(index))));
    }
    let mut spooled = Vec::new();
    for (number, (who, text)) in said.into_iter().enumerate() {
        let start = span.start.plus_secs(6.0 + 5.0 * number as f64);
        let turn = TurnId(u64::from(index * 8) + number as u64);
        let words = text.split('"').nth(1).unwrap_or_default().to_owned();
        draft.turn(TurnRow {
            clip,
            turn,
            source: SourceId::new("head"),
            span: Span::new(start, start.plus_secs(4.0)),
            speech_secs: 3.5,
            voice: None,
            confidence: 0.9,
            words: Some(Transcript { text: words.clone(), ..Transcript::default() }),
            sound: None,
        });
        let grounds = vec![Ground::Turn(clip, turn)];
        put(&mut draft, MemoryKind::Utterance, text, start, (clip, grounds));
        let person = Some(people[&who]);
        let span = Span::new(start, start.plus_secs(4.0));
        spooled.push(SpooledTurn { turn, voice: None, person, span, words });
    }
    let state = faces.get(&3).map_or(Vec::new(), |_| bytes_of(&visitors_face(index)));
    draft.checkpoint(SessionId(1), clip, state);
    let spool = session.spool.as_ref().unwrap();
    let waiting = SpooledClip {
        clip,
        span,
        pictures: Vec::new(),
        faces: Vec::new(),
        turns: spooled,
        sound: None,
        place: None,
    };
    spool.put(&waiting).unwrap();
    draft.commit().unwrap();
    spool.release(clip);
    if has_visitor(index) {
        let answer = format!("{{\"answer\":\"{} is here.\"}}", visitor(index));
        memory.remember_answer("Who is here?", &answer, span.end).unwrap();
    }
}

fn put(
    draft: &mut Draft,
    kind: MemoryKind,
    text: String,
    at: Timestamp,
    (clip, grounds): (ClipId, Vec<Ground>),
) {
    let entities = crate::mention::mentions(&text).into_iter().map(|one| one.entity).collect();
    let vector = WordSum.embed(&text).unwrap();
    let row = MemoryRow {
        id: draft.new_memory_id(),
        clip: Some(clip),
        grounds,
        importance: 0.4,
        origin: "builtin".to_owned(),
        ..MemoryRow::told(kind, text, Span::new(at, at.plus_secs(4.0)), entities)
    };
    draft.memory(row, Some(vector));
}

/// Not a test of its own: what the process that is killed runs.
#[test]
fn lives_until_it_is_killed() {
    if let Ok(dir) = std::env::var(STORE) {
        live(Path::new(&dir));
    }
}

/// A running life.
struct Liveness {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    said: Vec<String>,
}

impl Liveness {
    fn begin(dir: &Path) -> Self {
        Self::until(dir, "")
    }

    /// One that ends at a step of erasing.
    fn until(dir: &Path, step: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", CHILD, "--nocapture"])
            .env(STORE, dir)
            .env(ENDS_AT, step)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, said: Vec::new() }
    }

    /// What it says next; `None` at its end.
    fn next(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            if let Some(said) = line.strip_prefix("life: ") {
                self.said.push(said.to_owned());
                return Some(said.to_owned());
            }
        }
    }

    /// Kills it; gives back everything that it said.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        while self.next().is_some() {}
        self.child.wait().unwrap();
        self.said
    }

    fn end(mut self) {
        while self.next().is_some() {}
        assert!(
            self.child.wait().unwrap().success(),
            "the life failed after {:?}",
            self.said.last()
        );
    }
}

/// The newest number that was said with the word.
fn newest(said: &[String], word: &str) -> Option<u32> {
    said.iter().rev().find_map(|line| line.strip_prefix(word)?.trim().parse().ok())
}

/// Every file under the store, read whole.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push((path.display().to_string(), fs::read(path).unwrap())),
        }
    }
    found
}

/// Nothing of the first `count` erasures is anywhere.
fn assert_gone(dir: &Path, memory: &Memory, count: usize) {
    let files = files(dir);
    for clip in erasures().take(count) {
        for trace in erasure(memory, clip).1 {
            for (path, bytes) in &files {
                let found = bytes.windows(trace.len()).any(|window| window == trace);
                let trace = String::from_utf8_lossy(&trace);
                assert!(!found, "{trace:?}, erased after clip {clip}, is in {path}");
            }
        }
    }
}

/// A life that nobody kills: its hash, and how long its steps took.
fn whole() -> (String, BTreeMap<String, Duration>) {
    let dir = tempfile::tempdir().unwrap();
    let mut life = Liveness::begin(dir.path());
    let (mut longest, mut since) = (BTreeMap::<String, Duration>::new(), Instant::now());
    let mut before = String::new();
    while let Some(line) = life.next() {
        let took = since.elapsed();
        let known = longest.entry(std::mem::take(&mut before)).or_default();
        *known = took.max(*known);
        before = line.split(' ').next().unwrap_or_default().to_owned();
        since = Instant::now();
    }
    let mut did = [0_u64; 3];
    for line in life.said.iter().filter_map(|line| line.strip_prefix("did ")) {
        for (sum, count) in did.iter_mut().zip(line.split(' ')) {
            *sum += count.parse::<u64>().unwrap();
        }
    }
    life.end();
    let memory = Memory::open_read_only(dir.path(), None).unwrap();
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    let view = memory.view();
    assert_eq!(view.clips(None).len(), CLIPS as usize);
    println!("upkeep concluded, folded, let go of: {did:?}");
    assert!(did[1] > 0, "nothing was folded");
    assert_eq!(erased_so_far(&memory), erasures().count());
    assert_gone(dir.path(), &memory, erasures().count());
    (memory.hash(), longest)
}

#[test]
fn kill_9_loses_nothing_and_brings_nothing_back() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let from = number("ENGRAM_KILLS_FROM").unwrap_or(0);
    let kills = number("ENGRAM_KILLS").unwrap_or(6);
    let (hash, longest) = whole();
    let mut inside: BTreeMap<String, usize> = BTreeMap::new();
    let mut done = 0;
    while done < kills {
        let dir = tempfile::tempdir().unwrap();
        let (mut kept, mut erased) = (None, 0);
        for _ in 0..KILLS_OF_A_LIFE.min(kills - done) {
            let seed = mix((from + done) as u64);
            let word = ["erase", "upkeep", "clip", "erased"][(seed % 4) as usize];
            let mut left = 1 + (seed >> 8) % if word.starts_with("erase") { 2 } else { 8 };
            let mut life = Liveness::begin(dir.path());
            while left > 0 {
                let Some(line) = life.next() else { break };
                left -= u64::from(line.split(' ').next() == Some(word));
            }
            if left > 0 {
                // It came to its end before.
                life.end();
                break;
            }
            let most = longest.get(word).map_or(1, |most| most.as_micros() as u64).max(1);
            std::thread::sleep(Duration::from_micros((seed >> 16) % most));
            let said = life.kill();
            done += 1;
            let last = said.last().and_then(|line| line.split(' ').next()).unwrap_or_default();
            *inside.entry(last.to_owned()).or_default() += 1;
            kept = newest(&said, "kept ").max(kept);
            erased = newest(&said, "erased ").map_or(0, |last| last as usize + 1).max(erased);
            // As it lies there: what was confirmed is gone already.
            let memory = Memory::open_read_only(dir.path(), None).unwrap();
            assert_gone(dir.path(), &memory, erased);
            assert_eq!(memory.check().unwrap().faults, Vec::<String>::new(), "after {last}");
            drop(memory);
            let service = service(dir.path());
            let memory = &service.knowledge.memory;
            let newest_clip = memory.view().clips(None).last().map(|clip| clip.id.index);
            assert!(newest_clip >= kept, "{kept:?} was kept, {newest_clip:?} is there");
            assert!(erased_so_far(memory) >= erased);
            assert_gone(dir.path(), memory, erased_so_far(memory));
        }
        Liveness::begin(dir.path()).end();
        let memory = Memory::open_read_only(dir.path(), None).unwrap();
        assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
        assert_gone(dir.path(), &memory, erasures().count());
        assert_eq!(memory.hash(), hash, "after {done} kills from seed {from}");
    }
    println!("{kills} kills, by what had been said last: {inside:?}");
}

#[test]
fn an_end_at_any_step_of_erasing_leaves_it_done_or_not_begun() {
    let (hash, _) = whole();
    let dir = tempfile::tempdir().unwrap();
    let erased = || erased_so_far(&Memory::open_read_only(dir.path(), None).unwrap());
    // Twice: the erasures are of different kinds.
    for step in STEPS.iter().chain(&STEPS) {
        let before = if dir.path().join("engram.db").exists() { erased() } else { 0 };
        let mut life = Liveness::until(dir.path(), step);
        while life.next().is_some() {}
        assert!(!life.child.wait().unwrap().success(), "nothing ended at {step:?}");
        let memory = Memory::open_read_only(dir.path(), None).unwrap();
        let done = erased_so_far(&memory);
        let place = STEPS.iter().position(|known| known == step).unwrap();
        // The commit is the step at which it is done.
        let committed = STEPS.iter().position(|known| *known == "committed").unwrap();
        assert_eq!(done, before + usize::from(place >= committed), "{step}");
        assert_eq!(memory.check().unwrap().faults, Vec::<String>::new(), "after {step}");
        // What the log of a process that is gone still holds goes with the next start.
        drop(memory);
        let service = service(dir.path());
        assert_eq!(erased_so_far(&service.knowledge.memory), done, "{step}");
        assert_gone(dir.path(), &service.knowledge.memory, done);
    }
    Liveness::begin(dir.path()).end();
    let memory = Memory::open_read_only(dir.path(), None).unwrap();
    assert_eq!(memory.check().unwrap().faults, Vec::<String>::new());
    assert_gone(dir.path(), &memory, erasures().count());
    assert_eq!(memory.hash(), hash);
}
