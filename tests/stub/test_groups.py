"""`stub.groups`: what a test sees of groups of both protocols, and what it can do to them."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import GroupTimeout, KafkaStub, StubError
from kafkawire.errors import ErrorCode
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kafkawire.schema import Message
from tests.hostile.crowds import pipelined
from tests.rawclient import RawClient
from tests.stub.consumers import AT_ONCE, Player, rounds
from tests.waiting import SECONDS, until

FOUR = [("orders", index) for index in range(4)]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 4, "audit": 1}, config=AT_ONCE) as stub:
        yield stub


@pytest.fixture
def player(stub: KafkaStub) -> Iterator[Callable[..., Player]]:
    """Makes members that are closed at the end."""
    made = []

    def make(member_id: str, **named: object) -> Player:
        made.append(Player(stub, member_id, **named))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_there_is_nothing_before_the_first_group(stub: KafkaStub) -> None:
    assert dict(stub.groups) == {}
    assert len(stub.groups) == 0
    assert "g" not in stub.groups
    with pytest.raises(KeyError, match="group 'g' does not exist"):
        stub.groups["g"]


def test_two_members_on_their_way_to_their_targets(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one)
    group = stub.groups["g"]
    assert (group.type, group.state, group.epoch, group.target_epoch, group.assignor) == (
        "consumer", "Stable", 2, 2, "uniform",
    )  # fmt: skip
    alone = group.member("one")
    assert (alone.epoch, alone.state, alone.subscribed, alone.upgraded) == (2, "STABLE", ("orders",), True)
    assert alone.assigned == alone.target == tuple(FOUR)

    assert two.beat().member_epoch == 3  # it joins, and has nothing until the first has let go
    one.beat()
    told = group.view()
    assert (told.state, told.epoch, told.target_epoch) == ("Reconciling", 3, 3)
    first, second = told.member("one"), told.member("two")
    assert (first.state, first.epoch, first.assigned, first.pending_revocation) == (
        "UNREVOKED_PARTITIONS", 2, tuple(FOUR[:2]), tuple(FOUR[2:]),
    )  # fmt: skip
    assert (second.state, second.assigned, second.target) == ("UNRELEASED_PARTITIONS", (), tuple(FOUR[2:]))

    rounds(one, two)
    assert group.state == "Stable"
    assert {name: one.assigned for name, one in group.members.items()} == group.target
    assert group.member("two").assigned == tuple(FOUR[2:])
    assert list(stub.groups) == ["g"]
    two.leave()
    one.leave()
    assert (group.state, group.members, group.target) == ("Empty", {}, {})


def test_what_is_told_of_one_moment_is_a_value(stub: KafkaStub, player: Callable[..., Player]) -> None:
    rounds(player("one"))
    group = stub.groups["g"]
    told, one = group.view(), group.member("one")
    assert told == group.view() == pickle.loads(pickle.dumps(told))
    assert len({one, told.member("one")}) == 1
    for view in (told, one):
        with pytest.raises(FrozenInstanceError):
            view.epoch = 7  # type: ignore[misc]


def test_a_member_by_any_of_its_names(stub: KafkaStub, player: Callable[..., Player]) -> None:
    rounds(player("one", instance="first"), player("two"))
    group = stub.groups["g"]
    for name in ("one", "first", "client-one"):
        assert group.member(name).member_id == "one"
    with pytest.raises(KeyError, match="group 'g' has no member 'nobody'"):
        group.member("nobody")


def test_a_static_member_that_is_away(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one = player("one", instance="first")
    rounds(one)
    one.leave()
    away = stub.groups["g"].member("first")
    assert (away.epoch, away.assigned) == (-2, tuple(FOUR))
    assert stub.groups["g"].state == "Reconciling"


def test_a_target_that_the_test_chooses(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one, two)
    group = stub.groups["g"]
    epoch = group.epoch
    group.target = {"one": [("orders", 3)], "client-two": FOUR[:3]}
    assert (group.epoch, group.target_epoch) == (epoch + 1, epoch + 1)
    assert group.target == {"one": (FOUR[3],), "two": tuple(FOUR[:3])}
    rounds(one, two)
    assert (one.owned, two.owned) == ({FOUR[3]}, set(FOUR[:3]))
    assert group.state == "Stable"
    group.set_target({"two": FOUR})
    rounds(one, two)
    assert (one.owned, two.owned) == (set(), set(FOUR))
    three = player("three")  # the next epoch: the broker's assignor again
    rounds(three, one, two)
    assert sorted(len(each.owned) for each in (one, two, three)) == [1, 1, 2]


@pytest.mark.parametrize(
    ("target", "refusal", "says"),
    [
        ({"nobody": []}, KeyError, "no member 'nobody'"),
        ({"one": [("orders", 4)]}, KeyError, "orders"),
        ({"one": [("nothing", 0)]}, KeyError, "nothing"),
        ({"one": [FOUR[0]], "two": [FOUR[0]]}, ValueError, "orders"),
        ({"one": [FOUR[0], FOUR[0]]}, ValueError, "orders-0 is given to member one twice"),
        ({"one": [("audit", 0)]}, ValueError, "one does not subscribe to audit, only to orders"),
        ({"one": "orders"}, TypeError, "of member 'one' is refused"),
        ({"one": [("orders", "0")]}, TypeError, "of member 'one' is refused"),
        ({"one": 1}, TypeError, "of member 'one' is refused"),
        ({1: []}, TypeError, "the member 1 is refused"),
        ([("orders", 0)], TypeError, "is refused"),
    ],
)
def test_a_target_that_cannot_be(
    stub: KafkaStub, player: Callable[..., Player], target: object, refusal: type[Exception], says: str
) -> None:
    rounds(player("one"), player("two"))
    group = stub.groups["g"]
    before = group.view()
    with pytest.raises(refusal, match=says):
        group.target = target  # type: ignore[assignment]
    assert group.view() == before


def test_a_target_that_is_misspelt(stub: KafkaStub, player: Callable[..., Player]) -> None:
    rounds(player("one"))
    with pytest.raises(AttributeError, match="no settable 'targets': only its `target` can be set"):
        stub.groups["g"].targets = {"one": []}  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="state"):
        stub.groups["g"].state = "Empty"  # type: ignore[misc]


@pytest.mark.parametrize("terse", [False, True])
def test_what_is_held_stays_with_its_member(stub: KafkaStub, player: Callable[..., Player], terse: bool) -> None:
    one, two = player("one"), player("two")
    one.terse = two.terse = terse
    rounds(one)
    group = stub.groups["g"]
    with group.hold_revocation("client-one") as hold:
        assert hold.member_id == "one"
        rounds(one, two)
        assert one.owned == set(FOUR[:2])  # it has let go, and the broker does not hear it
        assert two.owned == set()
        assert group.member("one").pending_revocation == tuple(FOUR[2:])
        assert [group.member(name).held for name in ("one", "two")] == [True, False]
        assert group.state == "Reconciling"
    rounds(one, two)
    assert (two.owned, group.state) == (set(FOUR[2:]), "Stable")
    hold.release()


def test_who_is_held_for_too_long_is_fenced(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one, two = player("one", rebalance_timeout_ms=10_000), player("two")
    rounds(one)
    stub.groups["g"].hold_revocation("one")
    rounds(two, one)
    stub.clock.advance(seconds=10, timers=True)
    rounds(two)
    assert two.owned == set(FOUR)
    assert list(stub.groups["g"].members) == ["two"]


@pytest.mark.parametrize("name", ["one", "first", "client-one"])
def test_one_dies_and_the_others_live(stub: KafkaStub, player: Callable[..., Player], name: str) -> None:
    one, two = player("one", instance="first"), player("two")
    rounds(one, two)
    group = stub.groups["g"]
    assert group.member("one").assigned
    group.end_session(name)
    assert list(group.members) == ["two"]
    rounds(two)
    assert two.owned == set(FOUR)
    assert ErrorCode(one.beat().error_code) is ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(KeyError, match="group 'g' has no member 'one'"):
        group.end_session("one")


def test_a_session_that_ends_may_be_the_last_one(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one = player("one")
    rounds(one)
    stub.groups["g"].end_session("one")
    assert stub.groups["g"].state == "Empty"


def test_nobody_to_hold(stub: KafkaStub, player: Callable[..., Player]) -> None:
    rounds(player("one"))
    with pytest.raises(KeyError, match="group 'g' has no member 'nobody'"):
        stub.groups["g"].hold_revocation("nobody")


def test_waiting_for_an_assignment(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one, two = player("one"), player("two")
    with pytest.raises(GroupTimeout, match=r"group 'g' is not assigned like that after 0\.01 s: it does not exist"):
        stub.wait_assigned("g", {"one": FOUR}, timeout=0.01)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(stub.wait_assigned, "g", {"one": FOUR[:2], "client-two": FOUR[2:]}, SECONDS)
        rounds(one)
        assert not waiting.done()
        rounds(one, two)
        waiting.result(SECONDS)
    stub.wait_assigned("g", {"one": reversed(FOUR[:2])})
    wrong = {"one": FOUR[:1], "nobody": []}
    says = r"one has orders-0, orders-1 instead of orders-0; group 'g' has no member 'nobody'"
    with pytest.raises(GroupTimeout, match=says):
        stub.wait_assigned("g", wrong, timeout=0.01)
    assert stub._running().state.group_watchers == []
    with pytest.raises(TypeError, match="of member 'one' is refused"):
        stub.wait_assigned("g", {"one": "orders"})  # type: ignore[dict-item]


def test_a_member_that_has_not_let_go_is_waited_for(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one)
    with stub.groups["g"].hold_revocation("one"):
        rounds(one, two)
        with pytest.raises(GroupTimeout, match="one has not let go of orders-2, orders-3, which is held by the test"):
            stub.wait_assigned("g", {"one": FOUR[:2]}, timeout=0.01)


def test_states_of_the_consumer_protocol_are_waited_for(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one)
    stub.wait_group("g", state="stable", members=1)
    two.beat()
    one.beat()
    stub.wait_group("g", state="Reconciling", members=2)
    with pytest.raises(GroupTimeout, match="group 'g' is Reconciling with 2 members"):
        stub.wait_group("g", state="Assigning", members=2, timeout=0.01)


def classic(stub: KafkaStub, client_id: str, stop: threading.Event) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": stub.bootstrap_servers,
            "group.id": "g",
            "client.id": client_id,
            "heartbeat.interval.ms": 50,
        }
    )
    consumer.subscribe(["orders"])
    while not stop.is_set():
        consumer.poll(0.05)
    consumer.close()


def test_a_classic_group() -> None:
    stop = threading.Event()
    with KafkaStub(topics={"orders": 4}, config={"group.initial.rebalance.delay.ms": 0}) as stub:
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(classic, stub, "one", stop)
            try:
                stub.wait_assigned("g", {"one": FOUR}, timeout=SECONDS)
                second = pool.submit(classic, stub, "two", stop)
                stub.wait_group("g", members=2, timeout=SECONDS)
                group = stub.groups["g"]
                told = group.view()
                assert (told.type, told.state, told.target_epoch, told.assignor) == ("classic", "Stable", None, "range")
                assert told.epoch == group.epoch >= 2
                parts = [told.member(name).assigned for name in ("one", "two")]
                assert sorted(parts[0] + parts[1]) == FOUR
                assert {len(part) for part in parts} == {2}
                member = told.member("one")
                assert (member.subscribed, member.target, member.epoch, member.upgraded) == (
                    ("orders",),
                    None,
                    None,
                    None,
                )
                group.end_session("two")  # one that lives joins again
                until(lambda: group.epoch > told.epoch and group.state == "Stable", "the group rebalances")
                stub.wait_group("g", state="Stable", members=2, timeout=SECONDS)
                assert told.member("two").member_id not in group.members
                for refused in (lambda: group.set_target({}), lambda: group.hold_revocation("one")):
                    with pytest.raises(ValueError, match="is not a consumer group"):
                        refused()
            finally:
                stop.set()
            first.result(SECONDS)
            second.result(SECONDS)
        assert stub.groups["g"].members == {}


def test_a_group_that_only_stores_offsets(stub: KafkaStub) -> None:
    Producer({"bootstrap.servers": stub.bootstrap_servers}).flush()
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "simple"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
    consumer.close()
    group = stub.groups["simple"]
    assert (group.type, group.state, group.assignor, group.members) == ("classic", "Empty", None, {})


def test_a_broker_with_classic_groups_alone_loads_nothing_of_the_consumer_protocol() -> None:
    """What is not used costs nothing."""
    import subprocess
    import sys

    program = """
