"""MTCNN's three nets (Zhang et al. 2016; weights of pip `facenet-pytorch`) as ONNX.

Usage: mtcnn.py --from DIR --to DIR; DIR of --from holds facenet_pytorch/data/{pnet,rnet,onet}.pt.

All take RGB, (x - 127.5) / 128, as `image`:
  pnet [N,3,H,W] -> box [N,4,h,w], score [N,2,h,w]           h = ceil((H-2)/2) - 4, w alike
  rnet [N,3,24,24] -> box [N,4], score [N,2]
  onet [N,3,48,48] -> box [N,4], landmarks [N,10], score [N,2]
`score` is a softmax (not a face, face); `box` is the regression (x1, y1, x2, y2) in box sizes;
`landmarks` are five x, then five y, in box sizes from the box before regression.
"""

import numpy as np

from cli import arguments
from graph import Graph, report, run
from weights import torch_state

NOTE = "RGB, (x - 127.5) / 128. MTCNN weights of facenet-pytorch (MIT)."


class _Net:
    """A graph together with the weights that its layers are named after."""

    def __init__(self, name, state, shape):
        self.graph = Graph(name)
        self.state = state
        self.x = self.graph.input("image", shape)

    def conv(self, index, spatial=True):
        """conv<index> and prelu<index>."""
        s = self.state
        self.x = self.graph.conv(self.x, s[f"conv{index}.weight"], s[f"conv{index}.bias"])
        self.x = self.graph.prelu(self.x, s[f"prelu{index}.weight"], spatial)

    def pool(self, size):
        self.x = self.graph.maxpool(self.x, size, 2, ceil=True)

    def flatten(self, index):
        """Flattens in W, H, C order, then dense<index> and prelu<index>."""
        s, g = self.state, self.graph
        self.x = g.op("Flatten", g.op("Transpose", self.x, perm=[0, 3, 2, 1]), axis=1)
        self.x = g.dense(self.x, s[f"dense{index}.weight"], s[f"dense{index}.bias"])
        self.x = g.prelu(self.x, s[f"prelu{index}.weight"], spatial=False)

    def head(self, name):
        return self.graph.dense(self.x, self.state[f"{name}.weight"], self.state[f"{name}.bias"])


def pnet(state):
    net = _Net("pnet", state, ["N", 3, "H", "W"])
    g = net.graph
    net.conv(1)
    net.pool(2)
    net.conv(2)
    net.conv(3)
    score = g.conv(net.x, state["conv4_1.weight"], state["conv4_1.bias"])
    g.output("box", g.conv(net.x, state["conv4_2.weight"], state["conv4_2.bias"]), ["N", 4, "h", "w"])
    g.output("score", g.softmax(score, axis=1), ["N", 2, "h", "w"])
    return g


def rnet(state):
    net = _Net("rnet", state, ["N", 3, 24, 24])
    g = net.graph
    net.conv(1)
    net.pool(3)
    net.conv(2)
    net.pool(3)
    net.conv(3)
    net.flatten(4)
    g.output("box", net.head("dense5_2"), ["N", 4])
    g.output("score", g.softmax(net.head("dense5_1"), axis=1), ["N", 2])
    return g


def onet(state):
    net = _Net("onet", state, ["N", 3, 48, 48])
    g = net.graph
    net.conv(1)
    net.pool(3)
    net.conv(2)
    net.pool(3)
    net.conv(3)
    net.pool(2)
    net.conv(4)
    net.flatten(5)
    g.output("box", net.head("dense6_2"), ["N", 4])
    g.output("landmarks", net.head("dense6_3"), ["N", 10])
    g.output("score", g.softmax(net.head("dense6_1"), axis=1), ["N", 2])
    return g


def reference(torch, name, state, image):
    """The same net in PyTorch's own operators: (box, score), with landmarks between for the O-Net."""
    f = torch.nn.functional
    w = {key: torch.from_numpy(value) for key, value in state.items()}

    def conv(x, i):
        return f.prelu(f.conv2d(x, w[f"conv{i}.weight"], w[f"conv{i}.bias"]), w[f"prelu{i}.weight"])

    def pool(x, size):
        return f.max_pool2d(x, size, 2, ceil_mode=True)

    def head(x, key):
        return f.linear(x, w[f"{key}.weight"], w[f"{key}.bias"])

    def dense(x, i):
        return f.prelu(head(x.permute(0, 3, 2, 1).flatten(1), f"dense{i}"), w[f"prelu{i}.weight"])

    x = torch.from_numpy(image)
    if name == "pnet":
        x = conv(conv(pool(conv(x, 1), 2), 2), 3)
        box = f.conv2d(x, w["conv4_2.weight"], w["conv4_2.bias"])
        return box, f.softmax(f.conv2d(x, w["conv4_1.weight"], w["conv4_1.bias"]), dim=1)
    x = conv(pool(conv(pool(conv(x, 1), 3), 2), 3), 3)
    if name == "rnet":
        x = dense(x, 4)
        return head(x, "dense5_2"), f.softmax(head(x, "dense5_1"), dim=1)
    x = dense(conv(pool(x, 2), 4), 5)
    return head(x, "dense6_2"), head(x, "dense6_3"), f.softmax(head(x, "dense6_1"), dim=1)


def parity(path, name, state, shapes):
    """Compares with PyTorch, where it is installed."""
    try:
        import torch
    except ImportError:
        print(f"{path.name}: written; PyTorch (Debian python3-torch) is not installed, parity not checked")
        return
    worst = 0.0
    for shape in shapes:
        image = np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)
        pairs = zip(run(path, image=image), reference(torch, name, state, image), strict=True)
        worst = max(worst, *(float(np.abs(found - wanted.numpy()).max()) for found, wanted in pairs))
    report(path, "against PyTorch", worst, 1e-5)


def main():
    source, target = arguments(__doc__)
    for name, build, shapes in [
        ("pnet", pnet, [(1, 3, 12, 12), (1, 3, 205, 318), (2, 3, 97, 64)]),
        ("rnet", rnet, [(1, 3, 24, 24), (17, 3, 24, 24)]),
        ("onet", onet, [(1, 3, 48, 48), (5, 3, 48, 48)]),
    ]:
        path = target / f"mtcnn_{name}.onnx"
        state = torch_state(source / f"facenet_pytorch/data/{name}.pt")
        build(state).save(path, NOTE)
        parity(path, name, state, shapes)


if __name__ == "__main__":
    main()
