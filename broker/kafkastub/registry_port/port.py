"""The registry's port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkastub.control.serving import HttpServer, MissingExtra
from kafkastub.registry_port.kept import KeptRegistry


def check_extra() -> None:
    """Load what the port needs. Raises MissingExtra."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra(
            f"a schema registry needs the extra registry ({error.name} is missing): pip install 'kafkastub[registry]'"
        ) from None
    assert uvicorn


class RegistryPort:
    """Serves the registry of a broker. All of it runs in the thread of the loop that it is opened on."""

    def __init__(self, kept: KeptRegistry, log: Any, host: str, port: int, allowed_hosts: Sequence[str] = ()) -> None:
        """Binds the address. Raises ListenError, MissingExtra."""
        check_extra()
        self._kept = kept
        self._log = log
        self._names = host, allowed_hosts
        self._server = HttpServer(log, "registry's port", host, port)

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, as this machine reaches it."""
        return self._server.url

    async def open(self) -> None:
        """Make the topic where there is none, and answer. Raises RegistryError."""
        from kafkastub.control.visitors import Visitors
        from kafkastub.registry_port.app import RegistryApp

        try:
            self._kept.open()
        except BaseException:
            await self._server.close()
            raise
        await self._server.open(RegistryApp(self._kept, self._log, Visitors(*self._names)))

    async def close(self) -> None:
        """Answer no more; nothing of it is left on the loop."""
        await self._server.close()
