"""A snapshot made a broker's state again: a new one, so that whatever speaks against it leaves the old one as it was.

Coordinators go on as when they move away and come back: groups, transactions and share
partitions are what their records say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config import ConfigError, InvalidValue
from kafkastub.config.other import InvalidClientMetrics
from kafkastub.metadata import Node
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.group_runtime import GroupRuntime
from kafkastub.state.internal_topics.internal_topic import SavedTopic
from kafkastub.state.runtime import Runtime
from kafkastub.state.settings_back import restore_settings
from kafkastub.state.snapshots.saved import SavedInternalTopic, SavedState, SavedUserTopic, SnapshotError, copies
from kafkastub.state.topics import create_logs
from kafkastub.steps import Steps

if TYPE_CHECKING:
    from kafkastub.config import BrokerConfig
    from kafkastub.state.leadership import Now

_PARTITIONS: Final = 2000
_LOGS: Final = 500
"""So many between two pauses."""


def put_back(
    saved: SavedState,
    config: BrokerConfig,
    nodes: Sequence[Node],
    log: Any,
    wall_ms: Callable[[], int] | None,
    now: Now,
) -> Steps[BrokerState]:
    """A broker's state, in memory, that is what was saved, at that time. The nodes are those that were saved.

    What is dynamic of the configuration is changed with it. Between two parts others may be served, by the state and
    the configuration that are there until then. Raises SnapshotError; then it is as it was.
    """
    theirs = config.dynamic()
    steps = _put_back(saved, config, nodes, log, wall_ms, now)
    try:
        config.set_dynamic({}, per_broker=True)  # what goes together with neither of both alone goes over nothing
        while True:
            try:
                work = next(steps)
            except StopIteration as end:
                state: BrokerState = end.value
                return state
            ours = config.dynamic()
            config.put_dynamic(theirs)
            try:
                yield work
            finally:
                theirs = config.dynamic()  # somebody may have altered it
            config.put_dynamic(ours)
    except BaseException as error:
        config.put_dynamic(theirs)
        if isinstance(error, (ConfigError, InvalidValue, InvalidClientMetrics, ValueError)):
            raise SnapshotError(f"the snapshot has what this broker cannot have: {error}") from None
        raise


def _put_back(
    saved: SavedState,
    config: BrokerConfig,
    nodes: Sequence[Node],
    log: Any,
    wall_ms: Callable[[], int] | None,
    now: Now,
) -> Steps[BrokerState]:
    state = BrokerState(config, nodes, log, wall_ms=wall_ms)
    cluster = state.cluster
    cluster.cluster_id, cluster.controller_id = saved.cluster_id, saved.controller_id
    cluster.logger_levels = dict(saved.logger_levels)
    state.logs.producer_ids.skip_to(saved.next_producer_id)
    restore_settings(state, _copied(saved.settings))
    for transactional_id in saved.held:
        state.transactions.hold_markers(transactional_id)
    _hold(state, saved)
    yield from topics_back(state, saved)
    yield from _coordinators_back(state, saved, now)
    metadata = saved.settings["metadata"]
    state.metadata_offset, state.metadata_epoch = metadata["offset"], metadata["epoch"]
    return state


def _hold(state: BrokerState, saved: SavedState) -> None:
    for group_id in saved.held_share_groups:
        state.share_partitions.hold_acknowledgements(group_id)


def _copied(settings: Any) -> Any:
    """What is restored may be changed afterwards."""
    return settings | {
        "group_configs": {name: texts.copy() for name, texts in settings["group_configs"].items()},
        "client_metrics_configs": {name: texts.copy() for name, texts in settings["client_metrics_configs"].items()},
    }


def topics_back(state: BrokerState, saved: SavedState) -> Steps[None]:
    """Topics and their logs; coordinators have the state that is theirs, and do not go on yet."""
    for node_id, name, index, path in saved.dirs_wished:
        if (number := state.log_dirs.number(path)) is not None:
            state.log_dirs.prefer(node_id, name, index, number)
    for one in saved.topics:
        topic, partitions = replace(one.topic, partitions=[], configs=one.topic.configs.copy()), one.topic.partitions
        for first in range(0, len(partitions), _PARTITIONS):
            topic.partitions += copies(partitions[first : first + _PARTITIONS])
            yield 1
        state.cluster.put_back(topic)
        if one.log_dirs:
            state.log_dirs.restore(topic, (dirs.get("log_dirs") for dirs in one.log_dirs))
        create_logs(state, topic)
        if isinstance(one, SavedUserTopic):
            made = list(one.logs.made.items())
            for first in range(0, max(1, len(made)), _LOGS):
                state.logs.take_up(topic.topic_id, one.logs._replace(made=dict(made[first : first + _LOGS])))
                yield 1
    for one in saved.topics:
        if isinstance(one, SavedInternalTopic):
            written = state.runtimes[one.topic.name].topic
            if isinstance(one.state, SavedTopic):
                written.take_up(one.state)
            else:
                for log, offset in zip(written.logs, one.state.log_start_offsets, strict=True):
                    log.log_start_offset = offset
                written.take_up_batches(one.state.batches)
            yield 1


def _coordinators_back(state: BrokerState, saved: SavedState, now: Now) -> Steps[None]:
    """Coordinators go on from what their records say."""
    names = {one.topic.name for one in saved.topics if isinstance(one, SavedInternalTopic)}
    runtimes = [runtime for name, runtime in state.runtimes.items() if name in names]
    for runtime in runtimes:
        runtime.loaded()
        runtime.settle((yield from _loaded(runtime, now)))
    for runtime in runtimes:
        runtime.retry_waiting(*now)


def _loaded(runtime: Runtime[Any], now: Now) -> Steps[Any]:
    if not isinstance(runtime, GroupRuntime):
        return runtime.coordinator.loaded(*now)
    return (yield from runtime.coordinator.loaded_in_parts(*now))


def beside_the_directory(state: BrokerState, saved: SavedState) -> None:
    """The state that a data directory had a snapshot of: what no directory has."""
    state.cluster.controller_id = saved.controller_id
    state.cluster.logger_levels = dict(saved.logger_levels)
    state.metadata_offset = saved.settings["metadata"]["offset"]
    _hold(state, saved)
    for node_id, name, index, path in saved.dirs_wished:
        if (number := state.log_dirs.number(path)) is not None:
            state.log_dirs.prefer(node_id, name, index, number)


def follow(state: BrokerState, before: BrokerState) -> None:
    """The state takes another one's place: meters go on, whoever watches goes on watching, and looks at once.

    Nobody may ask the one before any more.
    """
    state.cluster.follow(before.cluster)
    state.coordinator.count_on(before.coordinator)
    state.group_watchers = before.group_watchers
    state.topic_watchers = before.topic_watchers
    watchers = [*state.group_watchers, *state.topic_watchers]
    if before.has_transactions:
        state.transactions.coordinator.meters = before.transactions.coordinator.meters
        state.transactions.watchers = before.transactions.watchers
        watchers += state.transactions.watchers
    if before.has_share_partitions:
        state.share_partitions.follow(before.share_partitions)
        watchers += state.share_partitions.watchers
    for look in watchers:
        look()
    # What refers to itself waits for the collector, and records, groups and partitions may be many.
    before.logs.let_go()
    before.coordinator.let_go()
    before.cluster.let_go()
    for runtime in before.runtimes.values():
        runtime.topic.clear()
