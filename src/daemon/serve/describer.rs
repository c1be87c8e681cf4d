//! What the daemon can do, kept up to date for whoever asks.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::daemon::describe::describe;
use crate::daemon::ingest::SessionSettings;
use crate::models::Catalogue;
use crate::mqtt::Publisher;

/// Keeps `describe` up to date. Cheap to clone.
#[derive(Clone)]
pub(super) struct Describer {
    /// What sessions work with; another one after a reload.
    pub(super) now: Arc<ArcSwap<(Catalogue, SessionSettings)>>,
    pub(super) publisher: Publisher,
}

impl Describer {
    pub(super) fn new(
        catalogue: Catalogue,
        settings: SessionSettings,
        publisher: Publisher,
    ) -> Self {
        Self { now: Arc::new(ArcSwap::from_pointee((catalogue, settings))), publisher }
    }

    pub(super) fn renew(&self, catalogue: Catalogue, settings: SessionSettings) {
        self.now.store(Arc::new((catalogue, settings)));
        self.publish();
    }

    pub(super) fn publish(&self) {
        let now = self.now.load();
        let (catalogue, SessionSettings { config, perceivers, memory, .. }) = &**now;
        self.publisher.describe(&describe(config, catalogue, perceivers, memory));
    }
}
