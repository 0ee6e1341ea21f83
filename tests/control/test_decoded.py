"""/v1/journal/{sequence}: a request and its answer, field by field beside the bytes."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.journal.decoded import HIDDEN
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from tests.control.conftest import Http, commit_for
from tests.coordinator.context import subscription
from tests.rawclient import RawClient
from tests.security.talk import Talk
from tests.stub.test_transactions import producing
from tests.waiting import SECONDS


@pytest.fixture
def raw(stub: KafkaStub) -> Iterator[RawClient]:
    with RawClient(stub.bootstrap_servers) as raw:
        yield raw


def last(http: Http, **filters: Any) -> int:
    return int(http.good("GET", "/v1/journal", limit=1, **filters)["entries"][0]["sequence"])


def named(fields: Any, *path: str) -> Any:
    """A field by the names on the way to it."""
    for name in path:
        (found,) = [one for one in fields if one["name"] == name]
        fields = found.get("fields")
    return found


def test_a_request_and_its_answer(stub: KafkaStub, http: Http) -> None:
    commit_for(stub, "shipping")
    (mine,) = stub.journal.requests(api="OffsetCommit")
    found = http.good("GET", f"/v1/journal/{mine.sequence}")
    assert (found["entry"]["text"], found["entry"]["sequence"]) == (str(mine), mine.sequence)
    request, answer = found["request"], found["response"]
    data = base64.b64decode(request["bytes"])
    assert data == len(mine.request_frame).to_bytes(4) + mine.request_frame
    assert base64.b64decode(answer["bytes"]) == mine.response_frame
    assert (request["why"], answer["why"], request["size"]) == (None, None, len(data))
    assert [one["name"] for one in request["fields"]] == ["size", "header", "OffsetCommitRequest"]
    group = named(request["fields"], "OffsetCommitRequest", "group_id")
    assert (group["value"], group["type"]) == ("shipping", "compact string")
    assert data[group["start"] : group["end"]] == b"\x09shipping"
    committed = named(
        request["fields"], "OffsetCommitRequest", "topics", "[0]", "partitions", "[0]", "committed_offset"
    )
    assert (committed["value"], committed["end"] - committed["start"]) == (42, 8)
    assert named(request["fields"], "header", "client_id")["value"] == "kafkastub"
    assert named(answer["fields"], "OffsetCommitResponse", "throttle_time_ms")["value"] == 0
    assert answer["fields"][-1]["end"] == answer["size"]


def test_records_are_read_and_long_values_cut(stub: KafkaStub, http: Http) -> None:
    producer = producing(stub)
    producer.produce("orders", key=b"k", value=b"v" * 5000, partition=0)
    producer.flush(SECONDS)
    found = http.good("GET", f"/v1/journal/{last(http, api='Produce')}", bytes=100)["request"]
    assert len(base64.b64decode(found["bytes"])) == 100 < found["size"]
    (topic,) = named(found["fields"], "ProduceRequest", "topic_data")["fields"]
    (partition,) = named(topic["fields"], "partition_data")["fields"]
    record = named(partition["fields"], "records", "[0]", "records", "[0]")["fields"]
    assert named(record, "key")["value"] == {"base64": base64.b64encode(b"k").decode()}
    value = named(record, "value")
    assert (value["size"], len(base64.b64decode(value["value"]["base64"]))) == (5000, 1000)


def test_a_consumers_subscription_is_read(http: Http, raw: RawClient) -> None:
    protocols = [
        JoinGroupRequestProtocol("range", subscription("orders", version=3)),
        JoinGroupRequestProtocol("x", b"?"),
    ]
    raw.exchange(11, 5, encode(JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols), 5))
    found = http.good("GET", f"/v1/journal/{last(http, api='JoinGroup')}")["request"]["fields"]
    of_range, of_x = named(found, "JoinGroupRequest", "protocols")["fields"]
    metadata = named(of_range["fields"], "metadata")["fields"]
    assert named(metadata, "topics", "[0]")["value"] == "orders"
    assert "fields" not in named(of_x["fields"], "metadata")


def test_few_fields(stub: KafkaStub, http: Http) -> None:
    commit_for(stub, "shipping")
    found = http.good("GET", f"/v1/journal/{last(http, api='OffsetCommit')}", fields=2)["request"]
    body = named(found["fields"], "OffsetCommitRequest")
    assert ([one["name"] for one in body["fields"]], body["left_out"]) == (
        ["group_id", "generation_id_or_member_epoch"],
        4,
    )


def test_what_cannot_be_read_says_why(http: Http, raw: RawClient) -> None:
    raw.send(12, 99, b"rubbish")
    assert raw.receive() is None
    found = http.good("GET", f"/v1/journal/{last(http)}")
    assert (found["request"]["why"], found["response"]) == ("Kafka 4.4 has no version 99 of it", None)
    assert named(found["request"]["fields"], "header", "correlation_id")["value"] == 1


def test_a_broken_body_is_told_as_far_as_it_goes(stub: KafkaStub, http: Http) -> None:
    with RawClient(stub.bootstrap_servers) as raw:
        raw.send(12, 0, b"\0\5group\0\0")
        assert raw.receive() is None
    found = http.good("GET", f"/v1/journal/{last(http)}")["request"]
    assert "generation_id" in found["why"]
    assert named(found["fields"], "HeartbeatRequest", "group_id")["value"] == "group"


def test_secrets_stay_hidden(stub: KafkaStub, http: Http) -> None:
    secret = b"wonderland" * 3
    wanted = [ScramCredentialUpsertion("alice", 1, 4096, b"0123456789abcdef", secret)]
    with Talk(stub.bootstrap_servers) as talk:
        talk.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, AlterUserScramCredentialsRequest([], wanted))
    found = http.good("GET", f"/v1/journal/{last(http, api='AlterUserScramCredentials')}")
    assert found["request"]["why"] == found["response"]["why"] == HIDDEN
    assert [one["name"] for one in found["request"]["fields"]] == ["size", "header"]
    assert secret not in base64.b64decode(found["request"]["bytes"])
    (upsertion,) = found["entry"]["request_message"]["upsertions"]
    assert (upsertion["name"], upsertion["salted_password"], upsertion["salt"]) == ("alice", "", "")


def test_moves_of_the_clock_and_numbers_that_are_not_there(stub: KafkaStub, http: Http) -> None:
    stub.clock.freeze()
    found = http.good("GET", f"/v1/journal/{last(http, outcome='clock')}")
    assert (found["request"], found["response"], found["entry"]["kind"]) == (None, None, "clock")
    status, said = http.get("/v1/journal/4711")
    assert (status, said["error"]) == (404, f"the journal has no entry 4711: 0 to {stub.journal.total - 1} are there")
    http.delete("/v1/journal")
    assert http.get("/v1/journal/0")[1]["error"] == "the journal has no entry 0: there is none"
    assert http.get("/v1/journal/first")[0] == 404
    assert http.get(f"/v1/journal/{'9' * 100}")[0] == 404
