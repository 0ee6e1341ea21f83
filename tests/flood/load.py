"""Clients that mean no harm and do some: `python -m tests.flood.load HOST:PORT SILENT SLOW UNREADING`.

SILENT connections say nothing, SLOW ones send a byte of a request in a second, UNREADING ones ask for records again
and again and read no answer, until they have asked often enough or nobody takes their requests any more. Prints a line
of JSON when all of them are there, {"connected", "asked"}, and ends, with all its connections, when its standard input
does.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import socket
import sys
from typing import Any

from kafkastub.server.loops import new_event_loop
from kafkawire.codec import encode
from kafkawire.framing import frame
from kafkawire.header import request_header
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.metadata_request import MetadataRequest

AT_ONCE = 50
"""Connections that are being made at the same time."""
STUCK = 1
"""Seconds without a byte taken after which an unreading client has said all that it says."""
MOST_ASKED = 20_000
"""Requests of one unreading client: some hundred are answered and some thousand wait, the kernel keeps the rest."""
RECEIVE_BUFFER = 8192
"""Of an unreading client: what the kernel takes for it is not the broker's doing."""
TOPIC = "records"
"""Where an unreading client begins to fetch, again and again."""
ANSWER = 15_000
"""Bytes of records that it asks for: an answer that is made anew each time."""
METADATA = frame(request_header(3, 1, 1, "flood", False) + encode(MetadataRequest(topics=None), 1))


def fetch() -> bytes:
    asked = FetchTopic(topic=TOPIC, partitions=[FetchPartition(partition=0, partition_max_bytes=ANSWER)])
    body = encode(FetchRequest(max_wait_ms=0, min_bytes=1, session_epoch=-1, topics=[asked]), 11)
    return frame(request_header(1, 11, 1, "flood", False) + body)


class Flood:
    """All of them."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self.sockets: list[socket.socket] = []
        self.asked = 0
        self.slow: list[tuple[socket.socket, int]] = []

    async def connect(self, count: int, receive_buffer: int = 0) -> list[socket.socket]:
        """So many more connections."""
        made: list[socket.socket] = []

        async def some(number: int) -> None:
            for _ in range(number):
                made.append(await self._one(receive_buffer))

        share, rest = divmod(count, AT_ONCE)
        await asyncio.gather(*(some(share + (lane < rest)) for lane in range(AT_ONCE)))
        return made

    async def _one(self, receive_buffer: int) -> socket.socket:
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, self.address)
        self.sockets.append(sock)
        return sock

    async def ask_without_reading(self, sock: socket.socket) -> None:
        loop, block = asyncio.get_running_loop(), fetch() * 200
        for _ in range(MOST_ASKED // 200):
            try:
                async with asyncio.timeout(STUCK):
                    await loop.sock_sendall(sock, block)
            except TimeoutError:
                return
            self.asked += 200

    async def send_slowly(self, sock: socket.socket, delay: float) -> None:
        """The bytes of good requests, one in a second."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(delay)
        while True:
            for byte in METADATA:
                await loop.sock_sendall(sock, bytes([byte]))
                await asyncio.sleep(1)


async def run(flood: Flood, silent: int, slow: int, unreading: int) -> None:
    await flood.connect(silent)
    loop = asyncio.get_running_loop()
    rng = random.Random(1)
    slow_ones = [loop.create_task(flood.send_slowly(sock, rng.random())) for sock in await flood.connect(slow)]
    deaf = await flood.connect(unreading, RECEIVE_BUFFER)
    await asyncio.gather(*(flood.ask_without_reading(sock) for sock in deaf))
    end = loop.run_in_executor(None, sys.stdin.read)
    _say({"connected": len(flood.sockets), "asked": flood.asked})
    await end
    for task in slow_ones:
        task.cancel()
    for sock in flood.sockets:
        sock.close()


def _say(told: dict[str, Any]) -> None:
    print(json.dumps(told), flush=True)


def raise_limit() -> None:
    """As many sockets as the system lets us have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main(servers: str, *counts: str) -> None:
    raise_limit()
    host, _, port = servers.rpartition(":")
    loop = new_event_loop()
    silent, slow, unreading = map(int, counts)
    loop.run_until_complete(run(Flood(host, int(port)), silent, slow, unreading))


if __name__ == "__main__":
    main(*sys.argv[1:])
