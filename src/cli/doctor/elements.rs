//! GStreamer: the library, and the elements that cameras, microphones and recordings are taken with.

use gstreamer as gst;

use super::{Finding, Verdict};

/// Elements with their Debian packages: the table that errors and the package's dependencies are from, too.
const TABLE: &str = include_str!("../../../packaging/debian/gstreamer_elements");

/// An element that engram itself has in its pipelines.
struct Element {
    name: &'static str,
    package: &'static str,
    /// Every robot needs it; others are for one kind of source.
    needed: bool,
}

/// The table without what only launch descriptions of one's own have.
fn table() -> impl Iterator<Item = Element> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, package, need) = (words.next()?, words.next()?, words.next()?);
        (need != "known").then_some(Element { name, package, needed: need == "needed" })
    })
}

pub(super) fn gstreamer() -> Vec<Finding> {
    let area = "gstreamer";
    if let Err(error) = gst::init() {
        let cure = "apt-get install libgstreamer1.0-0 gstreamer1.0-plugins-base";
        return vec![Finding::bad(Verdict::Failure, area, "library", error.to_string(), cure)];
    }
    let mut findings = vec![Finding::ok(area, "library", gst::version_string().to_string())];
    let (mut looked_at, mut there) = (0, 0);
    for Element { name, package, needed } in table() {
        looked_at += 1;
        if gst::ElementFactory::find(name).is_some() {
            there += 1;
            continue;
        }
        let verdict = if needed { Verdict::Failure } else { Verdict::Warning };
        let cure = format!("apt-get install {package}");
        findings.push(Finding::bad(verdict, area, name, "no such element", cure));
    }
    findings.push(Finding::ok(area, "elements", format!("{there} of {looked_at} present")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoders_of_bags_are_looked_for_with_their_packages() {
        let found = |name: &str| table().find(|element| element.name == name);
        let package = |name: &str| found(name).map(|element| element.package);
        assert_eq!(package("mpg123audiodec"), Some("gstreamer1.0-plugins-good"));
        assert_eq!(package("avdec_h265"), Some("gstreamer1.0-libav"));
        assert_eq!(package("x264enc"), Some("gstreamer1.0-plugins-ugly"));
        assert_eq!(package("jpegenc"), None, "no pipeline of engram's own has it");
        assert!(table().any(|element| element.needed && element.name == "uridecodebin"));
    }

    #[test]
    fn every_element_is_present_or_has_its_cure() {
        let findings = gstreamer();
        let bad = findings.iter().filter(|finding| finding.verdict != Verdict::Ok);
        for finding in bad {
            let cure = finding.cure.as_deref().unwrap_or_default();
            assert!(cure.starts_with("apt-get install "), "{finding:?}");
        }
    }
}
