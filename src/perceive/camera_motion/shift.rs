//! The shift between two pictures of one camera, if what stands still has one.
//!
//! Blocks that stand out from their surroundings vote. Half of them unmoved: the camera stood, and somebody walks before it.
//! Else the shift is searched under which the details of both pictures differ least, at half the resolution, then finer; and
//! blocks all over the picture must bear it out, in its corners, too: somebody who fills the middle moves his own blocks
//! only. Where walls are bare nobody can tell, and nothing is claimed.

use std::ops::Range;

use super::CameraShift;
use super::grey::{COLUMNS, Details, FLAT, GreyPicture, ROWS};

/// Cells of a block each way.
const BLOCK: usize = 8;
/// A block stands out whose cells differ from their surroundings by so much in the mean, levels of luma.
const STANDS_OUT: u32 = 3;
/// Fewer blocks tell nothing.
const FEWEST: usize = 10;
/// A block is found again where it differs by at most this share of how it stands out: where it was, and elsewhere.
const UNMOVED: f32 = 0.5;
const FOUND: f32 = 0.6;
/// Share of the blocks that are where they were when the camera stood.
const STOOD: f32 = 0.5;
/// Share of the blocks that must bear a shift out, and by how much more than bear out none.
const MOVED: f32 = 0.6;
const LEAD: f32 = 0.2;
/// Corners of the picture, of four, that must bear it out.
const CORNERS: usize = 3;
/// The search: at most so many cells of the half resolution, two fifths of the width and a quarter of the height.
const ACROSS: isize = 26;
const DOWN: isize = 12;
/// How the pictures may differ under the best shift, and under it beside the best of the others, as shares.
const FITS: f32 = 0.7;
const ALONE: f32 = 0.85;
/// What is so near the best is no other shift, cells of the half resolution: edges mostly stand upright.
const NEAR: (isize, isize) = (3, 6);

/// By how much what stands still moved between two pictures; `None`: it did not, or nobody can tell.
pub(super) fn between(before: &GreyPicture, now: &GreyPicture) -> Option<CameraShift> {
    if before.size() != now.size() || now.is_as(before) {
        return None;
    }
    let (whole, whole_now) = (before.details()?, now.details()?);
    let stood = Votes::of(&whole, &whole_now, (0, 0), 0, UNMOVED);
    if stood.blocks < FEWEST || stood.share() >= STOOD {
        return None;
    }
    let (column, row) = search(&before.half_details()?, &now.half_details()?)?;
    let (column, row) = best_of(&whole, &whole_now, (2 * column, 2 * row), 3)?;
    if column == 0 && row == 0 {
        return None;
    }
    let moved = Votes::of(&whole, &whole_now, (column, row), 1, FOUND);
    let is_borne_out = moved.blocks >= FEWEST
        && moved.share() >= MOVED.max(stood.share() + LEAD)
        && moved.corners() >= CORNERS;
    if !is_borne_out {
        return None;
    }
    let at = |across: isize, down: isize| {
        differ(&whole, &whole_now, (column + across, row + down)).unwrap_or(f32::INFINITY)
    };
    let here = at(0, 0);
    let (width, height) = now.size();
    let (px_across, px_down) = (width as f32 / COLUMNS as f32, height as f32 / ROWS as f32);
    let x = (column as f32 + between_cells(at(-1, 0), here, at(1, 0))) * px_across;
    let y = (row as f32 + between_cells(at(0, -1), here, at(0, 1))) * px_down;
    Some(CameraShift { x, y, picture: (width, height) })
}

/// The lowest point of a parabola through three, in cells from the middle one.
fn between_cells(left: f32, middle: f32, right: f32) -> f32 {
    let bend = left - 2.0 * middle + right;
    if !bend.is_finite() || bend <= 0.0 {
        return 0.0;
    }
    (0.5 * (left - right) / bend).clamp(-0.5, 0.5)
}

/// The only shift at half the resolution under which the pictures fit.
fn search(before: &Details, now: &Details) -> Option<(isize, isize)> {
    let mut all = Vec::new();
    for down in -DOWN..=DOWN {
        for across in -ACROSS..=ACROSS {
            all.push(((across, down), differ(before, now, (across, down))?));
        }
    }
    let least = |(_, a): &&((isize, isize), f32), (_, b): &&((isize, isize), f32)| a.total_cmp(b);
    let &(best, differs) = all.iter().min_by(least)?;
    let is_other = |((across, down), _): &&((isize, isize), f32)| {
        (across - best.0).abs() > NEAR.0 || (down - best.1).abs() > NEAR.1
    };
    let &(_, other) = all.iter().filter(is_other).min_by(least)?;
    (differs <= FITS && differs <= ALONE * other).then_some(best)
}

/// The best shift within so many cells of one.
fn best_of(
    before: &Details,
    now: &Details,
    about: (isize, isize),
    within: isize,
) -> Option<(isize, isize)> {
    let mut best: Option<((isize, isize), f32)> = None;
    for down in about.1 - within..=about.1 + within {
        for across in about.0 - within..=about.0 + within {
            let differs = differ(before, now, (across, down))?;
            if best.is_none_or(|(_, least)| differs < least) {
                best = Some(((across, down), differs));
            }
        }
    }
    best.map(|(shift, _)| shift)
}

