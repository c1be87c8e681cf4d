//! Somebody of whom is told before there is a face or a voice: known by the name alone.

use super::MemoryService;
use crate::daemon::queries::{find, told_thing};
use crate::memory::View;
use crate::memory::natures::attribute_meant;
use crate::mqtt::message::Remember;
use crate::mqtt::{Refusal, RefusalCode};

/// Attributes that people have and things do not.
const OF_PEOPLE: &str = "likes dislikes home address job employer age birthday birthplace email allergy hobby relation \
    wife husband partner mother father sister brother son daughter friend";
/// What is said of people alone.
const VERBS: &str = "likes loves enjoys prefers dislikes hates lives works";
/// Words between a name and such a verb.
const BETWEEN: &str = "really also still now always";
/// Capitals that name nobody.
const NOBODY: &str = "i you he she it we they who what that this there everybody everyone somebody someone nobody anybody \
    anyone the a an my your his her our their mister";
/// Words of a name, at most.
const LONGEST: usize = 3;

impl MemoryService {
    /// Whoever is told of and not known gets an id.
    pub(super) fn tell_of(&self, remember: &Remember) -> Result<(), Refusal> {
        let view = self.view();
        let names = strangers(&view, remember);
        if names.is_empty() {
            return Ok(());
        }
        // Of a request that will be refused nobody comes.
        let is_new = |word: &String| names.iter().any(|name| name == word.trim());
        for word in remember.entities.iter().filter(|word| !is_new(word)) {
            find(&view, word)?;
        }
        let at = self.now();
        let mut who = self.resolver()?;
        let mut draft = self.knowledge.memory.begin(self.record_time());
        for name in &names {
            who.tell_of(name, at, &mut draft);
        }
        if let Err(error) = draft.commit() {
            self.restore(&mut who);
            return Err(self.failed(&error));
        }
        Ok(())
    }
}

/// Names of people in what is to be remembered that nobody and nothing bears.
fn strangers(view: &View, remember: &Remember) -> Vec<String> {
    let of_person = |attribute: &str| has(OF_PEOPLE, &attribute_meant(attribute));
    let fact = remember.fact.as_ref().filter(|fact| of_person(&fact.attribute));
    let mut names: Vec<String> =
        fact.map(|fact| fact.subject.trim().to_owned()).into_iter().collect();
    names.extend(remember.entities.iter().map(|word| word.trim().to_owned()));
    if remember.fact.is_none() {
        names.extend(remember.text.as_deref().and_then(subject));
    }
    names.retain(|name| is_name(name) && is_strange(view, name));
    names.sort_unstable();
    names.dedup();
    names
}

/// "Ava" of "Ava likes tea": the name that a sentence begins with, where it says what is said of people.
fn subject(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().take(LONGEST + 2).collect();
    let verb = words.iter().position(|word| has(VERBS, word))?;
    let mut name = &words[..verb];
    while let [before @ .., last] = name
        && has(BETWEEN, last)
    {
        name = before;
    }
    Some(name.join(" "))
}

/// A word as the name of somebody, in capitals, where it can be one.
pub(super) fn somebody(word: &str) -> Option<String> {
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    };
    let name = word.split_whitespace().map(capital).collect::<Vec<_>>().join(" ");
    is_name(&name).then_some(name)
}

/// One to three words in capitals.
fn is_name(name: &str) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    let sound = |word: &&str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '\u{2019}' | '.'))
            && !has(NOBODY, &word.to_lowercase())
    };
    (1..=LONGEST).contains(&words.len()) && words.iter().all(sound)
}

fn is_strange(view: &View, name: &str) -> bool {
    let found = find(view, name);
    found.is_err_and(|refusal| refusal.code == RefusalCode::NotFound)
        && told_thing(view, name).is_none()
}

/// Whether a word stands in a list parted by blanks.
fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::daemon::queries::tests::{found, small_memory};
    use crate::mqtt::message::Triple;

    fn told(text: &str) -> Remember {
        Remember {
            id: None,
            text: Some(text.to_owned()),
            fact: None,
            document: None,
            start: None,
            end: None,
            entities: Vec::new(),
            pinned: false,
        }
    }

    #[test]
    fn a_request_that_is_refused_makes_nobody_known() {
        use crate::daemon::service::{Clock, privacy};

        let dir = tempfile::tempdir().unwrap();
        drop(small_memory(dir.path()));
        let service = privacy::tests::service(dir.path(), Clock::Store, Default::default());
        let about = |words: [&str; 2]| words.map(str::to_owned).to_vec();
        let of = |words| Remember { entities: about(words), ..told("Be kind.") };
        let refused = service.remember(of(["Zoe", "nosuch"])).unwrap_err();
        assert_eq!(refused.code, RefusalCode::NotFound);
        assert!(service.view().find_by_name("Zoe").is_empty());
        service.remember(of(["Zoe", "Ava"])).unwrap();
        assert_eq!(service.view().find_by_name("Zoe").len(), 1);
    }

    #[test]
    fn strangers_are_those_of_whom_something_is_told_by_a_name_that_nobody_bears() {
        let dir = tempfile::tempdir().unwrap();
        let memory = small_memory(dir.path());
        found(&memory, 11, "Toaster");
        let view = memory.view();
        let table: [(&str, &[&str]); 11] = [
            ("Zoe likes tea.", &["Zoe"]),
            ("Zoe Marsh really hates onions", &["Zoe Marsh"]),
            ("Zoe works as a nurse", &["Zoe"]),
            ("Ava likes tea.", &[]),
            ("Everybody likes tea", &[]),
            ("The cat likes milk", &[]),
            ("zoe likes tea", &[]),
            ("Toaster works", &[]),
            ("Zoe was here", &[]),
            ("It rains; Zoe likes that", &[]),
            ("", &[]),
        ];
        for (text, wanted) in table {
            assert_eq!(strangers(&view, &told(text)), wanted, "{text}");
        }
        let about = Remember { entities: vec!["Zoe".into(), "Ava".into()], ..told("Be kind.") };
        assert_eq!(strangers(&view, &about), ["Zoe"]);
        for (subject, attribute, strange) in [
            ("Zoe", "likes", true),
            ("Zoe", "Occupation", true),
            ("Zoe", "location", false),
            ("Ava", "likes", false),
            ("cup", "likes", false),
            ("person_77", "likes", false),
        ] {
            let [subject, attribute, value] = [subject, attribute, "x"].map(str::to_owned);
            let fact = Some(Triple { subject, attribute, value });
            let remember = Remember { fact, text: None, ..told("") };
            assert_eq!(!strangers(&view, &remember).is_empty(), strange, "{remember:?}");
        }
    }
}
