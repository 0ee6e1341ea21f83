"""The quorum of controllers, as far as a client can see one: who votes, who looks on, how far each has read.

There is one controller, the first node's, which goes on while the node is stopped; all other nodes look on. With
controller.quorum.voters the voters are those, and the quorum is a static one (kraft.version 0).
Kafka: ``KafkaRaftClient``, ``LeaderState``.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.config import BrokerConfig
from kafkastub.metadata import random_uuid, uuid_text
from kafkastub.metadata.features import KRAFT
from kafkastub.metadata.ids import ZERO
from kafkastub.state.broker_state import BrokerState
from kafkawire.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kafkawire.messages.add_raft_voter_request import AddRaftVoterRequest
    from kafkawire.messages.remove_raft_voter_request import RemoveRaftVoterRequest

_FORGOTTEN_AFTER_MS: Final = 300_000
"""So long a node that has stopped is told as one that looks on."""


class Replica(NamedTuple):
    """A node's copy of the metadata log: where it ends, and when (broker time, ms) it was known to do so."""

    node_id: int
    directory_id: bytes
    end_offset: int
    seen_ms: int


class VoterAddress(NamedTuple):
    """Where a voter listens for other controllers."""

    node_id: int
    listener: str
    host: str
    port: int


def controller_listener(config: BrokerConfig) -> str:
    """The name of the listener that controllers speak on."""
    return str((config["controller.listener.names"] or ("CONTROLLER",))[0]).upper()


def voter_ids(config: BrokerConfig) -> list[int]:
    static = _static(config)
    return sorted(static) if static else [config["node.id"]]


def leader_id(config: BrokerConfig) -> int:
    """The controller that is active."""
    own: int = config["node.id"]
    voters = voter_ids(config)
    return own if own in voters else voters[0]


def can_change(state: BrokerState) -> bool:
    """Whether voters may come and go (KIP-853)."""
    return state.features.level(KRAFT) >= 1


def check_voter(state: BrokerState, request: AddRaftVoterRequest | RemoveRaftVoterRequest, change: str) -> None:
    """Whether the request means this cluster, and a voter. Raises KafkaError with Kafka's words.

    Args:
        change: "Add" or "Remove".
    """
    own_id = state.cluster.cluster_id
    if request.cluster_id is not None and request.cluster_id != own_id:
        text = f'The given id "{request.cluster_id}" doesn\'t match the cluster id "{own_id}"'
        raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    if request.voter_id < 0 or request.voter_directory_id == ZERO:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{change} voter request didn't include a valid voter")


def check_can_change(state: BrokerState, changing: str) -> None:
    """Raises KafkaError with Kafka's words where the quorum is a static one.

    Args:
        changing: "adding" or "removing".
    """
    if not can_change(state):
        text = f"Cluster doesn't support {changing} voter because the kraft.version feature is 0"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)


def directory_id(state: BrokerState, node_id: int) -> bytes:
    """That of a node's metadata log: always the same in the cluster of that id."""
    return random_uuid(random.Random(f"{state.cluster.cluster_id} {node_id}"))


def voters(state: BrokerState, now_ms: int) -> list[Replica]:
    can, end = can_change(state), state.metadata_offset + 1
    return [
        Replica(node_id, directory_id(state, node_id) if can else ZERO, end, now_ms)
        for node_id in voter_ids(state.config)
    ]


def observers(state: BrokerState, now_ms: int) -> list[Replica]:
    """Those that run, and for a while those that ran."""
    found, voting = [], voter_ids(state.config)
    for node in state.cluster.nodes.values():
        offset, seen_ms = node.left or (state.metadata_offset, now_ms)
        if node.node_id not in voting and now_ms - seen_ms < _FORGOTTEN_AFTER_MS:
            found.append(Replica(node.node_id, directory_id(state, node.node_id), offset + 1, seen_ms))
    return found


def addresses(state: BrokerState, listener: str) -> list[VoterAddress]:
    """The voters' addresses; the controller has none of its own here, so that it is told at its node's.

    `listener` is the one that the client came in on.
    """
    name, static = controller_listener(state.config), _static(state.config)
    if static:
        return [VoterAddress(node_id, name, *static[node_id]) for node_id in sorted(static)]
    node = state.cluster.nodes.get(leader_id(state.config))
    seen = None if node is None else node.seen_from(listener)
    return [] if seen is None else [VoterAddress(seen.node_id, name, seen.host, seen.port)]


def replica_key(node_id: int, directory: bytes) -> str:
    """As Kafka prints one."""
    return f"ReplicaKey(id={node_id}, directoryId={uuid_text(directory)})"


def voter_keys(state: BrokerState) -> str:
    """The voters, as Kafka prints them."""
    return "[" + ", ".join(replica_key(one.node_id, one.directory_id) for one in voters(state, 0)) + "]"


def _static(config: BrokerConfig) -> dict[int, tuple[str, int]]:
    """Voter to host and port; empty where the quorum is none of a fixed list."""
    found = {}
    for text in config["controller.quorum.voters"] or ():
        node_id, _, address = str(text).partition("@")
        host, _, port = address.rpartition(":")
        found[int(node_id)] = host.strip("[]"), int(port)
    return found
