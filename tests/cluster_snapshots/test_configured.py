"""A stub that starts from a snapshot of a cluster has what the cluster's brokers were started with, beneath its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from kafkastub import ConfigError, KafkaStub, Snapshot
from kafkastub.client import Client, groups
from kafkastub.launcher.options import StubOptions
from kafkastub.launcher.running import plan
from tests.process.serving import Serving

CONFIG: dict[str, object] = {
    "offsets.retention.minutes": 60,
    "log.retention.minutes": 90,
    "group.initial.rebalance.delay.ms": 0,
    "node.id": 7,
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("of-cluster") / "incident.kafkastub"
    with KafkaStub({"orders": 1}, config=CONFIG, nodes=3, racks=["a", "b", "c"]) as stub:
        stub.commit("g", {("orders", 0): 0})
        Snapshot.from_cluster(stub.bootstrap_servers, found)
    return found


def kept(stub: KafkaStub) -> bool:
    """Whether the group has its offset."""
    with Client(stub.bootstrap_servers) as client:
        return bool(groups.offsets(client, "g"))


def test_offsets_expire_when_they_would_there(file: Path) -> None:
    with KafkaStub(snapshot=file) as stub:
        stub.clock.freeze()
        stub.clock.advance(minutes=59)
        assert kept(stub)
        stub.clock.advance(minutes=2)
        assert not kept(stub)


def test_a_snapshot_of_such_a_stub_says_the_same(file: Path, tmp_path: Path) -> None:
    with KafkaStub(snapshot=file) as stub:
        stub.snapshot().save(tmp_path / "again")
    with KafkaStub(snapshot=tmp_path / "again") as stub:
        stub.clock.freeze()
        stub.clock.advance(minutes=61)
        assert not kept(stub)
        assert sorted(stub.nodes) == [7, 8, 9]


def test_what_is_given_wins(file: Path) -> None:
    with KafkaStub(snapshot=file, config={"offsets.retention.minutes": 120, "log.retention.hours": 5}) as stub:
        stub.clock.freeze()
        stub.clock.advance(minutes=119)
        assert kept(stub)
        assert stub._running().config.log_defaults["retention.ms"] == 5 * 3_600_000


def test_the_nodes_are_the_clusters(file: Path) -> None:
    with KafkaStub(snapshot=file) as stub:
        assert {node: stub.nodes[node].rack for node in stub.nodes} == {7: "a", 8: "b", 9: "c"}


def test_the_command_starts_from_it(file: Path) -> None:
    with Serving("--snapshot", str(file)) as process, Client(process.servers) as client:
        assert [node.id for node in client.nodes()] == [7, 8, 9]
        assert groups.offsets(client, "g")


def test_a_launcher_starts_from_it(file: Path) -> None:
    config = plan(StubOptions(snapshot=str(file), config={"num.partitions": 3})).config
    assert (config["offsets.retention.minutes"], config["num.partitions"], config["node.id"]) == (60, 3, 7)


def changed(file: Path, to: Path, **properties: str) -> Path:
    """Another file that says other properties."""
    with ZipFile(file) as old, ZipFile(to, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "snapshot.json":
                said: dict[str, Any] = json.loads(content)
                said["properties"] = {key.replace("_", "."): value for key, value in properties.items()}
                content = json.dumps(said).encode()
            new.writestr(name, content)
    return to


def test_a_file_says_nothing_of_listeners_and_folders(file: Path, tmp_path: Path) -> None:
    told = {"listeners": "PLAINTEXT://0.0.0.0:1", "log_dirs": "/", "super_users": "User:mallory", "no_such": "1"}
    with KafkaStub(snapshot=changed(file, tmp_path / "changed", **told, num_partitions="4")) as stub:
        config = stub._running().config
        assert config["num.partitions"] == 4
        assert not {"listeners", "log.dirs", "super.users", "no.such"} & config.static.keys()


def test_a_value_that_no_broker_has_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"offsets\.retention\.minutes=many is refused"):
        KafkaStub(snapshot=changed(file, tmp_path / "changed", offsets_retention_minutes="many"))


def test_a_stub_that_runs_takes_the_state_alone(file: Path) -> None:
    with KafkaStub(config={"node.id": 7}) as stub:
        stub.restore(file)
        assert kept(stub)
        stub.clock.advance(minutes=61)
        assert kept(stub)  # its own retention is a week
