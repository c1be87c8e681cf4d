//! Another language can come where English lies in data: the parser's networks, the lexicon and the lists beside it. What
//! English there is still in the code that reads and tells is counted here by file, and may only become less.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What reads and tells.
const FOLDERS: [&str; 2] = ["src/answer", "src/memorize"];
const KNOWN: &str = "tests/golden/english.json";
/// Macros whose words nobody is answered with.
const LOGS: [&str; 7] = ["trace!", "debug!", "info!", "warn!", "error!", "assert!", "include_str!"];

/// The texts with English words in a file, but for its tests (which stand last), documentation, attributes and logs.
fn english(source: &str) -> Vec<&str> {
    let source = source.split("#[cfg(test)]").next().unwrap();
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'', '#', '!']) {
        let (before, here) = rest.split_at(at);
        let is_log = || {
            LOGS.iter().any(|log| log.strip_suffix('!').is_some_and(|log| before.ends_with(log)))
        };
        rest = if here.starts_with("//") {
            here.split_once('\n').map_or("", |(_, rest)| rest)
        } else if here.starts_with("#[") || here.starts_with('!') && is_log() {
            behind_brackets(here)
        } else if let Some(text) = raw(before, here).or_else(|| plain(here)) {
            let (text, rest) = text;
            found.extend(Some(text).filter(|text| has_words(text)));
            rest
        } else {
            &here[letter(here)..]
        };
    }
    found
}

/// The text of a string that begins here, and what stands behind it.
fn plain(here: &str) -> Option<(&str, &str)> {
    let inside = here.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|letter| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    })?;
    Some((&inside[..end], &inside[end + 1..]))
}

/// The same of a raw one: `r"…"`, `r#"…"#`.
fn raw<'s>(before: &str, here: &'s str) -> Option<(&'s str, &'s str)> {
    let inside = here.trim_start_matches('#');
    let marks = &here[..here.len() - inside.len()];
    let inside = inside.strip_prefix('"').filter(|_| before.ends_with('r'))?;
    inside.split_once(&format!("\"{marks}"))
}

/// Length of what is no string: a letter in quotes (`'"'`), or a sign.
fn letter(here: &str) -> usize {
    let mut letters = here.char_indices().skip(1);
    let quoted = here.starts_with('\'');
    match (letters.next().map(|(_, letter)| letter), letters.next()) {
        (Some('\\'), _) if quoted => here[3..].find('\'').map_or(1, |at| at + 4),
        (Some(_), Some((at, '\''))) if quoted => at + 1,
        _ => 1,
    }
}

/// What stands behind the next brackets and what they hold.
fn behind_brackets(here: &str) -> &str {
    let mut depth = 0;
    let mut rest = here;
    while let Some(at) = rest.find(['(', '[', '{', ')', ']', '}', '"', '\'']) {
        let next = &rest[at..];
        rest = match next.as_bytes()[0] {
            b'"' => plain(next).map_or("", |(_, rest)| rest),
            b'\'' => &next[letter(next)..],
            bracket => {
                depth += if b"([{".contains(&bracket) { 1 } else { -1 };
                &next[1..]
            }
        };
        if depth == 0 && !matches!(next.as_bytes()[0], b'"' | b'\'') {
            break;
        }
    }
    rest
}

/// Whether there is a word of two letters or more beside what is filled in; names of fields and rows (`usual_time`) and tags (`NNP`)
/// are none.
fn has_words(text: &str) -> bool {
    let mut depth = 0;
    let outside = |letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if depth == 0 && letter != '}' { letter } else { ' ' }
    };
    let plain: String = text.chars().map(outside).collect();
    let words = plain.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let is_word =
        |word: &str| word.chars().all(char::is_alphabetic) && word.contains(char::is_lowercase);
    words.filter(|word| word.len() > 1).any(is_word)
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn english_in_the_code_becomes_less() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in FOLDERS {
        sources(&root.join(folder), &mut paths);
    }
    paths.sort();
    let known: BTreeMap<String, usize> =
        serde_json::from_str(&std::fs::read_to_string(root.join(KNOWN)).unwrap()).unwrap();
    let mut counts = BTreeMap::new();
    let mut more = Vec::new();
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        let texts = english(&source);
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        if texts.len() > known.get(&name).copied().unwrap_or_default() {
            more.push(format!("{name}: {texts:?}"));
        }
        if !texts.is_empty() {
            counts.insert(name, texts.len());
        }
    }
    let counted = serde_json::to_string_pretty(&counts).unwrap();
    assert!(
        more.is_empty(),
        "English words have come to:\n{}\nPut them into the lexicon (src/language/lexicon.toml); those that only tell may be \
         counted in {KNOWN}:\n{counted}",
        more.join("\n")
    );
    assert_eq!(counts, known, "there is less English; let {KNOWN} say so:\n{counted}");
}

#[test]
fn what_is_told_and_matched_counts_and_nothing_else() {
    let source = r##"
        //! "Words" of documentation.
        #[error("an error [of many]")]
        fn told<'a>(word: &'a str) -> String {
            tracing::warn!(why = '(', "a log \" of {word}");
            if matches!(word, "when" | "where") || word == "x" || word.ends_with('"') { return format!("{word}: {}", 1); }
            let more = r#"a "raw" one"#;
            format!("I \"saw\" {word}.")
        }
        const FIELD: &str = "usual_time";
        #[cfg(test)]
        mod tests { fn one() -> &'static str { "in a test" } }
    "##;
    assert_eq!(english(source), ["when", "where", r#"a "raw" one"#, r#"I \"saw\" {word}."#]);
}
