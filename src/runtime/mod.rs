//! Model runtimes: ONNX Runtime and libtorch sessions.

pub mod checkpoint;
pub mod onnx;
pub mod torch;
