//! Memories that are kept: pinned ones neither fade nor age.

use serde_json::json;

use super::MemoryService;
use crate::ids::MemoryId;
use crate::memory::model::MemoryRow;
use crate::mqtt::message::Pin;
use crate::mqtt::{Refusal, Reply};

impl MemoryService {
    /// Pins a memory, or lets it go its way again.
    pub(super) fn pin(&self, pin: &Pin) -> Result<Reply, Refusal> {
        let Pin { memory, pinned, .. } = pin;
        let id: MemoryId =
            memory.trim().parse().map_err(|error| Refusal::bad_request(format!("{error}")))?;
        let mut draft = self.knowledge.memory.begin(self.record_time());
        let Some(row) = draft.before().memory(id) else {
            return Err(Refusal::not_found(format!("there is no {id} in the memory")));
        };
        if row.pinned != *pinned {
            draft.memory(MemoryRow { pinned: *pinned, ..MemoryRow::clone(&row) }, None);
            draft.commit().map_err(|error| self.failed(&error))?;
        }
        Ok(Reply::Document(json!({ "memory": id, "pinned": pinned })))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::daemon::queries::tests::small_memory;
    use crate::daemon::service::{Clock, privacy};
    use crate::mqtt::RefusalCode;

    #[test]
    fn a_pinned_memory_is_the_same_one_and_can_be_let_go_again() {
        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let service = privacy::tests::service(dir.path(), Clock::Store, Default::default());
        let pin = |memory: &str, pinned| {
            let pin = Pin { id: None, memory: memory.to_owned(), pinned };
            service.pin(&pin)
        };
        let row = || service.view().memory(MemoryId(1)).unwrap();
        let (first, seq) = (row(), service.view().seq());
        assert!(!first.pinned);
        pin("memory_1", true).unwrap();
        assert_eq!(*row(), MemoryRow { pinned: true, ..MemoryRow::clone(&first) });
        let once = service.view().seq();
        assert!(once > seq);
        // What is so already is no change.
        pin("memory_1", true).unwrap();
        assert_eq!(service.view().seq(), once);
        pin(" memory_1 ", false).unwrap();
        assert_eq!(*row(), *first);
        let count = service.view().count_memories();
        assert_eq!(pin("memory_999", true).unwrap_err().code, RefusalCode::NotFound);
        assert_eq!(pin("person_1", true).unwrap_err().code, RefusalCode::BadRequest);
        assert_eq!(service.view().count_memories(), count);
    }
}
