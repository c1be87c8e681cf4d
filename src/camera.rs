//! Where a camera looks: ROS `CameraInfo` files, pixels to directions, a face's bearing and rough distance.
//!
//! The file is what ROS' `camera_calibration` writes (`camera_info_manager`'s YAML). Lenses: `plumb_bob` and
//! `rational_polynomial` (Brown, as OpenCV computes them) and `equidistant` (Kannala and Brandt 2006: fisheye,
//! which Foxglove calls `kannala_brandt`). Everything here is a pure function of text and numbers.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use yaml_rust2::scanner::{Scanner, Token, TokenType};
use yaml_rust2::{Yaml, YamlLoader};

use crate::geometry::Point;

/// Longer files are no calibration.
const MOST_BYTES: usize = 64 * 1024;
/// More brackets, lists and lines than any calibration has: YAML nests by recursion.
const MOST_NESTING: usize = 400;
/// Steps towards an undistorted point, and the error at which it is found, in focal lengths.
const STEPS: usize = 60;
const FOUND: f64 = 1e-9;
/// A point that was not found is left out when it is off by more, in focal lengths: half a pixel of a wide picture.
const GOOD: f64 = 1e-3;
/// Width and height of a picture may differ from the calibration's by one factor; the two factors may differ by this.
const ASPECT: f64 = 0.02;
/// Mean distance of grown-ups' pupils (Dodgson 2004), and of the eyes' line from the mouth's, metres.
const EYES_M: f64 = 0.063;
const EYES_TO_MOUTH_M: f64 = 0.073;

/// A calibration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CameraInfoError {
    /// It is no YAML.
    #[error("it is no YAML: {0}")]
    Yaml(String),
    /// It is too long, nested too deeply, or uses what no calibration does.
    #[error("it is no ROS CameraInfo file: {0}")]
    Form(&'static str),
    /// A key is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A value makes no sense.
    #[error("`{key}` {expected}, found {found}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The lens is none of the three.
    #[error(
        "`distortion_model` is {0:?}; plumb_bob, rational_polynomial and equidistant (also called kannala_brandt or \
         fisheye) are understood"
    )]
    Lens(String),
}

/// How the lens bends rays, in the terms of ROS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distortion {
    /// k1, k2, p1, p2, k3.
    PlumbBob([f64; 5]),
    /// k1, k2, p1, p2, k3, k4, k5, k6.
    Rational([f64; 8]),
    /// k1, k2, k3, k4 over the angle: fisheye.
    Equidistant([f64; 4]),
}

/// A camera's intrinsics.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraInfo {
    /// Its name in the file.
    pub name: String,
    /// Picture width, px.
    pub width: u32,
    /// Picture height, px.
    pub height: u32,
    /// Focal length, px, to the right and down.
    pub focal: [f64; 2],
    /// Principal point, px.
    pub centre: [f64; 2],
    /// The lens.
    pub distortion: Distortion,
}

/// Where something is, seen from the camera: angles in radians, as REP 103 counts them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bearing {
    /// 0 straight ahead, to the left positive.
    pub azimuth: f32,
    /// 0 at the optical axis, up positive.
    pub elevation: f32,
    /// Rough, from the size of a grown-up's face; `None` where nothing of known size is seen. Metres.
    #[serde(rename = "distance_m")]
    pub distance: Option<f32>,
}

impl CameraInfo {
    /// Reads a CameraInfo file.
    ///
    /// # Errors
    /// [`CameraInfoError`], with the key, what it must be and what was found.
    pub fn parse(text: &str) -> Result<Self, CameraInfoError> {
        let text = text.trim_start_matches('\u{feff}');
        if text.len() > MOST_BYTES {
            return Err(CameraInfoError::Form("it has more than 64 KiB"));
        }
        let openers = text.matches(['[', '{']).count() + text.matches("- ").count();
        if openers + text.matches("? ").count() + text.lines().count() > MOST_NESTING {
            return Err(CameraInfoError::Form("it has too many lines and brackets"));
        }
        if Scanner::new(text.chars()).any(is_reference) {
            return Err(CameraInfoError::Form("it has anchors, aliases or tags"));
        }
        let documents = YamlLoader::load_from_str(text)
            .map_err(|error| CameraInfoError::Yaml(error.to_string()))?;
        let Some(file) = documents.first().filter(|file| file.as_hash().is_some()) else {
            return Err(CameraInfoError::Form("it has no `key: value` lines"));
        };
        let matrix = numbers(file, "camera_matrix")?;
        let (focal, centre) = intrinsics(&matrix)?;
        let name = file["camera_name"].as_str().unwrap_or_default().to_owned();
        let (width, height) = (side(file, "image_width")?, side(file, "image_height")?);
        let distortion = lens(file)?;
        Ok(Self { name, width, height, focal, centre, distortion })
    }

