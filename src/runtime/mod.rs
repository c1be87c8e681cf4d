//! Model runtimes: ONNX Runtime and libtorch sessions; the allocator beneath them.

pub mod allocator;
pub mod checkpoint;
pub mod crash_history;
pub mod crash_journal;
pub mod in_turn;
pub mod layers;
pub mod onnx;
#[cfg(debug_assertions)]
mod planned_faults;
/// Tiny networks, made in the test that runs them.
#[cfg(test)]
#[path = "../../tests/support/onnx.rs"]
pub(crate) mod tiny;
pub mod torch;
