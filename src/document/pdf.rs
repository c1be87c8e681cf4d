//! PDF (ISO 32000-1): the letters of each page with where they stand, put together to lines, paragraphs and headings.
//!
//! A page says at which place which codes of which font are shown (9.4), in no order but the writer's. Codes become letters by
//! the crate `lopdf`; places come of the matrices here, since only they tell where a word, a line or a paragraph ends. Text inside
//! form objects is not read.

use std::collections::{BTreeMap, HashMap};

use lopdf::content::Content;
use lopdf::{Dictionary, Document, Encoding, Object};

use super::text::{Line, is_item, joined, may_be_title};
use super::{Block, DocumentError, Kind};

/// What one stream may unpack to, bytes.
const MOST_UNPACKED: usize = 32 * 1024 * 1024;
/// The most pages that are read.
const MOST_PAGES: usize = 5_000;
/// The width of a letter of which the font says nothing, thousandths of its size.
const USUAL_WIDTH: f64 = 500.0;
/// A gap of more is a space, in sizes of the letters.
const SPACE: f64 = 0.18;
/// Letters that are higher or lower by more are another line, in sizes.
const RAISED: f64 = 0.4;
/// A heading is larger than the words of the document by this much …
const LARGER: f64 = 1.12;
/// … and lines that lie apart by more than the usual distance of lines times this are two paragraphs.
const APART: f64 = 1.3;
/// What stands on so large a share of the pages, but for its digits, is the head or the foot of each.
const EVERYWHERE: f64 = 0.5;

/// A line of a page.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    text: String,
    /// Of its largest letters, points.
    size: f64,
    bold: bool,
    x: f64,
    /// Upwards from the foot of the page, points.
    y: f64,
    /// Where its last letter ends.
    end: f64,
    /// Which line of its page, from 1.
    number: u32,
}

/// The blocks of a PDF.
///
/// # Errors
/// What is wrong with it.
pub(super) fn blocks(bytes: &[u8]) -> Result<Vec<Block>, DocumentError> {
    let damaged = |error: lopdf::Error| DocumentError::Damaged(error.to_string());
    let mut document = Document::load_mem(bytes).map_err(damaged)?;
    // Many are encrypted with no password, against being changed.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(DocumentError::Encrypted);
    }
    let ids: Vec<(u32, lopdf::ObjectId)> =
        document.get_pages().into_iter().take(MOST_PAGES).collect();
    if ids.is_empty() {
        return Err(DocumentError::Damaged("it has no pages".to_owned()));
    }
    let mut pages: Vec<(u32, Vec<Row>)> =
        ids.iter().map(|(number, id)| (*number, rows(&document, *id))).collect();
    if pages.iter().all(|(_, rows)| rows.is_empty()) {
        let pages = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        return Err(DocumentError::Pictures { pages });
    }
    leave_margins(&mut pages);
    let body = usual_size(&pages);
    Ok(pages.iter().flat_map(|(number, rows)| blocks_of(rows, *number, body)).collect())
}

/// The lines of a page, in the order in which they were written. What cannot be read is left out.
fn rows(document: &Document, page: lopdf::ObjectId) -> Vec<Row> {
    let Ok(fonts) = document.get_page_fonts(page) else { return Vec::new() };
    let fonts: BTreeMap<Vec<u8>, Font<'_>> = fonts
        .into_iter()
        .filter_map(|(name, font)| Some((name, Font::of(document, font)?)))
        .collect();
    let Ok(content) = document.get_page_content_with_limit(page, MOST_UNPACKED) else {
        return Vec::new();
    };
    let Ok(content) = Content::decode(&content) else { return Vec::new() };
    let mut writer = Writer::default();
    for operation in &content.operations {
        writer.carry_out(&operation.operator, &operation.operands, &fonts);
    }
    let mut rows = writer.rows;
    rows.retain(|row| !row.text.trim().is_empty());
    for (row, number) in rows.iter_mut().zip(1..) {
        row.number = number;
    }
    rows
}

/// A font as a page uses it.
struct Font<'d> {
    encoding: Encoding<'d>,
    /// Bytes of a code.
    bytes: usize,
    /// By code, thousandths.
    widths: HashMap<u32, f64>,
    usual: f64,
    bold: bool,
}

