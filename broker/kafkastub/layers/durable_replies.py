"""Replies wait until everything that was written before them is on the disk, where there is a data directory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import Handler, Registration
from kafkastub.state.deferred import as_it_is
from kafkastub.storage.disk import Disk, storage_error
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

READ_ONLY: Final = frozenset(
    {
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
        ApiKey.OFFSET_FETCH,
        ApiKey.FIND_COORDINATOR,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.SHARE_GROUP_DESCRIBE,
        ApiKey.STREAMS_GROUP_DESCRIBE,
        ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        ApiKey.API_VERSIONS,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.UNREGISTER_CONTROLLER,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.LIST_CONFIG_RESOURCES,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    }
)
"""What is served as long as the process lives. Topics that Metadata and FindCoordinator would create are not then."""

NEVER_REPEATED: Final = frozenset(
    {
        ApiKey.FETCH,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        ApiKey.PUSH_TELEMETRY,
    }
)
"""Served too, but not twice: connections and sessions remember them, and nothing of that is on the disk."""

REFUSED_BY_LOGS: Final = frozenset({ApiKey.PRODUCE})
"""Refused partition by partition. Everything else writes, Heartbeat too: it would keep a session that could not end."""


def durable(api: Registration, disk: Disk) -> Handler:
    """The API's handler, whose replies wait until everything that was written before them is on the disk.

    That is more than a reply depends on, and makes it certain: what a client has seen stays. Where the disk fails
    meanwhile, or has failed, a request that writes is answered with KAFKA_STORAGE_ERROR; one that reads is served again
    then, as what it may have seen was taken back.
    """
    handler = api.handler
    writing = api.key not in READ_ONLY and api.key not in NEVER_REPEATED
    refused = writing and api.key not in REFUSED_BY_LOGS

    def hold(ctx: RequestContext, request: Any, reply: Message, release: Callable[[Message], None]) -> None:
        def done(failure: str | None) -> None:
            if failure is None or api.key in NEVER_REPEATED:
                release(reply)
            elif writing:
                release(api.error_response(request, ErrorCode.KAFKA_STORAGE_ERROR, ctx.api_version))
            else:
                release(_served_again(api, ctx, request, reply))

        if not disk.wait(done):
            release(reply)

    def serve(ctx: RequestContext, request: Any) -> Outcome:
        if refused and disk.failed is not None:
            raise storage_error(disk.failed)
        outcome = handler(ctx, request)
        if isinstance(outcome, Deferred):
            if outcome.reply is None:
                deferred = outcome
                deferred.hold = lambda reply: hold(ctx, request, reply, deferred.release)
                return deferred
            reply = outcome.reply
        elif isinstance(outcome, Message):
            reply = outcome
        else:
            return outcome
        if not disk.pending:
            return outcome  # as it came: that a reply is deferred may say that it is the connection's last
        held = Deferred(as_it_is)
        held.goes_on = True
        hold(ctx, request, reply, held.complete)
        return held

    return serve


def _served_again(api: Registration, ctx: RequestContext, request: Any, reply: Message) -> Message:
    try:
        outcome = api.handler(ctx, request)
    except KafkaError as error:
        return api.error_response(request, error.code, ctx.api_version)
    return outcome if isinstance(outcome, Message) else reply
