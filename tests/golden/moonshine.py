#!/usr/bin/env python3
"""What the published Moonshine base writes, token by token: the golden file of the Rust decoder's test.

Usage: moonshine.py FOLDER SHARED > moonshine.json; FOLDER holds encoder_model.ort and decoder_model_merged.ort of the pip
package `moonshine-cpp` 0.1.4, SHARED the recordings. Needs numpy, onnxruntime and soundfile.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import soundfile

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime

AUDIO = "recordings/audio"
FILES = [
    *(f"{AUDIO}/librivox_austen/{name}.wav" for name in ("0870", "0880", "0890")),
    f"{AUDIO}/beckett.wav",
    *(f"{AUDIO}/librispeech/{name}-000{n}.flac" for n in (1, 4, 7)
      for name in ("1688/1688-142285", "1998/1998-15444", "2033/2033-164914",
                   "2414/2414-128291", "2609/2609-156975", "3005/3005-163389")),
]


def main():
    folder, shared = Path(sys.argv[1]), Path(sys.argv[2])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    encoder, decoder = (onnxruntime.InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])
                        for name in ("encoder_model.ort", "decoder_model_merged.ort"))
    outputs = [output.name for output in decoder.get_outputs()][1:]
    golden = {}
    for file in FILES:
        sound, rate = soundfile.read(shared / file, dtype="float32")
        if sound.ndim > 1 or len(sound) > 16 * rate:
            continue
        assert rate == 16000, file
        hidden = encoder.run(None, {"input_values": sound[None]})[0]
        caches = {name.replace("present", "past_key_values"): np.zeros((1, 8, 0, 52), np.float32) for name in outputs}
        tokens, last = [], 1
        for step in range(int(len(sound) / 16000 * 6.5) + 6):
            logits, *present = decoder.run(None, {
                "input_ids": np.array([[last]], np.int64), "encoder_hidden_states": hidden,
                "use_cache_branch": np.array([step > 0]), **caches})
            last = int(logits[0, -1].argmax())
            if last == 2:
                break
            tokens.append(last)
            for name, value in zip(outputs, present, strict=True):
                if step == 0 or ".decoder." in name:
                    caches[name.replace("present", "past_key_values")] = value
        golden[file] = tokens
    rows = ",\n".join(f"  {json.dumps(file)}: {json.dumps(tokens)}" for file, tokens in golden.items())
    print(f"{{\n{rows}\n}}")


if __name__ == "__main__":
    main()
