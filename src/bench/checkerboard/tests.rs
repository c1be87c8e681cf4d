//! A known camera's pictures give that camera; what is wrong is said; nothing from outside makes it fall over.

use image::GrayImage;
use nalgebra::{Isometry3, Point3};
use proptest::prelude::*;

use super::render::{Renderer, poses};
use super::*;
use crate::bench::random::SplitMix64;
use crate::camera::Distortion;

const BOARD: Board = Board { columns: 9, rows: 6, square_m: 0.025 };

fn pinhole() -> CameraInfo {
    CameraInfo {
        name: "front".to_owned(),
        width: 640,
        height: 480,
        focal: [520.0, 518.0],
        centre: [325.3, 233.8],
        distortion: Distortion::PlumbBob([-0.28, 0.09, 0.0008, -0.0005, 0.0]),
    }
}

fn fisheye() -> CameraInfo {
    CameraInfo {
        focal: [210.0, 209.0],
        centre: [316.0, 243.0],
        distortion: Distortion::Equidistant([-0.02, 0.004, -0.003, 0.0006]),
        ..pinhole()
    }
}

fn posed(camera: &CameraInfo, count: usize) -> Vec<Isometry3<f64>> {
    poses(BOARD, camera.focal[0] / f64::from(camera.width), count)
}

/// The corners as the camera sees them, off by noise of that spread, px.
fn seen(camera: &CameraInfo, pose: &Isometry3<f64>, noise_px: f64, seed: u64) -> View {
    let mut random = SplitMix64::new(seed);
    let mut corners = Vec::new();
    for (column, row) in (0..BOARD.columns).flat_map(|u| (0..BOARD.rows).map(move |v| (u, v))) {
        let [x, y] = [column, row].map(|side| f64::from(side) * BOARD.square_m);
        let at = pose * Point3::new(x, y, 0.0);
        let at = camera.project([at.x, at.y, at.z]).unwrap();
        let at = at.map(|side| side + noise_px * f64::from(random.gaussian()));
        let within = (0.0..f64::from(camera.width)).contains(&at[0])
            && (0.0..f64::from(camera.height)).contains(&at[1]);
        if within {
            corners.push(Corner { cell: [column, row], at });
        }
    }
    View { size: (camera.width, camera.height), corners }
}

fn looked(views: impl IntoIterator<Item = View>) -> Vec<Looked> {
    let name = |(number, view)| Looked { name: format!("{number}.png"), found: Ok(view) };
    views.into_iter().enumerate().map(name).collect()
}

/// The farthest that the found camera shows a corner's true direction from where it was seen, px.
fn farthest_px(camera: &CameraInfo, found: &Calibrated) -> f64 {
    let mut farthest = 0.0_f64;
    for [x, y] in found.seen.iter().flat_map(|(view, _)| &view.corners).map(|corner| corner.at) {
        let [u, v] = found.camera.project(camera.ray(x, y).unwrap()).unwrap();
        farthest = farthest.max((u - x).hypot(v - y));
    }
    farthest
}

fn assert_near(camera: &CameraInfo, found: &Calibrated) {
    for (true_one, one) in [
        (camera.focal[0], found.camera.focal[0]),
        (camera.focal[1], found.camera.focal[1]),
        (camera.centre[0], found.camera.centre[0]),
        (camera.centre[1], found.camera.centre[1]),
    ] {
        assert!((one / true_one - 1.0).abs() < 0.005, "{:?}", found.camera);
    }
    assert!(found.error_px < 0.3, "{}", found.error_px);
    assert!(farthest_px(camera, found) < 1.5, "{:?}", found.camera);
    // the uncertainty is one: not far from what the focal length is off by
    let off = (found.camera.focal[0] - camera.focal[0]).abs();
    assert!(off < 5.0 * found.focal_std_px[0], "{off} {:?}", found.focal_std_px);
}

#[test]
fn a_camera_is_found_in_the_pictures_that_it_made() {
    for (camera, lens) in [(pinhole(), Lens::Pinhole), (fisheye(), Lens::Fisheye)] {
        let renderer = Renderer::new(&camera);
        let pictures: Vec<GrayImage> = posed(&camera, 12)
            .into_iter()
            .map(Some)
            .chain([None])
            .zip(1..)
            .map(|(pose, seed)| renderer.picture(BOARD, pose, seed))
            .collect();
        let look = || -> Vec<Looked> {
            let name = |(number, picture)| Looked {
                name: format!("{number}.png"),
                found: find(BOARD, picture),
            };
            pictures.iter().enumerate().map(name).collect()
        };
        let found = calibrate(BOARD, lens, "front", look()).unwrap();
        assert_near(&camera, &found);
        assert_eq!((found.used, found.pictures.len()), (12, 13));
        assert!(found.pictures[..12].iter().all(|one| one.used && one.error_px.unwrap() < 0.3));
        let wall = &found.pictures[12];
        assert!(
            !wall.used && wall.reason.as_ref().unwrap().contains("must be in view"),
            "{wall:?}"
        );
        assert!(found.coverage > 0.5 && found.different > 8, "{found:?}");
        let text = found.camera.to_yaml();
        assert_eq!(CameraInfo::parse(&text).unwrap(), found.camera);
        let svg = plot_svg(&found);
        let corners: usize = found.pictures.iter().map(|one| one.corners).sum();
        assert_eq!(svg.matches("<circle").count(), corners);
        // the same bits again
        let again = calibrate(BOARD, lens, "front", look()).unwrap();
        assert_eq!(again.camera, found.camera);
        assert_eq!(again.pictures, found.pictures);
    }
}

