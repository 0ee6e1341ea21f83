"""kafka-delegation-tokens prints for the stub what it prints for Apache Kafka; a Java client signs in by a token."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from tests.clients.jvm import Jvm
from tests.clients.token_tool import TRANSCRIPT, play, token
from tests.oracle.apache_kafka import run_java
from tests.security import brokers
from tests.security.delegation_steps import CONFIG, creation, secret
from tests.security.talk import Talk

RENEWING = Path(__file__).parents[1] / "security" / "Renewing.java"


def test_the_tool_prints_what_it_prints_for_apache_kafka(jvm: Jvm, tmp_path: Path) -> None:
    with brokers.stub(**CONFIG) as addresses:
        assert play(jvm, addresses, tmp_path) == TRANSCRIPT.read_text()


@pytest.mark.oracle
def test_the_transcript_is_apache_kafkas(jvm: Jvm, tmp_path: Path) -> None:
    with brokers.kafka(**CONFIG) as addresses:
        assert play(jvm, addresses, tmp_path) == TRANSCRIPT.read_text()


@pytest.mark.behaviour("SA-11")
def test_a_java_producer_and_consumer_by_token(tmp_path: Path) -> None:
    config = {"delegation.token.secret.key": "key"}
    with KafkaStub(users={"alice": "a"}, topics={"orders": 1}, config=config) as stub:
        with Talk(stub.bootstrap_servers) as talk:
            assert talk.plain("alice", "a").error_code == 0
            made = talk.ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, creation())
        settings = tmp_path / "client.properties"
        servers = f"bootstrap.servers={stub.bootstrap_servers}\n"
        settings.write_text(servers + token(made.token_id, secret(made)))
        done = run_java(RENEWING, str(settings), "orders", stdin="end\n")
        sent, read = map(int, done.stdout.split())
        assert sent == read > 0, done.stderr
        senders = {entry.sender.principal for entry in stub.journal.requests(api="Produce")}
    assert senders == {"User:alice"}