impl<'d> Font<'d> {
    fn of(document: &'d Document, font: &'d Dictionary) -> Option<Self> {
        let encoding = font.get_font_encoding_with_limit(document, MOST_UNPACKED).ok()?;
        let name = font.get(b"BaseFont").and_then(Object::as_name).unwrap_or_default();
        let bold = String::from_utf8_lossy(name).to_lowercase().contains("bold");
        let get = |of: &'d Dictionary, key: &[u8]| of.get_deref(key, document).ok();
        let composite = font.get(b"Subtype").and_then(Object::as_name).ok() == Some(b"Type0");
        if composite {
            let below = get(font, b"DescendantFonts").and_then(|below| below.as_array().ok());
            let below = below.and_then(|below| document.dereference(below.first()?).ok());
            let below = below.and_then(|(_, below)| below.as_dict().ok());
            let usual = below.and_then(|below| number(get(below, b"DW")?)).unwrap_or(1000.0);
            let listed = below.and_then(|below| get(below, b"W")?.as_array().ok());
            let widths = listed.map(|listed| spread(document, listed)).unwrap_or_default();
            return Some(Self { encoding, bytes: 2, widths, usual, bold });
        }
        let first = get(font, b"FirstChar").and_then(number).unwrap_or(0.0) as u32;
        let listed = get(font, b"Widths").and_then(|widths| widths.as_array().ok());
        let listed = listed.into_iter().flatten().filter_map(|width| {
            document.dereference(width).ok().and_then(|(_, width)| number(width))
        });
        let widths = (first..).zip(listed).collect();
        Some(Self { encoding, bytes: 1, widths, usual: USUAL_WIDTH, bold })
    }

    /// How far the codes reach: thousandths of the size, and how many there are.
    fn reach(&self, codes: &[u8]) -> (f64, usize) {
        let code =
            |bytes: &[u8]| bytes.iter().fold(0_u32, |code, byte| code << 8 | u32::from(*byte));
        let width = |code: u32| self.widths.get(&code).copied().unwrap_or(self.usual);
        let all = codes.chunks(self.bytes);
        let count = all.len();
        (all.map(|bytes| width(code(bytes))).sum(), count)
    }
}

/// Widths of a composite font (9.7.4.3): `c [w …]`, or `first last w`.
fn spread(document: &Document, listed: &[Object]) -> HashMap<u32, f64> {
    /// Codes have two bytes.
    const MOST_CODES: u32 = 0x1_0000;
    let mut widths = HashMap::new();
    let resolved = |object: &Object| document.dereference(object).map(|(_, object)| object.clone());
    let mut rest = listed.iter().filter_map(|object| resolved(object).ok());
    while let Some(first) = rest.next().as_ref().and_then(number) {
        let first = first.clamp(0.0, f64::from(MOST_CODES)) as u32;
        match rest.next() {
            Some(Object::Array(each)) => {
                widths.extend((first..MOST_CODES).zip(each.iter().filter_map(number)));
            }
            Some(last) => {
                let last = number(&last).unwrap_or(0.0).clamp(0.0, f64::from(MOST_CODES)) as u32;
                let Some(width) = rest.next().as_ref().and_then(number) else { break };
                widths.extend((first..=last).map(|code| (code, width)));
            }
            None => break,
        }
    }
    widths
}

fn number(object: &Object) -> Option<f64> {
    match object {
        Object::Integer(number) => Some(*number as f64),
        Object::Real(number) => Some(f64::from(*number)),
        _ => None,
    }
    .filter(|number| number.is_finite())
}

/// An affine map of the plane, as PDF writes it: `[a b c d e f]`.
#[derive(Clone, Copy, Debug)]
struct Matrix([f64; 6]);

impl Default for Matrix {
    fn default() -> Self {
        Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    }
}

impl Matrix {
    fn of(operands: &[Object]) -> Option<Self> {
        let numbers: Vec<f64> = operands.iter().filter_map(number).collect();
        numbers.try_into().ok().map(Self)
    }

    /// First this one, then the other.
    fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [p, q, r, s, t, u]) = (self.0, other.0);
        Self([
            a * p + b * r,
            a * q + b * s,
            c * p + d * r,
            c * q + d * s,
            e * p + f * r + t,
            e * q + f * s + u,
        ])
    }

    fn moved(self, x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }

    /// How high a letter of size 1 is.
    fn height(self) -> f64 {
        self.0[2].hypot(self.0[3])
    }

    fn place(self) -> (f64, f64) {
        (self.0[4], self.0[5])
    }
}

