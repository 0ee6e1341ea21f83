"""Requests about share groups (KIP-932) for the ACL matrix. None of them changes what another one is answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kafkawire.api import ApiKey
from kafkawire.messages import delete_share_group_state_request as forgotten
from kafkawire.messages import initialize_share_group_state_request as initialized
from kafkawire.messages import read_share_group_state_request as read
from kafkawire.messages import read_share_group_state_summary_request as summary
from kafkawire.messages import share_acknowledge_request as acknowledge
from kafkawire.messages import share_fetch_request as fetch
from kafkawire.messages import write_share_group_state_request as written
from kafkawire.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.delete_share_group_offsets_request import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.schema import Message

HERD: Final = "herd"
"""A share group with a member, which has both of the topics that exist."""
FLOCK: Final = "flock"
"""A share group without members."""
_UNKNOWN: Final = bytes(range(16))
_FAR: Final = 1 << 40
_ACCEPT: Final = 1

Asked = tuple[str, ApiKey, int, Message]


def share_requests(ids: Mapping[str, bytes], seen: str, other: str, gone: str, of_another_type: str) -> Iterator[Asked]:
    """Title, API, version and request.

    Args:
        ids: those of the two topics that exist, `seen` and `other`.
        of_another_type: a group that is no share group.
    """
    yield from _groups(seen, gone, of_another_type)
    yield from _records([ids[seen], ids[other]])
    yield from _offsets((other, gone, seen), of_another_type)
    yield from _state()


def _groups(seen: str, gone: str, of_another_type: str) -> Iterator[Asked]:
    for title, group, topics in (
        ("of nobody", "none", None),
        ("of another type", of_another_type, None),
        ("of nobody, with topics", "none", [seen, gone]),
        ("of another type, with topics", of_another_type, [gone, seen]),
        ("with an empty list", HERD, []),
    ):
        beat = ShareGroupHeartbeatRequest(group, "nobody", 5, None, topics)
        yield f"share heartbeat {title}", ApiKey.SHARE_GROUP_HEARTBEAT, 1, beat
    groups = [HERD, "none", "", of_another_type, HERD]
    for with_operations in (False, True):
        told = ShareGroupDescribeRequest(groups, with_operations)
        title = "share describe with operations" if with_operations else "share describe"
        yield title, ApiKey.SHARE_GROUP_DESCRIBE, 1, told


def _records(topic_ids: list[bytes]) -> Iterator[Asked]:
    """A session that is begun anew each time, and ended; nothing is acquired in it."""
    for version in (1, 2):
        topics = [fetch.FetchTopic(topic_id, [fetch.FetchPartition(0)]) for topic_id in topic_ids]
        begun = fetch.ShareFetchRequest(HERD, "visitor", 0, 0, 0, 1, 0, 0, topics=topics)
        yield f"share fetch {version}", ApiKey.SHARE_FETCH, version, begun
        batch = acknowledge.AcknowledgementBatch(_FAR, _FAR, [_ACCEPT])
        said = [
            acknowledge.AcknowledgeTopic(topic_id, [acknowledge.AcknowledgePartition(0, [batch])])
            for topic_id in topic_ids
        ]
        spoken = acknowledge.ShareAcknowledgeRequest(HERD, "visitor", 1, topics=said)
        yield f"acknowledge {version}", ApiKey.SHARE_ACKNOWLEDGE, version, spoken
        ended = acknowledge.ShareAcknowledgeRequest(HERD, "visitor", -1)
        yield f"end of a share session {version}", ApiKey.SHARE_ACKNOWLEDGE, version, ended


def _offsets(names: tuple[str, ...], of_another_type: str) -> Iterator[Asked]:
    some = [DescribeShareGroupOffsetsRequestTopic(name, [0]) for name in names]
    for version in (0, 1):
        groups = [
            DescribeShareGroupOffsetsRequestGroup(HERD, some),
            *(DescribeShareGroupOffsetsRequestGroup(group, None) for group in (HERD, "none", of_another_type)),
        ]
        asked = DescribeShareGroupOffsetsRequest(groups)
        yield f"share offsets {version}", ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, version, asked
    for group in (HERD, FLOCK, of_another_type):
        moved = [
            AlterShareGroupOffsetsRequestTopic(name, [AlterShareGroupOffsetsRequestPartition(0, 0)]) for name in names
        ]
        changed = AlterShareGroupOffsetsRequest(group, moved)
        yield f"set share offsets of {group}", ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0, changed
        dropped = DeleteShareGroupOffsetsRequest(group, [DeleteShareGroupOffsetsRequestTopic(name) for name in names])
        yield f"delete share offsets of {group}", ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0, dropped


def _state() -> Iterator[Asked]:
    """Of a topic that does not exist."""
    begun = [initialized.InitializeStateData(_UNKNOWN, [initialized.PartitionData(0, 1, 0)])]
    request: Message = initialized.InitializeShareGroupStateRequest(HERD, begun)
    yield "initialize share state", ApiKey.INITIALIZE_SHARE_GROUP_STATE, 0, request
    request = read.ReadShareGroupStateRequest(HERD, [read.ReadStateData(_UNKNOWN, [read.PartitionData(0, 1)])])
    yield "read share state", ApiKey.READ_SHARE_GROUP_STATE, 0, request
    for version in (0, 1):
        kept = [written.WriteStateData(_UNKNOWN, [written.PartitionData(0, 1, 1, 0, 0, [])])]
        request = written.WriteShareGroupStateRequest(HERD, kept)
        yield f"write share state {version}", ApiKey.WRITE_SHARE_GROUP_STATE, version, request
    dropped = [forgotten.DeleteStateData(_UNKNOWN, [forgotten.PartitionData(0)])]
    request = forgotten.DeleteShareGroupStateRequest(HERD, dropped)
    yield "delete share state", ApiKey.DELETE_SHARE_GROUP_STATE, 0, request
    for version in (0, 1):
        asked = [summary.ReadStateSummaryData(_UNKNOWN, [summary.PartitionData(0, 1)])]
        request = summary.ReadShareGroupStateSummaryRequest(HERD, asked)
        yield f"share state summary {version}", ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, version, request
