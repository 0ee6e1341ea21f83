"""`kafkastub wait`: a script waits for what has to be, and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.conftest import CONFIG
from tests.control.conftest import commit_for
from tests.waiting import SECONDS, until

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG, control_port=0) as stub:
        yield stub


@pytest.fixture
def ask(stub: KafkaStub) -> Ask:
    """Run a command line on the stub."""

    def asked(*line: str) -> tuple[int, str, str]:
        done = run("wait", *line, "--control", stub.control_url)
        return done.status, done.out, done.err

    return asked


def test_a_topic_and_its_records(stub: KafkaStub, ask: Ask):
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(ask, "topic", "audit", "--records", "1", "--key", "a", "--timeout", f"{SECONDS:g}")
        until(lambda: stub._thread.running().state.topic_watchers, "somebody who waits")
        stub.create_topic("audit")
        stub.produce("audit", "v", key="a")
        assert waiting.result(SECONDS) == (0, "", "")
    assert ask("topic", "orders", "--partitions", "3", "--timeout", "0.01") == (
        1, "", "kafkastub: topic 'orders' has 2 partitions, 3 were expected, after 0.01 s\n",
    )  # fmt: skip
    assert json.loads(ask("topic", "orders", "-o", "json")[1]) == {"topic": "orders", "partitions": 2, "records": None}


def test_a_group(stub: KafkaStub, ask: Ask):
    commit_for(stub, "ship/ping", 0)
    assert ask("group", "ship/ping", "--state", "empty", "--members", "0", "--lag", "0")[0] == 0
    status, _, said = ask("group", "ship/ping", "--timeout", "0.01")
    assert status == 1
    assert "is Empty with 0 members" in said
    status, _, said = ask("assigned", "ship/ping", "one=orders:0,orders:1", "--timeout", "0.01")
    assert status == 1
    assert "one" in said


def test_a_share_group(stub: KafkaStub, ask: Ask):
    assert ask("share-group", "workers", "--lag", "0", "--topic", "orders", "--timeout", "0.01") == (
        1, "", "kafkastub: share group 'workers' does not exist after 0.01 s\n",
    )  # fmt: skip
    assert ask("share-group", "workers") == (
        1, "", "kafkastub: there is no condition to wait for: expected acquired, held or lag\n",
    )  # fmt: skip


@pytest.mark.parametrize("state", ["Stabel", ""])
def test_a_state_that_there_is_not_is_refused_at_once(ask: Ask, state: str):
    status, _, said = ask("group", "shipping", "--state", state, "--timeout", f"{SECONDS * 100:g}")
    assert status == 1
    assert f"state={state!r} is refused: expected one of Empty, " in said


def test_a_group_that_is_not_there_is_said_to_be_none(ask: Ask):
    assert ask("group", "nobody", "--timeout", "0.01")[2] == "kafkastub: group 'nobody' after 0.01 s: does not exist\n"


def test_a_request_a_fault_and_quiet(stub: KafkaStub, ask: Ask):
    fault = stub.faults.add(api="OffsetCommit", delay_ms=1)
    commit_for(stub, "shipping")
    assert ask("request", "--api", "OffsetCommit", "--group", "shipping")[0] == 0
    assert ask("fault", fault.id)[0] == 0
    assert ask("quiet", "--seconds", "0.01", "--timeout", f"{SECONDS:g}")[0] == 0
    status, _, said = ask("quiet", "--seconds", "60", "--timeout", "0.01")
    assert (status, said) == (1, "kafkastub: it was not quiet for 60 s within 0.01 s\n")


def test_a_transaction_that_there_is_not_is_dead(ask: Ask):
    assert ask("transaction", "shop", "--state", "Dead")[0] == 0


@pytest.mark.parametrize("member", ["one", "=orders:0", "one=orders", "one=orders:x"])
def test_a_member_that_is_none_is_refused(ask: Ask, member: str):
    assert ask("assigned", "shipping", member)[0] == 2


@pytest.mark.parametrize(
    ("member", "says"),
    [
        ("one=0", "'0' is not a task: expected SUBTOPOLOGY:N, for example 0:1"),
        ("one", "'one' is not a task: expected SUBTOPOLOGY:N, for example 0:1"),
        ("=0:1", "'=0:1' names no member: expected MEMBER=SUBTOPOLOGY:N,…, such as one=0:1"),
    ],
)
def test_what_is_no_task_is_refused_as_one(ask: Ask, member: str, says: str):
    status, _, said = ask("streams-group", "app", member)
    assert status == 2
    assert says in said
