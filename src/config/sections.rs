//! The sections of `engram.toml`, each with its defaults.

use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use super::{Renaming, TopicSound};
use crate::memory::VectorSearch;

/// Declares a section: public fields with docs and defaults; unknown keys are refused.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident : $ty:ty = $default:expr),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
        impl Default for $name {
            fn default() -> Self { Self { $($field: $default),* } }
        }
    };
}

section! {
    /// `[robot]`
    Robot {
        /// Name in MQTT topics, `[a-z0-9_-]+`; default: host name and 4 hex digits of the machine id.
        id: Option<String> = None,
        /// IANA time zone in which "yesterday" and "this evening" are meant; default: the system's.
        timezone: Option<String> = None,
    }
}

/// Which models are taken for each job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelSet {
    /// From package registries alone.
    #[default]
    Open,
    /// Small, fast nets.
    Edge,
    /// The published system's models, for comparison.
    M3,
}

/// What neural networks compute on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// CUDA where the runtimes have it and a GPU answers, else the CPU.
    ///
    /// TensorRT is not tried by itself: it compiles an engine for every new input size.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// CUDA, else the CPU with a warning.
    Cuda,
    /// TensorRT where a network can run on it, else CUDA, else the CPU with a warning.
    TensorRt,
}

section! {
    /// `[models]`
    Models {
        /// The set.
        set: ModelSet = ModelSet::Open,
        /// What they run on.
        device: Device = Device::Auto,
        /// Where the files lie; default: the first of `target/models` beside a checkout's binary,
        /// `/var/lib/engram/models`, `/usr/share/engram/models`.
        dir: Option<PathBuf> = None,
        /// A folder whose files with the right hash are used where they lie.
        mirror: Option<PathBuf> = None,
        /// How long a network that crashed twice within an hour is left out at first, seconds.
        crash_rest_secs: f64 = 3600.0,
    }
}

/// `[[camera]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Name of the source.
    pub id: String,
    /// File in `pipelines/` (without `.launch`) or a GStreamer launch description.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// Device, `rtsp://…`, `http(s)://…`, or file, put into the pipeline's `{uri}`.
    #[serde(default)]
    pub uri: Option<String>,
    /// ROS CameraInfo (YAML): with it faces get a bearing and a rough distance.
    #[serde(default)]
    pub calibration_file: Option<PathBuf>,
}

/// Which library takes the sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MicrophoneBackend {
    /// GStreamer `alsasrc`/`pulsesrc`.
    #[default]
    Gstreamer,
    /// cpal.
    Cpal,
}

/// How the robot's own voice is taken out of a microphone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EchoCancelling {
    /// Not at all.
    #[default]
    None,
    /// By WebRTC's echo canceller (GStreamer's `webrtcdsp`), from what the loudspeaker plays.
    Webrtc,
}

/// `[[microphone]]`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Microphone {
    /// Name of the source.
    pub id: String,
    /// Library.
    #[serde(default)]
    pub backend: MicrophoneBackend,
    /// Device name, `pulse`, `pulse:NAME`, or a launch description; default: the system's.
    #[serde(default)]
    pub device: Option<String>,
    /// By how much its sound comes later than the pictures of the same moment, seconds, -5–5.
    #[serde(default)]
    pub offset_secs: f64,
    /// How the robot's own voice is taken out of it.
    #[serde(default)]
    pub echo: EchoCancelling,
    /// Where what the loudspeaker plays is tapped, as `device`; default: the monitor of the default loudspeaker.
    #[serde(default)]
    pub playback: Option<String>,
}

/// What robots call their own frame in TF, best first (REP 105, REP 120, and others).
pub const BASE_FRAMES: [&str; 4] = ["base_footprint", "base_link", "base", "body"];
/// What they call frames that stand still, best first.
pub const FIXED_FRAMES: [&str; 4] = ["map", "odom", "world", "vision"];

