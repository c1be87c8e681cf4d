//! The contact sheet: face crops of every person, as a picture or as one HTML file.

use base64::Engine as _;
use font8x8::UnicodeFonts as _;
use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};
use serde_json::Value;

/// Side of a face crop on the sheet, px.
const CHIP: u32 = 112;
/// Space between crops, px.
const GAP: u32 = 8;
/// Height of a label, px.
const LABEL: u32 = 24;
/// Crops per person.
const PER_PERSON: usize = 8;

/// One person with crops.
pub(super) struct Person {
    label: String,
    chips: Vec<Vec<u8>>,
}

/// Fetches the crops that `show people` names.
pub(super) fn gather(
    shown: &Value,
    fetch: &mut dyn FnMut(&str) -> anyhow::Result<Option<Vec<u8>>>,
) -> anyhow::Result<Vec<Person>> {
    let mut people = Vec::new();
    for person in shown.as_array().into_iter().flatten() {
        let text = |key: &str| person[key].as_str().unwrap_or_default();
        let secs = |key: &str| person[key].as_f64().unwrap_or_default();
        let name =
            if text("name").is_empty() { String::new() } else { format!("{} ", text("name")) };
        let label = format!(
            "{name}{}  seen {:.0} s  spoke {:.0} s",
            text("id"),
            secs("seen_secs"),
            secs("spoken_secs")
        );
        let mut chips = Vec::new();
        let listed = person["chips"].as_array().into_iter().flatten();
        for digest in listed.filter_map(|chip| chip["media"].as_str()).take(PER_PERSON) {
            chips.extend(fetch(digest)?);
        }
        people.push(Person { label, chips });
    }
    Ok(people)
}

/// The sheet as a picture: a label and a row of crops per person.
pub(super) fn image(people: &[Person]) -> RgbImage {
    let width = GAP + PER_PERSON as u32 * (CHIP + GAP);
    let row = LABEL + CHIP + 2 * GAP;
    let rows = u32::try_from(people.len().max(1)).unwrap_or(u32::MAX).min(400);
    let mut sheet = RgbImage::from_pixel(width, rows * row, Rgb([24, 24, 28]));
    for (number, person) in people.iter().take(rows as usize).enumerate() {
        let top = number as u32 * row + GAP;
        write(&mut sheet, GAP, top, &person.label);
        for (at, chip) in person.chips.iter().enumerate() {
            let Ok(chip) = image::load_from_memory(chip) else { continue };
            let chip = imageops::resize(&chip.to_rgb8(), CHIP, CHIP, FilterType::Triangle);
            let left = GAP + at as u32 * (CHIP + GAP);
            imageops::replace(&mut sheet, &chip, i64::from(left), i64::from(top + LABEL));
        }
    }
    sheet
}

/// Writes text in 8×8 glyphs, doubled.
fn write(sheet: &mut RgbImage, left: u32, top: u32, text: &str) {
    for (at, letter) in text.chars().enumerate() {
        let glyph = font8x8::BASIC_FONTS
            .get(letter)
            .or_else(|| font8x8::LATIN_FONTS.get(letter))
            .or_else(|| font8x8::BASIC_FONTS.get('?'))
            .unwrap_or_default();
        for (y, bits) in glyph.iter().enumerate() {
            for x in (0..8).filter(|x| bits & (1 << x) != 0) {
                let (x, y) = (left + 2 * (at as u32 * 8 + x), top + 2 * y as u32);
                for (x, y) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                    if x < sheet.width() && y < sheet.height() {
                        sheet.put_pixel(x, y, Rgb([230, 230, 230]));
                    }
                }
            }
        }
    }
}

/// The sheet as one HTML file with the crops inside.
pub(super) fn html(people: &[Person]) -> String {
    let mut out = String::from(
        "<!doctype html><meta charset=\"utf-8\"><title>engram: people</title>\n<style>body{background:#18181c;color:#e6e6e6;font:16px sans-serif}img{width:112px;height:112px;margin:4px}</style>\n",
    );
    for person in people {
        out.push_str(&format!("<h3>{}</h3>\n<p>", escaped(&person.label)));
        for chip in &person.chips {
            let data = base64::engine::general_purpose::STANDARD.encode(chip);
            out.push_str(&format!("<img alt=\"\" src=\"data:image/jpeg;base64,{data}\">"));
        }
        out.push_str("</p>\n");
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_sheet_shows_a_label_and_the_crops_of_each_person() {
        let mut jpeg = Vec::new();
        let red = RgbImage::from_pixel(10, 10, Rgb([250, 0, 0]));
        red.write_to(&mut std::io::Cursor::new(&mut jpeg), image::ImageFormat::Jpeg).unwrap();
        let shown = json!([
            {"id": "person_1", "name": "A<va", "seen_secs": 12.0, "spoken_secs": 1.0,
             "chips": [{"media": "here"}, {"media": "gone"}]},
            {"id": "person_2", "name": null, "seen_secs": 0.0, "spoken_secs": 3.0, "chips": []},
        ]);
        let mut fetch = |digest: &str| Ok((digest == "here").then(|| jpeg.clone()));
        let people = gather(&shown, &mut fetch).unwrap();
        let sheet = image(&people);
        assert_eq!(sheet.height(), 2 * (LABEL + CHIP + 2 * GAP));
        let middle = sheet.get_pixel(GAP + CHIP / 2, GAP + LABEL + CHIP / 2);
        assert!(middle.0[0] > 200 && middle.0[1] < 60);
        assert!(sheet.pixels().any(|pixel| pixel.0 == [230, 230, 230]), "the label");
        let page = html(&people);
        assert!(page.contains("<h3>A&lt;va person_1  seen 12 s  spoke 1 s</h3>"), "{page}");
        assert_eq!(page.matches("data:image/jpeg").count(), 1);
    }
}
