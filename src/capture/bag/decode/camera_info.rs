//! Cameras' calibrations out of a bag: `sensor_msgs/CameraInfo` and `foxglove.CameraCalibration`.
//!
//! Whose calibration a message is, is said by names, as `image_pipeline` has it: `/cam/camera_info` belongs to
//! `/cam/image_raw` and `/cam/image_raw/compressed`. Where names say nothing, the frame id does.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::message;
use super::message::{Decoded, Refused, Role};
use super::value::Value;
use crate::camera::{CameraInfo, CameraInfoError};
use crate::capture::bag::{Bag, Connection, Found, Kind};
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;

/// Calibrations are told with the first pictures; after this many messages they are no longer looked for.
const LOOKED_THROUGH: usize = 500;

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
    let frame = message::frame_id(message).unwrap_or_default();
    let (width, height) = (message::count(message, "width")?, message::count(message, "height")?);
    let model = message::text(message, "distortion_model").unwrap_or_default();
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

/// A topic of pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ImageTopic {
    /// Its name ends in that of the transport.
    transported: bool,
    frame: Option<String>,
}

/// The calibrations of a bag, and the topics that they may be about.
#[derive(Clone, Debug, Default)]
pub struct CameraInfos {
    told: BTreeMap<Arc<str>, ToldCamera>,
    images: BTreeMap<Arc<str>, ImageTopic>,
    /// What could not be used; the first of each topic.
    flaws: BTreeMap<Arc<str>, (Cause, String)>,
}

impl CameraInfos {
    /// Reads the first calibration of each topic, if there are any.
    pub(in crate::capture::bag) fn of_bag(bag: &Bag) -> Result<Self, CaptureError> {
        let tells = |connection: &Connection| connection.role == Some(Role::CameraInfo);
        let shows =
            |connection: &Connection| connection.role.and_then(Role::kind) == Some(Kind::Camera);
        let mut infos = Self::default();
        let mut expected = std::collections::BTreeSet::new();
        for connection in bag.container.connections() {
            if tells(&connection) {
                expected.insert(Arc::clone(&connection.topic));
            } else if shows(&connection) {
                let raw = connection.role == Some(Role::Image);
                let image = ImageTopic { transported: !raw, frame: None };
                infos.images.insert(Arc::clone(&connection.topic), image);
            }
        }
        if expected.is_empty() {
            return Ok(infos);
        }
        let mut reader = bag.reader(|connection| tells(connection) || shows(connection))?;
        for _ in 0..LOOKED_THROUGH {
            let Some(found) = reader.next() else { break };
            let Found::Message(message) = found else { continue };
            infos.look(&message.connection, &message.data);
            let framed = infos.images.values().all(|image| image.frame.is_some());
            if framed && infos.told.len() == expected.len() {
                break;
            }
        }
        Ok(infos)
    }

    fn look(&mut self, connection: &Connection, data: &[u8]) {
        let topic = &connection.topic;
        if connection.role != Some(Role::CameraInfo) {
            if let Some(image) = self.images.get_mut(topic).filter(|image| image.frame.is_none())
                && let Ok(values) = connection.values(data)
            {
                image.frame = Some(message::frame_id(&values).unwrap_or_default());
            }
            return;
        }
        if self.told.contains_key(topic) {
            return;
        }
        let (cause, why) = match connection.decode(data) {
            Some(Ok(Decoded::Camera(told))) => {
                self.told.insert(Arc::clone(topic), *told);
                return;
            }
            Some(Err(Refused::Malformed(why))) => (Cause::BadMessage, why),
            Some(Err(Refused::Undecodable(why))) => (Cause::Undecodable, why),
            _ => return,
        };
        let place = format!("{topic}: {why}");
        self.flaws.entry(Arc::clone(topic)).or_insert((cause, place));
    }

    /// What could not be used of them.
    pub(in crate::capture::bag) fn flaws(&self) -> impl Iterator<Item = &(Cause, String)> {
        self.flaws.values()
    }

    /// Takes over what another bag of the same recording tells.
    pub(in crate::capture) fn merge(&mut self, other: &Self) {
        for (topic, told) in &other.told {
            self.told.entry(Arc::clone(topic)).or_insert_with(|| told.clone());
        }
        for (topic, image) in &other.images {
            self.images.entry(Arc::clone(topic)).or_insert_with(|| image.clone());
        }
    }