section! {
    /// `[replay]`
    Replay {
        /// Only these topics (names before `remap`; a file has `camera` and `microphone`); all that can be played when empty.
        topics: Vec<String> = Vec::new(),
        /// Not these topics.
        exclude_topics: Vec<String> = Vec::new(),
        /// These topics of text are what people said, understood by another recogniser.
        transcripts: Vec<String> = Vec::new(),
        /// Topics that get another name.
        remap: Vec<Renaming> = Vec::new(),
        /// How sound is coded of which no message tells it.
        sound: Vec<TopicSound> = Vec::new(),
        /// The robot's own frame in TF, best first, by the last part of its name; empty: TF tells no poses.
        base_frames: Vec<String> = BASE_FRAMES.map(str::to_owned).to_vec(),
        /// Frames that stand still, likewise.
        fixed_frames: Vec<String> = FIXED_FRAMES.map(str::to_owned).to_vec(),
        /// A folder of recordings that may be chosen to be played, by `replay/play` and on the page.
        folder: Option<PathBuf> = None,
    }
}

section! {
    /// `[window]`
    Window {
        /// Length of a clip, seconds, 5–300.
        clip_secs: f64 = 30.0,
        /// Frames analysed per second and camera, 0.5–30.
        analyse_fps: f64 = 5.0,
        /// How a camera moves is estimated from one analysed frame to the next, and taken out of what is followed.
        camera_motion: bool = true,
        /// So much of a core all cameras together may spend on looks for people, things and words beside those that are
        /// promised, 0–64.
        budget: f64 = 0.9,
        /// Live: a source silent for this long no longer holds the watermark back, seconds.
        idle_timeout_secs: f64 = 2.0,
        /// Frames a camera's channel holds before the oldest is dropped (live) or the source waits (replay).
        frame_queue: usize = 32,
        /// Blocks of sound a microphone's channel holds.
        sound_queue: usize = 256,
        /// Key frames kept per clip and camera.
        key_frames: usize = 4,
    }
}

section! {
    /// `[pipeline]`
    Pipeline {
        /// Perception workers; default: the number of cores.
        workers: Option<usize> = None,
    }
}

/// Which kind of network finds faces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaceDetectorKind {
    /// The best that the model set has here.
    #[default]
    Auto,
    /// YuNet.
    Yunet,
    /// SCRFD with key points.
    Scrfd,
    /// UltraFace.
    Ultraface,
    /// MTCNN.
    Mtcnn,
}

section! {
    /// `[face]`
    FacePerception {
        /// Which kind of network finds faces.
        detector: FaceDetectorKind = FaceDetectorKind::Auto,
        /// Detector confidence from which a face counts, 0–1.
        min_score: f32 = 0.6,
        /// Shorter side from which a face is embedded; smaller ones are followed and teach nothing, px.
        min_size_px: f32 = 24.0,
        /// Quality from which a face is embedded and may enter a gallery, 0–1.
        min_quality: f32 = 0.3,
        /// Seconds a track survives without being seen.
        max_lost_secs: f64 = 2.0,
        /// A face that never moves nor blinks is a picture: no person comes of it.
        spot_pictures: bool = false,
        /// While somebody is followed and all tracks are steady, faces are looked for in every so manieth analysed frame, and
        /// after a cut.
        detect_every: usize = 2,
        /// While nobody is in view, faces are looked for where the picture changes only, and everywhere in every fifth frame.
        only_changed: bool = true,
    }
}

section! {
    /// `[objects]`
    Objects {
        /// Whether people are followed as bodies, and things are looked for.
        on: bool = true,
        /// YOLO-style ONNX file; none: the model set's detector.
        model: Option<PathBuf> = None,
        /// What its classes are called; default: the names that are written in the model.
        labels: Option<PathBuf> = None,
        /// Detector confidence from which a thing counts, 0–1.
        min_score: f32 = 0.4,
        /// The same of a person who is followed as a body, 0–1.
        min_body_score: f32 = 0.45,
        /// Boxes of one class that overlap more are one thing, intersection over union.
        nms_iou: f32 = 0.5,
        /// Things and people are looked for in every so manieth analysed frame, and in all while somebody moves.
        every: usize = 5,
        /// Labels that are no things.
        ignore: Vec<String> = vec!["person".to_owned()],
    }
}

