"""Dead letters on their way from share partitions to the topics of their groups (KIP-1191).

Kafka: DefaultShareGroupDLQManager, ShareGroupDLQStateManager. There they go over the network, by Produce requests of
the broker; here they are written at once, but for what waits for a leader, or for its turn: a group may reject some
thousand records in one request, and others are not to wait for that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from kafkastub.config import topic_settings
from kafkastub.config.definition import parse
from kafkastub.config.kafka_table import GROUP
from kafkastub.deadlines import Deadline, Deadlines
from kafkastub.metadata import Topic
from kafkastub.share_partitions.dead_letters import Copier, DeadLetter, Origin, Pages, Rules, dead_records, refusal
from kafkastub.state.in_sync import check_in_sync
from kafkastub.state.rate_limiter import RateLimiter
from kafkastub.state.share_coordinator.needed_state import NeededState
from kafkastub.storage import PartitionLog
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.records import HEADER_SIZE, BatchHeader, build_batch

TOPIC_NAME: Final = "errors.deadletterqueue.topic.name"
COPY_RECORD: Final = "errors.deadletterqueue.copy.record.enable"
ENABLED: Final = "errors.deadletterqueue.group.enable"
AUTO_CREATE: Final = "errors.deadletterqueue.auto.create.topics.enable"
PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"
_SHARE_VERSION: Final = "share.version"
_HAS_DEAD_LETTERS: Final = 2
"""The level of share.version that has them."""

_AT_ONCE: Final = 300
"""Offsets that are gone through before others have their turn; some milliseconds."""
_MOST_RECORDS: Final = 250
"""In one batch: putting it together is one step."""
_MOST_OFFSETS: Final = 250_000
"""Of one letter: a batch that nobody has looked into may say that it has two thousand millions."""
_ATTEMPTS: Final = 5
_BACKOFF_MS: Final = 1_000
_JITTER: Final = 0.2
_TOO_LONG: Final = f"{{}} records that were given up together are too many, allowed are {_MOST_OFFSETS}"
_COME_BACK: Final = frozenset((ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.TOPIC_ALREADY_EXISTS))
"""Tried again in a while."""

_SOON: Final = 0
"""A timer time that has come."""

Moment = tuple[int, int]
"""Broker time and timer time, in ms."""
Archive = Callable[[DeadLetter, Moment], None]
"""Archives what has its dead letter, or will have none; does not raise."""


def dead_letter_topic(state: NeededState, group_id: str) -> str:
    """The name of the group's dead-letter topic; "" where its rejected records are archived at once.

    So it is too where the finalized share.version knows none (SharePartition.isDLQEnabledForGroup).
    """
    texts = state.cluster.group_configs.get(group_id)
    name = "" if texts is None else texts.get(TOPIC_NAME, "")
    return name if name and state.features.level(_SHARE_VERSION) >= _HAS_DEAD_LETTERS else ""


class _Place(NamedTuple):
    """Where dead letters are written."""

    topic: Topic
    partition: int
    log: PartitionLog


class _Task:
    """Dead letters of one share partition, and how far they are.

    Attributes:
        left: those that are not wholly written yet.
        next_offset: where the first of them goes on; None: at its beginning.
        attempts: how often it came to nothing, one after the other.
        again: when it is tried again.
    """

    __slots__ = ("again", "archive", "attempts", "gone", "left", "next_offset", "origin", "steps", "topic_id")

    def __init__(self, origin: Origin, topic_id: bytes, letters: Sequence[DeadLetter], archive: Archive) -> None:
        self.origin = origin
        self.topic_id = topic_id
        self.left = deque(letters)
        self.archive = archive
        self.next_offset: int | None = None
        self.attempts = 0
        self.gone = False
        self.steps: Iterator[None] | None = None
        self.again: Deadline[Any] | None = None

    def first_of(self, letter: DeadLetter) -> int:
        """The offset that it goes on with."""
        goes_on = self.next_offset is not None and letter is self.left[0]
        return self.next_offset if goes_on and self.next_offset is not None else letter.first_offset


class DeadLetters:
    """Those of one broker; a part of what drives its share partitions.

    Attributes:
        written: so many dead letters.
        failed: so many records that were given up have none.
    """

    def __init__(self, state: NeededState) -> None:
        self._state = state
        self._queue: deque[_Task] = deque()
        self._waiting: set[_Task] = set()
        self._deadlines: Deadlines[Any] = Deadlines()
        self._deadlines.mark_dirty = state.mark_dirty
        self._turn: Deadline[Any] = Deadline(("dead letters",), lambda _: None)
        self._at_work = False
        self._now: Moment = (0, 0)
        self._warnings = RateLimiter()
        self.written = 0
        self.failed = 0

    def count_on(self, before: DeadLetters) -> None:
        """It takes another one's place: its meters go on."""
        self.written, self.failed = before.written, before.failed

    def __len__(self) -> int:
        """How many share partitions have some that are under way."""
        return len(self._queue) + len(self._waiting)

    def enabled(self, group_id: str) -> bool:
        """Whether the group has a dead-letter topic, and the cluster's share.version has them (2 on).

        What it rejects, or was delivered too often, is then ARCHIVING until its dead letter is written.
        """
        return bool(dead_letter_topic(self._state, group_id))

    def send(
        self,
        group_id: str,
        topic_id: bytes,
        partition: int,
        letters: Sequence[DeadLetter],
        archive: Archive,
        now: Moment,
    ) -> None:
        """Write the dead letters of a share partition, whose ARCHIVING state is persisted; never raises.

        `archive` is called once for each, written or given up, be it before this returns or when time has passed (a
        topic that has no leader is tried five times): the partition archives the offsets then, and has that persisted.
        """
        if not letters:
            return
        topic = self._state.cluster.topic_by_id(topic_id)
        name = topic_id.hex() if topic is None else topic.name
        origin = Origin(group_id, name, partition)
        good = [letter for letter in letters if not _is_too_long(letter)]
        for some in (good, *([letter] for letter in letters if _is_too_long(letter))):
            if some:
                self._queue.append(_Task(origin, topic_id, some, archive))
        self._go_on(now)

    def forget(self, keys: Collection[tuple[str, bytes, int]]) -> None:
        """These share partitions (group, topic id, partition) are not led here any more: who reads their state next
        finds them ARCHIVING, and sends them.
        """
        for task in (*self._queue, *self._waiting):
            if (task.origin.group_id, task.topic_id, task.origin.partition) in keys:
                self._drop(task)

    def clear(self) -> None:
        """Nothing is under way."""
        for task in (*self._queue, *self._waiting):
            self._drop(task)

    def _drop(self, task: _Task) -> None:
        task.gone = True
        self._waiting.discard(task)
        if task.again is not None:
            task.again.cancel()

    def next_deadline(self) -> int | None:
        """Timer time (ms) at which something is tried again, or has its turn."""
        return self._deadlines.next()

    def expire(self, broker_ms: int, timer_ms: int) -> None:
        """Try again what is due, and go on with what had to let others pass."""
        for deadline in self._deadlines.due(timer_ms):
            deadline.fire((broker_ms, timer_ms))
        self._go_on((broker_ms, timer_ms))

    # -- in turns --------------------------------------------------------------------------------------------------

    def _go_on(self, now: Moment) -> None:
        """Work off some of the queue. What is sent meanwhile, because something was archived, is part of it."""
        if self._at_work:
            return
        self._at_work, self._now = True, now
        left = _AT_ONCE
        try:
            while self._queue and left > 0:
                left = self._work(self._queue[0], left)
        finally:
            self._at_work = False
        if self._queue:
            self._deadlines.arm(self._turn, _SOON)

    def _work(self, task: _Task, left: int) -> int:
        """Some steps of the first in the queue; gives how many there may be of others."""
        if task.steps is None:
            task.steps = self._write(task)
        while left > 0 and not task.gone:
            left -= 1
            try:
                next(task.steps)
            except StopIteration:
                break
            except KafkaError as error:
                self._failed(task, error)
                break
        else:
            if not task.gone:
                return left
        task.steps = None
        self._queue.popleft()
        return left

    def _failed(self, task: _Task, error: KafkaError) -> None:
        """What is left of it was not written: later, or never."""
        task.attempts += 1
        if error.code in _COME_BACK and task.attempts < _ATTEMPTS:
            task.again = Deadline(("dead letters", *task.origin[:2]), lambda _: self._try_again(task))
            self._waiting.add(task)
            jitter = self._state.random.uniform(1 - _JITTER, 1 + _JITTER)
            self._deadlines.arm(task.again, self._now[1] + int(_BACKOFF_MS * 2**task.attempts * jitter))
            return
        self._give_up(task, len(task.left), error)

    def _try_again(self, task: _Task) -> None:
        self._waiting.discard(task)
        self._queue.append(task)

    def _give_up(self, task: _Task, count: int, error: KafkaError) -> None:
        """The first so many of a task have no dead letter, and are archived all the same."""
        group_id, topic, partition = task.origin
        if self._warnings.allows(group_id, self._now[1]):
            self._state.log.warning(
                "records that a share group has given up have no dead letter",
                group_id=group_id,
                partition=f"{topic}-{partition}",
                offset=task.first_of(task.left[0]),
                why=error.message or error.code.name,
            )
        for letter in islice(task.left, count):
            self.failed += letter.last_offset - task.first_of(letter) + 1
        self._done(task, count)

    def _done(self, task: _Task, count: int) -> None:
        for _ in range(count):
            letter = task.left.popleft()
            task.next_offset = None
            if not task.gone:
                task.archive(letter, self._now)

    # -- writing ---------------------------------------------------------------------------------------------------

    def _write(self, task: _Task) -> Iterator[None]:
        """Write what is left, step by step. Raises KafkaError for what stands in the way of all of it."""
        place = self._place(task.origin)
        if _is_too_long(task.left[0]):
            first, last, *_ = task.left[0]
            raise KafkaError(ErrorCode.INVALID_REQUEST, _TOO_LONG.format(last - first + 1))
        most_bytes = place.log.settings.max_message_bytes
        page = Pages(most_bytes, _MOST_RECORDS)
        ended = 0  # so many letters have their last record on the page
        copier: Copier | None = None
        for letter in tuple(task.left):
            made = first = task.first_of(letter)
            copier = self._copier(task, first, most_bytes, copier)
            for record in dead_records(task.origin, letter, first, copier, self._now[0]):
                yield
                if record is None:
                    continue
                if not page.take(record):
                    begun = made > first
                    written = self._append(task, place, page, ended, begun)
                    page, ended = Pages(most_bytes, _MOST_RECORDS), 0
                    if not written and begun:
                        break
                    if written and begun:
                        task.next_offset = made
                    page.take(record)
                made += 1
            else:
                ended += 1
        if page.records:
            self._append(task, place, page, ended, False)

    def _append(self, task: _Task, place: _Place, page: Pages, ended: int, begun: bool) -> bool:
        """Write a page: `ended` letters are done with it, and with `begun` a part of another one.

        Gives whether it is written; if not, all of these letters are done with. Raises KafkaError where it is to be
        tried again.
        """
        if task.gone:
            return False
        try:
            self._append_to(place, page)
        except KafkaError as error:
            if error.code in _COME_BACK:
                raise
            self._give_up(task, ended + begun, error)
            return False
        self.written += len(page.records)
        task.attempts = 0
        self._done(task, ended)
        return True

    def _append_to(self, place: _Place, page: Pages) -> None:
        state, broker_ms = self._state, self._now[0]
        topic, index, log = place
        if state.cluster.topic_by_id(topic.topic_id) is not topic:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        partition = topic.partitions[index]
        if partition.leader < 0:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if not state.is_writable:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
        check_in_sync(state.config, topic, partition)
        # the broker's own timestamps: the bounds, which are for clients, are measured from them
        log.append(
            build_batch(page.records), leader_epoch=partition.leader_epoch, now_ms=broker_ms, bounds_ms=broker_ms
        )
        state.fetch_purgatory.appended(topic.topic_id, index)

    def _place(self, origin: Origin) -> _Place:
        """Where the group's dead letters go; the topic is made if it may be. Raises KafkaError."""
        state, config = self._state, self._state.config
        name = state.cluster.group_configs.get(origin.group_id, {}).get(TOPIC_NAME, "")
        topic = state.cluster.topic(name)
        enabled = topic is not None and topic_settings(config.log_defaults, topic.configs).get(ENABLED, False)
        rules = Rules(topic is not None, enabled, config[AUTO_CREATE], config[PREFIX])
        why = refusal(origin.group_id, name, rules)
        if why is not None:
            raise KafkaError(ErrorCode.INVALID_CONFIG, why)
        if topic is None:
            topic = state.make_topic(name, {ENABLED: "true", "message.timestamp.type": "CreateTime"})
        index = origin.partition % len(topic.partitions)
        log = state.logs.log(topic.topic_id, index)
        if log is None or topic.partitions[index].leader < 0:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{topic.name}-{index} has no leader")
        return _Place(topic, index, log)

    def _copier(self, task: _Task, first: int, most_bytes: int, before: Copier | None) -> Copier | None:
        """Who copies a letter's records: who has copied the one before, if it can.

        None where the group does not want it, or the letter begins before the log (there Kafka's read fails).
        """
        texts = self._state.cluster.group_configs.get(task.origin.group_id, {})
        log = self._state.logs.log(task.topic_id, task.origin.partition)
        if COPY_RECORD not in texts or not parse(COPY_RECORD, GROUP[COPY_RECORD], texts[COPY_RECORD]):
            return None
        if log is None or first < log.log_start_offset:
            return None
        return before if before is not None and before.offset < first else Copier(_batches(log, first), most_bytes)


def _is_too_long(letter: DeadLetter) -> bool:
    return letter.last_offset - letter.first_offset >= _MOST_OFFSETS


def _batches(log: PartitionLog, first: int) -> Iterator[tuple[BatchHeader, bytes | memoryview]]:
    for batch in log.batches_from(first):
        payload = memoryview(batch.head)[HEADER_SIZE:] if batch.payload is None else batch.payload
        yield batch.header(), payload
