//! What the daemon can do, and with which models: the `describe` document.

use super::ingest::PerceiverSet;
use crate::config::{Config, EmbedderKind, Engine, Segmentation};
use crate::memory::Memory;
use crate::models::{Catalogue, Job};
use crate::mqtt::message::{Ability, Describe};
use crate::perceive::object::{ObjectModel, ObjectNetwork};

/// Jobs that something in this version does.
const JOBS: [Job; 11] = [
    Job::FaceDetector,
    Job::FaceEmbedder,
    Job::VoiceActivity,
    Job::SpeakerSegmentation,
    Job::SpeakerEmbedder,
    Job::ActiveSpeaker,
    Job::PoseEstimator,
    Job::TextDetector,
    Job::TextRecognizer,
    Job::TextEmbedder,
    Job::Transcriber,
];

/// The document; ask again when the history has begun.
#[must_use]
pub fn describe(
    config: &Config,
    catalogue: &Catalogue,
    perceivers: &PerceiverSet,
    memory: &Memory,
) -> Describe {
    let abilities = JOBS
        .into_iter()
        .map(|job| match job {
            Job::Transcriber => words(perceivers),
            Job::TextEmbedder if config.embedder.kind == EmbedderKind::Server => Ability {
                job: job.as_str().to_owned(),
                model: config.embedder.model.clone(),
                sha256: None,
                licence: None,
            },
            job => ability(config, catalogue, job),
        })
        .collect();
    let mut abilities: Vec<Ability> = abilities;
    abilities.push(objects(perceivers));
    abilities.push(sounds(config, catalogue));
    abilities.extend(language_models(config));
    let detector = perceivers.objects.iter().map(|_| "detector");
    let objects_from = detector.chain(["notes", "words", "models"]).map(str::to_owned).collect();
    let timezone = config.timezone();
    Describe {
        robot: config.robot_id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        timezone: timezone.iana_name().unwrap_or("UTC").to_owned(),
        abilities,
        objects_from,
        languages: vec!["en".to_owned()],
        history_from: memory.history_from(),
    }
}

fn ability(config: &Config, catalogue: &Catalogue, job: Job) -> Ability {
    let off = match job {
        Job::ActiveSpeaker => !config.active_speaker.on,
        Job::PoseEstimator => !(config.objects.on && config.actions.on),
        Job::TextDetector | Job::TextRecognizer => !config.text.on,
        Job::SpeakerSegmentation => config.diarization.segmentation == Segmentation::Off,
        _ => false,
    };
    let file = catalogue.configured(config, job).ok().filter(|_| !off);
    Ability {
        job: job.as_str().to_owned(),
        model: file.as_ref().map(|file| file.name.clone()),
        sha256: file.as_ref().map(|file| file.hash.to_string()),
        licence: file.map(|file| file.licence),
    }
}

/// The detector of things is one of the catalogue, or a file that the configuration names.
fn objects(perceivers: &PerceiverSet) -> Ability {
    let model = perceivers.objects.as_ref();
    let name = |model: &ObjectModel| match &model.network {
        ObjectNetwork::NanoDet { name, .. } => Some(name.clone()),
        ObjectNetwork::Yolo { .. } => {
            model.path.file_name().map(|name| name.to_string_lossy().into_owned())
        }
    };
    let licence = |model: &ObjectModel| match &model.network {
        ObjectNetwork::NanoDet { licence, .. } => Some(licence.clone()),
        ObjectNetwork::Yolo { .. } => None,
    };
    Ability {
        job: Job::ObjectDetector.as_str().to_owned(),
        model: model.and_then(name),
        sha256: model.map(|model| model.hash.to_string()),
        licence: model.and_then(licence),
    }
}

/// No set has a model for it.
fn sounds(config: &Config, catalogue: &Catalogue) -> Ability {
    let file = catalogue.file("yamnet").ok().filter(|_| config.sounds.on);
    Ability {
        job: Job::SoundClassifier.as_str().to_owned(),
        model: file.as_ref().map(|file| file.name.clone()),
        sha256: file.as_ref().map(|file| file.hash.to_string()),
        licence: file.map(|file| file.licence),
    }
}

/// Models behind a server, where they are configured.
fn language_models(config: &Config) -> Vec<Ability> {
    let (llm, memorizer) = (&config.llm.model, &config.memorizer);
    let jobs = [
        ("chat_model", config.answerer.kind, llm),
        (
            "memorizer",
            memorizer.kind,
            if memorizer.model.is_some() { &memorizer.model } else { llm },
        ),
    ];
    jobs.into_iter()
        .filter(|(_, kind, _)| *kind == Engine::Model)
        .map(|(job, _, model)| Ability {
            job: job.to_owned(),
            model: model.clone(),
            sha256: None,
            licence: None,
        })
        .collect()
}

/// A model of the catalogue, or a file or server that the configuration names.
fn words(perceivers: &PerceiverSet) -> Ability {
    let file = perceivers.recogniser.as_ref();
    Ability {
        job: Job::Transcriber.as_str().to_owned(),
        model: perceivers.recogniser_name(),
        sha256: file.map(|file| file.hash.to_string()),
        licence: file.map(|file| file.licence.clone()),
    }
}
