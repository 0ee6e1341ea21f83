"""ApiVersions (key 18), versions 0-5.

AV-1  The answer lists every registered API with its versions; nothing else says what is served.  KIP-35
AV-2  Version 3+: a client software name or version that is empty, or has other characters than letters, digits, dots
      and dashes, or such at an end, answers INVALID_REQUEST and lists none.  KIP-511; Kafka: ApiVersionsRequest.isValid
AV-3  A version that does not exist answers UNSUPPORTED_VERSION in version 0, which lists ApiVersions' own range alone.
                                                                    KIP-511; Kafka: ApiVersionsRequest.getErrorResponse
AV-4  Versions 3+: the features as a fresh Apache Kafka 4.4.0 has them, all finalized at their highest level until
      UpdateFeatures says otherwise (with controller.quorum.voters kraft.version is 0); version 4 lists those too as
      supported whose lowest level is 0, which version 3 leaves out.   KIP-584, KIP-1022
AV-5  Produce is listed from version 0, though versions 0-2 close the connection.     KAFKA-18659
AV-6  GetTelemetrySubscriptions and PushTelemetry are not listed, as there is no receiver, but answered.    KIP-714
AV-7  With kafkastub.as.version the answer is that of the release, less what is not served: its ranges and its features
      (none below 3.3); where ApiVersions' own version does not exist, below 2.4 the answer lists nothing.
                                                                    Kafka: ApiKeys, MetadataVersion of each release
AV-8  Listed too are requests that are refused at once where what they begin is not served, as clients that do not find
      them wait in silence. There is none: all that clients of Apache Kafka 4.4 ask for is served.
AV-9  Version 5: with another cluster id than this one's, or another node's id, REBOOTSTRAP_REQUIRED; one of the two
      without the other is INVALID_REQUEST.                                      KIP-1242; Kafka: KafkaApis
Not done: -
"""

from __future__ import annotations

import re
from functools import lru_cache

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.offers import OFFERS
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.handlers.release import offers
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


def error_response(request: ApiVersionsRequest, code: ErrorCode, version: int) -> ApiVersionsResponse:
    own = OFFERS[ApiKey.API_VERSIONS]
    listed = [ApiVersion(ApiKey.API_VERSIONS, own.first, own.last)] if code == ErrorCode.UNSUPPORTED_VERSION else []
    return ApiVersionsResponse(error_code=code, api_keys=listed)


@handles(ApiKey.API_VERSIONS, 0, 5, error_response=error_response)
def api_versions(ctx: RequestContext, request: ApiVersionsRequest) -> Outcome:
    if ctx.api_version >= 3:
        name, version = request.client_software_name, request.client_software_version
        if not (_SOFTWARE.fullmatch(name) and _SOFTWARE.fullmatch(version)):
            return error_response(request, ErrorCode.INVALID_REQUEST, ctx.api_version)
        wrong = _addressed_wrongly(ctx, request) if ctx.api_version >= 5 else None
        if wrong is not None:
            return error_response(request, wrong, ctx.api_version)
        ctx.connection.software_name = name
        ctx.connection.software_version = version
    release = ctx.state.config["kafkastub.as.version"]
    features = ctx.state.features
    return ApiVersionsResponse(
        api_keys=_listed(release),
        supported_features=[
            SupportedFeatureKey(name, lowest, highest)
            for name, (lowest, highest) in features.supported.items()
            if lowest or ctx.api_version >= 4
        ],
        finalized_features_epoch=ctx.state.metadata_offset if features.supported else -1,
        finalized_features=[FinalizedFeatureKey(name, level, level) for name, level in features.finalized.items()],
    )


def _addressed_wrongly(ctx: RequestContext, request: ApiVersionsRequest) -> ErrorCode | None:
    """Whom the client takes us for is somebody else: it has an address that is no longer theirs."""
    cluster_id, node_id = request.cluster_id, request.node_id
    if (cluster_id is None) != (node_id == -1):
        return ErrorCode.INVALID_REQUEST
    if cluster_id is None or (cluster_id == ctx.state.cluster.cluster_id and node_id == ctx.node_id):
        return None
    return ErrorCode.REBOOTSTRAP_REQUIRED


@lru_cache(maxsize=64)
def _listed(release: str | None) -> tuple[ApiVersion, ...]:
    from kafkastub.handlers.not_served import refused_apis

    apis = sorted({**refused_apis(release), **offers(release)}.items())
    return tuple(ApiVersion(key, api.advertised_first, api.last) for key, api in apis if api.advertised)
