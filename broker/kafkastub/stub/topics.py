"""The wait for a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.stub.errors import TopicTimeout
from kafkastub.stub.waiting import check_timeout, wait_until

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner


def wait_topic(runner: Runner, topic: str, partitions: int | None, timeout: float) -> None:
    """Wait for a topic: `KafkaStub.wait_topic`. Raises TopicTimeout after `timeout` seconds, TypeError, ValueError."""
    _check(topic, partitions, timeout)

    def describe(broker: Broker) -> str:
        return f"topic {topic!r} {missing(broker, topic, partitions)} after {timeout:g} s"

    wait_until(
        runner,
        lambda broker: not missing(broker, topic, partitions),
        describe,
        timeout,
        lambda broker: (broker.state.topic_watchers,),
        TopicTimeout,
    )


def missing(broker: Broker, topic: str, partitions: int | None) -> str:
    """What the topic lacks, in words; "" if it exists with at least the wanted number of partitions."""
    found = broker.state.cluster.topic(topic)
    if found is None:
        return "does not exist"
    have = len(found.partitions)
    if partitions is not None and have < partitions:
        return f"has {have} partition{'' if have == 1 else 's'}, {partitions} were expected,"
    return ""


def _check(topic: object, partitions: object, timeout: object) -> None:
    if not isinstance(topic, str):
        raise TypeError(f"topic={topic!r} is refused: expected the name of a topic, a string")
    if partitions is not None and (not isinstance(partitions, int) or isinstance(partitions, bool)):
        raise TypeError(f"partitions={partitions!r} is refused: expected a number, or None for any")
    check_timeout(timeout)