section! {
    /// `[actions]`
    Actions {
        /// What people do is told by their joints, where they are followed as bodies.
        on: bool = true,
        /// Of so many people in a picture, those who are seen largest.
        most_bodies: usize = 4,
    }
}

section! {
    /// `[text]`
    TextInView {
        /// Signs, labels and screens are read; needs the models' text detector and recognizer.
        on: bool = true,
        /// A camera's picture is read at most once in so many seconds of event time, and only where it shows something new.
        every_secs: f64 = 5.0,
        /// A line of text that is less sure is none, 0–1.
        min_confidence: f32 = 0.6,
    }
}

/// A kind of sound that means something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoundEventKind {
    /// What it is called in sentences: "a door bell".
    pub name: String,
    /// The classifier's classes that are it.
    pub classes: Vec<String>,
    /// Probability of the likeliest of them from which it is heard, 0–1.
    pub min_score: f32,
}

impl SoundEventKind {
    fn new(name: &str, classes: &[&str], min_score: f32) -> Self {
        let classes = classes.iter().map(|class| (*class).to_owned()).collect();
        Self { name: name.to_owned(), classes, min_score }
    }

    /// What is listened for where the configuration names nothing else; thresholds by `benches/sounds`.
    fn usual() -> Vec<Self> {
        vec![
            Self::new("a door bell", &["Doorbell", "Ding-dong"], 0.3),
            Self::new("a knock", &["Knock"], 0.2),
            Self::new(
                "an alarm",
                &["Alarm", "Smoke detector, smoke alarm", "Fire alarm", "Siren"],
                0.2,
            ),
            Self::new("shattering glass", &["Glass", "Shatter"], 0.2),
            Self::new("a dog", &["Dog", "Bark", "Howl"], 0.2),
            Self::new("a baby", &["Baby cry, infant cry"], 0.3),
            Self::new("music", &["Music"], 0.2),
            Self::new("laughter", &["Laughter"], 0.3),
            Self::new("applause", &["Applause", "Clapping"], 0.3),
        ]
    }
}

section! {
    /// `[sounds]`
    Sounds {
        /// Sounds that mean something are listened for; needs the model `yamnet`, which is in no set.
        on: bool = false,
        /// What is listened for.
        event: Vec<SoundEventKind> = SoundEventKind::usual(),
    }
}

/// What speaker segmentation is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Segmentation {
    /// It does not run.
    #[default]
    Off,
    /// Where two speak at once is cut out and teaches nothing.
    Overlap,
    /// The second voice gets a turn of its own, too.
    Separate,
}

section! {
    /// `[diarization]`
    Diarization {
        /// What speaker segmentation is used for.
        segmentation: Segmentation = Segmentation::Off,
        /// From one of the network's looks at 5 s of sound to the next, seconds.
        segmentation_step_secs: f64 = 2.5,
    }
}

/// How exactly the speaker network computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Full on a CPU, half on a GPU.
    #[default]
    Auto,
    /// 32-bit floating point.
    Full,
    /// 16 bits: float16 on a GPU, bfloat16 on a CPU.
    Half,
}

/// Which network tells voices apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpeakerNetwork {
    /// The best that the model set has here.
    #[default]
    Auto,
    /// GE2E.
    Ge2e,
    /// ERes2NetV2, base width 26, scale 2, expansion 2.
    W26S2Ep2,
    /// ERes2NetV2, base width 24, scale 4, expansion 4.
    W24S4Ep4,
    /// CAM++, or what lies in its place.
    Campplus,
    /// ECAPA-TDNN, or what lies in its place.
    Ecapa,
}

