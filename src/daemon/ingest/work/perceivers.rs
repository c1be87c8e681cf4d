//! The models of one worker, and the choice of them from the catalogue.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use image::RgbImage;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use sha2::{Digest as _, Sha256};

use crate::camera::CameraInfo;
use crate::capture::image::picture::to_rgb_in;
use crate::config::sections::FacePerception;
use crate::config::{Config, Segmentation, SpeakerNetwork, TranscriberKind, find_file};
use crate::daemon::ingest::metrics::rate_limited::RateLimitedLog;
use crate::daemon::ingest::metrics::stages::{Stage, StageTimes};
use crate::daemon::ingest::stage::detection_schedule::{DetectionPlan, FaceDetectionMode};
use crate::daemon::ingest::stage::mouths::Scores;
use crate::ids::{ModelHash, SourceId, TurnId};
use crate::media::{Frame, Picture};
use crate::models::{Catalogue, Job, ModelError, ModelFile};
use crate::perceive::PerceiveError;
use crate::perceive::active_speaker::{ActiveSpeaker, Excerpt, LrAsd};
use crate::perceive::face::{
    DetectorFiles, EmbedderFile, EmbedderKind, FaceAnalyser, FaceModels, Thumbnail,
};
use crate::perceive::object;
use crate::perceive::object::{Detection, ObjectDetector, WEAK_SHARE, Yolo};
use crate::perceive::speech;
use crate::perceive::speech::{MoonshineFiles, OpenAiTranscriber, Transcriber};
use crate::perceive::track::GatingThresholds;
use crate::perceive::voice::{
    CachedEmbedder, Embedders, EmbeddingCache, Eres2NetV2, Ge2e, Listener, Normalised, OnnxSpeaker,
    Pyannote, RawTurn, ReclusterSettings, ShortSettings, SileroVad, SpeakerEmbedder,
    SpeakerSegmentation, SplitSettings, StreamSettings, TurnSegmenter, TurnSegmenterState,
    VoiceActivity, decide_short, recluster, streams,
};
use crate::percept::{FrameFaces, Object, SpeechTurn, Transcript};
use crate::runtime::onnx;
use crate::runtime::onnx::Device;
use crate::time::{Span, Timestamp};

/// Threads inside one model call: a constant, because it decides the last bits of the result.
const INTRA_OP_THREADS: usize = 1;
/// JPEG quality of the frames that the window keeps.
const FRAME_QUALITY: u8 = 80;
/// Who is heard so soon before or after speaking over the robot is who does, seconds.
const NEAR_SECS: f64 = 0.5;

/// Cameras whose calibration is known.
pub type Calibrations = BTreeMap<SourceId, CameraInfo>;

/// What a worker makes of a frame.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// The faces.
    pub faces: FrameFaces,
    /// The picture in small, to tell hard cuts.
    pub thumbnail: Thumbnail,
    /// Whether it is known which faces there are: they were looked for, or nothing changed since there were none.
    pub looked: bool,
    /// The things, where they were looked for.
    pub objects: Option<Vec<Object>>,
}

/// The detector of things that the configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectModel {
    /// The file.
    pub path: PathBuf,
    /// What its classes are called; `None`: as the file says.
    pub labels: Option<PathBuf>,
    /// SHA-256 of the file.
    pub hash: ModelHash,
}