    /// Of the numbers of a `sensor_msgs/CameraInfo` message: `k` row by row, the lens by its model's name with its
    /// coefficients. Without coefficients, or with zeros alone, nothing is bent, whatever the model but a fisheye;
    /// zeros behind the model's own coefficients are left out.
    ///
    /// # Errors
    /// [`CameraInfoError`], with the key, what it must be and what was found.
    pub fn of_message(
        name: &str,
        (width, height): (u32, u32),
        k: &[f64],
        (model, coefficients): (&str, &[f64]),
    ) -> Result<Self, CameraInfoError> {
        const SIDE: &str = "must be 1–65535 px";
        for (key, found) in [("width", width), ("height", height)] {
            if !(1..=65_535).contains(&found) {
                return Err(wrong(key, SIDE, found));
            }
        }
        if let Some(odd) = k.iter().chain(coefficients).find(|number| !number.is_finite()) {
            return Err(wrong("camera_matrix", "must be numbers", odd));
        }
        let (focal, centre) = intrinsics(k)?;
        // A driver that knows no lens names none, and gives zeros or nothing.
        let bends = coefficients.iter().any(|coefficient| *coefficient != 0.0);
        let distortion = if bends || is_fisheye(model) {
            lens_of(model, coefficients)?
        } else {
            Distortion::PlumbBob([0.0; 5])
        };
        Ok(Self { name: name.to_owned(), width, height, focal, centre, distortion })
    }

    /// A camera of which only the field of view is known: no distortion, the principal point in the middle.
    /// `across` in radians, below π.
    #[must_use]
    pub fn pinhole(name: &str, width: u32, height: u32, across: f64) -> Self {
        let focal = 0.5 * f64::from(width) / (0.5 * across).tan();
        let centre = [0.5 * f64::from(width) - 0.5, 0.5 * f64::from(height) - 0.5];
        let distortion = Distortion::PlumbBob([0.0; 5]);
        Self { name: name.to_owned(), width, height, focal: [focal, focal], centre, distortion }
    }

