//! Cameras' calibrations out of a bag: `sensor_msgs/CameraInfo` and `foxglove.CameraCalibration`.

use super::field::{Refused, count, frame_id, text};
use super::value::Value;
use crate::camera::{CameraInfo, CameraInfoError};

/// What one message tells of a camera.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldCamera {
    /// Its coordinate frame; may be empty.
    pub frame: String,
    /// For pictures as the lens bends them; `None`: the camera is not calibrated.
    pub raw: Option<CameraInfo>,
    /// For pictures that are rectified; `None`: it does not say.
    pub rectified: Option<CameraInfo>,
}

/// Reads a message's values.
///
/// # Errors
/// When a field is missing, or the lens is none that is understood.
pub(in crate::capture::bag) fn told_camera(message: &Value<'_>) -> Result<ToldCamera, Refused> {
    let frame = frame_id(message).unwrap_or_default();
    let (width, height) = (count(message, "width")?, count(message, "height")?);
    let model = text(message, "distortion_model").unwrap_or_default();
    // ROS 2 writes the matrices small, ROS 1 and Foxglove large.
    let matrix = |small: &str, large: &str| {
        numbers(message.get(small).or_else(|| message.get(large)))
            .map_err(|()| Refused::Malformed(format!("no usable field {small}")))
    };
    let (k, d, p) = (matrix("k", "K")?, matrix("d", "D")?, matrix("p", "P")?);
    let sensor = Sensor::of(message, (width, height));
    let refused = |error: CameraInfoError| Refused::Undecodable(error.to_string());
    // K[0] = 0: not calibrated, says CameraInfo.msg.
    let is_known = |matrix: &[f64]| matrix.first().is_some_and(|focal| *focal != 0.0);
    let size = sensor.size;
    let raw = is_known(&k)
        .then(|| CameraInfo::of_message(&frame, size, &sensor.seen(&k), (model, &d)))
        .transpose()
        .map_err(refused)?;
    let rectified = match *p.as_slice() {
        [fx, a, cx, _, b, fy, cy, _, c, e, one, _] if fx != 0.0 => {
            let k = [fx, a, cx, b, fy, cy, c, e, one];
            Some(CameraInfo::of_message(&frame, size, &sensor.seen(&k), ("", &[])))
        }
        _ => None,
    };
    Ok(ToldCamera { frame, raw, rectified: rectified.transpose().map_err(refused)? })
}

/// The numbers of a list; none where there is no such field.
fn numbers(value: Option<&Value<'_>>) -> Result<Vec<f64>, ()> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let list = value.list().ok_or(())?;
    list.iter().map(|one| one.float().ok_or(())).collect()
}

/// The part of the sensor that is delivered, and how coarsely: the matrices are those of the whole, fine sensor.
struct Sensor {
    /// Of the pictures, px.
    size: (u32, u32),
    offset: [f64; 2],
    binning: [f64; 2],
}

impl Sensor {
    fn of(message: &Value<'_>, whole: (u32, u32)) -> Self {
        let number = |path: &str| message.at(path).and_then(Value::count).unwrap_or(0);
        let binning = [number("binning_x").max(1), number("binning_y").max(1)];
        let cut = (number("roi.width"), number("roi.height"));
        let (width, height) = if cut.0 > 0 && cut.1 > 0 { cut } else { whole };
        Self {
            size: (width / binning[0], height / binning[1]),
            offset: ["roi.x_offset", "roi.y_offset"].map(|path| f64::from(number(path))),
            binning: binning.map(f64::from),
        }
    }

