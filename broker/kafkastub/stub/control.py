"""The control port of a `KafkaStub`. The one place below the control port that knows of it: it loads it on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkastub.stub import arguments as stub_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkastub.config import BrokerConfig
    from kafkastub.control.port import ControlPort
    from kafkastub.journal import Ring
    from kafkastub.server.broker import Broker
    from kafkastub.stub.faults import StubFaults


class StubControl:
    """Mixed into `KafkaStub`."""

    if TYPE_CHECKING:
        _config: BrokerConfig
        _topics: Mapping[str, int]
        _ring: Ring | None
        _broker: Broker | None

        @property
        def faults(self) -> StubFaults: ...

        def _running(self) -> Broker: ...

        def _observe(self, broker: Broker) -> None: ...

    def _plan_control(self, host: object, port: object, allowed_hosts: object) -> None:
        """Raises TypeError, ValueError."""
        self._control_names = stub_arguments.names(allowed_hosts, "control_allowed_hosts")
        self._control_at = None if port is None else stub_arguments.address(host, port, "control_")
        self._control: ControlPort | None = None

    def _load_control(self) -> None:
        """In the thread of whoever starts the stub. Raises MissingExtra."""
        if self._control_at is not None:
            from kafkastub.control.port import check_extra

            check_extra()

    async def _open_control(self, broker: Broker, log: Any) -> None:
        """The broker is up; this is its thread. Raises ListenError."""
        if self._control_at is None:
            return
        from kafkastub.control.hosted import Hosted
        from kafkastub.control.port import ControlPort

        hosted = Hosted(self._config, self._topics, faults=self.faults, ring=self._ring, replaced=self._replaced)
        control = ControlPort(hosted, log, *self._control_at, self._control_names)
        hosted.opened(broker)
        await control.open()
        self._control = control

    async def _close_control(self) -> None:
        control, self._control = self._control, None
        if control is not None:
            await control.close()

    def _replaced(self, broker: Broker) -> None:
        self._broker = broker
        self._observe(broker)

    @property
    def control_url(self) -> str:
        """`http://HOST:PORT` of the control port (docs/control.md). Raises RuntimeError where none was asked for."""
        self._running()
        if self._control is None:
            raise RuntimeError("this stub has no control port: start it with control_port=0")
        return self._control.url
