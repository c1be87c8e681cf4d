use std::io::Write as _;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, unbounded};
use gstreamer::prelude::ElementExt as _;

use super::gst_source::Launch;
use super::supervise::Device;
use super::*;
use crate::config::MicrophoneBackend;
use crate::media::{Frame, Picture};

const SOUND: &str = "audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved";

pub(in crate::capture) fn quick() -> Backoff {
    let ms = Duration::from_millis;
    Backoff { stall: ms(600), first_pause: ms(100), longest_pause: ms(400) }
}

pub(in crate::capture) fn camera(id: &str, pipeline: &str) -> Camera {
    Camera {
        id: id.to_owned(),
        pipeline: Some(pipeline.to_owned()),
        uri: None,
        calibration_file: None,
    }
}

fn microphone(id: &str, device: &str) -> Microphone {
    let (id, device) = (id.to_owned(), Some(device.to_owned()));
    Microphone { id, backend: MicrophoneBackend::Gstreamer, device, ..Microphone::default() }
}

/// Everything that comes within `secs`.
fn listen(live: &mut LiveSources, secs: f64) -> Vec<Item> {
    let until = Instant::now() + Duration::from_secs_f64(secs);
    let mut items = Vec::new();
    while Instant::now() < until {
        items.extend(live.next(Duration::from_millis(50)));
    }
    items
}

fn of<'a>(items: &'a [Item], source: &str) -> Vec<&'a Item> {
    items.iter().filter(|item| item.source().as_str() == source).collect()
}

fn video(rate: u32, more: &str) -> String {
    format!(
        "videotestsrc is-live=true {more} ! video/x-raw,format=I420,width=64,height=48,framerate={rate}/1 \
         ! appsink name=video sync=false"
    )
}

#[test]
fn cameras_and_microphones_come_in_event_time_order_with_the_wall_clock() {
    let tone = format!(
        "audiotestsrc is-live=true samplesperbuffer=480 ! {SOUND} ! appsink name=audio sync=false"
    );
    let began = Timestamp::wall_clock();
    let mut live = LiveSources::start(
        &[camera("door", "test"), camera("desk", &video(10, ""))],
        &[microphone("ears", &tone)],
        &Window::default(),
        FramesWanted::All,
    )
    .unwrap();
    let items = listen(&mut live, 3.0);
    assert!(items.windows(2).all(|pair| pair[0].at() <= pair[1].at()));
    for (source, least) in [("door", 40), ("door.audio", 15), ("desk", 15), ("ears", 15)] {
        assert!(of(&items, source).len() >= least, "{source}: {}", of(&items, source).len());
    }
    let (first, last) = (items[0].at(), items[items.len() - 1].at());
    assert!(first.secs_since(began) > -0.1, "{first} {began}");
    assert!(Timestamp::wall_clock().secs_since(last) < 1.0);
    assert!(live.watermark() >= last);
    assert!(live.health().iter().all(|h| h.state == SourceState::Running && h.restarts == 0));
    assert_eq!(live.clock_jump_secs(), None);
}

#[test]
fn a_source_that_dies_comes_back_and_one_that_stalls_does_not_hold_up_the_others() {
    let window = Window { idle_timeout_secs: 0.3, ..Window::default() };
    let mut live = LiveSources::start_at(
        &[
            camera("good", &video(20, "")),
            camera("dies", &video(20, "num-buffers=5")),
            camera("stalls", "videotestsrc is-live=true ! identity drop-probability=1 ! video/x-raw,format=I420 ! appsink name=video"),
            camera("missing", "v4l2src device=/dev/video99 ! appsink name=video"),
            camera("unknown", "none"),
            camera("nothing", "videotestsrc ! fakesink"),
        ],
        &[],
        &window,
        FramesWanted::All,
        quick(),
    )
    .unwrap();
    let items = listen(&mut live, 3.5);
    assert!(items.windows(2).all(|pair| pair[0].at() <= pair[1].at()));
    assert!(of(&items, "good").len() >= 40, "{}", of(&items, "good").len());
    assert!(of(&items, "dies").len() >= 10, "{}", of(&items, "dies").len());
    let health = live.health();
    let state = |id: &str| health.iter().find(|h| h.id.as_str() == id).unwrap();
    assert_eq!((state("good").restarts, state("good").state), (0, SourceState::Running));
    assert!(state("dies").restarts >= 2);
    assert!(state("stalls").last_error.as_ref().unwrap().contains("no data"));
    assert!(state("missing").restarts >= 2 && state("missing").last_error.is_some());
    assert!(state("unknown").last_error.as_ref().unwrap().contains("\"none\" not found"));
    assert!(state("nothing").last_error.as_ref().unwrap().contains("appsink"));
}

