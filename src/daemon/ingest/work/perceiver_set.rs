//! Which models run, and how a worker loads them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::camera::CameraInfo;
use crate::config::sections::FacePerception;
use crate::config::{Config, Segmentation, SpeakerNetwork, TranscriberKind, find_file};
use crate::ids::SourceId;
use crate::models::{Catalogue, Job, ModelError, ModelFile};
use crate::perceive::PerceiveError;
use crate::perceive::action::MoveNet;
use crate::perceive::active_speaker::{ActiveSpeaker, LrAsd, MouthScorer};
use crate::perceive::body::BodyTracker;
use crate::perceive::face::{
    DetectorFiles, EmbedderFile, EmbedderKind, FaceAnalyser, FaceModels, FaceTracker, Faces,
};
use crate::perceive::object::{
    Followed, Joints, ObjectDetector, ObjectModel, ObjectTracker, Things,
};
use crate::perceive::sound::{SoundListener, SoundListenerState, YamNet};
use crate::perceive::speech;
use crate::perceive::speech::{MoonshineFiles, OpenAiTranscriber, Recogniser};
use crate::perceive::text::{TextError, TextFiles, TextNetworks, TextReader, TextTracker};
use crate::perceive::track::TrackerSettings;
use crate::perceive::voice::{
    CachedEmbedder, EmbeddingCache, Eres2NetV2, Ge2e, Normalised, OnnxSpeaker, Pyannote,
    ReclusterSettings, Separation, ShortSettings, SileroVad, SpeakerEmbedder, SpeakerSegmentation,
    SplitSettings, StreamSettings, TurnSegmenter, TurnSegmenterState, VoiceActivity, Voices,
};
use crate::runtime::in_turn::InTurn;
use crate::runtime::onnx;
use crate::runtime::onnx::{Device, INTRA_OP_THREADS};
use crate::telemetry::stage_times::StageTimes;

/// The model that tells sounds apart.
const SOUNDS: &str = "yamnet";

/// Cameras whose calibration is known.
pub type Calibrations = BTreeMap<SourceId, CameraInfo>;

/// Which models run; every worker loads its own from it.
pub struct PerceiverSet {
    config: Config,
    /// The cameras whose calibration is known.
    calibrated: Arc<Calibrations>,
    faces: Option<FaceModels>,
    /// The model that tells faces apart, with its thresholds.
    pub face_embedder: Option<ModelFile>,
    /// The model that tells voices apart, with its thresholds.
    pub speaker_embedder: Option<ModelFile>,
    /// The small speaker embedder that looks for changes of voice inside a turn where the main one is too slow for that.
    change_finder: Option<ModelFile>,
    voice_activity: Option<ModelFile>,
    /// Who speaks when, at once too.
    segmentation: Option<ModelFile>,
    /// The same network, for what is heard beside the robot's own voice: wherever its file is.
    beside: Option<ModelFile>,
    /// Whose mouth makes the sound.
    active_speaker: Option<ModelFile>,
    /// What turns speech into words.
    words: Option<speech::Source>,
    /// The model of it, where it is one of the catalogue.
    pub recogniser: Option<ModelFile>,
    /// Finds things; `None` where none is configured, or it cannot be used.
    pub objects: Option<ObjectModel>,
    /// Tells the joints of people who are found; `None` where that is off, or a network of it is missing.
    pub joints: Option<ModelFile>,
    /// What reads words in view; `None` where that is off, or a network of it is missing.
    texts: Option<TextFiles>,
    /// The same loaded, as long as a worker has them.
    text_networks: Mutex<Weak<InTurn<TextNetworks, TextError>>>,
    /// What tells sounds apart; `None` where that is off, or it cannot be used.
    sounds: Option<PathBuf>,
    /// Abilities that are missing, and why.
    pub degraded: Vec<String>,
    /// Where the time goes; shared with everything that is loaded from this set.
    pub stages: Arc<StageTimes>,
    /// Windows of speech that were embedded; shared likewise.
    heard: Arc<EmbeddingCache>,
}

