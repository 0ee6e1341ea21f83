"""SASL over TLS: the certificate is nobody, the user is."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub import KafkaStub

LISTENER = {"listeners": "SASL_SSL://127.0.0.1:0", "inter.broker.listener.name": "SASL_SSL"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
@pytest.mark.behaviour("SA-5")
def test_the_user_is_the_principal(mechanism: str):
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    config = {
        **LISTENER,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:alice",
    }

    def admin(user: str, password: str) -> Any:
        return AdminClient(
            {
                "bootstrap.servers": stub.bootstrap_servers,
                "security.protocol": "SASL_SSL",
                "ssl.ca.location": stub.ca_file,
                "sasl.mechanism": mechanism,
                "sasl.username": user,
                "sasl.password": password,
                "log_level": 0,
            }
        )

    with KafkaStub(users={"alice": "a", "bob": "b"}, config=config, topics={"t": 1}) as stub:
        assert list(admin("alice", "a").list_topics(timeout=60).topics) == ["t"]
        assert list(admin("bob", "b").list_topics(timeout=60).topics) == []
        with pytest.raises(KafkaException):
            admin("alice", "b").list_topics(timeout=1)
        principals = {entry.sender.principal for entry in stub.journal if entry.api == "Metadata"}
        assert principals == {"User:alice", "User:bob"}


def test_in_a_process_of_its_own():
    from tests.security.talk import Talk

    with KafkaStub(users={"alice": "a"}, process=True) as stub, Talk(stub.bootstrap_servers) as talk:
        assert talk.plain("alice", "a").error_code == 0
