//! Hours of cameras and microphones whose clocks run fast or slowly, against a test's clock: what comes of them is taken by
//! the same taps, clocks, blocks and merge as of real ones.

use std::sync::{Arc, Mutex};

use crossbeam_channel::{Sender, unbounded};

use super::clock::CaptureClock;
use super::frame_tap::{CameraState, FrameTap};
use super::sound_tap::SoundTap;
use super::supervise::Device;
use super::*;
use crate::capture::audio::blocks::BLOCK_SAMPLES;
use crate::media::Picture;
use crate::window::ClipClock;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3_600 * SECOND;
const FPS: i64 = 30;

fn start() -> Timestamp {
    Timestamp::from_nanos(1_772_612_100 * SECOND)
}

/// A source whose device is the test.
struct Fed {
    id: SourceId,
    sound: bool,
    opened: Sender<(SourceId, BoundedChannel)>,
}

struct Quiet;

impl Device for Quiet {
    fn failure(&self) -> Option<String> {
        None
    }
}

impl Source for Fed {
    fn id(&self) -> SourceId {
        self.id.clone()
    }

    fn yields(&self) -> (bool, bool) {
        (!self.sound, self.sound)
    }

    fn open(
        &mut self,
        frames: &BoundedChannel,
        sound: &BoundedChannel,
    ) -> Result<Box<dyn Device>, CaptureError> {
        let lane = if self.sound { sound } else { frames };
        self.opened.send((self.id.clone(), lane.clone())).unwrap();
        Ok(Box::new(Quiet))
    }
}

/// What a device's stamps, and the clock that they are of, run fast by.
#[derive(Clone, Copy)]
struct Fast {
    stamps: f64,
    clock: f64,
}

fn scaled(nanos: i64, fast: f64) -> i64 {
    nanos + (nanos as f64 * fast) as i64
}

/// Cameras, then a microphone, with what they are fed through.
struct Rig {
    clocks: Clocks,
    live: LiveSources,
    cameras: Vec<FrameTap>,
    clock: CaptureClock,
    microphone: SoundTap,
}

impl Rig {
    fn new(cameras: &[&str]) -> Self {
        let wanted = FramesWanted::Analysed(5.0);
        let (clocks, (opened, lanes)) = (Clocks::of_test(start()), unbounded());
        let source = |id: &str, sound| -> Box<dyn Source> {
            Box::new(Fed { id: SourceId::new(id), sound, opened: opened.clone() })
        };
        let mut sources: Vec<_> = cameras.iter().map(|id| source(id, false)).collect();
        sources.push(source("ears", true));
        let hours = Duration::from_secs(36_000);
        let pace = Backoff { stall: hours, first_pause: hours, longest_pause: hours };
        let window = Window::default();
        let window = Window { frame_queue: wanted.queue(&window), ..window };
        let live = LiveSources::over(sources, &[], &window, pace, clocks.clone());
        let mut lanes: Vec<_> = (0..=cameras.len())
            .map(|_| lanes.recv_timeout(Duration::from_secs(60)).unwrap())
            .collect();
        let mut lane = |id: &str| {
            let place = lanes.iter().position(|(other, _)| other.as_str() == id).unwrap();
            lanes.remove(place).1
        };
        let tap = |lane| FrameTap::new(lane, Arc::new(Mutex::new(CameraState::new(wanted))));
        let cameras = cameras.iter().map(|id| tap(lane(id))).collect();
        let microphone = SoundTap::new(lane("ears"));
        Self { clocks, live, cameras, clock: CaptureClock::default(), microphone }
    }

    /// The wall clock shows so much, nanoseconds from the start.
    fn now(&self, nanos: i64) -> Timestamp {
        self.clocks.set(u64::try_from(nanos).unwrap());
        self.clocks.wall()
    }

    fn frame(&self, camera: usize, captured: i64, arrived: i64, fast: Fast) -> bool {
        let (running, now_running) = (scaled(captured, fast.stamps), scaled(arrived, fast.clock));
        let Some(taken) = self.cameras[camera].take(running, now_running, self.now(arrived)) else {
            return false;
        };
        self.cameras[camera].push(taken, (0, 0), Picture::Rgb8(Vec::<u8>::new().into()));
        true
    }

    fn sound(&mut self, captured: i64, arrived: i64, fast: Fast, samples: &[f32]) {
        let (running, now_running) = (scaled(captured, fast.stamps), scaled(arrived, fast.clock));
        let at = self.clock.capture_time(running, now_running, self.now(arrived));
        self.microphone.stamped(self.clock.health());
        self.microphone.push(at, samples);
    }

    fn next(&mut self) -> Option<Item> {
        self.live.next(Duration::ZERO)
    }

    fn dropped(&self) -> Vec<(u64, u64)> {
        let health = self.live.health();
        health.iter().map(|one| (one.dropped_frames, one.dropped_blocks)).collect()
    }
}

/// Milliseconds by which a device's delivery jitters.
fn jitter(n: i64) -> i64 {
    n * 7_919 % 13
}

/// What came out of some hours.
struct Outcome {
    /// Furthest that sound and picture lay apart from each other, and from the truth, nanoseconds.
    apart: i64,
    off: i64,
    /// Latest that a border was known, behind the wall clock, nanoseconds.
    border_late: i64,
    anchored: u64,
}

