"""An HTTP server on the broker's own loop: the socket, uvicorn, and an end that waits for nobody."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import os
import socket
from functools import partial
from typing import Any, Final

from kafkastub.server.node_listener import ListenError

_CLOSING_SECONDS: Final = 0.4
"""How long answers that are under way have at the end."""


class MissingExtra(RuntimeError):
    """What the server needs is not installed; the text says what to do."""


class HttpServer:
    """Serves an ASGI application. All of it runs in the thread of the loop that it is opened on."""

    def __init__(self, log: Any, what: str, host: str, port: int) -> None:
        """Binds the address. `what` is what it is called in refusals and in the log. Raises ListenError."""
        self._log = log
        self._what = what
        self._socket = bound(host, port, what)
        self._server: Any = None
        self._last_gone = asyncio.Event()
        """Set when a connection has ended and there is no other."""

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, as this machine reaches it."""
        host, port = self._socket.getsockname()[:2]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def is_for_this_machine(self) -> bool:
        """Whether nobody else reaches it."""
        return ipaddress.ip_address(self._socket.getsockname()[0].partition("%")[0]).is_loopback

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return 0 if self._server is None else len(self._server.server_state.connections)

    async def open(self, app: Any) -> None:
        """Answer."""
        import uvicorn

        class Config(uvicorn.Config):
            def configure_logging(self) -> None:
                """What else uses uvicorn in this process keeps the loggers that it has made."""

        config = Config(
            app,
            http=self._protocol(),
            ws="none",
            loop="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            date_header=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=30,
        )
        config.load()
        self._server = server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        # Not `serve`: that takes the process's signals, and looks ten times a second whether it is to end.
        await server.startup(sockets=[self._socket])

    def _protocol(self) -> Any:
        from kafkastub.control.connections import ControlProtocol, Readers

        own = logging.Logger("kafkastub.control", logging.WARNING)
        own.addHandler(_ToTheBrokersLog(self._log, self._what))
        return partial(ControlProtocol, logger=own, last_gone=self._last_gone, readers=Readers())

    async def close(self) -> None:
        """Answer no more; nothing of it is left on the loop."""
        server, self._server = self._server, None
        if server is None:
            self._socket.close()
            return
        state = server.server_state
        # Not `server.shutdown`: that sleeps for a tenth of a second in any case.
        for listening in server.servers:
            listening.close()
        for connection in list(state.connections):
            connection.shutdown()
        self._last_gone.clear()
        if state.connections:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._last_gone.wait(), _CLOSING_SECONDS)
        for connection in list(state.connections):
            connection.transport.abort()
        if state.tasks:
            _, late = await asyncio.wait(list(state.tasks), timeout=_CLOSING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for listening in server.servers:
            await listening.wait_closed()
        self._socket.close()


class _ToTheBrokersLog(logging.Handler):
    def __init__(self, log: Any, what: str) -> None:
        super().__init__()
        self._log = log
        self._what = what

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, asyncio.CancelledError):  # it was our own doing, at the end
            self._log.warning(f"{self._what}: {record.getMessage()}", error=repr(error))


def bound(host: str, port: int, what: str) -> socket.socket:
    """Raises ListenError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            if os.name == "posix":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.setblocking(False)
            sock.bind(address)
            sock.listen()  # or a second one could bind it as well
        except BaseException:
            sock.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = "it is taken by another process; choose another, or 0 for any free one"
        else:
            why = error.strerror or str(error)
        raise ListenError(f"the {what} cannot be {port} on {host}: {why}") from error
    return sock