section! {
    /// `[voice]`
    VoicePerception {
        /// Which network tells voices apart.
        network: SpeakerNetwork = SpeakerNetwork::Auto,
        /// Speech probability that opens a turn, 0–1.
        threshold: f32 = 0.5,
        /// Silence that ends a turn, seconds.
        min_silence_secs: f64 = 0.45,
        /// Shorter speech is no turn, seconds.
        min_speech_secs: f64 = 0.25,
        /// Sound added before and after, seconds.
        pad_secs: f64 = 0.05,
        /// A turn is cut at its quietest place when it grows longer, seconds.
        max_turn_secs: f64 = 20.0,
        /// Shorter turns get no voice by themselves, seconds of speech.
        min_embed_secs: f64 = 0.6,
        /// How exactly ERes2NetV2 and GE2E compute.
        precision: Precision = Precision::Auto,
        /// Turns are brought to one loudness before a network that hears Kaldi's filter bank embeds them.
        normalise: bool = false,
    }
}

section! {
    /// `[active_speaker]`
    ActiveSpeakerPerception {
        /// Mouths are compared with the sound, where the set has a model for it.
        on: bool = true,
        /// Of each turn and face, so much is scored at most, seconds.
        window_secs: f64 = 2.0,
        /// Of each clip and microphone, so much is scored at most, seconds of face.
        clip_budget_secs: f64 = 12.0,
    }
}

section! {
    /// `[identity]`
    Identity {
        /// Cosine from which a face is taken for a known one; default: the model's calibrated threshold.
        face_accept: Option<f32> = None,
        /// Cosine from which a voice is taken for a known one; default: the model's calibrated threshold.
        voice_accept: Option<f32> = None,
        /// Exemplars per gallery.
        gallery_size: usize = 12,
        /// Seconds of track from which an unknown face becomes a person.
        min_new_face_secs: f64 = 1.0,
        /// Seconds of speech from which an unknown voice becomes a person.
        min_new_voice_secs: f64 = 1.5,
        /// Net seconds of evidence that link a voice to a face.
        link_secs: f64 = 1.5,
        /// After so many days those who were met once, and have neither a name nor another half, are looked for only where
        /// nobody else matches; 0: never.
        cold_after_days: f64 = 30.0,
        /// Lists of cameras of which no two see the same place: faces that two of them see at once are two people.
        separate_views: Vec<Vec<String>> = Vec::new(),
    }
}

/// Who turns speech into words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TranscriberKind {
    /// The first of the model set's recognisers that is here; Whisper where `transcriber.model` names its file.
    #[default]
    Auto,
    /// Moonshine (ONNX Runtime).
    Moonshine,
    /// whisper.cpp (cargo feature `whisper`).
    Whisper,
    /// Any OpenAI-compatible `/v1/audio/transcriptions` server.
    Openai,
    /// No words.
    None,
}

impl<'de> Deserialize<'de> for TranscriberKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const KINDS: [&str; 5] = ["auto", "moonshine", "whisper", "openai", "none"];
        match &*String::deserialize(deserializer)? {
            "auto" => Ok(Self::Auto),
            "moonshine" => Ok(Self::Moonshine),
            "whisper" => Ok(Self::Whisper),
            "openai" => Ok(Self::Openai),
            "none" => Ok(Self::None),
            "pocketsphinx" => Err(D::Error::custom(
                "`pocketsphinx` is no longer there, Moonshine makes far fewer errors; write \"auto\" or \"moonshine\" and bring its files with `engramd models fetch moonshine_base`",
            )),
            other => Err(D::Error::unknown_variant(other, &KINDS)),
        }
    }
}

