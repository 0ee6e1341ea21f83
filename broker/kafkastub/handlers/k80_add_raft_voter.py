"""AddRaftVoter (key 80), versions 0-1.    KIP-853; Kafka: KafkaRaftClient.handleAddVoterRequest, AddVoterHandler

VA-1  Refused are, in this order: another cluster's id (INCONSISTENT_CLUSTER_ID; none is not asked about), a voter
      without id or directory id, and one without an address on the controllers' listener (INVALID_REQUEST).
VA-2  With a static quorum, kraft.version 0: UNSUPPORTED_VERSION.
VA-3  The id of a voter: DUPLICATE_VOTER, whatever its directory.
VA-4  Anybody else: REQUEST_TIMED_OUT, as there is no other controller that could answer.
Not done: voters that are added, whichever version asks.
"""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.raft_voters import VoterChange
from kafkastub.handlers.registry import handles
from kafkastub.state import quorum
from kafkastub.state.broker_state import BrokerState
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.java_order import string_map_order
from kafkawire.messages.add_raft_voter_request import AddRaftVoterRequest
from kafkawire.messages.add_raft_voter_response import AddRaftVoterResponse


def _refusal(state: BrokerState, request: AddRaftVoterRequest) -> KafkaError:
    """In Kafka's order and words."""
    quorum.check_voter(state, request, "Add")
    wanted = quorum.controller_listener(state.config)
    # Java's names of listeners are in capitals; it has them in a map that was made for so many
    endpoints = {one.name.upper(): f"{one.host}/<unresolved>:{one.port}" for one in request.listeners}
    if wanted not in endpoints:
        names = string_map_order(endpoints, len(request.listeners))
        listed = ", ".join(f"ListenerName({name})={endpoints[name]}" for name in names)
        text = (
            f"Add voter request didn't include the endpoint (Endpoints(endpoints={{{listed}}})) for the default "
            f"listener ListenerName({wanted})"
        )
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    quorum.check_can_change(state, "adding")
    if request.voter_id in quorum.voter_ids(state.config):
        key = quorum.replica_key(request.voter_id, request.voter_directory_id)
        text = f"The voter id for {key} is already part of the set of voters {quorum.voter_keys(state)}."
        raise KafkaError(ErrorCode.DUPLICATE_VOTER, text)
    text = "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE"
    return KafkaError(ErrorCode.REQUEST_TIMED_OUT, text)


_CHANGE: Final = VoterChange(AddRaftVoterResponse, _refusal)


@handles(ApiKey.ADD_RAFT_VOTER, 0, 1, error_response=_CHANGE.error_response)
def add_raft_voter(ctx: RequestContext, request: AddRaftVoterRequest) -> Outcome:
    return _CHANGE.answer(ctx, request)
