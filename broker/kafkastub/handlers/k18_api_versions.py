"""ApiVersions (key 18), versions 0-4.

AV-1  The answer lists every registered API with its versions; nothing else says what is served.  KIP-35
AV-2  Version 3+: a client software name or version that is empty, or has other characters than letters, digits, dots
      and dashes, or such at an end, answers INVALID_REQUEST and lists none.  KIP-511; Kafka: ApiVersionsRequest.isValid
AV-3  A version that does not exist answers UNSUPPORTED_VERSION in version 0, which lists ApiVersions' own range alone.
                                                                    KIP-511; Kafka: ApiVersionsRequest.getErrorResponse
AV-4  Versions 3+: the feature metadata.version, supported as in Apache Kafka 4.3.1 and finalized at its highest level;
      version 4 lists kraft.version too, which version 3 leaves out because its lowest level is 0.  KIP-584, KIP-1022
AV-5  Produce is listed from version 0, though versions 0-2 close the connection.     KAFKA-18659
AV-6  GetTelemetrySubscriptions and PushTelemetry are not listed, as there is no receiver, but answered.    KIP-714
Not done: the features group.version, transaction.version, share.version and streams.version; what they would promise
is not served.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles, registrations
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")

_SUPPORTED = (SupportedFeatureKey("metadata.version", 7, 30), SupportedFeatureKey("kraft.version", 0, 1))
_FINALIZED = (FinalizedFeatureKey("metadata.version", 30, 30), FinalizedFeatureKey("kraft.version", 1, 1))


def error_response(request: ApiVersionsRequest, code: ErrorCode, version: int) -> ApiVersionsResponse:
    own = registrations()[ApiKey.API_VERSIONS]
    listed = [ApiVersion(own.key, own.first, own.last)] if code == ErrorCode.UNSUPPORTED_VERSION else []
    return ApiVersionsResponse(error_code=code, api_keys=listed)


@handles(ApiKey.API_VERSIONS, 0, 4, error_response=error_response)
def api_versions(ctx: RequestContext, request: ApiVersionsRequest) -> Outcome:
    if ctx.api_version >= 3:
        name, version = request.client_software_name, request.client_software_version
        if not (_SOFTWARE.fullmatch(name) and _SOFTWARE.fullmatch(version)):
            return error_response(request, ErrorCode.INVALID_REQUEST, ctx.api_version)
        ctx.connection.software_name = name
        ctx.connection.software_version = version
    return ApiVersionsResponse(
        api_keys=_served(),
        supported_features=_SUPPORTED if ctx.api_version >= 4 else _SUPPORTED[:1],
        finalized_features_epoch=1,
        finalized_features=_FINALIZED,
    )


@lru_cache(maxsize=1)
def _served() -> tuple[ApiVersion, ...]:
    return tuple(
        ApiVersion(api.key, api.advertised_first, api.last) for api in registrations().values() if api.advertised
    )
