"""The control port of a proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.stub.control import StubControl

if TYPE_CHECKING:
    from kafkastub.journal import Ring
    from kafkastub.proxy.proxy import Proxy
    from kafkastub.stub.chaos import StubChaos
    from kafkastub.stub.faults import StubFaults


class ProxyControl(StubControl):
    """The address for the control port, and the port while it is open."""

    async def open(  # type: ignore[override]
        self, proxy: Proxy, *, faults: StubFaults, chaos: StubChaos, ring: Ring | None
    ) -> None:
        """Open the port for a proxy, in its thread. Raises ListenError."""
        assert self._at is not None
        from kafkastub.control.in_front.app import make_app
        from kafkastub.control.in_front.hosted import HostedProxy
        from kafkastub.control.port import ControlPort

        hosted = HostedProxy(proxy, faults=faults, chaos=chaos, ring=ring)
        port = ControlPort(hosted, proxy.log, *self._at, self._names, self._token, make_app)
        hosted.opened()
        await port.open()
        self.port = port
