"""Moonshine base (weights of pip `moonshine-cpp`) as two ONNX files that are quick on a CPU and tell word times.

Usage: moonshine.py --from DIR --to DIR; DIR of --from holds the package's base-en/{encoder_model,decoder_model_merged}.ort.

  moonshine_base_encoder.onnx: sound [1,T] float32, 16 kHz, -1..1; T >= 2000
  -> cross.{0..7}.{key,value} [1,8,S,52], what every decoding step attends to; S is about T / 384
  moonshine_base_decoder.onnx: token [1,1] int64, past.{0..7}.{key,value} [1,8,P,52] (P = 0 at first), cross.*
  -> logits [1,1,32768], present.{0..7}.{key,value} [1,8,P+1,52], attention [1,1,S]: where in the sound the next token is

The published decoder keeps both of its branches behind an `If` and its weights as int8 that are made float again in
every step, which is most of its time. Here the first branch's part (keys and values of the sound) belongs to the
encoder, the cached branch is the decoder, and products take the same int8 weights as `MatMulNBits` (blocks of 32).
Attention is the mean of the six heads whose weight lies most on the word that is written, measured on speech of known
word times (espeak-ng's and flite's voices): aligned by it, words begin within 0.03 s of where they do (median, fluent).
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cli import arguments
from graph import report

FOLDER = "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/models/base-en"
NOTE = "Speech recognition: Moonshine base, English. Weights of Useful Sensors' Moonshine (MIT)."
LAYERS, HEADS, EACH = 8, 8, 52
BLOCK = 32
# Heads that follow the words, by layer.
ALIGNING = {4: [2], 5: [5, 6], 6: [0, 1, 4]}


def session(path, saved=None):
    """Opens a file on one thread; where asked, saves what ONNX Runtime's own format holds as ONNX."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # its own builds report to their makers as soon as they are loaded
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if saved:
        options.optimized_model_filepath = str(saved)
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def unpacked(path):
    """The graph of a file in ONNX Runtime's own format."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "model.onnx"
        session(path, saved)
        return onnx.load(saved).graph


class Parts:
    """Nodes and constants of a graph under way; weights as integers, scale and zero."""

    def __init__(self, graph):
        self.nodes = []
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        # Weights are stored as q, and used as Add(Mul(Cast(q), scale), zero).
        self.weights = {}
        made_by = {node.output[0]: node for node in graph.node}
        for node in graph.node:
            scaled = made_by.get(node.input[0]) if node.op_type == "Add" else None
            cast = made_by.get(scaled.input[0]) if scaled is not None and scaled.op_type == "Mul" else None
            if cast is not None and cast.op_type == "Cast" and cast.input[0] in self.constants:
                scale, zero = self.constants[scaled.input[1]], self.constants[node.input[1]]
                self.weights[node.output[0]] = (self.constants[cast.input[0]], float(scale.item()), float(zero.item()))

    def add(self, nodes, rename=()):
        names = dict(rename)
        for node in nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = [names.get(name, name) for name in node.input]
            copy.output[:] = [names.get(name, name) for name in node.output]
            self.nodes.append(copy)

    def plain(self, name):
        q, scale, zero = self.weights[name]
        return q.astype(np.float32) * np.float32(scale) + np.float32(zero)

    def finish(self, outputs):
        """Turns products by weights into `MatMulNBits` and gives nodes and constants that `outputs` need."""
        transposed = {node.output[0]: node.input[0] for node in self.nodes
                      if node.op_type == "Transpose" and node.input[0] in self.weights}
        nodes = []
        for node in self.nodes:
            if node.op_type == "MatMul" and (node.input[1] in self.weights or node.input[1] in transposed):
                nodes.append(self.product(node, transposed))
            elif node.op_type == "Gather" and node.input[0] in self.weights:
                nodes.extend(self.row(node))
            else:
                nodes.append(node)
        wanted, kept = set(outputs), []
        for node in reversed(nodes):
            if wanted.intersection(node.output):
                kept.append(node)
                wanted.update(node.input)
        made = {name for node in kept for name in node.output}
        for name in sorted(wanted & self.weights.keys() - made):
            self.constants[name] = self.plain(name)
        constants = [numpy_helper.from_array(np.array(self.constants[name], order="C"), name)
                     for name in sorted(wanted & self.constants.keys())]
        return kept[::-1], constants

    def product(self, node, transposed):
        """x @ w as a product by int8 weights, each block of 32 with its scale and zero."""
        name = node.input[1]
        by_row = name in transposed
        q, scale, zero = self.weights[transposed.get(name, name)]
        rows = (q if by_row else q.T).astype(np.int16)
        count, width = rows.shape
        assert width % BLOCK == 0, f"{name}: {width}"
        offset = 128 - round(zero / scale)
        assert abs(zero / scale - round(zero / scale)) < 1e-3 and 0 <= offset <= 255, f"{name}: {zero} / {scale}"
        blocks = width // BLOCK
        packed = {
            "bits": (rows + 128).astype(np.uint8).reshape(count, blocks, BLOCK),
            "scales": np.full((count, blocks), scale, np.float32),
            "zeros": np.full((count, blocks), offset, np.uint8),
        }
        for kind, value in packed.items():
            self.constants[f"{name}.{kind}"] = value
        return helper.make_node(
            "MatMulNBits", [node.input[0], *(f"{name}.{kind}" for kind in packed)], [node.output[0]],
            name=node.name or node.output[0], domain="com.microsoft",
            K=width, N=count, bits=8, block_size=BLOCK, accuracy_level=4)

    def row(self, node):
        """A row of the table of tokens, made float after it was looked up."""
        q, scale, zero = self.weights[node.input[0]]
        table, out = f"{node.input[0]}.table", node.output[0]
        self.constants[table] = q
        self.constants[f"{table}.scale"] = np.float32(scale)
        self.constants[f"{table}.zero"] = np.float32(zero)
        return [
            helper.make_node("Gather", [table, node.input[1]], [f"{out}.q"], axis=0),
            helper.make_node("Cast", [f"{out}.q"], [f"{out}.float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{out}.float", f"{table}.scale"], [f"{out}.scaled"]),
            helper.make_node("Add", [f"{out}.scaled", f"{table}.zero"], [out]),
        ]


def save(path, parts, inputs, outputs):
    nodes, constants = parts.finish([name for name, _ in outputs])

    def value(name, shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(nodes, path.stem, [value(*each) for each in inputs],
                              [value(*each) for each in outputs], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 8
    model.doc_string = NOTE
    onnx.save(model, path)


def states(name, length):
    return [(f"{name}.{layer}.{kind}", [1, HEADS, length, EACH]) for layer in range(LAYERS) for kind in ("key", "value")]


def build(encoder, decoder, target):
    """Writes both files; gives their paths."""
    branch = {a.name: a.g for node in decoder.node if node.op_type == "If" for a in node.attribute}
    first, cached = branch["else_branch"], branch["then_branch"]
    for graph in (first, cached):
        decoder.initializer.extend(graph.initializer)

    # The sound's keys and values hang on the encoder, one sound at a time.
    parts, hidden = Parts(encoder), encoder.output[0].name
    parts.add(encoder.node, {"input_values": "sound"})
    made_by = {node.output[0]: node for node in first.node}
    weights = Parts(decoder).weights
    parts.constants["heads"] = np.array([1, -1, HEADS, EACH])
    for layer in range(LAYERS):
        for kind in ("key", "value"):
            product = made_by[f"/model/decoder/layers.{layer}/encoder_attn/{kind[0]}_proj/MatMul_output_0"]
            name = f"cross.{layer}.{kind}"
            parts.weights[f"{name}.weight"] = weights[product.input[1]]
            parts.add([
                helper.make_node("MatMul", [hidden, f"{name}.weight"], [f"{name}.flat"]),
                helper.make_node("Reshape", [f"{name}.flat", "heads"], [f"{name}.parted"]),
                helper.make_node("Transpose", [f"{name}.parted"], [name], perm=[0, 2, 1, 3]),
            ])
    paths = target / "moonshine_base_encoder.onnx", target / "moonshine_base_decoder.onnx"
    save(paths[0], parts, [("sound", [1, "T"])], states("cross", "S"))

    parts = Parts(decoder)
    names = {"input_ids": "token"}
    for layer in range(LAYERS):
        for kind in ("key", "value"):
            names[f"past_key_values.{layer}.decoder.{kind}"] = f"past.{layer}.{kind}"
            names[f"past_key_values.{layer}.encoder.{kind}"] = f"cross.{layer}.{kind}"
            names[f"present.{layer}.decoder.{kind}"] = f"present.{layer}.{kind}"
    parts.add(cached.node, names)
    for layer, heads in ALIGNING.items():
        parts.constants[f"heads.{layer}"] = np.array(heads)
        softmax = f"/model/decoder/layers.{layer}/encoder_attn/Softmax_output_0"
        parts.add([helper.make_node("Gather", [softmax, f"heads.{layer}"], [f"aligning.{layer}"], axis=1)])
    parts.add([
        helper.make_node("Concat", [f"aligning.{layer}" for layer in ALIGNING], ["aligning"], axis=1),
        helper.make_node("ReduceMean", ["aligning"], ["attention"], axes=[1], keepdims=0),
    ])
    save(paths[1], parts,
         [("token", [1, 1], TensorProto.INT64), *states("past", "P"), *states("cross", "S")],
         [("logits", [1, 1, 32768]), *states("present", "P + 1"), ("attention", [1, 1, "S"])])
    return paths


def published(encoder, decoder, sound, tokens):
    """Logits of the published files after each of `tokens`."""
    hidden = encoder.run(None, {"input_values": sound})[0]
    outputs = [o.name for o in decoder.get_outputs()][1:]
    caches = {name.replace("present", "past_key_values"): np.zeros((1, HEADS, 0, EACH), np.float32) for name in outputs}
    found = []
    for step, token in enumerate(tokens):
        logits, *present = decoder.run(None, {
            "input_ids": np.array([[token]], np.int64), "encoder_hidden_states": hidden,
            "use_cache_branch": np.array([step > 0]), **caches})
        found.append(logits[0, 0])
        for name, value in zip(outputs, present, strict=True):
            if step == 0 or ".decoder." in name:
                caches[name.replace("present", "past_key_values")] = value
    return np.array(found)


def exported(encoder, decoder, sound, tokens):
    """The same of the two files."""
    cross = dict(zip([o.name for o in encoder.get_outputs()], encoder.run(None, {"sound": sound}), strict=True))
    names = [o.name for o in decoder.get_outputs()][1:-1]
    past = {name.replace("present", "past"): np.zeros((1, HEADS, 0, EACH), np.float32) for name in names}
    found = []
    for token in tokens:
        logits, *present, attention = decoder.run(None, {"token": np.array([[token]], np.int64), **past, **cross})
        assert abs(attention.sum(-1) - 1).max() < 1e-4
        found.append(logits[0, 0])
        past = {name.replace("present", "past"): value for name, value in zip(names, present, strict=True)}
    return np.array(found)


def main():
    source, target = arguments(__doc__)
    files = [source / FOLDER / name for name in ("encoder_model.ort", "decoder_model_merged.ort")]
    paths = build(*(unpacked(path) for path in files), target)

    # Two seconds of a voice-like buzz, and tokens of a sentence.
    at = np.arange(32000) / 16000
    sound = sum(np.sin(2 * np.pi * 120 * n * at) / n for n in range(1, 20)) * np.sin(2 * np.pi * 3 * at) ** 2
    sound = (0.1 * sound).astype(np.float32)[None]
    tokens = [1, 940, 470, 366, 450, 6989, 1236, 29889]
    wanted = published(*(session(path) for path in files), sound, tokens)
    found = exported(*(session(path) for path in paths), sound, tokens)
    norm = np.linalg.norm
    cosines = (wanted * found).sum(1) / norm(wanted, axis=1) / norm(found, axis=1)
    report(paths[1], "1 - cosine of the logits to the published files'", float(1 - cosines.min()), 0.001)


if __name__ == "__main__":
    main()
