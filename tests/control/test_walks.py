"""Long looks at the state leave the broker its turns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter

import pytest

from kafkastub import KafkaStub
from kafkastub.control import walks
from kafkastub.control.walks import Walks
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.partitions import log_of
from tests.control.conftest import Http, commit_for

BIT = 0.001
STEPS = 60


def busy() -> Iterator[int | None]:
    """Sixty milliseconds of work, a thing found at each tenth step."""
    for number in range(STEPS):
        end = perf_counter() + BIT
        while perf_counter() < end:
            pass
        yield number if not number % 10 else None


async def test_others_have_their_turn_on_the_way() -> None:
    turns = 0
    going = True

    async def others() -> None:
        nonlocal turns
        while going:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    found = [one async for one in Walks().through(busy())]
    going = False
    await task
    assert found == [0, 10, 20, 30, 40, 50]
    assert turns >= STEPS // 4


async def test_many_of_them_take_turns() -> None:
    walks = Walks()

    async def walk() -> list[int]:
        return [one async for one in walks.through(iter([None, 1, None, 2]))]

    assert await asyncio.gather(*(walk() for _ in range(10))) == [[1, 2]] * 10


async def test_who_has_enough_stops() -> None:
    async for one in Walks().through(iter([None, 1, 2])):
        assert one == 1
        break


async def test_things_are_counted_by_their_kind() -> None:
    assert await Walks().counted(range(1000), lambda number: number % 3) == {0: 334, 1: 333, 2: 333}
    assert await Walks().counted((), lambda number: number) == {}


def ask_for_all_logs(state: BrokerState, name: str) -> None:
    """A log that nobody has asked for is empty, and nobody looks at it."""
    topic = state.cluster.topic(name)
    assert topic is not None
    for partition in topic.partitions:
        log_of(state, topic, partition.index)


@pytest.mark.parametrize(
    ("path", "looks"),
    [
        ("/v1/hanging-transactions", 300),
        ("/v1/topics", 300),
        ("/v1/topics?sort=size", 600),
        ("/v1/topics/many", 600),
        ("/v1/summary", 300),
        ("/v1/nodes", 3),
        ("/v1/clock/forecast", 300),
        ("/v1/groups?details=true", 4),
    ],
)
def test_the_broker_has_its_turns_between_looks(
    stub: KafkaStub, http: Http, monkeypatch: pytest.MonkeyPatch, path: str, looks: int
) -> None:
    """What the page asks for every two seconds, of a broker with 300 partitions."""
    stub.create_topic("many", partitions=300)
    stub._call(lambda: ask_for_all_logs(stub._running().state, "many"))
    commit_for(stub, "g")
    turns, going = 0, True
    seen = set()

    def turn() -> None:
        nonlocal turns
        turns += 1
        if going:
            asyncio.get_running_loop().call_soon(turn)

    def look() -> float:
        seen.add(turns)
        return perf_counter()

    monkeypatch.setattr(walks, "perf_counter", look)
    monkeypatch.setattr(walks, "_BIT_SECONDS", 0.0)
    stub._call(turn)
    http.good("GET", path)
    going = False
    assert len(seen) >= looks
