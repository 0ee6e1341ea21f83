"""Random scenarios of transactions from a seed: producers with transactional ids, zombies, and who reads behind them.

Most requests make sense, as producer ids, epochs and sequences are learned from answers; a part is spoilt on purpose.
Both ways to put a partition into a transaction are asked for: AddPartitionsToTxn and AddOffsetsToTxn before older
versions of Produce and TxnOffsetCommit, and the newer versions alone (KIP-890).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_admin import Administration
from kafkastub_conformance.differential.data_fetches import ENOUGH, Fetches
from kafkastub_conformance.differential.play import PARKED_MS, Play
from kafkastub_conformance.differential.script import G1, G2, Script
from kafkastub_conformance.differential.transactional import IDS, UNKNOWN_PRODUCER, Producers

STEPS = 40
WITHOUT = "transactions-0"
VERSIONS = ("transactions", "transactions", "transactions", "transactions-1", "transactions-1", WITHOUT)
"""Names of settings: the level of the feature transaction.version is that of the name, 2 where it has none."""

GROUPS = (G1, G2)
STATES = ("Ongoing", "Empty", "CompleteCommit", "CompleteAbort", "PrepareAbort", "Dead", "PrepareEpochFence", "odd", "")
PATTERNS = ("", ".*tx1", ".*-tx[12]", "nothing", "[", None)


def transactions_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(
        f"transactions-{seed}",
        lambda play: TransactionsGenerator(play, seed).run(steps),
        GROUPS,
        config_of(seed),
        IDS[:2],
    )


def config_of(seed: int) -> str:
    """The settings that a seed's scenario is for."""
    return VERSIONS[seed % len(VERSIONS)]


