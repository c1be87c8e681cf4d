//! The C library's allocator, which Rust, ONNX Runtime, libtorch and GStreamer share.

/// Lets it keep as many arenas as there are cores, not eight times as many: threads of libraries come and go, and each arena
/// keeps what was free in it when they went. After hours of replays that made 540 MB of 365 (two cores; benches/LEDGER.md).
/// The variable `MALLOC_ARENA_MAX` counts more. To be called before there are threads; see mallopt(3).
pub fn few_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        if std::env::var_os("MALLOC_ARENA_MAX").is_some() {
            return;
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let arenas = i32::try_from(cores.max(2)).unwrap_or(i32::MAX);
        // SAFETY: it takes two integers by value and nothing else; a value that it does not like is ignored.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) };
    }
}
