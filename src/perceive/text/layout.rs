//! Which lines of a picture are one text: parts of one row, and rows that stand closely above one another.

use super::{Quad, TextBlock, TextLine, around, bounds};
use crate::geometry::Point;

/// In heights of a line: how far apart parts of one row may be, and how far off its middle.
const ROW_GAP: f32 = 1.0;
const ROW_OFFSET: f32 = 0.4;
/// In heights of the lower of two lines: how far apart rows may be.
const LINE_GAP: f32 = 0.5;
/// Share of the shorter row's width that both cover.
const OVERLAP: f32 = 0.5;
/// Lines of one text are at most so many times as high as each other.
const HEIGHT_RATIO: f32 = 1.8;

/// A line's own axes.
#[derive(Clone, Copy)]
struct Axes {
    centre: Point,
    along: Point,
    width: f32,
    height: f32,
}

impl Axes {
    fn of(quad: &Quad) -> Self {
        let [a, b, c, d] = *quad;
        let mean = |pick: fn(&Point) -> f32| quad.iter().map(pick).sum::<f32>() / 4.0;
        let length = |x: f32, y: f32| (x * x + y * y).sqrt();
        let (dx, dy) = (b.x + c.x - a.x - d.x, b.y + c.y - a.y - d.y);
        let width = length(dx, dy).max(f32::EPSILON);
        Self {
            centre: Point { x: mean(|p| p.x), y: mean(|p| p.y) },
            along: Point { x: dx / width, y: dy / width },
            width: width / 2.0,
            height: length(d.x + c.x - a.x - b.x, d.y + c.y - a.y - b.y).max(f32::EPSILON) / 2.0,
        }
    }

    /// Where another's middle lies: along this line, and below it.
    fn offset(self, other: Self) -> (f32, f32) {
        let (dx, dy) = (other.centre.x - self.centre.x, other.centre.y - self.centre.y);
        (dx * self.along.x + dy * self.along.y, dy * self.along.x - dx * self.along.y)
    }

    fn alike(self, other: Self) -> bool {
        let straight = self.along.x * other.along.x + self.along.y * other.along.y;
        let (low, high) = (self.height.min(other.height), self.height.max(other.height));
        straight > 0.95 && high <= HEIGHT_RATIO * low
    }

    /// Whether both are parts of one row.
    fn is_beside(self, other: Self) -> bool {
        let (along, below) = self.offset(other);
        let height = self.height.min(other.height);
        let gap = along.abs() - (self.width + other.width) / 2.0;
        self.alike(other) && below.abs() <= ROW_OFFSET * height && gap <= ROW_GAP * height
    }

    /// Whether one is the next row of the other.
    fn is_stacked(self, other: Self) -> bool {
        let (along, below) = self.offset(other);
        let height = self.height.min(other.height);
        let gap = below.abs() - (self.height + other.height) / 2.0;
        let ends = |middle: f32, width: f32| (middle - width / 2.0, middle + width / 2.0);
        let ((a0, a1), (b0, b1)) = (ends(0.0, self.width), ends(along, other.width));
        let common = a1.min(b1) - a0.max(b0);
        let enough = common >= OVERLAP * self.width.min(other.width);
        self.alike(other) && below.abs() > ROW_OFFSET * height && gap <= LINE_GAP * height && enough
    }
}

