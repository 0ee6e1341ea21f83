"""A history of share partitions, played by the requests of other brokers; what a broker knows and has written then."""

from __future__ import annotations

from typing import Any, Final

from kafkastub.metadata import SHARE_GROUP_STATE
from kafkawire.messages import delete_share_group_state_request as delete
from kafkawire.messages import initialize_share_group_state_request as initialize
from kafkawire.messages import read_share_group_state_request as read
from kafkawire.messages import read_share_group_state_summary_request as summary
from kafkawire.messages import write_share_group_state_request as write
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.records import parse_header, read_batch, split_batches
from tests.persistence.speaker import Speaker
from tests.waiting import until

CONFIG: Final[dict[str, object]] = {
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.snapshot.update.records.per.snapshot": 3,
}
TOPICS: Final = {"orders": 3, "audit": 1}
GROUPS: Final = ("g", "sales:eu", "größe")
LEADER_EPOCH: Final = 4
_NOT_READY: Final = (14, 15, 16)

Batch = tuple[int, int, int, int]


class Brokers:
    """Speaks to one broker as others do."""

    def __init__(self, servers: str) -> None:
        self.on = Speaker(servers)
        self.topic_ids: dict[str, bytes] = {}

    def close(self) -> None:
        self.on.close()

    def create(self) -> None:
        """The topics of the history, and that of the coordinator."""
        for name, partitions in TOPICS.items():
            assert self.on.create_topic(name, partitions) == 0
        self.await_coordinator()

    def await_coordinator(self) -> None:
        """Its topic is there, and the topics of the history are known; a fresh broker takes its time."""

        def ready() -> bool:
            asked = FindCoordinatorRequest(key_type=2, coordinator_keys=[f"g:{'A' * 21}Q:0"])
            if self.on.ask(asked, 6).coordinators[0].error_code:
                return False
            answer = self.on.ask(MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in TOPICS]), 12)
            self.topic_ids = {one.name: one.topic_id for one in answer.topics if not one.error_code}
            if self.topic_ids.keys() != TOPICS.keys():
                return False
            return not self._summary("g", "orders", 0).error_code

        until(ready, "a share coordinator", 60)

    def _one(self, request: Any, version: int) -> Any:
        (result,) = self.on.ask(request, version).results
        (found,) = result.partitions
        return found

    def initialize(self, group: str, topic: str, partition: int, state_epoch: int, start_offset: int) -> None:
        asked = initialize.PartitionData(partition, state_epoch, start_offset)
        one = initialize.InitializeStateData(self.topic_ids[topic], [asked])
        assert self._one(initialize.InitializeShareGroupStateRequest(group, [one]), 0).error_code == 0

    def read(self, group: str, topic: str, partition: int, leader_epoch: int = LEADER_EPOCH) -> Any:
        one = read.ReadStateData(self.topic_ids[topic], [read.PartitionData(partition, leader_epoch)])
        return self._one(read.ReadShareGroupStateRequest(group, [one]), 0)

    def write(
        self,
        group: str,
        topic: str,
        partition: int,
        *batches: Batch,
        start_offset: int = 0,
        complete: int = 0,
        state_epoch: int = 9,
        version: int = 1,
    ) -> None:
        asked = write.PartitionData(
            partition, state_epoch, LEADER_EPOCH, start_offset, complete, [write.StateBatch(*one) for one in batches]
        )
        one = write.WriteStateData(self.topic_ids[topic], [asked])
        assert self._one(write.WriteShareGroupStateRequest(group, [one]), version).error_code == 0

    def delete(self, group: str, topic: str, partition: int) -> None:
        one = delete.DeleteStateData(self.topic_ids[topic], [delete.PartitionData(partition)])
        assert self._one(delete.DeleteShareGroupStateRequest(group, [one]), 0).error_code == 0

    def _summary(self, group: str, topic: str, partition: int) -> Any:
        one = summary.ReadStateSummaryData(self.topic_ids[topic], [summary.PartitionData(partition, 0)])
        return self._one(summary.ReadShareGroupStateSummaryRequest(group, [one]), 1)

    def told(self) -> list[str]:
        """All that is known; reading writes nothing where a leader with this epoch has read it last."""
        found = []
        for group in GROUPS:
            for topic, partitions in TOPICS.items():
                for partition in range(partitions):
                    known = self._summary(group, topic, partition)
                    state = self.read(group, topic, partition) if known.start_offset != -1 else None
                    batches = () if state is None else state.state_batches
                    told = [known.state_epoch, known.start_offset, known.delivery_complete_count]
                    told += [(b.first_offset, b.last_offset, b.delivery_state, b.delivery_count) for b in batches]
                    found.append(f"{group} {topic}-{partition}: {told}")
        return found

    def batches(self) -> list[list[list[str | None]]]:
        """Batch by batch, and of each record key and value: in hex, topic ids and the values' timestamps masked."""
        start, end = (self.on.offset(SHARE_GROUP_STATE, 0, one) for one in (-2, -1))
        found: list[list[list[str | None]]] = []
        while start < end:
            asked = FetchPartition(partition=0, fetch_offset=start, partition_max_bytes=1 << 20)
            topics = [FetchTopic(SHARE_GROUP_STATE, partitions=[asked])]
            request = FetchRequest(max_wait_ms=0, max_bytes=1 << 20, topics=topics)
            records = self.on.ask(request, 11).responses[0].partitions[0].records
            for _, batch in split_batches(records):
                found.append([[_hex(self._masked(one.key)), _hex(one.value)] for one in read_batch(bytes(batch))])
                start = parse_header(batch).last_offset + 1
        return found

    def _masked(self, key: bytes | None) -> bytes | None:
        for name, topic_id in self.topic_ids.items():
            key = key.replace(topic_id, name.encode().ljust(16, b".")) if key else key
        return key


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def play(on: Brokers) -> None:
    """Everything that can be written: snapshots, updates, a snapshot after updates, beginning anew, tombstones."""
    on.initialize("g", "orders", 0, 9, -1)
    on.initialize("g", "orders", 1, 9, 100)
    on.initialize("sales:eu", "audit", 0, 9, 0)
    on.initialize("größe", "orders", 2, 9, 5)
    on.read("g", "orders", 0)
    on.write("g", "orders", 0, (0, 9, 2, 1), (10, 10, 0, 1), (11, 14, 4, 5), start_offset=0, complete=14)
    on.write("g", "orders", 1, start_offset=120, complete=0)
    for offset in range(8):
        on.write("sales:eu", "audit", 0, (2 * offset, 2 * offset, 2, 1), complete=offset + 1)
    on.write("sales:eu", "audit", 0, (0, 15, 4, 2), start_offset=3, complete=13)
    on.write("größe", "orders", 2, (7, 7, 0, 3), start_offset=7, version=0)
    on.read("größe", "orders", 2, 2)
    on.read("größe", "orders", 2)
    on.delete("g", "orders", 1)
    on.initialize("g", "orders", 1, 10, 7)
    on.initialize("g", "orders", 0, 12, 3)
    on.delete("größe", "orders", 2)
    on.read("g", "orders", 0)
    on.read("g", "orders", 1)
    on.read("sales:eu", "audit", 0)
    on.write("g", "orders", 1, (8, 9, 2, 1), start_offset=7, complete=2, state_epoch=10)
