"""The brokers that programs play on: processes, which can be killed and started again with their data."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from tests.conftest import APACHE_CONFIG, CONFIG
from tests.in_front import InFront
from tests.oracle.apache_kafka import ApacheKafka
from tests.process.serving import Controlled

STREAMS: Final = {"group.streams.min.session.timeout.ms": 1000, "group.streams.min.heartbeat.interval.ms": 100}
"""A group of Kafka Streams may say how soon its dead members are noticed: by default not before 45 s."""
SETTINGS: Final = [word for key, value in {**CONFIG, **STREAMS}.items() for word in ("--config", f"{key}={value}")]
SESSION_MS: Final = 15_000


class Stub:
    """`kafkastub serve`, a process of its own: the runner's threads take none of its time.

    Attributes:
        control: URL of its control port.
    """

    def __init__(self, keep: bool = False) -> None:
        """`keep`: with a data directory, so that `restart` finds what there was."""
        self._folder = tempfile.TemporaryDirectory(prefix="stub-") if keep else None
        self._settings = [*SETTINGS, *(["--data-dir", self._folder.name] if self._folder else [])]
        self._process = Controlled(*self._settings)

    def __enter__(self) -> Self:
        self._process.__enter__()
        self.bootstrap_servers, self.control = self._process.servers, self._process.url
        return self

    def restart(self) -> None:
        """kill -9, and start again on the same port."""
        self._process.__exit__(None, None, None)
        self._process = Controlled("--port", self.bootstrap_servers.rpartition(":")[2], *self._settings)
        self._process.__enter__()
        self.control = self._process.url

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.__exit__(kind, value, trace)
        if self._folder is not None:
            self._folder.cleanup()


class Apache(ApacheKafka):
    """Apache Kafka."""

    def __init__(self, keep: bool = False) -> None:
        """`keep`: it will be restarted. The controller lets nobody take a dead node's place before its session ends."""
        super().__init__({**APACHE_CONFIG, **STREAMS, **({"broker.session.timeout.ms": SESSION_MS} if keep else {})})

    def restart(self) -> None:
        """kill -9, and start again on the same port."""
        self.crash()
        self.resume()


class Proxied:
    """An Apache Kafka behind a proxy, which stays when the broker is killed."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._kafka = self._stack.enter_context(Apache(keep=True))
        self.bootstrap_servers = self._stack.enter_context(InFront(self._kafka.bootstrap_servers)).bootstrap_servers
        return self

    def restart(self) -> None:
        """kill -9 of the broker, and start it again on the same port."""
        self._kafka.restart()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