    /// The file that ROS reads.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let Self { name, width, height, focal: [fx, fy], centre: [cx, cy], distortion } = self;
        let (model, coefficients): (_, &[f64]) = match distortion {
            Distortion::PlumbBob(k) => ("plumb_bob", k),
            Distortion::Rational(k) => ("rational_polynomial", k),
            Distortion::Equidistant(k) => ("equidistant", k),
        };
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_-./ ".contains(c) { c } else { '_' })
            .collect();
        let mut text =
            format!("image_width: {width}\nimage_height: {height}\ncamera_name: \"{name}\"\n");
        let mut matrix = |key: &str, rows: usize, data: &[f64]| {
            let cols = data.len() / rows;
            let data: Vec<String> = data.iter().map(|value| format!("{value:?}")).collect();
            let data = data.join(", ");
            // Writing into a string cannot fail.
            let _ = write!(text, "{key}:\n  rows: {rows}\n  cols: {cols}\n  data: [{data}]\n");
        };
        matrix("camera_matrix", 3, &[*fx, 0.0, *cx, 0.0, *fy, *cy, 0.0, 0.0, 1.0]);
        matrix("distortion_coefficients", 1, coefficients);
        matrix("rectification_matrix", 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        matrix(
            "projection_matrix",
            3,
            &[*fx, 0.0, *cx, 0.0, 0.0, *fy, *cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        );
        let _ = writeln!(text, "distortion_model: {model}");
        text
    }

    /// The same camera delivering pictures of another size; `None` when they are cut, not scaled.
    #[must_use]
    pub fn scaled_to(&self, width: u32, height: u32) -> Option<Self> {
        if (width, height) == (self.width, self.height) {
            return Some(self.clone());
        }
        let x = f64::from(width) / f64::from(self.width);
        let y = f64::from(height) / f64::from(self.height);
        if width == 0 || height == 0 || (x / y - 1.0).abs() > ASPECT {
            return None;
        }
        // Pixel centres lie on half numbers of the picture's edge.
        let moved = |value: f64, by: f64| (value + 0.5) * by - 0.5;
        Some(Self {
            width,
            height,
            focal: [self.focal[0] * x, self.focal[1] * y],
            centre: [moved(self.centre[0], x), moved(self.centre[1], y)],
            ..self.clone()
        })
    }

    /// Where a direction (x right, y down, z ahead) is seen, px; `None` behind a lens that cannot show it.
    #[must_use]
    pub fn project(&self, ray: [f64; 3]) -> Option<[f64; 2]> {
        let [x, y, z] = ray;
        let [u, v] = match self.distortion {
            Distortion::Equidistant(k) => {
                let across = x.hypot(y);
                let angle = across.atan2(z);
                let radius = fisheye(k, angle);
                if across > 0.0 { [x / across * radius, y / across * radius] } else { [0.0, 0.0] }
            }
            _ if z <= 0.0 => return None,
            _ => self.bend([x / z, y / z]),
        };
        Some([u * self.focal[0] + self.centre[0], v * self.focal[1] + self.centre[1]])
    }

    /// The direction of a pixel, of length 1 (x right, y down, z ahead); `None` where the lens shows none.
    #[must_use]
    pub fn ray(&self, x: f64, y: f64) -> Option<[f64; 3]> {
        let seen = [(x - self.centre[0]) / self.focal[0], (y - self.centre[1]) / self.focal[1]];
        if !seen.iter().all(|value| value.is_finite()) {
            return None;
        }
        let ray = match self.distortion {
            Distortion::Equidistant(k) => {
                let radius = seen[0].hypot(seen[1]);
                if radius == 0.0 {
                    return Some([0.0, 0.0, 1.0]);
                }
                let angle = angle_of(k, radius)?;
                let across = angle.sin() / radius;
                [seen[0] * across, seen[1] * across, angle.cos()]
            }
            _ => {
                let [x, y] = self.straighten(seen)?;
                [x, y, 1.0]
            }
        };
        let length = ray.iter().map(|v| v * v).sum::<f64>().sqrt();
        Some(ray.map(|value| value / length))
    }

    /// Where a face is: the direction of `centre`, the distance by its eyes and mouth (left eye, right eye, nose,
    /// left and right corner of the mouth), px. A face turned aside shows its eyes closer together, one that nods
    /// its mouth closer to them: the larger of the two measures counts.
    #[must_use]
    pub fn bearing_of_face(&self, centre: Point, landmarks: &[Point; 5]) -> Option<Bearing> {
        let mut bearing = self.bearing(centre)?;
        let [left, right, _, mouth_left, mouth_right] = *landmarks;
        let middle = |a: Point, b: Point| Point { x: 0.5 * (a.x + b.x), y: 0.5 * (a.y + b.y) };
        let distance = |a: Point, b: Point, size: f64| {
            let (a, b) = (self.ray_of(a)?, self.ray_of(b)?);
            let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let half = (0.5 * cosine.clamp(-1.0, 1.0).acos()).tan();
            (half > 1e-6).then_some(0.5 * size / half)
        };
        let eyes = distance(left, right, EYES_M);
        let mouth = distance(middle(left, right), middle(mouth_left, mouth_right), EYES_TO_MOUTH_M);
        let nearest = eyes.into_iter().chain(mouth).fold(f64::INFINITY, f64::min);
        bearing.distance = nearest.is_finite().then_some(nearest as f32);
        Some(bearing)
    }

    /// The direction of a pixel as angles.
    #[must_use]
    pub fn bearing(&self, at: Point) -> Option<Bearing> {
        let [x, y, z] = self.ray_of(at)?;
        let azimuth = (-x).atan2(z) as f32;
        let elevation = (-y).atan2(x.hypot(z)) as f32;
        Some(Bearing { azimuth, elevation, distance: None })
    }

    fn ray_of(&self, at: Point) -> Option<[f64; 3]> {
        self.ray(f64::from(at.x), f64::from(at.y))
    }

    /// Brown's model on the plane at distance 1.
    fn bend(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (k, p, below) = match self.distortion {
            Distortion::PlumbBob([k1, k2, p1, p2, k3]) => ([k1, k2, k3], [p1, p2], [0.0; 3]),
            Distortion::Rational([k1, k2, p1, p2, k3, k4, k5, k6]) => {
                ([k1, k2, k3], [p1, p2], [k4, k5, k6])
            }
            Distortion::Equidistant(_) => ([0.0; 3], [0.0; 2], [0.0; 3]),
        };
        let r = x * x + y * y;
        let series = |[a, b, c]: [f64; 3]| 1.0 + r * (a + r * (b + r * c));
        let radial = series(k) / series(below);
        [
            x * radial + 2.0 * p[0] * x * y + p[1] * (r + 2.0 * x * x),
            y * radial + p[0] * (r + 2.0 * y * y) + 2.0 * p[1] * x * y,
        ]
    }

    /// Undoes [`Self::bend`] by Newton's method, the derivative taken by differences; halves steps that lead away.
    fn straighten(&self, seen: [f64; 2]) -> Option<[f64; 2]> {
        let off = |at: [f64; 2]| {
            let bent = self.bend(at);
            [bent[0] - seen[0], bent[1] - seen[1]]
        };
        let size = |e: [f64; 2]| e[0].hypot(e[1]);
        let (mut at, mut error) = (seen, off(seen));
        for _ in 0..STEPS {
            if size(error) < FOUND {
                return Some(at);
            }
            const H: f64 = 1e-6;
            let (right, down) = (off([at[0] + H, at[1]]), off([at[0], at[1] + H]));
            let j = [
                [(right[0] - error[0]) / H, (down[0] - error[0]) / H],
                [(right[1] - error[1]) / H, (down[1] - error[1]) / H],
            ];
            let det = j[0][0] * j[1][1] - j[0][1] * j[1][0];
            if det.is_nan() || det.abs() < 1e-9 {
                break;
            }
            let step = [
                (j[1][1] * error[0] - j[0][1] * error[1]) / det,
                (j[0][0] * error[1] - j[1][0] * error[0]) / det,
            ];
            let mut share = 1.0;
            loop {
                let next = [at[0] - share * step[0], at[1] - share * step[1]];
                let new = off(next);
                if size(new) < size(error) {
                    (at, error) = (next, new);
                    break;
                }
                share *= 0.5;
                if share < 1e-3 {
                    return (size(error) < GOOD).then_some(at);
                }
            }
        }
        (size(error) < GOOD).then_some(at)
    }
}

/// Radius on the picture, in focal lengths, of a ray at that angle from the axis.
fn fisheye([k1, k2, k3, k4]: [f64; 4], angle: f64) -> f64 {
    let a = angle * angle;
    angle * (1.0 + a * (k1 + a * (k2 + a * (k3 + a * k4))))
}

/// Undoes [`fisheye`]: the smallest angle up to 180° that is seen at that radius.
fn angle_of(k: [f64; 4], radius: f64) -> Option<f64> {
    const PIECES: u32 = 180;
    let piece = std::f64::consts::PI / f64::from(PIECES);
    for number in 0..PIECES {
        let (mut low, mut high) = (f64::from(number) * piece, f64::from(number + 1) * piece);
        if fisheye(k, high) < radius || fisheye(k, low) > radius {
            continue;
        }
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            if fisheye(k, middle) < radius { low = middle } else { high = middle }
        }
        return Some(0.5 * (low + high));
    }
    None
}

