"""How long a large group of the classic protocol takes from its first JoinGroup until every member has its assignment.

Each member has a connection of its own, on which it waits for the others. It does as clients do: it joins, syncs, and
heartbeats to learn that it has to join again; but for the pauses between heartbeats, which it does not make.
"""

from __future__ import annotations

import contextlib
import selectors
import time
from contextlib import ExitStack
from typing import Any

from bench.cases import HEARTBEAT, JOIN, SESSION_MS, SYNC
from bench.contestants import Contestant
from bench.frames import BadAnswer, Client, frame, read_answer
from kafkawire.codec import encode
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from kafkawire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kafkawire.schema import Message

KIND = "classic"
_SPARE_DESCRIPTORS = 200
_VERSIONS = {JoinGroupRequest.API_KEY: JOIN, SyncGroupRequest.API_KEY: SYNC, HeartbeatRequest.API_KEY: HEARTBEAT}
_AGAIN = (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.MEMBER_ID_REQUIRED)


class _Group:
    """What its leader needs, and how far it is."""

    def __init__(self, group_id: str, members: int, partitions: int) -> None:
        self.group_id = group_id
        self.size = members
        self.partitions = partitions
        self.requests = 0
        self.stable: dict[str, int] = {}
        """Members that have their assignment, and of which generation."""

    @property
    def is_complete(self) -> bool:
        return len(self.stable) == self.size and len({*self.stable.values()}) == 1

    def assignments(self, members: list[str]) -> list[SyncGroupRequestAssignment]:
        """The partitions in turns; named after the group is its topic."""
        found = []
        for number, member in enumerate(members):
            mine = list(range(number, self.partitions, len(members)))
            assignment = ConsumerProtocolAssignment([TopicPartition(self.group_id, mine)], None)
            found.append(SyncGroupRequestAssignment(member, b"\0\0" + encode(assignment, 0)))
        return found


class _Member:
    """One member on its connection."""

    def __init__(self, client: Client, group: _Group) -> None:
        self.client = client
        self.group = group
        subscription = b"\0\0" + encode(ConsumerProtocolSubscription(topics=[group.group_id], user_data=b""), 0)
        self.join = JoinGroupRequest(
            group_id=group.group_id,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription)],
        )
        self.generation = -1
        self.asked: Message = self.join

    def ask(self, request: Message) -> None:
        """Send what is answered in its own time."""
        self.asked = request
        self.group.requests += 1
        self.client.socket.sendall(frame(request, _VERSIONS[request.API_KEY]))

    def go_on(self) -> None:
        """The answer has come: ask the next."""
        asked, group, key = self.asked, self.group, self.asked.API_KEY
        _, answer = read_answer(key, _VERSIONS[key], self.client.read_frame())
        if answer.error_code and answer.error_code not in _AGAIN:
            raise BadAnswer(f"{type(asked).__name__} was answered {ErrorCode(answer.error_code).name}")
        if answer.error_code:
            group.stable.pop(self.join.member_id, None)
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.join.member_id = answer.member_id
            self.ask(self.join)
        elif isinstance(asked, JoinGroupRequest):
            self._joined(answer)
        else:
            if isinstance(asked, SyncGroupRequest):
                group.stable[self.join.member_id] = self.generation
            self.ask(HeartbeatRequest(group.group_id, self.generation, self.join.member_id))

    def _joined(self, answer: Any) -> None:
        member_id, self.generation = answer.member_id, answer.generation_id
        self.join.member_id = member_id
        members = [one.member_id for one in answer.members] if answer.leader == member_id else []
        request = SyncGroupRequest(self.group.group_id, self.generation, member_id)
        request.assignments = self.group.assignments(members)
        self.ask(request)


def gather(contestant: Contestant, name: str, members: int, partitions: int, most: float) -> tuple[float, int]:
    """How many seconds it took, and how many requests. `name` is the group's and its topic's."""
    _allow(members)
    group = _Group(name, members, partitions)
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        clients = [stack.enter_context(Client(contestant.host, contestant.port)) for _ in range(members)]
        all_of_them = [_Member(client, group) for client in clients]
        for one in all_of_them:
            selector.register(one.client.socket, selectors.EVENT_READ, one)
        start = time.perf_counter()
        for one in all_of_them:
            one.ask(one.join)
        while not group.is_complete:
            for key, _ in selector.select(1.0):
                key.data.go_on()
            if time.perf_counter() - start > most:
                raise BadAnswer(f"{len(group.stable)} of {members} members are settled after {most:g} s")
        return time.perf_counter() - start, group.requests


def _allow(connections: int) -> None:
    """So many descriptors at once, where the system lets us."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = connections + _SPARE_DESCRIPTORS
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
