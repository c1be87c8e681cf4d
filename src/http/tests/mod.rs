//! The door over real sockets: what it promises, and who tries to get around it.
#![allow(clippy::unwrap_used)]

mod assistants;
mod attacks;
mod contract;
mod streams;
mod support;
