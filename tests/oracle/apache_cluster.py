"""A real Apache Kafka of several nodes: the first is broker and controller, the others are brokers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.oracle.apache_kafka import START_SECONDS, ApacheKafka, OracleError, brokers_named


class _First(ApacheKafka):
    controller_port: int

    def _properties(self, controller_port: int, logs: Path) -> str:
        self.controller_port = controller_port
        return super()._properties(controller_port, logs)


class _Other(ApacheKafka):
    def __init__(self, first: _First, node_id: int, config: Mapping[str, object], heap_mb: int) -> None:
        listener = "PLAINTEXT://127.0.0.1:{port}"
        super().__init__(
            {
                **config,
                "node.id": node_id,
                "process.roles": "broker",
                "controller.quorum.bootstrap.servers": f"127.0.0.1:{first.controller_port}",
                "listeners": listener,
                "advertised.listeners": listener,
            },
            heap_mb,
        )
        self.cluster_id = first.cluster_id

    def _properties(self, controller_port: int, logs: Path) -> str:
        return super()._properties(controller_port, logs).replace("{port}", str(self.port))


class ApacheCluster:
    """So many nodes, with the ids 1, 2 …; once started, `nodes` has them by id.

    All but the first can be ended and started again with `pause` and `resume`.
    """

    def __init__(
        self,
        nodes: int = 3,
        config: Mapping[str, object] | None = None,
        heap_mb: int = 256,
        racks: Sequence[str] = (),
    ) -> None:
        """`racks`: those of the nodes, in their order."""
        self._count = nodes
        self._config = dict(config or {})
        self._racks: list[dict[str, object]] = [{"broker.rack": rack} for rack in racks] or [{}] * nodes
        self._heap_mb = heap_mb
        self.nodes: dict[int, ApacheKafka] = {}

    def __enter__(self) -> Self:
        try:
            self.nodes[1] = first = _First(self._config | self._racks[0], self._heap_mb)
            first.start()
            for node_id in range(2, self._count + 1):
                config = self._config | self._racks[node_id - 1]
                self.nodes[node_id] = other = _Other(first, node_id, config, self._heap_mb)
                other.start()
            self._await_all(first)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End all nodes at once."""
        for node in self.nodes.values():
            node.stop()

    def _await_all(self, first: ApacheKafka) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if all(brokers_named("127.0.0.1", node.port) == self._count for node in self.nodes.values()):
                    return
            time.sleep(0.1)
        raise OracleError(f"not all of {self._count} nodes are there; the first said:\n{first.log(40)}")
