//! A fresh process opens the store of a lived time and asks what people ask.

use std::time::Instant;

use jiff::tz::TimeZone;
use serde_json::json;

use super::super::BenchError;
use super::super::memory::{Latency, rss_anon_mb};
use super::super::random::SplitMix64;
use super::Looked;
use super::life::{Life, RESIDENTS};
use crate::answer::{Effort, Question};
use crate::config::Config;
use crate::daemon::assemble::{answerer, language_if_any, open_store};
use crate::daemon::queries::{Means, query};
use crate::mqtt::message::QueryVerb;
use crate::time::Timestamp;

/// Questions of each kind.
const ASKED: usize = 100;
const SEED: u64 = 296;

/// Opens the configured store, asks, and tells how long that took.
///
/// # Errors
/// When the store fails, or refuses a question.
pub fn look(config: &Config) -> Result<Looked, BenchError> {
    let begun = Instant::now();
    let memory = open_store(config)?;
    let store_anon_mb = rss_anon_mb();
    let (answerer, _) = answerer(config, None, language_if_any(config))?;
    let mut random = SplitMix64::new(SEED);
    let mut life = Life::of(&memory, &answerer, config)?;
    let ask = |text: String| {
        let question = Question { text, effort: Effort::Fast, ..Question::default() };
        answerer.answer(&memory, &question, None).map(std::hint::black_box)
    };
    ask("Who is here?".to_owned())?;
    let start_secs = begun.elapsed().as_secs_f64();
    let view = memory.view();
    let names: Vec<String> = view.persons().into_iter().filter_map(|row| row.name).collect();
    let residents: Vec<&str> =
        RESIDENTS.into_iter().filter(|name| names.iter().any(|known| known == name)).collect();
    let day = view.newest_time().unwrap_or(Timestamp::EPOCH).to_jiff();
    let day = day.to_zoned(TimeZone::UTC).date().to_string();
    drop(view);
    let mut timed = |asks: &mut dyn FnMut(usize) -> Result<(), BenchError>| {
        let mut times = Vec::with_capacity(ASKED);
        for number in 0..ASKED {
            life.moment(&mut random)?;
            let begun = Instant::now();
            asks(number)?;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok::<_, BenchError>(Latency::of(&mut times))
    };
    let resident = |number: usize| residents.get(number % residents.len().max(1)).copied();
    let verb = |verb, args| {
        let reply = query(&memory, &Means::default(), verb, args);
        reply.map(drop).map_err(|refusal| BenchError::Child(format!("{refusal:?}")))
    };
    let last_seen_ms = timed(&mut |number| {
        let who = match number % 2 {
            0 => resident(number / 2).unwrap_or("Ava").to_owned(),
            _ => names.get(number % names.len().max(1)).cloned().unwrap_or_default(),
        };
        ask(format!("When did you last see {who}?")).map(drop).map_err(BenchError::from)
    })?;
    let known_ms =
        timed(&mut |_| ask("Who do you know?".to_owned()).map(drop).map_err(BenchError::from))?;
    let often_ms = timed(&mut |number| {
        let who = resident(number).unwrap_or("Ava");
        ask(format!("How often was {who} seen this week?")).map(drop).map_err(BenchError::from)
    })?;
    let people_ms = timed(&mut |_| verb(QueryVerb::People, json!({})))?;
    let timeline_ms = timed(&mut |_| verb(QueryVerb::Timeline, json!({ "day": day })))?;
    let anon_mb = rss_anon_mb();
    Ok(Looked {
        start_secs,
        anon_mb,
        store_anon_mb,
        last_seen_ms,
        known_ms,
        often_ms,
        people_ms,
        timeline_ms,
    })
}
