"""Streams groups as the releases have them: from 4.2 on, with versions 1 and descriptions of topologies from 4.4 on."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client, Unsupported
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.streams_group_heartbeat_request import (
    Endpoint,
    StreamsGroupHeartbeatRequest,
    TaskIds,
    TaskOffset,
)
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


@pytest.mark.parametrize("release", ["4.2", "4.3", "4.4"])
def test_what_4_4_began_to_take(release: str) -> None:
    newest = release == "4.4"
    with (
        KafkaStub(as_version=release, topics={"orders": 2}, config=AT_ONCE) as stub,
        Client(stub.bootstrap_servers) as client,
    ):

        def ask(request: Message, _: int) -> Message:
            return client.ask(request)

        for more, text in (
            ({"instance_id": "i"}, "Static membership is not yet supported."),
            ({"task_offsets": [TaskOffset("0", 0, 1)]}, "TaskOffsets are not supported yet."),
            ({"task_end_offsets": [TaskOffset("0", 0, 1)]}, "TaskEndOffsets are not supported yet."),
        ):
            told = beat(ask, group=text, **more)
            assert (told.error_code, told.error_message) == ((0, None) if newest else (42, text))
        joined = beat(ask)
        assert joined.task_offset_interval_ms == (60_000 if newest else 0)
        warm = ask(
            StreamsGroupHeartbeatRequest(
                "g", "m", joined.member_epoch, active_tasks=[], standby_tasks=[], warmup_tasks=[TaskIds("0", [0])]
            ),
            0,
        )
        assert (warm.error_message == "WarmupTasks are not supported yet.") is not newest


@pytest.mark.parametrize(("release", "code"), [("4.3", ErrorCode.GROUP_MAX_SIZE_REACHED), ("4.4", ErrorCode.NONE)])
def test_who_joins_a_full_group_again(release: str, code: ErrorCode) -> None:
    config = {**AT_ONCE, "group.streams.max.size": 1}
    with (
        KafkaStub(as_version=release, topics={"orders": 2}, config=config) as stub,
        Client(stub.bootstrap_servers) as client,
    ):

        def ask(request: Message, _: int) -> Message:
            return client.ask(request)

        assert beat(ask).error_code == 0
        assert beat(ask).error_code == code


@pytest.mark.parametrize(("release", "epochs"), [("4.3", [1, 2]), ("4.4", [1, 1])])
def test_the_endpoint_epoch_of_who_joins_again(release: str, epochs: list[int]) -> None:
    """Up to 4.3 it is raised for whoever joins; since 4.4 for other tasks, or another endpoint."""
    with (
        KafkaStub(as_version=release, topics={"orders": 2}, config=AT_ONCE) as stub,
        Client(stub.bootstrap_servers) as client,
    ):

        def ask(request: Message, _: int) -> Message:
            return client.ask(request)

        beat(ask, "other")
        there = [beat(ask, user_endpoint=Endpoint("host", 9)) for _ in range(2)]
        assert [one.endpoint_information_epoch for one in there] == epochs
