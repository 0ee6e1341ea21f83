"""/v1/summary: how much there is of everything, in one answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.shapes import example
from kafkastub.control.routes.topics import extents
from kafkastub.control.walks import Walks
from kafkastub.version import __version__

if TYPE_CHECKING:
    from kafkastub.metadata import Topic
    from kafkastub.state.broker_state import BrokerState


class GroupCount(BaseModel):
    """Groups of one type in one state."""

    type: str = Field(description="classic, consumer, share or streams")
    state: str
    count: int


class Summary(BaseModel):
    """Counts of everything."""

    model_config = example(
        version="1.0.0", profile="kips", bootstrap_servers="127.0.0.1:9092", topics=3, internal_topics=1, partitions=9,
        leaderless=0, records=1200, size_bytes=96000, groups=1,
        group_states=[{"type": "classic", "state": "Stable", "count": 1}], offsets=3, transactions=0,
        open_transactions=0, nodes=1, nodes_running=1, connections=4, faults=0, faults_spent=0, held=0,
        snapshots=0, chaos=False, requests=5120, journal_entries=5120, now_ms=1772366400000, frozen=True,
    )  # fmt: skip

    version: str
    profile: str
    bootstrap_servers: str
    topics: int = Field(description="topics that are not internal")
    internal_topics: int
    partitions: int = Field(description="partitions of all topics")
    leaderless: int = Field(description="partitions without a leader")
    records: int = Field(description="offsets from the start to the end of all partitions that are not internal")
    size_bytes: int = Field(description="bytes of their batches as stored")
    groups: int
    group_states: list[GroupCount]
    offsets: int = Field(description="committed offsets")
    transactions: int = Field(description="transactional ids")
    open_transactions: int
    nodes: int
    nodes_running: int
    connections: int
    faults: int
    faults_spent: int = Field(description="rules that have fired as often as they may")
    held: int = Field(description="requests that fault rules hold")
    snapshots: int
    chaos: bool
    requests: int | None = Field(description="requests ever received; null without a journal")
    journal_entries: int | None = Field(description="entries that are kept")
    now_ms: int
    frozen: bool


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(tags=["health"])
    walks = Walks()

    @router.get("/summary", summary="Count topics, groups, records, requests and more")
    async def summary() -> Summary:
        counts = await _of_topics(hosted, walks) | await _of_groups(hosted, walks)
        counts |= await _of_transactions(hosted, walks)
        broker = hosted.running()
        state, ring = broker.state, broker.observer.ring
        nodes = state.cluster.nodes.values()
        faults = list(hosted.faults)
        return Summary(
            version=__version__,
            profile=state.profile.name,
            bootstrap_servers=broker.bootstrap_servers,
            **counts,
            nodes=len(nodes),
            nodes_running=sum(node.alive for node in nodes),
            connections=broker.connections[0],
            faults=len(faults),
            faults_spent=sum(fault.hits >= (fault.rule.times or fault.hits + 1) for fault in faults),
            held=sum(len(fault.held) for fault in faults),
            snapshots=len(hosted.snapshots),
            chaos=hosted.chaos.running,
            requests=None if ring is None else ring.total,
            journal_entries=None if ring is None else len(ring),
            now_ms=broker.clock.broker_ms(),
            frozen=broker.clock.frozen,
        )

    return router


async def _of_topics(hosted: Hosted, walks: Walks) -> dict[str, Any]:
    state = hosted.running().state
    topics = list(state.cluster.topics.values())
    found = Counter(partitions=0, leaderless=0, records=0, size_bytes=0)
    async for one in walks.through(_figures(state, topics)):
        found.update(one)
    internal = sum(topic.internal for topic in topics)
    return {"topics": len(topics) - internal, "internal_topics": internal, **found}


def _figures(state: BrokerState, topics: list[Topic]) -> Iterator[dict[str, int] | None]:
    for topic in topics:
        leaderless = sum(each.leader < 0 for each in topic.partitions)
        yield {"partitions": len(topic.partitions), "leaderless": leaderless}
    for one in extents(state, (topic for topic in topics if not topic.internal)):
        yield None if one is None else one[1]


async def _of_groups(hosted: Hosted, walks: Walks) -> dict[str, Any]:
    coordinator = hosted.running().state.coordinator
    counts = await walks.counted(coordinator.groups.values(), lambda group: (group.group_type, group.state_name))
    listed = [GroupCount(type=kind, state=state, count=count) for (kind, state), count in sorted(counts.items())]
    return {"groups": counts.total(), "group_states": listed, "offsets": coordinator.offsets.count}


async def _of_transactions(hosted: Hosted, walks: Walks) -> dict[str, Any]:
    state = hosted.running().state
    there = state.transactions.coordinator.transactions.values() if state.has_transactions else ()
    counts = await walks.counted(there, lambda one: one.metadata.state.camel)
    going_on = ("Ongoing", "PrepareCommit", "PrepareAbort")
    return {"transactions": counts.total(), "open_transactions": sum(counts[state] for state in going_on)}
