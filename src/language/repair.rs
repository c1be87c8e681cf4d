//! What the parser takes for something that the dictionary says it cannot be.

use super::Language;
use super::parse::Word;
use super::thesaurus::Part;

/// Tags that only closed classes and strangers have.
const NO_WORDS: &[&str] = &["PRP", "FW", "UH", "XX"];

/// Puts right, in this order: tags of words that the dictionary knows otherwise; what stands behind the
/// subject and is said of it ("Was she ill?"); a verb that is none ("Does Ben like coriander?").
pub(super) fn repair(words: &mut [Word], language: &Language, is_name: &dyn Fn(&str) -> bool) {
    for at in 0..words.len() {
        retag(words, at, language, is_name);
        say_of_subject(words, at);
        change_verb(words, at, language);
        free_verb(words, at);
        verb_of_auxiliary(words, at, language);
        verb_before_participle(words, at, language);
        part_names(words, at, is_name);
        join_auxiliary(words, at);
        noun_before_name(words, at, is_name);
    }
}

/// "The tortoise Max sleeps there" where the rest was taken for a clause that hangs on "tortoise".
fn noun_before_name(words: &mut [Word], at: usize, is_name: &dyn Fn(&str) -> bool) {
    let noun = words[at].head;
    if words[at].label != "relcl" || words[noun].label != "ROOT" || words[noun].tag != "NN" {
        return;
    }
    let subject = noun + 1;
    let is_subject = words[subject].head == at
        && words[subject].label == "nsubj"
        && is_name(&words[subject].lemma);
    if !is_subject || subject >= at {
        return;
    }
    for (one, word) in words.iter_mut().enumerate() {
        let of_noun = matches!(word.label.as_str(), "det" | "amod" | "poss");
        if word.head == noun && one != noun && one != at {
            word.head = if of_noun && one < noun { subject } else { at };
        }
    }
    let tag = words[at].tag.clone();
    set(&mut words[at], at, "ROOT", &tag);
    set(&mut words[noun], subject, "compound", "NN");
}

/// "Ava likes salted nuts" where "likes" was taken for an auxiliary of "salted".
fn verb_before_participle(words: &mut [Word], at: usize, language: &Language) {
    let root = words[at].head;
    let is_verb = matches!(words[at].tag.as_str(), "VBZ" | "VBP" | "VBD")
        && !matches!(words[at].lemma.as_str(), "be" | "have" | "do" | "get" | "let")
        && language.thesaurus.has(&words[at].lemma, Part::Verb);
    let follows = root == at + 1
        && words[root].label == "ROOT"
        && matches!(words[root].tag.as_str(), "VBD" | "VBN");
    if words[at].label != "aux" || !is_verb || !follows {
        return;
    }
    let object = words.iter().position(|word| word.head == root && word.label == "dobj");
    let Some(object) = object.filter(|&object| object > root) else { return };
    for (one, word) in words.iter_mut().enumerate() {
        if word.head == root && one != root {
            word.head = at;
        }
    }
    let tag = words[at].tag.clone();
    set(&mut words[at], at, "ROOT", &tag);
    set(&mut words[root], object, "amod", "VBN");
}

/// "Is Ava Ben's wife?" where both names were taken for one.
fn part_names(words: &mut [Word], at: usize, is_name: &dyn Fn(&str) -> bool) {
    let owner = words[at].head;
    if owner != at + 1 || words[at].label != "compound" || words[owner].label != "poss" {
        return;
    }
    let (noun, named) =
        (words[owner].head, is_name(&words[at].lemma) && is_name(&words[owner].lemma));
    let verb = words[noun].head;
    let is_said = words[verb].lemma == "be"
        && verb < at
        && matches!(words[noun].label.as_str(), "nsubj" | "attr");
    let is_alone = || {
        !words
            .iter()
            .any(|word| word.head == verb && word.label == "nsubj" && word.span != words[noun].span)
    };
    if named && is_said && is_alone() {
        let tag = words[at].tag.clone();
        set(&mut words[at], verb, "nsubj", &tag);
        words[noun].label = "attr".into();
    }
}