/// The state of text, 9.3.
#[derive(Clone, Debug)]
struct State {
    page: Matrix,
    font: Option<Vec<u8>>,
    size: f64,
    /// Between letters, between words, from line to line; units of text space.
    letters: f64,
    words: f64,
    leading: f64,
    /// 1: as wide as the font has them.
    stretch: f64,
}

impl Default for State {
    fn default() -> Self {
        let page = Matrix::default();
        Self { page, font: None, size: 1.0, letters: 0.0, words: 0.0, leading: 0.0, stretch: 1.0 }
    }
}

/// How deep states may be saved.
const MOST_SAVED: usize = 256;

/// Reads what a page shows.
#[derive(Default)]
struct Writer {
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
    rows: Vec<Row>,
}

impl Writer {
    fn carry_out(
        &mut self,
        operator: &str,
        operands: &[Object],
        fonts: &BTreeMap<Vec<u8>, Font<'_>>,
    ) {
        let first = || operands.first().and_then(number);
        match operator {
            "q" if self.saved.len() < MOST_SAVED => self.saved.push(self.state.clone()),
            "Q" => self.state = self.saved.pop().unwrap_or_default(),
            "cm" => {
                if let Some(matrix) = Matrix::of(operands) {
                    self.state.page = matrix.then(self.state.page);
                }
            }
            "BT" => (self.text, self.line) = (Matrix::default(), Matrix::default()),
            "Tf" => {
                let name = operands.first().and_then(|name| name.as_name().ok());
                self.state.font = name.map(<[u8]>::to_vec);
                self.state.size = operands.get(1).and_then(number).unwrap_or(self.state.size);
            }
            "Tc" => self.state.letters = first().unwrap_or(0.0),
            "Tw" => self.state.words = first().unwrap_or(0.0),
            "TL" => self.state.leading = first().unwrap_or(0.0),
            "Tz" => self.state.stretch = first().unwrap_or(100.0) / 100.0,
            "Td" | "TD" => {
                let (x, y) =
                    (first().unwrap_or(0.0), operands.get(1).and_then(number).unwrap_or(0.0));
                if operator == "TD" {
                    self.state.leading = -y;
                }
                self.next_line(x, y);
            }
            "T*" => self.next_line(0.0, -self.state.leading),
            "Tm" => {
                if let Some(matrix) = Matrix::of(operands) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            "Tj" => self.show_all(operands, fonts),
            "'" => {
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands, fonts);
            }
            "\"" => {
                self.state.words = first().unwrap_or(0.0);
                self.state.letters = operands.get(1).and_then(number).unwrap_or(0.0);
                self.next_line(0.0, -self.state.leading);
                self.show_all(operands.get(2..).unwrap_or_default(), fonts);
            }
            "TJ" => {
                let pieces = operands.first().and_then(|pieces| pieces.as_array().ok());
                for piece in pieces.into_iter().flatten() {
                    match number(piece) {
                        Some(back) => {
                            let by = -back / 1000.0 * self.state.size * self.state.stretch;
                            self.text = self.text.moved(by, 0.0);
                        }
                        None => self.show_all(std::slice::from_ref(piece), fonts),
                    }
                }
            }
            _ => {}
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line = self.line.moved(x, y);
        self.text = self.line;
    }

    fn show_all(&mut self, operands: &[Object], fonts: &BTreeMap<Vec<u8>, Font<'_>>) {
        let font = self.state.font.as_ref().and_then(|name| fonts.get(name));
        for codes in operands.iter().filter_map(|shown| shown.as_str().ok()) {
            let Some(font) = font else { continue };
            let (reach, count) = font.reach(codes);
            let letters = Document::decode_text(&font.encoding, codes).unwrap_or_default();
            let State { size, letters: between, words, stretch, .. } = self.state;
            let spaces =
                if font.bytes == 1 { codes.iter().filter(|c| **c == b' ').count() } else { 0 };
            let extra = between * count as f64 + words * spaces as f64;
            let from = self.text.then(self.state.page);
            self.text = self.text.moved((reach / 1000.0 * size + extra) * stretch, 0.0);
            let to = self.text.then(self.state.page);
            let size = (size * from.height()).abs();
            self.put(&letters, from.place(), to.place().0, size, font.bold);
        }
    }

    /// Letters behind those that were put last, or on a line of their own.
    fn put(&mut self, letters: &str, (x, y): (f64, f64), end: f64, size: f64, bold: bool) {
        // (Soft hyphens, and what no letter is known of.)
        let letters = letters.replace(['\u{ad}', '\u{fffd}', '\0'], "");
        if letters.is_empty() || !(x.is_finite() && y.is_finite() && end.is_finite()) {
            return;
        }
        let last = self.rows.last_mut().filter(|row| {
            let high = row.size.max(size).max(0.1);
            (row.y - y).abs() <= RAISED * high && x >= row.end - high
        });
        let Some(row) = last else {
            let text = letters.trim_start().to_owned();
            return self.rows.push(Row { text, size, bold, x, y, end, number: 0 });
        };
        let gap = x - row.end > SPACE * size;
        if gap
            && !row.text.ends_with(char::is_whitespace)
            && !letters.starts_with(char::is_whitespace)
        {
            row.text.push(' ');
        }
        row.bold &= bold || letters.trim().is_empty();
        row.size = row.size.max(size);
        row.text.push_str(&letters);
        row.end = end;
    }
}

/// What stands at the head or the foot of most pages tells nothing.
fn leave_margins(pages: &mut [(u32, Vec<Row>)]) {
    let key = |row: &Row| {
        let plain: String =
            row.text.chars().filter(|c| !c.is_numeric() && !c.is_whitespace()).collect();
        (plain, row.y.round() as i64)
    };
    let mut seen: HashMap<(String, i64), usize> = HashMap::new();
    for (_, rows) in pages.iter() {
        for row in rows {
            *seen.entry(key(row)).or_default() += 1;
        }
    }
    let most = (EVERYWHERE * pages.len() as f64).max(2.0);
    let many = pages.len() >= 3;
    for (_, rows) in pages.iter_mut() {
        rows.retain(|row| !many || (seen.get(&key(row)).copied().unwrap_or(0) as f64) < most);
    }
}

/// The size of most letters, points.
fn usual_size(pages: &[(u32, Vec<Row>)]) -> f64 {
    let mut letters: BTreeMap<i64, usize> = BTreeMap::new();
    for row in pages.iter().flat_map(|(_, rows)| rows) {
        *letters.entry((row.size * 10.0).round() as i64).or_default() += row.text.len();
    }
    letters.into_iter().max_by_key(|(_, count)| *count).map_or(1.0, |(size, _)| size as f64 / 10.0)
}

/// The blocks of a page.
fn blocks_of(rows: &[Row], page: u32, body: f64) -> Vec<Block> {
    let resized = |one: &Row, other: &Row| (one.size - other.size).abs() > 0.1 * body;
    // Of lines of one size: a heading stands apart by more.
    let alike = rows.windows(2).filter(|pair| !resized(&pair[0], &pair[1]));
    let mut steps: Vec<f64> =
        alike.map(|pair| pair[0].y - pair[1].y).filter(|step| *step > 0.0).collect();
    steps.sort_by(f64::total_cmp);
    let middle = steps.len().saturating_sub(1) / 2;
    let usual = steps.get(middle).copied().unwrap_or(body * 1.2).max(body);
    let is_title = |row: &Row| {
        let stands_out = row.size >= LARGER * body || row.bold && row.size >= 0.95 * body;
        stands_out && may_be_title(row.text.trim())
    };
    let mut found: Vec<Block> = Vec::new();
    let mut open: Vec<&Row> = Vec::new();
    let mut title = false;
    for (at, row) in rows.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| rows.get(at));
        let step = before.map_or(0.0, |before| before.y - row.y);
        let resized = before.is_some_and(|before| resized(before, row));
        let same_line = step.abs() <= RAISED * body;
        let near = (0.0..=APART * usual).contains(&step) && !resized;
        let parted = !same_line && !near;
        let heads = is_title(row);
        if parted || heads != title || is_item(row.text.trim()) {
            end(&open, title, page, &mut found);
            open.clear();
        }
        title = heads;
        open.push(row);
    }
    end(&open, title, page, &mut found);
    found
}

