//! Work for threads: kinds of jobs with their priorities and deadlines, a queue of them, and lanes of workers that take them.

mod deadline;
mod kind;
mod lane;
mod queue;

pub(super) use deadline::Deadlines;
pub(in crate::daemon) use kind::Kind;
pub(super) use lane::{Lane, Task};
pub(super) use queue::{Places, Queue, Waiting};