/// "Which language is Ava learning?" where "is" was taken for the verb.
fn join_auxiliary(words: &mut [Word], at: usize) {
    let verb = words[at].head;
    let is_question = verb > 0
        && words[verb].lemma == "be"
        && words[verb].label == "ROOT"
        && words[..verb].iter().any(|word| word.tag.starts_with('W'));
    let is_inner = words[at].label == "ccomp" && at > verb;
    let subject = words.iter().position(|word| word.head == at && word.label == "nsubj");
    let between = subject.is_some_and(|subject| verb < subject && subject < at);
    let is_whole = !words
        .iter()
        .any(|word| word.head == at && matches!(word.label.as_str(), "aux" | "auxpass" | "mark"));
    let lasts = words[at].tag == "VBG";
    let is_done = matches!(words[at].tag.as_str(), "VBN" | "VBD");
    if !is_question || !is_inner || !between || !is_whole || !lasts && !is_done {
        return;
    }
    let role = if lasts { "dobj" } else { "oprd" };
    for (one, word) in words.iter_mut().enumerate() {
        if word.head != verb || one == at || one == verb {
            continue;
        }
        word.head = at;
        if one < verb && matches!(word.label.as_str(), "nsubj" | "attr") {
            word.label = role.into();
        }
    }
    if let Some(subject) = subject.filter(|_| is_done) {
        words[subject].label = "nsubjpass".into();
    }
    let tag = words[verb].tag.clone();
    set(&mut words[verb], at, if lasts { "aux" } else { "auxpass" }, &tag);
    set(&mut words[at], at, "ROOT", if lasts { "VBG" } else { "VBN" });
}

/// "Where does the tortoise sleep?", "To whom was the ladder lent?" where the verb was taken for a noun behind a noun.
fn verb_of_auxiliary(words: &mut [Word], at: usize, language: &Language) {
    let Some(subject) = at.checked_sub(1) else { return };
    let is_noun = |word: &Word| word.tag.starts_with("NN");
    let hangs_on =
        |word: &Word| word.head == at && matches!(word.label.as_str(), "compound" | "amod");
    let can_be_noun =
        words[subject].tag == "JJ" && language.thesaurus.has(&words[subject].lemma, Part::Noun);
    if !is_noun(&words[at]) || !hangs_on(&words[subject]) {
        return;
    }
    if !is_noun(&words[subject]) && !can_be_noun {
        return;
    }
    let can_be = |form: &str, tag: &str| {
        let lemma = language.parser.lemma(form, tag);
        let is_base = tag == "VB" && lemma == form;
        // No participle ends in "s": "the spare keys".
        let is_participle = tag == "VBN" && lemma != form && !form.ends_with('s');
        (is_base || is_participle) && language.thesaurus.has(&lemma, Part::Verb)
    };
    let form = words[at].form.to_lowercase();
    let does = (0..subject).find(|&one| words[one].head == at && words[one].label == "aux");
    let is = || {
        let root = words[at].head;
        let bare = words[root].label == "ROOT" && words[root].lemma == "be" && root < subject;
        (bare && words[at].label == "nsubj").then_some(root)
    };
    let (auxiliary, tag, label) = match does {
        Some(does) if words[does].lemma == "do" && can_be(&form, "VB") => (does, "VB", "aux"),
        None if can_be(&form, "VBN") => match is() {
            Some(root) => (root, "VBN", "auxpass"),
            None => return,
        },
        _ => return,
    };
    let role = if label == "aux" { "nsubj" } else { "nsubjpass" };
    for (one, word) in words.iter_mut().enumerate() {
        if one == subject || one == at {
            continue;
        }
        let of_noun =
            matches!(word.label.as_str(), "det" | "amod" | "compound" | "poss" | "nummod");
        if word.head == at && of_noun {
            word.head = subject;
        } else if word.head == auxiliary {
            word.head = at;
        }
    }
    let lemma = language.parser.lemma(&form, tag);
    let subject_tag = if can_be_noun {
        compact_str::CompactString::const_new("NN")
    } else {
        words[subject].tag.clone()
    };
    set(&mut words[subject], at, role, &subject_tag);
    let auxiliary_tag = words[auxiliary].tag.clone();
    set(&mut words[auxiliary], at, label, &auxiliary_tag);
    set(&mut words[at], at, "ROOT", tag);
    words[at].lemma = lemma.into();
}

