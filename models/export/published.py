"""A TensorFlow.js graph model, node by node as it stands, in float64 NumPy: an independent second opinion of an export.

Pictures are [1, height, width, channels], as TensorFlow has them.
"""

import base64
import json

import numpy as np

from weights import tfjs


def steps(node, name):
    """The list of whole numbers of that attribute of a node: strides, sizes."""
    return [int(value) for value in node["attr"][name]["list"]["i"]]


def padding(node):
    """"SAME" or "VALID"."""
    return base64.b64decode(node["attr"]["padding"]["s"]).decode()


def fused(node):
    """What is done after a convolution that is one node with it: "BiasAdd", "Relu6", in order."""
    listed = node["attr"].get("fused_ops", {}).get("list", {}).get("s", [])
    return [base64.b64decode(value).decode() for value in listed]


def same(size, kernel, step):
    """What "SAME" adds before and after one axis."""
    total = max((-(-size // step) - 1) * step + kernel - size, 0)
    return total // 2, total - total // 2


def bilinear(x, size, axis):
    """Linear interpolation between pixel centres along one axis."""
    old = x.shape[axis]
    at = np.clip((np.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
    low = np.floor(at).astype(int)
    share = (at - low).reshape([-1 if k == axis else 1 for k in range(x.ndim)])
    return np.take(x, low, axis) * (1 - share) + np.take(x, np.minimum(low + 1, old - 1), axis) * share


class Published:
    """`nodes` by name and `weights`; `run` computes."""

    def __init__(self, path):
        document = json.loads(path.read_text())
        self.nodes = {node["name"]: node for node in document["modelTopology"]["node"]}
        self.outputs = list(document["signature"]["outputs"])
        self.weights = tfjs(path)

    def run(self, **inputs):
        """The outputs, in the order in which the model lists them."""
        self.values = {name: np.asarray(value, np.float64) for name, value in inputs.items()}
        return [self.value(name) for name in self.outputs]

    def value(self, reference):
        name, _, port = reference.partition(":")
        if name in self.weights and name not in self.values:
            return self.weights[name]
        if name not in self.values:
            self.values[name] = self.compute(self.nodes[name])
        value = self.values[name]
        return value[int(port or 0)] if isinstance(value, list) else value

    def compute(self, node):
        op, inputs = node["op"], node.get("input", [])
        get = lambda k: self.value(inputs[k])
        number = lambda name: int(node["attr"][name]["i"])
        whole = lambda k: get(k).astype(int)
        if op in ("Identity", "Cast"):
            return get(0)
        if op == "Transpose":
            return get(0).transpose([int(axis) for axis in get(1)])
        if op in ("Pad", "PadV2"):
            fill = float(get(2)) if len(inputs) > 2 else 0.0
            return np.pad(get(0), whole(1), constant_values=fill)
        if op in ("Conv2D", "_FusedConv2D", "DepthwiseConv2dNative", "FusedDepthwiseConv2dNative"):
            return self.convolution(node, get)
        if op == "MaxPool":
            size, step = steps(node, "ksize")[1], steps(node, "strides")[1]
            windows = np.lib.stride_tricks.sliding_window_view(get(0), (size, size), axis=(1, 2))
            return windows[:, ::step, ::step].max(axis=(-1, -2))
        if op in ("Add", "AddV2"):
            return get(0) + get(1)
        if op == "Sub":
            return get(0) - get(1)
        if op == "Mul":
            return get(0) * get(1)
        if op == "RealDiv":
            return get(0) / get(1)
        if op == "FloorDiv":
            return get(0) // get(1)
        if op == "SquaredDifference":
            return (get(0) - get(1)) ** 2
        if op == "Sqrt":
            return np.sqrt(get(0))
        if op == "LeakyRelu":
            return np.where(get(0) > 0, get(0), get(0) * node["attr"]["alpha"]["f"])
        if op == "Sigmoid":
            return 1 / (1 + np.exp(-get(0)))
        if op == "ArgMax":
            return np.argmax(get(0), axis=int(get(1)))
        if op == "GatherNd":
            return get(0)[tuple(np.moveaxis(whole(1), -1, 0))]
        if op == "Pack":
            return np.stack([self.value(name) for name in inputs], axis=number("axis") if "axis" in node["attr"] else 0)
        if op == "Unpack":
            axis = number("axis")
            return [np.take(get(0), k, axis) for k in range(get(0).shape[axis])]
        if op == "ExpandDims":
            return np.expand_dims(get(0), int(get(1)))
        if op == "Squeeze":
            return np.squeeze(get(0), tuple(steps(node, "squeeze_dims")))
        if op == "ConcatV2":
            return np.concatenate([self.value(name) for name in inputs[:-1]], axis=int(get(len(inputs) - 1)))
        if op == "SplitV":
            return np.split(get(0), np.cumsum(whole(1))[:-1], axis=int(get(2)))
        if op == "Reshape":
            return self.reshaped(get(0), inputs[1])
        if op == "ResizeBilinear":
            assert node["attr"]["half_pixel_centers"]["b"] and not node["attr"]["align_corners"]["b"]
            return bilinear(bilinear(get(0), int(get(1)[0]), 1), int(get(1)[1]), 2)
        raise SystemExit(f"operator {op} ({node['name']})")

    def reshaped(self, x, shape):
        if shape in self.weights:
            return x.reshape(self.weights[shape].astype(int))
        # A shape that is put together of constants, the number of cells among them: batch, channels, cells.
        return x.reshape(x.shape[0], x.shape[1], -1)

    def convolution(self, node, get):
        x, kernel, step = get(0), get(1).astype(np.float64), steps(node, "strides")[1]
        if padding(node) == "SAME":
            rows, columns = (same(x.shape[axis], kernel.shape[axis - 1], step) for axis in (1, 2))
            x = np.pad(x, ((0, 0), rows, columns, (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[:2], axis=(1, 2))[:, ::step, ::step]
        each = "Depthwise" in node["op"]
        x = np.einsum("nhwcij,ijcm->nhwc" if each else "nhwcij,ijco->nhwo", windows, kernel, optimize=True)
        for what in fused(node):
            if what == "BiasAdd":
                x = x + get(2)
            elif what in ("Relu", "Relu6"):
                x = np.clip(x, 0, 6 if what == "Relu6" else None)
            else:
                raise SystemExit(f"{what} after a convolution ({node['name']})")
        return x
