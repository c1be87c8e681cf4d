//! Tables that may be lost (degraded mode), which the memory can do without: how often memories were recalled, answers that were given, when something
//! was erased.
//!
//! Damage in them stops nobody: they count as empty and nothing more is written to them, until `engramd check --repair`
//! makes them new.

use std::sync::PoisonError;

use tracing::warn;

use super::pages;
use crate::memory::Memory;
use crate::memory::error::MemoryError;

pub(in crate::memory) const ACCESS: &str = "access";
pub(in crate::memory) const ANSWER: &str = "answer";
pub(in crate::memory) const AUDIT: &str = "audit";

impl Memory {
    /// Tables that are damaged and done without, as far as that was noticed.
    #[must_use]
    pub fn damaged_tables(&self) -> Vec<&'static str> {
        let spared = self.0.spared.lock().unwrap_or_else(PoisonError::into_inner);
        spared.iter().copied().collect()
    }

    /// Why rows that belong into a mapped file lie in anonymous memory; `None`: none do. (A reader's own copy is nobody's
    /// worry, and an encrypted store keeps everything in memory.)
    #[must_use]
    pub fn rows_in_ram(&self) -> Option<String> {
        self.0.lock.as_ref()?;
        let tables = self.tables();
        let why = tables.why_in_ram()?;
        Some(format!(
            "memory in a mapped file: {why}; rows and vectors lie in RAM, a kilobyte and more each; free space in the store's folder and restart engramd"
        ))
    }

    /// Whether a table is done without.
    pub(in crate::memory) fn is_spared(&self, table: &str) -> bool {
        self.0.spared.lock().unwrap_or_else(PoisonError::into_inner).contains(table)
    }

    /// After an error: whether one of those tables turns out to be damaged that was not known to be; then it is worth
    /// trying again.
    pub(in crate::memory) fn spare(&self, error: &MemoryError) -> bool {
        error.is_damage() && self.spare_damaged(&[ACCESS, ANSWER, AUDIT])
    }

    /// Looks at those tables; whether one was found damaged that was not known to be.
    pub(in crate::memory) fn spare_damaged(&self, tables: &[&'static str]) -> bool {
        let sound =
            |table: &str| self.with_db("checking a table", |db| Ok(pages::is_sound(db, table)));
        let mut found = false;
        for &table in tables {
            if self.is_spared(table) || !matches!(sound(table), Ok(false)) {
                continue;
            }
            warn!(
                table,
                "A table is damaged and done without; stop the daemon and run `engramd check --repair`."
            );
            self.0.spared.lock().unwrap_or_else(PoisonError::into_inner).insert(table);
            found = true;
        }
        found
    }

    /// What was read of such a table; nothing where it is damaged.
    pub(in crate::memory) fn spared_or<T: Default>(
        &self,
        table: &str,
        read: Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        match read {
            Err(error) if error.is_damage() => {
                self.spare(&error);
                if self.is_spared(table) { Ok(T::default()) } else { Err(error) }
            }
            read => read,
        }
    }
}
