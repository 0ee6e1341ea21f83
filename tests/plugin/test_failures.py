"""What the report of a failing test says of the brokers that lived meanwhile."""

from __future__ import annotations

import pytest


def test_a_broker_that_the_test_made_itself_shows_its_last_requests(run):
    result = run("""
from kafkastub import KafkaStub

def test_it():
    with KafkaStub(topics=["orders"]) as stub:
        assert topics(stub) == {}
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*last requests of KafkaStub 127.0.0.1:*", "*ApiVersions*", "*Metadata*"])


def test_a_broker_of_a_whole_module_shows_the_requests_of_the_test_that_failed(run):
    result = run("""
from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.topics import names

@pytest.fixture(scope="module")
def mine():
    with KafkaStub() as stub:
        yield stub

def test_it(mine):
    topics(mine)

def test_other(mine):
    with Client(mine.bootstrap_servers) as client:
        names(client)
    raise AssertionError
""")
    result.assert_outcomes(passed=1, failed=1)
    report = result.stdout.str().partition("last requests of KafkaStub 127.0.0.1:")[2]
    assert report
    assert "rdkafka" not in report


def test_a_test_that_uses_no_broker_shows_none(run):
    result = run("""
def test_it(kafka_stub_server):
    topics(kafka_stub_server)

def test_other():
    raise AssertionError
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("*last requests*")


def test_brokers_are_told_by_their_fixtures_and_each_once(run):
    result = run("""
def test_it(kafka_stub, kafka_stub_server, kafka_stub_factory):
    for stub in (kafka_stub, kafka_stub_server, kafka_stub_factory()):
        topics(stub)
    raise AssertionError
""")
    for name in ("kafka_stub", "kafka_stub_server", "kafka_stub_factory"):
        assert result.stdout.str().count(f" last requests of {name} ") == 1, name


def test_none_are_wanted(run):
    result = run("def test_it(kafka_stub):\n    assert topics(kafka_stub) == 1", ini="kafka_stub_journal_lines = 0")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*last requests*")


def test_stubs_are_not_kept_alive(run):
    run("""
import gc, weakref
from kafkastub import KafkaStub
from kafkastub.stub.started import STARTED

def test_it():
    with KafkaStub() as stub:
        there = weakref.ref(stub)
    assert len(STARTED) == 1
    del stub
    gc.collect()
    assert there() is None
    assert len(STARTED) == 0
""").assert_outcomes(passed=1)


UNSERVED = """
import socket
from kafkawire.codec import encode
from kafkawire.header import request_header
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.update_raft_voter_request import UpdateRaftVoterRequest
from kafkawire.messages.update_raft_voter_response import UpdateRaftVoterResponse
from kafkastub.handlers.not_served import NOT_SERVED

def answer(request, code, version):
    return UpdateRaftVoterResponse(error_code=code)

NOT_SERVED[ApiKey.UPDATE_RAFT_VOTER] = (ErrorCode.UNSUPPORTED_VERSION, answer)

def test_it(kafka_stub):
    hello = ApiVersionsRequest(client_software_name="apache-kafka-java", client_software_version="4.4.0")
    with socket.create_connection(("127.0.0.1", kafka_stub.port)) as client:
        for request, version in ((hello, 3), (UpdateRaftVoterRequest("g"), 0)):
            sent = request_header(request.API_KEY, version, 1, "billing", True) + encode(request, version)
            client.sendall(len(sent).to_bytes(4, "big") + sent)
            assert client.recv(1 << 16)
    assert not "served"
"""


def test_it_names_who_asked_for_what_is_not_served(run):
    result = run(UNSERVED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*requests that kafkastub does not serve*",
            "client billing (*java*) asked for UpdateRaftVoter, which kafkastub does not serve yet: "
            "answered UNSUPPORTED_VERSION",
            "*last requests of kafka_stub*",
        ]
    )


def test_it_names_who_asked_for_what_closes_the_connection(run):
    result = run("""
import socket
from kafkawire.header import request_header

def test_it(kafka_stub):
    with socket.create_connection(("127.0.0.1", kafka_stub.port)) as client:
        sent = request_header(67, 0, 1, "mine", True)
        client.sendall(len(sent).to_bytes(4, "big") + sent)
        assert client.recv(1) != b""
""")
    result.assert_outcomes(failed=1)
    line = "client mine asked for AllocateProducerIds v0, which kafkastub does not serve: the connection was closed"
    result.stdout.fnmatch_lines([line])


NAMES = """
from kafkastub import KafkaStub

@pytest.mark.kafka_stub(config={"retention.minutes": 60})
def test_marker(kafka_stub): pass

def test_bare():
    with KafkaStub(config={"no.such.key": 60}): pass
"""


@pytest.mark.parametrize("errors", [True, False])
def test_a_name_that_is_ignored_is_a_warning_and_never_an_error(run, errors: bool):
    result = run(NAMES, *([] if errors else ["-W", "default"]))
    result.assert_outcomes(passed=2, warnings=0 if errors else 2)
    if not errors:
        for text in (
            "kafkastub ignores the configuration retention.minutes: *; is log.retention.minutes meant, or offsets.*",
            "kafkastub ignores the configuration no.such.key: Kafka has no such name",
        ):
            result.stdout.fnmatch_lines([f"*UserWarning: {text}"])
