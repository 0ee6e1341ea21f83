"""/v1/nodes and /v1/advertised: the nodes of the cluster, who leads what, and what clients are told to connect to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import BaseModel, Field, StrictInt

from kafkastub.config import ConfigError
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, Text, body_example, example
from kafkastub.control.walks import Walks
from kafkastub.coordinator import partition_for
from kafkastub.findings.finding import awaited
from kafkastub.server.node_listener import ListenError
from kafkastub.server.nodes import address_text
from kafkastub.state.leadership import move_leader
from kafkastub.state.topics import ensure_offsets_topic
from kafkastub.state.transactional_ids import ensure_transactions_topic

if TYPE_CHECKING:
    from kafkastub.metadata import Node
    from kafkastub.server.broker import Broker

T = TypeVar("T")

MOST_NODES: Final = 100
"""As many as `kafkastub serve --nodes` gives."""
_MOST_LEADERLESS: Final = 100


class NodeInfo(BaseModel):
    """A node."""

    model_config = example(node=1, running=True, rack=None, advertised={"PLAINTEXT": "127.0.0.1:9092"}, leads=3)

    node: int = Field(description="id of the node")
    running: bool
    rack: str | None
    advertised: dict[str, str] = Field(description="HOST:PORT that clients receive, by listener")
    leads: int = Field(description="number of partitions that it leads")


class Leaderless(BaseModel):
    """A partition without a leader."""

    topic: str
    partition: int
    nodes: list[int] = Field(description="nodes of which one must be started")


class NodeList(BaseModel):
    """All nodes."""

    nodes: list[NodeInfo]
    leaderless: list[Leaderless] = Field(description="partitions without a leader, at most 100")


class Advertised(BaseModel):
    """The advertised addresses."""

    model_config = example(
        bootstrap_servers="localhost:32768", nodes={"1": {"HOST": "localhost:32768", "INTERNAL": "kafka:19092"}}
    )

    bootstrap_servers: str
    nodes: dict[str, dict[str, str]] = Field(description="HOST:PORT by node and listener")


class Advertise(Body):
    """A new advertised address."""

    model_config = body_example(address="localhost:32768")

    address: Text = Field(description="HOST:PORT, or NAME://HOST:PORT,… with several listeners")
    node: StrictInt | None = Field(None, description="id of a node, if there are several")


class NewNode(Body):
    """A new node."""

    rack: Text | None = None


class MoveLeader(Body):
    """A partition, and its new leader."""

    model_config = body_example(topic="orders", partition=0, node=2)

    topic: Text
    partition: StrictInt
    node: StrictInt


class MoveCoordinator(Body):
    """A group or transactional id, and its new coordinator."""

    model_config = body_example(group="shipping", node=2)

    group: Text | None = None
    transactional_id: Text | None = None
    node: StrictInt


class Leads(BaseModel):
    """The new leader."""

    node: int


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints()

    def existing(node_id: int) -> int:
        nodes = hosted.running().state.cluster.nodes
        if node_id not in nodes:
            raise Problem(404, f"there is no node {node_id}, only {', '.join(map(str, nodes))}")
        return node_id

    walks = Walks()

    async def infos() -> list[NodeInfo]:
        cluster = hosted.running().state.cluster
        there = [each for topic in cluster.topics.values() for each in topic.partitions]
        led = await walks.counted(there, lambda each: each.leader)
        return [
            NodeInfo(node=node_id, running=node.alive, rack=node.rack, advertised=_told(node), leads=led[node_id])
            for node_id, node in cluster.nodes.items()
        ]

    def leaderless() -> Iterator[Leaderless | None]:
        cluster = hosted.running().state.cluster
        for topic in list(cluster.topics.values()):
            for one in topic.partitions:
                if one.leader < 0:
                    yield Leaderless(topic=topic.name, partition=one.index, nodes=awaited(cluster, one))
            yield None

    async def info(node_id: int) -> NodeInfo:
        existing(node_id)
        return next(each for each in await infos() if each.node == node_id)

    def advertised() -> Advertised:
        broker = hosted.running()
        nodes = {str(node_id): _told(node) for node_id, node in broker.state.cluster.nodes.items()}
        return Advertised(bootstrap_servers=broker.bootstrap_servers, nodes=nodes)

    @router.get("/advertised", tags=["nodes"], summary="Return the advertised addresses")
    async def show_advertised() -> Advertised:
        return advertised()

    @router.put("/advertised", tags=["nodes"], summary="Change the advertised address")
    async def advertise(body: Advertise) -> Advertised:
        if body.node is not None:
            existing(body.node)
        try:
            hosted.running().advertise(body.address, body.node)
        except ConfigError as error:
            raise Problem(400, f"address={body.address!r} is refused: {error}") from None
        return advertised()

    @router.get("/nodes", tags=["nodes"], summary="List the nodes")
    async def list_nodes() -> NodeList:
        found: list[Leaderless] = []
        async for one in walks.through(leaderless()):
            found.append(one)
            if len(found) == _MOST_LEADERLESS:
                break
        return NodeList(nodes=await infos(), leaderless=found)

    @router.post("/nodes", status_code=201, tags=["nodes"], summary="Add a node, without replicas")
    async def add(body: NewNode | None = None) -> NodeInfo:
        rack = None if body is None else body.rack
        there = len(hosted.running().state.cluster.nodes)
        if there >= MOST_NODES:
            raise Problem(409, f"there are {there} nodes already: {MOST_NODES} is the most")
        return await info(await _changed(hosted, lambda broker: broker.add_node(rack)))

    @router.get("/nodes/{node_id}", tags=["nodes"], summary="Return a node")
    async def show(node_id: int) -> NodeInfo:
        return await info(node_id)

    @router.post(
        "/nodes/{node_id}/stop",
        tags=["nodes"],
        summary="Stop a node: its connections end, and other nodes lead its partitions",
    )
    async def stop(node_id: int) -> NodeInfo:
        existing(node_id)
        await _changed(hosted, lambda broker: broker.stop_node(node_id))
        return await info(node_id)

    @router.post("/nodes/{node_id}/start", tags=["nodes"], summary="Start a stopped node on the same ports")
    async def start(node_id: int) -> NodeInfo:
        existing(node_id)
        await _changed(hosted, lambda broker: broker.start_node(node_id))
        return await info(node_id)

    @router.post("/leaders", tags=["nodes"], summary="Move the leader of a partition to a running node")
    async def lead(body: MoveLeader) -> Leads:
        broker = hosted.running()
        topic = broker.state.cluster.topic(body.topic)
        if topic is None or not 0 <= body.partition < len(topic.partitions):
            raise Problem(404, f"there is no partition={body.partition} of a topic={body.topic!r}")
        _moved(hosted, lambda: move_leader(broker.state, topic, body.partition, body.node, broker.clock.both()))
        return Leads(node=topic.partitions[body.partition].leader)

    @router.post(
        "/coordinators", tags=["nodes"], summary="Move the coordinator of a group or transactional id to a running node"
    )
    async def coordinate(body: MoveCoordinator) -> Leads:
        broker = hosted.running()
        if (body.group is None) == (body.transactional_id is None):
            raise Problem(400, "give one of group and transactional_id")
        if not broker.state.cluster.has_living_node:
            raise Problem(409, "no node is running, and so nobody can coordinate anything: start one first")
        if body.group is not None:
            topic, key = ensure_offsets_topic(broker.state), body.group
        else:
            topic, key = ensure_transactions_topic(broker.state), body.transactional_id or ""
        index = partition_for(key, len(topic.partitions))
        _moved(hosted, lambda: move_leader(broker.state, topic, index, body.node, broker.clock.both()))
        return Leads(node=topic.partitions[index].leader)

    return router


def _told(node: Node) -> dict[str, str]:
    """Where clients are told that it listens."""
    return {name: address_text(*address) for name, address in node.endpoints.items()}


async def _changed(hosted: Hosted, work: Callable[[Broker], Awaitable[T]]) -> T:
    """One change of the nodes after the other. Raises Problem."""
    async with hosted.changing:
        try:
            return await work(hosted.running())
        except KeyError as error:  # it has gone meanwhile
            raise Problem(404, f"there is no node {error}") from None
        except (ConfigError, ListenError) as error:
            raise Problem(409, str(error)) from None


def _moved(hosted: Hosted, work: Callable[[], None]) -> None:
    try:
        hosted.call(work)
    except (KeyError, ValueError) as error:
        raise Problem(400, str(error.args[0] if error.args else error)) from None
