"""Listeners with TLS: wrong and half-open connections, the files, other addresses, the process."""

from __future__ import annotations

import logging
import os
import socket
import ssl
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from kafkastub import KafkaStub
from kafkastub.config import ConfigError
from tests.process.serving import Serving
from tests.rawclient import RawClient
from tests.security.tls_raw import API_VERSIONS, asked, connected, context, everything, exactly
from tests.waiting import until

TWO = {
    "listeners": "TLS://localhost:0,PLAIN://localhost:0",
    "listener.security.protocol.map": "TLS:SSL,PLAIN:PLAINTEXT",
    "inter.broker.listener.name": "PLAIN",
}
MUTUAL = {**TWO, "ssl.client.auth": "required"}


def lines(caplog: pytest.LogCaptureFixture, word: str) -> list[str]:
    return [line for line in caplog.messages if word in line]


def wait_until_gone(stub: KafkaStub, came: int) -> None:
    """Until so many clients were there, and none is."""

    def there() -> tuple[int, int]:
        return stub._call(lambda: stub._running().connections)

    until(lambda: there() == (0, came), lambda: f"now and in all: {there()}")


def test_records_of_many_megabytes_come_back_as_they_went():
    with KafkaStub({"big": 1}, {**TWO, "message.max.bytes": 20_000_000, "group.initial.rebalance.delay.ms": 0}) as stub:
        secure = {
            "bootstrap.servers": stub.bootstrap_servers_of("TLS"),
            "security.protocol": "SSL",
            "ssl.ca.location": stub.ca_file,
        }
        value = os.urandom(5_000_000)
        producer = Producer({**secure, "message.max.bytes": 20_000_000})
        for _ in range(3):
            producer.produce("big", value)
        assert producer.flush(30) == 0
        consumer = Consumer({**secure, "group.id": "g", "auto.offset.reset": "earliest"})
        consumer.subscribe(["big"])
        got = [message.value() for message in consumer.consume(3, 30)]
        consumer.close()
        assert got == [value] * 3
        # who comes in over TLS is told of listeners with TLS only
        assert {entry.sender.listener for entry in stub.journal} == {"TLS"}


def test_a_handshake_may_come_byte_by_byte_and_requests_too():
    with KafkaStub(config=TWO) as stub:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        secure = context(stub.ca_file).wrap_bio(incoming, outgoing, server_hostname="localhost")
        with socket.create_connection(("127.0.0.1", stub.ports[0]), timeout=60) as client:

            def exchange() -> None:
                for byte in outgoing.read():
                    client.sendall(bytes([byte]))
                incoming.write(client.recv(65536))

            while True:
                try:
                    secure.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    exchange()
            secure.write(API_VERSIONS)
            while True:
                try:
                    answer = secure.read(65536)
                    break
                except ssl.SSLWantReadError:
                    exchange()
            assert answer[4:8] == b"\0\0\0\7"


def test_a_client_without_tls_is_told_off_once(caplog: pytest.LogCaptureFixture):
    with KafkaStub(config=TWO) as stub:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", stub.ports[0]), timeout=60) as client:
                client.sendall(API_VERSIONS)
                assert everything(client)[:1] == b"\x15"
        assert len(lines(caplog, "the client does not speak TLS")) == 1
        assert "security.protocol" in lines(caplog, "TLS handshake failed")[0]
        assert asked(stub.ports[0], context(stub.ca_file)) == "answered"


def test_a_client_with_tls_on_a_listener_without_is_told_off_once(caplog: pytest.LogCaptureFixture):
    with KafkaStub(config=TWO) as stub:
        for _ in range(20):
            assert asked(stub.ports[1], context(stub.ca_file)) != "answered"
        assert len(lines(caplog, "the client speaks TLS, and this listener does not")) == 1
        with RawClient(f"127.0.0.1:{stub.ports[1]}") as client:
            assert client.exchange(18, 0, b"")


