"""The same history on Apache Kafka, in a real minute, and on the stub: the same offsets are gone at the same time."""

from __future__ import annotations

import threading
import time

import pytest

from kafkastub import KafkaStub
from tests.expiry.real_history import CONFIG, MOMENTS, Seen, played
from tests.expiry.wire import Wire
from tests.oracle.apache_kafka import ApacheKafka

TOPICS = ("kept", "other", "doomed")


def on_the_stub() -> dict[int, Seen]:
    with KafkaStub(profile="kafka", config=CONFIG) as stub, Wire(stub.bootstrap_servers) as wire:
        stub.clock.freeze()
        wire.create_topics(*TOPICS)
        start = stub.clock.now_ms()
        return played(wire, lambda seconds: stub.clock.set(start + seconds * 1000))


def on_kafka() -> dict[int, Seen]:
    nobody = threading.Event()
    with ApacheKafka({**CONFIG, "offsets.topic.num.partitions": 4}) as kafka, Wire(kafka.bootstrap_servers) as wire:
        wire.create_topics(*TOPICS)
        start = time.monotonic()

        def pass_until(seconds: int) -> None:
            left = start + seconds - time.monotonic()
            assert left > 0, "this machine is too slow for the history"
            nobody.wait(left)

        return played(wire, pass_until)


def test_the_history_shows_every_row_of_the_table():
    seen = on_the_stub()
    gone = {moment: {group for group, (_, offsets) in seen[moment].items() if not offsets} for moment in MOMENTS}
    versions = (2, 3, 4)
    early = {f"own-{name}-v{version}" for name in ("at-once", "below", "soon", "overflow") for version in versions}
    assert gone[8] == gone[15] == {*early, "of-a-deleted-topic", "emptied-without-offsets"}
    assert gone[40] - gone[15] == {f"own-later-v{version}" for version in versions}
    lived_a_minute = {"simple", "mixed", "of-a-deleted-topic-too", *(f"own-default-v{version}" for version in versions)}
    assert gone[75] - gone[40] == lived_a_minute
    assert gone[100] - gone[75] == {"simple-twice", "leaves-late"}
    last = seen[100]
    assert last["stable"] == ("Stable", {("kept", 0): 1, ("kept", 1): 3})
    assert last["stable-connect"][1] == last["stable-unknown"][1] == seen[8]["stable-unknown"][1]
    assert last["emptied"] == ("Empty", {("kept", 1): 3})


@pytest.mark.oracle_expiry
def test_the_same_offsets_are_gone_as_on_apache_kafka():
    expected, found = on_the_stub(), on_kafka()
    for moment in MOMENTS:
        assert found[moment] == expected[moment], f"after {moment} s"
