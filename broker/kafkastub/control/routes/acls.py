"""/v1/acls: who may do what. As an administrator of Kafka has it, without asking whether whoever asks may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.shapes import Body, Limit, Offset, Text, body_example, example
from kafkastub.control.walks import Walks
from kafkastub.security import Acl, AclFilter, Operation, PatternType, Permission, ResourceType
from kafkastub.security.acl_requests import NO_AUTHORIZER, refusal_of_entry
from kafkastub.security.hosts import refusal
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkastub.security import Authorizer

K = TypeVar("K", bound=IntEnum)

_MOST: Final = 100_000
"""Entries, where they are added here."""
_MOST_TOLD: Final = 100
"""Of those about one resource."""

_Resource = Literal["TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"]
_Pattern = Literal["LITERAL", "PREFIXED"]
_Operation = Literal[
    "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
]  # fmt: skip
_Permission = Literal["ALLOW", "DENY"]
_EXAMPLE: Final = {
    "resource_type": "TOPIC", "resource_name": "orders", "pattern_type": "LITERAL", "principal": "User:alice",
    "host": "*", "operation": "READ", "permission": "ALLOW",
}  # fmt: skip


class NewAcl(Body):
    """An ACL entry."""

    model_config = body_example(**_EXAMPLE)

    resource_type: _Resource
    resource_name: Text = Field(description="`*` matches every name; the cluster is named kafka-cluster")
    pattern_type: _Pattern = "LITERAL"
    principal: Text = Field(description="for example User:alice; `User:*` matches everybody")
    host: Text = Field("*", description="an address, a range such as 10.0.0.0/8, or `*`")
    operation: _Operation
    permission: _Permission = "ALLOW"


class AclInfo(BaseModel):
    """An ACL entry."""

    model_config = example(**_EXAMPLE)

    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str


class AclList(BaseModel):
    """The matching entries, in the order in which they were added."""

    authorizer: bool = Field(description="whether the broker has an authorizer; without one everything is allowed")
    super_users: list[str] = Field(description="principals that may do everything")
    everyone_without_acl: bool = Field(description="whether every principal may use a resource that has no entry")
    acls: list[AclInfo]
    total: int = Field(description="number of matches, listed or not")


class AclFilters(Body):
    """Which; what is left out is any."""

    resource_type: _Resource | None = None
    resource_name: str | None = None
    pattern_type: Literal["LITERAL", "PREFIXED", "MATCH"] | None = Field(
        None, description="MATCH: all entries that apply to the resource of that name"
    )
    principal: str | None = None
    host: str | None = None
    operation: _Operation | None = None
    permission: _Permission | None = None


class AclsQuery(AclFilters):
    """Which, and how many."""

    offset: Offset = 0
    limit: Limit = 1000


class RemovedAcls(BaseModel):
    """How many entries were removed."""

    model_config = example(removed=1)

    removed: int


class AccessQuery(Body):
    """Who wants to do what."""

    principal: str = Field(description="User:alice")
    host: str = Field("127.0.0.1", description="the client's address")
    operation: _Operation
    resource_type: _Resource
    resource_name: str


class AccessInfo(BaseModel):
    """Whether access is allowed, and the entries that apply."""

    model_config = example(allowed=True, super_user=False, concerning=[_EXAMPLE])

    allowed: bool
    super_user: bool
    concerning: list[AclInfo] = Field(
        description="the entries that apply to the resource, of any principal; at most 100"
    )


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/acls", tags=["acls"])
    walks = Walks()

    def authorizer() -> Authorizer:
        found = hosted.running().state.authorizer
        if found is None:
            raise Problem(409, f"{NO_AUTHORIZER} Set authorizer.class.name.", ErrorCode.SECURITY_DISABLED.name)
        return found

    @router.get("", summary="List ACL entries, with the authorizer's settings")
    async def list_acls(query: Annotated[AclsQuery, Query()]) -> AclList:
        found = hosted.running().state.authorizer
        if found is None:
            return AclList(authorizer=False, super_users=[], everyone_without_acl=True, acls=[], total=0)
        listed: list[AclInfo] = []
        total = 0
        async for one in walks.through(_fitting(found, _filter(query))):
            if query.offset <= total < query.offset + query.limit:
                listed.append(_info(one))
            total += 1
        return AclList(
            authorizer=True,
            super_users=sorted(found.super_users),
            everyone_without_acl=found.allow_everyone_without_acl,
            acls=listed,
            total=total,
        )

    @router.post("", status_code=201, summary="Add an ACL entry; an entry that exists is not an error")
    async def add(body: NewAcl) -> AclInfo:
        asked = authorizer()
        acl = Acl(
            ResourceType[body.resource_type],
            body.resource_name,
            PatternType[body.pattern_type],
            body.principal,
            body.host,
            Operation[body.operation],
            Permission[body.permission],
        )
        why = refusal_of_entry(acl) or (refusal(body.host) if asked.host_ranges else None)
        if why is not None:
            raise Problem(400, why, ErrorCode.INVALID_REQUEST.name)
        if len(asked) >= _MOST:
            raise Problem(409, f"there are {_MOST} entries already: remove some")
        _changed(hosted, lambda: asked.add(acl))
        await hosted.kept()
        return _info(acl)

    @router.delete("", summary="Remove the matching ACL entries; all of them without a filter")
    async def remove(query: Annotated[AclFilters, Query()]) -> RemovedAcls:
        asked = authorizer()
        removed: list[Acl] = []
        _changed(hosted, lambda: removed.extend(asked.remove(_filter(query))))
        await hosted.kept()
        return RemovedAcls(removed=len(removed))

    @router.get("/access", summary="Report whether a principal may do an operation, and the entries that decide it")
    async def access(query: Annotated[AccessQuery, Query()]) -> AccessInfo:
        asked = authorizer()
        kind = ResourceType[query.resource_type]
        about = AclFilter(kind, query.resource_name, PatternType.MATCH, None, None, Operation.ANY, Permission.ANY)
        return AccessInfo(
            allowed=asked.allows(query.principal, query.host, Operation[query.operation], kind, query.resource_name),
            super_user=query.principal in asked.super_users,
            concerning=[_info(one) async for one in walks.through(_fitting(asked, about))][:_MOST_TOLD],
        )

    return router


def _changed(hosted: Hosted, work: Callable[[], object]) -> None:
    """Raises Problem where nothing can be kept."""
    state = hosted.running().state
    try:
        state.check_writable()
    except KafkaError as error:
        raise of_kafka(error, "the entry") from None

    def change() -> None:
        work()
        state.changed()

    hosted.call(change)


def _fitting(authorizer: Authorizer, wanted: AclFilter) -> Iterator[Acl | None]:
    for acl in authorizer.all():
        yield acl if wanted.matches(acl) else None


def _filter(query: AclFilters) -> AclFilter:
    return AclFilter(
        _or_any(ResourceType, query.resource_type),
        query.resource_name,
        _or_any(PatternType, query.pattern_type),
        query.principal,
        query.host,
        _or_any(Operation, query.operation),
        _or_any(Permission, query.permission),
    )


def _or_any(kind: type[K], name: str | None) -> K:
    return kind["ANY" if name is None else name]


def _info(acl: Acl) -> AclInfo:
    return AclInfo(
        resource_type=ResourceType(acl.resource_type).name,
        resource_name=acl.resource_name,
        pattern_type=PatternType(acl.pattern_type).name,
        principal=acl.principal,
        host=acl.host,
        operation=Operation(acl.operation).name,
        permission=Permission(acl.permission).name,
    )