def test_who_looks_whether_the_port_is_open_is_no_failure(caplog: pytest.LogCaptureFixture):
    with KafkaStub(config=TWO) as stub:
        for _ in range(3):
            socket.create_connection(("127.0.0.1", stub.ports[0]), timeout=60).close()
        wait_until_gone(stub, 3)
        assert lines(caplog, "TLS handshake failed") == []


def test_rubbish_within_tls_ends_that_connection_alone():
    with KafkaStub(config=TWO) as stub:
        how = context(stub.ca_file)
        with closing(connected(stub.ports[0], how)) as good, closing(connected(stub.ports[0], how)) as bad:
            raw = socket.socket(fileno=os.dup(bad.fileno()))
            raw.settimeout(60)
            raw.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
            everything(raw)  # an alert, and the end
            raw.close()
            good.sendall(API_VERSIONS)
            assert exactly(good, 8)[4:] == b"\0\0\0\7"


def test_a_connection_that_says_nothing_goes_when_it_was_idle_for_too_long():
    with KafkaStub(config={**TWO, "connections.max.idle.ms": 100}) as stub:
        with socket.create_connection(("127.0.0.1", stub.ports[0]), timeout=60) as silent:
            assert everything(silent) == b""
        wait_until_gone(stub, 1)


def test_closing_the_stub_ends_connections_in_and_after_the_handshake():
    stub = KafkaStub(config=TWO).start()
    how = context(stub.ca_file)
    with (
        socket.create_connection(("127.0.0.1", stub.ports[0]), timeout=60) as half,
        closing(connected(stub.ports[0], how)) as whole,
    ):
        half.sendall(b"\x16\x03\x01")
        whole.sendall(API_VERSIONS)
        assert exactly(whole, 4)
        folder = Path(stub.ca_file).parent
        stub.close()
        assert everything(half) == b""
        everything(whole)  # with a goodbye: no error
    assert not folder.exists()


def test_a_version_that_is_not_enabled_is_refused(caplog: pytest.LogCaptureFixture):
    with KafkaStub(config={**TWO, "ssl.enabled.protocols": "TLSv1.3"}) as stub:
        how = context(stub.ca_file, version=ssl.TLSVersion.TLSv1_2)
        assert asked(stub.ports[0], how) == "alert protocol version"
        assert "ssl.enabled.protocols=TLSv1.3 have no version" in lines(caplog, "TLS handshake failed")[0]
    with (
        KafkaStub(config={**TWO, "ssl.enabled.protocols": "TLSv1.2"}) as stub,
        closing(connected(stub.ports[0], context(stub.ca_file))) as client,
    ):
        assert client.version() == "TLSv1.2"


def test_a_requested_certificate_may_be_left_out():
    with KafkaStub(config={**TWO, "ssl.client.auth": "requested"}) as stub:
        assert asked(stub.ports[0], context(stub.ca_file)) == "answered"
        alice = stub.client_certificate("CN=alice")
        assert asked(stub.ports[0], context(stub.ca_file, alice.both)) == "answered"
        assert [entry.sender.principal for entry in stub.journal] == ["User:ANONYMOUS", "User:CN=alice"]


def test_listeners_may_differ():
    config = {
        "listeners": "ONE://localhost:0,TWO://localhost:0",
        "listener.security.protocol.map": "ONE:SSL,TWO:SSL",
        "inter.broker.listener.name": "ONE",
        "listener.name.two.ssl.client.auth": "required",
        "listener.name.two.ssl.principal.mapping.rules": "RULE:^CN=(.*?)$/$1/U",
    }
    with KafkaStub(config=config) as stub:
        alice = context(stub.ca_file, stub.client_certificate("CN=alice").both)
        assert [asked(port, alice) for port in stub.ports] == ["answered"] * 2
        assert asked(stub.ports[0], context(stub.ca_file)) == "answered"
        assert asked(stub.ports[1], context(stub.ca_file)).startswith("alert")
        principals = [entry.sender.principal for entry in stub.journal]
        assert principals == ["User:ANONYMOUS", "User:ALICE", "User:ANONYMOUS"]


