//! Lens and poses from corners: the least squares of Zhang, "A flexible new technique for camera calibration" (2000).
//!
//! The first guess is the focal length, of a sweep, with which flat boards explain the corners best; from there
//! Levenberg-Marquardt frees one group of the lens' numbers after the other. The poses are fitted anew for every
//! lens that is tried (variable projection, Kaufman 1975): they take no place in the system that is solved, so that
//! its size does not depend on the number of pictures.

use calib_targets_core::estimate_homography_rect_to_img;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{
    DMatrix, DVector, Dyn, Isometry3, Matrix3, OMatrix, Point2, Point3, Rotation3, Translation3,
    U6, UnitQuaternion, Vector3, Vector6,
};

use super::{Lens, View};
use crate::camera::{CameraInfo, Distortion};

/// Fewer views determine no camera.
pub(super) const LEAST_VIEWS: usize = 3;
/// Focal lengths that are tried first.
const SWEEP: u32 = 60;
/// What a corner counts that the lens cannot show, px: more than any picture is wide.
const FAR_PX: f64 = 1e5;
/// Tries to fit a pose and a lens, times the numbers that are free and one: what converges takes far fewer, what does
/// not must end.
const POSE_PATIENCE: usize = 5;
const LENS_PATIENCE: usize = 15;
/// A group of distortion coefficients is kept when the squares shrink by so many times their mean, for each of it:
/// the F statistic of a significance far beyond 0.1 %.
const WORTH: f64 = 20.0;

/// Intrinsics as numbers: focal lengths, principal point, distortion in the lens' order.
type Numbers = [f64; 9];

/// Why there is no calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// Too few views.
    #[error(
        "{0} pictures show enough of the board, and a calibration takes {LEAST_VIEWS} at the least, better 10–40"
    )]
    TooFew(usize),
    /// The views fit no lens.
    #[error("no lens explains the corners: hold the board flat and still, and in different ways")]
    NoLens,
}

/// A lens that explains the corners.
pub(super) struct Solved {
    pub(super) camera: CameraInfo,
    /// RMS distance over all corners.
    pub(super) error_px: f64,
    /// RMS distance in each view.
    pub(super) errors_px: Vec<f64>,
    /// Distance of each corner, by view.
    pub(super) misses_px: Vec<Vec<f64>>,
    /// One standard deviation; infinite where the views do not tell.
    pub(super) focal_std_px: [f64; 2],
    pub(super) centre_std_px: [f64; 2],
}

/// Finds the lens. All views have one size.
pub(super) fn solve(
    views: &[&View],
    square_m: f64,
    lens: Lens,
    name: &str,
) -> Result<Solved, SolveError> {
    if views.len() < LEAST_VIEWS {
        return Err(SolveError::TooFew(views.len()));
    }
    let boards: Vec<Seen<'_>> = views.iter().map(|view| Seen::new(view, square_m)).collect();
    let size = views[0].size;
    // One group after the other: what bends most is known before the fine numbers are asked for.
    let groups: [&[usize]; 3] = match lens {
        Lens::Pinhole => [&[0, 1, 4], &[2, 3, 5, 6, 7], &[8]],
        Lens::Fisheye => [&[0, 1, 4], &[2, 3, 5], &[6, 7]],
    };
    let start = sweep(&boards, lens, size).ok_or(SolveError::NoLens)?;
    let mut free: Vec<usize> = groups[0].to_vec();
    let mut fit = LensFit::new(&boards, lens, size, start, &free).minimized();
    free.extend(groups[1]);
    fit = LensFit::new(&boards, lens, size, fit.now, &free).minimized();
    free.extend(groups[2]);
    let finer = LensFit::new(&boards, lens, size, fit.now, &free).minimized();
    let spare = (fit.misses.len() as f64 - (free.len() + 6 * boards.len()) as f64).max(1.0);
    let gain = (fit.squares() - finer.squares()) / groups[2].len() as f64;
    if gain > WORTH * finer.squares() / spare && sane(&finer.camera(name)) {
        fit = finer;
    } else {
        free.truncate(free.len() - groups[2].len());
    }
    let camera = fit.camera(name);
    if !sane(&camera) {
        return Err(SolveError::NoLens);
    }
    Ok(fit.solved(camera, &free))
}

/// Whether a file can hold it: focal lengths that a lens can have, in numbers.
fn sane(camera: &CameraInfo) -> bool {
    let most = 1e3 * f64::from(camera.width.max(camera.height));
    let numbers = camera.centre.iter().chain(match &camera.distortion {
        Distortion::PlumbBob(k) => k.as_slice(),
        Distortion::Rational(k) => k.as_slice(),
        Distortion::Equidistant(k) => k.as_slice(),
    });
    camera.focal.iter().all(|focal| (1.0..most).contains(focal))
        && numbers.copied().all(f64::is_finite)
}

