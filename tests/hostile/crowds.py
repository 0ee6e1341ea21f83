"""Groups of very many members: `python -m tests.hostile.crowds HOST:PORT TYPE MEMBERS SESSION_MS`.

Plays a group's life, a line of standard output a step, each before the step begins: the members come all at once, have
their say, are described, and fall silent all at once; "over" is the last line.
"""

from __future__ import annotations

import selectors
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from kafkawire.codec import decode, encode
from kafkawire.framing import FrameSplitter, frame
from kafkawire.header import request_header
from kafkawire.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from kafkawire.messages.consumer_group_describe_response import ConsumerGroupDescribeResponse
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.messages.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.describe_groups_response import DescribeGroupsResponse
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.join_group_response import JoinGroupResponse
from kafkawire.messages.share_group_describe_request import ShareGroupDescribeRequest
from kafkawire.messages.share_group_describe_response import ShareGroupDescribeResponse
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.share_group_heartbeat_response import ShareGroupHeartbeatResponse
from kafkawire.messages.streams_group_describe_request import StreamsGroupDescribeRequest
from kafkawire.messages.streams_group_describe_response import StreamsGroupDescribeResponse
from kafkawire.messages.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    Topology,
)
from kafkawire.messages.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.messages.sync_group_response import SyncGroupResponse
from kafkawire.schema import Message
from tests.flood.load import raise_limit

TOPIC: Final = "orders"


def settings(session_ms: int) -> list[str]:
    """Of a broker whose members' sessions are so long."""
    of_types = [
        f"group.{kind}.{name}={value}"
        for kind in ("consumer", "share", "streams")
        for name, value in {
            "min.session.timeout.ms": session_ms,
            "session.timeout.ms": session_ms,
            "min.heartbeat.interval.ms": session_ms // 4,
            "heartbeat.interval.ms": session_ms // 4,
        }.items()
    ]
    return [
        "group.min.session.timeout.ms=1",
        "group.initial.rebalance.delay.ms=500",
        "group.share.max.size=1000",
        *of_types,
    ]


AT_ONCE: Final = 200
FRESH_MS: Final = 120_000


class Crowd:
    """So many connections, which ask all at once."""

    def __init__(self, servers: str, count: int) -> None:
        host, _, port = servers.rpartition(":")
        self.sockets = [socket.create_connection((host, int(port))) for _ in range(count)]

    def ask(self, version: int, requests: Sequence[Message]) -> list[bytes]:
        """The answers' frames, without their sizes: one request a connection, answered whenever that is."""
        with selectors.DefaultSelector() as selector:
            answers: list[bytes] = [b""] * len(requests)
            for index, (sock, request) in enumerate(zip(self.sockets, requests, strict=True)):
                sock.sendall(framed(request, version))
                selector.register(sock, selectors.EVENT_READ, (index, FrameSplitter(1 << 30)))
            left = len(requests)
            while left:
                for key, _ in selector.select():
                    index, splitter = key.data
                    for buffer, start, end in splitter.feed(key.fileobj.recv(1 << 20)):  # type: ignore[union-attr]
                        answers[index] = bytes(buffer[start:end])
                        selector.unregister(key.fileobj)
                        left -= 1
        return answers


def framed(request: Message, version: int) -> bytes:
    key = request.API_KEY
    return frame(request_header(key, version, 1, "crowd", True) + encode(request, version))


def pipelined(sock: socket.socket, version: int, requests: Iterable[Message]) -> Iterator[bytes]:
    """The answers' frames to requests that one connection sends, many at a time."""
    splitter, left = FrameSplitter(1 << 30), list(requests)
    for at in range(0, len(left), AT_ONCE):
        some = left[at : at + AT_ONCE]
        sock.sendall(b"".join(framed(one, version) for one in some))
        due = len(some)
        while due:
            for buffer, start, end in splitter.feed(sock.recv(1 << 20)):
                yield bytes(buffer[start:end])
                due -= 1


def step(name: str) -> None:
    print(name, flush=True)


