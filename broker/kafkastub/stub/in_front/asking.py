"""Topics, records, offsets and groups of the cluster behind a proxy, and the waits for them.

The calls and errors are those of a stub. They run in the test's thread. A cluster does not report changes, so a wait
sends its requests again, at increasing intervals.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from kafkastub.stub.errors import GroupTimeout, RecordsTimeout, StubError, TopicError, TopicTimeout
from kafkastub.stub.waiting import check_timeout
from kafkawire.errors import ErrorCode

if TYPE_CHECKING:
    from kafkastub.client import Client
    from kafkastub.client.records import Found
    from kafkastub.journal import Entry, Journal
    from kafkastub.stub.records import Content, Deserializer, Headers, Produced

TopicPartition = tuple[str, int]
AFTER: Final = "{after}"
"""Stands in a sentence for how long was waited."""
_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.25
_LEADERS_SECONDS: Final = 30
"""In which a new topic has to have its leaders."""


class Asked:
    """Opens clients to the cluster, and raises a stub's errors for the cluster's errors."""

    def __init__(self, client: Callable[[], Client]) -> None:
        self._client = client

    @contextmanager
    def client(self, about: str = "") -> Iterator[Client]:
        """Return a client. Raises KeyError for what does not exist, StubError if the cluster does not answer."""
        from kafkastub.client import BrokerError, ClientError

        try:
            with self._client() as client:
                yield client
        except BrokerError as error:
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                text = error.message if " has partitions " in error.message else f"{about} does not exist"
                raise KeyError(text) from None
            if error.code is ErrorCode.GROUP_ID_NOT_FOUND:
                raise KeyError(f"{about} does not exist") from None
            raise TopicError(error.code, f"{about}: {error.message}") from None
        except ClientError as error:
            raise StubError(str(error)) from None

    def until(
        self,
        found: Callable[[Client], str | None],
        timeout: float,
        error: type[AssertionError],
    ) -> None:
        """Repeat requests until `found` returns None; a text says what the present state is. Raises `error`."""
        check_timeout(timeout)
        deadline, pause = time.monotonic() + timeout, _FIRST_PAUSE
        with self.client() as client:
            while (unmet := found(client)) is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise error(unmet.replace(AFTER, f" after {timeout:g} s", 1))
                time.sleep(min(pause, left))
                pause = min(pause * 1.5, _LONGEST_PAUSE)


class AskedTopics:
    """The cluster's topics."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def create(self, name: str, partitions: int, configs: Mapping[str, str] | None) -> None:
        """Create a topic and wait until it has its leaders. Raises TopicError."""
        from kafkastub.client import topics

        with self._asked.client(f"topic {name!r}") as client:
            topics.create(client, name, partitions=partitions, configs=dict(configs or {}))
        self._asked.until(lambda client: _leaderless(client, name), _LEADERS_SECONDS, TopicTimeout)

    def delete(self, names: Iterable[str]) -> None:
        """Delete the topics that exist."""
        from kafkastub.client import topics

        with self._asked.client("a topic") as client:
            there = topics.names(client)
            topics.delete(client, [name for name in names if name in there])

    def wait(self, name: str, partitions: int | None, timeout: float) -> None:
        """Wait for a topic. Raises TopicTimeout."""

        def missing(client: Client) -> str | None:
            have = _partitions(client, name)
            if not have:
                return f"topic {name!r} does not exist{AFTER}"
            if partitions is not None and have < partitions:
                return f"topic {name!r} has {have} partitions, {partitions} were expected,{AFTER}"
            return None

        self._asked.until(missing, timeout, TopicTimeout)


