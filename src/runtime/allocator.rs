//! The C library's allocator, which Rust, ONNX Runtime, libtorch and GStreamer share.

/// A block of at least so many bytes has pages of its own, which go back to the system with it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: libc::c_int = 1024 * 1024;

/// Lets it give back what is free. To be called before there are threads; see mallopt(3).
///
/// - As many arenas as there are cores, not eight times as many: threads of libraries come and go, and each arena keeps
///   what was free in it when they went. After hours of replays that made 540 MB of 365 (two cores; benches/LEDGER.md).
/// - Large blocks apart, whatever was freed before: left to itself the allocator raises that threshold to 32 MB, pictures
///   and tensors then lie among small blocks that stay, and an hour of replays holds 410 MB where it needs some 300. Not
///   smaller: a decoder's frames come and go by the thousand, and pages that are new each time cost more than the frames.
///
/// The variables `MALLOC_ARENA_MAX` and `MALLOC_MMAP_THRESHOLD_` count more.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let unset = |name| std::env::var_os(name).is_none();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let arenas = libc::c_int::try_from(cores.max(2)).unwrap_or(libc::c_int::MAX);
        if unset("MALLOC_ARENA_MAX") {
            // SAFETY: it takes two integers by value and nothing else; a value that it does not like is ignored.
            unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) };
        }
        if unset("MALLOC_MMAP_THRESHOLD_") {
            // SAFETY: as above.
            unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES) };
        }
    }
}

/// Gives whole pages that are free back to the system now; some milliseconds in which other threads may wait for memory.
///
/// By itself the C library keeps what is free between blocks that stay. It is asked again and again anyway; but until the
/// free places have become as many as can be, that looks like a leak.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes an integer by value and may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
