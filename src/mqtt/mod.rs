//! MQTT: topics, messages, the session with the broker.
//!
//! The control plane's door. [`session`] holds the connection and hands what comes in to
//! [`dispatch`], which parses it ([`message`]), lets a [`Service`] carry it out, and puts the reply
//! into the [`outbox`]. It carries messages and knows no stage: the daemon brings the [`Service`]
//! and publishes through a [`Publisher`]. Other doors hand in requests and hear what is published through [`Requests`].
//!
//! ```no_run
//! use std::sync::Arc;
//! use engram::config::Config;
//! use engram::mqtt::{self, Call, Refusal, Reply, Request, Service};
//!
//! struct Echo;
//! impl Service for Echo {
//!     fn handle(&self, request: Request, _: &Call) -> Result<Reply, Refusal> {
//!         match request {
//!             Request::Ask(ask) => Ok(Reply::Document(serde_json::json!({ "answer": ask.question }))),
//!             _ => Err(Refusal::unavailable("only questions here")),
//!         }
//!     }
//! }
//!
//! # async fn run() -> Result<(), mqtt::MqttError> {
//! let config = Config::default().resolved();
//! let mut session = mqtt::Session::start(&config, Arc::new(Echo)).await?;
//! session.publisher().status(&["no cameras".to_owned()], None);
//! session.stop().await;
//! # Ok(())
//! # }
//! ```

pub mod broker;
pub mod client;
mod connection;
pub mod discovery;
mod dispatch;
mod error;
mod feed;
mod journal;
pub mod message;
mod nodelay;
mod once;
mod outbox;
mod publisher;
mod rates;
mod requests;
pub mod session;
pub mod topics;
mod trouble;
mod wire;
mod wishes;

pub use dispatch::{Call, Reply, Service};
pub use error::MqttError;
pub use feed::Publication;
pub use journal::{encrypt_outbox, erase_outbox, erasing_outbox};
pub use message::{Refusal, RefusalCode, Request};
pub use publisher::Publisher;
pub use requests::{Requests, Response};
pub use session::Session;
pub use topics::{Command, Topics};

/// The greatest packet that is taken: large enough that an oversized question still gets its `too_large`.
pub const MAX_PACKET_BYTES: usize = 8 * 1024 * 1024;

/// The longest request that brings a picture, a voice or a document along, bytes.
pub const MAX_SAMPLES_BYTES: usize = 4 * 1024 * 1024;

/// The longest question or text that is worked on, bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// The longest snapshot, seconds: it is put together in RAM.
pub const MOST_SNAPSHOT_SECS: f64 = 1800.0;

#[cfg(test)]
pub(crate) mod tests;
