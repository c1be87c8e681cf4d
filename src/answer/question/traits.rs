//! Questions about what is true of somebody: "What does Ava like?", "Does Ben live in Bonn?", "Who is Ava's sister?"

use super::describe::NOUNS;
use super::pieces::{Piece, Sentence, is_grammar};
use super::words::{WH, listed};
use super::{AboutFact, Subject};
use crate::memory::natures::attribute_meant;

/// Words beside a verb that change nothing.
const BESIDE: &str = "really still also now currently actually most best";
/// What may follow "What does Ava do".
const FOR_A_LIVING: [&str; 3] = ["", "for a living", "for work"];
/// How somebody is who likes something, and what stands before it then.
const PLEASED: &str = "pleased happy delighted glad";
const WITH: &str = "with about by";
const WOULD: &str = "would could can might may should will";
/// Words that begin another clause, or name what was told before.
const OTHER: &str =
    "it this that these those them he she they if because or to anything something anybody anyone";

/// What the question asks of somebody, as far as it has that form.
pub(super) fn about(sentence: &Sentence) -> Option<AboutFact> {
    let is_not = |piece: &Piece| matches!(piece, Piece::Word(word) if word == "not");
    let said = |piece: &&Piece| match piece {
        Piece::Time(_) => false,
        Piece::Word(word) => word != "not" && !listed(BESIDE, word),
        Piece::Subject(_) | Piece::Quote(_) => true,
    };
    let asked = Asked {
        sentence,
        pieces: sentence.pieces.iter().filter(said).collect(),
        negated: sentence.pieces.iter().any(is_not),
    };
    asked.value().or_else(|| asked.pleasing()).or_else(|| asked.whom()).or_else(|| asked.holds())
}

/// The pieces that count.
struct Asked<'a> {
    sentence: &'a Sentence,
    pieces: Vec<&'a Piece>,
    /// It is asked for what is not so.
    negated: bool,
}

