"""The writing half of the random transactions: producers with transactional ids, and what they say, right and wrong."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json, with_producer
from kafkastub_conformance.differential.data_batches import T0, TRANSACTIONAL
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import G1, G2
from kafkawire.errors import ErrorCode
from kafkawire.records import NewRecord, build_batch

IDS = ("<p>tx1", "<p>tx2", "<p>tx-none")
"""Transactional ids; the last one is of nobody."""

SHARED = {"t1": 3, "t2": 1}
"""Topics that offsets are committed of."""

JOINS_BY_ITSELF = {"Produce": 12, "TxnOffsetCommit": 5, "EndTxn": 5, "AddPartitionsToTxn": 4}
"""From these versions on a partition comes into the transaction by being written to; brokers alone add it (KIP-890)."""

UNKNOWN_PRODUCER = 5_000_077
"""The id of one that was never started: none that a broker may have given somebody."""

MOST_OF_INIT = 5
"""Version 6 of InitProducerId is not released: a broker closes the connection (KIP-939)."""

Place = tuple[str, int]


@dataclass
class Producer:
    """A producer with a transactional id as it knows itself."""

    name: str
    producer_id: str = ""
    epoch: int = -1
    sequences: dict[Place, int] = field(default_factory=dict)
    added: set[Place | str] = field(default_factory=set)
    """What is in its transaction: partitions, and groups."""
    former: list[tuple[str, int]] = field(default_factory=list)
    """Ids and epochs that it has had."""

    def become(self, producer_id: str, epoch: int) -> None:
        """It was told another id or epoch: sequences begin anew."""
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            if self.producer_id:
                self.former.append((self.producer_id, self.epoch))
            self.producer_id, self.epoch = producer_id, epoch
            self.sequences.clear()
        self.added.clear()


class Producers(Places):
    """Adds producers."""

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.producers = [Producer(name) for name in IDS[:2]]
        self.member: Json = None
        """What the only member of G2 was told when it joined."""
        self.adds_first = False
        """Whether only versions are asked that want partitions to be added first."""

    def topic(self) -> str:
        """A topic, seldom one that is not there. None of the broker's own: what is in it others wrote, too."""
        odd = self.chance(0.04) or not self.topics
        return self.pick(("<p>nope", "bad name", "")) if odd else self.pick(list(self.topics))

    def version(self, api: str, since: int = 0) -> int:
        """Any version that may be asked; the latest more often. Raises NotThere."""
        if self.adds_first and api in JOINS_BY_ITSELF:
            every = range(since, JOINS_BY_ITSELF[api])
            return self.pick([one for one in self.play.versions(api) if one in every])
        return super().version(api, since)

    # Their ids.

    def producer(self) -> Producer:
        """One of them, seldom one that was never started."""
        started = [one for one in self.producers if one.producer_id]
        return self.pick(started if started and self.chance(0.96) else self.producers)

    def init(self) -> None:
        """InitProducerId: a producer starts, starts anew, or wants its epoch raised; or says what is not so."""
        self._init(self.pick(self.producers))

    def _init(self, producer: Producer, *, right: bool = False) -> None:
        version = min(MOST_OF_INIT, self.version("InitProducerId"))
        body: dict[str, Json] = {
            "transactional_id": producer.name if right else self.pick((*[producer.name] * 12, "", IDS[-1])),
            "transaction_timeout_ms": 60000 if right else self.pick((*[60000] * 9, 0, -1, 900000, 900001)),
        }
        if version >= 3 and producer.producer_id and self.chance(0.4):
            known, epoch = self.identity(producer, 0.4)
            body |= {"producer_id": known, "producer_epoch": epoch}
            if self.chance(0.1):
                body["producer_epoch"] = -1
        for _ in range(2):  # a transaction that is open is aborted first, and the client told to try again
            answer = self.play.ask("p1", "InitProducerId", version, body)
            if not answer or answer.get("error_code") != ErrorCode.CONCURRENT_TRANSACTIONS:
                break
        if answer and not answer.get("error_code") and body["transactional_id"] == producer.name:
            producer.become(answer["producer_id"], answer.get("producer_epoch", 0))

    def identity(self, producer: Producer, wrong: float = 0.08) -> tuple[Json, int]:
        """The producer's id and epoch; with this probability others: a zombie's, a stranger's, or none."""
        right: tuple[Json, int] = producer.producer_id or UNKNOWN_PRODUCER, max(0, producer.epoch)
        if not self.chance(wrong):
            return right
        others = [(right[0], right[1] + 1), (right[0], max(0, right[1] - 1)), (5_000_001, 0), (-1, -1), (right[0], -1)]
        others += producer.former[-2:] * 2
        others += [(one.producer_id, one.epoch) for one in self.producers if one.producer_id]
        return self.pick(others)

    def name_of(self, producer: Producer, wrong: float = 0.04) -> str:
        """The producer's transactional id; seldom another."""
        return self.pick((*IDS, "")) if self.chance(wrong) else producer.name

    # What comes into a transaction.

    def add_partitions(self) -> None:
        """AddPartitionsToTxn, from version 4 on of several producers at once, or only to ask whether they are there."""
        version = self.version("AddPartitionsToTxn")
        if version < 4:
            producer = self.producer()
            body = self._who(producer) | {"topics": self._topics_to_add()}
            older = {f"v3_and_below_{key}": value for key, value in body.items()}
            answer = self.play.ask("p1", "AddPartitionsToTxn", version, older)
            self._learn_added(producer, (answer or {}).get("results_by_topic_v3_and_below", ()))
            return
        chosen = self.random.sample(self.producers, self.pick((1, 1, 2)))
        asked = [self._who(one) | {"verify_only": self.chance(0.3), "topics": self._topics_to_add()} for one in chosen]
        if len({one["transactional_id"] for one in asked}) < len(asked):
            return  # Kafka keeps what is asked for by transactional id, and mixes up who is answered what
        self.play.ask("p1", "AddPartitionsToTxn", version, {"transactions": asked})
        for one in chosen:
            one.added.clear()  # it has to ask again: what of it has come in is not looked for

    def _who(self, producer: Producer) -> dict[str, Json]:
        producer_id, epoch = self.identity(producer)
        return {"transactional_id": self.name_of(producer), "producer_id": producer_id, "producer_epoch": epoch}

    def _topics_to_add(self) -> list[Json]:
        topics = self.random.sample(sorted(self.topics), min(len(self.topics), self.pick((1, 1, 2))))
        if self.chance(0.06) or not topics:
            topics.append("<p>nope")
        return [{"name": topic, "partitions": sorted({self.partition(topic) for _ in range(2)})} for topic in topics]

    def _learn_added(self, producer: Producer, results: Json) -> None:
        for topic in results:
            for one in topic.get("results_by_partition", ()):
                if not one.get("partition_error_code"):
                    producer.added.add((topic["name"], one.get("partition_index", 0)))

    def add_offsets(self) -> None:
        """AddOffsetsToTxn."""
        producer = self.producer()
        self._add_offsets(producer, self.pick((G1, G1, G2)))

    def _add_offsets(self, producer: Producer, group: str) -> None:
        body = self._who(producer) | {"group_id": group}
        answer = self.play.ask("p1", "AddOffsetsToTxn", self.version("AddOffsetsToTxn"), body)
        if answer is not None and not answer.get("error_code"):
            producer.added.add(group)

    # What is written in it.

    def produce(self, *, right: bool = False) -> None:
        """Transactional records: into partitions that were added, or not; in order, again, or with a gap."""
        producer = self.producer()
        version = self.version("Produce", 3)
        places = dict.fromkeys(self.place() for _ in range(1 if right else self.pick((1, 1, 1, 1, 2, 3))))
        producer_id, epoch = self.identity(producer, 0.0 if right else 0.1)
        asked, following = [], {}
        for topic, partition in places:
            if topic in self.topics and version < JOINS_BY_ITSELF["Produce"] and (right or self.chance(0.5)):
                self._add(producer, (topic, partition))
            sequence = producer.sequences.get((topic, partition), 0)
            if not right and self.chance(0.15):
                sequence = self.pick((0, sequence + 1, sequence + 5, max(0, sequence - 1)))
            records = self._records()
            following[topic, partition] = sequence + len(records)
            # A plain one of no epoch of the future: the log would refuse the marker, which is not sent again.
            plain = not right and epoch <= producer.epoch and self.chance(0.06)
            batch = build_batch(
                records,
                compression=self.pick((0, 0, 0, 1, 4)),
                producer_epoch=epoch,
                base_sequence=sequence,
                attributes=0 if plain else TRANSACTIONAL,
            )
            asked.append((topic, partition, self._of(producer_id, batch)))
        wanted = None if not right and self.chance(0.05) else self.name_of(producer, 0.0 if right else 0.05)
        answer = self._produce(version, wanted, asked, self.pick((-1, -1, 1)))
        if (producer_id, epoch) == (producer.producer_id, producer.epoch):
            for place in self._written(answer).intersection(places):
                producer.sequences[place] = following[place]
                producer.added.add(place)

    def _written(self, produced: Json) -> set[Place]:
        """What an answer to Produce has no error for."""
        return {
            (topic.get("name") or self._named(topic.get("topic_id", "")), one.get("index", 0))
            for topic in (produced or {}).get("responses", ())
            for one in topic.get("partition_responses", ())
            if not one.get("error_code")
        }

    def _add(self, producer: Producer, place: Place) -> None:
        if place in producer.added:
            return
        body = {
            "v3_and_below_transactional_id": producer.name,
            "v3_and_below_producer_id": producer.producer_id or UNKNOWN_PRODUCER,
            "v3_and_below_producer_epoch": max(0, producer.epoch),
            "v3_and_below_topics": [{"name": place[0], "partitions": [place[1]]}],
        }
        version = self.pick([one for one in self.play.versions("AddPartitionsToTxn") if one <= 3])
        answer = self.play.ask("p1", "AddPartitionsToTxn", version, body)
        self._learn_added(producer, (answer or {}).get("results_by_topic_v3_and_below", ()))

    def produce_plain(self) -> None:
        """Records without a transaction, in front of which or behind which one may be open."""
        topic, partition = self.place()
        batch = build_batch(self._records())
        if self.chance(0.3):
            batch = build_batch(self._records(), producer_id=5_000_000, producer_epoch=0, base_sequence=0)
        self._produce(self.version("Produce", 3), None, [(topic, partition, batch.hex())], -1)

    def _records(self) -> list[NewRecord]:
        return [
            NewRecord(b"k%d" % self.random.randrange(3), b"v", T0 + number)
            for number in range(self.random.randint(1, 3))
        ]

    def _of(self, producer_id: Json, batch: bytes) -> str:
        """The batch as a producer's: a name of its id, or a number."""
        if isinstance(producer_id, str):
            return f"{producer_id} {batch.hex()}"
        return with_producer(batch, producer_id).hex()

    def _produce(self, version: int, name: str | None, asked: list[tuple[str, int, str]], acks: int) -> Json:
        data = [
            {"name": topic, "topic_id": self.topic_id(topic), "partition_data": [{"index": index, "records": records}]}
            for topic, index, records in asked
        ]
        body = {"transactional_id": name, "acks": acks, "timeout_ms": 5000, "topic_data": data}
        answer = self.play.ask("p1", "Produce", version, body)
        self.learn_ends(answer)
        return answer

    def commit_in_transaction(self, *, right: bool = False) -> None:
        """TxnOffsetCommit: of a group that was added, or not; by nobody, or by a member (KIP-447)."""
        producer, group = self.producer(), self.pick((G1, G1, G2))
        version = self.version("TxnOffsetCommit")
        if version < JOINS_BY_ITSELF["TxnOffsetCommit"] and (right or self.chance(0.5)) and group not in producer.added:
            self._add_offsets(producer, group)
        producer_id, epoch = self.identity(producer, 0.0 if right else 0.1)
        offsets = [self._offset() for _ in range(self.pick((1, 1, 2)))]
        if not right and self.chance(0.08):
            offsets.append(self.pick((("t1", 7, 1), ("nope", 0, 1), ("t1", 0, -1))))
        topics: list[Json] = []
        for topic, partition, offset in offsets:
            row = {"partition_index": partition, "committed_offset": offset, "committed_metadata": "m"}
            topics.append(
                {
                    "name": topic,
                    "topic_id": verbs.topic_id(topic) if topic != "nope" else "cd" * 16,
                    "partitions": [row],
                }
            )
        body: dict[str, Json] = {
            "transactional_id": self.name_of(producer, 0.0 if right else 0.05),
            "group_id": group,
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "topics": topics,
        }
        if version >= 3:
            body |= self._membership(right and group != G2)
        self.play.ask("p1", "TxnOffsetCommit", version, body)

    def _membership(self, right: bool) -> dict[str, Json]:
        nobody: dict[str, Json] = {"member_id": "", "generation_id_or_member_epoch": -1}
        if right or self.chance(0.4):
            return nobody
        known = verbs.as_member(self.member) if self.member else nobody
        wrong: tuple[dict[str, Json], ...] = (
            {"generation_id_or_member_epoch": 7},
            {"member_id": "nobody"},
            {"group_instance_id": "i1"},
        )
        return known | (self.pick(wrong) if self.chance(0.2) else {})

    def _offset(self) -> tuple[str, int, int]:
        topic = self.pick(("t1", "t1", "t2"))
        return topic, self.random.randrange(SHARED[topic]), self.random.randint(0, 99)

    # Its end.

    def end(self, *, right: bool = False) -> None:
        """EndTxn: of what is open, or not; again, with the old epoch; by a zombie."""
        producer = self.pick([one for one in self.producers if one.added] or self.producers)
        version = self.version("EndTxn")
        producer_id, epoch = self.identity(producer, 0.0 if right else 0.12)
        body = {
            "transactional_id": self.name_of(producer, 0.0 if right else 0.04),
            "producer_id": producer_id,
            "producer_epoch": epoch,
            "committed": self.chance(0.6),
        }
        answer = self.play.ask("p1", "EndTxn", version, body)
        if answer is None or answer.get("error_code") or body["transactional_id"] != producer.name:
            return
        if version >= 5 and answer.get("producer_id", -1) != -1:
            producer.become(answer["producer_id"], answer.get("producer_epoch", 0))
        producer.added.clear()
        if not right and self.chance(0.2):
            self.play.ask("p1", "EndTxn", version, body)
