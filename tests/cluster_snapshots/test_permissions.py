"""Who may not read everything gets a snapshot of what he may read, and is told what is not in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkastub import KafkaStub, Snapshot
from kafkastub.client import Client, ClientError, groups
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from tests.cli.kafkas_tools import run

CONFIG: dict[str, object] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin",
    "offsets.topic.num.partitions": 3,
    "offsets.retention.minutes": 1234,
}
USERS = {"admin": "secret", "reader": "secret too"}
_TOPIC, _GROUP = 2, 3
_READ, _DESCRIBE, _DESCRIBE_CONFIGS = 3, 8, 10


def login(user: str, mechanism: str = "PLAIN") -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": USERS[user],
    }


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaStub]:
    """A reader may read `orders` and its configuration, and knows group `g`; a transactional id is there, too."""
    with KafkaStub({"orders": 2, "hidden": 1}, config=CONFIG, users=USERS) as stub:
        stub.produce("orders", "value", partition=0)
        stub.produce("hidden", "value")
        stub.commit("g", {("orders", 0): 1, ("orders", 1): 0}, metadata="some words")
        stub.commit("of others", {("orders", 0): 1})
        allow(stub, (_TOPIC, "orders", _READ), (_TOPIC, "orders", _DESCRIBE_CONFIGS), (_GROUP, "g", _DESCRIBE))
        yield stub


def allow(stub: KafkaStub, *what: tuple[int, str, int]) -> None:
    from kafkastub.cluster_snapshots.of_cluster import connector
    from kafkastub.proxy.upstream import Upstream

    creations = [AclCreation(kind, name, 3, "User:reader", "*", operation, 3) for kind, name, operation in what]
    with Client(stub.bootstrap_servers, connector=connector(Upstream(login("admin")))) as client:
        assert {one.error_code for one in client.ask(CreateAclsRequest(creations)).results} == {0}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_who_may_do_everything_lacks_nothing(cluster: KafkaStub, mechanism: str) -> None:
    saved = Snapshot.from_cluster(cluster.bootstrap_servers, command_config=login("admin", mechanism))
    assert saved.missing == []
    assert saved.topics == {"orders": 2, "hidden": 1}
    with KafkaStub(snapshot=saved) as stub, Client(stub.bootstrap_servers) as client:
        assert {one.group_id for one in groups.list_groups(client)} == {"g", "of others"}


def test_what_may_not_be_read_is_told(cluster: KafkaStub) -> None:
    saved = Snapshot.from_cluster(
        cluster.bootstrap_servers, records={"orders": "all", "hidden": "all"}, command_config=login("reader")
    )
    assert saved.topics == {"orders": 2}
    told = dict(saved.missing)
    assert set(told) == {
        "topic __consumer_offsets", "topic __transaction_state", "topic __share_group_state", "topic hidden",
        "reassignments of partitions", "configuration of broker 1", "configurations of groups and of client metrics",
        "ACLs", "quotas", "__consumer_offsets",
    }  # fmt: skip
    assert "authorization failed" in told["topic hidden"]
    assert "retention" in told["configuration of broker 1"]
    assert "asked for their offsets instead" in told["__consumer_offsets"]
    with KafkaStub(snapshot=saved) as stub, Client(stub.bootstrap_servers) as client:
        assert [one.value for one in stub.records("orders")] == [b"value"]
        found = groups.offsets(client, "g")
        assert {place: (one.offset, one.metadata) for place, one in found.items()} == {
            ("orders", 0): (1, "some words"),
            ("orders", 1): (0, "some words"),
        }
        stub.clock.advance(days=6, hours=23)
        assert groups.offsets(client, "g") == found  # committed when the snapshot was taken, as far as anybody knows
        stub.clock.advance(hours=2)
        assert groups.offsets(client, "g") == {}


def test_the_command_says_what_is_missing(cluster: KafkaStub, tmp_path: Path) -> None:
    config, file = tmp_path / "client.properties", tmp_path / "incident.kafkastub"
    config.write_text("".join(f"{name}={value}\n" for name, value in login("reader").items()))
    asked = ["--from", cluster.bootstrap_servers, "--command-config", str(config), "--records", "orders=all"]
    done = run("snapshot", "take", str(file), *asked)
    assert done.status == 0
    assert "not in the snapshot: ACLs: " in done.err
    assert done.out.startswith(f"Written to {file}: 1 topics with 2 partitions, without ")
    assert file.stat().st_mode & 0o777 == 0o600
    said = json.loads(run("snapshot", "take", str(file), *asked, "-o", "json").out)
    assert said["file"] == str(file)
    assert {"topic __consumer_offsets", "ACLs"} <= {one["what"] for one in said["missing"]}
    with KafkaStub(snapshot=file) as stub:
        assert [one.value for one in stub.records("orders")] == [b"value"]


def test_a_login_that_is_refused_leaves_no_file(cluster: KafkaStub, tmp_path: Path) -> None:
    wrong = {**login("reader"), "sasl.password": "wrong"}
    with pytest.raises(ClientError, match="login"):
        Snapshot.from_cluster(cluster.bootstrap_servers, tmp_path / "file", command_config=wrong)
    assert list(tmp_path.iterdir()) == []


def test_sasl_without_a_login_is_refused(cluster: KafkaStub) -> None:
    with pytest.raises(ValueError, match=r"sasl\.jaas\.config"):
        Snapshot.from_cluster(cluster.bootstrap_servers, command_config={"security.protocol": "SASL_PLAINTEXT"})
