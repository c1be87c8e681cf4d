//! `engramd doctor`: what is missing on this machine, and what brings it.

mod elements;
mod embedder;
mod machine;
mod microphone;

use std::net::{TcpListener, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::print::{self, Paint};
use crate::cli::context::Context;
use crate::config::{
    BrokerAddress, EmbedderKind, Engine, Segmentation, TranscriberKind, without_secrets,
};
use crate::daemon::assemble::catalogue;
use crate::http::client::HttpClient;
use crate::llm::{OpenAiChat, Server};
use crate::models::{Job, ModelError, bringing};
use crate::mqtt::client::{ClientError, DaemonClient};
use crate::perceive::object::ObjectModel;
use crate::time::Timestamp;

/// What is missing on this machine, and what brings it.
#[derive(Debug, Args)]
#[command(
    after_help = "Looks at devices, plugins, runtimes, models, store, disk, rights, clock, broker and language models; names the
cure of everything that is missing. Exit code 1: something that is needed is missing.

Examples:
  engramd doctor
  engramd doctor --set models.set=edge --json"
)]
pub(super) struct DoctorArgs {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// One ability is missing.
    Warning,
    /// The daemon cannot do its work.
    Failure,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    area: &'static str,
    what: String,
    verdict: Verdict,
    /// What was found.
    found: String,
    /// What to do.
    cure: Option<String>,
}

impl Finding {
    fn ok(area: &'static str, what: impl Into<String>, found: impl Into<String>) -> Self {
        let found = without_secrets(&found.into());
        Self { area, what: what.into(), verdict: Verdict::Ok, found, cure: None }
    }

    fn bad(
        verdict: Verdict,
        area: &'static str,
        what: impl Into<String>,
        found: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        let (found, cure) = (without_secrets(&found.into()), Some(cure.into()));
        Self { area, what: what.into(), verdict, found, cure }
    }
}

/// How long a language model's server may take to name its models.
const LLM_TIME: Duration = Duration::from_secs(3);
/// Free space below which it is worth a word, bytes.
const LITTLE_SPACE: u64 = 1_000_000_000;

pub(super) fn run(_: &DoctorArgs, context: &Context) -> anyhow::Result<u8> {
    let mut findings = vec![configuration(context)];
    findings.extend(machine::devices(&context.config));
    findings.extend(elements::gstreamer());
    findings.extend(runtimes());
    findings.extend(models(context));
    findings.extend(store(&context.config.store_dir()));
    findings.extend(machine::rights(&context.config, &context.config.store_dir()));
    findings.extend(machine::clock(Timestamp::wall_clock()));
    findings.push(broker(context));
    findings.extend(http(context));
    findings.extend(language_models(context));
    findings.extend(embedder::embedder(context));
    let failed = findings.iter().any(|one| one.verdict == Verdict::Failure);
    if context.json {
        print::json(&findings)?;
    } else {
        let paint = Paint::for_stdout();
        for finding in &findings {
            print::line(for_people(finding, paint))?;
        }
        let count = |verdict| findings.iter().filter(|one| one.verdict == verdict).count();
        print::line(format!(
            "{} looked at, {} missing, {} worth a look",
            findings.len(),
            count(Verdict::Failure),
            count(Verdict::Warning)
        ))?;
    }
    Ok(u8::from(failed))
}

fn for_people(finding: &Finding, paint: Paint) -> String {
    let mark = match finding.verdict {
        Verdict::Ok => paint.green("ok  "),
        Verdict::Warning => paint.yellow("warn"),
        Verdict::Failure => paint.red("MISS"),
    };
    let Finding { area, what, found, .. } = finding;
    let cure =
        finding.cure.as_ref().map(|cure| format!("\n{:>22}→ {cure}", "")).unwrap_or_default();
    format!("{mark} {area:<14} {what}: {found}{cure}")
}

