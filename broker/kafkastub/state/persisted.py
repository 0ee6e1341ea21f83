"""What kafkastub.json may hold: each field's type and bounds, looked at before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kafkastub.metadata import NOBODY, PartitionState
from kafkastub.state.checks import (
    Damaged,
    by_name,
    fields,
    listed,
    name,
    number,
    of_base64,
    or_null,
    parts,
    text,
    topic_name,
    uuid,
    whole,
)


def check(document: Any) -> None:
    """Raises Damaged."""
    _DOCUMENT(document, "")
    for key in ("name", "id"):
        seen: dict[str, int] = {}
        for index, topic in enumerate(document["topics"]):
            first = seen.setdefault(topic[key], index)
            if first != index:
                raise Damaged(f"topics[{index}].{key} is that of topics[{first}] too")


def partition(one: PartitionState) -> dict[str, Any]:
    """Who leads a partition and who replicates it, as a document says it."""
    return {
        "leader": one.leader,
        "leader_epoch": one.leader_epoch,
        "replicas": one.replicas,
        "isr": one.isr,
        "elr": one.elr,
        "adding": one.adding,
        "removing": one.removing,
        "last_leader": one.last_leader,
    }


def partitions_of(topic: Mapping[str, Any]) -> list[PartitionState]:
    """What a topic's document says of that."""
    return [
        PartitionState(
            index,
            one["leader"],
            one["leader_epoch"],
            one["replicas"],
            one["isr"],
            *(one.get(kind) or NOBODY for kind in ("elr", "adding", "removing", "last_leader")),
        )
        for index, one in enumerate(topic["partitions"])
    ]


_MS: Final = whole(-(1 << 53), 1 << 53)
_TIMESTAMP: Final = whole(-(1 << 63), (1 << 63) - 1)
_OFFSET: Final = whole(0, (1 << 63) - 1)
_EPOCH: Final = whole(-1, (1 << 15) - 1)
_NODE: Final = whole(0, (1 << 31) - 1)
_NODES: Final = listed(_NODE)
_TEXTS: Final = by_name(text)

_PARTITION: Final = fields(
    {
        "leader": whole(-1, (1 << 31) - 1),
        "leader_epoch": whole(0, (1 << 31) - 1),
        "replicas": listed(_NODE, at_least=1),
        "isr": _NODES,
        "log_start_offset": _OFFSET,
    },
    {"elr": _NODES, "adding": _NODES, "removing": _NODES, "last_leader": _NODES, "log_dirs": listed(text)},
)
_PRINCIPAL: Final = parts(text, text)
_DOCUMENT: Final = fields(
    {
        "clock": fields({"ahead_ms": _MS, "frozen_at": or_null(_MS)}),
        "producer_ids": fields(
            {"next": _OFFSET}, {"transactional": by_name(parts(_OFFSET, whole(0, (1 << 15) - 1), _EPOCH))}
        ),
        "broker_configs": fields({"broker": _TEXTS, "default": _TEXTS}),
        "group_configs": by_name(_TEXTS),
        "client_metrics_configs": by_name(_TEXTS),
        "topics": listed(
            fields({"name": topic_name, "id": uuid, "configs": _TEXTS, "partitions": listed(_PARTITION, at_least=1)})
        ),
    },
    {
        "features": by_name(whole(0, (1 << 15) - 1)),
        # while the process lives: who starts registers
        "unregistered": _NODES,
        "metadata": fields({"offset": whole(0, 1 << 53), "epoch": whole(0, (1 << 31) - 2)}),
        # user, mechanism, salt, stored key, server key, iterations
        "scram": listed(parts(name, whole(1, 2), of_base64, of_base64, of_base64, whole(1, (1 << 31) - 1))),
        "quotas": listed(parts(listed(parts(name, or_null(text)), at_least=1), by_name(number))),
        # id, owner, who asked, renewers; issued, at most, expires
        "delegation_tokens": listed(
            parts(name, _PRINCIPAL, _PRINCIPAL, listed(_PRINCIPAL), _TIMESTAMP, _TIMESTAMP, _TIMESTAMP)
        ),
        # the fields of an `Acl`
        "acls": listed(parts(whole(2, 7), text, whole(3, 4), text, text, whole(2, 15), whole(2, 3))),
    },
)