class TransactionsGenerator(Producers, Fetches, Administration):
    """One scenario in the making."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, random.Random(f"transactions-{seed}"))
        # Without the feature a coordinator cannot write what newer versions ask for, and hangs in that (KIP-890).
        self.adds_first = config_of(seed) == WITHOUT

    def run(self, steps: int) -> None:
        """Create topics and producers, play until there are so many steps."""
        for kind in ("plain", "plain", self.pick(("compact", "stamped", "small"))):
            self._create(kind)
        for producer in self.producers:
            if self.chance(0.8):
                self._init(producer, right=True)
        self.play.fill(steps, self.random, self.acts())
        self.end_sessions()

    def acts(self) -> dict[Callable[[], object], int]:
        """What is done, and how often."""
        return {
            self.init: 6,
            self.transact: 22,
            self.add_partitions: 8,
            self.add_offsets: 5,
            self.produce: 18,
            self.produce_plain: 3,
            self.commit_in_transaction: 12,
            self.commit_plain: 2,
            self.end: 14,
            self.fetch: 10,
            self.fetch_in_session: 3,
            self.fetch_and_wait: 1,
            self.list_offsets: 5,
            self.describe_producers: 3,
            self.describe: 2,
            self.list: 3,
            self.write_markers: 2,
            self.delete_records: 2,
            self.offset_fetch: 6,
            self.offset_delete: 2,
            self.delete_groups: 1,
            self.join: 1,
            self.find_coordinator: 1,
            self.delete_topics: 1,
        }

    def transact(self) -> None:
        """What a client does that knows what it wants: some records or offsets, and an end to them now and then."""
        self.pick((self.produce, self.produce, self.commit_in_transaction, self.end))(right=True)

    # Reading.

    def _limits(self) -> dict[str, Json]:
        return {
            "max_wait_ms": 0,
            "min_bytes": self.pick((0, 1)),
            "max_bytes": self.pick((ENOUGH, ENOUGH, ENOUGH, 300)),
            "isolation_level": self.pick((0, 1, 1, 1)),
            "replica_id": -1,
        }

    def _asked(self, topic: str, index: int) -> Json:
        end = self.ends.get((topic, index), 0)
        return {
            "partition": index,
            "current_leader_epoch": -1,
            "fetch_offset": self.pick((0, 0, 0, 0, end, self.random.randint(0, end), end + 9)),
            "last_fetched_epoch": -1,
            "log_start_offset": -1,
            "partition_max_bytes": self.pick((ENOUGH, ENOUGH, ENOUGH, 200)),
        }

    def fetch_and_wait(self) -> None:
        """A long poll for what is committed: the end of a transaction releases it, or nothing."""
        if self.play.stage.waits("w1") or not self.topics:
            return
        topic = self.pick(list(self.topics))
        end = self.ends.get((topic, 0), 0)
        asked = {"partition": 0, "fetch_offset": self.pick((end, max(0, end - 1))), "partition_max_bytes": ENOUGH}
        named = {"topic": topic, "topic_id": self.topic_id(topic, may_be_zero=False), "partitions": [asked]}
        body = {
            "max_wait_ms": 6 * PARKED_MS,
            "min_bytes": 1,
            "max_bytes": ENOUGH,
            "isolation_level": 1,
            "session_epoch": -1,
            "topics": [named],
        }
        self.play.ask("w1", "Fetch", self.version("Fetch", 4), body)

    def list_offsets(self) -> None:
        """The ends as both isolation levels see them, the beginning, the highest timestamp."""
        topics = [
            {
                "name": topic,
                "partitions": [
                    {
                        "partition_index": index,
                        "current_leader_epoch": -1,
                        # By the broker's stamp two records may be of the same millisecond, or not.
                        "timestamp": self.pick((-1, -1, -2, 0 if topic.startswith("<p>stamped") else -3, 0)),
                    }
                    for index in range(count)
                ],
            }
            for topic, count in self.topics.items()
        ]
        body = {"replica_id": -1, "isolation_level": self.pick((0, 1, 1)), "topics": topics}
        self.play.ask("c1", "ListOffsets", self.version("ListOffsets", 2), body)

    def describe_producers(self) -> None:
        """Who writes into the partitions, and where their transactions began."""
        topics = [{"name": name, "partition_indexes": list(range(count))} for name, count in self.topics.items()]
        if self.chance(0.2):
            topics.append({"name": "<p>nope", "partition_indexes": [0]})
        self.play.ask("a1", "DescribeProducers", self.version("DescribeProducers"), {"topics": topics})

    def describe(self) -> None:
        """Of known and unknown ids."""
        ids = [self.pick((*IDS, "")) for _ in range(self.random.randint(0, 3))]
        self.play.ask("a1", "DescribeTransactions", self.version("DescribeTransactions"), {"transactional_ids": ids})

    def list(self) -> None:
        """All, or by state, producer id, age and pattern."""
        body: dict[str, Json] = {
            "state_filters": [self.pick(STATES) for _ in range(self.pick((0, 0, 1, 2)))],
            "producer_id_filters": [
                self.pick(self.producers).producer_id or UNKNOWN_PRODUCER for _ in range(self.pick((0, 0, 0, 1)))
            ],
        }
        version = self.version("ListTransactions")
        if version >= 1:
            body["duration_filter"] = self.pick((-1, -1, 3_600_000))
        if version >= 2 and self.chance(0.5):
            body["transactional_id_pattern"] = self.pick(PATTERNS)
        self.play.ask("a1", "ListTransactions", version, body)

    def find_coordinator(self) -> None:
        """Of transactional ids."""
        version = self.version("FindCoordinator", 1)
        keys = self.random.sample((*IDS, ""), self.pick((1, 1, 2)))
        verbs.find_coordinator(self.play, "c1", *keys, version=version, key_type=1)

    # What tools do.

    def write_markers(self) -> None:
        """Markers as a coordinator sends them: of a producer that is there.

        None of an epoch of the future: the coordinator's own would be refused behind it, and never be sent again. No
        partition twice: Kafka 4.4.0 does not answer that.
        """
        producer = self.producer()
        topics = [
            {"name": self.pick(list(self.topics) or ["<p>nope"]), "partition_indexes": self.pick(([0], [0, 1], [0, 9]))}
        ]
        if self.chance(0.1):
            topics.append({"name": "<p>nope", "partition_indexes": [0]})
        marker = {
            "producer_id": producer.producer_id or UNKNOWN_PRODUCER,
            "producer_epoch": max(0, producer.epoch - self.pick((0, 0, 0, 1))),
            "transaction_result": self.chance(0.5),
            "topics": topics,
            "coordinator_epoch": self.pick((0, 0, 0, -1)),
            "transaction_version": self.pick((0, 1, 2, 2)),
        }
        self.play.ask("a1", "WriteTxnMarkers", self.version("WriteTxnMarkers"), {"markers": [marker]})

    def delete_records(self) -> None:
        """To the end, or before it: mostly into the middle of a batch, of an open transaction maybe."""
        topic, partition = self.place()
        end = self.ends.get((topic, partition), 0)
        rows = [{"partition_index": partition, "offset": self.pick((-1, end, *[self.random.randint(0, end)] * 4))}]
        body = {"topics": [{"name": topic, "partitions": rows}], "timeout_ms": 5000}
        self.play.ask("a1", "DeleteRecords", self.version("DeleteRecords"), body)

    # Groups.

    def commit_plain(self) -> None:
        """An offset without a transaction, by nobody in particular."""
        version = self.version("OffsetCommit", 2)
        more = verbs.as_member(self.member) if self.member and self.chance(0.5) else {}
        verbs.commit(self.play, "c1", G2 if more else self.pick(GROUPS), [self._offset()], version, **more)

    def offset_fetch(self) -> None:
        """What is committed; and what is about to be, which some ask not to be kept from them."""
        version = self.version("OffsetFetch", 1)
        more = {"require_stable": self.chance(0.7)} if version >= 7 else {}
        topics = None if version >= 2 and self.chance(0.4) else {"t1": [0, 1, 2], "t2": [0]}
        verbs.fetch(self.play, "c1", self.pick(GROUPS), topics, version, **more)

    def offset_delete(self) -> None:
        """Of partitions of which an offset may be pending."""
        verbs.offset_delete(self.play, "a1", self.pick(GROUPS), {"t1": [self.pick((0, 1, 2))]})

    def delete_groups(self) -> None:
        """Of groups of which offsets may be pending."""
        verbs.delete_groups(self.play, "a1", self.pick(GROUPS), version=self.version("DeleteGroups"))

    def join(self) -> None:
        """The only member of a group joins it and gets its assignment, again if it is there already."""
        version = self.newest("JoinGroup", 9)
        if self.member:
            found = verbs.join(self.play, "m1", G2, version, self.member["member_id"])
        else:
            found = verbs.join_fully(self.play, "m1", G2, version)
        if found and not found.get("error_code"):
            self.member = found
            verbs.sync(self.play, "m1", G2, found, self.newest("SyncGroup", 5))
        else:
            self.member = None
