//! Where tests let a stage end in a panic; outside of tests nothing is here.

#[cfg(test)]
use std::collections::BTreeMap;
#[cfg(test)]
use std::sync::{Arc, Mutex, PoisonError};

/// Which stages break down, and when. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Failpoints {
    /// By stage: how often it still passes before it breaks down, once.
    #[cfg(test)]
    planned: Arc<Mutex<BTreeMap<&'static str, u64>>>,
}

impl Failpoints {
    /// A stage begins a piece of work.
    #[cfg_attr(not(test), allow(clippy::unused_self))]
    pub(super) fn pass(&self, stage: &'static str) {
        #[cfg(test)]
        {
            let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(left) = planned.get_mut(stage) {
                if let Some(fewer) = left.checked_sub(1) {
                    *left = fewer;
                    return;
                }
                planned.remove(stage);
                drop(planned);
                panic!("as planned");
            }
        }
        #[cfg(not(test))]
        let _ = stage;
    }

    /// The stage breaks down once, after so many pieces of work.
    #[cfg(test)]
    pub(crate) fn plan(&self, stage: &'static str, after: u64) {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner).insert(stage, after);
    }
}
