//! Which of several memories that fit a question alike: the first, the last.

use crate::ids::EntityId;
use crate::memory::model::{MemoryKind, MemoryRow};
use crate::memory::{is_kin, stems};
use crate::recall::Hit;
use crate::time::Timestamp;

use super::question::Order;
use super::reading::Reading;

/// Of memories that tell as much of the same persons as the best: the oldest for the first, the newest for the last.
/// `telling`, `who`: the question's telling words, and whom it names; what holds none of the words stays. `when`: the
/// time that a memory tells.
pub(super) fn in_order<'a>(
    reading: &Reading,
    best: &'a Hit,
    hits: &'a [Hit],
    (telling, who): (&[(String, f32)], &[EntityId]),
    order: Order,
    when: impl Fn(&MemoryRow) -> Timestamp,
) -> &'a Hit {
    let held = |hit: &Hit| -> Vec<usize> {
        let have = stems(&reading.rendered(&hit.memory.text));
        let is_held = |at: &usize| have.iter().any(|word| is_kin(&telling[*at].0, word));
        (0..telling.len()).filter(is_held).collect()
    };
    let named = |hit: &Hit| -> Vec<EntityId> {
        let named = reading.view.named_in(&reading.rendered(&hit.memory.text));
        who.iter().copied().filter(|id| named.contains(id)).collect()
    };
    let is_stated = |hit: &Hit| matches!(hit.memory.kind, MemoryKind::Note | MemoryKind::Semantic);
    if !is_stated(best) || !matches!(order, Order::First | Order::Last) {
        return best;
    }
    let (words, persons) = (held(best), named(best));
    if words.is_empty() {
        return best;
    }
    let holds = |hit: &Hit| {
        let held = held(hit);
        words.iter().all(|word| held.contains(word))
    };
    let names = |hit: &Hit| {
        let named = named(hit);
        persons.iter().all(|person| named.contains(person))
    };
    let as_much = |hit: &&Hit| is_stated(hit) && holds(hit) && names(hit);
    let by_time = |hit: &&Hit| (when(&hit.memory), hit.memory.id);
    let alike = hits.iter().filter(as_much);
    let chosen = match order {
        Order::First => alike.min_by_key(by_time),
        _ => alike.max_by_key(by_time),
    };
    chosen.unwrap_or(best)
}