/// What lets a short YAML file become a large one, or mean something else than it says.
fn is_reference(Token(_, kind): Token) -> bool {
    matches!(kind, TokenType::Alias(_) | TokenType::Anchor(_) | TokenType::Tag(..))
}

fn wrong(
    key: &'static str,
    expected: &'static str,
    found: impl std::fmt::Display,
) -> CameraInfoError {
    CameraInfoError::Value { key, expected, found: found.to_string() }
}

fn side(file: &Yaml, key: &'static str) -> Result<u32, CameraInfoError> {
    match &file[key] {
        Yaml::BadValue => Err(CameraInfoError::Missing(key)),
        Yaml::Integer(value @ 1..=65_535) => Ok(u32::try_from(*value).unwrap_or(1)),
        other => Err(wrong(key, "must be 1–65535 px", format!("{other:?}"))),
    }
}

/// The numbers of a matrix: its `data`, flow or block.
fn numbers(file: &Yaml, key: &'static str) -> Result<Vec<f64>, CameraInfoError> {
    let matrix = &file[key];
    if matrix.is_badvalue() {
        return Err(CameraInfoError::Missing(key));
    }
    let expected = "must have a list of numbers in `data`";
    let data = &matrix["data"];
    let list = data.as_vec().ok_or_else(|| wrong(key, expected, format!("{data:?}")))?;
    list.iter()
        .map(|value| {
            let number = match value {
                Yaml::Integer(whole) => Some(*whole as f64),
                Yaml::Real(text) => text.parse::<f64>().ok(),
                _ => None,
            };
            number
                .filter(|number| number.is_finite())
                .ok_or_else(|| wrong(key, expected, format!("{value:?}")))
        })
        .collect()
}

