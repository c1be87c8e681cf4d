"""A small MQTT 3.1.1 client (QoS 1, clean session) for measuring: one socket, no library.

OASIS standard: https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/os/mqtt-v3.1.1-os.html
"""

import collections
import select
import socket
import time

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP = 1, 2, 3, 4, 8, 9, 12, 13


def text(value):
    data = value.encode()
    return len(data).to_bytes(2, "big") + data


class Client:
    """Connected as `name`; what comes on the topics of `filters` waits until it is taken."""

    def __init__(self, port, name, filters, timeout=30):
        self.socket = self.connected(port, timeout)
        self.bytes = bytearray()
        self.messages = collections.deque()
        self.packet = 0
        self.unacknowledged = set()
        self.pinged = time.monotonic()
        self.send(CONNECT, 0, text("MQTT") + bytes([4, 2]) + (60).to_bytes(2, "big") + text(name))
        self.until(CONNACK)
        for path in filters:
            self.send(SUBSCRIBE, 2, self.number() + text(path) + bytes([1]))
            self.until(SUBACK)

    @staticmethod
    def connected(port, timeout):
        until = time.monotonic() + timeout
        while True:
            try:
                stream = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return stream

    def number(self):
        self.packet = self.packet % 65535 + 1
        return self.packet.to_bytes(2, "big")

    def send(self, kind, flags, body):
        length, head = len(body), bytearray([kind << 4 | flags])
        while True:
            head.append(length % 128 | (0x80 if length >= 128 else 0))
            length //= 128
            if not length:
                break
        self.socket.sendall(head + body)

    def publish(self, topic, payload):
        """Sends; the acknowledgement is taken note of when something is read."""
        number = self.number()
        self.unacknowledged.add(number)
        self.send(PUBLISH, 2, text(topic) + number + payload.encode())

    def next(self, timeout):
        """The next message, (topic, payload); None when none comes in time."""
        until = time.monotonic() + timeout
        while not self.messages:
            left = until - time.monotonic()
            if left <= 0:
                return None
            self.read(left)
        return self.messages.popleft()

    def until(self, wanted):
        until = time.monotonic() + 30
        while wanted not in self.read(30):
            if time.monotonic() > until:
                raise TimeoutError(f"the broker sends no packet of kind {wanted}")

    def read(self, timeout):
        """Takes what is there, waits for it at most so long; gives the kinds of its packets."""
        if time.monotonic() - self.pinged > 20:
            self.pinged = time.monotonic()
            self.send(PINGREQ, 0, b"")
        if not select.select([self.socket], [], [], min(timeout, 20))[0]:
            return []
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("the broker closed the connection")
        self.bytes += chunk
        kinds = []
        while (packet := self.split()) is not None:
            kinds.append(self.take(*packet))
        return kinds

    def split(self):
        """The first whole packet: kind, flags, body."""
        length, shift, at = 0, 0, 1
        while True:
            if at >= len(self.bytes):
                return None
            length |= (self.bytes[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if self.bytes[at - 1] < 128:
                break
        if len(self.bytes) < at + length:
            return None
        head, body = self.bytes[0], bytes(self.bytes[at : at + length])
        del self.bytes[: at + length]
        return head >> 4, head & 15, body

    def take(self, kind, flags, body):
        if kind == PUBLISH:
            size = int.from_bytes(body[:2], "big")
            topic, rest = body[2 : 2 + size].decode(), body[2 + size :]
            if flags & 6:
                self.send(PUBACK, 0, rest[:2])
                rest = rest[2:]
            self.messages.append((topic, rest))
        elif kind == PUBACK:
            self.unacknowledged.discard(body[:2])
        return kind
