"""From the frame to the answer's bytes, past decoder, handler and encoder: for requests that come every day.

A fast path is open as long as nobody has put anything between a route and the handler that it passes by: a quota, or a
wait for the disk, closes it. Some learn from the careful way, whose answers they give again (`remembered`). Where there
is an authorizer there is none: who asks is not looked at, and some handlers ask by themselves what the principal may
do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkastub.layers.fast_paths.contract import FastPath, FastPathOf, IsClear
from kafkastub.state.broker_state import BrokerState
from kafkawire.api import ApiKey


def _add_partitions_to_txn(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import add_partitions_to_txn

    return add_partitions_to_txn.fast_path(state, version, is_clear)


def _end_txn(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import end_txn

    return end_txn.fast_path(state, version, is_clear)


def _offset_commit(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import offset_commit

    return offset_commit.fast_path(state, version, is_clear)


def _produce(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import produce

    return produce.fast_path(state, version, is_clear)


def _share_fetch(state: BrokerState, version: int, is_clear: IsClear) -> FastPath:
    from kafkastub.layers.fast_paths import share_fetch

    return share_fetch.fast_path(state, version, is_clear)


def _share_acknowledge(state: BrokerState, version: int, is_clear: IsClear) -> FastPath:
    from kafkastub.layers.fast_paths import share_acknowledge

    return share_acknowledge.fast_path(state, version, is_clear)


def _api_versions(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import api_versions

    return api_versions.fast_path(state, version, is_clear)


def _list_offsets(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import list_offsets

    return list_offsets.fast_path(state, version, is_clear)


def _metadata(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import about_the_cluster

    return about_the_cluster.metadata(state, version, is_clear)


def _find_coordinator(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import about_the_cluster

    return about_the_cluster.find_coordinator(state, version, is_clear)


def _describe_cluster(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import about_the_cluster

    return about_the_cluster.describe_cluster(state, version, is_clear)


def _consumer_group_heartbeat(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import heartbeats

    return heartbeats.consumer(state, version, is_clear)


def _share_group_heartbeat(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import heartbeats

    return heartbeats.share(state, version, is_clear)


def _streams_group_heartbeat(state: BrokerState, version: int, is_clear: IsClear) -> FastPath | None:
    from kafkastub.layers.fast_paths import heartbeats

    return heartbeats.streams(state, version, is_clear)


FAST_PATHS: Final[Mapping[ApiKey, FastPathOf]] = {
    ApiKey.PRODUCE: FastPathOf(_produce, alike=True),
    ApiKey.LIST_OFFSETS: FastPathOf(_list_offsets, learns=True),
    ApiKey.METADATA: FastPathOf(_metadata, learns=True),
    ApiKey.OFFSET_COMMIT: FastPathOf(_offset_commit),
    ApiKey.FIND_COORDINATOR: FastPathOf(_find_coordinator, learns=True),
    ApiKey.API_VERSIONS: FastPathOf(_api_versions, learns=True),
    ApiKey.ADD_PARTITIONS_TO_TXN: FastPathOf(_add_partitions_to_txn, alike=True),
    ApiKey.END_TXN: FastPathOf(_end_txn, alike=True),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: FastPathOf(_consumer_group_heartbeat, alike=True, learns=True),
    ApiKey.SHARE_GROUP_HEARTBEAT: FastPathOf(_share_group_heartbeat, alike=True, learns=True),
    ApiKey.STREAMS_GROUP_HEARTBEAT: FastPathOf(_streams_group_heartbeat, alike=True, learns=True),
    ApiKey.DESCRIBE_CLUSTER: FastPathOf(_describe_cluster, learns=True),
    ApiKey.SHARE_FETCH: FastPathOf(_share_fetch, alike=True),
    ApiKey.SHARE_ACKNOWLEDGE: FastPathOf(_share_acknowledge, alike=True),
}