/// Joins lines to texts, in the order in which the lines of each begin.
pub(super) fn blocks(lines: Vec<TextLine>, picture: (u32, u32)) -> Vec<TextBlock> {
    let axes: Vec<Axes> = lines.iter().map(|line| Axes::of(&line.quad)).collect();
    let rows = joined(lines.len(), |a, b| axes[a].is_beside(axes[b]));
    let stacks = joined(lines.len(), |a, b| rows[a] == rows[b] || axes[a].is_stacked(axes[b]));
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    for (line, stack) in stacks.iter().enumerate() {
        match found.iter_mut().find(|(known, _)| known == stack) {
            Some((_, members)) => members.push(line),
            None => found.push((*stack, vec![line])),
        }
    }
    let block = |(first, mut members): (usize, Vec<usize>)| {
        // Rows by where their first part lies, parts of one row from left to right.
        let below = |line: usize| axes[first].offset(axes[line]).1;
        let along = |line: usize| axes[first].offset(axes[line]).0;
        members.sort_by(|a, b| {
            let (row_a, row_b) = (rows[*a], rows[*b]);
            let by_row = below(row_a).total_cmp(&below(row_b)).then(row_a.cmp(&row_b));
            by_row.then(along(*a).total_cmp(&along(*b))).then(a.cmp(b))
        });
        let parts: Vec<&TextLine> = members.iter().filter_map(|at| lines.get(*at)).collect();
        let text: Vec<&str> = parts.iter().map(|line| line.text.as_str()).collect();
        let boxes = parts.iter().map(|line| bounds(&line.quad));
        let bbox = boxes.reduce(around).unwrap_or_default();
        let confidence = parts.iter().map(|line| line.confidence).fold(1.0, f32::min);
        TextBlock { bbox, text: text.join(" "), confidence, picture }
    };
    found.into_iter().map(block).collect()
}

/// Of each of so many the first that it hangs together with, itself included.
fn joined(count: usize, hang_together: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut group: Vec<usize> = (0..count).collect();
    for a in 0..count {
        for b in a + 1..count {
            if group[a] != group[b] && hang_together(a, b) {
                let (keep, drop) = (group[a].min(group[b]), group[a].max(group[b]));
                for one in &mut group {
                    if *one == drop {
                        *one = keep;
                    }
                }
            }
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(x: f32, y: f32, w: f32, h: f32, text: &str) -> TextLine {
        let quad = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)].map(|(x, y)| Point { x, y });
        TextLine { quad, text: text.to_owned(), confidence: 0.9 }
    }

    fn texts(lines: Vec<TextLine>) -> Vec<String> {
        blocks(lines, (640, 480)).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn rows_close_above_one_another_are_one_text_and_others_are_not() {
        let sign = [
            line(110.0, 140.0, 50.0, 20.0, "enter"),
            line(100.0, 100.0, 30.0, 20.0, "Do"),
            line(140.0, 101.0, 40.0, 20.0, "not"),
            line(104.0, 121.0, 70.0, 20.0, "please"),
        ];
        assert_eq!(texts(sign.to_vec()), ["Do not please enter"]);
        let apart = [
            line(100.0, 100.0, 80.0, 20.0, "Exit"),
            line(400.0, 100.0, 80.0, 20.0, "Pull"),
            line(100.0, 160.0, 80.0, 20.0, "Stairs"),
            // Far larger letters: a heading of something else.
            line(100.0, 181.0, 80.0, 60.0, "SALE"),
        ];
        assert_eq!(texts(apart.to_vec()), ["Exit", "Pull", "Stairs", "SALE"]);
        assert!(texts(Vec::new()).is_empty());
    }

    #[test]
    fn a_turned_sign_is_read_along_its_own_rows() {
        // Turned by 30°: the second row lies to the left of the first one's middle.
        let turned = |along: f32, below: f32, text: &str| {
            let (cos, sin) = (0.866, 0.5);
            let at = |u: f32, v: f32| Point {
                x: 300.0 + u * cos - v * sin,
                y: 200.0 + u * sin + v * cos,
            };
            let quad = [
                at(along, below),
                at(along + 100.0, below),
                at(along + 100.0, below + 20.0),
                at(along, below + 20.0),
            ];
            TextLine { quad, text: text.to_owned(), confidence: 0.9 }
        };
        let lines = vec![turned(0.0, 22.0, "the step"), turned(0.0, 0.0, "Mind")];
        assert_eq!(texts(lines), ["Mind the step"]);
    }
}