class AskedRecords:
    """The records of topics: `proxy.records("orders")` reads them, `wait` waits for them, `produce` adds to them."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._turns = itertools.count()

    def produce(
        self,
        topic: str,
        value: Content = None,
        *,
        key: Content = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> Produced:
        """Write a record, as `stub.records.produce` does. Raises KeyError, TopicError, TypeError."""
        from kafkastub.client import records
        from kafkastub.stub.records import Produced, content, header_pairs
        from kafkawire.murmur2 import partition_of_key
        from kafkawire.records import NewRecord

        record_key, record_value = content("key", key), content("value", value)
        pairs = header_pairs(headers)
        stamp = int(time.time() * 1000) if timestamp is None else timestamp
        with self._asked.client(f"topic {topic!r}") as client:
            index = partition
            if index is None:
                count = len(records.partitions(client, topic))
                index = next(self._turns) % count if record_key is None else partition_of_key(record_key, count)
            record = NewRecord(record_key, record_value, stamp, pairs)
            offset, append_ms = records.produce(client, topic, index, [record])
        return Produced(topic, index, offset, stamp if append_ms < 0 else append_ms)

    def __call__(
        self,
        topic: str,
        partition: int | None = None,
        *,
        offset: int = 0,
        isolation: str = "read_uncommitted",
        deserializer: Deserializer | None = None,
        key_deserializer: Deserializer | None = None,
    ) -> list[Found]:
        """Return records, as `stub.records(…)` does. Raises KeyError, ValueError, TypeError."""
        from kafkastub.stub.records import ISOLATION, deserialized

        if isolation not in ISOLATION:
            raise ValueError(f"isolation={isolation!r}: expected {' or '.join(ISOLATION)}")
        with self._asked.client(f"topic {topic!r}") as client:
            found = _records(client, topic, partition, offset, isolation == "read_committed")
        return [deserialized(one, deserializer, key_deserializer) for one in found]

    def wait(
        self,
        topic: str,
        count: int = 1,
        *,
        match: Callable[[Any], bool] | None = None,
        partition: int | None = None,
        isolation: str = "read_uncommitted",
        timeout: float = 5,
    ) -> list[Found]:
        """Wait until a topic has `count` records that match, and return them. Raises RecordsTimeout."""
        found: list[Found] = []

        def missing(client: Client) -> str | None:
            from kafkastub.client import BrokerError

            try:
                there = _records(client, topic, partition, 0, isolation == "read_committed")
            except BrokerError as error:
                if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    raise
                return f"topic {topic!r} does not exist{AFTER}"
            found[:] = [one for one in there if match is None or match(one)]
            if len(found) >= count:
                return None
            return f"topic {topic!r} has {len(found)} such records{AFTER}, {count} were expected"

        self._asked.until(missing, timeout, RecordsTimeout)
        return found


class AskedOffsets:
    """The committed offsets of groups."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def commit(self, group: str, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
        """Commit offsets of a group without members. Raises KeyError, ValueError."""
        from kafkastub.client import BrokerError, ClientError, groups

        try:
            with self._asked._client() as client:
                groups.commit(client, group, offsets)
        except BrokerError as error:
            if error.code is ErrorCode.UNKNOWN_MEMBER_ID:
                raise ValueError(f"group {group!r} has members: only its members may commit") from None
            if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise KeyError("a partition does not exist") from None
            raise ValueError(f"group {group!r}: {error.message}") from None
        except ClientError as error:
            raise StubError(str(error)) from None

    def lag(self, group: str) -> dict[TopicPartition, int]:
        """Return the lag in records, for each partition that the group has committed. Raises KeyError."""
        with self._asked.client(f"group {group!r}") as client:
            found = _lag(client, group)
        if not found:
            raise KeyError(f"group {group!r} does not exist")
        return found

    def wait_lag(self, group: str, topic: str | None = None, *, at_most: int = 0, timeout: float = 5) -> None:
        """Wait until the lag of a group is at most `at_most` records. Raises GroupTimeout."""

        def behind(client: Client) -> str | None:
            from kafkastub.client import BrokerError, groups

            try:
                most = max(groups.behind(client, group, topic).values(), default=None)
            except BrokerError as error:
                if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    raise
                most = None
            if most is not None and most <= at_most:
                return None
            told = "has committed nothing" if most is None else f"is {most} records behind"
            return f"group {group!r} {told}{AFTER}, a lag of at most {at_most} was waited for"

        self._asked.until(behind, timeout, GroupTimeout)


