"""Requests about share groups that name as much as they can; see `many`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages import REQUESTS
from tests.hostile.many import ONE, THOUSAND, Many

GROUP: Final = "share"
"""A share group whose member has all of both topics."""
OFFLINE: Final = "offline"
"""A share group without members, which has offsets of all of both topics."""
_EVERY: Final = tuple(range(1000))
_FAR: Final = 1 << 62
_ACCEPT, _RELEASE = 1, 2


def _module(key: int) -> Any:
    return importlib.import_module(REQUESTS[key][0])


def _fill(
    name: str, key: int, version: int, size: int, make: Callable[[int], Any], whole: Callable[[list[Any]], Any]
) -> Many:
    """As many of `make(index)` as fit into `size` bytes."""
    some = len(encode(whole([make(index) for index in range(10_000, 10_100)]), version))
    count = max(1, 100 * size // some)
    return Many(name, key, version, encode(whole([make(index) for index in range(count)]), version))


def _unheard(index: int) -> bytes:
    return index.to_bytes(16, "big")


def share_requests(size: int, ids: Mapping[str, bytes]) -> Iterator[Many]:
    """One after the other, each of about `size` bytes. `ids` are those of the topics.

    Acknowledgements are of a share session of "member" that was begun just before.
    """
    yield from _fetches(size, ids)
    yield from _acknowledgements(size, ids)
    yield from _groups(size)
    yield from _offsets(size)
    yield from _state(size, ids)


def _fetches(size: int, ids: Mapping[str, bytes]) -> Iterator[Many]:
    f = _module(ApiKey.SHARE_FETCH)

    def fetch(topics: Sequence[Any], forgotten: Sequence[Any] = ()) -> Any:
        return f.ShareFetchRequest(
            GROUP, "other", 0, 0, 0, 1 << 20, 5000, 500, topics=topics, forgotten_topics_data=forgotten
        )

    for name, make in (
        ("one partition", lambda _: f.FetchTopic(ids[ONE], [f.FetchPartition(0)])),
        ("a large topic", lambda _: f.FetchTopic(ids[THOUSAND], [f.FetchPartition(one) for one in _EVERY])),
        ("unknown topics", lambda index: f.FetchTopic(_unheard(index), [f.FetchPartition(0)])),
        ("partitions that are not there", lambda index: f.FetchTopic(ids[ONE], [f.FetchPartition(index)])),
    ):
        yield _fill(f"ShareFetch, {name}", ApiKey.SHARE_FETCH, 2, size, make, fetch)
    for name, topic_id in (("a large topic", lambda _: ids[THOUSAND]), ("unknown topics", _unheard)):
        yield _fill(
            f"ShareFetch that forgets {name}", ApiKey.SHARE_FETCH, 2, size,
            lambda index, topic_id=topic_id: f.ForgottenTopic(topic_id(index), _EVERY[:10]),
            lambda found: fetch((), found),
        )  # fmt: skip


def _acknowledgements(size: int, ids: Mapping[str, bytes]) -> Iterator[Many]:
    a = _module(ApiKey.SHARE_ACKNOWLEDGE)

    def said(topics: Sequence[Any]) -> Any:
        return a.ShareAcknowledgeRequest(GROUP, "member", 1, topics=topics)

    def at_one(batches: Sequence[Any]) -> Any:
        return said([a.AcknowledgeTopic(ids[ONE], [a.AcknowledgePartition(0, batches)])])

    batch = a.AcknowledgementBatch
    for name, make in (
        ("every second offset", lambda index: batch(2 * index, 2 * index, [_ACCEPT])),
        ("each offset", lambda index: batch(index, index, [_RELEASE])),
        ("the same again and again", lambda _: batch(0, 10, [_ACCEPT])),
        ("everything there is", lambda _: batch(-_FAR, _FAR, [_ACCEPT])),
        ("a million offsets each", lambda index: batch(index * 1_000_000, index * 1_000_000 + 999_999, [_ACCEPT])),
        ("backwards", lambda index: batch(_FAR - index, _FAR - index, [_ACCEPT])),
        ("without types", lambda index: batch(index, index, [])),
    ):
        yield _fill(f"ShareAcknowledge, {name}", ApiKey.SHARE_ACKNOWLEDGE, 2, size, make, at_one)
    for name, last in (("as many types as offsets", size - 1), ("more types than offsets", 5)):
        whole = at_one([batch(0, last, [1, 2] * (size // 2))])
        yield Many(f"ShareAcknowledge, {name}", ApiKey.SHARE_ACKNOWLEDGE, 2, encode(whole, 2))
    for name, make in (
        ("all of a large topic", lambda _: a.AcknowledgeTopic(
            ids[THOUSAND], [a.AcknowledgePartition(one, [batch(0, 0, [_ACCEPT])]) for one in _EVERY])),
        ("unknown topics", lambda index: a.AcknowledgeTopic(
            _unheard(index), [a.AcknowledgePartition(0, [batch(0, 0, [_ACCEPT])])])),
    ):  # fmt: skip
        yield _fill(f"ShareAcknowledge, {name}", ApiKey.SHARE_ACKNOWLEDGE, 2, size, make, said)


def _groups(size: int) -> Iterator[Many]:
    h = _module(ApiKey.SHARE_GROUP_HEARTBEAT)
    for name, naming in (("a large topic", lambda _: THOUSAND), ("unknown topics", lambda index: f"x{index}")):
        yield _fill(
            f"ShareGroupHeartbeat, {name}", ApiKey.SHARE_GROUP_HEARTBEAT, 1, size, naming,
            lambda names: h.ShareGroupHeartbeatRequest("crowd", "loud", 0, None, names),
        )  # fmt: skip
    d = _module(ApiKey.SHARE_GROUP_DESCRIBE)
    for name, naming in (("one group", lambda _: GROUP), ("unknown groups", str)):
        yield _fill(
            f"ShareGroupDescribe, {name}", ApiKey.SHARE_GROUP_DESCRIBE, 1, size, naming,
            lambda names: d.ShareGroupDescribeRequest(names, True),
        )  # fmt: skip


def _offsets(size: int) -> Iterator[Many]:
    d = _module(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS)
    large = d.DescribeShareGroupOffsetsRequestTopic(THOUSAND, _EVERY)
    for name, make in (
        ("all of one group", lambda _: d.DescribeShareGroupOffsetsRequestGroup(GROUP, None)),
        ("unknown groups", lambda index: d.DescribeShareGroupOffsetsRequestGroup(str(index), None)),
        ("a large topic", lambda _: d.DescribeShareGroupOffsetsRequestGroup(GROUP, [large])),
        ("unknown topics", lambda index: d.DescribeShareGroupOffsetsRequestGroup(
            GROUP, [d.DescribeShareGroupOffsetsRequestTopic(f"x{index}", [0])])),
    ):  # fmt: skip
        yield _fill(
            f"DescribeShareGroupOffsets, {name}", ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, 1, size, make,
            lambda groups: d.DescribeShareGroupOffsetsRequest(groups),
        )  # fmt: skip
    a = _module(ApiKey.ALTER_SHARE_GROUP_OFFSETS)
    every = [a.AlterShareGroupOffsetsRequestPartition(one, 5) for one in _EVERY]
    for name, make in (
        ("one partition", lambda _: a.AlterShareGroupOffsetsRequestTopic(ONE, every[:1])),
        ("a large topic", lambda _: a.AlterShareGroupOffsetsRequestTopic(THOUSAND, every)),
        ("unknown topics", lambda index: a.AlterShareGroupOffsetsRequestTopic(f"x{index}", every[:1])),
    ):
        yield _fill(
            f"AlterShareGroupOffsets, {name}", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, size, make,
            lambda topics: a.AlterShareGroupOffsetsRequest(OFFLINE, topics),
        )  # fmt: skip
    f = _module(ApiKey.DELETE_SHARE_GROUP_OFFSETS)
    for name, naming in (("one topic", lambda _: ONE), ("unknown topics", lambda index: f"x{index}")):
        yield _fill(
            f"DeleteShareGroupOffsets, {name}", ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, size,
            lambda index, naming=naming: f.DeleteShareGroupOffsetsRequestTopic(naming(index)),
            lambda topics: f.DeleteShareGroupOffsetsRequest(OFFLINE, topics),
        )  # fmt: skip


def _state(size: int, ids: Mapping[str, bytes]) -> Iterator[Many]:
    """What brokers ask each other, and nobody is kept from asking where there are no permissions."""
    shapes: list[tuple[int, int, str, str, Callable[[Any, int], Any]]] = [
        (ApiKey.INITIALIZE_SHARE_GROUP_STATE, 0, "InitializeStateData", "InitializeShareGroupStateRequest",
         lambda m, one: m.PartitionData(one, 1, 0)),
        (ApiKey.READ_SHARE_GROUP_STATE, 0, "ReadStateData", "ReadShareGroupStateRequest",
         lambda m, one: m.PartitionData(one, 0)),
        (ApiKey.WRITE_SHARE_GROUP_STATE, 1, "WriteStateData", "WriteShareGroupStateRequest",
         lambda m, one: m.PartitionData(one, 1, 0, 0, 0, [m.StateBatch(0, 5, 2, 1)])),
        (ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, 1, "ReadStateSummaryData", "ReadShareGroupStateSummaryRequest",
         lambda m, one: m.PartitionData(one, 0)),
        (ApiKey.DELETE_SHARE_GROUP_STATE, 0, "DeleteStateData", "DeleteShareGroupStateRequest",
         lambda m, one: m.PartitionData(one)),
    ]  # fmt: skip
    for key, version, data, request, partition in shapes:
        m = _module(key)
        make_data, make_request = getattr(m, data), getattr(m, request)
        for name, topic_id, partitions in (
            ("a large topic", lambda _: ids[THOUSAND], _EVERY),
            ("unknown topics", _unheard, (0,)),
        ):
            yield _fill(
                f"{ApiKey(key).camel}, {name}", key, version, size,
                lambda index, m=m, make_data=make_data, topic_id=topic_id, partitions=partitions, partition=partition:
                    make_data(topic_id(index), [partition(m, one) for one in partitions]),
                lambda them, make_request=make_request: make_request("forged", them),
            )  # fmt: skip
    w = _module(ApiKey.WRITE_SHARE_GROUP_STATE)
    for name, batch in (
        ("every second offset", lambda index: w.StateBatch(2 * index, 2 * index, 2, 1)),
        ("overlapping ranges", lambda index: w.StateBatch(index, index + 100_000, 2, index % 30_000)),
        ("everything there is", lambda index: w.StateBatch(-_FAR, _FAR, 2, index % 30_000)),
    ):
        yield _fill(
            f"WriteShareGroupState, {name}", ApiKey.WRITE_SHARE_GROUP_STATE, 1, size, batch,
            lambda batches: w.WriteShareGroupStateRequest(
                GROUP, [w.WriteStateData(ids[ONE], [w.PartitionData(0, 2, 0, 0, 0, batches)])]),
        )  # fmt: skip
