//! The sentence embedder: whether its server answers, and how many memories have its vectors.

use crate::config::EmbedderKind;
use crate::ids::ModelHash;
use crate::memory::VectorCensus;
use crate::models::{Catalogue, Job};
use crate::text::{MiniLm, ServerEmbedder, TextEmbedder as _};

use super::{Finding, Verdict};
use crate::cli::context::Context;

const AREA: &str = "embedder";

pub(super) fn embedder(context: &Context) -> Vec<Finding> {
    // A store that is not there, or cannot be read, has a finding of its own.
    let census = context
        .config
        .store_key()
        .ok()
        .and_then(|key| VectorCensus::of(&context.config.store_dir(), key.as_ref()).ok());
    let census = census.unwrap_or_default();
    let mut findings = Vec::new();
    let model = match context.config.embedder.kind {
        EmbedderKind::Local => local(context),
        EmbedderKind::Server => {
            let (finding, model) = server(context, &census);
            findings.push(finding);
            model
        }
    };
    if let Some(model) = model.filter(|_| census.memories > 0) {
        findings.push(vectors(&census, model));
    }
    findings
}

fn local(context: &Context) -> Option<ModelHash> {
    let settings = &context.config.models;
    let catalogue = Catalogue::open(settings.dir.as_deref(), settings.mirror.as_deref()).ok()?;
    let file = catalogue.choose(settings.set, Job::TextEmbedder).ok()?;
    MiniLm::identity(file.part("model").ok()?, file.part("tokenizer").ok()?).ok()
}

fn server(context: &Context, census: &VectorCensus) -> (Finding, Option<ModelHash>) {
    let config = &context.config;
    let bad =
        |found: String, cure: &str| Finding::bad(Verdict::Warning, AREA, "server", found, cure);
    let server = match ServerEmbedder::open(&config.embedder, Some(&config.store_dir())) {
        Ok(server) => server,
        Err(error) => return (bad(error.to_string(), "see [embedder] in engram.toml"), None),
    };
    for count in &census.models {
        server.recognise(count.model, count.dimensions);
    }
    let finding = match server.embed_passages(&["Where is my mug?".to_owned()]) {
        Ok(vectors) => {
            let numbers = vectors.first().map_or(0, |vector| vector.values.len());
            let model = config.embedder.model.as_deref().unwrap_or_default();
            Finding::ok(AREA, "server", format!("{model}, {numbers} numbers per text"))
        }
        Err(error) => {
            let cure = "memories are found by words meanwhile; docs/language-models.md has set-ups";
            bad(error.to_string(), cure)
        }
    };
    (finding, server.model())
}

fn vectors(census: &VectorCensus, model: ModelHash) -> Finding {
    let own = census.models.iter().find(|count| count.model == model);
    let own = own.map_or(0, |count| count.memories);
    let found = format!("{own} of {} memories have its vectors", census.memories);
    if own >= census.memories {
        return Finding::ok(AREA, "vectors", found);
    }
    let cure = "the running daemon makes the rest in the background (`stats`: queue `vectors`); until then they are found by words";
    Finding::bad(Verdict::Warning, AREA, "vectors", found, cure)
}
