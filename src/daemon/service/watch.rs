//! Standing questions are set and taken away.

use std::collections::BTreeSet;

use serde_json::json;

use super::MemoryService;
use crate::daemon::queries::find;
use crate::ids::{EntityId, EntityKind};
use crate::memory::{Happening, Rule, WatchRow, Whom};
use crate::mqtt::message::{Watch, check_rule};
use crate::mqtt::{Refusal, RefusalCode, Reply};

/// So many watches at most: each clip is held against all of them.
const MOST: usize = 100;

impl MemoryService {
    /// Sets a watch, or takes one away.
    pub(super) fn watch(&self, watch: Watch) -> Result<Reply, Refusal> {
        let view = self.view();
        let known = view.watches();
        if let Some(id) = watch.remove {
            if !known.iter().any(|(_, row)| row.id == id) {
                return Err(Refusal::not_found(format!(
                    "there is no {id}; `engramd watch list` tells which there are"
                )));
            }
            let mut draft = self.knowledge.memory.begin(self.record_time());
            draft.remove_watch(id);
            draft.commit().map_err(|error| self.failed(&error))?;
            return Ok(Reply::Document(json!({ "watch": id, "removed": true })));
        }
        let rule = match (watch.add, watch.words) {
            (Some(rule), _) => rule,
            (None, Some(words)) => self.rule_of(&words)?,
            (None, None) => return Err(Refusal::bad_request("nothing to do")),
        };
        if known.len() >= MOST {
            return Err(Refusal::bad_request(format!(
                "there are {MOST} watches, and no more may be; take one away first"
            )));
        }
        if rule.snapshot_secs.is_some() && !self.session.load().config.ring.is_on() {
            return Err(Refusal::unavailable(
                "there is no ring of which a part could be kept when it fires; set `ring.minutes`, or leave that out",
            ));
        }
        let entity = self.meant_by(&rule)?;
        let mut draft = self.knowledge.memory.begin(self.record_time());
        let id = draft.new_watch_id();
        draft.watch(WatchRow { id, entity, rule: rule.clone() });
        draft.commit().map_err(|error| self.failed(&error))?;
        Ok(Reply::Document(json!({ "watch": id, "entity": entity, "rule": rule })))
    }

    /// The rule that a sentence is, as the answerer's parser reads it.
    fn rule_of(&self, words: &str) -> Result<Rule, Refusal> {
        let Some(language) = self.knowledge.answerer.language() else {
            return Err(Refusal::unavailable(
                "rules in words need the parser's models, which `engramd models fetch` brings; or give the rule in parts (`add`)",
            ));
        };
        let view = self.view();
        let named = view.named_in(words).into_iter().flat_map(|id| view.names(id));
        let names: BTreeSet<String> = named
            .flat_map(|row| {
                row.name.to_lowercase().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let zone = self.session.load().config.timezone();
        let rule = crate::watch::words::rule(words, language, &names, (self.now(), &zone))
            .map_err(|unread| Refusal::bad_request(format!("{words:?} is no rule: {unread}")))?;
        check_rule(&rule)?;
        Ok(rule)
    }

    /// Whether that is no question of now, but a rule in words.
    pub(super) fn is_rule(&self, text: &str) -> bool {
        !text.trim_end().ends_with('?') && self.rule_of(text).is_ok()
    }

    /// Whom the rule means by an id or a name that is known; nobody is known yet by another name.
    fn meant_by(&self, rule: &Rule) -> Result<Option<EntityId>, Refusal> {
        let Whom::Named(word) = rule.whom() else { return Ok(None) };
        let found = match find(&self.view(), word) {
            Ok(found) => found,
            Err(refusal)
                if refusal.code == RefusalCode::NotFound && word.parse::<EntityId>().is_err() =>
            {
                return Ok(None);
            }
            Err(refusal) => return Err(refusal),
        };
        let fits = match rule.what {
            Happening::Moves => found.kind == EntityKind::Object,
            _ => found.kind == EntityKind::Person,
        };
        if fits {
            return Ok(Some(found));
        }
        Err(Refusal::bad_request(match rule.what {
            Happening::Moves => format!("{word:?} is {found}, and that is no thing that moves"),
            what => format!("{word:?} is {found}, and only a person {}", what.word()),
        }))
    }
}
