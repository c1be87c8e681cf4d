//! `engramd top`: the running daemon at a glance.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{IsTerminal, stdout};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::json;

use super::connection::Connection;
use super::context::Context;
use super::print::{self, Paint};
use crate::http::client::{HttpClient, HttpClientError};
use crate::mqtt::client::DaemonClient;
use crate::mqtt::message::{Latency, State, Stats, Status};

/// A camera with less than this share of the frames that are to be analysed is shown as falling behind.
const KEEPS_UP: f64 = 0.9;

/// How long the first figures may take: they are told every 10 s.
const PATIENCE: Duration = Duration::from_secs(15);

/// Over HTTP: how often is looked whether there are new ones.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The running daemon at a glance: rates, queues, lags, drops, latencies.
///
/// Shows what the daemon tells on `status` and `stats`, anew every 10 s, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  engramd top
  engramd top --once                             one look
  engramd top --json                             a line per look, for programs: {\"status\",\"stats\"}")]
pub(super) struct TopArgs {
    /// One look, then end.
    #[arg(long)]
    once: bool,
}

pub(super) fn run(args: &TopArgs, context: &Context) -> anyhow::Result<u8> {
    let mut told = Told::open(context)?;
    let zone = context.config.timezone();
    let paint = Paint::for_stdout();
    let (mut status, mut before): (Option<Status>, Option<Stats>) = (None, None);
    loop {
        let (topic, payload) = told.next()?;
        if topic == "status" {
            status = serde_json::from_slice(&payload).ok();
            continue;
        }
        let Ok(stats) = serde_json::from_slice::<Stats>(&payload) else { continue };
        if context.json && args.once {
            print::json(&json!({ "status": status, "stats": stats }))?;
        } else if context.json {
            print::line(json!({ "status": status, "stats": stats }))?;
        } else {
            let robot = context.config.robot_id();
            let page = page(&robot, status.as_ref(), &stats, before.as_ref(), &zone, paint);
            let clear = if stdout().is_terminal() && !args.once { "\x1b[H\x1b[2J" } else { "" };
            print::line(format!("{clear}{page}"))?;
        }
        if args.once {
            return Ok(0);
        }
        before = Some(stats);
    }
}

/// Where the documents come from.
enum Told {
    Mqtt(Box<DaemonClient>),
    /// What is to be said next, and the newest figures that were.
    Http {
        client: HttpClient,
        next: VecDeque<(String, Vec<u8>)>,
        last: Vec<u8>,
    },
}

