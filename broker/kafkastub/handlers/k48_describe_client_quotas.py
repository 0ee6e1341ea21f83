"""DescribeClientQuotas (key 48), versions 0-1.    KIP-546; Kafka: ClientQuotasImage

DQ-1  Every entity that matches all components of the filter: an exact name, the default (1), or any of the type (2),
      the default included. An empty filter matches all.
DQ-2  strict: entities of just the types in the filter; with none, nothing.
DQ-3  INVALID_REQUEST with a text and null entries: an empty type, one given twice, ip together with user or client-id,
      an exact match without a name, any other match with one, another match type. Another entity type:
      UNSUPPORTED_VERSION.
Kafka answers in the order of a hash map; here in the order in which entities got their first quota.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.security.quotas import FilterComponent
from kafkastub.state.pace import paced
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.describe_client_quotas_request import DescribeClientQuotasRequest
from kafkawire.messages.describe_client_quotas_response import (
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)


def error_response(
    request: DescribeClientQuotasRequest, code: ErrorCode, version: int, text: str | None = None
) -> DescribeClientQuotasResponse:
    """The code on top, without entries."""
    return DescribeClientQuotasResponse(error_code=code, error_message=text, entries=None)


@handles(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1, error_response=error_response)
def describe_client_quotas(ctx: RequestContext, request: DescribeClientQuotasRequest) -> Outcome:
    wanted = [
        FilterComponent(one.entity_type, one.match_type, one.match) for one in paced(request.components, ctx.pace)
    ]
    try:
        entries = [
            EntryData([EntityData(*part) for part in who], [ValueData(*one) for one in values.items()])
            for who, values in ctx.state.quotas.describe(wanted, strict=request.strict)
        ]
    except KafkaError as error:
        return error_response(request, error.code, ctx.api_version, error.message)
    return DescribeClientQuotasResponse(error_message="", entries=entries)
