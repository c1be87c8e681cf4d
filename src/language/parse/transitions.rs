//! Vectors to a tree: arc-eager transitions, the best valid one each time, then arcs that cross put back.

use super::network::{WIDTH, dot};
use super::weights::{Layers, Value, WeightsError};

/// Units of the state's vector.
const HIDDEN: usize = 64;
/// Linear pieces of a unit.
const PIECES: usize = 2;
/// Words that a state is seen by: two of the buffer, three of the stack, and three children.
const SEEN: usize = 8;
/// A word's share of a state: units and pieces for each place.
const SHARE: usize = HIDDEN * PIECES;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Move {
    Shift,
    Reduce,
    Left(String),
    Right(String),
    Break,
}

/// The transition parser.
#[derive(Debug)]
pub struct Transitions {
    moves: Vec<Move>,
    /// `[HIDDEN, WIDTH]` and its bias: words, made smaller.
    squeeze: Vec<f32>,
    squeeze_bias: Vec<f32>,
    /// `[SEEN, HIDDEN, PIECES, HIDDEN]`
    weights: Vec<f32>,
    bias: Vec<f32>,
    /// `[SEEN, HIDDEN, PIECES]`: the share of a place where no word is.
    nobody: Vec<f32>,
    /// `[moves, HIDDEN]`
    scores: Vec<f32>,
    scores_bias: Vec<f32>,
}

/// Who each word hangs on (itself: a root), and by which label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arcs {
    pub heads: Vec<usize>,
    pub labels: Vec<String>,
}

impl Transitions {
    /// From the bytes of `parser/model` and `parser/moves`.
    ///
    /// # Errors
    /// They are no model of this shape.
    pub fn read(model: &[u8], moves: &[u8]) -> Result<Self, WeightsError> {
        let moves = read_moves(moves).map_err(|why| WeightsError { file: "parser/moves", why })?;
        let mut layers = Layers::read("parser/model", model)?;
        let [weights, bias, nobody] = layers.next([
            ("W", &[SEEN, HIDDEN, PIECES, HIDDEN]),
            ("b", &[HIDDEN, PIECES]),
            ("pad", &[1, SEEN, HIDDEN, PIECES]),
        ])?;
        let [scores, scores_bias] =
            layers.next([("W", &[moves.len(), HIDDEN]), ("b", &[moves.len()])])?;
        let [squeeze, squeeze_bias] = layers.next([("W", &[HIDDEN, WIDTH]), ("b", &[HIDDEN])])?;
        Ok(Self { moves, squeeze, squeeze_bias, weights, bias, nobody, scores, scores_bias })
    }

    /// The tree of the words whose vectors these are.
    #[must_use]
    pub fn parse(&self, vectors: &[f32]) -> Arcs {
        let shares = self.shares(vectors);
        let mut state = State::new(vectors.len() / WIDTH);
        let mut units = vec![0_f32; SHARE];
        while !state.is_final() {
            units.copy_from_slice(&self.bias);
            for (place, word) in state.seen().into_iter().enumerate() {
                let of_word = word.map_or(&self.nobody[..], |word| &shares[word * SEEN * SHARE..]);
                for (unit, share) in
                    units.iter_mut().zip(&of_word[place * SHARE..(place + 1) * SHARE])
                {
                    *unit += share;
                }
            }
            let hidden: Vec<f32> =
                units.chunks_exact(PIECES).map(|pieces| pieces[0].max(pieces[1])).collect();
            let mut best: Option<(f32, &Move)> = None;
            for ((step, row), bias) in
                self.moves.iter().zip(self.scores.chunks_exact(HIDDEN)).zip(&self.scores_bias)
            {
                if state.allows(step) {
                    let score = dot(row, &hidden) + bias;
                    if best.is_none_or(|(highest, _)| score > highest) {
                        best = Some((score, step));
                    }
                }
            }
            // While the state is not final, shifting or reducing is always allowed.
            let Some((_, step)) = best else { break };
            state.go(step);
        }
        state.arcs()
    }

