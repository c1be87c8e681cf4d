//! Against the same in Python (`tests/golden/colours.py`), on pictures that are reckoned, and what must hold of any.

use image::{Rgb, RgbImage};
use serde::Deserialize;

use super::{Light, decided, of_clothes, of_thing, shares};
use crate::geometry::Rect;

#[derive(Deserialize)]
struct Golden {
    #[serde(rename = "box")]
    bbox: [f32; 4],
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    /// Upper half of the thing, lower half, what is behind, the lamp (256: daylight).
    scene: [[i64; 3]; 4],
    shares: [f32; 12],
    names: Vec<String>,
}

/// As `reckoned` there.
fn picture([upper, lower, behind, lamp]: [[i64; 3]; 4]) -> RgbImage {
    let mut noise = 12345_i64;
    let mut picture = RgbImage::new(96, 72);
    for y in 0..72_i64 {
        for x in 0..96_i64 {
            noise = (noise * 1_103_515_245 + 12345) % (1 << 31);
            let (dx, dy) = (2 * x - 96, 2 * y - 72);
            let inside = dx * dx * 81 + dy * dy * 100 < 81 * 100 * 16;
            let of = match (inside, y < 36) {
                (false, _) => behind,
                (true, true) => upper,
                (true, false) => lower,
            };
            let shade = if inside { 256 - x } else { 256 };
            let value = |at: usize| {
                let lit = of[at] * lamp[at] / 256 * shade / 256 + (noise >> 16) % 7 - 3;
                lit.clamp(0, 255) as u8
            };
            picture.put_pixel(x as u32, y as u32, Rgb([value(0), value(1), value(2)]));
        }
    }
    picture
}

#[test]
fn both_say_the_same() {
    let text = include_str!("../../../tests/golden/colours.json");
    let golden: Golden = serde_json::from_str(text).unwrap();
    let [x, y, w, h] = golden.bbox;
    for case in golden.cases {
        let picture = picture(case.scene);
        let found = shares(&picture, Rect { x, y, w, h }, &Light::of(&picture), false).unwrap();
        for (ours, theirs) in found.iter().zip(case.shares) {
            assert!((ours - theirs).abs() < 0.02, "{:?}: {found:?}, {:?}", case.scene, case.shares);
        }
        let names = decided(&found).map_or_else(Vec::new, |named| {
            named.colours.each().map(|colour| colour.word().to_owned()).collect()
        });
        assert_eq!(names, case.names, "{:?}", case.scene);
    }
}

const BOX: Rect = Rect { x: 28.0, y: 18.0, w: 40.0, h: 36.0 };
const DAY: [i64; 3] = [256; 3];

fn name(scene: [[i64; 3]; 4]) -> Option<String> {
    let picture = picture(scene);
    of_thing(&picture, BOX, &Light::of(&picture)).map(|named| named.colours.to_string())
}

#[test]
fn a_lamp_leaves_a_thing_its_colour_and_what_lies_behind_it_none() {
    let (red, blue, grey) = ([200, 30, 35], [30, 70, 190], [140, 140, 140]);
    for lamp in [DAY, [280, 256, 190], [220, 256, 290], [120, 120, 115]] {
        assert_eq!(name([red, red, grey, lamp]).as_deref(), Some("red"), "{lamp:?}");
    }
    for behind in [[60, 120, 50], [170, 140, 100], red] {
        assert_eq!(name([blue, blue, behind, DAY]).as_deref(), Some("blue"), "{behind:?}");
    }
}

#[test]
fn what_has_many_colours_or_lies_in_the_dark_has_no_name_and_nothing_panics() {
    // A teal, of which people say green and blue.
    assert_eq!(name([[0, 122, 116], [0, 122, 116], [140, 140, 140], DAY]), None);
    // So dark that nothing is left of it.
    let night = name([[200, 30, 35], [30, 140, 50], [90, 90, 90], [12, 12, 12]]);
    assert!(night.is_none_or(|name| name == "black"), "nothing is known");
    let picture = picture([[200, 30, 35]; 4]);
    let light = Light::of(&picture);
    for bbox in [
        Rect { x: -500.0, y: -500.0, w: 40.0, h: 40.0 },
        Rect { x: 90.0, y: 60.0, w: 400.0, h: 900.0 },
        Rect { x: 10.0, y: 10.0, w: 2.0, h: 2.0 },
        Rect { x: f32::NAN, y: 0.0, w: f32::INFINITY, h: 40.0 },
    ] {
        let _ = (of_thing(&picture, bbox, &light), of_clothes(&picture, bbox, &light));
    }
    assert_eq!(Light::of(&RgbImage::new(0, 0)), Light::UNKNOWN);
    assert_eq!(of_thing(&RgbImage::new(0, 0), BOX, &light), None);
}

#[test]
fn clothes_are_those_of_whoever_stands() {
    let wears = RgbImage::from_fn(120, 200, |x, y| match (x, y) {
        (40..80, 20..50) => Rgb([190, 150, 130]),
        (40..80, 50..110) => Rgb([240, 205, 25]),
        (40..80, 110..190) => Rgb([30, 40, 90]),
        _ => Rgb([120, 125, 130]),
    });
    let light = Light::of(&wears);
    let body = Rect { x: 38.0, y: 18.0, w: 44.0, h: 174.0 };
    let named = of_clothes(&wears, body, &light).unwrap();
    assert_eq!(named.colours.to_string(), "yellow");
    // Whoever is seen to the waist may show his face there.
    assert_eq!(of_clothes(&wears, Rect { h: 70.0, ..body }, &light), None);
}
