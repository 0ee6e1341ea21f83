"""Waiting for a topic."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from kafkastub.stub.errors import TopicTimeout

if TYPE_CHECKING:
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner


def wait_topic(runner: Runner, topic: str, partitions: int | None, timeout: float) -> None:
    """`KafkaStub.wait_topic`. Raises TopicTimeout after `timeout` seconds, TypeError, ValueError."""
    _check(topic, partitions, timeout)
    broker = runner.running()
    came = threading.Event()

    def look() -> None:
        if not missing(broker, topic, partitions):
            came.set()

    def begin() -> None:
        look()
        if not came.is_set():
            broker.state.topic_watchers.append(look)

    def end() -> str:
        if look in broker.state.topic_watchers:
            broker.state.topic_watchers.remove(look)
        return "" if came.is_set() else missing(broker, topic, partitions)

    runner.call(begin)
    try:
        came.wait(timeout)
    finally:
        complaint = runner.call(end)
    if complaint:
        raise TopicTimeout(f"topic {topic!r} {complaint} after {timeout:g} s")


def missing(broker: Broker, topic: str, partitions: int | None) -> str:
    """What it lacks, in words; "" where it is there, with so many partitions at least."""
    found = broker.state.cluster.topic(topic)
    if found is None:
        return "does not exist"
    have = len(found.partitions)
    if partitions is not None and have < partitions:
        return f"has {have} partition{'' if have == 1 else 's'}, {partitions} were waited for,"
    return ""


def _check(topic: object, partitions: object, timeout: object) -> None:
    if not isinstance(topic, str):
        raise TypeError(f"topic={topic!r} is refused: the name of a topic is wanted, a text")
    if partitions is not None and (not isinstance(partitions, int) or isinstance(partitions, bool)):
        raise TypeError(f"partitions={partitions!r} is refused: a number is wanted, or None for any")
    if not isinstance(timeout, int | float) or isinstance(timeout, bool):
        raise TypeError(f"timeout={timeout!r} is refused: a number of seconds is wanted")
    if not 0 <= timeout <= threading.TIMEOUT_MAX:
        raise ValueError(f"timeout={timeout!r} is refused: seconds from 0 to {threading.TIMEOUT_MAX:.0f} are wanted")
