//! Trees to clauses: who does what to whom, where, whether it is denied, and what a question asks for.
//!
//! Only labels and tags are read here, no verbs: what a verb means is the thesaurus's and the lexicon's.

use compact_str::CompactString;

use crate::language::parse::Word;

/// What a word is to its clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Who does it; of a passive, who stands behind "by".
    Agent,
    /// What it is done to, or what somebody or something is.
    Object,
    /// To whom.
    Recipient,
    /// Behind a preposition.
    Oblique(CompactString),
    /// How, when, where, in a word.
    Adverb,
}

/// What a question wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Whether it is so.
    Whether,
    /// The question word and what it is to the clause, with the noun that it is said with ("which room").
    Part {
        /// The question word.
        word: usize,
        /// What it is to its clause.
        role: Role,
        /// The noun that it is said with.
        noun: Option<usize>,
    },
}

/// How a clause hangs in its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What the sentence says.
    Main,
    /// "… and left".
    Coordinated,
    /// "because …", "when …": the word it begins with.
    Adverbial(CompactString),
    /// "… that stood there": the noun.
    Relative(usize),
    /// "She said that …": the verb.
    Complement(usize),
}

/// One clause. Words are told by their index in the sentence.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its verb, or what stands for it.
    pub head: usize,
    /// Verbs of the predicate: "has to be put" has three, the last carries the meaning.
    pub verbs: Vec<usize>,
    /// Lemma of the last verb, with its particle: "give back".
    pub predicate: CompactString,
    /// Heads of its phrases; of a list each.
    pub roles: Vec<(Role, usize)>,
    /// It says that it is not so.
    pub negated: bool,
    /// "must", "can", "will": the auxiliary's lemma.
    pub modal: Option<CompactString>,
    /// What is done stands first.
    pub passive: bool,
    /// How it hangs in its sentence.
    pub kind: Kind,
}

impl Clause {
    /// Heads that are so to it.
    pub fn all(&self, role: &Role) -> impl Iterator<Item = usize> {
        self.roles.iter().filter(move |(r, _)| r == role).map(|(_, word)| *word)
    }
}

const SUBJECT: &[&str] = &["nsubj", "csubj"];
const PASSIVE_SUBJECT: &[&str] = &["nsubjpass", "csubjpass"];
const OBJECT: &[&str] = &["dobj", "attr", "acomp", "oprd"];
const CLAUSES: &[&str] = &[
    "ROOT",
    "ccomp",
    "parataxis",
    "conj",
    "advcl",
    "dep",
    "xcomp",
    "relcl",
    "acl",
    "pcomp",
    "appos",
];
const BESIDE: &[&str] = &["npadvmod", "tmod"];

/// Words with what hangs on each.
#[derive(Debug)]
pub struct Tree<'a> {
    /// In order.
    pub words: &'a [Word],
    under: Vec<Vec<usize>>,
}

impl<'a> Tree<'a> {
    /// Of the words of one or several sentences.
    #[must_use]
    pub fn new(words: &'a [Word]) -> Self {
        let mut under = vec![Vec::new(); words.len()];
        for (at, word) in words.iter().enumerate() {
            if word.head != at {
                under[relieved(words, word.head)].push(at);
            }
        }
        Self { words, under }
    }

    /// What hangs on a word.
    #[must_use]
    pub fn under(&self, at: usize) -> &[usize] {
        &self.under[at]
    }

