"""What only a stub can do: each is refused in one sentence, whatever of it is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.problems import Problem

SENTENCES: Final = {
    "acls": "ACLs are the cluster's: its own tools set them",
    "advertised": "the advertised address is set at the start, with --advertised",
    "broker": "the coordinators are the cluster's: they cannot be reloaded",
    "clock": "the clock is the cluster's, which nobody can move",
    "config": "configurations are the cluster's: its own tools set them",
    "configs": "configurations are the cluster's: its own tools set them",
    "coordinators": "coordinators are the cluster's",
    "hanging-transactions": "transactions are the cluster's: use kafkastub transactions find-hanging",
    "leaders": "leaders are the cluster's: its own tools elect them",
    "quotas": "quotas are the cluster's: its own tools set them",
    "reset": "a cluster cannot be reset: delete its topics and groups",
    "share-groups": "share groups are the cluster's: use kafkastub share-groups",
    "snapshots": "a snapshot is of a stub's own state, and a cluster has no such thing",
    "streams-groups": "streams groups are the cluster's: use kafkastub streams-groups",
    "transactions": "transactions are the cluster's, which holds no markers; a fault on EndTxn holds the request",
}
"""By the first part of a path below /v1."""
PARTS: Final = {
    "groups": "targets, held revocations, ended sessions and findings are of a stub's own groups",
    "nodes": "nodes are the cluster's: they are not stopped or added here",
    "topics": "records are looked for in a stub's own logs: /v1/topics/{name}/records reads the cluster's",
}
"""The same for paths of which a proxy has some."""
_OF_GROUPS: Final = ("partitions", "findings")
"""What would be taken for a part of a group's name."""
_NEEDS: Final = "needs a stub, and this is a proxy in front of a cluster"
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def sentences() -> dict[str, str]:
    """What is refused and why, by the subject; with a slash behind it where it is only parts of that."""
    whole = {name: f"{name} {_NEEDS}: {sentence}" for name, sentence in SENTENCES.items()}
    return whole | {f"{name}/": f"this {_NEEDS}: {sentence}" for name, sentence in PARTS.items()}


def routes() -> Endpoints:
    """The endpoints, behind all others; none of them is described, for there is nothing to be had."""
    router = Endpoints()
    for name, sentence in (SENTENCES | PARTS).items():
        endpoint = _refusing(f"{name} {_NEEDS}: {sentence}")
        for path in (f"/{name}/{{rest:path}}", *((f"/{name}",) if name in SENTENCES else ())):
            router.add_api_route(path, endpoint, methods=_METHODS, include_in_schema=False)
    return router


def of_groups() -> Endpoints:
    """Those that come before the groups: a group's name may hold a slash."""
    router = Endpoints(prefix="/groups")
    endpoint = _refusing(f"this {_NEEDS}: {PARTS['groups']}")
    for part in _OF_GROUPS:
        router.add_api_route(f"/{{group:path}}/{part}", endpoint, methods=["GET"], include_in_schema=False)
    return router


def _refusing(sentence: str) -> Callable[[], Awaitable[None]]:
    async def refuse() -> None:
        raise Problem(501, sentence)

    return refuse
