//! G.711, the telephone's 8 bits a sample, as 16 bits (ITU-T G.711, 11/88; tables 1a and 2a).

/// Which of its two laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture::bag) enum Law {
    /// A-law: Europe.
    A,
    /// µ-law: North America, Japan.
    Mu,
}

impl Law {
    /// Samples as 16-bit numbers, little-endian; two bytes for each.
    pub(in crate::capture::bag) fn expand(self, bytes: &[u8]) -> Vec<u8> {
        bytes.iter().flat_map(|byte| self.value(*byte).to_le_bytes()).collect()
    }

    /// One sample, as the upper bits (13 of A-law, 14 of µ-law) of 16.
    fn value(self, byte: u8) -> i16 {
        // A-law has its even bits turned over, µ-law all. Then: sign, three bits of segment, four of step.
        let bits = byte ^ if self == Self::A { 0x55 } else { 0xff };
        let (segment, step) = (bits >> 4 & 7, i16::from(bits & 0x0f));
        let (size, is_positive) = match self {
            Self::A if segment == 0 => (step << 4 | 8, bits & 0x80 != 0),
            Self::A => ((step << 4 | 0x108) << (segment - 1), bits & 0x80 != 0),
            Self::Mu => (((step << 3 | 0x84) << segment) - 0x84, bits & 0x80 == 0),
        };
        if is_positive { size } else { -size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_those_of_the_recommendation() {
        // Ends and middle of both laws, and what lies between, as `audioop` of Python has them, too.
        for (byte, mu, a) in [
            (0x00, -32_124, -5_504),
            (0x80, 32_124, 5_504),
            (0x7f, 0, -848),
            (0xff, 0, 848),
            (0x10, -15_996, -2_752),
            (0x9a, 10_876, 4_032),
            (0x5c, -492, -152),
            (0x55, -716, -8),
            (0xd5, 716, 8),
            (0x2a, -5_372, -32_256),
            (0xaa, 5_372, 32_256),
            (0x35, -3_260, -8_448),
            (0xc1, 1_820, 328),
        ] {
            assert_eq!((Law::Mu.value(byte), Law::A.value(byte)), (mu, a), "{byte:#04x}");
        }
        assert_eq!(Law::A.expand(&[0xd5, 0x55]), [8, 0, 0xf8, 0xff]);
        assert!(Law::Mu.expand(&[]).is_empty());
    }
}
