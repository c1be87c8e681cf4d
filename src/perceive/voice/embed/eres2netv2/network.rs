//! The forward pass of ERes2NetV2: batch norms folded into the convolutions before them, channels-last
//! tensors (height = frequency, width = time).

use tch::{Device, Kind, TchError, Tensor, no_grad};

use super::layout::{BLOCKS, PLANES, Variant};
use crate::perceive::voice::embed::fbank::{BANDS, Features};
use crate::runtime::checkpoint::Weights;
use crate::runtime::layers::{Source, channels_last};

/// Batch norm's guard against a zero variance.
const EPSILON: f64 = 1e-5;

/// The loaded network.
pub struct Network {
    device: Device,
    /// What convolutions compute with; the statistics over time and the head always take 32 bits.
    kind: Kind,
    stem: Conv,
    stages: Vec<Vec<Block>>,
    downsample: Conv,
    fuse: Attention,
    head: (Tensor, Tensor),
}

impl Network {
    /// Folds and places weights that [`super::layout::check`] accepted. `kind`: [`Kind::Float`], [`Kind::Half`] or
    /// [`Kind::BFloat16`].
    ///
    /// # Errors
    /// When libtorch refuses a tensor.
    pub fn new(
        variant: Variant,
        weights: &Weights,
        device: Device,
        kind: Kind,
    ) -> Result<Self, TchError> {
        let source = Source { weights, device, kind, epsilon: EPSILON };
        let stages = BLOCKS
            .into_iter()
            .zip(PLANES)
            .enumerate()
            .map(|(stage, (blocks, planes))| {
                (0..blocks)
                    .map(|block| {
                        let stride = if stage > 0 && block == 0 { 2 } else { 1 };
                        let prefix = format!("layer{}.{block}", stage + 1);
                        Block::new(&source, variant, &prefix, planes, stride)
                    })
                    .collect()
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            device,
            kind,
            stem: conv(&source, "conv1", Some("bn1"), 1, 1)?,
            stages,
            downsample: conv(&source, "layer3_ds", None, 2, 1)?,
            fuse: Attention::new(&source, "fuse34")?,
            head: (source.plain("seg_1.weight")?, source.plain("seg_1.bias")?),
        })
    }

    /// Where it computes.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Features `[T, 80]`, T ≥ 9 and the same for all, to one vector `[192]` each, not of unit length.
    ///
    /// # Errors
    /// When libtorch refuses (out of memory, lengths that differ).
    pub fn forward(&self, batch: &[&Features]) -> Result<Vec<Vec<f32>>, TchError> {
        let Some(frames) = batch.first().map(|features| features.frames) else {
            return Ok(Vec::new());
        };
        let values = batch.iter().flat_map(|features| &features.values).copied();
        let values: Vec<f32> = values.collect();
        no_grad(|| {
            let mut x = Tensor::f_from_slice(&values)?
                .f_view([batch.len() as i64, frames as i64, BANDS as i64, 1])?
                .f_to(self.device)?
                .f_to_kind(self.kind)?
                .f_permute([0, 3, 2, 1])?;
            x = channels_last(&x)?;
            x = self.stem.run(&x)?.f_relu_()?;
            let mut third = None;
            for (stage, blocks) in self.stages.iter().enumerate() {
                for block in blocks {
                    x = block.run(&x)?;
                }
                if stage == 2 {
                    third = Some(self.downsample.run(&x)?);
                }
            }
            let Some(third) = third else {
                return Err(TchError::Torch("a network without stages".to_owned()));
            };
            let x = self.fuse.run(&x, &third)?.f_to_kind(Kind::Float)?.f_contiguous()?;
            let mean = x.f_mean_dim([-1_i64].as_slice(), false, Kind::Float)?;
            let deviation =
                x.f_var_dim([-1_i64].as_slice(), true, false)?.f_add_scalar(1e-8)?.f_sqrt()?;
            let pooled = Tensor::f_cat(&[mean.f_flatten(1, -1)?, deviation.f_flatten(1, -1)?], 1)?;
            let vectors = pooled.f_linear(&self.head.0, Some(&self.head.1))?.f_contiguous()?;
            let size = vectors.size().last().copied().unwrap_or(1).max(1) as usize;
            let flat: Vec<f32> = Vec::try_from(vectors.f_view([-1])?.f_to(Device::Cpu)?)?;
            Ok(flat.chunks_exact(size).map(<[f32]>::to_vec).collect())
        })
    }
}

/// `layerL.i`: a Res2Net block with hierarchical joints.
struct Block {
    conv1: Conv,
    groups: Vec<Conv>,
    joints: Vec<Attention>,
    conv3: Conv,
    shortcut: Option<Conv>,
    width: i64,
}