impl Told {
    fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(match Connection::open(context)? {
            Connection::Mqtt(mut client) => {
                client.listen(&["status", "stats"])?;
                Self::Mqtt(client)
            }
            Connection::Http(client) => {
                Self::Http { client, next: VecDeque::new(), last: Vec::new() }
            }
        })
    }

    /// Topic and payload of the next one.
    fn next(&mut self) -> anyhow::Result<(String, Vec<u8>)> {
        let (client, next, last) = match self {
            Self::Mqtt(client) => return Ok(client.next_message(PATIENCE)?),
            Self::Http { client, next, last } => (client, next, last),
        };
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(document) = next.pop_front() {
                return Ok(document);
            }
            match client.document("stats", PATIENCE) {
                Ok(stats) if stats != *last => {
                    next.push_back(("status".to_owned(), client.document("status", PATIENCE)?));
                    next.push_back(("stats".to_owned(), stats.clone()));
                    *last = stats;
                    continue;
                }
                Ok(_) if Instant::now() < until => {}
                Ok(_) => {
                    anyhow::bail!("the daemon told no new figures within {} s", PATIENCE.as_secs())
                }
                // There are none before the first interval is over.
                Err(HttpClientError::Refused { .. }) if Instant::now() < until => {}
                Err(error) => return Err(error.into()),
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// One look, for people.
fn page(
    robot: &str,
    status: Option<&Status>,
    stats: &Stats,
    before: Option<&Stats>,
    zone: &TimeZone,
    paint: Paint,
) -> String {
    let mut page = String::new();
    let state = match status.map(|status| status.state) {
        Some(State::Online) => paint.green("online"),
        Some(State::Stopped) => paint.yellow("stopped"),
        Some(State::Offline) => paint.red("offline"),
        None => paint.dim("state unknown"),
    };
    let session = match status.and_then(|status| status.session) {
        Some(session) => format!("session {session}"),
        None => "no session".to_owned(),
    };
    // Writing to a string never fails.
    let _ = writeln!(
        page,
        "{}  {state}  {session}  up {}  at {}",
        paint.bold(robot),
        print::duration(stats.uptime_secs),
        print::local_clock(stats.at, zone),
    );
    for missing in status.iter().flat_map(|status| &status.degraded) {
        let _ = writeln!(page, "{} {}", paint.yellow("!"), print::visible(missing));
    }
    if stats.behind_secs > 0.0 {
        let _ = writeln!(page, "the replay is {:.1} s behind its rate", stats.behind_secs);
    }
    sources(&mut page, stats, paint);
    queues(&mut page, stats);
    latencies(&mut page, &stats.latency_ms);
    counts(&mut page, stats, before);
    page
}

fn sources(page: &mut String, stats: &Stats, paint: Paint) {
    if stats.sources.is_empty() {
        let _ = writeln!(page, "\nno sources");
        return;
    }
    let mut table = print::table([
        "SOURCE", "STATE", "PER S", "WANTED", "TAKEN", "DROPPED", "LAG S", "WAIT", "AGAIN",
    ]);
    for (id, source) in &stats.sources {
        let (rate, wanted) = (format!("{:.1}", source.per_sec), source.wanted_per_sec);
        let behind = wanted.is_some_and(|wanted| source.per_sec < KEEPS_UP * wanted);
        let dropped = source.dropped.to_string();
        let waiting = stats.queues.get(&format!("source {id}")).copied().unwrap_or_default();
        let state = source.state.as_deref().unwrap_or("-");
        table.add_row([
            id.clone(),
            if matches!(state, "starting" | "waiting") {
                paint.yellow(state)
            } else {
                state.to_owned()
            },
            if behind { paint.yellow(&rate) } else { rate },
            wanted.map_or_else(|| "-".to_owned(), |wanted| format!("{wanted:.1}")),
            source.captured.to_string(),
            if source.dropped > 0 { paint.yellow(&dropped) } else { dropped },
            if source.captured > 0 { format!("{:.2}", source.lag_secs) } else { "-".to_owned() },
            waiting.to_string(),
            source.restarts.to_string(),
        ]);
    }
    let _ = writeln!(page, "\n{table}");
}

fn queues(page: &mut String, stats: &Stats) {
    let waiting: Vec<String> = stats
        .queues
        .iter()
        .filter(|(name, _)| !name.starts_with("source "))
        .map(|(name, waiting)| format!("{name} {waiting}"))
        .collect();
    let _ = writeln!(page, "\nwaiting: {}", waiting.join(", "));
}

fn latencies(page: &mut String, latencies: &BTreeMap<String, Latency>) {
    if latencies.is_empty() {
        return;
    }
    let mut table = print::table(["LATENCY MS", "P50", "P95", "P99", "COUNT"]);
    for (stage, latency) in latencies {
        let ms = |value: f64| format!("{value:.1}");
        table.add_row([
            stage.clone(),
            ms(latency.p50),
            ms(latency.p95),
            ms(latency.p99),
            latency.count.to_string(),
        ]);
    }
    let _ = writeln!(page, "\n{table}");
}

/// Totals, and how fast they grow since the look before.
fn counts(page: &mut String, stats: &Stats, before: Option<&Stats>) {
    let mut table = print::table(["COUNT", "TOTAL", "PER S"]);
    for (name, count) in &stats.counts {
        let rate = before.and_then(|before| {
            let secs = stats.at.secs_since(before.at);
            let grown = count.checked_sub(*before.counts.get(name)?)?;
            (secs > 0.0).then(|| format!("{:.1}", grown as f64 / secs))
        });
        table.add_row([name.clone(), count.to_string(), rate.unwrap_or_default()]);
    }
    let _ = write!(page, "\n{table}");
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::mqtt::message::SourceStats;
    use crate::time::Timestamp;

    #[test]
    fn one_look_shows_what_flows_what_waits_and_what_is_wrong() {
        let at = Timestamp::from_nanos(1_772_472_600_000_000_000);
        let source = SourceStats {
            per_sec: 4.96,
            wanted_per_sec: Some(5.0),
            captured: 1200,
            dropped: 7,
            looks_left_out: 0,
            lag_secs: 0.13,
            state: Some("running".into()),
            restarts: 2,
        };
        let silent = SourceStats { state: Some("waiting".into()), ..SourceStats::default() };
        let latency = Latency { p50: 1.2, p95: 3.0, p99: 8.0, count: 44 };
        let before = Stats {
            at,
            uptime_secs: 3713.0,
            behind_secs: 0.0,
            sources: [("front".to_owned(), source), ("head".to_owned(), silent)].into(),
            queues: [("jobs".to_owned(), 2), ("source front".to_owned(), 3)].into(),
            counts: [("questions".to_owned(), 10)].into(),
            latency_ms: [("answer".to_owned(), latency)].into(),
        };
        let now = Stats {
            at: at.plus_secs(10.0),
            uptime_secs: 3723.0,
            counts: [("questions".to_owned(), 25)].into(),
            ..before.clone()
        };
        let status = Status {
            state: State::Online,
            boot_id: "boot".into(),
            connection: 1,
            session: None,
            version: "0".into(),
            degraded: vec!["front: it delivers nothing".into(), "model: \u{1b}[2Jno".into()],
        };
        let page = page("rob", Some(&status), &now, Some(&before), &TimeZone::UTC, Paint::plain());
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let has = |line: &str| page.lines().any(|one| words(one) == words(line));
        for line in [
            "rob online no session up 1:02:03 at 17:30:10",
            "! front: it delivers nothing",
            "! model: \\u{1b}[2Jno",
            "front running 5.0 5.0 1200 7 0.13 3 2",
            "head waiting 0.0 - 0 0 - 0 0",
            "waiting: jobs 2",
            "answer 1.2 3.0 8.0 44",
            "questions 25 1.5",
        ] {
            assert!(has(line), "{line} is not in\n{page}");
        }
    }
}
