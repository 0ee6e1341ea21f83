"""What requests may meet that every correct client survives: what each API may be told, and what becomes of a request.

Errors that Kafka gives when its leaders and coordinators move, and that its clients retry; answers that are late, or
lost with their connection.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kafkastub.faults.plan import Action
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode

FAULT: Final = "chaos"
"""What journal and metrics call it."""
_ALL: Final = 1 << 30
"""More bytes than such an answer has."""
LATE, LOST_BEFORE, LOST_BEHIND = "late", "lost before", "lost behind"
Kind = str | ErrorCode


class Trouble(NamedTuple):
    """What requests of an API may meet: errors, and what losing a connection may do."""

    errors: tuple[ErrorCode, ...] = ()
    lost: bool = True
    """Whether its connection may end: not where a client knows one address and gives up."""
    behind: bool = True
    """Whether it does no harm that the work is done and the client is not told."""
    part: float = 1.0
    """Of the level's share: what clients ask only to find somebody is spared mostly, or they would do nothing else."""
    hangs_up: bool = False
    """Whether the connection ends with an error: what a client has sent behind it would be answered as if nothing
    had been, and from a leader that has moved nothing is."""


_LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
_COORDINATOR = (ErrorCode.NOT_COORDINATOR, _LOADING, _LOADING)  # the first costs some clients half a second
_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER,)

TROUBLE: Final[Mapping[ApiKey, Trouble]] = {
    ApiKey.PRODUCE: Trouble(_LEADER, hangs_up=True),
    ApiKey.FETCH: Trouble((ErrorCode.FETCH_SESSION_ID_NOT_FOUND,)),
    ApiKey.LIST_OFFSETS: Trouble(_LEADER),
    ApiKey.METADATA: Trouble((ErrorCode.LEADER_NOT_AVAILABLE,), lost=False, part=0.3),
    ApiKey.OFFSET_COMMIT: Trouble(_COORDINATOR),
    ApiKey.OFFSET_FETCH: Trouble(_COORDINATOR),
    ApiKey.FIND_COORDINATOR: Trouble((ErrorCode.COORDINATOR_NOT_AVAILABLE,), lost=False, part=0.3),
    ApiKey.JOIN_GROUP: Trouble(_COORDINATOR, behind=False),  # a member that nobody is would hold the group up
    ApiKey.SYNC_GROUP: Trouble((ErrorCode.NOT_COORDINATOR, ErrorCode.REBALANCE_IN_PROGRESS)),  # so while it loads
    ApiKey.HEARTBEAT: Trouble((ErrorCode.NOT_COORDINATOR,)),  # all is well, while it loads
    ApiKey.INIT_PRODUCER_ID: Trouble(_COORDINATOR),
    ApiKey.ADD_PARTITIONS_TO_TXN: Trouble((*_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS)),
    ApiKey.ADD_OFFSETS_TO_TXN: Trouble((*_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS)),
    ApiKey.END_TXN: Trouble(_COORDINATOR),
    ApiKey.TXN_OFFSET_COMMIT: Trouble(_COORDINATOR),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Trouble(_LEADER),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: Trouble(_COORDINATOR),
    ApiKey.SHARE_GROUP_HEARTBEAT: Trouble(_COORDINATOR),
    ApiKey.STREAMS_GROUP_HEARTBEAT: Trouble(_COORDINATOR, behind=False),  # tasks are told once, and not again
}
"""Who is not here is left alone: what clients give up at once (ApiVersions, SASL, administration), or never repeat
(LeaveGroup; heartbeats with which a member leaves are, too)."""


def describe(kind: Kind, late_ms: int) -> str:
    """In words."""
    if isinstance(kind, ErrorCode):
        return kind.name
    return f"late {late_ms} ms" if kind == LATE else _IN_WORDS[kind]


_IN_WORDS: Final[Mapping[Kind, str]] = {
    LOST_BEFORE: "the connection ends, and nothing is done",
    LOST_BEHIND: "it is done, and the connection ends without the answer",
}


def action(key: ApiKey, kind: Kind, late_ms: int) -> Action:
    """What becomes of such a request."""
    if kind is ErrorCode.LEADER_NOT_AVAILABLE:
        return Action(fault=FAULT, rewrite=_without_leaders)
    if isinstance(kind, ErrorCode):
        ends = TROUBLE[key].hangs_up
        return Action(fault=FAULT, work=False, error=kind, ending="cut" if ends else "answer", cut_at=_ALL)
    if kind == LATE:
        return Action(fault=FAULT, before_ms=late_ms)
    return Action(fault=FAULT, work=kind == LOST_BEHIND, ending="close")


_SESSIONS_FROM: Final = 7
"""The version of Fetch that has sessions."""


def leaves(request: Any) -> bool:
    """Whether it is the last heartbeat of a member: a member that nobody is would keep its partitions for long."""
    return bool(getattr(request, "member_epoch", 0) < 0)


def may_be_told(code: ErrorCode, version: int, request: Any) -> bool:
    """Whether Kafka would give such an error for this very request."""
    if code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
        return version >= _SESSIONS_FROM and bool(request.session_id > 0)
    if code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
        return getattr(request, "acks", -1) != 0
    if code is ErrorCode.LEADER_NOT_AVAILABLE:
        return bool(request.topics)
    if code is ErrorCode.CONCURRENT_TRANSACTIONS or code in _COORDINATOR:
        return getattr(request, "transactional_id", "") is not None  # InitProducerId of a producer without one
    return True


def _without_leaders(answer: Any) -> Any:
    """The answer to Metadata in which the partitions that a client asked for are about to get their leaders."""
    told = copy.copy(answer)
    told.topics = [copy.copy(topic) for topic in answer.topics]
    for topic in told.topics:
        topic.partitions = [copy.copy(partition) for partition in topic.partitions]
        for partition in topic.partitions:
            partition.error_code, partition.leader_id = int(ErrorCode.LEADER_NOT_AVAILABLE), -1
    return told


def joins(request: Any) -> bool:
    """Whether it is the first heartbeat of a member. As with JoinGroup, its answer is not lost behind the work: a
    client that gives up then would leave a member that nobody is."""
    return bool(getattr(request, "member_epoch", -1) == 0)