impl PerceiverSet {
    /// Chooses the models of the configured set; a missing one takes one ability away and is named.
    ///
    /// # Errors
    /// When a model file is there and damaged.
    pub fn choose(config: &Config, catalogue: &Catalogue) -> Result<Self, PerceiveError> {
        let mut degraded = Vec::new();
        let mut choose = |job, ability: &str| match catalogue.configured(config, job) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_absence() => {
                degraded.push(format!("{ability}: {error}"));
                Ok(None)
            }
            Err(error) => Err(error),
        };
        let detector = choose(Job::FaceDetector, "faces")?;
        let face_embedder = choose(Job::FaceEmbedder, "telling faces apart")?;
        let voice_activity = choose(Job::VoiceActivity, "speech")?;
        let speaker_embedder = choose(Job::SpeakerEmbedder, "telling voices apart")?;
        let segmentation = match config.diarization.segmentation {
            Segmentation::Off => None,
            _ => choose(Job::SpeakerSegmentation, "telling two voices at once")?,
        };
        let beside = catalogue.configured(config, Job::SpeakerSegmentation).ok();
        // The open set has none by design, and lacks nothing.
        let scored = config.active_speaker.on
            && !catalogue.manifest().order(config.models.set, Job::ActiveSpeaker).is_empty();
        let active_speaker =
            if scored { choose(Job::ActiveSpeaker, "telling whose mouth speaks")? } else { None };
        let sees_things = config.objects.on
            && config.objects.model.is_none()
            && !catalogue.manifest().order(config.models.set, Job::ObjectDetector).is_empty();
        let objects_of_set = match sees_things {
            true => choose(Job::ObjectDetector, "people who turn away, and things")?,
            false => None,
        };
        let joints = match config.objects.on
            && config.actions.on
            && !catalogue.manifest().order(config.models.set, Job::PoseEstimator).is_empty()
        {
            true => choose(Job::PoseEstimator, "what people do")?,
            false => None,
        };
        let mut texts = None;
        // The same holds for words in view.
        if config.text.on
            && !catalogue.manifest().order(config.models.set, Job::TextDetector).is_empty()
        {
            let detector = choose(Job::TextDetector, "words in view")?;
            let recognizer = choose(Job::TextRecognizer, "words in view")?;
            texts = detector.zip(recognizer).map(|(detector, recognizer)| TextFiles {
                detector: detector.path,
                recognizer: recognizer.path,
            });
        }
        let mut sounds = None;
        if config.sounds.on {
            match catalogue.file(SOUNDS) {
                Ok(file) => sounds = Some(file.path),
                Err(error) if error.is_absence() => {
                    degraded.push(format!("sounds that mean something: {error}"));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if config.models.device == Device::TensorRt {
            onnx::keep_engines_in(&config.store_dir().join("tensorrt"));
        }
        if let Some(model) = &speaker_embedder
            && config.voice.network == SpeakerNetwork::Auto
        {
            for better in catalogue.passed_over(config.models.set, model)? {
                degraded.push(format!(
                    "telling voices apart: {better} is here and has no thresholds, so {} does it; to use it or to measure it with `engramd calibrate voices FOLDER`, name it in `voice.network`",
                    model.name
                ));
            }
        }
        for (model, ability) in [(&face_embedder, "faces"), (&speaker_embedder, "voices")] {
            if let Some(model) = model.as_ref().filter(|model| model.thresholds.is_none()) {
                degraded.push(format!(
                    "telling {ability} apart: there are no thresholds for {}; measure them with `engramd calibrate {ability} FOLDER`, a folder per person",
                    model.name
                ));
            }
        }
        let faces = match &detector {
            Some(detector) => Some(FaceModels {
                detector: detector_files(detector)?,
                embedder: face_embedder.as_ref().map(embedder_file).transpose()?,
                device: config.models.device,
            }),
            None => None,
        };
        // GE2E is quick enough for sliding windows.
        let change_finder = catalogue.file("ge2e").ok();
        let (words, recogniser) = words(config, catalogue, &mut degraded)?;
        let calibrated = Arc::new(calibrations(config, &mut degraded));
        let objects = match ObjectModel::configured(config) {
            Ok(None) => objects_of_set.map(nanodet),
            Ok(named) => named,
            Err(why) => {
                degraded.push(format!("objects: {why}"));
                None
            }
        };
        let mut set = Self {
            config: config.clone(),
            calibrated,
            change_finder,
            faces,
            face_embedder,
            speaker_embedder,
            voice_activity,
            segmentation,
            beside,
            active_speaker,
            words,
            recogniser,
            objects,
            joints,
            texts,
            text_networks: Mutex::default(),
            sounds,
            degraded,
            stages: Arc::default(),
            heard: Arc::default(),
        };
        // What the configuration names and the model does not know is told of now, not with the first sound.
        if let Err(error) = set.sound_listener(&SourceId::new(""), None) {
            set.degraded.push(format!("sounds that mean something: {error}"));
            set.sounds = None;
        }
        Ok(set)
    }

    /// What turns speech into words, by its name.
    #[must_use]
    pub fn recogniser_name(&self) -> Option<String> {
        match (self.words.as_ref()?, &self.recogniser) {
            (_, Some(file)) => Some(file.name.clone()),
            (speech::Source::Server, None) => {
                Some(OpenAiTranscriber::name_for(&self.config.transcriber))
            }
            (speech::Source::Whisper(file), None) => Some(file.display().to_string()),
            (speech::Source::Moonshine(_), None) => None,
        }
    }

    /// What perception was configured with.
    #[must_use]
    pub fn settings(&self) -> &Config {
        &self.config
    }

    /// Whether mouths are scored against turns.
    #[must_use]
    pub(in crate::daemon::ingest) fn scores_mouths(&self) -> bool {
        self.active_speaker.is_some() && self.voice_activity.is_some() && self.faces.is_some()
    }

    /// A turn finder for one microphone, fresh or as it was; `None` without a voice activity model.
    ///
    /// # Errors
    /// When the model cannot be opened.
    pub fn turn_finder(
        &self,
        source: &SourceId,
        state: Option<TurnSegmenterState>,
    ) -> Result<Option<TurnSegmenter>, PerceiveError> {
        let Some(activity) = self.voice_activity()? else { return Ok(None) };
        let settings = self.config.voice.clone();
        Ok(Some(match state {
            Some(state) => TurnSegmenter::resume(settings, activity, state),
            None => TurnSegmenter::new(source.clone(), settings, activity),
        }))
    }

    /// What listens at one microphone for sounds that mean something, fresh or as it was; `None` where nobody does.
    ///
    /// # Errors
    /// When the model cannot be opened, or knows no class of that name.
    pub fn sound_listener(
        &self,
        source: &SourceId,
        state: Option<SoundListenerState>,
    ) -> Result<Option<SoundListener>, PerceiveError> {
        let Some(file) = &self.sounds else { return Ok(None) };
        let classifier = Box::new(YamNet::open(file)?);
        let kinds = &self.config.sounds.event;
        Ok(Some(SoundListener::new(source.clone(), classifier, kinds, state)?))
    }

    /// The calibrations of a session: those that its recording tells, and those that the configuration names, which
    /// count more.
    #[must_use]
    pub fn calibrated(&self, told: Calibrations) -> Arc<Calibrations> {
        let mut all = told;
        all.extend(self.calibrated.iter().map(|(source, camera)| (source.clone(), camera.clone())));
        Arc::new(all)
    }

    /// A worker's faces.
    pub(super) fn faces(&self) -> Result<Option<Faces>, PerceiveError> {
        let analyser = self.face_analyser(&self.config.face)?;
        Ok(Some(Faces { analyser, stages: Arc::clone(&self.stages) }))
    }

    /// Follows the faces of a camera.
    pub(super) fn face_tracker(&self, source: &SourceId) -> FaceTracker {
        let embedder = self.faces.as_ref().and_then(|models| models.embedder.as_ref());
        let gates = embedder.map(|embedder| embedder.kind.gates());
        let fps = self.config.window.analyse_fps;
        FaceTracker::new(source.clone(), TrackerSettings::of_faces(&self.config.face, fps, gates))
    }

    /// A worker's things; `None` without a detector.
    pub(super) fn things(&self) -> Result<Option<Things>, PerceiveError> {
        let Some(detector) = self.object_detector()? else { return Ok(None) };
        let joints = match &self.joints {
            Some(file) => Some(Joints {
                estimator: Box::new(MoveNet::open(
                    &file.path,
                    INTRA_OP_THREADS,
                    self.config.models.device,
                )?),
                most: self.config.actions.most_bodies,
                least: self.config.objects.min_body_score,
            }),
            None => None,
        };
        let (ignored, stages) = (self.config.objects.ignore.clone(), Arc::clone(&self.stages));
        Ok(Some(Things::new(detector, joints, ignored, stages)))
    }

    /// Follows the things and the people of a camera.
    pub(super) fn followed(&self, source: &SourceId) -> Followed {
        let (settings, fps) = (&self.config.objects, self.config.window.analyse_fps);
        let things = TrackerSettings::of_objects(settings, fps);
        let bodies = TrackerSettings::of_bodies(settings, fps);
        Followed {
            things: ObjectTracker::new(source.clone(), things),
            bodies: BodyTracker::new(source.clone(), bodies),
        }
    }

    /// A reader of words in view, whose networks all of them share; `None` where none are read.
    ///
    /// # Errors
    /// When a network cannot be opened.
    pub fn text_reader(&self) -> Result<Option<TextReader>, PerceiveError> {
        let Some(files) = &self.texts else { return Ok(None) };
        let mut known = self.text_networks.lock().unwrap_or_else(PoisonError::into_inner);
        let networks = match known.upgrade() {
            Some(networks) => networks,
            None => TextNetworks::open(files, self.config.models.device)?,
        };
        *known = Arc::downgrade(&networks);
        let least = self.config.text.min_confidence;
        Ok(Some(TextReader::new(networks, least, Arc::clone(&self.stages))))
    }

    /// Follows the texts that a camera shows.
    pub(super) fn text_tracker(&self, source: &SourceId) -> TextTracker {
        TextTracker::new(source.clone(), self.config.window.analyse_fps)
    }

    /// Whether words in view are read.
    #[must_use]
    pub(in crate::daemon::ingest) fn reads_texts(&self) -> bool {
        self.texts.is_some()
    }

    /// A worker's voices.
    pub(super) fn voices(&self) -> Result<Voices, PerceiveError> {
        let embedder = self.speaker_embedder()?.map(|voice| self.cached(voice));
        let slow = embedder.as_ref().is_some_and(|voice| !voice.hears_parts_at_once());
        let main = self.speaker_embedder.as_ref();
        let finder = self
            .change_finder
            .as_ref()
            .filter(|finder| slow && main.is_some_and(|main| main.hash != finder.hash));
        let change_finder = match finder {
            Some(finder) => Some(self.cached(open_embedder(finder, &self.config)?)),
            None => None,
        };
        let (split, recluster) = changes(finder.or(main), self.config.voice.threshold);
        let open = |file: &ModelFile| Pyannote::open(&file.path, self.config.models.device);
        let network = self.segmentation.as_ref().map(open).transpose()?;
        let beside = self.beside.as_ref().filter(|_| network.is_none()).map(open).transpose()?;
        let beside = beside.map(|network| Box::new(network) as Box<dyn SpeakerSegmentation>);
        let diarization = &self.config.diarization;
        let segmentation = network.map(|network| Separation {
            network: Box::new(network),
            settings: StreamSettings {
                step_secs: diarization.segmentation_step_secs,
                ..StreamSettings::default()
            },
            separate: diarization.segmentation == Segmentation::Separate,
        });
        Ok(Voices {
            embedder,
            change_finder,
            segmentation,
            beside,
            unlike: self.unlike(),
            split,
            recluster,
            short: self.short(),
            min_embed_secs: self.config.voice.min_embed_secs,
            stages: Arc::clone(&self.stages),
        })
    }

    /// A worker's mouths.
    pub(super) fn mouths(&self) -> Result<MouthScorer, PerceiveError> {
        let open = |file: &ModelFile| LrAsd::open(&file.path, self.config.models.device);
        let file = self.active_speaker.as_ref().filter(|_| self.scores_mouths());
        let network = file.map(open).transpose()?;
        let network = network.map(|network| Box::new(network) as Box<dyn ActiveSpeaker>);
        let threshold = self.config.voice.threshold;
        Ok(MouthScorer { network, threshold, stages: Arc::clone(&self.stages) })
    }

    /// An embedder that does not embed anew what a worker of this set has heard.
    fn cached(&self, embedder: Box<dyn SpeakerEmbedder>) -> Box<dyn SpeakerEmbedder> {
        Box::new(CachedEmbedder::new(embedder, Arc::clone(&self.heard)))
    }

    /// Loads a recogniser of words; `None` when none runs.
    ///
    /// # Errors
    /// When its model cannot be opened.
    pub fn recogniser(&self) -> Result<Option<Recogniser>, PerceiveError> {
        let Some(source) = &self.words else { return Ok(None) };
        let transcriber =
            speech::open(source, &self.config.transcriber, self.config.models.device)?;
        Ok(Some(Recogniser { transcriber, stages: Arc::clone(&self.stages) }))
    }

    /// Detector and embedder of faces, alone; `None` without a detector.
    ///
    /// # Errors
    /// When a model cannot be opened.
    pub fn face_analyser(
        &self,
        settings: &FacePerception,
    ) -> Result<Option<FaceAnalyser>, PerceiveError> {
        let Some(models) = &self.faces else { return Ok(None) };
        Ok(Some(FaceAnalyser::new(models, settings, INTRA_OP_THREADS)?))
    }

    /// The detector of things, alone; `None` without one.
    ///
    /// # Errors
    /// When the model cannot be opened.
    pub fn object_detector(&self) -> Result<Option<Box<dyn ObjectDetector>>, PerceiveError> {
        let Some(model) = &self.objects else { return Ok(None) };
        Ok(Some(model.open(&self.config)?))
    }

    /// The speaker embedder, alone; `None` where its model is missing.
    ///
    /// # Errors
    /// When the model cannot be opened.
    pub fn speaker_embedder(&self) -> Result<Option<Box<dyn SpeakerEmbedder>>, PerceiveError> {
        self.speaker_embedder.as_ref().map(|file| open_embedder(file, &self.config)).transpose()
    }

    /// Below which cosine two turns are surely not of one voice; -1 where nobody measured it.
    #[must_use]
    pub fn unlike(&self) -> f32 {
        let calibrated = self.speaker_embedder.as_ref().and_then(|file| file.thresholds.as_ref());
        calibrated.map_or(-1.0, |thresholds| thresholds.maybe)
    }

    /// When a reply too short for a voice of its own is that of one of its clip; `None` where nobody measured it.
    #[must_use]
    pub fn short(&self) -> Option<ShortSettings> {
        let network = self.speaker_embedder.as_ref().and_then(|file| file.thresholds.as_ref());
        network.and_then(ShortSettings::of)
    }

    /// The voice activity model, alone; `None` where it is missing.
    ///
    /// # Errors
    /// When the model cannot be opened.
    pub fn voice_activity(&self) -> Result<Option<Box<dyn VoiceActivity>>, PerceiveError> {
        let Some(file) = &self.voice_activity else { return Ok(None) };
        Ok(Some(Box::new(SileroVad::open(&file.path)?)))
    }
}

/// The calibrations that the configuration names; one that cannot be used is an ability impaired.
pub(crate) fn calibrations(config: &Config, degraded: &mut Vec<String>) -> Calibrations {
    let mut known = BTreeMap::new();
    for camera in &config.camera {
        let Some(file) = &camera.calibration_file else { continue };
        let path = find_file(file, config.store.dir.as_deref()).unwrap_or_else(|| file.clone());
        let read = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        match read.and_then(|text| CameraInfo::parse(&text).map_err(|error| error.to_string())) {
            Ok(info) => {
                known.insert(SourceId::new(&camera.id), info);
            }
            Err(why) => degraded.push(format!(
                "bearing of faces and things at {}: reading {}: {why}; check it with `engramd calibrate camera`",
                camera.id,
                path.display()
            )),
        }
    }
    known
}

fn nanodet(file: ModelFile) -> ObjectModel {
    ObjectModel::nanodet(file.name, file.path, file.hash, file.licence)
}

fn detector_files(file: &ModelFile) -> Result<DetectorFiles, ModelError> {
    if file.parts.contains_key("pnet") {
        return Ok(DetectorFiles::Mtcnn {
            pnet: file.part("pnet")?.to_owned(),
            rnet: file.part("rnet")?.to_owned(),
            onet: file.part("onet")?.to_owned(),
        });
    }
    if let Some(landmarks) = file.parts.get("landmarks") {
        let (model, landmarks) = (file.part("model")?.to_owned(), landmarks.clone());
        return Ok(DetectorFiles::UltraFace { model, landmarks });
    }
    let path = file.path.clone();
    Ok(if file.name.starts_with("scrfd") {
        DetectorFiles::Scrfd(path)
    } else {
        DetectorFiles::YuNet(path)
    })
}

fn embedder_file(file: &ModelFile) -> Result<EmbedderFile, ModelError> {
    let kind = match file.name.as_str() {
        "faceapi_descriptor" => EmbedderKind::FaceApi,
        "mobilefacenet192" => EmbedderKind::MobileFaceNet192,
        name if name.starts_with("arcface") => EmbedderKind::ArcFace,
        _ => EmbedderKind::MobileFaceNet,
    };
    let min_norm = file.thresholds.as_ref().and_then(|thresholds| thresholds.min_norm);
    Ok(EmbedderFile { path: file.path.clone(), kind, hash: file.hash, min_norm })
}

/// What turns speech into words, and its model where that is one of the catalogue; an absent one is an ability impaired.
fn words(
    config: &Config,
    catalogue: &Catalogue,
    degraded: &mut Vec<String>,
) -> Result<(Option<speech::Source>, Option<ModelFile>), PerceiveError> {
    let settings = &config.transcriber;
    let opens = |source: &speech::Source| speech::open(source, settings, config.models.device);
    match (settings.kind, &settings.model) {
        (TranscriberKind::None, _) => return Ok((None, None)),
        (TranscriberKind::Openai, _) => {
            opens(&speech::Source::Server)?;
            return Ok((Some(speech::Source::Server), None));
        }
        (TranscriberKind::Whisper | TranscriberKind::Auto, Some(file)) => {
            let source = speech::Source::Whisper(PathBuf::from(file));
            match opens(&source) {
                Ok(_) => return Ok((Some(source), None)),
                Err(error) if settings.kind == TranscriberKind::Whisper => return Err(error.into()),
                Err(error) => degraded.push(format!("words: {error}")),
            }
        }
        _ => {}
    }
    let file = match catalogue.configured(config, Job::Transcriber) {
        Ok(file) => file,
        Err(error) if error.is_absence() => {
            degraded.push(format!("words: {error}"));
            return Ok((None, None));
        }
        Err(error) => return Err(error.into()),
    };
    let source = if file.name.starts_with("whisper") {
        let source = speech::Source::Whisper(file.path.clone());
        if let Err(error) = opens(&source) {
            degraded.push(format!("words: {error}"));
            return Ok((None, None));
        }
        source
    } else {
        let part = |name| file.part(name).map(Path::to_owned);
        speech::Source::Moonshine(MoonshineFiles {
            encoder: part("encoder")?,
            decoder: part("decoder")?,
            tokenizer: part("tokenizer")?,
        })
    };
    Ok((Some(source), Some(file)))
}

fn open_embedder(
    file: &ModelFile,
    config: &Config,
) -> Result<Box<dyn SpeakerEmbedder>, PerceiveError> {
    let device = config.models.device;
    if file.name.starts_with("ge2e") {
        return Ok(Box::new(Ge2e::open(&file.path, device, config.voice.precision)?));
    }
    // The others hear a filter bank with a floor.
    let embedder: Box<dyn SpeakerEmbedder> =
        if file.path.extension().is_some_and(|extension| extension == "onnx") {
            Box::new(OnnxSpeaker::open(&file.path, file.hash, device)?)
        } else {
            Box::new(Eres2NetV2::open(&file.path, device, config.voice.precision)?)
        };
    Ok(if config.voice.normalise { Box::new(Normalised::new(embedder)) } else { embedder })
}

/// When one voice follows another, to the network that looks for it; to GE2E's measure where nobody measured it.
fn changes(finder: Option<&ModelFile>, threshold: f32) -> (SplitSettings, ReclusterSettings) {
    let measured = finder.and_then(|file| file.thresholds.as_ref()).and_then(|known| known.changes);
    match measured {
        Some(network) => (SplitSettings::of(&network, threshold), ReclusterSettings::of(&network)),
        None => (SplitSettings { threshold, ..Default::default() }, ReclusterSettings::default()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::{ModelSet, TranscriberKind};
    use crate::runtime::tiny::mean_squares;

    #[test]
    fn a_speaker_network_without_thresholds_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ecapa.onnx"), "ecapa").unwrap();
        let mut config = Config::default();
        config.models.set = ModelSet::Edge;
        config.transcriber.kind = TranscriberKind::None;
        let catalogue = Catalogue::open(Some(dir.path()), None).unwrap();
        let catalogue = catalogue.calibrated_in(dir.path().to_owned());
        let set = PerceiverSet::choose(&config, &catalogue).unwrap();
        assert_eq!(set.speaker_embedder.unwrap().name, "ecapa");
        let unmeasured = |why: &&String| why.contains("there are no thresholds for ecapa");
        assert_eq!(set.degraded.iter().filter(unmeasured).count(), 1, "{:?}", set.degraded);
    }

    #[test]
    fn a_speaker_network_as_onnx_is_taken_from_the_models_folder() {
        let dir = tempfile::tempdir().unwrap();
        let net = mean_squares("feature", &[None, None, Some(80)], &[0.5; 80 * 3], false);
        std::fs::write(dir.path().join("campplus.onnx"), net).unwrap();
        let mut config = Config::default();
        config.models.set = ModelSet::Edge;
        config.transcriber.kind = TranscriberKind::None;
        let catalogue = Catalogue::open(Some(dir.path()), None).unwrap();
        for normalise in [false, true] {
            config.voice.normalise = normalise;
            let set = PerceiverSet::choose(&config, &catalogue).unwrap();
            let file = set.speaker_embedder.as_ref().unwrap();
            assert_eq!(file.name, "campplus");
            let mut embedder = set.speaker_embedder().unwrap().unwrap();
            assert_eq!((embedder.name(), embedder.hash()), ("campplus.onnx", file.hash));
            assert_eq!(embedder.embed(&[0.1; 8_000]).unwrap().values.len(), 3);
        }
    }
}
