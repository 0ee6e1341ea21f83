"""kio's native reader behind our door: what it gives is ours, what it cannot give is read by others."""

from __future__ import annotations

import copy
import pickle

import pytest

from kafkawire import codec
from kafkawire.codec import native
from kafkawire.codec.varint import uvarint
from kafkawire.errors import MalformedMessage
from kafkawire.messages.list_groups_response import ListedGroup, ListGroupsResponse
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.wire.catalogue import layout, straight

MANY = range(native.WORTH_IT + 3)


def partitions(version: int) -> list[ListOffsetsPartition]:
    """As a consumer of long arrays gets them."""
    sent = [ListOffsetsPartition(partition_index=i, timestamp=-i) for i in MANY]
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=sent)])
    read = codec.decode(ListOffsetsRequest, version, codec.encode(request, version))
    assert read == request
    return list(read.topics[0].partitions)


def groups(*names: str) -> tuple[ListGroupsResponse, bytes]:
    response = ListGroupsResponse(groups=[ListedGroup(group_id=name, protocol_type="consumer") for name in names])
    return response, codec.encode(response, 3)


def test_the_native_reader_is_what_these_tests_are_about():
    found = native.array_reader(layout(ListGroupsResponse, 3).fields[-1], layout(ListGroupsResponse, 3))
    assert found is not None


@pytest.mark.parametrize("version", [1, 3, 4, 6])
def test_what_it_reads_is_like_any_other_struct(version: int):
    for index, read in enumerate(partitions(version)):
        neutral = ListOffsetsPartition(partition_index=index, timestamp=-index)
        assert (read, neutral) == (neutral, read)
        assert repr(read) == repr(neutral)
        assert read.current_leader_epoch == -1
        assert codec.encode(ListOffsetsRequest(topics=[ListOffsetsTopic("t", [read])]), 6)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_are_of_the_neutral_class(copied):
    one = copied(partitions(1)[3])
    assert type(one) is ListOffsetsPartition
    one.current_leader_epoch = 7
    assert one == ListOffsetsPartition(partition_index=3, timestamp=-3, current_leader_epoch=7)


def test_the_next_frame_is_not_read():
    """A last element that goes on in what lies behind the frame."""
    response, data = groups(*(f"group-{i}" for i in MANY))
    end = len(data)
    assert codec.decoder(ListGroupsResponse, 3)(data + data, 0, end) == (response, end)
    for short in range(1, 30):
        straight_end = straight(ListGroupsResponse, 3, True)(data + data, 0, end - short)[1]
        assert straight_end > end - short
        with pytest.raises(MalformedMessage):
            codec.decoder(ListGroupsResponse, 3)(data + data, 0, end - short)


def test_tags_behind_the_array_or_in_an_element_are_left_to_the_reference_reader():
    response, data = groups(*(f"group-{i}" for i in MANY))
    tagged = data[:-1] + bytes.fromhex("01 05 01 00")
    assert codec.decode_from(ListGroupsResponse, 3, tagged, 0) == (response, len(tagged))
    inside = data[:-2] + bytes.fromhex("01 05 01 00 00")
    assert codec.decode_from(ListGroupsResponse, 3, inside, 0) == (response, len(inside))


@pytest.mark.parametrize("character", ["x", "é", "😀"])
def test_a_string_longer_than_kafka_takes_is_refused(character: str):
    for bytes_, fits in ((32767, True), (32768, False)):
        size = len(character.encode())
        name = character * (bytes_ // size) + "x" * (bytes_ % size)
        response, data = groups(*("g" for _ in MANY), "PLACE")
        head, _, tail = data.partition(b"\x06PLACE")
        long = head + uvarint(bytes_ + 1)
        long += name.encode() + tail
        response.groups[-1].group_id = name
        if fits:
            assert codec.decode(ListGroupsResponse, 3, long) == response
        else:
            with pytest.raises(MalformedMessage, match=r"groups\[11\].group_id at byte .* 32768 bytes"):
                codec.decode(ListGroupsResponse, 3, long)
