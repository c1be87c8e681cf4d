//! What all pictures have in common, however they are coded: the sizes that are taken.

/// Longer sides are refused: a header can claim anything.
const MAX_SIDE_PX: u32 = 16_384;
/// Pictures with more pixels are refused: decoded, one takes at least three bytes for each.
pub(in crate::capture) const MAX_PX: u64 = 64_000_000;

/// Refuses sizes that no camera has, and pictures of more than `most` pixels.
///
/// # Errors
/// What is wrong with the size, in words.
pub(in crate::capture) fn check_size(width: u32, height: u32, most: u64) -> Result<(), String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
