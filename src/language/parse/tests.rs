#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::OnceLock;

use super::*;
use crate::models::{Job, Manifest};

/// The model that set-up put into `target/models`; none: not there.
fn parser() -> Option<&'static Parser> {
    static PARSER: OnceLock<Option<Parser>> = OnceLock::new();
    let found = PARSER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/models");
        let manifest = Manifest::built_in().unwrap();
        let model = manifest.models().iter().find(|model| model.job == Job::Parser).unwrap();
        let parts: BTreeMap<String, PathBuf> =
            model.parts.iter().map(|(part, file)| (part.clone(), folder.join(file))).collect();
        if parts.values().all(|path| path.is_file()) {
            return Some(Parser::open(&parts).unwrap());
        }
        eprintln!("SKIPPED: {} is not all there (make setup)", model.name);
        None
    });
    found.as_ref()
}

/// A tree as a line of `golden.tsv`, without the text.
fn line(words: &[Word]) -> String {
    let word = |w: &Word| format!("{} {} {} {}", w.form, w.tag, w.head, w.label);
    words.iter().map(word).collect::<Vec<_>>().join("\t")
}

#[test]
fn trees_are_those_of_the_original() {
    let Some(parser) = parser() else { return };
    let golden: Vec<_> = include_str!("golden.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    assert!(golden.len() >= 50, "{}", golden.len());
    for (text, tree) in golden {
        assert_eq!(line(&parser.parse(text)), tree, "{text}");
    }
}

#[test]
fn spans_are_where_the_words_stand() {
    let Some(parser) = parser() else { return };
    let text = "  Niamh's key isn't \u{a0}here… it's in Jürgen’s\n 12km-long “garage”. ";
    let words = parser.parse(text);
    for word in &words {
        assert_eq!(&text[word.span.clone()], word.form);
    }
    let forms: Vec<&str> = words.iter().map(|word| word.form.as_str()).collect();
    assert_eq!(forms[..6], ["Niamh", "'s", "key", "is", "n't", "here"]);
    assert!(words.iter().all(|word| word.head < words.len()));
}

#[test]
fn strange_texts_are_parsed() {
    let Some(parser) = parser() else { return };
    let long = "word ".repeat(100);
    let joined = "x".repeat(5_000);
    for text in [
        "",
        " ",
        "\n\t",
        "\u{0}\u{7}",
        "😀😀",
        "...",
        "''",
        "\u{202e}سلام",
        "a.b.c@d",
        &long,
        &joined,
    ] {
        let words = parser.parse(text);
        assert_eq!(words.is_empty(), text.trim().is_empty(), "{text:?}");
        assert!(words.iter().all(|word| word.head < words.len()));
    }
}

#[test]
fn what_is_no_model_is_refused_exactly() {
    let files = ModelFiles {
        embedding: b"",
        tagger: b"\x81\xa6params\x90",
        tags: br#"{"labels": ["NN"]}"#,
        parser: b"\xc1",
        moves: b"\x80",
        tokenizer: b"\x80",
        lookups: b"\x80",
        lemmas: b"\x80",
    };
    let error = Parser::read(files).unwrap_err().to_string();
    assert_eq!(
        error,
        "reading `tagger/model` of the parser's model: it has only 0 layers; fetch the model anew"
    );
    let error = Parser::read(ModelFiles { tags: b"{}", ..files }).unwrap_err().to_string();
    assert!(
        error.starts_with("reading `tagger/cfg` of the parser's model: missing field `labels`"),
        "{error}"
    );
    let error = Parser::open(&BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("`embedding`") && error.contains("no such part"), "{error}");
}

#[test]
fn lemmas_are_those_of_the_tables() {
    let Some(parser) = parser() else { return };
    for (form, tag, lemma) in [
        ("mice", "NNS", "mouse"),
        ("glasses", "NNS", "glass"),
        ("Was", "VBD", "be"),
        ("'s", "VBZ", "be"),
        ("n't", "RB", "not"),
        ("took", "VBD", "take"),
        ("lying", "VBG", "lie"),
        ("older", "JJR", "old"),
        ("Oluchi", "NNP", "oluchi"),
        ("ca", "MD", "can"),
    ] {
        assert_eq!(parser.lemma(form, tag), lemma, "{form} {tag}");
    }
    assert!(parser.has("keys") && !parser.has("oluchi"));
}

#[test]
fn hashes_are_those_of_the_vocabulary() {
    assert_eq!(hash::of_string("june"), 5_199_297_412_456_044_473);
    assert_eq!(hash::of_string(""), 0);
    assert_eq!(hash::of_string("mark"), 423);
}
