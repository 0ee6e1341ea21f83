"""What a handler asks the authorizer for at each request, its fast path does not skip: sessions of share groups."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub.handlers.context import ConnectionInfo
from kafkastub.handlers.registry import registrations
from kafkastub.layers.acls.guards import ASK_THEMSELVES
from kafkastub.layers.fast_paths.table import FAST_PATHS
from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.server.dispatch import Dispatcher
from kafkastub.state.partitions import log_of
from kafkawire.api import ApiKey
from kafkawire.codec import Parts, decode, encode
from kafkawire.errors import ErrorCode
from kafkawire.framing import frame
from kafkawire.header import is_flexible, request_header
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_acknowledge_response import ShareAcknowledgeResponse
from kafkawire.messages.share_fetch_response import ShareFetchResponse
from kafkawire.schema import Message
from tests.handlers.desk import batch
from tests.handlers.share_desk import ACCEPT, REJECT, ShareDesk, parts, ranges

OWNER, OTHER = "User:owner", "User:other"
GROUP = ResourceType.GROUP, "g"
TOPIC = ResourceType.TOPIC, "orders"
TWO = batch(b"a", b"b")
_HEADER = 5
"""Of a flexible response."""


class Broker:
    """With an authorizer; frames come in on one connection a principal."""

    def __init__(self) -> None:
        self.desk = ShareDesk({"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"})
        self.dispatcher = Dispatcher(self.desk.state)
        self.allow(OWNER, GROUP, TOPIC)

    def fill(self) -> None:
        """Two more records."""
        log_of(self.desk.state, self.desk.orders, 0).append(TWO, leader_epoch=0, now_ms=self.desk.broker_ms)

    def allow(self, principal: str, *resources: tuple[ResourceType, str]) -> None:
        """Read on these, for this principal; nothing else, for nobody else."""
        assert self.desk.state.authorizer is not None
        self.desk.state.authorizer.replace(
            Acl(kind, name, PatternType.LITERAL, principal, "*", Operation.READ, Permission.ALLOW)
            for kind, name in resources
        )

    def on(self, principal: str) -> ConnectionInfo:
        info = self.desk.on(principal)
        info.principal = principal
        return info

    def _ask(self, principal: str, version: int, request: Message, answer: type[Any]) -> Any:
        kind = type(request)
        header = request_header(kind.API_KEY, version, 7, "test", is_flexible(kind, version))
        whole, out = bytes(frame(header, encode(request, version))), list[Any]()
        desk, pieces = self.desk, Parts(out)
        left = self.dispatcher.serve(whole, 4, len(whole), self.on(principal), desk.broker_ms, desk.timer_ms, pieces)
        assert left is None
        return decode(answer, version, b"".join(bytes(part) for part in pieces)[4 + _HEADER :])

    def fetch(self, epoch: int, principal: str = OWNER, version: int = 2, **asked: Any) -> ShareFetchResponse:
        request = self.desk.fetch_request(epoch, max_records=2, max_wait_ms=0, **{"partitions": (), **asked})
        answer: ShareFetchResponse = self._ask(principal, version, request, ShareFetchResponse)
        return answer

    def acknowledge(
        self, epoch: int, first: int, kind: int, principal: str = OWNER, version: int = 2
    ) -> ShareAcknowledgeResponse:
        said = AcknowledgePartition(0, [AcknowledgementBatch(first, first + 1, [kind])])
        topics = [AcknowledgeTopic(self.desk.orders.topic_id, [said])]
        request = ShareAcknowledgeRequest("g", "m", epoch, topics=topics)
        answer: ShareAcknowledgeResponse = self._ask(principal, version, request, ShareAcknowledgeResponse)
        return answer


def going(broker: Broker) -> None:
    """The owner's session, in which it holds the records 0 and 1; 2 and 3 are there to be had. Epoch 2 is next."""
    broker.fetch(0, partitions=(0,))  # brings the share partition into memory
    broker.fill()
    assert ranges(broker.fetch(1)) == [(0, 1, 1)]
    broker.fill()


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    going(broker)
    return broker


versions = pytest.mark.parametrize("version", [1, 2])


@versions
@pytest.mark.behaviour("SF-22")
def test_a_share_session_went_on_for_a_user_without_any_permission(broker: Broker, version: int):
    answer = broker.fetch(2, OTHER, version)
    assert (answer.error_code, list(answer.responses)) == (ErrorCode.GROUP_AUTHORIZATION_FAILED, [])
    assert ranges(broker.fetch(2, version=version)) == [(2, 3, 1)], "nobody has used that epoch"


@versions
@pytest.mark.behaviour("AK-11")
def test_a_user_without_any_permission_rejected_what_another_one_held(broker: Broker, version: int):
    answer = broker.acknowledge(2, 0, REJECT, OTHER, version)
    assert (answer.error_code, list(answer.responses)) == (ErrorCode.GROUP_AUTHORIZATION_FAILED, [])
    assert broker.desk.states() == [(0, 1, "ACQUIRED", 1)]


@versions
@pytest.mark.behaviour("SF-22", "AK-11")
def test_the_owner_of_a_share_session_was_served_on_after_its_entry_was_deleted(broker: Broker, version: int):
    broker.allow(OWNER, TOPIC)
    assert broker.fetch(2, version=version).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert broker.acknowledge(2, 0, ACCEPT, version=version).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    broker.allow(OWNER, GROUP, TOPIC)
    assert ranges(broker.fetch(2, version=version)) == [(2, 3, 1)]


@versions
@pytest.mark.behaviour("SF-22")
def test_a_topic_that_was_refused_in_a_first_share_fetch_was_served_in_the_second(version: int):
    broker = Broker()
    going(broker)
    broker.allow(OWNER, GROUP)
    refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert parts(broker.fetch(0, partitions=(0,), version=version))[0].error_code == refused
    told = parts(broker.fetch(1, along={0: [(0, 1, [ACCEPT])]}, version=version))[0]
    assert (told.error_code, told.acknowledge_error_code, told.records) == (refused, refused, b"")
    answer = broker.acknowledge(2, 0, ACCEPT, version=version)
    assert (answer.error_code, parts(answer)[0].error_code) == (ErrorCode.NONE, refused)  # type: ignore[arg-type]


@versions
@pytest.mark.behaviour("SF-22", "AK-11")
def test_a_share_session_goes_on_for_whoever_may_as_in_kafka(broker: Broker, version: int):
    """A session is a member's, whoever speaks for that member: SharePartitionManager.newContext."""
    broker.allow(OTHER, GROUP, TOPIC)
    assert ranges(broker.fetch(2, OTHER, version)) == [(2, 3, 1)]
    assert not parts(broker.acknowledge(3, 0, REJECT, OTHER, version))[0].error_code  # type: ignore[arg-type]


@pytest.mark.parametrize("key", sorted(FAST_PATHS))
def test_no_fast_path_passes_by_an_authorizer(broker: Broker, key: ApiKey):
    """Neither one by a guard nor one by a handler that asks for itself."""
    api = registrations()[key]
    for version in range(api.first, api.last + 1):
        name = key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes(4)
        route = broker.dispatcher.route(name, 0, len(name))
        assert route.fast_path is None or route.handler is not route.bypassed


def test_some_of_those_that_ask_for_themselves_have_fast_paths():
    assert FAST_PATHS.keys() & ASK_THEMSELVES