/// The servers of `[llm]` and `[memorizer]`, where a model is wanted.
fn language_models(context: &Context) -> Vec<Finding> {
    let config = &context.config;
    let state_dir = config.store_dir();
    let mut wanted = Vec::new();
    if config.answerer.kind == Engine::Model {
        wanted.push(("answerer", Server::of_answerer(&config.llm, Some(&state_dir))));
    }
    if config.memorizer.kind == Engine::Model {
        let server = Server::of_memorizer(&config.memorizer, &config.llm, Some(&state_dir));
        wanted.push(("memorizer", server));
    }
    let area = "language model";
    let warn = |what, found: String, cure| Finding::bad(Verdict::Warning, area, what, found, cure);
    wanted
        .into_iter()
        .map(|(what, server)| {
            let asked = server.and_then(|server| {
                let model = server.model.clone();
                Ok((model, OpenAiChat::new(server)?.served(LLM_TIME)?))
            });
            match asked {
                Ok((model, served)) if served.is_empty() || served.contains(&model) => {
                    Finding::ok(area, what, model)
                }
                Ok((model, served)) => warn(
                    what,
                    format!("the server does not name {model:?}"),
                    format!("it serves {}; set llm.model (or memorizer.model)", served.join(", ")),
                ),
                Err(error) => {
                    let cure =
                        "the built-in half works meanwhile; docs/language-models.md has set-ups";
                    warn(what, error.to_string(), cure.to_owned())
                }
            }
        })
        .collect()
}

fn configuration(context: &Context) -> Finding {
    let from = match &context.config_file {
        Some(file) => file.display().to_string(),
        None => "built-in defaults".to_owned(),
    };
    Finding::ok("configuration", "robot", format!("{} ({from})", context.config.robot_id()))
}

fn runtimes() -> Vec<Finding> {
    // libtorch is linked: this program would not have started without it.
    let mut findings = vec![Finding::ok(
        "runtimes",
        "libtorch",
        if tch::Cuda::is_available() { "present, with a GPU" } else { "present, on the CPU" },
    )];
    findings.push(match loaded(&[crate::runtime::onnx::LIBRARY]) {
        Some(name) => Finding::ok("runtimes", "ONNX Runtime", name),
        None => Finding::bad(
            Verdict::Failure,
            "runtimes",
            "ONNX Runtime",
            format!("{} is not found beside this program", crate::runtime::onnx::LIBRARY),
            "make setup (in a checkout) or make install",
        ),
    });
    findings
}

/// The first of these libraries that loads.
fn loaded(names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| {
        // SAFETY: the constructors of these well-known libraries only set up their own state; nothing is called.
        unsafe { libloading::Library::new(*name) }.is_ok()
    })
}

/// Jobs without which faces or voices are not perceived at all.
const NEEDED: [Job; 5] = [
    Job::FaceDetector,
    Job::FaceEmbedder,
    Job::VoiceActivity,
    Job::SpeakerEmbedder,
    Job::TextEmbedder,
];

fn models(context: &Context) -> Vec<Finding> {
    let settings = &context.config.models;
    let catalogue = match catalogue(&context.config) {
        Ok(catalogue) => catalogue,
        Err(error) => {
            let cure = "repair or remove manifest.toml in the models folder";
            return vec![Finding::bad(
                Verdict::Failure,
                "models",
                "manifest",
                error.to_string(),
                cure,
            )];
        }
    };
    let job = |job: &Job| match catalogue.configured(&context.config, *job) {
        Ok(model) => {
            let stands_in = model.instead_of.map(|better| format!(" (in place of {better})"));
            let found = format!("{}{}", model.name, stands_in.unwrap_or_default());
            Finding::ok("models", job.to_string(), found)
        }
        Err(error) => {
            let cure = match &error {
                ModelError::NamedAbsent { cure, .. } => cure.clone(),
                _ => bringing(settings.set),
            };
            // Without words, all else is there.
            let left = *job == Job::Transcriber
                && context.config.transcriber.kind == TranscriberKind::Auto;
            let verdict = if left { Verdict::Warning } else { Verdict::Failure };
            Finding::bad(verdict, "models", job.to_string(), error.to_string(), cure)
        }
    };
    let elsewhere = context.config.embedder.kind == EmbedderKind::Server;
    let wanted = |job: &&Job| !(elsewhere && **job == Job::TextEmbedder);
    let segmentation = context.config.diarization.segmentation != Segmentation::Off;
    let asked = segmentation.then_some(&Job::SpeakerSegmentation);
    let transcriber = &context.config.transcriber;
    // A server, or a file that the configuration names, is not looked for here.
    let words = match transcriber.kind {
        TranscriberKind::Moonshine => true,
        TranscriberKind::Auto | TranscriberKind::Whisper => transcriber.model.is_none(),
        TranscriberKind::Openai | TranscriberKind::None => false,
    };
    let words = words.then_some(&Job::Transcriber);
    NEEDED
        .iter()
        .filter(wanted)
        .chain(asked)
        .chain(words)
        .map(job)
        .chain(objects(context))
        .collect()
}

