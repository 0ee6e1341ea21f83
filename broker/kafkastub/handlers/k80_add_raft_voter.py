"""AddRaftVoter (key 80), versions 0-1.    KIP-853; Kafka: KafkaRaftClient.handleAddVoterRequest, AddVoterHandler

VA-1  Refused are, in this order: another cluster's id (INCONSISTENT_CLUSTER_ID; none is not asked about), a voter
      without id or directory id, and one without an address on the controllers' listener (INVALID_REQUEST).
VA-2  With a static quorum, kraft.version 0: UNSUPPORTED_VERSION.
VA-3  The id of a voter: DUPLICATE_VOTER, whatever its directory.
VA-4  Anybody else: REQUEST_TIMED_OUT, as there is no other controller that could answer.
Not done: voters that are added, whichever version asks.
"""

from __future__ import annotations

from typing import NoReturn

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.state import quorum
from kafkastub.state.broker_state import BrokerState
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order
from kafkawire.messages.add_raft_voter_request import AddRaftVoterRequest
from kafkawire.messages.add_raft_voter_response import AddRaftVoterResponse


def error_response(request: AddRaftVoterRequest, code: ErrorCode, version: int) -> AddRaftVoterResponse:
    """The code at the top."""
    return AddRaftVoterResponse(error_code=code, error_message=default_text(code))


@handles(ApiKey.ADD_RAFT_VOTER, 0, 1, error_response=error_response)
def add_raft_voter(ctx: RequestContext, request: AddRaftVoterRequest) -> Outcome:
    try:
        _refuse(ctx.state, request)
    except KafkaError as why:
        return AddRaftVoterResponse(error_code=why.code, error_message=why.message)


def _refuse(state: BrokerState, request: AddRaftVoterRequest) -> NoReturn:
    """In Kafka's order and words."""
    quorum.check_voter(state, request, "Add")
    wanted = quorum.controller_listener(state.config)
    # Java's names of listeners are in capitals; it has them in a map that was made for so many
    told = {one.name.upper(): f"{one.host}/<unresolved>:{one.port}" for one in request.listeners}
    if wanted not in told:
        names = string_map_order(told, len(request.listeners))
        shown = ", ".join(f"ListenerName({name})={told[name]}" for name in names)
        text = (
            f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{shown}}})) for the default "
            f"listener ListenerName({wanted})"
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    quorum.check_can_change(state, "adding")
    if request.voter_id in quorum.voter_ids(state.config):
        key = quorum.replica_key(request.voter_id, request.voter_directory_id)
        text = f"The voter id for {key} is already part of the set of voters {quorum.voter_keys(state)}."
        raise KafkaError(ErrorCode.DUPLICATE_VOTER, text)
    text = "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE"
    raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, text)
