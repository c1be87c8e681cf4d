//! What years do to a memory: `bench year`.
//!
//! A household's days are lived in event time and written through the same drafts as the daemon's: eight hours a day, three
//! residents who come and go, twenty visits a week, clips of 30 s, upkeep in between, poses thinned as the committer thins
//! them, 200 answers a day. Each day is a session of its own; a part goes on with the day after the last one. Then a fresh
//! process opens the store and asks. Before each question another clip is committed, so that nothing is answered from what
//! was made ready for the moment before.

mod life;
mod look;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::memory::{Latency, folder_bytes, in_a_fresh_process};
use super::{BenchError, scratch};
use crate::config::Config;
use crate::daemon::assemble::{answerer, language_if_any, open_store};
use crate::ids::EntityKind;
use crate::memory::{Forget, Memory};
use life::{Life, RESIDENTS};
pub use look::look;

/// What a fresh process finds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Looked {
    /// From the beginning of opening the store until the first question is answered.
    pub start_secs: f64,
    /// Anonymous memory (RssAnon) after all questions, the language's models included, MB; null where the system tells none.
    pub anon_mb: Option<f64>,
    /// The same as soon as the store is open, before any model is.
    pub store_anon_mb: Option<f64>,
    /// "When did you last see Ava?", of residents and visitors.
    pub last_seen_ms: Latency,
    /// "Who do you know?"
    pub known_ms: Latency,
    /// "How often was Ava seen this week?"
    pub often_ms: Latency,
    /// The verb `people`.
    pub people_ms: Latency,
    /// The verb `timeline` of a day.
    pub timeline_ms: Latency,
}

/// The same after a resident is erased.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ErasedFigures {
    /// How long erasing took.
    pub forget_secs: f64,
    /// Size of the database, MB.
    pub store_mb: f64,
    /// What a fresh process finds then.
    #[serde(flatten)]
    pub looked: Looked,
}

/// `bench year`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct YearFigures {
    /// Years that were lived.
    pub years: f64,
    /// Whether that is all that was asked for; else the next call goes on.
    pub done: bool,
    /// What this part took to live, seconds.
    pub lived_secs: f64,
    /// Persons.
    pub persons: usize,
    /// Memories that hold.
    pub memories: u64,
    /// Size of the database and its log, MB; no media are kept.
    pub store_mb: f64,
    /// What a fresh process finds.
    #[serde(flatten)]
    pub looked: Looked,
    /// The same after a resident is erased, in a copy of the store.
    pub erased: ErasedFigures,
}

/// Lives on until so many years are over, or for so long, and looks at what is there. `folder`: where the store is and stays;
/// without one it is gone afterwards.
///
/// # Errors
/// When the store fails, or the second process does.
pub fn measure(
    config: &Config,
    years: f64,
    folder: Option<&Path>,
    most: Option<Duration>,
) -> Result<YearFigures, BenchError> {
    let temporary = match folder {
        Some(_) => None,
        None => Some(scratch::folder()?),
    };
    let folder = folder.or(temporary.as_ref().map(|dir| dir.path())).unwrap_or(Path::new("."));
    let (config, store) = (stored_in(config, folder.join("store")), folder.join("store"));
    let begun = Instant::now();
    let mut figures = YearFigures::default();
    {
        let memory = open_store(&config)?;
        let days = (years * 365.0).round().max(1.0) as u32;
        let lived = live(&memory, &config, days, most)?;
        figures.years = f64::from(lived) / 365.0;
        figures.done = lived >= days;
        let view = memory.view();
        figures.persons = view.persons().len();
        figures.memories = view.count_memories();
    }
    figures.lived_secs = begun.elapsed().as_secs_f64();
    figures.store_mb = megabytes(&store);
    figures.looked = in_a_fresh_process(&config, folder, "look")?;
    figures.erased = after_erasing(&config, folder, &store)?;
    Ok(figures)
}

/// Lives until so many days are over, or so long; how many are over then.
fn live(
    memory: &Memory,
    config: &Config,
    days: u32,
    most: Option<Duration>,
) -> Result<u32, BenchError> {
    let (answerer, _) = answerer(config, None, language_if_any(config))?;
    let mut life = Life::of(memory, &answerer, config)?;
    let begun = Instant::now();
    while life.days() < days && most.is_none_or(|most| begun.elapsed() < most) {
        life.day()?;
        if life.days().is_multiple_of(30) {
            eprintln!("day {} of {days}", life.days());
        }
    }
    Ok(life.days())
}

fn stored_in(config: &Config, dir: PathBuf) -> Config {
    let mut config = config.clone();
    config.store.dir = Some(dir);
    config
}

fn megabytes(store: &Path) -> f64 {
    folder_bytes(store) as f64 * 1e-6
}

/// Erases a resident in a copy of the store, and looks at it.
fn after_erasing(
    config: &Config,
    folder: &Path,
    store: &Path,
) -> Result<ErasedFigures, BenchError> {
    let copy = folder.join("erased");
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| BenchError::Io { path, source }
    };
    if copy.exists() {
        std::fs::remove_dir_all(&copy).map_err(fail(&copy))?;
    }
    std::fs::create_dir_all(&copy).map_err(fail(&copy))?;
    for entry in std::fs::read_dir(store).map_err(fail(store))? {
        let entry = entry.map_err(fail(store))?;
        if entry.path().is_file() {
            std::fs::copy(entry.path(), copy.join(entry.file_name())).map_err(fail(&copy))?;
        }
    }
    let config = stored_in(config, copy.clone());
    let mut figures = ErasedFigures::default();
    {
        let memory = open_store(&config)?;
        let whom = memory.view().find_by_name(RESIDENTS[1]);
        let at = memory.newest_record().unwrap_or_default();
        let begun = Instant::now();
        if let Some(who) = whom.into_iter().find(|id| id.kind == EntityKind::Person) {
            memory.forget(&Forget::Entity(who), at)?;
        }
        figures.forget_secs = begun.elapsed().as_secs_f64();
    }
    figures.store_mb = megabytes(&copy);
    figures.looked = in_a_fresh_process(&config, folder, "look")?;
    std::fs::remove_dir_all(&copy).map_err(fail(&copy))?;
    Ok(figures)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_lived_in_parts_and_is_the_same_day() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let of = |dir: &Path| stored_in(&Config::default(), dir.to_owned());
        let lives = |dir: &Path, days: u32| {
            let memory = open_store(&of(dir)).unwrap();
            let (answerer, _) = answerer(&of(dir), None, None).unwrap();
            let mut life = Life::of(&memory, &answerer, &of(dir)).unwrap();
            while life.days() < days {
                life.day().unwrap();
            }
            (memory.hash(), memory.view().persons().len(), memory.answers(1_000).unwrap().len())
        };
        lives(first.path(), 1);
        let (hash, persons, answers) = lives(first.path(), 2);
        assert_eq!(hash, lives(second.path(), 2).0);
        assert!(persons > RESIDENTS.len() && answers == 400, "{persons} {answers}");
    }
}
