//! A colour chart is seen as it was painted, whatever way it takes: JPEG, H.264 of either range and every matrix, planes as a
//! camera gives them, images in bags. The chart's YUV is worked out here, by the standards' own formulas.

use std::path::Path;
use std::time::{Duration, Instant};

use image::RgbImage;

use super::generated_tests::{frames, items, make};
use super::imaging::picture;
use super::imaging::picture::to_rgb;
use super::imaging::raw_image::RawImage;
use super::live::tests::{camera, quick};
use super::*;
use crate::config::Window;
use crate::media::{Frame, Item};

/// How far a colour may be off, of 255.
const MOST_OFF: u8 = 2;
/// Patches in a row, and rows.
const PATCHES: (u32, u32) = (6, 4);
const PATCH: u32 = 64;
/// Dark and light grey, skin, primaries, mixtures.
const COLOURS: [[u8; 3]; 24] = [
    [0, 0, 0],
    [8, 8, 8],
    [16, 16, 16],
    [64, 64, 64],
    [128, 128, 128],
    [235, 235, 235],
    [250, 250, 250],
    [255, 255, 255],
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 0],
    [0, 255, 255],
    [255, 0, 255],
    [224, 172, 105],
    [141, 85, 36],
    [198, 134, 66],
    [241, 194, 125],
    [92, 64, 51],
    [30, 60, 90],
    [200, 40, 40],
    [40, 160, 70],
    [60, 70, 190],
    [120, 200, 220],
];

fn painted(x: u32, y: u32) -> [u8; 3] {
    COLOURS[(y / PATCH * PATCHES.0 + x / PATCH) as usize % COLOURS.len()]
}

/// The chart, or that much of it.
pub(super) fn chart(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| image::Rgb(painted(x, y)))
}

const WHOLE: (u32, u32) = (PATCHES.0 * PATCH, PATCHES.1 * PATCH);

/// Range and matrix of YUV.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coding {
    /// As GStreamer names it.
    pub(super) colorimetry: &'static str,
    full: bool,
    /// Shares of red and blue in brightness (ITU-T H.273, table 4).
    kr: f64,
    kb: f64,
}

const fn coding(colorimetry: &'static str, full: bool, (kr, kb): (f64, f64)) -> Coding {
    Coding { colorimetry, full, kr, kb }
}

const BT601: (f64, f64) = (0.299, 0.114);
const BT709: (f64, f64) = (0.2126, 0.0722);
const BT2020: (f64, f64) = (0.2627, 0.0593);
/// What there is: range, matrix, transfer, primaries.
pub(super) const CODINGS: [Coding; 6] = [
    coding("bt601", false, BT601),
    coding("bt709", false, BT709),
    coding("bt2020", false, BT2020),
    coding("1:4:0:0", true, BT601),
    coding("1:3:5:1", true, BT709),
    coding("1:6:5:7", true, BT2020),
];

impl Coding {
    /// Y, U, V of a colour.
    fn yuv(self, [r, g, b]: [u8; 3]) -> [u8; 3] {
        let [r, g, b] = [r, g, b].map(|value| f64::from(value) / 255.0);
        let y = self.kr * r + (1.0 - self.kr - self.kb) * g + self.kb * b;
        let (u, v) = ((b - y) / (2.0 - 2.0 * self.kb), (r - y) / (2.0 - 2.0 * self.kr));
        let byte = |value: f64| value.round().clamp(0.0, 255.0) as u8;
        if self.full {
            [byte(255.0 * y), byte(128.0 + 255.0 * u), byte(128.0 + 255.0 * v)]
        } else {
            [byte(16.0 + 219.0 * y), byte(128.0 + 224.0 * u), byte(128.0 + 224.0 * v)]
        }
    }

    /// One plane of the chart, of each `step`th pixel: which of Y, U, V lie in it side by side, and bytes from row to row.
    fn plane(
        self,
        picture: &RgbImage,
        step: usize,
        values: &[usize],
        stride: usize,
        bytes: &mut Vec<u8>,
    ) {
        for y in (0..picture.height()).step_by(step) {
            let begin = bytes.len();
            for x in (0..picture.width()).step_by(step) {
                let yuv = self.yuv(picture.get_pixel(x, y).0);
                bytes.extend(values.iter().map(|value| yuv[*value]));
            }
            assert!(bytes.len() - begin <= stride);
            bytes.resize(begin + stride, 77);
        }
    }

