"""ElectLeaders (key 43), versions 0-2.

EL-1  A partition whose leader is its first replica needs no preferred election, one that has any leader no unclean
      one: ELECTION_NOT_NEEDED.    KIP-183, KIP-460; Kafka: ReplicationControlManager.electLeader
EL-2  Unknown topic or partition: UNKNOWN_TOPIC_OR_PARTITION, with a text that names it. Topics and partitions are
      answered as often as they are named, in their order.
EL-3  Null partitions: every topic is answered, without the partitions that need no election. No topics: nothing is
      answered, and no error whatever else is asked.                           Kafka: QuorumController.electLeaders
EL-4  Versions 1+: an election type that does not exist answers INVALID_REQUEST, at the top and for each partition.
EL-5  No time to do it in (timeout_ms of 0 and less): REQUEST_TIMED_OUT, likewise.    Kafka: ControllerApis
EL-6  A preferred leader other than the present one takes over, with the next leader epoch, if it is in sync;
      PREFERRED_LEADER_NOT_AVAILABLE if not.
EL-7  A partition without leader is led by any living replica after an unclean election, which is its ISR then;
      ELIGIBLE_LEADERS_NOT_AVAILABLE where none lives.
EL-8  Where a topic has unclean.leader.election.enable, no election has to be asked for: a node that stops or starts
      brings one. Here a configuration changed later counts from the next stop or start on.
Not done: -
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata import PartitionState, leaders
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.leadership import elect
from kafkastub.state.pace import Pace, no_pause, paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.elect_leaders_request import ElectLeadersRequest
from kafkawire.messages.elect_leaders_response import ElectLeadersResponse, PartitionResult, ReplicaElectionResult

PREFERRED: Final = 0
UNCLEAN: Final = 1
_NOT_NEEDED: Final = "Leader election not needed for topic partition."
_NOBODY_LIVES: Final = "Eligible topic partition leaders are not available."
_NOT_AVAILABLE: Final = "The preferred leader was not available."


def error_response(
    request: ElectLeadersRequest, code: ErrorCode, version: int, message: str | None = None, pace: Pace = no_pause
) -> ElectLeadersResponse:
    """The code at the top (versions 1+), and at every partition that was named."""
    return ElectLeadersResponse(
        error_code=code,
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[PartitionResult(index, code, message) for index in paced(topic.partitions, pace)],
            )
            for topic in paced(request.topic_partitions or (), pace)
        ],
    )


@handles(ApiKey.ELECT_LEADERS, 0, 2, error_response=error_response)
def elect_leaders(ctx: RequestContext, request: ElectLeadersRequest) -> Outcome:
    if request.topic_partitions is not None and not request.topic_partitions:
        return ElectLeadersResponse()
    if request.timeout_ms <= 0:
        return error_response(request, ErrorCode.REQUEST_TIMED_OUT, ctx.api_version, pace=ctx.pace)
    kind = request.election_type
    if kind not in (PREFERRED, UNCLEAN):
        return error_response(
            request, ErrorCode.INVALID_REQUEST, ctx.api_version, f"Unknown election type {kind}", ctx.pace
        )
    results, now = [], (ctx.broker_ms, ctx.timer_ms)
    if request.topic_partitions is None:
        for topic in paced(list(ctx.state.cluster.topics.values()), ctx.pace):
            needed = [one.index for one in topic.partitions if not _is_needless(one, kind)]
            told = [_elect(ctx.state, topic.name, index, kind, now) for index in needed]
            results.append(ReplicaElectionResult(topic=topic.name, partition_result=told))
    else:
        for named in paced(request.topic_partitions, ctx.pace):
            elected = [_elect(ctx.state, named.topic, index, kind, now) for index in paced(named.partitions, ctx.pace)]
            results.append(ReplicaElectionResult(topic=named.topic, partition_result=elected))
    return ElectLeadersResponse(replica_election_results=results)


def elect_all(state: BrokerState, names: Iterable[str] | None, now: tuple[int, int], *, unclean: bool = False) -> None:
    """An election for every partition of these topics, or of all; what needs none stays as it is."""
    for name in list(state.cluster.topics) if names is None else names:
        topic, kind = state.cluster.topic(name), UNCLEAN if unclean else PREFERRED
        for partition in topic.partitions if topic is not None else ():
            if not _is_needless(partition, kind):
                _elect(state, name, partition.index, kind, now)


def _is_needless(partition: PartitionState, kind: int) -> bool:
    """Whether an election would change nothing."""
    leader = partition.leader
    return leader == partition.replicas[0] or (kind == UNCLEAN and leader != leaders.NO_LEADER)


def _elect(state: BrokerState, name: str, index: int, kind: int, now: tuple[int, int]) -> PartitionResult:
    topic = state.cluster.topic(name)
    if topic is None:
        return PartitionResult(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    if not 0 <= index < len(topic.partitions):
        return PartitionResult(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    partition = topic.partitions[index]
    unclean = kind == UNCLEAN
    if _is_needless(partition, kind):
        return PartitionResult(index, ErrorCode.ELECTION_NOT_NEEDED, _NOT_NEEDED)
    if elect(state, topic, partition, now, preferred=not unclean, unclean=unclean):
        return PartitionResult(index, ErrorCode.NONE, None)
    if unclean:
        return PartitionResult(index, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, _NOBODY_LIVES)
    return PartitionResult(index, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, _NOT_AVAILABLE)
