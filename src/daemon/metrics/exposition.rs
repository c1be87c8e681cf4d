//! Every metric there is, and Prometheus' text form of them (exposition format 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::telemetry::histogram::Histogram;

/// What Prometheus makes of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, from zero at the start of the daemon.
    Counter,
    /// A figure of the moment.
    Gauge,
    /// Latencies by upper bound.
    Histogram,
}

impl Kind {
    /// The word behind `# TYPE`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// `engram_<what>_<unit>`, counters with `_total`.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Labels of each sample.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

const fn metric(
    name: &'static str,
    kind: Kind,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric { name, kind, labels, help }
}

/// Every metric, in the order of the page; `docs/metrics.md` holds the same table.
pub const METRICS: &[Metric] = &[
    metric("engram_build_info", Kind::Gauge, &["version"], "Always 1; the version is the label."),
    metric("engram_uptime_seconds", Kind::Gauge, &[], "Since the start of the daemon."),
    metric("engram_impaired_abilities", Kind::Gauge, &[], "Sentences in `status.degraded`."),
    metric(
        "engram_replay_behind_seconds",
        Kind::Gauge,
        &[],
        "How far a replay is behind its own rate; live: 0.",
    ),
    metric(
        "engram_source_up",
        Kind::Gauge,
        &["source"],
        "Live: 1 while it delivers, 0 while it is started, again and again if need be.",
    ),
    metric(
        "engram_source_restarts_total",
        Kind::Counter,
        &["source"],
        "Live: how often it was started again.",
    ),
    metric(
        "engram_source_stamps_refused_total",
        Kind::Counter,
        &["source"],
        "Live: frames and runs of sound whose stamps could not be; the time of their arrival was taken.",
    ),
    metric(
        "engram_source_anchored_total",
        Kind::Counter,
        &["source"],
        "Live: how often its stamps had parted from their arrival, or the wall clock was set, by more than 0.1 s, and they were put together again.",
    ),
    metric(
        "engram_source_stamps_off_seconds",
        Kind::Gauge,
        &["source"],
        "Live: by how much its stamps and their arrival had parted in the last ten seconds, before that was made good; positive: the stamps fell behind.",
    ),
    metric(
        "engram_source_items_total",
        Kind::Counter,
        &["source"],
        "Analysed frames or blocks of sound.",
    ),
    metric(
        "engram_source_wanted_items_per_second",
        Kind::Gauge,
        &["source"],
        "Frames of a camera to be analysed per second (`window.analyse_fps`, times a replay's rate); where `rate(engram_source_items_total)` is below it, the machine or the camera does not keep up.",
    ),
    metric(
        "engram_source_dropped_total",
        Kind::Counter,
        &["source"],
        "Frames or blocks that nobody took in time, or that came too late.",
    ),
    metric(
        "engram_source_looks_left_out_total",
        Kind::Counter,
        &["source"],
        "Analysed frames in which people and things were not looked for though somebody moved: `window.budget` was spent.",
    ),
    metric(
        "engram_source_lag_seconds",
        Kind::Gauge,
        &["source"],
        "Live: the newest frame or block behind the wall clock; none before the first.",
    ),
    metric(
        "engram_source_queue_items",
        Kind::Gauge,
        &["source"],
        "Frames or blocks that wait for their stage.",
    ),
    metric(
        "engram_jobs_queue_items",
        Kind::Gauge,
        &[],
        "Frames and turns that wait for a perception worker.",
    ),
    metric(
        "engram_unsealed_clips",
        Kind::Gauge,
        &[],
        "Clips whose border passed and that are not committed.",
    ),
    metric("engram_clips_total", Kind::Counter, &[], "Clips committed."),
    metric("engram_memories_total", Kind::Counter, &[], "Memories written with clips."),
    metric("engram_frames_dropped_total", Kind::Counter, &[], "Frames missing in committed clips."),
    metric("engram_commits", Kind::Gauge, &[], "Newest commit of the store."),
    metric("engram_persons", Kind::Gauge, &[], "Persons in the store, merged ones once."),
    metric(
        "engram_disk_full",
        Kind::Gauge,
        &[],
        "1 while remembering waits for space on the disk.",
    ),
    metric(
        "engram_stage_restarts_total",
        Kind::Counter,
        &["stage"],
        "Stages (`camera`, `microphone`, `seal`) and workers (`perceive`, `words`) that were begun anew after a panic.",
    ),
    metric(
        "engram_jobs_given_up_total",
        Kind::Counter,
        &["job"],
        "Jobs that hung and were given up: `guess`, `frame`, `voice`, `words`, `mouth`, `again`.",
    ),
    metric(
        "engram_workers_hanging",
        Kind::Gauge,
        &[],
        "Threads that hang in a job that was given up; at 4 systemd is asked for a new process.",
    ),
    metric(
        "engram_network_crashes",
        Kind::Gauge,
        &[],
        "Ends of the process in the midst of a network that count still: an hour long, or until it ran well again.",
    ),
    metric(
        "engram_networks_left_out",
        Kind::Gauge,
        &[],
        "Networks that are left out because they crashed; `status.degraded` names them.",
    ),
    metric(
        "engram_requests_total",
        Kind::Counter,
        &["kind"],
        "Requests carried out: `questions`, `queries`, `poses`, `commands`.",
    ),
    metric("engram_requests_refused_total", Kind::Counter, &[], "Of these, refused."),
    metric(
        "engram_model_answers_total",
        Kind::Counter,
        &["outcome"],
        "Questions given to a language model: `answered`, or `fallen_back` to the built-in answerer.",
    ),
    metric("engram_mqtt_connected", Kind::Gauge, &[], "1 while the broker is reached."),
    metric("engram_outbox_messages", Kind::Gauge, &[], "Messages that wait for the broker."),
    metric("engram_outbox_dropped_total", Kind::Counter, &[], "Messages dropped for want of room."),
    metric(
        "engram_outbox_expired_total",
        Kind::Counter,
        &[],
        "Messages dropped because they were not worth sending any more.",
    ),
    metric("engram_spool_clips", Kind::Gauge, &[], "Clips that wait for the memorizing model."),
    metric("engram_spool_bytes", Kind::Gauge, &[], "Their size on disk."),
    metric(
        "engram_spool_lag_seconds",
        Kind::Gauge,
        &[],
        "The oldest of them behind the newest memory, event time.",
    ),
    metric(
        "engram_spool_dropped_total",
        Kind::Counter,
        &[],
        "Clips given up because the spool was full.",
    ),
    metric(
        "engram_refined_clips_total",
        Kind::Counter,
        &["outcome"],
        "Clips given to the memorizing model: `refined`, `unrefined`.",
    ),
    metric(
        "engram_refined_memories_total",
        Kind::Counter,
        &[],
        "Built-in memories that stepped back behind the model's.",
    ),
    metric(
        "engram_refused_conclusions_total",
        Kind::Counter,
        &[],
        "Conclusions of the model that were not taken in.",
    ),
    metric(
        "engram_vectors_waiting",
        Kind::Gauge,
        &[],
        "Memories that wait for their vector; until then they are found by words.",
    ),
    metric(
        "engram_vectors_total",
        Kind::Counter,
        &["outcome"],
        "Vectors of memories made in the background: `made`, or `refused` by the embedder.",
    ),
    metric(
        "engram_llm_requests_total",
        Kind::Counter,
        &["outcome"],
        "Requests to language models: `sent` in all, of these `retried` and `failed`.",
    ),
    metric(
        "engram_llm_tokens_total",
        Kind::Counter,
        &["kind"],
        "Tokens of language models: `prompt`, `completion`.",
    ),
    metric(
        "engram_stage_seconds",
        Kind::Histogram,
        &["stage"],
        "One piece of work of a stage: `picture`, `faces`, `objects`, `actions`, `text`, `voice_activity`, `sounds`, `speaker_segmentation`, `voice`, `active_speaker`, `words`, `identify`, `memorize`, `commit`.",
    ),
    metric(
        "engram_capture_to_percept_seconds",
        Kind::Histogram,
        &["kind"],
        "Live: a frame's capture (`face`) or a turn's end (`turn`) until the open window answers with it.",
    ),
    metric(
        "engram_clip_to_commit_seconds",
        Kind::Histogram,
        &[],
        "A clip's border until its memories are committed, and so answerable.",
    ),
    metric(
        "engram_capture_to_answerable_seconds",
        Kind::Histogram,
        &[],
        "Live: the end of a clip, wall clock, until its memories are answerable.",
    ),
    metric(
        "engram_answer_seconds",
        Kind::Histogram,
        &[],
        "A question's arrival until its answer is ready.",
    ),
    metric("engram_refine_seconds", Kind::Histogram, &[], "The memorizing model over one clip."),
];

/// One page, as it is filled in.
#[derive(Debug, Default)]
pub struct Exposition {
    samples: BTreeMap<&'static str, String>,
}

impl Exposition {
    /// A counter or gauge without labels.
    pub fn value(&mut self, name: &'static str, value: f64) {
        self.labelled(name, &[], value);
    }

