//! Writing messages: ROS 2's CDR (little-endian) and ROS 1's packed form.

/// Puts values one behind the other as the message definition says.
#[derive(Debug)]
pub(in crate::capture::bag) struct Cdr {
    bytes: Vec<u8>,
    /// CDR: numbers lie at multiples of their size, texts end in a zero.
    aligned: bool,
}

impl Cdr {
    /// A ROS 2 message.
    pub(in crate::capture::bag) fn ros2() -> Self {
        Self { bytes: Vec::new(), aligned: true }
    }

    /// A ROS 1 message.
    #[cfg(test)]
    pub(in crate::capture::bag) fn ros1() -> Self {
        Self { bytes: Vec::new(), aligned: false }
    }

    fn number<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        if self.aligned {
            self.bytes.resize(self.bytes.len().next_multiple_of(N), 0);
        }
        self.bytes.extend(bytes);
        self
    }

    pub(in crate::capture::bag) fn u8(self, value: u8) -> Self {
        self.number([value])
    }

    pub(in crate::capture::bag) fn u32(self, value: u32) -> Self {
        self.number(value.to_le_bytes())
    }

    pub(in crate::capture::bag) fn f64(self, value: f64) -> Self {
        self.number(value.to_le_bytes())
    }

    /// A `uint8[]`; cut at 4 GiB, which no message reaches.
    pub(in crate::capture::bag) fn bytes(self, value: &[u8]) -> Self {
        let mut this = self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        this.bytes.extend_from_slice(value);
        this
    }

    pub(in crate::capture::bag) fn text(self, value: &str) -> Self {
        if !self.aligned {
            return self.bytes(value.as_bytes());
        }
        let mut this = self.u32(u32::try_from(value.len() + 1).unwrap_or(u32::MAX));
        this.bytes.extend_from_slice(value.as_bytes());
        this.bytes.push(0);
        this
    }

    /// The message's bytes; CDR's with the encapsulation header before them.
    pub(in crate::capture::bag) fn message(self) -> Vec<u8> {
        if self.aligned { [&[0, 1, 0, 0], self.bytes.as_slice()].concat() } else { self.bytes }
    }
}
