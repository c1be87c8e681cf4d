#!/usr/bin/env python3
"""Writes a memory graph of M3-Agent (a pickled VideoGraph) as JSON lines that `engramd import` reads.

    m3_graph.py GRAPH.pkl [OUT.jsonl]          without OUT: to standard output

Nothing in the pickle is executed: its graph and nodes become plain records, arrays become lists, and any other name
that it asks for is refused. docs/recordings.md describes the form. Needs nothing but Python 3.8.
"""

import collections
import io
import json
import math
import pickle
import re
import struct
import sys

CLIP_SECS = 30  # M3-Agent cuts videos into clips of so many seconds
TAG = re.compile(r"<(face|voice)_(\d+)>", re.IGNORECASE)
KINDS = {"img": "face", "face": "face", "voice": "voice", "episodic": "episodic", "semantic": "semantic"}


class Refused(Exception):
    """The file is no graph, or asks for more than data."""


class Record:
    """Stands in for the graph and its nodes: attributes, no behaviour."""

    def __init__(self, *_):
        pass


class Array:
    """Stands in for numpy's array: numbers in rows."""

    FORMATS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
               "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?"}

    def __init__(self, *_):
        self.rows = []

    def __setstate__(self, state):
        _, shape, dtype, fortran, data = state
        self.fill(data, dtype, shape, fortran)

    def fill(self, data, dtype, shape, fortran):
        if fortran and len(shape) > 1:
            raise Refused("an array in Fortran's order: save it with numpy.ascontiguousarray")
        if not isinstance(data, (bytes, bytearray)) or not isinstance(dtype, Dtype):
            raise Refused("an array of something else than numbers")
        values, sides = dtype.read(data), [int(side) for side in shape]
        if math.prod(sides) != len(values):
            raise Refused("an array that is not of the shape it says")
        self.rows = nested(values, sides)


class Dtype:
    """Stands in for the type of an array's numbers."""

    def __init__(self, name="f8", *_):
        self.name, self.order = str(name).lstrip("<>=|"), "<"

    def __setstate__(self, state):
        self.order = ">" if state[1] == ">" else "<"

    def read(self, data):
        letter = Array.FORMATS.get(self.name)
        if letter is None:
            raise Refused(f"an array of {self.name}: numbers are read")
        count, rest = divmod(len(data), struct.calcsize("<" + letter))
        if rest:
            raise Refused("an array whose bytes are no whole number of numbers")
        return list(struct.unpack(f"{self.order}{count}{letter}", bytes(data)))


def nested(values, shape):
    if len(shape) <= 1:
        return values if shape else values[0]
    width = len(values) // max(shape[0], 1)
    return [nested(values[at * width:(at + 1) * width], shape[1:]) for at in range(shape[0])]


def empty_array(*_):
    return Array()


def array_of_buffer(data, dtype, shape, order):
    array = Array()
    array.fill(bytes(data), dtype, shape if isinstance(shape, tuple) else (shape,), order == "F")
    return array


def scalar(dtype, data=b""):
    if not isinstance(dtype, Dtype) or not isinstance(data, bytes):
        raise Refused("a numpy scalar that is no number")
    return dtype.read(data)[0]


def latin1(text, encoding="latin1"):
    """How protocols before 3 write bytes."""
    if not isinstance(text, str) or str(encoding).replace("-", "") != "latin1":
        raise Refused("text in a code of its own")
    return text.encode("latin1")


def record_of(kind, *_):
    if kind is not Record:
        raise Refused("an object that is neither the graph nor a node")
    return Record()


def inner(owner, name):
    """How protocols before 4 name the class of nodes inside that of the graph."""
    if owner is not Record or name not in GRAPH:
        raise Refused(f"it asks for an attribute {name!r}, which no memory graph needs; nothing was executed")
    return Record


def table(*_):
    """A defaultdict without its default, which would have to be called."""
    return {}


GRAPH = {"VideoGraph", "Node"}
PLAIN = {name: kind for name, kind in [
    ("list", list), ("dict", dict), ("set", set), ("frozenset", frozenset), ("tuple", tuple), ("int", int),
    ("float", float), ("bool", bool), ("str", str), ("object", object)]}
KNOWN = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "defaultdict"): table,
    ("copyreg", "_reconstructor"): record_of,
    ("copy_reg", "_reconstructor"): record_of,
    ("builtins", "getattr"): inner,
    ("__builtin__", "getattr"): inner,
    ("_codecs", "encode"): latin1,
    ("numpy", "ndarray"): Array,
    ("numpy", "dtype"): Dtype,
}
for core in ("numpy.core", "numpy._core"):
    KNOWN[core + ".multiarray", "_reconstruct"] = empty_array
    KNOWN[core + ".multiarray", "scalar"] = scalar
    KNOWN[core + ".numeric", "_frombuffer"] = array_of_buffer


