//! Where tests let a network crash or hang, in builds for tests alone: a release knows none of this.
//!
//! `ENGRAM_TEST_FAULT=segfault:yunet:40`: the 40th run of a network whose file name begins so ends in SIGSEGV; `abort` ends
//! in SIGABRT, `hang` does not come back. `hang:yunet:40:1` hangs once, without the last number every run from there on.

use std::ffi::c_char;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const PLAN: &str = "ENGRAM_TEST_FAULT";

struct Plan {
    what: String,
    network: String,
    /// From that run on …
    from: u64,
    /// … so many.
    times: u64,
}

static RUNS: AtomicU64 = AtomicU64::new(0);

fn plan() -> Option<&'static Plan> {
    static PLANNED: OnceLock<Option<Plan>> = OnceLock::new();
    let read = || {
        let text = std::env::var(PLAN).ok()?;
        let mut parts = text.split(':');
        Some(Plan {
            what: parts.next()?.to_owned(),
            network: parts.next()?.to_owned(),
            from: parts.next()?.parse().ok()?,
            times: parts.next().map_or(Some(u64::MAX), |times| times.parse().ok())?,
        })
    };
    PLANNED.get_or_init(read).as_ref()
}

/// Whether something is planned for that network.
pub(super) fn concern(network: &str) -> bool {
    plan().is_some_and(|plan| network.starts_with(&plan.network))
}

/// Such a network runs.
pub(super) fn run() {
    let Some(plan) = plan() else { return };
    let run = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
    if run < plan.from || run - plan.from >= plan.times {
        return;
    }
    match plan.what.as_str() {
        "segfault" => {
            // SAFETY: it is not, which is the point: the process ends here.
            let length = unsafe { libc::strlen(std::hint::black_box(8) as *const c_char) };
            // Or nobody would need it, and it would be left out.
            std::hint::black_box(length);
        }
        "abort" => std::process::abort(),
        _ => loop {
            std::thread::park();
        },
    }
}
