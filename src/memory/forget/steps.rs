//! Steps of erasing: in tests the process can be made to end at each of them.

/// A step was reached.
#[cfg(not(test))]
pub(super) fn reached(_: &str) {}

#[cfg(test)]
pub(super) use ending::reached;

/// Ends the process, as a kill does, where the environment says.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod ending {
    use std::sync::OnceLock;

    /// Says at which step.
    pub(crate) const ENDS_AT: &str = "ENGRAM_TEST_ENDS_AT";
    /// All there are, in their order.
    pub(crate) const STEPS: [&str; 9] = [
        "begun",
        "rows deleted",
        "pages scrubbed",
        "about to commit",
        "committed",
        "shown",
        "log emptied",
        "files deleted",
        "noted",
    ];

    pub(in crate::memory::forget) fn reached(step: &str) {
        static END: OnceLock<Option<String>> = OnceLock::new();
        assert!(STEPS.contains(&step));
        if END.get_or_init(|| std::env::var(ENDS_AT).ok()).as_deref() == Some(step) {
            // No destructor runs, nothing is flushed.
            std::process::abort();
        }
    }
}
