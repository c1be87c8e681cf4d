use std::time::{Duration, Instant};

use super::*;

const SOUND: &str = "audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved";

fn quick() -> Pace {
    let ms = Duration::from_millis;
    Pace { stall: ms(600), first_pause: ms(100), longest_pause: ms(400) }
}

fn camera(id: &str, pipeline: &str) -> Camera {
    Camera {
        id: id.to_owned(),
        pipeline: Some(pipeline.to_owned()),
        uri: None,
        calibration_file: None,
    }
}

fn microphone(id: &str, device: &str) -> Microphone {
    let (id, device) = (id.to_owned(), Some(device.to_owned()));
    Microphone { id, backend: MicrophoneBackend::Gstreamer, device, offset_secs: 0.0 }
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
        ],
        &[],
        &window,
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
}

#[test]
fn a_slow_consumer_loses_the_oldest_frames_and_no_sound() {
    let window = Window { frame_queue: 4, ..Window::default() };
    let tone = format!(
        "audiotestsrc is-live=true samplesperbuffer=1600 ! {SOUND} ! appsink name=audio sync=false"
    );
    let mut live =
        LiveSources::start(&[camera("c", &video(30, ""))], &[microphone("m", &tone)], &window)
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

#[test]
fn two_sources_of_one_name_are_refused() {
    let window = Window::default();
    let twice = [camera("a", "test"), camera("a", "test")];
    assert!(LiveSources::start(&twice, &[], &window).is_err());
}

/// Where no card is, ALSA's own plugins stand in for one:
/// `ALSA_CONFIG_PATH=… cargo test cpal` with a default device of type `file` or `null`.
#[test]
fn a_cpal_microphone_gives_blocks_or_says_what_is_missing() {
    let microphone = Microphone {
        id: "m".to_owned(),
        backend: MicrophoneBackend::Cpal,
        device: None,
        offset_secs: 0.0,
    };
    let mut live = LiveSources::start_at(&[], &[microphone], &Window::default(), quick()).unwrap();
    let items = listen(&mut live, 2.0);
    let health = live.health();
    match &health[0].last_error {
        Some(why) => eprintln!("skipped: no microphone: {why}"),
        None => assert!(items.len() >= 10, "{} blocks, {health:?}", items.len()),
    }
}
