"""/v1/transactions and /v1/hanging-transactions, and what /metrics tells of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kafkastub import KafkaStub
from tests.control.conftest import Http
from tests.control.test_health_and_metrics import labels, scrape
from tests.stub.test_transactions import producing
from tests.waiting import SECONDS, until

ORDERS = [{"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 1}]


def test_before_the_first_transaction(http: Http) -> None:
    assert http.good("GET", "/v1/transactions") == {"transactions": [], "total": 0}
    assert http.good("GET", "/v1/hanging-transactions") == {"hanging": []}
    assert http.good("POST", "/v1/transactions/shop/release") == {"held": []}
    status, said = http.get("/v1/transactions/shop")
    assert (status, said["code"]) == (404, "TRANSACTIONAL_ID_NOT_FOUND")


def test_transactional_ids_are_listed_and_filtered(stub: KafkaStub, http: Http) -> None:
    producing(stub, "a")
    producing(stub, "b").commit_transaction(SECONDS)

    def found(**query: Any) -> list[str]:
        return [each["transactional_id"] for each in http.good("GET", "/v1/transactions", **query)["transactions"]]

    assert found() == ["a", "b"]
    assert found(state="Ongoing") == ["a"]
    assert found(state=["Ongoing", "CompleteCommit"]) == ["a", "b"]
    assert found(producer_id=1) == ["b"]
    assert found(state="Dead") == []
    assert http.good("GET", "/v1/transactions", limit=1)["total"] == 2
    assert http.refusal("GET", "/v1/transactions", state="Done").startswith("state='Done' is refused: ")
    (one,) = http.good("GET", "/v1/transactions", state="Ongoing")["transactions"]
    assert one == http.good("GET", "/v1/transactions/a")
    assert (one["partitions"], one["pending_markers"], one["held"]) == (ORDERS, [], False)
    assert one["start"].endswith("Z")


def test_there_is_no_empty_id_to_hold(http: Http) -> None:
    status, said = http.post("/v1/transactions//hold")
    assert (status, "transactional_id='' is refused" in said["error"]) == (400, True)
    assert http.good("POST", "/v1/transactions/shop/hold") == {"held": ["shop"]}


def test_an_id_with_slashes(stub: KafkaStub, http: Http) -> None:
    producing(stub, "shop/abort")
    assert http.good("POST", "/v1/transactions/shop/abort/abort")["state"] == "CompleteAbort"


def test_markers_are_held_and_released(stub: KafkaStub, http: Http) -> None:
    producer = producing(stub)
    assert http.good("POST", "/v1/transactions/shop/hold") == {"held": ["shop"]}
    producer.commit_transaction(SECONDS)
    now = http.good("GET", "/v1/transactions/shop")
    assert (now["state"], now["held"]) == ("PrepareCommit", True)
    assert sorted(now["pending_markers"], key=lambda one: int(one["partition"])) == ORDERS
    assert http.good("POST", "/v1/transactions/shop/release") == {"held": []}
    assert http.good("GET", "/v1/transactions/shop")["state"] == "CompleteCommit"


def test_an_end_is_waited_for(stub: KafkaStub, http: Http) -> None:
    producer = producing(stub)
    path = "/v1/transactions/shop"
    assert http.good("GET", path, state="Ongoing", timeout=0)["state"] == "Ongoing"
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(http.good, "GET", path, state="CompleteCommit", timeout=SECONDS)
        until(lambda: stub._call(lambda: stub._running().state.transactions.watchers), "somebody who waits")
        assert not waiting.done()
        producer.commit_transaction(SECONDS)
        assert waiting.result(SECONDS)["state"] == "CompleteCommit"
    assert stub._call(lambda: stub._running().state.transactions.watchers) == []


def test_what_does_not_come_is_told(stub: KafkaStub, http: Http) -> None:
    producing(stub)
    status, said = http.get("/v1/transactions/shop", state="CompleteAbort", timeout=0.01)
    assert status == 408
    assert said["error"] == "transactional id 'shop' is Ongoing after 0.01 s, CompleteAbort was waited for"
    assert http.refusal("GET", "/v1/transactions/shop", state="Gone").startswith("state='Gone' is refused: ")
    gone = http.good("GET", "/v1/transactions/nobody", state="Dead")
    assert (gone["state"], gone["producer_id"], gone["partitions"]) == ("Dead", -1, [])


def test_an_abort_is_that_of_the_timeout(stub: KafkaStub, http: Http) -> None:
    producing(stub)
    aborted = http.good("POST", "/v1/transactions/shop/abort")
    assert (aborted["state"], aborted["producer_epoch"]) == ("CompleteAbort", 1)
    status, said = http.post("/v1/transactions/shop/abort")
    assert (status, said["code"]) == (409, "INVALID_TXN_STATE")
    assert "no transaction is open: it is CompleteAbort" in said["error"]
    assert http.post("/v1/transactions/nobody/abort")[0] == 404


def test_hanging_transactions(http: Http) -> None:
    made = http.good("POST", "/v1/hanging-transactions", {"topic": "orders", "partition": 1})
    assert http.good("GET", "/v1/hanging-transactions") == {"hanging": [made]}
    named = {"topic": "orders", "partition": 1, "start_offset": made["start_offset"]}
    assert http.good("POST", "/v1/hanging-transactions/abort", named) == made
    assert http.good("GET", "/v1/hanging-transactions") == {"hanging": []}
    assert http.post("/v1/hanging-transactions/abort", named)[0] == 404
    status, said = http.post("/v1/hanging-transactions", {"topic": "nothing"})
    assert (status, said["error"]) == (404, "partition 0 of topic 'nothing' does not exist")


def test_the_coordinator_moves() -> None:
    with KafkaStub(nodes=2, control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            other = 3 - stub.transactions.coordinator_of("shop")
            moved = http.good("POST", "/v1/coordinators", {"transactional_id": "shop", "node": other})
            assert moved == {"node": other} == {"node": stub.transactions.coordinator_of("shop")}
            both = {"transactional_id": "shop", "group": "g", "node": 1}
            for wrong in (both, {"node": 1}):
                assert "one of group and transactional_id" in http.refusal("POST", "/v1/coordinators", wrong)


def test_while_the_coordinator_is_loading(stub: KafkaStub, http: Http) -> None:
    producing(stub)
    with stub.coordinator_loading():
        for path in ("/v1/transactions", "/v1/transactions/shop", "/v1/hanging-transactions"):
            status, said = http.get(path)
            assert (status, said["code"]) == (503, "COORDINATOR_LOAD_IN_PROGRESS")
    assert http.good("GET", "/v1/transactions/shop")["state"] == "Ongoing"


def test_metrics(stub: KafkaStub, http: Http) -> None:
    assert scrape(http)["kafkastub_transactions_ended_total"] == {
        labels(result="committed"): 0,
        labels(result="aborted"): 0,
    }
    producing(stub, "a").commit_transaction(SECONDS)
    producing(stub, "b").abort_transaction(SECONDS)
    producing(stub, "c")
    stub.transactions.abort("c")
    stub.transactions.hold_markers("d")
    producing(stub, "d").commit_transaction(SECONDS)
    told = scrape(http)
    assert told["kafkastub_transactions"] == {
        labels(state="CompleteCommit"): 1, labels(state="CompleteAbort"): 2, labels(state="PrepareCommit"): 1,
    }  # fmt: skip
    assert told["kafkastub_transactions_ended_total"] == {labels(result="committed"): 1, labels(result="aborted"): 2}
    assert list(told["kafkastub_transactions_timed_out_total"].values()) == [1]
    assert list(told["kafkastub_transaction_markers"].values()) == [2]
