"""What is kept of answers: long ones, those that are put off, and what a request costs that is too large."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafkastub.handlers.outcome import Deferred
from kafkastub.layers.fast_paths.contract import always_clear
from kafkastub.layers.fast_paths.table import FAST_PATHS
from kafkawire.api import ApiKey
from kafkawire.codec import Parts
from kafkawire.messages.create_partitions_request import CreatePartitionsRequest, CreatePartitionsTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.server.careful import CLIENT
from tests.server.changing import ADMIN, Both, Broker, framed

LEARNING = [key for key, one in FAST_PATHS.items() if one.learns]
METADATA = framed(MetadataRequest([MetadataRequestTopic(name="orders")]), 9)


class NotCopied(bytes):
    """Of which nobody takes a large part."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        assert not isinstance(found, bytes) or len(found) <= 1 << 13
        return found


def with_partitions(count: int) -> Both:
    both = Both(1, guarded=False)
    both.spoils = 0
    both.ask(ADMIN, CreatePartitionsRequest([CreatePartitionsTopic("orders", count)], 1000), 2)
    return both


def answered(broker: Broker) -> bytes:
    """As the server does it: what is put off is answered later."""
    out: Parts = []
    desk, dispatcher = broker.desk, broker.dispatcher
    left = dispatcher.serve(METADATA, 4, len(METADATA), broker.on("User:a"), desk.broker_ms, desk.timer_ms, out)
    if left is not None:
        exchange, deferred = left[0], cast("Deferred", left[1])
        while deferred.reply is None:
            broker.state.expire(desk.broker_ms, desk.timer_ms)
        assert dispatcher.answer(exchange, deferred, out)
    return b"".join(map(bytes, out))


@pytest.mark.parametrize("partitions", [3, 1000, 9000], ids=["short", "long", "put off"])
def test_an_answer_that_is_given_again_is_the_same_to_the_byte(partitions: int):
    both = with_partitions(partitions)
    careful = answered(both.careful)
    assert [answered(both.straight) for _ in range(3)] == [careful] * 3
    assert both.straight.counting.straight[ApiKey.METADATA] == 2


@pytest.mark.parametrize("key", LEARNING, ids=lambda key: key.camel)
def test_a_large_request_is_not_copied_to_be_looked_for(key: ApiKey):
    both = Both(1, guarded=False)
    path = FAST_PATHS[key].make(both.straight.state, 1, always_clear)
    assert path is not None
    data = NotCopied(1 << 20)
    assert path(CLIENT, data, 20, len(data), 0, 0) is None
