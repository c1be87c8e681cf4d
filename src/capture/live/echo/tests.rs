use std::path::Path;
use std::time::{Duration, Instant};

use super::*;
use crate::capture::error::CaptureError;
use crate::capture::{FramesWanted, LiveSources};
use crate::config::{EchoCancelling, Microphone, Window};
use crate::identify::wav;
use crate::media::Item;
use crate::perceive::voice::bench::{shared, sound};

const RATE: usize = 16_000;
const ALSA: &str = "alsasrc device=\"hw:1,0\" ! audioconvert ! audio/x-raw,rate=16000 ! appsink name=audio sync=false";

#[test]
fn a_microphone_and_the_playback_come_into_one_pipeline() {
    let both = without_echo("ears", ALSA.to_owned(), "pulse:speaker.monitor").unwrap();
    for part in [
        "pulsesrc device=\"speaker.monitor\" ! queue",
        "alsasrc device=\"hw:1,0\" ! audioconvert ! audio/x-raw,rate=16000 ! queue",
        "! appsink name=audio sync=false",
    ] {
        assert!(both.contains(part), "{part} in {both}");
    }
    assert!(!both.contains('{'), "{both}");
    // Two microphones never hear the same probe.
    assert_ne!(without_echo("ears", ALSA.to_owned(), "pulse:speaker.monitor").unwrap(), both);
    let camera = "videotestsrc ! appsink name=video";
    assert_eq!(without_echo("eye", camera.to_owned(), "pulse").unwrap(), camera);
}

#[test]
fn the_playback_is_named_as_a_device_is() {
    assert_eq!(playback_chain("pulse"), "pulsesrc device=\"@DEFAULT_MONITOR@\"");
    assert_eq!(playback_chain("hw:Loopback,1"), "alsasrc device=\"hw:Loopback,1\"");
    assert_eq!(playback_chain(" udpsrc port=9 ! rtpL16depay ! "), "udpsrc port=9 ! rtpL16depay");
    let quoted = playback_chain("x\" ! filesink location=\"y");
    assert!(quoted.contains('!') && !quoted.starts_with("alsasrc"), "a description of one's own");
    assert_eq!(playback_chain("a\"b"), "alsasrc device=\"a\\\"b\"");
}

#[test]
fn a_sink_that_nothing_can_be_put_before_is_told() {
    let error = without_echo(
        "ears",
        "x ! tee name=t t. ! appsink  sync=false name=audio".to_owned(),
        "pulse",
    );
    assert!(error.is_ok(), "properties stand in any order");
    let unlinked = "appsrc name=a appsink name=audio a. ! audio.".to_owned();
    let error = without_echo("ears", unlinked, "pulse").unwrap_err();
    assert!(matches!(&error, CaptureError::Pipeline { .. }), "{error}");
    assert!(error.to_string().contains("echo = \"none\""), "{error}");
}

/// A room: 60 ms until the sound is there, then reflections in random directions of phase that fall by 60 dB in 0.3 s.
fn in_a_room(dry: &[f32]) -> Vec<f32> {
    let mut state = 7_u64;
    let tail: Vec<(usize, f32)> = (0..RATE * 3 / 10)
        .step_by(11)
        .map(|n| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let phase = (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
            let direct = if n == 0 { 3.0 } else { phase };
            (RATE * 60 / 1000 + n, direct * (-6.9 * n as f32 / (0.3 * RATE as f32)).exp())
        })
        .collect();
    let mut wet = vec![0.0; dry.len()];
    for (delay, gain) in tail {
        wet.iter_mut().skip(delay).zip(dry).for_each(|(out, v)| *out += gain * v);
    }
    wet
}

fn rms(samples: &[f32]) -> f32 {
    (samples.iter().map(|v| v * v).sum::<f32>() / samples.len() as f32).sqrt()
}

fn decibels(ratio: f32) -> f32 {
    20.0 * ratio.log10()
}

/// How much of `sound` is `wanted`, by the best of the first 60 ms of delay: 0–1 (the cosine of both).
fn share(sound: &[f32], wanted: &[f32]) -> f32 {
    let cosine = |delay: usize| {
        let (a, b) = (&sound[delay..], &wanted[..sound.len() - delay]);
        let both: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        both / (rms(a) * rms(b) * a.len() as f32)
    };
    (0..RATE * 60 / 1000).step_by(2).map(cosine).fold(0.0, f32::max)
}

/// What a canceller does with a robot that speaks for 16 s in a room, and a person who speaks over it at the same level
/// from the 9th second on.
#[test]
fn the_robots_voice_goes_and_who_speaks_over_it_stays() {
    let reader = |name: &str| {
        let folder = shared(&format!("recordings/audio/librispeech/{name}"))?;
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        Some(files.iter().take(3).flat_map(|file| sound(file)).collect::<Vec<f32>>())
    };
    let (Some(robot), Some(person)) = (reader("1688"), reader("2414")) else { return };
    let (secs, from, until) = (16, 9, 14);
    let played: Vec<f32> = robot.iter().take(secs * RATE).copied().collect();
    let mut echo = in_a_room(&played);
    let mut voice = vec![0.0; secs * RATE];
    voice[from * RATE..until * RATE].copy_from_slice(&person[RATE..(1 + until - from) * RATE]);
    let (speech, alone) = (from * RATE..until * RATE, 3 * RATE..from * RATE);
    let gain = rms(&voice[speech.clone()]) / rms(&echo[speech.clone()]);
    echo.iter_mut().for_each(|v| *v *= gain);
    let heard: Vec<f32> = echo.iter().zip(&voice).map(|(a, b)| a + b).collect();
    let dir = tempfile::tempdir().unwrap();
    let (far, near) = (dir.path().join("far.wav"), dir.path().join("near.wav"));
    std::fs::write(&far, wav(&played)).unwrap();
    std::fs::write(&near, wav(&heard)).unwrap();
    let play = |path: &Path| {
        format!("filesrc location={} ! wavparse ! identity sync=true", path.display())
    };
    let microphone = Microphone {
        id: "ears".to_owned(),
        device: Some(format!(
            "{} ! audioconvert ! audio/x-raw,format=F32LE ! appsink name=audio sync=false",
            play(&near)
        )),
        echo: EchoCancelling::Webrtc,
        playback: Some(play(&far)),
        ..Microphone::default()
    };
    let mut live =
        LiveSources::start(&[], &[microphone], &Window::default(), FramesWanted::All).unwrap();
    let (mut clean, began) = (Vec::new(), Instant::now());
    while clean.len() < until * RATE && began.elapsed() < Duration::from_secs(60) {
        if let Some(Item::Block(block)) = live.next(Duration::from_millis(50)) {
            clean.extend_from_slice(&block.samples);
        }
    }
    assert!(clean.len() >= until * RATE, "{} samples, {:?}", clean.len(), live.health());
    let loss = decibels(rms(&heard[alone.clone()]) / rms(&clean[alone]));
    let before = share(&heard[speech.clone()], &voice[speech.clone()]);
    let after = share(&clean[speech.clone()], &voice[speech]);
    println!(
        "echo return loss enhancement {loss:.1} dB; the person's share {before:.2} -> {after:.2}"
    );
    assert!(loss > 8.0, "of the robot's voice alone only {loss:.1} dB are gone");
    assert!(after > before + 0.05, "the person's share was {before:.2} and is {after:.2}");
}
