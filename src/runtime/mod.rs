//! Model runtimes: ONNX Runtime and libtorch sessions; the allocator beneath them.

pub mod allocator;
pub mod checkpoint;
pub mod layers;
pub mod onnx;
/// Tiny networks, made in the test that runs them.
#[cfg(test)]
#[path = "../../tests/support/onnx.rs"]
pub(crate) mod tiny;
pub mod torch;