    /// What each word adds to the units from each place, word by word. Each row of weights meets all words.
    fn shares(&self, vectors: &[f32]) -> Vec<f32> {
        let squeezed = |vector| {
            let rows = self.squeeze.chunks_exact(WIDTH).zip(&self.squeeze_bias);
            rows.map(move |(row, bias)| dot(row, vector) + bias)
        };
        let small: Vec<f32> = vectors.chunks_exact(WIDTH).flat_map(squeezed).collect();
        let mut shares = vec![0_f32; vectors.len() / WIDTH * SEEN * SHARE];
        for (unit, row) in self.weights.chunks_exact(HIDDEN).enumerate() {
            for (word, share) in
                small.chunks_exact(HIDDEN).zip(shares.chunks_exact_mut(SEEN * SHARE))
            {
                share[unit] = dot(row, word);
            }
        }
        shares
    }
}

/// `{"moves": JSON}`: for each kind of move its labels with how often they were seen; the order is that of the scores.
fn read_moves(bytes: &[u8]) -> Result<Vec<Move>, String> {
    let file = Value::read(bytes)?;
    let json = file.get("moves").and_then(Value::text).ok_or("it has no text `moves`")?;
    let kinds: std::collections::BTreeMap<u8, std::collections::HashMap<String, i64>> =
        serde_json::from_str(json).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    for (kind, labels) in kinds {
        let mut labels: Vec<(i64, String)> =
            labels.into_iter().map(|(label, count)| (count, label)).collect();
        labels.sort_by(|a, b| b.cmp(a));
        for (count, label) in labels {
            if count < 0 {
                return Err(format!("`{label}` was added after training"));
            }
            out.push(match kind {
                0 => Move::Shift,
                1 => Move::Reduce,
                2 => Move::Left(label),
                3 => Move::Right(label),
                4 => Move::Break,
                _ => return Err(format!("move {kind} is none of an arc-eager parser")),
            });
        }
    }
    Ok(out)
}

/// Where a parse stands.
struct State {
    count: usize,
    stack: Vec<usize>,
    /// Words put back from the stack, the next one last.
    back: Vec<usize>,
    /// The first word not taken yet.
    next: usize,
    heads: Vec<Option<usize>>,
    labels: Vec<String>,
    /// Children by head, in the order they came; one that was taken away leaves its place empty.
    left: Vec<Vec<Option<usize>>>,
    right: Vec<Vec<Option<usize>>>,
    unshiftable: Vec<bool>,
    starts: Vec<bool>,
}

impl State {
    fn new(count: usize) -> Self {
        Self {
            count,
            stack: Vec::new(),
            back: Vec::new(),
            next: 0,
            heads: vec![None; count],
            labels: vec![String::new(); count],
            left: vec![Vec::new(); count],
            right: vec![Vec::new(); count],
            unshiftable: vec![false; count],
            starts: vec![false; count],
        }
    }

    fn stacked(&self, i: usize) -> Option<usize> {
        self.stack.len().checked_sub(i + 1).map(|at| self.stack[at])
    }

    fn buffered(&self, i: usize) -> Option<usize> {
        if let Some(at) = self.back.len().checked_sub(i + 1) {
            return Some(self.back[at]);
        }
        Some(self.next + i - self.back.len()).filter(|&word| word < self.count)
    }

    fn left_in_buffer(&self) -> usize {
        self.count - self.next + self.back.len()
    }

    fn is_final(&self) -> bool {
        self.stack.is_empty() && self.left_in_buffer() == 0
    }

    fn seen(&self) -> [Option<usize>; SEEN] {
        let newest = |children: &[Vec<Option<usize>>], of: Option<usize>| {
            of.and_then(|head| children[head].iter().rev().find_map(|child| *child))
        };
        let (b0, s0) = (self.buffered(0), self.stacked(0));
        [
            b0,
            self.buffered(1),
            s0,
            self.stacked(1),
            self.stacked(2),
            newest(&self.left, b0),
            newest(&self.left, s0),
            newest(&self.right, s0),
        ]
    }