    /// The calibration of an image topic's pictures.
    #[must_use]
    pub fn of_topic(&self, topic: &str) -> Option<CameraInfo> {
        let image = self.images.get(topic)?;
        // `/cam/image_raw/compressed` is a way to send `/cam/image_raw`.
        let sent = folder(topic).filter(|_| image.transported);
        let told = self.by_name(topic, sent).or_else(|| self.by_frame(image.frame.as_deref()?))?;
        let is_rectified = |topic: &str| {
            topic.rsplit('/').next().is_some_and(|name| name.starts_with("image_rect"))
        };
        let rectified = is_rectified(topic) || sent.is_some_and(is_rectified);
        if rectified { told.rectified.clone() } else { told.raw.clone() }
    }

    /// `<topic>/camera_info`; else in the topic's folder, or in that of the one that is sent, `camera_info`, else the
    /// only one there.
    fn by_name(&self, topic: &str, sent: Option<&str>) -> Option<&ToldCamera> {
        let named = |name: &str| self.told.get(name);
        let places = std::iter::once(folder(topic)).chain(sent.map(folder));
        named(&format!("{topic}/camera_info")).or_else(|| {
            places.into_iter().find_map(|place| {
                let name = place.map_or_else(
                    || "camera_info".to_owned(),
                    |place| format!("{place}/camera_info"),
                );
                let there = self.told.iter().filter(|(name, _)| folder(name) == place);
                named(&name).or_else(|| only(there))
            })
        })
    }

    fn by_frame(&self, frame: &str) -> Option<&ToldCamera> {
        only(self.told.iter().filter(|(_, told)| !frame.is_empty() && told.frame == frame))
    }
}

/// The topic's name without its last part.
fn folder(topic: &str) -> Option<&str> {
    topic.rsplit_once('/').map(|(folder, _)| folder)
}

/// The value, where there is but one.
fn only<'a, K: 'a, V: 'a>(mut found: impl Iterator<Item = (&'a K, &'a V)>) -> Option<&'a V> {
    let (_, first) = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::camera::Distortion;
    use crate::capture::bag::decode::cdr::Cdr;

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

    /// Calibrations whose focal length says which they are.
    fn infos(told: &[(&str, &str, f64)], images: &[(&str, bool, &str)]) -> CameraInfos {
        let camera = |focal: f64| {
            let k = [focal, 0.0, 320.0, 0.0, focal, 240.0, 0.0, 0.0, 1.0];
            CameraInfo::of_message("", (640, 480), &k, ("", &[])).unwrap()
        };
        let mut infos = CameraInfos::default();
        for (topic, frame, focal) in told {
            let (raw, rectified) = (Some(camera(*focal)), Some(camera(focal + 0.5)));
            let told = ToldCamera { frame: (*frame).to_owned(), raw, rectified };
            infos.told.insert((*topic).into(), told);
        }
        for (topic, transported, frame) in images {
            let frame = Some((*frame).to_owned());
            infos.images.insert((*topic).into(), ImageTopic { transported: *transported, frame });
        }
        infos
    }

    #[test]
    fn a_calibration_belongs_to_the_pictures_beside_it_else_to_those_of_its_frame() {
        let infos = infos(
            &[
                ("/left/camera_info", "left", 1.0),
                ("/right/camera_info", "right", 2.0),
                ("front/camera_info", "front", 3.0),
                ("/foxglove/calibration", "fox", 4.0),
                ("/camera_info", "root", 5.0),
            ],
            &[
                ("/left/image_raw", false, "right"),
                ("/left/image_raw/compressed", true, ""),
                ("/right/image_rect_color/compressed", true, ""),
                ("front", true, "front"),
                ("/foxglove/image", true, ""),
                ("/elsewhere/image", false, "right"),
                ("/elsewhere/other", false, "nobody"),
                ("/image", false, ""),
            ],
        );
        let focal = |topic: &str| infos.of_topic(topic).map(|camera| camera.focal[0]);
        assert_eq!(focal("/left/image_raw"), Some(1.0), "the name counts more than the frame");
        assert_eq!(focal("/left/image_raw/compressed"), Some(1.0));
        assert_eq!(focal("/right/image_rect_color/compressed"), Some(2.5), "rectified");
        assert_eq!(focal("front"), Some(3.0));
        assert_eq!(focal("/foxglove/image"), Some(4.0));
        assert_eq!(focal("/elsewhere/image"), Some(2.0));
        assert_eq!(focal("/elsewhere/other"), None);
        assert_eq!(focal("/image"), Some(5.0));
        assert_eq!(focal("/no/such"), None);
    }
}
