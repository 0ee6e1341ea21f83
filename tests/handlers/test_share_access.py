"""Who may use share partitions, and how much: ACLs and quotas of ShareFetch and ShareAcknowledge."""

from __future__ import annotations

import pytest

from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.state.partitions import log_of
from kafkastub.state.quota_usage import MutedChannels, Throttle
from kafkawire.errors import ErrorCode
from tests.handlers.desk import batch
from tests.handlers.share_desk import ACCEPT, RELEASE, ShareDesk, parts, ranges

FIVE = batch(*[b"v"] * 5)
WHO = "User:ANONYMOUS"


class GuardedDesk(ShareDesk):
    """Nobody may do anything but what the test allows."""

    def __init__(self) -> None:
        super().__init__({"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"})
        self.fill_unguarded()

    def fill_unguarded(self) -> None:
        log_of(self.state, self.orders, 0).append(FIVE, leader_epoch=0, now_ms=self.broker_ms)

    def allow(self, *resources: tuple[ResourceType, str]) -> None:
        """Read on these, and on nothing else."""
        assert self.state.authorizer is not None
        self.state.authorizer.replace(
            [
                Acl(kind, name, PatternType.LITERAL, WHO, "*", Operation.READ, Permission.ALLOW)
                for kind, name in resources
            ]
        )


GROUP = (ResourceType.GROUP, "g")
TOPIC = (ResourceType.TOPIC, "orders")


@pytest.mark.behaviour("SF-22", "AK-11")
def test_read_on_the_group():
    desk = GuardedDesk()
    desk.allow(TOPIC)
    assert desk.fetch().error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert desk.fetch(member="").error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert desk.fetch(group=None).error_code == ErrorCode.INVALID_REQUEST
    refused = desk.acknowledging(1, {})
    assert refused.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


@pytest.mark.behaviour("SF-22", "AK-11")
def test_read_on_the_topic_each_time_anew():
    desk = GuardedDesk()
    desk.allow(GROUP)
    assert parts(desk.fetch())[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    desk.allow(GROUP, TOPIC)
    assert ranges(desk.fetch(1, partitions=())) == [(0, 4, 1)]
    desk.allow(GROUP)
    assert desk.acknowledge(2, (0, 4, [ACCEPT])).error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    told = parts(desk.fetch(3, along={0: [(0, 4, [ACCEPT])]}))[0]
    refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert (told.error_code, told.acknowledge_error_code) == (refused, refused)
    desk.allow(GROUP, TOPIC)
    assert desk.acknowledge(4, (0, 4, [ACCEPT])).error_code == 0


@pytest.mark.behaviour("SF-29")
def test_a_fetch_with_an_unknown_topic_id_was_answered_where_kafka_fails():
    """Who may read a topic without a name, Kafka asks: for what is named, and for what the session remembers."""
    desk = GuardedDesk()
    desk.allow(GROUP, TOPIC)
    failed = ErrorCode.UNKNOWN_SERVER_ERROR
    assert desk.fetch(topic_id=b"?" * 16).error_code == failed
    assert desk.fetch(1, partitions=()).error_code == failed
    assert desk.fetch(2).error_code == failed
    assert desk.fetch(0).error_code == 0
    assert desk.fetch(1, topic_id=b"?" * 16).error_code == failed
    assert desk.fetch(2, partitions=(), topic_id=b"?" * 16, forget=[0], max_wait_ms=0).error_code == 0
    assert desk.fetch(-1, topic_id=b"?" * 16).error_code == failed
    assert desk.fetch(-1, partitions=()).error_code == 0


@pytest.mark.behaviour("AK-17")
def test_an_acknowledgement_with_an_unknown_topic_id_was_answered_where_kafka_fails():
    desk = GuardedDesk()
    desk.allow(GROUP, TOPIC)
    assert ranges(desk.fetch()) == [(0, 4, 1)]
    failed = ErrorCode.UNKNOWN_SERVER_ERROR
    said = {0: [(0, 4, [ACCEPT])]}
    assert desk.acknowledging(1, said, topic_id=b"?" * 16).error_code == failed  # type: ignore[union-attr]
    assert desk.acknowledging(-1, said, topic_id=b"?" * 16).error_code == failed  # type: ignore[union-attr]
    assert desk.acknowledge(2, (0, 4, [ACCEPT])).error_code == 0


@pytest.mark.behaviour("SF-22")
def test_a_topic_that_has_gone_from_a_share_session_was_told_to_who_may_not_read_it():
    desk = GuardedDesk()
    desk.allow(GROUP, TOPIC)
    desk.fetch()
    desk.delete("orders")
    assert parts(desk.fetch(1, partitions=()))[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    desk.allow(GROUP)
    assert parts(desk.fetch(2, partitions=()))[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


def throttled(desk: ShareDesk, rate: float) -> None:
    state = desk.state
    state.alter_quotas([((("client-id", desk.client_id),), [("consumer_byte_rate", rate)])])
    state.muted = MutedChannels(state.mark_dirty)
    state.throttle = Throttle(state.quotas, state.config, state.muted, lambda: desk.timer_ms, lambda: 0)


@pytest.mark.behaviour("SF-23")
def test_who_has_used_too_much_is_given_nothing_for_a_while():
    desk = ShareDesk()
    for _ in range(8):
        desk.fill(batch(b"v" * 5_000))
    throttled(desk, 1_500.0)
    assert ranges(desk.fetch(max_records=1)) == [(0, 0, 1)]
    assert desk.fetch(1, max_records=1).throttle_time_ms == 0
    late = desk.fetch(2, max_records=1)
    assert late.throttle_time_ms > 0
    assert parts(late) == {}
    assert desk.states() == [(0, 2, "ACQUIRED", 1)]  # what is kept back is acquired all the same
    desk.wait_until(60_000)
    desk.acknowledge(3, (0, 2, [RELEASE]))
    assert ranges(desk.fetch(4, max_records=1))
