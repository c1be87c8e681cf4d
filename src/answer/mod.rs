//! Answering: a question becomes a reply with evidence.

pub mod question;
