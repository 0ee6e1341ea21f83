"""What chaos has to offer, and what moves because of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kafkastub.server.routes import Route
from kafkastub.server.watching.faults import Action
from kafkastub.state.leadership import move_leader
from kafkastub.views.groups import end_session
from kafkawire.api import ApiKey
from kafkawire.errors import KafkaError
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.handlers.context import RequestContext
    from kafkastub.metadata import Topic
    from kafkastub.server.clock import Clock
    from kafkastub.state.broker_state import BrokerState


class Chaos(Protocol):
    """What decides (`kafkastub.faults.Chaos`, `PlayedChaos`)."""

    def concerns(self, key: ApiKey) -> bool: ...
    def match(self, route: Route, request: Message, context: RequestContext) -> Action | None: ...
    def moves_by(self, move: Callable[[Move], None] | None) -> None: ...
    def moved(self, move: Any, what: str, kind: str, target: Mapping[str, Any]) -> None: ...
    def missed(self, move: Any) -> None: ...


class Move(Protocol):
    """What is to move."""

    @property
    def kind(self) -> str: ...
    @property
    def draw(self) -> float: ...
    @property
    def second_draw(self) -> float: ...
    @property
    def target(self) -> Mapping[str, Any] | None:
        """Where, as far as it is said; None where the draws decide."""


class Moving(Protocol):
    """A broker, as far as something of it moves."""

    clock: Clock

    @property
    def state(self) -> BrokerState: ...
    async def stop_node(self, node_id: int) -> None: ...
    async def start_node(self, node_id: int) -> None: ...
    def hold_loading(self) -> None: ...
    def finish_loading(self) -> None: ...
    def rearm(self) -> None: ...


_Found = tuple[str, dict[str, Any]]
"""What moves, and where."""


class Mover:
    """Moves leaders and coordinators of one broker, and stops nodes: behind the request that made it necessary."""

    def __init__(self, broker: Moving, loop: asyncio.AbstractEventLoop, chaos: Chaos) -> None:
        """`chaos` is told what has moved."""
        self._broker = broker
        self._loop = loop
        self._chaos = chaos
        self._stopped: list[int] = []
        """Nodes that it has stopped, oldest first."""
        self._task: asyncio.Task[None] | None = None
        self._over = False

    def move(self, move: Move) -> None:
        """Soon."""
        self._loop.call_soon(self._move, move)

    def end(self) -> None:
        """Nothing moves any more; nodes that are stopped come back."""
        self._over = True
        self._chaos.moves_by(None)  # it refers to this, and this to it
        if self._stopped:
            self._loop.create_task(self._all_back())

    async def _all_back(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])
        while self._stopped:
            await self._broker.start_node(self._stopped.pop())

    def _move(self, move: Move) -> None:
        if self._over:
            return
        if not self._broker.state.is_writable:
            self._chaos.missed(move)
            return
        found = self._drawn(move) if move.target is None else (move.kind, dict(move.target))
        if found is None:
            return
        kind, target = found
        steps: dict[str, Callable[..., _Found | None]] = {
            "session": self._end_session,
            "leader": self._lead,
            "coordinators": self._load_anew,
        }
        if kind in steps:
            done = steps[kind](**target)
            if done is None:
                self._chaos.missed(move)
            else:
                what, where = done
                self._chaos.moved(move, what, kind, where)
            self._broker.rearm()
        elif kind not in ("stop", "start") or (self._task is not None and not self._task.done()):
            self._chaos.missed(move)
        else:
            self._task = self._loop.create_task(self._stop_or_start(move, kind, target.get("node")))

    def _drawn(self, move: Move) -> _Found | None:
        """What the draws mean here."""
        nodes = list(self._broker.state.cluster.nodes.values())
        living = [node.node_id for node in nodes if node.alive]
        if move.kind == "session":
            groups = self._groups()
            if not groups:
                return None
            group = groups[int(move.draw * len(groups))]
            count = len(group.described().members)
            return "session", {"group": group.group_id, "member": int(move.second_draw * count)}
        if move.kind == "node" and len(nodes) > 1:
            if self._stopped:
                return "start", {"node": self._stopped[0]}
            return ("stop", {"node": living[int(move.draw * len(living))]}) if len(living) > 1 else None
        if len(nodes) > 1 and move.draw < 0.75:
            return self._drawn_leader(move, living)
        return "coordinators", {}

    def _drawn_leader(self, move: Move, living: list[int]) -> _Found | None:
        """A partition of an internal topic, too: then it is a coordinator that moves."""
        topics = list(self._broker.state.cluster.topics.values())
        if not topics or not living:
            return None
        topic: Topic = topics[int(move.draw / 0.75 * len(topics))]
        index = int(move.second_draw * len(topic.partitions))
        others = [node for node in living if node != topic.partitions[index].leader]
        if not others:
            return None
        node_id = others[int(move.second_draw * 997) % len(others)]
        return "leader", {"topic": topic.name, "partition": index, "node": node_id}

    def _groups(self) -> list[Any]:
        """Those that have members.

        None of a streams group: Kafka Streams may ask for its offsets before it hears of that, and an instance that is
        refused there with UNKNOWN_MEMBER_ID ends for good.
        """
        state = self._broker.state
        if state.groups.loading is not None:
            return []
        return [one for one in state.coordinator.groups.values() if one.size and one.group_type != "streams"]

    def _end_session(self, group: str | None = None, member: int = 0) -> _Found | None:
        """A member is thrown out, as one is that was silent for too long."""
        groups = self._groups()
        if not groups:
            return None
        found = next((one for one in groups if one.group_id == group), groups[0])
        members = found.described().members
        index = member % len(members)
        thrown = members[index].member_id
        try:
            end_session(self._broker.state, found.group_id, thrown, *self._broker.clock.both())
        except KafkaError:  # it waits for a rebalance: its session has not begun
            return None
        return f"the session of {thrown} in group {found.group_id} ends", {"group": found.group_id, "member": index}

    def _load_anew(self) -> _Found:
        self._broker.hold_loading()
        self._broker.finish_loading()
        return "the coordinators are loaded anew", {}

    def _lead(self, topic: str | None = None, partition: int = 0, node: int | None = None) -> _Found | None:
        """Another node leads a partition."""
        cluster = self._broker.state.cluster
        found = cluster.topics.get(topic or "") or next(iter(cluster.topics.values()), None)
        if found is None:
            return None
        index = partition % len(found.partitions)
        leader = found.partitions[index].leader
        others = [one.node_id for one in cluster.nodes.values() if one.alive and one.node_id != leader]
        if not others:
            return None
        to = node if node in others else others[0]
        move_leader(self._broker.state, found, index, to, self._broker.clock.both())
        return f"node {to} leads {found.name}-{index}", {"topic": found.name, "partition": index, "node": to}

    async def _stop_or_start(self, move: Move, kind: str, node: int | None) -> None:
        living = [one.node_id for one in self._broker.state.cluster.nodes.values() if one.alive]
        if kind == "start" and self._stopped:
            node_id = node if node in self._stopped else self._stopped[0]
            self._stopped.remove(node_id)
            await self._broker.start_node(node_id)
            self._chaos.moved(move, f"node {node_id} is back", "start", {"node": node_id})
        elif kind == "stop" and len(living) > 1:
            node_id = node if node in living else living[0]
            self._stopped.append(node_id)
            await self._broker.stop_node(node_id)
            self._chaos.moved(move, f"node {node_id} stops", "stop", {"node": node_id})
        else:
            self._chaos.missed(move)
