"""`stub.share_groups`: what a test sees of records that a share group has, and what it can do to the group."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import AcknowledgeType, Message, ShareConsumer

from kafkastub import GroupTimeout, KafkaStub, StubError
from tests.waiting import SECONDS, until

QUICK: dict[str, object] = {
    "group.share.min.heartbeat.interval.ms": 50,
    "group.share.heartbeat.interval.ms": 50,
    "group.share.assignment.interval.ms": 0,
}
EARLIEST = {"share.auto.offset.reset": "earliest"}
Join = Callable[..., ShareConsumer]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 1, "audit": 2}, config=QUICK) as stub:
        stub.share_groups.configure("g", EARLIEST)
        yield stub


@pytest.fixture
def join(stub: KafkaStub) -> Iterator[Join]:
    """Makes members that are closed at the end, while the stub still runs."""
    made = []

    def joined(name: str = "one", topic: str = "orders") -> ShareConsumer:
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "client.id": name}
        made.append(ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"}))
        made[-1].subscribe([topic])
        return made[-1]

    yield joined
    for one in made:
        one.close()


def fill(stub: KafkaStub, count: int, topic: str = "orders") -> None:
    for number in range(count):
        stub.produce(topic, f"{number}", partition=0)


def read(consumer: ShareConsumer) -> list[Message]:
    found: list[Message] = []

    def come() -> bool:
        found.extend(consumer.poll(0.05))
        return bool(found)

    until(come, "records")
    return found


def test_there_is_nothing_before_the_first_group(stub: KafkaStub) -> None:
    assert dict(stub.share_groups) == {}
    with pytest.raises(KeyError, match="share group 'g' does not exist"):
        stub.share_groups["g"]
    stub.commit("classic", {("orders", 0): 0})
    with pytest.raises(KeyError, match="share group 'classic' does not exist"):
        stub.share_groups["classic"]
    assert list(stub.share_groups) == []


def test_each_record_is_somebodys_for_a_while(stub: KafkaStub, join: Join) -> None:
    fill(stub, 3)
    one = join()
    assert len(read(one)) == 3
    group = stub.share_groups["g"]
    assert (group.state, list(group), len(group)) == ("Stable", [("orders", 0)], 1)
    assert group.member("one").assigned == (("orders", 0),)
    assert stub.groups["g"].type == "share"
    orders = group["orders", 0]
    assert (orders.start, orders.end, orders.lag, orders.is_loaded) == (0, 3, 3, True)
    assert orders[1] is orders.acquired[2]
    assert (orders[1].client_id, orders[1].member_id, orders[1].deliveries) == ("one", group.member("one").member_id, 1)
    assert 0 < (orders[1].lock_left_ms or 0) <= 30_000
    assert "3 acquired from 0" in repr(orders)

    stub.clock.advance(seconds=29, timers=True)
    assert 0 < (group["orders", 0][1].lock_left_ms or 0) <= 1000
    stub.clock.advance(seconds=1, timers=True)
    assert list(group["orders", 0].available) == [0, 1, 2]
    assert group["orders", 0][1][2:] == ("available", 1, None, None, None, False)


def test_what_is_done_with_is_known_and_what_there_is_not_is_not(stub: KafkaStub, join: Join) -> None:
    fill(stub, 4)
    one = join()
    first, second, third, _ = read(one)
    for message, said in ((first, 1), (second, 2), (third, 3)):
        one.acknowledge(message, AcknowledgeType(said))
    one.commit_sync()
    orders = stub.share_groups["g"]["orders", 0]
    assert (orders.start, orders.lag) == (1, 2)
    assert [orders.is_done(offset) for offset in range(6)] == [True, False, True, False, False, False]
    assert (list(orders.available), list(orders.archived), list(orders.acquired)) == ([1], [2], [3])
    with pytest.raises(KeyError, match="nothing is known of offset 0, from 1 to 4 it is"):
        orders[0]
    with pytest.raises(KeyError, match="there is no partition orders-7"):
        stub.share_groups["g"]["orders", 7]
    for wrong in ("orders", ("orders", True), (0, "orders")):
        with pytest.raises(TypeError, match="is not a partition"):
            stub.share_groups["g"][wrong]  # type: ignore[index]


def test_a_partition_that_nobody_has_read(stub: KafkaStub, join: Join) -> None:
    fill(stub, 2)
    join(topic="audit").poll(0.05)
    until(lambda: "g" in stub.share_groups and len(stub.share_groups["g"]) == 2, "two partitions")
    orders = stub.share_groups["g"]["orders", 0]
    assert (orders.start, orders.end, orders.lag, orders.ranges) == (None, 2, None, ())
    assert not orders.is_done(0)


def test_acknowledgements_are_held_until_they_are_released(stub: KafkaStub, join: Join) -> None:
    fill(stub, 2)
    one = join()
    messages = read(one)
    group = stub.share_groups["g"]
    with ThreadPoolExecutor() as threads, group.hold_acknowledgements() as hold:
        assert group.holds_acknowledgements
        assert repr(hold) == "<hold of what members of share group 'g' acknowledge>"
        for message in messages:
            one.acknowledge(message)
        told = threads.submit(one.commit_sync, SECONDS)
        stub.share_groups.wait("g", held=2, timeout=SECONDS)
        orders = group["orders", 0]
        assert (orders.lag, orders.is_done(0), orders[0].held) == (2, False, True)
        with pytest.raises(GroupTimeout, match=r"is not done with 2 in orders-0 \(2 acknowledged"):
            stub.share_groups.wait("g", lag=0, timeout=0)
        assert not told.done()
        hold.release()
        assert list(told.result().values()) == [None]
    assert not group.holds_acknowledgements
    assert group["orders", 0].lag == 0


def test_a_wait_ends_with_what_is_waited_for(stub: KafkaStub, join: Join) -> None:
    fill(stub, 2)
    with ThreadPoolExecutor() as threads:
        acquired = threads.submit(stub.share_groups.wait, "g", acquired=2, timeout=SECONDS)
        done = threads.submit(stub.share_groups.wait, "g", "orders", lag=0, timeout=SECONDS)
        one = join()
        messages = read(one)
        acquired.result()
        assert not done.done()
        for message in messages:
            one.acknowledge(message)
        one.commit_sync()
        done.result()


def test_a_wait_says_what_is_missing(stub: KafkaStub, join: Join) -> None:
    def said(*given: object, **named: object) -> str:
        with pytest.raises(GroupTimeout) as told:
            stub.share_groups.wait(*given, **named, timeout=0)  # type: ignore[arg-type]
        return str(told.value)

    assert said("g", lag=0) == "share group 'g' does not exist after 0 s"
    fill(stub, 2)
    one = join()
    read(one)
    assert said("g", acquired=3) == "share group 'g' has 2 records in its members' hands instead of 3 after 0 s"
    assert said("g", held=1) == "share group 'g' has 0 records whose acknowledgements are held instead of 1 after 0 s"
    assert said("g", lag=1) == "share group 'g' is not done with 2 in orders-0 (2 acquired) after 0 s"
    assert said("g", "audit", lag=0) == "share group 'g' has read nothing of topic 'audit' after 0 s"
    assert said("g", "nothing", lag=0).endswith("has read nothing of topic 'nothing', which does not exist after 0 s")
    stub.share_groups.wait("g", lag=2, acquired=2, timeout=0)


def test_what_can_not_be_waited_for_is_refused(stub: KafkaStub) -> None:
    with pytest.raises(ValueError, match="there is no condition to wait for: expected acquired, held or lag"):
        stub.share_groups.wait("g")
    for wrong in ({"lag": -1}, {"acquired": "1"}, {"held": True}, {"lag": 0, "topic": 1}, {"lag": 0, "timeout": "1"}):
        with pytest.raises(TypeError, match="is refused"):
            stub.share_groups.wait("g", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="timeout=-1 is refused"):
        stub.share_groups.wait("g", lag=0, timeout=-1)


def test_a_group_is_configured_before_there_is_one(stub: KafkaStub) -> None:
    stub.share_groups.configure("g", {"share.delivery.count.limit": 3, "share.auto.offset.reset": None})
    stub.share_groups.configure("g", {"share.renew.acknowledge.enable": False})
    with pytest.raises(ValueError, match=r"group 'g': .*share\.delivery\.count\.limit"):
        stub.share_groups.configure("g", {"share.delivery.count.limit": 300})
    with pytest.raises(ValueError, match=r"no\.such"):
        stub.share_groups.configure("g", {"no.such": 1})
    with pytest.raises(TypeError, match="expected"):
        stub.share_groups.configure("g", "share.delivery.count.limit")  # type: ignore[arg-type]


def test_the_end_of_a_members_session_leaves_its_records_with_it(stub: KafkaStub, join: Join) -> None:
    fill(stub, 1)
    one = join()
    (message,) = read(one)
    group = stub.share_groups["g"]
    member_id = group.member("one").member_id
    with stub.faults.add(api="ShareGroupHeartbeat", client_id="one", hold="before"):
        group.end_session("one")
        assert group.state == "Empty"
        seen = group["orders", 0].acquired[0]
        assert (seen.member_id, seen.client_id) == (member_id, None)
        with pytest.raises(KeyError, match="has no member 'one'"):
            group.end_session("one")
    one.acknowledge(message)
    one.commit_sync()
    assert group["orders", 0].lag == 0


def test_what_is_on_disk_is_seen_before_anybody_reads(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}, config=QUICK, data_dir=tmp_path / "data") as stub:
        stub.share_groups.configure("g", EARLIEST)
        fill(stub, 3)
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g"}
        one = ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"})
        one.subscribe(["orders"])
        messages = read(one)
        one.acknowledge(messages[1])
        one.acknowledge(messages[2], AcknowledgeType.RELEASE)
        one.commit_sync()
        one.acknowledge(messages[0], AcknowledgeType.RELEASE)
        one.close()
    with KafkaStub(config=QUICK, data_dir=tmp_path / "data") as stub:
        orders = stub.share_groups["g"]["orders", 0]
        assert (orders.is_loaded, orders.start, orders.end, orders.lag) == (False, 0, 3, 2)
        assert [one.state for one in orders.ranges] == ["available", "acknowledged", "available"]
        assert [one.deliveries for one in orders.ranges] == [1, 1, 1]


def test_a_stub_in_a_process_of_its_own_shows_the_same() -> None:
    with KafkaStub(topics={"orders": 1}, config=QUICK, process=True) as stub:
        stub.share_groups.configure("g", EARLIEST)
        fill(stub, 1)
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g"}
        one = ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"})
        one.subscribe(["orders"])
        (message,) = read(one)
        group = stub.share_groups["g"]
        assert group["orders", 0].acquired[0].deliveries == 1
        with group.hold_acknowledgements():
            assert group.holds_acknowledgements
        assert not group.holds_acknowledgements
        one.acknowledge(message)
        one.commit_sync()
        stub.share_groups.wait("g", lag=0)
        one.close()


def test_what_is_asked_wrongly_of_a_partition_is_refused(stub: KafkaStub, join: Join) -> None:
    fill(stub, 1)
    read(join())
    orders = stub.share_groups["g"]["orders", 0]
    assert orders.count("acquired") == 1
    with pytest.raises(ValueError, match="state='aquired': records are available, acquired, "):
        orders.count("aquired")
    with pytest.raises(TypeError, match="'0' is not an offset: expected a whole number"):
        orders["0"]  # type: ignore[index]


def test_a_share_group_is_behind_by_no_offset_that_it_commits(stub: KafkaStub, join: Join) -> None:
    fill(stub, 1)
    read(join())
    with pytest.raises(ValueError, match=r"group 'g' is a share group: stub\.share_groups\['g'\] has the lag"):
        stub.lag("g")
    with pytest.raises(GroupTimeout, match="group 'g' is a share group, which commits nothing"):
        stub.offsets.wait_lag("g", timeout=0)


def test_a_view_is_of_its_moment_and_can_be_sent(stub: KafkaStub, join: Join) -> None:
    fill(stub, 1)
    read(join())
    before = stub.share_groups["g"]["orders", 0]
    stub.clock.advance(seconds=30, timers=True)
    assert list(before.acquired) == [0]
    assert pickle.loads(pickle.dumps(before)).ranges == before.ranges


def test_nothing_is_told_while_the_coordinator_is_loading(stub: KafkaStub) -> None:
    with stub.coordinator_loading():
        with pytest.raises(StubError, match="is being loaded"):
            len(stub.share_groups)
        with pytest.raises(GroupTimeout, match="is being loaded"):
            stub.share_groups.wait("g", lag=0, timeout=0)


def test_a_wait_is_over_when_the_stub_is_closed(stub: KafkaStub) -> None:
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            stub.share_groups.wait("g", lag=0, timeout=0.2)
        except (GroupTimeout, StubError) as error:
            failed.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    stub.close()
    waiting.join(SECONDS)
    assert not waiting.is_alive()
    assert len(failed) == 1
