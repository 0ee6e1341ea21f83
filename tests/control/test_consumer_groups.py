"""/v1/groups of the consumer protocol (KIP-848): members, targets, held revocations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kafkastub import KafkaStub
from tests.control.conftest import Http, commit_for
from tests.stub.consumers import AT_ONCE, Player, rounds

FOUR = [{"topic": "orders", "partition": index} for index in range(4)]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 4}, config=AT_ONCE, control_port=0) as stub:
        yield stub


def test_a_group_with_its_members(http: Http, player: Callable[[str], Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one)
    two.beat()
    one.beat()
    listed = http.good("GET", "/v1/groups")["groups"]
    assert [(row["group"], row["type"], row["protocol_type"], row["state"], row["members"]) for row in listed] == [
        ("g", "consumer", "consumer", "Reconciling", 2)
    ]
    group = http.good("GET", "/v1/groups/g")
    assert (group["generation"], group["target_epoch"], group["protocol"], group["leader"]) == (3, 3, "uniform", None)
    first, second = sorted(group["member_list"], key=lambda each: str(each["member_id"]))
    assert (first["epoch"], first["state"], first["upgraded"]) == (2, "UNREVOKED_PARTITIONS", True)
    assert (first["assigned"], first["pending_revocation"], first["target"]) == (FOUR[:2], FOUR[2:], FOUR[:2])
    assert (first["subscribed"], first["expression"], first["rebalance_timeout_ms"]) == (["orders"], None, 60_000)
    assert (second["state"], second["assigned"], second["target"]) == ("UNRELEASED_PARTITIONS", [], FOUR[2:])


def test_a_target_is_put_in(http: Http, player: Callable[[str], Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one, two)
    group = http.good("PUT", "/v1/groups/g/target", {"target": {"client-one": FOUR[3:], "two": FOUR[:3]}})
    assert group["target_epoch"] == group["generation"] == 4
    assert {member["member_id"]: member["target"] for member in group["member_list"]} == {
        "one": FOUR[3:], "two": FOUR[:3],
    }  # fmt: skip
    rounds(one, two)
    assert (one.owned, len(two.owned)) == ({("orders", 3)}, 3)


def test_a_revocation_is_held_and_released(http: Http, player: Callable[[str], Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one)
    held = http.good("POST", "/v1/groups/g/hold-revocation", {"member": "client-one"})
    assert held == {"member_id": "one", "held": True}
    assert [member["held"] for member in http.good("GET", "/v1/groups/g")["member_list"]] == [True]
    rounds(one, two)
    assert two.owned == set()
    assert http.good("POST", "/v1/groups/g/release-revocation", {"member": "one"}) == {
        "member_id": "one",
        "held": False,
    }
    rounds(one, two)
    assert len(two.owned) == 2


def test_a_session_is_ended(http: Http, player: Callable[[str], Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one, two)
    assert http.good("POST", "/v1/groups/g/end-session", {"member": "client-one"}) == {"member_id": "one"}
    rounds(two)
    assert len(two.owned) == 4


@pytest.mark.parametrize(
    ("group", "what", "body", "status", "says"),
    [
        ("nobody", "target", {"target": {}}, 404, "nobody"),
        ("simple", "target", {"target": {}}, 404, "is not a consumer group"),
        ("g", "target", {"target": {"nobody": []}}, 404, "no member 'nobody'"),
        ("g", "target", {"target": {"one": [{"topic": "nothing", "partition": 0}]}}, 404, "nothing"),
        ("g", "target", {"target": {"one": [FOUR[0]], "two": [FOUR[0]]}}, 400, "orders"),
        ("g", "target", {"target": {"one": [FOUR[0], FOUR[0]]}}, 400, "twice"),
        ("g", "target", {"target": {"one": [{"topic": "orders", "partition": "0"}]}}, 400, "target.one.0.partition"),
        ("g", "target", {"target": []}, 400, "target=[]"),
        ("g", "target", {}, 400, "target is missing"),
        ("nobody", "hold-revocation", {"member": "one"}, 404, "nobody"),
        ("g", "hold-revocation", {"member": "nobody"}, 404, "no member 'nobody'"),
        ("g", "release-revocation", {"member": "nobody"}, 404, "no member 'nobody'"),
        ("g", "end-session", {"member": "nobody"}, 404, "no member 'nobody'"),
        ("g", "end-session", {}, 400, "member is missing"),
        ("nobody", "end-session", {"member": "one"}, 404, "nobody"),
        ("nobody", "release-revocation", {"member": "one"}, 404, "nobody"),
    ],
)
def test_what_is_refused(
    stub: KafkaStub,
    http: Http,
    player: Callable[[str], Player],
    group: str,
    what: str,
    body: object,
    status: int,
    says: str,
) -> None:
    rounds(player("one"), player("two"))
    commit_for(stub, "simple")
    before = http.good("GET", "/v1/groups/g")
    method = "PUT" if what == "target" else "POST"
    refused, said = http.ask(method, f"/v1/groups/{group}/{what}", body)
    assert (refused, says in said["error"]) == (status, True), said
    assert http.good("GET", "/v1/groups/g") == before


def test_while_the_coordinator_is_loading(stub: KafkaStub, http: Http, player: Callable[[str], Player]) -> None:
    rounds(player("one"))
    with stub.coordinator_loading():
        for method, what, body in (
            ("PUT", "target", {"target": {}}),
            ("POST", "hold-revocation", {"member": "one"}),
            ("POST", "release-revocation", {"member": "one"}),
            ("POST", "end-session", {"member": "one"}),
        ):
            status, said = http.ask(method, f"/v1/groups/g/{what}", body)
            assert (status, said["code"]) == (503, "COORDINATOR_LOAD_IN_PROGRESS")
