"""The topics that a streams group lacks: created as the member that asks, and what is told where that fails.

All texts are those of a live Apache Kafka 4.4.0.
"""

from __future__ import annotations

import pytest

from kafkastub.coordinator.streams.configured import ConfiguredInternalTopic
from kafkastub.coordinator.streams.statuses import Status
from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.security.acls import Acl, Operation, PatternType, Permission, ResourceType
from kafkastub.security.quotas import CONTROLLER_MUTATION_RATE
from kafkastub.state.quota_usage import Throttle
from kafkastub.state.streams_internal_topics import CreationErrors, create_missing
from kafkawire.api import ApiKey
from kafkawire.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kafkawire.messages.streams_group_heartbeat_response import Status as ToldStatus
from tests.handlers.in_process import BROKER_MS, InProcess

_TTL_MS = 10_000
_MISSING = "Internal topics are missing"


class _Group:
    """One group, and the members of it that ask."""

    def __init__(self, config: dict[str, object] | None = None) -> None:
        self.broker = InProcess(config)
        self.state = self.broker.state
        self.errors = CreationErrors()

    def beat(self, *topics: ConfiguredInternalTopic, later_ms: int = 0, requested: set[str] | None = None) -> str:
        """What the status says, once it was dealt with."""
        connection = ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1")
        now = BROKER_MS + later_ms
        key = ApiKey.STREAMS_GROUP_HEARTBEAT
        ctx = RequestContext(self.state, connection, key, 1, 1, "test", now, 1000 + later_ms)
        told = [ToldStatus(Status.ASSIGNMENT_DELAYED, "…"), ToldStatus(Status.MISSING_INTERNAL_TOPICS, _MISSING)]
        wanted, asked = {one.name: one for one in topics}, set[str]() if requested is None else requested
        create_missing(self.state, ctx, self.errors, wanted, asked, told, _TTL_MS, now)
        assert told[0].status_detail == "…"
        return told[1].status_detail

    def there(self) -> list[str]:
        """All topics."""
        return list(self.state.cluster.topics)


def _topic(
    name: str, partitions: int = 1, replication_factor: int | None = None, **configs: str
) -> ConfiguredInternalTopic:
    pairs = tuple((key.replace("_", "."), value) for key, value in configs.items())
    return ConfiguredInternalTopic(name, partitions, replication_factor, pairs)


@pytest.mark.behaviour("TH-6")
def test_topics_are_created_with_their_configurations_and_the_answer_does_not_tell():
    group = _Group()
    said = group.beat(
        _topic("app-kept-changelog", 3, cleanup_policy="compact", message_timestamp_type="CreateTime"),
        _topic("app-inner-repartition", 4, 1, retention_ms="-1"),
    )
    assert said == _MISSING
    assert group.there() == ["app-kept-changelog", "app-inner-repartition"]
    kept, inner = group.state.cluster.topics.values()
    assert (len(kept.partitions), kept.configs) == (
        3,
        {"cleanup.policy": "compact", "message.timestamp.type": "CreateTime"},
    )
    assert (len(inner.partitions), inner.configs) == (4, {"retention.ms": "-1"})


@pytest.mark.behaviour("TH-6")
def test_a_replication_factor_that_cannot_be_reached():
    group = _Group({"default.replication.factor": 2})
    asked = _topic("given", 1, 3), _topic("default", 1), _topic("one", 1, 1)
    assert group.beat(*asked) == _MISSING
    assert group.there() == ["one"]
    given, default = (
        f"(Unable to replicate the partition {count} time(s): The target replication factor of {count} cannot be "
        "reached because only 1 broker(s) are registered or some brokers have all their log directories cordoned.)"
        for count in (3, 2)
    )
    assert group.beat(*asked[:2]) == f"{_MISSING}; Creation failed: given {given}, default {default}."


