//! A dependency parse of English: words with part-of-speech tags, and which word hangs on which.
//!
//! The network is spaCy's `en_core_web_sm` 3.8 (MIT), read as it is published: hash embeddings, four convolutions, and a
//! greedy arc-eager parser. Labels are `ClearNLP`'s, tags the Penn Treebank's. One thread, a fixed order of additions: the
//! same text gives the same tree, bit for bit.

mod hash;
mod lemma;
mod network;
#[cfg(test)]
mod tests;
mod tokenizer;
mod transitions;
mod weights;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use compact_str::CompactString;
use lemma::Lemmas;
use network::{Network, WIDTH, dot};
use tokenizer::Tokenizer;
use transitions::Transitions;
use weights::Layers;
pub use weights::WeightsError;

/// The bytes of the model's files, by their paths in its package.
#[derive(Clone, Copy, Debug)]
pub struct ModelFiles<'a> {
    /// `tok2vec/model`
    pub embedding: &'a [u8],
    /// `tagger/model`
    pub tagger: &'a [u8],
    /// `tagger/cfg`: the tags' names.
    pub tags: &'a [u8],
    /// `parser/model`
    pub parser: &'a [u8],
    /// `parser/moves`
    pub moves: &'a [u8],
    /// `tokenizer`
    pub tokenizer: &'a [u8],
    /// `vocab/lookups.bin`
    pub lookups: &'a [u8],
    /// `lemmatizer/lookups/lookups.bin`
    pub lemmas: &'a [u8],
}

/// One word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// As written.
    pub form: CompactString,
    /// As the dictionary has it, in lower case: "be" of "was".
    pub lemma: CompactString,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// Part of speech, of the Penn Treebank: "NNP", "VBD".
    pub tag: CompactString,
    /// Index of the word that it hangs on; its own where it is a root.
    pub head: usize,
    /// How it hangs on it: "nsubj", "pobj", "ROOT".
    pub label: CompactString,
}

impl Word {
    /// Whether it is a verb by its tag.
    #[must_use]
    pub fn is_verb(&self) -> bool {
        self.tag.starts_with("VB") || self.tag == "MD"
    }
}

/// Text to trees.
#[derive(Debug)]
pub struct Parser {
    tokenizer: Tokenizer,
    lemmas: Lemmas,
    network: Network,
    tags: Vec<String>,
    /// `[tags, WIDTH]`
    tagger: Vec<f32>,
    tagger_bias: Vec<f32>,
    transitions: Transitions,
}

impl Parser {
    /// From the model's files by part, as the catalogue of models has them: `embedding`, `tagger`, `tags`, `parser`,
    /// `moves`, `tokenizer`, `lookups`, `lemmas`.
    ///
    /// # Errors
    /// A part is missing or cannot be read, or a file is none of this model.
    pub fn open(parts: &BTreeMap<String, PathBuf>) -> Result<Self, WeightsError> {
        let part = |name: &'static str| {
            let fail = |why: String| WeightsError { file: name, why };
            let path =
                parts.get(name).ok_or_else(|| fail("the model has no such part".to_owned()))?;
            std::fs::read(path).map_err(|error| fail(format!("{}: {error}", path.display())))
        };
        Self::read(ModelFiles {
            embedding: &part("embedding")?,
            tagger: &part("tagger")?,
            tags: &part("tags")?,
            parser: &part("parser")?,
            moves: &part("moves")?,
            tokenizer: &part("tokenizer")?,
            lookups: &part("lookups")?,
            lemmas: &part("lemmas")?,
        })
    }

    /// From the bytes of the model's files.
    ///
    /// # Errors
    /// A file is none of this model.
    pub fn read(files: ModelFiles<'_>) -> Result<Self, WeightsError> {
        let tags = read_tags(files.tags).map_err(|why| WeightsError { file: "tagger/cfg", why })?;
        let mut layers = Layers::read("tagger/model", files.tagger)?;
        let [tagger, tagger_bias] =
            layers.next([("W", &[tags.len(), WIDTH]), ("b", &[tags.len()])])?;
        Ok(Self {
            tokenizer: Tokenizer::read(files.tokenizer, files.lookups)?,
            lemmas: Lemmas::read(files.lemmas)?,
            network: Network::read(files.embedding)?,
            tags,
            tagger,
            tagger_bias,
            transitions: Transitions::read(files.parser, files.moves)?,
        })
    }

    /// The words of the text with their tree. Several sentences have several roots; text without a word has none.
    #[must_use]
    pub fn parse(&self, text: &str) -> Vec<Word> {
        let tokens = self.tokenizer.tokens(text);
        let vectors = self.network.vectors(&tokens);
        let arcs = self.transitions.parse(&vectors);
        tokens
            .into_iter()
            .zip(vectors.chunks_exact(WIDTH))
            .zip(arcs.heads.into_iter().zip(arcs.labels))
            .map(|((token, vector), (head, label))| {
                let tag = self.tag(vector);
                Word {
                    lemma: self.lemmas.lemma(&token.form, tag).into(),
                    form: token.form.into(),
                    span: token.span,
                    tag: tag.into(),
                    head,
                    label: label.into(),
                }
            })
            .collect()
    }

    /// Whether the language has the word, in any of its forms.
    #[must_use]
    pub fn has(&self, form: &str) -> bool {
        self.lemmas.has(form)
    }

    /// The lemma of a word with a tag.
    #[must_use]
    pub fn lemma(&self, form: &str, tag: &str) -> String {
        self.lemmas.lemma(form, tag)
    }

    fn tag(&self, vector: &[f32]) -> &str {
        let mut best: Option<(f32, &str)> = None;
        for ((tag, row), bias) in
            self.tags.iter().zip(self.tagger.chunks_exact(WIDTH)).zip(&self.tagger_bias)
        {
            let score = dot(row, vector) + bias;
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, tag));
            }
        }
        best.map_or("", |(_, tag)| tag)
    }
}

fn read_tags(bytes: &[u8]) -> Result<Vec<String>, String> {
    #[derive(serde::Deserialize)]
    struct Config {
        labels: Vec<String>,
    }
    serde_json::from_slice::<Config>(bytes)
        .map(|config| config.labels)
        .map_err(|error| error.to_string())
}
