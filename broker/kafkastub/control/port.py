"""The control port: an HTTP server with the application that serves one hosted broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafkastub.control.hosted import Hosted
from kafkastub.control.serving import HttpServer, MissingExtra


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
        self._server = HttpServer(log, "control port", host, port)

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, as this machine reaches it."""
        return self._server.url

    async def open(self) -> None:
        """Answer."""
        from kafkastub.control import app
        from kafkastub.control.guard import Guard
        from kafkastub.control.keys import Keys
        from kafkastub.control.prepared import Prepared
        from kafkastub.control.routes.page import is_of_page
        from kafkastub.control.visitors import Visitors

        keys = Keys(self._token)
        if self._token is None and not self._server.is_for_this_machine:
            self._log.warning(
                "the control port is open to other machines, which may change everything: give it a --control-token",
                host=self._names[0],
            )
        made = (self._make_app or app.make_app)(self._hosted, keys)
        visitors = Visitors(*self._names)
        await self._server.open(Guard(Prepared(made, is_of_page), self._log, visitors, keys, self._hosted.changed))

    async def close(self) -> None:
        """Answer no more; nothing of it is left on the loop."""
        self._hosted.let_go()
        await self._server.close()
