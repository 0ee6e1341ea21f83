"""AlterClientQuotas (key 49), versions 0-1.    KIP-546; Kafka: ClientQuotaControlManager

AQ-1  Quotas of a user, a client id, both, or an address, by name or (null) by default, are set and removed; removing
      what is not there is no error. They count from the answer on, and outlive the process with a data directory.
AQ-2  INVALID_REQUEST for the entity, and nothing of it is done: no type, an unknown one, an empty name, ip together
      with another; an ip that is no address (Kafka asks its resolver for names, here only localhost is known).
AQ-3  The same for a value that is not above 0, for one that is too large or has a fraction where the quota is a whole
      number, and for a quota that the entity's kind has not, unless it is to be removed.
AQ-8  The same for infinity and NaN; with kafkastub.as.version below 4.4 NaN is taken, and infinity where the quota is
      no whole number.
AQ-4  A quota given twice for an entity: INVALID_REQUEST, nothing of it is done. An entity given twice: INVALID_REQUEST,
      and what was sound the first time is done all the same. Of a type given twice in an entity the last name counts.
AQ-5  validate_only checks all of this and changes nothing.
AQ-6  More than 10,000 changes in one request: every entity POLICY_VIOLATION, and nothing is done.
AQ-7  Entities are answered, and the types and quotas of one are looked at, in the order of Kafka's hash maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security.quotas import Entity
from kafkastub.state.pace import Pace, paced, paced_map_order
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_hash
from kafkawire.messages.alter_client_quotas_request import AlterClientQuotasRequest, OpData
from kafkawire.messages.alter_client_quotas_response import AlterClientQuotasResponse, EntityData, EntryData


def error_response(request: AlterClientQuotasRequest, code: ErrorCode, version: int) -> AlterClientQuotasResponse:
    """The code at every entity."""
    return AlterClientQuotasResponse(
        entries=[
            EntryData(code, default_text(code), [EntityData(one.entity_type, one.entity_name) for one in entry.entity])
            for entry in request.entries
        ]
    )


@handles(ApiKey.ALTER_CLIENT_QUOTAS, 0, 1, error_response=error_response)
def alter_client_quotas(ctx: RequestContext, request: AlterClientQuotasRequest) -> Outcome:
    wanted = [
        (
            tuple((one.entity_type, one.entity_name) for one in paced(entry.entity, ctx.pace)),
            [(one.key, None if one.remove else one.value) for one in paced(_looked_at(entry.ops, ctx.pace), ctx.pace)],
        )
        for entry in paced(request.entries, ctx.pace)
    ]
    results = ctx.state.alter_quotas(
        paced(wanted, ctx.pace), validate_only=request.validate_only, order=partial(_in_order, ctx.pace)
    )
    return AlterClientQuotasResponse(
        entries=[
            EntryData(*(refusal or (ErrorCode.NONE, None)), [EntityData(*part) for part in paced(who, ctx.pace)])
            for who, refusal in paced(
                paced_map_order(((_java_hash(one[0], ctx.pace), one) for one in results), ctx.pace), ctx.pace
            )
        ]
    )


def _looked_at(ops: Sequence[OpData], pace: Pace) -> list[OpData]:
    """In the order of a `HashMap` that was made for so many: the first fault is the one that is told."""
    by_key: dict[str, list[OpData]] = {}
    for one in paced(ops, pace):
        by_key.setdefault(one.key, []).append(one)
    in_order = paced_map_order(((string_hash(key), same) for key, same in by_key.items()), pace, len(ops))
    return [one for same in paced(in_order, pace) for one in paced(same, pace)]


def _in_order(pace: Pace, kinds: Iterable[str], capacity: int) -> list[str]:
    return paced_map_order(((string_hash(kind), kind) for kind in kinds), pace, capacity)


def _java_hash(who: Entity, pace: Pace) -> int:
    """`ClientQuotaEntity.hashCode`, unsigned."""
    inside = sum(string_hash(kind) ^ (0 if name is None else string_hash(name)) for kind, name in paced(who, pace))
    return (31 + inside) & 0xFFFFFFFF
