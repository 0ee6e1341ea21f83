"""What a proxy cannot do, and what to do instead: one sentence each, for Python, HTTP and the page."""

from __future__ import annotations

from typing import Final

from kafkastub.stub.errors import StubError

REASONS: Final = {
    "clock": "the clock is the cluster's, which nobody can move",
    "snapshot": "a snapshot is of a stub's own state, and a cluster has no such thing",
    "restore": "a snapshot is of a stub's own state, and a cluster has no such thing",
    "rolled_back": "a snapshot is of a stub's own state, and a cluster has no such thing",
    "expire_offsets_now": "the cluster removes expired offsets at its own interval",
    "reload_coordinator": "the coordinators are the cluster's",
    "coordinator_loading": "the coordinators are the cluster's; a fault answers COORDINATOR_LOAD_IN_PROGRESS",
    "transactions": "transactions are the cluster's, which holds no markers; a fault on EndTxn holds the request",
    "groups": "groups are the cluster's, and their targets cannot be set; wait_group and wait_assigned work",
    "share_groups": "share groups are the cluster's, which does not show records; use kafkastub share-groups",
    "streams_groups": "streams groups are the cluster's; use kafkastub streams-groups",
    "nodes": "the nodes are the cluster's; a fault with node= and drop= ends connections to one of them",
    "add_node": "the nodes are the cluster's",
    "remove_node": "the nodes are the cluster's",
    "move_leader": "leaders are the cluster's",
    "move_coordinator": "coordinators are the cluster's",
    "elect_leaders": "leaders are the cluster's",
    "quotas": "quotas are the cluster's; its own tools set them",
    "set_quota": "quotas are the cluster's; its own tools set them",
    "advertise": "the advertised address is set at the start, with advertised=",
    "metrics": "the cluster has its own metrics; the control port has those of requests through the proxy",
    "client_certificate": "certificates of clients are for the cluster to sign",
    "registry": "the schema registry is the cluster's; clients use its own URL",
    "with_registry": "the schema registry is the cluster's; clients use its own URL",
}
"""By the name of what a stub has."""


class NotInFront(StubError):
    """Only a stub can do this. The object is a proxy in front of a cluster."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs a stub, and this is a proxy in front of a cluster: {REASONS[what]}")
