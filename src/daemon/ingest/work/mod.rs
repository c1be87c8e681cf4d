//! Work for threads: kinds of jobs with their priorities and deadlines, a queue of them, and lanes of workers that take them.

mod deadline;
mod kind;
mod lane;
pub(super) mod perceivers;
pub(super) mod pool;
mod queue;
pub(super) mod yielding;

pub(super) use deadline::Deadlines;
pub(in crate::daemon) use kind::Kind;
pub(super) use lane::{Lane, Task};
pub(super) use queue::{Places, Queue, Waiting};
