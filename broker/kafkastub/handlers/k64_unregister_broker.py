"""UnregisterBroker (key 64), version 0.    KIP-500; Kafka: ReplicationControlManager.unregisterBroker

UB-1  The cluster forgets the broker, whether it was stopped or runs: it is none of its brokers, fenced ones included,
      leads nothing, and nothing is placed on it; where it has replicas they stay.
UB-2  Who connects to it is served on: it is only no broker of the cluster any more, until it is started again. Without
      any broker left nothing has a leader.
UB-3  A broker that is not there (any more): BROKER_ID_NOT_REGISTERED, with a text that names it; without one with
      kafkastub.as.version below 4.0.
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state.leadership import node_unregistered
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.unregister_broker_request import UnregisterBrokerRequest
from kafkawire.messages.unregister_broker_response import UnregisterBrokerResponse


def error_response(request: UnregisterBrokerRequest, code: ErrorCode, version: int) -> UnregisterBrokerResponse:
    """The code at the top."""
    return UnregisterBrokerResponse(error_code=code, error_message=default_text(code))


@handles(ApiKey.UNREGISTER_BROKER, 0, 0, error_response=error_response)
def unregister_broker(ctx: RequestContext, request: UnregisterBrokerRequest) -> Outcome:
    ctx.state.check_writable()
    try:
        node_unregistered(ctx.state, request.broker_id, (ctx.broker_ms, ctx.timer_ms))
    except KafkaError as error:
        text = error.message if ctx.state.config.follows(4, 0) else ""
        return UnregisterBrokerResponse(error_code=error.code, error_message=text)
    return UnregisterBrokerResponse()
