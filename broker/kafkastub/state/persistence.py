"""The broker's state beside its records: written to the data directory as one JSON document, and read at the start.

Topics with their ids, partitions and configurations; dynamic configurations of broker, groups and client metrics;
features; ACLs, SCRAM users, delegation tokens, quotas; how far producer ids went; how far the clock was moved. What
changes with every client is not in here: transactional ids, groups and offsets, and producers' sequences come back from
records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafkastub.config import ConfigError, InvalidValue
from kafkastub.config.other import InvalidClientMetrics
from kafkastub.metadata import TRANSACTION_STATE, PartitionState, Topic
from kafkastub.metadata.ids import uuid_bytes, uuid_text
from kafkastub.state import persisted
from kafkastub.state.internal_topics.durable_topic import DurableTopic
from kafkastub.state.loading import begin
from kafkastub.state.restoring import restore_topic, take_back
from kafkastub.state.settings_back import restore_settings
from kafkastub.state.topics import auto_create
from kafkastub.storage.disk import DataDirError, Disk
from kafkastub.storage.disk.transactional_ids import Kept, forget_transactional_ids, read_transactional_ids

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

_PRODUCER_IDS: Final = 1000
"""So many are reserved at once, as Kafka does (ProducerIdsBlock): a restart skips what is left of them."""


class ClockState(Protocol):
    """What of a clock outlives the process."""

    def moved(self) -> tuple[int, int | None]:
        """By how many milliseconds it was moved, and where it is frozen (Unix ms)."""

    def restore(self, ahead_ms: int, frozen_at: int | None) -> None:
        """Be moved like that."""

    def both(self) -> tuple[int, int]:
        """(broker time, timer time)."""


class Persistence:
    """Writes the state of one broker to its data directory, and restores it.

    Everything that changes the state says so (`BrokerState.changed`); the document is then written once, whatever
    changed how often before the next round of the disk.
    """

    def __init__(self, state: BrokerState, disk: Disk, clock: ClockState) -> None:
        self.disk = disk
        self._state = state
        self._clock = clock
        self._clock_was = clock.moved()
        self._reserved = 0
        self._acls: list[Any] = []
        """Those of the file, where no authorizer reads them: the next start may have one."""
        self._fallen_back = False
        disk.state = self._pieces
        self._taken_back = False
        self._inherited: dict[str, Kept] = {}
        """What transactional ids had, of a directory of old."""
        self._blank = b""
        """What there was before anything was written: of a new directory."""
        disk.on_failure = self._take_back

    def producer_ids_changed(self) -> None:
        """An id was handed out."""
        following = self._state.logs.producer_ids.next
        if following > self._reserved:
            self._reserved = following + _PRODUCER_IDS
            self.disk.state_changed()

    def look_at_clock(self) -> None:
        """Somebody may have moved the clock."""
        moved = self._clock.moved()
        if moved != self._clock_was:
            self._clock_was = moved
            self.disk.state_changed()

    def fall_back(self) -> None:
        """Nothing can be written any more: coordinators forget what could not be, and stay as the files are.

        Who is parked is told NOT_COORDINATOR.
        """
        self._fallen_back = True
        state = self._state
        state.read_only()
        if state.has_share_partitions:
            state.share_partitions.forget_all()
        for name, runtime in state.runtimes.items():
            topic = runtime.topic
            if runtime.loading is not None or not isinstance(topic, DurableTopic) or not topic.logs:
                continue
            runtime.settle(runtime.coordinator.unload(*self._clock.both()))
            runtime.unloaded()
            topic.empty()
            try:
                for _ in topic.load_files():
                    pass
            except (OSError, DataDirError) as error:
                state.log.error("records of a coordinator cannot be read any more", topic=name, why=str(error))
            runtime.settle(runtime.coordinator.loaded(*self._clock.both()))
        state.read_only()

    def _take_back(self) -> None:
        """Nothing can be written any more: forget what could not be, whatever it is."""
        if self._taken_back:
            return
        self._taken_back = True
        state, now = self._state, json.loads(self.document())
        try:
            written = self._read() or json.loads(self._blank)
            take_back(state, now, written, self.disk.directory, self._clock.both())
        except (OSError, ValueError, DataDirError) as error:
            state.log.error("what could not be written cannot be taken back", why=str(error))
        if not self._fallen_back:
            self.fall_back()

    # -- writing -------------------------------------------------------------------------------------------------

    def document(self) -> bytes:
        """The state as it is now."""
        return b"".join(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        """The document piece by piece, none of which takes long; JSON with a line for each thing."""
        state = self._state
        ahead_ms, frozen_at = self._clock.moved()
        settings = {
            "clock": {"ahead_ms": ahead_ms, "frozen_at": frozen_at},
            "producer_ids": {"next": self._reserved},
            "broker_configs": {"broker": state.config.dynamic_broker, "default": state.config.dynamic_default},
            "group_configs": state.cluster.group_configs,
            "client_metrics_configs": state.cluster.client_metrics_configs,
            "features": state.features.document(),
            "unregistered": [node.node_id for node in state.cluster.nodes.values() if not node.registered],
            "metadata": {"offset": state.metadata_offset, "epoch": state.metadata_epoch},
        }
        yield "".join(
            ["{\n", *(f'"{name}": {_encode(value)},\n' for name, value in settings.items()), '"scram": ']
        ).encode()
        yield from _listed(map(_encode, state.scram_users.document()))
        yield b',\n"quotas": '
        yield from _listed(map(_encode, state.quotas.document() if state.has_quotas else ()))
        yield b',\n"delegation_tokens": '
        yield from _listed(map(_encode, state.delegation_tokens.document() if state.has_delegation_tokens else ()))
        yield b',\n"acls": '
        yield from _listed(map(_encode, self._acls if state.authorizer is None else state.authorizer.all()))
        yield b',\n"topics": '
        yield from _listed(text for topic in list(state.cluster.topics.values()) for text in self._topic(topic))
        yield b"\n}\n"

    def _topic(self, topic: Topic) -> Iterator[str]:
        """In texts of so many partitions each: with commas between them they are JSON."""
        whole = {"name": topic.name, "id": uuid_text(topic.topic_id), "configs": topic.configs}
        text = _encode(whole)[:-1] + ',"partitions":['
        partitions = [self._partition(topic, one) for one in topic.partitions[:_AT_ONCE]]
        for first in range(_AT_ONCE, len(topic.partitions), _AT_ONCE):
            yield text + _encode(partitions)[1:-1]
            text = ""
            partitions = [self._partition(topic, one) for one in topic.partitions[first : first + _AT_ONCE]]
        yield text + _encode(partitions)[1:-1] + "]}"

    def _partition(self, topic: Topic, one: PartitionState) -> dict[str, Any]:
        log = self._state.logs.look(topic.topic_id, one.index)
        return {
            **persisted.partition(one),
            "log_start_offset": 0 if log is None else log.log_start_offset,
            **self._state.log_dirs.document(topic, one),
        }

    # -- reading -------------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Take up what the last run left: everything but what coordinators know. DataDirError."""
        directory, log = self.disk.directory, self._state.log
        try:
            whole = self._read()
            topics = [] if whole is None else whole["topics"]
            names = [(one["name"], uuid_bytes(one["id"]), len(one["partitions"])) for one in topics]
            wanted = {
                f"{name}-{index}": directory.deleted(topic_id, index)
                for name, topic_id, partitions in names
                for index in range(partitions)
            }
            for stray in directory.tidy(wanted):
                log.warning("partition put aside: no topic has it", partition=stray, directory=str(directory.root))
            if whole is None:
                self._restore_producer_ids({"next": 0})
                self._blank = self.document()
            else:
                self._restore(whole)
            if self._inherited and TRANSACTION_STATE not in self._state.cluster.topics:
                auto_create(self._state, TRANSACTION_STATE)
        except OSError as error:
            where = error.filename or directory.root
            raise DataDirError(f"{where} cannot be read: {error.strerror or error}") from None
        except (ConfigError, InvalidValue, InvalidClientMetrics) as error:
            raise DataDirError(f"the data directory {directory.root} has a configuration of old: {error}") from None
        except (ValueError, RecursionError) as error:
            raise DataDirError(f"the data directory {directory.root} is damaged: kafkastub.json: {error}") from None

    def _read(self) -> dict[str, Any] | None:
        """The document as it was written last, None where none was. OSError, ValueError, RecursionError."""
        content = self.disk.directory.state()
        if content is None:
            return None
        whole = json.loads(content)
        persisted.check(whole)
        found: dict[str, Any] = whole
        return found

    def _restore(self, whole: Mapping[str, Any]) -> None:
        state = self._state
        self._clock.restore(whole["clock"]["ahead_ms"], whole["clock"]["frozen_at"])
        self._clock_was = self._clock.moved()
        self._restore_producer_ids(whole["producer_ids"])
        restore_settings(state, whole)
        self.disk.state_changed()  # the quorum's epoch, for one
        if state.authorizer is None:
            self._acls = whole.get("acls", [])
            if self._acls:
                state.log.info("ACLs are kept and not looked at: authorizer.class.name is not set")
        for one in whole["topics"]:
            restore_topic(state, one)

    def _restore_producer_ids(self, whole: Mapping[str, Any]) -> None:
        self._reserved = whole["next"]
        written = {name: Kept(*one) for name, one in whole.get("transactional", {}).items()}
        self._inherited = inherited = written | read_transactional_ids(self.disk)
        following = max([self._reserved, *(one.producer_id + 1 for one in inherited.values())])
        self._state.logs.producer_ids.skip_to(following)

    def restore_coordinators(self) -> None:
        """Begin to load what coordinators know; every file was read once when this is over. DataDirError."""
        state = self._state
        for name, runtime in state.runtimes.items():
            topic = runtime.topic
            if name in state.cluster.topics and isinstance(topic, DurableTopic):
                steps = topic.load_files()
                try:
                    next(steps)
                except OSError as error:
                    raise DataDirError(f"{error.filename or 'a segment'} cannot be read: {error.strerror}") from None
                begin(state, runtime, chain(steps, self._adopt()) if name == TRANSACTION_STATE else steps)

    def _adopt(self) -> Iterator[None]:
        """What versions without transactions have kept of transactional ids goes where it belongs."""
        if self._inherited:
            from kafkastub.state.transaction_coordinator.older_data_directory import adopt

            yield from adopt(self._state.transactions, self._inherited, self._clock.both()[0])
            self._inherited = {}
            self.disk.state_changed()
            forget_transactional_ids(self.disk)


_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
"""(What json.dumps would indent it writes ten times slower.)"""
_AT_ONCE: Final = 100


def _listed(texts: Iterable[str]) -> Iterator[bytes]:
    """A list of these, one by one."""
    before = "[\n"
    for text in texts:
        yield (before + text).encode()
        before = ",\n"
    yield b"\n]" if before == ",\n" else b"[]"
