//! Pictures of a checkerboard as a known camera sees it, for tests: antialiased, soft, noisy.

use image::{GrayImage, Luma};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};

use super::Board;
use crate::bench::random::SplitMix64;
use crate::camera::CameraInfo;

/// Rays through each pixel, in rows and columns.
const RAYS: u32 = 2;

/// A camera with the rays of all its pixels.
pub(crate) struct Renderer {
    /// Spread of its noise, 0–255.
    pub(crate) noise: f32,
    /// How soft its lens is: spread of a point, px.
    pub(crate) soft: f32,
    size: (u32, u32),
    rays: Vec<Option<Vector3<f64>>>,
}

impl Renderer {
    pub(crate) fn new(camera: &CameraInfo) -> Self {
        let (width, height) = (camera.width, camera.height);
        let place = |at: u32| (f64::from(at) + 0.5) / f64::from(RAYS) - 0.5;
        let rays = (0..height * RAYS)
            .flat_map(|row| (0..width * RAYS).map(move |column| (column, row)))
            .map(|(column, row)| camera.ray(place(column), place(row)).map(Vector3::from))
            .collect();
        Self { noise: 2.0, soft: 0.6, size: (width, height), rays }
    }

    /// The board in that pose (of its first inner corner) before a dim, uneven wall; `None`: the wall alone.
    pub(crate) fn picture(
        &self,
        board: Board,
        pose: Option<Isometry3<f64>>,
        seed: u64,
    ) -> GrayImage {
        let (width, height) = self.size;
        let wide = (width * RAYS) as usize;
        let mut bright = vec![0.0_f32; (width * height) as usize];
        for (index, ray) in self.rays.iter().enumerate() {
            let (row, column) = (index / wide / RAYS as usize, index % wide / RAYS as usize);
            let wall =
                90.0 + 30.0 * (column as f32 / 90.0).sin() + 20.0 * (row as f32 / 50.0).cos();
            let at = ray.and_then(|ray| pose.and_then(|pose| on_board(&ray, &pose)));
            let value = at.map_or(wall, |at| shade(board, at).unwrap_or(wall));
            bright[row * width as usize + column] += value / (RAYS * RAYS) as f32;
        }
        let mut random = SplitMix64::new(seed);
        let soft = blurred(&bright, width as usize, self.soft);
        GrayImage::from_fn(width, height, |x, y| {
            let value = soft[(y * width + x) as usize] + self.noise * random.gaussian();
            Luma([value.round().clamp(0.0, 255.0) as u8])
        })
    }
}

/// Where a ray meets the board's plane, metres from its first inner corner.
fn on_board(ray: &Vector3<f64>, pose: &Isometry3<f64>) -> Option<[f64; 2]> {
    let normal = pose.rotation * Vector3::z();
    let along = normal.dot(&pose.translation.vector) / normal.dot(ray);
    let at = pose.inverse_transform_point(&Point3::from(ray * along));
    (along > 0.0).then_some([at.x, at.y])
}

/// Black, white, the white border, or nothing.
fn shade(board: Board, at: [f64; 2]) -> Option<f32> {
    let cell = at.map(|side| (side / board.square_m).floor());
    let inner = [board.columns, board.rows].map(f64::from);
    let on = |margin: f64| {
        (0..2).all(|axis| (-margin..inner[axis] + margin - 1.0).contains(&cell[axis]))
    };
    if on(1.0) {
        Some(if (cell[0] + cell[1]).rem_euclid(2.0) == 0.0 { 35.0 } else { 215.0 })
    } else if on(2.0) {
        Some(220.0)
    } else {
        None
    }
}

/// Gaussian, in two passes.
fn blurred(picture: &[f32], width: usize, spread: f32) -> Vec<f32> {
    let reach = (3.0 * spread).ceil() as isize;
    let weights: Vec<f32> =
        (-reach..=reach).map(|at| (-(at as f32).powi(2) / (2.0 * spread * spread)).exp()).collect();
    let whole: f32 = weights.iter().sum();
    let height = picture.len() / width;
    let pass = |from: &[f32], across: bool| -> Vec<f32> {
        (0..from.len())
            .map(|index| {
                let (row, column) = (index / width, index % width);
                let sum: f32 = (-reach..=reach)
                    .zip(&weights)
                    .map(|(by, weight)| {
                        let at =
                            |at: usize, most: usize| at.saturating_add_signed(by).min(most - 1);
                        let (row, column) = if across {
                            (row, at(column, width))
                        } else {
                            (at(row, height), column)
                        };
                        from[row * width + column] * weight
                    })
                    .sum();
                sum / whole
            })
            .collect()
    };
    pass(&pass(picture, true), false)
}

/// Ways to hold the board: near and far, in all parts of the picture, tilted to all sides. `focal` in widths of the
/// picture.
pub(crate) fn poses(board: Board, focal: f64, count: usize) -> Vec<Isometry3<f64>> {
    let wide = f64::from(board.columns + 1) * board.square_m;
    let middle = [board.columns, board.rows].map(|side| 0.5 * f64::from(side - 1) * board.square_m);
    (0..count)
        .map(|number| {
            let turn = number as f64;
            // Spirals from the middle to the picture's corners.
            let (tilt, about) = ([0.15, 0.45, 0.6][number % 3], 2.4 * turn);
            let far = focal * wide * [1.5, 1.9, 2.6][number / 2 % 3];
            let out = [0.0, 0.16, 0.3][(number + 1) % 3] * far / focal;
            let aside = Vector3::new(out * (1.7 * turn).cos(), 0.7 * out * (1.7 * turn).sin(), far);
            let rotation = UnitQuaternion::from_scaled_axis(Vector3::new(
                tilt * about.cos(),
                tilt * about.sin(),
                0.2 * (turn % 5.0 - 2.0),
            ));
            let centre = rotation * Vector3::new(middle[0], middle[1], 0.0);
            Isometry3::from_parts((aside - centre).into(), rotation)
        })
        .collect()
}
