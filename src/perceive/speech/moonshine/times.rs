//! When each token was said: the decoder's attention, followed through the sound in one direction.
//!
//! Dynamic time warping of tokens over the encoder's frames, as Whisper's word times: H. Sakoe, S. Chiba, "Dynamic
//! programming algorithm optimization for spoken word recognition", 1978; the cost is the negative logarithm of the
//! attention. Quadratic in the length of the sound: at most some 100 tokens by 650 frames for a piece of 15 s.

/// What a place of the way came from: the token and frame before, the token before at the same frame, or the frame before.
#[derive(Clone, Copy)]
enum Step {
    Both,
    Token,
    Frame,
}

/// Added to attention, so that none is as bad as can be.
const FLOOR: f32 = 1e-4;

/// First frame and first frame after each token; `attention[token][frame]`. Tokens share frames, and none is left out.
pub(super) fn align(attention: &[Vec<f32>]) -> Vec<(usize, usize)> {
    let (tokens, frames) = (attention.len(), attention.first().map_or(0, Vec::len));
    if tokens == 0 || frames == 0 {
        return vec![(0, 0); tokens];
    }
    let mut back = vec![Step::Frame; tokens * frames];
    let mut before = vec![f32::INFINITY; frames + 1];
    before[0] = 0.0;
    for (token, row) in attention.iter().enumerate() {
        let mut here = vec![f32::INFINITY; frames + 1];
        for frame in 0..frames {
            let (mut least, mut from) = (before[frame], Step::Both);
            if before[frame + 1] < least {
                (least, from) = (before[frame + 1], Step::Token);
            }
            if here[frame] < least {
                (least, from) = (here[frame], Step::Frame);
            }
            let weight = row.get(frame).copied().unwrap_or(0.0);
            here[frame + 1] = least - (weight + FLOOR).ln();
            back[token * frames + frame] = from;
        }
        before = here;
    }
    let mut spans = vec![(0, 0); tokens];
    let (mut token, mut frame) = (tokens - 1, frames - 1);
    spans[token].1 = frames;
    loop {
        spans[token].0 = frame;
        match back[token * frames + frame] {
            Step::Both if token > 0 && frame > 0 => (token, frame) = (token - 1, frame - 1),
            Step::Token if token > 0 => token -= 1,
            Step::Frame if frame > 0 => {
                frame -= 1;
                continue;
            }
            _ => break,
        }
        spans[token].1 = frame + 1;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(frames: usize, at: usize) -> Vec<f32> {
        let weight = |frame: usize| if frame == at { 0.9 } else { 0.1 / (frames - 1) as f32 };
        (0..frames).map(weight).collect()
    }

    #[test]
    fn tokens_lie_where_their_attention_is() {
        let attention: Vec<Vec<f32>> = [2, 7, 8, 15].into_iter().map(|at| row(20, at)).collect();
        let spans = align(&attention);
        for ((start, end), at) in spans.iter().zip([2, 7, 8, 15]) {
            assert!((*start..*end).contains(&at), "{spans:?}");
        }
        assert_eq!((spans[0].0, spans[3].1), (0, 20));
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1), "{spans:?}");
    }

    #[test]
    fn more_tokens_than_frames_share_them() {
        let spans = align(&[row(2, 0), row(2, 0), row(2, 1), row(2, 1), row(2, 1)]);
        assert_eq!(spans.len(), 5);
        assert!(spans.iter().all(|(start, end)| start < end && *end <= 2), "{spans:?}");
        assert!(align(&[]).is_empty());
        assert_eq!(align(&[vec![]]), [(0, 0)]);
    }
}