def classic(servers: str, count: int, session_ms: int) -> None:
    step("connect")
    crowd = Crowd(servers, count)
    metadata = struct.pack(">hih", 0, 1, len(TOPIC)) + TOPIC.encode() + struct.pack(">i", -1)

    def joining(member: str) -> JoinGroupRequest:
        protocols = [JoinGroupRequestProtocol("range", metadata)]
        return JoinGroupRequest("classic", FRESH_MS, FRESH_MS, member, None, "consumer", protocols)

    step("ask for an id")
    first = [decode(JoinGroupResponse, 9, answer[5:]) for answer in crowd.ask(9, [joining("")] * count)]
    members = [one.member_id for one in first]
    assert len(set(members)) == count
    step("join")
    joined = [decode(JoinGroupResponse, 9, answer[5:]) for answer in crowd.ask(9, [joining(one) for one in members])]
    assert {one.error_code for one in joined} == {0}
    (generation,) = {one.generation_id for one in joined}
    (leader,) = {one.leader for one in joined}
    assert max(len(one.members) for one in joined) == count
    step("sync")
    given = [SyncGroupRequestAssignment(one, b"a" * 20) for one in members]
    answers = crowd.ask(
        5,
        [
            SyncGroupRequest("classic", generation, one, None, "consumer", "range", given if one == leader else ())
            for one in members
        ],
    )
    assert {decode(SyncGroupResponse, 5, answer[5:]).error_code for answer in answers} == {0}
    step("heartbeats")
    beats = crowd.ask(4, [HeartbeatRequest("classic", generation, one) for one in members])
    assert {decode(HeartbeatResponse, 4, answer[5:]).error_code for answer in beats} == {0}
    step("describe")
    (answer,) = pipelined(crowd.sockets[0], 5, [DescribeGroupsRequest(["classic"])])
    assert len(decode(DescribeGroupsResponse, 5, answer[5:]).groups[0].members) == count
    step("join again with a short session")
    short = [joining(one) for one in members]
    for one in short:
        one.session_timeout_ms = session_ms
    joined = [decode(JoinGroupResponse, 9, answer[5:]) for answer in crowd.ask(9, short)]
    assert {one.error_code for one in joined} == {0}
    step("silence")
    _until_described(crowd.sockets[0], 5, DescribeGroupsRequest(["classic"]), DescribeGroupsResponse)


def consumer(servers: str, count: int, session_ms: int) -> None:
    def joining(index: int) -> Message:
        return ConsumerGroupHeartbeatRequest("consumer", f"m{index}", 0, None, None, FRESH_MS, [TOPIC], None, None, [])

    def beating(index: int, epoch: int) -> Message:
        return ConsumerGroupHeartbeatRequest("consumer", f"m{index}", epoch)

    describing = ConsumerGroupDescribeRequest(["consumer"])
    _modern(servers, count, joining, beating, ConsumerGroupHeartbeatResponse, describing, ConsumerGroupDescribeResponse)


def share(servers: str, count: int, session_ms: int) -> None:
    def joining(index: int) -> Message:
        return ShareGroupHeartbeatRequest("share", f"m{index}", 0, None, [TOPIC])

    def beating(index: int, epoch: int) -> Message:
        return ShareGroupHeartbeatRequest("share", f"m{index}", epoch)

    describing = ShareGroupDescribeRequest(["share"])
    _modern(servers, count, joining, beating, ShareGroupHeartbeatResponse, describing, ShareGroupDescribeResponse)


def streams(servers: str, count: int, session_ms: int) -> None:
    topology = Topology(0, [Subtopology("0", [TOPIC])])

    def joining(index: int) -> Message:
        return StreamsGroupHeartbeatRequest(
            "streams", f"m{index}", 0, rebalance_timeout_ms=FRESH_MS, topology=topology, process_id=f"p{index}",
            active_tasks=[], standby_tasks=[], warmup_tasks=[],
        )  # fmt: skip

    def beating(index: int, epoch: int) -> Message:
        return StreamsGroupHeartbeatRequest("streams", f"m{index}", epoch)

    describing = StreamsGroupDescribeRequest(["streams"])
    _modern(servers, count, joining, beating, StreamsGroupHeartbeatResponse, describing, StreamsGroupDescribeResponse)


def _modern(
    servers: str,
    count: int,
    joining: Callable[[int], Message],
    beating: Callable[[int, int], Message],
    answer: Any,
    describing: Message,
    description: Any,
) -> None:
    host, _, port = servers.rpartition(":")
    with socket.create_connection((host, int(port))) as sock:
        step("join")
        answers = [decode(answer, 1, one[5:]) for one in pipelined(sock, 1, map(joining, range(count)))]
        assert {one.error_code for one in answers} == {0}, answers[-1]
        epochs = [one.member_epoch for one in answers]
        for _ in range(2):
            step("heartbeats")
            beats = (beating(index, epoch) for index, epoch in enumerate(epochs))
            answers = [decode(answer, 1, one[5:]) for one in pipelined(sock, 1, beats)]
            epochs = [one.member_epoch or epoch for one, epoch in zip(answers, epochs, strict=True)]
        step("describe")
        (told,) = pipelined(sock, 1, [describing])
        assert len(decode(description, 1, told[5:]).groups[0].members) > count // 2
        step("silence")
        _until_described(sock, 1, describing, description)


def _until_described(sock: socket.socket, version: int, describing: Message, description: Any) -> None:
    """Until there is no member any more. It asks again and again: that is what a description costs, too."""
    while True:
        (told,) = pipelined(sock, version, [describing])
        (group,) = decode(description, version, told[5:]).groups
        if not group.members:
            return
        selectors.DefaultSelector().select(0.3)


TYPES: Final[dict[str, Callable[[str, int], None]]] = {
    "classic": classic, "consumer": consumer, "share": share, "streams": streams,
}  # fmt: skip


def main(servers: str, kind: str, members: str, session_ms: str) -> None:
    raise_limit()
    TYPES[kind](servers, int(members), int(session_ms))
    step("over")


if __name__ == "__main__":
    main(*sys.argv[1:])
