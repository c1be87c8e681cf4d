//! What a detector's classes are called: one a line, YAML with `names:`, what an exporter wrote into a model.
#![no_main]

use engram::perceive::object::Labels;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for labels in [Labels::parse(text), Labels::of_metadata(text)].into_iter().flatten() {
        assert!(labels.count() > 0 && labels.get(labels.count()).is_none());
        for class in 0..labels.count() {
            let label = labels.get(class).expect("every class has one");
            assert!(!label.trim().is_empty() && !label.contains(char::is_control), "{label:?}");
        }
    }
});