fn camera(lens: Lens, (width, height): (u32, u32), numbers: &Numbers) -> CameraInfo {
    let [fx, fy, cx, cy, a, b, c, d, e] = *numbers;
    let distortion = match lens {
        Lens::Pinhole => Distortion::PlumbBob([a, b, c, d, e]),
        Lens::Fisheye => Distortion::Equidistant([a, b, c, d]),
    };
    CameraInfo { name: String::new(), width, height, focal: [fx, fy], centre: [cx, cy], distortion }
}

/// A view's corners on the board, metres, and in the picture, px.
struct Seen<'a> {
    view: &'a View,
    board: Vec<Point2<f64>>,
}

impl<'a> Seen<'a> {
    fn new(view: &'a View, square_m: f64) -> Self {
        let point = |side: u32| f64::from(side) * square_m;
        let board = view
            .corners
            .iter()
            .map(|corner| Point2::new(point(corner.cell[0]), point(corner.cell[1])))
            .collect();
        Self { view, board }
    }

    /// Where the corners are seen less where they should be, px: x, y, x, y, …
    fn misses(&self, camera: &CameraInfo, pose: &Isometry3<f64>) -> DVector<f64> {
        let mut misses = DVector::zeros(2 * self.board.len());
        for (index, (board, corner)) in self.board.iter().zip(&self.view.corners).enumerate() {
            let at = pose * Point3::new(board.x, board.y, 0.0);
            let seen = camera.project([at.x, at.y, at.z]).unwrap_or([FAR_PX, FAR_PX]);
            for axis in 0..2 {
                let miss = seen[axis] - corner.at[axis];
                // NaN and what is farther than far
                let miss = if miss.abs() < FAR_PX { miss } else { FAR_PX };
                misses[2 * index + axis] = miss;
            }
        }
        misses
    }

    /// The pose of a flat board that the camera sees so: its homography, on a plane that lies across the mean
    /// direction of the corners, since a fisheye sees beyond 90 degrees.
    fn first_pose(&self, camera: &CameraInfo) -> Option<Isometry3<f64>> {
        let rays: Vec<Vector3<f64>> = self
            .view
            .corners
            .iter()
            .map(|corner| camera.ray(corner.at[0], corner.at[1]).map(Vector3::from))
            .collect::<Option<_>>()?;
        let mean = rays.iter().sum::<Vector3<f64>>().try_normalize(1e-6)?;
        let turn = Rotation3::rotation_between(&mean, &Vector3::z()).unwrap_or_else(|| {
            Rotation3::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
        });
        let plane: Vec<Point2<f64>> = rays
            .iter()
            .map(|ray| turn * ray)
            .map(|ray| (ray.z > 0.05).then(|| Point2::new(ray.x / ray.z, ray.y / ray.z)))
            .collect::<Option<_>>()?;
        let rows = estimate_homography_rect_to_img(&self.board, &plane)?.to_array();
        let h = Matrix3::from_fn(|row, column| rows[row][column]);
        let (x, y, t) = (h.column(0), h.column(1), h.column(2));
        // The corners lie ahead.
        let ahead: f64 =
            self.board.iter().map(|at| h[(2, 0)] * at.x + h[(2, 1)] * at.y + h[(2, 2)]).sum();
        let scale = ahead.signum() * 2.0 / (x.norm() + y.norm());
        let (x, y, t) = (x * scale, y * scale, t * scale);
        let (right, across) = (x.try_normalize(1e-9)?, x.cross(&y).try_normalize(1e-12)?);
        let rotation = Rotation3::from_basis_unchecked(&[right, across.cross(&right), across]);
        if !rotation.matrix().iter().chain(t.iter()).all(|value| value.is_finite()) {
            return None;
        }
        let rotation = UnitQuaternion::from_rotation_matrix(&rotation);
        let pose = Isometry3::from_parts(Translation3::from(t), rotation);
        Some(UnitQuaternion::from_rotation_matrix(&turn.inverse()) * pose)
    }