impl ObjectModel {
    /// The one that the configuration names, tried: a file of another kind is told of at the start, not at the first frame.
    /// `None` where none is named.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn configured(config: &Config) -> Result<Option<Self>, String> {
        let settings = &config.objects;
        let state_dir = config.store.dir.as_deref();
        let place = |file: &PathBuf| find_file(file, state_dir).unwrap_or_else(|| file.clone());
        let Some(path) = settings.model.as_ref().map(place) else { return Ok(None) };
        let hash = sha256_of(&path)?;
        let model = Self { path, labels: settings.labels.as_ref().map(place), hash };
        model.open(config).map_err(|error| error.to_string())?;
        Ok(Some(model))
    }

    fn open(&self, config: &Config) -> Result<Yolo, object::ObjectError> {
        let settings = &config.objects;
        let thresholds = (settings.min_score * WEAK_SHARE, settings.nms_iou);
        let labels = self.labels.as_deref();
        Yolo::open(&self.path, labels, thresholds, INTRA_OP_THREADS, config.models.device)
    }
}

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
        let objects = ObjectModel::configured(config).unwrap_or_else(|why| {
            degraded.push(format!("objects: {why}"));
            None
        });
        let set = Self {
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
            degraded,
            stages: Arc::default(),
            heard: Arc::default(),
        };
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

    /// What the embedder's cosines mean, for the tracker.
    #[must_use]
    pub fn gates(&self) -> Option<GatingThresholds> {
        let embedder = self.faces.as_ref()?.embedder.as_ref()?;
        Some(embedder.kind.gates())
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

    /// The calibrations of a session: those that its recording tells, and those that the configuration names, which
    /// count more.
    #[must_use]
    pub fn calibrated(&self, told: Calibrations) -> Arc<Calibrations> {
        let mut all = told;
        all.extend(self.calibrated.iter().map(|(source, camera)| (source.clone(), camera.clone())));
        Arc::new(all)
    }

    /// Loads one worker's models.
    ///
    /// # Errors
    /// When a model cannot be opened.
    pub fn load(&self, calibrated: &Arc<Calibrations>) -> Result<Perceivers, PerceiveError> {
        let faces = self.face_analyser(&self.config.face)?;
        let objects = self.object_detector()?;
        let voice = self.speaker_embedder()?.map(|voice| self.remembering(voice));
        let slow = voice.as_ref().is_some_and(|voice| !voice.hears_parts_at_once());
        let main = self.speaker_embedder.as_ref();
        let finder = self
            .change_finder
            .as_ref()
            .filter(|finder| slow && main.is_some_and(|main| main.hash != finder.hash));
        let splitter = match finder {
            Some(finder) => Some(self.remembering(open_embedder(finder, &self.config)?)),
            None => None,
        };
        let (split, joint) = changes(finder.or(main), self.config.voice.threshold);
        let min_embed_secs = self.config.voice.min_embed_secs;
        let stages = Arc::clone(&self.stages);
        let calibrated = Arc::clone(calibrated);
        let open = |file: &ModelFile| LrAsd::open(&file.path, self.config.models.device);
        let speaker = self.active_speaker.as_ref().filter(|_| self.scores_mouths()).map(open);
        let speaker =
            speaker.transpose()?.map(|speaker| Box::new(speaker) as Box<dyn ActiveSpeaker>);
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
        let ignored = self.config.objects.ignore.clone();
        Ok(Perceivers {
            faces,
            objects,
            unsearched: RateLimitedLog::default(),
            ignored,
            calibrated,
            voice,
            splitter,
            segmentation,
            beside,
            unlike: self.unlike(),
            speaker,
            split,
            joint,
            short: self.short(),
            min_embed_secs,
            memory: Vec::new(),
            stages,
        })
    }

    /// An embedder that does not embed anew what a worker of this set has heard.
    fn remembering(&self, embedder: Box<dyn SpeakerEmbedder>) -> Box<dyn SpeakerEmbedder> {
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
        Ok(Some(Box::new(model.open(&self.config)?)))
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

fn sha256_of(path: &Path) -> Result<ModelHash, String> {
    let fail = |error: std::io::Error| {
        format!("reading the object detector {}: {error}; set `objects.model`", path.display())
    };
    let mut hasher = Sha256::new();
    let mut file = File::open(path).map_err(fail)?;
    std::io::copy(&mut file, &mut hasher).map_err(fail)?;
    Ok(ModelHash(hasher.finalize().into()))
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

/// Speaker segmentation, and what is done with it.
struct Separation {
    network: Box<dyn SpeakerSegmentation>,
    settings: StreamSettings,
    /// The second voice gets a turn, too.
    separate: bool,
}

/// One worker's models.
pub struct Perceivers {
    faces: Option<FaceAnalyser>,
    objects: Option<Box<dyn ObjectDetector>>,
    /// Frames in which things could not be looked for.
    unsearched: RateLimitedLog,
    /// Labels that are no things.
    ignored: Vec<String>,
    calibrated: Arc<Calibrations>,
    voice: Option<Box<dyn SpeakerEmbedder>>,
    /// Looks for changes of voice, where `voice` is too slow for that.
    splitter: Option<Box<dyn SpeakerEmbedder>>,
    /// Tells two voices at once; `None` where that is off.
    segmentation: Option<Separation>,
    /// Hears others beside the robot where `segmentation` is off.
    beside: Option<Box<dyn SpeakerSegmentation>>,
    /// Below which cosine two voices are surely two.
    unlike: f32,
    /// Compares mouths with sound.
    speaker: Option<Box<dyn ActiveSpeaker>>,
    split: SplitSettings,
    joint: ReclusterSettings,
    /// When a short reply is somebody's of its clip; `None`: never.
    short: Option<ShortSettings>,
    min_embed_secs: f64,
    /// Of the picture before.
    memory: Vec<u8>,
    stages: Arc<StageTimes>,
}

impl Perceivers {
    /// Finds and embeds the faces of a frame and finds its things, as far as it `looks`; the picture is taken in in any
    /// case.
    ///
    /// # Errors
    /// When the picture cannot be decoded or a model of faces cannot run. Things that could not be looked for are left
    /// out of that frame.
    pub fn frame(
        &mut self,
        frame: &Frame,
        looks: &DetectionPlan,
    ) -> Result<Analysed, PerceiveError> {
        let memory = std::mem::take(&mut self.memory);
        let (picture, jpeg) = self.stages.time(Stage::Picture, || pixels(frame, memory))?;
        let thumbnail = Thumbnail::of(&picture);
        let (mut faces, looked) = self.faces(frame, &picture, &thumbnail, &looks.faces)?;
        faces.jpeg = Some(jpeg);
        let camera = self.camera(&faces);
        for face in &mut faces.faces {
            let seen = camera.as_ref();
            face.bearing =
                seen.and_then(|seen| seen.bearing_of_face(face.bbox.centre(), &face.landmarks));
        }
        let objects =
            if looks.objects { self.objects(frame, &picture, camera.as_ref()) } else { None };
        self.memory = picture.into_raw();
        Ok(Analysed { faces, thumbnail, looked, objects })
    }

    /// The faces of a picture, as far as they are looked for, and whether it is known now which there are.
    fn faces(
        &mut self,
        Frame { source, at, .. }: &Frame,
        picture: &RgbImage,
        thumbnail: &Thumbnail,
        look: &FaceDetectionMode,
    ) -> Result<(FrameFaces, bool), PerceiveError> {
        let none = || FrameFaces::none(source, *at, picture.dimensions());
        let change = match look {
            FaceDetectionMode::Always => None,
            FaceDetectionMode::AfterCut(before) if before.is_of_another_scene(thumbnail) => None,
            FaceDetectionMode::AfterCut(_) => return Ok((none(), false)),
            FaceDetectionMode::WhereChanged(scene) => match scene.change(thumbnail) {
                Some(change) => Some(change),
                None => return Ok((none(), true)),
            },
        };
        let Some(analyser) = &mut self.faces else { return Ok((none(), true)) };
        let faces = self.stages.time(Stage::Faces, || match &change {
            Some(change) => analyser.analyse_change(source, *at, picture, change),
            None => analyser.analyse(source, *at, picture),
        })?;
        Ok((faces, true))
    }

    /// The things of a picture; `None` without a detector, and where it failed.
    fn objects(
        &mut self,
        frame: &Frame,
        picture: &RgbImage,
        camera: Option<&CameraInfo>,
    ) -> Option<Vec<Object>> {
        let detector = self.objects.as_mut()?;
        match self.stages.time(Stage::Objects, || detector.detect(picture)) {
            Ok(found) => Some(
                found
                    .into_iter()
                    .filter(|one| !self.ignored.iter().any(|label| **label == *one.label))
                    .map(|Detection { bbox, label, score }| {
                        let bearing = camera.and_then(|camera| camera.bearing(bbox.centre()));
                        Object { bbox, label, score, bearing, picture: picture.dimensions() }
                    })
                    .collect(),
            ),
            Err(error) => {
                if let Some(count) = self.unsearched.happened(Instant::now()) {
                    tracing::warn!(source = %frame.source, %error, count, "A frame was not searched for things; more are told once a minute.");
                }
                None
            }
        }
    }

    /// The camera that took the frame, where its calibration is known and of these pictures.
    fn camera(&self, frame: &FrameFaces) -> Option<CameraInfo> {
        let camera = self.calibrated.get(&frame.source)?;
        let scaled = camera.scaled_to(frame.width, frame.height);
        if scaled.is_none() {
            static ONCE: std::sync::Once = std::sync::Once::new();
            let (width, height) = (frame.width, frame.height);
            ONCE.call_once(|| {
                tracing::warn!(
                    source = %frame.source,
                    "The camera is calibrated for pictures of {}x{} and delivers {width}x{height}: faces and things have no bearing.",
                    camera.width, camera.height
                );
            });
        }
        scaled
    }

    /// Parts a raw turn: the robot's share (`own`: when it spoke), that of who speaks over it, and what others say, which is
    /// split where the speaker changes or two speak at once. Each part is embedded, but for the robot's.
    ///
    /// # Errors
    /// When a network cannot run.
    pub fn voice(&mut self, raw: &RawTurn, own: &[Span]) -> Result<Vec<SpeechTurn>, PerceiveError> {
        if own.is_empty() {
            return self.voices(raw);
        }
        let network = match (&mut self.segmentation, &mut self.beside) {
            (Some(separation), _) => Some(separation.network.as_mut()),
            (None, Some(network)) => Some(network.as_mut()),
            (None, None) => None,
        };
        let mut listener = Listener {
            network: network.map(|network| network as &mut dyn SpeakerSegmentation),
            voice: self.voice.as_mut().map(|voice| voice.as_mut() as &mut dyn SpeakerEmbedder),
            unlike: self.unlike,
            min_embed_secs: self.min_embed_secs,
            split: &self.split,
        };
        let stages = Arc::clone(&self.stages);
        let shares = stages.time(Stage::SpeakerSegmentation, || listener.shares(raw, own))?;
        let mut turns = Vec::new();
        for part in &shares.alone {
            turns.extend(self.voices(part)?);
        }
        let over = shares.over.into_iter().map(|part| {
            // Who goes on when the robot has ended, or began before it did, is who spoke over it.
            let near = |turn: &&SpeechTurn| {
                let gap = turn.span.start.secs_since(part.span.end);
                gap.max(part.span.start.secs_since(turn.span.end)) <= NEAR_SECS
            };
            let voice =
                turns.iter().find(near).and_then(|turn: &SpeechTurn| turn.embedding.clone());
            SpeechTurn { overlapped: true, ..part.into_turn(TurnId::default(), voice) }
        });
        let mut over: Vec<SpeechTurn> = over.collect();
        let own = shares.own.into_iter();
        over.extend(
            own.map(|part| SpeechTurn { own: true, ..part.into_turn(TurnId::default(), None) }),
        );
        turns.append(&mut over);
        turns.sort_by_key(|turn| turn.span.start);
        Ok(turns)
    }

    fn voices(&mut self, raw: &RawTurn) -> Result<Vec<SpeechTurn>, PerceiveError> {
        let stages = Arc::clone(&self.stages);
        let found = match &mut self.segmentation {
            Some(Separation { network, settings, separate }) => {
                let look = || streams(&raw.sound, network.as_mut(), settings);
                Some((stages.time(Stage::SpeakerSegmentation, look)?, *separate))
            }
            None => None,
        };
        let mut embedders = Embedders {
            finder: self
                .splitter
                .as_mut()
                .map(|finder| finder.as_mut() as &mut dyn SpeakerEmbedder),
            voice: self.voice.as_mut().map(|voice| voice.as_mut() as &mut dyn SpeakerEmbedder),
            split: &self.split,
            min_embed_secs: self.min_embed_secs,
        };
        Ok(stages.time(Stage::Voice, || match &found {
            Some((streams, separate)) => embedders.turns_of(raw, streams, *separate),
            None => embedders.turns(raw),
        })?)
    }

    /// Scores a face against a turn: log odds by time, the turn's pauses left out.
    ///
    /// # Errors
    /// When the network cannot run.
    pub(in crate::daemon::ingest) fn mouth(
        &mut self,
        turn: &RawTurn,
        excerpt: &Excerpt,
    ) -> Result<Scores, PerceiveError> {
        let Some(speaker) = &mut self.speaker else { return Ok(Vec::new()) };
        let threshold = self.split.threshold;
        let score = || excerpt.score(speaker.as_mut(), turn, threshold);
        Ok(self.stages.time(Stage::ActiveSpeaker, score)?)
    }

    /// Parts voices that a poor channel makes alike, and gives short replies to one of the clip's voices: the turns of one
    /// microphone and clip, in time order.
    ///
    /// # Errors
    /// When an embedder cannot run.
    pub fn again(&mut self, turns: Vec<SpeechTurn>) -> Result<Vec<SpeechTurn>, PerceiveError> {
        let stages = Arc::clone(&self.stages);
        let settings = self.joint;
        let least = self.min_embed_secs;
        stages.time(Stage::Voice, || {
            let turns = match (&mut self.splitter, &mut self.voice) {
                (Some(finder), Some(voice)) => {
                    recluster(turns, finder.as_mut(), Some(voice.as_mut()), least, &settings)?
                }
                (Some(only), None) | (None, Some(only)) => {
                    recluster(turns, only.as_mut(), None, least, &settings)?
                }
                (None, None) => turns,
            };
            Ok(match (&mut self.voice, &self.short) {
                (Some(voice), Some(settings)) => decide_short(turns, voice.as_mut(), settings)?,
                _ => turns,
            })
        })
    }
}

/// Turns speech into words.
pub struct Recogniser {
    transcriber: Box<dyn Transcriber>,
    stages: Arc<StageTimes>,
}

impl Recogniser {
    /// Recognises a turn's words.
    ///
    /// # Errors
    /// When the recogniser fails.
    pub fn words(&mut self, turn: &SpeechTurn) -> Result<Transcript, PerceiveError> {
        self.transcribe(&turn.sound, turn.span.start)
    }

    /// Recognises the words of 16 kHz mono sound in [-1, 1] that began at `start`.
    ///
    /// # Errors
    /// When the recogniser fails.
    pub fn transcribe(
        &mut self,
        sound: &[f32],
        start: Timestamp,
    ) -> Result<Transcript, PerceiveError> {
        let Self { transcriber, stages } = self;
        Ok(stages.time(Stage::Words, || transcriber.transcribe(sound, start))?)
    }
}

/// The frame's pixels, and the JPEG that the window keeps.
fn pixels(frame: &Frame, memory: Vec<u8>) -> Result<(RgbImage, Arc<[u8]>), PerceiveError> {
    let picture = to_rgb_in(frame, memory)?;
    if let Picture::Encoded(bytes) = &frame.picture
        && bytes.starts_with(&[0xFF, 0xD8])
    {
        return Ok((picture, Arc::clone(bytes)));
    }
    let jpeg = jpeg(&picture)?;
    Ok((picture, jpeg))
}

/// The picture as JPEG, colour at half the resolution as cameras and video files have it.
fn jpeg(picture: &RgbImage) -> Result<Arc<[u8]>, PerceiveError> {
    let fail = |why: String| PerceiveError::Picture {
        width: picture.width(),
        height: picture.height(),
        why,
    };
    let side = |length: u32| {
        u16::try_from(length).map_err(|_| fail("a side is over 65,535 px".to_owned()))
    };
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, FRAME_QUALITY);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder
        .encode(picture.as_raw(), width, height, ColorType::Rgb)
        .map_err(|error| fail(error.to_string()))?;
    Ok(bytes.into())
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
