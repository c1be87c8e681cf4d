"""MobileFaceNet of foamliu/MobileFaceNet with a free batch axis.

Usage: mobilefacenet.py --from DIR --to DIR; DIR of --from holds face_emb_mobilefacenet_foamliu.onnx.

  input0 [N,3,112,112] RGB, five-point aligned, (x / 255 - mean) / std of ImageNet -> output0 [N,128], not normalised

The published file fixes N at 1 in its ends and in its one Reshape; nothing else is changed.
"""

import numpy as np
import onnx
from onnx import numpy_helper

from cli import arguments
from graph import report, run


def free_batch(model):
    graph = model.graph
    constants = {node.output[0]: node for node in graph.node if node.op_type == "Constant"}
    for node in graph.node:
        if node.op_type != "Reshape":
            continue
        value = constants[node.input[1]].attribute[0]
        shape = numpy_helper.to_array(value.t).copy()
        if shape[0] == 1:
            shape[:] = [0] + [-1] + list(shape[2:]) if -1 in shape[1:] else [-1, *shape[1:]]
        value.t.CopyFrom(numpy_helper.from_array(shape, value.t.name))
    for end in (*graph.input, *graph.output):
        end.type.tensor_type.shape.dim[0].dim_param = "N"
    del graph.value_info[:]  # the shapes in between said 1 too
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    source, target = arguments(__doc__)
    original = source / "face_emb_mobilefacenet_foamliu.onnx"
    path = target / "mobilefacenet.onnx"
    onnx.save(free_batch(onnx.load(original)), path)
    chips = np.random.default_rng(1).normal(0, 1, (5, 3, 112, 112)).astype(np.float32)
    wanted = np.concatenate([run(original, input0=chip[None])[0] for chip in chips])
    report(path, "five at once against one by one", float(np.abs(run(path, input0=chips)[0] - wanted).max()), 1e-5)


if __name__ == "__main__":
    main()
