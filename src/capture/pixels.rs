//! What all pictures have in common, however they are coded: the sizes that are taken, and how YUV becomes RGB.

/// Longer sides are refused: a header can claim anything.
const MAX_SIDE_PX: u32 = 16_384;
/// Pictures with more pixels are refused: decoded, one takes at least three bytes for each.
pub(super) const MAX_PX: u64 = 64_000_000;

/// Refuses sizes that no camera has, and pictures of more than `most` pixels.
///
/// # Errors
/// What is wrong with the size, in words.
pub(super) fn check_size(width: u32, height: u32, most: u64) -> Result<(), String> {
    if width == 0 || height == 0 {
        return Err(format!("{width}x{height} px are no size"));
    }
    if width.max(height) > MAX_SIDE_PX {
        return Err(format!("{width}x{height} px: a side is over {MAX_SIDE_PX} px"));
    }
    if u64::from(width) * u64::from(height) > most {
        return Err(format!("{width}x{height} px are more than {} megapixels", most / 1_000_000));
    }
    Ok(())
}

/// One pixel, BT.601 limited range, 8 fractional bits: the same bytes on every machine.
#[inline]
pub(super) fn yuv_to_rgb(y: u8, u: u8, v: u8) -> [u8; 3] {
    let c = 298 * (i32::from(y) - 16) + 128;
    let (d, e) = (i32::from(u) - 128, i32::from(v) - 128);
    let byte = |value: i32| (value >> 8).clamp(0, 255) as u8;
    [byte(c + 409 * e), byte(c - 100 * d - 208 * e), byte(c + 516 * d)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_white_and_red_of_bt601() {
        assert_eq!(yuv_to_rgb(16, 128, 128), [0, 0, 0]);
        assert_eq!(yuv_to_rgb(235, 128, 128), [255, 255, 255]);
        let [r, g, b] = yuv_to_rgb(81, 90, 240);
        assert!(r >= 254 && g <= 1 && b <= 1, "{r} {g} {b}");
    }

    #[test]
    fn a_size_that_would_take_too_much_memory_is_refused_and_says_why() {
        assert_eq!(check_size(8_000, 8_000, MAX_PX), Ok(()));
        assert_eq!(check_size(16_384, 1, MAX_PX), Ok(()));
        for (width, height, why) in [
            (8_192, 8_192, "8192x8192 px are more than 64 megapixels"),
            (16_384, 16_384, "16384x16384 px are more than 64 megapixels"),
            (16_385, 1, "16385x1 px: a side is over 16384 px"),
            (u32::MAX, u32::MAX, "a side is over"),
            (0, 480, "0x480 px are no size"),
        ] {
            let refused = check_size(width, height, MAX_PX).err().unwrap_or_default();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
