"""`stub.nodes`: the nodes of a stub, leaders and coordinators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkastub.metadata import Topic
from kafkastub.server.nodes import address_text
from kafkastub.state.leadership import move_leader
from kafkastub.state.topics import ensure_offsets_topic

if TYPE_CHECKING:
    from kafkastub.metadata import Node
    from kafkastub.stub.runner import AsyncRunner


class StubNode:
    """One node of a stub. A test can stop and start it while clients work."""

    def __init__(self, runner: AsyncRunner, node_id: int) -> None:
        self._runner = runner
        self.id = node_id

    @property
    def running(self) -> bool:
        """Whether the node runs."""
        return self._node.alive

    @property
    def rack(self) -> str | None:
        """The rack of the node."""
        return self._node.rack

    @property
    def bootstrap_servers(self) -> str:
        """The address of this node alone, `HOST:PORT`."""
        return address_text(*next(iter(self._node.endpoints.values())))

    def stop(self) -> None:
        """Stop the node: its connections end, other nodes take over its partitions, and no client can connect until
        `start`.
        """
        self._runner.call_async(lambda broker: broker.stop_node(self.id))

    def start(self) -> None:
        """Start the node on the same port. It has all records that were written while it was stopped.

        At first it leads only the partitions that no other node can lead (`StubNodes.elect_leaders`).
        """
        self._runner.call_async(lambda broker: broker.start_node(self.id))

    @property
    def _node(self) -> Node:
        return self._runner.running().state.cluster.nodes[self.id]

    def __repr__(self) -> str:
        return f"<node {self.id} {self.bootstrap_servers} {'running' if self.running else 'stopped'}>"


class StubNodes(Mapping[int, StubNode]):
    """The nodes by id, in their order: 1, 2, 3 … unless `node.id` is configured."""

    def __init__(self, runner: AsyncRunner) -> None:
        self._runner = runner

    def __getitem__(self, node_id: int) -> StubNode:
        if node_id not in self._runner.running().state.cluster.nodes:
            raise KeyError(f"there is no node {node_id}, only {', '.join(map(str, self)) or 'none'}")
        return StubNode(self._runner, node_id)

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._runner.running().state.cluster.nodes))

    def __len__(self) -> int:
        return len(self._runner.running().state.cluster.nodes)

    def add(self, rack: str | None = None) -> StubNode:
        """Add a node with the next id. It has no replicas until a topic is created or leaders are moved to it.

        Raises TypeError.
        """
        if rack is not None and not isinstance(rack, str):
            raise TypeError(f"rack={rack!r} is refused: expected a name, or None")
        return self[self._runner.call_async(lambda broker: broker.add_node(rack))]

    def remove(self, node: int) -> None:
        """Remove a node from the cluster for good."""
        self[node]
        self._runner.call_async(lambda broker: broker.remove_node(node))

    def leader_of(self, topic: str, partition: int) -> int:
        """Return the id of the node that leads a partition, -1 without one. Raises KeyError."""
        return self._runner.call(lambda: self._partition(topic, partition)[0].partitions[partition].leader)

    def coordinator_of(self, group: str) -> int:
        """Return the id of the node that coordinates a group, -1 without one."""

        def leader() -> int:
            if not self._runner.running().state.cluster.has_living_node:
                return -1  # __consumer_offsets could not be made now
            topic, index = self._coordinated(group)
            return topic.partitions[index].leader

        return self._runner.call(leader)

    def move_leader(self, topic: str, partition: int, node: int) -> None:
        """Make a running node the leader of a partition.

        A node without a replica gets one. Raises KeyError, ValueError.
        """
        broker = self._runner.running()
        self._runner.call(
            lambda: move_leader(broker.state, *self._partition(topic, partition), node, broker.clock.both())
        )

    def move_coordinator(self, group: str, node: int) -> None:
        """Make a running node the coordinator of a group, and of all groups of the same offsets partition.

        Raises ValueError.
        """
        broker = self._runner.running()
        self._runner.call(lambda: move_leader(broker.state, *self._coordinated(group), node, broker.clock.both()))

    def elect_leaders(self, topics: Sequence[str] | None = None, *, unclean: bool = False) -> None:
        """Elect the preferred leaders where they run.

        With `unclean`, a partition without a leader gets any replica that runs. Raises TypeError, KeyError for a topic
        that does not exist; then nothing has changed.
        """
        if isinstance(topics, str):
            raise TypeError(f"topics={topics!r} is refused: expected a list of names, or None for all topics")
        from kafkastub.handlers.k43_elect_leaders import elect_all

        broker, names = self._runner.running(), None if topics is None else list(topics)

        def elect() -> None:
            for name in names or ():
                if broker.state.cluster.topic(name) is None:
                    raise KeyError(f"there is no topic {name!r}")
            elect_all(broker.state, names, broker.clock.both(), unclean=unclean)

        self._runner.call(elect)

    def _partition(self, name: str, index: int) -> tuple[Topic, int]:
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"partition={index!r} is refused: expected a number")
        topic = self._runner.running().state.cluster.topic(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise KeyError(f"there is no partition {index} of a topic {name!r}")
        return topic, index

    def _coordinated(self, group: str) -> tuple[Topic, int]:
        from kafkastub.coordinator import partition_for

        state = self._runner.running().state
        if not state.cluster.has_living_node:
            raise ValueError("no node is running, and so nobody can coordinate a group: start one first")
        topic = ensure_offsets_topic(state)
        return topic, partition_for(group, len(topic.partitions))

    def __repr__(self) -> str:
        return f"<nodes {', '.join(map(repr, self.values()))}>"
