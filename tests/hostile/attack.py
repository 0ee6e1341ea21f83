"""A client that means no good: `python -m tests.hostile.attack HOST:PORT FRAMES SEED`.

Every frame is followed by an honest request, so that what becomes of it is seen: the honest one is answered, or the
broker closes, or nothing comes (half a frame, or a request that waits), and then the connection is left hanging.
Prints what came of the frames as JSON: {"answered", "closed", "hanging", "ports"}.
"""

from __future__ import annotations

import asyncio
import json
import random
import struct
import sys
from collections import deque
from typing import cast

from kafkastub.server.loops import new_event_loop
from kafkawire.codec import decode
from kafkawire.framing import FrameSplitter, frame
from kafkawire.header import request_header
from kafkawire.messages.api_versions_response import ApiVersionsResponse
from tests.hostile.frames import good_requests, hostile
from tests.rawclient import RawClient

LANES = 12
HANGING = 150
"""Connections that are left hanging at the same time; the oldest is closed for a new one."""
PATIENCE = 0.3
"""Seconds without an answer from which a connection is left hanging."""
PROBE = 0x7E57_0000


class Attack:
    """Sends the frames, over several connections at once."""

    def __init__(self, host: str, port: int, frames: int, seed: int) -> None:
        self.address = (host, port)
        self.rng = random.Random(seed)
        self.good = good_requests(_served(f"{host}:{port}"), self.rng)
        self.left = frames
        self.answered = self.closed = self.left_hanging = 0
        self.ports: set[int] = set()
        """Of the connections that the broker closed."""
        self.hanging: deque[asyncio.Transport] = deque()
        self.lanes = 0
        self.done = asyncio.Event()

    async def run(self) -> None:
        for _ in range(LANES):
            self.lanes += 1
            await self.connect()
        await self.done.wait()
        for transport in self.hanging:
            transport.abort()

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        for pause in (0.05, 0.2, 1, 3, None):
            try:
                await loop.create_connection(lambda: Lane(self), *self.address)
                return
            except OSError:  # many connections in a short time
                if pause is None:
                    raise
                await asyncio.sleep(pause)

    def again(self) -> None:
        """A connection has ended: another one takes its place."""
        asyncio.get_running_loop().create_task(self.connect())

    def lane_is_over(self) -> None:
        self.lanes -= 1
        if not self.lanes:
            self.done.set()

    def next_frame(self) -> bytes | None:
        if self.left <= 0:
            return None
        self.left -= 1
        return hostile(self.rng.choice(self.good), self.rng)


class Lane(asyncio.Protocol):
    """One connection; one hostile frame and one honest one at a time."""

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.transport: asyncio.Transport
        self.answers = FrameSplitter(1 << 30)
        self.number = 0
        self.timer: asyncio.TimerHandle | None = None
        self.over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.send()

    def send(self) -> None:
        data = self.attack.next_frame()
        if data is None:
            self.over = True
            self.transport.close()
            self.attack.lane_is_over()
            return
        self.number += 1
        probe = frame(request_header(18, 0, PROBE + self.number, None, False))
        self.transport.write(data + probe)
        self.timer = asyncio.get_running_loop().call_later(PATIENCE, self.hang)

    def data_received(self, data: bytes) -> None:
        for buffer, start, _ in self.answers.feed(data):
            if struct.unpack_from(">i", buffer, start) == (PROBE + self.number,) and not self.over:
                self.stop_waiting()
                self.attack.answered += 1
                self.send()

    def hang(self) -> None:
        self.over = True
        self.attack.left_hanging += 1
        self.attack.hanging.append(self.transport)
        if len(self.attack.hanging) > HANGING:
            self.attack.hanging.popleft().abort()
        self.attack.again()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_waiting()
        if not self.over:
            self.over = True
            self.attack.closed += 1
            self.attack.ports.add(self.transport.get_extra_info("sockname")[1])
            self.attack.again()

    def stop_waiting(self) -> None:
        if self.timer is not None:
            self.timer.cancel()


def _served(servers: str) -> dict[int, range]:
    with RawClient(servers) as client:
        answer = decode(ApiVersionsResponse, 0, client.exchange(18, 0, b""))
    return {api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys}


def main(servers: str, frames: str, seed: str) -> None:
    host, _, port = servers.rpartition(":")
    loop = new_event_loop()
    asyncio.set_event_loop(loop)

    async def attack() -> Attack:
        made = Attack(host, int(port), int(frames), int(seed))
        await made.run()
        return made

    result = loop.run_until_complete(attack())
    told = {"answered": result.answered, "closed": result.closed, "hanging": result.left_hanging}
    print(json.dumps({**told, "ports": sorted(result.ports)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
