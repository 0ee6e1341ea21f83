"""A random history: producers, zombies, nodes, clock and restarts, and after every step a look at what readers find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.list_transactions_request import ListTransactionsRequest
from kafkawire.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafkawire.records import parse_header, read_batch, split_batches
from tests.transactions.histories.model import Found, Log, Model, Partition
from tests.transactions.histories.producer import TIMEOUT_MS, Producer, commit_plainly, write_plain
from tests.transactions.histories.world import COMPACTED, GROUPS, NAMES, PARTITIONS, TOPICS, ProcessWorld, World
from tests.waiting import until

TRANSACTIONAL, CONTROL = 0x10, 0x20
ALL, COMMITTED = 0, 1
UNSTABLE = 88
_TOLD = 200
"""So many of the last steps."""
OPEN = ("Ongoing", "PrepareCommit", "PrepareAbort")


class History:
    """Steps over a world.

    Attributes:
        steps: what happened so far, for who has to understand a failure.
        told: how often which request was answered with which code.
    """

    def __init__(self, world: World, random: Random) -> None:
        self.world, self._random = world, random
        self.model = Model()
        self.steps: list[str] = []
        self.told: Counter[Any] = Counter()
        self._producers = {name: self._producer(name) for name in NAMES}
        self._zombies: list[Producer] = []
        self._read: dict[Partition, tuple[int, list[bytes]]] = {one: (0, []) for one in PARTITIONS}
        self._acts = {
            self._work: 60, self._zombie: 4, self._kill: 4, self._plain: 6,
            self._read_on: 10,
        }  # fmt: skip
        if isinstance(world, ProcessWorld):
            return
        self._acts |= {self._clock: 4, self._recreate: 1, self._hold: 3, self._release: 3}
        if len(world.running()) > 1:
            self._acts |= {self._stop: 3, self._start: 4, self._move: 4}
        if world.is_kept:
            self._acts |= {self._restart: 2}

    def run(self, steps: int) -> None:
        """So many steps, then everything comes to its end. Raises AssertionError with the steps."""
        self.take(steps)
        self.settle()

    def take(self, steps: int) -> None:
        """So many steps. Raises AssertionError with all of them, and Unanswered."""
        with self._telling():
            for _ in range(steps):
                act = self._random.choices(list(self._acts), list(self._acts.values()))[0]
                self.steps.append(f"{act.__name__[1:]}:")
                self.steps[-1] += f" {act()}"
                self._look_at(self._random.choice(PARTITIONS))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            error.add_note("\n".join(self.steps[-_TOLD:]))
            raise

    def settle(self) -> None:
        """Nothing hinders anything any more, and new producers end what was left open: then all is whole."""
        with self._telling():
            self._settle()

    def _settle(self) -> None:
        self.world.calm_down()
        until(self._is_quiet, "every marker")
        for name in NAMES:
            one = self._producer(name)
            until(partial(_begins, one), f"{name} to begin")
        self.look(settled=True)
        if self.world.is_kept:
            self.world.restart(killed=False)
            self.look(settled=True)

    def look(self, settled: bool = False) -> None:
        """At everything."""
        for partition in PARTITIONS:
            while self._reads_on(partition):
                pass
            log = self._look_at(partition)
            assert log is not None or not settled
            if settled and log is not None:
                assert not log.pending
                assert self._read[partition][1] == log.visible or partition[0] == COMPACTED
        for group in GROUPS:
            self._look_at_group(group, settled)

    # -- acts -------------------------------------------------------------------------------------------------------

    def _producer(self, name: str) -> Producer:
        adds = self._random.random() < 0.5
        return Producer(name, adds, self.world, self.model, self._random, self.told)

    def _work(self) -> str:
        name = self._random.choice(NAMES)
        if self._producers[name].over:
            self._producers[name] = self._producer(name)
        one = self._producers[name]
        return f"{one} {one.step()}"

    def _kill(self) -> str:
        name = self._random.choice(NAMES)
        self._zombies.append(self._producers[name])
        self._producers[name] = self._producer(name)
        return name

    def _zombie(self) -> str:
        alive = [one for one in self._zombies if not one.over and one.id >= 0]
        if not alive:
            return "none"
        one = self._random.choice(alive)
        return f"{one} {one.step()}"

    def _plain(self) -> str:
        partition = self._random.choice(PARTITIONS)
        if self._random.random() < 0.5:
            return write_plain(self.world, self.model, partition)
        return commit_plainly(self.world, self.model, self._random.choice(GROUPS), partition)

    def _hold(self) -> str:
        name = self._random.choice(NAMES)
        self.world.hold(name)
        return name

    def _release(self) -> str:
        name = self._random.choice(NAMES)
        self.world.release(name)
        return name

    def _clock(self) -> str:
        timers = self._random.random() < 0.5
        ms = self._random.choice((1, TIMEOUT_MS // 2, TIMEOUT_MS + 20_000, 3_600_000, 8 * 86_400_000))
        self.world.stub.clock.advance(milliseconds=ms, timers=timers)
        if timers and ms > TIMEOUT_MS and self.world.is_calm:
            until(self._is_quiet, "every marker")
            late = self._open_transactions()
            assert not late, f"open beyond their timeouts: {late}"
        return f"{ms} {timers}"

    def _stop(self) -> str:
        node = self._random.choice(self.world.running())
        if len(self.world.running()) == 1:
            return "only one is left"
        self.world.stop_node(node)
        return str(node)

    def _start(self) -> str:
        if not self.world.away:
            return "all are there"
        node = self._random.choice(sorted(self.world.away))
        self.world.start_node(node)
        return str(node)

    def _move(self) -> str:
        topics = {**TOPICS, COMPACTED: 1, "__transaction_state": 2, "__consumer_offsets": 2}
        topic = self._random.choice(list(topics))
        partition, node = self._random.randrange(topics[topic]), self._random.choice(self.world.running())
        if self.world.leader(topic, partition) < 0:
            return "nobody leads"
        self.world.stub.move_leader(topic, partition, node)
        return f"{topic}-{partition} to {node}"

    def _recreate(self) -> str:
        """A topic is deleted in the middle of transactions, and comes again."""
        self.world.recreate("b")
        self.model.forget("b")
        self._read["b", 0] = 0, []
        return "b"

    def _restart(self) -> str:
        killed = self._random.random() < 0.5
        self.world.restart(killed)
        self.look()
        return "killed" if killed else "closed"

    def _read_on(self) -> str:
        partition = self._random.choice(PARTITIONS)
        return f"{partition} {self._reads_on(partition)}"

    # -- what there is ----------------------------------------------------------------------------------------------

    def _fetch(self, partition: Partition, offset: int, isolation: int, size: int = 1 << 20) -> Any:
        """None where nobody leads."""
        if (leader := self.world.leader(*partition)) < 0:
            return None
        asked = FetchPartition(partition[1], fetch_offset=offset, partition_max_bytes=size)
        topics = [FetchTopic(partition[0], partitions=[asked])]
        request = FetchRequest(max_wait_ms=0, max_bytes=size, isolation_level=isolation, topics=topics)
        row = self.world.ask(leader, request, 11).responses[0].partitions[0]
        assert row.error_code == 0, f"a Fetch of {partition} at {offset} is answered {row.error_code}"
        return row

    def _batches(self, partition: Partition) -> Iterator[Found]:
        offset = 0
        while (row := self._fetch(partition, offset, ALL)).records:
            for _, batch in split_batches(row.records):
                header, records = parse_header(batch), list(read_batch(batch))
                assert header.base_offset == offset or (partition[0] == COMPACTED and header.base_offset > offset)
                offset = header.last_offset + 1
                commits = (records[0].key or b"")[3] == 1 if header.attributes & CONTROL and records else None
                rows = [(one.offset, one.value or b"") for one in records if not header.attributes & CONTROL]
                transactional = bool(header.attributes & TRANSACTIONAL)
                yield Found(header.producer_id, commits, header.base_offset, offset, transactional, rows)

    def _look_at(self, partition: Partition) -> Log | None:
        if self.world.leader(*partition) < 0:
            return None
        log = self.model.look_at(partition, self._batches(partition))
        start = self._random.choice((0, self._random.randint(0, log.end)))
        row = self._fetch(partition, start, COMMITTED)
        assert row.last_stable_offset == log.last_stable_offset, f"{row.last_stable_offset}, not {log}"
        assert row.high_watermark == log.end
        limit, told = log.last_stable_offset, {(one.producer_id, one.first_offset) for one in row.aborted_transactions}
        read, _ = _as_a_reader(row, start)
        if self._all_in(row) == limit:
            behind = {(who, first) for who, first, last in log.aborted if last >= start}  # may be told, as Kafka does
            wanted = {(who, first) for who, first in behind if first < limit}
            if partition[0] != COMPACTED:
                assert wanted <= told <= behind, f"aborted of {partition} from {start}: {told}, not {wanted}"
            assert read == [value for offset, value in sorted(log.stable) if start <= offset < limit]
        return log

    @staticmethod
    def _all_in(row: Any) -> int:
        ends = [parse_header(batch).last_offset + 1 for _, batch in split_batches(row.records or b"")]
        return ends[-1] if ends else -1

    def _reads_on(self, partition: Partition) -> int:
        """A reader takes what comes next, a few batches; how many offsets it went on."""
        offset, values = self._read[partition]
        row = self._fetch(partition, offset, COMMITTED, self._random.choice((1, 200, 1 << 20)))
        if row is None:
            return 0
        more, after = _as_a_reader(row, offset)
        self._read[partition] = after, values + more
        return after - offset

    def _look_at_group(self, group: str, settled: bool) -> None:
        if (coordinator := self.world.group_coordinator(group)) < 0:
            return
        for name, index in PARTITIONS:
            for stable in (False, True):
                topics = [OffsetFetchRequestTopics(name, partition_indexes=[index])]
                asked = OffsetFetchRequest(
                    groups=[OffsetFetchRequestGroup(group, topics=topics)], require_stable=stable
                )
                (told,) = self.world.ask(coordinator, asked, 8).groups
                row = told.topics[0].partitions[0]
                wanted, may_be_pending = self.model.may_be_committed(group, (name, index), settled)
                if row.error_code == UNSTABLE:
                    assert stable
                    assert may_be_pending, f"{group} has pending offsets of {name}-{index} for ever"
                else:
                    assert row.error_code == 0
                    found = row.committed_offset
                    assert found in wanted, f"{group} is at {found} of {name}-{index}, not {wanted}"

    def _open_transactions(self) -> list[tuple[str, str]]:
        answers = [self.world.ask(node, ListTransactionsRequest(OPEN), 1) for node in self.world.running()]
        return [
            (one.transactional_id, one.transaction_state) for answer in answers for one in answer.transaction_states
        ]

    def _is_quiet(self) -> bool:
        """Whether every marker is written."""
        return all(state == "Ongoing" for _, state in self._open_transactions())


def _begins(producer: Producer) -> bool:
    return producer.init() == ErrorCode.NONE


def _as_a_reader(row: Any, offset: int) -> tuple[list[bytes], int]:
    """What a client passes on of an answer for who reads committed records; where it goes on. Kafka: CompletedFetch."""
    found, left_out = list[bytes](), set[int]()
    aborted = sorted((one.first_offset, one.producer_id) for one in row.aborted_transactions or ())
    for _, batch in split_batches(row.records or b""):
        header = parse_header(batch)
        while aborted and aborted[0][0] <= header.last_offset:
            left_out.add(aborted.pop(0)[1])
        if header.attributes & CONTROL:
            left_out.discard(header.producer_id)
        elif header.producer_id not in left_out or not header.attributes & TRANSACTIONAL:
            found += [record.value or b"" for record in read_batch(batch) if record.offset >= offset]
        offset = max(offset, header.last_offset + 1)
    return found, offset
