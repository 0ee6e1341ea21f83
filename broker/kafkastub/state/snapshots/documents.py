"""What a snapshot says beside records, as JSON: the fields of kafkastub.json, and what a restart would do without."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from kafkastub.config.durations import LAST_MS, datable
from kafkastub.metadata import PartitionState, Topic
from kafkastub.metadata.ids import uuid_bytes, uuid_text
from kafkastub.state import persisted
from kafkastub.state.checks import Check, by_name, fields, listed, name, or_null, parts, text, whole
from kafkastub.state.snapshots.saved import SavedNode, SavedState
from kafkastub.state.snapshots.segments import Scratch, segments_of
from kafkastub.storage import LeaderEpochs, PartitionLog, ProducerEntry, SavedLog
from kafkastub.storage.log_transactions import AbortedTransaction
from kafkastub.storage.producers import AppendedBatch, ProducerStates
from kafkastub.storage.segment import Segment

_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
_AT_ONCE: Final = 100
"""Partitions."""
_LONG: Final = whole(-(1 << 63), (1 << 63) - 1)
_OFFSET: Final = whole(0, (1 << 63) - 1)
_INT: Final = whole(-(1 << 31), (1 << 31) - 1)
_NODE: Final = whole(0, (1 << 31) - 1)
_MS: Final = whole(-(1 << 53), 1 << 53)
_DATE: Final = whole(0, LAST_MS)


def _flag(value: Any, where: str) -> None:
    whole(0, 1)(value, where)


_PRODUCER: Final = parts(
    _OFFSET,  # id
    _INT,  # epoch
    listed(parts(_INT, _INT, _LONG, _LONG, _LONG)),  # its last batches: the fields of `AppendedBatch`
    _LONG,  # last timestamp
    _LONG,  # broker time of its last append
    _INT,  # the coordinator's epoch
    or_null(_OFFSET),  # where its transaction begins
)
_PARTITION: Final = fields(
    {
        "log_end_offset": _OFFSET,
        "epochs": listed(parts(_INT, _OFFSET)),
        "producers": listed(_PRODUCER),
        "aborted": listed(parts(_OFFSET, _OFFSET, _OFFSET, _OFFSET)),
        "segments": listed(_OFFSET),
    },
    {"newest_ms": or_null(_LONG)},
)
_MORE: Final[Check] = fields(
    {
        "broker_ms": _DATE,
        "clock": fields({"frozen_at": or_null(_DATE)}),
        "cluster_id": name,
        "controller_id": _INT,
        "nodes": listed(parts(_NODE, or_null(text), _flag, _flag, or_null(parts(_OFFSET, _MS))), at_least=1),
        "logger_levels": by_name(text),
        "held": listed(text),
        "held_share_groups": listed(text),
        "dirs_wished": listed(parts(_NODE, text, _INT, text)),  # a client may wish for any partition
        "topics": listed(fields({"coordinators": _flag, "partitions": listed(_PARTITION, at_least=1)})),
    },
    {
        # of a snapshot of a real cluster: what its brokers are started with, and what could not be read
        "properties": by_name(text),
        "missing": listed(parts(text, text)),
    },
)


def check(document: Any) -> None:
    """Raises Damaged for what no snapshot says."""
    persisted.check(document)
    _MORE(document, "")


def document(saved: SavedState) -> dict[str, Any]:
    """What a snapshot says, but for its topics: `encoded` adds them."""
    ahead_ms, frozen_at = saved.clock
    acls = [list(one) for one in saved.settings["acls"]]
    return {
        **saved.settings,
        "acls": acls,
        "scram": saved.settings["scram"] or [],
        "clock": {"ahead_ms": ahead_ms or 0, "frozen_at": None if frozen_at is None else datable(frozen_at)},
        "broker_ms": datable(saved.broker_ms),
        "producer_ids": {"next": saved.next_producer_id},
        "cluster_id": saved.cluster_id,
        "controller_id": saved.controller_id,
        "nodes": [[one.node_id, one.rack, int(one.alive), int(one.registered), one.left] for one in saved.nodes],
        "logger_levels": saved.logger_levels,
        "held": sorted(saved.held),
        "held_share_groups": sorted(saved.held_share_groups),
        "dirs_wished": saved.dirs_wished,
        **({"properties": dict(saved.properties)} if saved.properties else {}),
        **({"missing": saved.missing} if saved.missing else {}),
    }


def encoded(found: dict[str, Any], scratch: Scratch) -> bytes:
    """A document with its topics, as JSON: piece by piece, as other threads wait while one of them is made."""
    pieces = [_encode(found)[:-1], ',"topics":[']
    for number, topic in enumerate(scratch.topics):
        one = {
            "name": topic.name,
            "id": uuid_text(topic.topic_id),
            "configs": topic.configs,
            "coordinators": int(topic.name in scratch.state.runtimes),
        }
        pieces += ["," if number else "", _encode(one)[:-1], ',"partitions":[']
        for first in range(0, len(topic.partitions), _AT_ONCE):
            some = [_partition(scratch, topic, each) for each in topic.partitions[first : first + _AT_ONCE]]
            pieces += ["," if first else "", _encode(some)[1:-1]]
        pieces.append("]}")
    pieces.append("]}")
    return "".join(pieces).encode()


def _partition(scratch: Scratch, topic: Topic, one: PartitionState) -> dict[str, Any]:
    return {
        **persisted.partition(one),
        **scratch.state.log_dirs.document(topic, one),
        **_log(scratch.log(topic, one.index)),
    }


def _log(log: PartitionLog | None) -> dict[str, Any]:
    if log is None:
        return NEW
    end = log.log_end_offset
    return log_document(
        log.log_start_offset,
        end,
        log.epochs.starts(),
        log.producer_states.entries(),
        log.aborted_transactions(0, end),
        [one.base_offset for one in segments_of(log)],
    )


def log_document(
    start: int,
    end: int,
    epochs: Sequence[Sequence[int]],
    producers: Iterable[ProducerEntry],
    aborted: Sequence[AbortedTransaction],
    segments: Sequence[int],
    newest_ms: int | None = None,
) -> dict[str, Any]:
    """What a snapshot says of a log.

    `segments`: where its files begin. Where they end before the log, `newest_ms` is the timestamp of its newest record.
    """
    said = {
        "log_start_offset": start,
        "log_end_offset": end,
        "epochs": epochs,
        "producers": [_producer(one) for one in producers],
        "aborted": aborted,
        "segments": segments,
    }
    return said if newest_ms is None else {**said, "newest_ms": newest_ms}


NEW: Final = {
    "log_start_offset": 0, "log_end_offset": 0, "epochs": [[0, 0]], "producers": [], "aborted": [], "segments": []
}  # fmt: skip
"""Of a log that nobody has asked for."""


def is_new(each: Any) -> bool:
    """Whether that is said of a partition's log."""
    return all(each[name] == value for name, value in NEW.items())