    /// The matrix of the pictures, as `image_geometry` computes it.
    fn seen(&self, k: &[f64]) -> Vec<f64> {
        let mut k = k.to_vec();
        for (row, (offset, binning)) in self.offset.iter().zip(self.binning).enumerate() {
            if let Some(focal) = k.get_mut(4 * row) {
                *focal /= binning;
            }
            if let Some(centre) = k.get_mut(3 * row + 2) {
                *centre = (*centre - offset) / binning;
            }
        }
        k
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::camera::Distortion;
    use crate::capture::bag::connection::Connection;
    use crate::capture::bag::decode::cdr::Cdr;
    use crate::capture::bag::decode::message::Decoded;

    const K: [f64; 9] = [400.0, 0.0, 320.0, 0.0, 410.0, 240.0, 0.0, 0.0, 1.0];
    const P: [f64; 12] = [380.0, 0.0, 310.0, 0.0, 0.0, 390.0, 230.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    const D: [f64; 5] = [-0.3, 0.1, 0.001, 0.0005, 0.0];

    /// `sensor_msgs/CameraInfo` behind its header; ROI: offset 40, 20 of 320x240, binned by 2.
    fn body(cdr: Cdr, d: &[f64], cut: bool) -> Vec<u8> {
        let all = |cdr: Cdr, values: &[f64]| values.iter().fold(cdr, |cdr, value| cdr.f64(*value));
        let cdr = cdr.u32(480).u32(640).text("plumb_bob");
        let cdr = all(cdr.u32(u32::try_from(d.len()).unwrap()), d);
        let cdr = all(all(all(cdr, &K), &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), &P);
        let roi = if cut { [2, 2, 40, 20, 240, 320] } else { [0; 6] };
        roi.into_iter().fold(cdr, Cdr::u32).u8(0).message()
    }

    fn decoded(schema: &str, encoding: &str, data: &[u8]) -> ToldCamera {
        let (connection, flaw) = Connection::new("t", schema, encoding, None);
        assert_eq!(flaw, None);
        match connection.decode(data).unwrap().unwrap() {
            Decoded::Camera(told) => *told,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_encoding_tells_the_same_camera() {
        let ros2 = Cdr::ros2().u32(5).u32(6).text("optical");
        let ros1 = Cdr::ros1().u32(1).u32(5).u32(6).text("/optical");
        let told = decoded("sensor_msgs/msg/CameraInfo", "cdr", &body(ros2, &D, false));
        let raw = told.raw.as_ref().unwrap();
        assert_eq!(told.frame, "optical");
        assert_eq!(
            (raw.width, raw.height, raw.focal, raw.centre),
            (640, 480, [400.0, 410.0], [320.0, 240.0])
        );
        assert_eq!(raw.distortion, Distortion::PlumbBob(D));
        let rectified = told.rectified.as_ref().unwrap();
        assert_eq!((rectified.focal, rectified.centre), ([380.0, 390.0], [310.0, 230.0]));
        assert_eq!(rectified.distortion, Distortion::PlumbBob([0.0; 5]));
        assert_eq!(decoded("sensor_msgs/CameraInfo", "ros1", &body(ros1, &D, false)), told);
        let json = serde_json::json!({
            "timestamp": {"sec": 5, "nsec": 6}, "frame_id": "optical", "width": 640, "height": 480,
            "distortion_model": "plumb_bob", "D": D, "K": K, "R": [1, 0, 0, 0, 1, 0, 0, 0, 1], "P": P,
        });
        let json = json.to_string();
        assert_eq!(decoded("foxglove.CameraCalibration", "json", json.as_bytes()), told);
        // One that was never calibrated.
        let none = json.replace("400.0", "0.0").replace("380.0", "0.0");
        let none = decoded("foxglove.CameraCalibration", "json", none.as_bytes());
        assert_eq!((none.raw, none.rectified), (None, None));
    }

    #[test]
    fn foxgloves_name_of_a_fisheye_is_known() {
        let bend = [-0.02, 0.004, -0.003, 0.0006];
        let json = serde_json::json!({
            "timestamp": {"sec": 5, "nsec": 6}, "frame_id": "wide", "width": 640, "height": 480,
            "distortion_model": "kannala_brandt", "D": bend, "K": K, "R": [], "P": [],
        });
        let data = json.to_string();
        let told = decoded("foxglove.CameraCalibration", "json", data.as_bytes());
        assert_eq!(told.raw.unwrap().distortion, Distortion::Equidistant(bend));
    }

    #[test]
    fn a_sensor_that_is_cut_and_binned_has_another_matrix() {
        let ros2 = Cdr::ros2().u32(5).u32(6).text("optical");
        let told = decoded("sensor_msgs/msg/CameraInfo", "cdr", &body(ros2, &[], true));
        let raw = told.raw.unwrap();
        assert_eq!((raw.width, raw.height), (160, 120));
        assert_eq!((raw.focal, raw.centre), ([200.0, 205.0], [140.0, 110.0]));
    }
}
