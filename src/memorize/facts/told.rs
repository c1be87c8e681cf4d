//! Facts in sentences that were told: who likes what, lives where, is whose sister; where a thing is.
//!
//! Patterns over the words of one phrase, as for speech. Whoever a fact is about is known by name or id, and stands
//! where the pattern has its subject: "Ava likes tea", not "Does Ben know what Ava likes".

use super::{TIMES, fact, is_liked, is_somewhere, located, noun, put_somewhere, run, words_of};
use crate::ids::{EntityId, EntityKind};
use crate::memory::View;
use crate::memory::model::Fact;

/// Words between whoever it is about and the verb.
const BETWEEN: [&str; 5] = ["really", "also", "still", "now", "always"];
/// What somebody may be to somebody.
const RELATIONS: [&str; 17] = [
    "sister",
    "brother",
    "mother",
    "father",
    "son",
    "daughter",
    "wife",
    "husband",
    "partner",
    "friend",
    "colleague",
    "neighbour",
    "neighbor",
    "aunt",
    "uncle",
    "cousin",
    "boss",
];

/// The first fact that a told sentence states plainly. Questions state none.
pub(crate) fn told(text: &str, view: &View) -> Option<Fact> {
    let phrases = text.split_inclusive(['.', '!', '?', ';', ',']);
    phrases.filter(|phrase| !phrase.ends_with('?')).find_map(|phrase| {
        let spelled: Vec<&str> = words_of(phrase).collect();
        let lower: Vec<String> = spelled.iter().map(|word| word.to_lowercase()).collect();
        let words: Vec<&str> = lower.iter().map(String::as_str).collect();
        let phrase = Phrase { words: &words, spelled: &spelled, view };
        let somewhere = put_somewhere(&words).or_else(|| is_somewhere(&words));
        somewhere
            .map(|stated| stated.fact)
            .or_else(|| moved(&words))
            .or_else(|| phrase.put_somewhere())
            .or_else(|| phrase.liking())
            .or_else(|| phrase.home())
            .or_else(|| phrase.job())
            .or_else(|| phrase.name())
            .or_else(|| phrase.relation())
    })
}

/// "The drill was moved to the garage."
fn moved(words: &[&str]) -> Option<Fact> {
    let verb = words.iter().position(|word| *word == "moved")?;
    let ["to", place @ ..] = &words[verb + 1..] else { return None };
    let mut thing = &words[..verb];
    while let [before @ .., "was" | "were" | "has" | "have" | "been"] = thing {
        thing = before;
    }
    let thing = noun(thing)?;
    // "The meeting moved to Tuesday", "to the afternoon".
    let place = run(place);
    let is_time = place.last().is_some_and(|word| TIMES.contains(word));
    if is_time || noun(&place).is_none() {
        return None;
    }
    Some(fact(thing, "location", format!("at {}", place.join(" "))))
}

/// One phrase of a told sentence.
struct Phrase<'a> {
    /// In lower case.
    words: &'a [&'a str],
    /// The same as they were written.
    spelled: &'a [&'a str],
    view: &'a View,
}

