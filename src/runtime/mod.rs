//! Model runtimes: ONNX Runtime and libtorch sessions.

pub mod onnx;