impl Block {
    fn new(
        source: &Source<'_>,
        variant: Variant,
        prefix: &str,
        planes: usize,
        stride: i64,
    ) -> Result<Self, TchError> {
        let key = |part: &str| format!("{prefix}.{part}");
        let conv = |name: &str, norm: &str, stride, pad| {
            conv(source, &key(name), Some(&key(norm)), stride, pad)
        };
        let scale = variant.scale();
        let fused = source.has(&key("fuse_models.0.local_att.0.weight"));
        let joints = if fused { scale - 1 } else { 0 };
        Ok(Self {
            conv1: conv("conv1", "bn1", stride, 0)?,
            groups: (0..scale)
                .map(|n| conv(&format!("convs.{n}"), &format!("bns.{n}"), 1, 1))
                .collect::<Result<_, _>>()?,
            joints: (0..joints)
                .map(|n| Attention::new(source, &key(&format!("fuse_models.{n}"))))
                .collect::<Result<_, _>>()?,
            conv3: conv("conv3", "bn3", 1, 0)?,
            shortcut: source
                .has(&key("shortcut.0.weight"))
                .then(|| conv("shortcut.0", "shortcut.1", stride, 0))
                .transpose()?,
            width: variant.width(planes) as i64,
        })
    }

    fn run(&self, x: &Tensor) -> Result<Tensor, TchError> {
        let y = clipped(self.conv1.run(x)?)?;
        let mut parts: Vec<Tensor> = Vec::with_capacity(self.groups.len());
        for (n, group) in self.groups.iter().enumerate() {
            let slice = y.f_narrow(1, n as i64 * self.width, self.width)?;
            let input = match (parts.last(), n.checked_sub(1).and_then(|n| self.joints.get(n))) {
                (None, _) => channels_last(&slice)?,
                (Some(before), Some(joint)) => joint.run(before, &channels_last(&slice)?)?,
                (Some(before), None) => before.f_add(&slice)?,
            };
            parts.push(clipped(group.run(&input)?)?);
        }
        let mut y = self.conv3.run(&Tensor::f_cat(&parts, 1)?)?;
        let y = match &self.shortcut {
            Some(shortcut) => y.f_add_(&shortcut.run(x)?)?,
            None => y.f_add_(x)?,
        };
        clipped(y)
    }
}

/// AFF, attentional feature fusion: `x (1 + g) + y (1 - g)` with a gate g from both.
struct Attention {
    squeeze: Conv,
    expand: Conv,
}

impl Attention {
    fn new(source: &Source<'_>, prefix: &str) -> Result<Self, TchError> {
        let key = |n: usize| format!("{prefix}.local_att.{n}");
        Ok(Self {
            squeeze: conv(source, &key(0), Some(&key(1)), 1, 0)?,
            expand: conv(source, &key(3), Some(&key(4)), 1, 0)?,
        })
    }

    fn run(&self, x: &Tensor, y: &Tensor) -> Result<Tensor, TchError> {
        let inner = self.squeeze.run(&Tensor::f_cat(&[x, y], 1)?)?.f_silu_()?;
        let gate = self.expand.run(&inner)?.f_tanh_()?;
        // x (1 + g) + y (1 - g) = (x + y) + g (x - y)
        x.f_add(y)?.f_addcmul_(&gate, &x.f_sub(y)?)
    }
}

/// A convolution, with the batch norm after it folded in.
struct Conv {
    weight: Tensor,
    bias: Option<Tensor>,
    stride: i64,
    pad: i64,
}

impl Conv {
    fn run(&self, x: &Tensor) -> Result<Tensor, TchError> {
        let (stride, pad) = ([self.stride, self.stride], [self.pad, self.pad]);
        x.f_conv2d(&self.weight, self.bias.as_ref(), stride, pad, [1, 1], 1)
    }
}

/// A convolution, and the batch norm after it where there is one.
fn conv(
    source: &Source<'_>,
    name: &str,
    norm: Option<&str>,
    stride: i64,
    pad: i64,
) -> Result<Conv, TchError> {
    let (values, shape) = source.get(&format!("{name}.weight"))?;
    let mut weight = values.to_vec();
    let own = source.get(&format!("{name}.bias")).ok().map(|(values, _)| values);
    let bias = match norm {
        Some(norm) => Some(source.fold(&mut weight, own, norm)?),
        None => own.map(<[f32]>::to_vec),
    };
    let place = |tensor: Tensor| tensor.f_to(source.device)?.f_to_kind(source.kind);
    let weight = Tensor::f_from_slice(&weight)?.f_view(shape.as_slice())?;
    let bias = bias.map(|bias| place(Tensor::f_from_slice(&bias)?)).transpose()?;
    Ok(Conv { weight: place(channels_last(&weight)?)?, bias, stride, pad })
}

/// Clamps to [0, 20], the network's own activation.
fn clipped(mut x: Tensor) -> Result<Tensor, TchError> {
    x.f_clamp_(0.0, 20.0)
}