/// The part of one axis in which both pictures lie when what is in the first has moved by `shift`, as the second has it.
fn overlap(length: usize, shift: isize) -> Range<usize> {
    let length = length as isize;
    let (from, to) = (shift.clamp(0, length), (length + shift).clamp(0, length));
    from as usize..to.max(from) as usize
}

/// A range of the second picture as the first has it.
fn moved_back(range: &Range<usize>, shift: isize) -> Range<usize> {
    range.start.wrapping_add_signed(-shift)..range.end.wrapping_add_signed(-shift)
}

/// How much the pictures differ where they overlap when what is in the first has moved by `shift`, as a share of how both
/// stand out: 0 is the same, some 1 are pictures that have nothing to do with each other. `None`: they do not overlap.
fn differ(before: &Details, now: &Details, shift: (isize, isize)) -> Option<f32> {
    let (columns, rows) = (overlap(now.columns, shift.0), overlap(now.rows, shift.1));
    if columns.is_empty() || rows.is_empty() {
        return None;
    }
    let (mut off, mut stands_out) = (0_u64, 0_u64);
    for row in rows {
        let here = now.line(row, columns.clone());
        let was_row = row.wrapping_add_signed(-shift.1);
        let was = before.line(was_row, moved_back(&columns, shift.0));
        let (mut line, mut both) = (0_u32, 0_u32);
        for (a, b) in here.iter().zip(was) {
            line += u32::from(a.abs_diff(*b));
            both += u32::from(a.abs_diff(FLAT)) + u32::from(b.abs_diff(FLAT));
        }
        off += u64::from(line);
        stands_out += u64::from(both);
    }
    Some(2.0 * off as f32 / (stands_out.max(1) as f32 * std::f32::consts::SQRT_2))
}

/// What the blocks say of a shift.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    /// Blocks that stand out.
    blocks: usize,
    /// Those of them that are found again.
    found: usize,
    /// The same in each of 3 x 3 parts of what both pictures show.
    parts: [(usize, usize); 9],
}

impl Votes {
    /// Of the blocks of `now` that lie wholly in what both pictures show; each is looked for within `slack` cells of where the
    /// shift has it, and found where it differs by at most `share` of how it stands out.
    fn of(
        before: &Details,
        now: &Details,
        shift: (isize, isize),
        slack: isize,
        share: f32,
    ) -> Self {
        let mut votes = Self::default();
        let inner = |length: usize, shift: isize| {
            let range = overlap(length, shift);
            let slack = slack as usize;
            let (start, end) = (range.start + slack, range.end.saturating_sub(slack));
            (start / BLOCK * BLOCK..end)
                .step_by(BLOCK)
                .filter(move |at| *at >= start && at + BLOCK <= end)
        };
        let part = |at: usize, length: usize, shift: isize| {
            let range = overlap(length, shift);
            (3 * (at + BLOCK / 2 - range.start) / range.len()).min(2)
        };
        for row in inner(now.rows, shift.1) {
            for column in inner(now.columns, shift.0) {
                let stands_out = standing_out(now, column, row);
                if stands_out < STANDS_OUT * (BLOCK * BLOCK) as u32 {
                    continue;
                }
                let is_found = (-slack..=slack).any(|down| {
                    (-slack..=slack).any(|across| {
                        let off = block_differs(
                            before,
                            now,
                            (column, row),
                            (shift.0 + across, shift.1 + down),
                        );
                        off as f32 <= share * stands_out as f32
                    })
                });
                let at = 3 * part(row, now.rows, shift.1) + part(column, now.columns, shift.0);
                votes.blocks += 1;
                votes.found += usize::from(is_found);
                votes.parts[at].0 += 1;
                votes.parts[at].1 += usize::from(is_found);
            }
        }
        votes
    }

    /// Share of the blocks that are found, 0–1.
    fn share(&self) -> f32 {
        self.found as f32 / self.blocks.max(1) as f32
    }

    /// Corners in which most blocks are found.
    fn corners(&self) -> usize {
        let bears_out = |part: &usize| 2 * self.parts[*part].1 > self.parts[*part].0;
        [0, 2, 6, 8].iter().filter(|part| bears_out(part)).count()
    }
}

/// Sum over a block of how its cells stand out, levels of luma.
fn standing_out(picture: &Details, column: usize, row: usize) -> u32 {
    let lines = (row..row + BLOCK).map(|row| picture.line(row, column..column + BLOCK));
    lines.flatten().map(|cell| u32::from(cell.abs_diff(FLAT))).sum()
}

/// Sum over a block of how its cells differ from those from which they came.
fn block_differs(
    before: &Details,
    now: &Details,
    (column, row): (usize, usize),
    shift: (isize, isize),
) -> u32 {
    let columns = column..column + BLOCK;
    let was = moved_back(&columns, shift.0);
    let of_line = |row: usize| -> u32 {
        let here = now.line(row, columns.clone());
        let there = before.line(row.wrapping_add_signed(-shift.1), was.clone());
        here.iter().zip(there).map(|(a, b)| u32::from(a.abs_diff(*b))).sum()
    };
    (row..row + BLOCK).map(of_line).sum()
}
