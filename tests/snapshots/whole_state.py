"""Everything that a client could ask of a stub, as plain values."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict
from typing import Any

from kafkastub import KafkaStub
from kafkastub.coordinator.records import CommittedOffset
from kafkastub.server.broker import Broker
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.telemetry import Telemetry
from kafkastub.steps import at_once
from kafkastub.storage import PartitionLog
from kafkastub.storage.state_log import StateLog
from kafkastub.storage.unpacker import Unpacker
from kafkastub.views.groups import view
from kafkastub.views.transactions import view as transaction_view
from kafkawire.schema import ZERO_UUID
from tests.waiting import until


def whole(stub: KafkaStub) -> dict[str, Any]:
    """All of it, by what it is about."""
    broker = stub._running()
    return stub._call(lambda: _whole(broker))


def reload(stub: KafkaStub) -> None:
    """Let everything be forgotten that a broker forgets which is started again, as a restore does."""
    state = stub._running().state
    stub.reload_coordinator()

    def forget() -> None:
        state.fetch_purgatory._sessions.clear()
        state.telemetry = Telemetry()
        state.streams_creation_errors = None
        if state.has_share_partitions:
            state.share_partitions.switched_off()  # and on again: sessions, and what is in flight

    stub._call(forget)


def forget_in_flight(stub: KafkaStub) -> None:
    """Share sessions and what is in flight are gone, and nobody is told, as when a process is killed."""
    state = stub._running().state

    def forget() -> None:
        if state.has_share_partitions:
            state.share_partitions._sessions.clear()
            for live in list(state.share_partitions.partitions):
                state.share_partitions.partitions.drop(live)

    stub._call(forget)


def quiet(stub: KafkaStub, connections: int) -> None:
    """Wait until no more clients than that are connected, and all that the others' going away leads to is done."""
    broker = stub._running()

    def is_quiet() -> bool:
        state = broker.state
        at_once = state.has_share_partitions and state.share_partitions.next_deadline() == 0
        return broker.connections[0] <= connections and not at_once

    until(lambda: stub._call(is_quiet), "clients have gone")


def _whole(broker: Broker) -> dict[str, Any]:
    state = broker.state
    state.offsets_topic.catch_up()
    return {
        "cluster": (state.cluster.cluster_id, state.cluster.controller_id, state.cluster.logger_levels),
        "nodes": [
            (one.node_id, one.rack, one.alive, one.registered, one.endpoints) for one in state.cluster.nodes.values()
        ],
        "configs": deepcopy(
            (
                state.config.dynamic_broker,
                state.config.dynamic_default,
                state.cluster.group_configs,
                state.cluster.client_metrics_configs,
            )
        ),
        "features": state.features.finalized,
        "acls": None if state.authorizer is None else sorted(state.authorizer.all()),
        "quotas": sorted(map(str, state.quotas.document())),
        "users": sorted(map(str, state.scram_users.document())),
        "tokens": sorted(map(str, state.delegation_tokens.document())),
        "producer ids": state.logs.producer_ids.next,
        "topics": {name: asdict(topic) for name, topic in state.cluster.topics.items()},
        "log dirs": [
            state.log_dirs.document(topic, one) for topic in state.cluster.topics.values() for one in topic.partitions
        ],
        "logs": {
            log.name: _log(log)
            for topic in state.cluster.topics.values()
            for log in state.logs.of_topic(topic.topic_id)
        },
        "groups": {group_id: _group(state, group_id) for group_id in sorted(state.coordinator.groups)},
        "transactions": _transactions(state),
        "sharing": _sharing(state),
    }


def _log(log: PartitionLog) -> dict[str, Any]:
    if isinstance(log, StateLog):
        batches = [bytes(data) for _, data in log.batches()]
    else:
        batches = [b"".join((one.head, one.payload or b"")) for one in log.batches_from(log.log_start_offset)]
    end = log.log_end_offset
    return {
        "start": log.log_start_offset,
        "end": end,
        "stable": log.last_stable_offset,
        "batches": batches,
        "aborted": log.aborted_transactions(0, end),
        "producers": sorted(_producer(one) for one in log.producer_states.entries()),
        "epochs": [log.epochs.end_offset(epoch, end) for epoch in range(log.epochs.latest + 2)],
        "timestamps": [log.offset_for_timestamp(0), at_once(log.search(None, Unpacker()))]
        if end > log.log_start_offset
        else [],
    }


def _producer(one: Any) -> tuple[Any, ...]:
    return (
        one.producer_id, one.epoch, one.batches, one.last_timestamp, one.coordinator_epoch, one.transaction_start or -1,
    )  # fmt: skip


def _group(state: BrokerState, group_id: str) -> Any:
    group = state.coordinator.groups[group_id]
    offsets = state.coordinator.offsets
    return {
        "group": (group.group_type, group.protocol_type, group.state_name, group.described()),
        "view": str(view(state, group_id)),
        "offsets": {topic: list(map(_offset, columns.items())) for topic, columns in offsets.topics(group_id).items()},
        "pending": [(topic, p, one.partition) for topic, p, one in offsets.pending.each(group_id)],
    }


def _offset(found: tuple[int, CommittedOffset]) -> tuple[int, CommittedOffset]:
    """The record of one with its own retention is of a version that has no topic id."""
    partition, one = found
    return partition, one if one.expire_timestamp < 0 else one._replace(topic_id=ZERO_UUID)


def _sharing(state: BrokerState) -> Any:
    """What is kept of share partitions, what is in flight in them, and how far groups are."""
    if not state.has_share_partitions:
        return {"kept": {}, "in flight": {}, "held": [], "sessions": 0}
    sharing = state.share_partitions
    kept = {
        str(key): {name: deepcopy(getattr(one, name)) for name in one.__slots__}
        for key, one in sharing.coordinator.coordinator.states.items()
    }
    in_flight = {
        str((live.group_id, live.name, live.index)): list(map(str, live.partition.view()))
        for live in sharing.partitions
    }
    return {"kept": kept, "in flight": in_flight, "held": sorted(sharing.held), "sessions": sharing.sessions}


def _transactions(state: BrokerState) -> Any:
    if not state.has_transactions:
        return {}
    found = {one: _transaction(state, one) for one in state.transactions.coordinator.transactions}
    return {"ids": found, "idle": state.transactions.coordinator.idle, "held": sorted(state.transactions.held)}


def _transaction(state: BrokerState, transactional_id: str) -> Any:
    """In a record partitions have Kafka's order; who looks is told that in any case."""
    found = transaction_view(state.transactions, transactional_id)
    assert found is not None
    return found._replace(partitions=tuple(sorted(found.partitions)))


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two of them differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        return [line for key in {**one, **other} for line in differences(one.get(key), other.get(key), f"{path}/{key}")]
    return [] if one == other else [f"{path}: {one!r:.2000}\n  is now {other!r:.2000}"]
