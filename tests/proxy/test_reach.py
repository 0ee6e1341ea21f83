"""Brokers that are not where they say, or not any more: as they are in containers, and behind ports that are mapped."""

from __future__ import annotations

import logging
import socket
import subprocess
from contextlib import suppress

import pytest
from confluent_kafka import Producer

from kafkastub import KafkaProxy, KafkaStub
from kafkastub.client import Client
from kafkawire.messages.metadata_request import MetadataRequest
from tests.in_front import InFront
from tests.ports import reserved_port
from tests.proxy.test_command import command
from tests.waiting import SECONDS, until

NOWHERE = "kafka.invalid:9092"
"""A name that nobody has (RFC 2606)."""


def write(servers: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": servers, "log_level": 2, "reconnect.backoff.max.ms": 200})
    producer.produce("t", value)
    assert producer.flush(SECONDS) == 0


def test_a_broker_that_advertises_what_only_others_know_is_reached() -> None:
    with KafkaStub(topics={"t": 1}, advertised=NOWHERE) as stub:
        at = f"127.0.0.1:{stub.port}"
        with KafkaProxy(at, reach={NOWHERE: at}) as proxy:
            write(proxy.bootstrap_servers, b"one")
            assert [record.value for record in proxy.records("t")] == [b"one"]
        with InFront(at, "--reach", f"{NOWHERE}={at}") as process:
            write(process.bootstrap_servers, b"two")
        assert [record.value for record in stub.records("t")] == [b"one", b"two"]


def test_without_being_told_the_proxy_says_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.WARNING),
        KafkaStub(topics={"t": 1}, advertised=NOWHERE) as stub,
        KafkaProxy(f"127.0.0.1:{stub.port}") as proxy,
    ):
        with socket.create_connection((proxy.host, proxy.port), SECONDS) as sock, suppress(ConnectionResetError):
            assert sock.recv(1) == b""
        until(lambda: f"--reach {NOWHERE}=HOST:PORT says where" in caplog.text, lambda: f"the hint, in {caplog.text}")


@pytest.mark.parametrize("given", ["kafka:9092", "kafka=localhost:9092", "kafka:9092=localhost"])
def test_what_is_no_address_is_refused(given: str) -> None:
    done = subprocess.run(
        command("--to", "127.0.0.1:1", "--reach", given), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 2
    assert "HOST:PORT" in done.stderr


def test_a_node_that_comes_back_at_another_port_is_found_by_the_address_that_stays() -> None:
    """As behind a port that is forwarded: nobody gets in at the node's place, so no answer tells where it is now."""
    with reserved_port() as stays, reserved_port() as first, reserved_port() as second:
        _moved(stays, first, second)


def _at(stays: int, port: int) -> dict[str, str]:
    """Two listeners; whoever asks at either is sent to the second."""
    return {
        "listeners": f"ALSO://127.0.0.1:{stays},PLAINTEXT://127.0.0.1:{port}",
        "advertised.listeners": f"ALSO://127.0.0.1:{port},PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "ALSO:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    }


def _moved(stays: int, first: int, second: int) -> None:
    with KafkaStub(topics={"t": 1}, config=_at(stays, first)) as stub:
        proxy = KafkaProxy(f"127.0.0.1:{stays}").start()
        try:
            write(proxy.bootstrap_servers, b"before")
            assert len(stub.records("t")) == 1
            stub.close()

            def is_shut() -> bool:
                with suppress(OSError), socket.create_connection((proxy.host, proxy.port), SECONDS):
                    return not any(place.is_open for place in proxy._proxy().places)
                return True

            until(is_shut, "a place that lets nobody in")
            with KafkaStub(topics={"t": 1}, config=_at(stays, second)) as again:
                write(proxy.bootstrap_servers, b"behind")
                assert [record.value for record in again.records("t")] == [b"behind"]
                with Client(proxy.bootstrap_servers) as client:
                    (node,) = client.ask(MetadataRequest(topics=[])).brokers
                assert node.port == proxy.port
        finally:
            proxy.close()
