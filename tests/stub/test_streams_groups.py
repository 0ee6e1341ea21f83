"""`stub.streams_groups`: what a test sees of an application's group, and what it can do to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from kafkastub import GroupTimeout, KafkaStub
from kafkawire.messages.streams_group_heartbeat_request import Endpoint, TaskOffset
from tests.streams_instance import QUICK, Instance, settle, words
from tests.stub.test_waits import later
from tests.waiting import SECONDS

ALL = [("0", 0), ("0", 1), ("1", 0), ("1", 1)]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"lines": 2}, config=QUICK) as stub:
        yield stub


@pytest.fixture
def one(stub: KafkaStub) -> Iterator[Instance]:
    with Instance(stub.bootstrap_servers, "one") as instance:
        yield instance


@pytest.fixture
def two(stub: KafkaStub) -> Iterator[Instance]:
    with Instance(stub.bootstrap_servers, "two") as instance:
        yield instance


def test_a_group_with_its_topology_and_members(stub: KafkaStub, one: Instance) -> None:
    assert list(stub.streams_groups) == []
    one.beat(user_endpoint=Endpoint("localhost", 8080))
    settle(one)
    assert list(stub.streams_groups) == ["app"]
    group = stub.streams_groups["app"]
    assert (group.state, group.epoch, group.status, group.shutdown_by) == ("Stable", group.target_epoch, None, None)
    assert list(group) == ALL
    topology = group.topology
    assert topology is not None
    assert (topology.epoch, list(topology.subtopologies), topology.to_create) == (0, ["0", "1"], ())
    first, second = topology.subtopologies.values()
    assert (first.inputs, first.repartition_sink_topics, first.stateful, first.tasks) == (
        ("lines",),
        ("app-words-repartition",),
        False,
        2,
    )
    assert (second.inputs, second.stateful) == (("app-words-repartition",), True)
    changelog = second.state_changelog_topics["app-counts-changelog"]
    assert (changelog.partitions, changelog.replication_factor, changelog.configs) == (
        2,
        None,
        {"cleanup.policy": "compact"},
    )
    (member,) = group.members.values()
    assert (member.client_id, member.process_id, member.user_endpoint) == ("one", "process-one", ("localhost", 8080))
    assert (member.state, member.epoch, list(member.tasks.active)) == ("STABLE", group.epoch, ALL)
    assert group.member("one") == member


def test_a_task_with_those_who_have_it(stub: KafkaStub, one: Instance, two: Instance) -> None:
    stub.streams_groups.configure("app", {"streams.num.standby.replicas": 1})
    settle(one)
    settle(one, two)
    group = stub.streams_groups["app"]
    for task in ALL:
        found = group[task]
        assert found.active is not None
        assert task in found.active.tasks.active
        assert len(found.standby) == (1 if task[0] == "1" else 0)
        assert found.active not in found.standby
    assert group["0", 1].reads == (("lines", 1),)
    assert (group["1", 0].reads, group["1", 0].keeps) == (
        (("app-words-repartition", 0),),
        (("app-counts-changelog", 0),),
    )
    for wrong in (("0", 2), ("0", -1), ("2", 0)):
        with pytest.raises(KeyError, match="has no"):
            group[wrong]
    with pytest.raises(TypeError, match="is not a task"):
        group["0"]  # type: ignore[index]


def test_what_members_let_go_of_and_say(stub: KafkaStub, one: Instance, two: Instance) -> None:
    settle(one)
    two.beat()
    one.beat()  # is told to let go, and has not yet
    group = stub.streams_groups["app"]
    member = group.member("one")
    assert (group.state, member.state) == ("Reconciling", "UNREVOKED_TASKS")
    leaving = member.pending_revocation.active
    assert len(leaving) == 2
    assert set(leaving) == set(group.member("two").target.active)
    assert [m.client_id for m in group[leaving[0]].pending_revocation] == ["one"]
    assert group[leaving[0]].active is None
    settle(one, two)
    one.tell_offsets([TaskOffset("1", 0, 7)], [TaskOffset("1", 0, 9)])
    said = group.member("one")
    assert (said.task_offsets, said.task_end_offsets) == ({("1", 0): 7}, {("1", 0): 9})


def test_what_a_group_lacks(stub: KafkaStub) -> None:
    with Instance(stub.bootstrap_servers, "one", topology=words("pages")) as one:
        one.beat()
        group = stub.streams_groups["app"]
        assert (group.state, group.status) == ("NotReady", None)
        one.beat()
        stub.streams_groups.wait("app", status="MISSING_SOURCE_TOPICS", timeout=0)
        assert (group.state, group.status, list(group)) == ("NotReady", "MISSING_SOURCE_TOPICS", [])
        topology = group.topology
        assert topology is not None
        assert topology.message == "Source topics pages are missing."
        assert topology.subtopologies["0"].tasks is None
        with pytest.raises(GroupTimeout, match=r"'app' is NotReady \(MISSING_SOURCE_TOPICS: Source topics pages are"):
            stub.streams_groups.wait("app", timeout=0)
        with pytest.raises(KeyError, match="there are not known"):
            group["0", 0]
        stub.create_topic("pages", 3)
        waiting = later(lambda: stub.streams_groups.wait("app", timeout=SECONDS))
        settle(one)
        waiting.join(SECONDS)
        assert not waiting.is_alive()
        stub.streams_groups.wait("app", {"one": [(name, n) for name in "01" for n in range(3)]}, timeout=0)


def test_the_end_of_a_session_gives_its_tasks_to_another(stub: KafkaStub, one: Instance, two: Instance) -> None:
    settle(one)
    settle(one, two)
    group = stub.streams_groups["app"]
    group.end_session("one")
    settle(two)
    stub.streams_groups.wait("app", {"two": ALL}, timeout=0)
    assert one.beat().error_code == 25  # UNKNOWN_MEMBER_ID
    with pytest.raises(KeyError, match="has no member 'one', only 'two'"):
        group.end_session("one")


def test_who_has_lost_its_session_is_waited_for(stub: KafkaStub, one: Instance, two: Instance) -> None:
    settle(one, two)
    group = stub.streams_groups["app"]
    assert repr(group) == "<streams group 'app', Stable with 2 members>"
    group.end_session("one")
    settle(two)
    stub.streams_groups.wait("app", timeout=0)
    with pytest.raises(GroupTimeout, match="is Stable with 1 members instead of 2"):
        stub.streams_groups.wait("app", members=2, timeout=0)
    one.beat()  # it is told that it is out
    settle(one, two)
    stub.streams_groups.wait("app", members=2, timeout=0)
    one.leave()
    two.leave()
    stub.streams_groups.wait("app", members=0, timeout=0)
    with pytest.raises(TypeError, match="members='2': expected a number"):
        stub.streams_groups.wait("app", members="2")  # type: ignore[arg-type]


def test_a_group_that_is_gone_is_shown_as_that() -> None:
    with KafkaStub(topics={"lines": 2}, config=QUICK) as stub:
        with Instance(stub.bootstrap_servers, "one") as one:
            settle(one)
        group = stub.streams_groups["app"]
    assert repr(group) == "<streams group 'app', gone>"


def test_a_member_wants_the_application_to_end(stub: KafkaStub, one: Instance, two: Instance) -> None:
    settle(one, two)
    group = stub.streams_groups["app"]
    group.shut_down("two")
    assert group.shutdown_by == "two"
    (told,) = one.beat().status
    assert (told.status_code, "two" in told.status_detail) == (4, True)
    one.leave()
    two.leave()
    assert (group.state, group.shutdown_by) == ("Empty", None)
    with pytest.raises(KeyError, match="has no member"):
        group.shut_down("two")


def test_among_groups_of_all_types(stub: KafkaStub, one: Instance) -> None:
    settle(one)
    group = stub.groups["app"]
    assert (group.type, group.state, group.assignor) == ("streams", "Stable", "sticky")
    member = group.member("one")
    reads = (("app-words-repartition", 0), ("app-words-repartition", 1), ("lines", 0), ("lines", 1))
    assert (member.assigned, member.target, member.subscribed) == (reads, reads, ("app-words-repartition", "lines"))
    stub.wait_assigned("app", {"one": reads}, timeout=0)
    stub.wait_group("app", members=1, timeout=0)
    with pytest.raises(ValueError, match="is not a consumer group"):
        group.set_target({"one": []})
    group.end_session("one")
    assert stub.groups["app"].state == "Empty"


def test_a_group_waits_for_its_topics(stub: KafkaStub) -> None:
    with Instance(stub.bootstrap_servers, "one", topology=words("pages")) as one:
        one.beat()
        stub.wait_group("app", state="notready", timeout=0)


def test_waits_say_what_did_not_come(stub: KafkaStub, one: Instance) -> None:
    wait = stub.streams_groups.wait
    with pytest.raises(GroupTimeout, match="streams group 'app' does not exist after 0 s"):
        wait("app", timeout=0)
    settle(one)
    for wanted, said in (
        ({"active": {"one": [("0", 0)]}}, "one has 0-0, 0-1, 1-0, 1-1 as active instead of 0-0"),
        ({"standby": {"one": [("1", 0)]}}, "one has nothing as standby instead of 1-0"),
        ({"warmup": {"two": []}}, "group 'app' has no member 'two', only 'one'"),
        ({"status": "MISSING_SOURCE_TOPICS"}, "lacks nothing, MISSING_SOURCE_TOPICS was waited for"),
    ):
        with pytest.raises(GroupTimeout, match=said):
            wait("app", timeout=0, **wanted)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected one of MISSING_SOURCE_TOPICS"):
        wait("app", status="LATE")
    for wrong in ([("0", 0)], {"one": ["0"]}, {"one": [("0", True)]}, {"one": 3}):
        with pytest.raises(TypeError, match="is refused"):
            wait("app", wrong)  # type: ignore[arg-type]


def test_what_is_not_there(stub: KafkaStub) -> None:
    stub.commit("classic", {("lines", 0): 1})
    for name in ("nobody", "classic"):
        with pytest.raises(KeyError, match=f"streams group '{name}' does not exist"):
            stub.streams_groups[name]
    with pytest.raises(ValueError, match=r"streams\.num\.standby\.replicas"):
        stub.streams_groups.configure("app", {"streams.num.standby.replicas": 100})
    with pytest.raises(TypeError, match="expected"):
        stub.streams_groups.configure("app", "streams")  # type: ignore[arg-type]
    assert (repr(stub.streams_groups), len(stub.streams_groups)) == ("<0 streams groups>", 0)


async def test_a_coroutine_waits(stub: KafkaStub) -> None:
    with Instance(stub.bootstrap_servers, "one") as one:
        waiting = asyncio.create_task(stub.aio.wait_streams_group("app", timeout=SECONDS))
        await asyncio.to_thread(settle, one)
        await waiting
