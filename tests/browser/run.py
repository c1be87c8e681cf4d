#!/usr/bin/env python3
"""Tests of the web page in a real browser: Debian's headless Chromium, a real daemon, the demo recording.

  make test-page                                     brings what is missing, and runs all of it
  tests/browser/run.py --only test_people            one file
  tests/browser/run.py --page src/http/page          the page's files as they lie there, instead of those in the binary
  tests/browser/run.py --screens docs/images         writes the pictures of the documents, too

Exit code: 0 passed or skipped (the reason is printed), 1 failed.
"""

import argparse
import importlib.util
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def missing(options) -> str | None:
    """What keeps the tests from running, with its cure."""
    if not options.chromium:
        return "Chromium is missing (apt-get install chromium)"
    if importlib.util.find_spec("playwright") is None:
        return "the Python package playwright is missing (scripts/setup.sh dev page)"
    for path, cure in (
        (options.engramd, "cargo build"),
        (options.recording, "scripts/demo_recording.sh"),
        (options.axe, "scripts/setup.sh dev page"),
    ):
        if not path.exists():
            return f"{path} is missing ({cure})"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engramd", type=Path, default=ROOT / "target/debug/engramd")
    parser.add_argument("--recording", type=Path, default=ROOT / "target/demo/demo.mp4")
    parser.add_argument("--models", type=Path, default=ROOT / "target/models", help="folder of the set edge")
    parser.add_argument("--axe", type=Path, default=ROOT / "target/page/node_modules/axe-core/axe.min.js")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    parser.add_argument("--page", type=Path, help="folder of the page's files")
    parser.add_argument("--screens", type=Path, help="folder for the pictures of the documents")
    parser.add_argument("--only", action="append", help="a test file, class or method by (part of) its name; repeatable")
    options = parser.parse_args()
    own = ROOT / "target/page/venv/bin/python"
    if importlib.util.find_spec("playwright") is None and own.exists() and Path(sys.prefix) != own.parent.parent:
        os.execv(own, [str(own), "-B", *sys.argv])
    why = missing(options)
    if why:
        print(f"[page] skipped: {why}")
        return 0
    sys.path.insert(0, str(HERE))
    import rig

    with tempfile.TemporaryDirectory(prefix="engram-page-") as folder:
        rig.open(options, Path(folder))
        try:
            loader = unittest.TestLoader()
            loader.testNamePatterns = [f"*{one}*" for one in options.only] if options.only else None
            suite = loader.discover(str(HERE))
            result = unittest.TextTestRunner(verbosity=2).run(suite)
        finally:
            rig.close()
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