    /// Change of the misses as the pose is moved from `pose` by `by` and a little more, px per radian and metre.
    fn by_pose(
        &self,
        camera: &CameraInfo,
        pose: &Isometry3<f64>,
        by: &Vector6<f64>,
    ) -> OMatrix<f64, Dyn, U6> {
        let mut slopes = OMatrix::<f64, Dyn, U6>::zeros(2 * self.board.len());
        let metres = 1e-6 * pose.translation.vector.norm().max(1e-3);
        for number in 0..6 {
            let step = if number < 3 { 1e-6 } else { metres };
            let mut more = Vector6::zeros();
            more[number] = step;
            let ahead = self.misses(camera, &moved(pose, &(by + more)));
            let back = self.misses(camera, &moved(pose, &(by - more)));
            slopes.set_column(number, &((ahead - back) / (2.0 * step)));
        }
        slopes
    }
}

/// A pose turned by the first three (rotation vector, radians) and shifted by the last (metres).
fn moved(pose: &Isometry3<f64>, by: &Vector6<f64>) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(by[0], by[1], by[2]));
    let shift = Vector3::new(by[3], by[4], by[5]);
    Isometry3::from_parts(Translation3::from(pose.translation.vector + shift), turn * pose.rotation)
}

/// The best of a sweep over focal lengths, without distortion, with the principal point in the middle.
fn sweep(boards: &[Seen<'_>], lens: Lens, (width, height): (u32, u32)) -> Option<Numbers> {
    // Fields of view from left to right: 150 to 6 degrees; of a fisheye 270 to 30.
    let (shortest, longest) = match lens {
        Lens::Pinhole => (0.13, 9.5),
        Lens::Fisheye => (0.21, 1.9),
    };
    let mut best: Option<(f64, Numbers)> = None;
    for number in 0..SWEEP {
        let share = f64::from(number) / f64::from(SWEEP - 1);
        let focal = f64::from(width) * shortest * f64::powf(longest / shortest, share);
        let [cx, cy] = [width, height].map(|side| 0.5 * f64::from(side) - 0.5);
        let numbers = [focal, focal, cx, cy, 0.0, 0.0, 0.0, 0.0, 0.0];
        let camera = camera(lens, (width, height), &numbers);
        let squares: Option<f64> = boards
            .iter()
            .map(|seen| Some(seen.misses(&camera, &seen.first_pose(&camera)?).norm_squared()))
            .sum();
        if let Some(squares) = squares.filter(|squares| squares.is_finite())
            && best.is_none_or(|(least, _)| squares < least)
        {
            best = Some((squares, numbers));
        }
    }
    best.map(|(_, numbers)| numbers)
}

/// One board's pose, all else given.
struct PoseFit<'a> {
    seen: &'a Seen<'a>,
    camera: &'a CameraInfo,
    from: Isometry3<f64>,
    by: Vector6<f64>,
}

impl PoseFit<'_> {
    fn pose(&self) -> Isometry3<f64> {
        moved(&self.from, &self.by)
    }
}

impl LeastSquaresProblem<f64, Dyn, U6> for PoseFit<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, U6>;
    type ParameterStorage = Owned<f64, U6>;

    fn set_params(&mut self, by: &Vector6<f64>) {
        self.by = *by;
    }

    fn params(&self) -> Vector6<f64> {
        self.by
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        Some(self.seen.misses(self.camera, &self.pose()))
    }

    fn jacobian(&self) -> Option<OMatrix<f64, Dyn, U6>> {
        Some(self.seen.by_pose(self.camera, &self.from, &self.by))
    }
}

/// The lens; for each that is tried, the boards' poses are fitted.
struct LensFit<'a> {
    boards: &'a [Seen<'a>],
    lens: Lens,
    size: (u32, u32),
    /// The numbers as they are now, those that are free and those that are not.
    now: Numbers,
    free: Vec<usize>,
    poses: Vec<Isometry3<f64>>,
    misses: DVector<f64>,
    /// Poses of the best lens until now: where the next ones begin.
    best: (f64, Vec<Isometry3<f64>>),
}

