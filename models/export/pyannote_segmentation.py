"""pyannote's speaker segmentation (Bredin and Laurent 2021, arXiv 2104.04045; weights of pip `whisperx`) as ONNX.

Usage: pyannote_segmentation.py --from DIR --to DIR; DIR of --from holds whisperx/assets/pytorch_model.bin.

  sound [N,1,T] float32, 16 kHz, -1..1; T >= 991 (trained on 5 s)
  -> activity [N,F,3], probability that each of three speakers speaks; F = (T - 991) // 270 + 1

Speakers have no identity beyond the run: which of the three is whose is decided anew each time. Frame i sees
the samples [270 i, 270 i + 991) directly, and all others through the LSTM.

The net is PyanNet: SincNet (Ravanelli and Bengio 2018, arXiv 1808.00158; even and odd filters as in Pariente et
al. 2020, arXiv 1910.10400) with its filters worked out into a plain convolution, a bidirectional LSTM of four
layers, two hidden layers, a sigmoid. The checkpoint is a Lightning one; only its tensors are read.
"""

import numpy as np

from cli import arguments
from graph import Graph, report, run
from weights import lightning_state

NOTE = "16 kHz, -1..1. Weights of pyannote/segmentation (MIT)."
SAMPLE_RATE = 16000.0
# Hz; fixed numbers of the filter bank, not learned.
MIN_LOW_HZ, MIN_BAND_HZ = 50.0, 50.0
STRIDE = 10
LAYERS, HIDDEN = 4, 128
LEAK = 0.01
EPSILON = 1e-5


def sinc_filters(state):
    """The learned band-passes as kernels [80, 1, 251]: 40 even ones, then 40 odd ones."""
    bank = "sincnet.conv1d.0.filterbank"
    low_hz, band_hz, window, n = (
        state[f"{bank}.{name}"].astype(np.float64) for name in ("low_hz_", "band_hz_", "window_", "n_")
    )
    low = MIN_LOW_HZ + np.abs(low_hz)
    high = np.clip(low + MIN_BAND_HZ + np.abs(band_hz), MIN_LOW_HZ, SAMPLE_RATE / 2)
    band = high - low
    even = (np.sin(high @ n) - np.sin(low @ n)) / (n / 2) * window
    odd = (np.cos(low @ n) - np.cos(high @ n)) / (n / 2) * window
    even = np.concatenate([even, 2 * band, even[:, ::-1]], axis=1)
    odd = np.concatenate([odd, np.zeros_like(band), -odd[:, ::-1]], axis=1)
    return (np.concatenate([even, odd]) / np.concatenate([2 * band, 2 * band]))[:, None, :].astype(np.float32)


def by_onnx_gates(array):
    """Rows of the gates input, forget, cell, output (PyTorch) as input, output, forget, cell (ONNX)."""
    i, f, c, o = np.split(array, 4)
    return np.concatenate([i, o, f, c])


