"""`hold`: a request waits until the test lets it go, so that the order of two is the test's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import FaultError, KafkaStub
from kafkastub.faults.holds import Holds
from kafkawire.codec import encoder
from tests.faults.test_on_the_wire import COMMIT, commit, commit_body, committed
from tests.fronts import FRONTS, front
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until


@pytest.fixture(params=["process", *FRONTS])
def stub(request: pytest.FixtureRequest) -> Iterator[KafkaStub]:
    if request.param == "process":
        with KafkaStub(topics={"a": 3, "b": 1}, process=True) as running:
            yield running
        return
    with front(request, {"a": 3, "b": 1}) as running:
        yield running


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def test_the_order_of_two_commits_is_the_tests(stub: KafkaStub, threads: ThreadPoolExecutor) -> None:
    with RawClient(stub.bootstrap_servers) as one, RawClient(stub.bootstrap_servers) as two:
        with stub.faults.add(api="OffsetCommit", hold="before") as fault:
            answers = []
            for count, client in enumerate((one, two), 1):
                answers.append(threads.submit(client.exchange, COMMIT, 8, body(offset=count)))
                fault.wait(held=count, timeout=SECONDS)
            assert [(each.api, each.version, each.client_id) for each in fault.held] == [("OffsetCommit", 8, "raw")] * 2
            first, second = (each.connection for each in fault.held)
            assert first != second
            assert fault.release(at=second) == 1
            answers[1].result(SECONDS)
            assert not answers[0].done()
            assert fault.release(n=5) == 1
            answers[0].result(SECONDS)
            assert (fault.held, fault.release()) == ([], 0)
        assert committed(one) == {("a", 0): 1}  # the first to come was the last to be done


def body(offset: int) -> bytes:
    request = commit_body("g", {"a": [0]}, offset)
    return b"".join(encoder(type(request), 8)(request))


def test_behind_the_work_it_is_the_answer_that_waits(stub: KafkaStub, threads: ThreadPoolExecutor) -> None:
    one, two = RawClient(stub.bootstrap_servers), RawClient(stub.bootstrap_servers)
    with one, two, stub.faults.add(api="OffsetCommit", hold="after", times=1) as fault:
        answer = threads.submit(commit, one)
        fault.wait(held=1, timeout=SECONDS)
        assert committed(two) == {("a", 0): 5}
        assert not answer.done()
        fault.release()
        assert answer.result(SECONDS) == {("a", 0): 0}


def test_an_error_after_it_was_held(stub: KafkaStub, threads: ThreadPoolExecutor) -> None:
    rule = {"api": "OffsetCommit", "hold": "before", "error": "NOT_COORDINATOR"}
    with RawClient(stub.bootstrap_servers) as client, stub.faults.add(**rule) as fault:
        answer = threads.submit(commit, client)
        fault.wait(held=1, timeout=SECONDS)
        assert fault.release() == 1
        assert answer.result(SECONDS) == {("a", 0): 16}


@pytest.mark.parametrize("how", ["remove", "clear", "the end of with"])
def test_whoever_is_held_goes_when_the_rule_does(stub: KafkaStub, threads: ThreadPoolExecutor, how: str) -> None:
    with RawClient(stub.bootstrap_servers) as client:
        with stub.faults.add(api="OffsetCommit", hold="before") as fault:
            answer: Future[Any] = threads.submit(commit, client)
            fault.wait(held=1, timeout=SECONDS)
            if how == "remove":
                fault.remove()
            elif how == "clear":
                stub.faults.clear()
        assert answer.result(SECONDS) == {("a", 0): 0}


def test_a_client_that_leaves_is_held_no_more_and_its_work_is_not_done(stub: KafkaStub) -> None:
    with stub.faults.add(api="OffsetCommit", hold="before") as fault:
        with RawClient(stub.bootstrap_servers) as client:
            client.send(COMMIT, 8, body(offset=1), flexible=True)
            fault.wait(held=1, timeout=SECONDS)
        until(lambda: not fault.held, "the request of a client that has gone")
        assert fault.release() == 0
    with RawClient(stub.bootstrap_servers) as client:
        assert committed(client) == {}


def test_the_stub_ends_though_something_is_held(threads: ThreadPoolExecutor) -> None:
    with KafkaStub(topics={"a": 3}) as stub:
        client = RawClient(stub.bootstrap_servers)
        client.send(COMMIT, 8, body(offset=1), flexible=True)
        fault = stub.faults.add(api="OffsetFetch", hold="before")
        asked = threads.submit(fault.wait, held=1, timeout=SECONDS)
        reader = threading.Thread(target=lambda: _ignoring(committed, client), daemon=True)
        reader.start()
        asked.result(SECONDS)
    reader.join(SECONDS)
    assert (fault.held, fault.release()) == ([], 0)
    client.close()


def _ignoring(call: Any, client: RawClient) -> None:
    try:
        client.receive()
        call(client)
    except (ConnectionError, AssertionError):
        return


def test_who_waits_in_vain_is_told_what_there_was(stub: KafkaStub) -> None:
    with stub.faults.add(api="OffsetCommit", hold="before") as fault:
        said = r"met by 0 requests and holds 0 after 0\.01 s, 2 requests held at once were expected"
        with pytest.raises(AssertionError, match=said) as late:
            fault.wait(held=2, timeout=0.01)
        assert isinstance(late.value, TimeoutError)
        for wrong in ({"n": "x"}, {"at": -1}):
            with pytest.raises(ValueError, match="expected a whole number, 0 or more"):
                fault.release(**wrong)
    with stub.faults.add(api="Fetch", delay_ms=1) as fault, pytest.raises(ValueError, match="holds nothing"):
        fault.wait(held=1)
    with stub.faults.add(api="OffsetCommit", hold="before") as fault, pytest.raises(ValueError, match="n=-1"):
        fault.release(n=-1)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"hold": "later"}, "hold='later' is refused"),
        ({"hold": True}, "hold=True is refused"),
        ({"hold": "before", "silent": True}, "hold and silent contradict each other"),
        ({"hold": "after", "delay_ms": 5}, "hold and delay_ms contradict each other"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], why: str) -> None:
    with KafkaStub() as stub, pytest.raises(FaultError, match=why):
        stub.faults.add(**fields)


def test_the_work_of_one_may_send_another_away() -> None:
    holds = Holds(lambda: None)
    gone: list[str] = []
    holds.hold("A", 0, 1, None, lambda: forget())
    forget = holds.hold("B", 0, 2, None, lambda: gone.append("b"))
    holds.hold("C", 0, 3, None, lambda: gone.append("c"))
    assert holds.release() == 2
    assert gone == ["c"]


def test_a_revocation_and_a_commit_in_the_tests_order() -> None:
    """A consumer's commit is done when its group rebalances already: the second member's join comes before it."""
    with KafkaStub(topics={"orders": 2}, config={"group.initial.rebalance.delay.ms": 0}) as stub:
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers})
        for partition in (0, 1):
            producer.produce("orders", b"v", partition=partition)
        producer.flush(SECONDS)
        settings = {
            "bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }  # fmt: skip
        first, second = Consumer(settings), Consumer(settings)
        first.subscribe(["orders"])
        until(lambda: first.poll(0.05) is not None, "a record")
        with stub.faults.add(api="OffsetCommit", group="g", hold="before") as commits:
            first.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=True)
            commits.wait(held=1, timeout=SECONDS)
            second.subscribe(["orders"])
            second.poll(0)
            stub.wait_group("g", state="PreparingRebalance", timeout=SECONDS)
            assert commits.release() == 1
            entry = stub.journal.wait_for(api="OffsetCommit", group="g", timeout=SECONDS)
        assert "-> ok" in str(entry)
        for consumer in (first, second):
            consumer.close()