impl<'a> LensFit<'a> {
    fn new(
        boards: &'a [Seen<'a>],
        lens: Lens,
        size: (u32, u32),
        now: Numbers,
        free: &[usize],
    ) -> Self {
        let camera = camera(lens, size, &now);
        let ahead = Isometry3::translation(0.0, 0.0, 1.0);
        let poses: Vec<Isometry3<f64>> =
            boards.iter().map(|seen| seen.first_pose(&camera).unwrap_or(ahead)).collect();
        let mut fit = Self {
            boards,
            lens,
            size,
            now,
            free: free.to_vec(),
            misses: DVector::zeros(0),
            best: (f64::INFINITY, poses.clone()),
            poses,
        };
        fit.pose_all();
        fit
    }

    fn minimized(self) -> Self {
        // However it ends: what it comes to is judged by its error and its uncertainty.
        LevenbergMarquardt::new().with_tol(1e-12).with_patience(LENS_PATIENCE).minimize(self).0
    }

    fn camera(&self, name: &str) -> CameraInfo {
        CameraInfo { name: name.to_owned(), ..camera(self.lens, self.size, &self.now) }
    }

    fn squares(&self) -> f64 {
        self.misses.norm_squared()
    }

    /// Fits all poses to the lens as it is now.
    fn pose_all(&mut self) {
        let camera = camera(self.lens, self.size, &self.now);
        let rows: usize = self.boards.iter().map(|seen| 2 * seen.board.len()).sum();
        self.misses = DVector::zeros(rows);
        let mut row = 0;
        for (index, seen) in self.boards.iter().enumerate() {
            let from = self.best.1[index];
            let fit = PoseFit { seen, camera: &camera, from, by: Vector6::zeros() };
            let (fit, _) = LevenbergMarquardt::new()
                .with_tol(1e-14)
                .with_patience(POSE_PATIENCE)
                .minimize(fit);
            self.poses[index] = fit.pose();
            let misses = seen.misses(&camera, &self.poses[index]);
            self.misses.rows_mut(row, misses.len()).copy_from(&misses);
            row += misses.len();
        }
        if self.squares() < self.best.0 {
            self.best = (self.squares(), self.poses.clone());
        }
    }

    /// Change of the misses with the free numbers, the poses following.
    fn slopes(&self) -> DMatrix<f64> {
        let mut slopes = DMatrix::zeros(self.misses.len(), self.free.len());
        let middle = camera(self.lens, self.size, &self.now);
        for (column, number) in self.free.iter().enumerate() {
            let step = if *number < 4 { 1e-2 } else { 1e-5 };
            let lens = |by: f64| {
                let mut numbers = self.now;
                numbers[*number] += by;
                camera(self.lens, self.size, &numbers)
            };
            let (ahead, back) = (lens(step), lens(-step));
            let mut row = 0;
            for (seen, pose) in self.boards.iter().zip(&self.poses) {
                let slope = (seen.misses(&ahead, pose) - seen.misses(&back, pose)) / (2.0 * step);
                slopes.view_mut((row, column), (slope.len(), 1)).copy_from(&slope);
                row += slope.len();
            }
        }
        // What a pose takes up is no change: the part across the pose's own slopes stays.
        let mut row = 0;
        for (seen, pose) in self.boards.iter().zip(&self.poses) {
            let rows = 2 * seen.board.len();
            let basis = seen.by_pose(&middle, pose, &Vector6::zeros()).qr().q();
            let mut part = slopes.rows_mut(row, rows);
            let taken = &basis * (basis.transpose() * &part);
            part -= taken;
            row += rows;
        }
        slopes
    }

    fn solved(&self, camera: CameraInfo, free: &[usize]) -> Solved {
        let mut misses_px: Vec<Vec<f64>> = Vec::new();
        let mut row = 0;
        for seen in self.boards {
            let of = self.misses.rows(row, 2 * seen.board.len());
            misses_px
                .push((0..seen.board.len()).map(|at| of[2 * at].hypot(of[2 * at + 1])).collect());
            row += 2 * seen.board.len();
        }
        let rms = |misses: &[f64]| {
            (misses.iter().map(|miss| miss * miss).sum::<f64>() / misses.len().max(1) as f64).sqrt()
        };
        // Covariance of the numbers: the inverse of the slopes' squares, times the variance of a miss.
        let slopes = self.slopes();
        let spare = self.misses.len() as f64 - (free.len() + 6 * self.boards.len()) as f64;
        let variance = self.squares() / spare.max(1.0);
        let inverse = (slopes.transpose() * slopes).try_inverse();
        let std = |number: usize| {
            let at = free.iter().position(|one| *one == number);
            match (at, &inverse) {
                (Some(at), Some(inverse)) if inverse[(at, at)] >= 0.0 => {
                    (variance * inverse[(at, at)]).sqrt()
                }
                _ => f64::INFINITY,
            }
        };
        Solved {
            camera,
            error_px: rms(&misses_px.concat()),
            errors_px: misses_px.iter().map(|misses| rms(misses)).collect(),
            focal_std_px: [std(0), std(1)],
            centre_std_px: [std(2), std(3)],
            misses_px,
        }
    }
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for LensFit<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, free: &DVector<f64>) {
        for (number, value) in self.free.iter().zip(free.iter()) {
            self.now[*number] = *value;
        }
        self.pose_all();
    }

    fn params(&self) -> DVector<f64> {
        DVector::from_iterator(self.free.len(), self.free.iter().map(|number| self.now[*number]))
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        Some(self.misses.clone())
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        Some(self.slopes())
    }
}
