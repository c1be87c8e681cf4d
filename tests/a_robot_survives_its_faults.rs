//! Every fault in one run, with real parts: a camera's host dies and returns, the broker is killed three times, the
//! model server hangs, the disk is full, the clock jumps, the daemon is killed. No committed clip is lost, every
//! accepted request is answered or refused, and a replay ends in the memory of a run without any fault.
//!
//! Both take minutes on a small machine, so `make prove` runs them: each fault once, then for minutes
//! (`ENGRAM_FAULT_SECS`) with a kill -9 every 30 s whatever else is wrong at the time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::support::broker::Mosquitto;
use crate::support::companion::{Books, Companion, Kind, note};
use crate::support::daemon::Daemon;
use crate::support::faults::{NetworkCamera, SmallDisk, WallClock};
use crate::support::llm_server::{Act, LlmServer};
use crate::support::{Robot, need};

/// However slow the machine is, something is wrong when nothing has come of it by then.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often the daemon is killed in the long form.
const KILL_EVERY: Duration = Duration::from_secs(30);

/// For how long faults are to come; `None`: each comes once.
fn long_form() -> Option<Duration> {
    let secs = std::env::var("ENGRAM_FAULT_SECS").ok()?;
    Some(Duration::from_secs(secs.parse().unwrap()))
}

fn good() -> Act {
    Act::json(&json!({"answer": "On the shelf.", "evidence": [], "confidence": 0.9, "known": true}))
}

/// A clip's row: session, number, start, end, frames.
type Clip = (i64, i64, i64, i64, i64);

/// Everything that a robot needs, and that fails.
struct World {
    // Dropped in this order: the daemon before its disk, the disk before the folder that it is mounted on.
    daemon: Option<Daemon>,
    companion: Companion,
    disk: SmallDisk,
    robot: Robot,
    args: Vec<String>,
    mosquitto: Mosquitto,
    model: LlmServer,
    clock: WallClock,
    kill_every: Option<Duration>,
    killed: Instant,
    kills: u32,
    /// Clips that were seen in the store before a kill.
    committed: BTreeSet<Clip>,
}

impl World {
    /// A daemon with those arguments, up and asked; `None` where something that it needs is not installed.
    fn new(args: Vec<String>, settings: &[&str], notes: bool) -> Option<Self> {
        let mosquitto = Mosquitto::keeping()?;
        let model = LlmServer::start(|_, _| good());
        let mut robot = Robot::new("edge")
            .set("robot.id=rob")
            .set(&format!("mqtt.broker=mqtt://127.0.0.1:{}", mosquitto.port))
            .set(&format!("llm.base_url={}", model.base_url()))
            .set("llm.model=tiny")
            .set("llm.retries=0")
            .set("answerer.kind=model")
            .set("answerer.queue=10000")
            .set("answerer.model_queue=10000");
        for setting in settings {
            robot = robot.set(setting);
        }
        let disk = SmallDisk::mount(robot.dir.path(), 256)?;
        let clock = WallClock::new()?;
        let mut companion = Companion::connect(mosquitto.port);
        companion.ask_on(notes);
        let mut world = Self {
            robot,
            args,
            disk,
            mosquitto,
            model,
            clock,
            companion,
            daemon: None,
            kill_every: None,
            killed: Instant::now(),
            kills: 0,
            committed: BTreeSet::new(),
        };
        world.start();
        world.until("the daemon", Books::is_online);
        Some(world)
    }

    fn start(&mut self) {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let mut command = self.robot.command(&args);
        self.clock.given_to(&mut command);
        self.daemon = Some(Daemon::spawn(command));
    }

    /// Waits until it is so, and kills the daemon whenever that is due.
    fn until(&mut self, what: &str, is_so: impl Fn(&Books) -> bool) {
        self.until_some(what, |world| is_so(&world.companion.books()));
    }

    fn until_some(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let mut began = Instant::now();
        while !is_so(self) {
            let waited = began.elapsed();
            if waited > PATIENCE {
                let books = self.companion.books();
                panic!("no {what} for {PATIENCE:?}: {} open, {}", books.open(), books.status);
            }
            thread::sleep(Duration::from_millis(20));
            if let Some(code) = self.daemon.as_mut().and_then(Daemon::ended) {
                panic!("waiting for {what}: the daemon has ended by itself: {code:?}");
            }
            if self.kill_every.is_some_and(|every| self.killed.elapsed() > every) {
                self.kill();
                began = Instant::now();
            }
        }
        println!("{:6.1} s after the last kill: {what}", self.killed.elapsed().as_secs_f64());
    }

