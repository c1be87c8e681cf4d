"""Reads a TensorFlow Lite file: its operators in order, and the constants among its tensors.

The format is a flatbuffer of TensorFlow's `schema.fbs`; tables are read by the numbers of their fields there.
"""

from dataclasses import dataclass

import numpy as np
from flatbuffers import encode
from flatbuffers import number_types as numbers
from flatbuffers.table import Table

# The operators that our networks hold, by their number in the schema.
OPERATORS = {0: "add", 3: "conv", 4: "depthwise_conv", 18: "mul", 19: "relu", 22: "reshape", 41: "sub", 101: "abs"}
# Kinds of tensors: of the schema's, those that hold weights.
KINDS = {0: np.float32, 2: np.int32}


class Fields:
    """A table of the file."""

    def __init__(self, data, position):
        self.table = Table(data, position)

    def _at(self, field):
        return self.table.Offset(4 + 2 * field)

    def number(self, field, kind=numbers.Int32Flags, otherwise=0):
        at = self._at(field)
        return self.table.Get(kind, at + self.table.Pos) if at else otherwise

    def values(self, field, kind):
        at = self._at(field)
        count = self.table.VectorLen(at) if at else 0
        return np.frombuffer(self.table.Bytes, kind, count, self.table.Vector(at)) if count else np.zeros(0, kind)

    def inner(self, field):
        at = self._at(field)
        return Fields(self.table.Bytes, self.table.Indirect(at + self.table.Pos)) if at else None

    def several(self, field):
        at = self._at(field)
        first = self.table.Vector(at) if at else 0
        count = self.table.VectorLen(at) if at else 0
        return [Fields(self.table.Bytes, self.table.Indirect(first + 4 * number)) for number in range(count)]


@dataclass
class Operator:
    kind: str
    inputs: list
    outputs: list
    options: Fields


class Network:
    """`shapes` of all tensors and `constants` of some, by number; `operators`; numbers of the one `input` and `output`."""

    def __init__(self, path):
        data = bytearray(path.read_bytes())
        model = Fields(data, encode.Get(numbers.UOffsetTFlags.packer_type, data, 0))
        # Operators below 127 stand in a byte, the others in an int of its own.
        codes = [max(code.number(0, numbers.Int8Flags), code.number(3)) for code in model.several(1)]
        buffers, graph = model.several(4), model.several(2)[0]
        self.shapes, self.constants = [], {}
        for number, tensor in enumerate(graph.several(0)):
            shape = tuple(int(side) for side in tensor.values(0, np.int32))
            held = buffers[tensor.number(2, numbers.Uint32Flags)].values(0, np.uint8)
            self.shapes.append(shape)
            if len(held):
                kind = KINDS[tensor.number(1, numbers.Int8Flags)]
                self.constants[number] = np.frombuffer(held.tobytes(), kind).reshape(shape)
        self.operators = []
        for operator in graph.several(3):
            code = codes[operator.number(0, numbers.Uint32Flags)]
            ends = [[int(number) for number in operator.values(field, np.int32)] for field in (1, 2)]
            self.operators.append(Operator(OPERATORS.get(code, f"operator {code}"), *ends, operator.inner(4)))
        (self.input,), (self.output,) = graph.values(1, np.int32), graph.values(2, np.int32)