/// The detector of things, where one is configured.
fn objects(context: &Context) -> Option<Finding> {
    match ObjectModel::configured(&context.config) {
        Ok(model) => {
            let found = model?.path.display().to_string();
            Some(Finding::ok("models", Job::ObjectDetector.to_string(), found))
        }
        Err(error) => {
            let cure = "set objects.model and objects.labels, or leave both out";
            let what = Job::ObjectDetector.to_string();
            Some(Finding::bad(Verdict::Failure, "models", what, error, cure))
        }
    }
}

fn store(dir: &Path) -> Vec<Finding> {
    let shown = dir.display().to_string();
    let mut existing = dir;
    while !existing.exists() {
        let Some(parent) = existing.parent() else { break };
        existing = parent;
    }
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    if !existing.is_dir() || rustix::fs::access(existing, access).is_err() {
        let found = format!("{shown} cannot be written by this user");
        let cure =
            "run as the daemon's user, name another folder with --data-dir, or change its owner";
        return vec![Finding::bad(Verdict::Failure, "store", "folder", found, cure)];
    }
    let mut findings = vec![Finding::ok("store", "folder", shown)];
    let free = rustix::fs::statvfs(existing).map(|disk| disk.f_bavail * disk.f_frsize);
    if let Ok(free) = free {
        let found = format!("{:.1} GB", free as f64 / 1e9);
        findings.push(if free < LITTLE_SPACE {
            let cure = "free some space, or lower store.media_cap_mb";
            Finding::bad(Verdict::Warning, "store", "free space", found, cure)
        } else {
            Finding::ok("store", "free space", found)
        });
    }
    findings
}

fn broker(context: &Context) -> Finding {
    let config = &context.config;
    let Ok(address) = BrokerAddress::parse(&config.mqtt.broker) else {
        return Finding::ok("mqtt", "broker", config.mqtt.broker.clone());
    };
    if let BrokerAddress::Embedded = address {
        if DaemonClient::connect(config).is_ok() {
            return Finding::ok(
                "mqtt",
                "daemon",
                format!("its broker answers on {}", config.mqtt.listen_v5),
            );
        }
        for listen in [&config.mqtt.listen, &config.mqtt.listen_v5] {
            if let Err(error) = TcpListener::bind(listen.as_str()) {
                let cure = "stop the other broker, set mqtt.listen and mqtt.listen_v5, or use it with mqtt.broker";
                return Finding::bad(
                    Verdict::Failure,
                    "mqtt",
                    format!("port {listen}"),
                    error.to_string(),
                    cure,
                );
            }
        }
        return Finding::ok("mqtt", "embedded broker", "its ports are free; no daemon runs");
    }
    if let BrokerAddress::Remote { host, port, .. } = &address {
        let found = (host.as_str(), *port).to_socket_addrs();
        if let Err(error) = found {
            let cure = "check the name in mqtt.broker";
            return Finding::bad(
                Verdict::Failure,
                "mqtt",
                address.to_string(),
                error.to_string(),
                cure,
            );
        }
    }
    match DaemonClient::connect(config) {
        Ok(_) => Finding::ok("mqtt", address.to_string(), "reachable"),
        Err(error) => {
            let (reason, cure) = match error {
                ClientError::NoBroker { reason, .. } => (reason, "start it, or check mqtt.broker"),
                ClientError::NotLetIn { reason, cure, .. } => (reason, cure),
                other => (other.to_string(), "check mqtt.broker"),
            };
            Finding::bad(Verdict::Failure, "mqtt", address.to_string(), reason, cure)
        }
    }
}

/// The door over HTTP; nothing where there is to be none.
fn http(context: &Context) -> Option<Finding> {
    let config = &context.config.http;
    let address = config.address()?;
    let scheme = if config.tls_cert_file.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
    let Err(error) = TcpListener::bind(address) else {
        return Some(Finding::ok("http", url, "its port is free; no daemon listens there"));
    };
    if HttpClient::new(&url, None).is_ok_and(|client| client.is_there(Duration::from_secs(2))) {
        return Some(Finding::ok("http", url, "answers"));
    }
    let cure = "stop what listens there, or set http.listen to another port or \"none\"";
    Some(Finding::bad(Verdict::Warning, "http", url, error.to_string(), cure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_names_its_cure() {
        let nowhere = store(Path::new("/proc/version/engram"));
        assert_eq!(nowhere[0].verdict, Verdict::Failure);
        let shown = for_people(&nowhere[0], Paint::plain());
        assert!(shown.contains("cannot be written") && shown.contains("→ run as"), "{shown}");
    }
}
