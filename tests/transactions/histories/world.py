"""The broker of a history: where requests go, and what is done to it; in this process, or in one that can be killed."""

from __future__ import annotations

import shutil
from pathlib import Path
from subprocess import Popen
from typing import Any

from kafkastub import KafkaStub
from kafkastub.coordinator import partition_for
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkawire.messages.delete_topics_request import DeleteTopicsRequest
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.schema import Message
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving

TOPICS = {"a": 2, "b": 1}
COMPACTED = "c"
PARTITIONS = [(name, index) for name, count in TOPICS.items() for index in range(count)] + [(COMPACTED, 0)]
GROUPS = ["g0", "g1"]
NAMES = ["t0", "t1", "t2"]
INTERNAL = 2
"""Partitions of `__transaction_state`, and of `__consumer_offsets`."""
FOR_EVER = 2**31 - 1
SETTINGS: dict[str, object] = {
    **CONFIG,
    "transaction.state.log.num.partitions": INTERNAL,
    "offsets.topic.num.partitions": INTERNAL,
    "offsets.retention.minutes": FOR_EVER,
}


class Unanswered(Exception):
    """Nobody knows whether the request was heard."""


class World:
    """A stub of several nodes inside this process.

    Attributes:
        held: the transactional ids whose markers are held.
        away: the nodes that are stopped.
    """

    def __init__(self, nodes: int, replicas: int, directory: Path | None) -> None:
        self._nodes, self._replicas, self._directory = nodes, replicas, directory
        names = ("default", "offsets.topic", "transaction.state.log")
        self._config = SETTINGS | {f"{name}.replication.factor": replicas for name in names}
        self._speakers: dict[int, Speaker] = {}
        self._copies = 0
        self.held: set[str] = set()
        self.away: set[int] = set()
        self.start()

    @property
    def is_kept(self) -> bool:
        return self._directory is not None

    @property
    def is_calm(self) -> bool:
        """Nothing hinders markers."""
        return not self.held and not self.away

    def start(self) -> None:
        self.stub = KafkaStub(
            topics=TOPICS, nodes=self._nodes, config=self._config, data_dir=self._directory, journal=False
        ).start()  # fmt: skip
        self.away.clear()
        self.held.clear()
        for kind, key in ((0, GROUPS[0]), (1, NAMES[0])):
            found = self.ask(1, FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]), 4)
            assert found.coordinators[0].error_code == 0
        self._create_compacted()

    def close(self) -> None:
        self._hang_up()
        self.stub.close()

    def recreate(self, topic: str) -> None:
        """Delete it, and create it anew."""
        node = self.running()[0]
        deleted = self.ask(node, DeleteTopicsRequest(topic_names=[topic], timeout_ms=10_000), 5).responses[0]
        assert deleted.error_code == ErrorCode.NONE
        new = CreatableTopic(topic, TOPICS[topic], min(self._replicas, len(self.running())))
        made = self.ask(node, CreateTopicsRequest(topics=[new], timeout_ms=10_000), 5).topics[0]
        assert made.error_code == ErrorCode.NONE

    def _create_compacted(self) -> None:
        config = CreatableTopicConfig("cleanup.policy", "compact")
        topic = CreatableTopic(COMPACTED, 1, self._replicas, configs=[config])
        code = self.ask(1, CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 5).topics[0].error_code
        assert code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)

    def restart(self, killed: bool) -> None:
        """`killed`: from the files as they were while it ran."""
        if killed:
            assert self._directory is not None
            self._copies += 1
            copy = self._directory.with_name(f"{self._directory.name.split('-')[0]}-{self._copies}")
            self._speak(self.running()[0]).create_topic(f"so-far-{self._copies}")  # all before it is in the files then
            shutil.copytree(self._directory, copy, ignore=shutil.ignore_patterns(".lock"))
            self.close()
            shutil.rmtree(self._directory)
            self._directory = copy
        else:
            self.close()
        self.start()

    def running(self) -> list[int]:
        return [node for node in range(1, self._nodes + 1) if node not in self.away]

    def ask(self, node: int, request: Message, version: int) -> Any:
        """Raises Unanswered."""
        return self._speak(node).ask(request, version)

    def _speak(self, node: int) -> Speaker:
        if node not in self._speakers:
            self._speakers[node] = Speaker(self.stub.nodes[node].bootstrap_servers)
        return self._speakers[node]

    def _hang_up(self, node: int | None = None) -> None:
        for one in [*self._speakers] if node is None else [node]:
            if one in self._speakers:
                self._speakers.pop(one).close()

    def leader(self, topic: str, partition: int) -> int:
        return self.stub.leader_of(topic, partition)

    def coordinator(self, name: str) -> int:
        return self.leader("__transaction_state", partition_for(name, INTERNAL))

    def group_coordinator(self, group: str) -> int:
        return self.leader("__consumer_offsets", partition_for(group, INTERNAL))

    def hold(self, name: str) -> None:
        transactions = self.stub._running().state.transactions
        self.stub._call(lambda: transactions.hold_markers(name))
        self.held.add(name)

    def release(self, name: str) -> None:
        broker = self.stub._running()
        self.stub._call(lambda: broker.state.transactions.release_markers(name, *broker.clock.both()))
        self.held.discard(name)

    def stop_node(self, node: int) -> None:
        self._hang_up(node)
        self.stub.nodes[node].stop()
        self.away.add(node)

    def start_node(self, node: int) -> None:
        self.stub.nodes[node].start()
        self.away.discard(node)

    def calm_down(self) -> None:
        for name in sorted(self.held):
            self.release(name)
        for node in sorted(self.away):
            self.start_node(node)


class ProcessWorld(World):
    """One node in a process of its own."""

    def __init__(self, directory: Path) -> None:
        super().__init__(1, 1, directory)

    def start(self) -> None:
        settings = [f"{key}={value}" for key, value in self._config.items()]
        topics = [part for name, count in TOPICS.items() for part in ("--topic", f"{name}:{count}")]
        self._serving = Serving("--data-dir", str(self._directory), *topics, "--config", *settings).__enter__()
        for kind, key in ((0, GROUPS[0]), (1, NAMES[0])):
            self.ask(1, FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]), 4)
        self._create_compacted()

    def close(self) -> None:
        self._hang_up()
        self._serving.__exit__(None, None, None)

    @property
    def process(self) -> Popen[str]:
        """That is to be killed."""
        return self._serving.process

    def restart_killed(self) -> None:
        """The process was killed."""
        self.close()
        self.start()

    def restart(self, killed: bool) -> None:
        self.process.kill() if killed else self.process.terminate()
        self.process.wait()
        self.restart_killed()

    def ask(self, node: int, request: Message, version: int) -> Any:
        try:
            return super().ask(node, request, version)
        except OSError as error:
            self._hang_up()
            raise Unanswered from error

    def _speak(self, node: int) -> Speaker:
        if node not in self._speakers:
            self._speakers[node] = Speaker(self._serving.servers)
        return self._speakers[node]

    def leader(self, topic: str, partition: int) -> int:
        return 1
