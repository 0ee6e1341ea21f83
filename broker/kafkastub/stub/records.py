"""`stub.records`: write, read and wait for records without a client."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from kafkastub.stub.errors import RecordsTimeout, TopicError
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.client.records import Found
    from kafkastub.registry.entities import Schema
    from kafkastub.server.broker import Broker
    from kafkastub.stub.registry import StubRegistry
    from kafkastub.stub.runner import Runner
    from kafkastub.views.records import LogRecord, Stretch

T = TypeVar("T")
R = TypeVar("R", "LogRecord", "Found")

ISOLATION: Final = ("read_uncommitted", "read_committed")
_NEVER: Final = 1 << 62
"""A timer time that does not come."""

Content = bytes | str | None
"""A key or a value; a text is written as UTF-8."""
Headers = Mapping[str, Content] | Iterable[tuple[str, Content]]
Deserializer = Callable[[bytes], Any]
"""Is not asked for null."""


class Produced(NamedTuple):
    """The place of a record that was written. The timestamp is in Unix milliseconds."""

    topic: str
    partition: int
    offset: int
    timestamp: int


class StubRecords:
    """The records of topics: `stub.records("orders")` reads them, `wait` waits for them, `produce` adds to them.

    A topic or partition that does not exist raises KeyError. What Kafka would refuse raises TopicError.
    """

    def __init__(self, runner: Runner, registry: Callable[[], StubRegistry]) -> None:
        """`registry` returns the stub's registry. Raises RuntimeError without one."""
        self._runner = runner
        self._registry = registry
        self._turns = itertools.count()
        """For records without a key."""

    def produce(
        self,
        topic: str,
        value: Any = None,
        *,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        schema: str | Schema | None = None,
        key_schema: str | Schema | None = None,
    ) -> Produced:
        """Write a record and return its place.

        A value is bytes, or a text, which is written as UTF-8; None is a tombstone. With `schema`, a subject or a
        schema of the stub's registry, it is a dict or another value that the schema fits, and is written as
        `stub.registry.encode` writes it. `key_schema` does the same for the key.

        Without `partition`, the key decides, as in Kafka's producers. Without a key, the partitions take turns.
        `timestamp` is in Unix milliseconds, by default broker time.

        Raises KeyError, TopicError, TypeError; with a schema ValueError for a value that does not fit, RegistryError.
        """
        from kafkawire.records import NewRecord

        _check_text("topic", topic)
        record_key = self._written("key", key, key_schema)
        record_value = self._written("value", value, schema)
        pairs = header_pairs(headers)
        if partition is not None:
            _check_number("partition", partition)
        if timestamp is not None:
            _check_number("timestamp", timestamp)
        broker = self._runner.running()

        def write() -> Produced:
            from kafkastub.views import records

            now = broker.clock.broker_ms()
            stamp = now if timestamp is None else timestamp
            index = partition
            if index is None:
                index = records.chosen_partition(
                    records.partition_named(broker.state, topic, 0), record_key, self._turns
                )
            record = NewRecord(record_key, record_value, stamp, pairs)
            offset, append_ms = records.write(broker.state, topic, index, [record], now)
            return Produced(topic, index, offset, stamp if append_ms < 0 else append_ms)

        return self._refusing(write)

    def _written(self, what: str, given: Any, schema: str | Schema | None) -> bytes | None:
        if schema is None or given is None:
            return content(what, given)
        return self._registry().encode(schema, given)

    def __call__(
        self,
        topic: str,
        partition: int | None = None,
        *,
        offset: int = 0,
        isolation: str = "read_uncommitted",
        deserializer: Deserializer | None = None,
        key_deserializer: Deserializer | None = None,
        by_schema: bool = False,
    ) -> list[LogRecord]:
        """Return the records of a topic, partition by partition, from `offset` on.

        With `isolation="read_committed"`, they are those that a consumer with this isolation level gets. The
        deserializers are called with values and keys that are not null. With `by_schema`, values and keys that begin
        with the id of a schema of the stub's registry are what this schema makes of them; others stay bytes.

        Raises KeyError, ValueError, TypeError.
        """
        from kafkastub.views.records import decoded

        _check_reading(topic, partition, offset, isolation)
        for name, given in (("deserializer", deserializer), ("key_deserializer", key_deserializer)):
            if given is not None and not callable(given):
                raise TypeError(f"{name}={given!r}: expected a function of bytes, for example json.loads")
        committed = isolation == "read_committed"
        broker = self._runner.running()
        found = self._refusing(lambda: _stretches(broker, topic, partition, offset, committed))
        told = (record for each in found for record in decoded(each, committed=committed))
        if by_schema:
            if deserializer is not None or key_deserializer is not None:
                raise TypeError("by_schema=True is refused with deserializers: it takes their place")
            records = list(told)
            read = self._registry()._reader(topic, [part for each in records for part in (each.key, each.value)])
            return [deserialized(record, read, read) for record in records]
        return [deserialized(record, deserializer, key_deserializer) for record in told]

    def wait(
        self,
        topic: str,
        count: int = 1,
        *,
        match: Callable[[LogRecord], bool] | None = None,
        isolation: str = "read_uncommitted",
        deserializer: Deserializer | None = None,
        key_deserializer: Deserializer | None = None,
        by_schema: bool = False,
        timeout: float = 5,
    ) -> list[LogRecord]:
        """Wait until a topic has `count` records, or `count` that match, and return them. The topic may not exist yet.

        Raises RecordsTimeout after `timeout` seconds, and ValueError and TypeError as reading does.
        """
        _check_number("count", count)
        if count < 0:
            raise ValueError(f"count={count}: expected a number, 0 or more")
        come = threading.Event()
        read = partial(
            self,
            topic,
            isolation=isolation,
            deserializer=deserializer,
            key_deserializer=key_deserializer,
            by_schema=by_schema,
        )
        matching: list[LogRecord] = []
        with _Watch(self._runner, topic, come) as there:
            for left in there.turns(timeout):
                if there.is_there():
                    matching = [record for record in read() if match is None or match(record)]
                    if len(matching) >= count:
                        return matching
                come.wait(left)
                come.clear()
            if not there.is_there():
                wanted = "1 record was" if count == 1 else f"{count} records were"
                raise RecordsTimeout(f"topic {topic!r} does not exist after {timeout:g} s, {wanted} waited for")
        seen = read()
        last = f"; the last is {_shown(seen[-1])}" if seen else ""
        found, kind = (f"{len(matching)} of {len(seen)}", " that match") if match is not None else (str(len(seen)), "")
        kind = f"record{kind}" if found == "1" else f"records{kind}"
        raise RecordsTimeout(f"topic {topic!r} has {found} {kind} after {timeout:g} s, {count} were expected{last}")

    def _refusing(self, work: Callable[[], T]) -> T:
        try:
            return self._runner.call(work)
        except KafkaError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise KeyError(error.message) from None
            raise TopicError(error.code, error.message or error.code.name) from None


