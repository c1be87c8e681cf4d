#!/usr/bin/env python3
"""How long a service takes to be ready and to answer, and what it costs while nobody is in view.

    benches/service.py [ENGRAMD] [--idle-secs 30] [--set KEY=VALUE ...]

Starts `engramd run` with GStreamer's test picture as its camera, as systemd would (NOTIFY_SOCKET), in a store of its
own. Prints one JSON document: seconds to READY=1 and to the first answer, processor time in percent of one core
after 12 s of warming up, anonymous memory in MB, seconds to stop. Exit code 1 when a bar is missed, and a line on
stderr that names it.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from daemon import Process, free_port, options

PICTURE = '[[camera]]\nid = "front"\npipeline = "test"\n'
WARM_SECS = 12
# At most.
BARS = {"ready_secs": 3, "first_answer_secs": 3, "idle_percent": 15, "stop_secs": 5}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default="target/release/engramd")
    parser.add_argument("--idle-secs", type=float, default=30)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "engram.toml")
        config.write_text(PICTURE)
        told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        told.bind(f"{folder}/notify")
        told.settimeout(60)
        broker = [f"mqtt.listen=127.0.0.1:{free_port()}", f"mqtt.listen_v5=127.0.0.1:{free_port()}"]
        settings = options(broker + args.set)
        environment = dict(os.environ, NOTIFY_SOCKET=f"{folder}/notify")
        began = time.monotonic()
        daemon = Process(
            [args.engramd, "run", "--config", config, "--data-dir", f"{folder}/data", *settings],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while b"READY=1" not in told.recv(4096):
                pass
            ready = time.monotonic() - began
            ask = [args.engramd, "ask", "Who was here?", "--json", *settings]
            subprocess.run(ask, check=True, stdout=subprocess.DEVNULL)
            answered = time.monotonic() - began
            time.sleep(WARM_SECS)
            before, since = daemon.processor_secs(), time.monotonic()
            time.sleep(args.idle_secs)
            idle = 100 * (daemon.processor_secs() - before) / (time.monotonic() - since)
            memory = daemon.anonymous_kb() / 1000
        finally:
            stopping = time.monotonic()
            daemon.stop()
        figures = {
            "ready_secs": round(ready, 2),
            "first_answer_secs": round(answered, 2),
            "idle_percent": round(idle, 1),
            "anon_mb": round(memory, 1),
            "stop_secs": round(time.monotonic() - stopping, 2),
        }
        print(json.dumps(figures))
    missed = [f"{name}: {figures[name]}, more than {bar}" for name, bar in BARS.items() if figures[name] > bar]
    print("".join(f"missed: {line}\n" for line in missed), end="", file=sys.stderr)
    sys.exit(1 if missed else 0)


main()
