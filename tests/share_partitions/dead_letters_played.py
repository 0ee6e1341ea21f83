"""What is rejected in share groups of a broker, and what comes of it: played alike on Apache Kafka and the stub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkastub.client.connection import Connection
from kafkawire.messages import share_acknowledge_request as acknowledging
from kafkawire.messages import share_fetch_request as fetching
from kafkawire.messages.create_topics_request import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kafkawire.messages.delete_records_request import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kafkawire.records import Compression, NewRecord, build_batch, read_batch, split_batches
from tests.waiting import until

CONFIG: Mapping[str, object] = {
    "group.share.assignment.interval.ms": 0,
    "group.share.min.record.lock.duration.ms": 1000,
    "share.coordinator.state.topic.num.partitions": 1,
}
TOPIC, BROKER, GROUP = 2, 4, 32
ACCEPT, RELEASE, REJECT = 1, 2, 3
_ENABLED = "errors.deadletterqueue.group.enable"
_NAME = "errors.deadletterqueue.topic.name"
_COPY = "errors.deadletterqueue.copy.record.enable"
_AUTO_CREATE = "errors.deadletterqueue.auto.create.topics.enable"
_PREFIX = "errors.deadletterqueue.topic.name.prefix"
_STAMP = 1_700_000_000_000


class Scene:
    """One group with a topic of its own, and its one member."""

    def __init__(
        self, on: Player, name: str, partitions: int = 1, dead: str = "", *, copy: bool = False, **configs: object
    ) -> None:
        self.on, self.name, self.epoch = on, name, -1
        self.dead = dead or f"dlq.{name}"
        on.make(name, partitions)
        own = {_NAME: self.dead, "share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "15000"}
        if copy:
            own[_COPY] = "true"
        on.configure(GROUP, name, own | {key.replace("_", "."): str(value) for key, value in configs.items()})

    def begin(self, partitions: int = 1) -> None:
        """Join, and have the share partitions in memory. What there is, is acquired by `acquire`."""
        epoch = 0

        def assigned() -> bool:
            nonlocal epoch
            names = None if epoch else [self.name]
            answer = self.on.ask(ShareGroupHeartbeatRequest(self.name, f"of-{self.name}", epoch, None, names))
            epoch = epoch if answer.error_code else answer.member_epoch
            return bool(answer.assignment is not None and answer.assignment.topic_partitions)

        until(assigned, f"an assignment in {self.name}")

    def acquire(self, count: int, partitions: int = 1) -> None:
        """Until so many records are acquired."""
        found = 0

        def enough() -> bool:
            nonlocal found
            self.epoch += 1
            parts = [fetching.FetchPartition(one) for one in range(partitions)]
            topics = [fetching.FetchTopic(self.on.ids()[self.name], parts)]
            member = f"of-{self.name}"
            answer = self.on.ask(
                fetching.ShareFetchRequest(self.name, member, self.epoch, 200, 1, 1 << 24, 5000, 5000, topics=topics)
            )
            assert answer.error_code == 0, answer
            found += sum(
                one.last_offset - one.first_offset + 1
                for topic in answer.responses
                for partition in topic.partitions
                for one in partition.acquired_records
            )
            return bool(found >= count)

        until(enough, f"{count} records of {self.name}")

    def say(self, *batches: tuple[int, int, Sequence[int]], partition: int = 0) -> int:
        """The error code."""
        self.epoch += 1
        said = [acknowledging.AcknowledgementBatch(*one) for one in batches]
        at = [acknowledging.AcknowledgePartition(partition, said)]
        topics = [acknowledging.AcknowledgeTopic(self.on.ids()[self.name], at)]
        answer = self.on.ask(
            acknowledging.ShareAcknowledgeRequest(self.name, f"of-{self.name}", self.epoch, topics=topics)
        )
        assert answer.error_code == 0, answer
        code: int = answer.responses[0].partitions[0].error_code
        return code

    def letters(self, partition: int = 0) -> list[Any]:
        """What the dead-letter topic has: offset, key, value, headers."""
        return self.on.records(self.dead, partition)


class Player:
    """A broker, and everything that is asked of it."""

    def __init__(self, bootstrap_servers: str) -> None:
        host, _, port = bootstrap_servers.rpartition(":")
        self._connection = Connection(host, int(port))
        group = FindCoordinatorRequest(key_type=0, coordinator_keys=["any"])
        until(lambda: not self.ask(group).coordinators[0].error_code, "a coordinator")

    def close(self) -> None:
        self._connection.close()

    def ask(self, request: Any, version: int | None = None) -> Any:
        return self._connection.ask(request, version)

    def ids(self) -> dict[str, bytes]:
        return {topic.name: bytes(topic.topic_id) for topic in self.ask(MetadataRequest(None, False)).topics}

    def make(self, name: str, partitions: int = 1, **configs: str) -> None:
        overrides = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
        answer = self.ask(CreateTopicsRequest([CreatableTopic(name, partitions, 1, (), overrides)], 10_000))
        assert answer.topics[0].error_code == 0, answer
        until(lambda: name in self.ids(), name)

    def make_dead(self, name: str, partitions: int = 1, **configs: str) -> None:
        self.make(name, partitions, errors_deadletterqueue_group_enable="true", **configs)

    def configure(self, kind: int, name: str, values: Mapping[str, str | None]) -> int:
        """The error code."""
        changes = [AlterableConfig(key, 1 if value is None else 0, value) for key, value in values.items()]
        answer = self.ask(IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, changes)]))
        code: int = answer.responses[0].error_code
        return code

    def produce(self, topic: str, records: Sequence[NewRecord], partition: int = 0, compression: int = 0) -> None:
        batch = build_batch(records, compression=compression)
        data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, batch)])]
        answer = self.ask(ProduceRequest(None, -1, 10_000, data), 12)
        assert answer.responses[0].partition_responses[0].error_code == 0, answer

    def records(self, topic: str, partition: int) -> list[Any]:
        found: list[Any] = []
        while more := self._records(topic, partition, len(found)):  # a read ends with its segment
            found += more
        return found

    def _records(self, topic: str, partition: int, offset: int) -> list[Any]:
        at = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=1 << 24)
        asked = [FetchTopic(topic, b"", [at])]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 24, topics=asked, session_epoch=-1)
        answer = self.ask(request, 12)
        read = answer.responses[0].partitions[0].records or b""
        return [
            (record.offset, record.key, record.value, record.headers)
            for _, batch in split_batches(read)
            for record in read_batch(batch)
            if record.offset >= offset
        ]

    def delete_before(self, topic: str, offset: int) -> None:
        asked = [DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, offset)])]
        self.ask(DeleteRecordsRequest(asked, 10_000))


def records(*contents: tuple[bytes | None, bytes | None]) -> list[NewRecord]:
    return [NewRecord(key, value, _STAMP, ((b"h", b"1"),)) for key, value in contents]


def some(count: int, size: int = 2) -> list[NewRecord]:
    return records(*((b"k%d" % at, b"v" * size) for at in range(count)))


def played(bootstrap_servers: str) -> dict[str, Any]:
    """Everything; by scene, what comes of it."""
    player = Player(bootstrap_servers)
    try:
        return {name: scene(player) for name, scene in SCENES.items()}
    finally:
        player.close()


def _settled(scene: Scene, count: int, partition: int = 0) -> list[Any]:
    """So many dead letters, and no more."""
    until(lambda: len(scene.letters(partition)) >= count, f"{count} dead letters of {scene.name}")
    return scene.letters(partition)


def rejected(player: Player) -> Any:
    scene = Scene(player, "rejected")
    player.make_dead(scene.dead)
    player.produce(scene.name, some(11))
    scene.begin()
    scene.acquire(11)
    codes = scene.say((0, 10, [3, 3, 3, 3, 3, 3, 1, 3, 3, 2, 3]))
    return codes, _settled(scene, 9)


def copied(player: Player) -> Any:
    scene = Scene(player, "copied", copy=True)
    player.make_dead(scene.dead)
    player.produce(scene.name, records((b"k", b"v"), (None, b"v"), (b"k", None), (b"", b"")))
    player.produce(scene.name, some(3), compression=Compression.GZIP)
    scene.begin()
    scene.acquire(7)
    return scene.say((0, 6, [REJECT])), _settled(scene, 7)


def sizes(player: Player) -> Any:
    scene = Scene(player, "sizes", copy=True)
    player.make_dead(scene.dead, max_message_bytes="2000")
    player.produce(scene.name, [*some(1, 3000), *some(3, 700), *some(2, 1900), *some(1)])
    player.produce(scene.name, some(5, 1000), compression=Compression.GZIP)
    scene.begin()
    scene.acquire(12)
    return scene.say(*((offset, offset, [REJECT]) for offset in range(12))), _settled(scene, 10)


def spread(player: Player) -> Any:
    scene = Scene(player, "spread", partitions=5)
    player.make_dead(scene.dead, 2)
    for partition in range(5):
        player.produce(scene.name, some(1), partition)
    scene.begin(5)
    scene.acquire(5, 5)
    codes = [scene.say((0, 0, [REJECT]), partition=partition) for partition in range(5)]
    return codes, _settled(scene, 3), _settled(scene, 2, 1)


def at_the_limit(player: Player) -> Any:
    scene = Scene(player, "limit", share_delivery_count_limit=2)
    player.make_dead(scene.dead)
    player.produce(scene.name, some(3))
    scene.begin()
    codes = []
    for _ in range(2):
        scene.acquire(3)
        codes.append(scene.say((0, 2, [RELEASE])))
    return codes, _settled(scene, 3)


def by_the_lock(player: Player) -> Any:
    scene = Scene(player, "lock", share_delivery_count_limit=2, share_record_lock_duration_ms=1000)
    player.make_dead(scene.dead)
    player.produce(scene.name, some(2))
    scene.begin()
    scene.acquire(2)
    scene.acquire(2)
    return _settled(scene, 2)


def by_the_end_of_the_session(player: Player) -> Any:
    scene = Scene(player, "session", share_delivery_count_limit=2)
    player.make_dead(scene.dead)
    player.produce(scene.name, some(2))
    scene.begin()
    scene.acquire(2)
    scene.say((0, 1, [RELEASE]))
    scene.acquire(2)
    player.ask(acknowledging.ShareAcknowledgeRequest(scene.name, f"of-{scene.name}", -1))
    return _settled(scene, 2)


def deleted_meanwhile(player: Player) -> Any:
    scene = Scene(player, "deleted", copy=True)
    player.make_dead(scene.dead)
    player.produce(scene.name, some(6))
    scene.begin()
    scene.acquire(6)
    player.delete_before(scene.name, 3)
    return scene.say((0, 5, [REJECT])), _settled(scene, 6)


def made(player: Player) -> Any:
    player.configure(BROKER, "", {_AUTO_CREATE: "true"})
    scene = Scene(player, "made")
    player.produce(scene.name, some(2))
    scene.begin()
    scene.acquire(2)
    found = scene.say((0, 1, [REJECT]))
    until(lambda: scene.dead in player.ids(), scene.dead)
    letters = _settled(scene, 2)
    player.configure(BROKER, "", {_AUTO_CREATE: None})
    return found, letters


def not_written(player: Player) -> Any:
    """Missing, not for dead letters, another prefix, an impossible name: and the group goes on."""
    player.make("dlq.plain")
    player.make_dead("other")
    found = []
    for name, dead in (("none", "dlq.none"), ("plain", "dlq.plain"), ("prefix", "other"), ("name", "dlq.a b")):
        scene = Scene(player, f"refused-{name}", dead=dead)
        player.produce(scene.name, some(2))
        scene.begin()
        scene.acquire(2)
        found.append(scene.say((0, 1, [REJECT])))
        player.produce(scene.name, some(1))
        scene.acquire(1)
        found.append(scene.say((2, 2, [ACCEPT])))
    return found, player.records("dlq.plain", 0), player.records("other", 0), "dlq.none" in player.ids()


def of_share_version_1(player: Player) -> Any:
    scene = Scene(player, "old")
    player.make_dead(scene.dead)
    player.produce(scene.name, some(4))
    scene.begin()
    scene.acquire(4)
    player.ask(UpdateFeaturesRequest(60_000, [FeatureUpdateKey("share.version", 1, False, 2)], False))
    codes = [scene.say((0, 1, [REJECT]))]
    player.ask(UpdateFeaturesRequest(60_000, [FeatureUpdateKey("share.version", 2, False, 1)], False))
    codes.append(scene.say((2, 3, [REJECT])))
    return codes, _settled(scene, 2)


def underscores(player: Player) -> Any:
    return player.configure(GROUP, "any", {_NAME: "__dlq"})


def itself(player: Player) -> Any:
    player.configure(BROKER, "", {_PREFIX: ""})
    scene = Scene(player, "itself", dead="itself", copy=True)
    player.configure(TOPIC, "itself", {_ENABLED: "true"})
    player.produce(scene.name, some(2))
    scene.begin()
    scene.acquire(2)
    code = scene.say((0, 1, [REJECT]))
    letters = _settled(scene, 4)
    scene.acquire(2)
    player.configure(BROKER, "", {_PREFIX: None})
    return code, letters


SCENES = {
    one.__name__: one
    for one in (
        rejected, copied, sizes, spread, at_the_limit, by_the_lock, by_the_end_of_the_session, deleted_meanwhile, made,
        not_written, of_share_version_1, underscores, itself,
    )
}  # fmt: skip