fn retag(words: &mut [Word], at: usize, language: &Language, is_name: &dyn Fn(&str) -> bool) {
    let word = &words[at];
    let plain =
        word.form.len() > 2 && word.form.chars().all(|c| c.is_alphabetic() && c.is_lowercase());
    let suspect = word.tag.starts_with("NNP") || NO_WORDS.contains(&word.tag.as_str());
    if !plain || !suspect || is_name(&word.form) || !language.parser.has(&word.form) {
        return;
    }
    let is = |part| language.thesaurus.has(&word.form, part);
    let tag = match word.label.as_str() {
        "appos" if is(Part::Adjective) => "JJ",
        _ if is(Part::Noun) => "NN",
        _ if is(Part::Adjective) => "JJ",
        _ if word.form.ends_with('s') => "NNS",
        _ => return,
    };
    words[at].lemma = language.parser.lemma(&words[at].form, tag).into();
    words[at].tag = tag.into();
}

/// "Was she ill", "Is the pump broken": what stands behind the subject hangs on "was", not on "she".
fn say_of_subject(words: &mut [Word], at: usize) {
    let (noun, verb) = (words[at].head, words[words[at].head].head);
    let is_alone = || {
        !words.iter().any(|word| {
            word.head == verb && matches!(word.label.as_str(), "acomp" | "attr" | "prep")
        })
    };
    let kind = (words[at].tag.as_str(), words[at].label.as_str());
    let so = (kind == ("JJ", "appos") || matches!(kind, ("VBN" | "VBG", "acl")) && is_alone())
        && words[noun].label == "nsubj"
        && words[verb].lemma == "be"
        && verb < noun;
    if so {
        words[at].head = verb;
        words[at].label = "acomp".into();
    }
}

/// A verb that the dictionary knows as a noun alone, behind a word that can be the verb.
fn change_verb(words: &mut [Word], at: usize, language: &Language) {
    let Some(before) = at.checked_sub(1) else { return };
    let is = |word: &Word, part| language.thesaurus.has(&word.lemma, part);
    let so = words[at].tag.starts_with("VB")
        && words[at].label == "ROOT"
        && words[before].head == at
        && words[before].label != "nsubj"
        && !matches!(words[before].lemma.as_str(), "be" | "have" | "do")
        && words[before].tag != "MD"
        && is(&words[before], Part::Verb)
        && !is(&words[at], Part::Verb)
        && is(&words[at], Part::Noun)
        && words.iter().any(|word| word.head == at && word.label == "aux");
    if !so {
        return;
    }
    for word in words.iter_mut() {
        if word.head == at && !matches!(word.label.as_str(), "det" | "amod" | "compound") {
            word.head = before;
        }
    }
    set(&mut words[before], before, "ROOT", "VB");
    set(&mut words[at], before, "dobj", "NN");
}

/// "Does Ben like peas?" where "like" was taken for a preposition.
fn free_verb(words: &mut [Word], at: usize) {
    let root = words[at].head;
    let is_like = words[at].tag == "IN" && words[at].lemma == "like";
    if is_like && words[at].label == "ROOT" {
        words[at].tag = "VB".into();
    }
    let so = is_like && root < at && words[root].lemma == "do" && words[root].label == "ROOT";
    if !so {
        return;
    }
    for word in words.iter_mut() {
        if word.head == at && word.label == "pobj" {
            word.label = "dobj".into();
        }
        if word.head == root {
            word.head = at;
        }
    }
    set(&mut words[root], at, "aux", "VBZ");
    set(&mut words[at], at, "ROOT", "VB");
}

fn set(word: &mut Word, head: usize, label: &str, tag: &str) {
    word.head = head;
    word.label = label.into();
    word.tag = tag.into();
}
