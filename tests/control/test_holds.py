"""/v1/holds and /v1/protocol."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import time

import pytest

from kafkastub import KafkaStub
from kafkawire.errors import ErrorCode
from tests.control.conftest import Http, commit_for
from tests.stub.consumers import AT_ONCE, Player, rounds
from tests.waiting import SECONDS


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=AT_ONCE, control_port=0) as stub:
        yield stub


def test_nothing_is_held(http: Http) -> None:
    assert http.good("GET", "/v1/holds") == {"requests": [], "markers": [], "acknowledgements": [], "revocations": []}


def test_a_request_is_held_until_it_is_released(stub: KafkaStub, http: Http) -> None:
    fault = stub.faults.add(api="OffsetCommit", hold="before", name="slow/one")
    with ThreadPoolExecutor() as pool:
        work = pool.submit(commit_for, stub, "g")
        http.good("GET", "/v1/faults/slow/one/wait", held=1, timeout=SECONDS)
        (held,) = http.good("GET", "/v1/holds")["requests"]
        assert (held["fault"], held["api"], held["client_id"]) == ("slow/one", "OffsetCommit", "kafkastub")
        assert (held["number"], 0 <= time() - held["since"] < SECONDS) == (1, True)
        path = "/v1/faults/slow/one/release"
        assert http.good("POST", path, {"connection": held["connection"]}) == {"released": 1}
        work.result(SECONDS)
    assert http.good("GET", "/v1/holds")["requests"] == []
    fault.remove()


def test_markers_and_revocations(stub: KafkaStub, http: Http) -> None:
    http.good("POST", "/v1/transactions/shop/hold")
    player = Player(stub, "one")
    try:
        rounds(player)
        http.good("POST", "/v1/groups/g/hold-revocation", {"member": "one"})
        found = http.good("GET", "/v1/holds")
        assert (found["markers"], found["revocations"]) == (["shop"], [{"group": "g", "member_id": "one"}])
        http.good("POST", "/v1/groups/g/release-revocation", {"member": "one"})
        http.good("POST", "/v1/transactions/shop/release")
    finally:
        player.close()
    found = http.good("GET", "/v1/holds")
    assert (found["markers"], found["revocations"]) == ([], [])


def test_the_protocols_names(http: Http) -> None:
    found = http.good("GET", "/v1/protocol")
    apis = {one["name"]: one for one in found["apis"]}
    assert apis["OffsetCommit"] == {"key": 8, "name": "OffsetCommit", "first": 2, "last": 10}
    assert len(found["errors"]) == len(ErrorCode)
    assert {"code": 16, "name": "NOT_COORDINATOR"} in found["errors"]
