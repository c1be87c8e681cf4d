//! Words to lemmas: the model's own tables of exceptions, endings and known words (`WordNet`'s morphology), by part of
//! speech.

use std::collections::{HashMap, HashSet};

use super::hash;
use super::weights::{Value, WeightsError};

const FILE: &str = "lemmatizer/lookups/lookups.bin";

/// What the tables hold of one part of speech.
#[derive(Debug, Default)]
struct Table {
    /// Endings and what stands for them.
    rules: Vec<(String, String)>,
    exceptions: HashMap<String, String>,
    known: HashSet<String>,
}

/// Finds lemmas.
#[derive(Debug)]
pub struct Lemmas {
    verb: Table,
    noun: Table,
    adjective: Table,
    adverb: Table,
}

impl Lemmas {
    /// From the bytes of the lemmatizer's tables.
    ///
    /// # Errors
    /// They are no such tables.
    pub fn read(bytes: &[u8]) -> Result<Self, WeightsError> {
        let read = || -> Result<Self, String> {
            let file = Value::read(bytes)?;
            let of = |name: &str| Table::read(&file, hash::of_string(name));
            Ok(Self {
                verb: of("verb")?,
                noun: of("noun")?,
                adjective: of("adj")?,
                adverb: of("adv")?,
            })
        };
        read().map_err(|why| WeightsError { file: FILE, why })
    }

    /// The lemma of a word with a tag of the Penn Treebank, in lower case; of a contraction what it stands for.
    #[must_use]
    pub fn lemma(&self, form: &str, tag: &str) -> String {
        let form = form.to_lowercase().replace('’', "'");
        let table = match (tag, form.as_str()) {
            ("POS", _) => return form,
            (_, "n't") => return "not".to_owned(),
            (_, "'ll") => return "will".to_owned(),
            (_, "ca") if tag == "MD" => return "can".to_owned(),
            (_, "wo") if tag == "MD" => return "will".to_owned(),
            (_, "'ve") => return "have".to_owned(),
            ("MD", "'d") => return "would".to_owned(),
            (_, "'d") => return "have".to_owned(),
            (_, "'s" | "'re" | "'m" | "am" | "is" | "are" | "was" | "were" | "been" | "being") => {
                return "be".to_owned();
            }
            ("VB" | "VBP" | "MD" | "NN" | "JJ" | "RB", _) => {
                let table = self.table(tag);
                if table.is_none_or(|table| table.is_base(&form)) {
                    return form;
                }
                table
            }
            _ => self.table(tag),
        };
        table.map_or(form.clone(), |table| table.lemma(&form))
    }

    /// Whether the language has the word, in any of its forms; a name that is no word is none.
    #[must_use]
    pub fn has(&self, form: &str) -> bool {
        let form = form.to_lowercase();
        [&self.verb, &self.noun, &self.adjective, &self.adverb].into_iter().any(|table| {
            table.known.contains(&form)
                || table.exceptions.contains_key(&form)
                || table.known.contains(&table.lemma(&form))
        })
    }

    fn table(&self, tag: &str) -> Option<&Table> {
        Some(match tag.get(..2)? {
            "VB" => &self.verb,
            "NN" if !tag.starts_with("NNP") => &self.noun,
            "JJ" => &self.adjective,
            "RB" => &self.adverb,
            _ => return None,
        })
    }
}

impl Table {
    fn read(file: &Value<'_>, number: u64) -> Result<Self, String> {
        let entry = |name: &str| {
            let table =
                file.get(name).and_then(Value::map).ok_or(format!("it has no map `{name}`"))?;
            let found = table.iter().find(|(key, _)| key.number() == Some(number));
            Ok::<_, String>(found.map(|(_, value)| value))
        };
        let mut out = Self::default();
        for rule in entry("lemma_rules")?.and_then(Value::list).unwrap_or_default() {
            let pair = rule.list().unwrap_or_default();
            let (Some(from), Some(to)) =
                (pair.first().and_then(Value::text), pair.get(1).and_then(Value::text))
            else {
                return Err("a rule that is no pair of endings".to_owned());
            };
            out.rules.push((from.to_owned(), to.to_owned()));
        }
        for (form, lemmas) in entry("lemma_exc")?.and_then(Value::map).unwrap_or_default() {
            let lemma = lemmas.list().and_then(|list| list.first()).and_then(Value::text);
            let (Some(form), Some(lemma)) = (form.text(), lemma) else {
                return Err("an exception that is no text".to_owned());
            };
            out.exceptions.insert(form.to_owned(), lemma.to_owned());
        }
        let known = entry("lemma_index")?.and_then(Value::list).unwrap_or_default();
        out.known = known.iter().filter_map(Value::text).map(str::to_owned).collect();
        Ok(out)
    }

    fn is_base(&self, form: &str) -> bool {
        !self.exceptions.contains_key(form) || self.known.contains(form)
    }

    fn lemma(&self, form: &str) -> String {
        if let Some(lemma) = self.exceptions.get(form) {
            return lemma.clone();
        }
        let made = |(from, to): &(String, String)| {
            form.strip_suffix(from.as_str())
                .filter(|stem| !stem.is_empty())
                .map(|stem| format!("{stem}{to}"))
        };
        let mut candidates = self.rules.iter().filter_map(made);
        candidates
            .clone()
            .find(|lemma| self.known.contains(lemma))
            .or_else(|| self.known.contains(form).then(|| form.to_owned()))
            .or_else(|| candidates.next())
            .unwrap_or_else(|| form.to_owned())
    }
}