section! {
    /// `[transcriber]`
    Transcriber {
        /// Which.
        kind: TranscriberKind = TranscriberKind::Auto,
        /// Server, for `openai`: `http://host:port/v1`.
        base_url: Option<String> = None,
        /// Model name (`openai`) or file (`whisper`).
        model: Option<String> = None,
        /// File that holds the API key.
        api_key_file: Option<PathBuf> = None,
        /// BCP 47 tag of the expected language.
        language: Option<String> = None,
    }
}

section! {
    /// `[upkeep]`
    Upkeep {
        /// Conclude habits, company and frequencies from many memories.
        reflect: bool = true,
        /// Where a model memorizes, it concludes from many memories, too.
        reflect_by_model: bool = true,
        /// Importance that must have come together before a pass concludes anew; a remark has 0.2 to 0.6.
        reflect_importance: f64 = 30.0,
        /// Make a place of where the robot stays for a while.
        places: bool = true,
        /// It has stayed when it stood still for so long, seconds.
        place_stay_secs: f64 = 20.0,
        /// Stops this close to a place are at it, metres.
        place_radius_m: f64 = 2.0,
        /// For so long the robot is where it was told to be, unless another place is told, seconds.
        place_told_secs: f64 = 14_400.0,
        /// Fold what has faded into summaries of its hour and day.
        forget: bool = true,
        /// Facts fade, too; names and what is pinned never do.
        forget_facts: bool = false,
        /// Days after which a memory that was never recalled is retained to 1/e.
        fade_days: f64 = 30.0,
        /// Retention under which a memory has faded, 0–1.
        retention: f64 = 0.05,
        /// Memories kept at most; over it the least retained are folded.
        keep_memories: usize = 200_000,
        /// Days for which `as_of` tells exactly what was known; what was retired before is deleted.
        history_days: f64 = 30.0,
        /// Days for which every sighting of a face or thing is kept; of older tracks the first, the best and the last are.
        keep_sightings_days: f64 = 90.0,
        /// Answers kept at most; the newest stay, and those that something was said of.
        keep_answers: usize = 20_000,
        /// Days for which answers are kept.
        keep_answers_days: f64 = 365.0,
    }
}

/// What an assistant is offered over MCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpTools {
    /// Nothing.
    None,
    /// What reads and asks.
    #[default]
    Read,
    /// What changes and erases, too.
    Change,
}

/// Built-in rules or a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// No language model.
    #[default]
    Builtin,
    /// The server of `[llm]`.
    Model,
}

/// What a memorizing model is asked, and how its reply reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemorizerProfile {
    /// Any multimodal model: our prompt, a JSON schema that the server enforces where it can.
    #[default]
    Engram,
    /// The wire form of the published memorization model.
    M3Memorization,
}

section! {
    /// `[memorizer]`
    Memorizer {
        /// Which.
        kind: Engine = Engine::Builtin,
        /// Form of request and reply.
        profile: MemorizerProfile = MemorizerProfile::Engram,
        /// Server; default: `llm.base_url`.
        base_url: Option<String> = None,
        /// Model name; default: `llm.model`.
        model: Option<String> = None,
        /// File that holds the API key; default: `llm.api_key_file`.
        api_key_file: Option<PathBuf> = None,
        /// Pictures sent with a clip, at most.
        pictures: usize = 4,
        /// The clip's sound is sent, too.
        sound: bool = false,
        /// One clip may take so long, retries included, seconds.
        timeout_secs: f64 = 300.0,
        /// Clips that wait on disk, MB; over it the oldest keep their built-in memories only.
        spool_cap_mb: u64 = 500,
    }
}

