"""UnregisterController (key 94), version 0, new in 4.4.    Kafka: QuorumController, ClusterControlManager

UC-1  The controller that is active, which is the first node's: INVALID_REQUEST.
UC-2  Any other id, a broker's too: CONTROLLER_ID_NOT_REGISTERED, with a text that names it.
Not done: -
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state import quorum
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode
from kafkawire.messages.unregister_controller_request import UnregisterControllerRequest
from kafkawire.messages.unregister_controller_response import UnregisterControllerResponse


def error_response(request: UnregisterControllerRequest, code: ErrorCode, version: int) -> UnregisterControllerResponse:
    """The code at the top."""
    return UnregisterControllerResponse(error_code=code, error_message=default_text(code))


@handles(ApiKey.UNREGISTER_CONTROLLER, 0, 0, error_response=error_response)
def unregister_controller(ctx: RequestContext, request: UnregisterControllerRequest) -> Outcome:
    if request.controller_id == quorum.leader_id(ctx.state.config):
        text = "Controller cannot unregister itself while it is active."
        return UnregisterControllerResponse(error_code=ErrorCode.INVALID_REQUEST, error_message=text)
    text = f"Controller ID {request.controller_id} is not currently registered."
    return UnregisterControllerResponse(error_code=ErrorCode.CONTROLLER_ID_NOT_REGISTERED, error_message=text)
