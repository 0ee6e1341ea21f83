"""`stub.wait_topic`, `stub.wait_quiet` and `stub.aio`: what a test waits for instead of sleeping."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from kafkastub import GroupTimeout, JournalTimeout, KafkaStub, RecordsTimeout, TopicTimeout
from kafkastub.client import Client
from kafkastub.client.groups import commit
from tests.conftest import CONFIG
from tests.waiting import SECONDS, until


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG) as stub:
        yield stub


def later(work) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_topic_that_is_there_is_not_waited_for(stub: KafkaStub):
    stub.wait_topic("orders", partitions=2, timeout=0)


def test_a_topic_that_comes_is_waited_for(stub: KafkaStub):
    waiting = later(lambda: stub.wait_topic("audit", timeout=SECONDS))
    until(lambda: stub._thread.running().state.topic_watchers, "somebody who waits")
    stub.create_topic("audit")
    waiting.join(SECONDS)
    assert not waiting.is_alive()
    assert not stub._thread.running().state.topic_watchers


def test_a_topic_that_does_not_come_is_told(stub: KafkaStub):
    with pytest.raises(TopicTimeout, match=r"^topic 'audit' does not exist after 0\.01 s$"):
        stub.wait_topic("audit", timeout=0.01)
    with pytest.raises(TopicTimeout, match=r"^topic 'orders' has 2 partitions, 3 were expected, after 0\.01 s$"):
        stub.wait_topic("orders", partitions=3, timeout=0.01)


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"topic": 1}, TypeError, "topic=1"),
        ({"topic": "a", "partitions": "2"}, TypeError, "partitions='2'"),
        ({"topic": "a", "timeout": -1}, ValueError, "timeout=-1"),
    ],
)
def test_what_makes_no_sense_is_refused(stub: KafkaStub, given, error, why: str):
    with pytest.raises(error, match=why):
        stub.wait_topic(**given)


# -- quiet -----------------------------------------------------------------------------------------------------------


def test_a_stub_that_nobody_asked_is_quiet(stub: KafkaStub):
    stub.wait_quiet(86400, timeout=0)


def test_what_was_asked_just_now_is_not_quiet(stub: KafkaStub):
    with Client(stub.bootstrap_servers) as client:
        commit(client, "shipping", {("orders", 0): 1})
    with pytest.raises(JournalTimeout, match=r"not quiet for 3600 s within 0\.01 s"):
        stub.wait_quiet(3600, timeout=0.01)
    stub.wait_quiet(0.01, timeout=SECONDS)


def test_what_comes_again_and_again_is_told(stub: KafkaStub):
    over = threading.Event()

    def ask() -> None:
        with Client(stub.bootstrap_servers) as client:
            while not over.is_set():
                commit(client, "shipping", {("orders", 0): 1})

    asking = later(ask)
    try:
        until(lambda: stub.journal.requests(api="OffsetCommit"), "a commit")
        with pytest.raises(JournalTimeout, match=r"(?s)the last request was:.*group shipping"):
            stub.wait_quiet(3600, timeout=0.05)
    finally:
        over.set()
        asking.join(SECONDS)
    stub.wait_quiet(3600, ignoring=[entry.api for entry in stub.journal], timeout=0)


def test_an_api_that_there_is_not_is_refused(stub: KafkaStub):
    with pytest.raises(ValueError, match="is OffsetCommit meant"):
        stub.wait_quiet(ignoring=["OffsetComit"])
    with pytest.raises(ValueError, match="expected names of APIs"):
        stub.wait_quiet(ignoring="Fetch")
    with pytest.raises(ValueError, match="seconds=-1"):
        stub.wait_quiet(-1)


# -- coroutines ------------------------------------------------------------------------------------------------------


async def test_a_wait_of_a_coroutine_holds_nobody_up(stub: KafkaStub):
    waits = asyncio.gather(
        stub.aio.wait_topic("audit", timeout=SECONDS),
        stub.aio.wait_records("orders", 1, timeout=SECONDS),
        stub.aio.wait_group("nobody", state="Dead", timeout=SECONDS),
        stub.aio.wait_quiet(0, timeout=SECONDS),
    )
    await asyncio.sleep(0)
    stub.create_topic("audit")
    stub.produce("orders", "first")
    _, records, *_ = await waits
    assert [record.value for record in records] == [b"first"]


async def test_a_coroutine_is_told_what_did_not_come(stub: KafkaStub):
    with pytest.raises(RecordsTimeout, match="has 0 records"):
        await stub.aio.wait_records("orders", 1, timeout=0)


async def test_any_number_of_coroutines_wait_at_once(stub: KafkaStub):
    waits = [asyncio.create_task(stub.aio.wait_topic("audit", timeout=SECONDS)) for _ in range(50)]
    state = stub._thread.running().state
    await asyncio.to_thread(until, lambda: len(state.topic_watchers) == 50, "fifty who wait")
    stub.create_topic("audit")
    await asyncio.gather(*waits)


async def test_a_share_group_is_waited_for(stub: KafkaStub):
    with pytest.raises(GroupTimeout, match="share group 'workers' does not exist after 0 s"):
        await stub.aio.wait_share_group("workers", lag=0, timeout=0)


def test_there_is_a_wait_for_coroutines_of_each_kind(stub: KafkaStub):
    waits = {name for name in dir(KafkaStub) if name.startswith("wait_")}
    others = {"wait_records", "wait_lag", "wait_share_group", "wait_streams_group", "wait_transaction"}
    others |= {"wait_request", "wait_fault"}
    assert {name for name in vars(stub.aio) if name.startswith("wait_")} == waits | others


async def test_a_held_request_is_waited_for(stub: KafkaStub):
    with stub.faults.add(api="OffsetCommit", hold="before") as fault:

        def work() -> None:
            with Client(stub.bootstrap_servers) as client:
                commit(client, "shipping", {("orders", 0): 1})

        asking = later(work)
        await stub.aio.wait_fault(fault, held=1, timeout=SECONDS)
        fault.release()
        await asyncio.to_thread(asking.join, SECONDS)
    entry = await stub.aio.wait_request(api="OffsetCommit", timeout=SECONDS)
    assert entry.groups == ("shipping",)