def test_a_name_that_no_rule_knows_is_refused(caplog: pytest.LogCaptureFixture):
    with KafkaStub(config={**MUTUAL, "ssl.principal.mapping.rules": "RULE:^CN=(alice)$/$1/"}) as stub:
        for subject, becomes in (("CN=alice", "answered"), ("CN=bob", "closed")):
            both = stub.client_certificate(subject).both
            assert asked(stub.ports[0], context(stub.ca_file, both)) == becomes
        assert "applies to CN=bob" in lines(caplog, "TLS handshake failed")[0]


def test_the_certificate_is_good_for_every_name_that_clients_are_told():
    config = {**TWO, "advertised.listeners": "TLS://kafka.example:9093,PLAIN://kafka.example:9092"}
    with KafkaStub(config=config) as stub:
        how = context(stub.ca_file)
        for name in ("localhost", "127.0.0.1", "::1", "kafka.example"):
            assert asked(stub.ports[0], how, name) == "answered"
        assert asked(stub.ports[0], how, "other.example") != "answered"
        stub.advertise("TLS://other.example:32768")
        for name in ("localhost", "kafka.example", "other.example"):
            assert asked(stub.ports[0], how, name) == "answered"


def test_nodes_that_come_later_speak_tls_too():
    with KafkaStub(config=TWO, nodes=2) as stub:
        stub.add_node()
        stub.nodes[2].stop()
        stub.nodes[2].start()
        assert [asked(port, context(stub.ca_file)) for port in stub.ports[::2]] == ["answered"] * 3


def test_a_stub_in_a_process_of_its_own():
    with KafkaStub(config=MUTUAL, process=True) as stub:
        alice = stub.client_certificate("CN=alice")
        assert asked(stub.ports[0], context(stub.ca_file, alice.both)) == "answered"
        assert asked(stub.ports[0], context(stub.ca_file)).startswith("alert")
        with pytest.raises(ValueError, match="alice"):
            stub.client_certificate("alice")


def test_what_cannot_be_had_is_said():
    with KafkaStub() as stub:
        for ask in (lambda: stub.ca_file, stub.client_certificate, stub.show_certificate):
            with pytest.raises(RuntimeError, match="no listener of this stub speaks TLS"):
                ask()
    with KafkaStub(config=TWO) as stub, pytest.raises(RuntimeError, match=r"set ssl\.client\.auth"):
        stub.client_certificate("CN=alice")


def test_a_process_says_where_its_ca_file_is_and_leaves_a_client_certificate(tmp_path: Path):
    folder = tmp_path / "tls"
    how = [f"{name}={text}" for name, text in MUTUAL.items()]
    with Serving("--config", *how, f"kafkastub.tls.dir={folder}", port=None) as serving:
        port = int(serving.ready_line.split("TLS://")[1].split(":")[1].split(",")[0])
        assert asked(port, context(str(folder / "ca.pem"), str(folder / "client.both.pem"))) == "answered"
        first = (folder / "ca.pem").read_bytes()
        assert str(folder / "ca.pem") in serving.stderr
    assert (folder / "ca.key").stat().st_mode & 0o077 == 0
    assert (folder / "client.key").stat().st_mode & 0o077 == 0
    with KafkaStub(config={**TWO, "kafkastub.tls.dir": str(folder)}) as stub:
        assert stub.ca_file == str(folder / "ca.pem")
        assert asked(stub.ports[0], context(stub.ca_file)) == "answered"
    assert (folder / "ca.pem").read_bytes() == first


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path):
    (tmp_path / "ca.pem").write_text("x")
    (tmp_path / "ca.key").write_text("x")
    stub = KafkaStub(config={**TWO, "kafkastub.tls.dir": str(tmp_path)})
    with pytest.raises(ConfigError, match=r"kafkastub\.tls\.dir=.* is refused"):
        stub.start()


def test_keys_and_passwords_are_in_no_log(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with KafkaStub(config=MUTUAL) as stub:
        alice = stub.client_certificate("CN=alice")
        assert asked(stub.ports[0], context(stub.ca_file, alice.both)) == "answered"
    assert "PRIVATE KEY" not in caplog.text
