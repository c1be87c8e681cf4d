//! Non-maximum suppression: of detections that overlap, the best stays.

use crate::geometry::Rect;

/// Sorts by score (ties: further left, then further up, first) and drops every detection whose
/// `overlap` with a kept one is above `threshold`.
pub fn non_maximum_suppression<T>(
    mut items: Vec<T>,
    threshold: f32,
    key: impl Fn(&T) -> (f32, Rect),
    overlap: impl Fn(Rect, Rect) -> f32,
) -> Vec<T> {
    items.sort_by(|a, b| {
        let ((score_a, box_a), (score_b, box_b)) = (key(a), key(b));
        score_b
            .total_cmp(&score_a)
            .then(box_a.x.total_cmp(&box_b.x))
            .then(box_a.y.total_cmp(&box_b.y))
    });
    let mut kept: Vec<T> = Vec::new();
    for item in items {
        let bbox = key(&item).1;
        if kept.iter().all(|other| overlap(key(other).1, bbox) <= threshold) {
            kept.push(item);
        }
    }
    kept
}
