"""A small writer of ONNX graphs: one method per operator that our networks use.

Every method appends one node and returns the name of its output, so that a network reads as the
list of its layers. Weights become initializers under names of their own.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Operator set 17 is the first with LayerNormalization; every ONNX Runtime since 1.12 runs it.
OPSET = 17
IR_VERSION = 8


class Graph:
    """One ONNX graph under construction."""

    def __init__(self, name):
        self.name = name
        self._nodes = []
        self._weights = []
        self._inputs = []
        self._outputs = []
        self._count = 0

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        """Declares an input; a string in `shape` is a free axis."""
        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name, value, shape):
        """Declares `value` as the graph's output `name`."""
        self._nodes.append(helper.make_node("Identity", [value], [name], name=f"out_{name}"))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def weight(self, array, dtype=np.float32):
        """Stores a constant and returns its name."""
        self._count += 1
        name = f"w{self._count}"
        array = np.ascontiguousarray(array, dtype=dtype)
        self._weights.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *values):
        """Stores a constant vector of int64."""
        return self.weight(np.array(values), np.int64)

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Appends any operator; returns its output name, or a tuple of several."""
        self._count += 1
        names = [f"{kind.lower()}{self._count}_{i}" for i in range(outputs)]
        node = helper.make_node(kind, list(inputs), names, name=f"{kind}_{self._count}", **attributes)
        self._nodes.append(node)
        return names[0] if outputs == 1 else tuple(names)

    # --- layers

    def conv(self, x, weight, bias, stride=1, pad=0):
        """2-D convolution; `weight` is [out, in, kh, kw]."""
        kernel = list(weight.shape[2:])
        return self.op("Conv", x, self.weight(weight), self.weight(bias),
                       kernel_shape=kernel, strides=[stride] * 2, pads=[pad] * 4)

    def prelu(self, x, slope, spatial):
        """PReLU with one slope per channel."""
        shape = (-1, 1, 1) if spatial else (-1,)
        return self.op("PRelu", x, self.weight(slope.reshape(shape)))

    def relu(self, x):
        return self.op("Relu", x)

    def maxpool(self, x, size, stride, ceil=False):
        return self.op("MaxPool", x, kernel_shape=[size] * 2, strides=[stride] * 2, ceil_mode=int(ceil))

    def avgpool(self, x, size, stride):
        return self.op("AveragePool", x, kernel_shape=[size] * 2, strides=[stride] * 2)

    def dense(self, x, weight, bias):
        """Fully connected layer; `weight` is [out, in] as PyTorch keeps it."""
        return self.op("Gemm", x, self.weight(weight), self.weight(bias), transB=1)

    def linear(self, x, weight, bias):
        """x · weight + bias on the last axis; `weight` is [in, out]."""
        return self.op("Add", self.op("MatMul", x, self.weight(weight)), self.weight(bias))

    def softmax(self, x, axis):
        return self.op("Softmax", x, axis=axis)

    # --- end

    def save(self, path, note):
        """Checks the graph and writes it."""
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                                  ir_version=IR_VERSION, producer_name="engram", doc_string=note)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def run(path, **inputs):
    """Runs a model on one thread and returns its outputs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def report(path, what, difference, limit):
    """Prints one parity line and fails the export when it is over its limit."""
    verdict = "ok" if difference <= limit else "TOO LARGE"
    print(f"{path.name}: {what}: max abs difference {difference:.2e} (limit {limit:.0e}) {verdict}", flush=True)
    if not difference <= limit:
        raise SystemExit(1)