/// A camera and a microphone for so many nanoseconds. A card that is fast delivers its 1,600 samples too early, and stamps
/// them by counting.
fn run(length: i64, picture: Fast, sound: Fast) -> Outcome {
    let mut rig = Rig::new(&["eye"]);
    let samples = [0.1; BLOCK_SAMPLES];
    let (mut frames, mut runs, mut chosen) = (0_i64, 0_i64, 0_i64);
    let (mut shown, mut heard, mut apart, mut off) = (0_i64, 0_i64, 0_i64, 0_i64);
    let (mut picture_off, mut sound_off) = (0_i64, 0_i64);
    let (mut clips, mut border_late, mut sealed) = (None, 0_i64, 0_u32);
    let mut last = Timestamp::EPOCH;
    // When a run begins, by the wall: a card that is fast by its stamps alone is so by its samples.
    let begins = |run: i64| (run as f64 * 0.1e9 / (1.0 + sound.stamps)) as i64;
    loop {
        let captured = frames * SECOND / FPS;
        let seen = captured + (40 + jitter(frames)) * MS;
        let heard_at = begins(runs + 1) + (15 + jitter(runs)) * MS;
        if captured >= length {
            break;
        }
        if seen <= heard_at {
            chosen += i64::from(rig.frame(0, captured, seen, picture));
            frames += 1;
        } else {
            rig.sound(begins(runs), heard_at, sound, &samples);
            runs += 1;
        }
        let now = rig.clocks.wall();
        while let Some(item) = rig.next() {
            assert!(item.at() >= last);
            last = item.at();
            clips.get_or_insert(ClipClock::new(item.at(), 30.0));
            let at = item.at().as_nanos() - start().as_nanos();
            match item {
                Item::Frame(frame) => {
                    shown += 1;
                    picture_off = at - i64::try_from(frame.number).unwrap() * SECOND / FPS;
                    off = off.max(picture_off.abs());
                }
                Item::Block(block) => {
                    sound_off =
                        at - begins(0) - (heard as f64 / 16e3 * 1e9 / (1.0 + sound.stamps)) as i64;
                    heard += block.samples.len() as i64;
                    off = off.max(sound_off.abs());
                }
                Item::Pose(..) | Item::Words(_) => unreachable!(),
            }
            apart = apart.max((picture_off - sound_off).abs());
        }
        let Some(clips) = clips else { continue };
        let watermark = rig.live.watermark();
        while clips.span(sealed).end <= watermark {
            border_late = border_late.max(now.as_nanos() - clips.span(sealed).end.as_nanos());
            sealed += 1;
        }
    }
    // What came last waits for the other source; nothing else is missing.
    assert!(chosen - shown <= 2 && shown > length / SECOND * 5 - 5, "{chosen} {shown}");
    assert!(runs * BLOCK_SAMPLES as i64 - heard <= 5 * BLOCK_SAMPLES as i64, "{runs} {heard}");
    assert_eq!(i64::from(sealed), (length - SECOND) / (30 * SECOND), "every clip was sealed");
    assert_eq!(rig.dropped(), [(0, 0), (0, 0)]);
    let health = rig.live.health();
    assert!(health.iter().all(|one| one.refused_stamps == 0), "{health:?}");
    let anchored = health.iter().map(|one| one.anchored).sum();
    Outcome { apart, off, border_late, anchored }
}

/// Ten hours, one thread each.
#[track_caller]
fn ten_hours(pairs: &[(Fast, Fast)]) {
    let runs: Vec<_> = pairs
        .iter()
        .map(|(picture, sound)| {
            let (picture, sound) = (*picture, *sound);
            std::thread::spawn(move || run(10 * HOUR, picture, sound))
        })
        .collect();
    for one in runs {
        let Outcome { apart, off, border_late, anchored } = one.join().unwrap();
        eprintln!(
            "apart {} ms, off {} ms, borders {} ms late, anchored {anchored}",
            apart / MS,
            off / MS,
            border_late / MS
        );
        assert!(apart < 100 * MS && off < 100 * MS, "{apart} {off}");
        assert!(border_late < 500 * MS, "{border_late}");
    }
}

#[test]
fn ten_hours_of_clocks_that_part_leave_sound_and_picture_together_and_lose_nothing() {
    let fast = |stamps, clock| Fast { stamps, clock };
    ten_hours(&[
        // A card that counts its samples, and a camera that stamps by a slow clock of its own.
        (fast(-2e-4, 0.0), fast(2e-4, 0.0)),
        // Pipelines that run by the device's clock.
        (fast(2e-4, 2e-4), fast(-2e-4, -2e-4)),
    ]);
}

#[test]
fn a_source_that_stalls_costs_no_other_one_a_frame() {
    let mut rig = Rig::new(&["eye", "stalls"]);
    let (true_clock, samples) = (Fast { stamps: 0.0, clock: 0.0 }, [0.1; BLOCK_SAMPLES]);
    let (mut chosen, mut shown, mut heard) = (0, 0, 0);
    for frame in 0..120 * FPS {
        let captured = frame * SECOND / FPS;
        let arrived = captured + 40 * MS;
        if frame % 3 == 2 {
            let run = frame / 3;
            rig.sound(run * SECOND / 10, arrived, true_clock, &samples);
        }
        // It is silent for 1.9 s, then for longer than anybody waits, then for good.
        let secs = captured / SECOND;
        let stalls = match secs {
            0..40 => secs % 10 >= 5 && captured % (10 * SECOND) < 6_900 * MS,
            40..80 => (48..54).contains(&secs) || (60..70).contains(&secs),
            _ => true,
        };
        if !stalls {
            rig.frame(1, captured, arrived, true_clock);
        }
        chosen += usize::from(rig.frame(0, captured, arrived, true_clock));
        while let Some(item) = rig.next() {
            shown +=
                usize::from(matches!(&item, Item::Frame(frame) if frame.source.as_str() == "eye"));
            heard += usize::from(matches!(item, Item::Block(_)));
        }
    }
    assert!(chosen - shown <= 1 && chosen >= 600 && heard >= 1_195, "{chosen} {shown} {heard}");
    assert_eq!(rig.dropped(), [(0, 0), (0, 0), (0, 0)]);
}