#[test]
fn the_address_of_a_camera_tells_its_pipeline() {
    let launch = |uri: &str| {
        let given = Camera { uri: Some(uri.to_owned()), pipeline: None, ..camera("c", "") };
        let Launch { name, uri, .. } = camera_launch(&given);
        (name, uri, camera_address(&given))
    };
    let (network, device) = (CameraAddress::Network, CameraAddress::Device);
    for (given, name, uri, address) in [
        ("", "v4l2", "/dev/video0", device("/dev/video0".to_owned())),
        ("/dev/front", "v4l2", "/dev/front", device("/dev/front".to_owned())),
        ("rtsp://h/x", "rtsp", "rtsp://h/x", network("rtsp://h/x".to_owned())),
        ("rtsps://h/x", "rtsp", "rtsps://h/x", network("rtsps://h/x".to_owned())),
        ("http://h/x.mjpg", "uri", "http://h/x.mjpg", network("http://h/x.mjpg".to_owned())),
        ("https://h/x", "uri", "https://h/x", network("https://h/x".to_owned())),
        ("file:///a%20b.mp4", "uri", "file:///a%20b.mp4", CameraAddress::File("/a b.mp4".into())),
        ("/a b.mp4", "uri", "file:///a%20b.mp4", CameraAddress::File("/a b.mp4".into())),
    ] {
        assert_eq!(launch(given), (name.to_owned(), uri.to_owned(), address), "{given}");
    }
    let here = std::env::current_dir().unwrap().join("film.mp4");
    assert_eq!(launch("film.mp4").2, CameraAddress::File(here));
    let uri = Some("/base/soc/cam".to_owned());
    let named = Camera { uri, ..camera("c", "libcamera") };
    assert_eq!(camera_launch(&named).uri, "/base/soc/cam");
    assert_eq!(camera_address(&named), CameraAddress::Other("/base/soc/cam".to_owned()));
}

#[test]
fn a_film_is_played_at_its_own_pace_and_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let film = folder.path().join("a film.avi");
    // One second of 20 pictures in JPEG.
    let text = format!(
        "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=64,height=48,framerate=20/1 ! jpegenc \
         ! avimux ! filesink location=\"{}\"",
        film.display()
    );
    let made = crate::capture::gst::launch::build("film", &text).unwrap();
    made.set_state(gstreamer::State::Playing).unwrap();
    let bus = made.bus().unwrap();
    let ends = [gstreamer::MessageType::Eos, gstreamer::MessageType::Error];
    let end = bus.timed_pop_filtered(gstreamer::ClockTime::from_seconds(20), &ends).unwrap();
    made.set_state(gstreamer::State::Null).unwrap();
    assert_eq!(end.type_(), gstreamer::MessageType::Eos, "{end:?}");

    let uri = Some(film.display().to_string());
    let camera = Camera { uri, pipeline: None, ..camera("film", "") };
    let pace = Backoff { stall: Duration::from_secs(3), ..quick() };
    let mut live =
        LiveSources::start_at(&[camera], &[], &Window::default(), FramesWanted::All, pace).unwrap();
    let items = listen(&mut live, 4.0);
    let times: Vec<f64> = items.iter().map(|item| item.at().secs_since(items[0].at())).collect();
    assert!(times.len() > 25, "it is played again: {times:?}");
    assert!(times.len() < 90, "and no faster than it was recorded: {times:?}");
    let health = live.health();
    assert!(health[0].restarts >= 1, "{health:?}");
    assert!(health[0].last_error.as_ref().unwrap().contains("ended"), "{health:?}");
}

