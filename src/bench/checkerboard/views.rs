//! How views of the board differ, and what of the picture they cover.
//!
//! Two views are compared as ROS' `camera_calibration` does: by the board's place, size and skew in the picture.

use super::{Corner, Part, View};

/// Views nearer than this to another one show the same (ROS' figure).
const ALIKE: f64 = 0.2;
/// Cells of the picture.
const CELLS: (usize, usize) = (8, 6);
/// Names of the nine parts, row by row.
const PARTS: [Part; 9] = [
    "upper left",
    "top",
    "upper right",
    "left",
    "middle",
    "right",
    "lower left",
    "bottom",
    "lower right",
];

/// Where a board is in the picture and how it is held, each 0–1: left to right, top to bottom, size, skew.
fn placement(view: &View) -> [f64; 4] {
    let outer = |key: fn(&Corner) -> i64| view.corners.iter().max_by_key(|corner| key(corner));
    let corners = [
        outer(|c| -i64::from(c.cell[0]) - i64::from(c.cell[1])),
        outer(|c| i64::from(c.cell[0]) - i64::from(c.cell[1])),
        outer(|c| i64::from(c.cell[0]) + i64::from(c.cell[1])),
        outer(|c| i64::from(c.cell[1]) - i64::from(c.cell[0])),
    ];
    let [Some(a), Some(b), Some(c), Some(d)] = corners.map(|corner| corner.map(|one| one.at))
    else {
        return [0.0; 4];
    };
    let (width, height) = (f64::from(view.size.0), f64::from(view.size.1));
    let area = 0.5 * ((c[0] - a[0]) * (d[1] - b[1]) - (c[1] - a[1]) * (d[0] - b[0])).abs();
    let border = area.sqrt();
    let mean = |axis: usize| {
        view.corners.iter().map(|corner| corner.at[axis]).sum::<f64>() / view.corners.len() as f64
    };
    let place =
        |at: f64, side: f64| ((at - 0.5 * border) / (side - border).max(1.0)).clamp(0.0, 1.0);
    let (ba, bc) = ([a[0] - b[0], a[1] - b[1]], [c[0] - b[0], c[1] - b[1]]);
    let lengths = ba[0].hypot(ba[1]) * bc[0].hypot(bc[1]);
    let angle = ((ba[0] * bc[0] + ba[1] * bc[1]) / lengths.max(1e-9)).clamp(-1.0, 1.0).acos();
    let skew = (2.0 * (std::f64::consts::FRAC_PI_2 - angle).abs()).min(1.0);
    [place(mean(0), width), place(mean(1), height), (area / (width * height)).sqrt(), skew]
}

fn distance(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

/// At most `most` views, each time the one that differs most from those that were taken; their numbers in order.
pub(super) fn most_different<'a>(views: impl Iterator<Item = &'a View>, most: usize) -> Vec<usize> {
    let places: Vec<[f64; 4]> = views.map(placement).collect();
    if places.len() <= most {
        return (0..places.len()).collect();
    }
    let mut apart = vec![f64::INFINITY; places.len()];
    let mut taken = Vec::new();
    let mut next = 0;
    while taken.len() < most {
        taken.push(next);
        for (index, place) in places.iter().enumerate() {
            apart[index] = apart[index].min(distance(place, &places[next]));
        }
        // the first of those that are as far
        next =
            (0..places.len()).fold(0, |best, at| if apart[at] > apart[best] { at } else { best });
    }
    taken.sort_unstable();
    taken
}

/// How many views are unlike all before them.
pub(super) fn different(views: &[&View]) -> usize {
    let mut kept: Vec<[f64; 4]> = Vec::new();
    for place in views.iter().map(|view| placement(view)) {
        if kept.iter().all(|other| distance(&place, other) > ALIKE) {
            kept.push(place);
        }
    }
    kept.len()
}

/// Which cell of `columns` x `rows` a corner lies in.
fn cell(view: &View, corner: &Corner, (columns, rows): (usize, usize)) -> (usize, usize) {
    let at = |value: f64, side: u32, count: usize| {
        // pixel centres are whole numbers
        ((value + 0.5) / f64::from(side.max(1)) * count as f64).clamp(0.0, count as f64 - 1.0)
            as usize
    };
    (at(corner.at[0], view.size.0, columns), at(corner.at[1], view.size.1, rows))
}

/// Which of `columns` x `rows` cells have a corner in them, row by row.
fn seen(views: &[&View], (columns, rows): (usize, usize)) -> Vec<bool> {
    let mut seen = vec![false; columns * rows];
    for view in views {
        for corner in &view.corners {
            let (x, y) = cell(view, corner, (columns, rows));
            seen[y * columns + x] = true;
        }
    }
    seen
}

/// Share of cells with a corner in them.
pub(super) fn coverage(views: &[&View]) -> f64 {
    let seen = seen(views, CELLS);
    seen.iter().filter(|seen| **seen).count() as f64 / seen.len() as f64
}

/// Parts of the picture without a corner.
pub(super) fn empty_parts(views: &[&View]) -> Vec<Part> {
    let unseen = PARTS.iter().zip(seen(views, (3, 3))).filter(|(_, seen)| !seen);
    unseen.map(|(name, _)| *name).collect()
}
