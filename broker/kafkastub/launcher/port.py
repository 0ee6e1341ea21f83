"""The HTTP server of a launcher, and what it makes ready before the first stub."""

from __future__ import annotations

import asyncio
from typing import Any

from kafkastub.control.guard import Guard
from kafkastub.control.serving import HttpServer
from kafkastub.control.visitors import Visitors
from kafkastub.launcher.app import LauncherKeys, make_app
from kafkastub.launcher.options import StubOptions
from kafkastub.launcher.stubs import Stubs


class LauncherPort:
    """Serves requests for stubs. All of it runs in the thread of the loop that it is opened on."""

    def __init__(self, stubs: Stubs, log: Any, host: str, port: int, token: str) -> None:
        """Binds the address. Raises ListenError."""
        self._stubs = stubs
        self._log = log
        self._host = host
        self._token = token
        self._server = HttpServer(log, "launcher's port", host, port)

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, as this machine reaches it."""
        return self._server.url

    async def open(self) -> None:
        """Answer."""
        if not self._server.is_for_this_machine:
            self._log.warning("the launcher is open to other machines: its token is all that keeps them out")
        app = make_app(self._stubs)
        await self._server.open(Guard(app, self._log, Visitors(self._host), LauncherKeys(self._token), lambda: None))

    async def close(self) -> None:
        """Answer no more."""
        await self._server.close()


async def warm_up(stubs: Stubs) -> None:
    """Start a stub once, ask its control port, and end it: what the first one loads takes a third of a second."""
    kept = await stubs.start(StubOptions.model_validate({"name": "warm-up"}))
    assert kept.stub.control_url is not None
    host, port = kept.stub.control_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET /v1/clock HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    await reader.read()
    writer.close()
    await stubs.end(kept.id)
