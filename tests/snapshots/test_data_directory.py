"""A restore with a data directory: the next start finds it; killed in its midst, either one or the other is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkastub import DataDirError, KafkaStub
from kafkastub.storage.disk import restored
from kafkastub_conformance.differential.broker import Lost, prepared
from kafkastub_conformance.differential.play import NotThere, Play
from kafkastub_conformance.differential.running import KINDS
from kafkastub_conformance.differential.scenario import Scenario
from kafkastub_conformance.differential.stage import Stage
from tests.conftest import CONFIG
from tests.differential.brokers import CONFIGS
from tests.snapshots.test_files import fill
from tests.snapshots.test_share_groups import initialised
from tests.snapshots.whole_state import differences, quiet, reload, whole

NOT_ASKED = ("nodes",)
"""Two runs have ports of their own."""


def seen(stub: KafkaStub) -> dict[str, Any]:
    return {name: part for name, part in whole(stub).items() if name not in NOT_ASKED}


def values(stub: KafkaStub, topic: str) -> list[bytes | None]:
    return [record.value for record in stub.records(topic)]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=CONFIG, data_dir=tmp_path / "data") as stub:
        fill(stub)
        yield stub


def test_a_restore_outlives_the_process(kept: KafkaStub, tmp_path: Path) -> None:
    saved = kept.snapshot()
    kept.produce("orders", "gone", partition=0)
    kept.commit("worker", {("orders", 0): 5})
    kept.commit("other", {("orders", 0): 5})
    kept.create_topic("gone")
    kept.restore(saved)
    assert kept.lag("worker") == {("orders", 0): 2}
    kept.produce("orders", "kept", partition=0)
    there = seen(kept)
    kept.close()
    with KafkaStub(config=CONFIG, data_dir=tmp_path / "data") as again:
        here = seen(again)
        assert not differences(there["groups"], here["groups"])
        assert not differences(there["logs"], here["logs"])
        assert values(again, "orders")[:6] == [b"0", b"1", b"2", b"3", b"4", b"kept"]
        assert again.snapshot().topics == {"orders": 2, "compacted": 2}


def test_a_new_directory_begins_with_a_snapshot_and_keeps_what_comes(kept: KafkaStub, tmp_path: Path) -> None:
    saved, config = kept.snapshot(), {**CONFIG}
    with KafkaStub(config=config, data_dir=tmp_path / "new", snapshot=saved) as other:
        other.produce("orders", "more", partition=0)
    with KafkaStub(config=config, data_dir=tmp_path / "new", snapshot=saved) as other:
        assert values(other, "orders")[5] == b"more"


def test_a_producer_goes_on_behind_a_restore(kept: KafkaStub) -> None:
    producer = Producer({"bootstrap.servers": kept.bootstrap_servers, "enable.idempotence": True})
    producer.produce("orders", b"one", partition=0)
    producer.flush()
    saved = kept.snapshot()
    producer.produce("orders", b"two", partition=0)
    producer.flush()
    kept.restore(saved)
    other = Producer({"bootstrap.servers": kept.bootstrap_servers, "enable.idempotence": True})
    other.produce("orders", b"three", partition=0)
    assert other.flush(10) == 0
    assert values(kept, "orders")[5:7] == [b"one", b"three"]


def test_killed_at_any_moment_one_of_the_two_is_there_whole(
    kept: KafkaStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    initialised(kept, 2)
    saved, shared = kept.snapshot(), whole(kept)["sharing"]["kept"]
    initialised(kept, 2, done=9)
    shared_later = whole(kept)["sharing"]["kept"]
    kept.produce("orders", "later", partition=0)
    kept.create_topic("late")
    kept.produce("late", "later")
    root, moments = tmp_path / "data", tmp_path / "moments"
    moments.mkdir()

    def looked_at(act: Callable[..., Any]) -> Callable[..., Any]:
        def acting(*args: Any, **named: Any) -> Any:
            count = len(list(moments.iterdir()))
            if Path(args[0]).is_relative_to(root):
                shutil.copytree(root, moments / f"{count:03d}", ignore=shutil.ignore_patterns(".lock"))
            return act(*args, **named)

        return acting

    for name in ("rename", "unlink", "rmdir", "mkdir", "chmod"):
        monkeypatch.setattr(Path, name, looked_at(getattr(Path, name)))
    monkeypatch.setattr(restored, "remove_tree", looked_at(restored.remove_tree))
    kept.restore(saved)
    kept.close()
    monkeypatch.undo()
    found = []
    for moment in sorted(moments.iterdir()):
        with KafkaStub(config=CONFIG, data_dir=moment) as again:
            topics = sorted(again.snapshot().topics)
            kept_of_shares = whole(again)["sharing"]["kept"]
            found.append((values(again, "orders")[:6], topics, again.lag("worker"), kept_of_shares))
    five = [b"0", b"1", b"2", b"3", b"4"]
    after = ([*five, b"open"], ["compacted", "orders"], {("orders", 0): 2}, shared)
    before = ([*five, b"later"], ["compacted", "late", "orders"], {("orders", 0): 3}, shared_later)
    assert len(found) > 10
    turned = found.index(after)
    assert found == [before] * turned + [after] * (len(found) - turned)


def test_a_disk_that_is_full_leaves_all_as_it_was(kept: KafkaStub, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = kept.snapshot()
    kept.produce("orders", "later", partition=0)
    before = seen(kept)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kafkastub.server.data_directory.write", full)
    with pytest.raises(DataDirError, match="No space left"):
        kept.restore(saved)
    assert not differences(before, seen(kept))
    kept.produce("orders", "and on", partition=0)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    kind=st.sampled_from(["groups", "data", "transactions", "consumer", "share", "streams"]), seed=st.integers(0, 10**6)
)
def test_whatever_happened_a_directory_is_restored_to_it(
    tmp_path_factory: pytest.TempPathFactory, kind: str, seed: int
) -> None:
    script, folder = KINDS[kind](seed, 16), tmp_path_factory.mktemp("data")
    scenario = Scenario(script.name, list(script.groups), script.config)
    config = {**CONFIGS[script.config], "kafkastub.flush": "never"}
    with KafkaStub(profile="kafka", config=config, data_dir=folder / "one") as stub:
        stub.clock.freeze()
        broker = prepared(stub.bootstrap_servers)
        with suppress(NotThere, Lost), Stage(broker, scenario) as stage:
            script.run(Play(stage, scenario))
        quiet(stub, 0)
        saved = stub.snapshot()
        with suppress(NotThere, Lost), Stage(broker, scenario) as stage:
            KINDS[kind](seed + 1, 8).run(Play(stage, scenario))
        stub.restore(saved)
        with KafkaStub(profile="kafka", config=config, snapshot=saved) as memory:
            assert not differences(_comparable(seen(memory)), _comparable(seen(stub)))
        reload(stub)
        stub.clock.advance(milliseconds=0)  # a start cleans logs, and so does this
        there = seen(stub)
    with KafkaStub(profile="kafka", config=config, data_dir=folder / "one") as again:
        assert not differences(_comparable(there), _comparable(seen(again)))


def _comparable(found: dict[str, Any]) -> dict[str, Any]:
    """Without what a start does not keep, or a directory has of its own: the cluster's id; of producers' batches those
    whose records are gone, and an id that was given to nobody.
    """
    logs = {name: {**log, "producers": [one[:2] for one in log["producers"]]} for name, log in found["logs"].items()}
    return {**found, "cluster": None, "producer ids": None, "logs": logs}
