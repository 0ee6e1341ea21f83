"""Reassignments, elections, nodes that stop and come back: the stub shows what three nodes of Apache Kafka show."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.coordinator import partition_for
from kafkawire.messages.describe_groups_request import DescribeGroupsRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafkawire.messages.offset_fetch_request import OffsetFetchRequest
from kafkawire.messages.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from tests.nodes.changes import Nodes
from tests.nodes.conftest import CONFIG, RACKS, create_offsets_topic
from tests.oracle.apache_cluster import ApacheCluster

THREE, PAIR, ONE, DIRTY, CLEAN, GROW = "n-three", "n-pair", "n-one", "n-dirty", "n-clean", "n-grow"
TOPICS = [THREE, PAIR, ONE, DIRTY, CLEAN, GROW, "__consumer_offsets"]
PREFERRED, UNCLEAN = 0, 1
GROUPS = [next(name for name in map("group-{}".format, range(100)) if partition_for(name, 3) == i) for i in range(3)]
"""One of each partition of `__consumer_offsets`, which the nodes 1, 2 and 3 lead."""

DIFFERS = "acks=1 with too few in sync is seen at once"
"""The only thing of all these that is not the same."""


class Session:
    """A fetch session on one node."""

    def __init__(self, nodes: Nodes, node: int, topic: str) -> None:
        self._nodes = nodes
        self._node = node
        self._epoch = 0
        request = FetchRequest(session_epoch=0, topics=[_wanted(topic)])
        self._id = nodes.ask(request, 12, node).session_id
        assert self._id > 0

    def go_on(self, node: int | None = None) -> int:
        """The error code of the next incremental fetch, on another node if one is named."""
        self._epoch += node is None
        request = FetchRequest(session_id=self._id, session_epoch=self._epoch)
        return int(self._nodes.ask(request, 12, node or self._node).error_code)


def _wanted(topic: str) -> FetchTopic:
    return FetchTopic(topic=topic, partitions=[FetchPartition(partition=0, partition_max_bytes=1000)])


def prepare(nodes: Nodes) -> None:
    nodes.note("a topic of each kind", [
        nodes.create(THREE, [1, 2, 3], [2, 3, 1], [3, 1, 2], min_insync_replicas="2"),
        nodes.create(PAIR, [2, 3], [3, 2]),
        nodes.create(ONE, [3]),
        nodes.create(DIRTY, [2, 3], unclean_leader_election_enable="true"),
        nodes.create(CLEAN, [2, 3]),
        nodes.create(GROW, [2, 1], [1, 2]),
    ])  # fmt: skip
    nodes.see("all are there", lambda: nodes.view(TOPICS))
    for node in (2, 3):  # and known to everybody
        nodes.see(f"to node {node}", lambda node=node: sorted(  # type: ignore[misc]
            nodes.produce(topic, index, node=node)
            for topic in (THREE, PAIR, ONE, DIRTY, CLEAN, GROW) for index in range(2 if topic in (PAIR, GROW) else 1)
        ))  # fmt: skip


def refusals(nodes: Nodes) -> None:
    """All nodes run."""
    nodes.note("more replicas than nodes", nodes.create("n-x", factor=4, partitions=1))
    for replicas in ([1, 9], [1, 1], [], [-1]):
        nodes.note(f"a topic on {replicas}", nodes.create("n-x", replicas))
    nodes.note("a topic on lists of other lengths", nodes.create("n-x", [1, 2], [3]))
    for kind in (PREFERRED, UNCLEAN, 2):
        nodes.note(f"election {kind}", nodes.elect(kind, (THREE, [0, 1, 2, 7, -1, 0]), ("n-nope", [0])))
        nodes.note(f"election {kind} of all", nodes.elect(kind))
    nodes.note("election v0", nodes.elect(PREFERRED, (THREE, [0, 8]), version=0))
    nodes.note("election without time", nodes.elect(PREFERRED, (THREE, [0]), timeout_ms=0))
    for version in (0, 1):
        wrong = [
            ("n-nope", 0, [1]), (THREE, 9, [1]), (THREE, -1, None), (THREE, 0, None), (THREE, 1, []), (THREE, 2, [9]),
            (PAIR, 0, [1, 1]), (PAIR, 1, [-1]),
        ]  # fmt: skip
        nodes.note(f"wrong reassignments v{version}", nodes.reassign(*wrong, version=version))
    others = [(THREE, 0, [1, 2]), (THREE, 7, [1]), (THREE, 1, [2, 3, 9]), (PAIR, 0, None), (PAIR, 1, [])]
    nodes.note("other numbers of replicas", nodes.reassign(*others, any_number=False))
    nodes.note("the same replicas", nodes.reassign((THREE, 0, [1, 2, 3]), any_number=False))
    for timeout_ms in (0, -1):
        late = nodes.reassign((THREE, 0, [1, 2, 3]), timeout_ms=timeout_ms, any_number=False)
        nodes.note(f"no time to reassign ({timeout_ms})", late)
        nodes.note(f"nothing to reassign ({timeout_ms})", nodes.reassign(timeout_ms=timeout_ms, any_number=False))
    nodes.note("under way", (nodes.under_way(), nodes.under_way((THREE, [0, 9]), ("n-nope", [0]))))


def reassignments(nodes: Nodes) -> None:
    """All nodes run: each is complete before long."""
    steps = [
        [(THREE, 0, [2, 1, 3])],
        [(PAIR, 0, [1, 3]), (PAIR, 1, [3, 1, 2])],
        [(PAIR, 1, [3]), ("__consumer_offsets", 2, [3])],
        [(PAIR, 1, [3, 2]), (PAIR, 0, [2, 3]), (THREE, 0, [1, 2, 3])],
    ]
    for number, step in enumerate(steps):
        nodes.note(f"step {number}", nodes.reassign(*step))
        nodes.see(f"after step {number}", lambda: (nodes.under_way(), nodes.view(TOPICS)))
    nodes.note("back to the preferred", nodes.elect(PREFERRED))
    nodes.see("after the election", lambda: nodes.view(TOPICS))


def join(nodes: Nodes, group: str, node: int) -> HeartbeatRequest:
    """A member that is never thrown out, with an offset committed; its heartbeat."""
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=1_500_000,
        rebalance_timeout_ms=1_500_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b"")],
    )
    nodes.see(f"{group} can be asked", lambda: nodes.ask(HeartbeatRequest(group, 1, "m"), 3, node).error_code)
    joined = nodes.ask(request, 3, node)
    member, generation = joined.member_id, joined.generation_id
    assigned = [SyncGroupRequestAssignment(member, b"mine")]
    nodes.ask(SyncGroupRequest(group, generation, member, assignments=assigned), 3, node)
    offsets = [OffsetCommitRequestTopic(THREE, partitions=[OffsetCommitRequestPartition(0, 7)])]
    done = nodes.ask(OffsetCommitRequest(group, generation, member, topics=offsets), 8, node)
    nodes.note(f"{group} commits", done.topics[0].partitions[0].error_code)
    return HeartbeatRequest(group, generation, member)


def state_of(nodes: Nodes, heartbeat: HeartbeatRequest, node: int) -> tuple[object, ...]:
    """What a node knows of a group with one member."""
    group = heartbeat.group_id
    described = nodes.ask(DescribeGroupsRequest([group]), 5, node).groups[0]
    fetched = nodes.ask(OffsetFetchRequest(group, topics=None), 7, node)
    return (
        nodes.ask(heartbeat, 3, node).error_code,
        (described.error_code, described.group_state, len(described.members)),
        (fetched.error_code, [one.committed_offset for topic in fetched.topics for one in topic.partitions]),
    )


def nearer(nodes: Nodes, rack: str, node: int = 1) -> tuple[int, int]:
    """(error code, the replica that a consumer of that rack is sent to)."""
    request = FetchRequest(max_wait_ms=0, session_epoch=-1, topics=[_wanted(THREE)], rack_id=rack)
    one = nodes.ask(request, 12, node).responses[0].partitions[0]
    return one.error_code, one.preferred_read_replica


def one_stops(nodes: Nodes) -> None:
    """Node 3 does not run."""
    nodes.see("node 3 stopped", lambda: nodes.view(TOPICS))
    nodes.see("coordinators without 3", lambda: nodes.coordinators(GROUPS[2], *GROUPS))
    nodes.note("no coordinator here", nodes.ask(HeartbeatRequest(GROUPS[2], 1, "m"), 3).error_code)
    for topic, index in ((THREE, 0), (THREE, 1), (THREE, 2), (PAIR, 1), (ONE, 0)):
        nodes.see(f"{topic}-{index} without 3", lambda t=topic, i=index: [  # type: ignore[misc]
            nodes.produce(t, i, node=node) for node in (1, 2)
        ])  # fmt: skip
    for kind in (PREFERRED, UNCLEAN):
        elected = nodes.elect(kind, (THREE, [0, 1, 2]), (PAIR, [0, 1]), (ONE, [0]))
        nodes.note(f"election {kind} without 3", (elected, nodes.elect(kind)))
    nodes.note("three replicas on two nodes", nodes.create("n-wide", factor=3, partitions=1))
    for assigned in ([[3]], [[3, 1]], [[1, 3], [3]], [[1, 3], [3, 1]]):
        nodes.note(f"a topic on {assigned} without 3", nodes.create(f"n-{len(str(assigned))}", *assigned))
    nodes.note("a partition on a stopped node", (nodes.grow(ONE, 2, [3]), nodes.grow(ONE, 2, [9])))
    nodes.see("the new topics", lambda: nodes.view(["n-8", "n-16"]))


def reassignments_that_wait(nodes: Nodes) -> None:
    """Node 3 does not run, so that what is to be there too is not complete."""
    both = (GROW, 0), (GROW, 1)
    steps = [
        [(*both[0], [3, 2, 1]), (*both[1], [3, 2]), (ONE, 0, [1]), (PAIR, 0, [1, 2])],
        [(*both[0], [3, 1, 2])],
        [(ONE, 0, None), (*both[0], None), (THREE, 0, None)],
        [(*both[1], [2, 1])],
        [(*both[1], [3, 1])],
    ]
    for number, step in enumerate(steps):
        nodes.note(f"waiting step {number}", nodes.reassign(*step))
        named = (GROW, [0, 1, 1, 7]), (ONE, [0])
        nodes.see(f"after waiting step {number}", lambda n=named: (  # type: ignore[misc]
            nodes.under_way(), nodes.under_way(*n), nodes.view(TOPICS)
        ))  # fmt: skip
        if number == 0:
            factors = nodes.reassign((*both[0], [1, 2]), (*both[1], [1, 3, 2]), any_number=False)
            nodes.note("another number while one waits", factors)
            nodes.note("to those that do not follow yet", nodes.elect(PREFERRED, (GROW, [0, 1])))


def is_seen(nodes: Nodes) -> bool:
    """Whether consumers see a record at once that is written with acks=1."""
    wanted = [ListOffsetsTopic(THREE, [ListOffsetsPartition(0, timestamp=-1)])]

    def end() -> int:
        answer = nodes.ask(ListOffsetsRequest(replica_id=-1, topics=wanted), 7).topics[0].partitions[0]
        assert answer.error_code == 0
        return int(answer.offset)

    before = end()
    assert nodes.produce(THREE, 0, acks=1)[0] == 0
    return end() > before


def another_stops(nodes: Nodes) -> None:
    """Only node 1 runs."""
    nodes.see("node 2 stopped", lambda: nodes.view(TOPICS))
    nodes.see("coordinators without 2 and 3", lambda: nodes.coordinators(GROUPS[1], *GROUPS))
    for topic, index in ((THREE, 0), (THREE, 1), (CLEAN, 0)):
        nodes.see(f"{topic}-{index} on 1 alone", lambda t=topic, i=index: [  # type: ignore[misc]
            nodes.produce(t, i), nodes.produce(t, i, acks=1)
        ])  # fmt: skip
    nodes.note(DIFFERS, is_seen(nodes))
    for kind in (PREFERRED, UNCLEAN):
        nodes.note(f"election {kind} on 1 alone", nodes.elect(kind, (THREE, [0, 1]), (PAIR, [1]), (CLEAN, [0])))
    nodes.note("four replicas, one node", nodes.create("n-x", factor=4, partitions=1))


def one_comes_back(nodes: Nodes) -> None:
    """Node 3 runs again, which was not in sync with what 2 led alone."""
    nodes.see("node 3 started", lambda: (nodes.under_way(), nodes.view(TOPICS)))
    nodes.note("preferred without 2", nodes.elect(PREFERRED, (PAIR, [1]), (CLEAN, [0]), (THREE, [0, 1, 2])))
    nodes.note("unclean", nodes.elect(UNCLEAN, (CLEAN, [0]), (THREE, [0]), (ONE, [0])))
    nodes.see("after the unclean one", lambda: nodes.view(TOPICS))


def journey(nodes: Nodes) -> dict[str, object]:
    prepare(nodes)
    refusals(nodes)
    reassignments(nodes)
    members = [join(nodes, group, node) for node, group in enumerate(GROUPS, 1)]
    sessions = [Session(nodes, node, topic) for node, topic in ((1, THREE), (2, PAIR), (3, ONE))]
    nodes.note("sessions", [one.go_on() for one in sessions] + [sessions[1].go_on(1), sessions[0].go_on(3)])
    nodes.see("racks", lambda: [nearer(nodes, rack) for rack in ("a", "b", "c", "d")] + [nearer(nodes, "c", 3)])
    nodes.stop(3)
    one_stops(nodes)
    reassignments_that_wait(nodes)
    nodes.stop(2)
    another_stops(nodes)
    nodes.see("member on 2 without it", lambda: state_of(nodes, members[1], 1))
    nodes.see("racks without 2 and 3", lambda: [nearer(nodes, rack) for rack in ("a", "b", "c")])
    nodes.start(3)
    one_comes_back(nodes)
    nodes.start(2)
    nodes.see("node 2 started", lambda: (nodes.under_way(), nodes.view(TOPICS)))
    nodes.see("coordinators", lambda: nodes.coordinators(*GROUPS))
    for member, node in zip(members, (1, 1, 3), strict=True):
        nodes.see(f"member of {member.group_id}", lambda m=member, n=node: state_of(nodes, m, n))  # type: ignore[misc]
    nodes.see("sessions of nodes that were gone", lambda: [one.go_on() for one in sessions[1:]])
    nodes.note("that of the other", sessions[0].go_on())
    code, elected = nodes.elect(PREFERRED)
    # of n-wide Kafka has drawn the preferred replica
    nodes.note("back to the preferred at last", (code, [one for one in elected if one[0] != "n-wide"]))
    nodes.see("at last", lambda: nodes.view(TOPICS))
    return nodes.notes


def of_the_stub() -> dict[str, object]:
    with KafkaStub(nodes=3, racks=RACKS, config=CONFIG, profile="kafka") as stub:
        servers = {node.id: node.bootstrap_servers for node in stub.nodes.values()}
        create_offsets_topic(servers[1])
        return journey(Nodes(servers, lambda node: stub.nodes[node].stop(), lambda node: stub.nodes[node].start()))


@pytest.mark.oracle
def test_nodes_that_stop_and_start_show_what_kafkas_do(apache_cluster: ApacheCluster):
    ours = of_the_stub()
    kafkas = apache_cluster.nodes
    servers = {node_id: node.bootstrap_servers for node_id, node in kafkas.items()}
    nodes = Nodes(servers, lambda node: kafkas[node].pause(), lambda node: kafkas[node].resume(), ours)
    theirs = journey(nodes)
    different = {label: (ours[label], theirs[label]) for label in ours if ours[label] != theirs[label]}
    assert different == {DIFFERS: (True, False)}, "docs/nodes.md tells of the one difference"
