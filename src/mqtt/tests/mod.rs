//! The contract over real brokers: Debian's Mosquitto where it is installed, and the embedded one.
#![allow(clippy::unwrap_used)]

mod contract;
mod faults;
mod support;
mod tools;
