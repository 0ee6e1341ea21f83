"""Random scenarios of the data plane from a seed: producers, consumers and administrators on topics of their own.

Most requests make sense, as offsets, sequences and sessions are learned from answers; a part is spoilt on purpose.
The same seed gives the same scenario as long as the broker that knows answers the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_admin import Administration
from kafkastub_conformance.differential.data_batches import T0, Batches
from kafkastub_conformance.differential.data_fetches import Fetches
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import Script
from kafkawire.records import build_batch

STEPS = 70

OWN_PRODUCER = 5_000_000
"""The first of the producer ids that scenarios make up: any id will do without a transactional one."""

LIST_TIMES = (-1, -1, -2, -2, -3, -3, -4, -5, -6, -7, -100)


def data_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(f"data-{seed}", lambda play: DataGenerator(play, seed).run(steps), (), "data")


class DataGenerator(Fetches, Administration):
    """One scenario in the making."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, random.Random(seed))
        self.batches = Batches(self.random)
        self.sequences: dict[tuple[str, int, int], tuple[int, int]] = {}
        """By topic, partition and producer id: its epoch, and the sequence that comes next."""

    def run(self, steps: int) -> None:
        """Create topics, play until there are so many steps, and end the fetch sessions."""
        self.begin()
        self.play.fill(steps, self.random, self.acts())
        self.end_sessions()

    def acts(self) -> dict[Callable[[], object], int]:
        """What is done, and how often."""
        return {
            self.produce: 24,
            self.produce_idempotent: 12,
            self.produce_many: 4,
            self.produce_silently: 2,
            self.fetch: 14,
            self.fetch_in_session: 14,
            self.fetch_and_wait: 2,
            self.list_offsets: 9,
            self.epoch_offsets: 3,
            self.delete_records: 4,
            self.init_producer: 2,
            self.administer: 32,
        }

    # Produce.

    def produce(self) -> None:
        """One batch, good or spoilt, with any acks."""
        topic, partition = self.place()
        batch = self._spoilt(topic) if self.chance(0.35) else self._fitting(topic)
        self._produce([(topic, [(partition, batch)])], self.pick((1, 1, 1, -1, -1, -1, 2, -2)))

    def produce_silently(self) -> None:
        """One batch with acks=0: no answer, or the end of the connection."""
        topic, partition = self.place()
        batch = self._spoilt(topic) if self.chance(0.2) else self.batches.good()
        self._produce([(topic, [(partition, batch)])], 0, on="silent")
        self.play.close("silent")

    def produce_many(self) -> None:
        """Several topics and partitions at once, now and then one of them twice."""
        asked = []
        for _ in range(self.random.randint(1, 3)):
            topic, _ = self.place()
            places = [self.partition(topic) for _ in range(self.random.randint(1, 3))]
            batches = [self._spoilt(topic) if self.chance(0.15) else self.batches.good() for _ in places]
            asked.append((topic, list(zip(places, batches, strict=True))))
        self._produce(asked, self.pick((1, -1)))

    def produce_idempotent(self) -> None:
        """A producer with sequences: the next, one again, a gap, another epoch."""
        topic, partition = self.place()
        producer = OWN_PRODUCER + self.random.randrange(3)
        epoch, sequence = self.sequences.get((topic, partition, producer), (0, 0))
        how = self.random.random()
        if how < 0.25:
            sequence = max(0, sequence - self.random.randint(1, 9))
        elif how < 0.35:
            sequence = self.pick((sequence + 1, sequence + 5, 2**31 - 1, 2**31 - 2, 0))
        elif how < 0.5:
            epoch, sequence = self.pick(((epoch + 1, 0), (epoch + 1, 3), (max(0, epoch - 1), sequence), (-1, sequence)))
        records = self.batches.records(3)
        if how < 0.25 and self.chance(0.7):
            records = records[:1]
        batch = build_batch(
            records,
            compression=self.pick((0, 0, 1, 3)),
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
        answer = self._produce([(topic, [(partition, batch)])], self.pick((1, -1)))
        if answer and "error_code" not in str(answer):
            following = (sequence + len(records)) & 0x7FFFFFFF
            self.sequences[topic, partition, producer] = epoch, following

    def _spoilt(self, topic: str) -> bytes:
        unpacked = topic.startswith(("<p>compact", "<p>both", "<p>bounded", "<p>unpacked"))
        return self.batches.spoilt(unpacked=unpacked and topic not in self.altered)

    def _fitting(self, topic: str) -> bytes:
        """What makes sense on a topic of this kind: sizes around its limit, times around its bounds."""
        kind = topic[3:].rstrip("0123456789")
        if kind == "small" and self.chance(0.7):
            return self.batches.sized(self.pick((500, 599, 600, 601, 700, 1999, 2000, 2001)), self.pick((0, 0, 0, 1)))
        if kind == "bounded" and self.chance(0.8):
            limit = 3_600_000
            far = self.pick((0, limit // 2, limit * 2, -limit // 2, -limit * 2, limit * 30, -limit * 24 * 365))
            return self.batches.at_times(0, far, self.pick((0, far)), codec=self.pick((0, 0, 1, 4)))
        if self.chance(0.05):
            return self.batches.sized(self.pick((59_990, 60_000, 60_001, 61_000)))
        return self.batches.good()

    def _produce(self, asked: list[tuple[str, list[tuple[int, bytes]]]], acks: int, on: str = "c1") -> Json:
        data = [
            {
                "name": topic,
                "topic_id": self.topic_id(topic),
                "partition_data": [{"index": index, "records": batch.hex()} for index, batch in partitions],
            }
            for topic, partitions in asked
        ]
        body = {"acks": acks, "timeout_ms": 5000, "topic_data": data}
        if self.chance(0.02):
            body["transactional_id"] = "<p>tx"
        answer = self.play.ask(on, "Produce", self.version("Produce", 3), body)
        self.learn_ends(answer)
        return answer

    # ListOffsets and its like.

    def list_offsets(self) -> None:
        """Ends, beginnings, times, and timestamps that mean something else or nothing."""
        topics = []
        for _ in range(self.random.randint(1, 3)):
            topic, _ = self.place()
            partitions = [
                {
                    "partition_index": self.partition(topic),
                    "current_leader_epoch": self.pick((-1, -1, -1, 0, 1)),
                    "timestamp": self._time(),
                }
                for _ in range(self.random.randint(1, 3))
            ]
            topics.append({"name": topic, "partitions": partitions})
        body = {"replica_id": -1, "isolation_level": self.pick((0, 0, 1)), "topics": topics}
        self.play.ask("c1", "ListOffsets", self.version("ListOffsets", 1), body)

    def _time(self) -> int:
        if self.chance(0.5):
            return self.pick(LIST_TIMES)
        return T0 + self.pick((0, 1, 5, 1000, -3)) * self.random.randint(0, 5) + self.random.randrange(0, 100_000, 1000)

    def epoch_offsets(self) -> None:
        """OffsetForLeaderEpoch of known and unknown epochs."""
        topic, _ = self.place()
        partitions = [
            {
                "partition": self.partition(topic),
                "current_leader_epoch": self.pick((-1, -1, 0, 1)),
                "leader_epoch": self.pick((-1, 0, 0, 1, 7)),
            }
            for _ in range(self.random.randint(1, 3))
        ]
        body = {"replica_id": self.pick((-1, -2)), "topics": [{"topic": topic, "partitions": partitions}]}
        self.play.ask("c1", "OffsetForLeaderEpoch", self.version("OffsetForLeaderEpoch", 2), body)

    def delete_records(self) -> None:
        """Within the log, at its end, beyond it, before it."""
        topic, partition = self.place()
        end = self.ends.get((topic, partition), 0)
        offsets = [self.pick((-1, 0, end, end + 1, -2, end // 2, end // 2, max(0, end - 1))) for _ in range(2)]
        partitions = [{"partition_index": partition, "offset": offsets[0]}]
        if self.chance(0.3):
            partitions.append({"partition_index": self.partition(topic), "offset": offsets[1]})
        body = {"topics": [{"name": topic, "partitions": partitions}], "timeout_ms": 5000}
        self.play.ask("c1", "DeleteRecords", self.version("DeleteRecords"), body)

    def init_producer(self) -> None:
        """InitProducerId without transactional id."""
        body = {
            "transactional_id": self.pick((None, None, None, "")),
            "transaction_timeout_ms": self.pick((60000, 0, -1)),
            "producer_id": self.pick((-1, -1, 7)),
            "producer_epoch": self.pick((-1, -1, 0)),
        }
        self.play.ask("c1", "InitProducerId", min(5, self.version("InitProducerId")), body)