    /// A counter or gauge with labels.
    pub fn labelled(&mut self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        let page = self.samples.entry(name).or_default();
        line(page, name, "", labels, value);
    }

    /// A histogram.
    pub fn histogram(
        &mut self,
        name: &'static str,
        labels: &[(&str, &str)],
        histogram: &Histogram,
    ) {
        let page = self.samples.entry(name).or_default();
        let count = histogram.count();
        let bounds = histogram.cumulative().map(|(bound, within)| (bound.to_string(), within));
        for (bound, within) in bounds.chain([("+Inf".to_owned(), count)]) {
            let mut labels = labels.to_vec();
            labels.push(("le", &bound));
            line(page, name, "_bucket", &labels, within as f64);
        }
        line(page, name, "_sum", labels, histogram.sum_secs());
        line(page, name, "_count", labels, count as f64);
    }

    /// Names of everything filled in.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.samples.keys().copied()
    }

    /// The page.
    #[must_use]
    pub fn text(&self) -> String {
        let mut page = String::new();
        for Metric { name, kind, help, .. } in METRICS {
            let Some(samples) = self.samples.get(name) else { continue };
            // Writing to a string never fails.
            let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {}", kind.word());
            page.push_str(samples);
        }
        page
    }
}

fn line(page: &mut String, name: &str, suffix: &str, labels: &[(&str, &str)], value: f64) {
    page.push_str(name);
    page.push_str(suffix);
    for (index, (label, text)) in labels.iter().enumerate() {
        page.push(if index == 0 { '{' } else { ',' });
        let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(page, "{label}=\"{text}\"");
    }
    page.push_str(if labels.is_empty() { " " } else { "} " });
    let _ = writeln!(page, "{value}");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_page_is_prometheus_text() {
        let mut page = Exposition::default();
        page.labelled("engram_source_items_total", &[("source", "a \"b\"\\")], 3.0);
        let mut histogram = Histogram::default();
        histogram.observe(Duration::from_millis(3));
        page.histogram("engram_answer_seconds", &[], &histogram);
        let text = page.text();
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("# HELP engram_source_items_total Analysed frames or blocks of sound.")
        );
        assert_eq!(lines.next(), Some("# TYPE engram_source_items_total counter"));
        assert_eq!(lines.next(), Some(r#"engram_source_items_total{source="a \"b\"\\"} 3"#));
        assert!(text.contains("# TYPE engram_answer_seconds histogram\n"));
        assert!(text.contains("engram_answer_seconds_bucket{le=\"0.0025\"} 0\n"));
        assert!(text.contains("engram_answer_seconds_bucket{le=\"0.005\"} 1\n"));
        assert!(text.contains("engram_answer_seconds_bucket{le=\"+Inf\"} 1\n"));
        assert!(text.ends_with("engram_answer_seconds_sum 0.003\nengram_answer_seconds_count 1\n"));
    }

    #[test]
    fn names_follow_the_rule() {
        for Metric { name, kind, .. } in METRICS {
            assert!(name.starts_with("engram_"), "{name}");
            assert_eq!(*kind == Kind::Counter, name.ends_with("_total"), "{name}");
            assert_eq!(METRICS.iter().filter(|other| other.name == *name).count(), 1, "{name}");
        }
    }

    #[test]
    fn the_documented_table_is_this_one() {
        let page = include_str!("../../../docs/metrics.md");
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| `engram_"))
            .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
            .collect();
        let expected: Vec<Vec<String>> = METRICS
            .iter()
            .map(|metric| {
                let labels: Vec<String> =
                    metric.labels.iter().map(|label| format!("`{label}`")).collect();
                let kind = metric.kind.word().to_owned();
                let labels = if labels.is_empty() { "–".to_owned() } else { labels.join(", ") };
                vec![format!("`{}`", metric.name), kind, labels, metric.help.to_owned()]
            })
            .collect();
        assert_eq!(rows, expected, "docs/metrics.md and METRICS differ");
    }
}
