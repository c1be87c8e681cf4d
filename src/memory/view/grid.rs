//! A spatial hash of where the robot was, by cells of a plain grid: poses near a point are found without looking at the others.
//!
//! It does what an R-tree would, for less. Poses are points, not boxes, and they are only ever added: a robot drives over
//! the same floor again and again, so that a cell of a square metre holds many and the cells are few. Adding one is
//! O(1) and keeps no reader waiting (an R-tree is O(log n), and balances itself meanwhile). Looking around a point costs
//! O(r²) cells and the poses in them; the nearest pose d away O(d²) cells, as long as d is at most [`MOST_RINGS`]; beyond
//! that all c cells are sorted by their distance, O(c log c), and visited until no nearer one can come. An R-tree's
//! O(log n + hits) is won only where points lie far apart: there c is small.

use dashmap::DashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::View;
use crate::memory::model::PoseRow;
use crate::memory::versions::Versions;
use crate::memory::versions::log::Log;
use crate::memory::versions::persist::{Persist as _, Reader, Writer};
use crate::memory::versions::shelf::Shelf;

/// Side of a cell, metres.
const CELL_M: f64 = 1.0;
/// Rings of cells that are looked at around a point; for what is farther away all cells are sorted by their distance.
const MOST_RINGS: i64 = 32;

type Cell = (Arc<str>, i64, i64);

/// Positions in the log of poses, by frame and cell.
#[derive(Default)]
pub(crate) struct PoseGrid {
    cells: DashMap<Cell, Log<u32>>,
    taken: AtomicUsize,
    lists: Arc<Shelf>,
}

fn cell_of(metres: f64) -> i64 {
    (metres / CELL_M).floor() as i64
}

impl PoseGrid {
    /// An empty one, whose lists are to lie on that shelf.
    pub(crate) fn on(lists: Arc<Shelf>) -> Self {
        Self { lists, ..Self::default() }
    }

    /// Takes in the poses that are not in yet.
    pub(crate) fn append(&self, log: &Versions<PoseRow>) {
        let from = self.taken.swap(log.len(), Ordering::AcqRel);
        for (at, version) in (from..).zip(log.iter_from(from)) {
            let pose = &version.row.pose;
            if pose.x.is_finite() && pose.y.is_finite() {
                let cell = (pose.frame.as_str().into(), cell_of(pose.x), cell_of(pose.y));
                let full = {
                    let mut here = self.cells.entry(cell).or_default();
                    here.push(at as u32);
                    here.is_to_settle().then(|| (here.key().clone(), Log::clone(&here)))
                };
                // Written aside: whoever reads beside does not wait for the disk.
                if let Some((cell, mut here)) = full {
                    here.settle(&self.lists);
                    self.cells.insert(cell, here);
                }
            }
        }
    }

    pub(crate) fn save(&self, to: &mut Writer<'_>) {
        to.number(self.taken.load(Ordering::Acquire) as u64);
        to.number(self.cells.len() as u64);
        for entry in &self.cells {
            let (frame, x, y) = entry.key();
            to.text(frame);
            to.numbers(&[x.cast_unsigned(), y.cast_unsigned()]);
            entry.value().save(to);
        }
    }

    /// Reads what [`Self::save`] wrote.
    pub(crate) fn load(&self, from: &mut Reader<'_>) -> Option<()> {
        self.taken.store(usize::try_from(from.number()?).ok()?, Ordering::Release);
        for _ in 0..from.count()? {
            let frame: Arc<str> = from.text()?.into();
            let cell: [u64; 2] = from.numbers()?.try_into().ok()?;
            let [x, y] = cell.map(u64::cast_signed);
            self.cells.insert((frame, x, y), Log::load(from)?);
        }
        Some(())
    }

    fn visit(&self, cell: &Cell, mut visit: impl FnMut(u32)) {
        if let Some(found) = self.cells.get(cell).map(|found| found.clone()) {
            found.iter().for_each(|at| visit(*at));
        }
    }

    /// Every cell of the point's frame with how near a pose in it can be, metres; the nearest first.
    fn by_distance(&self, point: &Point) -> Vec<(f64, Cell)> {
        let gap = |at: f64, cell: i64| {
            let low = cell as f64 * CELL_M;
            (low - at).max(at - low - CELL_M).max(0.0)
        };
        let here = |cell: &Cell| *cell.0 == *point.frame;
        let cells = self.cells.iter().map(|entry| entry.key().clone()).filter(here);
        let mut cells: Vec<(f64, Cell)> =
            cells.map(|cell| (gap(point.x, cell.1).hypot(gap(point.y, cell.2)), cell)).collect();
        cells.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        cells
    }
}

