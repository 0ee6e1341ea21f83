"""Which guard stands before which API; see `authorization`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls import cluster as guards_cluster
from kafkastub.layers.acls import groups as guards_groups
from kafkastub.layers.acls import topics as guards_topics
from kafkastub.layers.acls import views as guards_views
from kafkawire.api import ApiKey

OPEN: Final = frozenset(
    (
        ApiKey.API_VERSIONS,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        ApiKey.PUSH_TELEMETRY,
    )
)
"""For everybody."""
ASK_THEMSELVES: Final = frozenset((ApiKey.FETCH, ApiKey.DESCRIBE_ACLS, ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS))
"""Their handlers ask the authorizer: a fetch for its sessions' sake, the others in between their own checks."""
GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    **guards_groups.GUARDS,
    **guards_topics.GUARDS,
    **guards_views.GUARDS,
    **guards_cluster.GUARDS,
}
