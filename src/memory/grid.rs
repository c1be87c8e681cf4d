//! Where the robot was, by cells of a plain grid: poses near a point are found without looking at the others.

use dashmap::DashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::log::Log;
use super::model::PoseRow;
use super::versions::Versions;
use super::view::View;

/// Side of a cell, metres.
const CELL_M: f64 = 1.0;
/// Rings of cells searched for the nearest pose; beyond it lies another building.
const MOST_RINGS: i64 = 200;

type Cell = (Arc<str>, i64, i64);

/// Positions in the log of poses, by frame and cell.
#[derive(Default)]
pub(crate) struct PoseGrid {
    cells: DashMap<Cell, Log<u32>>,
    taken: AtomicUsize,
}

fn cell_of(metres: f64) -> i64 {
    (metres / CELL_M).floor() as i64
}

impl PoseGrid {
    /// Takes in the poses that are not in yet.
    pub(crate) fn append(&self, log: &Versions<PoseRow>) {
        let from = self.taken.swap(log.len(), Ordering::AcqRel);
        for (at, version) in (from..).zip(log.iter_from(from)) {
            let pose = &version.row.pose;
            if pose.x.is_finite() && pose.y.is_finite() {
                let cell = (pose.frame.as_str().into(), cell_of(pose.x), cell_of(pose.y));
                self.cells.entry(cell).or_default().push(at as u32);
            }
        }
    }

    fn visit(&self, cell: &Cell, mut visit: impl FnMut(u32)) {
        if let Some(found) = self.cells.get(cell).map(|found| found.clone()) {
            found.iter().for_each(|at| visit(*at));
        }
    }
}

/// A point of a coordinate frame, metres.
#[derive(Clone, Debug, PartialEq)]
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

fn point_of(row: &PoseRow) -> Point {
    Point { frame: row.pose.frame.clone(), x: row.pose.x, y: row.pose.y }
}

impl View {
    /// Poses at most `radius_m` from a point, in time order.
    #[must_use]
    pub fn poses_within(&self, point: &Point, radius_m: f64) -> Vec<Arc<PoseRow>> {
        if !(point.x.is_finite() && point.y.is_finite() && radius_m >= 0.0) {
            return Vec::new();
        }
        let frame: Arc<str> = point.frame.as_str().into();
        let log = self.tables.poses.log();
        let mut found = Vec::new();
        let mut take = |at: u32| {
            let Some(version) = log.get(at as usize) else { return };
            let near = point.distance(&point_of(&version.row)).is_some_and(|d| d <= radius_m);
            if near && self.tables.poses.shows(&version, &self.horizon) {
                found.push(Arc::clone(&version.row));
            }
        };
        let most = MOST_RINGS as f64 * CELL_M;
        let reach = radius_m.min(most);
        for x in cell_of(point.x - reach)..=cell_of(point.x + reach) {
            for y in cell_of(point.y - reach)..=cell_of(point.y + reach) {
                self.tables.grid.visit(&(Arc::clone(&frame), x, y), &mut take);
            }
        }
        found.sort_by_key(|row| (row.pose.stamp, row.clip));
        found
    }

    /// The pose nearest to a point (of several the newest), and how far it is, metres.
    #[must_use]
    pub fn nearest_pose(&self, point: &Point) -> Option<(Arc<PoseRow>, f64)> {
        let frame: Arc<str> = point.frame.as_str().into();
        let (x, y) = (cell_of(point.x), cell_of(point.y));
        let log = self.tables.poses.log();
        let mut best: Option<(Arc<PoseRow>, f64)> = None;
        for ring in 0..=MOST_RINGS {
            // Everything in a farther ring is at least so far away.
            let least = (ring - 1).max(0) as f64 * CELL_M;
            if best.as_ref().is_some_and(|(_, distance)| *distance < least) {
                break;
            }
            let mut take = |at: u32| {
                let Some(version) = log.get(at as usize) else { return };
                let Some(distance) = point.distance(&point_of(&version.row)) else { return };
                let nearer = best.as_ref().is_none_or(|(row, known)| {
                    (distance, std::cmp::Reverse(version.row.pose.stamp))
                        < (*known, std::cmp::Reverse(row.pose.stamp))
                });
                if nearer && self.tables.poses.shows(&version, &self.horizon) {
                    best = Some((Arc::clone(&version.row), distance));
                }
            };
            for dx in -ring..=ring {
                let edge = dx.abs() == ring;
                let step = if edge || ring == 0 { 1 } else { 2 * ring };
                let mut dy = -ring;
                while dy <= ring {
                    self.tables.grid.visit(&(Arc::clone(&frame), x + dx, y + dy), &mut take);
                    dy += step;
                }
            }
        }
        best
    }
}