/// Answers one request after the other with a JPEG each 50 ms, as network cameras do.
fn serve_pictures(listener: std::net::TcpListener) {
    let mut jpeg = Vec::new();
    let picture = image::RgbImage::from_pixel(64, 48, image::Rgb([200, 40, 40]));
    image::codecs::jpeg::JpegEncoder::new(&mut jpeg).encode_image(&picture).unwrap();
    for client in listener.incoming().flatten() {
        let mut client = std::io::BufWriter::new(client);
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=next\r\n\r\n";
        let part =
            format!("--next\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", jpeg.len());
        let mut told = client.write_all(head.as_bytes());
        while told.is_ok() {
            told = [part.as_bytes(), &jpeg, b"\r\n"]
                .iter()
                .try_for_each(|bytes| client.write_all(bytes))
                .and_then(|()| client.flush());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_network_camera_over_http_is_seen() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || serve_pictures(listener));
    let uri = Some(format!("http://{address}/video.mjpg"));
    let camera = Camera { uri, pipeline: None, ..camera("c", "") };
    let pace = Backoff { stall: Duration::from_secs(5), ..quick() };
    let mut live =
        LiveSources::start_at(&[camera], &[], &Window::default(), FramesWanted::All, pace).unwrap();
    let items = listen(&mut live, 4.0);
    assert!(items.len() > 20, "{} pictures, {:?}", items.len(), live.health());
}

#[test]
fn what_would_not_come_up_is_told_before_it_is_started() {
    let cameras = [
        camera("good", "test"),
        camera("element", "nosuchelement ! appsink name=video"),
        camera("file", "/nowhere/x.launch"),
        camera("sink", "videotestsrc ! videoconvert"),
    ];
    let tone = format!("audiotestsrc is-live=true ! {SOUND} ! appsink name=audio sync=false");
    let microphones = [microphone("ears", &tone), microphone("deaf", "audiotestsrc ! fakesink")];
    let told = without_pipeline(&cameras, &microphones);
    let names: Vec<_> = told.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(names, ["element", "file", "sink", "deaf"]);
    let why = |index: usize| told[index].1.to_string();
    assert!(why(0).contains("nosuchelement") && why(1).contains("not found"), "{told:?}");
    assert!(why(2).contains("appsink") && why(3).contains("appsink"), "{told:?}");
    assert!(!needs_sound_card(&microphones[0]) && !needs_sound_card(&microphone("p", "pulse:x")));
    assert!(needs_sound_card(&microphone("card", "hw:1,0")));
}

#[test]
fn a_slow_consumer_loses_the_oldest_frames_and_no_sound() {
    let window = Window { frame_queue: 4, ..Window::default() };
    let tone = format!(
        "audiotestsrc is-live=true samplesperbuffer=1600 ! {SOUND} ! appsink name=audio sync=false"
    );
    let mut live = LiveSources::start(
        &[camera("c", &video(30, ""))],
        &[microphone("m", &tone)],
        &window,
        FramesWanted::All,
    )
    .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let health = live.health();
    assert!(health[0].dropped_frames > 20, "{health:?}");
    assert_eq!(health[1].dropped_blocks, 0);
    let items = listen(&mut live, 0.5);
    let sound = of(&items, "m");
    assert!(sound.len() >= 15, "{}", sound.len());
    let gaps = sound.windows(2).map(|pair| pair[1].at().secs_since(pair[0].at()));
    assert!(gaps.clone().all(|gap| (gap - 0.1).abs() < 1e-6), "{:?}", gaps.collect::<Vec<_>>());
}

/// A camera that captures what a test puts into its lane.
struct Scripted {
    id: &'static str,
    opened: Sender<BoundedChannel>,
}

struct Running;

impl Device for Running {
    fn failure(&self) -> Option<String> {
        None
    }
}

impl Source for Scripted {
    fn id(&self) -> SourceId {
        SourceId::new(self.id)
    }

    fn yields(&self) -> (bool, bool) {
        (true, false)
    }

    fn open(
        &mut self,
        frames: &BoundedChannel,
        _: &BoundedChannel,
    ) -> Result<Box<dyn Device>, CaptureError> {
        self.opened.send(frames.clone()).unwrap();
        Ok(Box::new(Running))
    }
}

/// Two cameras, `desk` and `door`, that are waited for however long they are silent, and their lanes of three frames.
fn scripted() -> (LiveSources, [BoundedChannel; 2]) {
    let (opened, lanes) = unbounded();
    let source = |id| -> Box<dyn Source> { Box::new(Scripted { id, opened: opened.clone() }) };
    let window = Window { idle_timeout_secs: 3_600.0, frame_queue: 3, ..Window::default() };
    let pace = Backoff { stall: Duration::from_secs(3_600), ..quick() };
    let live = LiveSources::over(
        vec![source("desk"), source("door")],
        &[],
        &window,
        pace,
        Clocks::default(),
    );
    let mut lanes = [(); 2].map(|()| lanes.recv_timeout(Duration::from_secs(30)).unwrap());
    lanes.sort_by(|a, b| a.source.cmp(&b.source));
    (live, lanes)
}

/// Frames are captured at these seconds.
fn capture(lane: &BoundedChannel, secs: &[i64]) {
    for secs in secs {
        let at = Timestamp::from_nanos(secs * 1_000_000_000);
        let (source, picture) = (lane.source.clone(), Picture::Rgb8(Vec::<u8>::new().into()));
        lane.push(Item::Frame(Frame { source, at, number: 0, width: 0, height: 0, picture }));
    }
}

/// Source and second of everything that is due.
fn handed_out(live: &mut LiveSources) -> Vec<(String, i64)> {
    let due = std::iter::from_fn(|| live.next(Duration::ZERO));
    due.map(|item| (item.source().to_string(), item.at().as_nanos() / 1_000_000_000)).collect()
}

fn from(source: &str, secs: i64) -> (String, i64) {
    (source.to_owned(), secs)
}

#[test]
fn what_was_captured_is_handed_out_or_counted_as_dropped() {
    let (mut live, [desk, door]) = scripted();
    capture(&door, &[10, 20]);
    capture(&desk, &[15]);
    assert_eq!(handed_out(&mut live), [from("door", 10), from("desk", 15)]);
    // Of these the first comes too late.
    capture(&desk, &[12, 25]);
    assert_eq!(handed_out(&mut live), [from("door", 20)]);
    // One more than there is room for.
    capture(&door, &[30, 40, 50, 60]);
    assert_eq!(handed_out(&mut live), [from("desk", 25)]);
    let dropped: Vec<u64> = live.health().iter().map(|one| one.dropped_frames).collect();
    assert_eq!(dropped, [1, 1]);
    // The last three are never taken.
    let ended = live.finish();
    let dropped: Vec<u64> = ended.iter().map(|one| one.dropped_frames).collect();
    assert_eq!(dropped, [1, 4]);
    assert_eq!([desk.sent(), door.sent()], [2 + dropped[0], 2 + dropped[1]]);
}

#[test]
fn what_was_captured_before_a_stop_is_handed_out_and_nobody_is_waited_for() {
    let (mut live, [desk, door]) = scripted();
    capture(&door, &[10, 20]);
    assert!(handed_out(&mut live).is_empty(), "the other may have seen something before");
    live.stop();
    assert_eq!(handed_out(&mut live), [from("door", 10), from("door", 20)]);
    let ended = live.finish();
    assert!(ended.iter().all(|one| one.state == SourceState::Stopped && one.dropped_frames == 0));
    assert_eq!((desk.sent(), door.sent()), (0, 2));
}

#[test]
fn a_microphone_that_dies_loses_none_of_its_sound() {
    let tone = format!(
        "audiotestsrc is-live=true num-buffers=5 samplesperbuffer=700 ! {SOUND} ! appsink name=audio sync=false"
    );
    // It lives once.
    let hour = Duration::from_secs(3_600);
    let pace = Backoff { stall: hour, first_pause: hour, longest_pause: hour };
    let microphones = [microphone("ears", &tone)];
    let mut live =
        LiveSources::start_at(&[], &microphones, &Window::default(), FramesWanted::All, pace)
            .unwrap();
    let patience = Instant::now() + Duration::from_secs(30);
    let mut samples = 0;
    while samples < 5 * 700 && Instant::now() < patience {
        if let Some(Item::Block(block)) = live.next(Duration::from_millis(50)) {
            samples += block.samples.len();
        }
    }
    assert_eq!(samples, 5 * 700);
    let ended = live.finish();
    assert_eq!((ended[0].restarts, ended[0].dropped_blocks), (0, 0), "{ended:?}");
}

/// A camera whose driver does not come back while there is somebody who holds it, or panics where nobody does.
struct Stubborn {
    id: &'static str,
    held: Option<Receiver<()>>,
}

impl Source for Stubborn {
    fn id(&self) -> SourceId {
        SourceId::new(self.id)
    }

    fn yields(&self) -> (bool, bool) {
        (true, false)
    }

    fn open(
        &mut self,
        _: &BoundedChannel,
        _: &BoundedChannel,
    ) -> Result<Box<dyn Device>, CaptureError> {
        let Some(held) = &self.held else { panic!("no lens") };
        held.recv().ok();
        Ok(Box::new(Running))
    }
}

#[test]
fn a_source_that_hangs_is_told_of_and_left_behind_and_one_that_panics_is_started_again() {
    let (holder, held) = unbounded();
    let sources: Vec<Box<dyn Source>> = vec![
        Box::new(Stubborn { id: "hangs", held: Some(held) }),
        Box::new(Stubborn { id: "panics", held: None }),
    ];
    let live = LiveSources::over(sources, &[], &Window::default(), quick(), Clocks::default());
    let patience = Instant::now() + Duration::from_secs(30);
    let shown = || !live.hanging().is_empty() && live.health()[1].restarts >= 2;
    while !shown() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (hanging, health) = (live.hanging(), live.health());
    assert_eq!(hanging.len(), 1, "{hanging:?}");
    assert!(hanging[0].0.as_str() == "hangs" && hanging[0].1 > quick().stall, "{hanging:?}");
    assert_eq!((health[0].state, health[0].restarts), (SourceState::Starting, 0));
    let why = health[1].last_error.as_deref().unwrap();
    assert!(health[1].restarts >= 2 && why.contains("panic (no lens)"), "{health:?}");
    // Nobody waits for it when all stop.
    let asked = Instant::now();
    let ended = live.finish();
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!(ended[1].state, SourceState::Stopped);
    drop(holder);
}

#[test]
fn two_sources_of_one_name_are_refused() {
    let window = Window::default();
    let twice = [camera("a", "test"), camera("a", "test")];
    assert!(LiveSources::start(&twice, &[], &window, FramesWanted::All).is_err());
}

/// Where no card is, ALSA's own plugins stand in for one:
/// `ALSA_CONFIG_PATH=… cargo test cpal` with a default device of type `file` or `null`.
#[test]
fn a_cpal_microphone_gives_blocks_or_says_what_is_missing() {
    let microphone = Microphone {
        id: "m".to_owned(),
        backend: MicrophoneBackend::Cpal,
        ..Microphone::default()
    };
    let mut live =
        LiveSources::start_at(&[], &[microphone], &Window::default(), FramesWanted::All, quick())
            .unwrap();
    let items = listen(&mut live, 2.0);
    let health = live.health();
    match &health[0].last_error {
        Some(why) => eprintln!("SKIPPED: no microphone: {why}"),
        None => assert!(items.len() >= 10, "{} blocks, {health:?}", items.len()),
    }
}
