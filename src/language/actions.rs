//! How actions are told, and which words ask for them: `actions.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::lists::{Words, words};
use super::parse::Word;
use crate::percept::{Action, ActionKind};

/// The words for one kind of action.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wording {
    verbs: String,
    #[serde(default)]
    with: String,
    /// "sat".
    pub(crate) told: String,
    /// "sat down".
    pub(crate) begins: String,
}

/// Whom nobody knows.
pub(crate) const SOMEBODY: &str = "somebody";

/// The reply about somebody whom nobody saw do it, where others did whose faces were not seen.
pub(crate) fn of_somebody(told: &str) -> String {
    format!("I don't know: {told}, and who it was I did not see.")
}

/// The words for a kind of action.
pub(crate) fn wording(kind: ActionKind) -> &'static Wording {
    static KNOWN: OnceLock<BTreeMap<ActionKind, Wording>> = OnceLock::new();
    static NONE: OnceLock<Wording> = OnceLock::new();
    let known =
        KNOWN.get_or_init(|| toml::from_str(include_str!("actions.toml")).unwrap_or_default());
    known.get(&kind).unwrap_or_else(|| NONE.get_or_init(Wording::default))
}

/// Who walks for less only steps aside, seconds.
const WALKS_SECS: f64 = 2.0;

/// Whether a kind of action is how a body is held, which goes on until it is held otherwise.
pub(crate) fn is_posture(kind: ActionKind) -> bool {
    use ActionKind::{Lies, Sits, Stands, Walks};
    matches!(kind, Stands | Walks | Sits | Lies)
}

/// How it is told that somebody did that whose body was held so `before`; `None` of what everybody does all the time. `fell`: he
/// fell in the same stretch.
pub(crate) fn told(
    action: &Action,
    before: Option<ActionKind>,
    fell: bool,
) -> Option<&'static str> {
    use ActionKind::{Lies, Sits, Stands, Walks};
    let words = wording(action.kind);
    match (action.kind, before) {
        (Stands, Some(Sits | Lies)) => Some(&words.begins),
        (Stands, _) => None,
        // Who fell is not said to have lain down.
        (Lies, Some(Stands | Walks)) if fell => Some(&words.told),
        (Sits | Lies, Some(_)) => Some(&words.begins),
        (Walks, _) if action.span.secs() < WALKS_SECS => None,
        _ => Some(&words.told),
    }
}

/// The kinds of actions that a sentence names by their verbs, and the places of the words that do.
pub(crate) fn named(sentence: &[Word]) -> (Vec<ActionKind>, Vec<usize>) {
    let (mut kinds, mut places) = (Vec::new(), Vec::new());
    for kind in ActionKind::ALL {
        let Wording { verbs, with, .. } = wording(kind);
        let (verbs, with): (Words, Words) = (words(verbs), words(with));
        let verb = |word: &Word| word.tag.starts_with("VB") && verbs.contains(&*word.lemma);
        let beside = |word: &Word| with.contains(word.form.to_lowercase().as_str());
        let found: Vec<usize> = (0..sentence.len()).filter(|at| verb(&sentence[*at])).collect();
        let others: Vec<usize> = (0..sentence.len()).filter(|at| beside(&sentence[*at])).collect();
        if !found.is_empty() && (with.is_empty() || !others.is_empty()) {
            kinds.push(kind);
            places.extend(found.into_iter().chain(others));
        }
    }
    (kinds, places)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_words() {
        for kind in ActionKind::ALL {
            let Wording { verbs, told, begins, .. } = wording(kind);
            assert!(![verbs, told, begins].iter().any(|words| words.is_empty()), "{kind:?}");
        }
    }
}
