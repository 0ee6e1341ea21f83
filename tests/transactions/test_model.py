"""Random lives of a few transactional ids, against a model that knows only what producers are promised."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, precondition, rule

from kafkastub.transaction_coordinator import Markers, ProducerIdAndEpoch, TopicPartition, TransactionState
from kafkawire.errors import KafkaError
from tests.transactions.context import TIMEOUT_MS, TransactionsTestContext

NAMES = ("one", "two")
PARTITIONS = [(topic, index) for topic in "ab" for index in range(2)]


@dataclass
class Promise:
    """What holds of one transactional id.

    Attributes:
        current: who may write; None before the first, and while nobody may.
        joined: the partitions of the open transaction; None where none is open.
        ending: whether it is committed, and which partitions have no marker yet.
    """

    current: ProducerIdAndEpoch | None = None
    joined: set[TopicPartition] | None = None
    ending: tuple[bool, set[TopicPartition]] | None = None
    given: list[ProducerIdAndEpoch] = field(default_factory=list)


class Lives(RuleBasedStateMachine):
    producers = Bundle("producers")

    def __init__(self) -> None:
        super().__init__()
        self.context = TransactionsTestContext()
        self.promises = {name: Promise() for name in NAMES}

    def _ended(self, name: str, commit: bool) -> None:
        """A transaction's end is decided: a marker for each of its partitions is under way, and none for others."""
        promise = self.promises[name]
        markers: Markers = self.context.under_way[-1]
        assert (markers.transactional_id, markers.commit) == (name, commit)
        assert set(markers.partitions) == (promise.joined or set())
        assert len(set(markers.partitions)) == len(markers.partitions)
        assert all((markers.producer_id, markers.producer_epoch) >= tuple(one) for one in promise.given)
        promise.ending, promise.joined = (commit, set(markers.partitions)), None

    @rule(target=producers, name=st.sampled_from(NAMES))
    def begins(self, name: str) -> object:
        promise = self.promises[name]
        context = self.context
        try:
            turn = context.settle(context.coordinator.init_producer_id(name, TIMEOUT_MS, None, context.turn()))
        except KafkaError:
            assert promise.ending is not None
            return multiple()
        assert promise.ending is None
        if turn.error:
            assert promise.joined is not None
            promise.current = None
            self._ended(name, False)
            return multiple()
        assert promise.joined is None
        who: ProducerIdAndEpoch = turn.reply
        assert all(who > one for one in promise.given), "nobody has had it before"
        promise.current = who
        promise.given.append(who)
        return (name, who)

    @rule(producer=producers, partitions=st.lists(st.sampled_from(PARTITIONS), min_size=1, max_size=3))
    def joins(self, producer: tuple[str, ProducerIdAndEpoch], partitions: list[TopicPartition]) -> None:
        name, who = producer
        promise = self.promises[name]
        try:
            self.context.add(who, *partitions, name=name)
        except KafkaError:
            assert promise.ending is not None or who != promise.current
            return
        assert promise.ending is None
        assert who == promise.current
        promise.joined = (promise.joined or set()) | set(partitions)

    @rule(target=producers, producer=producers, commit=st.booleans(), version=st.sampled_from((0, 2)))
    def ends(self, producer: tuple[str, ProducerIdAndEpoch], commit: bool, version: int) -> object:
        name, who = producer
        promise, before = self.promises[name], len(self.context.under_way)
        try:
            after = self.context.end(who, commit, name=name, version=version)
        except KafkaError:
            may = promise.ending is None and who == promise.current
            assert not (may and promise.joined is not None), "an open transaction can be ended by its producer"
            assert not (may and version == 2 and not commit), "and a version 2 producer can always abort"
            return multiple()
        if len(self.context.under_way) == before:  # asked again
            assert self.context.state(name) is (
                TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT
            )
            return multiple()
        assert who == promise.current
        assert (after > who) == (version == 2)
        self._ended(name, commit)
        promise.current = after
        promise.given.append(after)
        return (name, after)

    @precondition(lambda self: self.context.under_way)
    @rule(data=st.data())
    def writes_a_marker(self, data: st.DataObject) -> None:
        context = self.context
        at = data.draw(st.integers(0, len(context.under_way) - 1))
        markers = context.under_way[at]
        promise = self.promises[markers.transactional_id]
        assert promise.ending is not None
        commit, left = promise.ending
        done = [data.draw(st.sampled_from(sorted(left)))] if left else []
        reported = (markers.transactional_id, markers.producer_id, markers.producer_epoch)
        turn = context.settle(context.coordinator.markers_written(*reported, done, context.turn()))
        left.difference_update(done)
        assert bool(turn.records) == (not left)
        if not left:
            promise.ending = None
            context.under_way.remove(markers)
            assert context.state(markers.transactional_id) is (
                TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT
            )

    @rule(ms=st.sampled_from((1, TIMEOUT_MS // 2, TIMEOUT_MS)))
    def time_passes(self, ms: int) -> None:
        before = len(self.context.under_way)
        self.context.advance(ms)
        ended, self.context.under_way = self.context.under_way[before:], self.context.under_way[:before]
        for markers in ended:
            self.context.under_way.append(markers)
            self.promises[markers.transactional_id].current = None
            self._ended(markers.transactional_id, False)
        if ms == TIMEOUT_MS:
            assert all(promise.joined is None for promise in self.promises.values())

    @rule()
    def is_restarted(self) -> None:
        """Markers that were written may be written again: a log takes one of a transaction that has ended."""
        self.context = self.context.restarted()
        for markers in self.context.under_way:
            ending = self.promises[markers.transactional_id].ending
            assert ending is not None
            assert markers.commit == ending[0]
            assert ending[1] <= set(markers.partitions)
            ending[1].update(markers.partitions)

    @invariant()
    def what_is_told_is_so(self) -> None:
        for name, promise in self.promises.items():
            if not promise.given:
                assert not self.context.coordinator.knows(name)
                continue
            told = self.context.coordinator.describe(name)
            assert (told.state is TransactionState.ONGOING) == (promise.joined is not None)
            assert set(told.partitions) == (promise.ending[1] if promise.ending else promise.joined or set())


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
