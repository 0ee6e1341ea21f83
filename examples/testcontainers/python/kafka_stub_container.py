"""The image of kafkastub for Testcontainers. Take this file into your own tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self
from urllib.request import Request, urlopen

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

KAFKA_PORT = 9092
CONTROL_PORT = 9090


class KafkaStubContainer(DockerContainer):
    """A broker with its control port. Clients on the host are told the port that the engine has published."""

    def __init__(self, image: str = "kafkastub", topics: Mapping[str, int] | None = None, **options: Any) -> None:
        """`topics` are names with their numbers of partitions, there from the start."""
        super().__init__(image, **options)
        self.with_exposed_ports(KAFKA_PORT, CONTROL_PORT)
        self.with_env("KAFKASTUB_CONTROL_PORT", str(CONTROL_PORT))
        self.with_env("KAFKASTUB_CONTROL_HOST", "0.0.0.0")
        self.with_env("KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0")
        if topics:
            self.with_env("KAFKA_CREATE_TOPICS", ",".join(f"{name}:{count}" for name, count in topics.items()))
        self.waiting_for(HttpWaitStrategy(CONTROL_PORT, "/health").for_status_code(200))

    def start(self) -> Self:
        """Start it, and tell clients where it is."""
        super().start()
        told = json.dumps({"address": f"HOST://{self.bootstrap_servers}"}).encode()
        with urlopen(Request(f"{self.control_url}/v1/advertised", told, method="PUT")):
            return self

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT for clients on the host; those in its network come by its alias and port 19092."""
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(KAFKA_PORT)}"

    @property
    def control_url(self) -> str:
        """Where the control port is asked."""
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(CONTROL_PORT)}"
