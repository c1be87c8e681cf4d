#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::clause::{Kind, Role, Tree, Wanted};
use super::thesaurus::{Part, field};
use super::*;
use crate::models::{Job, Manifest};

/// The models that set-up put into `target/models`; none: not there.
pub(crate) fn shared() -> Option<Arc<Language>> {
    static SHARED: OnceLock<Option<Arc<Language>>> = OnceLock::new();
    SHARED.get_or_init(|| opened().map(Arc::new)).clone()
}

fn opened() -> Option<Language> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/models");
    let manifest = Manifest::built_in().unwrap();
    let parts = |job: Job| -> BTreeMap<String, PathBuf> {
        let model = manifest.models().iter().find(|model| model.job == job).unwrap();
        model.parts.iter().map(|(part, file)| (part.clone(), folder.join(file))).collect()
    };
    let (parser, thesaurus) = (parts(Job::Parser), parts(Job::Thesaurus));
    if parser.values().chain(thesaurus.values()).all(|path| path.is_file()) {
        return Some(Language::open(&parser, &thesaurus).unwrap());
    }
    eprintln!("SKIPPED: the parser and the thesaurus are not all there (make setup)");
    None
}

fn parsed(text: &str) -> Option<Vec<Word>> {
    Some(shared()?.parse(text, &|name| matches!(name, "oluchi" | "ben" | "wim")))
}

/// Predicate, then roles with their heads, then "not".
fn told(text: &str) -> Option<Vec<String>> {
    let words = parsed(text)?;
    let clauses = Tree::new(&words).clauses();
    let line = |clause: &clause::Clause| {
        let roles = clause.roles.iter().map(|(role, at)| {
            let role = match role {
                Role::Agent => "agent".to_owned(),
                Role::Object => "object".to_owned(),
                Role::Recipient => "recipient".to_owned(),
                Role::Oblique(of) => of.to_string(),
                Role::Adverb => "adverb".to_owned(),
            };
            format!(" {role}={}", words[*at].form)
        });
        let denied = if clause.negated { " not" } else { "" };
        format!("{}{}{denied}", clause.predicate, roles.collect::<String>())
    };
    Some(clauses.iter().map(line).collect())
}

#[test]
fn sentences_become_clauses_with_roles() {
    for (text, wanted) in [
        ("Oluchi gave the ladder to Ben.", &["give agent=Oluchi object=ladder recipient=Ben"][..]),
        ("The ladder was fetched by Wim.", &["fetch object=ladder agent=Wim"]),
        ("Ben never eats cheese.", &["eat agent=Ben object=cheese not"]),
        ("The bread and the jam are on the shelf.", &["be agent=bread agent=jam on=shelf"]),
        (
            "The kite that Oluchi lost was found by Ben in the hedge.",
            &["find object=kite agent=Ben in=hedge", "lose agent=Oluchi object=kite"],
        ),
        (
            "The ladder is not here, Wim took it.",
            &["be agent=ladder adverb=here not", "take agent=Wim object=it"],
        ),
    ] {
        let Some(mut told) = told(text) else { return };
        told.sort();
        assert_eq!(told, wanted, "{text}");
    }
}

#[test]
fn questions_have_a_hole_where_the_answer_goes() {
    let wanted = |text: &str| {
        let words = parsed(text)?;
        let tree = Tree::new(&words);
        let clauses = tree.clauses();
        tree.wanted(&clauses).map(|(_, wanted)| wanted)
    };
    if shared().is_none() {
        return;
    }
    let role = |text: &str| match wanted(text) {
        Some(Wanted::Part { role, .. }) => Some(role),
        _ => None,
    };
    assert_eq!(role("Who fetched the ladder?"), Some(Role::Agent));
    assert_eq!(role("What did Ben eat?"), Some(Role::Object));
    assert_eq!(role("What is Ben afraid of?"), Some(Role::Oblique("of".into())));
    assert_eq!(role("Where is the kite?"), Some(Role::Adverb));
    assert_eq!(wanted("Did Ben eat the bread?"), Some(Wanted::Whether));
}

