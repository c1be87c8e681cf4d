//! The contract over real brokers: Debian's Mosquitto where it is installed, and the embedded one.
#![allow(clippy::unwrap_used)]

mod contract;
mod faults;
mod limits;
mod many;
mod outages;
mod rights;
pub(crate) mod schemas;
pub(crate) mod support;
mod tls;
mod tools;
