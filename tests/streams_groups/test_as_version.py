"""Streams groups as the releases have them: from 4.2 on, with versions 1 and descriptions of topologies from 4.4 on."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client, Unsupported
from kafkawire.api import ApiKey
from kafkawire.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from kafkawire.schema import Message
from tests.handlers.streams_club import AT_ONCE
from tests.streams_groups.asking import beat, describe

HEARTBEAT, DESCRIBE = ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE
UPDATE = ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE


@pytest.mark.parametrize(
    ("release", "served"),
    [
        ("4.1", {}),
        ("4.2", {HEARTBEAT: (0, 0), DESCRIBE: (0, 0)}),
        ("4.3", {HEARTBEAT: (0, 0), DESCRIBE: (0, 0)}),
        ("4.4", {HEARTBEAT: (0, 1), DESCRIBE: (0, 1), UPDATE: (0, 0)}),
    ],
)
def test_what_a_release_serves(release: str, served: dict[int, tuple[int, int]]) -> None:
    with KafkaStub(as_version=release) as stub, Client(stub.bootstrap_servers) as client:
        ranges = client.connection().negotiate()
        assert {key: ranges[key] for key in (HEARTBEAT, DESCRIBE, UPDATE) if key in ranges} == served


@pytest.mark.parametrize("release", ["4.2", "4.3"])
def test_a_group_of_an_older_release(release: str) -> None:
    with (
        KafkaStub(as_version=release, topics={"orders": 2}, config=AT_ONCE) as stub,
        Client(stub.bootstrap_servers) as client,
    ):

        def ask(request: Message, _: int) -> Message:
            return client.ask(request)

        joined = beat(ask)
        assert (joined.error_code, joined.member_epoch) == (0, 2)
        assert [[*one.partitions] for one in joined.active_tasks] == [[0, 1]]
        (group,) = describe(ask, "g")
        assert (group.group_state, len(group.members)) == ("Stable", 1)
        with pytest.raises(Unsupported, match="StreamsGroupTopologyDescriptionUpdate"):
            client.ask(StreamsGroupTopologyDescriptionUpdateRequest("g", "m", 0))
