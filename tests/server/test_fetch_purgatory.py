"""Fetches that wait: of many, some are looked after at a time, and each once."""

from __future__ import annotations

from kafkastub.state.deferred import Deferred
from kafkastub.state.fetch_purgatory import FetchPurgatory
from kafkawire.messages.share_fetch_response import ShareFetchResponse

TOPIC = bytes(16)
KEYS = [(TOPIC, index) for index in range(1000)]


class Crowd:
    """Fetches that wait for a thousand partitions each."""

    def __init__(self, count: int) -> None:
        self.purgatory = FetchPurgatory()
        self.looks = [0] * count
        self.ready = False
        self.answers = [Deferred(lambda _: ShareFetchResponse()) for _ in range(count)]
        for number, answer in enumerate(self.answers):
            self.purgatory.park(answer, KEYS, 1_000_000, lambda number=number: self._look(number))

    def _look(self, number: int) -> bool:
        self.looks[number] += 1
        return self.ready

    def done(self) -> int:
        return sum(one.done for one in self.answers)


def test_of_many_some_are_looked_after_at_a_time():
    crowd = Crowd(23)
    crowd.ready = True
    crowd.purgatory.appended(TOPIC, 5)
    assert crowd.done() == 5
    rounds = 0
    while crowd.purgatory.next_deadline() == 0:
        before = crowd.done()
        crowd.purgatory.expire(7)
        assert crowd.done() - before <= 5
        rounds += 1
    assert (crowd.done(), rounds, len(crowd.purgatory)) == (23, 4, 0)
    assert crowd.looks == [1] * 23


def test_what_happens_to_many_partitions_at_once_is_looked_at_once():
    crowd = Crowd(4)
    crowd.purgatory.happened(KEYS)
    crowd.purgatory.topic_changed(TOPIC)
    assert crowd.looks == [2] * 4
    assert crowd.purgatory.next_deadline() == 1_000_000


def test_who_goes_is_not_looked_after_later():
    crowd = Crowd(7)
    crowd.purgatory.appended(TOPIC, 5)
    crowd.answers[-1].abandon()
    crowd.purgatory.expire(7)
    assert crowd.looks == [1] * 6 + [0]
    assert crowd.purgatory.next_deadline() == 1_000_000