    fn allows(&self, step: &Move) -> bool {
        let starts = |word: Option<usize>| word.is_some_and(|word| self.starts[word]);
        let b0 = self.buffered(0);
        match step {
            Move::Shift => {
                self.stack.is_empty()
                    || self.left_in_buffer() >= 2
                        && !starts(b0)
                        && !b0.is_some_and(|word| self.unshiftable[word])
            }
            Move::Reduce => !self.stack.is_empty(),
            Move::Left(_) | Move::Right(_) => !self.stack.is_empty() && b0.is_some() && !starts(b0),
            Move::Break => {
                let b1 = self.buffered(1);
                b1.is_some() && b1 == b0.map(|word| word + 1) && !starts(b1)
            }
        }
    }

    /// Takes a step that is allowed.
    fn go(&mut self, step: &Move) {
        match step {
            Move::Shift => self.push(),
            Move::Reduce => {
                let Some(top) = self.stack.pop() else { return };
                if self.heads[top].is_none() && !self.stack.is_empty() {
                    self.unshiftable[top] = true;
                    self.back.push(top);
                }
            }
            Move::Left(label) => {
                let (Some(head), Some(child)) = (self.buffered(0), self.stacked(0)) else { return };
                self.hang(child, head, label);
                self.unshiftable[head] = false;
                self.stack.pop();
            }
            Move::Right(label) => {
                let (Some(child), Some(head)) = (self.buffered(0), self.stacked(0)) else { return };
                self.hang(child, head, label);
                self.push();
            }
            Move::Break => {
                if let Some(word) = self.buffered(1) {
                    self.starts[word] = true;
                }
            }
        }
    }

    fn push(&mut self) {
        let word = self.back.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.stack.push(word);
    }

    fn hang(&mut self, child: usize, head: usize, label: &str) {
        if let Some(old) = self.heads[child] {
            let children = if old > child { &mut self.left[old] } else { &mut self.right[old] };
            if children.last() == Some(&Some(child)) {
                children.pop();
            } else if let Some(place) = children.iter_mut().find(|place| **place == Some(child)) {
                *place = None;
            }
        }
        let children = if head > child { &mut self.left[head] } else { &mut self.right[head] };
        children.push(Some(child));
        self.heads[child] = Some(head);
        label.clone_into(&mut self.labels[child]);
    }

    fn arcs(self) -> Arcs {
        let mut heads: Vec<usize> =
            self.heads.iter().enumerate().map(|(i, head)| head.unwrap_or(i)).collect();
        let mut labels = self.labels;
        for (label, (i, head)) in labels.iter_mut().zip(heads.iter().enumerate()) {
            if i == *head {
                "ROOT".clone_into(label);
            }
        }
        for word in 0..heads.len() {
            // "pobj||prep": it hangs on a `prep` further down, across other arcs.
            let Some((label, below)) =
                labels[word].split_once("||").map(|(l, b)| (l.to_owned(), b.to_owned()))
            else {
                continue;
            };
            heads[word] = found_below(&heads, &labels, word, &below);
            labels[word] = label;
        }
        Arcs { heads, labels }
    }
}

/// The first word with the label under the word's head, nearest first, then left to right; the head itself if none is.
fn found_below(heads: &[usize], labels: &[String], word: usize, label: &str) -> usize {
    let mut level = vec![heads[word]];
    while !level.is_empty() {
        let mut next = Vec::new();
        for &above in &level {
            for child in (0..heads.len())
                .filter(|&child| child != above && heads[child] == above && child != word)
            {
                if labels[child] == label {
                    return child;
                }
                next.push(child);
            }
        }
        level = next;
    }
    heads[word]
}
