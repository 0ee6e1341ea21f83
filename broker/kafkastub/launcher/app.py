"""The requests to a launcher: stubs are started, described and ended."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Body
from pydantic import BaseModel, Field

from kafkastub.control.app import FAILURES, application
from kafkastub.control.endpoints import Endpoints, Part, Serving, Shared
from kafkastub.control.guard import HEALTH
from kafkastub.control.keys import Keys
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import example
from kafkastub.launcher.options import StubOptions
from kafkastub.launcher.stubs import Kept, Stubs
from kafkastub.version import __version__

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker

_ABOUT: Final = """Starts and stops stubs, for suites that use one stub per test. Each is a broker with a control port.

Every request except GET /health needs the header `Authorization: Bearer TOKEN`, with the token of the ready line.
An error is returned as `{"error": "one sentence"}`. docs/launcher.md is the guide."""


class StubInfo(BaseModel):
    """A running stub."""

    model_config = example(
        id="stub-1", name="an order is shipped once", bootstrap_servers="127.0.0.1:40123",
        listeners={"PLAINTEXT": "127.0.0.1:40123"}, control_url="http://127.0.0.1:40124", control_token="s3cret",
        registry_url=None, ca_file=None, started_in_ms=4.2,
    )  # fmt: skip

    id: str
    name: str | None = Field(description="the name that was given")
    bootstrap_servers: str = Field(description="for a client's bootstrap.servers")
    listeners: dict[str, str] = Field(description="bootstrap servers by listener")
    control_url: str = Field(description="http://HOST:PORT of its control port (docs/control.md)")
    control_token: str = Field(
        description="token for changes at the control port: the header `Authorization: Bearer TOKEN`"
    )
    registry_url: str | None = Field(description="http://HOST:PORT of its schema registry; null for none")
    ca_file: str | None = Field(description="path of the CA certificate for clients; null if no listener uses TLS")
    started_in_ms: float = Field(description="milliseconds that its start took")


class StubList(BaseModel):
    """Running stubs in the order of their start."""

    stubs: list[StubInfo]
    total: int
    most: int = Field(description="maximum number of stubs at a time")


class Ended(BaseModel):
    """The stub that was stopped, with its ports."""

    model_config = example(id="stub-1")

    id: str


class LauncherHealth(BaseModel):
    """Whether stubs can be started."""

    model_config = example(status="healthy", version="1.0.0", stubs=3)

    status: str = Field(description="healthy")
    version: str
    stubs: int = Field(description="number of running stubs")


class LauncherKeys(Keys):
    """Nobody starts or sees a stub without the token."""

    def check(self, method: str, path: str, headers: Mapping[bytes, bytes]) -> None:
        """Raises Problem for a request without the launcher's token."""
        if path == HEALTH:
            return
        scheme, _, said = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer" or not said:
            raise Problem(
                401, "this needs the launcher's token, as the header `Authorization: Bearer TOKEN`", "NO_TOKEN"
            )
        if self._token is None or not hmac.compare_digest(said.strip(), self._token):
            raise Problem(401, "the token is not the launcher's: its ready line has it", "WRONG_TOKEN")


def make_app(stubs: Stubs) -> Serving:
    """The application that serves one launcher."""
    return _OF_LAUNCHERS.serving([Part(_of_stubs(stubs), {"responses": FAILURES}), Part(_of_health(stubs), {})])


def _of_stubs(stubs: Stubs) -> Endpoints:
    router = Endpoints(prefix="/v1/stubs", tags=["stubs"])

    @router.get("", summary="List the running stubs")
    async def list_stubs() -> StubList:
        found = stubs.all()
        return StubList(stubs=[_info(one) for one in found], total=len(found), most=stubs.most)

    @router.post("", status_code=201, summary="Start a stub; it serves when this returns")
    async def start(options: Annotated[StubOptions | None, Body()] = None) -> StubInfo:
        return _info(await stubs.start(options or StubOptions.model_validate({})))

    @router.get("/{stub_id}", summary="Return a stub")
    async def show(stub_id: str) -> StubInfo:
        return _info(stubs.find(stub_id))

    @router.delete("/{stub_id}", summary="Stop a stub; its ports are free when this returns")
    async def end(stub_id: str) -> Ended:
        await stubs.end(stub_id)
        return Ended(id=stub_id)

    return router


def _of_health(stubs: Stubs) -> Endpoints:
    router = Endpoints(tags=["health"])

    @router.get(HEALTH, summary="Report 200 while stubs can be started")
    async def health() -> LauncherHealth:
        return LauncherHealth(status="healthy", version=__version__, stubs=len(stubs))

    return router


def _info(kept: Kept) -> StubInfo:
    stub, broker = kept.stub, kept.stub.broker
    names = next(iter(broker.state.cluster.nodes.values())).endpoints
    return StubInfo(
        id=kept.id,
        name=stub.options.name,
        bootstrap_servers=broker.bootstrap_servers,
        listeners={name: broker.bootstrap_servers_of(name) for name in names},
        control_url=stub.control_url or "",
        control_token=stub.token,
        registry_url=stub.registry_url,
        ca_file=_ca_file(broker),
        started_in_ms=kept.started_in_ms,
    )


def _ca_file(broker: Broker) -> str | None:
    """None where no listener shows a certificate that was made."""
    from kafkastub.security.tls import TlsError

    try:
        return None if broker.tls is None else broker.tls.ca_file
    except TlsError:
        return None


_OF_LAUNCHERS: Final = Shared(partial(application, title="kafkastub launcher", about=_ABOUT, guide="docs/launcher.md"))
