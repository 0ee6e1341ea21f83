"""A producer with a transactional id that takes step after step, and notes what it was told."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from kafkawire.errors import ErrorCode as E
from kafkawire.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.end_txn_request import EndTxnRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.transactions.histories.model import Model, OffsetCommitted, Partition, Told, Transaction, Written
from tests.transactions.histories.world import GROUPS, PARTITIONS, World

TRANSACTIONAL = 0x10
KEYS = [b"x", b"y", b"z"]
T0 = 1_700_000_000_000
TIMEOUT_MS = 60_000
AWAY = -1
"""The error code of nobody who could be asked."""
LATER = (
    AWAY, E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR, E.COORDINATOR_NOT_AVAILABLE, E.COORDINATOR_LOAD_IN_PROGRESS,
    E.CONCURRENT_TRANSACTIONS, E.NOT_ENOUGH_REPLICAS,
)  # fmt: skip
"""Refused now: again later."""
FENCED = (
    E.INVALID_PRODUCER_EPOCH, E.PRODUCER_FENCED, E.INVALID_PRODUCER_ID_MAPPING, E.INVALID_TXN_STATE,
    E.TRANSACTION_ABORTABLE, E.OUT_OF_ORDER_SEQUENCE_NUMBER,
)  # fmt: skip
"""Refused for good: another producer has to begin anew."""


class Producer:
    """Of one transactional id; there may be several of the same, of which the older ones are zombies.

    Attributes:
        adds: whether it says before it writes which partition it is (KIP-98), or adds by writing (KIP-890).
        unsure: the batch, and the end, that nobody answered.
    """

    def __init__(self, name: str, adds: bool, world: World, model: Model, random: Random, told: Counter[Any]) -> None:
        self.name, self.adds = name, adds
        self._world, self._model, self._random, self._told = world, model, random, told
        self.id, self.epoch = -1, -1
        self.over = False
        self._sequences: dict[Partition, int] = {}
        self._added: set[Partition | str] = set()
        self._transaction: Transaction | None = None
        self._unsure: tuple[Written, bytes] | None = None
        self._ending: bool | None = None
        self._recovering = False

    def __repr__(self) -> str:
        return f"{self.name}({self.id}, {self.epoch}, {'v1' if self.adds else 'v2'})"

    def step(self) -> str:
        """Whatever comes next; gives what it was."""
        if self.id < 0:
            return f"init {self.init()}"
        if self._recovering:
            return f"recover {self.recover()}"
        if self._unsure is not None:
            return f"again {self._produce(*self._unsure)}"
        if self._ending is not None:
            return f"end again {self.end(self._ending)}"
        kind = self._random.choices(("write", "offset", "commit", "abort", "recover"), (6, 2, 3, 1.5, 0.3))[0]
        if kind == "recover":
            return f"recover {self.recover()}"
        if kind == "write":
            return f"write {self.write(self._random.choice(PARTITIONS))}"
        if kind == "offset":
            return f"offset {self.commit_offset(self._random.choice(GROUPS), self._random.choice(PARTITIONS))}"
        if self._transaction is None:
            return "nothing"
        return f"{kind} {self.end(kind == 'commit')}"

    def init(self) -> int:
        answer = self._ask(self._world.coordinator(self.name), InitProducerIdRequest(self.name, TIMEOUT_MS), 4)
        code = self._noted("init", AWAY if answer is None else answer.error_code, E.NONE, *LATER)
        if code == E.NONE:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
        return code

    def recover(self) -> int:
        """Give the open transaction up and go on with an epoch of its own (KIP-360)."""
        self._recovering = True
        if self._transaction is not None and self._transaction.commit is Told.NOTHING:
            return AWAY  # it may be committed
        request = InitProducerIdRequest(self.name, TIMEOUT_MS, self.id, self.epoch)
        answer = self._ask(self._world.coordinator(self.name), request, 4)
        code = AWAY if answer is None else answer.error_code
        if not self._refused("recover", code):
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences.clear()
            self._added.clear()
            self._transaction = self._unsure = self._ending = None
            self._recovering = False
        return code

    def write(self, partition: Partition) -> str:
        transaction = self._open()
        # Who does not add where his marker is under way writes into the transaction that has ended, at Kafka's as well.
        adds = partition in self._sequences or self._random.random() < 0.95
        if self.adds and partition not in self._added and adds:
            topics = [AddPartitionsToTxnTopic(partition[0], [partition[1]])]
            request = AddPartitionsToTxnRequest((), self.name, self.id, self.epoch, topics)
            answer = self._ask(self._world.coordinator(self.name), request, 3)
            code = AWAY
            if answer is not None:
                code = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            if self._refused("add", code):
                return f"{partition} not added: {code}"
            self._added.add(partition)
        one = self._model.write(partition, self._random.choices(KEYS, k=self._random.randint(1, 3)), transaction)
        batch = build_batch(
            [NewRecord(key, value, T0) for key, value in zip(one.keys, one.values, strict=True)],
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences.get(partition, 0),
            attributes=TRANSACTIONAL,
        )
        return f"{partition} {one.values} {self._produce(one, batch)}"

    def _produce(self, one: Written, batch: bytes) -> int:
        topic, index = one.partition
        data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(index, batch)])]
        request, version = ProduceRequest(self.name, -1, 10_000, data), 9 if self.adds else 12
        again = self._unsure is not None
        self._unsure = one, batch
        answer = self._ask(self._world.leader(topic, index), request, version)
        row = None if answer is None else answer.responses[0].partition_responses[0]
        if row is None or self._refused("produce", row.error_code):
            self._unsure = (one, batch) if again and not self.over else None
            one.told = one.told if again else Told.REFUSED
            return AWAY if row is None else int(row.error_code)
        self._unsure = None
        one.told, one.offset = Told.DONE, row.base_offset
        self._sequences[one.partition] = self._sequences.get(one.partition, 0) + len(one.values)
        if self._random.random() < 0.1:  # its answer was lost
            row = self._ask(self._world.leader(topic, index), request, version).responses[0].partition_responses[0]
            assert (row.error_code, row.base_offset) == (0, one.offset), f"the same batch again is {row.error_code}"
        return int(row.error_code)

    def commit_offset(self, group: str, partition: Partition) -> str:
        transaction = self._open()
        if self.adds and group not in self._added:
            request = AddOffsetsToTxnRequest(self.name, self.id, self.epoch, group)
            answer = self._ask(self._world.coordinator(self.name), request, 3)
            if self._refused("add offsets", AWAY if answer is None else answer.error_code):
                return f"{group} not added"
            self._added.add(group)
        one = self._model.commit_offset(group, partition, transaction)
        rows = [TxnOffsetCommitRequestPartition(partition[1], one.offset)]
        topics = [TxnOffsetCommitRequestTopic(partition[0], partitions=rows)]
        commit = TxnOffsetCommitRequest(self.name, group, self.id, self.epoch, topics=topics)
        answer = self._ask(self._world.group_coordinator(group), commit, 3 if self.adds else 5)
        code = AWAY if answer is None else answer.topics[0].partitions[0].error_code
        one.told = Told.REFUSED if self._refused("offset", code) else Told.DONE
        return f"{group} {partition} {one.offset}: {code}"

    def end(self, commit: bool) -> int:
        transaction = self._open()
        request, version = EndTxnRequest(self.name, self.id, self.epoch, commit), 3 if self.adds else 5
        before, self._ending = transaction.commit, commit
        if commit and before is not Told.DONE:
            transaction.commit = Told.NOTHING
        answer = self._ask(self._world.coordinator(self.name), request, version)
        code = AWAY if answer is None else answer.error_code
        if self._refused("end", code):
            transaction.commit = before
            return code
        if commit:
            transaction.commit = Told.DONE
        if self._random.random() < 0.2:  # its answer was lost
            same = self._ask(self._world.coordinator(self.name), request, version)
            assert same.error_code in (E.NONE, E.CONCURRENT_TRANSACTIONS), f"the same end again is {same.error_code}"
            if version >= 5 and same.error_code == E.NONE:
                assert (same.producer_id, same.producer_epoch) == (answer.producer_id, answer.producer_epoch)
        if not self.adds:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences.clear()
        self._transaction = self._ending = None
        self._added.clear()
        return code

    def _open(self) -> Transaction:
        if self._transaction is None:
            self._transaction = Transaction(self.name)
        return self._transaction

    def _ask(self, node: int, request: Message, version: int) -> Any:
        """None where there is nobody to ask. Raises Unanswered."""
        return None if node < 0 else self._world.ask(node, request, version)

    def _refused(self, what: str, code: int) -> bool:
        self._noted(what, code, E.NONE, *LATER, *FENCED)
        self.over = self.over or code in FENCED
        return code != E.NONE

    def _noted(self, what: str, code: int, *expected: int) -> int:
        self._told[what, code] += 1
        assert code in expected, f"{what} of {self} is answered {code}"
        return code


def write_plain(world: World, model: Model, partition: Partition) -> str:
    """One record that is of no transaction."""
    if (leader := world.leader(*partition)) < 0:
        return "nobody leads"
    one = model.write(partition, [KEYS[0]], None)
    batch = build_batch([NewRecord(KEYS[0], one.values[0], T0)])
    data = [TopicProduceData(name=partition[0], partition_data=[PartitionProduceData(partition[1], batch)])]
    row = world.ask(leader, ProduceRequest(None, -1, 10_000, data), 9).responses[0].partition_responses[0]
    assert row.error_code == 0
    one.told, one.offset = Told.DONE, row.base_offset
    return f"{one.values}"


def commit_plainly(world: World, model: Model, group: str, partition: Partition) -> str:
    """An offset that is of no transaction."""
    if (coordinator := world.group_coordinator(group)) < 0:
        return "nobody coordinates"
    one: OffsetCommitted = model.commit_offset(group, partition, None)
    rows = [OffsetCommitRequestPartition(partition[1], one.offset, -1, "")]
    request = OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(name=partition[0], partitions=rows)])
    row = world.ask(coordinator, request, 8).topics[0].partitions[0]
    assert row.error_code == 0
    one.told = Told.DONE
    return f"{one.offset}"
