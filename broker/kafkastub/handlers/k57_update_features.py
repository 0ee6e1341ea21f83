"""UpdateFeatures (key 57), versions 0-2.    KIP-584, KIP-778, KIP-1022; Kafka: FeatureControlManager

UF-1  The levels are finalized from the answer on: ApiVersions tells them, with the next epoch; level 0 takes a feature
      off. They outlive the process with a data directory.
UF-2  One feature that is refused refuses all: INVALID_UPDATE_VERSION at the top, with a text about the one that Kafka
      comes upon first, and nothing is done. Without a fault versions 0 and 1 name each feature, as often as it was.
UF-3  Refused are, in this order: an upgrade type that does not exist, a level below 0, one that is not supported, a
      lower one without a downgrade and a higher one with it, and a name that there is none of.
UF-4  metadata.version goes no further down than nothing would be lost, with the unsafe type neither; kraft.version
      never does. What a level depends on must be there once all is done.
UF-5  Versions 1+: validate_only tells the same and changes nothing. Version 0 knows no downgrade: its allow_downgrade
      counts for nothing.    Kafka: QuorumController.updateFeatures
UF-6  Of a feature that is named twice the last one counts.
UF-7  eligible.leader.replicas.version 0: no replica that has left the ISR stays eligible, the last one in it stays
      there though its node stops, and brokers may have a min.insync.replicas of their own; at 1 again they lose it, and
      the cluster has one.    KIP-966; Kafka: PartitionChangeBuilder, ConfigurationControlManager
UF-8  With kafkastub.as.version below 4.0 each feature has its own result, without an error at the top, and what is
      sound is done. Level 0 is then one of any name, and kraft.version is as it is whatever is asked for.
Not done: what else depends on features belongs to APIs that are not served yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata.features import Update
from kafkastub.state.features import update_features as update
from kafkastub.state.pace import Pace, paced, paced_map_order
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.java_order import string_hash, string_order
from kafkawire.messages.update_features_request import UpdateFeaturesRequest
from kafkawire.messages.update_features_response import UpdatableFeatureResult, UpdateFeaturesResponse

_REFUSED: Final = ErrorCode.INVALID_UPDATE_VERSION
_LAST_WITH_RESULTS: Final = 1


def error_response(request: UpdateFeaturesRequest, code: ErrorCode, version: int) -> UpdateFeaturesResponse:
    """The code at the top."""
    return UpdateFeaturesResponse(error_code=code, error_message=default_text(code))


@handles(ApiKey.UPDATE_FEATURES, 0, 2, error_response=error_response)
def update_features(ctx: RequestContext, request: UpdateFeaturesRequest) -> Outcome:
    state = ctx.state
    updates: list[Update] = [
        (one.feature, one.max_version_level, one.upgrade_type) for one in paced(request.feature_updates, ctx.pace)
    ]
    each = not state.config.follows(4, 0)
    refusals = state.features.refusals(paced(updates, ctx.pace), all_of_them=each, order=partial(_in_order, ctx.pace))
    if refusals and not each:
        (why,) = refusals.values()
        text = f"The update failed for all features since the following feature had an error: {why}"
        return UpdateFeaturesResponse(error_code=_REFUSED, error_message=text)
    if not request.validate_only:
        update(state, [one for one in updates if one[0] not in refusals])
    return UpdateFeaturesResponse(
        error_message=None if not each else "", results=_results(updates, refusals, ctx.api_version, each=each)
    )


def _in_order(pace: Pace, names: Iterable[str]) -> list[str]:
    return paced_map_order(((string_hash(name), name) for name in names), pace)


def _results(
    updates: Sequence[Update], refusals: Mapping[str, str], version: int, *, each: bool
) -> list[UpdatableFeatureResult]:
    if each:  # from a sorted map
        return [
            UpdatableFeatureResult(name, _REFUSED if name in refusals else ErrorCode.NONE, refusals.get(name))
            for name in sorted({name for name, _, _ in updates}, key=string_order)
        ]
    if version > _LAST_WITH_RESULTS:
        return []
    return [UpdatableFeatureResult(name, ErrorCode.NONE, "NONE") for name, _, _ in updates]