import sys
from kafkastub import KafkaStub
from kafkastub.client import Client, groups
with KafkaStub(topics=["orders"]) as stub, Client(stub.bootstrap_servers) as client:
    groups.commit(client, "g", {("orders", 0): 1})
    assert stub.groups["g"].state == "Empty"
print([name for name in sys.modules if name.startswith("kafkastub.coordinator.consumer.")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_while_the_coordinator_is_loading(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one = player("one")
    rounds(one)
    group = stub.groups["g"]
    with stub.coordinator_loading():
        for asked in (lambda: len(stub.groups), lambda: group.state, lambda: group.set_target({"one": []})):
            with pytest.raises(StubError, match="is being loaded"):
                asked()
        with pytest.raises(GroupTimeout, match="it is being loaded"):
            stub.wait_assigned("g", {"one": FOUR}, timeout=0.01)
    rounds(one)
    stub.wait_assigned("g", {"one": FOUR}, timeout=SECONDS)


def test_a_group_that_is_gone(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one = player("one")
    rounds(one)
    group = stub.groups["g"]
    hold = group.hold_revocation("one")
    one.leave()
    stub.clock.advance(days=30)
    until(lambda: not stub.groups, "the group is forgotten")
    with pytest.raises(KeyError, match="group 'g' does not exist"):
        group.state  # noqa: B018
    with pytest.raises(KeyError, match="group 'g' does not exist"):
        group.set_target({})
    hold.release()


def test_a_stub_in_a_process_of_its_own() -> None:
    with KafkaStub(topics={"orders": 4}, config=AT_ONCE, process=True) as stub:
        one, two = Player(stub, "one"), Player(stub, "two")
        rounds(one, two)
        group = stub.groups["g"]
        assert group.state == "Stable"
        with pytest.raises(AttributeError, match="only its `target` can be set"):
            group.targets = {"one": FOUR}  # type: ignore[attr-defined]
        group.target = {"one": FOUR}
        assert group.target == {"one": tuple(FOUR), "two": ()}
        with group.hold_revocation("two"):
            rounds(one, two)
            assert one.owned == set(FOUR[:2])
        rounds(one, two)
        assert one.owned == set(FOUR)
        stub.wait_assigned("g", {"one": FOUR, "two": []})
        group.end_session("two")
        assert list(group.members) == ["one"]
        assert "g" in stub.groups
        for each in (one, two):
            each.close()


def test_a_target_is_there_again_after_a_restart(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 4}, config=AT_ONCE, data_dir=tmp_path) as stub:
        one, two = Player(stub, "one"), Player(stub, "two")
        rounds(one, two)
        stub.groups["g"].target = {"one": FOUR[3:], "two": FOUR[:3]}
        before = stub.groups["g"].view()
        one.close()
        two.close()
    with KafkaStub(config=AT_ONCE, data_dir=tmp_path) as stub:
        assert stub.groups["g"].view() == before
        again = [Player(stub, "one"), Player(stub, "two")]
        for player, left in zip(again, (one, two), strict=True):
            player.epoch, player.owned = left.epoch, left.owned
        rounds(*again)
        stub.wait_assigned("g", {"one": FOUR[3:], "two": FOUR[:3]})
        for player in again:
            player.close()


def test_who_was_away_for_too_long_finds_its_group_again(stub: KafkaStub, player: Callable[..., Player]) -> None:
    one = player("one")
    rounds(one)
    stub.clock.advance(seconds=45, timers=True)
    assert (stub.groups["g"].state, stub.groups["g"].members) == ("Empty", {})
    assert ErrorCode(one.beat().error_code) is ErrorCode.UNKNOWN_MEMBER_ID  # not GROUP_ID_NOT_FOUND: clients give up
    stub.expire_offsets_now()
    assert "g" not in stub.groups


def test_however_many_members_are_silent_they_are_gone_when_the_clock_has_been_moved(stub: KafkaStub) -> None:
    """A timer of its own loses fifty at a time, so that others are served between."""
    asked: list[Message] = [
        ConsumerGroupHeartbeatRequest("g", f"m{number}", 0, None, None, 60_000, ["orders"], None, None, [])
        for number in range(120)
    ]
    with RawClient(stub.bootstrap_servers) as client:
        assert sum(1 for _ in pipelined(client.socket, 1, asked)) == 120
    stub.clock.advance(seconds=45, timers=True)
    assert stub.groups["g"].members == {}


def test_a_group_that_nobody_comes_back_to_goes_with_a_sweep_on_the_way(
    stub: KafkaStub, player: Callable[..., Player]
) -> None:
    rounds(player("one"))
    stub.clock.advance(minutes=10, seconds=44, timers=True)
    assert "g" in stub.groups
    stub.clock.advance(seconds=1)
    assert "g" not in stub.groups
    rounds(player("two"))
    stub.clock.advance(minutes=11, timers=True)
    assert "g" not in stub.groups


def test_a_wait_for_what_nobody_can_have_says_so(stub: KafkaStub, player: Callable[..., Player]) -> None:
    rounds(player("one"))
    wanted = [("audit", 1), ("nothing", 0), ("nothing", 1)]
    says = (
        "one has orders-0, orders-1, orders-2, orders-3 instead of audit-1, nothing-0, nothing-1; "
        "there is no partition audit-1, only 1 of them; there is no topic 'nothing'$"
    )
    with pytest.raises(GroupTimeout, match=says):
        stub.wait_assigned("g", {"one": wanted}, timeout=0.01)
    with pytest.raises(GroupTimeout, match=r"group 'other' does not exist after 0\.01 s, Stable was waited for"):
        stub.wait_group("other", timeout=0.01)