/// A point of a coordinate frame, metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// `map`, `odom`, …
    pub frame: String,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
}

impl Point {
    /// How far another point is, metres; `None` in another frame.
    #[must_use]
    pub fn distance(&self, other: &Self) -> Option<f64> {
        (self.frame == other.frame).then(|| (self.x - other.x).hypot(self.y - other.y))
    }
}

/// Where the robot was.
pub(in crate::memory) fn point_of(row: &PoseRow) -> Point {
    Point { frame: row.pose.frame.clone(), x: row.pose.x, y: row.pose.y }
}

impl View {
    /// Poses at most `radius_m` from a point, in time order.
    #[must_use]
    pub fn poses_within(&self, point: &Point, radius_m: f64) -> Vec<Arc<PoseRow>> {
        if !(point.x.is_finite() && point.y.is_finite() && radius_m >= 0.0) {
            return Vec::new();
        }
        let log = self.tables.poses.log();
        let mut found = Vec::new();
        let mut take = |at: u32| {
            let Some(version) = log.get(at as usize) else { return };
            let near = point.distance(&point_of(&version.row)).is_some_and(|d| d <= radius_m);
            if near && self.tables.poses.shows(&version, &self.horizon) {
                found.push(Arc::clone(&version.row));
            }
        };
        let grid = &self.tables.grid;
        if radius_m <= MOST_RINGS as f64 * CELL_M {
            let frame: Arc<str> = point.frame.as_str().into();
            for x in cell_of(point.x - radius_m)..=cell_of(point.x + radius_m) {
                for y in cell_of(point.y - radius_m)..=cell_of(point.y + radius_m) {
                    grid.visit(&(Arc::clone(&frame), x, y), &mut take);
                }
            }
        } else {
            let cells = grid.by_distance(point);
            let near = cells.iter().take_while(|(least, _)| *least <= radius_m);
            near.for_each(|(_, cell)| grid.visit(cell, &mut take));
        }
        found.sort_by_key(|row| (row.pose.stamp, row.clip));
        found
    }

    /// The pose nearest to a point (of several the newest), and how far it is, metres.
    #[must_use]
    pub fn nearest_pose(&self, point: &Point) -> Option<(Arc<PoseRow>, f64)> {
        if !(point.x.is_finite() && point.y.is_finite()) {
            return None;
        }
        let (grid, log) = (&self.tables.grid, self.tables.poses.log());
        let mut best: Option<(Arc<PoseRow>, f64)> = None;
        let look = |best: &mut Option<(Arc<PoseRow>, f64)>, at: u32| {
            let Some(version) = log.get(at as usize) else { return };
            let Some(distance) = point.distance(&point_of(&version.row)) else { return };
            let nearer = best.as_ref().is_none_or(|(row, known)| {
                (distance, Reverse(version.row.pose.stamp)) < (*known, Reverse(row.pose.stamp))
            });
            if nearer && self.tables.poses.shows(&version, &self.horizon) {
                *best = Some((Arc::clone(&version.row), distance));
            }
        };
        let is_nearer = |best: &Option<(Arc<PoseRow>, f64)>, least: f64| {
            best.as_ref().is_some_and(|(_, distance)| *distance < least)
        };
        let frame: Arc<str> = point.frame.as_str().into();
        let (x, y) = (cell_of(point.x), cell_of(point.y));
        for ring in 0..=MOST_RINGS {
            // Everything in this ring is at least so far away.
            if is_nearer(&best, (ring - 1).max(0) as f64 * CELL_M) {
                return best;
            }
            for dx in -ring..=ring {
                let edge = dx.abs() == ring;
                let step = if edge || ring == 0 { 1 } else { 2 * ring };
                let mut dy = -ring;
                while dy <= ring {
                    // (Nobody gets to where the numbers of cells end.)
                    let cell = (Arc::clone(&frame), x.saturating_add(dx), y.saturating_add(dy));
                    grid.visit(&cell, |at| look(&mut best, at));
                    dy += step;
                }
            }
        }
        if is_nearer(&best, MOST_RINGS as f64 * CELL_M) {
            return best;
        }
        for (least, cell) in grid.by_distance(point) {
            if is_nearer(&best, least) {
                break;
            }
            grid.visit(&cell, |at| look(&mut best, at));
        }
        best
    }
}
