//! Reads every meter of the daemon into one page.

use std::time::Instant;

use super::Exposition;
use crate::capture::SourceState;
use crate::daemon::announce::Announcer;
use crate::daemon::ingest::Gauges;
use crate::daemon::metrics::meters::Meters;
use crate::daemon::metrics::stats::{Models, persons, spool_lag_secs};
use crate::daemon::service::Clock;
use crate::llm::Tally;
use crate::memory::Memory;
use crate::mqtt::Publisher;
use crate::perceive::JobKind;
use crate::runtime::crash_journal;
use crate::telemetry::stage_times::{Stage, StageTimes};
use crate::time::Timestamp;

/// A label and its value.
type Label = (&'static str, &'static str);

/// Counts of [`Meters`] behind each counter: name, label and value, the meter's own name.
const COUNTERS: [(&str, Option<Label>, &str); 16] = [
    ("engram_clips_total", None, "clips"),
    ("engram_memories_total", None, "memories"),
    ("engram_frames_dropped_total", None, "frames_dropped"),
    ("engram_requests_total", Some(("kind", "questions")), "questions"),
    ("engram_requests_total", Some(("kind", "queries")), "queries"),
    ("engram_requests_total", Some(("kind", "poses")), "poses"),
    ("engram_requests_total", Some(("kind", "commands")), "commands"),
    ("engram_requests_refused_total", None, "refused"),
    ("engram_model_answers_total", Some(("outcome", "answered")), "answers_by_model"),
    ("engram_model_answers_total", Some(("outcome", "fallen_back")), "answers_fallen_back"),
    ("engram_refined_clips_total", Some(("outcome", "refined")), "clips_refined"),
    ("engram_refined_clips_total", Some(("outcome", "unrefined")), "clips_unrefined"),
    ("engram_refined_memories_total", None, "memories_refined"),
    ("engram_refused_conclusions_total", None, "conclusions_refused"),
    ("engram_vectors_total", Some(("outcome", "made")), "vectors_made"),
    ("engram_vectors_total", Some(("outcome", "refused")), "vectors_refused"),
];

/// Counts of a language model's [`Tally`] likewise.
const TALLIES: [(&str, Label, &str); 5] = [
    ("engram_llm_requests_total", ("outcome", "sent"), "llm_requests"),
    ("engram_llm_requests_total", ("outcome", "retried"), "llm_retries"),
    ("engram_llm_requests_total", ("outcome", "failed"), "llm_failures"),
    ("engram_llm_tokens_total", ("kind", "prompt"), "llm_prompt_tokens"),
    ("engram_llm_tokens_total", ("kind", "completion"), "llm_completion_tokens"),
];

/// Latencies of [`Meters`] likewise.
const LATENCIES: [(&str, &str); 4] = [
    ("engram_clip_to_commit_seconds", "seal"),
    ("engram_capture_to_answerable_seconds", "capture_to_answerable"),
    ("engram_answer_seconds", "answer"),
    ("engram_refine_seconds", "memorize_model"),
];

/// Everything that counts something.
pub struct Exporter {
    /// The store.
    pub memory: Memory,
    /// What runs through a session.
    pub gauges: Gauges,
    /// Work of the stages.
    pub stages: std::sync::Arc<StageTimes>,
    /// Counts and latencies.
    pub meters: Meters,
    /// The session's clock.
    pub clock: Clock,
    /// Language models and their spool.
    pub models: Models,
    /// The outbox.
    pub publisher: Publisher,
    /// What is impaired.
    pub announcer: Announcer,
    /// Of the daemon.
    pub started: Instant,
}