    /// What the store holds.
    fn clips(&self) -> BTreeSet<Clip> {
        clips(self.robot.dir.path())
    }

    /// kill -9, and up again.
    fn kill(&mut self) {
        self.kill_only();
        self.start();
    }

    fn kill_only(&mut self) {
        self.committed.extend(self.clips());
        self.daemon.take().unwrap().kill();
        self.killed = Instant::now();
        self.kills += 1;
        self.nothing_is_lost();
    }

    fn nothing_is_lost(&self) {
        let kept = self.clips();
        let lost: Vec<_> = self.committed.difference(&kept).collect();
        assert!(lost.is_empty(), "lost after {} kills: {lost:?}", self.kills);
    }

    /// The broker dies and returns.
    fn broker(&mut self) {
        self.mosquitto.kill();
        thread::sleep(Duration::from_millis(700));
        self.mosquitto.run();
        self.answers("an answer through the new broker");
    }

    /// What is asked from now on is answered.
    fn answers(&mut self, what: &str) {
        let asked = self.companion.books().next();
        self.until(what, |books| {
            books.answered(Kind::Fast, asked, |reply| reply["answer"].is_string()) > 0
        });
    }

    /// The model server hangs; questions for it fall back.
    fn model_hangs(&mut self) {
        self.model.now(|_, _| Act::Stall);
        let asked = self.companion.books().next();
        self.until("a built-in answer in the model's place", |books| {
            books.answered(Kind::Deep, asked, |reply| reply["engine"] == "builtin") > 0
        });
    }

    fn model_is_back(&mut self) {
        self.model.now(|_, _| good());
        let asked = self.companion.books().next();
        self.until("an answer of the model", |books| {
            books.answered(Kind::Deep, asked, |reply| reply["engine"] == "model:tiny") > 0
        });
    }

    fn disk_fills(&mut self) {
        self.disk.fill();
        self.until("the full disk in the status", |books| {
            books.is_degraded("remembering: the disk")
        });
        self.answers("an answer beside the full disk");
    }

    fn disk_is_freed(&mut self) {
        self.disk.free();
        let before = self.clips();
        self.until_some("a clip after the full disk", |world| world.clips().len() > before.len());
        self.until("a status without the full disk", |books| {
            books.is_online() && !books.is_degraded("remembering: the disk")
        });
    }

    fn clock_jumps(&mut self, secs: i64) {
        let before = self.companion.books().status["session"].clone();
        self.clock.jump(secs);
        self.until("a session of its own after the jump", |books| {
            let session = &books.status["session"];
            books.is_online() && session.is_string() && *session != before
        });
    }

    /// Everything asked so far has its reply.
    fn settle(&mut self) {
        self.until("replies to everything", |books| books.open() == 0);
    }

    /// Stops asking, waits for the last replies, stops the daemon, and looks at what is left.
    fn end(&mut self) {
        self.kill_every = None;
        self.companion.stop_asking();
        self.settle();
        self.committed.extend(self.clips());
        let (code, took) = self.daemon.take().unwrap().terminate();
        assert_eq!(code, Some(0), "stopped in {took:?}");
        self.nothing_is_lost();
        let checked = self.robot.run(&["check"]);
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
        self.keeps_its_word();
    }

    /// What was acknowledged was done, once; what was refused was done once at most.
    fn keeps_its_word(&self) {
        let books = self.companion.books();
        let db = open(self.robot.dir.path()).unwrap();
        let mut count = db
            .prepare("SELECT count(*) FROM memory WHERE text = ? AND retired_seq IS NULL")
            .unwrap();
        let mut tally: BTreeMap<String, usize> = BTreeMap::new();
        for (number, asked) in &books.asked {
            assert!(!asked.replies.is_empty(), "{number}: {asked:?}");
            let refused = asked.replies.iter().find_map(|reply| reply["error"]["code"].as_str());
            let done = asked.replies.iter().any(|reply| reply["error"].is_null());
            let word = if done { "done" } else { refused.unwrap_or("?") };
            *tally.entry(format!("{:?} {word}", asked.kind)).or_default() += 1;
            if asked.kind == Kind::Note {
                let kept: u32 = count.query_row([note(*number)], |row| row.get(0)).unwrap();
                assert!(kept <= 1 && (kept == 1 || !done), "kept {kept} times: {asked:?}");
            }
        }
        println!("{} kills, {} clips, {tally:?}", self.kills, self.clips().len());
    }
}

