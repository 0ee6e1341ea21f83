"""Which API has which fast path.

Loaded with the handlers, when a broker is made: later there may be no descriptor to open a file. Those of share groups
are loaded with the first request of one, as all that share groups need.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from kafkastub.layers.fast_paths import (
    about_the_cluster,
    add_partitions_to_txn,
    api_versions,
    end_txn,
    heartbeats,
    list_offsets,
    offset_commit,
    produce,
)
from kafkastub.layers.fast_paths.contract import FastPath, FastPathOf, IsClear
from kafkastub.state.broker_state import BrokerState
from kafkawire.api import ApiKey


def _share_fetch(state: BrokerState, version: int, is_clear: IsClear) -> FastPath:
    from kafkastub.layers.fast_paths import share_fetch

    return share_fetch.fast_path(state, version, is_clear)


def _share_acknowledge(state: BrokerState, version: int, is_clear: IsClear) -> FastPath:
    from kafkastub.layers.fast_paths import share_acknowledge

    return share_acknowledge.fast_path(state, version, is_clear)


def _heartbeats(group_type: str) -> FastPathOf:
    return FastPathOf(partial(heartbeats.Heartbeats, group_type), alike=True, learns=True)


FAST_PATHS: Final[Mapping[ApiKey, FastPathOf]] = {
    ApiKey.PRODUCE: FastPathOf(produce.fast_path, alike=True),
    ApiKey.LIST_OFFSETS: FastPathOf(list_offsets.fast_path, learns=True),
    ApiKey.METADATA: FastPathOf(about_the_cluster.metadata, learns=True),
    ApiKey.OFFSET_COMMIT: FastPathOf(offset_commit.fast_path),
    ApiKey.FIND_COORDINATOR: FastPathOf(about_the_cluster.find_coordinator, learns=True),
    ApiKey.API_VERSIONS: FastPathOf(api_versions.fast_path, learns=True),
    ApiKey.ADD_PARTITIONS_TO_TXN: FastPathOf(add_partitions_to_txn.fast_path, alike=True),
    ApiKey.END_TXN: FastPathOf(end_txn.fast_path, alike=True),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: _heartbeats("consumer"),
    ApiKey.SHARE_GROUP_HEARTBEAT: _heartbeats("share"),
    ApiKey.STREAMS_GROUP_HEARTBEAT: _heartbeats("streams"),
    ApiKey.DESCRIBE_CLUSTER: FastPathOf(about_the_cluster.describe_cluster, learns=True),
    ApiKey.SHARE_FETCH: FastPathOf(_share_fetch, alike=True),
    ApiKey.SHARE_ACKNOWLEDGE: FastPathOf(_share_acknowledge, alike=True),
}
