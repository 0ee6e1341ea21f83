"""Who may join a share group, and see one. As Apache Kafka: KafkaApis.handleShareGroupHeartbeat, …Describe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafkastub.handlers.registry import registrations
from kafkastub.layers.acls.guards import guarded
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.state.features import update_features
from kafkawire.errors import ErrorCode
from tests.handlers import desk
from tests.handlers.share_club import ShareClub

Row = tuple[ResourceType, str, Operation]
READ: Row = ResourceType.GROUP, "g", Operation.READ
SEEN: Row = ResourceType.TOPIC, "seen", Operation.DESCRIBE
SECRET: Row = ResourceType.TOPIC, "secret", Operation.DESCRIBE
NONE = ErrorCode.NONE


@pytest.fixture
def club(monkeypatch: pytest.MonkeyPatch) -> ShareClub:
    guarded_apis = {key: replace(api, handler=guarded(api)) for key, api in registrations().items()}
    monkeypatch.setattr(desk, "registrations", lambda: guarded_apis)
    authorizer = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
    return ShareClub(authorizer, seen=1, secret=1)


def allow(club: ShareClub, *rows: Row) -> None:
    """This is allowed, and nothing else."""
    authorizer = club.desk.state.authorizer
    assert authorizer is not None
    authorizer.replace(
        Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", "*", operation, Permission.ALLOW)
        for kind, name, operation in rows
    )


@pytest.mark.behaviour("GH-7")
def test_who_joins_may_read_the_group_and_describe_its_topics(club: ShareClub):
    allow(club, SEEN)
    answer = club.beat(topics=["seen"])
    assert (answer.error_code, answer.error_message) == (ErrorCode.GROUP_AUTHORIZATION_FAILED, None)
    assert club.beat("", topics=["seen"]).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    allow(club, READ, SEEN)
    answer = club.beat(topics=["seen", "secret"])
    assert (answer.error_code, answer.error_message) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, None)
    assert club.beat("", topics=["secret"]).error_code == ErrorCode.INVALID_REQUEST
    assert club.beat(topics=["seen"]).error_code == NONE
    assert club.beat(epoch=-1).error_code == NONE


@pytest.mark.behaviour("GH-8")
def test_that_there_are_no_share_groups_is_said_before_who_may_have_one(club: ShareClub):
    update_features(club.desk.state, [("share.version", 0, 2)])
    assert club.beat(topics=["seen"]).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [one.error_code for one in club.describe("g")] == [ErrorCode.UNSUPPORTED_VERSION]


@pytest.mark.behaviour("SD-8")
def test_a_group_is_described_to_who_may_describe_it_and_all_its_topics(club: ShareClub):
    allow(club, READ, SEEN, SECRET)
    club.beat(topics=["seen", "secret"])
    assert club.settle("m") == {"m": {"seen": [0], "secret": [0]}}
    allow(club, SEEN, SECRET)
    assert [one.error_code for one in club.describe("g")] == [ErrorCode.GROUP_AUTHORIZATION_FAILED]
    allow(club, READ, SEEN)
    refused, nobody = club.describe("g", "other")[::-1]
    assert (nobody.group_id, nobody.error_code) == ("other", ErrorCode.GROUP_AUTHORIZATION_FAILED)
    assert (refused.error_code, refused.error_message, list(refused.members)) == (
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        "The group has described topic(s) that the client is not authorized to describe.",
        [],
    )
    allow(club, READ, SEEN, SECRET)
    (group,) = club.describe("g", operations=True)
    read, describe = 3, 8
    assert (group.error_code, group.authorized_operations) == (NONE, 1 << read | 1 << describe)