@pytest.mark.behaviour("TH-6")
def test_what_fails_is_told_by_the_heartbeats_behind_and_not_tried_again_for_a_while():
    group = _Group()
    bad = [_topic(f"t{i}", 1, foo="1") for i in range(5)]
    good = _topic("good", 1, cleanup_policy="compact")
    assert group.beat(*bad, good) == _MISSING
    assert group.there() == ["good"]
    why = "(Unknown topic config name: foo)"
    assert group.beat(*bad, later_ms=1) == f"{_MISSING}; Creation failed: t4 {why}, t0 {why}, t1 {why} and 2 more."
    assert group.beat(*bad[:2], later_ms=_TTL_MS - 1) == f"{_MISSING}; Creation failed: t0 {why}, t1 {why}."
    fixed = _topic("t0", 1)
    assert "t0" in group.beat(fixed, later_ms=_TTL_MS - 1)
    assert group.there() == ["good"]  # it is still known that it fails
    assert group.beat(fixed, later_ms=_TTL_MS) == _MISSING
    assert group.there() == ["good", "t0"]


@pytest.mark.behaviour("TH-6")
def test_topics_that_cannot_be():
    group = _Group()
    group.beat(_topic("a.b"))
    beats = (_topic("a_b"), _topic("__cluster_metadata"), _topic("other"))
    assert group.beat(*beats) == _MISSING
    assert group.there() == ["a.b", "other"]
    assert group.beat(*beats[:2]) == (
        f"{_MISSING}; Creation failed: a_b (Topic 'a_b' collides with existing topic: a.b), __cluster_metadata "
        "(Creation of internal topic __cluster_metadata is prohibited.)."
    )


@pytest.mark.behaviour("TH-6")
def test_too_many_partitions_are_refused_for_all_of_them():
    group = _Group()
    many = _topic("many", 10_000), _topic("one", 1)
    assert group.beat(*many) == _MISSING
    assert group.there() == []
    why = "(Excessively large number of partitions per request.)"
    assert group.beat(*many) == f"{_MISSING}; Creation failed: one {why}, many {why}."


@pytest.mark.behaviour("TH-6")
def test_who_may_not_create_topics_is_told_at_once():
    group = _Group({"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"})
    assert group.state.authorizer is not None

    def allow(*allowed: tuple[ResourceType, str]) -> None:
        assert group.state.authorizer is not None
        group.state.authorizer.replace(
            Acl(kind, name, PatternType.LITERAL, "User:*", "*", Operation.CREATE, Permission.ALLOW)
            for kind, name in allowed
        )

    wanted = _topic("a"), _topic("b"), _topic("c")
    allow((ResourceType.TOPIC, "b"))
    assert group.beat(*wanted) == f"{_MISSING}; Unauthorized to CREATE on topics a, c."
    assert group.there() == []
    allow(*((ResourceType.TOPIC, name) for name in "abc"))
    assert group.beat(*wanted[:2]) == _MISSING
    allow((ResourceType.CLUSTER, "kafka-cluster"))
    assert group.beat(wanted[2]) == _MISSING
    assert group.there() == ["a", "b", "c"]


@pytest.mark.behaviour("TH-6")
def test_partitions_count_for_the_quota_of_who_asks():
    group = _Group()
    state = group.state
    state.throttle = Throttle(state.quotas, state.config, state.muted, lambda: 1000, lambda: 0)
    entity = [EntityData("user", None)]
    group.broker.ask(AlterClientQuotasRequest([EntryData(entity, [OpData(CONTROLLER_MUTATION_RATE, 1.0)])]))
    first = _topic("first", 200)
    assert group.beat(first) == _MISSING
    assert group.beat(_topic("second")) == _MISSING
    assert group.there() == ["first"]
    assert group.beat(_topic("second")) == (
        f"{_MISSING}; Creation failed: second (The throttling quota has been exceeded.)."
    )


@pytest.mark.behaviour("TH-6")
def test_what_one_look_at_the_topics_has_found_is_asked_for_once():
    group, requested = _Group(), set[str]()
    bad, good = _topic("bad", 1, foo="1"), _topic("good", 1)
    assert group.beat(bad, good, requested=requested) == _MISSING
    group.state.cluster.delete_topic("good")
    assert group.beat(good, requested=requested) == _MISSING
    assert group.beat(bad, later_ms=2 * _TTL_MS, requested=requested) == _MISSING
    assert group.beat(bad, later_ms=2 * _TTL_MS, requested=requested) == _MISSING  # without a reason
    assert group.there() == []
    assert group.beat(good, requested=set()) == _MISSING
    assert group.there() == ["good"]