/// Focal lengths and principal point of a camera matrix, row by row.
fn intrinsics(matrix: &[f64]) -> Result<([f64; 2], [f64; 2]), CameraInfoError> {
    let &[fx, _, cx, _, fy, cy, _, _, one] = matrix else {
        return Err(wrong("camera_matrix", "must have 9 numbers in `data`", matrix.len()));
    };
    if !(fx > 0.0 && fy > 0.0 && one == 1.0) {
        let expected = "must be [fx 0 cx; 0 fy cy; 0 0 1] with fx and fy above 0";
        return Err(wrong("camera_matrix", expected, format!("{matrix:?}")));
    }
    Ok(([fx, fy], [cx, cy]))
}

const COEFFICIENTS: &str = "distortion_coefficients";

fn lens(file: &Yaml) -> Result<Distortion, CameraInfoError> {
    let model = match &file["distortion_model"] {
        Yaml::BadValue => return Err(CameraInfoError::Missing("distortion_model")),
        value => value.as_str().unwrap_or_default(),
    };
    // `data:` with nothing behind it is a list without items.
    let given = if file[COEFFICIENTS]["data"].is_null() {
        Vec::new()
    } else {
        numbers(file, COEFFICIENTS)?
    };
    lens_of(model, &given)
}

/// ROS' name of Kannala's and Brandt's lens, OpenCV's, Foxglove's.
fn is_fisheye(model: &str) -> bool {
    matches!(model, "equidistant" | "fisheye" | "kannala_brandt")
}

