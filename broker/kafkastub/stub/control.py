"""The control port of a stub. The stub loads it on first use, and only from here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.stub import arguments as stub_arguments
from kafkastub.stub.clock import StubClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kafkastub.config import BrokerConfig
    from kafkastub.control.hosted import Hosted
    from kafkastub.control.parts import Schemas
    from kafkastub.control.port import ControlPort
    from kafkastub.journal import Ring
    from kafkastub.server.broker import Broker
    from kafkastub.stub.chaos import StubChaos
    from kafkastub.stub.faults import StubFaults


class StubControl:
    """The address for the control port, and the port while it is open."""

    def __init__(self, host: object, port: object, allowed_hosts: object, token: object) -> None:
        """Check the address. Raises TypeError, ValueError."""
        self._token = _checked(token)
        self._names = stub_arguments.names(allowed_hosts, "control_allowed_hosts")
        self._at = None if port is None else stub_arguments.address(host, port, "control_")
        self.port: ControlPort | None = None
        self._hosted: Hosted | None = None

    @property
    def is_wanted(self) -> bool:
        return self._at is not None

    def load(self) -> None:
        """Load the modules of the control port, in the thread that starts the stub. Raises MissingExtra."""
        from kafkastub.control.port import check_extra

        check_extra()

    async def open(
        self,
        broker: Broker,
        config: BrokerConfig,
        topics: Mapping[str, int],
        *,
        faults: StubFaults,
        chaos: StubChaos,
        ring: Ring | None,
        replaced: Callable[[Broker], None],
    ) -> None:
        """Open the port for a running broker, in its thread.

        `replaced` is called with each broker that replaces it after a reset. Raises ListenError.
        """
        assert self._at is not None
        from kafkastub.control.hosted import Hosted
        from kafkastub.control.port import ControlPort

        hosted = Hosted(
            config,
            topics,
            clock=StubClock,
            faults=lambda _: faults,
            chaos=lambda _: chaos,
            ring=ring,
            replaced=replaced,
        )
        port = ControlPort(hosted, broker.log, *self._at, self._names, self._token)
        hosted.opened(broker)
        await port.open()
        self.port, self._hosted = port, hosted

    def show_by(self, schemas: Schemas | None) -> None:
        """Show keys and values by the schemas of a registry."""
        if self._hosted is not None:
            self._hosted.schemas = schemas

    async def close(self) -> None:
        port, self.port = self.port, None
        if port is not None:
            await port.close()

    @property
    def url(self) -> str:
        """The URL, `http://HOST:PORT`. Raises RuntimeError without a control port."""
        if self.port is None:
            raise RuntimeError("this stub has no control port: start it with control_port=0")
        return self.port.url


def _checked(token: object) -> str | None:
    """Check the token. Raises TypeError, ValueError; the message never contains the token, because it is secret."""
    if token is None:
        return None
    if not isinstance(token, str):
        raise TypeError(f"control_token= is refused: expected a string, not {type(token).__name__}")
    from kafkastub.control.keys import checked_token

    try:
        return checked_token(token)
    except ValueError as error:
        raise ValueError(f"control_token= is refused: {error}") from None