    /// What hangs on a word with one of those labels.
    pub fn of(&self, at: usize, labels: &'a [&str]) -> impl Iterator<Item = usize> + '_ {
        self.under[at]
            .iter()
            .copied()
            .filter(move |&c| labels.contains(&self.words[c].label.as_str()))
    }

    /// The word and what is coordinated with it.
    #[must_use]
    pub fn listed(&self, at: usize) -> Vec<usize> {
        let mut out = vec![at];
        for next in self.of(at, &["conj"]) {
            out.extend(self.listed(next));
        }
        out
    }

    /// All words of the phrase under it, in order, without clauses that hang on it.
    #[must_use]
    pub fn phrase(&self, at: usize) -> Vec<usize> {
        let mut out = Vec::new();
        self.gather(at, &mut out);
        out.sort_unstable();
        out
    }

    fn gather(&self, at: usize, out: &mut Vec<usize>) {
        out.push(at);
        for &next in &self.under[at] {
            let word = &self.words[next];
            let clause = matches!(
                word.label.as_str(),
                "relcl" | "advcl" | "ccomp" | "parataxis" | "punct" | "cc" | "conj"
            ) || word.label == "appos" && self.is_verb(next);
            if !clause {
                self.gather(next, out);
            }
        }
    }

    /// The word and those that it hangs on, up to its root.
    #[must_use]
    pub fn above(&self, mut at: usize) -> Vec<usize> {
        let mut out = vec![at];
        while self.words[at].head != at && out.len() <= self.words.len() {
            at = self.words[at].head;
            out.push(at);
        }
        out
    }

    /// All words under it, itself too.
    #[must_use]
    pub fn below(&self, at: usize) -> Vec<usize> {
        let mut out = vec![at];
        let mut done = 0;
        while let Some(&next) = out.get(done) {
            out.extend(&self.under[next]);
            done += 1;
        }
        out
    }

    /// Whether it is a verb by its tag.
    #[must_use]
    pub fn is_verb(&self, at: usize) -> bool {
        self.words[at].is_verb()
    }

    fn is_question_word(&self, at: usize) -> bool {
        self.words[at].tag.starts_with('W')
    }

    /// The root of the sentence it stands in.
    #[must_use]
    pub fn root(&self, at: usize) -> usize {
        self.above(at).last().copied().unwrap_or(at)
    }

    /// The clauses, in order of their heads.
    #[must_use]
    pub fn clauses(&self) -> Vec<Clause> {
        let mut out: Vec<Clause> = Vec::new();
        let mut taken = vec![false; self.words.len()];
        for at in 0..self.words.len() {
            if self.words[at].head == at {
                self.visit(at, None, &mut out, &mut taken);
            }
        }
        out
    }

    fn visit(&self, at: usize, outer: Option<usize>, out: &mut Vec<Clause>, taken: &mut [bool]) {
        let label = self.words[at].label.as_str();
        let mut mine = outer;
        let begins =
            CLAUSES.contains(&label) && !taken[at] && (self.is_clause(at) || label == "ROOT");
        if begins {
            let subject = (label == "conj").then_some(outer).flatten().map(|n| out[n].clone());
            let clause = self.clause(at, subject.as_ref());
            for &verb in &clause.verbs {
                taken[verb] = true;
            }
            mine = Some(out.len());
            out.push(clause);
        }
        for &next in &self.under[at] {
            self.visit(next, mine, out, taken);
        }
    }

    fn is_clause(&self, at: usize) -> bool {
        self.is_verb(at)
            || self.of(at, SUBJECT).next().is_some()
            || self.of(at, PASSIVE_SUBJECT).next().is_some()
    }

    fn clause(&self, head: usize, outer: Option<&Clause>) -> Clause {
        let mut verbs = vec![head];
        let mut last = head;
        while let Some(next) = self
            .of(last, &["xcomp"])
            .find(|&c| self.is_verb(c) && self.of(c, SUBJECT).next().is_none())
        {
            verbs.push(next);
            last = next;
        }
        let passive = verbs.iter().any(|&verb| {
            self.of(verb, &["auxpass"]).next().is_some()
                || self.of(verb, PASSIVE_SUBJECT).next().is_some()
        }) || self.words[head].label == "acl" && self.words[head].tag == "VBN";
        let mut roles: Vec<(Role, usize)> = Vec::new();
        let mut subjects: Vec<usize> = self.of(head, SUBJECT).collect();
        let mut passives: Vec<usize> =
            verbs.iter().flat_map(|&v| self.of(v, PASSIVE_SUBJECT)).collect();
        let mut objects: Vec<usize> = Vec::new();
        for &verb in verbs.iter().rev() {
            objects.extend(self.of(verb, OBJECT));
            objects.extend(self.of(verb, &["xcomp"]).filter(|&c| !self.is_verb(c)));
            if !objects.is_empty() {
                break;
            }
        }
        // Two subjects: the one next to the verb is it, a question word in front is the object.
        if subjects.len() > 1 {
            let nearest = subjects.pop();
            objects.append(&mut subjects);
            subjects.extend(nearest);
        }
        let label = self.words[head].label.as_str();
        if label == "relcl" && subjects.is_empty() && passives.is_empty() {
            subjects.push(self.words[head].head);
        } else if label == "relcl" {
            // "who" and "that" stand for the noun; where none does, the noun is what is missing.
            let noun = self.words[head].head;
            let mut stands = false;
            for one in subjects.iter_mut().chain(&mut passives).chain(&mut objects) {
                if self.is_question_word(*one) {
                    *one = noun;
                    stands = true;
                }
            }
            if !stands && objects.is_empty() && !passive {
                objects.push(noun);
            }
        } else if label == "acl" {
            let noun = self.words[head].head;
            if passive { passives.push(noun) } else { subjects.push(noun) }
        }
        let existing = self.of(head, &["expl"]).any(|w| self.words[w].lemma == "there");
        if subjects.is_empty()
            && passives.is_empty()
            && !existing
            && let Some(outer) = outer
        {
            let subject = if outer.passive { Role::Object } else { Role::Agent };
            match passive {
                true => passives.extend(outer.all(&subject)),
                false => roles.extend(outer.all(&subject).map(|w| (Role::Agent, w))),
            }
        }
        for &one in &subjects {
            let role = if passive && passives.is_empty() { Role::Object } else { Role::Agent };
            roles.extend(self.listed(one).into_iter().map(|w| (role.clone(), w)));
        }
        for &one in passives.iter().chain(&objects) {
            roles.extend(self.listed(one).into_iter().map(|w| (Role::Object, w)));
        }
        for &verb in &verbs {
            for to in self.of(verb, &["dative"]) {
                let people: Vec<usize> = if self.words[to].tag == "IN" || self.words[to].tag == "TO"
                {
                    self.of(to, &["pobj"]).collect()
                } else {
                    vec![to]
                };
                for one in people {
                    roles.extend(self.listed(one).into_iter().map(|w| (Role::Recipient, w)));
                }
            }
            self.obliques(verb, "", &mut roles, 0);
        }
        for &object in &objects {
            self.obliques(object, "", &mut roles, 1);
        }
        let particle = self.of(last, &["prt"]).next().map(|p| self.words[p].lemma.clone());
        let lemma = &self.words[last].lemma;
        let predicate = particle.map_or_else(
            || lemma.clone(),
            |particle| compact_str::format_compact!("{lemma} {particle}"),
        );
        let negated =
            verbs.iter().any(|&v| {
                self.of(v, &["neg"]).any(|n| self.words[n].lemma != "no" || self.words[n].head != n)
            }) || subjects.iter().chain(&passives).chain(&objects).any(|&one| self.denies(one))
                || verbs.iter().any(|&v| {
                    self.of(v, &["advmod"]).any(|a| {
                        matches!(self.words[a].lemma.as_str(), "never" | "hardly" | "seldom")
                            || self.is_of_no(a)
                    })
                });
        let modal =
            verbs.iter().flat_map(|&v| self.of(v, &["aux"])).find(|&a| self.words[a].tag == "MD");
        Clause {
            head,
            predicate,
            roles,
            negated,
            modal: modal.map(|a| self.words[a].lemma.clone()),
            passive,
            kind: self.kind(head),
            verbs,
        }
    }

    fn denies(&self, at: usize) -> bool {
        matches!(self.words[at].lemma.as_str(), "nobody" | "nothing" | "none" | "no-one")
            || self.of(at, &["det"]).any(|d| self.words[d].lemma == "no")
            || self.of(at, &["advmod"]).any(|a| self.is_of_no(a))
    }

    /// "No longer".
    fn is_of_no(&self, adverb: usize) -> bool {
        self.under[adverb].iter().any(|&n| self.words[n].lemma == "no")
    }

    fn kind(&self, head: usize) -> Kind {
        let word = &self.words[head];
        match word.label.as_str() {
            "conj" => Kind::Coordinated,
            "advcl" => {
                let mark = self
                    .of(head, &["mark", "advmod"])
                    .find(|&m| m < head)
                    .map_or(CompactString::default(), |m| self.words[m].lemma.clone());
                Kind::Adverbial(mark)
            }
            "relcl" | "acl" => Kind::Relative(word.head),
            // "The drill is gone, Ben took it": two clauses with a comma between them.
            "ccomp"
                if head < word.head
                    && self.of(word.head, SUBJECT).any(|s| head < s && s < word.head) =>
            {
                Kind::Coordinated
            }
            "ccomp" | "xcomp" | "pcomp" => Kind::Complement(word.head),
            _ => Kind::Main,
        }
    }

    fn obliques(&self, at: usize, outer: &str, roles: &mut Vec<(Role, usize)>, depth: usize) {
        for &next in &self.under[at] {
            let word = &self.words[next];
            match word.label.as_str() {
                "prep" | "agent" | "prt" if depth < 4 => {
                    let name = if outer.is_empty() {
                        word.lemma.clone()
                    } else {
                        compact_str::format_compact!("{outer} {}", word.lemma)
                    };
                    for object in self.of(next, &["pobj", "pcomp"]) {
                        for one in self.listed(object) {
                            let role = if word.label == "agent" {
                                Role::Agent
                            } else {
                                Role::Oblique(name.clone())
                            };
                            roles.push((role, one));
                        }
                        self.obliques(object, "", roles, depth + 2);
                    }
                    self.obliques(next, &name, roles, depth + 1);
                }
                "advmod" if depth == 0 && outer.is_empty() => {
                    roles.push((Role::Adverb, next));
                    self.obliques(next, &word.lemma, roles, depth + 1);
                }
                label if BESIDE.contains(&label) && depth == 0 => roles.push((Role::Adverb, next)),
                _ => {}
            }
        }
    }

    /// What a question asks for: of its first question word, in the clause that it stands in.
    #[must_use]
    pub fn wanted(&self, clauses: &[Clause]) -> Option<(usize, Wanted)> {
        let main = clauses.iter().position(|c| matches!(c.kind, Kind::Main))?;
        let asked = (0..self.words.len()).find(|&at| {
            self.is_question_word(at)
                && !(self.words[at].tag == "WDT" && self.words[at].lemma == "that")
                && !self.in_relative(at)
        });
        let Some(asked) = asked else { return Some((main, Wanted::Whether)) };
        let last = self.words.len() - 1;
        let stranded = (asked + 1..=last).rev().find(|&at| {
            matches!(self.words[at].tag.as_str(), "IN" | "TO" | "RP")
                && matches!(self.words[at].label.as_str(), "prep" | "prt" | "advmod" | "dep")
                && self.of(at, &["pobj", "pcomp", "prep"]).next().is_none()
                && at + 2 >= last
        });
        // From the question word up to the clause.
        let (mut at, mut noun, mut preposition) = (asked, None, None);
        for _ in 0..self.words.len() {
            if let Some(n) = clauses.iter().position(|c| c.verbs.contains(&at)) {
                let role = self.role_of(&clauses[n], asked, noun, preposition.or(stranded));
                return Some((n, Wanted::Part { word: asked, role, noun }));
            }
            let word = &self.words[at];
            if at != asked && word.tag.starts_with("NN") && noun.is_none() {
                noun = Some(at);
            }
            if at != asked && word.label == "prep" && preposition.is_none() {
                preposition = Some(at);
            }
            if word.head == at {
                break;
            }
            at = word.head;
        }
        Some((main, Wanted::Part { word: asked, role: Role::Adverb, noun }))
    }

    fn in_relative(&self, at: usize) -> bool {
        let aside =
            |at: &usize| matches!(self.words[*at].label.as_str(), "relcl" | "acl" | "advcl");
        self.above(at).iter().any(aside)
    }

    fn role_of(
        &self,
        clause: &Clause,
        asked: usize,
        noun: Option<usize>,
        preposition: Option<usize>,
    ) -> Role {
        if let Some(preposition) = preposition {
            return Role::Oblique(self.words[preposition].lemma.clone());
        }
        let held = |at: usize| {
            clause.roles.iter().find(|(_, word)| *word == at).map(|(role, _)| role.clone())
        };
        if let Some(role) = held(asked).or_else(|| noun.and_then(held)) {
            return role;
        }
        // Within a phrase: "whose room", "how many of them".
        let holding = clause.roles.iter().find(|(_, word)| self.phrase(*word).contains(&asked));
        holding.map_or(Role::Adverb, |(role, _)| role.clone())
    }
}

/// Nothing hangs on an auxiliary: what does belongs to its verb.
fn relieved(words: &[Word], head: usize) -> usize {
    let word = &words[head];
    if matches!(word.label.as_str(), "aux" | "auxpass") { word.head } else { head }
}
