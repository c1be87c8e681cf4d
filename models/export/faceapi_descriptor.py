"""face-api's 128-d face descriptor (the dlib ResNet; weights of npm `@vladmandic/face-api`) as ONNX.

Usage: faceapi_descriptor.py --from DIR --to DIR; DIR of --from holds
package/model/face_recognition_model-weights_manifest.json and its .bin.

  image [N,3,150,150] RGB 0..255 (mean and scale are in the graph) -> descriptor [N,128]

The descriptor is not normalised: L2-normalise it before comparing by cosine.
"""

import numpy as np

from cli import arguments
from graph import Graph, report, run
from weights import tfjs

MEAN = (122.782, 117.001, 104.298)
NOTE = "RGB 0..255, 150x150 aligned chip; mean and scale inside. Descriptor not normalised. Weights of @vladmandic/face-api (MIT)."

# (name, channels, whether it halves the picture), in order.
STAGES = [
    ("conv32_1", 32, False), ("conv32_2", 32, False), ("conv32_3", 32, False),
    ("conv64_down", 64, True), ("conv64_1", 64, False), ("conv64_2", 64, False), ("conv64_3", 64, False),
    ("conv128_down", 128, True), ("conv128_1", 128, False), ("conv128_2", 128, False),
    ("conv256_down", 256, True), ("conv256_1", 256, False), ("conv256_2", 256, False),
    ("conv256_down_out", 256, True),
]


def scaled(weights, name):
    """Convolution and the per-channel scale behind it, folded into one: [out, in, kh, kw] and bias."""
    scale = weights[f"{name}/scale/weights"].astype(np.float64)
    filters = weights[f"{name}/conv/filters"].astype(np.float64).transpose(3, 2, 0, 1)
    bias = weights[f"{name}/conv/bias"] * scale + weights[f"{name}/scale/biases"]
    return filters * scale[:, None, None, None], bias


def build(weights):
    g = Graph("faceapi_descriptor")
    x = g.input("image", ["N", 3, 150, 150])
    x = g.op("Sub", x, g.weight(np.array(MEAN).reshape(1, 3, 1, 1)))
    x = g.op("Div", x, g.weight(np.float32(255)))
    x = g.relu(g.conv(x, *scaled(weights, "conv32_down"), stride=2))
    x = g.maxpool(x, 3, 2)
    side, channels = 35, 32
    for name, wide, halves in STAGES:
        first = f"{name}/conv1"
        y = g.relu(g.conv(x, *scaled(weights, first), stride=2 if halves else 1, pad=0 if halves else 1))
        y = g.conv(y, *scaled(weights, f"{name}/conv2"), pad=1)
        if halves:
            x = g.avgpool(x, 2, 2)
            pooled, side = side // 2, (side - 3) // 2 + 1
            if pooled != side:  # one zero row and column below and right
                y = g.op("Pad", y, g.ints(0, 0, 0, 0, 0, 0, pooled - side, pooled - side))
                side = pooled
            if wide != channels:  # new channels of the shortcut are zero
                x = g.op("Pad", x, g.ints(0, 0, 0, 0, 0, wide - channels, 0, 0))
                channels = wide
        x = g.relu(g.op("Add", x, y))
    x = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    g.output("descriptor", g.op("MatMul", x, g.weight(weights["fc"])), ["N", 128])
    return g


def reference(weights, image):
    """The same network step by step in float64 NumPy, with nothing folded: an independent second opinion."""

    def conv(x, name, stride, pad):
        filters = weights[f"{name}/conv/filters"].astype(np.float64)
        x = np.pad(x, ((pad, pad), (pad, pad), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(x, filters.shape[:2], axis=(0, 1))[::stride, ::stride]
        y = np.einsum("hwcij,ijco->hwo", windows, filters, optimize=True) + weights[f"{name}/conv/bias"]
        return y * weights[f"{name}/scale/weights"] + weights[f"{name}/scale/biases"]

    def pool(x, size, how):
        return how(np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(0, 1))[::2, ::2], axis=(-1, -2))

    x = (image.transpose(1, 2, 0) - np.array(MEAN)) / 255
    x = pool(np.maximum(conv(x, "conv32_down", 2, 0), 0), 3, np.max)
    for name, _, halves in STAGES:
        y = np.maximum(conv(x, f"{name}/conv1", 2 if halves else 1, 0 if halves else 1), 0)
        y = conv(y, f"{name}/conv2", 1, 1)
        if halves:
            x = pool(x, 2, np.mean)
            grow = x.shape[0] - y.shape[0]
            y = np.pad(y, ((0, grow), (0, grow), (0, 0)))
            x = np.pad(x, ((0, 0), (0, 0), (0, y.shape[2] - x.shape[2])))
        x = np.maximum(x + y, 0)
    return x.mean(axis=(0, 1)) @ weights["fc"]


def main():
    source, target = arguments(__doc__)
    weights = tfjs(source / "package/model/face_recognition_model-weights_manifest.json")
    path = target / "faceapi_descriptor.onnx"
    build(weights).save(path, NOTE)
    images = np.random.default_rng(1).uniform(0, 255, (2, 3, 150, 150)).astype(np.float32)
    images[1] = np.linspace(0, 255, 150, dtype=np.float32)[None, :, None]
    wanted = np.stack([reference(weights, image) for image in images])
    report(path, "against NumPy in float64", float(np.abs(run(path, image=images)[0] - wanted).max()), 1e-5)


if __name__ == "__main__":
    main()
