"""/v1/holds: all that a test keeps back, in one list: each has its own request that lets it go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.of_groups import loaded
from kafkastub.control.routes.shapes import example
from kafkastub.control.walks import Walks

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

_MOST: Final = 1000
"""Of each kind."""


class HeldByFault(BaseModel):
    """A request that a fault rule holds; released by `/v1/faults/{fault}/release` with `connection`."""

    fault: str
    api: str
    version: int
    connection: int
    client_id: str | None
    number: int = Field(description="counted from 1 in the order in which the rule held them")
    since: float = Field(description="Unix time in seconds, by the machine's clock")


class HeldRevocation(BaseModel):
    """A member whose revocations are held; released by `/v1/groups/{group}/release-revocation`."""

    group: str
    member_id: str


class HoldList(BaseModel):
    """What is held, at most 1,000 of each kind."""

    model_config = example(
        requests=[
            {
                "fault": "fault-1", "api": "JoinGroup", "version": 9, "connection": 3, "client_id": "shipping-1",
                "number": 1, "since": 1772366400.5,
            }
        ],
        markers=["shop"], acknowledgements=[], revocations=[],
    )  # fmt: skip

    requests: list[HeldByFault]
    markers: list[str] = Field(
        description="transactional ids; released by `/v1/transactions/{transactional_id}/release`"
    )
    acknowledgements: list[str] = Field(
        description="share groups; released by `/v1/share-groups/{group}/release-acknowledgements`"
    )
    revocations: list[HeldRevocation]


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/holds", tags=["faults"])
    walks = Walks()

    @router.get("", summary="List everything that is held: requests, markers, acknowledgements, revocations")
    async def list_holds() -> HoldList:
        state = loaded(hosted)
        requests = [
            HeldByFault(fault=fault.id, **request._asdict()) for fault in hosted.faults for request in fault.held
        ]
        markers = state.transactions.held if state.has_transactions else frozenset()
        groups = state.share_partitions.held if state.has_share_partitions else frozenset()
        revocations = [one async for one in walks.through(_revocations(state))]
        return HoldList(
            requests=requests[:_MOST],
            markers=sorted(markers)[:_MOST],
            acknowledgements=sorted(groups)[:_MOST],
            revocations=revocations[:_MOST],
        )

    return router


def _revocations(state: BrokerState) -> Iterator[HeldRevocation | None]:
    from kafkastub.views.groups import held_revocations

    for one in held_revocations(state):
        yield None if one is None else HeldRevocation(group=one[0], member_id=one[1])
