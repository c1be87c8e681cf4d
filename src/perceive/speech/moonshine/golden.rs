//! Against the published networks, token by token, and on made sounds.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::*;
use crate::perceive::voice::bench::{model, shared, sound};

fn moonshine() -> Option<Moonshine> {
    let files = Files {
        encoder: model("moonshine_base_encoder.onnx")?,
        decoder: model("moonshine_base_decoder.onnx")?,
        tokenizer: model("moonshine_base_tokenizer.bin")?,
    };
    Some(Moonshine::open(&files, Device::Cpu).unwrap())
}

#[test]
fn every_token_is_the_published_networks() {
    let golden: BTreeMap<String, Vec<usize>> =
        serde_json::from_str(include_str!("../../../../tests/golden/moonshine.json")).unwrap();
    let Some(mut moonshine) = moonshine() else { return };
    let mut compared = 0;
    for (file, wanted) in &golden {
        let Some(path) = shared(file) else { return };
        let decoded = moonshine.written(&sound(&path), 0).unwrap().decoded;
        let found: Vec<usize> = decoded.tokens.iter().map(|token| token.id).collect();
        assert_eq!(&found, wanted, "{file}");
        compared += 1;
    }
    assert!(compared >= 20);
}

#[test]
fn words_have_times_and_do_not_depend_on_earlier_turns() {
    let Some(path) = shared("recordings/audio/beckett.wav") else { return };
    let Some(mut moonshine) = moonshine() else { return };
    let sound = sound(&path);
    let start = Timestamp::from_nanos(7_000_000_000);
    let alone = moonshine.transcribe(&sound, start).unwrap();
    assert!(alone.text.starts_with("Ever tried"), "{}", alone.text);
    let joined: Vec<&str> = alone.words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(joined.join(" "), alone.text);
    let end = start.plus_secs(secs(sound.len()));
    for pair in alone.words.windows(2) {
        assert!(pair[0].span.start <= pair[1].span.start, "{pair:?}");
    }
    for word in &alone.words {
        assert!(start <= word.span.start && word.span.end <= end, "{word:?}");
        assert!(word.confidence.is_some_and(|one| (0.0..=1.0).contains(&one)));
    }
    let noise: Vec<f32> = (0..40_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 16) as f32 / 32_768.0 - 1.0)
        .collect();
    moonshine.transcribe(&noise, start).unwrap();
    assert_eq!(moonshine.transcribe(&sound, start).unwrap(), alone);
}

#[test]
fn what_is_too_short_or_silent_says_nothing() {
    let Some(mut moonshine) = moonshine() else { return };
    for silence in [0, 100, 8_000, 48_000] {
        let heard = moonshine.transcribe(&vec![0.0; silence], Timestamp::EPOCH).unwrap();
        assert_eq!((heard.text.as_str(), heard.words.len()), ("", 0), "{silence}");
    }
}

#[test]
fn a_file_that_is_no_tokenizer_is_named_with_the_cure() {
    let dir = tempfile::tempdir().unwrap();
    let tokenizer = dir.path().join("tokenizer.bin");
    let files = Files { encoder: "e".into(), decoder: "d".into(), tokenizer: tokenizer.clone() };
    for bytes in [&[][..], &[1, b'a'], &[9]] {
        std::fs::write(&tokenizer, bytes).unwrap();
        let error = Moonshine::open(&files, Device::Cpu).err().unwrap().to_string();
        assert!(error.contains("tokenizer.bin") && error.contains("models fetch"), "{error}");
    }
}
