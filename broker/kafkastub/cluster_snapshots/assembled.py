"""The document of a snapshot, put together from what was read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from kafkastub.config import BrokerConfig, Profile
from kafkastub.metadata.ids import uuid_text
from kafkastub.state.internal_topics.catalog import CATALOG
from kafkastub.state.snapshots import documents
from kafkastub.state.snapshots.files import FORMAT, FORMAT_KEY
from kafkastub.state.snapshots.saved import SavedNode, SavedState

_NOTHING: Final[dict[str, Any]] = {
    "broker_configs": {"broker": {}, "default": {}},
    "group_configs": {},
    "client_metrics_configs": {},
    "features": {},
    "metadata": {"offset": 1, "epoch": 1},
    "scram": None,
    "quotas": [],
    "delegation_tokens": [],
    "acls": [],
}


def document(
    topics: Iterable[str],
    *,
    cluster_id: str,
    nodes: Sequence[SavedNode],
    controller_id: int,
    broker_ms: int,
    next_producer_id: int = 0,
    settings: Mapping[str, Any] | None = None,
    properties: Mapping[str, str] | None = None,
    missing: Sequence[tuple[str, str]] = (),
) -> bytes:
    """The whole document; `topics` are those that `topic` gave."""
    saved = SavedState(
        BrokerConfig(None, Profile.named("kafka")),
        cluster_id,
        tuple(nodes),
        controller_id,
        {**_NOTHING, **(settings or {})},
        {},
        (),
        (0, None),
        broker_ms,
        next_producer_id,
        frozenset(),
        (),
        frozenset(),
        properties or {},
        missing,
    )
    head = json.dumps({FORMAT_KEY: FORMAT, **documents.document(saved)}, separators=(",", ":"))
    return f'{head[:-1]},"topics":[{",".join(topics)}]}}'.encode()


def topic(name: str, topic_id: bytes, configs: Mapping[str, str], partitions: Sequence[Mapping[str, Any]]) -> str:
    """One topic; of its partitions who replicates them, and their logs."""
    said = {
        "name": name,
        "id": uuid_text(topic_id),
        "configs": configs,
        "coordinators": int(name in CATALOG),
        "partitions": partitions,
    }
    return json.dumps(said, separators=(",", ":"))
