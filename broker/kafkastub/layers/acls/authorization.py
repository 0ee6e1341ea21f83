"""Who may do what with an API: the authorizer of a broker, and the handlers that ask it.

Without `authorizer.class.name` there is none, and no request pays for it: `guarded` is put around an API's handler when
its route is made, and only where there is an authorizer. A guard takes out of the request what the principal may not
have, lets the handler answer the rest, and adds what is refused, in Kafka's place and words (Kafka: ``KafkaApis``,
``ControllerApis``, ``AuthHelper``). Guards are in `guards_groups`, `guards_topics` and `guards_cluster`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeVar

from kafkastub.config import BrokerConfig, ConfigError
from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.security import CLUSTER_NAME, Authorizer, Operation, ResourceType

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

T = TypeVar("T")

CLASS_NAME: Final = "authorizer.class.name"
STANDARD_AUTHORIZER: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SUPER_USERS: Final = "super.users"
ALLOW_EVERYONE: Final = "allow.everyone.if.no.acl.found"


def make_authorizer(config: BrokerConfig) -> Authorizer | None:
    """The one that is configured, without any entries; None where there is none. Raises ConfigError."""
    name = config[CLASS_NAME]
    if not name:
        return None
    if name != STANDARD_AUTHORIZER:
        raise ConfigError(f"{CLASS_NAME}={name} is refused: allowed is {STANDARD_AUTHORIZER}, or nothing")
    users = [user.strip() for user in config.static.get(SUPER_USERS, "").split(";")]
    for user in users:
        if user and not all(user.partition(":")):
            raise ConfigError(f"{SUPER_USERS} is refused: {user!r} is not TYPE:NAME, for example User:alice")
    everyone = config.static.get(ALLOW_EVERYONE, "false").strip().lower()
    if everyone not in ("true", "false"):
        raise ConfigError(f"{ALLOW_EVERYONE}={everyone} is refused: allowed are true and false")
    return Authorizer(
        filter(None, users),
        allow_everyone_without_acl=everyone == "true",
        group_delete_implies_describe=config.profile.group_delete_implies_describe,
    )


class Access:
    """What the principal of one request may do. Only where there is an authorizer."""

    __slots__ = ("_authorizer", "_host", "_principal")

    def __init__(self, ctx: RequestContext) -> None:
        authorizer = ctx.state.authorizer
        assert authorizer is not None
        self._authorizer = authorizer
        self._principal = ctx.principal
        self._host = ctx.client_host.removeprefix("/")

    def to(self, operation: int, kind: ResourceType, name: str) -> bool:
        """Whether it may do this to the resource."""
        return self._authorizer.allows(self._principal, self._host, operation, kind, name)

    def to_cluster(self, operation: int) -> bool:
        """Whether it may do this to the cluster."""
        return self.to(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def to_topic(self, operation: int, name: str) -> bool:
        """Whether it may do this to the topic, which need not exist."""
        return self.to(operation, ResourceType.TOPIC, name)

    def to_group(self, operation: int, name: str) -> bool:
        """Whether it may do this to the group."""
        return self.to(operation, ResourceType.GROUP, name)

    def to_some_topic(self, operation: int) -> bool:
        """Whether there may be a topic that it may do this to."""
        return self._authorizer.allows_somewhere(self._principal, self._host, operation, ResourceType.TOPIC)

    def operations(self, supported: int, kind: ResourceType, name: str) -> int:
        """Those of the supported operations that are allowed, as a bit field (KIP-430)."""
        return sum(1 << bit for bit in range(32) if supported >> bit & 1 and self.to(bit, kind, name))

    def cluster_operations(self, supported: int) -> int:
        """The same of the cluster; none for who may not describe it."""
        if not self.to_cluster(Operation.DESCRIBE):
            return 0
        return self.operations(supported, ResourceType.CLUSTER, CLUSTER_NAME)


def split(items: Iterable[T], allowed: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """(the allowed ones, the others), both in their order."""
    mine: list[T] = []
    refused: list[T] = []
    for item in items:
        (mine if allowed(item) else refused).append(item)
    return mine, refused


def guarded(api: Registration) -> Handler:
    """The API's handler behind the authorizer."""
    from kafkastub.layers.acls.guards import GUARDS

    guard = GUARDS.get(api.key)
    return api.handler if guard is None else guard(api)


def may_fetch(ctx: RequestContext, replica_id: int) -> Callable[[str], bool] | None:
    """Which topics, by name, a fetch may read; None where there is no authorizer.

    Followers need ClusterAction on the cluster instead. Asked by the handler itself, as its sessions remember
    partitions that may be refused today and allowed tomorrow.
    """
    if ctx.state.authorizer is None:
        return None
    access = Access(ctx)
    if replica_id >= 0:
        may = access.to_cluster(Operation.CLUSTER_ACTION)
        return lambda _: may
    return lambda name: access.to_topic(Operation.READ, name)


def acls_changed(state: BrokerState) -> None:
    """Entries came or went: they outlive the process where there is a data directory."""
    state.changed()
