"""RemoveRaftVoter (key 81), version 0.    KIP-853; Kafka: KafkaRaftClient.handleRemoveVoterRequest, RemoveVoterHandler

VR-1  Refused are, in this order: another cluster's id (INCONSISTENT_CLUSTER_ID; none is not asked about), and a voter
      without id or directory id (INVALID_REQUEST).
VR-2  With a static quorum, kraft.version 0: UNSUPPORTED_VERSION.
VR-3  Who is no voter, or not with that directory, and the last voter: VOTER_NOT_FOUND.
Not done: voters that are removed, of several ones.
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
from kafkawire.messages.remove_raft_voter_request import RemoveRaftVoterRequest
from kafkawire.messages.remove_raft_voter_response import RemoveRaftVoterResponse


def _refusal(state: BrokerState, request: RemoveRaftVoterRequest) -> KafkaError:
    """In Kafka's order and words."""
    quorum.check_voter(state, request, "Remove")
    quorum.check_can_change(state, "removing")
    key = quorum.replica_key(request.voter_id, request.voter_directory_id)
    text = f"Cannot remove voter {key} from the set of voters {quorum.voter_keys(state)}"
    return KafkaError(ErrorCode.VOTER_NOT_FOUND, text)


_CHANGE: Final = VoterChange(RemoveRaftVoterResponse, _refusal)


@handles(ApiKey.REMOVE_RAFT_VOTER, 0, 0, error_response=_CHANGE.error_response)
def remove_raft_voter(ctx: RequestContext, request: RemoveRaftVoterRequest) -> Outcome:
    return _CHANGE.answer(ctx, request)
