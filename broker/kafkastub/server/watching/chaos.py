"""What chaos has to offer, and what moves because of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from kafkastub.server.routes import Route
from kafkastub.server.watching.faults import Action
from kafkastub.state.leadership import move_leader
from kafkastub.views.groups import end_session
from kafkawire.api import ApiKey
from kafkawire.errors import KafkaError
from kafkawire.schema import Message

if TYPE_CHECKING:
    from kafkastub.metadata import Node, Topic
    from kafkastub.server.clock import Clock
    from kafkastub.state.broker_state import BrokerState


class Chaos(Protocol):
    """What decides (`kafkastub.faults.Chaos`)."""

    def concerns(self, key: ApiKey) -> bool: ...
    def match(self, route: Route, request: Message) -> Action | None: ...
    def done(self, what: str) -> None: ...
    def moves_by(self, move: Callable[[Move], None]) -> None: ...


class Move(Protocol):
    """What is to move."""

    @property
    def kind(self) -> str: ...
    @property
    def draw(self) -> float: ...
    @property
    def second_draw(self) -> float: ...


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


class Mover:
    """Moves leaders and coordinators of one broker, and stops nodes: behind the request that made it necessary."""

    def __init__(self, broker: Moving, loop: asyncio.AbstractEventLoop, done: Callable[[str], None]) -> None:
        """`done` is told what has moved."""
        self._broker = broker
        self._loop = loop
        self._done = done
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
        if self._stopped:
            self._loop.create_task(self._all_back())

    async def _all_back(self) -> None:
        if self._task is not None:
            await asyncio.wait([self._task])
        while self._stopped:
            await self._broker.start_node(self._stopped.pop())

    def _move(self, move: Move) -> None:
        if self._over or not self._broker.state.is_writable:
            return
        nodes = list(self._broker.state.cluster.nodes.values())
        if move.kind == "session":
            self._end_session(move)
        elif move.kind == "node" and len(nodes) > 1:
            if self._task is None or self._task.done():
                self._task = self._loop.create_task(self._stop_or_start(move, nodes))
        elif len(nodes) > 1 and move.draw < 0.75:
            self._lead(move, [node for node in nodes if node.alive])
        else:
            self._broker.hold_loading()
            self._broker.finish_loading()
            self._done("the coordinators are loaded anew")
        self._broker.rearm()

    def _end_session(self, move: Move) -> None:
        """A member is thrown out, as one is that was silent for too long.

        None of a streams group: Kafka Streams may ask for its offsets before it hears of that, and an instance that is
        refused there with UNKNOWN_MEMBER_ID ends for good.
        """
        state = self._broker.state
        if state.groups.loading is not None:
            return
        groups = [one for one in state.coordinator.groups.values() if one.size and one.group_type != "streams"]
        if not groups:
            return
        group = groups[int(move.draw * len(groups))]
        members = group.described().members
        member = members[int(move.second_draw * len(members))]
        try:
            end_session(state, group.group_id, member.member_id, *self._broker.clock.both())
        except KafkaError:  # it waits for a rebalance: its session has not begun
            return
        self._done(f"the session of {member.member_id} in group {group.group_id} ends")

    def _lead(self, move: Move, living: list[Node]) -> None:
        """Another node leads a partition, of an internal topic too: then it is a coordinator that moves."""
        topics = list(self._broker.state.cluster.topics.values())
        if not topics or not living:
            return
        topic: Topic = topics[int(move.draw / 0.75 * len(topics))]
        index = int(move.second_draw * len(topic.partitions))
        others = [node.node_id for node in living if node.node_id != topic.partitions[index].leader]
        if others:
            node_id = others[int(move.second_draw * 997) % len(others)]
            move_leader(self._broker.state, topic, index, node_id, self._broker.clock.both())
            self._done(f"node {node_id} leads {topic.name}-{index}")

    async def _stop_or_start(self, move: Move, nodes: list[Node]) -> None:
        living = [node.node_id for node in nodes if node.alive]
        if self._stopped:
            node_id = self._stopped.pop(0)
            await self._broker.start_node(node_id)
            self._done(f"node {node_id} is back")
        elif len(living) > 1:
            node_id = living[int(move.draw * len(living))]
            self._stopped.append(node_id)
            await self._broker.stop_node(node_id)
            self._done(f"node {node_id} stops")
