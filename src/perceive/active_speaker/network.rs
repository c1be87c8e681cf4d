//! LR-ASD's forward pass: two encoders of split convolutions, channel attention, a GRU in both directions.
//!
//! The published 3D convolutions are 1 x k x k or k x 1 x 1, so they are computed as 2D ones: over a picture, or over
//! time with the picture laid out in one row. Channels are innermost in memory and batch norms are folded in: about
//! eighteen times as fast on a CPU as the 3D operators, and the same to the last digits.

use tch::{Device, Kind, TchError, Tensor, no_grad};

use super::layout;
use super::mfcc::CEPSTRA;
use crate::runtime::checkpoint::Weights;
use crate::runtime::layers::{Recurrent, Source, channels_last, lay_flat};

/// Side of a crop, px.
pub const SIDE: usize = 112;
/// Frames of sound to one crop.
pub const AUDIO_PER_CROP: usize = 4;

/// Batch norm's guard against a zero variance; this network's own.
const EPSILON: f64 = 1e-3;
/// Mean and spread of the pixels it was trained with, of 1.
const MEAN: f64 = 0.4161;
const SPREAD: f64 = 0.1688;

/// Pictures that go through the convolutions over a picture together, on a CPU.
const PICTURES_AT_ONCE: i64 = 2;
/// Values (pictures x places x channels) that go through the convolutions over time together, on a CPU.
const VALUES_AT_ONCE: i64 = 65_536;

/// The loaded network.
pub struct Network {
    device: Device,
    pictures: Vec<Block>,
    sounds: Vec<Block>,
    fusion: Gate,
    gru: Vec<Tensor>,
    detector: Gate,
    head: (Tensor, Tensor),
}

impl Network {
    /// Folds and places weights that [`layout::check`] accepted.
    ///
    /// # Errors
    /// When libtorch refuses a tensor.
    pub fn new(weights: &Weights, device: Device) -> Result<Self, TchError> {
        let source = Source { weights, device, kind: Kind::Float, epsilon: EPSILON };
        let blocks = |encoder: &str, kernel: &str| {
            (1..=3)
                .map(|n| {
                    let name = format!("model.{encoder}.block{n}");
                    let part = |kernel: &str, n: usize| {
                        conv(
                            &source,
                            &format!("{name}.{kernel}_{n}"),
                            &format!("{name}.{kernel}_norm_{n}"),
                        )
                    };
                    Ok(Block {
                        first: [part(kernel, 1)?, part(kernel, 2)?],
                        time: [part("t", 1)?, part("t", 2)?],
                    })
                })
                .collect::<Result<Vec<Block>, TchError>>()
        };
        let mut gru = Vec::new();
        for direction in ["forward", "backward"] {
            for part in layout::GRU_PARTS {
                gru.push(source.plain(&format!("model.detector.gru_{direction}.{part}"))?);
            }
        }
        lay_flat(&gru, Recurrent::Gru, 1, true)?;
        Ok(Self {
            device,
            pictures: blocks("visualEncoder", "s")?,
            sounds: blocks("audioEncoder", "m")?,
            fusion: gate(&source, "model.fusion")?,
            gru,
            detector: gate(&source, "model.detector.attention")?,
            head: (source.plain("lossAV.FC.weight")?, source.plain("lossAV.FC.bias")?),
        })
    }

    /// Log odds `[T]` that the mouth makes the sound: of cepstra `[4T, 13]` and grey crops `[T, 112, 112]`, 25 per
    /// second.
    ///
    /// # Errors
    /// When the lengths do not fit together, or libtorch refuses (out of memory).
    pub fn forward(&self, cepstra: &[f32], crops: &[u8]) -> Result<Vec<f32>, TchError> {
        let frames = crops.len() / (SIDE * SIDE);
        if frames == 0
            || crops.len() != frames * SIDE * SIDE
            || cepstra.len() != AUDIO_PER_CROP * frames * CEPSTRA
        {
            return Err(TchError::Shape(format!(
                "{} values of sound and {} pixels do not belong together",
                cepstra.len(),
                crops.len()
            )));
        }
        no_grad(|| {
            let sound = self.hear(cepstra, frames as i64)?;
            let mouth = self.see(crops, frames as i64)?;
            let both = self.fusion.run(&Tensor::f_cat(&[sound, mouth], 1)?)?.f_unsqueeze(0)?;
            let start = Tensor::f_zeros([2, 1, 64], (Kind::Float, self.device))?;
            let (both, _) = both.f_gru(&start, &self.gru, true, 1, 0.0, false, true, true)?;
            let both = self.detector.run(&both.f_squeeze_dim(0)?)?;
            let logits = both.f_linear(&self.head.0, Some(&self.head.1))?;
            let odds = logits.f_select(1, 1)?.f_sub(&logits.f_select(1, 0)?)?;
            Vec::try_from(odds.f_to(Device::Cpu)?)
        })
    }