def build(s):
    g = Graph("pyannote_segmentation")

    def norm(x, name):
        return g.op("InstanceNormalization", x, g.weight(s[f"{name}.weight"]), g.weight(s[f"{name}.bias"]),
                    epsilon=EPSILON)

    def leaky(x):
        return g.op("LeakyRelu", x, alpha=LEAK)

    x = norm(g.input("sound", ["N", 1, "T"]), "sincnet.wav_norm1d")
    kernel = sinc_filters(s)
    x = g.op("Conv", x, g.weight(kernel), kernel_shape=[kernel.shape[2]], strides=[STRIDE])
    x = g.op("Abs", x)
    for i in range(3):
        if i > 0:
            weight, bias = s[f"sincnet.conv1d.{i}.weight"], s[f"sincnet.conv1d.{i}.bias"]
            x = g.op("Conv", x, g.weight(weight), g.weight(bias), kernel_shape=[weight.shape[2]])
        x = g.op("MaxPool", x, kernel_shape=[3], strides=[3])
        x = leaky(norm(x, f"sincnet.norm1d.{i}"))

    x = g.op("Transpose", x, perm=[2, 0, 1])
    for layer in range(LAYERS):
        names = [f"l{layer}", f"l{layer}_reverse"]
        stack = lambda kind: np.stack([by_onnx_gates(s[f"lstm.{kind}_{name}"]) for name in names])
        bias = np.concatenate([stack("bias_ih"), stack("bias_hh")], axis=1)
        y = g.op("LSTM", x, g.weight(stack("weight_ih")), g.weight(stack("weight_hh")), g.weight(bias),
                 hidden_size=HIDDEN, direction="bidirectional")
        # [F, direction, N, hidden] -> [F, N, direction * hidden]
        x = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.ints(0, 0, 2 * HIDDEN))
    x = g.op("Transpose", x, perm=[1, 0, 2])
    for i in range(2):
        x = leaky(g.linear(x, s[f"linear.{i}.weight"].T, s[f"linear.{i}.bias"]))
    x = g.op("Sigmoid", g.linear(x, s["classifier.weight"].T, s["classifier.bias"]))
    g.output("activity", x, ["N", "F", len(s["classifier.bias"])])
    return g


def reference(torch, s, sound):
    """The same net in PyTorch's own operators."""
    f = torch.nn.functional
    w = {key: torch.from_numpy(value) for key, value in s.items()}

    def norm(x, name):
        return f.instance_norm(x, weight=w[f"{name}.weight"], bias=w[f"{name}.bias"], eps=EPSILON)

    lstm = torch.nn.LSTM(60, HIDDEN, LAYERS, bidirectional=True, batch_first=True)
    lstm.load_state_dict({key[len("lstm."):]: value for key, value in w.items() if key.startswith("lstm.")})
    with torch.no_grad():
        x = norm(torch.from_numpy(sound), "sincnet.wav_norm1d")
        x = f.conv1d(x, torch.from_numpy(sinc_filters(s)), stride=STRIDE).abs()
        for i in range(3):
            if i > 0:
                x = f.conv1d(x, w[f"sincnet.conv1d.{i}.weight"], w[f"sincnet.conv1d.{i}.bias"])
            x = f.leaky_relu(norm(f.max_pool1d(x, 3), f"sincnet.norm1d.{i}"))
        x, _ = lstm(x.transpose(1, 2))
        for i in range(2):
            x = f.leaky_relu(f.linear(x, w[f"linear.{i}.weight"], w[f"linear.{i}.bias"]))
        return torch.sigmoid(f.linear(x, w["classifier.weight"], w["classifier.bias"])).numpy()


def parity(path, state):
    """Compares with PyTorch, where it is installed."""
    try:
        import torch
    except ImportError:
        print(f"{path.name}: written; PyTorch (Debian python3-torch) is not installed, parity not checked")
        return
    worst = 0.0
    for shape in [(1, 1, 80000), (2, 1, 80000), (1, 1, 16007), (1, 1, 1261)]:
        sound = np.random.default_rng(1).uniform(-0.3, 0.3, shape).astype(np.float32)
        # Noise that comes and goes: closer to speech than an even hiss.
        sound *= np.sin(np.arange(shape[2]) / 3000.0).astype(np.float32)
        (found,) = run(path, sound=sound)
        frames = (shape[2] - 991) // 270 + 1
        if found.shape != (shape[0], frames, 3):
            raise SystemExit(f"{path.name}: {shape} gave {found.shape} instead of {(shape[0], frames, 3)}")
        worst = max(worst, float(np.abs(found - reference(torch, state, sound)).max()))
    report(path, "against PyTorch", worst, 1e-4)


def main():
    source, target = arguments(__doc__)
    state = lightning_state(source / "whisperx/assets/pytorch_model.bin")
    path = target / "pyannote_segmentation.onnx"
    build(state).save(path, NOTE)
    parity(path, state)


if __name__ == "__main__":
    main()
