"""Who may read a data directory, and what of it stays though nothing of this run looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.describe_acls_request import DescribeAclsRequest
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker

AUTHORIZED = {
    **CONFIG,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
OTHERS = 0o077


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def add_user(stub: KafkaStub) -> None:
    user = ScramCredentialUpsertion("alice", 1, 4096, b"salt", b"password")
    with Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.ask(AlterUserScramCredentialsRequest([], [user]), 0).results[0].error_code == 0


def test_nobody_else_reads_the_hashes(tmp_path: Path):
    directory = tmp_path / "data"
    with KafkaStub(config=CONFIG, data_dir=directory) as stub:
        add_user(stub)
        assert mode(directory / "kafkastub.json") == 0o600
        assert mode(directory) == 0o700
    assert mode(directory / "kafkastub.json") == 0o600


@pytest.mark.parametrize("name", ["kafkastub.json", "kafkastub.json.new"])
def test_nobody_else_reads_them_where_everybody_did(tmp_path: Path, name: str):
    """A directory of an older version; a file that a process left which was killed while it wrote."""
    with KafkaStub(config=CONFIG, data_dir=tmp_path) as stub:
        stub.create_topic("orders")
    before = mode(tmp_path)
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o644)
    with KafkaStub(config=CONFIG, data_dir=tmp_path) as stub:
        if name == "kafkastub.json":
            assert mode(tmp_path / name) == 0o600
        add_user(stub)
        assert mode(tmp_path / "kafkastub.json") == 0o600
    assert mode(tmp_path) == before, "a directory that was there keeps its mode"


def test_acls_outlive_a_run_without_authorizer(tmp_path: Path):
    acl = AclCreation(2, "orders", 3, "User:alice", "*", 3, 3)

    def found(speaker: Speaker) -> list[str]:
        answer = speaker.ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3)
        assert answer.error_code == 0
        return [one.resource_name for one in answer.resources]

    with KafkaStub(config=AUTHORIZED, data_dir=tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert speaker.ask(CreateAclsRequest([acl]), 3).results[0].error_code == 0
        assert found(speaker) == ["orders"]
    for number in range(2):
        with KafkaStub(config=CONFIG, data_dir=tmp_path) as stub:
            stub.create_topic(f"topic-{number}")
    with KafkaStub(config=AUTHORIZED, data_dir=tmp_path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        assert found(speaker) == ["orders"]