fn end(rows: &[&Row], title: bool, page: u32, found: &mut Vec<Block>) {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
    let line = |row: &&Row| row.text.trim().to_owned();
    let texts: Vec<String> = rows.iter().map(line).collect();
    let lines = texts.iter().zip(rows).map(|(words, row)| Line::new(words, row.number));
    let kind = if title { Kind::Heading } else { Kind::Words };
    let (line, last_line) = (first.number, last.number);
    found.push(Block { text: joined(lines), kind, page: Some(page), line, last_line });
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use lopdf::content::Operation;
    use lopdf::{Stream, dictionary};
    use proptest::prelude::*;

    use super::*;

    /// A PDF of pages, each as the operations that show it; the letters of its font are 600 thousandths wide.
    fn pdf(pages: Vec<Vec<Operation>>) -> Vec<u8> {
        let mut document = Document::with_version("1.5");
        let tree = document.new_object_id();
        let widths: Vec<Object> = (32..127).map(|_| 600.into()).collect();
        let font = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "FirstChar" => 32, "Widths" => widths,
            "Encoding" => "WinAnsiEncoding",
        });
        let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
        let mut kids: Vec<Object> = Vec::new();
        for operations in pages {
            let content = Content { operations }.encode().unwrap();
            let content = document.add_object(Stream::new(Dictionary::new(), content));
            let page = dictionary! {
                "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
            };
            kids.push(document.add_object(page).into());
        }
        let count = kids.len() as i64;
        let pages = dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count };
        document.objects.insert(tree, Object::Dictionary(pages));
        let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
        document.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).unwrap();
        bytes
    }

    fn size(points: i64) -> Operation {
        Operation::new("Tf", vec!["F1".into(), points.into()])
    }

    fn place(x: i64, y: i64) -> Operation {
        Operation::new("Tm", [1, 0, 0, 1, x, y].map(Object::from).to_vec())
    }

    fn show(words: &str) -> Operation {
        Operation::new("Tj", vec![Object::string_literal(words)])
    }

    fn told(pages: Vec<Vec<Operation>>) -> Vec<(bool, String, u32, u32)> {
        let found = blocks(&pdf(pages)).unwrap();
        let told = |one: Block| (one.kind == Kind::Heading, one.text, one.page.unwrap(), one.line);
        found.into_iter().map(told).collect()
    }

    #[test]
    fn words_lines_paragraphs_and_headings_are_told_by_where_letters_stand() {
        let pieces =
            vec![Object::string_literal("Wash"), (-300).into(), Object::string_literal("it")];
        let page = vec![
            Operation::new("BT", vec![]),
            size(16),
            place(50, 780),
            show("Cleaning"),
            size(10),
            // Two runs of one line, six points each letter: the first ends where the second begins.
            place(50, 750),
            show("The fil"),
            place(92, 750),
            show("ter is"),
            // A gap is a space; then a line below, a word parted at its end.
            place(140, 750),
            show("clean-"),
            Operation::new("TL", vec![12.into()]),
            place(50, 738),
            show("ed weekly."),
            // Far below: another paragraph, spaced by the array that shows it.
            place(50, 700),
            Operation::new("TJ", vec![pieces.into()]),
            Operation::new("'", vec![Object::string_literal("by hand.")]),
            Operation::new("ET", vec![]),
        ];
        let is = |heading, text: &str, line| (heading, text.to_owned(), 1, line);
        assert_eq!(
            told(vec![page]),
            [
                is(true, "Cleaning", 1),
                is(false, "The filter is cleaned weekly.", 2),
                is(false, "Wash it by hand.", 4)
            ]
        );
    }

    #[test]
    fn what_stands_on_every_page_is_left_out() {
        let page = |number: i64| {
            let words = ["One", "Two", "Three", "Four"][number as usize - 1];
            vec![
                size(10),
                place(50, 700),
                show(words),
                place(50, 30),
                show(&format!("Page {number}")),
            ]
        };
        let told = told((1..=4).map(page).collect());
        assert_eq!(
            told.iter().map(|one| one.1.as_str()).collect::<Vec<_>>(),
            ["One", "Two", "Three", "Four"]
        );
    }

    #[test]
    fn what_is_no_pdf_or_has_no_letters_says_so() {
        assert!(matches!(blocks(b"%PDF-1.7 and nothing"), Err(DocumentError::Damaged(_))));
        assert!(matches!(blocks(b""), Err(DocumentError::Damaged(_))));
        let empty = blocks(&pdf(vec![vec![], vec![]]));
        assert_eq!(empty, Err(DocumentError::Pictures { pages: 2 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn no_bytes_make_the_reader_fall_over(cut in 0.0..1.0_f64, flips in proptest::collection::vec((0.0..1.0_f64, any::<u8>()), 0..40)) {
            let page = vec![size(10), place(50, 700), show("Wash the filter."), Operation::new("Tz", vec![80.into()])];
            let mut bytes = pdf(vec![page.clone(), page]);
            for (at, byte) in flips {
                let at = (at * bytes.len() as f64) as usize;
                bytes[at] = byte;
            }
            bytes.truncate((cut * bytes.len() as f64) as usize);
            let _ = blocks(&bytes);
        }
    }
}