section! {
    /// `[answerer]`
    Answerer {
        /// Which.
        kind: Engine = Engine::Builtin,
        /// Evidence shown with an answer, at most.
        max_evidence: usize = 10,
        /// Questions answered at the same time; more wait, then are refused as overloaded.
        concurrency: usize = 4,
        /// Questions that may wait.
        queue: usize = 256,
        /// `model`: rounds of thinking and recall for a `deep` question, at most; the last must answer.
        rounds: usize = 5,
        /// `model`: who answers `fast` questions; the model has one round for them.
        fast: Engine = Engine::Builtin,
        /// `model`: questions for the model that may wait; more are refused as overloaded.
        model_queue: usize = 32,
        /// Words that make what follows a question, when they are heard; none: nobody is listened to.
        wake_phrase: Option<String> = None,
    }
}

/// How a model calls its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LlmProtocol {
    /// Function calling.
    #[default]
    Tools,
    /// The published control model's text protocol.
    M3,
}

section! {
    /// `[llm]`
    Llm {
        /// OpenAI-compatible server: `http://host:port/v1`.
        base_url: Option<String> = None,
        /// Model name.
        model: Option<String> = None,
        /// File that holds the API key.
        api_key_file: Option<PathBuf> = None,
        /// Protocol.
        protocol: LlmProtocol = LlmProtocol::Tools,
        /// The model takes pictures.
        pictures: bool = true,
        /// Tokens of one reply, at most.
        max_tokens: usize = 1024,
        /// Tokens of thinking before it, at most.
        thinking_tokens: usize = 2048,
        /// Tokens of a request, at most, about.
        context_tokens: usize = 24_000,
        /// Sampling temperature; default: 0.2, or 0.6 for `m3`.
        temperature: Option<f64> = None,
        /// A request that failed is sent again so often.
        retries: usize = 2,
    }
}

/// Who makes the vectors by which memories are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderKind {
    /// The sentence embedder of the model set.
    #[default]
    Local,
    /// Any OpenAI-compatible `/v1/embeddings` server.
    Server,
}

section! {
    /// `[embedder]`
    Embedder {
        /// Which.
        kind: EmbedderKind = EmbedderKind::Local,
        /// Server: `http://host:port/v1`.
        base_url: Option<String> = None,
        /// Model name.
        model: Option<String> = None,
        /// File that holds the API key.
        api_key_file: Option<PathBuf> = None,
        /// Length of the vectors; default: the model's own.
        dimensions: Option<usize> = None,
        /// Put before a question.
        query_prefix: String = String::new(),
        /// Put before a memory.
        passage_prefix: String = String::new(),
        /// Memories per request, at most.
        batch: usize = 32,
        /// One request for memories may take so long, seconds; a question waits for 1 s at most.
        timeout_secs: f64 = 30.0,
    }
}

section! {
    /// `[mqtt]`
    Mqtt {
        /// `embedded`, `mqtt://host:port` or `mqtts://host:port`.
        broker: String = "embedded".to_owned(),
        /// Where the embedded broker listens for MQTT 3.1.1.
        listen: String = "127.0.0.1:1883".to_owned(),
        /// Where the embedded broker listens for MQTT 5.
        listen_v5: String = "127.0.0.1:1884".to_owned(),
        /// User name.
        username: Option<String> = None,
        /// File that holds the password.
        password_file: Option<PathBuf> = None,
        /// Certificates (PEM) that an `mqtts://` broker's must be signed by; default: the system's.
        ca_file: Option<PathBuf> = None,
        /// Certificate (PEM) that an `mqtts://` broker is shown, where it demands one.
        client_cert_file: Option<PathBuf> = None,
        /// Its key (PEM).
        client_key_file: Option<PathBuf> = None,
        /// First part of every topic.
        prefix: String = "engram".to_owned(),
        /// Requests per second of one asker, twice as many in a burst; 0: no limit.
        reply_rate: f64 = 2000.0,
        /// The same of all together.
        request_rate: f64 = 2000.0,
    }
}