class AskedWaits:
    """The waits. Each raises an AssertionError after `timeout` seconds that says what the present state is."""

    def __init__(self, asked: Asked, journal: Callable[[], Journal]) -> None:
        self._asked = asked
        self._journal = journal

    def topic(self, topic: str, *, partitions: int | None = None, timeout: float = 5) -> None:
        """Wait until a topic exists, with at least `partitions` partitions. Raises TopicTimeout."""
        AskedTopics(self._asked).wait(topic, partitions, timeout)

    def group(self, group: str, *, state: str = "Stable", members: int | None = None, timeout: float = 5) -> None:
        """Wait until a group is in `state` and has `members` members. Raises GroupTimeout, TypeError, ValueError."""
        from kafkastub.stub.groups import checked_state

        state = checked_state(group, state, members, timeout)

        def unmet(client: Client) -> str | None:
            found = _group(client, group)
            there = "Dead" if found is None else found.state
            count = 0 if found is None else len(found.members)
            if there == state and members in (None, count):
                return None
            wanted = state if members is None else f"{state} with {members} members"
            return f"group {group!r} is {there} with {count} members{AFTER}, {wanted} was waited for"

        self._asked.until(unmet, timeout, GroupTimeout)

    def assigned(self, group: str, assignment: Mapping[str, Iterable[TopicPartition]], timeout: float = 5) -> None:
        """Wait until members of a group have exactly these partitions. Raises GroupTimeout."""
        wanted = {name: sorted(places) for name, places in assignment.items()}
        if not wanted:
            raise ValueError("assignment={} is refused: it names no member")

        def unmet(client: Client) -> str | None:
            found = _group(client, group)
            have: dict[str, list[TopicPartition]] = {}
            for member in () if found is None else found.members:
                for name in {member.id, member.instance_id, member.client_id} - {None}:
                    have.setdefault(str(name), []).extend(member.assignment)
            if all(sorted(have.get(name, [])) == places for name, places in wanted.items()):
                return None
            return f"group {group!r} has {have}{AFTER}, {wanted} was waited for"

        self._asked.until(unmet, timeout, GroupTimeout)

    def quiet(self, seconds: float = 0.2, *, ignoring: Collection[str] | None = None, timeout: float = 5) -> None:
        """Wait until no requests come, as `journal.wait_quiet` does."""
        if ignoring is None:
            self._journal().wait_quiet(seconds, timeout=timeout)
        else:
            self._journal().wait_quiet(seconds, ignoring=ignoring, timeout=timeout)

    def request(self, *, timeout: float = 5, **wanted: Any) -> Entry:
        """Wait for a request, as `journal.wait_for` does."""
        return self._journal().wait_for(timeout=timeout, **wanted)


def _partitions(client: Client, topic: str) -> int:
    from kafkastub.client import BrokerError, records

    try:
        return len(records.partitions(client, topic))
    except BrokerError:
        return 0


def _leaderless(client: Client, topic: str) -> str | None:
    from kafkastub.client import BrokerError, records

    try:
        leaders = records.partitions(client, topic)
    except BrokerError:
        return f"topic {topic!r} is not there{AFTER}"
    missing = [index for index, leader in leaders.items() if leader is None]
    return f"partitions {missing} of topic {topic!r} have no leaders{AFTER}" if missing or not leaders else None


def _records(client: Client, topic: str, partition: int | None, offset: int, committed: bool) -> list[Found]:
    from kafkastub.client import records

    indexes = sorted(records.partitions(client, topic)) if partition is None else [partition]
    return [one for index in indexes for one in records.read(client, topic, index, offset, committed=committed)]


def _lag(client: Client, group: str) -> dict[TopicPartition, int]:
    from kafkastub.client import groups, topics

    committed = groups.offsets(client, group)
    ends = topics.list_offsets(client, dict.fromkeys(committed, topics.LATEST))
    return {place: max(0, ends[place] - one.offset) for place, one in sorted(committed.items())}


def _group(client: Client, group: str) -> Any:
    """None where there is none."""
    from kafkastub.client import BrokerError, groups

    try:
        return groups.describe(client, group)
    except BrokerError as error:
        if error.code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.COORDINATOR_NOT_AVAILABLE):
            return None
        raise
