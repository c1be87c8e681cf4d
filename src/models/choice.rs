//! Models that the configuration names (`face.detector`, `voice.network`), in place of the order of its set.

use crate::config::{Config, FaceDetectorKind, SpeakerNetwork, TranscriberKind};
use crate::models::catalogue::{Catalogue, ModelFile};
use crate::models::error::ModelError;
use crate::models::job::Job;
use crate::models::manifest::Model;

/// The models of a kind of detector, best first; none: those of the set.
const fn detectors(kind: FaceDetectorKind) -> &'static [&'static str] {
    match kind {
        FaceDetectorKind::Auto => &[],
        FaceDetectorKind::Yunet => &["yunet_dynamic", "yunet_640", "yunet_320"],
        FaceDetectorKind::Scrfd => &["scrfd_10g", "scrfd_500m"],
        FaceDetectorKind::Ultraface => &["ultraface_320"],
        FaceDetectorKind::Mtcnn => &["mtcnn"],
    }
}

/// The model of a speaker network; none: those of the set.
const fn networks(network: SpeakerNetwork) -> &'static [&'static str] {
    match network {
        SpeakerNetwork::Auto => &[],
        SpeakerNetwork::Ge2e => &["ge2e"],
        SpeakerNetwork::W26S2Ep2 => &["eres2netv2"],
        SpeakerNetwork::W24S4Ep4 => &["eres2netv2_w24s4ep4"],
        SpeakerNetwork::Campplus => &["campplus"],
        SpeakerNetwork::Ecapa => &["ecapa"],
    }
}

/// The model of a recogniser; none: those of the set.
const fn transcribers(kind: TranscriberKind) -> &'static [&'static str] {
    match kind {
        TranscriberKind::Moonshine => &["moonshine_base"],
        TranscriberKind::Whisper => &["whisper_base_en"],
        TranscriberKind::Auto | TranscriberKind::Openai | TranscriberKind::None => &[],
    }
}

impl Catalogue {
    /// The model that the configuration wants for a job: the best present one of the kind that it names, else of its set.
    ///
    /// # Errors
    /// As [`Catalogue::choose`]; [`ModelError::NamedAbsent`] where nothing of the kind that is named is here.
    pub fn configured(&self, config: &Config, job: Job) -> Result<ModelFile, ModelError> {
        let named = match job {
            Job::FaceDetector => Some(("face.detector", detectors(config.face.detector))),
            Job::SpeakerEmbedder => Some(("voice.network", networks(config.voice.network))),
            Job::Transcriber => Some(("transcriber.kind", transcribers(config.transcriber.kind))),
            _ => None,
        };
        let Some((key, names)) = named.filter(|(_, names)| !names.is_empty()) else {
            return self.choose(config.models.set, job);
        };
        // A manifest of one's own need not have them all.
        let models: Vec<&Model> =
            names.iter().filter_map(|name| self.manifest.model(name)).collect();
        let known: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        if let Some(file) = self.first_of(&known, false)? {
            return Ok(file);
        }
        let fetchable = models.iter().find(|model| self.user_supplied(model).is_none());
        let cure = fetchable
            .or(models.first())
            .map_or_else(|| "add one to manifest.toml there".to_owned(), |model| self.cure(model));
        let (dir, wanted) = (self.dir().to_owned(), names.join(", "));
        Err(ModelError::NamedAbsent { key, job, dir, wanted, cure })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::ModelSet;
    use crate::models::Manifest;

    const DETECTORS: [FaceDetectorKind; 5] = [
        FaceDetectorKind::Auto,
        FaceDetectorKind::Yunet,
        FaceDetectorKind::Scrfd,
        FaceDetectorKind::Ultraface,
        FaceDetectorKind::Mtcnn,
    ];
    const NETWORKS: [SpeakerNetwork; 6] = [
        SpeakerNetwork::Auto,
        SpeakerNetwork::Ge2e,
        SpeakerNetwork::W26S2Ep2,
        SpeakerNetwork::W24S4Ep4,
        SpeakerNetwork::Campplus,
        SpeakerNetwork::Ecapa,
    ];

    #[test]
    fn every_model_that_finds_faces_or_tells_voices_apart_can_be_named() {
        let manifest = Manifest::built_in().unwrap();
        let mut reached: Vec<&str> = DETECTORS
            .into_iter()
            .flat_map(detectors)
            .chain(NETWORKS.into_iter().flat_map(networks))
            .copied()
            .collect();
        let of_either =
            |model: &&Model| matches!(model.job, Job::FaceDetector | Job::SpeakerEmbedder);
        let mut there: Vec<&str> =
            manifest.models().iter().filter(of_either).map(|model| model.name.as_str()).collect();
        reached.sort_unstable();
        there.sort_unstable();
        assert_eq!(reached, there);
    }

    #[test]
    fn a_network_runs_in_the_order_of_its_set_unless_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let put = |file: &str| fs::write(dir.path().join(file), file).unwrap();
        put("ecapa.onnx");
        let mut config = Config::default();
        config.models.set = ModelSet::Edge;
        let chosen = |config: &Config| {
            let catalogue = Catalogue::open(Some(dir.path()), None).unwrap();
            let catalogue = catalogue.calibrated_in(dir.path().to_owned());
            let file = catalogue.configured(config, Job::SpeakerEmbedder).unwrap();
            let passed = catalogue.passed_over(config.models.set, &file).unwrap();
            (file.name, passed)
        };
        let alone = |name: &str| (name.to_owned(), Vec::new());
        assert_eq!(chosen(&config), alone("ecapa"), "there is no other");

        let thresholds = dir.path().join(crate::models::thresholds::FOLDER);
        fs::create_dir_all(&thresholds).unwrap();
        let calibrate = |name: &str| {
            let measured = include_str!("../../calibration/thresholds/ge2e.toml");
            let measured = measured.replacen("\"ge2e\"", &format!("{name:?}"), 1);
            fs::write(thresholds.join(format!("{name}.toml")), measured).unwrap();
        };
        calibrate("ecapa");
        assert_eq!(chosen(&config), alone("ecapa"), "the order of the set again");
        put("campplus.onnx");
        assert_eq!(chosen(&config), alone("campplus"), "it comes with thresholds");
        let mut named = config.clone();
        named.voice.network = SpeakerNetwork::Ecapa;
        assert_eq!(chosen(&named), alone("ecapa"));
    }

