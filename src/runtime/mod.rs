//! Model runtimes: ONNX Runtime and libtorch sessions.