#[test]
fn a_board_of_another_size_is_told() {
    let camera = pinhole();
    let pose = posed(&camera, 1)[0];
    let picture = Renderer::new(&camera).picture(BOARD, Some(pose), 3);
    let found = find(BOARD, &picture).unwrap();
    assert_eq!(found.corners.len(), 54);
    // whichever way it is counted
    assert_eq!(find(Board { columns: 6, rows: 9, ..BOARD }, &picture).unwrap(), found);
    let smaller = Board { columns: 7, rows: 5, ..BOARD };
    let why = find(smaller, &picture).unwrap_err();
    assert!(matches!(why, NoBoard::Larger { .. }), "{why:?}");
    assert!(why.to_string().contains("give --board"), "{why}");
    // squares counted in place of corners: enough of a board, and the calibration asks
    let larger = Board { columns: 10, rows: 7, ..BOARD };
    assert_eq!(find(larger, &picture).unwrap().corners.len(), 54);
    let views =
        posed(&camera, 12).iter().map(|pose| seen(&camera, pose, 0.1, 1)).collect::<Vec<_>>();
    let found = calibrate(larger, Lens::Pinhole, "front", looked(views)).unwrap();
    assert!(found.warnings.iter().any(|one| one.contains("inner corners")), "{:?}", found.warnings);
    let much_larger = Board { columns: 20, rows: 20, ..BOARD };
    assert_eq!(find(much_larger, &picture), Err(NoBoard::Part { corners: 54, of: 400 }));
}

#[test]
fn every_lens_is_found_from_its_corners() {
    let telephoto = CameraInfo { focal: [1500.0, 1495.0], ..pinhole() };
    let bent = Distortion::PlumbBob([-0.30, 0.10, 0.0008, -0.0005, -0.015]);
    let wide = CameraInfo { focal: [330.0, 329.0], distortion: bent, ..pinhole() };
    let straight = CameraInfo { distortion: Distortion::PlumbBob([0.0; 5]), ..pinhole() };
    let deep = Distortion::Equidistant([0.05, -0.012, 0.002, -0.0002]);
    let around = CameraInfo { focal: [185.0, 184.0], distortion: deep, ..pinhole() };
    for (camera, lens) in [
        (pinhole(), Lens::Pinhole),
        (telephoto, Lens::Pinhole),
        (wide.clone(), Lens::Pinhole),
        (straight.clone(), Lens::Pinhole),
        (fisheye(), Lens::Fisheye),
        (around, Lens::Fisheye),
    ] {
        let views = posed(&camera, 24);
        let views = views.iter().zip(1..).map(|(pose, seed)| seen(&camera, pose, 0.05, seed));
        let found = calibrate(BOARD, lens, "front", looked(views)).unwrap();
        let off = farthest_px(&camera, &found);
        assert!(off < 2.5, "{off} px: {camera:?} {:?}", found.camera);
        assert!(found.error_px < 0.1, "{}", found.error_px);
        for axis in 0..2 {
            let off = (found.camera.focal[axis] - camera.focal[axis]).abs();
            assert!(off < 5.0 * found.focal_std_px[axis], "{off} {:?}", found.focal_std_px);
        }
        // the third coefficient only where there is one
        if let Distortion::PlumbBob(k) = found.camera.distortion {
            assert_eq!(k[4] != 0.0, camera == wide, "{:?}", found.camera);
        }
        assert_eq!(found.warnings, Vec::<String>::new(), "{camera:?}");
    }
}