    #[test]
    fn the_checkpoint_of_the_published_thresholds_comes_before_all_others() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["pretrained_eres2netv2.ckpt", "campplus.onnx", "ecapa.onnx"] {
            fs::write(dir.path().join(file), file).unwrap();
        }
        let catalogue = Catalogue::open(Some(dir.path()), None).unwrap();
        let mut config = Config::default();
        config.models.set = ModelSet::Edge;
        let file = catalogue.configured(&config, Job::SpeakerEmbedder).unwrap();
        assert_eq!(file.name, "eres2netv2");
        assert!(file.thresholds.is_some());
    }

    #[test]
    fn what_is_named_runs_alone_and_what_is_not_leaves_it_to_the_set() {
        let dir = tempfile::tempdir().unwrap();
        let put = |file: &str| fs::write(dir.path().join(file), file).unwrap();
        put("pretrained_eres2netv2.ckpt");
        put("ecapa.onnx");
        let mut config = Config::default();
        config.models.set = ModelSet::Edge;
        let chosen = |config: &Config, job| {
            Catalogue::open(Some(dir.path()), None).unwrap().configured(config, job)
        };
        let voice = |network: SpeakerNetwork| {
            let mut config = config.clone();
            config.voice.network = network;
            chosen(&config, Job::SpeakerEmbedder).map(|file| (file.name, file.instead_of))
        };
        let alone = |name: &str| (name.to_owned(), None);
        assert_eq!(voice(SpeakerNetwork::Auto).unwrap(), alone("eres2netv2"));
        assert_eq!(voice(SpeakerNetwork::Ecapa).unwrap(), alone("ecapa"));
        let absent = voice(SpeakerNetwork::W24S4Ep4).unwrap_err();
        assert!(absent.is_absence());
        let absent = absent.to_string();
        assert!(absent.contains("put pretrained_eres2netv2w24s4ep4.ckpt into"), "{absent}");
        assert!(absent.contains("or set voice.network = \"auto\""), "{absent}");
        put("pretrained_eres2netv2w24s4ep4.ckpt");
        assert_eq!(voice(SpeakerNetwork::W24S4Ep4).unwrap(), alone("eres2netv2_w24s4ep4"));
        assert_eq!(voice(SpeakerNetwork::Auto).unwrap(), alone("eres2netv2"), "as before");

        config.face.detector = FaceDetectorKind::Scrfd;
        let absent = chosen(&config, Job::FaceDetector).unwrap_err().to_string();
        assert!(absent.contains("wanted: scrfd_10g, scrfd_500m"), "{absent}");
        assert!(absent.contains("`engramd models fetch scrfd_500m`"), "{absent}");
        put("det_10g.onnx");
        assert_eq!(chosen(&config, Job::FaceDetector).unwrap().name, "scrfd_10g");
    }
}
