"""Daemons, brokers and their figures from /proc, for the benchmarks beside this file. Linux, standard library."""

import os
import socket
import subprocess
from pathlib import Path

MOSQUITTO = next((path for path in ("/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto") if Path(path).exists()), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A program that is stopped when the block ends."""

    def __init__(self, command, **more):
        self.child = subprocess.Popen(command, **more)
        self.proc = Path(f"/proc/{self.child.pid}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.child.terminate()
        try:
            return self.child.wait(60)
        finally:
            self.child.kill()

    def status(self, key):
        for line in self.proc.joinpath("status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1])
        raise KeyError(key)

    def anonymous_kb(self):
        return self.status("RssAnon")

    def threads(self):
        return self.status("Threads")

    def descriptors(self):
        return len(os.listdir(self.proc / "fd"))

    def processor_secs(self):
        fields = self.proc.joinpath("stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def mosquitto(folder, port, nodelay=True):
    config = Path(folder, "mosquitto.conf")
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_dest none\n"
        f"max_queued_messages 0\nset_tcp_nodelay {'true' if nodelay else 'false'}\n"
    )
    return Process([MOSQUITTO, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def options(settings):
    return [word for setting in settings for word in ("--set", setting)]
