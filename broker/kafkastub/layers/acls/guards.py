"""Who may do what with an API: which guard stands before which.

Without `authorizer.class.name` no request pays for any of it: `guarded` is put around an API's handler when its route
is made, and only where there is an authorizer. A guard takes out of the request what the principal may not have, lets
the handler answer the rest, and adds what is refused, in Kafka's place and words (Kafka: ``KafkaApis``,
``ControllerApis``, ``AuthHelper``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls import cluster, groups, share_groups, streams_groups, topics, transactions, views
from kafkawire.api import ApiKey

OPEN: Final = frozenset(
    (
        ApiKey.API_VERSIONS,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        ApiKey.PUSH_TELEMETRY,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
    )
)
"""For everybody; of a delegation token its owner and its renewers decide, whatever the entries say."""
ASK_THEMSELVES: Final = frozenset(
    (
        ApiKey.FETCH,
        ApiKey.SHARE_FETCH,
        ApiKey.SHARE_ACKNOWLEDGE,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    )
)
"""Their handlers ask the authorizer: fetches for their sessions' sake, the others in between their own checks."""
GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    **groups.GUARDS,
    **share_groups.GUARDS,
    **streams_groups.GUARDS,
    **topics.GUARDS,
    **transactions.GUARDS,
    **views.GUARDS,
    **cluster.GUARDS,
}


def guarded(api: Registration) -> Handler:
    """The API's handler behind the authorizer."""
    guard = GUARDS.get(api.key)
    return api.handler if guard is None else guard(api)
