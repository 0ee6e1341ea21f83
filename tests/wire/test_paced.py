"""Large messages are counted while they are read, and can be held up between two elements."""

from __future__ import annotations

import pytest

from kafkawire import codec
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from kafkawire.rows import Shared
from kafkawire.schema import Message


class Enough(Exception):
    """So many elements are too many."""


REQUESTS: list[tuple[Message, int, list[int]]] = [
    (ListOffsetsRequest(-1, 0, [ListOffsetsTopic("t", [ListOffsetsPartition(p) for p in range(3)])] * 2), 8, [2, 3, 3]),
    (FindCoordinatorRequest(coordinator_keys=["a", "b", "c"]), 4, [3]),
    (MetadataRequest([MetadataRequestTopic(name="t")] * 4), 12, [4]),
    (MetadataRequest(None), 12, []),
]


def read(message: Message, version: int, straight: bool, most: int = 1000) -> tuple[Message, list[int], int]:
    counted: list[int] = []
    ticks = 0

    def count(number: int) -> None:
        counted.append(number)
        if sum(counted) > most:
            raise Enough

    def tick() -> None:
        nonlocal ticks
        ticks += 1

    data, cls = codec.encode(message, version), type(message)
    if straight:
        made, _ = codec.paced_decoder(cls, version)(data, 0, len(data), count, tick)
    else:
        made, _ = codec.read_reference(cls, version, data, 0, len(data), count, tick)
    return made, counted, ticks


@pytest.mark.parametrize("straight", [True, False])
@pytest.mark.parametrize(("message", "version", "numbers"), REQUESTS)
def test_elements_are_counted_before_they_are_read(message: Message, version: int, numbers: list[int], straight: bool):
    made, counted, ticks = read(message, version, straight)
    assert made == codec.decode(type(message), version, codec.encode(message, version))
    assert counted == numbers
    assert ticks == sum(numbers)


@pytest.mark.parametrize("straight", [True, False])
def test_nothing_is_read_of_an_array_that_is_too_much(straight: bool):
    message = FindCoordinatorRequest(coordinator_keys=["a"] * 11)
    with pytest.raises(Enough):
        read(message, 4, straight, most=10)
    read(message, 4, straight, most=11)


def test_tags_that_nobody_knows_count_too():
    data = codec.encode(FindCoordinatorRequest(coordinator_keys=["a"]), 4)
    tags = b"".join(bytes([tag, 0]) for tag in range(50, 60))
    counted: list[int] = []
    codec.read_reference(FindCoordinatorRequest, 4, data[:-1] + b"\x0a" + tags, 0, None, counted.append)
    assert counted == [1, 10]


def test_an_answer_is_held_up_with_each_element():
    one = MetadataResponseTopic(name="t", partitions=[])
    ticks: list[None] = []
    for topics in ([one] * 5, Shared([one] * 5, {})):
        answer = MetadataResponse(topics=topics)
        ticks.clear()
        parts = codec.paced_encoder(MetadataResponse, 12)(answer, lambda: ticks.append(None))
        assert b"".join(parts) == codec.encode(answer, 12)
        assert len(ticks) == 5