    /// The chart as I420: rows of Y of `stride` bytes, those of U and V of half of it.
    pub(super) fn i420(self, picture: &RgbImage, stride: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (value, step) in [(0, 1), (1, 2), (2, 2)] {
            self.plane(picture, step, &[value], stride / step, &mut bytes);
        }
        bytes
    }

    fn nv12(self, picture: &RgbImage, stride: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.plane(picture, 1, &[0], stride, &mut bytes);
        self.plane(picture, 2, &[1, 2], stride, &mut bytes);
        bytes
    }
}

/// Compares the middle of every patch.
#[track_caller]
pub(super) fn is_chart(seen: &RgbImage, what: &str) {
    let mut compared = 0;
    for (n, colour) in COLOURS.iter().enumerate() {
        let (column, row) = (n as u32 % PATCHES.0, n as u32 / PATCHES.0);
        // Away from the next patch, whose colour bleeds in.
        for (dx, dy) in [(32, 32), (24, 24), (40, 33)] {
            let (x, y) = (column * PATCH + dx, row * PATCH + dy);
            let Some(pixel) = seen.get_pixel_checked(x, y) else { continue };
            compared += 1;
            let off = pixel.0.iter().zip(colour).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
            assert!(off <= MOST_OFF, "{what}: {colour:?} is seen as {:?}", pixel.0);
        }
    }
    assert!(compared >= 3 * 12, "{what}: {compared}");
}

/// Everything that a recording shows is the chart.
#[track_caller]
fn is_played(path: &Path, what: &str) {
    let (played, damage) = items(path);
    assert!(damage.is_empty(), "{what}: {damage}");
    let shown = frames(&played);
    assert!(shown.len() >= 3, "{what}: {} pictures", shown.len());
    shown.iter().for_each(|frame| is_chart(&to_rgb(frame).unwrap(), what));
}

/// What a camera of that launch description sees.
#[track_caller]
fn is_seen_live(text: &str, what: &str) -> Vec<Frame> {
    let cameras = [camera("c", text)];
    let mut live =
        LiveSources::start_at(&cameras, &[], &Window::default(), FramesWanted::All, quick())
            .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let mut seen = Vec::new();
    while seen.len() < 4 && Instant::now() < until {
        if let Some(Item::Frame(frame)) = live.next(Duration::from_millis(50)) {
            seen.push(frame);
        }
    }
    assert_eq!(seen.len(), 4, "{what}: {:?}", live.health());
    seen.iter().for_each(|frame| is_chart(&to_rgb(frame).unwrap(), what));
    seen
}

/// A file of so many such pictures, and the elements that read it: those of a camera or of an encoder's input.
fn raw(folder: &Path, picture: &[u8], count: usize, form: &str) -> String {
    let path = folder.join("chart.raw");
    std::fs::write(&path, picture.repeat(count)).unwrap();
    format!(
        "filesrc location=\"{}\" blocksize={} ! rawvideoparse framerate=20/1 {form}",
        path.display(),
        picture.len()
    )
}

fn there(elements: &[&str]) -> bool {
    gst::init().unwrap();
    let missing = elements.iter().find(|one| gstreamer::ElementFactory::find(one).is_none());
    missing.inspect(|one| eprintln!("SKIPPED: {one} is not installed")).is_none()
}

#[test]
fn a_chart_in_motion_jpeg_is_seen_as_it_was_painted() {
    let folder = tempfile::tempdir().unwrap();
    let (width, height) = WHOLE;
    let form = format!("format=rgb width={width} height={height}");
    let reader = raw(folder.path(), chart(width, height).as_raw(), 5, &form);
    let path = folder.path().join("chart.avi");
    make(&format!(
        "{reader} ! jpegenc quality=100 ! avimux ! filesink location=\"{}\"",
        path.display()
    ));
    is_played(&path, "a file");
    // As from a webcam, by what `v4l2.launch` has behind its source.
    let v4l2 = gst::launch::paragraphs(&gst::launch::find("v4l2").unwrap(), "x").remove(0);
    let (_, behind) = v4l2.split_once('!').unwrap();
    let source = format!("filesrc location=\"{}\"", path.display());
    let behind = behind.replace("sync=false", "sync=true");
    is_seen_live(&format!("{source} ! {behind}"), "v4l2");
}

