//! From a YOLO's output to boxes: the three layouts of the field.
//!
//! Pure functions over numbers: what a file from outside says is checked here.

use super::detect::Candidate;
use crate::geometry::Rect;

/// How an output of shape `[batch, a, b]` is to be read, C classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `[N, 5 + C]`: centre, size, objectness, classes. YOLOv5, YOLOv7.
    Objectness,
    /// `[4 + C, N]`: centre, size, classes. YOLOv8, YOLOv9, YOLO11.
    Classes,
    /// `[N, 6]`: corners, score, class; suppressed already. YOLOv10, YOLO26 and exports with NMS inside.
    Finished,
}

impl Layout {
    /// Which layout the shape of an output is, for so many classes and an input of that width and height.
    ///
    /// # Errors
    /// Expected and found.
    pub(super) fn of(shape: &[usize], classes: usize, input: (u32, u32)) -> Result<Self, String> {
        let &[_, a, b] = shape else {
            return Err(format!("its output must have three axes, it is {shape:?}"));
        };
        if b == 6 && !(classes == 1 && anchors(input).contains(&a)) {
            return Ok(Self::Finished);
        }
        if b == 5 + classes {
            return Ok(Self::Objectness);
        }
        if a == 4 + classes {
            return Ok(Self::Classes);
        }
        Err(format!(
            "with {classes} labels its output must be [1,N,{}], [1,{},N] or [1,N,6], it is {shape:?}",
            5 + classes,
            4 + classes
        ))
    }
}

/// How many rows the anchor heads of YOLOv5 and v7 give: three a cell, at strides 8 to 32, 8 to 64, or 16 to 32 (tiny).
fn anchors((width, height): (u32, u32)) -> [usize; 3] {
    let cells = |stride: u32| 3 * (width / stride) as usize * (height / stride) as usize;
    let middle = cells(16) + cells(32);
    [cells(8) + middle, cells(8) + middle + cells(64), middle]
}

/// Boxes of the first picture of the batch from `min_score` on, in the output's order; px of the input. What is no
/// number, or empty, is left out.
///
/// # Errors
/// When the output has fewer numbers than its shape says, or names a class that there is not.
pub(super) fn decode(
    layout: Layout,
    values: &[f32],
    shape: &[usize],
    classes: usize,
    min_score: f32,
) -> Result<Vec<Candidate>, String> {
    let &[_, a, b] = shape else { return Err(format!("its output is {shape:?}")) };
    let length = a.saturating_mul(b);
    let values = values
        .get(..length)
        .ok_or_else(|| format!("its output {shape:?} has only {} numbers", values.len()))?;
    let mut found = Vec::new();
    match layout {
        Layout::Objectness => {
            for row in values.chunks_exact(b.max(1)) {
                let Some((class, sure)) = best(row[5..].iter().copied()) else { continue };
                let bbox = centred(row[0], row[1], row[2], row[3]);
                push(&mut found, bbox, class, row[4] * sure, min_score);
            }
        }
        Layout::Classes => {
            let at = |row: usize, column: usize| values[row * b + column];
            for column in 0..b {
                let scores = (0..classes).map(|class| at(4 + class, column));
                let Some((class, score)) = best(scores) else { continue };
                let bbox = centred(at(0, column), at(1, column), at(2, column), at(3, column));
                push(&mut found, bbox, class, score, min_score);
            }
        }
        Layout::Finished => {
            for row in values.chunks_exact(b.max(1)) {
                // Rows that only fill the output up have no score.
                if row[4].is_nan() || row[4] < min_score {
                    continue;
                }
                let class = row[5].round();
                if !(class >= 0.0 && class < classes as f32) {
                    return Err(format!("it found class {class}, but has {classes} labels"));
                }
                let bbox = Rect::from_corners(row[0], row[1], row[2], row[3]);
                push(&mut found, bbox, class as usize, row[4], min_score);
            }
        }
    }
    Ok(found)
}

fn push(found: &mut Vec<Candidate>, bbox: Rect, class: usize, score: f32, min_score: f32) {
    let finite = [bbox.x, bbox.y, bbox.w, bbox.h].iter().all(|value| value.is_finite());
    if score >= min_score && finite && bbox.w > 0.0 && bbox.h > 0.0 {
        found.push(Candidate { bbox, class, score: score.min(1.0) });
    }
}

fn centred(x: f32, y: f32, w: f32, h: f32) -> Rect {
    Rect { x: x - 0.5 * w, y: y - 0.5 * h, w, h }
}