fn open(dir: &Path) -> Option<Connection> {
    Connection::open_with_flags(dir.join("engram.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()
}

fn clips(dir: &Path) -> BTreeSet<Clip> {
    let Some(db) = open(dir) else { return BTreeSet::new() };
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    let Ok(mut rows) = db.prepare(
        "SELECT session, clip, start, \"end\", frames FROM clip WHERE retired_seq IS NULL",
    ) else {
        return BTreeSet::new();
    };
    let row = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
    };
    rows.query_map([], row).unwrap().map(Result::unwrap).collect()
}

#[test]
#[ignore = "minutes of faults; run by make prove"]
fn no_clip_and_no_request_is_lost_whatever_goes_wrong() {
    let recording = need!("recordings/two_people_dev.mp4");
    let Some(mut camera) = NetworkCamera::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("engram.toml");
    // A camera that dies, and a room that goes on.
    let text = format!(
        "[window]\nclip_secs = 5.0\n\n[[camera]]\nid = \"front\"\npipeline = \"{}\"\n\n\
         [[camera]]\nid = \"room\"\npipeline = \"\"\"\nfilesrc location={} ! decodebin name=file\n\
         file. ! queue ! videoconvert ! video/x-raw,format=I420 ! identity sync=true ! appsink name=video\n\
         file. ! queue ! audioconvert ! audioresample !\n\
         audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! identity sync=true !\n\
         appsink name=audio\n\"\"\"\n",
        camera.pipeline(),
        recording.display()
    );
    std::fs::write(&config, text).unwrap();
    let args = ["run", "--config", config.to_str().unwrap()].map(str::to_owned);
    let Some(mut world) = World::new(args.into(), &[], true) else { return };
    let began = Instant::now();
    world.until_some("the first clip", |world| !world.clips().is_empty());
    let long = long_form();
    world.kill_every = long.map(|_| KILL_EVERY);
    loop {
        camera.unplug();
        world.until("the camera in the status", |books| books.is_degraded("front: "));
        world.model_hangs();
        world.broker();
        world.kill();
        world.model_is_back();
        camera.plug_in();
        world.until("a status without the camera", |books| {
            books.is_online() && !books.is_degraded("front: ")
        });
        world.disk_fills();
        world.broker();
        world.disk_is_freed();
        world.clock_jumps(3600);
        // While the broker is away the daemon is killed, too.
        world.settle();
        world.mosquitto.kill();
        world.kill();
        world.broker();
        world.clock_jumps(-7200);
        if long.is_none_or(|long| began.elapsed() > long) {
            break;
        }
    }
    world.end();
}

#[test]
#[ignore = "minutes of faults; run by make prove"]
fn a_replay_through_every_fault_ends_in_the_same_memory() {
    let recording = need!("recordings/two_people_dev.mp4");
    let settings = ["window.clip_secs=5"];
    let path = recording.to_str().unwrap();
    let whole = Robot::new("edge").set(settings[0]);
    whole.replay(&recording, &[]);
    let began = Instant::now();
    let mut rounds = 0;
    loop {
        // At twice the recording's speed there is time for faults.
        let rate = if long_form().is_some() { "1" } else { "4" };
        let args = ["replay", path, "--rate", rate, "--serve", "--no-keys"].map(str::to_owned);
        let Some(mut world) = World::new(args.into(), &settings, false) else { return };
        world.kill_every = long_form().map(|_| Duration::from_secs(7 + rounds % 4));
        world.until_some("the first clip", |world| !world.clips().is_empty());
        world.broker();
        world.model_hangs();
        world.kill();
        world.until_some("the third clip", |world| world.clips().len() >= 3);
        world.companion.command("replay/pause");
        world.settle();
        world.broker();
        world.clock.jump(3600);
        world.disk.fill();
        world.companion.command("replay/resume");
        world.until("the full disk in the status", |books| {
            books.is_degraded("remembering: the disk")
        });
        world.kill();
        world.answers("an answer of a daemon that was started on a full disk");
        world.disk.free();
        world.until_some("the sixth clip", |world| world.clips().len() >= 6);
        world.broker();
        world.kill();
        world.until_some("the end of the recording", |world| is_finished(world.robot.dir.path()));
        world.end();
        assert_eq!(world.robot.hash(), whole.hash(), "after {} kills", world.kills);
        rounds += 1;
        if long_form().is_none_or(|long| began.elapsed() > long) {
            return;
        }
    }
}

/// Whether the store's recording was played to its end.
fn is_finished(dir: &Path) -> bool {
    let Some(db) = open(dir) else { return false };
    let finished = "SELECT count(*) FROM session WHERE finished = 1 AND retired_seq IS NULL";
    db.query_row(finished, [], |row| row.get::<_, u32>(0)).is_ok_and(|count| count > 0)
}
