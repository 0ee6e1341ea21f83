"""What only a stub can do: each is refused in one sentence, whatever of it is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import APIRouter

from kafkastub.control.problems import Problem

SENTENCES: Final = {
    "clock": "the clock is the cluster's, which nobody can move",
    "snapshots": "a snapshot is of a stub's own state, and a cluster has no such thing",
    "broker": "the coordinators are the cluster's: it is not reset, and nothing is loaded anew",
    "transactions": "transactions are the cluster's, which holds no markers; a fault on EndTxn holds the request",
    "share-groups": "share groups are the cluster's: kafkastub share-groups asks it",
    "streams-groups": "streams groups are the cluster's: kafkastub streams-groups asks it",
    "quotas": "quotas are the cluster's: its own tools set them",
    "acls": "ACLs are the cluster's: its own tools set them",
    "configs": "configurations are the cluster's: its own tools set them",
    "forecast": "what expires when is the cluster's business, whose clock nobody can move",
    "findings": "they are looked for in a stub's own state",
    "offsets": "offsets are the cluster's: kafkastub groups asks it",
}
"""By the first part of a path below /v1."""
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def routes() -> APIRouter:
    """The endpoints; none of them is described, for there is nothing to be had."""
    router = APIRouter()
    for name, sentence in SENTENCES.items():
        endpoint = _refusing(f"{name} needs a stub, and this is a proxy in front of a cluster: {sentence}")
        for path in (f"/{name}", f"/{name}/{{rest:path}}"):
            router.add_api_route(path, endpoint, methods=_METHODS, include_in_schema=False)
    return router


def _refusing(sentence: str) -> Callable[[], Awaitable[None]]:
    async def refuse() -> None:
        raise Problem(501, sentence)

    return refuse
