"""How much there is in front of a cluster and behind it, its nodes, what is held, whether all is well."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from kafkastub.client import Client, topics
from kafkastub.client import groups as of_groups
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.in_front.guarding import Guarding
from kafkastub.control.in_front.hosted import HostedProxy
from kafkastub.control.in_front.refusing import sentences
from kafkastub.control.metrics import CONTENT_TYPE, exposition_of_seen
from kafkastub.control.problems import Problem
from kafkastub.control.routes.health import Health, HealthQuery
from kafkastub.control.routes.holds import HeldByFault, HoldList
from kafkastub.control.routes.nodes import Leaderless, NodeInfo, NodeList
from kafkastub.version import __version__
from kafkawire.messages.metadata_request import MetadataRequest


class Summary(BaseModel):
    """Counts of everything."""

    version: str
    profile: str
    bootstrap_servers: str
    cluster: str = Field(description="the cluster's own bootstrap servers")
    topics: int | None
    internal_topics: int | None
    partitions: int | None
    leaderless: int | None
    records: int | None
    size_bytes: int | None
    groups: int | None
    group_states: list[dict[str, Any]]
    offsets: int | None
    transactions: int | None
    open_transactions: int | None
    nodes: int
    nodes_running: int
    connections: int
    faults: int
    faults_spent: int
    held: int
    snapshots: int
    chaos: bool
    requests: int | None
    journal_entries: int | None
    now_ms: int
    frozen: bool
    refused: dict[str, str] = Field(description="what only a stub can do, by subject, with the reason in one sentence")


def of_v1(hosted: HostedProxy, guarding: Guarding) -> Endpoints:
    """Those below /v1."""
    router = Endpoints()

    @router.get("/summary", tags=["health"], summary="Count topics, groups, records, requests and more")
    async def summary(request: Request) -> Summary:
        try:
            guarding.cluster(request)
            asked = await hosted.ask(_counts)
        except Problem:
            asked = dict.fromkeys(("topics", "internal_topics", "partitions", "leaderless", "groups"))
            asked["group_states"] = []
        proxy, ring, faults = hosted.proxy, hosted.proxy.observer.ring, list(hosted.faults)
        return Summary(
            version=__version__,
            profile="proxy",
            bootstrap_servers=proxy.bootstrap_servers,
            cluster=",".join(place.address for place in proxy.places),
            **asked,
            records=None,
            size_bytes=None,
            offsets=None,
            transactions=None,
            open_transactions=None,
            nodes=len(proxy.places),
            nodes_running=sum(place.is_open for place in proxy.places),
            connections=proxy.connections[0],
            faults=len(faults),
            faults_spent=sum(fault.hits >= (fault.rule.times or fault.hits + 1) for fault in faults),
            held=sum(len(fault.held) for fault in faults),
            snapshots=0,
            chaos=hosted.chaos.running,
            requests=None if ring is None else ring.total,
            journal_entries=None if ring is None else len(ring),
            now_ms=proxy.clock.broker_ms(),
            frozen=False,
            refused=sentences(),
        )

    @router.get(
        "/nodes", tags=["nodes"], summary="List the nodes of the cluster, with the addresses that clients receive"
    )
    async def nodes(request: Request) -> NodeList:
        guarding.cluster(request)
        answer = await hosted.ask(
            lambda client: client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False))
        )
        racks = {one.node_id: one.rack for one in answer.brokers}
        leaders = [(topic.name, one) for topic in answer.topics for one in topic.partitions]
        listed = [
            NodeInfo(
                node=place.node_id,
                running=place.is_open,
                rack=racks.get(place.node_id),
                advertised={place.listener: f"{place.advertised[0]}:{place.advertised[1]}"},
                leads=sum(one.leader_id == place.node_id for _, one in leaders),
            )
            for place in hosted.proxy.places
        ]
        without = [
            Leaderless(topic=name, partition=one.partition_index, nodes=list(one.replica_nodes))
            for name, one in leaders
            if one.leader_id < 0
        ]
        return NodeList(nodes=listed, leaderless=without[:100])

    @router.get("/holds", tags=["faults"], summary="List all requests that are held")
    async def holds() -> HoldList:
        held = [HeldByFault(fault=fault.id, **one._asdict()) for fault in hosted.faults for one in fault.held]
        return HoldList(requests=held[:1000], markers=[], acknowledgements=[], revocations=[])

    return router


def of_health(hosted: HostedProxy, guarding: Guarding) -> Endpoints:
    """/health and /metrics."""
    router = Endpoints(tags=["health"])

    @router.get("/health", summary="Report 200 when the port and the cluster behind it answer", response_model=Health)
    async def health(query: Annotated[HealthQuery, Query()], request: Request) -> JSONResponse:
        if query.topic:
            guarding.cluster(request)
        missing = [] if hosted.proxy.is_open else ["the proxy is not up yet"]
        if not missing and hosted.proxy.cluster.may_ask:
            try:
                there = await hosted.ask(topics.names if query.topic else _nothing)
                missing = [f"topic {name!r} does not exist" for name in query.topic if name not in there]
            except Problem as problem:
                missing.append(problem.sentence)
        told = Health(
            status="unhealthy" if missing else "healthy",
            missing=missing,
            bootstrap_servers=hosted.proxy.bootstrap_servers,
            version=__version__,
        )
        return JSONResponse(told.model_dump(), 503 if missing else 200)

    @router.get("/metrics", summary="Return the metrics in Prometheus' text format", response_class=Response)
    async def metrics() -> Response:
        return Response(exposition_of_seen(hosted.proxy), media_type=CONTENT_TYPE)

    return router


def _nothing(client: Client) -> dict[str, str]:
    """It answers."""
    client.connection().negotiate()
    return {}


def _counts(client: Client) -> dict[str, Any]:
    found = client.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False)).topics
    partitions = [one for topic in found for one in topic.partitions]
    internal = sum(topic.is_internal for topic in found)
    groups = of_groups.list_groups(client)
    states: dict[tuple[str, str], int] = {}
    for one in groups:
        key = one.type.lower(), one.state
        states[key] = states.get(key, 0) + 1
    return {
        "topics": len(found) - internal,
        "internal_topics": internal,
        "partitions": len(partitions),
        "leaderless": sum(one.leader_id < 0 for one in partitions),
        "groups": len(groups),
        "group_states": [
            {"type": kind, "state": state, "count": count} for (kind, state), count in sorted(states.items())
        ],
    }
