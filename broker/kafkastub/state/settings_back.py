"""What of a state stands for itself, made again of what a document says: kafkastub.json's, or a snapshot's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkastub.config.other import validate_client_metrics_configs

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState

Document = Mapping[str, Any]
"""Of a form that `persisted.check` accepts."""


def restore_settings(state: BrokerState, whole: Document) -> None:
    """Everything of it that stands for itself. Raises InvalidValue, ConfigError, InvalidClientMetrics, ValueError."""
    restore_configs(state, whole["broker_configs"])
    state.cluster.group_configs.update(whole["group_configs"])
    for overrides in whole["client_metrics_configs"].values():
        validate_client_metrics_configs(overrides)
    state.cluster.client_metrics_configs.update(whole["client_metrics_configs"])
    restore_acls(state, whole.get("acls", ()))
    if scram := whole.get("scram"):
        state.scram_users.restore(scram)
    if tokens := whole.get("delegation_tokens"):
        state.delegation_tokens.restore(tokens)
    if quotas := whole.get("quotas"):
        state.quotas.restore(quotas)
    if features := whole.get("features"):
        state.features.restore(features)
    if metadata := whole.get("metadata"):
        state.metadata_offset, state.metadata_epoch = metadata["offset"], metadata["epoch"] + 1


def restore_configs(state: BrokerState, configs: Document) -> None:
    state.config.set_dynamic(configs["default"], per_broker=False)
    state.config.set_dynamic(configs["broker"], per_broker=True)


def restore_acls(state: BrokerState, acls: Iterable[Sequence[Any]]) -> None:
    if state.authorizer is not None:
        from kafkastub.security import Acl

        state.authorizer.replace(Acl(*one) for one in acls)
