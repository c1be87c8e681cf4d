//! A store that was damaged: what is left of it, and what is put right.

pub(super) mod pages;
pub(super) mod repair;
pub(super) mod salvage;
pub(super) mod spare;
