"""What expressions of members see: as much as the member may describe that brought them. As Apache Kafka does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_acls_response import CreateAclsResponse
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.create_topics_response import CreateTopicsResponse
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.find_coordinator_response import FindCoordinatorResponse
from kafkawire.schema import Message
from tests.oracle.apache_kafka import ApacheKafka
from tests.rawclient import RawClient
from tests.security.matrix import ADMIN, SUBJECT, admin_acls
from tests.security.matrix_player import CONFIG, has_second_address
from tests.waiting import until

SETTINGS = {**CONFIG, "group.consumer.assignment.interval.ms": 0}
ROWS = (
    (ResourceType.GROUP, "g", Operation.READ),
    (ResourceType.GROUP, "g", Operation.DESCRIBE),
    (ResourceType.TOPIC, "seen", Operation.DESCRIBE),
)
Exchange = tuple[int, type[Any]]

pytestmark = pytest.mark.skipif(
    not has_second_address(), reason="this machine has no second loopback address, 127.0.0.2"
)


class Clients:
    """One who may do everything, and one who may read group g and describe one of two topics."""

    def __init__(self, servers: str) -> None:
        self.admin = RawClient(servers, source=ADMIN)
        self.subject = RawClient(servers, source=SUBJECT)

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        self.admin.close()
        self.subject.close()

    def prepare(self) -> None:
        theirs = [
            Acl(kind, name, PatternType.LITERAL, "User:ANONYMOUS", SUBJECT, operation, Permission.ALLOW)
            for kind, name, operation in ROWS
        ]
        ask(self.admin, CreateAclsRequest([AclCreation(*one) for one in admin_acls()]), 3, CreateAclsResponse)
        ask(self.admin, CreateAclsRequest([AclCreation(*one) for one in theirs]), 3, CreateAclsResponse)
        topics = [CreatableTopic(name, 1, 1) for name in ("seen", "secret")]
        ask(self.admin, CreateTopicsRequest(topics, 10_000), 7, CreateTopicsResponse)
        find = FindCoordinatorRequest(coordinator_keys=["g"])
        until(lambda: not ask(self.admin, find, 6, FindCoordinatorResponse).coordinators[0].error_code, "a coordinator")

    def beat(self, client: RawClient, member: str, epoch: int = 0, **more: Any) -> Any:
        if epoch == 0:
            more = {"rebalance_timeout_ms": 60_000, "topic_partitions": [], **more}
        request = ConsumerGroupHeartbeatRequest("g", member, epoch, **more)
        return ask(client, request, 1, ConsumerGroupHeartbeatResponse)

    def described(self, client: RawClient) -> Any:
        """Code and text of the group, and each member's target."""
        (group,) = ask(client, ConsumerGroupDescribeRequest(["g"]), 1, ConsumerGroupDescribeResponse).groups
        targets = {
            member.member_id: sorted(one.topic_name for one in member.target_assignment.topic_partitions)
            for member in group.members
        }
        return group.error_code, group.error_message, group.group_epoch, targets


def ask(client: RawClient, request: Message, version: int, answer: type[Any]) -> Any:
    return decode(answer, version, client.exchange(request.API_KEY, version, encode(request, version)))


def play(servers: str) -> Iterable[Any]:
    with Clients(servers) as clients:
        clients.prepare()
        admin, subject = clients.admin, clients.subject
        answer = until(
            lambda: (
                (it := clients.beat(subject, "m", subscribed_topic_regex="se.*")).error_code
                not in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
                and it
            ),
            "the coordinator",
        )
        yield answer.error_code, answer.member_epoch
        until(lambda: clients.described(admin)[2] == 2, "the expression to be resolved")
        yield clients.beat(subject, "m", 1).member_epoch
        yield clients.described(subject)
        # it stays what it was for who may see more; another expression of theirs is resolved again with all others
        yield clients.beat(admin, "n", subscribed_topic_regex="se.*").member_epoch
        yield clients.described(admin)
        refused = clients.beat(subject, "o", subscribed_topic_names=["seen", "secret"])
        yield refused.error_code, refused.error_message
        named = clients.beat(admin, "n", 3, subscribed_topic_names=["secret"])
        yield named.error_code, named.member_epoch
        yield clients.described(subject)
        yield clients.described(admin)


EXPECTED = [
    (0, 1),
    2,
    (0, None, 2, {"m": ["seen"]}),
    3,
    (0, None, 3, {"m": ["seen"], "n": []}),
    (ErrorCode.TOPIC_AUTHORIZATION_FAILED, None),
    (0, 4),
    (
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        "The group has described topic(s) that the client is not authorized to describe.",
        0,
        {},
    ),
    (0, None, 4, {"m": ["seen"], "n": ["secret"]}),
]


@pytest.mark.behaviour("CG-7")
@pytest.mark.behaviour("CD-9")
def test_members_see_what_they_may_describe():
    with KafkaStub(profile="kafka", config=SETTINGS) as stub:
        assert [*play(stub.bootstrap_servers)] == EXPECTED


@pytest.mark.oracle
def test_apache_kafka_answers_the_same():
    with ApacheKafka(config=SETTINGS) as kafka:
        assert [*play(kafka.bootstrap_servers)] == EXPECTED
