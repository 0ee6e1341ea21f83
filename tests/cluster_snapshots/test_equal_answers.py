"""A stub that starts from a snapshot of a cluster answers as the cluster does; here the cluster is another stub."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub, Snapshot
from kafkastub.client import Client, groups
from tests.cluster_snapshots.answers import all_answers, differences
from tests.cluster_snapshots.history import AUTHORIZER, CONFIG, SHARING, Played, left_to_share

RECORDS: dict[str, int | str] = {"paid": "all", "compacted": 3}


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaStub]:
    with KafkaStub(config=CONFIG, profile="kafka") as stub, ExitStack() as at_end:
        at_end.callback(Played(stub.bootstrap_servers).close)
        yield stub


@pytest.fixture(scope="module")
def snapshot(cluster: KafkaStub) -> Snapshot:
    return Snapshot.from_cluster(cluster.bootstrap_servers, records=RECORDS)


def answers_of(stub: KafkaStub) -> dict[str, Any]:
    with Client(stub.bootstrap_servers) as client:
        return all_answers(client)


def test_everything_is_answered_as_the_cluster_does(cluster: KafkaStub, snapshot: Snapshot) -> None:
    assert snapshot.missing == []
    expected = answers_of(cluster)
    assert {kind for _, kind, _, _ in expected["groups"]} == {"classic", "consumer", "share", "streams"}
    with KafkaStub(snapshot=snapshot, profile="kafka", config=AUTHORIZER) as stub:
        assert differences(expected, answers_of(stub)) == []


def test_a_data_directory_keeps_it(cluster: KafkaStub, snapshot: Snapshot, tmp_path: Path) -> None:
    expected = answers_of(cluster)
    for first in (snapshot, None):  # the second one starts from the directory alone
        config = {**AUTHORIZER, "log.retention.hours": 100} if first is None else AUTHORIZER
        with KafkaStub(snapshot=first, profile="kafka", config=config, data_dir=tmp_path) as stub:
            found = answers_of(stub)
            for about in ("offsets", "stable offsets", "committed", "groups", "transactions", "acls", "share offsets"):
                assert differences(expected[about], found[about]) == []


def test_records_are_those_that_were_asked_for(cluster: KafkaStub, snapshot: Snapshot) -> None:
    with KafkaStub(snapshot=snapshot) as stub:
        assert stub.records("paid") == cluster.records("paid")
        assert stub.records("compacted") == cluster.records("compacted")[-3:]
        assert stub.records("orders") == []


def test_share_groups_go_on_behind_what_was_acknowledged(snapshot: Snapshot, cluster: KafkaStub) -> None:
    everything = Snapshot.from_cluster(cluster.bootstrap_servers, records={"*": "all"})
    with KafkaStub(snapshot=everything, profile="kafka", config=AUTHORIZER) as stub:
        assert left_to_share(stub.bootstrap_servers, SHARING)[0] == 3


def test_an_open_transaction_ends_as_there(snapshot: Snapshot) -> None:
    with KafkaStub(snapshot=snapshot) as stub:
        before = stub.records("paid", isolation="read_committed")
        assert [one.value for one in before] == [b"paid 1", b"paid 3"]
        stub.clock.advance(hours=1, timers=True)  # transaction.timeout.ms
        stub.transactions.wait("open", state="CompleteAbort")
        assert [one.value for one in stub.records("paid", isolation="read_committed")] == [
            *(one.value for one in before), b"behind it",
        ]  # fmt: skip
        with Client(stub.bootstrap_servers) as client:
            found = groups.offsets(client, "piped")
        assert {place: one.offset for place, one in found.items()} == {("orders", 2): 3}