section! {
    /// `[http]`
    Http {
        /// Where it listens; `none`: nowhere.
        listen: String = "127.0.0.1:8090".to_owned(),
        /// Names under which it is reached, besides the address itself and localhost.
        hosts: Vec<String> = Vec::new(),
        /// Who may log in: a line for each, made by `engramd users add`.
        users_file: Option<PathBuf> = None,
        /// Programs that may come with a token: a line for each, made by `engramd users token`.
        tokens_file: Option<PathBuf> = None,
        /// A login ends when it was not used for so long, seconds.
        idle_secs: f64 = 3600.0,
        /// A login ends after so long in any case, seconds.
        login_secs: f64 = 43_200.0,
        /// What assistants find at `/mcp`.
        mcp: McpTools = McpTools::Read,
        /// Addresses of proxies whose forwarding headers are believed.
        trusted_proxies: Vec<String> = Vec::new(),
        /// Certificate chain (PEM) for https://.
        tls_cert_file: Option<PathBuf> = None,
        /// Its key (PEM).
        tls_key_file: Option<PathBuf> = None,
    }
}

section! {
    /// `[ring]`
    Ring {
        /// So many minutes of what cameras and microphones gave lie on the disk, live; 0: none.
        minutes: f64 = 0.0,
        /// Of them so much at most, MB.
        cap_mb: u64 = 2000,
        /// All snapshots together, MB.
        snapshots_mb: u64 = 4000,
        /// What a memory of at least that importance (0–1) tells of is kept as a snapshot by itself; 0: nothing is.
        keep_importance: f32 = 0.0,
    }
}

impl Ring {
    /// Whether there is one.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.minutes > 0.0
    }
}

section! {
    /// `[wyoming]`
    Wyoming {
        /// Where the server listens, on this machine alone; `none`: nowhere.
        listen: String = "none".to_owned(),
    }
}

section! {
    /// `[home_assistant]`
    HomeAssistant {
        /// Announce the robot there, and publish who is here and what was said and answered last.
        discovery: bool = false,
        /// Tell it of every person with a name, too, and of visits.
        persons: bool = false,
        /// First part of its discovery topics.
        prefix: String = "homeassistant".to_owned(),
    }
}

section! {
    /// `[store]`
    Store {
        /// Where the memory lies; default: `/var/lib/engram`, else `$XDG_STATE_HOME/engram`.
        dir: Option<PathBuf> = None,
        /// Pictures and sound kept at most, MB.
        media_cap_mb: u64 = 2000,
        /// File with the key (64 hexadecimal digits) under which everything in `dir` is encrypted; none = nothing is.
        key_file: Option<PathBuf> = None,
    }
}

section! {
    /// `[recall]`
    Recall {
        /// How the nearest sentence vectors are found.
        vectors: VectorSearch = VectorSearch::Auto,
    }
}

section! {
    /// `[visits]`
    Visits {
        /// Whoever was neither seen nor heard for so long has gone, seconds.
        absence_secs: f64 = 120.0,
    }
}

section! {
    /// `[privacy]`
    Privacy {
        /// Pictures and sound are kept.
        media: bool = true,
        /// Persons without a name are kept.
        strangers: bool = true,
        /// Not kept, they are erased so long after they were last seen or heard, seconds.
        stranger_secs: f64 = 300.0,
        /// Everything older is erased, days; none = kept.
        keep_days: Option<f64> = None,
        /// The same for what was said, word for word.
        keep_utterance_days: Option<f64> = None,
        /// For what happened.
        keep_episodic_days: Option<f64> = None,
        /// For what is true of somebody or something.
        keep_semantic_days: Option<f64> = None,
        /// For what was concluded.
        keep_reflection_days: Option<f64> = None,
        /// For summaries.
        keep_summary_days: Option<f64> = None,
        /// For what was told.
        keep_note_days: Option<f64> = None,
        /// For what feedback taught.
        keep_lesson_days: Option<f64> = None,
    }
}

section! {
    /// `[metrics]`
    Metrics {
        /// Address of the Prometheus endpoint; none = off.
        listen: Option<String> = None,
    }
}