    /// Crops to `[T, 128]`.
    ///
    /// Convolutions over the picture take a few pictures at a time, those over time a few places of all pictures, in the
    /// same memory: what lies between two of them stays in the processor's cache. A GPU takes all at once.
    fn see(&self, crops: &[u8], frames: i64) -> Result<Tensor, TchError> {
        let side = SIDE as i64;
        let (pictures, values) = match self.device {
            Device::Cpu => (PICTURES_AT_ONCE, VALUES_AT_ONCE),
            _ => (frames, i64::MAX),
        };
        // [T, C, H, W], channels innermost.
        let mut x = Tensor::f_from_slice(crops)?.f_view([frames, 1, side, side])?;
        for (n, block) in self.pictures.iter().enumerate() {
            let mut parts = Vec::new();
            for at in (0..frames).step_by(pictures as usize) {
                let part = x.f_narrow(0, at, (frames - at).min(pictures))?;
                let part = if n == 0 { self.normalised(&part)? } else { part };
                let stride = if n == 0 { 2 } else { 1 };
                let part = block.first[0].run(&channels_last(&part)?, [stride, stride], [2, 2])?;
                parts.push(block.first[1].run(&part, [1, 1], [1, 1])?);
            }
            let seen = Tensor::f_cat(&parts, 0)?;
            drop(parts);
            let (_, channels, height, width) = seen.size4()?;
            // [T, H W, C]: a view.
            let flat = seen.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_view([
                frames,
                height * width,
                channels,
            ])?;
            let places = (values / (frames * channels)).max(1);
            for at in (0..height * width).step_by(places as usize) {
                let mut part = flat.f_narrow(1, at, (height * width - at).min(places))?;
                // As a picture [1, C, T, P].
                let over = part.f_contiguous()?.f_unsqueeze(0)?.f_permute([0, 3, 1, 2])?;
                let over = block.time[0].run(&over, [1, 1], [2, 0])?;
                let over = block.time[1].run(&over, [1, 1], [1, 0])?;
                part.f_copy_(&over.f_permute([0, 2, 3, 1])?.f_squeeze_dim(0)?)?;
            }
            x = flat.f_view([frames, height, width, channels])?.f_permute([0, 3, 1, 2])?;
            if n < 2 {
                x = x.f_max_pool2d([3, 3], [2, 2], [1, 1], [1, 1], false)?;
            }
        }
        x.f_amax([2, 3].as_slice(), false)
    }

    /// Pixels as the network was trained with them.
    fn normalised(&self, pixels: &Tensor) -> Result<Tensor, TchError> {
        pixels
            .f_to(self.device)?
            .f_to_kind(Kind::Float)?
            .f_div_scalar(255.0)?
            .f_sub_scalar(MEAN)?
            .f_div_scalar(SPREAD)
    }

    /// Cepstra to `[T, 128]`.
    fn hear(&self, cepstra: &[f32], frames: i64) -> Result<Tensor, TchError> {
        let mut x = Tensor::f_from_slice(cepstra)?
            .f_view([1, 1, AUDIO_PER_CROP as i64 * frames, CEPSTRA as i64])?
            .f_to(self.device)?
            .f_transpose(2, 3)?;
        for (n, block) in self.sounds.iter().enumerate() {
            x = block.first[0].run(&channels_last(&x)?, [1, 1], [2, 0])?;
            x = block.first[1].run(&x, [1, 1], [1, 0])?;
            x = block.time[0].run(&x, [1, 1], [0, 2])?;
            x = block.time[1].run(&x, [1, 1], [0, 1])?;
            if n < 2 {
                x = x.f_max_pool2d([1, 3], [1, 2], [0, 1], [1, 1], false)?;
            }
        }
        x.f_mean_dim([2_i64].as_slice(), false, Kind::Float)?.f_squeeze_dim(0)?.f_transpose(0, 1)
    }
}

/// Four convolutions: two over the picture (or the cepstra), two over time, each with a rectifier.
struct Block {
    first: [Conv; 2],
    time: [Conv; 2],
}

/// A convolution with the batch norm after it folded in.
struct Conv {
    weight: Tensor,
    bias: Tensor,
}

impl Conv {
    fn run(&self, x: &Tensor, stride: [i64; 2], pad: [i64; 2]) -> Result<Tensor, TchError> {
        x.f_conv2d(&self.weight, Some(&self.bias), stride, pad, [1, 1], 1)?.f_relu_()
    }
}

/// Channel attention: every channel times a gate that all channels of the same moment decide.
struct Gate {
    weight: Tensor,
    bias: Tensor,
}

impl Gate {
    /// `[T, C]` to `[T, C]`.
    fn run(&self, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_mul(&x.f_linear(&self.weight, Some(&self.bias))?.f_sigmoid_()?)
    }
}

/// Weights of a layer, flat, their shape, and its bias.
type Folded = (Vec<f32>, Vec<i64>, Vec<f32>);

/// Weights of a layer with the batch norm after it folded in.
fn folded(source: &Source<'_>, name: &str, norm: &str) -> Result<Folded, TchError> {
    let (values, shape) = source.get(&format!("{name}.weight"))?;
    let mut weight = values.to_vec();
    let bias = source.fold(&mut weight, None, norm)?;
    Ok((weight, shape, bias))
}

/// A 2D convolution, or a 3D one of which one extent is 1.
fn conv(source: &Source<'_>, name: &str, norm: &str) -> Result<Conv, TchError> {
    let (weight, shape, bias) = folded(source, name, norm)?;
    let flat = match shape[..] {
        // 1 x k x k: over the picture; k x 1 x 1: over time, as k x 1.
        [out, input, 1, height, width] => [out, input, height, width],
        [out, input, time, 1, 1] => [out, input, time, 1],
        [out, input, height, width] => [out, input, height, width],
        _ => return Err(TchError::Shape(format!("{name} is no convolution: {shape:?}"))),
    };
    let weight = channels_last(&Tensor::f_from_slice(&weight)?.f_view(flat)?)?;
    let bias = Tensor::f_from_slice(&bias)?;
    Ok(Conv { weight: weight.f_to(source.device)?, bias: bias.f_to(source.device)? })
}

fn gate(source: &Source<'_>, name: &str) -> Result<Gate, TchError> {
    let (weight, shape, bias) =
        folded(source, &format!("{name}.attention"), &format!("{name}.bn"))?;
    let weight = Tensor::f_from_slice(&weight)?.f_view([shape[0], shape[1]])?;
    let bias = Tensor::f_from_slice(&bias)?;
    Ok(Gate { weight: weight.f_to(source.device)?, bias: bias.f_to(source.device)? })
}
