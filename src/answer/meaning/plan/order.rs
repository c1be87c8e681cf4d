//! "Who fell first, Ava or Ben?", "Did Ava leave before Ben came?": when each happened.

use crate::language::clause::Tree;

use super::super::question::{Kind, Question};
use super::{Asked, Finding};
use crate::language::text::Term;

pub(super) fn plan(asked: &Asked<'_>) -> Option<Finding> {
    alternatives(asked).or_else(|| beside(asked))
}

/// Of two alternatives the earlier, or the later.
fn alternatives(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, .. } = *asked;
    let first = question.says("first") || question.says("earlier");
    if !first && !question.says("last") && !question.says("later") {
        return None;
    }
    let words = &question.words;
    let one = words.iter().find(|word| word.lemma == "or" && word.label == "cc")?.head;
    let other = words.iter().position(|word| word.label == "conj" && word.head == one)?;
    let tree = Tree::new(words);
    let (a, b) = (tree.phrase(one), tree.phrase(other));
    let terms = |mine: &[usize], others: &[usize]| -> Vec<&Term> {
        let is_mine = |term: &&Term| mine.contains(&term.at) || !others.contains(&term.at);
        question.terms.iter().filter(is_mine).collect()
    };
    let (x, y) = (corpus.event(&terms(&a, &b))?, corpus.event(&terms(&b, &a))?);
    let chosen = if (x.at <= y.at) == first { &a } else { &b };
    let value = format!("{} was {}", say(question, chosen)?, if first { "first" } else { "later" });
    Some(Finding::new(value, vec![x.note, y.note], x.held.min(y.held) * 0.9))
}

fn say<'q>(question: &'q Question, words: &[usize]) -> Option<&'q str> {
    let (first, last) = (words.first()?, words.last()?);
    question.text.get(question.words[*first].span.start..question.words[*last].span.end)
}

/// Whether one was before the other.
fn beside(asked: &Asked<'_>) -> Option<Finding> {
    let Asked { corpus, question, .. } = *asked;
    let (mark, inner, outer) = question.beside()?;
    let asks = matches!(question.kind, Kind::Whether | Kind::Choice);
    if !asks || !matches!(mark, "before" | "after") {
        return None;
    }
    let (x, y) = (corpus.event(&outer)?, corpus.event(&inner)?);
    if x.note == y.note && x.at == y.at {
        return None;
    }
    let is_before = x.at < y.at;
    let order = if is_before { "before" } else { "after" };
    let value = match question.kind {
        Kind::Choice => {
            if is_before {
                "Before".to_owned()
            } else {
                "After".to_owned()
            }
        }
        _ if order == mark => "Yes".to_owned(),
        _ => format!("No, {order}"),
    };
    Some(Finding::new(value, vec![x.note, y.note], x.held.min(y.held) * 0.9))
}
