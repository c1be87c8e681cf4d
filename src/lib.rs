//! engram: a memory for robots.
//!
//! The journey of a frame: `capture` takes it from a camera or a recording, `window` orders it in event
//! time, `perceive` finds faces and voices in it, `identify` says whose they are, `memorize` writes
//! sentences about it, `memory` keeps them, `recall` finds them again and `answer` replies to the
//! question that came in over `mqtt` or `http`. `daemon` puts it together.

pub mod answer;
pub mod bench;
mod breaker;
pub mod camera;
pub mod capture;
pub mod carrying;
pub mod cli;
pub mod colour;
pub mod config;
mod connections;
pub mod daemon;
pub mod document;
pub mod encryption;
pub mod geometry;
pub mod http;
pub mod identify;
pub mod ids;
pub mod language;
pub mod llm;
pub mod media;
pub mod memorize;
pub mod memory;
pub mod mention;
pub mod models;
pub mod mqtt;
pub mod names;
pub mod perceive;
pub mod percept;
pub mod recall;
pub mod runtime;
mod simd;
mod supervise;
pub mod telemetry;
mod terminal;
pub mod text;
pub mod time;
pub mod watch;
mod whole_file;
pub mod window;
pub mod wyoming;
