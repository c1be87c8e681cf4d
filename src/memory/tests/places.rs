//! Poses by where they are.

use super::*;
use crate::media::Pose;

fn pose(secs: i64, x: f64, y: f64, frame: &str) -> PoseRow {
    PoseRow {
        clip: clip(0),
        pose: Pose { stamp: at(secs), x, y, yaw: 0.0, frame: frame.to_owned() },
    }
}

#[test]
fn a_pose_beyond_every_cell_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut draft = memory.begin(at(100));
    let (far, near) = (pose(1_000, 9.3e18, -9.3e18, "map"), pose(1_001, 0.0, 0.0, "map"));
    draft.pose(far.clone());
    draft.pose(near.clone());
    draft.commit().unwrap();
    let view = memory.view();
    for (x, y, nearest) in [(9.3e18, -9.3e18, &far), (1e19, -1e19, &far), (-3.0, 4.0, &near)] {
        let (row, _) = view.nearest_pose(&Point { frame: "map".into(), x, y }).unwrap();
        assert_eq!(*row, *nearest, "{x} {y}");
    }
}

#[test]
fn the_grid_finds_what_a_look_at_every_pose_finds() {
    let dir = tempfile::tempdir().unwrap();
    let memory = open(dir.path());
    household(&memory);
    let mut state = 7_u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(u32::MAX >> 1) * 40.0 - 20.0
    };
    let mut all = Vec::new();
    for round in 0..4 {
        let mut draft = memory.begin(at(100 + round));
        for n in 0..150 {
            let frame = if n % 5 == 0 { "odom" } else { "map" };
            let row = pose(1_000 + round * 150 + n, random(), random(), frame);
            draft.pose(row.clone());
            all.push(row);
        }
        draft.commit().unwrap();
    }
    let view = memory.view();
    for (x, y, radius) in
        [(0.0, 0.0, 3.0), (-7.3, 12.9, 0.5), (19.0, -19.5, 8.0), (0.0, 0.0, 0.0), (90.0, 0.0, 2.0)]
    {
        let point = Point { frame: "map".into(), x, y };
        let away = |row: &PoseRow| (row.pose.x - x).hypot(row.pose.y - y);
        let on_map = || all.iter().filter(|row| row.pose.frame == "map");
        let wanted: Vec<Timestamp> =
            on_map().filter(|row| away(row) <= radius).map(|row| row.pose.stamp).collect();
        let found: Vec<Timestamp> =
            view.poses_within(&point, radius).iter().map(|row| row.pose.stamp).collect();
        assert_eq!(found, wanted, "{x} {y} {radius}");
        let nearest = on_map().map(away).fold(f64::MAX, f64::min);
        let (row, distance) = view.nearest_pose(&point).unwrap();
        assert!(
            (distance - nearest).abs() < 1e-9 && (away(&row) - nearest).abs() < 1e-9,
            "{x} {y}"
        );
    }
    // Beyond the rings of cells: over all of them.
    for (x, y) in [(350.0, -120.0), (-90.0, 7.0), (40.0, 40.0), (12_345.6, 0.0)] {
        let point = Point { frame: "map".into(), x, y };
        let away = |row: &PoseRow| (row.pose.x - x).hypot(row.pose.y - y);
        let on_map = || all.iter().filter(|row| row.pose.frame == "map");
        let nearest = on_map().map(away).fold(f64::MAX, f64::min);
        let (row, distance) = view.nearest_pose(&point).unwrap();
        assert!((distance - nearest).abs() < 1e-9 && away(&row) == distance, "{x} {y}");
        let radius = nearest + 3.0;
        let wanted: Vec<Timestamp> =
            on_map().filter(|row| away(row) <= radius).map(|row| row.pose.stamp).collect();
        let found: Vec<Timestamp> =
            view.poses_within(&point, radius).iter().map(|row| row.pose.stamp).collect();
        assert!(found == wanted && !found.is_empty(), "{x} {y} {radius}");
    }
    assert_eq!(view.nearest_pose(&Point { frame: "moon".into(), x: 0.0, y: 0.0 }), None);
    assert_eq!(view.poses_within(&Point { frame: "moon".into(), x: 0.0, y: 0.0 }, 50.0).len(), 0);
    // The past has fewer.
    let then = memory.view_as_of(AsOf::Seq(crate::ids::Seq(2))).unwrap();
    let point = Point { frame: "map".into(), x: 0.0, y: 0.0 };
    assert_eq!(then.poses_within(&point, 100.0).len(), 120);
    drop(memory);
    assert_eq!(open(dir.path()).view().poses_within(&point, 100.0).len(), 480);
}
