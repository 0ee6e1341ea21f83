"""Two stubs that are visited, and what is there when a comparison has left them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.topics import names
from kafkastub_conformance.differential.broker import Broker, in_common, visited
from kafkawire.messages.list_groups_request import ListGroupsRequest
from tests.conftest import CONFIG

SOON = 1.0
"""Seconds for which a broker is waited for that says nothing."""
PATIENCE = 30.0
"""The same where none hangs: what takes longer is the machine's doing."""


@contextmanager
def two(
    config: dict[str, object] | None = None, patience: float = PATIENCE, **more: Any
) -> Iterator[tuple[KafkaStub, Broker, Broker]]:
    """The stub under test (its further settings), as it is visited, and one that knows."""
    with (
        KafkaStub(profile="kafka", config=CONFIG | (config or {}), **more) as stub,
        KafkaStub(profile="kafka", config=CONFIG) as other,
    ):
        tested = visited(stub.bootstrap_servers, "tested", patience)
        reference = visited(other.bootstrap_servers, "knowing", patience)
        in_common(tested, reference)
        try:
            yield stub, tested, reference
        finally:
            tested.leave()
            reference.leave()


def everything(stub: KafkaStub) -> tuple[set[str], int]:
    """Its topics, but for the internal ones, and how many groups there are."""
    with Client(stub.bootstrap_servers) as client:
        return set(names(client)) - {"__consumer_offsets", "__share_group_state", "__transaction_state"}, len(
            client.ask(ListGroupsRequest()).groups
        )