#[test]
fn what_makes_a_calibration_doubtful_is_said() {
    let camera = pinhole();
    // the same view over and over: nothing tells the focal length
    let pose = posed(&camera, 1)[0];
    let views = (1..=12).map(|seed| seen(&camera, &pose, 0.2, seed));
    let said = match calibrate(BOARD, Lens::Pinhole, "front", looked(views)) {
        Ok(found) => {
            assert_eq!(found.different, 1);
            found.warnings.join("\n")
        }
        Err(error) => panic!("{error}"),
    };
    for part in
        ["only 1 of 12 pictures differ", "the focal length is sure to", "no corner was seen in"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    // few and shaky
    let views = posed(&camera, 4);
    let views = views.iter().zip(1..).map(|(pose, seed)| seen(&camera, pose, 1.0, seed));
    let found = calibrate(BOARD, Lens::Pinhole, "front", looked(views)).unwrap();
    let said = found.warnings.join("\n");
    assert!(said.contains("only 4 pictures") && said.contains("the corners are off by"), "{said}");
    // too few
    let mut two = looked(posed(&camera, 2).iter().map(|pose| seen(&camera, pose, 0.1, 1)));
    two.push(Looked { name: "wall.png".to_owned(), found: Err(NoBoard::NoCorners) });
    let error = calibrate(BOARD, Lens::Pinhole, "front", two).unwrap_err().to_string();
    assert!(
        error.contains("2 pictures show enough") && error.contains("1 of 3 pictures: no corners"),
        "{error}"
    );
}

#[test]
fn a_picture_that_stands_out_or_has_another_size_is_left_out() {
    let camera = pinhole();
    let half = camera.scaled_to(320, 240).unwrap();
    let mut views: Vec<View> = posed(&camera, 14)
        .iter()
        .zip(1..)
        .map(|(pose, seed)| seen(&camera, pose, if seed == 4 { 3.0 } else { 0.1 }, seed))
        .collect();
    views.push(seen(&half, &posed(&half, 1)[0], 0.1, 1));
    let found = calibrate(BOARD, Lens::Pinhole, "front", looked(views)).unwrap();
    assert_near(&camera, &found);
    assert_eq!(found.used, 13);
    let reason = |at: usize| found.pictures[at].reason.clone().unwrap();
    assert!(reason(3).contains("stands out") && found.pictures[3].error_px.unwrap() > 2.0);
    assert_eq!(reason(14), "320x240 px, where most have 640x480: a calibration holds for one size");
}

#[test]
fn of_many_pictures_those_that_differ_most_are_taken() {
    let camera = pinhole();
    let (one, others) = (posed(&camera, 1)[0], posed(&camera, 8));
    let mut views: Vec<View> = (0..40).map(|seed| seen(&camera, &one, 0.1, seed)).collect();
    views.extend(others[1..].iter().map(|pose| seen(&camera, pose, 0.1, 9)));
    let taken = views::most_different(views.iter(), 8);
    assert_eq!(taken, [0, 40, 41, 42, 43, 44, 45, 46]);
    assert!(views::most_different([].iter(), 8).is_empty());
}

#[test]
fn files_and_folders_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let error = Source::of(&[folder.path().to_owned()], &[]).unwrap_err().to_string();
    assert!(error.contains("no .jpg, .jpeg or .png"), "{error}");
    for (name, side) in [("b.png", 40_u32), ("a.PNG", 30)] {
        let picture = GrayImage::from_pixel(side, side, image::Luma([99]));
        picture.save_with_format(at(name), image::ImageFormat::Png).unwrap();
    }
    std::fs::write(at("c.jpg"), b"no picture").unwrap();
    std::fs::write(at("notes.txt"), b"x").unwrap();
    let sources = Source::of(&[folder.path().to_owned(), at("b.png")], &[]).unwrap();
    assert_eq!(sources.iter().map(Source::pictures).sum::<u64>(), 4);
    let mut came = Vec::new();
    read(&sources, |name, picture| came.push((name, picture.map(|one| one.width())))).unwrap();
    let names: Vec<&str> = came.iter().map(|(name, _)| &name[name.len() - 5..]).collect();
    assert_eq!(names, ["a.PNG", "b.png", "c.jpg", "b.png"]);
    assert_eq!((&came[0].1, &came[1].1), (&Ok(30), &Ok(40)));
    assert!(came[2].1.is_err());
    assert!(read(&Source::of(&[at("gone.png")], &[]).unwrap(), |_, _| {}).is_err());
    assert!(Source::of(&[at("notes.txt")], &[]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_picture_makes_the_search_fall_over(
        width in 1_u32..160, height in 1_u32..160, seed: u64, kind in 0..4_u32, cell in 1_u32..24
    ) {
        let mut random = SplitMix64::new(seed);
        let picture = GrayImage::from_fn(width, height, |x, y| {
            let squares = (x / cell + y / cell) % 2;
            image::Luma([match kind {
                0 => random.below(256) as u8,
                1 => (255 * squares) as u8,
                2 => (random.below(64) as u32 + 150 * squares) as u8,
                _ => (x * y % 256) as u8,
            }])
        });
        let _ = find(BOARD, &picture);
        let _ = find(Board { columns: 3, rows: 3, ..BOARD }, &picture);
    }

    #[test]
    fn no_corners_make_the_fit_fall_over(
        count in 0_usize..6, seed: u64, spread in 0_u32..4, fisheye: bool, square_m in 0.001..1.0
    ) {
        let mut random = SplitMix64::new(seed);
        let views = (0..count).map(|_| {
            let corners = (0..12).map(|number| {
                let side = f64::from(10_u32.pow(spread)) - 1.0;
                let at = [side * random.unit(), side * random.unit()];
                Corner { cell: [number % 4, number / 4], at }
            });
            View { size: (640, 480), corners: corners.collect() }
        });
        let views = looked(views.collect::<Vec<_>>());
        let lens = if fisheye { Lens::Fisheye } else { Lens::Pinhole };
        if let Ok(found) = calibrate(Board { square_m, ..BOARD }, lens, "any", views) {
            prop_assert!(found.error_px.is_finite());
            prop_assert!(CameraInfo::parse(&found.camera.to_yaml()).is_ok(), "{:?}", found.camera);
        }
    }
}
