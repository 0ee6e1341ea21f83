"""What the group coordinator asks of the share coordinator: that partitions become known to it, or are forgotten.

Kafka: GroupCoordinatorService.persisterInitialize and persister.deleteState, which ask its node. Here it is done part
by part: a topic may have thousands of partitions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Final

from kafkastub.coordinator.share.state_partitions import Deletion, Initialization
from kafkastub.metadata import SHARE_GROUP_STATE
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.topics import auto_create
from kafkawire.errors import KafkaError

Errors = dict[tuple[bytes, int], KafkaError]
"""What has failed, by topic id and partition."""
Asking = Generator[int, None, Errors]
"""Gives how much each part was; in the end what has failed."""

_AT_ONCE: Final = 100
"""Partitions before others have their turn."""


def initialize(state: BrokerState, wanted: Initialization, broker_ms: int) -> Asking:
    """Make share partitions known; the first ones bring `__share_group_state` into being."""
    failed: Errors = {}
    persister, group_id = state.share_partitions.persister, wanted.group_id
    if state.cluster.topic(SHARE_GROUP_STATE) is None:
        _make_topic(state)
    for topic_id, starts in wanted.start_offsets.items():
        for partition, start_offset in starts.items():
            try:
                persister.initialize(group_id, topic_id, partition, wanted.state_epoch, start_offset, broker_ms)
            except KafkaError as error:
                failed[topic_id, partition] = error
            yield 1
    return failed


def delete(state: BrokerState, wanted: Deletion, broker_ms: int) -> Asking:
    """Forget share partitions. Of what was never known, nothing is to be done."""
    failed: Errors = {}
    persister, group_id = state.share_partitions.persister, wanted.group_id
    for topic_id, partitions in wanted.partitions.items():
        for partition in partitions:
            try:
                persister.delete(group_id, topic_id, partition, broker_ms)
            except KafkaError as error:
                failed[topic_id, partition] = error
            yield 1
    return failed


def go_on(state: BrokerState, wanted: Initialization, broker_ms: int, timer_ms: int) -> None:
    """Behind a heartbeat: make share partitions known, and write down in the group which ones are.

    The heartbeat's answer does not tell of it; the group's epoch rises with the next one. Where any has failed, the
    group knows of none of them, and a later heartbeat asks again.
    """
    work = _go_on(state, wanted, broker_ms, timer_ms)
    if next(work, 0) is None:
        state.share_partitions.coordinator.turns.add(work)


def _go_on(state: BrokerState, wanted: Initialization, broker_ms: int, timer_ms: int) -> Iterator[None]:
    steps, left = initialize(state, wanted, broker_ms), _AT_ONCE
    while True:
        try:
            left -= next(steps)
        except StopIteration as end:
            failed: Errors = end.value
            break
        if left <= 0:
            yield
            left = _AT_ONCE
    if state.groups.loading is None:
        tell(state, wanted, failed, broker_ms, timer_ms)


def tell(state: BrokerState, wanted: Initialization, failed: Errors, broker_ms: int, timer_ms: int) -> None:
    """Let the group know what has become of it. KAFKA_STORAGE_ERROR where it cannot be written down."""
    groups, partitions = state.coordinator.share, wanted.start_offsets
    told = groups.uninitialized if failed else groups.initialized
    state.settle(told(wanted.group_id, partitions, broker_ms, timer_ms))


def _make_topic(state: BrokerState) -> None:
    """Where it cannot be made, nothing can be kept of any share partition: each of them is told so."""
    try:
        auto_create(state, SHARE_GROUP_STATE)
    except KafkaError as error:
        state.log.warning("no topic for what share groups have read", topic=SHARE_GROUP_STATE, why=str(error))