#[test]
fn names_that_the_parser_never_met_stand_where_they_stood() {
    let Some(words) = parsed("Where did Oluchi leave Wim\u{2019}s key?") else { return };
    let forms: Vec<&str> = words.iter().map(|word| word.form.as_str()).collect();
    assert_eq!(forms, ["Where", "did", "Oluchi", "leave", "Wim", "\u{2019}s", "key", "?"]);
    assert_eq!(words[2].label, "nsubj");
    assert_eq!(words[4].span, 23..26);
    let text = "Where did Oluchi leave Wim\u{2019}s key?";
    assert!(words.iter().all(|word| text[word.span.clone()] == word.form));
}

#[test]
fn what_no_verb_can_be_is_none() {
    let Some(words) = parsed("Does Ben like coriander?") else { return };
    let root = words.iter().find(|word| word.label == "ROOT").unwrap();
    assert_eq!(root.form, "like");
    let Some(words) = parsed("How long was Ben ill?") else { return };
    let tree = Tree::new(&words);
    let clause = &tree.clauses()[0];
    assert!(clause.all(&Role::Object).any(|at| words[at].form == "ill"), "{clause:?}");
    assert_eq!(clause.kind, Kind::Main);
}

#[test]
fn verbs_taken_for_nouns_and_the_other_way_round_are_put_right() {
    for (text, wanted) in [
        ("Where does the parrot sleep?", "sleep agent=parrot adverb=Where"),
        ("To whom was the ladder lent?", "lend object=ladder To=whom"),
        ("Who dislikes coriander?", "dislike agent=Who object=coriander"),
        ("What does Ben not like?", "like agent=Ben object=What not"),
        ("Ben likes salted liquorice.", "like agent=Ben object=liquorice"),
        ("Which language is Ben studying?", "study agent=Ben object=language"),
        ("Is Oluchi Ben's wife?", "be agent=Oluchi object=wife"),
    ] {
        let Some(told) = told(text) else { return };
        assert!(
            told.iter().any(|line| line.eq_ignore_ascii_case(wanted)),
            "{text}: {told:?}, not {wanted}"
        );
    }
}

#[test]
fn the_thesaurus_knows_synonyms_kinds_and_contraries() {
    let Some(language) = shared() else { return };
    let thesaurus = &language.thesaurus;
    let near = |one: &str, other: &str, part: Part| {
        thesaurus.near(one, part).get(&(other.into(), part)).copied().unwrap_or(0.0)
    };
    assert!(near("fix", "repair", Part::Verb) > 0.85);
    assert!(near("purchase", "buy", Part::Verb) > 0.85);
    assert_eq!(near("purchase", "swim", Part::Verb), 0.0);
    assert!(thesaurus.is_a("violin", "instrument") && !thesaurus.is_a("instrument", "violin"));
    assert!(thesaurus.is_a("pill", "medicine") && !thesaurus.is_a("pill", "fish"));
    assert!(thesaurus.is_opposite("open", "close", Part::Verb));
    assert!(
        thesaurus.is_of("carpenter", field::PERSON) && !thesaurus.is_of("hammer", field::PERSON)
    );
    assert!(thesaurus.has("take_place", Part::Verb) && !thesaurus.has("oluchi", Part::Noun));
    for strange in ["", " ", "\u{0}", "zzzzzz", "~", "a b c", "\u{10ffff}"] {
        assert!(thesaurus.near(strange, Part::Noun).len() < 2, "{strange:?}");
        assert!(!thesaurus.is_a(strange, "thing"));
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = thesaurus::Thesaurus::open(&BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("index.noun"), "{error}");
}

/// Long texts, each of which was a tree as deep as it is long.
pub(crate) fn endless() -> Vec<String> {
    let parts =
        ["of ", "a, b and c, ", "said that he said that ", "in the box in the box ", "((", "a"];
    parts.iter().map(|part| part.repeat(8_192 / part.len())).collect()
}

#[test]
fn a_long_text_is_parsed_in_pieces() {
    let Some(language) = shared() else { return };
    let text = "Ava lives in Bonn. ".repeat(300);
    let words = language.parse(&text, &|name| name == "ava");
    assert_eq!(words.len(), 300 * 5);
    assert!(words.iter().all(|word| text[word.span.clone()] == word.form));
    for (at, sentence) in words.chunks(5).enumerate() {
        assert_eq!(sentence[1].head, at * 5 + 1, "{sentence:?}");
    }
    for text in endless() {
        let words = language.parse(&text, &|_| false);
        assert!(words.iter().all(|word| word.head < words.len()));
        assert!(Tree::new(&words).clauses().len() <= words.len());
    }
}
