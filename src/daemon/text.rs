//! Which sentence embedder runs: the configured one, and until the memory has changed over to it the one before it.
//!
//! Nothing is kept of a change but the vectors themselves: whoever has the most of them answers, so that a change
//! that was interrupted goes on, and one that is through is through.

use std::sync::Arc;
use std::thread;

use super::error::AssembleError;
use crate::config::{Config, EmbedderKind};
use crate::memory::{VectorCount, View};
use crate::models::{Catalogue, Job, ModelFile};
use crate::text::{Answering, Embedders, MiniLm, ServerEmbedder, TextEmbedder};

/// The embedders for that memory; else why the configured one is not here.
///
/// # Errors
/// When a model file is damaged, or the server's settings cannot be used.
pub(super) fn open(
    config: &Config,
    catalogue: &Catalogue,
    view: &View,
) -> Result<Result<Embedders, String>, AssembleError> {
    let counts = view.vector_counts();
    let configured: Arc<dyn TextEmbedder> = match config.embedder.kind {
        EmbedderKind::Server => {
            let server = ServerEmbedder::open(&config.embedder, Some(&config.store_dir()))?;
            for count in &counts {
                server.recognise(count.model, count.dimensions);
            }
            Arc::new(server)
        }
        EmbedderKind::Local => match catalogue.choose(config.models.set, Job::TextEmbedder) {
            Ok(file) => Arc::new(local(config, &file)?),
            Err(error) if error.is_absence() => {
                return Ok(Err(format!("recall by meaning: {error}")));
            }
            Err(error) => return Err(error.into()),
        },
    };
    let answering = match prevailing(&counts, configured.as_ref()) {
        None => Answering::Configured,
        Some(other) => match before(config, catalogue, &other)? {
            Some(embedder) => Answering::Before(Arc::new(embedder)),
            None => Answering::Nobody,
        },
    };
    Ok(Ok(Embedders::new(configured, answering)))
}

/// The model of which more memories have vectors than of the configured one, if any.
fn prevailing(counts: &[VectorCount], configured: &dyn TextEmbedder) -> Option<VectorCount> {
    let own = configured.model();
    let own = counts.iter().find(|count| Some(count.model) == own);
    let most = counts.iter().max_by_key(|count| (count.memories, count.model))?;
    (most.memories > own.map_or(0, |own| own.memories)).then_some(*most)
}

/// The local embedder whose vectors those are, if its files are still here.
fn before(
    config: &Config,
    catalogue: &Catalogue,
    count: &VectorCount,
) -> Result<Option<MiniLm>, AssembleError> {
    let models = catalogue.manifest().models();
    for model in models.iter().filter(|model| model.job == Job::TextEmbedder) {
        // What is not here, or damaged, is not the one.
        let Ok(file) = catalogue.file(&model.name) else { continue };
        let (Ok(model), Ok(tokenizer)) = (file.part("model"), file.part("tokenizer")) else {
            continue;
        };
        if MiniLm::identity(model, tokenizer)? == count.model {
            return local(config, &file).map(Some);
        }
    }
    Ok(None)
}

fn local(config: &Config, file: &ModelFile) -> Result<MiniLm, AssembleError> {
    let sessions = config
        .answerer
        .concurrency
        .min(thread::available_parallelism().map_or(1, std::num::NonZero::get));
    Ok(MiniLm::open(file.part("model")?, file.part("tokenizer")?, sessions)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ModelHash;
    use crate::percept::Embedding;
    use crate::text::TextError;

    /// An embedder by its identity alone.
    struct Named(Option<ModelHash>);

    impl TextEmbedder for Named {
        fn embed(&self, _: &str) -> Result<Embedding, TextError> {
            Err(TextError::Changing)
        }

        fn model(&self) -> Option<ModelHash> {
            self.0
        }

        fn dimensions(&self) -> Option<usize> {
            None
        }
    }

    #[test]
    fn whoever_has_the_most_vectors_answers_and_at_a_tie_the_configured_one() {
        let (old, new) = (ModelHash([1; 32]), ModelHash([2; 32]));
        let count = |model, memories| VectorCount { model, dimensions: 3, memories };
        let other =
            |counts: &[VectorCount], own| prevailing(counts, &Named(own)).map(|count| count.model);
        assert_eq!(other(&[], Some(new)), None);
        assert_eq!(other(&[count(old, 5)], None), Some(old));
        assert_eq!(other(&[count(old, 5), count(new, 4)], Some(new)), Some(old));
        assert_eq!(other(&[count(old, 5), count(new, 5)], Some(new)), None);
        assert_eq!(other(&[count(old, 3), count(new, 5)], Some(new)), None);
        assert_eq!(other(&[count(old, 3), count(new, 5)], Some(old)), Some(new));
    }
}
