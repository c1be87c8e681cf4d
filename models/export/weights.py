"""Readers of the weight files that packages carry, without running anything that lies in them."""

import collections
import json
import pickle
from pathlib import Path

import numpy as np

_TORCH_STORAGE = {"FloatStorage": np.float32, "HalfStorage": np.float16, "DoubleStorage": np.float64,
                  "LongStorage": np.int64, "IntStorage": np.int32}


class _Tensor:
    """A tensor as its pickle describes it, before the bytes are read."""

    def __init__(self, storage, offset, size, stride, *_):
        self.storage, self.offset, self.size, self.stride = storage, offset, size, stride

    def array(self, storages):
        values = storages[self.storage][self.offset :]
        strides = [step * values.itemsize for step in self.stride]
        return np.array(np.lib.stride_tricks.as_strided(values, self.size, strides))


class _TensorUnpickler(pickle.Unpickler):
    """Knows tensors and ordered dictionaries, and refuses every other name that a pickle asks for."""

    def __init__(self, stream):
        super().__init__(stream)
        self.dtypes = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Tensor
        if module == "torch" and name in _TORCH_STORAGE:
            return _TORCH_STORAGE[name]
        raise pickle.UnpicklingError(f"the checkpoint names {module}.{name}, which no list of weights needs")

    def persistent_load(self, pid):
        kind, dtype, key = pid[:3]
        if kind != "storage":
            raise pickle.UnpicklingError(f"unknown kind of stored object {kind!r}")
        self.dtypes[key] = dtype
        return key


def torch_state(path):
    """Reads a `torch.save(state_dict)` of PyTorch's format before 1.6 into a dictionary of arrays.

    The file is four pickles (magic number, version, machine, the dictionary), a pickled list of the
    storages' keys, then for each key a count and its values.
    """
    with open(path, "rb") as stream:
        if _TensorUnpickler(stream).load() != 0x1950A86A20F9469CFC6C:
            raise SystemExit(f"{path}: is no PyTorch checkpoint of the old format")
        _TensorUnpickler(stream).load()
        _TensorUnpickler(stream).load()
        unpickler = _TensorUnpickler(stream)
        state = unpickler.load()
        storages = {}
        for key in _TensorUnpickler(stream).load():
            count = int.from_bytes(stream.read(8), "little")
            dtype = np.dtype(unpickler.dtypes[key])
            storages[key] = np.frombuffer(stream.read(count * dtype.itemsize), dtype=dtype)
    return {name: tensor.array(storages) for name, tensor in state.items()}


def safetensors(path):
    """Reads a .safetensors file of float32 and int64 tensors."""
    data = Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    dtypes = {"F32": np.float32, "I64": np.int64}
    body = memoryview(data)[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], dtype=dtypes[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
    }


def tfjs(manifest):
    """Reads a TensorFlow.js weights manifest and its shards; quantized weights are q · scale + min."""
    manifest = Path(manifest)
    weights = {}
    for group in json.loads(manifest.read_text()):
        data = b"".join((manifest.parent / shard).read_bytes() for shard in group["paths"])
        at = 0
        for entry in group["weights"]:
            count = int(np.prod(entry["shape"]))
            quantized = entry.get("quantization")
            stored = np.dtype(quantized["dtype"] if quantized else entry["dtype"])
            # Tensors follow each other without alignment: cut the bytes first.
            values = np.frombuffer(data[at : at + count * stored.itemsize], dtype=stored.newbyteorder("<"))
            at += count * stored.itemsize
            if quantized:
                values = values.astype(np.float32) * np.float32(quantized["scale"]) + np.float32(quantized["min"])
            weights[entry["name"]] = values.astype(np.float32).reshape(entry["shape"])
        if at != len(data):
            raise SystemExit(f"{manifest}: the shards hold {len(data)} bytes, the manifest describes {at}")
    return weights
