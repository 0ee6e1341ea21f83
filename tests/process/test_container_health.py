"""`kafkastub container health`, the image's health check, without an engine: a process beside a broker's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.ports import reserved_port
from tests.process.serving import COMMAND, START_SECONDS

USERS = {"KAFKA_KAFKASTUB_USERS": '{"alice": "secret"}'}
AUTHORIZER = {"KAFKA_AUTHORIZER_CLASS_NAME": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
TOPICS = {"KAFKA_CREATE_TOPICS": "orders:1"}


@contextmanager
def container(listeners: str, **more: str) -> Iterator[dict[str, str]]:
    """A broker of such an environment, `{}` in listeners is a port; gives the environment."""
    with ExitStack() as ports:
        taken = [ports.enter_context(reserved_port()) for _ in range(listeners.count("{}"))]
        environment = {**os.environ, "KAFKA_LISTENERS": listeners.format(*taken), **TOPICS, **more}
        name = listeners.partition("://")[0]
        environment.setdefault(
            "KAFKA_ADVERTISED_LISTENERS", environment["KAFKA_LISTENERS"].replace("://:", "://localhost:")
        )
        environment["KAFKA_INTER_BROKER_LISTENER_NAME"] = name
        process = subprocess.Popen([COMMAND, "container"], env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert "ready" in process.stdout.readline()
            yield environment
        finally:
            process.kill()
            process.communicate()


def health(environment: dict[str, str], **more: str) -> tuple[int, str]:
    done = subprocess.run(
        [COMMAND, "container", "health"], env={**environment, **more}, capture_output=True, text=True,
        timeout=START_SECONDS, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("listeners", "more"),
    [
        ("PLAINTEXT://:{}", {}),
        ("PLAINTEXT://127.0.0.1:{}", AUTHORIZER),
        ("SASL_PLAINTEXT://:{}", USERS),
        ("SASL_PLAINTEXT://:{}", USERS | AUTHORIZER),
        ("SSL://:{}", {}),
        ("SSL://:{}", {"KAFKA_SSL_CLIENT_AUTH": "required"}),
        ("SASL_SSL://:{}", USERS),
        ("IN://:{}", USERS | {"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "IN:SASL_PLAINTEXT"}),
    ],
)
def test_it_is_healthy_whatever_the_first_listener_wants(listeners: str, more: dict[str, str]):
    with container(listeners, **more) as environment:
        assert health(environment) == (0, "")


def test_topics_are_looked_for_where_one_need_not_sign_in():
    with container("SASL_PLAINTEXT://:{},PLAINTEXT://:{}", **USERS) as environment:
        assert health(environment) == (0, "")
        assert health(environment, KAFKA_CREATE_TOPICS="orders:1,late:2") == (
            1,
            "topics that are not there yet: late\n",
        )


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL"])
def test_where_nobody_answers_it_is_not(protocol: str):
    with reserved_port() as port:
        status, said = health({**os.environ, "KAFKA_LISTENERS": f"{protocol}://:{port}"})
    assert (status, said.count("\n")) == (1, 1)
    assert str(port) in said


def test_a_listener_that_does_not_speak_tls_is_not():
    with container("PLAINTEXT://:{}") as environment:
        status, said = health(environment, KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="PLAINTEXT:SSL")
        assert status == 1
        assert "TLS" in said
