//! Which Debian package brings a missing GStreamer element or decoder.

use gstreamer as gst;

/// Elements with their packages, one a line; `engramd doctor` and `scripts/deb.sh` read the same table.
const TABLE: &str = include_str!("../../../packaging/debian/gstreamer_elements");

/// The package that brings an element, by the element's factory name; `None`: that is not known here.
pub(super) fn of_element(factory: &str) -> Option<&'static str> {
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let listed = lines.find_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        if name == factory { rest.split_whitespace().next() } else { None }
    });
    listed.or_else(|| of_family(factory))
}

/// Elements that are too many to be listed, by the beginnings of their names.
const FAMILIES: [(&[&str], &str); 3] = [
    (&["avdec_", "avenc_", "avdemux_", "avmux_"], "gstreamer1.0-libav"),
    (&["vaapi"], "gstreamer1.0-vaapi"),
    (&["vah26", "vaav1", "vavp", "vajpeg", "nvh26", "nvav1", "nvjpeg"], "gstreamer1.0-plugins-bad"),
];

fn of_family(factory: &str) -> Option<&'static str> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| factory.starts_with(prefix));
    FAMILIES.iter().find(|(prefixes, _)| begins(prefixes)).map(|(_, package)| *package)
}

/// The package that brings a decoder or demuxer, by what GStreamer says is missing
/// (an installer detail such as `gstreamer|1.0|…|H.264 decoder|decoder-video/x-h264`).
pub(super) fn of_detail(detail: &str) -> Option<&'static str> {
    let kind = detail.rsplit('|').next().unwrap_or_default();
    Some(match kind.split_once('-') {
        Some(("element", factory)) => return of_element(factory),
        Some(("urisource", _)) => "gstreamer1.0-plugins-good gstreamer1.0-plugins-bad",
        // Layers 1 to 3 of MPEG-1, that is, MP3; AAC has mpegversion 2 and 4.
        _ if kind.contains("audio/mpeg") && kind.contains("mpegversion=(int)1") => {
            "gstreamer1.0-plugins-good"
        }
        _ if ["quicktime", "matroska", "webm", "x-wav", "flac", "vp8", "vp9", "image/jpeg"]
            .iter()
            .any(|known| kind.contains(known)) =>
        {
            "gstreamer1.0-plugins-good"
        }
        _ if ["ogg", "vorbis", "opus", "theora"].iter().any(|known| kind.contains(known)) => {
            "gstreamer1.0-plugins-base"
        }
        _ => "gstreamer1.0-libav gstreamer1.0-plugins-bad",
    })
}

/// The package that may bring what a detail says is missing; `None` where none is known, or all of it is installed.
pub(super) fn not_installed(detail: &str) -> Option<String> {
    /// An element that shows that its package is there.
    const SIGNS: [(&str, &str); 4] = [
        ("gstreamer1.0-libav", "avdec_h264"),
        ("gstreamer1.0-plugins-bad", "h264parse"),
        ("gstreamer1.0-plugins-good", "matroskademux"),
        ("gstreamer1.0-plugins-base", "audioconvert"),
    ];
    let is_there = |package: &str| {
        let sign = SIGNS.iter().find(|(name, _)| *name == package);
        sign.is_some_and(|(_, element)| gst::ElementFactory::find(element).is_some())
    };
    let packages: Vec<&str> =
        of_detail(detail)?.split(' ').filter(|package| !is_there(package)).collect();
    (!packages.is_empty()).then(|| packages.join(" "))
}

/// Whether what a detail says is missing is the decoder of streams with caps of that name.
pub(super) fn is_of(detail: &str, caps: &str) -> bool {
    let kind = detail.rsplit('|').next().unwrap_or_default();
    let kind = kind.strip_prefix("decoder-").unwrap_or_default();
    kind.split([',', ' ']).next() == Some(caps)
}

/// The readable part of an installer detail.
pub(super) fn name_of_detail(detail: &str) -> &str {
    detail.split('|').nth(3).unwrap_or(detail)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::super::launch::paragraphs;
    use super::*;

    /// The elements of a chain `a b=c ! caps/of,its ! d`; what ends with a full stop is one that stands elsewhere.
    fn elements(chain: &str) -> impl Iterator<Item = &str> {
        let first_words = chain
            .split('!')
            .filter_map(|link| link.split_whitespace().find(|word| !word.ends_with('.')));
        // Neither caps nor what another description is put in for.
        first_words.filter(|word| !word.contains('/') && !word.starts_with('{'))
    }

    /// The elements in the strings of a function of `bag/codec.rs`: chains are in small letters, names and caps are not.
    fn of_codecs(function: &str) -> BTreeSet<String> {
        let source = include_str!("../bag/decode/codec.rs");
        let body = &source[source.find(function).unwrap()..];
        let body = &body[..body.find("\n}\n").unwrap()];
        let chains = body.split('"').skip(1).step_by(2);
        let small =
            |word: &&str| word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        chains.flat_map(elements).filter(small).map(str::to_owned).collect()
    }

    #[test]
    fn every_element_that_is_used_has_its_package_and_is_looked_at() {
        let mut used = of_codecs("fn kind(");
        used.append(&mut of_codecs("fn sound_kind("));
        for decoder in ["h265parse", "avdec_h265", "av1dec", "opusdec", "mpg123audiodec"] {
            assert!(used.contains(decoder), "{decoder} of {used:?}");
        }
        let pipelines = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines");
        for entry in std::fs::read_dir(pipelines).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for paragraph in paragraphs(&text, "x") {
                used.extend(elements(&paragraph).map(str::to_owned));
            }
        }
        assert!(used.contains("pulsesrc") && used.contains("libcamerasrc"), "{used:?}");
        for element in used {
            let package = of_element(&element).unwrap_or_else(|| panic!("{element}: no package"));
            assert!(package.contains("gstreamer1.0-"), "{element}: {package}");
            let row = TABLE.lines().find(|line| line.split(' ').next() == Some(element.as_str()));
            assert!(row.is_some_and(|row| !row.ends_with("known")), "{element}: {row:?}");
        }
    }

    #[test]
    fn the_table_has_three_words_a_line_and_every_element_once() {
        let mut names = BTreeSet::new();
        for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let [name, package, need] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            assert!(names.insert(name), "{name} twice");
            assert_eq!(of_element(name), Some(package));
            assert!(["needed", "wanted", "known"].contains(&need), "{line}");
        }
    }

    #[test]
    fn families_and_details_name_their_package() {
        assert_eq!(of_element("avdec_opus"), Some("gstreamer1.0-libav"));
        assert_eq!(of_element("vah264dec"), Some("gstreamer1.0-plugins-bad"));
        assert_eq!(of_element("nosuchelement"), None);
        assert_eq!(of_element("#"), None);
        let mp3 = "gstreamer|1.0|x|MP3|decoder-audio/mpeg, mpegversion=(int)1, layer=(int)3";
        assert_eq!(of_detail(mp3), Some("gstreamer1.0-plugins-good"));
        let element = "gstreamer|1.0|x|av1dec|element-av1dec";
        assert_eq!(of_detail(element), Some("gstreamer1.0-plugins-bad"));
    }
}
