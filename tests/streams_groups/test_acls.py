"""Who may join a streams group, and see one. As Apache Kafka: KafkaApis.handleStreamsGroupHeartbeat, …Describe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkastub.handlers.registry import registrations
from kafkastub.layers.acls.guards import guarded
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.state.features import update_features
from kafkawire.errors import ErrorCode
from kafkawire.messages.streams_group_heartbeat_request import Subtopology, Topology
from kafkawire.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from kafkawire.messages.streams_group_topology_description_update_response import (
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from tests.handlers import desk
from tests.handlers.streams_club import StreamsClub, statuses, topology

Row = tuple[ResourceType, str, Operation]
READ: Row = ResourceType.GROUP, "g", Operation.READ
SEEN: Row = ResourceType.TOPIC, "seen", Operation.DESCRIBE
SECRET: Row = ResourceType.TOPIC, "secret", Operation.DESCRIBE
NONE, GROUP, TOPIC = ErrorCode.NONE, ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.TOPIC_AUTHORIZATION_FAILED
BOTH = topology(one="seen secret")


@pytest.fixture
def club(monkeypatch: pytest.MonkeyPatch) -> StreamsClub:
    guarded_apis = {key: replace(api, handler=guarded(api)) for key, api in registrations().items()}
    monkeypatch.setattr(desk, "registrations", lambda: guarded_apis)
    authorizer = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    return StreamsClub(authorizer, seen=1, secret=1)


def allow(club: StreamsClub, *rows: Row) -> None:
    """This is allowed, and nothing else."""
    authorizer = club.desk.state.authorizer
    assert authorizer is not None
    authorizer.replace(
        Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", "*", operation, Permission.ALLOW)
        for kind, name, operation in rows
    )


@pytest.mark.behaviour("TH-23")
def test_who_joins_may_read_the_group_and_describe_its_topics(club: StreamsClub):
    allow(club, SEEN)
    answer = club.beat(topology=topology(one="seen"))
    assert (answer.error_code, answer.error_message) == (GROUP, None)
    assert club.beat("", topology=topology(one="seen")).error_code == GROUP
    allow(club, READ, SEEN)
    answer = club.beat(topology=BOTH)
    assert (answer.error_code, answer.error_message) == (TOPIC, None)
    assert club.beat("", topology=topology(one="secret")).error_code == TOPIC
    assert club.beat(topology=topology(one="seen __consumer_offsets secret")).error_code == (
        ErrorCode.STREAMS_INVALID_TOPOLOGY
    )
    assert club.beat(topology=topology(one="seen")).error_code == NONE
    assert club.beat(epoch=-1).error_code == NONE


@pytest.mark.behaviour("TH-23")
@pytest.mark.parametrize(
    "part",
    [
        Subtopology("0", ["seen"], repartition_sink_topics=["secret"]),
        topology(one="seen -secret").subtopologies[0],
    ],
)
def test_topics_that_are_no_sources_count_as_well(club: StreamsClub, part: Subtopology):
    allow(club, READ, SEEN)
    assert club.beat(topology=Topology(0, [part])).error_code == TOPIC


@pytest.mark.behaviour("TH-20")
def test_that_there_are_no_streams_groups_is_said_before_who_may_have_one(club: StreamsClub):
    update_features(club.desk.state, [("streams.version", 0, 2)])
    assert club.beat(topology=BOTH).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [one.error_code for one in club.describe("g")] == [ErrorCode.UNSUPPORTED_VERSION]


@pytest.mark.behaviour("KS-10")
def test_a_group_is_described_to_who_may_describe_it_and_all_its_topics(club: StreamsClub):
    allow(club, READ, SEEN, SECRET)
    club.beat(topology=BOTH)
    assert club.settle("m") == {"m": {"one": [0]}}
    allow(club, SEEN, SECRET)
    assert [one.error_code for one in club.describe("g")] == [GROUP]
    allow(club, READ, SEEN)
    nobody, refused = club.describe("g", "other")
    assert (nobody.group_id, nobody.error_code) == ("other", GROUP)
    assert (refused.error_code, refused.error_message, list(refused.members), refused.topology) == (
        TOPIC,
        "The described group uses topics that the client is not authorized to describe.",
        [],
        None,
    )
    allow(club, READ, SEEN, SECRET)
    (group,) = club.describe("g", include_authorized_operations=True)
    read, describe = 3, 8
    assert (group.error_code, group.authorized_operations) == (NONE, 1 << read | 1 << describe)


@pytest.mark.behaviour("TH-6")
def test_internal_topics_are_created_by_who_may_create_them(club: StreamsClub):
    changelog: Row = ResourceType.TOPIC, "app-changelog", Operation.DESCRIBE
    allow(club, READ, SEEN, changelog)
    answer = club.beat(topology=topology(one="seen -app-changelog"))
    missing = "Internal topics are missing: app-changelog"
    assert statuses(answer) == [(3, f"{missing}; Unauthorized to CREATE on topics app-changelog.")]
    assert "app-changelog" not in club.desk.state.cluster.topics
    allow(club, READ, SEEN, changelog, (ResourceType.TOPIC, "app-changelog", Operation.CREATE))
    assert statuses(club.beat(epoch=answer.member_epoch)) == [(3, missing)]
    assert "app-changelog" in club.desk.state.cluster.topics


@pytest.mark.behaviour("TU-3")
def test_a_description_is_taken_of_who_may_read_the_group(club: StreamsClub):
    def told() -> tuple[int, str | None]:
        request = StreamsGroupTopologyDescriptionUpdateRequest("g", "m", 1)
        answer = club.desk.ask(0, request, StreamsGroupTopologyDescriptionUpdateResponse)
        return answer.error_code, answer.error_message

    allow(club)
    assert told() == (GROUP, None)
    allow(club, READ)
    assert told()[0] == ErrorCode.UNSUPPORTED_VERSION
