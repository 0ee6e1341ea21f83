"""Which member of a group a request is of: of every API, in the line for people, as a filter, in exports."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kafkastub.journal import Entry, Outcome, Raw
from kafkastub.journal.export import write_jsonl, write_parquet
from kafkastub.journal.journal import matcher
from kafkawire.codec import encode
from kafkawire.header import is_flexible, request_header
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest
from kafkawire.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafkawire.messages.offset_commit_request import OffsetCommitRequest
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.schema import Message

Members = list[tuple[str, str | None, int | None]]
SYNC = SyncGroupRequest("g", 3, "leader", assignments=[SyncGroupRequestAssignment("other", b"")])


def entry_of(request: Message, version: int, answer: Message | None = None) -> Entry:
    key = request.API_KEY
    frame = request_header(key, version, 1, "raw", is_flexible(type(request), version)) + encode(request, version)
    reply = None
    if answer is not None:
        body = b"\0\0\0\1\0" + encode(answer, version)  # of a flexible answer
        reply = len(body).to_bytes(4, "big") + body
    return Entry(0, Raw(frame, 0, len(frame), reply, None, 0, 0, 1, Outcome.REPLY, None), 0, lambda _: None)


@pytest.mark.parametrize(
    ("request_", "version", "members"),
    [
        (ConsumerGroupHeartbeatRequest("g", "m", 4, "i"), 1, [("m", "i", 4)]),
        (ConsumerGroupHeartbeatRequest("g", "", 0), 0, []),
        (HeartbeatRequest("g", 3, "m"), 4, [("m", None, 3)]),
        (JoinGroupRequest("g", 1, 1, "m", "i"), 5, [("m", "i", None)]),
        (SYNC, 3, [("leader", None, 3)]),
        (OffsetCommitRequest("g", 7, "m"), 9, [("m", None, 7)]),
        (OffsetCommitRequest("g", -1, ""), 9, []),
        (LeaveGroupRequest("g", "m"), 2, [("m", None, None)]),
        (
            LeaveGroupRequest("g", members=[MemberIdentity("a"), MemberIdentity("", "i")]),
            3,
            [("a", None, None), ("", "i", None)],
        ),
        (OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", "m", 5)]), 9, [("m", None, 5)]),
        (OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g")]), 9, []),
    ],
)
def test_who_asks_or_is_spoken_for(request_: Message, version: int, members: Members):
    assert [tuple(one) for one in entry_of(request_, version).members] == members


def heartbeat() -> Entry:
    answer = ConsumerGroupHeartbeatResponse(member_id="given", member_epoch=1)
    return entry_of(ConsumerGroupHeartbeatRequest("g", "", 0), 0, answer)


def test_who_joined_without_an_id_has_the_one_that_it_was_given():
    assert [one.member_id for one in heartbeat().members] == ["given"]
    assert "group g member given epoch 0 ->" in str(heartbeat())


def test_members_are_a_filter():
    assert matcher({"member_id": "given"})(heartbeat())
    assert not matcher({"member_id": "other"})(heartbeat())


def test_members_are_exported(tmp_path: Path):
    row = json.loads(write_jsonl([heartbeat()], tmp_path / "journal.jsonl").read_text())
    assert row["members"] == [{"member_id": "given", "instance_id": None, "epoch": 0}]
    table = pq.read_table(write_parquet([heartbeat()], tmp_path / "journal.parquet"))
    assert table.column("members").to_pylist() == [row["members"]]