/// The lens of a model's name and its coefficients; without any nothing is bent, but for a fisheye. Zeros behind the
/// model's own are left out: OpenCV writes 12 and 14 for `rational_polynomial`, the last of thin prisms and tilted sensors.
fn lens_of(model: &str, given: &[f64]) -> Result<Distortion, CameraInfoError> {
    let own = match model {
        "plumb_bob" => 5,
        "rational_polynomial" => 8,
        _ => 4,
    };
    let told = given.iter().rposition(|coefficient| *coefficient != 0.0).map_or(0, |last| last + 1);
    let given = &given[..given.len().min(own.max(told))];
    Ok(match (model, given) {
        ("plumb_bob", &[]) => Distortion::PlumbBob([0.0; 5]),
        ("rational_polynomial", &[]) => Distortion::Rational([0.0; 8]),
        ("plumb_bob", &[k1, k2, p1, p2]) => Distortion::PlumbBob([k1, k2, p1, p2, 0.0]),
        ("plumb_bob", &[k1, k2, p1, p2, k3]) => Distortion::PlumbBob([k1, k2, p1, p2, k3]),
        ("rational_polynomial", &[a, b, c, d, e, f, g, h]) => {
            Distortion::Rational([a, b, c, d, e, f, g, h])
        }
        (fisheye, &[a, b, c, d]) if is_fisheye(fisheye) => Distortion::Equidistant([a, b, c, d]),
        ("plumb_bob", _) => {
            return Err(wrong(COEFFICIENTS, "must be 4 or 5 for plumb_bob", given.len()));
        }
        ("rational_polynomial", _) => {
            return Err(wrong(COEFFICIENTS, "must be 8 for rational_polynomial", given.len()));
        }
        (fisheye, _) if is_fisheye(fisheye) => {
            return Err(wrong(COEFFICIENTS, "must be 4 for equidistant", given.len()));
        }
        _ => return Err(CameraInfoError::Lens(model.to_owned())),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As camera_calibration writes it.
    const FRONT: &str = "image_width: 640
image_height: 480
camera_name: front
camera_matrix:
  rows: 3
  cols: 3
  data: [438.783367, 0.000000, 305.593336, 0.000000, 437.302876, 243.738352, 0, 0, 1]
distortion_model: plumb_bob
distortion_coefficients:
  rows: 1
  cols: 5
  data: [-0.361976, 0.110510, 0.001014, 0.000505, 0.000000]
rectification_matrix:
  rows: 3
  cols: 3
  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]
";

    fn lenses() -> [CameraInfo; 3] {
        let front = CameraInfo::parse(FRONT).unwrap();
        let rational = Distortion::Rational([0.9, 0.3, 1e-4, -2e-4, 0.02, 1.2, 0.5, 0.07]);
        let fisheye = Distortion::Equidistant([-0.02, 0.004, -0.003, 0.0006]);
        [
            front.clone(),
            CameraInfo { distortion: rational, ..front.clone() },
            CameraInfo { distortion: fisheye, focal: [230.0, 230.0], ..front },
        ]
    }

    #[test]
    fn a_file_of_ros_is_read_and_written() {
        let front = CameraInfo::parse(FRONT).unwrap();
        assert_eq!((front.width, front.height, front.name.as_str()), (640, 480, "front"));
        assert_eq!(front.focal, [438.783367, 437.302876]);
        for camera in lenses() {
            assert_eq!(CameraInfo::parse(&camera.to_yaml()).unwrap(), camera);
        }
        // block lists, as other tools write them
        let block = FRONT.replace(
            "data: [-0.361976, 0.110510, 0.001014, 0.000505, 0.000000]",
            "data:\n    - -0.361976\n    - 0.110510\n    - 0.001014\n    - 0.000505\n    - 0",
        );
        assert_eq!(CameraInfo::parse(&block).unwrap(), front);
    }

    #[test]
    fn a_fisheye_is_the_same_by_each_of_its_names() {
        let fisheye = &lenses()[2];
        for name in ["fisheye", "kannala_brandt"] {
            let text = fisheye.to_yaml().replace("equidistant", name);
            assert_eq!(CameraInfo::parse(&text).as_ref(), Ok(fisheye), "{name}");
            // Without a bend it still is no pinhole.
            let k = [230.0, 0.0, 320.0, 0.0, 230.0, 240.0, 0.0, 0.0, 1.0];
            let told = CameraInfo::of_message("f", (640, 480), &k, (name, &[0.0; 4])).unwrap();
            assert_eq!(told.distortion, Distortion::Equidistant([0.0; 4]), "{name}");
            let few = CameraInfo::of_message("f", (640, 480), &k, (name, &[0.1; 3]));
            assert!(few.is_err_and(|error| error.to_string().contains("must be 4")), "{name}");
        }
    }

    #[test]
    fn zeros_behind_the_models_own_are_left_out_and_no_coefficients_bend_nothing() {
        let k = [438.783367, 0.0, 305.593336, 0.0, 437.302876, 243.738352, 0.0, 0.0, 1.0];
        let told = |model: &str, given: &[f64]| {
            CameraInfo::of_message("front", (640, 480), &k, (model, given))
                .map(|camera| camera.distortion)
        };
        let read = |model: &str, data: &str| {
            let plain = "data: [-0.361976, 0.110510, 0.001014, 0.000505, 0.000000]";
            let text = FRONT.replace("plumb_bob", model).replace(plain, data);
            CameraInfo::parse(&text).map(|camera| camera.distortion)
        };
        let rational = [0.9, 0.3, 1e-4, -2e-4, 0.02, 1.2, 0.5, 0.07];
        for own in [8, 12, 14] {
            let mut given = rational.to_vec();
            given.resize(own, 0.0);
            let lens = Distortion::Rational(rational);
            assert_eq!(read("rational_polynomial", &format!("data: {given:?}")), Ok(lens), "{own}");
            assert_eq!(told("rational_polynomial", &given), Ok(lens), "{own}");
        }
        let plain = Distortion::PlumbBob([-0.2, 0.1, 0.0, 0.0, 0.0]);
        assert_eq!(read("plumb_bob", "data: [-0.2, 0.1, 0, 0, 0, 0, 0, 0]"), Ok(plain));
        assert_eq!(told("plumb_bob", &[-0.2, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Ok(plain));
        for nothing in ["data: []", "data:"] {
            assert_eq!(read("plumb_bob", nothing), Ok(Distortion::PlumbBob([0.0; 5])), "{nothing}");
            let rational = read("rational_polynomial", nothing);
            assert_eq!(rational, Ok(Distortion::Rational([0.0; 8])), "{nothing}");
            let fisheye = read("equidistant", nothing).unwrap_err().to_string();
            assert!(fisheye.contains("must be 4 for equidistant, found 0"), "{fisheye}");
        }
        for model in ["plumb_bob", "rational_polynomial", ""] {
            assert_eq!(told(model, &[]), Ok(Distortion::PlumbBob([0.0; 5])), "{model}");
            assert_eq!(told(model, &[0.0; 14]), Ok(Distortion::PlumbBob([0.0; 5])), "{model}");
        }
        // What bends is never dropped.
        let five = read("equidistant", "data: [0.1, 0.2, 0.3, 0.4, 0.5]").unwrap_err().to_string();
        assert!(five.contains("must be 4 for equidistant, found 5"), "{five}");
        let prism = "data: [0.9, 0.3, 0, 0, 0.02, 1.2, 0.5, 0.07, 0, 0.001, 0, 0]";
        let prism = read("rational_polynomial", prism).unwrap_err().to_string();
        assert!(prism.contains("must be 8 for rational_polynomial, found 10"), "{prism}");
    }

    #[test]
    fn what_is_wrong_is_said_exactly() {
        for (from, to, says) in [
            ("image_width: 640\n", "", "`image_width` is missing"),
            (
                "image_width: 640",
                "image_width: -3",
                "`image_width` must be 1–65535 px, found Integer(-3)",
            ),
            ("camera_matrix:", "matrix:", "`camera_matrix` is missing"),
            ("[438.783367, ", "[", "`camera_matrix` must have 9 numbers in `data`, found 8"),
            ("438.783367", "-4", "with fx and fy above 0"),
            ("438.783367", ".nan", "must have a list of numbers"),
            ("plumb_bob", "thin_prism", "`distortion_model` is \"thin_prism\"; plumb_bob,"),
            (
                "0.000505, 0.000000",
                "",
                "`distortion_coefficients` must be 4 or 5 for plumb_bob, found 3",
            ),
            ("camera_name: front", "camera_name: *front", "anchors"),
            ("camera_name: front", "camera_name: &front f", "anchors"),
            ("camera_name: front", "camera_name: !!str front", "anchors"),
            ("camera_name: front", "camera_name: [", "it is no YAML"),
        ] {
            let error = CameraInfo::parse(&FRONT.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(says), "{to}: {error}");
        }
        for text in ["", "[1, 2]", "front"] {
            assert!(CameraInfo::parse(text).is_err());
        }
        assert!(CameraInfo::parse(&"[".repeat(60_000)).is_err());
        assert!(CameraInfo::parse(&"- ".repeat(30_000)).is_err());
    }

    #[test]
    fn what_is_an_anchor_or_a_tag_elsewhere_is_plain_text_in_comments_and_names() {
        let front = CameraInfo::parse(FRONT).unwrap();
        let said = format!("# 2.8mm & wide! *new*\n{FRONT}note: f/2 & *wide*!\n");
        assert_eq!(CameraInfo::parse(&said), Ok(front));
        let quoted = FRONT.replace("camera_name: front", "camera_name: \"&front *left* !\"");
        assert_eq!(CameraInfo::parse(&quoted).unwrap().name, "&front *left* !");
    }

    #[test]
    fn a_ray_that_is_projected_is_found_again() {
        for camera in lenses() {
            for (x, y) in [(-0.5, -0.3), (0.0, 0.0), (0.4, 0.35), (0.55, -0.38), (0.02, 0.3)] {
                let length = f64::hypot(f64::hypot(x, y), 1.0);
                let [u, v] = camera.project([x, y, 1.0]).unwrap();
                let ray = camera.ray(u, v).unwrap();
                for (found, true_one) in ray.iter().zip([x, y, 1.0]) {
                    assert!((found - true_one / length).abs() < 1e-6, "{camera:?} {x} {y} {ray:?}");
                }
            }
        }
        // beyond 90 degrees, where only a fisheye sees
        let fisheye = &lenses()[2];
        let [u, v] = fisheye.project([1.0, 0.2, -0.1]).unwrap();
        let [x, _, z] = fisheye.ray(u, v).unwrap();
        assert!((z / x + 0.1).abs() < 1e-6);
        assert_eq!(lenses()[0].project([0.0, 0.0, -1.0]), None);
    }

    #[test]
    fn a_face_two_metres_to_the_left_and_above_is_where_it_is() {
        for camera in lenses() {
            // the head's middle at (-0.8, -0.3, 2.0) m, looking at the camera's plane
            let seen = |x: f64, y: f64| {
                let [u, v] = camera.project([-0.8 + x, -0.3 + y, 2.0]).unwrap();
                Point { x: u as f32, y: v as f32 }
            };
            let (eye, mouth) = (0.5 * EYES_M, 0.025);
            let (up, down) = (-0.5 * EYES_TO_MOUTH_M, 0.5 * EYES_TO_MOUTH_M);
            let landmarks = [
                seen(-eye, up),
                seen(eye, up),
                seen(0.0, 0.0),
                seen(-mouth, down),
                seen(mouth, down),
            ];
            let bearing = camera.bearing_of_face(seen(0.0, 0.0), &landmarks).unwrap();
            let distance = f64::hypot(f64::hypot(0.8, 0.3), 2.0);
            assert!((f64::from(bearing.azimuth) - 0.8_f64.atan2(2.0)).abs() < 1e-3, "{bearing:?}");
            assert!((f64::from(bearing.elevation) - (0.3 / distance).asin()).abs() < 1e-3);
            let found = f64::from(bearing.distance.unwrap());
            assert!((found / distance - 1.0).abs() < 0.1, "{found} of {distance}");
            // of half the size: the same direction
            let half = camera.scaled_to(320, 240).unwrap();
            let at = seen(0.0, 0.0);
            let at = Point { x: (at.x + 0.5) * 0.5 - 0.5, y: (at.y + 0.5) * 0.5 - 0.5 };
            let again = half.bearing(at).unwrap();
            assert!((again.azimuth - bearing.azimuth).abs() < 1e-4);
            assert_eq!(camera.scaled_to(640, 360), None, "a picture that is cut");
        }
    }

    #[test]
    fn a_field_of_view_is_enough_for_a_pinhole() {
        let camera = CameraInfo::pinhole("any", 640, 480, 60_f64.to_radians());
        let edge = camera.bearing(Point { x: -0.5, y: 239.5 }).unwrap();
        assert!((edge.azimuth.to_degrees() - 30.0).abs() < 0.01 && edge.elevation.abs() < 1e-6);
    }

    /// SplitMix64.
    fn roll(state: &mut u64) -> usize {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((z ^ (z >> 27)) >> 16) as usize
    }

    #[test]
    fn mutated_files_never_panic_and_what_is_read_can_be_used() {
        let pieces = [
            "[", "- ", "{", ": ", "1e308", "-1e-300", "\n", "  ", "data:", "\"", "0", "#", "&a ",
            "*a", "!",
        ];
        let mut state = 7;
        let mut read = 0;
        for run in 0..20_000_u64 {
            let seeds = lenses();
            let mut text = if run % 4 == 0 {
                FRONT.to_owned().into_bytes()
            } else {
                seeds[run as usize % 3].to_yaml().into_bytes()
            };
            for _ in 0..=roll(&mut state) % 4 {
                let at = roll(&mut state) % text.len().max(1);
                match roll(&mut state) % 4 {
                    0 => text.truncate(at),
                    1 if !text.is_empty() => text[at] = 32 + (roll(&mut state) % 95) as u8,
                    2 => {
                        let piece = pieces[roll(&mut state) % pieces.len()];
                        text.splice(at..at, piece.bytes());
                    }
                    _ => {
                        let end = (at + roll(&mut state) % 24).min(text.len());
                        text.drain(at..end);
                    }
                }
            }
            let text = String::from_utf8_lossy(&text);
            let Ok(camera) = CameraInfo::parse(&text) else { continue };
            read += 1;
            for at in [Point { x: 0.0, y: 0.0 }, Point { x: 639.0, y: 100.0 }] {
                if let Some(bearing) = camera.bearing(at) {
                    assert!(bearing.azimuth.is_finite() && bearing.elevation.is_finite(), "{text}");
                }
            }
            assert_eq!(CameraInfo::parse(&camera.to_yaml()).map(|c| c.focal), Ok(camera.focal));
        }
        assert!(read > 1_000, "{read}");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_fall_over(text in "\\PC{0,200}") {
            let _ = CameraInfo::parse(&text);
        }
    }
}