/// The class with the greatest score; ties: the first.
fn best(scores: impl Iterator<Item = f32>) -> Option<(usize, f32)> {
    let numbers = scores.enumerate().filter(|(_, score)| !score.is_nan());
    numbers.reduce(|best, one| if one.1 > best.1 { one } else { best })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INPUT: (u32, u32) = (640, 640);

    #[test]
    fn shapes_of_the_field_tell_their_layout() {
        let of = |a: usize, b: usize, classes: usize| Layout::of(&[1, a, b], classes, INPUT);
        assert_eq!(of(25_200, 85, 80), Ok(Layout::Objectness));
        assert_eq!(of(84, 8400, 80), Ok(Layout::Classes));
        assert_eq!(of(300, 6, 80), Ok(Layout::Finished));
        // One class: five numbers and one, or four numbers, score and class?
        assert_eq!(of(25_200, 6, 1), Ok(Layout::Objectness));
        assert_eq!(of(300, 6, 1), Ok(Layout::Finished));
        assert_eq!(of(5, 8400, 1), Ok(Layout::Classes));
        assert_eq!(of(6, 8400, 2), Ok(Layout::Classes));
        let refused = of(84, 8400, 79).unwrap_err();
        assert!(refused.contains("79 labels") && refused.contains("[1, 84, 8400]"), "{refused}");
        assert!(Layout::of(&[1, 3, 80, 80, 85], 80, INPUT).is_err());
    }

    #[test]
    fn every_layout_gives_the_same_boxes() {
        // Two boxes: (10, 20) to (50, 60) of class 1, (100, 100) to (120, 140) of class 0; one below the score.
        let rows: [[f32; 7]; 3] = [
            [30.0, 40.0, 40.0, 40.0, 0.9, 0.1, 1.0],
            [110.0, 120.0, 20.0, 40.0, 0.8, 0.75, 0.2],
            [200.0, 200.0, 9.0, 9.0, 0.3, 0.9, 0.9],
        ];
        let objectness: Vec<f32> = rows.concat();
        let classes: Vec<f32> = (0..6)
            .flat_map(|row| rows.map(|r| if row < 4 { r[row] } else { r[4] * r[row + 1] }))
            .collect();
        let finished: Vec<f32> = vec![
            10.0, 20.0, 50.0, 60.0, 0.9, 1.0, //
            100.0, 100.0, 120.0, 140.0, 0.6, 0.0, //
            0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ];
        let expected = [
            Candidate { bbox: Rect { x: 10.0, y: 20.0, w: 40.0, h: 40.0 }, class: 1, score: 0.9 },
            Candidate {
                bbox: Rect { x: 100.0, y: 100.0, w: 20.0, h: 40.0 },
                class: 0,
                score: 0.8 * 0.75,
            },
        ];
        for (layout, values, shape) in [
            (Layout::Objectness, objectness, [1, 3, 7]),
            (Layout::Classes, classes, [1, 6, 3]),
            (Layout::Finished, finished, [1, 3, 6]),
        ] {
            let found = decode(layout, &values, &shape, 2, 0.5).unwrap();
            assert_eq!(found.len(), 2, "{layout:?}");
            for (one, wanted) in found.iter().zip(&expected) {
                assert_eq!((one.bbox, one.class), (wanted.bbox, wanted.class), "{layout:?}");
                assert!((one.score - wanted.score).abs() < 1e-6, "{layout:?}");
            }
            assert!(decode(layout, &values[1..], &shape, 2, 0.5).is_err(), "cut off");
        }
        let stray = [0.0, 0.0, 9.0, 9.0, 0.9, 2.0];
        assert!(decode(Layout::Finished, &stray, &[1, 1, 6], 2, 0.5).is_err());
    }

    proptest! {
        #[test]
        fn any_numbers_give_finite_boxes_or_an_error(
            values in proptest::collection::vec(proptest::num::f32::ANY, 42), classes in 1usize..4
        ) {
            for (layout, shape) in [
                (Layout::Objectness, [1, 42 / (5 + classes), 5 + classes]),
                (Layout::Classes, [1, 4 + classes, 42 / (4 + classes)]),
                (Layout::Finished, [1, 7, 6]),
            ] {
                for one in decode(layout, &values, &shape, classes, 0.2).unwrap_or_default() {
                    prop_assert!(one.bbox.w > 0.0 && one.bbox.h > 0.0 && one.bbox.x.is_finite());
                    prop_assert!(one.class < classes && (0.2..=1.0).contains(&one.score));
                }
            }
        }
    }
}