class _Watch:
    """Sets an event whenever something is appended to a topic, or the topic is made, grows or is another one."""

    def __init__(self, runner: Runner, topic: str, come: threading.Event) -> None:
        self._runner = runner
        self._topic = topic
        self._come = come
        self._parked: Any = None

    def __enter__(self) -> _Watch:
        self._broker = self._runner.running()
        self._runner.call(self._begin)
        return self

    def is_there(self) -> bool:
        """Whether the topic is."""
        return self._runner.call(lambda: self._broker.state.cluster.topic(self._topic) is not None)

    def _begin(self) -> None:
        self._broker.state.topic_watchers.append(self._changed)
        self._park()

    def _end(self) -> None:
        if self._changed in self._broker.state.topic_watchers:
            self._broker.state.topic_watchers.remove(self._changed)
        if self._parked is not None:
            self._parked.abandon()

    def _changed(self) -> None:
        if self._parked is not None:
            self._parked.abandon()
        self._park()
        self._come.set()

    def _park(self) -> None:
        from kafkastub.state.deferred import Deferred, as_it_is

        self._parked, topic = None, self._broker.state.cluster.topic(self._topic)
        if topic is not None:
            self._parked = Deferred(as_it_is)
            keys = [(topic.topic_id, partition.index) for partition in topic.partitions]
            self._broker.state.fetch_purgatory.park(self._parked, keys, _NEVER, self._look)

    def _look(self) -> bool:
        self._come.set()
        return False

    def __exit__(self, *_: object) -> None:
        try:
            self._runner.call(self._end)
        except RuntimeError:  # StubError: it was closed meanwhile
            return

    @staticmethod
    def turns(timeout: float) -> Iterable[float]:
        """The seconds that are left, as long as some are; at least once."""
        from time import monotonic

        deadline = monotonic() + timeout
        yield max(deadline - monotonic(), 0)
        while (left := deadline - monotonic()) > 0:
            yield left


def _stretches(broker: Broker, name: str, index: int | None, offset: int, committed: bool) -> list[Stretch]:
    from kafkastub.views.records import partition_named, stretch

    topic = partition_named(broker.state, name, 0 if index is None else index)
    indexes = range(len(topic.partitions)) if index is None else (index,)
    return [stretch(broker.state, name, each, offset, committed=committed) for each in indexes]


def deserialized(record: R, value: Deserializer | None, key: Deserializer | None) -> R:
    """Return the record with its value and key deserialized."""
    try:
        if value is not None and record.value is not None:
            record = record._replace(value=value(record.value))
        if key is not None and record.key is not None:
            record = record._replace(key=key(record.key))
    except Exception as error:
        error.add_note(f"while {_shown(record)} was deserialized")
        raise
    return record


def _shown(record: LogRecord | Found) -> str:
    return f"{record.topic}-{record.partition}@{record.offset} key={record.key!r} value={record.value!r:.200}"


def content(what: str, given: Content) -> bytes | None:
    """Return the bytes of a key or value. Raises TypeError."""
    if isinstance(given, str):
        return given.encode()
    if given is None or isinstance(given, bytes):
        return given
    raise TypeError(f"{what} is {type(given).__name__}: expected bytes, a string or None")


def header_pairs(headers: Headers) -> tuple[tuple[bytes, bytes | None], ...]:
    """Return the headers in the form that a batch has. Raises TypeError."""
    given = headers.items() if isinstance(headers, Mapping) else headers
    return tuple((name.encode(), content(f"header {name!r}", each)) for name, each in given)


def _check_text(name: str, given: object) -> None:
    if not isinstance(given, str):
        raise TypeError(f"{name}={given!r}: expected a string")


def _check_number(name: str, given: object) -> None:
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name}={given!r}: expected a whole number")


def _check_reading(topic: str, partition: int | None, offset: int, isolation: str) -> None:
    _check_text("topic", topic)
    _check_number("offset", offset)
    if partition is not None:
        _check_number("partition", partition)
    if isolation not in ISOLATION:
        raise ValueError(f"isolation={isolation!r}: expected {' or '.join(ISOLATION)}")
