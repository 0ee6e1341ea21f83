"""The socket of the control port and the HTTP server behind it, on the broker's own loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from kafkastub.control.hosted import Hosted
from kafkastub.server.node_listener import ListenError

_CLOSING_SECONDS: Final = 0.4
"""How long answers that are under way have at the end."""


class MissingExtra(RuntimeError):
    """FastAPI and its like are not installed; the text says what to do."""


def check_extra() -> None:
    """Load what the control port needs, which takes a third of a second. Raises MissingExtra."""
    try:
        import fastapi
        import prometheus_client
        import uvicorn
    except ImportError as error:
        raise MissingExtra(
            f"a control port needs the extra control ({error.name} is missing): pip install 'kafkastub[control]'"
        ) from None
    assert fastapi, prometheus_client
    assert uvicorn


class ControlPort:
    """Serves one hosted broker. All of it runs in the thread of the loop that it is opened on."""

    def __init__(
        self,
        hosted: Hosted,
        log: Any,
        host: str,
        port: int,
        allowed_hosts: Sequence[str] = (),
        token: str | None = None,
        make_app: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """Binds the address. `allowed_hosts` are names that it may be asked by, `token` is what changes need.
        `make_app` gives another application than that of a broker.

        Raises ListenError, MissingExtra.
        """
        check_extra()
        self._hosted = hosted
        self._log = log
        self._names = host, allowed_hosts
        self._token = token
        self._make_app = make_app
        self._socket = _bound(host, port)
        self._server: Any = None
        self._last_gone = asyncio.Event()
        """Set when a connection has ended and there is no other."""

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, as this machine reaches it."""
        host, port = self._socket.getsockname()[:2]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def open(self) -> None:
        """Answer."""
        import uvicorn

        from kafkastub.control import app
        from kafkastub.control.guard import Guard
        from kafkastub.control.keys import Keys
        from kafkastub.control.prepared import Prepared
        from kafkastub.control.routes.page import is_of_page
        from kafkastub.control.visitors import Visitors

        class Config(uvicorn.Config):
            def configure_logging(self) -> None:
                """What else uses uvicorn in this process keeps the loggers that it has made."""

        keys = Keys(self._token)
        if self._token is None and not _is_this_machine(self._socket.getsockname()[0]):
            self._log.warning(
                "the control port is open to other machines, which may change everything: give it a --control-token",
                host=self._names[0],
            )
        config = Config(
            Guard(
                Prepared((self._make_app or app.make_app)(self._hosted, keys), is_of_page),
                self._log,
                Visitors(*self._names),
                keys,
                self._hosted.changed,
            ),
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
        own.addHandler(_ToTheBrokersLog(self._log))
        return partial(ControlProtocol, logger=own, last_gone=self._last_gone, readers=Readers())

    async def close(self) -> None:
        """Answer no more; nothing of it is left on the loop."""
        self._hosted.let_go()
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
    def __init__(self, log: Any) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, asyncio.CancelledError):  # it was our own doing, at the end
            self._log.warning(f"control port: {record.getMessage()}", error=repr(error))


def _is_this_machine(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _bound(host: str, port: int) -> socket.socket:
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
        raise ListenError(f"the control port cannot be {port} on {host}: {why}") from error
    return sock