impl Phrase<'_> {
    /// The one person who is called so, or has that id.
    fn person(&self, words: &[&str]) -> Option<EntityId> {
        let mut found = match words {
            [] => Vec::new(),
            [word] if word.parse::<EntityId>().is_ok_and(|id| self.view.knows(id)) => {
                word.parse::<EntityId>().map(|id| self.view.resolve(id)).into_iter().collect()
            }
            words => self.view.find_by_name(&words.join(" ")),
        };
        found.retain(|id| id.kind == EntityKind::Person);
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Where those words stand, and the person whom everything before them names.
    fn said_of(&self, verb: &[&str]) -> Option<(String, usize)> {
        let at = self.words.windows(verb.len()).position(|window| window == verb)?;
        let mut subject = &self.words[..at];
        while let [before @ .., last] = subject
            && BETWEEN.contains(last)
        {
            subject = before;
        }
        Some((self.person(subject)?.to_string(), at + verb.len()))
    }

    /// "Ava put the drill in the shed."
    fn put_somewhere(&self) -> Option<Fact> {
        let verbs = ["put", "left", "placed", "hid"];
        let (_, after) = verbs.iter().find_map(|verb| self.said_of(&[*verb]))?;
        located(&self.words[after..]).map(|stated| stated.fact)
    }

    /// "Ava likes oat milk."
    fn liking(&self) -> Option<Fact> {
        let verbs = [
            ("likes", "likes"),
            ("loves", "likes"),
            ("prefers", "likes"),
            ("enjoys", "likes"),
            ("dislikes", "dislikes"),
            ("hates", "dislikes"),
        ];
        let (attribute, (who, after)) = verbs
            .iter()
            .find_map(|(verb, attribute)| Some((*attribute, self.said_of(&[*verb])?)))?;
        let what = run(&self.words[after..]);
        is_liked(&what).then(|| fact(who, attribute, what.join(" ")))
    }

    /// "Ava lives in Bonn."
    fn home(&self) -> Option<Fact> {
        let (who, after) = self.said_of(&["lives", "in"])?;
        let place = run(&self.words[after..]);
        (!place.is_empty()).then(|| fact(who, "home", place.join(" ")))
    }

    /// "Ava works as a nurse."
    fn job(&self) -> Option<Fact> {
        let (who, after) = self.said_of(&["works", "as"])?;
        let job = match &self.words[after..] {
            ["a" | "an" | "the", job @ ..] => run(job),
            job => run(job),
        };
        (!job.is_empty()).then(|| fact(who, "job", job.join(" ")))
    }

    /// "Person 4 is called Ava", not "is called away".
    fn name(&self) -> Option<Fact> {
        let (who, after) = self.said_of(&["is", "called"])?;
        let name = &self.spelled[after..after + run(&self.words[after..]).len()];
        let sound =
            !name.is_empty() && name.iter().all(|word| word.starts_with(char::is_uppercase));
        sound.then(|| fact(who, "name", name.join(" ")))
    }

    /// "Ava is Ben's sister."
    fn relation(&self) -> Option<Fact> {
        let (who, after) = self.said_of(&["is"])?;
        let owner = |word: &str| {
            let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s"));
            bare.filter(|bare| !bare.is_empty()).map(str::to_owned)
        };
        let words = &self.words[after..];
        let at = words.iter().position(|word| owner(word).is_some())?;
        let relation = words.get(at + 1).filter(|word| RELATIONS.contains(word))?;
        // "Ava is Ben's sister Clara" says it of somebody else.
        if !run(&words[at + 2..]).is_empty() {
            return None;
        }
        let last = owner(words[at])?;
        let mut called: Vec<&str> = words[..at].to_vec();
        called.push(&last);
        let whose = match self.person(&called) {
            Some(person) => format!("<{person}>"),
            // Somebody who is not known, by the name alone.
            None => {
                let name = owner(self.spelled[after + at])?;
                Some(name).filter(|name| at == 0 && name.starts_with(char::is_uppercase))?
            }
        };
        Some(fact(who, "relation", format!("{relation} of {whose}")))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::model::{NameRow, NameSource};
    use crate::memory::{Memory, StoreOptions};
    use crate::time::Timestamp;

    /// What is told where `person_1` is Ava and `person_2` Ben Holt.
    fn facts(texts: &[&str]) -> Vec<Option<String>> {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(dir.path(), &StoreOptions::default()).unwrap();
        let at = Timestamp::from_nanos(0);
        let mut draft = memory.begin(at);
        for name in ["Ava", "Ben Holt"] {
            let entity = draft.new_entity(EntityKind::Person);
            let (name, source) = (name.to_owned(), NameSource::Told);
            draft.name(NameRow { entity, name, since: at, source, turn: None });
        }
        draft.commit().unwrap();
        let view = memory.view();
        let worded = |fact: Fact| format!("{} | {} | {}", fact.subject, fact.attribute, fact.value);
        texts.iter().map(|text| told(text, &view).map(worded)).collect()
    }

    #[test]
    fn what_is_told_plainly_of_people_and_things_becomes_slots() {
        let told = [
            ("Ava likes oat milk.", "person_1 | likes | oat milk"),
            ("Yesterday it rained; Ben Holt really loves Running", "person_2 | likes | running"),
            ("ava dislikes onions and garlic", "person_1 | dislikes | onions"),
            ("<person_2> hates Mondays", "person_2 | dislikes | mondays"),
            ("Ava now lives in Bad Honnef.", "person_1 | home | bad honnef"),
            ("Ben Holt works as a night nurse", "person_2 | job | night nurse"),
            ("Ava is Ben Holt's sister.", "person_1 | relation | sister of <person_2>"),
            ("Ben Holt is Ava\u{2019}s brother", "person_2 | relation | brother of <person_1>"),
            ("Ava is Clara's friend and tall", "person_1 | relation | friend of Clara"),
            ("person_2 is called Old Ben", "person_2 | name | Old Ben"),
            ("Ava put the drill in the shed", "drill | location | in the shed"),
            ("I put the drill under the bench", "drill | location | under the bench"),
            ("The drill is now in the garage.", "drill | location | in the garage"),
            ("The red drill was moved to the cellar", "red drill | location | at the cellar"),
        ];
        let (texts, slots): (Vec<&str>, Vec<&str>) = told.into_iter().unzip();
        let found = facts(&texts);
        assert_eq!(
            found.iter().map(|slot| slot.as_deref().unwrap_or("")).collect::<Vec<_>>(),
            slots
        );
    }

    #[test]
    fn other_sentences_state_nothing() {
        let texts = [
            "It is in the air",
            "Is Ava at home?",
            "Ava is at home",
            "Ava likes tea?",
            "Does anybody know what Ava likes",
            "Ava likes it",
            "Clara likes tea",
            "Somebody like Ava lives in Bonn",
            "Ava is a nurse",
            "Ava is called away",
            "Is Ava Ben Holt's sister?",
            "Ava is not Ben Holt's sister",
            "Ava is Ben Holt's sister Clara",
            "Ava left the house in the morning",
            "The meeting moved to Tuesday",
            "The meeting moved to the afternoon",
            "Ava moved to Bonn",
            "",
        ];
        for (text, found) in texts.iter().zip(facts(&texts)) {
            assert_eq!(found, None, "{text}");
        }
    }
}
