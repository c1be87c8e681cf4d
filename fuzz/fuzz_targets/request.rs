//! What comes over MQTT.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| engram::mqtt::message::exercise(bytes));
