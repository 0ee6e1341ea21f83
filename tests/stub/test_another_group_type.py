"""A group type that nothing above the coordinator knows by name: it is seen as it describes itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.coordinator.group import (
    NOT_DUE,
    Consideration,
    Group,
    GroupDescription,
    MemberDescription,
    PartitionCheck,
)
from kafkastub.coordinator.records import Record
from kafkastub.coordinator.turn import Turn
from kafkastub.deadlines import Deadlines
from kafkastub.views.of_groups import group_ids
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.share_group_describe_response import Assignment, DescribedGroup, Member, TopicPartitions

HOST: Final = "127.0.0.1"


@dataclass
class Flock:
    """A group whose members all read all."""

    group_id: str
    names: list[str] = field(default_factory=list)
    check_at: int = NOT_DUE
    group_type: str = "flock"
    protocol_type: str | None = "birds"
    state_timestamp: int | None = None
    lasting: bool = True

    @property
    def state_name(self) -> str:
        return "Empty" if self.is_empty else "Stable"

    @property
    def is_empty(self) -> bool:
        return not self.names

    @property
    def size(self) -> int:
        return len(self.names)

    def consideration(self) -> Consideration | None:
        return None

    def subscribes(self, topic: str) -> bool:
        return True

    def validate_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation: int,
        *,
        version: int = 9,
        transactional: bool = False,
    ) -> PartitionCheck | None:
        return None

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        pass

    def keep_alive(self, member_id: str, deadlines: Deadlines[Turn], timer_ms: int) -> int | None:
        return None

    def validate_offset_delete(self) -> None:
        pass

    def validate_delete(self) -> None:
        if self.names:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def tombstones(self) -> Iterable[Record]:
        return ()

    def end(self, broker_ms: int) -> None:
        pass

    def described(self) -> GroupDescription:
        members = [MemberDescription(name, None, name, HOST, 1, 1, ["orders"]) for name in self.names]
        return GroupDescription(7, None, None, members)


@dataclass
class Flocks:
    """What makes them."""

    flocks: dict[str, Flock]
    name: str = "flock"

    def new(self, group_id: str, broker_ms: int) -> Flock:
        return Flock(group_id)

    def group_ids(self) -> Iterable[str]:
        return self.flocks

    def revive(self, group_id: str, turn: Turn) -> Flock:
        return self.flocks[group_id]

    def revived(self, group: Group, turn: Turn) -> None:
        pass

    def give_way(self, group: Group, turn: Turn) -> None:
        pass

    def unload(self, group: Group, turn: Turn) -> None:
        pass

    def describe(self, group: Group) -> DescribedGroup | None:
        flock, here = self.flocks[group.group_id], Assignment([TopicPartitions(b"\0" * 16, "orders", [0, 1])])
        members = [
            Member(
                member_id=name,
                member_epoch=3,
                client_id=name,
                client_host=HOST,
                subscribed_topic_names=["orders"],
                assignment=here,
            )
            for name in flock.names
        ]
        return DescribedGroup(0, None, group.group_id, group.state_name, 7, 6, "everything", members)

    def end_session(self, group_id: str, member_id: str, broker_ms: int, timer_ms: int) -> Turn:
        self.flocks[group_id].names.remove(member_id)
        return Turn(broker_ms, timer_ms)


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    """Group `geese` is such a one, with two members."""
    with KafkaStub(topics={"orders": 2}, control_port=0) as stub:
        runner = stub._thread

        def begin() -> None:
            coordinator, flock = runner.running().state.coordinator, Flock("geese", ["one", "two"])
            coordinator.types = {**coordinator.types, "flock": Flocks({"geese": flock})}
            coordinator.groups["geese"] = flock

        runner.call(begin)
        yield stub


def test_in_python(stub: KafkaStub) -> None:
    geese = stub.groups["geese"]
    assert (geese.type, geese.state, geese.epoch, geese.target_epoch) == ("flock", "Stable", 7, 6)
    assert (geese.assignor, [*geese.members]) == ("everything", ["one", "two"])
    one = geese.member("one")
    assert (one.epoch, one.subscribed, one.assigned) == (3, ("orders",), (("orders", 0), ("orders", 1)))
    stub.wait_group("geese", state="stable", members=2)
    stub.wait_assigned("geese", {"two": [("orders", 1), ("orders", 0)]})
    geese.end_session("one")
    assert [*geese.members] == ["two"]
    with pytest.raises(ValueError, match="not a consumer group"):
        geese.hold_revocation("two")
    assert group_ids(stub._thread.running().state, "flock") == ["geese"]


def test_over_http(stub: KafkaStub) -> None:
    with httpx.Client(base_url=stub.control_url, timeout=30) as http:
        told = http.get("/v1/groups/geese").json()
        assert (told["type"], told["state"], told["generation"], told["protocol"]) == (
            "flock",
            "Stable",
            7,
            "everything",
        )
        assert [one["assigned"][1] for one in told["member_list"]] == [{"topic": "orders", "partition": 1}] * 2
        assert http.get("/v1/groups", params={"type": "flock"}).json()["total"] == 1
        assert http.post("/v1/groups/geese/end-session", json={"member": "two"}).json() == {"member_id": "two"}
        assert http.get("/v1/groups/geese/wait", params={"members": 1}).json()["state"] == "Stable"
        for other in ("share-groups", "streams-groups"):
            assert http.get(f"/v1/{other}/geese").status_code == 404
            assert http.get(f"/v1/{other}").json()["total"] == 0
