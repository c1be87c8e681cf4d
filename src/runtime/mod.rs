//! Model runtimes: ONNX Runtime and libtorch sessions; the allocator beneath them.

pub mod allocator;
pub mod checkpoint;
pub mod layers;
pub mod onnx;
pub mod torch;