impl Exporter {
    /// The page of this moment.
    #[must_use]
    pub fn page(&self) -> Exposition {
        let mut page = Exposition::default();
        page.labelled("engram_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        page.value("engram_uptime_seconds", self.started.elapsed().as_secs_f64());
        page.value("engram_impaired_abilities", self.announcer.impaired() as f64);
        let behind = match &self.clock {
            Clock::Replay(pace) => pace.behind_secs(),
            Clock::Wall | Clock::Store => 0.0,
        };
        page.value("engram_replay_behind_seconds", behind);
        self.ingest(&mut page);
        let view = self.memory.view();
        page.value("engram_commits", view.seq().0 as f64);
        page.value("engram_persons", persons(&view) as f64);
        drop(view);
        page.value("engram_mqtt_connected", f64::from(u8::from(self.publisher.connected())));
        page.value("engram_outbox_messages", self.publisher.waiting() as f64);
        page.value("engram_outbox_dropped_total", self.publisher.dropped() as f64);
        page.value("engram_outbox_expired_total", self.publisher.expired() as f64);
        self.counted(&mut page);
        self.spool(&mut page);
        page
    }

    fn ingest(&self, page: &mut Exposition) {
        let readings = self.gauges.read();
        let live = matches!(self.clock, Clock::Wall);
        let at = Timestamp::wall_clock();
        for (source, gauge) in &readings.sources {
            let name = source.to_string();
            let labels = [("source", name.as_str())];
            if let Some(state) = gauge.state {
                let up = f64::from(u8::from(state == SourceState::Running));
                page.labelled("engram_source_up", &labels, up);
                page.labelled("engram_source_restarts_total", &labels, gauge.restarts as f64);
                let refused = gauge.refused_stamps as f64;
                page.labelled("engram_source_stamps_refused_total", &labels, refused);
                page.labelled("engram_source_anchored_total", &labels, gauge.anchored as f64);
                if let Some(secs) = gauge.stamps_off_secs {
                    page.labelled("engram_source_stamps_off_seconds", &labels, secs);
                }
            }
            page.labelled("engram_source_items_total", &labels, gauge.captured as f64);
            if let Some((fps, rate)) = gauge.wanted_per_sec.zip(self.clock.rate()) {
                page.labelled("engram_source_wanted_items_per_second", &labels, fps * rate);
            }
            page.labelled("engram_source_dropped_total", &labels, gauge.dropped as f64);
            if gauge.is_camera {
                let left_out = gauge.looks_left_out as f64;
                page.labelled("engram_source_looks_left_out_total", &labels, left_out);
            }
            if let Some(newest) = gauge.newest.filter(|_| live) {
                page.labelled("engram_source_lag_seconds", &labels, at.secs_since(newest));
            }
            page.labelled("engram_source_queue_items", &labels, gauge.waiting as f64);
        }
        page.value("engram_jobs_queue_items", readings.jobs as f64);
        let unsealed = readings.borders.saturating_sub(readings.sealed);
        page.value("engram_unsealed_clips", unsealed as f64);
        page.value("engram_disk_full", f64::from(u8::from(readings.disk_full)));
        for stage in ["camera", "microphone", "perceive", "seal", "words"] {
            let restarts = readings.restarts.get(stage).copied().unwrap_or_default();
            page.labelled("engram_stage_restarts_total", &[("stage", stage)], restarts as f64);
        }
        for job in JobKind::ALL.map(JobKind::word) {
            let given_up = readings.given_up.get(job).copied().unwrap_or_default();
            page.labelled("engram_jobs_given_up_total", &[("job", job)], given_up as f64);
        }
        page.value("engram_workers_hanging", readings.stuck.len() as f64);
        let (crashes, left_out) = crash_journal::counts();
        page.value("engram_network_crashes", crashes as f64);
        page.value("engram_networks_left_out", left_out as f64);
        for (kind, histogram) in [("face", &readings.faces_shown), ("turn", &readings.turns_shown)]
        {
            page.histogram("engram_capture_to_percept_seconds", &[("kind", kind)], histogram);
        }
        for stage in Stage::ALL {
            let histogram = self.stages.histogram(stage);
            page.histogram("engram_stage_seconds", &[("stage", stage.word())], &histogram);
        }
    }

    fn counted(&self, page: &mut Exposition) {
        let counts = self.meters.counts();
        for (name, label, meter) in COUNTERS {
            let count = counts.get(meter).copied().unwrap_or_default();
            page.labelled(name, label.as_slice(), count as f64);
        }
        for (name, label, meter) in TALLIES {
            let all = self.models.tallies.iter().flat_map(Tally::counts);
            let count: u64 = all.filter(|(what, _)| *what == meter).map(|(_, count)| count).sum();
            page.labelled(name, &[label], count as f64);
        }
        for (name, meter) in LATENCIES {
            page.histogram(name, &[], &self.meters.histogram(meter));
        }
    }

    fn spool(&self, page: &mut Exposition) {
        let held = self.models.spool.as_ref().map(|spool| spool.counts()).unwrap_or_default();
        page.value("engram_spool_clips", held.waiting as f64);
        page.value("engram_spool_bytes", held.bytes as f64);
        page.value("engram_spool_lag_seconds", spool_lag_secs(&self.memory, held.oldest));
        page.value("engram_spool_dropped_total", held.dropped as f64);
        page.value("engram_vectors_waiting", self.models.vectors.waiting() as f64);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;
    use crate::capture::SourceHealth;
    use crate::daemon::metrics::METRICS;
    use crate::ids::SourceId;
    use crate::memory::StoreOptions;
    use crate::mqtt::Topics;

    #[test]
    fn everything_that_is_documented_is_exported_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let gauges = Gauges::default();
        gauges.wanted(&SourceId::new("front"), 5.0);
        gauges.item(&SourceId::new("front"), Timestamp::wall_clock(), 3, 1);
        let health = |id: &str, state, restarts| SourceHealth {
            id: SourceId::new(id),
            state,
            restarts,
            dropped_frames: 0,
            dropped_blocks: 0,
            last_error: None,
            refused_stamps: 0,
            anchored: 0,
            stamps_off_secs: 0.0,
        };
        gauges.health(&[
            health("front", SourceState::Running, 0),
            health("head", SourceState::Waiting, 4),
        ]);
        let meters = Meters::default();
        meters.add("questions", 5);
        meters.latency("answer", Duration::from_millis(4));
        let exporter = Exporter {
            memory: Memory::open(dir.path(), &StoreOptions::default()).unwrap(),
            gauges,
            stages: std::sync::Arc::default(),
            meters,
            clock: Clock::Wall,
            models: Models::default(),
            publisher: Publisher::new(Topics::new("engram", "rob"), "boot"),
            announcer: Announcer::default(),
            started: Instant::now(),
        };
        let page = exporter.page();
        let exported: BTreeSet<&str> = page.names().collect();
        let documented: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(exported, documented);
        let text = page.text();
        for line in [
            "engram_requests_total{kind=\"questions\"} 5",
            "engram_source_items_total{source=\"front\"} 1",
            "engram_source_wanted_items_per_second{source=\"front\"} 5",
            "engram_source_queue_items{source=\"front\"} 3",
            "engram_source_up{source=\"front\"} 1",
            "engram_source_up{source=\"head\"} 0",
            "engram_source_restarts_total{source=\"head\"} 4",
            "engram_source_items_total{source=\"head\"} 0",
            "engram_answer_seconds_bucket{le=\"0.005\"} 1",
            "engram_stage_seconds_count{stage=\"commit\"} 0",
            "engram_mqtt_connected 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        // What never delivered is not up to date.
        assert!(!text.contains("engram_source_lag_seconds{source=\"head\"}"), "{text}");
        // Samples carry the labels that the table names.
        for metric in METRICS {
            let sample = text.lines().find(|line| line.starts_with(metric.name)).unwrap();
            for label in metric.labels {
                assert!(sample.contains(&format!("{label}=\"")), "{sample}");
            }
        }
    }
}
