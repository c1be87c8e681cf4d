//! libtorch: set up once per process, so that networks compute the same thing every time.
//!
//! The speaker networks run through here. One intra-op thread, a constant: pipeline workers use the
//! cores, and how a sum is split over threads would decide its last bit. CUDA is a library of its own
//! that the linker drops as unneeded; it is loaded here where it exists, so one binary serves both.

use std::sync::OnceLock;

use super::onnx::Device;

/// Threads inside one operation. A constant of the networks, not of the machine.
pub const INTRA_OP_THREADS: i32 = 1;

/// Sets libtorch up at the first call and says where to compute.
///
/// `Auto` and `Cuda` give the first GPU where libtorch's CUDA part is installed and a GPU answers, else
/// the CPU; `Cuda` then warns. Call it before any other use of libtorch.
#[must_use]
pub fn device(wanted: Device) -> tch::Device {
    static SETUP: OnceLock<()> = OnceLock::new();
    SETUP.get_or_init(|| tch::set_num_threads(INTRA_OP_THREADS));
    if wanted == Device::Cpu {
        return tch::Device::Cpu;
    }
    if register_cuda() && tch::Cuda::is_available() {
        // No timing-based choice of kernels: the same result at every start.
        tch::Cuda::cudnn_set_benchmark(false);
        return tch::Device::Cuda(0);
    }
    if wanted != Device::Auto {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            tracing::warn!(
                ?wanted,
                "libtorch has no usable CUDA, speaker networks run on the CPU; install libtorch's CUDA libraries beside it"
            );
        });
    }
    tch::Device::Cpu
}

/// Whether this CPU multiplies bfloat16 numbers by itself, which is twice as quick as 32 bits there and slower elsewhere.
#[must_use]
pub fn has_bfloat16() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx512bf16")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The first line of what libtorch said, without its stack trace.
#[must_use]
pub fn reason(error: &tch::TchError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Loads `libtorch_cuda.so` so that it registers its kernels; false where it is absent.
fn register_cuda() -> bool {
    static LOADED: OnceLock<bool> = OnceLock::new();
    *LOADED.get_or_init(|| {
        use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
        // SAFETY: libtorch's own library, of the same release as the libtorch that is linked; its
        // initialisers only register kernels. It is never unloaded.
        match unsafe { Library::open(Some("libtorch_cuda.so"), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => {
                std::mem::forget(library);
                true
            }
            Err(error) => {
                tracing::debug!(%error, "libtorch without CUDA");
                false
            }
        }
    })
}