def _producer(one: ProducerEntry) -> list[Any]:
    return [
        one.producer_id, one.epoch, one.batches, one.last_timestamp, one.appended_ms, one.coordinator_epoch,
        one.transaction_start,
    ]  # fmt: skip


# -- reading -----------------------------------------------------------------------------------------------------------


def nodes_of(found: Any) -> tuple[SavedNode, ...]:
    """The nodes."""
    return tuple(
        SavedNode(node_id, rack, bool(alive), bool(registered), None if left is None else (left[0], left[1]))
        for node_id, rack, alive, registered, left in found["nodes"]
    )


def topic_of(one: Any, internal: Iterable[str]) -> Topic:
    """A topic without its logs."""
    return Topic(
        one["name"], uuid_bytes(one["id"]), persisted.partitions_of(one), one["name"] in internal, dict(one["configs"])
    )


def log_of(each: Any, segments: Sequence[Segment]) -> SavedLog:
    """A log of these segments."""
    epochs = LeaderEpochs()
    for epoch, start in each["epochs"]:
        epochs.assign(epoch, start)
    states = ProducerStates()
    states.restore(_entry(*fields) for fields in each["producers"])
    for aborted in each["aborted"]:
        states.add_aborted(AbortedTransaction(*aborted))
    return SavedLog(each["log_start_offset"], each["log_end_offset"], epochs, states, tuple(segments))


def _entry(
    producer_id: int,
    epoch: int,
    batches: Sequence[Sequence[int]],
    last_timestamp: int,
    appended_ms: int,
    coordinator_epoch: int,
    transaction_start: int | None,
) -> ProducerEntry:
    entry = ProducerEntry(producer_id)
    entry.epoch, entry.coordinator_epoch = epoch, coordinator_epoch
    entry.last_timestamp, entry.appended_ms = last_timestamp, appended_ms
    entry.transaction_start = transaction_start
    for one in batches:
        entry.appended(AppendedBatch(*one))
    return entry
