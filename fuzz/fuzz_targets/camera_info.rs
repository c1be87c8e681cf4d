//! ROS CameraInfo files, and what is done with a camera that was read.
#![no_main]

use engram::camera::CameraInfo;
use engram::geometry::Point;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(camera) = CameraInfo::parse(text) else { return };
    for at in [Point { x: 0.0, y: 0.0 }, Point { x: 639.0, y: 100.0 }] {
        if let Some(bearing) = camera.bearing(at) {
            assert!(bearing.azimuth.is_finite() && bearing.elevation.is_finite());
        }
    }
    let again = CameraInfo::parse(&camera.to_yaml()).expect("what is written is read");
    assert_eq!(again.focal, camera.focal);
});
