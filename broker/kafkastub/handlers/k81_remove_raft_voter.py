"""RemoveRaftVoter (key 81), version 0.    KIP-853; Kafka: KafkaRaftClient.handleRemoveVoterRequest, RemoveVoterHandler

VR-1  Refused are, in this order: another cluster's id (INCONSISTENT_CLUSTER_ID; none is not asked about), and a voter
      without id or directory id (INVALID_REQUEST).
VR-2  With a static quorum, kraft.version 0: UNSUPPORTED_VERSION.
VR-3  Who is no voter, or not with that directory, and the last voter: VOTER_NOT_FOUND.
Not done: voters that are removed, of several ones.
"""

from __future__ import annotations

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.outcome import Outcome
from kafkastub.handlers.registry import handles
from kafkastub.metadata.ids import ZERO
from kafkastub.state import quorum
from kafkawire.api import ApiKey
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.remove_raft_voter_request import RemoveRaftVoterRequest
from kafkawire.messages.remove_raft_voter_response import RemoveRaftVoterResponse


def error_response(request: RemoveRaftVoterRequest, code: ErrorCode, version: int) -> RemoveRaftVoterResponse:
    """The code at the top."""
    return RemoveRaftVoterResponse(error_code=code, error_message=default_text(code))


@handles(ApiKey.REMOVE_RAFT_VOTER, 0, 0, error_response=error_response)
def remove_raft_voter(ctx: RequestContext, request: RemoveRaftVoterRequest) -> Outcome:
    why = _refusal(ctx, request)
    return RemoveRaftVoterResponse(error_code=why.code, error_message=why.message)


def _refusal(ctx: RequestContext, request: RemoveRaftVoterRequest) -> KafkaError:
    """In Kafka's order and words."""
    state, own_id = ctx.state, ctx.state.cluster.cluster_id
    if request.cluster_id is not None and request.cluster_id != own_id:
        text = f'The given id "{request.cluster_id}" doesn\'t match the cluster id "{own_id}"'
        return KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    if request.voter_id < 0 or request.voter_directory_id == ZERO:
        return KafkaError(ErrorCode.INVALID_REQUEST, "Remove voter request didn't include a valid voter")
    if not quorum.can_change(state):
        text = "Cluster doesn't support removing voter because the kraft.version feature is 0"
        return KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
    key = quorum.replica_key(request.voter_id, request.voter_directory_id)
    text = f"Cannot remove voter {key} from the set of voters {quorum.voter_keys(state)}"
    return KafkaError(ErrorCode.VOTER_NOT_FOUND, text)
