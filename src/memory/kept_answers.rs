//! How many answers are kept, and for how long: every question leaves one, for ever if nobody took them away.

use std::collections::BTreeSet;

use rusqlite::params;

use super::model::{Ground, MemoryKind};
use super::recovery::spare;
use super::view::filter::Filter;
use super::{Memory, MemoryError};
use crate::ids::AnswerId;
use crate::time::Timestamp;

/// So many are taken away in one transaction: whoever writes meanwhile waits for that.
const AT_ONCE: usize = 1000;

impl Memory {
    /// Takes away answers beyond the newest `most`, and those asked before `since`, but for those that a lesson rests on.
    /// Gives how many went.
    ///
    /// # Errors
    /// When the store fails; what went before that stays gone.
    pub fn trim_answers(&self, most: usize, since: Timestamp) -> Result<u64, MemoryError> {
        if self.is_spared(spare::ANSWER) {
            return Ok(0);
        }
        let mut kept: Option<BTreeSet<AnswerId>> = None;
        let (mut after, mut gone) = (AnswerId(0), 0);
        loop {
            let found: Vec<AnswerId> = self.with_db("looking for old answers", |db| {
                db.prepare_cached(
                    "SELECT id FROM answer WHERE id > ?1 AND (asked < ?2 OR id <= coalesce( \
                     (SELECT id FROM answer ORDER BY id DESC LIMIT 1 OFFSET ?3), 0)) ORDER BY id LIMIT ?4",
                )?
                .query_map(
                    params![
                        after.0 as i64,
                        since.as_nanos(),
                        i64::try_from(most).unwrap_or(i64::MAX),
                        AT_ONCE as i64
                    ],
                    |row| Ok(AnswerId(row.get::<_, i64>(0)? as u64)),
                )?
                .collect()
            })?;
            let Some(last) = found.last() else { return Ok(gone) };
            after = *last;
            let kept = kept.get_or_insert_with(|| self.answers_rested_on());
            let old: Vec<AnswerId> = found.into_iter().filter(|id| !kept.contains(id)).collect();
            // Nothing is erased, and nothing exported, from here on.
            let _permit = self.0.turnstile.enter();
            self.transaction("taking old answers away", |db| {
                let mut delete = db.prepare_cached("DELETE FROM answer WHERE id = ?")?;
                old.iter().try_for_each(|id| delete.execute([id.0 as i64]).map(drop))
            })?;
            gone += old.len() as u64;
        }
    }

    /// Answers of which something was said.
    fn answers_rested_on(&self) -> BTreeSet<AnswerId> {
        let lessons = Filter { kinds: vec![MemoryKind::Lesson], ..Filter::default() };
        let lessons = self.view().memories(&lessons);
        let grounds = lessons.iter().flat_map(|row| &row.grounds);
        let answer = |ground: &Ground| match ground {
            Ground::Answer(id) => Some(*id),
            _ => None,
        };
        grounds.filter_map(answer).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::StoreOptions;
    use crate::memory::testing::memory_row;
    use crate::time::Span;

    fn at(secs: f64) -> Timestamp {
        Timestamp::EPOCH.plus_secs(secs)
    }

    #[test]
    fn old_answers_and_too_many_go_but_not_what_was_learned_from() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let mut draft = memory.begin(at(3000.0));
        for n in 0..2_500_u32 {
            let id = draft.new_answer_id();
            draft.answer(id, &format!("{n}?"), "{}", at(f64::from(n)));
        }
        let mut row = memory_row(MemoryKind::Lesson, "Asked.", Span::new(at(1.0), at(1.0)));
        row.grounds = vec![Ground::Answer(AnswerId(7))];
        draft.memory(row, None);
        draft.commit().unwrap();
        let left = |memory: &Memory| -> Vec<u64> {
            memory.answers(10_000).unwrap().iter().map(|answer| answer.id.0).rev().collect()
        };
        assert_eq!(memory.trim_answers(10_000, Timestamp::EPOCH).unwrap(), 0);
        assert_eq!(memory.trim_answers(100, Timestamp::EPOCH).unwrap(), 2_399);
        assert_eq!(left(&memory), [7].into_iter().chain(2_401..=2_500).collect::<Vec<_>>());
        assert_eq!(memory.trim_answers(100, at(2_498.0)).unwrap(), 98);
        assert_eq!(left(&memory), [7, 2_499, 2_500]);
        // Numbers are not given again.
        assert_eq!(memory.next_answer_id(), AnswerId(2_501));
        assert_eq!(memory.check().unwrap().faults, [""; 0]);
    }
}
