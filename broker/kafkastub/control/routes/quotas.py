"""/v1/quotas."""

from __future__ import annotations

import math
from itertools import islice
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import Body, Limit, Names, Text, body_example, example
from kafkastub.security.quotas import CLIENT_ID, IP, USER, Entity, entity, no_such_quota
from kafkawire.errors import KafkaError

_WHOSE = 'a name, or "" for the default quota'


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class QuotaChange(Body):
    """Quotas to set or remove."""

    model_config = body_example(client_id="loader", quotas={"producer_byte_rate": 1000000})

    user: Text | None = Field(None, description=_WHOSE)
    client_id: Text | None = Field(None, description=_WHOSE)
    ip: Text | None = Field(None, description=_WHOSE)
    quotas: Names[Number | None] = Field(description="Kafka's quota names with values; null removes a quota")


class QuotaInfo(BaseModel):
    """The quotas of a user, a client id, both, or an address."""

    model_config = example(user=None, client_id="loader", ip=None, quotas={"producer_byte_rate": 1000000})

    user: str | None
    client_id: str | None
    ip: str | None
    quotas: dict[str, float | None] = Field(description="null: a client has set a value that is not finite")


class QuotaList(BaseModel):
    """All entities with quotas."""

    quotas: list[QuotaInfo]


class QuotasQuery(Body):
    """How much."""

    limit: Limit = 1000


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/quotas", tags=["quotas"])

    @router.get("", summary="List the quotas")
    async def list_quotas(query: Annotated[QuotasQuery, Query()]) -> QuotaList:
        state = hosted.running().state
        found = state.quotas.describe([], strict=False) if state.has_quotas else iter(())
        return QuotaList(quotas=[_info(who, values) for who, values in islice(found, query.limit)])

    @router.post("", summary="Set and remove quotas; quotas that are not named stay")
    async def alter(body: QuotaChange) -> QuotaInfo:
        state = hosted.running().state
        given = ((USER, body.user), (CLIENT_ID, body.client_id), (IP, body.ip))
        who = entity((kind, name or None) for kind, name in given if name is not None)
        unknown = no_such_quota(who, body.quotas)
        if unknown is not None:
            raise Problem(400, f"quotas.{unknown}", code="INVALID_REQUEST")

        def change() -> str | None:
            ((_, refusal),) = state.alter_quotas([(who, list(body.quotas.items()))])
            return None if refusal is None else refusal[1]

        try:
            why = hosted.call(change)
        except KafkaError as error:
            why = error.message
        if why is not None:
            raise Problem(400, f"the quotas are refused: {why}", code="INVALID_REQUEST")
        return _info(who, dict(state.quotas.describe([], strict=False)).get(who, {}))

    return router


def _info(who: Entity, values: dict[str, float]) -> QuotaInfo:
    names = {kind: name or "" for kind, name in who}
    told = {name: value if math.isfinite(value) else None for name, value in values.items()}
    return QuotaInfo(user=names.get(USER), client_id=names.get(CLIENT_ID), ip=names.get(IP), quotas=told)
