//! The corners that were found, as SVG: what of the picture the calibration knows, and where it fits badly.

use std::fmt::Write as _;

use super::Calibrated;

/// Width of the drawing.
const WIDE: f64 = 720.0;
/// Above the picture, below and beside it.
const TOP: f64 = 46.0;
const MARGIN: f64 = 20.0;
/// An error that is drawn in full red, px.
const RED_PX: f64 = 1.0;

/// The picture with all corners, coloured by their error from blue (0) to red (1 px and more).
#[must_use]
pub fn plot_svg(of: &Calibrated) -> String {
    let camera = &of.camera;
    let scale = WIDE / f64::from(camera.width.max(1));
    let high = scale * f64::from(camera.height);
    let (wide, whole) = (WIDE + 2.0 * MARGIN, TOP + high + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{whole:.0}\" font-family=\"sans-serif\" font-size=\"12\">
<rect width=\"{wide:.0}\" height=\"{whole:.0}\" fill=\"white\"/>
<text x=\"{MARGIN}\" y=\"28\" font-size=\"15\">{} pictures, error {:.3} px, coverage {:.0} %; blue: 0 px, red: {RED_PX} px and more</text>
<rect x=\"{MARGIN}\" y=\"{TOP}\" width=\"{WIDE}\" height=\"{high:.1}\" fill=\"#f4f4f4\" stroke=\"#888\"/>\n",
        of.used,
        of.error_px,
        100.0 * of.coverage,
    );
    // pixel centres are whole numbers
    let place = |at: [f64; 2]| (MARGIN + scale * (at[0] + 0.5), TOP + scale * (at[1] + 0.5));
    let (x, y) = place(camera.centre);
    // writing to a String does not fail
    writeln!(
        svg,
        "<path d=\"M{:.1} {y:.1}h12M{x:.1} {:.1}v12\" stroke=\"#444\" fill=\"none\"/>",
        x - 6.0,
        y - 6.0
    )
    .ok();
    for (view, errors) in &of.seen {
        for (corner, error) in view.corners.iter().zip(errors) {
            let (x, y) = place(corner.at);
            let red = (255.0 * (error / RED_PX).clamp(0.0, 1.0)) as u8;
            let blue = 255 - red;
            writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"#{red:02x}30{blue:02x}\"/>"
            )
            .ok();
        }
    }
    svg.push_str("</svg>\n");
    svg
}
