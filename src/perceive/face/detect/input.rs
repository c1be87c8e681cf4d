//! How large a picture a detector's net takes: as its file says, else as the picture is.

use crate::perceive::face::picture::fit;

/// Sides of a free size are multiples of this: the coarsest stride, so that every grid of the net is whole.
const STEP: u32 = 32;
/// No net takes more, px: what a file says beyond it is damage.
const MOST: u32 = 16_384;

/// Width and height of a net's input, px; `None` where its file leaves the side free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::perceive::face) struct InputSize {
    width: Option<u32>,
    height: Option<u32>,
}

impl InputSize {
    /// What the file says: `[N, 3, height, width]`, a side below 0 is free. `None` for any other shape.
    pub(in crate::perceive::face) fn of(shape: &[i64]) -> Option<Self> {
        let &[_, 3, height, width] = shape else { return None };
        let side = |length: i64| match length {
            ..0 => Some(None),
            _ => u32::try_from(length).ok().filter(|side| (1..=MOST).contains(side)).map(Some),
        };
        Some(Self { width: side(width)?, height: side(height)? })
    }

    /// Whether either side may be any.
    pub(in crate::perceive::face) fn is_free(self) -> bool {
        self.width.is_none() && self.height.is_none()
    }

    /// Width and height for a picture of that many px: a fixed side as it is; a free one as the picture needs it, which
    /// is made smaller where it is longer than `longest`, rounded up.
    pub(in crate::perceive::face) fn for_picture(
        self,
        picture: (u32, u32),
        longest: u32,
    ) -> (u32, u32) {
        let within = (self.width.unwrap_or(longest), self.height.unwrap_or(longest));
        let scale = fit(picture, within);
        let needed =
            |length: u32| ((length as f32 * scale).round() as u32).max(1).next_multiple_of(STEP);
        let (width, height) = picture;
        (self.width.unwrap_or_else(|| needed(width)), self.height.unwrap_or_else(|| needed(height)))
    }
}

/// Columns and rows of a net's grid: strided convolutions round up.
pub(in crate::perceive::face) fn grid((width, height): (u32, u32), stride: u32) -> (usize, usize) {
    (width.div_ceil(stride) as usize, height.div_ceil(stride) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fixed_sides_stay_as_they_are_and_need_not_be_equal() {
        for (shape, size) in [
            ([1, 3, 640, 640], (640, 640)),
            ([1, 3, 480, 640], (640, 480)),
            ([-1, 3, 240, 320], (320, 240)),
            ([1, 3, 300, 500], (500, 300)),
        ] {
            let input = InputSize::of(&shape);
            for picture in [(640, 480), (1920, 1080), (3, 2000)] {
                assert_eq!(input.map(|input| input.for_picture(picture, 640)), Some(size));
            }
        }
    }

    #[test]
    fn free_sides_follow_the_picture() {
        let free = InputSize::of(&[1, 3, -1, -1]);
        for (picture, size) in [
            ((640, 480), (640, 480)),
            ((320, 240), (320, 256)),
            ((1920, 1080), (640, 384)),
            ((1080, 1920), (384, 640)),
            ((1, 1), (32, 32)),
            ((3, 2000), (32, 640)),
            ((0, 0), (32, 32)),
        ] {
            assert_eq!(free.map(|free| free.for_picture(picture, 640)), Some(size), "{picture:?}");
        }
        // One side fixed: the picture is fitted into it.
        let wide = InputSize::of(&[1, 3, 320, -1]);
        assert_eq!(wide.map(|wide| wide.for_picture((640, 480), 640)), Some((448, 320)));
        assert_eq!(wide.map(InputSize::is_free), Some(false));
    }

    #[test]
    fn what_is_no_picture_is_no_input() {
        let shapes: [&[i64]; 6] = [
            &[],
            &[1, 3, 640],
            &[1, 1, 640, 640],
            &[1, 3, 0, 640],
            &[1, 3, 640, i64::MAX],
            &[1, 3, 640, 640, 1],
        ];
        for shape in shapes {
            assert_eq!(InputSize::of(shape), None, "{shape:?}");
        }
    }

    #[test]
    fn a_grid_has_a_cell_for_the_rest() {
        assert_eq!(
            [8, 16, 32].map(|stride| grid((640, 480), stride)),
            [(80, 60), (40, 30), (20, 15)]
        );
        assert_eq!(
            [8, 16, 32].map(|stride| grid((500, 300), stride)),
            [(63, 38), (32, 19), (16, 10)]
        );
    }

    proptest! {
        #[test]
        fn a_free_size_holds_the_picture_and_is_in_steps(
            width in 1u32..5000, height in 1u32..5000, steps in 1u32..40
        ) {
            let (picture, longest) = ((width, height), STEP * steps);
            let free = InputSize { width: None, height: None };
            let size = free.for_picture(picture, longest);
            let scale = fit(picture, (longest, longest));
            for (side, length) in [(size.0, width), (size.1, height)] {
                prop_assert!(side.is_multiple_of(STEP) && side <= longest.max(STEP));
                prop_assert!(side as f32 + 0.5 >= length as f32 * scale);
                prop_assert!((side as f32) < (length as f32 * scale).max(1.0) + STEP as f32 + 0.5);
            }
        }
    }
}
