//! What comes over MQTT: the first byte chooses the topic, its highest bit says that JSON is claimed.
#![no_main]

use engram::mqtt::message::{ReplayVerb, parse};
use engram::mqtt::topics::Command;

const COMMANDS: [Command; 17] = [
    Command::Ask,
    Command::Remember,
    Command::Forget,
    Command::Name,
    Command::People,
    Command::Feedback,
    Command::Query,
    Command::Pose,
    Command::Speaking,
    Command::Privacy,
    Command::Replay(ReplayVerb::Pause),
    Command::Replay(ReplayVerb::Resume),
    Command::Replay(ReplayVerb::Rate),
    Command::Replay(ReplayVerb::Seek),
    Command::Replay(ReplayVerb::Step),
    Command::Replay(ReplayVerb::Burst),
    Command::Replay(ReplayVerb::Stop),
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((choice, payload)) = bytes.split_first() else { return };
    let command = COMMANDS[usize::from(choice & 0x7f) % COMMANDS.len()];
    let _ = parse(command, payload, choice & 0x80 != 0);
});
