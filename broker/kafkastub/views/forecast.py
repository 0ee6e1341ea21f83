"""What goes by itself as broker time goes on: offsets, groups, transactional ids, producers, records, tokens.

Each kind is asked of what takes it away in the end: nothing here has a rule of its own. What is walked through may be
much, so that everything comes bit by bit: a walk yields None where whoever walks may let others have their turn, and
looks up again what may be gone since. Compaction is not foreseen, nor is what retention.bytes takes: time does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kafkastub.coordinator.expiry import NEVER
from kafkastub.coordinator.expiry_forecast import Foreseen, OfTopic, Rule
from kafkastub.coordinator.group import Group
from kafkastub.metadata import Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.storage.log import PartitionLog
from kafkastub.storage.retention import is_too_old, too_old_from
from kafkastub.storage.segment import StoredBatch

OFFSETS: Final = "offsets"
GROUP: Final = "group"
TRANSACTIONAL_ID: Final = "transactional_id"
PRODUCER: Final = "producer"
RECORDS: Final = "records"
TOKEN: Final = "delegation_token"
KINDS: Final = (OFFSETS, GROUP, TRANSACTIONAL_ID, PRODUCER, RECORDS, TOKEN)

SHOWN: Final = 20
"""Partitions that are named of offsets which go together."""
_SOME: Final = 128
"""Offsets, ids or producers that are looked at in one go."""


class Due(NamedTuple):
    """What goes, and when: broker milliseconds.

    Attributes:
        many: how many offsets, or records; else 1.
        group, topic, transactional_id, producer_id, token_id: what it is about, as far as it is about that.
        partitions: of offsets, the first `SHOWN` of them; of records and producers the one.
        rule: why offsets go.
        first_offset, last_offset: of records.
        last_at: when the last of the records goes.
        by: how many of the records are gone by each of the horizons.
    """

    at: int
    kind: str
    many: int = 1
    group: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] = ()
    rule: Rule | None = None
    transactional_id: str | None = None
    producer_id: int | None = None
    token_id: str | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    last_at: int | None = None
    by: tuple[int, ...] = ()


def due(state: BrokerState, now: int, horizons: Sequence[int]) -> Iterator[Due | None]:
    """All that is gone once broker time is the last of `horizons`, in no order. `now` is broker time."""
    until = max(horizons)
    yield from _groups(state, now, until)
    yield from _transactional_ids(state, until)
    yield from _logs(state, horizons)
    if state.has_delegation_tokens:
        for token in list(state.delegation_tokens):
            at = min(token.max_ms, token.expires_ms) + 1
            if at <= until:
                yield Due(at, TOKEN, token_id=token.token_id)


# -- groups ------------------------------------------------------------------------------------------------------


def _groups(state: BrokerState, now: int, until: int) -> Iterator[Due | None]:
    groups = state.coordinator.groups
    for group_id in list(groups):
        group = groups.get(group_id)
        if group is not None:
            yield from _group(state, group, now, until)
        yield None


def _group(state: BrokerState, group: Group, now: int, until: int) -> Iterator[Due | None]:
    last: int | None = None
    stays = state.coordinator.offsets.has_pending(group.group_id) or not group.is_empty or group.lasting
    found: dict[tuple[str, Foreseen], list[int]] = {}
    for one in _offsets(state, group):
        if one is None:
            yield None
            continue
        topic, partition, foreseen = one
        last = max(now if last is None else last, foreseen.at)
        if foreseen.at <= until:
            found.setdefault((topic, foreseen), []).append(partition)
    for (topic, (at, rule)), partitions in found.items():
        yield Due(at, OFFSETS, len(partitions), group.group_id, topic, tuple(partitions[:SHOWN]), rule)
    if last is None:
        last = max(now, group.check_at)
    if not stays and last <= until and last != NEVER:
        yield Due(last, GROUP, group=group.group_id)


def next_expiry(state: BrokerState, group: Group) -> Iterator[int | None]:
    """When the first of a group's offsets goes; NEVER where none does. None on the way, as above."""
    first = NEVER
    for one in _offsets(state, group):
        if one is None:
            yield None
        else:
            first = min(first, one[2].at)
    yield first


def _offsets(state: BrokerState, group: Group) -> Iterator[tuple[str, int, Foreseen] | None]:
    """What becomes of each of a group's offsets, by topic and partition."""
    offsets = state.coordinator.offsets
    for topic, columns in list(offsets.topics(group.group_id).items()):
        of_topic = OfTopic(state.coordinator.expiry, group, offsets, topic, columns)
        for number, partition in enumerate(columns.partitions(), 1):
            slot = columns.slot(partition)
            if slot >= 0:
                yield topic, partition, of_topic.at(partition, slot)
            if not number % _SOME:
                yield None


# -- the others --------------------------------------------------------------------------------------------------


def _transactional_ids(state: BrokerState, until: int) -> Iterator[Due | None]:
    if not state.has_transactions:
        return
    coordinator = state.transactions.coordinator
    for number, (name, since) in enumerate(list(coordinator.idle.items()), 1):
        at = since + coordinator.settings.id_expiration_ms
        if at > until:
            break  # the earliest come first
        yield Due(at, TRANSACTIONAL_ID, transactional_id=name)
        if not number % _SOME:
            yield None


def _logs(state: BrokerState, horizons: Sequence[int]) -> Iterator[Due | None]:
    for topic in list(state.cluster.topics.values()):
        if topic.internal:
            yield None
            continue
        for partition in range(len(topic.partitions)):
            log = state.logs.look(topic.topic_id, partition)
            if log is not None:
                yield from _producers(topic, partition, log, max(horizons))
                yield _records(topic, partition, log, horizons)
            yield None


def _producers(topic: Topic, partition: int, log: PartitionLog, until: int) -> Iterator[Due | None]:
    for number, entry in enumerate(log.producers(), 1):
        at = entry.appended_ms + log.settings.producers_expire_ms
        if entry.transaction_start is None and at <= until:
            yield Due(at, PRODUCER, 1, None, topic.name, (partition,), producer_id=entry.producer_id)
        if not number % _SOME:
            yield None


def _records(topic: Topic, partition: int, log: PartitionLog, horizons: Sequence[int]) -> Due | None:
    """What retention.ms takes."""
    settings = log.settings
    if not settings.delete or settings.retention_ms < 0:
        return None
    first, last = log.batch_at(log.log_start_offset), _last_too_old(log, max(horizons))
    if first is None or last is None:
        return None
    begin = max(first.base_offset, log.log_start_offset)
    gone = [_last_too_old(log, until) for until in horizons]
    return Due(
        too_old_from(first, settings), RECORDS, last.last_offset - begin + 1, None, topic.name, (partition,),
        first_offset=begin, last_offset=last.last_offset, last_at=too_old_from(last, settings),
        by=tuple(0 if one is None else one.last_offset - begin + 1 for one in gone),
    )  # fmt: skip


def _last_too_old(log: PartitionLog, until: int) -> StoredBatch | None:
    """The last batch that is older than retention.ms then. Appends come in the order of time: it is bisected."""
    found, low, high = None, log.log_start_offset, log.log_end_offset
    while low < high:
        middle = (low + high) // 2
        batch = log.batch_at(middle)
        if batch is None or not is_too_old(batch, log.settings, until):
            high = middle
        else:
            found, low = batch, batch.last_offset + 1
    return found
