"""The raw echo: the cheapest server that uvloop and Python allow, the yardstick for all others.

It takes the stream apart into length-prefixed frames, as any Kafka server must, and answers each with prepared bytes:
no header is read, nothing is decoded, one write per read. A frame that starts with `ECHO` sets the size of the
connection's answers; before that, each frame is answered with itself.

    python -m bench.echo          prints "echo ready on HOST:PORT"; ends with its standard input
"""

from __future__ import annotations

import asyncio
import struct
import sys
from typing import cast

SET_ANSWER_SIZE = struct.Struct(">i4si")
"""The frame that sets the size in bytes of the answers to come, their own length prefix included."""
MARK = b"ECHO"

WORTH_JOINING = 1 << 14
"""Bytes: longer answers are handed over as they are."""

_LENGTH = struct.Struct(">i")


class Echo(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._pending = b""
        self._answer: bytes | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)  # uvloop's is none by inheritance

    def data_received(self, data: bytes) -> None:
        if self._pending:
            data = self._pending + data
        position, size = 0, len(data)
        answers: list[bytes] = []
        read_length = _LENGTH.unpack_from
        while size - position >= 4:
            end = position + 4 + read_length(data, position)[0]
            if end > size:
                break
            if self._answer is None or data[position + 4 : position + 8] == MARK:
                answers.append(self._unprepared(data[position:end]))
            else:
                answers.append(self._answer)
            position = end
        self._pending = data[position:]
        if answers and len(answers[0]) < WORTH_JOINING:
            self._transport.write(b"".join(answers))
        elif answers:
            self._transport.writelines(answers)

    def _unprepared(self, frame: bytes) -> bytes:
        if frame[4:8] == MARK:
            size = SET_ANSWER_SIZE.unpack(frame)[2]
            self._answer = _LENGTH.pack(size - 4) + bytes(size - 4)
        return frame


async def serve() -> None:
    """Serve on a free port of 127.0.0.1 until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Echo, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"echo ready on {host}:{port}", flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.run(serve())
    except ImportError:
        asyncio.run(serve())