#[test]
fn a_chart_in_h264_of_either_range_and_every_matrix_is_seen_as_it_was_painted() {
    if !there(&["x264enc", "avdec_h264"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (width, height) = WHOLE;
    for coding in CODINGS {
        let bytes = coding.i420(&chart(width, height), width as usize);
        let colorimetry = coding.colorimetry;
        let form = format!("format=i420 width={width} height={height} colorimetry={colorimetry}");
        let reader = raw(folder.path(), &bytes, 5, &form);
        let path = folder.path().join("chart.mkv");
        make(&format!(
            "{reader} ! x264enc speed-preset=ultrafast pass=qual quantizer=1 ! h264parse ! matroskamux \
             ! filesink location=\"{}\"",
            path.display()
        ));
        is_played(&path, colorimetry);
    }
}

#[test]
fn a_chart_in_planes_of_any_stride_is_seen_live_as_it_was_painted() {
    let folder = tempfile::tempdir().unwrap();
    for (coding, (width, height)) in
        CODINGS.into_iter().zip([WHOLE, (383, 251)].into_iter().cycle())
    {
        let (picture, colorimetry) = (chart(width, height), coding.colorimetry);
        let stride = (width as usize).next_multiple_of(4) + 20;
        let bytes = coding.nv12(&picture, stride);
        let chroma = stride * height as usize;
        let form = format!(
            "format=nv12 width={width} height={height} colorimetry={colorimetry} \
             plane-strides=\"<{stride},{stride}>\" plane-offsets=\"<0,{chroma}>\" frame-size={}",
            bytes.len()
        );
        let reader = raw(folder.path(), &bytes, 40, &form);
        let text = format!("{reader} ! appsink name=video sync=true");
        let seen = is_seen_live(&text, &format!("NV12, {colorimetry}"));
        assert_eq!((seen[0].width, seen[0].height), (width, height));
    }
}

#[test]
fn a_chart_in_images_of_bags_is_seen_as_it_was_painted() {
    let limited = CODINGS[0];
    for (width, height) in [WHOLE, (383, 251)] {
        let picture = chart(width, height);
        let (wide, even) = (width as usize, (width as usize).next_multiple_of(2));
        let pairs = |places: [usize; 4]| {
            let mut bytes = Vec::new();
            for row in picture.rows() {
                let row: Vec<[u8; 3]> = row.map(|pixel| limited.yuv(pixel.0)).collect();
                for pair in row.chunks(2) {
                    let (first, second) = (pair[0], *pair.last().unwrap());
                    let all = [first[0], first[1], second[0], first[2]];
                    bytes.extend(places.map(|place| all[place]));
                }
                bytes.extend([9; 6]);
            }
            bytes
        };
        let planar = |values: [usize; 2], step: usize| {
            let mut bytes = Vec::new();
            limited.plane(&picture, 1, &[0], even + 5, &mut bytes);
            let stride = if step == 1 { 2 * (even + 5) } else { even + 5 };
            limited.plane(&picture, step, &values, stride, &mut bytes);
            bytes
        };
        let bgr: Vec<u8> = picture.pixels().flat_map(|p| [p.0[2], p.0[1], p.0[0]]).collect();
        for (encoding, step, data) in [
            ("rgb8", 3 * wide, picture.as_raw().clone()),
            ("bgr8", 3 * wide, bgr),
            ("yuv422_yuy2", 2 * even + 6, pairs([0, 1, 2, 3])),
            ("yuv422", 2 * even + 6, pairs([1, 0, 3, 2])),
            ("yvyu", 2 * even + 6, pairs([0, 3, 2, 1])),
            ("nv12", even + 5, planar([1, 2], 2)),
            ("nv21", even + 5, planar([2, 1], 2)),
            ("nv24", even + 5, planar([1, 2], 1)),
        ] {
            let step = u32::try_from(step).unwrap();
            let image = RawImage { width, height, step, encoding, big_endian: false, data: &data };
            let rgb = RgbImage::from_raw(width, height, image.to_rgb().unwrap()).unwrap();
            is_chart(&rgb, encoding);
        }
        let mut jpeg = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 100);
        picture.write_with_encoder(encoder).unwrap();
        is_chart(&picture::decode(&jpeg).unwrap(), "jpeg");
    }
}
