//! The open window's pictures, for who looks on.

use crate::daemon::ingest::SessionSettings;
use crate::http::pictures::{Pictures, Still};
use crate::ids::SourceId;
use crate::memory::Memory;

/// The newest analysed frame of each camera, as the window keeps it.
pub(super) struct PresentPictures {
    memory: Memory,
    /// Of the configuration: they have no picture before their first frame.
    cameras: Vec<SourceId>,
}

impl PresentPictures {
    pub(super) fn new(settings: &SessionSettings) -> Self {
        let cameras = settings.config.camera.iter().map(|camera| SourceId::new(&camera.id));
        Self { memory: settings.memory.clone(), cameras: cameras.collect() }
    }
}

impl Pictures for PresentPictures {
    fn newest(&self, camera: &str) -> Option<Still> {
        let frame = self.memory.present().newest(&SourceId::new(camera))?;
        Some(Still { at: frame.at, jpeg: frame.jpeg })
    }

    fn knows(&self, camera: &str) -> bool {
        let camera = SourceId::new(camera);
        self.cameras.contains(&camera) || self.memory.present().newest(&camera).is_some()
    }
}
