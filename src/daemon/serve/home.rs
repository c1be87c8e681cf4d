//! What a smart home is told: who is here, and which persons there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::config::HomeAssistant;
use crate::daemon::announce::Announcer;
use crate::daemon::ingest::SessionSettings;
use crate::ids::{EntityId, EntityKind, Seq};
use crate::memory::{Memory, View};
use crate::mqtt::Publisher;
use crate::mqtt::message::Home;

/// How often it is told though nothing changed.
const HOME_EVERY: Duration = Duration::from_secs(30);

/// Tells a smart home who is here.
pub(super) struct HomeTeller {
    memory: Memory,
    announcer: Announcer,
    /// Whoever was not perceived for so long is not here.
    absence: Duration,
    /// When each person was perceived last.
    perceived: BTreeMap<EntityId, Instant>,
    told: Option<(Instant, Home)>,
    persons: Option<PersonTeller>,
}

impl HomeTeller {
    pub(super) fn new(settings: &SessionSettings, announcer: &Announcer) -> Self {
        let HomeAssistant { persons, prefix, .. } = &settings.config.home_assistant;
        let memory = settings.memory.clone();
        let robot = settings.config.robot_id();
        let secs = memory.options().absence_secs;
        Self {
            memory,
            announcer: announcer.clone(),
            absence: Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX),
            perceived: BTreeMap::new(),
            told: None,
            persons: persons.then(|| PersonTeller {
                prefix: prefix.clone(),
                robot,
                names: BTreeMap::new(),
                told: None,
            }),
        }
    }

    /// Publishes what changed, and now and then what did not.
    pub(super) fn look(&mut self, publisher: &Publisher) {
        let mut home = self.announcer.home(&self.memory);
        let (now, view) = (Instant::now(), self.memory.view());
        self.perceived.extend(home.here.iter().map(|id| (*id, now)));
        self.perceived.retain(|id, at| now.duration_since(*at) < self.absence && view.knows(*id));
        let here: BTreeSet<EntityId> = self.perceived.keys().map(|id| view.resolve(*id)).collect();
        home.here = here.into_iter().collect();
        if let Some(persons) = &mut self.persons {
            persons.look(&view, publisher);
        }
        let known = self.told.as_ref();
        if known.is_none_or(|(at, told)| *told != home || at.elapsed() >= HOME_EVERY) {
            publisher.home(&home);
            self.told = Some((now, home));
        }
    }
}

/// Tells it of every person with a name.
struct PersonTeller {
    prefix: String,
    robot: String,
    /// As what each was told of; `None`: taken back.
    names: BTreeMap<EntityId, Option<String>>,
    /// When, and after which commit.
    told: Option<(Instant, Seq)>,
}

impl PersonTeller {
    fn look(&mut self, view: &View, publisher: &Publisher) {
        let due = self.told.is_none_or(|(at, _)| at.elapsed() >= HOME_EVERY);
        if !due && self.told.is_some_and(|(_, seq)| seq == view.seq()) {
            return;
        }
        let persons = view.persons().into_iter();
        let named = persons.filter(|person| person.id.kind == EntityKind::Person);
        let known = named.filter_map(|person| Some((person.id, person.name?))).collect();
        for (id, name) in changes(&known, &mut self.names, due) {
            publisher.discovery_of(&self.prefix, &self.robot, id, name.as_deref());
        }
        let at = self.told.filter(|_| !due).map_or_else(Instant::now, |(at, _)| at);
        self.told = Some((at, view.seq()));
    }
}

/// What is to be told: what changed, all where it is `due`. Whoever was told of and is not known any more is taken back, and
/// again whenever it is due: a broker that is away gets none of it.
fn changes(
    known: &BTreeMap<EntityId, String>,
    told: &mut BTreeMap<EntityId, Option<String>>,
    due: bool,
) -> Vec<(EntityId, Option<String>)> {
    let gone = told.keys().filter(|id| !known.contains_key(id)).map(|id| (*id, None));
    let named = known.iter().map(|(id, name)| (*id, Some(name.clone())));
    let mut all: Vec<(EntityId, Option<String>)> = gone.chain(named).collect();
    all.retain(|(id, name)| due || told.get(id) != Some(name));
    told.extend(all.iter().cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_a_name_is_told_of_and_taken_back_when_erased() {
        let person = |number| EntityId::new(EntityKind::Person, number);
        let known = |names: &[(u32, &str)]| -> BTreeMap<EntityId, String> {
            names.iter().map(|(number, name)| (person(*number), (*name).to_owned())).collect()
        };
        let told = |number, name: Option<&str>| (person(number), name.map(str::to_owned));
        let mut names = BTreeMap::new();
        let both = known(&[(1, "Ava"), (2, "Ben")]);
        let first = [told(1, Some("Ava")), told(2, Some("Ben"))];
        assert_eq!(changes(&both, &mut names, true), first);
        assert!(changes(&both, &mut names, false).is_empty());
        assert_eq!(changes(&both, &mut names, true), first, "now and then");
        let renamed = known(&[(1, "Ava Lind"), (2, "Ben")]);
        assert_eq!(changes(&renamed, &mut names, false), [told(1, Some("Ava Lind"))]);
        let left = known(&[(2, "Ben")]);
        assert_eq!(changes(&left, &mut names, false), [told(1, None)]);
        assert!(changes(&left, &mut names, false).is_empty());
        assert_eq!(changes(&left, &mut names, true), [told(1, None), told(2, Some("Ben"))]);
        assert!(!names.values().flatten().any(|name| name.contains("Ava")));
    }
}
