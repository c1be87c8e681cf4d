//! Whose calibrations a bag tells.
//!
//! Whose calibration a message is, is said by names, as `image_pipeline` has it: `/cam/camera_info` belongs to
//! `/cam/image_raw` and `/cam/image_raw/compressed`. Where names say nothing, the frame id does.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::connection::{Connection, Container, Found};
use super::decode::camera_info::ToldCamera;
use super::decode::field::{Refused, frame_id};
use super::decode::message::Decoded;
use super::decode::role::{Kind, Role};
use crate::camera::CameraInfo;
use crate::capture::damage::Cause;
use crate::capture::error::CaptureError;

/// Calibrations are told with the first pictures; after this many messages they are no longer looked for.
const LOOKED_THROUGH: usize = 500;

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
    pub(in crate::capture::bag) fn of_bag(bag: &dyn Container) -> Result<Self, CaptureError> {
        let tells = |connection: &Connection| connection.role == Some(Role::CameraInfo);
        let shows =
            |connection: &Connection| connection.role.and_then(Role::kind) == Some(Kind::Camera);
        let mut infos = Self::default();
        let mut expected = std::collections::BTreeSet::new();
        for connection in bag.connections() {
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
        let mut reader = bag.reader(&|connection| tells(connection) || shows(connection))?;
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
                image.frame = Some(frame_id(&values).unwrap_or_default());
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
