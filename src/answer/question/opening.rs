//! How a question begins, and how an answer to it does.

use super::is;
use crate::language::parse::Word;

/// What a question asks for, by its first words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer) enum Opening {
    HowLong,
    HowOften,
    /// How it was done.
    How,
    When,
    Who,
    /// What, or which of several.
    Which,
    /// Where, or why.
    Elsewhere,
    /// It is so or not.
    Whether,
}

impl Opening {
    pub(in crate::answer) fn of(words: &[Word]) -> Self {
        let begins = |at: usize, list: &str| {
            words.get(at).is_some_and(|word| is(list, &word.form.to_lowercase()))
        };
        let then = |list| begins(0, "opening_how") && begins(1, list);
        match () {
            () if then("opening_long") => Self::HowLong,
            () if then("opening_often") => Self::HowOften,
            () if begins(0, "opening_how") => Self::How,
            () if begins(0, "opening_when") => Self::When,
            () if begins(0, "opening_who") => Self::Who,
            () if begins(0, "opening_which") => Self::Which,
            () if begins(0, "opening_elsewhere") => Self::Elsewhere,
            () => Self::Whether,
        }
    }

    /// What was perceived, of so many, as the answer.
    pub(in crate::answer) fn told(self, told: &str, count: usize) -> String {
        match self {
            Self::Whether => format!("yes, {told}"),
            Self::HowOften => format!("{count}: {told}"),
            _ => told.to_owned(),
        }
    }
}