class Reader(pickle.Unpickler):
    """Makes records, containers and numbers; nothing that a pickle names is imported."""

    def find_class(self, module, name):
        if name.rpartition(".")[2] in GRAPH:
            return Record
        if module in ("builtins", "__builtin__") and name in PLAIN:
            return PLAIN[name]
        if (module, name) in KNOWN:
            return KNOWN[module, name]
        raise Refused(f"it asks for {module}.{name}, which no memory graph needs; nothing was executed")


def read(data):
    try:
        graph = Reader(io.BytesIO(data), encoding="latin1").load()
    except Refused:
        raise
    except Exception as error:  # a damaged pickle fails in every way there is
        raise Refused(f"it cannot be read as a pickle: {type(error).__name__}: {error}") from None
    if not isinstance(graph, Record) or not isinstance(getattr(graph, "nodes", None), dict):
        raise Refused("there is no VideoGraph with nodes in it")
    return graph


def plain(vectors):
    """Embeddings as lists of numbers, to seven figures."""
    if isinstance(vectors, Array):
        vectors = vectors.rows
    rows = [row.rows if isinstance(row, Array) else row for row in vectors or []]
    if rows and not isinstance(rows[0], (list, tuple)):
        rows = [rows]
    return [[float(f"{float(value):.7g}") for value in row] for row in rows]


def clips_of(graph):
    """The clip of every sentence by the graph's index, for nodes that do not say it."""
    clips = getattr(graph, "text_nodes_by_clip", None) or {}
    return {int(node): int(clip) for clip, nodes in clips.items() for node in nodes}


def characters(graph):
    """Pairs of faces and voices that the graph counts as one character."""
    mappings = getattr(graph, "character_mappings", None) or {}
    for tags in mappings.values():
        ids = [int(str(tag).strip("<>").rpartition("_")[2]) for tag in tags]
        yield from zip(ids, ids[1:])


def lines(graph):
    """The JSON form: a list of nodes, edges, equivalences, and what was left out."""
    clips, nodes, texts, parts = clips_of(graph), [], {}, set()
    for key, node in graph.nodes.items():
        number, kind = int(getattr(node, "id", key)), KINDS.get(str(getattr(node, "type", None)))
        if kind is None:
            raise Refused(f"node {number} is of type {getattr(node, 'type', None)!r}")
        metadata = getattr(node, "metadata", None) or {}
        contents = metadata.get("contents") or []
        contents = [contents] if isinstance(contents, str) else list(contents)
        if kind in ("face", "voice"):
            parts.add(number)
            row = {"node": number, "type": kind, "embeddings": plain(getattr(node, "embeddings", None))}
            if kind == "voice":  # those of a face are pictures
                row["contents"] = [str(text) for text in contents]
            nodes.append(row)
            continue
        clip = metadata.get("timestamp", clips.get(number))
        text = " ".join(str(text) for text in contents)
        if clip is None or int(clip) < 0:
            raise Refused(f"node {number} does not say of which clip it is")
        texts[number] = {"node": number, "type": kind, "clip": int(clip), "contents": [text]}
    edges, loose = {}, 0
    for (a, b), weight in (getattr(graph, "edges", None) or {}).items():
        text, part = (int(a), int(b)) if int(a) in texts else (int(b), int(a))
        if text in texts and part in parts:
            edges[text, part] = max(float(weight), edges.get((text, part), 0.0))
        else:
            loose += 1
    equivalences, said = [], set()
    for number, row in texts.items():
        if not row["contents"][0].strip().lower().startswith("equivalence"):
            continue
        said.add(number)
        ids = [int(tag[1]) for tag in TAG.findall(row["contents"][0]) if int(tag[1]) in parts]
        weight = max((own for (text, _), own in edges.items() if text == number), default=1.0)
        equivalences += [(a, b, weight) for a, b in zip(ids, ids[1:])]
    if not said:
        equivalences = [(a, b, 1.0) for a, b in characters(graph) if a in parts and b in parts]
    nodes += [row for number, row in texts.items() if number not in said and row["contents"][0].strip()]
    kept = {row["node"] for row in nodes}
    rows = nodes + [{"edge": list(ends), "weight": weight} for ends, weight in edges.items() if ends[0] in kept]
    rows += [{"equivalent": [a, b], "weight": weight} for a, b, weight in equivalences]
    counts = {"nodes": len(nodes), "edges": len(rows) - len(nodes) - len(equivalences),
              "equivalences": len(equivalences)}
    return [{"m3_graph": 1, "clip_secs": CLIP_SECS, **counts}] + rows, loose


def main(path, out=None):
    with open(path, "rb") as file:
        data = file.read()
    rows, loose = lines(read(data))
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    if out is None:
        sys.stdout.buffer.write(text.encode())
    else:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)
    if loose:
        print(f"{path}: {loose} edges that lead nowhere were left out", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    try:
        main(*sys.argv[1:])
    except (OSError, Refused, ValueError, TypeError, AttributeError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