impl<'a> Asked<'a> {
    fn word(&self, at: usize) -> &'a str {
        match self.pieces.get(at) {
            Some(Piece::Word(word)) => word.as_str(),
            _ => "",
        }
    }

    /// Somebody of whom something may be true.
    fn who(&self, at: usize) -> Option<&'a Subject> {
        let Some(Piece::Subject(index)) = self.pieces.get(at) else { return None };
        let subject = self.sentence.subjects.get(*index)?;
        let somebody = !matches!(subject, Subject::Anybody | Subject::Robot | Subject::Asker);
        somebody.then_some(subject)
    }

    /// All words from there on; `None` where something else stands among them.
    fn words_from(&self, at: usize) -> Option<String> {
        let rest = self.pieces.get(at..).unwrap_or_default();
        let word = |piece: &&Piece| match piece {
            Piece::Word(word) => Some(word.clone()),
            _ => None,
        };
        let words: Option<Vec<String>> = rest.iter().map(word).collect();
        words.map(|words| words.join(" "))
    }

    /// "sister of Ava": the words from there on, said of somebody.
    fn relation(&self, at: usize, to: &Subject) -> Option<String> {
        let relation = self.words_from(at).filter(|words| !words.is_empty())?;
        match to {
            Subject::Known { text, .. } | Subject::Unknown(text) => {
                Some(format!("{relation} of {text}"))
            }
            _ => None,
        }
    }

    fn is_over(&self, at: usize) -> bool {
        at >= self.pieces.len()
    }

    /// What is told from there on: words and names, as they were written; `None` for whole clauses.
    fn told_from(&self, at: usize) -> Option<String> {
        let mut told = String::new();
        let mut is_telling = false;
        for piece in self.pieces.get(at..)? {
            let word = match piece {
                Piece::Word(word) if listed(OTHER, word) || listed(WH, word) => return None,
                Piece::Word(word) => {
                    is_telling |= !is_grammar(word);
                    word.as_str()
                }
                Piece::Subject(index) => match self.sentence.subjects.get(*index)? {
                    Subject::Known { text, .. } | Subject::Unknown(text) => {
                        is_telling = true;
                        text.as_str()
                    }
                    _ => return None,
                },
                Piece::Quote(_) | Piece::Time(_) => return None,
            };
            if word != "'s" && !told.is_empty() {
                told.push(' ');
            }
            told.push_str(word);
        }
        is_telling.then_some(told)
    }

    /// The attribute that a verb tells, and the first piece behind it.
    fn attribute(&self, at: usize) -> Option<(&'static str, usize)> {
        let (verb, next) = (self.word(at), self.word(at + 1));
        Some(match (verb, next) {
            ("like" | "likes" | "liked" | "love" | "loves" | "loved", _)
            | ("enjoy" | "enjoys" | "enjoyed" | "prefer" | "prefers", _) => ("likes", at + 1),
            ("dislike" | "dislikes" | "disliked" | "hate" | "hates" | "hated", _) => {
                ("dislikes", at + 1)
            }
            ("live" | "lives" | "lived", "in" | "at") => ("home", at + 2),
            ("work" | "works" | "worked", "as") => ("job", at + 2),
            ("work" | "works" | "worked", "for" | "at") => ("employer", at + 2),
            _ => return None,
        })
    }

    /// The same of what is not so: what is not liked is disliked; `None` where that tells nothing.
    fn asked_for(&self, at: usize) -> Option<(&'static str, usize)> {
        match self.attribute(at)? {
            found if !self.negated => Some(found),
            ("likes", after) => Some(("dislikes", after)),
            _ => None,
        }
    }

    /// "What does Ava like?", "Where does Ava live?", "How old is Ava?", "What is Ava's phone number?"
    fn value(&self) -> Option<AboutFact> {
        let lead = self.word(0);
        let of = |who: &Subject, attribute: &str| {
            Some(AboutFact::Value { who: who.clone(), attribute: attribute.to_owned() })
        };
        if lead == "how" && self.word(1) == "old" && self.is_over(4) {
            return of(self.who(3)?, "age");
        }
        if let (Some(who), "born") = (self.who(2), self.word(3))
            && self.is_over(4)
        {
            return match lead {
                "when" => of(who, "birthday"),
                "where" => of(who, "birthplace"),
                _ => None,
            };
        }
        let verb = 1 + usize::from(listed("thing things", self.word(1)));
        match self.word(verb) {
            "do" | "does" | "did" => {
                let (who, at) = (self.who(verb + 1)?, verb + 2);
                match (lead, self.word(at)) {
                    ("where", "live") if self.is_over(at + 1) => of(who, "home"),
                    ("where", "work") if self.is_over(at + 1) => of(who, "employer"),
                    ("what", "do") => {
                        let rest = self.words_from(at + 1)?;
                        // "What did Ava do?", "What does Ava do on Monday?" ask what happens.
                        let happens = rest.is_empty()
                            && (self.word(verb) == "did" || !self.sentence.times.is_empty());
                        let job = !happens && FOR_A_LIVING.contains(&rest.as_str());
                        job.then(|| of(who, "job")).flatten()
                    }
                    ("what" | "which" | "who" | "whom", _) => {
                        let (attribute, after) = self.asked_for(at)?;
                        self.is_over(after).then(|| of(who, attribute)).flatten()
                    }
                    _ => None,
                }
            }
            "is" | "are" | "was" | "were" if matches!(lead, "what" | "which" | "when") => {
                let who = self.who(verb + 1).filter(|_| self.word(verb + 2) == "'s")?;
                let attribute = self.words_from(verb + 3)?;
                let known = !matches!(attribute.as_str(), "" | "name");
                known.then(|| of(who, &attribute_meant(&attribute))).flatten()
            }
            _ => None,
        }
    }

    /// "What sweets would Ava be pleased with?", "What could I give Ava as a treat?": what somebody likes.
    fn pleasing(&self) -> Option<AboutFact> {
        let would = |at: usize| listed(WOULD, self.word(at));
        let asks = matches!(self.word(0), "what" | "which") && (1..self.pieces.len()).any(would);
        let is_mood = |at: usize| listed(PLEASED, self.word(at)) && listed(WITH, self.word(at + 1));
        let is_treat = |at: usize| self.word(at) == "as" && self.word(at + 2) == "treat";
        let pleases = (1..self.pieces.len()).any(|at| is_mood(at) || is_treat(at));
        let mut somebody = (1..self.pieces.len()).filter_map(|at| self.who(at));
        let who = somebody.next().filter(|_| asks && pleases)?;
        let alone = somebody.next().is_none();
        alone.then(|| AboutFact::Value { who: who.clone(), attribute: "likes".to_owned() })
    }

    /// "Who likes wine?", "Who lives in Bonn?", "Who is Ava's sister?"
    fn whom(&self) -> Option<AboutFact> {
        if !matches!(self.word(0), "who" | "whom") {
            return None;
        }
        if matches!(self.word(1), "is" | "are" | "was")
            && let Some(who) = self.who(2)
            && self.word(3) == "'s"
        {
            let value = self.relation(4, who)?;
            return Some(AboutFact::Whom { attribute: "relation".to_owned(), value });
        }
        let verb = 1 + usize::from(matches!(self.word(1), "do" | "does" | "did"));
        let (attribute, after) = self.asked_for(verb)?;
        let value = self.told_from(after)?;
        Some(AboutFact::Whom { attribute: attribute.to_owned(), value })
    }

    /// "Does Ava like wine?", "Is Ben a nurse?", "Is Ava Ben's sister?"
    fn holds(&self) -> Option<AboutFact> {
        let who = self.who(1)?;
        let whether = |attribute: &str, value: String| {
            let (who, attribute) = (who.clone(), attribute.to_owned());
            Some(AboutFact::Holds { who, attribute, value })
        };
        match self.word(0) {
            "do" | "does" | "did" => {
                let (attribute, after) = self.attribute(2)?;
                whether(attribute, self.told_from(after)?)
            }
            "is" | "was" => match (self.word(2), self.who(2)) {
                ("a" | "an", _) if !NOUNS.contains(&self.word(3)) => {
                    whether("job", self.told_from(3)?)
                }
                (_, Some(other)) if self.word(3) == "'s" => {
                    whether("relation", self.relation(4, other)?)
                }
                (age, _) if age.parse::<u32>().is_ok() => {
                    let rest = self.words_from(3)?;
                    let years = matches!(rest.as_str(), "" | "years old");
                    years.then(|| whether("age", age.to_owned())).flatten()
                }
                _ => None,
            },
            _ => None,
        }
    }
}
