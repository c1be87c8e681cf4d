//! Work for threads: kinds of jobs with their priorities and deadlines, a queue of them, and lanes of workers that take them.

mod deadline;
pub(super) mod jobs;
mod lane;
pub(super) mod perceiver_set;
mod picture;
pub(super) mod pool;
mod queue;
pub(super) mod registry;
mod watchdog;
pub(super) mod worker;
pub(super) mod yielding;

pub(super) use crate::perceive::JobKind as Kind;
pub(super) use deadline::Deadlines;
pub(super) use lane::{Lane, Task};
pub(super) use queue::{Places, Queue, Waiting};
