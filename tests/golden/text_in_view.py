#!/usr/bin/env python3
"""What PaddleOCR's own pipeline reads in a picture, for the test that compares ours with it.

    python tests/golden/text_in_view.py tests/golden/text_in_view.jpg > tests/golden/text_in_view.json

Runs `rapidocr-onnxruntime` 1.4.4 at the size that engramd reads a picture at (the shorter side at least 480 px), without its
classifier of upside-down lines. Corners: top left, top right, bottom right, bottom left, px.
"""
import json
import sys

import cv2
from rapidocr_onnxruntime import RapidOCR


def main():
    picture = cv2.imread(sys.argv[1])
    read = RapidOCR(det_limit_side_len=480, det_limit_type="min", use_cls=False, text_score=0.5)
    found, _ = read(picture, use_cls=False)
    lines = [{"quad": [[round(float(v), 1) for v in p] for p in quad], "text": text} for quad, text, _ in found or []]
    json.dump({"lines": lines}, sys.stdout, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
